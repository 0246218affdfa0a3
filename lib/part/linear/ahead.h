/* ahead.h - the linear model of a refit, learned beside the first.
 *
 * Two labels are mirror images, so that a fit has one problem, which one thread solves. Another
 * thread has time for the fit on all documents: of the first one it needs no more than what
 * cross-validation chose. The refit then finds its weights, the same to the bit.
 *
 *   thread 1    fit without the held-out documents    validation    refit: there already
 *   thread 2    rows and fit of all documents
 */
#ifndef RAN_TRAIN_AHEAD_H
#define RAN_TRAIN_AHEAD_H

#include "part/linear/svm.h"
#include "train/trainer.h"

/* Whether the refit of this training is certain to come, and has nothing to wait for. */
bool ran_ahead_pays(const struct ran_train_job *job, size_t C);
/* Both at once: as ran_svm_fit for svm and t->linear, with reports to the caller; keeps the other
 * in t->ahead. Where memory does not suffice for that, it keeps none. */
int ran_ahead_fit(struct ran_trainer *t, const struct ran_svm *svm, double cost,
                  struct ran_error *err);
/* In the refit: takes the weights that were kept. false: there are none. */
bool ran_ahead_take(struct ran_trainer *t);
void ran_ahead_release(struct ran_trainer *t);

#endif
