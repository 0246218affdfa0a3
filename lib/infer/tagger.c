/* tagger.c - see tagger.h. score.c encodes the document; this file decodes its logits. */
#include "infer/tagger.h"
#include "ran/model.h"

#include <string.h>

/* The best tags (n) that the rules allow. Each sentence is a chain of its own; without a CRF its
 * transitions are 0. */
static void decode(const struct ran_score_words *k, const struct ran_tag_rules *rules, size_t n,
                   uint32_t *tags)
{
        const struct ran_crf_rules allowed = {rules->start, rules->open, rules->type};

        ran_crf_decode_sentences(tags, k->logits, &k->crf, rules->start != NULL ? &allowed : NULL,
                                 k->begins, n, k->C, k->chain);
}

int ran_tagger_tags(struct ran_state *s, const struct ran_tag_rules *rules,
                    const struct ran_document *d, uint32_t *tags, float *score, float *logits,
                    struct ran_error *err)
{
        struct ran_score_words k;
        size_t n = d->words;
        RAN_TRY(ran_score_words(s, d, &k, err));
        decode(&k, rules, n, tags);
        if (logits != NULL)
                memcpy(logits, k.logits, n * k.C * sizeof *logits);
        if (score == NULL)
                return RAN_OK;
        ran_crf_marginals_sentences(k.marginals, k.logits, &k.crf, k.begins, n, k.C, k.chain);
        for (size_t i = 0; i < n; i++)
                score[i] = k.marginals[i * k.C + tags[i]];
        return RAN_OK;
}
