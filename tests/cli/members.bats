#!/usr/bin/env bats
# Members that options name, and that records do not have.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  export PATH=$RAN_BIN:$PATH
  cd "$BATS_TEST_TMPDIR" || exit
  set -o pipefail
  documents 40 | jq -c '{key: .id, subject: "mail", body: .text, topic: .label}' >mail.jsonl
  train=(ran-train classify -q --base none --encoder none)
}

train_mail() { "${train[@]}" --label-member topic --text-member subject,body -o m.ran mail.jsonl; }

@test "a misspelt member is an error, of a text of several members, too" {
  refused 3 'no record has a member "boddy" (--text-member); the first one has "key", "subject", "body", "topic"' \
    "${train[@]}" --label-member topic --text-member subject,boddy -o m.ran mail.jsonl
  [ ! -e m.ran ]
  refused 3 'no record has a member "boddy" (--text-member)' \
    "${train[@]}" --label-member topic --text-member subject --text-member boddy -o m.ran mail.jsonl
  jq -c '.label = .topic' mail.jsonl >both.jsonl
  refused 3 'no record has a member "topc" (--label-member)' \
    "${train[@]}" --label-member topc --text-member body -o m.ran both.jsonl
  refused 3 'no record has a member "ky" (--id-member)' \
    "${train[@]}" --label-member topic --text-member body --id-member ky -o m.ran mail.jsonl
  refused 3 'no record has a member "boddy" (--text-member)' \
    ran-tokenize learn --text-member subject,boddy mail.jsonl
  train_mail
}

@test "records that are written have been written by then, a file is not" {
  train_mail
  run -3 --separate-stderr ran-classify -m m.ran --text-member subject,boddy mail.jsonl
  [ "$(wc -l <<<"$output")" -eq 40 ]
  [[ $stderr == *'no record has a member "boddy" (--text-member)'* ]]
  refused 3 'no record has a member "boddy"' \
    ran-classify -m m.ran --text-member subject,boddy -o out.jsonl mail.jsonl
  [ ! -e out.jsonl ]
  refused 3 'no record has a member "topc" (--label-member)' \
    ran-classify -m m.ran --eval --text-member body --label-member topc <(jq -c '.label = .topic' mail.jsonl)
  # Records without labels are what a model is for, whatever a configuration says of them.
  run -0 --separate-stderr ran-classify -m m.ran --text-member subject,body --label-member gold mail.jsonl
  [ -z "$stderr" ]
}

@test "the member of one file is enough, and that of few records is named with its share" {
  train_mail
  jq -c 'del(.subject)' mail.jsonl >bare.jsonl
  run -0 --separate-stderr ran-classify -m m.ran --text-member subject,body bare.jsonl mail.jsonl
  [ -z "$stderr" ]
  jq -c 'if .key > 3 then del(.subject) else . end' mail.jsonl >few.jsonl
  run -0 --separate-stderr ran-classify -m m.ran --text-member subject,body few.jsonl
  [[ $stderr == *'warning: only 3 of 40 records have a member "subject" (--text-member): 7.5 %'* ]]
  for threads in 1 3; do
    ran-classify -j $threads -m m.ran --text-member subject,body <(cat few.jsonl few.jsonl few.jsonl) 2>said.$threads >/dev/null
  done
  grep -q 'only 9 of 120 records' said.1
  cmp said.1 said.3
  # A part of --shard may be one without it.
  run -0 --separate-stderr ran-classify -m m.ran --shard 2/2 --text-member subject,body few.jsonl
  [[ $stderr == *'warning: no record has a member "subject"'* ]]
  : >nothing.jsonl
  run -0 --separate-stderr ran-classify -m m.ran --text-member subject,body nothing.jsonl
  [ -z "$stderr" ]
}

@test "members of groups, soft labels and those to leave out" {
  jq -c 'if .key < 3 then .author = "Ann" else . end' mail.jsonl >few.jsonl
  run -0 --separate-stderr ran-train classify --base none --encoder none --dev-group author --label-member topic \
    --text-member body -o m.ran few.jsonl
  [[ $stderr == *'warning: only 2 of 40 records have a member "author" (--dev-group): 5 %'* ]]
  run -0 --separate-stderr ran-classify -m m.ran --text-member body --drop boddy mail.jsonl
  [[ $stderr == *'warning: no record has a member "boddy" (--drop)'* ]]
  run -0 --separate-stderr ran-classify -m m.ran --text-member body --drop subject mail.jsonl
  [ -z "$stderr" ]
}

@test "a member that is there in each record but without a value is no misspelling" {
  jq -c '.subject = null' mail.jsonl >null.jsonl
  run -0 --separate-stderr "${train[@]}" --label-member topic --text-member subject,body -o m.ran null.jsonl
  [ -z "$stderr" ]
}
