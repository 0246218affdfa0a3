/* page-map.c - attribution as a page: the text, each token in the colour of its value. */
#include <math.h>
#include <string.h>

#include "cmd/attnmask/map.h"
#include "cmd/attnmask/model.h"
#include "cmd/attnmask/token-text.h"
#include "cmd/pages/page.h"
#include "cmd/pages/record-name.h"
#include "cmd/pages/table.h"

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
        ran_buf_str(out, "<p>Document: <strong>");
        page_record_name(out, &line->record, line->file, line->number);
        ran_buf_str(out, "</strong></p>\n");
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
        ran_buf_printf(out, "<i class=\"%c%d\" title=\"token %zu: %+.3g\">", value > 0 ? 'p' : 'n',
                       (int)ceil(LEVELS * share), t, value);
        page_text(out, part->text, part->n);
        ran_buf_str(out, "</i>");
}

static void write_text(const struct attnmask_scratch *s, struct token_text *x, struct part *of,
                       struct cmd_sink *out)
{
        struct token_part part;

        ran_buf_str(&out->buf, "<h2>Text</h2>\n<div class=\"text win\" dir=\"auto\">");
        for (size_t t = 0; t < s->reading.tokens.L; t++) {
                token_text_next(x, t, &part);
                add_token(&out->buf, &part, s->value[t], t, of);
                cmd_sink_flush(out);
        }
        token_text_rest(x, &part);
        page_text(&out->buf, part.gap, part.gap_n);
        ran_buf_str(&out->buf, "</div>\n");
}

/* The tokens with the largest values, found one after another. */
static void write_largest(const struct attnmask_scratch *s, struct token_text *x,
                          struct cmd_sink *out)
{
        size_t at[LISTED], n = 0, L = s->reading.tokens.L;
        struct token_part part;

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
        ran_buf_str(&out->buf, "<h2>Largest</h2>\n");
        struct page_table table = page_table_begin(&out->buf, PAGE_PLAIN, "#token|text|#value|");
        for (size_t i = 0; i < n; i++) {
                x->at = 0; /* its own text only */
                token_text_next(x, at[i], &part);
                ran_buf_printf(&out->buf, "<tr><td class=\"n\">%zu</td><th scope=\"row\">", at[i]);
                page_text(&out->buf, part.text, part.n);
                ran_buf_printf(&out->buf, "</th><td class=\"n\">%+.4g</td><td class=\"%s\">",
                               s->value[at[i]], s->value[at[i]] < 0 ? "against" : "for");
                page_bar(&out->buf, fabs(s->value[at[i]]) / fabs(s->value[at[0]]));
                ran_buf_str(&out->buf, "</td></tr>\n");
        }
        page_table_end(&table);
        x->at = 0;
}

static void write_legend(const struct map_said *said, const struct part *of, struct ran_buf *out)
{
        ran_buf_str(out, "<p class=\"legend\"><span><i class=\"p7\"></i>");
        ran_buf_str(out, said->label != NULL ? "for " : "influences ");
        page_string(out, said->label != NULL ? said->label : "the outputs");
        ran_buf_str(out, "</span>");
        if (said->label != NULL) {
                ran_buf_str(out, "<span><i class=\"n7\"></i>against ");
                page_string(out, said->label);
                ran_buf_str(out, "</span>");
        }
        ran_buf_printf(
                out,
                "</p>\n<p class=\"note\">The strongest colour is %.3g%s. Tokens below %.0f %% "
                "of it have no colour.</p>\n",
                of->most,
                said->label != NULL
                        ? " in the log odds"
                        : " (the change of an output when the token's embedding moves by "
                          "its own length)",
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
                ran_buf_str(&out->buf, "<p>Label: <span class=\"label\">");
                page_string(&out->buf, said->label);
                ran_buf_str(&out->buf, "</span> ");
                page_percent(&out->buf, said->p, 1);
                ran_buf_str(&out->buf, "</p>\n");
        } else {
                ran_buf_printf(&out->buf, "<p>Outputs of the tokens %zu to %zu.</p>\n", said->from,
                               said->to - 1);
        }
        write_legend(said, &of, &out->buf);
        write_text(s, x, &of, out);
        write_largest(s, x, out);
        page_end(&out->buf, NULL);
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
