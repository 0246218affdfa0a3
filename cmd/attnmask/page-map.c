/* page-map.c - attribution as a page: the text, each token in the colour of its value. */
#include "cmd/attnmask/attnmask.h"

#include <float.h>
#include <math.h>

#include "cmd/pages/page.h"
#include "cmd/pages/report.h"

enum { LEVELS = 9, LISTED = 30 };

/* A page of many tokens marks values above this part of the largest. */
static const double small = 1.0 / (2 * LEVELS);

void attnmask_page_begin(const struct attnmask_model *a, const struct attnmask_scratch *s,
                         const struct cmd_line *line, const char *title, struct ran_buf *out)
{
        struct ran_buf lead = {0};

        ran_buf_printf(&lead, "%zu tokens, model %s", s->shape.L, a->options->model);
        page_begin(out, title, &lead);
        page_open(out, "p");
        ran_buf_str(out, "Document: ");
        page_open(out, "strong");
        page_record_name(out, &line->record.json, line->file, line->number);
        page_close(out, "strong");
        page_close(out, "p");
}

/* most: the largest of all values. */
static void write_text(const struct attnmask_scratch *s, struct token_text *x, double most,
                       struct cmd_sink *out)
{
        struct token_part part;

        page_put(&out->buf, "h2", "Text");
        page_open(&out->buf, "div.text.win");
        for (size_t t = 0; t < s->reading.tokens.L; t++) {
                const double value = s->value[t], share = most > 0 ? fabs(value) / most : 0;

                token_text_next(x, t, &part);
                page_text(&out->buf, part.gap, part.gap_n);
                if (share >= small)
                        page_open_with(&out->buf, "i", "class=\"%c%d\" title=\"token %zu: %+.3g\"",
                                       value > 0 ? 'p' : 'n', (int)ceil(LEVELS * share), t, value);
                page_text(&out->buf, part.text, part.n);
                if (share >= small)
                        page_close(&out->buf, "i");
                cmd_sink_flush(out);
        }
        token_text_rest(x, &part);
        page_text(&out->buf, part.gap, part.gap_n);
        page_close(&out->buf, "div");
}

/* The tokens with the largest values. */
static void write_largest(struct attnmask_scratch *s, struct token_text *x, struct cmd_sink *out)
{
        const size_t n = attnmask_rank(s, s->value, s->reading.tokens.L, DBL_TRUE_MIN);
        struct token_part part;
        struct report r = {0};

        report_begin(&r, REPORT_LIST, NULL, "Largest");
        for (size_t i = 0; i < n && i < LISTED; i++) {
                const size_t at = s->ranked[i].at;
                const double value = s->ranked[i].value, most = s->ranked[0].value;
                const char *kind = value < 0 ? "span.against" : "span.for";
                struct ran_buf number = {0}, bar = {0};

                x->at = 0; /* its own text only */
                token_text_next(x, at, &part);
                ran_buf_printf(&number, "%+.4g", value);
                page_open(&bar, kind);
                page_bar(&bar, fabs(value) / fabs(most));
                page_close(&bar, kind);
                report_begin(&r, REPORT_OBJECT, NULL, "");
                report_count(&r, NULL, "token", at);
                report_bytes(&r, REPORT_TEXT, NULL, "text", part.text, part.n);
                report_bytes(&r, REPORT_AMOUNT, NULL, "value", number.data, number.len);
                report_html(&r, "", &bar);
                report_end(&r);
                ran_buf_release(&number);
        }
        report_end(&r);
        report_page(&r, &out->buf);
        report_release(&r);
}

static void write_legend(const char *label, double most, struct ran_buf *out)
{
        page_open(out, "p.legend");
        page_open_key(out, 'p', 7);
        ran_buf_str(out, label != NULL ? "for " : "influences ");
        page_string(out, label != NULL ? label : "the outputs");
        page_close(out, "span");
        if (label != NULL) {
                page_open_key(out, 'n', 7);
                ran_buf_str(out, "against ");
                page_string(out, label);
                page_close(out, "span");
        }
        page_close(out, "p");
        page_put(out, "p.note",
                 "The strongest colour is %.3g%s. Tokens below %.0f %% of it have no colour.", most,
                 label != NULL ? " in the log odds"
                               : " (the change of an output when the token's embedding moves by "
                                 "its own length)",
                 100 * small);
}

int attnmask_map_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                      const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err)
{
        struct token_text x = {0};
        struct attnmask_map map = {0};
        double most = 0;

        RAN_TRY(attnmask_map_values(a, s, &map, err));
        int rc = token_text_begin(&x, &s->reading, a->model, &line->record, err);
        if (rc == RAN_OK) {
                for (size_t t = 0; t < s->reading.tokens.L; t++)
                        most = fmax(most, fabs(s->value[t]));
                attnmask_page_begin(a, s, line,
                                    map.label != NULL ? "Influence on a label"
                                                      : "Influence on outputs of tokens",
                                    &out->buf);
                if (map.label != NULL) {
                        page_open(&out->buf, "p");
                        ran_buf_str(&out->buf, "Label: ");
                        page_put(&out->buf, "span.label", "%s", map.label);
                        ran_buf_char(&out->buf, ' ');
                        page_percent(&out->buf, map.p, 1);
                        page_close(&out->buf, "p");
                } else {
                        page_put(&out->buf, "p", "Outputs of the tokens %zu to %zu.", map.from,
                                 map.to - 1);
                }
                write_legend(map.label, most, &out->buf);
                write_text(s, &x, most, out);
                write_largest(s, &x, out);
                page_end(&out->buf);
        }
        token_text_release(&x);
        return rc;
}
