#!/usr/bin/env bats
# --encoder none: the linear model alone; and models whose encoder did not help, which are the same.

bats_require_minimum_version 1.5.0
load train.bash

# tagged N: as many records of words, with the tag of each.
tagged() {
  awk -v n="$1" 'BEGIN {
    split("Ann Bob Eve", name)
    for (i = 1; i <= n; i++)
      printf "{\"id\":%d,\"tokens\":[\"word%d\",\"meets\",\"%s\",\"Smith\",\"today\"],\"tags\":[\"O\",\"O\",\"B-PER\",\"I-PER\",\"O\"]}\n",
        i, i % 5, name[i % 3 + 1]
  }'
}

setup_file() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 120 30 >train.jsonl
  documents 30 20 >test.jsonl
  tagged 60 >tags.jsonl
  ran-train classify -q --encoder none -o none.ran train.jsonl
  ran-train tag -q --encoder none -o tags.ran tags.jsonl
  # A learning rate of nothing: the encoder cannot help.
  ran-train classify -q --dim 8 --heads 2 --head-dim 4 --epochs 2 --learning-rate 1e-12 --no-early-stop \
    -o dropped.ran train.jsonl
}

setup() {
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  cp "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl .
  set -o pipefail
}

# tensors MODEL: their names.
tensors() {
  header "$1" | jq -r 'del(.__metadata__) | keys | join(" ")'
}

@test "linear-only: a classifier learns, scores and evaluates, and its file has no encoder" {
  run -0 --separate-stderr ran-train classify --encoder none -o m.ran train.jsonl
  [[ $stderr == *'linear model: validation accuracy '*' of 12, '*'; it is refitted on all documents'* ]]
  [[ $stderr != *epoch* && $stderr != *step* ]]
  cmp m.ran none.ran
  [ "$(tensors m.ran)" = 'tokenizer.json train.documents wide.bias wide.idf wide.rows wide.weight' ]
  training m.ran | jq -e '.paths.deep == 0 and .paths.wide > 0 and .learned_from == 120 and
    (.dev_metric | has("micro_f1")) and (has("best_epoch") or has("tried") | not)'
  ran-classify -m m.ran --eval test.jsonl | jq -e '.accuracy > 0.9'
  ran-classify -m m.ran --probs --logits test.jsonl |
    jq -se 'length == 30 and all(.[].prediction; (.probs | add - 1 | fabs < 1e-5) and (.logits | length) == 3)'
  # Buckets ascend, and no row is zeros.
  [ "$(stat -c %s m.ran)" -lt 100000 ]
}

@test "linear-only: the same bytes for any number of threads, and split over jobs" {
  ran-train classify -q -j 1 --encoder none -o one.ran train.jsonl
  ran-train classify -q -j 3 --encoder none -o three.ran train.jsonl
  cmp one.ran three.ran
  # With two labels a second thread fits all documents while the first fits those of training.
  jq -c 'select(.label != "white")' train.jsonl >two.jsonl
  [ "$(jq -s 'map(.label) | unique | length' two.jsonl)" = 2 ]
  for jobs in 1 2 3; do
    ran-train classify -q -j $jobs --encoder none -o two-$jobs.ran two.jsonl
  done
  cmp two-1.ran two-2.ran
  cmp two-1.ran two-3.ran
  ran-classify -m one.ran test.jsonl >whole.jsonl
  { ran-classify -m one.ran --shard 1/2 test.jsonl && ran-classify -m one.ran --shard 2/2 test.jsonl; } |
    sort | diff - <(sort whole.jsonl)
}

@test "linear-only: evidence, coverage and attribution" {
  ran-classify -m none.ran --evidence 1 --evidence-length 2 test.jsonl >out.jsonl
  jq -se 'map(select(.prediction.evidence | length > 0) |
    .prediction.evidence[0].text | test("rain|sun|snow")) | length > 20 and (map(select(.)) | length) > 0.8 * length' out.jsonl
  ran-train classify -q --encoder none --dev test.jsonl -o m.ran train.jsonl
  ran-classify -m m.ran --coverage 0.9 test.jsonl | jq -se 'all(.[].prediction; has("set"))'
  head -n 1 test.jsonl | ran-attnmask -m none.ran --map label |
    jq -e '.attention.map == "label"'
}

