#!/usr/bin/env bats
# ran-tokenize: learning, encoding, decoding, and what is refused.

bats_require_minimum_version 1.5.0
load compare.bash

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  printf '%s\n' '{"text":"The rain, the rain"}' '{"text":"the sun!"}' >corpus.jsonl
  printf '%s\n' '[UNK]' '[MASK]' run '##ning' café , a '[' ']' mask >vocab.txt
  set -o pipefail # jq -e has nothing to say about no input
}

# encodes VOCAB RECORD ARGUMENT...: runs ran-tokenize encode on one record.
encodes() {
  printf '%s\n' "$2" >input.jsonl
  run --separate-stderr ran-tokenize encode -q --vocab "$1" "${@:3}" input.jsonl
}

# bert: vocab.txt as a tokenizer.json.
bert() {
  jq -nR '{normalizer: {type: "BertNormalizer"}, pre_tokenizer: {type: "BertPreTokenizer"},
    decoder: {type: "WordPiece"},
    model: {type: "WordPiece", unk_token: "[UNK]", vocab: ([inputs] | to_entries | map({(.value): .key}) | add)}}' vocab.txt
}

# tokens TEXT: its tokens by vocab.json, between bars.
tokens() {
  jq -cn --arg text "$1" '{$text}' | ran-tokenize encode --vocab vocab.json --only |
    jq -r '.encoding.pieces | join("|")'
}

# ---- learn ---------------------------------------------------------------------------------------

@test "learn: the most frequent words after the reserved tokens, a tokenizer.json" {
  run --separate-stderr ran-tokenize learn --min-count 1 -o vocab.json corpus.jsonl
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ "$stderr" = 'ran-tokenize: 8 words, 5 of them different; a vocabulary of 10 tokens' ]
  [ "$(jq -c '.model.vocab | keys_unsorted' vocab.json)" = \
    '["[UNK]","[MASK]","[SEP]","[START]","[END]","the","rain","!",",","sun"]' ]
  [ "$(jq -c '[.version, .model.type, .model.unk_token, .added_tokens, .truncation]' vocab.json)" = \
    '["1.0","WordLevel","[UNK]",[],null]' ]
}

@test "learn: --type and --size are --vocab-type and --vocab-size" {
  printf '{"text":"%s"}\n' 'low lower lowest' 'new newer newest' >in.jsonl
  ran-tokenize learn -q --vocab-type bpe --vocab-size 264 in.jsonl >long.json
  ran-tokenize learn -q --type=bpe --siz 264 in.jsonl >short.json
  cmp long.json short.json
  [ "$(jq -r .model.type short.json)" = BPE ]
  run -2 --separate-stderr ran-tokenize learn --type sentence in.jsonl
  [[ $stderr == *'--vocab-type must be word, wordpiece or bpe'* ]]
  run -2 --separate-stderr ran-train classify --type bpe in.jsonl
  [[ $stderr == *'unknown option --type'* ]]
}

@test "learn: standard input and output, and -q says nothing" {
  run --separate-stderr ran-tokenize learn -q --min-count 1 <corpus.jsonl
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  ran-tokenize learn -q --min-count 1 -o vocab.json corpus.jsonl
  [ "$output" = "$(cat vocab.json)" ]
}

@test "learn: tokens before text, source and target together" {
  printf '%s\n' '{"tokens":["x-ray","y"],"text":"no"}' '{"source":"s t","target":["u","t"]}' \
    '{"text":null,"tokens":["z"]}' >mixed.jsonl
  ran-tokenize learn -q --min-count 1 mixed.jsonl |
    jq -c '.model.vocab | keys_unsorted[5:]' >words
  [ "$(cat words)" = '["t","-","ray","s","u","x","y","z"]' ]
}

