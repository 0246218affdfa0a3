#!/usr/bin/env bats
# Tables as people have them: CSV and TSV, columns and members of any name.

bats_require_minimum_version 1.5.0
load records.bash

small='--dim 8 --layers 1 --heads 1 --head-dim 8 --window 8 --min-window 1 --no-dev --min-count 1 --epochs 1'

# ---- rows and cells ------------------------------------------------------------------------------

@test "csv: awkward tables are read as Python's csv module reads them [all]" {
  count=0
  while IFS= read -r case; do
    jq -j .csv <<<"$case" >x.csv
    ran-tokenize encode -q --vocab vocab.json --errors-ok --drop x \
      $(jq -r .options <<<"$case") x.csv 2>errors | jq -cS 'del(.encoding, .ran_error)' >got
    jq -cS '.rows[]' <<<"$case" | cmp -s - got || { jq . <<<"$case" >&2; cat got errors >&2; false; }
    count=$((count + 1))
  done <"$BATS_TEST_DIRNAME/csv.jsonl"
  [ "$count" -ge 40 ]
}

@test "csv: line ends, quotes, delimiters and doubled quotes in cells" {
  reads 'text,label\r\n"a, ""b""\n\nc",x\r\na,y' --input-format csv
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  [ "$output" = '{"text":"a, \"b\"\n\nc","label":"x"}
{"text":"a","label":"y"}' ]
  reads '\xef\xbb\xbf"text";"label"\n"a; b";x\n' -v
  [[ $stderr == *'input is read as csv'* ]]
  [ "$output" = '{"text":"a; b","label":"x"}' ]
}

@test "csv: a row that cannot be used is named by its first line, and is one bad record" {
  reads 'text,label\n"a\nb",x\na,y,z\n"b\n\xff",y\na\n\n"c\n' --rejects rejects
  [ "$status" -eq 1 ]
  [ "${#lines[@]}" -eq 5 ]
  [[ $stderr == *'input:4: the row has 3 cells, the header has 2: '* ]]
  [[ $stderr == *'input:6: column 1: this is not valid UTF-8'* ]]
  [[ $stderr == *'input:7: the row has 1 cell, the header has 2'* ]]
  [[ $stderr == *'input:9: a quote opens a cell of this row and is never closed'*'--quotes=no'* ]]
  [[ ${lines[1]} == '{"text":"a","label":"y","ran_error":{"message":"the row has 3 cells'*'"line":4}}' ]]
  printf 'a,y,z\n"b\n\xff",y\na\n"c\n\n' | cmp - rejects
}

@test "csv: a row leaves as soon as its line end is there" {
  mkfifo in out
  ran-tokenize encode --vocab vocab.json --only --input-format csv <in >out &
  exec 5>in 6<out
  printf 'text,id\n"a\n' >&5
  if read -t 0.1 -r line <&6; then false; fi
  printf 'b",1\n' >&5
  read -t 20 -r line <&6
  [[ $line == '{"id":"1",'*'"ids":[5,6]'* ]]
  printf 'c,2\r' >&5
  read -t 20 -r line <&6
  [[ $line == '{"id":"2",'* ]]
  printf '\nc,3\n' >&5
  read -t 20 -r line <&6
  [[ $line == '{"id":"3",'* ]]
  exec 5>&-
  wait $!
  exec 6<&-
}

@test "csv: parts and threads are the whole" {
  {
    echo text,n
    for i in $(seq 300); do printf '"a, %d\n""b""",%d\nc,0\n' $i $i; done
  } >x.csv
  ran-tokenize encode --vocab vocab.json -j 1 x.csv >whole
  [ "$(wc -l <whole)" -eq 600 ]
  ran-tokenize encode --vocab vocab.json -j 7 x.csv | cmp - whole
  for i in 1 2 3 4 5; do ran-tokenize encode --vocab vocab.json --shard $i/5 x.csv; done | cmp - whole
}

@test "csv: memory is that of JSON lines, however the lengths of rows vary [all]" {
  command -v /usr/bin/time >/dev/null || skip 'no time'
  rows() { # FORMAT: 100,000 rows, of which every 61st is long
    awk -v format="$1" 'BEGIN { if (format == "csv") print "text,label"
      for (i = 0; i < 100000; i++) {
        text = "aaaaaaaaaa, bbbbbbbbb cccccccccc dddddddddd "
        for (j = i * 7919 % 61 == 0 ? 8 : 0; j > 0; j--) text = text text
        printf format == "csv" ? "\"%s\",%d\n" : "{\"text\":\"%s\",\"label\":%d}\n", text, i % 9
      } }'
  }
  peak() { # a sanitizer keeps what is released for a while
    ASAN_OPTIONS=${ASAN_OPTIONS-}:quarantine_size_mb=1 /usr/bin/time -f %M ran-tokenize encode -q -j 1 \
      --vocab vocab.json --only "$1" 2>&1 >/dev/null | tail -n 1
  }
  rows csv >x.csv
  rows json >x.jsonl
  [ "$(peak x.csv)" -lt $(($(peak x.jsonl) * 3 / 2)) ]
}

