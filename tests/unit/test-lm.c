/* The output of language models against a plain one in double: scores, and gradients of the whole
 * model by central differences, with one softmax and with an adaptive one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "nn/part.h"
#include "task/lm-output.h"
#include "naive.h"
#include "test.h"
#include "toy.h"
#include "gradient/grad.h"

enum { MOST = 64 };

/* Documents with positions, their gold tokens, and how much each counts. */
struct batch {
        struct ran_packed rows;
        uint32_t gold[MOST];
        float scale[MOST];
        double smoothing;
};

static void batch_add(struct batch *b, const struct toy *t, struct dice *dice, size_t L)
{

        toy_add(t, &b->rows, dice, L, 7 + b->rows.B);
        for (uint32_t i = 0; i < L; i++) {
                if (dice_size(dice, 0, 3) == 0)
                        continue;
                b->gold[b->rows.positions] = (uint32_t)dice_size(dice, 0, t->V - 1);
                b->scale[b->rows.positions] = 0.1f * (float)dice_size(dice, 0, 5);
                ran_packed_positions(&b->rows, &i, 1);
        }
}

/* ---- the plain way -------------------------------------------------------------------------- */

static double *block_of(const struct naive *n, const struct toy *t, const char *name)
{
        for (size_t i = 0; i < t->layout.n; i++)
                if (strcmp(t->layout.spec[i].name, name) == 0)
                        return n->block + t->layout.spec[i].offset;
        return NULL;
}

static double log_sum(const double *x, size_t n)
{
        double top = x[0], sum = 0;

        for (size_t i = 1; i < n; i++)
                top = fmax(top, x[i]);
        for (size_t i = 0; i < n; i++)
                sum += exp(x[i] - top);
        return top + log(sum);
}

static double dot(const double *x, const double *y, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += x[i] * y[i];
        return sum;
}

/* log p (V) of what stands at an output row h. */
static void naive_log_p(const struct naive *n, const struct toy *t, const double *h, double *log_p)
{
        size_t V = t->V, D = t->c.dim, S = t->c.lm.shortlist;
        const double *bias = block_of(n, t, "lm.bias"), *tail_w, *tail_b;
        double first[TOY_V + 8];
        size_t width = S > 0 && S < V ? S : V, tails = 0;

        for (size_t i = 0; i < V; i++)
                log_p[i] = dot(h, n->embed + i * D, D) + bias[i];
        memcpy(first, log_p, width * sizeof *first);
        tail_w = block_of(n, t, "lm.tail.weight");
        tail_b = block_of(n, t, "lm.tail.bias");
        for (size_t from = width; from < V; from *= 4, tails++)
                first[width + tails] = dot(h, tail_w + tails * D, D) + tail_b[tails];
        double all = log_sum(first, width + tails);
        for (size_t i = 0; i < width; i++)
                log_p[i] -= all;
        tails = 0;
        for (size_t from = width, end; from < V; from = end, tails++) {
                end = 4 * from < V ? 4 * from : V;
                double inner = log_sum(log_p + from, end - from);
                for (size_t i = from; i < end; i++)
                        log_p[i] += first[width + tails] - all - inner;
        }
}

static double naive_lm(struct naive *n, const struct toy *t, const struct batch *b, double *nll,
                       double *log_p)
{
        size_t D = t->c.dim;
        double sum = 0, scratch[TOY_V], s = b->smoothing;

        for (size_t d = 0; d < b->rows.B; d++) {
                size_t from = b->rows.doc[d], L = b->rows.doc[d + 1] - from;
                double *x = doubles(L * D), *last = doubles(D);

                n->record = b->rows.record[d];
                n->sources = b->rows.sources[d];
                naive_encode(n, x, last, b->rows.ids + from, L);
                for (size_t i = b->rows.doc_position[d]; i < b->rows.doc_position[d + 1]; i++) {
                        double *p = log_p != NULL ? log_p + i * t->V : scratch;

                        naive_log_p(n, t, x + (b->rows.position[i] - from) * D, p);
                        sum -= (double)b->scale[i] * (1 - s) * p[b->gold[i]];
                        for (size_t v = 0; v < t->V; v++)
                                sum -= (double)b->scale[i] * s / (double)t->V * p[v];
                        if (nll != NULL)
                                nll[i] = -p[b->gold[i]];
                }
                free(x);
                free(last);
        }
        return sum;
}

/* ---- scores --------------------------------------------------------------------------------- */

static struct ran_config lm_config(struct dice *dice, size_t shortlist)
{
        struct ran_config c = toy_random_config(dice);

