/* decide.c - which label a document of one label gets. */
#include "cmd/classify/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

enum { COST_BYTES = 1 << 26 }; /* far more than any has */

void decision_release(struct decision *d)
{
        free(d->limit);
        free(d->cost);
        *d = (struct decision){0};
}

/* ---- labels --------------------------------------------------------------------------------- */

static int compare_label(const struct decision *d, size_t c, const char *name, size_t n)
{
        const char *label = ran_model_label(d->model, c);
        const size_t m = strlen(label);
        int order = memcmp(label, name, m < n ? m : n);

        return order != 0 ? order : (m > n) - (m < n);
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

/* own: by those of the model, too, unless an item is "none". */
static void read_limits(struct decision *d, const struct ran_list *limits, bool own)
{
        bool brought = false; /* of several labels they are among its thresholds */

        for (size_t i = 0; i < limits->n; i++)
                own &= strcmp(limits->item[i], "none") != 0;
        for (size_t c = 0; c < d->C && !ran_model_config(d->model)->classify.multilabel; c++)
                brought |= ran_model_limit(d->model, c) >= 0;
        own = own && brought;
        if (limits->n == 0 && !own)
                return;
        d->limit = ran_new_floats(d->C);
        for (size_t c = 0; c < d->C; c++)
                d->limit[c] = own ? ran_model_limit(d->model, c) : -1;
        for (size_t i = 0; i < limits->n; i++)
                if (strcmp(limits->item[i], "none") != 0)
                        read_limit(d, limits->item[i]);
}

/* ---- costs ---------------------------------------------------------------------------------- */

void decision_open(struct decision *d, const struct ran_model *m, const struct ran_list *limits,
                   const char *cost, bool own)
{
        struct ran_bytes bytes;
        struct ran_error err;

        *d = (struct decision){.model = m, .C = ran_model_classes(m)};
        read_limits(d, limits, own && cost == NULL);
        if (cost == NULL)
                return;
        if (ran_bytes_open_within(&bytes, cost, COST_BYTES, &err) != RAN_OK ||
            decision_read_costs(d, (const char *)bytes.data, bytes.size, cost, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        ran_bytes_release(&bytes);
}

/* ---- decisions ------------------------------------------------------------------------------ */

bool decision_is_set(const struct decision *d)
{
        return d->limit != NULL || d->by_cost;
}

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

/* The first of the cheapest; no label only if that is cheaper than all. */
static size_t choose_by_cost(const struct decision *d, const float *p)
{
        const size_t end = d->C + d->may_abstain;
        size_t best = 0, i = 0;
        double least = INFINITY;

        for (size_t c = 0; c < end; c++) {
                double cost = c < d->C ? 1 - (double)p[c] : 1;
                for (; i < d->n && d->cost[i].given == c; i++)
                        cost += d->cost[i].more * (double)p[d->cost[i].gold];
                if (cost < least) {
                        least = cost;
                        best = c;
                }
        }
        return best;
}

size_t decision_choose(const struct decision *d, const float *p)
{
        if (d->by_cost)
                return choose_by_cost(d, p);
        return d->limit != NULL ? choose_by_limits(d, p) : ran_most_probable(p, d->C);
}

size_t decision_best(const struct decision *d, const float *p)
{
        const size_t chosen = decision_choose(d, p);

        return chosen < d->C ? chosen : ran_most_probable(p, d->C);
}

double decision_cost_of(const struct decision *d, uint32_t gold, size_t given)
{
        const struct decision_cost key = {.gold = gold, .given = (uint32_t)given};
        const struct decision_cost *found =
                d->n > 0 ? bsearch(&key, d->cost, d->n, sizeof key, decision_compare_costs) : NULL;

        return (double)(given != gold) + (found != NULL ? found->more : 0);
}
