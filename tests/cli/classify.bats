#!/usr/bin/env bats
# ran-classify: predictions, evaluation, and what is refused.

bats_require_minimum_version 1.5.0
load compare.bash

# Two models that are trained in a moment: `one` gives a label, `several` gives any number.
setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  for i in $(seq 40); do
    echo "{\"id\":$i,\"text\":\"number $i: sun and warmth\",\"label\":\"dry\"}"
    echo "{\"id\":$((i + 40)),\"text\":\"number $i: rain and storm\",\"label\":\"wet\"}"
    echo "{\"id\":$((i + 80)),\"text\":\"number $i: snow and storm\",\"label\":\"white\"}"
  done >one.jsonl
  jq -c '.labels = [.label] + (if .id > 40 then ["storm"] else [] end) | del(.label)' one.jsonl \
    >several.jsonl
  shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 8 --min-window 2 --epochs 6 --no-dev'
  for kind in one several; do
    RAN_ISA=portable ran-train classify -q $shape --learning-rate 0.02 --min-count 1 -o $kind.ran $kind.jsonl
  done
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  cp "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl .
  set -o pipefail # jq -e has nothing to say about no input
}

# classifies INPUT ARGUMENT...: runs ran-classify with the first model on INPUT.
classifies() {
  printf '%s\n' "$1" >input.jsonl
  shift
  run --separate-stderr ran-classify -m one.ran "$@" <input.jsonl
}

@test "classify: labels that differ from those of the model in spaces or case only are named" {
  for label in 'dry ' ' dry' Dry; do
    classifies "{\"text\":\"sun\",\"label\":\"$label\"}" --eval
    [ "$status" -eq 0 ]
    [[ $stderr == *"the label \"$label\" of the data (1 times) counts as wrong: the model has \"dry\";"* ]]
  done
  sed 's/"dry"/1/; s/"wet"/0/' one.jsonl | grep -v white >numbers.jsonl
  ran-train classify -q --encoder none --no-dev -o numbers.ran numbers.jsonl
  run -0 --separate-stderr ran-classify -m numbers.ran --eval - <<<'{"text":"sun","label":"1.0"}'
  [[ $stderr == *'the label "1.0" of the data'*'the model has "1";'* ]]
  classifies '{"text":"sun","label":"hail"}' --eval
  [[ $stderr != *'counts as wrong'* ]]
}

@test "classify: spelling helps where the words are unknown" {
  export RAN_ISA=portable
  awk 'BEGIN { for (i = 0; i < 80; i++) { up = i % 2
    w = sprintf("%c%c%c", 97 + i % 26, 97 + (i * 7) % 26, 97 + (i * 11) % 26)
    printf "{\"text\":\"%s a\",\"label\":\"%s\"}\n", up ? toupper(w) : w, up ? "loud" : "calm" } }' >spelled.jsonl
  shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 8 --min-window 2 --epochs 12 --no-dev --learning-rate 0.02'
  ran-train classify -q $shape --spelling 100 -o spelled.ran spelled.jsonl
  printf '%s\n' '{"text":"QXJ a"}' '{"text":"qxj a"}' '{"tokens":["QXJ","a"]}' '{"tokens":["qxj","a"]}' >new.jsonl
  [ "$(ran-classify -m spelled.ran new.jsonl | jq -r .prediction.label | tr '\n' ' ')" = 'loud calm loud calm ' ]
  # An encoding does not say how words are spelled; with the text beside it that one is read.
  ran-classify -m spelled.ran --max-tokens 1 --truncate=head new.jsonl | jq -se 'all(.prediction.truncated.kept == 1)'
  run -1 --separate-stderr ran-classify -m spelled.ran - <<<'{"ids":[5]}'
  [[ $stderr == *'the model reads the spelling of words, which "ids" lack'* ]]
  run -1 --separate-stderr ran-classify -m spelled.ran - <<<'{"encoding":{"vocab":"x","ids":[5]}}'
  [[ $stderr == *'no document: give one of tokens and text'* ]]
}

