#!/usr/bin/env bats
# The same source gives the same bytes, wherever it lies and wherever the build goes. Unoptimised, and a
# part of the library, so that it takes seconds; make check-reproducible does it with everything.

bats_require_minimum_version 1.5.0

@test "build: two folders, the same bytes [all]" {
  source=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$BATS_TEST_TMPDIR"
  mkdir one 'another, with a longer name'
  for folder in one another*; do
    cp -R "$source"/Makefile "$source"/lib "$source"/share "$folder"
    mkdir "$folder"/tests
    cp -R "$source"/tests/lint "$folder"/tests
    find "$folder"/lib -name '*.c' ! -path '*/base/*' ! -name 'simd.c' ! -name 'integer-kernels.c' -delete
  done
  # Older files, another build folder, another umask, another number of jobs, another time zone.
  find one -exec touch -d '2020-02-02' {} +
  build='CFLAGS=-O0 -g1'
  unset MAKEFLAGS MAKEOVERRIDES BUILD # another folder of the build that tests are part of
  make -s -C one "$build" build/libran.a build/ran.pc
  (
    umask 077
    TZ=Asia/Tokyo LC_ALL=C.UTF-8 make -s -j 2 -C another* "$build" BUILD="$PWD/elsewhere" \
      "$PWD/elsewhere/libran.a" "$PWD/elsewhere/ran.pc"
  )
  for file in libran.a ran.pc; do
    cmp one/build/$file elsewhere/$file
  done
  run -1 grep -aF "$BATS_TEST_TMPDIR" one/build/libran.a
}
