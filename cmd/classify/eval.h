/* eval.h - predicted labels against those of the records. */
#ifndef CMD_CLASSIFY_EVAL_H
#define CMD_CLASSIFY_EVAL_H

#include "cmd/classify/decide.h"
#include "cmd/content/labels.h"
#include "cmd/pages/report.h"
#include "ran.h"

struct classify_eval {
        const float *thresholds;         /* as given to _init */
        const struct decision *decision; /* likewise */
        double cost;                     /* with --cost: the sum of what decisions cost */
        bool multilabel;
        size_t C;
        const char **names; /* (C) of the model's classes */
        uint32_t *by_name;  /* (C) classes in the order of their names */
        struct ran_eval *eval;
        size_t compared, skipped; /* skipped: records without a label */
        struct cmd_labels labels;
        uint32_t *gold; /* (n_gold) of the last record */
        size_t n_gold, n_unknown;
        struct classify_eval_name {
                const char *text;
                size_t n;
        } * unknown_label; /* its labels that the model does not know */
        size_t gold_cap, unknown_cap;
};

/* thresholds (C): of a model with several labels, else NULL. Both are kept by the caller. */
int classify_eval_init(struct classify_eval *e, const struct ran_model *model,
                       const float *thresholds, const struct decision *decision,
                       struct ran_error *err);
void classify_eval_release(struct classify_eval *e);

/* One record with its probabilities (C), or NULL if it is not classified. RAN_EFORMAT if its
 * labels are not of the model's kind. */
int classify_eval_add(struct classify_eval *e, const struct record *record, const float *p,
                      struct ran_error *err);
/* One label: the one to show, see classify_best. */
size_t classify_eval_best(const struct classify_eval *e, const float *p);
/* Adds the figures to a report. */
void classify_eval_tree(const struct classify_eval *e, struct report *r);

#endif