@test "learn: the same bytes for any number of threads, forgetting included [all]" {
  for i in $(seq 3000); do
    echo "{\"text\":\"w$((i % 700)) w$i w$((i * i % 1301)) often\"}"
  done >many.jsonl
  for type in word wordpiece; do
    for j in 1 2 7; do
      ran-tokenize learn -q -j $j --vocab-type $type --max-distinct 1000 -o v$j.json many.jsonl
    done
    cmp v1.json v2.json
    cmp v1.json v7.json
  done
}

@test "learn: forgetting is said [all]" {
  for i in $(seq 1500); do echo "{\"text\":\"w$i often\"}"; done >many.jsonl
  run --separate-stderr ran-tokenize learn --max-distinct 1000 -o v.json many.jsonl
  [ "$status" -eq 0 ]
  [ "${stderr_lines[0]}" = 'ran-tokenize: many.jsonl:1000: more than 1000 different words: forgetting the rarest from here on (--max-distinct)' ]
  [ "${stderr_lines[1]}" = 'ran-tokenize: 3000 words, 751 of them different; a vocabulary of 6 tokens' ]
  [ "${stderr_lines[2]}" = 'ran-tokenize: rare words were forgotten 750 times, with 25% of all occurrences' ]
}

@test "learn: WordPiece spells every word of the corpus" {
  ran-tokenize learn -q --vocab-type wordpiece --min-count 1 -o vocab.json corpus.jsonl
  [ "$(jq -r '.model.type + .model.continuing_subword_prefix' vocab.json)" = 'WordPiece##' ]
  [ "$(tokens 'the rain!')" = 'the|rain|!' ]
  [ "$(tokens 'rainain sunai')" = 'rain|##a|##in|sun|##a|##i' ]
  [ "$(tokens 'thex')" = '[UNK]' ]
}

