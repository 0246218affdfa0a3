#!/usr/bin/env bats
# ran-train tag --join-sentences, and ran-tag with such a model: sentences of one `doc` are read as one
# document.

bats_require_minimum_version 1.5.0
load compare.bash

# Whether Jordan is a person or a place was said in the sentence before, if anywhere.
setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN { for (i = 0; i < 120; i++) { sport = (i * 7) % 3 == 0
    printf "{\"doc\":%d,\"tokens\":[\"a\",\"%s\",\"page\"],\"tags\":[\"O\",\"O\",\"O\"]}\n", i, sport ? "sports" : "travel"
    printf "{\"doc\":%d,\"tokens\":[\"Jordan\",\"was\",\"great\"],\"tags\":[\"%s\",\"O\",\"O\"]}\n", i, sport ? "B-PER" : "B-LOC" } }' >pages.jsonl
  shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 16 --min-window 2 --no-dev --min-count 1'
  RAN_ISA=portable ran-train tag -q $shape --epochs 20 --learning-rate 0.02 --join-sentences 4 -o joined.ran pages.jsonl
  RAN_ISA=portable ran-train tag -q $shape --epochs 20 --learning-rate 0.02 -o single.ran pages.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  cp "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl .
  set -o pipefail # jq -e has nothing to say about no input
}

tagged() {
  ran-tag -m joined.ran "$@" | jq -c '.prediction.tags // .ran_error.message'
}

@test "join: what one sentence says helps with the next" {
  ran-tag -m joined.ran --eval --eval-format=json pages.jsonl | jq -e '.n == 240 and .strict.micro.f1 == 1'
  ran-tag -m single.ran --eval --eval-format=json pages.jsonl | jq -e '.strict.micro.f1 < 0.8'
  ran-tag -m joined.ran pages.jsonl | jq -se 'length == 240 and all(.tags == .prediction.tags)'
  # Without `doc` each stands alone.
  jq -c 'del(.doc)' pages.jsonl | ran-tag -m joined.ran | jq -sc 'map(.prediction.tags[0]) | unique | length' |
    grep -qx 2
}

@test "join: the loss of joined sentences is that of chains, one a sentence" {
  # One document of two sentences, the first of which has the most probable tags of all.
  ran-train tag --check --join-sentences 4 pages.jsonl 2>/dev/null |
    jq -e '.documents == 120 and .tokens == 720 and .length.max == 6'
  ran-train tag --check --join-sentences 2 --dev pages.jsonl pages.jsonl 2>/dev/null | jq -e '.dev.documents == 120'
  jq -c '.doc = "one"' pages.jsonl >one.jsonl
  ran-train tag --check --join-sentences 100 one.jsonl 2>/dev/null | jq -e '.documents == 3 and .length.max == 300'
  jq -c '.doc = null' pages.jsonl >none.jsonl
  ran-train tag --check --join-sentences 100 none.jsonl 2>/dev/null | jq -e '.documents == 240'
}

@test "join: one line for one line, in order, for any number of threads and however the input arrives" {
  awk 'NR % 7 == 3 { print "no record" } NR % 11 == 5 { print "" } NR % 26 == 1 { print "{\"tokens\":[],\"doc\":1}" }
    NR % 17 == 2 { print "{\"ran_error\":{\"message\":\"before\"}}" } { print }' pages.jsonl >mixed.jsonl
  ran-tag -m joined.ran -j 1 -v mixed.jsonl >1.out 2>1.err || [ $? -eq 1 ]
  [ "$(grep -c . mixed.jsonl)" -eq "$(wc -l <1.out)" ]
  jq -sc '[.[] | select(.prediction) | .tags]' 1.out | cmp - <(jq -sc 'map(.tags)' pages.jsonl)
  # A line that cannot be used does not come between sentences of a document.
  jq -se 'all(if .prediction then .tags == .prediction.tags else .ran_error end)' 1.out
  ran-tag -m joined.ran -j 4 mixed.jsonl >4.out || [ $? -eq 1 ]
  cmp 1.out 4.out
  # Byte by byte, nearly.
  (while IFS= read -r line; do printf '%s' "${line:0:9}"; printf '%s\n' "${line:9}"; done <mixed.jsonl) |
    ran-tag -m joined.ran -j 2 -v >slow.out 2>slow.err || [ $? -eq 1 ]
  sed 's/"file":"mixed.jsonl"/"file":"-"/' 1.out | cmp - slow.out
  grep -q 'mixed.jsonl:.* 23, ' 1.err
  sed 's/mixed.jsonl/standard input/g' 1.err | cmp - slow.err
  sed 's/$/\r/' mixed.jsonl | ran-tag -m joined.ran >crlf.out || [ $? -eq 1 ]
  cmp crlf.out slow.out
}

