/* Beam search: equal to a search of everything where that can be done, to the greedy choice with a
 * beam of one; what it says of its continuations is what the model says of them alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/part.h"
#include "file/model.h"
#include "test.h"
#include "toy.h"

enum { LONGEST = 60, END = 4 };

/* A language model with random weights, and scratch for it. */
struct subject {
        struct toy t;
        struct ran_model m;
        struct ran_state *s;
        struct ran_lm_context *context;
        uint32_t ids[LONGEST]; /* a text, of which the model has read nothing */
        size_t L, sources;
};

static void prepare(struct subject *x, struct dice *dice, size_t i)
{
        struct ran_config c = i % 2 > 0 ? toy_transformer(dice) : toy_random_config(dice);

        c.task = RAN_TASK_LM;
        c.mask = dice_coin(dice) ? RAN_MASK_CAUSAL : RAN_MASK_PREFIX;
        c.min_window = 1;
        c.lm.shortlist = dice_coin(dice) ? 5 : 0;
        toy_init(&x->t, &c, i, 0.5);
        x->m = (struct ran_model){.config = c, .V = x->t.V, .C = x->t.C, .params = x->t.p};
        x->s = ran_state_new(&x->m, NULL);
        x->context = ran_lm_context_new(&x->m);
        CHECK(x->s != NULL && x->context != NULL);
        x->L = dice_size(dice, 1, 30);
        x->sources = c.mask == RAN_MASK_PREFIX ? dice_size(dice, 0, x->L) : 0;
        for (size_t t = 0; t < LONGEST; t++)
                x->ids[t] = (uint32_t)dice_size(dice, 0, TOY_V - 1);
}

static void release(struct subject *x)
{
        ran_lm_context_free(x->context);
        ran_state_free(x->s);
        toy_release(&x->t);
}

/* The logits (V) after n ids, read at once with one more: a target follows the source, and its
 * first token may share a window with it. */
static void logits_after(const struct subject *x, const uint32_t *ids, size_t n, float *logits)
{
        float both[2 * TOY_V];
        uint32_t more[2 * LONGEST] = {0};
        const struct ran_lm_out out = {.skip = n - 1, .logits = both};
        struct ran_error err = {0};

        memcpy(more, ids, n * sizeof *ids);
        CHECK_OK(ran_lm_read(&x->m, x->s, NULL, more, n + 1, x->sources, &out, &err), err);
        memcpy(logits, both, TOY_V * sizeof *logits);
}

/* ---- several documents at once -------------------------------------------------------------- */

/* Documents that begin with the same text; each goes on as it likes, and some are copied. */
static void read_together(struct subject *x, struct dice *dice, size_t B, size_t steps)
{
        const struct ran_lm_out out = {0};
        struct ran_lm_context **fork = calloc(B, sizeof *fork);
        uint32_t *last = calloc(B, sizeof *last), (*ids)[LONGEST] = calloc(B, sizeof *ids);
        float *logits = calloc(B * TOY_V, sizeof *logits), want[TOY_V];
        struct ran_error err = {0};

        CHECK_OK(ran_lm_read(&x->m, x->s, x->context, x->ids, x->L, x->sources, &out, &err), err);
        for (size_t b = 0; b < B; b++) {
                fork[b] = ran_lm_context_new(&x->m);
                CHECK_OK(ran_lm_context_fork(fork[b], x->context, &err), err);
                memcpy(ids[b], x->ids, sizeof x->ids);
        }
        for (size_t n = x->L; n < x->L + steps; n++) {
                size_t from = dice_size(dice, 0, B - 1), to = dice_size(dice, 0, B - 1);

                if (from != to) {
                        CHECK_OK(ran_lm_context_fork(fork[to], fork[from], &err), err);
                        memcpy(ids[to], ids[from], sizeof *ids);
                }
                for (size_t b = 0; b < B; b++)
                        ids[b][n] = last[b] = (uint32_t)dice_size(dice, 0, TOY_V - 1);
                CHECK_OK(ran_lm_read_each(&x->m, x->s, fork, last, B, logits, &err), err);
                for (size_t b = 0; b < B; b += 1 + B / 8) {
                        float far = 0;

                        logits_after(x, ids[b], n + 1, want);
                        for (size_t v = 0; v < TOY_V; v++)
                                far = fmaxf(far, fabsf(want[v] - logits[b * TOY_V + v]));
                        if (!CHECK(far < 1e-3f))
                                printf("  %s, document %zu of %zu, token %zu: off by %g\n",
                                       toy_name(&x->t.c), b, B, n, (double)far);
                }
        }
        for (size_t b = 0; b < B; b++)
                ran_lm_context_free(fork[b]);
        free(fork);
        free(last);
        free(ids);
        free(logits);
}

