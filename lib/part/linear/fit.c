/* fit.c - see fit.h. */
#include "part/linear/fit.h"
#include "part/linear/linear-words.h"
#include "tensors/compact.h"
#include "nn/part.h"
#include "part/linear/discriminant.h"
#include "part/linear/linear-model.h"
#include "part/vectors/document-vector.h"
#include "nn/vector-cache.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

int ran_linear_init(struct ran_linear *l, const struct ran_config *c, size_t V, size_t C,
                    const struct ran_tokenizer *tokenizer, struct ran_error *err)
{
        const bool idf = ran_has_linear_model(c), crf = ran_has_linear_words(c) && c->tag.crf;

        l->rows = ran_parts_rows(c);
        l->token_weight = c->frozen ? ran_alloc_floats(V, err) : NULL;
        l->weight = ran_alloc_floats(l->rows * C, err);
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
        ran_compact_round(k->storage, l->idf, k->c->linear.wide, 1);
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

                vectors += ran_encoder_flops(c, L, 0) + 2 * F * (double)L;
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
        struct ran_held_out held_out; /* with vectors */
        float *of_x, *bias;           /* (F, C) and (C) of discriminants */
        double spread;                /* of their logits, where they guess the labels */
};

/* C, and r of affixes, where descriptions give the labels. */
static const double cost_of_guesses = 0.5, affixes_of_guesses = 0.4;

static int fit_rows(struct fit *x, bool dense, struct ran_error *err)
{
        const double of_validation = 0.75; /* its share of the time, about */
        float *weight = x->l->weight, *bias = ran_linear_of(x->k->p)->bias;
        double cost = x->chosen->cost;

        if (x->k->guessed_labels != NULL) { /* folds would choose what repeats the guesses */
                cost = cost > 0 ? cost : cost_of_guesses;
                x->chosen->ratios = x->k->ratios == RAN_RATIOS_YES;
                x->chosen->affixes = affixes_of_guesses;
        }
        if (dense) /* that of vectors goes into it, too */
                memset(bias, 0, x->k->C * sizeof *bias);
        x->svm.ratios = x->chosen->ratios != 0;
        x->svm.affixes = x->chosen->affixes;
        x->at.from = x->vectors;
        x->at.to = x->vectors + (1 - x->vectors) * of_validation;
        if (!x->k->refit && x->k->guessed_labels == NULL)
                RAN_TRY(ran_cross_validate(&x->svm, &cost, x->k->ratios, weight, bias,
                                           dense ? &x->held_out : NULL, on_pass, &x->at, err));
        x->at.from = x->at.share > 0 ? x->at.to : 0;
        x->at.to = 1;
        RAN_TRY(ran_svm_fit(&x->svm, cost, weight, bias, on_pass, &x->at, err));
        x->chosen->cost = cost;
        x->chosen->ratios = x->svm.ratios;
        x->chosen->affixes = x->svm.affixes;
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
        if (k->vector_cache != NULL && k->p->vectors == NULL) { /* that validation takes, too */
                RAN_TRY(ran_vector_cache_bind(k->vector_cache, k->c, k->p, k->V, 0, err));
                k->p->vectors = k->vector_cache;
        }
        x->vectors = x->at.to = share_of_vectors(x->l, k, &c);
        if (dense->B == 0)
                RAN_TRY(k->read(dense, &c, k->p, k->C, k->d, k->pool, on_pass, &x->at, err));
        ran_dense_frame_init(&x->frame, dense, k->document, k->documents,
                             ran_encoder_makes_components(&c));
        return RAN_OK;
}

/* ---- vectors beside n-grams ------------------------------------------------------------------ */

static struct ran_discriminant discriminant_of(const struct fit *x)
{
        return (struct ran_discriminant){
                .d = x->k->d,
                .dense = &x->l->dense,
                .frame = &x->frame,
                .document = x->k->document,
                .n = x->k->documents,
                .class_weight = x->k->class_weight,
                .label_vectors = x->chosen->described != 0 ? x->k->label_vectors : NULL,
                .pool = x->k->pool};
}

/* Fewer held-out rows a label do not show that vectors do not help. */
enum { ENOUGH_OF_LABEL = 16 };

/* Each alone, then both: logits (n, C) of the rows that were held out. What does not help them is
 * left out. */
static void weigh_both(struct fit *x, float *vectors)
{
        const struct ran_held_out *h = &x->held_out;
        const size_t numbers = h->n * x->k->C;
        struct ran_ensemble_rows rows = {
                .d = x->k->d, .document = x->k->document, .row = h->row, .n = h->n};
        struct ran_ensemble words, both, of_vectors;

        ran_ensemble_fit_rows(&of_vectors, NULL, &rows, vectors);
        const double without = ran_ensemble_fit_rows(&words, NULL, &rows, h->logits);
        ran_ensemble_scale(vectors, numbers, of_vectors.linear);
        ran_ensemble_scale(h->logits, numbers, words.linear);
        rows.encoder = vectors;
        const double with = ran_ensemble_fit_rows(&both, NULL, &rows, h->logits);
        x->chosen->dense = 0;
        if (h->n / ENOUGH_OF_LABEL >= x->k->C && !(with < without))
                return;
        /* beside descriptions, n-grams of labels that few documents have say little */
        const double share = x->chosen->described != 0
                                     ? fmin(1, (double)x->k->documents / (4 * (double)x->k->C))
                                     : 1;
        const double linear = both.linear * share * fmax(words.linear, 1e-3);
        x->chosen->dense = both.encoder * of_vectors.linear / linear;
        x->svm.ensemble = (struct ran_ensemble){.linear = linear, .offset = both.offset};
}

