/* Which tokens can be drawn from logits, and how often each is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "ran.h"
#include "test.h"

enum { MOST = 5000 };

/* Marks which of V tokens come up as u goes from 0 to 1 in `steps` steps, and counts how often. */
static void sweep(struct ran_sampler *s, const float *logits, size_t V, size_t steps, size_t *count)
{
        struct ran_error err;
        uint32_t id;

        memset(count, 0, V * sizeof *count);
        for (size_t i = 0; i < steps; i++)
                if (CHECK_OK(ran_sampler_draw(s, logits, V, ((double)i + 0.5) / (double)steps, &id,
                                              &err),
                             err) &&
                    CHECK(id < V))
                        count[id]++;
}

/* Logits of these probabilities. */
static void logs(float *logits, const double *p, size_t V)
{
        for (size_t i = 0; i < V; i++)
                logits[i] = (float)log(p[i]);
}

static void check_counts(const char *what, const size_t *got, const size_t *want, size_t V)
{
        for (size_t i = 0; i < V; i++)
                test_check_size(got[i], want[i], what, __FILE__, __LINE__);
}

TEST(sample_draws_each_token_as_often_as_it_is_probable)
{
        const double p[] = {0.125, 0.5, 0.25, 0.125};
        struct ran_sampler s = {.temperature = 1, .top_p = 1};
        size_t count[4];
        float logits[4];

        logs(logits, p, 4);
        sweep(&s, logits, 4, 1000, count);
        check_counts("all", count, (size_t[]){125, 500, 250, 125}, 4);
        s.temperature = 0.5; /* squares: 1 16 4 1 of 22 */
        sweep(&s, logits, 4, 2200, count);
        check_counts("cold", count, (size_t[]){100, 1600, 400, 100}, 4);
        s.temperature = 1e9; /* all equally probable */
        sweep(&s, logits, 4, 1000, count);
        check_counts("hot", count, (size_t[]){250, 250, 250, 250}, 4);
        ran_sampler_release(&s);
}

TEST(sample_top_k_keeps_the_k_most_probable_and_of_equals_the_lower_id)
{
        const double p[] = {0.125, 0.5, 0.25, 0.125};
        struct ran_sampler s = {.temperature = 1, .top_p = 1, .top_k = 1};
        size_t count[4];
        float logits[4];

        logs(logits, p, 4);
        sweep(&s, logits, 4, 100, count);
        check_counts("k 1", count, (size_t[]){0, 100, 0, 0}, 4);
        s.top_k = 2;
        sweep(&s, logits, 4, 300, count);
        check_counts("k 2", count, (size_t[]){0, 200, 100, 0}, 4);
        s.top_k = 3;
        sweep(&s, logits, 4, 700, count);
        check_counts("k 3", count, (size_t[]){100, 400, 200, 0}, 4);
        s.top_k = 9;
        sweep(&s, logits, 4, 800, count);
        check_counts("k 9", count, (size_t[]){100, 400, 200, 100}, 4);
        ran_sampler_release(&s);
}

TEST(sample_top_p_keeps_the_fewest_that_are_together_so_probable)
{
        const double p[] = {0.125, 0.5, 0.25, 0.125};
        const struct {
                double top_p;
                size_t k, count[4];
        } want[] = {
                {0, 0, {0, 840, 0, 0}},
                {0.4, 0, {0, 840, 0, 0}},
                {0.501, 0, {0, 560, 280, 0}},
                {0.749, 0, {0, 560, 280, 0}},
                {0.751, 0, {120, 480, 240, 0}},
                {0.874, 0, {120, 480, 240, 0}},
                {0.876, 0, {105, 420, 210, 105}},
                {0.751, 3, {0, 560, 280, 0}}, /* 0.751 of what top_k leaves: 0.875 */
                {0.999, 2, {0, 560, 280, 0}},
                {0.6, 2, {0, 840, 0, 0}},
        };
        struct ran_sampler s = {.temperature = 1};
        size_t count[4];
        float logits[4];

        logs(logits, p, 4);
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
                s.top_p = want[i].top_p;
                s.top_k = want[i].k;
                sweep(&s, logits, 4, 840, count);
                check_counts("top_p", count, want[i].count, 4);
        }
        ran_sampler_release(&s);
}

