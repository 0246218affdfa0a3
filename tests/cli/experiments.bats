#!/usr/bin/env bats
# share/experiments: the scripts that make tables of the README, on data invented here.

bats_require_minimum_version 1.5.0
load compare.bash

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  export RAN_BIN=${RAN_BIN:-$root/build}
  PATH=$RAN_BIN:$root/share/experiments:$PATH
  cd "$BATS_TEST_TMPDIR"
}

# filler N: as many texts; some have words that are labels elsewhere, quotes and line feeds.
filler() {
  awk -v n="$1" 'BEGIN {
    for (i = 1; i <= n; i++) {
      printf "{\"text\": \""
      for (w = 1; w <= 30; w++)
        printf "%s%s", w == 7 ? "Amber " : w == 9 ? "\\\"q\\\"\\n" : "", "w" i * w % 17 " "
      print "\"}"
    }
  }'
}

# weather: sixteen short records that hardly any model could get wrong.
weather() {
  for i in 1 2 3 4 5 6 7 8; do
    for word in wet dry; do
      echo "{\"id\":\"$word$i\",\"n\":1e2,\"text\":\"$word $word day, number $i\",\"label\":\"$word\"}"
    done
  done
}

# told: id, label, length, place and distance of records, and where words of their text stand that
# look like a colour or a cue.
told() {
  jq -r '"\(.id) \(.label) \(.length) \(.place) \(.distance) \(.text)"' "$@" | awk '{
    printf "%s %s %s %s %s %d", $1, $2, $3, $4, $5, NF - 5
    for (i = 6; i <= NF; i++)
      if (tolower($i) ~ /^(amber|cobalt|crimson|answer|rumour|guess|joke)$/)
        printf " %s@%d", $i, i - 6
    print ""
  }'
}

tiny='--epochs 1 --dim 8 --heads 1 --head-dim 8 -j 1'

# ---- hide ----------------------------------------------------------------------------------------

@test "hide: easy: the label, and no other, stands in the text, at its place" {
  filler 3 >filler.jsonl
  hide --labels 3 --lengths 20,200 --records 30 filler.jsonl >out.jsonl
  told out.jsonl >told
  [ "$(wc -l <told)" -eq 60 ]
  awk '{
    place = ($3 - 5) * $4
    split($7, answer, "@"); split($8, colour, "@")
    if (NF != 8 || $6 != $3 || answer[1] != "answer" || colour[1] != $2 ||
        colour[2] != answer[2] + 2 || (answer[2] - 1 - place)^2 > 0.01 ||
        answer[2] - 1 + $5 + 5 != $3) { print "bad:", $0; bad = 1 }
    labels[$2]++; early += $4 < 0.5
  } END { exit bad || labels["amber"] != 20 || labels["crimson"] != 20 || early < 15 || early > 45 }' told
}

@test "hide: hard: every colour is in every text once, one of them is the answer" {
  filler 3 >filler.jsonl
  hide --form hard --labels 3 --lengths 15,200 --records 30 filler.jsonl >out.jsonl
  told out.jsonl | awk '{
    answers = right = 0
    split("", seen)
    for (i = 7; i < NF; i += 2) {
      split($(i + 1), colour, "@")
      seen[colour[1]]++
      if ($i ~ /^answer/) { answers++; right += colour[1] == $2 }
    }
    if (NF != 12 || $6 != $3 || answers != 1 || right != 1 || seen["amber"] != 1 ||
        seen["cobalt"] != 1 || seen["crimson"] != 1) { print "bad:", $0; bad = 1 }
  } END { exit bad || NR != 60 }'
}

@test "hide: first: the first answer is the label, and the distance that to the next" {
  filler 3 >filler.jsonl
  hide --form first --labels 2 --lengths 300 --records 30 filler.jsonl >out.jsonl
  told out.jsonl | awk '{
    split($7, one, "@"); split($8, colour, "@"); split($9, two, "@")
    if (NF != 10 || colour[1] != $2 || one[1] != "answer" || two[1] != "answer" ||
        two[2] - one[2] != $5 + 5) { print "bad:", $0; bad = 1 }
    far += $5 > 50
  } END { exit bad || NR != 30 || far < 5 }'
}

@test "hide: documents are hidden whole, with their labels, and fewer are taken evenly" {
  filler 3 >filler.jsonl
  weather >documents.jsonl
  hide --documents documents.jsonl --lengths 5,50 filler.jsonl >out.jsonl
  [ "$(wc -l <out.jsonl)" -eq 32 ]
  jq -e 'select((.text | contains("\(.label) \(.label) day, number")) | not)' out.jsonl && false
  hide --documents documents.jsonl --records 4 --lengths 50 filler.jsonl |
    grep -oE 'number [0-9]' >numbers
  [ "$(paste -s -d ' ' numbers)" = 'number 1 number 3 number 5 number 7' ]
  run -3 --separate-stderr hide --documents documents.jsonl --lengths 4 filler.jsonl
  [[ $stderr == 'hide: document 1 has 5 words, more than 4'* ]]
}

@test "hide: the same again, by any awk; another seed is other texts" {
  filler 5 >filler.jsonl
  hide --form hard --seed 7 filler.jsonl >one.jsonl
  for awk in mawk gawk; do
    command -v $awk >/dev/null || continue
    mkdir -p $awk
    ln -s "$(command -v $awk)" $awk/awk
    PATH=$PWD/$awk:$PATH hide --form hard --seed 7 filler.jsonl | cmp - one.jsonl
  done
  hide --form hard --seed 8 filler.jsonl >other.jsonl
  run -1 cmp -s one.jsonl other.jsonl
}

