# floors.awk - the checks of tests/lint/floors, over its records. A byte 1 stands for a line break.
BEGIN {
        # By tens; ran/X is the header ran/X.h, below the folders whose functions it declares.
        split("ran/base 0 base 10 ran/record 15 ran/math 15 ran/mask 15 record 20 math 20 mask 20 " \
              "ran/text 25 ran/eval 25 text/words 30 eval 35 text/steps 40 text/raw 40 text 50 text/hf 55 text/learn 60 " \
              "ran/model 65 tensors 70 nn 80 ran/train 81 data 82 part/crf 90 part/ran 100 part/transformer 100 " \
              "part/bert 100 part/contextualizer 100 part/vectors 100 part/linear 105 task 110 file 120 hf 130 infer 140 ran/distil 66 " \
              "ranks 170 gradient 180 evaluate 185 train 190 distil 195 search 210", word, " ")
        for (i = 1; i in word; i += 2)
                floor["lib/" word[i]] = word[i + 1]
        split("options 0 formats 1 pages 1.5 records 2 content 2 tag 3 classify 3 lm 3 attnmask 3 tokenize 3 " \
              "train/about 3 train/read 3 train/check 4 train/run 5 train 6", word, " ")
        for (i = 1; i in word; i += 2)
                floor["cmd/" word[i]] = word[i + 1]
}

