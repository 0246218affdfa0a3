/* What bears on a result: against central differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "nn/part.h"
#include "nn/unread.h"
#include "file/model.h"
#include "part/linear/linear-words.h"
#include "part/linear/linear-model.h"
#include "part/vectors/document-vector.h"
#include "test.h"
#include "toy.h"

enum { L = 9, WORDS = 4 };

static const uint32_t positions[WORDS] = {0, 2, 3, 7};

static struct ran_model *model_in(const struct toy *t, int storage)
{
        struct ran_error err = {0};
        char *path = test_path("explain.ran");
        struct ran_model *m;

        CHECK_OK(ran_model_write(path, NULL,
                                 &(struct ran_parts){.config = &t->c,
                                                     .layout = &t->layout,
                                                     .params = &t->p,
                                                     .V = t->V,
                                                     .C = t->C,
                                                     .storage = storage},
                                 &err),
                 err);
        m = ran_model_open(path, false, &err);
        CHECK_STR(m == NULL ? err.text : NULL, NULL);
        free(path);
        return m;
}

static struct ran_model *model_of(const struct toy *t)
{
        return model_in(t, RAN_STORAGE_F32);
}

/* Every token another piece, so that its row can be changed alone. */
static struct ran_document document(void)
{
        static uint32_t ids[L];

        for (uint32_t t = 0; t < L; t++)
                ids[t] = t;
        return (struct ran_document){.ids = ids, .L = L};
}

static double odds_of(const struct ran_config *c, const float *logits, size_t class)
{
        double others = 0;

        for (size_t i = 0; i < TOY_C; i++)
                others += i != class ? exp((double)logits[i]) : 0;
        return (double)logits[class] - (c->classify.multilabel ? 0 : log(others));
}

/* Log odds of c, in output `row`, once the rows of the ids in [from, to) have been scaled. */
static double odds(struct toy *t, const struct ran_document *d, size_t row, size_t c, size_t from,
                   size_t to, double scale)
{
        size_t D = t->c.dim;
        struct ran_error err = {0};
        float *was = ran_alloc_floats(L * D, &err);
        float logits[WORDS * TOY_C];
        struct ran_model *m;
        struct ran_state *s;

        memcpy(was, t->embed, L * D * sizeof(*was));
        for (size_t i = from * D; i < to * D; i++)
                t->embed[i] = (float)(scale * (double)t->embed[i]);
        m = model_of(t);
        s = ran_state_new(m, NULL);
        if (t->c.task == RAN_TASK_TAG) {
                uint32_t tags[WORDS];

                CHECK_OK(ran_tag(m, s, d, tags, NULL, logits, &err), err);
        } else {
                CHECK_OK(ran_classify(m, s, d, logits, NULL, &err), err);
        }
        memcpy(t->embed, was, L * D * sizeof(*was));
        ran_state_free(s);
        ran_model_free(m);
        free(was);
        return odds_of(&t->c, logits + row * TOY_C, c);
}

static double sum(const double *x, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += x[i];
        return sum;
}

static void clear_linear(struct toy *t)
{
        const struct ran_linear_params *own = ran_linear_of(&t->p);

        if (own != NULL)
                memset((float *)own->wide, 0, t->c.linear.wide * t->C * sizeof *own->wide);
}

/* Rows are small, so that their layer norm does not hide the size that is changed. */
static void check_gradient(const struct ran_config *c)
{
        const double step = 0.01;
        struct ran_document d = document();
        struct ran_error err = {0};
        struct ran_explainer *e;
        struct ran_model *m;
        size_t row = 0, class = 1;
        double value[L], all;
        struct toy t;

        toy_init(&t, c, 21, 0.3);
        for (size_t i = 0; i < t.V * c->dim && c->encoder != RAN_ENCODER_BERT; i++)
                t.embed[i] *= 0.02f;
        clear_linear(&t); /* no row scales n-grams */
        if (c->task == RAN_TASK_TAG) {
                d.positions = positions, d.words = WORDS;
                row = 2;
        }
        m = model_of(&t);
        e = ran_explainer_new(m, NULL);
        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_OK(ran_explain_label(e, row, class, 0, value, &err), err);
        all = (odds(&t, &d, row, class, 0, L, 1 + step) -
               odds(&t, &d, row, class, 0, L, 1 - step)) /
              (2 * step);
        CHECK(fabs(all) > 0.01);
        CHECK_NEAR(sum(value, L), all, 2e-3 * fmax(1, fabs(all)));
        for (size_t i = 0; i < L; i++)
                CHECK_NEAR(value[i],
                           (odds(&t, &d, row, class, i, i + 1, 1 + step) -
                            odds(&t, &d, row, class, i, i + 1, 1 - step)) /
                                   (2 * step),
                           1e-3);
        ran_explainer_free(e);
        ran_model_free(m);
        toy_release(&t);
}

