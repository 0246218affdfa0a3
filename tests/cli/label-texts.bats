#!/usr/bin/env bats
# --labels and --label-texts: classifiers that descriptions of labels make of a model with vectors.

bats_require_minimum_version 1.5.0
load train.bash

setup_file() {
  export PATH=$RAN_BIN:$PATH
  unset RAN_MODELS RAN_BASE
  cd "$BATS_FILE_TMPDIR"
  documents 60 30 >train.jsonl
  documents 12 20 >test.jsonl
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --window 16 --cell prenorm --epochs 1 -o base.ran train.jsonl
  ran-train classify -q --encoder none -o linear.ran train.jsonl
  printf 'pos\ta positive review of a great film\nneg\ta negative review of a terrible film\n' >film.tsv
  cat >reviews.jsonl <<'END'
{"id": 1, "text": "A wonderful film, moving and beautifully played. I loved every minute.", "label": "pos"}
{"id": 2, "text": "Boring, badly acted, a waste of two hours. I hated it.", "label": "neg"}
{"id": 3, "text": "An excellent story with great characters, the best of the year.", "label": "pos"}
{"id": 4, "text": "The plot makes no sense and the jokes are awful.", "label": "neg"}
END
}

setup() {
  unset RAN_BASE
  cd "$BATS_FILE_TMPDIR"
  set -o pipefail
}

# fails STATUS SENTENCE ARGUMENT...: one line, or a usage error's two.
fails() {
  local status_wanted=$1 sentence=$2
  shift 2
  run -"$status_wanted" ran-classify "$@" <<<'{"text":"rain"}'
  [ "${lines[0]}" = "ran-classify: $sentence" ] || { echo "said: ${lines[0]}"; false; }
}

@test "label-texts: the nearest description is the label, by the cosines of --embed" {
  ran-classify -m english --label-texts film.tsv --logits --probs reviews.jsonl >out.jsonl
  jq -es 'all(.[]; .prediction.label == .label)' out.jsonl
  # The logits are 14 times the cosines, the probabilities their softmax.
  cut -f 2 film.tsv | jq -R '{text: .}' | cat reviews.jsonl - | jq -c . | ran-classify -m english --embed |
    jq -s 'map(.prediction.embedding) | [.[:4][] as $v | [.[4:][] as $w | 14 * ([$v, $w] | transpose | map(.[0] * .[1]) | add)]]' >want.json
  jq -es --slurpfile want want.json '[map(.prediction.logits), $want[0]] | transpose | all(.[]; transpose | all(.[]; .[0] - .[1] | fabs < 1e-4))' out.jsonl
  jq -es 'all(.[]; (.prediction.probs.pos + .prediction.probs.neg - 1 | fabs < 1e-6) and
    ((.prediction.logits[0] - .prediction.logits[1] | 1 / (1 + (-. | exp))) - .prediction.probs.pos | fabs < 1e-5))' out.jsonl
}

@test "label-texts: what works with classifiers works with these" {
  ran-classify -m english --label-texts film.tsv --eval reviews.jsonl | jq -e '.accuracy == 1'
  ran-classify -m english --label-texts film.tsv --evidence 1 reviews.jsonl |
    jq -es 'all(.[]; .prediction.evidence[0].gain > 0)'
  ran-classify -m english --label-texts film.tsv --threshold 0.999 reviews.jsonl | jq -es 'all(.[]; .prediction.label == null)'
  ran-classify -m english --label-texts film.tsv --output-format csv reviews.jsonl | grep '^1,pos,'
  [ "$(ran-classify -m english --label-texts film.tsv --output-format fasttext reviews.jsonl | cut -d ' ' -f 1 | tr '\n' ' ')" = \
    '__label__pos __label__neg __label__pos __label__neg ' ]
  [ "$(ran-classify -m english --label-texts film.tsv --select 2 reviews.jsonl | wc -l)" -eq 2 ]
  ran-classify -m english --label-texts film.tsv --eval --eval-format html reviews.jsonl | grep '</html>' >/dev/null
  ran-classify -m english --label-texts film.tsv --logits -j 1 reviews.jsonl >one.jsonl
  ran-classify -m english --label-texts film.tsv --logits -j 3 reviews.jsonl | cmp - one.jsonl
  tail -n 1 reviews.jsonl | ran-classify -m english --label-texts film.tsv --logits | cmp - <(tail -n 1 one.jsonl)
}

