/* unlabelled.h - --unlabelled: texts without labels that a linear model learns from, by in-domain
 * vectors and with the probabilities that a model of the documents gives them, if folds of the
 * documents show that it helps. */
#ifndef CMD_TRAIN_RUN_UNLABELLED_H
#define CMD_TRAIN_RUN_UNLABELLED_H

#include "cmd/train/read/data.h"

struct train_problems;
struct train_session;

/* Zero-initialise but for the task. */
struct train_unlabelled {
        const struct train_task *task; /* how the texts are read */
        bool wanted;
        char **files;             /* NULL at the end; not owned */
        struct cmd_input input;   /* how they are read */
        struct train_data data;   /* its set becomes `texts` once problems are looked for */
        size_t read;              /* texts */
        char digest[65];          /* of them */
        struct ran_dataset texts; /* those that are like none before them */
        size_t like_documents, like_validation, like_texts; /* that are left out */
        struct ran_self_training self;
};

/* After the options and the models are known. Exits with 2 if it is impossible. */
void train_unlabelled_open(struct train_session *s);
/* After the documents, of whose labels the texts are. */
void train_unlabelled_read(struct train_session *s);
void train_unlabelled_find_problems(struct train_problems *problems,
                                    struct train_problems *warnings, struct train_session *s);
/* Leaves out an encoder that would be trained. */
void train_unlabelled_adapt(struct train_session *s);
/* Appends what texts there are to the job's description, training. */
void train_unlabelled_describe(const struct train_session *s, struct ran_train_job *job,
                               struct ran_buf *training);
/* Judges by folds, and gives the job what is kept; appends what was tried to its description,
 * training. Returns the exit status. */
int train_unlabelled_learn(struct train_session *s, struct ran_train_job *job,
                           struct ran_buf *training);
void train_unlabelled_release(struct train_unlabelled *u);

#endif
