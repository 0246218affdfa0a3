/* init.h - initial weights from another model, or from word vectors. */
#ifndef CMD_TRAIN_RUN_INIT_H
#define CMD_TRAIN_RUN_INIT_H

#include "ran.h"

struct train_init_options {
        char *model, *vectors; /* files, or NULL; vectors may be a folder */
        size_t vector_words;   /* words of the vectors that are also in the learned vocabulary */
        size_t add_words;      /* how often a word occurs that extends the model's vocabulary */
};

/* Zero-initialise. */
struct train_init {
        const struct train_init_options *options;
        struct ran_model *model;
        struct ran_tokenizer *extended; /* the model's vocabulary and further words; or NULL */
        struct ran_vectors *file;
        struct ran_embedding embedding;  /* of the file, once it is read */
        struct ran_vector_folder folder; /* if the vectors are one: it has its own vocabulary */
};
/* Nothing tuned has two names, --frozen and --tune-layers 0, and each task its own way: a
 * classifier takes the vectors of documents as features of its linear model, a tagger trains a head
 * on the rows of words. Exits if the options contradict each other. */
void train_init_tune_nothing(struct ran_config *config, struct ran_train_settings *settings);
/* Opens the files and adapts the configuration to them, before any data are read: the encoder's
 * settings come from the model, the width from the vectors. Exits if an option contradicts them.
 */
void train_init_open(struct train_init *s, const struct train_init_options *options,
                     struct ran_config *config);
/* The same for a base model that no option named: a classifier takes its static vectors. */
void train_init_base(struct train_init *s, const struct train_init_options *options,
                     struct ran_config *config);
/* Reads the vectors for the now known vocabulary (NULL: ids only, which is refused), sets the
 * job's initial weights, and reports them. The job is complete otherwise. */
void train_init_job(struct train_init *s, struct ran_train_job *job);
/* How often a word must occur in the documents to extend the vocabulary of the model; 0: no word
 * does. */
size_t train_init_adds(const struct train_init *s, const struct ran_config *config);
/* Extends it by such words. */
void train_init_extend(struct train_init *s, const struct ran_config *config,
                       const struct ran_counter *words);
/* The vocabulary that belongs to the vectors, or NULL; with a model its own, extended or not. */
const struct ran_tokenizer *train_init_vocabulary(const struct train_init *s);
/* Whether --vectors names a folder rather than a file. */
bool train_init_is_folder(const struct train_init_options *options);
/* Whether others trained the encoder that the configuration has of the initial model. */
bool train_init_is_pretrained(const struct train_init *s, const struct ran_config *config);
void train_init_release(struct train_init *s);

#endif
