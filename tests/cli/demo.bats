#!/usr/bin/env bats
# The demonstration on licence texts, which need no network; and what it says when things are missing.

bats_require_minimum_version 1.5.0
load compare.bash

setup_file() {
  [ -d /usr/share/common-licenses ] || skip 'no licence texts'
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  export demo=$root/share/demo RAN_BIN=${RAN_BIN:-$root/build}
  export HOME=$BATS_FILE_TMPDIR/home
  unset XDG_CACHE_HOME
  mkdir "$HOME"
  "$demo" --offline >"$BATS_FILE_TMPDIR/out" 2>"$BATS_FILE_TMPDIR/err"
}

setup() {
  work=$HOME/.cache/ran-demo/licences
  cd "$BATS_TEST_TMPDIR"
  out=$BATS_FILE_TMPDIR/out
}

@test "demo: it says how good the model is, and that is better than guessing" {
  grep -q '^accuracy  *0\.' "$out"
  right=$(awk '/^accuracy/ { print $2 }' "$out")
  guess=$(sed -n 's/^Baseline (most frequent label): \([0-9]*\) of \([0-9]*\)\.$/\1 \2/p' "$out")
  [ -n "$guess" ]
  awk -v right="$right" -v guess="$guess" 'BEGIN { split(guess, n, " "); exit !(right > n[1] / n[2] + 0.1) }'
}

@test "demo: models are compared on the same documents, with intervals" {
  [ "$(grep -c '^  \(ten documents a label\|all documents\), \(words alone\|base model\)  *[0-9.]*  *[0-9.]* to [0-9.]*' "$out")" -eq 4 ]
  [ "$(grep -c '([-+][0-9.]* to [-+][0-9.]*)$' "$out")" -eq 2 ]
  [[ $(grep -A1 '^2\. ' "$out") == *'Left out.' ]]
  [[ $(grep -A1 '^7\. ' "$out") == *'Left out.' ]]
  for label in $(jq -r .label "$work/train.jsonl" | sort -u); do
    [ "$(jq -r .label "$work/few.jsonl" | grep -cxF "$label")" -le 10 ]
  done
}

@test "demo: names of a manual page are known by their fonts" {
  cat >page.2 <<'END'
.TH x 2
.SH SYNOPSIS
.BI "int x(int " fd );
.SH DESCRIPTION
.BR pread ()
reads \fIcount\fP bytes of
.IR fd ,
as
.BR open (2)
.I "does not"
for
.IR /dev/null .
It fails with
.B EINVAL
"now".
END
  folder=$(dirname "$demo")/demo.d
  LC_ALL=C awk -f "$folder/roff.awk" -f "$folder/man2tags.awk" page.2 | tr '\n\t' ' /' >tags
  [ "$(cat tags)" = 'pread/B-FUNCTION (/O )/O reads/O count/B-ARGUMENT bytes/O of/O fd/B-ARGUMENT ,/O as/O open/B-FUNCTION does/O not/O for/O /dev/null/B-FILE ./O  It/O fails/O with/O EINVAL/B-CONSTANT "/O now/O "/O ./O  ' ]
}

@test "demo: records are JSON, whole, and none is in both sets" {
  for file in train test labelled; do
    jq -e -s 'length > 20 and all(.[]; .id and .label)' "$work/$file.jsonl"
  done
  jq -e -s 'all(.[]; .prediction.label)' "$work/labelled.jsonl"
  [ "$(cat "$work/train.jsonl" "$work/test.jsonl" | jq -c .text | sort | uniq -d | wc -l)" -eq 0 ]
  [ "$(cat "$work"/texts/*/*.txt | wc -w)" -eq "$(cat "$work/train.jsonl" "$work/test.jsonl" | jq -r .text | wc -w)" ]
}

@test "demo: the commands it ends with can be typed" {
  sed -n '/^8\. /,$p' "$out" >last
  grep -q "^The model is $work/model.ran" last
  # The first two set the scene; the third labels a file.
  grep '^  PATH=' last >commands.sh
  grep '^  cd ' last >>commands.sh
  grep '^  text2jsonl ~/notes.txt' last >>commands.sh
  echo 'You may redistribute this work under the terms of this license.' >"$HOME/notes.txt"
  run -0 --separate-stderr sh -e commands.sh
  echo "$output" | jq -e '.prediction | .label and (.top | length == 3)'
}

@test "demo: its pages show the training and confusion" {
  grep -q '<html' "$work/training.html"
  grep -qi 'confusion\|taken for' "$work/errors.html"
}

@test "demo: plain text where there is no terminal" {
  run -1 grep -q $'\033' "$out"
}

@test "demo: once more, it trains nothing anew, and -q gives results only [all]" {
  cp "$work/model.ran" before
  run -0 --separate-stderr "$demo" --offline
  [[ $output == *'from an earlier run'* ]]
  cmp before "$work/model.ran"
  run -0 --separate-stderr "$demo" --offline -q
  [[ $output == *documents* ]]
  [ -z "$stderr" ]
}

@test "demo: without programs, without a home, with a wrong option" {
  RAN_BIN=/nowhere run -3 env PATH=/usr/bin:/bin "$demo" --offline
  [ "$output" = "demo: there is no ran-train in /nowhere: run 'make' first, or 'make demo', which does both" ]
  run -3 env -u HOME "$demo" --offline
  [[ $output == 'demo: HOME is not set'* ]]
  run -2 "$demo" --online
}

@test "demo: when the archive cannot be reached, licence texts do [all]" {
  mkdir bin
  printf '#!/bin/sh\necho "E: no network" >&2\nexit 100\n' >bin/apt-get
  chmod +x bin/apt-get
  PATH=$PWD/bin:$PATH run -0 --separate-stderr "$demo"
  [[ $output == *'E: no network'*'licence texts'* ]]
}
