#!/usr/bin/env bats
# ran-train --pretrain: an encoder that learns from texts without labels first, in one training.

bats_require_minimum_version 1.5.0
load train.bash

shape='--dim 8 --layers 2 --heads 2 --head-dim 4 --window 16 --min-window 4 --epochs 2 -q --no-early-stop'

setup_file() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 40 30 >train.jsonl
  documents 12 20 >dev.jsonl
  documents 60 40 | jq -c '{text}' | sed 's/word/other/g' >texts.jsonl
  head -20 texts.jsonl | gzip >some.jsonl.gz
  head -30 dev.jsonl | jq -c '{tokens: (.text | split(" ")), tags: [.text | split(" ")[] |
    if test("rain|sun|snow") then "B-X" else "O" end]}' >tags.jsonl
}

setup() {
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  cp "$BATS_FILE_TMPDIR"/* .
}

# training MODEL MEMBER: of the metadata.
training() {
  ran-train info --format json "$1" | jq -c ".training.$2"
}

@test "pretrain: the model and the log name the texts and the documents" {
  run -0 --separate-stderr ran-train classify $shape --wide 0 --pretrain texts.jsonl --pretrain-epochs 3 --no-refit \
    --dev dev.jsonl --log log -o m.ran train.jsonl
  [ "$(training m.ran pretrain.documents)" = 100 ]
  [ "$(training m.ran pretrained.epochs)" = 3 ]
  [ "$(training m.ran pretrain_epochs)" = 3 ]
  [ "$(training m.ran 'pretrained | .loss < .loss_before')" = true ]
  [ "$(jq -s '[.[] | select(.pretraining and .event == "dev")] | length' log)" = 3 ]
  [ "$(jq -s '[.[] | select(.pretraining | not) | select(.event == "dev")] | length' log)" = 2 ]
  [ "$(jq -sc '[.[] | select(.event == "pretrained") | .documents, .loss < .loss_before]' log)" = '[100,true]' ]
  [[ $(ran-train info m.ran) == *'pretrained on'*'100 documents without labels'*'3 epochs'* ]]
}

@test "pretrain: a line for people" {
  run -0 --separate-stderr ran-train classify ${shape/-q/} --wide 0 --pretrain texts.jsonl --pretrain-epochs 2 \
    --dev-share 0.25 -o m.ran train.jsonl
  [[ $stderr == *'texts  epoch 2/2  validation loss'*'the encoder has learned from 90 documents without labels'*'epoch 1/2  validation loss'* ]]
}

@test "pretrain: 1 and 3 threads, and a folder of compressed files, write the same model [all]" {
  for name in one three; do
    ran-train classify $shape -j ${#name} --pretrain texts.jsonl --pretrain some.jsonl.gz --pretrain-epochs 2 \
      -o $name.ran train.jsonl
  done
  cmp one.ran three.ran
  mkdir folder
  mv texts.jsonl folder/a.jsonl
  mv some.jsonl.gz folder/b.jsonl.gz
  ran-train classify $shape --pretrain folder --pretrain-epochs 2 -o folder.ran train.jsonl
  cmp one.ran folder.ran
}

@test "pretrain: interrupted in either phase and resumed, the model is the same [all]" {
  # shellcheck disable=SC2206 # several options
  train=(ran-train classify $shape --wide 500 --pretrain texts.jsonl --pretrain-epochs 2 --epochs 60 --patience 60 train.jsonl)
  "${train[@]}" -o whole.ran
  for phase in '"pretraining":true' '"event":"dev","epoch":2'; do
    rm -f log
    "${train[@]}" -o m.ran --log log &
    wait_for "$phase" log
    kill -INT $! 2>/dev/null || true # it may be over
    run wait $!
    if [ -e m.ran ]; then rm m.ran; continue; fi
    "${train[@]}" -o m.ran --log log --resume
    cmp whole.ran m.ran
    rm m.ran
  done
}

@test "pretrain: replayed, with the same texts only [all]" {
  ran-train classify $shape --pretrain texts.jsonl --pretrain-epochs 2 --layer-decay 0.5 -o m.ran train.jsonl
  run -0 --separate-stderr ran-train classify --replay m.ran --pretrain texts.jsonl train.jsonl
  [[ $stderr == *'is reproduced, byte for byte' ]]
  refused 4 'are not those of m.ran' ran-train classify --replay m.ran --pretrain some.jsonl.gz train.jsonl
  ran-train classify $shape -o without.ran train.jsonl
  refused 2 'was trained without --pretrain' ran-train classify --replay without.ran --pretrain texts.jsonl train.jsonl
  ran-train classify $shape --pretrain-epochs 2 -o own.ran train.jsonl
  run -0 ran-train classify --replay own.ran train.jsonl
}

@test "pretrain: within minutes; the model says how many steps, and they are replayed [all]" {
  ran-train classify $shape --wide 0 --pretrain texts.jsonl --pretrain-epochs 100000 --pretrain-minutes 0.03 \
    --patience 100000 -o m.ran train.jsonl
  # Where the machine is so busy that the time is over at once, "last" says so.
  training m.ran 'pretrained | .steps < 100000 and (.time_limit | .steps > 0 or .last > 0)' | grep -qx true
  run -0 --separate-stderr ran-train classify --replay m.ran --pretrain texts.jsonl train.jsonl
  [[ $stderr == *'is reproduced, byte for byte' ]]
}

@test "pretrain: a tagger, with spelling and sentences that are joined" {
  jq -c '.doc = "d"' tags.jsonl >joined.jsonl
  ran-train tag $shape --wide 0 --join-sentences 3 --pretrain texts.jsonl --pretrain-epochs 2 -o t.ran --dev joined.jsonl joined.jsonl
  [ "$(training t.ran pretrain.documents)" -eq $((60 + 4)) ]
  ran-tag -m t.ran <tags.jsonl | jq -e .prediction.tags >/dev/null
}

@test "pretrain: --check and --dry-run count the texts" {
  [ "$(ran-train classify --check --pretrain texts.jsonl train.jsonl | jq -c '.pretrain.documents, .ok')" = $'100\ntrue' ]
  [[ $(ran-train classify --check --check-format text --pretrain texts.jsonl train.jsonl) == *$'\nTexts to learn from first\ndocuments  100\n'* ]]
  run -0 ran-train classify $shape --dry-run --pretrain texts.jsonl --pretrain-epochs 3 train.jsonl
  [[ $output == *'texts       100, '*' without labels: 36 steps'*'for 3 epochs of them'* ]]
}

@test "pretrain: what cannot be" {
  # shellcheck disable=SC2206 # several options
  t=(ran-train classify $shape -o m.ran)
  refused 2 'leave it out with --encoder none' "${t[@]}" --encoder none --pretrain texts.jsonl train.jsonl
  refused 2 'contextualizer' "${t[@]}" --encoder contextualizer --pretrain texts.jsonl train.jsonl
  refused 2 'use --cell gated' "${t[@]}" --cell plain --pretrain texts.jsonl train.jsonl
  refused 2 'give it with --init' "${t[@]}" --tune 1 --pretrain texts.jsonl train.jsonl
  refused 2 '--pretrain is for ran-train classify and tag' ran-train lm -o m.ran --pretrain texts.jsonl texts.jsonl
  refused 2 '--pretrain-epochs is for ran-train classify and tag' ran-train mlm -o m.ran --pretrain-epochs 2 texts.jsonl
  refused 2 'not a pipe' "${t[@]}" --pretrain <(cat texts.jsonl) train.jsonl
  refused 2 'not a pipe' "${t[@]}" --pretrain - train.jsonl
  refused 2 'is an input' ran-train classify $shape -o texts.jsonl --pretrain texts.jsonl train.jsonl
  refused 3 'cannot open none' "${t[@]}" --pretrain none train.jsonl
  : >empty.jsonl
  refused 3 'no document in the files of --pretrain' "${t[@]}" --pretrain empty.jsonl train.jsonl
  echo '{"ids": [5, 6, 7], "label": "a"}' >ids.jsonl
  echo '{"ids": [7, 8, 9], "label": "b"}' >>ids.jsonl
  refused 3 'give --vocab FILE' "${t[@]}" --pretrain-epochs 2 ids.jsonl
  { echo '{"text": 5}'; cat texts.jsonl; } >bad.jsonl
  refused 3 '1 line of --pretrain cannot be used' "${t[@]}" --pretrain bad.jsonl train.jsonl
  run -1 "${t[@]}" --pretrain bad.jsonl --on-error skip --pretrain-epochs 1 train.jsonl
  [ ! -e m.ran.ckpt ]
}

@test "pretrain: --layer-decay, --init-rate and --mask-share belong to it, too" {
  ran-train classify $shape --wide 0 --pretrain-epochs 1 --layer-decay 0.5 --init-rate 0.5 --mask-share 0.3 -o m.ran train.jsonl
  [ "$(training m.ran layer_decay)" = 0.5 ]
  [ "$(training m.ran mask_share)" = 0.3 ]
  ran-train classify $shape --wide 0 -o plain.ran train.jsonl # a model says nothing of what it does without
  [[ $(ran-train info --format json plain.ran) != *@(layer_decay|mask_share|pretrain)* ]]
}
