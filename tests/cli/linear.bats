#!/usr/bin/env bats
# What is twice as large takes twice as long. Each test gives one thing in hundreds of thousands, which
# would take minutes if each were compared with all others, and takes less than a second.

bats_require_minimum_version 1.5.0

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
}

# soon COMMAND...: in 20 seconds of a processor, which are many for what it does.
soon() (
  ulimit -t 20
  "$@"
)

# list N FORMAT: the numbers from 1 on in that format, a comma between.
list() {
  awk -v n="$1" -v format="$2" \
    'BEGIN { for (i = 1; i <= n; i++) printf (i > 1 ? "," : "") format, i, i }'
}

@test "linear: labels of a record beside a soft label of as many others" {
  {
    printf '{"labels":[%s],"p":{%s},"text":"a b"}\n' "$(list 300000 '"a%d"')" "$(list 300000 '"b%d":0.5')"
    echo '{"labels":[],"text":"a b c"}'
  } >train.jsonl
  soon ran-train classify -q --check --soft-label p train.jsonl >report.json
  [ "$(jq '.labels | length' report.json)" -eq 600000 ]
}

@test "linear: columns of a word" {
  echo '[UNK]' >vocab.txt
  { printf 'a %.0s' {1..300000}; echo O; } >wide.conll
  soon ran-tokenize encode -q --vocab vocab.txt wide.conll >out.jsonl
  [ "$(jq -c '[(.columns | length), .columns[-1], .tags]' out.jsonl)" = '[299999,["a"],["O"]]' ]
}

@test "linear: names of numbers, the last first" {
  awk 'BEGIN { printf "{\"id2label\":{"
    for (i = 299999; i >= 0; i--) printf "\"%d\":\"c%d\"%s", i, i, (i > 0 ? "," : "}}\n") }' >names.json
  printf '{"label":%d,"text":"a b"}\n' 0 123456 299999 >train.jsonl
  soon ran-train classify -q --check --label-names names.json train.jsonl >report.json
  [ "$(jq -c '.labels | keys' report.json)" = '["c0","c123456","c299999"]' ]
}

@test "linear: spans around a word of as many pieces" {
  echo '{"text":"ab ab"}' | ran-tokenize learn -q --type bpe --size 261 -o vocab.json
  awk 'BEGIN { printf "{\"text\":\""
    for (i = 0; i < 200000; i++) printf i == 100000 ? "%01000000d ab " : "ab ", 0
    printf "\",\"spans\":["
    for (i = 0; i < 200000; i++) {
      at = 3 * i + (i < 100000 ? 0 : 1000001); printf (i > 0 ? "," : "") "[%d,%d,\"X\"]", at, at + 2 }
    print "]}" }' >train.jsonl
  soon ran-train tag -q --check --vocab vocab.json train.jsonl >report.json
  [ "$(jq -c .tags report.json)" = '{"B-X":200000,"O":1}' ]
}

@test "linear: gaps take no memory for each piece that may fill each of them" {
  peak=$RAN_BIN/load/peak
  [ -x "$peak" ] || skip "there is no $peak: make builds it for make check"
  awk 'BEGIN { for (i = 0; i < 6000; i++) printf "w%d%s", i % 3000, i % 20 < 19 ? " " : "\n" }' |
    jq -R -c '{text: .}' >train.jsonl
  ran-train mlm -q --dim 8 --layers 1 --heads 1 --head-dim 8 --window 64 --no-dev --epochs 1 -o gaps.ran train.jsonl
  awk 'BEGIN { for (i = 0; i < 1000; i++) printf "[MASK] " }' | jq -R -c '{text: .}' >few.jsonl
  jq -c '.text *= 8' few.jsonl >many.jsonl
  for file in few many; do
    soon "$peak" $file.peak ran-lm fill -q -j 1 -m gaps.ran $file.jsonl >$file.out
  done
  [ "$(jq '.lm.masks | length' many.out)" -eq 8000 ]
  [ "$(cut -d ' ' -f 1 many.peak)" -lt $(($(cut -d ' ' -f 1 few.peak) * 3 / 2)) ]
}

@test "linear: what goes by the square of the tags is said" {
  awk 'BEGIN { for (i = 0; i < 200; i++)
    printf "{\"tokens\":[\"a\",\"b\"],\"tags\":[\"B-t%d\",\"O\"]}\n", i }' >train.jsonl
  run --separate-stderr ran-train tag --dry-run --no-dev train.jsonl
  [[ $stderr == *'201 tags: the time of the CRF grows with the square of their number; --no-crf does without it'* ]]
  run --separate-stderr ran-train tag --dry-run --no-dev --no-crf train.jsonl
  [[ $stderr != *'square'* ]]
}

@test "linear: without a CRF memory goes by the tags, not by their pairs" {
  peak=$RAN_BIN/load/peak
  [ -x "$peak" ] || skip "there is no $peak: make builds it for make check"
  awk 'BEGIN { for (i = 0; i < 8000; i++)
    printf "{\"tokens\":[\"w%d\",\"b\"],\"tags\":[\"B-t%d\",\"O\"]}\n", i, i }' >train.jsonl
  ran-train tag --no-crf --wide 0 --epochs 1 --no-dev --dim 16 --heads 1 --head-dim 16 -q -o tags.ran train.jsonl
  head -n 100 train.jsonl >few.jsonl
  soon "$peak" few.peak ran-tag -j 1 -m tags.ran few.jsonl >few.out
  [ "$(jq '.prediction.tags | length' few.out | sort -u)" = 2 ]
  [ "$(cut -d ' ' -f 1 few.peak)" -lt 500000 ] || { cat few.peak; false; }
}

@test "linear: a document that goes on costs its new tokens, and what they see" {
  echo '{"ids":[1,2,3,4,5,6,7,8]}' >train.jsonl
  ran-train lm -q --encoder transformer --attention window --window 4 --dim 16 --heads 1 --head-dim 16 --layers 1 \
    --epochs 1 --no-dev -o log.ran train.jsonl
  yes '{"ids":[3,5]}' | head -n 15000 >log.jsonl
  soon ran-lm score -q -j 1 -m log.ran --state-out log.state log.jsonl >out.jsonl
  [ "$(wc -l <out.jsonl)" -eq 15000 ]
}