@test "label-texts: further descriptions stand behind tabs and in lines; names are descriptions" {
  ran-classify -m english --labels good_film,bad-film --logits reviews.jsonl >want.jsonl
  printf 'good_film\nbad-film\n' >names.tsv
  printf '\357\273\277good_film\tgood film\r\n\r\nbad-film\tbad film\r\n' >texts.tsv
  for file in names.tsv texts.tsv; do
    ran-classify -m english --label-texts $file --logits reviews.jsonl | cmp - want.jsonl
  done
  printf '1\tgreat\tlovely\n2\tawful\n1\tmoving\n' >tabs.tsv
  printf '1\tgreat\tlovely\tmoving\n2\tawful\n' >mixed
  ran-classify -m english --label-texts tabs.tsv --logits reviews.jsonl >want.jsonl
  ran-classify -m english --label-texts mixed --logits reviews.jsonl | cmp - want.jsonl
  jq -es 'all(.[]; (.prediction.label == "1") == (.label == "pos"))' want.jsonl
}

@test "label-texts: whitened means of rows serve, too: the order is that of their products" {
  ran-classify -m base.ran --labels rain,sun,snow --logits test.jsonl >out.jsonl
  printf '{"text":"%s"}\n' rain sun snow | cat test.jsonl - | ran-classify -m base.ran --embed |
    jq -s 'map(.prediction.embedding | . as $v | ($v | map(. * .) | add | sqrt) as $n | {v: $v, n: $n}) |
      (map(.n)[12:] | add / 3) as $length |
      [.[:12][] as $d | [.[12:][] as $w | 14 / $length / $w.n * ([$d.v, $w.v] | transpose | map(.[0] * .[1]) | add)]]' >want.json
  jq -es --slurpfile want want.json '[map(.prediction.logits), $want[0]] | transpose |
    all(.[]; transpose | all(.[]; (.[0] - .[1] | fabs) < 0.001 * (1 + (.[1] | fabs)))) and ($want[0] | length == 12)' \
    <(jq -c . out.jsonl)
}

@test "label-texts: a model that has labels, or no vectors, is refused, and english is named" {
  fails 2 '--labels: linear.ran is a classifier and has its labels (warm, ...): give a model that makes vectors, such as english' \
    -m linear.ran --labels rain,sun
  for _ in 1 2 3 4; do
    echo '{"tokens": ["Ann", "sat"], "tags": ["B-PER", "O"]}'
  done | ran-train tag -q --encoder none -o tagger.ran
  fails 2 '--label-texts: tagger.ran has no encoder, and makes no vectors of documents: give a model that does, such as english' \
    -m tagger.ran --label-texts film.tsv
  fails 2 'english: the model has no calibration, which --coverage needs: train it again with validation documents, --dev or --dev-share, whose labels are known' \
    -m english --labels rain,sun --coverage 0.9
}

@test "label-texts: what is wrong with descriptions is said with file and line" {
  refuses() {
    printf "$1" >bad
    fails 3 "$2" -m english --label-texts bad
  }
  refuses 'a\tone\n {"label": "b"}\n' 'bad:2: JSON: a line is label, tab, description'
  refuses 'a\tone\nb\t \n' 'bad:2: the description of "b" is empty'
  refuses 'a\tone\n\tb\n' 'bad:2: no label: a line is label, tab, description'
  refuses 'a\tone\nb\tOne\n' 'bad:2: "a" and "b" have the same description, "One" (line 1)'
  refuses '\na\tone\n' 'bad:2: "a" is the only label: two are needed'
  refuses '\n' 'bad: no label'
  refuses 'a\t\377\n' 'bad:1: not text in UTF-8'
  fails 3 'cannot open none: No such file or directory' -m english --label-texts none
  fails 2 '--labels: "a" is the only label: two are needed' -m english --labels a
  fails 2 '--labels: "a" is there twice' -m english --labels a,b,a
  fails 2 '--labels: a name is empty: give names with commas between' -m english --labels a,,b
  fails 2 '--labels: "a b" and "a-b" have the same description, "a b"' -m english --labels 'a b,a-b'
  fails 2 '--labels and --label-texts both name the labels: leave out --label-texts' -m english --labels a,b --label-texts film.tsv
}

