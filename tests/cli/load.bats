#!/usr/bin/env bats
# Much at once: a sample; make check-long has millions of records.

bats_require_minimum_version 1.5.0

@test "load: a pipe of three programs, a large input, many files and many processes lose nothing [all]" {
  [ -x "$RAN_BIN/load/peak" ] || skip "there is no $RAN_BIN/load/peak: make builds it for make check"
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work"
  export LOAD_BIN=$RAN_BIN/load RECORDS=3000 MEGABYTES=5 FILES=200 PROCESSES=8
  run "$BATS_TEST_DIRNAME/../load/run"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *'3000 short records through a pipe of three programs: all there'* ]]
  [[ $output == *'200 files: all records there'* ]]
}
