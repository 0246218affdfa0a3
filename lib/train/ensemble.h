/* ensemble.h - how much the two paths of a classifier count (model/linear-model.h), or of a tagger.
 *
 *   logits = encoder * (those of the encoder) + linear * (those of the linear model)
 *
 * and of a tagger the scores of neighbouring tags, likewise.
 * The paths learn apart from each other, and the encoder is soon surer of itself than it is right.
 * What either is worth is asked of documents that it has not learned from: the shares with the
 * least loss there, a problem of two numbers that is convex.
 */
#ifndef RAN_TRAIN_ENSEMBLE_H
#define RAN_TRAIN_ENSEMBLE_H

#include "model/crf.h"

struct ran_ensemble {
        double encoder, linear; /* >= 0 */
};

/* Where nobody can be asked: about what small and large collections came out with, of classifiers
 * and of taggers. */
extern const struct ran_ensemble ran_ensemble_default, ran_ensemble_default_words;

/* The shares for logits encoder, linear (B, C) of the documents of d, the fewer of them the nearer
 * to what is prior. */
int ran_ensemble_fit(struct ran_ensemble *ensemble, struct ran_ensemble prior,
                     const struct ran_dataset *d, const float *encoder, const float *linear,
                     struct ran_error *err);

/* *loss: the sum over documents of which all labels are known. */
int ran_ensemble_loss(double *loss, const struct ran_ensemble *at, const struct ran_dataset *d,
                      const float *encoder, const float *linear, struct ran_error *err);

/* Keeps the ensemble, unless there are fewer than 100 documents, but some, and they do not show
 * that the encoder helps: by three standard errors of what each of them gains. Then it becomes
 * the best one without that path. For the epoch that is the best one in the end: a path may learn
 * for some before it helps. */
int ran_ensemble_prove(struct ran_ensemble *ensemble, struct ran_ensemble prior,
                       const struct ran_dataset *d, const float *encoder, const float *linear,
                       struct ran_error *err);

/* One path of a tagger: logits (words, C) of the documents of d, and its crf. */
struct ran_tag_scores {
        const float *logits;
        struct ran_crf crf;
};
/* The same for taggers. Sentences of which a tag is unknown are not asked. */
int ran_ensemble_fit_words(struct ran_ensemble *ensemble, struct ran_ensemble prior,
                           const struct ran_dataset *d, const struct ran_tag_scores *encoder,
                           const struct ran_tag_scores *linear, struct ran_error *err);

/* to (ran_crf_train_floats(C)) = the crf of both, which is returned; where one of them has none
 * there is none, and to may be NULL. */
struct ran_crf ran_ensemble_crf(float *to, const struct ran_ensemble *ensemble,
                                const struct ran_crf *encoder, const struct ran_crf *linear,
                                size_t C);

/* to (n) = the ensemble of encoder and linear; may be either of them. */
void ran_ensemble_add(float *to, const struct ran_ensemble *ensemble, const float *encoder,
                      const float *linear, size_t n);

#endif
