/* split.c - chooses and copies the documents to hold out as development data. */
#include "ran/eval.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which ---------------------------------------------------------------------------------- */

struct drawn {
        uint32_t stratum; /* the class; 0 for documents with several labels */
        uint64_t draw;
        size_t document;
};

static int compare_drawn(const void *a, const void *b)
{
        const struct drawn *x = a, *y = b;

        if (x->stratum != y->stratum)
                return x->stratum < y->stratum ? -1 : 1;
        if (x->draw != y->draw)
                return x->draw < y->draw ? -1 : 1;
        return (x->document > y->document) - (x->document < y->document);
}

static uint32_t label_of(const struct ran_dataset *d, size_t b)
{
        return d->labels[d->label_first[b]];
}

static bool has_one_label(const struct ran_dataset *d, size_t b)
{
        return !d->multilabel && d->positions == NULL &&
               d->label_first[b + 1] > d->label_first[b] && label_of(d, b) < d->C;
}

/* The candidates for holding out, in order; returns their number. Documents with guessed labels
 * cannot judge a model: they are candidates only if there are no others. */
static size_t draw(const struct ran_dataset *d, uint64_t seed, struct drawn *drawn)
{
        bool known = ran_dataset_guessed(d) < d->B;
        size_t n = 0;

        for (size_t b = 0; b < d->B; b++) {
                bool by_class = has_one_label(d, b) && d->group == NULL;
                uint64_t number = d->group != NULL ? d->group[b] : b;
                if (known && d->guessed != NULL && d->guessed[b])
                        continue;
                drawn[n++] = (struct drawn){
                        .stratum = by_class ? label_of(d, b) : 0,
                        .draw = ran_random_draw(ran_random_key(seed, RAN_FOR_SPLIT, 0, number), 0),
                        .document = b};
        }
        qsort(drawn, n, sizeof *drawn, compare_drawn);
        return n;
}

/* The number of the first of n documents that must stay together. */
static size_t group_size(const struct ran_dataset *d, const struct drawn *drawn, size_t n)
{
        size_t i = 1;

        while (d->group != NULL && i < n &&
               d->group[drawn[i].document] == d->group[drawn[0].document])
                i++;
        return i;
}

/* Subtracts the n documents of a group from left (C), the counts of their classes, unless a class
 * would vanish.
 */
static bool takes_no_last(const struct ran_dataset *d, const struct drawn *drawn, size_t n,
                          size_t *left)
{
        bool vanishes = false;

        for (size_t i = 0; i < n; i++)
                if (has_one_label(d, drawn[i].document) &&
                    --left[label_of(d, drawn[i].document)] == 0)
                        vanishes = true;
        for (size_t i = 0; vanishes && i < n; i++)
                if (has_one_label(d, drawn[i].document))
                        left[label_of(d, drawn[i].document)]++;
        return !vanishes;
}

/* Leaves out known documents, with their groups; returns the number left. */
static size_t leave_out_known(const struct ran_dataset *d, const bool *known, struct drawn *drawn,
                              size_t n)
{
        size_t kept = 0;

        for (size_t i = 0, size; i < n; i += size) {
                bool is_known = false;

                size = group_size(d, drawn + i, n - i);
                for (size_t k = i; k < i + size; k++)
                        is_known |= known != NULL && known[drawn[k].document];
                if (is_known)
                        continue;
                memmove(drawn + kept, drawn + i, size * sizeof *drawn);
                kept += size;
        }
        return kept;
}

/* Without groups: shuffles the documents within each class, concatenates the classes, and takes
 * every 1/share-th document: the counts of each class and in all are then right to within one
 * document. The first of each class is skipped, because a class must not vanish from training.
 * Groups are shuffled, and a group is taken when at least half of it is due. */
static void pick(const struct ran_dataset *d, double fraction, uint64_t seed, const bool *known,
                 bool *held_out)
{
        struct drawn *drawn = ran_new(d->B, sizeof *drawn);
        size_t *left = ran_new(d->C + 1, sizeof *left);
        double due = 0.5; /* rounds to nearest */

        for (size_t b = 0; b < d->B; b++)
                if (has_one_label(d, b))
                        left[label_of(d, b)]++;
        const size_t all = draw(d, seed, drawn), n = leave_out_known(d, known, drawn, all);
        if (n > 0 && n < all) /* so that they make that fraction of all */
                fraction = fmin(fraction * (double)all / (double)n, fmax(fraction, 0.5));
        for (size_t i = 0, size; i < n; i += size) {
                bool first = i == 0 || drawn[i].stratum != drawn[i - 1].stratum;
                size = group_size(d, drawn + i, n - i);
                due += fraction * (double)size;
                if (due < 0.5 + 0.5 * (double)size ||
                    !(d->group == NULL ? !first : takes_no_last(d, drawn + i, size, left)))
                        continue;
                for (size_t j = i; j < i + size; j++)
                        held_out[drawn[j].document] = true;
                due -= (double)size;
        }
        free(drawn);
        free(left);
}

