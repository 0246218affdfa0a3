#!/usr/bin/env bats
# ran-train lm: what is read, what is refused and what is said, and that a model depends on data and
# settings alone.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=$RAN_BIN:$PATH
  mkdir "$BATS_TEST_TMPDIR/work" # bats has files of its own beside it
  cd "$BATS_TEST_TMPDIR/work" || exit
  set -o pipefail # jq -e has nothing to say about no input
}

shape='--vocab-type word --dim 16 --layers 1 --heads 2 --head-dim 8 --window 8 --min-count 1'

# texts N: as many texts of 3 to 60 words, of which each word tells the next.
texts() {
  awk -v n="$1" 'BEGIN {
    for (i = 1; i <= n; i++) {
      words = (i * 37) % 58 + 3
      printf "{\"id\": %d, \"text\": \"", i
      for (w = 0; w < words; w++)
        printf "%sw%d", w ? " " : "", (i + w * w) % 7
      print "\"}"
    }
  }'
}

# pairs N: sources of 1 to 6 words, whose last word is the target.
pairs() {
  awk -v n="$1" 'BEGIN {
    for (i = 1; i <= n; i++) {
      words = i % 6 + 1
      printf "{\"source\": \""
      for (w = 1; w <= words; w++)
        printf "%sw%d", (w == 1 ? "" : " "), (i * w) % 7
      printf "\", \"target\": \"t%d\"}\n", (i * words) % 7
    }
  }'
}

# bad SENTENCE RECORD...: the last of the records is one that cannot be used, and is named.
bad() {
  local sentence=$1
  shift
  printf '%s\n' "$@" >bad.jsonl
  refused 3 "bad.jsonl:$#: $sentence" ran-train lm $shape -o bad.ran bad.jsonl
  [ ! -e bad.ran ]
}

# config MODEL: its configuration.
config() {
  header "$1" | jq '.__metadata__.config | fromjson'
}

# ---- what is learned -----------------------------------------------------------------------------

@test "train lm: texts are learned under the mask causal, and reports tell a perplexity" {
  export RAN_ISA=portable
  texts 120 >train.jsonl
  run -0 --separate-stderr ran-train lm $shape --epochs 3 --learning-rate 0.01 --log log.jsonl -o m.ran train.jsonl
  [ -z "$output" ]
  [[ $stderr == *'validation loss '*', perplexity '* ]]
  [[ $stderr == *'ran-lm score -m m.ran FILE'* ]]
  config m.ran | jq -e '.task == "lm" and .mask == "causal" and .min_window == 1'
  jq -se 'map(select(.event == "dev")) | length == 3
    and all(.dev.perplexity > 1 and (.dev.perplexity / (.dev.loss | exp) - 1 | fabs) < 1e-9
      and (.dev | has("accuracy") | not) and .metric == "loss" and .value == -.dev.loss)
    and .[2].dev.perplexity < .[0].dev.perplexity' log.jsonl
}

@test "train lm: records with a source and a target are learned under the mask prefix" {
  export RAN_ISA=portable
  pairs 120 >train.jsonl
  # Two layers, as one does not find the last word with every seed.
  run -0 --separate-stderr ran-train lm $shape --layers 2 --epochs 40 --learning-rate 0.01 --dropout 0 \
    --embed-dropout 0 --log log.jsonl -o m.ran train.jsonl
  [[ $stderr == *'have a source and a target: --mask prefix'* ]]
  config m.ran | jq -e '.mask == "prefix"'
  # [END] and a target that only the source tells: by chance it would be right one time in seven.
  jq -se 'map(select(.event == "dev") | .dev.perplexity) | min < 1.5' log.jsonl
}

