/* stop.c - see stop.h. */
#include "train/stop.h"
#include "train/broadcast.h"
#include "train/evaluate.h"
#include "train/task.h"
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a has more standard errors than b. */
static bool exceeds(const struct ran_gain *a, const struct ran_gain *b)
{
        return a->mean * b->error > b->mean * a->error || (b->error == 0 && a->error > 0);
}

/* ---- the linear model ------------------------------------------------------------------------ */

/* The most frequent class of the training documents, as one that has learned nothing answers. */
static uint32_t top_class(const struct ran_trainer *t, size_t *count)
{
        const struct ran_dataset *d = t->job->train;
        uint32_t top = 0;

        for (size_t i = 0; i < t->loop.documents; i++) {
                size_t b = t->loop.document[i];

                for (size_t at = d->label_first[b]; at < d->label_first[b + 1]; at++)
                        count[d->labels[at]]++;
        }
        for (uint32_t c = 1; c < d->C; c++)
                top = count[c] > count[top] ? c : top;
        return top;
}

/* Validation documents for which that answer is wrong. */
static size_t top_errors(const struct ran_dataset *d, uint32_t top)
{
        size_t errors = 0;

        for (size_t b = 0; b < d->B; b++) {
                bool right = d->label_first[b + 1] > d->label_first[b];

                for (size_t at = d->label_first[b]; at < d->label_first[b + 1]; at++)
                        right &= d->labels[at] == top;
                errors += !right;
        }
        return errors;
}

/* Whether the linear model is better than that, by a standard error. Else its task may be one that
 * only an encoder can learn, in time. */
static int has_learned(const struct ran_trainer *t, size_t errors, bool *learned,
                       struct ran_error *err)
{
        size_t *count = ran_alloc(t->C, sizeof *count, err);

        if (count == NULL)
                return RAN_ENOMEM;
        double naive = (double)top_errors(t->job->dev, top_class(t, count)), ours = (double)errors;
        *learned = naive - ours > sqrt(naive + ours);
        free(count);
        return RAN_OK;
}

static void note_linear(struct ran_trainer *t, const struct ran_evaluate_rates *r)
{
        const struct ran_interval i = ran_evaluate_interval(r, t->s->metric);

        t->at.decision.documents = (double)t->job->dev->B;
        t->at.decision.errors = (double)r->wrong;
        t->at.decision.metric = fmax(ran_evaluate_metric(r, t->s->metric), -1e15);
        t->at.decision.low = i.low;
        t->at.decision.high = i.high;
        t->at.decision.loss = isfinite(r->loss) ? r->loss : 0;
        t->at.decision.weight = t->judge.ensemble.linear;
        t->at.decision.weight_offset = t->judge.ensemble.offset;
        memcpy(t->judge.alone, t->judge.losses, t->job->dev->B * sizeof *t->judge.alone);
}

/* Without an encoder the linear model is the best epoch, the first. */
static void leave_out(struct ran_trainer *t)
{
        t->at.decision.why = RAN_ENCODER_NO_ROOM;
        t->at.epochs.epoch = t->at.best.epoch = 1;
        t->at.best.metric = t->at.decision.metric;
        t->at.best.low = t->at.decision.low;
        t->at.best.high = t->at.decision.high;
        ran_trainer_set_ensemble(t, &(const struct ran_ensemble){0, t->at.decision.weight,
                                                                 t->at.decision.weight_offset});
        memcpy(t->weights.best_block, t->weights.p.block, t->weights.layout.size * sizeof(float));
        memcpy(t->weights.best_table, t->weights.table.x, ran_table_bytes(&t->weights.table));
}

static bool looks(const struct ran_trainer *t)
{
        return ran_train_has_dev(t->job) && t->at.epochs.refit == 0 && t->c->wide > 0 &&
               ran_config_trains_encoder(t->c) && !ran_trainer_is_decided(t);
}

