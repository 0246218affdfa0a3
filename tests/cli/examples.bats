#!/usr/bin/env bats
# share/: recipes and examples, as somebody uses them who found them there.

bats_require_minimum_version 1.5.0
load compare.bash

setup() {
  share=$(cd "$BATS_TEST_DIRNAME/../../share" && pwd)
  bin=${RAN_BIN:-$(cd "$share/.." && pwd)/build}
  PATH=$bin:$share/examples:$PATH
  cd "$BATS_TEST_TMPDIR"
  unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests
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
  printf 'a "b" \\ \\n /\t\001\037\177 \303\251 \360\237\230\200\r\n\nlast' | cmp - back
  [ "$(jq -r .id out.jsonl)" = 'odd "name".txt' ]
}

@test "text2jsonl: texts that are not UTF-8 lost their letters" {
  printf 'Gr\303\274\303\237e \360\237\230\200, a line\n' >good.txt
  for code in UTF-16 UTF-16LE UTF-16BE UTF-32 UTF-32LE UTF-32BE; do
    iconv -f UTF-8 -t $code good.txt >$code.txt
    printf 'plain text\nof ASCII\n' | iconv -f UTF-8 -t $code >plain.txt
    run -1 --separate-stderr text2jsonl plain.txt
    [[ -z $output && $stderr == *"plain.txt:1: the file is text in UTF-"*"iconv -f $code -t UTF-8 FILE"* ]]
    run -1 --separate-stderr text2jsonl $code.txt good.txt
    [ "$output" = "$(text2jsonl good.txt)" ]
    [[ $stderr == *"$code.txt:1: the file is text in UTF-"* ]]
  done
  { printf '\000\000\376\377' && cat UTF-32BE.txt; } >mark.txt
  run -1 --separate-stderr text2jsonl mark.txt
  [[ -z $output && $stderr == *'mark.txt:1: the file is text in UTF-32'* ]]
  printf 'one\na \355\240\275\355\270\200 b\n' >pair.txt # both halves in UTF-8
  printf 'one\nx \355\240\275\n' >half.txt
  printf 'one\nb\374cher\n' >latin.txt
  printf 'one\ncut \303' >cut.txt
  for file in pair half latin cut; do
    run -1 --separate-stderr text2jsonl $file.txt
    [[ -z $output && $stderr == *"$file.txt:2: column "*': this is not valid UTF-8'* ]]
  done
}

@test "text2jsonl: a byte order mark is no text; NUL, CR and an end without a line feed are" {
  printf '\357\273\277a\000b\rc\r\nd' >odd.txt
  [ "$(text2jsonl odd.txt)" = '{"id":"odd.txt","text":"a\u0000b\rc\r\nd"}' ]
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
  [ "${lines[1]}" = '{"id":"./-","text":"three\n"}' ]
}

@test "text2jsonl: a label was '.' or nothing where the name does not say the folder" {
  mkdir -p top/wet
  echo one >top/wet/1
  cp top/wet/1 x
  for name in top//wet//1 top/wet/./1 ./top/wet/1; do
    [ "$(text2jsonl -l "$name" | jq -r .label)" = wet ]
  done
  cd top/wet
  for name in 1 ./1 .//1 ../../x; do
    run -1 --separate-stderr text2jsonl -l "$name"
    [ -z "$output" ]
    [[ $stderr == *"$name:1: --folder-label: the path of the file has no folder"* ]]
    text2jsonl "$name"
  done
}

@test "text2jsonl: misuse and files that cannot be read" {
  run -2 text2jsonl
  run -2 text2jsonl -l
  run -3 --separate-stderr text2jsonl nowhere.txt
  [ -z "$output" ]
  [[ $stderr == *'cannot open nowhere.txt: No such file or directory' ]]
}

# ---- recipes and examples ------------------------------------------------------------------------

