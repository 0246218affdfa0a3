/* fit.c - see fit.h. */
#include "part/linear/fit.h"
#include "part/linear/linear-words.h"
#include "tensors/compact.h"
#include "nn/encoder.h"
#include "part/linear/crf-train.h"
#include "part/linear/linear-model.h"
#include "part/vectors/document-vector.h"
#include "part/vectors/vector-cache.h"
#include "nn/task.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

int ran_linear_init(struct ran_linear *l, const struct ran_config *c, size_t V, size_t C,
                    const struct ran_tokenizer *tokenizer, struct ran_error *err)
{
        const bool idf = ran_has_linear_model(c), crf = ran_has_linear_words(c) && c->tag.crf;
        const size_t dense = ran_parts_features(c);

        l->rows = ran_parts_rows(c);
        l->token_weight = c->frozen ? ran_alloc_floats(V, err) : NULL;
        l->weight = ran_alloc_floats((l->rows + dense) * C, err);
        l->idf = idf ? ran_alloc_floats(l->rows, err) : NULL;
        l->crf = crf ? ran_alloc_floats(ran_crf_train_floats(C), err) : NULL;
        if (l->weight == NULL || (idf && l->idf == NULL) || (crf && l->crf == NULL) ||
            (c->frozen && l->token_weight == NULL))
                return RAN_ENOMEM;
        if (!ran_linear_model_wants_affixes(c))
                return RAN_OK;
        l->affixes = ran_linear_model_affixes(tokenizer, c, err);
        return l->affixes != NULL ? RAN_OK : RAN_ENOMEM;
}

static void release_features(struct ran_linear *l)
{
        ran_feature_lists_release(&l->lists);
        ran_dense_release(&l->dense);
}

void ran_linear_release(struct ran_linear *l)
{
        release_features(l);
        free(l->token_weight);
        free(l->weight);
        free(l->idf);
        free(l->crf);
        free(l->affixes);
        *l = (struct ran_linear){0};
}

void ran_linear_lend(const struct ran_linear *l, struct ran_params *p)
{
        struct ran_linear_params *own = ran_linear_of(p);
        struct ran_document_vector_params *vectors = ran_document_vector_of(p);

        if (vectors != NULL)
                vectors->token_weight = l->token_weight;
        if (own == NULL)
                return;
        own->wide = l->weight;
        own->idf = l->idf;
        own->affixes = l->affixes;
}

void ran_linear_clear(struct ran_linear *l, size_t C)
{
        memset(l->weight, 0, l->rows * C * sizeof *l->weight);
        if (l->crf != NULL)
                memset(l->crf, 0, ran_crf_train_floats(C) * sizeof *l->crf);
}

int ran_linear_read(struct ran_linear *l, const struct ran_linear_fit *k, struct ran_error *err)
{
        if (!ran_has_linear_model(k->c))
                return RAN_OK;
        if (l->lists.first == NULL)
                RAN_TRY(ran_feature_lists_read(&l->lists, k->c, k->d, l->affixes, k->d->keep,
                                               k->pool, err));
        ran_feature_lists_idf(&l->lists, k->c, k->document, k->documents, l->idf);
        ran_compact_round_idf(k->storage, l->idf, k->c->linear.wide);
        return RAN_OK;
}

/* ---- how far it is --------------------------------------------------------------------------- */

/* The work of a fit at hand is the part [from, to) of all. */
struct progress {
        const struct ran_linear_fit *k;
        double from, to, share;
};

static int on_pass(void *arg, size_t passes, double share)
{
        struct progress *p = arg;

        p->share = p->from + share * (p->to - p->from);
        return p->k->pass(p->k->arg, passes, p->share);
}

/* The share of the time that the reading of a frozen encoder takes, about: its arithmetic beside
 * that of the fits, each number of a row and class of which takes as long as so many operations of
 * an encoder, in so many passes over the folds of cross-validation. */
static double share_of_vectors(const struct ran_linear *l, const struct ran_linear_fit *k,
                               const struct ran_config *c)
{
        static const double slower = 8, passes = 100;
        const struct ran_dataset *d = k->d;
        const double F = (double)ran_parts_features(k->c);
        const double numbers = (double)l->lists.first[d->B] + F * (double)d->B;
        const double fits = slower * passes * numbers * (double)k->C;
        double vectors = 0;

        for (size_t b = 0; b < d->B; b++) {
                const size_t L = d->first[b + 1] - d->first[b];
                double flops = 0;

                if (ran_parts_flops(c, L, 0, &flops, NULL) == RAN_OK)
                        vectors += flops + 2 * F * (double)L;
        }
        return vectors / (vectors + fits);
}

/* ---- an SVM ---------------------------------------------------------------------------------- */

/* What one fit of an SVM needs. */
struct fit {
        struct ran_linear *l;
        const struct ran_linear_fit *k;
        struct ran_linear_choice *chosen;
        struct progress at;
        double vectors; /* share of the work that is done before */
        struct ran_dense_frame frame;
        struct ran_features features;
        size_t *row;
        struct ran_svm svm;
};

