#!/usr/bin/env bats
# What all programs have in common on the command line; the manners themselves are tested in
# tests/unit/test-options.c.

bats_require_minimum_version 1.5.0
load compare.bash
load commands.bash

setup() {
  bin=${RAN_BIN:-$PWD/build}
  PATH=$bin:$PATH
  cd "$BATS_TEST_TMPDIR"
  programs=$(programs "$bin")
  # Of a program with verbs, itself and each of them.
  commands=$({ echo "$programs"; commands "$bin"; } | sort -u)
}

@test "options: --help of every command is on standard output, 80 columns wide [all]" {
  while read -r command; do
    for option in --help --help-all; do
      run -0 --separate-stderr $command $option
      [ -z "$stderr" ]
      [[ ${lines[0]} == "Usage: $command "* ]]
      [ "$(awk 'length > 80' <<<"$output")" = '' ]
      [[ $output == *--help*--version* ]]
    done
  done <<<"$commands"
}

@test "options: --help has the main options, --help-all every one, in the same words [all]" {
  while read -r command; do
    $command --help >some
    $command --help-all >all
    grep '^  \(-., \|    \)--' some >named
    [ "$(wc -l <named)" -le 34 ]
    [ "$(grep -vxF -f all named)" = '' ]
    left=$(($(grep -c '^  \(-., \|    \)--' all) - $(wc -l <named)))
    [ "$left" -eq 0 ] || grep -qxF -- "$command --help-all lists $left more options." some
  done <<<"$commands"
  for verb in classify tag lm mlm; do
    ran-train $verb --help-all | sed -n '/^Few need these/,/^$/p' >keys
    grep -qw 'beta2=0.999' keys
    ran-train $verb --print-config | grep -q '"beta2": *0.999'
    run -1 grep -w beta2 <(ran-train $verb --help-all | grep '^ *--')
    # A key is an option, but not in short.
    run -3 ran-train $verb -o m --beta2 0.99 none
    run -2 ran-train $verb -o m --beta 0.99 none
  done
  [ "$(ran-train classify --print-options | cut -f 1 | grep -vc -- --no-)" -le 80 ]
  # --config takes every key of the list; what is for the command line only has a list of its own.
  for verb in classify tag lm mlm; do
    ran-train $verb --print-config >config.json
    ran-train $verb --help-all | sed -n '/^Few need these, as options (/,/^$/p' | grep '^  ' | tr -s ' ' '\n' | sed 's/=.*//' | grep . >keys
    while read -r key; do
      jq -e --arg key $key 'if has($key) then {($key): .[$key]} else {($key): "x"} end' config.json >one.json
      run -3 --separate-stderr ran-train $verb -o m --config one.json none
    done <keys
    run -1 grep -w join_windows keys
    ran-train $verb --help-all | grep -A 1 '^Few need these, as options only' | grep -qF -- '--checkpoint-minutes=5'
  done
  ran-train classify --help | grep -q -- '--encoder'
  run -1 grep -q -- --beta2 <(ran-train classify --help)
}

