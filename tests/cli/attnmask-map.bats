#!/usr/bin/env bats
# ran-attnmask --map: what tokens bear on, the label or the outputs of tokens.

bats_require_minimum_version 1.5.0
load attnmask.bash

# A model that tells rain, sun and snow in texts that say no more.
setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN {
    split("rain sun snow", sign); split("wet warm white none", label)
    for (i = 1; i <= 320; i++) {
      words = (i * 37) % 60 + 1; at = (i * 11) % words
      printf "{\"text\": \""
      for (w = 0; w < words; w++)
        printf "%s%s", w ? " " : "", w == at && i % 4 < 3 ? sign[i % 4 + 1] : "word" (i * w) % 7
      printf "\", \"label\": \"%s\"}\n", label[i % 4 + 1]
    }
  }' >train.jsonl
  RAN_ISA=portable ran-train classify -q --dim 16 --layers 1 --heads 2 --head-dim 8 --window 16 --min-window 4 \
    --learning-rate 0.01 --dropout 0 --embed-dropout 0 --no-dev --epochs 12 -o topic.ran train.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cases=$BATS_TEST_DIRNAME/../cases
  cd "$BATS_TEST_TMPDIR"
  ln -s "$BATS_FILE_TMPDIR/topic.ran" .
  set -o pipefail # jq -e has nothing to say about no input
}

# document CASE: the longest of the case.
document() {
  jq -cs 'max_by(.ids | length)' "$cases/$1/input.jsonl"
}

# planted N AT: a record of N words of no meaning, token AT of which is snow.
planted() {
  awk -v n="$1" -v at="$2" 'BEGIN {
    printf "{\"text\": \""
    for (w = 0; w < n; w++) printf "%s ", w == at ? "snow" : "word" (w * w) % 7
    print "\"}"
  }'
}

@test "attnmask map: the token that decides the label has the largest gain" {
  planted 80 50 >in.jsonl
  ran-attnmask -m topic.ran --map label --top 3 --weights in.jsonl >out
  ran-classify -m topic.ran in.jsonl >label
  jq -e --slurpfile is label '.attention | .map == "label" and .tokens == 80 and
    .label == "white" and .score == $is[0].prediction.score and (.top | length == 3) and
    .top[0].token == 50 and .top[0].piece == "snow" and .top[0].gain > 1 and
    .from == 0 and (.gains | length == 80) and .gains[50] == .top[0].gain' out
  jq -e '.attention.top[0] as $t | .text[$t.start:$t.end] == "snow"' out
}

@test "attnmask map: a part of the gains, and what speaks against another label" {
  planted 80 50 >in.jsonl
  ran-attnmask -m topic.ran --map label --weights in.jsonl >whole
  ran-attnmask -m topic.ran --map label --weights --rows 45:60 in.jsonl >part
  jq -e --slurpfile whole whole '.attention | .from == 45 and
    .gains == $whole[0].attention.gains[45:60]' part
  ran-attnmask -m topic.ran --map label --label wet --top 1 in.jsonl |
    jq -e '.attention | .label == "wet" and .score < 0.5'
}

@test "attnmask map: a tagger is asked about a word" {
  document ran-tag >doc.jsonl
  ran-attnmask -m "$(model ran-tag)" --map label --row 3 --weights doc.jsonl >out
  ran-tag -m "$(model ran-tag)" doc.jsonl |
    jq -e --slurpfile out out '$out[0].attention as $a | $a.row.token == 3 and
      ($a.gains | length == $a.tokens) and $a.label == (.prediction.tags[3] | tostring)'
  refused 2 "give --row I, a token of the word" -m "$(model ran-tag)" --map label doc.jsonl
}

@test "attnmask map: a tagger with a linear model is asked about a word" {
  for i in 1 2 3 4 5 6 7 8 9 10; do
    echo '{"tokens": ["to", "Ann'$i'", "from", "Bo", "it", "went"], "tags": ["O", "B-TO", "O", "B-FROM", "O", "O"]}'
  done >tagged.jsonl
  ran-train tag -q --dim 8 --heads 1 --head-dim 8 --epochs 2 --no-dev -o names.ran tagged.jsonl
  # the word before it says which of two names it is
  head -n 1 tagged.jsonl | ran-attnmask -m names.ran --map label --row 1 --label B-TO --weights >out
  jq -e '.attention.gains | length >= 6 and .[0] > 0.5 and .[0] > .[4]' out
}

@test "attnmask map: tokens bear on each other, across windows" {
  planted 60 20 >in.jsonl
  ran-attnmask -m topic.ran --map tokens --weights in.jsonl >out
  # one cell a token, and each bears on itself
  jq -e '.attention | .rows == [0, 60] and .block == [1, 1] and (.moves | length == 60) and
    all(.moves[]; length == 60 and all(. > 0))' out
  jq -e '.attention.moves as $m | all(range(60); $m[.][.] == ($m[.] | max) or
    ($m[.][.] > 0.3 * ($m[.] | max)))' out
  # snow bears on tokens of other windows more than its neighbours do
  jq -e '.attention.moves | .[5][20] > .[5][19] and .[50][20] > .[50][22]' out
  # a row by itself is that row
  ran-attnmask -m topic.ran --map tokens --row 33 --top 2 --weights in.jsonl |
    jq -e --slurpfile out out '.attention | .rows == [33, 34] and .block == [1, 1] and
      .moves == [$out[0].attention.moves[33]] and (.top | length == 2) and
      .top[0].move == (.moves[0] | max)'
}