@test "recipes: ran-train takes each of them [all]" {
  weather >train.jsonl
  printf '%s\n' 'sun 1 2 3' 'fog 3 2 1' 'wet 1 0 1' >vectors.txt
  weather | jq -c '{source: .text, target: .label}' >pairs.jsonl
  for recipe in "$share"/recipes/*.json; do
    verb=classify
    vectors=()
    data=train.jsonl
    [[ $recipe != */language-model* && $recipe != */translation* ]] || verb=lm
    [[ $recipe != */word-vectors* ]] || vectors=(--vectors vectors.txt)
    [[ $recipe != */translation* ]] || data=pairs.jsonl
    ran-train $verb --config "$recipe" "${vectors[@]}" --dry-run $data
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

# tiny_model NAME [OPTION...]: of weather, knows next to nothing but is quick
tiny_model() {
  weather >train.jsonl
  ran-train classify -q --epochs 2 --dim 8 --heads 1 --head-dim 8 -o "$@" train.jsonl
}

@test "examples: make labels in parts, and does again what a change asks for" {
  weather >train.jsonl
  cp train.jsonl test.jsonl
  weather | jq -c 'del(.label)' >news.jsonl
  echo '{"epochs":2,"dim":8,"heads":1,"head_dim":8}' >tiny.json
  mk() { make -f "$share/examples/classify.mk" CONFIG=tiny.json "$@"; }
  mk model.ran
  ran-classify -m model.ran news.jsonl >whole
  mk -j 2 SHARDS=3 news.labelled.jsonl
  cmp whole news.labelled.jsonl
  [ -z "$(find . -name 'news.part-*')" ]
  # A change of the documents is a new model, one of the test documents a new report only.
  mk
  touch test.jsonl
  run -0 mk -n
  [[ $output == *--eval* && $output != *ran-train* ]]
  touch train.jsonl
  run -0 mk -n
  [[ $output == *'ran-train classify'*--check*'ran-train classify'*--eval* ]]
  # Unsound data end it before the training.
  rm -f model.ran
  echo '{"text":"a","label":7.5}' >train.jsonl
  run mk
  [ "$status" -ne 0 ]
  [ ! -e model.ran ] && [ ! -e report.new ]
}

@test "examples: several processes give what one gives, errors and all" {
  tiny_model "a model.ran"
  { weather; echo 'no record'; weather; } >in.jsonl
  run -1 --separate-stderr shard-classify "a model.ran" 3 in.jsonl train.jsonl
  ran-classify -q -m "a model.ran" in.jsonl train.jsonl 2>/dev/null | cmp - <(echo "$output")
  [[ $stderr == *'in.jsonl:17: '* ]]
  run -3 --separate-stderr shard-classify nowhere.ran 2 in.jsonl
  [ -z "$output" ]
  run -2 shard-classify
}

@test "examples: label-all labels changed files, and skips unreadable ones [all]" {
  tiny_model model.ran
  mkdir -p in/b
  weather >in/a.jsonl
  weather | gzip >'in/b/c d.jsonl.gz'
  label-all model.ran in out --drop text
  jq -se 'length == 16 and all(.prediction and (has("text") | not))' out/a.jsonl
  cmp out/a.jsonl 'out/b/c d.jsonl'
  touch -d '1 hour ago' in/a.jsonl model.ran
  touch -r out/a.jsonl before
  label-all model.ran in out
  [ ! out/a.jsonl -nt before ]
  touch -d '1 second' in/a.jsonl
  echo '[]' >>in/b/e.jsonl
  run -1 label-all model.ran in out
  [ out/a.jsonl -nt before ]
  jq -e .ran_error out/b/e.jsonl
  ln -s nowhere in/b/f.jsonl
  run -3 label-all model.ran in out
  [[ $output == *'in/b/f.jsonl could not be labelled (status 3)'* ]]
  run -2 label-all
}

