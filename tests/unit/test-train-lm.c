/* Language models: losses and gradients of batches, whole or in chunks, and training from end to
 * end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/model.h"
#include "test.h"
#include "toy.h"
#include "data/loss.h"
#include "gradient/batch.h"
#include "data/rates.h"
#include "evaluate/evaluate.h"
#include "training.h"

/* ---- batches --------------------------------------------------------------------------------- */

/* A model, texts, and what computes their gradients. */
struct bench {
        struct toy toy;
        struct ran_dataset data;
        struct ran_pool *pool;
        struct ran_batcher k;
        struct ran_plan plan;
        size_t order[64];
};

enum { TEXTS = 20 };

static void bench_init_of(struct bench *b, int encoder, enum corpus_kind kind, size_t longest,
                          size_t lanes, size_t bptt, size_t threads)
{
        struct ran_config c = toy_config();
        struct ran_error err = {0};
        struct dice dice = {.key = 9};

        c.encoder = encoder;
        c.transformer.attention = (struct ran_choices){
                c.heads, {RAN_ATTENTION_DISPERSED, RAN_ATTENTION_FULL, RAN_ATTENTION_WINDOW}};
        c.task = kind == CORPUS_MASKED ? RAN_TASK_MLM : RAN_TASK_LM;
        c.mask = kind == CORPUS_MASKED  ? RAN_MASK_NONE
                 : kind == CORPUS_TEXTS ? RAN_MASK_CAUSAL
                                        : RAN_MASK_PREFIX;
        toy_init(&b->toy, &c, 21, 0.3);
        corpus_texts(&b->data, TEXTS, 2, longest, kind, 5);
        for (size_t i = 0; i < TEXTS; i++)
                b->data.weight[i] = (float)dice_real(&dice, 0.1, 3);
        b->pool = threads > 0 ? ran_pool_new(threads, &err) : NULL;
        CHECK_OK(ran_batcher_init(&b->k, &b->toy.c, &b->toy.p, TOY_V, TOY_V, &b->data, b->pool,
                                  &err),
                 err);
        b->k.of.mask = RAN_MASK;
        CHECK_OK(ran_plan_init(&b->plan, &b->toy.c, &b->data, lanes, bptt, &err), err);
        ran_random_shuffle(b->order, NULL, TEXTS, 1, 1);
        ran_plan_begin(&b->plan, b->order, TEXTS);
}

static void bench_init(struct bench *b, enum corpus_kind kind, size_t longest, size_t lanes,
                       size_t bptt, size_t threads)
{
        bench_init_of(b, RAN_ENCODER_RAN, kind, longest, lanes, bptt, threads);
}

static void bench_release(struct bench *b)
{
        ran_plan_release(&b->plan);
        ran_batcher_release(&b->k);
        ran_dataset_release(&b->data);
        ran_pool_free(b->pool);
        toy_release(&b->toy);
}

static size_t floats_of(const struct bench *b)
{
        return b->k.tree.size + TOY_V * b->toy.c.dim;
}

/* Block and embedding of the gradient of some chunks. Caller frees. */
static float *gradient_of(struct bench *b, const struct ran_chunk *piece, size_t n, double *loss)
{
        struct ran_error err = {0};
        float *all = ran_alloc_floats(floats_of(b), &err);
        struct ran_grad *g;

        if (!CHECK_OK(ran_batch_gradient(&b->k, piece, n, loss, &g, &err), err))
                return all;
        memcpy(all, g->p.block, b->k.tree.size * sizeof(*all));
        memcpy(all + b->k.tree.size, g->rows.rows, TOY_V * b->toy.c.dim * sizeof(*all));
        ran_tree_give(&b->k.tree, g);
        return all;
}

static double weight_of(const struct bench *b, const struct ran_chunk *p)
{
        size_t from = 0, to = ran_masking_count(&b->data, p->document, &ran_masking_of_dev);

        if (b->toy.c.task == RAN_TASK_LM)
                to = ran_loss_predicts(&b->data, p->document, p->from, p->to, &from);
        return (double)b->data.weight[p->document] * (double)(to - from);
}