# ---- headers -------------------------------------------------------------------------------------

@test "csv: with a header or without" {
  reads 'a b,pos\nc,neg\n' --header no --input-format csv
  [ "$output" = '{"text":"a b","label":"pos"}
{"text":"c","label":"neg"}' ]
  [[ $stderr == *'input: no header: '*'--columns'* ]]
  reads 'pos,a b\n' --header no --input-format csv
  [ "$output" = '{"label":"pos","text":"a b"}' ]
  reads '1,a,pos\n' --columns id,text,label
  [ "$output" = '{"id":"1","text":"a","label":"pos"}' ]
  [ -z "$stderr" ]
  reads '1,"a, b",pos\n' --input-format csv
  [ "$status" -eq 3 ]
  [[ $stderr == *'input: '*'--text-member NAME, one of column1, column2, column3'*'--columns'* ]]
  reads '1,"a, b",pos\n' --input-format csv --text-member column2
  [ "$output" = '{"column1":"1","column2":"a, b","column3":"pos"}' ]
  reads 'Kommentar,Kategorie\na,x\n' --input-format csv
  [ "$status" -eq 3 ]
  [[ $stderr == *'--text-member NAME, one of Kommentar, Kategorie'*'--header=no'* ]]
  reads 'Kommentar,Kategorie\na,x\n' --input-format csv --text-member kommentar
  [[ $stderr == *'input: no column "kommentar": the columns are Kommentar, Kategorie (--text-member)'* ]]
  reads 'text,text,\na,b,c\n' --input-format csv
  [ "$output" = '{"text":"a","text.2":"b","column3":"c"}' ]
  reads 'text,label\n' --input-format csv
  [ "$status" -eq 0 ] && [ -z "$output$stderr" ]
}

@test "tsv: with a header, quotes mean what they do in CSV; without one, nothing" {
  reads 'id\ttext\n1\t"a\tb\nc"\n'
  [ "$output" = '{"id":"1","text":"a\tb\nc"}' ]
  reads 'x\t"a\ny\tb" c\n'
  [ "$output" = '{"label":"x","text":"\"a"}
{"label":"y","text":"b\" c"}' ]
  reads 'text\tlabel\n"a\tx\nb\ty\n"c" d\tz\n'
  [[ $stderr == *'input:2: a quote opens a cell of this row, and text follows'*'--quotes=no'* ]]
  reads 'text\tlabel\n"a\tx\nb\ty\n' --quotes no
  [ "$output" = '{"text":"\"a","label":"x"}
{"text":"b","label":"y"}' ]
}

@test "tsv: a text before its label was 301 classes for 301 documents" {
  for i in $(seq 8); do printf 'a b %d\tx\nc d %d\ty\n' $i $i; done >x.tsv
  run -0 --separate-stderr ran-train classify --check x.tsv
  [ "$(jq -c .labels <<<"$output")" = '{"x":8,"y":8}' ]
  [[ $stderr == *'the first column is the text, the second the label'* ]]
  printf 'sentence\tclass\na b\tx\nc d\ty\n' >x.tsv
  run -0 --separate-stderr ran-train classify --check x.tsv
  [ "$(jq -c .labels <<<"$output")" = '{"x":1,"y":1}' ]
  [[ $stderr == *'x.tsv: the text is "sentence", the label is "class"'* ]]
}

@test "csv: a header on standard input was a text, though options named its columns" {
  printf 'Satz;Klasse\n"rain; wet",w\n' | tr , ';' >x
  ran-tokenize encode --vocab vocab.json --text-member Satz <x | jq -e '.Satz == "rain; wet" and .Klasse == "w"'
  ran-tokenize encode --vocab vocab.json --text-member Satz x | jq -e '.Klasse == "w"'
  # a name within a text is no column
  run -1 --separate-stderr ran-tokenize encode --vocab vocab.json --text-member Satz <<<'Satz for Satz'
  [[ $stderr == *'no "Satz"'* ]]
}

@test "csv: the hint of a training has the options that new rows need" {
  { echo "my text,class"; for i in $(seq 20); do printf 'rain a%d,wet\nsun a%d,dry\n' $i $i; done; } >x.csv
  run -0 --separate-stderr ran-train classify --encoder none --text-member 'my text' --label-member class -o m.ran x.csv
  [[ $stderr == *"ran-classify -m m.ran FILE"* ]]
  eval "$(sed -n 's/^ran-train:     \(.*\) FILE$/\1 x.csv/p' <<<"$stderr")" | jq -e -s 'length == 40'
}

@test "csv: a space behind each delimiter belonged to names, labels and quotes" {
  for d in ',' ';' '|'; do
    printf 'id%s text%s label\n1%s "sun, sea"%s  a\n2%sx%s b\n' "$d" "$d" "$d" "$d" "$d" "$d" >s.csv
    run -0 --separate-stderr ran-tokenize records s.csv
    [ "$(jq -sc 'map([.text, .label])' <<<"$output")" = '[["sun, sea","a"],["x","b"]]' ]
    [[ $stderr == *'s.csv: the spaces behind delimiters are left out'* ]]
  done
  # Once for files alike; and an option may name a column as it stands there.
  cp s.csv t.csv
  run -0 --separate-stderr ran-tokenize records s.csv t.csv
  [ "$(grep -c 'spaces behind' <<<"$stderr")" = 1 ]
  [ "$(ran-tokenize records -q --text-member ' text' s.csv | jq -sr '.[0].text')" = ' "sun, sea"' ]
  printf 'text,label, note\n a,b,c\n' >s.csv
  [ "$(ran-tokenize records -q s.csv | jq -c '[.text, .label]')" = '[" a","b"]' ]
}

@test "csv: options that make no sense" {
  reads 'a\n' --delimiter ab
  [ "$status" -eq 2 ]
  [[ $stderr == *'--delimiter ab: give one character of ASCII, or tab, comma, semicolon, pipe or space'* ]]
  reads 'a\n' --columns a,b --header yes
  [ "$status" -eq 2 ]
  [[ $stderr == *'leave out --header=yes'* ]]
}

# ---- members of any name -------------------------------------------------------------------------

@test "members: any name for text, label and id; records stay as they are" {
  printf '%s\n' '{"s":"a b","k":"x","n":7}' '{"s":"c","k":"y","text":"no","label":1}' >x.jsonl
  run -0 --separate-stderr ran-tokenize encode --vocab vocab.json --text-member s --id-member n --only x.jsonl
  [ "$(jq -c '[.id, .encoding.ids]' <<<"$output")" = '[7,[5,6]]
["x.jsonl:2",[7]]' ]
  run -0 ran-tokenize encode --vocab vocab.json --text-member s --drop s --into e x.jsonl
  [ "$(jq -c 'del(.e)' <<<"$output")" = '{"k":"x","n":7}
{"k":"y","text":"no","label":1}' ]
  [ "$(ran-train classify --check --text-member s --label-member k x.jsonl | jq -c '[.labels, .tokens]')" = \
    '[{"x":1,"y":1},3]' ]
  reads '{"s":"a"}\n{"t":"b"}\n{"s":null}\n' --text-member s
  [ "$status" -eq 1 ]
  [[ $stderr == *'input:2: the record has no "s", which --text-member names'* && $stderr == *'input:3: the record has no "s"'* ]]
}

@test "members: several texts are joined" {
  reads '{"t":"a","b":"b \\"\\u0063\\""}\n{"b":"c"}\n{"t":3,"b":""}\n{"t":["a"]}\n' --text-member t,b
  [ "$status" -eq 1 ]
  [ "${lines[0]}" = '{"t":"a","b":"b \"\u0063\""}' ]
  [[ $stderr == *'input:4: a member of --text-member is neither a text nor a number'* ]]
  printf '{"t":"a","text":"b"}\n{"text":"c"}\n' >x.jsonl
  [ "$(ran-tokenize encode --vocab vocab.json --text-member t --text-member text x.jsonl |
    jq -c '.encoding.ids')" = '[5,6]
[7]' ]
  # A name with a comma is a name where a column is called so.
  reads '"a, b",c\na,b\n' --text-member 'a, b' --header yes --input-format csv
  [ "$output" = '{"a, b":"a","c":"b"}' ]
}

@test "members: usual names are found, and said once" {
  printf '{"idx":1,"Sentence":"a b","Class":2}\n{"idx":2,"text":"c"}\n' | tee x.jsonl >y.jsonl
  run -0 --separate-stderr ran-tokenize encode --vocab vocab.json x.jsonl y.jsonl
  [ "$(grep -c 'x.jsonl: the text is "Sentence" (--text-member, ' <<<"$stderr")" -eq 1 ]
  [[ $stderr != *y.jsonl* ]]
  run -0 --separate-stderr ran-tokenize encode -q --vocab vocab.json x.jsonl
  [ -z "$stderr" ]
  printf '{"Sentence":"a","Class":2}\n{"Sentence":"b","Class":3}\n' >x.jsonl
  run -0 --separate-stderr ran-train classify --check x.jsonl
  [[ $stderr == *'x.jsonl: the text is "Sentence", the label is "Class" ('* ]]
  # What has the usual members needs no others.
  printf '{"text":"a","review":"b"}\n' >x.jsonl
  run -0 --separate-stderr ran-tokenize encode --vocab vocab.json x.jsonl
  [ -z "$stderr" ]
  [ "$(ids <<<"$output")" = '[5]' ]
}

@test "members: a model remembers the names of the text and the label that it was trained with" {
  { echo "text,my text,kind"; for i in $(seq 20); do printf 'sun b%d,rain a%d,wet\nrain b%d,sun a%d,dry\n' $i $i $i $i; done; } >x.csv
  named=(--text-member 'my text' --label-member kind)
  ran-train classify -q --encoder none "${named[@]}" -o m.ran x.csv
  run -0 --separate-stderr ran-classify -m m.ran x.csv
  [[ $stderr == *'x.csv: the text is "my text" (--text-member'* ]]
  [ "$output" = "$(ran-classify -q -m m.ran "${named[@]}" x.csv)" ]
  ran-classify -m m.ran --eval x.csv | jq -e '.accuracy == 1 and .n == 40'
  # An option wins; input without the names is read as ever.
  [ "$(ran-classify -m m.ran --text-member text x.csv | jq -r .prediction.label | head -n 1)" = dry ]
  run -0 --separate-stderr ran-classify -m m.ran <<<'{"text":"rain","kind":"dry"}'
  [ "$(jq -r .prediction.label <<<"$output")$stderr" = wet ]
  # A replay needs no names, and writes those of the model.
  ran-train classify -q --replay m.ran x.csv
  sed '1s/my text/your text/' x.csv >y.csv
  ran-train classify -q --replay m.ran --text-member 'your text' y.csv
}

@test "members: labels, tags and numbers of a table" {
  printf 'text,stars\na,1\nb,0\nc,\n' >x.csv
  printf 'bad\ngood\n' >names
  run -4 --separate-stderr ran-train classify --check --label-names names x.csv
  [ "$(jq -c '[.labels, .documents]' <<<"$output")" = '[{"bad":1,"good":1},2]' ]
  printf '{"words":["a","a"],"ner":["O","B-X"]}\n' >x.jsonl
  [ "$(ran-train tag --check --text-member words --label-member ner x.jsonl | jq -c .tags)" = '{"B-X":1,"O":1}' ]
  printf '{"text":"a a","topics":["x","y"]}\n{"text":"a","topics":[]}\n' >x.jsonl
  [ "$(ran-train classify --check --label-member topics x.jsonl | jq -c '[.labels, .several_labels]')" = '[{"x":1,"y":1},true]' ]
}

@test "members: pairs of a language model, with or without a header" {
  printf 'a b\tc\nb\ta c\n' >x.tsv
  ran-train lm -q $small --mask prefix --columns source,target --input-format tsv -o m.ran x.tsv
  { printf 'source,target\n'; tr '\t' , <x.tsv; } >x.csv
  ran-lm score -m m.ran x.csv | jq -c '[.source, .target]' >got
  [ "$(cat got)" = '["a b","c"]
["b","a c"]' ]
}

# ---- from a table to a model ---------------------------------------------------------------------

@test "five tables people have: one command each from file to model [all]" {
  {
    echo id,review,sentiment
    for i in $(seq 20); do printf '%d,"nice, sun\n""%d""",good\n%d,rain %d,bad\n' $i $i $i $i; done
  } >sheet.csv
  jq -Rrn '[inputs | select(test("good|bad"))] | length' <sheet.csv >/dev/null
  { printf 'text\tlabel\n'; for i in $(seq 20); do printf 'nice sun %d\tgood\nrain %d\tbad\n' $i $i; done; } >export.tsv
  for i in $(seq 20); do printf '{"sentence":"nice sun %d","label":1,"idx":%d}\n{"sentence":"rain %d","label":0}\n' $i $i $i; done >hub.jsonl
  for i in $(seq 20); do printf '__label__good nice sun %d\n__label__bad rain %d\n' $i $i; done >fast.txt
  mkdir -p folder/good folder/bad
  for i in $(seq 20); do echo "nice sun $i" >folder/good/$i.txt; echo "rain $i" >folder/bad/$i.txt; done
  for table in sheet.csv export.tsv hub.jsonl fast.txt '--folder-label folder'; do
    ran-train classify -q --encoder none --min-count 1 -o m.ran $table
    [ "$(ran-classify -q -m m.ran - <<<'{"text":"nice sun"}' | jq -r .prediction.label)" != \
      "$(ran-classify -q -m m.ran - <<<'{"text":"rain"}' | jq -r .prediction.label)" ] || { echo "$table"; false; }
  done
}

# What people's spreadsheets and programs write; each says what to do, or needs nothing.
@test "tables: spreadsheets with odd ends, encodings and gaps" {
  rows() { for i in 1 2 3 4 5 6; do printf '"good day %d"%s1%s\n"bad night %d"%s0%s\n' $i "$1" "$2" $i "$1" "$2"; done; }
  learns() { ran-train classify -q --encoder none -o x.ran "$1" && ran-train info x.ran | grep -q "labels  *$2 (2)"; }
  export RAN_BASE=none
  { printf '\357\273\277Text;Label\r\n'; rows ';' $'\r'; } >bom.csv
  learns bom.csv '0, 1'
  { printf 'text,label,,,\n'; rows , ,,,; printf ',,,,\n'; } >wide.csv # an empty row at the end
  learns wide.csv '0, 1'
  { printf ',text,label\n'; rows , '' | awk '{ print NR "," $0 }'; } >pandas.csv
  learns pandas.csv '0, 1'
  { printf 'text,label\n'; rows , ''; printf '"no label",\n'; } >gap.csv
  run -3 --separate-stderr ran-train classify --encoder none -o x.ran gap.csv
  [[ $stderr == *'gap.csv:14: there is neither "label" nor "labels"'*'--on-error=skip'* ]]
  { printf 'text,label\n'; rows , '' | sed 's/good/caf\xe9/'; } >latin.csv
  run -3 --separate-stderr ran-train classify --encoder none -o x.ran latin.csv
  [[ $stderr == *'latin.csv:2: column 5: this is not valid UTF-8 (Windows-1252? iconv -f WINDOWS-1252 -t UTF-8 FILE)'* ]]
  iconv -f WINDOWS-1252 -t UTF-8 latin.csv >utf8.csv
  learns utf8.csv '0, 1'
}

# labelled: awkward.ran, a model with awkward labels; one.jsonl.
labelled() {
  for i in {1..12}; do
    printf '{"text":"rain storm %d","label":"very wet"}\n{"text":"sun warm %d","label":"=dry"}\n' $i $i
  done >awkward.jsonl
  ran-train classify -q --encoder none --no-dev -o awkward.ran awkward.jsonl
  printf '{"id":"%s","text":"rain %s"}\n' a b >one.jsonl
}

@test "tables: labels with spaces were refused in the name of fastText" {
  labelled
  run -0 --separate-stderr ran-classify -m awkward.ran --output-format csv one.jsonl
  [ "${lines[0]}" = id,label,score,text ]
  [[ ${lines[1]} == 'a,very wet,0.'*',rain b' ]]
  run -0 ran-classify -m awkward.ran --output-format tsv one.jsonl
  [[ ${lines[1]} == $'a\tvery wet\t0.'*$'\train b' ]]
  run -3 --separate-stderr ran-classify -m awkward.ran --output-format fasttext one.jsonl
  [[ $stderr == *'the label "very wet" is empty or has white space, which --output-format=fasttext cannot write'* ]]
}

@test "tables: a spreadsheet computes no cell, and numbers stay numbers" {
  labelled
  jq -c -n '"=1+1", "+cmd|x", "-cmd", "@SUM(1)", "\tx", "＝1", "-5", "+5.5", "-1,5", "- 3 %", "-1e3", "-", "a=b", "-\"q\"", ""
    | {id: ., text: "sun"}' >ids.jsonl
  run -0 ran-classify -m awkward.ran --output-format csv ids.jsonl
  diff <(sed '1d; s/,.=dry,.*//' <<<"$output") - <<'END'
'=1+1
'+cmd|x
'-cmd
'@SUM(1)
'	x
'＝1
-5
+5.5
"-1,5"
- 3 %
-1e3
'-
a=b
"'-""q"""

END
  [ "$(grep -c "'=dry" <<<"$output")" -gt 10 ]
  printf '{"id":"\\r=1","text":"sun"}\n' | ran-classify -m awkward.ran --output-format csv | grep -q "^\"'"$'\r=1"'
  run -0 ran-classify -m awkward.ran --output-format tsv --probs --no-escape-formulas ids.jsonl
  [[ ${lines[0]} == $'id\tlabel\tscore\t=dry\tvery wet\ttext' && ${lines[1]} == $'=1+1\t=dry\t'* ]]
  run -0 --separate-stderr ran-classify -m awkward.ran --eval --eval-format csv awkward.jsonl
  [[ ${lines[1]} == "'=dry,"* ]]
  run -2 --separate-stderr ran-classify -m awkward.ran --no-escape-formulas ids.jsonl
  [[ $stderr == *'--escape-formulas is for a table: '* ]]
}
