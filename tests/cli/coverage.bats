#!/usr/bin/env bats
# ran-classify --coverage: sets of labels that hold the right one as often as was asked for.

bats_require_minimum_version 1.5.0

# noisy SEED N: documents whose one telling word is right three times out of four; else it says
# another of four labels. Which one that is no model can know.
noisy() {
  awk -v seed="$1" -v n="$2" 'BEGIN {
    srand(seed); split("ann bob cid dan", label)
    for (i = 1; i <= n; i++) {
      gold = int(4 * rand()) + 1; told = rand() < 0.75 ? gold : int(4 * rand()) + 1
      weak = rand() < 0.3 # these hide it
      printf "{\"id\":%d,\"text\":\"a%d %s b%d\",\"label\":\"%s\"}\n", i, 9 * rand(), weak ? "x" : "says" told,
        9 * rand(), label[gold]
    }
  }'
}

setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  noisy 1 1500 >train.jsonl
  noisy 2 400 >dev.jsonl
  noisy 3 2000 >test.jsonl
  shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 8 --min-window 2 --learning-rate 0.01 --epochs 3'
  RAN_ISA=portable ran-train classify -q $shape --dev dev.jsonl -o model.ran train.jsonl
  RAN_ISA=portable ran-train classify -q $shape --no-refit -o held.ran train.jsonl
  RAN_ISA=portable ran-train classify -q $shape --no-dev -o none.ran train.jsonl
  head -200 train.jsonl | jq -c '.labels = [.label] | del(.label)' >several.jsonl
  RAN_ISA=portable ran-train classify -q $shape -o several.ran several.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  load train.bash
  cd "$BATS_FILE_TMPDIR"
  out=$BATS_TEST_TMPDIR
  set -o pipefail # jq -e has nothing to say about no input
}

# Four standard errors of 400 documents to calibrate with (150 held out) and 2,000 to test on.
@test "coverage: the promise is kept on documents that nobody has seen [all]" {
  for coverage in 0.5 0.8 0.9 0.95; do
    ran-classify -m model.ran --coverage $coverage --eval test.jsonl >"$out/report"
    jq -e "($coverage * (1 - $coverage) * (1 / 400 + 1 / 2000) | sqrt * 4) as \$e |
      .sets.coverage - $coverage | fabs < \$e" "$out/report"
    ran-classify -m held.ran --coverage $coverage --eval test.jsonl |
      jq -e "($coverage * (1 - $coverage) * (1 / 150 + 1 / 2000) | sqrt * 4) as \$e |
        .sets.coverage - $coverage | fabs < \$e"
  done
  # What is left open is as small as the noise lets it be: not all of them.
  jq -e '.sets.size < 3.5 and .sets.size > 1.2' "$out/report"
}

@test "coverage: on the calibrating documents it is exact, to the document" {
  for coverage in 0.6 0.9 0.975; do
    ran-classify -m model.ran --coverage $coverage --eval dev.jsonl |
      jq -e ".sets.coverage * 400 - (401 * $coverage | ceil) | . >= -1e-6 and . < 3" # equals come along
  done
}

@test "coverage: the set grows with it, holds the labels that are probable enough, in their order [all]" {
  for coverage in 0.5 0.8 0.95; do
    ran-classify -m model.ran --coverage $coverage --probs test.jsonl >"$out/$coverage.jsonl"
    jq -se 'all(.prediction | .set as $set | .probs as $p | (.set == (.set | sort)) and
      ([$p | to_entries[] | select(.key | IN($set[])) | .value] | min) as $least |
      ([$p | to_entries[] | select(.key | IN($set[]) | not) | .value] | max) as $most |
      $least == null or $most == null or $least > $most)' "$out/$coverage.jsonl"
  done
  paste -d '\n' "$out"/0.{5,8}.jsonl | jq -c .prediction.set | jq -se '[_nwise(2)] | all(.[0] - .[1] == [])'
  paste -d '\n' "$out"/0.{8,95}.jsonl | jq -c .prediction.set | jq -se '[_nwise(2)] | all(.[0] - .[1] == [])'
}

