/* Attention over a pattern, forward and backward, against a twin in double that has an L x L array;
 * the twin's gradient against finite differences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "doubles.h"
#include "nn/sparse.h"
#include "test.h"

struct setting {
        int pattern, mask, similarity;
        size_t window, dilation, L, sources, h, d;
        double spread; /* of q and k */
};

static void say(const struct setting *s)
{
        printf("  %s(%zu, %zu), mask %s(%zu), %s, L %zu, h %zu, d %zu, spread %g\n",
               ran_attention_names[s->pattern], s->window, s->dilation, ran_mask_names[s->mask],
               s->sources, ran_similarity_names[s->similarity], s->L, s->h, s->d, s->spread);
}

/* ---- the twin ------------------------------------------------------------------------------- */

/* One head: rows of d in double. */
struct twin {
        const struct setting *s;
        const struct ran_mask *m;
        double *q, *k, *v, *a, *da, *dq, *dk, *dv; /* (L, d) */
        double *p;                                 /* (L, L) */
};

static double similarity(int kind, const double *q, const double *k, size_t d)
{
        double dot = 0, qq = 0, kk = 0, squares = 0, sizes = 0, root = sqrt((double)d);

        for (size_t c = 0; c < d; c++) {
                dot += q[c] * k[c];
                qq += q[c] * q[c];
                kk += k[c] * k[c];
                squares += (q[c] - k[c]) * (q[c] - k[c]);
                sizes += fabs(q[c] - k[c]);
        }
        return kind == RAN_SIMILARITY_COSINE      ? root * dot / (sqrt(qq * kk) + 1e-8)
               : kind == RAN_SIMILARITY_EUCLIDEAN ? -sqrt(squares + 1e-8)
               : kind == RAN_SIMILARITY_MANHATTAN ? -sizes / root
                                                  : dot / root;
}

/* dq, dk += ds times the gradient of the similarity */
static void similarity_bwd(int kind, double *dq, double *dk, const double *q, const double *k,
                           double ds, size_t d)
{
        double dot = 0, qq = 0, kk = 0, n, e = similarity(kind, q, k, d), root = sqrt((double)d);

        for (size_t c = 0; c < d; c++) {
                dot += q[c] * k[c];
                qq += q[c] * q[c];
                kk += k[c] * k[c];
        }
        n = sqrt(qq * kk) + 1e-8;
        for (size_t c = 0; c < d; c++) {
                double x = q[c] - k[c], gq, gk;

                switch (kind) {
                case RAN_SIMILARITY_COSINE:
                        gq = root * (k[c] / n - (qq > 0 ? dot / n / n * sqrt(kk / qq) * q[c] : 0));
                        gk = root * (q[c] / n - (kk > 0 ? dot / n / n * sqrt(qq / kk) * k[c] : 0));
                        break;
                case RAN_SIMILARITY_EUCLIDEAN:
                        gq = x / e;
                        gk = -gq;
                        break;
                case RAN_SIMILARITY_MANHATTAN:
                        gq = ((x < 0) - (x > 0)) / root;
                        gk = -gq;
                        break;
                default:
                        gq = k[c] / root;
                        gk = q[c] / root;
                }
                dq[c] += ds * gq;
                dk[c] += ds * gk;
        }
}

static bool sees(const struct ran_mask *m, size_t i, size_t j)
{
        return ran_mask_count(m, i, i + 1, j, j + 1) == 1;
}

static void twin_forward(struct twin *t)
{
        size_t L = t->s->L, d = t->s->d;

        memset(t->a, 0, L * d * sizeof *t->a);
        for (size_t i = 0; i < L; i++) {
                double *p = t->p + i * L, top = -INFINITY, sum = 0;

                for (size_t j = 0; j < L; j++) {
                        p[j] = sees(t->m, i, j)
                                       ? similarity(t->s->similarity, t->q + i * d, t->k + j * d, d)
                                       : -INFINITY;
                        top = fmax(top, p[j]);
                }
                for (size_t j = 0; j < L; j++)
                        sum += p[j] = exp(p[j] - top);
                for (size_t j = 0; j < L; j++) {
                        p[j] /= sum;
                        for (size_t c = 0; c < d; c++)
                                t->a[i * d + c] += p[j] * t->v[j * d + c];
                }
        }
}

