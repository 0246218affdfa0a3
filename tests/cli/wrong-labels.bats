#!/usr/bin/env bats
# ran-train classify --find-wrong-labels: documents whose label is probably wrong.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  export RAN_ISA=portable
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
}

# wrong N: as many documents, of which every thirtieth has a label that its words deny.
wrong() {
  documents "$1" 12 | jq -c '.was = .label |
    if .id % 30 == 7 then .label = ({wet: "warm", warm: "white", white: "wet"}[.label]) else . end'
}

find_wrong() {
  ran-train classify -q --base none --find-wrong-labels "$@"
}

@test "wrong labels: those that were changed come first, with the label that they had" {
  wrong 300 >train.jsonl
  find_wrong train.jsonl >list.jsonl
  # Ten are wrong; documents without a telling word may be suspected, too.
  found=$(wc -l <list.jsonl)
  ((found >= 8 && found <= 15))
  jq -es '(.[:8] | all(.id % 30 == 7 and .suspect.suggested == .was and .suspect.label == .label))
    and (map(.suspect.rank) == [range(1; length + 1)])
    and (map(.suspect.probs[.label]) | . == sort)
    and all(.suspect.file == "train.jsonl" and .suspect.line == .id)
    and all(.suspect.probs | (add > 0.999 and add < 1.001 and length == 3))
    and all((.suspect.probs[.suspect.suggested] - .suspect.probs[.label] - .suspect.margin) | fabs < 1e-6)' list.jsonl
  # The record comes back byte for byte, but for the new member.
  sed 's/,"suspect":.*/}/' list.jsonl | sort >came
  [ "$(sort train.jsonl | comm -12 - came | wc -l)" = "$found" ]
  run -0 --separate-stderr ran-train classify --base none --find-wrong-labels train.jsonl
  [[ $stderr == *'fold 5 of 5'* ]]
  [[ $stderr == *"about $found of 300 labels are wrong; the $found most suspicious are listed"* ]]
}

@test "wrong labels: the same with any number of threads, from a pipe, with other folds and more of them" {
  wrong 120 >train.jsonl
  find_wrong -j 1 train.jsonl >one
  find_wrong -j 3 train.jsonl >three
  cmp one three
  find_wrong -j 1 <train.jsonl | sed 's/"file":"standard input"/"file":"train.jsonl"/' | cmp - one
  find_wrong --suspects 1000 train.jsonl >all
  [ "$(wc -l <all)" = 120 ]
  head -n "$(wc -l <one)" all | cmp - one
  find_wrong --folds 3 --suspects 2 train.jsonl >three
  [ "$(wc -l <three)" = 2 ]
}

@test "wrong labels: as a table, and of tables" {
  wrong 120 | jq -r '[.label, .text] | @csv' | { echo label,text; cat; } >train.csv
  find_wrong --suspects 4 --suspects-format csv train.csv >list.csv
  [ "$(head -n 1 list.csv)" = 'rank,id,label,suggested,margin,p_label,p_suggested,text' ]
  [ "$(wc -l <list.csv)" = 5 ]
  for line in 8 38 68 98; do # behind the row of names
    grep -q "^[1-4],train.csv:$line," list.csv
  done
  find_wrong --suspects 4 --suspects-format tsv train.csv >list.tsv
  [ "$(tail -n 1 list.tsv | tr -cd '\t' | wc -c)" = 7 ]
  find_wrong --suspects 4 --suspects-format excel train.csv >list.csv
  [ "$(head -n 1 list.csv)" = $'\xef\xbb\xbfrank;id;label;suggested;margin;p_label;p_suggested;text' ]
  [ "$(grep -cE '^[1-4];train.csv:[0-9]+;[a-z]+;[a-z]+;[01](,[0-9]+)?;[0-9]+(,[0-9]+)?(e-[0-9]+)?;' list.csv)" = 4 ]
}

# several N: documents with none to three labels, each of which one word tells. Every thirtieth lacks a label that
# it should have, every thirtieth has one too many.
several() {
  jq -nc --argjson n "$1" '["wet", "warm", "white"] as $labels | range($n) as $i |
    [range(3) as $c | select(($i / pow(2; $c) | floor) % 2 == 1) | $labels[$c]] as $right |
    {id: $i, right: $right, text: "day \($i) was \($right | join(" and ")) here",
     labels: (if $i % 30 == 7 then $right[1:] elif $i % 30 == 22 then $right + ($labels - $right)[:1] else $right end)}'
}

