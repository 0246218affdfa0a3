/* corpus.h - an invented task that a small model learns whole: documents of ids, and which of three
 * ids occurs in one says what its class is. */
#ifndef RAN_TESTS_UNIT_CORPUS_H
#define RAN_TESTS_UNIT_CORPUS_H

#include "dice.h"

enum { CORPUS_V = 12, CORPUS_C = 3, CORPUS_SPELLING = 8 };

/* B documents of shortest to longest tokens, and their spelling for models that want it. With
 * `multilabel` any number of the three occurs. The seed says which; release with
 * ran_dataset_release. */
void corpus_make(struct ran_dataset *d, size_t B, size_t shortest, size_t longest, bool multilabel,
                 uint64_t seed);

enum corpus_kind { CORPUS_TEXTS, CORPUS_PAIRS, CORPUS_MASKED };
/* For language models: texts in which each id says what the next one is; sources, each of them
 * behind id 0 once more; or words of one or two subwords in the order of the texts, for masking.
 */
void corpus_texts(struct ran_dataset *d, size_t B, size_t shortest, size_t longest,
                  enum corpus_kind kind, uint64_t seed);

#endif
