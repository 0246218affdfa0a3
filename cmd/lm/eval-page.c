/* eval-page.c - an evaluation of generated texts as a page: scores, how they are spread, the texts
 * that are least like their references. */
#include "cmd/lm/eval-page.h"

#include "cmd/pages/element.h"
#include "cmd/pages/page.h"
#include "cmd/pages/record-name.h"
#include "cmd/pages/style.h"
#include "cmd/pages/table.h"

/* Texts on a page, and bytes of each that it shows. */
enum { WORST = 200, SHOWN = 4000 };

/* ---- a text ---------------------------------------------------------------------------------- */

static void add_text(struct page_table *t, const char *name, const struct ran_buf *text)
{
        struct ran_buf passage = {0};

        page_put_excerpt(&passage, text->data, text->len, SHOWN);
        page_row(t, CELL_NAME(name), CELL_MARKUP(&passage));
}

void lm_eval_page_make(const struct cmd_line *line, const struct ran_buf *source,
                       const struct ran_buf *reference, const struct ran_buf *text,
                       struct lm_compared *compared)
{
        const double chrf = ran_text_chrf(&compared->counts);
        struct page_document *d = &compared->document;

        d->doubt = 1 - chrf / 100;
        page_record_name(&d->name, &line->record, line->file, line->number);
        page_put(&d->body, HTML_PARAGRAPH, "chrF %.1f", chrf);
        struct page_table t = page_table_begin(&d->body, PAGE_PLAIN, NULL);
        if (source->len > 0)
                add_text(&t, "source", source);
        add_text(&t, "reference", reference);
        add_text(&t, "generated", text);
        page_table_end(&t);
}

int lm_eval_page_add(struct lm_eval_page *page, const struct lm_compared *compared,
                     struct ran_error *err)
{
        const struct page_document *d = &compared->document;
        const int tenth = (int)(ran_text_chrf(&compared->counts) / 10);

        page->by_chrf[tenth < 0 ? 0 : tenth > 9 ? 9 : tenth]++;
        page->worst.most = WORST;
        return page_documents_want(&page->worst, d->doubt)
                       ? page_documents_add(&page->worst, d, err)
                       : RAN_OK;
}

/* ---- the page -------------------------------------------------------------------------------- */

/* A score from 0 to 100, with an interval if there are several texts. */
static void write_value(struct page_table *t, const char *name, const struct ran_text_value *v,
                        size_t n, const char *means)
{
        struct ran_buf value = {0};

        ran_buf_printf(&value, "%.2f", v->value);
        if (n > 1) {
                ran_buf_char(&value, ' ');
                page_put(&value, HTML_SMALL, "(%.2f to %.2f)", v->low, v->high);
        }
        page_row(t, CELL_NAME(name), CELL_AMOUNT(&value), CELL_BAR(v->value / 100),
                 CELL_TEXT(means));
}

static void write_scores(struct ran_buf *out, const struct ran_text_report *r)
{
        static const char *const rouge[RAN_ROUGES][2] = {
                {"ROUGE-1 F1", "words in common"},
                {"ROUGE-2 F1", "pairs of words in common"},
                {"ROUGE-L F1", "the longest common sequence of words"}};
        struct page_table t;

        page_put(out, HTML_HEADING, "Scores");
        t = page_table_begin(out, PAGE_WIDE, "score|#0 to 100 (95 % interval)||what it counts");
        write_value(&t, "BLEU", &r->bleu, r->n, "runs of one to four words in common");
        write_value(&t, "chrF", &r->chrf, r->n, "runs of one to six characters in common");
        for (size_t i = 0; i < RAN_ROUGES; i++) {
                struct ran_text_value v = r->rouge[i]; /* 0 to 1 */
                v.value *= 100;
                v.low *= 100;
                v.high *= 100;
                write_value(&t, rouge[i][0], &v, r->n, rouge[i][1]);
        }
        page_table_end(&t);
        page_put(out, HTML_NOTE,
                 "BLEU: precisions of 1 to 4 words %.1f, %.1f, %.1f, %.1f; brevity penalty %.3f.",
                 r->precision[0], r->precision[1], r->precision[2], r->precision[3], r->brevity);
        t = page_table_begin(out, PAGE_PLAIN, NULL);
        page_row(&t, CELL_NAME("words generated"), CELL_COUNT((size_t)r->length));
        page_row(&t, CELL_NAME("words of the references"), CELL_COUNT((size_t)r->reference_length));
        page_table_end(&t);
}

static void write_spread(struct ran_buf *out, const struct lm_eval_page *page, size_t n)
{
        size_t most = 1;
        char tenth[32];

        for (size_t i = 0; i < 10; i++)
                most = page->by_chrf[i] > most ? page->by_chrf[i] : most;
        page_put(out, HTML_HEADING, "Texts by their chrF");
        struct page_table t = page_table_begin(out, PAGE_PLAIN, "chrF|#texts|#share|");
        for (size_t i = 0; i < 10; i++) {
                snprintf(tenth, sizeof tenth, "%zu to %zu", 10 * i, 10 * i + 10);
                page_row(&t, CELL_NAME(tenth), CELL_COUNT(page->by_chrf[i]),
                         CELL_PERCENT((double)page->by_chrf[i] / (double)n, 1),
                         CELL_BAR((double)page->by_chrf[i] / (double)most));
        }
        page_table_end(&t);
}

void lm_eval_page_write(struct lm_eval_page *page, const struct ran_text_report *report,
                        const char *model, size_t skipped, struct cmd_sink *out)
{
        struct ran_buf lead = {0};

        if (model != NULL)
                ran_buf_printf(&lead, "Model %s; ", model);
        ran_buf_printf(&lead, "%zu text%s compared with a reference", report->n,
                       report->n == 1 ? "" : "s");
        if (skipped > 0)
                ran_buf_printf(&lead, "; %zu records have none", skipped);
        ran_buf_char(&lead, '.');
        page_begin(&out->buf, "Evaluation of generated texts", &lead);
        write_scores(&out->buf, report);
        write_spread(&out->buf, page, report->n);
        page_worst_write(&page->worst, "The texts least like their references", report->n, "texts",
                         out);
        page_end(&out->buf, page_documents_script);
}

void lm_eval_page_release(struct lm_eval_page *page)
{
        page_documents_release(&page->worst);
}
