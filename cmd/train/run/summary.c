/* summary.c - what is said when a training has ended: results, cost, and how to use the model. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cmd/options/message.h"
#include "cmd/options/write.h"
#include "cmd/formats/import.h"
#include "cmd/content/model.h"
#include "cmd/train/about/about.h"
#include "cmd/train/run/run.h"

double train_peak_bytes(void)
{
        struct rusage usage;

        return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0;
}

/* "validation accuracy 84.00 (84 of 100, 76 to 90 %)" of a model. */
static void tell_figure(const struct train_progress *p, const char *model, double metric,
                        struct ran_interval interval, const char *after)
{
        struct ran_buf line = {0};

        train_figure_metric(p, metric, interval, p->last.validation, &line);
        ran_buf_char(&line, '\0');
        cmd_note("%s: validation %s%s", model, line.data, after);
        ran_buf_release(&line);
}

static void tell_linear(const struct train_progress *p, bool names)
{
        const struct ran_train_report *last = &p->last;

        if (last->described && names)
                cmd_note("the names of the labels are evidence, too, as documents that were held "
                         "out gain by it; --label-texts none leaves them out");

        if (last->no_encoder && last->linear_only)
                cmd_note("n-grams only: document vectors did not improve the linear model in "
                         "cross-validation");
        if (last->best_epoch == 0)
                cmd_note("linear model, without validation documents");
        else
                tell_figure(p, "linear model", last->best, last->best_interval,
                            last->refit ? "; it is refitted on all documents" : "");
}

/* The best epoch, beside what the linear model alone achieves. */
static void tell_best(const struct train_progress *p)
{
        const struct ran_train_report *last = &p->last;
        struct ran_interval none = {1, 0};
        char name[64];

        if (!isnan(last->linear_metric))
                tell_figure(p, "linear model alone", last->linear_metric, last->linear_interval,
                            "");
        if (last->refit)
                snprintf(name, sizeof name, "best epoch %zu", last->best_epoch);
        else
                snprintf(name, sizeof name, "best epoch %zu of %zu", last->best_epoch, last->epoch);
        tell_figure(p, name, last->best, p->texts ? none : last->best_interval,
                    last->refit ? "; the model is refitted on all documents" : "");
}

/* Why a training with --minutes needed less; NULL: no reason but a good guess of the speed. */
static const char *why_short(const struct ran_train_job *job, const struct ran_train_report *last)
{
        if (last->no_encoder)
                return "a linear model takes no longer";
        if (last->decision.why == RAN_ENCODER_NO_ROOM || last->decision.why == RAN_ENCODER_NO_GAIN)
                return "the encoder was given up";
        if (last->limit > 0)
                return last->linear_only ? "the rest was for a refit of the encoder, which is left "
                                           "out"
                                         : NULL;
        return last->stale >= job->settings->patience
                       ? "more epochs did not improve the validation results (--patience)"
                       : "all epochs are done (--epochs)";
}

static void tell_limit(const struct ran_train_job *job, const struct ran_train_report *last)
{
        static const double much = 0.2; /* of the time, to be worth a word */
        char time[32], all[32];

        if (last->limit > 0)
                cmd_note("time limit: the encoder was trained for %zu steps", last->limit);
        if (last->aborted)
                cmd_note("time limit: the encoder is not refitted on all documents");
        const char *why = last->seconds < (1 - much) * job->seconds ? why_short(job, last) : NULL;
        if (why != NULL)
                cmd_note("%s of %s were needed: %s", train_duration(time, last->seconds),
                         train_duration(all, job->seconds), why);
}

void train_summarise(const struct ran_train_job *job, const struct train_progress *p)
{
        const struct ran_train_report *last = &p->last;
        char a[32], b[32];

        if (last->no_encoder || last->linear_only)
                tell_linear(p, job->label_names);
        else if (last->best_epoch > 0)
                tell_best(p);
        else
                cmd_note("%zu epochs, training loss %.4f; the last epoch is kept, without "
                         "validation documents",
                         last->epoch, last->loss);
        /* Always giving the most frequent label needs no document. */
        if (last->best_epoch > 0 && !isnan(last->baseline) &&
            strcmp(train_progress_name(p), "accuracy") == 0)
                cmd_note("baseline, always the most frequent %s: validation accuracy %.2f",
                         p->single ? "label" : "tag", 100 * last->baseline);
        if (last->first_encoder)
                cmd_note("the encoder of the first training is kept: the refitted one does worse "
                         "on the validation documents");
        if (!p->decided) {
                struct ran_buf line = {0};

                ran_train_decision_tell(&last->decision, &line);
                ran_buf_char(&line, '\0');
                if (line.len > 1)
                        cmd_note("%s", line.data);
                ran_buf_release(&line);
        }
        if (last->encoder_only)
                cmd_note("encoder only: the linear model did not improve results on %zu "
                         "validation documents",
                         last->validation);
        tell_limit(job, last);
        cmd_note("%zu documents in %s, peak memory %sB", job->train->B,
                 train_duration(a, last->seconds), train_amount(b, train_peak_bytes()));
        if (last->tokens > 0)
                cmd_note("encoder: %s tokens, %s tokens/s", train_amount(a, (double)last->tokens),
                         train_amount(b, last->tokens_per_second));
        if (last->moved > 0)
                cmd_note("%zu ranks; rank 0 sent and received %sB", ran_ranks_count(job->ranks),
                         train_amount(a, (double)last->moved));
}

/* " --NAME 'VALUE'": a word for the shell. */
static void add_option(struct ran_buf *out, const char *name, const char *value)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_.,:/=@%+-";
        const bool quotes = value[0] == '\0' || value[strspn(value, plain)] != '\0';

        ran_buf_printf(out, " --%s %s", name, quotes ? "'" : "");
        for (const char *s = value; *s != '\0'; s++) {
                ran_buf_str(out, *s == '\'' ? "'\\'" : "");
                ran_buf_char(out, *s);
        }
        ran_buf_str(out, quotes ? "'" : "");
}

void train_tell_model(const struct ran_train_job *job, const struct train_run *run)
{
        const struct import_columns *c = run->columns;
        struct ran_buf columns = {0};
        char size[32];
        struct stat file = {0};

        if (cmd_is_stream(job->output)) {
                cmd_note("the model went to %s", job->output);
                return;
        }
        stat(job->output, &file);
        cmd_note("the model is %s (%sB); use it with:", job->output,
                 train_amount(size, (double)file.st_size));
        /* New records of the same kind need these options as well. */
        if (c->id_member != NULL)
                add_option(&columns, "id-member", c->id_member);
        if (c->delimiter != NULL)
                add_option(&columns, "delimiter", c->delimiter);
        ran_buf_char(&columns, '\0');
        cmd_note("    %s -m %s%s FILE", cmd_model_use(job->config), job->output, columns.data);
        ran_buf_release(&columns);
}
