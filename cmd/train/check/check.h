/* check.h - ran-train --check: a report about data before training. */
#ifndef CMD_TRAIN_CHECK_CHECK_H
#define CMD_TRAIN_CHECK_CHECK_H

#include "cmd/train/check/problems.h"

/* The data that a report is about. */
struct train_checked {
        const struct train_data *train, *dev; /* dev NULL: none */
        const struct ran_dataset *texts;      /* of --pretrain; NULL: none */
        size_t window;
        const struct train_problems *problems, *warnings;
};
/* Counts, lengths and repeated texts, before any document is held out. Writes one JSON object, or
 * lines for people, to stdout. */
void train_check(const struct train_checked *c, bool json);
/* Appends the lines for people. */
void train_check_text(const struct train_checked *c, struct ran_buf *out);

/* *repeated: training documents with the tokens of another one before them; *known: validation
 * documents with those of a training document. dev may be NULL. */
void train_count_repeats(const struct train_data *train, const struct train_data *dev,
                         size_t *repeated, size_t *known);

#endif
