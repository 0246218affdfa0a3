# train.bash - what the tests of training share.

# shellcheck source=tests/cli/compare.bash
source "$(dirname "${BASH_SOURCE[0]}")/compare.bash"

# documents N [MOST]: as many records of 1 to MOST (80) words, whose label a word tells.
documents() {
  awk -v n="$1" -v most="${2:-80}" 'BEGIN {
    split("rain sun snow", sign); split("wet warm white", label)
    for (i = 1; i <= n; i++) {
      words = (i * 37) % most + 1; at = (i * 11) % words
      printf "{\"id\": %d, \"text\": \"", i
      for (w = 0; w < words; w++)
        printf "%s%s", w ? " " : "", w == at ? sign[i % 3 + 1] : "word" (i * w) % 7
      printf "\", \"label\": \"%s\"}\n", label[i % 3 + 1]
    }
  }'
}

# animals N: sentences with a label and spans.
animals() {
  awk -v n="$1" 'BEGIN {
    split("cat dog horse", who); split("sleeps eats runs", does); split("rain sun", in_)
    for (i = 0; i < n; i++)
      printf "{\"id\":%d,\"label\":\"%s\",\"text\":\"the %s %s in the %s .\",\"spans\":[{\"start\":4,\"end\":%d,\"label\":\"ANIMAL\"}]}\n",
        i, in_[i % 2 + 1], who[i % 3 + 1], does[int(i / 3) % 3 + 1], in_[i % 2 + 1], 4 + length(who[i % 3 + 1])
  }'
}

# learns OPTION...: a classifier of animals with these learns what it is taught; train.jsonl has them.
learns() {
  ran-train classify "$@" -o m.ran train.jsonl
  ran-classify -m m.ran --eval train.jsonl | jq -e '.accuracy > 0.95'
}

# tags_predicts_fills TAG LM MLM: so do a tagger, a language model and a masked one, with the options in each.
tags_predicts_fills() {
  export RAN_ISA=portable
  animals 60 >train.jsonl
  ran-train tag $1 -o tags.ran train.jsonl
  ran-tag -m tags.ran train.jsonl | jq -s -e 'all(.prediction.entities | length == 1 and .[0].label == "ANIMAL")'
  ran-train lm $2 -o lm.ran train.jsonl
  ran-lm score -m lm.ran --total train.jsonl | jq -e '.perplexity < 3'
  ran-train mlm $3 -o masked.ran train.jsonl
  echo '{"text":"the [MASK] sleeps in the sun ."}' | ran-lm fill -m masked.ran --top 3 |
    jq -e '[.lm.masks[0].candidates[].piece] | sort == ["cat", "dog", "horse"]'
}

# parts_are_whole OPTION...: a document in parts of seven tokens scores as the whole.
parts_are_whole() {
  animals 60 >train.jsonl
  ran-train lm "$@" --vocab-type word --epochs 4 -o lm.ran train.jsonl
  head -n 3 train.jsonl >some.jsonl
  jq -s -c '{text: map(.text) | join(" ")}' some.jsonl | ran-lm score -m lm.ran --no-end --per-token |
    jq '.lm.per_token.nll[]' >whole
  head -n 1 some.jsonl | ran-lm score -m lm.ran --per-token --state-out s.state | jq '.lm.per_token.nll[]' >parts
  for i in 2 3; do
    sed -n "${i}p" some.jsonl | ran-lm score -m lm.ran --per-token --state-in s.state --state-out s.state |
      jq '.lm.per_token.nll[]'
  done >>parts
  [ "$(wc -l <whole)" -eq "$(wc -l <parts)" ]
  paste whole parts | awk '{ d = $1 - $2; if (d > 1e-4 || d < -1e-4) exit 1 }'
}

# threads_agree OPTION...: 1, 2 and 7 threads write the same classifier.
threads_agree() {
  animals 60 >train.jsonl
  for jobs in 1 2 7; do
    ran-train classify "$@" --dropout 0.1 --epochs 2 -j $jobs -o $jobs.ran train.jsonl
  done
  cmp 1.ran 2.ran
  cmp 1.ran 7.ran
}

# refused STATUS SENTENCE COMMAND...: ends with the status, says the sentence, prints nothing.
refused() {
  local status_wanted=$1 sentence=$2
  shift 2
  run "-$status_wanted" --separate-stderr "$@"
  [ -z "$output" ]
  [[ $stderr == *"$sentence"* ]] || { echo "said: $stderr"; false; }
}

# header MODEL: its JSON.
header() {
  head -c $((8 + $(od -An -t u8 -N 8 "$1"))) "$1" | tail -c +9
}

# metadata MODEL KEY: a text of it.
metadata() {
  header "$1" | jq -r ".__metadata__.$2"
}

# training MODEL: how it was trained.
training() {
  metadata "$1" training
}

# bytes_of MODEL TENSOR: its elements, in hexadecimal.
bytes_of() {
  local at length
  length=$(od -An -t u8 -N 8 "$1" | tr -d ' ')
  at=$(header "$1" | jq -r --arg name "$2" '.[$name].data_offsets | "\(.[1]) \(.[1] - .[0])"')
  head -c $((8 + length + ${at% *})) "$1" | tail -c "${at#* }" | od -An -v -t x1
}

# all_bytes_of MODEL: of each tensor a line, NAME: and its elements, in hexadecimal; none is empty.
all_bytes_of() {
  local length
  length=$(od -An -t u8 -N 8 "$1" | tr -d ' ')
  header "$1" | jq -r 'del(.__metadata__) | to_entries[] | "\(.value.data_offsets[0]) \(.value.data_offsets[1]) \(.key)"' |
    sort -n >"$BATS_TEST_TMPDIR/tensors"
  tail -c +$((9 + length)) "$1" | od -An -v -t x1 -w1 | awk '
    NR == FNR { from[NR] = $1; to[NR] = $2; name[NR] = $3; n = NR; next }
    FNR == 1 { i = 1 }
    i <= n && FNR == from[i] + 1 { printf "%s:", name[i] }
    i <= n && FNR > from[i] { printf "%s", $1 }
    i <= n && FNR == to[i] { print ""; i++ }' "$BATS_TEST_TMPDIR/tensors" -
}

# interrupts PID LIST WANTED: until SIGINT is present in, or absent from, a list of signals that the kernel
# keeps of a process, SigCgt (caught) or ShdPnd (sent, but not seen yet); for half a minute at most.
interrupts() {
  local i state
  for ((i = 0; i < 1500; i++)); do
    state=absent
    (($(awk -v list="$2:" '$1 == list { print "0x" $2 }' "/proc/$1/status") & 2)) && state=present
    [ $state = "$3" ] && return
    sleep 0.02
  done
  echo "never $3 in $2 of $1: SIGINT"
  return 1
}

# ended_by SIGNAL PATTERN FILE COMMAND...: starts it, what it says goes to `said`, and sends it the signal
# when the pattern is in FILE.
ended_by() {
  local signal=$1 pattern=$2 file=$3 pid
  shift 3
  : >said # or what an earlier run said could be taken for its own
  "$@" >said 2>&1 3>&- &
  pid=$!
  wait_for "$pattern" "$file"
  kill "-$signal" $pid 2>/dev/null || true # it may be over
  wait $pid || [ $? -eq $((128 + $(kill -l "$signal"))) ]
}

# wait_for PATTERN FILE: until the pattern is in the file; for five minutes at most, on a busy machine.
wait_for() {
  local i
  for ((i = 0; i < 15000; i++)); do
    grep -qs "$1" "$2" && return
    sleep 0.02
  done
  echo "never seen in $2: $1"
  return 1
}
