#!/usr/bin/env bats
# ran-train --tune: what is tried, what is kept, and that a search can be interrupted and gone on
# with. Most of these searches end when nothing is left to try, so that no clock decides.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=$RAN_BIN:$PATH
  mkdir "$BATS_TEST_TMPDIR/work" # bats has files of its own beside it
  cd "$BATS_TEST_TMPDIR/work" || exit
}

shape='--dim 16 --heads 2 --head-dim 8 --window 16 --min-window 4 --epochs 3'
# All that a search would change but --layers, of which there are three, and --pooling.
fixed="$shape --wide 0 --learning-rate 0.005 --batch 4 --weight-decay 0.01 --dropout 0.1"
fixed+=" --embed-dropout 0.1 --word-dropout 0 --label-smoothing 0"
few="$fixed --pooling max"

# trials FOLDER: what came of them, without what the clock says.
trials() {
  in_order "$1" | jq -c 'del(.seconds)'
}

# in_order FOLDER: a line for each trial that is over.
in_order() {
  cat "$1"/*[0-9].json | jq -cs 'sort_by(.trial)[]'
}

@test "tune: all that is left to try is tried, and the best model is kept [all]" {
  export RAN_ISA=portable
  documents 100 >train.jsonl
  run -0 --separate-stderr ran-train classify $fixed --seed 3 --epochs 1 --metric loss --tune 60 -o m.ran train.jsonl
  [ "$(ls m.ran.tune | sort | tr '\n' ' ')" = '1.json 2.json 3.json 4.json 5.json 6.json ' ]
  [[ $stderr == *'nothing is left to try'* ]]
  [ "$(jq -c .settings m.ran.tune/* | sort -u | wc -l)" -eq 6 ]
  [ "$(jq -c .settings m.ran.tune/1.json)" = '{}' ]
  # The best is kept, not the last.
  best=$(jq -s '0 - max_by(.best).best' m.ran.tune/*)
  [ "$(training m.ran | jq .dev_metric.loss)" = "$best" ]
  [ "$(jq -s 'max_by(.best).trial' m.ran.tune/*)" -lt 6 ]
  [ ! -e m.ran.ckpt ]
}

@test "tune: a dropped encoder does not make its trial the best [all]" {
  export RAN_ISA=portable
  # Nearly half of the labels are of chance: epochs are better than the model that is kept, the linear model alone.
  documents 120 12 | awk 'BEGIN { split("wet warm white", label) } {
    if ((chance = NR * 7919 % 101) < 45)
      sub(/"label": "[a-z]*"/, "\"label\": \"" label[chance % 3 + 1] "\"")
    print
  }' >train.jsonl
  wide="${fixed/--wide 0 --learning-rate 0.005/--wide 256 --wide-cost 1 --learning-rate 0.01}"
  for seed in 3 4; do
    rm -rf m.ran*
    ran-train classify $wide --ngrams 1 --no-affixes --dev-share 0.3 --seed $seed --tune 60 -q -o m.ran train.jsonl >found.json
    in_order m.ran.tune | jq -se 'map(.best) | length == 6 and .[0] == max'
    ran-train classify -c found.json -q -o plain.ran train.jsonl
    cmp m.ran plain.ran
  done
}

@test "tune: the model is the one that plain training gives with the settings written to stdout [all]" {
  export RAN_ISA=portable
  documents 100 >train.jsonl
  # A poor start, so that something better is found.
  rate='--learning-rate 0.0000001'
  ran-train classify ${fixed/--learning-rate 0.005/$rate} --dropout 0 --cell gated --tune 60 -o m.ran train.jsonl >found.json 2>said
  run ! grep -q 'your settings were the best' said
  grep -qE 'changed: \{"(layers|pooling)"' said
  jq -e '.dim == 16 and .learning_rate == 0.0000001 and (has("output") or has("tune") | not)' found.json
  ran-train classify -c found.json -q -o plain.ran train.jsonl
  cmp m.ran plain.ran
}

@test "tune: the same trials for any number of threads, and the model of each as alone [all]" {
  documents 100 >train.jsonl
  ran-train classify $fixed --tune 60 -q -j 1 -o a.ran train.jsonl >a.json
  ran-train classify $fixed --tune 60 -q -j 3 -o b.ran train.jsonl >b.json
  cmp a.ran b.ran
  cmp a.json b.json
  same_output "trials a.ran.tune" "trials b.ran.tune"
}

@test "tune: the first trial runs to its end, whatever the time, and is plain training [all]" {
  documents 60 >train.jsonl
  run -0 --separate-stderr ran-train classify $shape --tune 0.00001 -o m.ran train.jsonl
  [[ $stderr == *'the time was up'* ]]
  [[ $stderr == *'your settings were the best'* ]]
  [ "$(jq -c 'keys' <<<"$output")" = '["dim","epochs","head_dim","heads","min_window","window"]' ]
  ran-train classify $shape -q -o plain.ran train.jsonl
  cmp m.ran plain.ran
}

@test "tune: time that is left is used, for taggers and language models, too [all]" {
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
    echo '{"tokens": ["to", "Ann", "Lee", "and", "Bo"], "tags": ["O", "B-PER", "I-PER", "O", "B-PER"], "text": "to Ann Lee and Bo"}'
  done >train.jsonl
  for verb in tag lm mlm; do
    min=4
    [ $verb != lm ] || min=1
    ran-train $verb ${shape/--min-window 4/--min-window $min} --tune 0.05 --dev train.jsonl -o m.ran train.jsonl >found.json 2>said
    grep -q '^trial 1  validation ' said
    in_order m.ran.tune | jq -se '.[0].best == null or .[0].best <= (map(.best // -9) | max)'
    ran-train $verb -c found.json -q --dev train.jsonl -o plain.ran train.jsonl
    cmp m.ran plain.ran
  done
}

@test "tune: one line a trial, none with -q; the log has the trials [all]" {
  documents 60 >train.jsonl
  run -0 --separate-stderr ran-train classify $few --tune 60 --log log -o m.ran train.jsonl
  [ "$(grep -c '^trial [123]  validation accuracy .*, epoch [123] of ' <<<"$stderr")" -eq 3 ]
  [ "$(grep -c 'validation loss' <<<"$stderr")" -eq 0 ]
  [ "$(jq -c 'select(.event == "trial") | .trial' log | tr -d '\n')" = 123 ]
  [ "$(jq -c 'select(.event == "dev") | .trial' log | sort -u | tr -d '\n')" = 123 ]
  [ "$(jq -c 'select(.event == "checkpoint")' log | wc -l)" -eq 0 ] # were as many as steps, not one in 5 minutes
  run -0 --separate-stderr ran-train classify $few --tune 60 -q -o m.ran train.jsonl
  [ -z "$stderr" ]
  [ "$(jq .dim <<<"$output")" = 16 ]
}

@test "tune: what a trial changes is said as --config reads it" {
  documents 60 >train.jsonl
  wide="${few/--wide 0/--wide 256 --wide-cost 1 --wide-ratios no} --ngrams 1 --layers 1"
  ran-train classify $wide --tune 60 -o m.ran train.jsonl 2>said >found.json
  grep -qx 'trial 2  .*  {"affixes":false}' said
}

@test "tune: development data are needed" {
  documents 60 >train.jsonl
  refused 2 '--tune compares settings on validation documents' ran-train classify --tune 1 --no-dev -o m.ran train.jsonl
  refused 3 'too few documents' ran-train classify --tune 1 -o m.ran <(head -3 train.jsonl)
  refused 2 'tune' ran-train classify --tune -1 -o m.ran train.jsonl
  [ ! -e m.ran ]
}

@test "tune: trials that diverge count for nothing" {
  documents 60 >train.jsonl
  for word in rain sun snow word0; do
    printf '%s' $word
    printf ' 3e38%.0s' 1 2 3 4 5 6 7 8
    echo
  done >huge.txt
  refused 4 'trial 1: training diverged' ran-train classify ${few/--dim 16/} --layers 1 --vectors huge.txt \
    --vectors-rms 0 --tune 60 -o m.ran train.jsonl
  [[ $stderr == *'every trial diverged: there is no model'* ]]
  [ "$(jq -c '[.end, .best, .model]' m.ran.tune/1.json)" = '["diverged",null,null]' ]
  [ ! -e m.ran ]
}

# ---- going on ------------------------------------------------------------------------------------

@test "tune: interrupted by SIGINT, SIGTERM or SIGKILL and resumed gives the trials of one search [all]" {
  documents 200 >train.jsonl
  settings="$few --epochs 20 --patience 100 --checkpoint-minutes 0.0005 --tune 60"
  ran-train classify $settings -q -j 1 -o whole.ran train.jsonl >whole.json
  # Signals, and where: late in the first trial, or in another.
  for when in 'INT 1,"epoch":[4-9]' 'TERM [23]' 'KILL 1,"epoch":[4-9]' 'KILL [23]'; do
    signal=${when% *}
    rm -f log
    ran-train classify $settings -j 1 --log log -o m.ran train.jsonl >found.json 2>said 3>&- &
    wait_for "checkpoint\",\"trial\":${when#* }" log
    kill -$signal $!
    status=0
    wait $! || status=$?
    [ $status -eq $((128 + $(kill -l $signal))) ]
    [ ! -s found.json ]
    [ -e m.ran.ckpt ]
    jq -e '.end == "running"' m.ran.tune/running.json
    if [[ $when == *' 1,'* ]]; then
      [ ! -e m.ran ]
    else
      ran-classify -m m.ran train.jsonl >/dev/null
    fi
    [ $signal = KILL ] || grep -q 'm.ran.tune has the state of the search' said
    refused 3 'm.ran.ckpt is left from' ran-train classify $settings -o m.ran train.jsonl
    refused 2 'other settings or data' ran-train classify $settings --seed 2 --resume -o m.ran train.jsonl
    ran-train classify $settings -q -j 2 --resume --log log -o m.ran train.jsonl >found.json
    cmp m.ran whole.ran
    cmp found.json whole.json
    same_output "trials m.ran.tune" "trials whole.ran.tune"
    # It went on within that trial.
    [ "$(jq -c 'select(.event == "dev" and .trial == 1 and .epoch == 1)' log | wc -l)" -eq 1 ]
    [ ! -e m.ran.ckpt ]
    [ ! -e m.ran.tune/running.json ]
    rm -r m.ran m.ran.tune
  done
}

# A checkpoint may come right behind, and the end right behind that: then nobody would find out again.
@test "tune: what development data said is in the file before a checkpoint is written" {
  documents 200 >train.jsonl
  ran-train classify $few --epochs 20 --patience 100 --checkpoint-minutes 1000 --tune 60 -q -j 1 \
    --log log -o m.ran train.jsonl 3>&- &
  wait_for '"dev","trial":1,"epoch":[4-9]' log
  kill -KILL $!
  wait $! || [ $? -eq 137 ]
  [ ! -e m.ran.ckpt ]
  [ "$(jq '[.dev[:3][] | numbers] | length' m.ran.tune/running.json)" -eq 3 ]
}

@test "tune: a complete search continues with more time, or starts again [all]" {
  documents 60 >train.jsonl
  ran-train classify $few --tune 0.00001 -q -o m.ran train.jsonl >/dev/null
  [ "$(ls m.ran.tune)" = 1.json ]
  ran-train classify $few --tune 60 -q --resume -o m.ran train.jsonl >resumed.json
  ran-train classify $few --tune 60 -q -o n.ran train.jsonl >whole.json
  cmp m.ran n.ran
  cmp resumed.json whole.json
  same_output "trials m.ran.tune" "trials n.ran.tune"
  ran-train classify $few --tune 0.00001 -q -o m.ran train.jsonl >/dev/null
  [ "$(ls m.ran.tune)" = 1.json ]
  sed -i 's/"seconds":[0-9.]*/"seconds":3600/' m.ran.tune/1.json # no time is left of an hour
  ran-train classify $few --tune 60 -q --resume -o m.ran train.jsonl >/dev/null
  [ "$(ls m.ran.tune)" = 1.json ]
  run -0 --separate-stderr ran-train classify $few --tune 0.00001 --resume -o r.ran train.jsonl
  [[ $stderr == *'training starts from the beginning'* ]]
}

