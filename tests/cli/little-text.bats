#!/usr/bin/env bats
# --base: a training on little text is initialised from a base model that knows its words.

bats_require_minimum_version 1.5.0
load train.bash

setup_file() {
  export PATH=$RAN_BIN:$PATH
  unset RAN_MODELS RAN_BASE
  cd "$BATS_FILE_TMPDIR" || exit
  documents 60 30 >train.jsonl
  mkdir models
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --window 16 --cell prenorm --epochs 1 -o models/english.ran train.jsonl
  cp models/english.ran models/english-tags.ran
}

setup() {
  unset RAN_BASE
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  cp -R "$BATS_FILE_TMPDIR"/*.jsonl "$BATS_FILE_TMPDIR/models" .
  export RAN_MODELS=$PWD/models
  set -o pipefail
}

# begun OPTION...: whether a training with these says that it is initialised from the base model.
begun() {
  local said
  said=$(ran-train classify --dry-run "$@" train.jsonl 2>&1 >/dev/null) || { echo "$said" && return 2; }
  [[ $said == *'; --base none leaves it out'* ]]
}

# not_begun OPTION...: the opposite.
not_begun() {
  local code=0
  begun "$@" || code=$?
  [ $code = 1 ]
}

tags() {
  for _ in $(seq "$1"); do
    echo '{"tokens":["the","city","of","Rome","today"],"tags":["O","O","O","B-LOC","O"]}'
  done
}

@test "base: little text is initialised from it, as --init MODEL --encoder static does, byte for byte" {
  run -0 ran-train classify -o a.ran train.jsonl
  [[ $output == *'(--init english --encoder static); --base none'* ]]
  ran-train classify -q --base none --init english --encoder static -o b.ran train.jsonl
  cmp a.ran b.ran
  ran-train info --format json a.ran | jq -e '.encoder == "static" and .config.dim == 8 and .training.init.digest != null'
  run -0 ran-train info a.ran
  [[ $output == *'static (width 8)'* ]]
}

@test "base: one that learned vectors of documents is frozen, byte for byte as --init MODEL --frozen [all]" {
  cp "$BATS_TEST_DIRNAME/../../share/models/english.ran" models/english.ran
  for i in $(seq 30); do
    printf '{"label":"wet","text":"the rain falls on the old house by the river, %d times"}\n' "$i"
    printf '{"label":"dry","text":"the sun shines on the sand and the sea is calm, %d times"}\n' "$i"
  done >train.jsonl
  run -0 ran-train classify -o a.ran train.jsonl
  [[ $output == *'(--init english --frozen), which takes about '*'; --base none'* ]]
  ran-train classify -q --init english --frozen -o b.ran train.jsonl
  cmp a.ran b.ran
  rm models/english.ran # a model needs its base no more
  ran-classify -m a.ran --only train.jsonl | jq -es 'length == 60 and all(.[]; .prediction.label)'
}

@test "base: a replay wanted the file of an --init that nobody had given" {
  ran-train classify -q -o a.ran train.jsonl
  tags 20 >tagged.jsonl
  sed 's/.*/{"text":"the city of Rome today"}/' tagged.jsonl >plain.jsonl
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --window 16 --min-count 1 --cell prenorm --epochs 1 -o models/towns.ran plain.jsonl
  RAN_BASE=towns ran-train tag -q --epochs 1 -o t.ran tagged.jsonl
  # Found by its digest, whatever its name is now and whichever base is the default.
  rm models/english-tags.ran # a copy
  mv models/english.ran models/other.ran
  head -c 3000 models/other.ran >models/broken.ran
  echo none >models/english.ran
  run -0 ran-train classify --replay a.ran train.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  run -0 ran-train classify --replay a.ran --base other train.jsonl
  run -0 ran-train classify --replay a.ran --init other train.jsonl
  run -0 ran-train tag --replay t.ran tagged.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  refused 4 'towns is not the model that a.ran was initialised from' ran-train classify --replay a.ran --base towns train.jsonl
  mv models/other.ran moved.ran
  digest=$(ran-train info --format json a.ran | jq -r .training.init.digest)
  refused 2 "a.ran was trained with --init or from a base model, and no model in $RAN_MODELS" ran-train classify --replay a.ran train.jsonl
  [[ $stderr == *" has its digest, $digest: give that file with --init"* ]]
  RAN_BASE=moved.ran run -0 ran-train classify --replay a.ran train.jsonl
}

