/* evaluate.c - see evaluate.h. */
#include "evaluate/evaluate.h"
#include "data/loss.h"
#include "nn/part.h"
#include "task/train.h"
#include "ran/eval.h"
#include "ran/text.h"
#include "ran/train.h"
#include "ran/math.h"
#include "nn/unread.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* What one thread needs. */
struct scratch {
        struct ran_state *state;
        /* Of generated targets: */
        struct ran_recurrent_state recurrent;
        struct ran_text_counter *counter;
        float *logits; /* (V) */
        uint32_t *ids; /* (n) generated */
        size_t n, cap;
        struct ran_buf text, reference;
};

/* Documents are scored in any order, each with the scratch of a thread, which fills the document's
 * part of encoder and linear, of loss, or of counts. */
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
        /* Of generated targets: */
        const struct ran_tokenizer *tokenizer;
        struct ran_text_counts *counts; /* (B) */
        bool *scored;                   /* (B) it has a source */
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
                                      NULL, NULL, err);
        }
        for (size_t i = 0; i < masked.n && rc == RAN_OK; i++)
                k->loss[b] += (double)nll[i];
        free(nll);
        ran_masking_release(&masked);
        return rc;
}

/* ---- a generated target ----------------------------------------------------------------------
 *
 * It is generated as in ran-lm generate --temperature 0: the most probable token each time. Texts
 * are those of the vocabulary, so the scores are those of `ran-lm generate --eval` for a vocabulary
 * that restores texts.
 */

/* The most probable token except [UNK] and [SEP]. */
static uint32_t most_probable(const struct sweep *k, const float *logits, uint32_t sep)
{
        uint32_t unknown = ran_tokenizer_unknown(k->tokenizer);
        size_t best = k->C;

        for (size_t id = 0; id < k->C; id++)
                if (id != unknown && id != sep && (best == k->C || logits[id] > logits[best]))
                        best = id;
        return (uint32_t)best;
}

/* The target, without [END], in s->ids. No target is longer than twice its source and 50 tokens. */
static int generate(const struct sweep *k, struct scratch *s, const uint32_t *ids, size_t sources,
                    uint32_t end, struct ran_error *err)
{
        const struct ran_lm_out out = {.last = s->logits};
        const uint32_t *read = ids;
        size_t n = sources;

        s->n = 0;
        ran_recurrent_state_clear(&s->recurrent);
        while (s->n < 2 * sources + 50) {
                RAN_TRY(ran_score_lm(s->state, &s->recurrent, read, n, read == ids ? sources : 0,
                                     &out, err));
                uint32_t id = most_probable(k, s->logits, ids[sources - 1]);
                if (id == end)
                        break;
                RAN_ROOM(s->ids, s->cap, s->n + 1);
                s->ids[s->n++] = id;
                read = s->ids + s->n - 1;
                n = 1;
        }
        return RAN_OK;
}

static int score_generated(struct sweep *k, struct scratch *s, size_t b, struct ran_error *err)
{
        const struct ran_dataset *d = k->d;
        const uint32_t *ids = d->ids + d->first[b];
        size_t L = d->first[b + 1] - d->first[b], sources = d->sources[b];

        if (sources == 0 || sources >= L)
                return RAN_OK;
        RAN_TRY(generate(k, s, ids, sources, ids[L - 1], err));
        s->text.len = s->reference.len = 0;
        RAN_TRY(ran_tokenizer_decode(k->tokenizer, s->ids, s->n, &s->text, err));
        RAN_TRY(ran_tokenizer_decode(k->tokenizer, ids + sources, L - sources - 1, &s->reference,
                                     err));
        k->scored[b] = true;
        ran_text_count(s->counter, s->text.data, s->text.len, s->reference.data, s->reference.len,
                       &k->counts[b]);
        return RAN_OK;
}

/* ---- either ---------------------------------------------------------------------------------- */

