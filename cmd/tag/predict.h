/* predict.h - the prediction of a record: as JSON, as lines of words and tags, as rows. */
#ifndef CMD_TAG_PREDICT_H
#define CMD_TAG_PREDICT_H

#include "cmd/tag/words.h"

/* Appends it to item->result. RAN_ENOMEM. */
int tag_add_prediction(const struct tagger *t, struct tag_scratch *s, const struct tag_record *r,
                       const struct cmd_item *item);
int tag_write_conll(const struct tagger *t, struct tag_scratch *s, const struct tag_record *r,
                    const struct cmd_item *item);
int tag_write_rows(const struct tagger *t, struct tag_scratch *s, const struct tag_record *r,
                   const struct cmd_item *item);

#endif
