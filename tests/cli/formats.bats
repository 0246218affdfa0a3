#!/usr/bin/env bats
# Formats of others, in and out: CoNLL's columns, fastText's lines, tables, whole files and folders,
# and the records of Prodigy, doccano, spaCy and Hugging Face.

bats_require_minimum_version 1.5.0
load records.bash

# names.ran tags persons and towns, labels.ran gives a label, several.ran any number of them.
files() {
  awk 'BEGIN {
    split("Ann Bo Cy Dee Eve", who); split("Oslo Rome Bern", town); split("met saw left", did)
    for (i = 0; i < 90; i++)
      printf "%s B-PER\n%s O\n%s B-LOC\n. O\n\n", who[i % 5 + 1], did[int(i / 2) % 3 + 1], town[i % 3 + 1]
  }' >names.conll
  for i in $(seq 40); do
    printf '__label__dry number %d: sun\n__label__wet number %d: rain\n' $i $i
  done >labels.txt
  sed 's/^__label__wet/& __label__storm/' labels.txt >several.txt
  shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 16 --min-window 2 --no-dev --min-count 1'
  ran-train tag -q $shape --epochs 20 --learning-rate 0.02 -o names.ran names.conll
  ran-train classify -q $shape --epochs 6 --learning-rate 0.02 -o labels.ran labels.txt
  ran-train classify -q $shape --epochs 6 --learning-rate 0.02 --input-format fasttext-labels \
    -o several.ran several.txt
}

# ---- what auto decides ---------------------------------------------------------------------------

@test "formats: auto goes by the first lines that are not blank, and says so with -v" {
  while IFS='|' read -r line format; do
    reads "\n \n$line\n" -v
    [[ $stderr == *"input is read as $format"* ]] || { echo "$line: $stderr" >&2; false; }
  done <<'END'
{"text":"a"}|jsonl
["a",{}]|jsonl
a __label__x|fasttext
a B-PER\nb O|conll
a NN I-NP O\nb NN I-NP B-LOC|conll
-DOCSTART- -X- O O|conll
# sent_id = 1|conll
1\ta\ta\tX\tY\t_\t0\troot\t_\t_|conll
x\ta b|tsv
END
  reads '{"text":"a"}\n'
  [ -z "$stderr" ]
}

@test "formats: a guess that was wrong ends in a sentence that says what to do" {
  reads 'a O\nb B-carotene\n\nc O\nd O\ne O\njust words that go on\n'
  [ "$status" -eq 1 ]
  [[ $stderr == *'input:7: the line has 5 columns, the first of the file has 2'*'--input-format'* ]]
  reads 'x\ta\ny\tb\nb\n'
  [[ $stderr == *"input:3: no tab"*"look like label, tab, text; set the format with --input-format"* ]]
  reads 'b\n' --input-format tsv
  [[ $stderr != *looked* ]]
  # The name of a file of records says that text is none.
  printf '\njust words\n{"text":"a"}\nmore words\n' >x.jsonl
  run -1 --separate-stderr ran-tokenize encode --vocab vocab.json x.jsonl
  [[ $stderr == *"x.jsonl:4: column 1: expected an object, '{', found 'm'"$'\n'* ]]
  [[ $stderr == *"x.jsonl:2: "*"found 'j' "*'--input-format text'*'conll'*'file'* ]]
  [[ ${lines[1]} == '{"text":"a",'* ]]
  # Where the first line says that they are JSON lines, they are.
  reads '{"text":"a"}\njust words\n'
  [[ $stderr == *'input:2: '* && $stderr != *'--input-format'* ]]
  reads '[\n' --input-format jsonl
  [[ $stderr == *"it looks like a JSON array"*"give --input-format=json"* ]]
}

# ---- CoNLL ---------------------------------------------------------------------------------------

