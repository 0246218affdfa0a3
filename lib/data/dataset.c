/* dataset.c - documents and their labels, for training and evaluation.
 *
 * A few long arrays hold everything, document after document: a million short documents cost no
 * more than their ids, and arrays larger than memory move to files. Classes are numbered as their
 * labels appear, with an open hash table to find them; at the end they are sorted by the bytes of
 * their names, so that the numbers in a model depend on the names and not on the order of the
 * records.
 */
#include "base/string-table.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- classes -------------------------------------------------------------------------------- */

static void forget_names(struct ran_dataset *d)
{
        if (d->known != NULL)
                ran_string_table_release(d->known);
        free(d->known);
        d->known = NULL;
}

static int add_class(struct ran_dataset *d, const char *name, size_t n, struct ran_error *err)
{
        if (d->C >= RAN_LABEL_UNKNOWN - 1)
                return ran_fail(err, RAN_EINVAL, "more than %zu different labels", d->C);
        RAN_ROOM(d->names, d->names_cap, d->C + 1);
        if (d->known == NULL)
                d->known = ran_new(1, sizeof *d->known);
        char *copy = ran_copy(name, n);
        ran_string_table_add(d->known, copy, n);
        d->names[d->C++] = copy;
        return RAN_OK;
}

int ran_dataset_label(struct ran_dataset *d, const char *name, size_t n, uint32_t *label,
                      struct ran_error *err)
{
        if (n > 0 && memchr(name, '\0', n) != NULL)
                return ran_fail(err, RAN_EFORMAT, "a label cannot hold U+0000");
        *label = RAN_LABEL_UNKNOWN;
        if (d->known != NULL)
                *label = ran_string_table_find(d->known, name, n);
        if (*label != RAN_LABEL_UNKNOWN || d->fixed)
                return RAN_OK;
        RAN_TRY(add_class(d, name, n, err));
        *label = (uint32_t)d->C - 1;
        return RAN_OK;
}
_Static_assert(RAN_LABEL_UNKNOWN == RAN_STRING_TABLE_NONE, "a name that is not known is no class");

int ran_dataset_set_classes(struct ran_dataset *d, char *const *names, size_t C,
                            struct ran_error *err)
{
        int code = RAN_OK;

        for (size_t c = 0; c < C && code == RAN_OK; c++)
                code = add_class(d, names[c], strlen(names[c]), err);
        d->fixed = code == RAN_OK;
        return code;
}

/* ---- documents ------------------------------------------------------------------------------ */

/* Makes room for n elements of a member of the data set; returns a code. */
#define RESERVE(member, n) \
        (d->spool.member.keep = d->keep, RAN_SPOOL(d->spool.member, d->member, n, err))

/* Makes room for one more document; first and label_first have one element more than documents. */
static int reserve_document(struct ran_dataset *d, struct ran_error *err)
{
        size_t n = d->B + 2;

        RAN_TRY(RESERVE(first, n));
        RAN_TRY(RESERVE(label_first, n));
        RAN_TRY(RESERVE(weight, n));
        if (d->B == 0)
                d->first[0] = d->label_first[0] = 0;
        return RAN_OK;
}

static int append(struct ran_dataset *d, struct ran_spool *spool, uint32_t **array, size_t at,
                  const uint32_t *more, size_t n, struct ran_error *err)
{
        if (n > SIZE_MAX - at)
                return ran_fail(err, RAN_ENOMEM, "the documents are too large");
        spool->keep = d->keep;
        RAN_TRY(RAN_SPOOL(*spool, *array, at + n, err));
        if (n > 0)
                memcpy(*array + at, more, n * sizeof **array);
        return RAN_OK;
}

static int compare_labels(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return (x > y) - (x < y);
}

/* Sorts n labels, removes duplicates and returns the number left. Unknown labels come last and
 * all stay: their names may differ. */
