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
  local tensor
  for tensor in $(header encoder.ran | jq -r 'keys[] | select(. != "__metadata__")'); do
    [ "$(bytes_of encoder.ran "$tensor" | sha256sum)" = "$(bytes_of "$1" "$tensor" | sha256sum)" ] || echo "$tensor"
  done
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
  ran-train diff all.ran 2.ran >said || [ $? -eq 1 ]
  run ! grep -q '^tensor' said
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

# both OPTION...: one layer tuned, the linear model has the rows below it.
both() {
  RAN_ISA=portable ran-train classify -q --init "$encoder" --tune-layers 1 --wide-layer 2 --wide 2 --no-affixes --epochs 2 --no-early-stop \
    --dev-share 0 "$@" documents.jsonl
}

@test "tuned: the linear model has the rows below the tuned layer, by any way to train the same bytes" {
  both -o both.ran
  header both.ran | jq -e '.["wide.dense"].shape == [32, 3] and (.__metadata__.config | fromjson | .wide_layer == 2 and .frozen == null)'
  bytes_of both.ran wide.dense | grep -q '[1-9a-f]'
  both --wide-layer 0 -o grams.ran
  run ! grep -qa wide.dense grams.ran
  [ -z "$(changed both.ran | grep -v '^bert.1\.')" ]
  # below the features nothing is stored for them
  for tensor in $(header grams.ran | jq -r 'keys[] | select(startswith("bert.") or startswith("classify."))'); do
    bytes_of grams.ran "$tensor" >expected
    bytes_of both.ran "$tensor" >found
    [ -s found ]
    [[ $tensor == classify.* ]] || cmp expected found
  done
  both -j 3 --data-memory 1 -o again.ran
  cmp both.ran again.ran
  RAN_ISA=portable run -0 ran-train classify --replay both.ran --init "$encoder" documents.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  run -0 ran-train info both.ran
  [[ $(tr -s '\n ' ' ' <<<"$output") == *'encoder, and linear model over n-grams and document vectors of its layers below the tuned ones'* ]]
}

@test "tuned: rows below the tuned layer: each answer depends on its document alone, and all of it is explained" {
  both -o both.ran
  jq -s '{text: ([.[].text] | join(" "))}' -c documents.jsonl >long.jsonl
  head -n 5 documents.jsonl >>long.jsonl
  ran-classify -m both.ran --probs long.jsonl >all.jsonl
  while read -r line; do
    ran-classify -m both.ran --probs <<<"$line"
  done <long.jsonl | cmp - all.jsonl
  ran-classify -m both.ran --evidence 2 long.jsonl | jq -es 'any(.[]; .prediction.evidence | length > 0)'
  ran-attnmask -m both.ran --map label --top 3 long.jsonl | jq -es 'all(.[].attention.top[]; .value != 0)'
  run -2 --separate-stderr ran-classify -m both.ran --vector-cache v long.jsonl
  [[ $stderr == *'--vector-cache is for --embed, and for classifiers with a frozen pretrained encoder or distilled RAN'* ]]
}

@test "tuned: an encoder that is dropped leaves the layers that the linear model reads" {
  # n-grams that share two rows say nothing: what is known comes from the encoder
  for storage in f32 f16 i8; do
    RAN_ISA=portable ran-train classify -q --init "$encoder" --tune-layers 1 --wide-layer 2 --wide 2 --no-affixes --learning-rate 0 --epochs 1 \
      --weights $storage \
      --dev-share 0.3 -o dropped.ran documents.jsonl
    header dropped.ran | jq -e '(keys | any(startswith("bert.0.")) and (any(startswith("bert.1.") or startswith("classify.")) | not)) and
      (.__metadata__.config | fromjson | .layers == 1 and .frozen and .wide_layer == 2)'
    ran-classify -m dropped.ran documents.jsonl | jq -es 'map(.prediction.label) | unique | length == 3'
  done
  ran-classify -m dropped.ran --vector-cache v --probs documents.jsonl >first.jsonl
  ran-classify -m dropped.ran --vector-cache v --probs documents.jsonl | cmp - first.jsonl
  RAN_ISA=portable run -0 ran-train classify --replay dropped.ran --init "$encoder" documents.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  ran-train classify -q --init dropped.ran --frozen -o on.ran documents.jsonl
}

@test "tuned: interrupted, a classifier that has the rows below resumes to the same model" {
  documents 300 >many.jsonl
  long=(env RAN_ISA=portable ran-train classify -j 1 --init encoder.ran --tune-layers 1 --wide-layer 2 --epochs 6 --no-early-stop
    many.jsonl)
  "${long[@]}" -q -o whole.ran
  ended_by INT '"epoch":2' log "${long[@]}" -o m.ran --log log
  [ -e m.ran ] || "${long[@]}" -q -o m.ran --resume
  cmp whole.ran m.ran
}

