/* ahead.c - see ahead.h. */
#include "part/linear/ahead.h"
#include "tensors/compact.h"
#include "ran/train.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool ran_ahead_pays(const struct ran_train_job *job, size_t C)
{
        const struct ran_config *c = job->config;

        return C == 2 && !c->multilabel && !c->frozen && !ran_config_trains_encoder(c) &&
               ran_has_linear_model(c) && ran_train_refits(job) && job->init == NULL &&
               job->ranks == NULL && ran_pool_threads(job->pool) > 1;
}

void ran_ahead_release(struct ran_trainer *t)
{
        free(t->ahead);
        t->ahead = NULL;
}

/* ---- the fits -------------------------------------------------------------------------------- */

struct both {
        struct ran_trainer *t;
        const struct ran_svm *svm;
        double cost;
        float *kept; /* (c->wide, C), (C) of all documents */
        int rc, kept_rc;
        struct ran_error *err;
        atomic_bool ended; /* the first, before its end */
};

/* Of all documents, with the memory of the rows. */
struct whole {
        size_t *document, *row;
        float *idf;
        struct ran_features features;
};

static void release_whole(struct whole *w)
{
        free(w->document);
        free(w->row);
        free(w->idf);
        ran_features_release(&w->features);
}

static int make_whole(struct whole *w, const struct ran_trainer *t, struct ran_error *err)
{
        const size_t B = t->job->train->B;

        w->document = ran_alloc(B, sizeof *w->document, err);
        w->row = ran_alloc(B, sizeof *w->row, err);
        w->idf = ran_alloc_floats(t->c->wide, err);
        if (w->document == NULL || w->row == NULL || w->idf == NULL)
                return RAN_ENOMEM;
        for (size_t b = 0; b < B; b++)
                w->document[b] = w->row[b] = b;
        ran_feature_lists_idf(&t->lists, t->c, w->document, B, w->idf);
        ran_compact_round_idf(t->job->storage, w->idf, t->c->wide);
        return ran_features_make(&w->features, &t->lists, t->c, w->document, B, w->idf, NULL, NULL,
                                 t->job->train->keep, t->job->pool, err);
}

static int is_over(void *arg, size_t passes, double share)
{
        const struct both *k = arg;

        (void)passes;
        (void)share;
        return atomic_load(&k->ended);
}

static int fit_whole(struct both *k)
{
        const struct ran_trainer *t = k->t;
        struct whole w = {0};
        struct ran_error err;
        int rc = make_whole(&w, t, &err);

        if (rc == RAN_OK) {
                struct ran_svm svm = *k->svm;

                svm.features = &w.features;
                svm.document = w.document;
                svm.row = w.row;
                svm.n = t->job->train->B;
                rc = ran_svm_fit(&svm, k->cost, k->kept, k->kept + t->c->wide * t->C, is_over, k,
                                 &err);
        }
        release_whole(&w);
        return rc;
}

static void fit_one(void *arg, size_t i)
{
        struct both *k = arg;
        struct ran_trainer *t = k->t;

        if (i == 1) {
                k->kept_rc = fit_whole(k);
                return;
        }
        k->rc = ran_svm_fit(k->svm, k->cost, t->linear, t->p.head.wide_b, ran_trainer_on_pass, t,
                            k->err);
        if (k->rc != RAN_OK)
                atomic_store(&k->ended, true);
}

int ran_ahead_fit(struct ran_trainer *t, const struct ran_svm *svm, double cost,
                  struct ran_error *err)
{
        const size_t weights = t->c->wide * t->C; /* fits: t->linear is as large */
        struct both k = {.t = t, .svm = svm, .cost = cost, .err = err};

        k.kept = ran_alloc_floats(weights + t->C, NULL);
        if (k.kept == NULL)
                return ran_svm_fit(svm, cost, t->linear, t->p.head.wide_b, ran_trainer_on_pass, t,
                                   err);
        memcpy(k.kept, t->linear, weights * sizeof *k.kept);
        memcpy(k.kept + weights, t->p.head.wide_b, t->C * sizeof *k.kept);
        ran_parallel(t->job->pool, 2, fit_one, &k);
        if (k.rc == RAN_OK && k.kept_rc == RAN_OK)
                t->ahead = k.kept;
        else
                free(k.kept);
        return k.rc;
}

bool ran_ahead_take(struct ran_trainer *t)
{
        const size_t weights = t->c->wide * t->C;

        if (t->ahead == NULL)
                return false;
        memcpy(t->linear, t->ahead, weights * sizeof *t->linear);
        memcpy(t->p.head.wide_b, t->ahead + weights, t->C * sizeof *t->ahead);
        ran_ahead_release(t);
        return true;
}
