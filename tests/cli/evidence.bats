#!/usr/bin/env bats
# ran-classify --evidence: the passages that decided, and what the label is worth without them.

bats_require_minimum_version 1.5.0
load compare.bash

# documents N WORDS: N records of up to so many words of no meaning, and in three of four a word that
# tells the label.
documents() {
  awk -v n="$1" -v most="$2" 'BEGIN {
    split("rain sun snow", sign); split("wet warm white none", label)
    for (i = 1; i <= n; i++) {
      words = (i * 37) % most + 1; at = (i * 11) % words
      printf "{\"id\": %d, \"text\": \"", i
      for (w = 0; w < words; w++)
        printf "%s%s", w ? " " : "", w == at && i % 4 < 3 ? sign[i % 4 + 1] : "word" (i * w) % 7
      printf "\", \"label\": \"%s\"}\n", label[i % 4 + 1]
    }
  }'
}

# Three encoders that learn this in a moment, and a model of several labels.
setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 320 60 >train.jsonl
  ran-tokenize learn -q -o vocab.json train.jsonl
  shape='--vocab vocab.json --dim 16 --layers 1 --learning-rate 0.01 --dropout 0 --embed-dropout 0 --no-dev'
  attention='--heads 2 --head-dim 8'
  RAN_ISA=portable ran-train classify -q $shape $attention --window 16 --min-window 4 --epochs 12 -o ran.ran train.jsonl
  RAN_ISA=portable ran-train classify -q $shape --encoder contextualizer --rank 12 --epochs 30 -o contextualizer.ran \
    train.jsonl
  RAN_ISA=portable ran-train classify -q $shape $attention --encoder transformer --attention window --ffn-dim 32 \
    --epochs 20 -o transformer.ran train.jsonl
  jq -c '.labels = [.label, "any"] | del(.label)' train.jsonl >several.jsonl
  RAN_ISA=portable ran-train classify -q $shape $attention --window 16 --min-window 4 --epochs 20 -o several.ran \
    several.jsonl
}

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  ln -s "$BATS_FILE_TMPDIR"/*.ran .
  set -o pipefail # jq -e has nothing to say about no input
}

# planted N AT: a record of N words of no meaning, and before word AT of snow.
planted() {
  awk -v n="$1" -v at="$2" 'BEGIN {
    printf "{\"text\": \""
    for (w = 0; w < n; w++) printf "%sword%d ", w == at ? "snow snow " : "", (w * w) % 7
    print "\"}"
  }'
}

@test "evidence: a planted passage is found in a long document, whichever the encoder" {
  for model in ran contextualizer transformer; do
    planted 3000 2000 >long.jsonl
    [ $model != contextualizer ] || planted 60 40 >long.jsonl # more would be too thin for it
    ran-classify -m $model.ran --evidence 2 --evidence-length 6 long.jsonl >out.jsonl
    jq -e --slurpfile in long.jsonl '.prediction | .label == "white" and
      (.evidence[0] | (.text | test("snow snow")) and (.text | length) < 60 and
       .text == $in[0].text[.start:.end] and .gain > 0) and
      .evidence[0].without < .score and .evidence[0].without < 0.5' out.jsonl ||
      { cut -c 20000- out.jsonl; false; }
  done
}

@test "evidence: without a passage is what the document without it scores" {
  planted 60 20 >in.jsonl
  ran-classify -m ran.ran --evidence 2 --evidence-length 5 in.jsonl >out.jsonl
  jq -c '.text[:.prediction.evidence[0].start] + .text[.prediction.evidence[0].end:] | {text: .}' \
    out.jsonl >rest.jsonl
  ran-classify -m ran.ran --probs rest.jsonl >rest-out.jsonl
  [ "$(jq -r '.prediction.evidence[0].without' out.jsonl)" = \
    "$(jq -r '.prediction.probs.white' rest-out.jsonl)" ]
}

@test "evidence: every passage makes the label less probable without it, the most decisive first" {
  documents 30 40 | ran-classify -m ran.ran --evidence 5 --evidence-length 4 >out.jsonl
  jq -es 'all(.[].prediction; .score as $p | [.evidence[].without] |
                length <= 5 and all(. < $p) and . == sort)' out.jsonl
  jq -es 'any(.[].prediction; .evidence | length > 0)' out.jsonl
  # none over another
  jq -es 'all(.[].prediction.evidence | sort_by(.start); . as $e |
            all(range(1; $e | length); $e[. - 1].end <= $e[.].start))' out.jsonl
}

@test "evidence: nothing else of the record changes, and no more than is asked for" {
  documents 9 40 >in.jsonl
  ran-classify -m ran.ran --top 2 --probs in.jsonl >plain.jsonl
  ran-classify -m ran.ran --top 2 --probs --evidence 1 in.jsonl >out.jsonl
  jq -c 'del(.prediction.evidence)' out.jsonl | cmp - <(jq -c . plain.jsonl)
  jq -es 'all(.[].prediction.evidence; length <= 1)' out.jsonl
}

@test "evidence: the same bytes with any number of threads [all]" {
  { documents 20 40; planted 5000 70; documents 3 300; } >in.jsonl
  for model in ran contextualizer transformer several; do
    ran-classify -m $model.ran --evidence 3 -j 1 in.jsonl >one.jsonl
    ran-classify -m $model.ran --evidence 3 -j 5 in.jsonl | cmp - one.jsonl
  done
}

@test "evidence: each of several labels has its own" {
  planted 50 30 | ran-classify -m several.ran --evidence 1 --evidence-length 5 >out.jsonl
  jq -e '.prediction.labels | map(.label) == ["any", "white"] and
    (.[1].evidence[0].text | test("snow")) and all(has("evidence"))' out.jsonl
  jq -e '.prediction | has("evidence") | not' out.jsonl
}

@test "evidence: offsets count what is asked for, through accents and emoji" {
  rain=$(printf '\xf0\x9f\x8c\xa7 caf\xc3\xa9')
  planted 40 20 | jq -c --arg rain "$rain " '.text = $rain + .text' >in.jsonl
  for unit in codepoint byte utf16; do
    ran-classify -m ran.ran --evidence 1 --evidence-length 3 --offsets $unit in.jsonl >$unit.jsonl
  done
  jq -e '.prediction.evidence[0] as $e | .text[$e.start:$e.end] == $e.text and
    ($e.text | test("snow"))' codepoint.jsonl
  start=$(jq .prediction.evidence[0].start byte.jsonl)
  end=$(jq .prediction.evidence[0].end byte.jsonl)
  jq -j .text in.jsonl | head -c "$end" | tail -c +$((start + 1)) |
    cmp - <(jq -j .prediction.evidence[0].text byte.jsonl)
  # an emoji is two units, an accent one
  [ "$(jq .prediction.evidence[0].start utf16.jsonl)" -eq \
    $(($(jq .prediction.evidence[0].start codepoint.jsonl) + 1)) ]
}

@test "evidence: of tokens and ids the offsets count these" {
  planted 60 40 | jq -c '{tokens: (.text | split(" ") | map(select(. != "")))}' \
    >tokens.jsonl
  ran-classify -m ran.ran --evidence 1 --evidence-length 4 tokens.jsonl >out.jsonl
  jq -e '.prediction.evidence[0] as $e | (.tokens[$e.start:$e.end] | join(" ")) == $e.text and
    ($e.text | test("snow snow"))' out.jsonl
  ran-tokenize encode --vocab "$BATS_FILE_TMPDIR/vocab.json" tokens.jsonl >encoded.jsonl
  ran-classify -m ran.ran --evidence 1 --evidence-length 4 encoded.jsonl >out.jsonl
  jq -e '.prediction.evidence[0] as $e | .encoding.ids[$e.start:$e.end] as $ids |
    ($ids | map(tostring) | join(" ")) == $e.text' out.jsonl
  # as ids, cut: the place in the whole
  jq -c '{ids: .encoding.ids}' encoded.jsonl |
    ran-classify -m ran.ran --evidence 1 --evidence-length 4 --max-tokens 40 --truncate tail >out.jsonl
  jq -e '.prediction.evidence[0] as $e | .ids[$e.start:$e.end] as $ids |
    ($ids | map(tostring) | join(" ")) == $e.text' out.jsonl
}

@test "evidence: of a document that was cut, offsets are those of the whole" {
  planted 200 150 >in.jsonl
  for how in tail head-tail; do
    ran-classify -m ran.ran --max-tokens 120 --truncate $how --evidence 1 --evidence-length 5 \
      in.jsonl >out.jsonl
    jq -e '.prediction.truncated.kept == 120 and (.prediction.evidence[0] as $e |
      .text[$e.start:$e.end] == $e.text and ($e.text | test("snow")))' out.jsonl
    jq -c '{tokens: (.text | split(" ") | map(select(. != "")))}' in.jsonl |
      ran-classify -m ran.ran --max-tokens 120 --truncate $how --evidence 1 --evidence-length 5 \
        >out.jsonl
    jq -e '.prediction.evidence[0] as $e | (.tokens[$e.start:$e.end] | join(" ")) == $e.text and
      ($e.text | test("snow"))' out.jsonl
  done
}

@test "evidence: a document of one word has no rest" {
  echo '{"text": "snow"}' | ran-classify -m ran.ran --evidence 2 >out.jsonl
  jq -e '.prediction.evidence | length <= 1 and all(.without == null)' out.jsonl
  echo '{"text": "snow snow"}' | ran-classify -m ran.ran --evidence 2 >out.jsonl
  jq -e '.prediction.evidence | all(.without != null)' out.jsonl
}

@test "evidence: a bad line stays one, and --eval has no records to add it to" {
  printf '%s\n' '{"text": ""}' '{"text": 5}' '{"text": "snow and word1"}' >in.jsonl
  run -1 --separate-stderr ran-classify -m ran.ran --evidence 1 in.jsonl
  [ "${#lines[@]}" -eq 3 ]
  jq -e .ran_error <<<"${lines[0]}"
  jq -e .prediction.evidence <<<"${lines[2]}"
  run -2 --separate-stderr ran-classify -m ran.ran --eval --evidence 1 in.jsonl
  [[ $stderr == *"--evidence"* ]]
  run -2 --separate-stderr ran-classify -m ran.ran --evidence 1 --evidence-length 0 in.jsonl
  [[ $stderr == *"evidence-length"* ]]
}

@test "evidence: where there is none, it is said why" {
  awk 'BEGIN { split("rain sun", w); split("wet warm", l)
    for (i = 0; i < 40; i++) printf "{\"text\": \"the %s\", \"label\": \"%s\"}\n", w[i % 2 + 1], l[i % 2 + 1] }' >train.jsonl
  ran-train classify -q --encoder none --vocab-type word --min-count 1 -o words.ran train.jsonl
  printf '{"text":"%s"}\n' 'qzx vvv' 'the' 'rain rain' 'the rain' >in.jsonl
  ran-classify -m words.ran --evidence 1 in.jsonl | jq -c '.prediction | [(.evidence | length), .no_evidence]' >said
  diff - said <<'END'
[0,"the model knows none of its words"]
[0,"no passage speaks for the label"]
[0,"without any one of its passages the label is as probable"]
[1,null]
END
  ran-classify -m words.ran --evidence 1 --output-format html in.jsonl |
    grep -qF '<p class="note">No evidence: the model knows none of its words.</p>'
  # In a model of several labels beside each of them, and never beside evidence.
  documents 30 40 | ran-classify -m several.ran --evidence 2 >out.jsonl
  jq -e '.prediction.labels | all(has("no_evidence") == (.evidence | length == 0))' out.jsonl
}
