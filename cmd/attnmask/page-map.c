/* page-map.c - attribution as a page: the text, each token in the colour of its value. */
#include <math.h>
#include <string.h>

#include "cmd/attnmask/map.h"
#include "cmd/attnmask/model.h"
#include "cmd/attnmask/token-text.h"
#include "cmd/pages/element.h"
#include "cmd/pages/page.h"
#include "cmd/pages/record-name.h"
#include "cmd/pages/report.h"

enum { LEVELS = 9, LISTED = 30 };

/* A page of many tokens marks values above this part of the largest. */
static const double small = 1.0 / (2 * LEVELS);

struct part {
        double most;
        size_t small; /* tokens left without a colour */
};

void attnmask_page_begin(const struct attnmask_model *a, const struct attnmask_scratch *s,
                         const struct cmd_line *line, const char *title, struct ran_buf *out)
{
        struct ran_buf lead = {0};

        ran_buf_printf(&lead, "%zu tokens, model %s", s->shape.L, a->options->model);
        page_begin(out, title, &lead);
        page_open(out, HTML_PARAGRAPH);
        ran_buf_str(out, "Document: ");
        page_open(out, HTML_STRONG);
        page_record_name(out, &line->record.json, line->file, line->number);
        page_close(out, HTML_STRONG);
        page_close(out, HTML_PARAGRAPH);
}

static void add_token(struct ran_buf *out, const struct token_part *part, double value, size_t t,
                      struct part *of)
{
        double share = of->most > 0 ? fabs(value) / of->most : 0;

        page_text(out, part->gap, part->gap_n);
        if (share < small) {
                of->small++;
                page_text(out, part->text, part->n);
                return;
        }
        page_open_with(out, HTML_SHADE, "class=\"%c%d\" title=\"token %zu: %+.3g\"",
                       value > 0 ? 'p' : 'n', (int)ceil(LEVELS * share), t, value);
        page_text(out, part->text, part->n);
        page_close(out, HTML_SHADE);
}

static void write_text(const struct attnmask_scratch *s, struct token_text *x, struct part *of,
                       struct cmd_sink *out)
{
        struct token_part part;

        page_put(&out->buf, HTML_HEADING, "Text");
        page_open(&out->buf, HTML_SHADED);
        for (size_t t = 0; t < s->reading.tokens.L; t++) {
                token_text_next(x, t, &part);
                add_token(&out->buf, &part, s->value[t], t, of);
                cmd_sink_flush(out);
        }
        token_text_rest(x, &part);
        page_text(&out->buf, part.gap, part.gap_n);
        page_close(&out->buf, HTML_SHADED);
}

/* A row about token t. */
static void add_value(struct report *r, size_t t, const struct token_part *part, double value,
                      double most)
{
        const enum page_element kind = value < 0 ? HTML_AGAINST : HTML_FOR;
        struct ran_buf number = {0}, bar = {0};

        ran_buf_printf(&number, "%+.4g", value);
        page_open(&bar, kind);
        page_bar(&bar, fabs(value) / fabs(most));
        page_close(&bar, kind);
        report_begin(r, REPORT_OBJECT, NULL, "");
        report_count(r, NULL, "token", t);
        report_bytes(r, REPORT_TEXT, NULL, "text", part->text, part->n);
        report_bytes(r, REPORT_AMOUNT, NULL, "value", number.data, number.len);
        report_html(r, "", &bar);
        report_end(r);
        ran_buf_release(&number);
}

/* The tokens with the largest values, found one after another. */
static void write_largest(const struct attnmask_scratch *s, struct token_text *x,
                          struct cmd_sink *out)
{
        size_t at[LISTED], n = 0, L = s->reading.tokens.L;
        struct token_part part;
        struct report r = {0};

        for (size_t t = 0; t < L; t++) {
                size_t i;

                if (s->value[t] == 0 ||
                    (n == LISTED && fabs(s->value[t]) <= fabs(s->value[at[n - 1]])))
                        continue;
                n += n < LISTED;
                for (i = n - 1; i > 0 && fabs(s->value[at[i - 1]]) < fabs(s->value[t]); i--)
                        at[i] = at[i - 1];
                at[i] = t;
        }
        report_begin(&r, REPORT_LIST, NULL, "Largest");
        for (size_t i = 0; i < n; i++) {
                x->at = 0; /* its own text only */
                token_text_next(x, at[i], &part);
                add_value(&r, at[i], &part, s->value[at[i]], s->value[at[0]]);
        }
        report_end(&r);
        report_page(&r, &out->buf);
        report_release(&r);
        x->at = 0;
}

static void write_legend(const struct map_said *said, const struct part *of, struct ran_buf *out)
{
        page_open(out, HTML_LEGEND);
        page_open_key(out, 'p', 7);
        ran_buf_str(out, said->label != NULL ? "for " : "influences ");
        page_string(out, said->label != NULL ? said->label : "the outputs");
        page_close(out, HTML_KEY);
        if (said->label != NULL) {
                page_open_key(out, 'n', 7);
                ran_buf_str(out, "against ");
                page_string(out, said->label);
                page_close(out, HTML_KEY);
        }
        page_close(out, HTML_LEGEND);
        page_put(out, HTML_NOTE,
                 "The strongest colour is %.3g%s. Tokens below %.0f %% of it have no colour.",
                 of->most,
                 said->label != NULL
                         ? " in the log odds"
                         : " (the change of an output when the token's embedding moves by its own "
                           "length)",
                 100 * small);
}

static int write_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                      const struct cmd_line *line, struct token_text *x,
                      const struct map_said *said, struct cmd_sink *out, struct ran_error *err)
{
        struct part of = {0};

        RAN_TRY(token_text_begin(x, &s->reading, a->model, &line->record, err));
        for (size_t t = 0; t < s->reading.tokens.L; t++)
                of.most = fmax(of.most, fabs(s->value[t]));
        attnmask_page_begin(a, s, line,
                            said->label != NULL ? "Influence on a label"
                                                : "Influence on outputs of tokens",
                            &out->buf);
        if (said->label != NULL) {
                page_open(&out->buf, HTML_PARAGRAPH);
                ran_buf_str(&out->buf, "Label: ");
                page_put(&out->buf, HTML_LABEL, "%s", said->label);
                ran_buf_char(&out->buf, ' ');
                page_percent(&out->buf, said->p, 1);
                page_close(&out->buf, HTML_PARAGRAPH);
        } else {
                page_put(&out->buf, HTML_PARAGRAPH, "Outputs of the tokens %zu to %zu.", said->from,
                         said->to - 1);
        }
        write_legend(said, &of, &out->buf);
        write_text(s, x, &of, out);
        write_largest(s, x, out);
        page_end(&out->buf);
        return RAN_OK;
}

int attnmask_map_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                      const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err)
{
        struct token_text x = {0};
        struct map_said said = {0};

        RAN_TRY(attnmask_map_values(a, s, &said, err));
        int rc = write_page(a, s, line, &x, &said, out, err);
        token_text_release(&x);
        return rc;
}
