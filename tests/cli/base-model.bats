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

@test "base-model: the Makefile says each step, from the sources to the file" {
  run make -n -C "$models" WORK="$PWD/work" TESTS=test.jsonl english.ran
  [ "$status" -eq 0 ]
  for step in 'cat-file --batch' 'wiki2jsonl.awk' 'book2jsonl.awk' 'parts 800 test.jsonl -- ' 'ran-tokenize learn' 'fasttext cbow' 'ran-train mlm' 'ran-train convert'; do
    [[ $output == *"$step"* ]]
  done
}

@test "base-model: the Makefile says how the vectors are made" {
  run make -n -C "$models" WORK="$PWD/work" TESTS=test.jsonl TEACHER=minilm english-vectors.ran
  [ "$status" -eq 0 ]
  for step in 'cat-file --batch' 'wordnet2txt.awk' '-DSHORT=3' 'short-parts 25 test.jsonl -- ' 'ran-train distil --teacher minilm'; do
    [[ $output == *"$step"* ]]
  done
}

@test "base-model: glosses of WordNet become lines, words in front" {
  {
    for _ in {1..29}; do echo '  licence'; done
    echo '00001740 00 a 02 able 0 fit_for(p) 0 001 = 05200169 n 0000 | having the means; "able to swim"  '
    echo '00002098 00 a 0b a1 0 a2 0 a3 0 a4 0 000 | eleven words'
  } | awk -f "$models/wordnet2txt.awk" >out
  diff out - <<<'able, fit for: having the means; "able to swim"  
a1, a2, a3: eleven words'
}

@test "base-model: english-vectors finds texts of the same subject" {
  [ -e "$models/english-vectors.ran" ]
  printf '{"id":"%s","text":"%s"}\n' cat 'The kitten sleeps on the sofa.' law 'The court dismissed the appeal.' \
    food 'This soup tastes wonderful.' >all.jsonl
  printf '{"text":"%s"}\n' 'A judge heard the lawyers.' 'A dog is a pet that barks.' 'The dinner was delicious!' |
    RAN_MODELS=$models "$RAN_BIN/ran-classify" -q -m english-vectors --nearest 1 --among all.jsonl |
    jq -r '.prediction.nearest[0].id' >found
  [ "$(tr '\n' ' ' <found)" = 'law cat food ' ]
}
