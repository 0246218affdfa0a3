/* Pretrained encoders in Hugging Face's form: folders that contradict themselves, lack something or
 * are damaged are refused, and the sentence says why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hf-copy.h"
#include "ran.h"
#include "test.h"

/* Opening and importing a folder say the same, and nothing is written. Frees the path. */
static void refuses(char *folder, const char *says)
{
        char *output = test_path("refused.ran");
        struct ran_error err = {0}, other = {0};
        struct ran_model *m = ran_model_open(folder, false, &err);

        if (!CHECK(m == NULL) || !CHECK(strstr(err.text, says) != NULL))
                printf("  is     %s\n  should %s\n", err.text, says);
        CHECK(strncmp(err.text, folder, strlen(folder)) == 0);
        CHECK(ran_hf_folder_write(folder, NULL, RAN_STORAGE_F32, output, &other) != RAN_OK);
        CHECK_STR(other.text, err.text);
        CHECK(access(output, F_OK) != 0);
        ran_model_free(m);
        free(output);
        free(folder);
}

/* A file of a copy of the folder, in which `what` becomes `with`, and what is said then. */
struct spoiled {
        const char *folder, *file, *what, *with, *says;
};

static void refuse_all(const struct spoiled *spoiled, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                char *folder = hf_copy(spoiled[i].folder);

                hf_replace(folder, spoiled[i].file, spoiled[i].what, spoiled[i].with);
                refuses(folder, spoiled[i].says);
        }
}

static const struct spoiled encoders[] = {
        {"bert", "config.json", "\"bert\"", "\"t5\"",
         "model_type \"t5\" is not known: bert, distilbert, roberta, camembert, "
         "xlm-roberta, mpnet and modernbert can be read"},
        {"bert", "config.json", "\"bert\"", "\"deberta-v2\"", "is not known"},
        {"bert", "config.json", "\"bert\"", "\"gpt2\"", "is not known"},
        {"bert", "config.json", "\"bert\"", "\"qwen2\"", "is not known"},
        {"bert", "config.json", "\"bert\"", "\"model2vec\"", "--vectors"},
        {"bert", "config.json", "\"model_type\"", "\"kind\"", "it has no \"model_type\""},
        {"bert", "config.json", "\"model_type\": \"bert\"", "\"model_type\": 5",
         "\"model_type\" must be a string"},
        {"bert", "config.json", "\"bert\"", "\"distilbert\"", "it has no \"dim\""},
        {"bert", "config.json", "\"bert\"", "\"mpnet\"", "there is no tensor"},
        {"bert", "config.json", "\"is_decoder\": false", "\"is_decoder\": true",
         "this is a decoder"},
        {"bert", "config.json", "\"pad_token_id\": 0",
         "\"position_embedding_type\": \"relative_key\"", "relative_key"},
        {"bert", "config.json", "\"pad_token_id\": 0", "\"quantization_config\": {}",
         "its weights are quantised"},
        {"bert", "config.json", "\"hidden_size\": 32", "\"hidden_size\": 64",
         "has the shape [140, 32], but config.json asks for [140, 64]"},
        {"bert", "config.json", "\"hidden_size\": 32", "\"hidden_size\": 33",
         "is not a multiple of"},
        {"bert", "config.json", "\"hidden_size\": 32", "\"hidden_size\": 1e300",
         "must be a whole number from 1 to 65536"},
        {"bert", "config.json", "\"hidden_size\": 32", "\"hidden_size\": -32",
         "must be a whole number"},
        {"bert", "config.json", "\"hidden_size\": 32", "\"hidden_size\": \"32\"",
         "must be a whole number"},
        {"bert", "config.json", "\"hidden_size\": 32", "\"hidden_size\": null",
         "it has no \"hidden_size\""},
        {"bert", "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3",
         "there is no tensor encoder.layer.2.attention.output.LayerNorm.weight, which"},
        {"bert", "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1",
         "tensor encoder.layer.1.attention.output.LayerNorm.bias is not part"},
        {"bert", "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1000000",
         "\"num_hidden_layers\" must be"},
        {"bert", "config.json", "\"num_attention_heads\": 4", "\"num_attention_heads\": 5",
         "is not a multiple of"},
        {"bert", "config.json", "\"intermediate_size\": 64", "\"intermediate_size\": 65",
         "asks for [65, 32]"},
        {"bert", "config.json", "\"max_position_embeddings\": 64",
         "\"max_position_embeddings\": 128", "asks for [128, 32]"},
        {"roberta-classifier", "config.json", "\"max_position_embeddings\": 66",
         "\"max_position_embeddings\": 4", "leaves no window"},
        {"bert", "config.json", "\"vocab_size\": 140", "\"vocab_size\": 139", "asks for [139, 32]"},
        {"bert", "config.json", "\"type_vocab_size\": 2", "\"type_vocab_size\": 3",
         "asks for [3, 32]"},
        {"bert", "config.json", "\"gelu\"", "\"mish\"",
         "the activation \"mish\" is not known: gelu"},
        {"bert", "config.json", "1e-12", "-1", "\"layer_norm_eps\" must be a number"},
        {"bert", "config.json", "BertModel", "BertForDancing",
         "the architecture \"BertForDancing\" is not known"},
        {"bert", "config.json", "BertModel", "BertLMHeadModel2", "is not known"},
        {"bert", "config.json", "{", "[{", "it is not JSON"},
        {"bert", "config.json", "BertModel", "Bert\\u0000Model", "U+0000"},
        {"mpnet", "config.json", "\"relative_attention_num_buckets\": 32",
         "\"relative_attention_num_buckets\": 16", "asks for [16, 4]"},
        {"modernbert", "config.json", "\"sliding_attention\"", "\"strange_attention\"",
         "\"layer_types\" holds something else"},
        {"modernbert", "config.json", "\"full_attention\",", "\"sliding_attention\",",
         "\"layer_types\" has no pattern"},
        {"modernbert", "config.json", "\"default\"", "\"yarn\"", "rope_type \"yarn\""},
        {"modernbert", "config.json", "\"num_attention_heads\": 4", "\"num_attention_heads\": 8",
         "rotate pairs"},
};

