/* posting.c - see posting.h. A radix sort: a few passes, whatever the order. */
#include "base/posting.h"

#include <string.h>

/* Digits have at most ten bits, and there are as few as possible: two for up to a million ids. */
enum { DIGIT = 10 };

static inline uint32_t id_of(const char *at, size_t i, size_t size)
{
        uint32_t id;

        memcpy(&id, at + i * size, sizeof id);
        return id;
}

/* Objects of `size` bytes, a constant, which begin with an id. Returns where they are: in one of
 * the two. */
__attribute__((always_inline)) static inline char *sort(char *from, char *to, size_t n,
                                                        const size_t size)
{
        uint32_t all = 0, count[2 << DIGIT];

        for (size_t i = 0; i < n; i++)
                all |= id_of(from, i, size);
        const unsigned bits = all == 0 ? 0 : 32 - (unsigned)__builtin_clz(all);
        const unsigned passes = (bits + DIGIT - 1) / DIGIT;
        const unsigned width = passes > 0 ? (bits + passes - 1) / passes : 0;
        const uint32_t digits = (uint32_t)1 << width;
        for (unsigned pass = 0; pass < passes; pass++) {
                const unsigned shift = pass * width;
                uint32_t *here = count + pass % 2 * digits, sum = 0;
                char *sorted = to;

                if (pass % 2 == 0) { /* counts the digits of this pass and the next */
                        memset(count, 0, 2 * digits * sizeof *count);
                        for (size_t i = 0; i < n; i++) {
                                const uint32_t id = id_of(from, i, size) >> shift;

                                count[id & (digits - 1)]++;
                                count[digits + ((uint64_t)id >> width & (digits - 1))]++;
                        }
                }
                for (uint32_t digit = 0; digit < digits; digit++) {
                        const uint32_t times = here[digit];

                        here[digit] = sum;
                        sum += times;
                }
                for (size_t i = 0; i < n; i++) {
                        const uint32_t digit = id_of(from, i, size) >> shift & (digits - 1);

                        memcpy(to + size * here[digit]++, from + size * i, size);
                }
                to = from;
                from = sorted;
        }
        return from;
}

struct ran_posting *ran_posting_sort(struct ran_posting *p, struct ran_posting *spare, size_t n)
{
        return (struct ran_posting *)(void *)sort((char *)p, (char *)spare, n, sizeof *p);
}

void ran_posting_sort_ids(uint32_t *ids, uint32_t *spare, size_t n)
{
        const char *sorted = sort((char *)ids, (char *)spare, n, sizeof *ids);

        if (sorted != (char *)ids && n > 0)
                memcpy(ids, spare, n * sizeof *ids);
}
