#!/usr/bin/env bats
# Where results go: files that are read, pipes with a name, limits, standard output of all kinds.

bats_require_minimum_version 1.5.0
load train.bash

setup_file() {
  export PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 12 20 >in.jsonl
  sentence='{"tokens": ["Bob", "went", "to", "Rome"], "tags": ["B-PER", "O", "O", "B-LOC"]}'
  printf '%s\n' "$sentence" "$sentence" "$sentence" >tagged.jsonl
  shape='-q --dim 8 --layers 1 --epochs 1 --window 16 --min-window 4'
  ran-tokenize learn -q -o vocab.json in.jsonl
  ran-train classify $shape --wide 0 --vocab vocab.json -o model.ran in.jsonl
  ran-train tag $shape --wide 0 -o tagger.ran tagged.jsonl
  ran-train lm $shape --min-window 1 --vocab vocab.json -o lm.ran in.jsonl
}

setup() {
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work"
  cp "$BATS_FILE_TMPDIR"/*.* .
  # Not by a name that is the same, and not by one that is alike.
  ln in.jsonl linked.jsonl
  ln -s in.jsonl link.jsonl
}

# unchanged: nothing that was there has changed, and nothing is new.
unchanged() {
  for file in "$BATS_FILE_TMPDIR"/*.*; do
    cmp "$file" "${file##*/}"
  done
  { (cd "$BATS_FILE_TMPDIR" && ls -d ./*.*); ls -d ./link*; } | sort >../wanted
  ls -d ./* | sort | diff ../wanted -
}

# ---- what is read --------------------------------------------------------------------------------

@test "outputs: a checkpoint, or the folder of a search, took the place of what is read, or of the log" {
  cp in.jsonl m.ckpt
  cp in.jsonl m.tune
  for suffix in ckpt tune; do
    for command in "m.$suffix" "--dev m.$suffix in.jsonl" "--vocab m.$suffix in.jsonl" "--log m.$suffix in.jsonl"; do
      refused 2 "m.$suffix" ran-train classify --overwrite-checkpoint --tune 1 -o m $command
      cmp in.jsonl m.$suffix
    done
    rm m.$suffix
    refused 2 "would both write m.$suffix" ran-train classify --tune 1 --log m.$suffix -o m in.jsonl
    [ ! -e m.$suffix ]
  done
  # The folder is that of a search only.
  cp in.jsonl m.tune
  ran-train classify -q --epochs 1 --dim 8 --wide 0 --dev-share 0 -o m m.tune
  cmp in.jsonl m.tune
}

@test "outputs: --rejects emptied the file that was to be read" {
  refused 2 'in.jsonl is an input: --rejects cannot write it, too' ran-classify -m model.ran --rejects in.jsonl in.jsonl
  refused 2 'in.jsonl is an input' ran-classify -m model.ran --rejects linked.jsonl in.jsonl
  refused 2 'link.jsonl is an input' ran-classify -m model.ran --rejects in.jsonl --files-from <(echo link.jsonl)
  refused 2 'standard input is an input' ran-classify -m model.ran --rejects in.jsonl <in.jsonl
  refused 2 'model.ran is an input' ran-classify -m model.ran --rejects model.ran in.jsonl
  refused 2 'vocab.json is an input' ran-tokenize encode --vocab vocab.json --rejects vocab.json in.jsonl
  refused 2 'in.jsonl is an input' ran-train classify --check --rejects in.jsonl in.jsonl
  unchanged
  mkdir folder
  cp in.jsonl folder
  refused 2 'folder/in.jsonl is an input' ran-classify -m model.ran --rejects folder/in.jsonl folder
  cmp in.jsonl folder/in.jsonl
}

@test "outputs: a model was written over by what it found" {
  refused 2 'model.ran is an input: it cannot also be the output' ran-classify -m model.ran -o model.ran in.jsonl
  refused 2 'vocab.json is an input' ran-tokenize encode --vocab vocab.json -o vocab.json in.jsonl
  refused 2 'lm.ran is an input' ran-lm generate -m lm.ran --prompt word1 -o lm.ran
  refused 2 'model.ran is an input' ran-attnmask -m model.ran -o model.ran in.jsonl
  echo '{"dim": 8}' >config.json
  refused 2 'config.json is an input' ran-train classify --config config.json -o config.json in.jsonl
  [ "$(cat config.json)" = '{"dim": 8}' ]
  rm config.json
  unchanged
}

@test "outputs: documents were written over by a report of them, or by a log" {
  refused 2 'in.jsonl is an input' ran-classify -m model.ran --eval -o in.jsonl in.jsonl
  refused 2 'tagged.jsonl is an input' ran-tag -m tagger.ran --eval -o tagged.jsonl tagged.jsonl
  refused 2 'in.jsonl is an input' ran-lm score -m lm.ran --total -o in.jsonl in.jsonl
  refused 2 'in.jsonl is an input: --log cannot write it, too' ran-train classify --log in.jsonl -o new.ran in.jsonl
  refused 2 'in.jsonl is an input' ran-train classify --log in.jsonl --dev in.jsonl -o new.ran link.jsonl
  unchanged
}

@test "outputs: two of them in one file were a mixture" {
  refused 2 '--rejects and --output would both write new' ran-classify -m model.ran -o new --rejects new in.jsonl
  refused 2 'would both write linked.jsonl' ran-classify -m model.ran -o in.jsonl --rejects linked.jsonl vocab.json
  refused 2 '--output and --log would both' ran-train classify -o new.ran --log new.ran in.jsonl
  unchanged
  run -0 ran-classify -m model.ran -o /dev/null --rejects /dev/null in.jsonl
}

@test "outputs: records that were appended to their own file were read again, without end" {
  refused 2 'in.jsonl is an input: it cannot also be standard output' sh -c 'ran-classify -m model.ran in.jsonl >>in.jsonl'
  refused 2 'standard input is an input: it cannot' sh -c 'ran-classify -m model.ran <in.jsonl >>in.jsonl'
  unchanged
}

@test "outputs: records may replace themselves, and a state may go on in its file" {
  run -0 ran-classify -q -m model.ran -o in.jsonl in.jsonl
  [ "$(grep -c '"prediction"' in.jsonl)" -eq 12 ]
  run -0 ran-lm score -q -m lm.ran --state-out s.state -o scores tagged.jsonl
  run -0 ran-lm score -q -m lm.ran --state-in s.state --state-out s.state -o scores tagged.jsonl
}

# ---- standard output -----------------------------------------------------------------------------

@test "outputs: a vocabulary that nobody could read was learned all the same, with status 0" {
  refused 3 'cannot write standard output: Bad file descriptor' sh -c 'ran-tokenize learn -q in.jsonl >&-'
}

@test "outputs: a closed pipe ends learning quietly even where SIGPIPE is ignored" {
  mkfifo pipe
  (
    trap '' PIPE
    exec 3<>pipe 4>pipe 3>&-
    status=0
    timeout 120 ran-tokenize learn -q in.jsonl >&4 2>errors || status=$?
    [ $status -eq 141 ]
  )
  [ ! -s errors ]
}

@test "outputs: a vocabulary could not go where standard output has no name to be opened by" {
  command -v python3 >/dev/null || skip 'there is no python3'
  cat >ask.py <<'END'
import socket, subprocess, sys
ours, theirs = socket.socketpair()
ours.settimeout(20)
status = subprocess.run(["ran-tokenize", "learn", "-q", "in.jsonl"], stdout=theirs).returncode
theirs.close()
text = b""
while True:
    piece = ours.recv(65536)
    if not piece:
        break
    text += piece
sys.stdout.buffer.write(text)
sys.exit(status)
END
  run -0 --separate-stderr python3 ask.py
  ran-tokenize learn -q in.jsonl >wanted.json
  [ "$output" = "$(cat wanted.json)" ]
}

@test "outputs: - was a file of that name" {
  for command in 'ran-tokenize learn -q' 'ran-classify -m model.ran' 'ran-classify -m model.ran --eval' \
    'ran-lm score -m lm.ran --total'; do
    run -0 --separate-stderr $command -o - in.jsonl
    [ "$output" = "$($command in.jsonl)" ]
  done
  refused 2 '--rejects -: ' ran-classify -m model.ran --rejects - in.jsonl
  refused 2 '--log -: ' ran-train classify -o new.ran --log - in.jsonl
  [ ! -e ./- ]
  run -0 ran-classify -m model.ran -o ./- in.jsonl
  [ -s ./- ]
}

# ---- files that are none, and limits -------------------------------------------------------------

@test "outputs: whoever read a pipe with a name was told that it ended before anything was written [all]" {
  mkfifo pipe
  timeout 120 cat pipe >got 3>&- &
  { sleep 0.5; cat in.jsonl; } | timeout 120 ran-classify -m model.ran --eval -o pipe
  wait $!
  ran-classify -m model.ran --eval in.jsonl | cmp - got
}

@test "outputs: a limit for the size of files ended a program without a word" {
  run -3 --separate-stderr bash -c 'ulimit -f 1; exec ran-train classify -q --dim 8 --epochs 1 -o new.ran in.jsonl'
  [[ $stderr == *'cannot write new.ran'*': File too large' ]]
  run -3 --separate-stderr bash -c 'ulimit -f 1; exec ran-tokenize encode --vocab vocab.json -o new in.jsonl'
  [ "$stderr" = 'ran-tokenize: cannot write new: File too large' ]
  run -3 --separate-stderr bash -c 'ulimit -f 1; exec ran-tokenize encode --vocab vocab.json in.jsonl >new'
  [ "$stderr" = 'ran-tokenize: cannot write standard output: File too large' ]
  rm new
  unchanged
}

@test "outputs: what could not be written any more was worked on to the end of the input" {
  [ -e /dev/full ] || skip 'no /dev/full'
  yes '{"text": "word1"}' 2>/dev/null | {
    run -3 timeout 60 ran-tokenize encode --vocab vocab.json -o /dev/full
    [ "$output" = 'ran-tokenize: cannot write /dev/full: No space left on device' ]
  }
  run -3 timeout 60 ran-attnmask --attention window --length 100000000 --format json -o /dev/full
  [ "$output" = 'ran-attnmask: cannot write /dev/full: No space left on device' ]
}

@test "outputs: a link to a file that is not there yet was replaced by the file" {
  mkdir elsewhere
  ln -s elsewhere/new.jsonl new.jsonl
  run -0 ran-classify -m model.ran -o new.jsonl in.jsonl
  [ -L new.jsonl ]
  [ "$(wc -l <elsewhere/new.jsonl)" -eq 12 ]
  ln -s nowhere/new.jsonl lost.jsonl
  run -3 ran-classify -m model.ran -o lost.jsonl in.jsonl
  [ "$output" = 'ran-classify: cannot write lost.jsonl: No such file or directory' ]
  ln -s ring.jsonl ring.jsonl
  run -3 ran-classify -m model.ran -o ring.jsonl in.jsonl
  [ -L ring.jsonl ]
}

@test "outputs: a model that was cut short while it was used ended the program without a word" {
  coproc ran-classify -m model.ran 2>said
  local classifier=$COPROC_PID
  echo '{"text": "word1"}' >&"${COPROC[1]}"
  read -r -t 20 answer <&"${COPROC[0]}"
  [[ $answer == *'"prediction"'* ]]
  : >model.ran
  echo '{"text": "word2"}' >&"${COPROC[1]}"
  status=0
  wait "$classifier" || status=$?
  [ $status -eq 3 ]
  [ "$(cat said)" = 'ran-classify: a file became shorter while it was read, or its disk failed' ]
}

@test "outputs: a model may go to /dev/null, to standard output, or into a pipe" {
  small='-q --encoder none --no-dev'
  ran-train classify $small -o file.ran in.jsonl
  run -0 --separate-stderr ran-train classify $small -o /dev/null in.jsonl
  [ -z "$output$stderr" ]
  ran-train classify $small -o /dev/stdout in.jsonl | cmp - file.ran
  mkfifo pipe
  cat pipe >piped.ran &
  ran-train classify $small -o pipe in.jsonl
  wait
  cmp piped.ran file.ran
  [ ! -e pipe.ckpt ]
  run -0 --separate-stderr ran-train classify --encoder none --no-dev -o /dev/null in.jsonl
  [[ $stderr == *'the model went to /dev/null'* && $stderr != *'use it with'* ]]
  run -0 --separate-stderr ran-train convert -o /dev/null file.ran
  [[ $stderr != *'/dev/null'* ]]
  # With an encoder, there would be a state to keep.
  run -0 ran-train lm -q --dim 8 --epochs 1 --vocab vocab.json -o /dev/null in.jsonl
  run -2 --separate-stderr ran-train lm -q --dim 8 --vocab vocab.json --resume -o /dev/null in.jsonl
  [[ $stderr == *'--resume keeps its state beside the output, and /dev/null is no file'* ]]
  run -2 --separate-stderr ran-train classify -q --tune 1 -o pipe in.jsonl
  [[ $stderr == *'--tune keeps its state'* ]]
  for use in 'ran-classify -m model.ran in.jsonl' 'ran-tag -m tagger.ran tagged.jsonl' \
    'ran-lm score -m lm.ran in.jsonl' 'ran-tokenize encode --vocab vocab.json in.jsonl'; do
    run -0 --separate-stderr $use -o /dev/null
    [ -z "$output$stderr" ]
    same_output "$use -o /dev/stdout" "$use"
  done
}
