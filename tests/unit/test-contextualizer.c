/* The Contextualizer against the plain loop over tokens of naive-contextualizer.c, at any length,
 * and what its first context depends on. Its gradients are in test-gradient.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "part/contextualizer/contextualizer.h"
#include "nn/part.h"
#include "naive.h"
#include "test.h"
#include "toy.h"

/* How documents go through. */
struct way {
        bool training;
        size_t slab_rows, threads; /* 0: as it is; no pool */
        struct ran_noise noise;
};

/* What the head reads (B, D), then logits (B, C). */
static float *encode(const struct toy *t, const struct ran_packed *rows, struct way way)
{
        size_t D = t->c.dim, C = t->C;
        struct ran_error err = {0};
        struct ran_pool *pool = way.threads > 0 ? ran_pool_new(way.threads, &err) : NULL;
        float *out = ran_alloc_floats(rows->B * (D + C), &err);
        struct ran_workspace w;

        ran_workspace_init(&w, &t->c, way.training, pool);
        if (way.slab_rows > 0)
                w.slab_rows = way.slab_rows;
        w.noise = way.noise;
        for (int turn = 0; turn <= 1; turn++) { /* the second time in scratch that was used */
                CHECK_OK(ran_workspace_fit(&w, rows, C, &err), err);
                ran_encode(&w, &t->p);
                ran_head(&w, &t->p, C);
        }
        memcpy(out, w.head.head, rows->B * D * sizeof(*out));
        memcpy(out + rows->B * D, w.head.logits, rows->B * C * sizeof(*out));
        ran_workspace_release(&w);
        ran_pool_free(pool);
        return out;
}

static bool same(const struct toy *t, const struct ran_packed *rows, struct way a, struct way b)
{
        float *x = encode(t, rows, a), *y = encode(t, rows, b);
        bool is = memcmp(x, y, rows->B * (t->c.dim + t->C) * sizeof(*x)) == 0;

        free(x);
        free(y);
        return is;
}

/* Largest difference as a share of the largest value: promise 1 of the design allows 1e-4. */
static double deviation(const float *got, const double *want, size_t n)
{
        double off = 0, top = 1e-30;

        for (size_t i = 0; i < n; i++) {
                double d = fabs((double)got[i] - want[i]);

                off = d <= off ? off : d; /* a NaN stays */
                top = fmax(top, fabs(want[i]));
        }
        return off / top;
}

/* Every document of rows equals the naive loop. */
static bool check_equal(const struct toy *t, const struct ran_packed *rows, struct way way)
{
        size_t D = t->c.dim, C = t->C;
        float *got = encode(t, rows, way);
        double *c = doubles(D), *logits = doubles(C);
        struct naive n;
        bool ok = true;

        naive_init(&n, &t->c, &t->layout, &t->p, t->V, C);
        n.noise = way.noise;
        for (size_t b = 0; b < rows->B && ok; b++) {
                size_t L = rows->doc[b + 1] - rows->doc[b];

                n.record = rows->record[b];
                naive_classify(&n, logits, c, rows->ids + rows->doc[b], L);
                ok = CHECK_NEAR(deviation(got + b * D, c, D), 0, 1e-4);
                ok &= CHECK_NEAR(deviation(got + rows->B * D + b * C, logits, C), 0, 1e-4);
                if (!ok)
                        printf("  %s, %s, chunks of %zu; document %zu of %zu: %zu tokens\n",
                               toy_name(&t->c), way.training ? "training" : "scoring",
                               way.slab_rows, b, rows->B, L);
        }
        naive_release(&n);
        free(got);
        free(c);
        free(logits);
        return ok;
}

/* Documents around the length from which on they are read once. */
static void add_some(const struct toy *t, struct ran_packed *rows, struct dice *dice)
{
        size_t D = t->c.dim;
        const size_t lengths[] = {D + 1, 1, 5 * D, D, 3, 12 * D + 1, D - 1, 2};

        for (size_t b = 0; b < sizeof(lengths) / sizeof(*lengths); b++)
                toy_add(t, rows, dice, lengths[b], 100 + b);
}

