/* ranks.h - processes that train one model together.
 *
 * Rank 0 reads, decides, reports and saves; the others compute what it sends them. All run the same
 * training loop and call these functions in the same order. NULL stands for a single process, for
 * which they do nothing.
 *
 * `links` carry the bytes: MPI (mpi.c), or pipes in the tests. A rank that fails while others wait
 * for it cannot tell them: the ranks are then broken, and closing them ends all.
 */
#ifndef RAN_TRAIN_RANKS_H
#define RAN_TRAIN_RANKS_H

#include "ran/train.h"

struct ran_ranks;

/* Messages from one rank to another arrive in order. */
struct ran_links {
        int (*send)(struct ran_ranks *r, size_t to, const void *bytes, size_t n,
                    struct ran_error *err);
        int (*receive)(struct ran_ranks *r, size_t from, void *bytes, size_t n,
                       struct ran_error *err);
        /* From rank 0 to all. NULL: uses the two above. */
        int (*broadcast)(struct ran_ranks *r, void *bytes, size_t n, struct ran_error *err);
        /* Closes the links; if the ranks are broken, ends the others and may not return. Frees
         * r. */
        void (*close)(struct ran_ranks *r, int status);
};

struct ran_ranks {
        const struct ran_links *links;
        size_t rank, n;
        int (*stopped)(void); /* whether a signal asks this process to end; may be NULL */
        bool broken;
        /* Once asked to stop, rank 0 does not wait for the others: a checkpoint needs nothing
         * from them. */
        bool interruptible;
        uint64_t moved; /* bytes that this rank sent and received; a broadcast counts once */
        void *link;     /* of the links */
};

/* Rank 0 broadcasts these to ranks that wait for work, as uint32_t. */
enum { RAN_RANKS_END, RAN_RANKS_TRAIN };

/* Rank 0, or alone. */
static inline bool ran_ranks_leads(const struct ran_ranks *r)
{
        return r == NULL || r->rank == 0;
}
static inline bool ran_ranks_are_whole(const struct ran_ranks *r)
{
        return r == NULL || !r->broken;
}

/* All of these break the ranks when they fail. */
int ran_ranks_send(struct ran_ranks *r, size_t to, const void *bytes, size_t n,
                   struct ran_error *err);
int ran_ranks_receive(struct ran_ranks *r, size_t from, void *bytes, size_t n,
                      struct ran_error *err);
int ran_ranks_broadcast(struct ran_ranks *r, void *bytes, size_t n, struct ran_error *err);
/* Sets the value of each rank to the maximum over all ranks. */
int ran_ranks_max(struct ran_ranks *r, int *value, struct ran_error *err);
/* Copies rc and *err of rank 0 to all. A failure of another rank breaks the ranks. */
int ran_ranks_agree(struct ran_ranks *r, int rc, struct ran_error *err);
/* Gathers items of `size` bytes at rank 0; rank i has [bound[i], bound[i + 1]). */
int ran_ranks_gather(struct ran_ranks *r, void *items, size_t size, const size_t *bound,
                     struct ran_error *err);
/* Breaks the ranks if rc is a failure of this rank, for which the others wait. Returns rc. */
int ran_ranks_break(struct ran_ranks *r, int rc);

/* Partitions n items by size (item i has first[i + 1] - first[i] tokens, for example) so that
 * ranks have about the same total: rank i gets [bound[i], bound[i + 1]), perhaps none. bound
 * (ranks + 1): ran_ranks_bounds allocates it. */
void ran_ranks_partition(const struct ran_ranks *r, const size_t *first, size_t n, size_t *bound);
size_t *ran_ranks_bounds(const struct ran_ranks *r);

/* Ranks with different programs, or on processors that compute differently, cannot train one
 * model: RAN_EINVAL on all. */
int ran_ranks_handshake(struct ran_ranks *r, struct ran_error *err);

#endif
