#!/usr/bin/env bats
# ran-lm generate --eval and --eval-only: scores of generated texts.

bats_require_minimum_version 1.5.0
load lm.bash

setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN { for (i = 0; i < 80; i++) { a = i % 5; b = int(i / 5) % 4
    printf "{\"source\":\"s%d s%d\",\"target\":\"t%d t%d\"}\n", a, b, b, a } }' >pairs.jsonl
  RAN_ISA=portable ran-train lm -q --dim 16 --layers 2 --heads 2 --head-dim 8 --window 5 --no-dev --learning-rate 0.01 \
    --dropout 0 --embed-dropout 0 --epochs 60 -o pairs.ran pairs.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  ln -s "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl .
  set -o pipefail
}

# outputs: 1,000 references and texts that differ from them here and there, always the same.
outputs() {
  awk 'function below(n) { x = x * 16807 % 2147483647; return x % n }
    function word(  i, w) { w = ""; for (i = 1 + below(3); i > 0; i--) w = w syllable[1 + below(20)]; return w }
    BEGIN {
      x = 11
      split("ka lo mi ru te sö na wi ze ba do fü gi ho ju pe ßa qui vy xo", syllable)
      split("., . ; ! ? - 3.5 1,000 (so) 10-12", mark)
      for (i = 0; i < 1000; i++) {
        reference = text = ""
        for (n = 3 + below(18); n > 0; n--) {
          w = below(6) ? word() : mark[1 + below(10)]
          reference = reference (reference == "" ? "" : " ") w
          change = below(10)
          if (change == 0) continue
          if (change == 1) w = word()
          text = text (text == "" ? "" : " ") w
        }
        printf "{\"made\":\"%s\",\"target\":\"%s.\"}\n", text (below(4) ? "." : ""), reference
      }
    }'
}

# The wanted values are those of the code of sacreBLEU, and of a second program for ROUGE.
@test "eval: 1,000 outputs score as in sacreBLEU" {
  outputs >made.jsonl
  ran-lm generate --eval-only made made.jsonl >report
  jq -r '[.bleu.score, 58.242315], [.chrf.score, 72.466460], [.rouge_1.f1, 0.830479], [.rouge_2.f1, 0.681534],
    [.rouge_l.f1, 0.828656] | @tsv' report | near
  jq -e '.records == 1000 and .bleu.low < .bleu.score and .bleu.score < .bleu.high
    and .bleu.high - .bleu.low < 5
    and (.bleu.signature | startswith("nrefs:1|bs:1000|seed:1|case:mixed|eff:no|tok:13a|smooth:exp|version:ran-"))
    and (.chrf.signature | contains("|eff:yes|nc:6|nw:0|space:no|"))' report
  ran-lm generate --eval-only made --eval-format text made.jsonl >text
  grep -q '^BLEU  *58.24 (95 % interval: ' text
  grep -q '^chrF  *72.47 (95 % interval: ' text
  grep -q '^BLEU: signature  *nrefs:1|bs:1000|seed:1|' text
  grep -q '^words generated  *12006$' text
}

@test "eval: the same bytes for any number of threads [all]" {
  outputs >made.jsonl
  ran-lm generate -j 1 --eval-only made made.jsonl >one
  for j in 2 7; do
    ran-lm generate -j $j --eval-only made made.jsonl | cmp - one
  done
  ran-lm generate --seed 2 --eval-only made made.jsonl >two
  [ "$(jq -c '[.bleu.score, .bleu.low]' one)" != "$(jq -c '[.bleu.score, .bleu.low]' two)" ]
  [ "$(jq .bleu.score one)" = "$(jq .bleu.score two)" ]
}

@test "eval: texts that are generated score as texts that were generated" {
  for how in '--temperature 0' '--beam 3' '--temperature 1.5'; do
    ran-lm generate -m pairs.ran $how pairs.jsonl | ran-lm generate --eval-only lm >want
    ran-lm generate -m pairs.ran $how --eval pairs.jsonl | cmp - want
  done
  ran-lm generate -m pairs.ran --beam 1 --eval pairs.jsonl >want
  ran-lm generate -m pairs.ran --eval pairs.jsonl | cmp - want
  ran-lm generate -m pairs.ran --eval pairs.jsonl | jq -e '.chrf.score > 99 and .rouge_l.f1 > 0.99'
}

@test "eval: equal texts score 100, and no score is above" {
  printf '{"made":"%s","target":"%s"}\n' 'The dog bit the man.' 'The dog bit the man.' 'one two three four five six' \
    'one two three four five six' 'a b c d e f g' 'a b c d e f g' >equal.jsonl
  for n in 1 2 3; do
    head -n $n equal.jsonl | ran-lm generate --eval-only made >report
    jq -e '[.bleu.score, .chrf.score, .rouge_1.f1 * 100, .rouge_l.f1 * 100, .bleu.precisions[]] | all(. == 100)' report
    jq -e '[.bleu, .chrf] | all(.high == null or .high == 100)' report
  done
}

