/* dry-run.c - --dry-run: what a training needs, measured in the first moments of it. */

#include <math.h>
#include <stdlib.h>

#include "cmd/options/message.h"
#include "cmd/options/write.h"
#include "cmd/train/about/about.h"
#include "cmd/train/run/run.h"

/* Seconds after which a measurement ends, unless it is over: the first step is slower than others,
 * and some passes of the linear model say little of it. */
static const double a_moment = 0.5, enough = 3, too_long = 10;
/* What a measurement should have done, as a share of what it measures. */
static const double share_enough = 0.1;
/* The second fit of a linear model does without cross-validation. */
static const double of_refit = 0.25;
/* Runs differ: threads meet with other documents, and allocators keep what was freed. */
static const double room = 1.1;

struct measurement {
        bool refits;
        double seconds; /* of the whole training, estimated */
        double unread;  /* the share of the documents that a frozen encoder has not read yet */
        size_t steps;   /* of the whole training */
        bool whole;     /* it came to its end */
};

static int on_linear(void *arg, const struct ran_train_report *report)
{
        struct measurement *m = arg;
        const double share = fmax(report->share, 0.01);

        m->seconds = report->seconds;
        m->whole = report->event == RAN_REPORT_END;
        if (report->event != RAN_REPORT_LINEAR || report->refit || report->seconds < enough ||
            (share < share_enough && report->seconds < too_long))
                return 0;
        m->seconds = report->seconds / share * (1 + (m->refits ? of_refit : 0));
        m->unread = 1 - share;
        return 1;
}

static int on_step(void *arg, const struct ran_train_report *report)
{
        struct measurement *m = arg;

        if (report->event != RAN_REPORT_STEP)
                return 0;
        m->seconds = report->seconds + report->eta_seconds;
        m->steps = report->steps;
        return report->step >= report->steps ||
               report->seconds > fmin(enough, fmax(a_moment, share_enough * m->seconds));
}

static int on_sample(void *arg, const struct ran_train_report *report)
{
        (void)arg;
        return report->seconds > too_long;
}

/* Trains for a moment, and writes no model; what a frozen encoder makes of documents is kept in
 * --vector-cache. */
static void measure(const struct ran_train_job *like, const struct ran_config *config,
                    struct measurement *m, int (*report)(void *, const struct ran_train_report *))
{
        struct ran_train_settings settings = *like->settings;
        struct ran_train_job job = *like;
        struct ran_error err = {0};

        settings.patience = settings.epochs; /* so that nothing else ends it */
        if (!ran_config_trains_encoder(config))
                settings.freeze = false;
        if (!ran_config_trains_encoder(config) && !ran_config_has_features(config)) {
                job.vectors = NULL; /* which are of an encoder */
                job.init = NULL;
        }
        job.config = config;
        job.settings = &settings;
        job.output = "/dev/null"; /* writing takes memory, too */
        job.checkpoint = NULL;
        job.report = report;
        job.arg = m;
        const int rc = ran_train(&job, &err);
        if (rc != RAN_OK && rc != RAN_EINTR)
                cmd_die(cmd_status_of(&err), "%s", err.text);
}

/* ---- the parts of a training ----------------------------------------------------------------- */

/* cost: of errors, where it is not to be chosen; else 0. */
static void measure_linear(const struct ran_train_job *job, double cost, struct measurement *m,
                           int (*report)(void *, const struct ran_train_report *))
{
        struct ran_train_settings settings = *job->settings;
        struct ran_config config = *job->config;
        struct ran_train_job linear = *job;

        if (cost > 0) {
                settings.wide_cost = cost;
                settings.wide_ratios = RAN_RATIOS_YES;
        }
        linear.settings = &settings;
        if (ran_config_trains_encoder(&config))
                ran_config_drop_encoder(&config);
        measure(&linear, &config, m, report);
}

/* Documents in the order of their length, the longest first. */
static int compare_lengths(const void *a, const void *b, void *first_token)
{
        const size_t i = *(const size_t *)a, j = *(const size_t *)b, *first = first_token;
        const size_t x = first[i + 1] - first[i], y = first[j + 1] - first[j];

        return x != y ? (x < y ? 1 : -1) : (i > j) - (i < j);
}

/* A training from its begin to its end, of a step of documents: the longest of all, and others that
 * are long. A frozen encoder reads all documents, so that it gets the first ones. */
