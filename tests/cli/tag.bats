#!/usr/bin/env bats
# ran-train tag and ran-tag: tags, entities, evaluation, and what is refused.

bats_require_minimum_version 1.5.0
load train.bash

# names.ran knows who is a person (PER) and what is a town (LOC); numbers.ran has no names for
# words or tags; loose.ran has learned next to nothing.
setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN {
    split("Ann Bo Cy Dee Eve", who); split("Oslo Rome Bern", town); split("met saw left", did)
    for (i = 0; i < 90; i++) {
      a = who[i % 5 + 1]; b = who[(i * 7 + 2) % 5 + 1]; t = town[i % 3 + 1]; v = did[int(i / 2) % 3 + 1]
      printf "{\"id\":%d,\"tokens\":[\"%s\",\"Lee\",\"%s\",\"%s\",\"in\",\"%s\",\".\"],", i, a, v, b, t
      print "\"tags\":[\"B-PER\",\"I-PER\",\"O\",\"B-PER\",\"O\",\"B-LOC\",\"O\"]}"
    }
    print "{\"tokens\":[\"Ann\"],\"tags\":[\"B-PER\"]}"
    print "{\"tokens\":[\".\"],\"tags\":[\"O\"]}"
    for (i = 0; i < 9; i++) print "{\"tokens\":[\"«\",\"😀\",\"»\",\"—\",\"…\"],\"tags\":[\"O\",\"O\",\"O\",\"O\",\"O\"]}"
  }' >names.jsonl
  awk 'BEGIN { for (i = 0; i < 40; i++) printf "{\"ids\":[%d,%d,%d],\"tags\":[%d,%d,%d]}\n",
    i % 4, 5, (i + 1) % 4, i % 2, 2, (i + 1) % 2 }' >numbers.jsonl
  awk 'BEGIN { for (i = 0; i < 30; i++) printf "{\"tokens\":[\"a%d\",\"b%d\",\"c%d\"],\"tags\":[%s]}\n",
    i % 7, i % 11, i % 13, i % 2 ? "\"B-X\",\"I-X\",\"I-X\"" : "\"B-Y\",\"I-Y\",\"O\"" }' >loose.jsonl
  shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 16 --min-window 2 --no-dev --min-count 1'
  RAN_ISA=portable ran-train tag -q $shape --epochs 20 --learning-rate 0.02 -o names.ran names.jsonl
  RAN_ISA=portable ran-train tag -q $shape --epochs 8 --learning-rate 0.02 -o numbers.ran numbers.jsonl
  RAN_ISA=portable ran-train tag -q $shape --epochs 1 --learning-rate 0.0001 -o loose.ran loose.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  cp "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl .
  set -o pipefail # jq -e has nothing to say about no input
}

# tags INPUT ARGUMENT...: runs ran-tag with the first model on INPUT.
tags() {
  printf '%s\n' "$1" >input.jsonl
  shift
  run --separate-stderr ran-tag -m names.ran "$@" <input.jsonl
}

# bad_data INPUT WORDS: training from INPUT ends with 3, and a message that has WORDS.
bad_data() {
  printf '%s\n' "$1" >bad.jsonl
  run -3 --separate-stderr ran-train tag --no-dev -o bad.ran names.jsonl bad.jsonl
  [[ $stderr == *"$2"* ]] || { echo "$stderr" >&2; false; }
  [ ! -e bad.ran ]
}

# ---- predictions ---------------------------------------------------------------------------------

@test "tag: a tag for each word, and entities that count words" {
  tags '{"id":7,"tokens":["Eve","Lee","saw","Bo","in","Rome","."]}'
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  [[ $output == '{"id":7,"tokens":["Eve","Lee","saw","Bo","in","Rome","."],"prediction":{"tags":'* ]]
  [ "$(jq -c .prediction.tags <<<"$output")" = '["B-PER","I-PER","O","B-PER","O","B-LOC","O"]' ]
  [ "$(jq -c '[.prediction.entities[] | [.start, .end, .label, .text]]' <<<"$output")" = \
    '[[0,2,"PER","Eve Lee"],[3,4,"PER","Bo"],[5,6,"LOC","Rome"]]' ]
  jq -e '.prediction | keys == ["entities", "tags"]
    and (.entities | all(.score > 0.5 and .score <= 1))' <<<"$output"
}

@test "tag: entities of a text count its characters, whatever they are" {
  tags '{"text":"«Ann Lee» 😀 met\u0000 Bo — in  Rome…"}'
  [ "$status" -eq 0 ]
  [ "$(jq -c '[.prediction.entities[] | [.start, .end, .label, .text]]' <<<"$output")" = \
    '[[1,8,"PER","Ann Lee"],[17,19,"PER","Bo"],[26,30,"LOC","Rome"]]' ]
  jq -e '.text as $text | .prediction.entities | all($text[.start:.end] == .text)' <<<"$output"
}

