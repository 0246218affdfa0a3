/* self-judge.h - which trial of a self-training is kept, by its probabilities out of fold. */
#ifndef RAN_TRAIN_SELF_JUDGE_H
#define RAN_TRAIN_SELF_JUDGE_H

#include "ran/train.h"

struct ran_self_judge {
        const struct ran_dataset *d; /* documents with one label each */
        const uint32_t *of;          /* (B) the fold of each: those below folds are judged */
        size_t folds;
        bool by_label;             /* all labels weigh the same in the loss; else all documents */
        double *weight;            /* (B) of a document in the loss */
        float *p[RAN_SELF_TRIALS]; /* (B, C) of each trial, out of fold */
        double *loss[RAN_SELF_TRIALS]; /* (B) of the documents, at the temperature that suits it */
        double power[RAN_SELF_TRIALS]; /* that is 1 / power */
        double *log;                   /* (B, C) ln p of the trial at hand */
};
/* After the first members are set. _release is fine after a failure. */
int ran_self_judge_init(struct ran_self_judge *j, struct ran_error *err);
void ran_self_judge_release(struct ran_self_judge *j);
/* Fills in what trial i of x achieves with p[i]. It is kept in place of what is, if it has less
 * loss than that, gains on the first trial in loss or errors, is not surely worse in the other, and
 * finds each label that the first finds. Trial 0 comes first, and is kept as long as nothing else
 * is. */
int ran_self_judge_trial(struct ran_self_judge *j, struct ran_self_training *x, size_t i,
                         struct ran_error *err);

#endif
