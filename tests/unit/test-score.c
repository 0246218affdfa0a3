/* Scoring: a result depends on the document alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file/model.h"
#include "infer/infer.h"
#include "test.h"
#include "toy.h"

/* A document's logits depend on its ids alone, bit for bit: not on what the same scratch held
 * before, nor on who helps. */
static void check_alone(size_t threads, struct ran_config c)
{
        static const size_t lengths[] = {1, 5, 700, 6, 3000, 2, 40, 1, 700, 13};
        enum { DOCUMENTS = sizeof(lengths) / sizeof(*lengths) };
        struct ran_error err = {0};
        struct dice dice = {.key = 6};
        struct ran_pool *pool = threads > 0 ? ran_pool_new(threads, &err) : NULL;
        struct ran_packed rows = {0};
        struct ran_state *used;
        struct toy t;

        toy_init(&t, &c, 8, 0.3);
        used = ran_score_state_new(&t.c, &t.p, TOY_C, pool);
        for (size_t b = 0; b < DOCUMENTS; b++)
                toy_add(&t, &rows, &dice, lengths[b], b);
        for (size_t b = 0; b < DOCUMENTS; b++) {
                const struct ran_document d = toy_document(&rows, b);
                struct ran_state *fresh = ran_score_state_new(&t.c, &t.p, TOY_C, NULL);
                float alone[TOY_C], after[TOY_C];

                CHECK_OK(ran_score(fresh, &d, alone, NULL, &err), err);
                CHECK_OK(ran_score(used, &d, after, NULL, &err), err);
                CHECK(memcmp(alone, after, sizeof(alone)) == 0);
                ran_state_free(fresh);
        }
        ran_state_free(used);
        ran_packed_release(&rows);
        ran_pool_free(pool);
        toy_release(&t);
}

TEST(score_depends_on_the_document_alone)
{
        struct ran_config c = toy_config();

        check_alone(0, c);
        check_alone(3, c);
        c.window = 300, c.min_window = 20;
        check_alone(0, c);
        c.ran.cell = RAN_CELL_PLAIN;
        check_alone(2, c);
        c.ran.review = RAN_REVIEW_NONE;
        c.spelling = 9;
        c.linear.wide = 40;
        check_alone(2, c);
}

TEST(score_refuses_what_is_no_document)
{
        const uint32_t ids[3] = {0, 1, TOY_V};
        struct ran_error err = {0};
        float logits[TOY_C];
        struct ran_model *m;
        struct ran_state *s;
        char *path = test_path("score.ran");
        struct toy t;

        toy_init(&t,
                 &(struct ran_config){.dim = 2,
                                      .layers = 1,
                                      .heads = 1,
                                      .head_dim = 2,
                                      .window = 3,
                                      .min_window = 1,
                                      .contextualizer.rank = 1,
                                      .linear.ngrams = 1,
                                      .ffn_dim = 1,
                                      .ran.review_window = 1,
                                      .transformer.attention = {.n = 1},
                                      .bert.max_length = 3,
                                      .bert.rotary_base = 1,
                                      .bert.rotary_base_local = 1,
                                      .bert.global_every = 1},
                 9, 0.3);
        CHECK_OK(ran_model_write(path, NULL,
                                 &(struct ran_parts){.config = &t.c,
                                                     .layout = &t.layout,
                                                     .params = &t.p,
                                                     .V = t.V,
                                                     .C = t.C},
                                 &err),
                 err);
        m = ran_model_open(path, false, &err);
        REQUIRE(m != NULL);
        s = ran_state_new(m, NULL);
        REQUIRE(s != NULL);
        CHECK_SIZE((size_t)ran_classify(m, s, &(struct ran_document){.ids = ids, .L = 0}, logits,
                                        NULL, &err),
                   RAN_EINVAL);
        CHECK_SIZE((size_t)ran_classify(m, s, &(struct ran_document){.ids = ids, .L = 3}, logits,
                                        NULL, &err),
                   RAN_EINVAL);
        CHECK(strstr(err.text, "id 23 is not in the vocabulary of 23") != NULL);
        CHECK_OK(ran_classify(m, s, &(struct ran_document){.ids = ids, .L = 2}, logits, NULL, &err),
                 err);
        ran_state_free(s);
        ran_model_free(m);
        toy_release(&t);
        free(path);
}

/* A toy model of that task, from a file. */
static struct ran_model *model_for(int task)
{
        struct ran_config c = toy_config();
        char *path = test_path("task.ran");
        struct ran_error err = {0};
        struct toy t;

