#!/usr/bin/env bats
# tokenizer.json between this and the library of Hugging Face, if node finds it (NODE_PATH); RAN_FETCH=1
# fetches it from npm otherwise. Without it these tests are skipped. RAN_TEXTS: a file of records with
# further texts.

bats_require_minimum_version 1.5.0

setup_file() {
  export PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  cp "$BATS_TEST_DIRNAME/huggingface.js" .
  command -v node >/dev/null || return 0
  if ! node -e 'require("tokenizers")' 2>/dev/null; then
    [ "${RAN_FETCH-}" = 1 ] && command -v npm >/dev/null || return 0
    npm install --ignore-scripts --no-audit --no-fund --fetch-retries 0 --fetch-timeout 20000 \
      tokenizers@0.23.2 >npm.log 2>&1 || return 0
  fi
  # Words to learn from, and texts to try: plain ones, then awkward ones.
  awk 'BEGIN {
    split("the rain in Spain stays mainly on plains café naïve 東京 don'\''t 2024 running runner", w, " ")
    for (i = 0; i < 400; i++) {
      line = ""
      for (k = 0; k < 12; k++) line = line (k ? " " : "") w[(i * (k + 3) + k * k) % 16 + 1]
      print "{\"text\":\"" line ".\"}"
    } }' >texts.jsonl
  printf '%s\n' '{"text":"  two  spaces,\ttabs\nlines\r\n\nand an end  "}' '{"text":"It'\''s $5.00 (or -5 €?)... a_b, «quoted»!!"}' \
    '{"text":"Ünïcode NAÏVE café — 東京 2024! 😀 cat 👩‍👩‍👧 ½ ² Ⓐ"}' '{"text":"x\u0000y\u00a0z\u200bw\u2028\ufeff\ufffd\u00adq"}' \
    '{"text":"אבג العربية हिन्दी ไทย ภาษา 한국어 かな"}' '{"text":"e\u0301 A\u030a ﬁ ǆ Straße İstanbul ΣΑΣ"}' \
    '{"text":"[CLS] [MASK] <mask> the <s> [UNK] <|endoftext|>rain"}' '{"text":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b"}' \
    '{"text":"!!!??? ---> <== $$ __init__ #!/bin/sh \\\\ \" `"}' >awkward.jsonl
  cat texts.jsonl awkward.jsonl >learn.jsonl
  [ -z "${RAN_TEXTS-}" ] || cat "$RAN_TEXTS" >>awkward.jsonl
  for type in word wordpiece bpe; do
    ran-tokenize learn -q --vocab-type $type --vocab-size 600 --min-count 1 -o $type.json learn.jsonl
  done
}

setup() {
  cd "$BATS_FILE_TMPDIR"
  [ -e bpe.json ] || skip 'node does not find the package tokenizers (RAN_FETCH=1 gets it from npm)'
}

# same OURS THEIRS: both files give all texts the same ids, and offsets.
same() {
  cat texts.jsonl awkward.jsonl | ran-tokenize encode -q --on-error skip --errors-ok --vocab "$1" |
    node huggingface.js "$2" >"$1.found"
  cat "$1.found"
  jq -e '.texts >= 408 and .ids == 0 and .offsets == 0' "$1.found"
}

# shaped NAME FILTER FILE: NAME.json becomes FILE with a jq filter, and same is asked of it.
shaped() {
  jq -c "$2" "$3" >"$1.json"
  jq -c '.truncation = null' "$1.json" >"$1-whole.json" # their library would cut texts
  same "$1.json" "$1-whole.json"
}

@test "huggingface: vocabularies learned here load there, and give the same" {
  for type in word wordpiece bpe; do
    same $type.json $type.json
  done
}

@test "huggingface: so do those with other settings" {
  for settings in 'word --split-at spaces' 'wordpiece --lowercase --normalize nfkc' \
    'wordpiece --no-lowercase --normalize nfc' 'bpe --normalize nfkc --lowercase'; do
    set -- $settings
    ran-tokenize learn -q --vocab-type "$@" --vocab-size 500 --min-count 1 -o set.json learn.jsonl
    same set.json set.json
  done
}

bert='.truncation = {max_length: 4, strategy: "LongestFirst", stride: 0, direction: "Right"}
  | .model.vocab |= (with_entries(.value += 2) | . + {"[CLS]": 0, "[PAD]": 1})
  | .model.vocab as $v
  | .added_tokens = [("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") | {id: $v[.], special: true, content: .,
      single_word: false, lstrip: false, rstrip: false, normalized: false}]
  | .normalizer = {type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null,
      lowercase: true}
  | .post_processor = {type: "TemplateProcessing", single: [{SpecialToken: {id: "[CLS]", type_id: 0}},
      {Sequence: {id: "A", type_id: 0}}], pair: [{Sequence: {id: "A", type_id: 0}}, {Sequence: {id: "B", type_id: 1}}],
      special_tokens: {"[CLS]": {id: "[CLS]", ids: [0], tokens: ["[CLS]"]}}}'

