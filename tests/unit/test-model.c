/* Model files: written and read back, every damage refused; and scoring, which depends on the
 * document alone. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/model.h"
#include "infer/infer.h"
#include "test.h"
#include "toy.h"

/* ---- files made here, piece by piece
 * -------------------------------------------------------------
 */

enum { MAX_TENSORS = 100, MAX_METADATA = 6 };

/* A model file before it is written: everything in it may be changed. */
struct draft {
        struct toy toy;
        char *path;
        struct ran_tensor_source tensor[MAX_TENSORS];
        size_t tensors;
        struct ran_metadata_source metadata[MAX_METADATA];
        size_t metadatas;
        char config[600];
};

static void add_tensor(struct draft *d, const char *name, size_t rows, size_t cols,
                       const void *data)
{
        struct ran_tensor_source *t = &d->tensor[d->tensors++];

        *t = (struct ran_tensor_source){name, RAN_DTYPE_F32, 1, {cols}, data};
        if (rows > 0) {
                t->rank = 2;
                t->shape[0] = rows;
                t->shape[1] = cols;
        }
}

static void add_metadata(struct draft *d, const char *key, const char *text)
{
        d->metadata[d->metadatas++] = (struct ran_metadata_source){key, text};
}

static struct ran_config small(void)
{
        struct ran_config c = toy_config();

        c.dim = 4, c.layers = 1, c.head_dim = 2;
        return c;
}

static void write_config(struct draft *d, const char *more)
{
        struct ran_buf json = {0};

        ran_fields_json(ran_config_fields, &d->toy.c, &json);
        ran_buf_char(&json, '\0');
        snprintf(d->config, sizeof(d->config), "{%s%s}", json.data, more);
        ran_buf_release(&json);
}

static void draft_init(struct draft *d, struct ran_config c)
{
        memset(d, 0, sizeof(*d));
        toy_init(&d->toy, &c, 5, 0.3);
        d->path = test_path("draft.ran");
        add_tensor(d, "embed.weight", d->toy.V, c.dim, d->toy.embed);
        if (c.spelling > 0)
                add_tensor(d, "spelling.weight", c.spelling, c.dim, d->toy.p.spelling);
        if (c.linear.wide > 0) {
                add_tensor(d, "wide.weight", c.linear.wide, d->toy.C,
                           ran_linear_of(&d->toy.p)->wide);
                add_tensor(d, "wide.idf", 0, c.linear.wide, ran_linear_of(&d->toy.p)->idf);
        }
        for (size_t i = 0; i < d->toy.layout.n; i++) {
                const struct ran_tensor_spec *s = &d->toy.layout.spec[i];

                add_tensor(d, s->name, s->rows, s->cols, d->toy.p.block + s->offset);
        }
        write_config(d, "");
        add_metadata(d, "format", "ran");
        add_metadata(d, "format_version", "1");
        add_metadata(d, "config", d->config);
}

static void draft_release(struct draft *d)
{
        toy_release(&d->toy);
        free(d->path);
}

/* Through a descriptor, and so in place: the writer syncs what it puts under a name, which would
 * take seconds for so many files. */
