#!/usr/bin/env bats
# Pages: HTML of predictions, evaluations, trainings and attention. Their text is read back.

bats_require_minimum_version 1.5.0
load train.bash
load pages.bash

setup_file() {
  PATH=${RAN_BIN:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  documents 60 12 >train.jsonl
  ran-train classify -q --encoder none -o labels.ran train.jsonl
  cat >hostile.jsonl <<'END'
{"id":"<script>alert(1)</script>","text":"sun </div></details><script>alert('x')</script> & \"q\"","label":"<b>wet</b>"}
{"id":"ends","text":"rain ]]> --> <!-- \u0000\u0007\u001b[31m \ufffe","label":"warm"}
{"id":7,"tokens":["snow","<i>","&amp;"]}
{"text":"no id, sun"}
END
}

setup() {
  PATH=${RAN_BIN:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
}

@test "pages: predictions as a page, with the text of every document" {
  ran-classify -m labels.ran --output-format html -o page.html train.jsonl
  well_formed page.html
  text_of page.html >text
  grep -q '^60 documents, model labels.ran' text
  [ "$(grep -c '<article ' page.html)" -eq 60 ]
  jq -r .text train.jsonl | while read -r line; do grep -qF "$line" text || { echo "no: $line"; false; }; done
  ran-classify -m labels.ran --output-format html train.jsonl | cmp - page.html
  ran-classify -m labels.ran -j 1 --output-format html train.jsonl | cmp - page.html
}

@test "pages: evidence is marked in the text" {
  ran-classify -m labels.ran --evidence 1 --output-format html -o page.html train.jsonl
  well_formed page.html
  ran-classify -m labels.ran --evidence 1 train.jsonl >records
  [ "$(jq -r 'select(.prediction.evidence | length > 0) | 1' records | wc -l)" -gt 20 ]
  jq -r '.prediction.evidence[].text' records | while read -r passage; do
    grep -qF ">$passage</mark>" page.html || { echo "not marked: $passage"; false; }
  done
}

@test "pages: hostile text, ids, labels and names of files are text" {
  cp hostile.jsonl '<img src=x>.jsonl'
  ran-classify -m labels.ran --evidence 1 --output-format html -o page.html '<img src=x>.jsonl'
  well_formed page.html
  text_of page.html >text
  grep -qF '<script>alert(1)</script>' text
  grep -qF "</div></details><script>alert('x')</script> & \"q\"" text
  grep -qF '<b>wet</b>' text
  grep -qF 'snow <i> &amp;' text
  grep -qF '<img src=x>.jsonl:4' text
  [ "$(tr -d '\n\t -\377' <page.html | wc -c)" -eq 0 ]
  ran-classify -m labels.ran --eval --eval-format html -o eval.html '<img src=x>.jsonl'
  well_formed eval.html
  text_of eval.html | grep -qF '<b>wet</b>'
}

@test "pages: an evaluation has the figures of its JSON, and the worst errors" {
  sed '1,12s/"label": "[a-z]*"/"label": "warm"/' train.jsonl >wrong.jsonl
  ran-classify -m labels.ran --eval --eval-format html -o eval.html wrong.jsonl
  well_formed eval.html
  ran-classify -m labels.ran --eval wrong.jsonl >eval.json
  text_of eval.html >text
  grep -q "^accuracy$(jq '.accuracy * 100' eval.json | xargs printf '%.2f') %" text
  grep -q 'Confusion matrix' text
  [ "$(grep -c '<svg ' eval.html)" -eq 2 ]
  wrong=$(jq '.n - (.accuracy * .n | round)' eval.json)
  [ "$(grep -c '<article ' eval.html)" -eq "$wrong" ]
}

# tagged N: as many records of words with tags; each third one has two names.
tagged() {
  awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) {
    printf "{\"id\":\"t%d\",\"tokens\":[\"we\",\"met\",\"Ann\",\"Lee\",\"in\",\"Rome%s\"],", i, i % 3 ? "" : "&<Oslo>"
    print "\"tags\":[\"O\",\"O\",\"B-PER\",\"I-PER\",\"O\",\"B-LOC\"]}" } }'
}

