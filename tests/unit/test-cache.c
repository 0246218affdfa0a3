/* A cache over the recent past against the sums as the paper has them, in double and position by
 * position; in parts, and by any number of threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "infer/infer.h"
#include "nn/part.h"
#include "naive.h"
#include "test.h"
#include "toy.h"

enum { LONGEST = 230 }; /* several blocks of positions, and rings that come round */

static struct ran_config lm_config(struct dice *dice, bool transformer)
{
        struct ran_config c = transformer ? toy_transformer(dice) : toy_random_config(dice);

        c.task = RAN_TASK_LM;
        c.mask = dice_coin(dice) ? RAN_MASK_CAUSAL : RAN_MASK_PREFIX;
        c.min_window = 1;
        c.lm.shortlist = dice_coin(dice) ? 5 : 0;
        return c;
}

/* A document, and what should follow each of its tokens. */
struct text {
        size_t L, sources;
        uint32_t ids[LONGEST], gold[LONGEST];
};

static void make_text(struct text *x, struct dice *dice, const struct ran_config *c)
{
        x->L = dice_size(dice, 1, LONGEST);
        x->sources = c->mask == RAN_MASK_PREFIX ? dice_size(dice, 0, x->L - 1) : 0;
        for (size_t t = 0; t < x->L; t++) {
                x->ids[t] = (uint32_t)dice_size(dice, 0, TOY_V - 1);
                x->gold[t] = dice_size(dice, 0, 5) == 0 ? RAN_NO_ID
                                                        : (uint32_t)dice_size(dice, 0, TOY_V - 1);
        }
}

static struct ran_cache_settings make_settings(struct dice *dice)
{
        return (struct ran_cache_settings){.positions = dice_size(dice, 1, 120),
                                           .weight = 0.1 * (double)dice_size(dice, 0, 9),
                                           .theta = 5 * (double)dice_size(dice, 0, 4)};
}

static struct ran_cache *make_cache(const struct ran_config *c,
                                    const struct ran_cache_settings *set)
{
        struct ran_error err = {0};
        struct ran_cache *cache = ran_cache_new(c, set, &err);

        CHECK_OK(cache != NULL ? RAN_OK : err.code, err);
        return cache;
}

/* Scores of tokens [from, to), with the cache if there is one. */
struct scores {
        float nll[LONGEST], logits[LONGEST * TOY_V];
};

static void read_tokens(struct ran_state *s, struct ran_recurrent_state *recurrent,
                        const struct text *x, size_t from, size_t to, struct ran_cache *cache,
                        struct scores *out)
{
        struct ran_error err = {0};
        const struct ran_lm_out wanted = {.gold = x->gold + from,
                                          .nll = out->nll + from,
                                          .logits = out->logits + from * TOY_V,
                                          .cache = cache};

        CHECK_OK(ran_score_lm(s, recurrent, x->ids + from, to - from, from == 0 ? x->sources : 0,
                              &wanted, &err),
                 err);
}

/* ---- the plain way -------------------------------------------------------------------------- */

/* exp(theta cos(h_t, h_i)) */
static double similarity(const double *h, const double *g, size_t D, double theta)
{
        double hg = 0, hh = 0, gg = 0;

        for (size_t d = 0; d < D; d++) {
                hg += h[d] * g[d];
                hh += h[d] * h[d];
                gg += g[d] * g[d];
        }
        return exp(theta * hg / sqrt(hh * gg));
}

/* p (V), that of the model, becomes that of model and cache after token t. */
static void naive_cache(const struct text *x, const double *h, size_t D, size_t t,
                        const struct ran_cache_settings *set, double *p)
{
        double sum = 0, of[TOY_V] = {0};
        size_t n = 0;

        for (size_t i = t; i-- > 0 && n < set->positions;) {
                if (x->gold[i] == RAN_NO_ID)
                        continue;
                double e = similarity(h + t * D, h + i * D, D, set->theta);
                of[x->gold[i]] += e;
                sum += e;
                n++;
        }
        for (size_t w = 0; w < TOY_V && n > 0; w++)
                p[w] = (1 - set->weight) * p[w] + set->weight * of[w] / sum;
}

/* The model's own probabilities, of logits or log-probabilities. */
static void softmax(const float *logits, double *p)
{
        double all = 0;

        for (size_t w = 0; w < TOY_V; w++)
                all += p[w] = exp((double)logits[w]);
        for (size_t w = 0; w < TOY_V; w++)
                p[w] /= all;
}