        c.task = task;
        c.mask = task == RAN_TASK_LM ? RAN_MASK_CAUSAL : RAN_MASK_NONE;
        c.min_window = 1;
        toy_init(&t, &c, 10, 0.3);
        const struct ran_parts parts = {
                .config = &t.c, .layout = &t.layout, .params = &t.p, .V = t.V, .C = t.C};
        CHECK_OK(ran_model_write(path, NULL, &parts, &err), err);
        struct ran_model *m = ran_model_open(path, false, &err);
        CHECK_STR(m == NULL ? err.text : NULL, NULL);
        toy_release(&t);
        free(path);
        return m;
}

enum { WORDS = 2 };

/* What each task's own function makes of a model, by the number of the task. */
static int ask(int task, const struct ran_model *m, struct ran_state *s, struct ran_error *err)
{
        static const uint32_t ids[] = {3, 1, 4, 1, 5}, positions[WORDS] = {0, 3};
        const struct ran_document d = {.ids = ids, .L = 5, .positions = positions, .words = WORDS};
        float logits[WORDS * TOY_V];
        uint32_t tags[WORDS];

        switch (task) {
        case RAN_TASK_CLASSIFY:
                return ran_classify(m, s, &d, logits, NULL, err);
        case RAN_TASK_TAG:
                return ran_tag(m, s, &d, tags, NULL, logits, err);
        case RAN_TASK_LM:
                return ran_lm_read(m, s, NULL, ids, 5, 0, &(struct ran_lm_out){.last = logits},
                                   err);
        default:
                return ran_lm_fill(m, s, ids, 5, positions, WORDS, ids, logits, NULL, NULL, err);
        }
}

/* Whoever opens a stranger's file need not know what it is for: a language model that was taken for
 * a classifier wrote beyond its memory. */
TEST(score_refuses_models_of_other_tasks)
{
        for (int task = RAN_TASK_CLASSIFY; task <= RAN_TASK_MLM; task++) {
                struct ran_error err = {0};
                struct ran_model *m = model_for(task);
                REQUIRE(m != NULL);
                struct ran_state *s = ran_state_new(m, NULL);
                REQUIRE(s != NULL);

                for (int asked = RAN_TASK_CLASSIFY; asked <= RAN_TASK_MLM; asked++)
                        CHECK_SIZE((size_t)ask(asked, m, s, &err),
                                   asked == task ? RAN_OK : RAN_EINVAL);
                ran_state_free(s);
                ran_model_free(m);
        }
}

TEST(score_refuses_what_was_made_for_another_model)
{
        for (int task = RAN_TASK_CLASSIFY; task <= RAN_TASK_MLM; task++) {
                struct ran_error err = {0};
                struct ran_model *m = model_for(task), *other = model_for(task);
                REQUIRE(m != NULL && other != NULL);
                struct ran_state *s = ran_state_new(m, NULL);
                struct ran_lm_context *past = ran_lm_context_new(other);
                REQUIRE(s != NULL && past != NULL);

                CHECK_SIZE((size_t)ask(task, other, s, &err), RAN_EINVAL);
                CHECK_STR(err.text, "the state was made for another model");
                CHECK_SIZE((size_t)ran_probe(other, s,
                                             &(struct ran_document){.ids = &(uint32_t){1}, .L = 1},
                                             0, NULL, 0, &err),
                           RAN_EINVAL);
                if (task == RAN_TASK_LM)
                        CHECK_SIZE((size_t)ran_lm_read(m, s, past, &(uint32_t){1}, 1, 0,
                                                       &(struct ran_lm_out){0}, &err),
                                   RAN_EINVAL);
                CHECK_OK(ask(task, m, s, &err), err);
                ran_lm_context_free(past);
                ran_state_free(s);
                ran_model_free(other);
                ran_model_free(m);
        }
}

