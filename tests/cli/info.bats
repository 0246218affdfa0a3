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
  [[ $output == *'several labels each '*' no'* ]]
  [[ $output == *'ran-classify -m linear.ran'* ]]
  [[ $output == *'linear model only'* ]]
  [[ $output == *'warm, wet, white (3)'* ]]
  [[ $output == *'60 (documents, with those held out for validation)'*'documents 6, metric accuracy'* ]]
  [[ $output == *'95 % interval'* ]]
  [ "$(awk 'length > 80' <<<"$output")" = '' ]
}

@test "info: a model, as JSON that agrees with the file" {
  ran-train info --format json linear.ran >info
  [ "$(jq -r .kind info)" = model ]
  same_output "jq .bytes info" "stat -c %s linear.ran"
  same_output "jq '[.parts[].bytes] | add' info" "stat -c %s linear.ran"
  [ "$(jq -c .labels info)" = '["warm","wet","white"]' ]
  [ "$(jq -c '[.trained_on, .validation.documents]' info)" = '[60,6]' ]
  jq -e '.validation | .interval[0] < .value and .value <= .interval[1]' info
  training linear.ran | jq -S . >said
  jq -S .training info | diff said -
}

# The words are the same in all documents of two labels, whose order tells; a third label has a word of its own.
order() {
  awk 'BEGIN { for (i = 0; i < 240; i++)
    printf "{\"body\":\"number %d: %s\",\"label\":\"%s\"}\n", i,
      i % 3 == 0 ? "hot not here" : i % 3 == 1 ? "not hot here" : "snow here", i % 3 == 0 ? "warm" : i % 3 == 1 ? "cold" : "white" }'
}

@test "info: --top names the n-grams that speak for a label, from texts or from the vocabulary" {
  order >order.jsonl
  for weights in f32 f16 i8; do
    ran-train classify -q --encoder none --base none --no-dev --weights $weights --min-count 1 --text-member body \
      -o order.ran order.jsonl
    ran-train info --format json --top 3 --texts order.jsonl --text-member body order.ran >top
    jq -e '.top | keys == ["cold", "warm", "white"] and all(.[]; length == 3 and (map(-.weight) | . == sort) and all(.[]; .weight > 0))' top
    jq -e '.top | ([.warm[].ngram] | index("hot not")) != null and ([.cold[].ngram] | index("not hot")) != null and
      ([.white[].ngram] | index("snow")) != null' top
    jq -e '[.top[][] | select(.ngram == "snow" or .ngram == "hot not" or .ngram == "not hot") | .count] | unique == [80]' top
    ran-train info --format json --top 3 order.ran >words
    jq -e '.top | ([.white[].ngram] | index("snow")) != null and all(.[][]; (.ngram | test(" ") | not) and (has("count") | not))' words
  done
  run -0 ran-train info --top 3 --texts order.jsonl --text-member body order.ran
  [[ $output == *$'\nwarm\nn-gram '*'hot not '*' 80'* ]]
  # All of a table or of several files, as everywhere.
  jq -r '[.body, .label] | @csv' order.jsonl | sed '1i "words","label"' >order.csv
  head -n 120 order.jsonl >one.jsonl; tail -n +121 order.jsonl >two.jsonl
  ran-train info --format json --top 3 --texts order.jsonl --text-member body order.ran | jq -S .top >whole
  ran-train info --format json --top 3 --texts one.jsonl --texts two.jsonl --text-member body order.ran | jq -S .top | cmp - whole
  ran-train info --format json --top 3 --texts order.csv --text-member words order.ran | jq -S .top | cmp - whole
}

@test "info: --top of several labels, of a hostile label, of what has no n-grams" {
  order | jq -c '.labels = [.label, "all\u001b[31m"] | del(.label)' | ran-train classify -q --encoder none --base none --no-dev \
    --min-count 1 --text-member body -o several.ran
  run -0 ran-train info --top 1 several.ran
  [[ $output != *$'\e'* ]]
  ran-train info --format json --top 1 several.ran | jq -e '.top | has("all\u001b[31m") and length == 4'
  run -2 ran-train info --texts order.jsonl linear.ran
  ran-tokenize learn -q -o vocab.json train.jsonl
  run -3 --separate-stderr ran-train info --top 1 vocab.json
  [[ $stderr == *'a vocabulary has no labels'* ]]
  ran-train classify -q --dim 8 --heads 1 --layers 1 --head-dim 8 --epochs 1 --wide 0 --base none -o encoder.ran train.jsonl
  run -3 --separate-stderr ran-train info --top 1 encoder.ran
  [[ $stderr == *'encoder.ran: --top: it has no linear model of n-grams'* ]]
  echo '{"text": ""}' >bad.jsonl
  run -1 --separate-stderr ran-train info --top 1 --texts bad.jsonl linear.ran
  run -3 --separate-stderr ran-train info --top 1 --texts nowhere.jsonl linear.ran
}

@test "info: a vocabulary, a checkpoint, what is none of these" {
  ran-tokenize learn -q -o vocab.json train.jsonl
  run -0 ran-train info vocab.json
  [ "${lines[0]}" = 'vocab.json: a vocabulary' ]
  [[ $output == *' tokens '* ]]
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
  grep -q '^training  wide_cost  *0  *1$' <<<"$output"
  grep -q '^training  dev_share  *0.1  *0.3$' <<<"$output"
  grep -q '^other.ran  *18  accuracy  ' <<<"$output"
  [[ $output == *'the intervals overlap'* ]]
  sed 's/wet/damp/' train.jsonl | ran-train classify -q --encoder none -o damp.ran
  run -1 ran-train diff linear.ran damp.ran
  grep -q '^labels only in the first  *wet$' <<<"$output"
  grep -q '^labels only in the second  *damp$' <<<"$output"
  run -1 ran-train diff --format json linear.ran damp.ran
  [ "$(jq -c '[.same, .labels_only]' <<<"$output")" = '[false,[["wet"],["damp"]]]' ]
  run -2 ran-train diff linear.ran
}