@test "attnmask map: blocks, and a part of them" {
  planted 1000 20 >in.jsonl
  ran-attnmask -m topic.ran --map tokens --weights --size 6 in.jsonl |
    jq -e '.attention | .block == [167, 167] and (.moves | length == 6) and (.moves[5] | length == 6)'
  ran-attnmask -m topic.ran --map tokens --weights --rows 900:930 --size 10 in.jsonl |
    jq -e '.attention | .block == [3, 3] and .rows == [900, 930] and
      (.moves | length == 10) and (.moves[9] | length == 10)'
}

@test "attnmask map: under a mask nothing bears on what was before" {
  document ran-lm >doc.jsonl
  ran-attnmask -m "$(model ran-lm)" --map tokens --weights doc.jsonl >out
  jq -e '.attention.moves as $m | ($m | length) > 1 and
    all(range($m | length) as $i | range($i + 1; $m | length) as $j | $m[$i][$j]; . == 0) and
    all(range($m | length); $m[.][.] > 0)' out
}

@test "attnmask map: the same from one thread as from several [all]" {
  { planted 2100 20; planted 50 2; planted 400 300; } >in.jsonl
  for map in label "tokens --size 4"; do
    ran-attnmask -m topic.ran --map $map --weights -j 1 in.jsonl >one
    ran-attnmask -m topic.ran --map $map --weights -j 4 in.jsonl | cmp - one
    [ "$(wc -l <one)" -eq 3 ]
  done
}

@test "attnmask map: a hundred thousand tokens [all]" {
  head -n 20 "$BATS_FILE_TMPDIR/train.jsonl" >few.jsonl
  ran-train classify -q --dim 8 --layers 1 --heads 1 --head-dim 8 --window 256 --epochs 1 --no-dev \
    -o wide.ran few.jsonl
  planted 100000 70000 >in.jsonl
  ran-attnmask -m wide.ran --map label --top 1 --drop text in.jsonl |
    jq -e '.attention.tokens == 100000'
  ran-attnmask -q -m wide.ran --map tokens --size 1 --format svg -o map.svg in.jsonl
  grep -q '^</svg>' map.svg
}

@test "attnmask map: pictures" {
  planted 40 20 >in.jsonl
  # a picture has the document's words beside its cells, its name, and what the shades mean
  jq -c '.id = "a < b"' in.jsonl >named.jsonl
  ran-attnmask -q -m topic.ran --map tokens --format svg named.jsonl >words.svg
  jq -r .text in.jsonl | tr -s ' ' '\n' >words
  sed -n 's/.*text-anchor="end">\(.*\)<.text>/\1/p' words.svg | head -n 40 | diff <(head -n 40 words) -
  grep -q '>Influence on the outputs of tokens: a &lt; b</text>' words.svg
  grep -q '>output (token)</text>' words.svg
  grep -q "lengths of the token's embedding</text>\|lengths of the token&#39;s embedding</text>" words.svg
  # one row is a strip of all tokens
  ran-attnmask -q -m topic.ran --map tokens --row 7 --format svg in.jsonl >row
  grep -q '>output (token)</text>' row
  [ "$(grep -c '>word[0-9]*</text>\|>snow</text>' row)" -ge 40 ]
}

@test "attnmask map: what there is no map of" {
  document ran-lm >doc.jsonl
  refused 2 "the model has no labels; see --map tokens" -m "$(model ran-lm)" --map label doc.jsonl
  refused 2 "this encoder has one output" -m "$(model contextualizer)" --map tokens
  refused 2 "drawn as a page only: give --format html" -m topic.ran --map label --format svg
  refused 2 "no label 'fog'" -m topic.ran --map label --label fog
  refused 2 "of the whole document" -m topic.ran --map label --row 1
  refused 2 "A less than B" -m topic.ran --map tokens --rows 5:5
  refused 2 "must be a token" -m topic.ran --map tokens --row cell:1
  refused 2 "give one" -m topic.ran --map tokens --row 1 --rows 1:2
  refused 2 "--map label and --map tokens are of the whole model: leave out --layer" -m topic.ran --map label --layer 0
  refused 2 "--label is for --map label" -m topic.ran --map tokens --label wet
  refused 2 "--map is for --model FILE" --map label --length 5
  planted 5 1 >in.jsonl
  refused 1 "no token 5: the document has 5" -m topic.ran --map tokens --row 5 in.jsonl
  refused 1 "no token 8: the document has 5" -m topic.ran --map label --rows 2:9 in.jsonl
}
