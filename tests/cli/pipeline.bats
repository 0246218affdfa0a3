#!/usr/bin/env bats
# Three programs in one pipe, each with a model of its own: every record comes out once, in order, with
# what all three say, and one bad line stays one bad line.

bats_require_minimum_version 1.5.0

setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN {
    split("cat dog horse", who); split("sleeps eats runs", does); split("rain sun", in_)
    for (i = 0; i < 60; i++)
      printf "{\"id\":%d,\"label\":\"%s\",\"text\":\"the %s %s in the %s .\",\"spans\":[{\"start\":4,\"end\":%d,\"label\":\"ANIMAL\"}]}\n",
        i, in_[i % 2 + 1], who[i % 3 + 1], does[int(i / 3) % 3 + 1], in_[i % 2 + 1], 4 + length(who[i % 3 + 1])
  }' >texts.jsonl
  shape='-q --dim 16 --layers 1 --heads 2 --head-dim 8 --no-dev --epochs 20 --learning-rate 0.01'
  RAN_ISA=portable ran-train classify $shape -o weather.ran texts.jsonl
  RAN_ISA=portable ran-train tag $shape -o animals.ran texts.jsonl
  RAN_ISA=portable ran-train lm $shape -o texts.ran texts.jsonl
}

@test "pipe: classify, tag and score, one after another" {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  { head -n 30 texts.jsonl; echo 'no JSON'; tail -n 30 texts.jsonl; } >in.jsonl
  ran-classify -m weather.ran --into weather in.jsonl --errors-ok 2>first.err |
    ran-tag -m animals.ran --into animals --errors-ok |
    ran-lm score -m texts.ran --drop text --drop spans --errors-ok >out.jsonl
  [ "$(wc -l <out.jsonl)" -eq 61 ]
  [[ $(sed -n 31p out.jsonl) == *ran_error* ]]
  sed 31d out.jsonl >good.jsonl
  jq -s -e 'map(.id) == [range(60)] and all(.weather.label == .label and (.lm.nll > 0)
    and (.animals.entities | length == 1 and .[0].label == "ANIMAL" and .[0].start == 4)
    and (has("text") | not))' good.jsonl
  [ "$(grep -c 'in.jsonl:31: ' first.err)" -eq 1 ] # the others only count it
}
