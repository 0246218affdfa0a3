/* pairs.c - lengths and copies of pairs of source and target.
 *
 * A pair of texts is source [SEP] target [END].
 */
#include "cmd/train/check/check.h"

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
        struct train_places unusual = {0}, copies = {0};
        const struct ran_dataset *set = &data->set;
        struct pair pair;
        double median;

        if (data->paired.file == NULL || set->sources == NULL || add_lengths(r, set, &median) == 0)
                return;
        for (size_t i = 0; i < set->B; i++) {
                if (!pair_of(set, i, &pair))
                        continue;
                const struct side *a = &pair.source, *b = &pair.target;
                const double ratio = ratio_of(&pair);

                if ((a->n >= 10 || b->n >= 10) && (ratio > 3 * median || ratio < median / 3))
                        train_add_place(&unusual, data->location[i], NULL);
                if (a->n == b->n && a->n > 0 && memcmp(a->ids, b->ids, a->n * sizeof *a->ids) == 0)
                        train_add_place(&copies, data->location[i], NULL);
        }
        train_report_places(r, "unusual_ratio", "Pairs of unusual lengths", &unusual, NULL);
        train_report_places(r, "copies", "Copies of the source as target", &copies, NULL);
        report_end(r);
}
