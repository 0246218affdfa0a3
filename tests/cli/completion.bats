#!/usr/bin/env bats
# Completion in bash and zsh: what is offered, against --help.

bats_require_minimum_version 1.5.0
load commands.bash

setup() {
  completion=$(cd "$BATS_TEST_DIRNAME/../../share/completion" && pwd)
  bin=${RAN_BIN:-$(cd "$completion/../.." && pwd)/build}
  PATH=$bin:$PATH
  cd "$BATS_TEST_TMPDIR"
}

# offers WORD...: what bash would offer for the last one.
offers() {
  bash -c '. "$0"
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _ran "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[*]}"' "$completion/ran.bash" "$@"
}

# options: those of the --help on standard input.
options() {
  sed -n 's/^  \(-., \|    \)\(--[^ ]*\).*/\2/p' >named
  [ -s named ]
  { sed 's/\[no-\]//' named; sed -n 's/\[no-\]/no-/p' named; } | sort
}

# ---- the table -----------------------------------------------------------------------------------

@test "completion: --print-options has every option of --help, five columns a line [all]" {
  commands "$bin" >commands
  [ "$(wc -l <commands)" -ge 11 ]
  while read -r command; do
    $command --help-all </dev/null | options >wanted
    $command --print-options >table </dev/null
    cut -f 1 table | sort | diff wanted -
    [ "$(awk -F '\t' 'NF != 5 || $5 == ""' table)" = '' ]
    # A name or a letter stands for one thing, of keys of --config as well.
    $command --print-config </dev/null | sed -n 's/^ *"\([^"]*\)":.*/\1/p' >keys
    [ "$({ cut -f 1 table | sort && cut -f 2 table | grep . | sort && sort keys; } | uniq -d)" = '' ]
  done <commands
  ran-train --print-options | cut -f 1 | grep -qxF classify
  ran-train classify --print-options | grep -q "^--metric$(printf "\t\tNAME\t")accuracy,micro_f1,macro_f1,loss,bleu,chrf$(printf '\t')."
  ran-attnmask --print-options | grep -q "$(printf '\t')full,window,dilated,dispersed,\.\.\.$(printf '\t')"
  run -3 sh -c 'ran-classify --print-options >/dev/full'
}

# ---- bash ----------------------------------------------------------------------------------------

@test "completion: bash offers verbs, options of the verb, values" {
  [ "$(offers ran-tokenize e)" = encode ]
  [ "$(offers ran-train '')" = 'classify tag lm mlm distil info diff convert import' ]
  [ "$(offers ran-train classify --metr)" = --metric ]
  [ "$(offers ran-train classify --metric '')" = 'accuracy micro_f1 macro_f1 loss bleu chrf' ]
  [ "$(offers ran-train classify --metric = m)" = "micro_f1 macro_f1" ]
  [ "$(offers ran-classify --eval-format j)" = json ]
  [ "$(offers ran-tokenize learn --metr)" = '' ]
  [ "$(offers ran-train --vers)" = --version ]
}

@test "completion: bash offers the last of several values" {
  [ "$(offers ran-attnmask --attention '')" = 'full window dilated dispersed' ]
  [ "$(offers ran-attnmask --attention window,di)" = 'window,dilated window,dispersed' ]
  [ "$(offers ran-attnmask --attention = full,window,f)" = 'full,window,full' ]
}

@test "completion: names of files are left to bash" {
  [ "$(offers ran-classify '')" = '' ]
  [ "$(offers ran-classify -m '')" = '' ]
  [ "$(offers ran-train classify --dev m)" = '' ]
  [ "$(offers ran-train --config '')" = '' ]
  [ "$(offers ran-train classify '')" = '' ]
  # A file that is called like a verb is no verb elsewhere.
  [ "$(offers ran-train tag cl)" = '' ]
}

@test "completion: every program has it" {
  for program in $(programs "$bin"); do
    bash -c '. "$0"; complete -p "$1"' "$completion/ran.bash" "$program"
    head -n 1 "$completion/_ran" | grep -qw "$program"
  done
}

@test "completion: bash offers every option of --help, with its no [all]" {
  commands "$bin" >commands
  while read -r command; do
    $command --help-all </dev/null | options >wanted
    offers $command -- </dev/null | tr ' ' '\n' | sort | diff wanted -
  done <commands
}

# ---- zsh -----------------------------------------------------------------------------------------

# becomes LINE: what zsh makes of it when Tab is pressed behind it.
becomes() {
  cat >becomes.zsh <<'END'
zmodload zsh/zpty
local out
zpty shell zsh -f -i
zpty -w shell "PROMPT=; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -D
show() { print -r -- \"<<<\$BUFFER>>>\"; BUFFER=; zle .accept-line }
zle -N show; bindkey '^X' show; bindkey '^I' complete-word; print READY''-NOW"
zpty -r shell out '*READY-NOW*'
zpty -w -n shell "$2"$'\t'$'\x18'
zpty -r shell out '*>>>*'
print -r -- "${${out##*<<<}%%>>>*}"
zpty -d shell
END
  timeout 60 zsh -f becomes.zsh "$completion" "$1"
}

zsh_or_skip() {
  command -v zsh >/dev/null || skip 'no zsh'
}

@test "completion: zsh can read it" {
  zsh_or_skip
  zsh -n "$completion/_ran"
}

@test "completion: zsh completes verbs, options of the verb, values" {
  zsh_or_skip
  [ "$(becomes 'ran-train cl')" = 'ran-train classify ' ]
  [ "$(becomes 'ran-train --vers')" = 'ran-train --version ' ]
  [ "$(becomes 'ran-train classify --metr')" = 'ran-train classify --metric=' ]
  [ "$(becomes 'ran-train classify --metric=lo')" = 'ran-train classify --metric=loss ' ]
  [ "$(becomes 'ran-train classify --metric lo')" = 'ran-train classify --metric loss ' ]
  [ "$(becomes 'ran-attnmask --attention window,disp')" = 'ran-attnmask --attention window,dispersed,' ]
  [ "$(becomes 'ran-tokenize learn --metr')" = 'ran-tokenize learn --metr' ]
  [ "$(becomes 'ran-classify --no-abst')" = 'ran-classify --no-abstain ' ]
}

@test "completion: zsh completes names of files where no words are known" {
  zsh_or_skip
  touch model.ran news.jsonl
  [ "$(becomes 'ran-classify -m mod')" = 'ran-classify -m model.ran ' ]
  [ "$(becomes 'ran-classify -m model.ran ne')" = 'ran-classify -m model.ran news.jsonl ' ]
  [ "$(becomes 'ran-lm score --model=mod')" = 'ran-lm score --model=model.ran ' ]
  [ "$(becomes 'ran-train classify ne')" = 'ran-train classify news.jsonl ' ]
}
