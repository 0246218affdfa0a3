/* top-ngrams.c - which n-grams speak most for each label of a linear model.
 *
 * The model knows n-grams by their hash only: it has a row of weights for a bucket, and not what
 * fell into it. Texts tell: each n-gram of theirs is hashed as in training, and names the row of
 * its bucket. If several n-grams share one, the most frequent names it. A vocabulary without texts
 * names the rows of single tokens, and may name a row that in training belonged to a longer n-gram.
 *
 *   first   of a row: the first of its names, 1 + its number; 0: none
 *   name    where its ids are, how many, how often it was there, the next name of the same row
 */
#include "part/linear/linear-model.h"
#include "part/linear/linear-rows.h"
#include "file/model.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES = 4 }; /* of a row; later ones are not counted */

struct name {
        size_t at, count; /* at: in ids */
        uint32_t n, next;
};

struct ran_top_ngrams {
        const struct ran_model *m;
        size_t rows;
        uint32_t *first; /* (rows) */
        struct name *name;
        size_t names, name_cap;
        uint32_t *id;
        size_t ids, id_cap;
};

struct ran_top_ngrams *ran_top_ngrams_new(const struct ran_model *m, struct ran_error *err)
{
        const struct ran_linear_params *p = ran_linear_of(&m->params);

        if (!ran_has_linear_model(&m->config) || !ran_linear_has_idf(p)) {
                ran_fail(err, RAN_EINVAL, "it has no linear model of n-grams, as classifiers have");
                return NULL;
        }
        if (m->tokenizer == NULL) {
                ran_fail(err, RAN_EINVAL, "it has no vocabulary: its n-grams are numbers");
                return NULL;
        }
        struct ran_top_ngrams *t = ran_new(1, sizeof *t);
        t->m = m;
        t->rows = p->rows != NULL ? p->rows->n : ran_parts_rows(&m->config);
        t->first = ran_new(t->rows, sizeof *t->first);
        return t;
}

void ran_top_ngrams_free(struct ran_top_ngrams *t)
{
        if (t == NULL)
                return;
        free(t->first);
        free(t->name);
        free(t->id);
        free(t);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Counts an n-gram of a row; a name of it that is new is appended. */
static void count_ngram(struct ran_top_ngrams *t, uint32_t row, const uint32_t *ids, size_t n)
{
        size_t names = 0;

        for (uint32_t i = t->first[row]; i > 0; i = t->name[i - 1].next, names++) {
                struct name *name = &t->name[i - 1];

                if (name->n == n && memcmp(t->id + name->at, ids, n * sizeof *ids) == 0) {
                        name->count++;
                        return;
                }
        }
        if (names == NAMES)
                return;
        RAN_ROOM(t->id, t->id_cap, t->ids + n);
        RAN_ROOM(t->name, t->name_cap, t->names + 1);
        memcpy(t->id + t->ids, ids, n * sizeof *ids);
        t->name[t->names++] = (struct name){t->ids, 1, (uint32_t)n, t->first[row]};
        t->ids += n;
        t->first[row] =
                (uint32_t)t->names; /* at most NAMES for each of 2^32 rows, but memory ends */
}

void ran_top_ngrams_add(struct ran_top_ngrams *t, const uint32_t *ids, size_t L)
{
        const struct ran_linear_params *p = ran_linear_of(&t->m->params);
        const struct ran_config *c = &t->m->config;
        const size_t buckets = ran_linear_model_ngram_buckets(c);

        for (size_t at = 0; at < L; at++) {
                const size_t most = ran_linear_model_longest(c, p->affixes, ids, L, at);
                uint64_t hash = 0;

                for (size_t n = 1; n <= most; n++) {
                        hash = ran_linear_model_extend(hash, ids[at + n - 1]);
                        const uint32_t row =
                                ran_linear_row(p, ran_linear_model_bucket_of(hash, buckets));

                        if (row != RAN_NO_ROW && ran_linear_idf(p, row) > 0)
                                count_ngram(t, row, ids + at, n);
                }
        }
}

void ran_top_ngrams_add_vocabulary(struct ran_top_ngrams *t)
{
        for (uint32_t id = 0; id < t->m->V; id++)
                ran_top_ngrams_add(t, &id, 1);
}

/* ---- the strongest --------------------------------------------------------------------------- */

static struct ran_top_ngram name_of(const struct ran_top_ngrams *t, uint32_t row)
{
        const struct name *best = NULL;

        for (uint32_t i = t->first[row]; i > 0; i = t->name[i - 1].next) {
                const struct name *name = &t->name[i - 1];

                if (best == NULL || name->count >= best->count) /* the earlier one of equals */
                        best = name;
        }
        if (best == NULL) /* callers ask for rows that have names */
                return (struct ran_top_ngram){0};
        return (struct ran_top_ngram){t->id + best->at, best->n, best->count, 0};
}

/* The weights of a row into the lists of all labels, which fall, of at most `most`. */
static void insert_row(const struct ran_top_ngrams *t, uint32_t row, const float *y,
                       struct ran_top_ngram *list, size_t most, size_t *n)
{
        const double idf = ran_linear_idf(ran_linear_of(&t->m->params), row);

        for (size_t c = 0; c < t->m->C; c++) {
                struct ran_top_ngram *mine = list + c * most;
                const double weight = (double)y[c] * idf;
                size_t at;

                if (weight <= 0 || (n[c] == most && weight <= mine[most - 1].weight))
                        continue;
                n[c] += n[c] < most;
                for (at = n[c] - 1; at > 0 && mine[at - 1].weight < weight; at--)
                        mine[at] = mine[at - 1];
                mine[at] = name_of(t, row);
                mine[at].weight = weight;
        }
}

void ran_top_ngrams_list(const struct ran_top_ngrams *t, struct ran_top_ngram *list, size_t most,
                         size_t *n)
{
        float *y = ran_new_floats(t->m->C);

        memset(n, 0, t->m->C * sizeof *n);
        for (size_t row = 0; row < t->rows && most > 0; row++) {
                if (t->first[row] == 0)
                        continue;
                ran_linear_read_row(y, ran_linear_of(&t->m->params), (uint32_t)row, t->m->C);
                insert_row(t, (uint32_t)row, y, list, most, n);
        }
        free(y);
}
