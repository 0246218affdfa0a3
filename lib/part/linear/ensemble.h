/* ensemble.h - ensemble weights of encoder and linear model, of a classifier or a tagger.
 *
 *   logits = encoder * (logits of the encoder) + linear * (logits of the linear model) + offset
 *
 * and likewise the CRF of a tagger. The two are trained separately, and the encoder soon becomes
 * overconfident. So the weights minimise the loss on validation documents: a convex problem.
 *
 * The offset is for several labels, where it is the other half of Platt's scaling (1999): the
 * margin of a label that a document does not have is -1, be it a frequent or a rare one, and no
 * scale makes that a small probability for each of a hundred labels. Else it is 0. It ends up in
 * the biases.
 */
#ifndef RAN_TRAIN_ENSEMBLE_H
#define RAN_TRAIN_ENSEMBLE_H

#include "part/crf/crf.h"
#include "ran/train.h"

struct ran_ensemble {
        double encoder, linear; /* >= 0 */
        double offset;
};

/* The weights without validation documents: about those found for small and large collections,
 * of classifiers and of taggers. */
extern const struct ran_ensemble ran_ensemble_default, ran_ensemble_default_words;

/* The weights and offset for logits encoder, linear (B, C) of the documents of d; the fewer
 * documents, the closer to `prior`. alone: of the linear model alone: encoder is 0. */
struct ran_ensemble ran_ensemble_fit(struct ran_ensemble prior, const struct ran_dataset *d,
                                     const float *encoder, const float *linear, bool alone);

/* The same for logits (n, C) of training documents that were held out: row i is document[row[i]].
 * They count as much as in training; so does loss (n), of each, or NULL. Returns its sum. */
struct ran_ensemble_rows {
        const struct ran_dataset *d;
        const size_t *document, *row;
        size_t n;
        const float *encoder; /* logits (n, C) of vectors beside the linear model; NULL: none */
        double least;         /* weight of the linear model */
};
double ran_ensemble_fit_rows(struct ran_ensemble *ensemble, float *loss,
                             const struct ran_ensemble_rows *rows, const float *linear);

/* The sum of the loss over documents of which all labels are known. */
double ran_ensemble_loss(const struct ran_ensemble *at, const struct ran_dataset *d,
                         const float *encoder, const float *linear);

/* The encoder or the linear model of a tagger: logits (words, C) of the documents of d, and its
 * crf. */
struct ran_tag_scores {
        const float *logits;
        struct ran_crf crf;
};
/* The same for taggers. Sentences with an unknown tag are ignored. */
struct ran_ensemble ran_ensemble_fit_words(struct ran_ensemble prior, const struct ran_dataset *d,
                                           const struct ran_tag_scores *encoder,
                                           const struct ran_tag_scores *linear, bool alone);

/* to (ran_crf_train_floats(C)) = the crf of the ensemble, which is returned. Without a crf in
 * either there is none, and to may be NULL. */
struct ran_crf ran_ensemble_crf(float *to, const struct ran_ensemble *ensemble,
                                const struct ran_crf *encoder, const struct ran_crf *linear,
                                size_t C);

/* x (n) times `by`. */
void ran_ensemble_scale(float *x, size_t n, double by);
/* to (n) = the ensemble of encoder and linear; to may be either. */
void ran_ensemble_add(float *to, const struct ran_ensemble *ensemble, const float *encoder,
                      const float *linear, size_t n);

#endif
