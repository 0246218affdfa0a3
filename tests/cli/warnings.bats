#!/usr/bin/env bats
# Mistakes in training data that are noticed before they cost time: --check lists them, and a training
# says them before it begins. Each names what answers it.

bats_require_minimum_version 1.5.0

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
}

# sound N: N documents of two labels, without a fault.
sound() {
  for i in $(seq "$1"); do
    printf 'rain\twet day a%d b%d\nsun\tdry day c%d d%d\n' "$i" "$i" "$i" "$i"
  done
}

# warns ARGUMENT...: the warnings of --check.
warns() {
  ran-train classify --check "$@" 2>stderr | jq -r '.warnings[]'
}

@test "warnings: sound data have none" {
  sound 500 >x.tsv
  run -0 warns x.tsv
  [ -z "$output" ]
}

@test "warnings: a header among the records" {
  { printf 'Klasse\tder Satz\n'; sound 500; } >x.tsv
  [ "$(warns x.tsv)" = 'x.tsv:1: is this a header? no other document has its label "Klasse" (--header=yes)' ]
  [ -z "$(warns --header yes --label-member Klasse --text-member 'der Satz' x.tsv)" ]
}

@test "warnings: text and label swapped" {
  sound 50 | awk -F'\t' '{ print $2 "\t" $1 }' >x.tsv
  warns --columns label,text x.tsv | grep -q '^100 labels for 100 documents: are text and label swapped? (--label-member, --text-member or --columns)$'
  run -0 warns --columns text,label x.tsv
  [ -n "$output" ] && [[ $output != *swapped* ]]
}

@test "warnings: labels that differ in case or spaces only, and labels of one document" {
  { sound 500; printf 'Rain\twet e\nRain\twet f\nfog\tgrey\nhail\tgrey too\n'; } >x.tsv
  run -0 warns x.tsv
  [ "$output" = '2 labels have one document only: "fog", "hail"; merge it with another label, leave it out, or add documents
the labels "Rain" (2 times) and "rain" (500 times) differ in case or spaces only: write them alike in the data' ]
}

@test "warnings: the same file twice, and as --dev" {
  sound 500 >x.tsv
  cp x.tsv y.tsv
  ln -s x.tsv z.tsv
  warns x.tsv z.tsv | grep -q '^z.tsv is given twice: leave one out$'
  warns --dev z.tsv x.tsv | grep -q '^x.tsv is training data and --dev: '
  run -0 warns --dev y.tsv x.tsv
  [ "$output" = '1000 of 1000 documents of --dev are also training documents: figures on them are too good (--check lists them)' ]
  run -0 warns x.tsv y.tsv
  [[ $output == '1000 of 2000 training documents repeat others: '*'--dev-group'* ]]
}

@test "warnings: quotes around every text" {
  sound 500 | sed 's/\t\(.*\)/\t"\1"/' >x.tsv
  [ "$(warns x.tsv)" = '1000 of 1000 texts have quotes around them: if a table wrote these, read it with --input-format=csv, or with --quotes=yes' ]
  [ -z "$(warns --quotes yes x.tsv)" ]
}

@test "warnings: too few documents to validate; and a training says it, too, but not with -q" {
  sound 20 >x.tsv
  sound 500 >y.tsv
  small='4 validation documents: accuracies are known to within 49 points (95 % confidence), too few to tell models apart (--dev-share holds out more, --dev FILE adds some)'
  [ "$(warns x.tsv)" = "$small" ]
  [ -z "$(warns y.tsv)" ]
  run -0 --separate-stderr ran-train classify --encoder none -o m.ran x.tsv
  [[ $stderr == *"ran-train: warning: $small"* ]]
  run -0 --separate-stderr ran-train classify -q --encoder none -o m.ran x.tsv
  [[ $stderr != *warning* ]]
  run -0 ran-train classify --check --check-format text x.tsv
  [[ $output == *$'\nWarnings\n'*"$small"* ]]
}

@test "warnings: labels of the model of --init that no new record has" {
  sound 40 >old.tsv
  for i in $(seq 40); do printf 'snow\tcold day e%d\nrain\twet night f%d\n' "$i" "$i"; done >new.tsv
  export RAN_BASE=none
  ran-train classify -q --encoder none -o old.ran old.tsv
  run -0 --separate-stderr ran-train classify --encoder none --init old.ran -o new.ran new.tsv
  [[ $stderr == *'warning: no record has the label "sun" of old.ran'* ]]
  # A base model that is a classifier lends its vectors, not its labels.
  ran-train classify -q --dim 8 --heads 2 --head-dim 4 --window 16 --epochs 1 --wide 0 -o base.ran old.tsv new.tsv new.tsv
  run -0 --separate-stderr env RAN_BASE=base.ran ran-train classify --dry-run new.tsv
  [[ $stderr == *'initialised from the base model base.ran'* ]]
  [[ $stderr != *'no record has the label'* ]]
  warns --init old.ran new.tsv | grep -q 'the label "sun" of old.ran'
  [ -z "$(warns --init old.ran new.tsv old.tsv | grep 'will not know')" ]
  # One label alone: the warning says what to do about the error.
  grep snow new.tsv >one.tsv
  run -3 --separate-stderr ran-train classify --encoder none --init old.ran -o one.ran one.tsv
  [[ $stderr == *'the labels "rain", "sun" of old.ran'*'training needs at least two'* ]]
}

@test "coverage: how exact its promise is with few calibration documents" {
  sound 120 >x.tsv
  ran-train classify -q --encoder none --dev-share 0.1 -o m.ran x.tsv
  run -0 --separate-stderr ran-classify -m m.ran --coverage 0.9 - <<<'{"text":"wet"}'
  [[ $stderr =~ '--coverage 0.9: with '[0-9]+' calibration documents, it may turn out to be '[678][0-9.]*' % (95 % confidence); train with more of them, --dev-share or --dev, for a more exact one' ]]
  run -2 --separate-stderr ran-classify -m m.ran --coverage 0.999 - <<<'{"text":"wet"}'
  [[ $stderr == *'too few for a coverage of 0.999'* ]]
}

@test "warnings: as many validation documents as are held out" {
  for n in 13 19 23 28; do
    sound $n | jq -cR 'split("\t") | {label: .[0], text: .[1], id: .[1]}' >x.jsonl
    for with in '' '--dev-group id' '--dev-share 0.27'; do
      run -0 --separate-stderr ran-train classify --encoder none --base none $with -o x.ran x.jsonl
      held=$(sed -n "s/^ran-train: \([0-9]*\) of $((2 * n)) documents are held out.*/\1/p" <<<"$stderr")
      [ -n "$held" ]
      [ "$(grep -o '[0-9]* validation documents\?' <<<"$stderr" | cut -d ' ' -f 1 | sort -u)" = "$held" ] ||
        { echo "$stderr"; false; }
    done
  done
}
