/* infer.h - what the sources of this folder share, and evaluation and training use: scoring with
 * any weights, not only those of a file. */
#ifndef RAN_INFER_INFER_H
#define RAN_INFER_INFER_H

#include "data/dense.h"
#include "file/model.h"
#include "nn/recurrent-state.h"
#include "part/crf/crf.h"
#include "nn/params.h"

/* ---- scoring (score.c) ----------------------------------------------------------- */

/* As ran_state_new; config and params must outlive the state. */
struct ran_state *ran_score_state_new(const struct ran_config *c, const struct ran_params *p,
                                      size_t C, struct ran_pool *pool);

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

/* RAN_EFORMAT when one of n results is not finite: weights are not finite, or too large. least:
 * -FLT_MAX, or -INFINITY for log-probabilities, which may be that. */
int ran_score_check(const float *x, size_t n, float least, struct ran_error *err);

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

/* As ran_tag, with any weights; rules may be NULL. */
int ran_score_tags(struct ran_state *s, const struct ran_crf_rules *rules,
                   const struct ran_document *d, uint32_t *tags, float *score, float *logits,
                   struct ran_error *err);

/* ---- whether a state, a document and a model belong together (model-score.c) --------------- */

/* RAN_EINVAL when a state was made for another model. */
int ran_model_check_state(const struct ran_model *m, const struct ran_state *s,
                          struct ran_error *err);
/* The same, and when the model is for another task. */
int ran_model_check_task(const struct ran_model *m, const struct ran_state *s,
                         const struct ran_task *task, struct ran_error *err);
/* RAN_EINVAL when one of n ids is not below V, or one of n buckets of spelling not below
 * c->spelling. */
int ran_check_ids(const uint32_t *ids, size_t n, size_t V, struct ran_error *err);
int ran_check_spelling(const uint32_t *spelling, size_t n, const struct ran_config *c,
                       struct ran_error *err);
/* The same for a document, and when it lacks the spelling that the model needs. */
int ran_model_check_document(const struct ran_model *m, const struct ran_document *d,
                             struct ran_error *err);
/* RAN_EINVAL when a word of a document has no token, or words are out of order. */
int ran_model_check_positions(const struct ran_document *d, struct ran_error *err);

/* ---- a frozen encoder reads the documents of a data set (dense-read.c) --------------------- */

/* Reads all documents, each alone, as scoring does. */
int ran_dense_read(struct ran_dense *k, const struct ran_config *c, const struct ran_params *p,
                   size_t C, const struct ran_dataset *d, struct ran_pool *pool,
                   int (*pass)(void *arg, size_t passes, double share), void *arg,
                   struct ran_error *err);

/* ---- what an embedder does after its sums, as a linear function (embed.c) ------------------ */

/* The weights (V) of tokens in its means; NULL: an encoder makes its vectors. */
const float *ran_embedder_weights(const struct ran_embedder *e);
/* w (width) times a vector, as weights of what it is made of, in place: w . v = w' . u + *bias,
 * with u the mean of rows, or v itself where an encoder makes it. */
void ran_embedder_fold(const struct ran_embedder *e, float *w, double *bias);

/* ---- a cache over the recent past (cache.c; ran/model.h has the equations) ----------------- */

/* Makes room for n more positions and, with logits, for V tokens (else 0), so that ran_cache_mix
 * cannot fail. RAN_EINVAL: its model has another width than D. */
int ran_cache_reserve(struct ran_cache *c, size_t D, size_t n, size_t V, struct ran_error *err);

/* n successive positions: h (n, D) are the encoder's outputs, gold (n) the next tokens; nll (n)
 * and logits (n, V), either or both NULL, the model's. Replaces nll by that of the mixture and
 * logits by its log-probabilities, and remembers the positions. A position whose gold is
 * RAN_NO_ID is not remembered: its next token is unknown. */
void ran_cache_mix(struct ran_cache *c, struct ran_pool *pool, const float *h, const uint32_t *gold,
                   size_t n, float *nll, float *logits, size_t V);

#endif
