/* document-vector.h - a vector of a document from a frozen encoder, without a head that was
 * learned: the features of a linear model beside its n-grams (`frozen`), and what ran_embed gives.
 *
 *   v = [ mean of the rows of the embedding; mean of the encoder's outputs ]        (2 D)
 *
 * and of static vectors the first part alone (D).
 *
 * Means over the tokens of the document, in which frequent tokens weigh less (token_weight, of the
 * language model that the encoder was trained in). The two see different things: rows are topics,
 * outputs know their neighbours. An encoder of the family BERT was trained to make such vectors:
 * its own is taken instead (bert.h).
 */
#ifndef RAN_MODEL_DOCUMENT_VECTOR_H
#define RAN_MODEL_DOCUMENT_VECTOR_H

#include "nn/workspace.h"

/* The table of the part "vectors". */
struct ran_document_vector_params {
        const float *token_weight; /* (V), mapped: of tokens; NULL: all are 1 */
};
/* NULL: a model without the part. */
static inline struct ran_document_vector_params *ran_document_vector_of(const struct ran_params *p)
{
        return p->own[RAN_PART_VECTORS];
}

/* Its width; 0 for an encoder without outputs of tokens. */
size_t ran_document_vector_width(const struct ran_config *c);
/* v (width) of document b of w->packed, after ran_encode. */
void ran_document_vector(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v);
/* Adjoint of the one document at hand, in two parts: before ran_encode_bwd, to w->dx, overwritten,
 * and w->dlast (dv may change); and what goes to the rows of the embedding itself, added to w->dx
 * after it. */
void ran_document_vector_bwd(struct ran_workspace *w, const struct ran_params *p,
                             struct ran_params *dp, float *dv);
void ran_document_vector_rows_bwd(struct ran_workspace *w, const struct ran_params *p,
                                  const float *dv);
/* Whether a frozen encoder's v is a sum over tokens; then adds to value (L) the part of each in
 * g · v, of the one document at hand after ran_encode (see vector_parts in nn/part.h). */
bool ran_document_vector_adds_up(const struct ran_config *c);
void ran_document_vector_parts(struct ran_workspace *w, const struct ran_params *p, const float *g,
                               double *value);

/* The weight of a token in the vectors of a model. */
float ran_document_vector_weight(const struct ran_params *p, size_t id);
/* weight (V) of tokens: a / (a + p), with p the frequency of a token by the biases alone of a
 * language model's output. */
extern const double ran_document_vector_smooth; /* a: a token of frequency p counts a / (a + p) */
void ran_document_vector_weights(float *weight, const struct ran_config *c,
                                 const struct ran_head_params *head, size_t V);

#endif