@test "train lm: records with a source and a target have defaults of their own" {
  pairs 60 >train.jsonl
  small='--dim 16 --heads 2 --head-dim 8 --layers 1 --epochs 1'
  run -0 --separate-stderr ran-train lm $small -o m.ran train.jsonl
  [[ $stderr == *': --mask prefix --review-source --label-smoothing 0.1'* ]]
  config m.ran | jq -e '.mask == "prefix" and .cell == "prenorm" and .review_source'
  ran-train info --format json m.ran | jq -e '.training | .label_smoothing == 0.1 and .vocab_type == "bpe"
    and .vocab_size == 5000 and .split_at == "gpt2"'
  # The same settings, said, give the same model; and it is reproduced from what it says.
  ran-train lm -q $small --mask prefix --cell prenorm --review-source --label-smoothing 0.1 \
    --vocab-type bpe --vocab-size 5000 -o said.ran train.jsonl
  cmp m.ran said.ran
  ran-train lm -q --replay m.ran train.jsonl
  # What is set stays, and what does not go with it is left out.
  run -0 --separate-stderr ran-train lm $small --bptt 1 --label-smoothing 0 --vocab-type word -o n.ran train.jsonl
  [[ $stderr == *': --mask prefix'$'\n'* ]]
  ran-train info --format json n.ran | jq -e '.training.vocab_type == "word"'
  run -0 --separate-stderr ran-train lm $small --encoder transformer -o n.ran train.jsonl
  [[ $stderr == *': --mask prefix --label-smoothing 0.1'$'\n'* ]]
  # With --mask the defaults are those of other texts.
  ran-train lm -q $small --mask prefix -o old.ran train.jsonl
  config old.ran | jq -e '.cell == "prenorm" and (has("review_source") | not)'
}

@test "train lm: the vocabulary is learned from source and target" {
  pairs 60 >train.jsonl
  ran-train lm $shape -q --vocab-type word --epochs 1 -o m.ran train.jsonl
  grep -aqF '"w3"' m.ran
  grep -aqF '"t3"' m.ran
}

@test "train lm: a source that only says where a text is from is none" {
  texts 30 | jq -c '. + {source: "Reuters"}' >from.jsonl
  texts 30 >plain.jsonl
  ran-train lm $shape -q --epochs 1 -o from.ran from.jsonl
  ran-train lm $shape -q --epochs 1 -o plain.ran plain.jsonl
  config from.ran | jq -e '.mask == "causal"'
  # But for the digest of the records they are the same.
  same_output "config from.ran" "config plain.ran"
  same_output "tail -c 1000 from.ran" "tail -c 1000 plain.ran"
}

@test "train lm: bare ids, whose segments tell the source" {
  for i in $(seq 40); do
    echo "{\"ids\": [$((i % 7)), $((i % 5)), 8, $((i % 7))], \"segments\": [0, 0, 0, 1]}"
  done >train.jsonl
  ran-train lm $shape -q --epochs 1 -o m.ran train.jsonl
  config m.ran | jq -e '.mask == "prefix"'
  jq -c 'del(.segments)' train.jsonl >plain.jsonl
  ran-train lm $shape -q --epochs 1 -o m.ran plain.jsonl
  config m.ran | jq -e '.mask == "causal"'
}

@test "train lm: 1, 2 and 7 threads write the same model, of whole texts and of chunks [all]" {
  texts 100 >train.jsonl
  for bptt in 0 1; do
    for j in 1 2 7; do
      ran-train lm $shape --epochs 2 --bptt $bptt -q -j $j -o m.ran train.jsonl
      mv m.ran m$j.ran
    done
    cmp m1.ran m2.ran
    cmp m1.ran m7.ran
    mv m1.ran bptt$bptt.ran
  done
  run ! cmp -s bptt0.ran bptt1.ran
}

# resumes OPTION...: a run in chunks resumes after a signal, to the same bytes.
resumes() {
  texts 100 >train.jsonl
  settings="$shape $* --epochs 40 --patience 40 --bptt 1 --checkpoint-minutes 0.001"
  ran-train lm $settings -q -o whole.ran train.jsonl
  ran-train lm $settings -q --log log -o m.ran train.jsonl 3>&- &
  until grep -qs checkpoint log; do sleep 0.02; done
  kill -TERM $!
  status=0
  wait $! || status=$?
  [ $status -eq 143 ]
  [ -e m.ran.ckpt ]
  ran-train lm $settings -q --resume -o m.ran train.jsonl
  cmp m.ran whole.ran
}

@test "train lm: a run in chunks resumes after a signal, to the same bytes [all]" {
  resumes
}

@test "train lm: a Transformer learns in chunks, and resumes after a signal to the same bytes [all]" {
  resumes --encoder transformer --head-dim 6 --attention full,dispersed
  ran-lm score -m whole.ran --total train.jsonl | jq -e '.perplexity < 3'
}

@test "train lm: published cells, whose state is two vectors, resume in chunks to the same bytes [all]" {
  resumes --cell published
}

