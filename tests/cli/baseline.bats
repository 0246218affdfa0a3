#!/usr/bin/env bats
# The accuracy of always giving the most frequent label, beside that of a model.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_TEST_TMPDIR" || exit
  set -o pipefail
  # 190 : 10, and nothing in the texts tells them apart.
  seq 200 | jq -c '{id: ., text: "word\(. / 20 | floor) and more", label: (if . % 20 == 0 then "rare" else "usual" end)}' >d.jsonl
}

train() { ran-train classify --base none --encoder none "$@"; }

@test "training says what the most frequent label alone achieves, in the summary, the log, info and the page" {
  run -0 --separate-stderr train --metric accuracy --log log.jsonl --report page.html -o m.ran d.jsonl
  [[ $stderr == *'validation accuracy 95.00 (19 of 20'*'baseline, always the most frequent label: validation accuracy 95.00'* ]]
  jq -se 'map(select(.event == "dev")) | length > 0 and all(.baseline == 0.95)' log.jsonl
  run -0 ran-train info m.ran
  [[ $(tr -s '\n ' '  ' <<<"$output") == *'documents 20, metric accuracy, result 0.9500, '*', baseline 0.9500'* ]]
  ran-train info --format json m.ran | jq -e '.validation.baseline == 0.95'
  grep -q 'baseline 0.9500' page.html
}

@test "an evaluation names the most frequent label and its accuracy" {
  train -q -o m.ran d.jsonl
  head -n 40 d.jsonl >some.jsonl
  ran-classify -q -m m.ran --eval some.jsonl | jq -e '.baseline == {label: "usual", accuracy: 0.95}'
  run -0 ran-classify -q -m m.ran --eval --eval-format text some.jsonl
  [[ $output == *$'\nbaseline           0.9500 (always usual)\n'* ]]
  ran-classify -q -m m.ran --eval --eval-format html some.jsonl | grep -q 'baseline.*95.00.*always usual'
  # The label of most of these records, not of the training.
  ran-classify -q -m m.ran --eval <(jq -c 'select(.label == "rare")' d.jsonl) | jq -e '.baseline == {label: "rare", accuracy: 1}'
}

@test "there is none of several labels, without validation, or of another metric" {
  jq -c '.labels = [.label, "all"] | del(.label)' d.jsonl >several.jsonl
  run -0 --separate-stderr train -o several.ran several.jsonl
  [[ $stderr != *baseline* ]]
  ran-classify -q -m several.ran --eval several.jsonl | jq -e 'has("baseline") | not'
  run -0 --separate-stderr train --no-dev -o m.ran d.jsonl
  [[ $stderr != *baseline* ]]
  run -0 --separate-stderr train --metric macro_f1 -o m.ran d.jsonl
  [[ $stderr != *baseline* ]]
  ran-train info --format json m.ran | jq -e '.validation | has("baseline") | not'
}

@test "tags have a baseline, too" {
  seq 60 | jq -c '{tokens: ["a", "b", "word\(. % 7)", "Ann"], tags: ["O", "O", "O", "B-PER"]}' >names.jsonl
  seq 60 | jq -c '{tokens: ["a", "b", "word\(. % 7)", "Ann"], tags: ["D", "D", "N", "P"]}' >pos.jsonl
  ran-train tag -q --base none --encoder none -o names.ran names.jsonl
  run -0 --separate-stderr ran-train tag --base none --encoder none -o pos.ran pos.jsonl
  [[ $stderr == *'baseline, always the most frequent tag: validation accuracy 50.00'* ]]
  ran-tag -q -m names.ran --eval --eval-format json names.jsonl | jq -e '.baseline == {tag: "O", accuracy: 0.75}'
  ran-tag -q -m pos.ran --eval --eval-format json pos.jsonl | jq -e '.baseline == {tag: "D", accuracy: 0.5}'
  ran-tag -q -m names.ran --eval names.jsonl | grep -x 'baseline *0.7500 (always O)'
  ran-tag -q -m pos.ran --eval pos.jsonl | grep -x 'baseline *0.5000 (always D)'
  ran-tag -q -m names.ran --eval --eval-format html names.jsonl | grep -q 'baseline.*always O'
  # The script's own output stays as it is.
  ran-tag -q -m names.ran --eval --eval-format conlleval names.jsonl >report
  ! grep -q baseline report
}