TEST(documents_read_together_equal_documents_read_alone)
{
        struct dice dice = {.key = ran_random_key(2, 7, 2, 1)};

        for (size_t i = 0; i < (test_all() ? 60 : 20); i++) {
                struct subject x;

                prepare(&x, &dice, i);
                read_together(&x, &dice, dice_size(&dice, 1, 6), 20);
                release(&x);
        }
}

/* More rows than a slab holds. */
TEST(many_documents_read_together_equal_documents_read_alone)
{
        struct dice dice = {.key = ran_random_key(2, 7, 2, 2)};

        for (size_t i = 0; i < 2; i++) {
                struct subject x;

                prepare(&x, &dice, i);
                x.t.c.window = x.m.config.window = 12;
                read_together(&x, &dice, 400, 14);
                release(&x);
        }
}

/* ---- search --------------------------------------------------------------------------------- */

static struct ran_beam *search(struct subject *x, const struct ran_beam_settings *set)
{
        struct ran_error err = {0};
        struct ran_beam *beam = ran_beam_new(&x->m, set);

        CHECK(beam != NULL);
        ran_lm_context_clear(x->context);
        CHECK_OK(ran_beam_search(beam, x->s, x->context, x->ids, x->L, x->sources, &err), err);
        return beam;
}

/* Each continuation has the probability that the model gives it when it reads all at once. */
static void check_texts(const struct subject *x, struct ran_beam *beam,
                        const struct ran_beam_settings *set)
{
        double before = INFINITY;

        for (size_t i = 0; ran_beam_text(beam, i).n > 0; i++) {
                struct ran_beam_text text = ran_beam_text(beam, i);
                uint32_t ids[LONGEST];
                double sum = 0;

                memcpy(ids, x->ids, x->L * sizeof *ids);
                memcpy(ids + x->L, text.ids, text.n * sizeof *ids);
                for (size_t t = 0; t < text.n; t++) {
                        float logits[TOY_V];

                        logits_after(x, ids, x->L + t, logits);
                        CHECK_NEAR((double)text.nll[t], ran_nll(logits, TOY_V, text.ids[t]), 1e-3);
                        CHECK(!set->never[text.ids[t]]);
                        sum -= (double)text.nll[t];
                }
                CHECK_NEAR(text.score, sum / pow((double)text.n, set->length_penalty), 1e-4);
                CHECK(text.score <= before);
                CHECK(text.ended == (text.ids[text.n - 1] == END));
                CHECK(text.ended ? text.n > set->min_new : text.n == set->max_new);
                before = text.score;
        }
}

/* Tokens below `allowed`, and [END] if it is one of them. */
static void allow(bool *never, size_t allowed)
{
        for (size_t id = 0; id < TOY_V; id++)
                never[id] = id >= allowed;
}

TEST(beam_says_of_its_texts_what_the_model_says)
{
        struct dice dice = {.key = ran_random_key(2, 7, 2, 3)};

        for (size_t i = 0; i < (test_all() ? 80 : 30); i++) {
                bool never[TOY_V];
                struct ran_beam_settings set = {.width = dice_size(&dice, 1, 7),
                                                .max_new = dice_size(&dice, 1, 25),
                                                .length_penalty = dice_real(&dice, 0, 2),
                                                .never = never,
                                                .end = END};
                struct subject x;

                set.min_new = dice_size(&dice, 0, set.max_new);
                allow(never, dice_size(&dice, END + 1, TOY_V));
                prepare(&x, &dice, i);
                struct ran_beam *beam = search(&x, &set);
                check_texts(&x, beam, &set);
                ran_beam_free(beam);
                release(&x);
        }
}

