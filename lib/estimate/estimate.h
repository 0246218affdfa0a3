/* estimate.h - the memory of a training run, from its sizes and its data. */
#ifndef RAN_TRAIN_ESTIMATE_H
#define RAN_TRAIN_ESTIMATE_H

#include "train/trainer.h"

/* What a run is, as far as its memory depends on it. */
struct ran_run_sizes {
        const struct ran_train_job *job;
        size_t V, C;             /* as in struct ran_trainer */
        size_t block;            /* floats of all tensors but the tables */
        struct ran_table table;  /* its shape */
        const size_t *document;  /* (documents) to train on before a refit */
        size_t documents, steps; /* steps: of all epochs before a refit */
};

/* estimate.c: the parameters and the arithmetic of a job, and no more. */
int ran_estimate_size(const struct ran_train_job *job, struct ran_train_estimate *e,
                      struct ran_error *err);
/* Outputs of L tokens of training or development data, at most. Masked words are drawn:
 * there may be some standard deviations more than the mean. */
size_t ran_run_outputs(const struct ran_train_job *job, const struct ran_dataset *d, size_t L);
/* memory.c: bytes of a run. Reads the data. */
struct ran_memory_estimate {
        double most;   /* that it allocates at one time */
        double always; /* a part of that: what stays until it ends, or until a refit */
        double file;   /* in temporary files */
};
int ran_estimate_memory(const struct ran_run_sizes *k, struct ran_memory_estimate *e,
                        struct ran_error *err);
/* steps.c: the same of the scratch of shards and of the sums of their gradients, and the
 * number of steps. */
struct ran_shards_estimate {
        double brief;    /* scratch of all threads for short shards */
        double longer;   /* of long chunks that are at work at the same time */
        double gradient; /* sums of gradients */
};
int ran_estimate_shards(const struct ran_run_sizes *k, struct ran_shards_estimate *e,
                        struct ran_error *err);
/* linear.c: fitting a linear model, its features included, which stay until the refit. */
struct ran_linear_estimate {
        double fit, features; /* features: a part of fit */
        double file;          /* more of them, in temporary files */
        double write;         /* the rows that a file has, while it is written */
};
int ran_estimate_linear(const struct ran_run_sizes *k, struct ran_linear_estimate *e,
                        struct ran_error *err);

#endif
