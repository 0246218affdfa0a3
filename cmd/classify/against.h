/* against.h - --against: another model on the same records, and whether it differs by more than
 * chance. */
#ifndef CMD_CLASSIFY_AGAINST_H
#define CMD_CLASSIFY_AGAINST_H

#include "cmd/classify/eval.h"
#include "cmd/classify/predict.h"

struct classify_against {
        struct classifier other;
        struct classify_eval eval; /* of the other model */
        float *thresholds;         /* of the other model */
        struct ran_paired *pairs;
        struct against_answer {
                bool *is_gold; /* (C) */
        } scratch[2];          /* of this model, and of the other */
};

/* Opens the model of --against, for a comparison with c. Exits if it cannot be compared. */
void classify_against_open(struct classify_against *a, const struct classifier *c,
                           const struct cmd_names *names);
void classify_against_close(struct classify_against *a);
/* A record that both models have answered, after classify_eval_add of this one: its evaluation and
 * probabilities, and those of the other, or NULL if it has no label. */
int classify_against_add(struct classify_against *a, const struct classify_eval *e,
                         const struct record *record, const float *p, const float *other,
                         struct ran_error *err);
/* Adds the comparison to the report. */
void classify_against_tree(const struct classify_against *a, struct report *report);

#endif