@test "options: --version of every command names the program and the version [all]" {
  while read -r command; do
    run -0 --separate-stderr $command --version
    [ -z "$stderr" ]
    [[ ${lines[0]} =~ ^${command%% *}\ \(ran\)\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
  done <<<"$commands"
}

@test "options: misuse of every command is status 2, a sentence and a hint, and no output [all]" {
  while read -r command; do
    run -2 --separate-stderr $command --no-such-option
    [ -z "$output" ]
    [[ ${stderr_lines[0]} == "${command%% *}: unknown option --no-such-option"* ]]
    [ "${stderr_lines[1]}" = "Try '$command --help' for more." ]
  done <<<"$commands"
}

@test "options: --print-config of every command is a configuration that it takes [all]" {
  while read -r command; do
    $command --print-config >first.json || continue # a program with verbs has no settings itself
    jq -e 'type == "object"' first.json
    $command --config first.json --print-config | cmp - first.json
  done <<<"$commands"
}

@test "options: a full disk is an error for --help, too" {
  [ -e /dev/full ] || skip 'no /dev/full'
  for program in $programs; do
    run -3 sh -c "$program --help >/dev/full"
    [ "$output" = "$program: cannot write standard output: No space left on device" ]
  done
}

@test "options: programs with verbs say which there are" {
  run -2 --separate-stderr ran-tokenize
  [[ $stderr == 'ran-tokenize: give a verb first: learn, '*"Try 'ran-tokenize --help' for more." ]]
  run -2 --separate-stderr ran-tokenize lern --vocab x
  [[ ${stderr_lines[0]} == "ran-tokenize: unknown verb 'lern'; did you mean learn?" ]]
  run -2 --separate-stderr ran-tokenize --quiet
  [[ $stderr == *'give a verb first'* ]]
}

@test "options: -j must be a number of threads" {
  for jobs in x -1 1.5 99999 ''; do
    run -2 --separate-stderr ran-classify -j "$jobs"
    [[ ${stderr_lines[0]} == "ran-classify: --jobs must be a whole number from 0 to 4096, not '$jobs'" ]]
  done
}

@test "options: what could steer a terminal does not reach it" {
  run -2 --separate-stderr ran-classify $'--\e[31mred'
  [[ $stderr != *$'\e'* ]]
  run -3 --separate-stderr ran-classify -m $'\e[31mred\n'
  [[ $stderr != *$'\e'* ]]
  [ "${#stderr_lines[@]}" -eq 1 ]
}

# ignored WHAT COMMAND...: each of the options that are passed over with it is refused.
ignored() {
  local what=$1 option
  shift
  for option in "${options[@]}"; do
    run -2 --separate-stderr "$@" $option </dev/null
    [ -z "$output" ]
    [[ ${stderr_lines[0]} == "$1: $what: leave out ${option%% *}" ]] || { echo "$option: $stderr"; false; }
  done
}

# alone WHAT COMMAND...: each of the options is refused where what it belongs to is not asked for.
alone() {
  local what=$1 option
  shift
  for option in "${options[@]}"; do
    run -2 --separate-stderr "$@" $option </dev/null
    [ -z "$output" ]
    [[ ${stderr_lines[0]} == "$1: ${option%% *} is for $what" ]] || { echo "$option: $stderr"; false; }
  done
}

@test "options: what asks for records was passed over where there are none [all]" {
  local of_records=('--into x' --only '--drop x')
  local of_input=('--files-from x' '--shard 1/2' '--rejects x' '--input-format tsv' '--on-error skip' --folder-label)
  options=("${of_records[@]}" '--top 2' --probs --logits --embed)
  ignored '--eval writes a report and no records' ran-classify -m none --eval
  options=("${of_records[@]}" --logits)
  ignored '--eval writes a report and no records' ran-tag -m none --eval
  options=("${of_records[@]}")
  ignored '--total writes sums and no records' ran-lm score -m none --total
  options=("${of_records[@]}" '--shard 1/2' '--rejects x' '--input-format tsv' --errors-ok)
  ignored '--prompt reads no records' ran-lm generate -m none --prompt x
  options=("${of_records[@]}")
  ignored 'records are read with --model only' ran-attnmask --length 5
  ignored 'records are read with --model only' ran-attnmask --table
  options=("${of_input[@]}")
  alone '--model FILE' ran-attnmask --length 5
  alone '--model FILE' ran-attnmask --table
  options=("${of_records[@]}" '--shard 1/2' '--rejects x' --verify --logits '--max-tokens 2'
    '--output-format jsonl' '--eval-format json' '--offsets byte' '--split-at ptb')
  ignored '--conlleval reads predictions (with a model: --eval-format conlleval)' ran-tag --conlleval
  [ ! -e x ]
}

@test "options: --conlleval wrote to standard output, whatever --output said" {
  printf 'a B-X B-X\n\n' >columns
  ran-tag --conlleval columns >wanted
  run -0 ran-tag --conlleval -o report columns
  [ -z "$output" ]
  cmp wanted report
  run -2 ran-tag --conlleval -o columns columns
  [[ ${lines[0]} == *'columns is an input: it cannot also be the output' ]]
}

@test "options: a value that is not UTF-8 was written to a configuration that nobody could read" {
  run -2 --separate-stderr ran-classify --drop $'caf\xe9' --print-config
  [ "${stderr_lines[0]}" = 'ran-classify: --drop is not valid UTF-8' ]
  run -2 --separate-stderr ran-train classify --eol-token=$'\xff' --print-config
  [ "${stderr_lines[0]}" = 'ran-train: --eol-token is not valid UTF-8' ]
  run -3 --separate-stderr ran-classify -m $'caf\xe9.ran' # names of files are any bytes
}

@test "options: a configuration of --print-config, all defaults, was refused for what nobody asked" {
  ran-attnmask --print-config >config.json
  run -0 ran-attnmask --config config.json --length 3
  [ "$output" = "$(ran-attnmask --length 3)" ]
  run -3 ran-attnmask --config config.json -m none
  ran-classify --print-config >config.json
  run -3 ran-classify --config config.json --output-format fasttext -m none
  run -3 ran-classify --config config.json --eval -m none
  ran-tag --print-config >config.json
  run -3 ran-tag --config config.json --output-format conll -m none
  # What it says otherwise is asked for.
  echo '{"top": 3}' >config.json
  run -2 ran-classify --config config.json --eval -m none
  run -2 ran-attnmask --length 3 --top 5
}

@test "options: a byte order mark before a configuration was no JSON" {
  printf '\xef\xbb\xbf{"top": 3}\r\n' >config.json
  [ "$(ran-classify -c config.json --print-config | jq .top)" = 3 ]
}

@test "options: no page told how they are given, cut short, turned round, and which one counts" {
  shown() { ran-classify "$@" --print-config | jq -c '[.top, .probs]'; }
  echo >file
  for given in '--top 3 --probs' '--top=3 file --prob' 'file --to 3 --no-probs --probs' '--top 9 --probs --top 3' \
    '-c file.json --top 3 --prob=true -j4'; do
    echo '{"top": 1}' >file.json
    [ "$(shown $given)" = '[3,true]' ]
  done
  [ "$(ran-classify --print-config --top 3 -- --top 4 | jq .top)" = 3 ]
  run -2 --separate-stderr ran-classify --offset byte --tr head --on skip
  [[ $stderr == *'--on is short for more than one option'* ]]
}

@test "options: no page told what a configuration may not have, nor that --drop counts from both" {
  echo '{"drop": ["a"], "top": 2}' >config.json
  ran-classify -c config.json --drop b --top 1 --print-config | jq -ce '[.drop, .top]' >said
  [ "$(cat said)" = '[["a","b"],1]' ]
  for setting in model jobs quiet output rejects; do
    echo "{\"$setting\": 1}" >config.json
    run -2 --separate-stderr ran-classify -c config.json
    [ "${stderr_lines[0]}" = "ran-classify: config.json: \"$setting\" is for the command line only" ]
  done
}

@test "options: what belongs to an option that is not given was passed over [all]" {
  options=('--evidence-length 3' '--offsets byte')
  alone '--evidence K' ran-classify -m none
  options=('--eval-format text')
  alone '--eval' ran-classify -m none
  options=('--eval-format json')
  alone '--eval' ran-tag -m none
  options=('--truncate error')
  alone '--max-tokens N' ran-classify -m none
  alone '--max-tokens N' ran-tag -m none
  alone '--max-tokens N' ran-attnmask -m none
  options=('--cache-weight 0.5' '--cache-theta 1')
  alone '--cache N' ran-lm score -m none
  options=('--size 7')
  alone 'grids and pictures' ran-attnmask --length 5 --count
  alone 'grids and pictures' ran-attnmask --length 5 --format json
  options=('--check-format text')
  alone '--check' ran-train classify -o m
  options=('--soft-share 0.3')
  alone '--soft-label MEMBER' ran-train classify -o m
  options=('--vectors-rms 1')
  alone '--vectors FILE' ran-train lm -o m
  options=('--init-rate 0')
  alone '--init MODEL' ran-train mlm -o m
  options=('--mask-share 0.2')
  alone 'ran-train mlm' ran-train tag -o m
  # What the configuration has as a default is not asked for.
  ran-classify --print-config >config.json
  run -3 ran-classify -m none -c config.json
  ran-train classify --print-config >config.json
  run -3 ran-train classify -o m -c config.json --no-dev none
}

value_of() { # OPTION: a value that it takes, and that is not its default
  case $1 in
    affixes | early-stop | crf | multilabel | frozen | find-wrong-labels | review-source | folder-label) echo true ;;
    pooling | cell-pooling | upper) echo mean ;;
    wide-ratios) echo yes ;;
    class-weights) echo balanced ;;
    mask-share | word-dropout) echo 0.2 ;;
    *) echo 3 ;;
  esac
}

