/* labels.h - the gold labels of a record, or the gold tags of its words. */
#ifndef CMD_LABELS_H
#define CMD_LABELS_H

#include "ran.h"

/* The gold labels of a record: `label` (text, or a number, taken as it is written) or `labels` (a
 * list of them, perhaps empty). */
#define CMD_LABEL_MEMBERS "label", "labels"
struct cmd_labels {
        struct ran_buf names; /* decoded, one after another */
        size_t *end;          /* (n) where each ends in names */
        size_t n, cap;
        bool present; /* the record has one of the two members, not null */
        bool several; /* it is `labels` */
        /* Of tags. */
        bool numbers;         /* they are numbers, and of no scheme */
        struct ran_tag *tags; /* (n) else: the names once more, taken apart */
        size_t tags_cap;
        struct ran_tag_census census;
};
void cmd_labels_release(struct cmd_labels *l);
/* RAN_EFORMAT when both are there, or either is something else. */
int cmd_labels_read(struct cmd_labels *l, const struct ran_record *record, struct ran_error *err);

/* The gold tags of a record: `tags`, one a word. Names of any scheme become IOB2, and the census is
 * of this record; numbers are taken as they are written. RAN_EFORMAT for a name that is no tag, and
 * for names beside numbers. */
#define CMD_TAG_MEMBERS "tags"
int cmd_tags_read(struct cmd_labels *l, const struct ran_record *record, struct ran_error *err);

#endif
