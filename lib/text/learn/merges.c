/* merges.c - learning subwords: starts from the smallest units and merges the most frequent pair of
 * neighbours into a new token, repeatedly. WordPiece starts from characters, byte pairs from bytes;
 * all else is the same.
 *
 * A word of the corpus is a row of tokens ("r" "##u" "##n"), counted as often as the word. A pair
 * is two neighbouring tokens; it has its count and a list of its words. A merge changes only these
 * words, and in them only the pairs next to the merged ones, so the total cost is little more than
 * the sum of all changes. The most frequent pair comes from a heap in which every pair knows its
 * index; of equally frequent pairs the one of older tokens comes first.
 */
#include <stdlib.h>

#include "text/learn/counter.h"
#include "text/tokenizer.h"

#define NONE PAIRS_NONE

struct pair {
        uint64_t count; /* how often its second token follows the first in the corpus */
        uint64_t key;   /* the count in the heap, which is updated one change at a time */
        uint32_t words; /* first of its occurrences */
        uint32_t index; /* in the heap, or NONE */
        bool changed;   /* since the heap was last in order */
        bool never;     /* never merged: the token would be too long */
};

/* A word that contains, or contained, a pair; a list for each pair. */
struct occurrence {
        uint32_t word, next;
};

struct learner {
        const struct ran_counter *counter;
        struct ran_tokenizer *t; /* its tokens grow */

        uint32_t *row;    /* the rows of all words, one after another */
        size_t *begin;    /* (words) where each begins in row */
        uint32_t *length; /* (words) its tokens now; 0: the word is ignored */

        struct ran_pairs pairs;
        struct pair *pair; /* (pairs.n) */
        size_t pair_cap;

        struct occurrence *occurrence;
        size_t occurrences, occurrence_cap;
        uint32_t free; /* list of occurrences no longer needed */

        uint32_t *heap; /* pairs, the best first */
        size_t heap_n, heap_cap;
        uint32_t *changed; /* pairs to be put in order again */
        size_t changed_n, changed_cap;
};

/* ---- the heap ------------------------------------------------------------------------------- */

