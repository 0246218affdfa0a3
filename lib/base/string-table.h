/* string-table.h - different byte strings, numbered in the order in which they came: the pieces of
 * a vocabulary, the words of a corpus. Open addressing with linear probing over eight-byte slots;
 * the bytes lie one after another.
 *
 * The hash is computed a byte at a time (FNV-1a), so that all prefixes of a word are hashed in one
 * walk along it, which is what the search for the longest piece needs. */
#ifndef RAN_BASE_STRING_TABLE_H
#define RAN_BASE_STRING_TABLE_H

#include "ran/base.h"

#define RAN_STRING_TABLE_NONE UINT32_MAX

struct ran_string_table_slot {
        uint32_t tag;   /* upper half of the hash */
        uint32_t index; /* RAN_STRING_TABLE_NONE: free */
};

struct ran_string_table {
        char *bytes;
        size_t bytes_n, bytes_cap;
        size_t *end; /* (n) where each string ends in bytes */
        size_t n, end_cap;
        size_t used; /* slots in use: n less those without one */
        struct ran_string_table_slot *slot;
        unsigned shift; /* 64 less the binary logarithm of the number of slots */
};

/* Where a hash begins, and an odd number that says to which slot it belongs. They are other ones in
 * each process: nobody can write words, or names of labels, that all fall in one place. So a hash
 * is nothing to keep, and no order comes from it. */
extern uint64_t ran_string_table_seed,
        ran_string_table_multiplier; /* the latter for other tables, too */

static inline uint64_t ran_string_table_hash_byte(uint64_t hash, char byte)
{
        return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t ran_string_table_hash(uint64_t hash, const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                hash = ran_string_table_hash_byte(hash, s[i]);
        return hash;
}

void ran_string_table_release(struct ran_string_table *s);
static inline const char *ran_string_table_get(const struct ran_string_table *s, uint32_t index,
                                               size_t *n)
{
        size_t begin = index > 0 ? s->end[index - 1] : 0;

        *n = s->end[index] - begin;
        return s->bytes + begin;
}

/* Their order by bytes, as memcmp has it. */
int ran_string_table_compare(const struct ran_string_table *s, uint32_t i, uint32_t j);

/* The string made of head and tail, or RAN_STRING_TABLE_NONE. hash is that of both; s may be empty.
 */
uint32_t ran_string_table_find(const struct ran_string_table *s, uint64_t hash, const char *head,
                               size_t head_n, const char *tail, size_t tail_n);
/* Among strings of number `least` and up, the longest that is `head` and a beginning of text, of
 * `limit` bytes of it at most; its length in text goes to *length. hash is that of head. */
uint32_t ran_string_table_longest(const struct ran_string_table *s, uint32_t least, uint64_t hash,
                                  const char *head, size_t head_n, const char *text, size_t text_n,
                                  size_t limit, size_t *length);
/* Appends a string that is not in the set yet and returns its number; RAN_STRING_TABLE_NONE without
 * memory. hash: its hash. */
uint32_t ran_string_table_add(struct ran_string_table *s, uint64_t hash, const char *bytes,
                              size_t n, struct ran_error *err);
/* Makes room in the table for so many more strings, lest it grow again and again. */
int ran_string_table_reserve(struct ran_string_table *s, size_t more, struct ran_error *err);
/* Uses up a number: ran_string_table_get gives an empty string for it, and no search finds it. */
uint32_t ran_string_table_skip(struct ran_string_table *s, struct ran_error *err);

#endif