@test "base: a model with thresholds over a base model that nobody named is replayed" {
  label=$(jq -r .label train.jsonl | head -n 1)
  ran-train classify -q --threshold-for "$label=recall:0.9" -o t.ran train.jsonl
  ran-train info --format json t.ran | jq -e '.training | has("init") and has("threshold_for")'
  run -0 ran-train classify --replay t.ran train.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  unset RAN_BASE
  run -0 ran-train classify --replay t.ran train.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
}

# extra MODEL: how many words extend the vocabulary of the base model in it, and the first of them.
extra() {
  local own
  own=$(ran-train info --format json models/english.ran | jq .vocabulary.tokens)
  tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1")" >header.json
  jq -r '.["tokenizer.json"].data_offsets | "\(.[0]) \(.[1] - .[0])"' header.json >at
  read -r from n <at
  tail -c +$((9 + $(od -An -tu8 -N8 "$1") + from)) "$1" | head -c "$n" |
    jq -r --argjson own "$own" '.model.vocab | to_entries | map(select(.value >= $own)) | sort_by(.value) | "\(length) \(.[0].key)"'
}

@test "init: words of the documents extend the vocabulary of the model [all]" {
  { cat train.jsonl &&
    echo '{"text": "Smartphone hapax touchscreen smartphone", "label": "wet"}' &&
    echo '{"text": "word1 legomenon word2 touchscreen", "label": "wet"}'; } >new.jsonl
  run -0 ran-train classify -o a.ran new.jsonl
  [[ $output == *'words of the documents added to the vocabulary of english: 2'* ]]
  [ "$(extra a.ran)" = '2 smartphone' ]
  run -0 ran-train classify --replay a.ran --init english new.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
  for j in 1 3; do
    ran-train classify -q -j $j --init english --encoder static --resume -o b.ran new.jsonl
    cmp a.ran b.ran
  done
  echo '{"text": "rain and the smartphone"}' | ran-classify -m a.ran --evidence 1 >/dev/null
  ran-train classify -q --init english --encoder static --add-words 0 -o none.ran new.jsonl
  [ "$(extra none.ran)" = '0 null' ]
  ran-train classify -q --init english --encoder static --add-words 1 -o all.ran new.jsonl
  [ "$(extra all.ran)" = '4 smartphone' ]
  run -0 ran-train classify --init english --epochs 1 -o whole.ran new.jsonl
  [[ $output != *'words of the documents added'* ]]
  run -0 ran-train classify --init english --epochs 1 --add-words 2 -o whole.ran new.jsonl
  [[ $output == *'words of the documents added'*': 2'* ]]
  run -0 ran-train classify --replay whole.ran --init english new.jsonl
  refused 2 '--add-words extends the vocabulary of --init MODEL' ran-train classify --add-words 3 -o a.ran train.jsonl
}

@test "init: a vocabulary is extended beside documents that are ids [all]" {
  ran-train classify -q --init english --encoder static --add-words 0 -o a.ran train.jsonl
  tail -c +9 a.ran | head -c "$(od -An -tu8 -N8 a.ran)" | jq -r '.["tokenizer.json"].data_offsets[0]' >from
  tail -c +$((9 + $(od -An -tu8 -N8 a.ran) + $(cat from))) a.ran >vocab.json
  ran-tokenize encode -q --vocab vocab.json train.jsonl >coded.jsonl
  jq -c '{label: .label, ids: .encoding.ids}' coded.jsonl >ids.jsonl
  sed 's/word1/smartphone/' train.jsonl >words.jsonl
  run -0 ran-train classify --init english --encoder static -o b.ran ids.jsonl words.jsonl
  [[ $output == *'words of the documents added to the vocabulary of english: 1'* ]]
  run -0 ran-train classify --init english --encoder static -o b.ran ids.jsonl
  [[ $output != *'words of the documents added'* ]]
  # Encodings are of the vocabulary as it was: other files may have them, too.
  run -0 ran-train classify --init english --encoder static --dev coded.jsonl -o b.ran words.jsonl coded.jsonl
  [[ $output == *'documents have an "encoding": no words are added'* ]]
  run -0 ran-classify -m b.ran coded.jsonl
}

