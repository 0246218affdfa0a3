#!/usr/bin/env bats
# The assertions that tests share fail when there is nothing to compare.

bats_require_minimum_version 1.5.0
load compare.bash

setup() {
  cd "$BATS_TEST_TMPDIR"
}

@test "compare: the outputs of commands that fail are not the same, nor are no outputs" {
  same_output 'echo a' 'echo a | cat'
  run -1 same_output 'echo a' 'echo b'
  run -1 same_output 'echo a; false' 'echo a; false'
  run -1 same_output 'false | cat' 'false | cat'
  run -1 same_output : :
}

@test "compare: jq -e fails without a result, and at any that is false" {
  [ "$(jq -ce .a <<<'{"a": [1]}{"a": [2]}' | tail -n 1)" = '[2]' ]
  run ! jq -e . </dev/null
  run ! jq -ce '.a > 0' <<<'{"a": 0}{"a": 1}'
  run ! jq -e .a <<<'{"b": 1}'
  [ "$(jq .a <<<'{"b": 1}')" = null ]
}
