/* tag-rates.c - results of a tagger: all threads decode sentences; entities are counted as
 * in conlleval. */
#include "part/crf/crf.h"
#include "task/train.h"
#include "ran/train.h"
#include "ran/math.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct decoder {
        const struct ran_dataset *d;
        const float *logits;
        struct ran_crf crf;
        struct ran_crf_rules rules;
        uint32_t *tags;  /* (words) */
        double *loss;    /* (B) */
        double *scratch; /* of all workers, room for each */
        float *marginals;
        size_t longest, room;
        atomic_size_t next;
};

static void decode_worker(void *arg, size_t worker)
{
        struct decoder *k = arg;
        const struct ran_dataset *d = k->d;
        double *scratch = k->scratch + worker * k->room;
        float *p = k->marginals + worker * k->longest * d->C;
        size_t b;

        while ((b = atomic_fetch_add(&k->next, 1)) < d->B) {
                const size_t at = d->label_first[b], n = d->label_first[b + 1] - at;
                const float *logits = k->logits + at * d->C;
                const bool *begins = d->begins + at;

                ran_crf_decode_sentences(k->tags + at, logits, &k->crf, &k->rules, begins, n, d->C,
                                         scratch);
                ran_crf_marginals_sentences(p, logits, &k->crf, begins, n, d->C, scratch);
                for (size_t i = 0; i < n; i++)
                        if (d->labels[at + i] != RAN_LABEL_UNKNOWN)
                                k->loss[b] -= ran_log(
                                        fmax((double)p[i * d->C + d->labels[at + i]], 1e-30));
        }
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
        k->scratch = ran_new(all, sizeof *k->scratch);
        k->marginals = ran_new_floats(floats);
        ran_parallel(pool, workers, decode_worker, k);
        return RAN_OK;
}

static void count_tags(struct ran_conll *e, const struct ran_dataset *d, const uint32_t *tags)
{
        for (size_t i = 0; i < d->label_first[d->B]; i++) {
                const char *found = d->names[tags[i]], *gold = "?";

                if (d->begins[i])
                        ran_conll_end_sentence(e);
                if (d->labels[i] != RAN_LABEL_UNKNOWN)
                        gold = d->names[d->labels[i]];
                ran_conll_add_token(e, gold, strlen(gold), found, strlen(found));
        }
        ran_conll_end_sentence(e);
}

static void rate(struct ran_rates *rates, struct ran_conll *e, const struct decoder *k)
{
        const struct ran_dataset *d = k->d;
        struct ran_conll_report r;

        ran_conll_finish(e, &r);
        *rates = (struct ran_rates){.accuracy = r.accuracy,
                                    .micro_f1 = r.all.rates.f1,
                                    .outputs = k->d->label_first[k->d->B],
                                    .hits = (double)r.all.correct,
                                    .errors =
                                            (double)(r.all.gold + r.all.found - 2 * r.all.correct)};
        for (size_t i = 0; i < r.n_types; i++)
                rates->macro_f1 += r.types[i].rates.f1 / (double)r.n_types;
        for (size_t b = 0; b < d->B; b++) {
                size_t at = d->label_first[b], n = d->label_first[b + 1] - at;

                rates->loss += k->loss[b] / (double)d->label_first[d->B];
                rates->wrong += memcmp(k->tags + at, d->labels + at, n * sizeof *k->tags) != 0;
        }
}

int ran_tag_rates(struct ran_rates *rates, const struct ran_dataset *d, const float *logits,
                  const struct ran_crf *crf, double *losses, struct ran_pool *pool,
                  struct ran_error *err)
{
        struct ran_conll *e = ran_conll_new();
        struct decoder k = {.d = d,
                            .logits = logits,
                            .crf = *crf,
                            .tags = ran_new(d->label_first[d->B], sizeof *k.tags),
                            .loss = ran_new(d->B, sizeof *k.loss)};

        ran_tag_rules_init(&k.rules, d->names, d->C);
        const int rc = decode_all(&k, pool, err);
        if (rc == RAN_OK) {
                count_tags(e, d, k.tags);
                rate(rates, e, &k);
        }
        if (rc == RAN_OK && losses != NULL)
                memcpy(losses, k.loss, d->B * sizeof *losses);
        ran_tag_rules_release(&k.rules);
        ran_conll_free(e);
        free(k.tags);
        free(k.loss);
        free(k.scratch);
        free(k.marginals);
        return rc;
}
