#!/usr/bin/env bats
# ran-lm generate: beam search, and limits on what is generated.

bats_require_minimum_version 1.5.0
load lm.bash

# pairs.ran goes from sources to targets, in windows of 5 tokens; tree.ran is a Transformer for the
# same; lm.ran continues texts.
setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN { for (i = 0; i < 80; i++) { a = i % 5; b = int(i / 5) % 4
    printf "{\"source\":\"s%d s%d\",\"target\":\"t%d t%d\"}\n", a, b, b, a } }' >pairs.jsonl
  awk 'BEGIN { for (i = 0; i < 30; i++) printf "{\"id\":%d,\"text\":\"the %s runs in the %s\"}\n", i,
    i % 2 ? "cat" : "dog", i % 3 ? "sun" : "rain" }' >texts.jsonl
  shape='-q --vocab-type word --dim 16 --layers 2 --heads 2 --head-dim 8 --window 5 --no-dev --learning-rate 0.01
    --dropout 0 --embed-dropout 0'
  RAN_ISA=portable ran-train lm $shape --epochs 24 --mask prefix -o pairs.ran pairs.jsonl
  RAN_ISA=portable ran-train lm $shape --epochs 12 --mask prefix --encoder transformer --ffn-dim 16 -o tree.ran pairs.jsonl
  RAN_ISA=portable ran-train lm $shape --epochs 6 -o lm.ran texts.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  ln -s "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl .
  set -o pipefail
}

@test "beam: of one it is the most probable token each time, byte for byte" {
  for model in pairs tree; do
    ran-lm generate -m $model.ran --temperature 0 --max-new-tokens 7 pairs.jsonl >greedy
    ran-lm generate -m $model.ran --beam 1 --max-new-tokens 7 pairs.jsonl |
      sed 's/,"score":[^,}]*//' | cmp - greedy
  done
  ran-lm generate -m lm.ran --temperature 0 texts.jsonl >greedy
  ran-lm generate -m lm.ran --beam 1 texts.jsonl | sed 's/,"score":[^,}]*//' | cmp - greedy
}

@test "beam: the same bytes for any number of threads and in any company [all]" {
  for model in pairs tree; do
    generate="ran-lm generate -m $model.ran --beam 5 --n-best 3 --max-new-tokens 12 --min-new-tokens 4"
    $generate -j 1 pairs.jsonl >one
    for j in 2 7; do
      $generate -j $j pairs.jsonl | cmp - one
    done
    sed -n 7p pairs.jsonl | $generate | cmp - <(sed -n 7p one)
  done
}

# All of what is generated is in a beam that is wider than the vocabulary: nothing is missing.
@test "beam: wider than the vocabulary" {
  echo '{"source":"s1 s2"}' >source.jsonl
  ran-lm generate -m pairs.ran --beam 5000 --n-best 5000 --max-new-tokens 2 source.jsonl >out 2>said
  grep -q 'ran-lm: --beam 5000 is wider than the vocabulary of [0-9]* tokens: ' said
  # 10 words of sources and targets: any two of them, or [END] after one, or at once.
  jq -e '.lm.n_best | length == 111 and ([.[].text] | unique | length == 111)
    and ([.[].score] | . == (sort | reverse)) and .[0].text != ""' out
  # Their probabilities and those of the other tokens add up to 1.
  ran-lm generate -m pairs.ran --beam 5000 --n-best 5000 --max-new-tokens 2 --unknown source.jsonl |
    jq -e '[.lm.n_best[].nll | -. | exp] | add | . > 0.99 and . < 1.00001'
}

@test "beam: scores are those of score, and what the length makes of them" {
  for a in 0 0.5 1; do
    ran-lm generate -m pairs.ran --beam 4 --n-best 4 --length-penalty $a --drop target pairs.jsonl >out
    jq -r ".lm.n_best[] | [.score, -.nll / pow(.tokens; $a)] | @tsv" out | near
    jq -e -s 'all(.lm.score == .lm.n_best[0].score and .lm.text == .lm.n_best[0].text)' out
  done
  jq -c '. as $r | .lm.n_best[] | select(.finish == "end") | {source: $r.source, target: .text, nll}' out >made
  ran-lm score -m pairs.ran made | jq -r '[.nll, .lm.nll] | @tsv' | near
}

@test "beam: finds what is more probable than the greedy choice" {
  ran-lm generate -m lm.ran --temperature 0 --max-new-tokens 6 texts.jsonl | jq -s '[.[].lm.nll] | add' >greedy
  ran-lm generate -m lm.ran --beam 8 --length-penalty 0 --max-new-tokens 6 texts.jsonl |
    jq -s --slurpfile greedy greedy -e '([.[].lm.nll] | add) <= $greedy[0] + 1e-6'
}

@test "generate: limits hold for samples and for beams" {
  for how in '--temperature 2' '--beam 3'; do
    ran-lm generate -m pairs.ran $how --min-new-tokens 6 --max-new-tokens 8 --per-token pairs.jsonl >out
    jq -s -e 'all(.lm.tokens > 6 and (.lm.per_token.pieces[:6] | index("[END]") | not))' out
    ran-lm generate -m pairs.ran $how --no-repeat-ngram 2 --min-new-tokens 20 --max-new-tokens 30 \
      --per-token pairs.jsonl >out
    jq -s -e 'all(.lm.per_token.pieces | . as $p | [range(length - 1) as $i | $p[$i:$i + 2] | join(" ")] | length == (unique | length))' out
    # The likelihoods are still the model's.
    jq -c 'select(.lm.finish == "end") | {source, target: .lm.text, nll: .lm.nll}' out |
      ran-lm score -m pairs.ran | jq -r '[.nll, .lm.nll] | @tsv' | near
  done
}

@test "beam: a prompt" {
  run -0 --separate-stderr ran-lm generate -m pairs.ran --beam 3 --prompt 's3 s1'
  [ "$output" = 't1 t3' ]
  [ -z "$stderr" ]
}

@test "beam: what does not go with it is said" {
  local usage
  for usage in '--top-k 5' '--temperature 0.5' '--top-p 0.5' '--seed 2'; do
    run -2 --separate-stderr ran-lm generate -m pairs.ran --beam 2 $usage pairs.jsonl
    [[ $stderr == *"--beam searches for the most probable text: leave out ${usage% *}"* ]]
  done
  run -2 --separate-stderr ran-lm generate -m lm.ran --beam 2 --stop x texts.jsonl
  [[ $stderr == *'--beam follows several texts at once: leave out --stop'* ]]
  run -2 --separate-stderr ran-lm generate -m lm.ran --beam 2 --n-best 3 texts.jsonl
  [[ $stderr == *'--n-best 3 is more than --beam 2 finds'* ]]
  run -2 --separate-stderr ran-lm generate -m lm.ran --length-penalty 2 texts.jsonl
  [[ $stderr == *'--length-penalty is for --beam N'* ]]
  run -2 --separate-stderr ran-lm generate -m lm.ran --min-new-tokens 5 --max-new-tokens 4 texts.jsonl
  [[ $stderr == *'--min-new-tokens 5 is more than --max-new-tokens 4'* ]]
  refused '{"source":""}' 'source has no tokens' generate -m pairs.ran --beam 2
}
