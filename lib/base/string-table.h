/* string-table.h - distinct byte strings, numbered in order of insertion: the tokens of a
 * vocabulary, the words of a corpus. Open addressing with linear probing over eight-byte slots; the
 * bytes are stored one after another.
 *
 * The hash is computed byte by byte (FNV-1a), so one pass over a word hashes all its prefixes,
 * which the search for the longest token needs. */
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
        size_t *end; /* (n) the end of each string in bytes */
        size_t n, end_cap;
        size_t used; /* slots in use: n minus skipped numbers */
        struct ran_string_table_slot *slot;
        unsigned shift; /* 64 - log2 of the number of slots */
};

/* The seed of a hash, and the odd multiplier that maps a hash to its slot. Both are random per
 * process, so input (words, names of labels) cannot force collisions. Never store a hash, or derive
 * an order from one. */
extern uint64_t ran_string_table_seed, ran_string_table_multiplier; /* other tables use it, too */

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

/* Compares strings i and j by their bytes, as memcmp. */
int ran_string_table_compare(const struct ran_string_table *s, uint32_t i, uint32_t j);

/* The number of a string; RAN_STRING_TABLE_NONE if it is not there. */
uint32_t ran_string_table_find(const struct ran_string_table *s, const char *bytes, size_t n);
/* That of the concatenation of head and tail. hash: of the concatenation. */
uint32_t ran_string_table_find_joined(const struct ran_string_table *s, uint64_t hash,
                                      const char *head, size_t head_n, const char *tail,
                                      size_t tail_n);
/* Finds the longest string, with a number >= least, that is head followed by a prefix of text of at
 * most `limit` bytes; *length: the length of that prefix. hash: of head. */
uint32_t ran_string_table_longest(const struct ran_string_table *s, uint32_t least, uint64_t hash,
                                  const char *head, size_t head_n, const char *text, size_t text_n,
                                  size_t limit, size_t *length);
/* Adds a string, unless it is there, and returns its number, which is s->n before if it is new. */
uint32_t ran_string_table_add(struct ran_string_table *s, const char *bytes, size_t n);
/* Makes room for so many more strings at once. */
void ran_string_table_reserve(struct ran_string_table *s, size_t more);
/* Skips a number: ran_string_table_get returns an empty string for it, and no search finds it. */
uint32_t ran_string_table_skip(struct ran_string_table *s);

#endif
