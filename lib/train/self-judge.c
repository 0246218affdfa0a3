/* self-judge.c - see self-judge.h.
 *
 * The probabilities of a pupil that imitates soft targets are softer than those of a teacher. So
 * each trial is judged at the temperature that suits it. Surely worse is by more than a standard
 * error: a hundred documents cannot prove the gain of two points that is usual (share/experiments).
 */
#include "train/self-judge.h"
#include "base/error.h"
#include "ran/math.h"

#include <math.h>
#include <stdlib.h>

static bool is_judged(const struct ran_self_judge *j, size_t b)
{
        return j->of[b] < j->folds;
}

/* All documents weigh the same, or all labels. */
static int weigh(struct ran_self_judge *j, struct ran_error *err)
{
        const struct ran_dataset *d = j->d;
        size_t *count = ran_alloc(d->C, sizeof *count, err);
        double sum = 0;

        if (count == NULL)
                return RAN_ENOMEM;
        for (size_t b = 0; b < d->B; b++)
                count[d->labels[b]] += is_judged(j, b);
        for (size_t b = 0; b < d->B; b++) {
                const double all = j->by_label ? (double)count[d->labels[b]] : 1;

                j->weight[b] = is_judged(j, b) ? 1 / all : 0;
                sum += j->weight[b];
        }
        for (size_t b = 0; b < d->B; b++)
                j->weight[b] /= sum;
        free(count);
        return RAN_OK;
}

static void take_logs(const struct ran_self_judge *j, const float *p)
{
        const size_t C = j->d->C;

        for (size_t b = 0; b < j->d->B; b++)
                for (size_t c = 0; c < C && is_judged(j, b); c++)
                        j->log[b * C + c] = ran_log((double)fmaxf(p[b * C + c], 1e-9f));
}

/* The loss of a document under p^power, normalised. */
static double loss_of(const struct ran_self_judge *j, double power, size_t b)
{
        const struct ran_dataset *d = j->d;
        double sum = 0, own = 0;

        for (size_t c = 0; c < d->C; c++) {
                const double logit = power * j->log[b * d->C + c];

                sum += ran_exp(logit);
                own = c == d->labels[b] ? logit : own;
        }
        return ran_log(sum) - own;
}

/* The mean over documents; the loss of each goes into j->loss[i]. */
static double mean_loss(const struct ran_self_judge *j, size_t i, double power)
{
        double mean = 0;

        for (size_t b = 0; b < j->d->B; b++) {
                j->loss[i][b] = is_judged(j, b) ? loss_of(j, power, b) : 0;
                mean += j->weight[b] * j->loss[i][b];
        }
        return mean;
}

/* The power with the least loss, which is convex in it. */
static double best_power(const struct ran_self_judge *j, size_t i)
{
        const double golden = 0.6180339887498949;
        double from = 0, to = 8, a = to - golden * to, b = golden * to;
        double at_a = mean_loss(j, i, a), at_b = mean_loss(j, i, b);

        for (size_t n = 0; n < 30; n++)
                if (at_a <= at_b) {
                        to = b;
                        b = a;
                        at_b = at_a;
                        a = to - golden * (to - from);
                        at_a = mean_loss(j, i, a);
                } else {
                        from = a;
                        a = b;
                        at_a = at_b;
                        b = from + golden * (to - from);
                        at_b = mean_loss(j, i, b);
                }
        return at_a < at_b ? a : b;
}

static bool is_right(const struct ran_self_judge *j, size_t trial, size_t b)
{
        const size_t C = j->d->C;

        return ran_most_probable(j->p[trial] + b * C, C) == j->d->labels[b];
}

static int judge(struct ran_self_judge *j, struct ran_self_training *x, size_t i,
                 struct ran_error *err)
{
        const struct ran_dataset *d = j->d;
        struct ran_self_trial *trial = &x->trial[i];
        const double *teacher = x->trial[0].recall;
        size_t *count = ran_alloc(d->C, sizeof *count, err);

