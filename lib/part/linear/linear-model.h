/* linear-model.h - the linear model of a classifier, beside its encoder: features of a document
 * times weights for each label. That of a tagger is in linear-words.h. (`wide` in names of tensors
 * and options, after Wide & Deep learning, Cheng et al. 2016.)
 *
 *   logits += wide.bias + Σ_g x_g wide.weight[g]          beside those of the encoder
 *   x_g = (1 + ln n_g) idf[g] / |...|                     so that x as a whole has length 1
 *
 * g are buckets: each n-gram of 1 to `ngrams` ids is hashed to one of `wide`, and n_g counts those
 * of the document there. With `affixes` the last quarter of the buckets is for prefixes and
 * suffixes of words. In a document with n-grams and affixes, each kind has length 1/√2: a word is
 * one n-gram but up to eight affixes, which would dominate. idf[g] = 1 + ln((1 + B) / (1
 * + b_g)), if b_g of the B training documents have the bucket; 0, which removes it, if fewer than
 * two have. This is a linear model over TF-IDF features; it costs a row of the table for each
 * bucket of the document, whatever its length.
 *
 * With `frozen` the encoder is not trained, and the vectors v of documents that it makes
 * (document-vector.h) are features, too: logits += v wide.dense. In training they are standardised
 * and scaled against the n-grams; mean and deviation are in weights and bias
 * (data/dense.h).
 *
 * With `affixes` an unknown word, or one of several subwords, is in no n-gram: it is rare, and in
 * training data its neighbours say little about where it occurs in new documents.
 *
 * Encoder and linear model learn by themselves (part/linear/svm.h); the validation documents decide
 * the ensemble weights (part/linear/ensemble.h).
 */
#ifndef RAN_MODEL_LINEAR_MODEL_H
#define RAN_MODEL_LINEAR_MODEL_H

#include "base/posting.h"
#include "part/linear/linear-rows.h"

/* Whether a model has it. */
static inline bool ran_has_linear_model(const struct ran_config *c)
{
        return ran_part_linear.is_in(c);
}

/* Part of the format of model files: SplitMix64's finaliser (Steele, Lea and Flood 2014), id by id:
 * the hash of an n-gram extends the hash of the shorter one from the same token. */
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

/* The bucket of an n-gram, among the ran_linear_model_ngram_buckets(c) buckets of n-grams. */
uint32_t ran_linear_model_bucket(const uint32_t *ids, size_t n, size_t buckets);

/* The number of buckets for n-grams: the first ones. Affixes have the others. */
size_t ran_linear_model_ngram_buckets(const struct ran_config *c);

/* The affixes of a subword are a row of RAN_AFFIX_ROW numbers: the buckets of its prefixes and
 * suffixes of 2, 3, 4, 5 characters, in turns (a shorter subword has fewer), and its part of a
 * word. */
enum { RAN_AFFIX_LEAST = 2, RAN_AFFIX_MOST = 5, RAN_AFFIXES = 8, RAN_AFFIX_ROW = RAN_AFFIXES + 1 };
enum { RAN_SUBWORD_BEGINS, RAN_SUBWORD_CONTINUES, RAN_SUBWORD_UNKNOWN };
/* No such affix. */
#define RAN_NO_AFFIX UINT32_MAX

/* The affixes of a vocabulary's subwords (V, RAN_AFFIX_ROW), for a c with affixes; the caller frees
 * them. NULL: memory ran out. */
uint32_t *ran_linear_model_affixes(const struct ran_tokenizer *t, const struct ran_config *c,
                                   struct ran_error *err);

/* The longest n-gram from token t of L ids on: `ngrams` tokens, but it stops at the document's end
 * and before a word of several subwords. affixes: of the vocabulary, NULL if c wants none. */
size_t ran_linear_model_longest(const struct ran_config *c, const uint32_t *affixes,
                                const uint32_t *ids, size_t L, size_t t);

/* Whether the configuration needs affixes. */
bool ran_linear_model_wants_affixes(const struct ran_config *c);

/* The most features a token can have. */
size_t ran_linear_model_features(const struct ran_config *c);

/* The most features of a document of L tokens that are in memory at once: of a long one there are
 * no more than buckets, however many features its tokens have. */
size_t ran_linear_model_room(const struct ran_config *c, size_t L);

/* Lists the buckets of L ids, ascending and each once, in `to` (room for ran_linear_model_room), id
 * a bucket and `at` its count; spare: room for as many. affixes: of the vocabulary, NULL if c wants
 * none. Returns the number of buckets. */
size_t ran_linear_model_list(struct ran_posting *to, struct ran_posting *spare,
                             const struct ran_config *c, const uint32_t *affixes,
                             const uint32_t *ids, size_t L);

/* x_g above of the n postings of a list with idf[g] > 0, in their order, from idf of all buckets;
 * runs: ran_linear_model_ngram_buckets. Returns how many there are. */
size_t ran_linear_model_weigh(float *x, const struct ran_posting *list, size_t n, const float *idf,
                              size_t runs);

/* The features of a document as x_g above, ascending by row: room for as many as in a list. */
struct ran_linear_features {
        uint32_t *row, *times; /* of the table; how often it is there */
        float *x;
};
/* Fills f with those of L ids (spare: scratch, room as for a list), and asks for the weights of
 * their C labels. Returns their number. */
size_t ran_linear_model_read(struct ran_linear_features f, uint32_t *spare,
                             const struct ran_config *c, const struct ran_linear_params *p,
                             size_t C, const uint32_t *ids, size_t L);

/* Of a model that has it (ran_has_linear_model): adds its logits to w->head.logits (B, C), scaled
 * by w->linear_weight, after ran_encode; and keeps them (B, C) for itself until the next time. */
void ran_linear_model_add(struct ran_workspace *w, const struct ran_params *p, size_t C);
const float *ran_linear_model_logits(const struct ran_workspace *w);
/* With vectors of documents, of the one document at hand: from w->head.dlogits to w->dx and
 * w->dlast, overwritten, before ran_encode_bwd; and what goes to the rows of the embedding
 * themselves, added to w->dx after it. */
void ran_linear_model_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, size_t C);
void ran_linear_model_rows_bwd(struct ran_workspace *w, const struct ran_params *p);
/* Adds to value (L) `scale` times each token's contribution to Σ_c weight_c logit_c of the one
 * document at hand, without biases. */
void ran_linear_model_explain(const struct ran_workspace *w, const struct ran_params *p, size_t C,
                              const float *weight, double scale, double *value);

/* idf of a bucket that `having` of so many documents have. */
float ran_linear_model_idf(double having, double documents);

#endif