TEST(beam_of_one_is_greedy)
{
        struct dice dice = {.key = ran_random_key(2, 7, 2, 4)};

        for (size_t i = 0; i < 30; i++) {
                const struct ran_beam_settings set = {
                        .width = 1, .max_new = 20, .length_penalty = 1, .end = END};
                struct ran_sampler greedy = {.temperature = 0};
                struct ran_error err = {0};
                struct subject x;
                float logits[TOY_V];
                const struct ran_lm_out out = {.last = logits};

                prepare(&x, &dice, i);
                struct ran_beam *beam = search(&x, &set);
                const struct ran_beam_text text = ran_beam_text(beam, 0);
                CHECK(text.n > 0);
                ran_lm_context_clear(x.context);
                for (size_t t = 0; t < text.n; t++) {
                        uint32_t id;

                        CHECK_OK(ran_lm_read(&x.m, x.s, x.context,
                                             t == 0 ? x.ids : text.ids + t - 1, t == 0 ? x.L : 1,
                                             t == 0 ? x.sources : 0, &out, &err),
                                 err);
                        CHECK_OK(ran_sampler_draw(&greedy, logits, TOY_V, 0, &id, &err), err);
                        CHECK_SIZE(text.ids[t], id);
                        CHECK(text.nll[t] == (float)ran_nll(logits, TOY_V, id));
                }
                ran_sampler_release(&greedy);
                ran_beam_free(beam);
                release(&x);
        }
}

/* ---- everything ----------------------------------------------------------------------------- */

enum { MOST = 4, ALLOWED = 6, TEXTS = 2000 };

struct text {
        uint32_t ids[MOST];
        size_t n;
        double score;
};

struct all {
        const struct subject *x;
        const struct ran_beam_settings *set;
        struct text text[TEXTS];
        size_t n;
};

/* Whether the last no_repeat tokens of ids (n) occur before. */
static bool repeats(const uint32_t *ids, size_t n, size_t no_repeat)
{
        for (size_t i = 0; no_repeat > 0 && i + no_repeat < n; i++) {
                size_t same = 0;

                while (same < no_repeat && ids[i + same] == ids[n - no_repeat + same])
                        same++;
                if (same == no_repeat)
                        return true;
        }
        return false;
}

/* All continuations that begin with n tokens, which have log_p. */
static void enumerate(struct all *k, uint32_t *ids, size_t n, double log_p)
{
        const struct ran_beam_settings *set = k->set;
        float logits[TOY_V];

        logits_after(k->x, ids, k->x->L + n, logits);
        for (uint32_t id = 0; id < ALLOWED; id++) {
                double now = log_p - ran_nll(logits, TOY_V, id);

                ids[k->x->L + n] = id;
                if ((id == END && n < set->min_new) ||
                    repeats(ids + k->x->L, n + 1, set->no_repeat))
                        continue;
                if (id != END && n + 1 < set->max_new) {
                        enumerate(k, ids, n + 1, now);
                        continue;
                }
                struct text *text = &k->text[k->n++];
                text->n = n + 1;
                text->score = now / pow((double)(n + 1), set->length_penalty);
                memcpy(text->ids, ids + k->x->L, text->n * sizeof *ids);
        }
}

static int by_score(const void *a, const void *b)
{
        const struct text *x = a, *y = b;

        return x->score > y->score ? -1 : x->score < y->score;
}

static void check_all(struct all *k, struct ran_beam *beam)
{
        qsort(k->text, k->n, sizeof *k->text, by_score);
        for (size_t i = 0; i < k->n; i++) {
                struct ran_beam_text text = ran_beam_text(beam, i);
                size_t at = i; /* of nearly equal ones any may be here */

                CHECK_NEAR(text.score, k->text[i].score, 1e-3);
                while (at > 0 && k->text[at - 1].score < text.score + 2e-3)
                        at--;
                while (at < k->n && k->text[at].score > text.score - 2e-3 &&
                       (text.n != k->text[at].n ||
                        memcmp(text.ids, k->text[at].ids, text.n * sizeof *text.ids) != 0))
                        at++;
                CHECK(at < k->n && k->text[at].score > text.score - 2e-3);
        }
        CHECK_SIZE(ran_beam_text(beam, k->n).n, 0); /* and nothing else */
}