@test "hide, join-pairs: bytes that are not UTF-8 became other characters" {
  printf '{"text":"one two","source":"a","target":"b"}\n' >good.jsonl
  number=0
  for bytes in 'b\374cher' 'a \355\240\275' '\355\240\275\355\270\200' 'cut \303'; do
    { cat good.jsonl && printf "{\"text\":\"$bytes\",\"source\":\"$bytes\",\"target\":\"b\"}\n"; } >bad$((++number)).jsonl
    run -3 --separate-stderr hide --lengths 9 --records 2 bad$number.jsonl
    [[ -z $output && $stderr == "hide: bad$number.jsonl:2: this is not valid UTF-8" ]]
    run -3 --separate-stderr join-pairs --join 2 bad$number.jsonl
    [[ -z $output && $stderr == "join-pairs: bad$number.jsonl:2: this is not valid UTF-8" ]]
  done
  iconv -f UTF-8 -t UTF-16 good.jsonl >wide.jsonl
  run -3 --separate-stderr hide --lengths 9 --records 2 wide.jsonl
  [[ -z $output && $stderr == *'wide.jsonl:1: this is not valid UTF-8' ]]
}

@test "hide: misuse and files that cannot be used" {
  printf '{"text":"a"}\n{"text":"b\n' >bad.jsonl
  echo '{"text":" "}' >empty.jsonl
  run -2 hide
  run -2 hide --lengths 10,,20 empty.jsonl
  run -2 hide --labels 9 empty.jsonl
  run -2 hide --form hardest empty.jsonl
  run -3 hide nowhere.jsonl
  run -3 --separate-stderr hide bad.jsonl
  [ -z "$output" ]
  run -3 --separate-stderr hide empty.jsonl
  [ "$stderr" = 'hide: there are no words of filler' ]
}

# ---- memory-test ---------------------------------------------------------------------------------

@test "memory-test: tables and JSON lines of every test and encoder; once more, nothing is done anew [all]" {
  filler 20 >filler.jsonl
  { weather && weather | sed 's/day/night/'; } >documents.jsonl
  set -- --tests easy --encoders ran,contextualizer,window,dispersed,full --learn 10,30 \
    --words 60 --lengths 12,40 --records 10 --longest 9 "the folder" filler.jsonl documents.jsonl -- $tiny
  memory-test "$@" >table
  grep -q '^easy  *ran  *[0-9]' table
  grep -q '^documents  *full  *[0-9]' table
  jq -s -e 'map(select(.fifth == null and .length)) | length == 20 and all(.documents == 10)' \
    "the folder/results.jsonl"
  # The figures are those of the predictions.
  right=$(jq -r 'select(.length == 40 and .label == .prediction.label) | 1' \
    "the folder/easy-window.jsonl" | wc -l)
  jq -s -e --argjson right "$right" '.[] | select(.test == "easy" and .encoder == "window" and
    .length == 40 and .fifth == null) | .accuracy == $right / 10' "the folder/results.jsonl"
  touch mark
  memory-test "$@" | cmp - table
  [ -z "$(find "the folder" -name '*.ran' -newer mark)" ]
  run -3 memory-test --seed 2 "$@"
  [[ $output == *'from other settings'* ]]
}

@test "memory-test: a prenorm RAN with a sparse review, pretrained [all]" {
  filler 20 >filler.jsonl
  set -- --tests first --encoders ran,contextualizer --cell prenorm --review dispersed --pretrain 1 \
    --learn 30 --words 90 --lengths 40 --records 4 folder filler.jsonl -- $tiny
  memory-test "$@" >table
  [ "$(ran-train info --format json folder/first-ran.ran | jq -r '.config | "\(.cell) \(.review)"')" = 'prenorm dispersed' ]
  ran-train info --format json folder/first-ran.ran | jq -e '.training.init.digest | length == 64'
  ran-train info --format json folder/first-contextualizer.ran | jq -e '.training.init == null'
  touch mark
  memory-test "$@" | cmp - table
  [ -z "$(find folder -name '*.ran' -newer mark)" ]
  run -2 memory-test --cell lstm folder filler.jsonl
  run -2 memory-test --review some folder filler.jsonl
}

# ---- listops -------------------------------------------------------------------------------------

# The values of lists, by a calculator of its own.
values() {
  jq -r '.tokens | join(" ")' "$1" | awk '
    {
      depth = 0
      for (i = 1; i <= NF; i++)
        if (substr($i, 1, 1) == "[") {
          op[++depth] = $i
          n[depth] = 0
        } else {
          value = $i
          if (value == "]") {
            m = n[depth]
            for (j = 1; j <= m; j++)
              for (k = j + 1; k <= m; k++)
                if (item[depth, k] < item[depth, j]) {
                  t = item[depth, j]; item[depth, j] = item[depth, k]; item[depth, k] = t
                }
            sum = 0
            for (j = 1; j <= m; j++)
              sum += item[depth, j]
            value = op[depth] == "[MIN" ? item[depth, 1] : op[depth] == "[MAX" ? item[depth, m] : \
              op[depth] == "[SM" ? sum % 10 : \
              int((item[depth, int((m + 1) / 2)] + item[depth, int(m / 2) + 1]) / 2)
            depth--
          }
          if (depth > 0)
            item[depth, ++n[depth]] = value + 0
        }
      print value
    }'
}

