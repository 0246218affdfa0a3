# records.bash - what the tests of the record loop share, seen through ran-tokenize encode.

load compare.bash

# abc: a vocabulary, vocab.json, in which a, b and c are 5, 6 and 7.
abc() {
  echo '{"text":"a a a b b c"}' | ran-tokenize learn -q --min-count 1 -o vocab.json
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
