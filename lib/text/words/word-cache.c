/* word-cache.c - a small table of words, in sets of two: a new word replaces the older one. */
#include "text/words/words.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum {
        LEAST_SETS_LOG2 = 8, /* 32 KiB: a program may label one short document */
        MOST_SETS_LOG2 = 14, /* 2 MiB */
        GROWTH_LOG2 = 3,
        LINE = 64,
};
_Static_assert(sizeof(struct ran_cached_word) == LINE, "a known word fills a cache line");

void ran_word_cache_release(struct ran_word_cache *k)
{
        free(k->memory);
        *k = (struct ran_word_cache){0};
}

/* An empty table, aligned to cache lines. */
static void make(struct ran_word_cache *k, unsigned sets_log2)
{
        k->memory = ran_new(((size_t)2 << sets_log2) + 1, sizeof(*k->set));
        k->set = (void *)(((uintptr_t)k->memory + LINE - 1) / LINE * LINE);
        k->sets_log2 = sets_log2;
        k->kept = 0;
}

void ran_word_cache_use(struct ran_word_cache *k, uint64_t vocab)
{
        if (k->memory != NULL && k->vocab == vocab)
                return;
        ran_word_cache_release(k);
        make(k, LEAST_SETS_LOG2);
        k->vocab = vocab;
}

void ran_word_cache_key(uint64_t key[WORD_CACHE_KEY], const char *word, size_t n)
{
        uint64_t padded[WORD_CACHE_KEY] = {0};

        memcpy(padded, word, n);
        for (size_t i = 0; i < WORD_CACHE_KEY; i++)
                key[i] = le64toh(padded[i]);
}

static struct ran_cached_word *set_of(const struct ran_word_cache *k,
                                      const uint64_t key[WORD_CACHE_KEY], size_t n)
{
        uint64_t x = (key[0] ^ (uint64_t)n << 56) * UINT64_C(0x9e3779b97f4a7c15);

        x = (x ^ x >> 32 ^ key[1] ^ key[2] << 1) * UINT64_C(0xd6e8feb86659fd93);
        return k->set + 2 * (size_t)(x >> (64 - k->sets_log2));
}

/* Moves the words to a larger table. */
static void grow(struct ran_word_cache *k)
{
        struct ran_word_cache larger = {.vocab = k->vocab};

        k->kept = 0;
        make(&larger, k->sets_log2 + GROWTH_LOG2);
        for (size_t i = 0; i < (size_t)2 << k->sets_log2; i++) {
                const struct ran_cached_word *word = &k->set[i];
                struct ran_cached_word *set = set_of(&larger, word->key, word->n);

                if (word->n > 0)
                        set[set->n > 0] = *word;
        }
        free(k->memory);
        *k = larger;
}

static bool is_word(const struct ran_cached_word *k, const uint64_t key[WORD_CACHE_KEY], size_t n)
{
        return k->n == n && k->key[0] == key[0] && k->key[1] == key[1] && k->key[2] == key[2];
}

const struct ran_cached_word *ran_word_cache_find(struct ran_word_cache *k,
                                                  const uint64_t key[WORD_CACHE_KEY], size_t n,
                                                  struct ran_cached_word **set)
{
        *set = set_of(k, key, n);
        if (is_word(*set, key, n))
                return *set;
        if (is_word(*set + 1, key, n)) {
                struct ran_cached_word second = (*set)[1];

                (*set)[1] = (*set)[0];
                (*set)[0] = second;
                return *set;
        }
        if (k->sets_log2 < MOST_SETS_LOG2 && ++k->kept > (size_t)1 << k->sets_log2) {
                grow(k);
                *set = set_of(k, key, n);
        }
        return NULL;
}

void ran_word_cache_keep(struct ran_cached_word *set, const uint64_t key[WORD_CACHE_KEY], size_t n,
                         const struct ran_word_parts *parts)
{
        if (parts->n > WORD_CACHE_PARTS)
                return;
        set++;
        memcpy(set->key, key, sizeof(set->key));
        set->n = (unsigned char)n;
        set->parts = (unsigned char)parts->n;
        for (size_t i = 0; i < parts->n; i++) {
                set->id[i] = parts->at[i].id;
                set->from[i] = (unsigned char)parts->at[i].from;
                set->to[i] = (unsigned char)parts->at[i].to;
        }
}

void ran_word_parts_add(struct ran_word_parts *p, uint32_t id, size_t from, size_t to)
{
        RAN_ROOM(p->at, p->cap, p->n + 1);
        p->at[p->n++] = (struct ran_word_part){id, (uint32_t)from, (uint32_t)to};
}
