#!/usr/bin/env bats
# `ran-train info` and `ran-train diff`: what a model is, and how two differ.

bats_require_minimum_version 1.5.0
load train.bash

setup_file() {
  PATH=${RAN_BIN:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 60 12 >train.jsonl
  ran-train classify -q --encoder none -o linear.ran train.jsonl
  ran-train classify -q --encoder none --wide-cost 1 --dev-share 0.3 -o other.ran train.jsonl
}

setup() {
  PATH=${RAN_BIN:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
}

@test "info: a model, for people" {
  run -0 ran-train info linear.ran
  [ "${lines[0]}" = 'linear.ran: a model' ]
  [[ $output == *'classify: labels documents, one label each'* ]]
  [[ $output == *'ran-classify -m linear.ran'* ]]
  [[ $output == *'linear model only; trained with --encoder none'* ]]
  [[ $output == *'3: warm, wet, white'* ]]
  [[ $output == *'60 documents, 6 of them held out'* ]]
  [[ $output == *'95 % interval'* ]]
  [ "$(awk 'length > 80' <<<"$output")" = '' ]
}

@test "info: a model, as JSON that agrees with the file" {
  ran-train info --format json linear.ran >info
  [ "$(jq -r .kind info)" = model ]
  [ "$(jq .bytes info)" = "$(stat -c %s linear.ran)" ]
  [ "$(jq '[.parts[].bytes] | add' info)" = "$(stat -c %s linear.ran)" ]
  [ "$(jq -c .labels info)" = '["warm","wet","white"]' ]
  [ "$(jq -c '[.trained_on, .validation.documents]' info)" = '[60,6]' ]
  jq -e '.validation | .interval[0] < .value and .value <= .interval[1]' info
  n=$(od -A n -t u8 -N 8 linear.ran)
  tail -c +9 linear.ran | head -c $n | jq -S '.__metadata__.training | fromjson' >said
  jq -S .training info | diff said -
}

@test "info: a vocabulary, a checkpoint, what is none of these" {
  ran-tokenize learn -q -o vocab.json train.jsonl
  run -0 ran-train info vocab.json
  [ "${lines[0]}" = 'vocab.json: a vocabulary' ]
  [[ $output == *' tokens, digest '* ]]
  run -3 ran-train info train.jsonl
  [[ $output == *train.jsonl:* ]]
  run -3 ran-train info nothing.here
  run -2 ran-train info
}

@test "info: a checkpoint says how far training came [all]" {
  ran-train classify -q --wide 0 --no-dev --epochs 1000000 --dim 8 --heads 1 --head-dim 8 --log steps \
    -o whole.ran train.jsonl 3>&- &
  wait_for step steps
  kill -INT $!
  wait $! || :
  [ -e whole.ran.ckpt ]
  run -0 ran-train info whole.ran.ckpt
  [ "${lines[0]}" = 'whole.ran.ckpt: a checkpoint of an interrupted training' ]
  [[ $output == *--resume* ]]
  ran-train info --format json whole.ran.ckpt | jq -e '.kind == "checkpoint" and .progress.steps >= 0'
}

@test "info: labels and names that could steer a terminal" {
  awk '{ printf "{\"text\":\"word%d here\",\"label\":\"%s\"}\n", NR % 2, NR % 2 ? "a\\u001b[31m" : "b" }' \
    train.jsonl >hostile.jsonl
  ran-train classify -q --encoder none -o hostile.ran hostile.jsonl
  ran-train info hostile.ran >text
  [ "$(tr -d '\n[:print:]' <text | wc -c)" -eq 0 ]
  [ "$(ran-train info --format json hostile.ran | jq -c .labels)" = '["a\u001b[31m","b"]' ]
}

@test "diff: settings, labels, results" {
  run -0 ran-train diff linear.ran linear.ran
  [ -z "$output" ]
  run -1 ran-train diff linear.ran other.ran
  [[ $output == *'training, wide_cost: 0 and 1'* ]]
  [[ $output == *'training, dev_share: 0.1 and 0.3'* ]]
  [[ $output == *'on 18 validation documents'* ]]
  [[ $output == *'the intervals overlap'* ]]
  sed 's/wet/damp/' train.jsonl | ran-train classify -q --encoder none -o damp.ran
  run -1 ran-train diff linear.ran damp.ran
  [[ $output == *'labels only in linear.ran: ["wet"]'* ]]
  [[ $output == *'labels only in damp.ran: ["damp"]'* ]]
  run -1 ran-train diff --format json linear.ran damp.ran
  [ "$(jq -c '[.same, .labels_only]' <<<"$output")" = '[false,[["wet"],["damp"]]]' ]
  run -2 ran-train diff linear.ran
}
