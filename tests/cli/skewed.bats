#!/usr/bin/env bats
# Rare labels: the metric that chooses, and --threshold-for of ran-train.

bats_require_minimum_version 1.5.0
load train.bash

# rare N SEED: records of which 1.5 % have the label "yes". A third of these has its word, which one "no"
# of fifty has, too; words of the others lean towards the first ten.
rare() {
  awk -v n="$1" -v seed="$2" 'BEGIN {
    state = seed * 69621 + 1
    for (i = 1; i <= n; i++) {
      yes = i % 200 == 7 || i % 200 == 57 || i % 200 == 157
      text = ""
      for (w = 0; w < 9; w++) {
        state = state * 16807 % 2147483647
        text = text " word" (yes && state % 2 == 0 ? int(state / 7) % 10 : int(state / 7) % 30)
      }
      if (yes && i % 3 == 0 || i % 50 == 3) text = text " signal"
      printf "{\"id\":%d,\"text\":\"%s\",\"label\":\"%s\"}\n", i, substr(text, 2), yes ? "yes" : "no"
    }
  }'
}

setup_file() {
  export RAN_ISA=portable
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  rare 2000 1 >train.jsonl
  rare 2000 2 >test.jsonl
  ran-train classify --base none --encoder none --threshold-for yes=recall:0.9 -o recall.ran train.jsonl 2>said
}

setup() {
  export RAN_ISA=portable
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
}

train() {
  ran-train classify -q --base none --encoder none --overwrite-checkpoint "$@"
}

@test "skewed: models are chosen by macro F1, and it is said, unless --metric says otherwise" {
  grep -q '98.5 % of the documents have the label no: models are chosen by macro F1' said
  [ "$(ran-train info --format json recall.ran | jq -r .training.metric)" = macro_f1 ]
  run -0 --separate-stderr train --metric accuracy -o x.ran train.jsonl
  [ "$(ran-train info --format json x.ran | jq -r .training.metric)" = accuracy ]
  documents 60 >even.jsonl
  run -0 --separate-stderr ran-train classify --base none --encoder none -o x.ran even.jsonl
  [[ $stderr != *'macro F1'* ]]
  [ "$(ran-train info --format json x.ran | jq -r .training.metric)" != macro_f1 ]
}

@test "skewed: a threshold reaches the recall on the folds, with its interval, and the model has it" {
  ran-train info --format json recall.ran | jq -e '.training | .threshold_for == ["yes=recall:0.9"] and
    (.decisions | length == 1 and (.[0] | .label == "yes" and .wanted_recall == 0.9 and .documents == 2000 and
    .with_label == 30 and .recall.value >= 0.9 and .recall.interval[0] < .recall.value and
    .recall.interval[1] > .recall.value and .threshold > 0 and .threshold < 0.5))'
  grep -q '^ran-train: yes from probability 0\.[0-9]* on: recall [0-9.]* % (95 % interval [0-9.]* to [0-9.]*), precision' said
  run -0 ran-train info recall.ran
  [[ $output == *'threshold '*'yes 0.'*', recall '*' precision '* ]]
}

@test "skewed: ran-classify decides by it, unless options decide otherwise" {
  limit=$(ran-train info --format json recall.ran | jq .training.decisions[0].threshold)
  ran-classify -q -m recall.ran --probs test.jsonl >own.jsonl
  jq -es --argjson limit "$limit" 'all((.prediction.label == "yes") == (.prediction.probs.yes >= $limit))' own.jsonl
  ran-classify -q -m recall.ran --threshold-for none --probs test.jsonl | jq -es 'all(.prediction | (.label == "yes") == (.probs.yes > .probs.no))'
  ran-classify -q -m recall.ran --threshold-for "yes=$limit" --probs test.jsonl | cmp - own.jsonl
  ran-classify -q -m recall.ran --threshold-for yes=0.99 --probs test.jsonl | jq -es 'all((.prediction.label == "yes") == (.prediction.probs.yes >= 0.99))'
  # More of them are found than by the largest probability.
  found() { ran-classify -q -m recall.ran --eval "$@" test.jsonl | jq '.per_class[] | select(.label == "yes") | .recall'; }
  own=$(found) largest=$(found --threshold-for none)
  jq -en "$own > $largest and $own >= 0.7"
}