static void draft_write(const struct draft *d)
{
        struct ran_error err = {0};
        char in_place[32];
        int fd;

        unlink(d->path);
        fd = open(d->path, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (!CHECK(fd >= 0))
                return;
        snprintf(in_place, sizeof(in_place), "/dev/fd/%d", fd);
        CHECK_OK(ran_tensors_write(in_place, NULL, d->tensor, d->tensors, d->metadata, d->metadatas,
                                   &err),
                 err);
        close(fd);
}

/* Opening the file fails, with a sentence that holds `sentence` and names the file. */
static bool check_refused(const char *path, const char *sentence)
{
        struct ran_error err = {0};
        struct ran_model *m = ran_model_open(path, false, &err);
        bool ok = CHECK(m == NULL && err.code == RAN_EFORMAT && strstr(err.text, path) != NULL &&
                        strstr(err.text, sentence) != NULL);

        if (!ok)
                printf("  should say: %s\n  says: %s\n", sentence, err.text);
        ran_model_free(m);
        return ok;
}

static bool draft_refused(const struct draft *d, const char *sentence)
{
        draft_write(d);
        return check_refused(d->path, sentence);
}

/* Opening it succeeds, and one document gets the logits that the weights in memory give. */
static void check_opens(const char *path, const struct toy *toy, struct ran_config c)
{
        static const uint32_t ids[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9};
        enum { L = sizeof(ids) / sizeof(*ids) };
        static uint32_t spelling[L * RAN_SPELLING]; /* all in the first bucket */
        const struct ran_document d = {ids, L, .spelling = spelling};
        float got[TOY_C], want[TOY_C], embedding[64], other[64];
        struct ran_error err = {0};
        struct ran_model *m = ran_model_open(path, true, &err);
        struct ran_state *s = m != NULL ? ran_state_new(m, NULL) : NULL;
        struct ran_state *t = ran_score_state_new(&c, &toy->p, TOY_C, NULL);

        if (test_check(s != NULL && t != NULL, err.text, __FILE__, __LINE__)) {
                CHECK_OK(ran_classify(m, s, &d, got, embedding, &err), err);
                CHECK_OK(ran_score(t, &d, want, other, &err), err);
                CHECK(memcmp(got, want, sizeof(got)) == 0);
                CHECK(memcmp(embedding, other, c.dim * sizeof(float)) == 0);
        }
        ran_state_free(s);
        ran_state_free(t);
        ran_model_free(m);
}

TEST(model_as_it_should_be_opens)
{
        struct draft d;

        draft_init(&d, small());
        draft_write(&d);
        check_opens(d.path, &d.toy, d.toy.c);
        add_metadata(&d, "more", "is let be");
        write_config(&d, "");
        draft_write(&d);
        check_opens(d.path, &d.toy, d.toy.c);
        draft_release(&d);
}

TEST(fingerprints_are_a_list_of_numbers)
{
        static const uint32_t numbers[] = {1, 7, 7, 3, UINT32_MAX}; /* no program wrote them so */
        struct ran_error err = {0};
        struct draft d;

        draft_init(&d, small());
        add_tensor(&d, "train.documents", 2, 2, d.toy.p.block);
        draft_refused(&d, "train.documents");
        d.tensor[d.tensors - 1] = (struct ran_tensor_source){.name = "train.documents",
                                                             .dtype = RAN_DTYPE_U32,
                                                             .rank = 1,
                                                             .shape = {5},
                                                             .data = numbers};
        draft_write(&d);
        struct ran_model *m = ran_model_open(d.path, true, &err);
        REQUIRE(CHECK_OK(m == NULL, err));
        CHECK_SIZE(ran_model_fingerprints(m), 5);
        CHECK(ran_model_knows(m, 7) && ran_model_knows(m, 1) && !ran_model_knows(m, 2));
        ran_model_free(m);
        draft_release(&d);
}

TEST(model_lacking_a_tensor_is_refused)
{
        struct draft d;

        draft_init(&d, toy_config());
        for (size_t i = 0; i < d.tensors; i++) {
                struct ran_tensor_source out = d.tensor[i];

                d.tensor[i] = d.tensor[--d.tensors];
                draft_refused(&d, out.name);
                d.tensor[d.tensors++] = d.tensor[i];
                d.tensor[i] = out;
        }
        draft_release(&d);
}

static void check_reshaped(struct draft *d, struct ran_tensor_source *t, size_t rank, size_t rows,
                           size_t cols)
{
        static const float zeros[5000];
        struct ran_tensor_source was = *t;

        *t = (struct ran_tensor_source){was.name, RAN_DTYPE_F32, rank, {rows, cols}, zeros};
        if (rank == 1)
                t->shape[0] = cols;
        draft_refused(d, was.name);
        *t = was;
}

TEST(model_with_spelling_opens_with_its_table_alone)
{
        struct ran_config c = small();
        struct draft d;

        c.spelling = 30;
        draft_init(&d, c);
        draft_write(&d);
        check_opens(d.path, &d.toy, d.toy.c);
        check_reshaped(&d, &d.tensor[1], 2, 29, c.dim);
        check_reshaped(&d, &d.tensor[1], 2, 30, c.dim + 1);
        d.tensor[1] = d.tensor[--d.tensors];
        draft_refused(&d, "spelling.weight");
        draft_release(&d);
        draft_init(&d, small());
        add_tensor(&d, "spelling.weight", 30, c.dim, d.toy.p.block);
        draft_refused(&d, "spelling.weight");
        draft_release(&d);
}

TEST(model_with_a_linear_model_opens_with_its_table_and_weights_alone)
{
        struct ran_config c = small();
        struct draft d;

        c.linear.wide = 30;
        draft_init(&d, c);
        draft_write(&d);
        check_opens(d.path, &d.toy, d.toy.c);
        check_reshaped(&d, &d.tensor[1], 2, 29, TOY_C);
        check_reshaped(&d, &d.tensor[1], 2, 30, TOY_C + 1);
        check_reshaped(&d, &d.tensor[1], 1, 0, 30 * TOY_C);
        check_reshaped(&d, &d.tensor[2], 1, 0, 31);
        check_reshaped(&d, &d.tensor[2], 2, 30, 1);
        for (size_t i = 1; i <= 2; i++) {
                struct ran_tensor_source out = d.tensor[i];

                d.tensor[i] = d.tensor[--d.tensors];
                draft_refused(&d, out.name);
                d.tensor[d.tensors++] = d.tensor[i];
                d.tensor[i] = out;
        }
        draft_release(&d);
        c.linear.affixes = true; /* of unknown subwords */
        draft_init(&d, c);
        draft_refused(&d, "prefixes and suffixes, but the model has no tokenizer");
        draft_release(&d);
        draft_init(&d, small());
        add_tensor(&d, "wide.idf", 0, 30, d.toy.p.block);
        draft_refused(&d, "wide.idf");
        draft_release(&d);
}

/* Only some rows of the linear model, and their buckets. */
TEST(model_with_some_rows_of_its_linear_model_opens_if_they_ascend)
{
        static uint32_t rows[] = {2, 5, 29, 0};
        struct ran_config c = small();
        struct draft d;

        c.linear.wide = 30;
        draft_init(&d, c);
        d.tensor[1].shape[0] = d.tensor[2].shape[0] = 3;
        draft_refused(&d, "wide.weight"); /* no rows: all are expected */
        add_tensor(&d, "wide.rows", 0, 3, rows);
        struct ran_tensor_source *t = &d.tensor[d.tensors - 1];
        draft_refused(&d, "wide.rows");
        t->dtype = RAN_DTYPE_U32;
        draft_write(&d);
        struct ran_error err = {0};
        struct ran_model *m = ran_model_open(d.path, true, &err);
        test_check(m != NULL, err.text, __FILE__, __LINE__);
        ran_model_free(m);
        t->shape[0] = 4; /* more than rows */
        draft_refused(&d, "wide.weight");
        t->shape[0] = 3;
        rows[1] = 2;
        draft_refused(&d, "ascending");
        rows[1] = 5, rows[2] = 30;
        draft_refused(&d, "ascending");
        rows[2] = 29, t->shape[0] = 0;
        draft_refused(&d, "wide.rows");
        draft_release(&d);
        draft_init(&d, small()); /* without a linear model */
        add_tensor(&d, "wide.rows", 0, 3, rows);
        d.tensor[d.tensors - 1].dtype = RAN_DTYPE_U32;
        draft_refused(&d, "wide.rows");
        draft_release(&d);
}

/* V is read off the embedding, and C off the last bias: what does not fit that is another tensor.
 */
TEST(model_with_a_tensor_of_another_shape_is_refused)
{
        struct draft d;

        draft_init(&d, toy_config());
        for (size_t i = 0; i < d.tensors; i++) {
                struct ran_tensor_source *t = &d.tensor[i];
                size_t rows = t->rank == 2 ? t->shape[0] : 1, cols = t->shape[t->rank - 1];

                if (t->rank == 2)
                        check_reshaped(&d, t, 2, rows, cols + 1);
                if (t->rank == 2 && strcmp(t->name, "embed.weight") != 0)
                        check_reshaped(&d, t, 2, rows - 1, cols);
                if (strcmp(t->name, "classify.out.bias") != 0) {
                        check_reshaped(&d, t, 1, 0, cols + 1);
                        check_reshaped(&d, t, t->rank == 2 ? 1 : 2, 1, rows * cols);
                }
                check_reshaped(&d, t, 1, 0, 0);
        }
        draft_release(&d);
}

/* Of a language model the classes are the tokens. */
TEST(model_that_predicts_other_tokens_than_it_reads_is_refused)
{
        static const float zeros[TOY_V + 1];
        struct ran_config c = small();
        struct draft d;

        c.task = RAN_TASK_LM;
        c.mask = RAN_MASK_CAUSAL;
        draft_init(&d, c);
        for (size_t i = 0; i < d.tensors; i++)
                if (strcmp(d.tensor[i].name, "lm.bias") == 0)
                        d.tensor[i] = (struct ran_tensor_source){
                                "lm.bias", RAN_DTYPE_F32, 1, {TOY_V + 1}, zeros};
        draft_refused(&d, "one for each of the");
        draft_release(&d);
}

TEST(model_with_a_tensor_of_another_type_is_refused)
{
        static const enum ran_dtype types[] = {RAN_DTYPE_I32, RAN_DTYPE_F64, RAN_DTYPE_U8};
        static const double zeros[5000];
        struct draft d;

        draft_init(&d, small());
        for (size_t i = 0; i < d.tensors; i++)
                for (size_t k = 0; k < 3; k++) {
                        struct ran_tensor_source was = d.tensor[i];

                        d.tensor[i].dtype = types[k];
                        d.tensor[i].data = zeros;
                        draft_refused(&d, was.name);
                        d.tensor[i] = was;
                }
        draft_release(&d);
}

TEST(model_with_a_tensor_it_does_not_know_is_refused)
{
        struct draft d;

        draft_init(&d, small());
        add_tensor(&d, "ran.1.gpc.weight", 4, 4, d.toy.p.block);
        draft_refused(&d, "ran.1.gpc.weight");
        d.tensor[d.tensors - 1].name = "train.anything"; /* as in a checkpoint */
        draft_write(&d);
        check_opens(d.path, &d.toy, d.toy.c);
        draft_release(&d);
}

TEST(model_of_other_metadata_is_refused)
{
        struct draft d;

        draft_init(&d, small());
        d.metadatas = 0;
        draft_refused(&d, "not a model of ran");
        add_metadata(&d, "format", "pt");
        draft_refused(&d, "not a model of ran");
        d.metadata[0].text = "ran";
        draft_refused(&d, "version (none)");
        add_metadata(&d, "format_version", "2");
        draft_refused(&d, "version 2");
        d.metadata[1].text = "1";
        draft_refused(&d, "no configuration");
        draft_release(&d);
}

static const struct {
        const char *config, *sentence;
} bad_configs[] = {
        {"", ""},
        {"[]", ""},
        {"{", ""},
        {"{\"dim\":4,\"layers\":1,\"heads\":2,\"head_dim\":2,\"window\":5,\"depth\":1}", "depth"},
        {"{\"dim\":0,\"layers\":1,\"heads\":2,\"head_dim\":2,\"window\":5}", "dim"},
        {"{\"dim\":4.5,\"layers\":1,\"heads\":2,\"head_dim\":2,\"window\":5}", "dim"},
        {"{\"dim\":1e300,\"layers\":1,\"heads\":2,\"head_dim\":2,\"window\":5}", "dim"},
        {"{\"dim\":4,\"layers\":1,\"heads\":2,\"head_dim\":2,\"window\":\"5\"}", "window"},
        {"{\"dim\":4,\"layers\":1,\"heads\":2,\"head_dim\":2,\"cell\":\"lstm\"}", "cell"},
        {"{\"dim\":4,\"layers\":2,\"heads\":2,\"head_dim\":2}", "ran.1."},
        {"{\"dim\":4,\"layers\":1,\"heads\":2,\"head_dim\":2,\"review\":false}", "review"},
        {"{\"dim\":4,\"layers\":1,\"heads\":2,\"head_dim\":2,\"review\":\"some\"}",
         "--review must be none, all, window or dispersed, not 'some'"},
        {"{\"dim\":4,\"layers\":1,\"heads\":2,\"head_dim\":2,\"review\":2}",
         "\"review\" must be true, false or a string"},
        {"{\"dim\":4,\"layers\":1,\"heads\":2,\"head_dim\":2,\"review\":null}",
         "\"review\" must be true, false or a string"},
        {"{\"dim\":4,\"layers\":1,\"heads\":2,\"head_dim\":2,\"review\":[\"window\"]}",
         "\"review\" must be true, false or a string"},
        {"{\"dim\":4,\"layers\":1,\"heads\":2,\"head_dim\":2,\"review_window\":0}",
         "review-window"},
        {"{\"dim\":4,\"layers\":1,\"heads\":2,\"head_dim\":2,\"review_window\":1e18}",
         "review-window"},
        {"{\"dim\":65536,\"layers\":1024,\"heads\":4096,\"head_dim\":65536}",
         SIZE_MAX > UINT32_MAX ? "shape" : "larger than memory can address"},
};

TEST(model_of_a_bad_configuration_is_refused)
{
        struct draft d;

        draft_init(&d, small());
        for (size_t i = 0; i < sizeof(bad_configs) / sizeof(*bad_configs); i++) {
                struct ran_error err = {0};
                struct ran_model *m;

                d.metadata[2].text = bad_configs[i].config;
                draft_write(&d);
                m = ran_model_open(d.path, false, &err);
                if (!CHECK(m == NULL && err.code != RAN_OK && err.text[0] != '\0' &&
                           strstr(err.text, bad_configs[i].sentence) != NULL))
                        printf("  %s\n  says: %s\n", bad_configs[i].config, err.text);
                ran_model_free(m);
        }
        draft_release(&d);
}

TEST(model_of_another_encoder_or_task_is_refused)
{
        struct ran_error err = {0};
        struct draft d;

        draft_init(&d, small());
        d.metadata[2].text = "{\"encoder\":\"transformer\"}";
        draft_write(&d);
        CHECK(ran_model_open(d.path, false, &err) == NULL && err.code == RAN_EFORMAT &&
              strstr(err.text, "tensor") != NULL); /* its tensors are another's */
        d.metadata[2].text = "{\"task\":\"lm\"}";
        draft_write(&d);
        CHECK(ran_model_open(d.path, false, &err) == NULL && err.code == RAN_EINVAL &&
              strstr(err.text, "causal") != NULL);
        d.metadata[2].text = "{\"task\":\"lm\",\"mask\":\"causal\",\"min_window\":1}";
        draft_write(&d);
        CHECK(ran_model_open(d.path, false, &err) == NULL && err.code == RAN_EFORMAT &&
              strstr(err.text, "lm.bias") != NULL);
        draft_release(&d);
}

TEST(model_with_other_labels_than_classes_is_refused)
{
        static const char *const bad[] = {
                "[]",
                "[\"a\",\"b\",\"c\"]",
                "[\"a\",\"b\",\"c\",\"d\",\"e\"]",
                "[\"a\",\"b\",\"c\",4]",
                "{\"a\":\"a\",\"b\":\"b\",\"c\":\"c\",\"d\":\"d\"}",
                "\"abcd\"",
        };
        struct ran_error err = {0};
        struct ran_model *m;
        struct draft d;

        draft_init(&d, small());
        add_metadata(&d, "labels", NULL);
        for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
                d.metadata[3].text = bad[i];
                draft_refused(&d, "not a list of 4 names");
        }
        for (const char **text = (const char *[]){"nothing", "", "[\"a\"", NULL}; *text; text++) {
                d.metadata[3].text = *text;
                draft_refused(&d, "the \"labels\" of the model file is not JSON");
        }
        d.metadata[3].text = "[\"a\",\"b\",\"c\\u0000d\",\"c\"]"; /* which would be "c" */
        draft_refused(&d, "the \"labels\" of the model file hold U+0000");
        d.metadata[3].text = "[\"a\",\"b\",\"c\",\"b\"]";
        draft_refused(&d, "two labels have the name \"b\"");
        d.metadata[3].text = "[\"d\",\"\",\"\\u00e9\",\"a\"]";
        draft_write(&d);
        m = ran_model_open(d.path, false, &err);
        if (CHECK(m != NULL)) {
                CHECK_STR(ran_model_label(m, 0), "d");
                CHECK_STR(ran_model_label(m, 1), "");
                CHECK_STR(ran_model_label(m, 2), "\xc3\xa9");
                CHECK_STR(ran_model_label(m, 4), NULL);
        }
        ran_model_free(m);
        draft_release(&d);
}