/* The whole of a path is what lies between its ends. */
static void check_path(const struct ran_config *c)
{
        struct ran_document d = document();
        struct ran_error err = {0};
        struct ran_explainer *e;
        struct ran_model *m;
        double value[L], whole;
        struct toy t;

        toy_init(&t, c, 22, 0.3);
        d.positions = positions, d.words = c->task == RAN_TASK_TAG ? WORDS : 0;
        m = model_of(&t);
        e = ran_explainer_new(m, NULL);
        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_OK(ran_explain_label(e, 0, 1, 300, value, &err), err);
        whole = odds(&t, &d, 0, 1, 0, L, 1);
        clear_linear(&t);
        whole -= odds(&t, &d, 0, 1, 0, L, 0);
        CHECK(fabs(whole) > 0.05);
        CHECK_NEAR(sum(value, L), whole, 0.01 * fmax(1, fabs(whole)));
        ran_explainer_free(e);
        ran_model_free(m);
        toy_release(&t);
}

/* What tokens add is all that the log odds have over those of no document. A gradient that is asked
 * for later, which needs more memory, is what it is alone. */
static void check_parts(const struct ran_config *c)
{
        struct ran_document d = document();
        struct ran_error err = {0};
        double value[L], late[L], alone[L];
        float logits[TOY_C];
        struct toy t;

        toy_init(&t, c, 24, 0.3);
        struct ran_model *m = model_of(&t);
        struct ran_state *s = ran_state_new(m, NULL);
        CHECK_OK(ran_classify(m, s, &d, logits, NULL, &err), err);
        for (size_t class = 0; class < TOY_C; class ++) {
                struct ran_explainer *e = ran_explainer_new(m, NULL);
                const float none[TOY_C] = {0};
                double whole = odds_of(c, logits, class) - odds_of(c, none, class);

                CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
                for (size_t again = 0; again < 2; again++) {
                        CHECK_OK(ran_explain_label(e, 0, class, RAN_EXPLAIN_BEST, value, &err),
                                 err);
                        CHECK(fabs(whole) > 0.01);
                        CHECK_NEAR(sum(value, L), whole, 1e-4 * fmax(1, fabs(whole)));
                }
                CHECK_OK(ran_explain_label(e, 0, class, 0, late, &err), err);
                ran_explainer_free(e);
                e = ran_explainer_new(m, NULL);
                CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
                CHECK_OK(ran_explain_label(e, 0, class, 0, alone, &err), err);
                CHECK(memcmp(late, alone, sizeof alone) == 0);
                ran_explainer_free(e);
        }
        ran_state_free(s);
        ran_model_free(m);
        toy_release(&t);
}

/* Layers in eight bits are still in the file when a backward pass begins (nn/unread.h). */
TEST(explain_knows_layers_that_were_left_in_the_file)
{
        struct ran_config c = toy_config();
        struct ran_document d = document();
        struct ran_error err = {0};
        double value[2][L];
        struct toy t;

        c.ran.cell = RAN_CELL_PRENORM;
        toy_init(&t, &c, 24, 0.3);
        for (size_t i = 0; i < 2; i++) {
                struct ran_model *m = model_in(&t, RAN_STORAGE_I8);
                struct ran_explainer *e = ran_explainer_new(m, NULL);

                if (i == 1)
                        ran_unread_read(m->params.unread);
                CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
                CHECK_OK(ran_explain_label(e, 0, 1, 0, value[i], &err), err);
                ran_explainer_free(e);
                ran_model_free(m);
        }
        CHECK(isfinite(sum(value[0], L)));
        CHECK(memcmp(value[0], value[1], sizeof value[0]) == 0);
        toy_release(&t);
}

