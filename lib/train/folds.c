/* folds.c - out-of-fold probabilities: each document is judged by a model that has not seen it. */
#include "base/error.h"
#include "base/size.h"
#include "train/folds.h"

#include <stdlib.h>
#include <string.h>

/* Documents that a thread scores with one state. */
enum { CHUNK = 256 };

/* ---- scoring --------------------------------------------------------------------------------- */

struct scoring {
        const struct ran_train_job *job;
        const struct ran_fold_part *part;
        const struct ran_model *model;
        struct chunk {
                int rc;
                struct ran_error err;
        } * chunk;
};

static int score(struct scoring *s, struct ran_state *state, size_t from, size_t to, float *logits,
                 struct ran_error *err)
{
        const struct ran_fold_part *part = s->part;
        const size_t C = s->job->train->C;

        for (size_t i = from; i < to; i++) {
                const size_t b = part->document != NULL ? part->document[i] : i;
                const struct ran_document d = ran_dataset_document(part->set, b);

                RAN_TRY(ran_classify(s->model, state, &d, logits, NULL, err));
                ran_probabilities(s->job->config, logits, C, part->p + b * C);
        }
        return RAN_OK;
}

static void score_chunk(void *arg, size_t i)
{
        struct scoring *s = arg;
        struct chunk *k = &s->chunk[i];
        struct ran_state *state = ran_state_new(s->model, s->job->pool, &k->err);
        float *logits = ran_alloc_floats(s->job->train->C, &k->err);

        k->rc = state == NULL || logits == NULL
                        ? RAN_ENOMEM
                        : score(s, state, i * CHUNK, ran_least(s->part->n, (i + 1) * CHUNK), logits,
                                &k->err);
        free(logits);
        ran_state_free(state);
}

static int score_all(struct scoring *s, struct ran_error *err)
{
        const size_t chunks = (s->part->n + CHUNK - 1) / CHUNK;
        int rc = RAN_OK;

        if (chunks == 0)
                return RAN_OK;
        s->chunk = ran_alloc(chunks, sizeof *s->chunk, err);
        if (s->chunk == NULL)
                return RAN_ENOMEM;
        ran_parallel(s->job->pool, chunks, score_chunk, s);
        for (size_t i = 0; i < chunks && rc == RAN_OK; i++)
                if (s->chunk[i].rc != RAN_OK) {
                        rc = s->chunk[i].rc;
                        *err = s->chunk[i].err;
                }
        free(s->chunk);
        return rc;
}

/* ---- a model of a part of the documents ------------------------------------------------------ */

static int judge(const struct ran_train_job *job, const char *path,
                 const struct ran_fold_part *part, size_t parts, struct ran_error *err)
{
        struct ran_vector_cache *vectors = job->vector_cache;
        struct ran_model *m = ran_model_open(path, false, err);

        if (m == NULL)
                return (int)err->code;
        /* A model of n-grams alone has dropped its encoder. */
        const bool use = vectors != NULL && ran_config_has_vector(ran_model_config(m));
        int rc = use ? ran_model_use_vectors(m, vectors, err) : RAN_OK;
        for (size_t i = 0; i < parts && rc == RAN_OK; i++) {
                struct scoring s = {.job = job, .part = &part[i], .model = m};

                rc = score_all(&s, err);
        }
        ran_model_free(m);
        return rc;
}

static int train(const struct ran_train_job *of, const struct ran_dataset *set, const char *path,
                 struct ran_error *err)
{
        struct ran_train_job job = *of;

        job.train = set;
        job.dev = NULL;
        job.held_out = NULL;
        job.output = path;
        job.checkpoint = NULL;
        job.resume = false;
        return ran_train(&job, err);
}

int ran_fold_train(const struct ran_train_job *job, const struct ran_dataset *set,
                   const struct ran_fold_part *part, size_t parts, struct ran_error *err)
{
        char *path = ran_temporary_new(err);

        if (path == NULL)
                return (int)err->code;
        int rc = train(job, set, path, err);
        if (rc == RAN_OK)
                rc = judge(job, path, part, parts, err);
        ran_temporary_free(path);
        return rc;
}

/* ---- the folds ------------------------------------------------------------------------------- */

struct fold {
        const struct ran_train_job *job;
        uint32_t *of;     /* (B) the fold of each document */
        float *p;         /* (B, C) */
        size_t *document; /* (n) of the fold at hand */
        size_t n;
        bool *left_out; /* (B) the same */
};

static int run_fold(struct fold *f, size_t number, struct ran_error *err)
{
        struct ran_dataset others = {0};

        f->n = 0;
        for (size_t b = 0; b < f->job->train->B; b++) {
                f->left_out[b] = f->of[b] == number;
                if (f->left_out[b])
                        f->document[f->n++] = b;
        }
        int rc = ran_dataset_without(f->job->train, f->left_out, &others, err);
        const struct ran_fold_part part = {f->job->train, f->document, f->n, f->p};
        if (rc == RAN_OK)
                rc = ran_fold_train(f->job, &others, &part, 1, err);
        ran_dataset_release(&others);
        return rc;
}

static int run_folds(struct fold *f, size_t folds, int (*next)(void *arg, size_t fold), void *arg,
                     struct ran_error *err)
{
        const struct ran_dataset *d = f->job->train;

        RAN_TRY(ran_dataset_folds(d, folds, f->job->settings->seed, f->of, err));
        memset(f->p, 0, d->B * d->C * sizeof *f->p);
        for (size_t k = 0; k < folds; k++) {
                if (next != NULL && next(arg, k) != 0)
                        return ran_fail(err, RAN_EINTR, "stopped before fold %zu", k + 1);
                RAN_TRY(run_fold(f, k, err));
        }
        return RAN_OK;
}

int ran_train_folds(const struct ran_train_job *job, size_t folds,
                    int (*next)(void *arg, size_t fold), void *arg, float *p, struct ran_error *err)
{
        const struct ran_dataset *d = job->train;

        err = ran_error_or_spare(err);
        if (job->config->task != RAN_TASK_CLASSIFY)
                return ran_fail(err, RAN_EINVAL, "folds are for classifiers");
        if (folds < 2 || folds > d->B)
                return ran_fail(err, RAN_EINVAL, "%zu documents do not make %zu folds", d->B,
                                folds);
        struct fold f = {.job = job,
                         .of = ran_alloc(d->B, sizeof *f.of, err),
                         .p = p,
                         .document = ran_alloc(d->B, sizeof *f.document, err),
                         .left_out = ran_alloc(d->B, sizeof *f.left_out, err)};
        const int rc = f.of != NULL && f.document != NULL && f.left_out != NULL
                               ? run_folds(&f, folds, next, arg, err)
                               : (int)RAN_ENOMEM;
        free(f.of);
        free(f.document);
        free(f.left_out);
        return rc;
}
