/* tagger.h - tags for the words of a document: decoding that keeps to the scheme of the tags. */
#ifndef RAN_MODEL_TAGGER_H
#define RAN_MODEL_TAGGER_H

#include "part/crf/crf.h"
#include "infer/score.h"
#include "part/crf/tag-rules.h"

/* After ran_score_words: the best tags (n) that the rules allow; and, in k->marginals, the
 * probability of each. Each sentence is a chain of its own; without a CRF its transitions are 0. */
void ran_tagger_decode(const struct ran_score_words *k, const struct ran_tag_rules *rules, size_t n,
                       uint32_t *tags);
void ran_tagger_marginals(const struct ran_score_words *k, size_t n);

/* As ran_tag, with any weights. */
int ran_tagger_tags(struct ran_state *s, const struct ran_tag_rules *rules,
                    const struct ran_document *d, uint32_t *tags, float *score, float *logits,
                    struct ran_error *err);

#endif