/* λ, whether names of labels are evidence, and the weight of vectors beside n-grams. */
static void choose_vectors(struct fit *x)
{
        const struct ran_held_out *h = &x->held_out;
        const size_t numbers = h->n * x->k->C;
        struct ran_discriminant k = discriminant_of(x);
        struct ran_linear_choice *chosen = x->chosen;
        float *vectors = ran_new_floats(numbers);
        const double loss = ran_discriminant_choose(&k, h, &chosen->shrinkage, vectors);

        if (k.label_vectors != NULL && x->k->label_names) {
                float *plain = ran_new_floats(numbers);
                double shrinkage;

                k.label_vectors = NULL;
                if (!(loss < ran_discriminant_choose(&k, h, &shrinkage, plain))) {
                        chosen->described = 0;
                        chosen->shrinkage = shrinkage;
                        memcpy(vectors, plain, numbers * sizeof *vectors);
                }
                free(plain);
        }
        weigh_both(x, vectors);
        free(vectors);
}

/* Where nothing can be held out: about what is chosen for a hundred documents. */
static const double dense_of_few = 0.3;

/* What is chosen for vectors, and their weights. */
static void fit_discriminants(struct fit *x)
{
        if (!x->k->refit) {
                x->chosen->described =
                        x->k->label_vectors != NULL && (x->held_out.n > 0 || !x->k->label_names);
                x->chosen->shrinkage = ran_discriminant_shrinkage;
                x->chosen->dense = dense_of_few;
                if (x->held_out.n > 0)
                        choose_vectors(x);
        }
        const struct ran_discriminant k = discriminant_of(x);
        if (x->chosen->dense > 0)
                ran_discriminant_fit(&k, x->chosen->shrinkage, x->of_x, x->bias);
}

/* ---- documents without labels ---------------------------------------------------------------- */

/* The labels are guesses: no fold shows what n-grams are worth. Their spread is half that of
 * discriminants, which was best or near it on eight collections. What learns from its own guesses
 * is surer than it is right: a fifth of the logits has the least loss on AG News and IMDB. */
static int weigh_guesses(struct fit *x, struct ran_error *err)
{
        const size_t n = x->k->documents, C = x->k->C;
        const double share = 0.5, sureness = 0.2;
        struct ran_svm_solver *s =
                ran_svm_solver_new(&x->svm, x->l->weight, ran_linear_of(x->k->p)->bias, err);
        if (s == NULL)
                return RAN_ENOMEM;
        float *logits = ran_new_floats(n * C);
        ran_svm_solver_score(s, x->row, n, logits);
        const double words = fmax(ran_discriminant_spread(logits, n, C), 1e-9);
        const double linear = sureness * share / (1 + share) * x->spread / words;

        x->chosen->dense = words / (share * fmax(x->spread, 1e-9));
        x->svm.ensemble = (struct ran_ensemble){.linear = linear};
        free(logits);
        ran_svm_solver_free(s);
        return RAN_OK;
}

static int fit_svm(struct fit *x, struct ran_error *err)
{
        const struct ran_linear_fit *k = x->k;
        const bool dense = ran_parts_features(k->c) > 0 && !(k->refit && x->chosen->dense == 0);
        const bool guesses = k->guessed_labels != NULL;

        x->row = ran_new(k->documents, sizeof *x->row);
        for (size_t i = 0; i < k->documents; i++)
                x->row[i] = i;
        if (dense) {
                RAN_TRY(read_vectors(x, err));
                x->of_x = ran_new_floats(x->l->dense.F * k->C);
                x->bias = ran_new_floats(k->C);
        }
        if (guesses) {
                x->chosen->described = 1;
                const struct ran_discriminant by_descriptions = discriminant_of(x);

                ran_discriminant_guess(&by_descriptions, k->guessed_labels, x->of_x, x->bias,
                                       &x->chosen->shrinkage, &x->spread);
        }
        RAN_TRY(ran_features_make(&x->features, &x->l->lists, k->c, k->document, k->documents,
                                  x->l->idf, k->d->keep, k->pool, err));
        x->svm = (struct ran_svm){.d = k->d,
                                  .features = &x->features,
                                  .document = k->document,
                                  .row = x->row,
                                  .n = k->documents,
                                  .class_weight = k->class_weight,
                                  .seed = k->seed,
                                  .pool = k->pool};
        RAN_TRY(fit_rows(x, dense, err));
        if (guesses)
                RAN_TRY(weigh_guesses(x, err));
        else if (dense)
                fit_discriminants(x);
        if (!dense)
                return RAN_OK;
        const size_t F = x->l->dense.F, C = k->C;
        struct ran_linear_params *own = ran_linear_of(k->p);
        ran_ensemble_scale(x->of_x, F * C, x->chosen->dense);
        for (size_t c = 0; c < C; c++)
                own->bias[c] += (float)(x->chosen->dense * (double)x->bias[c]);
        ran_dense_fold(&x->frame, F, C, x->of_x, own->dense, own->bias);
        ran_compact_round(k->storage, own->dense, F, C);
        return RAN_OK;
}

static int fit_documents(struct ran_linear *l, const struct ran_linear_fit *k,
                         struct ran_linear_choice *chosen, struct ran_ensemble *ensemble,
                         struct ran_error *err)
{
        struct fit x = {.l = l, .k = k, .chosen = chosen, .at = {.k = k}};
        int rc = fit_svm(&x, err);

        *ensemble = x.svm.ensemble;
        ran_features_release(&x.features);
        ran_dense_frame_release(&x.frame);
        ran_held_out_release(&x.held_out);
        free(x.row);
        free(x.of_x);
        free(x.bias);
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
