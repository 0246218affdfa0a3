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

enum { DIGIT = 9, DIGITS = 1 << DIGIT }; /* two passes for up to 2^18 ids */

static void sort_by_digit(uint32_t *to, const uint32_t *from, size_t n, unsigned shift)
{
        uint32_t first[DIGITS] = {0}, sum = 0;

        for (size_t i = 0; i < n; i++)
                first[from[i] >> shift & (DIGITS - 1)]++;
        for (size_t digit = 0; digit < DIGITS; digit++) {
                uint32_t count = first[digit];

                first[digit] = sum;
                sum += count;
        }
        for (size_t i = 0; i < n; i++)
                to[first[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

void ran_posting_sort_ids(uint32_t *ids, uint32_t *spare, size_t n)
{
        uint32_t *from = ids, *to = spare, all = 0;

        for (size_t i = 0; i < n; i++)
                all |= ids[i];
        for (unsigned shift = 0; shift < 32 && all >> shift > 0; shift += DIGIT) {
                uint32_t *sorted = to;

                sort_by_digit(to, from, n, shift);
                to = from;
                from = sorted;
        }
        if (from != ids)
                memcpy(ids, from, n * sizeof *ids);
}
