/* check.c - gathers the report of --check: counts, lengths and repeated texts. */
#include "cmd/train/check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/train/check/report.h"

/* ---- repeated texts ------------------------------------------------------------------------- */

static const size_t none = SIZE_MAX;

/* A document of the training or the development data, for sorting by content. */
struct key {
        uint64_t hash;
        const uint32_t *ids;
        size_t L, index;
        bool dev;
};

static void make_keys(struct key *keys, const struct ran_dataset *set, bool dev)
{
        for (size_t b = 0; b < set->B; b++) {
                struct key *k = &keys[b];
                *k = (struct key){.ids = set->ids + set->first[b],
                                  .L = set->first[b + 1] - set->first[b],
                                  .index = b,
                                  .dev = dev};
                for (size_t t = 0; t < k->L; t++)
                        k->hash = ran_random_draw(k->hash, k->ids[t]);
        }
}

static int same_text(const struct key *a, const struct key *b)
{
        if (a->hash != b->hash)
                return a->hash < b->hash ? -1 : 1;
        if (a->L != b->L)
                return a->L < b->L ? -1 : 1;
        return memcmp(a->ids, b->ids, a->L * sizeof *a->ids);
}

/* Training documents before those of development, then in the order of the input. */
static int compare_keys(const void *a, const void *b)
{
        const struct key *x = a, *y = b;
        int text = same_text(x, y);

        if (text != 0)
                return text;
        if (x->dev != y->dev)
                return x->dev ? 1 : -1;
        return (x->index > y->index) - (x->index < y->index);
}

/* twin[b]: the first training document with the tokens of document b, if that is another one. */
static void find_twins(const struct ran_dataset *train, const struct ran_dataset *dev, size_t *twin,
                       size_t *dev_twin)
{
        size_t n = train->B + (dev != NULL ? dev->B : 0);
        struct key *keys = train_must_alloc(n, sizeof *keys);
        const struct key *leader = NULL;

        make_keys(keys, train, false);
        if (dev != NULL)
                make_keys(keys + train->B, dev, true);
        qsort(keys, n, sizeof *keys, compare_keys);
        for (size_t i = 0; i < n; i++) {
                size_t *mine = keys[i].dev ? &dev_twin[keys[i].index] : &twin[keys[i].index];
                if (leader == NULL || same_text(leader, &keys[i]) != 0)
                        leader = &keys[i];
                *mine = leader == &keys[i] || leader->dev ? none : leader->index;
        }
        free(keys);
}

static bool same_labels(const struct ran_dataset *set, size_t a, size_t b)
{
        size_t n = set->label_first[a + 1] - set->label_first[a];

        return set->label_first[b + 1] - set->label_first[b] == n &&
               memcmp(set->labels + set->label_first[a], set->labels + set->label_first[b],
                      n * sizeof *set->labels) == 0;
}

/* ---- gathering ------------------------------------------------------------------------------ */

static int compare_sizes(const void *a, const void *b)
{
        size_t x = *(const size_t *)a, y = *(const size_t *)b;

        return (x > y) - (x < y);
}

static void summarise_lengths(struct train_summary *s, size_t window)
{
        const struct ran_dataset *set = &s->data->set;
        size_t *length = train_must_alloc(set->B, sizeof *length);

        for (size_t b = 0; b < set->B; b++) {
                length[b] = set->first[b + 1] - set->first[b];
                s->longer_window += length[b] > window;
                s->longer_512 += length[b] > 512;
        }
        s->tokens = s->predicted = set->first[set->B];
        for (size_t b = 0; set->sources != NULL && b < set->B; b++)
                s->predicted -= set->sources[b] > 0 ? set->sources[b] : 1;
        qsort(length, set->B, sizeof *length, compare_sizes);
        for (size_t i = 0; i < TRAIN_PERCENTILES && set->B > 0; i++) { /* the nearest rank */
                size_t rank = (size_t)ceil(train_percentiles[i].share * (double)set->B);
                s->length[i] = length[rank > 0 ? rank - 1 : 0];
        }
        free(length);
}

static void summarise(struct train_summary *s, const struct train_data *data, size_t window)
{
        const struct ran_dataset *set = &data->set;

        s->data = data;
        s->label_count = train_must_alloc(set->C, sizeof *s->label_count);
        for (size_t i = 0; i < set->label_first[set->B]; i++)
                if (set->labels[i] < set->C) /* not masked tokens, which have no class */
                        s->label_count[set->labels[i]]++;
        summarise_lengths(s, window);
}

static void add_pair(struct train_pairs *p, struct train_location a, struct train_location b)
{
        if (p->n < TRAIN_LISTED) {
                p->a[p->n] = a;
                p->b[p->n] = b;
        }
        p->n++;
}