@test "classify: a linear model learns which n-grams decide, at any document length" {
  # The words are the same, their order tells; the encoder is kept from learning anything.
  awk 'BEGIN { for (i = 0; i < 200; i++) {
    printf "{\"text\":\"%s %s\",\"label\":\"%s\"}\n", \
      i % 2 ? "hot not" : "not hot", substr("a b c d e f", 1 + 2 * (i % 5)), i % 2 ? "warm" : "cold" } }' >wide.jsonl
  shape='--dim 4 --layers 1 --heads 1 --head-dim 2 --window 8 --min-window 2 --epochs 4 --no-dev --batch 8'
  ran-train classify -q $shape --learning-rate 0.001 --wide 997 -o wide.ran wide.jsonl
  ran-train classify -q $shape --learning-rate 0.001 --wide 0 -o narrow.ran wide.jsonl
  [ "$(ran-classify -m wide.ran --eval wide.jsonl | jq .accuracy)" = 1 ]
  [ "$(ran-classify -m narrow.ran --eval wide.jsonl | jq '.accuracy < 0.9')" = true ]
  jq -cn '{text: ("hot not " + ("f " * 5000))}' >long.jsonl
  [ "$(ran-classify -m wide.ran long.jsonl | jq -r .prediction.label)" = warm ]
  # Which words it was is known: "hot not" and "not a" are both of warm documents alone.
  echo '{"text":"hot not a b c d e f"}' | ran-attnmask -m wide.ran --map label --top 1 |
    jq -e '.attention.top[0].piece == "not"'
  # A second training from the model keeps table and weights; what they do not fit is refused.
  ran-train classify -q $shape --init wide.ran --init-rate 0 --wide 997 -o again.ran wide.jsonl
  same_output "ran-classify -m wide.ran --logits wide.jsonl" "ran-classify -m again.ran --logits wide.jsonl"
  "$RAN_BIN/tests/dump-gradients" classify -q -o g -m wide.ran wide.jsonl
  run ! grep -q '"grad.wide' g # which is not learned by gradients
  run -2 --separate-stderr ran-train lm --wide 10 -o no.ran wide.jsonl
  [[ $stderr == *'--wide is for ran-train classify and tag'* ]]
  run -2 --separate-stderr ran-train classify --wide 10 --ngrams 0 -o no.ran wide.jsonl
  [[ $stderr == *'--ngrams must be a whole number from 1 to 8'* ]]
}

# ---- predictions ---------------------------------------------------------------------------------

@test "classify: the most probable label, and how probable it is" {
  classifies '{"text":"rain and storm"}'
  [ "$status" -eq 0 ]
  [[ $output == '{"text":"rain and storm","prediction":{"label":"wet","score":0.'*'}}' ]]
  [ -z "$stderr" ]
}

@test "classify: --probs add up to 1, --top begins with the label" {
  classifies '{"text":"snow"}' --probs --top 2
  jq -e '.prediction | ([.probs[]] | add - 1 | fabs < 1e-6) and (.probs | keys == ["dry", "wet", "white"])
    and (.top | length == 2) and .top[0] == {label: .label, score: .score} and .top[0].score >= .top[1].score
    and .score == .probs[.label]' <<<"$output"
  classifies '{"text":"snow"}' --top 99
  [ "$(jq '.prediction.top | length' <<<"$output")" -eq 3 ]
}

@test "classify: probabilities are the softmax of --logits" {
  classifies '{"text":"snow"}' --logits --probs
  jq -e '.prediction | ([.logits[] | exp] | add) as $sum | [.probs[]] as $p | [.logits[] | exp / $sum]
    | [., $p] | transpose | all(.[0] - .[1] | fabs < 1e-5)' <<<"$output"
}

@test "classify: --embed is as wide as the model" {
  classifies '{"text":"snow"}' --embed
  [ "$(jq '.prediction.embedding | length' <<<"$output")" -eq 16 ]
}

@test "classify: --threshold withholds a label that is not probable enough" {
  classifies '{"text":"and"}' --threshold 1
  [ "$(jq -c '.prediction.label' <<<"$output")" = null ]
  jq -e '.prediction.score < 1' <<<"$output"
}

@test "classify: several labels, those that reach the threshold" {
  echo '{"text":"number 3: rain and storm"}' >input.jsonl
  run -0 --separate-stderr ran-classify -m several.ran input.jsonl
  [ "$(jq -c '[.prediction.labels[].label]' <<<"$output")" = '["storm","wet"]' ]
  jq -e '.prediction.labels | all(.score >= 0.5)' <<<"$output"
  [ "$(ran-classify -m several.ran --threshold 1 input.jsonl | jq -c .prediction)" = '{"labels":[]}' ]
  ran-classify -m several.ran --threshold 1e-9 --probs input.jsonl |
    jq -e '.prediction | (.labels | length) == (.probs | length)'
}

