/* loss.c - see loss.h. In double throughout: the sums are short and the logs near 0 matter. */
#include "train/loss.h"
#include "math/elementary.h"

#include <math.h>

static bool holds(const uint32_t *gold, size_t n, size_t c)
{
        for (size_t i = 0; i < n; i++)
                if (gold[i] == c)
                        return true;
        return false;
}

/* -y log s(x) - (1 - y) log(1 - s(x)), without overflow */
static double binary(double x, double y)
{
        return ran_log1p(ran_exp(-fabs(x))) + fmax(x, 0.0) - y * x;
}

static double several(float *dlogits, const float *logits, size_t C, const uint32_t *gold,
                      size_t n_gold, double smoothing, double weight)
{
        double loss = 0, share = weight / (double)C;

        for (size_t c = 0; c < C; c++) {
                double x = (double)logits[c];
                double y = (holds(gold, n_gold, c) ? 1.0 - smoothing : 0.0) + 0.5 * smoothing;

                loss += binary(x, y);
                dlogits[c] = (float)(share * (1.0 / (1.0 + ran_exp(-x)) - y));
        }
        return loss * share;
}

static double single(float *dlogits, const float *logits, size_t C, uint32_t gold, double smoothing,
                     double weight)
{
        double log_sum = ran_log_sum_exp(logits, C), loss = 0, rest = smoothing / (double)C;

        for (size_t c = 0; c < C; c++) {
                double log_p = (double)logits[c] - log_sum;
                double y = rest + (c == gold ? 1.0 - smoothing : 0.0);

                loss -= y > 0 ? y * log_p : 0;
                dlogits[c] = (float)(weight * (ran_exp(log_p) - y));
        }
        return loss * weight;
}

double ran_loss_classify(float *dlogits, const float *logits, size_t C, const uint32_t *gold,
                         size_t n_gold, bool multilabel, double smoothing, double weight)
{
        if (multilabel)
                return several(dlogits, logits, C, gold, n_gold, smoothing, weight);
        return single(dlogits, logits, C, gold[0], smoothing, weight);
}
