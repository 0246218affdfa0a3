/* dry-run.c - --dry-run: what a training would need. */
#include "cmd/train/run/dry-run.h"

#include <stdio.h>
#ifdef __GLIBC__ /* as <stdio.h> says */
#include <malloc.h>
#endif

#include "cmd/options/message.h"
#include "cmd/train/about/amount.h"
#include "cmd/train/run/memory.h"

/* Seconds after which a measurement ends, of the linear model and of the encoder; and the share of
 * the linear model's work that says something, unless it takes long. */
static const double enough = 3, too_long = 10, enough_share = 0.1, of_refit = 0.25;

static bool refits(const struct ran_train_job *job)
{
        return job->settings->refit && job->held_out != NULL;
}

struct measurement {
        double seconds; /* of the whole training, estimated */
        double again;   /* what the refit takes beside the first fit, which finds C as well */
        bool whole;     /* it came to its end */
};

/* The linear model: its passes say how much of the work is done. */
static int on_measured_pass(void *arg, const struct ran_train_report *report)
{
        struct measurement *m = arg;
        const double share = report->share > 0.01 ? report->share : 0.01;
        const bool over =
                report->seconds > too_long || (report->seconds > enough && share > enough_share);

        m->seconds = report->seconds;
        m->whole = report->event == RAN_REPORT_END;
        if (report->event != RAN_REPORT_LINEAR || report->refit || !over)
                return 0;
        m->seconds = report->seconds / share * (1 + m->again);
        return 1;
}

/* The encoder: the first step is slower than the others. */
static int on_measured_step(void *arg, const struct ran_train_report *report)
{
        struct measurement *m = arg;

        if (report->event != RAN_REPORT_STEP)
                return 0;
        m->seconds = report->seconds + report->eta_seconds;
        return report->seconds > enough || report->step >= report->steps;
}

/* Trains for a moment, and writes no file. */
static struct measurement measure(const struct ran_train_job *job, const struct ran_config *config,
                                  int (*report)(void *, const struct ran_train_report *))
{
        struct ran_train_settings settings = *job->settings;
        struct ran_train_job trial = *job;
        struct measurement m = {.again = refits(job) ? of_refit : 0};
        struct ran_error err = {0};

        settings.patience = settings.epochs; /* so that nothing else ends it */
        trial.config = config;
        trial.settings = &settings;
        trial.output = trial.checkpoint = NULL;
        trial.report = report;
        trial.arg = &m;
        int rc = ran_train(&trial, &err);
        if (rc != RAN_OK && rc != RAN_EINTR)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        return m;
}

static void tell_linear_time(const struct ran_train_job *job)
{
        struct ran_train_settings settings = *job->settings;
        struct ran_config config = *job->config;
        struct ran_train_job linear = *job;
        char text[32];

        if (!ran_config_has_predictor(&config))
                return;
        settings.freeze = false;
        linear.settings = &settings;
        if (ran_config_trains_encoder(&config))
                ran_config_drop_encoder(&config);
        if (!ran_config_has_features(&config)) { /* initial weights are of an encoder */
                linear.vectors = NULL;
                linear.init = NULL;
        }
        struct measurement m = measure(&linear, &config, on_measured_pass);
        printf("time        %s%s for the linear model, on %zu threads\n", m.whole ? "" : "about ",
               train_duration(text, m.seconds), ran_pool_threads(job->pool));
        fflush(stdout);
}

static void tell_encoder_time(const struct ran_train_job *job)
{
        struct ran_config config = *job->config;
        char text[32];

        struct ran_train_job labels = *job;

        ran_config_drop_predictors(&config);
        struct measurement m = measure(&labels, &config, on_measured_step);
        const double epochs = (double)job->settings->epochs;
        m.seconds *= (1 + (epochs - 1) * ran_train_tuned_share(job->settings, &config)) / epochs;
        printf("time        %s for %zu epochs%s, on %zu threads\n", train_duration(text, m.seconds),
               job->settings->epochs, refits(job) ? ", and at most as much again for --refit" : "",
               ran_pool_threads(job->pool));
        if (job->settings->early_stop && ran_config_has_predictor(job->config) && job->dev != NULL)
                puts("            less if the encoder does not improve on the linear model");
}

/* The memory is that of the program now and what training adds, or the most while data were read.
 */
static void tell_memory(const struct ran_train_estimate *e, double resident, double peak)
{
        /* Runs differ a little: allocators do, and how far threads are. */
        const double training = 1.04 * (resident + (double)e->bytes), reading = 1.04 * peak;
        char text[32];

        printf("memory      %sB at most",
               train_amount(text, training > reading ? training : reading));
        if (e->file_bytes > 0)
                printf(", and %sB in temporary files", train_amount(text, (double)e->file_bytes));
        putchar('\n');
}

int train_dry_run(const struct ran_train_job *job)
{
#ifdef __GLIBC__
        malloc_trim(0); /* what reading has freed, training takes again */
#endif
        const double resident = train_resident_bytes(), peak = train_peak_bytes();
        struct ran_train_estimate e;
        struct ran_error err = {0};
        char text[32];

        if (ran_train_estimate(job, &e, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        printf("parameters  %zu in tables of tokens and features, %zu in the rest\n",
               e.embedding_parameters, e.parameters);
        tell_memory(&e, resident, peak);
        printf("documents   %zu, %s tokens\n", job->train->B,
               train_amount(text, (double)job->train->first[job->train->B]));
        if (ran_config_trains_encoder(job->config)) {
                printf("steps       %zu\n", e.steps);
                printf("arithmetic  %s operations per epoch\n", train_amount(text, e.flops));
        }
        fflush(stdout); /* what follows takes a while */
        tell_linear_time(job);
        if (ran_config_trains_encoder(job->config))
                tell_encoder_time(job);
        return CMD_OK;
}
