#!/usr/bin/env bats
# --source-file and --target-file: two plain files, line by line, instead of records.

bats_require_minimum_version 1.5.0
load lm.bash

setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN { for (i = 0; i < 60; i++) { a = i % 5; b = int(i / 5) % 4
    printf "{\"source\":\"s%d \\\"s%d\\\\\",\"target\":\"t%d\\tt%d\"}\n", a, b, b, a } }' >pairs.jsonl
  jq -r .source pairs.jsonl >pairs.s
  jq -r .target pairs.jsonl >pairs.t
  echo '-q --dim 8 --layers 1 --heads 1 --head-dim 8 --window 5 --no-dev --epochs 2' >shape
  ran-train lm $(<shape) -o pairs.ran pairs.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  ln -s "$BATS_FILE_TMPDIR"/{pairs.*,shape} .
  set -o pipefail
}

@test "parallel: training is that of the same pairs as records, byte for byte" {
  ran-train lm $(<shape) --source-file pairs.s --target-file pairs.t -o plain.ran
  cmp pairs.ran plain.ran
  # Ends of lines of other systems, a byte order mark, and a last line without an end.
  printf '\xef\xbb\xbf' | cat - pairs.s | sed 's/$/\r/' >other.s
  head -c -1 pairs.t >other.t
  ran-train lm $(<shape) --source-file other.s --target-file other.t -o plain.ran
  cmp pairs.ran plain.ran
}

@test "parallel: records of score and generate" {
  ran-lm score -m pairs.ran pairs.jsonl >want
  ran-lm score -m pairs.ran --source-file pairs.s --target-file pairs.t | jq -c . >got
  jq -c . want | cmp - got
  ran-lm generate -m pairs.ran --temperature 0 --drop target pairs.jsonl >want
  ran-lm generate -m pairs.ran --temperature 0 --source-file pairs.s | jq -c . >got
  jq -c . want | cmp - got
  ran-lm generate -m pairs.ran --eval pairs.jsonl >want
  ran-lm generate -m pairs.ran --eval --source-file pairs.s --target-file pairs.t | cmp - want
}

@test "check: pairs that are copies, or of unusual lengths" {
  awk 'BEGIN {
    for (i = 0; i < 200; i++) {
      s = t = ""
      for (j = 0; j < 12; j++) { s = s " a" (i * 7 + j) % 40; t = t " b" (i * 7 + j) % 40 }
      if (i == 60) print "{\"source\":\"" s "\",\"target\":\"" s "\"}"
      else if (i == 70) print "{\"source\":\"a1 a2\",\"target\":\"" t "\"}"
      else print "{\"source\":\"" s "\",\"target\":\"" t "\"}"
    }
  }' >some.jsonl
  ran-train lm -q --check --vocab-type word some.jsonl >report
  jq -e '.pairs | .count == 200 and .source_tokens.median == 12 and .target_tokens.max == 12
    and .ratio.median == 1 and .ratio.max == 6
    and .unusual_ratio == {count: 1, at: ["some.jsonl:71"]}
    and .copies == {count: 1, at: ["some.jsonl:61"]}' report
  ran-train lm -q --check --vocab-type word --check-format text some.jsonl >text
  grep -A 1 '^Copies of the source as target$' text | grep -qx 1
  # Texts without sources are no pairs.
  echo '{"text":"a b c a b c"}' | ran-train lm -q --check | jq -e 'has("pairs") | not'
}

@test "parallel: large files, more than a pipe holds [all]" {
  awk 'BEGIN { for (i = 0; i < 60000; i++) print "s1 s2 s" i }' >large.s
  ran-train lm --check --source-file large.s --target-file large.s >report
  jq -e '.documents == 60000' report
}

@test "parallel: bad lines are those of the files" {
  printf 's1\n\n\ns2 \xff\ns3\n' >bad.s
  printf 't1\n\nt\nt2\nt3\n' >bad.t
  run -1 --separate-stderr ran-lm score -m pairs.ran --source-file bad.s --target-file bad.t
  [ "${#lines[@]}" -eq 5 ]
  [[ $stderr == *'bad.s:2: the source has no tokens'* && $stderr == *'bad.s:3: the source has no tokens'* ]]
  [[ $stderr == *'bad.s:4: column 4: this is not valid UTF-8'* ]]
  [ "$(jq -c 'select(.ran_error) | .ran_error | [.file, .line]' <<<"$output" | tr '\n' ' ')" = \
    '["bad.s",2] ["bad.s",3] ["bad.s",4] ' ]
  ran-lm score -m pairs.ran --total --source-file pairs.s --target-file pairs.t >want
  { cat pairs.s && echo; } >more.s
  { cat pairs.t && echo; } >more.t
  ran-lm score -m pairs.ran --total --source-file more.s --target-file more.t | cmp - want
  run -3 --separate-stderr ran-train lm $(<shape) -o x.ran --source-file bad.s --target-file bad.t
  [ ! -e x.ran ]
}

