#!/usr/bin/env bats
# How long an encoder is trained: it has to prove itself against the linear model, and time may be short.

bats_require_minimum_version 1.5.0
load train.bash

shape='--dim 8 --layers 1 --heads 2 --head-dim 4 --window 16 --min-window 4'

# doubtful N: documents of which a fifth have another label than their words say.
doubtful() {
  documents "$1" 20 | jq -c 'if .id * 7 % 5 == 0 then .label = ["wet", "warm", "white"][.id * 3 % 7 % 3] else . end'
}

setup_file() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 120 20 >clear.jsonl
  doubtful 300 >doubtful.jsonl
  # A learning rate of nothing: the encoder cannot help.
  ran-train classify $shape --learning-rate 1e-12 --dev-share 0.3 --log log -o m.ran doubtful.jsonl 2>said
}

setup() {
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  cp "$BATS_FILE_TMPDIR"/{m.ran,*.jsonl,log,said} .
  useless="$shape --learning-rate 1e-12 --dev-share 0.3"
}

@test "stop: the linear model comes first, with n and an interval" {
  grep -qE '^linear model: validation loss [0-9.]+, accuracy [0-9.]+ \([0-9]+ of 90, [0-9]+ to [0-9]+ %\)$' said
  [ "$(grep -n '^linear model: ' said | cut -d : -f 1)" -lt "$(grep -n '^epoch 1' said | cut -d : -f 1)" ]
  jq -se 'map(select(.event == "linear")) | length == 1 and .[0].documents == 90 and .[0].seconds < 60 and
    .[0].interval[0] < .[0].value and .[0].value < .[0].interval[1]' log
  jq -se 'map(select(.event == "dev"))[0] | .training_loss > 0 and .encoder_loss > 0 and .linear_loss > 0' log
  jq -se 'map(select(.event == "wide" and .refit == null) | .share) | length > 0 and . == sort and .[-1] == 1' log
}

@test "stop: no encoder is tried where the linear model hardly errs" {
  run -0 --separate-stderr ran-train classify $shape --log few -o few.ran clear.jsonl
  [[ $stderr == *'linear model only: it errs on 0 of 12 validation documents, and fewer than 8 errors cannot'* ]]
  [ "$(grep -c 'linear model only' <<<"$stderr")" -eq 1 ]
  jq -se 'all(.[]; .event != "step") and (map(.event) | index("decided") != null)' few
  training few.ran | jq -e '.early_stop and (.validation.decision | startswith("linear model only: it errs")) and
    (has("best_epoch") | not) and .tried.encoder == "ran" and .validation.linear == .validation.model'
  ran-train classify -q --encoder none -o none.ran clear.jsonl
  same_output "ran-classify -m few.ran --logits clear.jsonl" "ran-classify -m none.ran --logits clear.jsonl"
  run -0 --separate-stderr ran-train classify --replay few.ran clear.jsonl
  [[ $stderr == *'is reproduced, byte for byte'* ]]
}

@test "stop: an encoder that gains nothing ends after an epoch, and is not refitted" {
  grep -q '^linear model only: the encoder did not improve results enough on 90 validation documents and ended after epoch 1 ' said
  jq -se 'map(select(.event == "dev")) | length == 1' log
  jq -se 'map(select(.event == "step" and .refit)) | length == 0' log
  training m.ran | jq -e '.validation | .decision | contains("ended after epoch 1")'
  run -0 --separate-stderr ran-train classify --replay m.ran doubtful.jsonl
  [[ $stderr == *'is reproduced, byte for byte'* ]]
}

@test "stop: an encoder that costs more than the linear model has a trial on a part of the documents first" {
  large='--dim 128 --layers 2 --learning-rate 1e-12 --dev-share 0.3 --batch 4'
  run -0 --separate-stderr ran-train classify $large --log log -o m.ran doubtful.jsonl
  [[ $stderr == *'linear model only: the encoder showed no gain in a trial'* ]]
  [ "$(grep -c 'linear model only' <<<"$stderr")" -eq 1 ]
  jq -se 'map(select(.event == "dev")) | length == 0' log
  jq -se 'map(.event) | index("decided") != null' log
  training m.ran | jq -e '.validation | (.decision | contains("in a trial")) and .linear == .model'
  run -0 --separate-stderr ran-train classify --replay m.ran doubtful.jsonl
  [[ $stderr == *'is reproduced, byte for byte'* ]]
  ran-train classify -q --encoder none --dev-share 0.3 -o none.ran doubtful.jsonl
  same_output "ran-classify -m m.ran --logits doubtful.jsonl" "ran-classify -m none.ran --logits doubtful.jsonl"
  ran-train classify -q $large --no-early-stop --epochs 1 --log on -o on.ran doubtful.jsonl
  jq -se 'map(select(.event == "dev")) | length == 1' on
}

@test "stop: --no-early-stop trains on" {
  ran-train classify -q $useless --no-early-stop --epochs 3 --log on -o on.ran doubtful.jsonl
  jq -se 'map(select(.event == "dev")) | length == 3' on
  training on.ran | jq -e '(has("early_stop") | not) and (.validation.decision | contains("did not improve"))'
  run -0 --separate-stderr ran-train classify --replay on.ran doubtful.jsonl
  [[ $stderr == *'is reproduced, byte for byte'* ]]
  refused 2 '--early-stop is for ran-train classify and tag' ran-train lm --early-stop -o no.ran doubtful.jsonl
}