static int score(struct sweep *k, struct scratch *x, size_t b, struct ran_error *err)
{
        const struct ran_document d = ran_dataset_document(k->d, b);
        struct ran_state *s = x->state;
        const enum ran_output output = ran_task_of(k->c)->output;

        if (k->counts != NULL)
                return score_generated(k, x, b, err);
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
        struct scratch s = {.state = ran_score_state_new(k->c, k->p, k->C, k->pool)};
        size_t b;

        (void)worker;
        if (k->counts != NULL) {
                s.counter = ran_text_counter_new();
                s.logits = ran_new_floats(k->C);
                ran_encoder_state_init(&s.recurrent, k->c);
        }
        while (err.code == RAN_OK && (b = atomic_fetch_add(&k->next, 1)) < k->end)
                score(k, &s, b, &err);
        if (err.code != RAN_OK) {
                pthread_mutex_lock(&k->lock);
                k->err = err;
                pthread_mutex_unlock(&k->lock);
        }
        ran_state_free(s.state);
        ran_recurrent_state_release(&s.recurrent);
        ran_text_counter_free(s.counter);
        free(s.logits);
        free(s.ids);
        ran_buf_release(&s.text);
        ran_buf_release(&s.reference);
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

/* Scores the documents [k->next, k->end) in all threads. */
static int sweep(struct sweep *k, struct ran_error *err)
{
        struct ran_params still = *k->p; /* nobody trains meanwhile */
        const struct ran_params *given = k->p;

        still.panels = ran_params_panels(&still);
        k->p = &still;
        pthread_mutex_init(&k->lock, NULL);
        ran_parallel(k->pool, ran_pool_threads(k->pool), sweep_worker, k);
        pthread_mutex_destroy(&k->lock);
        k->p = given;
        ran_kept_panels_free(still.panels);
        return k->err.code == RAN_OK ? RAN_OK : ran_fail(err, k->err.code, "%s", k->err.text);
}

static int run(struct sweep *k, struct ran_error *err)
{
        const size_t me = ran_ranks_me(k->ranks);
        size_t *bound = ran_ranks_bounds(k->ranks);

        ran_ranks_partition(k->ranks, k->d->first, k->d->B, bound);
        atomic_store(&k->next, bound[me]);
        k->end = bound[me + 1];
        int rc = sweep(k, err);
        if (rc == RAN_OK)
                rc = gather(k, bound, err);
        free(bound);
        return ran_ranks_break(k->ranks, rc);
}

int ran_evaluate_predict(const struct ran_config *c, const struct ran_params *p, size_t C,
                         const struct ran_dataset *d, struct ran_pool *pool,
                         struct ran_ranks *ranks, float *encoder, float *linear,
                         struct ran_error *err)
{
        struct sweep k = {c, p, C, d, pool, .ranks = ranks, .encoder = encoder, .linear = linear};

        return run(&k, err);
}

/* ---- texts ---------------------------------------------------------------------------------- */

int ran_evaluate_texts(struct ran_rates *rates, const struct ran_config *c,
                       const struct ran_params *p, size_t V, const struct ran_dataset *d,
                       uint32_t mask, struct ran_pool *pool, struct ran_ranks *ranks,
                       struct ran_error *err)
{
        double loss = 0, tokens = 0;
        struct sweep k = {c, p, V, d, pool, .ranks = ranks, .mask = mask};

        k.loss = ran_new(d->B, sizeof *k.loss);
        const int rc = run(&k, err);

        for (size_t b = 0; b < d->B && rc == RAN_OK; b++) {
                loss += k.loss[b];
                tokens += (double)ran_train_task_of(c)->targets(d, b);
        }
        *rates = (struct ran_rates){.loss = loss / fmax(tokens, 1)};
        free(k.loss);
        return rc;
}

int ran_evaluate_generated(struct ran_rates *rates, const struct ran_config *c,
                           const struct ran_params *p, size_t V, const struct ran_dataset *d,
                           const struct ran_tokenizer *tokenizer, struct ran_pool *pool,
                           struct ran_error *err)
{
        struct sweep k = {c, p, V, d, pool, .tokenizer = tokenizer, .end = d->B};
        struct ran_text_score *score = ran_text_score_new();
        struct ran_text_report report;

        k.counts = ran_new(d->B, sizeof *k.counts);
        k.scored = ran_new(d->B, sizeof *k.scored);
        const int rc = sweep(&k, err);

        for (size_t b = 0; b < d->B && rc == RAN_OK; b++)
                if (k.scored[b])
                        ran_text_score_add(score, &k.counts[b]);
        if (rc == RAN_OK) {
                ran_text_score_finish(score, 1, &report);
                rates->bleu = report.bleu.value / 100;
                rates->chrf = report.chrf.value / 100;
        }
        ran_text_score_free(score);
        free(k.counts);
        free(k.scored);
        return rc;
}