TEST(explain_parts_of_a_frozen_encoder_add_up_to_the_odds)
{
        struct ran_config c = toy_config();

        c.frozen = true;
        c.linear.wide = 40;
        c.ran.cell = RAN_CELL_PRENORM;
        check_parts(&c);
        c.ran.vector = true;
        check_parts(&c);
        c.classify.multilabel = true;
        check_parts(&c);
        c.ran.vector = false;
        c.encoder = RAN_ENCODER_TRANSFORMER;
        check_parts(&c);
        c.encoder = RAN_ENCODER_STATIC;
        check_parts(&c);
}

/* Rows that nothing joins: each token's part is its own row's, and a share of the bias. */
TEST(explain_the_part_of_a_token_is_what_its_row_adds)
{
        struct ran_config c = toy_config();
        struct ran_document d = document();
        struct ran_error err = {0};
        double value[L], weights = 0;
        struct toy t;

        c.frozen = c.classify.multilabel = true;
        c.linear.wide = 40;
        c.encoder = RAN_ENCODER_STATIC;
        toy_init(&t, &c, 25, 0.3);
        clear_linear(&t);
        struct ran_model *m = model_of(&t);
        struct ran_explainer *e = ran_explainer_new(m, NULL);
        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_OK(ran_explain_label(e, 0, 1, RAN_EXPLAIN_BEST, value, &err), err);
        for (size_t i = 0; i < L; i++)
                weights += (double)ran_document_vector_weight(&t.p, i);
        for (size_t i = 0; i < L; i++) {
                const double bias = (double)ran_linear_of(&t.p)->bias[1] / L;
                double own = 0;

                for (size_t f = 0; f < c.dim; f++)
                        own += (double)t.embed[i * c.dim + f] *
                               (double)ran_linear_of(&t.p)->dense[f * t.C + 1];
                CHECK_NEAR(value[i],
                           own * (double)ran_document_vector_weight(&t.p, i) / weights + bias,
                           1e-5);
        }
        ran_explainer_free(e);
        ran_model_free(m);
        toy_release(&t);
}

/* An encoder of the family BERT, windows of five tokens. */
static struct ran_config bert(bool norm_first)
{
        struct ran_config c = toy_config();

        c.encoder = RAN_ENCODER_BERT;
        c.layers = 3;
        c.ffn_dim = 9;
        c.bert.prefix = c.bert.suffix = c.bert.global_every = 1;
        c.bert.pool_skip = norm_first;
        c.bert.max_length = 7;
        c.bert.norm_eps = 0.1; /* or it would hide the size of a row */
        c.bert.norm_first = norm_first;
        c.bert.bias = true;
        c.pooling = RAN_POOL_MEAN;
        c.linear.wide = 40;
        return c;
}

static void each_model(void (*check)(const struct ran_config *c))
{
        struct ran_config c = toy_config();

        check(&c);
        c.ran.cell = RAN_CELL_PLAIN;
        c.pooling = RAN_POOL_MEAN;
        check(&c);
        c = toy_config();
        c.task = RAN_TASK_TAG;
        check(&c);
        c = toy_config();
        c.encoder = RAN_ENCODER_TRANSFORMER;
        c.classify.multilabel = true;
        check(&c);
        c = toy_config();
        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        c.contextualizer.context = RAN_CONTEXT_RANDOM; /* that of scoring */
        check(&c);
        c = toy_config();
        c.frozen = true;
        c.linear.wide = 40;
        c.ran.cell = RAN_CELL_PRENORM;
        check(&c);
        c.encoder = RAN_ENCODER_TRANSFORMER;
        c.classify.multilabel = true;
        check(&c);
        for (int norm_first = 0; norm_first < 2; norm_first++) {
                c = bert(norm_first);
                check(&c);
                c.frozen = true;
                check(&c);
        }
}

TEST(explain_gradient_times_input_is_a_directional_derivative)
{
        each_model(check_gradient);
}

