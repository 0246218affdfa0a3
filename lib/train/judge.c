/* judge.c - what the validation documents say of an epoch: which is the best, and whether the
 * encoder gains enough over the linear model (gain.h). */
#include "evaluate/evaluate.h"
#include "train/gain.h"
#include "train/share.h"
#include "train/stages.h"
#include "task/train.h"
#include "ran/train.h"

#include <math.h>
#include <string.h>

/* ---- the gain -------------------------------------------------------------------------------- */

/* Whether a has more standard errors than b. */
static bool exceeds(const struct ran_gain *a, const struct ran_gain *b)
{
        return a->mean * b->error > b->mean * a->error || (b->error == 0 && a->error > 0);
}

void ran_trainer_note_linear(struct ran_trainer *t, const struct ran_rates *r)
{
        const struct ran_interval i = ran_rates_interval(r, t->s->metric);

        t->at.decision.documents = (double)t->job->dev->B;
        t->at.decision.errors = (double)r->wrong;
        t->at.decision.metric = fmax(ran_rates_metric(r, t->s->metric), -1e15);
        t->at.decision.low = i.low;
        t->at.decision.high = i.high;
        t->at.decision.loss = isfinite(r->loss) ? r->loss : 0;
        t->at.decision.weight = t->judge.ensemble.linear;
        t->at.decision.weight_offset = t->judge.ensemble.offset;
        memcpy(t->judge.alone, t->judge.losses, t->job->dev->B * sizeof *t->judge.alone);
}

/* This epoch's; a tagger is judged by its words. */
static struct ran_gain gain_now(const struct ran_trainer *t)
{
        const struct ran_dataset *dev = t->job->dev;
        struct ran_gain g = ran_gain_of(t->judge.alone, t->judge.losses, dev->B);

        g.few = !ran_encoder_is_imported(t->c) &&
                (dev->positions != NULL ? dev->label_first[dev->B] : dev->B) < RAN_GAIN_FEW;
        g.worth = ran_train_task_of(t->c)->worth;
        g.better = t->at.best.top > t->at.decision.metric;
        return g;
}

/* The encoder of a tagger learns nothing in its first epochs. One that was trained before is behind
 * a new one after the first epoch and ahead of it after the third: its looks begin then. */
static bool may_prove(const struct ran_trainer *t, const struct ran_gain *most)
{
        const double epoch = t->at.epochs.epoch - (t->job->init != NULL ? 2 : 0);
        const double looks = epoch / (double)ran_train_task_of(t->c)->first_look;

        return looks < 1 || ran_gain_may_prove(most, looks);
}

/* Notes the metric of the best epoch, with or without a linear model beside it. */
static void note_best_interval(struct ran_trainer *t, const struct ran_rates *r)
{
        const struct ran_interval i = ran_rates_interval(r, t->s->metric);

        t->at.best.low = i.low;
        t->at.best.high = i.high;
}

static void weigh(struct ran_trainer *t, const struct ran_rates *r, bool best)
{
        if (!ran_config_trains_encoder(t->c)) {
                ran_trainer_note_linear(t, r);
                t->at.best.low = t->at.decision.low;
                t->at.best.high = t->at.decision.high;
        }
        if (ran_config_trains_encoder(t->c) && best)
                note_best_interval(t, r);
        if (t->at.decision.documents == 0 || !ran_config_trains_encoder(t->c))
                return;
        const struct ran_gain now = gain_now(t);
        struct ran_gain most = now;

        most.mean = t->at.decision.gain;
        most.error = t->at.decision.error;
        if (t->at.epochs.epoch == 1 || exceeds(&now, &most))
                most = now;
        t->at.decision.gain = most.mean;
        t->at.decision.error = most.error;
        t->at.decision.base = now.base;
        if (best) {
                t->at.best.gain = now.mean;
                t->at.best.error = now.error;
        }
        if (t->s->early_stop && !t->judge.waits && t->at.epochs.epoch < (double)t->s->epochs &&
            !may_prove(t, &most)) {
                t->at.decision.why = RAN_ENCODER_NO_GAIN;
                t->at.decision.epoch = t->at.epochs.epoch;
        }
}

static void note_best(struct ran_trainer *t, const struct ran_rates *r)
{
        note_best_interval(t, r);
        if (t->at.decision.documents == 0)
                return;
        const struct ran_gain g = gain_now(t);

        t->at.best.gain = g.mean;
        t->at.best.error = g.error;
        t->at.decision.base = g.base;
}

/* ---- the best epoch -------------------------------------------------------------------------- */

/* If the metrics of two classifiers differ by less than a standard error, the one with the lower
 * loss is the better: it sees every document, where accuracy sees those near the boundary. Not so
 * of taggers, of which each word has a loss: on GUM that cost 1.2 F1. */
