#!/usr/bin/env bats
# ran-lm: likelihoods that add up, continuations, contexts, and refusals.
# Masked tokens are in fill.bats.

bats_require_minimum_version 1.5.0
load lm.bash

# lm.ran goes on with texts, in windows of 5 tokens; pairs.ran goes from sources to targets; ids.ran is
# lm.ran for bare ids; other.ran is one more like lm.ran; lines.ran has a token for the end of a line,
# subwords.ran has a WordPiece vocabulary, bytes.ran bytes and hardly any merges.
setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN {
    split("the cat|a dog|our horse", who, "|"); split("sleeps eats runs", does); split("rain sun", in_)
    for (i = 0; i < 90; i++)
      printf "{\"id\":%d,\"text\":\"%s %s in the %s .%s\"}\n", i, who[i % 3 + 1], does[int(i / 3) % 3 + 1],
        in_[i % 2 + 1], i % 5 ? "" : "\\nThen rare" i " things happen ."
  }' >texts.jsonl
  awk 'BEGIN { for (i = 0; i < 80; i++) { a = i % 5; b = int(i / 5) % 4
    printf "{\"source\":\"s%d s%d\",\"target\":\"t%d t%d\"}\n", a, b, b, a } }' >pairs.jsonl
  awk 'BEGIN { for (i = 0; i < 40; i++) printf "{\"ids\":[%d,%d,%d,%d]}\n", i % 4, 5, (i + 1) % 4, 6 }' >ids.jsonl
  awk 'BEGIN { for (i = 0; i < 60; i++) printf "{\"text\":\"say%d 😀 €\\n  and   Ünder!\"}\n", i % 3 }' >emoji.jsonl
  shape='-q --vocab-type word --cell gated --dim 16 --layers 2 --heads 2 --head-dim 8 --window 5 --no-dev --learning-rate 0.01
    --dropout 0 --embed-dropout 0 --epochs 12'
  echo "$shape" >shape
  RAN_ISA=portable ran-train lm $shape -o lm.ran texts.jsonl
  RAN_ISA=portable ran-train lm $shape --seed 2 -o other.ran texts.jsonl
  RAN_ISA=portable ran-train lm $shape --eol-token eol -o lines.ran texts.jsonl
  RAN_ISA=portable ran-train lm $shape --vocab-type wordpiece --vocab-size 60 -o subwords.ran texts.jsonl
  RAN_ISA=portable ran-train lm $shape --vocab-type bpe --vocab-size 266 --epochs 25 -o bytes.ran emoji.jsonl
  # So many epochs, with cells that learn easily, that any seed knows all pairs.
  RAN_ISA=portable ran-train lm $shape --cell prenorm --mask prefix --epochs 30 -o pairs.ran pairs.jsonl
  RAN_ISA=portable ran-train lm $shape -o ids.ran ids.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  ln -s "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl "$BATS_FILE_TMPDIR/shape" .
  set -o pipefail # jq -e has nothing to say about no input
}

# ---- score ---------------------------------------------------------------------------------------

@test "score: the figures of a text fit each other and its tokens" {
  echo '{"id":1.0,"text":"A dog  eats\tin the sun .\nOur horse runs ."}' |
    ran-lm score -m lm.ran --per-token >out
  [[ $(<out) == '{"id":1.0,"text":"A dog  eats\tin the sun .\nOur horse runs .","lm":{"nll":'* ]]
  jq -e '.lm | .per_token as $t
    | $t.pieces == ["a","dog","eats","in","the","sun",".","our","horse","runs",".","[END]"]
    and ($t.nll | length) == .tokens and .tokens == 12
    and (($t.nll | add) - .nll | fabs) < 1e-5
    and ((.nll / .tokens | exp) / .perplexity - 1 | fabs) < 1e-12
    and .words == 13 and ((.nll / 13 | exp) / .perplexity_per_word - 1 | fabs) < 1e-12
    and .bytes == 41 and (.nll / (2 | log) / 41 / .bits_per_byte - 1 | fabs) < 1e-12
    and .unknown == 0 and .nll_known == .nll and .perplexity_known == .perplexity' out
  jq -e '.text as $text | .lm.per_token | [.pieces, .offsets] | transpose
    | map($text[.[1][0]:.[1][1]] | ascii_downcase)
      == ["a","dog","eats","in","the","sun",".","our","horse","runs",".",""]' out
}

@test "score: words and bytes are those of the text, whatever the vocabulary" {
  for model in lm lines subwords; do
    ran-lm score -m $model.ran texts.jsonl | jq -c '.lm | [.words, .bytes]' >$model.counts
    cmp lm.counts $model.counts
  done
  # A vocabulary of whole words, with a token for the end of a line: tokens are words.
  ran-lm score -m lines.ran texts.jsonl | jq -e -s 'all(.lm | .tokens == .words)'
  [ "$(ran-lm score -m lm.ran --total texts.jsonl | jq '.tokens + 18 == .words')" = true ]
  ran-lm score -m subwords.ran --total texts.jsonl | jq -e '.tokens > .words'
}

@test "score: a total adds up sums, and makes figures of them" {
  ran-lm score -m lm.ran texts.jsonl >each.out
  ran-lm score -m lm.ran --total -o total.out texts.jsonl
  jq -s -e 'def near($x; $y): ($x / $y - 1 | fabs) < 1e-9; def sum($name): map(.lm[$name]) | add;
    .[:-1] as $each | .[-1] as $t | $t.records == 90
    and ("tokens", "words", "bytes", "unknown" | . as $name | $t[$name] == ($each | sum($name)))
    and ("nll", "nll_known" | . as $name | near($t[$name]; $each | sum($name)))
    and $t.unknown == 18 and $t.nll_known < $t.nll
    and near($t.perplexity; $t.nll / $t.tokens | exp)
    and near($t.perplexity_known; $t.nll_known / ($t.tokens - 18) | exp)
    and near($t.perplexity_per_word; $t.nll / $t.words | exp)
    and near($t.bits_per_byte; $t.nll / $t.bytes / (2 | log))' each.out total.out >true
  [ "$(sort -u true)" = true ]
  ran-lm score -m lm.ran --total -j 1 texts.jsonl | cmp - total.out
  ran-lm score -m lm.ran --total -j 5 texts.jsonl | cmp - total.out
}

