/* report.h - the report of --check. For check.c and the tasks. */
#ifndef CMD_TRAIN_CHECK_REPORT_H
#define CMD_TRAIN_CHECK_REPORT_H

#include "cmd/pages/report.h"
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
        struct train_pairs duplicates, contradictions, overlap;
        struct train_pairs near_duplicates, near_overlap; /* beside those */
        const struct train_problems *problems, *warnings;
};

void train_report_tree(struct report *r, const struct train_report *c);

/* For the tasks: an object with the count of each label and, for people, its share of `all`; the
 * number of places, and the first TRAIN_LISTED of them. */
void train_report_labels(struct report *r, const char *name, const char *title,
                         const struct train_summary *s, size_t all);
void train_report_places(struct report *r, const char *name, const char *title, size_t n,
                         const struct train_location *at);

#endif
