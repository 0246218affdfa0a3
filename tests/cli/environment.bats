#!/usr/bin/env bats
# Environment variables that every program obeys.

bats_require_minimum_version 1.5.0

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
}

@test "RAN_ISA: a name that nobody knows is refused, with those that would do" {
  RAN_ISA=quantum run --separate-stderr -2 ran-tokenize learn -o vocab.json /dev/null
  [[ $stderr == "ran-tokenize: RAN_ISA=quantum: this processor and program know "*base* ]]
}

@test "RAN_ISA: the kernels that it names are used; empty is as good as unset" {
  RAN_ISA=base run -0 ran-classify --version
  [ "${lines[-1]}" = "Kernels: base" ]
  run -0 ran-classify --version
  best=${lines[-1]}
  RAN_ISA='' run -0 ran-classify --version
  [ "${lines[-1]}" = "$best" ]
}
