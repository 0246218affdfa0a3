/* pairs.c - lengths, copies and wrong sides of pairs of source and target.
 *
 * A pair of texts is source [SEP] target [END]. Which side a text belongs to is told by its tokens:
 * the log of the ratio of their frequencies in all targets and in all sources.
 */
#include "cmd/train/check/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"

/* ---- one pair ------------------------------------------------------------------------------- */

struct side {
        const uint32_t *ids;
        size_t n;
};

struct pair {
        struct side source, target;
};

/* False for a document that is no pair. */
static bool pair_of(const struct ran_dataset *set, size_t b, struct pair *p)
{
        size_t L = set->first[b + 1] - set->first[b], sources = set->sources[b];
        const uint32_t *ids = set->ids + set->first[b];

        if (sources < 1 || sources >= L)
                return false;
        *p = (struct pair){{ids, sources - 1}, {ids + sources, L - sources - 1}};
        return true;
}

static double ratio_of(const struct pair *p)
{
        return (double)p->target.n / (double)(p->source.n > 0 ? p->source.n : 1);
}

static bool is_copy(const struct pair *p)
{
        return p->source.n == p->target.n && p->source.n > 0 &&
               memcmp(p->source.ids, p->target.ids, p->source.n * sizeof *p->source.ids) == 0;
}

/* ---- percentiles ---------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return x < y ? -1 : x > y;
}

static void percentiles(double *out, double *x, size_t n)
{
        qsort(x, n, sizeof *x, compare);
        for (size_t i = 0; i < TRAIN_PERCENTILES; i++) { /* the nearest rank */
                size_t rank = (size_t)ceil(train_percentiles[i].share * (double)n);

                out[i] = x[rank > 0 ? rank - 1 : 0];
        }
}

static void add_lengths(struct train_pair_summary *p, const struct ran_dataset *set)
{
        double *x = train_must_alloc(3 * set->B + 1, sizeof *x), *source = x, *target = x + set->B,
               *ratio = x + 2 * set->B;
        struct pair pair;

        for (size_t b = 0; b < set->B; b++) {
                if (!pair_of(set, b, &pair))
                        continue;
                source[p->n] = (double)pair.source.n;
                target[p->n] = (double)pair.target.n;
                ratio[p->n++] = ratio_of(&pair);
        }
        if (p->n > 0) {
                percentiles(p->source, source, p->n);
                percentiles(p->target, target, p->n);
                percentiles(p->ratio, ratio, p->n);
        }
        free(x);
}

/* ---- sides ---------------------------------------------------------------------------------- */

static size_t largest_id(const struct ran_dataset *set)
{
        size_t V = 0;

        for (size_t t = 0; t < set->first[set->B]; t++)
                V = set->ids[t] >= V ? (size_t)set->ids[t] + 1 : V;
        return V;
}

static void count_side(double *count, double *all, const struct side *side)
{
        for (size_t i = 0; i < side->n; i++)
                count[side->ids[i]]++;
        *all += (double)side->n;
}

/* odds[id]: log of the ratio of its frequencies among targets and among sources. Of a token that
 * one side has once, little follows: counts begin with 1. */
static double *token_odds(const struct ran_dataset *set)
{
        size_t V = largest_id(set);
        double *source = train_must_alloc(2 * V + 1, sizeof *source), *target = source + V;
        double sources = (double)V, targets = (double)V;
        struct pair pair;

        for (size_t b = 0; b < set->B; b++) {
                if (!pair_of(set, b, &pair))
                        continue;
                count_side(source, &sources, &pair.source);
                count_side(target, &targets, &pair.target);
        }
        for (size_t id = 0; id < V; id++)
                source[id] =
                        ran_log((target[id] + 1) / targets) - ran_log((source[id] + 1) / sources);
        return source;
}

/* How much rather a text is a target than a source: in nats, and per token. A side is wrong if all
 * of a text is at least 10 nats rather the other, and each token 0.7. */
static bool is_rather(const double *odds, const struct side *side, double sign)
{
        double sum = 0;

        for (size_t i = 0; i < side->n; i++)
                sum += sign * odds[side->ids[i]];
        return sum > 10 && sum > 0.7 * (double)side->n;
}

/* ---- all ------------------------------------------------------------------------------------ */

static void add_place(struct train_places *p, struct train_location at)
{
        if (p->n < TRAIN_LISTED)
                p->at[p->n] = at;
        p->n++;
}

static bool is_unusual(const struct train_pair_summary *p, const struct pair *pair)
{
        const double median = p->ratio[TRAIN_PERCENTILES / 2], ratio = ratio_of(pair);

        return (pair->source.n >= 10 || pair->target.n >= 10) &&
               (ratio > 3 * median || ratio < median / 3);
}

void train_check_pairs(struct train_pair_summary *p, const struct train_data *data)
{
        const struct ran_dataset *set = &data->set;
        struct pair pair;

        *p = (struct train_pair_summary){.n = 0};
        if (data->paired.file == NULL || set->sources == NULL)
                return;
        add_lengths(p, set);
        double *odds = token_odds(set);
        for (size_t b = 0; b < set->B; b++) {
                if (!pair_of(set, b, &pair))
                        continue;
                bool source = is_rather(odds, &pair.source, 1),
                     target = is_rather(odds, &pair.target, -1);

                if (is_unusual(p, &pair))
                        add_place(&p->unusual, data->location[b]);
                if (is_copy(&pair))
                        add_place(&p->copies, data->location[b]);
                if (source && target)
                        add_place(&p->swapped, data->location[b]);
                else if (source || target)
                        add_place(&p->alien, data->location[b]);
        }
        free(odds);
}

/* ---- the report ----------------------------------------------------------------------------- */

static void add_percentiles(struct report *r, const char *name, const char *title, const double *x,
                            int decimals)
{
        report_begin(r, REPORT_LINE, name, title);
        for (size_t i = 0; i < TRAIN_PERCENTILES; i++)
                report_number(r, train_percentiles[i].name, train_percentiles[i].name, x[i],
                              decimals);
        report_end(r);
}

static void add_places(struct report *r, const char *name, const char *title,
                       const struct train_places *p)
{
        train_report_places(r, name, title, p->n, p->at);
}

void train_check_pairs_tree(struct report *r, const struct train_pair_summary *p)
{
        if (p->n == 0)
                return;
        report_begin(r, REPORT_OBJECT, "pairs", "Pairs of source and target");
        report_count(r, "count", "pairs", p->n);
        add_percentiles(r, "source_tokens", "source tokens", p->source, 0);
        add_percentiles(r, "target_tokens", "target tokens", p->target, 0);
        add_percentiles(r, "ratio", "target tokens for a source token", p->ratio, 2);
        add_places(r, "unusual_ratio", "Pairs of unusual lengths", &p->unusual);
        add_places(r, "copies", "Copies of the source as target", &p->copies);
        add_places(r, "swapped", "Source and target look swapped", &p->swapped);
        add_places(r, "wrong_side", "A text looks like one of the other side", &p->alien);
        report_end(r);
}
