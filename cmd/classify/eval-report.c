/* eval-report.c - an evaluation as a report: figures, labels, confusions. */
#include "cmd/classify/classify.h"

#include <stdlib.h>

#include "cmd/options/message.h"

/* MATRIX: the classes of the largest matrix in JSON; beyond, it has the cells above 0 only. TOLD:
 * warnings of labels that look alike. */
enum { MATRIX = 50, CONFUSIONS = 40, TOLD = 5 };

static void add_rates(struct report *r, const struct ran_prf *rates)
{
        report_share(r, "precision", "precision", rates->precision);
        report_share(r, "recall", "recall", rates->recall);
        report_bar(r, "f1", "F1", rates->f1);
}

static void add_average(struct report *r, const char *name, const struct ran_prf *rates)
{
        report_begin(r, REPORT_OBJECT, name, NULL);
        add_rates(r, rates);
        report_end(r);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void add_baseline(const struct ran_eval_report *e, struct report *r)
{
        const char *label = e->names[e->most_frequent];

        report_share(r, NULL, "baseline", e->baseline);
        report_note(r, "always %s", label);
        report_begin(r, REPORT_OBJECT, "baseline", NULL);
        report_string(r, "label", NULL, label);
        report_share(r, "accuracy", NULL, e->baseline);
        report_end(r);
}

static void add_top(const struct ran_eval_report *e, struct report *r)
{
        static const char *const name[RAN_EVAL_TOP] = {"1", "2", "3", "4", "5"};
        static const char *const title[RAN_EVAL_TOP] = {NULL, "among the first 2",
                                                        "among the first 3", "among the first 4",
                                                        "among the first 5"};

        report_begin(r, REPORT_OBJECT, "top_k", "");
        for (size_t k = 0; k < RAN_EVAL_TOP && k < e->C; k++)
                report_share(r, name[k], k + 1 < e->C ? title[k] : NULL, e->top[k]);
        report_end(r);
}

static void add_sets(const struct ran_eval_report *e, struct report *r)
{
        report_begin(r, REPORT_OBJECT, "sets", "Prediction sets");
        report_share(r, "coverage", "coverage", e->covered);
        report_note(r, "share with the true label");
        report_number(r, "size", "labels in a set", e->set_size, 4);
        report_note(r, "mean");
        report_share(r, "empty", "sets of none", e->empty);
        report_share(r, "single", "sets of one", e->single);
        report_share(r, "single_accuracy", "of these right", e->single_accuracy);
        report_end(r);
}

static void add_figures(const struct ran_eval_report *e, struct report *r)
{
        size_t tp = 0, errors = 0;

        for (size_t c = 0; c < e->C; c++) {
                tp += e->classes[c].tp;
                errors += e->classes[c].fp + e->classes[c].fn;
        }
        report_count(r, "n", "documents", e->n);
        if (e->n > 0 && e->n < 200)
                report_note(r, "so few give rough figures: see the intervals");
        report_count(r, "n_skipped", e->n_skipped > 0 ? "without a label" : NULL, e->n_skipped);
        report_note(r, "left out");
        report_share(r, "accuracy", "accuracy", e->accuracy);
        report_interval(r, ran_interval_share(e->accuracy * (double)e->n, (double)e->n));
        if (e->multilabel)
                report_note(r, "all labels of a document right");
        else
                add_baseline(e, r);
        add_average(r, "micro", &e->micro);
        report_share(r, NULL, e->multilabel ? "micro F1" : NULL, e->micro.f1);
        report_interval(r, ran_interval_f1((double)tp, (double)errors));
        add_average(r, "macro", &e->macro);
        report_share(r, NULL, "macro F1", e->macro.f1);
        report_note(r, "mean over the labels");
        add_average(r, "weighted", &e->weighted);
        const bool known = e->n_known > 0; /* else they would be 0 / 0 */
        report_number(r, "log_loss", known ? "log loss" : NULL, e->log_loss, 4);
        report_note(r, "0 is best");
        report_number(r, "brier", known ? "Brier score" : NULL, e->brier, 4);
        report_note(r, "0 is best");
        report_share(r, "ece", known ? "calibration error" : NULL, e->ece);
        report_note(r, "how far probabilities are from shares of right answers");
}

/* ---- labels ---------------------------------------------------------------------------------- */

static void add_class(const struct ran_eval_report *e, size_t c, struct report *r)
{
        const struct ran_eval_class *k = &e->classes[c];

        report_begin(r, REPORT_OBJECT, "", k->support + k->fp > 0 ? "" : NULL);
        report_string(r, "label", "label", e->names[c]);
        report_count(r, "tp", "right", k->tp);
        report_count(r, "fp", "wrong", k->fp);
        report_count(r, "fn", "missed", k->fn);
        report_count(r, "support", "documents", k->support);
        report_share(r, "precision", "precision", k->rates.precision);
        report_share(r, "recall", "recall", k->rates.recall);
        report_interval(r, ran_interval_share((double)k->tp, (double)k->support));
        report_bar(r, "f1", "F1", k->rates.f1);
        report_end(r);
}

static void add_mean(struct report *r, const char *name, const struct ran_prf *rates,
                     size_t support)
{
        report_begin(r, REPORT_OBJECT, NULL, "");
        report_string(r, "label", "label", name);
        for (int i = 0; i < 3; i++)
                report_none(r, "");
        report_count(r, "support", "documents", support);
        add_rates(r, rates);
        report_end(r);
}

static void add_classes(const struct ran_eval_report *e, struct report *r)
{
        size_t support = 0;

        report_begin(r, REPORT_LIST, "per_class", "Labels");
        for (size_t c = 0; c < e->C; c++) {
                add_class(e, c, r);
                support += e->classes[c].support;
        }
        add_mean(r, "micro average", &e->micro, support);
        add_mean(r, "macro average", &e->macro, support);
        add_mean(r, "weighted average", &e->weighted, support);
        report_end(r);
}

/* ---- confusions ------------------------------------------------------------------------------ */

static void add_matrix(const struct ran_eval_report *e, struct report *r)
{
        const struct ran_eval_cell *cell = e->confusion, *end = e->confusion + e->cells;

        report_begin(r, REPORT_MATRIX, "confusion", "Confusion matrix");
        report_note(r, "Rows: the label in the data. Columns, in the same order: the label found.");
        report_begin(r, REPORT_LIST, "labels", "");
        for (size_t c = 0; c < e->C; c++)
                report_string(r, "", "", e->names[c]);
        report_end(r);
        report_begin(r, REPORT_LIST, "matrix", "");
        for (size_t gold = 0; gold < e->C; gold++) {
                report_begin(r, REPORT_LIST, "", "");
                for (size_t c = 0; c < e->C; c++) {
                        const bool here = cell < end && cell->gold == gold && cell->predicted == c;
                        report_count(r, "", "", here ? cell->count : 0);
                        cell += here;
                }
                report_end(r);
        }
        report_end(r);
        report_end(r);
}

static void add_cells(const struct ran_eval_report *e, const struct ran_eval_cell *cell, size_t n,
                      const char *name, const char *title, struct report *r)
{
        report_begin(r, REPORT_LIST, name, title);
        for (size_t i = 0; i < n; i++) {
                report_begin(r, REPORT_OBJECT, "", "");
                report_string(r, "gold", "in the data", e->names[cell[i].gold]);
                report_string(r, "predicted", "found", e->names[cell[i].predicted]);
                report_count(r, "count", "documents", cell[i].count);
                report_end(r);
        }
        report_end(r);
}

static int by_count(const void *a, const void *b)
{
        const struct ran_eval_cell *x = a, *y = b;

        if (x->count != y->count)
                return x->count > y->count ? -1 : 1;
        if (x->gold != y->gold)
                return x->gold < y->gold ? -1 : 1;
        return x->predicted < y->predicted ? -1 : 1;
}

/* Warns of those that the model has in another way of writing. */
static void add_unknown(const struct ran_eval_report *e, struct report *r)
{
        const size_t C = e->n_unknown > 0 ? e->C : 0;
        struct cmd_folded *folded = cmd_folded_new((char *const *)e->names, C);
        size_t told = 0;

        report_begin(r, REPORT_OBJECT, "unknown_labels", "");
        report_count(r, "count", NULL, e->unknown_total);
        report_begin(r, REPORT_LIST, "labels", "Labels that the model does not have");
        for (size_t i = 0; i < e->n_unknown; i++) {
                const struct ran_eval_label *l = &e->unknown[i];
                char *name = ran_copy(l->name, l->length);
                const char *like = cmd_label_like(folded, (char *const *)e->names, C, name);
                struct ran_buf how = {0};

                report_begin(r, REPORT_OBJECT, "", "");
                report_bytes(r, REPORT_TEXT, "label", like == NULL ? "label" : NULL, l->name,
                             l->length);
                if (like != NULL) {
                        cmd_label_difference(&how, name, like);
                        report_put(r, NULL, "label", "\"%s\": this and \"%s\" %.*s", name, like,
                                   (int)how.len, how.data);
                        if (told++ < TOLD)
                                cmd_caution(
                                        "the label \"%.100s\" of the data (%zu times) counts as "
                                        "wrong: the model has \"%.100s\"; they %.*s: write them "
                                        "alike",
                                        name, l->count, like, (int)how.len, how.data);
                }
                report_count(r, "count", "times", l->count);
                report_end(r);
                ran_buf_release(&how);
                free(name);
        }
        cmd_folded_free(folded, C);
        report_end(r);
        report_end(r);
}

void classify_eval_figures(const struct ran_eval_report *e, struct report *r)
{
        struct ran_eval_cell *wrong = ran_new(e->cells + 1, sizeof *wrong);
        size_t n = 0;

        add_figures(e, r);
        if (e->sets)
                add_sets(e, r);
        if (!e->multilabel)
                add_top(e, r);
        add_classes(e, r);
        if (!e->multilabel && e->C <= MATRIX) {
                add_matrix(e, r);
        } else if (!e->multilabel) {
                report_begin(r, REPORT_OBJECT, "confusion", NULL);
                add_cells(e, e->confusion, e->cells, "cells", NULL, r);
                report_end(r);
        }
        for (size_t i = 0; i < e->cells; i++)
                if (e->confusion[i].gold != e->confusion[i].predicted)
                        wrong[n++] = e->confusion[i];
        if (n > 0)
                qsort(wrong, n, sizeof *wrong, by_count);
        if (!e->multilabel)
                add_cells(e, wrong, n < CONFUSIONS ? n : CONFUSIONS, NULL,
                          "Most frequent confusions", r);
        free(wrong);
        add_unknown(e, r);
}