TEST(explain_a_path_leads_from_nothing_to_the_odds)
{
        struct ran_config c = toy_config();

        each_model(check_path);
        c.linear.wide = 40;
        check_path(&c);
        c.task = RAN_TASK_TAG;
        check_path(&c);
        c = toy_config();
        c.encoder = RAN_ENCODER_STATIC;
        c.frozen = true;
        c.linear.wide = 40;
        check_path(&c);
}

/* Class c of all runs of the document that token t is part of, each shared out among its tokens. */
static double runs_of(const struct toy *t, const struct ran_document *d, size_t at, size_t c)
{
        double x[64] = {0}, squares = 0, value = 0;

        for (size_t n = 1; n <= t->c.linear.ngrams; n++)
                for (size_t i = 0; i + n <= L; i++)
                        x[ran_linear_model_bucket(d->ids + i, n, t->c.linear.wide)]++;
        for (size_t g = 0; g < t->c.linear.wide; g++)
                squares += x[g] > 0 ? pow((1 + log(x[g])) * (double)ran_linear_of(&t->p)->idf[g], 2)
                                    : 0;
        for (size_t n = 1; n <= t->c.linear.ngrams; n++)
                for (size_t i = 0; i + n <= L; i++) {
                        size_t g = ran_linear_model_bucket(d->ids + i, n, t->c.linear.wide);
                        double whole = (1 + log(x[g])) * (double)ran_linear_of(&t->p)->idf[g] /
                                       sqrt(squares);

                        if (i <= at && at < i + n)
                                value += whole / (x[g] * (double)n) *
                                         (double)ran_linear_of(&t->p)->wide[g * t->C + c];
                }
        return value;
}

static void check_wide(size_t steps)
{
        struct ran_config c = toy_config();
        struct ran_document d = document();
        struct ran_error err = {0};
        double value[2][L];
        struct toy t;

        c.classify.multilabel = true; /* whose log odds are the logit itself */
        c.linear.wide = 40;
        toy_init(&t, &c, 23, 0.3);
        ((uint32_t *)d.ids)[5] = 1; /* twice */
        ((uint32_t *)d.ids)[6] = 2;
        for (size_t k = 0; k < 2; k++) {
                struct ran_model *m = model_of(&t);
                struct ran_explainer *e = ran_explainer_new(m, NULL);

                CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
                CHECK_OK(ran_explain_label(e, 0, 1, steps, value[k], &err), err);
                for (size_t i = 0; i < L; i++)
                        value[k][i] -= k == 0 ? runs_of(&t, &d, i, 1) : 0;
                ran_explainer_free(e);
                ran_model_free(m);
                memset(t.embed + toy_tables(&t), 0,
                       c.linear.wide * sizeof(float)); /* no bucket counts */
        }
        for (size_t i = 0; i < L; i++)
                CHECK_NEAR(value[0][i], value[1][i], 1e-5);
        toy_release(&t);
}

TEST(explain_runs_of_the_linear_model_belong_to_their_tokens)
{
        check_wide(0);
        check_wide(1);
        check_wide(7);
}

/* What the log odds of class c of a word gain by a row of the linear model. */
static double worth(const struct toy *t, const float *logits, size_t c, size_t bucket)
{
        const float *row = ran_linear_of(&t->p)->wide + bucket * t->C;
        double sum = 0, others = 0;

        for (size_t i = 0; i < t->C; i++)
                if (i != c) {
                        sum += exp((double)logits[i]);
                        others += exp((double)logits[i]) * (double)row[i];
                }
        return (double)row[c] - others / sum;
}

/* The middle one of three words, before another sentence. The encoder says nothing of its tokens:
 * their rows are zeros. gain (L): of each token; each (n): of each feature. */