@test "examples: label-all labelled its own results, and nothing behind a link [all]" {
  tiny_model model.ran
  mkdir -p all/in
  cd all
  weather >in/a.jsonl
  for _ in 1 2 3; do
    label-all ../model.ran in in/out
    label-all ../model.ran . in/out
    touch -d '1 minute' in/a.jsonl
  done
  [ "$(cd in && find . -name '*.jsonl' | sort | paste -sd ' ')" = './a.jsonl ./out/a.jsonl ./out/in/a.jsonl' ]
  run -2 label-all ../model.ran in ./in
  [[ $output == 'label-all: the results need another folder than their sources' ]]
  cmp in/a.jsonl <(weather)
  ln -s in link
  run -2 label-all ../model.ran link in
  rm -r in/out
  label-all ../model.ran link out
  [ -s out/a.jsonl ]
}

@test "examples: label-all took what could be unpacked of a damaged file for all of it" {
  tiny_model model.ran
  mkdir in
  for i in 1 2 3 4 5 6 7 8; do weather | sed "s/number/number $i/"; done | gzip >in/a.jsonl.gz
  truncate -s -60 in/a.jsonl.gz
  weather >in/b.jsonl
  run -3 label-all model.ran in out
  [[ $output == *'in/a.jsonl.gz could not be labelled (status 3)'* ]]
  [ "$(echo out/*)" = out/b.jsonl ]
  run -3 label-all model.ran nowhere out
}

@test "examples: of a number that is none came no results, and no failure" {
  tiny_model model.ran --wide 0
  weather >in.jsonl
  for n in 0 x -1 2x ''; do
    run -2 --separate-stderr shard-classify model.ran "$n" in.jsonl
    [[ -z $output && $stderr == "shard-classify: N is a number of processes, from 1 on, not \"$n\"" ]]
    run -2 --separate-stderr near-duplicates in.jsonl "$n"
    [[ -z $output && $stderr == *'--least must be a number from 0.1 to 1'* ]]
    run -2 --separate-stderr near-duplicates -m model.ran in.jsonl "${n/#[0-]*/0,5}"
    [[ -z $output && $stderr == *'--least must be a number from -1 to 1'* ]]
  done
  touch vocab.json check.txt model.ran
  for n in 0 x -1; do
    run -2 --separate-stderr make -f "$share/examples/classify.mk" SHARDS=$n in.labelled.jsonl
    [[ $stderr == *"SHARDS is a number of processes, from 1 on, not \"$n\""* ]]
    [ ! -e in.labelled.jsonl ]
  done
}

@test "examples: shard-classify left its processes behind when it was ended" {
  # The processes say themselves that they were ended: what has ended may keep its number until
  # somebody asks for its status.
  mkdir slow
  cat >slow/ran-classify <<'END'
#!/bin/sh
trap 'kill $!; echo $$ >>ended; exit 1' TERM
sleep 100 &
echo $$ >>began
wait
END
  chmod +x slow/ran-classify
  : >began
  : >ended
  PATH=$PWD/slow:$PATH shard-classify model.ran 2 in.jsonl >out 3>&- &
  for ((i = 0; i < 500 && $(wc -l <began) < 2; i++)); do sleep 0.02; done
  kill -TERM $!
  status=0
  wait $! || status=$?
  [ $status -eq 143 ]
  for ((i = 0; i < 500 && $(wc -l <ended) < 2; i++)); do sleep 0.02; done
  same_output "sort began" "sort ended"
}