static void twin_backward(struct twin *t)
{
        size_t L = t->s->L, d = t->s->d;

        for (size_t i = 0; i < L; i++) {
                double *p = t->p + i * L, *da = t->da + i * d, mean = 0;

                for (size_t c = 0; c < d; c++)
                        mean += t->a[i * d + c] * da[c];
                for (size_t j = 0; j < L; j++) {
                        double dp = 0;

                        if (p[j] == 0)
                                continue;
                        for (size_t c = 0; c < d; c++) {
                                dp += da[c] * t->v[j * d + c];
                                t->dv[j * d + c] += p[j] * da[c];
                        }
                        similarity_bwd(t->s->similarity, t->dq + i * d, t->dk + j * d, t->q + i * d,
                                       t->k + j * d, p[j] * (dp - mean), d);
                }
        }
}

static double *take_head(const float *x, size_t ld, size_t L, size_t d)
{
        double *rows = doubles(L * d);

        for (size_t i = 0; i < L * d; i++)
                rows[i] = (double)x[i / d * ld + i % d];
        return rows;
}

static struct twin twin_of(const struct setting *s, const struct ran_mask *m, const float *qkv,
                           const float *da, size_t head)
{
        size_t L = s->L, d = s->d, E = s->h * d;

        return (struct twin){.s = s,
                             .m = m,
                             .q = take_head(qkv + head * d, 3 * E, L, d),
                             .k = take_head(qkv + head * d + E, 3 * E, L, d),
                             .v = take_head(qkv + head * d + 2 * E, 3 * E, L, d),
                             .a = doubles(L * d),
                             .da = take_head(da + head * d, E, L, d),
                             .dq = doubles(L * d),
                             .dk = doubles(L * d),
                             .dv = doubles(L * d),
                             .p = doubles(L * L)};
}

static void twin_release(struct twin *t)
{
        double *all[] = {t->q, t->k, t->v, t->a, t->da, t->dq, t->dk, t->dv, t->p};

        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                free(all[i]);
}

/* ---- what is tested ------------------------------------------------------------------------- */

struct computed {
        struct ran_mask *mask; /* (h) */
        float *qkv, *a, *log_sum, *da, *dqkv, *delta, *scratch, *packed, *packed_da;
        struct ran_sparse x;
};

/* Heads take turns with the pattern and, every other one, full attention. */
static bool compute_init(struct computed *c, const struct setting *s, struct dice *dice)
{
        size_t L = s->L, E = s->h * s->d;
        struct ran_error err = {0};
        bool ok = true;

        c->mask = ran_alloc(s->h, sizeof *c->mask, &err);
        for (size_t j = 0; j < s->h; j++)
                ok = ok &&
                     CHECK_OK(ran_mask_init(&c->mask[j], j % 2 == 0 ? s->pattern : 0, s->window,
                                            s->dilation, s->mask, L, s->sources, &err),
                              err);
        c->qkv = ran_alloc_floats(L * 3 * E, &err);
        c->dqkv = ran_alloc_floats(L * 3 * E, &err);
        c->a = ran_alloc_floats(L * E, &err);
        c->da = ran_alloc_floats(L * E, &err);
        c->log_sum = ran_alloc_floats(L * s->h, &err);
        c->delta = ran_alloc_floats(L * s->h, &err);
        c->scratch = ran_alloc_floats(ran_sparse_floats(s->d), &err);
        c->packed = ran_alloc_floats(L * 3 * E, &err);
        c->packed_da = ran_alloc_floats(L * E, &err);
        dice_floats(dice, c->da, L * E, 1);
        for (size_t i = 0; i < L * 3 * E; i++) {
                c->qkv[i] = (float)(dice_bell(dice) * (i % (3 * E) < 2 * E ? s->spread : 1));
                c->dqkv[i] = NAN;
        }
        c->x = (struct ran_sparse){.mask = c->mask,
                                   .similarity = s->similarity,
                                   .L = L,
                                   .h = s->h,
                                   .d_k = s->d,
                                   .qkv = c->packed,
                                   .da = c->packed_da,
                                   .a = c->a,
                                   .log_sum = c->log_sum};
        return ok;
}

