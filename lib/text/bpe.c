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

struct bpe_symbol {
        uint32_t id, n;      /* n = 0: it went into the one before it */
        uint32_t prev, next; /* BPE_NONE at the ends */
};

void ran_bpe_release(struct ran_bpe *b)
{
        ran_pairs_release(&b->merges);
        free(b->joined);
        *b = (struct ran_bpe){0};
}

int ran_bpe_add_merge(struct ran_bpe *b, uint32_t left, uint32_t right, uint32_t joined,
                      struct ran_error *err)
{
        size_t n = b->merges.n;
        uint32_t *grown = ran_grow(b->joined, &b->joined_cap, n + 1, sizeof(*grown), err);

        if (grown == NULL)
                return RAN_ENOMEM;
        b->joined = grown;
        if (ran_pairs_add(&b->merges, left, right, err) == PAIRS_NONE)
                return RAN_ENOMEM;
        if (b->merges.n == n)
                return ran_fail(err, RAN_EFORMAT, "two tokens are merged twice");
        grown[n] = joined;
        return RAN_OK;
}

void ran_bpe_scratch_release(struct ran_bpe_scratch *s)
{
        free(s->symbol);
        free(s->queue);
        free(s->piece);
        *s = (struct ran_bpe_scratch){0};
}

/* ---- the queue: a heap of ranks and places -------------------------------------------------- */

static void push(struct ran_bpe_scratch *s, uint64_t entry)
{
        size_t at = s->queue_n++;

        for (; at > 0 && entry < s->queue[(at - 1) / 2]; at = (at - 1) / 2)
                s->queue[at] = s->queue[(at - 1) / 2];
        s->queue[at] = entry;
}

static uint64_t pop(struct ran_bpe_scratch *s)
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
static uint32_t merge_at(const struct ran_bpe *b, const struct ran_bpe_scratch *s, uint32_t at)
{
        const struct bpe_symbol *symbol = &s->symbol[at];

        if (symbol->next == BPE_NONE)
                return PAIRS_NONE;
        return ran_pairs_find(&b->merges, symbol->id, s->symbol[symbol->next].id);
}

static void offer(const struct ran_bpe *b, struct ran_bpe_scratch *s, uint32_t at)
{
        uint32_t rank = merge_at(b, s, at);

        if (rank != PAIRS_NONE)
                push(s, (uint64_t)rank << 32 | at);
}

/* Makes one symbol of that at `at` and the next one. */
static void merge(const struct ran_bpe *b, struct ran_bpe_scratch *s, uint32_t at, uint32_t id)
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

static int reserve(struct ran_bpe_scratch *s, size_t n, struct ran_error *err)
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
        struct ran_bpe_piece *piece = ran_grow(s->piece, &s->piece_cap, n, sizeof(*piece), err);
        if (piece == NULL)
                return RAN_ENOMEM;
        s->piece = piece;
        return RAN_OK;
}

/* What a word of bytes begins as. */
static size_t begin_bytes(const struct ran_bpe *b, const char *word, size_t n,
                          struct ran_bpe_scratch *s)
{
        for (size_t i = 0; i < n; i++)
                s->symbol[i].id = b->byte[(unsigned char)word[i]];
        for (size_t i = 0; i < n; i++)
                s->symbol[i].n = 1;
        return n;
}

/* What one of characters begins as: pieces of one, else of their bytes. */
static size_t begin_chars(const struct ran_bpe *b, const char *word, size_t n,
                          struct ran_bpe_scratch *s)
{
        size_t count = 0;

        for (size_t pos = 0, length = 1; pos < n; pos += length) {
                unsigned char c = (unsigned char)word[pos];
                uint32_t id = c < 0x80 ? b->ascii[c] : BPE_NONE;
                for (length = 1;
                     pos + length < n && ((unsigned char)word[pos + length] & 0xc0) == 0x80;)
                        length++;
                if (c >= 0x80)
                        id = ran_string_table_find(
                                b->chars,
                                ran_string_table_hash(ran_string_table_seed, word + pos, length),
                                "", 0, word + pos, length);
                if (id != BPE_NONE)
                        s->symbol[count++] = (struct bpe_symbol){.id = id, .n = (uint32_t)length};
                else
                        for (size_t i = 0; i < length; i++)
                                s->symbol[count++] = (struct bpe_symbol){
                                        .id = b->byte[(unsigned char)word[pos + i]], .n = 1};
        }
        return count;
}

/* Cuts a word into s->piece; returns how many. Room has been reserved. */
static size_t merge_all(const struct ran_bpe *b, const char *word, size_t n,
                        struct ran_bpe_scratch *s)
{
        size_t symbols = (b->chars != NULL ? begin_chars : begin_bytes)(b, word, n, s), count = 0;

        for (uint32_t i = 0; i < symbols; i++) {
                s->symbol[i].prev = i - 1;
                s->symbol[i].next = i + 1;
        }
        s->symbol[symbols - 1].next = BPE_NONE;
        s->queue_n = 0;
        for (uint32_t i = 0; i < symbols; i++)
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
                s->piece[count++] = (struct ran_bpe_piece){s->symbol[i].id, s->symbol[i].n};
        return count;
}

int ran_bpe_cut(const struct ran_bpe *b, const char *word, size_t n, struct ran_bpe_scratch *s,
                const struct ran_bpe_piece **pieces, size_t *count, struct ran_error *err)
{
        RAN_TRY(reserve(s, n, err));
        *count = merge_all(b, word, n, s);
        *pieces = s->piece;
        return RAN_OK;
}
