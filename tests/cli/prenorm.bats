#!/usr/bin/env bats
# --cell prenorm: layers as a residual stream, for every task, through the programs.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail # jq -e has nothing to say about no input
}

shape='-q --cell prenorm --dim 16 --layers 2 --heads 2 --head-dim 8 --window 4 --no-dev --dropout 0
  --embed-dropout 0 --learning-rate 0.01'

@test "prenorm: it learns to classify, with every part left out, too [all]" {
  export RAN_ISA=portable
  animals 60 >train.jsonl
  for options in '' --no-review --no-residual --no-rotary '--pooling mean' '--layers 6'; do
    ran-train classify $shape --wide 0 --epochs 20 $options -o m.ran train.jsonl
    ran-classify -m m.ran --eval train.jsonl | jq -e '.accuracy > 0.95'
  done
}

@test "prenorm: it tags, predicts and fills [all]" {
  export RAN_ISA=portable
  animals 60 >train.jsonl
  ran-train tag $shape --wide 0 --epochs 20 -o tags.ran train.jsonl
  ran-tag -m tags.ran train.jsonl | jq -s -e 'all(.prediction.entities | length == 1 and .[0].label == "ANIMAL")'
  ran-train lm $shape --epochs 20 -o lm.ran train.jsonl
  ran-lm score -m lm.ran --total train.jsonl | jq -e '.perplexity < 3'
  ran-train mlm $shape --epochs 60 -o masked.ran train.jsonl
  echo '{"text":"the [MASK] sleeps in the sun ."}' | ran-lm fill -m masked.ran --top 3 |
    jq -e '[.lm.masks[0].candidates[].piece] | sort == ["cat", "dog", "horse"]'
}

@test "prenorm: a document in parts scores as the whole, also within a window" {
  animals 60 >train.jsonl
  ran-train lm $shape --vocab-type word --epochs 4 -o lm.ran train.jsonl
  head -n 3 train.jsonl >some.jsonl
  jq -s -c '{text: map(.text) | join(" ")}' some.jsonl | ran-lm score -m lm.ran --no-end --per-token |
    jq '.lm.per_token.nll[]' >whole
  # Seven tokens each, in windows of four.
  head -n 1 some.jsonl | ran-lm score -m lm.ran --per-token --state-out s.state | jq '.lm.per_token.nll[]' >parts
  for i in 2 3; do
    sed -n "${i}p" some.jsonl | ran-lm score -m lm.ran --per-token --state-in s.state --state-out s.state |
      jq '.lm.per_token.nll[]'
  done >>parts
  [ "$(wc -l <whole)" -eq "$(wc -l <parts)" ]
  paste whole parts | awk '{ d = $1 - $2; if (d > 1e-4 || d < -1e-4) exit 1 }'
}

@test "prenorm: 1, 2 and 7 threads write the same model [all]" {
  animals 60 >train.jsonl
  for jobs in 1 2 7; do
    ran-train classify $shape --dropout 0.1 --wide 0 --epochs 2 -j $jobs -o $jobs.ran train.jsonl
  done
  cmp 1.ran 2.ran
  cmp 1.ran 7.ran
}