@test "listops: labels are the values of the lists, which keep to the limits" {
  listops --train 60 --dev 20 --test 20 --shortest 8 --longest 60 --depth 4 --arguments 5 lists
  [ "$(cat lists/*.jsonl | wc -l)" -eq 100 ]
  [ "$(jq -c .tokens lists/*.jsonl | sort -u | wc -l)" -eq 100 ]
  cat lists/*.jsonl >all.jsonl
  same_output "jq -r .label all.jsonl" "values all.jsonl"
  jq -s -e 'all((.tokens | length) == .length and .length >= 8 and .length <= 60 and .depth <= 4)' all.jsonl
  jq -s -e 'map(.depth) | max == 4' all.jsonl
  jq -s -e 'map(.tokens[] | select(startswith("["))) | unique == ["[MAX","[MED","[MIN","[SM"]' all.jsonl
}

@test "listops: the same options give the same lists; another seed gives others" {
  options='--train 9 --dev 3 --test 3 --shortest 4 --longest 40'
  listops $options a && listops $options b && listops --seed 2 $options c
  diff -r a b
  run -1 cmp -s a/train.jsonl c/train.jsonl
  run -1 cmp -s a/dev.jsonl a/test.jsonl
}

@test "listops: misuse, and lists that hardly ever come [all]" {
  run -2 listops
  run -2 listops a b
  run -2 listops --train x a
  run -2 listops --longest 3 a
  run -2 listops --shortest 9 --longest 8 a
  run -2 listops --depth 0 a
  run -2 listops --arguments 1 a
  run -3 listops --shortest 5 --longest 5 --arguments 2 a
  [[ $output == *'hardly any list is that long'* ]]
}

@test "memory-test: misuse, and too little to begin with" {
  filler 5 >few.jsonl
  run -2 memory-test
  run -2 memory-test folder
  run -2 memory-test --encoders lstm folder few.jsonl
  run -2 memory-test --tests hardest folder few.jsonl
  run -2 memory-test --learn 1,x folder few.jsonl
  run -3 memory-test folder nowhere.jsonl
  run -3 memory-test folder few.jsonl
  [[ $output == *'few.jsonl has fewer than ten texts'* ]]
}

# ---- cross-validate ------------------------------------------------------------------------------

@test "cross-validate: folds have as much of each label, records stay as they are" {
  weather >records.jsonl
  echo >>records.jsonl
  cross-validate --folds-only -k 4 -o folds.jsonl records.jsonl
  sed 's/"fold":[1-4],//' folds.jsonl | cmp - <(weather)
  [ "$(jq -r '"\(.fold) \(.label)"' folds.jsonl | sort | uniq -c | awk '$1 == 2' | wc -l)" -eq 8 ]
  cross-validate --folds-only -k 4 -o again.jsonl records.jsonl
  cmp folds.jsonl again.jsonl
  cross-validate --folds-only -k 4 --seed 2 -o other.jsonl records.jsonl
  run -1 cmp -s folds.jsonl other.jsonl
  # Those that are there are kept.
  cross-validate --folds-only -k 9 -o kept.jsonl folds.jsonl
  cmp folds.jsonl kept.jsonl
}

@test "cross-validate: groups, and what is the same or alike, are in one fold [all]" {
  for i in 1 2 3 4 5 6 7 8 9; do
    for level in easy hard; do
      echo "{\"of\":$((i % 4)),\"text\":\"$level the a$i b$i c$i d$i e$i f$((i / 3)) $level$i\",\"label\":\"$level\"}"
    done
    echo '{"of":null,"text":"twice","label":"easy"}'
  done >records.jsonl
  # one_fold MEMBER: whether records in which it is the same are in one fold.
  one_fold() {
    jq -s -e "map(select($1 != null)) | group_by($1) | all(map(.fold) | unique | length == 1)" folds.jsonl
  }
  cross-validate --folds-only -k 3 -o folds.jsonl records.jsonl 2>said
  [ "$(cat said)" = 'cross-validate: 27 records are dealt out in 19 groups' ]
  one_fold .text
  run -1 one_fold .of
  cross-validate --folds-only -k 3 --group of -o folds.jsonl records.jsonl 2>said
  one_fold .of
  one_fold .text
  grep -q 'in 5 groups' said
  cross-validate --folds-only -k 3 --alike 0.8 -o folds.jsonl records.jsonl 2>said
  grep -q 'in 10 groups' said
  one_fold '.text[-1:]'
  # So they can be held out together; what is there already is kept.
  one_fold .fold_group
  [ "$(jq .fold_group folds.jsonl | sort -u | wc -l)" -eq 10 ]
  cross-validate --folds-only -k 3 -o kept.jsonl folds.jsonl
  cmp folds.jsonl kept.jsonl
}

@test "cross-validate: groups are held out whole [all]" {
  held_by() { grep -qa "dev_group[\\]*\":[\\]*\"$1[\\]*\"" "$2"; }
  weather | jq -c '.of = (.id[-1:] | tonumber % 4)' >records.jsonl
  cross-validate -k 2 --group of --work work -o out.jsonl records.jsonl $tiny 2>said
  grep -q 'groups' said
  held_by fold_group work/1.ran
  jq -e -s 'group_by(.of) | all(map(.fold_group) | unique | length == 1)' out.jsonl
  # The folds that are there, and a member to go by.
  jq -c 'del(.prediction, .fold_group)' out.jsonl >given.jsonl
  cross-validate --group of --work other -o again.jsonl given.jsonl $tiny
  held_by of other/1.ran
  # Where a fold is for that, nothing is held out.
  cross-validate -k 4 --group of --dev-fold --work third -o again.jsonl records.jsonl $tiny
  run -1 grep -qa dev_group third/1.ran
  jq -c 'del(.fold)' out.jsonl >bad.jsonl
  run -3 cross-validate -k 2 -o again.jsonl bad.jsonl
  [[ $output == *'a record with "fold_group" and no "fold"'* ]]
}

@test "cross-validate: each record is labelled by a model that has not seen it [all]" {
  # Folds of one label make their accuracies differ; a linear model would be right all the same.
  alone="$tiny --wide 0"
  weather | awk '{ sub(/{/, "{\"fold\":" (/wet[1-4]/ ? 1 : n++ % 3 + 2) ","); print }' >records.jsonl
  cross-validate -k 4 --work work -o out.jsonl records.jsonl $alone >table
  jq -r .id out.jsonl | cmp - <(jq -r .id records.jsonl)
  for fold in 1 2 3 4; do
    # As if by hand.
    jq -c "select(.fold != $fold)" out.jsonl | jq -c 'del(.prediction)' >train.jsonl
    ran-train classify -q $alone -o model.ran train.jsonl
    jq -c "select(.fold == $fold)" out.jsonl | ran-classify -m model.ran --into again |
      jq -e -s 'length == 4 and all(.again == .prediction)'
  done
  right=$(jq -r 'select(.label == .prediction.label) | 1' out.jsonl | wc -l)
  awk -v right="$right" '
    /^[1-4] / { n++; sum += $3; squares += $3 ^ 2; if ($2 != 4) bad = 1 }
    $1 == "mean" { mean = $2 }
    $1 == "deviation" { deviation = $2 }
    $1 == "all" { all = $3 }
    END {
      d = sqrt((squares - sum ^ 2 / 4) / 3) - deviation
      exit !(deviation > 1 && n == 4 && !bad && mean == sum / 4 && all == 100 * right / 16 && d * d < 1e-4)
    }' table
  # What is there is not done again; other settings need another folder.
  touch mark
  cross-validate -k 4 --work work -o again.jsonl records.jsonl $alone | cmp - table
  cmp out.jsonl again.jsonl
  [ -z "$(find work -name '*.ran' -newer mark)" ]
  run -3 cross-validate -k 4 --work work -o again.jsonl records.jsonl $alone --seed 2
  [[ $output == *'from other settings'* ]]
  weather >records.jsonl
  run -3 cross-validate -k 4 --work work -o again.jsonl records.jsonl $alone
  [[ $output == *'from other records'* ]]
}

@test "cross-validate: a fold for development; several labels [all]" {
  weather | sed 's/"label":\("[a-z]*"\)/"labels":[\1]/' >records.jsonl
  cross-validate -k 4 --dev-fold --work work -o out.jsonl records.jsonl $tiny >table
  grep -q '^fold  *records  *micro-F1$' table
  # The last fold is tested last, and the first is next to it.
  jq -r .fold work/dev work/test work/learn | sort | uniq -c | tr -s ' \n' ' ' | grep -qx ' 4 1 4 2 4 3 4 4 '
  [ "$(jq -r .fold work/dev | sort -u)" = 1 ]
  [ "$(jq -r .fold work/test | sort -u)" = 4 ]
}

@test "cross-validate: labels that are numbers were all wrong [all]" {
  weather >records.jsonl
  jq -r .label records.jsonl | sort -u >labels
  [ "$(wc -l <labels)" -eq 2 ]
  sed "s/\"label\":\"$(sed -n 1p labels)\"/\"label\":0.50/; s/\"label\":\"$(sed -n 2p labels)\"/\"label\":12/" records.jsonl >numbers.jsonl
  run -1 grep -q '"label":"' numbers.jsonl
  cross-validate -k 2 -o out.jsonl numbers.jsonl $tiny >table
  [ "$(jq -s 'map(select(.label == (.prediction.label | tonumber))) | length * 100 / 16' out.jsonl)" = \
    "$(awk '$1 == "all" { print $3 + 0 }' table)" ]
  awk '$1 == "all" { exit !($3 > 0) }' table
}

@test "cross-validate: blank lines that end as on Windows" {
  weather | sed 's/$/\r/; 3s/^/\r\n \t\r\n/' >records.jsonl
  cross-validate --folds-only -k 2 -o out.jsonl records.jsonl
  [ "$(wc -l <out.jsonl)" -eq 16 ]
  cross-validate --folds-only -o again.jsonl out.jsonl
  cmp out.jsonl again.jsonl
}

@test "cross-validate: reads what ran-train reads: tables, packed files, folders, several files [all]" {
  weather | jq -c '.id |= tostring' >records.jsonl
  jq -r '["Title", "Body", "kind"], (inputs | ["day", .text, .label]) | @csv' -n records.jsonl | tr , ';' >"the table's.csv"
  cross-validate --folds-only -k 4 -o table.jsonl "the table's.csv" --delimiter ';' --text-member Title,Body --label-member=kind
  jq -se 'length == 16 and (map(.fold) | unique == [1, 2, 3, 4]) and all(.text | startswith("day\n")) and
    (map(.id)[3] == "the table\u0027s.csv:5")' table.jsonl
  mkdir -p folder/wet folder/dry
  for i in 1 2 3 4 5 6; do
    echo "wet $i" >folder/wet/$i.txt
    echo "dry $i" | gzip >folder/dry/$i.txt.gz
  done
  cross-validate --folds-only -k 3 -o folder.jsonl folder --folder-label
  jq -se 'map([.fold, .label]) | group_by(.) | length == 6 and all(length == 2)' folder.jsonl
  gzip -c records.jsonl >packed.jsonl.gz
  head -n 8 records.jsonl >one.jsonl; tail -n +9 records.jsonl >two.jsonl
  cross-validate --folds-only -k 4 -o plain.jsonl records.jsonl
  cross-validate --folds-only -k 4 -o packed.jsonl packed.jsonl.gz
  cross-validate --folds-only -k 4 -o both.jsonl one.jsonl two.jsonl
  cmp plain.jsonl packed.jsonl
  cmp plain.jsonl both.jsonl
  run -2 cross-validate --folds-only -k 4 -o no.jsonl "the table's.csv" --text-member
  run -3 cross-validate --folds-only -k 4 -o no.jsonl nowhere.csv
  [ ! -e no.jsonl ]
}

@test "cross-validate: a table is trained on and labelled as it is read [all]" {
  weather | jq -r '[.text, .label] | @csv' | sed '1i "what was said","kind"' >table.csv
  cross-validate -k 4 -o out.jsonl table.csv --text-member 'what was said' --label-member kind $tiny >table
  jq -se 'length == 16 and all(.prediction.label and .label and .text)' out.jsonl
  grep -q '^all  *16 ' table
}

@test "cross-validate: two settings on the same folds, with the interval of their difference [all]" {
  weather >records.jsonl
  plain="$tiny --encoder none --min-count 1 --base none"
  cross-validate -k 4 -o out.jsonl --work w --against "$plain --dev-share 0.5 --no-refit" records.jsonl $plain >table
  cross-validate -k 4 -o alone.jsonl records.jsonl $plain >one
  cmp out.jsonl alone.jsonl
  [ "$(cut -c 1-26 table | head -n 8 | sed 's/ *$//')" = "$(sed 's/ *$//' one)" ]
  cross-validate -k 4 -o alone.jsonl records.jsonl $plain --dev-share 0.5 --no-refit >two
  [ "$(awk 'FNR > 1 && FNR < 9 { print $NF }' table)" = "$(awk 'FNR > 1 { print $NF }' two)" ]
  # The interval, from the figures of the folds; 3.182 is the 97.5 % quantile of t with 3 degrees of freedom.
  awk 'FNR > 1 && FNR < 6 { d[FNR] = $3 - $4; mean += d[FNR] / 4 }
    $1 == "difference" {
      for (i in d) squares += (d[i] - mean) ^ 2
      off = 3.182 * sqrt((1 / 4 + 1 / 3) * squares / 3)
      want = sprintf("%+.2f (95 %% interval %+.2f to %+.2f)", mean, mean - off, mean + off)
      sub(/^difference */, "")
      exit $0 != want
    }' table
  differ=$(for f in 1 2 3 4; do
    paste <(jq -r '.prediction.label == .label' w/$f.jsonl) <(jq -r '.prediction.label == .label' w/$f.against.jsonl)
  done | sort | uniq -c | awk '$2 != $3 { n[$2] = $1 } END { print n["true"] + 0, n["false"] + 0 }')
  grep -qx "right on ${differ% *} records where --against is wrong, wrong on ${differ#* } where it is right" table
  # The same twice.
  cross-validate -k 2 -o same.jsonl --against "$plain" records.jsonl $plain >table
  grep -qx 'difference           +0.00 (95 % interval +0.00 to +0.00)' table
  run -3 cross-validate -k 4 -o out.jsonl --work w --against "$plain" records.jsonl $plain
  run -2 cross-validate --folds-only -o out.jsonl --against '' records.jsonl
  run -2 cross-validate -o out.jsonl --against
}

