/* decide.h - which label a document of one label gets: the most probable one, or by thresholds of
 * labels, or by what confusions cost. */
#ifndef CMD_CLASSIFY_DECIDE_H
#define CMD_CLASSIFY_DECIDE_H

#include "ran.h"

struct decision {
        const struct ran_model *model;
        size_t C;
        /* --threshold-for: the probability from which a label is given; below 0: none. NULL: no
         * label has one. */
        float *limit; /* (C) */
        /* --cost. A wrong label costs 1 and a right one 0; more: what is to be added to that.
         * given C: no label. */
        struct decision_cost {
                uint32_t gold, given;
                double more;
        } * cost;
        size_t n, cap;
        bool by_cost, may_abstain;
};

/* Reads "LABEL=X" of each item, and the file of costs, or NULL. own: labels have the thresholds
 * that the model brings, unless an item is "none", says otherwise, or there are costs. Exits with 2
 * for what is no such item, or names a label that the model does not have; with 3 for a bad file.
 */
void decision_open(struct decision *d, const struct ran_model *m, const struct ran_list *limits,
                   const char *cost, bool own);
void decision_release(struct decision *d);

/* Whether it decides otherwise than by the highest probability. */
bool decision_is_set(const struct decision *d);
/* The label that is given, by its probabilities p (C); C: none. */
size_t decision_choose(const struct decision *d, const float *p);
/* Returns the cost of giving a label, or C: none, to a document of class gold. */
double decision_cost_of(const struct decision *d, uint32_t gold, size_t given);

#endif