@test "learn: text that is tokenised already, with an end-of-line token" {
  echo '{"text":" no <unk> it was n'\''t \n it was \n"}' |
    ran-tokenize learn -q --split-at spaces --eol-token '<eos>' --min-count 1 -o vocab.json
  [ "$(tokens $'it was <unk>\n\nno')" = 'it|was|<unk>|<eos>|<eos>|no' ]
  [ "$(tokens "was n't")" = "was|n't" ]
  jq -cn '{text: "it was\nno <unk>\n"}' | ran-tokenize encode --vocab vocab.json --drop text |
    ran-tokenize decode --vocab vocab.json | jq -c .text >text
  [ "$(cat text)" = '"it was\nno <unk>\n"' ]
}

@test "learn: an end-of-line token that the rules would change is refused" {
  run --separate-stderr ran-tokenize learn --eol-token '<EOS>' -o v.json corpus.jsonl
  [ "$status" -eq 2 ]
  [[ "${stderr_lines[0]}" == "ran-tokenize: the end-of-line token '<EOS>' does not pass "* ]]
  [ ! -e v.json ]
}

@test "learn: nothing to learn from" {
  for text in '' '{"text":" "}'; do
    printf '%s' "$text" >empty.jsonl
    run --separate-stderr ran-tokenize learn -o v.json empty.jsonl
    [ "$status" -eq 3 ]
    [ "$stderr" = 'ran-tokenize: cannot learn a vocabulary: there are no words' ]
    [ ! -e v.json ]
  done
  echo '{"text":"every word once"}' >rare.jsonl
  run --separate-stderr ran-tokenize learn -o v.json rare.jsonl
  [ "$status" -eq 3 ]
  [[ "$stderr" == *'no word occurs 2 times or more (min_count)'* ]]
}

@test "learn: bad lines are named, the others count" {
  printf '%s\n' '{"text":"a a"}' '{"text":5}' '{"ids":[1]}' '{"tokens":["b",1]}' >bad.jsonl
  run --separate-stderr ran-tokenize learn -o v.json bad.jsonl
  [ "$status" -eq 1 ]
  [ "${stderr_lines[0]}" = 'ran-tokenize: bad.jsonl:2: "text" must be a string or an array of strings' ]
  [ "${stderr_lines[1]}" = 'ran-tokenize: bad.jsonl:3: no words: give one of tokens, text, source and target (--text-member names another member)' ]
  [ "${stderr_lines[2]}" = 'ran-tokenize: bad.jsonl:4: "tokens" must hold strings only' ]
  [ "$(jq -c '.model.vocab | keys_unsorted[5:]' v.json)" = '["a"]' ]
}

@test "learn: an output that cannot be written is found out before the corpus is read" {
  run --separate-stderr ran-tokenize learn -o no/such/v.json corpus.jsonl
  [ "$status" -eq 3 ]
  [[ "$stderr" == *no/such/v.json* ]]
  run --separate-stderr sh -c 'ran-tokenize learn -q --min-count 1 corpus.jsonl >/dev/full'
  [ "$status" -eq 3 ]
}

@test "learn: byte pairs, a tokenizer.json of the kind of GPT-2's" {
  run --separate-stderr ran-tokenize learn --vocab-type bpe --min-count 2 -o vocab.json corpus.jsonl
  [ "$status" -eq 0 ]
  # Words: The, " rain" 2, a comma, " the", the, " sun", an exclamation mark.
  [ "$stderr" = 'ran-tokenize: 8 words, 7 of them different; a vocabulary of 267 tokens' ]
  [ "$(jq -c '.model.vocab | keys_unsorted[:6] + keys_unsorted[261:]' vocab.json)" = \
    '["[UNK]","[MASK]","[SEP]","[START]","[END]","!","he","ai","rai","the","Ġrai","Ġrain"]' ]
  [ "$(jq -c '[.model | .type, .unk_token, .ignore_merges, .byte_fallback, .merges]' vocab.json)" = \
    '["BPE",null,false,false,["h e","a i","r ai","t he","Ġ rai","Ġrai n"]]' ]
  [ "$(jq -c '[.normalizer, .added_tokens, .pre_tokenizer, .decoder.type]' vocab.json)" = \
    '[null,[],{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},"ByteLevel"]' ]
}

@test "learn: byte pairs have defaults of their own, and keep what is asked for" {
  print() { ran-tokenize learn "$@" --print-config | jq -c '[.normalize, .lowercase, .clean, .cjk, .split_at]'; }
  [ "$(print --vocab-type bpe)" = '["none",false,"none",false,"gpt2"]' ]
  [ "$(print --lowercase --vocab-type bpe --normalize nfkc)" = '["nfkc",true,"none",false,"gpt2"]' ]
  [ "$(print --vocab-type wordpiece)" = '["nfc",true,"all",true,"punctuation"]' ]
  echo '{"vocab_type":"bpe","lowercase":true}' >settings.json
  [ "$(print -c settings.json)" = '["none",true,"none",false,"gpt2"]' ]
  [ "$(print -c settings.json --vocab-type word)" = '["nfc",true,"all",true,"punctuation"]' ]
  run --separate-stderr ran-tokenize learn --vocab-type bpe --split-at spaces -o v.json corpus.jsonl
  [ "$status" -eq 2 ]
  [ "${stderr_lines[0]}" = 'ran-tokenize: --vocab-type bpe requires --split-at gpt2, and no other type allows it' ]
  [ ! -e v.json ]
}

@test "learn: tokens are the words of a text with a space between them" {
  echo '{"tokens":["The","rain",",","the","rain"]}' >tokens.jsonl
  echo '{"text":"The rain , the rain"}' >text.jsonl
  ran-tokenize learn -q --vocab-type bpe --min-count 1 -o tokens.json tokens.jsonl
  ran-tokenize learn -q --vocab-type bpe --min-count 1 -o text.json text.jsonl
  cmp tokens.json text.json
  ran-tokenize encode --vocab text.json tokens.jsonl | jq -c .encoding.ids >of-tokens
  ran-tokenize encode --vocab text.json text.jsonl | jq -c .encoding.ids >of-text
  cmp of-tokens of-text
}

# ---- vocab.txt -----------------------------------------------------------------------------------

@test "vocab.txt: a byte order mark is no part of the first token, and that no capital letter" {
  tokens_of() { ran-tokenize encode -q --vocab "$1" --only <<<'{"text":"DAY"}' | jq -c .encoding.ids; }
  printf '\xef\xbb\xbf[UNK]\r\nday\r\n' >marked.txt
  [ "$(tokens_of marked.txt)" = '[1]' ]
  printf '[UNK]\nday\nDay\n' >cased.txt
  [ "$(tokens_of cased.txt)" = '[0]' ]
}

@test "vocab.txt: what is refused" {
  for lines in '[UNK] a b a' 'a b'; do
    tr ' ' '\n' <<<"$lines" >other.txt
    run -3 --separate-stderr ran-tokenize encode --vocab other.txt corpus.jsonl
    [ -z "$output" ]
    [[ $stderr == 'ran-tokenize: other.txt'*vocabulary* ]]
  done
}

# ---- encode --------------------------------------------------------------------------------------

@test "encode: the record as it came, and its encoding" {
  bert >vocab.json
  encodes vocab.json '{"id": 1.50, "text":"Running, a ☂"}'
  [ "$status" -eq 0 ]
  [[ $output == '{"id": 1.50, "text":"Running, a ☂","encoding":{"vocab":"'????*'","pieces":["run","##ning",",","a","[UNK]"],"ids":[2,3,5,6,0],"offsets":[[0,3],[3,7],[7,8],[9,10],[11,12]]}}' ]]
}

@test "encode: a vocab.txt serves as it is, and how it was taken is said" {
  run --separate-stderr ran-tokenize encode --vocab vocab.txt --only <<<'{"id":1,"text":"RUN"}'
  [ "$(jq -c .encoding.pieces <<<"$output")" = '["run"]' ]
  [ "$stderr" = 'ran-tokenize: vocab.txt: taken for an uncased vocabulary: no token has a capital letter' ]
}

@test "encode: offsets in characters, bytes and 16-bit units" {
  record='{"text":"😀 Café\u0301 run"}'
  printf '%s\n' '[UNK]' cafe run >vocab.txt
  encodes vocab.txt "$record"
  [ "$(jq -c .encoding.offsets <<<"$output")" = '[[0,1],[2,6],[8,11]]' ]
  encodes vocab.txt "$record" --offsets byte
  [ "$(jq -c .encoding.offsets <<<"$output")" = '[[0,4],[5,10],[13,16]]' ]
  encodes vocab.txt "$record" --offsets=utf16
  [ "$(jq -c .encoding.offsets <<<"$output")" = '[[0,2],[3,7],[9,12]]' ]
}

@test "encode: given tokens keep their numbers, and offsets count within them" {
  printf '%s\n' '[UNK]' run '##ning' . u n é >vocab.txt
  encodes vocab.txt '{"tokens":["Running","U.N.","","éé","\u00ad"],"text":"other"}' --offsets byte
  [ "$(jq -c '.encoding | [.pieces, .words, .offsets]' <<<"$output")" = \
    '[["run","##ning","u",".","n",".","[UNK]","[UNK]","[UNK]"],[0,0,1,1,1,1,2,3,4],[[0,3],[3,7],[0,1],[1,2],[2,3],[3,4],[0,0],[0,4],[0,2]]]' ]
}

@test "encode: --into, --only, --drop" {
  encodes vocab.txt '{"id":7,"text":"a"}' --into e --only
  [[ "$output" == '{"id":7,"e":{"vocab":"'* ]]
  encodes vocab.txt '{"id":7,"text":"a","x":1}' --drop text
  [[ "$output" == '{"id":7,"x":1,"encoding":{"vocab":"'* ]]
}

@test "encode: U+0000 in a text is a character like any other" {
  encodes vocab.txt '{"text":"r\u0000un a"}'
  [ "$(jq -c '.encoding | [.pieces, .offsets]' <<<"$output")" = '[["run","a"],[[0,4],[5,6]]]' ]
}

@test "encode: records that cannot be used" {
  printf '%s\n' '{"id":1}' '{"id":2,"text":""}' '{"id":3,"text":["a"]}' '{"id":4,"tokens":"a"}' \
    '{"id":5,"text":"a","text":"b"}' '{"id":6,"text":"a"}' >bad.jsonl
  run --separate-stderr ran-tokenize encode -q --vocab vocab.txt bad.jsonl
  [ "$status" -eq 1 ]
  [ "$(jq -c '[.id, .ran_error.message]' <<<"$output")" = '[1,"no \"tokens\" and no \"text\""]
[2,"the document has no tokens"]
[3,"\"text\" must be a string"]
[4,"\"tokens\" must be an array of strings"]
[5,"\"text\" is given twice"]
[6,null]' ]
}

@test "encode: a vocabulary must be named, and be one" {
  run --separate-stderr ran-tokenize encode corpus.jsonl
  [ "$status" -eq 2 ]
  [ "${stderr_lines[0]}" = 'ran-tokenize: no vocabulary: give --vocab FILE or -m MODEL' ]
  run --separate-stderr ran-tokenize encode --vocab no.json corpus.jsonl
  [ "$status" -eq 3 ]
  [ "$stderr" = 'ran-tokenize: cannot open no.json: No such file or directory' ]
  echo '{"model":{"type":"Other"}}' >other.json
  run --separate-stderr ran-tokenize encode --vocab other.json corpus.jsonl
  [ "$status" -eq 3 ]
  [ "$stderr" = "ran-tokenize: other.json: the model 'Other' is not supported (WordLevel, WordPiece, BPE and Unigram are)" ]
  echo '{"model":' >cut.json
  run --separate-stderr ran-tokenize encode --vocab cut.json corpus.jsonl
  [ "$status" -eq 3 ]
  [[ "$stderr" == 'ran-tokenize: cut.json: not valid JSON at byte '* ]]
}

@test "encode: a stored truncation is ignored, and that is said" {
  bert | jq -c '.truncation = {max_length: 2}' >short.json
  run --separate-stderr ran-tokenize encode --vocab short.json --only <<<'{"id":1,"text":"a a a a"}'
  [ "$(jq -c .encoding.ids <<<"$output")" = '[6,6,6,6]' ]
  [ "$stderr" = 'ran-tokenize: short.json: its truncation to 2 tokens is ignored: documents are never cut' ]
}

@test "encode: the vocabulary of a model" {
  for i in 1 2 3 4 5 6; do
    echo "{\"text\":\"rain and storm $i\",\"label\":\"wet\"}"
    echo "{\"text\":\"sun and warmth $i\",\"label\":\"dry\"}"
  done >train.jsonl
  ran-tokenize learn -q -o vocab.json train.jsonl
  ran-train classify -q --vocab vocab.json --no-dev --epochs 1 --dim 8 --heads 1 --head-dim 8 \
    -o model.ran train.jsonl
  echo '{"text":"rain 1, sun"}' >input.jsonl
  ran-tokenize encode --vocab vocab.json input.jsonl >with-vocab
  ran-tokenize encode -m model.ran input.jsonl >with-model
  cmp with-vocab with-model
}

@test "encode: its output is input of ran-classify" {
  for i in 1 2 3 4 5 6; do
    echo "{\"text\":\"rain and storm $i\",\"label\":\"wet\"}"
    echo "{\"text\":\"sun and warmth $i\",\"label\":\"dry\"}"
  done >train.jsonl
  ran-train classify -q --no-dev --epochs 1 --dim 8 --heads 1 --head-dim 8 -o model.ran train.jsonl
  ran-tokenize encode -m model.ran --drop text train.jsonl | ran-classify -m model.ran --only \
    >from-encoding
  ran-classify -m model.ran --only train.jsonl >from-text
  same_output "jq -c .prediction from-encoding" "jq -c .prediction from-text"
}

# ---- decode --------------------------------------------------------------------------------------

@test "decode: encodings and bare ids become text" {
  bert >vocab.json
  printf '%s\n' '{"id":1,"text":"Running , a"}' | ran-tokenize encode --vocab vocab.json >encoded
  run --separate-stderr ran-tokenize decode --vocab vocab.json --drop encoding encoded
  [ "$output" = '{"id":1,"text":"running, a"}' ]
  run --separate-stderr ran-tokenize decode --vocab vocab.json --into words <<<'{"ids":[2,3,0]}'
  [ "$output" = '{"ids":[2,3,0],"words":"running [UNK]"}' ]
}

@test "decode: what is refused" {
  printf '%s\n' '{"ids":[99]}' '{"ids":["a"]}' '{"text":"a"}' '{"encoding":{"vocab":"x","ids":[1]}}' \
    '{"ids":[]}' >bad.jsonl
  run --separate-stderr ran-tokenize decode -q --vocab vocab.txt bad.jsonl
  [ "$status" -eq 1 ]
  [ "$(jq -r .ran_error.message <<<"$output")" = 'id 99 is not in the vocabulary (10 tokens)
ids must be whole numbers, not "a"
no ids: one of encoding and ids is needed
"encoding" is of another vocabulary than the model'\''s
the document has no tokens' ]
  # What is null is not there; the words beside it were "decoded".
  printf '%s\n' '{"ids":null,"text":"Running"}' '{"encoding":null,"tokens":["a"]}' >bad.jsonl
  run -1 --separate-stderr ran-tokenize decode -q --vocab vocab.txt bad.jsonl
  [ "$(jq -r .ran_error.message <<<"$output" | uniq)" = 'no ids: one of encoding and ids is needed' ]
}

@test "decode of encode gives every byte of a text back with byte pairs" {
  # Every code point from U+0000 to U+04FF; lines of white space; a word without end.
  jq -cn '{text: ([range(1280)] | implode)}, {text: " \t\r\n\n  x  \n"}, {text: "😀é👩‍🔬 \ud834\udd1e\uffff"},
    {text: "it'\''s"}, {text: ("ab" * 20000)}' >plain.jsonl
  ran-tokenize learn -q --vocab-type bpe -o vocab.json corpus.jsonl plain.jsonl
  ran-tokenize encode --vocab vocab.json --drop text plain.jsonl |
    ran-tokenize decode --vocab vocab.json --drop encoding | jq -j .text >decoded
  jq -j .text plain.jsonl | cmp - decoded
  [ "$(wc -c <decoded)" -gt 40000 ]
}

@test "decode: ids that cut a character in two" {
  ran-tokenize learn -q --vocab-type bpe --vocab-size 261 -o vocab.json corpus.jsonl
  echo '{"text":"aé"}' | ran-tokenize encode --vocab vocab.json |
    jq -c '{ids: .encoding.ids[:2]}, {ids: .encoding.ids[1:]}, {ids: [.encoding.ids[2], 0]}' |
    ran-tokenize decode --vocab vocab.json | jq -r .text >decoded
  [ "$(cat decoded)" = $'a\xef\xbf\xbd\né\n\xef\xbf\xbd[UNK]' ]
}

@test "decode of encode gives the words back" {
  printf '%s\n' '{"text":"the rain the sun"}' '{"text":"sun rain"}' >plain.jsonl
  for type in word wordpiece; do
    ran-tokenize learn -q --vocab-type $type --min-count 1 -o vocab.json corpus.jsonl
    ran-tokenize encode --vocab vocab.json --drop text plain.jsonl |
      ran-tokenize decode --vocab vocab.json --drop encoding >decoded
    cmp decoded plain.jsonl
  done
}

@test "vocabulary: pre-tokenizers that are not understood are refused by their names [all]" {
  bert >known.json
  while IFS='|' read -r pre name; do
    jq -c ".pre_tokenizer = $pre" known.json >other.json
    run -3 --separate-stderr ran-tokenize encode --vocab other.json </dev/null
    [[ $stderr == *"$name"* ]] || { echo "$pre: $stderr"; false; }
  done <<'END'
{type: "Metaspace"}|'replacement' of 'Metaspace' must be one character
{type: "UnicodeScripts"}|the pre_tokenizer 'UnicodeScripts' is not supported
{type: "Punctuation", behavior: "Other"}|the behavior 'Other' of 'Punctuation' is not supported
{type: "Sequence", pretokenizers: [{type: "WhitespaceSplit"}, {type: "FixedLength"}]}|the pre_tokenizer 'FixedLength' is not supported
{type: "Split", pattern: {Regex: "a*"}, behavior: "Isolated"}|the pattern "a*" of 'Split': an expression that matches an empty text
{type: "ByteLevel"}|the pre_tokenizer 'ByteLevel' is supported for the model BPE only
{}|the pre_tokenizer '(without a type)' is not supported
END
  jq -c '.pre_tokenizer = {type: "Sequence"}' known.json >other.json
  run -3 --separate-stderr ran-tokenize encode --vocab other.json </dev/null
  [[ $stderr == *"the pre_tokenizer Sequence has no list 'pretokenizers'"* ]]
}

@test "records: any format as JSON lines, with the names by which members are read" {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  printf 'Date;Subject;Body;Topic\n1 May;Rain;"a wet\nday";x\n' >mail.csv
  run -0 --separate-stderr ran-tokenize records --text-member Subject,Body --label-member Topic mail.csv
  [ "$output" = '{"id":"mail.csv:2","Date":"1 May","text":"Rain\na wet\nday","label":"x"}' ]
  printf 'Ann B-PER\nmet O\n\n' >x.conll
  ran-tokenize records x.conll | jq -e '.tokens == ["Ann", "met"] and .tags == ["B-PER", "O"] and .id == "x.conll:1"'
  printf '{"id":7,"text":"a","n":1e2}\n{"text":\n{"id":null,"text":"b"}\n' >x.jsonl
  run -1 --separate-stderr ran-tokenize records -o out.jsonl x.jsonl
  [ "$(head -n 1 out.jsonl)" = '{"id":7,"text":"a","n":1e2}' ]
  [[ $stderr == *'x.jsonl:2: '* ]]
  run -2 ran-tokenize records -o x.jsonl x.jsonl
}

@test "vocabulary: \\w in a pattern takes superscripts and fractions of Latin-1, as the library" {
  ids() { jq -cn --arg text "$1" '{$text}' | ran-tokenize encode --vocab regex.json --only | jq -c .encoding.ids; }
  printf '%s\n' '[UNK]' a b ² >vocab.txt
  for regex in '\\w+' '[\\w]+' '(?i:\\w)+'; do
    bert | jq -c '.normalizer = null |
      .pre_tokenizer = {type: "Split", pattern: {Regex: "'"$regex"'"}, behavior: "Isolated"}' >regex.json
    for c in é 5 ² ³ ¹ ¼ ½ ¾; do
      [ "$(ids "a${c}b")" = '[0]' ] # one word, which is unknown
    done
    [ "$(ids a⅕b)" = '[1,0,2]' ]
  done
  bert | jq -c '.normalizer = null |
    .pre_tokenizer = {type: "Split", pattern: {Regex: "\\W+"}, behavior: "Removed"}' >regex.json
  [ "$(ids 'a ²-b')" = '[1,3,2]' ]
}
