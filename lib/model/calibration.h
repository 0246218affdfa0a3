/* calibration.h - prediction sets: sets of labels that contain the true one with a given coverage.
 *
 * Split conformal prediction. For validation documents, with known labels and not trained on, we
 * have the probability that the model gives the true label. If it is below x for a fraction a of
 * them, then the set of all labels at least as probable as x misses the true one for about that
 * fraction of new documents of the same kind: a new document takes each rank among the n with the
 * same chance, so for k of n + 1 documents it is below the k-th. Nothing is assumed about the
 * model.
 *
 * Of all sets with this coverage these are the smallest on average, if the probabilities are right
 * (Sadinle, Lei and Wasserman 2019). On MR, AG News and 20 Newsgroups, adaptive sets by cumulative
 * probability were 3 to 14 per cent larger with a random number for each document, and up to six
 * times as large without; a temperature fitted to the same documents made almost no difference.
 */
#ifndef RAN_MODEL_CALIBRATION_H
#define RAN_MODEL_CALIBRATION_H

#include "ran/model.h"

#include <cjson/cJSON.h>

enum { RAN_CALIBRATION_KEPT = 1024 };

/* All zero: there is no calibration. */
struct ran_calibration {
        size_t documents;
        /* (n) falling: the probability of the true label at ranks ceil((i + 1) documents / n). */
        float *p;
        size_t n; /* the lesser of documents and RAN_CALIBRATION_KEPT */
};
void ran_calibration_release(struct ran_calibration *c);
/* From the probability of the true label of each document: p from ran_alloc, which it takes and
 * sorts. */
void ran_calibration_make(struct ran_calibration *c, float *p, size_t documents);
/* The member `calibration` of the training metadata: {"documents": n, "probabilities": [...]}. */
void ran_calibration_json(const struct ran_calibration *c, struct ran_buf *out);
int ran_calibration_read(struct ran_calibration *c, const cJSON *training, struct ran_error *err);
/* Labels at least so probable, the cut, make the set: it is below the p of its rank by what
 * rounding may change. RAN_EINVAL where there is no calibration, or too few documents for this
 * coverage. */
int ran_calibration_cut(const struct ran_calibration *c, double coverage, float *cut,
                        struct ran_error *err);

#endif
