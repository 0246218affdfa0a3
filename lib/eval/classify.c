/* classify.c - what a classifier got right: counts and sums, one document at a time.
 *
 * All rates follow from three counts a class (tp, fp, fn). Errors are kept as a list of
 * (gold, predicted) cells that is merged when it fills up, because a square table of 50,000 classes
 * would not fit and most of it would be zero.
 */
#include "eval/eval.h"
#include "ran/math.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_UNKNOWN = 100 };

struct bin {
        size_t n;
        double confidence, correct; /* sums */
};

struct ran_eval {
        size_t C;
        const char *const *names;
        bool multilabel;

        size_t n, n_known, exact;
        size_t top[RAN_EVAL_TOP];
        double log_loss, brier; /* sums */
        struct bin bin[RAN_EVAL_BINS];
        bool sets;
        float cut;
        size_t covered, members, single, single_right, empty;
        struct ran_eval_class *classes; /* (C) */
        struct ran_eval_cell *cells;
        size_t n_cells, cells_cap;
        struct ran_eval_label *unknown;
        size_t n_unknown, unknown_cap, unknown_total;
        bool *is_gold; /* (C) scratch, all false between documents */
};

struct ran_eval *ran_eval_new(size_t C, const char *const *names, bool multilabel)
{
        struct ran_eval *e = ran_new(1, sizeof(*e));

        e->C = C;
        e->names = names;
        e->multilabel = multilabel;
        e->classes = ran_new(C, sizeof(*e->classes));
        e->is_gold = ran_new(C, sizeof(*e->is_gold));
        return e;
}

void ran_eval_free(struct ran_eval *e)
{
        if (e == NULL)
                return;
        for (size_t i = 0; i < e->n_unknown; i++)
                free(e->unknown[i].name);
        free(e->unknown);
        free(e->cells);
        free(e->classes);
        free(e->is_gold);
        free(e);
}

/* ---- cells ---------------------------------------------------------------------------------- */

