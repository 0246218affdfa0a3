#!/usr/bin/env bats
# Vectors of documents as an array of numpy: a row for each record, and a collection to search.

bats_require_minimum_version 1.5.0

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PWD/share/examples:$PATH
  model=$PWD/tests/encoders/bert
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail
  printf '{"id":"%s","text":"%s"}\n' a 'the quick brown fox' b '' c 'rivers run into seas' \
    d 'the quick brown fox jumps' >in.jsonl
}

# numbers FILE: the floats between the header and the array with the name of the vectors, a row a line.
numbers() {
  tail -c +129 "$1" | head -c -144 | od -An -v -t f4 -w128 | sed 's/^ *//; s/  */ /g'
}

@test "arrays: version 1.0, the shape, and the numbers of jsonl; a bad record's are not numbers" {
  run -1 --separate-stderr ran-classify -q --embed -m "$model" --output-format npy -o v.npy in.jsonl
  [ -z "$output" ]
  [ "$(head -c 10 v.npy | od -An -v -t x1 | tr -d ' ')" = 934e554d505901007600 ]
  head -c 128 v.npy | tail -c +11 >head
  [ "$(sed 's/ *$//' head)" = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 32), }" ]
  [ "$(stat -c %s v.npy)" -eq $((128 + 4 * 32 * 4 + 144)) ]
  [ "$(tail -c 144 v.npy | head -c 10 | od -An -v -t x1 | tr -d ' ')" = 934e554d505901007600 ]
  tail -c 134 v.npy | grep -aq "^{'descr': '|S16', 'fortran_order': False, 'shape': (), } *$"
  ran-classify -q --errors-ok --embed -m "$model" in.jsonl |
    jq -e --arg name "$(tail -c 16 v.npy)" -s 'all(.[0, 2, 3]; .prediction.embedding_model == $name)'
  numbers v.npy >rows
  [ "$(wc -l <rows)" -eq 4 ]
  sed -n 2p rows | grep -Eqx '(-?nan ?){32}'
  ran-classify -q --errors-ok --embed -m "$model" in.jsonl |
    jq -r 'select(.prediction) | .prediction.embedding | @tsv' >want
  sed 2d rows | paste -d ' ' - want | awk '{
    for (i = 1; i <= 32; i++) if (($i - $(i + 32)) ^ 2 > 1e-12) exit 1 }'
}

@test "arrays: what is left out has no row, and no record makes no row" {
  run -1 ran-classify -q --embed -m "$model" --output-format npy --on-error skip -o v.npy in.jsonl
  head -c 128 v.npy | grep -aq "'shape': (3, 32)"
  [ "$(numbers v.npy | wc -l)" -eq 3 ]
  ran-classify -q --embed -m "$model" --output-format npy -o none.npy </dev/null
  head -c 128 none.npy | grep -aq "'shape': (0, 32)"
  [ "$(stat -c %s none.npy)" -eq 128 ]
}

@test "arrays: threads change no byte" {
  cat in.jsonl in.jsonl in.jsonl in.jsonl in.jsonl in.jsonl in.jsonl in.jsonl in.jsonl >many.jsonl
  for jobs in 1 3; do
    run -1 ran-classify -q -j $jobs --embed -m "$model" --output-format npy -o $jobs.npy many.jsonl
  done
  cmp 1.npy 3.npy
}

@test "arrays: are a collection, whose rows have numbers for names" {
  run -1 ran-classify -q --embed -m "$model" --output-format npy -o v.npy in.jsonl
  sed -n 3p in.jsonl | ran-classify -q -m "$model" --nearest 9 --among v.npy --only >found
  jq -e '.prediction.nearest | length == 3 and .[0].id == "v.npy:3" and .[0].cosine > 0.9999 and
    all(.[]; .id != "v.npy:2")' found
  # beside records
  sed -n 3p in.jsonl | ran-classify -q -m "$model" --nearest 9 --among v.npy --among in.jsonl --only \
    --on-error skip >both || [ $? -eq 1 ]
  jq -e '.prediction.nearest | length == 6' both
}

@test "arrays: vectors of another model are refused, and those without a name are not" {
  sed 2d in.jsonl >good.jsonl
  other=$BATS_TEST_DIRNAME/../encoders/sentence-max
  ran-classify -q --embed -m "$model" -o v.jsonl good.jsonl
  ran-classify -q --embed -m "$model" --output-format npy -o v.npy good.jsonl
  ran-classify -q --embed -m "$other" --output-format npy -o other.npy good.jsonl
  local mine theirs
  mine=$(tail -c 16 v.npy) theirs=$(tail -c 16 other.npy)
  [ "$mine" != "$theirs" ]
  for file in v.jsonl v.npy; do
    run -3 --separate-stderr ran-classify -m "$other" --nearest 1 --among $file good.jsonl
    [[ $stderr == *"$file"*": its vectors are of the model $mine, and this model is $theirs, "* ]]
    ran-classify -m "$model" --nearest 1 --among $file good.jsonl | jq -e '.prediction.nearest[0].cosine > 0.9999'
  done
  # those of other tools, and of older versions
  head -c -144 v.npy >unnamed.npy
  jq -c 'del(.prediction.embedding_model)' v.jsonl >unnamed.jsonl
  for file in unnamed.jsonl unnamed.npy; do
    run -0 --separate-stderr ran-classify -m "$other" --nearest 1 --among $file good.jsonl
    [ -z "$stderr" ]
  done
  # an array that lost its first bytes is no document, and texts are no vectors
  tail -c +7 v.npy >cut.npy
  run -3 --separate-stderr ran-classify -m "$model" --nearest 1 --among cut.npy good.jsonl
  [[ $stderr == *'cut.npy: no array of numpy, as its name says'* ]]
  run -0 --separate-stderr ran-classify -m "$model" --nearest 1 --among v.jsonl --among good.jsonl good.jsonl
  [[ $stderr == *'--among: 3 records had a vector, and those of 3 were computed from their text'* ]]
}

