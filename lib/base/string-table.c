/* string-table.c - numbered strings in a hash table. */
#include "base/string-table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FIRST_SLOTS_LOG2 = 6 };

/* The defaults, if the system has no random numbers: the basis of FNV, and the golden ratio. */
uint64_t ran_string_table_seed = UINT64_C(0xcbf29ce484222325),
         ran_string_table_multiplier = UINT64_C(0x9e3779b97f4a7c15);

__attribute__((constructor)) static void choose(void)
{
        uint64_t key[2];

        if (getrandom(key, sizeof key, GRND_NONBLOCK) != (ssize_t)sizeof key)
                return;
        ran_string_table_seed = key[0];
        ran_string_table_multiplier = key[1] | 1;
}

void ran_string_table_release(struct ran_string_table *s)
{
        free(s->bytes);
        free(s->end);
        free(s->slot);
        *s = (struct ran_string_table){0};
}

int ran_string_table_compare(const struct ran_string_table *s, uint32_t i, uint32_t j)
{
        size_t m, n;
        const char *a = ran_string_table_get(s, i, &m), *b = ran_string_table_get(s, j, &n);

        return ran_order(a, m, b, n);
}

/* FNV mixes its low bits best; the multiplication carries them to the top. */
static size_t first_slot(const struct ran_string_table *s, uint64_t hash)
{
        return (size_t)(hash * ran_string_table_multiplier >> s->shift);
}

static size_t slots(const struct ran_string_table *s)
{
        return s->slot != NULL ? (size_t)1 << (64 - s->shift) : 0;
}

static bool equal(const struct ran_string_table *s, uint32_t index, const char *head, size_t head_n,
                  const char *tail, size_t tail_n)
{
        size_t n;
        const char *bytes = ran_string_table_get(s, index, &n);

        return n == head_n + tail_n && (head_n == 0 || memcmp(bytes, head, head_n) == 0) &&
               (tail_n == 0 || memcmp(bytes + head_n, tail, tail_n) == 0);
}

uint32_t ran_string_table_find_joined(const struct ran_string_table *s, uint64_t hash,
                                      const char *head, size_t head_n, const char *tail,
                                      size_t tail_n)
{
        if (s->slot == NULL)
                return RAN_STRING_TABLE_NONE;

        size_t mask = slots(s) - 1;
        uint32_t tag = (uint32_t)(hash >> 32);
        for (size_t i = first_slot(s, hash);; i = (i + 1) & mask) {
                const struct ran_string_table_slot *slot = &s->slot[i];
                if (slot->index == RAN_STRING_TABLE_NONE)
                        return RAN_STRING_TABLE_NONE;
                if (slot->tag == tag && equal(s, slot->index, head, head_n, tail, tail_n))
                        return slot->index;
        }
}

uint32_t ran_string_table_find(const struct ran_string_table *s, const char *bytes, size_t n)
{
        const uint64_t hash = ran_string_table_hash(ran_string_table_seed, bytes, n);

        return ran_string_table_find_joined(s, hash, "", 0, bytes, n);
}

/* Prefixes that are hashed before the first one, the longest, is looked up. */
enum { HASHED = 32 };

uint32_t ran_string_table_longest(const struct ran_string_table *s, uint32_t least, uint64_t hash,
                                  const char *head, size_t head_n, const char *text, size_t text_n,
                                  size_t limit, size_t *length)
{
        uint32_t best = RAN_STRING_TABLE_NONE;
        uint64_t prefix[HASHED];

        if (limit > text_n)
                limit = text_n;
        for (size_t from = 0, to; from < limit; from = to) {
                to = limit - from < HASHED ? limit : from + HASHED;
                for (size_t i = from; i < to; i++) {
                        prefix[i - from] = hash = ran_string_table_hash_byte(hash, text[i]);
                        if (s->slot != NULL) /* all at once: each is far from the others */
                                __builtin_prefetch(&s->slot[first_slot(s, hash)]);
                }
                for (size_t n = to; n > from; n--) {
                        /* A string ends at the end of a character. */
                        if (n < text_n && ((unsigned char)text[n] & 0xc0) == 0x80)
                                continue;
                        uint32_t found = ran_string_table_find_joined(s, prefix[n - 1 - from], head,
                                                                      head_n, text, n);

                        if (found == RAN_STRING_TABLE_NONE || found < least)
                                continue;
                        best = found;
                        *length = n;
                        break;
                }
        }
        return best;
}

static void insert(struct ran_string_table *s, uint64_t hash, uint32_t index)
{
        size_t mask = slots(s) - 1, i = first_slot(s, hash);

        while (s->slot[i].index != RAN_STRING_TABLE_NONE)
                i = (i + 1) & mask;
        s->slot[i] = (struct ran_string_table_slot){(uint32_t)(hash >> 32), index};
        s->used++;
}

static void grow_slots(struct ran_string_table *s, size_t n)
{
        size_t old = slots(s);
        struct ran_string_table bigger = *s;

        bigger.slot = ran_new(n, sizeof(*bigger.slot));
        memset(bigger.slot, 0xff, n * sizeof(*bigger.slot));
        for (bigger.shift = 64; n > 1; n /= 2)
                bigger.shift--;
        bigger.used = 0;
        for (size_t i = 0; i < old; i++) {
                uint32_t index = s->slot[i].index;
                if (index == RAN_STRING_TABLE_NONE)
                        continue;
                size_t length;
                const char *bytes = ran_string_table_get(s, index, &length);
                insert(&bigger, ran_string_table_hash(ran_string_table_seed, bytes, length), index);
        }
        free(s->slot);
        *s = bigger;
}

void ran_string_table_reserve(struct ran_string_table *s, size_t more)
{
        size_t old = slots(s), n = old != 0 ? old : (size_t)1 << FIRST_SLOTS_LOG2;

        if (more > SIZE_MAX / 4 - s->used)
                ran_out_of_memory(more, sizeof *s->slot);
        while (n / 2 < s->used + more) /* at least half of the slots stay free */
                n *= 2;
        if (n > old)
                grow_slots(s, n);
}

static uint32_t append(struct ran_string_table *s, const char *bytes, size_t n)
{
        if (s->n >= RAN_STRING_TABLE_NONE || n > SIZE_MAX - s->bytes_n)
                ran_out_of_memory(s->n, sizeof *s->slot);
        RAN_ROOM(s->bytes, s->bytes_cap, s->bytes_n + n);
        RAN_ROOM(s->end, s->end_cap, s->n + 1);
        if (n > 0)
                memcpy(s->bytes + s->bytes_n, bytes, n);
        s->bytes_n += n;
        s->end[s->n] = s->bytes_n;
        return (uint32_t)s->n++;
}

uint32_t ran_string_table_add(struct ran_string_table *s, const char *bytes, size_t n)
{
        const uint64_t hash = ran_string_table_hash(ran_string_table_seed, bytes, n);
        const uint32_t known = ran_string_table_find_joined(s, hash, "", 0, bytes, n);

        if (known != RAN_STRING_TABLE_NONE)
                return known;
        ran_string_table_reserve(s, 1);
        const uint32_t index = append(s, bytes, n);
        insert(s, hash, index);
        return index;
}

uint32_t ran_string_table_skip(struct ran_string_table *s)
{
        return append(s, "", 0);
}
