/* score.h - scoring with any weights, not only those of a file: training evaluates with it. */
#ifndef RAN_MODEL_SCORE_H
#define RAN_MODEL_SCORE_H

#include "nn/recurrent-state.h"
#include "part/crf/crf.h"
#include "nn/params.h"

/* As ran_state_new; config and params must outlive the state. */
struct ran_state *ran_score_state_new(const struct ran_config *c, const struct ran_params *p,
                                      size_t C, struct ran_pool *pool);
/* The weights of the state. */
const struct ran_params *ran_score_params(const struct ran_state *s);

/* As ran_classify. */
int ran_score(struct ran_state *s, const struct ran_document *d, float *logits, float *embedding,
              struct ran_error *err);

/* The same for n documents at once, logits (n, C), embedding (n, D) or NULL; and v (n,
 * ran_document_vector_width), of the encoder alone, without a head. Each has the same results as
 * alone, if they are as many as ran_score_abreast says. What the cache of the weights knows is not
 * computed. */
enum { RAN_SCORE_ABREAST = 64 }; /* most documents */
int ran_score_each(struct ran_state *s, const struct ran_document *d, size_t n, float *logits,
                   float *embedding, struct ran_error *err);
int ran_score_vectors(struct ran_state *s, const struct ran_document *d, size_t n, float *v,
                      struct ran_error *err);
/* How many of the n documents from `d` on are best read at once: as many as fill the rows of a
 * product, but one where that could change a bit. */
size_t ran_score_abreast(const struct ran_state *s, const struct ran_document *d, size_t n);

/* The logits (C) of the encoder alone and, unless linear is NULL, those of the linear model. */
int ran_score_parts(struct ran_state *s, const struct ran_document *d, float *encoder,
                    float *linear, struct ran_error *err);
/* The same for the words of a document: (words, C). */
int ran_score_word_parts(struct ran_state *s, const struct ran_document *d, float *encoder,
                         float *linear, struct ran_error *err);

/* Encodes a document and fills the probes; sources as for ran_lm_read. The caller has checked all.
 */
struct ran_probes;
int ran_score_probed(struct ran_state *s, const struct ran_document *d, size_t sources,
                     const struct ran_probes *probes, struct ran_error *err);

/* Logits (n, C) of the n words of a document, with scratch for decoding them; in the state's
 * memory, valid until its next use. */
struct ran_score_words {
        struct ran_crf crf;
        const float *logits; /* (n, C) */
        const bool *begins;  /* (n), or NULL: the document's */
        size_t C;
        double *chain;    /* ran_crf_scratch of them */
        float *marginals; /* (n, C) */
};
int ran_score_words(struct ran_state *s, const struct ran_document *d, struct ran_score_words *out,
                    struct ran_error *err);

/* RAN_EFORMAT when one of n results is not finite: weights are not finite, or too large. */
int ran_score_check_result(const float *x, size_t n, struct ran_error *err);
/* The same for log-probabilities, which may be -INFINITY. */
int ran_score_check_scores(const float *x, size_t n, struct ran_error *err);
/* The same for the logits of the last scored document. */
int ran_score_check_logits(const struct ran_state *s, size_t n, struct ran_error *err);

/* As ran_lm_read and ran_lm_fill. recurrent: the state that the document continues from, or NULL.
 */
int ran_score_lm(struct ran_state *s, struct ran_recurrent_state *recurrent, const uint32_t *ids,
                 size_t n, size_t sources, const struct ran_lm_out *out, struct ran_error *err);
/* Reads a token for each of n documents, in products for all: ids[i] continues recurrent[i].
 * logits (n, V) after it. */
int ran_score_lm_each(struct ran_state *s, struct ran_recurrent_state *const *recurrent,
                      const uint32_t *ids, size_t n, float *logits, struct ran_error *err);
int ran_score_masked(struct ran_state *s, const uint32_t *ids, size_t L, const uint32_t *positions,
                     size_t n, const uint32_t *gold, float *nll, ran_lm_take *take, void *arg,
                     struct ran_error *err);

#endif
