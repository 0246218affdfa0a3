/* evaluate.c - see evaluate.h. */
#include "evaluate/evaluate.h"
#include "nn/task.h"
#include "train/task.h"
#include "ran/train.h"
#include "ran/math.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- all documents, in any order ------------------------------------------------------------ */

static void sweep_worker(void *arg, size_t worker)
{
        struct ran_sweep *k = arg;
        struct ran_error err = {0};
        struct ran_state *s = ran_score_state_new(k->c, k->p, k->C, k->pool, &err);
        int (*score)(struct ran_sweep *, struct ran_state *, size_t, struct ran_error *) =
                ran_train_task_of(k->c)->score;
        size_t b;

        (void)worker;
        while (s != NULL && err.code == RAN_OK && (b = atomic_fetch_add(&k->next, 1)) < k->end)
                score(k, s, b, &err);
        if (err.code != RAN_OK) {
                pthread_mutex_lock(&k->lock);
                k->err = err;
                pthread_mutex_unlock(&k->lock);
        }
        ran_state_free(s);
}

/* Gathers the results of all ranks at rank 0. bound: the first document of each rank. */
static int gather(struct ran_sweep *k, size_t *bound, struct ran_error *err)
{
        bool words = ran_task_of(k->c)->output == RAN_OUTPUT_WORD;
        int rc = RAN_OK;

        for (size_t r = 0; r <= ran_ranks_count(k->ranks) && words; r++)
                bound[r] = k->d->label_first[bound[r]];
        if (k->encoder != NULL)
                rc = ran_ranks_gather(k->ranks, k->encoder, k->C * sizeof *k->encoder, bound, err);
        if (k->linear != NULL && rc == RAN_OK)
                rc = ran_ranks_gather(k->ranks, k->linear, k->C * sizeof *k->linear, bound, err);
        if (k->loss != NULL && rc == RAN_OK)
                rc = ran_ranks_gather(k->ranks, k->loss, sizeof *k->loss, bound, err);
        return rc;
}

static int sweep(struct ran_sweep *k, struct ran_error *err)
{
        size_t workers = k->pool != NULL ? ran_pool_threads(k->pool) : 1,
               me = ran_ranks_me(k->ranks);
        size_t *bound = ran_ranks_bounds(k->ranks, err);

        if (bound == NULL)
                return ran_ranks_break(k->ranks, RAN_ENOMEM);
        ran_ranks_partition(k->ranks, k->d->first, k->d->B, bound);
        atomic_store(&k->next, bound[me]);
        k->end = bound[me + 1];
        pthread_mutex_init(&k->lock, NULL);
        ran_parallel(k->pool, workers, sweep_worker, k);
        pthread_mutex_destroy(&k->lock);
        int rc = k->err.code == RAN_OK ? gather(k, bound, err)
                                       : ran_fail(err, k->err.code, "%s", k->err.text);
        free(bound);
        return ran_ranks_break(k->ranks, rc);
}

int ran_evaluate_predict(const struct ran_config *c, const struct ran_params *p, size_t C,
                         const struct ran_dataset *d, struct ran_pool *pool,
                         struct ran_ranks *ranks, float *encoder, float *linear,
                         struct ran_error *err)
{
        struct ran_sweep k = {.c = c,
                              .p = p,
                              .C = C,
                              .d = d,
                              .pool = pool,
                              .ranks = ranks,
                              .encoder = encoder,
                              .linear = linear};

        return sweep(&k, err);
}

double ran_evaluate_metric(const struct ran_evaluate_rates *r, int metric)
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

struct ran_interval ran_evaluate_interval(const struct ran_evaluate_rates *r, int metric)
{
        const double outputs = (double)r->outputs;

        if (metric == RAN_METRIC_ACCURACY || (metric == RAN_METRIC_MICRO_F1 && r->single))
                return ran_interval_share(round(r->accuracy * outputs), outputs);
        if (metric == RAN_METRIC_MICRO_F1)
                return ran_interval_f1(r->hits, r->errors);
        return (struct ran_interval){1, 0};
}

/* ---- metrics -------------------------------------------------------------------------------- */

int ran_evaluate_classify(struct ran_eval *e, const struct ran_dataset *d,
                          const float *probabilities, const float *thresholds,
                          struct ran_error *err)
{
        for (size_t b = 0; b < d->B; b++) {
                const uint32_t *gold = d->labels + d->label_first[b];
                size_t n = d->label_first[b + 1] - d->label_first[b], known = 0;

                while (known < n && gold[known] != RAN_LABEL_UNKNOWN)
                        known++;
                RAN_TRY(ran_eval_add(e, gold, known, n - known, probabilities + b * d->C,
                                     thresholds, err));
        }
        return RAN_OK;
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

double ran_evaluate_losses(const struct ran_dataset *d, const float *probabilities, double *losses)
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

float ran_evaluate_best_threshold(const struct ran_dataset *d, const float *probabilities)
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

int ran_evaluate_calibrate(struct ran_calibration *c, const struct ran_dataset *d,
                           const float *probabilities, struct ran_error *err)
{
        float *right = ran_alloc(d->B, sizeof *right, err);
        size_t n = 0;

        if (right == NULL)
                return RAN_ENOMEM;
        for (size_t b = 0; b < d->B; b++) {
                uint32_t label = d->labels[d->label_first[b]];

                if (d->guessed != NULL && d->guessed[b])
                        continue;
                right[n++] = label != RAN_LABEL_UNKNOWN ? probabilities[b * d->C + label] : 0;
        }
        ran_calibration_release(c); /* an untrusted checkpoint may contain one */
        ran_calibration_make(c, right, n);
        return RAN_OK;
}

/* ---- texts ---------------------------------------------------------------------------------- */

int ran_evaluate_texts(struct ran_evaluate_rates *rates, const struct ran_config *c,
                       const struct ran_params *p, size_t V, const struct ran_dataset *d,
                       uint32_t mask, struct ran_pool *pool, struct ran_ranks *ranks,
                       struct ran_error *err)
{
        double loss = 0, tokens = 0;
        struct ran_sweep k = {.c = c,
                              .p = p,
                              .C = V,
                              .d = d,
                              .pool = pool,
                              .ranks = ranks,
                              .mask = mask,
                              .loss = ran_alloc(d->B, sizeof *k.loss, err)};
        int rc = k.loss != NULL ? sweep(&k, err) : RAN_ENOMEM;

        for (size_t b = 0; b < d->B && rc == RAN_OK; b++) {
                loss += k.loss[b];
                tokens += (double)ran_train_task_of(c)->targets(d, b);
        }
        *rates = (struct ran_evaluate_rates){.loss = loss / fmax(tokens, 1)};
        free(k.loss);
        return rc;
}
