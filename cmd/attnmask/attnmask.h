/* attnmask.h - the options of ran-attnmask, and its answers about patterns. */
#ifndef CMD_ATTNMASK_ATTNMASK_H
#define CMD_ATTNMASK_ATTNMASK_H

#include "cmd/options/write.h"
#include "cmd/records/io.h"
#include "cmd/content/reading.h"

struct attnmask_options {
        struct ran_choices attention;
        int mask, similarity, format;
        size_t length, window, dilation, source, size, reach; /* 0: not given */
        char *row, *rows;
        bool count, table, scores;
        /* With a model. */
        char *model, *layer, *head, *in_window;
        bool verify, weights, align;
        size_t top;
        int offsets, map;
        char *label;
};
enum { ATTNMASK_MAP_ATTENTION, ATTNMASK_MAP_LABEL, ATTNMASK_MAP_TOKENS };

/* One for each name in --attention. */
struct attnmask_head {
        int pattern;
        struct ran_mask mask;
};
struct attnmask {
        const struct attnmask_options *options;
        struct attnmask_head *heads;
        char **names; /* (n) "dispersed(4)" */
        size_t n;
        size_t from, to; /* --rows, else all; --row: that one alone */
};

/* Each appends its answer to out. RAN_ENOMEM and RAN_EINVAL are possible. */
int attnmask_grid(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err);
int attnmask_rows(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err);
int attnmask_row(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err);
int attnmask_count(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err);
/* Needs no heads: it has patterns and lengths of its own. */
int attnmask_table(const struct attnmask *a, struct cmd_sink *out, struct ran_error *err);

/* Adds the attention scores of its vectors to each record; returns the program's status. */
int attnmask_scores(const struct attnmask_options *options, const struct cmd_input *input,
                    const struct cmd_output *output, char **files);

#endif
