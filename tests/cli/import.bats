#!/usr/bin/env bats
# Pretrained encoders in Hugging Face's form: ran-train import, and folders in the place of models. The folders of
# tests/encoders come with the numbers of their libraries; tests/unit/test-hf-folder.c compares all of these.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  encoders=$root/tests/encoders
  PATH=$RAN_BIN:$PATH
  cd "$BATS_TEST_TMPDIR"
  set -o pipefail
}

# texts FOLDER MEMBER: records with the texts of its expected.jsonl that have that member and a word.
texts() {
  jq -c --arg member "$2" 'select(has($member) and .text != "" and (has("prompt") | not)) |
    {id: .name, text, want: .[$member]}' "$encoders/$1/expected.jsonl"
}

# near MEMBER: whether that of each record equals its `want`, to 1e-4 of the largest number.
near() {
  jq -se "map(.want as \$want | $1 | . as \$got | (\$want | map(fabs) | max) as \$most | (\$got | length) == (\$want | length) and
    ([\$got, \$want] | transpose | all((.[0] - .[1] | fabs) < 1e-4 * \$most))) | length > 3 and all"
}

@test "import: a sentence model gives the vectors of its library, from the model and from the folder" {
  run -0 --separate-stderr ran-train import -o mean.ran "$encoders/sentence-mean"
  [ -z "$output" ]
  [[ $stderr == *'mean.ran: sentence-mean: bert BertModel, 2 layers, width 16, 40 tokens a window, pooling mean, no licence named'* ]]
  texts sentence-mean vector >texts.jsonl
  ran-classify --embed -m mean.ran texts.jsonl >model.jsonl
  ran-classify --embed -m "$encoders/sentence-mean" texts.jsonl | cmp - model.jsonl
  near .prediction.embedding <model.jsonl
}

@test "import: a classifier gives the logits of its library, under its labels" {
  ran-train import -q -o c.ran "$encoders/roberta-classifier"
  texts roberta-classifier logits | ran-classify -m c.ran --logits --probs >out.jsonl
  near '.prediction.logits' <out.jsonl
  [ "$(head -n 1 out.jsonl | jq -c '.prediction.probs | keys')" = '["sport","trade","weather"]' ]
  cp -R "$encoders/bert-classifier" several
  jq '.problem_type = "multi_label_classification"' "$encoders/bert-classifier/config.json" >several/config.json
  texts bert-classifier logits | ran-classify -m several --logits | near '.prediction.logits'
}

@test "import: info says what the model is; --weights makes it smaller" {
  ran-train import -q -o f32.ran "$encoders/sentence-prompts"
  ran-train info --format json f32.ran >f32.json
  jq -e '.file == "f32.ran" and .task == "embed" and .pretrained.model_type == "xlm-roberta" and
    .pretrained.pooling == "mean" and .prompts.query == "query: "' f32.json
  vector() { ran-classify --embed -m "$1" <<<'{"text":"The quick brown fox jumps over the lazy dog."}' | jq -c '.prediction.embedding'; }
  vector f32.ran >f32.json
  for type in f16 i8; do
    ran-train import -q --weights $type -o $type.ran "$encoders/sentence-prompts"
    [ "$(header $type.ran | jq -r '."bert.0.ffn.up.weight".dtype')" = "${type^^}" ]
    # Nearly the same direction.
    vector $type.ran | jq -e --slurpfile other f32.json \
      '[., $other[0]] | transpose | all((.[0] - .[1] | fabs) < 0.02)'
  done
  # What is known about it stays.
  ran-train convert -q --weights i8 -o converted.ran f32.ran
  [ "$(header converted.ran | jq -c '.__metadata__ | .pretrained, .prompts')" = \
    "$(header f32.ran | jq -c '.__metadata__ | .pretrained, .prompts')" ]
}

@test "import: the same folder gives the same bytes, by whatever path" {
  cp -R "$encoders/sentence-max" distilbert
  ran-train import -q -o a.ran distilbert
  (cd distilbert && ran-train import -q -o ../b.ran .)
  cmp a.ran b.ran
  ran-train info distilbert | grep -q 'pretrained *distilbert: distilbert DistilBertModel'
  same_output "ran-train info --format json distilbert | jq .digest" "ran-train info --format json a.ran | jq .digest"
}