@test "stop: an encoder is given time where the linear model learns nothing" {
  export RAN_ISA=portable
  documents 300 10 >many.jsonl
  ran-train classify -q $shape --epochs 8 --learning-rate 0.02 --wide 1 --no-affixes --no-refit --log log -o one.ran many.jsonl
  jq -se 'map(select(.event == "dev")) | length > 3' log
  # The best epoch: of metrics within a standard error, the one with the lower loss.
  jq -se 'map(select(.event == "dev")) | .[-1].best_epoch as $said | reduce .[] as $d ({best: null, top: -1};
      (($d.interval[1] - $d.interval[0]) / 4) as $error |
      if .best == null or $d.value > .top + $error or ($d.value > .top - $error and $d.dev.loss < .best.dev.loss)
      then .best = $d else . end | .top = ([.top, $d.value] | max)) | .best.epoch == $said' log
  training one.ran | jq -e '.paths.deep > 0 and (.validation | has("decision") | not) and
    .validation.model.value > .validation.linear.value'
}

@test "stop: a tagger's encoder has to prove itself, too [all]" {
  jq -c '{tokens: (.text | split(" ")), tags: [.text | split(" ")[] | if test("rain|sun|snow") then "B-SIGN" else "O" end]}' \
    clear.jsonl >tags.jsonl
  run -0 --separate-stderr ran-train tag --dim 8 --layers 1 --heads 2 --head-dim 4 --window 16 -o t.ran tags.jsonl
  [[ $stderr == *'linear model only: it errs on 0 of 12 validation documents'* ]]
  training t.ran | jq -e '.paths.deep == 0 and (.validation.linear.interval | length == 2)'
}

@test "stop: what was decided before an interruption stays decided [all]" {
  settings="$shape --dev-share 0.3 --early-stop --epochs 40 --patience 100 --batch 1"
  ran-train classify -q $settings -o whole.ran doubtful.jsonl
  ran-train classify -q $settings --checkpoint-minutes 0 --log l -o cut.ran doubtful.jsonl 3>&- &
  wait_for '"checkpoint"' l
  kill -KILL $! || true
  wait $! || true
  [ ! -e cut.ran.ckpt ] || ran-train classify -q $settings --resume -o cut.ran doubtful.jsonl
  cmp whole.ran cut.ran
}

@test "stop: --minutes ends in time with a model that --replay reproduces [all]" {
  settings="$shape --no-early-stop --dev-share 0.3 --patience 100000"
  run -0 --separate-stderr ran-train classify $settings --epochs 20000 --minutes 0.05 -o short.ran doubtful.jsonl
  [[ $stderr == *'time limit: the encoder was trained for '*' steps'* ]]
  [[ $stderr != *'were needed: all epochs'* && $stderr != *'were needed: more epochs'* ]]
  training short.ran | jq -e '.time_limit | .steps > 0 or .last > 0'
  run -0 --separate-stderr ran-train classify --replay short.ran doubtful.jsonl
  [[ $stderr == *'is reproduced, byte for byte'* ]]
  # With time enough it is the model without a limit.
  ran-train classify -q $settings --epochs 2 --minutes 1000 -o long.ran doubtful.jsonl
  ran-train classify -q $settings --epochs 2 -o plain.ran doubtful.jsonl
  cmp long.ran plain.ran
  # Language models have neither a linear model nor a refit.
  ran-train lm ${shape/--min-window 4/} -q --epochs 20000 --patience 100000 --minutes 0.03 -o lm.ran clear.jsonl
  training lm.ran | jq -e '.time_limit | .steps > 0 or .last > 0'
  run -0 --separate-stderr ran-train lm --replay lm.ran clear.jsonl
  [[ $stderr == *'is reproduced, byte for byte'* ]]
  refused 2 '--tune MINUTES is for a search, and --minutes for one training: leave out --minutes' ran-train classify --minutes 1 --tune 1 -o no.ran clear.jsonl
  refused 2 'leave out --minutes' ran-train classify --minutes 1 --replay m.ran clear.jsonl
}

@test "stop: who gave more time than was needed learns why it was not, and no time limit is named" {
  says() {
    local why=$1
    shift
    run -0 --separate-stderr ran-train classify $shape --dev-share 0.3 --minutes 1000 "$@" -o s.ran doubtful.jsonl
    [[ $stderr == *" of 16:40:00 were needed: $why"* ]] || { echo "$stderr"; false; }
    [[ $stderr != *'time limit'* ]]
  }
  says 'a linear model takes no longer' --encoder none
  says 'the encoder was given up' --learning-rate 1e-12 --early-stop --epochs 9
  says 'all epochs are done (--epochs)' --no-early-stop --epochs 2 --patience 2
  says 'more epochs did not improve the validation results (--patience)' --no-early-stop --wide 0 \
    --learning-rate 1e-12 --epochs 50 --patience 1
  run -0 --separate-stderr ran-train classify $shape --encoder none -o s.ran doubtful.jsonl
  [[ $stderr != *'were needed'* ]]
}

@test "stop: the live line fits 80 columns, with the time left [all]" {
  script -qec true /dev/null >/dev/null 2>&1 || skip 'no pseudo-terminal'
  command="stty cols 80; ran-train classify $shape --no-early-stop --epochs 200 --patience 1000 -o m.ran doubtful.jsonl"
  TERM=xterm script -qec "$command" /dev/null | tr '\r' '\n' | sed 's/\x1b\[K//g' |
    grep -E '^(refit  )?(linear model|epoch [0-9]+/[0-9]+)  \[' >lines
  [ "$(grep -c 'ETA' lines)" -gt 0 ]
  [ "$(grep 'epoch' lines | grep -Evc '%  training loss [0-9.]*  ETA [0-9:]*$')" -eq 0 ]
  [ "$(awk 'length > 80' lines | wc -l)" -eq 0 ]
  [ "$(grep -c 'learning rate\|gradient' lines)" -eq 0 ]
}
