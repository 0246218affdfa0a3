#!/usr/bin/env bats
# Compressed input, text files named by themselves, and plain lines on standard input.

bats_require_minimum_version 1.5.0
load records.bash

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  cp "$BATS_FILE_TMPDIR"/*.* .
  printf '{"text":"a b"}\n\n{"text":"c"}\n' >x.jsonl
}

@test "compressed: gzip, zstd and xz, by their first bytes, in files" {
  for program in gzip zstd xz; do
    command -v $program >/dev/null || continue
    $program -c <x.jsonl >packed
    [ "$(encode packed | ids)" = $'[5,6]\n[7]' ]
    [ "$(encode <packed | ids)" = $'[5,6]\n[7]' ]
    run -3 --separate-stderr encode < <(cat packed)
    [[ $stderr == *"compressed with $program: unpack it first"* ]]
    [ "$(encode --only packed | jq -r .id | tail -n 1)" = packed:3 ]
  done
  # Several members, one behind the other, and none at all.
  { gzip -c <x.jsonl; gzip -c <x.jsonl; } >packed
  [ "$(encode packed | wc -l)" -eq 4 ]
  : | gzip -c >packed
  [ -z "$(encode packed)" ]
}

@test "compressed: tables, and files in folders by the ending below" {
  mkdir all
  printf 'text,label\n"a\nb",x\n' | gzip >all/1.csv.gz
  gzip -c x.jsonl >all/2.jsonl.gz
  printf 'a\nb' | gzip >all/3.txt.gz
  printf 'a' >all/4.txt
  run -0 --separate-stderr encode --only all
  [ "$(jq -c '[.id, .encoding.ids]' <<<"$output")" = '["all/1.csv.gz:2",[5,6]]
["all/2.jsonl.gz:1",[5,6]]
["all/2.jsonl.gz:3",[7]]
["all/3.txt.gz",[5,6]]
["all/4.txt",[5]]' ]
  [ -z "$stderr" ]
  encode all >whole
  for i in 1 2 3 4 5; do encode --shard $i/5 all; done | cmp - whole
  encode -j 5 all | cmp - whole
}

@test "compressed: a truncated or damaged archive is an error that names the file" {
  seq 20000 | sed 's/.*/{"text":"a &"}/' | gzip >x.gz
  head -c 20000 x.gz >cut.gz
  run -3 --separate-stderr encode cut.gz
  [[ $stderr == *'cannot read cut.gz: gzip cannot unpack it: it is damaged, or ends too early'* ]]
  run -3 --separate-stderr encode - <cut.gz
  [[ $stderr == *'cannot read standard input: gzip cannot unpack it'* ]]
  printf '\037\213\010junk' >junk
  run -3 --separate-stderr encode junk
  [[ $stderr == *'cannot read junk: gzip cannot unpack it'* ]]
  # One document of many does not stop the others.
  mkdir all
  head -c 100 x.gz >all/1.txt.gz
  echo a >all/2.txt
  run -1 --separate-stderr encode --only all
  [[ $stderr == *'all/1.txt.gz:1: cannot read the file: gzip cannot unpack it: it is damaged, or ends too early'* ]]
  [ "$(ids <<<"${lines[1]}")" = '[5]' ]
}

@test "compressed: in a folder of whole files, wherever in memory a file begins" {
  mkdir whole
  head -c 1048575 /dev/zero | tr '\0' a >whole/a.txt
  printf 'b c' | gzip >whole/b.txt.gz
  printf 'd' | xz >whole/c.txt.xz
  ran-tokenize records -q --input-format file whole | jq -c 'select(.text | length < 9) | .text' | cmp - <(printf '"b c"\n"d"\n')
}

