/* stage-best.c - the best epoch becomes the model: see stages.h. */
#include "train/share.h"
#include "train/stages.h"
#include "train/task.h"

#include <string.h>

static int tune(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_train_task *task = ran_train_task_of(t->c);
        int rc = RAN_OK;

        if (task->tune != NULL && ran_train_has_dev(t->job))
                rc = task->tune(t, err);
        return ran_whole(t, rc);
}

/* Restores the weights of the best epoch and their results on development data. */
int ran_stage_best(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report r;
        int next;

        if (!ran_train_has_dev(t->job))
                return RAN_OK;
        if (ran_trainer_leads(t)) {
                memcpy(t->weights.p.block, t->weights.best_block,
                       t->weights.layout.size * sizeof(float));
                memcpy(t->weights.table.x, t->weights.best_table,
                       ran_table_bytes(&t->weights.table));
        }
        t->judge.ensemble = ran_trainer_ensemble(t);
        if (ran_trainer_leads(t))
                ran_trainer_round_encoder(t); /* as the model will store it */
        RAN_TRY(ran_share_state(t, err));
        RAN_TRY(ran_trainer_judge_rounded(t, err));
        RAN_TRY(ran_trainer_prove(t, err));
        t->judge.ensemble = ran_trainer_ensemble(t);
        RAN_TRY(tune(t, err));
        r = ran_trainer_report(t, RAN_REPORT_KEPT);
        RAN_TRY(ran_trainer_tell_all(t, &r, &next, err));
        return next == RAN_STOP ? RAN_EINTR : RAN_OK;
}
