/* labels.h - the gold labels of a record. */
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
};
void cmd_labels_release(struct cmd_labels *l);
/* RAN_EFORMAT when both are there, or either is something else. */
int cmd_labels_read(struct cmd_labels *l, const struct ran_record *record, struct ran_error *err);

#endif
