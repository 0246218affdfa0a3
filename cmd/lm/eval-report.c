/* eval-report.c - scores of generated texts as a report: BLEU, chrF and ROUGE; as a page, with the
 * texts that are least like their references.
 *
 * BLEU and chrF have signatures in the form of sacreBLEU, which say how they were computed. */
#include "cmd/lm/lm.h"
#include "cmd/pages/page.h"

static void add_signature(struct report *r, const struct ran_text_report *t, const char *name,
                          const char *title, const char *how)
{
        if (t->n > 1)
                report_put(r, name, title, "nrefs:1|bs:%d|seed:%llu|case:mixed|%s|version:ran-%s",
                           RAN_TEXT_SAMPLES, (unsigned long long)t->seed, how, RAN_VERSION);
        else
                report_put(r, name, title, "nrefs:1|case:mixed|%s|version:ran-%s", how,
                           RAN_VERSION);
}

/* For people, who get all scores from 0 to 100. */
static void add_score(struct report *r, const struct ran_text_report *t, const char *title,
                      const struct ran_text_value *v, double unit, const char *counts)
{
        report_score(r, NULL, title, unit * v->value);
        report_note(r, "%s", counts);
        if (t->n > 1)
                report_interval(r, (struct ran_interval){unit * v->low, unit * v->high});
}

/* Begins an object for machines, with a score and its interval. */
static void begin_score(struct report *r, const struct ran_text_report *t, const char *object,
                        const char *name, const struct ran_text_value *v)
{
        report_begin(r, REPORT_OBJECT, object, NULL);
        report_number(r, name, NULL, v->value, 0);
        report_number(r, t->n > 1 ? "low" : NULL, NULL, v->low, 0);
        report_number(r, t->n > 1 ? "high" : NULL, NULL, v->high, 0);
}

static void add_precisions(struct report *r, const struct ran_text_report *t, const char *name,
                           const char *title)
{
        report_begin(r, REPORT_LIST, name, title);
        for (size_t k = 0; k < RAN_BLEU_ORDER; k++)
                report_number(r, "", "", t->precision[k], 1);
        report_end(r);
}

void lm_eval_tree(const struct ran_text_report *t, struct report *r)
{
        static const char bleu[] = "eff:no|tok:13a|smooth:exp",
                          chrf[] = "eff:yes|nc:6|nw:0|space:no";
        static const char *const rouge[RAN_ROUGES][3] = {
                {"rouge_1", "ROUGE-1 F1", "words in common"},
                {"rouge_2", "ROUGE-2 F1", "pairs of words in common"},
                {"rouge_l", "ROUGE-L F1", "the longest common sequence of words"}};

        report_count(r, "records", "texts", t->n);
        add_score(r, t, "BLEU", &t->bleu, 1, "runs of one to four words in common");
        add_score(r, t, "chrF", &t->chrf, 1, "runs of one to six characters in common");
        for (size_t k = 0; k < RAN_ROUGES; k++)
                add_score(r, t, rouge[k][1], &t->rouge[k], 100, rouge[k][2]);
        add_precisions(r, t, NULL, "BLEU: precisions");
        report_number(r, NULL, "BLEU: brevity penalty", t->brevity, 3);
        add_signature(r, t, NULL, "BLEU: signature", bleu);
        add_signature(r, t, NULL, "chrF: signature", chrf);
        report_count(r, NULL, "words generated", (size_t)t->length);
        report_count(r, NULL, "words of the references", (size_t)t->reference_length);
        begin_score(r, t, "bleu", "score", &t->bleu);
        add_precisions(r, t, "precisions", NULL);
        report_number(r, "brevity_penalty", NULL, t->brevity, 0);
        report_count(r, "length", NULL, (size_t)t->length);
        report_count(r, "reference_length", NULL, (size_t)t->reference_length);
        add_signature(r, t, "signature", NULL, bleu);
        report_end(r);
        begin_score(r, t, "chrf", "score", &t->chrf);
        add_signature(r, t, "signature", NULL, chrf);
        report_end(r);
        for (size_t k = 0; k < RAN_ROUGES; k++) {
                begin_score(r, t, rouge[k][0], "f1", &t->rouge[k]);
                report_number(r, "precision", NULL, t->rouge_precision[k], 0);
                report_number(r, "recall", NULL, t->rouge_recall[k], 0);
                report_end(r);
        }
}

/* ---- a page --------------------------------------------------------------------------------- */

/* Texts on a page, and bytes of each that it shows. */
enum { WORST = 200, SHOWN = 4000 };

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
        page_put(&d->body, "p", "chrF %.1f", chrf);
        if (source->len > 0)
                add_text(&r, "source", source);
        add_text(&r, "reference", reference);
        add_text(&r, "generated", text);
        report_page(&r, &d->body);
        report_release(&r);
}

void lm_eval_page_add(struct lm_eval_page *page, const struct lm_compared *compared)
{
        const struct page_document *d = &compared->document;
        const int tenth = (int)(ran_text_chrf(&compared->counts) / 10);

        page->by_chrf[tenth < 0 ? 0 : tenth > 9 ? 9 : tenth]++;
        page->worst.most = WORST;
        if (page_documents_want(&page->worst, d->doubt))
                page_documents_add(&page->worst, d);
}

/* ---- the page -------------------------------------------------------------------------------- */

void lm_eval_page_write(struct lm_eval_page *page, const struct ran_text_report *report,
                        const char *model, size_t skipped, const char *output)
{
        const size_t n = report->n;
        struct ran_buf lead = {0};
        struct report r = {0};
        struct cmd_sink out;

        cmd_sink_open(&out, output);
        if (model != NULL)
                ran_buf_printf(&lead, "Model %s; ", model);
        ran_buf_printf(&lead, "%zu text%s compared with a reference", n, n == 1 ? "" : "s");
        if (skipped > 0)
                ran_buf_printf(&lead, "; %zu records have none", skipped);
        ran_buf_char(&lead, '.');
        page_begin(&out.buf, "Evaluation of generated texts", &lead);
        lm_eval_tree(report, &r);
        report_begin(&r, REPORT_LIST, NULL, "Texts by their chrF");
        for (size_t i = 0; i < 10; i++) {
                report_begin(&r, REPORT_OBJECT, NULL, "");
                report_put(&r, NULL, "chrF", "%zu to %zu", 10 * i, 10 * i + 10);
                report_count(&r, NULL, "texts", page->by_chrf[i]);
                report_bar(&r, NULL, "share", (double)page->by_chrf[i] / (double)n);
                report_end(&r);
        }
        report_end(&r);
        report_page(&r, &out.buf);
        report_release(&r);
        page_worst_write(&page->worst, "The texts least like their references", n, "texts", &out);
        page_end(&out.buf);
        cmd_sink_close(&out);
        page_documents_release(&page->worst);
}
