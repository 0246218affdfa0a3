/* What ran.h says of all functions alike. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "vocabulary.h"

#define FAILS(call)   CHECK((call) != RAN_OK)
#define NOTHING(call) CHECK((call) == NULL)

static void write_file(const char *path, const char *text)
{
        struct ran_error err = {0};
        struct ran_writer *w = ran_writer_open(path, &err);

        CHECK_STR(w == NULL ? err.text : NULL, NULL);
        if (w == NULL)
                return;
        ran_writer_write(w, text, strlen(text));
        CHECK_OK(ran_writer_commit(w, &err), err);
}

/* ---- an error that is NULL ------------------------------------------------------------------- */

TEST(error_may_be_null_in_base)
{
        struct ran_spool spool = {0};
        struct ran_config c;
        char *p = NULL;
        struct ran_bytes bytes;
        size_t cap = 0;

        FAILS(ran_fail(NULL, RAN_EIO, "%s", "nobody reads it"));
        NOTHING(ran_alloc(SIZE_MAX, 2, NULL));
        FAILS(ran_grow(&p, &cap, SIZE_MAX, 2, NULL));
        NOTHING(ran_alloc_floats(SIZE_MAX, NULL));
        FAILS(ran_spool_reserve(&spool, &p, SIZE_MAX, 2, NULL));
        FAILS(ran_bytes_open(&bytes, "", NULL));
        NOTHING(ran_writer_open("", NULL));
        struct ran_writer *w = ran_writer_open("/dev/full", NULL);
        REQUIRE(w != NULL);
        ran_writer_write(w, "x", 1);
        FAILS(ran_writer_commit(w, NULL));
        CHECK(ran_fields_init(ran_config_fields, &c, NULL) == RAN_OK);
        FAILS(ran_field_set(ran_config_fields, &c, "no encoder", NULL));
        FAILS(ran_fields_parse(ran_config_fields, &c, "{\"no\":1}", 8, false, NULL));
}

TEST(error_may_be_null_in_records)
{
        struct ran_record r = {0};
        struct ran_buf out = {0};
        struct ran_tag tag;
        enum ran_tag_scheme scheme;
        size_t wrong;

        FAILS(ran_record_scan(&r, "{\"a\":", 5, NULL));
        FAILS(ran_json_decode("\"\\ud800\"", (struct ran_span){0, 8}, &out, NULL));
        FAILS(ran_tag_parse(&tag, "x", 1, NULL));
        FAILS(ran_tag_census_scheme(&(struct ran_tag_census){.iobes = 1, .bilou = 1}, &scheme,
                                    &wrong, NULL));
        ran_buf_release(&out);
        ran_record_release(&r);
}

TEST(error_may_be_null_in_text)
{
        static const char *const texts[] = {"a b a b", NULL};
        struct ran_vocab_settings settings = default_settings(), bad = settings;
        struct ran_error err = {0};
        struct ran_tokenizer *t = learn_from(&settings, texts, &err);
        struct ran_counter *c = ran_counter_new(&settings, NULL);
        struct ran_buf out = {0};

        REQUIRE(t != NULL && c != NULL);
        bad.split_at = RAN_SPLIT_GPT2;
        NOTHING(ran_tokenizer_load("{", 1, NULL));
        NOTHING(ran_tokenizer_load("a", 1, NULL));
        NOTHING(ran_tokenizer_load("{\"model\":{\"type\":\"Unigram\",\"vocab\":[[1]]}}", 43, NULL));
        NOTHING(ran_tokenizer_open_folder("no/such/folder", NULL));
        FAILS(ran_tokenizer_decode(t, &(uint32_t){999}, 1, &out, NULL));
        NOTHING(ran_counter_new(&bad, NULL));
        FAILS(ran_counter_add(c, "x", 1, NULL));
        NOTHING(ran_counter_learn(c, NULL));
        ran_counter_free(c);
        ran_tokenizer_free(t);
}

/* Each of these is opened, as its first row is good, and cannot be read to its end. */
TEST(error_may_be_null_in_vectors)
{
        static const char *const files[] = {"a 1 2\nb 1\n", "a 1 2\nb 1 nan\n",
                                            "9 2\na 1 2\nb 3 4"};
        static const char *const texts[] = {"a b a b", NULL};
        struct ran_vocab_settings settings = default_settings();
        char *path = test_path("vectors.txt");
        struct ran_error err = {0};
        struct ran_tokenizer *t = learn_from(&settings, texts, &err);
        struct ran_counter *c = ran_counter_new(&settings, &err);
        size_t wanted;

        REQUIRE(t != NULL && c != NULL);
        NOTHING(ran_vectors_open("", 0, NULL));
        write_file(path, "no vectors");
        NOTHING(ran_vectors_open(path, 0, NULL));
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
                struct ran_vectors_report report;
                struct ran_embedding e;

                write_file(path, files[i]);
                NOTHING(ran_vectors_open(path, 3, NULL));
                CHECK(ran_embedding_init(&e, ran_tokenizer_size(t), 2, NULL) == RAN_OK);
                struct ran_vectors *v = ran_vectors_open(path, 0, NULL);
                REQUIRE(v != NULL);
                if (i == 0)
                        FAILS(ran_vectors_want(v, 9, c, &wanted, NULL));
                FAILS(ran_vectors_read(v, t, &e, &report, NULL));
                ran_vectors_free(v);
                ran_embedding_release(&e);
        }
        FAILS(ran_embedding_init(&(struct ran_embedding){0}, SIZE_MAX, 2, NULL));
        ran_counter_free(c);
        ran_tokenizer_free(t);
        free(path);
}

