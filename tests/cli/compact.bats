#!/usr/bin/env bats
# Models whose weights are stored in fewer bits: --weights, and ran-train convert.

bats_require_minimum_version 1.5.0
load train.bash

# A model of seven labels, so that a row of codes and its scale are smaller than a row of F16.
seven() {
  awk -v n="$1" 'BEGIN {
    for (i = 1; i <= n; i++) {
      printf "{\"id\":%d,\"text\":\"", i
      for (w = 0; w < 12; w++) printf "word%d ", (i * w * 7) % 97
      printf "sign%d\",\"label\":\"label%d\"}\n", i % 7, i % 7
    }
  }'
}

setup_file() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_FILE_TMPDIR"
  seven 210 >train.jsonl
  seven 70 >test.jsonl
  for type in f32 f16 i8; do
    ran-train classify -q --encoder none --weights $type -o $type.ran train.jsonl
  done
}

setup() {
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  cp "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl .
  set -o pipefail
}

# types MODEL: of its tensors.
types() {
  header "$1" | jq -r 'del(.__metadata__) | to_entries | sort_by(.key) | map("\(.key) \(.value.dtype)") | join(", ")'
}

size() {
  stat -c %s "$1"
}

# near ONE OTHER: the probabilities of two files differ by a hundredth at most.
near() {
  jq -se --slurpfile other "$2" 'map(.prediction.probs) as $a | ($other | map(.prediction.probs)) as $b |
    [range($a | length)] | all(. as $i | $a[$i] | to_entries | all((.value - $b[$i][.key]) | fabs < 0.01))' "$1"
}

@test "compact: --weights stores rows of the linear model in half the bits, or a quarter" {
  [ "$(types f32.ran)" = 'tokenizer.json U8, train.documents U32, wide.bias F32, wide.idf F32, wide.rows U32, wide.weight F32' ]
  [ "$(types f16.ran)" = 'tokenizer.json U8, train.documents U32, wide.bias F32, wide.idf F16, wide.rows U32, wide.weight F16' ]
  [ "$(types i8.ran)" = 'tokenizer.json U8, train.documents U32, wide.bias F32, wide.idf F16, wide.rows U32, wide.weight I8, wide.weight.scale F32' ]
  [ "$(size i8.ran)" -lt "$(size f16.ran)" ]
  [ "$(size f16.ran)" -lt "$(size f32.ran)" ]
  for type in f32 f16 i8; do
    ran-classify --verify -m $type.ran --probs test.jsonl >$type.jsonl
    ran-classify -m $type.ran --eval test.jsonl | jq -e '.accuracy == 1'
  done
  near f16.jsonl f32.jsonl
  near i8.jsonl f32.jsonl
  header f32.ran | jq -e '.__metadata__.training | fromjson | has("weights") | not'
  header i8.ran | jq -e '.__metadata__.training | fromjson | .weights == "i8"'
}

@test "compact: the same bytes for any number of threads, and by --replay" {
  ran-train classify -q -j 3 --encoder none --weights i8 -o three.ran train.jsonl
  cmp i8.ran three.ran
  run -0 ran-train classify --replay i8.ran train.jsonl
  [[ $output == *'i8.ran is reproduced, byte for byte'* ]]
}

@test "compact: convert writes the same weights as training does, and says where they are from" {
  run -0 --separate-stderr ran-train convert -o small.ran f32.ran
  [[ $stderr == *'f32.ran has '*'B, small.ran '*B ]]
  same_output "types small.ran" "types i8.ran"
  ran-classify --verify -m small.ran --probs test.jsonl >small.jsonl
  ran-classify -m f32.ran --probs test.jsonl >f32.jsonl
  near small.jsonl f32.jsonl
  header small.ran | jq -e --argjson from "$(header f32.ran | jq .__metadata__.digest)" \
    '.__metadata__.converted | fromjson | .weights == "i8" and .from == $from'
  same_output "header f32.ran | jq .__metadata__.training" "header small.ran | jq .__metadata__.training"
  ran-train convert -q --weights i8 -o again.ran small.ran # changes no code
  same_output "tail -c +$((9 + $(header small.ran | wc -c))) small.ran" "tail -c +$((9 + $(header again.ran | wc -c))) again.ran"
  refused 4 'was written by ran-train convert: replay the model that it was converted from' \
    ran-train classify --replay small.ran train.jsonl
}

