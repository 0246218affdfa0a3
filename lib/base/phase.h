/* phase.h - what a thread is at, for who measures where time goes (tests/bench): a phase is set
 * where it begins and lasts until the next; ran_parallel hands it to the threads that help. Nothing
 * in the library reads it, and no clock is asked. */
#ifndef RAN_BASE_PHASE_H
#define RAN_BASE_PHASE_H

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

extern _Thread_local volatile int ran_phase; /* a signal may look: pool.c */

#endif
