/* suspects.c - labels that are probably wrong: see ran/eval.h.
 *
 * Confident learning (Northcutt, Jiang and Chuang, JAIR 2021). The threshold of a label is the mean
 * probability that its own documents give to it:
 *
 *   t_c = 1/n_c sum of p_dc over the n_c documents d with label c
 *
 * so that a label that the model finds hard is not held against its documents. A document is
 * counted for the label c of largest p_dc among those with p_dc >= t_c; where that is not its own
 * label, its own is probably wrong. The counts of documents with label y, scaled to n_y, estimate
 * how many labels are wrong.
 *
 * The order is that of the probability of a document's own label. Of N labels changed on purpose (5
 * or 10 %, at random or by pairs, in AG News, TREC and CR), 65.5 % are among the first N, by the
 * margin 61.8 %, by own probabilities over their thresholds 65.0 %.
 *
 * With several labels a document each label is a problem of two classes, those that have it and
 * those that lack it, with a threshold for each. The other one must be the more probable, too: of a
 * rare label that the model hardly finds, documents that lack it reach the threshold by the
 * hundred. The order is that of own probabilities over their thresholds: of 370 labels changed in
 * 3,000 texts of Reuters-21578 71.6 % are among the first 370, by own probabilities 65.7 %.
 */
#include "ran/eval.h"

#include <math.h>
#include <stdlib.h>

/* The label that the document counts for; C: none. */
static size_t counted_for(const float *p, const double *threshold, size_t C)
{
        size_t best = C;

        for (size_t c = 0; c < C; c++)
                if ((double)p[c] >= threshold[c] && (best == C || p[c] > p[best]))
                        best = c;
        return best;
}

/* The most probable other label that documents have. */
static size_t other_label(const float *p, const size_t *count, uint32_t label, size_t C)
{
        size_t best = C;

        for (size_t c = 0; c < C; c++)
                if (c != label && count[c] > 0 && (best == C || p[c] > p[best]))
                        best = c;
        return best;
}

static int by_order(const void *a, const void *b)
{
        const struct ran_suspect *x = a, *y = b;

        if (x->order < y->order || x->order > y->order)
                return x->order < y->order ? -1 : 1;
        if (x->document != y->document)
                return x->document < y->document ? -1 : 1;
        if (x->label != y->label)
                return x->label < y->label ? -1 : 1;
        return (x->suggested > y->suggested) - (x->suggested < y->suggested);
}

/* Wrong labels of all, by the counts of each label scaled to its documents. */
static double expected(const size_t *counted, const size_t *wrong, const size_t *count, size_t C)
{
        double sum = 0;

        for (size_t c = 0; c < C; c++)
                if (counted[c] > 0)
                        sum += (double)wrong[c] / (double)counted[c] * (double)count[c];
        return sum;
}

static int find_labels(struct ran_suspects *found, const float *p, const uint32_t *label, size_t n,
                       size_t C, struct ran_error *err)
{
        size_t *count = ran_new(3 * C, sizeof *count), *counted = count + C, *wrong = counted + C,
               labels = 0;
        double *threshold = found->threshold;

        for (size_t i = 0; i < n; i++) {
                threshold[label[i]] += (double)p[i * C + label[i]];
                count[label[i]]++;
        }
        for (size_t c = 0; c < C; c++) {
                labels += count[c] > 0;
                threshold[c] = count[c] > 0 ? threshold[c] / (double)count[c] : INFINITY;
        }
        if (labels >= 2) {
                found->suspect = ran_new(n, sizeof *found->suspect);
                found->n = n;
        }
        for (size_t i = 0; i < found->n; i++) {
                const float *row = p + i * C;
                const size_t own = label[i], to = counted_for(row, threshold, C);
                const size_t other = other_label(row, count, label[i], C);

                counted[own] += to < C;
                wrong[own] += to < C && to != own;
                found->suspect[i] = (struct ran_suspect){
                        .document = i,
                        .label = label[i],
                        .suggested = (uint32_t)other,
                        .own = row[own],
                        .order = (double)row[own],
                        .margin = (double)row[other] - (double)row[own],
                };
        }
        found->wrong = (size_t)(expected(counted, wrong, count, C) + 0.5);
        free(count);
        return labels >= 2 ? RAN_OK
                           : ran_fail(err, RAN_EINVAL,
                                      "all documents have one label: nothing tells which is wrong");
}

/* ---- several labels a document --------------------------------------------------------------- */

enum { LACKS, HAS, SIDES };

/* The documents that lack a label, and those that have it. */
struct sides {
        double threshold[SIDES];
        size_t count[SIDES], counted[SIDES], wrong[SIDES];
};

/* The probability of the side on which a document is. */
static float own_side(float p, bool has)
{
        return has ? p : 1 - p;
}

static void find_several(struct ran_suspects *found, const float *p, const size_t *first,
                         const uint32_t *label, size_t n, size_t C)
{
        struct sides *sides = ran_new(C, sizeof *sides);
        bool *has = ran_new(n * C, sizeof *has); /* (n, C) */
        size_t cap = 0;
        double all = 0;

        for (size_t i = 0; i < n; i++)
                for (size_t at = first[i]; at < first[i + 1]; at++)
                        has[i * C + label[at]] = true;
        for (size_t j = 0; j < n * C; j++) {
                sides[j % C].threshold[has[j]] += (double)own_side(p[j], has[j]);
                sides[j % C].count[has[j]]++;
        }
        for (struct sides *k = sides; k < sides + C; k++)
                for (size_t side = 0; side < SIDES; side++)
                        k->threshold[side] = k->count[side] > 0
                                                     ? k->threshold[side] / (double)k->count[side]
                                                     : INFINITY;
        for (size_t j = 0; j < n * C; j++) {
                const uint32_t c = (uint32_t)(j % C);
                struct sides *k = &sides[c];
                const bool side = has[j];
                const float own = own_side(p[j], side), other = 1 - own;
                const bool claimed = other > own && (double)other >= k->threshold[!side],
                           stays = !claimed && (double)own >= k->threshold[side];

                k->counted[side] += stays || claimed;
                k->wrong[side] += claimed;
                if (other <= own)
                        continue;
                RAN_ROOM(found->suspect, cap, found->n + 1);
                found->suspect[found->n++] = (struct ran_suspect){
                        .document = j / C,
                        .label = side ? c : RAN_NO_LABEL,
                        .suggested = side ? RAN_NO_LABEL : c,
                        .own = own,
                        .order = own > 0 ? (double)own / k->threshold[side] : 0,
                        .margin = (double)other - (double)own,
                };
        }
        for (size_t c = 0; c < C; c++) {
                const struct sides *k = &sides[c];

                found->threshold[c] = k->threshold[HAS];
                all += expected(k->counted, k->wrong, k->count, SIDES);
        }
        found->wrong = (size_t)(all + 0.5);
        free(sides);
        free(has);
}

/* ---- either ---------------------------------------------------------------------------------- */

int ran_suspects_find(struct ran_suspects *found, const float *p, const size_t *first,
                      const uint32_t *label, size_t n, size_t C, struct ran_error *err)
{
        *found = (struct ran_suspects){.threshold = ran_new(C, sizeof *found->threshold)};
        if (first != NULL)
                find_several(found, p, first, label, n, C);
        else
                RAN_TRY(find_labels(found, p, label, n, C, err));
        if (found->n > 0)
                qsort(found->suspect, found->n, sizeof *found->suspect, by_order);
        return RAN_OK;
}

void ran_suspects_release(struct ran_suspects *found)
{
        free(found->suspect);
        free(found->threshold);
        *found = (struct ran_suspects){0};
}