@test "tune: a model that was moved away is trained again" {
  documents 60 >train.jsonl
  ran-train classify $few --tune 60 -q -o m.ran train.jsonl >/dev/null
  mv m.ran best.ran
  run -0 --separate-stderr ran-train classify $few --tune 60 --resume -o m.ran train.jsonl
  [[ $stderr == *'m.ran is not the model of trial '*', the best so far: training it again'* ]]
  cmp m.ran best.ran
}

@test "tune: a trial that is damaged, or of other data, is refused, and nothing is lost [all]" {
  documents 60 >train.jsonl
  documents 59 >other.jsonl
  ran-train classify $few --tune 60 -q -o m.ran train.jsonl >/dev/null
  cp -r m.ran.tune good
  cp m.ran model
  tune='ran-train classify '$few' --tune 60 --resume -o m.ran'
  refused 2 'm.ran.tune/1.json belongs to a search with other settings or data' $tune other.jsonl
  refused 2 'other settings or data' $tune --dev other.jsonl train.jsonl
  refused 2 'other settings or data' $tune --clip 2 train.jsonl
  n=0
  while IFS= read -r edit; do
    sed "$edit" good/2.json >m.ran.tune/2.json
    refused 3 'm.ran.tune/2.json: ' $tune train.jsonl
    cmp m.ran model
    n=$((n + 1))
  done <<'END'
1d
s/"dev":\[[^]]*\]/"dev":["a"]/
s/"dev":\[[^]]*\]/"dev":[]/
s/"dev":\[[^]]*\]/"dev":{}/
s/"best":[0-9.]*/"best":"a"/
s/"best_epoch":[0-9]*/"best_epoch":-1/
s/"best_epoch":[0-9]*/"best_epoch":99999/
s/"seconds":[0-9.]*/"seconds":-1/
s/"seconds":[0-9.]*/"seconds":null/
s/"end":"[a-z]*"/"end":"well"/
s/"model":/"model":0,"was":/
s/"training":/"straining":/
s/}$//
$p
END
  [ $n -eq 14 ]
  head -c 500 good/2.json >m.ran.tune/2.json
  refused 3 'm.ran.tune/2.json: ' $tune train.jsonl
  : >m.ran.tune/2.json
  refused 3 'm.ran.tune/2.json: ' $tune train.jsonl
  head -c 3000 /dev/urandom >m.ran.tune/2.json
  refused 3 'm.ran.tune/2.json: ' $tune train.jsonl
  sed 's/"layers":[0-9]*/"layers":9/g' good/2.json >m.ran.tune/2.json
  refused 2 'other settings or data' $tune train.jsonl
  ran-train classify $few --tune 60 -q --overwrite-checkpoint -o m.ran train.jsonl >/dev/null
  same_output "trials m.ran.tune" "trials good"
  rm -r m.ran.tune
  echo '{"ran_tune":1}' >m.ran.tune # as 0.2.0 had it
  refused 2 'm.ran.tune is of an older version' $tune train.jsonl
  ran-train classify $few --tune 60 -q --overwrite-checkpoint -o m.ran train.jsonl >/dev/null
  same_output "trials m.ran.tune" "trials good"
}

