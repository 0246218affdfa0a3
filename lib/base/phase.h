/* phase.h - what each thread is at: ran_parallel passes it to the threads that help.
 *
 * The phase is for profiles (tests/bench). It lasts until the next one is set; the library only
 * sets it, and reads no clock. */
#ifndef RAN_BASE_PHASE_H
#define RAN_BASE_PHASE_H

#include <stdbool.h>

/* X(name, in words) */
#define RAN_PHASES(X)                                                              \
        X(REST, "rest")                                                            \
        X(READING, "reading") /* a line, its members, their text */                \
        X(TOKENISING, "tokenising")                                                \
        X(EMBEDDING, "embedding")     /* and the gradient of its rows */           \
        X(PROJECTIONS, "projections") /* with the norms and gates of these rows */ \
        X(SCAN, "scan")               /* of the cells */                           \
        X(ATTENTION, "attention")                                                  \
        X(REVIEW, "review")                                                        \
        X(FEED, "feed-forward")                                                    \
        X(HEAD, "head")           /* pooling, logits, loss */                      \
        X(OPTIMISER, "optimiser") /* and the sum of gradients */

enum ran_phase {
#define X(name, words) RAN_PHASE_##name,
        RAN_PHASES(X)
#undef X
                RAN_PHASE_COUNT
};

extern _Thread_local volatile int ran_phase; /* a signal handler may read it */

/* Whether floats are computed as every processor does (math/simd.h). Whoever sets it puts back what
 * it was. */
extern _Thread_local bool ran_portable;

#endif