static bool is_better(const struct ran_trainer *t, const struct ran_rates *r)
{
        const double metric = ran_rates_metric(r, t->s->metric);
        const struct ran_interval i = ran_rates_interval(r, t->s->metric);
        const double error = (i.high - i.low) / 4;

        if (t->at.best.epoch == 0)
                return true;
        if (t->at.decision.documents == 0 || i.low > i.high || t->job->dev->positions != NULL)
                return metric > t->at.best.metric;
        return metric > t->at.best.top + error ||
               (metric > t->at.best.top - error && r->loss < t->at.best.loss);
}

static void keep_best(struct ran_trainer *t, const struct ran_rates *r)
{
        const double metric = ran_rates_metric(r, t->s->metric);
        const bool better = is_better(t, r);

        if (t->at.best.epoch == 0 || metric > t->at.best.top)
                t->at.best.top = fmax(metric, -1e15);
        if (better) {
                t->at.best.loss = fmin(r->loss, 1e15);
                t->at.best.metric = metric;
                t->at.best.epoch = t->at.epochs.epoch;
                t->at.best.stale = 0;
                ran_trainer_set_ensemble(t, &t->judge.ensemble);
                memcpy(t->weights.best_block, t->weights.p.block,
                       t->weights.layout.size * sizeof(float));
                memcpy(t->weights.best_table, t->weights.table.x,
                       ran_table_bytes(&t->weights.table));
        } else {
                t->at.best.stale++;
        }
}

int ran_trainer_tell_decision(struct ran_trainer *t, struct ran_error *err)
{
        int next = RAN_GO_ON;

        if (ran_trainer_is_decided(t)) {
                struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_DECIDED);

                RAN_TRY(ran_trainer_tell_all(t, &r, &next, err));
        }
        return next == RAN_STOP ? RAN_EINTR : RAN_OK;
}

int ran_trainer_validate(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report report;
        struct ran_rates r; /* only rank 0 has those of classifiers */
        int next;

        RAN_TRY(ran_trainer_judge(t, !ran_config_trains_encoder(t->c), &r, err));
        if (ran_trainer_leads(t)) {
                keep_best(t, &r);
                weigh(t, &r, t->at.best.stale == 0);
        }
        RAN_TRY(ran_share_numbers(t, err));
        report = ran_trainer_report(t, RAN_REPORT_DEV);
        report.epoch = (size_t)t->at.epochs.epoch;
        ran_trainer_report_rates(t, &report, &r);
        report.improved = t->at.best.stale == 0;
        RAN_TRY(ran_trainer_tell_all(t, &report, &next, err));
        return next == RAN_STOP ? RAN_EINTR : ran_trainer_tell_decision(t, err);
}

int ran_trainer_judge_rounded(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_rates r;

        if (t->job->storage == RAN_STORAGE_F32 || !ran_config_trains_encoder(t->c) ||
            ran_trainer_is_decided(t))
                return RAN_OK;
        RAN_TRY(ran_trainer_judge(t, false, &r, err));
        if (ran_trainer_leads(t)) {
                t->at.best.metric = ran_rates_metric(&r, t->s->metric);
                ran_trainer_set_ensemble(t, &t->judge.ensemble);
                note_best(t, &r);
        }
        return ran_share_numbers(t, err);
}

/* ---- the proof ------------------------------------------------------------------------------- */

static void drop_unproven(struct ran_trainer *t)
{
        struct ran_gain best = gain_now(t);

        best.mean = t->at.best.gain;
        best.error = t->at.best.error;
        best.base = t->at.decision.base;
        best.better = t->at.best.metric > t->at.decision.metric;
        if (t->at.decision.why == RAN_ENCODER_KEPT && t->at.best.encoder > 0 &&
            ran_gain_is_proven(&best))
                return;
        if (t->at.decision.why == RAN_ENCODER_KEPT) {
                t->at.decision.why = RAN_ENCODER_NOT_PROVEN;
                t->at.decision.epoch = t->at.epochs.epoch;
                t->at.decision.gain = best.mean;
                t->at.decision.error = best.error;
        }
        if (t->at.best.encoder == 0)
                return;
        ran_trainer_set_ensemble(t, &(const struct ran_ensemble){0, t->at.decision.weight,
                                                                 t->at.decision.weight_offset});
        t->at.best.metric = t->at.decision.metric;
        t->at.best.low = t->at.decision.low;
        t->at.best.high = t->at.decision.high;
}

int ran_trainer_prove(struct ran_trainer *t, struct ran_error *err)
{
        if (t->at.decision.documents == 0 || !ran_config_trains_encoder(t->c) ||
            t->at.decision.why == RAN_ENCODER_NO_ROOM)
                return RAN_OK;
        if (ran_trainer_leads(t))
                drop_unproven(t);
        return ran_share_numbers(t, err);
}