@test "examples: route puts every line into a file, byte for byte" {
  cat >in.jsonl <<'END'
{"n":1.50, "prediction":{"label":"a/b"}}
{"n":12345678901234567890,"prediction":{"label":null}}
{"prediction":{"label":".."}}
{"ran_error":{"message":"m"},"n":4}
{"prediction":{"labels":[{"label":"x"},{"label":"unclear"}]},"n":5}
{"prediction":{"labels":[]},"n":6}
{"prediction":{"label":"a/b"},"t":"tab\\there"}
no record
END
  route "to here" <in.jsonl
  (cd 'to here' && find . -type f | LC_ALL=C sort | tr '\n' ' ') >files
  [ "$(cat files)" = './errors.jsonl ./label/...jsonl ./label/a%2Fb.jsonl ./label/unclear.jsonl ./label/x.jsonl ./unclear.jsonl ' ]
  sed -n '1p;7p' in.jsonl | cmp - 'to here/label/a%2Fb.jsonl'
  sed -n '2p;6p' in.jsonl | cmp - 'to here/unclear.jsonl'
  sed -n '4p;8p' in.jsonl | cmp - 'to here/errors.jsonl'
  sed -n '5p' in.jsonl | cmp - 'to here/label/x.jsonl'
  # From a model that abstains.
  tiny_model model.ran
  ran-classify -m model.ran --threshold 1 train.jsonl | route all
  [ "$(wc -l <all/unclear.jsonl)" -eq 16 ]
}

@test "examples: route took any member ran_error for a failure, and only an object is one" {
  printf '%s\n' '{"ran_error":"none","prediction":{"label":"a"}}' '{"ran_error":{},"n":2}' >in.jsonl
  route to <in.jsonl
  head -n 1 in.jsonl | cmp - to/label/a.jsonl
  tail -n 1 in.jsonl | cmp - to/errors.jsonl
}

@test "examples: route has more labels than files can be open" {
  awk 'BEGIN { for (i = 0; i < 900; i++) printf "{\"prediction\":{\"label\":\"%d\"},\"n\":%d}\n", i % 300, i }' >in.jsonl
  (ulimit -n 256 && route many <in.jsonl)
  [ "$(find many -type f | wc -l)" -eq 300 ]
  for label in 0 150 299; do
    grep "\"$label\"" in.jsonl | cmp - many/label/$label.jsonl
  done
  route many <in.jsonl # written over
  [ "$(cat many/label/*.jsonl | wc -l)" -eq 900 ]
  if [ -w /dev/full ]; then
    rm -r many
    mkdir -p many/label
    ln -s /dev/full many/label/7.jsonl
    run ! route many <in.jsonl # some awks say so by themselves
    [ -n "$output" ]
  fi
}

@test "examples: two models write into one record, and an error is one [all]" {
  tiny_model topic.ran
  ran-train classify -q --epochs 1 --seed 9 --dim 8 --heads 1 --head-dim 8 -o tone.ran train.jsonl
  two-models topic.ran tone.ran train.jsonl >both.jsonl
  same_output "jq -c .topic both.jsonl" "ran-classify -m topic.ran train.jsonl | jq -c .prediction"
  same_output "jq -c .tone both.jsonl" "ran-classify -m tone.ran train.jsonl | jq -c .prediction"
  run -1 --separate-stderr two-models topic.ran tone.ran <<<'{"id":1}'
  [ "$(jq -c '[.id, (.ran_error | has("message"))]' <<<"$output")" = '[1,true]' ]
  run -3 two-models nowhere.ran tone.ran train.jsonl
}

