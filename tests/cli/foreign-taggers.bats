#!/usr/bin/env bats
# Taggers that others trained: labels of any scheme, and where names begin and end. What is right is what the library's
# token-classification pipeline gives with aggregation_strategy="simple": each token has its tag.

bats_require_minimum_version 1.5.0
load compare.bash

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  encoders=$BATS_TEST_DIRNAME/../encoders
  printf '%s\n' 'the captain crosses the river' 'a mill in the village rings' 'who asks nobody at the harbour' \
    'you cannot map islands in you, cannot, in.' >texts
  jq -R -c '{text: .}' texts >texts.jsonl
  for model in bert modernbert; do cp -R "$encoders/$model-tagger" $model; done
  # A tokenizer whose words end at white space only, as those of XLM-R and CamemBERT.
  cp -R bert unigram
  jq -c '[.model.vocab | to_entries | sort_by(.value)[].key] as $old |
    ["\u2581the", "\u2581captain", "\u2581har", "bour", ".", ",", "\u2581(", ")", "\u2581Jean", "-", "Pierre", "\u2581\u6211",
     "\u5728", "\u5317\u4eac", "\u2581", "\u0e01", "\u0e1a", "\u2581U", "S", "\u2581river"] as $new |
    {version: "1.0", added_tokens: [range(4) as $i | {id: $i, content: $old[$i], special: true, single_word: false,
       lstrip: false, rstrip: false, normalized: false}],
     pre_tokenizer: {type: "Metaspace", replacement: "\u2581", prepend_scheme: "always", split: true}, normalizer: null,
     decoder: null, post_processor: null,
     model: {type: "Unigram", unk_id: 1,
       vocab: [range($old | length) as $i | if $i < 5 then [$old[$i], 0] elif $i < 5 + ($new | length) then
         [$new[$i - 5], -1] else ["\u2580\($i)", -9] end]}}' bert/tokenizer.json >unigram/tokenizer.json
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
}

# labels MODEL LABEL...: names the labels of the tagger `MODEL.x`.
labels() {
  rm -rf "$1.x"
  cp -R "$1" "$1.x"
  jq -c 'del(.label2id) | .id2label = ($ARGS.positional | to_entries | map({key: (.key | tostring), value}) | from_entries)' \
    --args "${@:2}" <"$1/config.json" >"$1.x/config.json"
}

# entities MODEL [OPTION...]: type, begin and end of each in the texts.
entities() {
  ran-tag -q -m "$1.x" "${@:2}" texts.jsonl | jq -c '[.prediction.entities[] | [.label, .start, .end]]'
}

@test "foreign taggers: a name of one word that began with I- was lost" {
  labels bert O B-PER I-PER B-LOC I-LOC
  entities bert >iob2
  for scheme in 'I-PER B-PER I-LOC B-LOC' 'I-PER B-PER I-LOC I-ORG'; do
    labels bert O $scheme
    # As the pipeline: an I- that does not go on begins a name; so does each B-.
    ran-tag -m bert.x texts.jsonl | jq -c '.prediction | [.tags, (.entities | length)] |
      (.[0] | reduce .[] as $t ({n: 0, before: "O"};
         if ($t | test("^[BI]-") | not) then .before = "O"
         elif ($t[:1] == "B") or .before != $t[2:] then .n += 1 | .before = $t[2:] else . end) | .n) == .[1] and .[1] > 0' |
      sort -u >same
    [ "$(cat same)" = true ]
  done
  # A model file of the folder is the same tagger.
  ran-train import -q -o bert.ran bert.x
  ran-tag -m bert.ran texts.jsonl >file.jsonl
  ran-tag -m bert.x texts.jsonl | cmp - file.jsonl
}

@test "foreign taggers: labels of one type without any B-" {
  labels bert O I-PER I-LOC I-ORG I-MISC
  entities bert >want
  [ "$(jq -s 'flatten(1) | length > 3' want)" = true ]
  # The same with types alone, as some write them, and with parts behind an underscore, or small.
  for scheme in 'O PER LOC ORG MISC' 'O I_PER I_LOC I_ORG I_MISC' 'o i-PER i-LOC i-ORG i-MISC'; do
    labels bert $scheme
    entities bert | cmp - want
  done
  # A column of tags says which model: it is scored by the names, too.
  ran-tag -m bert.x texts.jsonl | jq -c '{text, spans: [.prediction.entities[] | {start, "end": .end, "label": .label}]}' >gold.jsonl
  run -0 --separate-stderr ran-tag -m bert.x --eval --eval-format json gold.jsonl
  [ -z "$stderr" ]
  jq -e '.strict.micro.f1 == 1 and .conlleval.f1 == 1 and .strict.invalid_found == 0' <<<"$output"
}

