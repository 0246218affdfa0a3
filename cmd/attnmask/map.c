/* map.c - attribution: how each token of a document contributes to its label, or to the outputs of
 * the model for other tokens.
 *
 * Of a label, a token's gain is its contribution to the label's log odds. Of outputs, its move is
 * the root mean square of their change when its embedding row changes. */
#include "cmd/attnmask/attnmask.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"

/* Random signs for each block of rows: the error of a single row is then some fifteen per cent,
 * of a block of several rows less. Blocks across without --size: each row of them costs PROBES
 * backward passes. */
enum { PROBES = 4, BLOCKS = 64 };

/* ---- what was asked ------------------------------------------------------------------------- */

static bool is_label(const struct attnmask_model *a)
{
        return a->options->map == ATTNMASK_MAP_LABEL;
}

static void select_label(struct attnmask_model *a)
{
        const struct attnmask_options *o = a->options;
        const struct ran_model *m = a->model;
        size_t c = 0;

        if (!a->labels)
                cmd_usage("--map label: the model has no labels%s",
                          ran_config_has_layers(ran_model_config(m)) ? "; see --map tokens" : "");
        if (a->tags && o->row == NULL)
                cmd_usage("--map label: the model tags words: give --row I, a token of the word");
        if (!a->tags && o->row != NULL)
                cmd_usage("--map label: the label is of the whole document: leave out --row");
        if (o->label == NULL)
                return;
        while (c < ran_model_classes(m) && strcmp(ran_model_label(m, c), o->label) != 0)
                c++;
        if (c == ran_model_classes(m))
                cmd_usage("the model has no label '%s'", o->label);
        a->class = c;
}

void attnmask_map_select(struct attnmask_model *a)
{
        const struct attnmask_options *o = a->options;
        struct attnmask_selection *c = &a->selection;

        a->class = SIZE_MAX;
        if (is_label(a))
                select_label(a);
        else if (!ran_config_has_token_outputs(ran_model_config(a->model)))
                cmd_usage("--map tokens: this encoder has one output for the document, and none "
                          "for a token");
        *c = (struct attnmask_selection){.by = ATTNMASK_ALL};
        if (o->row != NULL && o->rows != NULL)
                cmd_usage("--row and --rows both select tokens: give one");
        if (o->rows != NULL && !attnmask_parse_rows(o->rows, &c->from, &c->to))
                cmd_usage("--rows must be A:B, with A less than B, not '%s'", o->rows);
        if (o->row != NULL) {
                if (!ran_parse_size(o->row, strlen(o->row), &c->from) || c->from == SIZE_MAX)
                        cmd_usage("--row must be a token, not '%s'", o->row);
                c->to = c->from + 1;
        }
        if (c->to > 0)
                c->by = ATTNMASK_TOKENS;
}

/* ---- values --------------------------------------------------------------------------------- */

/* The label to explain: the row of the output, its class and probability (NaN: unknown). */
struct explained {
        size_t row, class;
        float p;
};

static int ask_classifier(const struct attnmask_model *a, struct attnmask_scratch *s,
                          struct explained *x, struct ran_error *err)
{
        const struct ran_model *m = a->model;
        size_t C = ran_model_classes(m);
        float *p = ran_new_floats(2 * C);
        int rc = ran_classify(m, s->state, &s->reading.tokens, p + C, NULL, err);
        if (rc == RAN_OK) {
                ran_probabilities(ran_model_config(m), p + C, C, p);
                x->class = a->class != SIZE_MAX ? a->class : ran_most_probable(p, C);
                x->p = p[x->class];
        }
        free(p);
        return rc;
}

/* Of the word with that token. */
static int ask_tagger(const struct attnmask_model *a, struct attnmask_scratch *s, size_t token,
                      struct explained *x, struct ran_error *err)
{
        const struct ran_document *d = &s->reading.tokens;
        uint32_t *tags = ran_new(d->words, sizeof *tags);
        float *score = ran_new_floats(d->words);
        int rc = ran_tag(a->model, s->state, d, tags, score, NULL, err);

        if (rc == RAN_OK) {
                for (size_t i = 0; i < d->words && d->positions[i] <= token; i++)
                        x->row = i;
                x->class = a->class != SIZE_MAX ? a->class : tags[x->row];
                x->p = x->class == tags[x->row] ? score[x->row] : NAN;
        }
        free(tags);
        free(score);
        return rc;
}

