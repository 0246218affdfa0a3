#!/usr/bin/env bats
# The record loop that all programs share, seen through ran-tokenize encode.

bats_require_minimum_version 1.5.0
load records.bash

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  abc
}

# encodes INPUT ARGUMENT...: runs encode on the text of INPUT (with printf's escapes).
encodes() {
  printf "$1" >input.jsonl
  shift
  run --separate-stderr encode "$@" <input.jsonl
}

# ---- what goes through ---------------------------------------------------------------------------

@test "records: the input comes back byte for byte, with one member more" {
  encodes '{ "id" : 12345678901234567890123 ,"x":1.500e+00,"A":"\\u00e9\\/é",\t"text":"a b" }\n'
  [ "$status" -eq 0 ]
  [[ $output == '{ "id" : 12345678901234567890123 ,"x":1.500e+00,"A":"\u00e9\/é",'$'\t''"text":"a b","encoding":{'*'} }' ]]
  [ -z "$stderr" ]
}

@test "records: a result that was there is replaced where it stands" {
  encodes '{"text":"a","encoding":null, "z" : 1}\n'
  [ "$status" -eq 0 ]
  [[ $output == '{"text":"a","encoding":{'*'}, "z" : 1}' ]]
}

@test "records: a name is the same however it is written, and not in another case" {
  encodes '{"Text":"b","t\\u0065xt":"a"}\n'
  [ "$status" -eq 0 ]
  [[ $output == '{"Text":"b","t\u0065xt":"a","encoding":{'*'"ids":[5]'* ]]
}

@test "records: blank lines are skipped, counted and numbered" {
  encodes '\n{"text":"a"}\n  \t\r\n\n{"text":1}\n'
  [ "$status" -eq 1 ]
  [ "${#lines[@]}" -eq 2 ]
  [[ $stderr == *'standard input:5: '* ]]
  encodes '\n\n{"text":"a"}\n' -v
  [[ $stderr == *'1 records, 2 blank lines'* ]]
}

@test "records: CR LF, a byte order mark and a last line without an end" {
  encodes '\xef\xbb\xbf{"text":"a"}\r\n{"text":"b"}\r\n{"text":"c"}'
  [ "$status" -eq 0 ]
  [ "$(ids <<<"$output" | tr '\n' ' ')" = '[5] [6] [7] ' ]
  [[ $output != *$'\r'* ]]
}

@test "records: a byte order mark begins a line, as where files were put together, and nothing else" {
  encodes '{"text":"a"}\n\xef\xbb\xbf{"text":"b"}\n\xef\xbb\xbf\n{"text":"c"}\n'
  [ "$status" -eq 0 ]
  [ "$(ids <<<"$output" | tr '\n' ' ')" = '[5] [6] [7] ' ]
  encodes '{"text":"a"}\n \xef\xbb\xbf{"text":"b"}\n'
  [ "$status" -eq 1 ]
  [[ $stderr == *'standard input:2: column 2: '*'0xEF'* ]]
}

@test "records: a mark within columns and tables lost sentences and quotes" {
  printf 'a O\nb O\n\n\xef\xbb\xbfb O\n\xef\xbb\xbfc O\n\xef\xbb\xbf\nc O\n' >x.conll
  run -0 encode x.conll
  [ "$(ids <<<"$output" | tr '\n' ' ')" = '[5,6] [6,7] [7] ' ]
  printf 'text,x\na,1\n\xef\xbb\xbf"b ""c""",2\n' >x.csv
  run -0 encode x.csv
  [ "$(jq -c '[.text, .x]' <<<"$output" | tr '\n' ' ')" = '["a","1"] ["b \"c\"","2"] ' ]
  # In parts, as a pipe may have it.
  (printf 'text,x\na,1\n\xef' && sleep 0.1 && printf '\xbb' && sleep 0.1 && printf '\xbf"b,c",2\n') | encode >out
  [ "$(jq -c .text out | tr '\n' ' ')" = '"a" "b,c" ' ]
}

