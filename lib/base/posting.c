/* posting.c - see posting.h. A radix sort: a few passes, whatever the order.
 */
#include "base/posting.h"

#include <string.h>

struct ran_posting *ran_posting_sort(struct ran_posting *p, struct ran_posting *spare, size_t n)
{
        uint32_t largest = 0;

        for (size_t i = 0; i < n; i++)
                largest = p[i].id > largest ? p[i].id : largest;
        for (unsigned shift = 0; shift < 32 && largest >> shift > 0; shift += 8) {
                size_t first[256] = {0}, sum = 0;
                struct ran_posting *sorted = spare;

                for (size_t i = 0; i < n; i++)
                        first[p[i].id >> shift & 255]++;
                for (size_t digit = 0; digit < 256; digit++) {
                        size_t count = first[digit];

                        first[digit] = sum;
                        sum += count;
                }
                for (size_t i = 0; i < n; i++)
                        sorted[first[p[i].id >> shift & 255]++] = p[i];
                spare = p;
                p = sorted;
        }
        return p;
}

/* Digits have at most ten bits, and there are as few as possible: two for up to a million ids. */
enum { DIGIT = 10 };

static unsigned bits_of(uint32_t x)
{
        return x == 0 ? 0 : 32 - (unsigned)__builtin_clz(x);
}

/* How many ids have each digit of `width` bits, for the pass of that shift and the next. */
static void count_digits(uint32_t *count, const uint32_t *ids, size_t n, unsigned width,
                         unsigned shift)
{
        const uint32_t digits = (uint32_t)1 << width;
        uint32_t *next = count + digits;

        memset(count, 0, 2 * digits * sizeof *count);
        for (size_t i = 0; i < n; i++) {
                const uint32_t id = ids[i] >> shift;

                count[id & (digits - 1)]++;
                next[(uint64_t)id >> width & (digits - 1)]++;
        }
}

static void sort_by_digit(uint32_t *to, const uint32_t *from, size_t n, uint32_t *count,
                          unsigned width, unsigned shift)
{
        const uint32_t digits = (uint32_t)1 << width;
        uint32_t sum = 0;

        for (uint32_t digit = 0; digit < digits; digit++) {
                const uint32_t here = count[digit];

                count[digit] = sum;
                sum += here;
        }
        for (size_t i = 0; i < n; i++)
                to[count[from[i] >> shift & (digits - 1)]++] = from[i];
}

void ran_posting_sort_ids(uint32_t *ids, uint32_t *spare, size_t n)
{
        uint32_t *from = ids, *to = spare, all = 0, count[2 << DIGIT];

        for (size_t i = 0; i < n; i++)
                all |= ids[i];
        const unsigned bits = bits_of(all), passes = (bits + DIGIT - 1) / DIGIT;
        if (passes == 0)
                return;
        const unsigned width = (bits + passes - 1) / passes;
        for (unsigned pass = 0; pass < passes; pass++) {
                uint32_t *sorted = to;

                if (pass % 2 == 0)
                        count_digits(count, from, n, width, pass * width);
                sort_by_digit(to, from, n, count + (pass % 2 << width), width, pass * width);
                to = from;
                from = sorted;
        }
        if (from != ids)
                memcpy(ids, from, n * sizeof *ids);
}
