/* model.h - questions about a model: its attention in documents, and attribution. */
#ifndef CMD_ATTNMASK_MODEL_H
#define CMD_ATTNMASK_MODEL_H

#include "cmd/attnmask/attnmask.h"
#include "cmd/records/reading.h"

/* ---- model.c -------------------------------------------------------------------------------- */

/* Reads records and answers each of them, or draws one; returns the program's status. */
int attnmask_model(const struct attnmask_options *options,
                   const struct cmd_document_options *document, const struct cmd_input *input,
                   const struct cmd_output *output, char **files);
/* Whether a picture is asked for, which may be one of letters; else records. */
bool attnmask_draws(const struct attnmask_options *o);

/* ---- selection.c ---------------------------------------------------------------------------- */

/* Which part of the attention is asked for. */
struct attnmask_selection {
        struct ran_probe_shape shape; /* of a document of one token */
        size_t layer_from, layer_to;
        size_t head_from, head_to; /* head_from RAN_PROBE_MEAN: the mean of all */
        bool review;               /* and that, or alone where no head is left */
        enum { ATTNMASK_ALL, ATTNMASK_TOKENS, ATTNMASK_WINDOW, ATTNMASK_CELL } by;
        size_t from, to; /* query tokens, or the window or cell `from` */
};
/* Dies where the model has no such part. picture: of one layer, and of heads of one shape. */
void attnmask_select(struct attnmask_selection *c, const struct attnmask_options *o,
                     const struct ran_config *config, bool picture);
/* Its probes in a document, in *probes (grown) and *n, without sum, in blocks of one: layer by
 * layer, head by head. zoom: keys are limited to the query tokens, too. RAN_EINVAL where the
 * document has no such part. */
int attnmask_probes(const struct attnmask_selection *c, const struct ran_probe_shape *shape,
                    bool zoom, struct ran_probe **probes, size_t *cap, size_t *n,
                    struct ran_error *err);
/* "A:B", A less than B; they can be any numbers otherwise. */
bool attnmask_parse_rows(const char *text, size_t *from, size_t *to);

/* ---- answers -------------------------------------------------------------------------------- */

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

/* Appends the attention in the document at hand: a JSON object (attention.c). */
int attnmask_attention(const struct attnmask_model *a, struct attnmask_scratch *s,
                       struct ran_buf *out, struct ran_error *err);
/* The same as a picture; says on stderr how to read it (attention-picture.c). */
int attnmask_attention_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                               struct cmd_sink *out, struct ran_error *err);

/* The other maps: attribution of a label, or of the outputs of tokens, to tokens (map.c). _select
 * dies where the model has nothing of the kind. */
void attnmask_map_select(struct attnmask_model *a);
int attnmask_map(const struct attnmask_model *a, struct attnmask_scratch *s, struct ran_buf *out,
                 struct ran_error *err);
int attnmask_map_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                         struct cmd_sink *out, struct ran_error *err);

#endif
