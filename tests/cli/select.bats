#!/usr/bin/env bats
# ran-classify --select: the records to label next.

bats_require_minimum_version 1.5.0
load train.bash

setup_file() {
  export RAN_ISA=portable
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  source "$BATS_TEST_DIRNAME/train.bash"
  documents 60 20 >train.jsonl
  ran-train classify -q --base none --encoder none -o m.ran train.jsonl
  # Sure ones, from new texts; unsure ones, with two signs; and each of these twice, but for a word.
  for i in {1..40}; do
    printf '{"id":"sure %d","text":"rain word%d rain and rain in valley%d"}\n' "$i" "$i" "$i"
  done >pool.jsonl
  for i in {1..12}; do
    for last in '' ' then'; do
      printf '{"id":"unsure %d%s","text":"rain snow item%d item%d lay about%d over%d the moor%d in day%d of week%d, month%d and year%d%s"}\n' \
        "$i" "$last" "$i" "$((i + 100))" "$i" "$i" "$i" "$i" "$i" "$i" "$i" "$last"
    done
  done >>pool.jsonl
}

setup() {
  export RAN_ISA=portable
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
}

choose() {
  ran-classify -q -m m.ran "$@"
}

@test "select: the unsure ones, in order, none of which is a near-duplicate of another" {
  choose --select 12 pool.jsonl >chosen.jsonl
  jq -es 'length == 12 and all(.id | startswith("unsure")) and
    (map(.prediction.rank) == [range(1; 13)]) and all(.prediction.margin >= 0 and .prediction.margin <= 1) and
    (map(.id | split(" ")[1]) | unique | length == 12)' chosen.jsonl
  # A record comes back byte for byte, with the prediction that it gets alone.
  sed 's/,"prediction":.*/}/' chosen.jsonl | sort >came
  [ "$(sort pool.jsonl | comm -12 - came | wc -l)" = 12 ]
  sed 's/,"prediction":.*/}/' chosen.jsonl | choose --probs | jq -c . >alone.jsonl
  choose --select 12 --probs pool.jsonl | jq -c 'del(.prediction.rank, .prediction.margin)' | cmp - alone.jsonl
  jq -n --slurpfile a alone.jsonl --slurpfile b chosen.jsonl -e \
    '[$a, $b] | transpose | all((.[0].prediction.probs | [.[]] | sort | .[-1] - .[-2]) - .[1].prediction.margin | fabs < 1e-6)'
}

@test "select: the same with any number of threads; less than asked for if all others are near-duplicates" {
  choose -j 1 --select 20 pool.jsonl >one
  choose -j 3 --select 20 <pool.jsonl >three
  cmp one three
  sed -n '41,44p' pool.jsonl >four.jsonl
  run -0 --separate-stderr ran-classify -m m.ran --select 3 four.jsonl
  [ "$(jq -s length <<<"$output")" = 2 ]
  [[ $stderr == *'2 of 4 records are chosen: all others are near-duplicates of these'* ]]
  run -0 --separate-stderr ran-classify -m m.ran --select 5 <<<'{"text": "rain at noon"}'
  [ "$stderr" = 'ran-classify: 1 of 1 records are chosen' ]
  run -0 choose --select 5 /dev/null
  [ -z "$output" ]
}

@test "select: what the model was trained on is passed over" {
  cat train.jsonl pool.jsonl >both.jsonl
  run -0 --separate-stderr ran-classify -m m.ran --select 10 both.jsonl
  [[ $stderr == *'60 records are passed over: m.ran was trained on them'* ]]
  choose --select 10 pool.jsonl | jq -c .id | cmp - <(jq -c .id <<<"$output")
}

@test "select: as a table, as fastText's lines, and as tasks of Label Studio that come back with labels" {
  choose --select 3 --output-format csv pool.jsonl >list.csv
  [ "$(head -n 1 list.csv)" = id,label,score,text ]
  [ "$(wc -l <list.csv)" = 4 ]
  choose --select 3 --output-format fasttext pool.jsonl >list.txt
  [ "$(grep -c '^__label__' list.txt)" = 3 ]
  choose --select 3 --output-format label-studio pool.jsonl >tasks.json
  choose --select 3 pool.jsonl >records.jsonl
  jq -e --slurpfile r records.jsonl 'length == 3 and map(.data) == ($r | map(del(.prediction))) and
    map(.predictions[0].result[0].value.choices[0]) == ($r | map(.prediction.label)) and
    all(.predictions[0].result[0] | .from_name == "label" and .to_name == "text" and .type == "choices")' tasks.json
  # As it is exported: the annotator has chosen.
  jq 'to_entries | map(.value + {id: .key, annotations: [{result: [.value.predictions[0].result[0] | .value.choices = ["wet"]]}]})' \
    tasks.json >export.json
  ran-tokenize records -q export.json | jq -es 'length == 3 and all(.label == ["wet"] or .label == "wet")'
  jq -c '.labels = ["wet", "warm"] | del(.label)' train.jsonl | head -n 30 >several.jsonl
  jq -c '.labels = ["white"] | del(.label)' train.jsonl | tail -n 30 >>several.jsonl
  ran-train classify -q --base none --encoder none -o several.ran several.jsonl
  ran-classify -q -m several.ran --select 2 --output-format label-studio pool.jsonl |
    jq -e 'length == 2 and all(.predictions[0].result[0].value.choices | type == "array")'
  choose --select 1 --output-format label-studio /dev/null | jq -e '. == []'
}

@test "select: --into, --only and --drop as without it; bad lines are said" {
  choose --select 2 --into doubt --drop text pool.jsonl | jq -es 'all(.doubt.rank and (.text | not))'
  choose --select 2 --only pool.jsonl | jq -es 'all(keys == ["id", "prediction"])'
  { echo '{"id":1}'; cat pool.jsonl; } >bad.jsonl
  run -1 --separate-stderr ran-classify -q -m m.ran --select 2 bad.jsonl
  [ "$(jq -s length <<<"$output")" = 2 ]
  [[ $stderr == *bad.jsonl:1* ]]
  refused 2 '--select chooses records to label' ran-classify -m m.ran --select 2 --eval pool.jsonl
  refused 2 'label-studio needs --select' ran-classify -m m.ran --output-format label-studio pool.jsonl
  refused 2 'leave out --select' ran-classify -m m.ran --select 2 --output-format html pool.jsonl
}
