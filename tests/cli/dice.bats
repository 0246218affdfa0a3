#!/usr/bin/env bats
# Settings drawn by chance: a sample; make check-long has hundreds.

bats_require_minimum_version 1.5.0

@test "dice: whatever is drawn, models are the same again, and programs answer or say why not [all]" {
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work"
  run "$BATS_TEST_DIRNAME/../dice/run" 8 3
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output =~ ^'dice: of 8 settings '[5-8]' were trained with' ]]
}

# What the dice say to programs that are wrong: one in the place of ran-lm, or of all.
@test "dice: an answer that depends on -j or on later records, a silent failure and a model without success are seen [all]" {
  mkdir "$BATS_TEST_TMPDIR/work" "$BATS_TEST_TMPDIR/bin"
  cd "$BATS_TEST_TMPDIR/work"
  for program in ran-classify ran-tag ran-attnmask ran-lm; do
    printf '#!/bin/sh\necho "$@"\n' >../bin/$program
  done
  ln -s "$RAN_BIN/ran-train" ../bin
  chmod +x ../bin/*
  RAN_BIN=$BATS_TEST_TMPDIR/bin run -1 "$BATS_TEST_DIRNAME/../dice/run" 9 3
  [[ $output == 'dice: seed 3: another output with -j 1: ran-'* ]]
  for program in ran-classify ran-tag ran-attnmask ran-lm; do
    printf '#!/bin/bash\nfile=${@: -1}\n[ -e "$file" ] || file=-\ncat "$file" | wc -l\n' >../bin/$program
  done
  RAN_BIN=$BATS_TEST_TMPDIR/bin run -1 "$BATS_TEST_DIRNAME/../dice/run" 9 3
  [[ $output == 'dice: seed 3: another output without the records behind: '* ]]
  rm ../bin/*
  printf '#!/bin/sh\nexit 3\n' >../bin/ran-train
  chmod +x ../bin/ran-train
  RAN_BIN=$BATS_TEST_TMPDIR/bin run -1 "$BATS_TEST_DIRNAME/../dice/run" 1
  [[ $output == 'dice: seed 1: status 3 without a word: ran-train '* ]]
  printf '#!/bin/sh\necho no >&2\n>m.ran\nexit 3\n' >../bin/ran-train
  RAN_BIN=$BATS_TEST_TMPDIR/bin run -1 "$BATS_TEST_DIRNAME/../dice/run" 1
  [[ $output == 'dice: seed 1: status 3, but a model: ran-train '*no ]]
}
