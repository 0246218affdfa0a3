/* generated.c - targets that a model generates, against those of a data set.
 *
 * Of each source the target is generated as in ran-lm generate --temperature 0: the most probable
 * token each time. Texts are those of the vocabulary, so the scores are those of `ran-lm generate
 * --eval` for a vocabulary that restores texts.
 */
#include "evaluate/evaluate.h"
#include "nn/part.h"
#include "ran/eval.h"
#include "ran/text.h"
#include "ran/train.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct sweep {
        const struct ran_config *c;
        const struct ran_params *p;
        size_t V;
        const struct ran_dataset *d;
        const struct ran_tokenizer *tokenizer;
        struct ran_pool *pool;
        struct ran_text_counts *counts; /* (B) */
        bool *scored;                   /* (B) it has a source */
        atomic_size_t next;
        pthread_mutex_t lock;
        struct ran_error err;
};

/* What one thread needs. */
struct scratch {
        struct ran_state *state;
        struct ran_recurrent_state recurrent;
        struct ran_text_counter *counter;
        float *logits;
        uint32_t *ids; /* (n) generated */
        size_t n, cap;
        struct ran_buf text, reference;
};

static void scratch_release(struct scratch *s)
{
        ran_state_free(s->state);
        ran_recurrent_state_release(&s->recurrent);
        ran_text_counter_free(s->counter);
        free(s->logits);
        free(s->ids);
        ran_buf_release(&s->text);
        ran_buf_release(&s->reference);
}

static void scratch_init(struct scratch *s, const struct sweep *k)
{
        *s = (struct scratch){.state = ran_score_state_new(k->c, k->p, k->V, k->pool)};
        s->counter = ran_text_counter_new();
        s->logits = ran_new_floats(k->V);
        ran_encoder_state_init(&s->recurrent, k->c);
}

/* ---- one target ----------------------------------------------------------------------------- */

/* The most probable token except [UNK] and [SEP]. */
static uint32_t most_probable(const struct sweep *k, const float *logits, uint32_t sep)
{
        uint32_t unknown = ran_tokenizer_unknown(k->tokenizer);
        size_t best = k->V;

        for (size_t id = 0; id < k->V; id++)
                if (id != unknown && id != sep && (best == k->V || logits[id] > logits[best]))
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

static int score(struct sweep *k, struct scratch *s, size_t b, struct ran_error *err)
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

/* ---- all ------------------------------------------------------------------------------------ */

static void work(void *arg, size_t worker)
{
        struct sweep *k = arg;
        struct ran_error err = {0};
        struct scratch s;
        size_t b;

        (void)worker;
        scratch_init(&s, k);
        while (err.code == RAN_OK && (b = atomic_fetch_add(&k->next, 1)) < k->d->B)
                score(k, &s, b, &err);
        if (err.code != RAN_OK) {
                pthread_mutex_lock(&k->lock);
                k->err = err;
                pthread_mutex_unlock(&k->lock);
        }
        scratch_release(&s);
}

/* Adds the counts in the order of the documents. */
static void finish(const struct sweep *k, struct ran_rates *rates)
{
        struct ran_text_score *score = ran_text_score_new();
        struct ran_text_report report;

        for (size_t b = 0; b < k->d->B; b++)
                if (k->scored[b])
                        ran_text_score_add(score, &k->counts[b]);
        ran_text_score_finish(score, 1, &report);
        rates->bleu = report.bleu.value / 100;
        rates->chrf = report.chrf.value / 100;
        ran_text_score_free(score);
}

int ran_evaluate_generated(struct ran_rates *rates, const struct ran_config *c,
                           const struct ran_params *p, size_t V, const struct ran_dataset *d,
                           const struct ran_tokenizer *tokenizer, struct ran_pool *pool,
                           struct ran_error *err)
{
        struct sweep k = {.c = c,
                          .p = p,
                          .V = V,
                          .d = d,
                          .tokenizer = tokenizer,
                          .pool = pool,
                          .counts = ran_new(d->B, sizeof *k.counts),
                          .scored = ran_new(d->B, sizeof *k.scored)};
        int rc = RAN_OK;

        pthread_mutex_init(&k.lock, NULL);
        ran_parallel(pool, ran_pool_threads(pool), work, &k);
        pthread_mutex_destroy(&k.lock);
        if (k.err.code == RAN_OK)
                finish(&k, rates);
        else
                rc = ran_fail(err, k.err.code, "%s", k.err.text);
        free(k.counts);
        free(k.scored);
        return rc;
}
