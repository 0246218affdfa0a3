#!/usr/bin/env bats
# tests/bench/curve.awk: the plot of what attention costs.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
  curve=$BATS_TEST_DIRNAME/../bench/curve.awk
}

# costs TOKENS PATTERN SECONDS BYTES: a line of the benchmark.
costs() {
  printf '{"tokens":%s,"pattern":"%s","window":64,"layer_training_seconds":%s,"peak_bytes":%s}\n' "$@"
}

@test "bench: a line for each pattern, in seconds and in memory, larger is higher" {
  { costs 1024 full 0.04 26000000; costs 1024 window 0.02 26000000
    costs 4096 full 9.5 62000000; costs 4096 window 0.09 62000000
    costs 16384 full 143 143000000; costs 16384 window 0.31 143000000; } >costs.jsonl
  awk -f "$curve" costs.jsonl >costs.svg
  [ "$(grep -c '<polyline' costs.svg)" -eq 4 ]
  [ "$(head -c 4 costs.svg)" = '<svg' ] && [ "$(tail -n 1 costs.svg)" = '</svg>' ]
  # Heights fall from point to point, all of them within the picture.
  grep '<polyline' costs.svg | sed 's/.*points="//; s/ "\/>//' | tr ' ' ',' |
    awk -F , '{ for (i = 2; i <= 6; i += 2) if ($i < 40 || $i > 300 || (i > 2 && $i >= $(i - 2))) exit 1 }'
}

@test "bench: one length is no curve" {
  costs 1024 full 0.04 26000000 >costs.jsonl
  run -1 awk -f "$curve" costs.jsonl
  [[ $output == *'at least two lengths'* ]]
}
