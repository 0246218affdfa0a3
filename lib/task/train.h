/* train.h - what training does differently by task: targets, loss, validation and metric, as an
 * entry of a table for each, ran_train_NAME in the file NAME.c. A function that is NULL has nothing
 * to do.
 *
 * They know the run through three narrow structs: a batch, the scratch of a shard, and what is to
 * be judged.
 */
#ifndef RAN_TASK_TRAIN_H
#define RAN_TASK_TRAIN_H

#include "data/masking.h"
#include "data/rates.h"
#include "part/linear/ensemble.h"
#include "nn/part.h"

/* A batch of documents, or of chunks of them (gradient/batch.h). */
struct ran_task_batch {
        const struct ran_config *c;
        const struct ran_params *p; /* weights, which the caller may change between batches */
        size_t V, C;
        const struct ran_dataset *data;
        double *class_weight; /* (C) or NULL: all 1 */
        struct ran_noise noise;
        double smoothing;
        uint32_t mask;     /* mlm: the subword [MASK] */
        double mask_share; /* mlm: of the words */
        double terms;      /* of the whole batch, which the loss is divided by */
};

/* Memory for the computation of a shard. */
struct ran_task_scratch {
        struct ran_workspace work;
        struct ran_packed packed;
        size_t *document;   /* (packed.B) that the chunks are of */
        double *crf;        /* scratch of the CRF */
        uint32_t *gold;     /* (positions) language models: the token that each predicts */
        float *scale;       /* (positions) its weight in the loss */
        uint32_t *position; /* scratch: positions of one chunk */
        struct ran_masking masking;
        size_t document_cap, crf_cap, gold_cap, scale_cap, position_cap;
};
/* The weight in the loss of output i of document b (its class, or the tag of a word). Documents
 * with several labels have no class weight. */
double ran_task_weight(const struct ran_task_batch *k, size_t b, size_t i);

/* Outputs for the validation documents, where these are labels or tags. */
struct ran_task_judged {
        const struct ran_config *c;
        const struct ran_dataset *dev;
        struct ran_pool *pool;
        size_t C;
        float *logits; /* (outputs, C) of the encoder; then of the ensemble, of a classifier its
                        * probabilities */
        float *linear; /* (outputs, C) of the linear model; NULL: there is none */
        struct ran_crf crf, linear_crf; /* of both; NULL: none */
        bool alone;                     /* only the linear model is asked */
        struct ran_ensemble prior, ensemble;
        double *losses; /* (B) of the documents */
};

struct ran_train_task {
        bool chunks;       /* documents may be read in chunks (gradient/plan.h) */
        size_t first_look; /* the epoch after which an encoder has to show a gain; 0: never */
        double worth; /* share of the linear model's loss that an encoder has to gain (train/gain.c)
                       */
        bool has_head;  /* a head of its own, whose settings a search may change */
        double outputs; /* of tied outputs, estimated: how many a token has */
        const struct ran_ensemble *prior; /* ensemble weights before any document says more, */
        double linear_alone; /* and that of a linear model without an encoder: the scale of its
                                logits, if nothing is known about it */

        /* What the settings cannot be, beyond what all tasks have in common. */
        int (*check_settings)(const struct ran_train_settings *s, struct ran_error *err);
        /* A document has one label, unless the model gives several. */
        bool one_label;

        /* prepare: once, with the vocabulary. terms: of the loss, weighted, of tokens [from, to) of
         * document b. mask: *ids become those that the encoder reads instead. load: notes the
         * outputs of the chunk that was packed last. loss: of a shard that is encoded, and its
         * gradient back to the encoder's output. */
        int (*prepare)(struct ran_task_batch *k, const struct ran_tokenizer *tokenizer,
                       struct ran_error *err);
        double (*terms)(const struct ran_task_batch *k, size_t b, size_t from, size_t to);
        int (*mask)(const struct ran_task_batch *k, struct ran_task_scratch *s, size_t b,
                    const uint32_t **ids, struct ran_error *err);
        int (*load)(const struct ran_task_batch *k, struct ran_task_scratch *s, size_t b,
                    size_t from, size_t to, struct ran_error *err);
        double (*loss)(const struct ran_task_batch *k, struct ran_task_scratch *s,
                       struct ran_params *dp);
        /* Predicted tokens of a document, where outputs are tied. */
        size_t (*targets)(const struct ran_dataset *d, size_t b);

        /* Labels and tags. judge: the ensemble weights that suit the validation documents, and the
         * results with them. tune: what the model decides with, as k->ensemble says. held_out_loss:
         * of the ensemble k->ensemble. merge: the ensemble of encoder and linear model becomes one
         * head. */
        int (*judge)(struct ran_task_judged *k, struct ran_rates *r, struct ran_error *err);
        void (*tune)(struct ran_task_judged *k, struct ran_calibration *calibration,
                     double *threshold);
        double (*held_out_loss)(const struct ran_task_judged *k);
        void (*merge)(const struct ran_config *c, struct ran_params *p, size_t C,
                      const struct ran_ensemble *ensemble, const float *linear_crf);
};

/* Results of a tagger on a data set (tag-rates.c). Fills *rates from logits (words, C) and a CRF:
 * accuracy of words; F1 of entities as conlleval counts them, over all and the mean over types;
 * mean -log of the probability of a word's tag. losses (B) or NULL: the same of each document, as a
 * sum over its words. */
int ran_tag_rates(struct ran_rates *rates, const struct ran_dataset *d, const float *logits,
                  const struct ran_crf *crf, double *losses, struct ran_pool *pool,
                  struct ran_error *err);

const struct ran_train_task *ran_train_task_of(const struct ran_config *c);

#define RAN_TRAIN_TASK_DECLARE(number, name) extern const struct ran_train_task ran_train_##name;
RAN_TASKS(RAN_TRAIN_TASK_DECLARE)

#endif
