/* ngrams.c - n-grams and subsequences that two texts have in common, see eval.h.
 *
 * The positions of both texts are sorted by the n-gram that begins there: n-grams of one more
 * symbol refine the order of shorter ones, as in the construction of a suffix array. Equal n-grams
 * are then adjacent, and counted in runs.
 *
 * The longest common subsequence is found for 64 positions at a time (Hyyrö, Bit-parallel
 * LCS-length computation revisited, 2004): a bit of `row` is 0 where a subsequence grows.
 */
#include "eval/eval.h"

#include <stdlib.h>
#include <string.h>

void ran_symbols_add(struct ran_symbols *s, uint32_t symbol)
{
        RAN_ROOM(s->symbol, s->cap, s->n + 1);
        s->symbol[s->n++] = symbol;
}

void ran_ngrams_release(struct ran_ngrams *k)
{
        ran_string_table_release(&k->words);
        free(k->order);
        free(k->rank);
        free(k->row);
        *k = (struct ran_ngrams){0};
}

void ran_ngrams_begin(struct ran_ngrams *k)
{
        ran_string_table_release(&k->words);
        k->words = (struct ran_string_table){0};
}

void ran_ngrams_word(struct ran_ngrams *k, struct ran_symbols *s, const char *word, size_t n)
{
        ran_symbols_add(s, ran_string_table_add(&k->words, word, n));
}

/* ---- n-grams -------------------------------------------------------------------------------- */

/* Both texts as one sequence: positions from `middle` on are the reference's. */
struct both {
        const struct ran_symbols *text, *reference;
        size_t middle, n;
        const uint32_t *rank; /* (n) of the n-gram that begins there */
        size_t order;         /* its length, so far */
};

static uint32_t symbol_at(const struct both *x, size_t i)
{
        return i < x->middle ? x->text->symbol[i] : x->reference->symbol[i - x->middle];
}

/* Whether an n-gram of `length` symbols begins there. */
static bool is_whole(const struct both *x, size_t i, size_t length)
{
        return length <= (i < x->middle ? x->middle : x->n) - i;
}

/* By rank, then by the symbol after it. Both are whole. */
static int compare(const void *a, const void *b, void *arg)
{
        const struct both *x = arg;
        size_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

        if (x->order > 0 && x->rank[i] != x->rank[j])
                return x->rank[i] < x->rank[j] ? -1 : 1;
        uint32_t p = symbol_at(x, i + x->order), q = symbol_at(x, j + x->order);
        return p < q ? -1 : p > q;
}

/* Counts the runs of equal n-grams among the first `whole` of order, and numbers them. */
static struct ran_ngram_counts count_runs(const struct both *x, const uint32_t *order,
                                          uint32_t *rank, size_t whole)
{
        struct ran_ngram_counts all = {0};
        struct both by = *x;

        for (size_t from = 0, to; from < whole; from = to) {
                uint64_t text = 0, reference = 0;

                for (to = from; to < whole && compare(&order[from], &order[to], &by) == 0; to++) {
                        text += order[to] < x->middle;
                        reference += order[to] >= x->middle;
                }
                all.text += text;
                all.reference += reference;
                all.match += text < reference ? text : reference;
                for (size_t i = from; i < to; i++)
                        rank[order[i]] = (uint32_t)from;
        }
        return all;
}

void ran_ngrams_count(struct ran_ngrams *k, const struct ran_symbols *text,
                      const struct ran_symbols *reference, size_t most,
                      struct ran_ngram_counts *counts)
{
        struct both x = {text, reference, text->n, text->n + reference->n, NULL, 0};

        if (x.n >= UINT32_MAX)
                ran_out_of_memory(x.n, sizeof *k->order);
        RAN_ROOM(k->order, k->order_cap, x.n + 1);
        RAN_ROOM(k->rank, k->rank_cap, 2 * x.n + 2);
        uint32_t *order = k->order, *rank = k->rank, *next = rank + x.n;
        size_t n = x.n;
        for (size_t i = 0; i < n; i++)
                order[i] = (uint32_t)i;
        for (; x.order < most; x.order++) {
                size_t whole = 0;

                x.rank = rank;
                for (size_t i = 0; i < n; i++) /* the others have no longer n-gram either */
                        if (is_whole(&x, order[i], x.order + 1))
                                order[whole++] = order[i];
                n = whole;
                if (n > 0)
                        qsort_r(order, n, sizeof *order, compare, &x);
                counts[x.order] = count_runs(&x, order, next, n);
                for (size_t i = 0; i < n; i++)
                        rank[order[i]] = next[order[i]];
        }
}

/* ---- the longest common subsequence --------------------------------------------------------- */

static int by_symbol(const void *a, const void *b, void *arg)
{
        const uint32_t *symbol = arg, i = *(const uint32_t *)a, j = *(const uint32_t *)b;

        if (symbol[i] != symbol[j])
                return symbol[i] < symbol[j] ? -1 : 1;
        return i < j ? -1 : i > j;
}

/* The first of the reference's positions, sorted by symbol, with this symbol. */
static size_t first_position(const struct ran_symbols *reference, const uint32_t *order,
                             uint32_t symbol)
{
        size_t low = 0, high = reference->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (reference->symbol[order[middle]] < symbol)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* One symbol of the text, which occurs in the reference where `here` has a bit. */
static void step(uint64_t *row, const uint64_t *here, size_t words)
{
        unsigned carry = 0;

        for (size_t i = 0; i < words; i++) {
                uint64_t u = row[i] & here[i], sum;
                unsigned over = __builtin_add_overflow(row[i], u, &sum);

                over |= __builtin_add_overflow(sum, (uint64_t)carry, &sum);
                row[i] = sum | (row[i] & ~here[i]);
                carry = over;
        }
}

static size_t zeros(const uint64_t *row, size_t n)
{
        size_t count = 0;

        for (size_t i = 0; i < n; i++)
                count += !(row[i / 64] >> i % 64 & 1);
        return count;
}

size_t ran_ngrams_subsequence(struct ran_ngrams *k, const struct ran_symbols *text,
                              const struct ran_symbols *reference)
{
        const size_t n = reference->n, words = n / 64 + 1;

        RAN_ROOM(k->order, k->order_cap, n + 1);
        RAN_ROOM(k->row, k->row_cap, 2 * words);
        uint32_t *order = k->order;
        uint64_t *row = k->row, *here = row + words;
        memset(row, 0xff, words * sizeof *row);
        memset(here, 0, words * sizeof *here);
        for (size_t i = 0; i < n; i++)
                order[i] = (uint32_t)i;
        if (n > 0)
                qsort_r(order, n, sizeof *order, by_symbol, reference->symbol);
        for (size_t t = 0; t < text->n; t++) {
                size_t from = first_position(reference, order, text->symbol[t]);

                for (size_t i = from; i < n && reference->symbol[order[i]] == text->symbol[t]; i++)
                        here[order[i] / 64] |= UINT64_C(1) << order[i] % 64;
                step(row, here, words);
                for (size_t i = from; i < n && reference->symbol[order[i]] == text->symbol[t]; i++)
                        here[order[i] / 64] = 0;
        }
        return zeros(row, n);
}