TEST(error_may_be_null_in_models)
{
        const struct ran_cache_settings none = {0};
        struct ran_sampler sampler = {0};
        struct ran_probe_shape shape;
        struct ran_config c;
        struct ran_mask m;
        uint32_t id;

        CHECK(ran_fields_init(ran_config_fields, &c, NULL) == RAN_OK);
        ran_probe_shape(&shape, &c, 3);
        FAILS(ran_mask_init(&m, RAN_ATTENTION_FULL, 0, 0, RAN_MASK_NONE, 0, 0, NULL));
        FAILS(ran_probe_check(&shape, &(struct ran_probe){.layer = 99}, NULL));
        FAILS(ran_sampler_draw(&sampler, NULL, 0, 0, &id, NULL));
        NOTHING(ran_cache_new(&c, &none, NULL));
        NOTHING(ran_model_open("", false, NULL));
        c.mask = RAN_MASK_CAUSAL;
        FAILS(ran_config_check(&c, NULL));
}

/* No documents, but settings. */
static struct ran_train_job idle_job(struct ran_config *c, struct ran_train_settings *s,
                                     const struct ran_dataset *d)
{
        CHECK(ran_fields_init(ran_config_fields, c, NULL) == RAN_OK);
        CHECK(ran_fields_init(ran_train_fields, s, NULL) == RAN_OK);
        return (struct ran_train_job){.config = c, .settings = s, .train = d, .V = 9};
}

static bool is_given(const char *name)
{
        (void)name;
        return false;
}

TEST(error_may_be_null_in_training)
{
        const size_t most = SIZE_MAX / 2;
        const uint32_t zero = 0;
        struct ran_dataset d = {0}, none = {0};
        struct ran_train_estimate e;
        struct ran_train_settings s;
        struct ran_search search;
        struct ran_config c;
        uint32_t label;

        FAILS(ran_dataset_label(&d, "a\0b", 3, &label, NULL));
        FAILS(ran_dataset_add(&d, NULL, most, NULL, 0, 1, NULL));
        FAILS(ran_dataset_add_words(&d, NULL, most, NULL, NULL, 0, 1, NULL));
        FAILS(ran_dataset_add_text(&d, &zero, 1, 0, 1, NULL));
        FAILS(ran_dataset_add_text(&d, NULL, most, 0, 1, NULL));
        CHECK(ran_dataset_add_words(&d, &zero, 1, &zero, &zero, 1, 1, NULL) == RAN_OK);
        FAILS(ran_dataset_continue(&d, NULL, most, NULL, NULL, 0, NULL));
        FAILS(ran_dataset_soft_target(&d, NULL, NULL, most, false, NULL));
        struct ran_train_job job = idle_job(&c, &s, &none);
        FAILS(ran_train(&job, NULL));
        c.mask = RAN_MASK_CAUSAL;
        FAILS(ran_train_estimate(&job, &e, NULL));
        FAILS(ran_search_init(&search, &job, is_given, NULL));
        ran_dataset_release(&d);
}

/* ---- releasing ------------------------------------------------------------------------------- */

#define TWICE(call) (call, call)

TEST(what_is_zero_or_released_can_be_released)
{
        struct ran_train_settings settings = {0};
        struct ran_conll_reader reader = {0};
        struct ran_embedding embedding = {0};
        struct ran_encoding encoding = {0};
        struct ran_vocab_settings vocab = {0};
        struct ran_sampler sampler = {0};
        struct ran_dataset data = {0};
        struct ran_record record = {0};
        struct ran_spool spool = {0};
        struct ran_bytes bytes = {0};
        struct ran_buf buf = {0};

        TWICE(ran_conll_reader_release(&reader));
        TWICE(ran_embedding_release(&embedding));
        TWICE(ran_encoding_release(&encoding));
        TWICE(ran_sampler_release(&sampler));
        TWICE(ran_dataset_release(&data));
        TWICE(ran_record_release(&record));
        TWICE(ran_spool_release(&spool));
        TWICE(ran_bytes_release(&bytes));
        TWICE(ran_buf_release(&buf));
        TWICE(ran_fields_release(ran_vocab_fields, &vocab));
        TWICE(ran_fields_release(ran_train_fields, &settings));
        FAILS(ran_bytes_open(&bytes, "", NULL));
        TWICE(ran_bytes_release(&bytes));
        FAILS(ran_embedding_init(&embedding, SIZE_MAX, 2, NULL));
        TWICE(ran_embedding_release(&embedding));
        CHECK(ran_fields_init(ran_vocab_fields, &vocab, NULL) == RAN_OK);
        CHECK(ran_field_set(ran_vocab_fields, &vocab, "bpe", NULL) == RAN_OK);
        TWICE(ran_fields_release(ran_vocab_fields, &vocab));
        ran_buf_str(&buf, "x");
        TWICE(ran_buf_release(&buf));
        CHECK(ran_dataset_add(&data, &(uint32_t){1}, 1, NULL, 0, 1, NULL) == RAN_OK);
        TWICE(ran_dataset_release(&data));
        CHECK_SIZE(data.B, 0);
}

TEST(nothing_can_be_freed)
{
        ran_pool_free(NULL);
        ran_writer_abort(NULL);
        ran_tokenizer_free(NULL);
        ran_vectors_free(NULL);
        ran_vector_folder_release(&(struct ran_vector_folder){0});
        ran_counter_free(NULL);
        ran_model_free(NULL);
        ran_state_free(NULL);
        ran_lm_context_free(NULL);
        ran_cache_free(NULL);
        ran_explainer_free(NULL);
        ran_eval_free(NULL);
        ran_conll_free(NULL);
        ran_strict_free(NULL);
        ran_ranks_close(NULL, 0);
}
