#!/usr/bin/env bats
# The manual pages against the programs: every option and default of --help, every example.

bats_require_minimum_version 1.5.0
load commands.bash

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  bin=${RAN_BIN:-$root/build}
  PATH=$bin:$PATH
  cd "$BATS_TEST_TMPDIR"
  command -v mandoc >/dev/null || skip 'no mandoc'
}

# options: of a --help on standard input, "NAME DEFAULT" a line; - where there is no default.
options() {
  awk '
    function flush() {
      if (name == "") return
      value = "-"
      if (match(text, /default: [^)]*\)/)) value = substr(text, RSTART + 9, RLENGTH - 10)
      print name, value
      name = ""
    }
    /^Few need these/ { flush(); keys = 1; next }
    keys && /^$/ { keys = 0 }
    keys {
      for (i = 1; i <= NF; i++) {
        n = index($i "=", "=")
        name = substr($i, 1, n - 1)
        sub(/^--/, "", name)
        gsub(/_/, "-", name)
        print name, n < length($i) ? substr($i, n + 1) : "-"
      }
      name = ""
      next
    }
    /^  (-.,|   ) --/ {
      flush()
      match($0, /--[^ ]+/)
      name = substr($0, RSTART + 2, RLENGTH - 2)
      sub(/^\[no-\]/, "", name)
      text = substr($0, RSTART + RLENGTH)
      next
    }
    substr($0, 1, 20) ~ /^ +$/ { sub(/^ +/, " "); text = text $0; next }
    { flush() }
    END { flush() }'
}

# entry OPTION: what the page on standard input, as text, says about it.
entry() {
  awk -v option="$1" '
    /^     -/ { on = 0; n = split($0, word, /[ ,]+/)
      for (i = 1; i <= n; i++) if (word[i] == "--" option || word[i] == "--no-" option) on = 1 }
    /^[^ ]/ || /^   [^ ]/ { on = 0 }
    on'
}

@test "manual: pages are clean mdoc [all]" {
  for page in "$root"/man/*.[1-8]; do
    mandoc -T lint "$page" >lint || true
    grep -v 'referenced manual not found' lint >&2 && false || true
    [ -z "$(grep -v 'referenced manual not found' lint)" ]
  done
}

@test "manual: every option and default of --help is in the page, and no other option [all]" {
  commands "$bin" >commands
  [ -s commands ]
  while read -r program verb; do
    mandoc -T ascii -O width=999 "$root/man/$program.1" | sed 's/.\x08//g' >page
    "$program" $verb --help-all | options >options
    [ "$(wc -l <options)" -gt 7 ]
    while read -r name value; do
      entry "$name" <page >entry
      [ -s entry ] || { echo "$program.1 lacks --$name of $verb" >&2; false; }
      # "nfc; bpe: none": the default, and that for bpe.
      first=${value%%; *} other=${value#"$first"}
      first=${first//[\[\]]/.} # brackets are part of no pattern
      pattern="default.* $first($|\W)|(^|\W)$first, the default"
      [ -z "$other" ] || pattern="default.* $first\b.*${other//[;:]/.*}\b"
      tr -s '\n ' ' ' <entry >entry.line
      [ "$value" = - ] || grep -qiE "$pattern" entry.line ||
        { echo "$program.1: the default of --$name is $value, not:" >&2; cat entry >&2; false; }
    done <options
    cut -d ' ' -f 1 options >>"known.$program"
  done <commands
  for known in known.*; do
    program=${known#known.}
    mandoc -T ascii -O width=999 "$root/man/$program.1" | sed 's/.\x08//g' |
      sed -n '/^OPTIONS/,/^[A-NP-Z]/{s/^     \(-., \)\{0,1\}--\([a-z0-9-]*\).*/\2/p;}' | sed 's/^no-//' >named
    while read -r name; do
      grep -qx -e "$name" -e "no-$name" "$known" ||
        { echo "$program.1 has --$name, the program has not" >&2; false; }
    done <named
  done
}

@test "manual: every program has a page" {
  for program in $(programs "$bin"); do
    [ -e "$root/man/$program.1" ] || { echo "no page for $program" >&2; false; }
  done
}