TEST(model_with_bad_thresholds_is_refused)
{
        static const char *const bad[] = {
                "{\"thresholds\":[]}",           "{\"thresholds\":[0.1,0.2,0.3]}",
                "{\"thresholds\":[0,0,0,1.01]}", "{\"thresholds\":[0,0,0,-0.1]}",
                "{\"thresholds\":[0,0,0,null]}", "{\"thresholds\":[0,0,0,0,0]}",
                "{\"thresholds\":0.5}",
        };
        struct ran_error err = {0};
        struct ran_model *m;
        struct draft d;

        draft_init(&d, small());
        add_metadata(&d, "training", NULL);
        for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
                d.metadata[3].text = bad[i];
                draft_refused(&d, "not a list of 4 numbers from 0 to 1");
        }
        d.metadata[3].text = "{\"thresholds\":[";
        draft_refused(&d, "the \"training\" of the model file is not JSON");
        d.metadata[3].text = "{\"thresholds\":[0,0.25,0.5,1]}";
        draft_write(&d);
        m = ran_model_open(d.path, false, &err);
        CHECK(m != NULL && ran_model_thresholds(m)[1] == 0.25f && ran_model_thresholds(m)[3] == 1);
        ran_model_free(m);
        draft_release(&d);
}

/* What random first contexts are keyed by. */
TEST(model_with_a_bad_seed_is_refused)
{
        static const char *const bad[] = {"{\"seed\":-1}", "{\"seed\":0.5}", "{\"seed\":1e300}",
                                          "{\"seed\":\"7\"}"};
        struct ran_error err = {0};
        struct ran_model *m;
        struct draft d;

        draft_init(&d, small());
        add_metadata(&d, "training", NULL);
        for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
                d.metadata[3].text = bad[i];
                draft_refused(&d, "the seed in the model file is not a whole number");
        }
        d.metadata[3].text = "{\"seed\":77}";
        draft_write(&d);
        m = ran_model_open(d.path, false, &err);
        CHECK(m != NULL && m->params.seed == 77);
        ran_model_free(m);
        draft_release(&d);
}

