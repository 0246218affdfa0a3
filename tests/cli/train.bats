#!/usr/bin/env bats
# ran-train: what is refused, what is said, and that a model depends on data and settings alone.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=$RAN_BIN:$PATH
  mkdir "$BATS_TEST_TMPDIR/work" # bats has files of its own beside it
  cd "$BATS_TEST_TMPDIR/work" || exit
}

# A model that trains in a moment, in windows that most documents are longer than.
shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 16 --min-window 4 --no-early-stop'

# ---- training ------------------------------------------------------------------------------------

@test "train: without a linear model the end said that an accuracy was 0 to 0 %" {
  documents 40 20 >train.jsonl
  run -0 --separate-stderr ran-train classify $shape --wide 0 --epochs 1 --no-refit -o m.ran train.jsonl
  [[ $stderr == *'epoch 1/1  validation'*' %), best'*'best epoch 1'*' %)'* ]]
  [[ $stderr != *'0 to 0 %'* ]]
}

@test "train: a small task is learned, from a file or a pipe, and the model labels documents [all]" {
  export RAN_ISA=portable
  documents 240 >all.jsonl
  head -200 all.jsonl >train.jsonl
  tail -40 all.jsonl >test.jsonl
  run -0 --separate-stderr ran-train classify $shape --dim 32 --epochs 20 --dropout 0 --embed-dropout 0 \
    --learning-rate 0.01 -o m.ran train.jsonl
  [ -z "$output" ]
  [[ $stderr == *'ran-classify -m m.ran'* ]]
  [ ! -e m.ran.ckpt ]
  ran-classify -m m.ran test.jsonl >labelled.jsonl
  [ "$(jq -r 'select(.label == .prediction.label) | .id' labelled.jsonl | wc -l)" -ge 38 ]
  cat train.jsonl | ran-train classify $shape --dim 32 --epochs 20 --dropout 0 --embed-dropout 0 \
    --learning-rate 0.01 -q -o p.ran -
  cmp m.ran p.ran
}

@test "train: 1, 2 and 7 threads write the same model, and so does the same command again" {
  documents 100 >train.jsonl
  for j in 1 2 7 7; do
    ran-train classify $shape --epochs 3 -q -j $j -o m.ran train.jsonl
    mv m.ran m$j.ran
  done
  cmp m1.ran m2.ran
  cmp m1.ran m7.ran
  ran-train classify $shape --epochs 3 -q --seed 2 -o s.ran train.jsonl
  run ! cmp -s m1.ran s.ran
}

@test "train: a vocabulary learned on the way is the one that ran-tokenize learns [all]" {
  documents 60 >train.jsonl
  ran-tokenize learn -q --vocab-type wordpiece -o v.json train.jsonl
  ran-train classify $shape --epochs 2 -q -o learned.ran train.jsonl
  ran-train classify $shape --epochs 2 -q --vocab v.json -o given.ran train.jsonl
  ran-classify -m learned.ran --logits train.jsonl >learned.jsonl
  ran-classify -m given.ran --logits train.jsonl >given.jsonl
  cmp learned.jsonl given.jsonl
}

@test "train: words that are split already, encodings and ids [all]" {
  documents 60 >train.jsonl
  jq -c '{label: .label, tokens: (.text | split(" "))}' train.jsonl >tokens.jsonl
  ran-tokenize learn -q -o v.json train.jsonl
  ran-tokenize encode -q --vocab v.json train.jsonl >encoded.jsonl
  jq -c '{label: .label, ids: .encoding.ids}' encoded.jsonl >ids.jsonl
  for data in train tokens encoded ids; do
    ran-train classify $shape --epochs 2 -q --vocab v.json --dev train.jsonl -o m.ran $data.jsonl
    ran-classify -m m.ran --logits train.jsonl >$data.logits
  done
  cmp train.logits tokens.logits
  cmp train.logits encoded.logits
  cmp train.logits ids.logits
  ran-train classify $shape --epochs 2 -q -o ids.ran ids.jsonl
  ran-classify -m ids.ran ids.jsonl >/dev/null
  refused 3 'encoding" needs its vocabulary' ran-train classify -o m.ran encoded.jsonl
  refused 3 'has ids but train.jsonl:1 has words' ran-train classify -o m.ran ids.jsonl train.jsonl
}

@test "train: several labels a document, none of them and unordered [all]" {
  documents 60 | jq -c '{text, labels: (if .id % 5 == 0 then [] else ["z", .label, "a"] end)}' >train.jsonl
  ran-train classify $shape --epochs 2 -q -o m.ran train.jsonl
  ran-classify -m m.ran --probs train.jsonl >out.jsonl
  [ "$(head -1 out.jsonl | jq -c '.prediction.probs | keys_unsorted')" = '["a","warm","wet","white","z"]' ]
  jq -se 'all(.[]; .prediction | has("labels"))' out.jsonl
}

