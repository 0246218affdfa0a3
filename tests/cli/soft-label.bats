#!/usr/bin/env bats
# ran-train classify --soft-label: models that teach each other, in a pipe.

bats_require_minimum_version 1.5.0

shape='--no-early-stop --dim 16 --layers 1 --heads 2 --head-dim 8 --window 8 --min-window 2 --learning-rate 0.02'

setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  load train.bash
  documents 90 20 >train.jsonl
  documents 200 25 | tail -110 | jq -c 'del(.label)' >texts.jsonl
  RAN_ISA=portable ran-train classify -q $shape --epochs 4 -o teacher.ran train.jsonl
  ran-classify -q -m teacher.ran --probs texts.jsonl >taught.jsonl
  jq -c '.labels = [.label] + (if .id % 2 == 0 then ["even"] else [] end) | del(.label) | .text += " w\(.id % 2)"' \
    train.jsonl >several.jsonl
  RAN_ISA=portable ran-train classify -q $shape --epochs 2 -o several.ran several.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  load train.bash
  cd "$BATS_FILE_TMPDIR"
  out=$BATS_TEST_TMPDIR
  set -o pipefail # jq -e has nothing to say about no input
}

learn() {
  ran-train classify $shape --epochs 4 "$@"
}

# says SENTENCE RECORD: a record that cannot be learned from, and where it stands.
says() {
  { sed -n 1,3p taught.jsonl; echo "$2"; } >"$out/bad.jsonl"
  refused 3 "ran-train: $out/bad.jsonl:4: $1" learn --soft-label prediction -o "$out/no.ran" "$out/bad.jsonl"
  [ ! -e "$out/no.ran" ]
}

# What dump-gradients says of the loss: the one number of 64 bits comes first.
loss() {
  "$RAN_BIN/tests/dump-gradients" classify -q -o "$out/g" -m "${model:-teacher.ran}" "$@"
  n=$(od -A n -t u8 -N 8 "$out/g")
  od -A n -t f8 -j $((8 + n)) -N 8 "$out/g"
}

@test "soft labels: distillation from a teacher, through a pipe [all]" {
  export RAN_ISA=portable
  ran-classify -m teacher.ran --probs texts.jsonl |
    learn -q --soft-label prediction -o "$out/pupil.ran"
  ran-classify -m "$out/pupil.ran" --eval train.jsonl | jq -e '.accuracy > 0.9'
}

@test "soft labels: any member, as it is or within a prediction, in a file or in memory [all]" {
  learn -q --soft-label prediction --no-dev -o "$out/a.ran" taught.jsonl
  sed 's/"prediction":/"other":/' taught.jsonl |
    learn -q --soft-label other --no-dev -o "$out/b.ran"
  jq -c '.prediction = .prediction.probs' taught.jsonl |
    learn -q --soft-label prediction --no-dev -o "$out/c.ran"
  learn -q --soft-label prediction --no-dev --data-memory 1 -j 3 -o "$out/d.ran" taught.jsonl
  cmp "$out/a.ran" "$out/d.ran"
  for model in b c; do
    ran-classify -m "$out/$model.ran" --logits texts.jsonl |
      cmp - <(ran-classify -m "$out/a.ran" --logits texts.jsonl)
  done
}

@test "soft labels: of all names that were seen the model has its labels, in the order of their bytes" {
  printf '%s\n' '{"text":"sun","soft":{"b":0.5,"Z":0.5,"never":0}}' '{"text":"rain","label":"a","soft":{"c":1}}' \
    '{"text":"rain","label":"\u00e9"}' >"$out/few.jsonl"
  learn -q --no-dev --soft-label soft -o "$out/few.ran" "$out/few.jsonl"
  [ "$(ran-classify -m "$out/few.ran" --probs "$out/few.jsonl" | head -1 | jq -c '.prediction.probs | keys_unsorted')" = \
    '["Z","a","b","c","never","é"]' ]
}

