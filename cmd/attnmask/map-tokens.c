/* map-tokens.c - attribution of the outputs of tokens to tokens: the change of an output when a
 * token's embedding row changes. */
#include <math.h>
#include <stdlib.h>

#include "cmd/attnmask/map.h"
#include "cmd/options/message.h"

/* Random signs for each block of rows: the error of a single row is then some fifteen per cent,
 * of a block of several rows less. Blocks across without --size: each row of them costs PROBES
 * backward passes. */
enum { PROBES = 4, BLOCKS = 64 };

void map_tokens_select(struct attnmask_model *a)
{
        if (!ran_config_has_token_outputs(ran_model_config(a->model)))
                cmd_usage("--map tokens: this encoder has one output for the document, and none "
                          "for a token");
}

/* The rows and columns of a table; each row costs PROBES backward passes. */
static struct map_table table_of(const struct attnmask_options *o, struct map_range rows,
                                 struct map_range columns)
{
        size_t most = o->size > 0 ? o->size : BLOCKS;

        return (struct map_table){map_blocks(rows, most), map_blocks(columns, most)};
}

/* s->sum (rows, columns): root mean square change of the outputs of a row's tokens by each token
 * of the column. */
static int fill(struct attnmask_scratch *s, const struct map_table *t, struct ran_error *err)
{
        size_t width = t->columns.n;
        double *cell = ran_grow(s->sum, &s->sum_cap, t->rows.n * width, sizeof *cell, err);

        if (cell == NULL)
                return RAN_ENOMEM;
        s->sum = cell;
        for (size_t i = 0; i < t->rows.n; i++) {
                const struct map_range row = map_block(&t->rows, i);

                RAN_TRY(ran_explain_tokens(s->explainer, row.from, row.to, PROBES, s->value, err));
                for (size_t j = 0; j < width; j++) {
                        const struct map_range column = map_block(&t->columns, j);
                        double pairs =
                                (double)(row.to - row.from) * (double)(column.to - column.from);

                        cell[i * width + j] = sqrt(map_sum(s->value, column) / pairs);
                }
        }
        return RAN_OK;
}

static int add_table(struct ran_buf *out, const struct attnmask_model *a,
                     struct attnmask_scratch *s, struct map_range rows, struct map_range columns,
                     struct ran_error *err)
{
        const struct map_table t = table_of(a->options, rows, columns);

        RAN_TRY(fill(s, &t, err));
        ran_buf_printf(out, ",\"block\":[%zu,%zu],\"moves\":[", t.rows.size, t.columns.size);
        for (size_t i = 0; i < t.rows.n; i++) {
                ran_buf_str(out, i > 0 ? "," : "");
                map_add_numbers(out, s->sum + i * t.columns.n, t.columns.n);
        }
        ran_buf_char(out, ']');
        return RAN_OK;
}

int map_tokens_add(struct ran_buf *out, const struct attnmask_model *a, struct attnmask_scratch *s,
                   struct ran_error *err)
{
        const struct map_range all = {0, s->reading.tokens.L};
        struct map_range rows, columns;

        RAN_TRY(map_ranges(a, s, &rows, &columns, err));
        RAN_TRY(ran_explain_tokens(s->explainer, rows.from, rows.to, PROBES, s->value, err));
        for (size_t t = 0; t < all.to; t++)
                s->value[t] = sqrt(s->value[t] / (double)(rows.to - rows.from));
        ran_buf_printf(out, ",\"rows\":[%zu,%zu]", rows.from, rows.to);
        RAN_TRY(map_add_top(out, a, s, "move", all, err));
        return a->options->weights ? add_table(out, a, s, rows, columns, err) : RAN_OK;
}

int map_tokens_panels(const struct attnmask_model *a, struct attnmask_scratch *s,
                      struct attnmask_panels *p, struct map_table *t, struct ran_error *err)
{
        struct map_range rows, columns;

        RAN_TRY(map_ranges(a, s, &rows, &columns, err));
        *t = table_of(a->options, rows, columns);
        RAN_TRY(fill(s, t, err));
        *p = (struct attnmask_panels){
                .n = 1, .width = t->columns.n, .height = t->rows.n, .value = s->sum};
        attnmask_scale(p);
        return RAN_OK;
}

int map_tokens_values(const struct attnmask_model *a, struct attnmask_scratch *s,
                      struct map_said *said, struct ran_error *err)
{
        struct map_range rows, columns;

        RAN_TRY(map_ranges(a, s, &rows, &columns, err));
        RAN_TRY(ran_explain_tokens(s->explainer, rows.from, rows.to, PROBES, s->value, err));
        for (size_t t = 0; t < s->reading.tokens.L; t++)
                s->value[t] = sqrt(fmax(s->value[t], 0) / (double)(rows.to - rows.from));
        *said = (struct map_said){.from = rows.from, .to = rows.to};
        return RAN_OK;
}