# lib/text of lib/text/bpe.c; lib/ran/text of lib/ran/text.h; lib of lib/ran.h
function folder(file)
{
        if (file ~ /^lib\/ran\//)
                sub(/\.h$/, "", file)
        else
                sub(/\/[^\/]*$/, "", file)
        return file
}

# Whether a header may declare what is defined in folder `at`.
function speaks_for(header, at)
{
        if (!is_public(header))
                return folder(header) == at
        if (header == "lib/ran/text.h")
                return at ~ /^lib\/text/
        if (header == "lib/ran/model.h")
                return floor[at] > floor["lib/ran/model"] && floor[at] < floor["lib/ranks"]
        if (header == "lib/ran/train.h")
                return floor[at] > floor["lib/ran/train"]
        sub(/ran\//, "", header)
        sub(/\.h$/, "", header)
        return header == at
}

function is_public(file)
{
        return file ~ /^lib\/ran(\.h$|\/)/
}

# The program whose folder it is, cmd/train of cmd/train/run; "": of none, or of several.
function program(at)
{
        if (at !~ /^cmd/ || floor[at] < 3)
                return ""
        match(at, /^cmd\/[^\/]*/)
        return substr(at, 1, RLENGTH)
}

# Whether folder `from` may know folder `to`.
function may(from, to)
{
        if (from == to)
                return 1
        if (from ~ /^cmd/ && to ~ /^lib/)
                return 1
        if (from ~ /^lib/ && to ~ /^cmd/)
                return 0
        if (program(to) != "" && program(to) != program(from))
                return 0
        return floor[to] < floor[from]
}

function wrong_way(from, to)
{
        if (from ~ /^lib/ && to ~ /^cmd/)
                return "lib/ knows nothing of cmd/"
        if (floor[from] == floor[to] || (program(to) != "" && program(to) != program(from)))
                return from " and " to " stand side by side"
        return from " stands below " to
}

$1 == "table" {
        entries[$2] = $3
}

# Whether a symbol is an entry of a table of operations that `file` picks from.
function is_entry(file, symbol)
{
        return file in entries && symbol ~ entries[file]
}

function is_any_entry(symbol,    file)
{
        for (file in entries)
                if (symbol ~ entries[file])
                        return 1
        return 0
}

$1 == "include" {
        header = $4 ~ /^cmd\// ? $4 : "lib/" $4
        from = folder($2)
        to = folder(header)
        if (!(from in floor) && $2 != "lib/ran.h")
                print $2 ": " from " has no floor; give it one in tests/lint/floors.awk"
        else if ($2 == "lib/ran.h") {
                if (!is_public(header))
                        print $2 ": includes the private " $4 "; move what it needs into lib/ran/"
        } else if (header == "lib/ran.h") {
                if (from ~ /^lib/)
                        print $2 ": includes ran.h, the whole library; include one of ran/*.h"
        } else if (!(to in floor))
                print $2 ": includes " $4 " of an unknown folder; write \"FOLDER/file.h\" or \"cmd/FOLDER/file.h\""
        else if (!may(from, to))
                print $2 ": includes " $4 ", but " wrong_way(from, to) "; move what it needs to a floor below both"
        else if (from ~ /^cmd/ && to ~ /^lib/ && !is_public(header))
                print $2 ": includes the private " $4 "; declare what it needs in a header of lib/ran/"
        else if (is_public($2) && !is_public(header))
                print $2 ": includes the private " $4 "; an installed header needs installed ones only"
}

$1 == "declared" {
        declared_in[$3] = declared_in[$3] " " $2
}

$1 == "defined" {
        home[$3] = $2
        file_of[$2] = folder($2)
}

$1 == "uses" {
        n_uses++
        user[n_uses] = $2
        used[n_uses] = $3
}

function reach(from, seen,    stack, top, at, i, next_ones)
{
        stack[top = 1] = from
        while (top > 0) {
                at = stack[top--]
                split(edges[at], next_ones, " ")
                for (i = 1; i in next_ones; i++)
                        if (!(next_ones[i] in seen)) {
                                seen[next_ones[i]] = 1
                                stack[++top] = next_ones[i]
                        }
        }
}

END {
        for (symbol in home) {
                at = home[symbol]
                n = split(declared_in[symbol], headers, " ")
                if (n == 0 && symbol !~ /^ran_simd_(base|plain8|plain16|alike4|alike8|alike16|avx2|avx512)/)
                        print at ": " symbol " is declared in no header; declare it, or make it static"
                for (i = 1; i <= n; i++) {
                        if (!speaks_for(headers[i], folder(at)) && !is_any_entry(symbol))
                                print at ": " symbol " is declared in " headers[i] "; move one to the folder of the other"
                }
        }
        for (i = 1; i <= n_uses; i++) {
                if (!(used[i] in home) || home[used[i]] == user[i])
                        continue
                if (is_entry(user[i], used[i]))
                        continue
                from = folder(user[i])
                to = folder(home[used[i]])
                if (!may(from, to)) {
                        print user[i] ": refers to " used[i] " of " home[used[i]] ", but " wrong_way(from, to) \
                                "; move it down, or hand it over as a pointer"
                        continue
                }
                if (from ~ /^cmd/ && to ~ /^lib/ && declared_in[used[i]] !~ / lib\/ran\//)
                        print user[i] ": refers to " used[i] " of " home[used[i]] ", which is private; declare it in lib/ran/"
                a = user[i]
                b = home[used[i]]
                if (a == b)
                        continue
                if (index(edges[a] " ", " " b " ") == 0)
                        edges[a] = edges[a] " " b
                pair = user[i] " " home[used[i]]
                if (!(pair in why))
                        pairs[++n_pairs] = pair
                if (index(why[pair] " ", " " used[i] " ") == 0)
                        why[pair] = why[pair] " " used[i]
        }
        for (a in edges) {
                if (a in told)
                        continue
                split("", ahead)
                reach(a, ahead)
                if (!(a in ahead))
                        continue
                split("", circle)
                for (b in ahead) {
                        split("", back)
                        reach(b, back)
                        if (a in back)
                                circle[b] = told[b] = 1
                }
                text = ""
                smallest = a
                for (b in circle)
                        if (b < smallest)
                                smallest = b
                for (i = 1; i <= n_pairs; i++) {
                        split(pairs[i], ends, " ")
                        from = ends[1]
                        to = ends[2]
                        if (from != to && from in circle && to in circle)
                                text = text sprintf("\001    %s -> %s:%s", ends[1], ends[2], why[pairs[i]])
                }
                print smallest ": modules know each other in a circle; move what both need to a module of its own:" text
        }
}