@test "init: words are added only where the model can read them [all]" {
  # Spelling: an encoding has none, so the text beside it is read.
  shape='--dim 8 --layers 1 --heads 1 --head-dim 8 --epochs 1 --no-early-stop --no-refit --no-dev -q'
  # shellcheck disable=SC2086 # options, a word each
  ran-train classify $shape --spelling 64 --vocab-type wordpiece --vocab-size 90 -o spelled.ran train.jsonl
  ran-train classify -q --init english --encoder static --add-words 0 -o a.ran train.jsonl
  tail -c +9 a.ran | head -c "$(od -An -tu8 -N8 a.ran)" | jq -r '.["tokenizer.json"].data_offsets[0]' >from
  tail -c +$((9 + $(od -An -tu8 -N8 a.ran) + $(cat from))) a.ran >vocab.json
  ran-tokenize encode -q --vocab vocab.json train.jsonl >coded.jsonl
  sed 's/word1/smartphone/' train.jsonl >words.jsonl
  jq -c '{label: .label, encoding}' coded.jsonl >only.jsonl
  for files in 'coded.jsonl words.jsonl' 'words.jsonl coded.jsonl'; do
    # shellcheck disable=SC2086
    ran-train classify $shape --init spelled.ran --add-words 2 -o b.ran $files
  done
  # shellcheck disable=SC2086
  refused 3 'only.jsonl:1: ' ran-train classify $shape --init spelled.ran --add-words 2 -o b.ran only.jsonl
  # A word that begins as the end of another does is none.
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --window 16 --epochs 1 --split-at spaces --vocab-type wordpiece -o spaces.ran train.jsonl
  sed 's/word1/##phone/' train.jsonl >marked.jsonl
  run -0 ran-train classify --init spaces.ran --encoder static -o b.ran marked.jsonl
  [ "$(extra b.ran | cut -d ' ' -f 1)" -gt 0 ]
  run ! grep -qaF '"##phone"' b.ran
  refused 2 'is for ran-train classify' ran-train tag --init english --add-words 2 -o b.ran tagged.jsonl
  refused 2 'leave out --add-words' ran-train classify --replay a.ran --init english --add-words 5 train.jsonl
}

@test "no-dev: an encoder that nothing judges is left out, unless an option asks for one [all]" {
  run -0 ran-train classify --base none --no-dev -o a.ran train.jsonl
  [[ $output == *'linear model only: without validation documents nothing shows whether an encoder helps'* ]]
  ran-train classify -q --base none --encoder none --no-dev -o b.ran train.jsonl
  cmp a.ran b.ran
  run -0 ran-train classify --replay a.ran train.jsonl
  head -n 3 train.jsonl >three.jsonl
  run -0 ran-train classify --base none -o a.ran three.jsonl
  [[ $output == *'too few documents for validation'*'linear model only: '* ]]
  run -0 ran-train classify --base none --no-dev --encoder ran --dim 8 --heads 1 --head-dim 8 --epochs 1 -o a.ran train.jsonl
  [[ $output != *'linear model only'* ]]
  run -0 ran-train classify --base none --no-dev --epochs 1 --dry-run train.jsonl
  [[ $output != *'linear model only'* ]]
}

@test "base: vectors take part in labels, evidence and embedding" {
  ran-train classify -q --wide-cost 2 -o a.ran train.jsonl
  ran-classify -m a.ran --evidence 1 --embed train.jsonl >out.jsonl
  jq -e -s 'all(.prediction.embedding | length == 8)' out.jsonl
  jq -e -s 'map(select(.prediction.evidence | length == 1)) | length > 50' out.jsonl
}

@test "base: none, another name, or no model of that name [all]" {
  begun
  not_begun --base none
  RAN_BASE=none not_begun
  RAN_BASE='' begun
  RAN_BASE=missing not_begun
  mv models/english.ran models/klingon.ran
  not_begun
  begun --base klingon
  RAN_BASE=klingon begun
  begun --base models/klingon.ran
  run -3 ran-train classify --base missing -o a.ran train.jsonl
  [[ $output == *"cannot open missing: No such file or directory, and there is no model of that name in $RAN_MODELS"* ]]
}

@test "base: for a model that is gone the sentence names the one that took its place [all]" {
  gone="cannot open english-vectors: No such file or directory, and there is no model of that name in $RAN_MODELS"
  now=': english has taken its place (--replay of a model that was initialised from it needs its file)'
  run -3 ran-classify -m english-vectors --embed train.jsonl
  [[ $output == *"$gone"*"$now" ]]
  for option in --init --base; do
    run -3 ran-train classify $option english-vectors -o a.ran train.jsonl
    [[ $output == *"$gone"*"$now" ]]
  done
  RAN_BASE=english-vectors run -0 ran-train classify --dry-run train.jsonl
  [[ $output == *'not initialised from the base model: '"$gone"*"$now"* ]]
  run -3 ran-classify -m missing --embed train.jsonl
  [[ $output != *'its place'* ]]
  # A model that was made from it needs it for --replay alone.
  mv models/english.ran models/english-vectors.ran
  ran-train classify -q --init english-vectors --encoder static -o a.ran train.jsonl
  rm models/english-vectors.ran
  ran-classify -m a.ran train.jsonl | jq -es 'length == 60'
  ran-train classify -q --init a.ran -o b.ran train.jsonl
  run -3 ran-train classify --replay a.ran --init english-vectors train.jsonl
  [[ $output == *"$gone"*"$now" ]]
}