@test "cross-validate: misuse, and records that cannot be used [all]" {
  weather >records.jsonl
  run -2 cross-validate
  run -2 cross-validate records.jsonl
  run -2 cross-validate -k 1 -o out.jsonl records.jsonl
  run -2 cross-validate --alike 2 -o out.jsonl records.jsonl
  # Once what begins with a number was one, and 0.x joined all records.
  for share in 0.5x 0.x 0. 1.0 -0.5; do
    run -2 cross-validate --alike $share -o out.jsonl records.jsonl
  done
  run -2 cross-validate --folds-only -o out.jsonl records.jsonl --dim 8
  run -3 cross-validate -o out.jsonl nowhere.jsonl
  run -3 cross-validate -o nowhere/out.jsonl records.jsonl
  run -3 cross-validate -k 17 -o out.jsonl records.jsonl
  [[ $output == *'16 records in 16 groups, too few for 17 folds'* ]]
  { cat records.jsonl && echo '{"text":"no label"}'; } >bad.jsonl
  run -3 cross-validate -o out.jsonl bad.jsonl
  [[ $output == *'a record without a label'* ]]
  { cat records.jsonl && echo '{"text":"x","label":"wet","fold":1}'; } >bad.jsonl
  run -3 cross-validate -o out.jsonl bad.jsonl
  [[ $output == *'some records have a "fold" and some have none'* ]]
  sed 's/{/{"fold":"..\/x",/' records.jsonl >bad.jsonl
  run -3 cross-validate -o out.jsonl bad.jsonl
  # An option that ran-train does not know is its to refuse, and nothing is left behind.
  run -2 cross-validate -o out.jsonl records.jsonl --dimension 8
  [ ! -e out.jsonl ] && [ ! -e out.jsonl.new ]
}

