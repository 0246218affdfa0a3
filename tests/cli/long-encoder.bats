#!/usr/bin/env bats
# A pretrained encoder over a text of any length: all of it counts, and memory does not grow with it.

bats_require_minimum_version 1.5.0

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  folders=$PWD/tests/encoders
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail
}

# text WORDS LAST: a record whose last word may be another one.
text() {
  awk -v n="$1" -v last="$2" 'BEGIN {
    split("the quick brown fox jumps over lazy dogs and rivers run into seas", word, " ")
    printf "{\"text\":\""
    for (i = 1; i < n; i++) printf "%s ", word[i % 13 + 1]
    print last "\"}" }'
}

vector() {
  ran-classify -q --embed -m "$@" | jq -c .prediction.embedding
}

@test "long texts: what comes last counts, in the first window or the hundredth" {
  for folder in bert sentence-max sentence-tanh modernbert mpnet; do
    for words in 5 3000; do
      text "$words" fox >fox.jsonl
      text "$words" seas >seas.jsonl
      vector "$folders/$folder" fox.jsonl >fox
      vector "$folders/$folder" seas.jsonl >seas
      [ "$(wc -l <fox)" -eq 1 ]
      run -1 cmp fox seas
    done
  done
}

@test "long texts: the vector depends neither on threads nor on what is read beside it" {
  text 3000 fox >long.jsonl
  { text 5 seas && text 3000 fox && text 9 dogs && text 700 run; } >all.jsonl
  for folder in bert sentence-max sentence-tanh modernbert; do
    vector "$folders/$folder" -j 1 long.jsonl >alone
    vector "$folders/$folder" -j 3 all.jsonl | sed -n 2p >beside
    cmp alone beside
  done
}

@test "long texts: ten times the words take hardly more memory [all]" {
  command -v /usr/bin/time >/dev/null || skip 'no time'
  peak() { # a sanitizer keeps what is released for a while
    ASAN_OPTIONS=${ASAN_OPTIONS-}:quarantine_size_mb=1 /usr/bin/time -f %M \
      ran-classify -q -j 1 "$@" 2>&1 >/dev/null | tail -n 1
  }
  text 20000 fox >few.jsonl
  text 200000 fox >many.jsonl
  # 440,000 tokens more, and a megabyte of text: rows of 32 numbers would be 56 MB, offsets 12
  for model in "--embed -m $folders/bert" "-m $folders/bert-classifier"; do
    # shellcheck disable=SC2086
    [ $(($(peak $model many.jsonl) - $(peak $model few.jsonl))) -lt 12000 ]
  done
}
