/* tagger.h - tags for the words of a document: decoding that keeps to the scheme of the tags. */
#ifndef RAN_MODEL_TAGGER_H
#define RAN_MODEL_TAGGER_H

#include "part/crf/crf.h"
#include "infer/score.h"
#include "part/crf/crf.h"

/* As ran_tag, with any weights. */
int ran_tagger_tags(struct ran_state *s, const struct ran_crf_rules *rules,
                    const struct ran_document *d, uint32_t *tags, float *score, float *logits,
                    struct ran_error *err);

#endif