@test "score: unknown words count, and are left out of the figures that say so" {
  echo '{"text":"a zebra eats ."}' | ran-lm score -m lm.ran --per-token |
    jq -e '.lm | .unknown == 1 and .per_token.pieces[1] == "[UNK]"
      and (.nll - .nll_known - .per_token.nll[1] | fabs) < 1e-5
      and (.perplexity_known - (.nll_known / (.tokens - 1) | exp) | fabs) < 1e-9'
  echo '{"text":"zebra"}' | ran-lm score -m lm.ran --no-end |
    jq -e '.lm | .unknown == 1 and .tokens == 1 and .perplexity > 1 and .perplexity_known == null'
}

@test "score: the end of a document is one token more" {
  echo '{"text":"a dog eats in the sun ."}' >one.jsonl
  ran-lm score -m lm.ran --per-token one.jsonl >with
  ran-lm score -m lm.ran --per-token --no-end one.jsonl >without
  jq -s -e '.[0].lm.per_token.nll[:7] == .[1].lm.per_token.nll and .[0].lm.tokens == 8
    and .[1].lm.tokens == 7 and .[0].lm.words == 8 and .[1].lm.words == 7' with without
}

@test "score: what follows changes nothing before it, to the last bit [all]" {
  echo '{"text":"a dog eats in the sun . our horse runs in the rain . the cat sleeps ."}' >long.jsonl
  ran-lm score -m lm.ran --per-token --logits long.jsonl >whole
  for n in 1 4 5 6 11 17; do
    jq -c "{text: (.text / \" \" | .[:$n] + (.[$n:] | map(\"cat\")) | join(\" \"))}" long.jsonl |
      ran-lm score -m lm.ran --per-token --logits >other
    for what in ".lm.per_token.nll[:$n]" ".lm.logits[:$n + 1]"; do
      [ "$(jq -c "$what" whole)" = "$(jq -c "$what" other)" ]
    done
    [ "$(jq -c '.lm.logits[-1]' whole)" != "$(jq -c '.lm.logits[-1]' other)" ]
  done
}

@test "score: a learned text is likelier than its words in another order" {
  printf '{"text":"%s"}\n' 'the cat sleeps in the rain .' 'rain the in . cat sleeps the' |
    ran-lm score -m lm.ran | jq -s -e '.[0].lm.perplexity * 3 < .[1].lm.perplexity'
}

@test "score: tokens, an encoding and a text of the same words say the same" {
  echo '{"text":"a dog eats in the sun ."}' | ran-tokenize encode -m lm.ran |
    jq -c '{text}, {encoding}, {tokens: (.text / " ")}' >three.jsonl
  ran-lm score -m lm.ran --per-token three.jsonl >out
  [ "$(jq -c '.lm.per_token | [.pieces, .nll]' out | sort -u | wc -l)" -eq 1 ]
  jq -s -e '.[0].lm.bytes == 23 and .[2].lm.bytes == 23 and .[2].lm.words == 8
    and (.[1].lm | has("words") or has("bytes") or has("bits_per_byte") | not)
    and .[2].lm.per_token.words == [0,1,2,3,4,5,6,7] and (.[1].lm.per_token | has("offsets") | not)' out
  # One of them without words, and the total has none.
  ran-lm score -m lm.ran --total three.jsonl | jq -e '(has("words") | not) and .tokens == 24'
}

@test "score: of a pair only the target counts" {
  echo '{"source":"s1 s2","target":"t2 t1"}' | ran-lm score -m pairs.ran --per-token |
    jq -e '.lm | .per_token.pieces == ["t2","t1","[END]"] and .per_token.offsets == [[0,2],[3,5],[5,5]]
      and .tokens == 3 and .words == 3 and .bytes == 5'
  echo '{"source":["s1","s2"],"target":["t2","t1"]}' | ran-lm score -m pairs.ran --per-token --no-end |
    jq -e '.lm | .per_token.pieces == ["t2","t1"] and .words == 2 and .bytes == 5'
  # The source is read: another one, another answer.
  printf '{"source":"s%s","target":"t2 t1"}\n' '1 s2' '3 s0' | ran-lm score -m pairs.ran |
    jq -s -e '.[0].lm.nll + 1 < .[1].lm.nll'
  # A target may be empty; then it ends at once.
  echo '{"source":"s1","target":""}' | ran-lm score -m pairs.ran | jq -e '.lm.tokens == 1'
}

@test "score: to bare ids nothing is added" {
  echo '{"ids":[1,5,2,6,1]}' | ran-lm score -m ids.ran --per-token --logits >out
  jq -e '.lm | .tokens == 4 and .per_token.ids == [5,2,6,1] and (.logits | map(length)) == [7,7,7,7,7]
    and (has("words") | not)' out
  # The numbers of --logits are those that the probabilities are made of.
  jq -r '.lm | [.logits[:-1], .per_token.ids, .per_token.nll] | transpose[]
    | [.[2], ((.[0] | map(exp) | add | log) - .[0][.[1]])] | @tsv' out | near
  # The same ids in a model that has a vocabulary, [START] among them.
  echo '{"text":"a dog eats"}' | ran-tokenize encode -m lm.ran | jq -c '{ids: ([3] + .encoding.ids)}' |
    ran-lm score -m lm.ran --per-token | jq -c '.lm.per_token' >of_ids
  echo '{"text":"a dog eats"}' | ran-lm score -m lm.ran --per-token --no-end |
    jq -c '.lm.per_token | del(.offsets)' | cmp - of_ids
  # One alone: nothing to predict, and no perplexity.
  echo '{"ids":[4]}' | ran-lm score -m ids.ran --per-token |
    jq -e '.lm | .nll == 0 and .tokens == 0 and .perplexity == null and .per_token.ids == []'
}