@test "parallel: columns of bad bytes are those of the file that has them" {
  printf 's1\n"q"\\ \tx\n' >two.s
  printf 't\n"q"\\ \t\001\xfc x\n' >two.t
  run -1 --separate-stderr ran-lm score -m pairs.ran --source-file two.s --target-file two.t
  [[ $stderr == *'two.t:2: column 8: this is not valid UTF-8 (Windows-1252? iconv'* ]]
  run --separate-stderr ran-train lm --check --source-file two.t --target-file two.s
  [[ $stderr == *'two.t:2: column 8: '* ]]
  # In both: the source comes first.
  run -1 --separate-stderr ran-lm score -m pairs.ran --source-file two.t --target-file two.t
  [[ $stderr == *'two.t:2: column 8: '* ]]
}

@test "parallel: generate writes a record for each line, the empty ones, too" {
  printf 's1 s2\n\n   \ns3\n\n' >gaps.s
  run -0 --separate-stderr ran-lm generate -m pairs.ran --max-new-tokens 3 --source-file gaps.s
  [ -z "$stderr" ]
  [ "$(jq -c .source <<<"$output" | tr '\n' ' ')" = '"s1 s2" "" "   " "s3" "" ' ]
  [ "$(jq -c .lm <<<"${lines[1]}")" = '{"text":"","tokens":0,"finish":"end","nll":0}' ]
  run -0 ran-lm generate -m pairs.ran --max-new-tokens 3 --beam 2 --n-best 1 --source-file gaps.s --target-file gaps.s
  [ "${#lines[@]}" -eq 5 ]
  # A report is of what there is.
  printf 's1 s2\n\ns3\n' >some.s
  printf 't1 t2\n\nt3\n' >some.t
  run -0 --separate-stderr ran-lm generate -m pairs.ran --eval --source-file some.s --target-file some.t
  [ -z "$stderr" ]
}

@test "parallel: what a model of pairs is for" {
  run -0 --separate-stderr ran-train lm $(sed 's/-q //' shape) -o two.ran pairs.jsonl
  [[ $stderr == *'ran-lm generate -m two.ran FILE'* ]]
  ran-train info two.ran | grep -q 'use.*ran-lm generate -m two.ran'
  jq '{text: .target}' pairs.jsonl -c >texts.jsonl
  run -0 --separate-stderr ran-train lm $(sed 's/-q //' shape) -o texts.ran texts.jsonl
  [[ $stderr == *'ran-lm score -m texts.ran FILE'* ]]
}

@test "parallel: what does not go together is said" {
  head -n 5 pairs.s >short.s
  run -3 --separate-stderr ran-train lm $(<shape) -o x.ran --source-file short.s --target-file pairs.t
  [[ $stderr == *'short.s has 5 lines and pairs.t has 60: each line needs its counterpart'* ]]
  run -3 --separate-stderr ran-train lm $(<shape) -o x.ran --source-file none.s --target-file pairs.t
  [[ $stderr == *'cannot open none.s: '* ]]
  # Compressed files and UTF-16 are no lines, and not bad lines either.
  gzip -c pairs.t >packed.t
  run -3 --separate-stderr ran-train lm $(<shape) -o x.ran --source-file pairs.s --target-file packed.t
  [[ $stderr == *'packed.t is compressed with gzip: unpack it first'* ]]
  iconv -t UTF-16 pairs.s >wide.s
  run -3 --separate-stderr ran-lm generate -m pairs.ran --source-file wide.s
  [[ $stderr == *'wide.s is text in UTF-16: convert it'* ]]
  run -2 --separate-stderr ran-train lm $(<shape) -o x.ran --source-file pairs.s
  [[ $stderr == *'--source-file needs --target-file FILE'* ]]
  run -2 --separate-stderr ran-train lm $(<shape) -o x.ran --target-file pairs.t
  [[ $stderr == *'--target-file needs --source-file FILE'* ]]
  run -2 --separate-stderr ran-train lm $(<shape) -o x.ran --source-file pairs.s --target-file pairs.t pairs.jsonl
  [[ $stderr == *'takes the place of records: leave out pairs.jsonl'* ]]
  run -2 --separate-stderr ran-train classify -q -o x.ran --source-file pairs.s --target-file pairs.t
  [[ $stderr == *'-file is for ran-train lm'* ]]
  run -2 --separate-stderr ran-lm generate -m pairs.ran --prompt x --source-file pairs.s
  [[ $stderr == *'--prompt reads no records: leave out --source-file'* ]]
  cp pairs.s keep.s
  run -2 --separate-stderr ran-lm generate -m pairs.ran --source-file keep.s -o keep.s
  cmp pairs.s keep.s
}
