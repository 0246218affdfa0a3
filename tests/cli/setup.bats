#!/usr/bin/env bats
# share/setup on machines made of a few fake commands, and make on one without the libraries.

bats_require_minimum_version 1.5.0

setup() {
  root=$BATS_TEST_DIRNAME/../..
  bin=$BATS_TEST_TMPDIR/bin
  mkdir "$bin"
  for command in sh sort tr env cat cp; do
    ln -s "$(command -v "$command")" "$bin/"
  done
  fake id 'echo 1000'
}

# fake NAME SCRIPT: a command of that name on the machine
fake() {
  printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}

on_machine() {
  PATH=$bin "$bin/sh" "$root/share/setup" "$@"
}

@test "setup: when nothing is missing, nothing happens" {
  fake bats :
  fake jq :
  fake mandoc :
  run -0 --separate-stderr on_machine test
  [ -z "$output$stderr" ]
}

@test "setup: what is missing is named and installed, as root" {
  fake id 'echo 0'
  fake jq :
  fake apt-cache :
  # shellcheck disable=SC2016 # for the fake to expand
  fake apt-get 'echo "$@" >>"$0.log"; cp "$0" "${0%/*}/bats"; cp "$0" "${0%/*}/mandoc"'
  run -0 --separate-stderr on_machine test
  [ -z "$output" ]
  [[ $stderr == *'bats: tests of the programs'* ]]
  [[ $stderr != *'jq:'* ]]
  [[ $(cat "$bin/apt-get.log") == *'install -y --no-install-recommends bats mandoc' ]]
}

@test "setup: the lists are fetched first when they do not know a package" {
  fake id 'echo 0'
  fake apt-cache 'exit 100'
  # shellcheck disable=SC2016
  fake apt-get 'echo "$@" >>"$0.log"; exit 1'
  run -1 --separate-stderr on_machine test
  [[ $(head -n 1 "$bin/apt-get.log") == *update ]]
  [[ $stderr == *'is there a network?'* ]]
}

@test "setup: without apt-get or privileges it says which packages to ask for" {
  run -1 --separate-stderr on_machine build
  [[ $stderr == *'missing: gcc '*'libcjson-dev'*'There is no apt-get here'* ]]
  fake apt-get :
  run -1 --separate-stderr on_machine build
  [[ $stderr == *"ask an administrator to run 'apt-get install gcc "* ]]
}

@test "setup: an unknown group is misuse" {
  run -2 --separate-stderr on_machine bild
  [[ $stderr == usage:* ]]
}

@test "make: without the libraries it names make setup" {
  run -2 make -s -C "$root" BUILD="$BATS_TEST_TMPDIR/build" PKG_CONFIG=false CC='cc -nostdinc'
  [[ $output == *'"make setup" installs them'* ]]
}
