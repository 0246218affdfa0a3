/* page.c - predictions as a page: documents with label, probabilities and evidence.
 *
 * Threads make the HTML of a document; the page takes them in order. Counts for its tables are
 * sums, so they may be added in any order. */
#include "cmd/classify/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/outputs.h"
#include "cmd/pages/page.h"

/* EXCERPT: bytes shown of a document that is folded; AROUND: on each side of a passage of evidence.
 */
enum { EXCERPT = 320, AROUND = 90, BARS = 5, BINS = 10 };

struct page {
        struct classifier classifier;
        struct page_documents documents;
        atomic_size_t *given;      /* (C) documents with that label */
        atomic_size_t none;        /* without any */
        atomic_size_t bins[BINS];  /* by the probability of the most probable label */
        atomic_size_t gold, right; /* one label a document: with a gold label; equal to it */
};

/* ---- a document ------------------------------------------------------------------------------ */

/* From 0, sure, to 1. One label: of the most probable one. Several: of that nearest to its
 * threshold. */
static double doubt_of(const struct classifier *c, const float *p, size_t best)
{
        double least = 1;

        if (c->thresholds == NULL)
                return 1 - (double)p[best];
        for (size_t i = 0; i < c->C; i++) {
                double t = (double)c->thresholds[i], x = (double)p[i];
                double to = x >= t ? (x - t) / fmax(1 - t, 1e-9) : (t - x) / fmax(t, 1e-9);

                least = fmin(least, to);
        }
        return 1 - least;
}

/* The labels given, with their probabilities or not. */
static void add_labels(struct report *r, const struct classifier *c, const float *p, size_t best,
                       const char *title, bool probabilities)
{
        size_t n = 0;

        report_begin(r, REPORT_LIST, NULL, title);
        for (size_t i = 0; i < c->C; i++) {
                const char *label = ran_model_label(c->model, i);

                if (classify_gives(c, p, best, i) && ++n > 0)
                        report_label(r, REPORT_LABEL, "", label, strlen(label),
                                     probabilities ? (double)p[i] : NAN);
        }
        if (n == 0)
                report_bytes(r, REPORT_LACK, NULL, "", "no label", 8);
        report_end(r);
}

/* The gold labels, and whether they are the predicted ones. */
static void add_gold(struct report *r, struct page *page, const struct cmd_labels *gold,
                     const float *p, size_t best)
{
        const struct classifier *c = &page->classifier;
        size_t found = 0, given = 0;

        for (size_t i = 0; i < c->C; i++)
                given += classify_gives(c, p, best, i);
        report_begin(r, REPORT_LIST, NULL, "gold");
        for (size_t k = 0, begin = 0; k < gold->n; begin = gold->end[k++]) {
                const char *name = gold->names.data + begin;
                const size_t class = decision_label(&c->decision, name, gold->end[k] - begin);
                const bool right = class < c->C && classify_gives(c, p, best, class);

                found += right;
                report_label(r, right ? REPORT_RIGHT : REPORT_WRONG, "", name, gold->end[k] - begin,
                             NAN);
        }
        if (gold->n == 0)
                report_bytes(r, REPORT_LACK, NULL, "", "no label", 8);
        report_end(r);
        atomic_fetch_add(&page->gold, 1);
        atomic_fetch_add(&page->right, found == gold->n && given == gold->n);
}

/* The most probable labels with bars. */
static void add_bars(struct ran_buf *out, const struct classifier *c, struct classify_scratch *s)
{
        const size_t asked = c->options->top, bars = asked > 0 ? asked : BARS;
        struct report r = {0};

        classify_rank(c, s);
        for (size_t k = 0; k < bars && k < c->C; k++)
                report_bar(&r, NULL, ran_model_label(c->model, s->ranked[k].c),
                           (double)s->ranked[k].p);
        report_page(&r, out);
        report_release(&r);
}

/* ---- its text -------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
        const struct page_mark *x = a, *y = b;

        return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                    : (x->end > y->end) - (x->end < y->end);
}

/* Adds the passages for a class to s->mark. */
static int find_evidence(struct classify_scratch *s, size_t class, const char *label,
                         struct ran_error *err)
{
        const struct classify_passage *passage;
        size_t n;

