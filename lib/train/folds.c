/* folds.c - out-of-fold probabilities: each document is judged by a model that has not seen it. */
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

/* Documents that a thread scores with one state. */
enum { CHUNK = 256 };

struct fold {
        const struct ran_train_job *job;
        uint32_t *of;     /* (B) the fold of each document */
        float *p;         /* (B, C) */
        size_t *document; /* (n) of the fold at hand */
        size_t n;
        bool *left_out;          /* (B) the same */
        struct ran_error *error; /* of each chunk of them */
        struct ran_model *model; /* of the others */
};

static void score_chunk(void *arg, size_t i)
{
        struct fold *f = arg;
        const struct ran_dataset *d = f->job->train;
        struct ran_error *err = &f->error[i];
        struct ran_state *state = ran_state_new(f->model, f->job->pool);
        float *logits = ran_new_floats(d->C);
        const size_t end = ran_least(f->n, (i + 1) * CHUNK);

        for (size_t k = i * CHUNK; k < end && err->code == RAN_OK; k++) {
                const size_t b = f->document[k];
                const struct ran_document document = ran_dataset_document(d, b);

                if (ran_classify(f->model, state, &document, logits, NULL, err) == RAN_OK)
                        ran_probabilities(f->job->config, logits, d->C, f->p + b * d->C);
        }
        free(logits);
        ran_state_free(state);
}

static int score(struct fold *f, struct ran_error *err)
{
        struct ran_vector_cache *vectors = f->job->vector_cache;
        const size_t chunks = (f->n + CHUNK - 1) / CHUNK;

        /* A model of n-grams alone has dropped its encoder. */
        if (vectors != NULL && ran_config_has_vector(ran_model_config(f->model)))
                RAN_TRY(ran_model_use_vectors(f->model, vectors, err));
        f->error = ran_new(chunks, sizeof *f->error);
        ran_parallel(f->job->pool, chunks, score_chunk, f);
        size_t i = 0;
        while (i < chunks && f->error[i].code == RAN_OK)
                i++;
        const int rc = i < chunks ? (int)f->error[i].code : (int)RAN_OK;
        if (rc != RAN_OK)
                *err = f->error[i];
        free(f->error);
        return rc;
}

/* A model of a set of documents, in a temporary file, scores those of the fold. */
static int train(struct fold *f, const struct ran_dataset *set, const char *path,
                 struct ran_error *err)
{
        struct ran_train_job job = *f->job;

        job.train = set;
        job.dev = NULL;
        job.held_out = NULL;
        job.output = path;
        job.checkpoint = NULL;
        job.resume = false;
        RAN_TRY(ran_train(&job, err));
        f->model = ran_model_open(path, false, err);
        if (f->model == NULL)
                return (int)err->code;
        const int rc = score(f, err);
        ran_model_free(f->model);
        return rc;
}

static int run_fold(struct fold *f, size_t number, struct ran_error *err)
{
        struct ran_dataset others = {0};
        char *path = ran_temporary_new(err);

        if (path == NULL)
                return (int)err->code;
        f->n = 0;
        for (size_t b = 0; b < f->job->train->B; b++) {
                f->left_out[b] = f->of[b] == number;
                if (f->left_out[b])
                        f->document[f->n++] = b;
        }
        int rc = ran_dataset_without(f->job->train, f->left_out, &others, err);
        if (rc == RAN_OK)
                rc = train(f, &others, path, err);
        ran_dataset_release(&others);
        ran_temporary_free(path);
        return rc;
}

int ran_train_folds(const struct ran_train_job *job, size_t folds,
                    int (*next)(void *arg, size_t fold), void *arg, float *p, struct ran_error *err)
{
        const size_t B = job->train->B;

        err = ran_error_or_spare(err);
        if (job->config->task != RAN_TASK_CLASSIFY)
                return ran_fail(err, RAN_EINVAL, "folds are for classifiers");
        if (folds < 2 || folds > B)
                return ran_fail(err, RAN_EINVAL, "%zu documents do not make %zu folds", B, folds);
        struct fold f = {.job = job,
                         .of = ran_new(B, sizeof *f.of),
                         .p = p,
                         .document = ran_new(B, sizeof *f.document),
                         .left_out = ran_new(B, sizeof *f.left_out)};
        int rc = RAN_OK;

        ran_dataset_folds(job->train, folds, job->settings->seed, f.of);
        memset(p, 0, B * job->train->C * sizeof *p);
        for (size_t k = 0; k < folds && rc == RAN_OK; k++)
                rc = next != NULL && next(arg, k) != 0
                             ? ran_fail(err, RAN_EINTR, "stopped before fold %zu", k + 1)
                             : run_fold(&f, k, err);
        free(f.of);
        free(f.document);
        free(f.left_out);
        return rc;
}
