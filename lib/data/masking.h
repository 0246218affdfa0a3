/* masking.h - masked tokens, the training targets of a masked language model.
 *
 * A share of the words of a document, at least one, is masked, all subwords of a word together. Of
 * these tokens 80 % become [MASK], 10 % a random token, and 10 % stay unchanged (Devlin et al.,
 * NAACL 2019): the model predicts the original ones. The choice is a function of (seed, epoch,
 * document, position), so each epoch has its own; development data use that of epoch 0, and always
 * the same share.
 */
#ifndef RAN_TRAIN_MASKING_H
#define RAN_TRAIN_MASKING_H

#include "ran/train.h"

/* The share of words that is masked in development data, and in training unless a setting says
 * otherwise. */
#define RAN_MASK_SHARE 0.15

struct ran_masking {
        uint32_t *ids;      /* (L) of the document, masked */
        uint32_t *position; /* (n) masked tokens, ascending */
        uint32_t *gold;     /* (n) what stood there */
        size_t n;
        size_t ids_cap, position_cap, gold_cap;
};
/* How documents are masked. */
struct ran_masking_draw {
        double share; /* of the words */
        uint64_t seed, epoch;
};
/* Zero-initialise; V tokens, `mask` is [MASK]. A dataset with `given` has its own masked tokens. */
int ran_masking_make(struct ran_masking *g, const struct ran_dataset *d, size_t b, uint32_t mask,
                     size_t V, const struct ran_masking_draw *draw, struct ran_error *err);
void ran_masking_release(struct ran_masking *g);
/* The id of [MASK] in a vocabulary; of bare ids (tokenizer NULL) the reserved one.
 * RAN_EINVAL when there is none. */
int ran_masking_id(uint32_t *mask, const struct ran_tokenizer *tokenizer, struct ran_error *err);
/* The number of masked tokens of document b; how those of development data are drawn. */
extern const struct ran_masking_draw ran_masking_of_dev;
size_t ran_masking_count(const struct ran_dataset *d, size_t b,
                         const struct ran_masking_draw *draw);

#endif
