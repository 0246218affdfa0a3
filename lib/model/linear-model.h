/* linear-model.h - the wide path of a classifier: features of a document straight to the labels.
 * That of a tagger is in linear-words.h.
 *
 *   logits += wide.bias + Σ_g x_g wide.weight[g]          beside those of the encoder
 *   x_g = (1 + ln n_g) idf[g] / |...|                     so that the whole of x has the length 1
 *
 * g are buckets: each run of 1 to `ngrams` ids is hashed to one of `wide`, and n_g is how many of
 * these the document has there. With `affixes` the last quarter of the buckets has what each word
 * begins and ends with, and the runs have the others. Of a document that has both, both have the
 * same length, 1/√2: a word is one run and up to eight affixes, which would drown the runs. idf[g]
 * = 1 + ln((1 + B) / (1 + b_g)), if b_g of the B documents that were learned from have the bucket;
 * 0, which leaves it out, if fewer than two have. It is what a linear model of n-grams does
 * (TF-IDF), and costs a line of the table for each bucket of the document, whatever its length.
 *
 * With `affixes` a word that is cut into pieces, or unknown, is in no run: it is rare, and
 * where a collection has rare words says little of where a new document has them.
 *
 * Each path learns by itself, as if the other were not there (train/svm.h); how much either
 * counts in the finished model the development data say (train/ensemble.h).
 */
#ifndef RAN_MODEL_LINEAR_MODEL_H
#define RAN_MODEL_LINEAR_MODEL_H

#include "base/posting.h"
#include "model/workspace.h"

/* Part of the format of model files: SplitMix64's finaliser (Steele, Lea and Flood 2014), id by id,
 * so that the runs which begin at a token come one out of another. */
static inline uint64_t ran_linear_model_extend(uint64_t hash, uint32_t id)
{
        uint64_t z = (hash ^ id) + UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}
static inline uint32_t ran_linear_model_bucket_of(uint64_t hash, size_t buckets)
{
        return (uint32_t)(hash % buckets);
}

/* The bucket of n ids in a row, of the ran_linear_model_runs(c) which are those of runs. */
uint32_t ran_linear_model_bucket(const uint32_t *ids, size_t n, size_t buckets);

/* How many buckets are those of runs, the first ones; all others are those of affixes. */
size_t ran_linear_model_runs(const struct ran_config *c);

/* What is known of a piece, RAN_PIECE numbers: the buckets of its first 2, 3, 4, 5 characters and
 * of its last ones, in turns (a shorter piece has fewer), and what it is of a word. */
enum { RAN_AFFIX_LEAST = 2, RAN_AFFIX_MOST = 5, RAN_AFFIXES = 8, RAN_PIECE = RAN_AFFIXES + 1 };
enum { RAN_PIECE_BEGINS, RAN_PIECE_GOES_ON, RAN_PIECE_UNKNOWN };
/* Where it has none. */
#define RAN_NO_AFFIX UINT32_MAX

/* That of each piece of a vocabulary, (V, RAN_PIECE), to be freed, for a c that wants them. NULL:
 * memory ran out. */
uint32_t *ran_linear_model_pieces(const struct ran_tokenizer *t, const struct ran_config *c,
                                  struct ran_error *err);

/* Whether they are needed. */
bool ran_linear_model_wants_pieces(const struct ran_config *c);

/* How many features a token has, at most. */
size_t ran_linear_model_features(const struct ran_config *c);

/* Lists the buckets of L ids, ascending and each once, in `to` (room for L
 * ran_linear_model_features), id a bucket and `at` how often it is there; spare: room for as many.
 * pieces: those of the vocabulary, if c wants them. Returns how many there are. */
size_t ran_linear_model_list(struct ran_posting *to, struct ran_posting *spare,
                             const struct ran_config *c, const uint32_t *pieces,
                             const uint32_t *ids, size_t L);

/* x_g above of the n postings of a list with idf[g] > 0, in their order; runs:
 * ran_linear_model_runs. Returns how many there are. */
size_t ran_linear_model_weigh(float *x, const struct ran_posting *list, size_t n, const float *idf,
                              size_t runs);

/* Lists the features of L ids as x_g above, ascending by bucket, in `gram` (room as for a list;
 * place and spare: scratch of as much). Returns how many there are. */
size_t ran_linear_model_read(struct ran_gram *gram, struct ran_posting *place,
                             struct ran_posting *spare, const struct ran_config *c,
                             const uint32_t *pieces, const float *idf, const uint32_t *ids,
                             size_t L);

/* What a bucket counts that `having` of so many documents have. */
float ran_linear_model_idf(double having, double documents);

/* Reads the documents at hand, leaves in w->head.wide (B, C) what the path says of them, and in
 * w->head.gram what its gradient needs; adds to the logits (B, C). */
void ran_linear_model_add(struct ran_workspace *w, const struct ran_params *p, size_t C);

/* Adds to value (L) what each token of the one document at hand has to do with Σ_c weight_c logit_c
 * of the wide path, but for its bias: each run divides its share evenly among its tokens. */
void ran_linear_model_explain(const struct ran_workspace *w, const struct ran_params *p, size_t C,
                              const float *weight, double share, double *value);

#endif
