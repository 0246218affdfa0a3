#!/usr/bin/env bats
# tokenizer.json between this and the library of Hugging Face, if node finds it (NODE_PATH); RAN_FETCH=1
# fetches it from npm otherwise. Without it these tests are skipped. RAN_TEXTS: a file of records with
# further texts.

bats_require_minimum_version 1.5.0
load compare.bash

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
  [[ $stderr == *'bert.json: its truncation to 4 tokens is ignored'*'its post_processor is ignored'* ]]
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

# Words of GPT-4: any order of the kinds of characters that its regular expression tells apart.
mixed() {
  awk 'BEGIN { srand(3)
    n = split("a|B|é|ſ|'\''|'\''s|'\''LL|'\''ſ|1|23|½|٣| |  |\\n|\\r\\n|\\t|.|!?|_|-|\\u0301|東|\\u00a0|\\u2028|\\u0085|😀|🏽", piece, "|")
    for (i = 0; i < 3000; i++) {
      line = ""
      for (k = int(rand() * 12); k >= 0; k--) line = line piece[int(rand() * n) + 1]
      print "{\"text\":\"x" line "\"}"
    } }'
}

gpt4='(?i:'\''s|'\''t|'\''re|'\''ve|'\''m|'\''ll|'\''d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+'
split='{type: "Split", pattern: {Regex: $regex}, behavior: "Isolated", invert: false}'
bytes='{type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: $again}'
steps() { # steps REGEX AGAIN FILTER: bpe.json with other pre-tokenizers
  jq -c --arg regex "$1" --argjson again "$2" "$3" bpe.json
}

@test "huggingface: files like those of Llama 3, Qwen, StarCoder and SmolLM" {
  mixed >>awkward.jsonl
  steps "$gpt4" false ".pre_tokenizer = {type: \"Sequence\", pretokenizers: [$split, $bytes]}
    | .model.ignore_merges = true
    | .model.vocab[\"Ġrainy\"] = (.model.vocab | length) | .model.vocab[\"ĊĊĠ\"] = (.model.vocab | length)
    | .post_processor = {type: \"Sequence\", processors: [{type: \"ByteLevel\", add_prefix_space: true,
        trim_offsets: false, use_regex: true}]}" >llama3.json
  echo '{"text":"a rainy\n\n rainy rain\n\n  rainy\n\n rainy"}' >>awkward.jsonl
  same llama3.json llama3.json
  written llama3
  steps "${gpt4/'{1,3}'/}" false ".pre_tokenizer = {type: \"Sequence\", pretokenizers: [$split, $bytes]}
    | .normalizer = {type: \"NFC\"}" >qwen.json
  same qwen.json qwen.json
  written qwen
  steps '' true ".pre_tokenizer = {type: \"Sequence\", pretokenizers: [{type: \"Digits\", individual_digits: true}, $bytes]}" >digits.json
  same digits.json digits.json
  written digits
  steps '' false ".pre_tokenizer = {type: \"Sequence\", pretokenizers: [{type: \"Digits\", individual_digits: false}, $bytes]}" >runs-of-digits.json
  same runs-of-digits.json runs-of-digits.json
  written runs-of-digits
  # GPT-2's own, said in another way.
  steps "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" false \
    ".pre_tokenizer = {type: \"Sequence\", pretokenizers: [$split, $bytes]}" >gpt2-split.json
  same gpt2-split.json gpt2-split.json
  written gpt2-split
}

@test "huggingface: white space at the ends of a text, and tokens of spaces as GPT-NeoX has them" {
  printf '%s\n' '{"text":" \t\u00a0 the rain \n\u2028"}' '{"text":"<mask>  the rain <mask> "}' '{"text":"the    rain  in   Spain"}' >>awkward.jsonl
  for sides in 'true true' 'true false' 'false true'; do
    set -- $sides
    jq -c ".normalizer = {type: \"Sequence\", normalizers: [{type: \"Strip\", strip_left: $1, strip_right: $2}, {type: \"NFC\"}]}" \
      bpe.json >strip.json
    same strip.json strip.json
    written strip
  done
  jq -c '.normalizer = {type: "Strip", strip_left: true, strip_right: true} | .pre_tokenizer.add_prefix_space = true
    | .post_processor.add_prefix_space = true' \
    bpe.json >strip-lead.json
  same strip-lead.json strip-lead.json
  jq -c '.normalizer = {type: "Sequence", normalizers: ([{type: "Strip", strip_left: true, strip_right: true}] + .normalizer.normalizers)}' \
    wordpiece.json >strip-pieces.json
  same strip-pieces.json strip-pieces.json
  jq -c '.normalizer = {type: "NFC"} | (.model.vocab | length) as $n
    | .added_tokens = [range(4) | {id: ($n + .), content: ("    "[0:(4 - .)]), special: false, normalized: true,
        single_word: false, lstrip: false, rstrip: false}]' bpe.json >neox.json
  same neox.json neox.json
  written neox
}