/* A batch is the mean over predicted tokens, each as in its document alone. */
static void check_mean(enum corpus_kind kind)
{
        struct bench b;
        double loss, sum = 0, terms = 0, off = 0, *want;
        float *all;

        bench_init(&b, kind, 60, TEXTS, 0, 2);
        want = calloc(floats_of(&b), sizeof(*want));
        CHECK(ran_plan_next(&b.plan) && b.plan.n == TEXTS);
        all = gradient_of(&b, b.plan.chunk, TEXTS, &loss);
        for (size_t i = 0; i < TEXTS; i++) {
                double one, weight = weight_of(&b, &b.plan.chunk[i]);
                float *g = gradient_of(&b, &b.plan.chunk[i], 1, &one);

                terms += weight;
                sum += weight * one;
                for (size_t j = 0; j < floats_of(&b); j++)
                        want[j] += weight * (double)g[j];
                free(g);
        }
        for (size_t j = 0; j < floats_of(&b); j++)
                off = fmax(off, fabs((double)all[j] - want[j] / terms));
        CHECK_NEAR(loss, sum / terms, 1e-5);
        CHECK_NEAR(off, 0, 1e-4);
        free(all);
        free(want);
        bench_release(&b);
}

TEST(lm_batch_is_the_weighted_mean_of_its_tokens)
{
        check_mean(CORPUS_TEXTS);
        check_mean(CORPUS_PAIRS);
        check_mean(CORPUS_MASKED);
}

/* The state after a chunk is that of the document there: the losses of the chunks
 * are those of whole documents, which are what evaluation says. */
static void check_chunks(int encoder, enum corpus_kind kind, size_t lanes, size_t bptt)
{
        struct ran_error err = {0};
        struct ran_rates rates;
        struct bench b;
        double sum = 0, terms = 0;

        bench_init_of(&b, encoder, kind, 60, lanes, bptt, 0);
        for (size_t i = 0; i < TEXTS; i++)
                b.data.weight[i] = 1;
        while (ran_plan_next(&b.plan)) {
                double loss, weight = 0;

                free(gradient_of(&b, b.plan.chunk, b.plan.n, &loss));
                for (size_t i = 0; i < b.plan.n; i++)
                        weight += weight_of(&b, &b.plan.chunk[i]);
                sum += weight * loss;
                terms += weight;
        }
        CHECK_OK(ran_evaluate_texts(&rates, &b.toy.c, &b.toy.p, TOY_V, &b.data, RAN_MASK, NULL,
                                    NULL, &err),
                 err);
        CHECK(rates.loss > 1);
        CHECK_NEAR(sum / terms, rates.loss, 1e-5);
        bench_release(&b);
}

TEST(lm_chunks_lose_what_whole_documents_lose)
{
        for (enum corpus_kind kind = CORPUS_TEXTS; kind <= CORPUS_MASKED; kind++)
                for (size_t lanes = 1; lanes <= TEXTS; lanes += 6)
                        for (size_t bptt = 0; bptt <= (kind == CORPUS_MASKED ? 0 : 3); bptt++)
                                for (int encoder = 0; encoder < 3; encoder++)
                                        if (encoder != RAN_ENCODER_CONTEXTUALIZER)
                                                check_chunks(encoder, kind, lanes, bptt);
}

/* Where all documents fit one piece nothing is truncated. */
TEST(lm_chunks_that_contain_whole_documents_change_nothing)
{
        struct bench whole, chunks;
        double a, b;

        bench_init(&whole, CORPUS_TEXTS, 60, 7, 0, 0);
        bench_init(&chunks, CORPUS_TEXTS, 60, 7, 12, 0);
        while (ran_plan_next(&whole.plan)) {
                float *x = gradient_of(&whole, whole.plan.chunk, whole.plan.n, &a), *y;

                CHECK(ran_plan_next(&chunks.plan));
                y = gradient_of(&chunks, chunks.plan.chunk, chunks.plan.n, &b);
                CHECK(a == b && memcmp(x, y, floats_of(&whole) * sizeof(*x)) == 0);
                free(x);
                free(y);
        }
        bench_release(&whole);
        bench_release(&chunks);
}

/* Dropout is another one in each piece of a document: the same tokens from the same state. */
TEST(lm_chunks_drop_out_by_themselves)
{
        struct bench b;
        struct ran_chunk piece;
        double loss[3];

        bench_init(&b, CORPUS_TEXTS, 60, 1, 0, 0);
        b.k.of.noise = (struct ran_noise){1, 2, 0.3, 0.3};
        CHECK(ran_plan_next(&b.plan));
        piece = b.plan.chunk[0];
        for (size_t i = 0; i < 3; i++) {
                piece.number = i % 2;
                free(gradient_of(&b, &piece, 1, &loss[i]));
        }
        CHECK(loss[0] != loss[1] && loss[0] == loss[2]);
        bench_release(&b);
}

