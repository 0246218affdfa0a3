/* check.c - --check: counts, lengths and repeated texts, as a report. */
#include "cmd/train/check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/train/read/task.h"

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
        struct key *keys = ran_new(n, sizeof *keys);
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

/* ---- numbers -------------------------------------------------------------------------------- */

static const struct percentile {
        const char *name;
        double share; /* of documents that are no longer */
} percentiles[] = {{"min", 0},    {"p5", 0.05},  {"p25", 0.25}, {"median", 0.5},
                   {"p75", 0.75}, {"p95", 0.95}, {"max", 1}};

static int compare_numbers(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return x < y ? -1 : x > y;
}

/* Percentiles of n numbers, which are sorted; decimals -1: of counts. */
static void report_percentiles(struct report *r, const char *name, const char *title, double *x,
                               size_t n, int decimals)
{
        if (n > 0)
                qsort(x, n, sizeof *x, compare_numbers);
        report_begin(r, REPORT_LINE, name, title);
        for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) { /* nearest rank */
                const char *of = percentiles[i].name;
                const size_t rank = (size_t)ceil(percentiles[i].share * (double)n);
                const double value = n == 0 ? 0 : x[rank > 0 ? rank - 1 : 0];
                if (decimals < 0)
                        report_count(r, of, of, (uint64_t)value);
                else
                        report_number(r, of, of, value, decimals);
        }
        report_end(r);
}

static double share_of(size_t part, size_t whole)
{
        return whole > 0 ? (double)part / (double)whole : 0;
}

/* ---- places --------------------------------------------------------------------------------- */

/* The number of places, and the first TRAIN_LISTED of them, with what each `does` to another one
 * (NULL: nothing). */
static void report_places(struct report *r, const char *name, const char *title,
                          const struct train_places *p, const char *does)
{
        report_begin(r, REPORT_OBJECT, name, p->n > 0 ? title : NULL);
        report_note(r, p->n > TRAIN_LISTED ? "%zu; the first %d:" : "%zu", p->n, TRAIN_LISTED);
        report_count(r, "count", NULL, p->n);
        report_begin(r, REPORT_LIST, does != NULL ? "pairs" : "at", "");
        for (size_t i = 0; i < p->n && i < TRAIN_LISTED; i++) {
                if (does != NULL)
                        report_begin(r, REPORT_LIST, "", "");
                report_put(r, "", does != NULL ? "text" : "", "%s:%zu", p->at[i].file,
                           p->at[i].line);
                if (does == NULL)
                        continue;
                report_put(r, "", does, "%s:%zu", p->of[i].file, p->of[i].line);
                report_end(r);
        }
        report_end(r);
        report_end(r);
}

/* Adds where documents of one set are nearly the same as one of those that are known; `twin` has
 * those that are repeated exactly, which are left out. With `add` the others become known, too. */
static void find_near(struct ran_near_duplicates *known, const struct train_data *of,
                      const size_t *twin, bool add, const struct train_data *train,
                      struct train_places *places)
{
        const struct ran_dataset *set = &of->set;
        struct ran_shingles s = {0};
        struct ran_error err = {0};

        for (size_t b = 0; b < set->B; b++) {
                double similarity;

                ran_shingles_of_ids(&s, set->ids + set->first[b],
                                    set->first[b + 1] - set->first[b]);
                if (twin[b] != none)
                        s.n = 0; /* keeps its number, and is like nothing */
                const size_t like = ran_near_duplicates_find(known, &s, &similarity);
                if (like != RAN_NO_TEXT)
                        train_add_place(places, of->location[b], &train->location[like]);
                if (add)
                        train_must(ran_near_duplicates_add(known, &s, &err), &err);
        }
        ran_shingles_release(&s);
}

/* Documents that repeat one of the training data, exactly or nearly. */
struct repeats {
        struct train_places exactly, otherwise, nearly; /* otherwise: with other labels */
};

static void find_repeats(const struct train_data *train, const struct train_data *dev, bool nearly,
                         struct repeats *of_train, struct repeats *of_dev)
{
        size_t *twin = ran_new(train->set.B, sizeof *twin);
        size_t *dev_twin = ran_new(dev != NULL ? dev->set.B : 0, sizeof *dev_twin);
        struct ran_near_duplicates *known = ran_near_duplicates_new(TRAIN_ALIKE);

        find_twins(&train->set, dev != NULL ? &dev->set : NULL, twin, dev_twin);
        for (size_t b = 0; b < train->set.B; b++) {
                const struct ran_dataset *set = &train->set;
                const size_t a = twin[b], *first = set->label_first;

                if (a == none)
                        continue;
                const size_t n = first[b + 1] - first[b];
                train_add_place(&of_train->exactly, train->location[b], &train->location[a]);
                if (first[a + 1] - first[a] != n ||
                    memcmp(set->labels + first[a], set->labels + first[b],
                           n * sizeof *set->labels) != 0)
                        train_add_place(&of_train->otherwise, train->location[b],
                                        &train->location[a]);
        }
        for (size_t b = 0; dev != NULL && b < dev->set.B; b++)
                if (dev_twin[b] != none)
                        train_add_place(&of_dev->exactly, dev->location[b],
                                        &train->location[dev_twin[b]]);
        if (nearly)
                find_near(known, train, twin, true, train, &of_train->nearly);
        if (nearly && dev != NULL)
                find_near(known, dev, dev_twin, false, train, &of_dev->nearly);
        ran_near_duplicates_free(known);
        free(twin);
        free(dev_twin);
}

