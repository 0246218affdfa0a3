/* eval.c - predicted labels against those of the records. */
#include "cmd/classify/classify.h"

#include <stdlib.h>

void classify_eval_init(struct classify_eval *e, const float *thresholds,
                        const struct decision *decision)
{
        const struct ran_model *m = decision->model;

        *e = (struct classify_eval){.thresholds = thresholds,
                                    .decision = decision,
                                    .multilabel = ran_model_config(m)->classify.multilabel,
                                    .C = ran_model_classes(m)};
        e->names = ran_new(e->C, sizeof *e->names);
        for (size_t c = 0; c < e->C; c++)
                e->names[c] = ran_model_label(m, c);
        e->eval = ran_eval_new(e->C, e->names, e->multilabel);
}

void classify_eval_release(struct classify_eval *e)
{
        ran_eval_free(e->eval);
        cmd_labels_release(&e->labels);
        free(e->names);
        free(e->gold);
        free(e->unknown_label);
        *e = (struct classify_eval){0};
}

static int compare_names(const void *a, const void *b)
{
        const struct classify_eval_name *x = a, *y = b;

        return ran_order(x->text, x->n, y->text, y->n);
}

/* The known labels of the record as classes; counts the others. */
static void find_gold(struct classify_eval *e)
{
        const struct cmd_labels *l = &e->labels;
        struct classify_eval_name *unknown;
        size_t n = 0;

        RAN_ROOM(e->gold, e->gold_cap, l->n);
        RAN_ROOM(e->unknown_label, e->unknown_cap, l->n);
        unknown = e->unknown_label;
        e->n_gold = e->n_unknown = 0;
        for (size_t i = 0, begin = 0; i < l->n; begin = l->end[i++]) {
                const size_t length = l->end[i] - begin;
                const char *name = length > 0 ? l->names.data + begin : "";
                const size_t c = decision_label(e->decision, name, length);

                if (c < e->C)
                        e->gold[e->n_gold++] = (uint32_t)c;
                else
                        unknown[n++] = (struct classify_eval_name){name, length};
        }
        /* Each label once, even if the record repeats it. */
        if (n > 0)
                qsort(unknown, n, sizeof *unknown, compare_names);
        for (size_t i = 0; i < n; i++)
                if (i == 0 || compare_names(&unknown[i - 1], &unknown[i]) != 0) {
                        e->n_unknown++;
                        ran_eval_unknown(e->eval, unknown[i].text, unknown[i].n);
                }
}

int classify_eval_add(struct classify_eval *e, const struct record *record, const float *p,
                      struct ran_error *err)
{
        if (p != NULL)
                RAN_TRY(cmd_labels_read(&e->labels, record, err));
        if (p == NULL || !e->labels.present) {
                e->skipped++;
                return RAN_OK;
        }
        if (!e->multilabel && e->labels.n != 1)
                return ran_fail(err, RAN_EFORMAT,
                                "\"labels\" has %zu labels, but the model predicts one",
                                e->labels.n);
        find_gold(e);
        e->compared++;
        if (e->multilabel)
                ran_eval_add(e->eval, e->gold, e->n_gold, e->n_unknown, p, e->thresholds);
        else
                ran_eval_add_decided(e->eval, e->n_gold > 0 ? e->gold : NULL, e->n_unknown, p,
                                     (uint32_t)decision_choose(e->decision, p));
        return RAN_OK;
}

void classify_eval_tree(const struct classify_eval *e, struct report *r)
{
        struct ran_eval_report figures;

        ran_eval_finish(e->eval, &figures);
        figures.n_skipped = e->skipped;
        classify_eval_figures(&figures, r);
}