@test "linear-only: several labels, thresholds, class weights and soft labels" {
  jq -c '.labels = [.label, "any"] | del(.label)' train.jsonl >several.jsonl
  ran-train classify -q --encoder none -o s.ran several.jsonl
  training s.ran | jq -e '.thresholds | length == 4'
  ran-classify -m s.ran several.jsonl | jq -se 'map([.prediction.labels[].label] == ([.labels[]] | sort)) | map(select(.)) | length > 100'
  ran-train classify -q --encoder none --class-weights balanced -o b.ran train.jsonl
  ran-classify -m none.ran --probs --into soft train.jsonl | jq -c '.soft |= .probs | del(.label)' >soft.jsonl
  ran-train classify -q --encoder none --soft-label soft -o soft.ran soft.jsonl
  ran-classify -m soft.ran --eval test.jsonl | jq -e '.accuracy > 0.8'
}

# The offset is in the biases of the model, of the linear model or, where that is left out, of the encoder.
@test "linear-only: several labels have the loss in scoring that they had in validation [all]" {
  jq -c '.labels = [.label] | del(.label)' train.jsonl >several.jsonl
  jq -c '.labels = [.label] | del(.label)' test.jsonl >dev.jsonl
  for how in '--encoder none' '--dim 8 --heads 2 --head-dim 4 --epochs 1 --no-early-stop'; do
    ran-train classify -q $how --no-refit --dev dev.jsonl --log log -o m.ran several.jsonl
    training m.ran | jq -e '.paths.offset != 0'
    loss=$(jq -r 'select(.event == "fitted" or .event == "dev") | .linear_loss // .dev.loss' log | head -1)
    ran-classify -m m.ran --eval dev.jsonl | jq -e --argjson loss "$loss" '(.log_loss - $loss) | fabs < 1e-6'
  done
}

@test "linear-only: a tagger learns, tags and evaluates" {
  [ "$(tensors tags.ran)" = 'crf.end crf.start crf.transition tokenizer.json train.documents wide.bias wide.rows wide.weight' ]
  ran-tag -m tags.ran --eval tags.jsonl | grep -q 'FB1: *100.00'
  echo '{"text":"word1 meets Bob Smith today"}' | ran-tag -m tags.ran |
    jq -e '[.prediction.entities[].text] == ["Bob Smith"]'
  ran-train tag -q --encoder none --no-dev -o t.ran tags.jsonl
  training t.ran | jq -e '.paths.wide == 1'
}

@test "linear-only: documents of bare ids, of which any is hashed" {
  for i in {1..40}; do echo "{\"ids\":[$((i % 2 + 5)),$((i % 7 + 10)),9],\"label\":\"$((i % 2))\"}"; done >ids.jsonl
  ran-train classify -q --encoder none -o ids.ran ids.jsonl
  echo '{"ids":[4294967294,6]}' | ran-classify -m ids.ran | jq -e '.prediction.label == "1"'
}

@test "linear-only: an interrupted training is resumed [all]" {
  documents 6000 | jq -c '.text += " x\(.id % 997) y\(.id % 499) z\(.id % 251)" | .label = "\(.id % 60)"' >many.jsonl
  ran-train classify -q --encoder none -o whole.ran many.jsonl
  [ ! -e whole.ran.ckpt ]
  ran-train classify --progress always --encoder none -o m.ran many.jsonl 2>said &
  pid=$!
  wait_for 'linear model' said
  kill -INT $pid
  wait $pid || [ $? -eq 130 ]
  [ -e m.ran.ckpt ]
  ran-classify -m m.ran.ckpt test.jsonl >out.jsonl
  ran-train classify -q --encoder none --resume -o m.ran many.jsonl
  cmp m.ran whole.ran
  [ ! -e m.ran.ckpt ]
}

@test "linear-only: replay, of what was dropped too" {
  run -0 --separate-stderr ran-train classify --replay none.ran train.jsonl
  [[ $stderr == *'none.ran is reproduced, byte for byte' ]]
  run -0 --separate-stderr ran-train classify -j 3 --replay dropped.ran train.jsonl
  [[ $stderr == *'dropped.ran is reproduced, byte for byte' ]]
  run -0 --separate-stderr ran-train tag --replay tags.ran tags.jsonl
  [[ $stderr == *'tags.ran is reproduced, byte for byte' ]]
}

@test "linear-only: --init brings vocabulary and linear model, of whatever encoder" {
  ran-train classify -q --dim 8 --heads 2 --head-dim 4 --epochs 1 --no-dev -o ran.ran train.jsonl
  run -0 --separate-stderr ran-train classify --encoder none --init ran.ran -o m.ran train.jsonl
  [[ $stderr == *'vocabulary and linear model are initialised from ran.ran'* ]]
  run -0 --separate-stderr ran-train classify --init none.ran -o m.ran train.jsonl
  [[ $stderr == *'vocabulary and linear model are initialised from none.ran'* ]]
  [ "$(header m.ran | jq -r '.__metadata__.config | fromjson.encoder')" = none ]
  sed 's/"warm"/"hot"/' train.jsonl >other.jsonl
  run -0 --separate-stderr ran-train classify --init none.ran -o m.ran other.jsonl
  [[ $stderr == *'vocabulary is initialised from none.ran'* ]]
}