static int compare_cells(const void *a, const void *b)
{
        const struct ran_eval_cell *x = a, *y = b;

        if (x->gold != y->gold)
                return x->gold < y->gold ? -1 : 1;
        return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

/* Sorts the cells and joins those of the same place. */
static void join_cells(struct ran_eval *e)
{
        size_t kept = 0;

        if (e->n_cells > 0)
                qsort(e->cells, e->n_cells, sizeof(*e->cells), compare_cells);
        for (size_t i = 0; i < e->n_cells; i++) {
                if (kept > 0 && compare_cells(&e->cells[kept - 1], &e->cells[i]) == 0)
                        e->cells[kept - 1].count += e->cells[i].count;
                else
                        e->cells[kept++] = e->cells[i];
        }
        e->n_cells = kept;
}

static void add_cell(struct ran_eval *e, uint32_t gold, uint32_t predicted)
{
        if (e->n_cells == e->cells_cap) {
                join_cells(e);
                /* Half of it is free afterwards, so that not every document joins cells again. */
                RAN_ROOM(e->cells, e->cells_cap, 2 * e->n_cells + 2);
        }
        e->cells[e->n_cells++] = (struct ran_eval_cell){gold, predicted, 1};
}

/* ---- one document --------------------------------------------------------------------------- */

/* -log p of what happened. A float is never closer to 1 than 2^-24 without being 1, nor closer to 0
 * than FLT_MIN: one bad document must not make the mean infinite. */
static double surprise(double p, bool happened)
{
        return happened ? -ran_log(fmax(p, FLT_MIN)) : -ran_log(fmax(1 - p, 0x1p-25));
}

static void add_to_bin(struct ran_eval *e, double p, bool correct)
{
        size_t i = p > 0 ? (size_t)(p * RAN_EVAL_BINS) : 0;
        struct bin *bin = &e->bin[i < RAN_EVAL_BINS ? i : RAN_EVAL_BINS - 1];

        bin->n++;
        bin->confidence += p;
        bin->correct += correct;
}

static void score_probabilities(struct ran_eval *e, uint32_t gold, uint32_t predicted,
                                const float *p)
{
        size_t before = 0; /* classes that are more probable than gold */

        for (size_t c = 0; c < e->C; c++) {
                double error = p[c] - (double)(c == gold);
                e->brier += error * error;
                before += p[c] > p[gold] || (p[c] == p[gold] && c < gold);
        }
        for (size_t k = before; k < RAN_EVAL_TOP; k++)
                e->top[k]++;
        e->log_loss += surprise(p[gold], true);
        add_to_bin(e, p[predicted], predicted == gold);
        e->n_known++;
}

void ran_eval_sets(struct ran_eval *e, float cut)
{
        e->sets = true;
        e->cut = cut;
}

/* gold NULL: none of the classes. */
static void count_set(struct ran_eval *e, const uint32_t *gold, const float *p)
{
        bool covered = gold != NULL && p[*gold] >= e->cut;
        size_t n = 0;

        for (size_t c = 0; c < e->C; c++)
                n += p[c] >= e->cut;
        e->members += n;
        e->covered += covered;
        e->single += n == 1;
        e->single_right += n == 1 && covered;
        e->empty += n == 0;
}

size_t ran_most_probable(const float *p, size_t C)
{
        size_t best = 0;

        for (size_t c = 1; c < C; c++)
                best = p[c] > p[best] ? c : best;
        return best;
}

/* A gold label that the model does not know makes any prediction wrong. */
void ran_eval_add_decided(struct ran_eval *e, const uint32_t *gold, size_t unknown, const float *p,
                          uint32_t predicted)
{
        const bool given = predicted < e->C;

        e->n++;
        e->unknown_total += unknown;
        if (e->sets)
                count_set(e, gold, p);
        if (given && (gold == NULL || *gold != predicted))
                e->classes[predicted].fp++;
        if (gold == NULL)
                return;
        if (given)
                add_cell(e, *gold, predicted);
        e->classes[*gold].support++;
        e->classes[*gold].tp += *gold == predicted;
        e->classes[*gold].fn += *gold != predicted;
        e->exact += *gold == predicted;
        score_probabilities(e, *gold, given ? predicted : (uint32_t)ran_most_probable(p, e->C), p);
}

static void add_multiple(struct ran_eval *e, const uint32_t *gold, size_t n_gold, size_t unknown,
                         const float *p, const float *thresholds)
{
        double loss = 0, brier = 0;
        bool exact = unknown == 0;

        e->n++;
        e->unknown_total += unknown;
        for (size_t i = 0; i < n_gold; i++)
                e->is_gold[gold[i]] = true;
        for (size_t c = 0; c < e->C; c++) {
                bool is_gold = e->is_gold[c];
                bool predicted = p[c] >= (thresholds != NULL ? thresholds[c] : 0.5f);
                struct ran_eval_class *class = &e->classes[c];

                class->support += is_gold;
                class->tp += is_gold && predicted;
                class->fn += is_gold && !predicted;
                class->fp += !is_gold && predicted;
                exact = exact && is_gold == predicted;
                if (unknown > 0)
                        continue;
                loss += surprise(p[c], is_gold);
                brier += (p[c] - (double)is_gold) * (p[c] - (double)is_gold);
                add_to_bin(e, p[c], is_gold);
        }
        for (size_t i = 0; i < n_gold; i++)
                e->is_gold[gold[i]] = false;
        e->exact += exact;
        e->n_known += unknown == 0;
        e->log_loss += loss / (double)e->C;
        e->brier += brier / (double)e->C;
}

void ran_eval_add(struct ran_eval *e, const uint32_t *gold, size_t n_gold, size_t unknown,
                  const float *p, const float *thresholds)
{
        if (e->multilabel)
                add_multiple(e, gold, n_gold, unknown, p, thresholds);
        else
                ran_eval_add_decided(e, n_gold > 0 ? gold : NULL, unknown, p,
                                     (uint32_t)ran_most_probable(p, e->C));
}

/* ---- labels that the model does not know ---------------------------------------------------- */

void ran_eval_unknown(struct ran_eval *e, const char *name, size_t n)
{
        size_t at = 0;
        int order = 1;

        while (at < e->n_unknown &&
               (order = ran_order(e->unknown[at].name, e->unknown[at].length, name, n)) < 0)
                at++;
        if (at < e->n_unknown && order == 0) {
                e->unknown[at].count++;
                return;
        }
        if (e->n_unknown == NAMED_UNKNOWN)
                return;
        RAN_ROOM(e->unknown, e->unknown_cap, e->n_unknown + 1);
        struct ran_eval_label *place = e->unknown + at;
        memmove(place + 1, place, (e->n_unknown - at) * sizeof *place);
        *place = (struct ran_eval_label){ran_copy(name, n), n, 1};
        e->n_unknown++;
}

/* ---- the numbers ---------------------------------------------------------------------------- */

static struct ran_prf rates_of(double tp, double fp, double fn)
{
        return (struct ran_prf){
                .precision = tp + fp > 0 ? tp / (tp + fp) : 0,
                .recall = tp + fn > 0 ? tp / (tp + fn) : 0,
                .f1 = tp > 0 ? 2 * tp / (2 * tp + fp + fn) : 0,
        };
}

/* A class that is neither in the data nor ever predicted has no rates, and no part in the mean. */
static void finish_rates(struct ran_eval *e, struct ran_eval_report *r)
{
        size_t tp = 0, fp = 0, fn = e->unknown_total, support = 0, seen = 0;

        for (size_t c = 0; c < e->C; c++) {
                struct ran_eval_class *class = &e->classes[c];
                class->rates = rates_of((double)class->tp, (double)class->fp, (double)class->fn);
                ran_prf_add(&r->weighted, &class->rates, (double)class->support);
                if (class->support + class->fp > 0) {
                        ran_prf_add(&r->macro, &class->rates, 1);
                        seen++;
                }
                tp += class->tp;
                fp += class->fp;
                fn += class->fn;
                support += class->support;
        }
        r->micro = rates_of((double)tp, (double)fp, (double)fn);
        ran_prf_divide(&r->macro, (double)seen);
        ran_prf_divide(&r->weighted, (double)support);
}

static double calibration_error(const struct ran_eval *e)
{
        double gap = 0;
        size_t n = 0;

        for (size_t i = 0; i < RAN_EVAL_BINS; i++) {
                gap += fabs(e->bin[i].confidence - e->bin[i].correct);
                n += e->bin[i].n;
        }
        return gap / (double)n;
}

void ran_eval_finish(struct ran_eval *e, struct ran_eval_report *report)
{
        join_cells(e);
        *report = (struct ran_eval_report){
                .n = e->n,
                .C = e->C,
                .names = e->names,
                .multilabel = e->multilabel,
                .accuracy = (double)e->exact / (double)e->n,
                .n_known = e->n_known,
                .log_loss = e->log_loss / (double)e->n_known,
                .brier = e->brier / (double)e->n_known,
                .ece = calibration_error(e),
                .sets = e->sets,
                .covered = (double)e->covered / (double)e->n,
                .set_size = (double)e->members / (double)e->n,
                .single = (double)e->single / (double)e->n,
                .empty = (double)e->empty / (double)e->n,
                .single_accuracy = (double)e->single_right / (double)e->single,
                .classes = e->classes,
                .confusion = e->cells,
                .cells = e->n_cells,
                .unknown = e->unknown,
                .n_unknown = e->n_unknown,
                .unknown_total = e->unknown_total,
        };
        for (size_t c = 1; c < e->C; c++)
                if (e->classes[c].support > e->classes[report->most_frequent].support)
                        report->most_frequent = c;
        report->baseline = (double)e->classes[report->most_frequent].support / (double)e->n;
        for (size_t k = 0; k < RAN_EVAL_TOP; k++)
                report->top[k] = (double)e->top[k] / (double)e->n;
        finish_rates(e, report);
}
