/* problems.h - problems of training data. */
#ifndef CMD_TRAIN_CHECK_PROBLEMS_H
#define CMD_TRAIN_CHECK_PROBLEMS_H

#include "cmd/train/read/data.h"

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
/* Of lines of one input, which bad_ok skips on purpose. */
void train_find_bad_lines(struct train_problems *p, const struct cmd_counts *counts, const char *of,
                          bool bad_ok);
void train_problems_release(struct train_problems *p);
/* ran_alloc, for the checks; exits without memory. */
void *train_must_alloc(size_t n, size_t size);
void train_must(int rc, const struct ran_error *err); /* exits unless rc is RAN_OK */

#endif