@test "huggingface: a file like that of BERT, and what is ignored of it is said" {
  shaped bert "$bert" wordpiece.json
  run --separate-stderr ran-tokenize encode --vocab bert.json - <<<'{"text":"the rain in Spain stays mainly"}'
  [ "$(jq '.encoding.ids | length' <<<"$output")" -ge 6 ]
  [[ $stderr == *'bert.json: its truncation to 4 tokens is ignored: documents are never cut; its post_processor is ignored'* ]]
}

# written NAME: the vocabulary of a model that was trained with NAME.json does what that does.
written() {
  for i in 1 2 3 4 5 6; do echo "{\"text\":\"the rain $i\",\"label\":\"$((i % 2))\"}"; done >train.jsonl
  ran-train classify -q --no-dev --vocab "$1.json" --dim 8 --layers 1 --heads 1 --head-dim 8 --window 8 \
    --min-window 2 --epochs 1 -o model.ran train.jsonl
  # The vocabulary in a model file is a tensor of bytes.
  node -e 'const b = require("fs").readFileSync("model.ran"), n = Number(b.readBigUInt64LE(0))
    const [from, to] = JSON.parse(b.subarray(8, 8 + n))["tokenizer.json"].data_offsets
    require("fs").writeFileSync("again.json", b.subarray(8 + n + from, 8 + n + to))'
  same "$1.json" again.json
}

@test "huggingface: what is imported is written again, and loads there" {
  jq -c "$bert | .truncation = null" wordpiece.json >bert-whole.json
  written bert-whole
}

@test "huggingface: a file like that of GPT-2, old and new" {
  gpt2='.model.vocab["<|endoftext|>"] = (.model.vocab | length)
    | .added_tokens = [{id: (.model.vocab["<|endoftext|>"]), special: true, content: "<|endoftext|>",
        single_word: false, lstrip: false, rstrip: false, normalized: true}]
    | .post_processor.trim_offsets = false
    | .model.continuing_subword_prefix = "" | .model.end_of_word_suffix = ""'
  shaped gpt2 "$gpt2" bpe.json
  shaped gpt2-old "$gpt2 | .model.merges |= map(if type == \"array\" then join(\" \") else . end)
    | .model |= del(.byte_fallback, .ignore_merges) | .pre_tokenizer |= del(.use_regex)" bpe.json
  shaped gpt2-new "$gpt2 | .model.merges |= map(if type == \"string\" then split(\" \") else . end)" bpe.json
}

@test "huggingface: a file like that of RoBERTa" {
  shaped roberta '.truncation = {max_length: 3, strategy: "LongestFirst", stride: 0, direction: "Right"}
    | .model.vocab |= (with_entries(.value += 3) | . + {"<s>": 0, "<pad>": 1, "</s>": 2})
    | .model.vocab["<mask>"] = (.model.vocab | length)
    | .model.vocab as $v
    | .added_tokens = [("<s>", "<pad>", "</s>", "<mask>") | {id: $v[.], special: true, content: .,
        single_word: false, lstrip: (. == "<mask>"), rstrip: false, normalized: (. != "<mask>")}]
    | .pre_tokenizer = {type: "Sequence", pretokenizers: [.pre_tokenizer]}
    | .post_processor = {type: "RobertaProcessing", sep: ["</s>", 2], cls: ["<s>", 0], trim_offsets: true,
        add_prefix_space: false}' bpe.json
}

@test "huggingface: words of letters and of what is none, and sequences of pre-tokenizers" {
  shaped runs '.pre_tokenizer = {type: "Whitespace"} | .model.vocab["..."] = (.model.vocab | length)
    | .model.vocab["!!!???"] = (.model.vocab | length) | .model.vocab["__init__"] = (.model.vocab | length)
    | .normalizer = {type: "Sequence", normalizers: [{type: "NFD"}, {type: "Lowercase"}, {type: "StripAccents"}]}
    | .decoder = null' word.json
  shaped runs-pieces '.pre_tokenizer = {type: "Sequence", pretokenizers: [{type: "Whitespace"}]}' wordpiece.json
  shaped both '.pre_tokenizer = {type: "Sequence", pretokenizers: [{type: "WhitespaceSplit"},
    {type: "Punctuation", behavior: "Isolated"}]}' wordpiece.json
  written runs
  run -0 ran-tokenize encode --vocab runs.json --only - <<<'{"id":1,"text":"rain... «x» a_b"}'
  [ "$(jq '.encoding.ids | length' <<<"$output")" = 6 ]
}
