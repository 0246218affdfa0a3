/* linear-words.h - the wide path of a tagger: a word and those around it straight to its tag.
 *
 *   logits[w] += wide.bias + Σ_g wide.weight[g]
 *
 * where g are the buckets of the features of word w. While it learns, the path has scores of
 * neighbouring tags of its own (train/crf-train.h); in a finished model crf.* is the sum of what
 * both paths' are worth (train/ensemble.h). It is what a linear conditional random field does
 * (Lafferty, McCallum and Pereira 2001), which needs to see a thing once or twice where an encoder
 * needs a hundred times.
 *
 * The features of a word, each of its kind and place, hashed to one of `wide` buckets:
 *
 *   which word it is, and which the two before and behind it are (or that there is none in the
 *   sentence): its pieces, and the first and last four letters, which tell unknown words apart
 *   the spelling (text/spelling.c) of it and of the words beside it; of those two away, case and
 *   shape
 *   first and last four letters together, of the same three, whatever the case
 *   the shapes of it and a neighbour, and of all three
 *   each run of two to `ngrams` words that it is in
 *
 * A model that does not look at the spelling knows words by their pieces alone.
 */
#ifndef RAN_MODEL_LINEAR_WORDS_H
#define RAN_MODEL_LINEAR_WORDS_H

#include "model/crf.h"
#include "model/params.h"

/* How many a word has, at most. */
size_t ran_linear_words_features(const struct ran_config *c);

/* Lists the buckets of word w, which is of the sentence [from, end) of words of d, in bucket (room
 * for ran_linear_words_features). Returns how many there are. */
size_t ran_linear_words_list(uint32_t *bucket, const struct ran_config *c,
                             const struct ran_document *d, size_t from, size_t end, size_t w);

/* Adds what the path says of each word of d to logits (words, C). bucket: scratch, room for
 * ran_linear_words_features. */
void ran_linear_words_add(float *logits, uint32_t *bucket, const struct ran_params *p,
                          const struct ran_config *c, const struct ran_document *d, size_t C);

/* Adds to logits (C) `share` times what the features of word w of d say, and the bias. bucket: as
 * above. */
void ran_linear_words_add_one(float *logits, uint32_t *bucket, const struct ran_params *p,
                              const struct ran_config *c, const struct ran_document *d, size_t C,
                              size_t w, float share);

/* Adds to value (L) what each token of d has to do with Σ_c weight_c logit_c of word w of the wide
 * path, but for its bias: each feature divides its share evenly among the words that it is of, and
 * they among their tokens. That there is no neighbour belongs to w. */
void ran_linear_words_explain(double *value, const struct ran_params *p, const struct ran_config *c,
                              const struct ran_document *d, size_t C, size_t w, const float *weight,
                              double share);

#endif