@test "import: without modules.json the pooling is assumed, and a head of another task left out" {
  cp -R "$encoders/bert" folder
  sed -i 's/BertModel/BertForQuestionAnswering/' folder/config.json
  run -0 --separate-stderr ran-train import -o b.ran folder
  [[ $stderr == *'pooling mean (assumed: there is no modules.json), without its head'* ]]
}

@test "import: a bad folder leaves the output as it was" {
  cp -R "$encoders/bert" folder
  sed -i 's/"bert"/"t5"/' folder/config.json
  echo old >out.ran
  refused 3 'folder: config.json: model_type "t5" is not known' ran-train import -o out.ran folder
  [ "$(cat out.ran)" = old ]
  refused 3 'folder: config.json: model_type "t5" is not known' ran-classify -m folder texts.jsonl
  rm -r folder/model.safetensors
  cp "$encoders/bert/config.json" folder
  touch folder/pytorch_model.bin
  refused 3 "torch.load(f,'cpu',weights_only=True)" ran-train import -o out.ran folder
  mkdir empty
  refused 3 'empty: it has no config.json' ran-classify -m empty texts.jsonl
}

@test "import: options that are wrong" {
  refused 2 'no output file' ran-train import "$encoders/bert"
  refused 2 'give one folder' ran-train import -o x.ran
  refused 2 'give one folder' ran-train import -o x.ran "$encoders/bert" "$encoders/roberta-classifier"
  refused 2 'weights must be f32, f16 or i8' ran-train import --weights u4 -o x.ran "$encoders/bert"
  echo >file
  refused 3 'file is a file: give the folder' ran-train import -o x.ran file
  refused 3 'nowhere' ran-train import -o x.ran nowhere
  refused 3 'nowhere' ran-train import -o nowhere/x.ran "$encoders/bert"
  [ ! -e x.ran ]
}

@test "import: no file of the folder is replaced but a model" {
  cp -R "$encoders/bert" folder
  refused 2 'folder/model.safetensors is a file of the folder that is read' \
    ran-train import -o folder/model.safetensors folder
  ln -s folder/config.json link
  refused 2 'link is a file of the folder that is read' ran-train import -o link folder/
  diff -r folder "$encoders/bert"
  ran-train import -q -o folder/bert.ran folder
  ran-train import -q -o folder/bert.ran folder
  ran-train info folder/bert.ran | grep -q 'pretrained *folder: bert'
}

@test "import: a folder that never ends is not waited for" {
  cp -R "$encoders/bert" folder
  rm folder/config.json
  mkfifo folder/config.json
  refused 3 'config.json is not a regular file' timeout 120 ran-train import -o x.ran folder
}

@test "import: files of other libraries are named, and their folder asked for" {
  printf 'GGUF\3\0\0\0' >m.gguf
  refused 3 'm.gguf is a model in GGUF, no model: a model is a file that ran-train wrote (-o MODEL), or the folder' \
    ran-classify -m m.gguf texts.jsonl
  printf '\211HDF\r\n\032\n' >m.h5
  refused 3 'm.h5 is an HDF5 file, no model' ran-classify -m m.h5 texts.jsonl
  refused 3 'of a pretrained encoder, give the folder that it is in' \
    ran-classify -m "$encoders/bert/model.safetensors" texts.jsonl
}

@test "import --prompt: the vectors of texts with that prompt" {
  ran-train import -q --prompt query -o query.ran "$encoders/sentence-prompts"
  jq -c 'select(.prompt == "query") | {id: .name, text, want: .vector}' "$encoders/sentence-prompts/expected.jsonl" >asked.jsonl
  ran-classify --embed -m query.ran asked.jsonl |
    jq -se '.[0] | .want as $want | .prediction.embedding as $got | ($want | map(fabs) | max) as $most |
      [$got, $want] | transpose | all((.[0] - .[1] | fabs) < 1e-4 * $most)'
  [ "$(ran-train info --format json query.ran | jq -r '.pretrained | .prompt + .prompt_name')" = "query: query" ]
  refused 2 'no prompt has the name "querry": passage, query' ran-train import --prompt querry -o no.ran "$encoders/sentence-prompts"
  run -0 --separate-stderr ran-train import -o none.ran "$encoders/sentence-prompts"
  [[ $stderr == *'made for prompts, read without (--prompt)'* ]]
}

