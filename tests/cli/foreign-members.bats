#!/usr/bin/env bats
# Members and columns with one of our names that mean something else to their owner.

bats_require_minimum_version 1.5.0
load records.bash

files() {
  printf '{"text":"%s","label":"%s"}\n' 'a b' x 'b a' x 'c' y 'c c' y >labels.jsonl
  RAN_BASE=none ran-train classify -q --encoder none --no-dev -j 1 --vocab vocab.json -o labels.ran labels.jsonl
}

@test "members: what cannot be meant passes through, beside a text [all]" {
  result=$(ran-classify -m labels.ran - <<<'{"text":"a b"}' | jq -c .prediction)
  while IFS='|' read -r member said; do
    echo "{\"text\":\"a b\",$member}" >x.jsonl
    run -0 --separate-stderr ran-classify -m labels.ran x.jsonl
    [ "$output" = "{\"text\":\"a b\",$member,\"prediction\":$result}" ]
    [ "$stderr" = "${said:+ran-classify: x.jsonl: $said is not what ran calls so, and is not read}" ] ||
      { echo "$member: $stderr" >&2; false; }
  done <<'END'
"encoding":"utf-8"|"encoding"
"encoding":{"ids":[1]}|"encoding"
"tokens":532|"tokens"
"tokens":"c"|"tokens"
"tokens":[]|"tokens"
"tokens":[101,7]|"tokens"
"tokens":[{"text":"c"}]|"tokens"
"ids":"c"|"ids"
"ids":["t1"]|"ids"
"ids":7,"tokens":1|"ids", "tokens"
"doc":{},"weight":"3 kg","spans":3,"cats":2|
"data":"2020-05-01"|
"source":"bbc","target":3|
"labels":5|
END
  # Alone they are mistakes.
  run -1 --separate-stderr ran-classify -m labels.ran - <<<'{"tokens":532}'
  [[ $stderr == *'"tokens" must be an array of strings'* ]]
  run -1 --separate-stderr encode - <<<'{"text":5}'
  [[ $stderr == *'"text" must be a string'* ]]
  # The sentence names the member that was chosen.
  for body in '5|string' '[5]|array of strings'; do
    run -1 --separate-stderr ran-classify -m labels.ran --text-member Body - <<<'{"text":"a","Body":'"${body%|*}}"
    [[ $stderr == *'"Body" must be a'*"${body#*|}"* ]] || { echo "$stderr" >&2; false; }
  done
  run -1 --separate-stderr ran-classify -m labels.ran --id-member key - <<<'{"text":"a","key":1,"key":2}'
  [[ $stderr == *'"key" is given twice'* ]]
  run -1 --separate-stderr ran-tokenize encode -m labels.ran - --text-member 'a"b' <<<'{"a\"b":5}'
  [[ $stderr == *'"a\"b" must be a string'* ]]
}

@test "members: a usual name of a text wins over a member of ours that means something else [all]" {
  while IFS='|' read -r name content; do
    printf "$content" >x.$name
    run -0 --separate-stderr encode x.$name
    [ "$(jq -c .encoding.ids <<<"$output" 2>/dev/null)" = '[5,6]' ] || { echo "$content: $output $stderr" >&2; false; }
    [[ $stderr == *'the text is "'* ]]
  done <<'END'
csv|data,titolo,review\n2020-05-01,c,a b\n
csv|tokens,review\n5,a b\n
csv|source,review\nweb,a b\n
csv|ids,encoding,review\n7,utf-8,a b\n
csv|data,label\na b,x\n
jsonl|{"data":"2020-05-01","content":"a b"}\n
jsonl|{"encoding":"utf-8","review":"a b"}\n
jsonl|{"tokens":5,"source":"web","review":"a b"}\n
jsonl|{"text":5,"review":"a b"}\n
jsonl|{"data":"a b"}\n
END
  printf 'data,descrizione\n2020-05-01,a b\n' >x.csv
  run -3 --separate-stderr encode x.csv
  [[ $stderr == *'which column is the text? give --text-member NAME, one of data, descrizione'* ]]
}

