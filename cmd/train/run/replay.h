/* replay.h - trains a model again with the settings that it records, and compares. */
#ifndef CMD_TRAIN_RUN_REPLAY_H
#define CMD_TRAIN_RUN_REPLAY_H

#include "ran.h"

/* Zero-initialise. */
struct train_replay {
        const char *path;
        struct ran_model *model; /* NULL: nothing is to be replayed */
        struct ran_record said;  /* its record: the metadata `training` */
        struct ran_config
                config;      /* as it was trained: with an encoder that was tried and dropped */
        bool learned;        /* its vocabulary, from its training data */
        int fd;              /* the result in memory, without -o; -1: none */
        char output[32];     /* its name */
        struct ran_buf init; /* the path of the model that it was initialised from, if found */
};

/* Opens the model, which must record its training, by this version and with kernels that run
 * here: exits with 3 if it cannot be read, with 4 if its training cannot be repeated. */
void train_replay_open(struct train_replay *r, const char *path, int task);
/* Sets all but local fields to the recorded values, and marks them as set. all: the model must
 * record each; otherwise the others keep their values. */
void train_replay_restore(const struct train_replay *r, const struct ran_field *fields, void *base,
                          bool all);
/* Whether a member is present. */
bool train_replay_has(const struct train_replay *r, const char *member);
/* The model that it was initialised from, where --init does not name it: `base`, or the one of its
 * digest among those that have a name, or the file RAN_BASE. NULL: it was from none. Exits with 2
 * if none is found. */
char *train_replay_find_init(struct train_replay *r, const char *base);
/* Exits with 2 unless exactly the files of the training are given, with 4 if `init` is not its
 * initial model. */
void train_replay_check_files(const struct train_replay *r, const char *dev, const char *init,
                              const char *vectors);
/* The job ends where time ended the training of the model; without an output its result lies in
 * memory. */
void train_replay_job(struct train_replay *r, struct ran_train_job *job);

/* Exits with 4 if the job differs from the model's description (because of its data, for
 * example), before anything is computed. */
void train_replay_check(const struct train_replay *r, const struct ran_train_job *job);
/* Compares the result with the model. Returns the exit status. */
int train_replay_compare(const struct train_replay *r, const char *output);
void train_replay_release(struct train_replay *r);

#endif
