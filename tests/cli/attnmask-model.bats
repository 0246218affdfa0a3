#!/usr/bin/env bats
# ran-attnmask with a model: what it attended to, in records and pictures, and what is refused.

bats_require_minimum_version 1.5.0
load attnmask.bash

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cases=$BATS_TEST_DIRNAME/../cases
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail # jq -e has nothing to say about no input
}

# document CASE N: its document of N tokens.
document() {
  jq -c "select(.ids | length == $2)" "$cases/$1/input.jsonl" | sed -n 1p
}

# words: documents of words, with labels and tags.
words() {
  for i in 1 2 3 4 5 6; do
    echo '{"id":"a'$i'","text":"The rain: it rained.","label":"wet","tags":["O","O","B-X","O","O","O"]}'
    echo '{"id":"b'$i'","text":"The sun is out now.","label":"dry","tags":["O","B-X","O","O","O","O"]}'
  done
}

shape='-q --epochs 1 --dim 8 --heads 2 --head-dim 4 --no-dev'

# ---- records ----------------------------------------------------------------------------------------

@test "attnmask model: who got most attention, in every head and the review" {
  document ran-gated 11 >doc.jsonl
  ran-attnmask -m "$(model ran-gated)" doc.jsonl >out
  # the record as it came, and one member more
  jq -c 'del(.attention)' out | cmp - <(jq -c . doc.jsonl)
  jq -e '.attention | .tokens == 11 and .windows == 4' out
  [ "$(jq -c '[.attention.heads[] | [.layer, .head]]' out)" = \
    '[[0,0],[0,1],[0,"review"],[1,0],[1,1],[1,"review"]]' ]
  jq -e 'all(.attention.heads[]; .top | length == (if .[0].tokens then 4 else 5 end))' out
  jq -e 'all(.attention.heads[].top; . == sort_by(-.weight))' out
  # all there is, which is all that was given
  ran-attnmask -m "$(model ran-gated)" --top 99 doc.jsonl |
    jq -e '.attention.heads | all(.top | map(.weight) | add | . > 0.9999 and . < 1.0001)'
}

@test "attnmask model: the review of a pattern sees its windows, and says how many" {
  words >words.jsonl
  for review in all dispersed; do
    ran-train classify $shape --wide 0 --vocab-type word --window 1 --review $review --review-window 2 \
      -o $review.ran words.jsonl
    head -n 1 words.jsonl |
      ran-attnmask -q -m $review.ran --head review --layer 0 --weights --top 0 >$review.out
  done
  # six windows; distances 0, 1 and 1 + 2
  jq -e '.attention.heads[0] | .scores == 22 and (.share * 36 | round) == 22' dispersed.out
  jq -e '.attention.heads[0] | has("scores") | not' all.out
  [ "$(jq -c '.attention.heads[0].weights[1].windows' dispersed.out)" = '[[0,3],[4,5]]' ]
  [ "$(jq -c '.attention.heads[0].weights[1].windows' all.out)" = '[[0,6]]' ]
  # as it was said before there were patterns
  echo '{"review":false}' >old.json
  ran-train classify $shape --wide 0 --config old.json -o none.ran words.jsonl
  ran-train classify $shape --wide 0 --no-review -o no.ran words.jsonl
  cmp none.ran no.ran
  refused 2 'the model has no review' -m no.ran --head review words.jsonl
}