@test "arrays: misuse, and files that are none" {
  refused() {
    local want=$1
    shift
    run --separate-stderr "$@"
    [ "$status" -gt 1 ]
    [[ $stderr == *"$want"* ]] || { echo "$stderr" >&2; false; }
  }
  refused 'give --embed' ran-classify -m "$model" --output-format npy -o v.npy in.jsonl
  refused 'give --output FILE' ran-classify -m "$model" --embed --output-format npy in.jsonl
  refused 'vectors only' ran-classify -m "$model" --embed --output-format npy -o v.npy --only in.jsonl
  refused 'no regular file' ran-classify -m "$model" --embed --output-format npy -o /dev/stdout in.jsonl
  run -1 ran-classify -q --embed -m "$model" --output-format npy -o v.npy in.jsonl
  search() { refused "$1" ran-classify -m "$model" --nearest 1 --among "$2" in.jsonl; }
  head -c 500 v.npy >cut.npy
  search 'its 4 rows are not all there' cut.npy
  head -c 60 v.npy >cut.npy
  search 'cut off' cut.npy
  sed 's/<f4/<f8/' v.npy >f8.npy
  search '32-bit floats' f8.npy
  sed 's/(4, 32)/(8, 16)/' v.npy >narrow.npy
  search '16 numbers' narrow.npy
  sed 's/(4, 32), /(4, -32),/' v.npy >negative.npy
  search 'negative.npy: ' negative.npy
  sed 's/(4, 32), }            /(4611686018427387904, 32), }/' v.npy >huge.npy
  search 'huge.npy: ' huge.npy
}

@test "arrays: search finds records by meaning" {
  run -1 ran-classify -q --embed -m "$model" --output-format npy -o v.npy in.jsonl
  search "$model" v.npy in.jsonl 'rivers run into seas' 2 >found
  [ "$(wc -l <found)" -eq 2 ]
  head -1 found | grep -q '^1\(\.0*\)\?	"c"	rivers run into seas$'
  run -2 search "$model" v.npy
  run -3 search "$model" v.npy nowhere.jsonl rivers
}

@test "arrays: leak-check finds test records in the training records" {
  printf '{"id":%s,"text":"%s"}\n' 1 'rivers run into seas' 2 'lazy dogs jump' >test.jsonl
  run -1 ran-classify -q --embed -m "$model" --output-format npy -o v.npy in.jsonl
  grep -v '""' in.jsonl >train.jsonl
  leak-check "$model" train.jsonl test.jsonl 0.9999 | cut -f 2- >leaks
  cmp leaks <(printf '1\t"c"\n')
  leak-check "$model" v.npy test.jsonl 0.9999 | cut -f 2- | cmp - <(printf '1\t"v.npy:3"\n')
  run -1 leak-check "$model" train.jsonl in.jsonl 1
  run -2 leak-check "$model" train.jsonl in.jsonl 2
  run -3 leak-check "$model" nowhere.jsonl test.jsonl
}

@test "arrays: clusters are what is linked, the largest first" {
  { cat in.jsonl; sed 's/"id":"./&2/; s/"c"/"e"/' in.jsonl; sed -n 3p in.jsonl | sed 's/"c"/"f"/'; } >all.jsonl
  run -1 --separate-stderr clusters "$model" all.jsonl 0.99999 3
  [ "$(cut -f 1,2 <<<"$output" | tr '\n\t' ' :')" = '1:"c" 1:"c2" 1:"f" 2:"a" 2:"a2" 3:"d" 3:"d2" ' ] ||
    { echo "$output" >&2; false; }
  run -3 clusters nowhere.ran all.jsonl
}

@test "arrays: clusters says what it cannot use" {
  run -2 --separate-stderr clusters "$model"
  [ "$stderr" = 'usage: clusters MODEL FILE [COSINE [K]]' ]
  run -2 --separate-stderr clusters "$model" in.jsonl 0.7 3 x
  [ "$stderr" = 'usage: clusters MODEL FILE [COSINE [K]]' ]
  for k in 0 x -1 1.5 ''; do
    run -2 --separate-stderr clusters "$model" in.jsonl 0.7 "$k"
    [[ -z $output && $stderr == "clusters: K is a number from 1 on, not \"$k\"" ]]
  done
  run -2 --separate-stderr clusters "$model" - <in.jsonl
  [[ -z $output && $stderr == 'clusters: - is no file: it is read three times' ]]
  run -2 --separate-stderr clusters "$model" <(cat in.jsonl)
  [[ -z $output && $stderr == *'is no file: it is read three times' ]]
  run -2 --separate-stderr clusters "$model" in.jsonl 2
  [[ -z $output && $stderr == *'--least must be a number from -1 to 1'* ]]
}
