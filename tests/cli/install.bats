#!/usr/bin/env bats
# make install into a clean root: all runs from there, a program can be built with the library, and
# uninstall leaves nothing. RAN_BIN is the build that is installed.

bats_require_minimum_version 1.5.0
load compare.bash

setup_file() {
  export root=$BATS_FILE_TMPDIR/root
  source=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  bin=${RAN_BIN:-$source/build}
  export source bin
  into_root install
}

setup() {
  cd "$BATS_TEST_TMPDIR"
  # Nothing of the source or the build is found by chance.
  PATH=$root/usr/bin:/usr/local/bin:/usr/bin:/bin
}

# into_root TARGET SETTING...: make install or uninstall of what is built, with all it was built with.
into_root() {
  make -s -C "$source" BUILD="$bin" DESTDIR="$root" PREFIX=/usr -o all "$@"
}

# folders: what any system has below a prefix, and uninstall leaves.
folders() {
  printf 'usr\nusr/bin\nusr/include\nusr/lib\nusr/share\nusr/share/man\n'
}

weather() {
  for word in wet dry; do
    for i in 1 2 3 4 5 6 7 8; do
      echo "{\"id\":\"$word$i\",\"text\":\"it was a $word day, number $i\",\"label\":\"$word\"}"
    done
  done >train.jsonl
  ran-train classify -q --epochs 2 --dim 8 --heads 1 --head-dim 8 -o model.ran train.jsonl
}

@test "install: what is there" {
  (cd "$root/usr" && find . -type f | sort) >there
  for file in bin/ran-train lib/libran.a lib/pkgconfig/ran.pc include/ran.h share/man/man1/ran-tag.1 \
    share/man/man5/ran-record.5 share/man/man7/ran.7 share/ran/recipes/small-and-fast.json \
    share/ran/examples/text2jsonl share/zsh/site-functions/_ran; do
    grep -qxF "./$file" there
  done
  for program in "$root"/usr/bin/*; do
    [ -x "$program" ]
    [ -f "$root/usr/share/man/man1/${program##*/}.1" ]
    [ -f "$root/usr/share/bash-completion/completions/${program##*/}" ]
  done
  [ -x "$root/usr/share/ran/examples/text2jsonl" ]
  [ ! -x "$root/usr/share/ran/recipes/small-and-fast.json" ]
  # No path of the machine that built it.
  run -1 grep -rF "$source" "$root/usr/share" "$root/usr/lib/pkgconfig" "$root/usr/include"
}

@test "install: everything runs from there [all]" {
  weather
  for program in "$root"/usr/bin/*; do
    "${program##*/}" --version
  done
  ran-classify -m model.ran train.jsonl | jq -se 'length == 16 and all(.prediction.label)'
  "$root/usr/share/ran/examples/text2jsonl" train.jsonl | ran-classify -m model.ran | jq -se '.[0].prediction.label'
  ran-train classify --config "$root/usr/share/ran/recipes/small-and-fast.json" --dry-run train.jsonl
  for script in "$root"/usr/share/ran/*/*; do
    [ ! -x "$script" ] || $(sed -n "1s/^#!//p" "$script") -n "$script"
  done
  ! command -v mandoc >/dev/null || MANPATH=$root/usr/share/man man -l "$root/usr/share/man/man7/ran.7" >/dev/null
}

@test "install: a program is built with the library that was installed [all]" {
  weather
  command -v pkg-config >/dev/null || skip 'no pkg-config'
  mkdir moved
  make -s -C "$source" BUILD="$bin" PREFIX="$PWD/moved" -o all install
  PKG_CONFIG_PATH=$PWD/moved/lib/pkgconfig pkg-config --modversion ran >version
  ran-classify --version | grep -qwF "$(cat version)"
  # As the comment on top of it says.
  flags=$(PKG_CONFIG_PATH=$PWD/moved/lib/pkgconfig pkg-config --cflags --libs ran)
  ${CC:-cc} -std=c11 -Wall -Wextra -Werror -o label "$root/usr/share/ran/examples/label.c" $flags $LDFLAGS
  jq -r .text train.jsonl | head -n 1 >text
  ./label model.ran text >got
  jq -Rc '{text: .}' text | ran-classify -m model.ran --probs >wanted
  [ "$(wc -l <got)" -eq 2 ]
  # The text ends with a line feed here, which is no token; the numbers are rounded.
  while IFS=$(printf '\t') read -r label p; do
    jq -e --arg name "$label" --argjson p "$p" '.prediction.probs[$name] - $p | fabs < 1e-5' wanted
  done <got
  # One that looks at how words are spelled needs to be told.
  ran-train classify -q --epochs 2 --dim 8 --heads 1 --head-dim 8 --spelling 64 -o spelled.ran train.jsonl
  ./label spelled.ran text >got
  jq -Rc '{text: .}' text | ran-classify -m spelled.ran --probs >wanted
  while IFS=$(printf '\t') read -r label p; do
    jq -e --arg name "$label" --argjson p "$p" '.prediction.probs[$name] - $p | fabs < 1e-5' wanted
  done <got
  [ "$(wc -l <got)" -eq 2 ]
  run -3 ./label nowhere.ran text
  [[ $output == 'label: cannot open nowhere.ran: '* ]]
  : >empty
  run -3 ./label model.ran empty
  [ "$output" = 'label: the text has no tokens' ]
  run -2 ./label
}

@test "install: the header stands alone, and the library takes no name but its own" {
  echo '#include <ran.h>' |
    ${CC:-cc} -x c -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$root/usr/include" -
  command -v nm >/dev/null || skip 'no nm'
  # What begins with an underscore is the compiler's.
  nm -g --defined-only "$root/usr/lib/libran.a" 2>/dev/null | awk 'NF == 3 && $3 !~ /^(ran)?_/ { print $3 }' |
    sort -u >others
  cat others
  [ ! -s others ]
}

@test "install: a prefix with a space, and libraries elsewhere [all]" {
  make -s -C "$source" BUILD="$bin" PREFIX="$PWD/a b" LIBDIR=lib/x -o all install
  [ -f 'a b/lib/x/libran.a' ]
  grep -qxF 'libdir=${prefix}/lib/x' 'a b/lib/x/pkgconfig/ran.pc'
  make -s -C "$source" BUILD="$bin" PREFIX="$PWD/a b" LIBDIR=lib/x uninstall
  [ "$(find 'a b' -type f)" = '' ]
  # An apostrophe ended the quotes around it.
  make -s -C "$source" BUILD="$bin" PREFIX="$PWD/Ann's" -o all install
  grep -qxF "prefix=$PWD/Ann's" "Ann's/lib/pkgconfig/ran.pc"
  make -s -C "$source" BUILD="$bin" PREFIX="$PWD/Ann's" uninstall
  [ "$(find "Ann's" -type f)" = '' ]
}

@test "install: twice is once, and uninstall leaves nothing, but what is others' [all]" {
  root=$PWD/root
  into_root install
  find root -type f -exec sha256sum {} + | sort >once
  into_root install
  find root -type f -exec sha256sum {} + | sort | cmp - once
  into_root uninstall
  (cd root && find . -mindepth 1 | sed 's,^\./,,' | sort) >left
  folders | diff - left
  # Again, where there is nothing, and where others have put something.
  into_root uninstall
  into_root install
  : >root/usr/share/ran/mine
  : >root/usr/share/man/man1/other.1
  into_root uninstall
  [ "$(find root -type f | sort | tr '\n' ' ')" = 'root/usr/share/man/man1/other.1 root/usr/share/ran/mine ' ]
}
