#!/usr/bin/env bats
# What people read first, against what is there: the README, the source maps, and scripts.
# The manual pages of programs have tests of their own, in manual.bats.

bats_require_minimum_version 1.5.0
load compare.bash

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  PATH=${RAN_BIN:-$root/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
}

# source_map: the files that the source maps of cmd/ and lib/ name, in the first column of their tables: below the
# folder of the heading, or, where it has several, below cmd/ or lib/.
source_map() {
  local folder
  for folder in cmd lib; do
    awk -F '|' -v top=$folder '/^##/ && match($0, /`[a-z\/]+\/`/) {
      folder = top "/" substr($0, RSTART + 1, RLENGTH - 3)
      if (gsub(/`[a-z\/]+\/`/, "&") > 1) folder = top
    }
    /^\|/ {
      n = split($2, word, /`/)
      for (i = 2; i <= n; i += 2)
        if (word[i] ~ /\.c$/) print folder "/" word[i]
    }' "$root/$folder/README.md"
  done | sort
}

@test "docs: the first screen of the README says what to type" {
  head -n 20 "$root/README.md" >screen
  grep -q '^    make demo ' screen
  grep -q '^    make check ' screen
}

@test "docs: the source map names every source file once, and no other" {
  (cd "$root" && find cmd lib -name '*.c') | sort >there
  source_map >named
  diff there named
}

@test "docs: options that the README names are options" {
  for command in 'ran-tokenize learn' 'ran-tokenize encode' 'ran-tokenize duplicates' 'ran-train classify' 'ran-train distil' 'ran-train info' ran-classify \
    'ran-lm score' 'ran-lm generate' ran-attnmask ran-tag; do
    $command --help-all
    $command --print-config | sed 's/^ *"\([a-z0-9_]*\)":.*/--\1\n--no-\1/; s/_/-/g'
  done | grep -oE -- '--[][a-z0-9-]+' | sed 's/\[no-\]\(.*\)/\1\n--no-\1/' | sort -u >known
  # Those of other programs.
  printf -- '--cflags\n--libs\n' >>known
  grep -oE -- '--[a-z][a-z-]*' "$root/README.md" | sort -u >named
  [ -s named ]
  run -1 grep -vxFf known named
}

@test "docs: files that the README names are there" {
  grep -oE '(share|man)/[a-z0-9./-]+[a-z0-9]' "$root/README.md" | sort -u >named
  [ -s named ]
  while read -r file; do
    [ -e "$root/$file" ] || { echo "no $file" >&2; false; }
  done <named
}

@test "docs: the list of changes has the version, and the README names the list" {
  version=$(ran-classify --version | sed -n '1s/.* //p')
  grep -qxF "## $version" "$root/share/CHANGES.md"
  grep -qF share/CHANGES.md "$root/README.md"
}

@test "docs: the README is short" {
  [ "$(wc -l <"$root/README.md")" -le 200 ]
}

@test "docs: the pipeline on the first screen of the README works in an empty folder, and labels as it says" {
  sed -n '1,50{/^```sh$/,/^```$/p}' "$root/README.md" | sed '1d;$d' >pasted
  [ "$(grep -c '^ran-' pasted)" -eq 3 ]
  mkdir empty
  cd empty
  unset RAN_BASE # as a reader has it
  bash -eo pipefail ../pasted >../said
  said=$(sed -n '$s/.* # //p' ../pasted)
  [ -n "$said" ]
  [ "$(tail -n +2 <(grep -A 9 '^text,label,score' ../said) | cut -d , -f 2 | paste -s -d , | sed 's/,/, /g')" = "$said" ]
}

@test "docs: the Debian package has the version, and says what the programs need" {
  version=$(ran-classify --version | sed -n '1s/.* //p')
  [[ $(head -n 1 "$root/share/debian/changelog") == "ran ($version-"* ]]
  # Each library that pkg-config is asked for has its package.
  for library in $(sed -n 's/^PACKAGES := //p' "$root/Makefile"); do
    package=${library#lib}
    [ "$(grep -c "lib$package-dev" "$root/share/debian/control")" -eq 2 ]
    grep -q "^build .*lib$package-dev" "$root/share/setup"
  done
}

@test "docs: manual pages refer to each other by names that exist" {
  for page in "$root"/man/*.[1-8]; do
    sed -n 's/^\.Xr \(ran[a-z-]*\) \([1-8]\).*/\1.\2/p' "$page"
  done | sort -u >named
  [ "$(wc -l <named)" -ge 7 ]
  while read -r page; do
    [ -e "$root/man/$page" ] || { echo "no $page" >&2; false; }
  done <named
}

@test "docs: man 5 ran-model names every tensor and every member of the metadata [all]" {
  for label in wet dry; do
    for i in 1 2 3 4 5 6; do
      echo "{\"text\":\"a $label day, number $i\",\"labels\":[\"$label\"]}"
    done
  done >train.jsonl
  command -v mandoc >/dev/null || skip 'no mandoc'
  mandoc -T ascii -O width=200 "$root/man/ran-model.5" | sed 's/.\x08//g' >page
  for options in '--cell gated' '--cell plain' '--cell prenorm' '--no-review' \
    '--encoder contextualizer --context learned'; do
    ran-train classify -q --epochs 1 --dim 8 --heads 1 --head-dim 8 --layers 1 $options \
      -o model.ran train.jsonl
    tail -c +9 model.ran | head -c "$(od -A n -t u8 -N 8 model.ran | tr -d ' ')" >header
    jq -r 'keys[] | select(. != "__metadata__")' header >tensors
    jq -r '.__metadata__ | keys[], (.config | fromjson | keys[])' header >members
    while read -r name; do
      # ran.0.attn.q.weight stands in the table as "ran.l.attn.q, .k, .v"
      name=$(echo "$name" | sed 's/^ran\.0\./ran.l./; s/^contextualizer\.0\./contextualizer.k./; s/\.\(weight\|bias\)$//')
      grep -qF -e " $name" page || grep -F -e " ${name%.*}." page | grep -q ", \\.${name##*.}[, ]" ||
        { echo "ran-model.5 lacks $name" >&2; false; }
    done <tensors
    while read -r name; do
      grep -qw "$name" page || { echo "ran-model.5 lacks $name" >&2; false; }
    done <members
  done
}

# checkpoint OPTION...: what a training holds that was killed, the tensors of its file as JSON in `header`.
checkpoint() {
  local i
  rm -f m.ran.ckpt
  ran-train "$@" -q --dim 8 --heads 1 --head-dim 8 --epochs 1000000 --patience 1000000 \
    --checkpoint-minutes 0.0001 -o m.ran train.jsonl 3>&- &
  for ((i = 0; i < 1500; i++)); do
    [ ! -e m.ran.ckpt ] || break
    sleep 0.02
  done
  kill -9 $!
  wait $! || true
  tail -c +9 m.ran.ckpt | head -c "$(od -A n -t u8 -N 8 m.ran.ckpt | tr -d ' ')" >header
}

# fits FORMULA: which the sizes of tensors make true; n and R as in the page.
fits() {
  jq -e "map_values(.shape? // [0]) | (.[\"spelling.weight\"][0] // 0) as \$N | .[\"embed.weight\"] as [\$V, \$D]
    | (\$V + \$N) as \$R | (to_entries | map(select(.key | test(\"^(train|tokenizer|embed|spelling|__)|^wide[.](weight|idf|rows)\") | not)
        | .value | reduce .[] as \$x (1; . * \$x)) | add) as \$n
    | map_values(.[0]) | $1" header
}

@test "docs: man 5 ran-model knew no train.carry, and other sizes of vectors than checkpoints have" {
  awk 'BEGIN { for (i = 0; i < 40; i++) {
    printf "{\"tokens\": ["
    for (k = 0; k < 30; k++) printf "%s\"w%d\"", k ? ", " : "", (i * k * 7 + k) % 300
    printf "], \"tags\": ["
    for (k = 0; k < 30; k++) printf "%s\"%s\"", k ? ", " : "", k % 3 ? "O" : "B-X"
    print "]}" } }' >train.jsonl
  sizes='."train.m" == $n and ."train.best" == $n and ."train.embed.m" == $R * $D and ."train.embed.best" == $R * $D
    and ."train.embed.met" == $R'
  checkpoint tag --wide 1024 --spelling 64 --no-early-stop
  fits "$sizes and .\"train.embed.v\" == \$R * \$D and .\"train.chain\" == 8"
  jq -r keys[] header >names
  checkpoint lm --vocab-type word --window 4 --bptt 2 --min-count 1
  fits "$sizes and .\"train.embed.v\" == 257 * \$D and \$V > 257"
  jq -r keys[] header >>names
  for name in $(grep '^train' names | sort -u); do
    grep -qE "^\.It Va .*\b$name\b" "$root/man/ran-model.5" || { echo "ran-model.5 lacks $name" >&2; false; }
  done
}

@test "docs: every script parses" {
  for script in $(grep -rlE '^#!/bin/(ba)?sh' "$root/share" "$root/.ci"); do
    $(sed -n "1s/^#!//p" "$script") -n "$script"
  done
  bash -n "$root/share/completion/ran.bash"
  functions=$root/share/demo.d/roff.awk # which others need
  for program in "$root"/share/*/*.awk; do
    # Read as far as the grammar goes: on no input.
    [ "$program" = "$functions" ] || awk -f "$functions" -f "$program" -v into=. /dev/null
  done
}

@test "docs: shellcheck has nothing to say [all]" {
  command -v shellcheck >/dev/null || skip 'no shellcheck'
  "$root/tests/lint/scripts"
}

# records N: of sport and art, with words that are tagged by numbers.
records() {
  awk -v n="$1" 'BEGIN {
    for (i = 1; i <= n; i++)
      printf "{\"id\": %d, \"author\": \"%d\", \"label\": \"%s\", \"text\": \"%s %d by Ann\", %s, %s}\n", i, i % 9,
        i % 2 ? "art" : "sport", i % 2 ? "a picture" : "the ball", i,
        "\"tokens\": [\"" (i % 2 ? "picture" : "ball") "\", \"w" i % 7 "\", \"Ann\"]", "\"ner_tags\": [0, 0, 1]"
  }'
}

# commands: the commands of the README, each block or row of a table "I want to ..." in a file, block.1, block.2 ...
# Other tables have none that begin with a program; in a table "\|" is a pipe, and <br> ends a line.
commands() {
  awk '/^    / && !on { on = 1; n++ } !/^    / { on = 0 } on { print substr($0, 5) >("block." n) }
    /^\| .* \| `(ran-|find |head |echo |printf )/ {
      n++
      sub(/^\| .* \| `/, "")
      sub(/` \|$/, "")
      gsub(/`<br>`/, "\n")
      gsub(/\\\|/, "|")
      print >("block." n)
    }' "$root/README.md"
  [ "$(grep -c '^| .* | `ran-' "$root/README.md")" -ge 20 ]
  # What installs, needs several machines or a terminal, a makefile, and Python.
  grep -lE '^(make|sudo|cc|parallel|mpirun|model\.ran:|import) ?' block.* | xargs rm
}

@test "docs: labels of cross-validation were taken for soft ones, where the commands of the README follow each other [all]" {
  records 240 >train.jsonl
  records 40 | tee test.jsonl unlabelled.jsonl pool.jsonl all-documents.jsonl few-labelled.jsonl >documents.jsonl
  awk 'BEGIN { for (i = 1; i < 60; i++) printf "{\"text\": \"w%d a%d then b%d at c%d\"}\n", i % 7, i, 2 * i, 3 * i }' >>all-documents.jsonl # texts that are no documents
  jq -c '{tokens, tags: ["O", "O", "B-PER"]}' test.jsonl >tagged.jsonl
  jq -r '(.tokens[] | . + if . == "Ann" then " B-PER" else " O" end), ""' test.jsonl | tee train.conll >test.conll
  echo '{"features": {"ner_tags": {"feature": {"names": ["O", "B-PER"]}}}}' >dataset_info.json
  awk 'BEGIN { for (i = 0; i < 8; i++) { printf "w%d", i; for (k = 0; k < 100; k++) printf " %.1f", (i + k) % 5 - 2; print "" } }' >glove.6B.100d.txt
  for i in 1 2 3 4 5 6 7 8 9; do
    echo "a red ball, and $i" | tee -a new.en >>train.en
    echo "ein roter Ball und $i" >>train.de
  done
  awk 'BEGIN { print "title,body,label"
    for (i = 0; i < 20; i++) printf "%s,\"on %d, and on\",%s\n", i % 2 ? "ball" : "picture", i, i % 2 ? "sport" : "art" }' >table.csv
  printf '{"text": "It %s all day long."}\n' rained 'was sunny' 'stormed' >texts.jsonl
  mkdir -p documents/sport library/art library/sport inbox bin
  for i in 1 2 3 4 5 6; do
    echo "ball $i" | tee "documents/sport/$i.txt" "library/sport/$i.txt" >"inbox/$i.txt"
    echo "picture $i" >"library/art/$i.txt"
  done
  ln -s "$root/share" share
  ln -s "$root/tests/encoders/sentence-mean" all-MiniLM-L6-v2
  ln -s "$root/tests/encoders/bert" bert-base-cased
  ln -s "$root/tests/encoders/distilbert-classifier" distilbert-sst2
  ln -s "$root/tests/encoders/bert-tagger" bert-ner
  # As small as it gets, whatever the README says.
  cat >bin/ran-train <<'END'
#!/bin/sh
verb=$1
shift
case " $verb $* " in
*' info '* | *' diff '* | *' import '* | *' --base '* | *' --replay '* | *' --dry-run '*) small= ;;
*' --label-texts '*) small='--base english' ;;
*' --init '* | *' --vectors '*) small='--epochs 1' ;;
*' distil '*) small='--epochs 1 --dim 8' ;;
*) small='--epochs 1 --dim 8 --heads 1 --head-dim 8' ;;
esac
case " $* " in *' --tune '*) small="$small --tune 0.01" ;; esac
END
  # Models that differ have the status 1.
  echo '"'"$(command -v ran-train)"'" "$verb" "$@" $small || { code=$?; [ "$verb$code" = diff1 ] || exit $code; }' >>bin/ran-train
  chmod +x bin/ran-train
  PATH=$PWD/bin:$PATH
  ran-train classify -q -o topics.ran train.jsonl
  commands
  for block in $(ls block.* | sort -t . -k 2n); do
    bash -eo pipefail "$block" >said 2>&1 </dev/null || { cat "$block" said >&2; false; }
  done
  [ -e for-people.jsonl ] && [ -s labelled.jsonl ] && [ -s map.svg ] && [ -s heads.svg ] && [ -e part-03 ]
}