@test "compact: convert refuses what is no model, and to write over what it reads" {
  refused 2 'no output file' ran-train convert f32.ran
  refused 2 'give one model' ran-train convert -o x.ran
  refused 2 'f32.ran is an input' ran-train convert -o f32.ran f32.ran
  refused 2 'weights must be f32, f16 or i8' ran-train convert --weights u4 -o x.ran f32.ran
  refused 3 'train.jsonl' ran-train convert -o x.ran train.jsonl
  refused 3 'nowhere' ran-train convert -o nowhere/x.ran f32.ran
  [ ! -e x.ran ]
}

@test "compact: training goes on from a compact model, and several labels keep their thresholds" {
  ran-train classify -q --encoder none --init i8.ran -o on.ran train.jsonl
  ran-classify -m on.ran --eval test.jsonl | jq -e '.accuracy == 1'
  jq -c '{id, text, labels: [.label, "some"]}' train.jsonl >several.jsonl
  ran-train classify -q --encoder none --weights i8 -o several.ran several.jsonl
  header several.ran | jq -e '.__metadata__.training | fromjson | .thresholds | length == 8'
  ran-classify -m several.ran several.jsonl | jq -se 'all(.prediction.labels | length == 2)'
}

@test "compact: encoders, taggers and language models [all]" {
  documents 60 20 >d.jsonl
  awk 'BEGIN { for (i = 1; i <= 60; i++)
    printf "{\"tokens\":[\"word%d\",\"meets\",\"Ann\"],\"tags\":[\"O\",\"O\",\"B-PER\"]}\n", i % 5 }' >tags.jsonl
  small='--dim 16 --layers 1 --heads 2 --head-dim 8 --epochs 2'
  for type in f32 f16 i8; do
    ran-train classify -q --wide 0 $small --weights $type -o c-$type.ran d.jsonl
    ran-train tag -q $small --weights $type -o t-$type.ran tags.jsonl
    ran-train lm -q $small --weights $type -o l-$type.ran d.jsonl
    ran-train mlm -q $small --weights $type -o m-$type.ran d.jsonl
    ran-classify -m c-$type.ran --probs d.jsonl >c-$type.jsonl
    ran-tag -m t-$type.ran tags.jsonl | jq -c .prediction.tags >t-$type.jsonl
    ran-lm score -m l-$type.ran d.jsonl | jq .lm.nll >l-$type.txt
    echo '{"text":"word1 [MASK] word2"}' | ran-lm fill -m m-$type.ran >/dev/null
  done
  for type in f16 i8; do
    [[ $(types c-$type.ran) == *"embed.weight ${type^^}"* ]]
    [ "$(size c-$type.ran)" -lt "$(size c-f32.ran)" ]
    near c-$type.jsonl c-f32.jsonl
    diff t-f32.jsonl t-$type.jsonl
    paste l-f32.txt l-$type.txt | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 0.01 * $1) exit 1 }'
    ran-train convert -q --weights $type -o l.ran l-f32.ran
    ran-lm score -m l.ran d.jsonl >/dev/null
  done
}

@test "compact: a linear model that does not help is not in the model" {
  export RAN_ISA=portable
  documents 90 20 >d.jsonl
  sed 's/"wet"/"X"/; s/"warm"/"wet"/; s/"white"/"warm"/; s/"X"/"white"/' d.jsonl >wrong.jsonl
  # Documents that an encoder learns to the last one, whatever the seed; some of those of validation contradict it, lest
  # nothing be left to improve.
  ran-train classify -q --wide 0 --dim 16 --layers 1 --heads 2 --head-dim 8 --dropout 0 --embed-dropout 0 --learning-rate 0.02 \
    --epochs 12 --no-dev -o good.ran d.jsonl
  sed '0~9{s/"wet"/"X"/; s/"white"/"wet"/; s/"warm"/"white"/; s/"X"/"warm"/}' d.jsonl >dev.jsonl
  # The encoder stays, and the linear model learns what the validation documents contradict.
  run -0 --separate-stderr ran-train classify --init good.ran --wide 4096 --init-rate 0 --epochs 1 \
    --dev dev.jsonl -o m.ran wrong.jsonl
  [[ $stderr == *'encoder only: the linear model did not improve results on 90 validation documents'* ]]
  [[ $(types m.ran) != *wide* ]]
  header m.ran | jq -e '.__metadata__ | (.config | fromjson | .wide == 0) and
    (.training | fromjson | .paths.wide == 0 and .tried == {wide: 4096})'
  ran-classify -m m.ran --eval d.jsonl | jq -e '.accuracy == 1'
  run -0 ran-train classify --replay m.ran --init good.ran --dev dev.jsonl wrong.jsonl
  [[ $output == *'m.ran is reproduced, byte for byte'* ]]
}
