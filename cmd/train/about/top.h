/* top.h - `ran-train info --top`: the n-grams that speak most for each label. */
#ifndef CMD_TRAIN_ABOUT_TOP_H
#define CMD_TRAIN_ABOUT_TOP_H

#include "cmd/pages/report.h"
#include "cmd/records/io.h"
#include "ran.h"

struct train_top_options {
        size_t top;            /* 0: none */
        struct ran_list texts; /* files to find n-grams in; none: the vocabulary */
        struct cmd_input input;
};

/* Reads the texts and adds the n-grams to a report, as its member "top". Exits if the model has
 * none. Adds the status of records that could not be read to *status. */
void train_top_add(const struct train_top_options *o, const struct ran_model *m, const char *path,
                   struct report *r, int *status);

#endif
