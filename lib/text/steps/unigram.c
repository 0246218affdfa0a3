/* unigram.c - the model Unigram: the best way to split a word, by dynamic programming (Viterbi)
 * from left to right. As in the library of Hugging Face: the first of several best ways counts,
 * sums are made from the left, unknown characters next to each other are one token. */
#include "text/steps/steps.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "ran/text.h"

/* An unknown character costs so much more than the token of the lowest score. */
#define UNKNOWN_PENALTY 10.0

/* ---- the trie ------------------------------------------------------------------------------- */

/* A token to be sorted; its first eight bytes decide most comparisons. */
struct entry {
        uint64_t key;
        const char *s;
        uint32_t n, id;
};

static int by_bytes(const void *a, const void *b)
{
        const struct entry *x = a, *y = b;

        if (x->key != y->key)
                return x->key < y->key ? -1 : 1;
        return ran_order(x->s, x->n, y->s, y->n);
}

static struct entry *sorted(const struct ran_unigram *u, const struct ran_string_table *tokens,
                            size_t *count)
{
        struct entry *all = ran_new(u->n, sizeof *all);

        *count = 0;
        for (size_t i = 0; i < u->n; i++) {
                struct entry e = {.id = (uint32_t)i};
                size_t n;
                e.s = ran_string_table_get(tokens, e.id, &n);
                e.n = (uint32_t)n;
                if (n == 0)
                        continue;
                memcpy(&e.key, e.s, n < sizeof e.key ? n : sizeof e.key);
                e.key = be64toh(e.key);
                all[(*count)++] = e;
        }
        qsort(all, *count, sizeof *all, by_bytes);
        return all;
}

/* The tokens [low, high) that a node leads to: they have their first bytes in common. */
struct range {
        uint32_t low, high;
};
struct building {
        struct ran_unigram *u;
        const struct entry *all;
        struct range *range; /* (u->nodes) */
        size_t range_cap;
};

static void add_node(struct building *b, unsigned char label, size_t low, size_t high)
{
        struct ran_unigram *u = b->u;
        size_t n = u->nodes + 1;

        RAN_ROOM(b->range, b->range_cap, n);
        RAN_ROOM(u->first, u->first_cap, n + 1);
        RAN_ROOM(u->label, u->label_cap, n);
        RAN_ROOM(u->token, u->token_cap, n);
        b->range[n - 1] = (struct range){(uint32_t)low, (uint32_t)high};
        u->label[n - 1] = label;
        u->token[n - 1] = RAN_NO_ID;
        u->nodes = n;
}

/* Adds the children of a node; its tokens have `depth` bytes in common. */
static void add_children(struct building *b, size_t node, size_t depth)
{
        const struct entry *all = b->all;
        size_t low = b->range[node].low, high = b->range[node].high, end;

        b->u->first[node] = (uint32_t)b->u->nodes;
        if (all[low].n == depth)
                b->u->token[node] = all[low++].id;
        for (; low < high; low = end) {
                unsigned char label = (unsigned char)all[low].s[depth];
                for (end = low + 1; end < high && (unsigned char)all[end].s[depth] == label;)
                        end++;
                add_node(b, label, low, end);
        }
}

void ran_unigram_prepare(struct ran_unigram *u, const struct ran_string_table *tokens)
{
        size_t count, depth = 0, level_end = 1;
        struct entry *all = sorted(u, tokens, &count);
        struct building b = {.u = u, .all = all};

        u->nodes = 0;
        add_node(&b, 0, 0, count);
        u->first[0] = 1;
        for (size_t node = 0; count > 0 && node < u->nodes; node++) {
                if (node == level_end) {
                        level_end = u->nodes;
                        depth++;
                }
                add_children(&b, node, depth);
        }
        u->first[u->nodes] = (uint32_t)u->nodes;
        free(all);
        free(b.range);
        u->unknown = u->n > 0 ? u->score[0] : 0;
        for (size_t i = 1; i < u->n; i++)
                u->unknown = u->score[i] < u->unknown ? u->score[i] : u->unknown;
        u->unknown -= UNKNOWN_PENALTY;
}

/* The child of a node by a byte; 0: none. */
static uint32_t child(const struct ran_unigram *u, uint32_t node, unsigned char byte)
{
        const unsigned char *from = u->label + u->first[node];
        const size_t n = u->first[node + 1] - u->first[node];
        const unsigned char *at = NULL;

        if (n == 1)
                return from[0] == byte ? u->first[node] : 0;
        if (n > 0)
                at = memchr(from, byte, n);
        return at != NULL ? (uint32_t)(at - u->label) : 0;
}

