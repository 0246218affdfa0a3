/* Pretrained encoders in Hugging Face's form: the folders of tests/encoders give the numbers that
 * their libraries compute (hf-folder.c; tests/encoders/README). */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/model.h"
#include "math/kept-panels.h"
#include "ran.h"
#include "test.h"

#define FOLDERS "tests/encoders"
#define NEAR    1e-5 /* of the largest number of a list */

/* ---- numbers --------------------------------------------------------------------------------- */

static double largest_of(const cJSON *list)
{
        const cJSON *item;
        double most = 0;

        cJSON_ArrayForEach(item, list) most = fmax(most, fabs(item->valuedouble));
        return most;
}

/* The greatest difference, relative to the largest number; infinite if their number differs. */
static double difference(const float *x, size_t n, const cJSON *list)
{
        const cJSON *item;
        double worst = 0;
        size_t i = 0;

        if ((size_t)cJSON_GetArraySize(list) != n)
                return INFINITY;
        cJSON_ArrayForEach(item, list) worst =
                fmax(worst, fabs((double)x[i++] - item->valuedouble));
        return worst / largest_of(list);
}

static const cJSON *member(const cJSON *object, const char *name)
{
        return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* ---- a folder -------------------------------------------------------------------------------- */

struct folder {
        const char *name;
        const char *prompt; /* that the model was made with; or NULL */
        struct ran_model *m;
        struct ran_state *s;
        struct ran_embedder *embedder;
        const struct ran_config *c;
        size_t records;
};

/* Says which folder and record a failed check belongs to. */
static void near(const struct folder *f, const cJSON *record, const char *what, double difference)
{
        if (difference <= NEAR)
                return;
        printf("%s, %s: %s differs by %g\n", f->name, member(record, "name")->valuestring, what,
               difference);
        CHECK(difference <= NEAR);
}

/* The ids of a record without those around them. */
static size_t ids_of(const struct folder *f, const cJSON *record, uint32_t *ids)
{
        const cJSON *list = member(record, "ids"), *item;
        const size_t all = (size_t)cJSON_GetArraySize(list),
                     around = f->c->bert.prefix + f->c->bert.suffix;
        size_t i = 0, n = 0;

        cJSON_ArrayForEach(item, list)
        {
                if (i >= f->c->bert.prefix && i + f->c->bert.suffix < all)
                        ids[n++] = (uint32_t)item->valuedouble;
                i++;
        }
        CHECK(n + around == all);
        return n;
}

static void compare_vector(struct folder *f, const struct ran_document *d, const cJSON *record)
{
        const size_t width = ran_embedder_width(f->embedder);
        float *v = malloc(width * sizeof *v);
        struct ran_error err;

        if (CHECK_OK(ran_embed(f->embedder, f->s, d, v, &err), err))
                near(f, record, "the vector", difference(v, width, member(record, "vector")));
        f->records++;
        free(v);
}

static void compare_logits(struct folder *f, const struct ran_document *d, const cJSON *record)
{
        const size_t C = ran_model_classes(f->m);
        float *logits = malloc(C * sizeof *logits);
        struct ran_error err;

        if (CHECK_OK(ran_classify(f->m, f->s, d, logits, NULL, &err), err))
                near(f, record, "logits", difference(logits, C, member(record, "logits")));
        f->records++;
        free(logits);
}

/* Every token is a word. */
static void compare_tags(struct folder *f, struct ran_document *d, const cJSON *record)
{
        const size_t C = ran_model_classes(f->m);
        uint32_t *positions = malloc(d->L * sizeof *positions), *tags = malloc(d->L * sizeof *tags);
        float *logits = malloc(d->L * C * sizeof *logits);
        struct ran_error err;

        for (size_t i = 0; i < d->L; i++)
                positions[i] = (uint32_t)i;
        d->positions = positions;
        d->words = d->L;
        if (CHECK_OK(ran_tag(f->m, f->s, d, tags, NULL, logits, &err), err))
                for (size_t i = 0; i < d->L; i++)
                        near(f, record, "logits",
                             difference(logits + i * C, C,
                                        cJSON_GetArrayItem(member(record, "logits"),
                                                           (int)(i + f->c->bert.prefix))));
        f->records++;
        free(positions);
        free(tags);
        free(logits);
}

/* "masks": [{"position": 3, "top": [{"id": 86, "log_probability": -0.7}]}], of the whole window.
 */
static void compare_masks(struct folder *f, const struct ran_document *d, const cJSON *record)
{
        const cJSON *mask, *best;

        cJSON_ArrayForEach(mask, member(record, "masks"))
        {
                uint32_t position = (uint32_t)(member(mask, "position")->valuedouble -
                                               (double)f->c->bert.prefix);

                cJSON_ArrayForEach(best, member(mask, "top"))
                {
                        uint32_t gold = (uint32_t)member(best, "id")->valuedouble;
                        const double want = -member(best, "log_probability")->valuedouble;
                        struct ran_error err;
                        float nll;

                        if (CHECK_OK(ran_lm_fill(f->m, f->s, d->ids, d->L, &position, 1, &gold,
                                                 &nll, NULL, &err),
                                     err))
                                near(f, record, "a log probability",
                                     fabs((double)nll - want) / want);
                        f->records++;
                }
        }
}

static void compare_record(struct folder *f, const cJSON *record)
{
        uint32_t ids[2048];
        struct ran_document d = {.ids = ids};

        const cJSON *prompt = member(record, "prompt");

        if (member(record, "ids") == NULL || strcmp(prompt != NULL ? prompt->valuestring : "",
                                                    f->prompt != NULL ? f->prompt : "") != 0)
                return;
        d.L = ids_of(f, record, ids);
        if (d.L == 0)
                return;
        if (f->c->task == RAN_TASK_EMBED && member(record, "vector") != NULL)
                compare_vector(f, &d, record);
        if (f->c->task == RAN_TASK_CLASSIFY && member(record, "logits") != NULL)
                compare_logits(f, &d, record);
        if (f->c->task == RAN_TASK_TAG && member(record, "logits") != NULL)
                compare_tags(f, &d, record);
        if (f->c->task == RAN_TASK_MLM)
                compare_masks(f, &d, record);
}

static void compare_file(struct folder *f, const char *path)
{
        FILE *file = fopen(path, "r");
        char *line = NULL;
        size_t cap = 0;

        REQUIRE(file != NULL);
        while (getline(&line, &cap, file) > 0) {
                cJSON *record = cJSON_Parse(line);

                if (member(record, "model_type") != NULL)
                        CHECK_SIZE(f->c->bert.max_length,
                                   (size_t)member(record, "window")->valuedouble);
                else
                        compare_record(f, record);
                cJSON_Delete(record);
        }
        free(line);
        fclose(file);
}

/* Folders that are refused, and what their sentence says. */
static const struct {
        const char *name, *says;
} refused[] = {
        {"sentence-joined", "it has 2 pooling modes"},
        {"sentence-weighted", "the pooling mode weightedmean"},
        {"sentence-root", "mean_sqrt_len_tokens is known with Normalize"},
};

static bool is_refused(const char *name, const char *path)
{
        struct ran_error err = {0};

        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
                if (strcmp(name, refused[i].name) != 0)
                        continue;
                CHECK(ran_model_open(path, false, &err) == NULL);
                if (!CHECK(strstr(err.text, refused[i].says) != NULL))
                        printf("%s\n", err.text);
                return true;
        }
        return false;
}