@test "join: many documents, of which groups of lines end anywhere" {
  awk 'BEGIN { for (i = 0; i < 9500; i++)
    printf "{\"doc\":\"%d\",\"tokens\":[\"%s\",\"Jordan\"]}\n", i / 3, i % 3 ? "was" : i % 2 ? "sports" : "travel" }' >many.jsonl
  ran-tag -m joined.ran many.jsonl >whole.out
  [ "$(wc -l <whole.out)" -eq 9500 ]
  # Each document by itself says the same.
  for first in 1 4096 4099 8191 9499; do
    first=$(((first - 1) / 3 * 3 + 1))
    sed -n "$first,$((first + 2))p" many.jsonl | ran-tag -m joined.ran | cmp - <(sed -n "$first,$((first + 2))p" whole.out)
  done
}

@test "join: a document lies in one file, and has so many sentences at most" {
  head -1 pages.jsonl >a.jsonl
  sed -n 2p pages.jsonl >b.jsonl
  cat a.jsonl b.jsonl | tagged >joined
  tagged a.jsonl b.jsonl >apart
  (tagged a.jsonl; tagged b.jsonl) | cmp - apart
  ran-tag -m joined.ran --logits a.jsonl b.jsonl | jq -c .prediction.logits >apart.logits
  cat a.jsonl b.jsonl | ran-tag -m joined.ran --logits | jq -c .prediction.logits >joined.logits
  run ! cmp -s apart.logits joined.logits
  # The fifth and sixth begin anew.
  for _ in 1 2 3; do cat a.jsonl b.jsonl; done | ran-tag -m joined.ran --logits | jq -c .prediction.logits >six.logits
  tail -n 2 six.logits | cmp - joined.logits
  run ! cmp -s <(head -n 2 six.logits) joined.logits
}

@test "join: a live pipe gets its answers when the document has ended [all]" {
  coproc ran-tag -m joined.ran
  # bash forgets all of it when the program has ended, which may be before its last answer is read.
  local tagger=$COPROC_PID from to
  exec {from}<&"${COPROC[0]}" {to}>&"${COPROC[1]}" {COPROC[1]}>&-
  echo '{"doc":1,"tokens":["sports"]}' >&"$to"
  echo '{"doc":1,"tokens":["Jordan"]}' >&"$to"
  ! read -r -t 0.3 answer <&"$from" || false
  echo '{"doc":2,"tokens":["travel"]}' >&"$to"
  read -r -t 20 answer <&"$from"
  [[ $answer == '{"doc":1,"tokens":["sports"],"prediction"'* ]]
  read -r -t 20 answer <&"$from"
  [[ $answer == '{"doc":1,"tokens":["Jordan"],"prediction"'* ]]
  # One that belongs to none waits for nothing.
  echo '{"tokens":["Jordan"]}' >&"$to"
  read -r -t 20 answer <&"$from"
  [[ $answer == '{"doc":2,'* ]]
  read -r -t 20 answer <&"$from"
  [[ $answer == '{"tokens":["Jordan"],"prediction"'* ]]
  # Nor does one that is full.
  for _ in 1 2 3 4; do echo '{"doc":3,"tokens":["Jordan"]}' >&"$to"; done
  for _ in 1 2 3 4; do read -r -t 20 answer <&"$from"; done
  echo '{"doc":3,"tokens":["last"]}' >&"$to"
  exec {to}>&-
  read -r -t 20 answer <&"$from"
  [[ $answer == '{"doc":3,"tokens":["last"],"prediction"'* ]]
  wait "$tagger"
}

@test "join: weights of one document are one weight" {
  jq -c '.weight = 2' pages.jsonl >weighed.jsonl
  ran-train tag --check --join-sentences 4 weighed.jsonl >/dev/null 2>&1
  sed '2s/"weight":2/"weight":3/' weighed.jsonl >bad.jsonl
  run -4 --separate-stderr ran-train tag --check --join-sentences 4 bad.jsonl
  [[ $stderr == *'bad.jsonl:2: its "weight" differs from that of the sentence before it'* ]]
  # Left out, it brings no tag into the model, and does not count as one of those that are joined.
  {
    sed -n 1p pages.jsonl
    sed -n '2s/{/{"weight":3,/; 2s/B-[A-Z]*/B-NEW/p' pages.jsonl
    sed 1d pages.jsonl
  } >bad.jsonl
  ran-tokenize learn -q --min-count 1 -o vocab.json pages.jsonl
  learn() { ran-train tag -q --vocab vocab.json --dim 8 --epochs 1 --join-sentences 2 --on-error=skip --errors-ok "$@"; }
  learn -o left.ran bad.jsonl
  learn -o good.ran pages.jsonl
  cmp left.ran good.ran
}

@test "join: spans, and documents that are cut" {
  cat >text.jsonl <<'EOF'
{"doc":1,"text":"a sports page","spans":[]}
{"doc":1,"text":"Jordan was great","spans":[{"start":0,"end":6,"label":"PER"}]}
EOF
  ran-tag -m joined.ran text.jsonl | jq -se '.[1].prediction.entities[0] | [.start, .end, .label] == [0, 6, "PER"]'
  ran-tag -m joined.ran --eval --eval-format=json text.jsonl | jq -e '.strict | .gold == 1 and .correct == 1 and .sentences == 2'
  # Each sentence is cut by itself.
  ran-tag -m joined.ran --max-tokens 1 text.jsonl |
    jq -se 'map(.prediction | [(.tags | length), .truncated.kept]) == [[3, 1], [3, 1]]'
}
