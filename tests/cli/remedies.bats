#!/usr/bin/env bats
# What a message advises works on the input that provoked it: the likeliest messages of ran-train
# classify and ran-classify.

bats_require_minimum_version 1.5.0

# records N: of weather, a label in three.
records() {
  awk -v n="$1" 'BEGIN {
    split("rain sun snow", sign); split("wet warm white", label)
    for (i = 0; i < n; i++)
      printf "{\"text\": \"the %s of day %d\", \"label\": \"%s\", \"author\": \"a%d\"}\n",
        sign[i % 3 + 1], i, label[i % 3 + 1], i % 7
  }'
}

setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  records 60 >train.jsonl
  records 300 >more.jsonl
  ran-train classify -q --encoder none -o m.ran more.jsonl
  ran-train classify -q --encoder none --no-dev -o nodev.ran train.jsonl
  jq -c '.labels = [.label, "any"] | del(.label)' train.jsonl >several.jsonl
  ran-train classify -q --encoder none -o several.ran several.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  cp "$BATS_FILE_TMPDIR"/* .
}

# says TEXT COMMAND: its messages have this text, whatever its status.
says() {
  sh -c "$2" >out 2>said </dev/null || :
  grep -qF -- "$1" said || { echo "not said: $1" && cat said && false; }
}

# remedy TEXT COMMAND ADVISED: the first command says the text; the second, which does what it advises, succeeds and
# does not say it.
remedy() {
  says "$1" "$2"
  sh -c "$3" >out 2>after </dev/null || { echo "failed: $3" && cat after && false; }
  run ! grep -F -- "$1" after
}

train='ran-train classify --encoder none -o n.ran'

@test "remedies: what is missing is named so that it can be given" {
  remedy 'give -o MODEL' 'ran-train classify -q --encoder none train.jsonl' "$train train.jsonl"
  remedy 'give --model FILE' 'ran-classify train.jsonl' 'ran-classify --model m.ran train.jsonl'
  remedy 'needs --coverage, for example 0.95' 'ran-classify -m m.ran --abstain train.jsonl' \
    'ran-classify -m m.ran --abstain --coverage 0.95 train.jsonl'
  remedy 'needs --select N' 'ran-classify -m m.ran --output-format label-studio train.jsonl' \
    'ran-classify -m m.ran --select 2 --output-format label-studio train.jsonl'
  remedy 'is for --evidence K' 'ran-classify -m m.ran --evidence-length 3 train.jsonl' \
    'ran-classify -m m.ran --evidence-length 3 --evidence 2 train.jsonl'
  remedy 'did you mean --learning-rate?' "$train --lr 0.01 train.jsonl" "$train --learning-rate 0.01 train.jsonl"
}

@test "remedies: lines that cannot be used are left out, unless all of them are" {
  { cat train.jsonl && echo '{"text":"x"}'; } >bad.jsonl
  says 'leave it out with --on-error=skip' "$train bad.jsonl"
  says 'neither "label" nor "labels"' "$train --on-error=skip --errors-ok bad.jsonl"
  [ -e n.ran ]
  # A member of another name: to skip all lines is no remedy, and is not advised.
  for member in label text; do
    jq -c --arg m $member '.other = .[$m] | del(.[$m])' train.jsonl >other.jsonl
    for command in "$train" "ran-classify -m m.ran $([ $member = text ] || echo --eval)"; do
      remedy "--$member-member names" "$command other.jsonl" "$command --$member-member other other.jsonl"
      run ! grep -q on-error said
    done
  done
  remedy '(--max-record-bytes)' 'ran-classify -m m.ran --max-record-bytes 20 train.jsonl' \
    'ran-classify -m m.ran --max-record-bytes 200 train.jsonl'
}

@test "remedies: labels of two kinds, or of one only, become what is asked for" {
  { head -n 30 train.jsonl && tail -n 30 several.jsonl; } >mixed.jsonl
  jq -c 'if .label then .labels = [.label] | del(.label) else . end' mixed.jsonl >lists.jsonl
  remedy 'give every document one label, or every document a list' "$train mixed.jsonl" "$train lists.jsonl"
  remedy '(--label-separator makes lists of all)' "$train mixed.jsonl" "$train --label-separator '|' mixed.jsonl"
  jq -c '.label = "one"' train.jsonl >one.jsonl
  { cat one.jsonl && head -n 30 train.jsonl; } >two.jsonl
  remedy 'training needs at least two' "$train one.jsonl" "$train two.jsonl"
  jq -c '.label += "|" + (["calm", "storm"][.author[1:] | tonumber % 2]) |
    if (.author[1:] | tonumber) > 3 then .label |= (split("|") | reverse | join("|")) else . end' train.jsonl >joint.jsonl
  remedy "--label-separator '|' makes several labels of each" "$train joint.jsonl" "$train --label-separator '|' joint.jsonl"
}

@test "remedies: warnings about data go when their advice is followed" {
  records 400 | tail -n 300 >dev.jsonl
  remedy '--dev-share holds out more, --dev FILE adds some' "$train train.jsonl" "$train --dev dev.jsonl train.jsonl"
  grep -qF 'warning: 6 validation documents' said
  says '30 validation documents' "$train --dev-share 0.5 train.jsonl"
  cat train.jsonl train.jsonl >twice.jsonl
  ran-train classify -q --check twice.jsonl | jq -e '.duplicates.count == 60' >/dev/null
  ran-tokenize duplicates -q --keep unique twice.jsonl >once.jsonl
  remedy '--check lists them' "$train twice.jsonl" "$train once.jsonl"
  remedy 'leave out --dev to hold some documents out' "$train --dev train.jsonl train.jsonl" "$train train.jsonl"
  jq -r '[.label, .text] | @tsv' train.jsonl >swapped.tsv
  remedy 'are text and label swapped? (--label-member, --text-member or --columns)' "$train --columns text,label swapped.tsv" \
    "$train --columns label,text swapped.tsv"
}

@test "remedies: a model that lacks something is trained again as the message says" {
  remedy '--dev or --dev-share, whose labels are known' 'ran-classify -m nodev.ran --coverage 0.9 train.jsonl' \
    "$train --dev-share 0.3 train.jsonl && ran-classify -m n.ran --coverage 0.7 train.jsonl"
  remedy 'train with --wide 0 to get one' 'ran-classify -m m.ran --embed train.jsonl' \
    'ran-train classify -q --wide 0 --dim 8 --epochs 1 -o e.ran train.jsonl && ran-classify -m e.ran --embed train.jsonl'
  remedy 'use --threshold' 'ran-classify -m several.ran --coverage 0.9 several.jsonl' \
    'ran-classify -m several.ran --threshold 0.3 several.jsonl'
  remedy 'ran-train info lists them' 'ran-classify -m m.ran --threshold-for fog=0.1 train.jsonl' \
    'ran-train info m.ran | grep -q "^labels.*wet" && ran-classify -m m.ran --threshold-for wet=0.1 train.jsonl'
  remedy 'give a model that makes vectors, such as english' 'ran-classify -m m.ran --labels rain,snow train.jsonl' \
    'ran-classify -m english --labels rain,snow train.jsonl'
  touch n.ran.ckpt
  remedy 'continue with --resume, or start again with --overwrite-checkpoint' "$train train.jsonl" \
    "$train --overwrite-checkpoint train.jsonl"
}
