#!/usr/bin/env bats
# --vector-cache: vectors that a pretrained encoder has made, in a file, for ran-train and ran-classify.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  encoder=$root/tests/encoders/sentence-mean
  PATH=$RAN_BIN:$PATH
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail
  for i in {1..30}; do
    printf '{"text":"rain and wind %d","label":"wet"}\n{"text":"sun by the sea %d","label":"dry"}\n' $i $i
  done >train.jsonl
}

train() {
  ran-train classify -j 2 --init "$encoder" --frozen "$@" train.jsonl
}

@test "vector-cache: the second training takes all vectors from the file, and the model has the same bytes" {
  train -q -o none.ran
  run -0 --separate-stderr train --vector-cache v -o one.ran
  [[ $stderr =~ 'v: 0 vectors were in it, '[1-9][0-9]*' added' ]]
  sum=$(sha256sum <v)
  run -0 --separate-stderr train --vector-cache v --seed 2 -o two.ran
  [[ $stderr == *' vectors were in it, 0 added'* ]]
  [ "$(sha256sum <v)" = "$sum" ]
  cmp none.ran one.ran
}

@test "vector-cache: the weights of a training in 8 bits are those of its model [all]" {
  train -q --weights i8 --vector-cache v -o m.ran
  run -0 --separate-stderr ran-classify -m m.ran --probs --vector-cache v train.jsonl
  [[ $stderr =~ 'v: '[1-9][0-9]*' vectors were in it, 0 added' ]]
  train -q --weights i8 --threshold-for wet=recall:0.9 -o n.ran
}

@test "vector-cache: an encoder that reads spelling has vectors for each spelling [all]" {
  cp "$root/share/models/english.ran" small.ran
  { cat train.jsonl && sed 's/rain and/RAIN AND/; s/sun by/SUN BY/' train.jsonl; } >both.jsonl
  awk 'NR % 3 == 0' both.jsonl >few.jsonl # too few to find that vectors do not help
  ran-train classify -q -j 1 --init small.ran --frozen --spelling 64 --no-dev -o m.ran few.jsonl
  ran-classify -m m.ran --probs both.jsonl >without.jsonl
  ran-classify -q -m m.ran --probs --vector-cache v both.jsonl >with.jsonl
  diff with.jsonl without.jsonl
  ran-classify -m m.ran --embed --only both.jsonl | jq -c .prediction.embedding | sort -u | wc -l >different
  [ "$(cat different)" -eq 120 ]
}

@test "vector-cache: the file does not depend on the order of the documents or on threads" {
  train -q --vector-cache v -o m.ran
  tac train.jsonl >back.jsonl
  ran-train classify -q -j 1 --init "$encoder" --frozen --vector-cache w -o n.ran back.jsonl
  cmp v w
}

@test "vector-cache: ran-classify uses the file of the training, and predicts the same" {
  train -q --vector-cache v -o m.ran
  ran-classify -m m.ran --probs train.jsonl >without.jsonl
  run -0 --separate-stderr ran-classify -m m.ran --probs --vector-cache v train.jsonl
  [[ $stderr =~ 'v: '[1-9][0-9]*' vectors were in it, 0 added' ]]
  diff <(cat <<<"$output") without.jsonl
  ran-classify -m "$encoder" --embed --only --vector-cache v train.jsonl >embed.jsonl
  ran-classify -m "$encoder" --embed --only train.jsonl >expected.jsonl
  [ -s expected.jsonl ]
  cmp embed.jsonl expected.jsonl
}

@test "vector-cache: files of another encoder, damaged and foreign files are refused and stay" {
  ran-classify -q -m "$encoder" --embed --vector-cache v train.jsonl >/dev/null
  cp v other
  run -3 --separate-stderr ran-classify -m "$root/tests/encoders/sentence-max" --embed --vector-cache other train.jsonl
  [[ $stderr == 'ran-classify: other: holds vectors of another encoder, or of other layers: name another file' ]]
  head -c -1 v >cut
  head -c 2000 v | tail -c 100 | tr '\0-\377' '\1-\377\0' >piece
  { head -c 1900 v; cat piece; tail -c +2001 v; } >changed
  cp train.jsonl foreign
  : >empty
  for file in cut changed foreign empty; do
    before=$(sha256sum <$file)
    run -3 --separate-stderr ran-classify -m "$encoder" --embed --vector-cache $file train.jsonl
    [ "$stderr" = "ran-classify: $file: this is no file of vectors that this version of ran wrote, or it is damaged: remove it or name another" ]
    [ -z "$output" ]
    [ "$(sha256sum <$file)" = "$before" ]
  done
}

