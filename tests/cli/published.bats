#!/usr/bin/env bats
# --cell published: the RAN of the authors' package, for every task; and their folders of pretrained weights, which
# tests/unit/test-published.c compares with the package's numbers.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  folders=$(cd "$BATS_TEST_DIRNAME/../published" && pwd)
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail # jq -e has nothing to say about no input
}

shape='-q --cell published --dim 16 --layers 2 --heads 2 --head-dim 8 --window 4 --no-dev --dropout 0
  --embed-dropout 0 --learning-rate 0.01'

@test "published: it learns to classify, with every part left out, too [all]" {
  export RAN_ISA=portable
  animals 60 >train.jsonl
  for options in '' --no-review --no-residual --no-rotary '--pooling mean' '--cell-pooling mean' '--cell-pooling max'; do
    learns $shape --wide 0 --epochs 20 $options
  done
}

@test "published: it tags, predicts and fills [all]" {
  tags_predicts_fills "$shape --wide 0 --epochs 20" "$shape --epochs 20" "$shape --epochs 100 --learning-rate 0.003"
}

@test "published: a document in parts scores as the whole, also within a window" {
  parts_are_whole $shape # in windows of four
}

@test "published: it is the same model with more threads, in chunks, and again" {
  animals 40 | jq -s -c '{text: map(.text) | join(" ")}' >train.jsonl
  animals 40 >>train.jsonl
  ran-train lm $shape --epochs 2 --bptt 2 -o whole.ran train.jsonl
  ran-train lm $shape --epochs 2 --bptt 2 --jobs 3 -o threads.ran train.jsonl
  cmp whole.ran threads.ran
  ran-train lm --replay whole.ran train.jsonl
}

@test "published: --cell-pooling is for its cells, and cls is none of a document" {
  animals 6 >train.jsonl
  run -2 ran-train classify --cell-pooling mean -o m.ran train.jsonl
  [[ $output == *'--cell-pooling is for --cell published'* ]]
  run -2 ran-train classify --cell published --cell-pooling cls -o m.ran train.jsonl
  [[ $output == *"cell_pooling must be 'last', 'mean' or 'max', not 'cls'"* ]]
}

@test "published: ran-train import says what a folder is; the model and the folder give the same vectors" {
  run -0 --separate-stderr ran-train import -o pooled.ran "$folders/pooled"
  [ -z "$output" ]
  [[ $stderr == *'pooled.ran: pooled: rannet, 3 layers, width 10, 6 tokens a window, pooling mean, no licence named'* ]]
  ran-train info --format json pooled.ran | jq -e '.task == "embed" and .pretrained.model_type == "rannet"'
  animals 4 >texts.jsonl
  ran-classify --embed -m pooled.ran texts.jsonl >model.jsonl
  ran-classify --embed -m "$folders/pooled" texts.jsonl | cmp - model.jsonl
  jq -s -e 'all(.prediction.embedding | length == 10)' model.jsonl
}

@test "published: its masked language model fills in masked tokens as the package does" {
  jq -c 'select(.name == "fill") | {text}' "$folders/masked/expected.jsonl" | ran-lm fill -m "$folders/masked" --top 1 |
    jq -c '[.lm.masks[].candidates[0] | .piece, (.probability * 1000 | round)]' >got
  jq -c 'select(.name == "fill") | [.masks[].top[0] | .token, (.log_probability | exp * 1000 | round)]' \
    "$folders/masked/expected.jsonl" | cmp - got
  ran-classify --embed -m "$folders/masked" <(animals 2) | jq -s -e 'all(.prediction.embedding | length == 12)'
}

@test "published: it is tuned for labels and tags, or serves as it is [all]" {
  animals 60 >train.jsonl
  for folder in masked pooled; do
    ran-train import -q -o start.ran "$folders/$folder"
    ran-train classify -q --init "$folders/$folder" --frozen -o frozen.ran train.jsonl
    for tensor in embed.weight ran.0.attn.q.weight ran.1.review.out.weight; do
      same_output "bytes_of start.ran $tensor" "bytes_of frozen.ran $tensor"
    done
    ran-classify -m frozen.ran --eval train.jsonl | jq -e '.accuracy > 0.9'
    ran-train classify -q --init "$folders/$folder" --wide 0 --no-dev --epochs 1 -o tuned.ran train.jsonl
    header tuned.ran | jq -e --argjson from "$(header start.ran | jq '.__metadata__.config | fromjson')" \
      '.__metadata__.config | fromjson | .cell == "published" and .cell_pooling == $from.cell_pooling and
        .window == $from.window and .min_window == $from.min_window and .dim == $from.dim and .encoder == "ran"'
    [ "$(bytes_of start.ran ran.0.attn.q.weight)" != "$(bytes_of tuned.ran ran.0.attn.q.weight)" ]
  done
  # It forgets less at a small rate, as other pretrained encoders do; what was trained here learns on.
  [ "$(header tuned.ran | jq '.__metadata__.training | fromjson | .. | .init_rate? // empty')" = 0.03 ]
  ran-train mlm $shape --epochs 1 -o own.ran train.jsonl
  ran-train classify -q --init own.ran --wide 0 --no-dev --epochs 1 -o again.ran train.jsonl
  [ "$(header again.ran | jq '.__metadata__.training | fromjson | .. | .init_rate? // empty')" = 1 ]
  # What stands for a document is not of the weights.
  ran-train classify -q --init "$folders/pooled" --cell-pooling max --frozen -o max.ran train.jsonl
  header max.ran | jq -e '.__metadata__.config | fromjson.cell_pooling == "max"'
  ran-train tag -q --init "$folders/masked" --wide 0 --no-dev --epochs 1 -o tags.ran train.jsonl
  ran-tag -m tags.ran train.jsonl | jq -s -e 'length == 60'
}

@test "published: a damaged folder is refused, and nothing is written" {
  cp -R "$folders/pooled" folder
  head -c 3000 "$folders/pooled/model.ckpt.index" >folder/model.ckpt.index
  run ! ran-train import -o m.ran folder
  [[ $output == *'folder: model.ckpt: the index is cut, or it is no index of a TensorFlow checkpoint'* ]]
  [ ! -e m.ran ]
  # With BERT's configuration it is a checkpoint of another model, which is not read.
  cp "$folders/../encoders/bert/config.json" other.json
  cp -R folder other
  mv other.json other/config.json
  run ! ran-train import -o m.ran other
  [[ $output == *'other: it has no model.safetensors; model.ckpt.index is the table of a checkpoint of TensorFlow'* ]]
  rm folder/model.ckpt.index
  run ! ran-classify --embed -m folder <<<'{"text":"a"}'
  [[ $output == *'folder: its config.json is that of the package rannet, but it has no checkpoint'* ]]
}