@test "records: nothing in, nothing out" {
  encodes ''
  [ "$status" -eq 0 ]
  [ -z "$output$stderr" ]
  encodes '\n \n'
  [ "$status" -eq 0 ]
  [ -z "$output$stderr" ]
}

@test "records: U+0000 in a text is a character like any other" {
  encodes '{"text":"a\\u0000 b"}\n'
  [ "$status" -eq 0 ]
  [[ $output == '{"text":"a\u0000 b","encoding":{'* ]]
}

@test "records: files are read one after another, - is standard input" {
  echo '{"text":"a"}' >1.jsonl
  printf '{"text":"b"}' >2.jsonl
  echo '{"text":"c"}' | encode 1.jsonl - 2.jsonl | ids >got
  [ "$(tr '\n' ' ' <got)" = '[5] [7] [6] ' ]
}

# ---- lines that cannot be used -------------------------------------------------------------------

@test "records: a bad line leaves what could be read, and why, in its place" {
  encodes '{"text":"a"}\n{"id":7,"text":"b","x":tru}\n{"text":"c"}\n'
  [ "$status" -eq 1 ]
  [ "${#lines[@]}" -eq 3 ]
  [ "${lines[1]}" = '{"id":7,"text":"b","ran_error":{"message":"column 24: expected a value, found '\''t'\''","file":"-","line":2}}' ]
  [ "${stderr_lines[0]}" = "ran-tokenize: standard input:2: column 24: expected a value, found 't'" ]
  [ "${stderr_lines[1]}" = 'ran-tokenize: 1 of 3 records failed' ]
}

@test "records: every kind of bad line is refused in its place [all]" {
  printf '%s\n' '[1]' 'word' '"text"' '{"text":"a"' '{"text":"a"}}' '{"text":7}' '{"x":"a"}' \
    '{"text":"\ud800"}' '{"text":"a","text":"b"}' '{"text":"a","t\u0065xt":"b"}' '{"text":""}' \
    >bad.jsonl
  printf '{"text":"\xff"}\n{"text":"a\tb"}\n{"text":"a\x00"}\n{"text":"\xed\xa0\x80"}\n' >>bad.jsonl
  run -1 --separate-stderr encode bad.jsonl
  [ "${#lines[@]}" -eq "$(wc -l <bad.jsonl)" ]
  jq -c . <<<"$output" >/dev/null
  for ((i = 0; i < ${#lines[@]}; i++)); do
    jq -e --argjson line $((i + 1)) '.ran_error | .file == "bad.jsonl" and .line == $line' \
      <<<"${lines[i]}"
    [[ $stderr == *"ran-tokenize: bad.jsonl:$((i + 1)): "* ]]
  done
}

@test "records: a member that is read twice is an error, one that is not passes" {
  encodes '{"text":"a","x":1,"x":2}\n'
  [ "$status" -eq 0 ]
  [[ $output == '{"text":"a","x":1,"x":2,"encoding":'* ]]
  encodes '{"text":"a","text":"b"}\n'
  [ "$status" -eq 1 ]
  [[ $output == *'"ran_error":{"message":"\"text\" is given twice"'* ]]
}

@test "records: an error that came with the record passes unchanged, and is not good" {
  encodes '{"x": 1, "ran_error": {"message":"before"} }\n{"text":"a"}\n' --only --drop x
  [ "$status" -eq 1 ]
  [ "${lines[0]}" = '{"x": 1, "ran_error": {"message":"before"} }' ]
  [[ $stderr == 'ran-tokenize: 1 of 2 records came with an error' ]]
}

@test "records: an error leaves no old result behind" {
  encodes '{"text":1,"encoding":"old"}\n'
  [ "$status" -eq 1 ]
  [[ $output == '{"text":1,"ran_error":'* ]]
}

@test "records: what is wrong with many lines is said once, with the other lines" {
  yes '{"text":word}' | head -100 >bad.jsonl
  run -1 --separate-stderr encode bad.jsonl
  [ "${#lines[@]}" -eq 100 ]
  [ "${#stderr_lines[@]}" -eq 3 ]
  [[ ${stderr_lines[0]} == 'ran-tokenize: bad.jsonl:1: column 9: '* ]]
  [ "${stderr_lines[1]}" = "ran-tokenize: 99 more lines like bad.jsonl:1: bad.jsonl:$(echo $(seq -s ', ' 2 20)), ..." ]
  [ "${stderr_lines[2]}" = 'ran-tokenize: 100 of 100 records failed' ]
  # Numbers make no difference; other files and other mistakes do, and up to three lines are shown whole.
  printf '{"x":1}\n{"x":22\n{"text":"a"}\n{"x":333\n' >one.jsonl
  printf '{"x":2}\n{"x":3}\n\n{"x":4}\n' >two.jsonl
  run -1 --separate-stderr encode one.jsonl two.jsonl
  [[ ${stderr_lines[0]} == 'ran-tokenize: one.jsonl:1: no "tokens"'* ]]
  [[ ${stderr_lines[1]} == 'ran-tokenize: one.jsonl:2: column 8: '* ]]
  [ "${stderr_lines[2]}" = 'ran-tokenize: 3 more lines like one.jsonl:1: two.jsonl:1, 2, 4' ]
  [[ ${stderr_lines[3]} == 'ran-tokenize: one.jsonl:4: column 9: '* ]]
  [ "${#stderr_lines[@]}" -eq 5 ]
}

@test "records: after twenty kinds of mistakes errors are only counted" {
  for i in {1..30}; do
    printf '{"text":%s\n' "$(printf 'x%.0s' $(seq $i) | tr x '\133')$(printf \\$(printf %o $((64 + i))))"
  done >bad.jsonl
  run -1 --separate-stderr encode bad.jsonl
  [ "${#lines[@]}" -eq 30 ]
  [[ $stderr == *'30 of 30 records failed'* && $stderr == *'further bad records are only counted'* ]]
  [ "${#stderr_lines[@]}" -eq 22 ]
}

@test "records: what nobody sees in a message is shown as a code" {
  printf '{"text":"a"}\n{"a\xe2\x80\xae":1}x\n' >$'a\xe2\x80\xaetxt.exe\xe2\x80\x8b.jsonl'
  run -1 --separate-stderr encode $'a\xe2\x80\xaetxt.exe\xe2\x80\x8b.jsonl'
  [[ ${stderr_lines[0]} == 'ran-tokenize: a<U+202E>txt.exe<U+200B>.jsonl:2: '* ]]
  [[ $stderr != *$'\xe2\x80\xae'* ]]
  run -3 --separate-stderr encode $'b\e[31m\xe2\x81\xa6'
  [[ $stderr == *'b<U+001B>[31m<U+2066>'* ]]
}

@test "records: too long is a bad record, and the next ones and the next files are read" {
  long() { head -c "${1-6000000}" /dev/zero | tr '\0' a; } # more than is read at once
  {
    echo '{"text":"a"}' && long && echo && long && printf '\n\n{"text":"b"}\n'
    echo "{\"text\":\"$(long 200)\"}" && echo '{"text":"c"}' && long
  } >x.jsonl
  echo '{"text":"a"}' >y.jsonl
  for way in file pipe; do
    if [ $way = file ]; then
      run -1 --separate-stderr encode --max-record-bytes 100 x.jsonl y.jsonl
    else
      run -1 --separate-stderr encode --max-record-bytes 100 - y.jsonl < <(cat x.jsonl)
    fi
    [ "$(jq -c '.encoding.ids // .ran_error.line' <<<"$output" | tr '\n' ' ')" = '[5] 2 3 [6] 6 [7] 8 [5] ' ]
    [[ ${stderr_lines[0]} == *':2: the record is left out: it is longer than 100 bytes (--max-record-bytes)' ]]
  done
  # First of all, in compressed data, a sentence, a row with its quotes, a document.
  { long && printf '\n{"text":"b"}\n'; } | gzip >z.gz
  run -1 --separate-stderr encode --max-record-bytes 100 z.gz y.jsonl
  [ "$(jq -c '.encoding.ids // .ran_error.line' <<<"$output" | tr '\n' ' ')" = '1 [6] [5] ' ]
  { printf 'a O\nb O\n\nc O\n' && yes 'aaaaaaaaaaaaa O' | head -400000 && printf 'a O\n\nb O\n'; } >x.conll
  run -1 --separate-stderr encode --max-record-bytes 100 x.conll
  [ "$(jq -c '.encoding.ids' <<<"$output" | head -n 1)" = '[5,6]' ]
  [ "$(jq -c '.encoding.ids' <<<"$output" | tail -n 1)" = '[6]' ]
  [[ ${stderr_lines[0]} == *'x.conll:4: the record is left out: '* ]]
  { printf 'text,label\na,x\n"p\n' && long && printf '",y\nb,y\n"b\nc",z\n'; } >x.csv
  run -1 --separate-stderr encode --max-record-bytes 100 x.csv
  [ "$(jq -c '.encoding.ids // .ran_error.line' <<<"$output" | tr '\n' ' ')" = '[5] 3 [6] [6,7] ' ]
  mkdir folder
  long >folder/1.txt
  echo b >folder/2.txt
  run -1 --separate-stderr encode --max-record-bytes 100 folder
  [ "$(jq -c '.encoding.ids' <<<"$output" | tr '\n' ' ')" = 'null [6] ' ]
  [[ $stderr == *'folder/1.txt:1: cannot read the file: it is longer than 100 bytes'* ]]
  run -0 encode --max-record-bytes 0 y.jsonl
}

@test "records: --on-error=skip leaves bad lines out" {
  encodes '{"text":"a"}\nword\n{"text":"b"}\n' --on-error=skip
  [ "$status" -eq 1 ]
  [ "$(ids <<<"$output" | tr '\n' ' ')" = '[5] [6] ' ]
}

@test "records: --on-error=stop ends at the first bad line" {
  encodes '{"text":"a"}\nword\n{"text":"b"}\n' --on-error=stop
  [ "$status" -eq 3 ]
  [ "$(ids <<<"$output" | tr '\n' ' ')" = '[5] ' ]
  [[ $stderr == *'--on-error=stop'* ]]
}

@test "records: --max-errors ends a hopeless run" {
  yes word | head -100 >bad.jsonl
  run -3 --separate-stderr encode --max-errors 3 bad.jsonl
  [ "${#lines[@]}" -eq 3 ]
  [[ $stderr == *'--max-errors'* ]]
}

@test "records: --errors-ok turns 1 into 0" {
  encodes 'word\n{"text":"a"}\n' --errors-ok
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 2 ]
}

@test "records: --rejects keeps bad lines as they came" {
  encodes '{"text":"a"}\n word \xff\n{"text": 1 }\r\n{"ran_error":{}}\n' --rejects bad.txt
  [ "$status" -eq 1 ]
  printf ' word \xff\n{"text": 1 }\n' | cmp - bad.txt
}

# ---- what is written -----------------------------------------------------------------------------

@test "records: --only, --drop and --into" {
  encodes '{"id":9,"text":"a", "x":1}\n' --only
  [[ $output == '{"id":9,"encoding":{'*'}}' ]]
  encodes '{"text":"a", "x":1,"y":2}\n' --drop text --drop y
  [[ $output == '{"x":1,"encoding":{'*'}}' ]]
  encodes '{"text":"a","p":[], "x":1}\n' --into p --drop encoding
  [[ $output == '{"text":"a","p":{"vocab":'*'}, "x":1}' ]]
  encodes '{"text":"a"}\n' --drop text
  [[ $output == '{"encoding":{'*'}}' ]]
}

@test "records: a result could be a second id, or make a good record one that failed" {
  encodes '{"id":9,"text":"a"}\n' --only --into id
  [ "$status" -eq 2 ]
  [[ $stderr == *'--into id: --only writes the id already'* ]]
  # What is no name of JSON would be called something else.
  encodes '{"text":"a"}\n' --into $'a\xff'
  [ "$status" -eq 2 ]
  [ -z "$output" ]
  encodes '{"id":9,"text":"a"}\n' --into ran_error
  [ "$status" -eq 2 ]
  [ -z "$output" ]
}

@test "records: with --only a missing id is the place" {
  echo '{"text":"a"}' >docs.jsonl
  run -0 encode --only docs.jsonl
  [[ $output == '{"id":"docs.jsonl:1","encoding":'* ]]
  encodes '\n{"text":1}\n' --only
  [[ $output == '{"id":"stdin:2","ran_error":{'* ]]
  # null is no id, and in an error record nothing that other programs could not read.
  encodes '{"id":null,"text":"a"}\n{"id": null,"text":1}\n{"id":["\\ud800"],"text":1}\n{"id":"\\ud800","text":"a"}\n' --only
  [[ ${lines[0]} == '{"id":"stdin:1","encoding":'* ]]
  [[ ${lines[1]} == '{"id":"stdin:2","ran_error":{'* ]]
  [[ ${lines[2]} == '{"id":"stdin:3","ran_error":{'* ]]
  [[ ${lines[3]} == '{"id":"\ud800","encoding":'* ]]
}

@test "records: -o appears whole or not at all" {
  encodes '{"text":"a"}\n' -o out.jsonl
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ "$(ids <out.jsonl)" = '[5]' ]
  encodes '{"text":"b"}\nword\n' -o out.jsonl --on-error=stop
  [ "$status" -eq 3 ]
  [ "$(ids <out.jsonl)" = '[5]' ]
  [ "$(echo out*)" = out.jsonl ]
}

# ---- threads and pipes ---------------------------------------------------------------------------

@test "records: the order is that of the input, for any number of threads [all]" {
  awk 'BEGIN { for (i = 0; i < 9000; i++) { printf "{\"id\":%d,\"text\":\"", i
    for (j = 0; j < (i * 7919) % 97; j++) printf "a b "
    print "c\"}" } }' >many.jsonl
  encode -j 1 many.jsonl >1.out
  [ "$(wc -l <1.out)" -eq 9000 ]
  for j in 2 7; do
    encode -j $j many.jsonl >$j.out
    cmp 1.out $j.out
  done
}

