#!/usr/bin/env bats
# JSON as other programs export it: arrays, tables of pandas, tasks of Label Studio, doccano.

bats_require_minimum_version 1.5.0
load records.bash

files() {
  for i in 1 2 3; do echo "{\"n\":$i,\"text\":\"a {b] \\\"c\\\\\\\\\",\"label\":\"x$i\"}"; done >records.jsonl
}

# same FILE [ARGUMENT...]: whether a file, and a pipe, give the records of records.jsonl.
same() {
  run -0 --separate-stderr encode -q --into added "$@"
  [ "$(jq -Sc '{n, text, l: .label, ids: .added.ids}' <<<"$output")" = "$expected" ] || { echo "$1: $output" >&2; false; }
  run -0 --separate-stderr bash -c 'cat "$1" | ran-tokenize encode --vocab vocab.json -q --into added' - "$1"
  [ "$(jq -Sc '{n, text, l: .label, ids: .added.ids}' <<<"$output")" = "$expected" ]
}

@test "exports: records in an array, and with line ends within [all]" {
  expected=$(encode --into added records.jsonl | jq -Sc '{n, text, l: .label, ids: .added.ids}')
  jq -cs . records.jsonl >array.json
  jq -s . records.jsonl >indented.json
  jq --indent 4 . records.jsonl >pretty.json
  (printf '[\n'; sed '$!s/$/,/' records.jsonl; printf ']\n') >lines.json
  printf '\xef\xbb\xbf' | cat - array.json | sed 's/$/\r/' >mark.json
  tr -d '\n' <array.json >unended.json
  for f in array indented pretty lines mark unended; do same $f.json; done
  same array.json --input-format json
  gzip -k indented.json
  run -0 --separate-stderr encode -q --into added indented.json.gz
  [ "$(jq -Sc '{n, text, l: .label, ids: .added.ids}' <<<"$output")" = "$expected" ]
  # Each record comes back on one line, with its bytes but for the indentation.
  [ "$(encode -q --only --into x pretty.json | wc -l)" -eq 3 ]
  [[ $(encode -q --drop encoding pretty.json | head -n 1) == '{"n": 1,"text": "a {b] '* ]]
}

