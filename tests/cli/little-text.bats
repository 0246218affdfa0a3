#!/usr/bin/env bats
# --base: a training on little text begins with a base model that knows its words.

bats_require_minimum_version 1.5.0
load train.bash

setup_file() {
  export PATH=$RAN_BIN:$PATH
  unset RAN_MODELS RAN_BASE
  cd "$BATS_FILE_TMPDIR" || exit
  documents 60 30 >train.jsonl
  mkdir models
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --window 16 --cell prenorm --epochs 1 -o models/english.ran train.jsonl
}

setup() {
  unset RAN_BASE
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  cp -R "$BATS_FILE_TMPDIR"/*.jsonl "$BATS_FILE_TMPDIR/models" .
  export RAN_MODELS=$PWD/models
  set -o pipefail
}

# begun OPTION...: whether a training with these says that it begins with the base model.
begun() {
  local said
  said=$(ran-train classify --dry-run "$@" train.jsonl 2>&1 >/dev/null) || { echo "$said" && return 2; }
  [[ $said == *'training begins with the base model'* ]]
}

# not_begun OPTION...: the opposite.
not_begun() {
  local code=0
  begun "$@" || code=$?
  [ $code = 1 ]
}

tags() {
  for _ in $(seq "$1"); do
    echo '{"tokens":["the","city","of","Rome","today"],"tags":["O","O","O","B-LOC","O"]}'
  done
}

@test "base: little text begins with it, as --init MODEL --encoder static does, byte for byte" {
  run -0 ran-train classify -o a.ran train.jsonl
  [[ $output == *' words are few: training begins with the base model english (--init english --encoder static); --base none does without'* ]]
  ran-train classify -q --base none --init english --encoder static -o b.ran train.jsonl
  cmp a.ran b.ran
  ran-train info --format json a.ran | jq -e '.encoder == "static" and .config.dim == 8 and .training.init.digest != null'
  run -0 ran-train info a.ran
  [[ $output == *'static, width 8'* ]]
}

@test "base: a model that began with it is replayed with --init" {
  ran-train classify -q -o a.ran train.jsonl
  run -2 ran-train classify --replay a.ran train.jsonl
  [[ $output == *'was trained with --init: give that file again'* ]]
  run -0 ran-train classify --replay a.ran --init english train.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
}

@test "base: vectors take part in labels, evidence and embedding" {
  ran-train classify -q --wide-cost 2 -o a.ran train.jsonl
  ran-classify -m a.ran --evidence 1 --embed train.jsonl >out.jsonl
  jq -e -s 'all(.prediction.embedding | length == 8)' out.jsonl
  jq -e -s 'all(.prediction.evidence | length == 1)' out.jsonl
}

@test "base: none, another name, or no model of that name" {
  begun
  not_begun --base none
  RAN_BASE=none not_begun
  RAN_BASE='' begun
  RAN_BASE=missing not_begun
  mv models/english.ran models/klingon.ran
  not_begun
  begun --base klingon
  RAN_BASE=klingon begun
  begun --base models/klingon.ran
  run -3 ran-train classify --base missing -o a.ran train.jsonl
  [[ $output == *"cannot open missing: No such file or directory, and there is no model of that name in $RAN_MODELS"* ]]
}

@test "base: options that ask for another beginning do without" {
  begun --seed 3 --wide-cost 1 --no-affixes --no-refit
  for option in '--dim 16' '--encoder none' '--wide 0' '--vocab-size 100' '--epochs 2' '--no-frozen' '--pretrain train.jsonl' \
    '--init english'; do
    read -ra words <<<"$option"
    not_begun "${words[@]}"
  done
  ran-tokenize learn -o vocab.json train.jsonl
  not_begun --vocab vocab.json
}

@test "base: another language, or more words than few, do without" {
  sed 's/"text": *"/&δεν ξέρω τι λένε οι λέξεις αυτές που δεν γνωρίζει κανένα μοντέλο της γλώσσας μας σήμερα εδώ και τώρα /' train.jsonl >greek.jsonl
  grep -q 'δεν' greek.jsonl
  run -0 ran-train classify --dry-run greek.jsonl
  [[ $output != *'base model'* ]]
  # 105 words in each line: 99,960 and 100,065 words
  line=$(for _ in $(seq 15); do printf 'rain word1 word2 word3 word4 word5 word6 '; done)
  for i in $(seq 953); do
    echo "{\"text\":\"$line\",\"label\":\"a$((i % 2))\"}"
  done >many.jsonl
  head -n 952 many.jsonl >most.jsonl
  run -0 ran-train classify --dry-run most.jsonl
  [[ $output == *'99960 words are few'* ]]
  run -0 ran-train classify --dry-run many.jsonl
  [[ $output != *'base model'* ]]
}

@test "base: a tagger begins with the whole encoder" {
  tags 20 >tagged.jsonl
  sed 's/.*/{"text":"the city of Rome today"}/' tagged.jsonl >plain.jsonl
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --window 16 --min-count 1 --cell prenorm --epochs 1 -o models/english.ran plain.jsonl train.jsonl
  run -0 ran-train tag --epochs 1 -o a.ran tagged.jsonl
  [[ $output == *'100 words are few: training begins with the base model english (--init english); --base none does without'* ]]
  ran-train tag -q --epochs 1 --init english -o b.ran tagged.jsonl
  cmp a.ran b.ran
}
