/* evaluate.c - see evaluate.h. */
#include "train/evaluate.h"
#include "train/masking.h"
#include "model/tagger.h"
#include "train/plan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- all documents, in any order ------------------------------------------------------------ */

/* Does fn for each document, with a state of the thread. */
struct sweep {
        const struct ran_config *c;
        const struct ran_params *p;
        size_t C;
        const struct ran_dataset *d;
        struct ran_pool *pool;
        struct ran_ranks *ranks;
        int (*fn)(struct sweep *k, struct ran_state *s, size_t b, struct ran_error *err);
        float *encoder, *linear; /* (B, C), or (words, C) of a tagger; linear may be NULL */
        double *loss;            /* (B) */
        atomic_size_t next;
        size_t end; /* documents [next, end) are to be done here */
        pthread_mutex_t lock;
        struct ran_error err;
        uint32_t mask; /* mlm */
};

static void sweep_worker(void *arg, size_t worker)
{
        struct sweep *k = arg;
        struct ran_error err = {0};
        struct ran_state *s = ran_score_state_new(k->c, k->p, k->C, k->pool, &err);
        size_t b;

        (void)worker;
        while (s != NULL && err.code == RAN_OK && (b = atomic_fetch_add(&k->next, 1)) < k->end)
                k->fn(k, s, b, &err);
        if (err.code != RAN_OK) {
                pthread_mutex_lock(&k->lock);
                k->err = err;
                pthread_mutex_unlock(&k->lock);
        }
        ran_state_free(s);
}

/* What other ranks found comes to rank 0. bound: the first document of each rank. */
static int gather(struct sweep *k, size_t *bound, struct ran_error *err)
{
        bool words = k->c->task == RAN_TASK_TAG;
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

static int sweep(struct sweep *k, struct ran_error *err)
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
        return rc == RAN_OK ? RAN_OK : ran_ranks_break(k->ranks, rc);
}

static int predict_one(struct sweep *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const struct ran_document d = ran_dataset_document(k->d, b);
        bool words = k->c->task == RAN_TASK_TAG;
        size_t at = (words ? k->d->label_first[b] : b) * k->C;

        return (words ? ran_score_word_parts : ran_score_parts)(
                s, &d, k->encoder + at, k->linear != NULL ? k->linear + at : NULL, err);
}

int ran_evaluate_predict(const struct ran_config *c, const struct ran_params *p, size_t C,
                         const struct ran_dataset *d, struct ran_pool *pool,
                         struct ran_ranks *ranks, float *encoder, float *linear,
                         struct ran_error *err)
{
        struct sweep k = {.c = c,
                          .p = p,
                          .C = C,
                          .d = d,
                          .pool = pool,
                          .ranks = ranks,
                          .fn = predict_one,
                          .encoder = encoder,
                          .linear = linear};

        return sweep(&k, err);
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
        ran_calibration_release(c); /* a stranger's checkpoint may have brought one */
        ran_calibration_make(c, right, n);
        return RAN_OK;
}

/* ---- tags ----------------------------------------------------------------------------------- */

/* Documents are decoded by all threads. */
struct decoder {
        const struct ran_dataset *d;
        const float *logits;
        struct ran_crf crf;
        struct ran_tag_rules rules;
        uint32_t *tags;  /* (words) */
        double *loss;    /* (B) */
        double *scratch; /* of all workers, room for each */
        float *marginals;
        size_t longest, room;
        atomic_size_t next;
};

static void decode(const struct decoder *k, size_t worker, size_t b)
{
        const struct ran_dataset *d = k->d;
        size_t at = d->label_first[b], n = d->label_first[b + 1] - at;
        const struct ran_tag_scratch w = {.crf = k->crf,
                                          .logits = k->logits + at * d->C,
                                          .begins = d->begins + at,
                                          .C = d->C,
                                          .chain = k->scratch + worker * k->room,
                                          .marginals = k->marginals + worker * k->longest * d->C};

        ran_tag_decode(&w, &k->rules, n, k->tags + at);
        ran_tag_marginals(&w, n);
        for (size_t i = 0; i < n; i++)
                if (d->labels[at + i] != RAN_LABEL_UNKNOWN)
                        k->loss[b] -= ran_log(
                                fmax((double)w.marginals[i * d->C + d->labels[at + i]], 1e-30));
}

static void decode_worker(void *arg, size_t worker)
{
        struct decoder *k = arg;
        size_t b;

        while ((b = atomic_fetch_add(&k->next, 1)) < k->d->B)
                decode(k, worker, b);
}

static int decode_all(struct decoder *k, struct ran_pool *pool, struct ran_error *err)
{
        size_t workers = pool != NULL ? ran_pool_threads(pool) : 1, C = k->d->C, all, floats;

        for (size_t b = 0; b < k->d->B; b++) {
                size_t n = k->d->label_first[b + 1] - k->d->label_first[b];

                k->longest = n > k->longest ? n : k->longest;
        }
        k->room = ran_crf_scratch(k->crf.transition != NULL, k->longest, C);
        if (__builtin_mul_overflow(k->room, workers, &all) ||
            __builtin_mul_overflow(k->longest * C, workers, &floats)) /* less than its scratch */
                return ran_fail(err, RAN_ENOMEM, "a document of %zu words is too long", k->longest);
        k->scratch = ran_alloc(all, sizeof *k->scratch, err);
        k->marginals = ran_alloc_floats(floats, err);
        if (k->scratch == NULL || k->marginals == NULL)
                return RAN_ENOMEM;
        ran_parallel(pool, workers, decode_worker, k);
        return RAN_OK;
}