@test "records: a live pipe gets each answer before it sends the next line" {
  coproc encode
  local encoder=$COPROC_PID # bash forgets it when the program has ended
  for text in a b c; do
    echo "{\"text\":\"$text\"}" >&"${COPROC[1]}"
    read -r -t 20 answer <&"${COPROC[0]}"
    [[ $answer == "{\"text\":\"$text\",\"encoding\":"* ]]
  done
  # Half a line is not an answer yet; its end is.
  printf '{"text":' >&"${COPROC[1]}"
  ! read -r -t 0.2 answer <&"${COPROC[0]}" || false
  echo '"a"}' >&"${COPROC[1]}"
  read -r -t 20 answer <&"${COPROC[0]}"
  [[ $answer == '{"text":"a","encoding":'* ]]
  exec {COPROC[1]}>&-
  wait "$encoder"
}

@test "records: a closed pipe ends the program quietly" {
  yes '{"text":"a b c"}' 2>/dev/null | encode 2>errors | head -1 >first
  [ "$(ids <first)" = '[5,6,7]' ]
  [ ! -s errors ]
}

@test "records: a closed pipe ends it quietly even where SIGPIPE is ignored" {
  (trap '' PIPE; yes '{"text":"a b c"}' 2>/dev/null | encode 2>errors | head -1 >first)
  [ "$(ids <first)" = '[5,6,7]' ]
  [ ! -s errors ]
}