@test "skewed: the models of the folds begin as the model does, with --init, and with layers that stay [all]" {
  documents 400 >few.jsonl
  label=$(jq -r .label few.jsonl | sort | uniq -c | sort -n | tail -1 | awk '{print $2}')
  encoder=$BATS_TEST_DIRNAME/../encoders/sentence-mean
  for options in --frozen '--tune-layers 1 --epochs 1'; do
    ran-train classify -q --base none --init "$encoder" $options --threshold-for "$label=recall:0.5" -o kept.ran few.jsonl
    ran-train info --format json kept.ran | jq -e '.training.decisions | length == 1'
  done
  # Two encoders that differ in nothing but their weights.
  ran-tokenize learn -q --vocab-size 200 -o v.json few.jsonl
  for seed in 1 2; do
    ran-train mlm -q --vocab v.json --dim 8 --layers 1 --heads 2 --head-dim 4 --epochs 1 --seed $seed -o begin.ran few.jsonl
    ran-train classify -q --init begin.ran --wide 0 --epochs 1 --threshold-for "$label=recall:0.5" -o $seed.ran few.jsonl
    ran-train info --format json $seed.ran | jq .training.decisions >$seed.decided
  done
  run ! cmp 1.decided 2.decided
}

@test "skewed: precision, several labels a document, training again and with other threads [all]" {
  train -j 1 --threshold-for no=precision:0.99 --threshold-for yes=recall:0.5 -o two.ran train.jsonl
  ran-train info --format json two.ran | jq -e '.training.decisions | map(.label) == ["no", "yes"] and
    .[0].wanted_precision == 0.99 and .[0].precision.value >= 0.99 and .[1].recall.value >= 0.5'
  train -j 3 --threshold-for no=precision:0.99 --threshold-for yes=recall:0.5 -o three.ran train.jsonl
  cmp two.ran three.ran
  ran-train classify -q --replay two.ran train.jsonl
  jq -c '.labels = [.label] + if .id % 2 == 0 then ["even"] else [] end | del(.label)' train.jsonl >several.jsonl
  train --threshold-for yes=recall:0.9 -o several.ran several.jsonl
  limit=$(ran-train info --format json several.ran | jq .training.decisions[0].threshold)
  ran-classify -q -m several.ran --probs test.jsonl |
    jq -es --argjson limit "$limit" 'all(.prediction | (.labels | map(.label) | index("yes") != null) == (.probs.yes >= $limit))'
}

@test "skewed: what cannot be reached, or is no threshold, is said" {
  for item in yes yes=0.9 yes=recall: yes=recall:2 yes=recall:0 yes=f1:0.5 recall:0.9; do
    refused 2 "--threshold-for $item: give LABEL=recall:X" train --threshold-for "$item" -o x.ran train.jsonl
  done
  refused 2 'no document has the label "maybe"' train --threshold-for maybe=recall:0.9 -o x.ran train.jsonl
  refused 3 'yes=precision:1: no threshold reaches a precision of 1' train --threshold-for yes=precision:1 -o x.ran <(
    jq -c 'if .id % 4 == 0 then .label = "yes" else . end | .text = "the same"' train.jsonl)
  head -n 400 train.jsonl >few.jsonl
  refused 3 'only 6 documents have it, and 10 are needed' train --threshold-for yes=recall:0.9 -o x.ran few.jsonl
  refused 2 '--threshold-for is of a training that writes a model' ran-train classify --check --threshold-for yes=recall:0.9 train.jsonl
  refused 2 'is for ran-train classify' ran-train tag --threshold-for yes=recall:0.9 -o x.ran train.jsonl
}