@test "soft labels: certain ones are as good as labels, and mixed ones lie between" {
  jq -c '.soft = {(.label): 1}' train.jsonl >"$out/same.jsonl"
  jq -c '.soft = {wet: 0.25, warm: 0.75}' train.jsonl >"$out/other.jsonl"
  jq -c 'del(.label)' "$out/other.jsonl" >"$out/alone.jsonl"
  ran-train classify -q $shape --wide 0 --epochs 4 -o "$out/encoder.ran" train.jsonl
  model=$out/encoder.ran
  hard=$(loss train.jsonl)
  [ "$(loss --soft-label soft "$out/same.jsonl")" = "$hard" ]
  [ "$(loss --soft-label soft --soft-share 0 "$out/other.jsonl")" = "$hard" ]
  soft=$(loss --soft-label soft "$out/alone.jsonl")
  [ "$(loss --soft-label soft --soft-share 1 "$out/other.jsonl")" = "$soft" ]
  # What rounding adds to the sum goes again.
  jq -c '.soft = {wet: 0.252, warm: 0.756}' "$out/alone.jsonl" >"$out/more.jsonl"
  jq -ne "$(loss --soft-label soft "$out/more.jsonl") - $soft | fabs < 1e-6"
  mixed=$(loss --soft-label soft --soft-share 0.3 "$out/other.jsonl")
  jq -ne "($mixed - 0.7 * $hard - 0.3 * $soft | fabs < 1e-6) and ($hard - $soft | fabs > 0.1)"
}

@test "soft labels: several, each with a probability of its own [all]" {
  ran-classify -m several.ran --probs texts.jsonl |
    learn -q --soft-label prediction -o "$out/pupil.ran"
  head -1 texts.jsonl | ran-classify -m "$out/pupil.ran" --probs |
    jq -e '.prediction | has("labels") and (.probs | keys == ["even", "warm", "wet", "white"])'
  # Where nothing else says so, --multilabel does.
  printf '%s\n' '{"text":"sun sun","soft":{"a":0.9,"b":0.8}}' >"$out/one.jsonl"
  refused 3 'add up to 1.7, not to 1 (for several labels a document, use --multilabel)' \
    learn --soft-label soft -o "$out/no.ran" "$out/one.jsonl"
  learn -q --no-dev --multilabel --soft-label soft -o "$out/one.ran" "$out/one.jsonl"
  # A list beside it is part of the mixture.
  jq -c '.soft = {even: 0.5, wet: 0}' several.jsonl | learn -q --soft-label soft -o "$out/mixed.ran"
}

@test "soft labels: only labels of their own judge a model [all]" {
  cat train.jsonl taught.jsonl >"$out/both.jsonl"
  run -0 --separate-stderr learn --soft-label prediction -o "$out/pupil.ran" "$out/both.jsonl"
  [[ $stderr == *'9 of the 90 documents with a label of their own are held out for validation'* ]]
  ran-classify -m "$out/pupil.ran" --coverage 0.9 train.jsonl | sed -n 1p | jq -e '.prediction | has("set")'
  # Nothing but guesses: good enough to choose an epoch by, not for a promise.
  run -0 --separate-stderr learn --soft-label prediction -o "$out/pupil.ran" taught.jsonl
  [[ $stderr == *'11 of 110 documents are held out for validation'* ]]
  refused 2 'the model has no calibration' ran-classify -m "$out/pupil.ran" --coverage 0.9 train.jsonl
}

@test "soft labels: resumed is uninterrupted, and another --soft-share is another run [all]" {
  settings="--soft-label prediction --epochs 60 --patience 100 --checkpoint-minutes 0.001"
  learn -q $settings -o "$out/whole.ran" train.jsonl taught.jsonl
  ran-train classify $shape $settings --log "$out/log" -o "$out/part.ran" train.jsonl taught.jsonl 2>"$out/said" 3>&- &
  wait_for checkpoint "$out/log"
  kill -INT $!
  ! wait $! || false
  refused 2 'belongs to a run with other settings' \
    learn $settings --soft-share 0.4 --resume -o "$out/part.ran" train.jsonl taught.jsonl
  learn -q $settings --resume -o "$out/part.ran" train.jsonl taught.jsonl
  cmp "$out/part.ran" "$out/whole.ran"
}