@test "records: a full disk is an error" {
  [ -e /dev/full ] || skip 'no /dev/full'
  echo '{"text":"a"}' >one.jsonl
  run -3 sh -c 'ran-tokenize encode --vocab vocab.json one.jsonl >/dev/full'
  [ "$output" = 'ran-tokenize: cannot write standard output: No space left on device' ]
  run -3 encode --rejects /dev/full -o out.jsonl <<<'{"x'
  [[ $output == *'cannot write /dev/full: No space left on device'* ]]
}

@test "records: a file that may not grow is an error, as on a full disk, and no signal" {
  yes '{"text":"a word or two"}' | head -n 200 >many.jsonl
  for output in '-o out.jsonl' '>out.jsonl'; do # in blocks of 512 bytes, or of 1024
    run -3 sh -c "ulimit -f 2 && ran-tokenize encode --vocab vocab.json $output many.jsonl"
    [[ $output == 'ran-tokenize: cannot write '*': File too large' ]]
  done
}

@test "records: closed standard output is an error, not a file that was opened instead" {
  echo '{"text":"a"}' >one.jsonl
  run -3 sh -c 'ran-tokenize encode --vocab vocab.json --rejects bad.txt one.jsonl >&-'
  [ "$output" = 'ran-tokenize: cannot write standard output: Bad file descriptor' ]
  [ ! -s bad.txt ]
}