TEST(sample_cuts_at_the_very_fraction_and_nowhere_without_one)
{
        const float equal[] = {3, 3, 3, 3}, steep[] = {0, -40, -41, -INFINITY};
        struct ran_sampler s = {.temperature = 1, .top_p = 0.5};
        struct ran_error err;
        size_t count[4];
        uint32_t id;

        sweep(&s, equal, 4, 100, count);
        check_counts("half of equals", count, (size_t[]){50, 50, 0, 0}, 4);
        /* The draw by 0 is the least probable of those left. */
        s.top_p = 1;
        s.top_k = 4;
        CHECK_OK(ran_sampler_draw(&s, steep, 4, 0, &id, &err), err);
        CHECK_SIZE(id, 2);
        ran_sampler_release(&s);
}

/* A nucleus as its definition has it: sort, add up. */
struct ranked {
        double p;
        uint32_t id;
};

static int compare(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;

        if (x->p != y->p)
                return x->p > y->p ? -1 : 1;
        return (x->id > y->id) - (x->id < y->id);
}

/* Sets `in`, and returns the least probable token of the nucleus. */
static uint32_t nucleus(const float *logits, size_t V, const struct ran_sampler *s, bool *in)
{
        struct ranked r[MOST];
        double sum = 0, whole = 0;
        size_t n = 0, kept = 0;

        memset(in, 0, V * sizeof *in);
        for (size_t i = 0; i < V; i++)
                if (!s->never[i])
                        r[n++] = (struct ranked){exp((double)logits[i] / s->temperature),
                                                 (uint32_t)i};
        qsort(r, n, sizeof *r, compare);
        size_t k = s->top_k > 0 && s->top_k < n ? s->top_k : n;
        for (size_t i = 0; i < k; i++)
                whole += r[i].p;
        for (; kept < k && (kept == 0 || sum < s->top_p * whole); kept++) {
                sum += r[kept].p;
                in[r[kept].id] = true;
        }
        return r[kept - 1].id;
}

/* Draws go from the least probable to the most probable of a cut set: so the draw by 0 tells where
 * the cut is. */
static void check_set(struct ran_sampler *s, const float *logits, size_t V)
{
        static size_t count[MOST];
        static bool in[MOST];
        struct ran_error err;
        uint32_t least = nucleus(logits, V, s, in), id;

        CHECK_OK(ran_sampler_draw(s, logits, V, 0, &id, &err), err);
        CHECK_SIZE(id, least);
        sweep(s, logits, V, 200, count);
        for (size_t i = 0; i < V; i++)
                if (count[i] > 0)
                        CHECK(in[i]);
}

TEST(sample_sets_are_those_of_the_definition)
{
        const double shares[] = {0.99, 0.8, 0.5, 0.1};
        const size_t ks[] = {0, 2, 7, 300};
        static float logits[MOST];
        static bool never[MOST];
        struct dice dice = {.key = 17};

        for (size_t V = 1; V <= MOST; V = V * 3 + 1) {
                dice_floats(&dice, logits, V, 3);
                for (size_t i = 0; i < V; i++) {
                        logits[i] = roundf(logits[i] * 4) / 4; /* with equals */
                        never[i] = i % 5 == 2;
                }
                for (size_t c = 0; c < 16; c++) {
                        struct ran_sampler s = {.temperature = 0.7,
                                                .top_k = ks[c % 4],
                                                .top_p = shares[c / 4],
                                                .never = never};
                        check_set(&s, logits, V);
                        ran_sampler_release(&s);
                }
        }
}

