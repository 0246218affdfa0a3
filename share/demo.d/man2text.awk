# man2text.awk - the words of manual pages, without hints at their headers and sections
#
# usage: LC_ALL=C awk -f share/demo.d/roff.awk -f share/demo.d/man2text.awk -v into=FOLDER PAGE...
#
# Writes FOLDER/PAGE.txt.
#
# Reads the macros of man(7) as people and pod2man write them. Not a formatter: it keeps the words, in
# order. It removes the title line, all headings, the synopsis, sections like SEE ALSO, and the numbers in
# references such as fork(2). A page that only names another one gives no file.

BEGIN {
        skipped = "^(SYNOPSIS|SEE ALSO|LIBRARY|ATTRIBUTES|COLOPHON|AUTHOR|COPYRIGHT|LICEN[CS]E)"
        fonts = " B I R SM SB IP TQ UR MT "
        mixed_fonts = " BI BR IB IR RB RI "
}

FNR == 1 {
        finish_page()
        name = FILENAME
        sub(/.*\//, "", name)
        kept = in_macro = in_table = 0
}

{
        line = $0
        while (sub(/\\$/, "", line) && (getline more) > 0)
                line = line more
        sub(/[ \t]*\\".*/, "", line)
}

# Skip the page's own macro definitions, and the layout of tables.
line ~ /^\.\./ { in_macro = 0; next }
line ~ /^['.][ \t]*de / { in_macro = 1 }
in_macro { next }
line ~ /^\.TS/ { in_table = 1; next }
in_table { in_table = line !~ /\.$/; next }

line ~ /^\.SH/ {
        kept = toupper(arguments(substr(line, 4), " ")) !~ skipped
        next
}
!kept { next }

line ~ /^['.]/ {
        sub(/^['.][ \t]*/, "", line)
        macro = line
        sub(/[ \t].*/, "", macro)
        line = substr(line, length(macro) + 1)
        if (macro == "IP")
                sub(/[ \t]+[0-9]+n?[ \t]*$/, "", line) # the indentation
        if (index(mixed_fonts, " " macro " "))
                add(arguments(line, ""))
        else if (index(fonts, " " macro " "))
                add(arguments(line, " "))
        next
}
{
        sub(/^T[{}][ \t]*/, "", line)
        add(line)
}

END { finish_page() }

function add(line) {
        line = plain(line)
        if (line !~ /^[ \t]*$/)
                text = text line "\n"
}

function finish_page() {
        if (text ~ /[A-Za-z]/) {
                printf "%s", text >(into "/" name ".txt")
                close(into "/" name ".txt")
        }
        text = ""
}