void train_count_repeats(const struct train_data *train, const struct train_data *dev,
                         size_t *repeated, size_t *known)
{
        struct repeats of_train = {0}, of_dev = {0};

        find_repeats(train, dev, false, &of_train, &of_dev);
        *repeated = of_train.exactly.n;
        *known = of_dev.exactly.n;
}

/* ---- pairs of source and target ---------------------------------------------------------------
 */

/* Source [SEP] target [END]. */
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
                report_percentiles(r, "source_tokens", "source tokens", source, n, 0);
                report_percentiles(r, "target_tokens", "target tokens", target, n, 0);
                report_percentiles(r, "ratio", "target tokens for a source token", ratio, n, 2);
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
        report_places(r, "unusual_ratio", "Pairs of unusual lengths", &unusual, NULL);
        report_places(r, "copies", "Copies of the source as target", &copies, NULL);
        report_end(r);
}

/* ---- the report ----------------------------------------------------------------------------- */

void train_report_labels(struct report *r, const char *name, const char *title,
                         const struct ran_dataset *set, size_t all)
{
        size_t *count = ran_new(set->C, sizeof *count);

        for (size_t i = 0; i < set->label_first[set->B]; i++)
                if (set->labels[i] < set->C) /* not masked tokens, which have no class */
                        count[set->labels[i]]++;
        report_begin(r, REPORT_OBJECT, name, title);
        report_note(r, "%zu different", set->C);
        for (size_t c = 0; c < set->C; c++) {
                report_count(r, set->names[c], set->names[c], count[c]);
                report_note(r, "%.1f %%", 100 * share_of(count[c], all));
        }
        report_end(r);
        free(count);
}

static void add_summary(struct report *r, const struct train_data *d, size_t window)
{
        const struct ran_dataset *set = &d->set;
        double *length = ran_new(set->B, sizeof *length);
        size_t longer_window = 0, longer_512 = 0;

        for (size_t b = 0; b < set->B; b++) {
                const size_t L = set->first[b + 1] - set->first[b];

                length[b] = (double)L;
                longer_window += L > window;
                longer_512 += L > 512;
        }
        report_count(r, "documents", "documents", set->B);
        report_count(r, "tokens", "tokens", set->first[set->B]);
        report_count(r, "blank_lines", "blank lines", d->counts.blank);
        report_count(r, "bad_lines", "bad lines", d->counts.bad);
        report_places(r, "empty", "Without tokens", &d->empty, NULL);
        d->task->check(r, d);
        report_percentiles(r, "length", "tokens per document", length, set->B, -1);
        report_count(r, "window", "window", window);
        report_share(r, "longer_than_window", "longer than the window",
                     share_of(longer_window, set->B));
        report_share(r, "longer_than_512", "longer than 512 tokens", share_of(longer_512, set->B));
        free(length);
}

static void add_sentences(struct report *r, const char *name, const char *title,
                          const struct train_problems *p)
{
        report_begin(r, REPORT_LIST, name, title);
        for (size_t i = 0; i < p->n; i++)
                report_string(r, "", "", p->sentence[i]);
        report_end(r);
}

static void add_all(struct report *r, const struct train_checked *c)
{
        static const char like[] = "is like", repeats[] = "repeats";
        struct repeats of_train = {0}, of_dev = {0};
        const bool ok = c->problems->n == 0;

        find_repeats(c->train, c->dev, true, &of_train, &of_dev);
        report_bool(r, NULL, "ready for training", ok);
        add_summary(r, c->train, c->window);
        report_bool(r, "several_labels", NULL, c->train->set.multilabel);
        report_places(r, "duplicates", "Repeated texts", &of_train.exactly, repeats);
        report_places(r, "contradictions", "Repeated texts with different labels",
                      &of_train.otherwise, repeats);
        report_places(r, "near_duplicates", "Nearly the same texts", &of_train.nearly, like);
        if (c->dev != NULL) {
                const size_t unknown = c->dev->unknown;

                report_begin(r, REPORT_OBJECT, "dev", "Development data");
                add_summary(r, c->dev, c->window);
                report_count(r, "unknown_labels",
                             unknown > 0 ? "unknown to the training data" : NULL, unknown);
                report_places(r, "overlap", "Development texts also in the training data",
                              &of_dev.exactly, repeats);
                report_places(r, "near_overlap",
                              "Development texts that are nearly the same as training texts",
                              &of_dev.nearly, like);
                report_end(r);
        }
        add_sentences(r, "problems", "Problems", c->problems);
        add_sentences(r, "warnings", "Warnings", c->warnings);
        report_bool(r, "ok", NULL, ok);
}

void train_check(const struct train_checked *c, enum train_check_form form, struct ran_buf *out)
{
        struct report r = {0};

        add_all(&r, c);
        if (form == TRAIN_CHECK_PAGE)
                report_page(&r, out);
        else
                report_finish(&r, form == TRAIN_CHECK_TEXT, out);
        report_release(&r);
}