# ---- history-test --------------------------------------------------------------------------------

@test "history-test: a line for each history, with the figures of ran-lm [all]" {
  weather >texts.jsonl
  filler 4 >more.jsonl
  ran-train lm -q $tiny --window 5 --no-dev -o model.ran texts.jsonl
  history-test -m model.ran --histories 1,6,900 --parts 2 texts.jsonl more.jsonl -- --no-end -j 1 >table
  figures() { ran-lm score -m model.ran --no-end --total "$@" texts.jsonl more.jsonl | jq -r '"\(.nll) \(.tokens)"'; }
  { figures --history 1 && figures --history 6 --stride 3 && figures && figures; } >want
  awk 'NR == FNR { nll[NR + 1] = $1; tokens = $2; next }
    FNR == 1 { bad = $0 !~ /^ *history  *perplexity  *more  *share$/ }
    FNR > 1 {
      n++
      more = (nll[FNR] - nll[5]) / tokens
      share = 100 * (nll[2] - nll[FNR]) / (nll[2] - nll[5])
      if (sprintf("%.2f", exp(nll[FNR] / tokens)) != $2 || (more - $3) ^ 2 > 1e-8) bad = 1
      if ($4 != "-" && (share - $4) ^ 2 > 0.01) bad = 1
      if ($1 != (n == 1 ? "1" : n == 2 ? "6" : n == 3 ? "900" : "all")) bad = 1
    }
    END { exit bad || n != 4 }' want table
}