/* The tokenizer is a tensor of bytes, with as many tokens as the embedding has rows. */
TEST(model_with_another_tokenizer_than_its_embedding_is_refused)
{
        struct ran_buf text = {0};
        struct ran_error err = {0};
        struct ran_tokenizer *tokenizer;
        struct ran_model *m;
        struct draft d;
        const char *json;
        size_t n;

        ran_buf_str(&text, "[UNK]\n[MASK]\n[SEP]\n[START]\n[END]\n");
        for (char c = 'a'; c < 'a' + TOY_V - 5; c++)
                ran_buf_printf(&text, "%c\n", c);
        tokenizer = ran_tokenizer_load(text.data, text.len, &err);
        REQUIRE(tokenizer != NULL && ran_tokenizer_size(tokenizer) == TOY_V);
        json = ran_tokenizer_json(tokenizer, &n);
        draft_init(&d, small());
        add_tensor(&d, "tokenizer.json", 0, n, json);
        d.tensor[d.tensors - 1].dtype = RAN_DTYPE_U8;
        draft_write(&d);
        m = ran_model_open(d.path, true, &err);
        REQUIRE(m != NULL && ran_model_tokenizer(m) != NULL);
        CHECK_STR(ran_tokenizer_digest(ran_model_tokenizer(m)), ran_tokenizer_digest(tokenizer));
        ran_model_free(m);

        d.tensor[0].shape[0]--; /* the embedding */
        draft_refused(&d, "tokenizer has 23 tokens and its embedding 22");
        d.tensor[0].shape[0]++;
        d.tensor[d.tensors - 1].shape[0] = n / 2;
        draft_refused(&d, "");
        d.tensor[d.tensors - 1].dtype = RAN_DTYPE_I8;
        draft_refused(&d, "is not bytes");
        draft_release(&d);
        ran_tokenizer_free(tokenizer);
        ran_buf_release(&text);
}

