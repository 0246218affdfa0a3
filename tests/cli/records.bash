# records.bash - what the tests of the record loop share, seen through ran-tokenize encode.

load compare.bash

# abc: a vocabulary, vocab.json, in which a, b and c are 5, 6 and 7.
abc() {
  echo '{"text":"a a a b b c"}' | ran-tokenize learn -q --min-count 1 -o vocab.json
}

# files: what a file of tests has beside the vocabulary; each test begins with all of it, unless it has a setup of its own.
files() { :; }

setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  abc
  files
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  cp "$BATS_FILE_TMPDIR"/*.* .
  set -o pipefail # jq -e has nothing to say about no input
}

# encode ARGUMENT...: with that vocabulary.
encode() {
  ran-tokenize encode --vocab vocab.json "$@"
}

# ids: the ids of each record on standard input, one line a record.
ids() {
  jq -c .encoding.ids
}

# reads INPUT ARGUMENT...: the records that become of INPUT (with printf's escapes), in the file input.
reads() {
  printf "$1" >input
  shift
  run --separate-stderr bash -c 'ran-tokenize encode --vocab vocab.json --into added "$@" |
    sed "s/,\"added\":{.*}}$/}/"; exit ${PIPESTATUS[0]}' - "$@" input
}
