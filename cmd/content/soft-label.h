/* soft-label.h - probabilities of labels in a record: soft targets from another model. */
#ifndef CMD_CONTENT_SOFT_LABEL_H
#define CMD_CONTENT_SOFT_LABEL_H

#include "cmd/content/labels.h"
#include "ran.h"

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_soft_label {
        struct ran_buf names; /* decoded, one after another */
        size_t *end;          /* (n) where each ends in names */
        float *p;             /* (n); with one label a document, they add up to 1 */
        size_t n, end_cap, p_cap, order_cap;
        bool present;            /* the record has the member, not null */
        bool guessed;            /* the record has no label of its own */
        struct soft_name *order; /* scratch */
};
void cmd_soft_label_release(struct cmd_soft_label *s);
/* Reads the member of that name: a prediction of ran-classify with its "probs", or an object of
 * labels and probabilities. `labels` have been read; if the record has none, they become the
 * most probable label, or, of several, all labels of at least 0.5. several: assume several
 * labels if neither the record nor the prediction decides. RAN_EFORMAT for anything else. */
int cmd_soft_label_read(struct cmd_soft_label *s, struct cmd_labels *labels,
                        const struct record *record, const char *member, bool several,
                        struct ran_error *err);

#endif
