/* The memory review of a pattern of windows: what it counts, what it keeps, and that its ways of
 * computing agree. test-encoder.c compares it with the plain loop, test-gradient.c with
 * differences, test-mask.c looks for leaks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/part.h"
#include "task/lm-output.h"
#include "test.h"
#include "toy.h"

/* ---- counting ------------------------------------------------------------------------------- */

/* Whether distance x belongs to the pattern, by the sequence as the manual prints it. */
static bool in_pattern(const struct ran_config *c, size_t x)
{
        size_t half = c->ran.review_window / 2, far = half;

        if (c->ran.review == RAN_REVIEW_ALL || x <= half)
                return true;
        for (size_t gap = 2; c->ran.review == RAN_REVIEW_DISPERSED && far < x; gap++)
                far += gap;
        return far == x && c->ran.review == RAN_REVIEW_DISPERSED;
}

static uint64_t count(const struct ran_config *c, size_t L, size_t sources)
{
        size_t m = ran_packed_windows(c, L, 0);
        uint64_t n = 0;

        for (size_t t = 0; t < L; t++) {
                size_t i = t / c->window < m ? t / c->window + 1 : m; /* windows from 1 */

                for (size_t j = 0; j <= m; j++) {
                        size_t stands = c->mask == RAN_MASK_NONE ? i : i - 1;
                        size_t end = j < m ? j * c->window : L;
                        bool seen =
                                c->mask == RAN_MASK_NONE
                                        ? j > 0
                                        : j < i || (c->mask == RAN_MASK_PREFIX && end <= sources);

                        n += seen && in_pattern(c, j > stands ? j - stands : stands - j);
                }
                n += c->ran.review_source && t >= sources ? sources : 0;
        }
        return n;
}

TEST(review_scores_are_counted)
{
        struct ran_config c = toy_config();

        for (size_t i = 0; i < 3000; i++) {
                size_t L = 1 + i * 7 % 83, sources;

                c.ran.review = (int)(i % 4);
                c.mask = (int)(i / 4 % 3);
                c.window = 1 + i / 12 % 5;
                c.min_window = c.mask == RAN_MASK_NONE ? 1 + i % 3 : 1;
                c.ran.review_window = 1 + i / 60 % 9;
                sources = c.mask == RAN_MASK_PREFIX ? i % (L + 1) : 0;
                c.ran.review_source = c.ran.review == RAN_REVIEW_ALL && sources > 0 && i % 5 > 2;
                uint64_t want = c.ran.review == RAN_REVIEW_NONE ? 0 : count(&c, L, sources);
                if (!CHECK_SIZE((size_t)ran_review_scores(&c, L, sources), (size_t)want))
                        printf("  %s, review %d of %zu, %zu tokens, %zu source\n", toy_name(&c),
                               c.ran.review, c.ran.review_window, L, sources);
        }
}

/* A window, and what grows as the root: not one more for each token. */
TEST(review_of_a_pattern_grows_slower_than_the_windows)
{
        struct ran_config c = toy_config();
        const size_t L = 10000000;

        c.window = 256;
        c.ran.review_window = 16;
        double all = (double)ran_review_scores(&c, L, 0) / (double)L;
        c.ran.review = RAN_REVIEW_WINDOW;
        CHECK((double)ran_review_scores(&c, L, 0) / (double)L <= 17);
        c.ran.review = RAN_REVIEW_DISPERSED;
        double dispersed = (double)ran_review_scores(&c, L, 0) / (double)L;
        CHECK(all == 39063 && dispersed > 17 && dispersed < 2 * sqrt(2.0 * 39063) + 17);
}

/* ---- ways of computing ---------------------------------------------------------------------- */

/* The outputs of tokens from `from` on, as one document that may continue. */
static void encode(struct ran_workspace *w, const struct toy *t, struct ran_packed *rows,
                   const uint32_t *ids, size_t n, struct ran_recurrent_state *recurrent)
{
        struct ran_error err = {0};

        ran_packed_clear(rows);
        ran_packed_add_after(rows, &t->c, ids, n, 1, recurrent);
        CHECK_OK(ran_workspace_fit(w, rows, t->C, &err), err);
        ran_encode(w, &t->p);
}

enum { TOKENS = 300 };

static struct toy toy_of(struct ran_config c, uint32_t *ids, uint64_t seed)
{
        struct dice dice = {.key = seed};
        struct toy t;

        toy_init(&t, &c, seed, 0.3);
        for (size_t i = 0; i < TOKENS; i++)
                ids[i] = (uint32_t)dice_size(&dice, 0, TOY_V - 1);
        return t;
}

/* The parts of a document, of whole windows, have the outputs of the whole; and what
 * is kept for the next part is no more than it may see. */