static void check_threads(int encoder)
{
        float *want[64] = {0};

        for (size_t i = 0; i < 4; i++) {
                struct bench b;
                double loss;
                size_t step = 0;

                bench_init_of(&b, encoder, CORPUS_PAIRS, 300, 6, 10,
                              (const size_t[]){0, 1, 2, 7}[i]);
                b.k.of.noise = (struct ran_noise){1, 2, 0.2, 0.3};
                for (; step < 64 && ran_plan_next(&b.plan); step++) {
                        float *g = gradient_of(&b, b.plan.chunk, b.plan.n, &loss);

                        if (want[step] == NULL)
                                want[step] = g;
                        CHECK(memcmp(g, want[step], floats_of(&b) * sizeof(*g)) == 0);
                        if (g != want[step])
                                free(g);
                }
                CHECK(step > 10);
                bench_release(&b);
        }
        for (size_t step = 0; step < 64; step++)
                free(want[step]);
}

TEST(lm_gradient_of_chunks_is_the_same_for_any_threads)
{
        check_threads(RAN_ENCODER_RAN);
        check_threads(RAN_ENCODER_TRANSFORMER);
}

/* ---- training -------------------------------------------------------------------------------- */

/* -log p of what is predicted, in the mean over all tokens of d. */
static double loss_of(const char *model, const struct ran_dataset *d)
{
        struct ran_error err = {0};
        struct ran_model *m = ran_model_open(model, true, &err);
        struct ran_rates rates = {.loss = INFINITY};

        if (test_check(m != NULL, err.text, __FILE__, __LINE__))
                CHECK_OK(ran_evaluate_texts(&rates, &m->config, &m->params, m->V, d, RAN_MASK, NULL,
                                            NULL, &err),
                         err);
        ran_model_free(m);
        return rates.loss;
}

static void check_learns(const char *name, enum corpus_kind kind, size_t longest, size_t bptt,
                         size_t epochs, double most)
{
        struct ran_error err = {0};
        struct training t;

        training_init_texts(&t, name, longest, kind, bptt);
        ran_dataset_release(&t.train);
        corpus_texts(&t.train, 400, 2, longest, kind, 3);
        t.c.dim = 24, t.c.head_dim = 12;
        t.s.batch = 20;
        t.s.epochs = t.s.patience = epochs;
        t.s.dropout = t.s.embed_dropout = 0;
        if (CHECK_OK(training_run(&t, 2, &err), err)) {
                double loss = loss_of(t.output, &t.dev);

                if (!CHECK(loss < most))
                        printf("  loss %g\n", loss);
                CHECK_NEAR(loss, -t.report[t.reports - 1].best, 1e-9);
        }
        training_release(&t);
}

TEST(lm_learns_what_follows)
{
        check_learns("follows", CORPUS_TEXTS, 30, 0, 6, 0.1);
        check_learns("follows", CORPUS_TEXTS, 30, 1, 6, 0.1);
}

TEST(lm_learns_to_copy_a_source)
{
        if (test_all())
                check_learns("copies", CORPUS_PAIRS, 4, 0, 30, 0.5); /* by chance it is about 2 */
}

TEST(mlm_learns_masked_tokens)
{
        if (test_all())
                check_learns("masked", CORPUS_MASKED, 30, 0, 20, 0.5);
}

TEST(lm_gives_the_same_bytes_for_any_threads)
{
        struct ran_error err = {0};
        char *first = test_path("lm-threads-1.ran");
        struct training t;

        for (enum corpus_kind kind = CORPUS_TEXTS; kind <= CORPUS_MASKED; kind++) {
                training_init_texts(&t, "lm-threads", test_all() ? 700 : 200, kind,
                                    kind == CORPUS_MASKED ? 0 : 20);
                for (size_t i = 0; i < 3; i++) {
                        CHECK_OK(training_run(&t, (const size_t[]){1, 2, 7}[i], &err), err);
                        if (i == 0)
                                CHECK(rename(t.output, first) == 0);
                        else
                                CHECK(same_file(t.output, first));
                }
                training_release(&t);
        }
        free(first);
}

