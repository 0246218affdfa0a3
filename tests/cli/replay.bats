#!/usr/bin/env bats
# ran-train --replay: a model is what it says of itself, or the sentence tells why not.

bats_require_minimum_version 1.5.0
load train.bash

shape='--dim 8 --layers 1 --heads 2 --head-dim 4 --window 16 --min-window 4 --epochs 2 -q --no-early-stop'

# What most tests replay.
setup_file() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 40 30 >train.jsonl
  documents 12 20 >dev.jsonl
  ran-train classify $shape --wide 500 --seed 3 -o m.ran train.jsonl
}

setup() {
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  cp "$BATS_FILE_TMPDIR"/* .
}

# equal COMMAND...: the model is what it says, and nothing is written.
equal() {
  local before
  before=$(ls)
  run -0 --separate-stderr "$@"
  [ -z "$output" ]
  [[ $stderr == *'is reproduced, byte for byte' ]] || { echo "said: $stderr"; false; }
  [ "$(ls)" = "$before" ]
}

# say FILE NEEDLE TEXT: another text of the same length in the header of a model.
say() {
  [ ${#2} -eq ${#3} ]
  LC_ALL=C sed -i "s/$2/$3/" "$1"
}

@test "replay: a classifier, from what it says of itself alone, with any number of threads" {
  equal ran-train classify --replay m.ran train.jsonl
  equal ran-train classify -j 3 --replay m.ran - <train.jsonl
}

@test "replay: with -o the model is written again; --resume and --log need that" {
  run -0 ran-train classify --replay m.ran -o again.ran train.jsonl
  cmp m.ran again.ran
  [ ! -e again.ran.ckpt ]
  refused 2 'cannot also be the output' ran-train classify --replay m.ran -o m.ran train.jsonl
  refused 2 'without -o' ran-train classify --replay m.ran --resume train.jsonl
  refused 2 'without -o' ran-train classify --replay m.ran --log l train.jsonl
}

@test "replay: development data and settings of all kinds" {
  ran-train classify $shape --wide 0 --dev dev.jsonl --vocab-type wordpiece --vocab-size 60 --schedule cosine \
    --class-weights balanced --word-dropout 0.1 --learning-rate 0.0123 --no-review -o d.ran train.jsonl
  equal ran-train classify --replay d.ran --dev dev.jsonl train.jsonl
  refused 2 'was trained with --dev' ran-train classify --replay d.ran train.jsonl
  refused 2 'was trained without --dev' ran-train classify --replay m.ran --dev dev.jsonl train.jsonl
  sed 's/white/warm/' dev.jsonl >other.jsonl
  refused 4 'the validation documents are not those of d.ran: 12 documents' \
    ran-train classify --replay d.ran --dev other.jsonl train.jsonl
}

@test "replay: several labels, a vocabulary that was given, no development data, no refit" {
  ran-tokenize learn -q -o v.json train.jsonl
  sed 's/"label": \("[a-z]*"\)/"labels": [\1, "all"]/' train.jsonl >several.jsonl
  ran-train classify $shape --vocab v.json --wide 100 --no-dev -o s.ran several.jsonl
  equal ran-train classify --replay s.ran several.jsonl
  ran-train classify $shape --vocab v.json --wide 100 --no-refit --dev-share 0.3 -o n.ran several.jsonl
  equal ran-train classify --replay n.ran several.jsonl
}

@test "replay: folds for --threshold-for had an encoder that the first run did not train" {
  sed 's/"label": \("[a-z]*"\)/"labels": [\1, "all"]/' train.jsonl >several.jsonl
  for data in train several; do
    RAN_BASE=none ran-train classify -q --threshold-for wet=recall:0.9 -o t.ran $data.jsonl
    equal ran-train classify --replay t.ran $data.jsonl
    ran-train info --format json t.ran | jq -e '.training | has("threshold_encoder") | not'
  done
  ran-train classify $shape --threshold-for wet=recall:0.9 -o t.ran train.jsonl
  equal ran-train classify --replay t.ran train.jsonl
  ran-train info --format json t.ran | jq -e '.training.threshold_encoder'
}

@test "replay: ids, soft labels, and a contextualizer [all]" {
  ran-tokenize learn -q -o v.json train.jsonl
  ran-tokenize encode -q --vocab v.json train.jsonl | jq -c '{label: .label, ids: .encoding.ids}' >ids.jsonl
  ran-train classify $shape --wide 0 -o i.ran ids.jsonl
  equal ran-train classify --replay i.ran ids.jsonl
  ran-classify -m m.ran -q --probs train.jsonl | jq -c 'if .id % 2 == 0 then del(.label) else . end' >soft.jsonl
  ran-train classify $shape --encoder contextualizer --soft-label prediction --soft-share 0.25 -o p.ran soft.jsonl
  equal ran-train classify --replay p.ran soft.jsonl
}

@test "replay: taggers, language models, and models of masked words [all]" {
  awk 'BEGIN { for (i = 0; i < 20; i++)
    printf "{\"tokens\": [\"word%d\", \"Anna\", \"Smith\"], \"tags\": [\"O\", \"B-PER\", \"I-PER\"]}\n", i % 5 }' >tagged.jsonl
  ran-train tag $shape --spelling 100 --join-sentences 20 -o t.ran tagged.jsonl
  equal ran-train tag --replay t.ran tagged.jsonl
  ran-train lm $shape --min-window 1 --bptt 1 -o l.ran train.jsonl
  equal ran-train lm --replay l.ran train.jsonl
  jq -c '{source: .label, target: .text}' train.jsonl >pairs.jsonl
  ran-train lm $shape --min-window 1 -o q.ran pairs.jsonl
  equal ran-train lm --replay q.ran pairs.jsonl
  ran-train mlm $shape -o g.ran train.jsonl
  equal ran-train mlm --replay g.ran train.jsonl
  refused 3 'use ran-classify' ran-train tag --replay m.ran tagged.jsonl
  refused 3 'use ran-lm' ran-train classify --replay g.ran train.jsonl
}

@test "replay: what training began with must be named again" {
  ran-train mlm $shape -o g.ran train.jsonl
  ran-train classify $shape --wide 100 --init g.ran --init-rate 0.5 -o i.ran train.jsonl
  equal ran-train classify --replay i.ran --init g.ran train.jsonl
  refused 2 'was trained with --init' ran-train classify --replay i.ran train.jsonl
  refused 2 'was trained without --init' ran-train classify --replay m.ran --init g.ran train.jsonl
  refused 4 'm.ran is not the model that i.ran was initialised from, with the digest ' \
    ran-train classify --replay i.ran --init m.ran train.jsonl
  awk 'BEGIN { for (i = 0; i < 7; i++) print "word" i, i, -i, 0.5, 1, 2, 3, 4, 5 }' >vectors.txt
  ran-train classify $shape --wide 100 --vectors vectors.txt --freeze -o v.ran train.jsonl
  equal ran-train classify --replay v.ran --vectors vectors.txt train.jsonl
  refused 2 'was trained with --vectors' ran-train classify --replay v.ran train.jsonl
  sed 's/0.5/0.25/' vectors.txt >other.txt
  refused 4 '"vectors" is' ran-train classify --replay v.ran --vectors other.txt train.jsonl
}

@test "replay: a model that --tune found [all]" {
  ran-train classify $shape --wide 0 --tune 0.02 -o f.ran train.jsonl >found.json
  equal ran-train classify --replay f.ran train.jsonl
}

@test "replay: other data are known before a step is made" {
  head -39 train.jsonl >fewer.jsonl
  refused 4 'the training data are not those of m.ran: 39 documents with the digest' \
    ran-train classify --replay m.ran fewer.jsonl
  sed '7s/sun/snow/' train.jsonl >changed.jsonl
  refused 4 ' here, 40 with ' ran-train classify --replay m.ran changed.jsonl
  refused 3 'cannot open' ran-train classify --replay m.ran nowhere.jsonl
  { cat train.jsonl; echo '{"text": 7}'; } >bad.jsonl
  refused 3 'bad.jsonl:41' ran-train classify --replay m.ran bad.jsonl
  run -1 ran-train classify --replay m.ran --on-error=skip bad.jsonl
  [[ $output == *'byte for byte'* ]]
}

@test "replay: settings are those of the model, not of the command line" {
  for option in --epochs=2 --dim=8 --vocab-size=100 --dev-share=0.1 --soft-label=x --no-dev --vocab=v --tune=1; do
    refused 2 '--replay takes the settings of the model' ran-train classify --replay m.ran $option train.jsonl
  done
  echo '{"seed": 3}' >c.json
  refused 2 'leave out --seed' ran-train classify --replay m.ran -c c.json train.jsonl
  refused 2 'exclude each other' ran-train classify --replay m.ran --check train.jsonl
  refused 2 'exclude each other' ran-train classify --replay m.ran --dry-run train.jsonl
}

@test "replay: a model that says something else than what it was trained with" {
  cp m.ran other.ran
  say other.ran '\\"seed\\":3' '\\"seed\\":4'
  refused 4 'other.ran is not reproduced: tensor ' \
    ran-train classify -q --replay other.ran train.jsonl
  [[ $stderr == *'(there, and here); perhaps another build of '*' made it' ]]
  cp m.ran other.ran
  say other.ran '\\"epochs\\":2' '\\"epochs\\":x'
  refused 3 'JSON' ran-train classify --replay other.ran train.jsonl
  cp m.ran other.ran
  say other.ran '\\"epochs\\":2' '\\"epochz\\":2'
  refused 4 'other.ran does not record "epochs"' ran-train classify --replay other.ran train.jsonl
  cp m.ran other.ran
  say other.ran '\\"version\\":\\"0.' '\\"version\\":\\"9.'
  refused 4 'was trained by version 9.' ran-train classify --replay other.ran train.jsonl
  cp m.ran other.ran
  say other.ran '\\"best_epoch\\"' '\\"best_epocx\\"'
  refused 4 'the metadata "training" differ' ran-train classify -q --replay other.ran train.jsonl
}

@test "replay: another kind of processor" {
  RAN_ISA=portable ran-train classify $shape --wide 0 -o p.ran train.jsonl
  RAN_ISA=base refused 4 'kind of processor: portable' ran-train classify --replay p.ran train.jsonl
  RAN_ISA=portable equal ran-train classify --replay p.ran train.jsonl
}

@test "replay: files that are damaged, or no models, or checkpoints" {
  refused 3 'cannot open' ran-train classify --replay none.ran train.jsonl
  refused 3 'train.jsonl' ran-train classify --replay train.jsonl train.jsonl
  head -c 5000 m.ran >cut.ran
  refused 3 'cut.ran' ran-train classify --replay cut.ran train.jsonl
  cp m.ran damaged.ran
  printf 'x' | dd of=damaged.ran bs=1 seek=$(($(wc -c <m.ran) - 9)) conv=notrunc status=none
  refused 3 'damaged.ran' ran-train classify --replay damaged.ran train.jsonl
  ran-train classify $shape --wide 500 --epochs 100000 --patience 1000000 --checkpoint-minutes 0 -o c.ran train.jsonl &
  for ((i = 0; i < 1500; i++)); do [ -e c.ran.ckpt ] && break; sleep 0.02; done
  kill -TERM $!
  status=0
  wait $! || status=$?
  [ $status -eq 143 ]
  refused 4 'it is a checkpoint' ran-train classify --replay c.ran.ckpt train.jsonl
}

@test "replay: interrupted, it leaves nothing [all]" {
  ran-train classify $shape --wide 0 --dim 64 --epochs 800 --patience 800 -o long.ran train.jsonl
  ls >before
  ran-train classify --progress always --replay long.ran train.jsonl 2>said &
  wait_for epoch said
  kill -INT $!
  status=0
  wait $! || status=$?
  [ $status -eq 130 ]
  grep -q interrupted said
  rm said
  ls | diff before -
}