# The lines before the damage are good: how many, gzip decides.
@test "compressed: a truncated archive loses none of the lines that it gave [all]" {
  for program in gzip zstd xz; do
    command -v $program >/dev/null || continue
    for n in 100 20000; do
      seq $n | sed 's/.*/{"text":"a &"}/' | $program -c >x.packed
      head -c $(($(wc -c <x.packed) * 3 / 4)) x.packed >cut.packed
      given=$($program -dcq cut.packed 2>/dev/null | wc -l) || true
      run -3 --separate-stderr encode --only cut.packed
      [ "${#lines[@]}" -eq "$given" ]
      [[ $stderr == *"cannot read cut.packed: $program cannot unpack it"* ]]
    done
  done
}

@test "compressed: settings of the user reach no program that unpacks" {
  printf '{"text":"a b"}\n' >one.jsonl
  for program in gzip zstd xz; do
    command -v $program >/dev/null || continue
    $program -c one.jsonl >x.packed
    run -0 --separate-stderr env GZIP=--no-such-option XZ_OPT=--memlimit=1KiB XZ_DEFAULTS=--no-such-option \
      ZSTD_CLEVEL=x ZSTD_NBTHREADS=x PIGZ=-x "$(command -v ran-tokenize)" encode --vocab vocab.json x.packed
    [ "$(ids <<<"$output")" = '[5,6]' ]
    [ -z "$stderr" ]
  done
}

@test "compressed: without the program, a message says what to install" {
  gzip -c x.jsonl >x.gz
  bin=$(dirname "$(command -v ran-tokenize)")
  run -3 --separate-stderr env PATH=/nonexistent "$bin/ran-tokenize" encode --vocab vocab.json x.gz
  [[ $stderr == *'cannot read x.gz: '*'no program gzip'* ]]
}

@test "compressed: names of files are no commands" {
  gzip -c x.jsonl >'$(touch owned).gz'
  gzip -c x.jsonl >'-rf;touch owned'
  [ "$(encode ./*.gz ./-rf* | wc -l)" -eq 4 ]
  [ ! -e owned ]
}

@test "compressed: the child ends with the program, and before it" {
  { printf '{"text":"a"}\n{"text":1}\n' && yes '{"text":"a"}' | head -n 400000; } | gzip >x.gz # more than pipes hold
  mkdir bin
  printf '#!/bin/sh\necho $$ >>pids\nexec %s "$@"\n' "$(command -v gzip)" >bin/gzip
  chmod +x bin/gzip
  PATH=$PWD/bin:$PATH
  run -3 encode --on-error stop x.gz
  set +o pipefail
  encode --only x.gz 2>/dev/null | head -n 1 >one
  [ "$(wc -l <one)" -eq 1 ]
  [ "$(wc -l <pids)" -eq 2 ]
  while read -r pid; do
    timeout 120 sh -c 'while kill -0 "$1" 2>/dev/null; do sleep 0.02; done' - "$pid"
  done <pids
}

# ---- text ----------------------------------------------------------------------------------------

@test "text: a text file named by itself is a document, and that is said once" {
  printf 'Dear a,\n\nb' | tee letter.txt >other.txt
  run -0 --separate-stderr encode letter.txt other.txt x.jsonl
  [ "$(jq -c '[.id, .text]' <<<"$output")" = '["letter.txt","Dear a,\n\nb"]
["other.txt","Dear a,\n\nb"]
[null,"a b"]
[null,"c"]' ]
  [ "$stderr" = 'ran-tokenize: letter.txt is read as one document (--input-format text: each line is one)' ]
  run -0 --separate-stderr encode --input-format text letter.txt
  [ "${#lines[@]}" -eq 2 ]
  # The name of a file of records says that it is none.
  mv letter.txt letter.jsonl
  run -1 --separate-stderr encode letter.jsonl
  [ "${#lines[@]}" -eq 2 ]
}

@test "text: a plain line on standard input is a text" {
  run -0 --separate-stderr encode <<<$'a b\n\n{"text":"c"}'
  [ "$(jq -r .text <<<"$output")" = $'a b\n{"text":"c"}' ]
  [ "$stderr" = 'ran-tokenize: standard input: each line is read as a text (--input-format file: the whole file is one)' ]
  [ "$(encode -q <(echo 'a b') | ids)" = '[5,6]' ]
}
