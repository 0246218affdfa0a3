/* posting.h - who occurs where: places sorted by the id that stands there. */
#ifndef RAN_BASE_POSTING_H
#define RAN_BASE_POSTING_H

#include <stddef.h>
#include <stdint.h>

/* An id, and where it stands. */
struct ran_posting {
        uint32_t id, at;
};

/* Sorts n places by id, those of equal ids as they come. spare: room for as many. Returns where the
 * result stands, which is p or spare. */
struct ran_posting *ran_posting_sort(struct ran_posting *p, struct ran_posting *spare, size_t n);

#endif