@test "eval: strings, lists of words, and objects with a text" {
  printf '%s\n' '{"made":"a b c d e","target":"a b c d f"}' '{"made":["a","b","c","d","e"],"target":["a","b","c","d","f"]}' \
    '{"made":{"tokens":5,"text":"a b c d e"},"target":{"text":"a b c d f"}}' |
    ran-lm generate --eval-only made |
    jq -e '.bleu.precisions == [80, 75, 66.66666666666667, 50] and .bleu.low == .bleu.high and .records == 3'
  echo '{"made":"a b c d","ref":"a b c d"}' | ran-lm generate --eval-only made --reference ref |
    jq -e '.bleu.score > 99.99 and (.bleu | has("low") | not)'
}

@test "eval: records without a reference are left out, and it is said" {
  printf '%s\n' '{"made":"a b"}' '{"made":"a b","target":"a b"}' '{"made":"a","target":null}' >some.jsonl
  run -0 --separate-stderr ran-lm generate --eval-only made some.jsonl
  [ "$(jq .records <<<"$output")" = 1 ]
  [[ $stderr == *'2 records have no "target" and are left out'* ]]
  run -0 --separate-stderr bash -c 'head -n 2 some.jsonl | ran-lm generate --eval-only made'
  [[ $stderr == *'1 record has no "target" and is left out'* ]]
  run -3 --separate-stderr ran-lm generate --eval-only made --reference gold some.jsonl
  [[ $stderr == *'no record has "gold": there is nothing to compare with'* ]]
  [ -z "$output" ]
  # A target, but nothing made: the reference is not what is missing.
  echo '{"target":"a"}' >none.jsonl
  run -3 --separate-stderr ran-lm generate --eval-only made none.jsonl
  [[ $stderr == *'no "made"'*'no record is left to compare' ]]
}

@test "eval: bad records and usage" {
  local bad
  for bad in '{"target":"a"}' '{"made":5,"target":"a"}' '{"made":["a",1],"target":"a"}' '{"made":{"x":"a"},"target":"a"}'; do
    printf '%s\n' "$bad" '{"made":"b","target":"b"}' >bad.jsonl
    run -1 --separate-stderr ran-lm generate --eval-only made bad.jsonl
    [[ $stderr == *'bad.jsonl:1: '*'"made"'* ]]
    [ "$(jq .records <<<"$output")" = 1 ]
  done
  run -2 --separate-stderr ran-lm generate --eval-only made -m pairs.ran bad.jsonl
  [[ $stderr == *'--eval-only generates nothing: leave out --model'* ]]
  run -2 --separate-stderr ran-lm generate --eval-only made --eval bad.jsonl
  run -2 --separate-stderr ran-lm generate -m pairs.ran --eval --n-best 2 --beam 2 pairs.jsonl
  [[ $stderr == *'the report has no texts: leave out --n-best'* ]]
  run -2 --separate-stderr ran-lm generate -m pairs.ran --reference x pairs.jsonl
  run -2 --separate-stderr ran-lm generate -m pairs.ran --eval --prompt x
}

@test "train lm: the best epoch by BLEU or chrF of the targets that are generated [all]" {
  awk 'BEGIN { for (i = 0; i < 20; i++) { a = i % 5; b = int(i / 5) % 4; c = (a + b) % 5
    printf "{\"source\":\"s%d s%d s%d s%d\",\"target\":\"t%d t%d t%d t%d\"}\n", a, b, c, a, a, c, b, a } }' >dev.jsonl
  cat dev.jsonl dev.jsonl dev.jsonl dev.jsonl >train.jsonl
  train='ran-train lm --dim 16 --layers 2 --heads 2 --head-dim 8 --window 5 --learning-rate 0.01 --dropout 0
    --embed-dropout 0 --epochs 8 --dev dev.jsonl'
  for metric in bleu chrf; do
    $train -j 1 --metric $metric --log log -o m.ran train.jsonl 2>messages
    $train -q -j 3 --metric $metric -o other.ran train.jsonl
    cmp m.ran other.ran
    grep -q "validation $metric " messages
    ran-train info --format json m.ran | jq -e --arg metric $metric '.training.dev_metric | has($metric)'
    # The value of the best epoch is what the model, generating, gets.
    value=$(jq -s 'map(select(.event == "dev") | .value) | max * 100' log)
    ran-lm generate -m m.ran --eval dev.jsonl | jq --argjson value "$value" -r "[.$metric.score, \$value] | @tsv" | near
  done
  run -2 --separate-stderr ran-train lm -q --metric bleu -o x.ran <<<'{"text":"a b c a b c"}'
  [[ $stderr == *'they need records with a source and a target'* ]]
  run -2 --separate-stderr ran-train classify -q --metric chrf -o x.ran train.jsonl
  [[ $stderr == *'the metrics bleu and chrf are for language models (lm)'* ]]
}
