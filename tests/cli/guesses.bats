#!/usr/bin/env bats
# What the first lines of a file are taken for: prose stays prose, comments are no words, and what was
# guessed is said.

bats_require_minimum_version 1.5.0
load records.bash

# piped INPUT ARGUMENT...: the records that become of a pipe with INPUT (with printf's escapes).
piped() {
  printf -- "$1" >pipe
  shift
  run --separate-stderr bash -c 'cat pipe | ran-tokenize encode --vocab vocab.json --into added "$@" |
    jq -c "del(.added, .ran_error)"' - "$@"
}

# texts: what the lines of a pipe are, if each is a text.
texts() {
  printf "$1" | jq -cR 'select(test("[^ ]")) | {text: .}'
}

@test "guesses: lines of prose that end like tags are texts, each, and that is said [all]" {
  for prose in 'please answer my E-mail\n' 'I like rain S-bahn\nHe likes storms U-boat\n' 'rain is wet O\n' \
    'I like my S-bahn\nYou hate my S-bahn\n' 'a B-PER\n' 'vitamin B-carotene\njust words\n' \
    'the vitamin O\nmy own E-mail\na steel I-beam\n' \
    '[Music] hello rain\nstorm\n' '{{Infobox}} rain\nstorm\n' '[[a link]] to it\n' '[ ] to do\n[x] done\n' \
    '{ x }\n' 'Question, anyone\nNobody.\n' 'use __label__ here\nor there\n' '# id card\n\nAsk for one.\n' \
    '# text\n\nMore of it.\n' 'So\tthis\nis prose\nto the end\n'; do
    piped "$prose"
    [ "$output" = "$(texts "$prose")" ] || { echo "$prose: $output" >&2; false; }
    [ "$stderr" = 'ran-tokenize: standard input: each line is read as a text (--input-format file: the whole file is one)' ]
  done
}