@test "tag: words of several subwords have one tag each" {
  ran-train tag -q --vocab-type wordpiece --vocab-size 40 --min-count 1 --dim 16 --layers 1 --heads 2 \
    --head-dim 8 --window 16 --min-window 2 --no-dev --epochs 20 --learning-rate 0.02 -o subwords.ran names.jsonl
  ran-train tag --check --vocab-type wordpiece --vocab-size 40 --min-count 1 names.jsonl 2>/dev/null |
    jq -e '.tokens > 677'
  echo '{"tokens":["Ann","Lee","met","Dee","in","Oslo","."],"text":"Ann Lee met Dee in Oslo."}' >both.jsonl
  ran-tag -m subwords.ran both.jsonl | jq -e '.prediction | (.tags | length) == 7
    and [.entities[] | [.start, .end, .text]] == [[0, 2, "Ann Lee"], [3, 4, "Dee"], [5, 6, "Oslo"]]'
  jq -c 'del(.tokens)' both.jsonl | ran-tag -m subwords.ran | jq -e '.prediction | (.tags | length) == 7
    and [.entities[] | [.start, .end, .text]] == [[0, 7, "Ann Lee"], [12, 15, "Dee"], [19, 23, "Oslo"]]'
}

@test "tag: documents of one word" {
  tags '{"tokens":["Ann"]}'
  [ "$(jq -c '[.prediction.tags, .prediction.entities[0].text]' <<<"$output")" = '[["B-PER"],"Ann"]' ]
  tags '{"tokens":["."]}' --logits
  [ "$(jq -c '.prediction | [.tags, .entities, (.logits | map(length))]' <<<"$output")" = '[["O"],[],[4]]' ]
  tags '{"text":"Rome"}'
  [ "$(jq -c '.prediction.entities[0] | [.start, .end]' <<<"$output")" = '[0,4]' ]
}

@test "tag: ids are words, numbers are tags; then there are no entities" {
  echo '{"ids":[2,5,1]}' >ids.jsonl
  run -0 --separate-stderr ran-tag -m numbers.ran --logits ids.jsonl
  [ "$(jq -c '.prediction | [keys, .tags, (.logits | map(length))]' <<<"$output")" = \
    '[["logits","tags"],["0","2","1"],[3,3,3]]' ]
}

@test "tag: a vocabulary of bytes has white space in its words, entities have not [all]" {
  ran-train tag -q --vocab-type bpe --vocab-size 300 --dim 16 --layers 1 --heads 2 --head-dim 8 \
    --window 16 --min-window 2 --no-dev --epochs 20 --learning-rate 0.02 -o bytes.ran names.jsonl
  printf '%s\n' '{"tokens":["Ann","Lee","met","Bo","in","Rome","."]}' \
    '{"text":"Ann Lee met Bo in Rome."}' '{"text":"\n Ann Lee met\n\n\nBo in\tRome ."}' \
    '{"text":" \n"}' >input.jsonl
  run -1 --separate-stderr ran-tag -m bytes.ran input.jsonl
  [ "$(jq -c .prediction.tags <<<"${lines[0]}")" = '["B-PER","I-PER","O","B-PER","O","B-LOC","O"]' ]
  for i in 1 2; do
    [ "$(jq -c '[.prediction.entities[].text]' <<<"${lines[i]}")" = '["Ann Lee","Bo","Rome"]' ]
    jq -e '.text as $text | .prediction.entities | all($text[.start:.end] == .text)' <<<"${lines[i]}"
    [ "$(jq '.prediction.tags | length' <<<"${lines[i]}")" = 7 ]
  done
  [ "$(jq -r .ran_error.message <<<"${lines[3]}")" = 'the document has no tokens' ]
}