        c.task = c.mask == RAN_MASK_NONE ? RAN_TASK_MLM : RAN_TASK_LM;
        c.lm.shortlist = shortlist;
        return c;
}

static void check_scores(const struct toy *t, const struct batch *b)
{
        size_t n = b->rows.positions, V = t->V;
        double *nll = doubles(n), *log_p = doubles(n * V);
        struct ran_error err = {0};
        float *got = ran_alloc_floats(n * V, &err), *got_nll = ran_alloc_floats(n, &err);
        struct naive naive;
        struct ran_workspace w;

        naive_init(&naive, &t->c, &t->layout, &t->p, t->V, t->C);
        naive_lm(&naive, t, b, nll, log_p);
        ran_workspace_init(&w, &t->c, false, NULL);
        CHECK_OK(ran_workspace_fit(&w, &b->rows, t->C, &err), err);
        ran_encode(&w, &t->p);
        ran_lm_score(&w, &t->p, V, b->gold, got_nll, got);
        for (size_t i = 0; i < n; i++) {
                double all = 0; /* of logits, which are log-probabilities up to a constant */

                for (size_t v = 0; v < V; v++)
                        all += exp((double)got[i * V + v]);
                for (size_t v = 0; v < V; v++)
                        CHECK_NEAR((double)got[i * V + v] - log(all), log_p[i * V + v], 3e-4);
                CHECK_NEAR((double)got_nll[i], nll[i], 2e-4);
                if (t->c.lm.shortlist > 0 && t->c.lm.shortlist < V)
                        CHECK_NEAR(all, 1, 1e-5);
        }
        ran_workspace_release(&w);
        naive_release(&naive);
        free(nll);
        free(log_p);
        free(got);
        free(got_nll);
}

TEST(scores_equal_those_of_a_plain_softmax_in_double)
{
        static const size_t shortlists[] = {0, 3, 1, 10, 22, 23, 100};
        struct dice dice = {.key = ran_random_key(3, 1, 4, 1)};

        for (size_t i = 0; i < 60; i++) {
                struct ran_config c = lm_config(&dice, shortlists[i % 7]);
                struct batch b = {0};
                struct toy t;

                toy_init(&t, &c, i, 0.4);
                for (size_t d = dice_size(&dice, 1, 3); d > 0; d--)
                        batch_add(&b, &t, &dice, dice_size(&dice, 1, 20));
                if (b.rows.positions > 0)
                        check_scores(&t, &b);
                ran_packed_release(&b.rows);
                toy_release(&t);
        }
}

TEST(places_without_gold_count_for_nothing)
{
        struct dice dice = {.key = ran_random_key(3, 1, 4, 2)};
        struct ran_config c = lm_config(&dice, 4);
        struct ran_error err = {0};
        struct batch b = {0};
        float nll[MOST], again[MOST];
        struct ran_workspace w;
        struct toy t;

        toy_init(&t, &c, 1, 0.4);
        batch_add(&b, &t, &dice, 20);
        ran_workspace_init(&w, &t.c, false, NULL);
        CHECK_OK(ran_workspace_fit(&w, &b.rows, t.C, &err), err);
        ran_encode(&w, &t.p);
        ran_lm_score(&w, &t.p, t.V, b.gold, nll, NULL);
        b.gold[1] = RAN_NO_ID;
        ran_lm_score(&w, &t.p, t.V, b.gold, again, NULL);
        CHECK(again[1] == 0.0f && nll[1] > 0);
        /* rounded differently, where a tail has one row less */
        CHECK_NEAR((double)again[0], (double)nll[0], 1e-6);
        CHECK_NEAR((double)again[2], (double)nll[2], 1e-6);
        ran_workspace_release(&w);
        ran_packed_release(&b.rows);
        toy_release(&t);
}

