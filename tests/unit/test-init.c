/* Where weights begin: as word vectors, as another model, and what stays of that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/model.h"
#include "test.h"
#include "training.h"
#include "vocabulary.h"

static struct ran_model *open_model(const char *path)
{
        struct ran_error err = {0};
        struct ran_model *m = ran_model_open(path, true, &err);

        test_check(m != NULL, err.text, __FILE__, __LINE__);
        return m;
}

/* Trains, and opens what came of it. */
static struct ran_model *train(struct training *t)
{
        struct ran_error err = {0};

        return CHECK_OK(training_run(t, 2, &err), err) ? open_model(t->output) : NULL;
}

static void refused(struct training *t, const char *sentence)
{
        struct ran_error err = {0};

        CHECK_SIZE((size_t)training_run(t, 1, &err), RAN_EINVAL);
        if (!CHECK(strstr(err.text, sentence) != NULL))
                printf("  said: %s\n", err.text);
}

/* Nothing moves: what the model holds is what it began with. */
static void stand_still(struct training *t)
{
        t->s.learning_rate = t->s.min_learning_rate = t->s.init_rate = 0;
        t->s.epochs = 1;
}

/* ---- word vectors ---------------------------------------------------------------------------- */

/* Vectors for every third id. */
static void make_vectors(struct ran_embedding *e, size_t D)
{
        struct dice dice = {.key = 8};
        struct ran_error err = {0};

        CHECK_OK(ran_embedding_init(e, CORPUS_V, D, &err), err);
        dice_floats(&dice, e->rows, CORPUS_V * D, 0.5);
        for (size_t id = 0; id < CORPUS_V; id += 3)
                e->given[id] = true;
        memset(e->digest, 'a', sizeof e->digest - 1);
}

static bool same_row(const struct ran_model *m, const float *rows, size_t id)
{
        size_t D = m->config.dim;

        return memcmp(m->params.embed + id * D, rows + id * D, D * sizeof(float)) == 0;
}

TEST(init_as_vectors_where_they_are_given)
{
        struct ran_embedding e;
        struct ran_model *chance, *given;
        struct training t;

        training_init(&t, "vectors", 20, false);
        t.s.vectors_rms = 0;
        make_vectors(&e, t.c.dim);
        stand_still(&t);
        chance = train(&t);
        t.job.vectors = &e;
        given = train(&t);
        REQUIRE(chance != NULL && given != NULL);
        for (size_t id = 0; id < CORPUS_V; id++)
                CHECK(same_row(given, id % 3 == 0 ? e.rows : chance->params.embed, id));
        CHECK(strstr(ran_model_metadata(given, "training"), "\"vectors\":{\"digest\":\"aaaa") !=
              NULL);
        CHECK(strstr(ran_model_metadata(chance, "training"), "\"vectors\"") == NULL);
        ran_model_free(chance);
        ran_model_free(given);
        ran_embedding_release(&e);
        training_release(&t);
}

/* All by one factor. */
TEST(init_as_vectors_of_another_size_of_numbers)
{
        struct ran_embedding e;
        struct ran_model *m;
        struct training t;
        double squares = 0, factor;

        training_init(&t, "scale", 20, false);
        make_vectors(&e, t.c.dim);
        stand_still(&t);
        t.s.vectors_rms = 0.25;
        t.job.vectors = &e;
        m = train(&t);
        REQUIRE(m != NULL);
        for (size_t i = 0; i < CORPUS_V * e.D; i++)
                if (e.given[i / e.D])
                        squares += pow((double)e.rows[i], 2) / (double)(CORPUS_V / 3 * e.D);
        factor = 0.25 / sqrt(squares);
        for (size_t i = 0; i < CORPUS_V * e.D; i++)
                if (e.given[i / e.D])
                        CHECK_NEAR((double)m->params.embed[i], factor * (double)e.rows[i], 1e-6);
        ran_model_free(m);
        memset(e.rows, 0, CORPUS_V * e.D * sizeof(float)); /* of which there is no factor */
        m = train(&t);
        REQUIRE(m != NULL);
        CHECK(m->params.embed[0] == 0);
        ran_model_free(m);
        ran_embedding_release(&e);
        training_release(&t);
}