# The score is a rounded number in 32 bits, and so must be the threshold.
@test "classify: a score that is exactly the threshold reaches it [all]" {
  for text in sun rain snow warmth storm and number 'sun rain' 'rain sun' 'snow and sun' 'storm sun'; do
    echo "{\"text\":\"$text\"}" >in.jsonl
    score=$(ran-classify -m one.ran in.jsonl | sed 's/.*"score":\([^}]*\)}}/\1/')
    [ "$(ran-classify -m one.ran --threshold "$score" in.jsonl | jq .prediction.label)" != null ]
    score=$(ran-classify -m several.ran --top 1 in.jsonl | sed 's/.*"score":\([^}]*\)}.}}/\1/')
    ran-classify -m several.ran --threshold "$score" in.jsonl | jq -e '.prediction.labels != []'
  done
}

@test "classify: a document's result depends on the document alone" {
  ran-classify -m one.ran --logits --embed one.jsonl >all
  for j in 1 2 7; do
    ran-classify -m one.ran --logits --embed -j $j one.jsonl | cmp - all
  done
  tail -1 one.jsonl | ran-classify -m one.ran --logits --embed | cmp - <(tail -1 all)
  { tail -1 one.jsonl; cat one.jsonl; } | ran-classify -m one.ran --logits --embed | sed -n 1p |
    cmp - <(tail -1 all)
}

@test "classify: a record does not wait for a slow one behind it [all]" {
  { echo '{"text":"sun"}'; printf '{"text":"'; awk 'BEGIN { for (i = 0; i < 60000; i++) printf "rain " }'; echo '"}'; } >two.jsonl
  mkfifo answers
  ran-classify -m one.ran -j 2 --drop text two.jsonl >answers &
  exec 4<answers
  read -r -t 60 first <&4
  [[ $first == '{"prediction":{"label":"dry",'* ]]
  ! read -r -t 0 -u 4 || { echo 'both came at once' >&2; false; }
  read -r -t 60 second <&4
  [[ $second == '{"prediction":{"label":"wet",'* ]]
  wait $!
}

# ---- documents -----------------------------------------------------------------------------------

@test "classify: text, tokens, encoding and ids of a document give the same" {
  echo '{"text":"rain and storm","tokens":["rain","and","storm"]}' |
    ran-tokenize encode -m one.ran >encoded
  want=$(ran-classify -m one.ran --logits encoded | jq -c .prediction)
  [ "$(jq -c 'del(.encoding)' encoded | ran-classify -m one.ran --logits | jq -c .prediction)" = "$want" ]
  [ "$(jq -c '{text}' encoded | ran-classify -m one.ran --logits | jq -c .prediction)" = "$want" ]
  [ "$(jq -c '{ids: .encoding.ids}' encoded | ran-classify -m one.ran --logits | jq -c .prediction)" = "$want" ]
}

@test "classify: the first of encoding, ids, tokens and text counts" {
  classifies '{"text":"rain and storm","tokens":["sun"]}'
  [[ $output == *'"label":"dry"'* ]]
  classifies '{"text":"rain and storm","tokens":null}'
  [[ $output == *'"label":"wet"'* ]]
}

@test "classify: an encoding of another vocabulary is an error" {
  head -1 one.jsonl | ran-tokenize encode -m several.ran >same
  ran-classify -m one.ran same # learned from the same words
  echo '{"text":"quite other words"}' | ran-tokenize learn -q --min-count 1 -o other.json
  head -1 one.jsonl | ran-tokenize encode --vocab other.json >other
  run -1 --separate-stderr ran-classify -m one.ran other
  [[ $stderr == *'another vocabulary'* ]]
}