static void measure_few(const struct ran_train_job *job)
{
        const struct ran_dataset none = {0};
        struct ran_dataset train = *job->train, dev = job->dev != NULL ? *job->dev : none;
        struct ran_train_settings settings = *job->settings;
        struct ran_train_job few = *job;
        const size_t B = train.B, n = ran_train_batch(job);
        size_t *order = ran_new(B, sizeof *order);
        bool *others = ran_new(B, sizeof *others);

        for (size_t b = 0; b < B; b++) {
                order[b] = b;
                others[b] = true;
        }
        qsort_r(order, B, sizeof *order, compare_lengths, train.first);
        /* Few of the longest meet in a step. */
        for (size_t i = 0; i < n && i < B; i++)
                others[order[B > 3 * n ? 3 * i : i]] = false;
        if (ran_config_has_features(job->config))
                train.B = B < n ? B : n;
        dev.B = dev.B < n ? dev.B : n;
        settings.epochs = 1;
        settings.early_stop = settings.refit = false;
        few.settings = &settings;
        few.train = &train;
        few.dev = job->dev != NULL ? &dev : NULL;
        few.held_out = train.B == B ? others : NULL;
        measure(&few, job->config, &(struct measurement){0}, on_sample);
        free(order);
        free(others);
}

/* ---- the report ------------------------------------------------------------------------------ */

int train_dry_run(const struct ran_train_job *job)
{
        const bool encoder = ran_config_trains_encoder(job->config);
        const bool predictor = ran_config_has_predictor(job->config);
        const bool classifies = job->config->task == RAN_TASK_CLASSIFY;
        const bool refits = job->settings->refit && job->held_out != NULL;
        const size_t threads = ran_pool_threads(job->pool);
        const double epochs = (double)job->settings->epochs;
        struct measurement linear = {.refits = refits}, steps = {0};
        struct ran_config alone = *job->config;
        struct ran_train_estimate e;
        struct ran_error err = {0};
        struct report r = {0};
        struct ran_buf out = {0};
        char text[32];

        if (ran_train_estimate(job, &e, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        if (predictor)
                measure_linear(job, 0, &linear, on_linear);
        if (predictor && !linear.whole && classifies && !ran_config_has_features(job->config))
                measure_linear(job, 1, &(struct measurement){0}, on_sample);
        if (encoder || !linear.whole)
                measure_few(job);
        if (encoder) {
                ran_config_drop_predictors(&alone);
                measure(job, &alone, &steps, on_step);
                steps.seconds *=
                        (1 + (epochs - 1) * ran_train_tuned_share(job->settings, &alone)) / epochs;
        }
        /* Vectors of documents, and rows of tokens below tuned layers, have yet to be made. */
        const struct ran_dataset *d = job->train;
        const double row = 4 * (double)job->config->dim;
        const double rows = d->keep > 0 ? fmin((double)d->first[d->B] * row, (double)d->keep)
                                        : (double)d->first[d->B] * row;
        const double grows = ran_config_has_features(job->config)
                                     ? 2 * linear.unread * (double)d->B * row
                             : ran_train_below(job->settings, job->config) > 0 ? rows
                                                                               : 0;
        report_put(&r, NULL, "parameters", "%zu in tables of tokens and features, %zu in the rest",
                   e.embedding_parameters, e.parameters);
        report_put(&r, NULL, "memory", "%sB, give or take a quarter",
                   train_amount(text, room * (train_peak_bytes() + grows)));
        report_put(&r, NULL, "documents", "%zu, %s tokens", d->B,
                   train_amount(text, (double)d->first[d->B]));
        if (encoder) {
                report_put(&r, NULL, "steps", "%zu", steps.steps);
                report_put(&r, NULL, "arithmetic", "%s operations per epoch",
                           train_amount(text, e.flops));
        }
        if (predictor)
                report_put(&r, NULL, "time", "%s%s for the linear model, on %zu threads",
                           linear.whole ? "" : "about ", train_duration(text, linear.seconds),
                           threads);
        if (encoder)
                report_put(&r, NULL, "time", "%s for %zu epochs%s, on %zu threads",
                           train_duration(text, steps.seconds), job->settings->epochs,
                           refits ? ", at most twice that with --refit" : "", threads);
        if (encoder && job->settings->early_stop && predictor && job->dev != NULL)
                report_string(&r, NULL, "",
                              "less if the encoder does not improve on the linear model");
        report_finish(&r, true, &out);
        cmd_write_file(NULL, &out);
        ran_buf_release(&out);
        return CMD_OK;
}
