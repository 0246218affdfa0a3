/* calibration.h - sets of labels that hold the right one as often as is asked for.
 *
 * Split conformal prediction: documents that were not trained on, whose labels are known, say how
 * probable the model finds the right label. If it was below x for a share a of them, then the set
 * of all labels that are at least as probable as x misses the right one for about that share of new
 * documents of the same kind: for k of n + 1 documents, k being the rank that the new one takes
 * among the n with the same chance for all ranks. Nothing is assumed about the model.
 *
 * Of all sets of this coverage these are the smallest in the mean, if the probabilities are right
 * (Sadinle, Lei and Wasserman 2019). On MR, AG News and 20 Newsgroups adaptive sets, by cumulative
 * probability, came out 3 to 14 per cent larger with a random number for each document, and up to
 * six times as large without; a temperature fitted to the same documents changed next to nothing.
 */
#ifndef RAN_MODEL_CALIBRATION_H
#define RAN_MODEL_CALIBRATION_H

#include "ran/model.h"

#include <cjson/cJSON.h>

enum { RAN_CALIBRATION_KEPT = 1024 };

/* Zero-initialise: there is none. */
struct ran_calibration {
        size_t documents;
        /* (n) falling: the probability of the right label at ranks ceil((i + 1) documents / n). */
        float *p;
        size_t n; /* the lesser of documents and RAN_CALIBRATION_KEPT */
};
void ran_calibration_release(struct ran_calibration *c);
/* From the probability of its right label for each document, which it takes and sorts; p from
 * ran_alloc. */
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