@test "records: what cannot be opened is said before the work begins" {
  echo '{"text":"a"}' >one.jsonl
  run -3 --separate-stderr encode one.jsonl missing.jsonl
  [ -z "$output" ]
  [ "$stderr" = 'ran-tokenize: cannot open missing.jsonl: No such file or directory' ]
  run -3 --separate-stderr encode -o missing/out.jsonl one.jsonl
  [ -z "$output" ]
  run -3 --separate-stderr encode --rejects missing/out one.jsonl
  [ -z "$output" ]
}

# ---- size ----------------------------------------------------------------------------------------

@test "records: a line of 200 MB [all]" {
  { printf '{"id":1,"x":"'; head -c 200000000 /dev/zero | tr '\0' x; printf '","text":"a"}\n{"text":"b"}\n'; } |
    encode --drop x >out.jsonl
  [ "$(wc -l <out.jsonl)" -eq 2 ]
  [ "$(ids <out.jsonl | tr '\n' ' ')" = '[5] [6] ' ]
}

@test "records: 200 MB without an end of line, and no record [all]" {
  head -c 200000000 /dev/zero | tr '\0' '[' >long
  run -1 --separate-stderr encode --input-format=jsonl long
  [[ $output == '{"ran_error":{"message":"column 1: '*'"line":1}}' ]]
}