static void check_against_naive(const struct toy *t, const struct text *x,
                                const struct ran_cache_settings *set)
{
        struct scores *model = calloc(1, sizeof *model), *got = calloc(1, sizeof *got);
        double *h = doubles(x->L * t->c.dim), *last = doubles(t->c.dim), p[TOY_V], worst = 0;
        struct ran_cache *cache = make_cache(&t->c, set);
        struct ran_state *s = ran_score_state_new(&t->c, &t->p, t->C, NULL);
        struct naive naive;

        naive_init(&naive, &t->c, &t->layout, &t->p, t->V, t->C);
        naive.sources = x->sources;
        naive_encode(&naive, h, last, x->ids, x->L);
        read_tokens(s, NULL, x, 0, x->L, NULL, model);
        read_tokens(s, NULL, x, 0, x->L, cache, got);
        for (size_t i = 0; i < x->L; i++) {
                double all = 0;

                softmax(model->logits + i * TOY_V, p);
                naive_cache(x, h, t->c.dim, i, set, p);
                for (size_t w = 0; w < TOY_V; w++) {
                        double q = exp((double)got->logits[i * TOY_V + w]);

                        all += q;
                        worst = fmax(worst, fabs(q - p[w]) / p[w]);
                }
                CHECK_NEAR(all, 1, 1e-5);
                if (x->gold[i] == RAN_NO_ID)
                        CHECK(got->nll[i] == 0);
                else
                        worst = fmax(worst, fabs(exp(-(double)got->nll[i]) / p[x->gold[i]] - 1));
        }
        if (!CHECK(worst < 1e-3))
                printf("  %s, %zu tokens, %zu positions, weight %g, theta %g: off by %g\n",
                       toy_name(&t->c), x->L, set->positions, set->weight, set->theta, worst);
        naive_release(&naive);
        ran_state_free(s);
        ran_cache_free(cache);
        free(model);
        free(got);
        free(h);
        free(last);
}

TEST(probabilities_are_those_of_the_sums_in_double_and_add_up_to_1)
{
        struct dice dice = {.key = ran_random_key(5, 4, 1, 1)};

        for (size_t i = 0; i < 60; i++) {
                struct ran_config c = lm_config(&dice, false);
                struct ran_cache_settings set = make_settings(&dice);
                struct text x;
                struct toy t;

                toy_init(&t, &c, i, 0.3);
                make_text(&x, &dice, &c);
                check_against_naive(&t, &x, &set);
                toy_release(&t);
        }
}

/* ---- parts ---------------------------------------------------------------------------------- */

TEST(a_document_in_chunks_says_what_the_whole_says)
{
        struct dice dice = {.key = ran_random_key(5, 4, 1, 2)};

        for (size_t i = 0; i < 40; i++) {
                struct ran_config c = lm_config(&dice, i % 2 > 0);
                struct ran_cache_settings set = make_settings(&dice);
                struct scores *whole = calloc(1, sizeof *whole), *parts = calloc(1, sizeof *parts);
                struct ran_cache *one = make_cache(&c, &set), *cache = make_cache(&c, &set);
                struct ran_state *s;
                struct ran_recurrent_state recurrent;
                struct text x;
                struct toy t;

                toy_init(&t, &c, i, 0.3);
                make_text(&x, &dice, &c);
                s = ran_score_state_new(&t.c, &t.p, t.C, NULL);
                read_tokens(s, NULL, &x, 0, x.L, one, whole);
                ran_encoder_state_init(&recurrent, &t.c);
                for (size_t at = 0, to; at < x.L; at = to) {
                        to = at + dice_size(&dice, at == 0 ? x.sources + 1 : 1, x.sources + 100);
                        to = to < x.L ? to : x.L;
                        read_tokens(s, &recurrent, &x, at, to, cache, parts);
                }
                for (size_t j = 0; j < x.L; j++)
                        CHECK_NEAR((double)parts->nll[j], (double)whole->nll[j], 1e-3);
                for (size_t j = 0; j < x.L * TOY_V; j++)
                        CHECK_NEAR((double)parts->logits[j], (double)whole->logits[j], 2e-3);
                ran_recurrent_state_release(&recurrent);
                ran_state_free(s);
                ran_cache_free(one);
                ran_cache_free(cache);
                free(whole);
                free(parts);
                toy_release(&t);
        }
}

