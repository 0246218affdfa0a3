/* bpe.c - cutting words into byte pairs.
 *
 * The bytes of a word are a list, in which two symbols become one in constant time. What could be
 * merged waits in a queue, the oldest merge first and of one merge the place further left. A merge
 * changes its neighbours, so what is in the queue may be out of date by the time it comes out; it
 * is looked at again then. A merge leaves one symbol less and brings two new pairs at most: the
 * queue takes at most three entries a byte.
 */
#include "text/bpe.h"

#include <stdlib.h>
#include <string.h>

/* A word that was cut, in a cache line of its own: most words of a text are found again. */
enum {
        KNOWN_SETS = 16384, /* of two words each: 2 MiB in all */
        KNOWN_BYTES = 32,
};
struct bpe_known {
        uint32_t id[BPE_KNOWN_PIECES];
        unsigned char width[BPE_KNOWN_PIECES], count;
        unsigned char n; /* bytes of the word; 0: none is here */
        char word[KNOWN_BYTES];
};

struct bpe_symbol {
        uint32_t id, n;      /* n = 0: it went into the one before it */
        uint32_t prev, next; /* BPE_NONE at the ends */
};

void bpe_release(struct bpe *b)
{
        pairs_release(&b->merges);
        free(b->joined);
        *b = (struct bpe){0};
}

int bpe_add_merge(struct bpe *b, uint32_t left, uint32_t right, uint32_t joined,
                  struct ran_error *err)
{
        size_t n = b->merges.n;
        uint32_t *grown = ran_grow(b->joined, &b->joined_cap, n + 1, sizeof(*grown), err);

        if (grown == NULL)
                return RAN_ENOMEM;
        b->joined = grown;
        if (pairs_add(&b->merges, left, right, err) == PAIRS_NONE)
                return RAN_ENOMEM;
        if (b->merges.n == n)
                return ran_fail(err, RAN_EFORMAT, "two pieces are merged twice");
        grown[n] = joined;
        return RAN_OK;
}

void bpe_scratch_release(struct bpe_scratch *s)
{
        free(s->symbol);
        free(s->queue);
        free(s->piece);
        free(s->known);
        *s = (struct bpe_scratch){0};
}

int bpe_scratch_use(struct bpe_scratch *s, const char *digest, struct ran_error *err)
{
        const size_t n = 2 * KNOWN_SETS;

        if (s->known != NULL && strcmp(s->vocab, digest) == 0)
                return RAN_OK;
        free(s->known);
        s->known = ran_alloc(n, sizeof(*s->known), err);
        memcpy(s->vocab, digest, sizeof(s->vocab));
        return s->known != NULL ? RAN_OK : RAN_ENOMEM;
}

/* ---- the queue: a heap of ranks and places -------------------------------------------------- */

static void push(struct bpe_scratch *s, uint64_t entry)
{
        size_t at = s->queue_n++;

        for (; at > 0 && entry < s->queue[(at - 1) / 2]; at = (at - 1) / 2)
                s->queue[at] = s->queue[(at - 1) / 2];
        s->queue[at] = entry;
}

static uint64_t pop(struct bpe_scratch *s)
{
        uint64_t first = s->queue[0], entry = s->queue[--s->queue_n];
        size_t at = 0;

        for (size_t child; (child = 2 * at + 1) < s->queue_n; at = child) {
                if (child + 1 < s->queue_n && s->queue[child + 1] < s->queue[child])
                        child++;
                if (entry <= s->queue[child])
                        break;
                s->queue[at] = s->queue[child];
        }
        s->queue[at] = entry;
        return first;
}

/* ---- merging -------------------------------------------------------------------------------- */

/* The merge of the symbol at `at` and the next one, or PAIRS_NONE. */
static uint32_t merge_at(const struct bpe *b, const struct bpe_scratch *s, uint32_t at)
{
        const struct bpe_symbol *symbol = &s->symbol[at];

        if (symbol->next == BPE_NONE)
                return PAIRS_NONE;
        return pairs_find(&b->merges, symbol->id, s->symbol[symbol->next].id);
}

static void offer(const struct bpe *b, struct bpe_scratch *s, uint32_t at)
{
        uint32_t rank = merge_at(b, s, at);

        if (rank != PAIRS_NONE)
                push(s, (uint64_t)rank << 32 | at);
}

