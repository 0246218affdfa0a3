/* against.c - see against.h. */
#include "cmd/classify/against.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/content/model.h"

static void fail(const struct ran_error *err)
{
        cmd_die(cmd_status_of(err), "%s", err->text);
}

static void check_kind(const struct ran_model *a, const struct ran_model *b, const char *name)
{
        const bool several = ran_model_config(b)->classify.multilabel;

        if (ran_model_config(a)->classify.multilabel != several)
                cmd_die(CMD_FAILED,
                        "--against %s: it gives %s, and the other model does not, so they cannot "
                        "be compared",
                        name, several ? "several labels a document" : "one label a document");
}

void classify_against_open(struct classify_against *a, const struct classifier *c,
                           const struct cmd_names *names)
{
        const struct classify_options *o = c->options;
        struct ran_error err;

        struct ran_model *m = cmd_model_open(o->against, o->verify, RAN_TASK_CLASSIFY);
        const struct ran_list none = {0};

        check_kind(c->model, m, o->against);
        *a = (struct classify_against){.other = {.options = o,
                                                 .model = m,
                                                 .pool = c->pool,
                                                 .C = ran_model_classes(m),
                                                 .D = ran_model_config(m)->dim}};
        a->thresholds = classify_thresholds(m, o);
        a->other.thresholds = a->thresholds;
        decision_open(&a->other.decision, m, &none, NULL, true);
        if (classify_eval_init(&a->eval, m, a->thresholds, &a->other.decision, &err) != RAN_OK)
                fail(&err);
        a->eval.labels.called = names;
        a->pairs = ran_paired_new(ran_model_config(m)->classify.multilabel);
        a->scratch[0].is_gold = ran_alloc(c->C, sizeof(bool), &err);
        a->scratch[1].is_gold = ran_alloc(a->other.C, sizeof(bool), &err);
        if (a->scratch[0].is_gold == NULL || a->scratch[1].is_gold == NULL)
                fail(&err);
}

void classify_against_close(struct classify_against *a)
{
        ran_paired_free(a->pairs);
        free(a->scratch[0].is_gold);
        free(a->scratch[1].is_gold);
        classify_eval_release(&a->eval);
        decision_release(&a->other.decision);
        free(a->thresholds);
        ran_model_free((struct ran_model *)a->other.model);
        *a = (struct classify_against){0};
}

/* ---- the answer of a model to a record ------------------------------------------------------- */

static struct ran_answer one_label(const struct classify_eval *e, const float *p)
{
        const bool right = e->n_gold > 0 && e->gold[0] == ran_most_probable(p, e->C);

        return (struct ran_answer){right, !right, !right};
}

static struct ran_answer several_labels(const struct classify_eval *e, const float *p,
                                        bool *is_gold)
{
        struct ran_answer a = {.missed = (uint32_t)e->n_unknown};

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

static struct ran_answer answer_of(const struct classify_eval *e, const float *p,
                                   struct against_answer *scratch)
{
        return e->multilabel ? several_labels(e, p, scratch->is_gold) : one_label(e, p);
}

int classify_against_add(struct classify_against *a, const struct classify_eval *e,
                         const struct record *record, const float *p, const float *other,
                         struct ran_error *err)
{
        const size_t compared = a->eval.compared;

        RAN_TRY(classify_eval_add(&a->eval, record, other, err));
        if (a->eval.compared == compared)
                return RAN_OK;
        const struct ran_answer first = answer_of(e, p, &a->scratch[0]);
        const struct ran_answer second = answer_of(&a->eval, other, &a->scratch[1]);

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