@test "train: one label that documents have or have not" {
  export RAN_ISA=portable
  documents 60 | jq -c '{text, labels: (if .label == "wet" then ["wet"] else [] end)}' >train.jsonl
  ran-train classify $shape --epochs 2 -q -o m.ran train.jsonl
  ran-classify -m m.ran --eval train.jsonl | jq -se '.[0].per_class | length == 1 and .[0].label == "wet" and .[0].f1 > 0.9'
  jq -c '.labels = ["wet"]' train.jsonl >all.jsonl
  refused 3 'all documents have the label "wet": training needs at least two, or documents without it' \
    ran-train classify $shape -o n.ran all.jsonl
}

@test "train: numbers are labels as they are written; labels are ordered by their bytes" {
  for l in 10 9 1.0 1 '"1"' '"b"' '"B"'; do
    echo "{\"text\": \"w$l\", \"label\": $l}"
  done | sed 's/"w"\(.*\)""/"w\1"/' >train.jsonl
  ran-train classify $shape --epochs 1 -q --no-dev -o m.ran train.jsonl
  run -0 ran-classify -m m.ran --probs train.jsonl
  [ "$(jq -c '.prediction.probs | keys_unsorted' <<<"${lines[0]}")" = '["1","1.0","10","9","B","b"]' ]
}

@test "train: what has weight 0 is not learned; weights are checked [all]" {
  export RAN_ISA=portable
  documents 90 >right.jsonl
  jq -c '.label = {wet: "warm", warm: "white", white: "wet"}[.label] | .weight = 0' right.jsonl >wrong.jsonl
  ran-train classify $shape --dim 32 --epochs 20 --dropout 0 --embed-dropout 0 --learning-rate 0.01 \
    --no-dev -q -o m.ran right.jsonl wrong.jsonl
  [ "$(ran-classify -m m.ran right.jsonl | jq -r 'select(.label == .prediction.label) | .id' | wc -l)" -ge 88 ]
  refused 3 'the "weight" of every document is 0' ran-train classify -o w.ran wrong.jsonl
  for w in -1 '"2 kg"' 1e7 true; do
    { cat right.jsonl; echo "{\"text\": \"rain\", \"label\": \"wet\", \"weight\": $w}"; } >bad.jsonl
    refused 3 'bad.jsonl:91: "weight" is not a number' ran-train classify -o w.ran bad.jsonl
  done
}

@test "train: settings go through --print-config and --config [all]" {
  documents 60 >train.jsonl
  ran-train classify $shape --epochs 2 --seed 7 --dev-share 0.2 --vocab-size 20 --print-config >c.json
  [ "$(jq -c '[.dim, .epochs, .seed, .dev_share, .vocab_size]' c.json)" = '[16,2,7,0.2,20]' ]
  [ "$(jq 'has("output") or has("jobs")' c.json)" = false ]
  ran-train classify $shape --epochs 2 --seed 7 --dev-share 0.2 --vocab-size 20 -q -o a.ran train.jsonl
  ran-train classify -c c.json -q -o b.ran train.jsonl
  cmp a.ran b.ran
}

# ---- development data ----------------------------------------------------------------------------

@test "train: --dev-share, --dev, or neither [all]" {
  documents 60 >train.jsonl
  run -0 --separate-stderr ran-train classify $shape --epochs 2 -o m.ran train.jsonl
  [[ $stderr == *'6 of 60 documents are held out for validation'* ]]
  [[ $stderr == *'validation accuracy '* ]]
  run -0 --separate-stderr ran-train classify $shape --epochs 2 --dev train.jsonl -o m.ran train.jsonl
  [[ $stderr != *'held out'* ]]
  [[ $stderr == *'validation accuracy '* ]]
  run -0 --separate-stderr ran-train classify $shape --epochs 2 --no-dev -o m.ran train.jsonl
  [[ $stderr != *'held out'* && $stderr != *'for validation'* ]]
  [[ $stderr == *'the last epoch is kept'* ]]
  run -0 --separate-stderr ran-train classify $shape --epochs 2 -o m.ran <(head -3 train.jsonl)
  [[ $stderr == *'too few documents for validation'* ]]
}

@test "train: few development documents must show that the encoder helps [all]" {
  export RAN_ISA=portable
  documents 60 >train.jsonl # of which single words decide
  run -0 --separate-stderr ran-train classify $shape --epochs 2 --no-refit -o m.ran train.jsonl
  [[ $stderr == *'linear model only: the encoder did not improve results enough on '*' validation documents'* ]]
  grep -qa 'deep[\\]*":0,' m.ran
  run -0 --separate-stderr ran-train classify $shape --epochs 2 --wide 0 -o m.ran train.jsonl
  [[ $stderr != *'linear model only'* ]]
  # A linear model of one row learns nothing without the encoder.
  documents 300 10 >many.jsonl
  run -0 --separate-stderr ran-train classify $shape --epochs 8 --learning-rate 0.02 --wide 1 --no-affixes --no-refit \
    -o m.ran many.jsonl
  [[ $stderr != *'linear model only'* ]]
}