@test "vector-cache: what makes no such vectors has no use for the option" {
  run -2 --separate-stderr ran-train classify --encoder none --vector-cache v -o m.ran train.jsonl
  [[ $stderr == *'--vector-cache is for --frozen and --tune-layers'* ]]
  ran-train classify -q --encoder none --base none -o linear.ran train.jsonl
  run -2 --separate-stderr ran-classify -m linear.ran --vector-cache v train.jsonl
  [[ $stderr == *'--vector-cache is for --embed'* ]]
  [ ! -e v ]
}

@test "vector-cache: an encoder that was not pretrained does without it, and says so" {
  ran-train classify -q -j 1 --base none --wide 0 --dim 8 --layers 1 --epochs 1 -o own.ran train.jsonl
  ran-classify -m own.ran --embed --only train.jsonl >without.jsonl
  run -0 --separate-stderr ran-classify -m own.ran --embed --only --vector-cache v train.jsonl
  [ "$stderr" = 'ran-classify: v is not used: own.ran has no pretrained encoder, and no distilled RAN' ]
  diff - without.jsonl <<<"$output"
  [ ! -e v ]
}

@test "vector-cache: a file that cannot be written is named before the work begins" {
  run -3 --separate-stderr train --vector-cache missing/v -o m.ran
  [[ $stderr == *'missing/v: No such file or directory'* ]]
  [ ! -e m.ran ]
  run -3 --separate-stderr ran-classify -m "$encoder" --embed --vector-cache missing/v train.jsonl
  [ -z "$output" ]
}

@test "vector-cache: rows of windows below the tuned layers, for taggers and --tune-layers" {
  for i in {1..30}; do
    printf '{"tokens":["rain","%d","wind"],"tags":["B-WET","O","O"]}\n{"tokens":["sun","%d"],"tags":["O","O"]}\n' $i $i
  done >tagged.jsonl
  tag() {
    RAN_ISA=portable ran-train tag -j 2 --init "$encoder" --epochs 2 --wide 0 --no-early-stop "$@" tagged.jsonl
  }
  tag -q --frozen -o none.ran
  run -0 --separate-stderr tag --frozen --vector-cache v -o one.ran
  [[ $stderr =~ 'v: 0 vectors were in it, '[1-9][0-9]*' added' ]]
  sum=$(sha256sum <v)
  run -0 --separate-stderr tag --frozen --vector-cache v --seed 1 -o two.ran
  [[ $stderr =~ 'v: '[1-9][0-9]*' vectors were in it, 0 added' ]]
  [ "$(sha256sum <v)" = "$sum" ]
  cmp none.ran one.ran
  cmp none.ran two.ran
  tag -q --frozen --vector-cache w -j 1 -o three.ran
  cmp v w
  # one layer is tuned: rows of another layer
  run -3 --separate-stderr tag --tune-layers 1 --vector-cache v -o m.ran
  [[ $stderr == *'v: holds vectors of another encoder, or of other layers: name another file'* ]]
  [ ! -e m.ran ]
  [ "$(sha256sum <v)" = "$sum" ]
  train -q --vector-cache vectors -o m.ran
  run -3 --separate-stderr tag --frozen --vector-cache vectors -o m.ran
  [[ $stderr == *'vectors: holds vectors of another encoder, or of other layers: name another file'* ]]
  RAN_ISA=portable ran-train classify -q --init "$encoder" --tune-layers 1 --epochs 1 --no-early-stop --vector-cache c -o m.ran train.jsonl
  [ -s c ]
}