TEST(a_configuration_that_contradicts_itself_or_the_weights_is_refused)
{
        refuse_all(encoders, sizeof encoders / sizeof *encoders);
}

static const struct spoiled heads[] = {
        {"bert-classifier", "config.json", "\"2\": \"weather\"",
         "\"2\": \"weather\", \"3\": \"snow\"",
         "config.json has 4 labels, but tensor classifier.weight has 3 rows"},
        {"bert-classifier", "config.json", "\"2\": \"weather\"", "\"3\": \"weather\"",
         "names a label \"3\": numbers from 0 to 2"},
        {"bert-classifier", "config.json", "\"2\": \"weather\"", "\"2\": \"trade\"",
         "two labels have the name \"trade\""},
        {"bert-classifier", "config.json", "\"2\": \"weather\"", "\"2\": 7",
         "the name of label 2 is no string"},
        {"bert-classifier", "config.json", "{", "{\"problem_type\": \"regression\",",
         "predicts a number"},
        {"modernbert-classifier", "config.json", "\"mean\"", "\"most\"",
         "classifier_pooling \"most\""},
        {"bert", "tokenizer.json", "{", "", "tokenizer.json"},
        {"bert-tagger", "model.safetensors.index.json", "model-00002-of", "model-00007-of",
         "model-00007-of-00003.safetensors: No such file"},
        {"bert-tagger", "model.safetensors.index.json", "model-00002-of", "../model-00002-of",
         "is no name of a file"},
        {"bert-tagger", "model.safetensors.index.json", "\"weight_map\"", "\"map\"",
         "has no \"weight_map\""},
};

TEST(labels_vocabularies_and_shards_that_do_not_fit_are_refused)
{
        refuse_all(heads, sizeof heads / sizeof *heads);
}