@test "exports: a bad record in an array is one bad record, at its line" {
  printf '[\n  {"text": "a"},\n  {"text": "b",\n   "x": nothing},\n  "just a string",\n  {"text": "c"},\n  {"text": "d' >x.json
  run -1 --separate-stderr encode x.json
  [ "$(jq -c '[.ran_error.line, .encoding.ids]' <<<"$output")" = '[null,[5]]
[3,null]
[5,null]
[null,[7]]
[7,null]' ]
}

@test "exports: records of an array leave as soon as they are there" {
  mkfifo in
  encode --only <in >out 2>errors &
  exec 5>in
  printf '[{"text":"a"},{"text":"b"},' >&5
  for _ in $(seq 100); do [ "$(wc -l <out)" -lt 2 ] || break; sleep 0.1; done
  [ "$(ids <out)" = $'[5]\n[6]' ]
  printf '{"text":"c"}]\n' >&5
  exec 5>&-
  wait $!
  [ "$(ids <out)" = $'[5]\n[6]\n[7]' ]
}

@test "exports: an array of one line takes no more memory than its records [all]" {
  ! grep -q -e -fsanitize "$RAN_BIN/flags" || skip "a sanitizer takes terabytes of address space"
  jq -cn '[range(300000) | {text: "a b c a b c a b c a b c a b c a b c a b c a b c a b c a b c a b c"}]' | tr -d '\n' >big.json
  run -0 bash -c 'ulimit -v 400000 && ran-tokenize encode -j 1 --vocab vocab.json --only big.json | wc -l'
  [ "$output" -eq 300000 ]
}

@test "exports: tables as pandas writes them [all]" {
  expected=$(encode --into added records.jsonl | jq -Sc '{n, text, l: .label, ids: .added.ids}')
  columns='(.[0] | keys_unsorted) as $k | . as $r | $k | map(. as $c | {key: $c, value: ($r | to_entries | map({key: (.key | tostring), value: .value[$c]}) | from_entries)}) | from_entries'
  jq -cs "$columns" records.jsonl >columns.json
  jq -s "$columns" records.jsonl >indented.json
  jq -cs '{schema: {fields: [{name: "index", type: "integer"}]}, data: to_entries | map({index: .key} + .value)}' records.jsonl >table.json
  for f in columns indented table; do same $f.json; done
  run -0 --separate-stderr encode columns.json
  [ "$stderr" = 'ran-tokenize: columns.json is a table in one JSON object: messages number its rows' ]
  # What only begins like one is what it is.
  echo '{"text":{"0":"a"},"label":{"1":"x"}}' >odd.json
  run -1 --separate-stderr encode odd.json
  [ "${#lines[@]}" -eq 1 ]
  echo '{"meta":{"0":"a"},"text":"a"}' >record.json
  [ "$(encode record.json | ids)" = '[5]' ]
}

@test "exports: tasks of Label Studio [all]" {
  task() { echo "{\"id\":$1,\"annotations\":[{\"was_cancelled\":true,\"result\":[]},{\"result\":$2}],\"data\":{\"n\":\"7\",\"$3\":\"a met b\"}}"; }
  choice() { echo "[{\"value\":{\"choices\":$1},\"type\":\"choices\"}]"; }
  (task 1 "$(choice '["x"]')" text; task 2 "$(choice '["y"]')" review) | jq -s . >one.json
  [ "$(ran-train classify --check one.json | jq -Sc .labels)" = '{"x":1,"y":1}' ]
  (task 1 "$(choice '["x","y"]')" text; task 2 "$(choice '["y"]')" text) >several.jsonl
  [ "$(ran-train classify --check several.jsonl | jq -Sc '[.labels, .multilabel]')" = '[{"x":1,"y":2},true]' ] ||
    [ "$(ran-train classify --check several.jsonl | jq -Sc .labels)" = '{"x":1,"y":2}' ]
  span='[{"value":{"start":0,"end":1,"text":"a","labels":["X"]},"type":"labels"}]'
  (task 1 "$span" text; task 2 '[]' text) | jq -s . >spans.json
  run -0 ran-train tag --check -q --vocab vocab.json spans.json
  [ "$(jq -c .documents <<<"$output")" = 2 ]
  [[ $output == *'X'* ]]
  run -0 --separate-stderr encode --drop annotations --drop data --into added one.json
  [ "$(jq -c 'del(.added)' <<<"$output")" = '{"text":"a met b","label":["x"],"spans":[],"id":1}
{"text":"a met b","label":["y"],"spans":[],"id":2}' ]
  # JSON-MIN.
  echo '[{"text":"a met b","label":[{"start":0,"end":1,"text":"a","labels":["X"]}]},{"text":"c","label":[]}]' >min.json
  run -0 ran-train tag --check -q --vocab vocab.json min.json
  [[ $output == *'X'* ]]
  run -0 --separate-stderr ran-train classify --check - <<<'[{"text":"a","sentiment":"x","annotator":1},{"text":"b","sentiment":"y","annotator":1}]'
  [ "$(jq -Sc .labels <<<"$output")" = '{"x":1,"y":1}' ]
}

@test "exports: doccano, old and new" {
  [ "$(ran-train classify --check - <<<'[{"text":"a","label":["x"],"Comments":[]},{"text":"b","label":["y"]}]' | jq -Sc .labels)" = '{"x":1,"y":1}' ]
  run -0 ran-train tag --check -q --vocab vocab.json - <<<'[{"text":"a met b","annotations":[{"label":"X","start_offset":0,"end_offset":1,"user":1}]}]'
  [[ $output == *'X'* ]]
  run -0 ran-train tag --check -q --vocab vocab.json - <<<'{"text":"a met b","entities":[{"id":1,"label":"X","start_offset":0,"end_offset":1}],"relations":[],"Comments":[]}'
  [[ $output == *'X'* ]]
}

@test "exports: tasks that nobody has annotated were texts without names" {
  span='{"value":{"start":0,"end":1,"labels":["X"]},"type":"labels"}'
  jq -cn --argjson s "$span" '[{annotations: [{was_cancelled: true, result: []}]}, {annotations: []}, {annotations: [{result: []}]}, {annotations: [{result: [$s]}]}]
    | map(.data = {text: "a met b"})' >tasks.json
  run -0 --separate-stderr ran-train tag --check --vocab vocab.json tasks.json
  [ "$(jq -c .documents <<<"$output")" = 2 ]
  [[ $stderr == *'left out 2 records whose "answer" is reject or ignore, or that nobody has annotated'* ]]
  # Nor are labels of what is no plain text read as none.
  for kind in hypertextlabels paragraphlabels; do
    jq -c ".[3].annotations[0].result[0].value |= {start: \"/p[1]\", end: \"/p[1]\", $kind: [\"X\"]}" tasks.json >other.json
    run --separate-stderr ran-train tag --check --vocab vocab.json other.json
    [[ $stderr == *"other.json:4: the task has \"$kind\", which mark no plain text"* ]]
    [[ $stderr != *'set the format'* ]]
  done
}

@test "exports: several choices of JSON_MIN are labels" {
  for name in label sentiment; do
    run -0 --separate-stderr ran-train classify --check - <<<"[{\"text\":\"a\",\"$name\":{\"choices\":[\"x\"]}},{\"text\":\"b\",\"$name\":{\"choices\":[\"y\",\"x\"]}}]"
    [ "$(jq -Sc '[.labels, .several_labels]' <<<"$output")" = '[{"x":2,"y":1},true]' ]
  done
  # A single choice is a text there: with a separator, too, a list.
  run -0 --separate-stderr ran-train classify --check --label-separator '|' - <<<'[{"text":"a","mood":"x"},{"text":"b","mood":{"choices":["y","x"]}}]' --label-member mood
  [ "$(jq -Sc .labels <<<"$output")" = '{"x":2,"y":1}' ]
}

@test "exports: records on one line are numbered in messages" {
  printf '[{"text":"a"},{"text":5},\n {"text":""},{"x":1}]\n' >one.json
  run -1 --separate-stderr encode --only one.json
  [[ $stderr == *'one.json:2: "text" must be a string'* && $stderr == *'one.json:4: '* ]]
  [ "$(jq -sc 'map(.ran_error.line)' <<<"$output")" = '[null,2,3,4]' ]
  # With a line each, the line counts.
  printf '[\n\n{"text":"a"},\n{"text":5}]\n' >lines.json
  run -1 --separate-stderr encode --only lines.json
  [[ $stderr == *'lines.json:4: "text" must be a string'* ]]
}
