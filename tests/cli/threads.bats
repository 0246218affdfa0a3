#!/usr/bin/env bats
# Threads: as many as were asked for, and the same output however they and the input come about.

bats_require_minimum_version 1.5.0
load train.bash

setup_file() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 40 >in.jsonl
  shape='-q --dim 8 --layers 1 --heads 2 --head-dim 4 --window 16 --epochs 1'
  ran-tokenize learn -q -o vocab.json in.jsonl
  ran-train classify $shape --min-window 4 --wide 100 --no-dev --vocab vocab.json -o classify.ran in.jsonl
  ran-train lm $shape --min-window 1 --vocab vocab.json -o lm.ran in.jsonl
  awk 'BEGIN { for (i = 0; i < 40; i++)
    printf "{\"tokens\": [\"word%d\", \"Anna\", \"in\", \"Rome\"], \"tags\": [\"O\", \"B-PER\", \"O\", \"B-LOC\"]}\n", i % 5 }' >tagged.jsonl
  ran-train tag $shape -o tag.ran tagged.jsonl
}

setup() {
  cd "$BATS_FILE_TMPDIR"
}

# each_filter COMMAND...: COMMAND for each program that reads records, its input first.
each_filter() {
  "$@" in.jsonl ran-tokenize encode --vocab vocab.json
  "$@" in.jsonl ran-classify -m classify.ran --probs
  "$@" in.jsonl ran-classify -m classify.ran --evidence 2
  "$@" tagged.jsonl ran-tag -m tag.ran
  "$@" in.jsonl ran-lm score -m lm.ran
  "$@" in.jsonl ran-lm generate -m lm.ran --temperature 0 --max-new 4
  "$@" in.jsonl ran-attnmask -m classify.ran --top 2
}

# count_threads INPUT COMMAND...: while it waits for more, each record but the first having been answered.
count_threads() {
  local input=$1 jobs count
  shift
  for jobs in 1 3; do
    coproc "$@" -j $jobs 2>/dev/null
    local pid=$COPROC_PID to
    exec {to}>&"${COPROC[1]}"
    head -n 3 "$input" >&"$to"
    read -r -t 60 _ <&"${COPROC[0]}"
    count=$(ls "/proc/$pid/task" | wc -l)
    exec {to}>&- {COPROC[1]}>&-
    wait "$pid"
    [ "$count" -eq $jobs ] || { echo "$* -j $jobs: $count threads"; return 1; }
  done
}

@test "threads: OpenBLAS left one waiting for each processor [all]" {
  [ -d "/proc/$$/task" ] || skip 'there is no /proc'
  ! grep -q -e -fsanitize=thread "$RAN_BIN/flags" || skip 'the sanitizer has a thread of its own'
  # Where there are large products for it, too.
  RAN_ISA=base each_filter count_threads
  each_filter count_threads
}

@test "threads: their stacks were too small where that of a process may be of any size, or of two megabytes [all]" {
  for stack in 2048 unlimited; do
    (ulimit -S -s $stack) 2>/dev/null || continue
    (ulimit -S -s $stack && ran-train lm $shape -j 4 --vocab vocab.json -o stack.ran in.jsonl)
    (ulimit -S -s $stack && ran-classify -m classify.ran -q -j 4 --evidence 2 in.jsonl >stack.jsonl)
    [ "$(wc -l <stack.jsonl)" -eq 40 ]
  done
}

# come_otherwise INPUT COMMAND...
come_otherwise() {
  local input=$1 jobs
  shift
  "$@" -j 1 "$input" >want
  for jobs in 1 2 5; do
    "$@" -j $jobs <"$input" | cmp - want
    # line by line, and in pieces that end anywhere
    while read -r line; do echo "$line"; [ $((RANDOM % 8)) -gt 0 ] || sleep 0.01; done <"$input" |
      "$@" -j $jobs | cmp - want
    { dd bs=777 count=1; sleep 0.1; dd bs=1500; } <"$input" 2>/dev/null | "$@" -j $jobs | cmp - want
  done
}

@test "threads: the same bytes for any number, however the input arrives [all]" {
  each_filter come_otherwise
}

# learn JOBS: a model of each task and encoder.
learn() {
  local shape="-q -j $1 --dim 8 --layers 2 --heads 2 --head-dim 4 --window 16 --epochs 2 --batch 12 --no-early-stop"
  mkdir "$1"
  for type in word wordpiece bpe; do
    ran-tokenize learn -q -j $1 --vocab-type $type --vocab-size 300 -o $1/$type in.jsonl
  done
  ran-train classify $shape --min-window 4 --wide 100 --vocab vocab.json -o $1/ran in.jsonl
  ran-train classify ${shape/ --heads 2 --head-dim 4 --window 16/} --encoder contextualizer --rank 4 --wide 0 --vocab vocab.json \
    -o $1/contextualizer in.jsonl
  ran-train tag $shape --encoder transformer --attention dispersed --crf --spelling 50 -o $1/tag tagged.jsonl
  ran-train lm $shape --min-window 1 --vocab vocab.json -o $1/lm in.jsonl
  ran-train mlm $shape --min-window 4 --vocab vocab.json -o $1/mlm in.jsonl
}

@test "threads: the same models, of each task and encoder [all]" {
  learn 1
  learn 3
  diff -r 1 3
}
