#!/usr/bin/env bats
# --tune-layers, and --frozen of taggers: layers of a pretrained encoder that stay as they are.

bats_require_minimum_version 1.5.0
load train.bash

# sentences N: as many tagged sentences; a word in front of a name tells its type.
sentences() {
  awk -v n="$1" 'BEGIN {
    for (i = 1; i <= n; i++) {
      place = i % 2; name = "w" (i * 7) % 5 "x"
      printf "{\"tokens\":[\"the\",\"word%d\",\"%s\",\"%s\",\"wind\"],", i % 7, place ? "in" : "says", name
      printf "\"tags\":[\"O\",\"O\",\"O\",\"B-%s\",\"O\"]}\n", place ? "LOC" : "PER"
    }
  }'
}

setup_file() {
  export PATH=$RAN_BIN:$PATH encoder=$BATS_TEST_DIRNAME/../encoders/bert
  cd "$BATS_FILE_TMPDIR"
  sentences 60 >train.jsonl
  sentences 20 >test.jsonl
  documents 60 30 >documents.jsonl
  ran-train import -q -o encoder.ran "$encoder"
  RAN_ISA=portable ran-train tag -q --init "$encoder" --frozen --epochs 4 --no-early-stop --wide 0 -o frozen.ran train.jsonl
  RAN_ISA=portable ran-train tag -q --init "$encoder" --tune-layers 1 --init-rate 1 --epochs 4 --no-early-stop --wide 0 \
    -o one.ran train.jsonl
}

setup() {
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  cp "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl .
  set -o pipefail
}

# changed MODEL: the tensors of the encoder that differ from those that it began with.
changed() {
  local model
  for model in encoder.ran "$1"; do
    all_bytes_of "$model" | LC_ALL=C sort >"$model.tensors"
    [ -s "$model.tensors" ]
  done
  LC_ALL=C comm -23 encoder.ran.tensors "$1.tensors" | cut -d : -f 1
}

@test "tuned: the encoder of a frozen tagger stays byte for byte; of one tuned layer only that changes" {
  [ -z "$(changed frozen.ran)" ]
  changed one.ran >tensors
  [ "$(grep -c '^bert.1\.' tensors)" -gt 10 ]
  run ! grep -v '^bert.1\.' tensors
}

@test "tuned: threads and the room for rows change no byte, and --replay finds the same" {
  for jobs in 1 3; do
    RAN_ISA=portable ran-train tag -q -j $jobs --data-memory 1 --init "$encoder" --frozen --epochs 4 --no-early-stop --wide 0 \
      -o $jobs.ran train.jsonl
    cmp frozen.ran $jobs.ran
  done
  for model in frozen one; do
    RAN_ISA=portable run -0 ran-train tag --replay $model.ran --init "$encoder" train.jsonl
    [[ $output == *'is reproduced, byte for byte'* ]]
  done
}

@test "tuned: --frozen of a tagger is --tune-layers 0, and --tune-layers 0 of a classifier is --frozen" {
  RAN_ISA=portable ran-train tag -q --init encoder.ran --tune-layers 0 --epochs 4 --no-early-stop --wide 0 -o zero.ran train.jsonl
  RAN_ISA=portable ran-train tag -q --init encoder.ran --frozen --epochs 4 --no-early-stop --wide 0 -o f.ran train.jsonl
  cmp zero.ran f.ran
  ran-train classify -q --init encoder.ran --tune-layers 0 -o zero.ran documents.jsonl
  ran-train classify -q --init encoder.ran --frozen -o f.ran documents.jsonl
  cmp zero.ran f.ran
}

@test "tuned: all layers are what no option says" {
  for layers in 2 1024; do
    ran-train classify -q --init encoder.ran --epochs 1 --no-early-stop --wide 0 --tune-layers $layers -o $layers.ran documents.jsonl
  done
  ran-train classify -q --init encoder.ran --epochs 1 --no-early-stop --wide 0 -o all.ran documents.jsonl
  cmp all.ran 1024.ran
  changed all.ran >names
  [ -s names ]
  changed 2.ran | cmp names -
  cmp all.ran.tensors 2.ran.tensors # the metadata alone differ
}

@test "tuned: a tagger reads tokens, texts of many windows and columns; each answer depends on its document alone" {
  for model in frozen one; do
    ran-tag -m $model.ran test.jsonl >tagged.jsonl
    jq -es 'length == 20 and all(.[]; .prediction.tags | length == 5)' tagged.jsonl
    while read -r line; do
      ran-tag -m $model.ran <<<"$line"
    done <test.jsonl | cmp - tagged.jsonl
    ran-tag -m $model.ran --eval --eval-format=json test.jsonl | jq -e .conlleval.f1
    [ "$(ran-tag -m $model.ran --output-format conll test.jsonl | grep -c .)" -eq 100 ]
    jq -s '{text: ([.[].tokens | join(" ")] | join(" "))}' -c test.jsonl >long.jsonl
    ran-tag -m $model.ran long.jsonl | jq -e '.prediction.entities'
  done
}

@test "tuned: beside it the linear model knows how words are spelled, the encoder does not" {
  ran-train tag -q --init encoder.ran --tune-layers 1 --epochs 2 --dev-share 0 -o m.ran train.jsonl
  ran-train info --format json m.ran | jq -e '.config.spelling > 0 and .config.encoder == "bert"'
  run ! grep -qa spelling.weight m.ran
  ran-tag -m m.ran --eval --eval-format=json test.jsonl | jq -e '.conlleval.f1 > 0.9'
}