@test "tag: no sequence comes out that is impossible" {
  awk 'BEGIN { srand(3); for (i = 0; i < 60; i++) { line = ""
    for (j = 0; j < 12; j++) line = line (j ? "," : "") "\"" substr("abc", int(rand() * 3) + 1, 1) int(rand() * 13) "\""
    print "{\"tokens\":[" line "]}" } }' >random.jsonl
  ran-tag -m loose.ran --logits random.jsonl >out.jsonl
  possible='def possible: [["O"] + ., .] | transpose
    | all((.[1] // "O" | startswith("I-") | not) or (.[0][2:] == .[1][2:] and .[0] != "O"));'
  [ "$(jq -c "$possible"' .prediction.tags | possible' out.jsonl | sort -u)" = true ]
  # The best tag of each word by itself would not do.
  jq -c "$possible"' ["B-X","B-Y","I-X","I-Y","O"] as $name
    | [.prediction.logits[] | $name[index(max)]] | possible' out.jsonl | grep -q false
}

@test "tag: a long document, with any number of threads" {
  jq -c -s '{tokens: [.[].tokens[]], tags: [.[].tags[]]}' names.jsonl >long.jsonl
  ran-tag -m names.ran -j 1 long.jsonl >one.out
  ran-tag -m names.ran -j 4 long.jsonl >four.out
  cmp one.out four.out
  jq -e '.tags == .prediction.tags and (.tags | length) == 677' one.out
}

@test "tag: records that cannot be used are answered in their place" {
  printf '%s\n' '{"tokens":[]}' '{"tokens":["Ann"]}' '{"id":3,"encoding":{"vocab":"x","ids":[1]}}' \
    '{"tokens":["Ann",3]}' '{"text":"  "}' >input.jsonl
  run -1 --separate-stderr ran-tag -m names.ran input.jsonl
  [ "$(jq -c '.ran_error.message // .prediction.tags' <<<"$output")" = \
'"the document has no tokens"
["B-PER"]
"no document: give one of tokens and text (--text-member names another member)"
"\"tokens\" must be an array of strings"
"the document has no tokens"' ]
}

@test "tag: names that were never seen are known by their spelling [all]" {
  export RAN_ISA=portable
  shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 16 --min-window 2 --no-dev --min-count 1'
  awk 'BEGIN { for (i = 0; i < 90; i++) {
    n = sprintf("%c%c%s", 65 + i % 26, 97 + (i * 7) % 26, i % 2 ? "ov" : "ez")
    printf "{\"tokens\":[\"%s\",\"%c%cly\",\"saw\"],\"tags\":[\"B-PER\",\"O\",\"O\"]}\n", n, 97 + i % 26, 97 + (i * 3) % 26 } }' >spelled.jsonl
  echo '{"tokens":["Zurkov","Mondez","zzyly"],"text":"Zurkov Mondez\tzzyly"}' >new.jsonl
  ran-train tag -q $shape --epochs 20 --learning-rate 0.02 --spelling 500 -o spelled.ran spelled.jsonl
  ran-train tag -q $shape --epochs 20 --learning-rate 0.02 --spelling 0 -o unspelled.ran spelled.jsonl
  [ "$(ran-tag -m spelled.ran new.jsonl | jq -c .prediction.tags)" = '["B-PER","B-PER","O"]' ]
  [ "$(ran-tag -m unspelled.ran new.jsonl | jq -c .prediction.tags)" != '["B-PER","B-PER","O"]' ]
  jq -c 'del(.tokens)' new.jsonl | ran-tag -m spelled.ran |
    jq -e '[.prediction.entities[].text] == ["Zurkov", "Mondez"]'
  # The table has gradients, too.
  "$RAN_BIN/tests/dump-gradients" tag -o g -m spelled.ran spelled.jsonl
  grep -q '"grad.spelling.weight"' g
  # What has no spelling is refused, or trained on without.
  run -1 --separate-stderr ran-tag -m spelled.ran - <<<'{"ids":[7,8]}'
  [[ $output == *'the model reads the spelling of words, which \"ids\" lack'* ]]
  run -0 --separate-stderr ran-train tag $shape --epochs 1 --spelling 500 -o ids.ran numbers.jsonl
  [[ $stderr == *'the documents are ids, which have no spelling: give --spelling 0'* ]]
  ran-tag -m ids.ran numbers.jsonl >/dev/null
}

@test "tag: offsets in characters, bytes or UTF-16 units" {
  echo '{"text":"«😀» Ann Lee met é Bo"}' >input.jsonl
  spans() { ran-tag -m names.ran "$@" input.jsonl | jq -c '[.prediction.entities[] | [.start, .end, .text]]'; }
  [ "$(spans)" = '[[4,11,"Ann Lee"],[18,20,"Bo"]]' ]
  same_output "spans --offsets=codepoint" spans
  [ "$(spans --offsets=byte)" = '[[9,16,"Ann Lee"],[24,26,"Bo"]]' ]
  [ "$(spans --offsets=utf16)" = '[[5,12,"Ann Lee"],[19,21,"Bo"]]' ]
  # Of tokens they are counted, whatever the unit.
  tags '{"tokens":["é","Ann"]}' --offsets=byte
  [ "$(jq -c '[.prediction.entities[] | [.start, .end]]' <<<"$output")" = '[[1,2]]' ]
}

@test "tag: of a document that is cut, words that were not read have no tag" {
  sentence='{"tokens":["Ann","Lee","met","Bo","in","Rome","."]}'
  tags "$sentence" --max-tokens 3
  [ "$(jq -c '.prediction | [.tags, .truncated]' <<<"$output")" = \
    '[["B-PER","I-PER","O",null,null,null,null],{"kept":3,"of":7}]' ]
  tags "$sentence" --max-tokens 3 --truncate=tail --logits
  jq -e '.prediction | .tags[:4] == [null, null, null, null] and (.tags[4:] | all)
    and (.logits | map(length)) == [0, 0, 0, 0, 4, 4, 4] and (.entities | all(.start >= 4))' <<<"$output"
  tags "$sentence" --max-tokens 4 --truncate=head-tail
  jq -e '.prediction.tags | .[:2] == ["B-PER", "I-PER"] and .[2:5] == [null, null, null]
    and (.[5:] | all)' <<<"$output"
  tags "$sentence" --max-tokens 3 --truncate=error
  [ "$status" -eq 1 ]
  [[ $output == *'the document has 7 tokens, more than the 3 of --max-tokens'* ]]
  tags "$sentence" --max-tokens 7
  jq -e '.prediction | has("truncated") | not' <<<"$output"
  jq -c '.text = "Ann Lee met Bo in Rome." | del(.tokens)' <<<"$sentence" >text.jsonl
  ran-tag -m names.ran --max-tokens 2 --truncate=tail text.jsonl |
    jq -e '.prediction.tags | (.[:5] | all(. == null)) and (.[5:] | all)'
  # The first piece of a word stands for it: where that is cut off, the word was not read.
  tags '{"tokens":["Ann-Ann"]}' --max-tokens 1 --truncate=tail
  [[ $output == *'no word begins in the 1 tokens that truncation leaves'* ]]
  # What was not read is missed.
  jq -c '.tags = ["B-PER","I-PER","O","B-PER","O","B-LOC","O"]' <<<"$sentence" >gold.jsonl
  ran-tag -m names.ran --eval --eval-format=json --max-tokens 3 gold.jsonl |
    jq -e '.strict | .gold == 3 and .found == 1 and .correct == 1'
}

