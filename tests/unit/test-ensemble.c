/* How much two paths count, beside what trying all shares finds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "test.h"
#include "train/ensemble.h"
#include "train/loss.h"
#include "train/gain.h"

enum { B = 300 };

struct bench {
        struct ran_dataset d;
        float encoder[B * CORPUS_C], linear[B * CORPUS_C];
};

/* Logits that are right as often as these say: how far the right class stands out, and the noise.
 */
static void bench_init(struct bench *b, bool several, double encoder, double linear, double noise)
{
        struct dice dice = {.key = 4};

        corpus_make(&b->d, B, 3, 9, several, 3);
        dice_floats(&dice, b->encoder, B * CORPUS_C, noise);
        dice_floats(&dice, b->linear, B * CORPUS_C, noise);
        for (size_t i = 0; i < B; i++)
                for (size_t n = b->d.label_first[i]; n < b->d.label_first[i + 1]; n++) {
                        size_t at = i * CORPUS_C + b->d.labels[n];

                        b->encoder[at] += (float)encoder;
                        b->linear[at] += (float)linear;
                }
}

static void losses_of(const struct bench *b, size_t i, struct ran_ensemble ensemble, double *loss)
{
        const struct ran_target target = ran_loss_target(&b->d, i);
        float x[CORPUS_C];

        ran_ensemble_add(x, &ensemble, b->encoder + i * CORPUS_C, b->linear + i * CORPUS_C,
                         CORPUS_C);
        *loss = ran_loss_classify(x, x, CORPUS_C, &target, b->d.multilabel, 0, 1);
}

static double loss_of(const struct bench *b, struct ran_ensemble ensemble)
{
        double sum = 0;

        for (size_t i = 0; i < b->d.B; i++) {
                double loss;

                losses_of(b, i, ensemble, &loss);
                sum += loss;
        }
        return sum;
}

/* No shares of a grid are better, but for the prior_weight of two documents. */
static void check_fit(bool several, double encoder, double linear, double noise)
{
        struct ran_error err = {0};
        struct ran_ensemble found;
        struct bench b;
        double loss;

        bench_init(&b, several, encoder, linear, noise);
        CHECK_OK(ran_ensemble_fit(&found, ran_ensemble_default, &b.d, b.encoder, b.linear, &err),
                 err);
        CHECK(found.encoder >= 0 && found.linear >= 0);
        loss = loss_of(&b, found);
        for (double x = 0; x < 3; x += 0.05)
                for (double y = 0; y < 3; y += 0.05) {
                        double dx = x - ran_ensemble_default.encoder,
                               dy = y - ran_ensemble_default.linear;

                        if (!CHECK(loss <= loss_of(&b, (struct ran_ensemble){x, y}) + dx * dx +
                                                   dy * dy + 1e-9))
                                printf("%g %g: %g, found %g %g: %g\n", x, y,
                                       loss_of(&b, (struct ran_ensemble){x, y}), found.encoder,
                                       found.linear, loss);
                }
        ran_dataset_release(&b.d);
}

TEST(ensemble_is_what_loses_least)
{
        for (int several = 0; several <= 1; several++) {
                check_fit(several, 2, 2, 1);
                check_fit(several, 3, 1, 2);
                check_fit(several, 0.5, 4, 3);
                check_fit(several, 1, 1, 0.3);
        }
}

TEST(ensemble_leaves_out_a_path_that_is_wrong)
{
        struct ran_error err = {0};
        struct ran_ensemble found;
        struct bench b;

        for (int several = 0; several <= 1; several++) {
                bench_init(&b, several, -2, 2, 1);
                CHECK_OK(ran_ensemble_fit(&found, ran_ensemble_default, &b.d, b.encoder, b.linear,
                                          &err),
                         err);
                CHECK(found.encoder == 0 && found.linear > 0.2);
                check_fit(several, -2, 2, 1);
                check_fit(several, 2, -1, 1);
                ran_dataset_release(&b.d);
        }
}

/* Nobody knows better, or nobody knows at all. */
TEST(ensemble_without_known_labels_is_what_is_usual)
{
        struct ran_error err = {0};
        struct ran_ensemble found;
        struct bench b;

        bench_init(&b, false, 5, 1, 1);
        for (size_t i = 0; i < b.d.label_first[B]; i++)
                b.d.labels[i] = RAN_LABEL_UNKNOWN;
        CHECK_OK(ran_ensemble_fit(&found, ran_ensemble_default, &b.d, b.encoder, b.linear, &err),
                 err);
        CHECK(found.encoder == ran_ensemble_default.encoder &&
              found.linear == ran_ensemble_default.linear);
        b.d.B = 0;
        CHECK_OK(ran_ensemble_fit(&found, ran_ensemble_default, &b.d, b.encoder, b.linear, &err),
                 err);
        CHECK(found.encoder == ran_ensemble_default.encoder &&
              found.linear == ran_ensemble_default.linear);
        b.d.B = B;
        ran_dataset_release(&b.d);
}

/* Whether the encoder's gain over the linear model alone is proven, each with its best weights. */
static bool keeps_encoder(double encoder, double linear, size_t documents)
{
        double before[B], now[B], sums[2] = {0}, sum = 0;
        struct ran_ensemble both, alone;
        struct ran_error err = {0};
        struct bench b;

        bench_init(&b, false, encoder, linear, 1);
        b.d.B = documents;
        CHECK_OK(ran_ensemble_fit(&both, ran_ensemble_default, &b.d, b.encoder, b.linear, &err),
                 err);
        CHECK_OK(ran_ensemble_fit_linear(&alone, ran_ensemble_default, &b.d, b.encoder, b.linear,
                                         &err),
                 err);
        CHECK(alone.encoder == 0);
        for (size_t i = 0; i < documents; i++) {
                losses_of(&b, i, both, &now[i]);
                losses_of(&b, i, alone, &before[i]);
                sums[0] += now[i];
                sums[1] += before[i];
        }
        CHECK_OK(ran_ensemble_loss(&sum, &both, &b.d, b.encoder, b.linear, &err), err);
        CHECK_NEAR(sum, sums[0], 1e-9 * (1 + sum));
        b.d.B = B;
        ran_dataset_release(&b.d);
        const struct ran_gain g = ran_gain_of(before, now, documents);
        return ran_gain_is_proven(&g);
}

/* A path that knows what the other does not know; one that knows nothing, which chance gives a
 * share all the same; one that helps a little, to be said by few and by enough; and nobody to ask.
 */
TEST(ensemble_keeps_an_encoder_that_is_proven)
{
        CHECK(keeps_encoder(2, 2, 99));
        CHECK(!keeps_encoder(0, 3, 99));
        CHECK(!keeps_encoder(0.7, 1, 40));
        CHECK(keeps_encoder(0.7, 1, 250));
        CHECK(keeps_encoder(0.7, 1, 0));
}