/* The model at that path with the records of a folder. */
static void compare_model(struct folder *f, const char *path)
{
        struct ran_error err = {0};
        char expected[512];

        f->m = ran_model_open(path, true, &err);
        if (!CHECK_STR(f->m != NULL ? NULL : err.text, NULL))
                return;
        f->c = ran_model_config(f->m);
        f->s = ran_state_new(f->m, NULL, &err);
        f->embedder = ran_embedder_new(f->m, &err);
        if (CHECK(f->s != NULL && f->embedder != NULL)) {
                snprintf(expected, sizeof expected, FOLDERS "/%s/expected.jsonl", f->name);
                compare_file(f, expected);
                if (f->records > 0)
                        CHECK_SIZE(ran_kept_panels_floats(f->m->params.panels),
                                   ran_parts_kept(f->c));
                if (strcmp(f->name, "bert-old") != 0 && !CHECK(f->records > 0))
                        printf("%s\n", f->name);
        }
        ran_embedder_free(f->embedder);
        ran_state_free(f->s);
        ran_model_free(f->m);
}

static void compare_folder(const char *name)
{
        struct folder f = {.name = name};
        char path[512];

        snprintf(path, sizeof path, FOLDERS "/%s", name);
        if (!is_refused(name, path))
                compare_model(&f, path);
}

