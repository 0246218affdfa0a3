/* word-cache.h - recently encoded words and their tokens, because most words of a text recur. A
 * hit equals the result of encoding the word. */
#ifndef RAN_TEXT_WORD_CACHE_H
#define RAN_TEXT_WORD_CACHE_H

#include "ran/text.h"

/* A token of a word, from its characters [from, to), which may be none. */
struct ran_word_part {
        uint32_t id, from, to;
};

enum {
        WORD_CACHE_KEY = 3,
        WORD_CACHE_BYTES = 8 * WORD_CACHE_KEY, /* maximum length of a word, */
        WORD_CACHE_PARTS = 6, /* and of its tokens: an entry fits into a cache line */
};

struct ran_cached_word {
        uint64_t key[WORD_CACHE_KEY];
        unsigned char n; /* bytes of the word; 0: empty entry */
        unsigned char parts;
        uint32_t id[WORD_CACHE_PARTS];
        unsigned char from[WORD_CACHE_PARTS], to[WORD_CACHE_PARTS];
};

/* Zero-initialise. */
struct ran_word_cache {
        uint64_t vocab; /* serial of the vocabulary; 0: none */
        void *memory;
        struct ran_cached_word *set; /* pairs of words */
        unsigned sets_log2;
        size_t kept; /* misses since it grew */
};
void ran_word_cache_release(struct ran_word_cache *k);
/* Call it before encoding with a vocabulary: empties the cache if it is of another one. */
int ran_word_cache_use(struct ran_word_cache *k, uint64_t vocab, struct ran_error *err);

/* Packs a word of n <= WORD_CACHE_BYTES bytes into numbers, low byte first, padded with zeros:
 * together with n they identify it. */
void ran_word_cache_key(uint64_t key[WORD_CACHE_KEY], const char *word, size_t n);
/* The entry for that key and n > 0 bytes; NULL on a miss, with *set for ran_word_cache_keep. The
 * table grows with the number of misses. */
const struct ran_cached_word *ran_word_cache_find(struct ran_word_cache *k,
                                                  const uint64_t key[WORD_CACHE_KEY], size_t n,
                                                  struct ran_cached_word **set);
/* Asks for the memory that ran_word_cache_find will look at: the table is larger than most caches
 * of a processor. */
void ran_word_cache_fetch(const struct ran_word_cache *k, const uint64_t key[WORD_CACHE_KEY],
                          size_t n);
/* Stores a word after a miss, unless it has too many tokens. */
void ran_word_cache_keep(struct ran_cached_word *set, const uint64_t key[WORD_CACHE_KEY], size_t n,
                         const struct ran_word_part *part, size_t parts);

#endif
