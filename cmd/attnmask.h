/* attnmask.h - what ran-attnmask is asked about, and its answers. */
#ifndef CMD_ATTNMASK_H
#define CMD_ATTNMASK_H

#include "cmd.h"
#include "reading.h"

struct attnmask_options {
        struct ran_choices attention;
        int mask, similarity, format;
        size_t length, window, dilation, source, size, reach; /* 0: not given */
        char *row, *rows;
        bool count, table, scores;
        /* With a model. */
        char *model, *layer, *head, *in_window;
        bool verify, weights;
        size_t top;
        int offsets;
};

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

/* ---- with a model (attnmask-model.c) --------------------------------------------------------- */

struct attnmask_model {
        const struct attnmask_options *options;
        const struct ran_model *model;
        struct ran_pool *pool;
        struct cmd_reading_how how;
};
/* What one thread needs. */
struct attnmask_scratch {
        struct ran_state *state;
        struct cmd_reading reading; /* the document at hand */
};
/* Reads records and answers each of them; returns the program's status. */
int attnmask_model(const struct attnmask_options *options,
                   const struct cmd_document_options *document, const struct cmd_input *input,
                   const struct cmd_output *output, char **files);

#endif