@test "coverage: --eval counts what the records say" {
  ran-classify -m model.ran --coverage 0.8 --abstain test.jsonl >"$out/all.jsonl"
  jq -se '{coverage: (map(select(.label as $l | .prediction.set | index($l))) | length / 2000),
      size: (map(.prediction.set | length) | add / 2000),
      empty: (map(select(.prediction.set == [])) | length / 2000),
      single: (map(select(.prediction.set | length == 1)) | length / 2000),
      single_accuracy: (map(select(.prediction.label != null)) | (map(select(.label == .prediction.label)) | length) / length)}' \
    "$out/all.jsonl" >"$out/counted"
  ran-classify -m model.ran --coverage 0.8 --eval test.jsonl | jq -e --slurpfile c "$out/counted" \
    '.sets as $s | $c[0] | to_entries | all(.value - $s[.key] | fabs < 1e-9)'
  ran-classify -m model.ran --coverage 0.8 --eval --eval-format=text test.jsonl >"$out/text"
  grep -E '^coverage +0\.[0-9]{4} ' "$out/text"
  grep -E '^sets of one +0\.[0-9]{4}$' "$out/text"
  grep -E '^of these right +0\.[0-9]{4}$' "$out/text"
  ran-classify -m model.ran --eval test.jsonl | jq -e 'has("sets") | not'
}

@test "coverage: --abstain leaves doubtful documents without a label, for a script to route" {
  ran-classify -m model.ran --coverage 0.8 --abstain test.jsonl >"$out/all.jsonl"
  jq -e -s 'all(.prediction | (.label == null) == (.set | length != 1) and (.label == null or .set == [.label]))' \
    "$out/all.jsonl"
  jq -c 'select(.prediction.label == null)' "$out/all.jsonl" >"$out/doubtful.jsonl"
  [ -s "$out/doubtful.jsonl" ]
  # The rest is the same, with or without.
  ran-classify -m model.ran --coverage 0.8 test.jsonl | jq -c 'del(.prediction.label)' |
    cmp - <(jq -c 'del(.prediction.label)' "$out/all.jsonl")
  same_output "ran-classify -m model.ran test.jsonl" "ran-classify -m model.ran --coverage 0 test.jsonl"
  ran-classify -m model.ran --coverage 0.8 test.jsonl | jq -se 'all(.prediction.label != null)'
}

@test "coverage: what cannot be promised is refused, with what to do about it" {
  refused 2 'none.ran: the model has no calibration, which --coverage needs: train it again with validation documents' \
    ran-classify -m none.ran --coverage 0.9 test.jsonl
  refused 2 'calibrated with 400 documents, too few for a coverage of 0.999: 0.9975 at most' \
    ran-classify -m model.ran --coverage 0.999 test.jsonl
  refused 2 'too few for a coverage of 1' ran-classify -m model.ran --coverage 1 test.jsonl
  ran-classify -m model.ran --coverage 0.9975 --eval test.jsonl | jq -e '.sets.coverage > 0.98'
  refused 2 '--coverage is for models with one label' ran-classify -m several.ran --coverage 0.9 test.jsonl
  refused 2 '--abstain needs --coverage' ran-classify -m model.ran --abstain test.jsonl
  refused 2 'leave out --abstain' ran-classify -m model.ran --coverage 0.9 --abstain --eval test.jsonl
  refused 2 '--coverage must be a number from 0 to 1' ran-classify -m model.ran --coverage 95 test.jsonl
}

@test "coverage: the model says what it was calibrated with, and a false one is refused" {
  training model.ran | jq -e '.calibration |
    .documents == 400 and (.probabilities | length == 400 and . == (sort | reverse) and .[0] <= 1 and .[-1] >= 0)'
  training several.ran | jq -e 'has("calibration") | not'
  sed 's/calibration\\":{\\"documents\\":400/calibration\\":{\\"documents\\":401/' model.ran >"$out/false.ran"
  refused 3 'the calibration in the model file is not a list of 401 falling probabilities' \
    ran-classify -m "$out/false.ran" test.jsonl
}