/* Makes one symbol of that at `at` and the next one. */
static void merge(const struct bpe *b, struct bpe_scratch *s, uint32_t at, uint32_t id)
{
        struct bpe_symbol *left = &s->symbol[at], *right = &s->symbol[left->next];

        left->id = id;
        left->n += right->n;
        right->n = 0;
        left->next = right->next;
        if (left->next != BPE_NONE)
                s->symbol[left->next].prev = at;
        if (left->prev != BPE_NONE)
                offer(b, s, left->prev);
        offer(b, s, at);
}

static int reserve(struct bpe_scratch *s, size_t n, struct ran_error *err)
{
        if (n > UINT32_MAX / 3)
                return ran_fail(err, RAN_EINVAL, "a word of %zu bytes is too long", n);
        struct bpe_symbol *symbol = ran_grow(s->symbol, &s->symbol_cap, n, sizeof(*symbol), err);
        if (symbol == NULL)
                return RAN_ENOMEM;
        s->symbol = symbol;
        uint64_t *queue = ran_grow(s->queue, &s->queue_cap, 3 * n, sizeof(*queue), err);
        if (queue == NULL)
                return RAN_ENOMEM;
        s->queue = queue;
        struct bpe_piece *piece = ran_grow(s->piece, &s->piece_cap, n, sizeof(*piece), err);
        if (piece == NULL)
                return RAN_ENOMEM;
        s->piece = piece;
        return RAN_OK;
}

/* Cuts a word into s->piece; returns how many. Room has been reserved. */
static size_t merge_all(const struct bpe *b, const char *word, size_t n, struct bpe_scratch *s)
{
        size_t count = 0;

        for (uint32_t i = 0; i < n; i++)
                s->symbol[i] =
                        (struct bpe_symbol){b->byte[(unsigned char)word[i]], 1, i - 1, i + 1};
        s->symbol[n - 1].next = BPE_NONE;
        s->queue_n = 0;
        for (uint32_t i = 0; i < n; i++)
                offer(b, s, i);
        while (s->queue_n > 0) {
                uint64_t entry = pop(s);
                uint32_t at = (uint32_t)entry, wanted = b->joined[entry >> 32];
                uint32_t rank = s->symbol[at].n > 0 ? merge_at(b, s, at) : PAIRS_NONE;
                /* Other symbols may stand there by now. As in the library of Hugging Face, they
                 * are merged at once if they make the same piece. */
                if (rank != PAIRS_NONE && b->joined[rank] == wanted)
                        merge(b, s, at, wanted);
        }
        for (uint32_t i = 0; i != BPE_NONE; i = s->symbol[i].next)
                s->piece[count++] = (struct bpe_piece){s->symbol[i].id, s->symbol[i].n};
        return count;
}

/* ---- words that come again ------------------------------------------------------------------ */

static bool is_known(const struct bpe_known *k, const char *word, size_t n)
{
        return k->n == n && memcmp(k->word, word, n) == 0;
}

/* Puts a word first in its set; the one that was second is forgotten. */
static void keep(struct bpe_known *set, const char *word, size_t n, const struct bpe_piece *piece,
                 size_t count)
{
        struct bpe_known *k = set;

        set[1] = set[0];
        k->n = (unsigned char)n;
        k->count = (unsigned char)count;
        memcpy(k->word, word, n);
        for (size_t i = 0; i < count; i++) {
                k->id[i] = piece[i].id;
                k->width[i] = (unsigned char)piece[i].n;
        }
}

int bpe_cut(const struct bpe *b, const char *word, size_t n, struct bpe_scratch *s,
            const struct bpe_piece **pieces, size_t *count, struct ran_error *err)
{
        struct bpe_known *set = NULL;

        if (n <= KNOWN_BYTES) {
                set = &s->known[2 * (strings_hash(STRINGS_HASH_START, word, n) % KNOWN_SETS)];
                const struct bpe_known *k = is_known(set, word, n) ? set : set + 1;
                if (k == set || is_known(k, word, n)) {
                        for (size_t i = 0; i < k->count; i++)
                                s->found[i] = (struct bpe_piece){k->id[i], k->width[i]};
                        *pieces = s->found;
                        *count = k->count;
                        return RAN_OK;
                }
        }
        int code = reserve(s, n, err);
        if (code != RAN_OK)
                return code;
        *count = merge_all(b, word, n, s);
        *pieces = s->piece;
        if (set != NULL && *count <= BPE_KNOWN_PIECES)
                keep(set, word, n, s->piece, *count);
        return RAN_OK;
}
