/* figure.h - figures of a training run as people read them. */
#ifndef CMD_TRAIN_RUN_FIGURE_H
#define CMD_TRAIN_RUN_FIGURE_H

#include "cmd/train/run/progress.h"

/* The validation metric for people, and its name: a loss, a perplexity, or per cent for all else.
 */
double train_progress_metric(const struct train_progress *p, double metric);
const char *train_progress_name(const struct train_progress *p);
/* Appends "accuracy 84.00 (84 of 100, 76 to 90 %)": metric, documents and 95 % interval; and the
 * same behind "validation loss 0.4490, ", of a report RAN_REPORT_DEV or _FITTED. */
void train_figure_metric(const struct train_progress *p, double metric,
                         struct ran_interval interval, size_t documents, struct ran_buf *out);
void train_figure_add(const struct train_progress *p, const struct ran_train_report *r,
                      struct ran_buf *out);

#endif
