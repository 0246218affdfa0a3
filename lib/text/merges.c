/* merges.c - learning pieces of words: begin with the smallest ones, and join the most frequent
 * pair of neighbours into a new piece, again and again. Word pieces begin with characters, byte
 * pairs with bytes; all else is the same.
 *
 * A word of the corpus is a row of pieces ("r" "##u" "##n"), counted as often as the word. A pair
 * is two pieces that stand side by side somewhere; it knows how often they do, and in which words.
 * A join touches only these words, and there only the pairs next to the joined ones, so that the
 * whole costs little more than the sum of all changes. The most frequent pair comes from a heap in
 * which every pair knows its place; of equally frequent pairs the one whose pieces are older comes
 * first.
 */
#include <stdlib.h>
#include <string.h>

#include "text/counter.h"
#include "text/pairs.h"

#define NONE PAIRS_NONE

struct pair {
        uint64_t count; /* times that its second piece follows the first in the corpus */
        uint64_t key;   /* that count as the heap knows it: it takes one change after another */
        uint32_t words; /* first of its occurrences */
        uint32_t place; /* in the heap, or NONE */
        bool changed;   /* since the heap was last in order */
        bool never;     /* is it joined: that would be too long */
};

/* A word that holds, or once held, a pair; a list for each pair. */
struct occurrence {
        uint32_t word, next;
};

struct learner {
        const struct ran_counter *counter;
        struct ran_tokenizer *t; /* its pieces grow */

