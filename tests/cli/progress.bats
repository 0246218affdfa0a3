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

# ---- colours -------------------------------------------------------------------------------------

# NAME=VALUE... of the environment, and a command: what the terminal gets.
terminal_with() {
  env "${@:1:$#-1}" script -qefc "${!#}" /dev/null </dev/null || :
}

@test "colour: what failed is red, a warning yellow; not without a terminal, nor against NO_COLOR" {
  printf '{"text":"a b","label":"x"}\n{"text":"a c","label":"y"}\n{"text":"a c","label":"y"}\n' >train.jsonl
  printf '{"text":"a"\n' >bad.jsonl
  ran-train classify -q --encoder none -o m.ran train.jsonl
  terminal_with TERM=xterm 'ran-classify -m no.ran x.jsonl' | grep -qF $'\e[31mran-classify:\e[m cannot open no.ran'
  terminal_with TERM=xterm 'ran-classify -m m.ran bad.jsonl' | grep -qF $'\e[31mran-classify:\e[m bad.jsonl:1: '
  terminal_with TERM=xterm 'ran-classify --nonsense' | grep -qF $'\e[31mran-classify:\e[m unknown option'
  terminal_with TERM=xterm NO_COLOR= 'ran-classify -m no.ran' | grep -qF $'\e[31m'
  terminal_with TERM=xterm 'ran-train classify --encoder none -o n.ran train.jsonl' >terminal
  grep -qF $'ran-train: \e[33mwarning:\e[m ' terminal
  # the end of a training is no failure
  run ! grep -qF $'\e[31m' terminal
  for without in NO_COLOR=1 TERM=dumb TERM=; do
    terminal_with TERM=xterm $without 'ran-classify -m no.ran x.jsonl; ran-train classify --encoder none -o n.ran train.jsonl' >terminal
    grep -q 'cannot open no.ran' terminal
    run ! grep -qE $'\e\\[[0-9;]*m' terminal
  done
  TERM=xterm run -3 ran-classify -m no.ran x.jsonl
  [[ $output == 'ran-classify: cannot open no.ran'* ]]
}

@test "colour: the bar of the live line is green, and the line fits 80 columns with bar and ETA [all]" {
  documents 300 80 >train.jsonl
  command='stty cols 80; ran-train classify --wide 0 --dim 64 --epochs 3 --no-dev -o m.ran train.jsonl'
  terminal_with TERM=xterm "$command" >terminal
  grep -qF $'\e[32m#' terminal
  tr '\r' '\n' <terminal | sed 's/\x1b\[[0-9;]*m//g' | grep 'training loss.*ETA' >lines
  [ -s lines ]
  run ! grep -vE '^epoch [0-9]+/3  \[[#-]{6,}\]  [0-9]+ %  training loss .*ETA [0-9:]+$' lines
  run ! grep -q '.\{80\}' lines
  terminal_with TERM=xterm NO_COLOR=1 "$command" >terminal
  grep -qF '[#' terminal
  run ! grep -qF $'\e[32m' terminal
}
