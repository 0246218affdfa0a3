#!/usr/bin/env bats
# Environment variables that every program obeys.

bats_require_minimum_version 1.5.0

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
}

@test "RAN_ISA: a name that nobody knows is refused, with those that would do" {
  RAN_ISA=quantum run --separate-stderr -2 ran-tokenize learn -o vocab.json /dev/null
  [[ $stderr == "ran-tokenize: RAN_ISA=quantum: this processor and program have "*base* ]]
}

@test "RAN_ISA: the kernels that it names are used; empty is as good as unset" {
  RAN_ISA=base run -0 ran-classify --version
  [ "${lines[-1]}" = "Kernels: base" ]
  run -0 env -u RAN_ISA "$(type -P ran-classify)" --version
  best=${lines[-1]}
  RAN_ISA='' run -0 ran-classify --version
  [ "${lines[-1]}" = "$best" ]
}

@test "RAN_THREADS: what is no number of threads was taken for none, and all processors used [all]" {
  for jobs in many -1 4097 2x ' 2' 1.5; do
    RAN_THREADS=$jobs run --separate-stderr -2 ran-classify -m none
    [[ ${stderr_lines[0]} == "ran-classify: RAN_THREADS=$jobs: it must be a whole number from 1 to 4096" ]]
    RAN_THREADS=$jobs run -3 ran-classify -j 1 -m none
    RAN_THREADS=$jobs run -0 ran-classify --version
  done
  for jobs in 3 4096 0 ''; do
    RAN_THREADS=$jobs run -3 ran-classify -m none
  done
}

# shift_of A B: the largest difference of numbers in the same places, one a line.
shift_of() {
  paste "$1" "$2" | awk 'NF != 2 || $1 == "null" { print "off:", $0; exit 1 }
    { d = $1 > $2 ? $1 - $2 : $2 - $1; most = d > most ? d : most }
    END { if (NR == 0 || most > 1e-3) { print most, NR; exit 1 } }'
}

@test "RAN_ISA: each name trains and labels in the same way, within rounding [all]" {
  RAN_ISA=quantum run --separate-stderr -2 ran-tokenize learn -o vocab.json /dev/null
  names=$(sed -n '1s/.* have //; 1s/, / /gp' <<<"$stderr")
  [[ $names == *base* ]]
  awk 'BEGIN { for (i = 1; i <= 12; i++) {
    printf "{\"label\": \"%s\", \"text\": \"", i % 2 ? "odd" : "even"
    for (w = 0; w < 13 * i; w++) printf "%sword%d", w ? " " : "", (i * w * w + w) % 29
    print "\"}" } }' >in.jsonl
  for encoder in ran contextualizer transformer; do
    for isa in base $names; do
      RAN_ISA=$isa ran-train classify -q --encoder $encoder --dim 24 --layers 1 --epochs 2 --no-dev --wide 0 -o $isa.ran in.jsonl
      RAN_ISA=$isa ran-classify -m $isa.ran --logits in.jsonl | jq '.prediction.logits[]' >$isa.out
      RAN_ISA=$isa ran-classify -m base.ran --logits in.jsonl | jq '.prediction.logits[]' >$isa.same
      [ "$(RAN_ISA=$isa ran-classify --version | tail -n 1)" = "Kernels: $isa" ]
      shift_of base.out $isa.out
      shift_of base.out $isa.same
    done
  done
}