@test "label-texts: descriptions in another language, and labels that none describes, are warned of [all]" {
  warning() {
    local text=$1
    shift
    run --separate-stderr ran-classify -m english "$@" reviews.jsonl
    [ "$status" -eq 0 ] && [[ $stderr == *"$text"* ]]
  }
  for labels in 'положительный отзыв,отрицательный отзыв' '正面评价,负面评价' 'eine schlechte Besprechung,eine hervorragende Besprechung'; do
    warning ' tokens of the descriptions are unknown to english or parts of words' --labels "$labels"
  done
  run -0 --separate-stderr ran-classify -m english --label-texts film.tsv reviews.jsonl
  [ "$stderr" = '' ]
  warning 'reviews.jsonl:2: the label "neg" is not in --labels, and is never found' --labels pos,bad --eval
}

@test "label-texts: a description longer than any window is read whole [all]" {
  { printf 'neg\tawful\npos\t'; seq -f 'a great and wonderful film that we loved number %g' -s ' ' 400; } >long.tsv
  ran-classify -m english --label-texts long.tsv reviews.jsonl | jq -es 'all(.[]; .prediction.label == .label)'
}

# ---- in training ---------------------------------------------------------------------------------

# topics LABEL...: three short texts of each of these labels.
topics() {
  local label text
  while IFS='|' read -r label text; do
    [[ " $* " != *" $label "* ]] || jq -cn --arg l "$label" --arg t "$text" '{text: $t, label: $l}'
  done <<'TEXTS'
football|The striker scored twice before half time.
football|Their goalkeeper saved a penalty in extra time.
football|The club has bought a new defender.
cooking|Fry the onions in butter until they are golden.
cooking|Add a pinch of salt and let the soup simmer.
cooking|Knead the dough and leave it to rise.
astronomy|The telescope found a planet around a distant star.
astronomy|A comet will be visible near the moon tonight.
astronomy|The galaxy is two million light years away.
TEXTS
}

@test "label-texts: a label that no document has is found by its description, and as one of those that documents have [all]" {
  topics football cooking >two.jsonl
  topics astronomy football cooking >all.jsonl
  printf 'football\ncooking\nastronomy\tplanets, stars and galaxies\n' >topics.tsv
  run -0 ran-train classify --label-texts topics.tsv --no-dev -o topics.ran two.jsonl
  ran-classify -m topics.ran --eval all.jsonl | jq -e '.accuracy == 1'
  ran-train info --format json topics.ran | jq -e '.labels == ["astronomy", "cooking", "football"] and .training.paths.label_texts == true'
  run -0 ran-train classify --replay topics.ran --label-texts topics.tsv two.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  for j in 1 3; do
    ran-train classify -q -j $j --label-texts topics.tsv --no-dev -o again.ran two.jsonl
    cmp topics.ran again.ran
  done
}

