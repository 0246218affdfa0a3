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
    learns $shape --wide 0 --epochs 20 $options
  done
}

@test "prenorm: it tags, predicts and fills [all]" {
  tags_predicts_fills "$shape --wide 0 --epochs 20" "$shape --epochs 20" "$shape --epochs 60"
}

@test "prenorm: a document in parts scores as the whole, also within a window" {
  parts_are_whole $shape # in windows of four
}

@test "prenorm: 1, 2 and 7 threads write the same model [all]" {
  threads_agree $shape --wide 0
}
