#!/usr/bin/env bats
# ran-train --vectors and --init: what a training begins with, what is said of it, what is refused.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=$RAN_BIN:$PATH
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  documents 60 20 >train.jsonl
}

shape='--layers 1 --heads 2 --head-dim 8 --window 16 --min-window 4 --epochs 2 --no-early-stop'

train() {
  ran-train classify $shape "$@" train.jsonl
}

# ---- word vectors --------------------------------------------------------------------------------

vectors() {
  printf '%s\n' 'rain 0.5 1 -2 3e-1 0' 'Sun 0 0 0 0 1' '. . 9 9 9 9 9' 'fog 1 1 1 1 1' \
    'word0 1 2 3 4 5' '<unk> 0 1 0 1 0' 'rain 8 8 8 8 8'
}

@test "vectors: they set the width, and the number of tokens found is reported [all]" {
  vectors >v.txt
  run -0 --separate-stderr train --vectors v.txt -o m.ran
  [[ $stderr == *'4 of the 15 tokens of the vocabulary have one of the 7 vectors in v.txt'* ]]
  [[ $stderr == *'v.txt: 1 rows repeat a word: the first row counts'* ]]
  [ "$(metadata m.ran config | jq .dim)" = 5 ]
  [ "$(metadata m.ran training | jq -r .vectors.digest)" = "$(sha256sum <v.txt | cut -d ' ' -f 1)" ]
  run -0 --separate-stderr train --vectors <(vectors) --dim 5 -o p.ran # a pipe
  cmp m.ran p.ran
  train -q --dim 5 -o chance.ran
  run ! cmp -s m.ran chance.ran
  { echo 6 5; vectors | sed 's/$/ /'; } >header.txt # as GloVe counts them
  run -0 --separate-stderr train --vectors header.txt -o h.ran
  [[ $stderr != *'the first line says'* ]]
  { echo 9 5; vectors; } >header.txt
  run -0 --separate-stderr train --vectors header.txt -o h.ran
  [[ $stderr == *'header.txt: the first line says 9 vectors, but there are 7'* ]]
  printf 'rain 1 2\n\xff 1 2\nsun 1 2' >cut.txt
  run -0 --separate-stderr train --vectors cut.txt -o h.ran
  [[ $stderr == *'the last line has no end'* && $stderr == *'1 words are not UTF-8'* ]]
}

@test "vectors: --vector-words puts their words into the vocabulary, from a pipe as well [all]" {
  vectors >v.txt
  run -0 --separate-stderr train --vectors v.txt --vector-words 4 --freeze -o m.ran
  [[ $stderr == *'3 of them were added for their vectors'* ]] # ". ." is two
  [[ $stderr == *'5 of the 16 tokens of the vocabulary have one of the 7 vectors in v.txt'* ]]
  [ "$(metadata m.ran training | jq .vector_words)" = 4 ]
  run -0 --separate-stderr train --vectors <(vectors) --vector-words 4 --freeze -o p.ran
  cmp m.ran p.ran
  run -0 ran-train classify -q --replay m.ran --vectors v.txt train.jsonl
  train -q --vectors v.txt --vector-words 1 --freeze -o less.ran
  run ! cmp -s m.ran less.ran
  refused 2 '--vectors FILE' train --vector-words 4 -o r.ran
  ran-tokenize learn -q -o vocab.json train.jsonl
  refused 2 'leave out --vocab' train --vectors v.txt --vocab vocab.json --vector-words 4 -o r.ran
  refused 2 'vocabulary of words' train --vectors v.txt --vocab-type bpe --vector-words 4 -o r.ran
  { head -3 v.txt; echo 'snow 1 2 x 4 5'; } >bad.txt
  refused 3 "bad.txt:4: 'x' is not a finite number" train --vectors bad.txt --vector-words 9 -o r.ran
}

