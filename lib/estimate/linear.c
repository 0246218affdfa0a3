/* linear.c - the memory of a linear model while it is fitted. Its features are made for
 * that, so that what they take is known and not guessed: it depends on how often words repeat. */
#include "estimate/estimate.h"
#include "part/linear/linear-model.h"
#include "part/linear/linear-words.h"
#include "part/linear/cross-validate.h"
#include "part/linear/svm.h"
#include "part/linear/crf-train.h"

#include <stdlib.h>

/* The sizes of a matrix of features, before any is made. */
struct shape {
        const struct ran_run_sizes *run;
        const struct ran_feature_lists *lists;
        size_t n, columns, entries;
};

static void add_spool(double room, double *memory, double *file, size_t keep)
{
        *(room > (double)(keep > 0 ? keep : RAN_SPOOL_KEEP) ? file : memory) += room;
}

static int measure(struct shape *s, const size_t *document, size_t n, struct ran_error *err)
{
        const struct ran_config *c = s->run->job->config;
        const size_t rows = ran_parts_rows(c);
        float *idf = ran_alloc_floats(rows, err);

        if (idf == NULL)
                return RAN_ENOMEM;
        ran_feature_lists_idf(s->lists, c, document, n, idf);
        s->n = n;
        s->columns = s->entries = 0;
        for (size_t g = 0; g < rows; g++)
                s->columns += idf[g] > 0;
        for (size_t i = 0; i < n; i++)
                for (size_t g = s->lists->first[document[i]]; g < s->lists->first[document[i] + 1];
                     g++)
                        s->entries += idf[s->lists->posting[g].id] > 0;
        free(idf);
        return RAN_OK;
}

/* The matrix of these documents. */
static double matrix_bytes(const struct shape *s, double *file)
{
        const size_t keep = s->run->job->train->keep;
        double matrix = 8 * (double)s->n + 4 * (double)s->columns;

        add_spool(4 * (double)s->entries, &matrix, file, keep);
        add_spool(4 * (double)s->entries, &matrix, file, keep);
        return matrix;
}

static double numbering_bytes(const struct shape *s)
{
        return 4 * (double)ran_parts_rows(s->run->job->config) +
               16 * (double)s->columns; /* of columns */
}

/* The fit on these documents: the matrix, and solvers: one for each thread when C is chosen by
 * cross-validation, one in the end. */
static double fit_bytes(const struct shape *s, double *file)
{
        const struct ran_train_job *job = s->run->job;
        const struct ran_dataset *d = job->train;
        const double n = (double)s->n, numbering = numbering_bytes(s);
        size_t threads = ran_pool_threads(job->pool);
        const struct ran_cross_validated k = {job->settings->wide_ratios,
                                              job->config->linear.affixes};
        double chosen = ran_cross_validate_bytes(&k, d, s->n, s->columns, threads);
        double last = ran_svm_bytes(d, s->n, s->columns, true);
        chosen = chosen > last ? chosen : last;
        return 8 * n + matrix_bytes(s, file) + (chosen > numbering ? chosen : numbering);
}

static int all_documents(const struct ran_run_sizes *k, size_t **all, struct ran_error *err)
{
        *all = ran_alloc(k->job->train->B, sizeof **all, err);
        for (size_t b = 0; *all != NULL && b < k->job->train->B; b++)
                (*all)[b] = b;
        return *all != NULL ? RAN_OK : RAN_ENOMEM;
}

/* What a fit needs before a refit, and in it, which has the more documents. */
static int measure_fits(struct shape *s, struct ran_linear_estimate *e, struct ran_error *err)
{
        const struct ran_run_sizes *k = s->run;
        const bool refits = ran_train_refits(k->job);
        size_t *all = NULL;

        if (refits)
                RAN_TRY(all_documents(k, &all, err));
        const int rc = measure(s, refits ? all : k->document,
                               refits ? k->job->train->B : k->documents, err);
        free(all);
        RAN_TRY(rc);
        e->fit += fit_bytes(s, &e->file);
        e->write = (double)s->columns * (8 + 4 * (double)k->C);
        return RAN_OK;
}

static int of_documents(const struct ran_run_sizes *k, struct ran_linear_estimate *e,
                        struct ran_error *err)
{
        const struct ran_config *c = k->job->config;
        const struct ran_dataset *d = k->job->train;
        struct ran_feature_lists lists = {0};
        struct shape s = {.run = k, .lists = &lists};
        uint32_t *affixes = NULL;
        int rc = RAN_OK;

        if (ran_linear_model_wants_affixes(c) && k->job->tokenizer != NULL &&
            (affixes = ran_linear_model_affixes(k->job->tokenizer, c, err)) == NULL)
                return RAN_ENOMEM;
        rc = ran_feature_lists_read(&lists, c, d, affixes, d->keep, k->job->pool, err);
        free(affixes);
        if (rc != RAN_OK)
                return rc;
        *(lists.spool.mapped ? &e->file : &e->features) += (double)lists.spool.room;
        *(lists.first_spool.mapped ? &e->file : &e->features) += (double)lists.first_spool.room;
        if (ran_config_has_features(c))
                add_spool(4 * (double)d->B * (double)ran_parts_features(c), &e->features, &e->file,
                          d->keep);
        e->fit = e->features;
        rc = measure_fits(&s, e, err);
        ran_feature_lists_release(&lists);
        return rc;
}

/* A copy of the weights, and sentences as spans, in random order. */
static void of_words(const struct ran_run_sizes *k, struct ran_linear_estimate *e)
{
        const double C = (double)k->C, rows = (double)ran_parts_rows(k->job->config);
        const double words = (double)k->job->train->label_first[k->job->train->B];
        const double sentences = (double)k->job->train->B + words / 8;

        e->fit = 4 * (rows + 1 + C + 2) * C + 48 * sentences;
        e->write = rows * (4 + 4 * C);
}

int ran_estimate_linear(const struct ran_run_sizes *k, struct ran_linear_estimate *e,
                        struct ran_error *err)
{
        *e = (struct ran_linear_estimate){0};
        if (!ran_config_has_predictor(k->job->config) || k->job->train->B == 0)
                return RAN_OK;
        if (ran_has_linear_model(k->job->config))
                return of_documents(k, e, err);
        if (ran_has_linear_words(k->job->config))
                of_words(k, e);
        return RAN_OK;
}