@test "tuned: interrupted, a training resumes to the same model" {
  sentences 400 >long.jsonl
  long=(env RAN_ISA=portable ran-train tag -j 1 --init encoder.ran --tune-layers 1 --epochs 6 --no-early-stop --wide 0
    long.jsonl)
  "${long[@]}" -q -o whole.ran
  ended_by INT '"epoch":2' log "${long[@]}" -o m.ran --log log
  [ -e m.ran ] || "${long[@]}" -q -o m.ran --resume
  cmp whole.ran m.ran
}

@test "tuned: --dry-run knows the rows that are kept" {
  ran-train tag --dry-run --init encoder.ran --frozen train.jsonl
  ran-train tag --dry-run --init encoder.ran --tune-layers 1 train.jsonl
}

@test "tuned: what makes no sense is refused with a sentence" {
  refused 2 'the last 3 layers cannot be tuned: the encoder has 2 (tune_layers)' \
    ran-train tag --init encoder.ran --tune-layers 3 -o m.ran train.jsonl
  refused 2 '--frozen tunes no layers: leave out --tune-layers' \
    ran-train classify --init encoder.ran --frozen --tune-layers 1 -o m.ran documents.jsonl
  refused 2 '--tune-layers needs a pretrained encoder: give --init MODEL' ran-train tag --tune-layers 1 -o m.ran train.jsonl
  refused 2 '--tune-layers is for ran-train classify and tag' ran-train mlm --init encoder.ran --tune-layers 1 -o m.ran documents.jsonl
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --epochs 1 -o ran.ran documents.jsonl
  refused 2 'tune_layers is for classifiers and taggers with a pretrained encoder of the family BERT' \
    ran-train tag --init ran.ran --tune-layers 1 -o m.ran train.jsonl
}

@test "tuned: few errors of the linear model do not keep a pretrained encoder from being tried" {
  for i in $(seq 40); do
    printf '{"label": "a", "text": "the ferry waits %d"}\n{"label": "b", "text": "a brown fox %d"}\n' "$i" "$i"
  done >easy.jsonl
  run -0 --separate-stderr ran-train classify --init "$encoder" --tune-layers 1 --epochs 2 --dev-share 0.1 -o m.ran easy.jsonl
  [[ $stderr != *'cannot show that an encoder helps'* ]]
  [[ $stderr == *'epoch 1/2'* ]]
  run -0 --separate-stderr ran-train classify --base none --dim 8 --heads 1 --head-dim 8 --epochs 2 -o n.ran easy.jsonl
  [[ $stderr == *'cannot show that an encoder helps'* ]]
}

# held_out OPTION...: the share that a classifier of few documents, with a pretrained encoder, has held out.
held_out() {
  RAN_ISA=portable run -0 --separate-stderr ran-train classify --init "$encoder" --epochs 1 --no-refit --no-early-stop "$@" -o held.ran documents.jsonl
  header held.ran | jq -r '.__metadata__.training | fromjson | .dev_share'
}

@test "tuned: where few documents could be held out for validation, all teach a pretrained encoder" {
  none='no documents are held out for validation: fewer than 50 could not tell what a pretrained encoder is worth'
  held_out --tune-layers 1 >share
  [ "$(cat share)" = 0 ]
  [[ $stderr == *"$none (--dev-share 0.1 holds some out)"* ]]
  mv held.ran none.ran
  held_out --tune-layers 1 --no-dev >share
  [[ $stderr != *"$none"* ]]
  cmp none.ran held.ran
  RAN_ISA=portable run -0 ran-train classify --replay none.ran --init "$encoder" documents.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  # who asks for validation gets it
  for option in --dev-share=0.1 --dev-alike --minutes=5; do
    held_out --tune-layers 1 "$option" >share
    [ "$(cat share)" = 0.1 ]
    [[ $stderr == *'are held out for validation'* && $stderr != *"$none"* ]]
  done
  RAN_ISA=portable run -0 ran-train classify --replay held.ran --init "$encoder" documents.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  # vectors of a frozen encoder are features: what they are worth is found by folds, and nothing trains on
  held_out --frozen >share
  [ "$(cat share)" = 0.1 ]
  # 500 documents could show it
  for _ in {1..9}; do cat documents.jsonl; done >many.jsonl
  mv many.jsonl documents.jsonl
  held_out --tune-layers 1 >share
  [ "$(cat share)" = 0.1 ]
}

@test "tuned: what a version before computed, and this one does not, is refused as a setting that it lacks" {
  ran-train import -q -o encoder.ran "$encoder"
  ran-train classify -q --init encoder.ran --tune-layers 1 --wide 0 --epochs 1 --no-refit -o m.ran documents.jsonl
  LC_ALL=C sed 's/\\"frozen\\":/\\"wide_l\\":/; s/\\"upper\\":\\"mean/\\"upper\\":\\"lstm/; s/\\"ngrams\\":2/\\"mgrams\\":2/' m.ran >other.ran
  cmp -s m.ran other.ran && false
  refused 3 'another one may know it' ran-classify -m other.ran documents.jsonl
  refused 2 '--upper is for ran-train classify' ran-train tag --init "$encoder" --upper mean -o t.ran train.jsonl
  refused 2 'pooling, mean, max or certain' ran-train classify --init "$encoder" --upper attention -o t.ran documents.jsonl
}
