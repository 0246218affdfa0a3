#!/usr/bin/env bats
# Tokenizers of encoders in Hugging Face's form: ids and offsets are those of its library, which
# tests/peers/check-tokenizers.py asked.

bats_require_minimum_version 1.5.0

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cases=$PWD/tests/tokens
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail
}

# encoded VOCAB: the ids and offsets of each text; a text without tokens is an error record.
encoded() {
  { ran-tokenize encode -q --vocab "$1" "$cases/texts.jsonl" 2>messages || [ $? -eq 1 ]; } |
    jq -c 'if .encoding then .encoding | [.ids, (.offsets | flatten)] else [[], []] end'
}

# folder NAME: a folder with this tokenizer.json.
folder() {
  mkdir -p "$1"
  cp "$cases/$1.json" "$1/tokenizer.json"
}

@test "a folder's ids and offsets are the library's: every kind of tokenizer" {
  for name in bert mpnet roberta modernbert unfused fallback xlm-roberta unigram odd; do
    folder "$name"
    encoded "$name" >got
    cmp got "$cases/$name.expected"
  done
}

@test "a file that the rules of our own vocabularies cannot read has the same ids and offsets" {
  for name in bert unfused xlm-roberta unigram odd; do
    encoded "$cases/$name.json" >got
    cmp got "$cases/$name.expected"
  done
}

@test "several threads give the same" {
  folder xlm-roberta
  for jobs in 1 3; do
    ran-tokenize encode -q --jobs "$jobs" --vocab xlm-roberta "$cases/texts.jsonl" 2>messages >"$jobs" ||
      [ $? -eq 1 ]
  done
  cmp 1 3
}

@test "vocab.json and merges.txt are read as RoBERTa's" {
  mkdir older
  jq -c .model.vocab "$cases/roberta.json" >older/vocab.json
  { echo '#version: 0.2' && jq -r '.model.merges[] | join(" ")' "$cases/roberta.json"; } >older/merges.txt
  echo '{"add_prefix_space":true,"mask_token":{"content":"<mask>"}}' >older/tokenizer_config.json
  encoded older >got
  cmp got "$cases/roberta.expected"
}

@test "vocab.txt is read as BERT's, with the settings of its folder" {
  mkdir older
  jq -r '.model.vocab | to_entries | sort_by(.value) | .[].key' "$cases/mpnet.json" >older/vocab.txt
  folder mpnet
  # without the white space that a mask takes in MPNet
  jq -c '.added_tokens |= map(.lstrip = false)' "$cases/mpnet.json" >mpnet/tokenizer.json
  encoded mpnet >expected
  encoded older >got
  cmp got expected
  echo '{"do_lower_case":false}' >older/tokenizer_config.json
  echo '{"text":"The"}' | ran-tokenize encode -q --vocab older >cased
  [ "$(jq -c .encoding.pieces cased)" != "$(echo '{"text":"the"}' |
    ran-tokenize encode -q --vocab older | jq -c .encoding.pieces)" ]
}

@test "a folder without a vocabulary, or with one of SentencePiece alone, is refused with what to do" {
  mkdir empty
  run -3 --separate-stderr ran-tokenize encode --vocab empty "$cases/texts.jsonl"
  [ "$stderr" = 'ran-tokenize: empty has no vocabulary: tokenizer.json, or vocab.txt, or vocab.json and merges.txt' ]
  touch empty/sentencepiece.bpe.model
  run -3 --separate-stderr ran-tokenize encode --vocab empty "$cases/texts.jsonl"
  [[ $stderr == *'empty has sentencepiece.bpe.model'*'no tokenizer.json'* ]]
}

@test "a part that is not supported is refused by name" {
  mkdir strange
  jq -c '.pre_tokenizer = {"type":"UnicodeScripts"}' "$cases/unigram.json" >strange/tokenizer.json
  run -3 --separate-stderr ran-tokenize encode --vocab strange "$cases/texts.jsonl"
  [ "$stderr" = "ran-tokenize: strange/tokenizer.json: the pre_tokenizer 'UnicodeScripts' is not supported" ]
}

@test "decode: the text again, without the space in front" {
  for name in xlm-roberta fallback; do
    folder "$name"
    echo '{"text":"the lazy dog"}' | ran-tokenize encode -q --vocab "$name" |
      ran-tokenize decode -q --vocab "$name" --into again | jq -r .again >got
    echo 'the lazy dog' | cmp - got
  done
}

@test "a million letters without a space take no longer than they should [all]" {
  folder xlm-roberta
  folder roberta
  for name in xlm-roberta roberta; do
    head -c 1000000 /dev/zero | tr '\0' a | jq -Rc '{text: .}' >long.jsonl
    timeout 60 ran-tokenize encode -q --vocab "$name" long.jsonl | jq '.encoding.offsets[-1][1]' >end
    [ "$(cat end)" = 1000000 ]
  done
}
