#!/usr/bin/env bats
# share/: recipes and examples, as somebody uses them who found them there.

bats_require_minimum_version 1.5.0

setup() {
  share=$(cd "$BATS_TEST_DIRNAME/../../share" && pwd)
  bin=${RAN_BIN:-$(cd "$share/.." && pwd)/build}
  PATH=$bin:$share/examples:$PATH
  cd "$BATS_TEST_TMPDIR"
}

# weather: records that hardly any model could get wrong.
weather() {
  for word in wet dry; do
    for i in 1 2 3 4 5 6 7 8; do
      echo "{\"id\":\"$word$i\",\"text\":\"$word $word day, number $i\",\"label\":\"$word\"}"
    done
  done
}

# ---- text2jsonl ----------------------------------------------------------------------------------

@test "text2jsonl: every byte of a text comes through JSON" {
  printf 'a "b" \\ \\n /\t\001\037\177 \303\251 \360\237\230\200\r\n\nlast' >'odd "name".txt'
  text2jsonl 'odd "name".txt' >out.jsonl
  jq -j .text out.jsonl >back
  printf 'a "b" \\ \\n /\t\001\037\177 \303\251 \360\237\230\200\r\n\nlast\n' | cmp - back
  [ "$(jq -r .id out.jsonl)" = 'odd "name".txt' ]
}

@test "text2jsonl: bytes that are not UTF-8, and NUL, are left out" {
  printf 'a\377b\000c\303\n' >bad.txt
  [ "$(text2jsonl bad.txt | jq -c .)" = '{"id":"bad.txt","text":"abc\n"}' ]
}

@test "text2jsonl: a folder is a label; names that look like something else are names" {
  mkdir -p 'top/two words'
  echo one >'top/two words/x=1.txt'
  echo two >y=2
  echo three >-
  run -0 text2jsonl -l 'top/two words/x=1.txt'
  [ "$output" = '{"id":"top/two words/x=1.txt","label":"two words","text":"one\n"}' ]
  run -0 text2jsonl y=2 ./-
  [ "${lines[0]}" = '{"id":"y=2","text":"two\n"}' ]
  [ "${lines[1]}" = '{"id":"-","text":"three\n"}' ]
}

@test "text2jsonl: misuse and files that cannot be read" {
  run -2 text2jsonl
  run -1 --separate-stderr text2jsonl nowhere.txt
  [ -z "$output" ]
  [ "$stderr" = 'text2jsonl: cannot read: nowhere.txt' ]
}

# ---- recipes and examples ------------------------------------------------------------------------

@test "recipes: ran-train takes each of them" {
  weather >train.jsonl
  for recipe in "$share"/recipes/*.json; do
    verb=classify
    [[ $recipe != */language-model* ]] || verb=lm
    ran-train $verb --config "$recipe" --dry-run train.jsonl
    grep -qF "\`$(basename "$recipe")\`" "$share/recipes/README.md"
  done
}

@test "examples: make trains, reports and labels, and does nothing twice" {
  weather >train.jsonl
  weather >test.jsonl
  weather | jq -c 'del(.label)' >news.jsonl
  echo '{"epochs":2,"dim":8,"heads":1,"head_dim":8}' >tiny.json
  make -f "$share/examples/classify.mk" CONFIG=tiny.json
  grep -q '^accuracy' report.txt
  make -f "$share/examples/classify.mk" CONFIG=tiny.json news.labelled.jsonl
  [ "$(jq -r 'select(.prediction.label) | .id' news.labelled.jsonl | wc -l)" -eq 16 ]
  run -0 make -f "$share/examples/classify.mk" CONFIG=tiny.json
  [[ $output == *'up to date'* ]]
}

@test "examples: GNU parallel gives what one process gives" {
  parallel --version 2>/dev/null | grep -q GNU || skip 'no GNU parallel'
  weather >train.jsonl
  ran-train classify -q --epochs 1 --dim 8 --heads 1 --head-dim 8 -o "a model.ran" train.jsonl
  ran-classify -m "a model.ran" train.jsonl >one.jsonl
  parallel-classify "a model.ran" train.jsonl --block 200 >many.jsonl
  cmp one.jsonl many.jsonl
}