        uint32_t *row;    /* the rows of all words, one after another */
        size_t *begin;    /* (words) where each begins in row */
        uint32_t *length; /* (words) its pieces now; 0: the word takes no part */

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

static void learner_release(struct learner *l)
{
        free(l->row);
        free(l->begin);
        free(l->length);
        ran_pairs_release(&l->pairs);
        free(l->pair);
        free(l->occurrence);
        free(l->heap);
        free(l->changed);
}

/* ---- the heap ------------------------------------------------------------------------------- */

static bool better(const struct learner *l, uint32_t i, uint32_t j)
{
        const struct piece_pair *p = &l->pairs.at[i], *q = &l->pairs.at[j];

        if (l->pair[i].key != l->pair[j].key)
                return l->pair[i].key > l->pair[j].key;
        return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void put(struct learner *l, size_t place, uint32_t pair)
{
        l->heap[place] = pair;
        l->pair[pair].place = (uint32_t)place;
}

static void sift_up(struct learner *l, size_t place)
{
        uint32_t pair = l->heap[place];

        for (; place > 0 && better(l, pair, l->heap[(place - 1) / 2]); place = (place - 1) / 2)
                put(l, place, l->heap[(place - 1) / 2]);
        put(l, place, pair);
}

static void sift_down(struct learner *l, size_t place)
{
        uint32_t pair = l->heap[place];

        for (size_t child; (child = 2 * place + 1) < l->heap_n; place = child) {
                if (child + 1 < l->heap_n && better(l, l->heap[child + 1], l->heap[child]))
                        child++;
                if (!better(l, l->heap[child], pair))
                        break;
                put(l, place, l->heap[child]);
        }
        put(l, place, pair);
}

/* Puts the pairs whose counts have changed in their places. */
static int settle(struct learner *l, struct ran_error *err)
{
        uint32_t *heap = ran_grow(l->heap, &l->heap_cap, l->pairs.n, sizeof(*heap), err);

        if (heap == NULL)
                return RAN_ENOMEM;
        l->heap = heap;
        for (size_t i = 0; i < l->changed_n; i++) {
                struct pair *p = &l->pair[l->changed[i]];
                p->changed = false;
                p->key = p->never ? 0 : p->count;
                if (p->place == NONE)
                        put(l, l->heap_n++, l->changed[i]);
                sift_up(l, p->place);
                sift_down(l, p->place);
        }
        l->changed_n = 0;
        return RAN_OK;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static bool is_too_long(const struct learner *l, uint32_t a, uint32_t b)
{
        size_t m, n;

        ran_string_table_get(&l->t->pieces, a, &m);
        ran_string_table_get(&l->t->pieces, b, &n);
        return l->t->type == TOKENIZER_WORDPIECE && m + n - l->t->prefix_n > TOKENIZER_PIECE_MOST;
}

/* The pair of a and b, made if need be; NONE without memory. */
static uint32_t pair_of(struct learner *l, uint32_t a, uint32_t b, struct ran_error *err)
{
        size_t before = l->pairs.n;
        uint32_t i = ran_pairs_add(&l->pairs, a, b, err);

        if (i == NONE || l->pairs.n == before)
                return i;
        struct pair *pair = ran_grow(l->pair, &l->pair_cap, l->pairs.n, sizeof(*pair), err);
        if (pair == NULL)
                return NONE;
        l->pair = pair;
        pair[i] = (struct pair){.words = NONE, .place = NONE, .never = is_too_long(l, a, b)};
        return i;
}

static int mark_changed(struct learner *l, uint32_t pair, struct ran_error *err)
{
        if (l->pair[pair].changed)
                return RAN_OK;
        uint32_t *changed =
                ran_grow(l->changed, &l->changed_cap, l->changed_n + 1, sizeof(*changed), err);
        if (changed == NULL)
                return RAN_ENOMEM;
        l->changed = changed;
        l->changed[l->changed_n++] = pair;
        l->pair[pair].changed = true;
        return RAN_OK;
}

/* Notes that the word holds the pair. One word is worked on at a time, so that looking at the first
 * occurrence is enough not to note it twice. */
static int add_occurrence(struct learner *l, struct pair *p, uint32_t word, struct ran_error *err)
{
        uint32_t i = l->free;

        if (p->words != NONE && l->occurrence[p->words].word == word)
                return RAN_OK;
        if (i != NONE) {
                l->free = l->occurrence[i].next;
        } else {
                if (l->occurrences >= NONE)
                        return ran_fail(err, RAN_ENOMEM, "more than %zu occurrences of pairs",
                                        l->occurrences);
                struct occurrence *grown = ran_grow(l->occurrence, &l->occurrence_cap,
                                                    l->occurrences + 1, sizeof(*grown), err);
                if (grown == NULL)
                        return RAN_ENOMEM;
                l->occurrence = grown;
                i = (uint32_t)l->occurrences++;
        }
        l->occurrence[i] = (struct occurrence){word, p->words};
        p->words = i;
        return RAN_OK;
}

/* The word holds the pair once more. */
static int gain(struct learner *l, uint32_t a, uint32_t b, uint32_t word, struct ran_error *err)
{
        uint32_t pair = pair_of(l, a, b, err);

        if (pair == NONE)
                return RAN_ENOMEM;
        l->pair[pair].count += l->counter->count[word];
        RAN_TRY(add_occurrence(l, &l->pair[pair], word, err));
        return mark_changed(l, pair, err);
}

/* The word holds the pair, which is there, once less. */
static int lose(struct learner *l, uint32_t a, uint32_t b, uint32_t word, struct ran_error *err)
{
        uint32_t pair = ran_pairs_find(&l->pairs, a, b);

        l->pair[pair].count -= l->counter->count[word];
        return mark_changed(l, pair, err);
}

/* ---- joining -------------------------------------------------------------------------------- */

static int join_in_word(struct learner *l, uint32_t word, uint32_t a, uint32_t b, uint32_t joined,
                        struct ran_error *err)
{
        uint32_t *row = l->row + l->begin[word], n = l->length[word], to = 0;

        for (uint32_t from = 0; from < n;) {
                if (from + 1 == n || row[from] != a || row[from + 1] != b) {
                        row[to++] = row[from++];
                        continue;
                }
                if (to > 0) {
                        RAN_TRY(lose(l, row[to - 1], a, word, err));
                        RAN_TRY(gain(l, row[to - 1], joined, word, err));
                }
                if (from + 2 < n) {
                        RAN_TRY(lose(l, b, row[from + 2], word, err));
                        RAN_TRY(gain(l, joined, row[from + 2], word, err));
                }
                row[to++] = joined;
                from += 2;
        }
        l->length[word] = to;
        return RAN_OK;
}

/* The piece that two pieces make. Another pair may have made it before. */
static int joined_piece(struct learner *l, uint32_t a, uint32_t b, uint32_t *id,
                        struct ran_error *err)
{
        const struct ran_string_table *pieces = &l->t->pieces;
        struct ran_buf text = {0};
        size_t n, prefix = l->t->prefix_n;
        const char *piece = ran_string_table_get(pieces, a, &n);
        int code = RAN_OK;

        ran_buf_add(&text, piece, n);
        piece = ran_string_table_get(pieces, b, &n);
        ran_buf_add(&text, piece + prefix, n - prefix);
        if (text.failed) {
                code = ran_fail(err, RAN_ENOMEM, "out of memory");
        } else if (!ran_tokenizer_find(l->t, text.data, text.len, id)) {
                *id = (uint32_t)pieces->n;
                code = ran_tokenizer_add(l->t, text.data, text.len, err);
        }
        ran_buf_release(&text);
        if (code == RAN_OK && l->t->type == TOKENIZER_BPE)
                code = ran_bpe_add_merge(&l->t->bpe, a, b, *id, err);
        return code;
}

static int join(struct learner *l, uint32_t pair, struct ran_error *err)
{
        uint32_t a = l->pairs.at[pair].a, b = l->pairs.at[pair].b, joined = NONE;
        uint32_t first = l->pair[pair].words, last = NONE;

        RAN_TRY(joined_piece(l, a, b, &joined, err));
        l->pair[pair].words = NONE;
        for (uint32_t i = first; i != NONE; i = l->occurrence[i].next) {
                RAN_TRY(join_in_word(l, l->occurrence[i].word, a, b, joined, err));
                last = i;
        }
        if (last != NONE) {
                l->occurrence[last].next = l->free;
                l->free = first;
        }
        l->pair[pair].count = 0; /* runs of one piece hold it more often than it can be joined */
        RAN_TRY(mark_changed(l, pair, err));
        return settle(l, err);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Writes each word as a row of pieces. Words that cannot be spelt take no part. */
static int spell_words(struct learner *l, spell_fn *spell, struct ran_error *err)
{
        const struct ran_string_table *words = &l->counter->words;

        l->begin = ran_alloc(words->n, sizeof(*l->begin), err);
        l->length = ran_alloc(words->n, sizeof(*l->length), err);
        l->row = ran_alloc(words->bytes_n, sizeof(*l->row), err);
        if (l->begin == NULL || l->length == NULL || l->row == NULL)
                return RAN_ENOMEM;
        size_t end = 0;
        for (size_t i = 0; i < words->n; i++) {
                size_t n;
                const char *word = ran_string_table_get(words, (uint32_t)i, &n);
                l->begin[i] = end;
                l->length[i] = (uint32_t)spell(l->t, word, n, l->row + end);
                end += l->length[i];
        }
        return RAN_OK;
}

static int count_pairs(struct learner *l, struct ran_error *err)
{
        for (size_t i = 0; i < l->counter->words.n; i++) {
                const uint32_t *row = l->row + l->begin[i];
                for (uint32_t k = 1; k < l->length[i]; k++) {
                        RAN_TRY(gain(l, row[k - 1], row[k], (uint32_t)i, err));
                }
        }
        return settle(l, err);
}

int ran_learn_merges(const struct ran_counter *c, struct ran_tokenizer *t, spell_fn *spell,
                     struct ran_error *err)
{
        struct learner l = {.counter = c, .t = t, .free = NONE};
        int code = spell_words(&l, spell, err);

        if (code == RAN_OK)
                code = count_pairs(&l, err);
        while (code == RAN_OK && t->pieces.n < c->settings.vocab_size && l.heap_n > 0 &&
               l.pair[l.heap[0]].key >= c->settings.min_count)
                code = join(&l, l.heap[0], err);
        learner_release(&l);
        return code;
}