static size_t sort_labels(uint32_t *labels, size_t n)
{
        size_t kept = 0;

        if (n > 1)
                qsort(labels, n, sizeof *labels, compare_labels);
        for (size_t i = 0; i < n; i++)
                if (kept == 0 || labels[i] != labels[kept - 1] || labels[i] == RAN_LABEL_UNKNOWN)
                        labels[kept++] = labels[i];
        return kept;
}

/* Adds the tokens and labels of a sentence after `at` tokens and label_at labels; with positions
 * its first word begins a sentence; positions count from `from`. */
static int append_sentence(struct ran_dataset *d, size_t at, size_t label_at, size_t from,
                           const uint32_t *ids, size_t L, const uint32_t *positions,
                           const uint32_t *labels, size_t n, struct ran_error *err)
{
        RAN_TRY(append(d, &d->spool.ids, &d->ids, at, ids, L, err));
        RAN_TRY(append(d, &d->spool.labels, &d->labels, label_at, labels, n, err));
        if (positions == NULL)
                return RAN_OK;
        RAN_TRY(append(d, &d->spool.positions, &d->positions, label_at, positions, n, err));
        RAN_TRY(RESERVE(begins, label_at + n));
        for (size_t i = 0; i < n; i++) {
                d->positions[label_at + i] += (uint32_t)from;
                d->begins[label_at + i] = i == 0;
        }
        return RAN_OK;
}

/* Fills a document's arrays except its weight and ends. positions NULL: none. */
static int append_document(struct ran_dataset *d, const uint32_t *ids, size_t L,
                           const uint32_t *positions, const uint32_t *labels, size_t n,
                           struct ran_error *err)
{
        RAN_TRY(reserve_document(d, err));
        size_t at = d->first[d->B], label_at = d->label_first[d->B];
        RAN_TRY(append_sentence(d, at, label_at, 0, ids, L, positions, labels, n, err));
        d->first[d->B + 1] = at + L;
        d->label_first[d->B + 1] = label_at + n;
        return RAN_OK;
}

int ran_dataset_add(struct ran_dataset *d, const uint32_t *ids, size_t L, const uint32_t *labels,
                    size_t n, double weight, struct ran_error *err)
{
        RAN_TRY(append_document(d, ids, L, NULL, labels, n, err));
        d->weight[d->B++] = (float)weight;
        d->label_first[d->B] =
                d->label_first[d->B - 1] + sort_labels(d->labels + d->label_first[d->B - 1], n);
        return RAN_OK;
}

int ran_dataset_add_words(struct ran_dataset *d, const uint32_t *ids, size_t L,
                          const uint32_t *positions, const uint32_t *tags, size_t n, double weight,
                          struct ran_error *err)
{
        RAN_TRY(append_document(d, ids, L, positions, tags, n, err));
        d->weight[d->B++] = (float)weight;
        return RAN_OK;
}

int ran_dataset_add_text(struct ran_dataset *d, const uint32_t *ids, size_t L, size_t sources,
                         double weight, struct ran_error *err)
{
        uint32_t n = (uint32_t)sources;

        if (L < 2 || sources >= L)
                return ran_fail(err, RAN_EINVAL,
                                "%zu ids, %zu of them source: none is left to predict", L, sources);
        if (sources > UINT32_MAX)
                return ran_fail(err, RAN_EINVAL, "a source of %zu ids is too long", sources);
        RAN_TRY(append(d, &d->spool.sources, &d->sources, d->B, &n, 1, err));
        RAN_TRY(append_document(d, ids, L, NULL, NULL, 0, err));
        d->weight[d->B++] = (float)weight;
        return RAN_OK;
}

int ran_dataset_continue(struct ran_dataset *d, const uint32_t *ids, size_t L,
                         const uint32_t *positions, const uint32_t *tags, size_t n,
                         struct ran_error *err)
{
        size_t at = d->first[d->B], label_at = d->label_first[d->B], from = at - d->first[d->B - 1];