static void check_parts(struct ran_config c, size_t windows, bool training)
{
        struct ran_packed all = {0}, rows = {0};
        struct ran_recurrent_state recurrent;
        struct ran_workspace whole, w;
        uint32_t ids[TOKENS];
        struct toy t = toy_of(c, ids, 5);
        size_t n = windows * c.window, last = c.layers, near = c.ran.review_window / 2;

        ran_workspace_init(&whole, &t.c, training, NULL);
        ran_workspace_init(&w, &t.c, training, NULL);
        ran_encoder_state_init(&recurrent, &t.c);
        encode(&whole, &t, &all, ids, TOKENS, NULL);
        for (size_t at = 0; at < TOKENS; at += n) {
                n = n < TOKENS - at ? n : TOKENS - at;
                encode(&w, &t, &rows, ids + at, n, &recurrent);
                float far = 0;
                for (size_t i = 0; i < n * c.dim; i++)
                        far = fmaxf(far, fabsf(w.x[last][i] - whole.x[last][at * c.dim + i]));
                CHECK_NEAR((double)far, 0, 1e-4);
                size_t states = (at + n) / c.window, most = near > 0 ? near : 1;
                if (c.ran.review == RAN_REVIEW_WINDOW && states > most)
                        states = most;
                CHECK_SIZE(recurrent.states, states);
                CHECK_SIZE(ran_encoder_states(&t.c, at + n), states);
        }
        ran_recurrent_state_release(&recurrent);
        ran_workspace_release(&whole);
        ran_workspace_release(&w);
        ran_packed_release(&all);
        ran_packed_release(&rows);
        toy_release(&t);
}

TEST(review_of_parts_equals_that_of_the_whole)
{
        struct ran_config c = toy_config();

        c.mask = RAN_MASK_CAUSAL;
        for (c.ran.review = RAN_REVIEW_WINDOW; c.ran.review <= RAN_REVIEW_DISPERSED; c.ran.review++)
                for (c.ran.review_window = 1; c.ran.review_window < 12; c.ran.review_window += 3)
                        for (size_t windows = 1; windows < 9; windows += 3) {
                                check_parts(c, windows, false);
                                check_parts(c, windows, true);
                        }
}

/* Loss and gradients of a document. */
struct learnt {
        double loss;
        struct ran_params dp;
};

static struct learnt learn(const struct toy *t, const uint32_t *ids, size_t slab_rows)
{
        struct ran_packed rows = {0};
        struct ran_error err = {0};
        struct ran_workspace w;
        struct learnt r;
        float scale[TOKENS];

        CHECK_OK(ran_params_init(&r.dp, &t->c, t->C, &err), err);
        r.dp.dembed = ran_alloc_floats(t->V * t->c.dim, &err);
        ran_workspace_init(&w, &t->c, true, NULL);
        w.slab_rows = slab_rows;
        ran_packed_add(&rows, &t->c, ids, TOKENS - 1, 1);
        for (uint32_t i = 0; i < TOKENS - 1; i++) {
                ran_packed_positions(&rows, &i, 1);
                scale[i] = 1.0f / (TOKENS - 1);
        }
        CHECK_OK(ran_workspace_fit(&w, &rows, t->C, &err), err);
        ran_encode(&w, &t->p);
        r.loss = ran_lm_loss(&w, &t->p, &r.dp, t->V, ids + 1, scale, 0);
        ran_encode_bwd(&w, &t->p, &r.dp);
        ran_workspace_release(&w);
        ran_packed_release(&rows);
        return r;
}

static void check_near(const struct toy *t, const struct learnt *a, const struct learnt *b)
{
        double off = 0, top = 0;

        CHECK_NEAR(a->loss, b->loss, 1e-5);
        for (size_t i = 0; i < t->layout.size; i++) {
                off = fmax(off, fabs((double)a->dp.block[i] - (double)b->dp.block[i]));
                top = fmax(top, fabs((double)b->dp.block[i]));
        }
        CHECK(top > 0 && off < 1e-3 * top);
}

static void learnt_release(struct learnt *r)
{
        free(r->dp.dembed);
        ran_params_release(&r->dp);
}

/* 150 windows, more than a group; a pattern that leaves nothing out gives what all gives. */
TEST(review_of_a_pattern_that_sees_all_learns_as_all_does)
{
        static const int masks[] = {RAN_MASK_NONE, RAN_MASK_CAUSAL};
        struct ran_config c = toy_config();
        uint32_t ids[TOKENS];

        c.task = RAN_TASK_LM;
        c.window = 2;
        for (size_t i = 0; i < 4; i++) {
                c.mask = masks[i % 2];
                c.ran.review = RAN_REVIEW_ALL;
                struct toy t = toy_of(c, ids, 6);
                struct learnt all = learn(&t, ids, 4096), r;
                t.c.ran.review = i < 2 ? RAN_REVIEW_WINDOW : RAN_REVIEW_DISPERSED;
                t.c.ran.review_window = 2 * TOKENS;
                for (size_t slab = 100; slab <= 4096; slab += 3996) {
                        r = learn(&t, ids, slab);
                        check_near(&t, &r, &all);
                        learnt_release(&r);
                }
                t.c.ran.review_window = 2;
                r = learn(&t, ids, 4096);
                CHECK(r.loss != all.loss);
                learnt_release(&r);
                learnt_release(&all);
                toy_release(&t);
        }
}
