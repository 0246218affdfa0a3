/* pairs.c - lengths, copies and wrong sides of pairs of source and target.
 *
 * A pair of texts is source [SEP] target [END]. Which side a text belongs to is told by its tokens:
 * the log of the ratio of their frequencies in all targets and in all sources.
 */
#include "cmd/train/check/check.h"

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
        double *source = ran_new(2 * V + 1, sizeof *source), *target = source + V;
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

/* ---- the report ----------------------------------------------------------------------------- */

/* Adds percentiles of lengths and of their ratio. Returns the number of pairs. */
static size_t add_lengths(struct report *r, const struct ran_dataset *set, double *median)
{
        double *x = ran_new(3 * set->B + 1, sizeof *x), *source = x, *target = x + set->B,
               *ratio = x + 2 * set->B;
        struct pair pair;
        size_t n = 0;

        for (size_t b = 0; b < set->B; b++) {
                if (!pair_of(set, b, &pair))
                        continue;
                source[n] = (double)pair.source.n;
                target[n] = (double)pair.target.n;
                ratio[n++] = ratio_of(&pair);
        }
        if (n > 0) {
                report_begin(r, REPORT_OBJECT, "pairs", "Pairs of source and target");
                report_count(r, "count", "pairs", n);
                train_report_percentiles(r, "source_tokens", "source tokens", source, n, 0);
                train_report_percentiles(r, "target_tokens", "target tokens", target, n, 0);
                train_report_percentiles(r, "ratio", "target tokens for a source token", ratio, n,
                                         2);
                *median = ratio[(n + 1) / 2 - 1]; /* the nearest rank */
        }
        free(x);
        return n;
}

void train_check_pairs(struct report *r, const struct train_data *data)
{
        static const struct {
                const char *name, *title;
        } kinds[] = {{"unusual_ratio", "Pairs of unusual lengths"},
                     {"copies", "Copies of the source as target"},
                     {"swapped", "Source and target look swapped"},
                     {"wrong_side", "A text looks like one of the other side"}};
        struct train_places places[4] = {0};
        const struct ran_dataset *set = &data->set;
        struct pair pair;
        double median;

        if (data->paired.file == NULL || set->sources == NULL || add_lengths(r, set, &median) == 0)
                return;
        double *odds = token_odds(set);
        for (size_t i = 0; i < set->B; i++) {
                if (!pair_of(set, i, &pair))
                        continue;
                const bool source = is_rather(odds, &pair.source, 1),
                           target = is_rather(odds, &pair.target, -1);
                const struct side *a = &pair.source, *b = &pair.target;
                const double ratio = ratio_of(&pair);
                const bool unusual =
                        (a->n >= 10 || b->n >= 10) && (ratio > 3 * median || ratio < median / 3);
                const bool copy = a->n == b->n && a->n > 0 &&
                                  memcmp(a->ids, b->ids, a->n * sizeof *a->ids) == 0;
                const bool found[] = {unusual, copy, source && target, source != target};

                for (size_t k = 0; k < 4; k++)
                        if (found[k])
                                train_add_place(&places[k], data->location[i], NULL);
        }
        free(odds);
        for (size_t i = 0; i < 4; i++)
                train_report_places(r, kinds[i].name, kinds[i].title, places[i].n, places[i].at,
                                    NULL, NULL);
        report_end(r);
}