TEST(contextualizer_equals_a_plain_loop)
{
        static const size_t chunks[] = {0, 1, 7, 32};
        struct dice dice = {.key = 1};

        for (uint64_t i = 0; i < 48; i++) {
                struct way way = {.training = true, .slab_rows = chunks[i % 4]};
                struct ran_config c = toy_contextualizer(&dice);
                struct ran_packed rows = {0};
                struct toy t;
                bool ok;

                toy_init(&t, &c, i, 0.3);
                add_some(&t, &rows, &dice);
                ok = check_equal(&t, &rows, way);
                way.noise = (struct ran_noise){i, i + 1, 0.2, 0.3};
                ok &= check_equal(&t, &rows, way);
                way = (struct way){.slab_rows = chunks[i % 4]};
                ok &= c.contextualizer.context == RAN_CONTEXT_RANDOM || check_equal(&t, &rows, way);
                ran_packed_release(&rows);
                toy_release(&t);
                if (!ok)
                        return;
        }
}

TEST(contextualizer_scoring_equals_training_without_noise)
{
        struct dice dice = {.key = 2};

        for (uint64_t i = 0; i < 12; i++) {
                struct ran_config c = toy_contextualizer(&dice);
                struct ran_packed rows = {0};
                struct toy t;

                c.contextualizer.context = RAN_CONTEXT_LEARNED;
                toy_init(&t, &c, i, 0.3);
                add_some(&t, &rows, &dice);
                CHECK(same(&t, &rows, (struct way){.training = true},
                           (struct way){.noise = {1, 2, 0.5, 0.5}}));
                ran_packed_release(&rows);
                toy_release(&t);
        }
}

TEST(contextualizer_threads_change_no_bit)
{
        struct dice dice = {.key = 3};

        for (uint64_t i = 0; i < 4; i++) {
                struct ran_config c = toy_contextualizer(&dice);
                struct ran_packed rows = {0};
                struct toy t;

                toy_init(&t, &c, i, 0.1);
                toy_add(&t, &rows, &dice, 40000, 1); /* all of the shares that there can be */
                add_some(&t, &rows, &dice);
                for (size_t threads = 2; threads <= 7; threads += 5)
                        for (int training = 0; training <= 1; training++) {
                                struct way way = {.training = training, .noise = {5, 6, 0.2, 0.3}};
                                struct way more = way;

                                more.threads = threads;
                                CHECK(same(&t, &rows, way, more));
                        }
                ran_packed_release(&rows);
                toy_release(&t);
        }
}

/* ---- positions ------------------------------------------------------------------------------- */

/* exp(i s) overflows, or is nothing but zeros, at most of these. */
TEST(contextualizer_positions_are_safe_at_any_length)
{
        static const float weights[] = {0.0f, 1e-30f, 1e-7f, 1e-4f, 0.02f, 0.5f, 20.0f, 5000.0f};
        struct ran_config c = toy_config();
        struct dice dice = {.key = 4};
        struct toy t;

        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        for (int scaled = 0; scaled <= 1; scaled++) {
                c.contextualizer.position_scale = scaled;
                toy_init(&t, &c, 5, 0.3);
                for (size_t i = 0; i < sizeof(weights) / sizeof(*weights); i++) {
                        for (size_t d = 0; d < c.dim; d++) /* all directions; one column at 0 */
                                ((struct ran_contextualizer_once *)t.p.once)->position[d] =
                                        weights[i] * (float)(d % 3 - 1.0) * (float)(d + 1) / 12;
                        for (size_t L = 1; L <= (test_all() || i == 4 ? 100000 : 1000); L *= 316) {
                                struct ran_packed rows = {0};

                                toy_add(&t, &rows, &dice, L, 0);
                                check_equal(&t, &rows, (struct way){0});
                                ran_packed_release(&rows);
                        }
                }
                toy_release(&t);
        }
}

/* ---- the first context ----------------------------------------------------------------------- */

