/* texts.h - --pretrain: the texts that an encoder learns from before it learns from labels: those
 * of the training documents, but for the ones held out, and those of other files, whose records
 * need no labels. */
#ifndef CMD_TRAIN_RUN_TEXTS_H
#define CMD_TRAIN_RUN_TEXTS_H

#include "cmd/train/read/text-set.h"

struct train_problems;
struct train_session;

/* Zero-initialise. */
struct train_texts {
        bool wanted;             /* there is a first phase */
        char **files;            /* of --pretrain, NULL at the end; not owned */
        struct cmd_input input;  /* how they are read */
        struct train_data train; /* own texts first, then those of the files; counts are of these */
        struct ran_dataset own_dev; /* of --dev */
        size_t own;                 /* documents of `train` that are own texts */
        /* train_texts_job sets these: */
        struct ran_dataset dev; /* validation texts: some of those held out, or of --dev */
        bool *held_out;
        struct ran_train_texts job;
};

/* After the options and the models are known: whether there is a first phase. Exits with 2 if it
 * is impossible. */
void train_texts_open(struct train_session *s);
/* Reads the files, behind own texts. */
void train_texts_read(struct train_session *s);
void train_texts_find_problems(struct train_problems *p, const struct train_session *s);
/* Completes the texts, once it is known which documents are held out, and gives them to the job. */
void train_texts_job(struct train_session *s, struct ran_train_job *job);
void train_texts_release(struct train_texts *t);

#endif