/* ---- splitting ------------------------------------------------------------------------------ */

/* The best way to the end of a character. */
struct unigram_end {
        double score;
        uint32_t start; /* the first character of the last token on it; RAN_NO_ID: no way yet */
        uint32_t id;
};

static void offer(struct unigram_end *at, double score, size_t start, uint32_t id)
{
        if (at->start == RAN_NO_ID || score > at->score)
                *at = (struct unigram_end){score, (uint32_t)start, id};
}

static bool begins_char(char c)
{
        return ((unsigned char)c & 0xc0) != 0x80;
}

/* Offers all tokens that begin at byte pos, character k. */
static void offer_tokens(const struct ran_unigram *u, uint32_t unk, const char *word, size_t n,
                         size_t pos, size_t k, struct unigram_end *end)
{
        const double before = end[k].score;
        bool single = false;
        size_t chars = 0;

        for (uint32_t node = 0; pos < n; pos++) {
                node = child(u, node, (unsigned char)word[pos]);
                if (node == 0)
                        break;
                chars += begins_char(word[pos]);
                const uint32_t id = u->token[node];
                if (id == RAN_NO_ID)
                        continue;
                offer(&end[k + chars], u->score[id] + before, k, id);
                single = single || chars == 1;
        }
        if (!single)
                offer(&end[k + 1], u->unknown + before, k, unk);
}

/* Unknown text, n bytes: a token that it is nevertheless, tokens of its bytes, or unknown. */
static void add_unknown(const struct ran_unigram *u, const struct ran_string_table *tokens,
                        const char *text, size_t n, struct ran_word_part part,
                        struct ran_word_parts *to)
{
        const uint32_t id = ran_string_table_find(tokens, text, n);
        bool bytes = u->bytes;

        if (id != RAN_STRING_TABLE_NONE && id < u->n) {
                ran_word_parts_add(to, id, part.from, part.to);
                return;
        }
        for (size_t i = 0; bytes && i < n; i++)
                bytes = u->byte[(unsigned char)text[i]] != RAN_NO_ID;
        for (size_t i = 0; bytes && i < n; i++)
                ran_word_parts_add(to, u->byte[(unsigned char)text[i]], part.from, part.to);
        if (!bytes)
                ran_word_parts_add(to, part.id, part.from, part.to);
}

void ran_unigram_cut(const struct ran_unigram *u, const struct ran_string_table *tokens,
                     uint32_t unk, const char *word, size_t n, size_t chars,
                     struct ran_unigram_scratch *s, struct ran_word_parts *to)
{
        RAN_ROOM(s->end, s->end_cap, chars + 1);
        struct unigram_end *end = s->end;
        for (size_t i = 0; i <= chars; i++)
                end[i] = (struct unigram_end){0, RAN_NO_ID, 0};
        end[0].start = 0;
        for (size_t pos = 0, k = 0; pos < n; k++) {
                offer_tokens(u, unk, word, n, pos, k, end);
                for (pos++; pos < n && !begins_char(word[pos]);)
                        pos++;
        }
        /* Turns the chain of ends around: `start` of each becomes the end of the next token. */
        struct unigram_end next = {0, (uint32_t)chars, RAN_NO_ID};
        for (size_t at = chars;;) {
                const struct unigram_end here = end[at];

                end[at] = next;
                if (at == 0)
                        break;
                next = (struct unigram_end){0, (uint32_t)at, here.id};
                at = here.start;
        }
        for (size_t pos = 0, k = 0, behind; k < chars; k = behind) {
                const uint32_t id = end[k].id;
                const size_t begin = pos;

                behind = end[k].start;
                while (id == unk && behind < chars && end[behind].id == unk)
                        behind = end[behind].start;
                for (size_t left = behind - k; pos < n && left > 0; pos++)
                        left -= pos + 1 == n || begins_char(word[pos + 1]);
                if (id != unk)
                        ran_word_parts_add(to, id, k, behind);
                else
                        add_unknown(u, tokens, word + begin, pos - begin,
                                    (struct ran_word_part){unk, (uint32_t)k, (uint32_t)behind}, to);
        }
}
