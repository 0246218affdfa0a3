/* validate.c - development data: choose the best epoch, and tune thresholds and calibration at
 * the end. */
#include "train/validate.h"
#include "train/broadcast.h"
#include "train/evaluate.h"
#include "train/task.h"
#include "train/trainer.h"
#include "ran/train.h"

#include <string.h>

size_t ran_table_bytes(const struct ran_table *t)
{
        return t->rows * t->width * sizeof *t->x;
}

static void keep_best(struct ran_trainer *t, double metric)
{
        if (metric > t->at.best || t->at.best_epoch == 0) {
                t->at.best = metric;
                t->at.best_epoch = t->at.epoch;
                t->at.stale = 0;
                t->at.encoder = t->ensemble.encoder;
                t->at.linear = t->ensemble.linear;
                memcpy(t->best_block, t->p.block, t->layout.size * sizeof(float));
                memcpy(t->best_table, t->table.x, ran_table_bytes(&t->table));
        } else {
                t->at.stale++;
        }
}

int ran_trainer_validate(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report report;
        struct ran_evaluate_rates r = {0}; /* only rank 0 has those of classifiers */
        int rc = ran_train_task_of(t->c)->validate(t, &r, err), next;

        if (rc != RAN_OK)
                return ran_ranks_break(t->job->ranks, rc);
        if (ran_trainer_leads(t))
                keep_best(t, ran_evaluate_metric(&r, t->s->metric));
        RAN_TRY(ran_broadcast_progress(t, err));
        report = ran_trainer_report(t, RAN_REPORT_DEV);
        report.epoch = (size_t)t->at.epoch;
        report.loss = r.loss;
        report.accuracy = r.accuracy;
        report.micro_f1 = r.micro_f1;
        report.macro_f1 = r.macro_f1;
        report.metric = ran_evaluate_metric(&r, t->s->metric);
        report.improved = t->at.stale == 0;
        RAN_TRY(ran_trainer_tell_all(t, &report, &next, err));
        return next == RAN_STOP ? RAN_EINTR : RAN_OK;
}

int ran_trainer_judge_rounded(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_evaluate_rates r = {0};

        if (t->job->storage == RAN_STORAGE_F32 || !ran_config_has_encoder(t->c))
                return RAN_OK;
        int rc = ran_train_task_of(t->c)->validate(t, &r, err);
        if (rc != RAN_OK)
                return ran_ranks_break(t->job->ranks, rc);
        if (ran_trainer_leads(t)) {
                t->at.best = ran_evaluate_metric(&r, t->s->metric);
                t->at.encoder = t->ensemble.encoder;
                t->at.linear = t->ensemble.linear;
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