@test "train: a refit that makes the encoder worse keeps the first one [all]" {
  export RAN_ISA=portable
  documents 120 20 >train.jsonl
  # So fast that it is a matter of chance.
  wild='--dim 8 --layers 1 --heads 1 --head-dim 8 --window 16 --min-window 4 --wide 0 --epochs 2 --batch 4
    --learning-rate 0.1 --clip 0'
  kept=0
  for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
    ran-train classify $wild --seed $seed -o m.ran train.jsonl 2>said
    ran-train classify -q $wild --seed $seed --no-refit -o first.ran train.jsonl
    for model in m first; do
      ran-classify -m $model.ran --logits train.jsonl >$model.logits
    done
    if grep -q 'the encoder of the first training is kept' said; then
      kept=$((kept + 1))
      cmp m.logits first.logits
    else
      run -1 cmp -s m.logits first.logits
    fi
  done
  [ "$kept" -gt 0 ] && [ "$kept" -lt 12 ]
}

@test "train: --dev-group holds out what belongs together, for every task [all]" {
  documents 60 | jq -c '.author = "by \(.id % 6)"' >train.jsonl
  run -0 --separate-stderr ran-train classify $shape --epochs 2 --dev-group author -o a.ran train.jsonl
  [[ $stderr == *'10 of 60 documents are held out for validation'* ]]
  run -0 --separate-stderr ran-train classify $shape --epochs 2 --dev-group author --vocab-size 20 -o b.ran \
    <(jq -c '.author = (.author | ltrimstr("by ") | tonumber)' train.jsonl) # ten of another name
  [[ $stderr == *'10 of 60 documents are held out for validation'* ]]
  run -0 ran-train classify --replay a.ran -q train.jsonl
  run -0 --separate-stderr ran-train classify $shape --epochs 2 --dev-group label -o c.ran train.jsonl
  [[ $stderr == *'too few groups of documents for validation'* ]]
  refused 3 'no document has the member "writer" that --dev-group names' \
    ran-train classify $shape --dev-group writer -o c.ran train.jsonl
  refused 2 '--dev-group is for documents that are held out: leave out --dev' \
    ran-train classify --dev train.jsonl --dev-group author -o c.ran train.jsonl
  refused 2 'leave out --no-dev' ran-train classify --no-dev --dev-group author -o c.ran train.jsonl

  jq -c '{author, tokens: (.text / " "), tags: (.text / " " | map(if startswith("w") then "B-W" else "O" end))}' train.jsonl >tags.jsonl
  jq -c '{author, text}' train.jsonl >texts.jsonl
  for verb in tag lm mlm; do
    data=texts.jsonl
    [ $verb != tag ] || data=tags.jsonl
    run -0 --separate-stderr ran-train $verb $shape --min-window 1 --epochs 1 --dev-group author -o d.ran $data
    [[ $stderr == *'10 of 60 documents are held out for validation'* ]]
  done
}

@test "train: a dev label that training has not is named, and no answer is right for it [all]" {
  documents 60 >train.jsonl
  { head -9 train.jsonl; echo '{"text": "rain", "label": "fog"}'; } >dev.jsonl
  run -0 --separate-stderr ran-train classify $shape --epochs 2 --log log --dev dev.jsonl -o m.ran train.jsonl
  [[ $stderr == *'dev.jsonl:10: '*'"fog"'* ]]
  jq -se 'map(select(.event == "dev").dev.accuracy) | max <= 0.9' log
}

@test "train: dev labels of which training has none chose an epoch by a loss of inf [all]" {
  documents 60 >train.jsonl
  printf '{"text": "rain", "label": "%s"}\n' fog mist >dev.jsonl
  refused 3 'the validation documents have no label of the training data' \
    ran-train classify $shape --dev dev.jsonl -o m.ran train.jsonl
  [ ! -e m.ran ]
  run -4 --separate-stderr ran-train classify -q --check --dev dev.jsonl train.jsonl
  [[ $(jq -r '.problems[]' <<<"$output") == 'the validation documents have no label'* ]]
  # None is an answer where there may be several.
  jq -c '.labels = [.label] | del(.label)' train.jsonl >several.jsonl
  echo '{"text": "rain", "labels": []}' >>several.jsonl
  printf '{"text": "rain", "labels": %s}\n' '["fog"]' '[]' >dev.jsonl
  ran-train classify $shape --epochs 1 -q --dev dev.jsonl -o m.ran several.jsonl
  printf '{"tokens": ["Ann"], "tags": ["%s"]}\n' B-X O >train.jsonl
  echo '{"tokens": ["Ann"], "tags": ["B-Y"]}' >dev.jsonl
  refused 3 'the validation documents have no tag of the training data' \
    ran-train tag $shape --dev dev.jsonl -o m.ran train.jsonl
}

@test "train: training ends when the dev metric gets no better [all]" {
  documents 60 >train.jsonl
  ran-train classify $shape --epochs 50 --patience 2 --learning-rate 0 --log log -q -o m.ran train.jsonl
  [ "$(jq -s 'map(select(.event == "dev")) | length' log)" -eq 3 ]
  [ "$(jq -s 'last | .best_epoch // .epoch' log)" -ge 1 ]
}

# ---- data that are unfit -------------------------------------------------------------------------

