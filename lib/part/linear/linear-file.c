/* linear-file.c - see linear-file.h. */
#include "part/linear/linear-file.h"
#include "tensors/compact.h"
#include "ran/model.h"

#include <stdlib.h>

int ran_linear_measure(struct ran_linear_stored *s, const struct ran_tensors *file,
                       struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(file, RAN_LINEAR_ROWS_TENSOR);

        if (t == NULL)
                return RAN_OK;
        if (t->dtype != RAN_DTYPE_U32 || t->rank != 1 || t->elements == 0)
                return ran_fail(err, RAN_EFORMAT, "tensor %s is not a list of U32",
                                RAN_LINEAR_ROWS_TENSOR);
        s->rows.n = t->elements;
        return RAN_OK;
}

bool ran_linear_keep(struct ran_params *p, const struct ran_mapped_table *table,
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

int ran_linear_read_rows(struct ran_linear_stored *s, struct ran_params *p,
                         const struct ran_config *c, const struct ran_tensors *file,
                         struct ran_error *err)
{
        if (s->rows.n == 0)
                return RAN_OK;
        const struct ran_tensor *t = ran_tensors_find(file, RAN_LINEAR_ROWS_TENSOR);
        const uint32_t *bucket = ran_tensor_integers(file, t, &s->buckets);
        ran_linear_of(p)->rows = &s->rows;
        return ran_linear_rows_init(&s->rows, bucket, t->elements, c->linear.wide, err);
}

int ran_linear_use_tokenizer(struct ran_linear_stored *s, struct ran_params *p,
                             const struct ran_config *c, const struct ran_tokenizer *tokenizer,
                             struct ran_error *err)
{
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

void ran_linear_stored_release(struct ran_linear_stored *s)
{
        ran_linear_rows_release(&s->rows);
        free(s->buckets);
        free(s->affixes);
}

/* ---- writing --------------------------------------------------------------------------------- */

void ran_linear_gather(struct ran_linear_written *w, struct ran_params *p,
                       const struct ran_config *c, size_t C, struct ran_compact_tensors *to)
{
        struct ran_linear_sparse *sparse = &w->sparse;
        void **own = &p->own[p->own[RAN_PART_LINEAR] != NULL ? RAN_PART_LINEAR : RAN_PART_WORDS];

        w->own = *ran_linear_of(p);
        ran_linear_sparse_init(sparse, &w->own, c->linear.wide, C);
        w->own.wide = sparse->weight;
        w->own.idf = sparse->idf;
        *own = &w->own;
        const struct ran_tensor_source buckets = {.name = RAN_LINEAR_ROWS_TENSOR,
                                                  .dtype = RAN_DTYPE_U32,
                                                  .rank = 1,
                                                  .shape = {sparse->n},
                                                  .data = sparse->bucket};
        ran_compact_add(to, &buckets);
}
