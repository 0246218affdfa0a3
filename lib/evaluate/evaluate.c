/* evaluate.c - see evaluate.h. */
#include "evaluate/evaluate.h"
#include "data/loss.h"
#include "math/kept-panels.h"
#include "task/train.h"
#include "ran/train.h"
#include "ran/math.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Documents are scored in any order, each with the state of a thread, which fills the document's
 * part of encoder and linear, or of loss. */
struct sweep {
        const struct ran_config *c;
        const struct ran_params *p;
        size_t C;
        const struct ran_dataset *d;
        struct ran_pool *pool;
        struct ran_ranks *ranks;
        float *encoder, *linear; /* (B, C), or (words, C) of a tagger; linear may be NULL */
        double *loss;            /* (B) of language models */
        uint32_t mask;           /* mlm: the subword [MASK] */
        atomic_size_t next;
        size_t end; /* documents [next, end) remain for this rank */
        pthread_mutex_t lock;
        struct ran_error err;
};

/* ---- one document ---------------------------------------------------------------------------- */

/* The loss of the tokens of document b that are predicted. */
static int score_text(struct sweep *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const struct ran_dataset *d = k->d;
        const size_t L = d->first[b + 1] - d->first[b];
        const uint32_t *ids = d->ids + d->first[b];
        size_t from, to = ran_loss_predicts(d, b, 0, L, &from);
        uint32_t *gold = ran_new(L, sizeof *gold);
        float *nll = ran_new_floats(L);
        const struct ran_lm_out out = {.gold = gold, .nll = nll};

        for (size_t t = 0; t < L; t++)
                gold[t] = t < from || t >= to ? RAN_NO_ID : ids[t + 1];
        const int rc = ran_score_lm(s, NULL, ids, L, d->sources[b], &out, err);
        for (size_t t = from; t < to && rc == RAN_OK; t++)
                k->loss[b] += (double)nll[t];
        free(gold);
        free(nll);
        return rc;
}

/* Validation documents are masked as in epoch 0, whatever the seed. */
static int score_masked(struct sweep *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const size_t L = k->d->first[b + 1] - k->d->first[b];
        struct ran_masking masked = {0};
        float *nll = NULL;
        int rc = ran_masking_make(&masked, k->d, b, k->mask, k->C, &ran_masking_of_dev, err);

        if (rc == RAN_OK) {
                nll = ran_new_floats(masked.n);
                rc = ran_score_masked(s, masked.ids, L, masked.position, masked.n, masked.gold, nll,
                                      NULL, err);
        }
        for (size_t i = 0; i < masked.n && rc == RAN_OK; i++)
                k->loss[b] += (double)nll[i];
        free(nll);
        ran_masking_release(&masked);
        return rc;
}

static int score(struct sweep *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const struct ran_document d = ran_dataset_document(k->d, b);
        const enum ran_output output = ran_task_of(k->c)->output;

        if (output == RAN_OUTPUT_TOKEN)
                return ran_train_task_of(k->c)->mask != NULL ? score_masked(k, s, b, err)
                                                             : score_text(k, s, b, err);
        const size_t at = (output == RAN_OUTPUT_WORD ? k->d->label_first[b] : b) * k->C;
        float *linear = k->linear != NULL ? k->linear + at : NULL;

        return output == RAN_OUTPUT_WORD ? ran_score_word_parts(s, &d, k->encoder + at, linear, err)
                                         : ran_score_parts(s, &d, k->encoder + at, linear, err);
}

/* ---- all documents, in any order ------------------------------------------------------------ */

static void sweep_worker(void *arg, size_t worker)
{
        struct sweep *k = arg;
        struct ran_error err = {0};
        struct ran_state *s = ran_score_state_new(k->c, k->p, k->C, k->pool);
        size_t b;

        (void)worker;
        while (err.code == RAN_OK && (b = atomic_fetch_add(&k->next, 1)) < k->end)
                score(k, s, b, &err);
        if (err.code != RAN_OK) {
                pthread_mutex_lock(&k->lock);
                k->err = err;
                pthread_mutex_unlock(&k->lock);
        }
        ran_state_free(s);
}

/* Gathers the results of all ranks at rank 0. bound: the first document of each rank. */
static int gather(struct sweep *k, size_t *bound, struct ran_error *err)
{
        bool words = ran_task_of(k->c)->output == RAN_OUTPUT_WORD;

        for (size_t r = 0; r <= ran_ranks_count(k->ranks) && words; r++)
                bound[r] = k->d->label_first[bound[r]];
        if (k->encoder != NULL)
                RAN_TRY(ran_ranks_gather(k->ranks, k->encoder, k->C * sizeof *k->encoder, bound,
                                         err));
        if (k->linear != NULL)
                RAN_TRY(ran_ranks_gather(k->ranks, k->linear, k->C * sizeof *k->linear, bound,
                                         err));
        return k->loss != NULL ? ran_ranks_gather(k->ranks, k->loss, sizeof *k->loss, bound, err)
                               : RAN_OK;
}

static int run(struct sweep *k, struct ran_error *err)
{
        const size_t me = ran_ranks_me(k->ranks);
        size_t *bound = ran_ranks_bounds(k->ranks);
        struct ran_params still = *k->p; /* nobody trains meanwhile */
        const struct ran_params *given = k->p;

        still.panels = ran_kept_panels_new(still.integers, NULL);
        k->p = &still;
        ran_ranks_partition(k->ranks, k->d->first, k->d->B, bound);
        atomic_store(&k->next, bound[me]);
        k->end = bound[me + 1];
        pthread_mutex_init(&k->lock, NULL);
        ran_parallel(k->pool, ran_pool_threads(k->pool), sweep_worker, k);
        k->p = given;
        ran_kept_panels_free(still.panels);
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
        struct sweep k = {.c = c,
                          .p = p,
                          .C = C,
                          .d = d,
                          .pool = pool,
                          .ranks = ranks,
                          .encoder = encoder,
                          .linear = linear};

        return run(&k, err);
}

/* ---- texts ---------------------------------------------------------------------------------- */

int ran_evaluate_texts(struct ran_rates *rates, const struct ran_config *c,
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
                          .loss = ran_new(d->B, sizeof *k.loss)};
        const int rc = run(&k, err);

        for (size_t b = 0; b < d->B && rc == RAN_OK; b++) {
                loss += k.loss[b];
                tokens += (double)ran_train_task_of(c)->targets(d, b);
        }
        *rates = (struct ran_rates){.loss = loss / fmax(tokens, 1)};
        free(k.loss);
        return rc;
}