@test "classify: documents that cannot be used [all]" {
  while IFS='|' read -r record sentence; do
    classifies "$record"
    [ "$status" -eq 1 ]
    [[ $stderr == *"$sentence"* ]] || { echo "$record: $stderr" >&2; false; }
    jq -e '.ran_error.line == 1' <<<"$output"
  done <<'EOF2'
{"id":1}|no document: give one of encoding, ids, tokens and text
{"text":""}|the document has no tokens
{"text":"  "}|the document has no tokens
{"tokens":[]}|the document has no tokens
{"ids":[]}|the document has no tokens
{"text":7}|"text" must be a string
{"tokens":"a"}|"tokens" must be an array of strings
{"tokens":[1]}|"tokens" must be an array of strings
{"ids":7}|"ids" must be an array
{"ids":[1,-1]}|ids must be whole numbers, not -1
{"ids":[1.5]}|ids must be whole numbers, not 1.5
{"ids":["1"]}|ids must be whole numbers, not "1"
{"ids":[123456789]}|id 123456789 is not in the vocabulary
{"ids":[4294967301]}|id 4294967301 is not in the vocabulary
{"ids":[99999999999999999999999]}|ids must be whole numbers
{"encoding":[]}|"encoding" must be an object
{"encoding":{"ids":[1]}}|another vocabulary
{"tokens":["\ud800"]}|half of a surrogate pair
{"text":"a","label":"x","label":"y"}|"label" is given twice
EOF2
}

@test "classify: --max-tokens cuts, and says so" {
  text='{"text":"sun sun rain storm rain rain"}'
  classifies "$text" --max-tokens 2
  [[ $output == *'"label":"dry",'*',"truncated":{"kept":2,"of":6}}}' ]]
  classifies "$text" --max-tokens 2 --truncate tail
  [[ $output == *'"label":"wet",'*',"truncated":{"kept":2,"of":6}}}' ]]
  classifies "$text" --max-tokens 6
  [[ $output != *truncated* ]]
  classifies "$text" --max-tokens 5 --truncate error
  [ "$status" -eq 1 ]
  [[ $stderr == *'the document has 6 tokens, more than the 5 of --max-tokens'* ]]
}