@test "score: bare ids of a source and a target" {
  echo '{"source":"s1 s2","target":"t2 t1"}' >pair.jsonl
  ran-lm score -m pairs.ran --per-token pair.jsonl | jq -c .lm.per_token.nll >want
  source=$(jq -c '{text: .source}' pair.jsonl | ran-tokenize encode -m pairs.ran | jq -c .encoding.ids)
  target=$(jq -c '{text: .target}' pair.jsonl | ran-tokenize encode -m pairs.ran | jq -c .encoding.ids)
  jq -n -c --argjson s "$source" --argjson t "$target" \
    '{ids: ($s + [2] + $t + [4]), segments: [0,0,0,1,1,1]}' |
    ran-lm score -m pairs.ran --per-token | jq -c .lm.per_token.nll | cmp - want
}

@test "score: in any company, by any number of threads, the same bytes" {
  ran-lm score -m lm.ran --per-token --logits -j 1 texts.jsonl >first
  ran-lm score -m lm.ran --per-token --logits -j 4 texts.jsonl | cmp - first
  tac texts.jsonl | ran-lm score -m lm.ran --per-token --logits -j 3 | tac | cmp - first
  for n in 1 46 90; do
    sed -n ${n}p texts.jsonl | ran-lm score -m lm.ran --per-token --logits
  done | cmp - <(sed -n '1p;46p;90p' first)
}

@test "score: --only, --into and --drop" {
  echo '{"id":"x","text":"a dog"}' >one.jsonl
  ran-lm score -m lm.ran --only --into first one.jsonl | jq -e 'keys == ["first", "id"]'
  ran-lm score -m lm.ran --drop text one.jsonl | jq -e 'keys == ["id", "lm"]'
}

# ---- history -------------------------------------------------------------------------------------

# random_ids N: as many ids of ids.ran, none of them reserved, as a list.
random_ids() {
  jq -n -c "[range($1) | (. * . * 7 + . * 3) % 11 % 7]"
}

@test "history: each token is predicted from the last tokens alone, as if these were the document [all]" {
  ids=$(random_ids 23)
  for how in '7 3' '5 5' '4 1' '1 1' '6 0' '9 0' '22 22'; do
    read -r history stride <<<"$how"
    step=$((stride > 0 ? stride : (history + 1) / 2))
    jq -n -c "{ids: $ids}" |
      ran-lm score -m ids.ran --logits --per-token --history $history --stride $stride >cut
    # Token t was read in the first piece that reaches as far.
    jq -n -c "$ids as \$ids | range(23) as \$t
      | ([((\$t + 1 - $history) / $step | ceil), 0] | max * $step) as \$from
      | {ids: \$ids[\$from:\$t + 1]} | select((.ids | length) <= $history)
      | select((.ids | length) > $history - $step or \$from == 0)" >alone.jsonl
    [ "$(wc -l <alone.jsonl)" -eq 23 ]
    ran-lm score -m ids.ran --logits alone.jsonl | jq '.lm.logits[-1][]' >want
    jq '.lm.logits[][]' cut | paste want - | near
    jq -r '.lm | [.logits[:-1], .per_token.ids, .per_token.nll] | transpose[]
      | [.[2], ((.[0] | map(exp) | add | log) - .[0][.[1]])] | @tsv' cut | near
  done
}

@test "history: what lies further back changes nothing, to the last bit" {
  jq -n -c "{ids: $(random_ids 40)}" >one.jsonl
  # Token 19 is read in the piece from 16 on.
  jq -c '.ids[:16] = [range(16) | 6]' one.jsonl >other.jsonl
  for file in one other; do
    ran-lm score -m ids.ran --logits --history 10 --stride 4 $file.jsonl | jq -c '.lm.logits[22:]' >$file
    ran-lm score -m ids.ran --logits $file.jsonl | jq -c '.lm.logits[22:]' >$file.all
  done
  cmp one other
  run -1 cmp -s one.all other.all
}

@test "history: one as long as the document is none; threads and company make no difference" {
  ran-lm score -m lm.ran --per-token --logits texts.jsonl >whole
  ran-lm score -m lm.ran --per-token --logits --history 1000 texts.jsonl | cmp - whole
  ran-lm score -m lm.ran --per-token --logits --history 6 -j 1 texts.jsonl >first
  run -1 cmp -s first whole
  tac texts.jsonl | ran-lm score -m lm.ran --per-token --logits --history 6 -j 4 | tac | cmp - first
}

@test "history: what cannot be is said" {
  run -2 --separate-stderr ran-lm score -m lm.ran --stride 3 texts.jsonl
  [[ $stderr == *'--stride needs --history'* ]]
  run -2 --separate-stderr ran-lm score -m lm.ran --history 3 --stride 4 texts.jsonl
  [[ $stderr == *'--stride 4 would skip tokens: it must be at most 3,'* ]]
  run -2 --separate-stderr ran-lm score -m lm.ran --history 3 --state-out x.state texts.jsonl
  [[ $stderr == *'--history has no state, which holds the whole history: leave out --state-'* ]]
  [ ! -e x.state ]
  dies 'reads each source whole: it takes no --history' score -m pairs.ran --history 3 pairs.jsonl
}

