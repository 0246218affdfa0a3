/* select.c - which documents to label next: see ran/model.h.
 *
 * The most doubtful come first, and a near-duplicate of a chosen one is passed over. To spread the
 * choice further, by the cosine of TF-IDF vectors to the chosen ones, with a preference for the
 * middle of the collection or without, was worse: it chooses what is odd (share/experiments).
 */
#include "base/string-table.h"
#include "ran/model.h"

#include <stdlib.h>

static const double alike = 0.8; /* similarity of near-duplicates */

struct candidate {
        double doubt;
        size_t document;
};

struct ran_selection {
        struct ran_spool ids, first, doubt; /* of words; first (n + 1), doubt (n) */
        size_t n;
        struct ran_string_table words; /* by their ids */
};

/* ---- the documents --------------------------------------------------------------------------- */

struct ran_selection *ran_selection_new(void)
{
        return ran_new(1, sizeof(struct ran_selection));
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

int ran_selection_add(struct ran_selection *s, double doubt, const char *words, size_t n,
                      struct ran_error *err)
{
        size_t *first, end, length;
        double *doubts;
        uint32_t *all;
        const char *word;

        RAN_TRY(RAN_SPOOL(s->first, first, s->n + 2, err));
        RAN_TRY(RAN_SPOOL(s->doubt, doubts, s->n + 1, err));
        end = s->n > 0 ? first[s->n] : 0;
        for (size_t at = 0; at < n; end++) {
                RAN_TRY(RAN_SPOOL(s->ids, all, end + 1, err));
                RAN_TRY(ran_counter_word(words, n, &at, &word, &length, err));
                all[end] = ran_string_table_add(&s->words, word, length);
        }
        first[0] = 0;
        first[s->n + 1] = end;
        doubts[s->n++] = doubt;
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

int ran_selection_choose(const struct ran_selection *s, size_t most, size_t *document, size_t *n,
                         struct ran_error *err)
{
        const size_t *first = s->first.data;
        const double *doubt = s->doubt.data;
        struct candidate *candidate = ran_new(s->n + 1, sizeof *candidate);
        struct ran_near_duplicates *chosen = ran_near_duplicates_new(alike);
        struct ran_shingles shingles = {0};
        int rc = RAN_OK;

        *n = 0;
        for (size_t b = 0; b < s->n; b++)
                candidate[b] = (struct candidate){doubt[b], b};
        qsort(candidate, s->n, sizeof *candidate, by_doubt);
        for (size_t i = 0; i < s->n && *n < most && rc == RAN_OK; i++) {
                const size_t b = candidate[i].document;
                double similarity;

                shingles.n = 0;
                if (first[b] < first[b + 1])
                        ran_shingles_of_ids(&shingles, (const uint32_t *)s->ids.data + first[b],
                                            first[b + 1] - first[b]);
                if (ran_near_duplicates_find(chosen, &shingles, &similarity) != RAN_NO_TEXT)
                        continue;
                document[(*n)++] = b;
                rc = ran_near_duplicates_add(chosen, &shingles, err);
        }
        free(candidate);
        ran_near_duplicates_free(chosen);
        ran_shingles_release(&shingles);
        return rc;
}
