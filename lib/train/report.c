/* report.c - progress reports of a training run, and requests to stop it. */
#include "nn/part.h"
#include "train/trainer.h"

#include <math.h>

/* The most epochs of the run. */
size_t ran_trainer_epochs(const struct ran_trainer *t)
{
        if (!ran_config_trains_encoder(t->c))
                return 1;
        return t->at.epochs.refit != 0 ? (size_t)t->at.best.epoch : t->s->epochs;
}

/* And steps; those of `t` go by all that there might be, as the learning rate does. */
static double steps_of(const struct ran_trainer *t)
{
        size_t never = t->s->epochs - ran_trainer_epochs(t);

        if (!ran_config_trains_encoder(t->c))
                return 0;
        if (t->at.epochs.limit > 0 && (double)t->loop.steps <= t->at.epochs.limit)
                return (double)t->loop.steps;
        return (double)t->loop.steps - (double)(never * t->loop.batches);
}

struct ran_train_report ran_trainer_report(const struct ran_trainer *t, int event)
{
        double seconds = ran_clock() - t->time.started, step = (double)t->loop.optimiser.step;
        double done = step - (double)t->time.from_step, steps = steps_of(t), left = steps - step;
        /* An epoch that is at work counts. A refit without an encoder has none: its model is of
         * the best one. */
        const bool none = t->at.epochs.refit != 0 && ran_trainer_drops_encoder(t);
        const size_t epoch =
                (size_t)t->at.epochs.epoch + (t->at.epochs.batch > 0 || event <= RAN_REPORT_STEP);

        return (struct ran_train_report){
                .event = event,
                .refit = t->at.epochs.refit != 0,
                .epoch = none ? (size_t)t->at.best.epoch : epoch,
                .epochs = ran_trainer_epochs(t),
                .step = (size_t)step,
                .steps = (size_t)steps,
                .loss = t->at.epochs.loss_weight > 0 ? t->at.epochs.loss / t->at.epochs.loss_weight
                                                     : 0,
                .learning_rate = t->loop.rate,
                .gradient_norm = t->loop.norm,
                .tokens = t->time.tokens,
                .seconds = seconds,
                .tokens_per_second =
                        t->time.encoder > 0 ? (double)t->time.tokens / t->time.encoder : 0,
                .eta_seconds = done > 0 ? (seconds - t->time.from_seconds) / done * left : 0,
                .metric = t->at.best.metric,
                .best = t->at.best.metric,
                .share = t->time.share,
                .validation = ran_train_has_dev(t->job) ? t->job->dev->B : 0,
                .baseline = t->judge.baseline,
                .interval = t->at.best.interval,
                .best_interval = t->at.best.interval,
                .linear_loss = t->at.decision.loss,
                .linear_metric = t->at.decision.documents > 0 ? t->at.decision.metric : NAN,
                .linear_interval = t->at.decision.interval,
                .decision = ran_trainer_decision(t),
                .limit = !t->judge.timed_out     ? 0
                         : t->at.epochs.last > 0 ? (size_t)t->at.epochs.last
                                                 : (size_t)t->at.epochs.limit,
                .aborted = t->at.epochs.aborted != 0,
                .best_epoch = (size_t)t->at.best.epoch,
                .stale = (size_t)t->at.best.stale,
                .linear_only = ran_trainer_drops_encoder(t),
                .encoder_only = ran_trainer_drops_linear(t),
                .described = t->at.linear.chosen.described != 0 && !ran_trainer_drops_encoder(t),
                .no_encoder = !ran_config_trains_encoder(t->c),
                .first_encoder = t->judge.first_encoder,
                .moved = t->job->ranks != NULL ? t->job->ranks->moved : 0,
        };
}

struct ran_train_decision ran_trainer_decision(const struct ran_trainer *t)
{
        return (struct ran_train_decision){
                .why = (int)t->at.decision.why,
                .epoch = (size_t)t->at.decision.epoch,
                .documents = (size_t)t->at.decision.documents,
                .errors = (size_t)t->at.decision.errors,
                .loss = t->at.decision.loss,
                .gain = t->at.decision.gain,
                .error = t->at.decision.error,
        };
}

void ran_trainer_report_rates(const struct ran_trainer *t, struct ran_train_report *report,
                              const struct ran_rates *r)
{
        report->training_loss = report->loss;
        report->loss = r->loss;
        report->encoder_loss = r->encoder_loss;
        report->accuracy = r->accuracy;
        report->micro_f1 = r->micro_f1;
        report->macro_f1 = r->macro_f1;
        report->metric = ran_rates_metric(r, t->s->metric);
        report->interval = ran_rates_interval(r, t->s->metric);
}

/* Rank 0 reports. The other ranks only learn whether they are asked to stop. */
int ran_trainer_tell(struct ran_trainer *t, const struct ran_train_report *r)
{
        const struct ran_ranks *ranks = t->job->ranks;

        if (!ran_trainer_leads(t))
                return ranks->stopped != NULL ? ranks->stopped() : 0;
        return t->job->report != NULL ? t->job->report(t->job->arg, r) : 0;
}

int ran_trainer_tell_all(struct ran_trainer *t, const struct ran_train_report *r, int *next,
                         struct ran_error *err)
{
        *next = ran_trainer_tell(t, r) != 0 ? RAN_STOP
                : ran_trainer_leads(t) && r->event == RAN_REPORT_STEP && ran_budget_is_due(t)
                        ? RAN_NOTE
                : ran_trainer_leads(t) && ran_clock() - t->time.saved > t->job->checkpoint_seconds
                        ? RAN_SAVE
                        : RAN_GO_ON;
        return ran_ranks_max(t->job->ranks, next, err);
}

int ran_trainer_announce(struct ran_trainer *t, const struct ran_train_report *r,
                         struct ran_error *err)
{
        int next;

        RAN_TRY(ran_trainer_tell_all(t, r, &next, err));
        return next == RAN_STOP ? RAN_EINTR : RAN_OK;
}

/* ---- numbers that are none ------------------------------------------------------------------ */

int ran_trainer_diverged(const struct ran_trainer *t, double epoch, double step, const char *what,
                         struct ran_error *err)
{
        return ran_fail(
                err, RAN_EDIVERGED,
                "training diverged in epoch %.0f, step %.0f: the %s is not finite (learning rate "
                "%g); try a lower --learning-rate or a smaller --clip",
                epoch, step, what, t->loop.rate);
}

int ran_trainer_on_pass(void *arg, size_t passes, double share)
{
        struct ran_trainer *t = arg;

        t->time.share = share;
        struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_LINEAR);

        r.step = passes;
        return ran_trainer_tell(t, &r);
}
