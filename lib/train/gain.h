/* gain.h - what an encoder gains over the linear model, and what was decided about it: the rules of
 * stop.h, which know of numbers only. */
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
/* Whether it may still become so after so many looks, from 1: after the first one standard error
 * may be missing (of few two), after the second half of it, and so on; and half of what it has to
 * be worth, until the second look finds no better metric; see share/experiments. */
bool ran_gain_may_prove(const struct ran_gain *g, double looks);
/* Whether so many documents with an error leave an encoder room to prove itself. */
bool ran_gain_has_room(size_t errors);

#endif
