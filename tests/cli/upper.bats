#!/usr/bin/env bats
# --upper: what makes the vector of a document of the windows of a pretrained encoder.

bats_require_minimum_version 1.5.0
load train.bash

# documents N: N documents of several windows, whose label is in the order of two words far apart.
documents() {
  local i filler='all the way to the north and the south of it and so on and on to the sea and the hills'
  for ((i = 0; i < $1; i++)); do
    if ((i % 2)); then
      printf '{"id":"%d","label":"wet","text":"rain %s %s %s %s sun %d"}\n' $i "$filler" "$filler" "$filler" "$filler" $i
    else
      printf '{"id":"%d","label":"dry","text":"sun %s %s %s %s rain %d"}\n' $i "$filler" "$filler" "$filler" "$filler" $i
    fi
  done
}

# train OPTION...: without a linear model.
train() {
  RAN_ISA=portable ran-train classify -q --init "$encoder" --wide 0 --epochs 2 "$@" train.jsonl
}

setup_file() {
  export PATH=$RAN_BIN:$PATH
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  export encoder=$root/tests/encoders/sentence-mean
  cd "$BATS_FILE_TMPDIR"
  documents 40 >train.jsonl
  train --frozen --upper certain -o certain.ran
  train --upper certain -o tuned.ran
  train --upper max -o max.ran
}

setup() {
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  cp "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl .
  set -o pipefail
}

@test "upper: the model says what is above its windows; a frozen encoder stays, byte for byte" {
  ran-train import -q -o encoder.ran "$encoder"
  for tensor in embed.weight bert.0.attn.q.weight bert.1.ffn.down.bias bert.embed_norm.weight; do
    bytes_of encoder.ran $tensor >expected
    [ -s expected ]
    bytes_of certain.ran $tensor | cmp - expected
  done
  bytes_of encoder.ran bert.0.attn.q.weight >expected
  bytes_of tuned.ran bert.0.attn.q.weight >tuned
  run -1 cmp expected tuned
  header certain.ran | jq -e '.["classify.out.weight"].shape == [2, 16] and (.__metadata__.config | fromjson | .upper == "certain")'
  run -0 ran-train info certain.ran
  [[ $(tr -s '\n ' ' ' <<<"$output") == *'bert (2 layers, width 16; above its windows: the most certain)'*'encoder only'* ]]
  run -0 ran-train info max.ran
  [[ $(tr -s '\n ' ' ' <<<"$output") == *'above its windows: maximum'* ]]
}

@test "upper: threads and --replay give the same bytes" {
  train --frozen --upper certain -j 3 -o again.ran
  cmp certain.ran again.ran
  RAN_ISA=portable run -0 ran-train classify --replay certain.ran --init "$encoder" train.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  train --upper certain -j 3 -o again.ran
  cmp tuned.ran again.ran
}

@test "upper: a document's answer depends on it alone" {
  for model in *.ran; do
    ran-classify -q -m $model --probs train.jsonl >all.jsonl
    ran-classify -q -j 3 -m $model --probs train.jsonl | cmp - all.jsonl
    while IFS= read -r line; do
      ran-classify -q -m $model --probs <<<"$line"
    done < <(head -n 3 train.jsonl) | cmp - <(head -n 3 all.jsonl)
  done
}

@test "upper: attribution and evidence are of the window; the vector is what the head reads" {
  for model in certain tuned; do
    head -n 2 train.jsonl | ran-attnmask -m $model.ran --map label --top 3 |
      jq -es 'map(.attention.top | length) == [3, 3] and all(.[].attention.top[]; .value != 0)'
    head -n 2 train.jsonl | ran-classify -q -m $model.ran --evidence 2 | jq -es 'all(.[]; .prediction | has("evidence"))'
  done
  ran-classify -q -m certain.ran --embed train.jsonl | jq -es 'all(.[]; .prediction.embedding | length == 16)'
}

@test "upper: mean and max of windows are vectors for the linear model, too" {
  for kind in mean max; do
    ran-train classify -q --init "$encoder" --frozen --upper $kind -o $kind.ran train.jsonl
    ran-classify -q -m $kind.ran train.jsonl | jq -es 'length == 40'
  done
  run -1 cmp mean.ran max.ran
}

@test "upper: what it does not go with is said" {
  run -2 --separate-stderr ran-train classify --upper certain -o m.ran train.jsonl
  [[ $stderr == *'needs a pretrained encoder: give --init MODEL'* ]]
  run -2 --separate-stderr ran-train classify --init english --upper certain -o m.ran train.jsonl
  [[ $stderr == *"upper stands above the windows of a pretrained encoder, not of the encoder 'ran'"* ]]
  [ ! -e m.ran ]
}

@test "upper: the windows of a pretrained classifier are joined in another way on request" {
  classifier=$(dirname "$encoder")/bert-classifier
  head -n 1 train.jsonl | jq -c '{text}' >long.jsonl
  for kind in model mean max certain; do
    ran-classify -q -m "$classifier" --logits --join-windows $kind long.jsonl | jq -c .prediction.logits >$kind
  done
  cmp model mean
  run -1 cmp mean certain
  run -1 cmp max certain
  # a document of one window is the same in all ways
  ran-classify -q -m "$classifier" --logits <<<'{"text":"rain"}' >short
  for kind in model mean max certain; do
    ran-classify -q -m "$classifier" --logits --join-windows $kind <<<'{"text":"rain"}' >again
    cmp short again
  done
  ran-train classify -q --encoder none -o linear.ran train.jsonl
  run -2 --separate-stderr ran-classify -m linear.ran --join-windows certain long.jsonl
  [[ $stderr == *'--join-windows: linear.ran: only'* ]]
}

@test "upper: sets of what stands above hold the label, and count the calibrating documents exactly" {
  # each of another length, or equal ones would enter and leave a set together
  documents 40 | awk '{ for (i = 0; i < NR; i++) sub(/"}$/, i % 3 ? " hills\"}" : " sea\"}"); print }' >dev.jsonl
  train --frozen --upper certain --learning-rate 0.01 --dev dev.jsonl -o m.ran
  run -0 ran-train info --format json m.ran
  jq -e '.calibrated_on == 40' <<<"$output"
  for coverage in 0.6 0.9; do
    ran-classify -m m.ran --coverage $coverage --eval dev.jsonl |
      jq -e ".sets.coverage * 40 - (41 * $coverage | ceil) | . >= -1e-6 and . < 3"
  done
  ran-classify -m m.ran --coverage 0.9 --abstain dev.jsonl |
    jq -es 'length == 40 and all(.[]; (.prediction.label == null) == (.prediction.set | length != 1))'
}
