/* Losses of classifiers and their gradients, against central differences of the plain loss. */
#include <math.h>
#include <string.h>

#include "data/loss.h"
#include "dice.h"
#include "naive.h"
#include "test.h"

/* Against central differences of the plain loss. */
static void check_loss(struct dice *dice, size_t C, bool multilabel, double smoothing)
{
        const double step = 1e-5, weight = dice_real(dice, 0.1, 3);
        float logits[8], d[8];
        double x[8], loss;
        uint32_t gold[8];
        size_t n = 0;

        dice_floats(dice, logits, C, 2);
        for (uint32_t c = 0; c < C && multilabel; c++)
                if (dice_coin(dice))
                        gold[n++] = c;
        if (!multilabel)
                gold[n++] = (uint32_t)dice_size(dice, 0, C - 1);
        for (size_t c = 0; c < C; c++)
                x[c] = (double)logits[c];
        loss = ran_loss_classify(d, logits, C, &(struct ran_target){gold, NULL, n}, multilabel,
                                 smoothing, weight);
        CHECK_NEAR(loss, weight * naive_loss(x, C, gold, n, multilabel, smoothing), 1e-12);
        for (size_t c = 0; c < C; c++) {
                double above, below, was = x[c];

                x[c] = was + step;
                above = naive_loss(x, C, gold, n, multilabel, smoothing);
                x[c] = was - step;
                below = naive_loss(x, C, gold, n, multilabel, smoothing);
                x[c] = was;
                CHECK_NEAR((double)d[c], weight * (above - below) / (2 * step), 1e-6);
        }
}

TEST(loss_and_its_gradient)
{
        struct dice dice = {.key = 4};

        for (size_t C = 1; C <= 8; C++)
                for (size_t i = 0; i < 40; i++)
                        check_loss(&dice, C, i % 2 == 0, i % 4 < 2 ? 0 : dice_real(&dice, 0, 0.9));
}

/* The loss by a soft target is the mean of the losses by all targets that it is a mixture of, here
 * in double, and its gradient that by central differences. */
static double soft_loss(const double *x, size_t C, const double *y, bool multilabel,
                        double smoothing)
{
        double loss = 0, none = naive_loss(x, C, NULL, 0, true, smoothing);

        for (uint32_t c = 0; c < C && !multilabel; c++)
                loss += y[c] * naive_loss(x, C, &c, 1, false, smoothing);
        for (uint32_t c = 0; c < C && multilabel; c++)
                loss += y[c] * (naive_loss(x, C, &c, 1, true, smoothing) - none);
        return multilabel ? none + loss : loss;
}

static void check_soft_loss(struct dice *dice, size_t C, bool multilabel, double smoothing)
{
        const double step = 1e-5, weight = dice_real(dice, 0.1, 3);
        float logits[8], d[8], p[8];
        double x[8], y[8] = {0}, sum = 0, loss;
        struct ran_target target = {.p = p};
        uint32_t label[8];

        dice_floats(dice, logits, C, 2);
        for (uint32_t c = 0; c < C; c++) {
                x[c] = (double)logits[c];
                if (c + 1 < C && !dice_coin(dice)) /* one is there at least */
                        continue;
                label[target.n] = c;
                p[target.n] = (float)dice_real(dice, 0, 1);
                sum += (double)p[target.n++];
        }
        target.label = label;
        for (size_t i = 0; i < target.n; i++) {
                p[i] = multilabel ? p[i] : (float)((double)p[i] / sum);
                y[label[i]] = (double)p[i];
        }
        loss = ran_loss_classify(d, logits, C, &target, multilabel, smoothing, weight);
        CHECK_NEAR(loss, weight * soft_loss(x, C, y, multilabel, smoothing), 1e-5);
        for (size_t c = 0; c < C; c++) {
                double above, below, was = x[c];

                x[c] = was + step;
                above = soft_loss(x, C, y, multilabel, smoothing);
                x[c] = was - step;
                below = soft_loss(x, C, y, multilabel, smoothing);
                x[c] = was;
                CHECK_NEAR((double)d[c], weight * (above - below) / (2 * step), 2e-6);
        }
}

TEST(loss_by_a_soft_target_and_its_gradient)
{
        struct dice dice = {.key = 5};

        for (size_t C = 1; C <= 8; C++)
                for (size_t i = 0; i < 40; i++)
                        check_soft_loss(&dice, C, i % 2 == 0,
                                        i % 4 < 2 ? 0 : dice_real(&dice, 0, 0.9));
}

TEST(loss_of_extreme_logits_is_finite_and_right)
{
        const float logits[3] = {3e4f, -3e4f, 0};
        const struct ran_target second = {(uint32_t[]){1}, NULL, 1};
        const struct ran_target first = {(uint32_t[]){0}, NULL, 1};
        const struct ran_target both = {(uint32_t[]){0, 2}, NULL, 2};
        float d[3];

        CHECK_NEAR(ran_loss_classify(d, logits, 3, &second, false, 0, 1), 6e4, 1e-9);
        CHECK(d[0] == 1 && d[1] == -1 && d[2] == 0);
        CHECK_NEAR(ran_loss_classify(d, logits, 3, &first, false, 0, 1), 0, 1e-12);
        CHECK(d[0] == 0 && d[1] == 0 && d[2] == 0);
        CHECK_NEAR(ran_loss_classify(d, logits, 3, &first, false, 0.3, 1), 9e3, 1e-9);
        CHECK_NEAR((double)d[1], -0.1, 1e-7);
        CHECK_NEAR(ran_loss_classify(d, logits, 3, &second, true, 0, 3), 6e4 + log(2), 1e-9);
        CHECK(d[0] == 1 && d[1] == -1 && d[2] == 0.5f);
        CHECK_NEAR(ran_loss_classify(d, logits, 3, &both, true, 0, 3), log(2), 1e-9);
        CHECK(d[0] == 0 && d[1] == 0 && d[2] == -0.5f);
}