TEST(sample_at_temperature_0_is_the_most_probable_and_the_first_of_equals)
{
        const float logits[] = {1, 3, -2, 3, 5};
        const bool never[] = {false, false, false, false, true};
        struct ran_sampler s = {.temperature = 0, .top_p = 1, .never = never};
        struct ran_error err;
        uint32_t id;

        for (int i = 0; i < 10; i++) {
                CHECK_OK(ran_sampler_draw(&s, logits, 5, i / 10.0, &id, &err), err);
                CHECK_SIZE(id, 1);
        }
        s.never = NULL;
        CHECK_OK(ran_sampler_draw(&s, logits, 5, 0.5, &id, &err), err);
        CHECK_SIZE(id, 4);
        /* As good as 0. */
        s.temperature = 1e-300;
        CHECK_OK(ran_sampler_draw(&s, logits, 5, 0.99, &id, &err), err);
        CHECK_SIZE(id, 4);
        ran_sampler_release(&s);
}

TEST(sample_takes_extremes)
{
        const float far[] = {-3e38f, 3e38f, -INFINITY, 0};
        struct ran_sampler s = {.temperature = 1, .top_p = 0.9};
        struct ran_error err;
        uint32_t id;

        CHECK_OK(ran_sampler_draw(&s, far, 4, 0.999999, &id, &err), err);
        CHECK_SIZE(id, 1);
        s.temperature = 1e308; /* even so the one without any chance stays out */
        size_t count[4];
        s.top_p = 1;
        sweep(&s, far, 4, 300, count);
        check_counts("far", count, (size_t[]){100, 100, 0, 100}, 4);
        const float one[] = {-7};
        CHECK_OK(ran_sampler_draw(&s, one, 1, 0.3, &id, &err), err);
        CHECK_SIZE(id, 0);
        ran_sampler_release(&s);
}

TEST(sample_refuses_what_leaves_nothing)
{
        const float none[] = {-INFINITY, -INFINITY, -INFINITY};
        const float good[] = {0, 1, 2};
        const bool all[] = {true, true, true};
        struct ran_sampler s = {.top_p = 0.5};
        struct ran_error err;
        uint32_t id;

        for (int t = 0; t < 2; t++) {
                s.temperature = t;
                CHECK_SIZE((size_t)ran_sampler_draw(&s, none, 3, 0.5, &id, &err), RAN_EINVAL);
                CHECK_SIZE((size_t)err.code, RAN_EINVAL); /* as it was returned */
        }
        s.never = all;
        for (int t = 0; t < 2; t++) {
                s.temperature = t;
                CHECK_SIZE((size_t)ran_sampler_draw(&s, good, 3, 0.5, &id, &err), RAN_EINVAL);
                CHECK_STR(err.text, "every token that may stand here has probability 0");
        }
        ran_sampler_release(&s);
}

TEST(sample_best_are_in_order_with_their_probabilities)
{
        const double p[] = {0.125, 0.5, 0.25, 0.125};
        const bool never[] = {false, true, false, false};
        struct ran_sampler s = {.temperature = 0}; /* plays no part */
        uint32_t ids[9];
        double best[9];
        float logits[4];

        logs(logits, p, 4);
        CHECK_SIZE(ran_sampler_best(&s, logits, 4, 3, ids, best), 3);
        CHECK(ids[0] == 1 && ids[1] == 2 && ids[2] == 0);
        CHECK_NEAR(best[0], 0.5, 1e-7);
        CHECK_NEAR(best[2], 0.125, 1e-7);
        s.never = never;
        CHECK_SIZE(ran_sampler_best(&s, logits, 4, 9, ids, best), 3);
        CHECK(ids[0] == 2 && ids[1] == 0 && ids[2] == 3);
        CHECK_NEAR(best[0], 0.25, 1e-7);
        CHECK_NEAR(ran_nll(logits, 4, 1), log(2), 1e-7);
        ran_sampler_release(&s);
}
