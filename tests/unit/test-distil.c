/* Distillation: principal components, the loss of a text and its derivative, the fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distil/parts.h"
#include "doubles.h"
#include "gradient/batch.h"
#include "naive.h"
#include "nn/part.h"
#include "ran.h"
#include "test.h"
#include "toy.h"
#include "training.h"

static double uniform(uint64_t i)
{
        return 2 * ran_random_uniform(ran_random_key(7, 100, 0, 0), i) - 1;
}

/* ---- principal components -------------------------------------------------------------------- */

enum { F = 5, N = 400 };
static const double size[F] = {0.5, 3, 0.1, 1, 0}; /* of direction i, the axes turned */

static double sample(size_t i, size_t f)
{
        return size[f] * uniform(i * F + f);
}

/* The axes 1 and 3 turned by 30 degrees, and moved. */
static void read_sample(const void *arg, size_t i, float *v)
{
        const double c = sqrt(3) / 2, s = 0.5;

        (void)arg;
        for (size_t f = 0; f < F; f++)
                v[f] = (float)sample(i, f);
        v[1] = (float)(c * sample(i, 1) - s * sample(i, 3)) + 10;
        v[3] = (float)(s * sample(i, 1) + c * sample(i, 3)) - 20;
}

TEST(components_are_the_directions_of_largest_variance)
{
        struct ran_components k;
        struct ran_error err = {0};

        CHECK(ran_components_init(&k, F, 2, N, read_sample, NULL, &err) == RAN_OK);
        CHECK_NEAR(k.mean[1], 10, 0.3);
        CHECK_NEAR(k.mean[3], -20, 0.3);
        CHECK_NEAR(fabs((double)k.row[1]), sqrt(3) / 2, 0.05);
        CHECK_NEAR(fabs((double)k.row[3]), 0.5, 0.05);
        CHECK((k.row[1] > 0) == (k.row[3] > 0));
        double product = 0, length = 0, all = 0;
        for (size_t f = 0; f < F; f++) {
                product += (double)k.row[f] * (double)k.row[F + f];
                length += (double)k.row[F + f] * (double)k.row[F + f];
                all += size[f] * size[f];
        }
        CHECK_NEAR(product, 0, 1e-5);
        CHECK_NEAR(length, 1, 1e-5);
        CHECK_NEAR(k.explained, (9 + 1) / all, 0.01);
        ran_components_release(&k);
}

TEST(components_without_variance_are_zeros)
{
        struct ran_components k;
        struct ran_error err = {0};
        float x[F] = {1, 2, 3, 4, 5}, y[F];

        CHECK(ran_components_init(&k, F, F, N, read_sample, NULL, &err) == RAN_OK);
        for (size_t f = 0; f < F; f++)
                CHECK(k.row[4 * F + f] == 0);
        CHECK_NEAR(k.explained, 1, 1e-12);
        ran_components_project(&k, x, 1, y);
        double sum = 0;
        for (size_t f = 0; f < F; f++)
                sum += (double)k.row[f] * (double)x[f];
        CHECK_NEAR((double)y[0], sum, 1e-4);
        CHECK(y[4] == 0);
        ran_components_release(&k);
}

/* ---- the loss of a text ---------------------------------------------------------------------- */

enum { D = 7 };

static double loss_in_double(const double *y, const double *t)
{
        double yt = 0, yy = 0, tt = 0;

        for (size_t d = 0; d < D; d++) {
                yt += y[d] * t[d];
                yy += y[d] * y[d];
                tt += t[d] * t[d];
        }
        return 1 - yt / sqrt(yy * tt);
}

TEST(derivative_of_the_loss_is_that_of_differences)
{
        float y[D], dy[D];
        double a[D], b[D];

        for (size_t d = 0; d < D; d++) {
                y[d] = (float)uniform(1000 + d);
                dy[d] = (float)uniform(2000 + d);
                a[d] = (double)y[d];
                b[d] = (double)dy[d];
        }
        CHECK_NEAR(ran_static_loss(y, dy, D), loss_in_double(a, b), 1e-6);
        for (size_t d = 0; d < D; d++) {
                const double h = 1e-5, was = a[d];

                a[d] = was + h;
                const double up = loss_in_double(a, b);
                a[d] = was - h;
                const double down = loss_in_double(a, b);
                a[d] = was;
                CHECK_NEAR((double)dy[d], (up - down) / (2 * h), 1e-5);
        }
}

