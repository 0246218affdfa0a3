/* word-cache.h - words that were cut into pieces lately, and the pieces: most words of a text come
 * again. What is found here is what cutting the word would give. */
#ifndef RAN_TEXT_WORD_CACHE_H
#define RAN_TEXT_WORD_CACHE_H

#include "ran/text.h"

/* A piece of a word: its characters [from, to), none of which need be left. */
struct ran_word_part {
        uint32_t id, from, to;
};

enum {
        WORD_CACHE_KEY = 3,
        WORD_CACHE_BYTES = 8 * WORD_CACHE_KEY, /* of a word, */
        WORD_CACHE_PARTS = 6, /* and its pieces, at most: what fits into a cache line */
};

struct ran_cached_word {
        uint64_t key[WORD_CACHE_KEY];
        unsigned char n; /* bytes of the word; 0: none is here */
        unsigned char parts;
        uint32_t id[WORD_CACHE_PARTS];
        unsigned char from[WORD_CACHE_PARTS], to[WORD_CACHE_PARTS];
};

/* Zero-initialise. */
struct ran_word_cache {
        char vocab[65]; /* digest of the vocabulary that the words were cut by */
        void *memory;
        struct ran_cached_word *set; /* pairs of words */
};
void ran_word_cache_release(struct ran_word_cache *k);
/* Before words are cut by a vocabulary: forgets what another one made. */
int ran_word_cache_use(struct ran_word_cache *k, const char *digest, struct ran_error *err);

/* The bytes of a word, n of them and no more than WORD_CACHE_BYTES, as numbers, lowest first, zeros
 * behind: with n they tell it from any other word. */
void ran_word_cache_key(uint64_t key[WORD_CACHE_KEY], const char *word, size_t n);
/* The word of that key and n > 0 bytes; NULL when it is not known. *set is where to keep it then.
 */
const struct ran_cached_word *ran_word_cache_find(const struct ran_word_cache *k,
                                                  const uint64_t key[WORD_CACHE_KEY], size_t n,
                                                  struct ran_cached_word **set);
/* Keeps a word that was not found, unless it has too many parts. */
void ran_word_cache_keep(struct ran_cached_word *set, const uint64_t key[WORD_CACHE_KEY], size_t n,
                         const struct ran_word_part *part, size_t parts);

#endif
