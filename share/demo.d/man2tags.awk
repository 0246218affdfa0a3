# man2tags.awk - sentences of manual pages whose names are known, since authors set them in another font
#
# usage: LC_ALL=C awk -f share/demo.d/roff.awk -f share/demo.d/man2tags.awk PAGE...
#
# Writes CoNLL: a word and its tag in a line, an empty line after each sentence. FUNCTION: bold, before
# "(". CONSTANT: bold capitals. ARGUMENT: a word in italics. FILE: a path in either font. The fonts
# themselves are not written. Titles, headings, synopses, examples and tables are left out.

BEGIN {
        mixed_fonts = " BI BR IB IR RB RI "
        skipped = "^(NAME|SYNOPSIS|SEE ALSO|LIBRARY|ATTRIBUTES|EXAMPLES?|COLOPHON|AUTHOR|COPYRIGHT)"
}

FNR == 1 { end_sentence(); kept = is_set = 0 }
{
        line = $0
        while (sub(/\\$/, "", line) && (getline more) > 0)
                line = line more
        sub(/[ \t]*\\".*/, "", line)
}
line ~ /^\.(nf|EX|TS)/ { is_set = 1 }
line ~ /^\.(fi|EE|TE)/ { is_set = 0 }
line ~ /^\.SH/ { kept = toupper(arguments(substr(line, 4), " ")) !~ skipped; end_sentence(); next }
!kept || is_set { next }
line ~ /^[.'][ \t]*(B|I|BI|BR|IB|IR|RB|RI)[ \t]/ {
        macro = line
        sub(/^[.'][ \t]*/, "", macro)
        rest = macro
        sub(/[ \t].*/, "", macro)
        set_in(macro, substr(rest, length(macro) + 1))
        next
}
line ~ /^[.']/ || line ~ /^[ \t]*$/ { end_sentence(); next }
{ add_line(line) }
END { end_sentence() }

# The arguments of a macro, in its fonts by turns: as escapes within a line.
function set_in(macro, s,    one, i, all) {
        if (!index(mixed_fonts, " " macro " ")) {
                add_line("\\f" macro arguments(s, " ") "\\fR")
                return
        }
        for (i = 0; (one = next_argument(s)) != ""; i++) {
                s = rest_of_arguments
                all = all "\\f" substr(macro, 1 + i % 2, 1) one
        }
        add_line(all "\\fR")
}

# A line, in runs of one font each. A word in another font and what touches it are several words.
function add_line(s,    font, run, at) {
        gsub(/\\f(\[B\]|\(CB)/, "\\fB", s)
        gsub(/\\f(\[I\]|\(CI)/, "\\fI", s)
        gsub(/\\f(\[[^]]*\]|\(..)/, "\\fR", s)
        font = "R"
        while (s != "") {
                at = index(s, "\\f")
                run = at ? substr(s, 1, at - 1) : s
                s = at ? substr(s, at + 2) : ""
                add_run(plain(run), font, s)
                font = substr(s, 1, 1)
                if (font == "P" || font == "1")
                        font = "R"
                if (font == "2")
                        font = "I"
                if (font == "3")
                        font = "B"
                s = substr(s, 2)
        }
        if (n > 0 && word[n] ~ /^[.!?]$/)
                end_sentence()
}

function add_run(run, font, after,    tag, part, i, k) {
        tag = font == "R" ? "O" : name_of(run, font, after)
        if (tag != "O") {
                put(run, tag)
                return
        }
        k = split(run, part, /[ \t]+/)
        for (i = 1; i <= k; i++)
                put_words(part[i])
}

function name_of(run, font, after) {
        if (run ~ /^\/[A-Za-z0-9_.\/-]+$/)
                return "FILE"
        if (font == "I" && run ~ /^[a-z_][a-z0-9_]*$/)
                return "ARGUMENT"
        if (font == "B" && run ~ /^[A-Z][A-Z0-9_]+$/)
                return "CONSTANT"
        if (font == "B" && run ~ /^[a-z_][a-z0-9_]*$/ && after ~ /^R[ ]*\(/)
                return "FUNCTION"
        return "O"
}

# Punctuation at both ends is words of its own.
function put_words(s,    tail) {
        while (match(s, /^["'([{]/)) {
                put(substr(s, 1, 1), "O")
                s = substr(s, 2)
        }
        tail = ""
        while (length(s) > 1 && match(s, /["')\]},.;:!?]$/)) {
                tail = substr(s, RSTART) tail
                s = substr(s, 1, RSTART - 1)
        }
        if (s != "")
                put(s, "O")
        for (; tail != ""; tail = substr(tail, 2))
                put(substr(tail, 1, 1), "O")
}

function put(s, name) {
        word[++n] = s
        tag_of[n] = name == "O" ? "O" : "B-" name
        names += name != "O"
}

# A sentence that has no name teaches what is none: one of four is kept.
function end_sentence(    i) {
        if (n >= 5 && n <= 80 && (names > 0 || ++plain_ones % 4 == 0)) {
                for (i = 1; i <= n; i++)
                        print word[i] "\t" tag_of[i]
                print ""
        }
        n = names = 0
}