@test "members: where an option names the text or the label, ours do not count" {
  id=$(encode - <<<'{"text":"c"}' | jq -c .encoding)
  run -0 --separate-stderr encode --into added --text-member t - <<<"{\"encoding\":$id,\"ids\":[7],\"tokens\":[\"c\"],\"text\":\"c\",\"t\":\"a b\"}"
  [ "$(jq -c .added.ids <<<"$output")" = '[5,6]' ]
  [ -z "$stderr" ]
  printf '{"text":"a","y":"p","label":["u","v"],"cats":{"u":1}}\n{"text":"b","y":"q","labels":["u"]}\n{"text":"c","label":"u"}\n' >x.jsonl
  run --separate-stderr ran-train classify --check --label-member y x.jsonl
  [ "$(jq -c .labels <<<"$output")" = '{"p":1,"q":1}' ]
}

@test "members: where an option names the id, ours does not count" {
  run -0 ran-classify -q -m labels.ran --id-member key --only - <<'END'
{"text":"a","id":1,"key":2}
{"text":"a","id":1,"key":null}
{"text":"a","id":1}
END
  [ "$(jq -c .id <<<"$output" | tr '\n' ' ')" = '2 1 1 ' ]
  printf 'id,key,text\n1,2,a\n' >x.csv
  [ "$(ran-classify -q -m labels.ran --id-member key --only x.csv | jq .id)" = '"2"' ]
}

@test "members: the weight in a table is a number, and one that is none can be left out [all]" {
  for i in 1 2 3 4; do printf 'a %d,x,3\nb %d,y,\n' $i $i; done | sed '1i text,label,weight' >x.csv
  jq -cRn '[inputs / ","] | .[1:][] | {text: .[0], label: .[1]} + (if .[2] == "" then {} else {weight: (.[2] | tonumber)} end)' x.csv >x.jsonl
  for f in csv jsonl; do
    run -0 --separate-stderr ran-train classify --encoder none --base none --no-dev -j 1 --min-count 1 -o $f.ran x.$f
    [[ $stderr == *'4 of 8 documents have another weight than 1, by "weight"'* ]]
  done
  for f in csv jsonl; do ran-classify -m $f.ran -q --probs - <<<'{"text":"a b 1"}' >$f.out; done
  cmp csv.out jsonl.out
  ran-train classify -q --encoder none --base none --no-dev -j 1 --min-count 1 --weight-member none -o none.ran x.csv
  ran-classify -m none.ran -q --probs - <<<'{"text":"a b 1"}' | run -1 cmp - csv.out
  sed 's/,3$/,3 kg/' x.csv >kg.csv
  run -3 --separate-stderr ran-train classify --encoder none --base none --no-dev -o m.ran kg.csv
  [[ $stderr == *'kg.csv:2: "weight" is not a number from 0 to 1e6'*'--weight-member none'* ]]
  ran-train classify -q --encoder none --base none --no-dev -j 1 --min-count 1 --weight-member none -o kg.ran kg.csv
  # Another column may have it, and a model remembers that.
  sed '1s/weight/w/' x.csv >w.csv
  ran-train classify -q --encoder none --base none --no-dev -j 1 --min-count 1 --weight-member w -o w.ran w.csv
  ran-classify -m w.ran -q --probs - <<<'{"text":"a b 1"}' | cmp - csv.out
  run -0 ran-train classify -q --replay w.ran w.csv
}

@test "members: labels with one value, and true and false, are labels [all]" {
  printf '{"text":"a","labels":"x"}\n{"text":"b","labels":"y"}\n{"text":"c","labels":7}\n' >x.jsonl
  [ "$(ran-train classify --check x.jsonl | jq -c '[.labels, .multilabel]')" = '[{"x":1,"y":1,"7":1},false]' ] ||
    [ "$(ran-train classify --check x.jsonl | jq -c .labels)" = '{"7":1,"x":1,"y":1}' ]
  printf '{"text":"a","label":true}\n{"text":"b","label":false}\n' >x.jsonl
  [ "$(ran-train classify --check x.jsonl | jq -Sc .labels)" = '{"false":1,"true":1}' ]
  printf '{"text":"a","label":"x","labels":3}\n{"text":"b","label":"y","labels":4}\n' >x.jsonl
  [ "$(ran-train classify --check x.jsonl | jq -Sc .labels)" = '{"x":1,"y":1}' ]
  printf '{"text":"a","label":"x","labels":["y"]}\n' >x.jsonl
  run --separate-stderr ran-train classify --check x.jsonl
  [[ $output$stderr == *'both \"label\" and \"labels\" (--label-member'* || $output$stderr == *'both "label" and "labels" (--label-member'* ]]
}