@test "records: nesting of any depth" {
  { printf '{"text":"a","x":'; head -c 1000000 /dev/zero | tr '\0' '['
    head -c 1000000 /dev/zero | tr '\0' ']'; echo '}'; } >deep.jsonl
  encode deep.jsonl >out.jsonl
  [ "$(head -c 16 out.jsonl)" = '{"text":"a","x":' ]
  [ "$(wc -c <out.jsonl)" -gt 2000000 ]
}

# ---- other formats -------------------------------------------------------------------------------

@test "formats: fastText, found by its first line" {
  encodes '__label__x a b\n__label__y c __label__z\nc\n' --drop encoding
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == '{"label":"x","text":"a b","encoding":'* ]]
  [[ ${lines[1]} == '{"labels":["y","z"],"text":"c","encoding":'* ]]
  [[ ${lines[2]} == '{"text":"c","encoding":'* ]]
}

@test "formats: fasttext-labels makes a list of every label" {
  encodes '__label__x a\na\n' --input-format=fasttext-labels
  [[ ${lines[0]} == '{"labels":["x"],"text":"a",'* ]]
  [[ ${lines[1]} == '{"labels":[],"text":"a",'* ]]
}

@test "formats: tsv and text" {
  encodes 'x y\ta "b"\n' --input-format=tsv
  [[ $output == '{"label":"x y","text":"a \"b\"",'* ]]
  encodes '{"a"}\n' --input-format=text
  [[ $output == '{"text":"{\"a\"}",'* ]]
  encodes 'a\n' --input-format=tsv
  [ "$status" -eq 1 ]
  [[ $output == '{"ran_error":{"message":"no tab: '* ]]
  encodes 'a\xff\n' --input-format=text
  [ "$status" -eq 1 ]
  [[ $output == *'column 2: this is not valid UTF-8'* ]]
}

@test "formats: a line in no known format says which option there is" {
  encodes '\001just words\n'
  [ "$status" -eq 1 ]
  [[ $stderr == *'--input-format'* ]]
}
