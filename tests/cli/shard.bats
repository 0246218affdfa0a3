#!/usr/bin/env bats
# --shard I/N: parts of the input, whose results one after another are those of the whole.

bats_require_minimum_version 1.5.0
load records.bash

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  abc
}

# parts N COMMAND...: the output of all parts, and what they said in err.
parts() {
  local n=$1
  shift
  : >err
  for i in $(seq "$n"); do
    "$@" --shard "$i/$n" 2>>err || [ $? -eq 1 ]
  done
}

# awkward: blank lines, bad ones, one of 300 kB, no ids.
awkward() {
  awk 'BEGIN { for (i = 1; i <= 200; i++) {
    if (i % 7 == 0) print ""
    if (i % 11 == 0) printf "  \r\n"
    if (i % 13 == 0) print "no record"
    text = "a"
    if (i == 50) for (j = 0; j < 100000; j++) text = text " b"
    printf "{\"text\":\"%s\",\"n\":%d}%s\n", text, i, i % 5 ? "" : "\r" } printf "{\"text\":\"c\"}" }'
}

@test "shard: the parts of some files are the whole, with the same line numbers [all]" {
  awkward >a.jsonl
  : >empty.jsonl
  printf '{"text":"b"}' >b.jsonl
  cp a.jsonl c.jsonl
  encode --only a.jsonl empty.jsonl b.jsonl c.jsonl >whole 2>whole.err || [ $? -eq 1 ]
  [ "$(grep -c ran_error whole)" -eq 30 ]
  for n in 1 2 3 7 64 1000; do
    parts $n encode --only a.jsonl empty.jsonl b.jsonl c.jsonl >joined
    cmp whole joined
    # Messages that say the same are told once, with the other lines.
    grep -q 'c.jsonl:[0-9]' err
  done
}

@test "shard: the parts are of like size, and none is read twice" {
  seq 10000 | sed 's/.*/{"id":&,"text":"a"}/' >in.jsonl
  for i in 1 2 3 4; do
    encode --shard $i/4 in.jsonl >$i
    n=$(wc -l <$i)
    [ "$n" -gt 2400 ]
    [ "$n" -lt 2600 ]
  done
  cat 1 2 3 4 | jq .id | cmp - <(seq 10000)
}

@test "shard: standard input that is a file has parts, from where it stands" {
  seq 100 | sed 's/.*/{"id":&,"text":"a"}/' >in.jsonl
  for i in 1 2 3; do
    encode --shard $i/3 <in.jsonl
  done | jq .id | cmp - <(seq 100)
  # What reads before may leave a part of the file.
  for i in 1 2 3; do
    { dd bs=1 count="$(head -n 3 in.jsonl | wc -c)" of=/dev/null status=none; encode --shard $i/3; } <in.jsonl
  done | jq .id | cmp - <(seq 4 100)
}

@test "shard: a format is guessed by the first line of the file, whichever part is read" {
  { echo '__label__x a'; yes '{"text":"b"} a' | head -n 50; } >in.txt
  encode in.txt >whole
  parts 5 encode in.txt | cmp - whole
}

@test "shard: sentences of one document stay together [all]" {
  awk 'BEGIN { for (i = 0; i < 40; i++) for (j = 0; j <= i % 6; j++)
    printf "{\"doc\":%d,\"tokens\":[\"w%d\",\"v\"],\"tags\":[\"%s\",\"O\"]}\n", i, i % 5, i % 2 ? "B-A" : "O" }' >in.jsonl
  ran-train tag -q --dim 8 --layers 1 --heads 1 --head-dim 8 --window 8 --min-window 2 --epochs 1 \
    --min-count 1 --no-dev --join-sentences 4 -o model.ran in.jsonl
  # shellcheck disable=SC2120 # parts gives it some
  tag() { ran-tag -m model.ran --logits in.jsonl "$@"; }
  tag >whole
  for n in 2 5 9 40; do
    parts $n tag | cmp - whole
  done
}

@test "shard: training reads a part of its data, and all of --dev" {
  for word in wet dry; do
    for i in 1 2 3 4 5 6 7 8; do
      echo "{\"text\":\"a $word day\",\"label\":\"$word\"}"
    done
  done >train.jsonl
  ran-train classify --check --shard 1/2 --dev train.jsonl train.jsonl 2>/dev/null |
    jq -se '.[0] | .documents == 8 and .dev.documents == 16'
}

@test "shard: what has no size, and what is no part, is refused [all]" {
  echo '{"text":"a"}' >in.jsonl
  # shellcheck disable=SC2002 # a pipe is meant
  run -2 --separate-stderr sh -c 'cat in.jsonl | ran-tokenize encode --vocab vocab.json --shard 1/2'
  [ -z "$output" ]
  [[ ${stderr_lines[0]} == *'standard input has none'* ]]
  mkfifo pipe
  run -2 --separate-stderr encode --shard 1/2 pipe
  [[ ${stderr_lines[0]} == *'pipe has none'* ]]
  for bad in 0/2 3/2 1 1/ /2 1/2/3 a/b -1/2 '' 1/2000000 ' 1/2' 99999999999999999999/2; do
    run -2 --separate-stderr encode --shard "$bad" in.jsonl
    [ -z "$output" ]
    [[ $stderr == *'give I/N'* ]]
  done
  run -3 encode --shard 1/2 nowhere.jsonl
  [[ $output == *'cannot open nowhere.jsonl'* ]]
}