        RAN_TRY(classify_evidence_find(s->evidence, class, s->p[class], &passage, &n, err));
        for (; n > 0; n--, passage++) {
                struct page_mark m = {.start = passage->start, .end = passage->end, .colour = -1};

                if (!cmd_shown_place(&s->shown, &m.start, &m.end))
                        continue;
                if (isfinite(passage->without))
                        snprintf(m.title, sizeof m.title, "%.1f %%; without it %.1f %%",
                                 100 * (double)s->p[class], 100 * (double)passage->without);
                m.label = label;
                m.label_n = label != NULL ? strlen(label) : 0;
                RAN_ROOM(s->mark, s->mark_cap, s->mark_n + 1);
                s->mark[s->mark_n++] = m;
        }
        return RAN_OK;
}

/* Passages for several labels may overlap: the first stays. */
static void sort_marks(struct classify_scratch *s)
{
        size_t kept = 0;

        if (s->mark_n > 0)
                qsort(s->mark, s->mark_n, sizeof *s->mark, by_start);
        for (size_t i = 0; i < s->mark_n; i++)
                if (kept == 0 || s->mark[i].start >= s->mark[kept - 1].end)
                        s->mark[kept++] = s->mark[i];
        s->mark_n = kept;
}

static int find_marks(const struct classifier *c, struct classify_scratch *s, size_t best,
                      struct ran_error *err)
{
        s->mark_n = 0;
        if (s->evidence == NULL)
                return RAN_OK;
        if (c->thresholds == NULL)
                return find_evidence(s, best, NULL, err);
        for (size_t i = 0; i < c->C; i++)
                if (s->p[i] >= c->thresholds[i])
                        RAN_TRY(find_evidence(s, i, ran_model_label(c->model, i), err));
        sort_marks(s);
        return RAN_OK;
}

/* A passage with some text around it. */
static void add_quote(struct ran_buf *out, const struct cmd_shown *shown,
                      const struct page_mark *mark)
{
        const char *text = shown->text.data;
        size_t from = page_back(text, mark->start, AROUND);
        size_t to = page_forward(text, shown->text.len, mark->end, AROUND);

        page_open(out, "div.quote");
        page_open(out, "span.text");
        ran_buf_str(out, from > 0 ? "\xe2\x80\xa6 " : "");
        page_marked(out, text, from, to, mark, 1);
        ran_buf_str(out, to < shown->text.len ? " \xe2\x80\xa6" : "");
        page_close(out, "span");
        if (mark->title[0] != '\0') {
                ran_buf_char(out, ' ');
                page_put(out, "small", "%s", mark->title);
        }
        page_close(out, "div");
}

static void add_text(struct ran_buf *out, struct classify_scratch *s)
{
        const struct ran_buf *text = &s->shown.text;

        for (size_t i = 0; i < s->mark_n; i++)
                add_quote(out, &s->shown, &s->mark[i]);
        sort_marks(s);
        if (s->mark_n == 0)
                page_put_excerpt(out, text->data, text->len, EXCERPT);
        if (s->mark_n > 0 || text->len > EXCERPT)
                page_document_text(out, "div.text", text, s->mark, s->mark_n, true);
}

/* ---- in any thread --------------------------------------------------------------------------- */

static int work(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        struct page *page = arg;
        const struct classifier *c = &page->classifier;
        struct page_document *d = result->found;
        struct classify_scratch *s = scratch;
        struct report labels = {0};
        struct ran_error ignored;
        size_t given = 0;

        RAN_TRY(classify_score(c, s, line, err));
        size_t best = decision_best(&c->decision, s->p);
        RAN_TRY(cmd_shown_read(&s->shown, &s->document, &line->record, err));
        RAN_TRY(find_marks(c, s, best, err));
        page_record_name(&d->name, &line->record.json, line->file, line->number);
        add_labels(&d->row, c, s->p, best, "label", false);
        report_bar(&d->row, NULL, "probability", (double)s->p[best]);
        add_labels(&labels, c, s->p, best, "found", true);
        if (cmd_labels_there(&line->record) &&
            cmd_labels_read(&s->gold, &line->record, &ignored) == RAN_OK && s->gold.present)
                add_gold(&labels, page, &s->gold, s->p, best);
        report_page(&labels, &d->body);
        report_release(&labels);
        add_bars(&d->body, c, s);
        if (s->evidence != NULL && s->mark_n == 0)
                page_put(&d->body, "p.note", "No evidence: %s.",
                         classify_evidence_lacking(s->evidence));
        add_text(&d->body, s);
        d->doubt = doubt_of(c, s->p, best);
        const size_t bin = (size_t)(s->p[best] * BINS);
        for (size_t i = 0; i < c->C; i++)
                if (classify_gives(c, s->p, best, i)) {
                        atomic_fetch_add(&page->given[i], 1);
                        given++;
                }
        atomic_fetch_add(&page->none, given == 0);
        atomic_fetch_add(&page->bins[bin < BINS ? bin : BINS - 1], 1);
        return RAN_OK;
}

