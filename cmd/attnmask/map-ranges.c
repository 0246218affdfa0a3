/* map-ranges.c - ranges and blocks of tokens, and the most important of them. */
#include <math.h>
#include <stdlib.h>

#include "cmd/attnmask/map.h"

int map_ranges(const struct attnmask_model *a, const struct attnmask_scratch *s,
               struct map_range *rows, struct map_range *columns, struct ran_error *err)
{
        size_t L = s->reading.tokens.L;
        const struct map_range all = {0, L}, asked = {a->selection.from, a->selection.to};

        if (a->selection.to > L)
                return ran_fail(err, RAN_EINVAL,
                                "there is no token %zu: the document has %zu, and the first is 0",
                                a->selection.to - 1, L);
        *rows = a->selection.by == ATTNMASK_ALL ? all : asked;
        *columns = a->options->row != NULL ? all : *rows;
        return RAN_OK;
}

/* ---- blocks --------------------------------------------------------------------------------- */

struct map_blocks map_blocks(struct map_range all, size_t most)
{
        size_t size = (all.to - all.from - 1) / most + 1;

        return (struct map_blocks){all, size, (all.to - all.from - 1) / size + 1};
}

struct map_range map_block(const struct map_blocks *k, size_t i)
{
        size_t from = k->all.from + i * k->size;

        return (struct map_range){from, i + 1 < k->n ? from + k->size : k->all.to};
}

double map_sum(const double *value, struct map_range r)
{
        double sum = 0;

        for (size_t t = r.from; t < r.to; t++)
                sum += value[t];
        return sum;
}

/* ---- records -------------------------------------------------------------------------------- */

/* The largest first, either way. */
static int compare(const void *a, const void *b)
{
        const struct attnmask_weight *x = a, *y = b;

        if (fabs(x->weight) != fabs(y->weight))
                return fabs(x->weight) > fabs(y->weight) ? -1 : 1;
        return (x->key > y->key) - (x->key < y->key);
}

int map_add_top(struct ran_buf *out, const struct attnmask_model *a, struct attnmask_scratch *s,
                const char *name, struct map_range of, struct ran_error *err)
{
        size_t n = 0;
        struct attnmask_weight *got =
                ran_grow(s->ranked, &s->ranked_cap, of.to - of.from, sizeof *got, err);

        if (got == NULL)
                return RAN_ENOMEM;
        s->ranked = got;
        for (size_t t = of.from; t < of.to; t++)
                if (s->value[t] != 0)
                        got[n++] = (struct attnmask_weight){s->value[t], t};
        qsort(got, n, sizeof *got, compare);
        ran_buf_str(out, ",\"top\":[");
        for (size_t i = 0; i < n && i < a->options->top; i++) {
                ran_buf_str(out, i > 0 ? ",{" : "{");
                cmd_reading_add_token(&s->reading, &a->how, got[i].key, out);
                ran_buf_printf(out, ",\"%s\":", name);
                ran_buf_float(out, (float)got[i].weight);
                ran_buf_char(out, '}');
        }
        ran_buf_char(out, ']');
        return RAN_OK;
}

void map_add_numbers(struct ran_buf *out, const double *x, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                ran_buf_char(out, i == 0 ? '[' : ',');
                ran_buf_float(out, (float)x[i]);
        }
        ran_buf_char(out, ']');
}
