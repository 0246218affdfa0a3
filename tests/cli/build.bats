#!/usr/bin/env bats
# How the programs are built: hardened, unless whoever builds them says otherwise.

bats_require_minimum_version 1.5.0

programs='ran-tokenize ran-train ran-classify ran-tag ran-lm ran-attnmask'

setup() {
  root=$BATS_TEST_DIRNAME/../..
  cd "$BATS_TEST_TMPDIR"
  # A parent make would pass on its own settings.
  unset MAKEFLAGS MFLAGS MAKELEVEL
}

# built_with FLAG: whether the programs at hand were; compilers and linkers differ in what they know.
built_with() {
  grep -q -e "$1" "$RAN_BIN/flags"
}

# commands [VARIABLE=VALUE...]: what make would run for an object and a program.
commands() {
  make -s -n -C "$root" BUILD="$PWD/new" V=1 "$@" "$PWD/new/lib/base/error.o" "$PWD/new/ran-tag" |
    grep -E '(error[.]c|libcmd[.]a .*)$'
}

@test "build: programs are position-independent, with tables that are closed once they run" {
  command -v readelf >/dev/null || skip "there is no readelf"
  built_with ' -pie' && built_with '-z,now' || skip "this linker cannot"
  for program in $programs; do
    readelf -hldW "$RAN_BIN/$program" >shown
    grep -q 'Type: *DYN' shown
    grep -q GNU_RELRO shown
    grep -qw BIND_NOW shown
    grep -qE 'GNU_STACK .* RW ' shown
    run ! grep -E '^ *LOAD .* RWE' shown
  done
}

@test "build: overruns of the stack, and of buffers whose sizes are known, end a program [all]" {
  command -v nm >/dev/null || skip "there is no nm"
  built_with -fstack-protector || skip "this compiler cannot"
  for program in $programs; do
    nm -u "$RAN_BIN/$program" >undefined
    grep -q __stack_chk_fail undefined
    ! built_with _FORTIFY_SOURCE || grep -q __fprintf_chk undefined
  done
}

@test "build: every object of the library marks where branches may go" {
  command -v readelf >/dev/null || skip "there is no readelf"
  built_with -fcf-protection || skip "this processor cannot"
  readelf -n "$RAN_BIN/libran.a" >notes
  [ "$(grep -c 'IBT, SHSTK' notes)" -eq "$(grep -c '^File: ' notes)" ]
}

@test "build: what the flags make code for decides, not the compiler's name" {
  [[ $(uname -m) =~ ^(x86_64|i.86)$ ]] || skip "this processor has no other width"
  commands CFLAGS='-O2 -m32' >narrow
  grep -q -e ' -mfpmath=sse ' narrow
  grep -q -e ' -D_FILE_OFFSET_BITS=64 ' narrow
  run ! grep -e -DRAN_HAVE_X86 narrow
  commands CFLAGS='-O2 -m64' >wide
  grep -q -e ' -DRAN_HAVE_X86 ' wide
}

# reads FOLDERS... -- VARIABLE=VALUE...: with those settings, the compiler finds nothing to say of any file there.
reads() {
  local folders=()
  while [ "$1" != -- ]; do
    folders+=("$1")
    shift
  done
  commands "${@:2}" | sed -n 's/ -MMD .*error[.]c$//p' >command
  echo "exec $(cat command) -DRAN_SIMD=base -DRAN_INTEGER=base -DRAN_LANES=4 -fsyntax-only -Werror \"\$@\"" >reader
  cd "$root"
  find "${folders[@]}" -name '*.c' ! -name mpi.c -print0 | xargs -0 -n 40 -P 2 sh "$BATS_TEST_TMPDIR/reader"
}

@test "build: clang has nothing to say of any file [all]" {
  command -v clang >/dev/null || skip "there is no clang"
  reads lib cmd -- CC=clang
}

@test "build: the library is C for 32 bits, too, where a compiler and its headers are there [all]" {
  printf '#include <%s.h>\n' stdio errno sys/stat >one.c
  gcc -m32 -fsyntax-only one.c || skip "there is nothing for 32 bits"
  reads lib -- CC=gcc CFLAGS='-O2 -m32'
}

@test "build: the C library checks sizes where it can, and where nobody else does [all]" {
  commands CFLAGS=-O2 | grep -q -e '-D_FORTIFY_SOURCE=[23] '
  for cflags in -g -O0 '-O2 -O0' '-O1 -fsanitize=address' '-O2 -D_FORTIFY_SOURCE=1'; do
    commands CFLAGS="$cflags" >seen
    run ! grep -e '-D_FORTIFY_SOURCE=[23]' seen
  done
  commands CPPFLAGS=-D_FORTIFY_SOURCE=1 >seen
  run ! grep -e '-D_FORTIFY_SOURCE=[23]' seen
}

@test "build: a warning ends the build of a developer, not of whoever installs the programs" {
  unset WARNINGS
  commands >seen
  grep -q -e '-Wall -Wextra' seen
  run ! grep -e -Werror seen
  WARNINGS='-Wall -Werror' commands >seen
  grep -q -e '-Wall -Werror.*error[.]c$' seen
}

@test "build: what the user says comes last" {
  commands CPPFLAGS=-DCPP CFLAGS='-O2 -fno-stack-protector' LDFLAGS='-no-pie -Wl,-z,lazy' >seen
  grep -q -e '-fstack-protector.* -DCPP -O2 -fno-stack-protector .*error[.]c$' seen
  grep -q -e '-pie -Wl,-z,relro.* -no-pie -Wl,-z,lazy -o .*libcmd[.]a ' seen
}

@test "build: an apostrophe in the name of the folder was one of the shell, a space in BUILD a riddle [all]" {
  mkdir "Ann's code"
  mkdir "Ann's code/tests"
  cp -R "$root/Makefile" "$root/lib" "$root/cmd" "$root/share" "Ann's code"
  cp -R "$root/tests/lint" "Ann's code/tests"
  make -s -C "Ann's code" BUILD="$PWD/new" CPPFLAGS="-DAS='a b'" "$PWD/new/lib/base/error.o"
  [ -f new/lib/base/error.o ]
  run -2 make -s -C "$root" BUILD='a b'
  [[ $output == *'BUILD is "a b": it has to be the name of a folder, without spaces.'* ]]
  run -2 make -s -C "$root" BUILD=
}