static const struct spoiled modules[] = {
        {"sentence-mean", "modules.json", ".Pooling", ".WeightedLayerPooling",
         "the module \"WeightedLayerPooling\" is not known"},
        {"sentence-mean", "modules.json", ".Normalize", ".Dense", "config.json"},
        {"sentence-mean", "modules.json", ".Transformer", ".Pooling", "the order"},
        {"sentence-mean", "modules.json", ".Pooling", ".Dropout", "the order"},
        {"sentence-mean", "modules.json", "\"1_Pooling\"", "\"../bert\"",
         "leads out of the folder"},
        {"sentence-mean", "modules.json", "[", "{}", "is not JSON"},
        {"sentence-mean", "1_Pooling/config.json", "16", "17",
         "it pools vectors of 17 numbers, but those of the encoder have 16"},
        {"sentence-mean", "1_Pooling/config.json", "tokens\": true", "tokens\": false",
         "it has 0 pooling modes"},
        {"sentence-mean", "1_Pooling/config.json", "cls_token\": false", "cls_token\": true",
         "it has 2 pooling modes"},
        {"sentence-max", "1_Pooling/config.json", "\"max\"", "\"weightedmean\"",
         "pooling_mode \"weightedmean\" is not known"},
        {"sentence-max", "1_Pooling/config.json", "\"max\"", "\"mean_sqrt_len_tokens\"",
         "mean_sqrt_len_tokens is known with Normalize"},
        {"sentence-max", "1_Pooling/config.json", "\"max\"", "\"best\"",
         "pooling_mode \"best\" is not known"},
        {"sentence-tanh", "2_Dense/config.json", ".Tanh", ".Softplus",
         "activation_function Softplus"},
        {"sentence-tanh", "2_Dense/config.json", "\"in_features\": 16", "\"in_features\": 12",
         "it reads vectors of 12 numbers"},
        {"sentence-tanh", "2_Dense/config.json", "\"out_features\": 12", "\"out_features\": 13",
         "asks for [13, 16]"},
        {"sentence-prompts", "config_sentence_transformers.json", "\"default_prompt_name\": null",
         "\"default_prompt_name\": \"none\"",
         "default_prompt_name \"none\" is none of the prompts"},
};

TEST(modules_that_are_not_known_or_do_not_fit_are_refused)
{
        refuse_all(modules, sizeof modules / sizeof *modules);
}

static const struct spoiled weights[] = {
        {"bert", "model.safetensors", "encoder.layer.1.output.dense.bias",
         "encoder.layer.1.output.dense.bath",
         "there is no tensor encoder.layer.1.output.dense.bias, which config.json"},
        {"bert", "model.safetensors", "\"dtype\":\"F32\",\"shape\":[32,32]",
         "\"dtype\":\"I32\",\"shape\":[32,32]", "is I32: F32, F16, BF16 or F64 is needed"},
};

TEST(weights_that_are_missing_or_damaged_are_refused)
{
        refuse_all(weights, sizeof weights / sizeof *weights);
}

TEST(weights_in_surplus_are_refused)
{
        static const struct {
                const char *folder, *tensor;
                size_t rows, cols;
                float x;
                const char *says;
        } surplus[] = {
                {"bert", "encoder.layer.0.adapter.weight", 2, 2, 1,
                 "tensor encoder.layer.0.adapter.weight is not part of a model"},
                {"bert", "0.auto_model.embeddings.LayerNorm.weight", 2, 2, 1,
                 "embeddings.LayerNorm.weight is there twice"},
                {"bert-masked", "cls.predictions.decoder.weight", 140, 16, 0.5f,
                 "cls.predictions.decoder.weight differs from the embedding"},
        };

        for (size_t i = 0; i < sizeof surplus / sizeof *surplus; i++) {
                char *folder = hf_copy(surplus[i].folder);

                hf_add_tensor(folder, surplus[i].tensor, surplus[i].rows, surplus[i].cols,
                              surplus[i].x, NULL);
                refuses(folder, surplus[i].says);
        }
}

TEST(a_classifier_of_one_output_without_labels_is_refused)
{
        static const char file[] = "model.safetensors";
        char *folder = hf_copy("bert-classifier");

        hf_replace(folder, file, "\"classifier.weight\"", "\"classifier.wEight\"");
        hf_add_tensor(folder, "classifier.weight", 1, 16, 1, NULL);
        hf_replace(folder, "config.json", "\"id2label\"", "\"labels\"");
        refuses(folder, "the classifier has one output");
}