@test "train: empty input, one class, no labels, both kinds of labels" {
  refused 3 'there is no labelled document' ran-train classify -o m.ran /dev/null
  printf '\n\n' >blank
  refused 3 'there is no labelled document' ran-train classify -o m.ran blank
  printf '{"text": "a a", "label": "x"}\n{"text": "b", "label": "x"}\n' >one
  refused 3 'all documents have the label "x"' ran-train classify -o m.ran one
  printf '{"text": "a a", "labels": []}\n' >none
  refused 3 'no document has a label' ran-train classify -o m.ran none
  printf '{"text": "a a", "label": "x"}\n{"text": "b", "label": "y"}\n' >two
  refused 3 'two:1 has one label but none:1 has a list of labels' ran-train classify -o m.ran two none
  refused 3 'two:1 has one label but none:1 has a list of labels' ran-train classify -o m.ran --dev none two
  refused 3 'in the validation documents' ran-train classify -o m.ran --dev /dev/null two
  refused 3 'missing' ran-train classify -o m.ran missing
  refused 3 'missing' ran-train classify -o m.ran --dev missing two
  refused 3 'missing' ran-train classify -o m.ran --vocab missing two
  [ ! -e m.ran ]
}

@test "train: bad lines are named, and training starts only if they are to be left out [all]" {
  documents 60 >good.jsonl
  {
    head -30 good.jsonl
    printf '%s\n' 'no record' '[1]' '{"text": "a"}' '{"label": "wet"}' '{"text": "", "label": "wet"}' \
      '{"text": "a", "label": {}}' '{"text": "a", "label": "a\u0000b"}' '{"text": "\ud800", "label": "wet"}' \
      '{"text": "a", "label": "wet", "labels": ["wet"]}' '{"text": "a", "text": "b", "label": "wet"}'
    printf '{"text": "\xff", "label": "wet"}\n'
    tail -30 good.jsonl
  } >bad.jsonl
  refused 3 '11 lines of the training data cannot be used' ran-train classify $shape -o m.ran bad.jsonl
  for line in 31 32 33 34 35 36 37 38 39 40 41; do
    [[ $stderr == *"bad.jsonl:$line: "* ]]
  done
  [ ! -e m.ran ]
  run -1 --separate-stderr ran-train classify $shape --epochs 2 --on-error=skip -q -o m.ran bad.jsonl
  run -0 --separate-stderr ran-train classify $shape --epochs 2 --on-error=skip --errors-ok -q \
    --rejects rejects -o n.ran bad.jsonl
  cmp m.ran n.ran
  [ "$(head -1 rejects)" = 'no record' ]
  ran-train classify $shape --epochs 2 -q -o good.ran good.jsonl
  cmp m.ran good.ran
  refused 3 'bad.jsonl:31: ' ran-train classify $shape --on-error=stop -o m.ran bad.jsonl
  [[ $stderr != *'bad.jsonl:32: '* ]]
}

@test "train: U+0000 in a text is a character like any other [all]" {
  { documents 30; echo '{"text": "rain\u0000 sun", "label": "wet"}'; } >train.jsonl
  ran-train classify $shape --epochs 1 -q -o m.ran train.jsonl
}

@test "train: records that an earlier program failed on keep training from starting" {
  { documents 30; echo '{"id": 1, "label": "wet", "ran_error": {"message": "no"}}'; } >train.jsonl
  refused 3 '1 line of the training data cannot be used' ran-train classify $shape -o m.ran train.jsonl
}

# ---- files ---------------------------------------------------------------------------------------

@test "train: outputs that cannot be written are found out before the data are read" {
  refused 3 'cannot write none/m.ran' ran-train classify -o none/m.ran missing.jsonl
  mkdir folder
  refused 3 'folder' ran-train classify -o folder missing.jsonl
  refused 3 'cannot write the log none/log' ran-train classify --log none/log -o m.ran missing.jsonl
  # A name that is long leaves the checkpoint none.
  refused 3 'x.ckpt: File name too long' ran-train classify -o "$(printf 'x%.0s' {1..245})" missing.jsonl
}

@test "train: a full disk ends in a sentence and leaves no half of a file [all]" {
  documents 60 >train.jsonl
  # SIGXFSZ ignored, a write beyond the limit fails as it does on a full disk.
  for minutes in 0 15; do
    run -3 --separate-stderr bash -c "trap '' XFSZ; ulimit -f 8
      exec ran-train classify $shape --wide 0 --epochs 2 --checkpoint-minutes $minutes -o m.ran train.jsonl"
    [[ $stderr == *'cannot write m.ran'* ]]
    [ "$(ls -A)" = train.jsonl ]
  done
}

@test "train: data that outgrow --data-memory lie in a file without a name, and give the same model [all]" {
  documents 9000 >train.jsonl # 2 MB
  mkdir tmp
  export TMPDIR=$PWD/tmp
  ran-train classify $shape --epochs 1 -q -o memory.ran train.jsonl
  ran-train classify $shape --epochs 1 -q -o disk.ran --data-memory 1 train.jsonl
  cmp memory.ran disk.ran
  [ -z "$(ls -A tmp)" ]
  refused 3 'no room for ' bash -c "trap '' XFSZ; ulimit -f 1500
    exec ran-train classify --data-memory 1 -o m.ran train.jsonl"
  [[ $stderr == *'(set TMPDIR to use another folder)'* ]]
  TMPDIR=$PWD/none refused 3 "cannot create a temporary file in $PWD/none" \
    ran-train classify --data-memory 1 -o m.ran train.jsonl
  TMPDIR=$PWD/none ran-train classify $shape --epochs 1 -q -o none.ran train.jsonl
}