@test "tune: killed again and again, a search comes to the same choice" {
  documents 100 >train.jsonl
  settings="$few --epochs 8 --patience 100 --checkpoint-minutes 0.0005 --tune 60"
  ran-train classify $settings -q -j 1 -o whole.ran train.jsonl >whole.json
  for n in 3 4 5 3; do
    rm -f log
    ran-train classify $settings -q -j 1 --resume --log log -o m.ran train.jsonl >/dev/null 2>&1 3>&- &
    for ((i = 0; i < 1500; i++)); do [ "$(grep -cs '"dev"' log)" -ge $n ] && break; kill -0 $! || break; sleep 0.02; done
    kill -KILL $!
    ended=0
    wait $! || ended=$?
    [ $ended -eq 137 ]
  done
  ran-train classify $settings -q -j 1 --resume -o m.ran train.jsonl >found.json
  cmp m.ran whole.ran
  cmp found.json whole.json
  same_output "trials m.ran.tune" "trials whole.ran.tune"
}

@test "tune: what was given in a configuration stays as it is" {
  documents 60 >train.jsonl
  ran-train classify $few --layers 2 --print-config >all.json
  run -0 --separate-stderr ran-train classify -c all.json --tune 60 -o m.ran train.jsonl
  [[ $stderr == *'nothing is left to try'* ]]
  [ "$(ls m.ran.tune)" = 1.json ]
}

@test "tune: trials that an earlier search left behind a gap do not stay, and data among them are no trial" {
  documents 60 >train.jsonl
  mkdir m.ran.tune
  echo '{}' >m.ran.tune/7.json
  echo mine >m.ran.tune/notes
  ran-train classify $few --tune 60 -q -o m.ran train.jsonl >/dev/null
  [ ! -e m.ran.tune/7.json ]
  [ "$(cat m.ran.tune/notes)" = mine ]
  cp train.jsonl m.ran.tune/3.json
  run -2 --separate-stderr ran-train classify $few --tune 60 -q -o m.ran m.ran.tune/3.json
  cmp train.jsonl m.ran.tune/3.json
}