@test "pages: entities are marked in their text, gold beside found" {
  tagged 40 >tagged.jsonl
  ran-train tag -q --encoder none -o tags.ran tagged.jsonl
  ran-tag -m tags.ran --output-format html -o page.html tagged.jsonl
  well_formed page.html
  text_of page.html >text
  grep -q '^40 records, model tags.ran' text
  [ "$(grep -c '^PER404040$' text)" -eq 1 ]
  [ "$(grep -c '>Ann Lee<b>PER</b></mark> in <mark' page.html)" -eq 40 ]
  grep -qF 'we met Ann LeePER in Rome&<Oslo>LOC' text
  ran-tag -m tags.ran -j 1 --output-format html tagged.jsonl | cmp - page.html
  sed '1s/"B-LOC"/"B-ORG"/' tagged.jsonl | ran-tag -m tags.ran --output-format html >differ.html
  well_formed differ.html
  [ "$(grep -c '<small>gold</small>' differ.html)" -eq 1 ]
  echo '{"text":"we met Ann Lee in <b>"}' | ran-tag -m tags.ran --output-format html >raw.html
  text_of raw.html | grep -qF 'we met Ann LeePER in <b>LOC'
}

@test "pages: an evaluation of tags has the scores of its JSON, and the worst errors" {
  tagged 40 >tagged.jsonl
  ran-train tag -q --encoder none -o tags.ran tagged.jsonl
  sed '1,4s/"B-PER","I-PER"/"B-PER","O"/' tagged.jsonl >wrong.jsonl
  ran-tag -m tags.ran --eval --eval-format html -o eval.html wrong.jsonl
  well_formed eval.html
  ran-tag -m tags.ran --eval --eval-format json wrong.jsonl >eval.json
  [ "$(grep -c '<article ' eval.html)" -eq 4 ]
  text_of eval.html >text
  wanted=$(jq '.strict.micro.f1 * 100' eval.json | xargs printf '%.1f')
  [ "$(grep -c "^all.* $wanted %\|^all.*%$wanted %" text)" -ge 1 ]
  grep -q 'right type, wrong boundaries4$' text
}

@test "pages: tags of no scheme mark every word" {
  awk 'BEGIN { for (i = 1; i <= 30; i++) print "{\"tokens\":[\"dogs\",\"bark\"],\"tags\":[\"noun\",\"verb\"]}" }' >parts.jsonl
  ran-train tag -q --encoder none -o parts.ran parts.jsonl
  ran-tag -m parts.ran --output-format html parts.jsonl >page.html
  well_formed page.html
  [ "$(text_of page.html | grep -c 'dogsnoun barkverb')" -eq 30 ]
  ran-tag -m parts.ran --eval --eval-format html parts.jsonl >eval.html
  well_formed eval.html
}

@test "pages: a training as a page, which does not change the model" {
  ran-train classify -q --epochs 3 --dim 8 --heads 1 --head-dim 8 --wide 0 -o plain.ran train.jsonl
  ran-train classify -q --epochs 3 --dim 8 --heads 1 --head-dim 8 --wide 0 -o same.ran --report page.html train.jsonl
  cmp plain.ran same.ran
  well_formed page.html
  [ "$(grep -c '<svg ' page.html)" -eq 2 ]
  text_of page.html >text
  grep -q '^taskclassify' text
  grep -q '^epochs3given$' text
  grep -q '^learning_rate0.*[0-9]$' text
  grep -q '^warm20' text
  grep -q '^documents60' text
  awk '{ printf "{\"text\":\"a%d\",\"label\":\"<i>%d\"}\n", NR % 2, NR % 2 }' train.jsonl >odd.jsonl
  ran-train classify -q --encoder none -o odd.ran --report odd.html odd.jsonl
  well_formed odd.html
  text_of odd.html | grep -qF '<i>1'
  refused 2 '--report is of' ran-train classify --check --report page.html train.jsonl
  refused 2 'is an input' ran-train classify -o x.ran --report train.jsonl train.jsonl
}

# looks PAGE: what the first word of a page looks at; before it stands the cell of the window.
looks() {
  grep -o 'title="looks at [^"]*"' "$1" | sed -n 2p
}

