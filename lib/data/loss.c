/* loss.c - see loss.h. In double: the sums are short and logs near 0 matter. */
#include "data/loss.h"
#include "math/elementary.h"

#include <math.h>

/* The target of class c. Call it for the classes in order, with *at 0 for the first. */
static double wanted(const struct ran_target *t, size_t c, size_t *at)
{
        size_t i = *at;

        if (i == t->n || t->label[i] != c)
                return 0;
        ++*at;
        return t->p != NULL ? (double)t->p[i] : 1.0;
}

/* -y log s(x) - (1 - y) log(1 - s(x)), without overflow */
static double binary(double x, double y)
{
        return ran_log1p(ran_exp(-fabs(x))) + fmax(x, 0.0) - y * x;
}

static double several(float *dlogits, const float *logits, size_t C,
                      const struct ran_target *target, double smoothing, double weight)
{
        double loss = 0, share = weight / (double)C;
        size_t at = 0;

        for (size_t c = 0; c < C; c++) {
                double x = (double)logits[c];
                double y = (1.0 - smoothing) * wanted(target, c, &at) + 0.5 * smoothing;

                loss += binary(x, y);
                dlogits[c] = (float)(share * (1.0 / (1.0 + ran_exp(-x)) - y));
        }
        return loss * share;
}

static double single(float *dlogits, const float *logits, size_t C, const struct ran_target *target,
                     double smoothing, double weight)
{
        double log_sum = ran_log_sum_exp(logits, C), loss = 0, rest = smoothing / (double)C;
        size_t at = 0;

        for (size_t c = 0; c < C; c++) {
                double log_p = (double)logits[c] - log_sum;
                double y = rest + (1.0 - smoothing) * wanted(target, c, &at);

                loss -= y > 0 ? y * log_p : 0;
                dlogits[c] = (float)(weight * (ran_exp(log_p) - y));
        }
        return loss * weight;
}

double ran_loss_classify(float *dlogits, const float *logits, size_t C,
                         const struct ran_target *target, bool multilabel, double smoothing,
                         double weight)
{
        return (multilabel ? several : single)(dlogits, logits, C, target, smoothing, weight);
}

struct ran_target ran_loss_target(const struct ran_dataset *d, size_t b)
{
        size_t at = d->label_first[b], n = d->label_first[b + 1] - at;

        if (d->soft_first != NULL && d->soft_first[b + 1] > d->soft_first[b]) {
                at = d->soft_first[b];
                n = d->soft_first[b + 1] - at;
                return (struct ran_target){d->soft_labels + at, d->soft + at, n};
        }
        return (struct ran_target){d->labels + at, NULL, n};
}

void ran_probabilities(const struct ran_config *config, const float *logits, size_t C, float *p)
{
        double most = (double)logits[0], sum = 0;

        if (config->classify.multilabel) {
                for (size_t c = 0; c < C; c++)
                        p[c] = (float)(1.0 / (1.0 + ran_exp(-(double)logits[c])));
                return;
        }
        for (size_t c = 1; c < C; c++)
                most = (double)logits[c] > most ? (double)logits[c] : most;
        for (size_t c = 0; c < C; c++)
                sum += ran_exp((double)logits[c] - most);
        for (size_t c = 0; c < C; c++)
                p[c] = (float)(ran_exp((double)logits[c] - most) / sum);
}

size_t ran_loss_predicts(const struct ran_dataset *d, size_t b, size_t begin, size_t end,
                         size_t *from)
{
        const size_t sources = d->sources[b], last = d->first[b + 1] - d->first[b] - 1;

        *from = sources > begin + 1 ? sources - 1 : begin;
        return end < last ? end : last;
}
