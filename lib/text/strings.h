/* strings.h - different byte strings, numbered in the order in which they came: the pieces of a
 * vocabulary, the words of a corpus. Open addressing with linear probing over eight-byte slots; the
 * bytes lie one after another.
 *
 * The hash is computed a byte at a time (FNV-1a), so that all prefixes of a word are hashed in one
 * walk along it, which is what the search for the longest piece needs. */
#ifndef RAN_TEXT_STRINGS_H
#define RAN_TEXT_STRINGS_H

#include "ran.h"

#define STRINGS_NONE UINT32_MAX

struct strings_slot {
        uint32_t tag;   /* upper half of the hash */
        uint32_t index; /* STRINGS_NONE: free */
};

struct strings {
        char *bytes;
        size_t bytes_n, bytes_cap;
        size_t *end; /* (n) where each string ends in bytes */
        size_t n, end_cap;
        size_t used; /* slots in use: n less those without one */
        struct strings_slot *slot;
        unsigned shift; /* 64 less the binary logarithm of the number of slots */
};

/* Where a hash begins, and an odd number that says to which slot it belongs. They are other ones in
 * each process: nobody can write words, or names of labels, that all fall in one place. So a hash
 * is nothing to keep, and no order comes from it. */
extern uint64_t ran_strings_start, ran_strings_factor; /* the latter for other tables, too */

static inline uint64_t strings_hash_byte(uint64_t hash, char byte)
{
        return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t strings_hash(uint64_t hash, const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                hash = strings_hash_byte(hash, s[i]);
        return hash;
}

void ran_strings_release(struct strings *s);
static inline const char *strings_get(const struct strings *s, uint32_t index, size_t *n)
{
        size_t begin = index > 0 ? s->end[index - 1] : 0;

        *n = s->end[index] - begin;
        return s->bytes + begin;
}

/* Their order by bytes, as memcmp has it. */
int ran_strings_compare(const struct strings *s, uint32_t i, uint32_t j);

/* The string made of head and tail, or STRINGS_NONE. hash is that of both; s may be empty. */
uint32_t ran_strings_find(const struct strings *s, uint64_t hash, const char *head, size_t head_n,
                          const char *tail, size_t tail_n);
/* Among strings of number `least` and up, the longest that is `head` and a beginning of text, of
 * `limit` bytes of it at most; its length in text goes to *length. hash is that of head. */
uint32_t ran_strings_longest(const struct strings *s, uint32_t least, uint64_t hash,
                             const char *head, size_t head_n, const char *text, size_t text_n,
                             size_t limit, size_t *length);
/* Appends a string that is not in the set yet and returns its number; STRINGS_NONE without memory.
 * hash: its hash. */
uint32_t ran_strings_add(struct strings *s, uint64_t hash, const char *bytes, size_t n,
                         struct ran_error *err);
/* Makes room in the table for so many more strings, lest it grow again and again. */
int ran_strings_reserve(struct strings *s, size_t more, struct ran_error *err);
/* Uses up a number: strings_get gives an empty string for it, and no search finds it. */
uint32_t ran_strings_skip(struct strings *s, struct ran_error *err);

#endif
