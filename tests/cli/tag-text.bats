#!/usr/bin/env bats
# ran-tag on raw text: sentences and words, split as in the training data.

bats_require_minimum_version 1.5.0
load train.bash

# split.ran is trained on words split as in CoNLL-2003, plain.ran on words that fit every rule.
setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN {
    split("Oslo Rome Bern U.N. O'\''Neill-Lee", who)
    for (i = 0; i < 60; i++) {
      a = who[i % 5 + 1]; b = who[int(i / 5) % 5 + 1]
      printf "{\"tokens\":[\"Mr.\",\"Fox\",\"of\",\"%s\",\"did\",\"n'\''t\",\"see\",\"%s\",\"(\",\"yet\",\")\",\".\"],", a, b
      print "\"tags\":[\"O\",\"O\",\"O\",\"B-X\",\"O\",\"O\",\"O\",\"B-X\",\"O\",\"O\",\"O\",\"O\"]}"
    }
  }' >split.jsonl
  jq -c '{tokens: [.tokens[] | gsub("[^A-Za-z]"; "")] | map(if . == "" then "x" else . end), tags}' split.jsonl >plain.jsonl
  for m in split plain; do ran-train tag -q --encoder none --min-count 1 -o $m.ran $m.jsonl; done
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  cp "$BATS_FILE_TMPDIR"/*.ran .
  set -o pipefail
}

text='Mr. Fox of Oslo didn'\''t see U.N. (yet). É😀 of Rome.'

@test "tag-text: a text is split like the training data, with offsets of words and sentences" {
  jq -cn --arg t "$text" '{text: $t}' >in.jsonl
  run -0 --separate-stderr ran-tag -m split.ran in.jsonl
  [ -z "$stderr" ]
  [ "$(jq -r '.text as $t | [.prediction.offsets[] | $t[.[0]:.[1]]] | join("|")' <<<"$output")" = \
    "Mr.|Fox|of|Oslo|did|n't|see|U.N.|(|yet|)|.|É😀|of|Rome|." ]
  [ "$(jq -c .prediction.sentences <<<"$output")" = '[0,12]' ]
  [ "$(jq -c '[.prediction.entities[] | [.start, .end, .text]]' <<<"$output")" = \
    '[[11,15,"Oslo"],[27,31,"U.N."],[45,49,"Rome"]]' ]
  jq -e '.prediction | (.tags | length) == (.offsets | length)' <<<"$output"
}

@test "tag-text: offsets of words in UTF-16 and bytes" {
  jq -cn '{text: "É😀 of Rome"}' >in.jsonl
  [ "$(ran-tag -m split.ran --offsets utf16 in.jsonl | jq -c .prediction.offsets)" = '[[0,3],[4,6],[7,11]]' ]
  [ "$(ran-tag -m split.ran --offsets byte in.jsonl | jq -c .prediction.offsets)" = '[[0,6],[7,9],[10,14]]' ]
}

@test "tag-text: a rule that is given counts, and a model without one splits as its vocabulary does" {
  jq -cn --arg t "$text" '{text: $t}' >in.jsonl
  words() { ran-tag "$@" in.jsonl | jq '.prediction.tags | length'; }
  [ "$(words -m split.ran --split-at spaces)" -eq 11 ]
  [ "$(words -m split.ran --split-at punctuation)" -eq 21 ]
  [ "$(words -m split.ran --split-at vocabulary)" -eq "$(words -m plain.ran)" ]
  ran-tag -m plain.ran in.jsonl | jq -e '.prediction | has("offsets") or has("sentences") | not'
  [ "$(words -m plain.ran --split-at conll)" -eq 16 ]
  run -0 ran-train info split.ran
  [[ $output == *'split into sentences and words like the training data: conll'* ]]
  run -0 ran-train info plain.ran
  [[ $output != *'split into sentences'* ]]
}

@test "tag-text: a sentence of a text is tagged like one that is a record" {
  jq -cn --arg t "$text" '{text: $t}' | ran-tag -m split.ran | jq -c '[.prediction.entities[].score]' >together
  printf '%s\n' '{"text":"Mr. Fox of Oslo didn'\''t see U.N. (yet)."}' '{"text":"É😀 of Rome."}' |
    ran-tag -m split.ran | jq -c '.prediction.entities[].score' | jq -cs . >alone
  diff alone together
}

@test "tag-text: the sentences of a long text are tagged by all threads, each as if it were alone [all]" {
  jq -cn '{text: ([range(700)] | map("Mr. Fox of Oslo left U.N. (yet). Ann met Rome!") | join(" "))}' >in.jsonl
  for j in 1 4; do ran-tag -m split.ran --logits -j $j in.jsonl >out.$j; done
  cmp out.1 out.4
  [ "$(jq '.prediction.sentences | length' out.4)" -eq 1400 ]
  [ "$(jq -c '[.prediction.entities[].score] | [_nwise(2)] | unique | length' out.4)" -eq 1 ]
  [ "$(jq -c '.prediction.logits | [_nwise(14)] | unique | length' out.4)" -eq 1 ]
}

@test "tag-text: lines of words have an empty line between sentences" {
  jq -cn '{text: "Fox left. Ann met Rome!"}' >in.jsonl
  run -0 --separate-stderr ran-tag -m split.ran --output-format conll in.jsonl
  [ "$(cut -d' ' -f1 <<<"$output" | tr '\n' '|')" = 'Fox|left|.||Ann|met|Rome|!|' ]
}

@test "tag-text: spans of a text are compared with words by the rule" {
  jq -cn --arg t "$text" '{text: $t, spans: [{start: 11, end: 15, label: "X"}, {start: 27, end: 31, label: "X"},
    {start: 45, end: 49, label: "X"}]}' >in.jsonl
  run -0 --separate-stderr ran-tag -m split.ran --eval --eval-format json in.jsonl
  [ "$(jq -c '.conlleval | [.tokens, .gold, .correct]' <<<"$output")" = '[16,3,3]' ]
  run -3 --separate-stderr ran-tag -m split.ran --split-at spaces --eval in.jsonl
  [[ $stderr == *'does not start and end at words'* ]]
}

@test "tag-text: a text with nothing but marks, and a very long word" {
  { jq -cn '{text: "... -- \"\" (("}'; jq -cn '{text: ([range(30000)] | map("a.") | join(""))}'; } >in.jsonl
  run -0 --separate-stderr ran-tag -m split.ran in.jsonl
  [ "${#lines[@]}" -eq 2 ]
  [ "$(jq -c .prediction.offsets <<<"${lines[0]}")" = '[[0,3],[4,6],[7,8],[8,9],[10,11],[11,12]]' ]
}

@test "tag-text: a checkpoint splits texts as its model will [all]" {
  settings='--wide 0 --dim 8 --heads 1 --head-dim 8 --no-dev --no-early-stop --epochs 60 --checkpoint-minutes 0.0005'
  ran-train tag -q $settings -o whole.ran "$BATS_FILE_TMPDIR/split.jsonl"
  ended_by KILL '"checkpoint"' log ran-train tag -q $settings --log log -o m.ran "$BATS_FILE_TMPDIR/split.jsonl"
  [ -e m.ran.ckpt ]
  [ ! -e m.ran ]
  [[ $(ran-train info m.ran.ckpt) == *'split into sentences and words like the training data: conll'* ]]
  jq -cn --arg t "$text" '{text: $t}' >in.jsonl
  same_output "ran-tag -m m.ran.ckpt in.jsonl | jq .prediction.offsets" "ran-tag -m whole.ran in.jsonl | jq .prediction.offsets"
  ran-train tag -q $settings --resume -o m.ran "$BATS_FILE_TMPDIR/split.jsonl"
  cmp m.ran whole.ran
}

@test "tag-text: quotes and brackets are read as the training data write them, and offsets stay those of the text" {
  jq -c '.tokens[8] = "-LRB-" | .tokens[10] = "-RRB-" | .tokens = ["``"] + .tokens + ["\u0027\u0027"] |
    .tags = ["O"] + .tags + ["O"]' "$BATS_FILE_TMPDIR/split.jsonl" >ptb.jsonl
  ran-train tag -q --encoder none --min-count 1 -o ptb.ran ptb.jsonl
  run -0 ran-train info ptb.ran
  [[ $output == *'like the training data: ptb'* ]]
  ran-train info --format json ptb.ran | jq -e '[.. | .text_marks? // empty | .[]] | index("-LRB-") != null'
  o=$'\xe2\x80\x9c' c=$'\xe2\x80\x9d' a=$'\xe2\x80\x99'
  jq -cn --arg t "${o}Mr. Fox of Oslo didn${a}t see U.N. (yet).$c" '{text: $t}' >raw.jsonl
  jq -cn '{tokens: ["``", "Mr.", "Fox", "of", "Oslo", "did", "n\u0027t", "see", "U.N.", "-LRB-", "yet", "-RRB-", ".", "\u0027\u0027"]}' >cut.jsonl
  same_output "ran-tag -m ptb.ran --logits raw.jsonl | jq -c .prediction.logits" "ran-tag -m ptb.ran --logits cut.jsonl | jq -c .prediction.logits"
  [ "$(ran-tag -m ptb.ran raw.jsonl | jq -r '.text as $t | [.prediction.offsets[] | $t[.[0]:.[1]]] | join("|")')" = \
    "$o|Mr.|Fox|of|Oslo|did|n${a}t|see|U.N.|(|yet|)|.|$c" ]
  sed -e "s/$o/\\\\\"/g" -e "s/$c/\\\\\"/g" -e "s/$a/'/" raw.jsonl >straight.jsonl
  same_output "ran-tag -m ptb.ran straight.jsonl | jq -c .prediction.tags" "ran-tag -m ptb.ran cut.jsonl | jq -c .prediction.tags"
}