@test "base: options that ask for another vocabulary, encoder or training of it do without, and those that may not know it are told [all]" {
  begun --seed 3 --wide-cost 1 --no-affixes --no-refit
  for option in '--dim 16' '--encoder none' '--wide 0' '--vocab-size 100' '--epochs 2' '--no-frozen' \
    '--init english'; do
    read -ra words <<<"$option"
    not_begun "${words[@]}"
  done
  ran-tokenize learn -o vocab.json train.jsonl
  not_begun --vocab vocab.json
  for option in '--dim 16' '--vocab-size 100' '--vocab vocab.json' '--tune 1'; do
    read -ra words <<<"$option"
    run -0 ran-train classify --dry-run "${words[@]}" train.jsonl
    [[ $output == *"${words[0]}: not initialised from the base model english, as it might be without that option"* ]]
  done
  run -0 ran-train classify --dry-run --encoder none train.jsonl
  [[ $output != *'base model'* ]]
}

@test "base: another language does without [all]" {
  sed 's/"text": *"/&δεν ξέρω τι λένε οι λέξεις αυτές που δεν γνωρίζει κανένα μοντέλο της γλώσσας μας σήμερα εδώ και τώρα /' train.jsonl >greek.jsonl
  grep -q 'δεν' greek.jsonl
  run -0 ran-train classify --dry-run greek.jsonl
  [[ $output != *'base model'* ]]
}

@test "base: more words than few do without [all]" {
  # 105 words in each line: 1,999,935 and 2,000,040 words
  awk 'BEGIN {
    for (i = 0; i < 15; i++)
      line = line "rain word1 word2 word3 word4 word5 word6 "
    for (i = 1; i <= 19048; i++)
      printf "{\"text\":\"%s\",\"label\":\"a%d\"}\n", line, i % 2
  }' >many.jsonl
  head -n 19047 many.jsonl >most.jsonl
  run -0 ran-train classify --dry-run most.jsonl
  [[ $output == *'only 1999935 words'* ]]
  run -0 ran-train classify --dry-run many.jsonl
  [[ $output == *'not initialised from the base model english'*'167 s'*'2000040 words; --base english'* ]]
  begun --base english many.jsonl
  # with several labels: 199,920 and 200,025 words
  head -n 1905 many.jsonl | sed 's/"label": *\("[^"]*"\)/"labels":[\1]/' >several.jsonl
  head -n 1904 several.jsonl >most.jsonl
  run -0 ran-train classify --dry-run most.jsonl
  [[ $output == *'only 199920 words'* ]]
  run -0 ran-train classify --dry-run several.jsonl
  [[ $output == *'not initialised from the base model english, which would take'* ]]
  # for tag: 99,960 and 100,065 words
  head -n 953 many.jsonl | jq -c '{tokens: (.text | split(" ")[:105]), tags: (["B-X"] + [range(104) | "O"])}' >tagged.jsonl
  head -n 952 tagged.jsonl >most.jsonl
  run -0 ran-train tag --dry-run most.jsonl
  [[ $output == *'only 99960 words'* ]]
  run -0 ran-train tag --dry-run tagged.jsonl
  [[ $output != *'base model'* ]]
}

@test "base: documents with several labels begin with it, too [all]" {
  sed 's/"label": *\("[^"]*"\)/"labels": [\1]/' train.jsonl >several.jsonl
  run -0 ran-train classify -o several.ran several.jsonl
  [[ $output == *'initialised from the base model'* ]]
  ran-train info --format json several.ran | jq -e '.training.paths.wide > 0'
  run -0 ran-train classify --replay several.ran several.jsonl
  ran-classify -m several.ran several.jsonl | jq -es 'all(.prediction.labels | length > 0)'
  begun --multilabel
}