# ---- spans of a text -----------------------------------------------------------------------------

@test "tag: spans of a text are tags for its words" {
  awk 'BEGIN { split("Ann Bo Cy Dee Eve Flo", name); split("Rome Oslo Bern Kiev", town)
    for (i = 0; i < 90; i++) { a = name[i % 6 + 1]; t = town[i % 4 + 1]
      text = "«" a " Lee» went to " t "."; n = length(a); s = n + 5 + 10
      printf "{\"text\":\"%s\",\"spans\":[{\"start\":%d,\"end\":%d,\"label\":\"LOC\",\"by\":1},{\"end\":%d,\"start\":1,\"label\":\"PER\"}]}\n", text, s, s + length(t), n + 5 } }' >spans.jsonl
  shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 16 --min-window 2 --no-dev --min-count 1'
  run -0 --separate-stderr ran-train tag -q $shape --epochs 20 --learning-rate 0.02 -o spans.ran spans.jsonl
  [ -z "$stderr" ]
  ran-train tag --check spans.jsonl 2>/dev/null |
    jq -e '.tags == {"B-LOC": 90, "B-PER": 90, "I-PER": 90, "O": 450} and .bad_lines == 0'
  # What was learned comes out where it was.
  ran-tag -m spans.ran spans.jsonl | jq -se 'all(
    (.spans | map([.start, .end, .label]) | sort) == (.prediction.entities | map([.start, .end, .label])))'
  ran-tag -m spans.ran --eval --eval-format=json spans.jsonl |
    jq -e '.n == 90 and .n_skipped == 0 and .strict.gold == 180 and .strict.micro.f1 == 1 and .conlleval.f1 == 1'
  # No spans are an answer, too; null is none.
  printf '%s\n' '{"text":"we went to Rome","spans":[]}' '{"text":"a","spans":null}' >some.jsonl
  ran-tag -m spans.ran --eval --eval-format=json some.jsonl 2>/dev/null |
    jq -e '.n == 1 and .n_skipped == 1 and .strict.gold == 0'
}

@test "tag: spans of a text whose vocabulary has white space in its words" {
  for i in 1 2 3; do
    echo '{"text":"Ann Lee\n\nwent to  Rome.","spans":[{"start":0,"end":7,"label":"PER"},{"start":18,"end":22,"label":"LOC"}]}'
  done >spans.jsonl
  ran-train tag --check --vocab-type bpe --vocab-size 300 spans.jsonl 2>/dev/null |
    jq -e '.tags == {"B-LOC": 3, "B-PER": 3, "I-PER": 3, "O": 9} and .bad_lines == 0'
}

