#!/usr/bin/env bats
# --encoder contextualizer: classifiers of another kind, through the programs.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=$RAN_BIN:$PATH
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail # jq -e has nothing to say about no input
}

shape='--encoder contextualizer --dim 16 --rank 12 --layers 2'

@test "contextualizer: a small task is learned [all]" {
  export RAN_ISA=portable
  documents 240 >all.jsonl
  head -200 all.jsonl >train.jsonl
  ran-train classify $shape -q --epochs 30 --learning-rate 0.01 --dropout 0 --embed-dropout 0 \
    --no-dev -o m.ran train.jsonl
  tail -40 all.jsonl | ran-classify -m m.ran >labelled.jsonl
  [ "$(jq -r 'select(.label == .prediction.label) | .id' labelled.jsonl | wc -l)" -ge 38 ]
}

@test "contextualizer: 1, 2 and 7 threads write the same model, and give the same scores [all]" {
  documents 60 >train.jsonl
  # one document of all shares, beside short ones
  seq 12000 | jq -sc '{id: "long", text: (map("word\(. * . % 7)") | join(" ")), label: "wet"}' >>train.jsonl
  for context in constant learned random; do
    for j in 1 2 7; do
      ran-train classify $shape --context $context --no-dev --epochs 2 -q -j $j -o m$j.ran train.jsonl
      ran-classify -m m$j.ran -j $j --logits --embed train.jsonl >scores$j
      cmp m1.ran m$j.ran
      cmp scores1 scores$j
    done
  done
}

@test "contextualizer: a document scored twice, or in training, has the same random context" {
  documents 60 >train.jsonl
  documents 80 | tail -20 >dev.jsonl
  ran-train classify $shape --wide 0 --context random --seed 5 --epochs 1 -q --dev dev.jsonl --log log -o m.ran train.jsonl
  ran-classify -m m.ran --logits dev.jsonl >once
  { tac dev.jsonl; cat dev.jsonl; } | ran-classify -m m.ran --logits | tail -20 | cmp - once
  loss=$(jq -r 'select(.event == "dev") | .dev.loss' log)
  ran-classify -m m.ran --eval dev.jsonl | jq -e --argjson loss "$loss" '(.log_loss - $loss) | fabs < 1e-6'
}

@test "contextualizer: it classifies, and says so when asked for anything else" {
  echo '{"tokens":["a","b"],"tags":["O","O"]}' >tags.jsonl
  refused 2 "a contextualizer makes one vector of a document and none of a token" \
    ran-train tag --encoder contextualizer -o m.ran tags.jsonl
  refused 2 "a contextualizer makes one vector of a document and none of a token" \
    ran-train lm --encoder contextualizer -o m.ran tags.jsonl
  refused 2 "a contextualizer makes one vector of a document and none of a token" \
    ran-train mlm --encoder contextualizer -o m.ran tags.jsonl
  refused 2 "--rank must be a whole number from 1 to 65536, not '0'" \
    ran-train classify --encoder contextualizer --rank 0 -o m.ran tags.jsonl
  refused 2 "--context must be constant, learned or random, not 'none'" \
    ran-train classify --encoder contextualizer --context none -o m.ran tags.jsonl
  [ ! -e m.ran ]
}

@test "contextualizer: what training will need" {
  documents 60 >train.jsonl
  ran-train classify $shape --wide 0 --context learned --dry-run train.jsonl >plan
  # two steps of U, V, W and its bias, LN; positions, the first context; three classes
  grep -qw "$((2 * (3 * 16 * 12 + 16 + 32) + 32 + 51))" plan || { cat plan; false; }
}
