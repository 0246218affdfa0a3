/* masking.h - masked tokens: what a masked language model is trained on.
 *
 * 15 % of the words of a document, at least one, are masked, all subwords of a word together. Of
 * these tokens 80 % become [MASK], 10 % a random one, and 10 % stay as they are (Devlin et al.,
 * NAACL 2019): the model predicts what stood there. The choice is a function of (seed, epoch,
 * document, position), so each epoch has its own; development data have that of epoch 0.
 */
#ifndef RAN_TRAIN_MASKING_H
#define RAN_TRAIN_MASKING_H

#include "ran/train.h"

struct ran_masking {
        uint32_t *ids;      /* (L) of the document, masked */
        uint32_t *position; /* (n) masked tokens, ascending */
        uint32_t *gold;     /* (n) what stood there */
        size_t n;
        size_t ids_cap, position_cap, gold_cap;
};
/* Zero-initialise; V tokens, `mask` is [MASK]. A dataset with `given` has its own masked tokens. */
int ran_masking_make(struct ran_masking *g, const struct ran_dataset *d, size_t b, uint32_t mask,
                     size_t V, uint64_t seed, uint64_t epoch, struct ran_error *err);
void ran_masking_release(struct ran_masking *g);
/* The id of [MASK] in a vocabulary; of bare ids (tokenizer NULL) the reserved one.
 * RAN_EINVAL when there is none. */
int ran_masking_id(uint32_t *mask, const struct ran_tokenizer *tokenizer, struct ran_error *err);
/* How many tokens of document b that is. */
size_t ran_masking_count(const struct ran_dataset *d, size_t b, uint64_t seed, uint64_t epoch);

#endif