@test "options: --help says what an option needs, and has none of other verbs [all]" {
  ran-classify --help-all | grep -qF '(with --eval; json, text,'
  ran-train classify --help-all | tr -s ' \n' ' ' | grep -qF 'format of the report (with --check; json, text; default: json)'
  linear='wide ngrams affixes wide-cost wide-ratios early-stop class-weights'
  labels='frozen tune-layers vector-cache base label-names folder-label label-separator tag-column'
  documents='soft-label threshold-for label-texts add-words multilabel upper find-wrong-labels pooling cell-pooling'
  local -A without=(
    [classify]='crf join-sentences bptt review-source shortlist mask-share source-file target-file'
    [tag]="$documents bptt review-source shortlist mask-share source-file"
    [lm]="$documents $linear $labels crf join-sentences mask-share"
    [mlm]="$documents $linear $labels crf join-sentences bptt review-source source-file word-dropout"
  )
  for verb in classify tag lm mlm; do
    ran-train $verb --help-all >help
    ran-train $verb --print-options | cut -f 1 >options
    ran-train $verb --print-config >config.json
    sed -n '/^Few need/,/^$/p' help | grep '^  ' | tr -s ' _' '\n-' | sed 's/=.*//' >keys
    for option in ${without[$verb]} $([ $verb = classify ] || echo folds suspects soft-share); do
      run -1 grep -E -- "(^|[^a-z-])--(\[no-\])?$option( |\$)" help
      run -1 grep -xFe "--$option" -e "$option" options keys
      run -1 grep -F "\"${option//-/_}\":" config.json
    done
    for option in ${without[$verb]}; do
      run -2 --separate-stderr ran-train $verb --$option=$(value_of $option) -o m none
      [[ ${stderr_lines[0]} == "ran-train: --$option is for ran-train "* ]] || { echo "$verb $option: $stderr"; false; }
    done
  done
  ran-train tag --help-all | grep -qF -- '--[no-]crf'
  # A configuration of another verb has their defaults.
  ran-train classify --print-config | grep -v '"\(vocab_type\|split_at\|wide\|affixes\|mask\|min_window\|metric\|refit\|early_stop\)"' |
    sed 'N;s/,\n}/\n}/;P;D' >config.json
  run -3 --separate-stderr ran-train lm -o m --config config.json none
}

