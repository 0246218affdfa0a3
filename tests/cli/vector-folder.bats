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
    refused 3 "cannot open static/$file: No such file" ran-train classify $shape --vectors static -o m.ran train.jsonl
    head -c 9 kept >static/$file
    refused 3 "static/$file: " ran-train classify $shape --vectors static -o m.ran train.jsonl
    mv kept static/$file
  done
  [ ! -e m.ran ]
}
