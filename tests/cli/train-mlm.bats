#!/usr/bin/env bats
# ran-train mlm: what is read, what is refused, and that a model depends on data and settings alone.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=$RAN_BIN:$PATH
  mkdir "$BATS_TEST_TMPDIR/work" # bats has files of its own beside it
  cd "$BATS_TEST_TMPDIR/work" || exit
  set -o pipefail # jq -e has nothing to say about no input
}

shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 8 --min-window 2 --min-count 1'

# texts N: as many texts of 1 to 50 words, of which each word tells the next.
texts() {
  awk -v n="$1" 'BEGIN {
    for (i = 1; i <= n; i++) {
      words = (i * 37) % 50 + 1
      printf "{\"id\": %d, \"text\": \"", i
      for (w = 0; w < words; w++)
        printf "%sword%d", (w ? " " : ""), (i + w) % 11
      print "\"}"
    }
  }'
}

# bad SENTENCE RECORD...: the last of the records is one that cannot be used, and is named.
bad() {
  local sentence=$1
  shift
  printf '%s\n' "$@" >bad.jsonl
  refused 3 "bad.jsonl:$#: $sentence" ran-train mlm $shape -o bad.ran bad.jsonl
  [ ! -e bad.ran ]
}

@test "train mlm: masked tokens are learned, and reports have a perplexity [all]" {
  export RAN_ISA=portable
  texts 150 >train.jsonl
  run -0 --separate-stderr ran-train mlm $shape --dim 32 --epochs 30 --patience 30 --learning-rate 0.01 \
    --dropout 0 --embed-dropout 0 --log log.jsonl -o m.ran train.jsonl
  [ -z "$output" ]
  [[ $stderr == *'ran-lm fill -m m.ran FILE'* ]]
  # Of eleven words one; two masked ones side by side leave more.
  jq -se 'map(select(.event == "dev") | .dev.perplexity) | min < 3 and .[0] > 5' log.jsonl
}

@test "train mlm: 1, 2 and 7 threads write the same model, and another seed another" {
  texts 80 >train.jsonl
  for j in 1 2 7; do
    ran-train mlm $shape --vocab-type wordpiece --vocab-size 40 --epochs 2 -q -j $j -o m.ran train.jsonl
    mv m.ran m$j.ran
  done
  cmp m1.ran m2.ran
  cmp m1.ran m7.ran
  ran-train mlm $shape --vocab-type wordpiece --vocab-size 40 --epochs 2 -q --seed 2 -o m.ran train.jsonl
  run ! cmp -s m.ran m1.ran
}

@test "train mlm: words, and bare ids" {
  texts 40 | jq -c '{tokens: (.text | split(" "))}' >tokens.jsonl
  ran-train mlm $shape -q --epochs 1 -o m.ran tokens.jsonl
  for i in $(seq 40); do echo "{\"ids\": [$((i % 7 + 5)), $((i % 5 + 5)), $((i % 3 + 5))]}"; done >ids.jsonl
  ran-train mlm $shape -q --epochs 1 -o m.ran ids.jsonl
  ran-train mlm $shape --check tokens.jsonl | jq -e '.ok and .words > .documents and (has("tags") | not)'
}

@test "train mlm: empty documents, and ids outside the vocabulary" {
  bad 'the document has no tokens' '{"text":"a b"}' '{"text":" "}'
  bad 'the document has no tokens' '{"ids":[5,6]}' '{"ids":[]}'
  texts 30 >texts.jsonl
  ran-tokenize learn --min-count 1 -o vocab.json texts.jsonl
  echo '{"ids":[1,2,999999]}' >ids.jsonl
  refused 3 'ids.jsonl:1: id 999999 is not in the vocabulary' \
    ran-train mlm $shape --vocab vocab.json -o m.ran ids.jsonl
  printf '%s\n' '[UNK]' '[START]' '[END]' word1 word2 >vocab.txt
  refused 3 'vocab.txt: the vocabulary has no token [MASK]' \
    ran-train mlm $shape --vocab vocab.txt -o m.ran texts.jsonl
}

@test "train mlm: options that make no sense for it" {
  refused 2 "metric must be 'loss'" ran-train mlm --metric accuracy -o m.ran
  refused 2 '--bptt is for ran-train lm' ran-train mlm --bptt 1 -o m.ran
  refused 2 "mask must be 'none'" ran-train mlm --mask causal -o m.ran
  refused 2 'use --cell gated' ran-train mlm --cell plain -o m.ran
}
