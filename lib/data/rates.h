/* rates.h - results on a data set, from the probabilities of its labels. */
#ifndef RAN_DATA_RATES_H
#define RAN_DATA_RATES_H

#include "eval/calibration.h"
#include "ran/train.h"

/* Results; one of them chooses the best epoch. */
struct ran_rates {
        double accuracy, micro_f1, macro_f1, loss;
        double bleu, chrf;     /* 0 to 1; only if one of them is the metric */
        double encoder_loss;   /* of the encoder alone, if there is a linear model beside it */
        size_t outputs, wrong; /* labels or tags; documents of which one is wrong */
        double hits, errors;   /* of micro_f1: true positives; false ones and missed ones */
        bool single;           /* one label a document: micro_f1 is the accuracy */
};
/* The value of the metric RAN_METRIC_...: larger is better. */
double ran_rates_metric(const struct ran_rates *r, int metric);
/* Its 95 % interval; low is above high where there is none, for macro F1 and the loss. */
struct ran_interval ran_rates_interval(const struct ran_rates *r, int metric);

/* Adds all documents of d to e. thresholds (C) or NULL. */
void ran_rates_classify(struct ran_eval *e, const struct ran_dataset *d, const float *probabilities,
                        const float *thresholds);
/* losses (B): -log of the probability of the labels of each document, with several labels the mean
 * over classes; NaN where a label is unknown. Returns their mean over the others. */
double ran_rates_losses(const struct ran_dataset *d, const float *probabilities, double *losses);
/* The threshold, one for all classes, with the best micro-F1: of 0.05, 0.10, ... 0.95; of equal
 * ones the nearest to 0.5. */
float ran_rates_best_threshold(const struct ran_dataset *d, const float *probabilities);
/* One label a document: calibration of prediction sets. Documents with guessed labels are
 * ignored; if all are, c stays empty. */
void ran_rates_calibrate(struct ran_calibration *c, const struct ran_dataset *d,
                         const float *probabilities);

#endif
