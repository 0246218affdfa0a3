/* report.c - the numbers of an evaluation for machines (JSON) and for people. */
#include "ran/eval.h"

#include <stdlib.h>
#include <string.h>

/* A square table of so many classes is still read; beyond, only its cells above zero are given. */
enum { LARGEST_MATRIX = 50, LARGEST_TEXT_MATRIX = 12, SHOWN_CONFUSIONS = 20 };

/* The name of a class; a number has its digits in `number`. */
static const char *label_of(const struct ran_eval_report *r, size_t c, char number[32])
{
        if (r->names != NULL)
                return r->names[c];
        snprintf(number, 32, "%zu", c);
        return number;
}

/* How many documents of class `gold` were taken for class `predicted`; the cells are in order. */
static size_t confused(const struct ran_eval_report *r, size_t gold, size_t predicted, size_t *at)
{
        while (*at < r->cells &&
               (r->confusion[*at].gold < gold ||
                (r->confusion[*at].gold == gold && r->confusion[*at].predicted < predicted)))
                (*at)++;
        if (*at < r->cells && r->confusion[*at].gold == gold &&
            r->confusion[*at].predicted == predicted)
                return r->confusion[*at].count;
        return 0;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_label(const struct ran_eval_report *r, size_t c, struct ran_buf *out)
{
        char number[32];
        const char *label = label_of(r, c, number);

        ran_buf_json(out, label, strlen(label));
}

/* before: "," or, for the first member of an object, "". */
static void json_number(struct ran_buf *out, const char *before, const char *name, double x)
{
        ran_buf_printf(out, "%s\"%s\":", before, name);
        ran_buf_double(out, x);
}

static void json_rates(struct ran_buf *out, const char *before, const struct ran_prf *rates)
{
        json_number(out, before, "precision", rates->precision);
        json_number(out, ",", "recall", rates->recall);
        json_number(out, ",", "f1", rates->f1);
}

static void json_average(struct ran_buf *out, const char *name, const struct ran_prf *rates)
{
        ran_buf_printf(out, ",\"%s\":{", name);
        json_rates(out, "", rates);
        ran_buf_char(out, '}');
}

static void json_top(const struct ran_eval_report *r, struct ran_buf *out)
{
        ran_buf_str(out, ",\"top_k\":{");
        for (size_t k = 1; k <= RAN_EVAL_TOP && k <= r->C; k++) {
                ran_buf_printf(out, "%s\"%zu\":", k == 1 ? "" : ",", k);
                ran_buf_double(out, r->top[k - 1]);
        }
        ran_buf_char(out, '}');
}

static void json_baseline(const struct ran_eval_report *r, struct ran_buf *out)
{
        ran_buf_str(out, ",\"baseline\":{\"label\":");
        json_label(r, r->most_frequent, out);
        json_number(out, ",", "accuracy", r->baseline);
        ran_buf_char(out, '}');
}

static void json_classes(const struct ran_eval_report *r, struct ran_buf *out)
{
        ran_buf_str(out, ",\"per_class\":[");
        for (size_t c = 0; c < r->C; c++) {
                const struct ran_eval_class *class = &r->classes[c];
                ran_buf_str(out, c == 0 ? "{\"label\":" : ",{\"label\":");
                json_label(r, c, out);
                ran_buf_printf(out, ",\"tp\":%zu,\"fp\":%zu,\"fn\":%zu,\"support\":%zu", class->tp,
                               class->fp, class->fn, class->support);
                json_rates(out, ",", &class->rates);
                ran_buf_char(out, '}');
        }
        ran_buf_char(out, ']');
}

static void json_matrix(const struct ran_eval_report *r, struct ran_buf *out)
{
        size_t at = 0;

        ran_buf_str(out, ",\"confusion\":{\"labels\":[");
        for (size_t c = 0; c < r->C; c++) {
                ran_buf_str(out, c == 0 ? "" : ",");
                json_label(r, c, out);
        }
        ran_buf_str(out, "],\"matrix\":[");
        for (size_t gold = 0; gold < r->C; gold++) {
                ran_buf_str(out, gold == 0 ? "[" : ",[");
                for (size_t c = 0; c < r->C; c++)
                        ran_buf_printf(out, "%s%zu", c == 0 ? "" : ",", confused(r, gold, c, &at));
                ran_buf_char(out, ']');
        }
        ran_buf_str(out, "]}");
}

static void json_cells(const struct ran_eval_report *r, struct ran_buf *out)
{
        ran_buf_str(out, ",\"confusion\":{\"cells\":[");
        for (size_t i = 0; i < r->cells; i++) {
                ran_buf_str(out, i == 0 ? "{\"gold\":" : ",{\"gold\":");
                json_label(r, r->confusion[i].gold, out);
                ran_buf_str(out, ",\"predicted\":");
                json_label(r, r->confusion[i].predicted, out);
                ran_buf_printf(out, ",\"count\":%zu}", r->confusion[i].count);
        }
        ran_buf_str(out, "]}");
}

static void json_unknown(const struct ran_eval_report *r, struct ran_buf *out)
{
        ran_buf_printf(out, ",\"unknown_labels\":{\"count\":%zu,\"labels\":[", r->unknown_total);
        for (size_t i = 0; i < r->n_unknown; i++) {
                ran_buf_str(out, i == 0 ? "{\"label\":" : ",{\"label\":");
                ran_buf_json(out, r->unknown[i].name, r->unknown[i].length);
                ran_buf_printf(out, ",\"count\":%zu}", r->unknown[i].count);
        }
        ran_buf_str(out, "]}");
}

static void json_sets(const struct ran_eval_report *r, struct ran_buf *out)
{
        json_number(out, ",\"sets\":{", "coverage", r->covered);
        json_number(out, ",", "size", r->set_size);
        json_number(out, ",", "empty", r->empty);
        json_number(out, ",", "single", r->single);
        json_number(out, ",", "single_accuracy", r->single_accuracy);
        ran_buf_char(out, '}');
}

void ran_eval_json(const struct ran_eval_report *r, struct ran_buf *out)
{
        ran_buf_printf(out, "{\"n\":%zu,\"n_skipped\":%zu", r->n, r->n_skipped);
        json_number(out, ",", "accuracy", r->accuracy);
        if (!r->multilabel)
                json_baseline(r, out);
        json_average(out, "micro", &r->micro);
        json_average(out, "macro", &r->macro);
        json_average(out, "weighted", &r->weighted);
        json_number(out, ",", "log_loss", r->log_loss);
        json_number(out, ",", "brier", r->brier);
        json_number(out, ",", "ece", r->ece);
        if (r->sets)
                json_sets(r, out);
        if (!r->multilabel)
                json_top(r, out);
        json_classes(r, out);
        if (!r->multilabel && r->C <= LARGEST_MATRIX)
                json_matrix(r, out);
        else if (!r->multilabel)
                json_cells(r, out);
        json_unknown(r, out);
        ran_buf_char(out, '}');
}

/* ---- text ----------------------------------------------------------------------------------- */

static void text_label(const struct ran_eval_report *r, size_t c, size_t width, struct ran_buf *out)
{
        char number[32];
        const char *label = label_of(r, c, number);
        size_t n = ran_shown_width(label, strlen(label));

        ran_buf_shown(out, label, strlen(label));
        ran_buf_printf(out, "%*s", (int)(width > n ? width - n : 0), "");
}

static size_t widest_label(const struct ran_eval_report *r)
{
        size_t widest = strlen("weighted"); /* the names of averages stand in this column, too */

        for (size_t c = 0; c < r->C; c++) {
                char number[32];
                size_t n = ran_shown_width(label_of(r, c, number), strlen(label_of(r, c, number)));
                widest = n > widest ? n : widest;
        }
        return widest < 40 ? widest : 40;
}

static void text_rates(const struct ran_prf *rates, struct ran_buf *out)
{
        ran_buf_printf(out, "  %9.4f  %6.4f  %6.4f", rates->precision, rates->recall, rates->f1);
}

static void text_average(const char *name, size_t width, const struct ran_prf *rates,
                         struct ran_buf *out)
{
        ran_buf_printf(out, "%-*s", (int)width, name);
        text_rates(rates, out);
        ran_buf_char(out, '\n');
}

static void text_classes(const struct ran_eval_report *r, size_t width, struct ran_buf *out)
{
        ran_buf_printf(out,
                       "\n%-*s  precision  recall      F1  documents   right   wrong  missed\n",
                       (int)width, "");
        for (size_t c = 0; c < r->C; c++) {
                const struct ran_eval_class *class = &r->classes[c];
                text_label(r, c, width, out);
                text_rates(&class->rates, out);
                ran_buf_printf(out, "  %9zu  %6zu  %6zu  %6zu\n", class->support, class->tp,
                               class->fp, class->fn);
        }
        text_average("micro", width, &r->micro, out);
        text_average("macro", width, &r->macro, out);
        text_average("weighted", width, &r->weighted, out);
}

static void text_matrix(const struct ran_eval_report *r, size_t width, struct ran_buf *out)
{
        size_t at = 0;

        ran_buf_str(
                out,
                "\nRows: the label in the data. Columns, in the same order: the label found.\n");
        for (size_t gold = 0; gold < r->C; gold++) {
                text_label(r, gold, width, out);
                for (size_t c = 0; c < r->C; c++)
                        ran_buf_printf(out, "  %6zu", confused(r, gold, c, &at));
                ran_buf_char(out, '\n');
        }
}

/* The i-th largest cell off the diagonal comes after `last` in this order: by count, falling, then
 * as in the list. */
static bool comes_later(const struct ran_eval_cell *cell, const struct ran_eval_cell *last)
{
        return last == NULL || cell->count < last->count ||
               (cell->count == last->count && cell > last);
}

static void text_confusions(const struct ran_eval_report *r, struct ran_buf *out)
{
        const struct ran_eval_cell *last = NULL;

        ran_buf_str(out, "\nMost frequent confusions: the label in the data, the label found.\n");
        for (size_t shown = 0; shown < SHOWN_CONFUSIONS; shown++) {
                const struct ran_eval_cell *best = NULL;
                for (size_t i = 0; i < r->cells; i++) {
                        const struct ran_eval_cell *cell = &r->confusion[i];
                        if (cell->gold != cell->predicted && comes_later(cell, last) &&
                            (best == NULL || cell->count > best->count))
                                best = cell;
                }
                if (best == NULL)
                        break;
                ran_buf_printf(out, "%7zu  ", best->count);
                text_label(r, best->gold, 0, out);
                ran_buf_str(out, "  ");
                text_label(r, best->predicted, 0, out);
                ran_buf_char(out, '\n');
                last = best;
        }
}

static void text_unknown(const struct ran_eval_report *r, struct ran_buf *out)
{
        ran_buf_printf(out, "\nLabels that the model does not know, %zu times:\n",
                       r->unknown_total);
        for (size_t i = 0; i < r->n_unknown; i++) {
                ran_buf_printf(out, "%7zu  ", r->unknown[i].count);
                ran_buf_shown(out, r->unknown[i].name, r->unknown[i].length);
                ran_buf_char(out, '\n');
        }
}

void ran_eval_text(const struct ran_eval_report *r, struct ran_buf *out)
{
        size_t width = widest_label(r);

        ran_buf_printf(out, "documents          %zu\n", r->n);
        if (r->n_skipped > 0)
                ran_buf_printf(out, "without a label    %zu (left out)\n", r->n_skipped);
        ran_buf_printf(out, "accuracy           %.4f%s\n", r->accuracy,
                       r->multilabel ? " (all labels of a document right)" : "");
        if (!r->multilabel) {
                ran_buf_printf(out, "baseline           %.4f (always ", r->baseline);
                text_label(r, r->most_frequent, 0, out);
                ran_buf_str(out, ")\n");
        }
        for (size_t k = 2; !r->multilabel && k <= RAN_EVAL_TOP && k < r->C; k++)
                ran_buf_printf(out, "among the first %zu  %.4f\n", k, r->top[k - 1]);
        if (r->n_known > 0) { /* else they would be 0 / 0 */
                ran_buf_printf(out, "log loss           %.4f\n", r->log_loss);
                ran_buf_printf(out, "Brier score        %.4f\n", r->brier);
                ran_buf_printf(out, "calibration error  %.4f\n", r->ece);
        }
        if (r->sets) {
                ran_buf_printf(out, "sets with the label %.4f\n", r->covered);
                ran_buf_printf(out, "labels in a set    %.4f\n", r->set_size);
                ran_buf_printf(out, "sets of none       %.4f\n", r->empty);
                ran_buf_printf(out, "sets of one        %.4f", r->single);
                if (r->single > 0)
                        ran_buf_printf(out, ", of which right %.4f", r->single_accuracy);
                ran_buf_char(out, '\n');
        }
        text_classes(r, width, out);
        if (!r->multilabel && r->C <= LARGEST_TEXT_MATRIX)
                text_matrix(r, width, out);
        else if (!r->multilabel)
                text_confusions(r, out);
        if (r->unknown_total > 0)
                text_unknown(r, out);
}