/* Steps of an epoch depend on its order; the last one ends where the reports said it would. */
TEST(lm_reports_steps_and_the_rate_falls_to_the_end)
{
        struct ran_error err = {0};
        size_t step = 0, tokens = 0;
        double rate = 1;
        struct training t;

        training_init_texts(&t, "lm-reports", 100, CORPUS_TEXTS, 1);
        t.s.warmup = 0;
        t.s.batch = 3;
        CHECK_OK(training_run(&t, 1, &err), err);
        for (size_t i = 0; i < t.reports; i++) {
                const struct ran_train_report *r = &t.report[i];

                if (r->event != RAN_REPORT_STEP)
                        continue;
                CHECK_SIZE(r->step, ++step);
                CHECK(r->steps >= step && r->learning_rate < rate && r->tokens > tokens);
                rate = r->learning_rate;
                tokens = r->tokens;
        }
        CHECK_SIZE(tokens, 3 * t.train.first[t.train.B]);
        CHECK_SIZE(t.report[t.reports - 1].steps, step);
        CHECK(step > 3 * 40 && rate < t.s.learning_rate / 50);
        training_release(&t);
}

static void check_invalid(struct training *t, const char *sentence)
{
        struct ran_error err = {0};

        CHECK_SIZE((size_t)training_run(t, 1, &err), RAN_EINVAL);
        if (!CHECK(strstr(err.text, sentence) != NULL))
                printf("  says: %s\n", err.text);
        CHECK(!exists(t->output) && !exists(t->checkpoint));
}

TEST(lm_refuses_what_it_cannot_learn_from)
{
        struct training t;

        training_init_texts(&t, "lm-refused", 20, CORPUS_TEXTS, 0);
        t.s.metric = RAN_METRIC_MICRO_F1;
        check_invalid(&t, "metric must be 'loss'");
        t.s.metric = RAN_METRIC_LOSS;
        t.s.label_smoothing = 0.1;
        t.c.lm.shortlist = 5;
        check_invalid(&t, "shortlist must be 0");
        t.s.label_smoothing = 0;
        t.c.lm.shortlist = 0;
        t.s.metric = RAN_METRIC_CHRF;
        check_invalid(&t, "mask must be 'prefix'");
        t.s.metric = RAN_METRIC_LOSS;
        t.s.class_weights = RAN_WEIGHTS_BALANCED;
        check_invalid(&t, "a language model has no classes");
        t.s.class_weights = RAN_WEIGHTS_NONE;
        t.c.min_window = 2;
        check_invalid(&t, "min_window must be 1");
        t.c.min_window = 1;
        t.train.sources[3] = 1;
        check_invalid(&t, "mask must be 'prefix'");
        t.train.sources[3] = 0;
        t.c.task = RAN_TASK_CLASSIFY, t.c.mask = RAN_MASK_NONE;
        t.train.C = 2;
        check_invalid(&t, "another task");
        t.s.bptt = 1;
        check_invalid(&t, "bptt must be 0");
        t.train.C = 0;
        training_release(&t);
}

TEST(mlm_refuses_what_it_cannot_learn_from)
{
        struct training t;

        training_init_texts(&t, "mlm-refused", 20, CORPUS_MASKED, 0);
        t.s.metric = RAN_METRIC_MICRO_F1;
        check_invalid(&t, "metric must be 'loss'");
        t.s.metric = RAN_METRIC_LOSS;
        t.s.bptt = 1;
        check_invalid(&t, "bptt must be 0");
        t.s.bptt = 0;
        t.train.given = true;
        t.train.labels[3] = CORPUS_V;
        check_invalid(&t, "id 12 is not in the vocabulary of 12");
        t.train.given = false;
        t.c.task = RAN_TASK_LM, t.c.mask = RAN_MASK_CAUSAL;
        check_invalid(&t, "another task");
        training_release(&t);
}

TEST(lm_estimates_what_it_will_cost)
{
        struct ran_train_estimate e, chunks;
        struct ran_error err = {0};
        struct training t;

        training_init_texts(&t, "lm-estimate", 600, CORPUS_TEXTS, 0);
        CHECK_OK(ran_train_estimate(&t.job, &e, &err), err);
        CHECK_SIZE(e.embedding_parameters, CORPUS_V * t.c.dim);
        t.s.bptt = 10;
        CHECK_OK(ran_train_estimate(&t.job, &chunks, &err), err);
        CHECK(chunks.flops == e.flops);
        CHECK_SIZE(chunks.parameters, e.parameters);
        training_release(&t);
}
