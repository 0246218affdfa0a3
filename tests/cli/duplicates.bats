#!/usr/bin/env bats
# ran-tokenize duplicates: texts that are nearly the same.

bats_require_minimum_version 1.5.0
load compare.bash

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  cat >texts.jsonl <<'END'
{"id":"a","text":"The rain in the valley fell all day and nobody went out"}
{"id":7,"text":"the RAIN in the valley fell all day, and nobody went out!"}
{"id":"c","text":"The rain in the valley fell all day and nobody went home"}
{"text":"The sun rose over the moor at five"}
{"id":"e","text":"The sun rose over the moor at five"}
{"id":"f","text":""}
{"id":"g","text":""}
END
}

# found ARGUMENT...: id, original and similarity of each record written, a line each.
found() {
  run --separate-stderr ran-tokenize duplicates "$@"
  [ "$status" -eq 0 ]
  jq -c '[.id, .duplicate.of, ((.duplicate.similarity // 0) * 1000 | round)]' <<<"$output"
}

@test "duplicates: the most similar earlier text, and null" {
  run -0 found texts.jsonl
  [ "${lines[0]}" = '["a",null,0]' ]
  [[ ${lines[1]} == '[7,null,0]' ]]
  [ "${lines[2]}" = '["c",null,0]' ]
  [ "${lines[4]}" = '["e","texts.jsonl:4",1000]' ]
  [ "${lines[5]}" = '["f",null,0]' ]
  [ "${lines[6]}" = '["g",null,0]' ]
}

@test "duplicates: --least, and a duplicate is no original" {
  run -0 found --least 0.6 texts.jsonl
  [[ ${lines[1]} == '[7,"a",'* ]]
  [ "${lines[2]}" = '["c","a",733]' ] # 11 pairs of 15
  run -0 found --least 1 texts.jsonl
  [[ ${lines[2]} == '["c",null,0]' ]]
  [ "${lines[4]}" = '["e","texts.jsonl:4",1000]' ]
}

@test "duplicates: --keep" {
  same_output 'ran-tokenize duplicates -q --least 0.6 --keep unique texts.jsonl | jq -c .id' \
    "printf '%s\n' '\"a\"' null '\"f\"' '\"g\"'"
  same_output 'ran-tokenize duplicates -q --least 0.6 --keep duplicates --only texts.jsonl | jq -c .id' \
    "printf '%s\n' 7 '\"c\"' '\"e\"'"
  # What is left has none.
  ran-tokenize duplicates -q --least 0.6 --keep unique texts.jsonl >clean.jsonl
  run --separate-stderr -0 ran-tokenize duplicates --least 0.6 --keep duplicates clean.jsonl
  [ -z "$output" ]
  [ "$stderr" = 'ran-tokenize: 0 of 4 texts are near-duplicates (similarity 0.6 or more)' ]
}

@test "duplicates: --among other files, whose own duplicates do not matter" {
  head -n 3 texts.jsonl >train.jsonl
  printf '%s\n' '{"id":1,"text":"The rain in the valley fell all day and nobody went home"}' \
    '{"id":2,"text":"another text altogether, with other words"}' \
    '{"id":3,"text":"another text altogether, with other words"}' >test.jsonl
  run -0 found --among train.jsonl test.jsonl
  [ "${lines[0]}" = '[1,"c",1000]' ]
  [ "${lines[1]}" = '[2,null,0]' ]
  [ "${lines[2]}" = '[3,null,0]' ]
  MALLOC_PERTURB_=85 run -0 found --among train.jsonl --among test.jsonl test.jsonl # its names end where they end
  [ "${lines[2]}" = '[3,2,1000]' ]
}

@test "duplicates: the same with any number of threads" {
  for i in {1..400}; do
    printf '{"id":%d,"text":"report %d of the %d valley, where rain fell and hail came and nobody went out on day %d"}\n' \
      "$i" $((i % 50)) $((i % 7)) $((i % 30))
  done >many.jsonl
  same_output 'ran-tokenize duplicates -q -j 1 --least 0.7 many.jsonl' 'ran-tokenize duplicates -q -j 3 --least 0.7 many.jsonl'
  ran-tokenize duplicates -q --least 0.7 many.jsonl | jq -e -s 'map(select(.duplicate)) | length > 100'
}

@test "duplicates: tables, and words; what cannot be read is said" {
  printf 'name,text\none,the rain fell over the moor\ntwo,the rain fell over the moor\n' >table.csv
  run -0 found table.csv
  [[ ${lines[1]} == *'"table.csv:2",1000]' ]]
  printf '%s\n' '{"tokens":["Rain","fell"]}' '{"text":"rain fell"}' '{"id":3}' '{"text":5}' >mixed.jsonl
  run -1 --separate-stderr ran-tokenize duplicates mixed.jsonl
  jq -es '.[1].duplicate == {of: "mixed.jsonl:1", similarity: 1}' <<<"$output"
  [[ $stderr == *mixed.jsonl:3* ]]
  [[ $stderr == *mixed.jsonl:4* ]]
  run -3 --separate-stderr ran-tokenize duplicates --among none.jsonl texts.jsonl
  [[ $stderr == *none.jsonl* ]]
  run -2 --separate-stderr ran-tokenize duplicates --least 0 texts.jsonl
  [[ $stderr == *least* ]]
}

# reports N LABEL FIRST: records about that, each of which is like its neighbours but for a word.
reports() {
  local i
  for ((i = $3; i < $3 + $1; i++)); do
    printf '{"label":"%s","text":"%s in the valley %d on day %d, nobody in the old town knew what to say of it then"}\n' \
      "$2" "$2 fell" $((i / 4)) $((i % 4))
  done
}

@test "ran-train --check: texts that are nearly the same, in the training data and from there to the validation data" {
  { reports 8 rain 0; reports 8 hail 100; } >train.jsonl
  { reports 1 rain 0; sed -n '3s/then/now/p' train.jsonl; reports 2 hail 900; } >dev.jsonl
  ran-train classify --check --dev dev.jsonl train.jsonl >report.json
  jq -e '.duplicates.count == 0 and .near_duplicates.count == 14 and .dev.overlap.count == 1 and
    .dev.near_overlap.count == 3 and .dev.near_overlap.pairs[0] == ["dev.jsonl:2", "train.jsonl:3"]' report.json || { cat report.json >&2; false; }
  run -0 --separate-stderr ran-train classify --check --check-format text --dev dev.jsonl train.jsonl
  [[ $output == *$'\nNearly the same texts\n14\n'* ]]
  [[ $output == *'dev.jsonl:2  train.jsonl:3'* ]]
}

@test "ran-train --dev-alike: near-duplicates are held out together, and a replay does the same" {
  { reports 40 rain 0; reports 40 hail 100; } >train.jsonl
  for option in --dev-alike ''; do
    ran-train classify -q --base none --encoder none --dev-share 0.2 $option -o model.ran train.jsonl
    ran-train info --format json model.ran | jq -e '.training | if .dev_alike then .dev_alike else "absent" end' >"said$option"
    ran-train classify -q --replay model.ran -o again.ran train.jsonl
    cmp model.ran again.ran
  done
  [ "$(cat said--dev-alike)" = true ]
  [ "$(cat said)" = '"absent"' ]
  run -2 --separate-stderr ran-train classify --dev-alike --dev train.jsonl -o model.ran train.jsonl
  [[ $stderr == *--dev-alike* ]]
  run -2 --separate-stderr ran-train classify --dev-alike --dev-group a -o model.ran train.jsonl
  [[ $stderr == *--dev-alike* ]]
}
