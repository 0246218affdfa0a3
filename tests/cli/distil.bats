#!/usr/bin/env bats
# ran-train distil: a pretrained encoder distilled into vectors of tokens.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  encoder=$root/tests/encoders/sentence-mean
  PATH=$RAN_BIN:$PATH
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail
  awk 'BEGIN {
    n = split("rain wind sun sea snow storm cloud river stone tree bird fish road house door window", w, " ")
    for (i = 0; i < 400; i++) {
      text = ""
      for (k = 0; k < 5; k++) { x = (x * 16807 + i + 7) % 2147483647; text = text (k ? " " : "") w[x % n + 1] }
      printf "{\"text\":\"%s\",\"label\":\"%s\"}\n", text, x % 2 ? "wet" : "dry"
    }
  }' >texts.jsonl
}

distil() {
  ran-train distil -j 2 --teacher "$encoder" --dim 8 "$@"
}

@test "distil: a model of vectors, what was lost, and the file is gone that kept the teacher's" {
  run -0 --separate-stderr distil -o small.ran texts.jsonl
  [ -z "$output" ]
  [[ $stderr == *'learned a vocabulary of '*' tokens from 2000 words, 16 different'* ]]
  [[ $stderr =~ 'on 40 texts that were held out: mean cosine to the teacher'"'"'s vectors '(0\.[0-9]+|1\.000), ]]
  [ ! -e small.ran.vectors ]
  ran-train info --format json small.ran | jq -e '.task == "embed" and .training.distilled.held_out == 40 and
    .training.distilled.cosine > .training.distilled.cosine_before and .training.teacher.pretrained.name == "sentence-mean" and
    .training.train.documents == 400'
  ran-train info small.ran | grep -q 'distilled  *texts '
  ran-classify --embed -m small.ran texts.jsonl | jq -se 'length == 400 and all(.prediction.embedding | length == 8)'
}

@test "distil: the vector of a text is the mean of those of its tokens" {
  distil -q --weights f32 -o small.ran texts.jsonl
  printf '{"text":"%s"}\n' rain sun 'rain sun' 'RAIN  sun, qzx' |
    ran-classify --embed -m small.ran | jq -se 'map(.prediction.embedding // .embedding) | . as $v |
      [range(8) | (($v[0][.] + $v[1][.]) / 2 - $v[2][.]) | fabs] | max < 1e-6'
  # Id 7 alone has its row of the file, as it is.
  length=$(od -An -t u8 -N 8 small.ran)
  begin=$(head -c $((8 + length)) small.ran | tail -c +9 | jq '."embed.weight".data_offsets[0]')
  tail -c +$((8 + length + begin + 7 * 32 + 1)) small.ran | head -c 32 | od -An -v -t f4 | jq -cs . >row
  ran-classify --embed -m small.ran <<<'{"ids":[7]}' | jq -e --slurpfile row row '
    [.prediction.embedding, $row[0]] | transpose | length == 8 and all((.[0] - .[1] | fabs) < 1e-6)'
}

@test "distil: the same bytes with any number of threads, and from the cache" {
  distil -q -o one.ran texts.jsonl
  ran-train distil -q -j 1 --teacher "$encoder" --dim 8 --vector-cache v -o two.ran texts.jsonl
  cmp one.ran two.ran
  run -0 --separate-stderr distil --vector-cache v -o three.ran texts.jsonl
  [[ $stderr =~ ' vectors of the teacher were there, 0 were computed' ]]
  cmp one.ran three.ran
}

@test "distil: the model serves a classifier, whose vocabulary its words extend" {
  distil -q -o small.ran texts.jsonl
  run -0 --separate-stderr ran-train classify --init small.ran --encoder static -o labels.ran texts.jsonl
  ran-train info --format json labels.ran | jq -e '.config.encoder == "static" and .config.frozen'
  ran-classify -m labels.ran texts.jsonl | jq -se 'all(.prediction.label | IN("wet", "dry"))'
}

@test "distil: vectors of tokens have no layers, and so no attention to show, in any format" {
  local said='small.ran has vectors of tokens, and no layers: it has no attention, and no token influences another; ran-classify --embed gives'
  distil -q -o small.ran texts.jsonl
  for option in --map=tokens --format=svg --format=html --layer=all --rows=0:1 --only; do
    refused 2 "$said" ran-attnmask -m small.ran $option texts.jsonl
  done
  refused 2 '--map label: the model has no labels' ran-attnmask -m small.ran --map label texts.jsonl
  ran-train classify -q --init small.ran --encoder static -o labels.ran texts.jsonl
  refused 2 'labels.ran has vectors of tokens and a linear model, and no layers: ' ran-attnmask -m labels.ran --format svg texts.jsonl
  head -n 1 texts.jsonl | ran-attnmask -m labels.ran --map label | jq -e '.attention.map == "label"'
}

@test "distil: what is no teacher, and what is missing, is said" {
  run -2 ran-train distil -o m.ran texts.jsonl
  [[ ${lines[0]} == 'ran-train: no teacher: give --teacher FOLDER'* ]]
  run -2 distil texts.jsonl
  [[ ${lines[0]} == 'ran-train: no output file: give -o FILE'* ]]
  run -2 ran-train distil --teacher "$encoder" --dim 17 -o m.ran texts.jsonl
  [[ $output == *"the teacher's vectors have 16 numbers: dim may not be 17"* ]] || [ "$status" -eq 3 ]
  distil -q -o small.ran texts.jsonl
  run -3 ran-train distil --teacher small.ran -o m.ran texts.jsonl
  [[ $output == *'small.ran is no pretrained encoder of documents: give a folder of Sentence Transformers'* ]]
  head -n 1 texts.jsonl >one.jsonl
  run -3 distil -o m.ran one.jsonl
  [[ $output == *'1 texts: a distillation needs more'* ]]
  [ ! -e m.ran ]
}

@test "distil: an interrupted run keeps the vectors, and the same command goes on" {
  for _ in {1..10}; do cat texts.jsonl; done | awk '{ sub(/"text":"/, "&" NR " ") } 1' >many.jsonl
  ran-train distil -j 1 --teacher "$encoder" --dim 8 --epochs 10000 -o m.ran many.jsonl 2>log &
  pid=$!
  until [ -e m.ran.vectors ]; do
    kill -0 $pid
    sleep 0.1
  done
  kill -TERM $pid
  status=0
  wait $pid || status=$?
  [ "$status" -eq 143 ]
  grep -q 'interrupted; m.ran.vectors: the same command goes on' log
  [ -e m.ran.vectors ]
  [ ! -e m.ran ]
}

@test "distil: a model that cannot be written leaves the vectors, and the same command goes on" {
  run -3 distil --vector-cache v -o /dev/full texts.jsonl
  [[ $output == *'; v: the same command goes on' ]]
  run -0 --separate-stderr distil --vector-cache v -o small.ran texts.jsonl
  [[ $stderr =~ ' vectors of the teacher were there, 0 were computed' ]]
}
