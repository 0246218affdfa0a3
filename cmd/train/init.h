/* init.h - what a training begins with: another model, or word vectors. */
#ifndef CMD_TRAIN_INIT_H
#define CMD_TRAIN_INIT_H

#include "ran.h"

struct train_init_options {
        char *init, *vectors; /* files, or NULL */
        size_t vector_words;  /* that a vocabulary has, too */
};

/* Zero-initialise. */
struct train_init {
        const struct train_init_options *options;
        struct ran_model *init;
        struct ran_vectors *file;
        struct ran_embedding embedding; /* of the file, once it is read */
};
/* Opens the files and adapts the configuration to them, before any data are read: of a model the
 * encoder's settings, of vectors their width. Dies where an option contradicts them. */
void train_init_open(struct train_init *s, const struct train_init_options *options,
                     struct ran_config *config);
/* Reads the vectors, for a vocabulary that is known now (NULL: ids only, which is refused), hands
 * over what the training begins with, and says what that is. The job is complete otherwise. */
void train_init_job(struct train_init *s, struct ran_train_job *job);
void train_init_release(struct train_init *s);

#endif