@test "train: a log that cannot be written costs the log, not the training [all]" {
  documents 60 >train.jsonl
  refused 3 '/dev/full' ran-train classify $shape --epochs 2 -q --log /dev/full -o m.ran train.jsonl
  [[ $stderr == *'the model is complete'* ]]
  ran-classify -m m.ran train.jsonl >/dev/null
}

# ---- interruptions -------------------------------------------------------------------------------

@test "train: interrupted by SIGINT, SIGTERM, SIGHUP or SIGKILL and resumed gives the bytes of one run [all]" {
  documents 200 >train.jsonl
  settings="$shape --epochs 60 --patience 100 --checkpoint-minutes 0.001"
  ran-train classify $settings -q -o whole.ran train.jsonl
  for signal in INT TERM HUP KILL; do
    rm -f log
    ran-train classify $settings -q -j 2 --log log -o m.ran train.jsonl 2>said 3>&- &
    wait_for checkpoint log
    kill -$signal $!
    status=0
    wait $! || status=$?
    [ $status -eq $((128 + $(kill -l $signal))) ]
    [ ! -e m.ran ]
    [ -e m.ran.ckpt ]
    [ $signal = KILL ] || grep -q 'm.ran.ckpt has the state of the training' said
    ran-classify -m m.ran.ckpt train.jsonl >/dev/null

    refused 3 'm.ran.ckpt is left from an interrupted training' \
      ran-train classify $settings -o m.ran train.jsonl
    refused 2 'other settings' ran-train classify $settings --seed 2 --resume -o m.ran train.jsonl
    cp log log.before
    ran-train classify $settings -q -j 1 --resume --log log -o m.ran train.jsonl
    cmp -n "$(stat -c %s log.before)" log.before log
    cmp m.ran whole.ran
    [ ! -e m.ran.ckpt ]
    rm m.ran
  done
}

@test "train: when the reader of its output leaves, it ends with a checkpoint and resumes to the same bytes [all]" {
  documents 200 >train.jsonl
  settings="$shape --epochs 40 --patience 100 --checkpoint-minutes 1000"
  ran-train classify $settings -q -o whole.ran train.jsonl
  # They read until the encoder is trained.
  for left in '2> >(exec sed /^epoch/q >/dev/null)' '-q --log >(exec sed /epoch/q >/dev/null)'; do
    status=0
    eval "ran-train classify $settings -o m.ran train.jsonl $left" 3>&- || status=$?
    [ "$status" -eq 141 ]
    [ ! -e m.ran ]
    ran-classify -m m.ran.ckpt train.jsonl >/dev/null
    ran-train classify $settings -q --resume -o m.ran train.jsonl
    cmp m.ran whole.ran
    rm m.ran
  done
}

@test "train: an ignored hangup does not stop it [all]" {
  documents 200 >train.jsonl
  ran-train classify $shape --epochs 10 -q -o whole.ran train.jsonl
  (trap '' HUP PIPE
    exec ran-train classify $shape --epochs 10 -q --log log -o m.ran train.jsonl) 3>&- &
  wait_for epoch log
  kill -HUP $!
  kill -PIPE $!
  wait $!
  cmp m.ran whole.ran
}

@test "train: a checkpoint can be discarded; without one --resume begins from the start [all]" {
  documents 60 >train.jsonl
  ran-train classify $shape --epochs 2 -q -o m.ran train.jsonl
  echo damaged >n.ran.ckpt
  refused 3 '' ran-train classify $shape --epochs 2 --resume -o n.ran train.jsonl
  ran-train classify $shape --epochs 2 -q --overwrite-checkpoint -o n.ran train.jsonl
  cmp m.ran n.ran
  run -0 --separate-stderr ran-train classify $shape --epochs 2 --resume -o r.ran train.jsonl
  [[ $stderr == *'there is no r.ran.ckpt to resume'* ]]
  cmp m.ran r.ran
}

@test "train: a checkpoint or search that is a link, a pipe or a folder is refused, whatever else is asked" {
  echo mine >mine
  for suffix in ckpt tune; do
    with=; [ $suffix = ckpt ] || with='--tune 1'
    for kind in link nowhere pipe folder; do
      rm -rf m.ran.*
      case $kind in
        link) ln -s mine m.ran.$suffix; is='a symbolic link' ;;
        nowhere) ln -s nothing m.ran.$suffix; is='a symbolic link' ;;
        pipe) mkfifo m.ran.$suffix; is='a pipe' ;;
        folder) [ $suffix = ckpt ] || continue; mkdir m.ran.$suffix; is='a folder' ;;
      esac
      for how in '' --resume --overwrite-checkpoint; do
        refused 3 "m.ran.$suffix is $is, and the training would write there: remove it" \
          timeout 120 ran-train classify $with $how -o m.ran train.jsonl
      done
    done
  done
  [ "$(cat mine)" = mine ]
  [ ! -e nothing ]
}