@test "history-test: misuse, and what cannot be used" {
  weather >texts.jsonl
  ran-train lm -q $tiny --no-dev -o model.ran texts.jsonl
  run -2 history-test
  run -2 history-test texts.jsonl
  run -2 history-test -m model.ran
  run -2 history-test -m model.ran --histories 1,,2 texts.jsonl
  run -2 history-test -m model.ran --histories 8,08 texts.jsonl
  # A table that broke off had status 0.
  run -3 history-test -m model.ran --histories 8,99999999999999999999 texts.jsonl
  run -2 history-test -m model.ran --parts 0 texts.jsonl
  run -2 history-test -m model.ran --steps 3 texts.jsonl
  run -3 history-test -m model.ran nowhere.jsonl
  run -3 history-test -m nowhere.ran texts.jsonl
  [[ $output == *'cannot open nowhere.ran'* ]]
  echo '{"ids":[5]}' >one.jsonl
  run -3 history-test -m model.ran one.jsonl
  [[ $output == *'there is nothing to predict'* ]]
  # What ran-lm refuses is its to say.
  run -2 history-test -m model.ran texts.jsonl -- --cache x
}

@test "ablations: each variant once, learned as its name says, with the figures of its model [all]" {
  weather >train.jsonl
  sed 's/wet day, number 3/dry day, number 3/' train.jsonl >test.jsonl # one is wrong
  set -- --parts mean-pooling,no-review --layers 2,1 --windows 8,256 "the folder" train.jsonl test.jsonl \
    $tiny --epochs 2 --dev test.jsonl --seed 5
  ablations "$@" >table
  [ "$(cut -d ' ' -f 1 table | paste -s -d ' ')" = \
    'parts base mean-pooling no-review  layers 2 1  windows 8 256' ]
  [ "$(grep -c '(base)' table)" -eq 2 ]
  # As if by hand.
  learn() { ran-train classify -q --wide 0 --no-refit $tiny --epochs 2 --dev test.jsonl --seed 5 "$@" -o model.ran train.jsonl; }
  same() {
    learn "${@:2}"
    cmp model.ran "the folder/$1.ran"
  }
  same base
  same mean-pooling --pooling mean
  same no-review --no-review
  same window-8 --window 8
  same layers-1 --layers 1
  right=$(ran-classify -m model.ran --eval test.jsonl | jq .accuracy)
  weights=$(ran-train classify --dry-run $tiny --wide 0 --layers 1 train.jsonl 2>/dev/null |
    awk '$1 == "parameters" { print $2, $9 }')
  jq -s -e --argjson right "$right" --arg weights "$weights" 'length == 5 and
    (map(select(.variant == "layers-1"))[0] | .accuracy == $right and .dev == $right and .epochs == 2 and
      .epoch_seconds >= 0 and "\(.embedding) \(.weights - .embedding)" == $weights)' \
    "the folder/results.jsonl"
  rm "the folder/base.json"
  printf '9m9s 9m9s\n1m2.250000s 0m1.5s\n' >"the folder/base.times"
  ablations "$@" >table
  [ "$(awk '/base/ { print $(NF - 2) }' table | sort -u)" = 31.9 ]
  # What it has is not learned again, and rows may be added; of other files or options it would be wrong.
  touch mark
  ablations "$@" | cmp - table
  ablations --parts '' --layers '' --windows 8,16 "the folder" train.jsonl test.jsonl "${@:10}" >more
  [ "$(cut -d ' ' -f 1 more | paste -s -d ' ')" = 'windows 8 16' ]
  [ "$(find "the folder" -name '*.ran' -newer mark)" = 'the folder/window-16.ran' ]
  run -3 ablations "$@" --epochs 2
  [[ $output == *'the folder is from other files or options'* ]]
}

@test "ablations: several labels, no development data; misuse, and what cannot be used [all]" {
  weather | sed 's/"label":\("[a-z]*"\)/"labels":[\1]/' >records.jsonl
  only() { ablations --parts '' --windows '' --layers "$@"; }
  only 1 folder records.jsonl records.jsonl $tiny --no-dev >table
  [ "$(awk '$1 == 1 { print $3 }' table)" = - ]
  run -2 ablations
  run -2 ablations folder records.jsonl
  run -2 ablations --size 3 folder records.jsonl records.jsonl
  run -2 ablations --parts no-window folder records.jsonl records.jsonl
  run -2 only 1,,2 folder records.jsonl records.jsonl
  run -2 only 01 folder records.jsonl records.jsonl
  [[ $output == *'there is no variant "layers-01"'* ]]
  run -3 only 1 folder nowhere.jsonl records.jsonl
  # What ran-train refuses is its to say, and nothing is taken for a result.
  run -2 only 1 other records.jsonl records.jsonl --epochs x
  [[ $output == *'--epochs must be a whole number'* ]]
  [ ! -s other/layers-1.json ]
}

