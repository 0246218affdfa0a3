/* against.c - --against: another model on the same records. */
#include "cmd/classify/classify.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

void classify_against_open(struct classify_against *a, const struct classifier *c,
                           const struct cmd_names *names)
{
        const struct classify_options *o = c->options;
        struct ran_model *m = cmd_model_open(o->against, o->verify, RAN_TASK_CLASSIFY);
        const struct ran_list none = {0};

        const bool several = ran_model_config(m)->classify.multilabel;

        if (ran_model_config(c->model)->classify.multilabel != several)
                cmd_die(CMD_FAILED,
                        "--against %s: it gives %s, and the other model does not, so they cannot "
                        "be compared",
                        o->against, several ? "several labels a document" : "one label a document");
        *a = (struct classify_against){.other = {.options = o,
                                                 .model = m,
                                                 .pool = c->pool,
                                                 .C = ran_model_classes(m),
                                                 .D = ran_model_config(m)->dim}};
        a->other.thresholds = classify_thresholds(m, o);
        decision_open(&a->other.decision, m, &none, true);
        a->pairs = ran_paired_new(several);
        classify_eval_init(&a->eval, a->other.thresholds, &a->other.decision);
        a->eval.labels.called = names;
        a->is_gold[0] = ran_new(c->C, sizeof(bool));
        a->is_gold[1] = ran_new(a->other.C, sizeof(bool));
}

void classify_against_close(struct classify_against *a)
{
        ran_paired_free(a->pairs);
        free(a->is_gold[0]);
        free(a->is_gold[1]);
        classify_eval_release(&a->eval);
        decision_release(&a->other.decision);
        free((float *)a->other.thresholds);
        ran_model_free((struct ran_model *)a->other.model);
        *a = (struct classify_against){0};
}

/* ---- the answer of a model to a record ------------------------------------------------------- */

static struct ran_answer answer_of(const struct classify_eval *e, const float *p, bool *is_gold)
{
        struct ran_answer a = {0};

        if (!e->multilabel) {
                a.right = e->n_gold > 0 && e->gold[0] == ran_most_probable(p, e->C);
                a.wrong = a.missed = !a.right;
                return a;
        }
        a.missed = (uint32_t)e->n_unknown;
        memset(is_gold, 0, e->C * sizeof *is_gold);
        for (size_t i = 0; i < e->n_gold; i++)
                is_gold[e->gold[i]] = true;
        for (size_t c = 0; c < e->C; c++) {
                const bool given = p[c] >= e->thresholds[c];

                a.right += given && is_gold[c];
                a.wrong += given && !is_gold[c];
                a.missed += !given && is_gold[c];
        }
        return a;
}

int classify_against_add(struct classify_against *a, const struct classify_eval *e,
                         const struct record *record, const float *p, const float *other,
                         struct ran_error *err)
{
        const size_t compared = a->eval.compared;

        RAN_TRY(classify_eval_add(&a->eval, record, other, err));
        if (a->eval.compared == compared)
                return RAN_OK;
        const struct ran_answer first = answer_of(e, p, a->is_gold[0]);
        const struct ran_answer second = answer_of(&a->eval, other, a->is_gold[1]);

        ran_paired_add(a->pairs, &first, &second);
        return RAN_OK;
}

void classify_against_tree(const struct classify_against *a, struct report *report)
{
        struct ran_paired_report r;

        ran_paired_finish(a->pairs, &r);
        const char *metric = r.several ? "micro_f1" : "accuracy";

        report_begin(report, REPORT_OBJECT, "against", "Against another model");
        report_note(report, "%s, on the same documents", a->other.options->against);
        report_count(report, "n", NULL, r.n);
        report_count(report, "both_right", "both right", r.both);
        report_count(report, "only_this_right", "only this one", r.first_only);
        report_count(report, "only_other_right", "only the other", r.second_only);
        report_count(report, "both_wrong", "both wrong", r.neither);
        report_string(report, "metric", "metric", metric);
        report_share(report, "this", "this model", r.first);
        report_share(report, "other", "the other", r.second);
        report_share(report, "difference", "difference", r.first - r.second);
        report_note(report, "95 %% interval: %+.4f to %+.4f", r.difference.low, r.difference.high);
        report_share(report, "difference_low", NULL, r.difference.low);
        report_share(report, "difference_high", NULL, r.difference.high);
        report_number(report, "mcnemar_p", "p of McNemar's test", r.p, 4);
        report_note(report, "%s",
                    r.p < 0.05 ? "the models differ by more than chance"
                               : "the difference may be chance");
        report_end(report);
}