@test "train: a second signal ends the training at once" {
  awk 'BEGIN { for (d = 0; d < 16; d++) { printf "{\"text\": \""
    for (i = 0; i < 20000; i++) printf "word%d ", i * i % 50
    printf "\", \"label\": %d}\n", d % 2 } }' >long.jsonl
  # So many windows that the first step takes much longer than what is done here meanwhile.
  ran-train classify --wide 0 --dim 64 --window 4 --min-window 1 -j 1 -o m.ran --no-dev long.jsonl 2>said 3>&- &
  wait_for 'learned a vocabulary' said
  interrupts $! SigCgt present # before, the first signal would be ignored
  kill -INT $!
  interrupts $! ShdPnd absent # before, the second one would be the same as the first
  kill -INT $!
  status=0
  wait $! || status=$?
  [ $status -eq 130 ]
  run ! grep interrupted said
  [ ! -e m.ran ]
}

@test "train: a linear model of one row has none for affixes" {
  documents 60 >train.jsonl
  run -2 --separate-stderr ran-train classify $shape --wide 1 -o m.ran train.jsonl
  [[ $stderr == *'wide must be 2 at least, or affixes off'* ]]
  ran-train classify $shape -q --epochs 1 --wide 2 -o two.ran train.jsonl
  ran-train classify $shape -q --epochs 1 --wide 1 --no-affixes -o one.ran train.jsonl
}

# ---- progress ------------------------------------------------------------------------------------

@test "train: plain lines where no terminal is, none with -q or --progress=never [all]" {
  documents 60 >train.jsonl
  run -0 --separate-stderr ran-train classify $shape --epochs 3 -o m.ran train.jsonl
  [ "$(grep -c '^epoch ./3  .*validation loss .*, accuracy .* of 6, ' <<<"$stderr")" -eq 3 ]
  [[ $stderr != *$'\r'* ]]
  run -0 --separate-stderr ran-train classify $shape --epochs 3 -q -o m.ran train.jsonl
  [ -z "$stderr" ]
  run -0 --separate-stderr ran-train classify $shape --epochs 3 --progress=never -o m.ran train.jsonl
  [[ $stderr != *'epoch 1/3'* ]]
}

@test "train: one live line on a terminal, unless it is a dumb one [all]" {
  script -qec true /dev/null >/dev/null 2>&1 || skip 'no pseudo-terminal'
  documents 60 >train.jsonl
  command="ran-train classify $shape --epochs 3 -o m.ran train.jsonl"
  TERM=xterm run -0 script -qec "$command" /dev/null
  [[ $output == *'epoch 1/3  ['*' %  training loss '*'  ETA 0:00:0'* ]]
  TERM=dumb run -0 script -qec "$command" /dev/null
  [[ $output != *'epoch 1/3  ['* && $output != *$'\r  '* ]]
}

@test "train: the log has a JSON object for each report [all]" {
  documents 60 >train.jsonl
  echo 'of an earlier run' >log
  ran-train classify $shape --epochs 3 -q --checkpoint-minutes 0 --log log -o m.ran train.jsonl
  jq -se 'length > 10 and all(.[]; .time > 1e9 and .seed == 1)' log
  jq -se 'map(select(.tokens == 0)) | length > 0 and all(.[]; .event == "wide" or .event == "linear")' log
  jq -se 'map(select(.event == "step")) | all(.[]; .loss > 0 and .lr >= 0 and .grad_norm > 0)' log
  jq -se 'map(select(.event == "dev")) | length == 3 and all(.[]; .dev.loss > 0 and .best >= 0)' log
  jq -se 'map(.event) | last == "end" and index("checkpoint") != null' log
  jq -se 'map(.refit // false) | index(true) as $at | $at > 5 and all(.[$at:][]; .)' log
  jq -se 'map(select(.event == "refit")) | length == 1 and .[0].epoch >= 1' log
}

# ---- instead of training -------------------------------------------------------------------------

@test "train --check: counts, lengths and repeated texts as one JSON object" {
  cat >train.jsonl <<'END'
{"text": "a a a", "label": "x"}

{"text": "b", "label": "y"}
{"text": "A a  a", "label": "x"}
{"text": "b", "label": "x"}
{"text": "c c c c c c c c c c", "label": "y"}
END
  printf '%s\n' '{"text": "c", "label": "y"}' '{"text": "b", "label": "z"}' '{"text": "c", "label": "y"}' >dev.jsonl
  run -0 --separate-stderr ran-train classify --check --window 3 --min-count 1 --dev dev.jsonl train.jsonl
  jq -e '.ok and .problems == [] and .documents == 5 and .tokens == 18 and .blank_lines == 1' <<<"$output"
  jq -e '.labels == {x: 3, y: 2}' <<<"$output"
  jq -e '.length == {min: 1, p5: 1, p25: 1, median: 3, p75: 3, p95: 10, max: 10}' <<<"$output"
  jq -e '.window == 3 and .longer_than_window == 0.2 and .longer_than_512 == 0' <<<"$output"
  jq -e '.duplicates == {count: 2, pairs: [["train.jsonl:4", "train.jsonl:1"], ["train.jsonl:5", "train.jsonl:3"]]}' \
    <<<"$output"
  jq -e '.contradictions == {count: 1, pairs: [["train.jsonl:5", "train.jsonl:3"]]}' <<<"$output"
  jq -e '.dev.documents == 3 and .dev.unknown_labels == 1' <<<"$output"
  jq -e '.dev.overlap == {count: 1, pairs: [["dev.jsonl:2", "train.jsonl:3"]]}' <<<"$output"
}

