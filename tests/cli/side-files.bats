#!/usr/bin/env bats
# Files that options name beside the input (--among, --dev) are read in their own format.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=$RAN_BIN:$PWD/share/examples:$PATH
  model=$PWD/tests/encoders/bert
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail
  documents 30 20 >docs.jsonl
  jq -r .text docs.jsonl >lines.txt
  { echo 'body;class' && jq -r '"\(.text);\(.label)"' docs.jsonl; } >table.csv
}

# nearest OPTION...: ids of the nearest ones, of those that have the same vector.
nearest() {
  ran-classify -q -m "$model" --nearest 1 --least 0.9999 --only "$@" | jq -c '[.prediction.nearest[].id]'
}

@test "side files: vectors are found by texts, whatever --input-format says of these" {
  ran-classify -q -m "$model" --embed --only -o vectors.jsonl docs.jsonl
  nearest --among vectors.jsonl --input-format text lines.txt >found
  cmp found <(jq -c '[.id]' docs.jsonl)
  search "$model" vectors.jsonl docs.jsonl "$(sed -n 7p lines.txt)" 1 >found
  [ "$(cut -f 3 found)" = "$(sed -n 7p lines.txt)" ]
}

@test "side files: a leak is seen between files of different formats" {
  ran-tokenize duplicates -q --input-format text --among docs.jsonl --only lines.txt >found
  jq -e -s 'length == 30 and all(.duplicate.similarity == 1)' found
  # nor is a shard of the input one of the other file
  tac docs.jsonl >other.jsonl
  ran-tokenize duplicates -q --shard 2/2 --among other.jsonl --only docs.jsonl >found
  jq -e -s 'length > 9 and all(.duplicate.similarity == 1)' found
  # and records that cannot be read in the other one's format are not lost
  ran-tokenize duplicates -q --delimiter ';' --among docs.jsonl --only table.csv >found
  jq -e -s 'length == 30 and all(.duplicate.similarity == 1)' found
}

@test "side files: training reads validation documents in their format" {
  mapfile -t options < <(printf '%s\n' --check --base none --encoder none --input-format csv --delimiter ';')
  ran-train classify "${options[@]}" --dev docs.jsonl table.csv >report || true
  jq -e '.dev.documents == 30 and .dev.overlap.count == 30' report
}

@test "side files: an option gives the format, and prose is read as the input is" {
  nearest --among lines.txt --among-format text docs.jsonl >found
  cmp found <(jq -c '["lines.txt:\(input_line_number)"]' docs.jsonl)
  nearest --among lines.txt --input-format text lines.txt | cmp - found
  run -0 --separate-stderr ran-classify -m "$model" --nearest 1 --among lines.txt --only docs.jsonl
  [[ $stderr == *'lines.txt is read as one document (--among-format text: each line is one)'* ]]
  refused 2 '--among-format is for --among FILE' ran-classify -m "$model" --among-format text docs.jsonl
  refused 2 '--dev-format is for --dev FILE' ran-train lm --dev-format text -o m.ran docs.jsonl
  refused 3 'the first line is no record, it looks like ' ran-tokenize duplicates --among table.csv --among-format jsonl docs.jsonl
  [[ $stderr == *'give --among-format='* ]]
}

@test "side files: options that name members are for those that have them, and always for --dev" {
  ran-tokenize duplicates -q --text-member body --among docs.jsonl --only table.csv | jq -e -s 'all(.duplicate.similarity == 1)'
  jq -c '{body: .text, text: "no"}' docs.jsonl >both.jsonl
  ran-tokenize duplicates -q --text-member body --among both.jsonl --only table.csv | jq -e -s 'all(.duplicate.similarity == 1)'
  refused 3 'no record has a member "body"' ran-train classify --text-member body --label-member class --dev docs.jsonl -o m.ran table.csv
}