@test "seeds: a row for each, that of the model it trained, and their mean [all]" {
  weather >train.jsonl
  sed 's/wet day, number 3/dry day, number 3/' train.jsonl >test.jsonl # one is wrong
  seeds -n 2 --work kept train.jsonl test.jsonl $tiny --no-dev >table
  for seed in 1 2; do
    ran-train classify -q $tiny --no-dev --seed $seed -o $seed.ran train.jsonl
    cmp $seed.ran kept/$seed.ran
    ran-classify -m $seed.ran --eval test.jsonl | jq '100 * .accuracy'
  done >want
  awk 'NR == FNR { want[NR] = sprintf("%.2f", $1); sum += $1; next }
    FNR > 1 && FNR < 4 && ($1 != FNR - 1 || $2 != want[FNR - 1] || $4 !~ /^[0-9]+[.][0-9]$/ || $5 < 1) { bad = 1 }
    FNR == 4 && $2 != sprintf("%.2f,", sum / 2) { bad = 1 }
    END { exit bad || FNR != 4 }' want table
  # What it has is not learned again; of other files or options it would be wrong.
  echo '2 12.5 1 1.0 1' >kept/2.result
  seeds -n 2 --work kept train.jsonl test.jsonl $tiny --no-dev | grep -q '^2  *12.50 '
  run -3 seeds -n 2 --work kept train.jsonl test.jsonl $tiny
  [[ $output == *'kept is from other files or options'* ]]
  run -2 seeds train.jsonl
  run -2 seeds -n 0 train.jsonl test.jsonl
  run -3 seeds train.jsonl nowhere.jsonl
  run -3 seeds --work other train.jsonl test.jsonl --epochs x
  [[ $output == *'--epochs must be a whole number'* ]]
}

@test "seeds: a test that could not be made was one of 0 per cent" {
  weather >train.jsonl
  jq -c 'del(.label)' train.jsonl >test.jsonl
  run -3 seeds -n 1 --work kept train.jsonl test.jsonl $tiny --no-dev
  [[ $output == *'no record has a label'* ]]
  [ ! -e kept/1.result ]
}

@test "collections: a table of what seeds finds for each, together and apart [all]" {
  mkdir one two
  weather >one/train.jsonl
  sed 's/wet day, number 3/dry day, number 3/' one/train.jsonl >one/test.jsonl
  for part in train test; do gzip <one/$part.jsonl >two/$part.jsonl.gz; done
  # shellcheck disable=SC2086
  collections -n 2 kept one two -- $tiny --no-dev >table
  for cell in one-together one-linear one-encoder two-linear; do [ "$(wc -l <kept/$cell.table)" -eq 4 ]; done
  [[ $(ran-train info kept/one-linear/1.ran) == *'linear model only'* ]]
  awk -F ' *[|] *' 'NR == 3 { one = $3 } NR > 2 { if (NF != 12 || $3 !~ /^9[34]\.[0-9] \(/ || $3 != one) bad = 1 }
    END { exit bad || NR != 4 }' table
  # Results that are there are not computed again.
  sed -i 's/^\([12]\) .*/\1 12.5 1 1.0 1/' kept/two-linear/[12].result
  # shellcheck disable=SC2086
  collections -n 2 --columns linear kept two -- $tiny --no-dev | grep -qF '| two | 12.5 (12.5 to 12.5) | 1 | 1 |'
  run -2 collections kept
  run -2 collections kept nowhere
  [[ $output == *'there is no train.jsonl or train.jsonl.gz in nowhere'* ]]
  run -2 collections --columns none kept one
}

@test "experiments: training takes about the memory that --dry-run forecasts [all]" {
  if ldd "$(command -v ran-train)" | grep -q 'lib[at]san'; then skip "a sanitizer takes memory of its own"; fi
  weather >train.jsonl
  jq -c '{tokens: (.text | split(" ")), tags: (.text | split(" ") | map(if . == "wet" then "B-X" else "O" end))}' train.jsonl >tags.jsonl
  for kind in "classify train.jsonl" "classify train.jsonl --encoder contextualizer" "lm train.jsonl" \
    "mlm train.jsonl" "classify train.jsonl --encoder none" "tag tags.jsonl" "tag tags.jsonl --encoder none" \
    "classify train.jsonl --encoder transformer --attention dispersed"; do
    # shellcheck disable=SC2086
    run -0 --separate-stderr memory $kind --epochs 2 --no-early-stop -j 1
    [[ $output =~ ^forecast\ [0-9]+\ MB,\ peak\ [0-9]+\ MB:\ ([0-9]+)\ %$ ]]
    [ "${BASH_REMATCH[1]}" -ge 77 ] && [ "${BASH_REMATCH[1]}" -le 130 ] || { echo "$kind: $output"; false; }
  done
  run -2 memory classify
  run -3 memory classify missing.jsonl
  [[ $output == "memory: cannot read: missing.jsonl" ]]
}

@test "experiments: a folder with files of somebody else was written over" {
  weather >train.jsonl
  mkdir mine
  echo precious >mine/test
  run -3 cross-validate -k 2 --work mine -o out.jsonl train.jsonl $tiny
  [[ $output == *'mine holds other files: name a new folder, or an empty one'* ]]
  run -3 seeds -n 1 --work mine train.jsonl train.jsonl $tiny --no-dev
  run -3 ablations mine train.jsonl train.jsonl $tiny
  run -3 memory-test mine train.jsonl
  [ "$(ls -A mine)" = test ]
  [ "$(cat mine/test)" = precious ]
}

# ---- few-labels ----------------------------------------------------------------------------------

# stub_peers: modules that look like those of the method sentences. The vector of a text is how often
# it says "wet" and "dry"; `encoded` gets each text that is encoded.
stub_peers() {
  mkdir -p stub/sklearn
  : >stub/sklearn/__init__.py
  echo 'class LogisticRegression:
    def __init__(self, **settings): pass' >stub/sklearn/linear_model.py
  echo 'class GridSearchCV:
    def __init__(self, *settings, **more): pass
    def fit(self, vectors, labels):
        self.seen = list(zip(vectors, labels))
        return self
    def predict(self, vectors):
        def distance(a, b): return sum((x - y) ** 2 for x, y in zip(a, b))
        return [min(self.seen, key=lambda s: distance(s[0], v))[1] for v in vectors]' >stub/sklearn/model_selection.py
  echo 'class SentenceTransformer:
    def __init__(self, folder, device): pass
    def encode(self, texts):
        with open("encoded", "a") as file:
            file.writelines(t + "\n" for t in texts)
        return [[t.count("wet"), t.count("dry")] for t in texts]' >stub/sentence_transformers.py
}