@test "train --check: status 4 and all problems when data are unfit [all]" {
  printf '%s\n' '{"text": "a a", "label": "x"}' '{"text": " ", "label": "x"}' 'nothing' >train.jsonl
  run -4 --separate-stderr ran-train classify --check train.jsonl
  jq -e '.ok == false and .bad_lines == 2 and .empty == {count: 1, at: ["train.jsonl:2"]}' <<<"$output"
  jq -e '.problems | length == 2 and (.[0] | test("2 lines")) and (.[1] | test("the label .x."))' <<<"$output"
  run -4 --separate-stderr ran-train classify --check --check-format=text train.jsonl
  [[ $output == *$'\nProblems\n'*'all documents have the label "x"'* ]]
  run -4 --separate-stderr ran-train classify --check /dev/null
  jq -e '.documents == 0 and .length.max == 0' <<<"$output"
  documents 60 >good.jsonl
  run -0 --separate-stderr ran-train classify --check --check-format=text good.jsonl
  [[ $output == 'ready for training '*' yes'* ]]
  run -3 --separate-stderr bash -c 'ran-train classify --check good.jsonl >/dev/full'
  [[ $stderr == *'cannot write standard output'* ]]
  run -141 --separate-stderr bash -c 'exec ran-train classify -q --check good.jsonl > >(exec <&-; sleep 1)'
  [ -z "$stderr" ]
}

@test "train --check: the first twenty locations are listed, the others counted" {
  for _ in $(seq 30); do echo '{"text": "same words", "label": "x"}'; done >train.jsonl
  documents 30 >>train.jsonl
  run -0 --separate-stderr ran-train classify --check train.jsonl
  jq -e '.duplicates.count == 29 and (.duplicates.pairs | length) == 20' <<<"$output"
  jq -e '.duplicates.pairs[19] == ["train.jsonl:21", "train.jsonl:1"]' <<<"$output"
  run -0 --separate-stderr ran-train classify --check --check-format=text train.jsonl
  [[ $output == *$'\nRepeated texts\n29; the first 20:\n'* ]]
}

@test "train --check: labels that would steer a terminal are shown without" {
  documents 30 >train.jsonl
  echo '{"text": "the one and the other", "label": "x\u009b2J\u001b[2J"}' >>train.jsonl
  run -0 --separate-stderr ran-train classify --check --check-format=text train.jsonl
  [[ $output == *'x<U+009B>2J<U+001B>[2J'* ]]
}

@test "train --dry-run: parameters, memory, arithmetic and time; no file [all]" {
  documents 60 >train.jsonl
  run -0 --separate-stderr ran-train classify $shape --dry-run train.jsonl
  [[ $output =~ parameters\ +([0-9]+)\ in\ tables\ of\ tokens\ and\ features,\ ([0-9]+)\ in\ the\ rest ]]
  [ $((BASH_REMATCH[1] % 16)) -eq 0 ]
  [ "${BASH_REMATCH[2]}" -gt 3000 ]
  [ "${BASH_REMATCH[2]}" -lt 10000 ]
  [[ $output == *'parameters '*' in tables '*'memory '*'steps '*'arithmetic '*'time '* ]]
  [ "$(ls -A)" = train.jsonl ]
}

@test "train: gradients of a model on documents, weights untouched [all]" {
  documents 60 >train.jsonl
  ran-train classify $shape --no-dev --epochs 2 -q -o m.ran train.jsonl # which drops no encoder
  cp m.ran before.ran
  "$RAN_BIN/tests/dump-gradients" classify -o all.safetensors -m m.ran train.jsonl
  "$RAN_BIN/tests/dump-gradients" classify -o two.safetensors --documents 2 -m m.ran train.jsonl
  "$RAN_BIN/tests/dump-gradients" classify -o first.safetensors -j 7 -m m.ran <(head -2 train.jsonl)
  cmp m.ran before.ran
  cmp two.safetensors first.safetensors
  run ! cmp -s two.safetensors all.safetensors
  size=$(head -c 8 all.safetensors | od -An -t u8)
  head -c $((size + 8)) all.safetensors | tail -c +9 >header.json
  jq -e '.loss == {dtype: "F64", shape: [1], data_offsets: .loss.data_offsets}' header.json
  jq -e '."grad.classify.out.weight".shape == [3, 16] and has("grad.embed.weight")' header.json
  echo '{"text": "rain", "label": "fog"}' >fog.jsonl
  refused 3 'the model does not know' "$RAN_BIN/tests/dump-gradients" classify -o g -m m.ran fog.jsonl
  refused 3 'missing' "$RAN_BIN/tests/dump-gradients" classify -o g -m missing train.jsonl
  head -c 2000 m.ran >cut.ran
  refused 3 'cut.ran' "$RAN_BIN/tests/dump-gradients" classify -o g -m cut.ran train.jsonl
  refused 3 'train.jsonl' "$RAN_BIN/tests/dump-gradients" classify -o g -m train.jsonl train.jsonl
  refused 3 'none/g' "$RAN_BIN/tests/dump-gradients" classify -o none/g -m m.ran train.jsonl
}

