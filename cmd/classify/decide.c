/* decide.c - which label a document of one label gets. */
#include "cmd/classify/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

void decision_release(struct decision *d)
{
        free(d->limit);
        *d = (struct decision){0};
}

/* ---- labels --------------------------------------------------------------------------------- */

static int compare_label(const struct decision *d, size_t c, const char *name, size_t n)
{
        const char *label = ran_model_label(d->model, c);

        return ran_order(label, strlen(label), name, n);
}

/* Labels are in order; where they are not, one by one. */
size_t decision_label(const struct decision *d, const char *name, size_t n)
{
        size_t from = 0, to = d->C;

        while (from < to) {
                size_t middle = from + (to - from) / 2;
                int order = compare_label(d, middle, name, n);
                if (order == 0)
                        return middle;
                if (order < 0)
                        from = middle + 1;
                else
                        to = middle;
        }
        for (size_t c = 0; c < d->C; c++)
                if (compare_label(d, c, name, n) == 0)
                        return c;
        return d->C;
}

/* ---- thresholds ----------------------------------------------------------------------------- */

/* The last '=' divides it, because a label may have one. */
static void read_limit(struct decision *d, const char *item)
{
        const char *equals = strrchr(item, '=');
        size_t n = equals != NULL ? (size_t)(equals - item) : 0;
        double x;

        if (equals == NULL || !ran_parse_double(equals + 1, strlen(equals + 1), &x) ||
            !(x >= 0 && x <= 1))
                cmd_usage("--threshold-for %s: give LABEL=X, a label of the model and a "
                          "probability from 0 to 1",
                          item);
        size_t c = decision_label(d, item, n);
        if (c == d->C)
                cmd_usage("--threshold-for %s: the model has no label \"%.*s\"; ran-train info "
                          "lists them",
                          item, (int)n, item);
        d->limit[c] = (float)x;
}

void decision_open(struct decision *d, const struct ran_model *m, const struct ran_list *limits,
                   bool own)
{
        bool brought = false; /* of several labels they are among its thresholds */

        *d = (struct decision){.model = m, .C = ran_model_classes(m)};
        for (size_t i = 0; i < limits->n; i++)
                own &= strcmp(limits->item[i], "none") != 0;
        for (size_t c = 0; c < d->C && !ran_model_config(m)->classify.multilabel; c++)
                brought |= ran_model_limit(m, c) >= 0;
        own = own && brought;
        if (limits->n == 0 && !own)
                return;
        d->limit = ran_new_floats(d->C);
        for (size_t c = 0; c < d->C; c++)
                d->limit[c] = own ? ran_model_limit(m, c) : -1;
        for (size_t i = 0; i < limits->n; i++)
                if (strcmp(limits->item[i], "none") != 0)
                        read_limit(d, limits->item[i]);
}

/* ---- decisions ------------------------------------------------------------------------------ */

/* Chooses, of the labels that reach their threshold, the one that is the most times as probable;
 * if none does, the most probable label without a threshold. */
static size_t choose_by_limits(const struct decision *d, const float *p)
{
        size_t reached = d->C, other = d->C;
        double most = -1;

        for (size_t c = 0; c < d->C; c++) {
                if (d->limit[c] < 0) {
                        other = other == d->C || p[c] > p[other] ? c : other;
                        continue;
                }
                double times = d->limit[c] > 0 ? (double)p[c] / (double)d->limit[c] : INFINITY;
                if (p[c] >= d->limit[c] && times > most) {
                        most = times;
                        reached = c;
                }
        }
        return reached < d->C ? reached : other;
}

size_t decision_choose(const struct decision *d, const float *p)
{
        return d->limit != NULL ? choose_by_limits(d, p) : ran_most_probable(p, d->C);
}

size_t decision_best(const struct decision *d, const float *p)
{
        const size_t chosen = decision_choose(d, p);

        return chosen < d->C ? chosen : ran_most_probable(p, d->C);
}
