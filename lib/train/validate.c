/* validate.c - validation documents: choose the best epoch, and tune thresholds and calibration at
 * the end. */
#include "train/validate.h"
#include "train/broadcast.h"
#include "train/evaluate.h"
#include "train/task.h"
#include "train/stop.h"
#include "train/trainer.h"
#include "ran/train.h"

#include <math.h>
#include <string.h>

/* Of classifiers whose metrics differ by less than a standard error, the one with the lower loss is
 * the better: it sees every document, where accuracy sees those near the boundary. Not so of
 * taggers, of which each word has a loss: on GUM that cost 1.2 F1. */
static bool is_better(const struct ran_trainer *t, const struct ran_evaluate_rates *r)
{
        const double metric = ran_evaluate_metric(r, t->s->metric);
        const struct ran_interval i = ran_evaluate_interval(r, t->s->metric);
        const double error = (i.high - i.low) / 4;

        if (t->at.best.epoch == 0)
                return true;
        if (t->at.decision.documents == 0 || i.low > i.high || t->job->dev->positions != NULL)
                return metric > t->at.best.metric;
        return metric > t->at.best.top + error ||
               (metric > t->at.best.top - error && r->loss < t->at.best.loss);
}

static void keep_best(struct ran_trainer *t, const struct ran_evaluate_rates *r)
{
        const double metric = ran_evaluate_metric(r, t->s->metric);
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

int ran_trainer_validate(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report report;
        struct ran_evaluate_rates r = {0}; /* only rank 0 has those of classifiers */
        int rc = ran_train_task_of(t->c)->validate(t, !ran_config_trains_encoder(t->c), &r, err),
            next;

        if (rc != RAN_OK)
                return ran_ranks_break(t->job->ranks, rc);
        if (ran_trainer_leads(t)) {
                keep_best(t, &r);
                ran_trainer_weigh(t, &r, t->at.best.stale == 0);
        }
        RAN_TRY(ran_broadcast_progress(t, err));
        report = ran_trainer_report(t, RAN_REPORT_DEV);
        report.epoch = (size_t)t->at.epochs.epoch;
        ran_trainer_report_rates(t, &report, &r);
        report.improved = t->at.best.stale == 0;
        RAN_TRY(ran_trainer_tell_all(t, &report, &next, err));
        return next == RAN_STOP ? RAN_EINTR : ran_trainer_tell_decision(t, err);
}

int ran_trainer_judge_rounded(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_evaluate_rates r = {0};

        if (t->job->storage == RAN_STORAGE_F32 || !ran_config_trains_encoder(t->c) ||
            ran_trainer_is_decided(t))
                return RAN_OK;
        int rc = ran_train_task_of(t->c)->validate(t, false, &r, err);
        if (rc != RAN_OK)
                return ran_ranks_break(t->job->ranks, rc);
        if (ran_trainer_leads(t)) {
                t->at.best.metric = ran_evaluate_metric(&r, t->s->metric);
                ran_trainer_set_ensemble(t, &t->judge.ensemble);
                ran_trainer_note_best(t, &r);
        }
        return ran_broadcast_progress(t, err);
}

int ran_trainer_tune(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_train_task *task = ran_train_task_of(t->c);
        int rc = RAN_OK;

        if (task->tune != NULL && ran_train_has_dev(t->job))
                rc = task->tune(t, err);
        return rc == RAN_OK ? RAN_OK : ran_ranks_break(t->job->ranks, rc);
}