static bool better(const struct learner *l, uint32_t i, uint32_t j)
{
        const struct token_pair *p = &l->pairs.at[i], *q = &l->pairs.at[j];

        if (l->pair[i].key != l->pair[j].key)
                return l->pair[i].key > l->pair[j].key;
        return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void put(struct learner *l, size_t index, uint32_t pair)
{
        l->heap[index] = pair;
        l->pair[pair].index = (uint32_t)index;
}

static void sift_up(struct learner *l, size_t index)
{
        uint32_t pair = l->heap[index];

        for (; index > 0 && better(l, pair, l->heap[(index - 1) / 2]); index = (index - 1) / 2)
                put(l, index, l->heap[(index - 1) / 2]);
        put(l, index, pair);
}

static void sift_down(struct learner *l, size_t index)
{
        uint32_t pair = l->heap[index];

        for (size_t child; (child = 2 * index + 1) < l->heap_n; index = child) {
                if (child + 1 < l->heap_n && better(l, l->heap[child + 1], l->heap[child]))
                        child++;
                if (!better(l, l->heap[child], pair))
                        break;
                put(l, index, l->heap[child]);
        }
        put(l, index, pair);
}

/* Restores the heap after changes of counts. */
static void restore_heap(struct learner *l)
{
        RAN_ROOM(l->heap, l->heap_cap, l->pairs.n);
        for (size_t i = 0; i < l->changed_n; i++) {
                struct pair *p = &l->pair[l->changed[i]];
                p->changed = false;
                p->key = p->never ? 0 : p->count;
                if (p->index == NONE)
                        put(l, l->heap_n++, l->changed[i]);
                sift_up(l, p->index);
                sift_down(l, p->index);
        }
        l->changed_n = 0;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static bool is_too_long(const struct learner *l, uint32_t a, uint32_t b)
{
        size_t m, n;

        ran_string_table_get(&l->t->tokens, a, &m);
        ran_string_table_get(&l->t->tokens, b, &n);
        return l->t->type == TOKENIZER_WORDPIECE && m + n - l->t->prefix_n > TOKENIZER_TOKEN_MOST;
}

/* Finds or adds the pair of a and b. */
static uint32_t pair_of(struct learner *l, uint32_t a, uint32_t b)
{
        size_t before = l->pairs.n;
        uint32_t i = ran_pairs_add(&l->pairs, a, b);

        if (l->pairs.n == before)
                return i;
        RAN_ROOM(l->pair, l->pair_cap, l->pairs.n);
        l->pair[i] = (struct pair){.words = NONE, .index = NONE, .never = is_too_long(l, a, b)};
        return i;
}

static void mark_changed(struct learner *l, uint32_t pair)
{
        if (l->pair[pair].changed)
                return;
        RAN_ROOM(l->changed, l->changed_cap, l->changed_n + 1);
        l->changed[l->changed_n++] = pair;
        l->pair[pair].changed = true;
}

/* Adds the word to the pair's list. Words are processed one at a time, so checking the first
 * entry is enough to avoid duplicates. */
static void add_occurrence(struct learner *l, struct pair *p, uint32_t word)
{
        uint32_t i = l->free;

        if (p->words != NONE && l->occurrence[p->words].word == word)
                return;
        if (i != NONE) {
                l->free = l->occurrence[i].next;
        } else {
                if (l->occurrences >= NONE)
                        ran_out_of_memory(l->occurrences, sizeof *l->occurrence);
                RAN_ROOM(l->occurrence, l->occurrence_cap, l->occurrences + 1);
                i = (uint32_t)l->occurrences++;
        }
        l->occurrence[i] = (struct occurrence){word, p->words};
        p->words = i;
}

/* Counts one more occurrence of the pair in the word. */
static void gain(struct learner *l, uint32_t a, uint32_t b, uint32_t word)
{
        uint32_t pair = pair_of(l, a, b);

        l->pair[pair].count += l->counter->count[word];
        add_occurrence(l, &l->pair[pair], word);
        mark_changed(l, pair);
}

/* Counts one occurrence of the pair less in the word. */
static void lose(struct learner *l, uint32_t a, uint32_t b, uint32_t word)
{
        uint32_t pair = ran_pairs_find(&l->pairs, a, b);

        l->pair[pair].count -= l->counter->count[word];
        mark_changed(l, pair);
}

/* ---- joining -------------------------------------------------------------------------------- */

static void join_in_word(struct learner *l, uint32_t word, uint32_t a, uint32_t b, uint32_t joined)
{
        uint32_t *row = l->row + l->begin[word], n = l->length[word], to = 0;

        for (uint32_t from = 0; from < n;) {
                if (from + 1 == n || row[from] != a || row[from + 1] != b) {
                        row[to++] = row[from++];
                        continue;
                }
                if (to > 0) {
                        lose(l, row[to - 1], a, word);
                        gain(l, row[to - 1], joined, word);
                }
                if (from + 2 < n) {
                        lose(l, b, row[from + 2], word);
                        gain(l, joined, row[from + 2], word);
                }
                row[to++] = joined;
                from += 2;
        }
        l->length[word] = to;
}

/* The token that two tokens merge into. Another pair may have made it before. */
static uint32_t merged_token(struct learner *l, uint32_t a, uint32_t b)
{
        struct ran_string_table *tokens = &l->t->tokens;
        struct ran_buf text = {0};
        size_t n, prefix = l->t->prefix_n;
        const char *token = ran_string_table_get(tokens, a, &n);

        ran_buf_add(&text, token, n);
        token = ran_string_table_get(tokens, b, &n);
        ran_buf_add(&text, token + prefix, n - prefix);
        const uint32_t joined = ran_string_table_add(tokens, text.data, text.len);
        ran_buf_release(&text);
        if (l->t->type == TOKENIZER_BPE)
                ran_bpe_add_merge(&l->t->bpe, a, b, joined, NULL); /* unless it is there */
        return joined;
}

static void join(struct learner *l, uint32_t pair)
{
        const uint32_t a = l->pairs.at[pair].a, b = l->pairs.at[pair].b;
        const uint32_t joined = merged_token(l, a, b), first = l->pair[pair].words;
        uint32_t last = NONE;

        l->pair[pair].words = NONE;
        for (uint32_t i = first; i != NONE; i = l->occurrence[i].next) {
                join_in_word(l, l->occurrence[i].word, a, b, joined);
                last = i;
        }
        if (last != NONE) {
                l->occurrence[last].next = l->free;
                l->free = first;
        }
        l->pair[pair].count = 0; /* runs of one token contain the pair more often than it can
                                  * merge */
        mark_changed(l, pair);
        restore_heap(l);
}

/* ---- all of it ------------------------------------------------------------------------------ */

void ran_learn_merges(const struct ran_counter *c, struct ran_tokenizer *t)
{
        struct learner l = {.counter = c, .t = t, .free = NONE};
        const struct ran_string_table *words = &c->words;
        size_t end = 0, n;

        l.begin = ran_new(words->n, sizeof(*l.begin));
        l.length = ran_new(words->n, sizeof(*l.length));
        l.row = ran_new(words->bytes_n, sizeof(*l.row));
        for (size_t i = 0; i < words->n; i++) { /* a word that cannot be spelt has no units */
                const char *word = ran_string_table_get(words, (uint32_t)i, &n);
                uint32_t *row = l.row + end;
                l.begin[i] = end;
                l.length[i] = (uint32_t)ran_learn_spell(t, word, n, row);
                end += l.length[i];
                for (uint32_t k = 1; k < l.length[i]; k++)
                        gain(&l, row[k - 1], row[k], (uint32_t)i);
        }
        restore_heap(&l);
        while (t->tokens.n < c->settings.vocab_size && l.heap_n > 0 &&
               l.pair[l.heap[0]].key >= c->settings.min_count)
                join(&l, l.heap[0]);
        free(l.row);
        free(l.begin);
        free(l.length);
        ran_pairs_release(&l.pairs);
        free(l.pair);
        free(l.occurrence);
        free(l.heap);
        free(l.changed);
}