@test "base: a tagger is initialised from the whole encoder, also one with a spelling of its own" {
  tags 20 >tagged.jsonl
  sed 's/.*/{"text":"the city of Rome today"}/' tagged.jsonl >plain.jsonl
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --window 16 --min-count 1 --cell prenorm --epochs 1 -o models/english-tags.ran plain.jsonl train.jsonl
  run -0 ran-train tag --epochs 1 -o a.ran tagged.jsonl
  [[ $output == *'only 100 words: '*'(--init english-tags); --base none'* ]]
  ran-train tag -q --epochs 1 --init english-tags -o b.ran tagged.jsonl
  cmp a.ran b.ran
  ran-train tag -q --base none --vocab-type wordpiece --min-count 1 --dim 8 --heads 2 --head-dim 4 --spelling 128 --epochs 1 --no-dev \
    -o names.ran tagged.jsonl
  ran-train tag -q --epochs 1 --base names.ran -o a.ran tagged.jsonl
  ran-train tag -q --epochs 1 --init names.ran -o b.ran tagged.jsonl
  cmp a.ran b.ran
}

# epochs EPOCHS OPTION...: a tagger has so many.
epochs() {
  run -0 ran-train tag --dry-run "${@:2}" tagged.jsonl
  [[ $output == *" for $1 epochs"* ]]
}

@test "base: a tagger whose encoder was trained before has fewer epochs [all]" {
  tags 40 >tagged.jsonl
  sed 's/.*/{"text":"the city of Rome today"}/' tagged.jsonl >plain.jsonl
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --window 16 --min-count 1 --epochs 1 -o models/english-tags.ran plain.jsonl
  ran-train classify -q --init english --encoder static -o models/vectors.ran train.jsonl
  epochs 20 --base none
  epochs 8
  epochs 8 --init english-tags
  epochs 20 --epochs 20
  epochs 20 --init vectors --encoder ran
}

@test "base: what --base names is used, or a sentence says why not [all]" {
  refused 2 '--base is for ran-train classify and tag' ran-train lm --base english -o a.ran train.jsonl
  for option in '--dim 16' '--epochs 2' '--vocab-size 100'; do
    read -ra words <<<"$option"
    refused 2 'give --init english' ran-train classify --base english "${words[@]}" -o a.ran train.jsonl
  done
  sed 's/"text": *"/&ένα δύο τρία τέσσερα πέντε έξι επτά οκτώ εννέα δέκα ένα δύο τρία τέσσερα /' train.jsonl >greek.jsonl
  run -0 ran-train classify --base english --dry-run greek.jsonl
  [[ $output == *'not initialised from english: it knows '*' % of the words, and 75 % are needed'* ]]
  ran-train classify -q --encoder none -o models/linear.ran train.jsonl
  run -0 ran-train classify --base linear --dry-run train.jsonl
  [[ $output == *'not initialised from linear: it has no encoder'* ]]
  head -c 3000 models/english.ran >models/broken.ran
  refused 3 'broken' ran-train classify --base broken -o a.ran train.jsonl
  RAN_BASE=broken run -0 ran-train classify -o a.ran train.jsonl
  [[ $output == *'not initialised from the base model: '*broken* ]]
}

@test "base: vectors of tokens are no base of a tagger, and the sentence says what is [all]" {
  tags 20 >tagged.jsonl
  ran-train classify -q --init english --encoder static -o models/vectors.ran train.jsonl
  RAN_BASE=vectors run -0 ran-train tag --dry-run tagged.jsonl
  [[ $output != *'base model'* ]]
  run -0 ran-train tag --base vectors --dry-run tagged.jsonl
  [[ $output == *'not initialised from vectors: it has no encoder to train'* ]]
  refused 2 'vectors has vectors of tokens and no encoder to train: give --init english-tags,' ran-train tag --init vectors -o a.ran tagged.jsonl
  run -0 ran-train tag --init vectors --encoder ran --epochs 1 --dry-run tagged.jsonl
}

@test "base: a training that began without it is resumed without it [all]" {
  tags 40 >tagged.jsonl
  sed 's/.*/{"text":"the city of Rome today"}/' tagged.jsonl >plain.jsonl
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --window 16 --min-count 1 --cell prenorm --epochs 1 -o models/english-tags.ran plain.jsonl
  ran-train tag -q --base none --no-dev --epochs 90 -o whole.ran tagged.jsonl
  ended_by INT 'epoch [1-9]' said ran-train tag --base none --no-dev --epochs 90 --progress always -o a.ran tagged.jsonl
  [ -e a.ran ] || run -0 ran-train tag --no-dev --epochs 90 --resume -o a.ran tagged.jsonl
  [[ ${output-} != *'base model'* ]]
  cmp a.ran whole.ran
}