/* ---- narrow weights -------------------------------------------------------------------------- */

/* The upper half of a float; exact where the lower half is 0. */
static uint16_t bf16(float x)
{
        uint32_t bits;

        memcpy(&bits, &x, sizeof(bits));
        return (uint16_t)(bits >> 16);
}

/* Of a multiple of 1/64 below 8 in size: exact, and no denormal. */
static uint16_t f16(float x)
{
        uint32_t bits;

        if (x == 0)
                return 0;
        memcpy(&bits, &x, sizeof(bits));
        return (uint16_t)((bits >> 31) << 15 | ((bits >> 23 & 0xff) - 127 + 15) << 10 |
                          (bits >> 13 & 0x3ff));
}

static void check_narrow(enum ran_dtype dtype, uint16_t (*narrow)(float))
{
        static uint16_t half[MAX_TENSORS][1024];
        struct draft d;

        draft_init(&d, small());
        for (size_t i = 0; i < d.tensors; i++) {
                struct ran_tensor_source *t = &d.tensor[i];
                size_t n = t->rank == 2 ? t->shape[0] * t->shape[1] : t->shape[0];
                float *x = (float *)t->data;

                for (size_t j = 0; j < n; j++) {
                        x[j] = rintf(x[j] * 64) / 64;
                        half[i][j] = narrow(x[j]);
                }
                if (i % 5 == 4) /* some stay wide */
                        continue;
                t->dtype = dtype;
                t->data = half[i];
        }
        draft_write(&d);
        check_opens(d.path, &d.toy, d.toy.c);
        draft_release(&d);
}