/* How far the contexts of two documents are apart, at most. */
static double apart(const struct toy *t, const struct ran_packed *a, struct way x,
                    const struct ran_packed *b, struct way y)
{
        float *one = encode(t, a, x), *other = encode(t, b, y);
        double most = 0;

        for (size_t d = 0; d < t->c.dim; d++)
                most = fmax(most, fabs((double)one[d] - (double)other[d]));
        free(one);
        free(other);
        return most;
}

TEST(contextualizer_random_context_is_of_the_ids_or_of_epoch_and_record)
{
        struct ran_config c = toy_config();
        struct ran_packed a = {0}, b = {0}, longer = {0};
        const uint32_t ids[] = {1, 2, 3, 4, 4}, turned[] = {2, 1, 3, 4, 4};
        struct way scoring = {0}, training = {.training = true}, later = training;
        double before;
        struct toy t;

        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        c.contextualizer.context = RAN_CONTEXT_RANDOM;
        toy_init(&t, &c, 6, 0.3);
        memset(((struct ran_contextualizer_once *)t.p.once)->position, 0,
               c.dim * sizeof(float)); /* the order is of no concern */
        ran_packed_add(&a, &c, ids, 4, 7);
        ran_packed_add(&b, &c, turned, 4, 8);
        ran_packed_add(&longer, &c, ids, 5, 7);
        later.noise.epoch = 1;
        CHECK(apart(&t, &a, scoring, &a, scoring) == 0);
        CHECK(apart(&t, &a, scoring, &b, scoring) > 0.01);
        CHECK(apart(&t, &a, scoring, &longer, scoring) > 0.01);
        CHECK(apart(&t, &a, scoring, &a, training) > 0.01);
        CHECK(apart(&t, &a, training, &a, training) == 0);
        CHECK(apart(&t, &a, training, &a, later) > 0.01);
        CHECK(apart(&t, &a, training, &b, training) > 0.01);
        before = apart(&t, &a, scoring, &b, scoring);
        a.record[0] = 9;
        CHECK(apart(&t, &a, scoring, &b, scoring) == before);
        t.p.seed++;
        CHECK(fabs(apart(&t, &a, scoring, &b, scoring) - before) > 1e-6);
        ran_packed_release(&a);
        ran_packed_release(&b);
        ran_packed_release(&longer);
        toy_release(&t);
}

/* ---- limits ---------------------------------------------------------------------------------- */

TEST(contextualizer_of_one_of_everything_is_finite)
{
        struct ran_config c = toy_config();
        struct dice dice = {.key = 10};

        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        c.dim = c.contextualizer.rank = c.layers = 1;
        for (size_t L = 1; L < 6; L++) {
                struct ran_packed rows = {0};
                struct toy t;

                toy_init(&t, &c, 10, 0.3);
                toy_add(&t, &rows, &dice, L, 0);
                check_equal(&t, &rows, (struct way){.training = true});
                check_equal(&t, &rows, (struct way){.training = false});
                ran_packed_release(&rows);
                toy_release(&t);
        }
}

/* Rows of D for each token, one to score and two to train; the rest is of a size. */
TEST(contextualizer_memory_grows_with_the_length_and_no_faster)
{
        struct ran_config c = toy_config();
        struct dice dice = {.key = 8};
        struct ran_error err = {0};
        struct toy t;

        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        c.dim = 40, c.contextualizer.rank = 500, c.layers = 5;
        toy_init(&t, &c, 9, 0.3);
        for (int training = 0; training <= 1; training++) {
                struct ran_packed rows = {0};
                struct ran_workspace w;
                double bytes = INFINITY;

                toy_add(&t, &rows, &dice, 1000000, 0);
                ran_workspace_init(&w, &t.c, training, NULL);
                CHECK_OK(ran_workspace_bytes(&w, &rows, t.C, &bytes, &err), err);
                CHECK(bytes < 1e6 * 40 * sizeof(float) * (training ? 2 : 1) + 2e6);
                ran_workspace_release(&w);
                ran_packed_release(&rows);
        }
        toy_release(&t);
}