@test "label-texts: names of labels are evidence where documents show it, unless nobody wants them [all]" {
  while IFS='|' read -r label text; do
    jq -cn --arg l "$label" --arg t "$text" '{text: $t, label: $l}'
  done >three.jsonl <<'TEXTS'
football|We lost again.
football|The match was boring.
football|She plays in the first league.
cooking|It needs more salt.
cooking|Serve it warm.
cooking|We had a great dinner.
astronomy|It is very far away.
astronomy|The night was clear.
astronomy|They saw it rise in the east.
TEXTS
  run -0 ran-train classify --no-dev -o names.ran three.jsonl
  [[ $output == *'the names of the labels are evidence, too'*'--label-texts none leaves them out'* ]]
  run -0 ran-train classify --replay names.ran three.jsonl
  run -0 ran-train classify --no-dev --label-texts none -o none.ran three.jsonl
  [[ $output != *'names of the labels'* ]]
  run ! cmp -s names.ran none.ran
  # Numbers and codes say nothing, nor do names of which none is known.
  for names in '{football: "0", cooking: "1", astronomy: "2"}' '{football: "B-12", cooking: "B-13", astronomy: "C-1"}' '{football: "B-12x", cooking: "Qz-7", astronomy: "Xq-9"}'; do
    jq -c ".label = ${names}[.label]" three.jsonl >codes.jsonl
    run -0 ran-train classify --no-dev -o codes.ran codes.jsonl
    [[ $output != *'names of the labels'* ]]
    ran-train classify -q --no-dev --label-texts none -o none.ran codes.jsonl
    cmp codes.ran none.ran
  done
}

@test "label-texts: documents without labels get them from descriptions [all]" {
  topics astronomy football cooking >all.jsonl
  jq -c 'del(.label)' all.jsonl >pool.jsonl
  printf 'football\tfootball, a match\ncooking\tcooking, food\nastronomy\tplanets, stars and galaxies\n' >topics.tsv
  run -0 ran-train classify --label-texts topics.tsv -o pool.ran pool.jsonl
  [[ $output == *'astronomy 3, cooking 3, football 3; nothing shows'*'--dev'* ]]
  [[ $output == *'linear model, without validation documents'* && $output != *'held out'* ]]
  ran-classify -m pool.ran --eval all.jsonl | jq -e '.accuracy == 1 and .log_loss < 0.5'
  ran-train info pool.ran | grep 'trained on .*9 (documents without labels, which descriptions gave them' >/dev/null
  ran-train info --format json pool.ran | jq -e '.training | .labels_guessed == true and .dev_share == 0 and .paths.label_texts == true and .paths.dense > 0 and .paths.wide > 0'
  run -0 ran-train classify --replay pool.ran --label-texts topics.tsv pool.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  for j in 1 3; do
    ran-train classify -q -j $j --label-texts topics.tsv -o again.ran pool.jsonl
    cmp pool.ran again.ran
  done
  # A table and plain text need no label, either.
  { echo text; jq -r '[.text] | @csv' all.jsonl; } >pool.csv
  jq -r .text all.jsonl >pool.txt
  run -0 ran-train classify --label-texts topics.tsv -o table.ran pool.csv
  [[ $output == *'they are astronomy 3, cooking 3, football 3'* ]]
  run -0 ran-train classify --label-texts topics.tsv --input-format text -o text.ran pool.txt
  [[ $output == *'they are astronomy 3, cooking 3, football 3'* ]]
  # Documents with labels judge it, and change no label.
  run -0 ran-train classify --label-texts topics.tsv --dev all.jsonl -o judged.ran pool.jsonl
  [[ $output == *'validation accuracy 100.00 (9 of 9'*'astronomy 3, cooking 3, football 3'* && $output != *'nothing shows'* ]]
  ran-train info --format json judged.ran | jq -e '.training | has("dev_share") | not'
  # It begins with the vectors that are there, and labels of weight 0 and documents alike are no trouble.
  run -0 ran-train classify --init english --frozen --vector-cache pool.vectors --label-texts topics.tsv -o cached.ran pool.jsonl
  [[ $output == *'pool.vectors: 0 vectors were in it, 9 added'* ]]
  printf '{"text":"the same"}\n{"text":"the same"}\n{"text":"the same"}\n' >same.jsonl
  run -0 ran-train classify --label-texts topics.tsv -o same.ran same.jsonl
  [[ $output == *'astronomy '*', cooking '*', football '* ]]
  jq -c '.weight = 0.5' pool.jsonl | ran-train classify -q --label-texts topics.tsv -o weighed.ran
  ran-classify -m weighed.ran --eval all.jsonl | jq -e '.accuracy == 1'
}

