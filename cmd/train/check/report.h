/* report.h - the report of --check, gathered once and written twice, for machines and for
 * people. For check.c, check-report.c and the tasks. */
#ifndef CMD_TRAIN_CHECK_REPORT_H
#define CMD_TRAIN_CHECK_REPORT_H

#include "cmd/train/check/problems.h"

enum { TRAIN_PERCENTILES = 7 };
extern const struct train_percentile {
        const char *name;
        double share; /* of documents that are no longer */
} train_percentiles[TRAIN_PERCENTILES];

/* Pairs of locations (a repeats b, or is nearly the same); the first TRAIN_LISTED are kept. */
struct train_pairs {
        size_t n;
        struct train_location a[TRAIN_LISTED], b[TRAIN_LISTED];
};

/* Statistics of one of the two data sets. */
struct train_summary {
        const struct train_data *data;
        size_t *label_count; /* (C) */
        size_t tokens, length[TRAIN_PERCENTILES], longer_window, longer_512;
        size_t predicted; /* of texts: predicted tokens */
};

struct train_report {
        struct train_summary train, dev; /* dev.data NULL: none */
        size_t window;
        const struct ran_dataset *texts; /* of --pretrain; NULL: none */
        struct train_pairs duplicates, contradictions, overlap;
        struct train_pairs near_duplicates, near_overlap; /* beside those */
        const struct train_problems *problems, *warnings;
};

void train_report_json(struct ran_buf *out, const struct train_report *r);
void train_report_text(struct ran_buf *out, const struct train_report *r);

/* For the tasks: `,"NAME":{...}` with the count of each label; "  NAME: C", and a line for each
 * label with its share of `all`. */
void train_check_labels_json(struct ran_buf *out, const char *name, const struct train_summary *s);
void train_check_labels_text(struct ran_buf *out, const char *name, const struct train_summary *s,
                             size_t all);

#endif
