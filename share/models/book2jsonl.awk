# book2jsonl.awk - books in Markdown, each after a line with only \036, as JSON lines with "text"
#
# Marks of headings, emphasis and rules are removed, and so are empty lines. The text is bytes:
# run it with LC_ALL=C.

function finish()
{
        if (length(text) >= 100)
                printf "{\"text\":\"%s\"}\n", text
        text = ""
}

/^\036$/ {
        finish()
        next
}

/^---+[ \r]*$/ {
        next
}

NF > 0 {
        sub(/^#+ */, "")
        gsub(/[*_]/, "")
        gsub(/[\001-\037]/, " ")
        gsub(/[\\"]/, "\\\\&")
        text = text (text == "" ? "" : "\\n") $0
}

END {
        finish()
}
