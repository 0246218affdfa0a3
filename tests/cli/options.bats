#!/usr/bin/env bats
# What all programs have in common on the command line; the manners themselves are tested in
# tests/unit/test-options.c.

bats_require_minimum_version 1.5.0
load commands.bash

setup() {
  bin=${RAN_BIN:-$PWD/build}
  PATH=$bin:$PATH
  cd "$BATS_TEST_TMPDIR"
  programs=$(programs "$bin")
  # Of a program with verbs, itself and each of them.
  commands=$({ echo "$programs"; commands "$bin"; } | sort -u)
}

@test "options: --help of every command is on standard output, 80 columns wide" {
  while read -r command; do
    run -0 --separate-stderr $command --help
    [ -z "$stderr" ]
    [[ ${lines[0]} == "Usage: $command "* ]]
    [ "$(awk 'length > 80' <<<"$output")" = '' ]
    [[ $output == *--help*--version* ]]
  done <<<"$commands"
}

@test "options: --version of every command names the program and the version" {
  while read -r command; do
    run -0 --separate-stderr $command --version
    [ -z "$stderr" ]
    [[ ${lines[0]} =~ ^${command%% *}\ \(ran\)\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
  done <<<"$commands"
}

@test "options: misuse of every command is status 2, a sentence and a hint, and no output" {
  while read -r command; do
    run -2 --separate-stderr $command --no-such-option
    [ -z "$output" ]
    [[ ${stderr_lines[0]} == "${command%% *}: unknown option --no-such-option"* ]]
    [ "${stderr_lines[1]}" = "Try '$command --help' for more." ]
  done <<<"$commands"
}

@test "options: --print-config of every command is a configuration that it takes" {
  while read -r command; do
    $command --print-config >first.json || continue # a program with verbs has no settings itself
    jq -e 'type == "object"' first.json
    $command --config first.json --print-config | cmp - first.json
  done <<<"$commands"
}

@test "options: a full disk is an error for --help, too" {
  [ -e /dev/full ] || skip 'no /dev/full'
  for program in $programs; do
    run -3 sh -c "$program --help >/dev/full"
    [ "$output" = "$program: cannot write standard output: No space left on device" ]
  done
}

@test "options: programs with verbs say which there are" {
  run -2 --separate-stderr ran-tokenize
  [[ $stderr == 'ran-tokenize: a verb comes first: learn, '*"Try 'ran-tokenize --help' for more." ]]
  run -2 --separate-stderr ran-tokenize lern --vocab x
  [[ ${stderr_lines[0]} == "ran-tokenize: unknown verb 'lern'" ]]
  run -2 --separate-stderr ran-tokenize --quiet
  [[ $stderr == *'a verb comes first'* ]]
}

@test "options: -j must be a number of threads" {
  for jobs in x -1 1.5 99999 ''; do
    run -2 --separate-stderr ran-classify -j "$jobs"
    [[ ${stderr_lines[0]} == "ran-classify: --jobs must be a whole number from 0 to 4096, not '$jobs'" ]]
  done
}

@test "options: what could steer a terminal does not reach it" {
  run -2 --separate-stderr ran-classify $'--\e[31mred'
  [[ $stderr != *$'\e'* ]]
  run -3 --separate-stderr ran-classify -m $'\e[31mred\n'
  [[ $stderr != *$'\e'* ]]
  [ "${#stderr_lines[@]}" -eq 1 ]
}
