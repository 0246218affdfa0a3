#!/usr/bin/env bats
# --frozen: document vectors of a pretrained encoder as features of the linear model; models by name.

bats_require_minimum_version 1.5.0
load train.bash

setup_file() {
  export PATH=$RAN_BIN:$PATH
  unset RAN_MODELS
  cd "$BATS_FILE_TMPDIR"
  documents 120 30 >train.jsonl
  documents 30 20 >test.jsonl
  mkdir models
  ran-train mlm -q --dim 8 --heads 2 --head-dim 4 --window 16 --cell prenorm --epochs 2 -o models/base.ran train.jsonl
  ran-train classify -q --init models/base.ran --frozen -o frozen.ran train.jsonl
}

setup() {
  mkdir "$BATS_TEST_TMPDIR/work"
  cd "$BATS_TEST_TMPDIR/work" || exit
  cp -R "$BATS_FILE_TMPDIR"/*.ran "$BATS_FILE_TMPDIR"/*.jsonl "$BATS_FILE_TMPDIR/models" .
  set -o pipefail
}

@test "frozen: the encoder is that of the base model, byte for byte, and vectors have weights of their own" {
  for tensor in embed.weight ran.0.attn.q.weight ran.1.ffn.down.weight ran.norm.weight; do
    same_output "bytes_of models/base.ran $tensor" "bytes_of frozen.ran $tensor"
  done
  header frozen.ran | jq -e '.["wide.dense"].shape == [16, 3] and (.["token.weight"].shape == .["embed.weight"].shape[:1]) and
    (has("classify.out.weight") or has("classify.pool.weight") | not)'
  header frozen.ran | jq -e '.__metadata__.config | fromjson.frozen == true'
  header frozen.ran | jq -e '.__metadata__.training | fromjson | .paths.dense > 0 and .paths.deep == 0 and .init.digest != null'
  ran-classify -m frozen.ran --eval test.jsonl | jq -e '.accuracy > 0.9'
  run -0 ran-train info frozen.ran
  [[ $output == *'document vectors of a frozen'*', document vectors '* ]]
}

@test "frozen: any number of threads gives the same bytes, and so does --replay" {
  for jobs in 1 3; do
    ran-train classify -q -j $jobs --init models/base.ran --frozen -o $jobs.ran train.jsonl
    cmp frozen.ran $jobs.ran
  done
  run -0 ran-train classify --replay frozen.ran --init models/base.ran train.jsonl
  [[ $output == *'is reproduced, byte for byte'* ]]
}

@test "frozen: a document's answer depends on it alone; evidence and attribution go through the encoder" {
  ran-classify -m frozen.ran --logits test.jsonl >batch.jsonl
  while read -r line; do
    ran-classify -m frozen.ran --logits <<<"$line"
  done <test.jsonl | cmp - batch.jsonl
  ran-classify -m frozen.ran --evidence 2 test.jsonl | jq -es 'all(.[]; .prediction.evidence | length > 0)'
}

@test "frozen: weights in 16 and 8 bits are those that were learned with; those of the base model stay [all]" {
  for type in f16 i8; do
    ran-train classify -q --init models/base.ran --frozen --weights $type -o $type.ran train.jsonl
    ran-classify -m $type.ran --eval test.jsonl | jq -e '.accuracy > 0.9'
    ran-train convert -q --weights $type -o base-$type.ran models/base.ran
    ran-train classify -q --init base-$type.ran --frozen -o kept.ran train.jsonl
    header kept.ran | jq -e --arg type $type '.["embed.weight"].dtype == ($type | ascii_upcase)'
    same_output "bytes_of base-$type.ran embed.weight" "bytes_of kept.ran embed.weight"
  done
}

@test "frozen: interrupted while the encoder reads, training resumes to the same model [all]" {
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    documents 120 200
  done >long.jsonl
  ran-train classify -q --init models/base.ran --frozen -o whole.ran long.jsonl
  ran-train classify -j 1 --progress always --init models/base.ran --frozen -o m.ran long.jsonl 2>said &
  wait_for 'linear model' said
  kill -INT $!
  status=0
  wait $! || status=$?
  [ $status -eq 130 ]
  [ -e m.ran.ckpt ]
  ran-train classify -q --resume --init models/base.ran --frozen -o m.ran long.jsonl
  cmp whole.ran m.ran
}

@test "frozen: a frozen classifier initialises another one, linear model included" {
  run -0 --separate-stderr ran-train classify --init frozen.ran -o next.ran train.jsonl
  [[ $stderr == *'features of the linear model, which is initialised from it, too'* ]]
  ran-classify -m next.ran --eval test.jsonl | jq -e '.accuracy > 0.9'
}

@test "frozen: vectors that say nothing are left out, with the encoder" {
  # Each text has a word that tells its label, and as many of all other words.
  awk 'BEGIN { for (i = 1; i <= 400; i++) printf "{\"text\":\"%s is all there is\",\"label\":\"%s\"}\n",
    i % 2 ? "one" : "two", i % 2 ? "odd" : "even" }' >plain.jsonl
  run -0 --separate-stderr ran-train classify --init models/base.ran --frozen -o plain.ran plain.jsonl
  if [[ $stderr == *'n-grams only'* ]]; then
    header plain.ran | jq -e 'has("embed.weight") or has("wide.dense") | not'
    ran-train classify --replay plain.ran --init models/base.ran plain.jsonl
  else
    header plain.ran | jq -e 'has("wide.dense")'
  fi
}

@test "frozen: what makes no sense is refused with a sentence" {
  refused 2 '--frozen needs an encoder: give --init MODEL' ran-train classify --frozen -o m.ran train.jsonl
  refused 2 'keeps the encoder of models/base.ran: leave out --encoder' \
    ran-train classify --frozen --init models/base.ran --encoder transformer -o m.ran train.jsonl
  refused 2 'serves the linear model: wide must be above 0' \
    ran-train classify --frozen --init models/base.ran --wide 0 -o m.ran train.jsonl
  refused 2 '--frozen is for ran-train classify' ran-train mlm --frozen --init models/base.ran -o m.ran train.jsonl
  ran-train classify -q --encoder none -o none.ran train.jsonl
  refused 2 'has no encoder' ran-train classify --frozen --init none.ran -o m.ran train.jsonl
  refused 2 'has a frozen encoder' "$RAN_BIN/tests/dump-gradients" classify -o g -m frozen.ran train.jsonl
}

@test "frozen: a file without one of the tensors, or with a wrong shape, is refused" {
  for tensor in token.weight wide.dense; do
    LC_ALL=C sed "s/\"$tensor\"/\"${tensor%?}_\"/" frozen.ran >bad.ran
    refused 3 "the model file has no tensor $tensor" ran-classify -m bad.ran test.jsonl
  done
  LC_ALL=C sed 's/\\"frozen\\":true/\\"pozen\\":true /' frozen.ran >bad.ran
  run -3 ran-classify -m bad.ran test.jsonl
  LC_ALL=C sed 's/"shape":\[16,3\]/"shape":[3,16]/' frozen.ran >bad.ran
  refused 3 'tensor wide.dense does not have the shape' ran-classify -m bad.ran test.jsonl
}

@test "frozen: --dry-run knows the linear model over vectors [all]" {
  run -0 ran-train classify --init models/base.ran --frozen --dry-run train.jsonl
  [[ $output == *'memory  '*', give or take a quarter'*'for the linear model'* && $output != *steps* ]]
}

@test "embed: any model with an encoder has vectors; halves of a text are near each other" {
  ran-classify -m models/base.ran --embed --only test.jsonl >vectors.jsonl
  jq -es 'length == 30 and all(.[]; (.prediction | keys == ["embedding", "embedding_model"]) and (.prediction.embedding | length) == 8)' vectors.jsonl
  # The order of words says nothing, their number little.
  printf '{"text":"rain word1 word2"}\n{"text":"word2 rain word1 rain word1 word2"}\n{"text":"snow word5 word6"}\n' |
    ran-classify -m models/base.ran --embed --only | jq -es '
      def dot($a; $b): [$a, $b] | transpose | map(.[0] * .[1]) | add;
      def cosine($a; $b): dot($a; $b) / (dot($a; $a) * dot($b; $b) | sqrt);
      map(.prediction.embedding) | cosine(.[0]; .[1]) > 0.999 and cosine(.[0]; .[2]) < 0.9'
  ran-classify -m frozen.ran --embed test.jsonl | jq -es 'all(.[]; .prediction.label and (.prediction.embedding | length) == 8)'
  refused 2 'no classifier: it can only --embed and --nearest: leave out --top' ran-classify -m models/base.ran --embed --top 2 test.jsonl
  refused 3 'this model predicts masked tokens: use ran-lm' ran-classify -m models/base.ran test.jsonl
}

@test "models: a name is looked up in RAN_MODELS, and an error says where" {
  mkdir empty
  export RAN_MODELS=$PWD/empty::$PWD/models
  ran-train classify -q --init base --frozen -o named.ran train.jsonl
  cmp named.ran frozen.ran
  ran-train info base | grep -q 'task  *mlm'
  ran-lm fill -m base.ran <<<'{"text":"word1 [MASK] word3"}' | jq -e '.lm'
  ran-tokenize encode -m base test.jsonl -o encoded.jsonl
  run -0 --separate-stderr ran-train convert -o half.ran --weights f16 base
  [[ $stderr == *'base has '*'half.ran '* ]]
  refused 3 "cannot open nobase: No such file or directory, and there is no model of that name in $PWD/empty, $PWD/models" \
    ran-classify -m nobase test.jsonl
  refused 3 'cannot open ./base: No such file or directory' ran-classify -m ./base test.jsonl
  # A file has a slash in its name.
  cp frozen.ran base
  ran-train info base | grep -q 'task  *mlm'
  ran-train info ./base | grep -q 'task  *classify'
}

@test "models: they are found beside an installed program" {
  mkdir -p root/bin root/share/ran
  cp "$(command -v ran-train)" root/bin
  refused 3 "no model of that name in $PWD/root/share/ran/models" root/bin/ran-train info base
  cp -R models root/share/ran
  root/bin/ran-train info base | grep -q 'task  *mlm'
}