@test "vectors: taggers have them, too; --freeze changes the model and goes into it" {
  vectors >v.txt
  jq -c '{tokens: (.text | split(" ")), tags: [.text | split(" ")[] | if . == "rain" then "B-X" else "O" end]}' \
    train.jsonl >tags.jsonl
  ran-train tag $shape -q --vectors v.txt -o t.ran tags.jsonl
  ran-train tag $shape -q --vectors v.txt --freeze -o f.ran tags.jsonl
  run ! cmp -s t.ran f.ran
  [ "$(metadata f.ran training | jq .freeze)" = true ]
  ran-tag -m f.ran tags.jsonl >/dev/null
}

@test "vectors: what is refused [all]" {
  vectors >v.txt
  refused 2 'v.txt: its vectors have 5 numbers each, not 128, as --dim says' \
    train --vectors v.txt --dim 128 -o m.ran
  echo '{"dim": 6}' >c.json
  refused 2 'not 6, as --dim says' train -c c.json --vectors v.txt -o m.ran
  refused 3 'cannot open none.txt' train --vectors none.txt -o m.ran
  head -c 65 v.txt >cut.txt
  refused 3 'cut.txt:5: ' train --vectors cut.txt -o m.ran
  gzip -k v.txt
  refused 3 'v.txt.gz is compressed by gzip' train --vectors v.txt.gz -o m.ran
  sed 's/rain/hail/; s/Sun/moon/; s/word/mot/; /unk/d' v.txt >foreign.txt
  refused 3 'no token of the vocabulary has a vector in foreign.txt' \
    train --vectors foreign.txt -o m.ran
  sed 's/-2/nan/' v.txt >nan.txt
  refused 3 "nan.txt:1: 'nan' is not a finite number" train --vectors nan.txt -o m.ran
  refused 2 '--freeze needs --vectors or --init' train --freeze -o m.ran
  ran-tokenize learn -q -o v.json train.jsonl
  ran-tokenize encode -q --vocab v.json train.jsonl | jq -c '{label: .label, ids: .encoding.ids}' >ids.jsonl
  refused 3 'give --vocab to look up words' ran-train classify $shape --vectors v.txt -o m.ran ids.jsonl
  ran-train classify $shape -q --vectors v.txt --vocab v.json -o m.ran ids.jsonl
  cp v.txt w.txt
  refused 2 'w.txt' train --vectors w.txt -o w.txt
}

# ---- another model -------------------------------------------------------------------------------

@test "init: vocabulary, embedding, encoder and settings are the model's; the head only for the same labels [all]" {
  train -q --no-dev --dim 12 -o base.ran # with an encoder, whatever it is worth
  run -0 --separate-stderr train --init base.ran --epochs 3 -o same.ran
  [[ $stderr == *'vocabulary, embedding and encoder are initialised from base.ran, the head too'* ]]
  [[ $stderr != *'learned a vocabulary'* ]]
  [ "$(metadata same.ran config | jq -c '[.dim, .layers, .window]')" = '[12,1,16]' ]
  same_output "metadata same.ran training | jq -r .init.digest" "metadata base.ran digest"
  sed 's/white/black/' train.jsonl >other.jsonl
  run -0 --separate-stderr ran-train classify --epochs 2 --init base.ran -o other.ran other.jsonl
  [[ $stderr == *'the head at random'* ]]
  ran-classify -m other.ran other.jsonl >/dev/null
  jq -c '{tokens: (.text | split(" ")), tags: [.text | split(" ")[] | if . == "rain" then "B-X" else "O" end]}' \
    train.jsonl >tags.jsonl
  run -0 --separate-stderr ran-train tag --epochs 2 --init base.ran -o t.ran tags.jsonl
  [[ $stderr == *'the head at random'* ]]
  ran-tag -m t.ran tags.jsonl >/dev/null
}