@test "tag: spans that are no words of the text are listed before training starts" {
  cat >bad.jsonl <<'EOF'
{"text":"Ann Lee went","spans":[{"start":0,"end":7,"label":"PER"}]}
{"text":"Ann Lee went","spans":[{"start":0,"end":6,"label":"PER"}]}
{"text":"Ann Lee went","spans":[{"start":1,"end":7,"label":"PER"}]}
{"text":"Ann Lee went","spans":[{"start":4,"end":7,"label":"PER"},{"start":0,"end":7,"label":"PER"}]}
{"text":"Ann Lee went","spans":[{"start":8,"end":13,"label":"PER"}]}
{"text":"Ann Lee went","spans":[{"start":4,"end":4,"label":"PER"}]}
{"text":"Ann  Lee  ","spans":[{"start":3,"end":5,"label":"PER"}]}
{"text":"Ann  Lee  ","spans":[{"start":8,"end":9,"label":"PER"}]}
{"text":"Ann","spans":[{"start":-1,"end":3,"label":"PER"}]}
{"text":"Ann","spans":[{"start":0,"end":1e99,"label":"PER"}]}
{"text":"Ann","spans":[{"start":0,"end":3}]}
{"text":"Ann","spans":[{"start":0,"end":3,"label":"PER","label":"LOC"}]}
{"text":"Ann","spans":[[0,3]]}
{"text":"Ann","spans":{"start":0,"end":3,"label":"PER"}}
{"text":"Ann","spans":[{"start":0,"end":3,"label":"a\u0000b"}]}
{"tokens":["Ann"],"spans":[{"start":0,"end":3,"label":"PER"}]}
{"text":"","spans":[]}
EOF
  cat >want <<'EOF'
2: spans[0], 0 to 6, does not start and end at words: the nearest go from 0 to 7
3: spans[0], 1 to 7, does not start and end at words: the nearest go from 0 to 7
4: spans[1], 0 to 7, overlaps spans[0]
5: spans[0], 8 to 13, is out of range: the text has 12 characters
6: spans[0], 4 to 4, is empty
7: spans[0], 3 to 5, does not start and end at words: the nearest go from 5 to 8
8: spans[0], 8 to 9, does not start and end at words: the nearest go from 5 to 8
9: start and end of spans[0] must be whole numbers
10: start and end of spans[0] must be whole numbers
11: spans[0] must be an object of start, end and label, or a list of these three
12: spans[0] must be an object of start, end and label, or a list of these three
13: spans[0] must be an object of start, end and label, or a list of these three
14: "spans" must be an array
15: a tag cannot hold U+0000
16: "spans" mark characters of a "text"; "tokens" need "tags"
17: the document has no tokens
EOF
  run -3 --separate-stderr ran-train tag --no-dev --min-count 1 -o bad.ran bad.jsonl
  sed -n 's/^ran-train: bad.jsonl:\([0-9]*: \)/\1/p' <<<"$stderr" | sort -n | diff - <(sort -n want)
  [[ $stderr == *'16 lines of the training data cannot be used'* ]]
  [ ! -e bad.ran ]
  # The same with a vocabulary, where each line is read once; and counted.
  ran-tokenize learn -q --min-count 1 -o v.json bad.jsonl 2>/dev/null || true
  run -4 --separate-stderr ran-train tag --check --vocab v.json bad.jsonl
  sed -n 's/^ran-train: bad.jsonl:\([0-9]*: \)/\1/p' <<<"$stderr" | sort -n | diff - <(sort -n want)
  jq -e '.documents == 1 and .bad_lines == 16 and .empty.at == ["bad.jsonl:17"] and .ok == false' <<<"$output"
  # To compare with, they are bad records.
  run -1 --separate-stderr ran-tag -m names.ran --eval --eval-format=json bad.jsonl
  jq -e '.n == 2 and .unknown_tags == 1' <<<"$output"
  [[ $stderr == *'bad.jsonl:4: spans[1], 0 to 7, overlaps spans[0]'* ]]
}

# columns MODEL FILE: for conlleval, word, true and predicted tag of each word
columns() {
  ran-tag -m "$1" "$2" | jq -r '([.tokens, .tags, .prediction.tags] | transpose[] | join(" ")), ""'
}

# ---- tags of no scheme ---------------------------------------------------------------------------

@test "tag: tags may be any names: parts of speech, or characters of words" {
  export RAN_ISA=portable
  shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 16 --min-window 2 --min-count 1'
  jq -c '.tags |= map({"B-PER": "NNP", "I-PER": "NNP$", "B-LOC": "E", "O": "O"}[.])' names.jsonl >pos.jsonl
  run -0 --separate-stderr ran-train tag $shape --epochs 12 --learning-rate 0.02 -o pos.ran pos.jsonl
  [[ $stderr == *'the tags mark no entities: accuracy decides which epoch is best'* ]]
  ran-tag -m pos.ran pos.jsonl | jq -se 'all(.tags == .prediction.tags and (.prediction | keys) == ["tags"])'
  run -0 --separate-stderr ran-tag -m pos.ran --eval pos.jsonl
  [[ ${lines[0]} == 'records '*' 101' && ${lines[1]} == 'words '*' 677' ]]
  [[ ${lines[2]} == 'accuracy of tags  1.0000 (95 % interval: '* && ${lines[3]} == 'baseline '*' (always O)' ]]
  columns pos.ran pos.jsonl >columns
  ran-tag -m pos.ran --eval --eval-format=json pos.jsonl |
    jq -e 'del(.baseline) == {"n": 101, "n_skipped": 0, "unknown_tags": 0, "tokens": 677, "accuracy": 1}'
  ran-tag -m pos.ran --eval --eval-format=conlleval pos.jsonl >report
  ran-tag --conlleval columns | cmp - report
  ran-tag -m numbers.ran --eval --eval-format=json numbers.jsonl | jq -e '.accuracy > 0.9'
  run -1 --separate-stderr ran-tag -m pos.ran --eval --eval-format=json pos.jsonl names.jsonl
  [[ $stderr == *'names.jsonl:1: the "tags" follow a scheme like IOB2, but those of the model follow none'* ]]
  # A slip among tags of a scheme is not taken for a new kind of tags.
  printf '%s\n' '{"tokens":["a"],"tags":["NN"]}' '{"tokens":["a","b"],"tags":["NN","O"]}' '{"tokens":["a"],"tags":["O"]}' \
    '{"tokens":["a"],"tags":["B-PER"]}' '{"tokens":["a"],"tags":[7]}' >mixed.jsonl
  run -4 --separate-stderr ran-train tag --check mixed.jsonl
  [ "$(grep -c mixed.jsonl: <<<"$stderr")" -eq 2 ]
  [[ $stderr == *'mixed.jsonl:4: the tags are of a scheme like IOB2, but names of no scheme at mixed.jsonl:1'* ]]
  [[ $stderr == *'mixed.jsonl:5: the tags are numbers, but names of no scheme at mixed.jsonl:1'* ]]
}

