/* How much two paths count, beside what trying all shares finds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "test.h"
#include "part/linear/ensemble.h"
#include "data/loss.h"
#include "train/trainer.h"

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

static void check_not_better(const struct bench *b, struct ran_ensemble at,
                             struct ran_ensemble found, double loss)
{
        const double dx = at.encoder - ran_ensemble_default.encoder,
                     dy = at.linear - ran_ensemble_default.linear,
                     prior = dx * dx + dy * dy + at.offset * at.offset;

        if (!CHECK(loss <= loss_of(b, at) + prior / (b->d.multilabel ? CORPUS_C : 1) + 1e-9))
                printf("%g %g %g: %g, found %g %g %g: %g\n", at.encoder, at.linear, at.offset,
                       loss_of(b, at), found.encoder, found.linear, found.offset, loss);
}

/* No weights and offsets of a grid are better, but for the prior of two documents, or of two
 * labels. */
static void check_fit(bool several, double encoder, double linear, double noise)
{
        struct ran_ensemble found;
        struct bench b;
        double loss;

        bench_init(&b, several, encoder, linear, noise);
        found = ran_ensemble_fit(ran_ensemble_default, &b.d, b.encoder, b.linear, false);
        CHECK(found.encoder >= 0 && found.linear >= 0 && (several || found.offset == 0));
        loss = loss_of(&b, found);
        const double step = test_all() ? 0.1 : 0.3;
        for (double x = 0; x < 3; x += step)
                for (double y = 0; y < 3; y += step)
                        for (double z = several ? -2 : 0; z <= (several ? 2 : 0); z += 0.25)
                                check_not_better(&b, (struct ran_ensemble){x, y, z}, found, loss);
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

/* Margins of -1 for what a document does not have, as an SVM gives: no scale alone makes them as
 * improbable as they are. An offset does, with the linear model alone, too. */
TEST(several_labels_take_an_offset)
{
        struct ran_ensemble both, alone;
        struct bench b;

        bench_init(&b, true, 2, 2, 0.5);
        for (size_t i = 0; i < B * CORPUS_C; i++) {
                b.encoder[i] -= 1;
                b.linear[i] -= 3;
        }
        both = ran_ensemble_fit(ran_ensemble_default, &b.d, b.encoder, b.linear, false);
        alone = ran_ensemble_fit(ran_ensemble_default, &b.d, b.encoder, b.linear, true);
        CHECK(both.offset > 1 && alone.offset > 1 && alone.encoder == 0);
        CHECK(loss_of(&b, alone) < 0.8 * loss_of(&b, (struct ran_ensemble){0, alone.linear, 0}));
        ran_dataset_release(&b.d);
}

TEST(ensemble_leaves_out_a_path_that_is_wrong)
{
        struct ran_ensemble found;
        struct bench b;

        for (int several = 0; several <= 1; several++) {
                bench_init(&b, several, -2, 2, 1);
                found = ran_ensemble_fit(ran_ensemble_default, &b.d, b.encoder, b.linear, false);
                CHECK(found.encoder == 0 && found.linear > 0.2);
                check_fit(several, -2, 2, 1);
                check_fit(several, 2, -1, 1);
                ran_dataset_release(&b.d);
        }
}

/* Nobody knows better, or nobody knows at all. */
TEST(ensemble_without_known_labels_is_what_is_usual)
{
        struct ran_ensemble found;
        struct bench b;

        bench_init(&b, false, 5, 1, 1);
        for (size_t i = 0; i < b.d.label_first[B]; i++)
                b.d.labels[i] = RAN_LABEL_UNKNOWN;
        found = ran_ensemble_fit(ran_ensemble_default, &b.d, b.encoder, b.linear, false);
        CHECK(found.encoder == ran_ensemble_default.encoder &&
              found.linear == ran_ensemble_default.linear);
        b.d.B = 0;
        found = ran_ensemble_fit(ran_ensemble_default, &b.d, b.encoder, b.linear, false);
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
        struct bench b;

        bench_init(&b, false, encoder, linear, 1);
        b.d.B = documents;
        both = ran_ensemble_fit(ran_ensemble_default, &b.d, b.encoder, b.linear, false);
        alone = ran_ensemble_fit(ran_ensemble_default, &b.d, b.encoder, b.linear, true);
        CHECK(alone.encoder == 0);
        for (size_t i = 0; i < documents; i++) {
                losses_of(&b, i, both, &now[i]);
                losses_of(&b, i, alone, &before[i]);
                sums[0] += now[i];
                sums[1] += before[i];
        }
        sum = ran_ensemble_loss(&both, &b.d, b.encoder, b.linear);
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
