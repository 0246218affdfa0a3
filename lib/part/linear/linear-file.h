/* linear-file.h - the linear model in a model file: the rows that are not zero, with their buckets
 * in the tensor wide.rows (linear-rows.h). The table and its idf stay in the file, in fewer bits if
 * it has them so (tensors/compact.h). Called for models that have a predictor. */
#ifndef RAN_PART_LINEAR_FILE_H
#define RAN_PART_LINEAR_FILE_H

#include "part/linear/linear-model.h"
#include "part/linear/linear-rows.h"

#define RAN_LINEAR_ROWS_TENSOR "wide.rows"

/* What an open model has of it; zero-initialise. */
struct ran_linear_stored {
        struct ran_linear_rows rows; /* n 0: all rows of the linear model are there */
        uint32_t *buckets;           /* those of rows, where the file's cannot be used in place */
        uint32_t *affixes;           /* of the vocabulary's subwords, as rows */
};
/* In this order: rows.n, once the configuration is known; for each table that cannot be used as
 * floats in place, whether it stays in the file; the rows, with all weights; and with the
 * vocabulary, or NULL. */
int ran_linear_measure(struct ran_linear_stored *s, const struct ran_tensors *file,
                       struct ran_error *err);
bool ran_linear_keep(struct ran_params *p, const struct ran_mapped_table *table,
                     const struct ran_tensors *file, const struct ran_tensor *t);
int ran_linear_read_rows(struct ran_linear_stored *s, struct ran_params *p,
                         const struct ran_config *c, const struct ran_tensors *file,
                         struct ran_error *err);
int ran_linear_use_tokenizer(struct ran_linear_stored *s, struct ran_params *p,
                             const struct ran_config *c, const struct ran_tokenizer *tokenizer,
                             struct ran_error *err);
void ran_linear_stored_release(struct ran_linear_stored *s);

/* The rows that are written, and what stands in place of the tables in p, a copy, meanwhile: the
 * buckets are added to `to`. */
struct ran_linear_written {
        struct ran_linear_sparse sparse;
        struct ran_linear_params own;
};
void ran_linear_gather(struct ran_linear_written *w, struct ran_params *p,
                       const struct ran_config *c, size_t C, struct ran_compact_tensors *to);

#endif
