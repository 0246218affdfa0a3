#!/usr/bin/env bats
# ran-classify --threshold-for: which label is given.

bats_require_minimum_version 1.5.0

load train.bash

setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 90 12 >all.jsonl
  # Words that say little, so that probabilities differ
  { cat all.jsonl; awk 'BEGIN { split("wet warm white", l); for (i = 0; i < 90; i++)
    printf "{\"id\": \"x%d\", \"text\": \"word%d word%d\", \"label\": \"%s\"}\n", i, i % 5, i % 3, l[int(i / 7) % 3 + 1] }'; } >train.jsonl
  RAN_ISA=portable ran-train classify -q --encoder none --min-count 1 -o one.ran train.jsonl
  jq -c '.labels = [.label] | del(.label)' train.jsonl >several.jsonl
  RAN_ISA=portable ran-train classify -q --encoder none --min-count 1 -o several.ran several.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  cp "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/train.jsonl .
  set -o pipefail
}

given() { ran-classify -q -m one.ran --probs "$@" train.jsonl; }

@test "decide: a label with a threshold is given from there on, whatever is more probable" {
  given --threshold-for wet=0.2 | jq -c '.prediction | select((.probs.wet >= 0.2) != (.label == "wet"))' >wrong
  [ ! -s wrong ]
  given --threshold-for wet=0.2 | jq -e -s 'any(.prediction | .label == "wet" and .probs.wet < 0.5)'
  # a high one withholds it, and another label is given
  given --threshold-for wet=0.97 | jq -c '.prediction | . as $p | (.probs | del(.wet) | to_entries | max_by(.value).value) as $next |
    select(if .probs.wet >= 0.97 then .label != "wet" else .score != $next end)' >wrong
  [ ! -s wrong ]
}

@test "decide: of several labels that reach their thresholds, the one that exceeds it most; else null" {
  given --threshold-for wet=0.2 --threshold-for warm=0.1 --threshold-for white=0.9 |
    jq -c '.prediction | {wet: (.probs.wet / 0.2), warm: (.probs.warm / 0.1), white: (.probs.white / 0.9)} as $times |
      ($times | to_entries | map(select(.value >= 1)) | max_by(.value).key) as $want |
      select(.label != $want)' >wrong
  [ ! -s wrong ]
  given --threshold-for wet=1 --threshold-for warm=1 --threshold-for white=1 | jq -e -s 'all(.prediction.label == null)'
}

@test "decide: --eval counts what is decided" {
  ran-classify -q -m one.ran --threshold-for wet=0.1 --eval train.jsonl >report.json
  given --threshold-for wet=0.1 | jq -s 'map(select(.label == .prediction.label)) | length' >right
  jq -e --slurpfile right right '(.accuracy * .n - $right[0] | fabs) < 1e-6' report.json
  given | jq -s 'map(select(.label == .prediction.label)) | length' >plain
  run ! cmp -s plain right
}

@test "decide: a model of several labels takes thresholds of labels" {
  ran-classify -q -m several.ran --probs --threshold-for wet=0.05 train.jsonl |
    jq -c '.prediction | select((.probs.wet >= 0.05) != any(.labels[]; .label == "wet"))' >wrong
  [ ! -s wrong ]
}

@test "decide: of a document without a label, a page gave the reason of the one before it" {
  notes() { ran-classify -q -j 1 -m several.ran --evidence 2 --output-format html --threshold 0.6 | grep -o 'No evidence: [^<]*' | sort; }
  while read -r line; do notes <<<"$line" || :; done < <(head -n 40 train.jsonl; tail -n 40 train.jsonl) | sort >alone
  { head -n 40 train.jsonl; tail -n 40 train.jsonl; } | notes | cmp - alone
  [ -s alone ]
}

@test "decide: what is no threshold is named" {
  refused 2 'give LABEL=X' ran-classify -m one.ran --threshold-for wet train.jsonl
  refused 2 'give LABEL=X' ran-classify -m one.ran --threshold-for wet=2 train.jsonl
  refused 2 'no label "fog"' ran-classify -m one.ran --threshold-for fog=0.5 train.jsonl
}