static size_t explain_middle(const struct ran_config *c, double *gain, double *each)
{
        static const bool begins[WORDS] = {true, false, false, true};
        static uint32_t spelling[L * RAN_SPELLING];
        struct ran_document d = document();
        struct ran_error err = {0};
        uint32_t bucket[200], tags[WORDS];
        float logits[WORDS * TOY_C];
        struct toy t;

        for (uint32_t i = 0; i < L * RAN_SPELLING && c->spelling > 0; i++)
                spelling[i] = i % (uint32_t)c->spelling;
        d.positions = positions, d.words = WORDS, d.begins = begins, d.spelling = spelling;
        toy_init(&t, c, 27, 0.3);
        memset(t.embed, 0, (t.V + c->spelling) * c->dim * sizeof *t.embed);
        struct ran_model *m = model_of(&t);
        struct ran_state *s = ran_state_new(m, NULL);
        struct ran_explainer *e = ran_explainer_new(m, NULL);
        CHECK_OK(ran_tag(m, s, &d, tags, NULL, logits, &err), err);
        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_OK(ran_explain_label(e, 1, 2, 0, gain, &err), err);
        size_t n = ran_linear_words_list(bucket, c, &d, 0, 3, 1);
        for (size_t i = 0; i < n; i++)
                each[i] = worth(&t, logits + TOY_C, 2, bucket[i]);
        ran_explainer_free(e);
        ran_state_free(s);
        ran_model_free(m);
        toy_release(&t);
        return n;
}

/* ran-attnmask --map label fell over a tagger with a linear model. */
TEST(explain_features_of_words_belong_to_their_tokens)
{
        struct ran_config c = toy_config();
        double gain[L], each[200];

        c.task = RAN_TASK_TAG;
        c.linear.wide = 50, c.linear.ngrams = 2;
        size_t n = explain_middle(&c, gain, each);
        CHECK_SIZE(n, 5 + 2); /* of the five words the first and the last are not there */
        CHECK_NEAR(gain[0], (each[1] + each[5] / 2) / 2, 1e-6); /* a word of two tokens */
        CHECK_NEAR(gain[1], gain[0], 1e-12);
        CHECK_NEAR(gain[2], each[0] + each[2] + each[4] + each[5] / 2 + each[6] / 2, 1e-6);
        for (size_t i = 3; i < 7; i++)
                CHECK_NEAR(gain[i], (each[3] + each[6] / 2) / 4, 1e-6);
        CHECK(gain[7] == 0 && gain[8] == 0);

        c.spelling = 7, c.linear.ngrams = 3;
        n = explain_middle(&c, gain, each);
        CHECK(n > 40);
        CHECK_NEAR(sum(gain, L), sum(each, n), 1e-5);
        CHECK(gain[7] == 0 && gain[8] == 0);
}

/* ---- token to token ------------------------------------------------------------------------- */

/* What the encoder leaves, once element `at` of the embedding has been moved. */
static float *outputs(struct toy *t, const struct ran_packed *rows, size_t at, float step)
{
        struct ran_error err = {0};
        struct ran_workspace w;
        float *y = ran_alloc_floats(L * t->c.dim, &err);

        ran_workspace_init(&w, &t->c, false, NULL);
        CHECK_OK(ran_workspace_fit(&w, rows, t->C, &err), err);
        t->embed[at] += step;
        ran_encode(&w, &t->p);
        t->embed[at] -= step;
        memcpy(y, w.x[t->c.layers], L * t->c.dim * sizeof(*y));
        ran_workspace_release(&w);
        return y;
}

/* The square of the Jacobian of the outputs [from, to) by the row of a token, element by element.
 */
static double jacobian(struct toy *t, const struct ran_packed *rows, size_t token, size_t from,
                       size_t to)
{
        const float step = 4e-3f;
        size_t D = t->c.dim;
        double square = 0;

        for (size_t d = 0; d < D; d++) {
                float *above = outputs(t, rows, token * D + d, step);
                float *below = outputs(t, rows, token * D + d, -step);

                for (size_t i = from * D; i < to * D; i++) {
                        double slope = ((double)above[i] - (double)below[i]) / (2 * (double)step);

                        square += slope * slope;
                }
                free(above);
                free(below);
        }
        return square;
}