@test "few-labels: a method that needs a pretrained encoder says so [all]" {
  run -2 few-labels --methods 'linear setfit' one
  [[ $output == *'the method setfit needs a pretrained encoder: give --init FOLDER'* ]]
}

@test "few-labels: mean of the draws, each text encoded once; once more, nothing is done anew [all]" {
  command -v python3 >/dev/null || skip 'there is no python3'
  stub_peers
  mkdir one two
  weather >one/train.jsonl
  sed 's/number/the number/' one/train.jsonl >one/dev.jsonl
  sed 's/day/night/' one/train.jsonl | gzip >two/train.jsonl.gz # without documents to test on
  few() {
    PYTHONPATH=$PWD/stub few-labels --init "$root/tests/encoders/sentence-mean" --methods 'linear frozen sentences' \
      --documents 8 -n 2 --dev 6 --work kept "$@"
  }
  few one two >table
  [ "$(wc -l <table)" -eq 5 ]
  [ "$(ls kept/*.result | wc -l)" -eq 12 ]
  grep -Eq '^two  *8  *[0-9.]+  *[0-9.]+  *100.00$' table
  [ "$(wc -l <encoded)" -ge 12 ] # documents to test on, at least
  [ -z "$(sort encoded | uniq -d)" ]
  # What it has is not learned again, and the mean is that of the draws.
  echo 'one 8 1 linear 20 0 1' >kept/one-8-1-linear.result
  echo 'one 8 2 linear 31 0 1' >kept/one-8-2-linear.result
  : >stub/sentence_transformers.py # nothing to encode with
  rm kept/one-8-1-sentences.result
  few one | grep -q '^one  *8  *25.50 '
  run -2 few
  run -2 few --methods forest one
  [[ $output == *'there is no method forest'* ]]
  run -3 few --dev 5 one
  [[ $output == *'kept is of another model, or tested on other documents'* ]]
}

# ---- long-sources --------------------------------------------------------------------------------

# pairs N FIRST: as many, with numbers from FIRST on in both texts.
pairs() {
  seq "$2" $(($1 + $2 - 1)) | sed 's/.*/{"source":"a b & c","target":"x & y \\"z"}/'
}

@test "join-pairs: each pair once a round, the same on both sides, in an order of its seed [all]" {
  pairs 23 100 >pairs.jsonl
  join-pairs --join 1,4 pairs.jsonl >out.jsonl
  jq -s -e 'map(.joined) == [range(23) | 1] + [range(5) | 4]' out.jsonl
  jq -s -e 'all(.[]; (.source | [scan("[0-9]+")]) == (.target | [scan("[0-9]+")]))' out.jsonl
  jq -s -e 'map(select(.joined == 4).source | scan("[0-9]+")) | length == 20 and (unique | length == 20)' out.jsonl
  jq -e 'select(.joined == 4) | .source | split(" | ") | length == 4' out.jsonl
  join-pairs --join 1,4 pairs.jsonl | cmp - out.jsonl
  run -1 cmp -s out.jsonl <(join-pairs --seed 2 --join 1,4 pairs.jsonl)
  # More than one round; a last record that does not fit is left out; too few pairs make none.
  [ "$(join-pairs --join 5 --pairs 52 pairs.jsonl | wc -l)" -eq 10 ]
  [ -z "$(join-pairs --join 24 pairs.jsonl)" ]
  run -2 join-pairs --join 0 pairs.jsonl
  run -2 join-pairs
  run -3 join-pairs nowhere.jsonl
  run -3 join-pairs --mark b pairs.jsonl
  [[ $output == *'has a pair with the mark'* ]]
}

@test "long-sources: a table of every encoder; once more, nothing is done anew [all]" {
  pairs 40 100 >train.jsonl
  pairs 12 200 >dev.jsonl
  pairs 12 300 >test.jsonl
  set -- --lengths 1,6 --learn 1,3 --test-pairs 12 --window 8 "the folder" train.jsonl dev.jsonl test.jsonl -- \
    $tiny --layers 1 --ffn-dim 8 --vocab-size 300
  long-sources "$@" >table
  awk 'NR > 1 && NF != 9 { exit 1 } END { exit NR != 6 }' table
  # Texts that are the targets have a BLEU of 100 everywhere, those with a wrong end not at the end.
  for many in 1 6; do
    jq -c '.lm = {text: .target}' "the folder/test-$many.jsonl" >"the folder/full-$many.jsonl"
    jq -c '.lm = {text: (.target | split(" | ") | .[:(length * 2 / 3 | floor)] | join(" | "))}' \
      "the folder/test-$many.jsonl" >"the folder/window-$many.jsonl"
  done
  touch mark
  long-sources "$@" >again
  awk '$1 == "full" && ($3 != 100 || $4 != 100 || $6 != 100) { exit 1 }
    $1 == "window" && ($4 != 100 || $5 != 100 || $6 != 0) { exit 1 }' again
  [ -z "$(find "the folder" -name '*.ran' -newer mark)" ]
  run -3 long-sources --seed 2 "$@"
  [[ $output == *'from other settings'* ]]
  run -2 long-sources --encoders lstm new train.jsonl dev.jsonl test.jsonl
  run -2 long-sources new train.jsonl
}

@test "experiments: each says what it takes, and the README what it is" {
  for script in "$root"/share/experiments/*; do
    [ -x "$script" ] || continue
    name=$(basename "$script")
    "$script" --help | grep -q "^usage: $name "
    grep -qF "| \`$name\` |" "$root/share/experiments/README.md"
  done
}
