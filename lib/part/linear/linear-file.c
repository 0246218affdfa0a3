/* linear-file.c - the linear model in a model file: the rows that are not zero, with their buckets
 * in wide.rows (linear-rows.h). The table and its idf stay in the file, in fewer bits if it has
 * them so (tensors/compact.h). */
#include "part/linear/linear-model.h"
#include "part/linear/linear-rows.h"
#include "tensors/compact.h"
#include "ran/model.h"

#include <stdlib.h>

static const char rows_tensor[] = "wide.rows";

/* ---- reading --------------------------------------------------------------------------------- */

/* What an open model has of it. */
struct stored {
        struct ran_linear_rows rows; /* n 0: all rows of the linear model are there */
        uint32_t *buckets;           /* those of rows, where the file's cannot be used in place */
        uint32_t *affixes;           /* of the vocabulary's subwords, as rows */
};

static int measure(void *stored, const struct ran_tensors *file, size_t *rows,
                   struct ran_error *err)
{
        struct stored *s = stored;
        const struct ran_tensor *t = ran_tensors_find(file, rows_tensor);

        if (t == NULL)
                return RAN_OK;
        if (t->dtype != RAN_DTYPE_U32 || t->rank != 1 || t->elements == 0)
                return ran_fail(err, RAN_EFORMAT, "tensor %s is not a list of U32", rows_tensor);
        *rows = s->rows.n = t->elements;
        return RAN_OK;
}

static bool keep(struct ran_params *p, const struct ran_mapped_table *table,
                 const struct ran_tensors *file, const struct ran_tensor *t)
{
        struct ran_linear_params *own = ran_linear_of(p);
        struct ran_linear_compact *c = &own->compact;
        const bool halves = t->dtype == RAN_DTYPE_F16;

        if (table->at == &own->idf) {
                c->idf = halves ? ran_tensor_elements(file, t) : NULL;
                return c->idf != NULL;
        }
        if (table->at != &own->wide)
                return false;
        c->rows = t->shape[0];
        c->f16 = halves ? ran_tensor_elements(file, t) : NULL;
        const struct ran_tensor *scales =
                t->dtype == RAN_DTYPE_I8 ? ran_tensor_scales(file, t, NULL) : NULL;
        c->scale = scales != NULL ? ran_tensor_in_place(file, scales) : NULL;
        c->i8 = c->scale != NULL ? ran_tensor_elements(file, t) : NULL;
        return c->f16 != NULL || c->i8 != NULL;
}

static int read_rows(void *stored, struct ran_params *p, const struct ran_config *c,
                     const struct ran_tensors *file, struct ran_error *err)
{
        struct stored *s = stored;

        if (s->rows.n == 0)
                return RAN_OK;
        const struct ran_tensor *t = ran_tensors_find(file, rows_tensor);
        const uint32_t *bucket = ran_tensor_integers(file, t, &s->buckets);
        ran_linear_of(p)->rows = &s->rows;
        return ran_linear_rows_init(&s->rows, bucket, t->elements, c->linear.wide, err);
}

static int use_tokenizer(void *stored, struct ran_params *p, const struct ran_config *c,
                         const struct ran_tokenizer *tokenizer, struct ran_error *err)
{
        struct stored *s = stored;

        if (!ran_linear_model_wants_affixes(c))
                return RAN_OK;
        if (tokenizer == NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "the linear model uses prefixes and suffixes, but the model has no "
                                "tokenizer");
        struct ran_linear_params *own = ran_linear_of(p);
        const size_t all = ran_tokenizer_size(tokenizer) * RAN_AFFIX_ROW;
        own->affixes = s->affixes = ran_linear_model_affixes(tokenizer, c, err);
        if (s->affixes == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < all; i++)
                if (i % RAN_AFFIX_ROW < RAN_AFFIXES && s->affixes[i] != RAN_NO_AFFIX)
                        s->affixes[i] = ran_linear_row(own, s->affixes[i]);
        return RAN_OK;
}

static void release(void *stored)
{
        struct stored *s = stored;

        ran_linear_rows_release(&s->rows);
        free(s->buckets);
        free(s->affixes);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The rows that are written, and what stands in place of the tables meanwhile. */
struct written {
        struct ran_linear_sparse sparse;
        struct ran_linear_params own;
};

static void gather(void *written, struct ran_params *p, const struct ran_config *c, size_t C,
                   struct ran_compact_tensors *to, size_t *rows)
{
        struct written *w = written;
        struct ran_linear_sparse *sparse = &w->sparse;
        void **own = &p->own[p->own[RAN_PART_LINEAR] != NULL ? RAN_PART_LINEAR : RAN_PART_WORDS];

        w->own = *ran_linear_of(p);
        ran_linear_sparse_init(sparse, &w->own, c->linear.wide, C);
        w->own.wide = sparse->weight;
        w->own.idf = sparse->idf;
        *own = &w->own;
        *rows = sparse->n;
        const struct ran_tensor_source buckets = {.name = rows_tensor,
                                                  .dtype = RAN_DTYPE_U32,
                                                  .rank = 1,
                                                  .shape = {sparse->n},
                                                  .data = sparse->bucket};
        ran_compact_add(to, &buckets);
}

static void release_written(void *written)
{
        struct written *w = written;

        ran_linear_sparse_release(&w->sparse);
}

const struct ran_part_file ran_linear_file = {
        .besides = rows_tensor,
        .stored_size = sizeof(struct stored),
        .measure = measure,
        .keep = keep,
        .read = read_rows,
        .use_tokenizer = use_tokenizer,
        .release = release,
        .written_size = sizeof(struct written),
        .gather = gather,
        .release_written = release_written,
};