@test "pages: attention has the words of the document, and the weights of the JSON" {
  ran-train classify -q --epochs 1 --dim 8 --heads 2 --head-dim 4 --wide 0 --window 8 -o windows.ran train.jsonl
  echo '{"id":"<u>","text":"sun word1 <b>rain</b> & word2 \"snow\" word3 word4 word5 word6 sun &amp; rain."}' >one.jsonl
  ran-attnmask -m windows.ran --format html -o page.html one.jsonl
  well_formed page.html
  text_of page.html >text
  tr -d '\n' <text | sed 's/[0-9]* \xe2\x97\x86 //g' | grep -qF 'word1 <b>rain</b> & word2'
  grep -qF 'Document: <u>' text
  grep -q '^Layer 1, mean of 2 heads; ' text
  ran-attnmask -m windows.ran --layer 0 --head 1 --format html one.jsonl | grep -q 'Layer 0, head 1; '
  # hostile words are text in what points at them, too
  grep -q 'title="looks at [^"]*&lt;' page.html
  grep -q 'title="looks at [^"]*&quot;' page.html
  ran-attnmask -m windows.ran --row 0 --layer 1 --head mean --weights one.jsonl >record
  top=$(jq '[.attention.heads[0].weights[0].weights[], .attention.heads[0].weights[0].cell] | max * 1000 | round' record)
  [ "$(looks page.html | sed 's/ %.*//; s/.* //; s/\.//')" -eq "$top" ]
  refused 2 'give --model' ran-attnmask --length 8 --format html
  refused 2 'leave out --row' ran-attnmask -m windows.ran --row 1 --format html one.jsonl
}

@test "pages: attribution colours the words; other encoders have pages, too" {
  ran-train classify -q --epochs 1 --dim 8 --heads 1 --head-dim 8 --wide 0 --encoder transformer -o tr.ran train.jsonl
  ran-train classify -q --epochs 1 --dim 8 --wide 0 --encoder contextualizer -o ctx.ran train.jsonl
  echo '{"tokens":["sun","<b>","word1"]}' >one.jsonl
  for model in tr ctx; do
    ran-attnmask -m $model.ran --format html -o page.html one.jsonl
    well_formed page.html
    text_of page.html | grep -q 'sun <b> word1'
    ! grep -q 'title=""' page.html || false
  done
  ran-attnmask -m labels.ran --map label --label wet --format html -o page.html one.jsonl
  well_formed page.html
  text_of page.html >text
  grep -q 'for wet' text
  # The bar of a token against the label has the colour of its text.
  [ "$(grep -c '>-[0-9.e-]*</bdi></td><td><span class="against">' page.html)" -eq "$(grep -c 'class="against"' page.html)" ]
  [ "$(grep -c '>+[0-9.e-]*</bdi></td><td><span class="for">' page.html)" -eq "$(grep -c 'class="for"' page.html)" ]
  grep -q 'span class="\(for\|against\)"' page.html
  grep -q 'sun <b> word1' text
  ran-attnmask -m tr.ran --map tokens --row 1 --format html one.jsonl >page.html
  well_formed page.html
  text_of page.html | grep -q 'Outputs of the tokens 1 to 1'
}

@test "pages: attention in a long document leaves out what is small, and says so [all]" {
  ran-train classify -q --epochs 1 --dim 8 --heads 1 --head-dim 8 --wide 0 --window 256 -o long.ran train.jsonl
  awk 'BEGIN { printf "{\"text\":\""; for (w = 0; w < 450000; w++) printf "word%d ", w % 7; print "\"}" }' >long.jsonl
  ran-attnmask -m long.ran --format html -o page.html long.jsonl
  [ "$(stat -c %s page.html)" -lt 20000000 ]
  well_formed page.html
  text_of page.html | grep -q 'windows are shown with their attention'
  ran-attnmask -m long.ran --in-window 1000 --format html long.jsonl | grep -q '<div class="win" id="w1000">.*looks at'
}

@test "pages: log likelihoods have the figures of their JSON, and the words in their texts" {
  ran-train lm -q --dim 8 --heads 1 --head-dim 8 --epochs 1 --no-dev -o lm.ran train.jsonl
  jq -c 'select(.tokens == null)' hostile.jsonl | cat - <(head -n 3 train.jsonl) >scored.jsonl
  ran-lm score -q -m lm.ran --output-format html -o page.html scored.jsonl
  well_formed page.html
  text_of page.html >text
  ran-lm score -q -m lm.ran --total scored.jsonl >total.json
  for figure in .perplexity_per_word .bits_per_byte .tokens; do
    grep -qF "$(jq -r "$figure | if . > 999 and . != floor then round else . * 100 | round / 100 end" total.json)" text
  done
  # every word is there, in its colour, with the bits of --per-token
  grep -qF "sun </div></details><script>alert('x')</script> & \"q\"" text
  ran-lm score -q -m lm.ran --per-token scored.jsonl | jq -r '.lm.per_token.nll[] | . / (2 | log) * 10 | round / 10' >bits
  grep -o '<i[^>]*title="[^"]*' page.html | grep -v 'page' | sed 's/.*[" ]\([0-9.]*\) bits.*/\1/' >shown
  # but for the ends, of which a sentence tells
  grep -o 'The end: [0-9.]*' text | sed 's/.* //' >>shown
  [ "$(wc -l <shown)" -gt 20 ]
  same_output "awk '{ printf \"%.1f\\n\", \$1 }' bits | sort" "sort shown"
  ran-lm score -q -j3 -m lm.ran --output-format html scored.jsonl | cmp - page.html
  run -2 --separate-stderr ran-lm score -m lm.ran --output-format html --per-token scored.jsonl
  [[ $stderr == *'writes a page and no records'* ]]
}