/* Where weights say nothing, biases say how frequent ids are, whatever shares a softmax. */
TEST(output_begins_with_the_frequencies)
{
        static const size_t shortlists[] = {0, 3, 1, 22};
        struct dice dice = {.key = ran_random_key(3, 1, 4, 3)};
        double count[TOY_V], all = 0;

        for (size_t id = 0; id < TOY_V; id++) {
                count[id] = (double)(id % 5 * id);
                all += count[id] + 0.5;
        }
        for (size_t k = 0; k < 4; k++) {
                struct ran_config c = lm_config(&dice, shortlists[k]);
                struct ran_error err = {0};
                float logits[MOST * TOY_V];
                struct batch b = {0};
                struct ran_workspace w;
                struct toy t;

                toy_init(&t, &c, 1, 0.4);
                memset(t.embed, 0, t.V * c.dim * sizeof *t.embed);
                if (t.p.head.tail_w != NULL)
                        memset(t.p.head.tail_w, 0, ran_lm_tails(&c, t.V) * c.dim * sizeof(float));
                ran_lm_init_bias(&c, &t.p, t.V, count);
                batch_add(&b, &t, &dice, 20);
                ran_workspace_init(&w, &t.c, false, NULL);
                CHECK_OK(ran_workspace_fit(&w, &b.rows, t.C, &err), err);
                ran_encode(&w, &t.p);
                ran_lm_score(&w, &t.p, t.V, b.gold, NULL, logits);
                for (size_t i = 0; i < b.rows.positions * t.V; i++)
                        CHECK_NEAR((double)logits[i], log((count[i % t.V] + 0.5) / all), 1e-5);
                ran_workspace_release(&w);
                ran_packed_release(&b.rows);
                toy_release(&t);
        }
}

/* ---- gradients ------------------------------------------------------------------------------ */

static double *naive_gradient(const struct toy *t, const struct batch *b)
{
        const double step = 1e-5;
        size_t n = t->layout.size, VD = t->V * t->c.dim;
        double *g = doubles(n + VD);
        struct naive naive;

        naive_init(&naive, &t->c, &t->layout, &t->p, t->V, t->C);
        for (size_t i = 0; i < n + VD; i++) {
                double *x = i < n ? &naive.block[i] : &naive.embed[i - n], was = *x, above;

                *x = was + step;
                above = naive_lm(&naive, t, b, NULL, NULL);
                *x = was - step;
                g[i] = (above - naive_lm(&naive, t, b, NULL, NULL)) / (2 * step);
                *x = was;
        }
        naive_release(&naive);
        return g;
}

static void check_gradient(const struct toy *t, const struct batch *b)
{
        size_t n = t->layout.size, VD = t->V * t->c.dim;
        double *want = naive_gradient(t, b), error = 0, norm = 0, loss;
        struct ran_error err = {0};
        struct ran_params dp;
        struct naive naive;
        struct ran_workspace w;

        CHECK_OK(ran_params_init(&dp, &t->c, t->C, &err), err);
        dp.dembed = ran_alloc_floats(VD, &err);
        ran_workspace_init(&w, &t->c, true, NULL);
        CHECK_OK(ran_workspace_fit(&w, &b->rows, t->C, &err), err);
        ran_encode(&w, &t->p);
        loss = ran_lm_loss(&w, &t->p, &dp, t->V, b->gold, b->scale, b->smoothing);
        ran_encode_bwd(&w, &t->p, &dp);
        for (size_t r = 0; r < b->rows.L; r++)
                for (size_t d = 0; d < t->c.dim; d++)
                        dp.dembed[b->rows.ids[r] * t->c.dim + d] += w.dx[r * t->c.dim + d];
        naive_init(&naive, &t->c, &t->layout, &t->p, t->V, t->C);
        CHECK_NEAR(loss, naive_lm(&naive, t, b, NULL, NULL), 1e-4 * (1 + fabs(loss)));
        for (size_t i = 0; i < n + VD; i++) {
                double got = (double)(i < n ? dp.block[i] : dp.dembed[i - n]);

                error += (got - want[i]) * (got - want[i]);
                norm += want[i] * want[i];
        }
        if (!CHECK(sqrt(error) <= 1e-3 * sqrt(norm) + 1e-7))
                printf("  %s, shortlist %zu: off by %g of %g\n", toy_name(&t->c), t->c.lm.shortlist,
                       sqrt(error), sqrt(norm));
        naive_release(&naive);
        ran_workspace_release(&w);
        free(dp.dembed);
        ran_params_release(&dp);
        free(want);
}

TEST(gradients_equal_central_differences)
{
        static const size_t shortlists[] = {0, 3, 10, 0, 1};
        struct dice dice = {.key = ran_random_key(3, 1, 4, 3)};

        for (size_t i = 0; i < (test_all() ? 10 : 4); i++) {
                struct ran_config c = lm_config(&dice, shortlists[i % 5]);
                struct batch b = {.smoothing = i % 5 == 3 ? 0.15 : 0};
                struct toy t;

                c.dim = dice_size(&dice, 6, 10);
                c.layers = dice_size(&dice, 1, 2);
                toy_init(&t, &c, i, 0.4);
                for (size_t d = 2; d > 0; d--)
                        batch_add(&b, &t, &dice, dice_size(&dice, 2, 14));
                if (b.rows.positions > 0)
                        check_gradient(&t, &b);
                ran_packed_release(&b.rows);
                toy_release(&t);
        }
}
