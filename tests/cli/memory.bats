#!/usr/bin/env bats
# What cannot be done without memory that crosses windows: the cell and the look back at all cells.

bats_require_minimum_version 1.5.0

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
}

shape='-q --no-dev --dropout 0 --embed-dropout 0 --layers 2 --heads 2 --batch 8 --learning-rate 0.004'

# repeat N SEED: documents of ids, one of eight markers first, then three windows of chance, then the
# marker again.
repeat() {
  awk -v n="$1" -v seed="$2" 'BEGIN { srand(seed); for (i = 0; i < n; i++) {
    marker = 13 + int(8 * rand()); printf "{\"ids\":[%d", marker
    for (t = 0; t < 12 + int(3 * rand()); t++) printf ",%d", 5 + int(3 * rand())
    printf ",21,%d]}\n", marker } }'
}

@test "memory: a token of three windows ago is repeated [all]" {
  export RAN_ISA=portable
  repeat 2000 1 >train.jsonl
  repeat 200 2 >test.jsonl
  ran-train lm $shape --cell gated --dim 32 --head-dim 16 --window 4 --epochs 8 -o repeat.ran train.jsonl
  # log 8 = 2.08 would be chance, and is all that windows of 4 tokens alone allow.
  ran-lm score -m repeat.ran --per-token test.jsonl >out
  jq -s -e 'map(.lm.per_token.nll[-1]) | add / length < 0.7' out
}

# reverse N SEED: five words, and the same from the last to the first.
reverse() {
  awk -v n="$1" -v seed="$2" 'BEGIN { srand(seed); split("ant bee cat dog eel fox", word)
    for (i = 0; i < n; i++) {
      source = target = ""
      for (k = 0; k < 5; k++) { w = word[1 + int(6 * rand())]; source = source " " w; target = w " " target }
      printf "{\"source\":\"%s\",\"target\":\"%s\"}\n", substr(source, 2), substr(target, 1, length(target) - 1) } }'
}

@test "memory: a source longer than two windows is answered in reverse [all]" {
  reverse 3000 1 >train.jsonl
  reverse 200 2 >test.jsonl
  ran-train lm $shape --dim 48 --head-dim 24 --window 2 --epochs 8 -o reverse.ran train.jsonl
  ran-lm generate -m reverse.ran --temperature 0 test.jsonl >out
  [ "$(jq -c 'select(.lm.text == .target)' out | wc -l)" -ge 198 ]
}
