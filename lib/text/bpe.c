/* bpe.c - splits words by byte-pair encoding.
 *
 * The bytes of a word are a linked list, in which two symbols merge in constant time. Candidates
 * wait in a queue: the merge of lowest rank first, for equal ranks the leftmost position. A merge
 * changes its neighbours, so an entry may be outdated when it leaves the queue; it is checked again
 * then. A merge removes one symbol and adds two pairs at most: the queue takes at most three
 * entries a byte.
 */
#include "text/tokenizer.h"

#include <stdlib.h>

struct bpe_symbol {
        uint32_t id, n;      /* n = 0: merged into the one before it */
        uint32_t prev, next; /* BPE_NONE at the ends */
};

int ran_bpe_add_merge(struct ran_bpe *b, uint32_t left, uint32_t right, uint32_t joined,
                      struct ran_error *err)
{
        size_t n = b->merges.n;

        RAN_ROOM(b->joined, b->joined_cap, n + 1);
        ran_pairs_add(&b->merges, left, right);
        if (b->merges.n == n)
                return ran_fail(err, RAN_EFORMAT, "two tokens are merged twice");
        b->joined[n] = joined;
        return RAN_OK;
}

void ran_bpe_scratch_release(struct ran_bpe_scratch *s)
{
        free(s->symbol);
        free(s->queue);
        free(s->token);
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

/* Merges the symbol at `at` with the next one. */
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

/* ---- the initial symbols of a word ----------------------------------------------------------- */

/* Unknown units that are no symbol yet. */
struct unknown {
        uint32_t n; /* bytes; 0: none */
        size_t symbols;
};

static void push_symbol(struct ran_bpe_scratch *s, struct unknown *u, uint32_t id, uint32_t n)
{
        s->symbol[u->symbols++] = (struct bpe_symbol){.id = id, .n = n};
}

static void push_unknown(const struct ran_bpe *b, struct ran_bpe_scratch *s, struct unknown *u)
{
        if (u->n > 0)
                push_symbol(s, u, b->unknown, u->n);
        u->n = 0;
}

/* A unit of n bytes, with its token. The order is that of the library of Hugging Face, where bytes
 * overtake what is unknown before them. */
static void push_unit(const struct ran_bpe *b, struct ran_bpe_scratch *s, struct unknown *u,
                      uint32_t id, const char *bytes, uint32_t n)
{
        bool fallback = b->fallback && id == BPE_NONE;

        if (id != BPE_NONE) {
                push_unknown(b, s, u);
                push_symbol(s, u, id, n);
                return;
        }
        for (uint32_t i = 0; fallback && i < n; i++)
                fallback = b->byte[(unsigned char)bytes[i]] != BPE_NONE;
        for (uint32_t i = 0; fallback && i < n; i++)
                push_symbol(s, u, b->byte[(unsigned char)bytes[i]], 1);
        if (fallback || b->unknown == BPE_NONE)
                return;
        if (!b->fused)
                push_unknown(b, s, u);
        u->n += n;
}

/* The initial symbols of a word: its bytes, or its characters. */
static size_t begin(const struct ran_bpe *b, const char *word, size_t n, struct ran_bpe_scratch *s)
{
        struct unknown u = {0, 0};

        for (size_t pos = 0, length = 1; pos < n; pos += length) {
                const unsigned char c = (unsigned char)word[pos];
                uint32_t id = b->unit[c];

                if (b->chars != NULL) {
                        length = ran_unicode_length(word + pos, n - pos);
                        if (c >= 0x80)
                                id = ran_string_table_find(b->chars, word + pos, length);
                        id = id < b->most ? id : BPE_NONE;
                }
                if (id != BPE_NONE && u.n == 0) /* as nearly always */
                        push_symbol(s, &u, id, (uint32_t)length);
                else
                        push_unit(b, s, &u, id, word + pos, (uint32_t)length);
        }
        push_unknown(b, s, &u);
        return u.symbols;
}

size_t ran_bpe_cut(const struct ran_bpe *b, const char *word, size_t n, struct ran_bpe_scratch *s)
{
        size_t symbols, count = 0;

        RAN_ROOM(s->symbol, s->symbol_cap, n);
        RAN_ROOM(s->queue, s->queue_cap, 3 * n);
        RAN_ROOM(s->token, s->token_cap, n);
        symbols = begin(b, word, n, s);
        for (uint32_t i = 0; i < symbols; i++) {
                s->symbol[i].prev = i - 1;
                s->symbol[i].next = i + 1;
        }
        if (symbols == 0)
                return 0;
        s->symbol[symbols - 1].next = BPE_NONE;
        s->queue_n = 0;
        for (uint32_t i = 0; i < symbols; i++)
                offer(b, s, i);
        while (s->queue_n > 0) {
                uint64_t entry = pop(s);
                uint32_t at = (uint32_t)entry, wanted = b->joined[entry >> 32];
                uint32_t rank = s->symbol[at].n > 0 ? merge_at(b, s, at) : PAIRS_NONE;
                /* Other symbols may be there by now. As in the library of Hugging Face, they
                 * merge at once if they make the same token. */
                if (rank != PAIRS_NONE && b->joined[rank] == wanted)
                        merge(b, s, at, wanted);
        }
        for (uint32_t i = 0; i != BPE_NONE; i = s->symbol[i].next)
                s->token[count++] = (struct ran_bpe_token){s->symbol[i].id, s->symbol[i].n};
        return count;
}
