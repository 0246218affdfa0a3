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

# words FILE: a vocabulary of BERT, as tokenizer.json.
bert_words() {
  jq -nc '["[PAD]","[UNK]","[CLS]","[SEP]","[MASK]","Rain","rain","café","cafe","in","co2","city"] as $words |
    {version: "1.0", added_tokens: [$words[:5] | to_entries[] | {id: .key, content: .value, single_word: false, lstrip: false,
      rstrip: false, normalized: false, special: true}],
     normalizer: {type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true},
     pre_tokenizer: {type: "BertPreTokenizer"}, post_processor: null, decoder: null,
     model: {type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100,
       vocab: [$words | to_entries[] | {key: .value, value: .key}] | from_entries}}' >"$1"
}

# ids FOLDER TEXT
ids() {
  jq -nc --arg text "$2" '{$text}' | ran-tokenize encode -q --vocab "$1" | jq -c .encoding.ids
}

@test "report 104: settings of the class replace those of tokenizer.json, as in the library (transformers 5.24)" {
  mkdir f
  bert_words f/tokenizer.json
  settings() {
    echo "$1" >f/tokenizer_config.json
    ids f 'Rain in café'
  }
  [ "$(settings '{"tokenizer_class":"BertTokenizer","do_lower_case":false}')" = '[5,9,7]' ]
  [ "$(settings '{"tokenizer_class":"BertTokenizerFast","do_lower_case":true}')" = '[6,9,8]' ]
  [ "$(settings '{"tokenizer_class":"DistilBertTokenizer","strip_accents":false}')" = '[6,9,7]' ]
  [ "$(settings '{"tokenizer_class":"MPNetTokenizer","do_lower_case":false,"strip_accents":true}')" = '[5,9,8]' ]
  # Other classes take the file as it is; without a class it is that of the model.
  [ "$(settings '{"tokenizer_class":"PreTrainedTokenizerFast","do_lower_case":false}')" = '[6,9,8]' ]
  [ "$(settings '{"do_lower_case":false}')" = '[6,9,8]' ]
  echo '{"model_type":"bert"}' >f/config.json
  [ "$(settings '{"do_lower_case":false}')" = '[5,9,7]' ]
  # lower case is what the class does where nothing is said
  sed -i 's/"lowercase":true/"lowercase":false/' f/tokenizer.json
  [ "$(settings '{}')" = '[6,9,8]' ]
  echo '{"model_type":"modernbert"}' >f/config.json
  [ "$(settings '{}')" = '[5,9,7]' ]
}

@test "report 104: add_prefix_space of RoBERTa's class" {
  folder roberta
  jq -c '.pre_tokenizer.add_prefix_space = false' "$cases/roberta.json" >roberta/tokenizer.json
  ids roberta 'the' >without
  jq -c '.pre_tokenizer.add_prefix_space = true' "$cases/roberta.json" >roberta/tokenizer.json
  ids roberta 'the' >with
  ! cmp -s with without || false
  echo '{"tokenizer_class":"RobertaTokenizer"}' >roberta/tokenizer_config.json
  ids roberta 'the' | cmp - without
  echo '{"tokenizer_class":"RobertaTokenizerFast","add_prefix_space":true}' >roberta/tokenizer_config.json
  ids roberta 'the' | cmp - with
}

@test "report 103: tokens that other files add are tokens: added_tokens_decoder, added_tokens.json, special_tokens_map.json" {
  mkdir old file
  bert_words file/tokenizer.json
  jq -r '.model.vocab | keys_unsorted[]' file/tokenizer.json >old/vocab.txt
  local city='"content":"[CITY]","lstrip":false,"normalized":false,"rstrip":false,"single_word":false'
  for f in old file; do
    [ "$(ids $f 'rain in [CITY] co2x')" = '[6,9,1,11,1,1]' ]
    echo '{"[CITY]":12,"co2x":13}' >$f/added_tokens.json
    [ "$(ids $f 'rain in [CITY] co2x')" = '[6,9,12,13]' ]
    # one that is not special is found in lower case
    [ "$(ids $f '[city] CO2X')" = '[12,13]' ]
    echo '{"additional_special_tokens":["[CITY]","rain"]}' >$f/special_tokens_map.json
    [ "$(ids $f '[city] [CITY]')" = '[1,11,1,12]' ]
    [ "$(ids $f 'rainy Rain')" = '[6,1,6]' ]
    # the list of the configuration takes the place of both files
    echo "{\"added_tokens_decoder\":{\"12\":{$city,\"special\":true}}}" >$f/tokenizer_config.json
    [ "$(ids $f 'rain in [CITY] co2x')" = '[6,9,12,1]' ]
    # a word of the vocabulary, alone
    echo '{"added_tokens_decoder":{"10":{"content":"co2","single_word":true,"lstrip":true}}}' >$f/tokenizer_config.json
    [ "$(ids $f 'in co2 co2x')" = '[9,10,1]' ]
    # two tokens of one id are a mistake of the folder
    echo "{\"added_tokens_decoder\":{\"9\":{$city}}}" >$f/tokenizer_config.json
    run -3 ran-tokenize encode --vocab $f <<<'{"text":"a"}'
    [[ $output == *"'in' and '[CITY]' have the same id 9"* ]]
  done
}

@test "a tokenizer_class of a Python package is refused, and one without a tokenizer.json that is not known" {
  mkdir f old
  bert_words f/tokenizer.json
  jq -r '.model.vocab | keys_unsorted[]' f/tokenizer.json >old/vocab.txt
  for class in BertJapaneseTokenizer BertweetTokenizer PhobertTokenizer; do
    echo "{\"tokenizer_class\":\"$class\"}" | tee old/tokenizer_config.json >f/tokenizer_config.json
    for f in f old; do
      run -3 --separate-stderr ran-tokenize encode --vocab $f <<<'{"text":"rain"}'
      [ "$stderr" = "ran-tokenize: $f/tokenizer_config.json: the tokenizer_class \"$class\" is not known: a package of Python makes its tokens" ]
    done
  done
  echo '{"tokenizer_class":"KoBertTokenizer"}' | tee old/tokenizer_config.json >f/tokenizer_config.json
  [ "$(ids f rain)" = '[6]' ]
  run -3 --separate-stderr ran-tokenize encode --vocab old <<<'{"text":"rain"}'
  [[ $stderr == *'the tokenizer_class "KoBertTokenizer" is not known: save the folder again'* ]]
  # config.json may name it, too
  echo '{}' >old/tokenizer_config.json
  echo '{"model_type":"bert","tokenizer_class":"BertJapaneseTokenizer"}' >old/config.json
  run -3 ran-tokenize encode --vocab old <<<'{"text":"rain"}'
}