@test "soft labels: --check and --dry-run know of them [all]" {
  cat train.jsonl taught.jsonl >"$out/both.jsonl"
  learn --check --soft-label prediction "$out/both.jsonl" |
    jq -e '.soft_labels == {documents: 110, without_label: 110} and .ok and .documents == 200'
  run -0 --separate-stderr learn --check --check-format=text --soft-label prediction "$out/both.jsonl"
  [[ $output == *$'\nSoft labels\ndocuments                 110\nof these without a label  110\n'* ]]
  run -4 --separate-stderr learn --check --soft-label predicton train.jsonl
  jq -e '.problems == ["no document has the member \"predicton\" that --soft-label names"]' <<<"$output"
  run -0 --separate-stderr learn --dry-run --soft-label prediction taught.jsonl
  [ "$(learn --check --soft-label prediction "$out/both.jsonl" | jq .several_labels)" = false ]
}

@test "soft labels: what cannot be used is named with file and line [all]" {
  says 'there is neither "label" nor "labels" nor "prediction"' '{"text":"sun"}'
  says 'there is neither "label" nor "labels" nor "prediction"' '{"text":"sun","prediction":null}'
  says '"prediction" is no object of labels and probabilities' '{"text":"sun","prediction":["a"]}'
  says '"prediction" has no "probs" (ran-classify --probs writes them)' '{"text":"sun","prediction":{"label":"wet","score":1}}'
  says 'the probabilities in "prediction" add up to 0.5, not to 1' '{"text":"sun","prediction":{"probs":{"a":0.2,"b":0.3}}}'
  says 'the probabilities in "prediction" add up to 0, not to 1' '{"text":"sun","prediction":{}}'
  says 'the probability of the label "b" is not a number from 0 to 1' '{"text":"sun","prediction":{"a":0.5,"b":1.5}}'
  says 'the probability of the label "b" is not a number from 0 to 1' '{"text":"sun","prediction":{"probs":{"a":0.5,"b":"0.5"}}}'
  says 'the probability of the label "b" is not a number from 0 to 1' '{"text":"sun","prediction":{"a":1,"b":-1e-9}}'
  says 'the label "a" is there twice' '{"text":"sun","prediction":{"a":0.5,"\u0061":0.5}}'
  says 'a label cannot hold U+0000' '{"text":"sun","prediction":{"a\u0000":1}}'
  says '"prediction" is given twice' '{"text":"sun","prediction":{"a":1},"prediction":{"a":1}}'
  says '"prediction" is of a model that gives several labels, but the document has one' \
    '{"text":"sun","label":"wet","prediction":{"labels":[],"probs":{"a":0.1}}}'
  says 'column 30: \ud800 is half of a surrogate pair' '{"text":"sun","prediction":{"\ud800":1}}'
}

@test "soft labels: misuse" {
  refused 2 '--soft-label is for ran-train classify' ran-train lm --soft-label prediction -o "$out/no.ran" train.jsonl
  refused 2 '--soft-share must be a number from 0 to 1' learn --soft-share 2 --soft-label x -o "$out/no.ran" train.jsonl
  refused 3 'no document has the member "x" that --soft-label names' learn --soft-label x -o "$out/no.ran" train.jsonl
  # A label of the pupil that the model does not have.
  learn -q --no-dev -o "$out/m.ran" train.jsonl
  refused 3 'the model does not know 90 of the labels' \
    "$RAN_BIN/tests/dump-gradients" classify -o "$out/g" -m "$out/m.ran" --soft-label soft <(jq -c '.soft = {new: 1}' train.jsonl)
}
