#!/usr/bin/env bats
# tests/bench/curve.awk: the plot of what something costs by the length of a text.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
}

# curve FILE: its picture.
curve() {
  awk -v series=pattern -v seconds=seconds -v title='seconds of work' \
    -f "$BATS_TEST_DIRNAME/../bench/curve.awk" "$1"
}

# costs TOKENS PATTERN SECONDS BYTES: a line of the benchmark.
costs() {
  printf '{"tokens":%s,"pattern":"%s","window":64,"seconds":%s,"peak_bytes":%s}\n' "$@"
}

@test "bench: a line for each pattern, in seconds and in memory, larger is higher" {
  { echo '{"processor":"what it ran on"}'
    costs 1024 full 0.04 26000000; costs 1024 window 0.02 26000000
    costs 4096 full 9.5 62000000; costs 4096 window 0.09 62000000
    costs 16384 full 143 143000000; costs 16384 window 0.31 143000000; } >costs.jsonl
  curve costs.jsonl >costs.svg
  [ "$(grep -c '<polyline' costs.svg)" -eq 4 ]
  [ "$(head -c 4 costs.svg)" = '<svg' ]
  [ "$(tail -n 1 costs.svg)" = '</svg>' ]
  grep -q '>seconds of work<' costs.svg
  # Heights fall from point to point, all of them within the picture.
  grep '<polyline' costs.svg | sed 's/.*points="//; s/ "\/>//' | tr ' ' ',' |
    awk -F , '{ for (i = 2; i <= 6; i += 2) if ($i < 40 || $i > 300 || (i > 2 && $i >= $(i - 2))) exit 1 }'
}

@test "bench: a line may end before the others do" {
  { costs 1000 short 0.1 1000000; costs 10000 short 1 2000000
    for n in 1000 10000 100000; do costs $n long 1 1000000; done; } >costs.jsonl
  curve costs.jsonl >costs.svg
  [ "$(grep -c '>100000<' costs.svg)" -eq 2 ]
  [ "$(grep '<polyline' costs.svg | head -n 1 | grep -o '[0-9],[0-9]' | wc -l)" -eq 2 ]
}

@test "bench: one length is no curve" {
  costs 1024 full 0.04 26000000 >costs.jsonl
  run -1 curve costs.jsonl
  [[ $output == *'at least two lengths'* ]]
}