/* With half open gates 64 windows later nothing is left of what a cell held. */
TEST(init_spreads_how_long_the_elements_of_a_cell_remember)
{
        struct ran_model *m;
        struct training t;
        size_t spread = 0;

        training_init(&t, "memory", 20, false);
        stand_still(&t);
        t.c.ran.cell = RAN_CELL_PRENORM;
        for (t.s.cell_memory = 1; t.s.cell_memory <= 64; t.s.cell_memory *= 64) {
                m = train(&t);
                REQUIRE(m != NULL);
                for (size_t i = 0; i < m->tensors.n; i++) {
                        const struct ran_tensor *bias = &m->tensors.tensor[i];
                        const float *b = ran_tensor_in_place(&m->tensors, bias);
                        const size_t D = bias->elements;

                        if (strstr(bias->name, ".update_gate.bias") == NULL)
                                continue;
                        spread++;
                        for (size_t d = 0; d < D; d++)
                                CHECK_NEAR((double)b[d],
                                           -log((double)t.s.cell_memory) * (double)(d + 1) /
                                                   (double)D,
                                           1e-5);
                        CHECK_NEAR(exp(-(double)b[D - 1]), (double)t.s.cell_memory, 1e-3);
                }
                ran_model_free(m);
        }
        CHECK_SIZE(spread, 2 * t.c.layers);
        training_release(&t);
}

TEST(init_freezes_rows_that_were_given_and_no_others)
{
        struct ran_embedding e;
        struct ran_model *m;
        struct training t;

        training_init(&t, "freeze", 20, false);
        t.s.vectors_rms = 0;
        make_vectors(&e, t.c.dim);
        t.job.vectors = &e;
        m = train(&t);
        REQUIRE(m != NULL);
        for (size_t id = 0; id < CORPUS_V; id++)
                CHECK(!same_row(m, e.rows, id));
        ran_model_free(m);
        double norm = t.report[0].gradient_norm;
        t.s.freeze = true;
        m = train(&t);
        REQUIRE(m != NULL);
        for (size_t id = 0; id < CORPUS_V; id++)
                CHECK(same_row(m, e.rows, id) == (id % 3 == 0));
        CHECK(t.report[0].gradient_norm < norm); /* nor do they count when it is clipped */
        ran_model_free(m);
        t.job.vectors = NULL;
        refused(&t, "freeze keeps given embedding rows");
        ran_embedding_release(&e);
        training_release(&t);
}

TEST(init_refuses_vectors_of_another_size)
{
        struct ran_embedding e;
        struct training t;

        training_init(&t, "size", 20, false);
        make_vectors(&e, t.c.dim + 1);
        t.job.vectors = &e;
        refused(&t, "12 by 9 do not fit an embedding of 12 by 8");
        ran_embedding_release(&e);
        make_vectors(&e, t.c.dim);
        t.job.V++;
        refused(&t, "12 by 8 do not fit an embedding of 13 by 8");
        ran_embedding_release(&e);
        training_release(&t);
}

/* ---- another model --------------------------------------------------------------------------- */

static const float *tensor(const struct ran_model *m, const char *name, size_t *n)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, name);

        *n = t != NULL ? t->elements : 0;
        return t != NULL ? ran_tensor_in_place(&m->tensors, t) : NULL;
}

static bool same_tensor(const struct ran_model *a, const struct ran_model *b, const char *name)
{
        size_t n, m;
        const float *x = tensor(a, name, &n), *y = tensor(b, name, &m);

        return x != NULL && y != NULL && n == m && memcmp(x, y, n * sizeof *x) == 0;
}

/* A model to begin with, and a run that begins with it. */
static struct ran_model *begin(struct training *t, const char *name, struct training *with)
{
        struct ran_model *m;

