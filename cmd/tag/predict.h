/* predict.h - the prediction of a record: as JSON, as words with tags, as rows. */
#ifndef CMD_TAG_PREDICT_H
#define CMD_TAG_PREDICT_H

#include "cmd/tag/words.h"

/* For cmd_loop.columns. */
void tag_columns(const void *arg, struct cmd_row *row);
/* Appends the prediction, as --output-format wants it, to item->result. RAN_ENOMEM. */
int tag_write(const struct tagger *t, struct tag_scratch *s, const struct tag_record *r,
              const struct cmd_item *item);

#endif