# ---- cache ---------------------------------------------------------------------------------------

@test "cache: probabilities add up to 1, and nll is that of the numbers of --logits [all]" {
  jq -n -c "{ids: $(random_ids 100)}" >ids100.jsonl
  ran-train lm $(<shape) --shortlist 3 -o short.ran ids.jsonl
  for model in ids short; do
    for cache in '--cache 1' '--cache 20' '--cache 1000 --cache-weight 0.9 --cache-theta 40' \
      '--cache 30 --cache-theta 0' '--cache 30 --history 10'; do
      ran-lm score -m $model.ran --per-token --logits $cache ids100.jsonl >out
      jq -r '.lm.logits[] | [(map(exp) | add), 1] | @tsv' out | near
      jq -r '.lm | [.logits[:-1], .per_token.ids, .per_token.nll] | transpose[]
        | [.[2], -.[0][.[1]]] | @tsv' out | near
    done
  done
}

@test "cache: of the shares that it gives, one is computed by hand" {
  # With theta 0 the cache is how often each id came among the last four.
  jq -n -c "{ids: $(random_ids 30)}" >ids30.jsonl
  ran-lm score -m ids.ran --per-token ids30.jsonl >without
  ran-lm score -m ids.ran --per-token --cache 4 --cache-theta 0 --cache-weight 0.25 ids30.jsonl >with
  jq -s -r '.[0].ids as $ids | [.[].lm.per_token.nll] | transpose | to_entries[]
    | .key as $t | $ids[([$t - 3, 1] | max):$t + 1] as $past
    | ($past | map(select(. == $ids[$t + 1])) | length) as $times
    | [.value[1], if $t == 0 then .value[0]
        else -(0.75 * (-.value[0] | exp) + 0.25 * $times / ($past | length) | log) end] | @tsv' \
    without with | near
  # Without weight it is as if there were none.
  ran-lm score -m ids.ran --cache 4 --cache-weight 0 ids30.jsonl >none
  ran-lm score -m ids.ran ids30.jsonl | cmp - none
}

@test "cache: a word that was there before is expected again" {
  echo '{"text":"zebra rare5 zebra rare5 zebra rare5 zebra rare5"}' >again.jsonl
  ran-lm score -m lm.ran again.jsonl | jq .lm.nll >without
  ran-lm score -m lm.ran --cache 50 again.jsonl | jq .lm.nll >with
  awk '{ getline with <"with"; exit !(with + 1 < $1) }' without
}

@test "cache: in any company, by any number of threads, the same bytes" {
  jq -c -s '(map(.text) | join(" ")) as $all | .[], {text: $all}, .[:5][]' texts.jsonl >some.jsonl
  score="ran-lm score -m lm.ran --per-token --cache 70"
  $score -j 1 some.jsonl >first
  $score -j 4 some.jsonl | cmp - first
  tac some.jsonl | $score -j 3 | tac | cmp - first
  for n in 1 46 91; do
    sed -n ${n}p some.jsonl | $score
  done | cmp - <(sed -n '1p;46p;91p' first)
  run -1 cmp -s first <(ran-lm score -m lm.ran --per-token some.jsonl)
}

@test "cache: of a pair the target is remembered" {
  echo '{"source":"s1 s2","target":"t2 t2 t2"}' >pair.jsonl
  ran-lm score -m pairs.ran --per-token pair.jsonl >without
  ran-lm score -m pairs.ran --per-token --logits --cache 9 --cache-weight 0.5 pair.jsonl >with
  jq -s -e '[.[].lm.per_token.nll] | .[0][0] == .[1][0] and .[1][1] < .[0][1] and .[1][2] < .[0][2]' without with
  jq -r '.lm.logits[] | [(map(exp) | add), 1] | @tsv' with | near
}

@test "cache: usage" {
  for usage in '--cache x' '--cache 5 --cache-weight 1' '--cache 5 --cache-weight -1' '--cache 5 --cache-theta -1'; do
    run -2 --separate-stderr ran-lm score -m lm.ran $usage texts.jsonl
    [ -z "$output" ]
  done
  run -2 --separate-stderr ran-lm score -m lm.ran --cache 5 --state-out x.state texts.jsonl
  [[ $stderr == *'--cache begins anew with each record'* ]]
}

# ---- documents that go on ------------------------------------------------------------------------

@test "state: a document in parts scores as the whole [all]" {
  head -n 12 texts.jsonl >some.jsonl
  jq -c -s '{text: map(.text) | join(" ")}' some.jsonl |
    ran-lm score -m lm.ran --no-end --per-token | jq '.lm.per_token.nll[]' >whole
  # As one stream of records, and in three runs.
  ran-lm score -m lm.ran --per-token --state-out all.state some.jsonl | jq '.lm.per_token.nll[]' >stream
  paste whole stream | near
  [ "$(wc -l <whole)" -eq "$(wc -l <stream)" ]
  head -n 1 some.jsonl | ran-lm score -m lm.ran --per-token --state-out log.state >parts
  sed -n 2,7p some.jsonl | ran-lm score -m lm.ran --per-token --state-in log.state --state-out log.state >>parts
  tail -n +8 some.jsonl | ran-lm score -m lm.ran --per-token --state-in log.state --state-out log.state >>parts
  jq '.lm.per_token.nll[]' parts | paste whole - | near
  cmp log.state all.state
  # Each record has its own figures; a total has them together.
  [ "$(ran-lm score -m lm.ran --state-out x.state some.jsonl | jq .lm.tokens | head -n 2 | tail -n 1)" -eq 7 ]
  ran-lm score -m lm.ran --state-out x.state --total some.jsonl | jq .nll >total
  awk '{ sum += $1 } END { printf "%.9f\n", sum }' whole | paste total - | near
}

