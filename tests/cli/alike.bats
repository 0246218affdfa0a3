#!/usr/bin/env bats
# Labels that look alike.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_TEST_TMPDIR" || exit
  set -o pipefail
}

# check LABEL OTHER: what --check says of documents with these labels, and a third one.
check() {
  documents 40 | jq -c --arg a "$1" --arg b "$2" '.label = (if .id % 3 == 0 then $a elif .id % 3 == 1 then $b else "third" end)' |
    ran-train classify --base none --check --check-format text
}

@test "labels that differ in characters that nobody sees get a warning with these characters" {
  while IFS=' ' read -r a b wanted; do
    run -0 check "$(printf "$a")" "$(printf "$b")"
    [[ $output == *"the labels "*" look alike ($wanted): write them alike in the data"* ]] ||
      { echo "$a $b: $output"; false; }
  done <<'END'
caf\xc3\xa9 cafe\xcc\x81 where one has U+0065, the other has U+00E9
New\xc2\xa0York New\x20York where one has U+0020, the other has U+00A0
sport\xe2\x80\x8b sport one goes on with U+200B
sport \xef\xbb\xbfsport where one has U+0073, the other has U+FEFF
A\xc2\xadB AB where one has U+0042, the other has U+00AD
\xef\xbc\xa1\xef\xbc\xa2 ab where one has U+0061, the other has U+FF21
\xea\xb0\x80 \xe1\x84\x80\xe1\x85\xa1 where one has U+1100, the other has U+AC00
1 1.0 one goes on with U+002E
1 01 where one has U+0030, the other has U+0031
STRA\xe1\xba\x9eE stra\xc3\x9fe where one has U+0053, the other has U+0073
END
}

@test "labels that differ in case or spaces get the warning that they got before" {
  run -0 check 'New York' new_york
  [[ $output == *'the labels "New York" ('*' differ in case or spaces only: write them alike in the data'* ]]
}

@test "labels that are not alike get none" {
  while IFS=' ' read -r a b; do
    run -0 check "$(printf "$a")" "$(printf "$b")"
    [[ $output != *alike* ]] || { echo "$a $b: $output"; false; }
  done <<'END'
caf\xc3\xa9 cafe
1 1.5
1.0 10
1.2.0 1.2
-1 1
a+ a-
END
}

@test "tags that look alike, too" {
  for i in {1..20}; do
    jq -nc --arg tag "$([ $((i % 2)) = 0 ] && printf 'B-caf\xc3\xa9' || printf 'B-cafe\xcc\x81')" '{tokens: ["a", "b"], tags: ["O", $tag]}'
  done >t.jsonl
  run -0 ran-train tag --check --check-format text t.jsonl
  [[ $output == *'the tags "B-'*'look alike (where one has U+0065, the other has U+00E9)'* ]]
}

@test "labels that differ from those of the model, or of the training data, in spaces, case or the form of a number [all]" {
  documents 40 | jq -c '.label = (if .id % 2 == 0 then "1" else "wet day" end)' >train.jsonl
  ran-train classify -q --base none --encoder none --no-dev -o m.ran train.jsonl
  while IFS=: read -r label wanted; do
    documents 4 | jq -c --arg name "$label" '.label = (if .id == 1 then "1" else $name end)' >test.jsonl
    run -0 ran-classify -q -m m.ran --eval --eval-format text test.jsonl
    [[ $output == *"\"$label\": this and $wanted"* ]] || { echo "$label: $output"; false; }
    run -0 --separate-stderr ran-train classify --base none --encoder none --dev test.jsonl -o d.ran train.jsonl
    [[ $stderr == *"test.jsonl:2: the training data have no label \"$label\": any answer counts as wrong; this and $wanted"* ]] ||
      { echo "$label: $stderr"; false; }
  done <<'END'
wet day :"wet day" differ in case or spaces only
 wet day:"wet day" differ in case or spaces only
Wet_Day:"wet day" differ in case or spaces only
1.0:"1" look alike (one goes on with U+002E)
END
  # Others do not.
  documents 4 | jq -c '.label = "fog"' >test.jsonl
  run -0 ran-classify -q -m m.ran --eval --eval-format text test.jsonl
  [[ $output == *fog* && $output != *'this and'* ]]
  # The labels of descriptions.
  printf '1\tone\nwet day\train\n' >labels.tsv
  documents 4 | jq -c '.label = "1.0"' >test.jsonl
  run -3 --separate-stderr ran-train classify --base none --label-texts labels.tsv -o d.ran test.jsonl
  [[ $stderr == *'labels.tsv has no label "1.0"; this and "1" look alike'* ]]
}

@test "labels that begin or end with a space are others than those without" {
  documents 40 | jq -c '.label |= " " + .' >train.jsonl
  run -0 ran-train classify --base none --check --check-format text train.jsonl
  [[ $(tr -s '\n ' '  ' <<<"$output") == *'3 of 3 labels begin or end with a space, such as " white": labels without it are others'* ]]
}
