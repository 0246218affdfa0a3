/* subject.h - a model of chance and documents of invented words, to be trained and to score as the
 * programs do it. */
#ifndef RAN_BENCH_SUBJECT_H
#define RAN_BENCH_SUBJECT_H

#include "bench.h"

struct subject_shape {
        const char *name;
        const char *config;       /* what differs from the defaults, JSON */
        size_t documents, tokens; /* tokens of one; with several, lengths spread as those of news
                                     and reviews do */
};

enum { SUBJECT_RUNS = 5 };

/* Times of some runs that did the same. */
struct subject_speed {
        double rate;                /* tokens a second, median */
        double seconds;             /* that all documents take */
        double share[BENCH_SHARES]; /* of the threads' time */
        double bytes;               /* most that the process had */
        /* Of the model and the documents. */
        double tokens, parameters;
        double flops; /* of a token in the mean: products.h */
        double sgemm; /* rate of sgemm at the same products; 0: not asked for */
};

/* In a process of its own. `seconds`: of a run; of runs longer than that there are fewer. Training
 * is ran_train, step after step; scoring goes from JSON lines to logits, documents side by side and
 * each with the help of all threads. sgemm: measure that, too. */
struct subject_speed subject_measure(const struct subject_shape *shape, bool training,
                                     size_t threads, double seconds, bool sgemm);

#endif
