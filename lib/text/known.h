/* known.h - words that were cut into pieces lately, and the pieces: most words of a text come
 * again. What is found here is what cutting the word would give. */
#ifndef RAN_TEXT_KNOWN_H
#define RAN_TEXT_KNOWN_H

#include "ran.h"

/* A piece of a word: its characters [from, to), none of which need be left. */
struct word_part {
        uint32_t id, from, to;
};

enum {
        KNOWN_KEY = 3,
        KNOWN_BYTES = 8 * KNOWN_KEY, /* of a word, */
        KNOWN_PARTS = 6,             /* and its pieces, at most: what fits into a cache line */
};

struct known_word {
        uint64_t key[KNOWN_KEY];
        unsigned char n; /* bytes of the word; 0: none is here */
        unsigned char parts;
        uint32_t id[KNOWN_PARTS];
        unsigned char from[KNOWN_PARTS], to[KNOWN_PARTS];
};

/* Zero-initialise. */
struct known {
        char vocab[65]; /* digest of the vocabulary that the words were cut by */
        void *memory;
        struct known_word *set; /* pairs of words */
};
void ran_known_release(struct known *k);
/* Before words are cut by a vocabulary: forgets what another one made. */
int ran_known_use(struct known *k, const char *digest, struct ran_error *err);

/* The bytes of a word, n of them and no more than KNOWN_BYTES, as numbers, lowest first, zeros
 * behind: with n they tell it from any other word. */
void ran_known_key(uint64_t key[KNOWN_KEY], const char *word, size_t n);
/* The word of that key and n > 0 bytes; NULL when it is not known. *set is where to keep it then.
 */
const struct known_word *ran_known_find(const struct known *k, const uint64_t key[KNOWN_KEY],
                                        size_t n, struct known_word **set);
/* Keeps a word that was not found, unless it has too many parts. */
void ran_known_keep(struct known_word *set, const uint64_t key[KNOWN_KEY], size_t n,
                    const struct word_part *part, size_t parts);

#endif
