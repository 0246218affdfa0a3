/* crf.h - a linear-chain CRF over the tags of a document: loss, decoding, marginals.
 *
 * A path y of L >= 1 tags, one of C >= 1 each, has the score
 *
 *   start[y_0] + sum_t score[t][y_t] + sum_t transition[y_(t-1)][y_t] + end[y_(L-1)]
 *
 * and the probability exp(score) / Z, where Z is the sum over all C^L paths. All in double; time is
 * linear in L and quadratic in C, without transitions linear in both. Documents may be of any
 * length: forward and backward values are shifted at each token, so that nothing grows with L.
 *
 * Results are finite if the arguments are. Nothing is allocated and nothing fails; scratch holds
 * ran_crf_scratch(chained, L, C) doubles, uninitialised.
 */
#ifndef RAN_MODEL_CRF_H
#define RAN_MODEL_CRF_H

#include "nn/params.h"

/* None of it owned. NULL: zeros; without any of them tags are independent of each other. Or its
 * gradients: NULL only where those are. */
struct ran_crf {
        float *start, *end; /* (C) */
        float *transition;  /* (C,C) [from, to] */
};
/* That of a tagger's parameters, or of their gradients. */
struct ran_crf ran_crf_of(const struct ran_params *p);

/* Which paths decoding may choose. A tag that may start a path may come anywhere; any other tag
 * only after an open tag of its type. Some path must remain for every length. */
struct ran_crf_rules {
        bool *start, *open; /* (C); start NULL: all paths */
        uint32_t *type;     /* (C), each less than C */
};
/* The sequences that IOB2 allows, if the names of the classes are tags; otherwise all
 * (tag-rules.c). */
void ran_tag_rules_init(struct ran_crf_rules *r, char *const *names, size_t C);
void ran_tag_rules_release(struct ran_crf_rules *r);
static inline bool ran_crf_allows(const struct ran_crf_rules *r, size_t from, size_t to)
{
        return r->start[to] || (r->open[from] && r->type[from] == r->type[to]);
}

/* The end of the sentence that begins with word `from` of n; begins: see struct ran_document.
 * Each sentence is a chain of its own. */
size_t ran_crf_sentence_end(const bool *begins, size_t from, size_t n);

/* chained: there are transitions. SIZE_MAX if that overflows: no allocation will succeed then. */
size_t ran_crf_scratch(bool chained, size_t L, size_t C);

/* -log of the probability of a path (L), times weight. score (L,C). If dscore (L,C) is not NULL,
 * the gradient is written there and the gradients of the parameters are added to d; dscore may be
 * score.
 */
double ran_crf_loss(float *dscore, const struct ran_crf *d, const float *score,
                    const struct ran_crf *crf, const uint32_t *path, size_t L, size_t C,
                    double weight, double *scratch);

/* The best path (L) that the rules allow. Of equal paths, the one with the lower tag
 * at the last token where they differ. */
void ran_crf_decode(uint32_t *path, const float *score, const struct ran_crf *crf,
                    const struct ran_crf_rules *rules, size_t L, size_t C, double *scratch);

/* The same for a document of n words, each sentence a chain of its own. */
void ran_crf_decode_sentences(uint32_t *path, const float *score, const struct ran_crf *crf,
                              const struct ran_crf_rules *rules, const bool *begins, size_t n,
                              size_t C, double *scratch);

/* p (L,C): the probability that token t has tag c, over all paths. */
void ran_crf_marginals(float *p, const float *score, const struct ran_crf *crf, size_t L, size_t C,
                       double *scratch);

/* The same for a document of n words. */
void ran_crf_marginals_sentences(float *p, const float *score, const struct ran_crf *crf,
                                 const bool *begins, size_t n, size_t C, double *scratch);

#endif