@test "examples: label-next chooses records, has them labelled, and learns more from round to round [all]" {
  weather | sed -n '1,4p;9,12p' >labelled.jsonl
  for i in {1..30}; do
    word=$([ $((i % 2)) = 0 ] && echo wet || echo dry)
    printf '{"id":"p%d","true":"%s","text":"%s day and item%d of list%d, over%d"}\n' "$i" "$word" "$word" "$i" $((i * 7)) $((i * 3))
  done >pool.jsonl
  jq -c '.label = .true' pool.jsonl >test.jsonl
  export LABEL_NEXT_OPTIONS='--base none --encoder none'
  run -0 label-next -n 5 labelled.jsonl pool.jsonl model.ran
  [ "$output" = '8 labels' ]
  [ "$(jq -s 'map(.prediction.rank) == [1, 2, 3, 4, 5]' labelled.next)" = true ]
  LABEL_NEXT_FORMAT=label-studio label-next -n 5 labelled.jsonl pool.jsonl model.ran
  jq -e 'length == 5 and all(.data.text)' labelled.next
  # A program labels them: by what only it knows.
  run -0 label-next -n 5 -r 2 -t test.jsonl -c "jq -c '.label = .true | del(.prediction)'" labelled.jsonl pool.jsonl model.ran
  [[ ${lines[0]} == '8 labels, accuracy '* ]]
  [[ ${lines[2]} == '18 labels, accuracy '* ]]
  [ "$(jq -r .id labelled.jsonl | sort | uniq -d)" = '' ]
  # Nothing is chosen twice, until nothing is left.
  run -0 label-next -n 15 -r 9 -c "jq -c '.label = .true | del(.prediction)'" labelled.jsonl pool.jsonl model.ran
  [[ $output == *'nothing is left to label'* ]]
  [ "$(jq -r .id labelled.jsonl | sort | uniq -d)" = '' ]
  run -2 label-next -n 0 labelled.jsonl pool.jsonl model.ran
  run -2 label-next labelled.jsonl pool.jsonl
}

