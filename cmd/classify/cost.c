/* cost.c - what it costs to give a wrong label: for each true label what others cost, "" is none.
 *
 *      {"ham": {"spam": 10}, "spam": {"ham": 1, "": 0.2}}
 */
#include "cmd/classify/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names in the file, decoded. */
struct reader {
        const char *text, *file;
        struct ran_buf gold, given;
};

/* ---- one cost ------------------------------------------------------------------------------- */

static int find_label(const struct decision *d, const struct reader *r, const struct ran_buf *name,
                      size_t *class, struct ran_error *err)
{
        *class = decision_label(d, name->data, name->len);
        if (*class == d->C)
                return ran_fail(err, RAN_EFORMAT, "%s: the model has no label \"%.*s\"", r->file,
                                (int)name->len, name->data);
        return RAN_OK;
}

/* The cost of r->given, no label if it is empty, for a document of class gold. */
static int add_cost(struct decision *d, const struct reader *r, size_t gold, const char *number,
                    size_t n, struct ran_error *err)
{
        size_t given = d->C;
        double x;

        if (r->given.len > 0)
                RAN_TRY(find_label(d, r, &r->given, &given, err));
        if (!ran_parse_double(number, n, &x) || !isfinite(x))
                return ran_fail(err, RAN_EFORMAT,
                                "%s: the cost of \"%.*s\" in place of \"%.*s\" is not a number",
                                r->file, (int)r->given.len, r->given.data, (int)r->gold.len,
                                r->gold.data);
        RAN_ROOM(d->cost, d->cap, d->n + 1);
        d->may_abstain |= given == d->C;
        d->cost[d->n++] = (struct decision_cost){.gold = (uint32_t)gold,
                                                 .given = (uint32_t)given,
                                                 .more = x - (double)(given != gold)};
        return RAN_OK;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* The costs of a document of class r->gold. */
static int read_object(struct decision *d, struct reader *r, struct ran_span row, char type,
                       struct ran_error *err)
{
        size_t gold, pos = 0;
        struct ran_span name, item;
        char kind;

        RAN_TRY(find_label(d, r, &r->gold, &gold, err));
        if (type != 'o')
                return ran_fail(err, RAN_EFORMAT,
                                "%s: \"%.*s\" must be an object with the cost of each wrong label",
                                r->file, (int)r->gold.len, r->gold.data);
        while (ran_json_next(r->text, row, &pos, &name, &item, &kind)) {
                r->given.len = 0;
                RAN_TRY(ran_json_decode(r->text, name, &r->given, err));
                size_t n = kind == 'n' ? item.end - item.begin : 0; /* else it is no number */
                RAN_TRY(add_cost(d, r, gold, r->text + item.begin, n, err));
        }
        return RAN_OK;
}

int decision_compare_costs(const void *a, const void *b)
{
        const struct decision_cost *x = a, *y = b;

        if (x->given != y->given)
                return x->given < y->given ? -1 : 1;
        return (x->gold > y->gold) - (x->gold < y->gold);
}

int decision_read_costs(struct decision *d, const char *text, size_t n, const char *file,
                        struct ran_error *err)
{
        const size_t mark = ran_utf8_mark(text, n);
        struct reader r = {.text = text + mark, .file = file};
        struct ran_record scanned = {0};
        struct ran_span name, item;
        struct ran_error why = {0};
        size_t pos = 0;
        char type;

        int rc = ran_record_scan(&scanned, r.text, n - mark, &why);
        const struct ran_span all = scanned.object;
        ran_record_release(&scanned);
        if (rc != RAN_OK)
                return ran_fail(err, rc, "%s: not a JSON object of costs: %s", file, why.text);
        while (rc == RAN_OK && ran_json_next(r.text, all, &pos, &name, &item, &type)) {
                r.gold.len = 0;
                rc = ran_json_decode(r.text, name, &r.gold, err);
                if (rc == RAN_OK)
                        rc = read_object(d, &r, item, type, err);
        }
        d->by_cost = true;
        ran_buf_release(&r.gold);
        ran_buf_release(&r.given);
        /* By the label given, so that one pass has the costs of all labels. */
        if (d->n > 0)
                qsort(d->cost, d->n, sizeof *d->cost, decision_compare_costs);
        for (size_t i = 1; rc == RAN_OK && i < d->n; i++)
                if (decision_compare_costs(&d->cost[i - 1], &d->cost[i]) == 0)
                        rc = ran_fail(err, RAN_EFORMAT, "%s: a cost for \"%s\" is given twice",
                                      file, ran_model_label(d->model, d->cost[i].gold));
        return rc;
}