@test "conll: sentences, documents, all columns; CR LF, a byte order mark, no last newline" {
  reads '\xef\xbb\xbf\n-DOCSTART- -X- O O\r\n\r\na NN B-NP O\r\nb NN I-NP B-PER\r\n\r\n \r\nc X Y O\r\n-DOCSTART- -X- O O\r\na A A O'
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  [ "$output" = '{"doc":1,"tokens":["a","b"],"tags":["O","B-PER"],"columns":[["NN","NN"],["B-NP","I-NP"]]}
{"doc":1,"tokens":["c"],"tags":["O"],"columns":[["X"],["Y"]]}
{"doc":2,"tokens":["a"],"tags":["O"],"columns":[["A"],["A"]]}' ]
}

@test "conll: words and tags in any column, or no tags" {
  reads 'X a O\nY b B-X\n' --word-column 2 --tag-column 1
  [ "$output" = '{"tokens":["a","b"],"tags":["X","Y"],"columns":[["O","B-X"]]}' ]
  reads 'a\nb\n\n\n\nc\n' --input-format conll
  [ "$output" = '{"tokens":["a","b"]}
{"tokens":["c"]}' ]
  reads 'a O\n' --tag-column 3
  [ "$status" -eq 3 ]
  [[ $stderr == *'input: no column 3: the first line has 2 (--tag-column)'* ]]
}

@test "conll: with tabs, words have spaces, and comments have none" {
  reads 'a b\tO\n#\tB-X\n# c\n#\tO\n'
  [ "$output" = '{"tokens":["a b","#","#"],"tags":["O","B-X","O"]}' ]
  reads 'a O\n# B-X\n'
  [ "$output" = '{"tokens":["a","#"],"tags":["O","B-X"]}' ]
  reads 'a\tO\n\tO\n'
  [ "$status" -eq 1 ]
  [[ $output == '{"ran_error":{"message":"the word, in column 1, is empty'*'"line":2}}' ]]
}

@test "conll: CoNLL-U, without lines that are no words" {
  reads '# newdoc id = x\n# text = ab c\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\tl\tDET\t_\t_\t_\t_\t_\t_\n2\tb\tl\tNOUN\t_\t_\t_\t_\t_\t_\n2.1\tz\t_\t_\t_\t_\t_\t_\t_\t_\n\n# newdoc\n1\tc\tl\tX\t_\t_\t_\t_\t_\t_\n'
  [ "$status" -eq 0 ]
  [ "$(jq -c '[.doc, .tokens, .tags, .columns[1]]' <<<"$output")" = '[1,["a","b"],["DET","NOUN"],["l","l"]]
[2,["c"],["X"],["l"]]' ]
}

@test "conll: tabs behind the tags were a column of them" {
  for end in '\t' '\t\r' '\t\t'; do
    printf "a\tB-X$end\nb\tO$end\n\nc\tB-X$end\n" >t.conll
    [ "$(ran-tokenize records t.conll | jq -c .tags)" = $'["B-X","O"]\n["B-X"]' ]
    [ "$(ran-tokenize records <t.conll | jq -c .tags)" = $'["B-X","O"]\n["B-X"]' ]
  done
  # Empty tags stay where there are others in their column.
  printf 'a\tNN\t\nb\tNN\tB-X\n' >t.conll
  [ "$(ran-tokenize records t.conll | jq -c .tags)" = '["","B-X"]' ]
}

@test "conll: names in the last column of CoNLL-U, among other features" {
  word() { printf '%d\t%s\t_\tNOUN\t_\t_\t0\t_\t_\t%s\n' "$@"; }
  for misc in 'SpaceAfter=No|name=%s' 'ner=%s|start_char=0|end_char=3' 'Entity=%s' '%s'; do
    (word 1 a "${misc/\%s/B-X}"; word 2 b "${misc/\%s/O}"; echo) >n.conllu
    [ "$(ran-tokenize records --tag-column 10 n.conllu | jq -c .tags)" = '["B-X","O"]' ]
  done
  [ "$(ran-tokenize records n.conllu | jq -c .tags)" = '["NOUN","NOUN"]' ]
}

@test "conll: a bad sentence is one bad record, named by its line" {
  reads 'a O\n\nb O\nc\nd O\n\na B-X\n\xff O\n\nb O\n' --rejects rejects
  [ "$status" -eq 1 ]
  [ "${#lines[@]}" -eq 4 ]
  [[ ${lines[1]} == '{"ran_error":{"message":"the line has 1 column, '*'"line":4}}' ]]
  [[ ${lines[2]} == '{"ran_error":{"message":"column 1: this is not valid UTF-8'*'"line":8}}' ]]
  [ "$(head -n 5 rejects | tr '\377' x)" = 'b O
c
d O

a B-X' ]
}

@test "conll: a sentence leaves as soon as its blank line is there [all]" {
  mkfifo in out
  ran-tokenize encode --vocab vocab.json --only --input-format conll <in >out &
  exec 5>in 6<out
  printf 'a O\nb O\n' >&5
  if read -t 0.3 -r line <&6; then false; fi
  printf '\n' >&5
  read -t 20 -r line <&6
  [[ $line == *'"ids":[5,6]'* ]]
  exec 5>&-
  wait $!
  exec 6<&-
}

@test "conll: schemes of tags are recognised in columns" {
  printf 'a I-X\nb B-X\nc O\n\na I-X\n' >iob1
  printf 'a S-X\nb B-X\nc E-X\n\na O\n' >iobes
  for scheme in iob1 iobes; do
    ran-train tag --check --check-format text $scheme 2>report
    grep -qi "$scheme" report || { cat report >&2; false; }
  done
}

@test "conll: a document is its sentences, for a model that joins them" {
  printf -- '-DOCSTART- O\n\nAnn B-PER\n\nsaw O\n\n-DOCSTART- O\n\nCy B-PER\n' >docs
  run -0 ran-train tag -q --no-dev --dim 8 --layers 1 --heads 1 --head-dim 8 --window 8 --min-window 2 \
    --epochs 1 --min-count 1 --join-sentences 8 -o joined.ran docs
  [ "$(ran-tag -m joined.ran docs | jq -c '[.doc, (.prediction.tags | length)]' | tr '\n' ' ')" = '[1,1] [1,1] [2,1] ' ]
}

@test "conll: ran-tag gives columns back, with one more" {
  printf -- '-DOCSTART- -X- O\n\nAnn NNP B-PER\nsaw VB O\n\n\nRome X B-LOC\n' >input
  ran-tag -m names.ran --output-format conll input >output
  printf -- '-DOCSTART- -X- O O\n\nAnn NNP B-PER B-PER\nsaw VB O O\n\nRome X B-LOC B-LOC\n\n' | cmp - output
  # Which is what conlleval wants.
  ran-tag --conlleval output | grep -q 'processed 4 tokens with 2 phrases; found: 2 phrases; correct: 2.'
  # And comes back as it was, but for the end of the lines.
  ran-tag -m names.ran --output-format conll --tag-column 3 output >again
  cut -d ' ' -f 1-4 again | cmp - output
}

@test "conll: ran-tag writes words and tags of any record" {
  printf '%s\n' '{"text":"Ann saw Rome."}' '{"tokens":["a b","-DOCSTART-","-X-",""]}' \
    '{"tokens":1}' '{"tokens":["Bo"],"ran_error":{}}' '{"text":"Bo"}' >input.jsonl
  run -1 --separate-stderr ran-tag -m names.ran --output-format conll input.jsonl
  [ "$(cut -d ' ' -f 1 <<<"$output")" = 'Ann
saw
Rome
.

a_b
_-DOCSTART-
_-X-
_



Bo' ]
  [[ $stderr == *'input.jsonl:3: '* ]]
  run -0 --separate-stderr ran-tag -m names.ran --output-format conll --max-tokens 1 - <<<'{"text":"Ann saw"}'
  [ "$output" = 'Ann B-PER
saw _' ]
  run -2 --separate-stderr ran-tag -m names.ran --output-format conll --into x input.jsonl
  [[ $stderr == *'leave out --into'* ]]
}

# ---- fastText ------------------------------------------------------------------------------------

@test "fasttext: ran-classify writes lines of labels and text" {
  printf '%s\n' '{"text":"sun\nsun\u0000 sun"}' '{"tokens":["rain","rain"]}' '{"x":1}' \
    '{"text":"a __label__b"}' '{"text":"rain"}' >input.jsonl
  run -1 --separate-stderr ran-classify -m labels.ran --output-format fasttext input.jsonl
  [ "$output" = '__label__dry sun sun  sun
__label__wet rain rain


__label__wet rain' ]
  [[ $stderr == *'input.jsonl:4: the text has a word that begins with __label__'* ]]
  run -0 ran-classify -m several.ran --output-format fasttext - <<<'{"text":"number 3: rain"}'
  [ "$output" = '__label__storm __label__wet number 3: rain' ]
  run -0 ran-classify -m labels.ran --output-format fasttext --threshold 1 - <<<'{"text":"sun"}'
  [ "$output" = 'sun' ]
}

@test "fasttext: what it writes, it reads" {
  ran-classify -m labels.ran --output-format fasttext labels.txt >out.txt
  cmp labels.txt out.txt
  ran-classify -m several.ran --output-format fasttext several.txt >out.txt
  [ "$(wc -l <out.txt)" -eq "$(wc -l <several.txt)" ]
  ran-classify -m several.ran --eval --input-format fasttext-labels out.txt | jq -e '.exact_match == 1 or .micro.f1 == 1'
}

@test "tables: ran-classify, ran-tag and --eval write CSV and TSV, which are read again" {
  printf '%s\n' '{"id":"x, \"y\"","text":"sun\nsun"}' '{"x":1}' '{"tokens":["rain","rain"]}' >input.jsonl
  run -1 --separate-stderr ran-classify -m labels.ran --output-format csv input.jsonl
  [ "$(sed 's/0\.[0-9e-]*/P/g' <<<"$output")" = 'id,label,score,text
"x, ""y""",dry,P,"sun
sun"

input.jsonl:3,wet,P,rain rain' ]
  ran-classify -m labels.ran --output-format tsv --probs labels.txt >out.tsv
  [ "$(head -n 1 out.tsv)" = $'id\tlabel\tscore\tdry\twet\ttext' ]
  run -0 --separate-stderr ran-classify -m labels.ran --eval out.tsv
  [ "$(jq -c '[.n, .accuracy]' <<<"$output")" = '[80,1]' ]
  run -0 ran-classify -m several.ran --output-format tsv - <<<'{"text":"number 3: rain"}'
  [[ ${lines[1]} == *$'\tstorm|wet\t'* ]]
  for i in 1 2 3; do ran-classify -m labels.ran --output-format csv --shard $i/3 labels.txt; done >parts
  ran-classify -m labels.ran --output-format csv labels.txt | cmp - parts
  run -0 ran-classify -q -m labels.ran --eval --eval-format csv labels.txt
  [ "${lines[0]}" = 'label,precision,recall,f1,support' ]
  [ "${lines[1]}" = 'dry,1,1,1,40' ]
  [ "${lines[3]}" = 'micro average,1,1,1,80' ]
  run -2 ran-classify -m labels.ran --output-format csv --top 2 labels.txt
  # Entities.
  run -0 --separate-stderr ran-tag -m names.ran --output-format csv - <<<'{"id":7,"text":"Ann saw Rome."}'
  [ "$(sed 's/0\.[0-9e-]*$/P/; s/,1$/,P/' <<<"$output")" = 'id,start,end,label,text,score
7,0,3,PER,Ann,P
7,8,12,LOC,Rome,P' ]
  run -0 ran-tag -q -m names.ran --eval --eval-format tsv names.conll
  [ "${lines[0]}" = $'label\tprecision\trecall\tf1\tgold\tfound\tcorrect' ]
  [ "${lines[3]}" = $'all\t1\t1\t1\t180\t180\t180' ]
}

@test "tables: the columns of a table stay, and label and score come behind" {
  printf 'nr;text;note\n1;sun;"a;b ""c"""\n2;"rain\nrain";=1+1\n3;sun\n' >in.csv
  run -1 --separate-stderr ran-classify -m labels.ran --output-format csv in.csv
  [ "$(sed 's/0\.[0-9e-]*$/P/' <<<"$output")" = 'nr,text,note,label,score
1,sun,"a;b ""c""",dry,P
2,"rain
rain",'"'"'=1+1,wet,P
3,sun,,,' ]
  # Parts are the whole; a second file has the same columns.
  for i in 1 2 3; do ran-classify -q -m labels.ran --errors-ok --output-format csv --shard $i/3 in.csv; done 2>/dev/null | cmp - <(echo "$output")
  [ "$(ran-classify -q -m labels.ran --errors-ok --output-format csv in.csv in.csv 2>/dev/null | wc -l)" = 9 ]
  printf 'nr,text\n1,sun\n' >other.csv
  run -3 --separate-stderr ran-classify -q -m labels.ran --output-format csv other.csv in.csv
  [[ $stderr == *'in.csv has other columns than the file before it'* ]]
  # A label that is there stays, and is what --eval compares with.
  printf 'label,text,score\nwet,sun,1\n' >gold.csv
  ran-classify -m labels.ran --probs --output-format tsv gold.csv >out.tsv
  [ "$(head -n 1 out.tsv)" = $'label\ttext\tscore\tlabel.2\tscore.2\tdry\twet' ]
  [ "$(ran-classify -m labels.ran --eval out.tsv | jq -c '[.n, .accuracy]')" = '[1,0]' ]
  # No two columns have one name.
  [ "$(printf 'label,text,label\na,sun,b\n' | ran-classify -q -m labels.ran --output-format csv | head -n 1)" = 'label,text,label.2,label.3,score' ]
  # Without a header, names are those that were assumed; without a row, there is a header.
  [ "$(printf 'wet\tsun\n' | ran-classify -q -m labels.ran --output-format csv | head -n 1)" = 'label,text,label.2,score' ]
  [ "$(echo nr,text | ran-classify -q -m labels.ran --output-format csv)" = 'nr,text,label,score' ]
  [ "$(ran-classify -q -m labels.ran --output-format csv </dev/null)" = 'id,label,score,text' ]
}

@test "tables: Excel where decimals have commas" {
  printf 'nr,text,note\n1,sun,0.5\n' >in.csv
  run -0 --separate-stderr ran-classify -m labels.ran --output-format excel in.csv
  [[ ${lines[0]} == $'\xef\xbb\xbfnr;text;note;label;score' ]]
  [[ ${lines[1]} =~ ^'1;sun;0.5;dry;0,'[0-9]+$ ]]
  ran-classify -m labels.ran --output-format excel in.csv >out.csv
  [ "$(ran-classify -q -m labels.ran --only out.csv | jq -r .id)" = out.csv:2 ]
  run -0 --separate-stderr ran-tag -m names.ran --output-format excel - <<<'{"id":7,"text":"Ann saw Rome."}'
  [[ ${lines[0]} == $'\xef\xbb\xbfid;start;end;label;text;score' ]]
  [[ ${lines[1]} =~ ^'7;0;3;PER;Ann;'[01](,[0-9]+)?$ ]]
  # Of several labels each has a score.
  run -0 ran-classify -m several.ran --output-format excel - <<<'{"id":1,"text":"number 3: rain"}'
  [[ ${lines[1]} =~ ^'1;storm|wet;0,'[0-9]+'|0,'[0-9]+';number 3: rain'$ ]]
}

@test "fasttext: labels that cannot be written, and options that make no sense" {
  for i in 1 2 3; do printf 'New York\ta %d\nBern\tb %d\n' $i $i; done >space.tsv
  ran-train classify -q --no-dev --dim 8 --layers 1 --heads 1 --head-dim 8 --window 8 --min-window 2 --epochs 1 \
    --min-count 1 --input-format tsv -o space.ran space.tsv
  run -3 --separate-stderr ran-classify -m space.ran --output-format fasttext - <<<'{"text":"a"}'
  [[ $stderr == *'the label "New York" is empty or has white space'* ]]
  # Tables can.
  for format in csv tsv; do
    [ "$(ran-classify -m space.ran --output-format $format - <<<'{"text":"a 1"}' | tr '\t' , | cut -d , -f 2)" = $'label\nNew York' ]
  done
  run -2 --separate-stderr ran-classify -m labels.ran --output-format fasttext --probs - <<<'{"text":"a"}'
  [[ $stderr == *'leave out --probs'* ]]
}

# ---- tables and lines ----------------------------------------------------------------------------

@test "tsv: empty fields, further tabs, CR LF, a byte order mark, no last newline" {
  reads '\xef\xbb\xbfx\ta\r\n\ta\tb\t\r\ny\t\nz z\tc' --input-format tsv
  [ "$status" -eq 1 ]
  [ "${lines[0]}" = '{"label":"x","text":"a"}' ]
  [ "${lines[1]}" = '{"text":"a\tb\t"}' ]
  [[ ${lines[2]} == '{"label":"y","text":"","ran_error":{"message":"the document has no tokens"'* ]]
  [ "${lines[3]}" = '{"label":"z z","text":"c"}' ]
}

# ---- files and folders ---------------------------------------------------------------------------

@test "files: a folder is its files, each a document that is called by its path" {
  mkdir -p all/sport/.git all/news
  printf 'a b\n\nc\r\n' >all/sport/1.txt
  printf '\xef\xbb\xbf{"text":"b"}' >all/sport/2.txt
  printf 'a\n\xff' >all/news/3.txt
  : >all/news/4.txt
  printf x >all/.hidden
  printf x >all/sport/.git/x
  run -1 --separate-stderr ran-tokenize encode --vocab vocab.json --drop text --into x all
  [ "$(jq -c '[.id, .x.ids, .ran_error.line]' <<<"$output")" = '["all/news/3.txt",null,2]
["all/news/4.txt",null,1]
["all/sport/1.txt",[5,6,7],null]
["all/sport/2.txt",[0,0,0,0,0,0,6,0,0],null]' ] || { echo "$output"; false; }
  [[ $stderr == *'all/news/3.txt:2: column 1: this is not valid UTF-8'* ]]
  # The format can be named, too; folders and lines may stand side by side.
  rm -r all/news
  echo '{"text":"c"}' >one.jsonl
  [ "$(ran-tokenize encode --vocab vocab.json one.jsonl all | jq -c .encoding.ids | tr '\n' ' ')" = \
    '[7] [5,6,7] [0,0,0,0,0,0,6,0,0] ' ]
  rm all/sport/1.txt
  [ "$(ran-tokenize encode --vocab vocab.json --input-format jsonl all | jq -c .encoding.ids)" = '[6]' ]
}

@test "files: --folder-label" {
  mkdir -p all/wet all/dry
  for i in 1 2 3 4 5 6; do
    echo "rain $i" >all/wet/$i
    echo "sun $i" >all/dry/$i
  done
  ran-train classify --check all --folder-label >report
  jq -e '.training.labels == {"dry": 6, "wet": 6} or ([.. | .labels? | objects] | .[0] | keys == ["dry", "wet"])' report
  cd all/wet
  run -1 --separate-stderr ran-tokenize encode --vocab ../../vocab.json --input-format file --folder-label 1
  [[ $output == '{"id":"1","text":"rain 1\n","ran_error":{"message":"--folder-label: '* ]] || { echo "$output"; false; }
}

@test "files: --files-from has names by lines or NULs" {
  mkdir all
  printf a >'all/x y'
  printf b >$'all/new\nline'
  printf 'all/x y\r\n\n' >list
  ran-tokenize encode --vocab vocab.json --files-from list --only | jq -c '[.id, .encoding.ids]' >got
  [ "$(cat got)" = '["all/x y",[5]]' ]
  find all -type f -print0 | sort -z | ran-tokenize encode --vocab vocab.json --files-from - --only | jq -c .id >got
  [ "$(cat got)" = '"all/new\nline"
"all/x y"' ]
  # Beside operands, which are what they always are.
  echo '{"text":"c"}' >one.jsonl
  [ "$(ran-tokenize encode --vocab vocab.json --files-from list one.jsonl | jq -c .encoding.ids | tr '\n' ' ')" = '[7] [5] ' ]
  # In a format that is named, they are files of it.
  echo one.jsonl >list
  [ "$(ran-tokenize encode --vocab vocab.json --files-from list --input-format jsonl | jq -c .encoding.ids)" = '[7]' ]
}

@test "files: lists and folders that hold nothing, and what cannot be opened" {
  mkdir empty loop
  run -3 --separate-stderr ran-tokenize encode --vocab vocab.json --files-from /dev/null </dev/null
  [[ $stderr == *'/dev/null lists no file'* ]]
  run -3 --separate-stderr ran-tokenize encode --vocab vocab.json empty
  [[ $stderr == *'empty: no file in this folder'* ]]
  ln -s ../loop loop/loop
  run -3 --separate-stderr ran-tokenize encode --vocab vocab.json loop
  [[ $stderr == *'cannot read loop/loop: a link leads back to this folder'* ]]
  run -3 --separate-stderr ran-tokenize encode --vocab vocab.json --input-format file nowhere
  [[ $stderr == *'cannot open nowhere: No such file or directory'* ]]
  run -3 --separate-stderr ran-tokenize encode --vocab vocab.json --files-from nowhere
  [[ $stderr == *'cannot open nowhere'* ]]
}

@test "files: one that cannot be read is a bad document, and the others are read" {
  mkdir all
  echo a >all/1
  ln -s nowhere all/2
  echo b >all/3
  run -1 --separate-stderr ran-tokenize encode --vocab vocab.json --drop text all
  [ "$(jq -c '[.id, .encoding.ids, .ran_error.message]' <<<"$output")" = \
    '["all/1",[5],null]
["all/2",null,"cannot read the file: No such file or directory"]
["all/3",[6],null]' ] || { echo "$output"; false; }
  [[ $stderr == *'all/2:1: cannot read the file: No such file or directory'* ]]
  printf 'all/3\nall/4\nall/1\n' >list
  run -1 --separate-stderr ran-tokenize encode --vocab vocab.json --files-from list --only
  [ "$(jq -c .encoding.ids <<<"$output" | tr '\n' ' ')" = '[6] null [5] ' ]
  run -3 --separate-stderr ran-tokenize encode --vocab vocab.json --files-from list --on-error stop
  # Of records, not one may be missing.
  echo all/4.jsonl >>list
  run -3 --separate-stderr ran-tokenize encode --vocab vocab.json --files-from list
  [ -z "$output" ]
  [[ $stderr == *'cannot open all/4.jsonl'* ]]
}

@test "files: in folders and lists, those whose names say so hold records" {
  mkdir all
  printf '{"text":"a"}\n{"text":"b"}\n' | tee all/1.jsonl >all/2.ndjson
  printf 'a O\n\nb O\n' | tee all/3.conll >all/4.conllu
  printf 'x\ta\ny\tb\n' >all/5.tsv
  printf '{"text":"a"}\n{"text":"b"}\n' | tee all/6.txt all/7.json all/8jsonl >all/.jsonl
  records() {
    ran-tokenize encode --vocab vocab.json --only "$@" | jq -r .id | sed 's/:.*//' | uniq -c | tr -s ' \n' ' '
  }
  all=' 2 all/1.jsonl 2 all/2.ndjson 2 all/3.conll 2 all/4.conllu 2 all/5.tsv 1 all/6.txt 1 all/7.json 1 all/8jsonl '
  [ "$(records all)" = "$all" ] || { records all; false; }
  ls all/* >list
  [ "$(records --files-from list)" = "$all" ]
  # What a format says counts for all of them.
  [ "$(records --input-format file all | wc -w)" -eq 16 ]
  run ran-tokenize encode --vocab vocab.json --input-format file all
  [ "${#lines[@]}" -eq 8 ]
}

@test "files: '.' was a label of --folder-label, and a slash too many left none" {
  mkdir -p all/wet/deep
  echo rain >all/wet/1
  cp all/wet/1 all/wet/deep/2
  encode_labels() { ran-tokenize encode -q --vocab "$vocab" --folder-label --errors-ok "$@" 2>/dev/null | jq -r '.label // .ran_error.message[:14]'; }
  ran-tokenize learn -q --min-count 1 -o vocab.json <<<'{"text":"rain"}'
  vocab=$PWD/vocab.json
  for name in all/wet/1 all//wet//1 all/wet/./1 ./all/./wet/.//1 "$PWD/all/wet/1"; do
    [ "$(encode_labels "$name")" = wet ] || { echo "$name"; false; }
  done
  [ "$(encode_labels all/wet/. all/wet//)" = $'wet\ndeep\nwet\ndeep' ]
  cd all/wet
  [ "$(encode_labels ./1 .//1 ././1 deep/../1 ../wet/1)" = $'--folder-label\n--folder-label\n--folder-label\n--folder-label\nwet' ]
}

@test "files: --folder-label takes files whole, too" {
  mkdir -p all/wet all/dry
  for i in 1 2; do
    printf 'rain\n%d' $i >all/wet/$i.txt
    printf 'sun\n%d' $i >all/dry/$i.txt
  done
  echo '{"text":"rain","label":"wet"}' >more.jsonl
  ran-train classify --check --folder-label all/*/*.txt more.jsonl >report
  [ "$(jq -c '[.documents, .labels]' report)" = '[5,{"dry":2,"wet":3}]' ] || { cat report; false; }
  run -3 --separate-stderr ran-train classify -o m.ran all
  [[ $stderr == *'no labelled document'*'--folder-label'* ]]
  run -3 --separate-stderr ran-classify -m labels.ran --eval all
  [[ $stderr == *'no record has a label: there is nothing to compare with (--folder-label takes '* ]]
  run -0 --separate-stderr ran-classify -m labels.ran --eval --folder-label all
  run -3 --separate-stderr ran-classify -m labels.ran --eval - <<<'{"text":"a"}'
  [[ $stderr != *folder* && $stderr == *'(--label-member names the member or column with the label)'* ]]
}

@test "files: many small ones, in order, for any number of threads [all]" {
  mkdir many
  for i in $(seq -w 1000); do echo "a b $i" >many/$i; done
  ran-tokenize encode --vocab vocab.json -j 1 many >1.jsonl
  ran-tokenize encode --vocab vocab.json -j 7 many >7.jsonl
  cmp 1.jsonl 7.jsonl
  [ "$(jq -r .id 1.jsonl | head -n 2 | tr '\n' ' ')" = 'many/0001 many/0002 ' ]
  [ "$(wc -l <1.jsonl)" -eq 1000 ]
}

# ---- records of other tools ----------------------------------------------------------------------

@test "shapes: spans of Prodigy, doccano, spaCy are tags [all]" {
  count=0
  while read -r record; do
    echo "$record" >input.jsonl
    run -0 --separate-stderr ran-tag -m names.ran --eval --eval-format json input.jsonl
    jq -e '.strict.gold == 2 or ([.. | .gold? | numbers] | .[0] == 2) or .conlleval.gold == 2' <<<"$output" ||
      { echo "$record: $output" >&2; false; }
    count=$((count + 1))
  done <<'END'
{"text":"Ann saw Rome","spans":[{"start":0,"end":3,"label":"PER"},{"start":8,"end":12,"label":"LOC"}]}
{"text":"Ann saw Rome","tokens":[{"text":"Ann","start":0,"end":3,"id":0,"ws":true},{"text":"saw","start":4,"end":7,"id":1},{"text":"Rome","start":8,"end":12,"id":2}],"spans":[{"start":0,"end":3,"token_start":0,"token_end":0,"label":"PER"},{"start":8,"end":12,"token_start":2,"token_end":2,"label":"LOC"}],"answer":"accept","meta":{"x":1}}
{"text":"Ann saw Rome","label":[[0,3,"PER"],[8,12,"LOC"]]}
{"text":"Ann saw Rome","labels":[[0,3,"PER"],[8,12,"LOC"]]}
{"data":"Ann saw Rome","label":[[0,3,"PER"],[8,12,"LOC"]]}
{"text":"Ann saw Rome","annotations":[{"label":7,"start_offset":0,"end_offset":3},{"label":8,"start_offset":8,"end_offset":12}]}
{"text":"Ann saw Rome","entities":[{"id":1,"label":"PER","start_offset":0,"end_offset":3},{"id":2,"label":"LOC","start_offset":8,"end_offset":12}],"relations":[]}
{"text":"Ann saw Rome","entities":[[0,3,"PER"],[8,12,"LOC"]]}
["Ann saw Rome",{"entities":[[0,3,"PER"],[8,12,"LOC"]]}]
{"tokens":["Ann","saw","Rome"],"ner_tags":["B-PER","O","B-LOC"]}
END
  [ "$count" -eq 10 ]
}

@test "shapes: what is wrong with a span is said by its name" {
  printf '%s\n' '{"text":"Ann","entities":[[0,9,"PER"]]}' '{"text":"Ann","label":[[0,3]]}' \
    '{"text":"Ann","annotations":[{"label":null,"start_offset":0,"end_offset":3}]}' \
    '{"text":"Ann","entities":[[0,"3","PER"]]}' '{"text":"Ann","spans":[{"start":0,"end":3}]}' \
    '{"text":"Ann","entities":["PER"]}' >bad.jsonl
  run -4 --separate-stderr ran-train tag --check bad.jsonl
  [[ $stderr == *'bad.jsonl:1: entities[0], 0 to 9, is out of range'* ]] || { echo "$stderr"; false; }
  [[ $stderr == *'bad.jsonl:2: label[0] must be an object of start, end and label'* ]]
  [[ $stderr == *'bad.jsonl:3: the label of annotations[0] must be'* ]]
  [[ $stderr == *'bad.jsonl:4: start and end of entities[0] must be whole numbers'* ]]
  [[ $stderr == *'bad.jsonl:5: spans[0] must be an object'* ]]
  [[ $stderr == *'bad.jsonl:6: there are no "tags"'* ]]
}

@test "shapes: what somebody rejected or ignored is not learned from, nor compared with" {
  printf '%s\n' '{"text":"a","label":"x","answer":"accept"}' '{"text":"b","label":"y","answer":"reject"}' \
    '{"text":"c","label":"y","answer":"ignore"}' '{"text":"d","label":"z","answer":"Paris"}' \
    '{"text":"e","label":"x"}' >input.jsonl
  run --separate-stderr ran-train classify --check input.jsonl
  [[ $stderr == *'left out 2 records whose "answer" is reject or ignore'* ]]
  [[ $output != *'"y"'* ]]
  [[ $output == *'"z"'* ]]
  # For a vocabulary, and to be labelled, a text is a text.
  [ "$(ran-classify -m labels.ran input.jsonl | wc -l)" -eq 5 ]
  run -0 --separate-stderr ran-classify -m labels.ran --eval - <<<'{"text":"sun","label":"dry"}
{"text":"sun","label":"wet","answer":"reject"}'
  jq -e '.n == 1 and .accuracy == 1' <<<"$output"
}

@test "shapes: an answer, or options, given twice is none" {
  answers='"answer":"accept","answer":"reject"'
  run -4 --separate-stderr ran-train classify --check - <<<"{\"text\":\"a\",\"label\":\"x\",$answers}"
  [[ $stderr == *'"answer" is given twice'* ]]
  run -3 --separate-stderr ran-classify -m labels.ran --eval - <<<"{\"text\":\"a\",\"label\":\"dry\",$answers}"
  [[ $stderr == *'"answer" is given twice'* ]]
  options='"options":[{"id":"dry"}],"options":null'
  run -4 --separate-stderr ran-train classify --check - <<<"{\"text\":\"a\",$options,\"accept\":[\"dry\"]}"
  [[ $stderr == *'"options" is given twice'* ]]
  # Whoever does not read it lets it pass.
  ran-classify -m labels.ran - <<<"{\"text\":\"a\",$answers}"
}

@test "shapes: labels as a list, and spaCy's cats" {
  printf '%s\n' '{"text":"sun","label":["dry"]}' '{"text":"rain","cats":{"dry":0.0,"wet":1.0}}' \
    '["rain",{"cats":{"dry":false,"wet":true},"entities":[]}]' >input.jsonl
  run -0 --separate-stderr ran-classify -m labels.ran --eval input.jsonl
  jq -e '.n == 3 and .accuracy == 1' <<<"$output"
  # One label each is one label; as soon as one has none or two, there may be several.
  run --separate-stderr ran-train classify --check input.jsonl
  [[ $output == *'"several_labels":false'* ]]
  echo '{"text":"rain","cats":{"dry":1,"wet":1}}' >>input.jsonl
  run --separate-stderr ran-train classify --check input.jsonl
  [[ $output == *'"several_labels":true'* ]]
  run -4 --separate-stderr ran-train classify --check - <<<'{"text":"rain","cats":{"dry":0.5}}'
  [[ $stderr == *'each value in "cats" must be 1 or 0'* ]]
}

@test "shapes: what was chosen among Prodigy's options" {
  options='"options":[{"id":"dry","text":"Dry"},{"id":"wet","text":"Wet"}]'
  printf '%s\n' "{\"text\":\"sun\",$options,\"accept\":[\"dry\"],\"answer\":\"accept\"}" \
    "{\"text\":\"rain\",$options,\"accept\":[\"wet\"],\"answer\":\"accept\"}" >input.jsonl
  run -0 --separate-stderr ran-classify -m labels.ran --eval input.jsonl
  jq -e '.n == 2 and .accuracy == 1' <<<"$output"
  run --separate-stderr ran-train classify --check input.jsonl
  [[ $output == *'"several_labels":false'* ]]
  # Nothing was chosen, which is for several labels to say; not all were looked at; no choice.
  printf '%s\n' "{\"text\":\"fog\",$options,\"accept\":[],\"answer\":\"accept\"}" \
    "{\"text\":\"snow\",$options,\"accept\":[\"hail\"],\"answer\":\"ignore\"}" >>input.jsonl
  run --separate-stderr ran-train classify --check input.jsonl
  [ "$(jq -c '[.documents, .several_labels, .labels]' <<<"$output")" = '[3,true,{"dry":1,"wet":1}]' ]
  [[ $stderr == *'left out 1 record whose'* ]]
  run -4 --separate-stderr ran-train classify --check - <<<'{"text":"a","accept":["text/html"]}'
  [[ $stderr == *'there is neither "label" nor "labels"'* ]]
}

@test "names: tags and labels that are numbers [all]" {
  printf 'O\nB-PER\r\nI-PER\nB-LOC' >names
  echo '["O", "B-PER", "I-PER", "B-LO\u0043"]' >list.json
  printf '{"x": 1,\n "id2label": {"1": "B-PER", "0": "O",\n "3": "B-LOC", "2": "I-PER"}}\n' >config.json
  feature='{"names": ["O", "B-PER", "I-PER", "B-LOC"], "_type": "ClassLabel"}'
  other='{"names": ["x", "y"], "_type": "ClassLabel"}'
  echo "{\"features\": {\"label\": $other, \"pos_tags\": {\"feature\": $other}, \"ner_tags\":
    {\"feature\": $feature, \"length\": -1, \"_type\": \"Sequence\"}}}" >dataset_info.json
  echo "$feature" >feature.json
  for names in names list.json config.json dataset_info.json feature.json; do
    ran-tag -m names.ran --eval --eval-format json --label-names $names - <<<'{"tokens":["Ann","saw","Rome"],"ner_tags":[1,0,3]}
{"text":"Ann saw Rome","spans":[{"start":0,"end":3,"label":"PER"},{"start":8,"end":12,"label":"LOC"}]}' >report
    jq -e '.n == 2 and .strict.gold == 4 and .strict.correct == 4' report || { cat report; false; }
  done
  # They are learned by name, and nothing of the file is left in the model.
  jq -nc 'range(20) | {tokens: ["Ann", "met", "Bo"], ner_tags: [1, 0, 1]}' >numbers.jsonl
  jq -c '.ner_tags |= map(if . == 1 then "B-PER" else "O" end)' numbers.jsonl >named.jsonl
  shape='--dim 8 --layers 1 --heads 1 --head-dim 8 --window 8 --min-window 2 --no-dev --epochs 1'
  ran-train tag -q $shape --label-names names -o a.ran numbers.jsonl
  ran-train tag -q $shape -o b.ran named.jsonl
  same_output "ran-tag -m a.ran --logits named.jsonl" "ran-tag -m b.ran --logits named.jsonl"
  ran-train tag -q --label-names list.json --replay a.ran numbers.jsonl
  run -0 --separate-stderr ran-train tag $shape -o c.ran numbers.jsonl
  [[ $stderr == *'numbers.jsonl: the tags are numbers, which mark no entities; name them with --label-names'* ]]
  run -3 --separate-stderr ran-tag -m names.ran --eval numbers.jsonl
  [[ $stderr == *'--label-names FILE'* ]]
}

@test "names: labels that are numbers, of which -1 is none" {
  echo '{"features": {"text": {"dtype": "string"}, "label": {"names": ["dry", "wet"], "_type": "ClassLabel"}}}' >info.json
  printf '%s\n' '{"text":"sun","label":0}' '{"text":"rain","label":1}' '{"text":"rain","label":-1}' \
    '{"text":"rain","label":"wet"}' '{"text":"sun","labels":[0]}' >input.jsonl
  run -0 --separate-stderr ran-classify -m labels.ran --eval --label-names info.json input.jsonl
  jq -e '.n == 4 and .n_skipped == 1 and .accuracy == 1' <<<"$output"
  run -1 --separate-stderr ran-classify -m labels.ran --eval --label-names info.json - <<<'{"text":"sun","label":0}
{"text":"sun","label":2}
{"text":"sun","label":0.0}'
  [[ $stderr == *'standard input:2: the label 2 has no name: info.json names 0 to 1'* ]]
  [[ $stderr == *'standard input:3: the label 0.0 has no name'* ]]
  # Without names they are what they are.
  run --separate-stderr ran-train classify --check input.jsonl
  [[ $output == *'"-1":1'* ]]
}

@test "names: a byte order mark was a part of the first name, and hid JSON" {
  printf '\xef\xbb\xbfdry\r\nwet\r\n' >names
  printf '\xef\xbb\xbf["dry","wet"]' >list.json
  for names in names list.json; do
    ran-train classify -q --check --label-names $names - <<<'{"text":"sun","label":0}
{"text":"rain","label":1}' >report || true
    jq -e '.labels == {dry: 1, wet: 1}' report
  done
}

@test "names: files that have none" {
  says() { # says WORDS TEXT
    printf "$2" >file
    run -3 --separate-stderr ran-train classify --check --label-names file - <<<'{"text":"a","label":0}'
    [[ $stderr == "ran-train: file: $1"* ]] || { echo "$2: $stderr" >&2; false; }
  }
  says 'no names' ''
  says 'no names' '[]'
  says 'an empty line' 'a\n\nb\n'
  says 'not text in UTF-8' 'a\n\xff\n'
  says 'not text in UTF-8' 'a\0\n'
  says 'not valid JSON' '["a",'
  says 'not valid JSON' '["a"], "b": 1'
  says 'each name must be a string' '["a",1]'
  says '"id2label" must name all numbers' '{"id2label":{"0":"a","2":"b"}}'
  says 'no "id2label", no "names", and no names of "label" or "labels" in "features"' '{"features":{"label":{"dtype":"x"}}}'
  says 'no "id2label"' '{"features":{"ner_tags":{"feature":{"names":["x"]}}}}'
  run -3 --separate-stderr ran-train classify --check --label-names nowhere - <<<'{}'
  [[ $stderr == *'cannot '*'nowhere'* ]]
  run -2 --separate-stderr ran-classify -m labels.ran --label-names names.conll - <<<'{}'
  [[ $stderr == *'--label-names is for --eval'* ]]
  run -2 --separate-stderr ran-tag -m names.ran --label-names names.conll - <<<'{}'
}

@test "shapes: a record of another tool goes through byte for byte" {
  line='{"data":"sun", "label":["dry"],"cats":{},"meta":{"x":1.50}}'
  run -0 --separate-stderr ran-classify -m labels.ran - <<<"$line"
  [[ $output == "${line%\}},\"prediction\":"* ]]
  run -0 ran-classify -m labels.ran --drop text - <<<'["sun",{"meta":1}]'
  [[ $output == '{"meta":1,"prediction":'* ]]
}

# ---- nothing is lost -----------------------------------------------------------------------------

@test "formats: as many records as there are, whatever the bytes" {
  # Random lines of awkward pieces: each that is not blank gives one record or one error.
  awk 'BEGIN { srand(7)
    n = split("a|b|\t|\t\t| |  |__label__x|__label__|B-X|O|\"|\\|{|}|[|é|\xff|\001|-X-|#", piece, "|")
    for (i = 0; i < 3000; i++) {
      line = ""
      for (k = int(rand() * 6); k >= 0; k--) line = line piece[int(rand() * n) + 1]
      printf "%s%s\n", line, rand() < 0.2 ? "\r" : ""
    } }' >awkward
  full=$(LC_ALL=C grep -avc $'^[ \t\r]*$' awkward)
  for format in jsonl fasttext fasttext-labels tsv text; do
    run --separate-stderr ran-tokenize encode -q --vocab vocab.json --input-format $format awkward
    [ "${#lines[@]}" -eq "$full" ] || { echo "$format: ${#lines[@]} of $full" >&2; false; }
  done
  # Of columns, each run of such lines; with all of their words.
  blocks=$(LC_ALL=C awk '/^[ \t]*\r?$/ { on = 0; next } !on { n++; on = 1 } END { print n }' awkward)
  run --separate-stderr ran-tokenize encode -q --vocab vocab.json --input-format conll --tag-column 1 awkward
  [ "${#lines[@]}" -eq "$blocks" ]
}

@test "formats: a million lines take no more memory than a tenth of them [all]" {
  command -v /usr/bin/time >/dev/null || skip 'no time'
  lines() {
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
      print i % 9 ? "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd\tO" : "" }'
  }
  peak() { # a sanitizer keeps what is released for a while
    ASAN_OPTIONS=${ASAN_OPTIONS-}:quarantine_size_mb=1 /usr/bin/time -f %M ran-tokenize encode -q -j 1 \
      --vocab vocab.json --only --input-format conll "$1" 2>&1 >/dev/null | tail -n 1
  }
  lines 100000 >few
  lines 1000000 >many
  [ "$(peak many)" -lt $(($(peak few) * 3 / 2)) ]
}

@test "formats: tokens that are no array, beside ids, never end or crash a table or fastText's lines" {
  for tokens in 5 '"abc"' '{"a":1}' true; do
    echo '{"id":"a","ids":[6,7],"tokens":'"$tokens"',"x":1}' >odd.jsonl
    for format in csv tsv fasttext; do
      run timeout 120 ran-classify -q -m labels.ran --output-format $format odd.jsonl
      [ "$status" -lt 5 ]
    done
  done
}
