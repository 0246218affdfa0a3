/* map.h - attribution: declarations for map.c, map-label.c, map-tokens.c and map-ranges.c. */
#ifndef CMD_ATTNMASK_MAP_H
#define CMD_ATTNMASK_MAP_H

#include "cmd/attnmask/model.h"
#include "cmd/attnmask/panels.h"

/* ---- map-ranges.c --------------------------------------------------------------------------- */

/* Tokens [from, to). */
struct map_range {
        size_t from, to;
};
/* The requested rows, and their columns (with --row all). RAN_EINVAL if the document has no such
 * token. */
int map_ranges(const struct attnmask_model *a, const struct attnmask_scratch *s,
               struct map_range *rows, struct map_range *columns, struct ran_error *err);

/* A range in n blocks of `size`; the last one may be smaller. */
struct map_blocks {
        struct map_range all;
        size_t size, n;
};
struct map_blocks map_blocks(struct map_range all, size_t most);
struct map_range map_block(const struct map_blocks *k, size_t i);
/* The rows and columns of a table of blocks. */
struct map_table {
        struct map_blocks rows, columns;
};

double map_sum(const double *value, struct map_range r);

/* Appends the values of s->value with the largest magnitude in a range: `,"top":[...]`, each as
 * member `name`. */
int map_add_top(struct ran_buf *out, const struct attnmask_model *a, struct attnmask_scratch *s,
                const char *name, struct map_range of, struct ran_error *err);
/* Appends an array of numbers. */
void map_add_numbers(struct ran_buf *out, const double *x, size_t n);

/* ---- pages ---------------------------------------------------------------------------------- */

/* This describes s->value (L). */
struct map_said {
        const char *label; /* NULL: the outputs of tokens [from, to) */
        double p;          /* of the label; NaN: unknown */
        size_t from, to;
};
/* Reads the current document and fills s->value, without blocks (map.c). */
int attnmask_map_values(const struct attnmask_model *a, struct attnmask_scratch *s,
                        struct map_said *said, struct ran_error *err);
int map_label_values(const struct attnmask_model *a, struct attnmask_scratch *s,
                     struct map_said *said, struct ran_error *err);
int map_tokens_values(const struct attnmask_model *a, struct attnmask_scratch *s,
                      struct map_said *said, struct ran_error *err);

/* ---- map-label.c ---------------------------------------------------------------------------- */

/* Whether a model has labels, and whether they are of words (tags). */
bool map_has_labels(const struct ran_model *m);
bool map_labels_words(const struct ran_model *m);
/* Exits if the model has no labels, or cannot do the requested attribution. */
void map_label_select(struct attnmask_model *a);
int map_label_add(struct ran_buf *out, const struct attnmask_model *a, struct attnmask_scratch *s,
                  struct ran_error *err);
/* Two panels: evidence for the label, and against it. */
int map_label_panels(const struct attnmask_model *a, struct attnmask_scratch *s,
                     struct attnmask_panels *p, struct map_table *t, struct ran_error *err);

/* ---- map-tokens.c --------------------------------------------------------------------------- */

void map_tokens_select(struct attnmask_model *a);
int map_tokens_add(struct ran_buf *out, const struct attnmask_model *a, struct attnmask_scratch *s,
                   struct ran_error *err);
int map_tokens_panels(const struct attnmask_model *a, struct attnmask_scratch *s,
                      struct attnmask_panels *p, struct map_table *t, struct ran_error *err);

#endif
