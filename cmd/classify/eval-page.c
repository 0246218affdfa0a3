/* eval-page.c - an evaluation as a page: tables, charts, and the worst errors with their text. */
#include "cmd/classify/classify.h"

#include <math.h>
#include <string.h>

#include "cmd/pages/page.h"

/* WORST: errors shown; EXCERPT: bytes of their texts. */
enum { WORST = 50, EXCERPT = 1500 };

/* ---- documents ------------------------------------------------------------------------------- */

static bool is_gold(const struct classify_eval *e, size_t class)
{
        for (size_t i = 0; i < e->n_gold; i++)
                if (e->gold[i] == class)
                        return true;
        return false;
}

static bool is_given(const struct classify_eval *e, const float *p, size_t best, size_t i)
{
        return e->multilabel ? p[i] >= e->thresholds[i]
                             : i == best && decision_choose(e->decision, p) == best;
}

/* How wrong the answer is; 0: it is right. */
static double badness(const struct classify_eval *e, const float *p, size_t best)
{
        double sum = (double)e->n_unknown;

        if (!e->multilabel)
                return is_gold(e, best) && is_given(e, p, best, best)
                               ? 0
                               : (double)p[best] - (e->n_gold > 0 ? (double)p[e->gold[0]] : 0) +
                                         1e-9;
        for (size_t i = 0; i < e->C; i++)
                if (is_gold(e, i) != is_given(e, p, best, i))
                        sum += fabs((double)p[i] - (double)e->thresholds[i]) + 1e-9;
        return sum;
}

static void add_answer(struct report *r, const struct classify_eval *e, const float *p, size_t best)
{
        size_t n = 0;

        report_begin(r, REPORT_LIST, NULL, "found");
        for (size_t i = 0; i < e->C; i++)
                if (is_given(e, p, best, i) && ++n > 0)
                        report_label(r, is_gold(e, i) ? REPORT_RIGHT : REPORT_WRONG, "",
                                     e->names[i], strlen(e->names[i]), (double)p[i]);
        if (n == 0)
                report_bytes(r, REPORT_LACK, NULL, "", "no label", 8);
        report_end(r);
        report_begin(r, REPORT_LIST, NULL, "gold");
        for (size_t i = 0; i < e->n_gold; i++)
                report_label(r, REPORT_LABEL, "", e->names[e->gold[i]],
                             strlen(e->names[e->gold[i]]), (double)p[e->gold[i]]);
        for (size_t i = 0; i < e->n_unknown; i++) {
                report_label(r, REPORT_LABEL, "", e->unknown_label[i].text, e->unknown_label[i].n,
                             NAN);
                report_bytes(r, REPORT_LACK, NULL, "", "not a label of the model", 24);
        }
        if (e->n_gold + e->n_unknown == 0)
                report_bytes(r, REPORT_LACK, NULL, "", "no label", 8);
        report_end(r);
}

void classify_eval_page_add(struct classify_eval_page *p, const struct classify_eval *e,
                            const struct cmd_line *line, const struct classify_answer *a)
{
        const size_t best = decision_best(e->decision, a->p);
        struct page_document d = {.doubt = badness(e, a->p, best)};
        struct report r = {0};

        p->worst.most = WORST;
        atomic_fetch_add(&p->reliability.gold, e->n_gold + e->n_unknown);
        if (!e->multilabel)
                page_reliability_add(&p->reliability, (double)a->p[best], is_gold(e, best));
        for (size_t i = 0; e->multilabel && i < e->C; i++)
                page_reliability_add(&p->reliability, (double)a->p[i], is_gold(e, i));
        p->errors += d.doubt > 0;
        if (!(d.doubt > 0) || !page_documents_want(&p->worst, d.doubt))
                return;
        page_record_name(&d.name, &line->record.json, line->file, line->number);
        add_answer(&r, e, a->p, best);
        report_page(&r, &d.body);
        report_release(&r);
        page_put_excerpt(&d.body, a->text.data, a->text.len, EXCERPT);
        page_documents_add(&p->worst, &d);
        page_document_release(&d);
}

/* ---- the page -------------------------------------------------------------------------------- */

void classify_eval_page_write(struct classify_eval_page *p, const struct classify_eval *e,
                              const char *model, const char *output)
{
        struct report r = {0};
        struct ran_buf lead = {0};
        struct cmd_sink out;

        cmd_sink_open(&out, output);
        classify_eval_tree(e, &r);
        page_count(&lead, e->compared);
        ran_buf_printf(&lead, " documents, model %s", model);
        if (e->skipped > 0)
                ran_buf_printf(&lead, "; %zu without a label are left out", e->skipped);
        page_begin(&out.buf, "Evaluation", &lead);
        report_page(&r, &out.buf);
        report_release(&r);
        page_reliability_write(&p->reliability, e->multilabel ? "labels" : "documents",
                               e->multilabel ? NULL : "documents with a label",
                               e->multilabel
                                       ? "One threshold for all labels, over all documents and "
                                         "labels."
                                       : "Documents whose label is less probable than the "
                                         "threshold get none.",
                               &out.buf);
        page_worst_write(&p->worst, "Worst errors", p->errors, "documents with an error", &out);
        page_end(&out.buf);
        cmd_sink_close(&out);
        page_documents_release(&p->worst);
}
