/* digest.h - a name for what an encoder that was trained before computes. */
#ifndef RAN_NN_DIGEST_H
#define RAN_NN_DIGEST_H

#include "nn/params.h"

/* The SHA-256 of its weights, with V rows of the embedding and the table of spellings, and of the
 * settings that change what it makes of a document. */
int ran_encoder_digest(char hex[65], const struct ran_config *c, const struct ran_params *p,
                       size_t V, struct ran_error *err);

#endif
