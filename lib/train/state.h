/* state.h - how far a training is: a few numbers for each of its stages (train.c).
 *
 * One list of them serves all: a checkpoint keeps each state as a tensor of doubles, the ranks
 * share them, and what a checkpoint holds is checked by the kind of each number. All that a run
 * decides is here, so that a resumed run, and each rank, goes on as the first would have.
 */
#ifndef RAN_TRAIN_STATE_H
#define RAN_TRAIN_STATE_H

#include "base/error.h"
#include "file/model.h"

/* Numbers and their kinds: FLAG 0 or 1; COUNT a whole number, at least 0; SIZE at least 0; NUMBER
 * finite; ANY no NaN; WEIGHT a factor of logits.
 *
 * linear: the fit of the linear model. */
#define RAN_STATE_LINEAR(X)                                                         \
        X(fitted, FLAG)                                                             \
        X(cost, WEIGHT)    /* C; 0: not chosen yet */                               \
        X(ratios, FLAG)    /* as chosen */                                          \
        X(affixes, SIZE)   /* r of affixes, svm.h */                                \
        X(dense, SIZE)     /* weight of the vectors of a frozen encoder */          \
        X(shrinkage, SIZE) /* λ of their covariance, discriminant.h */             \
        X(described, FLAG) /* descriptions of labels are evidence */                \
        X(weight, SIZE)    /* of the ensemble with vectors, by folds; 0: unknown */ \
        X(offset, NUMBER)

/* epochs: the training of the encoder; without one an epoch is done when all is fitted. */
#define RAN_STATE_EPOCHS(X)                                                              \
        X(epoch, COUNT)   /* done */                                                     \
        X(batch, COUNT)   /* done in this epoch */                                       \
        X(updates, COUNT) /* steps of the optimiser */                                   \
        X(decay, ANY)     /* see optimiser.h */                                          \
        X(loss, ANY)      /* smoothed */                                                 \
        X(loss_weight, ANY)                                                              \
        X(refit, FLAG)       /* on all documents */                                      \
        X(limit_from, COUNT) /* --minutes: the step after which `limit` was set: */      \
        X(limit, COUNT)      /* steps that the learning rate goes by; 0: none */         \
        X(last, COUNT)       /* the step after which time ended the training; 0: none */ \
        X(aborted, FLAG)     /* time ended the refit */                                  \
        X(spent, SIZE)       /* seconds of this run and those it resumed, with --minutes */

/* best: the best epoch by the validation documents. */
#define RAN_STATE_BEST(X)                                           \
        X(epoch, COUNT) /* from 1; 0: none */                       \
        X(metric, ANY)  /* -infinity before the first */            \
        X(low, NUMBER)  /* its interval */                          \
        X(high, NUMBER)                                             \
        X(loss, NUMBER)                                             \
        X(stale, COUNT)      /* epochs since */                     \
        X(encoder, WEIGHT)   /* of the encoder in its ensemble, */  \
        X(linear, WEIGHT)    /* of the linear model, */             \
        X(offset, NUMBER)    /* and the offset of several labels */ \
        X(top, NUMBER)       /* the highest metric of any epoch */  \
        X(gain, NUMBER)      /* over the linear model: gain.h; */   \
        X(error, NUMBER)     /* its standard error */               \
        X(threshold, SIZE)   /* several labels: tuned, else 0.5 */  \
        X(calibrated, COUNT) /* one label: documents that the calibration is from */

/* decision: whether there is an encoder beside the linear model (gain.h). */
#define RAN_STATE_DECISION(X)                                                         \
        X(why, COUNT)      /* RAN_ENCODER_... */                                      \
        X(epoch, COUNT)    /* when it was decided; 0: before the first */             \
        X(documents, SIZE) /* that were compared, */                                  \
        X(errors, SIZE)    /* and those on which the linear model errs */             \
        X(gain, NUMBER)    /* of the epoch with the most standard errors so far, */   \
        X(error, NUMBER)   /* its standard error; 0 and 0: none was compared yet */   \
        X(base, NUMBER)    /* mean loss of the linear model on them */                \
        X(metric, NUMBER)  /* of the linear model alone, its interval and ensemble */ \
        X(low, NUMBER)                                                                \
        X(high, NUMBER)                                                               \
        X(loss, NUMBER)                                                               \
        X(weight, SIZE)                                                               \
        X(weight_offset, NUMBER)

/* Each state: its member, the name of its tensor, its numbers. */
#define RAN_STATES(S)                                 \
        S(linear, "train.linear", RAN_STATE_LINEAR)   \
        S(epochs, "train.progress", RAN_STATE_EPOCHS) \
        S(best, "train.validation", RAN_STATE_BEST)   \
        S(decision, "train.decision", RAN_STATE_DECISION)

#define X(field, kind) double field;
#define S(member, name, list)       \
        struct ran_state_##member { \
                list(X)             \
        };
RAN_STATES(S)
#undef S
#undef X

struct ran_states {
#define S(member, name, list) struct ran_state_##member member;
        RAN_STATES(S)
#undef S
};

/* A state as a tensor of a checkpoint; how many there are. */
enum { RAN_STATE_TENSORS = 4 };
void ran_states_tensors(struct ran_states *s, struct ran_extra x[RAN_STATE_TENSORS]);
/* Whether each number is of its kind, and a decision one that there is. */
bool ran_states_are_sane(const struct ran_states *s);

#endif