@test "attnmask model: every task and encoder answers [all]" {
  for case in "$cases"/*/; do
    ran-attnmask -m "$case/model.safetensors" --top 99 --weights "$case/input.jsonl" >out || [ $? -eq 1 ]
    jq -s -e 'map(select(.ran_error | not)) | length > 3 and all(.[].attention.heads[];
      (.top | map(.weight) | add | . > 0.9999 and . < 1.0001) and
      (.weights | all(.[]; (.weights | add) + .cell + .first | . > 0.9999 and . < 1.0001)))' out
  done
}

@test "attnmask model: weights of a row are what the top of it names [all]" {
  document ran-gated 23 >doc.jsonl
  for row in 0 7 22 cell:0 cell:7; do
    ran-attnmask -m "$(model ran-gated)" --row $row --layer 1 --head 1 --top 99 --weights doc.jsonl >out
    jq -e '.attention.heads[0] | (.weights | length) == 1 and
      ([.top[] | select(has("token")) | {key: "\(.token)", value: .weight}] | from_entries) as $top |
      .weights[0] | [.keys[] | range(.[0]; .[1])] as $keys | ($keys | length) == ($top | length) and
      all(range($keys | length); . as $i | $top["\($keys[$i])"] == $row.weights[$i])' \
      --argjson row "$(jq -c '.attention.heads[0].weights[0]' out)" out
  done
}

@test "attnmask model: a mask leaves no weight on what comes after" {
  for case in ran-lm ran-seq2seq; do
    ran-attnmask -m "$(model $case)" --weights --top 0 "$cases/$case/input.jsonl" >out || [ $? -eq 1 ]
    jq -e 'select(.attention) | ((.segments // []) | map(select(. == 0)) | length) as $sources |
      .attention.heads[].weights[] | select(.keys and (.row | type == "number")) | .row as $row |
      all(.keys[]; .[1] <= ([$row + 1, $sources] | max))' out >answers
    [ "$(sort -u answers)" = true ]
  done
}

@test "attnmask model: a window, its cell, and the mean of its heads" {
  document ran-gated 11 >doc.jsonl
  ran-attnmask -m "$(model ran-gated)" --in-window 3 --layer 0 --top 0 --weights doc.jsonl >out
  # the last window has two tokens
  [ "$(jq -c '[.attention.heads[0].weights[].row]' out)" = '["cell:3",9,10]' ]
  [ "$(jq -c '.attention.heads[0].weights[].keys' out | sort -u)" = '[[9,11]]' ]
  [ "$(jq -c '[.attention.heads[2].weights[].row]' out)" = '[9,10]' ]
  ran-attnmask -m "$(model ran-gated)" --in-window 3 --layer 0 --head mean --top 0 --weights doc.jsonl |
    jq -e '.attention.heads[0].weights[1].cell as $mean | ($heads | map(.weights[1].cell) | add / 2) as $want |
      .attention.heads[0].head == "mean" and ($mean - $want | . < 1e-6 and . > -1e-6)' \
      --argjson heads "$(jq -c '.attention.heads[:2]' out)"
}

@test "attnmask model: steps of a Contextualizer, and how much each moved the context" {
  document contextualizer-learned 11 >doc.jsonl
  ran-attnmask -m "$(model contextualizer-learned)" --layer 2 doc.jsonl |
    jq -e '.attention.heads | length == 1 and .[0].layer == 2 and .[0].update > 0 and .[0].context > 0'
  # It is the document that looks, and no row.
  ran-attnmask -m "$(model contextualizer-learned)" --weights doc.jsonl |
    jq -e '[.attention.heads[].weights[] | keys] | unique == [["keys", "weights"]]'
}

@test "attnmask model: a pretrained encoder, its tokens within windows" {
  folder=$BATS_TEST_DIRNAME/../encoders/bert-classifier
  jq -nc '{text: ("Where does the ferry wait? " * 8)}' >long.jsonl
  run -0 --separate-stderr ran-attnmask -m "$folder" --top 2 long.jsonl
  jq -e '.attention | (.heads | length) > 1 and all(.heads[]; (.top | length) == 2 and .top[0].weight > 0)' <<<"$output"
  tokens=$(jq .attention.tokens <<<"$output")
  # The windows are of nearly equal size: the first token sees nothing of the last one's.
  ran-attnmask -m "$folder" --layer 0 --head 0 --row 0 --top "$tokens" long.jsonl >row.jsonl
  jq -e --argjson n "$tokens" '[.attention.heads[0].top[] | select(.weight > 0) | .token] | max < $n / 2 and length > 10' row.jsonl
  jq -e '[.attention.heads[0].top[].weight] | add < 1' row.jsonl
}

@test "attnmask model: subwords, words and offsets" {
  words >train.jsonl
  ran-train classify $shape -o m.ran train.jsonl
  ran-attnmask -m m.ran --row 2 --top 1 --only train.jsonl | sed -n 1p >out
  [ "$(jq -c '.attention.row' out)" = '{"token":2,"piece":":","start":8,"end":9}' ]
  [ "$(jq -c .id out)" = '"a1"' ]
  echo '{"text":"é rained"}' >e.jsonl
  [ "$(ran-attnmask -m m.ran --row 1 --offsets byte e.jsonl | jq -c '.attention.row | [.start, .end]')" = '[3,9]' ]
  echo '{"tokens":["The","rained:"]}' >w.jsonl
  [ "$(ran-attnmask -m m.ran --row 2 w.jsonl | jq -c .attention.row)" = \
    '{"token":2,"piece":":","word":1,"start":6,"end":7}' ]
  ran-attnmask -m m.ran --max-tokens 2 train.jsonl | jq -e '.attention | .tokens == 2 and .truncated.of == 6'
}

@test "attnmask model: a language model reads [START], and masked tokens" {
  words >train.jsonl
  ran-train lm $shape --vocab-type word -o lm.ran train.jsonl
  [ "$(ran-attnmask -m lm.ran --row 0 --layer 0 train.jsonl | sed -n 1p | jq -c .attention.row)" = \
    '{"token":0,"piece":"[START]"}' ]
  [ "$(ran-attnmask -m lm.ran --row 1 --layer 0 train.jsonl | sed -n 1p | jq -c .attention.row)" = \
    '{"token":1,"piece":"the","start":0,"end":3}' ]
  ran-train mlm $shape -o mlm.ran train.jsonl
  echo '{"text":"The [MASK] is out."}' | ran-attnmask -m mlm.ran --row 1 |
    jq -e '.attention | .tokens == 5 and .row.piece == "[MASK]"'
  # Nothing of such a document has a place in it, which no page said.
  echo '{"text":"The [MASK] is out."}' | ran-attnmask -m mlm.ran --row 0 | jq -ce .attention.row >row
  [ "$(cat row)" = '{"token":0,"piece":"the"}' ]
  echo '{"text":"The sun is out."}' | ran-attnmask -m mlm.ran --row 1 |
    jq -e '.attention | .tokens == 5 and .row.start == 4'
}

@test "attnmask model: --into, and the same from one thread as from several" {
  ran-attnmask -m "$(model ran-gated)" --into seen -j 1 "$cases/ran-gated/input.jsonl" >one
  ran-attnmask -m "$(model ran-gated)" --into seen -j 5 "$cases/ran-gated/input.jsonl" >five
  cmp one five
  jq -e '.seen.tokens and (has("attention") | not)' one
}

# ---- pictures ---------------------------------------------------------------------------------------

# seen FILE: of each line of cells of an SVG, its number, the first and the last that are not white.
seen() {
  grep -o 'M[0-9]* [0-9]*h[0-9]*' "$1" | tr 'Mh' '  ' |
    awk '{ y = $2; if (!(y in first) || $1 < first[y]) first[y] = $1; if (last[y] < $1 + $3) last[y] = $1 + $3 }
      END { for (y in first) print y, first[y], last[y] - 1 }' | sort -n
}

@test "attnmask model: windows along the diagonal, the cell of each first" {
  document ran-gated 11 >doc.jsonl
  # rows of which a cell is darker than nothing, from the runs of all shades
  ran-attnmask -m "$(model ran-gated)" --format svg --size 15 doc.jsonl >m.svg
  seen m.svg >cells
  [ "$(cat cells)" = "$(for y in 0 1 2 3; do echo $y 0 3; done; for y in 4 5 6 7; do echo $y 4 7; done
    for y in 8 9 10 11; do echo $y 8 11; done; for y in 12 13 14; do echo $y 12 14; done)" ]
  grep -q '>query (row: tokens and cells)<' m.svg
}

@test "attnmask model: a part of it, and blocks" {
  document ran-gated 23 >doc.jsonl
  ran-attnmask -q -m "$(model ran-gated)" --format svg --size 40 doc.jsonl >all.svg
  ran-attnmask -q -m "$(model ran-gated)" --format svg --size 40 --rows 3:9 doc.jsonl >part.svg
  # windows 1 and 2: rows 4 to 11 of all
  seen all.svg | awk '$1 >= 4 && $1 < 12 { print $1 - 4, $2 - 4, $3 - 4 }' | cmp - <(seen part.svg)
  run -0 --separate-stderr ran-attnmask -m "$(model ran-gated)" --format svg --size 16 doc.jsonl
  [ "$(seen <(echo "$output") | tail -n 1 | cut -d ' ' -f 1)" -eq 15 ]
  [[ $stderr == *'a cell is a block of 2 x 2 tokens: --rows A:B'* ]]
}

@test "attnmask model: pictures of every format, and heads side by side" {
  document ran-gated 11 >doc.jsonl
  ran-attnmask -q -m "$(model ran-gated)" --format svg --head 0 --size 15 -o m.svg doc.jsonl
  [ "$(grep -c 'width="17" height="1"' m.svg)" -eq 2 ]
  ran-attnmask -q -m "$(model ran-gated)" --format svg --head all --layer all doc.jsonl >m.svg
  [ "$(grep -c '>layer [0-9], head [0-9]<' m.svg)" -eq 4 ]
  [ "$(grep -c '>query (row: tokens and cells)<' m.svg)" -eq 4 ]
  grep -q '>attention weight (logarithmic scale)<' m.svg
  grep -q '>layer 0, head 1<' m.svg
  ran-attnmask -q -m "$(model ran-gated)" --format svg --head review doc.jsonl >m.svg
  grep -q '>layer 1, review<' m.svg
  document contextualizer-learned 23 >doc.jsonl
  ran-attnmask -q -m "$(model contextualizer-learned)" --format svg doc.jsonl >steps
  grep -q '>steps 0 to 2<' steps
  [ "$(seen steps | tail -n 1 | cut -d ' ' -f 1)" -eq 2 ]
  ran-attnmask -q -m "$(model contextualizer-learned)" --format svg --rows 2:8 doc.jsonl >part
  [ "$(seen part | head -n 1)" = '0 0 5' ]
}

# ---- what is refused --------------------------------------------------------------------------------

@test "attnmask model: a layer or head that the model does not have" {
  m=$(model ran-gated)
  refused 2 'the model has no layer 2: it has 2, and the first is 0' -m "$m" --layer 2
  refused 2 'the model has no head 2: it has 2, and the first is 0' -m "$m" --head 2
  refused 2 "--head must be a number, mean, review or all, not 'first'" -m "$m" --head first
  refused 2 'the model has no review' -m "$(model ran-no-review)" --head review
  refused 2 'in this model only the document as a whole attends to tokens' -m "$(model contextualizer)" --row 0
  refused 2 'only the document as a whole attends to tokens' -m "$(model contextualizer)" --in-window 0
  refused 2 'cells do not attend to windows' -m "$m" --head review --row cell:0
  refused 2 'give one' -m "$m" --row 0 --in-window 0
  refused 2 "--rows must be A:B, with A less than B, not '5:5'" -m "$m" --rows 5:5
}

@test "attnmask model: a row or window that the document does not have is a bad record" {
  document ran-gated 11 >doc.jsonl
  m=$(model ran-gated)
  refused 1 'doc.jsonl:1: there is no token 11: the document has 11, and the first is 0' -m "$m" --row 11 doc.jsonl
  [ "$(echo "$output" | jq -r .ran_error.message)" = 'there is no token 11: the document has 11, and the first is 0' ]
  refused 1 'there is no token 11' -m "$m" --rows 3:12 doc.jsonl
  refused 1 'there is no window 4: the document has 4' -m "$m" --in-window 4 doc.jsonl
  refused 1 'there is no window 4: the document has 4' -m "$m" --row cell:4 doc.jsonl
  refused 1 'the document has no tokens' -m "$m" <<<'{"ids":[]}'
}

@test "attnmask model: documents longer than a table or a picture can be [all]" {
  seq 9000 | jq -s -c '{ids: map(. % 20)}' >long.jsonl
  refused 1 'more than 67108864 weights: select some' -m "$(model ran-gated)" --weights long.jsonl
  ran-attnmask -m "$(model ran-gated)" --weights --top 0 --row 8999 --layer 0 --head 0 long.jsonl |
    jq -e '.attention.heads[0].weights[0].keys == [[8997,9000]]'
  run -0 --separate-stderr ran-attnmask -m "$(model ran-gated)" --format svg --size 100 -o m.svg long.jsonl
  [ "$(grep -c 'width="102" height="1"' m.svg)" -eq 2 ]
  [[ $stderr == *'a cell is a block of 120 x 120 tokens: --rows'* ]]
  refused 2 'must be a whole number from 0 to 8192' -m "$(model ran-gated)" --format svg --size 9000 long.jsonl
}

@test "attnmask model: a picture is of one document, and there must be one" {
  refused 3 'a picture is of one document, and this is a second one' -q -m "$(model ran-gated)" --format svg "$cases/ran-gated/input.jsonl"
  refused 3 'input.jsonl:2: a picture' -q -m "$(model ran-gated)" --format svg -o m.svg "$cases/ran-gated/input.jsonl"
  [ ! -e m.svg ]
  refused 3 'there is no document to draw' -m "$(model ran-gated)" --format svg -o m.svg </dev/null
  [ ! -e m.svg ]
}

@test "attnmask model: options of patterns and of models are kept apart" {
  m=$(model ran-gated)
  refused 2 'a model has a pattern of its own: leave out --length' -m "$m" --length 9
  refused 2 '--in-window is for --model FILE' --length 9 --in-window 0
  refused 2 'a picture has no numbers: leave out --top' -m "$m" --format svg --top 2
  refused 2 '--format text draws patterns only' -m "$m" --format text
  refused 2 '--size is for pictures' -m "$m" --size 100
  refused 2 '--max-tokens is for models that classify or tag' -m "$(model ran-lm)" --max-tokens 5
  refused 3 'cannot open none.ran' -m none.ran
}