@test "state: threads make no difference, nor does the end of a window [all]" {
  for words in 4 5 6 10; do
    jq -n -c "{tokens: [range($words) | \"cat\"]}" >piece.jsonl
    jq -n -c "{tokens: [range($words + 3) | \"cat\"]}" |
      ran-lm score -m lm.ran --no-end --per-token | jq ".lm.per_token.nll[$words:][]" >want
    ran-lm score -m lm.ran --state-out one.state -j 1 piece.jsonl >/dev/null
    ran-lm score -m lm.ran --state-out four.state -j 4 piece.jsonl >/dev/null
    cmp one.state four.state
    echo '{"tokens":["cat","cat","cat"]}' | ran-lm score -m lm.ran --per-token --state-in one.state |
      jq '.lm.per_token.nll[]' | paste want - | near
  done
}

@test "state: a generated text continues" {
  generate="ran-lm generate -m lm.ran --temperature 0"
  $generate --prompt 'a dog' --max-new-tokens 20 --state-out all.state | tr -d '\n' >whole
  $generate --prompt 'a dog' --max-new-tokens 7 --state-out half.state | tr -d '\n' >parts
  $generate --prompt '' --max-new-tokens 13 --state-in half.state --state-out half.state | tr -d '\n' >>parts
  cmp whole parts
  cmp all.state half.state
  # Records, too, are one document: the second goes on from the first and its answer.
  echo '{"text":"a dog"}' | $generate --max-new-tokens 4 --state-out s.state >out
  echo '{"text":"our horse"}' | $generate --max-new-tokens 4 --state-in s.state --state-out s.state >>out
  printf '{"text":"%s"}\n' 'a dog' 'our horse' | $generate --max-new-tokens 4 --state-out t.state | cmp - out
}

@test "state: Transformers go on, too [all]" {
  ran-train lm $(<shape) --encoder transformer --attention dispersed -o trans.ran texts.jsonl
  head -n 6 texts.jsonl >some.jsonl
  jq -c -s '{text: map(.text) | join(" ")}' some.jsonl |
    ran-lm score -m trans.ran --no-end --per-token | jq '.lm.per_token.nll[]' >whole
  head -n 3 some.jsonl | ran-lm score -m trans.ran --per-token --state-out log.state >parts
  tail -n 3 some.jsonl | ran-lm score -m trans.ran --per-token --state-in log.state >>parts
  jq '.lm.per_token.nll[]' parts | paste whole - | near
  echo '{"ids":[3,7,8]}' | ran-lm generate -m trans.ran --temperature 3 --max-new-tokens 20 --per-token >made
  jq -c '{ids: (.ids + .lm.ids)}' made | ran-lm score -m trans.ran --per-token |
    jq '.lm.per_token.nll[2:][]' >want
  jq '.lm.per_token.nll[]' made | paste want - | near
}

@test "state: a bad record is no part of the document" {
  printf '{"text":"%s"}\n' 'a dog' '' 'eats' >three.jsonl
  run -1 --separate-stderr ran-lm score -m lm.ran --per-token --state-out three.state three.jsonl
  [ "$(jq -c .lm.per_token.nll <<<"${lines[2]}")" = \
    "$(sed 2d three.jsonl | ran-lm score -m lm.ran --per-token --state-out two.state | tail -n 1 | jq -c .lm.per_token.nll)" ]
  cmp two.state three.state
}

@test "state: a run that fails leaves the old one" {
  echo '{"text":"a dog"}' | ran-lm score -m lm.ran --state-out log.state >/dev/null
  cp log.state before
  echo '{"text": nonsense' | run -3 --separate-stderr ran-lm score -m lm.ran --on-error stop --state-in log.state --state-out log.state
  cmp log.state before
  ! ls .log.state* 2>/dev/null
}

@test "state: bare ids go on from bare ids" {
  echo '{"ids":[1,5,2,6,1,5,2]}' | ran-lm score -m ids.ran --per-token | jq '.lm.per_token.nll[]' >whole
  printf '{"ids":%s}\n' '[1]' '[5,2,6]' '[1,5,2]' | ran-lm score -m ids.ran --per-token --state-out x.state >out
  jq '.lm.per_token.nll[]' out | paste whole - | near
  echo '{"ids":[1]}' | ran-lm score -m ids.ran --state-out y.state >/dev/null
  echo '{"ids":[5,2,6]}' | ran-lm score -m ids.ran --per-token --state-in y.state | jq -c .lm.per_token >of_one
  sed -n 2p out | jq -c .lm.per_token | cmp - of_one
}

@test "state: one of another model, and what is none, are refused" {
  head -n 3 texts.jsonl | ran-lm score -m lm.ran --state-out log.state >/dev/null
  dies 'log.state: the state of another model' score -m other.ran --state-in log.state texts.jsonl
  dies 'not a state of ran-lm' score -m lm.ran --state-in lm.ran texts.jsonl
  dies 'not a safetensors file' generate -m lm.ran --state-in texts.jsonl --prompt x
  dies 'cannot open nowhere.state' score -m lm.ran --state-in nowhere.state texts.jsonl
  dies 'whole: it has no state' score -m pairs.ran --state-out x.state pairs.jsonl
  [ ! -e x.state ]
}