TEST(folders_give_the_numbers_of_their_libraries)
{
        DIR *folder = opendir(FOLDERS);
        const struct dirent *entry;
        size_t n = 0;

        REQUIRE(folder != NULL);
        while ((entry = readdir(folder)) != NULL) {
                if (entry->d_name[0] == '.' || strcmp(entry->d_name, "README") == 0)
                        continue;
                compare_folder(entry->d_name);
                n++;
        }
        closedir(folder);
        CHECK(n > 40);
}

/* By rules, and by the steps of each kind; with added tokens and white space, which move offsets.
 */
TEST(ids_alone_are_those_beside_offsets)
{
        static const char *const folders[] = {"bert", "roberta", "xlm-roberta", "mpnet"};
        static const char text[] = "  <s> the quick [MASK] brown\n<mask> fox  jumps </s> over ";
        struct ran_error err = {0};

        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
                struct ran_encoding all = {0}, alone = {.ids_only = true};
                char path[512];

                snprintf(path, sizeof path, FOLDERS "/%s", folders[i]);
                struct ran_tokenizer *t = ran_tokenizer_open_folder(path, &err);
                REQUIRE(t != NULL);
                for (size_t n = sizeof text - 1; n > 0; n /= 2) {
                        CHECK_OK(ran_tokenizer_encode(t, text, n, &all, &err), err);
                        CHECK_OK(ran_tokenizer_encode(t, text, n, &alone, &err), err);
                        CHECK_SIZE(alone.n, all.n);
                        CHECK_SIZE(alone.words, all.words);
                        CHECK(memcmp(alone.ids, all.ids, all.n * sizeof *all.ids) == 0);
                }
                CHECK(alone.start == NULL && alone.end == NULL && alone.word == NULL);
                ran_encoding_release(&all);
                ran_encoding_release(&alone);
                ran_tokenizer_free(t);
        }
}

/* ---- bad folders ----------------------------------------------------------------------------- */

/* A copy of a folder that is then spoiled. */
static char *copy_of(const char *name)
{
        static int number;
        char unique[32], command[1024];

        snprintf(unique, sizeof unique, "copy-%d", number++);
        char *to = test_path(unique);
        snprintf(command, sizeof command, "cp -R " FOLDERS "/%s '%s'", name, to);
        if (system(command) != 0)
                abort();
        return to;
}

static char *read_bytes(const char *folder, const char *name, size_t *n)
{
        char path[1024];
        struct ran_bytes file;
        struct ran_error err;

        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (ran_bytes_open(&file, path, &err) != RAN_OK)
                abort();
        char *bytes = malloc(file.size + 1);
        memcpy(bytes, file.data, file.size);
        *n = file.size;
        ran_bytes_release(&file);
        return bytes;
}

static void write_bytes(const char *folder, const char *name, const void *bytes, size_t n)
{
        char path[1024];

        snprintf(path, sizeof path, "%s/%s", folder, name);
        FILE *f = fopen(path, "wb");
        if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
                abort();
}