# ---- evaluation ----------------------------------------------------------------------------------

@test "tag: --eval prints what conlleval prints, and the strict score" {
  run -0 --separate-stderr ran-tag -q -m names.ran --eval --eval-format=conlleval names.jsonl
  [ "$output" = 'processed 677 tokens with 271 phrases; found: 271 phrases; correct: 271.
accuracy: 100.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00
              LOC: precision: 100.00%; recall: 100.00%; FB1: 100.00  90
              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  181' ]
  [ -z "$stderr" ]
  report=$output
  run -0 --separate-stderr ran-tag -m names.ran --eval names.jsonl
  [[ $output == "$report"* ]]
  [[ $output == *$'\nall  '*'1.0000  1.0000  1.0000'* ]]
  ran-tag -m names.ran --eval --eval-format=json names.jsonl |
    jq -e '.n == 101 and .n_skipped == 0 and .conlleval.f1 == 1 and .strict.micro.f1 == 1'
}

@test "tag: --eval converts other schemes before it compares" {
  jq -c '.tags |= map({"B-PER": "B-PER", "I-PER": "E-PER", "B-LOC": "S-LOC", "O": "O"}[.])' names.jsonl >other.jsonl
  ran-tag -m names.ran --eval --eval-format=json other.jsonl |
    jq -e '.conlleval.accuracy == 1 and .strict.micro.f1 == 1'
}

@test "tag: --eval counts tags that the model does not know as missed, and says where they are" {
  printf '%s\n' '{"tokens":["Ann","Lee"],"tags":["B-DOG","I-DOG"]}' '{"tokens":["Bo"],"tags":["B-PER"]}' \
    '{"tokens":["Bo"]}' >input.jsonl
  run -0 --separate-stderr ran-tag -m names.ran --eval --eval-format=json input.jsonl
  jq -e '.n == 2 and .n_skipped == 1 and .unknown_tags == 2 and .strict.gold == 2 and .strict.correct == 1' <<<"$output"
  [[ $stderr == *'input.jsonl:1: the model does not know the tag "B-DOG"'* ]]
  [[ $stderr == *'1 records have no tags'* ]]
}

@test "tag: --eval needs as many tags as words, and a record with some" {
  printf '%s\n' '{"tokens":["Ann","Lee"],"tags":["B-PER"]}' '{"tokens":["Bo"],"tags":["B-PER"]}' \
    '{"tokens":["Bo"],"tags":[1]}' '{"tokens":["Bo"],"tags":["PER"]}' >input.jsonl
  run -1 --separate-stderr ran-tag -m names.ran --eval --eval-format=json input.jsonl
  jq -e '.n == 1 and .strict.correct == 1' <<<"$output"
  [[ $stderr == *'input.jsonl:1: the document has 2 words but 1 "tags"'* ]]
  [[ $stderr == *'input.jsonl:3: the "tags" are numbers'* ]]
  [[ $stderr == *'input.jsonl:4: the "tags" follow no scheme, but those of the model follow IOB2'* ]]
  run -3 --separate-stderr ran-tag -m names.ran --eval - <<<'{"tokens":["Bo"]}'
  [[ $stderr == *'nothing to compare with'* ]]
}

@test "tag: --conlleval prints what --eval does" {
  ran-tag -m loose.ran --eval --eval-format=conlleval loose.jsonl >report
  columns loose.ran loose.jsonl >columns
  grep -q 'FB1' report
  ran-tag --conlleval columns | cmp - report
  ran-tag --conlleval <columns | cmp - report
  # A sentence ends an entity, and so does a file.
  printf 'a I-X I-X\n\nb I-X I-X\n' >first
  printf 'c I-X I-X\n' >second
  ran-tag --conlleval first second | grep -q 'processed 3 tokens with 3 phrases'
}

@test "tag: --eval --eval-format conlleval takes files of any kind" {
  ran-tag -q -m names.ran --eval --eval-format=conlleval names.jsonl >want
  gzip -c names.jsonl >names.jsonl.gz
  ran-tag -q -m names.ran --eval --eval-format conlleval names.jsonl.gz | cmp - want
  ran-tag -q -m names.ran --output-format conll names.jsonl >names.conll
  ran-tag -q -m names.ran --eval --eval-format conlleval names.conll | head -n 1 | grep -q '^processed '
  ran-tag -q -m names.ran --eval --eval-format conlleval --shard 1/2 names.jsonl | grep -q '^processed '
}

@test "tag: --conlleval refuses what the script refuses, with its status" {
  run -1 --separate-stderr ran-tag --conlleval - <<<$'a B-X B-X\nb O'
  [ -z "$output" ]
  [[ $stderr == 'unexpected number of features: 2 (3)'* ]]
  run -255 --separate-stderr ran-tag --conlleval - <<<$'a\tO\tO'
  [ -z "$output" ]
  run -3 --separate-stderr ran-tag --conlleval none
  [[ $stderr == 'ran-tag: cannot open none: '* ]]
}

# ---- training ------------------------------------------------------------------------------------

@test "train tag: other schemes are recognised and converted" {
  jq -c '.tags |= map({"B-PER": "B-PER", "I-PER": "E-PER", "B-LOC": "S-LOC", "O": "O"}[.])' names.jsonl >IOBES.jsonl
  jq -c '.tags |= map({"B-PER": "B-PER", "I-PER": "L-PER", "B-LOC": "U-LOC", "O": "O"}[.])' names.jsonl >BILOU.jsonl
  jq -c '.tags |= map(sub("B-"; "I-"))' names.jsonl >IOB1.jsonl
  ran-train tag --check names.jsonl 2>err | jq -c .tags >want
  run ! grep -q converted err
  [ "$(cat want)" = '{"B-LOC":90,"B-PER":181,"I-PER":90,"O":316}' ]
  for scheme in IOBES BILOU IOB1; do
    ran-train tag --check $scheme.jsonl 2>err | jq -c .tags >got
    grep -q "$scheme.jsonl: the tags are $scheme; they are converted to IOB2" err
    cmp want got
  done
  cat IOBES.jsonl BILOU.jsonl >both.jsonl
  run -3 --separate-stderr ran-train tag --check both.jsonl
  [[ $stderr == *'tags of two schemes'* ]]
}

@test "train tag: what cannot be learned from is named" {
  bad_data '{"tokens":["x"],"tags":["O","O"]}' 'bad.jsonl:1: 1 "tokens" but 2 "tags"'
  bad_data '{"ids":[1,2],"tags":["O"]}' 'bad.jsonl:1: 2 "ids" but 1 "tags"'
  bad_data '{"tokens":["x"]}' 'bad.jsonl:1: there are no "tags"'
  bad_data '{"text":"x","tags":["O"]}' 'bad.jsonl:1: the "tags" need an array of "tokens"'
  bad_data '{"tokens":["x"],"tags":["PER"]}' 'bad.jsonl:1: the tags are names of no scheme, but of a scheme like IOB2 at names.jsonl:1'
  bad_data '{"tokens":["x","y"],"tags":["B-PER","PER"]}' 'bad.jsonl:1: "PER" is not a tag'
  bad_data '{"tokens":["x","y"],"tags":["O",2]}' 'bad.jsonl:1: some tags are numbers'
  bad_data '{"tokens":["x"],"tags":[2]}' 'bad.jsonl:1: the tags are numbers, but of a scheme like IOB2 at names.jsonl:1'
  bad_data '{"tokens":["x"],"tags":[null]}' 'bad.jsonl:1: a tag must be a string or a number'
  bad_data '{"tokens":[],"tags":[]}' 'bad.jsonl:1: the document has no tokens'
}

@test "train tag: nothing but O cannot be learned" {
  echo '{"tokens":["x"],"tags":["O"]}' >bad.jsonl
  run -3 --separate-stderr ran-train tag --no-dev --min-count 1 -o bad.ran bad.jsonl
  [[ $stderr == *'all words have the tag "O"'* ]]
}

@test "train tag: a tag of the development data that training has not is named" {
  echo '{"tokens":["Rex","ran"],"tags":["B-DOG","O"]}' >dev.jsonl
  run -0 --separate-stderr ran-train tag --epochs 1 --dim 8 --heads 1 --head-dim 8 --dev dev.jsonl -o m.ran names.jsonl
  [[ $stderr == *'dev.jsonl:1: the training data have no tag "B-DOG"'* ]]
  [ -s m.ran ]
}

@test "train tag: numbers mark no entities, so that accuracy chooses the epoch" {
  run -0 --separate-stderr ran-train tag --epochs 2 --dim 8 --heads 1 --head-dim 8 -o m.ran numbers.jsonl
  [[ $stderr == *'accuracy decides which epoch is best'* ]]
  [[ $stderr == *'accuracy '[1-9]* ]]
}

@test "train tag: a plain cell is refused, with the reason" {
  run -2 --separate-stderr ran-train tag --cell plain -o m.ran names.jsonl
  [[ $stderr == *'cannot be tagged; use --cell gated'* ]]
}

@test "train tag: what goes with tags that are learned one by one only" {
  run -2 --separate-stderr ran-train tag --class-weights balanced -o m.ran names.jsonl
  [[ $stderr == *'one by one: crf must be off'* ]]
  run -2 --separate-stderr ran-train tag --label-smoothing 0.1 -o m.ran names.jsonl
  [[ $stderr == *'crf must be off'* ]]
  ran-train tag -q --no-crf --class-weights balanced --epochs 1 --dim 8 --heads 1 --head-dim 8 -o m.ran names.jsonl
  [ -s m.ran ]
}

@test "train tag: a linear model learns from two occurrences, by the words around" {
  export RAN_ISA=portable
  # The word before the last says what that is, and each does so in two sentences only.
  awk 'BEGIN { for (i = 0; i < 120; i++) printf "{\"tokens\":[\"then\",\"cue%d\",\"%s\",\".\"],\"tags\":[\"O\",\"O\",\"%s\",\"O\"]}\n",
    i % 60, i % 7 ? "Ann" : "Bo", i % 60 % 3 ? "B-X" : "B-Y" }' >cues.jsonl
  few="--dim 16 --layers 1 --heads 2 --head-dim 8 --no-dev --min-count 1 --epochs 2"
  ran-train tag -q $few --wide 4096 --wide-cost 8 -o wide.ran cues.jsonl
  ran-train tag -q $few --wide 0 -o narrow.ran cues.jsonl
  [ "$(ran-tag -m wide.ran --eval --eval-format json cues.jsonl | jq .conlleval.f1)" = 1 ]
  [ "$(ran-tag -m narrow.ran --eval --eval-format json cues.jsonl | jq '.conlleval.f1 < 0.8')" = true ]
  grep -aqF '\"paths\":{\"deep\":0.5,\"wide\":0.5,\"cost\":8}' < <(head -c 100000 wide.ran)
  # Another training may begin with it; at a rate of 0 what it says stays as it is.
  ran-train tag -q $few --wide 4096 --init wide.ran --init-rate 0 -o again.ran cues.jsonl
  same_output "ran-tag -m wide.ran --logits cues.jsonl" "ran-tag -m again.ran --logits cues.jsonl"
  run -2 --separate-stderr ran-train tag $few --affixes -o no.ran cues.jsonl
  [[ $stderr == *'affixes must be off'* ]]
}

