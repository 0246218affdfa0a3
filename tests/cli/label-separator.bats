#!/usr/bin/env bats
# Several labels in one cell or text.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_TEST_TMPDIR" || exit
  set -o pipefail
}

# lists SEPARATOR: a table of records with one, two or three labels; the texts say which.
lists() {
  awk -v separator="$1" 'BEGIN {
    print "id\ttopics\ttext"
    split("acq crude grain trade", name)
    for (i = 1; i <= 120; i++) {
      labels = text = ""
      for (k = 1; k <= 4; k++)
        if (i % 15 + 1 == k * 3 || int((i % 15 + 1) / 2 ^ (k - 1)) % 2) {
          labels = labels (labels == "" ? "" : separator) name[k]
          text = text " word" k
        }
      printf "%d\t%s\tnumber %d%s\n", i, labels, i, text
    }
  }'
}

train() { ran-train classify --base none --encoder none --label-member topics "$@"; }

@test "cells that look like lists of labels get a warning that names --label-separator" {
  for separator in ';' '|' ', '; do
    lists "$separator" >lists.tsv
    option="'$separator'"
    [ "$separator" != ', ' ] || option=comma
    run -0 --separate-stderr train --check --check-format text lists.tsv
    [[ $output == *"\"acq${separator}crude\": --label-separator $option "* ]]
    train --check --label-separator "${option//\'/}" lists.tsv | jq -e '.labels | keys == ["acq", "crude", "grain", "trade"]'
  done
}

@test "names that only contain such a character are no lists" {
  documents 40 | jq -c '.label = ["Smith, John", "Miller, Ann", "Sci/Tech; other", "a|b"][.id % 4] | .topics = .label' >names.jsonl
  run -0 --separate-stderr train --check --check-format text names.jsonl
  [[ $output != *"look like lists"* ]]
  # One joint label says little.
  documents 40 | jq -c '.topics = ["wet", "dry", "wet;dry"][.id % 3]' >one.jsonl
  run -0 --separate-stderr train --check --check-format text one.jsonl
  [[ $output != *"look like lists"* ]]
}

# joint LABEL...: what --check says of records with these labels, and training, too.
joint() {
  printf '%s\n' "$@" | jq -R . | jq -sc '. as $l | range(60) | {topics: $l[. % ($l | length)], text: "word\(.)"}' >joint.jsonl
  train --check --check-format text joint.jsonl >said || echo "no check"
  train -o joint.ran joint.jsonl 2>trained || echo "no training"
  [ "$(grep -c 'look like lists' said)" = "$(grep -c 'look like lists' trained)" ] || echo "not the same"
  sed -n 's/.*for example \(.*\) makes several.*/\1/p' said
}

@test "two or three joint labels passed for labels" {
  [ "$(joint 'red;blue' 'green;red')" = "\"green;red\": --label-separator ';'" ]
  [ "$(joint 'red;blue' 'green;red' blue)" = "\"green;red\": --label-separator ';'" ]
  [ "$(joint red blue green 'red|blue' 'blue|green')" = "\"blue|green\": --label-separator '|'" ]
  [ "$(joint red blue green 'red, blue' 'green, red')" = '"green, red": --label-separator comma' ]
  [ "$(joint red blue green red/blue green/red)" = '"green/red": --label-separator /' ]
  [ "$(joint red blue green red+blue green+red)" = '"green+red": --label-separator +' ]
  [ "$(joint 1 2 3 '1;2' '3;1')" = "\"1;2\": --label-separator ';'" ]
  train --check --label-separator / <(jq -c '.topics |= sub("[+;]"; "/")' joint.jsonl) | jq -e '.labels | keys == ["1", "2", "3"]'
}