/* Replaces the first occurrence in a file; every spoiling must find something. */
static void replace(const char *folder, const char *name, const char *what, const char *with)
{
        size_t n;
        char *bytes = read_bytes(folder, name, &n), *at = memmem(bytes, n, what, strlen(what));
        struct ran_buf out = {0};

        if (at == NULL) {
                printf("%s/%s has no %s\n", folder, name, what);
                abort();
        }
        ran_buf_add(&out, bytes, (size_t)(at - bytes));
        ran_buf_str(&out, with);
        at += strlen(what);
        ran_buf_add(&out, at, n - (size_t)(at - bytes));
        write_bytes(folder, name, out.data, out.len);
        ran_buf_release(&out);
        free(bytes);
}

static void drop(const char *folder, const char *name)
{
        char path[1024];

        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (unlink(path) != 0)
                abort();
}

/* Adds a matrix of F32 to model.safetensors: of `value`, or a copy of the tensor `of`. */
static void add_tensor(const char *folder, const char *name, size_t rows, size_t cols, float value,
                       const char *of)
{
        size_t n, header_n = 0, begin = 0;
        char *bytes = read_bytes(folder, "model.safetensors", &n);
        struct ran_buf header = {0};

        memcpy(&header_n, bytes, 8);
        const size_t data = n - 8 - header_n, size = rows * cols * sizeof value;
        if (of != NULL) {
                const char *at = memmem(bytes, 8 + header_n, of, strlen(of));
                if (at == NULL || (at = strstr(at, "\"data_offsets\":[")) == NULL)
                        abort();
                begin = strtoul(at + 16, NULL, 10);
        }
        ran_buf_printf(&header, "{\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu,%zu],", name, rows,
                       cols);
        ran_buf_printf(&header, "\"data_offsets\":[%zu,%zu]},", data, data + size);
        ran_buf_add(&header, bytes + 9, header_n - 1);
        header_n = header.len;
        char *out = malloc(8 + header_n + data + size);
        memcpy(out, &header_n, 8);
        memcpy(out + 8, header.data, header_n);
        memcpy(out + 8 + header_n, bytes + n - data, data);
        for (size_t i = 0; i < rows * cols; i++)
                memcpy(out + 8 + header_n + data + i * sizeof value, &value, sizeof value);
        if (of != NULL)
                memcpy(out + 8 + header_n + data, out + 8 + header_n + begin, size);
        write_bytes(folder, "model.safetensors", out, 8 + header_n + data + size);
        ran_buf_release(&header);
        free(bytes);
        free(out);
}

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
                char *folder = copy_of(spoiled[i].folder);

                replace(folder, spoiled[i].file, spoiled[i].what, spoiled[i].with);
                refuses(folder, spoiled[i].says);
        }
}