@test "train lm: --dry-run and --check count what is predicted" {
  texts 50 >train.jsonl
  pairs 12 >pairs.jsonl
  ran-train lm $shape --check --dev train.jsonl train.jsonl >report.json
  jq -e '.ok and .documents == 50 and .predicted == .tokens - 50 and .one_id == 0
    and (has("labels") | not) and .dev.predicted == .predicted' report.json
  ran-train lm $shape --check --vocab-type word pairs.jsonl >report.json
  jq -e '.ok and .predicted == 24' report.json
  ran-train lm $shape --check --check-format text train.jsonl >report.txt
  grep -q '^predicted tokens  *[1-9]' report.txt
  run ! grep -qi labels report.txt
  ran-train lm $shape --dry-run --bptt 1 --epochs 2 train.jsonl >dry.txt
  grep -q '^steps  *[1-9]' dry.txt
}

# ---- what is refused -----------------------------------------------------------------------------

@test "train lm: a source without a target and a target without a source" {
  bad 'there is a "source", but no "target"' '{"source":"a","target":"b"}' '{"source":"a"}'
  bad 'there is a "target", but no "source"' '{"source":"a","target":"b"}' '{"target":"a"}'
  bad 'there is a "target", but no "source"' '{"source":null,"target":"a"}'
  texts 1 >texts.jsonl
  refused 3 'texts.jsonl:1: there is neither "source" nor "target"' \
    ran-train lm $shape --mask prefix -o m.ran texts.jsonl
}

@test "train lm: empty documents, and sources without a token" {
  bad 'the document has no tokens' '{"text":"a b"}' '{"text":""}'
  bad 'the document has no tokens' '{"text":"a b"}' '{"text":" \n"}'
  bad 'the document has no tokens' '{"ids":[1,2]}' '{"ids":[]}'
  bad 'the document has no tokens' '{"source":"a","target":"b"}' '{"source":" ","target":"b"}'
  bad 'no words' '{"text":"a b"}' '{"doc":"a"}'
}

@test "train lm: a target may be empty, and a text of one token is one" {
  { pairs 20; echo '{"source":"a","target":""}'; } >pairs.jsonl
  ran-train lm $shape -q --epochs 1 -o m.ran pairs.jsonl
  { texts 20; echo '{"text":"w1"}'; } >texts.jsonl
  ran-train lm $shape -q --epochs 1 -o m.ran texts.jsonl
  ran-train lm $shape --check texts.jsonl | jq -e '.ok and .length.min == 3'
}

@test "train lm: one id leaves nothing to predict, and the others are learned" {
  for i in $(seq 30); do echo "{\"ids\":[$((i % 7)),$((i % 5)),$((i % 3))]}"; done >ids.jsonl
  echo '{"ids":[3]}' >>ids.jsonl
  run -0 --separate-stderr ran-train lm $shape --epochs 1 -o m.ran ids.jsonl
  [[ $stderr == *'ids.jsonl:31: left out: one id alone has nothing to predict'* ]]
  ran-train lm $shape --check ids.jsonl 2>/dev/null | jq -e '.ok and .documents == 30 and .one_id == 1'
  tail -1 ids.jsonl >lone.jsonl
  refused 3 'there is no document to train on' ran-train lm $shape -o n.ran lone.jsonl
}

@test "train lm: ids outside the vocabulary" {
  texts 30 >texts.jsonl
  ran-tokenize learn --min-count 1 -o vocab.json texts.jsonl
  ran-train lm $shape -q --epochs 1 --vocab vocab.json -o m.ran texts.jsonl
  echo '{"ids":[1,2,999999]}' >ids.jsonl
  refused 3 'ids.jsonl:1: id 999999 is not in the vocabulary' \
    ran-train lm $shape --vocab vocab.json -o n.ran ids.jsonl
  refused 3 'ids.jsonl:1: id 999999 is not in the vocabulary' \
    "$RAN_BIN/tests/dump-gradients" lm -o g -m m.ran ids.jsonl
  bad 'ids must be whole numbers' '{"ids":[1,2]}' '{"ids":[1,-2]}'
}