@test "options: --no-dev was passed over where --dev or --dev-share was given" {
  run -2 --separate-stderr ran-train classify -o m --no-dev --dev none none
  [[ $stderr == *'--no-dev and --dev exclude each other'* ]]
  run -2 --separate-stderr ran-train classify -o m --no-dev --dev-share 0.5 none
  [[ $stderr == *'--no-dev is --dev-share 0: leave out --dev-share'* ]]
  run -3 --separate-stderr ran-train classify -o m --no-dev --dev-share 0 none
}

@test "options: --config takes the name of a recipe; a file of that name comes first" {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  mkdir -p "$BATS_TEST_TMPDIR/prefix/bin" "$BATS_TEST_TMPDIR/prefix/share/ran" "$BATS_TEST_TMPDIR/here"
  cd "$BATS_TEST_TMPDIR/here"
  cp "$RAN_BIN/ran-train" ../prefix/bin/
  cp -r "$root/share/recipes" ../prefix/share/ran/
  for name in small-and-fast small-and-fast.json; do
    run -0 --separate-stderr ../prefix/bin/ran-train classify --config $name --print-config
    [[ $stderr == "ran-train: --config $name: the recipe "*/prefix/share/ran/recipes/small-and-fast.json ]]
    [ "$output" = "$(ran-train classify --config "$root/share/recipes/small-and-fast.json" --print-config)" ]
  done
  run -0 --separate-stderr ../prefix/bin/ran-train classify -q --config small-and-fast --print-config
  [ -z "$stderr" ]
  echo '{"epochs": 77}' >small-and-fast.json
  run -0 --separate-stderr ../prefix/bin/ran-train classify --config small-and-fast.json --print-config
  [ "$(jq .epochs <<<"$output")" -eq 77 ]
  [[ $stderr == *'the file in this folder, not the recipe '*/prefix/share/ran/recipes/small-and-fast.json ]]
  run -0 --separate-stderr ../prefix/bin/ran-train classify --config ./small-and-fast.json --print-config
  [ "$(jq .epochs <<<"$output")" -eq 77 ]
  [ -z "$stderr" ]
  # As the README of the source tree has it, in any folder.
  run -0 --separate-stderr ../prefix/bin/ran-train classify --config share/recipes/small-and-fast.json --print-config
  [[ $stderr == *'share/recipes/small-and-fast.json: the recipe '*/prefix/share/ran/recipes/small-and-fast.json ]]
  for name in nothing ../recipes/small-and-fast; do
    run -3 --separate-stderr ../prefix/bin/ran-train classify --config $name --print-config
    [[ $stderr == *"cannot open $name: No such file or directory"* ]]
  done
  run -3 --separate-stderr ../prefix/bin/ran-train classify --config nothing --print-config
  [[ $stderr == *', and there is no recipe of that name in '*/prefix/share/ran/recipes ]]
  run -3 --separate-stderr ran-train classify --config /dev/zero --print-config
  [[ $stderr == *'/dev/zero has more than '*' bytes, too many for such a file'* ]]
}

@test "options: --help fits two screens, and names each format once" {
  commands "$RAN_BIN" >commands
  while read -r command; do
    $command --help </dev/null >help
    [ "$(wc -l <help)" -le 100 ] || { echo "$command: $(wc -l <help) lines"; false; }
    run ! grep '.\{81\}' help
    [ "$(grep -c 'fasttext-labels' help)" -le 1 ]
  done <commands
}
