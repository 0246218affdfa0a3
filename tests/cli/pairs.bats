#!/usr/bin/env bats
# Sources and targets: a review of the source.

bats_require_minimum_version 1.5.0
load lm.bash

shape='-q --dim 16 --heads 2 --head-dim 8 --window 4 --no-dev --learning-rate 0.01 --dropout 0
  --embed-dropout 0 --vocab-type word --min-count 1'

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail
  awk 'BEGIN { for (i = 0; i < 60; i++) { a = i % 5; b = int(i / 5) % 4; c = i % 3
    printf "{\"source\":\"s%d s%d s%d s%d s%d s%d\",\"target\":\"t%d t%d t%d\"}\n",
      a, c, c, b, b, a, b, a, c } }' >pairs.jsonl
}

# not RUN: usage errors.
misused() {
  local words=$1
  shift
  run -2 --separate-stderr ran-train lm $shape -o never.ran "$@" pairs.jsonl
  [[ $stderr == *"$words"* ]] || { echo "$stderr" >&2; false; }
}

@test "pairs: --review-source implies the mask prefix and is in the model" {
  ran-train lm $shape --cell prenorm --epochs 2 --review-source -o source.ran pairs.jsonl
  ran-train lm $shape --cell prenorm --epochs 2 --mask prefix -o cells.ran pairs.jsonl
  ran-train info --format json source.ran |
    jq -e '.config | .mask == "prefix" and .review_source == true'
  ran-train info --format json cells.ran | jq -e '.config | has("review_source") | not'
  run ! cmp -s source.ran cells.ran
  ran-lm score -m source.ran pairs.jsonl | jq -se 'length == 60 and all(.[]; .lm.nll > 0)'
}

@test "pairs: --review-source is refused where it cannot work" {
  misused "the mask must be 'prefix', not 'causal'" --review-source --mask causal
  misused "review must be 'all'" --review-source --review dispersed
  misused "bptt must be 0" --review-source --bptt 2
}

@test "pairs: a review of the source writes the same for any number of threads and beams [all]" {
  for jobs in 1 2 7; do
    ran-train lm $shape --epochs 2 --review-source -j $jobs -o $jobs.ran pairs.jsonl
    ran-lm generate -m 1.ran --beam 4 --n-best 2 -j $jobs --max-new-tokens 6 pairs.jsonl >$jobs.out
  done
  cmp 1.ran 2.ran
  cmp 1.ran 7.ran
  cmp 1.out 2.out
  cmp 1.out 7.out
  ran-lm generate -m 1.ran --temperature 0 --max-new-tokens 6 pairs.jsonl >greedy
  ran-lm generate -m 1.ran --beam 1 --max-new-tokens 6 pairs.jsonl |
    sed 's/,"score":[^,}]*//' | cmp - greedy
}

