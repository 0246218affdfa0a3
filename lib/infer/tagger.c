/* tagger.c - see tagger.h. score.c encodes the document; this file decodes its logits. */
#include "infer/tagger.h"
#include "ran/model.h"

#include <string.h>

int ran_tagger_tags(struct ran_state *s, const struct ran_crf_rules *rules,
                    const struct ran_document *d, uint32_t *tags, float *score, float *logits,
                    struct ran_error *err)
{
        struct ran_score_words k;
        size_t n = d->words;
        RAN_TRY(ran_score_words(s, d, &k, err));
        ran_crf_decode_sentences(tags, k.logits, &k.crf, rules, k.begins, n, k.C, k.chain);
        if (logits != NULL)
                memcpy(logits, k.logits, n * k.C * sizeof *logits);
        if (score == NULL)
                return RAN_OK;
        ran_crf_marginals_sentences(k.marginals, k.logits, &k.crf, k.begins, n, k.C, k.chain);
        for (size_t i = 0; i < n; i++)
                score[i] = k.marginals[i * k.C + tags[i]];
        return RAN_OK;
}