        training_init(with, "base", 20, false);
        m = train(with);
        training_init(t, name, 20, false);
        t->s.seed = 5;
        t->job.init = m;
        return m;
}

TEST(init_as_a_model_whole_where_task_and_classes_are_the_same)
{
        struct training base, t;
        struct ran_model *from = begin(&t, "again", &base), *m;

        stand_still(&t);
        m = from != NULL ? train(&t) : NULL;
        REQUIRE(m != NULL);
        CHECK(ran_train_keeps_head(&t.job));
        CHECK(memcmp(m->params.embed, from->params.embed, m->V * m->config.dim * sizeof(float)) ==
              0);
        for (size_t i = 0; i < m->tensors.n; i++)
                CHECK(same_tensor(m, from, m->tensors.tensor[i].name));
        ran_model_free(m);
        ran_model_free(from);
        training_release(&t);
        training_release(&base);
}

/* One that goes on with "snowman", seen twice: a thirteenth token. */
static struct ran_tokenizer *extend(const struct ran_tokenizer *of)
{
        const struct ran_vocab_settings s = default_settings();
        struct ran_error err = {0};
        struct ran_encoding e = {0};
        struct ran_buf words = {0};
        struct ran_counter *c = ran_counter_new_like(&s, of);
        struct ran_tokenizer *t = NULL;

        if (!CHECK_OK(c != NULL ? RAN_OK : err.code, err))
                return NULL;
        CHECK_OK(ran_counter_words(c, "snowman snowman", 15, &e, &words, &err), err);
        CHECK_OK(ran_counter_add(c, words.data, words.len, &err), err);
        CHECK_OK(ran_counter_extend(c, of, 2, &t, &err), err);
        ran_encoding_release(&e);
        ran_buf_release(&words);
        ran_counter_free(c);
        return t;
}

TEST(init_gives_words_that_extend_a_vocabulary_the_mean_of_their_tokens)
{
        const char vocab[] =
                "[UNK]\n[MASK]\n[SEP]\n[START]\n[END]\nthe\nsnow\n##man\n##s\nrain\na\n##b\n";
        enum { SNOW = 6, MAN };
        struct ran_error err = {0};
        struct training base, t;
        struct ran_tokenizer *own = ran_tokenizer_load(vocab, sizeof vocab - 1, &err), *more;
        struct ran_model *from, *m;

        REQUIRE(own != NULL && ran_tokenizer_size(own) == CORPUS_V);
        more = extend(own);
        REQUIRE(more != NULL);
        training_init(&base, "base", 20, false);
        base.job.tokenizer = own;
        from = train(&base);
        training_init(&t, "extended", 20, false);
        t.job.init = from;
        t.job.tokenizer = more;
        stand_still(&t);
        m = from != NULL ? train(&t) : NULL;
        REQUIRE(m != NULL && m->V == CORPUS_V + 1);
        for (size_t id = 0; id < CORPUS_V; id++)
                CHECK(same_row(m, from->params.embed, id));
        for (size_t d = 0, D = t.c.dim; d < D; d++)
                CHECK_NEAR((double)m->params.embed[CORPUS_V * D + d],
                           ((double)from->params.embed[SNOW * D + d] +
                            (double)from->params.embed[MAN * D + d]) /
                                   2,
                           1e-6);
        CHECK(same_tensor(m, from, "ran.0.attn.q.weight"));
        ran_model_free(m);
        t.job.init = NULL;
        base.job.init = m = train(&t);
        REQUIRE(m != NULL);
        refused(&base, "an embedding of 13 by 8, not of 12 by 8");
        ran_model_free(m);
        ran_model_free(from);
        ran_tokenizer_free(more);
        ran_tokenizer_free(own);
        training_release(&t);
        training_release(&base);
}

