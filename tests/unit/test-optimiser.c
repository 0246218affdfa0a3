/* Adam, its lazy rows, and the learning rate. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "test.h"
#include "toy.h"
#include "gradient/optimiser.h"

static struct ran_train_settings plain_settings(void)
{
        return (struct ran_train_settings){.learning_rate = 0.01,
                                           .weight_decay = 0.1,
                                           .beta1 = 0.9,
                                           .beta2 = 0.99,
                                           .epsilon = 1e-8};
}

/* ---- learning rate --------------------------------------------------------------------------- */

TEST(rate_rises_and_falls_as_told)
{
        struct ran_train_settings s = {
                .learning_rate = 1, .min_learning_rate = 0.2, .warmup = 0.2, .schedule = 0};

        s.schedule = RAN_SCHEDULE_CONSTANT;
        CHECK_NEAR(ran_learning_rate(&s, 0, 10), 0.5, 1e-12);
        for (uint64_t step = 1; step < 10; step++)
                CHECK_NEAR(ran_learning_rate(&s, step, 10), 1, 1e-12);
        s.schedule = RAN_SCHEDULE_LINEAR;
        CHECK_NEAR(ran_learning_rate(&s, 0, 10), 0.5, 1e-12);
        CHECK_NEAR(ran_learning_rate(&s, 1, 10), 1, 1e-12);
        for (uint64_t step = 2; step < 10; step++)
                CHECK_NEAR(ran_learning_rate(&s, step, 10), 0.2 + 0.8 * (10 - (double)step) / 8,
                           1e-12);
        s.schedule = RAN_SCHEDULE_COSINE;
        CHECK_NEAR(ran_learning_rate(&s, 2, 10), 1, 1e-12);
        CHECK_NEAR(ran_learning_rate(&s, 6, 10), 0.6, 1e-12); /* half way */
        CHECK_NEAR(ran_learning_rate(&s, 10, 10), 0.2, 1e-12);
}

