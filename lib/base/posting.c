/* posting.c - see posting.h. A radix sort: a few passes, whatever the order.
 */
#include "base/posting.h"

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
