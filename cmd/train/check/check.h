/* check.h - ran-train --check: a report about data before training. */
#ifndef CMD_TRAIN_CHECK_CHECK_H
#define CMD_TRAIN_CHECK_CHECK_H

#include "cmd/train/check/problems.h"

/* The data that a report is about. */
struct train_checked {
        const struct train_data *train, *dev; /* dev NULL: none */
        size_t window;
        const struct train_problems *problems, *warnings;
};
/* As --check-format has them, and a part of a page. */
enum train_check_form { TRAIN_CHECK_JSON, TRAIN_CHECK_TEXT, TRAIN_CHECK_PAGE };
/* Appends counts, lengths and repeated texts, before any document is held out: one JSON object,
 * lines for people, or a part of a page. */
void train_check(const struct train_checked *c, enum train_check_form form, struct ran_buf *out);

/* *repeated: training documents with the tokens of another one before them; *known: validation
 * documents with those of a training document. dev may be NULL. */
void train_count_repeats(const struct train_data *train, const struct train_data *dev,
                         size_t *repeated, size_t *known);

#endif
