/* gain.h - what an encoder gains over the linear model, and what was decided about it: the rules of
 * stop.h, which know of numbers only. */
#ifndef RAN_TRAIN_GAIN_H
#define RAN_TRAIN_GAIN_H

#include "ran/train.h"

/* Numbers only, kept in a checkpoint as doubles in this order. */
#define RAN_DECISION(X)                                                                     \
        X(why)       /* RAN_ENCODER_... */                                                  \
        X(epoch)     /* when it was decided; 0: before the first */                         \
        X(documents) /* that were compared, */                                              \
        X(errors)    /* and those on which the linear model errs */                         \
        X(gain)      /* of the epoch with the most standard errors so far, */               \
        X(error)     /* its standard error; 0 and 0: none was compared yet */               \
        X(best_gain) /* of the best epoch by --metric */                                    \
        X(best_error)                                                                       \
        X(base)      /* mean loss of the linear model on them */                            \
        X(best_loss) /* validation loss of the best epoch */                                \
        X(top)       /* the highest metric of any epoch */                                  \
        X(metric)    /* of the linear model alone, its interval and ensemble */             \
        X(low)                                                                              \
        X(high)                                                                             \
        X(loss)                                                                             \
        X(weight)                                                                           \
        X(weight_offset)                                                                    \
        X(offset)   /* several labels: of the ensemble whose weights are in ran_progress */ \
        X(best_low) /* interval of the metric of the best epoch */                          \
        X(best_high)                                                                        \
        X(limit_from) /* --minutes: the step after which `limit` was set: */                \
        X(limit)      /* steps that the learning rate goes by; 0: none is set */            \
        X(last)       /* the step after which time ended the training; 0: none */           \
        X(aborted)    /* 1: time ended the refit of the encoder */                          \
        X(spent)      /* seconds of this run and those it resumed, with --minutes */

struct ran_decision {
#define X(field) double field;
        RAN_DECISION(X)
#undef X
};
bool ran_decision_is_sane(const struct ran_decision *d);

/* Fewer labels or tags than that ask for more, as no refit can undo a choice by chance. */
enum { RAN_GAIN_FEW = 250 };

/* How much lower the losses `now` (n) are than `before` (n), on the documents where both are
 * numbers. */
struct ran_gain {
        size_t n;
        double mean, error; /* its standard error */
        double base;        /* mean of `before` */
        double worth;       /* share of it that an encoder has to gain, */
        bool better;        /* if the metric is better, too; else twice as much */
        bool few;           /* labels or tags to judge by: fewer than 250 */
};
struct ran_gain ran_gain_of(const double *before, const double *now, size_t n);
/* Whether it is more than chance and worth its time: above its standard error, and above three
 * for fewer than 250 labels or tags, because of many epochs some gain two by chance; and above the
 * share `worth` of the loss, or twice that. Always, if nothing was compared. */
bool ran_gain_is_proven(const struct ran_gain *g);
/* Whether it may still become so after so many looks, from 1: after the first one standard error
 * may be missing (of few two), after the second half of it, and so on; and half of what it has to
 * be worth, until the second look finds no better metric; see share/experiments. */
bool ran_gain_may_prove(const struct ran_gain *g, double looks);
/* Whether so many documents with an error leave an encoder room to prove itself. */
bool ran_gain_has_room(size_t errors);

#endif
