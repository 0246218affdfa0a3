# man2text.awk - the words of manual pages, without hints at their section of the manual
#
# usage: LC_ALL=C awk -f share/demo.d/man2text.awk -v into=FOLDER PAGE...     writes FOLDER/PAGE.txt
#
# Reads the macros of man(7) as people and pod2man write them. Not a formatter: it keeps the words, in
# order. It removes the title line, all headings, sections like SEE ALSO, and the numbers in
# references such as fork(2). A page that only names another one gives no file.

BEGIN {
        skipped = "^(SEE ALSO|LIBRARY|ATTRIBUTES|COLOPHON|AUTHOR|COPYRIGHT|LICEN[CS]E)"
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

# The arguments of a macro, with `between` between them; "two words" can be one.
function arguments(s, between,    all, one) {
        for (;;) {
                sub(/^[ \t]+/, "", s)
                if (s == "")
                        return all
                if (match(s, /^"[^"]*"?/)) {
                        one = substr(s, 2, RLENGTH - 1)
                        sub(/"$/, "", one)
                } else {
                        match(s, /^([^ \t\\]|\\.|\\$)+/)
                        one = substr(s, 1, RLENGTH)
                }
                s = substr(s, RLENGTH + 1)
                all = all (all == "" ? "" : between) one
        }
}

# Replaces escapes by the text they print, and removes the others. \e is kept as \001 until the end.
function plain(s) {
        gsub(/\\e/, "\001", s)
        gsub(/\\f(\[[^]]*\]|\(..|.)|\\s[-+]?[0-9]+|\\[hvwzo]'[^']*'|\\[&|^%:\/,c]/, "", s)
        gsub(/\\\*\(--|\\\((em|en)|\\\[(em|en)\]|\\-/, "-", s)
        gsub(/\\\*\(C\+/, "C++", s)
        gsub(/\\\(aq|\\\*\(Aq|\\\[(aq|cq|oq)\]/, "'", s)
        gsub(/\\\(dq|\\\[(dq|lq|rq)\]|\\\*\([LR]"|\\\*\([lr]q/, "\"", s)
        gsub(/\\\(ha|\\\[ha\]/, "^", s)
        gsub(/\\\(ti|\\\[ti\]/, "~", s)
        gsub(/\\[*n]?(\(..|\[[^]]*\])|\\\*./, "", s)
        gsub(/\\[ ~0t]/, " ", s)
        gsub(/\\/, "", s)
        gsub(/\([1-9][a-z]*\)/, "", s)
        gsub(/\001/, "\\", s)
        return s
}