        if (L > UINT32_MAX - from)
                return ran_fail(err, RAN_EINVAL, "a document of more than %zu tokens is too long",
                                from);
        RAN_TRY(append_sentence(d, at, label_at, from, ids, L, positions, tags, n, err));
        d->first[d->B] += L;
        d->label_first[d->B] += n;
        return RAN_OK;
}

int ran_dataset_spell(struct ran_dataset *d, const uint32_t *spelling, size_t L,
                      struct ran_error *err)
{
        size_t end = d->first[d->B];

        if (end > SIZE_MAX / RAN_SPELLING)
                return ran_fail(err, RAN_ENOMEM, "the documents are too large");
        return append(d, &d->spool.spelling, &d->spelling, (end - L) * RAN_SPELLING, spelling,
                      L * RAN_SPELLING, err);
}

int ran_dataset_soft_target(struct ran_dataset *d, const uint32_t *labels, const float *p, size_t n,
                            bool guessed, struct ran_error *err)
{
        size_t b = d->B - 1, at = d->soft_first != NULL ? d->soft_first[b] : 0;

        RAN_TRY(append(d, &d->spool.soft_labels, &d->soft_labels, at, labels, n, err));
        RAN_TRY(RESERVE(soft, at + n));
        RAN_TRY(RESERVE(soft_first, b + 2));
        RAN_TRY(RESERVE(guessed, b + 1));
        if (n > 0)
                memcpy(d->soft + at, p, n * sizeof *p);
        d->soft_first[b] = at;
        d->soft_first[b + 1] = at + n;
        d->guessed[b] = guessed;
        return RAN_OK;
}

/* FNV-1a: the choice of a split depends on it. */
static uint64_t number_of(const char *name, size_t n)
{
        return ran_string_table_hash(UINT64_C(0xcbf29ce484222325), name, n);
}

int ran_dataset_group(struct ran_dataset *d, const char *name, size_t n, struct ran_error *err)
{
        size_t b = d->B - 1;

        RAN_TRY(RESERVE(group, b + 1));
        d->group[b] = n > 0 ? number_of(name, n) : b;
        return RAN_OK;
}

int ran_dataset_fingerprint(struct ran_dataset *d, uint32_t fingerprint, struct ran_error *err)
{
        const size_t b = d->B - 1, had = d->fingerprints;

        RAN_TRY(RESERVE(fingerprint, b + 1));
        d->fingerprint[b] = fingerprint + (had == d->B ? d->fingerprint[b] : 0);
        d->fingerprints = d->B;
        return RAN_OK;
}

int ran_dataset_label_all(struct ran_dataset *d, struct ran_error *err)
{
        RAN_TRY(RESERVE(labels, d->B));
        for (size_t b = 0; b < d->B; b++) {
                d->labels[b] = 0;
                d->label_first[b + 1] = b + 1;
        }
        return RAN_OK;
}

size_t ran_dataset_guessed(const struct ran_dataset *d)
{
        size_t n = 0;

        for (size_t b = 0; d->guessed != NULL && b < d->B; b++)
                n += d->guessed[b];
        return n;
}

double ran_dataset_baseline(const struct ran_dataset *d, size_t *most)
{
        const size_t n = d->B > 0 ? d->label_first[d->B] : 0;

        *most = 0;
        if (d->C == 0 || n == 0 || d->multilabel)
                return NAN;
        size_t *count = ran_new(d->C, sizeof *count);
        for (size_t i = 0; i < n; i++)
                if (d->labels[i] < d->C)
                        count[d->labels[i]]++;
        for (size_t c = 1; c < d->C; c++)
                if (count[c] > count[*most])
                        *most = c;
        const double share = (double)count[*most] / (double)n;
        free(count);
        return share;
}

struct ran_document ran_dataset_document(const struct ran_dataset *d, size_t b)
{
        size_t at = d->first[b], word = d->label_first[b];

