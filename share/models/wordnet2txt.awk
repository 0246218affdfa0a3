# wordnet2txt.awk - the data files of WordNet as lines "word, word: gloss"; at most three words each.
BEGIN { FS = " [|] " }
FNR > 29 {
        split($1, field, " ")
        words = ""
        n = 16 * (index("0123456789abcdef", substr(field[4], 1, 1)) - 1) + index("0123456789abcdef", substr(field[4], 2, 1)) - 1
        for (i = 0; i < n && i < 3; i++) {
                word = field[5 + 2 * i]
                gsub(/_/, " ", word)
                sub(/\(.*\)/, "", word)
                words = words (i > 0 ? ", " : "") word
        }
        print words ": " $2
}