TEST(wide_beam_finds_all_that_there_is)
{
        struct dice dice = {.key = ran_random_key(2, 7, 2, 5)};
        struct all *k = calloc(1, sizeof *k);

        REQUIRE(k != NULL);
        for (size_t i = 0; i < (test_all() ? 12 : 6); i++) {
                bool never[TOY_V];
                const struct ran_beam_settings set = {.width = TEXTS,
                                                      .max_new = MOST,
                                                      .min_new = dice_size(&dice, 0, 2),
                                                      .no_repeat = dice_size(&dice, 0, 3),
                                                      .length_penalty = dice_real(&dice, 0, 2),
                                                      .never = never,
                                                      .end = END};
                uint32_t ids[LONGEST];
                struct subject x;

                allow(never, ALLOWED);
                prepare(&x, &dice, i);
                *k = (struct all){.x = &x, .set = &set};
                memcpy(ids, x.ids, sizeof ids);
                enumerate(k, ids, 0, 0);
                struct ran_beam *beam = search(&x, &set);
                check_all(k, beam);
                ran_beam_free(beam);
                release(&x);
        }
        free(k);
}

/* The best of all is found by a beam that is not wide enough for all, when scores are sums. */
TEST(beam_as_wide_as_the_second_last_step_finds_the_best)
{
        struct dice dice = {.key = ran_random_key(2, 7, 2, 6)};
        struct all *k = calloc(1, sizeof *k);

        REQUIRE(k != NULL);
        for (size_t i = 0; i < 6; i++) {
                bool never[TOY_V];
                const struct ran_beam_settings set = {
                        .width = 125, .max_new = MOST, .never = never, .end = END};
                uint32_t ids[LONGEST];
                struct subject x;

                allow(never, ALLOWED);
                prepare(&x, &dice, i);
                *k = (struct all){.x = &x, .set = &set};
                memcpy(ids, x.ids, sizeof ids);
                enumerate(k, ids, 0, 0);
                qsort(k->text, k->n, sizeof *k->text, by_score);
                struct ran_beam *beam = search(&x, &set);
                CHECK_NEAR(ran_beam_text(beam, 0).score, k->text[0].score, 1e-3);
                ran_beam_free(beam);
                release(&x);
        }
        free(k);
}

/* ---- limits --------------------------------------------------------------------------------- */

TEST(beam_repeats_nothing)
{
        struct dice dice = {.key = ran_random_key(2, 7, 2, 7)};
        bool never[TOY_V];
        const struct ran_beam_settings set = {
                .width = 4, .max_new = 12, .no_repeat = 1, .never = never, .end = RAN_NO_ID};
        struct subject x;

        allow(never, 16);
        prepare(&x, &dice, 0);
        x.L = 10;
        x.sources = x.sources > 3 ? 3 : x.sources;
        struct ran_beam *beam = search(&x, &set);
        for (size_t i = 0; i < 4; i++) {
                const struct ran_beam_text text = ran_beam_text(beam, i);
                bool seen[TOY_V] = {0};

                CHECK_SIZE(text.n, 12);
                for (size_t t = 0; t < text.n; t++) {
                        CHECK(!seen[text.ids[t]]);
                        seen[text.ids[t]] = true;
                }
        }
        ran_beam_free(beam);
        release(&x);
}

TEST(beam_says_when_nothing_may_come_first)
{
        struct dice dice = {.key = ran_random_key(2, 7, 2, 8)};
        bool never[TOY_V];
        struct ran_beam_settings set = {.width = 2, .max_new = 3, .never = never, .end = END};
        struct ran_error err = {0};
        struct subject x;

        allow(never, 0);
        prepare(&x, &dice, 0);
        struct ran_beam *beam = ran_beam_new(&x.m, &set);
        REQUIRE(beam != NULL);
        CHECK_SIZE((size_t)ran_beam_search(beam, x.s, x.context, x.ids, x.L, x.sources, &err),
                   RAN_EINVAL);
        CHECK_STR(err.text, "every token that may stand here has probability 0");
        ran_beam_free(beam);
        set.min_new = 4;
        beam = ran_beam_new(&x.m, &set);
        REQUIRE(beam != NULL);
        CHECK_SIZE((size_t)ran_beam_search(beam, x.s, x.context, x.ids, x.L, x.sources, &err),
                   RAN_EINVAL);
        CHECK_STR(err.text, "no beam search is possible with width 2 and 4 to 3 tokens");
        ran_beam_free(beam);
        release(&x);
}
