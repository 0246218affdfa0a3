/* embed.h - what an embedder does after its sums, as a linear function. See ran_embedder_new. */
#ifndef RAN_INFER_EMBED_H
#define RAN_INFER_EMBED_H

#include "ran/model.h"

/* The weights (V) of tokens in its means; NULL: an encoder makes its vectors. */
const float *ran_embedder_weights(const struct ran_embedder *e);
/* w (width) times a vector, as weights of what it is made of, in place: w . v = w' . u + *bias,
 * with u the mean of rows, or v itself where an encoder makes it. */
void ran_embedder_fold(const struct ran_embedder *e, float *w, double *bias);

#endif