/* Where the documents of one set are nearly the same as one of those that are known; `twin` has
 * those that are repeated exactly, which are left out. With `add` the others become known, too. */
static int look_for_near(struct ran_near_duplicates *known, const struct train_data *of,
                         const size_t *twin, bool add, const struct train_data *train,
                         struct ran_shingles *s, struct train_pairs *pairs, struct ran_error *err)
{
        const struct ran_dataset *set = &of->set;

        for (size_t b = 0; b < set->B; b++) {
                double similarity;
                size_t like = RAN_NO_TEXT;

                ran_shingles_of_ids(s, set->ids + set->first[b], set->first[b + 1] - set->first[b]);
                if (twin[b] != none)
                        s->n = 0; /* keeps its number, and is like nothing */
                RAN_TRY(ran_near_duplicates_find(known, s, &like, &similarity, err));
                if (like != RAN_NO_TEXT)
                        add_pair(pairs, of->location[b], train->location[like]);
                if (add)
                        RAN_TRY(ran_near_duplicates_add(known, s, err));
        }
        return RAN_OK;
}

static void find_near(struct ran_near_duplicates *known, const struct train_data *of,
                      const size_t *twin, bool add, const struct train_data *train,
                      struct train_pairs *pairs)
{
        struct ran_shingles s = {0};
        struct ran_error err = {0};

        int rc = look_for_near(known, of, twin, add, train, &s, pairs, &err);
        ran_shingles_release(&s);
        if (rc != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
}

static void gather_near(struct train_report *r, const struct train_data *train, const size_t *twin,
                        const struct train_data *dev, const size_t *dev_twin)
{
        struct ran_error err = {0};
        struct ran_near_duplicates *known = ran_near_duplicates_new(TRAIN_ALIKE, &err);

        if (known == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        find_near(known, train, twin, true, train, &r->near_duplicates);
        if (dev != NULL)
                find_near(known, dev, dev_twin, false, train, &r->near_overlap);
        ran_near_duplicates_free(known);
}

static void gather_repeats(struct train_report *r, const struct train_data *train,
                           const struct train_data *dev)
{
        size_t *twin = train_must_alloc(train->set.B, sizeof *twin);
        size_t *dev_twin = train_must_alloc(dev != NULL ? dev->set.B : 0, sizeof *dev_twin);

        find_twins(&train->set, dev != NULL ? &dev->set : NULL, twin, dev_twin);
        for (size_t b = 0; b < train->set.B; b++) {
                if (twin[b] == none)
                        continue;
                add_pair(&r->duplicates, train->location[b], train->location[twin[b]]);
                if (!same_labels(&train->set, b, twin[b]))
                        add_pair(&r->contradictions, train->location[b], train->location[twin[b]]);
        }
        for (size_t b = 0; dev != NULL && b < dev->set.B; b++)
                if (dev_twin[b] != none)
                        add_pair(&r->overlap, dev->location[b], train->location[dev_twin[b]]);
        gather_near(r, train, twin, dev, dev_twin);
        free(twin);
        free(dev_twin);
}

void train_count_repeats(const struct train_data *train, const struct train_data *dev,
                         size_t *repeated, size_t *known)
{
        size_t *twin = train_must_alloc(train->set.B, sizeof *twin);
        size_t *dev_twin = train_must_alloc(dev != NULL ? dev->set.B : 0, sizeof *dev_twin);

        *repeated = *known = 0;
        find_twins(&train->set, dev != NULL ? &dev->set : NULL, twin, dev_twin);
        for (size_t b = 0; b < train->set.B; b++)
                *repeated += twin[b] != none;
        for (size_t b = 0; dev != NULL && b < dev->set.B; b++)
                *known += dev_twin[b] != none;
        free(twin);
        free(dev_twin);
}

void train_check(const struct train_checked *c, enum train_check_form form, struct ran_buf *out)
{
        struct train_report found = {
                .window = c->window, .problems = c->problems, .warnings = c->warnings};
        struct report r = {0};

        summarise(&found.train, c->train, c->window);
        if (c->dev != NULL)
                summarise(&found.dev, c->dev, c->window);
        gather_repeats(&found, c->train, c->dev);
        train_report_tree(&r, &found);
        if (form == TRAIN_CHECK_PAGE)
                report_page(&r, out);
        else
                report_finish(&r, form == TRAIN_CHECK_TEXT, out);
        report_release(&r);
        if (out->failed)
                cmd_die(CMD_FAILED, "out of memory for the report");
        free(found.train.label_count);
        free(found.dev.label_count);
}