@test "names whose parts recur are no lists: departments, paths, people, pairs, numbers, grades" {
  [ -z "$(joint 'R&D, sales' 'marketing, sales' sales)" ]
  [ -z "$(joint 'R&D, sales' support legal)" ]
  [ -z "$(joint comp.sys.mac/hardware comp.sys.ibm/hardware misc/forsale)" ]
  [ -z "$(joint 'sci.space, general' 'sci.med, general' general)" ]
  [ -z "$(joint science science/space science/physics sport/tennis sport)" ]
  [ -z "$(joint 'Smith, John' 'Smith, Ann' 'Miller, Ann' 'Miller, John')" ]
  [ -z "$(joint en/de de/en de/fr)" ]
  [ -z "$(joint 1,5 2,5 5,1 2 1 5)" ]
  [ -z "$(joint A A+ B B+ C++ C)" ]
}

@test "a table of several labels is trained on, evaluated, and written so that it can be read again" {
  lists ';' >lists.tsv
  train -q --label-separator ';' -o several.ran lists.tsv
  ran-train info --format json several.ran | jq -e '.multilabel and .labels == ["acq", "crude", "grain", "trade"]'
  ran-classify -q -m several.ran --eval --label-member topics --label-separator semicolon lists.tsv | jq -e '.n == 120'
  # The same labels as a list.
  awk -F '\t' 'NR > 1 { gsub(";", "\",\"", $2); printf "{\"id\":\"%s\",\"labels\":[\"%s\"],\"text\":\"%s\"}\n", $1, $2, $3 }' \
    lists.tsv >lists.jsonl
  ran-train classify -q --base none --encoder none -o lists.ran lists.jsonl
  same_output "ran-classify -q -m lists.ran --eval lists.jsonl" "ran-classify -q -m several.ran --eval lists.jsonl"
}

@test "labels with bars and backslashes come back from a table as they went in" {
  printf '%s\n' 'a|b' wet 'c\' 'd\|e' '\\f' >names
  awk '{ printf "%s\t%d\n", $0, NR }' names | jq -Rc 'split("\t") | .[0] as $name | .[1] as $k | range(12) as $i |
    {id: "\($k)-\($i)", labels: [$name, "all"], text: "word\($k) number\($i)"}' >t.jsonl
  ran-train classify -q --base none --encoder none --no-dev -o m.ran t.jsonl
  ran-classify -m m.ran --threshold 0.3 --output-format csv t.jsonl >out.csv
  grep -qF ',all|a\|b,' out.csv
  ran-train classify -q --base none --encoder none --no-dev --label-separator '|' --text-member text --id-member id -o again.ran out.csv
  for model in m again; do ran-train info --format json $model.ran | jq -c .labels; done >labels
  [ "$(uniq labels | wc -l)" -eq 1 ]
  ran-classify -q -m m.ran --threshold 0.3 --eval --label-separator '|' out.csv | jq -e '.n == 60 and .micro.f1 == 1'
}

@test "a separator that is no character is refused" {
  documents 10 >d.jsonl
  refused 2 "--label-separator ab: give one character" ran-train classify --label-separator ab -o m.ran d.jsonl
  refused 2 '--label-separator \: give one character' ran-train classify --label-separator '\' -o m.ran d.jsonl
}

@test "an empty cell has no label, JSON texts and numbers are lists, too" {
  printf '%s\n' 'labels,text' '"x; y",one two' ',three' '" ; z;",two' '7,four five' '7;x,five one' 'x;x,one' >t.csv
  ran-train classify --base none --check --label-separator ';' t.csv |
    jq -e '.documents == 6 and .labels == {"7": 2, x: 3, y: 1, z: 1}'
  printf '%s\n' '{"label": "x; y", "text": "one"}' '{"labels": "z", "text": "two"}' '{"labels": ["x;y"], "text": "three"}' \
    '{"label": 7, "text": "two one"}' >t.jsonl
  ran-train classify --base none --check --label-separator ';' t.jsonl |
    jq -e '.documents == 4 and (.labels | keys == ["7", "x", "x;y", "y", "z"])'
}
