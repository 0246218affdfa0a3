/* evaluate.c - see evaluate.h. */
#include "train/evaluate.h"
#include "model/score.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- probabilities -------------------------------------------------------------------------- */

struct predict {
        const struct ran_config *c;
        const struct ran_params *p;
        size_t C;
        const struct ran_dataset *d;
        struct ran_pool *pool;
        float *out;
        atomic_size_t next;
        pthread_mutex_t lock;
        struct ran_error err;
};

static int predict_one(struct predict *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const struct ran_dataset *d = k->d;
        float *p = k->out + b * k->C;

        if (ran_score(s, d->ids + d->first[b], d->first[b + 1] - d->first[b], p, NULL, err) !=
            RAN_OK)
                return err->code;
        ran_probabilities(k->c, p, k->C, p);
        return RAN_OK;
}

static void predict_lane(void *arg, size_t lane)
{
        struct predict *k = arg;
        struct ran_error err = {0};
        struct ran_state *s = ran_scorer_new(k->c, k->p, k->C, k->pool, &err);
        size_t b;

        (void)lane;
        while (s != NULL && err.code == RAN_OK && (b = atomic_fetch_add(&k->next, 1)) < k->d->B)
                predict_one(k, s, b, &err);
        if (err.code != RAN_OK) {
                pthread_mutex_lock(&k->lock);
                k->err = err;
                pthread_mutex_unlock(&k->lock);
        }
        ran_state_free(s);
}

int ran_predict(const struct ran_config *c, const struct ran_params *p, size_t C,
                const struct ran_dataset *d, struct ran_pool *pool, float *probabilities,
                struct ran_error *err)
{
        struct predict k = {.c = c,
                            .p = p,
                            .C = C,
                            .d = d,
                            .pool = pool,
                            .out = probabilities,
                            .lock = PTHREAD_MUTEX_INITIALIZER};

        ran_parallel(pool, pool != NULL ? ran_pool_threads(pool) : 1, predict_lane, &k);
        if (k.err.code != RAN_OK)
                return ran_fail(err, k.err.code, "%s", k.err.text);
        return RAN_OK;
}

/* ---- metrics -------------------------------------------------------------------------------- */

int ran_evaluate(struct ran_eval *e, const struct ran_dataset *d, const float *probabilities,
                 const float *thresholds, struct ran_error *err)
{
        for (size_t b = 0; b < d->B; b++) {
                const uint32_t *gold = d->labels + d->label_first[b];
                size_t n = d->label_first[b + 1] - d->label_first[b], known = 0;

                while (known < n && gold[known] != RAN_LABEL_UNKNOWN)
                        known++;
                if (ran_eval_add(e, gold, known, n - known, probabilities + b * d->C, thresholds,
                                 err) != RAN_OK)
                        return err->code;
        }
        return RAN_OK;
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

float ran_tune_threshold(const struct ran_dataset *d, const float *probabilities)
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
