#!/usr/bin/env bats
# A model knows its training documents again: they do not validate its successors.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_TEST_TMPDIR" || exit
  set -o pipefail
  documents 80 | jq -c '.text += " end\(.id)"' >all.jsonl
  head -n 40 all.jsonl >old.jsonl
  tail -n 40 all.jsonl >new.jsonl
  cat old.jsonl new.jsonl >both.jsonl
}

train() { ran-train classify --base none --encoder none "$@"; }

# fingerprints MODEL: those in the file, a line each.
fingerprints() {
  local header from to
  header=$(od -An -t u8 -N 8 "$1")
  read -r from to < <(tail -c +9 "$1" | head -c "$header" | jq -r '.["train.documents"].data_offsets | @tsv')
  tail -c +$((9 + header + from)) "$1" | head -c $((to - from)) | od -An -v -w4 --endian=little -t x4 | tr -d ' '
}

known() { ran-train info --format json "$1" | jq .fingerprints; }

@test "a model has the fingerprints of its training documents: shorter than a text, in any order" {
  train -q -o old.ran old.jsonl
  [ "$(known old.ran)" = 40 ]
  sort -r old.jsonl | train -q -j 3 -o other.ran
  [ "$(known other.ran)" = 40 ]
  run -0 ran-train info old.ran
  [[ $output == *"fingerprints "*"40 (of documents"* ]]
  [ "$(ran-train info --format json old.ran | jq '.parts[] | select(.name == "fingerprints").bytes')" = 160 ]
  # The first eight digits of the SHA-256 of the text without white space, in lower case.
  jq -rj '.text | gsub(" "; "")' <(head -n 1 old.jsonl) | sha256sum | cut -c 1-8 >wanted
  fingerprints old.ran | grep -qf wanted
  same_output "fingerprints old.ran" "fingerprints other.ran"
  fingerprints old.ran | LC_ALL=C sort -uc
}

@test "documents known from --init are not held out" {
  train -q -o old.ran old.jsonl
  run -0 --separate-stderr train --init old.ran -o new.ran both.jsonl
  [[ $stderr == *"40 of 80 documents are not held out: old.ran was trained on them"* ]]
  [[ $stderr == *"8 of 80 documents are held out"* ]]
  [ "$(known new.ran)" = 80 ]
  # Other spaces, letters and members do not matter.
  jq -c '{doc: .id, label: .label, text: (.text | ascii_upcase | gsub(" "; "\n  "))}' both.jsonl >other.jsonl
  run -0 --separate-stderr train --init old.ran -o other.ran other.jsonl
  [[ $stderr == *"40 of 80 documents are not held out"* ]]
}

@test "too few new documents: a warning says what the figures are worth" {
  train -q -o old.ran old.jsonl
  head -n 4 new.jsonl | cat old.jsonl - >few.jsonl
  run -0 --separate-stderr train --init old.ran -o new.ran few.jsonl
  [[ $stderr == *"warning: old.ran was trained on 40 of the 44 documents, and too few others"*"--dev FILE"* ]]
  [[ $stderr == *"4 of 44 documents are held out"* ]]
  run -0 --separate-stderr train --init old.ran --dev old.jsonl -o new.ran new.jsonl
  [[ $stderr == *"warning: 40 of 40 documents of --dev are training documents of old.ran"* ]]
  run -0 --separate-stderr train --init old.ran --dev new.jsonl -o new.ran old.jsonl
  [[ $stderr != *"training documents of old.ran"* ]]
}

@test "documents stay known through a chain of models, converted or not" {
  train -q -o old.ran old.jsonl
  train -q --init old.ran -o middle.ran new.jsonl
  ran-train convert -q --weights f16 -o small.ran middle.ran
  for model in middle.ran small.ran; do
    [ "$(known $model)" = 80 ]
    run -0 --separate-stderr train --init $model -o last.ran old.jsonl
    [[ $stderr == *"was trained on 40 of the 40 documents"* ]]
  done
  ran-train convert -q --no-fingerprints -o silent.ran middle.ran
  [ "$(known silent.ran)" = null ]
  run -0 --separate-stderr train --init silent.ran -o last.ran old.jsonl
  [[ $stderr != *"was trained on"* ]]
  run -0 --separate-stderr ran-classify -m silent.ran --eval old.jsonl
  [[ $stderr != *warning* ]]
}