static int take(void *arg, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        (void)line;
        (void)err;
        page_documents_add(&((struct page *)arg)->documents, result->found);
        return RAN_OK;
}

/* ---- the page -------------------------------------------------------------------------------- */

static void add_share(struct report *r, size_t n, size_t of)
{
        report_count(r, NULL, "documents", n);
        report_bar(r, NULL, "share", (double)n / (double)of);
        report_end(r);
}

static void add_labels_given(const struct page *p, struct report *r)
{
        const struct classifier *c = &p->classifier;
        const size_t n = p->documents.seen;

        report_begin(r, REPORT_LIST, NULL, "Labels");
        for (size_t i = 0; i < c->C; i++) {
                if (p->given[i] == 0)
                        continue;
                report_begin(r, REPORT_OBJECT, NULL, "");
                report_string(r, NULL, "label", ran_model_label(c->model, i));
                add_share(r, p->given[i], n);
        }
        if (p->none > 0) {
                report_begin(r, REPORT_OBJECT, NULL, "");
                report_bytes(r, REPORT_LACK, NULL, "label", "no label", 8);
                add_share(r, p->none, n);
        }
        report_end(r);
}

static void add_probabilities(const struct page *p, struct report *r)
{
        report_begin(r, REPORT_LIST, NULL, "Most probable label");
        for (size_t i = BINS; i-- > 0;) {
                if (p->bins[i] == 0)
                        continue;
                report_begin(r, REPORT_OBJECT, NULL, "");
                report_put(r, NULL, "probability", "%zu to %zu\xc2\xa0%%", 100 * i / BINS,
                           100 * (i + 1) / BINS);
                add_share(r, p->bins[i], p->documents.seen);
        }
        report_end(r);
}

static void write_page(struct page *p, const struct cmd_counts *counts)
{
        const size_t n = p->documents.seen;
        struct report labels = {0}, probabilities = {0};
        struct ran_buf lead = {0};
        struct cmd_sink out;

        page_count(&lead, n);
        ran_buf_printf(&lead, " document%s, model %s", n == 1 ? "" : "s",
                       p->classifier.options->model);
        if (p->gold > 0)
                ran_buf_printf(&lead, "; labels as in the record: %zu of %zu (measure with --eval)",
                               (size_t)p->right, (size_t)p->gold);
        if (counts->bad + counts->passed > 0)
                ran_buf_printf(&lead, "; %zu records failed and are not here",
                               counts->bad + counts->passed);
        cmd_sink_open(&out, p->classifier.options->output.output);
        page_begin(&out.buf, "Labelled documents", &lead);
        if (n > 0) { /* one beside the other */
                add_labels_given(p, &labels);
                add_probabilities(p, &probabilities);
                page_open(&out.buf, "div.charts");
                page_open(&out.buf, "div");
                report_page(&labels, &out.buf);
                page_close(&out.buf, "div");
                page_open(&out.buf, "div");
                report_page(&probabilities, &out.buf);
                page_close(&out.buf, "div");
                page_close(&out.buf, "div");
        }
        report_release(&labels);
        report_release(&probabilities);
        page_documents_write(&p->documents,
                             p->classifier.thresholds != NULL
                                     ? "In doubt: labels close to their thresholds"
                                     : "In doubt: the least probable labels",
                             &out);
        page_end(&out.buf);
        cmd_sink_close(&out);
}

int classify_page(const struct classifier *c, struct cmd_loop loop, char **files)
{
        const char *output = c->options->output.output;
        struct page p = {.classifier = *c};
        struct cmd_counts counts;

        cmd_check_output(output, files);
        if (output == NULL)
                cmd_check_standard_output(files);
        p.given = ran_new(c->C, sizeof *p.given);
        loop.output = NULL;
        loop.work = p.classifier.work = work;
        loop.take = take;
        loop.result_size = sizeof(struct page_document);
        loop.release = page_document_release;
        loop.arg = &p;
        int status = cmd_records(&loop, files, &counts);
        write_page(&p, &counts);
        page_documents_release(&p.documents);
        free(p.given);
        return status;
}