@test "init: from a language model to a classifier, on to a language model, and with vectors [all]" {
  small='--layers 1 --heads 2 --head-dim 8 --window 16 --epochs 1'
  ran-train lm $small -q --dim 12 -o lm.ran train.jsonl
  run -0 --separate-stderr ran-train classify --no-dev --epochs 1 --init lm.ran -o c.ran train.jsonl
  [[ $stderr == *'initialised from lm.ran, the head at random'* ]]
  [ "$(metadata c.ran config | jq -c '[.mask, .min_window, .dim]')" = '["none",16,12]' ]
  ran-classify -m c.ran train.jsonl >/dev/null
  run -0 --separate-stderr ran-train lm --epochs 1 --init lm.ran --init-rate 0 -o more.ran train.jsonl
  [[ $stderr == *'initialised from lm.ran, the head too'* ]]
  ran-lm score -m lm.ran train.jsonl >lm.jsonl
  ran-lm score -m more.ran train.jsonl >more.jsonl
  cmp lm.jsonl more.jsonl
  ran-train mlm $small -q --dim 12 -o mlm.ran train.jsonl
  run -0 --separate-stderr ran-train classify --epochs 1 --init mlm.ran -o f.ran train.jsonl
  [[ $stderr == *'initialised from mlm.ran, the head at random'* ]]
  ran-train mlm -q --epochs 1 --init mlm.ran -o g.ran train.jsonl
  run -0 --separate-stderr ran-train lm --epochs 1 --init c.ran -o anew.ran train.jsonl
  [[ $stderr == *'initialised from c.ran, the head at random'* ]]
  [ "$(metadata anew.ran config | jq -c '[.mask, .min_window]')" = '["causal",1]' ]
  vectors >v.txt
  ran-train lm $small -q --vectors v.txt --freeze -o v.ran train.jsonl
  ran-lm score -m v.ran train.jsonl >/dev/null
}

@test "init: with a rate of 0 and the same labels, the model stays what it was [all]" {
  train -q --no-dev --dim 12 -o base.ran # with an encoder, whatever it is worth
  train -q --init base.ran --init-rate 0 --no-dev -o same.ran
  ran-classify -m base.ran --logits train.jsonl >base.jsonl
  ran-classify -m same.ran --logits train.jsonl >same.jsonl
  cmp base.jsonl same.jsonl
}

@test "init: a setting of the encoder that differs is refused, one of the task is not [all]" {
  train -q --no-dev --dim 12 --pooling mean -o base.ran
  refused 2 'base.ran was made with {"dim":12}, not {"dim":16}: leave that setting out' \
    train --init base.ran --dim 16 -o m.ran
  refused 2 'base.ran was made with {"dim":12}' train --init base.ran --dim 128 -o m.ran # a default
  refused 2 '{"rotary":true}' train --init base.ran --no-rotary -o m.ran
  echo '{"dim": 16}' >c.json
  refused 2 '{"dim":12}' train -c c.json --init base.ran -o m.ran
  ran-train classify --epochs 2 -q --dim 12 --min-window 8 --init base.ran -o m.ran train.jsonl
  [ "$(metadata m.ran config | jq -c '[.min_window, .pooling]')" = '[8,"mean"]' ]
  ran-train classify --epochs 2 -q --pooling max --init base.ran -o m.ran train.jsonl
  [ "$(metadata m.ran config | jq -c '[.min_window, .pooling]')" = '[4,"max"]' ]
}

@test "init: of a model with another encoder the vocabulary and the embedding alone are taken [all]" {
  train -q --no-dev --dim 12 -o base.ran # with an encoder, whatever it is worth
  run -0 --separate-stderr ran-train classify --no-dev --epochs 2 --encoder contextualizer --init base.ran \
    -o c.ran train.jsonl
  [[ $stderr == *'base.ran has another encoder: only vocabulary and embedding are initialised from it'* ]]
  [[ $stderr != *'learned a vocabulary'* ]]
  [ "$(metadata c.ran config | jq -c '[.encoder, .dim, .layers]')" = '["contextualizer",12,2]' ]
  ran-classify -m c.ran train.jsonl >/dev/null
  refused 2 'base.ran was made with {"dim":12}' \
    train --encoder contextualizer --dim 16 --init base.ran -o m.ran
  ran-train classify -q --no-dev --epochs 2 --init c.ran -o d.ran train.jsonl # the encoder is the model's
  [ "$(metadata d.ran config | jq -r .encoder)" = contextualizer ]
  refused 2 'made with {"layers":2}' ran-train classify --layers 3 --init c.ran -o m.ran train.jsonl
}

