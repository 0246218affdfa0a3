/* eval.c - predicted labels against those of the records. */
#include "cmd/classify/eval.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/classify/eval-report.h"

static int compare_classes(const void *a, const void *b, void *names)
{
        const char *const *name = names;

        return strcmp(name[*(const uint32_t *)a], name[*(const uint32_t *)b]);
}

int classify_eval_init(struct classify_eval *e, const struct ran_model *model,
                       const float *thresholds, const struct decision *decision,
                       struct ran_error *err)
{
        *e = (struct classify_eval){.thresholds = thresholds,
                                    .decision = decision,
                                    .multilabel = ran_model_config(model)->classify.multilabel,
                                    .C = ran_model_classes(model)};
        e->names = ran_alloc(e->C, sizeof *e->names, err);
        e->by_name = ran_alloc(e->C, sizeof *e->by_name, err);
        if (e->names == NULL || e->by_name == NULL) {
                classify_eval_release(e);
                return RAN_ENOMEM;
        }
        for (size_t c = 0; c < e->C; c++) {
                e->names[c] = ran_model_label(model, c);
                e->by_name[c] = (uint32_t)c;
        }
        qsort_r(e->by_name, e->C, sizeof *e->by_name, compare_classes, e->names);
        e->eval = ran_eval_new(e->C, e->names, e->multilabel);
        return RAN_OK;
}

void classify_eval_release(struct classify_eval *e)
{
        ran_eval_free(e->eval);
        cmd_labels_release(&e->labels);
        free(e->names);
        free(e->by_name);
        free(e->gold);
        free(e->unknown_label);
        *e = (struct classify_eval){0};
}

/* Compares the name, of n bytes, with that of a class. */
static int compare_name(const char *name, size_t n, const char *class)
{
        size_t m = strlen(class), shorter = n < m ? n : m;
        int order = shorter > 0 ? memcmp(name, class, shorter) : 0;

        return order != 0 ? order : (n > m) - (n < m);
}

static bool find_class(const struct classify_eval *e, const char *name, size_t n, uint32_t *class)
{
        size_t low = 0, high = e->C;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = compare_name(name, n, e->names[e->by_name[middle]]);
                if (order == 0) {
                        *class = e->by_name[middle];
                        return true;
                }
                if (order < 0)
                        high = middle;
                else
                        low = middle + 1;
        }
        return false;
}

static int compare_names(const void *a, const void *b)
{
        const struct classify_eval_name *x = a, *y = b;
        size_t n = x->n < y->n ? x->n : y->n;
        int order = n > 0 ? memcmp(x->text, y->text, n) : 0;

        return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

/* Each label once, even if the record repeats it. */
static void note_unknown(struct classify_eval *e, size_t n, size_t *unknown)
{
        if (n > 0)
                qsort(e->unknown_label, n, sizeof *e->unknown_label, compare_names);
        for (size_t i = 0; i < n; i++) {
                const struct classify_eval_name *name = &e->unknown_label[i];
                if (i > 0 && compare_names(name - 1, name) == 0)
                        continue;
                ++*unknown;
                ran_eval_unknown(e->eval, name->text, name->n);
        }
}

/* The known labels of the record as classes; counts the others. */
static int find_gold(struct classify_eval *e, size_t *n, size_t *unknown, struct ran_error *err)
{
        const struct cmd_labels *l = &e->labels;
        size_t n_unknown = 0;
        uint32_t *gold = ran_grow(e->gold, &e->gold_cap, l->n, sizeof *gold, err);

        if (gold == NULL)
                return RAN_ENOMEM;
        e->gold = gold;
        struct classify_eval_name *names =
                ran_grow(e->unknown_label, &e->unknown_cap, l->n, sizeof *names, err);
        if (names == NULL)
                return RAN_ENOMEM;
        e->unknown_label = names;
        *n = *unknown = 0;
        for (size_t i = 0, begin = 0; i < l->n; begin = l->end[i++]) {
                size_t length = l->end[i] - begin;
                const char *name = length > 0 ? l->names.data + begin : "";
                uint32_t class;
                if (find_class(e, name, length, &class))
                        gold[(*n)++] = class;
                else
                        names[n_unknown++] = (struct classify_eval_name){name, length};
        }
        note_unknown(e, n_unknown, unknown);
        return RAN_OK;
}

int classify_eval_add(struct classify_eval *e, const struct record *record, const float *p,
                      struct ran_error *err)
{
        size_t n, unknown;

        if (p == NULL) {
                e->skipped++;
                return RAN_OK;
        }
        RAN_TRY(cmd_labels_read(&e->labels, record, err));
        if (!e->labels.present) {
                e->skipped++;
                return RAN_OK;
        }
        if (!e->multilabel && e->labels.n != 1)
                return ran_fail(err, RAN_EFORMAT,
                                "\"labels\" has %zu labels, but the model predicts one",
                                e->labels.n);
        RAN_TRY(find_gold(e, &n, &unknown, err));
        e->compared++;
        e->n_gold = n;
        e->n_unknown = unknown;
        if (e->multilabel || !decision_is_set(e->decision)) {
                ran_eval_add(e->eval, e->gold, n, unknown, p, e->thresholds);
                return RAN_OK;
        }
        const size_t given = decision_choose(e->decision, p);
        if (e->decision->by_cost)
                e->cost += n > 0 ? decision_cost_of(e->decision, e->gold[0], given) : 1;
        ran_eval_add_decided(e->eval, n > 0 ? e->gold : NULL, unknown, p, (uint32_t)given);
        return RAN_OK;
}

size_t classify_eval_best(const struct classify_eval *e, const float *p)
{
        size_t chosen = decision_choose(e->decision, p);

        return chosen < e->C ? chosen : ran_most_probable(p, e->C);
}

void classify_eval_tree(const struct classify_eval *e, struct report *r)
{
        struct ran_eval_report figures;

        ran_eval_finish(e->eval, &figures);
        figures.n_skipped = e->skipped;
        classify_eval_figures(&figures, r);
        if (e->decision->by_cost)
                report_number(r, "mean_cost", "mean cost", e->cost / (double)e->compared, 4);
}
