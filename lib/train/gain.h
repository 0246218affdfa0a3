/* gain.h - what an encoder of a classifier or tagger gains over the linear model: it is trained
 * only as long as it may still improve the ensemble, and kept only if it did.
 *
 * The linear model is there first. Each epoch's ensemble is compared with it, document by document:
 * the gain is the mean difference of their losses on the validation documents, and its standard
 * error says how much of that may be chance. So a decision is a function of the data, never of the
 * clock; it is kept in the checkpoint. `--no-early-stop` leaves out the first two rules.
 *
 *   before the first epoch: the linear model errs on too few documents for any gain to show
 *   after epoch e: the gain is more than 1 / e standard errors short of a proof
 *   at the end: the best epoch's gain is no proof: the encoder is dropped
 *
 * An encoder that others have trained (part.h: imported) has shown what it knows: the first rule is
 * not for it, and few documents ask for no more than many.
 *
 * These functions know of numbers only; stage-linear.c and judge.c ask them.
 */
#ifndef RAN_TRAIN_GAIN_H
#define RAN_TRAIN_GAIN_H

#include "ran/train.h"

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
/* Whether a part of the first epoch, judged by a part of the documents, leaves that open: the gain
 * is above its standard error, and a fiftieth of what it has to be in the end. Weights that hardly
 * moved make gains of a hundred millionth, which all have one sign. */
bool ran_gain_may_begin(const struct ran_gain *g);
/* Whether it may still become so after so many looks, from 1: after the first one standard error
 * may be missing (of few two), after the second half of it, and so on; and half of what it has to
 * be worth, until the second look finds no better metric; see share/experiments. */
bool ran_gain_may_prove(const struct ran_gain *g, double looks);
/* Whether so many documents with an error leave an encoder room to prove itself. */
bool ran_gain_has_room(size_t errors);

#endif