@test "linear-only: the search tries the settings that it has [all]" {
  ran-train classify --encoder none --tune 1 -q --log log -o m.ran train.jsonl
  training m.ran | jq -e '.seed == 1'
  jq -se '[.[] | select(.event == "wide") | .trial] | max > 1' log
  ran-train classify -q --encoder none -o given.ran train.jsonl
  paste <(ran-classify -m m.ran --eval test.jsonl | jq .accuracy) <(ran-classify -m given.ran --eval test.jsonl | jq .accuracy) |
    awk '{ exit !($1 > 0.8 && $2 > 0.8) }'
}

@test "linear-only: dry run and log" {
  run -0 --separate-stderr ran-train classify --encoder none --dry-run train.jsonl
  [[ $output == *'for the linear model, on '* && $output != *steps* && $output != *epoch* ]]
  [ ! -e m.ran ]
  ran-train classify --encoder none --dry-run --no-dev train.jsonl
  ran-train classify -q --encoder none --log log -o m.ran train.jsonl
  jq -se 'map(.event) | index("step") == null and (.[-1] == "end") and index("wide") != null and index("dev") != null' log
}

@test "linear-only: what needs an encoder is refused" {
  refused 2 'none.ran has no encoder (--encoder none): train with --wide 0 to get one' ran-classify -m none.ran --embed test.jsonl
  refused 2 'dropped.ran has no encoder (training found no use for one): train with --wide 0 to get one' \
    ran-classify -m dropped.ran --embed test.jsonl
  for option in '--map tokens' '--format html' '--layer 0' ''; do
    # shellcheck disable=SC2086 # of several words
    refused 2 'none.ran has a linear model, and no layers: ' \
      ran-attnmask -m none.ran $option test.jsonl
  done
  refused 2 'none.ran has no encoder' "$RAN_BIN/tests/dump-gradients" classify -o g -m none.ran train.jsonl
  refused 2 'none.ran has no encoder' ran-train classify --encoder ran --init none.ran -o m.ran train.jsonl
  refused 2 'dropped.ran has no encoder (training found no use for one)' ran-train lm --init dropped.ran -o m.ran train.jsonl
  refused 2 'wide must be above 0' ran-train classify --encoder none --wide 0 -o m.ran train.jsonl
  refused 2 "for 'lm' the encoder must be" ran-train lm --encoder none -o m.ran train.jsonl
  refused 2 "for 'mlm' the encoder must be" ran-train mlm --encoder none -o m.ran train.jsonl
  echo 'rain 1 2' >vectors.txt
  refused 2 'leave it out with --encoder none' ran-train classify --encoder none --vectors vectors.txt -o m.ran train.jsonl
}

@test "linear-only: an encoder that does not help is not in the model" {
  run -0 --separate-stderr ran-train classify --dim 8 --heads 2 --head-dim 4 --epochs 2 --learning-rate 1e-12 --no-early-stop \
    -o m.ran train.jsonl
  [[ $stderr == *'linear model only: the encoder did not improve results enough on 12 validation documents'* ]]
  [[ $stderr == *'refitting the linear model on all 120 documents'* ]]
  cmp m.ran dropped.ran
  same_output "tensors m.ran" "tensors none.ran"
  training m.ran | jq -e '.tried | .encoder == "ran" and .dim == 8 and has("layers") and (has("wide") | not)'
  same_output "ran-classify -m m.ran --logits test.jsonl" "ran-classify -m none.ran --logits test.jsonl"
}

@test "linear-only: near-duplicates by meaning needs an encoder" {
  run --separate-stderr "$BATS_TEST_DIRNAME/../../share/examples/near-duplicates" -m none.ran test.jsonl
  [ "$status" -eq 2 ]
  [[ $stderr == *'has no encoder'* ]]
}

@test "linear-only: without validation documents, cross-validation finds the offset of several labels" {
  jq -c '.labels = [.label] | del(.label)' train.jsonl >several.jsonl
  jq -c '.labels = [.label] | del(.label)' test.jsonl >unseen.jsonl
  ran-train classify -q --encoder none --no-dev -o m.ran several.jsonl
  training m.ran | jq -e '.paths.offset < 0'
  ran-train classify -q --encoder none --no-dev --wide-cost 2 --wide-ratios no -o plain.ran several.jsonl
  for m in m plain; do
    ran-classify -m $m.ran --eval unseen.jsonl | jq .log_loss >$m.loss
  done
  awk 'NR == 1 { found = $1 } NR == 2 { exit !(found < 0.9 * $1) }' m.loss plain.loss
}
