#!/usr/bin/env bats
# --encoder transformer: patterns of attention that compute, for every task, through the programs.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail # jq -e has nothing to say about no input
}

shape='-q --encoder transformer --dim 16 --layers 2 --heads 2 --head-dim 8 --ffn-dim 24 --no-dev --dropout 0
  --embed-dropout 0 --learning-rate 0.01'

@test "transformer: each pattern and similarity learns to classify [all]" {
  export RAN_ISA=portable
  animals 60 >train.jsonl
  for options in '--attention full' '--attention window --window 4' '--attention dilated --dilation 2' \
    '--attention dispersed,full --window 2' '--similarity cosine' '--similarity euclidean' '--similarity manhattan'; do
    ran-train classify $shape --epochs 20 $options -o m.ran train.jsonl
    ran-classify -m m.ran --eval train.jsonl | jq -e '.accuracy > 0.95'
  done
}

@test "transformer: it tags, predicts and fills [all]" {
  export RAN_ISA=portable
  animals 60 >train.jsonl
  ran-train tag $shape --attention dispersed --window 4 --epochs 20 -o tags.ran train.jsonl
  ran-tag -m tags.ran train.jsonl | jq -s -e 'all(.prediction.entities | length == 1 and .[0].label == "ANIMAL")'
  ran-train lm $shape --attention window --window 8 --epochs 20 -o lm.ran train.jsonl
  ran-lm score -m lm.ran --total train.jsonl | jq -e '.perplexity < 3'
  ran-train mlm $shape --epochs 60 -o masked.ran train.jsonl
  echo '{"text":"the [MASK] sleeps in the sun ."}' | ran-lm fill -m masked.ran --top 3 |
    jq -e '[.lm.masks[0].candidates[].piece] | sort == ["cat", "dog", "horse"]'
}

@test "transformer: a context is saved and continued" {
  animals 60 >train.jsonl
  ran-train lm $shape --vocab-type word --attention dispersed --window 2 --epochs 4 -o lm.ran train.jsonl
  head -n 2 train.jsonl >two.jsonl
  jq -s -c '{text: map(.text) | join(" ")}' two.jsonl | ran-lm score -m lm.ran --no-end | jq .lm.nll >whole
  head -n 1 two.jsonl | ran-lm score -m lm.ran --state-out s.state | jq .lm.nll >first
  tail -n 1 two.jsonl | ran-lm score -m lm.ran --state-in s.state --no-end | jq .lm.nll >second
  paste whole first second | awk '{ d = $1 - $2 - $3; exit !(d < 1e-3 && d > -1e-3) }'
}

@test "transformer: 1, 2 and 7 threads write the same model [all]" {
  animals 60 >train.jsonl
  for jobs in 1 2 7; do
    ran-train classify $shape --dropout 0.1 --attention window,dispersed --epochs 2 -j $jobs -o $jobs.ran train.jsonl
  done
  cmp 1.ran 2.ran
  cmp 1.ran 7.ran
}

@test "transformer: --dry-run counts the keys of each pattern [all]" {
  awk 'BEGIN { for (d = 0; d < 4; d++) { printf "{\"label\":\"%d\",\"text\":\"", d % 2
    for (i = 0; i < 400; i++) printf "w%d ", i % 20
    print "\"}" } }' >train.jsonl
  # millions PATTERNS: of operations.
  millions() {
    ran-train classify $shape --attention "$1" --window 4 --dry-run train.jsonl | sed -n 's/^arithmetic *\([0-9.]*\)M .*/\1/p'
  }
  # A third and more of the arithmetic of such documents are scores of all tokens for all.
  jq -n -e --argjson full "$(millions full)" --argjson window "$(millions window)" --argjson both "$(millions full,window)" \
    '$full > 1.5 * $window and ($full + $window - 2 * $both | fabs) <= 0.2'
}

@test "transformer: what does not go together is said" {
  animals 4 >train.jsonl
  refused() {
    run -2 --separate-stderr ran-train classify --encoder transformer "${@:2}" -o m.ran train.jsonl
    [[ $stderr == *"$1"* ]] || { echo "$stderr" >&2; false; }
  }
  refused 'attention has 3 patterns for 4 heads' --attention full,full,full
  refused "must be full, window, dilated or dispersed" --attention some
  refused 'head_dim must be even' --head-dim 7
}
