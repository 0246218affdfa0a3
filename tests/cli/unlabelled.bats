#!/usr/bin/env bats
# ran-train classify --unlabelled: self-training, judged by folds.

bats_require_minimum_version 1.5.0
load train.bash

setup_file() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  load train.bash
  words 60 0 | jq -c 'if .id % 10 < 2 then .label = ({money: "sport", sport: "money"}[.label]) else . end' >train.jsonl
  words 300 60 | jq -c '{text}' >texts.jsonl
  words 40 400 >test.jsonl
  RAN_ISA=portable ran-train classify -q --base none --unlabelled texts.jsonl -o kept.ran train.jsonl
}

# words N FROM: records from number FROM + 1 on, each with words of its label: sport or money.
words() {
  awk -v n="$1" -v from="$2" 'BEGIN {
    split("ball goal team race coach bank loan bond fund share", word)
    for (i = from + 1; i <= from + n; i++) {
      printf "{\"id\": %d, \"text\": \"report %d", i, i
      for (w = 0; w < 6; w++)
        printf " %s the", word[(i % 2) * 5 + (i * 7 + w * w * 3 + int(i / 5)) % 5 + 1]
      printf " end %d\", \"label\": \"%s\"}\n", (i * 31) % 97, i % 2 ? "money" : "sport"
    }
  }'
}

setup() {
  export RAN_ISA=portable
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_FILE_TMPDIR"
  out=$BATS_TEST_TMPDIR
}

self_train() {
  ran-train classify --base none -o "$out/m.ran" "$@"
}

# says SENTENCE ARGUMENT...: trains, and says the sentence.
says() {
  local sentence=$1
  shift
  run -0 --separate-stderr self_train "$@"
  [[ $stderr == *"$sentence"* ]] || { echo "said: $stderr"; false; }
}

@test "unlabelled: what was tried is said, is in the model, in info and on the page" {
  says 'with texts: ' --unlabelled texts.jsonl --report "$out/page.html" train.jsonl
  [[ $stderr == *'self-training, documents alone: '*' of 60 right out of fold, log loss '* ]]
  [[ $stderr == *'lowest recall'* ]]
  cmp "$out/m.ran" kept.ran
  ran-train info --format json kept.ran | jq -e '.training
    | .unlabelled.documents == 300 and .unlabelled.used == 300
    and (.unlabelled.digest | length == 64)
    and .train.documents == 60 and .learned_from == 60
    and (.self_training | .folds == 5 and .documents == 60 and .texts == 300 and .kept > 0
      and (.trials | map(.rounds) == [0, 1, 2])
      and (.trials | all(.right <= 60 and .loss >= 0 and .lowest_recall <= 1))
      and (.shares | .money == 0.5 and .sport == 0.5)
      and (.shares_of_texts | .money + .sport | . > 0.999 and . < 1.001))'
  ran-train info kept.ran | grep -F 'self-training'
  [[ $stderr == *'refitting the linear model on all 60 documents and 300 texts'* ]]
  [[ $stderr == *'60 documents and 300 texts in '* ]]
  grep -F 'self-training' "$out/page.html"
  ran-classify -m kept.ran --eval test.jsonl | jq -e '.accuracy > 0.8'
}

@test "unlabelled: threads, order of files, resume and replay give the same bytes" {
  head -n 100 texts.jsonl >"$out/a.jsonl"
  tail -n +101 texts.jsonl >"$out/b.jsonl"
  self_train -q -j 3 --unlabelled "$out/a.jsonl" --unlabelled "$out/b.jsonl" train.jsonl
  cmp "$out/m.ran" kept.ran
  self_train -q --resume --unlabelled texts.jsonl train.jsonl
  cmp "$out/m.ran" kept.ran
  ran-train classify -q --replay kept.ran --unlabelled texts.jsonl train.jsonl
  refused 2 'kept.ran was trained with --unlabelled: give that file again' \
    ran-train classify --replay kept.ran train.jsonl
  self_train -q train.jsonl
  refused 2 'was trained without --unlabelled: leave it out' \
    ran-train classify --replay "$out/m.ran" --unlabelled texts.jsonl train.jsonl
  refused 4 'the texts of --unlabelled are not those of kept.ran: 100 documents with' \
    ran-train classify --replay kept.ran --unlabelled "$out/a.jsonl" train.jsonl
  [[ $stderr != *'right out of fold'* ]]
  refused 4 'the training data are not those of kept.ran: 59 documents with' \
    ran-train classify --replay kept.ran --unlabelled texts.jsonl <(tail -n +2 train.jsonl)
}

# topics N FROM K: records with K words of their topic, which has 400; documents share few of them.
topics() {
  awk -v n="$1" -v from="$2" -v k="$3" '
    function random() {
      state = state * 16807 % 2147483647
      return state / 2147483647
    }
    BEGIN {
      state = from * 69621 + 17
      for (i = 0; i < 9; i++)
        random()
      split("ba de fi go lu ma ne pi ro su", s)
      for (i = from + 1; i <= from + n; i++) {
        printf "{\"id\": %d, \"text\": \"", i
        for (w = 0; w < k; w++) {
          x = (2 * int(random() * 400) + i % 2) * 7919 % 10007
          printf "%s%s%s%s ", s[x % 10 + 1], s[int(x / 10) % 10 + 1], s[int(x / 100) % 10 + 1], s[int(x / 1000) % 10 + 1]
        }
        printf "end\", \"label\": \"%s\"}\n", i % 2 ? "sport" : "money"
      }
    }'
}