@test "foreign taggers: one label that is no tag turned all names off" {
  labels bert O B-PER I-PER B-LOC I-LOC
  entities bert >want
  for scheme in 'O B_PER I_PER B_LOC I_LOC' 'o b-PER i-PER b-LOC i-LOC' 'O B-PER M-PER B-LOC M-LOC' 'O S-PER E-PER S-LOC E-LOC' \
    'O U-PER L-PER W-LOC L-LOC'; do
    labels bert $scheme
    entities bert >found
    case $scheme in
    *S-* | *U-*) [ "$(jq -s 'flatten(1) | length' found)" -ge "$(jq -s 'flatten(1) | length' want)" ] ;;
    *) cmp found want ;;
    esac
  done
  for stray in '[PAD]' X '[CLS]' '<unk>'; do
    labels bert "$stray" B-PER I-PER B-LOC I-LOC
    entities bert | cmp - want
  done
}

@test "foreign taggers: labels that mark no names are said to" {
  labels bert NOUN VERB DET ADP X
  run -0 --separate-stderr ran-tag -m bert.x texts.jsonl
  [ "$stderr" = 'ran-tag: the labels of this model mark no entities: predictions have tags only' ]
  jq -se 'all(.[]; .prediction | keys == ["tags"])' <<<"$output"
}

# words MODEL TEXT: the names in a text, where each word is one.
words() {
  labels "$1" B-A B-B B-C B-D B-E
  jq -n -c --arg t "$2" '{text: $t}' | ran-tag -m "$1.x" | jq -c '[.prediction.entities[].text]'
}

@test "foreign taggers: names had the full stop after them, and the space before" {
  [ "$(words unigram 'the captain.')" = '["the","captain","."]' ]
  [ "$(words unigram 'the harbour, the (captain).')" = '["the","har","bour",",","the","(","captain",")","."]' ]
  [ "$(words unigram 'Jean-Pierre')" = '["Jean","-","Pierre"]' ]
  words modernbert ' the captain, at  the river.' |
    jq -e 'add == "thecaptain,attheriver." and all(.[]; contains(" ") | not)'
  [ "$(words bert ' the captain , at  the river.')" = '["the","captain",",","at","the","river","."]' ]
  # Offsets are those of the text in each unit.
  jq -n -c '{text: "  the  captain."}' | ran-tag -m unigram.x --offsets byte |
    jq -e '[.prediction.entities[] | [.start, .end]] == [[2, 5], [7, 14], [14, 15]]'
  # Another convention is asked for, and words that are given are words.
  jq -n -c '{text: "the harbour."}' | ran-tag -m unigram.x --split-at vocabulary |
    jq -e '[.prediction.entities[].text] == ["the", "harbour."]'
  jq -n -c '{text: "the harbour."}' | ran-tag -m unigram.x --split-at ptb |
    jq -e '[.prediction.entities[].text] == ["the", "harbour", "."]'
  jq -n -c '{tokens: ["the", "harbour."]}' | ran-tag -m unigram.x | jq -e '.prediction.tags | length == 2'
}

@test "foreign taggers: a sentence without spaces was one word" {
  [ "$(words unigram '我在北京')" = '["我","在","北京"]' ]
  # The first token is the space that the tokenizer adds: no word of columns.
  jq -n -c '{text: "\u0e01 the."}' | ran-tag -m unigram.x --output-format conll | cut -d ' ' -f 1 >column
  [ "$(paste -s -d ' ' column)" = 'ก the . ' ]
  [ "$(words unigram 'กบ.')" = '["ก","บ","."]' ]
}

@test "foreign taggers: a model that was trained on one has tags of its own" {
  labels bert O I-PER I-LOC I-ORG I-MISC
  jq -n -c 'range(12) | {tokens: ["the", "captain", "rings"], tags: ["O", "B-X", "O"]}' >train.jsonl
  ran-train tag -q --init bert.x --epochs 1 --no-dev -o own.ran train.jsonl
  ran-tag -m own.ran train.jsonl | jq -se 'all(.[].prediction.tags[]; . == "O" or . == "B-X")'
}