TEST(numbers_that_are_not_finite_are_refused)
{
        static const float bad[] = {NAN, INFINITY, -INFINITY};
        size_t n;

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                char *folder = hf_copy("bert");
                char *bytes = hf_read(folder, "model.safetensors", &n);

                /* The first tensor of all is a norm of the embedding. */
                uint64_t header_n;
                memcpy(&header_n, bytes, 8);
                memcpy(bytes + 8 + header_n, &bad[i], sizeof *bad);
                hf_write(folder, "model.safetensors", bytes, n);
                free(bytes);
                refuses(folder, "has a number that is not finite");
        }
}

TEST(a_decoder_that_is_the_embedding_is_read)
{
        char *folder = hf_copy("bert-masked");
        struct ran_error err = {0};

        hf_add_tensor(folder, "cls.predictions.decoder.weight", 140, 16, 0,
                      "bert.embeddings.word_embeddings.weight");
        struct ran_model *m = ran_model_open(folder, false, &err);
        CHECK_STR(m != NULL ? NULL : err.text, NULL);
        ran_model_free(m);
        free(folder);
}

TEST(other_files_than_safetensors_are_named)
{
        static const struct {
                const char *name, *says;
        } others[] = {
                {"pytorch_model.bin", "a pickle, which is a program and is not run: convert it, in "
                                      "that folder, with: python3 -c \"import glob,torch"},
                {"pytorch_model-00001-of-00002.bin", "pickle"},
                {"model-q4.gguf", "model-q4.gguf is GGUF: get the folder"},
                {"model.onnx", "ONNX"},
                {"tf_model.h5", "from_tf=True"},
                {"model.keras", "is Keras"},
                {"flax_model.msgpack", "from_flax=True"},
                {"training_args.bin", "a folder in Hugging Face's form has config.json"},
                {"adapter_config.json", "an adapter (PEFT)"},
        };

        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
                char *folder = hf_copy("bert");

                hf_drop(folder, "model.safetensors");
                hf_write(folder, others[i].name, "x", 1);
                refuses(folder, others[i].says);
        }
}

TEST(files_that_are_missing_or_never_end_are_refused)
{
        char *folder = hf_copy("bert"), path[1024];

        hf_drop(folder, "config.json");
        refuses(folder, "it has no config.json: a folder in Hugging Face's form has");

        folder = hf_copy("bert");
        hf_drop(folder, "config.json");
        snprintf(path, sizeof path, "%s/config.json", folder);
        REQUIRE(mkfifo(path, 0600) == 0);
        refuses(folder, "config.json is not a regular file");

        folder = hf_copy("bert");
        hf_drop(folder, "config.json");
        snprintf(path, sizeof path, "%s/config.json", folder);
        REQUIRE(symlink("/dev/zero", path) == 0);
        refuses(folder, "config.json is not a regular file");

        folder = hf_copy("bert");
        hf_drop(folder, "tokenizer.json");
        refuses(folder, "no vocabulary");

        folder = hf_copy("sentence-mean");
        hf_drop(folder, "1_Pooling/config.json");
        refuses(folder, "1_Pooling/config.json: No such file");

        folder = hf_copy("bert");
        hf_write(folder, "model.safetensors", "\0\0\0\0\1\0\0\0{}", 10);
        refuses(folder, "model.safetensors: ");
}

TEST(the_vocabulary_may_have_fewer_tokens_than_the_embedding_but_not_more)
{
        char *folder = hf_copy("bert");
        struct ran_error err = {0};
        size_t n;
        char *bytes = hf_read(HF_FOLDERS "/roberta-classifier", "tokenizer.json", &n);

        hf_write(folder, "tokenizer.json", bytes, n);
        free(bytes);
        refuses(folder, "the vocabulary has 300 tokens, but the embedding has 140 rows");

        folder = hf_copy("roberta-classifier");
        bytes = hf_read(HF_FOLDERS "/bert", "tokenizer.json", &n);
        hf_write(folder, "tokenizer.json", bytes, n);
        free(bytes);
        struct ran_model *m = ran_model_open(folder, false, &err);
        if (CHECK_STR(m != NULL ? NULL : err.text, NULL))
                CHECK_SIZE(ran_model_vocabulary(m), 140);
        ran_model_free(m);
        free(folder);
}
