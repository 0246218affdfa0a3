#!/usr/bin/env bats
# --vectors FOLDER: vectors with their vocabulary, in the form of Model2Vec.

bats_require_minimum_version 1.5.0
load train.bash

# folder NAME: vectors of two numbers for the words of documents(), drawn from 1, -1, 2 and -0.5.
folder() {
  local header vocabulary='"[UNK]":0' id=0 word
  mkdir "$1"
  for word in rain sun snow word{0..6}; do
    vocabulary+=",\"$word\":$((++id))"
  done
  printf '%s' '{"version":"1.0","added_tokens":[],"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":null,"decoder":null,"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{' \
    "$vocabulary" '}}}' >"$1/tokenizer.json"
  header='{"embeddings":{"dtype":"F32","shape":[11,2],"data_offsets":[0,88]}}'
  {
    printf "\\x$(printf %x ${#header})\0\0\0\0\0\0\0%s" "$header"
    for ((id = 0; id < 22; id++)); do
      case $((id * 7 % 4)) in
      0) printf '\0\0\x80\x3f' ;;
      1) printf '\0\0\x80\xbf' ;;
      2) printf '\0\0\0\x40' ;;
      3) printf '\0\0\0\xbf' ;;
      esac
    done
  } >"$1/model.safetensors"
  echo '{"normalize": true}' >"$1/config.json"
}

setup() {
  PATH=$RAN_BIN:$PATH
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  documents 40 20 >train.jsonl
  folder static
}

shape='--layers 1 --heads 1 --head-dim 2 --window 8 --min-window 2 --wide 0 --epochs 1 --no-dev'

@test "vector-folder: its tokens are the vocabulary, its rows the embedding" {
  run -0 --separate-stderr ran-train classify $shape --vectors static --vectors-rms 0 --freeze -o m.ran train.jsonl
  [[ $stderr == *'vocabulary and embedding are those of static: 11 tokens, vectors of 2 numbers'* ]]
  [ "$(ran-train info --format json m.ran | jq '.config.dim')" = 2 ]
  # The rows as they stand in the file: frozen, not scaled.
  rows=$(tail -c 88 static/model.safetensors | od -An -v -tx1 | tr -d ' \n')
  od -An -v -tx1 m.ran | tr -d ' \n' | grep -q "$rows"
  run -0 ran-tokenize encode -m m.ran --only <<<'{"id":"a","text":"Sun, word3 fog"}'
  [ "$(jq -c .encoding.ids <<<"$output")" = '[2,0,7,0]' ]
  [ "$(ran-train info --format json m.ran | jq -r '.training.vectors.digest')" = "$(sha256sum <static/model.safetensors | cut -d ' ' -f 1)" ]
  run -0 ran-train classify --replay m.ran --vectors static train.jsonl
}

@test "vector-folder: another vocabulary is refused, and a width that is not its own" {
  ran-tokenize learn --vocab-type word -o v.json train.jsonl
  refused 2 'the vocabulary is static/tokenizer.json' ran-train classify $shape --vectors static --vocab v.json -o m.ran train.jsonl
  refused 2 'the vocabulary is static/tokenizer.json' ran-train classify $shape --vectors static --vector-words 3 -o m.ran train.jsonl
  refused 2 'leave out --vocab-size' ran-train classify $shape --vectors static --vocab-size 9 -o m.ran train.jsonl
  refused 2 'its vectors have 2 numbers each, not 4, as --dim says' ran-train classify $shape --vectors static --dim 4 -o m.ran train.jsonl
  refused 3 'static: the vocabulary has no token [MASK]' ran-train mlm --layers 1 --heads 1 --head-dim 2 --vectors static -o m.ran train.jsonl
}

@test "vector-folder: a file that is missing or damaged is named" {
  for file in tokenizer.json model.safetensors config.json; do
    mv static/$file kept
    refused 3 "static/$file: No such file" ran-train classify $shape --vectors static -o m.ran train.jsonl
    head -c 9 kept >static/$file
    refused 3 "static/$file: " ran-train classify $shape --vectors static -o m.ran train.jsonl
    mv kept static/$file
  done
  [ ! -e m.ran ]
}