@test "classify: --truncate=head-tail keeps both ends" {
  echo '{"text":"sun rain snow storm warmth"}' >five.jsonl
  for pair in '2 sun warmth' '3 sun rain warmth' '1 sun'; do
    set -- $pair
    got=$(ran-classify -m one.ran --logits --truncate head-tail --max-tokens "$1" five.jsonl |
      jq -c .prediction.logits)
    shift
    [ "$(echo "{\"text\":\"$*\"}" | ran-classify -m one.ran --logits | jq -c .prediction.logits)" = "$got" ]
  done
}

# ---- nearest documents ---------------------------------------------------------------------------

@test "nearest: the documents whose vectors have the largest cosine, of texts or of vectors written before" {
  ran-classify -q -m one.ran --embed one.jsonl >vectors.jsonl
  head -n 5 one.jsonl | jq -c 'del(.id)' >queries.jsonl
  ran-classify -q -m one.ran --nearest 4 --among one.jsonl queries.jsonl >near
  ran-classify -q -m one.ran --nearest 4 --among vectors.jsonl queries.jsonl | cmp - near
  # In parts, without the texts, by another number of threads.
  jq -c 'select(.id <= 50) | del(.text)' vectors.jsonl >a; jq -c 'select(.id > 50)' vectors.jsonl >b
  ran-classify -q -m one.ran -j 5 --nearest 4 --among a --among b queries.jsonl | cmp - near
  jq -s --slurpfile v vectors.jsonl '
    def dot($a; $b): [range($a | length) | $a[.] * $b[.]] | add;
    def cosine($a; $b): dot($a; $b) / ((dot($a; $a) | sqrt) * (dot($b; $b) | sqrt));
    [range(length) as $q | .[$q].prediction.nearest as $near | $v[$q].prediction.embedding as $e |
      ([$v[] | cosine($e; .prediction.embedding)] | sort | reverse) as $all |
      ($near | length) == 4 and all(range(4); ($near[.].cosine - $all[.] | fabs) < 1e-5)] | all' near | grep -qx true
  jq -se 'all(.prediction.label and (.prediction | has("embedding") | not))' near
  # A number, a string, none: ids as they came; more than there are: all.
  printf '%s\n' '{"id":1e0,"text":"sun"}' '{"id":"a\"b","text":"rain"}' '{"text":"snow"}' >few.jsonl
  ran-classify -q -m one.ran --nearest 9 --among few.jsonl - <<<'{"text":"sun"}' |
    jq -e '.prediction.nearest | length == 3 and (map(.id) | sort == [1, "a\"b", "few.jsonl:3"])'
}

@test "nearest: --least leaves out documents that are less near" {
  ran-classify -q -m one.ran --nearest 99 --among one.jsonl one.jsonl >all
  ran-classify -q -m one.ran --nearest 99 --least 0.9 --among one.jsonl one.jsonl >near
  jq -c '.prediction.nearest |= map(select(.cosine >= 0.9))' all | jq -c .prediction.nearest >wanted
  jq -c .prediction.nearest near | cmp - wanted
  jq -se 'any(.prediction.nearest | length < 99) and any(.prediction.nearest | length > 1)' near
  run -2 --separate-stderr ran-classify -m one.ran --least 0.9 one.jsonl
  [[ $stderr == *'--least is for --nearest K'* ]]
}

@test "nearest: what cannot be compared is refused" {
  echo '{"text":"sun","prediction":{"embedding":[1,2]}}' >short.jsonl
  run -3 --separate-stderr ran-classify -m one.ran --nearest 1 --among short.jsonl one.jsonl
  [[ $stderr == *'short.jsonl:1: its embedding has 2 numbers, and those of the model have 16'* ]]
  [[ $stderr == *'--among short.jsonl: no document to compare with'* ]]
  echo '{"text":"sun","prediction":{"embedding":[1,"2"]}}' >short.jsonl
  run -3 --separate-stderr ran-classify -m one.ran --nearest 1 --among short.jsonl one.jsonl
  [[ $stderr == *'its embedding has an element that is no number in range'* ]]
  run -3 ran-classify -m one.ran --nearest 1 --among nowhere.jsonl one.jsonl
  run -2 --separate-stderr ran-classify -m one.ran --nearest 1 one.jsonl
  [[ $stderr == *'--nearest needs a collection: --among FILE'* ]]
  run -2 ran-classify -m one.ran --among one.jsonl one.jsonl
  run -2 ran-classify -m one.ran --eval --nearest 1 --among one.jsonl one.jsonl
  run -2 ran-classify -m one.ran --output-format csv --nearest 1 --among one.jsonl one.jsonl
  cp one.jsonl kept.jsonl
  run -2 ran-classify -m one.ran --nearest 1 --among kept.jsonl -o kept.jsonl one.jsonl
  cmp one.jsonl kept.jsonl
}

# ---- evaluation ----------------------------------------------------------------------------------

@test "eval: the report says what the predictions say" {
  ran-classify -m one.ran one.jsonl >got
  right=$(jq -n '[inputs | select(.label == .prediction.label)] | length' got)
  run -0 --separate-stderr ran-classify -q -m one.ran --eval one.jsonl
  [ -z "$stderr" ]
  jq -e --argjson right "$right" '.n == 120 and .n_skipped == 0 and .accuracy == $right / 120
    and ([.confusion.matrix[][]] | add) == 120 and .confusion.labels == ["dry", "wet", "white"]
    and ([.per_class[].support] == [40, 40, 40]) and .micro.f1 == .accuracy
    and .unknown_labels.count == 0' <<<"$output"
}

@test "eval: several labels" {
  run -0 --separate-stderr ran-classify -m several.ran --eval several.jsonl
  jq -e '.n == 120 and .micro.f1 > 0.8 and (has("confusion") | not)
    and ([.per_class[] | .support == .tp + .fn] | all)' <<<"$output"
}

@test "eval: for people" {
  run -0 --separate-stderr ran-classify -m one.ran --eval --eval-format=text one.jsonl
  [[ ${lines[0]} == 'documents          120 ('* ]]
  [[ $output == *'precision  recall'* ]]
}

@test "eval: any number of threads, a file for output" {
  ran-classify -m one.ran --eval -j 1 one.jsonl >1
  ran-classify -m one.ran --eval -j 7 -o 7 one.jsonl
  cmp 1 7
}

@test "eval: records without a label are counted, labels unknown to the model are named" {
  { cat one.jsonl; echo '{"text":"sun"}'; echo '{"text":"sun","label":null}'
    echo '{"text":"sun","label":"fog"}'; echo '{"text":"sun","label":7}'; } >more.jsonl
  run -0 --separate-stderr ran-classify -m one.ran --eval more.jsonl
  [[ $stderr == *'2 records have no label'* ]]
  jq -e '.n == 122 and .n_skipped == 2 and .unknown_labels ==
    {count: 2, labels: [{label: "7", count: 1}, {label: "fog", count: 1}]}' <<<"$output"
}

@test "eval: macro and weighted were said to be of all labels, and are of those that the model has" {
  ran-classify -m one.ran --eval one.jsonl >known
  { cat one.jsonl; echo '{"text":"sun","label":"fog"}'; } >more.jsonl
  ran-classify -m one.ran --eval more.jsonl >unknown
  jq -se '.[0] as $k | .[1] as $u | $u.micro.recall < $k.micro.recall and $u.accuracy < $k.accuracy
    and $u.macro.recall == $k.macro.recall and $u.weighted.recall == $k.weighted.recall' known unknown
}

@test "eval: --against counts what the predictions of two models say, with one label and with several" {
  # Other models, of less data; two records no model can get right.
  for kind in one several; do
    jq -c 'select(.id % 7 == 0)' $kind.jsonl | ran-train classify -q --base none --encoder none --no-dev -o less.$kind.ran
    jq -c 'if .id % 9 == 0 then del(.label, .labels) else . end' $kind.jsonl >some.jsonl
    jq -c 'select(.id < 3) | if .label then .label = "odd" else .labels = ["odd"] end' $kind.jsonl >>some.jsonl
    ran-classify -q -m $kind.ran --eval some.jsonl | jq -c '.micro.f1' >alone
    ran-classify -q -m $kind.ran --eval --against less.$kind.ran some.jsonl | jq -c .against >against
    ran-classify -q -m less.$kind.ran --eval --against $kind.ran some.jsonl | jq -c .against >back
    ran-classify -q -m $kind.ran some.jsonl | ran-classify -q -m less.$kind.ran --into other |
      jq -c 'select(.label or .labels) |
        def given: (if .labels then [.labels[].label] else [.label] end) | unique;
        ((.labels // [.label]) | unique) as $gold |
        [(.prediction | given) == $gold, (.other | given) == $gold]' >right
    jq -s --slurpfile a against '($a[0] | [.n, .both_right, .only_this_right, .only_other_right, .both_wrong]) ==
      [length, (map(select(. == [true, true])) | length), (map(select(. == [true, false])) | length),
       (map(select(. == [false, true])) | length), (map(select(. == [false, false])) | length)]' right | grep -q true
    jq -e -s '.[0].this == .[1]' against alone
    jq -e '.n == 109 and .both_wrong >= 2 and .difference_low <= .difference and .difference <= .difference_high and
      .metric == (if $kind == "one" then "accuracy" else "micro_f1" end)' --arg kind $kind against
    jq -e -s '.[0].difference == -.[1].difference and .[0].mcnemar_p == .[1].mcnemar_p and
      .[0].only_this_right == .[1].only_other_right' against back
  done
  run -0 --separate-stderr ran-classify -m one.ran --eval --eval-format text --against less.one.ran one.jsonl
  [[ $output == *$'\nAgainst another model\nless.one.ran, on the same documents\n'*$'\np of McNemar'* ]]
  ran-classify -q -m one.ran --eval --against less.one.ran -j 1 one.jsonl >1
  ran-classify -q -m one.ran --eval --against less.one.ran -j 5 one.jsonl | cmp - 1
}

@test "eval: --against refuses models and options that do not go with it" {
  run -3 --separate-stderr ran-classify -m one.ran --eval --against several.ran one.jsonl
  [[ $stderr == *'it gives several labels a document, and the other model does not'* ]]
  run -3 --separate-stderr ran-classify -m one.ran --eval --against nowhere.ran one.jsonl
  [[ $stderr == *'cannot open nowhere.ran'* ]]
  run -2 --separate-stderr ran-classify -m one.ran --against one.ran one.jsonl
  run -2 --separate-stderr ran-classify -m one.ran --eval --eval-format html --against one.ran one.jsonl
  run -2 --separate-stderr ran-classify -m one.ran --eval --threshold-for dry=0.5 --against one.ran one.jsonl
}

@test "eval: labels that do not fit the model are errors" {
  { cat one.jsonl; echo '{"text":"sun","labels":["dry","wet"]}'; echo '{"text":"sun","label":[]}'
    echo '{"text":"sun","label":"dry","labels":["dry"]}'; echo '{"text":"sun","labels":["dry"]}'; } >more.jsonl
  run -1 --separate-stderr ran-classify -m one.ran --eval more.jsonl
  [ "$(jq .n <<<"$output")" -eq 121 ]
  [[ $stderr == *'more.jsonl:121: "labels" has 2 labels, but the model predicts one'* ]]
  [[ $stderr == *'more.jsonl:122: "labels" has 0 labels, but the model predicts one'* ]]
  [[ $stderr == *'more.jsonl:123: the record has both "label" and "labels"'* ]]
}

@test "eval: a label that is listed twice counts once" {
  echo '{"text":"rain and storm","labels":["wet","storm","wet"]}' >twice.jsonl
  run -0 ran-classify -m several.ran --eval twice.jsonl
  [ "$(jq '[.per_class[].support] | add' <<<"$output")" -eq 2 ]
  # One that the model does not know was missed as often as it was listed.
  echo '{"text":"rain and storm","labels":["fog","wet","storm","","fog","fog",""]}' >twice.jsonl
  ran-classify -m several.ran --eval twice.jsonl |
    jq -e '.unknown_labels == {count: 2, labels: [{label: "", count: 1}, {label: "fog", count: 1}]} and .micro.recall == 0.5'
}

@test "eval: nothing to compare with is an error" {
  run -3 --separate-stderr ran-classify -m one.ran --eval <<<'{"text":"sun"}'
  [ -z "$output" ]
  [[ $stderr == *'no record has a label'* ]]
}

# ---- what is refused -----------------------------------------------------------------------------

@test "classify: the model is needed, and must be one" {
  run -2 --separate-stderr ran-classify one.jsonl
  [[ $stderr == *'give --model FILE'*"Try 'ran-classify --help'"* ]]
  run -3 --separate-stderr ran-classify -m missing.ran one.jsonl
  [[ $stderr == *'missing.ran'*'No such file'* ]]
  run -3 --separate-stderr ran-classify -m one.jsonl one.jsonl
  [ -z "$output" ]
  head -c 1000 one.ran >cut.ran
  run -3 --separate-stderr ran-classify -m cut.ran one.jsonl
  [ -z "$output" ]
}

@test "classify: --verify sees weights that were changed" {
  ran-classify --verify -m one.ran one.jsonl >/dev/null
  size=$(wc -c <one.ran)
  cp one.ran bad.ran
  printf '\x7f' | dd of=bad.ran bs=1 seek=$((size - 5)) conv=notrunc 2>/dev/null
  run -3 --separate-stderr ran-classify --verify -m bad.ran one.jsonl
  [ -z "$output" ]
}

@test "classify: --threshold decides nothing that --eval of a single label counts" {
  run -2 --separate-stderr ran-classify -m one.ran --eval --threshold 0.5 one.jsonl
  [[ $stderr == *'--threshold with --eval'* ]]
}

@test "classify: a closed pipe ends the program quietly" {
  yes '{"text":"rain"}' 2>/dev/null | ran-classify -m one.ran 2>errors | head -1 >first ||
    [ "${PIPESTATUS[1]}" -eq 141 ]
  [[ $(cat first) == *'"label":"wet"'* ]]
  [ ! -s errors ]
}

@test "classify: a pipeline of all three programs" {
  ran-tokenize encode -m one.ran one.jsonl | ran-classify -m one.ran --drop encoding --into weather |
    ran-classify -m several.ran --drop text >both.jsonl
  jq -e -n '[inputs] | length == 120 and all(.weather.label and .prediction.labels and (has("text") | not))' both.jsonl
}

@test "classify: the locale's comma is neither read nor written [all]" {
  localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" 2>/dev/null || skip 'no locale with a comma'
  german="env LOCPATH=$PWD LC_ALL=de_DE.UTF-8"
  [ "$($german printf %.1f 1)" = 1,0 ]
  run -0 $german ran-classify -m one.ran --threshold 0.25 <<<'{"text":"rain"}'
  [[ $output == *'"score":0.'* ]]
  run -0 $german ran-classify -m one.ran --eval --eval-format=text one.jsonl
  [[ $output == *'log loss           0.'* ]]
  [[ $($german ran-classify --threshold 0.25 --print-config) == *'"threshold":0.25,'* ]]
}

@test "classify: with many labels the linear model has fewer rows, unless the user set them [all]" {
  awk 'BEGIN { for (i = 0; i < 400; i++) printf "{\"text\":\"w%d of it\",\"label\":\"l%d\"}\n", i % 200, i % 200 }' >many.jsonl
  shape='--dim 4 --layers 1 --heads 1 --head-dim 2 --window 8 --epochs 1 --no-dev'
  ran-train classify -q $shape -o many.ran many.jsonl
  head -c 100000 many.ran | grep -ac 'wide\\":65536'
  ran-train classify -q $shape --wide 131072 -o many.ran many.jsonl
  head -c 100000 many.ran | grep -ac 'wide\\":131072'
}
