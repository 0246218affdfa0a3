/* evaluate.h - results on a dataset under given weights. With several ranks, each scores some of
 * the documents; rank 0 gathers the scores, and only its results are complete. */
#ifndef RAN_TRAIN_EVALUATE_H
#define RAN_TRAIN_EVALUATE_H

#include "eval/calibration.h"
#include "part/crf/crf.h"
#include "nn/params.h"
#include "infer/score.h"
#include "ranks/ranks.h"

#include <pthread.h>
#include <stdatomic.h>

/* The arguments of `score` of the task (train/task.h), which runs for documents in any order,
 * with the thread's state, and fills a document's part of encoder and linear, or of loss. */
struct ran_sweep {
        const struct ran_config *c;
        const struct ran_params *p;
        size_t C;
        const struct ran_dataset *d;
        struct ran_pool *pool;
        struct ran_ranks *ranks;
        float *encoder, *linear; /* (B, C), or (words, C) of a tagger; linear may be NULL */
        double *loss;            /* (B) of language models */
        uint32_t mask;           /* mlm: the subword [MASK] */
        atomic_size_t next;
        size_t end; /* documents [next, end) remain for this rank */
        pthread_mutex_t lock;
        struct ran_error err;
};

/* Logits (B, C) of all documents, or (words, C) of all their words, computed as in ran-classify
 * and ran-tag: of the encoder and, unless `linear` is NULL, of the linear model, if there is
 * one. */
int ran_evaluate_predict(const struct ran_config *c, const struct ran_params *p, size_t C,
                         const struct ran_dataset *d, struct ran_pool *pool,
                         struct ran_ranks *ranks, float *encoder, float *linear,
                         struct ran_error *err);
/* Adds all documents of d to e. thresholds (C) or NULL. */
int ran_evaluate_classify(struct ran_eval *e, const struct ran_dataset *d,
                          const float *probabilities, const float *thresholds,
                          struct ran_error *err);
/* losses (B): -log of the probability of the labels of each document, with several labels the mean
 * over classes; NaN where a label is unknown. Returns their mean over the others. */
double ran_evaluate_losses(const struct ran_dataset *d, const float *probabilities, double *losses);
/* The threshold, one for all classes, with the best micro-F1: of 0.05, 0.10, ... 0.95; of equal
 * ones the nearest to 0.5. */
float ran_evaluate_best_threshold(const struct ran_dataset *d, const float *probabilities);

/* One label a document: calibration of prediction sets. Documents with guessed labels are
 * ignored; if all are, c stays empty. Fails only for lack of memory. */
int ran_evaluate_calibrate(struct ran_calibration *c, const struct ran_dataset *d,
                           const float *probabilities, struct ran_error *err);

/* Results; one of them chooses the best epoch. */
struct ran_evaluate_rates {
        double accuracy, micro_f1, macro_f1, loss;
        double bleu, chrf;     /* 0 to 1; only if one of them is the metric */
        double encoder_loss;   /* of the encoder alone, if there is a linear model beside it */
        size_t outputs, wrong; /* labels or tags; documents of which one is wrong */
        double hits, errors;   /* of micro_f1: true positives; false ones and missed ones */
        bool single;           /* one label a document: micro_f1 is the accuracy */
};
/* The value of the metric RAN_METRIC_...: larger is better. */
double ran_evaluate_metric(const struct ran_evaluate_rates *r, int metric);
/* Its 95 % interval; low is above high where there is none, for macro F1 and the loss. */
struct ran_interval ran_evaluate_interval(const struct ran_evaluate_rates *r, int metric);
/* Of a tagger, from its logits (words, C) and its CRF: accuracy of words; F1 of entities as
 * conlleval counts them, over all and the mean over types; mean -log of the probability of a word's
 * tag. losses (B) or NULL: the same of each document, as a sum over its words. */
int ran_evaluate_tags(struct ran_evaluate_rates *rates, const struct ran_dataset *d,
                      const float *logits, const struct ran_crf *crf, double *losses,
                      struct ran_pool *pool, struct ran_error *err);

/* Of a language model: only the loss, the mean over predicted tokens of -log of their
 * probability. Documents are read whole, even if training reads chunks. mlm: always the same
 * tokens are masked; `mask` is [MASK]. */
int ran_evaluate_texts(struct ran_evaluate_rates *rates, const struct ran_config *c,
                       const struct ran_params *p, size_t V, const struct ran_dataset *d,
                       uint32_t mask, struct ran_pool *pool, struct ran_ranks *ranks,
                       struct ran_error *err);

/* Of a language model of sources and targets: BLEU and chrF of the targets that it generates, with
 * the most probable token each time. Documents without a source are left out. */
int ran_evaluate_generated(struct ran_evaluate_rates *rates, const struct ran_config *c,
                           const struct ran_params *p, size_t V, const struct ran_dataset *d,
                           const struct ran_tokenizer *tokenizer, struct ran_pool *pool,
                           struct ran_error *err);

#endif