/* ---- copies --------------------------------------------------------------------------------- */

/* What a document is learned from, beside its labels. */
static int copy_targets(struct ran_dataset *to, const struct ran_dataset *d, size_t b,
                        struct ran_error *err)
{
        const size_t at = d->soft_first != NULL ? d->soft_first[b] : 0;

        if (d->soft_first != NULL)
                RAN_TRY(ran_dataset_soft_target(to, d->soft_labels + at, d->soft + at,
                                                d->soft_first[b + 1] - at, d->guessed[b], err));
        if (d->fingerprint != NULL)
                RAN_TRY(ran_dataset_fingerprint(to, d->fingerprint[b], err));
        if (d->group == NULL)
                return RAN_OK;
        RAN_TRY(RAN_SPOOL(to->spool.group, to->group, to->B, err));
        to->group[to->B - 1] = d->group[b];
        return RAN_OK;
}

/* judges: without its soft target. */
static int copy_document(struct ran_dataset *to, const struct ran_dataset *d, size_t b, bool judges,
                         struct ran_error *err)
{
        const struct ran_document doc = ran_dataset_document(d, b);
        size_t at = d->label_first[b], n = d->label_first[b + 1] - at;
        double weight = (double)d->weight[b];

        if (d->sources != NULL)
                RAN_TRY(ran_dataset_add_text(to, doc.ids, doc.L, d->sources[b], weight, err));
        else if (d->positions == NULL)
                RAN_TRY(ran_dataset_add(to, doc.ids, doc.L, d->labels + at, n, weight, err));
        else
                RAN_TRY(ran_dataset_add_words(to, doc.ids, doc.L, doc.positions, d->labels + at, n,
                                              weight, err));
        if (doc.spelling != NULL)
                RAN_TRY(ran_dataset_spell(to, doc.spelling, doc.L, err));
        if (!judges)
                RAN_TRY(copy_targets(to, d, b, err));
        else if (d->guessed != NULL)
                RAN_TRY(ran_dataset_soft_target(to, NULL, NULL, 0, d->guessed[b], err));
        if (doc.begins != NULL)
                memcpy(to->begins + to->label_first[to->B - 1], doc.begins, n * sizeof *doc.begins);
        return RAN_OK;
}

/* Copies the documents with taken[b] == value. */
static int copy(struct ran_dataset *to, const struct ran_dataset *d, const bool *taken, bool value,
                bool judges, struct ran_error *err)
{
        to->multilabel = d->multilabel;
        to->given = d->given;
        to->keep = d->keep;
        memcpy(to->digest, d->digest, sizeof to->digest);
        RAN_TRY(ran_dataset_set_classes(to, d->names, d->C, err));
        for (size_t b = 0; b < d->B; b++)
                if (taken[b] == value)
                        RAN_TRY(copy_document(to, d, b, judges, err));
        return ran_dataset_finish(to, err);
}

int ran_dataset_split(const struct ran_dataset *d, double fraction, uint64_t seed,
                      const bool *known, bool *held_out, struct ran_dataset *dev,
                      struct ran_error *err)
{
        memset(held_out, 0, d->B * sizeof *held_out);
        pick(d, fraction, seed, known, held_out);
        return copy(dev, d, held_out, true, true, err);
}

int ran_dataset_without(const struct ran_dataset *d, const bool *left_out, struct ran_dataset *to,
                        struct ran_error *err)
{
        return copy(to, d, left_out, false, false, err);
}

/* ---- folds ----------------------------------------------------------------------------------- */

void ran_dataset_folds(const struct ran_dataset *d, size_t folds, uint64_t seed, uint32_t *fold)
{
        struct drawn *drawn = ran_new(d->B, sizeof *drawn);

        for (size_t b = 0; b < d->B; b++)
                fold[b] = RAN_NO_FOLD;
        const size_t n = draw(d, seed, drawn);
        for (size_t i = 0, size; i < n; i += size) {
                size = group_size(d, drawn + i, n - i);
                const size_t at = d->group != NULL ? i * folds / n : i % folds;
                for (size_t j = i; j < i + size; j++)
                        fold[drawn[j].document] = (uint32_t)at;
        }
        free(drawn);
}
