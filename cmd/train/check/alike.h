/* alike.h - labels that look alike. */
#ifndef CMD_TRAIN_CHECK_ALIKE_H
#define CMD_TRAIN_CHECK_ALIKE_H

#include "cmd/train/check/problems.h"

/* Adds a sentence for each pair of the first labels that look alike. count (C): how often each
 * occurs; word: "label" or "tag". */
void train_find_alike(struct train_problems *w, const struct ran_dataset *set, const size_t *count,
                      const char *word);
/* The bytes of a name that a sentence has room for: whole characters. */
int train_shown(const char *name);

#endif
