# roff.awk - functions that read the source of manual pages

# The first argument of a macro; "two words" can be one. rest_of_arguments: what comes after it.
function next_argument(s,    one) {
        sub(/^[ \t]+/, "", s)
        if (match(s, /^"[^"]*"?/)) {
                one = substr(s, 2, RLENGTH - 1)
                sub(/"$/, "", one)
        } else {
                match(s, /^([^ \t\\]|\\.|\\$)+/)
                one = substr(s, 1, RLENGTH)
        }
        rest_of_arguments = substr(s, RLENGTH + 1)
        return one
}

# All arguments of a macro, with `between` between them.
function arguments(s, between,    all) {
        for (sub(/^[ \t]+/, "", s); s != ""; sub(/^[ \t]+/, "", s)) {
                all = all (all == "" ? "" : between) next_argument(s)
                s = rest_of_arguments
        }
        return all
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