        trial->recall = ran_alloc(d->C, sizeof *trial->recall, err);
        if (count == NULL || trial->recall == NULL) {
                free(count);
                return RAN_ENOMEM;
        }
        for (size_t b = 0; b < d->B; b++)
                if (is_judged(j, b)) {
                        count[d->labels[b]]++;
                        trial->recall[d->labels[b]] += is_right(j, i, b);
                        trial->right += is_right(j, i, b);
                }
        for (size_t c = 0; c < d->C; c++) {
                trial->recall[c] = count[c] > 0 ? trial->recall[c] / (double)count[c] : NAN;
                trial->vanishes |= i > 0 && teacher[c] > 0 && !(trial->recall[c] > 0);
        }
        take_logs(j, j->p[i]);
        j->power[i] = best_power(j, i);
        trial->loss = fmax(0, mean_loss(j, i, j->power[i]));
        free(count);
        return RAN_OK;
}

/* Whether it errs where the teacher does not, more often than the other way round, by more than
 * chance would. */
static bool errs_more(const struct ran_self_judge *j, size_t i)
{
        double worse = 0, better = 0;

        for (size_t b = 0; b < j->d->B; b++)
                if (is_judged(j, b)) {
                        worse += is_right(j, 0, b) && !is_right(j, i, b);
                        better += !is_right(j, 0, b) && is_right(j, i, b);
                }
        return worse - better > sqrt(worse + better);
}

/* Whether its loss is larger by more than the standard error of the difference. */
static bool loses_more(const struct ran_self_judge *j, const struct ran_self_trial *trial, size_t i)
{
        const double mean = trial[i].loss - trial[0].loss;
        double variance = 0;

        for (size_t b = 0; b < j->d->B; b++)
                if (is_judged(j, b)) {
                        const double by = j->loss[i][b] - j->loss[0][b];

                        variance += j->weight[b] * j->weight[b] * (by - mean) * (by - mean);
                }
        return mean > sqrt(variance);
}

/* Losses that differ by less are the same. */
static const double rounding = 1e-6;

static void choose(const struct ran_self_judge *j, struct ran_self_training *x, size_t i)
{
        const struct ran_self_trial *pupil = &x->trial[i], *teacher = &x->trial[0];
        const bool better = x->kept == 0 || pupil->loss < x->trial[x->kept].loss - rounding;
        const bool gains = pupil->loss < teacher->loss - rounding || pupil->right > teacher->right;

        if (better && gains && !pupil->vanishes && !errs_more(j, i) && !loses_more(j, x->trial, i))
                x->kept = i;
}

int ran_self_judge_init(struct ran_self_judge *j, struct ran_error *err)
{
        size_t n;

        if (__builtin_mul_overflow(j->d->B, j->d->C, &n))
                return ran_fail(err, RAN_ENOMEM, "%zu documents of %zu labels are too many",
                                j->d->B, j->d->C);
        j->weight = ran_alloc(j->d->B, sizeof *j->weight, err);
        j->log = ran_alloc(n, sizeof *j->log, err);
        if (j->weight == NULL || j->log == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < RAN_SELF_TRIALS; i++) {
                j->p[i] = ran_alloc_floats(n, err);
                j->loss[i] = ran_alloc(j->d->B, sizeof *j->loss[i], err);
                if (j->p[i] == NULL || j->loss[i] == NULL)
                        return RAN_ENOMEM;
        }
        return weigh(j, err);
}

int ran_self_judge_trial(struct ran_self_judge *j, struct ran_self_training *x, size_t i,
                         struct ran_error *err)
{
        RAN_TRY(judge(j, x, i, err));
        if (i > 0)
                choose(j, x, i);
        return RAN_OK;
}

void ran_self_judge_release(struct ran_self_judge *j)
{
        free(j->weight);
        free(j->log);
        for (size_t i = 0; i < RAN_SELF_TRIALS; i++) {
                free(j->p[i]);
                free(j->loss[i]);
        }
        *j = (struct ran_self_judge){0};
}