@test "train tag: killed and resumed, with a linear model, it gives the bytes of one run [all]" {
  settings="--dim 16 --layers 1 --heads 2 --head-dim 8 --epochs 40 --patience 100 --no-refit --checkpoint-minutes 0.001
    --no-early-stop"
  ran-train tag $settings -q -o whole.ran names.jsonl
  ended_by KILL '"checkpoint"' log ran-train tag $settings -q -j 2 --log log -o m.ran names.jsonl
  [ -e m.ran.ckpt ]
  [ ! -e m.ran ]
  ran-train tag $settings -q -j 1 --resume --log log -o m.ran names.jsonl
  cmp m.ran whole.ran
}

@test "train tag: words that are made unknown by chance, where it is known what that is [all]" {
  shape='--epochs 2 --dim 8 --heads 1 --head-dim 8 --no-dev'
  ran-train tag -q $shape -o a.ran names.jsonl
  ran-train tag -q $shape --word-dropout 0.3 -o b.ran names.jsonl
  ran-train tag -q $shape --word-dropout 0.3 -j 3 -o c.ran names.jsonl
  run ! cmp -s a.ran b.ran
  cmp b.ran c.ran
  run -2 --separate-stderr ran-train tag $shape --word-dropout 0.3 -o d.ran numbers.jsonl
  [[ $stderr == *'word_dropout needs a vocabulary'* ]]
  # Byte pairs know no unknown piece: this was a row far behind the embedding.
  run -2 --separate-stderr ran-train tag $shape --vocab-type bpe --word-dropout 0.3 -o d.ran names.jsonl
  [[ $stderr == *'word_dropout needs a vocabulary'*'byte pairs'* ]]
  run -2 --separate-stderr ran-train mlm --word-dropout 0.3 -o d.ran names.jsonl
  [[ $stderr == *"--word-dropout is for ran-train classify, tag and lm"* ]]
}