TEST(probabilities_are_what_they_should_be)
{
        static const float logits[][3] = {
                {0, 0, 0}, {1, 2, 3}, {1e4f, -1e4f, 0}, {-3e38f, 3e38f, 3e38f}, {88, 89, -90}};
        struct ran_config one = toy_config(), several = toy_config();

        several.classify.multilabel = true;
        for (size_t i = 0; i < sizeof(logits) / sizeof(*logits); i++) {
                double x[3], top = -INFINITY, sum = 0, total = 0;
                float p[3], q[3];

                for (size_t c = 0; c < 3; c++)
                        top = fmax(top, x[c] = (double)logits[i][c]);
                for (size_t c = 0; c < 3; c++)
                        sum += exp(x[c] - top);
                ran_probabilities(&one, logits[i], 3, p);
                ran_probabilities(&several, logits[i], 3, q);
                for (size_t c = 0; c < 3; c++) {
                        CHECK_NEAR((double)p[c], exp(x[c] - top) / sum, 1e-7);
                        CHECK_NEAR((double)q[c], 1 / (1 + exp(-x[c])), 1e-7);
                        CHECK(p[c] >= 0 && p[c] <= 1 && q[c] >= 0 && q[c] <= 1);
                        total += (double)p[c];
                }
                CHECK_NEAR(total, 1, 1e-6);
        }
}

/* ---- nearest vectors ------------------------------------------------------------------------- */

enum { NEAR_N = 700, NEAR_D = 3, NEAR_Q = 20 };

/* Few different vectors, so that many are equally near; some are zeros. */
static struct ran_nearest *make_collection(float v[NEAR_N][NEAR_D])
{
        struct ran_nearest *c = ran_nearest_new(NEAR_D);

        CHECK(c != NULL);
        for (size_t i = 0; c != NULL && i < NEAR_N; i++) {
                for (size_t d = 0; d < NEAR_D; d++)
                        v[i][d] = (float)(ran_random_draw(7, i * NEAR_D + d) % 4) - 1;
                ran_nearest_add(c, v[i]);
        }
        return c;
}

static double cosine(const float *a, const float *b)
{
        double dot = 0, x = 0, y = 0;

        for (size_t d = 0; d < NEAR_D; d++) {
                dot += (double)(a[d] * b[d]);
                x += (double)(a[d] * a[d]);
                y += (double)(b[d] * b[d]);
        }
        return x > 0 && y > 0 ? dot / sqrt(x) / sqrt(y) : 0;
}

TEST(nearest_are_those_of_a_full_sort)
{
        static float v[NEAR_N][NEAR_D];
        struct ran_neighbour list[NEAR_N + 5];
        struct ran_nearest *c = make_collection(v);

        REQUIRE(c != NULL);
        for (size_t q = 0; q < NEAR_Q; q++)
                for (size_t k = 0; k <= NEAR_N + 5; k += k < 8 ? 1 : 66) {
                        const double length = cosine(v[q], v[q]);
                        size_t n;

                        ran_nearest_find(c, v[q], 1, k, -INFINITY, list, &n);
                        CHECK_SIZE(n, length == 0 ? 0 : k < NEAR_N ? k : NEAR_N);
                        for (size_t i = 0; i < n; i++) {
                                const struct ran_neighbour *x = &list[i];
                                size_t nearer = 0;

                                CHECK_NEAR(x->cosine, cosine(v[q], v[x->number]), 1e-6);
                                for (size_t j = 0; j < NEAR_N; j++)
                                        nearer += cosine(v[q], v[j]) > x->cosine + 1e-6;
                                CHECK(nearer <= i);
                                CHECK(i == 0 || list[i - 1].cosine > x->cosine ||
                                      (list[i - 1].cosine == x->cosine &&
                                       list[i - 1].number < x->number));
                        }
                }
        ran_nearest_free(c);
}

/* Several at once get the answers that each gets alone, bit for bit; with a smallest cosine, those
 * of them that reach it. */
TEST(nearest_of_several_are_those_of_each)
{
        enum { K = 9 };
        static float v[NEAR_N][NEAR_D];
        struct ran_neighbour together[NEAR_Q * K], alone[K];
        struct ran_nearest *c = make_collection(v);
        size_t found[NEAR_Q], n, fewer = 0;

        REQUIRE(c != NULL);
        for (int some = 0; some < 2; some++) {
                const double least = some ? 0.9999 : -INFINITY;

                ran_nearest_find(c, v[0], NEAR_Q, K, least, together, found);
                for (size_t q = 0; q < NEAR_Q; q++) {
                        size_t reach = 0;

                        ran_nearest_find(c, v[q], 1, K, -INFINITY, alone, &n);
                        while (reach < n && alone[reach].cosine >= least)
                                reach++;
                        CHECK_SIZE(found[q], reach);
                        for (size_t i = 0; i < reach; i++) {
                                CHECK_SIZE(together[q * K + i].number, alone[i].number);
                                CHECK(together[q * K + i].cosine == alone[i].cosine);
                        }
                        fewer += reach < n;
                }
        }
        CHECK(fewer > 0);
        ran_nearest_free(c);
}
