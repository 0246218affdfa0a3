#!/usr/bin/env bats
# Wrong inputs and command lines, and what is said about each: one message, with the cause and what to
# do next. Before there was an error for each line, or the truth and no help.

bats_require_minimum_version 1.5.0

setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  for i in $(seq 30); do printf '{"text":"rain a%d","label":"wet"}\n{"text":"sun a%d","label":"dry"}\n' $i $i; done >good.jsonl
  ran-train classify -q --encoder none -o m.ran good.jsonl
  ran-tokenize learn -q --min-count 1 -o vocab.json good.jsonl
  printf 'PAR1\025\004' >x.parquet
  printf 'ARROW1\0\0' >x.arrow
  printf 'PK\003\004\024\0\n' >x.xlsx
  printf '%%PDF-1.4\n%%\342\343\n' >x.pdf
  printf '\320\317\021\340\241\261\n' >x.doc
  printf '{\\rtf1 hello}\n' >x.rtf
  printf '\377\376t\0e\0x\0t\0\n\0' >x.utf16
  printf 't\0e\0x\0t\0,\0l\0a\0\n\0' >y.utf16
  printf 'BZh91AY&SY\001\n' >x.bz2
  printf '\004\042\115\030\001\n' >x.lz4
  printf 'SQLite format 3\0\n' >x.db
  printf '\200\004\225\001\n' >x.pkl
  printf '\211PNG\r\n\032\n' >x.png
  printf '\037\213\010\0\0' >cut.gz
  { printf '%257s' ' ' | tr ' ' '\0'; printf 'ustar\n'; } >x.tar
  printf 'text,label\na,x\n' >x.csv
  printf 'text,label\na,x,y\n' >wide.csv
  printf 'text,label\n"a,x\nb,y\n' >open.csv
  printf 'text,l\344bel\na,x\n' >latin.csv
  printf 'text,Gr\366\337e\na,x\n' >latin2.csv
  printf 'Satz;Klasse\na;x\n' >german.csv
  printf 'text,options\na,x\n' >options.csv
  printf '1,"a, b",x\n' >nohead.csv
  printf 'caf\351\n' >latin.txt
  printf '\357\273\277sep=;\r\ntext;label\r\na;x\r\n' >sep.csv
  printf '[{"text":"a"},\n{"text":"b"}]\n' >array.json
  printf '{\n  "text": "a"\n}\n' >pretty.json
  printf '{"review_body":"a","y":1}\n' >other.jsonl
  printf '{"text":"a"}\n' >nolabel.jsonl
  printf '{"text":"a","label":"x"}\n{"text":"b","label":"x"}\n' >onelabel.jsonl
  printf '{"text":"a\n' >broken.jsonl
  mkdir empty
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
}

# each: a line "STATUS|COMMAND|what the message must have" for each mistake on standard input. No
# message is longer than a few lines.
each() {
  local count=0
  while IFS='|' read -r want command message; do
    run --separate-stderr bash -c "$command </dev/null"
    if [ "$status" -ne "$want" ] || [[ $stderr != *"$message"* ]] || [ "${#stderr_lines[@]}" -gt 4 ]; then
      printf '%s\n  status %d, not %d\n  want %s\n  have %s\n' "$command" "$status" "$want" "$message" "$stderr" >&2
      return 1
    fi
    count=$((count + 1))
  done
  echo "$count mistakes"
  [ "$count" -ge "$1" ]
}

@test "mistakes: files that are no text, and models, vocabularies and data in each other's place" {
  each 21 <<'END'
3|ran-classify -m m.ran x.parquet|x.parquet is a Parquet file: make JSON lines of it first, with pandas or DuckDB
3|ran-classify -m m.ran x.arrow|x.arrow is an Arrow file: make JSON lines of it first
3|ran-classify -m m.ran x.xlsx|x.xlsx is a ZIP archive (.zip, .xlsx, .docx, .odt): unpack it first; save a spreadsheet as CSV
3|ran-classify -m m.ran x.pdf|x.pdf is a PDF document: make text of it first: pdftotext
3|ran-classify -m m.ran x.doc|x.doc is a document of an old Office (.doc, .xls): save the text as plain text
3|ran-classify -m m.ran x.rtf|x.rtf is a document in RTF: save the text as plain text
3|ran-classify -m m.ran x.utf16|x.utf16 is text in UTF-16: convert it: iconv -f UTF-16 -t UTF-8 FILE
3|ran-classify -m m.ran y.utf16|y.utf16 is text in UTF-16: convert it: iconv -f UTF-16LE -t UTF-8 FILE
3|ran-classify -m m.ran x.bz2|x.bz2 is compressed with bzip2: unpack it first: bzcat
3|ran-classify -m m.ran x.lz4|x.lz4 is compressed with lz4: unpack it first: lz4 -dc
3|ran-classify -m m.ran cut.gz|cannot read cut.gz: gzip cannot unpack it: it is damaged, or ends too early
3|ran-classify -m m.ran x.db|x.db is an SQLite database: make JSON lines of it first
3|ran-classify -m m.ran x.pkl|x.pkl is a pickle of Python: make JSON lines of it first
3|ran-classify -m m.ran x.png|x.png is a picture: only text can be read
3|ran-classify -m m.ran x.tar|x.tar is a tar archive: unpack it first: tar -xf
3|ran-classify -m m.ran m.ran|m.ran is a model: give models to -m (or --init), and documents as files
3|ran-train classify -o new.ran vocab.json|vocab.json is a vocabulary: give it to --vocab, and documents as files
3|ran-classify -m good.jsonl good.jsonl|good.jsonl is a file of JSON lines, no model: a model is a file that ran-train wrote (-o MODEL), or the folder of a pretrained encoder
3|ran-classify -m vocab.json good.jsonl|vocab.json is a vocabulary, no model
3|ran-tokenize encode --vocab m.ran good.jsonl|m.ran is a model, no vocabulary: a vocabulary is a file that ran-tokenize learn wrote (-o VOCAB)
3|ran-tokenize encode --vocab good.jsonl good.jsonl|good.jsonl is a file of JSON lines, no vocabulary
END
}