@test "state: a damaged one is refused, wherever the damage is [all]" {
  head -n 3 texts.jsonl | ran-lm score -m lm.ran --state-out log.state >/dev/null
  size=$(stat -c %s log.state)
  for at in 0 3 9 30 100 300 600 900 1200 $((size / 2)) $((size - 200)) $((size - 1)); do
    cp log.state bad.state
    byte=$(od -A n -t u1 -j $at -N 1 log.state | tr -d ' ')
    printf "$(printf '\\x%02x' $(((byte + 1) % 256)))" | dd of=bad.state bs=1 seek=$at conv=notrunc status=none
    run --separate-stderr ran-lm score -m lm.ran --state-in bad.state texts.jsonl
    [ "$status" -eq 3 ] || { echo "byte $at: $status" >&2; false; }
    [ -z "$output" ]
    [[ $stderr == 'ran-lm: '* ]]
  done
  LC_ALL=C sed -E 's/"tokens":"[0-9]/"tokens":"9/' log.state >bad.state
  dies 'ran-lm: bad.state:' score -m lm.ran --state-in bad.state texts.jsonl
  for n in 0 7 100 $((size / 2)) $((size - 1)); do
    head -c $n log.state >bad.state
    run -3 --separate-stderr ran-lm score -m lm.ran --state-in bad.state texts.jsonl
    [ -z "$output" ]
  done
}

@test "state: what is read is not written over" {
  cp texts.jsonl mine.jsonl
  run -2 --separate-stderr ran-lm score -m lm.ran --state-out mine.jsonl mine.jsonl
  cp lm.ran mine.ran
  run -2 --separate-stderr ran-lm score -m mine.ran --state-out mine.ran texts.jsonl
  cmp mine.ran lm.ran
}

# ---- generate ------------------------------------------------------------------------------------

@test "generate: a prompt continues as plain text, and ends with a line feed" {
  run -0 --separate-stderr ran-lm generate -m lm.ran --prompt 'our horse' --temperature 0
  [ -z "$stderr" ]
  [[ $output == ' '*' in the '*'.'* ]]
  ran-lm generate -m lm.ran --prompt 'our horse' --temperature 0 -o out.txt
  [ "$(<out.txt)" = "$output" ]
  echo '{"text":"our horse"}' | ran-lm generate -m lm.ran --temperature 0 |
    jq -j '.lm.text, "\n"' | cmp - out.txt
}

@test "generate: continuations of records" {
  echo '{"id":7,"text":"our horse"}' | ran-lm generate -m lm.ran --per-token --max-new-tokens 50 >out
  [[ $(<out) == '{"id":7,"text":"our horse","lm":{"text":" '* ]]
  jq -e '.lm | keys == ["finish","nll","per_token","text","tokens"] and .finish == "end"
    and (.per_token.pieces | length) == .tokens and .per_token.pieces[-1] == "[END]"
    and (.text | endswith("[END]") | not) and ((.per_token.nll | add) - .nll | fabs) < 1e-4' out
}

