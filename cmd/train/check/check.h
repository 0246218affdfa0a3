/* check.h - what is wrong with training data, what is odd, and what --check says of them. */
#ifndef CMD_TRAIN_CHECK_CHECK_H
#define CMD_TRAIN_CHECK_CHECK_H

#include "cmd/pages/report.h"
#include "cmd/train/read/data.h"

/* ---- sentences (problems.c) --------------------------------------------------------------- */

/* Reasons not to train, or warnings, a sentence each. Zero-initialise. */
struct train_problems {
        char **sentence;
        size_t n, cap;
};
void train_add_problem(struct train_problems *p, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* dev: may be NULL. bad_ok: bad lines are skipped on purpose. */
void train_find_problems(struct train_problems *p, const struct train_data *train,
                         const struct train_data *dev, bool bad_ok);
void train_problems_release(struct train_problems *p);
void train_must(int rc, const struct ran_error *err); /* exits unless rc is RAN_OK */

/* ---- warnings (warnings.c) ---------------------------------------------------------------- */

/* Adds a sentence for each, with what answers it. dev: NULL without --dev; dev_file: its name.
 * validation: how many documents will validate. init: the model that training begins with, or NULL;
 * name: of --init; NULL: a base model. */
void train_find_warnings(struct train_problems *w, const struct train_data *train,
                         const struct train_data *dev, char *const *files, const char *dev_file,
                         size_t validation, const struct ran_model *init, const char *name);

/* ---- --check (check.c) -------------------------------------------------------------------- */

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

/* ---- parts of its report ------------------------------------------------------------------- */

/* For the tasks: an object with the count of each label and, for people, its share of `all`. */
void train_report_labels(struct report *r, const char *name, const char *title,
                         const struct ran_dataset *set, size_t all);

/* ---- pairs of source and target ----------------------------------------------------------- */

/* Adds an object: lengths; pairs of unusual lengths (more than three times the median ratio, or
 * less than a third, with at least ten tokens on one side); copies of the source. Nothing without
 * pairs. */
void train_check_pairs(struct report *r, const struct train_data *data);

#endif