TEST(rate_without_or_with_nothing_but_warm_up)
{
        struct ran_train_settings s = {.learning_rate = 2, .schedule = RAN_SCHEDULE_LINEAR};

        CHECK_NEAR(ran_learning_rate(&s, 0, 1), 2, 1e-12);
        CHECK_NEAR(ran_learning_rate(&s, 0, 4), 2, 1e-12);
        CHECK_NEAR(ran_learning_rate(&s, 3, 4), 0.5, 1e-12);
        s.warmup = 1;
        CHECK_NEAR(ran_learning_rate(&s, 0, 4), 0.5, 1e-12);
        CHECK_NEAR(ran_learning_rate(&s, 3, 4), 2, 1e-12);
        s.warmup = 0.1; /* less than a step */
        CHECK_NEAR(ran_learning_rate(&s, 0, 4), 2, 1e-12);
        s.min_learning_rate = 5; /* above the highest: that one holds */
        CHECK_NEAR(ran_learning_rate(&s, 3, 4), 2, 1e-12);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A model, its optimiser, and a twin of both in double where every row moves at every step. */
struct bench {
        struct toy toy;
        struct ran_train_settings s;
        struct ran_optimiser o;
        struct ran_grad g;
        double *w, *m, *v; /* block, then embedding */
        struct ran_table table;
        size_t block, all, step;
        double decayed; /* product of 1 - rate wd */
};

static void bench_init(struct bench *b, struct ran_config c, struct ran_pool *pool)
{
        struct ran_error err = {0};

        *b = (struct bench){.s = plain_settings(), .decayed = 1};
        toy_init(&b->toy, &c, 31, 0.5);
        b->block = b->toy.layout.size;
        b->all = b->block + b->toy.V * c.dim;
        ran_table_shape(&b->table, &c, b->toy.V);
        b->table.x = b->toy.embed;
        ran_optimiser_init(&b->o, &b->s, &b->toy.layout, &b->table, false, pool);
        CHECK_OK(ran_params_init(&b->g.p, &c, b->toy.C, &err), err);
        b->g.rows.ids = ran_alloc(b->toy.V, sizeof(*b->g.rows.ids), &err);
        b->g.rows.rows = ran_alloc_floats(b->toy.V * c.dim, &err);
        b->w = doubles(b->all);
        b->m = doubles(b->all);
        b->v = doubles(b->all);
        for (size_t i = 0; i < b->all; i++)
                b->w[i] = (double)(i < b->block ? b->toy.p.block[i] : b->toy.embed[i - b->block]);
}

static void bench_release(struct bench *b)
{
        ran_optimiser_release(&b->o);
        ran_grad_release(&b->g);
        free(b->w);
        free(b->m);
        free(b->v);
        toy_release(&b->toy);
}

/* Decay is for matrices, the embedding among them. */
static bool decays(const struct bench *b, size_t i)
{
        const struct ran_layout *l = &b->toy.layout;
        size_t t = 0;

        if (i >= b->block)
                return true;
        while (t + 1 < l->n && l->spec[t + 1].offset <= i)
                t++;
        return l->spec[t].rows > 0;
}

static void draw_gradient(struct bench *b, struct dice *dice, size_t rows)
{
        size_t D = b->toy.c.dim;

        dice_floats(dice, b->g.p.block, b->block, 1);
        dice_floats(dice, b->g.rows.rows, rows * D, 1);
        b->g.rows.n = rows;
        for (size_t i = 0; i < rows; i++)
                b->g.rows.ids[i] = (uint32_t)i;
}

static void twin_step(struct bench *b, double scale, double rate)
{
        double t = (double)++b->step;

        b->decayed *= 1 - rate * b->s.weight_decay;
        for (size_t i = 0; i < b->all; i++) {
                bool touched = i < b->block + b->g.rows.n * b->toy.c.dim;
                double g = scale * (double)(i < b->block ? b->g.p.block[i]
                                            : touched    ? b->g.rows.rows[i - b->block]
                                                         : 0);

                b->w[i] *= decays(b, i) ? 1 - rate * b->s.weight_decay : 1;
                if (!touched)
                        continue;
                b->m[i] = b->s.beta1 * b->m[i] + (1 - b->s.beta1) * g;
                b->v[i] = b->s.beta2 * b->v[i] + (1 - b->s.beta2) * g * g;
                b->w[i] -= rate * b->m[i] / (1 - pow(b->s.beta1, t)) /
                           (sqrt(b->v[i] / (1 - pow(b->s.beta2, t))) + b->s.epsilon);
        }
}

static void step(struct bench *b, double scale, double rate)
{
        twin_step(b, scale, rate);
        ran_optimiser_step(&b->o, b->toy.p.block, &b->table, &b->g, scale, rate);
}

static double worst(const struct bench *b)
{
        double off = 0;

        for (size_t i = 0; i < b->all; i++) {
                float x = i < b->block ? b->toy.p.block[i] : b->toy.embed[i - b->block];

                off = fmax(off, fabs((double)x - b->w[i]));
        }
        return off;
}

TEST(optimiser_equals_adam_where_every_row_is_touched)
{
        struct dice dice = {.key = 1};
        struct bench b;

        bench_init(&b, toy_config(), NULL);
        for (size_t i = 0; i < 20; i++) {
                draw_gradient(&b, &dice, b.toy.V);
                step(&b, i % 2 == 0 ? 1 : 0.3, 0.01 * (double)(i + 1));
                CHECK_NEAR(worst(&b), 0, 2e-5);
        }
        bench_release(&b);
}

TEST(optimiser_rows_meet_the_decay_that_they_missed)
{
        struct dice dice = {.key = 2};
        struct bench b;

        bench_init(&b, toy_config(), NULL);
        for (size_t i = 0; i < 28; i++) {
                draw_gradient(&b, &dice, i % 10 == 9 ? b.toy.V : i % 5);
                step(&b, 1, 0.05);
        }
        CHECK(worst(&b) > 1e-3); /* rows that rest have not heard of the last steps yet */
        ran_optimiser_flush(&b.o, &b.table);
        CHECK_NEAR(worst(&b), 0, 5e-5);
        for (size_t i = 0; i < 3; i++) { /* and owe nothing from then on */
                draw_gradient(&b, &dice, b.toy.V);
                step(&b, 1, 0.05);
                CHECK_NEAR(worst(&b), 0, 5e-5);
        }
        bench_release(&b);
}

/* A row that never occurs only decays. */
TEST(optimiser_rows_that_never_occur_only_decay)
{
        struct dice dice = {.key = 3};
        struct bench b;
        float was;

        bench_init(&b, toy_config(), NULL);
        was = b.toy.embed[b.toy.V * b.toy.c.dim - 1];
        for (size_t i = 0; i < 100; i++) {
                draw_gradient(&b, &dice, 3);
                step(&b, 1, 0.02);
        }
        CHECK(b.toy.embed[b.toy.V * b.toy.c.dim - 1] == was);
        ran_optimiser_flush(&b.o, &b.table);
        CHECK_NEAR((double)b.toy.embed[b.toy.V * b.toy.c.dim - 1], (double)was * b.decayed, 1e-6);
        ran_optimiser_flush(&b.o, &b.table);
        CHECK_NEAR((double)b.toy.embed[b.toy.V * b.toy.c.dim - 1], (double)was * b.decayed, 1e-6);
        bench_release(&b);
}

/* Ids below 256 have second moments of their own; beyond, up to each doubling they share one. */
TEST(optimiser_rows_of_a_dense_gradient_have_common_moments)
{
        enum { V = 1300, D = 12, STEPS = 6 };
        static const size_t bands[][2] = {{256, 512}, {512, 1024}, {1024, V}};
        struct ran_train_settings s = plain_settings();
        struct dice dice = {.key = 4};
        struct toy toy;
        struct ran_config c = toy_config();
        struct ran_error err = {0};
        float *embed[2];
        double *w = doubles(V * D), *m = doubles(V * D), *v = doubles(V * D);
        struct ran_pool *pool[2] = {NULL, ran_pool_new(3, &err)};
        struct ran_optimiser o[2];
        struct ran_grad g = {.rows = {.n = V, .rows = ran_alloc_floats(V * D, &err)}};
        struct ran_table table = {NULL, V, D};

        toy_init(&toy, &c, 31, 0.5);
        CHECK_OK(ran_params_init(&g.p, &c, toy.C, &err), err);
        for (size_t k = 0; k < 2; k++) {
                ran_optimiser_init(&o[k], &s, &toy.layout, &table, true, pool[k]);
                embed[k] = ran_alloc_floats(V * D, &err);
        }
        for (size_t t = 1; t <= STEPS; t++) {
                dice_floats(&dice, g.rows.rows, V * D, 1);
                for (size_t id = 0; id < V; id++) /* rare ids have small gradients, mostly */
                        for (size_t i = id * D; i < (id + 1) * D && id % 7 != t; i++)
                                g.rows.rows[i] *= 1e-3f;
                for (size_t k = 0; k < 2; k++) {
                        table.x = embed[k];
                        ran_optimiser_step(&o[k], toy.p.block, &table, &g, 0.5, 0.02);
                }
                for (size_t i = 0; i < V * D; i++)
                        v[i] = s.beta2 * v[i] + (1 - s.beta2) * 0.25 * (double)g.rows.rows[i] *
                                                        (double)g.rows.rows[i];
                for (size_t band = 0; band < 3; band++)
                        for (size_t d = 0; d < D; d++) {
                                size_t n = bands[band][1] - bands[band][0];
                                double sum = 0;

                                for (size_t id = bands[band][0]; id < bands[band][1]; id++)
                                        sum += v[id * D + d];
                                for (size_t id = bands[band][0]; id < bands[band][1]; id++)
                                        v[id * D + d] = sum / (double)n;
                        }
                for (size_t i = 0; i < V * D; i++) {
                        double root = sqrt(v[i] / (1 - pow(s.beta2, (double)t)));

                        m[i] = s.beta1 * m[i] + (1 - s.beta1) * 0.5 * (double)g.rows.rows[i];
                        w[i] = w[i] * (1 - 0.02 * s.weight_decay) -
                               0.02 * m[i] / (1 - pow(s.beta1, (double)t)) / (root + s.epsilon);
                        CHECK_NEAR((double)embed[0][i], w[i], 2e-5);
                }
                CHECK(memcmp(embed[0], embed[1], V * D * sizeof(float)) == 0);
        }
        for (size_t k = 0; k < 2; k++) {
                ran_optimiser_release(&o[k]);
                ran_pool_free(pool[k]);
                free(embed[k]);
        }
        ran_params_release(&g.p);
        free(g.rows.rows);
        free(w);
        free(m);
        free(v);
        toy_release(&toy);
}

static void check_same(const struct bench *a, const struct bench *b, double tolerance)
{
        for (size_t i = 0; i < a->all; i++) {
                bool block = i < a->block;

                CHECK_NEAR((double)(block ? a->toy.p.block[i] : a->toy.embed[i - a->block]),
                           (double)(block ? b->toy.p.block[i] : b->toy.embed[i - b->block]),
                           tolerance);
        }
}

/* A share of the rate is a lower rate, decay and all. */
TEST(optimiser_tensors_and_rows_may_learn_at_a_fraction_of_the_rate)
{
        struct dice one = {.key = 6}, other = {.key = 6};
        struct bench a, b;

        bench_init(&a, toy_config(), NULL);
        bench_init(&b, toy_config(), NULL);
        for (size_t i = 0; i < a.toy.layout.n; i++)
                a.o.rate_scale[i] = 0.25f;
        for (size_t id = 0; id < a.toy.V; id++)
                a.o.table.rate_scale[id] = 0.25f;
        for (size_t i = 0; i < 10; i++) {
                draw_gradient(&a, &one, i);
                draw_gradient(&b, &other, i);
                ran_optimiser_step(&a.o, a.toy.p.block, &a.table, &a.g, 1, 0.04);
                ran_optimiser_step(&b.o, b.toy.p.block, &b.table, &b.g, 1, 0.01);
        }
        ran_optimiser_flush(&a.o, &a.table);
        ran_optimiser_flush(&b.o, &b.table);
        check_same(&a, &b, 1e-4); /* of a decay of 0.01 */
        bench_release(&a);
        bench_release(&b);
}

static void check_stays(bool dense)
{
        static const size_t still[] = {1, 4, TOY_V - 1};
        struct dice dice = {.key = 7};
        bool stays[TOY_V] = {false};
        struct bench b;
        size_t D, first;

        bench_init(&b, toy_config(), NULL);
        D = b.toy.c.dim;
        for (size_t i = 0; i < 3; i++) {
                stays[still[i]] = true;
                b.o.table.rate_scale[still[i]] = 0;
        }
        b.o.rate_scale[0] = 0; /* the first tensor stays, too */
        first = b.toy.layout.spec[1].offset;
        for (size_t i = 0; i < 5; i++) {
                uint32_t *ids = b.g.rows.ids;
                double sum = 0;

                draw_gradient(&b, &dice, dense ? TOY_V : 6);
                if (dense)
                        b.g.rows.ids = NULL;
                ran_optimiser_clear(&b.o, &b.g);
                for (size_t j = first; j < b.block; j++)
                        sum += (double)b.g.p.block[j] * (double)b.g.p.block[j];
                for (size_t j = 0; j < b.g.rows.n * D; j++)
                        sum += stays[j / D] ? 0
                                            : (double)b.g.rows.rows[j] * (double)b.g.rows.rows[j];
                CHECK_NEAR(ran_grad_norm(&b.o, &b.g) / sqrt(sum), 1, 1e-6);
                ran_optimiser_step(&b.o, b.toy.p.block, &b.table, &b.g, 1, 0.02);
                b.g.rows.ids = ids;
        }
        ran_optimiser_flush(&b.o, &b.table);
        for (size_t j = 0; j < b.block; j++) /* the twin has not moved */
                CHECK(j >= first || (double)b.toy.p.block[j] == b.w[j]);
        CHECK((double)b.toy.p.block[first] != b.w[first]);
        for (size_t j = 0; j < TOY_V * D; j++)
                CHECK(((double)b.toy.embed[j] == b.w[b.block + j]) == stays[j / D]);
        bench_release(&b);
}

/* Neither steps nor decay, and no share in the norm that gradients are clipped by. */
TEST(optimiser_what_has_factor_0_is_not_trained)
{
        check_stays(false);
        check_stays(true);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Wide enough that the norm and the largest tensors take several tasks. */
static struct ran_config wide(void)
{
        struct ran_config c = toy_config();

        c.dim = 100;
        return c;
}

TEST(optimiser_gives_the_same_bits_for_any_threads)
{
        static const size_t threads[] = {1, 2, 7};
        struct bench b[3];

        for (size_t i = 0; i < 3; i++) {
                struct dice dice = {.key = 4};
                struct ran_error err = {0};
                struct ran_pool *pool = ran_pool_new(threads[i], &err);

                bench_init(&b[i], wide(), pool);
                for (size_t s = 0; s < 3; s++) {
                        draw_gradient(&b[i], &dice, b[i].toy.V - s);
                        ran_optimiser_step(&b[i].o, b[i].toy.p.block, &b[i].table, &b[i].g, 1,
                                           0.01);
                }
                CHECK(ran_grad_norm(&b[i].o, &b[i].g) == ran_grad_norm(&b[0].o, &b[0].g));
                CHECK(memcmp(b[i].toy.p.block, b[0].toy.p.block, b[0].block * sizeof(float)) == 0);
                CHECK(memcmp(b[i].toy.embed, b[0].toy.embed,
                             (b[0].all - b[0].block) * sizeof(float)) == 0);
                b[i].o.pool = NULL;
                ran_pool_free(pool);
        }
        for (size_t i = 0; i < 3; i++)
                bench_release(&b[i]);
}

TEST(grad_norm_is_that_of_all_parameters)
{
        struct dice dice = {.key = 5};
        double sum = 0;
        struct bench b;

        bench_init(&b, wide(), NULL);
        CHECK(b.block > 100000); /* several blocks of the sum */
        draw_gradient(&b, &dice, b.toy.V - 2);
        for (size_t i = 0; i < b.block; i++)
                sum += (double)b.g.p.block[i] * (double)b.g.p.block[i];
        for (size_t i = 0; i < b.g.rows.n * b.toy.c.dim; i++)
                sum += (double)b.g.rows.rows[i] * (double)b.g.rows.rows[i];
        CHECK_NEAR(ran_grad_norm(&b.o, &b.g) / sqrt(sum), 1, 1e-6);
        b.g.rows.rows[0] = NAN;
        CHECK(!isfinite(ran_grad_norm(&b.o, &b.g)));
        b.g.rows.rows[0] = 0;
        b.g.p.block[b.block - 1] = INFINITY;
        CHECK(!isfinite(ran_grad_norm(&b.o, &b.g)));
        bench_release(&b);
}
