/* faults.h - what the preload library and the programs that use it agree on.
 *
 * The library, in LD_PRELOAD, counts the calls below that a program makes, and makes some of them
 * fail. The environment says which:
 *
 *     FAULTS_COUNTS=FILE   a file of sizeof(struct faults) that it shares; without it, nothing is
 *                          done
 *     FAULTS_CALL=NAME     the call that fails, or "memory": any that allocates
 *     FAULTS_AT=N          the N-th time it is made, from 1; each kind of "memory" has no count of
 *                          its own
 *     FAULTS_ERRNO=E       with this errno; 0: a read or write that is short, of half the bytes
 *     FAULTS_ON=1          and each time after that
 *     FAULTS_NAMED=1       besides, there are no files without a name, as on NFS
 *     FAULTS_PLACES=1      notes which calls came from where, too
 *
 * Calls of the C library into itself are not seen, but for those that allocate; those of OpenBLAS,
 * and of threads that the program did not start, are let be: OpenBLAS ends the program when it
 * cannot get memory, and that is not ours to mend. */
#ifndef RAN_TESTS_FAULTS_H
#define RAN_TESTS_FAULTS_H

/* Memory first. */
#define FAULTS_CALLS(X)    \
        X(malloc)          \
        X(calloc)          \
        X(realloc)         \
        X(posix_memalign)  \
        X(aligned_alloc)   \
        X(read)            \
        X(pread)           \
        X(write)           \
        X(open)            \
        X(fopen)           \
        X(close)           \
        X(rename)          \
        X(linkat)          \
        X(fsync)           \
        X(fstat)           \
        X(fchmod)          \
        X(mmap)            \
        X(ftruncate)       \
        X(posix_fallocate) \
        X(mkostemp)        \
        X(pthread_create)

enum faults_call {
#define X(call) FAULTS_##call,
        FAULTS_CALLS(X)
#undef X
                FAULTS_KINDS,
        FAULTS_MEMORY = FAULTS_KINDS, /* all that allocate */
        FAULTS_COUNTED
};

/* A chain of calls that ends in one of a kind, known by the sum of its addresses; which of that
 * kind's calls were the first and the last to come from there. */
struct faults_place {
        unsigned long chain, first, last;
        enum faults_call call;
};

enum { FAULTS_PLACES = 4096 };

struct faults {
        unsigned long count[FAULTS_COUNTED]; /* calls made */
        unsigned long done;                  /* faults injected */
        unsigned long places;
        struct faults_place place[FAULTS_PLACES];
};

#endif
