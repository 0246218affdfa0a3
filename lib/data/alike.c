/* alike.c - documents that are nearly the same are a group, which a split does not separate. */
#include "ran/text.h"
#include "ran/train.h"

/* Until all are compared, group[b] is a document before b in the same group, or b. */
struct groups {
        uint64_t *group;
        size_t document; /* at hand */
        bool again;      /* it has the same shingles as an earlier one */
        double least;    /* similarity */
};

static uint64_t root(const struct groups *g, uint64_t b)
{
        while (g->group[b] != b)
                b = g->group[b] = g->group[g->group[b]];
        return b;
}

static double join(void *arg, size_t text, double similarity)
{
        struct groups *g = arg;
        const uint64_t a = root(g, text), b = root(g, g->document);

        g->group[a < b ? b : a] = a < b ? a : b;
        g->again |= similarity == 1;
        return g->least;
}

/* A copy is no original of others: its neighbours are those of the first one. */
static int group_all(struct ran_dataset *d, struct ran_near_duplicates *known, double least,
                     struct ran_shingles *s, struct ran_error *err)
{
        struct groups g = {.group = d->group, .least = least};

        for (size_t b = 0; b < d->B; b++) {
                d->group[b] = b;
                g.document = b;
                g.again = false;
                ran_shingles_of_ids(s, d->ids + d->first[b], d->first[b + 1] - d->first[b]);
                ran_near_duplicates_each(known, s, join, &g);
                s->n = g.again ? 0 : s->n;
                RAN_TRY(ran_near_duplicates_add(known, s, err));
        }
        for (size_t b = 0; b < d->B; b++)
                d->group[b] = root(&g, b);
        return RAN_OK;
}

int ran_dataset_group_alike(struct ran_dataset *d, double least, struct ran_error *err)
{
        struct ran_shingles s = {0};

        RAN_TRY(RAN_SPOOL(d->spool.group, d->group, d->B, err));
        struct ran_near_duplicates *known = ran_near_duplicates_new(least);
        const int rc = group_all(d, known, least, &s, err);
        ran_near_duplicates_free(known);
        ran_shingles_release(&s);
        return rc;
}