# characters FILTER: bpe.json with pieces of characters in the place of those of bytes, as SentencePiece
# makes them and Llama 2 has them: of the characters some, of the merges those of ASCII.
characters() {
  jq -c "(.model.merges | map(if type == \"string\" then split(\" \") else . end | map(gsub(\"Ġ\"; \"▁\")))
        | map(select(all(test(\"^[!-~▁]+\$\") and (test(\"[Q-Zq]\") | not))))
        + [[\"▁\", \"▁\"], [\"▁▁\", \"▁▁\"], [\"é\", \"東\"]]
        | reduce .[] as \$m ([]; if index([\$m]) then . else . + [\$m] end)) as \$merges
    | ([\"<unk>\", \"<s>\", \"</s>\"] + [range(256) | \"0123456789ABCDEF\" as \$d
        | \"<0x\" + \$d[(. / 16 | floor):(. / 16 | floor) + 1] + \$d[. % 16:. % 16 + 1] + \">\"]
        + (\$merges | map(add)) + [range(33; 127) | [.] | implode | select(test(\"[Q-Zq]\") | not)] + [\"▁\", \"é\", \"東\"]
        | reduce .[] as \$p ([]; if index([\$p]) then . else . + [\$p] end)) as \$pieces
    | .model = {type: \"BPE\", dropout: null, unk_token: \"<unk>\", continuing_subword_prefix: null,
        end_of_word_suffix: null, fuse_unk: true, byte_fallback: true, ignore_merges: false,
        vocab: (\$pieces | to_entries | map({(.value): .key}) | add), merges: \$merges}
    | .added_tokens = [\"<unk>\", \"<s>\", \"</s>\" | {id: (if . == \"<unk>\" then 0 elif . == \"<s>\" then 1 else 2 end),
        content: ., special: true, normalized: false, single_word: false, lstrip: false, rstrip: false}]
    | .normalizer = {type: \"Sequence\", normalizers: [{type: \"Prepend\", prepend: \"▁\"},
        {type: \"Replace\", pattern: {String: \" \"}, content: \"▁\"}]}
    | .pre_tokenizer = null | .post_processor = null
    | .decoder = {type: \"Sequence\", decoders: [{type: \"Replace\", pattern: {String: \"▁\"}, content: \" \"},
        {type: \"ByteFallback\"}, {type: \"Fuse\"}, {type: \"Strip\", content: \" \", start: 1, stop: 0}]}
    | $1" bpe.json
}

@test "huggingface: files like those of Llama 2 and Gemma, of characters with bytes to fall back on" {
  printf '%s\n' '{"text":"the▁rain ▁ in"}' '{"text":"Q q\u0000  <s>the </s> rain<0x41>"}' '{"text":"▁▁x    y        z "}' \
    '{"text":"   "}' '{"text":"é東é 東é"}' >>awkward.jsonl
  characters . >llama2.json
  same llama2.json llama2.json
  written llama2
  # Without a space in front, with a step before, and a pre-tokenizer that finds nothing.
  characters '.normalizer = {type: "Sequence", normalizers: [{type: "NFKC"}, .normalizer.normalizers[1]]}
    | .pre_tokenizer = {type: "Split", pattern: {String: " "}, behavior: "MergedWithPrevious", invert: false}' >gemma.json
  same gemma.json gemma.json
  written gemma
  # Pieces that go on over a space.
  characters '.model.merges += [["n", "▁"], ["n▁", "s"]] | (.model.vocab | length) as $n
    | .model.vocab += {"n▁": $n, "n▁s": ($n + 1)}' >over.json
  same over.json over.json
  written over
}