static void compute_release(struct computed *c)
{
        float *all[] = {c->qkv,   c->a,       c->log_sum, c->da,       c->dqkv,
                        c->delta, c->scratch, c->packed,  c->packed_da};

        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                free(all[i]);
        free(c->mask);
}

static void forward(struct computed *c, size_t block)
{
        ran_sparse_pack(c->packed, c->x.L, c->qkv, c->x.L, 3 * c->x.h, c->x.d_k);
        for (size_t j = 0; j < c->x.h; j++)
                for (size_t i = 0; i < c->x.L; i += block)
                        ran_sparse_queries(&c->x, j, i, i + block < c->x.L ? i + block : c->x.L,
                                           c->scratch);
}

static void backward(struct computed *c, size_t block)
{
        ran_sparse_pack(c->packed_da, c->x.L, c->da, c->x.L, c->x.h, c->x.d_k);
        for (size_t j = 0; j < c->x.h; j++)
                for (size_t i = 0; i < c->x.L; i += block)
                        ran_sparse_queries_bwd(c->dqkv, c->delta, &c->x, j, i,
                                               i + block < c->x.L ? i + block : c->x.L, c->scratch);
        for (size_t j = 0; j < c->x.h; j++)
                for (size_t i = 0; i < c->x.L; i += block)
                        ran_sparse_keys_bwd(c->dqkv, c->delta, &c->x, j, i,
                                            i + block < c->x.L ? i + block : c->x.L, c->scratch);
}

/* |got - want| <= tolerance |want|, both as vectors, but for what numbers of a size round to. */
static bool near_rows(const char *what, const float *got, size_t ld, const double *want, size_t L,
                      size_t d, double tolerance, double of_size)
{
        double off = 0, size = 0;

        for (size_t i = 0; i < L * d; i++) {
                double x = (double)got[i / d * ld + i % d] - want[i];

                off += x * x;
                size += want[i] * want[i];
        }
        return test_check_near(sqrt(off), 0,
                               tolerance * sqrt(size) + 1e-6 * of_size * sqrt((double)(L * d)),
                               what, __FILE__, __LINE__);
}

static bool check_head(const struct setting *s, struct computed *c, size_t head, double tolerance)
{
        size_t L = s->L, d = s->d, E = s->h * d;
        struct twin t = twin_of(s, &c->mask[head], c->qkv, c->da, head);
        bool ok;

        twin_forward(&t);
        twin_backward(&t);
        ok = near_rows("a", c->a + head * d, E, t.a, L, d, tolerance, 1);
        ok &= near_rows("dv", c->dqkv + head * d + 2 * E, 3 * E, t.dv, L, d, tolerance, 1);
        ok &= near_rows("dq", c->dqkv + head * d, 3 * E, t.dq, L, d, 10 * tolerance, s->spread);
        ok &= near_rows("dk", c->dqkv + head * d + E, 3 * E, t.dk, L, d, 10 * tolerance, s->spread);
        twin_release(&t);
        return ok;
}

static bool check(const struct setting *s, size_t block, double tolerance)
{
        struct dice dice = {.key = s->L * 100 + s->window};
        struct computed c;
        bool ok = compute_init(&c, s, &dice);

        forward(&c, block);
        backward(&c, block);
        for (size_t j = 0; j < s->h && ok; j++)
                ok = check_head(s, &c, j, tolerance);
        if (!ok)
                say(s);
        compute_release(&c);
        return ok;
}

