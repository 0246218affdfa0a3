/* text-set.h - texts without labels as a data set, and their words: the parts of --pretrain
 * (texts.h) that readers of documents need. */
#ifndef CMD_TRAIN_READ_TEXT_SET_H
#define CMD_TRAIN_READ_TEXT_SET_H

#include "cmd/train/read/data.h"

struct train_document;
struct train_reader;

/* Begins a set of texts. data.c adds the text of each document that it reads; _end when all are
 * there. */
void train_text_set_begin(struct ran_dataset *texts, size_t keep);
int train_text_set_add(struct ran_dataset *texts, const struct train_reader *r,
                       const struct train_document *d, struct ran_error *err);
void train_text_set_end(struct ran_dataset *texts);
/* Counts the words of the files, read as `input` says, for a vocabulary. They are read again after
 * it is known, so they cannot be pipes: exits with 2. */
void train_text_set_count(const struct cmd_input *input, struct ran_pool *pool, char **files,
                          struct ran_counter *counter);

#endif