/* Which of the tensors are those of `from`. */
static void check_taken(struct training *t, const struct ran_model *from, bool encoder)
{
        struct ran_model *m;

        stand_still(t);
        CHECK(!ran_train_keeps_head(&t->job));
        m = train(t);
        REQUIRE(m != NULL);
        CHECK(memcmp(m->params.embed, from->params.embed, m->V * m->config.dim * sizeof(float)) ==
              0);
        CHECK(same_tensor(m, from, "ran.0.attn.q.weight") == encoder);
        CHECK(same_tensor(m, from, "ran.1.review.k.weight") == encoder);
        CHECK(!same_tensor(m, from, "classify.pool.weight"));
        CHECK(!same_tensor(m, from, "classify.out.weight"));
        ran_model_free(m);
}

TEST(init_as_a_model_without_its_head_where_classes_differ)
{
        struct training base, t;
        struct ran_model *from = begin(&t, "other", &base);

        REQUIRE(from != NULL);
        t.train.names[1][0] = 'R'; /* as many classes, but others */
        t.dev.names[1][0] = 'R';
        check_taken(&t, from, true);
        training_release(&t);

        training_init(&t, "several", 20, true); /* the same classes, but several of them */
        t.job.init = from, t.s.seed = 5;
        check_taken(&t, from, true);
        training_release(&t);

        training_init(&t, "heads", 20, false); /* another encoder */
        t.job.init = from, t.s.seed = 5;
        t.train.names[1][0] = t.dev.names[1][0] = 'R';
        t.c.heads = 1, t.c.head_dim = 2;
        stand_still(&t);
        struct ran_model *m = train(&t);
        REQUIRE(m != NULL);
        CHECK(!same_tensor(m, from, "ran.0.attn.q.weight"));
        CHECK(same_tensor(m, from, "ran.0.gpc.weight")); /* as far as shapes are the same */
        ran_model_free(m);
        ran_model_free(from);
        training_release(&t);
        training_release(&base);
}

/* The table of spelling is the model's if it has one of that size. */
TEST(init_as_a_model_with_spelling)
{
        struct training base, t;
        struct ran_model *from = begin(&t, "spelling", &base), *m;
        const char *table = "spelling.weight";

        REQUIRE(from != NULL);
        stand_still(&t);
        t.c.spelling = CORPUS_SPELLING; /* the model has none */
        m = train(&t);
        REQUIRE(m != NULL);
        CHECK(same_tensor(m, from, "embed.weight"));
        t.job.init = m;
        t.s.seed = 11;
        struct ran_model *same = train(&t);
        REQUIRE(same != NULL);
        CHECK(same_tensor(same, m, table));
        t.job.init = NULL;
        struct ran_model *chance = train(&t);
        REQUIRE(chance != NULL);
        CHECK(!same_tensor(chance, m, table));
        ran_model_free(m);
        ran_model_free(same);
        ran_model_free(chance);
        ran_model_free(from);
        training_release(&t);
        training_release(&base);
}

/* The linear model is part of the head: it goes along if the classes are the same. */
TEST(init_as_a_model_with_a_linear_model)
{
        struct training base, t;
        struct ran_model *from, *same, *other;

        training_init(&base, "wide-from", 20, false);
        base.c.linear.wide = 64;
        base.job.dev = NULL; /* which would drop the encoder */
        from = train(&base);
        training_init(&t, "wide", 20, false);
        t.c.linear.wide = 64;
        t.job.init = from;
        stand_still(&t);
        t.train.B -= 5;   /* other documents have other frequencies */
        t.job.dev = NULL; /* which would fit the ensemble anew */
        same = train(&t);
        REQUIRE(from != NULL && same != NULL);
        CHECK(same_tensor(same, from, "wide.weight") && same_tensor(same, from, "wide.idf"));
        CHECK(same_tensor(same, from, "wide.bias") &&
              same_tensor(same, from, "classify.out.weight"));
        t.c.linear.ngrams = 1;
        other = train(&t);
        REQUIRE(other != NULL);
        CHECK(!same_tensor(other, from, "wide.weight") && !same_tensor(other, from, "wide.idf"));
        ran_model_free(other);
        t.c.linear.ngrams = base.c.linear.ngrams;
        t.train.names[1][0] = t.dev.names[1][0] = 'R';
        other = train(&t);
        REQUIRE(other != NULL);
        CHECK(!same_tensor(other, from, "wide.weight") && !same_tensor(other, from, "wide.idf"));
        t.train.B += 5;
        ran_model_free(other);
        ran_model_free(same);
        ran_model_free(from);
        training_release(&t);
        training_release(&base);
}

