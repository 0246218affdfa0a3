/* label-texts.h - descriptions of the labels, or their names, as evidence beside the documents of a
 * classifier that learns from vectors (part/linear/discriminant.h). */
#ifndef CMD_TRAIN_RUN_LABEL_TEXTS_H
#define CMD_TRAIN_RUN_LABEL_TEXTS_H

#include "cmd/train/check/check.h"
#include "cmd/train/run/session.h"

/* Before the data are read: opens the file of --label-texts, whose labels are those of the data. */
void train_label_texts_open(struct train_session *s);
/* The vectors of the descriptions, for the job. Exits if --label-texts names a file and the
 * training has no vectors of documents. */
void train_label_texts_job(struct train_session *s, struct ran_train_job *job);
/* Documents without labels: what cannot be done with them; how many each label got. */
void train_label_texts_find_problems(struct train_problems *problems,
                                     const struct train_session *s);
void train_label_texts_tell(const struct train_session *s);
void train_label_texts_release(struct train_session *s);

#endif