@test "pages: an evaluation of generated texts has the scores of its JSON, the worst text first" {
  { echo '{"id":"good","source":"a b c","target":"one two three four five","made":"one two three four five"}'
    echo '{"id":"<bad>","source":"x & y","target":"six seven <b>eight</b> nine","made":"nothing at all"}'
    echo '{"id":"half","target":"ten eleven twelve one","made":"ten eleven twelve two"}'
    echo '{"id":"none","made":"no reference"}'; } >made.jsonl
  ran-lm generate --eval-only made made.jsonl >report.json 2>/dev/null
  run -0 ran-lm generate -q --eval-only made --eval-format html -o page.html made.jsonl
  well_formed page.html
  text_of page.html >text
  for score in bleu chrf; do
    grep -qF "$(printf '%.2f' "$(jq ".$score.score" report.json)")" text
  done
  # ROUGE is from 0 to 1, and on the page from 0 to 100 as the others
  grep -qF "$(printf '%.2f' "$(jq '.rouge_1.f1 * 100' report.json)")" text
  grep -q '1 records have none' text
  grep -q '95 % interval: [0-9.]* to [0-9.]*; pairs of words' text
  # The worst comes first, and hostile text is text.
  [ "$(grep -o 'chrF [0-9.]*$' text | head -n 3 | sort -k2,2n -c && echo sorted)" = sorted ]
  grep -qF '<bad>' text
  grep -qF 'six seven <b>eight</b> nine' text
  grep -qF 'x & y' text
  ran-lm generate -q -j3 --eval-only made --eval-format html made.jsonl | cmp - page.html
}

@test "pages: what does not fit is left out, the surest first, and said [all]" {
  awk 'BEGIN { for (i = 0; i < 24; i++) { printf "{\"id\":%d,\"text\":\"%s", i, i % 2 ? "sun" : "sun rain"
    for (w = 0; w < 160000; w++) printf " word%d", w % 7; print "\"}" } }' >long.jsonl
  ran-classify -m labels.ran --output-format html -o page.html long.jsonl
  well_formed page.html
  [ "$(stat -c %s page.html)" -lt 20000000 ]
  text_of page.html | grep -q 'of 24 documents are left out'
}

@test "pages: only cmd/pages writes tags" {
  cd "$BATS_TEST_DIRNAME/../.."
  tags='"[^"]*</?(p|h[1-6]|div|span|table|thead|tbody|tr|td|th|small|em|strong|i|a|br|pre|ol|li|details|summary|article|mark)[ >/\\]'
  grep -qE "$tags" cmd/pages/*.c
  run -1 grep -rnE --include='*.[ch]' --exclude-dir=pages "$tags" cmd
}

@test "pages: options that a page cannot have are refused" {
  refused 2 '--output-format=html writes a page' ran-classify -m labels.ran --output-format html --only train.jsonl
  refused 2 'leave out' ran-classify -m labels.ran --output-format html --eval train.jsonl
  run -3 sh -c 'ran-classify -m labels.ran --output-format html train.jsonl >/dev/full'
}

@test "page: of an encoder that reads documents together it had the first of each few" {
  for i in $(seq 40); do echo "{\"text\":\"it was good $i\"}"; done >forty.jsonl
  ran-classify -q -j 1 -m "$BATS_TEST_DIRNAME/../encoders/bert-classifier" --output-format html forty.jsonl >forty.html
  [ "$(grep -o 'it was good [0-9]*' forty.html | sort -u | wc -l)" -eq 40 ]
}