@test "train lm: segments that are none" {
  bad '"segments" must be an array of as many numbers' '{"ids":[1,2,3],"segments":[0,1,0]}'
  bad '"segments" must be an array of as many numbers' '{"ids":[1,2,3],"segments":[0,1]}'
  bad '"segments" must be an array of as many numbers' '{"ids":[1,2,3],"segments":[0,1,2]}'
  bad '"segments" must be an array of as many numbers' '{"ids":[1,2,3],"segments":"001"}'
  bad 'all ids are source' '{"ids":[1,2,3],"segments":[0,0,0]}'
}

@test "train lm: texts beside pairs" {
  { texts 5; pairs 5; } >both.jsonl
  refused 3 'both.jsonl:1 is one text but both.jsonl:6 has a source and a target' \
    ran-train lm $shape -o m.ran both.jsonl
  texts 20 >texts.jsonl
  pairs 20 >pairs.jsonl
  refused 3 'pairs.jsonl:1: a "source" needs a model with --mask prefix' \
    ran-train lm $shape --dev pairs.jsonl -o m.ran texts.jsonl
  refused 3 'texts.jsonl:1: there is neither "source" nor "target"' \
    ran-train lm $shape --dev texts.jsonl -o m.ran pairs.jsonl
  refused 3 'pairs.jsonl:1: a "source" needs a model with --mask prefix' \
    ran-train lm $shape --mask causal -o m.ran pairs.jsonl
  ran-train lm $shape -q --epochs 1 -o m.ran texts.jsonl
  refused 3 'a "source" needs a model with --mask prefix' \
    "$RAN_BIN/tests/dump-gradients" lm -o g -m m.ran pairs.jsonl
}

@test "train lm: a vocabulary that lacks a reserved token" {
  printf '%s\n' '[UNK]' '[SEP]' '[MASK]' w1 w2 w3 >vocab.txt
  texts 20 >texts.jsonl
  pairs 20 >pairs.jsonl
  refused 3 'vocab.txt: the vocabulary has no token [START]' \
    ran-train lm $shape --vocab vocab.txt -o m.ran texts.jsonl
  refused 3 'vocab.txt: the vocabulary has no token [END]' \
    ran-train lm $shape --vocab vocab.txt --mask prefix -o m.ran pairs.jsonl
}

@test "train lm: options that make no sense for it" {
  refused 2 "metric must be 'loss'" ran-train lm --metric accuracy -o m.ran
  refused 2 'shortlist must be 0' ran-train lm --label-smoothing 0.1 --shortlist 9 -o m.ran
  refused 2 '--class-weights is for ran-train classify and tag' ran-train lm --class-weights balanced -o m.ran
  refused 2 'min_window must be 1' ran-train lm --min-window 4 -o m.ran
  refused 2 "mask must be 'causal' or 'prefix'" ran-train lm --mask none -o m.ran
  refused 2 'use --cell gated' ran-train lm --cell plain -o m.ran
  refused 2 'task is no option: the verb or a model sets it' ran-train lm --task tag -o m.ran
}

@test "train lm: a model that has learned nothing yet knows how frequent words are" {
  for i in 1 2 3 4 5 6 7 8 9 10; do echo '{"text": "a a a a a a a b a a a a a a a c a a a a a a a d"}'; done >texts.jsonl
  for shortlist in 0 6; do
    ran-train lm $shape -q --no-dev --epochs 1 --learning-rate 1e-9 --shortlist $shortlist -o m.ran texts.jsonl
    # 9 tokens are known; 21 of 25 predicted ones are the same.
    ran-lm score -m m.ran --total texts.jsonl | jq -e '.perplexity < 3'
  done
}

@test "train lm: byte pairs are learned, unless an option or vectors are for words" {
  texts 40 >texts.jsonl
  small="-q --no-dev --epochs 1 --dim 8 --layers 1 --heads 1 --head-dim 8"
  learns() {
    ran-train lm $small "${@:2}" -o v.ran texts.jsonl
    ran-train info v.ran | grep -q "^vocabulary *$1,"
  }
  learns BPE
  learns BPE --vocab-size 270 --min-count 3
  echo '{"text": "Zebras never SEEN: ünknown \u0007 words"}' | ran-lm score -m v.ran | jq -e '.lm.unknown == 0'
  learns WordLevel --lowercase
  learns WordLevel --split-at spaces
  learns WordLevel --eol-token eol
  learns WordLevel --vocab-type word
  printf '%s 1 2 3 4 5 6 7 8\n' w1 w2 w3 >vectors.txt
  learns WordLevel --vectors vectors.txt
}
