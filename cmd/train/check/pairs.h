/* pairs.h - what --check says of pairs of source and target. */
#ifndef CMD_TRAIN_CHECK_PAIRS_H
#define CMD_TRAIN_CHECK_PAIRS_H

#include "cmd/train/check/report.h"

/* Places of pairs; the first TRAIN_LISTED are kept. */
struct train_places {
        size_t n;
        struct train_location at[TRAIN_LISTED];
};

struct train_pair_summary {
        size_t n; /* pairs of texts; 0: the data have none */
        double source[TRAIN_PERCENTILES], target[TRAIN_PERCENTILES]; /* tokens */
        double ratio[TRAIN_PERCENTILES]; /* of target tokens to source tokens */
        struct train_places unusual;     /* more than three times the median ratio, or less than a
                                          * third, with at least ten tokens on one side */
        struct train_places copies;      /* the target is the source */
        struct train_places swapped;     /* by its tokens, the source is rather a target, and the
                                          * target a source */
        struct train_places alien;       /* the same of one of both: perhaps in a wrong language */
};
void train_check_pairs(struct train_pair_summary *p, const struct train_data *data);
/* Adds an object; nothing without pairs. */
void train_check_pairs_tree(struct report *r, const struct train_pair_summary *p);

#endif
