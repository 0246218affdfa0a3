/* rates.c - see rates.h. */
#include "data/rates.h"
#include "ran/math.h"

#include <float.h>
#include <math.h>

double ran_rates_metric(const struct ran_rates *r, int metric)
{
        switch (metric) {
        case RAN_METRIC_ACCURACY:
                return r->accuracy;
        case RAN_METRIC_MACRO_F1:
                return r->macro_f1;
        case RAN_METRIC_LOSS:
                return -r->loss;
        case RAN_METRIC_BLEU:
                return r->bleu;
        case RAN_METRIC_CHRF:
                return r->chrf;
        default:
                return r->micro_f1;
        }
}

struct ran_interval ran_rates_interval(const struct ran_rates *r, int metric)
{
        const double outputs = (double)r->outputs;

        if (metric == RAN_METRIC_ACCURACY || (metric == RAN_METRIC_MICRO_F1 && r->single))
                return ran_interval_share(round(r->accuracy * outputs), outputs);
        if (metric == RAN_METRIC_MICRO_F1)
                return ran_interval_f1(r->hits, r->errors);
        return (struct ran_interval){1, 0};
}

void ran_rates_classify(struct ran_eval *e, const struct ran_dataset *d, const float *probabilities,
                        const float *thresholds)
{
        for (size_t b = 0; b < d->B; b++) {
                const uint32_t *gold = d->labels + d->label_first[b];
                size_t n = d->label_first[b + 1] - d->label_first[b], known = 0;

                while (known < n && gold[known] != RAN_LABEL_UNKNOWN)
                        known++;
                ran_eval_add(e, gold, known, n - known, probabilities + b * d->C, thresholds);
        }
}

static double document_loss(const struct ran_dataset *d, size_t b, const float *p)
{
        const size_t from = d->label_first[b], to = d->label_first[b + 1];
        double sum = 0, none = 0;

        for (size_t i = from; i < to; i++) {
                if (d->labels[i] == RAN_LABEL_UNKNOWN)
                        return NAN;
                sum -= ran_log(fmax((double)p[d->labels[i]], FLT_MIN));
                none += ran_log(fmax(1 - (double)p[d->labels[i]], 0x1p-25));
        }
        if (!d->multilabel)
                return sum;
        for (size_t c = 0; c < d->C; c++)
                none -= ran_log(fmax(1 - (double)p[c], 0x1p-25));
        return (sum + none) / (double)d->C;
}

double ran_rates_losses(const struct ran_dataset *d, const float *probabilities, double *losses)
{
        double sum = 0, n = 0;

        for (size_t b = 0; b < d->B; b++) {
                losses[b] = document_loss(d, b, probabilities + b * d->C);
                if (!isnan(losses[b])) {
                        sum += losses[b];
                        n++;
                }
        }
        return sum / fmax(n, 1);
}

static double micro_f1(const struct ran_dataset *d, const float *p, double threshold)
{
        size_t hit = 0, said = 0, gold = d->label_first[d->B];

        for (size_t b = 0; b < d->B; b++) {
                for (size_t c = 0; c < d->C; c++)
                        said += (double)p[b * d->C + c] >= threshold;
                for (size_t i = d->label_first[b]; i < d->label_first[b + 1]; i++)
                        hit += d->labels[i] != RAN_LABEL_UNKNOWN &&
                               (double)p[b * d->C + d->labels[i]] >= threshold;
        }
        return said + gold > 0 ? 2.0 * (double)hit / (double)(said + gold) : 0.0;
}

float ran_rates_best_threshold(const struct ran_dataset *d, const float *probabilities)
{
        double best = micro_f1(d, probabilities, 0.5);
        int at = 10; /* twentieths */

        for (int away = 1; away < 10; away++)
                for (int side = -1; side <= 1; side += 2) {
                        double f1 = micro_f1(d, probabilities, (10 + side * away) / 20.0);

                        if (f1 > best) {
                                best = f1;
                                at = 10 + side * away;
                        }
                }
        return (float)at / 20.0f;
}

void ran_rates_calibrate(struct ran_calibration *c, const struct ran_dataset *d,
                         const float *probabilities)
{
        float *right = ran_new_floats(d->B);
        size_t n = 0;

        for (size_t b = 0; b < d->B; b++) {
                uint32_t label = d->labels[d->label_first[b]];

                if (d->guessed != NULL && d->guessed[b])
                        continue;
                right[n++] = label != RAN_LABEL_UNKNOWN ? probabilities[b * d->C + label] : 0;
        }
        ran_calibration_release(c); /* an untrusted checkpoint may contain one */
        ran_calibration_make(c, right, n);
}
