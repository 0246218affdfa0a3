#!/usr/bin/env bats
# ran-lm fill: candidates for the masked tokens of texts, lists of words and bare ids, and what is refused.

bats_require_minimum_version 1.5.0
load lm.bash

# masked.ran is a masked language model.
setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN {
    split("the cat|a dog|our horse", who, "|"); split("sleeps eats runs", does); split("rain sun", in_)
    for (i = 0; i < 90; i++)
      printf "{\"text\":\"%s %s in the %s .\"}\n", who[i % 3 + 1], does[int(i / 3) % 3 + 1], in_[i % 2 + 1]
  }' >texts.jsonl
  RAN_ISA=portable ran-train mlm -q --dim 16 --layers 2 --heads 2 --head-dim 8 --window 5 --no-dev --learning-rate 0.01 \
    --dropout 0 --embed-dropout 0 --epochs 150 -o masked.ran texts.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  ln -s "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl .
  set -o pipefail # jq -e has nothing to say about no input
}

@test "fill: candidates for each masked token of a text" {
  echo '{"id":3,"text":"The  [MASK] sleeps — in the [MASK] ."}' | ran-lm fill -m masked.ran >out
  [[ $(<out) == '{"id":3,"text":"The  [MASK] sleeps — in the [MASK] .","lm":{"masks":[{"start":5,"end":11,'* ]]
  jq -e '.text as $text | .lm.masks | map($text[.start:.end]) == ["[MASK]", "[MASK]"]
    and all(.candidates | length == 5 and (map(.probability) | . == (sort | reverse) and add <= 1.000001))' out
  echo '{"text":"the [MASK] sleeps in the [MASK] ."}' | ran-lm fill -m masked.ran >out
  jq -e '.lm.masks | ([.[1].candidates[:2][].piece] | sort) == ["rain", "sun"]
    and .[0].candidates[0].piece == "cat"' out
}

@test "fill: masked tokens among tokens and ids, and by another name" {
  echo '{"tokens":["the","[MASK]","sleeps"]}' | ran-lm fill -m masked.ran --top 2 >tokens.out
  jq -e '.lm.masks | length == 1 and .[0].start == 1 and .[0].end == 2 and (.[0].candidates | length) == 2' tokens.out
  echo '{"text":"the___sleeps"}' | ran-lm fill -m masked.ran --top 2 --mask-token ___ |
    jq -c '.lm.masks[].candidates' >named
  jq -c '.lm.masks[].candidates' tokens.out | cmp - named
  ids=$(echo '{"text":"the cat sleeps"}' | ran-tokenize encode -m masked.ran | jq -c '.encoding.ids')
  echo "{\"ids\":$ids}" | jq -c '.ids[1] = 1' | ran-lm fill -m masked.ran --top 2 |
    jq -c '.lm.masks[].candidates' | cmp - named
  # Places may be listed: then what stands there is read as it is.
  echo "{\"ids\":$ids,\"masked_at\":[0,2]}" | ran-lm fill -m masked.ran | jq -e '[.lm.masks[].start] == [0, 2]'
}

@test "fill: probabilities are made of the logits, and reserved tokens are no candidates" {
  echo '{"text":"[MASK] cat [MASK]"}' | ran-lm fill -m masked.ran --logits --top 1000000000 >out
  jq -r '.lm | [.logits, .masks] | transpose[] | (.[0] | map(exp)) as $e | ($e | add) as $sum
    | [.[1].candidates[].probability, ($e[5:] | sort | reverse | map(. / $sum))[]] | .[:length / 2] as $p
    | .[length / 2:] as $q | [$p, $q] | transpose[] | @tsv' out | near
  jq -e 'all(.lm.masks[].candidates[].piece; startswith("[") | not)
    and (.lm.masks[0].candidates | length) == (.lm.logits[0] | length) - 5' out
}

@test "fill: the space before a mask belongs to the masked word [all]" {
  ran-train mlm -q --vocab-type bpe --dim 16 --layers 2 --heads 2 --head-dim 8 --window 5 --no-dev \
    --learning-rate 0.01 --dropout 0 --embed-dropout 0 --epochs 150 -o bytes.ran texts.jsonl
  echo '{"text":"the [MASK] sleeps in the rain ."}' | ran-lm fill -m bytes.ran |
    jq -e '.lm.masks[0] | .start == 4 and (.candidates[0].piece | IN("Ġcat", "Ġdog", "Ġhorse"))'
}

@test "fill: what is refused [all]" {
  refused '{"text":"no mask"}' 'no masked token: write [MASK]' fill -m masked.ran
  refused '{"ids":[7,8]}' 'no masked token' fill -m masked.ran
  refused '{"ids":[7,8],"masked_at":[2]}' '"masked_at" must be an array of positions' fill -m masked.ran
  refused '{"ids":[7,8],"masked_at":[1,0]}' '"masked_at" must be' fill -m masked.ran
  refused '{"ids":[7,8],"masked_at":1}' '"masked_at" must be' fill -m masked.ran
  refused '{"ids":[1,8000]}' 'not in the vocabulary' fill -m masked.ran
  refused '{"tokens":["a",3]}' 'must be an array of strings' fill -m masked.ran
  refused '{"label":"x"}' 'no document' fill -m masked.ran
  run -2 --separate-stderr ran-lm fill -m masked.ran --mask-token $'\xff' texts.jsonl
  run -2 --separate-stderr ran-lm fill -m masked.ran --mask-token= texts.jsonl
}

@test "fill: a masked language model does nothing else" {
  dies 'predicts masked tokens: use ran-lm fill' score -m masked.ran texts.jsonl
  dies 'predicts masked tokens' generate -m masked.ran --prompt x
  LC_ALL=C sed 's/\[MASK\]/[MxSK]/g' masked.ran >odd.ran
  dies 'has no token [MASK]' fill -m odd.ran texts.jsonl
}