@test "train: what shows only once a vocabulary is learned was neither rejected nor counted as an error [all]" {
  documents 30 >train.jsonl
  sed -n 1,3p train.jsonl >bad.jsonl
  printf '%s\r\n' ' {"text": "  ", "label": "wet"}' 'no record' '{"label": "dry", "text":"\u0001"}' >>bad.jsonl
  sed -n 4,30p train.jsonl >>bad.jsonl
  ran-tokenize learn -q -o vocab.json train.jsonl
  for options in '--vocab vocab.json' ''; do
    run -1 --separate-stderr ran-train classify $shape --epochs 1 --on-error=skip --rejects rejects -q -o m.ran $options bad.jsonl
    [ "$(sort rejects)" = "$(sed -n 4,6p bad.jsonl | tr -d '\r' | sort)" ]
    [[ $stderr == *'3 of 33 records failed'* ]]
    run -1 ran-train classify $shape --epochs 1 --on-error=skip --max-errors 4 -q -o m.ran $options bad.jsonl
    rm m.ran
    refused 3 'too many bad records (--max-errors)' \
      ran-train classify $shape --epochs 1 --on-error=skip --max-errors 3 -q -o m.ran $options bad.jsonl
    refused 3 'stopped at the first bad record (--on-error=stop)' \
      ran-train classify $shape --epochs 1 --on-error=stop --rejects rejects -q -o m.ran $options <(sed 5d bad.jsonl)
    [ "$(cat rejects)" = ' {"text": "  ", "label": "wet"}' ]
    [ ! -e m.ran ]
  done
}

@test "train: spans that are no words, and sentences of columns, are rejected as they came" {
  for _ in 1 2 3 4 5 6; do
    echo '{"text": "go to Oslo", "spans": [{"start": 6, "end": 10, "label": "LOC"}]}'
  done >train.jsonl
  sed '2s/: 6,/: 7,/' train.jsonl >off.jsonl
  run -1 --separate-stderr ran-train tag $shape --epochs 1 --on-error=skip --rejects rejects -q -o m.ran off.jsonl
  [[ $stderr == *'off.jsonl:2: '*'does not start and end at words'* ]]
  cmp rejects <(sed -n 2p off.jsonl)
  # A sentence with other tags than those before it: found when the sentences are put together.
  printf 'go O\nto O\nOslo B-LOC\n\n%.0s' 1 2 3 4 >tagged.conll
  printf 'go VB\nto TO\nOslo NN\n\n' >>tagged.conll
  run -1 --separate-stderr ran-train tag $shape --epochs 1 --on-error=skip --rejects rejects -q -o m.ran \
    --input-format conll tagged.conll
  cmp rejects <(tail -n 4 tagged.conll)
}

# ---- the command line ----------------------------------------------------------------------------

@test "train: what is read is never written over" {
  documents 9 >train.jsonl
  cp train.jsonl kept.jsonl
  ln train.jsonl other-name.jsonl
  refused 2 'train.jsonl is an input: it cannot also be the output' \
    ran-train classify $shape -o other-name.jsonl train.jsonl
  refused 2 'it cannot also be the output' ran-train classify -o train.jsonl --dev train.jsonl kept.jsonl
  refused 2 'it cannot also be the output' ran-tokenize learn -o train.jsonl kept.jsonl train.jsonl
  cmp train.jsonl kept.jsonl
}

@test "train: verbs and options that make no sense together [all]" {
  refused 2 'give a verb first: classify' ran-train
  refused 2 "unknown verb 'sort'" ran-train sort
  refused 2 '-o MODEL' ran-train mlm
  refused 2 '-o MODEL' ran-train classify
  refused 2 '-o MODEL' ran-train classify -o -
  refused 2 'exclude each other' ran-train classify --check --dry-run
  refused 2 'exclude each other' ran-train classify --resume --overwrite-checkpoint -o m.ran
  refused 2 'task is no option: the verb or a model sets it' ran-train classify --task tag -o m.ran
  refused 2 'task is no option: the verb or a model sets it' ran-train tag --task classify -o m.ran
  refused 2 'causal' ran-train classify --mask causal -o m.ran /dev/null
  refused 2 '--bptt is for ran-train lm' ran-train classify --bptt 1 -o m.ran /dev/null
  refused 2 'did you mean --epochs' ran-train classify --epochz 3 -o m.ran
}
