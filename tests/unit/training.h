/* training.h - a training run of a moment, whose every report is kept and that can be stopped. */
#ifndef RAN_TESTS_UNIT_TRAINING_H
#define RAN_TESTS_UNIT_TRAINING_H

#include "corpus.h"

struct training {
        struct ran_config c;
        struct ran_train_settings s;
        struct ran_dataset train, dev;
        char *output, *checkpoint;
        struct ran_train_job job;

        struct ran_train_report report[1000]; /* of the last run */
        size_t reports, stop_at;              /* stops at this report, from 1; 0: never */
        bool die;                             /* as if killed, instead of stopping */
        bool touched;                         /* the output was there before the end */
};
/* Documents of up to `longest` tokens, 40 to train on and 15 to choose by; 3 epochs of 4 steps,
 * dropout on. The files are named after `name`. Settings may be changed before each run. */
void training_init(struct training *t, const char *name, size_t longest, bool multilabel);
/* The same for a language model: its texts are read in chunks of so many windows of 8 tokens, or
 * whole. */
void training_init_texts(struct training *t, const char *name, size_t longest,
                         enum corpus_kind kind, size_t bptt);
void training_release(struct training *t);
/* ran_train, with a pool of so many threads. */
int training_run(struct training *t, size_t threads, struct ran_error *err);
/* How many reports of that kind the last run made. */
size_t training_count(const struct training *t, int event);

bool same_file(const char *a, const char *b);
bool exists(const char *path);

#endif
