#!/usr/bin/env bats
# A document's result depends on the document alone: not on its neighbours in a batch, on its place
# among them, nor on the number of threads, whatever engine multiplies. OpenBLAS picks its kernels by
# the processor, and they differ in how a row's result depends on the rows around it: so it is told
# to be three of them.

bats_require_minimum_version 1.5.0

setup_file() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_FILE_TMPDIR"
  # long enough for products that OpenBLAS computes, ragged, and short ones between
  awk 'BEGIN {
    split("700 3 90 1 257 40 1300 12 64 65 511 2", length_of)
    for (i = 1; i <= 12; i++) {
      printf "{\"id\": %d, \"text\": \"", i
      for (w = 0; w < length_of[i]; w++)
        printf "%sword%d", w ? " " : "", (i * w * w + 3 * w + i) % 29
      printf "\", \"label\": \"%s\"}\n", i % 2 ? "odd" : "even"
    }
  }' >all.jsonl
  for encoder in ran contextualizer; do
    ran-train classify -q --encoder $encoder --dim 128 --layers 2 --epochs 1 --no-dev -o $encoder.ran \
      all.jsonl
  done
}

# scores FILE [option...]: every number of each record's result
scores() {
  ran-classify -m "$encoder.ran" --only --probs --logits --embed "$@"
}

# Each document of all.jsonl alone, and in three orders of all of them.
check_alone() {
  local encoder
  for encoder in ran contextualizer; do
    check_encoder
  done
}

check_encoder() {
  local id
  scores all.jsonl -j 1 >first
  scores all.jsonl -j 3 | cmp - first
  tac all.jsonl | scores -j 2 | tac | cmp - first
  { tail -n +5 all.jsonl; head -n 4 all.jsonl; } | scores -j 1 >turned
  { tail -n 4 turned; head -n 8 turned; } | cmp - first
  for id in $(seq 12); do
    sed -n "${id}p" all.jsonl | scores -j 1
  done | cmp - first
}

# runs FLAG: whether this processor has the instructions; elsewhere nobody can look it up
runs() {
  [ ! -r /proc/cpuinfo ] || grep -q -w "$1" /proc/cpuinfo
}

each_core() {
  local core
  cd "$BATS_FILE_TMPDIR"
  check_alone
  for core in SkylakeX:avx512f Haswell:avx2 Sandybridge:avx; do
    runs "${core#*:}" || continue
    RAN_ISA=base OPENBLAS_CORETYPE=${core%:*} check_alone # which has large products there
  done
}

@test "promise 4: one document alone, first and last in a batch, under three kinds of processor [all]" {
  each_core
}

@test "promise 4: the same where OpenBLAS computes the large products [all]" {
  RAN_ISA=base each_core
}