@test "mistakes: tables and JSON" {
  each 19 <<'END'
3|ran-classify -m m.ran --input-format jsonl x.csv|x.csv: the first line is no record, it looks like a table: give --input-format=csv, or leave out --input-format
1|ran-classify -m m.ran wide.csv|wide.csv:2: the row has 3 cells, the header has 2: a cell with the delimiter, a line end or a quote needs quotes around it (--delimiter, --quotes)
1|ran-classify -m m.ran open.csv|open.csv:2: a quote opens a cell of this row and is never closed: write quotes inside a cell twice, or give --quotes=no
3|ran-classify -m m.ran latin.csv|latin.csv: the header is not valid UTF-8 (Windows-1252? iconv -f WINDOWS-1252 -t UTF-8 FILE)
3|ran-classify -m m.ran latin2.csv|latin2.csv: the header is not valid UTF-8 (Windows-1252? iconv -f WINDOWS-1252 -t UTF-8 FILE)
1|ran-classify -m m.ran latin.txt|this is not valid UTF-8 (Windows-1252? iconv -f WINDOWS-1252 -t UTF-8 FILE)
3|ran-classify -m m.ran sep.csv|sep.csv: the first line, sep=, is for spreadsheets only: leave it out (tail -n +2 FILE)
3|ran-classify -m m.ran german.csv|which column is the text? give --text-member NAME, one of Satz, Klasse; if the first row is no header, --header=no
3|ran-classify -m m.ran nohead.csv|or name the columns, for example --columns id,label,text
3|ran-train classify -o n.ran --text-member Satz german.csv|which column is the label? give --label-member NAME, one of Satz, Klasse; if the first row is no header, --header=no
3|ran-classify -m m.ran --eval --text-member Satz german.csv|which column is the label? give --label-member NAME, one of Satz, Klasse
3|ran-train classify -o n.ran options.csv|which column is the label? give --label-member NAME, one of text, options; if the first row is no header, --header=no
3|ran-classify -m m.ran --text-member Text x.csv|x.csv: no column "Text": the columns are text, label (--text-member)
3|ran-train classify -o n.ran --label-member stars x.csv|x.csv: no column "stars": the columns are text, label (--label-member)
3|ran-classify -m m.ran --input-format jsonl array.json|array.json: the first line is no record, it looks like a JSON array, or JSON with line ends within records: give --input-format=json, or leave out --input-format
3|ran-classify -m m.ran --input-format jsonl pretty.json|pretty.json: the first line is no record, it looks like a JSON array, or JSON with line ends
1|ran-classify -m m.ran other.jsonl|(--text-member names another member)
3|ran-classify -m m.ran --eval nolabel.jsonl|no record has a label: there is nothing to compare with (--label-member names the member or column with the label)
3|ran-train classify -o n.ran onelabel.jsonl|all documents have the label "x": training needs at least two
1|ran-classify -m m.ran broken.jsonl|broken.jsonl:1: column 11: a string has no closing quote
END
}

@test "mistakes: command lines" {
  each 22 <<'END'
2|ran-classify good.jsonl|no model: give --model FILE
3|ran-classify -m nowhere.ran good.jsonl|cannot open nowhere.ran: No such file or directory
3|ran-classify -m m.ran nowhere.jsonl|cannot open nowhere.jsonl: No such file or directory
3|ran-classify -m m.ran empty|empty: no file in this folder
3|ran-tag -m m.ran good.jsonl|m.ran: this model classifies documents: use ran-classify
2|ran-train classify good.jsonl|no output file: give -o MODEL
2|ran-tokenize encode good.jsonl|no vocabulary: give --vocab FILE or -m MODEL
2|ran-train|give a verb first: classify, tag, lm, mlm, distil, info, diff, convert or import
2|ran-train clasify good.jsonl|unknown verb 'clasify'; did you mean classify?
2|ran-train class good.jsonl|unknown verb 'class'; did you mean classify?
2|ran-train supervised good.jsonl|unknown verb 'supervised'; did you mean classify?
2|ran-tokenize train good.jsonl|unknown verb 'train'; did you mean learn?
2|ran-lm perplexity good.jsonl|unknown verb 'perplexity'; did you mean score?
2|ran-train classify --lr 0.1 -o n.ran good.jsonl|unknown option --lr; did you mean --learning-rate?
2|ran-train classify --batch-size 8 -o n.ran good.jsonl|unknown option --batch-size; did you mean --batch?
2|ran-train classify --num_train_epochs 3 -o n.ran good.jsonl|did you mean --epochs?
2|ran-train classify --learning_rate 1 -o n.ran good.jsonl|unknown option --learning_rate; did you mean --learning-rate?
2|ran-classify -m m.ran --evaluate good.jsonl|unknown option --evaluate; did you mean --eval?
2|ran-classify --model-file m.ran good.jsonl|unknown option --model-file; did you mean --model?
2|ran-classify -m m.ran --sep ";" x.csv|unknown option --sep; did you mean --delimiter?
2|ran-classify -m m.ran --delimiter ab x.csv|--delimiter ab: give one character of ASCII, or tab, comma, semicolon, pipe or space
2|ran-classify -m m.ran --output-format xlsx good.jsonl|--output-format must be jsonl, fasttext, csv, tsv, excel, npy, label-studio or html, not 'xlsx'
END
}