static int count_tags(struct ran_conll *e, const struct ran_dataset *d, const uint32_t *tags,
                      struct ran_error *err)
{
        for (size_t i = 0; i < d->label_first[d->B]; i++) {
                const char *found = d->names[tags[i]], *gold = "?";

                if (d->begins[i])
                        ran_conll_end_sentence(e);
                if (d->labels[i] != RAN_LABEL_UNKNOWN)
                        gold = d->names[d->labels[i]];
                if (ran_conll_add_token(e, gold, strlen(gold), found, strlen(found), err) != RAN_OK)
                        return err->code;
        }
        ran_conll_end_sentence(e);
        return RAN_OK;
}

static void rate(struct ran_evaluate_rates *rates, struct ran_conll *e, const struct decoder *k)
{
        struct ran_conll_report r;

        ran_conll_finish(e, &r);
        *rates = (struct ran_evaluate_rates){.accuracy = r.accuracy, .micro_f1 = r.all.rates.f1};
        for (size_t i = 0; i < r.n_types; i++)
                rates->macro_f1 += r.types[i].rates.f1 / (double)r.n_types;
        for (size_t b = 0; b < k->d->B; b++)
                rates->loss += k->loss[b] / (double)k->d->label_first[k->d->B];
}

int ran_evaluate_tags(struct ran_evaluate_rates *rates, const struct ran_dataset *d,
                      const float *logits, const struct ran_crf *crf, struct ran_pool *pool,
                      struct ran_error *err)
{
        struct ran_conll *e = ran_conll_new(err);
        struct decoder k = {.d = d,
                            .logits = logits,
                            .crf = *crf,
                            .tags = ran_alloc(d->label_first[d->B], sizeof *k.tags, err),
                            .loss = ran_alloc(d->B, sizeof *k.loss, err)};
        int rc = RAN_ENOMEM;

        if (e != NULL && k.tags != NULL && k.loss != NULL &&
            (rc = ran_tag_rules_init(&k.rules, d->names, d->C, err)) == RAN_OK &&
            (rc = decode_all(&k, pool, err)) == RAN_OK &&
            (rc = count_tags(e, d, k.tags, err)) == RAN_OK)
                rate(rates, e, &k);
        ran_tag_rules_release(&k.rules);
        ran_conll_free(e);
        free(k.tags);
        free(k.loss);
        free(k.scratch);
        free(k.marginals);
        return rc;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static struct ran_chunk_of_document whole(const struct ran_dataset *d, size_t b)
{
        return (struct ran_chunk_of_document){.document = b, .to = d->first[b + 1] - d->first[b]};
}

static int read_one(struct sweep *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const struct ran_dataset *d = k->d;
        const struct ran_chunk_of_document all = whole(d, b);
        const uint32_t *ids = d->ids + d->first[b];
        size_t from, to = ran_plan_predicts(d, &all, &from);
        uint32_t *gold = ran_alloc(all.to, sizeof *gold, err);
        float *nll = ran_alloc_floats(all.to, err);
        const struct ran_lm_out out = {.gold = gold, .nll = nll};
        int rc = RAN_ENOMEM;

        for (size_t t = 0; t < all.to && gold != NULL; t++)
                gold[t] = t < from || t >= to ? RAN_NO_ID : ids[t + 1];
        if (gold != NULL && nll != NULL)
                rc = ran_score_lm(s, NULL, ids, all.to, d->sources[b], &out, err);
        for (size_t t = from; t < to && rc == RAN_OK; t++)
                k->loss[b] += (double)nll[t];
        free(gold);
        free(nll);
        return rc;
}

static int fill_one(struct sweep *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const struct ran_dataset *d = k->d;
        struct ran_masking masked = {0};
        float *nll = NULL;
        int rc = ran_masking_make(&masked, d, b, k->mask, k->C, 0, 0, err);

        if (rc == RAN_OK && (nll = ran_alloc_floats(masked.n, err)) == NULL)
                rc = RAN_ENOMEM;
        if (rc == RAN_OK)
                rc = ran_score_masked(s, masked.ids, d->first[b + 1] - d->first[b], masked.position,
                                      masked.n, masked.gold, nll, NULL, err);
        for (size_t i = 0; i < masked.n && rc == RAN_OK; i++)
                k->loss[b] += (double)nll[i];
        free(nll);
        ran_masking_release(&masked);
        return rc;
}

/* Tokens of a document that are to be told. */
static size_t outputs(const struct ran_config *c, const struct ran_dataset *d, size_t b)
{
        const struct ran_chunk_of_document all = whole(d, b);
        size_t from, to;

        if (c->task == RAN_TASK_MLM)
                return ran_masking_count(d, b, 0, 0);
        to = ran_plan_predicts(d, &all, &from);
        return to - from;
}

int ran_evaluate_texts(struct ran_evaluate_rates *rates, const struct ran_config *c,
                       const struct ran_params *p, size_t V, const struct ran_dataset *d,
                       uint32_t mask, struct ran_pool *pool, struct ran_ranks *ranks,
                       struct ran_error *err)
{
        double loss = 0, tokens = 0;
        struct sweep k = {.c = c,
                          .p = p,
                          .C = V,
                          .d = d,
                          .pool = pool,
                          .ranks = ranks,
                          .mask = mask,
                          .fn = c->task == RAN_TASK_MLM ? fill_one : read_one,
                          .loss = ran_alloc(d->B, sizeof *k.loss, err)};
        int rc = k.loss != NULL ? sweep(&k, err) : RAN_ENOMEM;

        for (size_t b = 0; b < d->B && rc == RAN_OK; b++) {
                loss += k.loss[b];
                tokens += (double)outputs(c, d, b);
        }
        *rates = (struct ran_evaluate_rates){.loss = loss / fmax(tokens, 1)};
        free(k.loss);
        return rc;
}
