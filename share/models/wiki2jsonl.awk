# wiki2jsonl.awk - articles of an extracted Wikipedia (<doc ...>, lines, </doc>) as JSON lines with "text"
#
# Character references are resolved or become spaces, what is left of tags is removed, and so are empty lines.
# The text is bytes: run it with LC_ALL=C.

function unescaped(s)
{
        if (index(s, "&")) {
                gsub(/&lt;/, "<", s)
                gsub(/&gt;/, ">", s)
                gsub(/&quot;/, "\"", s)
                gsub(/&#0?39;|&apos;/, "'", s)
                gsub(/&nbsp;/, " ", s)
                gsub(/&amp;/, "\001", s)
                gsub(/&[a-z]+;|&#[0-9]+;/, " ", s)
                gsub(/\001/, "\\&", s)
        }
        if (index(s, "<"))
                gsub(/<[^<>]*>/, " ", s)
        return s
}

/^<doc / {
        text = ""
        next
}

/^<\/doc>/ {
        if (length(text) >= 100)
                printf "{\"text\":\"%s\"}\n", text
        text = ""
        next
}

NF > 0 {
        s = unescaped($0)
        gsub(/[\001-\037]/, " ", s)
        gsub(/[\\"]/, "\\\\&", s)
        text = text (text == "" ? "" : "\\n") s
}