TEST(model_of_half_precision_is_read_exactly)
{
        check_narrow(RAN_DTYPE_F16, f16);
        check_narrow(RAN_DTYPE_BF16, bf16);
}

/* ---- damage ---------------------------------------------------------------------------------- */

TEST(model_cut_at_any_byte_is_refused)
{
        struct draft d;
        struct stat st;

        draft_init(&d, small());
        draft_write(&d);
        REQUIRE(stat(d.path, &st) == 0);
        for (off_t n = st.st_size; n-- > 0;)
                if (!CHECK(truncate(d.path, n) == 0) || !check_refused(d.path, ""))
                        break;
        draft_release(&d);
}

static void flip(int fd, off_t at, unsigned char bit)
{
        unsigned char byte;

        CHECK(pread(fd, &byte, 1, at) == 1);
        byte ^= bit;
        CHECK(pwrite(fd, &byte, 1, at) == 1);
}

/* Without --verify weights may be anything, but nothing may be read that is not there. */
TEST(model_with_any_byte_changed_is_refused_or_opens)
{
        struct ran_error err = {0};
        unsigned char length[2];
        struct draft d;
        struct stat st;
        off_t data;
        int fd;

        draft_init(&d, small());
        draft_write(&d);
        fd = open(d.path, O_RDWR);
        REQUIRE(fd >= 0 && fstat(fd, &st) == 0 && pread(fd, length, 2, 0) == 2);
        data = 8 + length[0] + 256 * length[1];
        for (off_t i = 0; i < st.st_size; i += i < data ? 1 : 97) {
                struct ran_model *m;

                flip(fd, i, (unsigned char)(1 << i % 8));
                m = ran_model_open(d.path, false, &err);
                CHECK(m != NULL || err.text[0] != '\0');
                CHECK(i < data || m != NULL);
                ran_model_free(m);
                m = ran_model_open(d.path, true, &err);
                CHECK(i < data || m == NULL); /* the digest is that of the data */
                ran_model_free(m);
                flip(fd, i, (unsigned char)(1 << i % 8));
        }
        close(fd);
        draft_release(&d);
}

