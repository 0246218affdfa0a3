/* map.c - how each token of a document bears on its label, or on the outputs of the model
 * for other tokens. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/attnmask/attnmask.h"
#include "cmd/attnmask/picture.h"

/* Random signs a block of rows: a row alone is then right within some fifteen per cent, and a block
 * of several better than that. Blocks across, when nobody says how many: each row of them is PROBES
 * backward passes. */
enum { PROBES = 4, BLOCKS = 64 };

/* ---- what was asked ------------------------------------------------------------------------- */

static size_t class_of(const struct ran_model *m, const char *name)
{
        for (size_t c = 0; c < ran_model_classes(m); c++)
                if (strcmp(ran_model_label(m, c), name) == 0)
                        return c;
        cmd_usage("the model has no label '%s'", name);
}

/* Which tokens: those of --rows, or that of --row. */
static void choose_tokens(struct attnmask_choice *c, const struct attnmask_options *o)
{
        *c = (struct attnmask_choice){.by = ATTNMASK_ALL};
        if (o->row != NULL && o->rows != NULL)
                cmd_usage("--row and --rows say in two ways which tokens: give one");
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

void attnmask_map_choose(struct attnmask_model *a)
{
        const struct attnmask_options *o = a->options;
        const struct ran_config *c = ran_model_config(a->model);
        bool label = o->map == ATTNMASK_MAP_LABEL;

        if (label && c->task != RAN_TASK_CLASSIFY && c->task != RAN_TASK_TAG)
                cmd_usage("--map label: a language model gives no labels; --map tokens shows what "
                          "tokens bear on");
        if (label && c->task == RAN_TASK_TAG && o->row == NULL)
                cmd_usage("--map label: the model tags words: which one? give --row I, a token of "
                          "it");
        if (label && c->task == RAN_TASK_CLASSIFY && o->row != NULL)
                cmd_usage("--map label: the label is of the whole document: not with --row");
        if (!label && !ran_config_has_token_outputs(c))
                cmd_usage("--map tokens: a Contextualizer makes one vector of a document and none "
                          "of a token");
        a->class = o->label != NULL ? class_of(a->model, o->label) : SIZE_MAX;
        choose_tokens(&a->choice, o);
}

/* The tokens that are asked for, and those that are shown beside them: with --row all. */
struct range {
        size_t from, to;
};

static int ranges(const struct attnmask_model *a, const struct attnmask_scratch *s,
                  struct range *rows, struct range *columns, struct ran_error *err)
{
        size_t L = s->reading.tokens.L;
        const struct range all = {0, L}, asked = {a->choice.from, a->choice.to};

        if (a->choice.to > L)
                return ran_fail(err, RAN_EINVAL,
                                "there is no token %zu: the document has %zu, and the first is 0",
                                a->choice.to - 1, L);
        *rows = a->choice.by == ATTNMASK_ALL ? all : asked;
        *columns = a->options->row != NULL ? all : *rows;
        return RAN_OK;
}

/* ---- token to label ------------------------------------------------------------------------- */

/* What is explained: a class, and its probability, NaN where nobody computes it. */
struct answer {
        size_t row, class;
        float p;
};

static int ask_classifier(const struct attnmask_model *a, struct attnmask_scratch *s,
                          struct answer *answer, struct ran_error *err)
{
        const struct ran_model *m = a->model;
        size_t C = ran_model_classes(m);
        float *p = ran_alloc_floats(2 * C, err);

        if (p == NULL)
                return RAN_ENOMEM;
        int code = ran_classify(m, s->state, &s->reading.tokens, p + C, NULL, err);
        if (code == RAN_OK) {
                ran_probabilities(ran_model_config(m), p + C, C, p);
                answer->class = a->class != SIZE_MAX ? a->class : ran_most_probable(p, C);
                answer->p = p[answer->class];
        }
        free(p);
        return code;
}

static int ask_tagger(const struct attnmask_model *a, struct attnmask_scratch *s, size_t token,
                      struct answer *answer, struct ran_error *err)
{
        const struct ran_document *d = &s->reading.tokens;
        uint32_t *tags = ran_alloc(d->words, sizeof *tags, err);
        float *score = ran_alloc_floats(d->words, err);
        int code = tags != NULL && score != NULL
                           ? ran_tag(a->model, s->state, d, tags, score, NULL, err)
                           : RAN_ENOMEM;

        if (code == RAN_OK) {
                for (size_t i = 0; i < d->words && d->positions[i] <= token; i++)
                        answer->row = i;
                answer->class = a->class != SIZE_MAX ? a->class : tags[answer->row];
                answer->p = answer->class == tags[answer->row] ? score[answer->row] : NAN;
        }
        free(tags);
        free(score);
        return code;
}

/* Fills s->value with what each token adds. */
static int explain_label(const struct attnmask_model *a, struct attnmask_scratch *s, size_t token,
                         struct answer *answer, struct ran_error *err)
{
        *answer = (struct answer){0};
        int code = ran_model_config(a->model)->task == RAN_TASK_TAG
                           ? ask_tagger(a, s, token, answer, err)
                           : ask_classifier(a, s, answer, err);

        return code == RAN_OK ? ran_explain_label(s->explainer, answer->row, answer->class,
                                                  RAN_EXPLAIN_STEPS, s->value, err)
                              : code;
}

/* ---- token to token ------------------------------------------------------------------------- */

/* A range in n blocks of `size`, the last of them smaller. */
struct blocks {
        struct range all;
        size_t size, n;
};

static struct blocks cut(struct range all, size_t most)
{
        size_t size = (all.to - all.from - 1) / most + 1;

        return (struct blocks){all, size, (all.to - all.from - 1) / size + 1};
}

static struct range block(const struct blocks *k, size_t i)
{
        size_t from = k->all.from + i * k->size;

        return (struct range){from, i + 1 < k->n ? from + k->size : k->all.to};
}

static double sum_of(const double *value, struct range r)
{
        double sum = 0;

        for (size_t t = r.from; t < r.to; t++)
                sum += value[t];
        return sum;
}

/* The rows and columns of a table of blocks; each row costs PROBES backward passes. */
struct table {
        struct blocks rows, columns;
};

static struct table table_of(const struct attnmask_options *o, struct range rows,
                             struct range columns)
{
        size_t most = o->size > 0 ? o->size : BLOCKS;

        return (struct table){cut(rows, most), cut(columns, most)};
}

/* s->sum (rows, columns): how far, in the root of the mean square, the outputs of a row's tokens
 * move by each token of the column. */
static int fill(struct attnmask_scratch *s, const struct table *t, struct ran_error *err)
{
        size_t width = t->columns.n;
        double *cell = ran_grow(s->sum, &s->sum_cap, t->rows.n * width, sizeof *cell, err);

        if (cell == NULL)
                return RAN_ENOMEM;
        s->sum = cell;
        for (size_t i = 0; i < t->rows.n; i++) {
                const struct range row = block(&t->rows, i);
                int code =
                        ran_explain_tokens(s->explainer, row.from, row.to, PROBES, s->value, err);

                if (code != RAN_OK)
                        return code;
                for (size_t j = 0; j < width; j++) {
                        const struct range column = block(&t->columns, j);
                        double pairs =
                                (double)(row.to - row.from) * (double)(column.to - column.from);

                        cell[i * width + j] = sqrt(sum_of(s->value, column) / pairs);
                }
        }
        return RAN_OK;
}

/* ---- records -------------------------------------------------------------------------------- */

/* What bears most, either way, first. */
static int compare(const void *a, const void *b)
{
        const struct attnmask_got *x = a, *y = b;

        if (fabs(x->weight) != fabs(y->weight))
                return fabs(x->weight) > fabs(y->weight) ? -1 : 1;
        return (x->key > y->key) - (x->key < y->key);
}

static int add_top(struct ran_buf *out, const struct attnmask_model *a, struct attnmask_scratch *s,
                   const char *name, struct range of, struct ran_error *err)
{
        size_t n = 0;
        struct attnmask_got *got = ran_grow(s->got, &s->got_cap, of.to - of.from, sizeof *got, err);

        if (got == NULL)
                return RAN_ENOMEM;
        s->got = got;
        for (size_t t = of.from; t < of.to; t++)
                if (s->value[t] != 0)
                        got[n++] = (struct attnmask_got){s->value[t], t};
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

static void add_numbers(struct ran_buf *out, const double *x, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                ran_buf_char(out, i == 0 ? '[' : ',');
                ran_buf_float(out, (float)x[i]);
        }
        ran_buf_char(out, ']');
}

static int add_label_map(struct ran_buf *out, const struct attnmask_model *a,
                         struct attnmask_scratch *s, struct ran_error *err)
{
        struct range rows, columns;
        struct answer answer;
        int code = ranges(a, s, &rows, &columns, err);

        if (code == RAN_OK)
                code = explain_label(a, s, rows.from, &answer, err);
        if (code != RAN_OK)
                return code;
        if (a->options->row != NULL) {
                ran_buf_str(out, ",\"row\":{");
                cmd_reading_add_token(&s->reading, &a->how, rows.from, out);
                ran_buf_char(out, '}');
        }
        const char *label = ran_model_label(a->model, answer.class);
        ran_buf_str(out, ",\"label\":");
        ran_buf_json(out, label, strlen(label));
        ran_buf_str(out, ",\"score\":");
        ran_buf_float(out, answer.p);
        code = add_top(out, a, s, "gain", columns, err);
        if (code == RAN_OK && a->options->weights) {
                ran_buf_printf(out, ",\"from\":%zu,\"gains\":", columns.from);
                add_numbers(out, s->value + columns.from, columns.to - columns.from);
        }
        return code;
}

static int add_table(struct ran_buf *out, const struct attnmask_model *a,
                     struct attnmask_scratch *s, struct range rows, struct range columns,
                     struct ran_error *err)
{
        const struct table t = table_of(a->options, rows, columns);
        int code = fill(s, &t, err);

        ran_buf_printf(out, ",\"block\":[%zu,%zu],\"moves\":[", t.rows.size, t.columns.size);
        for (size_t i = 0; i < t.rows.n && code == RAN_OK; i++) {
                ran_buf_str(out, i > 0 ? "," : "");
                add_numbers(out, s->sum + i * t.columns.n, t.columns.n);
        }
        ran_buf_char(out, ']');
        return code;
}

static int add_token_map(struct ran_buf *out, const struct attnmask_model *a,
                         struct attnmask_scratch *s, struct ran_error *err)
{
        const struct range all = {0, s->reading.tokens.L};
        struct range rows, columns;
        int code = ranges(a, s, &rows, &columns, err);

        if (code == RAN_OK)
                code = ran_explain_tokens(s->explainer, rows.from, rows.to, PROBES, s->value, err);
        if (code != RAN_OK)
                return code;
        for (size_t t = 0; t < all.to; t++)
                s->value[t] = sqrt(s->value[t] / (double)(rows.to - rows.from));
        ran_buf_printf(out, ",\"rows\":[%zu,%zu]", rows.from, rows.to);
        code = add_top(out, a, s, "move", all, err);
        return code == RAN_OK && a->options->weights ? add_table(out, a, s, rows, columns, err)
                                                     : code;
}

/* Makes ready for questions about the document at hand. */
static int take(struct attnmask_scratch *s, struct ran_error *err)
{
        const struct cmd_reading *r = &s->reading;
        double *value = ran_grow(s->value, &s->value_cap, r->tokens.L, sizeof *value, err);

        if (value == NULL)
                return RAN_ENOMEM;
        s->value = value;
        return ran_explain_read(s->explainer, &r->tokens, r->sources, err);
}

int attnmask_map(const struct attnmask_model *a, struct attnmask_scratch *s, struct ran_buf *out,
                 struct ran_error *err)
{
        const bool label = a->options->map == ATTNMASK_MAP_LABEL;
        int code = take(s, err);

        if (code != RAN_OK)
                return code;
        ran_buf_printf(out, "{\"map\":\"%s\",\"tokens\":%zu", label ? "label" : "tokens",
                       s->reading.tokens.L);
        if (s->reading.document != NULL)
                cmd_document_truncated(s->reading.document, out);
        code = (label ? add_label_map : add_token_map)(out, a, s, err);
        ran_buf_char(out, '}');
        return code;
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* Whether a picture cannot have the character at s: it means something there, or XML has none such.
 * Control characters are another matter. */
static bool is_foreign(const char *s)
{
        return strchr("<>&", *s) != NULL || strncmp(s, "\xef\xbf\xbe", 3) == 0 ||
               strncmp(s, "\xef\xbf\xbf", 3) == 0;
}

static char *name_of(const char *before, const char *label)
{
        struct ran_buf name = {0}, shown = {0};

        ran_buf_printf(&name, "%s ", before);
        for (const char *s = label; *s != '\0'; s++) {
                bool foreign = is_foreign(s);
                ran_buf_char(&name, foreign ? '?' : *s);
                s += foreign && *s == '\xef' ? 2 : 0;
        }
        if (!name.failed)
                ran_buf_shown(&shown, name.data, name.len);
        ran_buf_char(&shown, '\0');
        shown.failed |= name.failed;
        if (shown.failed)
                ran_buf_release(&shown);
        ran_buf_release(&name);
        return shown.data;
}

/* What speaks for the label, and below what speaks against it. */
static int label_panels(const struct attnmask_model *a, struct attnmask_scratch *s,
                        struct attnmask_panels *p, struct table *t, struct ran_error *err)
{
        struct range rows, columns;
        struct answer answer;
        int code = ranges(a, s, &rows, &columns, err);

        if (code == RAN_OK)
                code = explain_label(a, s, rows.from, &answer, err);
        if (code != RAN_OK)
                return code;
        t->columns = cut(columns, attnmask_size(a->options));
        *p = (struct attnmask_panels){.n = 2, .width = t->columns.n, .height = 1};
        p->value = ran_grow(s->sum, &s->sum_cap, 2 * p->width, sizeof *s->sum, err);
        s->sum = p->value != NULL ? p->value : s->sum;
        p->names = ran_alloc(2, sizeof *p->names, err);
        if (p->value == NULL || p->names == NULL)
                return RAN_ENOMEM;
        const char *label = ran_model_label(a->model, answer.class);
        p->names[0] = name_of("for", label);
        p->names[1] = name_of("against", label);
        if (p->names[0] == NULL || p->names[1] == NULL)
                return ran_fail(err, RAN_ENOMEM, "out of memory");
        for (size_t i = 0; i < p->width; i++) {
                double gain = sum_of(s->value, block(&t->columns, i));

                p->value[i] = fmax(gain, 0);
                p->value[p->width + i] = fmax(-gain, 0);
        }
        attnmask_scale(p);
        p->least = fmax(p->least, p->most / 20); /* gains are sums: no need for equal ratios */
        return RAN_OK;
}

static int token_panels(const struct attnmask_model *a, struct attnmask_scratch *s,
                        struct attnmask_panels *p, struct table *t, struct ran_error *err)
{
        struct range rows, columns;
        int code = ranges(a, s, &rows, &columns, err);

        if (code != RAN_OK)
                return code;
        *t = table_of(a->options, rows, columns);
        code = fill(s, t, err);
        *p = (struct attnmask_panels){
                .n = 1, .width = t->columns.n, .height = t->rows.n, .value = s->sum};
        if (code == RAN_OK)
                attnmask_scale(p);
        return code;
}

/* How to read it. */
static void say(const struct attnmask_model *a, const struct attnmask_panels *p,
                const struct table *t)
{
        const bool text = a->options->format == PICTURE_TEXT, label = p->n == 2;
        const bool blocks = t->columns.size > 1;
        const char *black = text ? "#" : "black";

        if (label)
                cmd_note("columns are tokens; the first panel is what speaks %s, the second what "
                         "speaks %s; %s is %.2g of its log odds%s",
                         p->names[0], p->names[1], black, p->most, blocks ? ", in a block" : "");
        else
                cmd_note("lines are outputs, columns the tokens that bear on them; %s: the output "
                         "moves by %.2g when the token's row moves by its own length%s",
                         black, p->most, blocks ? ", in the mean of a block" : "");
        if (text)
                cmd_note("%s", PICTURE_LEGEND);
        if (blocks)
                cmd_note("the document is longer than the picture, where a column stands for %zu "
                         "tokens: --rows A:B draws a part of it",
                         t->columns.size);
}

int attnmask_map_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                         struct cmd_sink *out, struct ran_error *err)
{
        struct attnmask_panels p = {0};
        struct table t = {0};
        int code = take(s, err);

        if (code == RAN_OK)
                code = (a->options->map == ATTNMASK_MAP_LABEL ? label_panels
                                                              : token_panels)(a, s, &p, &t, err);
        if (code == RAN_OK)
                code = attnmask_draw(a->options, &p, out, err);
        if (code == RAN_OK)
                say(a, &p, &t);
        for (size_t i = 0; i < p.n && p.names != NULL; i++)
                free(p.names[i]);
        free(p.names);
        return code;
}