static const struct spoiled encoders[] = {
        {"bert", "config.json", "\"bert\"", "\"t5\"",
         "model_type \"t5\" is not known: bert, distilbert, roberta, camembert, "
         "xlm-roberta, mpnet and modernbert can be read"},
        {"bert", "config.json", "\"bert\"", "\"deberta-v2\"", "is not known"},
        {"bert", "config.json", "\"bert\"", "\"gpt2\"", "is a decoder"},
        {"bert", "config.json", "\"bert\"", "\"qwen2\"", "is a decoder"},
        {"bert", "config.json", "\"bert\"", "\"model2vec\"", "--vectors"},
        {"bert", "config.json", "\"model_type\"", "\"kind\"", "it has no \"model_type\""},
        {"bert", "config.json", "\"model_type\": \"bert\"", "\"model_type\": 5",
         "\"model_type\" must be a string"},
        {"bert", "config.json", "\"bert\"", "\"distilbert\"", "it has no \"dim\""},
        {"bert", "config.json", "\"bert\"", "\"mpnet\"", "there are no tensors"},
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
         "there are no tensors encoder.layer.2.attention.output.LayerNorm.weight and 15 "
         "others"},
        {"bert", "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1",
         "tensor encoder.layer.1.attention.output.LayerNorm.bias and others are not part"},
        {"bert", "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1000000",
         "\"num_hidden_layers\" must be"},
        {"bert", "config.json", "\"num_attention_heads\": 4", "\"num_attention_heads\": 5",
         "is not a multiple of"},
        {"bert", "config.json", "\"intermediate_size\": 64", "\"intermediate_size\": 65",
         "asks for [65, 32]"},
        {"bert", "config.json", "\"max_position_embeddings\": 64",
         "\"max_position_embeddings\": 128", "asks for [128, 32]"},
        {"roberta", "config.json", "\"max_position_embeddings\": 66",
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
        {"bert-multilabel", "config.json", "multi_label_classification", "regression",
         "predicts a number"},
        {"modernbert-classifier-mean", "config.json", "\"mean\"", "\"most\"",
         "classifier_pooling \"most\""},
        {"bert", "tokenizer.json", "{", "", "tokenizer.json"},
        {"bert-sharded", "model.safetensors.index.json", "model-00002-of", "model-00007-of",
         "model-00007-of-00004.safetensors: No such file"},
        {"bert-sharded", "model.safetensors.index.json", "model-00002-of", "../model-00002-of",
         "is no name of a file"},
        {"bert-sharded", "model.safetensors.index.json", "\"weight_map\"", "\"map\"",
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

TEST(weights_that_are_missing_in_surplus_or_damaged_are_refused)
{
        static const char file[] = "model.safetensors";
        char *folder = copy_of("bert");

        replace(folder, file, "encoder.layer.1.output.dense.bias",
                "encoder.layer.1.output.dense.bath");
        refuses(folder, "there is no tensor encoder.layer.1.output.dense.bias, which config.json");

        folder = copy_of("bert");
        add_tensor(folder, "encoder.layer.0.adapter.weight", 2, 2, 1, NULL);
        refuses(folder, "tensor encoder.layer.0.adapter.weight is not part of a model");

        folder = copy_of("bert");
        add_tensor(folder, "0.auto_model.embeddings.LayerNorm.weight", 2, 2, 1, NULL);
        refuses(folder, "embeddings.LayerNorm.weight is there twice");

        folder = copy_of("bert");
        replace(folder, file, "\"dtype\":\"F32\",\"shape\":[32,32]",
                "\"dtype\":\"I32\",\"shape\":[32,32]");
        refuses(folder, "is I32: F32, F16, BF16 or F64 is needed");

        folder = copy_of("bert-masked");
        add_tensor(folder, "cls.predictions.decoder.weight", 140, 16, 0.5f, NULL);
        refuses(folder, "cls.predictions.decoder.weight differs from the embedding");

        folder = copy_of("bert-classifier");
        replace(folder, file, "\"classifier.weight\"", "\"classifier.wEight\"");
        add_tensor(folder, "classifier.weight", 1, 16, 1, NULL);
        replace(folder, "config.json", "\"id2label\"", "\"labels\"");
        refuses(folder, "the classifier has one output");
}

TEST(numbers_that_are_not_finite_are_refused)
{
        static const float bad[] = {NAN, INFINITY, -INFINITY};
        size_t n;

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                char *folder = copy_of("bert");
                char *bytes = read_bytes(folder, "model.safetensors", &n);

                /* The first tensor of all is a norm of the embedding. */
                size_t header_n;
                memcpy(&header_n, bytes, 8);
                memcpy(bytes + 8 + header_n, &bad[i], sizeof *bad);
                write_bytes(folder, "model.safetensors", bytes, n);
                free(bytes);
                refuses(folder, "has a number that is not finite");
        }
}

TEST(a_decoder_that_is_the_embedding_is_read)
{
        char *folder = copy_of("bert-masked");
        struct ran_error err = {0};

        add_tensor(folder, "cls.predictions.decoder.weight", 140, 16, 0,
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
                char *folder = copy_of("bert");

                drop(folder, "model.safetensors");
                write_bytes(folder, others[i].name, "x", 1);
                refuses(folder, others[i].says);
        }
}

TEST(files_that_are_missing_or_never_end_are_refused)
{
        char *folder = copy_of("bert"), path[1024];

        drop(folder, "config.json");
        refuses(folder, "it has no config.json: a folder in Hugging Face's form has");

        folder = copy_of("bert");
        drop(folder, "config.json");
        snprintf(path, sizeof path, "%s/config.json", folder);
        REQUIRE(mkfifo(path, 0600) == 0);
        refuses(folder, "config.json is not a regular file");

        folder = copy_of("bert");
        drop(folder, "config.json");
        snprintf(path, sizeof path, "%s/config.json", folder);
        REQUIRE(symlink("/dev/zero", path) == 0);
        refuses(folder, "config.json is not a regular file");

        folder = copy_of("bert");
        drop(folder, "tokenizer.json");
        refuses(folder, "no vocabulary");

        folder = copy_of("sentence-mean");
        drop(folder, "1_Pooling/config.json");
        refuses(folder, "1_Pooling/config.json: No such file");

        folder = copy_of("bert");
        write_bytes(folder, "model.safetensors", "\0\0\0\0\1\0\0\0{}", 10);
        refuses(folder, "model.safetensors: ");
}

TEST(the_vocabulary_may_have_fewer_tokens_than_the_embedding_but_not_more)
{
        char *folder = copy_of("bert");
        struct ran_error err = {0};
        size_t n;
        char *bytes = read_bytes(FOLDERS "/roberta", "tokenizer.json", &n);

        write_bytes(folder, "tokenizer.json", bytes, n);
        free(bytes);
        refuses(folder, "the vocabulary has 300 tokens, but the embedding has 140 rows");

        folder = copy_of("roberta");
        bytes = read_bytes(FOLDERS "/bert", "tokenizer.json", &n);
        write_bytes(folder, "tokenizer.json", bytes, n);
        free(bytes);
        struct ran_model *m = ran_model_open(folder, false, &err);
        if (CHECK_STR(m != NULL ? NULL : err.text, NULL))
                CHECK_SIZE(ran_model_vocabulary(m), 140);
        ran_model_free(m);
        free(folder);
}

/* ---- prompts --------------------------------------------------------------------------------- */

static void compare_prompt(const char *folder, const char *prompt)
{
        struct folder f = {.name = folder, .prompt = prompt};
        char *output = test_path("prompt.ran"), path[512];
        struct ran_error err = {0};

        snprintf(path, sizeof path, FOLDERS "/%s", folder);
        if (CHECK_OK(ran_hf_folder_write(path, prompt, RAN_STORAGE_F32, output, &err), err))
                compare_model(&f, output);
        free(output);
}

TEST(a_prompt_gives_the_numbers_of_the_library_pooled_or_not)
{
        compare_prompt("sentence-prompts", "query");
        compare_prompt("sentence-prompts", "passage");
        compare_prompt("sentence-without-prompt", "query");
        compare_prompt("sentence-without-prompt", "passage");
}

/* A model of sentence-prompts with that prompt; the caller frees it. */
static struct ran_model *prompted(const char *prompt)
{
        char *output = test_path("prompt.ran");
        struct ran_error err = {0};
        struct ran_model *m = NULL;

        if (CHECK_OK(ran_hf_folder_write(FOLDERS "/sentence-prompts", prompt, RAN_STORAGE_F32,
                                         output, &err),
                     err))
                m = ran_model_open(output, true, &err);
        CHECK(m != NULL);
        free(output);
        return m;
}

TEST(a_prompt_is_a_name_or_a_text_and_every_window_has_it)
{
        struct ran_model *none = prompted(""), *document = prompted("document"),
                         *name = prompted("query"), *text = prompted("query: ");
        struct ran_buf what = {0};

        REQUIRE(none != NULL && document != NULL && name != NULL && text != NULL);
        CHECK(ran_model_same(none, document, &what)); /* whose text is empty */
        CHECK(ran_model_config(none)->bert.prefix < ran_model_config(name)->bert.prefix);
        CHECK_SIZE(ran_model_config(name)->bert.prefix, ran_model_config(text)->bert.prefix);
        CHECK_SIZE(ran_model_config(name)->bert.max_length,
                   ran_model_config(none)->bert.max_length);
        CHECK(strstr(ran_model_metadata(name, "pretrained"),
                     ",\"prompt\":\"query: \",\"prompt_name\":\"query\"}") != NULL);
        CHECK(strstr(ran_model_metadata(text, "pretrained"), ",\"prompt\":\"query: \"}") != NULL);
        CHECK(strstr(ran_model_metadata(none, "pretrained"), "\"prompt\"") == NULL);
        ran_buf_release(&what);
        ran_model_free(none);
        ran_model_free(document);
        ran_model_free(name);
        ran_model_free(text);
}

static void refuse_prompt(const char *folder, const char *prompt, const char *says)
{
        char *output = test_path("refused.ran"), path[512];
        struct ran_error err = {0};

        snprintf(path, sizeof path, FOLDERS "/%s", folder);
        CHECK(ran_hf_folder_write(path, prompt, RAN_STORAGE_F32, output, &err) == RAN_EINVAL);
        if (!CHECK(strstr(err.text, says) != NULL))
                printf("%s\n", err.text);
        CHECK(access(output, F_OK) != 0);
        free(output);
}

TEST(a_prompt_that_cannot_be_meant_is_refused)
{
        struct ran_buf many = {0};

        refuse_prompt("sentence-prompts", "qury",
                      "no prompt has the name \"qury\": passage, query; a prompt's text has");
        refuse_prompt("bert", "query", "the encoder has no prompts, so \"query\" names none");
        for (int i = 0; i < 100; i++)
                ran_buf_str(&many, "word ");
        ran_buf_char(&many, '\0');
        refuse_prompt("sentence-prompts", many.data, "which leave none of a window's 64");
        ran_buf_release(&many);
}

/* ---- what a model keeps ---------------------------------------------------------------------- */

TEST(a_folder_and_the_model_made_of_it_are_the_same)
{
        char *output = test_path("made.ran");
        struct ran_error err = {0};
        struct ran_buf what = {0};

        REQUIRE(CHECK_OK(ran_hf_folder_write(FOLDERS "/sentence-prompts", NULL, RAN_STORAGE_F32,
                                             output, &err),
                         err));
        struct ran_model *a = ran_model_open(FOLDERS "/sentence-prompts", false, &err);
        struct ran_model *b = ran_model_open(output, true, &err);
        REQUIRE(a != NULL && b != NULL);
        CHECK(ran_model_same(a, b, &what));
        CHECK_STR(ran_model_metadata(a, "digest"), ran_model_metadata(b, "digest"));
        CHECK_STR(ran_model_metadata(b, "prompts"),
                  "{\"document\":\"\",\"passage\":\"passage: \",\"query\":\"query: \"}");
        CHECK_STR(ran_model_metadata(b, "pretrained"),
                  "{\"model_type\":\"xlm-roberta\",\"architecture\":\"XLMRobertaModel\","
                  "\"name\":\"sentence-prompts\",\"tokens\":64,\"pooling\":\"mean\"}");
        CHECK(ran_model_config(b)->bert.l2_normalize);
        ran_buf_release(&what);
        ran_model_free(a);
        ran_model_free(b);
        free(output);
}

/* It is made when somebody asks for it. */
TEST(a_folder_has_the_digest_of_its_file)
{
        char *output = test_path("digest.ran");
        struct ran_error err = {0};

        REQUIRE(CHECK_OK(ran_hf_folder_write(FOLDERS "/bert", NULL, RAN_STORAGE_F32, output, &err),
                         err));
        struct ran_model *a = ran_model_open(FOLDERS "/bert", false, &err);
        struct ran_model *b = ran_model_open(output, true, &err);
        REQUIRE(a != NULL && b != NULL);
        for (int i = 0; i < 2; i++)
                CHECK_STR(ran_model_metadata(a, "digest"), ran_model_metadata(b, "digest"));
        ran_model_free(a);
        ran_model_free(b);
        free(output);
}

TEST(the_licence_is_that_of_the_front_matter)
{
        static const struct {
                const char *readme, *license;
        } readmes[] = {
                {"---\nlanguage: en\nlicense: apache-2.0\n---\nlicense: gpl\n", "apache-2.0"},
                {"---\r\nlicense: 'mit'\r\n---\r\n", "mit"},
                {"# Title\nlicense: mit\n", NULL},
                {"---\nlanguage: en\n---\nlicense: mit\n", NULL},
                {"---\nlicense:\n---\n", NULL},
                {"", NULL},
        };

        for (size_t i = 0; i < sizeof readmes / sizeof *readmes; i++) {
                char *folder = copy_of("bert"), wanted[64] = "\"license\":";
                struct ran_error err = {0};

                write_bytes(folder, "README.md", readmes[i].readme, strlen(readmes[i].readme));
                struct ran_model *m = ran_model_open(folder, false, &err);
                REQUIRE(m != NULL);
                if (readmes[i].license != NULL)
                        snprintf(wanted, sizeof wanted, "\"license\":\"%s\"", readmes[i].license);
                CHECK((strstr(ran_model_metadata(m, "pretrained"), wanted) != NULL) ==
                      (readmes[i].license != NULL));
                ran_model_free(m);
                free(folder);
        }
}

TEST(the_sum_over_the_root_of_the_length_is_a_mean_before_normalisation)
{
        char *folder = copy_of("sentence-mean");
        struct ran_error err = {0};

        replace(folder, "1_Pooling/config.json", "mean_tokens\": true", "mean_tokens\": false");
        replace(folder, "1_Pooling/config.json", "sqrt_len_tokens\": false",
                "sqrt_len_tokens\": true");
        struct ran_model *m = ran_model_open(folder, false, &err);
        if (CHECK_STR(m != NULL ? NULL : err.text, NULL))
                CHECK(ran_model_config(m)->pooling == RAN_POOL_MEAN);
        ran_model_free(m);
        free(folder);
}

/* "The" and "the" become the same tokens. */
TEST(do_lower_case_comes_before_the_tokenizer)
{
        char *folder = copy_of("roberta");
        struct ran_error err = {0};
        struct ran_encoding upper = {0}, lower = {0};

        static const char modules[] = "[{\"type\":\"m.Transformer\",\"path\":\"\"},"
                                      "{\"type\":\"m.Pooling\",\"path\":\"\"}]",
                          lowers[] = "{\"do_lower_case\": true}";

        write_bytes(folder, "modules.json", modules, strlen(modules));
        replace(folder, "config.json", "{", "{\"pooling_mode\": \"cls\",");
        write_bytes(folder, "sentence_roberta_config.json", lowers, strlen(lowers));
        struct ran_model *m = ran_model_open(folder, false, &err);
        if (CHECK_STR(m != NULL ? NULL : err.text, NULL)) {
                const struct ran_tokenizer *t = ran_model_tokenizer(m);

                CHECK(ran_model_config(m)->pooling == RAN_POOL_CLS);
                CHECK_OK(ran_tokenizer_encode(t, "THE River", 9, &upper, &err), err);
                CHECK_OK(ran_tokenizer_encode(t, "the river", 9, &lower, &err), err);
                CHECK(upper.n == lower.n &&
                      memcmp(upper.ids, lower.ids, upper.n * sizeof *upper.ids) == 0);
        }
        ran_encoding_release(&upper);
        ran_encoding_release(&lower);
        ran_model_free(m);
        free(folder);
}