@test "generate: lengths and stop strings" {
  generate='ran-lm generate -m lm.ran --temperature 0 --prompt'
  all=$($generate 'our horse' --max-new-tokens 4)
  [ "$($generate 'our horse' --max-new-tokens 2)" = "${all% * *}" ]
  last=${all##* }
  [ "$($generate 'our horse' --stop "$last")" = "${all%"$last"}" ]
  # A stop string over two tokens, and one of several.
  two=$(cut -d ' ' -f 4,5 <<<"$all")
  [ "$($generate 'our horse' --stop nothing --stop "$two")" = "${all%"$two"*}" ]
  for what in length:3 end:99; do
    echo '{"text":"our horse"}' | ran-lm generate -m lm.ran --temperature 0 --max-new-tokens ${what#*:} |
      jq -e ".lm.finish == \"${what%:*}\""
  done
  echo '{"text":"our horse"}' | ran-lm generate -m lm.ran --temperature 0 --stop "$last" |
    jq -e --arg last "$last" '.lm | .finish == "stop" and .tokens == 4 and (.text | contains($last) | not)'
}

@test "generate: the likelihood of each token is that of score" {
  echo '{"ids":[3,7,8]}' >start.jsonl
  ran-lm generate -m lm.ran --temperature 3 --min-new-tokens 10 --max-new-tokens 40 --per-token start.jsonl >made
  jq -c '{ids: (.ids + .lm.ids)}' made | ran-lm score -m lm.ran --per-token |
    jq '.lm.per_token.nll[2:][]' >want
  [ "$(wc -l <want)" -gt 5 ]
  jq '.lm.per_token.nll[]' made | paste want - | near
}

@test "generate: the likelihood of a target is that of score, wherever its source ends [all]" {
  for n in 1 2 3 4 5 8 9 10 14; do
    jq -n -c "{source: [range($n) | \"s\\(. % 4)\"]}" >source.jsonl
    ran-lm generate -m pairs.ran --temperature 9 --max-new-tokens 12 --per-token source.jsonl >made
    jq -c '{source, target: (.lm.per_token.pieces - ["[END]"])}' made |
      ran-lm score -m pairs.ran --per-token | jq '.lm.per_token.nll[]' >want
    jq '.lm.per_token.nll[]' made >got
    head -n "$(wc -l <got)" want | paste got - | near
  done
}

@test "generate: temperature 0 takes the most probable token, and so does one candidate" {
  echo '{"ids":[3,7,8]}' >start.jsonl
  ran-lm generate -m lm.ran --temperature 0 --max-new-tokens 6 start.jsonl >made
  ran-lm generate -m lm.ran --top-k 1 --max-new-tokens 6 start.jsonl | cmp - made
  ran-lm generate -m lm.ran --top-p 0 --seed 9 --max-new-tokens 6 start.jsonl | cmp - made
  jq -c '{ids: (.ids + .lm.ids)}' made | ran-lm score -m lm.ran --logits |
    jq -c '.lm.logits[2:-1] | map(to_entries | map(select(.key > 4 or .key == 4)) | max_by(.value).key)' >best
  jq -c .lm.ids made | cmp - best
}

@test "generate: the same again is the same, and another seed or id is not" {
  generate='ran-lm generate -m lm.ran --temperature 2 --max-new-tokens 30 --only'
  jq -c '{id, text: "the"}' texts.jsonl >many.jsonl
  $generate -j 1 many.jsonl >first
  $generate -j 4 many.jsonl | cmp - first
  tac many.jsonl | $generate | tac | cmp - first
  sed -n 50p many.jsonl | $generate | cmp - <(sed -n 50p first)
  [ "$(jq .lm.text first | sort -u | wc -l)" -gt 60 ]
  $generate --seed 2 many.jsonl >second
  [ "$(paste -d '\n' first second | jq -c .lm.text | uniq | wc -l)" -gt 120 ]
}

@test "generate: reserved tokens do not come out, and [UNK] only if it may" {
  jq -c '{id, text: "then"}' texts.jsonl >many.jsonl
  ran-lm generate -m lm.ran --temperature 50 --per-token many.jsonl >out
  jq -s -e 'map(.lm.per_token.pieces[]) | (index("[UNK]", "[MASK]", "[SEP]", "[START]") | not)
    and index("[END]") and index("horse")' out
  ran-lm generate -m lm.ran --temperature 50 --unknown --per-token many.jsonl |
    jq -s -e 'map(.lm.per_token.pieces[]) | index("[UNK]") and (index("[MASK]", "[SEP]", "[START]") | not)'
}

@test "generate: a source is answered by its target" {
  printf '{"source":"s%s"}\n' '1 s2' '4 s0' | ran-lm generate -m pairs.ran --temperature 0 |
    jq -r .lm.text >out
  printf 't2 t1\nt0 t4\n' | cmp - out
  [ "$(ran-lm generate -m pairs.ran --temperature 0 --prompt 's3 s1')" = 't1 t3' ]
  # A target that is there is not looked at.
  echo '{"source":"s1 s2","target":"t4"}' | ran-lm generate -m pairs.ran --temperature 0 |
    jq -e '.lm.text == "t2 t1"'
  # Of bare ids all are the source, unless segments say otherwise.
  source=$(echo '{"text":"s1 s2"}' | ran-tokenize encode -m pairs.ran | jq -c '.encoding.ids + [2]')
  echo "{\"ids\":$source}" | ran-lm generate -m pairs.ran --temperature 0 | jq -e '.lm.text == "t2 t1"'
}

@test "generate: a prompt longer than any window, and an empty one" {
  long=$(awk 'BEGIN { for (i = 0; i < 300; i++) printf "a dog eats in the sun . " }')
  run -0 --separate-stderr ran-lm generate -m lm.ran --prompt "$long" --max-new-tokens 3 --state-out x.state
  [ -n "$output" ]
  run -0 --separate-stderr ran-lm generate -m lm.ran --prompt '' --temperature 0 --max-new-tokens 2
  [[ $output == [a-z]* ]]
}

@test "generate: a text of bytes is the text that was learned, whole characters at a time" {
  rest=$' 😀 €\n  and   Ünder!'
  [ "$(ran-lm generate -m bytes.ran --prompt say1 --temperature 0)" = "$rest" ]
  [ "$(ran-lm generate -m bytes.ran --prompt say1 --temperature 0 --stop €)" = ' 😀 ' ]
  [ "$(ran-lm generate -m bytes.ran --prompt $'say2 😀 €\n  and   Ü' --temperature 0)" = nder! ]
  echo '{"text":"say0"}' | ran-lm generate -m bytes.ran --temperature 0 |
    jq -e --arg rest "$rest" '.lm | .text == $rest and .finish == "end" and .tokens > 20'
  # Cut anywhere, it is UTF-8; half a character is shown as what it is not.
  for n in 1 2 3 4 5 6 7 8; do
    ran-lm generate -m bytes.ran --prompt say1 --temperature 0 --max-new-tokens $n >out
    iconv -f UTF-8 -t UTF-8 out | cmp - out
    tr -d '\n' <out | sed 's/\xef\xbf\xbd//g' >shown
    [[ $rest == "$(<shown)"* ]]
  done
}

@test "score: bytes of any text are known" {
  printf '{"text":"%s"}\n' 'zebra 漢字 ' '\u0000\ud83d\ude00  \n' | ran-lm score -m bytes.ran --per-token >out
  jq -s -e 'map(.lm.unknown) == [0, 0] and map(.lm.bytes) == [13, 8] and map(.lm.words) == [3, 3]' out
}

@test "generate: text is there as soon as it is made" {
  coproc ran-lm generate -m lm.ran --prompt 'the cat' --state-out x.state --max-new-tokens 100000000
  local generator=$COPROC_PID
  read -r -N 40 -t 20 text <&"${COPROC[0]}"
  [[ $text == ' '[a-z]* ]]
  kill "$generator"
  # A reader that goes away ends it, quietly.
  ran-lm generate -m lm.ran --prompt 'the cat' --state-out x.state --max-new-tokens 100000000 2>errors |
    head -c 40 >some || [ "${PIPESTATUS[0]}" -eq 141 ]
  [ "$(wc -c <some)" -eq 40 ]
  [ ! -s errors ]
}

@test "generate: usage [all]" {
  for usage in '--prompt x texts.jsonl' '--prompt x --stop=' '--prompt x --per-token' '--temperature -1' '--top-p 2' \
    '--max-new-tokens 0' '--temperature nan'; do
    run -2 --separate-stderr ran-lm generate -m lm.ran $usage
    [ -z "$output" ]
  done
  run -2 --separate-stderr ran-lm generate -m ids.ran --stop x ids.jsonl
  [[ $stderr == *'no vocabulary'* ]]
  run -2 --separate-stderr ran-lm generate --prompt x
  [[ $stderr == *'no model: give --model FILE'* ]]
  run -2 --separate-stderr ran-lm generate -m lm.ran --prompt $'\377'
  run -2 --separate-stderr ran-lm generate -m lm.ran --stop $'\377'
  run -2 --separate-stderr ran-lm score -m lm.ran --total --logits texts.jsonl
  run -2 --separate-stderr ran-lm guess
  [[ $stderr == *'score, generate or fill'* ]]
}

# ---- what is refused -----------------------------------------------------------------------------

@test "lm: models of other tasks" {
  ran-train classify -q --epochs 1 --dim 8 --heads 1 --head-dim 8 --no-dev -o class.ran \
    <(printf '{"text":"a b","label":"%s"}\n' x y)
  dies 'classifies documents' score -m class.ran texts.jsonl
  dies 'classifies documents' fill -m class.ran texts.jsonl
  dies 'generates text' fill -m lm.ran texts.jsonl
  dies 'cannot open' score -m nowhere.ran texts.jsonl
}

@test "lm: records that do not fit the model [all]" {
  refused '{"text":""}' 'no tokens' score -m lm.ran
  refused '{"text":" \n "}' 'no tokens' generate -m lm.ran
  refused '{"source":"a","target":"b"}' 'a "source" needs a model with --mask prefix' score -m lm.ran
  refused '{"text":"a"}' 'no "source"' score -m pairs.ran
  refused '{"text":"a"}' 'no "source"' generate -m pairs.ran
  refused '{"target":"a"}' 'no "source"' score -m pairs.ran
  refused '{"source":"a"}' 'no "target"' score -m pairs.ran
  refused '{"source":"","target":"a"}' 'the source has no tokens' score -m pairs.ran
  refused '{"source":3,"target":"a"}' '"source" must be a string' score -m pairs.ran
  refused '{"source":"a","target":["b",1]}' '"target" must be an array of strings' score -m pairs.ran
  refused '{"ids":[5,6]}' 'no "segments"' score -m pairs.ran
  for segments in '[0]' '[1,0]' '[0,2]' '[0,1,1]' '"01"' '[0,"1"]'; do
    refused "{\"ids\":[5,6],\"segments\":$segments}" '"segments" must be an array' score -m pairs.ran
  done
  refused '{"ids":[5,6000]}' 'id 6000 is not in the vocabulary' score -m lm.ran
  refused '{"ids":[]}' 'no tokens' generate -m lm.ran
  refused '{"text":"a"}' 'no "ids"' score -m ids.ran
  refused '{"text":"a","text":"b"}' 'given twice' score -m lm.ran
  refused '{"ids":[1],"segments":[1],"segments":[0]}' 'given twice' score -m pairs.ran
  dies 'the source has no tokens' generate -m pairs.ran --prompt ' '
  dies 'no vocabulary' generate -m ids.ran --prompt x
}

@test "lm: a vocabulary without the tokens that the task needs" {
  for piece in '[START]:lm' '[END]:lm' '[SEP]:pairs'; do
    name=${piece%:*}
    LC_ALL=C sed "s/\\[${name:1:2}\\([A-Z]*\\]\\)/[${name:1:1}x\\1/g" "${piece#*:}.ran" >odd.ran
    dies "has no token $name" score -m odd.ran texts.jsonl
  done
}

@test "lm: the share of unknown tokens stands beside the measures, and --unknown-cost spells them" {
  ran-lm score -m lm.ran --total texts.jsonl | jq -e '.unknown_share == .unknown / .tokens'
  printf '{"text":"a zebra eats Fu\u00dfb\u00e4lle ."}\n{"tokens":["a","zebra","eats","."]}\n' >odd.jsonl
  ran-lm score -m lm.ran --only odd.jsonl | jq -c .lm >plain
  ran-lm score -m lm.ran --only --unknown-cost 8 odd.jsonl | jq -c .lm >spelled
  # A byte costs 8 bits, and so does the end of a word.
  jq -s -e --slurpfile plain plain '
    def near($x): (. - $x | fabs) < 1e-9 * $x;
    [.[0].unknown, .[1].unknown] == [2, 1]
    and (.[0].nll_spelled | near($plain[0].nll + 8 * (2 | log) * (5 + 1 + 10 + 1)))
    and (.[1].nll_spelled | near($plain[1].nll + 8 * (2 | log) * (5 + 1)))
    and (.[1].perplexity_per_word | near($plain[1].nll + 8 * (2 | log) * 6 | . / $plain[1].words | exp))
    and all(.[]; .nll_spelled / (2 | log) / .bytes - .bits_per_byte | fabs < 1e-9)' spelled
  jq -c 'del(.nll_spelled, .perplexity_per_word, .bits_per_byte)' spelled |
    cmp - <(jq -c 'del(.perplexity_per_word, .bits_per_byte, .without)' plain)
  # The plain figures say what they leave out: of a record, in a total, and on a page.
  jq -s -e '[.[].without] == ["the spelling of 2 unknown words: --unknown-cost", "the spelling of 1 unknown word: --unknown-cost"]' plain
  ran-lm score -m lm.ran --total odd.jsonl | jq -e '.without | startswith("the spelling of 3 unknown words")'
  echo '{"text":"a dog eats ."}' | ran-lm score -m lm.ran | jq -e '.lm | has("without") | not'
  run -2 --separate-stderr ran-lm score -m lm.ran --per-token --unknown-cost 8 odd.jsonl
  [[ $stderr == *'--unknown-cost is for sums, and --per-token has the nll of [UNK] alone: leave out --per-token'* ]]
  ran-lm score -m lm.ran --output-format html odd.jsonl >page
  grep -q '% of the tokens' page
  run ! grep -q 'does not depend on the vocabulary' page
  ran-lm score -m lm.ran --output-format html <<<'{"text":"a"}' | grep -q 'does not depend on the vocabulary'
}