@test "label-texts: a label that no document gets stays what its description says" {
  topics football cooking | jq -c 'del(.label)' >pool.jsonl
  topics astronomy >stars.jsonl
  printf 'football\tfootball, a match\ncooking\tcooking, food\nastronomy\tplanets, stars and galaxies\n' >topics.tsv
  run -0 ran-train classify --label-texts topics.tsv -o pool.ran pool.jsonl
  [[ $output == *'they are astronomy 0, cooking 3, football 3'* ]]
  ran-classify -m pool.ran --eval stars.jsonl | jq -e '.accuracy == 1'
}

@test "label-texts: what documents without labels rule out is said [all]" {
  topics astronomy football cooking >all.jsonl
  jq -c 'del(.label)' all.jsonl >pool.jsonl
  printf 'football\ncooking\nastronomy\tplanets\n' >topics.tsv
  refuses() { # refuses STATUS SENTENCE ARGUMENT...
    local status=$1 sentence=$2
    shift 2
    run -"$status" ran-train classify --label-texts topics.tsv -o no.ran "$@"
    [[ $output == *"$sentence"* ]] || { echo "said: $output"; false; }
    [ ! -e no.ran ]
  }
  { head -n 1 all.jsonl; sed -n 2p pool.jsonl; } >mixed.jsonl
  refuses 3 'mixed.jsonl:2: the document has no label, and those before it have one: leave out those without' mixed.jsonl
  { head -n 1 pool.jsonl; sed -n 2p all.jsonl; } >mixed.jsonl
  refuses 3 'mixed.jsonl:2: the document has a label, and those before it have none' mixed.jsonl
  head -n 2 pool.jsonl >two.jsonl
  refuses 3 '2 documents without labels cannot show what 3 labels are: give more' two.jsonl
  refuses 3 'no document has a label: leave out --class-weights' --class-weights balanced pool.jsonl
  refuses 3 'no document has a label: leave out --threshold-for' --threshold-for football=recall:0.9 pool.jsonl
  refuses 3 'no document has a label: leave out --multilabel' --multilabel pool.jsonl
  refuses 2 'this training has no vectors of documents' --encoder none pool.jsonl
  printf 'text\nfootball\n' >texts.csv
  refuses 3 'which column is the label?' --dev texts.csv pool.jsonl
  refuses 3 'there is no labelled document to train on' /dev/null
  refuses 3 'pool.jsonl:1: there is neither "label" nor "labels"' --dev pool.jsonl all.jsonl
  run -3 ran-train classify --label-texts none -o no.ran pool.jsonl
  [[ $output == *'pool.jsonl:1: there is neither "label" nor "labels"'* ]]
  ran-train classify --check --label-texts topics.tsv pool.jsonl | jq -e '.ok and .documents == 9 and ([.labels[]] | add) == 0'
}

@test "label-texts: what a training cannot use is said" {
  topics football cooking >two.jsonl
  printf 'football\nastronomy\n' >other.tsv
  run -3 ran-train classify --label-texts other.tsv -o no.ran two.jsonl
  [[ $output == *'two.jsonl:4: other.tsv has no label "cooking"'* ]]
  printf 'football\ncooking\n' >topics.tsv
  run -2 ran-train classify --encoder none --label-texts topics.tsv -o no.ran two.jsonl
  [[ $output == *'--label-texts topics.tsv: this training has no vectors of documents'* ]]
  run -2 ran-train tag --label-texts topics.tsv -o no.ran two.jsonl
  [[ $output == *'is for ran-train classify'* ]]
  printf 'football\ta game\ncooking\ta game\n' >same.tsv
  run -3 ran-train classify --label-texts same.tsv -o no.ran two.jsonl
  [[ $output == *'same.tsv:2: "football" and "cooking" have the same description'* ]]
  run -3 ran-train classify --label-texts nowhere.tsv -o no.ran two.jsonl
  [ ! -e no.ran ]
}