static int judge_linear(struct ran_trainer *t, struct ran_evaluate_rates *r, struct ran_error *err)
{
        const bool first = t->loop.optimiser.step == 0;
        bool learned = false;

        note_linear(t, r);
        RAN_TRY(has_learned(t, r->wrong, &learned, err));
        t->judge.waits = !learned;
        if (first && t->s->early_stop && !ran_gain_has_room(r->wrong))
                leave_out(t);
        return RAN_OK;
}

int ran_trainer_look(struct ran_trainer *t, struct ran_error *err)
{
        const bool first = t->loop.optimiser.step == 0;
        struct ran_evaluate_rates r = {0};
        struct ran_train_report report;
        int next;

        if (!looks(t))
                return RAN_OK;
        int rc = ran_train_task_of(t->c)->validate(t, true, &r, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = judge_linear(t, &r, err);
        if (rc != RAN_OK)
                return ran_ranks_break(t->job->ranks, rc);
        RAN_TRY(ran_broadcast_progress(t, err));
        if (!first) /* resumed: it was told */
                return RAN_OK;
        report = ran_trainer_report(t, RAN_REPORT_FITTED);
        ran_trainer_report_rates(t, &report, &r);
        RAN_TRY(ran_trainer_tell_all(t, &report, &next, err));
        if (next == RAN_STOP)
                return RAN_EINTR;
        return ran_trainer_tell_decision(t, err);
}

/* ---- the encoder ---------------------------------------------------------------------------- */

/* This epoch's; a tagger is judged by its words. */
static struct ran_gain gain_now(const struct ran_trainer *t)
{
        const struct ran_dataset *dev = t->job->dev;
        struct ran_gain g = ran_gain_of(t->judge.alone, t->judge.losses, dev->B);

        g.few = (dev->positions != NULL ? dev->label_first[dev->B] : dev->B) < RAN_GAIN_FEW;
        g.worth = ran_train_task_of(t->c)->worth;
        g.better = t->at.best.top > t->at.decision.metric;
        return g;
}

/* The encoder of a tagger learns nothing in its first epochs. One that was trained before, on texts
 * or for another model, is behind a new one after the first epoch and ahead of it after the third:
 * its looks begin then. */
static bool may_prove(const struct ran_trainer *t, const struct ran_gain *most)
{
        const double epoch =
                t->at.epochs.epoch - (t->at.pretrained.done != 0 || t->job->init != NULL ? 2 : 0);
        const double looks = epoch / (double)ran_train_task_of(t->c)->first_look;

        return looks < 1 || ran_gain_may_prove(most, looks);
}

/* Of the metric of the best epoch, with or without a linear model beside it. */
static void note_best_interval(struct ran_trainer *t, const struct ran_evaluate_rates *r)
{
        const struct ran_interval i = ran_evaluate_interval(r, t->s->metric);

        t->at.best.low = i.low;
        t->at.best.high = i.high;
}

void ran_trainer_weigh(struct ran_trainer *t, const struct ran_evaluate_rates *r, bool best)
{
        if (!ran_config_trains_encoder(t->c)) {
                note_linear(t, r);
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

void ran_trainer_note_best(struct ran_trainer *t, const struct ran_evaluate_rates *r)
{
        note_best_interval(t, r);
        if (t->at.decision.documents == 0)
                return;
        const struct ran_gain g = gain_now(t);

        t->at.best.gain = g.mean;
        t->at.best.error = g.error;
        t->at.decision.base = g.base;
}

int ran_trainer_prove(struct ran_trainer *t, struct ran_error *err)
{
        if (t->at.decision.documents == 0 || !ran_config_trains_encoder(t->c) ||
            t->at.decision.why == RAN_ENCODER_NO_ROOM)
                return RAN_OK;
        if (ran_trainer_leads(t))
                drop_unproven(t);
        return ran_broadcast_progress(t, err);
}

/* ---- telling -------------------------------------------------------------------------------- */

int ran_trainer_tell_decision(struct ran_trainer *t, struct ran_error *err)
{
        int next = RAN_GO_ON;

        if (ran_trainer_is_decided(t)) {
                struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_DECIDED);

                RAN_TRY(ran_trainer_tell_all(t, &r, &next, err));
        }
        return next == RAN_STOP ? RAN_EINTR : RAN_OK;
}
