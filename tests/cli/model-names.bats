#!/usr/bin/env bats
# Names of installed models, files of the same names, and outputs that would overwrite a model that is read.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_TEST_TMPDIR" || exit
  set -o pipefail
  mkdir models work
  export RAN_MODELS=$PWD/models RAN_BASE=none
  documents 40 >work/d.jsonl
  sed 's/"wet"/"damp"/' work/d.jsonl >other.jsonl
  ran-train classify -q --encoder none -o models/weather.ran work/d.jsonl
  ran-train classify -q --encoder none -o own.ran other.jsonl
  cd work
}

labels() { ran-train info -q --format json "$@" | jq -c .labels; }

@test "a folder or file of the name of an installed model does not take its place" {
  mkdir weather
  [ "$(labels weather)" = '["warm","wet","white"]' ]
  rmdir weather
  cp ../own.ran weather
  run -0 --separate-stderr ran-train info weather
  [[ $stderr == *"weather is the model $RAN_MODELS/weather.ran (the file here is ./weather)"* ]]
  [ "$(labels weather)" = '["warm","wet","white"]' ]
  [ "$(labels ./weather)" = '["damp","warm","white"]' ]
  run -0 --separate-stderr ran-classify -m weather --only d.jsonl
  [ "$(grep -c "weather is the model" <<<"$stderr")" -eq 1 ]
  run -0 --separate-stderr ran-classify -m ./weather --only d.jsonl
  [ -z "$stderr" ]
  echo 'no model' >weather
  ran-train classify -q --encoder none --init weather -o new.ran d.jsonl
  # A vocabulary, too.
  ran-tokenize learn -q -o weather d.jsonl
  [ "$(labels weather)" = '["warm","wet","white"]' ]
}

@test "a name that ends like a file is the file, if it is there" {
  [ "$(labels weather.ran)" = '["warm","wet","white"]' ]
  cp ../own.ran weather.ran
  run -0 --separate-stderr ran-train info weather.ran
  [[ $stderr == *"weather.ran is the file here (the installed model is $RAN_MODELS/weather.ran)"* ]]
  [ "$(labels weather.ran)" = '["damp","warm","white"]' ]
  [ "$(labels weather)" = '["warm","wet","white"]' ]
  # The same file is no other one.
  cd ../models
  run -0 --separate-stderr ran-train info weather.ran
  [ -z "$stderr" ]
  # Other names are files as before.
  run -3 --separate-stderr ran-train info nothing
  [[ $stderr == *"cannot open nothing: No such file or directory, and there is no model of that name in $RAN_MODELS"* ]]
  cp ../own.ran own
  run -0 --separate-stderr ran-train info own
  [ -z "$stderr" ]
}

@test "an output does not overwrite the model that is read, whatever it is called" {
  cd ../models
  sum=$(sha256sum weather.ran)
  documents=../work/d.jsonl
  ln -s weather.ran link.ran
  ln weather.ran hard
  for to in weather.ran link.ran ./hard; do
    refused 2 "weather.ran is an input: it cannot also be the output" \
      ran-train classify --encoder none --init weather -o $to $documents
    refused 2 "weather.ran is an input: it cannot also be the output" ran-train convert -o $to weather
    refused 2 "weather.ran is an input: it cannot also be the output" ran-classify -m weather -o $to $documents
    refused 2 "weather.ran is an input: --log cannot write it, too" \
      ran-train classify --encoder none --init weather --log $to -o new.ran $documents
  done
  refused 2 "weather.ran is an input" ran-classify -m weather --rejects weather.ran $documents
  refused 2 "weather.ran is an input" ran-train classify --replay weather -o weather.ran $documents
  [ "$(sha256sum weather.ran)" = "$sum" ]
  run -0 ran-classify -q -m weather -o out.jsonl $documents
}

@test "the base model that nobody named is not overwritten either" {
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --layers 1 --epochs 1 -o ../models/english.ran d.jsonl
  sum=$(sha256sum ../models/english.ran)
  unset RAN_BASE
  refused 2 "english.ran is an input: it cannot also be the output" \
    ran-train classify -o ../models/english.ran d.jsonl
  [ "$(sha256sum ../models/english.ran)" = "$sum" ]
}
