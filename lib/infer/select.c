/* select.c - which documents to label next: see ran/model.h.
 *
 * The candidates are the most doubtful documents, ten for each one wanted. One after another is
 * chosen, the one with the largest
 *
 *   doubt (1 - s)    s: its largest cosine to one that is chosen already, of TF-IDF vectors
 *
 * so that a batch is spread over the collection, and a document that is a near-duplicate of a
 * chosen one is never chosen.
 */
#include "base/error.h"
#include "base/string-table.h"
#include "math/elementary.h"
#include "ran/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 10 };
static const double alike = 0.8; /* similarity of near-duplicates */

struct candidate {
        double doubt, nearest; /* to the chosen ones: the largest cosine so far */
        size_t document;
        size_t first, n; /* its terms */
        bool gone;       /* chosen, or a near-duplicate of a chosen one */
};

struct term {
        uint32_t id;
        float weight; /* the vector of a document has length 1 */
};

struct ran_selection {
        struct ran_spool ids, first, doubt; /* of words; first (n + 1), doubt (n) */
        size_t n;
        struct ran_string_table words; /* by their ids */
};

struct choice {
        const struct ran_selection *s;
        struct candidate *candidate; /* (n) the most doubtful first */
        size_t n;
        struct term *term;
        size_t terms, term_cap;
        float *idf, *at;  /* (most) of each id; the vector that was chosen last, spread out */
        uint32_t *sorted; /* ids of a document, in order */
        size_t sorted_cap;
        struct ran_near_duplicates *chosen;
        struct ran_shingles shingles;
};

/* ---- the documents --------------------------------------------------------------------------- */

struct ran_selection *ran_selection_new(struct ran_error *err)
{
        return ran_alloc(1, sizeof(struct ran_selection), err);
}

void ran_selection_free(struct ran_selection *s)
{
        if (s == NULL)
                return;
        ran_spool_release(&s->ids);
        ran_spool_release(&s->first);
        ran_spool_release(&s->doubt);
        ran_string_table_release(&s->words);
        free(s);
}

/* The id of the next word of n bytes, from *at on. */
static int next_id(struct ran_selection *s, const char *words, size_t n, size_t *at, uint32_t *id,
                   struct ran_error *err)
{
        uint32_t length;

        if (n - *at < sizeof length)
                return ran_fail(err, RAN_EINVAL, "these are no words");
        memcpy(&length, words + *at, sizeof length);
        *at += sizeof length;
        if (length > n - *at)
                return ran_fail(err, RAN_EINVAL, "these are no words");
        const char *word = words + *at;
        const uint64_t hash = ran_string_table_hash(ran_string_table_seed, word, length);

        *id = ran_string_table_find(&s->words, hash, word, length, NULL, 0);
        if (*id == RAN_STRING_TABLE_NONE)
                *id = ran_string_table_add(&s->words, hash, word, length, err);
        if (*id == RAN_STRING_TABLE_NONE)
                return (int)err->code;
        *at += length;
        return RAN_OK;
}

int ran_selection_add(struct ran_selection *s, double doubt, const char *words, size_t n,
                      struct ran_error *err)
{
        err = ran_error_or_spare(err);
        size_t *first = ran_spool_reserve(&s->first, s->n + 2, sizeof *first, err), end;
        double *doubts = ran_spool_reserve(&s->doubt, s->n + 1, sizeof *doubts, err);

        if (first == NULL || doubts == NULL)
                return (int)err->code;
        end = s->n > 0 ? first[s->n] : 0;
        for (size_t at = 0; at < n; end++) {
                uint32_t *all = ran_spool_reserve(&s->ids, end + 1, sizeof *all, err);

                if (all == NULL)
                        return (int)err->code;
                RAN_TRY(next_id(s, words, n, &at, &all[end], err));
        }
        first[0] = 0;
        first[s->n + 1] = end;
        doubts[s->n++] = doubt;
        return RAN_OK;
}

/* ---- their vectors --------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
        const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return (x > y) - (x < y);
}

/* The ids of document b in order, in k->sorted; their number, or SIZE_MAX: no memory. */
static size_t sort_ids(struct choice *k, size_t b, struct ran_error *err)
{
        const size_t *first = k->s->first.data, n = first[b + 1] - first[b];
        uint32_t *sorted = ran_grow(k->sorted, &k->sorted_cap, n + 1, sizeof *sorted, err);

        if (sorted == NULL)
                return SIZE_MAX;
        k->sorted = sorted;
        memcpy(sorted, (const uint32_t *)k->s->ids.data + first[b], n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, ascending);
        return n;
}

static size_t run_of(const uint32_t *sorted, size_t i, size_t n)
{
        size_t end = i + 1;

        while (end < n && sorted[end] == sorted[i])
                end++;
        return end - i;
}

static int count_documents(struct choice *k, struct ran_error *err)
{
        for (size_t b = 0; b < k->s->n; b++) {
                const size_t n = sort_ids(k, b, err);

                if (n == SIZE_MAX)
                        return RAN_ENOMEM;
                for (size_t i = 0; i < n; i += run_of(k->sorted, i, n))
                        k->idf[k->sorted[i]]++;
        }
        for (size_t id = 0; id < k->s->words.n; id++)
                k->idf[id] = (float)ran_log((double)(k->s->n + 1) / ((double)k->idf[id] + 1));
        return RAN_OK;
}