@test "wrong labels: of several labels those to be added or removed come first" {
  several 300 >train.jsonl
  changed=$(jq -c 'select((.labels | sort) != (.right | sort))' train.jsonl | wc -l)
  [ "$changed" = 20 ]
  run -0 --separate-stderr ran-train classify --base none --find-wrong-labels train.jsonl
  cat >list.jsonl <<<"$output"
  found=$(wc -l <list.jsonl)
  [[ $stderr =~ 'about '[0-9]+' labels of 300 documents are wrong or missing; the '$found' most suspicious are listed' ]]
  ((found >= changed - 2 && found <= changed + 5))
  jq -es --argjson n $((changed - 2)) '(.[:$n] | all(
      if .suspect.add then [.suspect.add] == .right - .labels else [.suspect.remove] == .labels - .right end))
    and (map(.suspect.rank) == [range(1; length + 1)])
    and any(.[]; .suspect.add) and any(.[]; .suspect.remove) and all(.suspect | has("add") != has("remove"))
    and (map(if .suspect.add then 1 - .suspect.probs[.suspect.add] else .suspect.probs[.suspect.remove] end) as $own
      | [range(length) as $i | .[$i].suspect.margin - 1 + 2 * $own[$i] | fabs] | max < 1e-6)' list.jsonl
  find_wrong -j 3 train.jsonl | cmp - list.jsonl
  # What nothing speaks against is not listed, however many are asked for.
  [ "$(find_wrong --suspects 1000000 train.jsonl | wc -l)" -lt 400 ]
}

@test "wrong labels: of several labels as a table" {
  several 150 >train.jsonl
  find_wrong --suspects 4 --suspects-format csv train.jsonl >list.csv
  [ "$(head -n 1 list.csv)" = 'rank,id,change,label,margin,p_label,text' ]
  [ "$(wc -l <list.csv)" = 5 ]
  [ "$(grep -cE '^[1-4],[0-9]+,(add,(wet|warm|white),[0-9.]+,0[.][5-9]|remove,(wet|warm|white),[0-9.]+,0[.][0-4]|remove,(wet|warm|white),[0-9.]+,[0-9.]+e-)' list.csv)" = 4 ]
}

@test "wrong labels: groups stay in one fold, ids without a vocabulary are read" {
  wrong 120 | jq -c '.author = .id % 40' >train.jsonl
  find_wrong --dev-group author --suspects 3 train.jsonl >groups
  find_wrong --dev-alike --suspects 3 train.jsonl >alike
  [ "$(wc -l <groups)" = 3 ]
  [ "$(wc -l <alike)" = 3 ]
  for i in {1..60}; do
    printf '{"ids":[%d,%d,9],"label":"%d"}\n' $((i % 2)) $((2 + i % 5)) $((i == 20 ? 1 : i % 2))
  done >ids.jsonl
  find_wrong ids.jsonl >list
  jq -es 'length == 1 and .[0].suspect.line == 20 and .[0].suspect.suggested == "0"' list
}

@test "wrong labels: what cannot be judged is said" {
  documents 20 12 >train.jsonl
  refused 2 '--find-wrong-labels writes a list, and no model' ran-train classify --find-wrong-labels -o x.ran train.jsonl
  refused 2 '--find-wrong-labels judges each document by a model of the others' \
    ran-train classify --find-wrong-labels --dev train.jsonl train.jsonl
  refused 2 '--folds is for --find-wrong-labels' ran-train classify --folds 3 -o x.ran train.jsonl
  refused 2 '--find-wrong-labels is for ran-train classify' ran-train tag --find-wrong-labels train.jsonl
  refused 2 '20 documents do not make 30 folds' find_wrong --folds 30 train.jsonl
  jq -c '.label = "a"' train.jsonl >one.jsonl
  refused 3 'training needs at least two' find_wrong one.jsonl
  [ -z "$(find . -name 'ran.??????')" ]
}

@test "wrong labels: temporary files go, also when a signal ends it" {
  mkdir temporary
  documents 20000 60 >train.jsonl
  TMPDIR=$PWD/temporary ran-train classify -j 1 --base none --find-wrong-labels train.jsonl >list 2>said &
  local pid=$! i status=0
  for ((i = 0; i < 3000; i++)); do
    grep -qs 'fold 2' said && break
    sleep 0.02
  done
  kill -INT "$pid"
  wait "$pid" || status=$?
  [ "$status" = 130 ]
  grep -q interrupted said
  [ -z "$(ls temporary)" ]
  [ ! -s list ]
}