TEST(loss_of_a_vector_without_a_direction_is_1)
{
        float y[D] = {0}, t[D] = {1, 2};

        CHECK(ran_static_loss(y, t, D) == 1);
        for (size_t d = 0; d < D; d++)
                CHECK(t[d] == 0);
}

/* ---- the fit --------------------------------------------------------------------------------- */

enum { V = 20, TEXTS = 300, L = 6 };
static uint32_t ids[TEXTS * L];
static size_t first[TEXTS + 1], order[TEXTS];
static float hidden[V * D], target[TEXTS * D];

static int count_steps(void *arg, size_t done, double loss)
{
        size_t *steps = arg;

        (void)done, (void)loss;
        return ++*steps == 3; /* the caller ends it */
}

static struct ran_static_fit make_fit(float *rows)
{
        for (size_t i = 0; i < V * D; i++) {
                hidden[i] = (float)uniform(5000 + i);
                rows[i] = (float)(0.1 * uniform(9000 + i));
        }
        for (size_t i = 0; i < TEXTS; i++) {
                order[i] = i;
                first[i + 1] = (i + 1) * L;
                for (size_t k = 0; k < L; k++) /* no text has the last token */
                        ids[i * L + k] = (uint32_t)(ran_random_draw(3, i * L + k) % (V - 1));
                ran_static_mean(hidden, D, ids + i * L, L, target + i * D);
        }
        return (struct ran_static_fit){.rows = rows,
                                       .V = V,
                                       .D = D,
                                       .ids = ids,
                                       .first = first,
                                       .order = order,
                                       .n = TEXTS,
                                       .epochs = 60,
                                       .batch = 16,
                                       .seed = 1,
                                       .learning_rate = 0.02,
                                       .target = target};
}

TEST(fit_finds_vectors_whose_means_have_the_directions)
{
        float rows[V * D], last[D], y[D], t[D];
        const struct ran_static_fit f = make_fit(rows);
        struct ran_error err = {0};
        double sum = 0;

        memcpy(last, rows + (V - 1) * D, sizeof last);
        CHECK(ran_static_fit(&f, &err) == RAN_OK);
        for (size_t i = 0; i < TEXTS; i++) {
                ran_static_mean(rows, D, ids + i * L, L, y);
                memcpy(t, target + i * D, sizeof t);
                sum += ran_static_loss(y, t, D);
        }
        CHECK(sum / TEXTS < 0.01);
        CHECK(memcmp(last, rows + (V - 1) * D, sizeof last) == 0); /* a token of no text stays */
}

TEST(fit_ends_when_the_caller_says_so)
{
        float rows[V * D];
        struct ran_static_fit f = make_fit(rows);
        struct ran_error err = {0};
        size_t steps = 0;

        f.step = count_steps;
        f.step_arg = &steps;
        CHECK(ran_static_fit(&f, &err) == RAN_EINTR);
        CHECK(steps == 3);
}

/* ---- the file of the teacher's vectors --------------------------------------------------------
 */

/* By which a file of vectors is known to be of this model. */
TEST(digest_of_an_encoder_is_also_of_its_table_of_spellings)
{
        struct ran_config c = toy_config();
        struct toy t;
        char before[65], after[65];

        c.ran.cell = RAN_CELL_PRENORM;
        c.ran.vector = true;
        c.spelling = 8;
        toy_init(&t, &c, 7, 0.4);
        ran_encoder_digest(before, &t.c, &t.p, TOY_V);
        ((float *)t.p.spelling)[8 * c.dim - 1] += 1;
        ran_encoder_digest(after, &t.c, &t.p, TOY_V);
        CHECK(strcmp(before, after) != 0);
        toy_release(&t);
}