static bool check_all(size_t L, size_t window, size_t h, size_t d, int similarities)
{
        struct setting s = {.window = window,
                            .dilation = 2,
                            .L = L,
                            .sources = L / 3,
                            .h = h,
                            .d = d,
                            .spread = 1};
        bool ok = true;

        for (s.similarity = 0; s.similarity < similarities; s.similarity++)
                for (s.mask = 0; s.mask < 3; s.mask++)
                        for (s.pattern = 0; s.pattern < 4; s.pattern++)
                                ok = ok && check(&s, RAN_SPARSE_BLOCK, 1e-5);
        return ok;
}

TEST(sparse_equals_its_twin)
{
        static const size_t cases[][4] = {{1, 4, 1, 4},   {2, 1, 2, 3},    {7, 4, 2, 6},
                                          {20, 4, 1, 17}, {33, 40, 2, 16}, {90, 50, 1, 32}};

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                if (!check_all(cases[i][0], cases[i][1], cases[i][2], cases[i][3], 4))
                        return;
}

/* Several tiles and stripes, long and short. */
TEST(sparse_equals_its_twin_over_stripes)
{
        if (check_all(300, 200, 1, 5, 4) && test_all() && check_all(530, 4, 1, 4, 1))
                check_all(530, 400, 1, 4, 1);
}

TEST(sparse_blocks_of_any_size)
{
        struct setting s = {.L = 350, .sources = 170, .h = 1, .d = 8, .spread = 1};

        for (s.window = 40; s.window < (test_all() ? 300 : 100); s.window += 160)
                for (s.pattern = 0; s.pattern < 4; s.pattern += 3)
                        for (s.mask = 0; s.mask < 3; s.mask++) {
                                check(&s, 1, 1e-5);
                                check(&s, 100, 1e-5);
                        }
}

/* The weights themselves, row by row. */
static bool check_weights(const struct setting *s)
{
        struct dice dice = {.key = 7};
        struct computed c;
        struct twin t;
        float *p = ran_alloc_floats(s->L, NULL);
        double off = 0;

        if (!CHECK(compute_init(&c, s, &dice)))
                return false;
        forward(&c, RAN_SPARSE_BLOCK);
        for (size_t j = 0; j < s->h; j++) {
                t = twin_of(s, &c.mask[j], c.qkv, c.da, j);
                twin_forward(&t);
                for (size_t i = 0; i < s->L; i++) {
                        struct ran_mask_ranges sight = ran_mask_row(&c.x.mask[j], i);
                        size_t pos = 0, from, to;

                        while (ran_mask_ranges_next(&c.x.mask[j], &sight, &pos, &from, &to)) {
                                ran_sparse_weights(p, &c.x, j, i, from, to - from, c.scratch);
                                for (size_t k = from; k < to; k++)
                                        off = fmax(off,
                                                   fabs((double)p[k - from] - t.p[i * s->L + k]));
                        }
                }
                twin_release(&t);
        }
        compute_release(&c);
        free(p);
        return CHECK_NEAR(off, 0, 1e-5);
}

TEST(sparse_weights_are_those_of_the_pass)
{
        struct setting s = {
                .L = 90, .window = 7, .dilation = 2, .sources = 40, .h = 2, .d = 6, .spread = 1};

        for (s.pattern = 0; s.pattern < 4; s.pattern++)
                for (s.mask = 0; s.mask < 3; s.mask++)
                        for (s.similarity = 0; s.similarity < 4; s.similarity++)
                                if (!check_weights(&s)) {
                                        say(&s);
                                        return;
                                }
}

/* One key gets all the weight, or nearly so; and scores may be huge. */
TEST(sparse_bears_large_scores)
{
        struct setting s = {.window = 150, .L = 300, .h = 1, .d = 8};

        for (s.pattern = 0; s.pattern < 4; s.pattern++)
                for (s.spread = 10; s.spread < 1e5; s.spread *= 100)
                        check(&s, RAN_SPARSE_BLOCK, s.spread < 100 ? 1e-3 : 0.2);
}

/* ---- finite differences --------------------------------------------------------------------- */