@test "guesses: several lines that agree are columns, and that is said once" {
  for i in 1 2; do printf 'a B-PER\nb O\n\nc O\n' >$i.txt; done
  run -0 --separate-stderr encode --only 1.txt 2.txt
  [ "$(jq -c .encoding.ids <<<"$output")" = $'[5,6]\n[7]\n[5,6]\n[7]' ]
  [ "$stderr" = 'ran-tokenize: 1.txt looks like CoNLL columns (--input-format names another format)' ]
  # The name of a file, an option, or a beginning that leaves no doubt needs no message.
  printf 'a B-PER\n' >one.conll
  printf '[ O\n' >bracket.conll
  run -0 --separate-stderr encode -q --drop encoding one.conll bracket.conll
  [ "$output" = $'{"tokens":["a"],"tags":["B-PER"],"encoding":'"$(sed -n '1s/.*"encoding"://p' <<<"$output")
{\"tokens\":[\"[\"],\"tags\":[\"O\"],\"encoding\":$(sed -n '2s/.*"encoding"://p' <<<"$output")" ]
  piped 'a B-PER\n' --tag-column 2
  [ "$output" = '{"tokens":["a"],"tags":["B-PER"]}' ]
  [ -z "$stderr" ]
  piped '-DOCSTART- O\n\na B-PER\n'
  [ "$output" = '{"doc":1,"tokens":["a"],"tags":["B-PER"]}' ]
  [ -z "$stderr" ]
  # A damaged line among many changes nothing.
  piped 'a O\nb B-X\nc O\na O\nb O\nc O\n\nbut this\n'
  [ "${lines[0]}" = '{"tokens":["a","b","c","a","b","c"],"tags":["O","B-X","O","O","O","O"]}' ]
}

@test "guesses: a live pipe answers a line at once, whatever it looks like" {
  mkfifo in
  encode --only <in >out 2>errors &
  exec 5>in
  printf 'b E-mail\n' >&5
  for _ in $(seq 100); do [ ! -s out ] || break; sleep 0.1; done
  [ "$(ids <out)" = '[6,0,0,0,0,0,0]' ] || [ -s out ]
  exec 5>&-
  wait $!
  [ "$(wc -l <out)" -eq 1 ]
}

@test "guesses: comments of CoNLL are no words, whatever separates the columns [all]" {
  piped '# newdoc\na B-PER\nb O\n\n# newdoc\nc B-PER\n'
  [ "$output" = '{"doc":1,"tokens":["a","b"],"tags":["B-PER","O"]}
{"doc":2,"tokens":["c"],"tags":["B-PER"]}' ]
  piped '# newdoc id = x y\na B-PER\nb O\n' --input-format conll
  [ "$output" = '{"doc":1,"tokens":["a","b"],"tags":["B-PER","O"]}' ]
  piped '# id 52-a\tdomain=en\na _ _ B-PER\nb _ _ O\n\n# id 53-b\tdomain=en\nc _ _ B-PER\n'
  [ "$(jq -c .tokens <<<"$output")" = $'["a","b"]\n["c"]' ]
  # With as many columns as words have, the tag decides.
  piped '# id x\na _ B-PER\nb _ O\n\n# id y\nc _ O\n' --input-format conll
  [ "$(jq -c .tokens <<<"$output")" = $'["a","b"]\n["c"]' ]
  piped '# NN O\na NN B-PER\n# NN O\n'
  [ "$(jq -c .tokens <<<"$output")" = '["#","a","#"]' ]
  piped '#tag O\n# O\na B-PER\n'
  [ "$(jq -c .tokens <<<"$output")" = '["#tag","#","a"]' ]
  # GermEval: a comment with a tab, numbered words, two columns of tags.
  germeval='#\thttp://x [2010]\n1\ta\tB-PER\tO\n2\tb\tO\tO\n\n#\thttp://y [2011]\n1\tc\tO\tO\n'
  piped "$germeval"
  [ "$(jq -c '[.tokens, .tags]' <<<"$output")" = '[["a","b"],["B-PER","O"]]
[["c"],["O"]]' ]
  [[ $stderr == *'the second column has the words, the third the tags'* ]]
  piped "$germeval" --word-column 2 --tag-column 4
  [ "$(jq -c '[.tokens, .tags]' <<<"$output")" = '[["a","b"],["O","O"]]
[["c"],["O"]]' ]
  # CoNLL-U, whatever its first comment is.
  for comment in '# text = a b' '# sent_id = 1' '# a note\n' '# newpar'; do
    printf "$comment\n1\ta\tl\tX\t_\t_\t_\t_\t_\t_\n2\tb\tl\tX\t_\t_\t_\t_\t_\t_\n" >u.conllu
    run -0 --separate-stderr encode u.conllu
    [ "$(jq -c .tokens <<<"$output")" = '["a","b"]' ]
  done
}

@test "guesses: rows tell a header with unusual names from data" {
  printf '"Wie war es, alles in allem?",Sterne (1-5)\n"a, b",5\nc,1\n' >x.csv
  run -0 --separate-stderr encode --text-member 'Wie war es, alles in allem?' x.csv
  [ "$(jq -c .encoding.ids <<<"$output" | head -n 1)" = '[5,0,6]' ]
  run -3 --separate-stderr encode x.csv
  [[ $stderr == *'--text-member NAME, one of Wie war es, alles in allem?, Sterne (1-5)'* ]]
  printf 'Was sagen Sie zu all dem.\tNr.\na b\t5\nc\t1\n' >x.tsv
  run -0 --separate-stderr encode --text-member 'Was sagen Sie zu all dem.' x.tsv
  [ "$(jq -c .encoding.ids <<<"$output" | head -n 1)" = '[5,6]' ]
  # Data stay data.
  for data in 'pos,It was good all the way.\nneg,No.\n' '5,"a. "\n4,"b. "\n' 'a b c d e f.,pos\nb c d e f a.,pos\n'; do
    printf "$data" >y.csv
    run -0 --separate-stderr encode y.csv
    [ "${#lines[@]}" -eq 2 ]
  done
}
