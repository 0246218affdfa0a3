#!/usr/bin/env bats
# Logits and gradients of the programs equal those that a float64 implementation of the same
# equations gave, which stand in tests/cases (its README says how they were made).

bats_require_minimum_version 1.5.0
load compare.bash

setup() {
  PATH=$RAN_BIN:$PATH
  cases=$BATS_TEST_DIRNAME/../cases
  cd "$BATS_TEST_TMPDIR"
}

# numbers FILE: "name value" for each element of each tensor of a safetensors file. All are F64, but
# for those of our own files, which are F32 but for the loss.
numbers() {
  local length header data
  length=$(od -An -t u8 -N 8 "$1")
  header=$(tail -c +9 "$1" | head -c "$length")
  data=$((8 + length))
  for type in F64:8 F32:4; do
    jq -r --arg type "${type%:*}" 'del(.__metadata__) | to_entries[] | select(.value.dtype == $type)
      | "\(.key) \(.value.data_offsets[0]) \(.value.data_offsets[1])"' <<<"$header" >tensors
    [ -s tensors ] || continue
    od -An -v -w"${type#*:}" -t "f${type#*:}" -j "$data" "$1" |
      awk -v width="${type#*:}" '
        FNR == NR { for (i = $2 / width; i < $3 / width; i++) name[i] = $1; next }
        (FNR - 1) in name { print name[FNR - 1], $1 }' tensors -
  done
}

# task CASE: the verb of ran-train, and of which program the model is.
task() {
  case $1 in
    ran-tag*) echo tag ;;
    ran-lm | ran-seq2seq) echo lm ;;
    ran-mlm) echo mlm ;;
    *) echo classify ;;
  esac
}

# at_masks INPUT: the logits of masked tokens, from those of all tokens.
at_masks() {
  jq -r '.masked_at[] as $at | "out.\(input_line_number - 1) \($at)"' "$1" >masks
  awk -v width=23 'NR == FNR { wanted[$1, $2] = 1; next }
    { n = seen[$1]++ } # mawk would take "++ /" for the beginning of a pattern
    ($1, int(n / width)) in wanted' masks -
}

# logits CASE: within 1e-4 of the largest of each document.
logits() {
  local command
  case $(task "$1") in
    lm) command='ran-lm score' ;;
    mlm) command='ran-lm fill' ;;
    *) command=ran-$(task "$1") ;;
  esac
  numbers "$cases/$1/expected.safetensors" | grep '^out\.' >want
  if [ "$1" = ran-mlm ]; then
    at_masks "$cases/$1/input.jsonl" <want >masked
    mv masked want
  fi
  $command -m "$cases/$1/model.safetensors" --logits "$cases/$1/input.jsonl" |
    jq -r '[(.prediction // .lm).logits] | flatten | "out.\(input_line_number - 1) \(.[])"' >got
  [ -s want ]
  [ "$(cut -d ' ' -f 1 want)" = "$(cut -d ' ' -f 1 got)" ]
  paste -d ' ' want got | awk -v what="$1" '
    function abs(x) { return x < 0 ? -x : x }
    { off = abs($2 - $4); if (off > most[$1]) most[$1] = off
      if (abs($2) > top[$1]) top[$1] = abs($2) }
    END { for (d in top) if (!(most[d] <= 1e-4 * top[d])) {
      print what ": " d " is off by " most[d] " of " top[d]; bad = 1 }
      exit bad }'
}

# gradients CASE: each tensor within 1e-3 of its norm and 1e-6 of that of all.
gradients() {
  numbers "$cases/$1/expected.safetensors" | grep -v '^out\.' | sort -s -k 1,1 >want
  masked=()
  [ "$1" != ran-mlm ] || masked=(--masked)
  "$RAN_BIN/tests/dump-gradients" "$(task "$1")" "${masked[@]}" -m "$cases/$1/model.safetensors" -o got.safetensors \
    "$cases/$1/input.jsonl"
  numbers got.safetensors | sort -s -k 1,1 >got
  [ -s want ]
  [ "$(cut -d ' ' -f 1 want)" = "$(cut -d ' ' -f 1 got)" ]
  paste -d ' ' want got | awk -v what="$1" '
    { off[$1] += ($2 - $4) ^ 2; norm[$1] += $2 ^ 2; if ($1 != "loss") all += $2 ^ 2 }
    END { for (t in norm) if (!(sqrt(off[t]) <= 1e-3 * sqrt(norm[t]) + 1e-6 * sqrt(all))) {
      print what ": " t " is off by " sqrt(off[t]) " of " sqrt(norm[t]); bad = 1 }
      if (!(sqrt(off["loss"]) <= 1e-5 * sqrt(norm["loss"]))) {
        print what ": the loss is off by " sqrt(off["loss"]); bad = 1 }
      exit bad }'
}

each_case() {
  local name cases_seen=0
  for name in "$cases"/*/; do
    name=$(basename "$name")
    "$1" "$name"
    cases_seen=$((cases_seen + 1))
  done
  [ "$cases_seen" -eq 18 ]
}

@test "reference: logits, loss and gradients of a RAN and of a Contextualizer" {
  logits ran-gated
  gradients ran-gated
  logits contextualizer
  gradients contextualizer
}

@test "reference: logits of all cases [all]" {
  each_case logits
}

@test "reference: loss and gradients of all cases [all]" {
  each_case gradients
}

@test "reference: the loss of language models is what ran-lm score says" {
  for name in ran-lm ran-seq2seq; do
    want=$(numbers "$cases/$name/expected.safetensors" | sed -n 's/^loss //p')
    ran-lm score -m "$cases/$name/model.safetensors" "$cases/$name/input.jsonl" |
      jq -se --argjson want "$want" '((map(.lm.nll) | add) / (map(.lm.tokens) | add)) as $got
        | ($got - $want | fabs) < 1e-5 * $want'
  done
}

@test "reference: the same by each set of instructions [all]" {
  for isa in base avx2 avx512 portable; do
    RAN_ISA=$isa ran-classify -m "$cases/ran-gated/model.safetensors" \
      "$cases/ran-gated/input.jsonl" >probe 2>&1 || { grep -q RAN_ISA probe; continue; }
    export RAN_ISA=$isa
    logits ran-gated
    gradients ran-gated
    logits ran-plain
    gradients ran-plain
    logits contextualizer
    gradients contextualizer
    unset RAN_ISA
  done
}
