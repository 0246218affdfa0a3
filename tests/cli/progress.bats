#!/usr/bin/env bats
# The live line on a terminal while files are read.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  command -v script >/dev/null || skip 'no script(1)'
}

# on_terminal COMMAND: what the terminal gets.
on_terminal() {
  TERM=xterm script -qefc "$1" /dev/null </dev/null
}

@test "progress: on a terminal, for files that take a while; nothing is left of it [all]" {
  documents 300 80 >train.jsonl
  ran-tokenize learn -q --vocab-type wordpiece -o v.json train.jsonl
  # How much takes a while depends on the machine.
  for copies in 30 120 500 2000; do
    for ((i = 0; i < copies; i++)); do cat train.jsonl; done >many.jsonl
    on_terminal 'ran-tokenize encode -j1 --only --vocab v.json many.jsonl >out.jsonl' >terminal
    [ "$(wc -l <out.jsonl)" -eq $((300 * copies)) ]
    [ ! -s terminal ] || break
  done
  grep -q ' records, .* left' terminal
  [ "$(tail -c 3 terminal)" = $'\033[K' ]
  # not into results, not with -q, not from a pipe
  on_terminal 'ran-tokenize encode -q -j1 --vocab v.json many.jsonl >out.jsonl' >terminal
  [ ! -s terminal ]
  on_terminal 'cat many.jsonl | ran-tokenize encode -j1 --vocab v.json >out.jsonl' >terminal
  [ ! -s terminal ]
}

@test "progress: a run of less than a second has no line" {
  documents 30 >train.jsonl
  on_terminal 'ran-tokenize learn -q -o v.json train.jsonl; ran-tokenize encode --vocab v.json train.jsonl >out.jsonl' >terminal
  run ! grep -q records terminal
}

# ---- a terminal ----------------------------------------------------------------------------------

# NAME=VALUE... of the environment, and a command: what the terminal gets.
terminal_with() {
  env "${@:1:$#-1}" script -qefc "${!#}" /dev/null </dev/null || :
}

@test "terminal: messages are as in a file, a live line goes before them" {
  printf '{"text":"a b","label":"x"}\n{"text":"a c","label":"y"}\n{"text":"a c","label":"y"}\n' >train.jsonl
  terminal_with TERM=xterm 'ran-classify -m no.ran x.jsonl' | grep -q '^ran-classify: cannot open no.ran'
  terminal_with TERM=xterm 'ran-train classify --encoder none -o n.ran train.jsonl' | tr '\r' '\n' | grep -q 'ran-train: warning: '
  terminal_with TERM=dumb 'ran-train classify --encoder none -o n.ran train.jsonl' >terminal
  run ! grep -qF $'\e' terminal
}

@test "terminal: the live line fits 80 columns with bar and ETA [all]" {
  documents 300 80 >train.jsonl
  terminal_with TERM=xterm 'stty cols 80; ran-train classify --wide 0 --dim 64 --epochs 3 --no-dev -o m.ran train.jsonl' >terminal
  tr '\r' '\n' <terminal | sed 's/\x1b\[K//g' | grep 'training loss.*ETA' >lines
  [ -s lines ]
  run ! grep -vE '^epoch [0-9]+/3  \[[#-]{6,}\]  [0-9]+ %  training loss .*ETA [0-9:]+$' lines
  run ! grep -q '.\{80\}' lines
}

@test "progress: the time of a training begins when the program does, not when all is read [all]" {
  documents 40 >train.jsonl
  { sleep 4; cat train.jsonl; } | ran-train classify --encoder none --log log -o m.ran 2>said
  [[ $(<said) =~ 40\ documents\ in\ 0:00:0[3-9] ]]
  jq -se 'all(.seconds >= 3)' log
}
