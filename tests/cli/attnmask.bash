# attnmask.bash - what tests of ran-attnmask with a model share.

load compare.bash

# refused STATUS WORDS ARGUMENT...: ends with it, and a message that has WORDS.
refused() {
  local want=$1 words=$2
  shift 2
  run "-$want" --separate-stderr ran-attnmask "$@"
  [[ ${stderr_lines[0]} == "ran-attnmask: "*"$words"* ]] || { echo "$stderr" >&2; false; }
}

# model CASE: its file.
model() {
  echo "$BATS_TEST_DIRNAME/../cases/$1/model.safetensors"
}