@test "train tag: gradients of a tagger, for its own tags only" {
  "$RAN_BIN/tests/dump-gradients" tag -o g -m names.ran names.jsonl
  [ -s g ]
  echo '{"tokens":["Rex"],"tags":["B-DOG"]}' >bad.jsonl
  run -3 --separate-stderr "$RAN_BIN/tests/dump-gradients" tag -o g -m names.ran bad.jsonl
  [[ $stderr == *'the model does not know 1 of the tags'* ]]
}

# ---- models of another task ----------------------------------------------------------------------

@test "tag: a model of another task is refused, with the program that it is for" {
  printf '%s\n' '{"text":"a","label":"x"}' '{"text":"b","label":"y"}' >labelled.jsonl
  ran-train classify -q --no-dev --epochs 1 --dim 8 --heads 1 --head-dim 8 --min-count 1 -o labels.ran labelled.jsonl
  run -3 --separate-stderr ran-tag -m labels.ran names.jsonl
  [[ $stderr == *'labels.ran: this model classifies documents: use ran-classify'* ]]
  run -3 --separate-stderr ran-classify -m names.ran names.jsonl
  [[ $stderr == *'names.ran: this model tags words: use ran-tag'* ]]
  run -3 --separate-stderr "$RAN_BIN/tests/dump-gradients" tag -o g -m labels.ran names.jsonl
  [[ $stderr == *'this model classifies documents'* ]]
}

@test "tag: options that make no sense together" {
  run -2 --separate-stderr ran-tag names.jsonl
  [[ $stderr == *'no model: give --model FILE'* ]]
  run -2 --separate-stderr ran-tag -m names.ran --conlleval columns
  [[ $stderr == *'--conlleval reads predictions'*'leave out --model'* ]]
  # Found out before anything is read.
  run -3 --separate-stderr ran-tag -m names.ran --eval -o none/x none.jsonl
  [[ $stderr == *'none/x'* ]]
}
