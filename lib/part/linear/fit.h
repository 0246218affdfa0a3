/* fit.h - the linear model of a training: its memory, and its fit.
 *
 *      classifiers    an SVM for each label over n-grams (svm.h), its cost C by cross-validation
 *                     (cross-validate.c); with a frozen encoder, linear discriminants over vectors
 *                     of documents beside it (discriminant.h), both times ensemble weights
 *      taggers        a CRF over features of words (crf-train.c)
 *
 * A refit keeps what was chosen for the first fit.
 */
#ifndef RAN_LINEAR_FIT_H
#define RAN_LINEAR_FIT_H

#include "data/dense.h"
#include "part/linear/svm.h"

/* Zero-initialise. */
struct ran_linear {
        size_t rows;         /* of the table; 0: there is no linear model */
        float *weight;       /* (rows, C) */
        float *idf;          /* (rows); NULL for a tagger */
        float *crf;          /* of a tagger; NULL: none */
        float *token_weight; /* (V) in the vectors of a frozen encoder; NULL without */
        uint32_t *affixes;
        double rate; /* factor of its cost, where `init` brought it; 0: it stays */
        struct ran_feature_lists lists; /* features of all documents of a classifier */
        struct ran_dense dense;         /* vectors of all documents, by a frozen encoder */
};
/* V: of the vocabulary, for token_weight. _release is fine after a failure. */
int ran_linear_init(struct ran_linear *l, const struct ran_config *c, size_t V, size_t C,
                    const struct ran_tokenizer *tokenizer, struct ran_error *err);
void ran_linear_release(struct ran_linear *l);
/* Its tables as those of p, until it is released. */
void ran_linear_lend(const struct ran_linear *l, struct ran_params *p);
/* Sets all weights to 0. */
void ran_linear_clear(struct ran_linear *l, size_t C);

/* What is fitted, and to what. */
struct ran_linear_fit {
        const struct ran_config *c;
        struct ran_params *p; /* its biases and weights of dense features are written */
        size_t V, C;
        const struct ran_dataset *d;
        const size_t *document; /* (documents) to train on */
        size_t documents;
        const double *class_weight; /* (C) or NULL */
        uint64_t seed;
        int ratios, storage;                   /* ratios: the setting wide_ratios */
        ran_dense_reader *read;                /* reads the vectors of a frozen encoder */
        struct ran_vector_cache *vector_cache; /* of those, or NULL */
        struct ran_pool *pool;
        const float *label_vectors; /* (C, F) of descriptions of the labels; NULL: there are none */
        bool label_names;           /* they are the labels' names, which held-out rows judge */
        uint32_t *guessed_labels;   /* d->labels, (d->B): no document has a label, and descriptions
                                     * give them in place of these; NULL: they have */
        bool refit;                 /* what was chosen is that of the first fit */
        bool last;                  /* no fit follows: the features are released */
        /* Called after each pass, with its number and the share of the work that is done; a value
         * other than 0 ends the fit with RAN_EINTR. */
        int (*pass)(void *arg, size_t passes, double share);
        void *arg;
};
/* What is chosen: the cost C, 0 before; 1: with ratios; r of affixes; the weight of vectors beside
 * that of n-grams, 0: they do not help; λ of their covariance; 1: with descriptions of labels. */
struct ran_linear_choice {
        double cost, ratios, affixes, dense, shrinkage, described;
};
/* Reads the features of all documents, unless that is done, and fills idf. */
int ran_linear_read(struct ran_linear *l, const struct ran_linear_fit *k, struct ran_error *err);
/* *ensemble: the weight of the linear model alone, by cross-validation; 0: unknown. */
int ran_linear_train(struct ran_linear *l, const struct ran_linear_fit *k,
                     struct ran_linear_choice *chosen, struct ran_ensemble *ensemble,
                     struct ran_error *err);

#endif