        return (struct ran_document){
                .ids = d->ids + at,
                .L = d->first[b + 1] - at,
                .spelling = d->spelling != NULL ? d->spelling + at * RAN_SPELLING : NULL,
                .positions = d->positions != NULL ? d->positions + word : NULL,
                .begins = d->positions != NULL ? d->begins + word : NULL,
                .words = d->positions != NULL ? d->label_first[b + 1] - word : 0,
        };
}

/* ---- order of the classes ------------------------------------------------------------------- */

struct ordered {
        char *name;
        uint32_t number; /* as it turned up */
};

static int compare_classes(const void *a, const void *b)
{
        const struct ordered *x = a, *y = b;

        return strcmp(x->name, y->name); /* as unsigned bytes, in any locale */
}

/* new_number (C), or NULL: the numbers stay. */
static void order_soft(struct ran_dataset *d, const uint32_t *new_number)
{
        float *p = ran_new_floats(d->C); /* of one document, by class */

        for (size_t b = 0; b < d->B; b++) {
                size_t from = d->soft_first[b], to = d->soft_first[b + 1];

                for (size_t i = from; i < to; i++) {
                        if (new_number != NULL)
                                d->soft_labels[i] = new_number[d->soft_labels[i]];
                        p[d->soft_labels[i]] = d->soft[i];
                }
                sort_labels(d->soft_labels + from, to - from);
                for (size_t i = from; i < to; i++)
                        d->soft[i] = p[d->soft_labels[i]];
        }
        free(p);
}

static void order_classes(struct ran_dataset *d)
{
        struct ordered *classes = ran_new(d->C, sizeof *classes);
        uint32_t *new_number = ran_new(d->C, sizeof *new_number);

        for (size_t c = 0; c < d->C; c++)
                classes[c] = (struct ordered){d->names[c], (uint32_t)c};
        qsort(classes, d->C, sizeof *classes, compare_classes);
        for (size_t c = 0; c < d->C; c++) {
                d->names[c] = classes[c].name;
                new_number[classes[c].number] = (uint32_t)c;
        }
        for (size_t i = 0; i < d->label_first[d->B]; i++)
                d->labels[i] = new_number[d->labels[i]];
        for (size_t b = 0; b < d->B && d->positions == NULL; b++)
                sort_labels(d->labels + d->label_first[b],
                            d->label_first[b + 1] - d->label_first[b]);
        if (d->soft_first != NULL)
                order_soft(d, new_number);
        free(classes);
        free(new_number);
}

/* Whether each of n labels has a class. */
static int check_labels(const struct ran_dataset *d, const uint32_t *labels, size_t n,
                        struct ran_error *err)
{
        for (size_t i = 0; i < n; i++)
                if (labels[i] >= d->C)
                        return ran_fail(err, RAN_EINVAL, "label %u is none of %zu classes",
                                        (unsigned)labels[i], d->C);
        return RAN_OK;
}

int ran_dataset_finish(struct ran_dataset *d, struct ran_error *err)
{
        bool order = !d->fixed && d->C > 0; /* labels of language models are not classes */

        RAN_TRY(reserve_document(d, err)); /* so that first[0] is there without any */
        if ((order && check_labels(d, d->labels, d->label_first[d->B], err) != RAN_OK) ||
            (d->soft_first != NULL &&
             check_labels(d, d->soft_labels, d->soft_first[d->B], err) != RAN_OK))
                return RAN_EINVAL;
        if (order)
                order_classes(d);
        else if (d->soft_first != NULL)
                order_soft(d, NULL);
        forget_names(d);
        d->fixed = true;
        return RAN_OK;
}

void ran_dataset_release(struct ran_dataset *d)
{
        for (size_t c = 0; c < d->C; c++)
                free(d->names[c]);
        free(d->names);
        forget_names(d);
        for (size_t i = 0; i < sizeof d->spool / sizeof(struct ran_spool); i++)
                ran_spool_release((struct ran_spool *)&d->spool + i);
        *d = (struct ran_dataset){0};
}
