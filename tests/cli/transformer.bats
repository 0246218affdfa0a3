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
    learns $shape --epochs 20 $options
  done
}

@test "transformer: it tags, predicts and fills [all]" {
  tags_predicts_fills "$shape --attention dispersed --window 4 --epochs 20" \
    "$shape --attention window --window 8 --epochs 20" "$shape --epochs 60"
}

@test "transformer: a context is saved and continued" {
  parts_are_whole $shape --attention dispersed --window 2
}

@test "transformer: 1, 2 and 7 threads write the same model [all]" {
  threads_agree $shape --attention window,dispersed
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
