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
#include "hf-copy.h"
#include "math/kept-panels.h"
#include "ran.h"
#include "test.h"

#define NEAR 1e-5 /* of the largest number of a list */

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
                                                 &nll, NULL, NULL, &err),
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

/* The model at that path with the records of a folder. */
static void compare_model(struct folder *f, const char *path)
{
        struct ran_error err = {0};
        char expected[512];

        f->m = ran_model_open(path, true, &err);
        if (!CHECK_STR(f->m != NULL ? NULL : err.text, NULL))
                return;
        f->c = ran_model_config(f->m);
        f->s = ran_state_new(f->m, NULL);
        f->embedder = ran_embedder_new(f->m, &err);
        if (CHECK(f->s != NULL && f->embedder != NULL)) {
                snprintf(expected, sizeof expected, HF_FOLDERS "/%s/expected.jsonl", f->name);
                compare_file(f, expected);
                if (!CHECK(f->records > 0))
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

        snprintf(path, sizeof path, HF_FOLDERS "/%s", name);
        compare_model(&f, path);
}

TEST(folders_give_the_numbers_of_their_libraries)
{
        DIR *folder = opendir(HF_FOLDERS);
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
        CHECK_SIZE(n, 18);
}

/* ---- the same model, written otherwise ------------------------------------------------------- */

/* The names of a whole sentence model, saved by PyTorch. */
static void name_auto_model(const char *folder)
{
        hf_rename_tensors(folder, "e", "0.auto_model.e");
        hf_rename_tensors(folder, "pooler", "0.auto_model.pooler");
}

/* As the first converters from TensorFlow wrote them. */
static void name_gamma_and_beta(const char *folder)
{
        static const char *const norms[] = {"embeddings.", "encoder.layer.0.attention.output.",
                                            "encoder.layer.1.attention.output.",
                                            "encoder.layer.0.output.", "encoder.layer.1.output."};

        for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
                char weight[64], bias[64], gamma[64], beta[64];

                snprintf(weight, sizeof weight, "%sLayerNorm.weight", norms[i]);
                snprintf(bias, sizeof bias, "%sLayerNorm.bias", norms[i]);
                snprintf(gamma, sizeof gamma, "%sLayerNorm.gamma", norms[i]);
                snprintf(beta, sizeof beta, "%sLayerNorm.beta", norms[i]);
                hf_rename_tensors(folder, weight, gamma);
                hf_rename_tensors(folder, bias, beta);
        }
        hf_add_tensor(folder, "embeddings.position_ids", 1, 64, 0, NULL);
}

static void add_second_head(const char *folder)
{
        hf_replace(folder, "config.json", "BertForMaskedLM", "BertForPreTraining");
        hf_add_tensor(folder, "cls.seq_relationship.weight", 2, 16, 1, NULL);
}

/* The configuration before layer_types and rope_parameters. */
static void configure_old_modernbert(const char *folder)
{
        hf_replace(folder, "config.json", "\"layer_types\"", "\"types\"");
        hf_replace(folder, "config.json", "\"rope_parameters\"", "\"rope\"");
        hf_replace(folder, "config.json", "{",
                   "{\"global_rope_theta\": 80000.0, \"local_rope_theta\": 5000.0,");
}

TEST(folders_of_other_versions_give_the_same_numbers)
{
        static const struct {
                const char *name;
                void (*change)(const char *folder);
        } versions[] = {
                {"bert", name_auto_model},
                {"bert", name_gamma_and_beta},
                {"bert-masked", add_second_head},
                {"modernbert", configure_old_modernbert},
        };

        for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
                struct folder f = {.name = versions[i].name};
                char *folder = hf_copy(f.name);

                versions[i].change(folder);
                compare_model(&f, folder);
                free(folder);
        }
}

TEST(the_pooling_of_a_classifier_is_that_of_its_configuration)
{
        char *folder = hf_copy("modernbert-classifier");
        struct ran_error err = {0};

        hf_replace(folder, "config.json", "\"mean\"", "\"cls\"");
        struct ran_model *m = ran_model_open(folder, false, &err);
        REQUIRE(m != NULL);
        CHECK(ran_model_config(m)->pooling == RAN_POOL_CLS);
        ran_model_free(m);
        free(folder);
}

/* By rules, and by the steps of each kind; with added tokens and white space, which move offsets.
 */
TEST(ids_alone_are_those_beside_offsets)
{
        static const char *const folders[] = {"bert", "roberta-classifier", "sentence-prompts",
                                              "mpnet"};
        static const char text[] = "  <s> the quick [MASK] brown\n<mask> fox  jumps </s> over ";
        struct ran_error err = {0};

        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
                struct ran_encoding all = {0}, alone = {.ids_only = true};
                char path[512];

                snprintf(path, sizeof path, HF_FOLDERS "/%s", folders[i]);
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

/* ---- prompts --------------------------------------------------------------------------------- */

static void compare_prompt(const char *folder, const char *prompt)
{
        struct folder f = {.name = folder, .prompt = prompt};
        char *output = test_path("prompt.ran"), path[512];
        struct ran_error err = {0};

        snprintf(path, sizeof path, HF_FOLDERS "/%s", folder);
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

        if (CHECK_OK(ran_hf_folder_write(HF_FOLDERS "/sentence-prompts", prompt, RAN_STORAGE_F32,
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

        snprintf(path, sizeof path, HF_FOLDERS "/%s", folder);
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

        REQUIRE(CHECK_OK(ran_hf_folder_write(HF_FOLDERS "/sentence-prompts", NULL, RAN_STORAGE_F32,
                                             output, &err),
                         err));
        struct ran_model *a = ran_model_open(HF_FOLDERS "/sentence-prompts", false, &err);
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

        REQUIRE(CHECK_OK(
                ran_hf_folder_write(HF_FOLDERS "/bert", NULL, RAN_STORAGE_F32, output, &err), err));
        struct ran_model *a = ran_model_open(HF_FOLDERS "/bert", false, &err);
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
                char *folder = hf_copy("bert"), wanted[64] = "\"license\":";
                struct ran_error err = {0};

                hf_write(folder, "README.md", readmes[i].readme, strlen(readmes[i].readme));
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
        char *folder = hf_copy("sentence-mean");
        struct ran_error err = {0};

        hf_replace(folder, "1_Pooling/config.json", "mean_tokens\": true", "mean_tokens\": false");
        hf_replace(folder, "1_Pooling/config.json", "sqrt_len_tokens\": false",
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
        char *folder = hf_copy("sentence-last");
        struct ran_error err = {0};
        struct ran_encoding upper = {0}, lower = {0};

        static const char modules[] =
                "[{\"type\":\"sentence_transformers.models.Transformer\",\"path\":\"\"},"
                "{\"type\":\"sentence_transformers.models.Pooling\",\"path\":\"\"}]",
                          lowers[] = "{\"do_lower_case\": true}";

        hf_write(folder, "modules.json", modules, strlen(modules));
        hf_replace(folder, "config.json", "{", "{\"pooling_mode\": \"cls\",");
        hf_write(folder, "sentence_bert_config.json", lowers, strlen(lowers));
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
