#!/usr/bin/env bats
# What a released version wrote stays readable for good. tests/released has a folder for each version: models,
# checkpoints, states, vocabularies and a search, and what that version answered about them.

bats_require_minimum_version 1.5.0

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
  sed -E 's/"baseline":\{[^}]*\},//; s/"unknown_share":[^,}]*,//g; s/,"(embedding_model|without|no_evidence)":"[^"]*"//g'
}

# same FILE FILE: but for the last digits of numbers, which follow the order of sums.
same() {
  local number='-?[0-9]+\.[0-9]+(e[-+]?[0-9]+)?'
  if cmp -s "$1" "$2"; then
    return
  fi
  [ "$(sed -E "s/$number/#/g" "$1")" = "$(sed -E "s/$number/#/g" "$2")" ] || return 1
  paste <(grep -oE -e "$number" "$1") <(grep -oE -e "$number" "$2") |
    awk '{ off = $1 - $2; size = $2 < 0 ? -$2 : $2; if (off > 1e-5 * (1 + size) || -off > 1e-5 * (1 + size)) exit 1 }'
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
      same answer "expected/$name" && continue
      echo "$version, $name: $command"
      cat said
      diff answer "expected/$name" | cut -c 1-300 | head -n 10
      bad=1
    done <commands
    [ $asked -gt 0 ] || { echo "$version: nothing is asked about $prefix"; bad=1; }
  done
  return $bad
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

# A model, state or vocabulary is named in a command; a checkpoint or search belongs to a training that is resumed.
every_file() {
  local file
  for file in models/* states/* vocabularies/*; do
    grep -qF " $file" commands || { echo "$version: nothing reads $file"; return 1; }
  done
  for file in checkpoints/*.whole.ran checkpoints/*.ckpt; do
    file=${file%.ckpt}
    grep -qF -- "-o ${file/.whole/}" resume || { echo "$version: nothing resumes $file"; return 1; }
  done
  cut -d ' ' -f 1 commands | sort | diff - <(ls expected | sort)
  grep -vE '^(encode|decode|classify|tag|lm|prefix|mlm|attention|checkpoint|init)-' commands && return 1
  [ "$(wc -l <resume)" -eq "$(ls checkpoints/*.ckpt | wc -l)" ]
}

@test "released: each file is asked about" {
  each_version every_file
}

# Later versions train by other rules. They say who can go on, and leave the checkpoint and the trials as they are.
resumed() {
  local name command
  while read -r name command; do
    echo "$version, $name: $command --resume"
    cp "checkpoints/$name.ran.ckpt" kept
    status=0
    eval "$command --resume" >said 2>&1 </dev/null || status=$?
    [ $status -eq 2 ] || { cat said; return 1; }
    grep -qE "^ran-train: checkpoints/$name.ran.(ckpt|tune) is of (version $version|an older version), which this version cannot continue: resume it with that version, or " said ||
      { cat said; return 1; }
    cmp kept "checkpoints/$name.ran.ckpt"
  done <resume
}

@test "released: trainings and searches that an older version began are refused in a sentence, and kept [all]" {
  each_version resumed
}