@test "tuned: rows for the linear model that training would change, or that nothing reads, are refused" {
  refused 2 'the linear model can have the rows that enter layer 2 (wide_layer), the first one that is tuned, not those of layer 3' \
    ran-train classify --init "$encoder" --tune-layers 1 --wide-layer 3 -o m.ran documents.jsonl
  refused 2 'the linear model has rows of layers that are not tuned (wide_layer), and here all are: lower tune_layers' \
    ran-train classify --init "$encoder" --wide-layer 2 -o m.ran documents.jsonl
  refused 2 'the linear model cannot have the rows that enter layer 1 (wide_layer) of 2 layers' \
    ran-train classify --init "$encoder" --tune-layers 2 --wide-layer 1 -o m.ran documents.jsonl
  refused 2 'wide_layer is for classifiers with a linear model' \
    ran-train classify --init "$encoder" --tune-layers 1 --wide 0 --wide-layer 2 -o m.ran documents.jsonl
  refused 2 'wide_layer is for pretrained encoders of the family BERT' ran-train classify --base none --wide-layer 2 -o m.ran documents.jsonl
  refused 2 '--wide-layer is for ran-train classify' ran-train tag --init "$encoder" --tune-layers 1 --wide-layer 2 -o m.ran train.jsonl
}

# above KIND OPTION...: a frozen encoder, and another one that reads its rows in front of the tags.
above() {
  local kind=$1
  shift
  RAN_ISA=portable ran-train tag -q --init "$encoder" --frozen --upper "$kind" --upper-dim 12 --upper-head-dim 4 --wide 0 "$@" train.jsonl
}

@test "tuned: a RAN or a Transformer reads the rows of a frozen tagger, by any way to train the same bytes" {
  for kind in ran transformer; do
    above $kind --epochs 4 --no-early-stop -o $kind.ran
    [ -z "$(changed $kind.ran)" ]
    header $kind.ran | jq -e --arg in "$kind.0.attn.q.weight" '.["upper.in.weight"].shape == [12, 32] and has($in) and .["tag.out.weight"].shape[1] == 12'
    above $kind --epochs 4 --no-early-stop -j 3 --data-memory 1 -o again.ran
    cmp $kind.ran again.ran
    RAN_ISA=portable run -0 ran-train tag --replay $kind.ran --init "$encoder" train.jsonl
    [[ $output == *'is reproduced, byte for byte'* ]]
    ran-tag -m $kind.ran test.jsonl >tagged.jsonl
    while read -r line; do
      ran-tag -m $kind.ran <<<"$line"
    done <test.jsonl | cmp - tagged.jsonl
    head -n 1 test.jsonl | ran-attnmask -m $kind.ran --map label --row 3 --top 2 | jq -e 'all(.attention.top[]; .value != 0)'
    jq -s '{text: ([.[].tokens | join(" ")] | join(" "))}' -c test.jsonl | ran-tag -m $kind.ran | jq -e '.prediction.entities'
  done
  run -0 ran-train info ran.ran
  [[ $(tr -s '\n ' ' ' <<<"$output") == *'above its tokens: ran, 1 layer, width 12'* ]]
}

@test "tuned: what reads the rows of a tagger learns, beside a linear model, too" {
  above ran --epochs 20 --no-early-stop --learning-rate 0.02 -o m.ran
  ran-tag -m m.ran --eval --eval-format=json test.jsonl | jq -e '.conlleval.f1 > 0.9'
  RAN_ISA=portable ran-train tag -q --init "$encoder" --tune-layers 1 --upper ran --upper-dim 12 --upper-head-dim 4 --epochs 2 \
    --no-early-stop -o both.ran train.jsonl
  ran-tag -m both.ran test.jsonl | jq -es 'length == 20'
  parameters() {
    ran-train tag --dry-run --init "$encoder" --frozen --wide 0 "$@" train.jsonl 2>/dev/null |
      sed -n 's/^parameters .*features, \([0-9]*\) in the rest/\1/p'
  }
  [ "$(parameters --upper ran)" -gt "$(parameters)" ]
}

@test "tuned: interrupted, what reads the rows of a tagger resumes to the same model" {
  sentences 400 >long.jsonl
  long=(env RAN_ISA=portable ran-train tag -j 1 --init encoder.ran --frozen --upper ran --upper-dim 12 --upper-head-dim 4 --epochs 6
    --no-early-stop --wide 0 long.jsonl)
  "${long[@]}" -q -o whole.ran
  ended_by INT '"epoch":2' log "${long[@]}" -o m.ran --log log
  [ -e m.ran ] || "${long[@]}" -q -o m.ran --resume
  cmp whole.ran m.ran
}

@test "tuned: above a tagger's encoder stands one that has outputs of tokens" {
  for upper in contextualizer attention mean 'ran --upper-rows windows'; do
    # shellcheck disable=SC2086
    refused 2 "a tagger needs outputs of tokens: upper must be 'ran' or 'transformer', and upper_rows 'tokens'" \
      ran-train tag --init "$encoder" --frozen --upper $upper -o m.ran train.jsonl
  done
  refused 2 '--upper is for ran-train classify and tag' ran-train mlm --init "$encoder" --upper ran -o m.ran documents.jsonl
}