# pairs NAME: one number for each of 200 words, 1 or -1; even words are warm, odd ones cold.
pairs() {
  local header i vocabulary='"[UNK]":0'
  mkdir "$1"
  for ((i = 0; i < 200; i++)); do
    vocabulary+=",\"w$i\":$((i + 1))"
  done
  sed "s/\"vocab\":.*/\"vocab\":{$vocabulary}}}/" static/tokenizer.json >"$1/tokenizer.json"
  cp static/config.json "$1"
  header='{"embeddings":{"dtype":"I8","shape":[201,1],"data_offsets":[0,201]}}'
  {
    printf "\\x$(printf %x ${#header})\0\0\0\0\0\0\0%s\0" "$header"
    for ((i = 0; i < 100; i++)); do
      printf '\x01\xff'
    done
  } >"$1/model.safetensors"
}

# weather N FROM: as many texts of three words each, hardly any of which occur twice.
weather() {
  awk -v n="$1" -v from="$2" 'BEGIN {
    for (i = from; i < from + n; i++)
      printf "{\"id\":%d,\"text\":\"w%d w%d w%d\",\"label\":\"%s\"}\n", i, i * 14 % 200 + i % 2,
        (i * 38 + 60) % 200 + i % 2, (i * 22 + 124) % 200 + i % 2, i % 2 ? "cold" : "warm"
  }'
}

@test "vector-folder: with --encoder none the mean of the vectors is a feature of the linear model" {
  pairs parity
  weather 24 0 >train.jsonl
  weather 60 31 >test.jsonl
  linear='--encoder none --no-dev'
  run -0 --separate-stderr ran-train classify $linear --vectors parity -o m.ran train.jsonl
  [[ $stderr == *'the mean of a document'*'vectors is a feature of the linear model'* ]]
  [ "$(ran-train info --format json m.ran | jq -r '.config | "\(.encoder) \(.frozen) \(.dim)"')" = 'static true 1' ]
  ran-classify -m m.ran --eval test.jsonl | jq -e '.accuracy > 0.95'
  # Without vectors hardly any word of the test is known.
  ran-train classify -q $linear --vocab parity/tokenizer.json -o n.ran train.jsonl
  ran-classify -m n.ran --eval test.jsonl | jq -e '.accuracy < 0.8'
  # Bytes do not depend on threads; the model explains itself, and is made again.
  ran-train classify -q $linear --vectors parity -j 2 -o two.ran train.jsonl
  cmp m.ran two.ran
  ran-train classify -q --replay m.ran --vectors parity train.jsonl
  run -0 ran-attnmask -m m.ran --map label --only <<<'{"id":1,"text":"w2 w4 w7"}'
  jq -e '.attention.label == "warm" and .attention.tokens == 3 and
    all(.attention.top[]; (.gain > 0) == (.piece != "w7"))' <<<"$output"
  ran-train convert -q --weights i8 -o small.ran m.ran
  ran-classify -m small.ran --eval test.jsonl | jq -e '.accuracy > 0.95'
}

@test "vector-folder: static vectors are for classifying, and need a folder" {
  refused 2 'give --vectors FOLDER' ran-train classify --encoder static -o m.ran train.jsonl
  echo 'rain 1 2' >vectors.txt
  refused 2 'or give a folder of vectors' ran-train classify --encoder none --vectors vectors.txt -o m.ran train.jsonl
  refused 2 "for 'classify', not for 'tag'" ran-train tag --encoder none --vectors static -o m.ran train.jsonl
}

@test "vector-folder: unknown words do not count, as in Model2Vec" {
  head -n 4 train.jsonl >four.jsonl # too few to find that vectors do not help
  run -0 ran-train classify -q --encoder none --no-dev --vectors static -o m.ran four.jsonl
  for text in 'rain word1' 'rain zzz word1' 'qqq rain zzz word1 vvv'; do
    printf '{"id":1,"text":"%s"}\n' "$text"
  done >some.jsonl
  # The vector is the same, of unknown words alone it is zero.
  [ "$(ran-classify -m m.ran --embed some.jsonl | jq -c .prediction.embedding | sort -u | wc -l)" = 1 ]
  [ "$(ran-classify -m m.ran --embed <<<'{"text":"zzz qqq"}' | jq -c .prediction.embedding)" = '[0,0]' ]
  [ "$(ran-classify -m m.ran --embed <<<'{"text":"rain"}' | jq -c .prediction.embedding)" != '[0,0]' ]
  run -0 ran-train classify --replay m.ran --vectors static four.jsonl
}