@test "report 111: truncate_dim cuts the vectors of documents, behind normalisation, and a head reads all" {
  cp -R "$encoders/sentence-mean" cut
  text='{"text":"the old river"}'
  ran-classify --embed -m cut <<<"$text" | jq -c '.prediction.embedding' >all
  jq -c '.truncate_dim = 4' "$encoders/sentence-mean/config_sentence_transformers.json" >cut/config_sentence_transformers.json ||
    echo '{"truncate_dim":4}' >cut/config_sentence_transformers.json
  ran-classify --embed -m cut <<<"$text" | jq -c '.prediction.embedding' >first
  [ "$(jq length first)" -eq 4 ]
  jq -e --slurpfile all all '. == $all[0][:4]' first
  ran-train import -q -o cut.ran cut
  ran-classify --embed -m cut.ran <<<"$text" | jq -c '.prediction.embedding' | cmp - first
  ran-train info --format json cut.ran | jq -e '.config.vector_dim == 4'
  for i in {1..20}; do printf '{"text":"rain %d","label":"wet"}\n{"text":"sun %d","label":"dry"}\n' $i $i; done >train.jsonl
  ran-train classify -q -j 1 --init cut --frozen -o frozen.ran train.jsonl
  ran-train classify -q -j 1 --init cut --epochs 1 --wide 0 -o tuned.ran train.jsonl
  for m in frozen tuned; do ran-classify -m $m.ran train.jsonl | jq -se 'length == 40'; done
  # more than there is, and nonsense
  echo '{"truncate_dim":999}' >cut/config_sentence_transformers.json
  ran-classify --embed -m cut <<<"$text" | jq -c '.prediction.embedding' | cmp - all
  echo '{"truncate_dim":0}' >cut/config_sentence_transformers.json
  run -3 ran-classify --embed -m cut <<<"$text"
  [[ $output == *'config_sentence_transformers.json: "truncate_dim" must be a whole number from 1'* ]]
}

@test "report 122: SetFit's model_head.pkl is left out, and it is said how to train one" {
  cp -R "$encoders/sentence-mean" setfit
  echo p >setfit/model_head.pkl
  said='setfit: model_head.pkl, its classifier, is a pickle, which is a program and is not run: train the labels again, with ran-train classify --init FOLDER --frozen'
  run -3 --separate-stderr ran-classify -m setfit <<<'{"text":"the river"}'
  [ "${stderr_lines[0]}" = "ran-classify: $said" ]
  run -0 --separate-stderr ran-train import -o x.ran setfit
  [[ $stderr == *"$said"* ]]
  run -0 --separate-stderr ran-classify --embed -m setfit <<<'{"text":"the river"}'
  [ "$stderr" = "ran-classify: $said" ]
  run -0 --separate-stderr ran-classify --embed -m x.ran <<<'{"text":"the river"}'
  [ -z "$stderr" ]
}

@test "report 125: code of the folder's own is named, or refused" {
  cp -R "$encoders/sentence-mean" own
  jq '.auto_map = {"AutoModel": "modeling_mine.MyBertModel"} | .architectures = ["MyBertModel"]' \
    "$encoders/sentence-mean/config.json" >own/config.json
  run -0 --separate-stderr ran-classify --embed --only -m own <<<'{"text":"the old river"}'
  [ "$stderr" = 'ran-classify: own: its own code (auto_map: modeling_mine.MyBertModel) is not run: the weights are read as those of model_type bert' ]
  sed 's/"sentence_transformers[^"]*Transformer"/"custom_st.Transformer"/' "$encoders/sentence-mean/modules.json" >own/modules.json
  run -3 --separate-stderr ran-classify --embed --only -m own <<<'{"text":"the old river"}'
  [[ $stderr == *'own: modules.json: the module "custom_st.Transformer" is code of the folder'"'"'s own, which is not run' ]]
}

@test "report 126: vectors of tokens given as a model: what they are good for" {
  mkdir static
  echo '[{"idx":0,"name":"0","path":".","type":"sentence_transformers.models.StaticEmbedding"}]' >static/modules.json
  run -3 --separate-stderr ran-classify --embed -m static <<<'{"text":"the river"}'
  [[ $stderr == *'static: modules.json: these are vectors of tokens, no encoder, and no vectors of documents can be had of them: train with them, ran-train classify --vectors FOLDER' ]]
  rm static/modules.json
  echo '{"model_type":"model2vec"}' >static/config.json
  run -3 --separate-stderr ran-classify --embed -m static <<<'{"text":"the river"}'
  [[ $stderr == *'config.json: model_type "model2vec": these are vectors of tokens'*'ran-train classify --vectors FOLDER' ]]
}
