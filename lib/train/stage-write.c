/* stage-write.c - the last stage, the model: see stages.h. */
#include "file/model.h"
#include "part/linear/linear-model.h"
#include "task/train.h"
#include "train/share.h"
#include "train/stages.h"

#include <unistd.h>

/* The finished model has one output: multiplies encoder and linear model by their ensemble
 * weights, and adds the offset to the biases. */
static void merge(struct ran_trainer *t)
{
        if (t->linear.rows == 0)
                return;
        const struct ran_ensemble ensemble = ran_trainer_ensemble(t);

        const struct ran_linear_params *linear = ran_linear_of(&t->weights.p);
        ran_train_task_of(t->c)->merge(t->c, &t->weights.p, t->C, &ensemble, t->linear.crf);
        ran_ensemble_scale(linear->bias, t->C, t->at.best.linear);
        if (ran_config_has_features(t->c))
                ran_ensemble_scale(linear->dense, ran_parts_features(t->c) * t->C,
                                   t->at.best.linear);
        ran_ensemble_scale(t->linear.weight, t->linear.rows * t->C, t->at.best.linear);
        float *bias = ran_trainer_drops_linear(t) ? t->weights.p.head.b : linear->bias;
        for (size_t c = 0; c < t->C && t->at.best.offset != 0; c++)
                bias[c] += (float)t->at.best.offset;
}

static int write_model(struct ran_trainer *t, struct ran_error *err)
{
        const bool keeps = t->job->checkpoint != NULL && t->job->keep_checkpoint;
        struct ran_train_report r;
        struct ran_error lost;

        /* Without room for it the model itself may have room. */
        if (keeps)
                ran_checkpoint_write(t, &lost);
        merge(t);
        if (t->job->output != NULL)
                RAN_TRY(ran_trainer_write(t, err));
        if (t->job->checkpoint != NULL && !keeps)
                unlink(t->job->checkpoint);
        r = ran_trainer_report(t, RAN_REPORT_END);
        ran_trainer_tell(t, &r);
        return RAN_OK;
}

int ran_stage_write(struct ran_trainer *t, struct ran_error *err)
{
        return ran_lead(t, write_model, err);
}
