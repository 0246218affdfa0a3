/* map.c - attribution: how each token of a document contributes to its label, or to the outputs of
 * the model for other tokens. */
#include <stdlib.h>
#include <string.h>

#include "cmd/attnmask/map.h"
#include "cmd/attnmask/picture.h"
#include "cmd/attnmask/words.h"
#include "cmd/options/message.h"

/* ---- what was asked ------------------------------------------------------------------------- */

/* The tokens of --rows, or the one of --row. */
static void select_tokens(struct attnmask_selection *c, const struct attnmask_options *o)
{
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

static bool is_label(const struct attnmask_model *a)
{
        return a->options->map == ATTNMASK_MAP_LABEL;
}

void attnmask_map_select(struct attnmask_model *a)
{
        a->class = SIZE_MAX;
        if (is_label(a))
                map_label_select(a);
        else
                map_tokens_select(a);
        select_tokens(&a->selection, a->options);
}

/* ---- records -------------------------------------------------------------------------------- */

/* Reads the current document. */
static int read_document(struct attnmask_scratch *s, struct ran_error *err)
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
        const struct cmd_reading *r = &s->reading;

        RAN_TRY(read_document(s, err));
        ran_buf_printf(out, "{\"map\":\"%s\",\"tokens\":%zu", is_label(a) ? "label" : "tokens",
                       r->tokens.L);
        if (r->document != NULL)
                cmd_document_truncated(r->document, out);
        RAN_TRY((is_label(a) ? map_label_add : map_tokens_add)(out, a, s, err));
        ran_buf_char(out, '}');
        return RAN_OK;
}

int attnmask_map_values(const struct attnmask_model *a, struct attnmask_scratch *s,
                        struct map_said *said, struct ran_error *err)
{
        RAN_TRY(read_document(s, err));
        return (is_label(a) ? map_label_values : map_tokens_values)(a, s, said, err);
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* How to read it. */
static void say(const struct attnmask_model *a, const struct attnmask_panels *p,
                const struct map_table *t)
{
        const bool text = a->options->format == PICTURE_TEXT, label = p->n == 2;
        const bool blocks = t->columns.size > 1;
        const char *black = text ? "#" : "black";

        if (label)
                cmd_note("columns are tokens; the first panel is what speaks %s, the second what "
                         "speaks %s; %s is %.2g of its log odds%s",
                         p->names[0], p->names[1], black, p->most, blocks ? ", in a block" : "");
        else
                cmd_note(
                        "lines are outputs, columns the tokens that influence them; %s: the output "
                        "moves by %.2g when the embedding of the token moves by its own length%s",
                        black, p->most, blocks ? ", in the mean of a block" : "");
        if (text)
                cmd_note("%s", PICTURE_LEGEND);
        if (blocks)
                cmd_note("the document is longer than the picture, where a column stands for %zu "
                         "tokens: --rows A:B draws a part of it",
                         t->columns.size);
}

static int add_words(const struct attnmask_model *a, const struct attnmask_scratch *s,
                     const struct cmd_line *line, const struct map_blocks *blocks, char ***words,
                     struct ran_error *err)
{
        if (blocks->size > 1)
                return RAN_OK;
        *words = attnmask_words(a, s, line, RAN_AXIS_TOKENS, blocks->all.from, blocks->all.to, err);
        return *words != NULL ? RAN_OK : (int)err->code;
}

static int draw(const struct attnmask_model *a, struct attnmask_scratch *s,
                const struct cmd_line *line, struct attnmask_panels *p, struct cmd_sink *out,
                struct ran_error *err)
{
        struct map_table t = {0};

        RAN_TRY((is_label(a) ? map_label_panels : map_tokens_panels)(a, s, p, &t, err));
        p->title = attnmask_title(is_label(a) ? "Influence on the label"
                                              : "Influence on the outputs of tokens",
                                  line, err);
        if (p->title == NULL)
                return RAN_ENOMEM;
        p->x_name = "token";
        p->x_from = t.columns.all.from;
        p->x_to = t.columns.all.to - 1;
        RAN_TRY(add_words(a, s, line, &t.columns, &p->x_words, err));
        if (!is_label(a)) {
                p->y_name = "output (token)";
                p->y_from = t.rows.all.from;
                p->y_to = t.rows.all.to - 1;
                RAN_TRY(add_words(a, s, line, &t.rows, &p->y_words, err));
        }
        p->legend = is_label(a) ? "part of the log odds of the label"
                                : "change of the output, in lengths of the token's embedding";
        RAN_TRY(attnmask_draw(a->options, p, out, err));
        say(a, p, &t);
        return RAN_OK;
}

int attnmask_map_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                         const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err)
{
        struct attnmask_panels p = {0};

        RAN_TRY(read_document(s, err));
        int rc = draw(a, s, line, &p, out, err);
        attnmask_panels_release(&p);
        return rc;
}