@test "examples: near-duplicates finds the same words without a model" {
  printf '%s\n' '{"id":"a","text":"The rain in the valley fell all day and nobody went out"}' \
    '{"id":12345678901234567891,"text":"The rain in the valley fell all day and nobody went home"}' '{}' \
    '{"text":"other words"}' '{"id":["b",{"of":1}],"text":"Other words"}' >in.jsonl
  run -1 --separate-stderr near-duplicates in.jsonl 0.5
  [ "${lines[0]}" = "0.7333333333333333$(printf '\t')\"a\"$(printf '\t')12345678901234567891" ]
  [ "${lines[1]}" = "1$(printf '\t')\"in.jsonl:4\"$(printf '\t')[\"b\",{\"of\":1}]" ]
  [ ${#lines[@]} -eq 2 ]
  [[ $stderr == *in.jsonl:3* ]]
  sed 3d in.jsonl | near-duplicates - 0.8 | wc -l | grep -qx 1
  run -2 near-duplicates
  run -2 near-duplicates in.jsonl 0.5 x
  run -3 near-duplicates nowhere.jsonl
}

@test "examples: near-duplicates finds the same meaning with a model [all]" {
  tiny_model model.ran --wide 0 # with an encoder
  { weather; echo '{"id":"again","text":"wet wet day, number 1"}'; } >in.jsonl
  near-duplicates -m model.ran in.jsonl 0.99999 >pairs
  grep -qx "1$(printf '\t')\"wet1\"$(printf '\t')\"again\"" pairs
  # All pairs, each once, against jq.
  near-duplicates -m model.ran in.jsonl -1 >pairs
  [ "$(wc -l <pairs)" -eq 136 ]
  [ "$(cut -f 2,3 pairs | sort -u | wc -l)" -eq 136 ]
  ran-classify -m model.ran --embed in.jsonl | jq -s '
    def norm: map(. * .) | add | sqrt;
    map(.prediction.embedding) | ([.[0], .[3]] | transpose | map(.[0] * .[1]) | add) / (.[0] | norm) / (.[3] | norm)' >wanted
  awk '$2 == "\"wet1\"" && $3 == "\"wet4\"" { print $1 }' pairs |
    jq -se --slurpfile wanted wanted '.[0] - $wanted[0] | fabs < 1e-5'
  # A bad record is in no pair, and changes no other.
  { head -n 3 in.jsonl; echo '{}'; tail -n +4 in.jsonl; } >bad.jsonl
  run -1 --separate-stderr near-duplicates -m model.ran bad.jsonl -1
  diff pairs - <<<"$output"
  [[ $stderr == *bad.jsonl:4* ]]
  run -3 near-duplicates -m nowhere.ran in.jsonl
  run -2 --separate-stderr near-duplicates -m model.ran - <in.jsonl
  [ "$stderr" = 'near-duplicates: - is no file: with a model it is read twice' ]
}

@test "examples: near-duplicates has no other option, and -m names a model" {
  weather >in.jsonl
  for options in '-x' '-m' '--model model.ran' '-m model.ran' '-m model.ran in.jsonl 0.9 x'; do
    # shellcheck disable=SC2086
    run -2 --separate-stderr near-duplicates $options
    [[ -z $output && $stderr == *'usage: near-duplicates [-m MODEL] FILE [LEAST]' ]]
  done
  printf '{"id":"%s","text":"the rain fell all day"}\n' a b >-m.jsonl
  [ "$(near-duplicates -- -m.jsonl)" = "1$(printf '\t')\"a\"$(printf '\t')\"b\"" ]
}

@test "examples: near-duplicates paired all texts without a known word" {
  tiny_model model.ran --wide 0
  for text in '\u96ea' '\u0e44\u0e17\u0e22' '\u2603 \u2603' 'wet wet day' 'wet wet day \u96ea'; do
    printf '{"id": "%s", "text": "%s"}\n' "$((++id))" "$text"
  done >in.jsonl
  run -0 --separate-stderr near-duplicates -m model.ran in.jsonl -1
  [ "$(cut -f 2- <<<"$output")" = '"4"'$'\t''"5"' ] || { echo "$output$stderr" >&2; false; }
  [[ $stderr == *'near-duplicates: left out 3 texts without a word that model.ran knows'* ]]
  tail -n 2 in.jsonl >known.jsonl
  run -0 --separate-stderr near-duplicates -m model.ran known.jsonl -1
  [ -z "$stderr" ]
}

@test "examples: near-duplicates rounded ids that are long numbers" {
  tiny_model model.ran --wide 0
  printf '{"id": %s, "text": "it was wet"}\n' 12345678901234567891 12345678901234567892 1.50 '["a", {"prediction":{}}]' >ids.jsonl
  near-duplicates -m model.ran ids.jsonl | cut -f 2- >pairs
  printf '%s\t%s\n' 12345678901234567891 12345678901234567892 12345678901234567891 1.50 12345678901234567892 1.50 \
    12345678901234567891 '["a", {"prediction":{}}]' 12345678901234567892 '["a", {"prediction":{}}]' 1.50 '["a", {"prediction":{}}]' |
    diff - pairs
}

@test "examples: careful keeps what is good, and says what is not [all]" {
  tiny_model model.ran
  { weather; echo '{"id":12345678901234567890}'; } >in.jsonl
  run -0 --separate-stderr careful model.ran in.jsonl out.jsonl
  [[ $stderr == *'some records could not be used: see out.jsonl.errors'* ]]
  ran-classify -m model.ran train.jsonl | cmp - out.jsonl
  [ "$(cat out.jsonl.rejects)" = '{"id":12345678901234567890}' ]
  [ "$(jq .line out.jsonl.errors)" = 17 ]
  rm out.jsonl
  yes '[]' | head -n 9 >>in.jsonl
  run -3 careful model.ran in.jsonl out.jsonl
  [ ! -e out.jsonl ]
  run -3 careful nowhere.ran in.jsonl out.jsonl
  [[ $output == *'nothing was labelled (status 3)'* ]]
}

@test "examples: the README names them all" {
  for example in "$share"/examples/*; do
    name=$(basename "$example")
    [ "$name" = README.md ] || grep -qF "| \`$name\` |" "$share/examples/README.md"
  done
}

@test "examples: GNU parallel gives what one process gives [all]" {
  parallel --version 2>/dev/null | grep -q GNU || skip 'no GNU parallel'
  weather >train.jsonl
  ran-train classify -q --epochs 1 --dim 8 --heads 1 --head-dim 8 -o "a model.ran" train.jsonl
  ran-classify -m "a model.ran" train.jsonl >one.jsonl
  parallel-classify "a model.ran" train.jsonl --block 200 >many.jsonl
  cmp one.jsonl many.jsonl
}

# ---- live-pipe -----------------------------------------------------------------------------------

@test "live-pipe: each line is answered before the next is read" {
  weather >w.jsonl
  ran-train classify -q --encoder none --min-count 1 -o w.ran w.jsonl
  mkfifo questions
  live-pipe w.ran <questions >answers &
  exec {q}>questions
  for word in wet dry wet; do
    echo "\"$word\" day \\" >&"$q"
    for ((i = 0; i < 500; i++)); do
      [ "$(tail -n 1 answers)" = "$word" ] && break
      sleep 0.02
    done
    [ "$(tail -n 1 answers)" = "$word" ]
    : >answers
  done
  exec {q}>&-
  wait $!
  echo wet | live-pipe -t 3 w.ran | grep -Eqx '[0-9.]+ [0-9.]+'
}

@test "live-pipe: a line that is not UTF-8 was answered with other letters" {
  weather >w.jsonl
  ran-train classify -q --encoder none --min-count 1 -o w.ran w.jsonl
  for bytes in 'w\374t' '\355\240\275 wet' '\377\376w\000e\000t\000'; do
    run -1 --separate-stderr live-pipe w.ran < <(printf 'wet\n'"$bytes"'\ndry\t"day\r"\001\n')
    [ "$output" = $'wet\n\ndry' ]
    [[ $stderr == *'standard input:2: column '* ]]
  done
}

@test "live-pipe: a model that cannot be opened, and a wrong command" {
  run ! live-pipe none.ran <<<x
  [[ $output == *'cannot open none.ran'* ]]
  run -2 live-pipe
  [[ $output == *'usage: live-pipe MODEL'* ]]
}

@test "live-pipe: a Unix socket answers several callers" {
  command -v socat >/dev/null || skip 'no socat'
  weather >w.jsonl
  ran-train classify -q --encoder none --min-count 1 -o 'a $(w).ran' w.jsonl
  live-pipe -s socket 'a $(w).ran' &
  server=$!
  for ((i = 0; i < 500; i++)); do
    [ -S socket ] && break
    sleep 0.02
  done
  [ "$(printf 'wet day\ndry day\n' | live-pipe -c socket)" = $'wet\ndry' ]
  [ "$(echo dry | live-pipe -c socket)" = dry ]
  kill $server
  wait $server || true
}

# ---- go-on ---------------------------------------------------------------------------------------

@test "go-on: a new label is learned, and the old ones stay [all]" {
  weather >old.jsonl
  export GO_ON_OPTIONS='-q --encoder none --min-count 1'
  ran-train classify $GO_ON_OPTIONS -o old.ran old.jsonl
  for i in 1 2 3 4 5 6 7 8; do echo "{\"text\":\"hot hot day, number $i\",\"label\":\"hot\"}"; done >new.jsonl
  run -0 go-on old.ran new.jsonl new.ran old.jsonl
  { cat new.jsonl old.jsonl; } | ran-classify -m new.ran --eval | jq -e '.accuracy == 1 and .n == 24'
  # the old records are lost, and texts of their kind are not
  jq -c 'del(.label)' old.jsonl >texts.jsonl
  run -0 go-on -u old.ran new.jsonl new.ran texts.jsonl
  { cat new.jsonl old.jsonl; } | ran-classify -m new.ran --eval | jq -e '.accuracy == 1 and .n == 24'
  [ ! -e new.ran.old ]
  # one of the old labels is not among the records
  grep wet old.jsonl >wet.jsonl
  run -1 go-on old.ran new.jsonl new.ran wet.jsonl
  [[ $output == *'does not know them: dry'* ]]
  run -2 go-on old.ran new.jsonl
}