/* Reads the document, and finds the requested tokens. */
static int read_document(const struct attnmask_model *a, struct attnmask_scratch *s,
                         struct attnmask_map *map, struct ran_error *err)
{
        const struct attnmask_selection *c = &a->selection;
        const struct cmd_reading *r = &s->reading;
        const size_t L = r->tokens.L;

        RAN_ROOM(s->value, s->value_cap, L);
        RAN_TRY(ran_explain_read(s->explainer, &r->tokens, r->sources, err));
        if (c->to > L)
                return ran_fail(err, RAN_EINVAL,
                                "there is no token %zu: the document has %zu, and the first is 0",
                                c->to - 1, L);
        *map = (struct attnmask_map){.to = L};
        if (c->by == ATTNMASK_ALL)
                return RAN_OK;
        map->from = c->from;
        map->to = c->to;
        return RAN_OK;
}

int attnmask_map_values(const struct attnmask_model *a, struct attnmask_scratch *s,
                        struct attnmask_map *map, struct ran_error *err)
{
        struct explained x = {0};

        RAN_TRY(read_document(a, s, map, err));
        if (is_label(a)) {
                RAN_TRY(a->tags ? ask_tagger(a, s, map->from, &x, err)
                                : ask_classifier(a, s, &x, err));
                map->label = ran_model_label(a->model, x.class);
                map->p = (double)x.p;
                return ran_explain_label(s->explainer, x.row, x.class, RAN_EXPLAIN_BEST, s->value,
                                         err);
        }
        RAN_TRY(ran_explain_tokens(s->explainer, map->from, map->to, PROBES, s->value, err));
        for (size_t t = 0; t < s->reading.tokens.L; t++)
                s->value[t] = sqrt(fmax(s->value[t], 0) / (double)(map->to - map->from));
        return RAN_OK;
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* Tokens [from, to) in n blocks of `size`; the last one may be smaller. */
struct blocks {
        size_t from, to, size, n;
};

static struct blocks divide(size_t from, size_t to, size_t most)
{
        size_t size = (to - from - 1) / most + 1;

        return (struct blocks){from, to, size, (to - from - 1) / size + 1};
}

/* The tokens of block i. */
static struct blocks block_of(const struct blocks *b, size_t i)
{
        size_t from = b->from + i * b->size;

        return (struct blocks){.from = from, .to = i + 1 < b->n ? from + b->size : b->to};
}

/* The requested tokens are the outputs of a table, and the tokens that influence them, unless it is
 * one: then these are all. Each row of a table costs PROBES backward passes. */
struct table {
        struct blocks rows, columns;
};

static struct table table_of(const struct attnmask_model *a, const struct attnmask_scratch *s,
                             const struct attnmask_map *map)
{
        const size_t size = a->options->size > 0 ? a->options->size : BLOCKS;
        const struct blocks rows = divide(map->from, map->to, size);

        return (struct table){rows, a->options->row != NULL ? divide(0, s->reading.tokens.L, size)
                                                            : rows};
}

/* s->sum (rows, columns): root mean square change of the outputs of a row's tokens by each token
 * of the column. */
static int fill_table(struct attnmask_scratch *s, const struct table *t, struct ran_error *err)
{
        size_t width = t->columns.n;

        RAN_TRY(RAN_GROW(s->sum, s->sum_cap, t->rows.n * width, err));
        for (size_t i = 0; i < t->rows.n; i++) {
                const struct blocks row = block_of(&t->rows, i);

                RAN_TRY(ran_explain_tokens(s->explainer, row.from, row.to, PROBES, s->value, err));
                for (size_t j = 0; j < width; j++) {
                        const struct blocks column = block_of(&t->columns, j);
                        double pairs =
                                (double)(row.to - row.from) * (double)(column.to - column.from);
                        double sum = 0;

                        for (size_t k = column.from; k < column.to; k++)
                                sum += s->value[k];
                        s->sum[i * width + j] = sqrt(sum / pairs);
                }
        }
        return RAN_OK;
}

/* ---- records -------------------------------------------------------------------------------- */

/* "[1.5,2]" */
static void add_numbers(struct ran_buf *out, const double *x, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                ran_buf_char(out, i == 0 ? '[' : ',');
                ran_buf_float(out, (float)x[i]);
        }
        ran_buf_char(out, ']');
}