@test "init: the vocabulary is the model's, and --vocab must be it [all]" {
  ran-tokenize learn -q -o v.json train.jsonl
  sed 's/rain/hail/g' train.jsonl | ran-tokenize learn -q -o w.json
  train -q --dim 12 --vocab v.json -o base.ran
  train -q --init base.ran -o a.ran
  train -q --init base.ran --vocab v.json -o b.ran
  cmp a.ran b.ran
  refused 2 'w.json is not the vocabulary of base.ran: leave out --vocab' \
    train --init base.ran --vocab w.json -o m.ran
  ran-tokenize encode -q --vocab v.json train.jsonl | jq -c '{label: .label, ids: .encoding.ids}' >ids.jsonl
  ran-train classify $shape -q --dim 12 -o ids.ran ids.jsonl
  ran-train classify --epochs 2 -q --init ids.ran -o m.ran ids.jsonl
  refused 3 'cannot be used' train --init ids.ran -o m.ran
  [[ $stderr == *'train.jsonl:1: no "ids": the model has no vocabulary'* ]]
  refused 2 'v.json is not the vocabulary of ids.ran' train --init ids.ran --vocab v.json -o m.ran
}

@test "init: what is refused, and a checkpoint is not [all]" {
  train -q --no-dev --dim 12 -o base.ran # with an encoder, whatever it is worth
  vectors >v.txt
  refused 2 'exclude each other' train --init base.ran --vectors v.txt -o m.ran
  refused 3 'cannot open none.ran' train --init none.ran -o m.ran
  cp base.ran broken.ran
  printf 'x' | dd of=broken.ran bs=1 seek=$(($(stat -c %s base.ran) - 5)) conv=notrunc 2>/dev/null
  refused 3 'does not match its digest' train --init broken.ran -o m.ran
  refused 3 'v.txt' train --init v.txt -o m.ran
  refused 2 'base.ran' train --init base.ran -o base.ran
  cp base.ran c.ran.ckpt
  train -q --init c.ran.ckpt -o m.ran
  refused 2 'c.ran.ckpt' train --init c.ran.ckpt --overwrite-checkpoint -o c.ran
}

@test "init and vectors: an interrupted run resumes only with the same files [all]" {
  train -q --no-dev --dim 12 -o base.ran # with an encoder, whatever it is worth
  train -q --no-dev --dim 12 --seed 2 -o base2.ran
  vectors >v.txt
  vectors | sed 's/0.5/0.6/' >w.txt
  for with in '--init base.ran' '--vectors v.txt'; do
    rm -f m.ran m.ran.ckpt log
    ran-train classify $shape --epochs 400 --patience 400 -q --checkpoint-minutes 0 $with --log log \
      -o m.ran train.jsonl 3>&- &
    for ((i = 0; i < 500; i++)); do
      grep -qs checkpoint log && break
      sleep 0.02
    done
    kill -INT $!
    status=0
    wait $! || status=$?
    [ $status -eq 130 ]
    [ -e m.ran.ckpt ]
    other=${with/base.ran/base2.ran}
    other=${other/v.txt/w.txt}
    refused 2 'other settings' ran-train classify $shape --epochs 400 --patience 400 $other --resume \
      -o m.ran train.jsonl
  done
}

@test "init: tokens of a classifier weigh the same in vectors of documents; those of a language model by their frequency" {
  train -q --no-dev --dim 12 -o base.ran # with an encoder, whatever it is worth
  ran-train mlm -q --dim 12 --heads 1 --head-dim 12 --epochs 1 -o mlm.ran train.jsonl
  for init in base mlm; do
    ran-train classify -q --no-dev --wide 2 --init $init.ran --encoder static -o static.ran train.jsonl
    bytes_of static.ran token.weight | tr -s ' \n' '\n' | sed '/^$/d' | paste -sd '   \n' | sort -u >$init.weights
  done
  [ "$(cat base.weights)" = '00 00 80 3f' ] # 1
  [ "$(wc -l <mlm.weights)" -gt 1 ]
}
