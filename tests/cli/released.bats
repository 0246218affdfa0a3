#!/usr/bin/env bats
# What a released version wrote stays readable for good. tests/released has a folder for each version: models,
# checkpoints, states, vocabularies and a search, and what that version answered about them.

bats_require_minimum_version 1.5.0
load compare.bash

setup() {
  export PATH=$RAN_BIN:$PATH RAN_ISA=portable # with which the folders were made
  released=$BATS_TEST_DIRNAME/../released
  cd "$BATS_TEST_TMPDIR"
}

# each_version COMMAND...: in a copy of each folder.
each_version() {
  local folder seen=0
  for folder in "$released"/*/; do
    version=$(basename "$folder")
    cp -R "$folder" "$version"
    cd "$version"
    "$@"
    cd ..
    seen=$((seen + 1))
  done
  [ $seen -gt 0 ]
}

# Results without the members that 0.1.0 did not have.
before() {
  sed -E 's/"baseline":\{[^}]*\},//; s/"unknown_share":[^,}]*,//g'
}

# answers PREFIX...: the commands whose names begin so write what they wrote then.
answers() {
  local prefix name command asked bad=0
  for prefix in "$@"; do
    asked=0
    while read -r name command; do
      [[ $name == "$prefix"* ]] || continue
      asked=$((asked + 1))
      eval "${command/| sha256sum/| before | sha256sum}" >answer 2>said </dev/null || echo "status $?" >>answer
      before <answer >answer.before
      mv answer.before answer
      cmp -s answer "expected/$name" && continue
      echo "$version, $name: $command"
      cat said
      diff answer "expected/$name" | cut -c 1-300 | head -n 10
      bad=1
    done <commands
    [ $asked -gt 0 ] || { echo "$version: nothing is asked about $prefix"; bad=1; }
  done
  return $bad
}

# header MODEL: its JSON.
header() {
  head -c $((8 + $(od -An -t u8 -N 8 "$1"))) "$1" | tail -c +9
}

# same MODEL OTHER: but for the version that wrote them, and what 0.1.0 did not say.
same() {
  local file
  if header "$2" | jq -e 'has("wide.weight") and (has("wide.rows") | not)' >/dev/null; then
    same_answers "$1" "$2"
    return
  fi
  for file in "$1" "$2"; do
    header "$file" | jq -S '.__metadata__.training |= (fromjson | del(.version, .text_split, .text_marks))' >"$file.header"
    tail -c +"$((9 + $(header "$file" | wc -c)))" "$file" >"$file.data"
  done
  diff "$1.header" "$2.header"
  cmp "$1.data" "$2.data"
}

# same_answers MODEL OTHER: the latter of 0.1.0, which wrote rows of the linear model that are zero, and encoders
# that count for nothing, and did not say how a text is split into words.
same_answers() {
  local file
  for file in "$1" "$2"; do
    header "$file" | jq -S '[.__metadata__ | .labels, (.config | fromjson | del(.encoder)),
      (.training | fromjson | del(.version, .tried, .text_split, .text_marks))]' >"$file.header"
    if [[ $file == */tag-* ]]; then
      ran-tag -m "$file" --logits data/tagged-dev.jsonl >"$file.answers"
    else
      ran-classify -m "$file" --logits data/dev.jsonl >"$file.answers"
    fi
  done
  diff "$1.header" "$2.header"
  cmp "$1.answers" "$2.answers"
}

@test "released: vocabularies split texts in the same way" {
  each_version answers encode- decode-
}

@test "released: classifiers give the same labels, passages and gradients" {
  each_version answers classify-
}

@test "released: taggers give the same tags and gradients [all]" {
  each_version answers tag-
}

@test "released: language models give the same numbers and texts, and go on from states [all]" {
  each_version answers lm- prefix-
}

@test "released: masked words are predicted in the same way" {
  each_version answers mlm-
}

@test "released: attention, and what decides labels, is the same" {
  each_version answers attention-
}

@test "released: a checkpoint is a model, and training begins with models and checkpoints [all]" {
  each_version answers checkpoint- init-
}

# A model, state or vocabulary is named in a command; a checkpoint or journal is what a resumed one begins with.
every_file() {
  local file
  for file in models/* states/* vocabularies/*; do
    grep -qF " $file" commands || { echo "$version: nothing reads $file"; return 1; }
  done
  for file in checkpoints/*.whole.ran checkpoints/*.ckpt; do
    file=${file%.ckpt}
    grep -qF -- "-o ${file/.whole/}" resume || { echo "$version: nothing goes on from $file"; return 1; }
  done
  cut -d ' ' -f 1 commands | sort | diff - <(ls expected | sort)
  grep -vE '^(encode|decode|classify|tag|lm|prefix|mlm|attention|checkpoint|init)-' commands && return 1
  [ "$(wc -l <resume)" -eq "$(ls checkpoints/*.ckpt | wc -l)" ]
}

@test "released: each file is asked about" {
  each_version every_file
}

# The clock says how long a trial took.
trials() {
  jq -c 'del(.seconds, .training.version)' "$1"
}

resumed() {
  local name command
  while read -r name command; do
    echo "$version, $name: $command --resume"
    eval "$command --resume" >said 2>&1 </dev/null || { cat said; return 1; }
    run ! grep 'nothing\|no .* to resume' said
    same "checkpoints/$name.ran" "checkpoints/$name.whole.ran"
    [ ! -e "checkpoints/$name.ran.ckpt" ]
    [ ! -e "checkpoints/$name.ran.tune" ] ||
      same_output "trials \"checkpoints/\$name.ran.tune\"" "trials \"checkpoints/\$name.whole.tune\""
  done <resume
}

@test "released: checkpoints and searches go on, to the model of a training that nothing interrupted [all]" {
  each_version resumed
}
