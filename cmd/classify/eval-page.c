/* eval-page.c - an evaluation as a page: tables, charts, and the worst errors with their text. */
#include "cmd/classify/eval-page.h"

#include <math.h>
#include <string.h>

#include "cmd/pages/element.h"
#include "cmd/pages/page.h"
#include "cmd/pages/record-name.h"
#include "cmd/pages/style.h"
#include "cmd/pages/table.h"

/* WORST: errors shown; EXCERPT: bytes of their texts; MATRIX: labels of the largest matrix that is
 * shown whole; PAIRS: confusions that are listed beside or instead of it. */
enum { WORST = 50, EXCERPT = 1500, MATRIX = 30, PAIRS = 40 };

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

static void add_label(struct ran_buf *out, const struct classify_eval *e, size_t i, float p,
                      enum page_element kind)
{
        ran_buf_char(out, ' ');
        page_put(out, kind, "%s", e->names[i]);
        ran_buf_char(out, ' ');
        page_put_share(out, (double)p);
}

static void add_lack(struct ran_buf *out)
{
        ran_buf_char(out, ' ');
        page_put(out, HTML_LACK, "no label");
}

static void add_answer(struct ran_buf *out, const struct classify_eval *e, const float *p,
                       size_t best)
{
        size_t n = 0;

        page_open(out, HTML_PARAGRAPH);
        ran_buf_str(out, "found:");
        for (size_t i = 0; i < e->C; i++)
                if (is_given(e, p, best, i) && ++n > 0)
                        add_label(out, e, i, p[i],
                                  is_gold(e, i) ? HTML_LABEL_RIGHT : HTML_LABEL_WRONG);
        if (n == 0)
                add_lack(out);
        page_break(out);
        ran_buf_str(out, "gold:");
        for (size_t i = 0; i < e->n_gold; i++)
                add_label(out, e, e->gold[i], p[e->gold[i]], HTML_LABEL);
        for (size_t i = 0; i < e->n_unknown; i++) {
                ran_buf_char(out, ' ');
                page_put_text(out, HTML_LABEL, e->unknown_label[i].text, e->unknown_label[i].n);
                ran_buf_char(out, ' ');
                page_put(out, HTML_SMALL, "not a label of the model");
        }
        if (e->n_gold + e->n_unknown == 0)
                add_lack(out);
        page_close(out, HTML_PARAGRAPH);
}

static int add_error(struct classify_eval_page *page, const struct classify_eval *e,
                     const struct cmd_line *line, const struct classify_answer *a, double bad,
                     struct ran_error *err)
{
        struct page_document d = {.doubt = bad};

        page_record_name(&d.name, &line->record, line->file, line->number);
        add_answer(&d.body, e, a->p, classify_eval_best(e, a->p));
        page_put_excerpt(&d.body, a->text.data, a->text.len, EXCERPT);
        int rc = page_documents_add(&page->worst, &d, err);
        page_document_release(&d);
        return rc;
}

int classify_eval_page_add(struct classify_eval_page *p, const struct classify_eval *e,
                           const struct cmd_line *line, const struct classify_answer *a,
                           struct ran_error *err)
{
        size_t best = classify_eval_best(e, a->p);
        double bad = badness(e, a->p, best);

        p->worst.most = WORST;
        atomic_fetch_add(&p->reliability.gold, e->n_gold + e->n_unknown);
        if (!e->multilabel)
                page_reliability_add(&p->reliability, (double)a->p[best], is_gold(e, best));
        for (size_t i = 0; e->multilabel && i < e->C; i++)
                page_reliability_add(&p->reliability, (double)a->p[i], is_gold(e, i));
        p->errors += bad > 0;
        if (!(bad > 0) || !page_documents_want(&p->worst, bad))
                return RAN_OK;
        return add_error(p, e, line, a, bad, err);
}

