/* texts.h - --pretrain: the texts that an encoder learns from before it learns from labels: those
 * of the training documents, but for the ones held out, and those of other files, whose records
 * need no labels. */
#ifndef CMD_TRAIN_TEXTS_H
#define CMD_TRAIN_TEXTS_H

#include "cmd/train/data.h"

struct train_document;
struct train_problems;
struct train_reader;
struct train_session;

/* Zero-initialise. */
struct train_texts {
        bool wanted;             /* there is a first phase */
        char **files;            /* of --pretrain, NULL at the end; not owned strings */
        struct train_data train; /* own texts first, then those of the files; counts are of these */
        struct ran_dataset own_dev; /* of --dev */
        size_t own;                 /* documents of `train` that are own texts */
        /* Of train_texts_job: */
        struct ran_dataset dev; /* validation texts: some of those held out, or of --dev */
        bool *held_out;
        struct ran_train_texts job;
};

/* After the options and the models are known: whether there is a first phase. Exits with 2 if it
 * is impossible. */
void train_texts_open(struct train_session *s);
/* Begins a set of texts; data.c adds the text of each document that it reads to it. */
void train_texts_begin(struct ran_dataset *texts, size_t keep);
/* When all are there. */
void train_texts_end(struct ran_dataset *texts);
int train_texts_add(struct ran_dataset *texts, const struct train_reader *r,
                    const struct train_document *d, struct ran_error *err);
/* Counts the words of the files for a vocabulary. They are read again after it is known, so they
 * cannot be pipes: exits with 2. */
void train_texts_count(const struct train_source *source, char **files,
                       struct ran_counter *counter);
/* Reads the files, behind own texts. */
void train_texts_read(struct train_session *s);
void train_texts_find_problems(struct train_problems *p, const struct train_session *s);
/* Completes the texts, once it is known which documents are held out, and gives them to the job. */
void train_texts_job(struct train_session *s, struct ran_train_job *job);
void train_texts_release(struct train_texts *t);

#endif