/* ---- written by ourselves -------------------------------------------------------------------- */

TEST(model_written_is_read_back)
{
        static char *const labels[TOY_C] = {"a", "b \"quoted\"", "c", "\xc3\xa9"};
        char *path = test_path("written.ran"), *again = test_path("again.ran");
        struct ran_error err = {0};
        struct ran_bytes x = {0}, y = {0};
        struct ran_model *m;
        struct toy t;

        for (size_t i = 0; i < 4; i++) {
                struct ran_config c = toy_config();

                c.ran.cell = (int)i % 3;
                c.ran.review = (int)i, c.ran.review_window = 3 + i;
                c.pooling = i % 2 == 0 ? RAN_POOL_MEAN : RAN_POOL_MAX;
                c.classify.multilabel = i == 3;
                c.spelling = i == 1 ? 30 : 0;
                c.linear.wide = i % 2 == 1 ? 20 : 0;
                toy_init(&t, &c, i, 0.3);
                struct ran_parts parts = {.config = &t.c,
                                          .layout = &t.layout,
                                          .params = &t.p,
                                          .V = t.V,
                                          .C = t.C,
                                          .labels = labels,
                                          .training = "{\"seed\":1}"};
                CHECK_OK(ran_model_write(path, NULL, &parts, &err), err);
                CHECK_OK(ran_model_write(again, NULL, &parts, &err), err);
                check_opens(path, &t, c);
                m = ran_model_open(path, true, &err);
                REQUIRE(m != NULL);
                CHECK(ran_model_vocabulary(m) == TOY_V && ran_model_classes(m) == TOY_C);
                CHECK(ran_model_tokenizer(m) == NULL);
                for (size_t k = 0; k < TOY_C; k++) {
                        CHECK_STR(ran_model_label(m, k), labels[k]);
                        CHECK(ran_model_thresholds(m)[k] == 0.5f);
                }
                CHECK_STR(ran_model_metadata(m, "training"), "{\"seed\":1}");
                CHECK_STR(ran_model_metadata(m, "nothing"), NULL);
                CHECK(ran_model_config(m)->ran.cell == c.ran.cell &&
                      ran_model_config(m)->ran.review == c.ran.review &&
                      ran_model_config(m)->ran.review_window == c.ran.review_window &&
                      ran_model_config(m)->pooling == c.pooling &&
                      ran_model_config(m)->classify.multilabel == c.classify.multilabel);
                ran_model_free(m);
                toy_release(&t);
        }
        CHECK_OK(ran_bytes_open(&x, path, &err), err);
        CHECK_OK(ran_bytes_open(&y, again, &err), err);
        CHECK(x.size == y.size && memcmp(x.data, y.data, x.size) == 0);
        ran_bytes_release(&x);
        ran_bytes_release(&y);
        free(path);
        free(again);
}