static void check_tokens(const struct ran_config *c, size_t from, size_t to)
{
        const struct ran_document d = document();
        struct ran_error err = {0};
        struct ran_packed rows = {0};
        struct ran_explainer *e;
        struct ran_model *m;
        double value[L], seen = 0;
        struct toy t;

        toy_init(&t, c, 23, 0.3);
        ran_packed_add(&rows, c, d.ids, L, 0);
        m = model_of(&t);
        e = ran_explainer_new(m, NULL);
        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_OK(ran_explain_tokens(e, from, to, 600, value, &err), err);
        for (size_t i = 0; i < L; i++) {
                double want = jacobian(&t, &rows, i, from, to), x = 0;

                for (size_t k = i * c->dim; k < (i + 1) * c->dim; k++)
                        x += (double)t.embed[k] * (double)t.embed[k];
                want *= x / (double)c->dim;
                CHECK_NEAR(value[i], want, 0.12 * want + 1e-6);
                if (c->mask == RAN_MASK_CAUSAL && i >= to)
                        CHECK(value[i] == 0);
                seen += value[i];
        }
        CHECK(seen > 0.1);
        ran_explainer_free(e);
        ran_model_free(m);
        ran_packed_release(&rows);
        toy_release(&t);
}

TEST(explain_token_to_token_is_the_size_of_the_jacobian)
{
        struct ran_config c = toy_config();

        check_tokens(&c, 0, L);
        check_tokens(&c, 6, 7);
        c.task = RAN_TASK_LM;
        c.mask = RAN_MASK_CAUSAL;
        check_tokens(&c, 2, 6);
        /* The last layer of this cell learns from tokens with an output alone. */
        c.ran.cell = RAN_CELL_PRENORM;
        check_tokens(&c, 2, 6);
        c = toy_config();
        c.encoder = RAN_ENCODER_TRANSFORMER;
        check_tokens(&c, 3, 5);
}

/* ---- always the same ------------------------------------------------------------------------ */

static void explain_long(const struct ran_model *m, struct ran_pool *pool, const uint32_t *ids,
                         size_t n, double *label, double *tokens)
{
        struct ran_error err = {0};
        struct ran_explainer *e = ran_explainer_new(m, pool);
        const struct ran_document d = document(), longer = {.ids = ids, .L = n};

        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_OK(ran_explain_label(e, 0, 0, 2, label, &err), err);
        CHECK_OK(ran_explain_read(e, &longer, 0, &err), err);
        CHECK_OK(ran_explain_label(e, 0, 0, 2, label, &err), err);
        if (m->config.encoder != RAN_ENCODER_CONTEXTUALIZER)
                CHECK_OK(ran_explain_tokens(e, n / 2, n, 2, tokens, &err), err);
        ran_explainer_free(e);
}

static void check_threads(const struct ran_config *c)
{
        enum { N = 5000 };
        struct ran_error err = {0};
        struct dice dice = {.key = 5};
        struct ran_pool *pool = ran_pool_new(3, &err);
        double *x = ran_alloc(4 * N, sizeof(*x), &err);
        uint32_t *ids = ran_alloc(N, sizeof(*ids), &err);
        struct ran_model *m;
        struct toy t;

        for (size_t i = 0; i < N; i++)
                ids[i] = (uint32_t)dice_size(&dice, 0, TOY_V - 1);
        toy_init(&t, c, 24, 0.3);
        m = model_of(&t);
        explain_long(m, NULL, ids, N, x, x + N);
        explain_long(m, pool, ids, N, x + 2 * N, x + 3 * N);
        CHECK(memcmp(x, x + 2 * N, 2 * N * sizeof(*x)) == 0);
        CHECK(sum(x, N) != 0);
        ran_model_free(m);
        ran_pool_free(pool);
        toy_release(&t);
        free(ids);
        free(x);
}

TEST(explain_gives_the_same_with_any_number_of_threads)
{
        struct ran_config c = toy_config();

        c.window = 300, c.min_window = 16;
        check_threads(&c);
        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        check_threads(&c);
        c.encoder = RAN_ENCODER_TRANSFORMER;
        c.transformer.attention.item[0] = RAN_ATTENTION_DISPERSED;
        check_threads(&c);
}

