#!/usr/bin/env bats
# RAN_ISA=portable: the same bytes on every processor. One machine can only pretend to be several: the
# C library is told that there are no vector instructions, and OpenBLAS that the processor is another.
# What the bytes must be, tests/unit/test-portable.c knows.

bats_require_minimum_version 1.5.0

setup_file() {
  export PATH=$RAN_BIN:$PATH RAN_ISA=portable
  cd "$BATS_FILE_TMPDIR"
  # long enough for products that OpenBLAS would be asked for
  awk 'BEGIN {
    for (i = 1; i <= 12; i++) {
      printf "{\"id\": %d, \"text\": \"", i
      for (w = 0; w < 50 * i; w++)
        printf "%sword%d", w ? " " : "", (i * w * w + 3 * w + i) % 29
      printf "\", \"label\": \"%s\"}\n", i % 2 ? "odd" : "even"
    }
  }' >all.jsonl
  everything expected
}

# everything FOLDER: models, and what they say of the documents.
everything() {
  mkdir "$1"
  for encoder in ran contextualizer transformer; do
    ran-train classify -q --encoder $encoder --dim 64 --layers 1 --epochs 1 -o "$1/$encoder" all.jsonl
    ran-classify -m "$1/$encoder" --only --probs --logits all.jsonl >"$1/$encoder.jsonl"
  done
  ran-train lm -q --dim 64 --layers 1 --epochs 1 --schedule cosine -o "$1/lm" all.jsonl
  ran-lm score -m "$1/lm" --only all.jsonl >"$1/lm.jsonl"
  ran-lm score -m "$1/lm" --total all.jsonl >"$1/total"
}

setup() {
  cd "$BATS_FILE_TMPDIR"
}

@test "portable: its name is shown" {
  run -0 ran-classify --version
  [ "${lines[-1]}" = "Kernels: portable" ]
}

@test "portable: the same bytes whatever OpenBLAS takes the processor for [all]" {
  for core in Sandybridge SkylakeX; do
    OPENBLAS_CORETYPE=$core everything $core
    diff -r expected $core
  done
}

@test "portable: the same bytes whatever the C library finds in the processor [all]" {
  GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX everything plain
  diff -r expected plain
}

@test "portable: vectors of weights in eight bits are the same with every instruction set" {
  model=$BATS_TEST_DIRNAME/../../share/models/english.ran
  RAN_ISA=base ran-classify --embed -m "$model" all.jsonl >base
  known=0
  for isa in avx512 avx2 portable; do
    RAN_ISA=$isa ran-classify --version >said 2>&1 || continue # not on this processor
    RAN_ISA=$isa ran-classify --embed -m "$model" all.jsonl | cmp base -
    RAN_ISA=$isa ran-classify --embed -j 3 -m "$model" all.jsonl | cmp base -
    known=$((known + 1))
  done
  [ "$known" -gt 0 ] # portable, at least
}

@test "portable: the same bytes for any number of threads [all]" {
  RAN_THREADS=3 everything three
  diff -r expected three
}

# They differ from one C library to the next, and glibc chooses by the processor: ours do not.
@test "portable: nothing calls an elementary function of the C library" {
  command -v nm >/dev/null || skip "there is no nm"
  nm -u "$RAN_BIN"/libran.a "$RAN_BIN"/libcmd.a "$RAN_BIN"/cmd/*/*.o "$RAN_BIN"/cmd/*/*/*.o >undefined
  grep -q -w ran_exp undefined
  run -1 grep -wE '(__)?(a?(sin|cos|tan)h?|sincos|atan2|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot|erfc?|[lt]gamma)[fl]?(_finite)?' \
    undefined
}
