/* calibration.h - prediction sets: sets of labels that contain the true one with a given coverage.
 *
 * Split conformal prediction. Validation documents have known labels and the model is not trained
 * on them: we know the probability that it gives their true label. If it is below x for a fraction
 * a of them, then the set of all labels at least as probable as x misses the true one for about
 * that fraction of new documents of the same kind: a new document takes each rank among the n with
 * the same chance, so for k of n + 1 documents it is below the k-th. Nothing is assumed about the
 * model.
 *
 * Of all sets with this coverage these are the smallest on average, if the probabilities are right
 * (Sadinle, Lei and Wasserman 2019). On MR, AG News and 20 Newsgroups, adaptive sets by cumulative
 * probability were 3 to 14 per cent larger with a random number for each document, and up to six
 * times as large without; a temperature fitted to the same documents made almost no difference.
 */
#ifndef RAN_MODEL_CALIBRATION_H
#define RAN_MODEL_CALIBRATION_H

#include "ran/base.h"

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
/* p: the probability of the true label of each document, from ran_alloc. Takes p over and sorts
 * it. */
void ran_calibration_make(struct ran_calibration *c, float *p, size_t documents);
/* The member `calibration` of the training metadata: {"documents": n, "probabilities": [...]}. */
void ran_calibration_json(const struct ran_calibration *c, struct ran_buf *out);
int ran_calibration_read(struct ran_calibration *c, const cJSON *training, struct ran_error *err);
/* The cut: labels at least this probable make the set. It lies below the p of its rank by the
 * rounding errors to expect. RAN_EINVAL without a calibration, or with too few documents for
 * this coverage. */
int ran_calibration_cut(const struct ran_calibration *c, double coverage, float *cut,
                        struct ran_error *err);
/* The coverage of new documents that 19 of 20 calibrations with as many documents reach; 0 where
 * there is no cut. */
double ran_calibration_floor(const struct ran_calibration *c, double coverage);

#endif