void classify_eval_page_release(struct classify_eval_page *p)
{
        page_documents_release(&p->worst);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void fact(struct page_table *t, const char *name, double share, const char *note)
{
        page_row(t, CELL_NAME(name), CELL_PERCENT(share, 2), CELL_NOTE(note));
}

static void write_facts(const struct ran_eval_report *r, struct ran_buf *out)
{
        struct page_table t = page_table_begin(out, PAGE_WIDE, NULL);
        struct ran_interval i = ran_interval_share(r->accuracy * (double)r->n, (double)r->n);
        size_t tp = 0, errors = 0;
        char note[96];

        for (size_t c = 0; c < r->C; c++) {
                tp += r->classes[c].tp;
                errors += r->classes[c].fp + r->classes[c].fn;
        }
        snprintf(note, sizeof note, "95 %% interval: %.1f to %.1f", 100 * i.low, 100 * i.high);
        fact(&t, r->multilabel ? "all labels right" : "accuracy", r->accuracy, note);
        if (!r->multilabel)
                fact(&t, "baseline", r->baseline, "always the most frequent label");
        i = ran_interval_f1((double)tp, (double)errors);
        snprintf(note, sizeof note, "95 %% interval: about %.1f to %.1f", 100 * i.low,
                 100 * i.high);
        if (r->multilabel)
                fact(&t, "micro F1", r->micro.f1, note);
        fact(&t, "macro F1", r->macro.f1, "mean over the labels");
        page_row(&t, CELL_NAME("log loss"), CELL_FIGURE(r->log_loss, 4), CELL_NOTE("0 is best"));
        page_row(&t, CELL_NAME("Brier score"), CELL_FIGURE(r->brier, 4), CELL_NOTE("0 is best"));
        fact(&t, "calibration error", r->ece,
             "expected: how far probabilities are from shares of right answers");
        if (r->sets) {
                fact(&t, "coverage of prediction sets", r->covered, "share with the true label");
                page_row(&t, CELL_NAME("labels in a set"), CELL_FIGURE(r->set_size, 4),
                         CELL_NOTE("mean"));
        }
        page_table_end(&t);
        if (r->n < 200)
                page_put(out, HTML_NOTE,
                         "With %zu documents these figures are rough: see the intervals.", r->n);
}

static void write_label(const struct ran_eval_report *r, size_t c, struct page_table *t)
{
        const struct ran_eval_class *k = &r->classes[c];
        const struct ran_interval of = ran_interval_share((double)k->tp, (double)k->support);

        page_row(t, CELL_NAME(r->names[c]),
                 CELL_PERCENT(k->tp + k->fp > 0 ? k->rates.precision : NAN, 1),
                 k->support > 0 ? CELL_INTERVAL(k->rates.recall, of) : CELL_PERCENT(NAN, 1),
                 CELL_PERCENT(k->rates.f1, 1), CELL_BAR(k->rates.f1), CELL_COUNT(k->support),
                 CELL_COUNT(k->tp + k->fp));
}

static void write_labels(const struct ran_eval_report *r, struct ran_buf *out)
{
        page_put(out, HTML_HEADING, "Labels");
        struct page_table t = page_table_begin(
                out, PAGE_WIDE, "label|#precision|#recall (95 % interval)|#F1||#gold|#found");
        for (size_t c = 0; c < r->C; c++)
                if (r->classes[c].support > 0 || r->classes[c].fp > 0)
                        write_label(r, c, &t);
        page_table_end(&t);
}

/* ---- confusions ------------------------------------------------------------------------------ */

static size_t cell_of(const struct ran_eval_report *r, size_t gold, size_t found)
{
        for (size_t i = 0; i < r->cells; i++)
                if (r->confusion[i].gold == gold && r->confusion[i].predicted == found)
                        return r->confusion[i].count;
        return 0;
}

static void write_matrix(const struct ran_eval_report *r, struct ran_buf *out)
{
        struct page_table t = page_table_begin(out, PAGE_CELLS, NULL);

        page_row_open(&t, NULL);
        page_cells(out, CELL_HEAD("gold \\ found"));
        for (size_t c = 0; c < r->C; c++)
                page_cells(out, CELL_HEAD(r->names[c]));
        page_row_close(&t);
        for (size_t g = 0; g < r->C; g++) {
                const size_t of = r->classes[g].support;

                page_row_open(&t, NULL);
                page_cells(out, CELL_NAME(r->names[g]));
                for (size_t c = 0; c < r->C; c++) {
                        const size_t n = cell_of(r, g, c);

                        page_cells(out,
                                   CELL_SHADED(n, of > 0 ? (double)n / (double)of : 0, g == c));
                }
                page_row_close(&t);
        }
        page_table_end(&t);
        page_put(out, HTML_NOTE,
                 "A line has the documents of a gold label; the stronger the colour of a cell, the "
                 "larger its share of them.");
}

/* The most frequent ones, by looking for the next largest. */
static void write_pairs(const struct ran_eval_report *r, struct ran_buf *out)
{
        size_t last_n = SIZE_MAX, last_i = 0;

        page_put(out, HTML_SUBHEADING, "Most frequent confusions");
        struct page_table t = page_table_begin(out, PAGE_WIDE, "gold|found|#documents");
        for (size_t k = 0; k < PAIRS; k++) {
                const struct ran_eval_cell *next = NULL;

                for (size_t i = 0; i < r->cells; i++) {
                        const struct ran_eval_cell *c = &r->confusion[i];
                        bool later = c->count < last_n || (c->count == last_n && i > last_i);

                        if (c->gold != c->predicted && later &&
                            (next == NULL || c->count > next->count))
                                next = c;
                }
                if (next == NULL)
                        break;
                last_n = next->count;
                last_i = (size_t)(next - r->confusion);
                page_row(&t, CELL_NAME(r->names[next->gold]), CELL_TEXT(r->names[next->predicted]),
                         CELL_COUNT(next->count));
        }
        page_table_end(&t);
}

static void write_confusion(const struct ran_eval_report *r, struct ran_buf *out)
{
        bool any = false;

        if (r->multilabel)
                return;
        for (size_t i = 0; i < r->cells; i++)
                any = any || r->confusion[i].gold != r->confusion[i].predicted;
        page_put(out, HTML_HEADING, "Confusion matrix");
        if (r->C <= MATRIX)
                write_matrix(r, out);
        else
                page_put(out, HTML_NOTE, "Left out: %zu labels are too many for a matrix.", r->C);
        if (any && r->C > 2)
                write_pairs(r, out);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void write_unknown(const struct ran_eval_report *r, struct ran_buf *out)
{
        if (r->n_unknown == 0)
                return;
        page_put(out, HTML_HEADING, "Gold labels that the model does not have");
        struct page_table t = page_table_begin(out, PAGE_PLAIN, NULL);
        for (size_t i = 0; i < r->n_unknown; i++)
                page_row(&t, CELL_NAMED(r->unknown[i].name, r->unknown[i].length),
                         CELL_COUNT(r->unknown[i].count));
        page_table_end(&t);
}

void classify_eval_page_write(struct classify_eval_page *p, const struct classify_eval *e,
                              const char *model, struct cmd_sink *out)
{
        struct ran_eval_report r;
        struct ran_buf lead = {0};

        ran_eval_finish(e->eval, &r);
        page_count(&lead, r.n);
        ran_buf_printf(&lead, " documents, model %s", model);
        if (e->skipped > 0)
                ran_buf_printf(&lead, "; %zu without a label are left out", e->skipped);
        page_begin(&out->buf, "Evaluation", &lead);
        write_facts(&r, &out->buf);
        write_labels(&r, &out->buf);
        write_confusion(&r, &out->buf);
        page_reliability_write(&p->reliability, e->multilabel ? "labels" : "documents",
                               e->multilabel ? NULL : "documents with a label",
                               e->multilabel
                                       ? "One threshold for all labels, over all documents and "
                                         "labels."
                                       : "Documents whose label is less probable than the "
                                         "threshold get none.",
                               &out->buf);
        write_unknown(&r, &out->buf);
        page_worst_write(&p->worst, "Worst errors", p->errors, "documents with an error", out);
        page_end(&out->buf, page_documents_script);
}