/* The same document again, after others and beside them: what a promise says. */
TEST(a_cleared_cache_and_any_number_of_threads_give_the_same_bits)
{
        struct dice dice = {.key = ran_random_key(5, 4, 1, 3)};
        struct ran_error err = {0};
        struct ran_pool *pool = ran_pool_new(3, &err);

        for (size_t i = 0; i < 20; i++) {
                struct ran_config c = lm_config(&dice, i % 2 > 0);
                struct ran_cache_settings set = make_settings(&dice);
                struct scores *first = calloc(1, sizeof *first), *again = calloc(1, sizeof *again);
                struct ran_cache *cache = make_cache(&c, &set);
                struct ran_state *s, *shared;
                struct text x, other;
                struct toy t;

                toy_init(&t, &c, i, 0.3);
                make_text(&x, &dice, &c);
                make_text(&other, &dice, &c);
                s = ran_score_state_new(&t.c, &t.p, t.C, NULL);
                shared = ran_score_state_new(&t.c, &t.p, t.C, pool);
                read_tokens(s, NULL, &x, 0, x.L, cache, first);
                ran_cache_clear(cache);
                read_tokens(s, NULL, &other, 0, other.L, cache, again);
                ran_cache_clear(cache);
                memset(again, 0, sizeof *again);
                read_tokens(shared, NULL, &x, 0, x.L, cache, again);
                CHECK(memcmp(first, again, sizeof *first) == 0);
                ran_state_free(s);
                ran_state_free(shared);
                ran_cache_free(cache);
                free(first);
                free(again);
                toy_release(&t);
        }
        ran_pool_free(pool);
}

/* ---- what is not wanted --------------------------------------------------------------------- */

TEST(leading_tokens_that_are_skipped_are_read_and_change_nothing_else)
{
        struct dice dice = {.key = ran_random_key(5, 4, 1, 4)};

        for (size_t i = 0; i < 20; i++) {
                struct ran_config c = lm_config(&dice, i % 2 > 0);
                struct scores *whole = calloc(1, sizeof *whole), *rest = calloc(1, sizeof *rest);
                struct ran_error err = {0};
                struct ran_state *s;
                struct text x;
                struct toy t;

                toy_init(&t, &c, i, 0.3);
                make_text(&x, &dice, &c);
                size_t skip = dice_size(&dice, 0, x.L - 1);
                const struct ran_lm_out wanted = {.skip = skip,
                                                  .gold = x.gold + skip,
                                                  .nll = rest->nll + skip,
                                                  .logits = rest->logits + skip * TOY_V};
                s = ran_score_state_new(&t.c, &t.p, t.C, NULL);
                read_tokens(s, NULL, &x, 0, x.L, NULL, whole);
                CHECK_OK(ran_score_lm(s, NULL, x.ids, x.L, x.sources, &wanted, &err), err);
                for (size_t j = skip; j < x.L; j++)
                        CHECK_NEAR((double)rest->nll[j], (double)whole->nll[j], 1e-5);
                for (size_t j = skip * TOY_V; j < x.L * TOY_V; j++)
                        CHECK_NEAR((double)rest->logits[j], (double)whole->logits[j], 1e-5);
                ran_state_free(s);
                free(whole);
                free(rest);
                toy_release(&t);
        }
}

TEST(settings_that_make_no_probabilities_are_refused)
{
        static const struct {
                struct ran_cache_settings set;
                const char *why;
        } wrong[] = {
                {{0, 0.1, 1}, "a cache of 0 positions"},
                {{SIZE_MAX, 0.1, 1}, NULL},
                {{10, 1, 1}, "the weight of a cache must be at least 0 and below 1"},
                {{10, -0.1, 1}, "the weight of a cache must be at least 0 and below 1"},
                {{10, NAN, 1}, "the weight of a cache must be at least 0 and below 1"},
                {{10, 0.1, -1}, "theta of a cache must be between 0 and 1000"},
                {{10, 0.1, INFINITY}, "theta of a cache must be between 0 and 1000"},
        };
        struct ran_config c = toy_config();

        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                struct ran_error err = {0};

                CHECK(ran_cache_new(&c, &wrong[i].set, &err) == NULL);
                CHECK_SIZE((size_t)err.code, RAN_EINVAL);
                if (wrong[i].why != NULL)
                        CHECK_STR(err.text, wrong[i].why);
        }
}