TEST(explain_refuses_what_has_no_answer)
{
        struct ran_config c = toy_config();
        const struct ran_document d = document();
        const uint32_t unknown = TOY_V;
        struct ran_error err = {0};
        struct ran_explainer *e;
        struct ran_model *m;
        double value[L];
        struct toy t;

        toy_init(&t, &c, 25, 0.3);
        m = model_of(&t);
        e = ran_explainer_new(m, NULL);
        CHECK_SIZE((size_t)ran_explain_label(e, 0, 0, 0, value, &err), RAN_EINVAL);
        CHECK_SIZE((size_t)ran_explain_tokens(e, 0, 1, 1, value, &err), RAN_EINVAL);
        CHECK_SIZE((size_t)ran_explain_read(e, &(struct ran_document){.ids = &unknown, .L = 1}, 0,
                                            &err),
                   RAN_EINVAL);
        CHECK_SIZE((size_t)ran_explain_read(e, &(struct ran_document){0}, 0, &err), RAN_EINVAL);
        CHECK_SIZE((size_t)ran_explain_read(e, &d, L + 1, &err), RAN_EINVAL);
        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_SIZE((size_t)ran_explain_label(e, 0, TOY_C, 0, value, &err), RAN_EINVAL);
        CHECK_SIZE((size_t)ran_explain_label(e, 1, 0, 0, value, &err), RAN_EINVAL);
        CHECK_SIZE((size_t)ran_explain_tokens(e, 0, L + 1, 1, value, &err), RAN_EINVAL);
        CHECK_SIZE((size_t)ran_explain_tokens(e, 3, 3, 1, value, &err), RAN_EINVAL);
        CHECK_SIZE((size_t)ran_explain_tokens(e, 0, 1, 0, value, &err), RAN_EINVAL);
        ran_explainer_free(e);
        ran_model_free(m);
        toy_release(&t);

        c.task = RAN_TASK_LM;
        c.mask = RAN_MASK_CAUSAL;
        toy_init(&t, &c, 25, 0.3);
        m = model_of(&t);
        e = ran_explainer_new(m, NULL);
        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_SIZE((size_t)ran_explain_label(e, 0, 0, 0, value, &err), RAN_EINVAL);
        ran_explainer_free(e);
        ran_model_free(m);
        toy_release(&t);

        c = toy_config();
        c.encoder = RAN_ENCODER_STATIC;
        c.task = RAN_TASK_EMBED;
        toy_init(&t, &c, 25, 0.3);
        m = model_of(&t);
        e = ran_explainer_new(m, NULL);
        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_SIZE((size_t)ran_explain_label(e, 0, 0, 4, value, &err), RAN_EINVAL);
        CHECK_SIZE((size_t)ran_explain_tokens(e, 0, 1, 1, value, &err), RAN_EINVAL);
        ran_explainer_free(e);
        ran_model_free(m);
        toy_release(&t);

        c = toy_config();
        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        toy_init(&t, &c, 25, 0.3);
        m = model_of(&t);
        e = ran_explainer_new(m, NULL);
        CHECK_OK(ran_explain_read(e, &d, 0, &err), err);
        CHECK_SIZE((size_t)ran_explain_tokens(e, 0, 1, 1, value, &err), RAN_EINVAL);
        CHECK(strstr(err.text, "Contextualizer") != NULL);
        ran_explainer_free(e);
        ran_model_free(m);
        toy_release(&t);
}

TEST(explain_refuses_words_at_no_token)
{
        static const uint32_t wrong[][2] = {{0, L}, {3, UINT32_MAX}, {4, 3}};
        struct ran_config c = toy_config();
        struct ran_error err = {0};
        struct toy t;

        c.task = RAN_TASK_TAG;
        toy_init(&t, &c, 3, 0.3);
        struct ran_model *m = model_of(&t);
        struct ran_explainer *e = m != NULL ? ran_explainer_new(m, NULL) : NULL;
        REQUIRE(e != NULL);
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                struct ran_document d = document();
                double value[L];

                d.positions = wrong[i];
                d.words = 2;
                CHECK_SIZE((size_t)ran_explain_read(e, &d, 0, &err), RAN_EINVAL);
                CHECK_SIZE((size_t)ran_explain_label(e, 0, 0, 1, value, &err), RAN_EINVAL);
        }
        ran_explainer_free(e);
        ran_model_free(m);
        toy_release(&t);
}
