/* attnmask.h - what ran-attnmask is asked about, and its answers. */
#ifndef CMD_ATTNMASK_ATTNMASK_H
#define CMD_ATTNMASK_ATTNMASK_H

#include "cmd/options/write.h"
#include "cmd/records/io.h"
#include "cmd/records/reading.h"

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

/* "A:B", A less than B; they can be any numbers otherwise. */
bool attnmask_parse_rows(const char *text, size_t *from, size_t *to);

/* ---- with a model --------------------------------------------------------------------------- */

/* Whether a picture is asked for, which may be one of letters; else records. */
bool attnmask_draws(const struct attnmask_options *o);

/* Which part of its attention is asked for (attnmask/selection.c). */
struct attnmask_selection {
        struct ran_probe_shape shape; /* of a document of one token */
        size_t layer_from, layer_to;
        size_t head_from, head_to; /* head_from RAN_PROBE_MEAN: the mean of all */
        bool review;               /* and that, or alone where no head is left */
        enum { ATTNMASK_ALL, ATTNMASK_TOKENS, ATTNMASK_WINDOW, ATTNMASK_CELL } by;
        size_t from, to; /* tokens that look, or the window or cell `from` */
};
/* Dies where the model has no such part. picture: of one layer, and of heads that are alike. */
void attnmask_select(struct attnmask_selection *c, const struct attnmask_options *o,
                     const struct ran_config *config, bool picture);
/* All of it, in *probes (grown) and *n, but for sum, in blocks of one: layer by layer, head by
 * head. zoom: of the keys, too, only the tokens that look. RAN_EINVAL where the document has no
 * such part.
 */
int attnmask_probes(const struct attnmask_selection *c, const struct ran_probe_shape *shape,
                    bool zoom, struct ran_probe **probes, size_t *cap, size_t *n,
                    struct ran_error *err);

struct attnmask_model {
        const struct attnmask_options *options;
        const struct ran_model *model;
        struct ran_pool *pool;
        struct cmd_reading_how how;
        struct attnmask_selection selection; /* of --map attention */
        size_t class;                        /* of --label; SIZE_MAX: the most probable */
};
/* What one thread needs. */
struct attnmask_scratch {
        struct ran_state *state;
        struct cmd_reading reading;   /* the document at hand */
        struct ran_probe_shape shape; /* of it */
        struct ran_probe *probes;     /* (n) */
        double *sum;                  /* of all of them */
        struct attnmask_weight {
                double weight;
                size_t key;
        } * ranked;
        size_t n, cap, sum_cap, ranked_cap;
        struct ran_explainer *explainer; /* of the other maps, else NULL */
        double *value;                   /* (L) */
        size_t value_cap;
};
/* Appends what the model paid in the document at hand: a JSON object (attnmask/attention.c). */
int attnmask_attention(const struct attnmask_model *a, struct attnmask_scratch *s,
                       struct ran_buf *out, struct ran_error *err);

/* The same as a picture; says on stderr how to read it (attnmask/panels.c). */
int attnmask_attention_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                               struct cmd_sink *out, struct ran_error *err);

/* The other maps: how tokens bear on a label, or on the outputs of tokens (attnmask/map.c). Dies
 * where the model has nothing of the kind. */
void attnmask_map_select(struct attnmask_model *a);
int attnmask_map(const struct attnmask_model *a, struct attnmask_scratch *s, struct ran_buf *out,
                 struct ran_error *err);
int attnmask_map_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                         struct cmd_sink *out, struct ran_error *err);

/* Panels of numbers, none negative: 0 is white, `most` black. What is much wider than high, or the
 * other way round, is stretched. */
struct attnmask_panels {
        size_t n, width, height;
        double *value; /* (n, height, width) */
        double least, most;
        char **names; /* (n) */
};
/* Sets least and most; what is less than a thousandth of the most is drawn like that. */
void attnmask_scale(struct attnmask_panels *p);
int attnmask_draw(const struct attnmask_options *o, const struct attnmask_panels *panels,
                  struct cmd_sink *out, struct ran_error *err);
/* Characters or pixels across at most: --size, or what fits. */
size_t attnmask_size(const struct attnmask_options *o);

/* The model and the records (attnmask/model.c). */
/* Reads records and answers each of them; returns the program's status. */
int attnmask_model(const struct attnmask_options *options,
                   const struct cmd_document_options *document, const struct cmd_input *input,
                   const struct cmd_output *output, char **files);

#endif
