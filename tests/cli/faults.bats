#!/usr/bin/env bats
# What fails below the programs: memory, files, disks, and the programs themselves, which are killed.
# A sample; make check-long tries it all.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=$RAN_BIN:$PATH
  export FAULTS_BIN=$RAN_BIN/faults
  [ -x "$FAULTS_BIN/inject" ] || skip "there is no $FAULTS_BIN/inject: make builds it for make check"
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
}

# inject OPTION... -- COMMAND...: nothing goes wrong.
inject() {
  local options=()
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  run -0 "$FAULTS_BIN/inject" "${options[@]}" "$FAULTS_BIN/preload.so" "$(type -P "$2")" "${@:3}"
  echo "$output"
}

# ---- samples -------------------------------------------------------------------------------------

@test "faults: of each program a sample of all calls that may fail ends in a sentence and loses nothing [all]" {
  run -0 "$BATS_TEST_DIRNAME/../faults/run" 8
  [[ ${lines[-1]} == 'faults: '*', 0 wrong, '* ]]
}

@test "faults: of calls that the same functions lead to, the first and the last can stand for all [all]" {
  documents 9 20 >in.jsonl
  ran-tokenize learn -q -o vocab.json in.jsonl
  inject -o v.json -- ran-tokenize learn -j 1 -o v.json ../in.jsonl
  all=${output%% *}
  inject -u -o v.json -- ran-tokenize learn -j 1 -o v.json ../in.jsonl
  [ "${output%% *}" -gt 60 ]
  [ "${output%% *}" -lt "$all" ]
}

@test "faults: a training run killed at any moment resumes to the same model [all]" {
  run -0 "$BATS_TEST_DIRNAME/../faults/kills" 10
  [[ ${lines[-1]} == '18 times a training was ended early: nothing lost'* ]]
}

@test "faults: a folder where nobody may write keeps its files" {
  # A user who owns nothing, where that can be had: root may write everywhere.
  local as=()
  if [ "$(id -u)" -eq 0 ]; then
    as=(setpriv --reuid=65534 --clear-groups)
    "${as[@]}" ran-tokenize --version >/dev/null 2>&1 || skip 'another user cannot run the programs'
  fi
  mkdir closed
  echo old >closed/vocab.json
  documents 6 >closed/train.jsonl
  chmod -R a+rX "$BATS_TEST_TMPDIR" && chmod a-w closed
  "${as[@]}" test -r closed/train.jsonl || skip 'another user cannot come here'
  mkdir -m 777 counts # of a coverage build, which may not write where it stands either
  export GCOV_PREFIX=counts
  run -3 "${as[@]}" "$(type -P ran-tokenize)" learn -o closed/vocab.json closed/train.jsonl
  [ "$output" = 'ran-tokenize: cannot write closed/vocab.json: Permission denied' ]
  run -3 "${as[@]}" "$(type -P ran-train)" classify -o closed/m.ran closed/train.jsonl
  [ "$output" = 'ran-train: cannot write closed/m.ran: Permission denied' ]
  chmod u+w closed
  [ "$(echo closed/*)" = 'closed/train.jsonl closed/vocab.json' ]
  [ "$(cat closed/vocab.json)" = old ]
}

# ---- found by them -------------------------------------------------------------------------------

@test "faults: memory that runs out for the output was a lost output, and status 0 [all]" {
  documents 2 9 >two.jsonl
  ran-tokenize learn -q -o vocab.json two.jsonl
  inject -- ran-tokenize encode -j 1 --vocab ../vocab.json ../two.jsonl
}

@test "faults: memory that ran out for a picture was a broken one, and status 0 [all]" {
  inject -o grid.svg -- ran-attnmask --attention window --window 2 --length 3 --format svg -o grid.svg
}

@test "faults: memory that ran out while options were read was a usage error [all]" {
  inject -o grid.txt -- ran-attnmask --attention window --window 2 --length 3 -o grid.txt
}

@test "faults: a program that died, or was stopped by Ctrl-C, left its temporary file [all]" {
  documents 1 >one.jsonl
  ran-tokenize learn -q -o vocab.json one.jsonl
  inject -n 20 -o v.json -- ran-tokenize learn -j 1 -o v.json ../one.jsonl
  inject -n 20 -t -o v.json -- ran-tokenize learn -j 1 -o v.json ../one.jsonl # on NFS, say
  rm -r run
  mkfifo pipe
  ran-tokenize encode --vocab vocab.json -o out.jsonl --rejects seen pipe 2>said 3>&- &
  exec 9>pipe
  echo '{"text": nonsense' >&9
  wait_for nonsense seen
  kill -TERM $!
  status=0
  wait $! || status=$?
  exec 9>&-
  [ $status -eq 143 ]
  [ "$(echo *)" = 'one.jsonl pipe said seen vocab.json' ]
}

@test "faults: memory that ran out while --dry-run reckoned was a memory of 0 bytes, and status 0 [all]" {
  documents 4 9 >in.jsonl
  ran-tokenize learn -q -o vocab.json in.jsonl
  for encoder in ran transformer; do
    local command=(ran-train classify --dim 8 --layers 1 --heads 2 --head-dim 4 --window 16 --min-window 4 --encoder "$encoder"
      --wide 0 --no-dev --epochs 1 --dry-run -j 1 --vocab vocab.json in.jsonl)
    good=$("${command[@]}" | grep -vE '^(time|memory)')
    # Until long after all was reckoned; the time, and the memory that the program has already, are
    # others each time.
    for ((at = 1, goes = 0; goes < 20; at++)); do
      head -c 4096 /dev/zero >counts
      run --separate-stderr env FAULTS_COUNTS=counts FAULTS_CALL=memory FAULTS_AT=$at FAULTS_ERRNO=12 \
        LD_PRELOAD="$FAULTS_BIN/preload.so" ASAN_OPTIONS=allocator_may_return_null=1:verify_asan_link_order=0 "${command[@]}"
      [ "$status" -eq 3 ] || {
        [ "$(grep -vE '^(time|memory)' <<<"$output")" = "$good" ]
        [[ $output =~ memory\ +[0-9.]+[MG]B, ]]
        goes=$((goes + 1))
      }
    done
  done
}
