/* decide.c - which label a document of one label gets. */
#include "cmd/classify/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

void decision_release(struct decision *d)
{
        free(d->limit);
        free(d->cost);
        *d = (struct decision){0};
}

/* The class of a label; C: the model has no such label. */
static size_t find_label(const struct decision *d, const char *name, size_t n)
{
        for (size_t c = 0; c < d->C; c++) {
                const char *label = ran_model_label(d->model, c);
                if (strlen(label) == n && memcmp(label, name, n) == 0)
                        return c;
        }
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
        size_t c = find_label(d, item, n);
        if (c == d->C)
                cmd_usage("--threshold-for %s: the model has no label \"%.*s\"; ran-train info "
                          "lists them",
                          item, (int)n, item);
        d->limit[c] = (float)x;
}

static void read_limits(struct decision *d, const struct ran_list *limits)
{
        struct ran_error err;

        if (limits->n == 0)
                return;
        d->limit = ran_alloc_floats(d->C, &err);
        if (d->limit == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        for (size_t c = 0; c < d->C; c++)
                d->limit[c] = -1;
        for (size_t i = 0; i < limits->n; i++)
                read_limit(d, limits->item[i]);
}

/* ---- costs ---------------------------------------------------------------------------------- */

/* Names in the file, decoded. */
struct reader {
        const char *json, *file;
        struct ran_buf gold, given;
};

static int read_cost(struct decision *d, struct reader *r, uint32_t gold, struct ran_span name,
                     struct ran_span value, char type, struct ran_error *err)
{
        double x;

        r->given.len = 0;
        RAN_TRY(ran_json_decode(r->json, name, &r->given, err));
        size_t given = find_label(d, r->given.data, r->given.len);
        if (given == d->C && r->given.len > 0)
                return ran_fail(err, RAN_EFORMAT, "%s: the model has no label \"%.*s\"", r->file,
                                (int)r->given.len, r->given.data);
        if (type != 'n' || !ran_parse_double(r->json + value.begin, value.end - value.begin, &x) ||
            !isfinite(x))
                return ran_fail(err, RAN_EFORMAT,
                                "%s: what it costs to give \"%.*s\" for \"%.*s\" is not a number",
                                r->file, (int)r->given.len, r->given.data, (int)r->gold.len,
                                r->gold.data);
        struct decision_cost *grown = ran_grow(d->cost, &d->cap, d->n + 1, sizeof *grown, err);
        if (grown == NULL)
                return RAN_ENOMEM;
        d->cost = grown;
        d->may_abstain |= given == d->C;
        d->cost[d->n++] = (struct decision_cost){
                .gold = gold, .given = (uint32_t)given, .more = x - (double)(given != gold)};
        return RAN_OK;
}

static int read_costs_of(struct decision *d, struct reader *r, struct ran_span row, char type,
                         struct ran_error *err)
{
        size_t gold = find_label(d, r->gold.data, r->gold.len), pos = 0;
        struct ran_span name, item;
        char kind;

        if (gold == d->C)
                return ran_fail(err, RAN_EFORMAT, "%s: the model has no label \"%.*s\"", r->file,
                                (int)r->gold.len, r->gold.data);
        if (type != 'o')
                return ran_fail(err, RAN_EFORMAT,
                                "%s: \"%.*s\" must be an object: what each label costs that is "
                                "given instead",
                                r->file, (int)r->gold.len, r->gold.data);
        while (ran_json_next(r->json, row, &pos, &name, &item, &kind))
                RAN_TRY(read_cost(d, r, (uint32_t)gold, name, item, kind, err));
        return RAN_OK;
}

static int compare_costs(const void *a, const void *b)
{
        const struct decision_cost *x = a, *y = b;

        if (x->given != y->given)
                return x->given < y->given ? -1 : 1;
        return (x->gold > y->gold) - (x->gold < y->gold);
}

/* By the label given, so that one pass has the costs of all labels. */
static int sort_costs(struct decision *d, const char *file, struct ran_error *err)
{
        if (d->n > 0)
                qsort(d->cost, d->n, sizeof *d->cost, compare_costs);
        for (size_t i = 1; i < d->n; i++)
                if (compare_costs(&d->cost[i - 1], &d->cost[i]) == 0)
                        return ran_fail(err, RAN_EFORMAT, "%s: a cost for \"%s\" is given twice",
                                        file, ran_model_label(d->model, d->cost[i].gold));
        return RAN_OK;
}

static int read_all(struct decision *d, struct reader *r, size_t n, struct ran_error *err)
{
        struct ran_record scanned = {0};
        struct ran_error why = {0};
        size_t pos = 0;
        struct ran_span name, item;
        char type;

        int code = ran_record_scan(&scanned, r->json, n, &why);
        const struct ran_span all = scanned.object;
        ran_record_release(&scanned);
        if (code != RAN_OK)
                return ran_fail(err, code, "%s: not the JSON object of costs: %s", r->file,
                                why.text);
        while (ran_json_next(r->json, all, &pos, &name, &item, &type)) {
                r->gold.len = 0;
                RAN_TRY(ran_json_decode(r->json, name, &r->gold, err));
                RAN_TRY(read_costs_of(d, r, item, type, err));
        }
        return sort_costs(d, r->file, err);
}

int decision_read_costs(struct decision *d, const char *json, size_t n, const char *file,
                        struct ran_error *err)
{
        const size_t mark = ran_utf8_mark(json, n);
        struct reader r = {.json = json + mark, .file = file};
        int code = read_all(d, &r, n - mark, err);

        d->by_cost = true;
        ran_buf_release(&r.gold);
        ran_buf_release(&r.given);
        return code;
}

static void read_cost_file(struct decision *d, const char *file)
{
        struct ran_bytes bytes;
        struct ran_error err;

        if (ran_bytes_open(&bytes, file, &err) != RAN_OK ||
            decision_read_costs(d, (const char *)bytes.data, bytes.size, file, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        ran_bytes_release(&bytes);
}

void decision_open(struct decision *d, const struct ran_model *m, const struct ran_list *limits,
                   const char *cost)
{
        *d = (struct decision){.model = m, .C = ran_model_classes(m)};
        read_limits(d, limits);
        if (cost != NULL)
                read_cost_file(d, cost);
}

/* ---- decisions ------------------------------------------------------------------------------ */

bool decision_is_set(const struct decision *d)
{
        return d->limit != NULL || d->by_cost;
}

/* Of the labels that reach their threshold, the one that exceeds it most often over; if there is
 * none, the most probable of those without a threshold. */
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

double decision_cost_of(const struct decision *d, uint32_t gold, size_t given)
{
        const struct decision_cost key = {.gold = gold, .given = (uint32_t)given};
        const struct decision_cost *found =
                d->n > 0 ? bsearch(&key, d->cost, d->n, sizeof key, compare_costs) : NULL;

        return (double)(given != gold) + (found != NULL ? found->more : 0);
}