static void add_gains(struct ran_buf *out, const struct attnmask_model *a,
                      struct attnmask_scratch *s, const struct attnmask_map *map)
{
        const bool row = a->options->row != NULL; /* of a word, for which all tokens speak */
        const size_t from = row ? 0 : map->from, to = row ? s->reading.tokens.L : map->to;

        if (row) {
                json_name(out, "row");
                json_begin(out, '{');
                cmd_reading_add_token(&s->reading, &a->how, map->from, out);
                json_end(out, '}');
        }
        json_put_text(out, "label", map->label);
        json_put_float(out, "score", (float)map->p);
        attnmask_add_top(out, a, s, RAN_AXIS_TOKENS, from,
                         attnmask_rank(s, s->value + from, to - from, DBL_TRUE_MIN), "gain");
        if (a->options->weights) {
                json_put_size(out, "from", from);
                json_name(out, "gains");
                add_numbers(out, s->value + from, to - from);
        }
}

static int add_moves(struct ran_buf *out, const struct attnmask_model *a,
                     struct attnmask_scratch *s, const struct attnmask_map *map,
                     struct ran_error *err)
{
        const struct table t = table_of(a, s, map);

        ran_buf_printf(out, ",\"rows\":[%zu,%zu]", map->from, map->to);
        attnmask_add_top(out, a, s, RAN_AXIS_TOKENS, 0,
                         attnmask_rank(s, s->value, s->reading.tokens.L, DBL_TRUE_MIN), "move");
        if (!a->options->weights)
                return RAN_OK;
        RAN_TRY(fill_table(s, &t, err));
        ran_buf_printf(out, ",\"block\":[%zu,%zu],\"moves\":[", t.rows.size, t.columns.size);
        for (size_t i = 0; i < t.rows.n; i++) {
                ran_buf_str(out, i > 0 ? "," : "");
                add_numbers(out, s->sum + i * t.columns.n, t.columns.n);
        }
        json_end(out, ']');
        return RAN_OK;
}

int attnmask_map(const struct attnmask_model *a, struct attnmask_scratch *s, struct ran_buf *out,
                 struct ran_error *err)
{
        const struct cmd_reading *r = &s->reading;
        struct attnmask_map map = {0};

        RAN_TRY(attnmask_map_values(a, s, &map, err));
        json_begin(out, '{');
        json_put_text(out, "map", is_label(a) ? "label" : "tokens");
        json_put_size(out, "tokens", r->tokens.L);
        if (r->document != NULL)
                cmd_document_truncated(r->document, out);
        if (is_label(a))
                add_gains(out, a, s, &map);
        else
                RAN_TRY(add_moves(out, a, s, &map, err));
        json_end(out, '}');
        return RAN_OK;
}

/* ---- pictures ------------------------------------------------------------------------------- */

static int draw(const struct attnmask_model *a, struct attnmask_scratch *s,
                const struct cmd_line *line, struct picture *p, struct cmd_sink *out,
                struct ran_error *err)
{
        struct attnmask_map map = {0};

        RAN_TRY(read_document(a, s, &map, err));
        const struct table t = table_of(a, s, &map);
        RAN_TRY(fill_table(s, &t, err));
        RAN_TRY(picture_init(p, 1, t.columns.n, t.rows.n, err));
        p->title = attnmask_title("Influence on the outputs of tokens", line);
        p->down = t.rows.size;
        p->across = t.columns.size;
        p->x_name = "token";
        p->x_from = t.columns.from;
        p->x_to = t.columns.to - 1;
        p->y_name = "output (token)";
        p->y_from = t.rows.from;
        p->y_to = t.rows.to - 1;
        p->legend = "change of the output, in lengths of the token's embedding";
        if (t.columns.size == 1)
                RAN_TRY(attnmask_words(&p->x_words, a, s, line, RAN_AXIS_TOKENS, t.columns.from,
                                       t.columns.to, err));
        if (t.rows.size == 1)
                RAN_TRY(attnmask_words(&p->y_words, a, s, line, RAN_AXIS_TOKENS, t.rows.from,
                                       t.rows.to, err));
        return attnmask_draw(a->options, p, s->sum, out, err);
}

int attnmask_map_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                         const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err)
{
        struct picture p = {0};
        int rc = draw(a, s, line, &p, out, err);

        picture_release(&p);
        return rc;
}
