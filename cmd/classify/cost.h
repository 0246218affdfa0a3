/* cost.h - what wrong labels cost; the labels of a model by their names. */
#ifndef CMD_CLASSIFY_COST_H
#define CMD_CLASSIFY_COST_H

#include "cmd/classify/decide.h"

/* Reads costs, JSON or a table; file is for messages. RAN_EFORMAT, RAN_ENOMEM. */
int decision_read_costs(struct decision *d, const char *text, size_t n, const char *file,
                        struct ran_error *err);
/* The order of costs: by the label given. */
int decision_compare_costs(const void *a, const void *b);
/* The class of a label; C: the model has no such label. */
size_t decision_label(const struct decision *d, const char *name, size_t n);

#endif