@test "an evaluation on training documents warns" {
  train -q -o old.ran old.jsonl
  run -0 --separate-stderr ran-classify -m old.ran --eval both.jsonl
  [[ $stderr == *"warning: 40 of 80 documents are training documents of old.ran"* ]]
  run -0 --separate-stderr ran-classify -m old.ran --eval new.jsonl
  [[ $stderr != *warning* ]]
  run -0 --separate-stderr ran-classify -q -m old.ran --eval both.jsonl
  [ -z "$stderr" ]
  # Documents held out without a refit were not trained on.
  train -q --no-refit -o part.ran old.jsonl
  [ "$(known part.ran)" = 36 ]
}

@test "documents of tags, of ids and of a vocabulary's encoding are known again" {
  for part in old new; do
    jq -c '{tokens: (.text | split(" ")), tags: [.text | split(" ")[] | if . == "rain" then "B-W" else "O" end]}' \
      $part.jsonl >$part.tags
    ran-tokenize encode --vocab <(ran-tokenize learn old.jsonl) $part.jsonl >$part.encoded
    jq -c '{label: .label, ids: .encoding.ids}' $part.encoded >$part.ids
  done
  ran-train tag -q --base none --encoder none -o tags.ran old.tags
  run -0 --separate-stderr ran-tag -m tags.ran --eval old.tags
  [[ $stderr == *"warning: 40 of 40 documents are training documents of tags.ran"* ]]
  run -0 --separate-stderr ran-tag -m tags.ran --eval new.tags
  [[ $stderr != *"training documents"* ]]
  run -0 --separate-stderr ran-train tag --encoder none --init tags.ran -o more.ran old.tags new.tags
  [[ $stderr == *"40 of 80 documents are not held out"* ]]
  train -q -o ids.ran old.ids
  run -0 --separate-stderr ran-classify -m ids.ran --eval old.ids new.ids
  [[ $stderr == *"warning: 40 of 80"* ]]
  train -q --vocab <(ran-tokenize learn old.jsonl) -o text.ran old.encoded
  run -0 --separate-stderr ran-classify -m text.ran --eval old.jsonl new.encoded
  [[ $stderr == *"warning: 40 of 80"* ]]
}

@test "sentences that are joined are known together" {
  for part in old new; do
    jq -c '{doc: (.id / 4 | floor), tokens: (.text | split(" ")),
      tags: [.text | split(" ")[] | if . == "rain" then "B-W" else "O" end]}' $part.jsonl >$part.tags
  done
  ran-train tag -q --base none --encoder none --join-sentences 8 -o tags.ran old.tags
  run -0 --separate-stderr ran-tag -m tags.ran --eval old.tags new.tags
  [[ $stderr == *"warning: 40 of 80 documents are training documents"* ]]
}

@test "language models know their texts, and not those of classifiers" {
  ran-train lm -q --epochs 1 --dim 16 --layers 1 -o texts.ran old.jsonl
  [ "$(known texts.ran)" = 36 ] # without a refit
  run -0 --separate-stderr ran-train lm --epochs 1 --init texts.ran -o more.ran both.jsonl
  [[ $stderr == *"36 of 80 documents are not held out"* ]]
  run -0 --separate-stderr ran-train classify --epochs 1 --init texts.ran -o labels.ran both.jsonl
  [[ $stderr != *"not held out"* ]]
  [ "$(known labels.ran)" = 80 ]
}

@test "--replay knows them too, and a group with a known document is not held out" {
  train -q -o old.ran old.jsonl
  train -q --init old.ran -o new.ran both.jsonl
  run -0 --separate-stderr ran-train classify --init old.ran --replay new.ran both.jsonl
  [[ $stderr == *"reproduced, byte for byte"* ]]
  jq -c '.group = .id % 40 % 20' both.jsonl >groups.jsonl
  run -0 --separate-stderr train --init old.ran --dev-group group -o groups.ran groups.jsonl
  [[ $stderr == *"too few others are left"* ]]
}