static int fit_rows(struct fit *x, struct ran_error *err)
{
        const double of_validation = 0.75; /* its share of the time, about */
        float *weight = x->l->weight, *bias = ran_linear_of(x->k->p)->bias;
        double cost = x->chosen->cost;

        x->svm.ratios = x->chosen->ratios != 0;
        x->svm.affixes = x->chosen->affixes;
        x->svm.dense = x->chosen->dense;
        x->at.from = x->vectors;
        x->at.to = x->vectors + (1 - x->vectors) * of_validation;
        if (!x->k->refit)
                RAN_TRY(ran_cross_validate(&x->svm, &cost, x->k->ratios, weight, bias, on_pass,
                                           &x->at, err));
        x->at.from = x->at.share > 0 ? x->at.to : 0;
        x->at.to = 1;
        RAN_TRY(ran_svm_fit(&x->svm, cost, weight, bias, on_pass, &x->at, err));
        *x->chosen = (struct ran_linear_choice){cost, x->svm.ratios, x->svm.affixes, x->svm.dense};
        return RAN_OK;
}

/* A pretrained encoder costs more than all else: validation takes the vectors that it has made. */
static int use_cache(const struct ran_linear_fit *k, struct ran_error *err)
{
        if (k->vector_cache == NULL || k->p->vectors != NULL)
                return RAN_OK;
        RAN_TRY(ran_vector_cache_bind(k->vector_cache, k->c, k->p, k->V, err));
        k->p->vectors = k->vector_cache;
        return RAN_OK;
}

/* The vectors of a frozen encoder, or of what is frozen of it, once; how they are scaled. */
static int read_vectors(struct fit *x, struct ran_error *err)
{
        const struct ran_linear_fit *k = x->k;
        struct ran_dense *dense = &x->l->dense;
        struct ran_config c = *k->c;

        if (ran_config_trains_encoder(&c))
                ran_config_drop_encoder(&c);
        RAN_TRY(use_cache(k, err));
        x->vectors = x->at.to = share_of_vectors(x->l, k, &c);
        if (dense->B == 0)
                RAN_TRY(k->read(dense, &c, k->p, k->C, k->d, k->pool, on_pass, &x->at, err));
        return ran_dense_frame_init(&x->frame, dense, k->document, k->documents,
                                    ran_encoder_makes_components(&c), err);
}

/* fit_rows on documents with such vectors: weights of features, which are weights of vectors before
 * and after. */
static int fit_dense(struct fit *x, struct ran_error *err)
{
        const size_t F = x->l->dense.F, C = x->k->C;
        struct ran_linear_params *own = ran_linear_of(x->k->p);
        float *of_x = x->l->weight + x->k->c->linear.wide * C;

        ran_dense_unfold(&x->frame, F, C, of_x, own->dense, own->bias);
        int rc = fit_rows(x, err);
        ran_dense_fold(&x->frame, F, C, of_x, own->dense, own->bias);
        ran_compact_round(x->k->storage, own->dense, F, C);
        return rc;
}

static int fit_svm(struct fit *x, struct ran_error *err)
{
        const struct ran_linear_fit *k = x->k;
        const bool dense = ran_parts_features(k->c) > 0 && !k->without_vectors;

        x->row = ran_alloc(k->documents, sizeof *x->row, err);
        if (x->row == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < k->documents; i++)
                x->row[i] = i;
        if (dense)
                RAN_TRY(read_vectors(x, err));
        RAN_TRY(ran_features_make(&x->features, &x->l->lists, k->c, k->document, k->documents,
                                  x->l->idf, dense ? &x->l->dense : NULL, &x->frame, k->d->keep,
                                  k->pool, err));
        x->svm = (struct ran_svm){.d = k->d,
                                  .features = &x->features,
                                  .document = k->document,
                                  .row = x->row,
                                  .n = k->documents,
                                  .class_weight = k->class_weight,
                                  .seed = k->seed,
                                  .pool = k->pool};
        return dense ? fit_dense(x, err) : fit_rows(x, err);
}

static int fit_documents(struct ran_linear *l, const struct ran_linear_fit *k,
                         struct ran_linear_choice *chosen, struct ran_ensemble *ensemble,
                         struct ran_error *err)
{
        struct fit x = {.l = l, .k = k, .chosen = chosen, .at = {.k = k}};
        int rc = fit_svm(&x, err);

        if (k->without_vectors)
                chosen->dense = 0;
        *ensemble = x.svm.ensemble;
        ran_features_release(&x.features);
        ran_dense_frame_release(&x.frame);
        free(x.row);
        if (rc == RAN_OK && k->last)
                release_features(l);
        return rc;
}

/* ---- a CRF ----------------------------------------------------------------------------------- */

static int fit_words(struct ran_linear *l, const struct ran_linear_fit *k,
                     struct ran_linear_choice *chosen, struct ran_error *err)
{
        if (chosen->cost == 0)
                chosen->cost = ran_crf_train_cost * l->rate;
        const struct ran_crf_train train = {.c = k->c,
                                            .d = k->d,
                                            .document = k->document,
                                            .n = k->documents,
                                            .cost = chosen->cost,
                                            .passes = RAN_CRF_TRAIN_PASSES,
                                            .seed = k->seed,
                                            .pass = k->pass,
                                            .arg = k->arg};

        return ran_crf_train_run(&train, l->weight, ran_linear_of(k->p)->bias, l->crf, err);
}

int ran_linear_train(struct ran_linear *l, const struct ran_linear_fit *k,
                     struct ran_linear_choice *chosen, struct ran_ensemble *ensemble,
                     struct ran_error *err)
{
        *ensemble = (struct ran_ensemble){0};
        RAN_TRY(ran_has_linear_model(k->c) ? fit_documents(l, k, chosen, ensemble, err)
                                           : fit_words(l, k, chosen, err));
        ran_compact_round(k->storage, l->weight, k->c->linear.wide, k->C);
        return RAN_OK;
}
