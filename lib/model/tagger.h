/* tagger.h - tags for the words of a document: decoding that keeps to the scheme of the tags. */
#ifndef RAN_MODEL_TAGGER_H
#define RAN_MODEL_TAGGER_H

#include "model/crf.h"
#include "model/score.h"

/* Which sequences may come out. Where the names of the classes are tags, what IOB2 allows; else
 * all, and everything is NULL. */
struct ran_tag_rules {
        bool *start, *open; /* (C), as struct ran_crf_rules has them */
        uint32_t *type;
};
int ran_tag_rules_init(struct ran_tag_rules *r, char *const *names, size_t C,
                       struct ran_error *err);
void ran_tag_rules_release(struct ran_tag_rules *r);

/* Of words that ran_score_words has read: the best tags (n) that the rules allow; and, into
 * k->marginals, the probability of each. Each sentence is a chain of its own; without a CRF it is
 * one of zeros. */
void ran_tag_decode(const struct ran_tag_scratch *k, const struct ran_tag_rules *rules, size_t n,
                    uint32_t *tags);
void ran_tag_marginals(const struct ran_tag_scratch *k, size_t n);
/* The word behind the sentence that word `from` begins; begins: see struct ran_document. */
size_t ran_tag_sentence_end(const bool *begins, size_t from, size_t n);

/* The chain of a tagger's parameters. */
struct ran_crf ran_crf_of_params(const struct ran_params *p);

/* As ran_tag, under weights that need not come from a file. */
int ran_score_tags(struct ran_state *s, const struct ran_tag_rules *rules,
                   const struct ran_document *d, uint32_t *tags, float *score, float *logits,
                   struct ran_error *err);

#endif