static int make_vector(struct choice *k, struct candidate *c, struct ran_error *err)
{
        const size_t n = sort_ids(k, c->document, err);
        double sum = 0;

        if (n == SIZE_MAX)
                return RAN_ENOMEM;
        struct term *term = ran_grow(k->term, &k->term_cap, k->terms + n + 1, sizeof *term, err);
        if (term == NULL)
                return RAN_ENOMEM;
        k->term = term;
        c->first = k->terms;
        for (size_t i = 0, run; i < n; i += run) {
                run = run_of(k->sorted, i, n);
                const double w = (1 + ran_log((double)run)) * (double)k->idf[k->sorted[i]];

                term[c->first + c->n++] = (struct term){k->sorted[i], (float)w};
                sum += w * w;
        }
        for (size_t i = 0; i < c->n && sum > 0; i++)
                term[c->first + i].weight /= (float)sqrt(sum);
        k->terms += c->n;
        return RAN_OK;
}

/* ---- the choice ------------------------------------------------------------------------------ */

static int by_doubt(const void *a, const void *b)
{
        const struct candidate *x = a, *y = b;

        if (x->doubt < y->doubt || x->doubt > y->doubt)
                return x->doubt > y->doubt ? -1 : 1;
        return (x->document > y->document) - (x->document < y->document);
}

/* Notes how near the first `among` candidates are to a chosen one. */
static void measure(struct choice *k, const struct candidate *chosen, size_t among)
{
        const struct term *own = k->term + chosen->first;

        for (size_t i = 0; i < chosen->n; i++)
                k->at[own[i].id] = own[i].weight;
        for (size_t j = 0; j < among; j++) {
                struct candidate *c = &k->candidate[j];
                double cosine = 0;

                for (size_t i = 0; i < c->n && !c->gone; i++)
                        cosine += (double)k->term[c->first + i].weight *
                                  (double)k->at[k->term[c->first + i].id];
                c->nearest = cosine > c->nearest ? cosine : c->nearest;
        }
        for (size_t i = 0; i < chosen->n; i++)
                k->at[own[i].id] = 0;
}

/* The best of the first candidates; NULL: none is left. */
static struct candidate *best_of(struct choice *k, size_t among)
{
        struct candidate *best = NULL;
        double most = -INFINITY;

        for (size_t j = 0; j < among; j++) {
                struct candidate *c = &k->candidate[j];
                const double gain = c->doubt * (1 - c->nearest);

                if (!c->gone && gain > most) {
                        most = gain;
                        best = c;
                }
        }
        return best;
}

/* Whether it is a near-duplicate of a chosen one; if not, it is one of them from now on. */
static int admit(struct choice *k, const struct candidate *c, bool *admitted, struct ran_error *err)
{
        const size_t *first = k->s->first.data, b = c->document;
        const uint32_t *ids = (const uint32_t *)k->s->ids.data + first[b];
        double similarity;
        size_t like;

        RAN_TRY(ran_shingles_of_ids(&k->shingles, ids, first[b + 1] - first[b], err));
        RAN_TRY(ran_near_duplicates_find(k->chosen, &k->shingles, &like, &similarity, err));
        *admitted = like == RAN_NO_TEXT;
        return *admitted ? ran_near_duplicates_add(k->chosen, &k->shingles, err) : RAN_OK;
}

/* Where the first candidates are all chosen or near-duplicates, the next ones follow in order of
 * their doubt. */
static int choose(struct choice *k, size_t most, size_t *document, size_t *n, struct ran_error *err)
{
        size_t among = k->n / CANDIDATES > most ? most * CANDIDATES : k->n;

        for (size_t b = 0; b < among; b++)
                RAN_TRY(make_vector(k, &k->candidate[b], err));
        while (*n < most) {
                struct candidate *c = best_of(k, among);
                bool admitted;

                if (c == NULL && among == k->n)
                        break;
                if (c == NULL) {
                        RAN_TRY(make_vector(k, &k->candidate[among++], err));
                        continue;
                }
                RAN_TRY(admit(k, c, &admitted, err));
                c->gone = true;
                if (!admitted)
                        continue;
                document[(*n)++] = c->document;
                measure(k, c, among);
        }
        return RAN_OK;
}

static int prepare(struct choice *k, struct ran_error *err)
{
        const double *doubt = k->s->doubt.data;

        k->candidate = ran_alloc(k->s->n, sizeof *k->candidate, err);
        k->idf = ran_alloc_floats(k->s->words.n, err);
        k->at = ran_alloc_floats(k->s->words.n, err);
        k->chosen = ran_near_duplicates_new(alike, err);
        if (k->candidate == NULL || k->idf == NULL || k->at == NULL || k->chosen == NULL)
                return RAN_ENOMEM;
        for (size_t b = 0; b < k->s->n; b++)
                k->candidate[b] = (struct candidate){.doubt = doubt[b], .document = b};
        k->n = k->s->n;
        qsort(k->candidate, k->n, sizeof *k->candidate, by_doubt);
        return count_documents(k, err);
}

int ran_selection_choose(const struct ran_selection *s, size_t most, size_t *document, size_t *n,
                         struct ran_error *err)
{
        struct choice k = {.s = s};

        err = ran_error_or_spare(err);
        *n = 0;
        if (s->n == 0)
                return RAN_OK;
        int rc = prepare(&k, err);
        if (rc == RAN_OK)
                rc = choose(&k, most, document, n, err);
        free(k.candidate);
        free(k.term);
        free(k.idf);
        free(k.at);
        free(k.sorted);
        ran_near_duplicates_free(k.chosen);
        ran_shingles_release(&k.shingles);
        return rc;
}
