#!/usr/bin/env bats
# Numbers at the ends of what a float can hold, in weights and in word vectors; trainings that leave
# them; and a locale that writes them otherwise.

bats_require_minimum_version 1.5.0
load train.bash

setup_file() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 30 20 >train.jsonl
  ran-tokenize learn -q -o vocab.json train.jsonl
  shape='-q --no-early-stop --layers 1 --heads 2 --head-dim 4 --window 16 --epochs 1 --vocab vocab.json'
  ran-train classify $shape --dim 8 --min-window 4 --wide 0 -o classify.ran train.jsonl
  ran-train lm $shape --dim 8 --min-window 1 -o lm.ran train.jsonl
}

setup() {
  cd "$BATS_FILE_TMPDIR"
  shape='-q --no-early-stop --layers 1 --heads 2 --head-dim 4 --window 16 --min-window 4 --epochs 1 --vocab vocab.json'
}

# all_weights BYTES MODEL NEW: the model with these four bytes, as printf has them, for each weight.
all_weights() {
  local data from to
  cp "$2" "$3"
  data=$((8 + $(od -An -t u8 -N 8 "$2")))
  # Those side by side as one: a few processes in the place of hundreds.
  header "$2" | jq -r 'to_entries[] | select(.value.dtype == "F32") | .value.data_offsets | "\(.[0]) \(.[1])"' | sort -n |
    awk 'NR == 1 || $1 != to { if (NR > 1) print from, to; from = $1 } { to = $2 } END { print from, to }' >tensors
  [ -s tensors ]
  while read -r from to; do
    # shellcheck disable=SC2059 # the escapes are to be expanded, once for each number
    printf "$1%.0s" $(seq $(((to - from) / 4))) | dd of="$3" bs=4096 seek=$((data + from)) oflag=seek_bytes conv=notrunc status=none
  done <tensors
}

@test "numbers: weights as small as they get give results; weights too large give none, and say so [all]" {
  # 1.4e-45, -1.4e-45, 1.2e-38 (the smallest that is no denormal) and 1e-20
  for bytes in '\001\0\0\0' '\001\0\0\200' '\0\0\200\0' '\010\345\074\036'; do
    all_weights "$bytes" classify.ran tiny.ran
    run -0 ran-classify -m tiny.ran --probs train.jsonl
    jq -s -e 'length == 30 and all([.prediction.probs[]] | add > 0.9999 and add < 1.0001 and max < 0.34)' <<<"$output"
    all_weights "$bytes" lm.ran tiny.ran
    run -0 ran-lm score -m tiny.ran train.jsonl
    jq -s -e 'length == 30 and all(.lm.bits_per_byte > 0)' <<<"$output"
    run -0 ran-lm generate -m tiny.ran --max-new 3 --prompt word1
  done
  # 3.4e38
  for model in classify lm; do
    all_weights '\377\377\177\177' $model.ran huge.ran
    [ $model = classify ] && what=ran-classify || what='ran-lm score'
    run -1 --separate-stderr $what -m huge.ran train.jsonl
    [ "$(grep -c "the model's result is no number" <<<"$output")" -eq 30 ]
  done
  # Whoever asks is told before.
  run -3 --separate-stderr ran-classify -m huge.ran --verify train.jsonl
  [[ $stderr == *digest* ]]
}

# vectors NUMBER: a file of word vectors of it.
vectors() {
  for word in rain sun snow word0 word1; do echo "$word $1 -$1 $1 0 0 0 0 $1"; done
}

@test "numbers: word vectors may hold numbers as small as they get; what no float can hold is refused [all]" {
  for x in 1e-45 1e-46 1e-400 1.17549e-38 0; do
    for rms in 0 0.1; do
      vectors $x >vectors.txt
      ran-train classify $shape --vectors vectors.txt --vectors-rms $rms -o v.ran train.jsonl
      run -0 ran-classify -m v.ran --verify --probs train.jsonl
      jq -s -e 'length == 30 and all([.prediction.probs[]] | add > 0.9999 and add < 1.0001)' <<<"$output"
    done
  done
  for x in 1e39 1e400 inf nan; do
    vectors $x >vectors.txt
    refused 3 "vectors.txt:1: '$x' is not a finite number" ran-train classify $shape --vectors vectors.txt -o no.ran train.jsonl
  done
  [ ! -e no.ran ]
}

@test "numbers: a training that diverges ends with 4, and an earlier model stays" {
  vectors 3e38 >vectors.txt
  cp classify.ran m.ran
  refused 4 'training diverged in epoch 1, step 1: the loss is not finite' \
    ran-train classify $shape --vectors vectors.txt --vectors-rms 0 -o m.ran train.jsonl
  cmp m.ran classify.ran
  [ ! -e m.ran.ckpt ]
}

@test "numbers: a training that diverges in the last step of an epoch ends with 4, and leaves no model" {
  export RAN_ISA=portable
  documents 60 >sixty.jsonl
  wild='-q --dim 16 --layers 1 --heads 2 --head-dim 8 --window 16 --wide 0 --epochs 1 --learning-rate 100
    --schedule constant --warmup 0 --clip 0 --beta1 0.99 --beta2 0 --epsilon 1e-12'
  for settings in '--encoder transformer --batch 16' '--encoder contextualizer --batch 24 --no-refit'; do
    refused 4 'the result for the validation documents is not finite (learning rate 100)' \
      ran-train classify $wild --dev-share 0.2 $settings -o no.ran sixty.jsonl
    [ ! -e no.ran ]
    [ ! -e no.ran.ckpt ]
  done
  refused 4 'training diverged in epoch 1, step 2: the loss after it is not finite' \
    ran-train classify $wild --no-dev --encoder contextualizer --batch 30 -o no.ran sixty.jsonl
  [ ! -e no.ran ]
}

# everything COMMAND...: what the programs write, run by COMMAND, into a folder.
everything() {
  local out=$1
  shift
  mkdir "$out"
  printf '{"dropout": 0.125, "learning_rate": 1.5e-3}' >config.json
  vectors 0.25 >vectors.txt
  "$@" ran-tokenize learn -q -o "$out/vocab" train.jsonl
  "$@" ran-train classify $shape --config config.json --vectors vectors.txt -o "$out/classify" train.jsonl
  "$@" ran-train classify --config config.json --print-config >"$out/config"
  "$@" ran-train classify --check --check-format text train.jsonl >"$out/check"
  "$@" ran-classify -m classify.ran --probs --threshold 0.25 train.jsonl >"$out/labels"
  "$@" ran-classify -m classify.ran --eval --eval-format text train.jsonl >"$out/eval"
  "$@" ran-lm score -m lm.ran --cache 20 train.jsonl >"$out/scores"
  "$@" ran-lm generate -m lm.ran --prompt word1 --top-p 0.9 --temperature 0.5 --max-new 5 >"$out/text"
  "$@" ran-attnmask -m classify.ran --top 2 train.jsonl >"$out/attention"
  "$@" ran-attnmask --attention dispersed --window 4 --length 20 --format svg >"$out/grid.svg"
  "$@" ran-attnmask --attention dispersed --length 1000 --count >"$out/count"
}

@test "numbers: a locale with a decimal comma changes nothing, in any program [all]" {
  localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" 2>/dev/null || skip 'no locale with a comma'
  german="env LOCPATH=$PWD LC_ALL=de_DE.UTF-8"
  [ "$($german printf %.1f 1)" = 1,0 ]
  everything C env
  everything German $german
  diff -r C German
}