TEST(init_learns_what_it_took_at_a_rate_of_its_own)
{
        struct training base, t;
        struct ran_model *from = begin(&t, "rate", &base), *m;

        REQUIRE(from != NULL);
        t.train.names[1][0] = t.dev.names[1][0] = 'R';
        t.s.init_rate = 0;
        m = train(&t);
        REQUIRE(m != NULL);
        CHECK(same_tensor(m, from, "embed.weight"));
        CHECK(same_tensor(m, from, "ran.0.attn.q.weight"));
        ran_model_free(m);
        t.s.init_rate = 0.1;
        m = train(&t);
        REQUIRE(m != NULL);
        CHECK(!same_tensor(m, from, "embed.weight"));
        CHECK(!same_tensor(m, from, "ran.0.attn.q.weight"));
        ran_model_free(m);
        t.s.freeze = true;
        m = train(&t);
        REQUIRE(m != NULL);
        CHECK(same_tensor(m, from, "embed.weight"));
        CHECK(!same_tensor(m, from, "ran.0.attn.q.weight"));
        ran_model_free(m);
        ran_model_free(from);
        training_release(&t);
        training_release(&base);
}

TEST(init_refuses_a_model_of_another_size)
{
        struct training base, t;
        struct ran_model *from = begin(&t, "width", &base);

        REQUIRE(from != NULL);
        t.c.dim = 10;
        refused(&t, "an embedding of 12 by 8, not of 12 by 10");
        t.c.dim = 8, t.job.V = 14;
        refused(&t, "an embedding of 12 by 8, not of 14 by 8");
        ran_model_free(from);
        training_release(&t);
        training_release(&base);
}

/* ---- resuming -------------------------------------------------------------------------------- */

static void check_resume(struct training *t, size_t at)
{
        struct ran_error err = {0};
        char *whole = test_path("start-whole.ran");

        CHECK_OK(training_run(t, 1, &err), err);
        CHECK(rename(t->output, whole) == 0);
        t->stop_at = at;
        CHECK_SIZE((size_t)training_run(t, 1, &err), RAN_EINTR);
        t->stop_at = 0;
        t->job.resume = true;
        CHECK_OK(training_run(t, 1, &err), err);
        CHECK(same_file(t->output, whole));
        t->job.resume = false;
        t->stop_at = at;
        unlink(t->output);
        CHECK_SIZE((size_t)training_run(t, 1, &err), RAN_EINTR);
        t->stop_at = 0;
        t->job.resume = true;
        free(whole);
}

TEST(init_resumes_and_only_with_the_same_files)
{
        struct training base, t;
        struct ran_model *from = begin(&t, "resumed", &base), *other;
        struct ran_embedding e;

        REQUIRE(from != NULL);
        t.s.init_rate = 0.5;
        t.s.freeze = true;
        check_resume(&t, 7);
        base.s.seed = 9; /* another model */
        other = train(&base);
        REQUIRE(other != NULL);
        t.job.init = other;
        refused(&t, "the checkpoint belongs to");
        t.job.init = NULL, t.s.freeze = false;
        refused(&t, "the checkpoint belongs to");
        training_release(&t);
        ran_model_free(from);
        ran_model_free(other);

        training_init(&t, "vectored", 20, false);
        make_vectors(&e, t.c.dim);
        t.job.vectors = &e;
        t.s.freeze = true;
        check_resume(&t, 9);
        e.digest[7] = 'b';
        refused(&t, "the checkpoint belongs to");
        e.digest[7] = 'a', t.s.freeze = false;
        refused(&t, "the checkpoint belongs to");
        ran_embedding_release(&e);
        training_release(&t);
        training_release(&base);
}
