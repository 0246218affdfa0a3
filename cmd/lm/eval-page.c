/* eval-page.c - an evaluation of generated texts as a page: scores, how they are spread, the texts
 * that are least like their references. */
#include "cmd/lm/eval-page.h"

#include "cmd/lm/eval-report.h"
#include "cmd/pages/page.h"

/* Texts on a page, and bytes of each that it shows. */
enum { WORST = 200, SHOWN = 4000 };

/* ---- a text ---------------------------------------------------------------------------------- */

static void add_text(struct report *r, const char *name, const struct ran_buf *text)
{
        struct ran_buf passage = {0};

        page_put_excerpt(&passage, text->data, text->len, SHOWN);
        report_html(r, name, &passage);
}

void lm_eval_page_make(const struct cmd_line *line, const struct ran_buf *source,
                       const struct ran_buf *reference, const struct ran_buf *text,
                       struct lm_compared *compared)
{
        const double chrf = ran_text_chrf(&compared->counts);
        struct page_document *d = &compared->document;
        struct report r = {0};

        d->doubt = 1 - chrf / 100;
        page_record_name(&d->name, &line->record.json, line->file, line->number);
        page_put(&d->body, HTML_PARAGRAPH, "chrF %.1f", chrf);
        if (source->len > 0)
                add_text(&r, "source", source);
        add_text(&r, "reference", reference);
        add_text(&r, "generated", text);
        report_page(&r, &d->body);
        report_release(&r);
}

int lm_eval_page_add(struct lm_eval_page *page, const struct lm_compared *compared,
                     struct ran_error *err)
{
        const struct page_document *d = &compared->document;
        const int tenth = (int)(ran_text_chrf(&compared->counts) / 10);

        (void)err;
        page->by_chrf[tenth < 0 ? 0 : tenth > 9 ? 9 : tenth]++;
        page->worst.most = WORST;
        if (page_documents_want(&page->worst, d->doubt))
                page_documents_add(&page->worst, d);
        return RAN_OK;
}

/* ---- the page -------------------------------------------------------------------------------- */

static void add_spread(const struct lm_eval_page *page, size_t n, struct report *r)
{
        report_begin(r, REPORT_LIST, NULL, "Texts by their chrF");
        for (size_t i = 0; i < 10; i++) {
                report_begin(r, REPORT_OBJECT, NULL, "");
                report_put(r, NULL, "chrF", "%zu to %zu", 10 * i, 10 * i + 10);
                report_count(r, NULL, "texts", page->by_chrf[i]);
                report_bar(r, NULL, "share", (double)page->by_chrf[i] / (double)n);
                report_end(r);
        }
        report_end(r);
}

void lm_eval_page_write(struct lm_eval_page *page, const struct ran_text_report *report,
                        const char *model, size_t skipped, struct cmd_sink *out)
{
        struct ran_buf lead = {0};
        struct report r = {0};

        if (model != NULL)
                ran_buf_printf(&lead, "Model %s; ", model);
        ran_buf_printf(&lead, "%zu text%s compared with a reference", report->n,
                       report->n == 1 ? "" : "s");
        if (skipped > 0)
                ran_buf_printf(&lead, "; %zu records have none", skipped);
        ran_buf_char(&lead, '.');
        page_begin(&out->buf, "Evaluation of generated texts", &lead);
        lm_eval_tree(report, &r);
        add_spread(page, report->n, &r);
        report_page(&r, &out->buf);
        report_release(&r);
        page_worst_write(&page->worst, "The texts least like their references", report->n, "texts",
                         out);
        page_end(&out->buf);
}

void lm_eval_page_release(struct lm_eval_page *page)
{
        page_documents_release(&page->worst);
}