@test "manual: each synopsis shows one command, and all verbs have theirs" {
  commands "$bin" >commands
  for page in "$root"/man/*.1; do
    program=$(basename "$page" .1)
    awk '/^\.Sh/ { on = $2 == "SYNOPSIS" } on && !/^\.Sh/' "$page" >synopsis
    # A verb follows the name of the program; there are no two verbs behind one name.
    awk -v page="$program.1" '/^\.Nm/ { named = 1; next } /^\.Cm/ && !named { print page ": .Nm is missing before", $0; bad = 1 }
      { named = 0 } END { exit bad }' synopsis >&2
    sed -n 's/^\.Cm //p' synopsis | tr -s ' |' '\n' >verbs
    while read -r name verb; do
      [ "$name" != "$program" ] || [ -z "$verb" ] || grep -qx "$verb" verbs ||
        { echo "$program.1: $verb is not in the synopsis" >&2; false; }
    done <commands
  done
}

# example PAGE: the commands of its EXAMPLES.
examples() {
  awk '/^\.Sh/ { on = $2 == "EXAMPLES" } on && /^\.Bd/ { block = 1; next } /^\.Ed/ { block = 0 } on && block' "$1" |
    sed 's/\\e/\\/g; s/\\-/-/g; s/\\(dq/"/g'
}

# days: what the commands of the pages work on.
days() {
  for word in wet dry; do
    for i in 1 2 3 4 5 6 7 8; do
      echo "{\"id\":\"$word$i\",\"text\":\"it was a $word day, number $i\",\"label\":\"$word\"}"
    done
  done
}

@test "manual: the examples run [all]" {
  days >documents.jsonl
  cp documents.jsonl test.jsonl
  cp documents.jsonl train.jsonl
  jq -r .text documents.jsonl >lines.txt
  ran-train classify -q --no-early-stop --epochs 4 --learning-rate 0.02 --dim 8 --heads 1 --head-dim 8 -o model.ran documents.jsonl
  cp model.ran topic.ran
  cp model.ran tone.ran
  for page in "$root"/man/*.1; do
    examples "$page" >examples.sh
    sh -e examples.sh >out 2>err || { echo "$page:" >&2; cat examples.sh err >&2; false; }
  done
}

# blocks PAGE: each of its displays outside of EXAMPLES in a file, block.1, block.2 ...
blocks() {
  rm -f block.*
  awk '/^\.Bd/ { on = 1; n++; next } /^\.Ed/ { on = 0 } on { print >("block." n) }' <(
    awk '/^\.Sh/ { skip = FILENAME ~ /\.1$/ && $2 == "EXAMPLES" } !skip' "$1" |
      sed 's/\\e/\\/g; s/\\-/-/g; s/\\(dq/"/g')
}

@test "manual: what is shown elsewhere runs, too, and is what it says [all]" {
  days >documents.jsonl
  for copy in test train labelled out; do
    cp documents.jsonl $copy.jsonl
  done
  mkdir -p library/wet library/dry inbox
  for i in 1 2 3; do
    echo "it was wet, number $i" | tee library/wet/$i >inbox/$i
    echo "it was dry, number $i" >library/dry/$i
  done
  awk 'BEGIN { for (i = 1; i < 60; i++) printf "{\"text\": \"w%d a%d then b%d at c%d\"}\n", i % 7, i, 2 * i, 3 * i }' >texts.jsonl
  printf 'wet\train and storms\ndry\tsunshine\n' >labels.tsv
  printf '{"text": "It %s all day long."}\n' rained 'was sunny' 'stormed' >reports.jsonl
  # As small as it gets, whatever the pages say.
  mkdir bin
  printf '#!/bin/sh\nverb=$1\nshift\ncase " $* " in *" --label-texts "*) set -- --base english "$@" ;; *) set -- --dim 8 --heads 1 --head-dim 8 --epochs 1 "$@" ;; esac\nexec "%s" "$verb" "$@"\n' \
    "$(command -v ran-train)" >bin/ran-train
  chmod +x bin/ran-train
  PATH=$PWD/bin:$PATH
  ran-train classify -q --wide 0 -o model.ran train.jsonl
  for page in "$root"/man/*.[1-8]; do
    blocks "$page"
    for block in block.*; do
      [ -e "$block" ] || continue
      case $(head -n 1 "$block") in
      'ran-'* | 'jq '* | 'n=$('*)
        sh -e "$block" >said 2>&1
        ;;
      *.ran:*)
        make -n -f "$block" documents.scored.jsonl >said 2>&1
        ;;
      '{"id": 8, '*)
        # Two lines: what comes in, as the eighth line, and what goes out.
        { printf '\n\n\n\n\n\n\n'; head -n 1 "$block"; } >docs.jsonl
        ran-classify -m model.ran docs.jsonl 2>said | diff - <(tail -n 1 "$block") || false
        ;;
      '{"id"'* | '{"ham": '*)
        jq -c . "$block" >said
        ;;
      'p(w) ='* | 'G_0 = '* | 'x = LN_embed'* | 'offset'* | 'z = '* | '{"type":'* | '{"version":'* | '"pre_tokenizer"'*) ;; # no commands
      'mpirun '*) ;; # ranks.bats has such commands; this one has several hosts
      'from safetensors'*)
        python3 -c 'import safetensors.numpy' 2>said || continue
        python3 "$block" >said 2>&1
        ;;
      *)
        echo "$(basename "$page"): no test knows what to do with this:" >&2
        cat "$block" >&2
        false
        ;;
      esac || { echo "$(basename "$page"):" >&2; cat "$block" said >&2; false; }
    done
  done
}

@test "manual: groff, which man(1) uses elsewhere, understands the pages [all]" {
  command -v groff >/dev/null || skip 'no groff'
  for page in "$root"/man/*.[1-8]; do
    groff -mandoc -Tutf8 -ww -z "$page" >said 2>&1
    [ ! -s said ] || { cat said >&2; false; }
  done
}
