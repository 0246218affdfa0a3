/* linear-words.h - the linear model of a tagger, beside its encoder: features of a word and its
 * context times weights for each tag.
 *
 *   logits[w] += wide.bias + Σ_g wide.weight[g]
 *
 * where g are the buckets of the features of word w. In training it has its own transitions between
 * tags (part/linear/linear-words.h); in a finished model crf.* is the weighted sum of the encoder's
 * and its own (part/linear/ensemble.h). It is a linear conditional random field (Lafferty, McCallum
 * and Pereira 2001): it learns from one or two occurrences where an encoder needs a hundred.
 *
 * The features of a word, each with its kind and offset, hashed to one of `wide` buckets:
 *
 *   the word itself, and the two before and behind it (or that the sentence has none there): its
 *   subwords, and the first and last four letters, which distinguish unknown words
 *
 *   the spelling (text/spelling.c) of it and of its neighbours; case and shape of words two away
 *
 *   first and last four letters together, of the same three, in lower case
 *
 *   the shapes of it and a neighbour, and of all three
 *
 *   each n-gram of two to `ngrams` words with it
 *
 * A model without spelling knows words by their subwords alone.
 */
#ifndef RAN_MODEL_LINEAR_WORDS_H
#define RAN_MODEL_LINEAR_WORDS_H

#include "part/crf/crf.h"
#include "part/linear/linear-rows.h"

/* Whether a model has it. */
static inline bool ran_has_linear_words(const struct ran_config *c)
{
        return ran_part_words.is_in(c);
}

/* The most features a word can have. */
size_t ran_linear_words_features(const struct ran_config *c);

/* Lists the buckets of word w of d, in the sentence of words [from, end), in bucket (room for
 * ran_linear_words_features). Returns their number. */
size_t ran_linear_words_list(uint32_t *bucket, const struct ran_config *c,
                             const struct ran_document *d, size_t from, size_t end, size_t w);

/* Adds the linear model's logits of each word of d to logits (words, C). */
void ran_linear_words_add(float *logits, const struct ran_linear_params *p,
                          const struct ran_config *c, const struct ran_document *d, size_t C);

/* Of a model that has it (ran_has_linear_words): adds `scale` times those of one word to logits
 * (C); and each token's contribution, times scale, to Σ_c weight_c logit_c of a word, without
 * biases, to value (L). */
void ran_linear_words_score_one(const struct ran_workspace *w, const struct ran_params *p,
                                const struct ran_document *d, size_t C, size_t word, float scale,
                                float *logits);
void ran_linear_words_explain(const struct ran_workspace *w, const struct ran_params *p,
                              const struct ran_document *d, size_t C, size_t word,
                              const float *weight, double scale, double *value);

/* ---- training (crf-train.c) ------------------------------------------------------------------ */

/* Training of the linear model of a tagger: a linear-chain conditional random field,
 *
 *   min over w   1/2 |w|² + cost Σ_s -log p(tags of s | w)
 *
 * over sentences s, where w are the weights of the features, the bias and the crf.
 *
 * Stochastic gradient descent, one sentence at a time (Bottou 2010), with a step size that falls
 * linearly to 0. A sentence touches a few thousand weights; one common factor applies the shrinkage
 * of |w|² to all. One thread does it, so that sums have a fixed order.
 */

struct ran_crf_train {
        const struct ran_config *c;
        const struct ran_dataset *d;
        const size_t *document; /* (n) to train on */
        size_t n;
        double cost;
        size_t passes;
        uint64_t seed; /* of the order of sentences */
        /* Called after each pass, with its number and the share that is done; a value other than 0
         * ends training with RAN_EINTR. May be NULL. */
        int (*pass)(void *arg, size_t passes, double share);
        void *arg;
};

/* The default cost: from 0.3 to 3 the F1 on three collections is about the same. */
extern const double ran_crf_train_cost;
enum { RAN_CRF_TRAIN_PASSES = 20 };

/* The crf of C tags as one run of floats: start (C), end (C), transition (C, C). */
size_t ran_crf_train_floats(size_t C);
/* A view of such a run; of NULL: no crf. */
struct ran_crf ran_crf_train_view(float *x, size_t C);

/* Learns weight (c->linear.wide, C) and bias (C), starting from their values (w is the difference
 * from these), and the crf, unless NULL, from 0. A failure leaves them unchanged. */
int ran_crf_train_run(const struct ran_crf_train *k, float *weight, float *bias, float *crf,
                      struct ran_error *err);

#endif
