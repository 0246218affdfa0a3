/* wrong-labels.h - --find-wrong-labels: documents whose label is probably wrong. */
#ifndef CMD_TRAIN_RUN_WRONG_LABELS_H
#define CMD_TRAIN_RUN_WRONG_LABELS_H

#include "cmd/train/run/session.h"

/* What the program gives of a document, for the formats. */
#define GIVES_RECORDS(...) __VA_ARGS__
#define GIVES_LABELS(...)
#define GIVES_TAGS(...)
#define GIVES_TASKS(...)
#define GIVES_ROWS(...) __VA_ARGS__
#define GIVES_VECTORS(...)
#define GIVES_PAGE(...) __VA_ARGS__
/* The words of --suspects-format, NULL at the end. */
extern const char *const train_suspects_formats[];

/* Trains models of this job on all folds but one, judges the labels of the fold by each, and writes
 * the suspects to standard output. Returns the status of the program. */
int train_find_wrong_labels(const struct train_session *s, const struct ran_train_job *job);

#endif