/* sum of a * da, and how it changes with x */
static double loss(struct twin *t)
{
        double sum = 0;

        twin_forward(t);
        for (size_t i = 0; i < t->s->L * t->s->d; i++)
                sum += t->a[i] * t->da[i];
        return sum;
}

static double slope(struct twin *t, double *x)
{
        const double step = 1e-5;
        double was = *x, up, down;

        *x = was + step;
        up = loss(t);
        *x = was - step;
        down = loss(t);
        *x = was;
        return (up - down) / (2 * step);
}

TEST(sparse_gradients_equal_finite_differences)
{
        struct setting s = {
                .window = 4, .dilation = 1, .L = 12, .sources = 5, .h = 1, .d = 3, .spread = 1};

        for (s.similarity = 0; s.similarity < 4; s.similarity++)
                for (s.pattern = 0; s.pattern < 4; s.pattern++) {
                        struct dice dice = {.key = 9};
                        struct computed c;

                        s.mask = s.pattern % 3;
                        REQUIRE(compute_init(&c, &s, &dice));
                        forward(&c, RAN_SPARSE_BLOCK);
                        backward(&c, RAN_SPARSE_BLOCK);
                        struct twin t = twin_of(&s, c.mask, c.qkv, c.da, 0);
                        double *rows[] = {t.q, t.k, t.v};
                        bool ok = true;
                        for (size_t i = 0; i < s.L * 9 && ok; i++)
                                ok = CHECK_NEAR((double)c.dqkv[i],
                                                slope(&t, rows[i / 3 % 3] + i / 9 * 3 + i % 3),
                                                2e-5);
                        if (!ok)
                                say(&s);
                        twin_release(&t);
                        compute_release(&c);
                }
}

/* ---- promises ------------------------------------------------------------------------------- */

/* Changing what a query may not see changes nothing, to the last bit. */
TEST(sparse_leaks_nothing)
{
        struct setting s = {.dilation = 1, .L = 300, .sources = 120, .h = 1, .d = 8, .spread = 1};

        for (s.mask = 1; s.mask < 3; s.mask++)
                for (s.pattern = 0; s.pattern < 4; s.pattern++)
                        for (s.window = 6; s.window < 200; s.window += 87) {
                                struct dice dice = {.key = 5};
                                struct computed c;
                                float *before;
                                size_t at = 200, E = s.d, leaked = 0;

                                REQUIRE(compute_init(&c, &s, &dice));
                                forward(&c, RAN_SPARSE_BLOCK);
                                before = c.a;
                                c.x.a = c.a = ran_alloc_floats(s.L * E, NULL);
                                dice_floats(&dice, c.qkv + at * 3 * E, 3 * E, 7);
                                forward(&c, RAN_SPARSE_BLOCK);
                                for (size_t i = 0; i < s.L; i++)
                                        leaked += !sees(c.mask, i, at) && i != at &&
                                                  memcmp(before + i * E, c.a + i * E,
                                                         E * sizeof *before) != 0;
                                CHECK_SIZE(leaked, 0);
                                CHECK(memcmp(before + at * E, c.a + at * E, E * sizeof *before) !=
                                      0);
                                free(before);
                                compute_release(&c);
                        }
}

TEST(sparse_of_zeros)
{
        struct setting s = {
                .pattern = RAN_ATTENTION_DISPERSED, .window = 40, .L = 60, .h = 1, .d = 4};

        for (s.similarity = 0; s.similarity < 4; s.similarity++) {
                struct dice dice = {.key = 3};
                struct computed c;
                size_t bad = 0;

                REQUIRE(compute_init(&c, &s, &dice)); /* q and k are 0 */
                forward(&c, RAN_SPARSE_BLOCK);
                backward(&c, RAN_SPARSE_BLOCK);
                for (size_t i = 0; i < s.L * 12; i++)
                        bad += !isfinite(c.dqkv[i]) ||
                               (i % 12 < 8 && s.similarity != 0 && c.dqkv[i] != 0.0f);
                CHECK_SIZE(bad, 0);
                CHECK(check_head(&s, &c, 0, 1e-5));
                compute_release(&c);
        }
}