# Documents of few words say nothing of others; texts say which words go together.
@test "unlabelled: in-domain vectors are kept where folds show a gain, and replayed" {
  topics 40 0 4 >"$out/train.jsonl"
  topics 6000 100 10 | jq -c '{text}' >"$out/texts.jsonl"
  topics 200 9000 6 >"$out/test.jsonl"
  says 'documents alone, n-grams and in-domain vectors: ' --unlabelled "$out/texts.jsonl" "$out/train.jsonl"
  ran-train info --format json "$out/m.ran" | jq -e '.training | .init == null and .vectors == null
    and .dev.documents == 4 and .learned_from == 40
    and (.self_training | .trials[.kept].in_domain and .trials[1].rounds == 0 and .trials[1].in_domain
      and .trials[1].right > .trials[0].right and .trials[.kept].loss < .trials[0].loss)'
  ran-classify -m "$out/m.ran" --eval "$out/test.jsonl" | jq -e '.accuracy > 0.9'
  ran-train classify -q --base none -j 3 -o "$out/again.ran" --unlabelled "$out/texts.jsonl" "$out/train.jsonl"
  cmp "$out/m.ran" "$out/again.ran"
  ran-train classify -q --replay "$out/m.ran" --unlabelled "$out/texts.jsonl" "$out/train.jsonl"
}

# Texts of random words say nothing, and n-grams of the documents all.
@test "unlabelled: in-domain vectors that do not gain are refused" {
  awk 'BEGIN {
    for (i = 1; i <= 60; i++) {
      printf "{\"text\": \"%s", i % 2 ? "ball goal" : "bank loan"
      for (w = 0; w < 6; w++) printf " w%d", (i * 37 + w * w * 53) % 400
      printf "\", \"label\": \"%s\"}\n", i % 2 ? "sport" : "money"
    }
  }' >"$out/train.jsonl"
  awk 'BEGIN {
    x = 7
    for (i = 1; i <= 5000; i++) {
      printf "{\"text\": \"text"
      for (w = 0; w < 12; w++) {
        x = x * 16807 % 2147483647
        printf " w%d", x % 400
      }
      print "\"}"
    }
  }' >"$out/texts.jsonl"
  says 'n-grams and in-domain vectors: ' --unlabelled "$out/texts.jsonl" "$out/train.jsonl"
  ran-train info --format json "$out/m.ran" |
    jq -e '.training.self_training | .trials[0].right == 60 and (.trials[.kept].in_domain | not)'
}

@test "unlabelled: too little text for in-domain vectors is said" {
  says 'no in-domain vectors: documents and texts have ' --unlabelled texts.jsonl train.jsonl
  [[ $stderr == *'tokens, and 50000 are needed'* ]]
  ran-train info --format json "$out/m.ran" |
    jq -e '.training.self_training | .tokens < 50000 and (.trials | all(.in_domain | not))'
}

@test "unlabelled: documents and validation documents among the texts are left out" {
  head -n 50 test.jsonl >"$out/dev.jsonl"
  cat train.jsonl "$out/dev.jsonl" texts.jsonl texts.jsonl >"$out/all.jsonl"
  says 'have a label, which is not used' --dev "$out/dev.jsonl" --unlabelled "$out/all.jsonl" train.jsonl
  [[ $stderr == *'40 texts of --unlabelled are documents of --dev'* ]]
  ran-train info --format json "$out/m.ran" |
    jq -e '.training.unlabelled | .documents == 700 and .used == 300'
}

@test "unlabelled: texts that say nothing new are refused" {
  refused 3 'all texts of --unlabelled are documents with labels' self_train --unlabelled train.jsonl train.jsonl
  refused 3 'all texts of --unlabelled are documents of --dev' \
    self_train --dev test.jsonl --unlabelled test.jsonl train.jsonl
  : >"$out/none.jsonl"
  refused 3 'there is no text in the files of --unlabelled' self_train --unlabelled "$out/none.jsonl" train.jsonl
  for _ in 1 2 3 4; do head -n 1 texts.jsonl; done >"$out/same.jsonl"
  refused 3 'of 4 texts of --unlabelled 0 are documents with labels, or nearly, 0 documents of --dev, and 3 repeat others' \
    self_train --unlabelled "$out/same.jsonl" train.jsonl
  [ ! -e "$out/m.ran" ]
}