@test "members: a cell is the list that it is, as JSON, Python or NumPy write it [all]" {
  for cell in "['a', 'b']" '[""a"", ""b""]' "('a', 'b',)" "['a' 'b']"; do
    printf 'tokens,n\n"%s",5\n' "$cell" >x.csv
    run -0 --separate-stderr encode x.csv
    [ "$(jq -c .encoding.ids <<<"$output")" = '[5,6]' ] || { echo "$cell: $output" >&2; false; }
  done
  printf 'text,labels\na,"['"'x', \"\"it's\"\""']"\nb,"['"'y'"']"\n' >x.csv
  [ "$(ran-train classify --check x.csv | jq -Sc .labels)" = "{\"it's\":1,\"x\":1,\"y\":1}" ]
  printf 'tokens,ner_tags\n"['"'a', 'b'"']",[1 0]\n"['"'c'"']",[0]\n' >x.csv
  [ "$(ran-train tag --vocab vocab.json --check x.csv | jq -Sc .tags)" = '{"0":2,"1":1}' ] ||
    [ "$(ran-train tag --vocab vocab.json --check x.csv | jq -Sc .labels)" = '{"0":2,"1":1}' ]
  # What only looks so is a string, and a text is none.
  printf "text,label\n['a b'],[x\n[c],[x\n" >x.csv
  [ "$(ran-train classify --check x.csv | jq -Sc .labels)" = '{"[x":2}' ]
}

@test "members: a tagger reads spans although tags are those of an article [all]" {
  for foreign in '"tags":["news"]' '"tags":"a,b"' '"tokens":3' '"ner_tags":[1]' '"spans":3' '"doc":{}'; do
    printf '{"text":"a met b","entities":[[0,1,"X"]],%s}\n{"text":"c","entities":[],%s}\n' "$foreign" "$foreign" >x.jsonl
    run -0 --separate-stderr ran-train tag --vocab vocab.json --check -q x.jsonl
    [ "$(jq -c '[.documents, .entities.X // .tags["B-X"] // .labels["B-X"]]' <<<"$output")" = '[2,1]' ] ||
      { echo "$foreign: $output" >&2; false; }
  done
  for foreign in '"tags":["news"]' '"tags":5' '"spans":3' '"text":5' '"ids":["x"]'; do
    printf '{"tokens":["a","b"],"ner_tags":["B-X","O"],%s}\n' "$foreign" >x.jsonl
    run -0 --separate-stderr ran-train tag --vocab vocab.json --check -q x.jsonl
  done
}

@test "members: a member that the result replaces is named" {
  run -0 --separate-stderr encode --into lm - <<<'{"text":"a","lm":"mine"}'
  [[ $stderr == *'the result replaces "lm" (--into gives it another name)'* ]]
  run -0 --separate-stderr encode - <<<'{"text":"a","lm":"mine"}'
  [ -z "$stderr" ]
}

@test "members: spans that do not fit are told the nearest words" {
  names='{"tokens":["Ann","met"],"tags":["B-X","O"]}'
  for i in 1 2 3; do echo "$names"; done >n.jsonl
  ran-train tag -q --encoder none --base none --no-dev -j 1 --min-count 1 -o n.ran n.jsonl
  while read -r start end from to; do
    run -3 --separate-stderr ran-tag -m n.ran --eval - <<<"{\"text\":\"Ann met Lee\",\"spans\":[{\"start\":$start,\"end\":$end,\"label\":\"X\"}]}"
    [[ $stderr == *"spans[0], $start to $end, does not start and end at words: the nearest go from $from to $to"$'\n'* ]] ||
      { echo "$start $end: $stderr" >&2; false; }
  done <<'END'
0 4 0 3
3 7 4 7
1 3 0 3
0 6 0 7
2 5 4 7
4 10 4 11
END
}
