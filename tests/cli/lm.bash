# lm.bash - what the tests of ran-lm share. The files are their own.

load compare.bash

# near: whether the numbers on standard input, two a line, are the same within 1e-4; some are needed.
near() {
  awk '{ d = $1 - $2; if (d > 1e-4 || d < -1e-4 || $1 == "null" || NF != 2) { print "off:", $0; bad = 1 } }
    END { exit bad || NR == 0 }'
}

# refused INPUT WORDS ARGUMENT...: ran-lm ARGUMENT... makes of INPUT an error record whose message has
# WORDS, and ends with 1.
refused() {
  local input=$1 words=$2
  shift 2
  printf '%s\n' "$input" >bad.jsonl
  run -1 --separate-stderr ran-lm "$@" bad.jsonl
  [[ $(jq -r .ran_error.message <<<"$output") == *"$words"* ]] || { echo "$output" >&2; false; }
}

# dies WORDS ARGUMENT...: ran-lm ARGUMENT... ends with 3, a message that has WORDS, and no output.
dies() {
  local words=$1
  shift
  run -3 --separate-stderr ran-lm "$@"
  [ -z "$output" ]
  [[ $stderr == *"$words"* ]] || { echo "$stderr" >&2; false; }
}