@test "unlabelled: odd texts get a warning" {
  head -n 20 texts.jsonl >"$out/few.jsonl"
  says 'only 20 texts without labels for 60 documents' --unlabelled "$out/few.jsonl" train.jsonl
  sed 's/\(ball\|goal\|team\|race\|coach\|bank\|loan\|bond\|fund\|share\|report\|the\|end\) /wort\1ung /g' \
    texts.jsonl >"$out/other.jsonl"
  says 'are they in another language?' --unlabelled "$out/other.jsonl" train.jsonl
  # Nine of ten texts are about money.
  words 3000 1000 | jq -c 'select(.id % 2 == 1 or .id % 20 == 0) | {text}' | head -n 300 >"$out/money.jsonl"
  says 'labels have other shares in the texts of --unlabelled than in the documents' \
    --unlabelled "$out/money.jsonl" train.jsonl
}

@test "unlabelled: bad lines are named, and can be left out" {
  { cat texts.jsonl; echo '{"text": 3}'; } >"$out/bad.jsonl"
  refused 3 '1 line of --unlabelled cannot be used' self_train --unlabelled "$out/bad.jsonl" train.jsonl
  run -1 --separate-stderr self_train -q --on-error skip --unlabelled "$out/bad.jsonl" train.jsonl
  [ -e "$out/m.ran" ]
}

@test "unlabelled: what does not go with it is refused" {
  refused 2 '--unlabelled trains linear models' self_train --encoder ran --unlabelled texts.jsonl train.jsonl
  refused 2 '--pretrain is for an encoder' self_train --pretrain texts.jsonl --unlabelled texts.jsonl train.jsonl
  refused 2 'is for ran-train classify: taggers learn more from --init with a pretrained encoder' \
    ran-train tag -o "$out/t.ran" --unlabelled texts.jsonl train.jsonl
  refused 2 '--unlabelled is for documents with one label each' \
    self_train --soft-label p --unlabelled texts.jsonl train.jsonl
  jq -c '.labels = [.label] | del(.label)' train.jsonl >"$out/several.jsonl"
  refused 3 '--unlabelled is for documents with one label each' \
    self_train --unlabelled texts.jsonl "$out/several.jsonl"
  jq -c '.label = "one"' train.jsonl >"$out/one.jsonl"
  refused 3 'training needs at least two' self_train --unlabelled texts.jsonl "$out/one.jsonl"
}

@test "unlabelled: an interrupted run of folds leaves no model [all]" {
  words 6000 0 >"$out/many.jsonl"
  words 60000 8000 | jq -c '{text}' >"$out/more.jsonl"
  ran-train classify --base none --progress always -o "$out/m.ran" --unlabelled "$out/more.jsonl" \
    "$out/many.jsonl" 2>"$out/said" &
  pid=$!
  wait_for 'self-training, fold 1' "$out/said"
  kill -INT $pid
  status=0
  wait $pid || status=$?
  [ $status = 130 ]
  grep -F 'interrupted: nothing of the folds is kept' "$out/said"
  [ ! -e "$out/m.ran" ]
}

@test "unlabelled: what it does not go with is said" {
  refused 2 'leave out --wide 0' self_train --unlabelled texts.jsonl --wide 0 train.jsonl
  refused 2 'judges by folds of its own' self_train --unlabelled texts.jsonl --minutes 1 train.jsonl
  refused 2 'is of a training that writes a model' self_train --unlabelled texts.jsonl --dry-run train.jsonl
}

@test "unlabelled: probabilities of --soft-label that do not sum to 1 are refused" {
  echo '{"text": "a b", "p": {"x": 0.5, "y": 0.2}}' >"$out/p.jsonl"
  refused 3 'add up to 0.7, not to 1' self_train --soft-label p "$out/p.jsonl"
}

@test "unlabelled: a pretrained encoder is the teacher; a pupil that is kept gains" {
  # Words that its vocabulary has, in an order that says nothing: texts bring chance alone.
  awk 'BEGIN {
    split("rain sun snow", sign); split("wet warm white", label); srand(3)
    split("the way north south east west sea hills and of to in on all so", word)
    for (i = 1; i <= 400; i++) {
      text = sign[i % 3 + 1]
      for (w = 0; w < 18; w++) text = text " " word[(i * (w + 7) * 31 + w * w * 17 + int(i / 7)) % 15 + 1]
      printf "{\"id\":%d,\"text\":\"%s\",\"label\":\"%s\"}\n", i, text, label[i % 3 + 1]
    }
  }' >all.jsonl
  head -n 90 all.jsonl >"$out/train.jsonl"
  tail -n 310 all.jsonl | jq -c '{text}' >"$out/texts.jsonl"
  encoder=$BATS_TEST_DIRNAME/../encoders/sentence-mean
  train=(ran-train classify -q --init "$encoder" --frozen --unlabelled "$out/texts.jsonl")
  "${train[@]}" -o "$out/m.ran" "$out/train.jsonl"
  ran-train info --format json "$out/m.ran" | jq -e '.training.self_training
    | .trials[0].vectors and (.trials[0] as $teacher | .trials[.kept] as $kept
      | .kept == 0 or $kept.loss < $teacher.loss or $kept.right > $teacher.right)'
  ran-train classify --replay "$out/m.ran" --init "$encoder" --unlabelled "$out/texts.jsonl" "$out/train.jsonl"
}
