#!/usr/bin/env bats
# share/models: how the corpus of the base model is made, on texts invented here.

bats_require_minimum_version 1.5.0

setup() {
  models=$(cd "$BATS_TEST_DIRNAME/../../share/models" && pwd)
  cd "$BATS_TEST_TMPDIR"
  export LC_ALL=C
}

# words FIRST LAST: so many different words.
words() {
  seq -f 'w%g' -s ' ' "$1" "$2"
}

parts() {
  [ -x parts ] || ${CC:-cc} -O1 -o parts "$models/parts.c" -lcjson
  ./parts "$@"
}

@test "base-model: articles become JSON lines, without tags and character references" {
  {
    printf '<doc id="1" url="x" title="A">\nA\n\nFish &amp; "chips" &lt;br&gt; C:\\dir\t%s\n</doc>\n' "$(words 1 40)"
    printf '<doc id="2" url="x" title="B">\nshort\n</doc>\n'
  } | awk -f "$models/wiki2jsonl.awk" >out.jsonl
  [ "$(wc -l <out.jsonl)" -eq 1 ]
  [ "$(jq -r .text out.jsonl)" = "A
Fish & \"chips\"   C:\\dir $(words 1 40)" ]
}

@test "base-model: books become JSON lines, without the marks of Markdown" {
  printf '\036\n# One\n\n*It* was _late_ \\o/.\n---\n%s\n\036\nshort\n\036\n## Two "q"\n%s\n' "$(words 1 40)" "$(words 1 40)" |
    awk -f "$models/book2jsonl.awk" >out.jsonl
  [ "$(jq -r .text out.jsonl)" = "One
It was late \\o/.
$(words 1 40)
Two \"q\"
$(words 1 40)" ]
}

@test "base-model: texts are cut into parts at the ends of lines" {
  printf '{"text":"%s\\n%s\\n%s"}\n' "$(words 1 30)" "$(words 31 60)" "$(words 61 90)" >in.jsonl
  parts 50 -- in.jsonl >out.jsonl 2>err
  [ "$(jq -r '.text | split("\n") | map(split(" ")[0]) | join(" ")' out.jsonl)" = "w1 w31
w61" ]
  grep -q 'in.jsonl: 1 texts, 2 parts, 0 left out for an overlap, 2 kept with 90 words' err
}

@test "base-model: a long line is cut after a sentence" {
  printf '{"text":"%s. %s. %s."}\n' "$(words 1 30)" "$(words 31 60)" "$(words 61 90)" >in.jsonl
  parts 25 -- in.jsonl >out.jsonl 2>err
  [ "$(jq -r '.text | split(" ") | "\(first) \(last)"' out.jsonl)" = "w1 w60.
w61 w90." ]
}

@test "base-model: texts that share eight words with a test set are left out" {
  for first in 1 31; do printf '{"text":"%s"}\n' "$(words $first $((first + 29)))"; done >in.jsonl
  printf '{"text":"W5, w6 (w7) w8 w9 w10 w11 - W12"}\n' >eight.jsonl
  printf '{"text":"w5 w6 w7 w8 w9 w10 w11"}\n' >seven.jsonl
  printf '{"tokens":["a","w40","w41","w42","w43","w44","w45","w46","w47"]}\n' >tokens.jsonl
  printf '{"source":"none","target":"w5 w6 w7 w8 w9 w10 w11 w12"}\n' >pair.jsonl
  first() { parts 800 "$1" -- in.jsonl 2>/dev/null | jq -r '.text | split(" ")[0]' | tr '\n' ' '; }
  [ "$(first eight.jsonl)" = "w31 " ]
  [ "$(first seven.jsonl)" = "w1 w31 " ]
  [ "$(first tokens.jsonl)" = "w1 " ]
  [ "$(first pair.jsonl)" = "w31 " ]
}

@test "base-model: what cannot be read is told, and ends with 1" {
  echo '{"text":' >bad.jsonl
  run -1 --separate-stderr parts 800 -- bad.jsonl
  [ "${stderr_lines[-1]}" = "parts: a line is not JSON: bad.jsonl" ]
  run -1 --separate-stderr ./parts 800 -- none.jsonl
  [ "${stderr_lines[-1]}" = "parts: cannot open: none.jsonl" ]
  run -1 --separate-stderr ./parts
  [[ $stderr == "parts: usage: parts WORDS "* ]]
}

@test "base-model: the Makefile says each step, from the sources to the files" {
  make -n -C "$models" WORK="$PWD/work" TESTS=test.jsonl english-tags.ran >steps
  for step in 'cat-file --batch' 'wiki2jsonl.awk' 'book2jsonl.awk' 'parts 800 test.jsonl -- ' 'ran-tokenize learn' 'fasttext cbow' 'ran-train mlm' 'ran-train convert'; do
    grep -qF -e "$step" steps
  done
  make -n -C "$models" WORK="$PWD/work" TESTS=test.jsonl TEACHER=bge english.ran >steps
  for step in 'corpus.py text' '-DSHORT=3' 'short-parts 2000 test.jsonl -- ' 'segments.py cut' 'bge/tokenizer.json' 'train.py --teacher bge' 'ran-train convert'; do
    grep -qF -e "$step" steps
  done
}

@test "base-model: texts are read at the commit of their repository, each once, old versions too [all]" {
  command -v python3 >/dev/null || skip 'no python3'
  mkdir -p hub/quankiquanki hub/jeremybmerrill work/text
  git init -q hub/quankiquanki/skytrax-reviews-dataset
  git init -q hub/jeremybmerrill/scotuslm
  export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x
  committed() { git -C "$1" add -A && git -C "$1" commit -qm x && git -C "$1" rev-parse HEAD; }
  cd hub/quankiquanki/skytrax-reviews-dataset
  mkdir data
  printf 'name,content\na,"The lounge was &amp;quot;full&amp;quot;<br/>and  it was loud\r\nfor all of us."\nb,Der Sitz war schmal und hart und nichts wert.\n' >data/lounge.csv
  printf 'name,content\nc,THE lounge was full and it was loud for all of us\nd,"The seat is good, and very wide, and it is soft."\n' >data/seat.csv
  printf 'content\n"The airline of the other file is not read at all, as it was."\n' >data/airline.csv
  reviews=$(committed .)
  echo later >data/seat.csv
  committed .
  cd ../../jeremybmerrill/scotuslm
  mkdir -p opinions/a
  printf 'Cite as 1\n%s\n' "It is the opinion of $(words 1 50) that this was not so." >opinions/a/b.txt
  cp opinions/a/b.txt opinions/a/b.raw.txt
  committed .
  git rm -rq opinions
  echo gone >README
  opinions=$(committed .)
  cd ../../..
  cat >extract.py <<END
import sys
sys.path.insert(0, "$models")
import corpus
corpus.COMMITS = {"quankiquanki/skytrax-reviews-dataset": "$reviews", "jeremybmerrill/scotuslm": "$opinions"}
sys.argv = ["corpus.py", *sys.argv[1:]]
corpus.main()
END
  GITHUB=file://$PWD/hub python3 extract.py get work
  [ "$(git -C work/skytrax-reviews-dataset rev-list --count "$reviews")" -eq 1 ]
  python3 extract.py text work skytrax scotus_opinions
  diff <(jq -r .text work/text/skytrax.jsonl) - <<'END'
The lounge was "full"
and it was loud
for all of us.
The seat is good, and very wide, and it is soft.
END
  [ "$(jq -r .text work/text/scotus_opinions.jsonl)" = "It is the opinion of $(words 1 50) that this was not so." ]
  run -1 env GITHUB="file://$PWD/none" python3 extract.py get none
  [[ ${lines[-1]} != Traceback* ]]
}

@test "base-model: glosses of WordNet become texts, words in front; a missing file is a sentence" {
  command -v python3 >/dev/null || skip 'no python3'
  mkdir work wordnet
  {
    for _ in {1..29}; do echo '  licence'; done
    echo '00001740 00 a 02 able 0 fit_for(p) 0 001 = 05200169 n 0000 | having the means; "able to swim"  '
    echo '00002098 00 a 0b a1 0 a2 0 a3 0 a4 0 a5 0 a6 0 a7 0 a8 0 a9 0 aa 0 ab 0 000 | eleven words'
  } >wordnet/data.adj
  run -1 env WORDNET=wordnet python3 "$models/corpus.py" text work wordnet_glosses
  [[ $output == "corpus.py: "*"No such file or directory: 'wordnet/data.noun'" ]]
  touch wordnet/data.{noun,verb,adv}
  WORDNET=wordnet python3 "$models/corpus.py" text work wordnet_glosses
  diff <(jq -r .text work/text/wordnet_glosses.jsonl) - <<'END'
able, fit for: having the means; "able to swim"
a1, a2, a3, a4, a5, a6, a7, a8, a9, aa, ab: eleven words
END
}

@test "base-model: texts become segments of sentences, and long ones whole; no short window ends one [all]" {
  command -v python3 >/dev/null || skip 'no python3'
  for i in $(seq 100); do printf '{"text":"%s. %s! %s"}\n' "$(words 1 90)" "$(words 1 20)" "$(words 1 "$i")"; done >parts.jsonl
  python3 "$models/segments.py" cut <parts.jsonl >segments.jsonl
  [ "$(jq -r .text segments.jsonl | tr '\n' ' ' | wc -w)" -eq "$(jq -r .text parts.jsonl | wc -w)" ]
  [ "$(wc -l <segments.jsonl)" -gt 200 ]
  jq -e 'select(.text | test("[.] w1 w2.*! w1 "))' segments.jsonl >/dev/null
  for n in 2 3 128 143 144 145 159 160 270 272 511 1019 1020 2039 2041; do
    jq -nc --argjson n "$n" '{id: "x", encoding: {pieces: ["a"], ids: [range($n)], offsets: [[0, 1]]}}'
  done | python3 "$models/segments.py" pack out
  [ "$(od -An -tu2 -v -w2 out.lengths | tr -d ' ' | paste -s -d ' ')" = '3 128 143 144 145 159 160 256 272 510 510 1020 1020 2040' ]
  [ "$(wc -c <out.ids)" -eq $((2 * (3 + 128 + 143 + 144 + 145 + 159 + 160 + 256 + 272 + 510 + 510 + 1020 + 1020 + 2040))) ]
  [ "$(od -An -tu2 -v -w2 -j 6 out.ids | sed -n '128p;129p' | paste -s -d ' ' | tr -s ' ')" = ' 127 0' ]
}

@test "base-model: without PyTorch check says what it needs" {
  command -v python3 >/dev/null || skip 'no python3'
  mkdir stub
  echo 'raise ImportError("no torch here")' >stub/torch.py
  PYTHONPATH=$PWD/stub run -1 python3 "$models/check.py" english.ran
  [ "$output" = 'check.py: no torch here: make check needs a Python with PyTorch and numpy: make check PYTHON=python3' ]
}

@test "base-model: english says what it learned from, and README, Makefile and file agree" {
  "$RAN_BIN/ran-train" info -q --format json "$models/english.ran" >about.json
  jq -r '.training.train.sources[]' about.json | sort >sources
  [ "$(wc -l <sources)" -eq 22 ]
  make -pn -C "$models" WORK="$PWD/work" english.ran 2>/dev/null | sed -n 's/^SOURCES = //p' | tr -s ' \\' '\n' | grep . | sort | diff sources -
  sed -n 's/^| `\([a-z_]*\)`.* | [0-9,]* | [0-9.]* M |$/\1/p' "$models/README.md" | sort | diff sources -
  digest=$(jq -r .digest about.json)
  grep -qF "$digest" "$models/README.md"
  # The digest is that of the data.
  tail -c +$((9 + $(od -An -tu8 -N8 "$models/english.ran"))) "$models/english.ran" | sha256sum | grep -q "^$digest "
  jq -e '.training | .teacher.pretrained.name == "bge-small-en-v1.5" and .seconds == 565 and .distilled.cosine == 0.8998' about.json
  "$RAN_BIN/ran-train" info "$models/english.ran" | grep -q '^teacher  *bge-small-en-v1.5, licence mit$'
}

@test "base-model: english finds texts of the same subject, and opinions; it fills in no tokens" {
  export RAN_MODELS=$models
  printf '{"id":"%s","text":"%s"}\n' cat 'The kitten sleeps on the sofa.' law 'The court dismissed the appeal.' \
    food 'This soup tastes wonderful.' bad 'What a waste of money.' >all.jsonl
  printf '{"text":"%s"}\n' 'A judge heard the lawyers.' 'A dog is a pet that barks.' 'The dinner was delicious!' \
    'I want a refund, it broke on the first day.' |
    "$RAN_BIN/ran-classify" -q -m english --nearest 1 --among all.jsonl | jq -r '.prediction.nearest[0].id' >found
  [ "$(tr '\n' ' ' <found)" = 'law cat food bad ' ]
  run -3 "$RAN_BIN/ran-lm" fill -m english <<<'{"text":"a [MASK] day"}'
  [[ $output == *'english: this model gives vectors of documents: use ran-classify --embed (a model that predicts masked tokens is needed here)' ]]
}
