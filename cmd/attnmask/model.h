/* model.h - questions about a model: its attention in documents, and attribution. */
#ifndef CMD_ATTNMASK_MODEL_H
#define CMD_ATTNMASK_MODEL_H

#include "cmd/attnmask/attnmask.h"
#include "cmd/records/loop.h"
#include "cmd/content/reading.h"

/* ---- model.c -------------------------------------------------------------------------------- */

/* Reads records and answers each of them, or draws one; returns the program's status. */
int attnmask_model(const struct attnmask_options *options,
                   const struct cmd_document_options *document, const struct cmd_input *input,
                   const struct cmd_output *output, char **files);
/* Whether the output is a picture (perhaps of letters); else records. */
bool attnmask_draws(const struct attnmask_options *o);

/* ---- selection.c ---------------------------------------------------------------------------- */

/* The requested part of the attention. */
struct attnmask_selection {
        struct ran_probe_shape shape; /* of a document of one token */
        size_t layer_from, layer_to;
        size_t head_from, head_to; /* head_from RAN_PROBE_MEAN: the mean of all */
        bool review;               /* and the mean; the mean alone if no head is given */
        enum { ATTNMASK_ALL, ATTNMASK_TOKENS, ATTNMASK_WINDOW, ATTNMASK_CELL } by;
        size_t from, to; /* query tokens, or the window or cell `from` */
};
/* Exits if the model has no such part. picture: requires one layer, and heads of one shape. */
void attnmask_select(struct attnmask_selection *c, const struct attnmask_options *o,
                     const struct ran_config *config, bool picture);
/* Its probes in a document, in *probes (grown) and *n, without sum, in blocks of one: layer by
 * layer, head by head. zoom: limits keys to the query tokens, too. RAN_EINVAL if the document
 * has no such part. */
int attnmask_probes(const struct attnmask_selection *c, const struct ran_probe_shape *shape,
                    bool zoom, struct ran_probe **probes, size_t *cap, size_t *n,
                    struct ran_error *err);
/* "A:B", any numbers with A < B. */
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
/* Each thread has one. */
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

/* Appends the attention in the current document: a JSON object (attention.c). */
int attnmask_attention(const struct attnmask_model *a, struct attnmask_scratch *s,
                       struct ran_buf *out, struct ran_error *err);
/* The same as a picture; explains on stderr how to read it (attention-picture.c). */
int attnmask_attention_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                               const struct cmd_line *line, struct cmd_sink *out,
                               struct ran_error *err);

/* The same as a page (page.c). _begin: its title, the name of the document, the model
 * (page-map.c). */
int attnmask_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                  const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err);
void attnmask_page_begin(const struct attnmask_model *a, const struct attnmask_scratch *s,
                         const struct cmd_line *line, const char *title, struct ran_buf *out);

/* --align (align.c): the source tokens that each target token of the current document looked at, as
 * JSON, or as a grid in a format of picture.h. RAN_EFORMAT for a record without a source or a
 * target. _check exits if the model reads no source. */
void attnmask_align_check(const struct attnmask_model *a);
int attnmask_align(const struct attnmask_model *a, struct attnmask_scratch *s, struct ran_buf *out,
                   struct ran_error *err);
int attnmask_align_draw(const struct attnmask_model *a, struct attnmask_scratch *s,
                        const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err);

/* The other maps: attribution of a label, or of the outputs of tokens, to tokens (map.c).
 * _select exits if the model does not support it. */
void attnmask_map_select(struct attnmask_model *a);
int attnmask_map(const struct attnmask_model *a, struct attnmask_scratch *s, struct ran_buf *out,
                 struct ran_error *err);
int attnmask_map_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                         const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err);
/* Writes a page: the text, coloured (page-map.c). */
int attnmask_map_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                      const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err);

#endif