static void write_toy(const char *path, struct toy *t, const char *training)
{
        struct ran_parts parts = {.config = &t->c,
                                  .layout = &t->layout,
                                  .params = &t->p,
                                  .V = t->V,
                                  .C = t->C,
                                  .training = training};
        struct ran_error err = {0};

        CHECK_OK(ran_model_write(path, NULL, &parts, &err), err);
}

/* What is said of the models in two files; "" where they are the same. */
static void check_differ(const char *a, const char *b, const char *want)
{
        struct ran_error err = {0};
        struct ran_buf what = {0};
        struct ran_model *x = ran_model_open(a, true, &err), *y = ran_model_open(b, true, &err);

        REQUIRE(x != NULL && y != NULL);
        CHECK(ran_model_same(x, y, &what) == (*want == '\0'));
        ran_buf_char(&what, '\0');
        CHECK(strstr(what.data, want) != NULL);
        if (strstr(what.data, want) == NULL)
                printf("said: %s\n", what.data);
        ran_buf_release(&what);
        ran_model_free(x);
        ran_model_free(y);
}

TEST(model_same_says_where_two_files_differ)
{
        char *path = test_path("one.ran"), *other = test_path("other.ran");
        struct ran_config c = small(), wide = small();
        struct toy t;

        toy_init(&t, &c, 1, 0.3);
        write_toy(path, &t, "{\"seed\":1}");
        write_toy(other, &t, "{\"seed\":1}");
        check_differ(path, other, "");
        write_toy(other, &t, "{\"seed\":2}");
        check_differ(path, other,
                     "the metadata \"training\" differ: {\"seed\":1} and {\"seed\":2}");
        write_toy(other, &t, NULL);
        check_differ(path, other, "the metadata \"training\" are only in one of them");
        check_differ(other, path, "the metadata \"training\" are only in one of them");
        t.embed[5] = 0.25f;
        t.embed[7] = 0.5f;
        write_toy(path, &t, NULL);
        t.embed[5] = t.embed[7] = -0.25f;
        write_toy(other, &t, "{\"seed\":3}");
        check_differ(path, other,
                     "tensor embed.weight: 2 of its 92 elements differ, the first is number 6: "
                     "0.25 and -0.25");
        toy_release(&t);

        wide.linear.wide = 20;
        toy_init(&t, &wide, 1, 0.3);
        write_toy(other, &t, NULL);
        toy_release(&t);
        check_differ(path, other, "tensor ");
        wide.linear.wide = 0;
        wide.dim = 6;
        toy_init(&t, &wide, 1, 0.3);
        write_toy(other, &t, NULL);
        toy_release(&t);
        check_differ(path, other, "has another shape");
        free(path);
        free(other);
}

TEST(model_that_is_no_file_is_an_error)
{
        char *path = test_path("no-such-file.ran");
        struct ran_error err = {0};
        FILE *f;

        CHECK(ran_model_open(path, false, &err) == NULL && err.code == RAN_EIO);
        CHECK(strstr(err.text, path) != NULL);
        f = fopen(path, "wb");
        CHECK(f != NULL && fclose(f) == 0);
        check_refused(path, "");
        free(path);
}
