/* refit.c - compares the encoder of a refit with that of the best epoch. */
#include "train/validate.h"
#include "train/refit.h"
#include "train/broadcast.h"
#include "train/task.h"
#include "train/trainer.h"
#include "ran/train.h"

/* The loss on the held-out documents with this encoder and the current ensemble weights. */
static int model_loss(struct ran_trainer *t, double *loss, struct ran_error *err)
{
        int rc = ran_train_task_of(t->c)->held_out_loss(t, loss, err);

        return rc == RAN_OK ? RAN_OK : ran_ranks_break(t->job->ranks, rc);
}

static void swap(float *a, float *b, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                float x = a[i];

                a[i] = b[i];
                b[i] = x;
        }
}

/* Swaps the encoder of the best epoch and the current one; the linear model stays. */
static void swap_encoders(struct ran_trainer *t)
{
        swap(t->weights.p.block, t->weights.best_block, t->weights.layout.size);
        swap(t->weights.table.x, t->weights.best_table,
             ran_table_bytes(&t->weights.table) / sizeof *t->weights.table.x);
        if (t->c->wide > 0)
                swap(t->weights.p.head.wide_b,
                     t->weights.best_block + (t->weights.p.head.wide_b - t->weights.p.block), t->C);
}

/* An encoder trained on the held-out documents should predict them better than one that was not.
 * If it does not, the different order of documents led to a worse optimum, as happens with few
 * of them, and the first encoder stays. The linear model is fitted on all documents in both
 * cases: the ensemble loss reveals an overconfident encoder, its own loss would not.
 * aborted: the refit was not trained to its end. */
int ran_trainer_keep_better(struct ran_trainer *t, bool aborted, struct ran_error *err)
{
        double after = 0, before = 0;

        if (aborted && !ran_trainer_drops_encoder(t)) {
                t->judge.first_encoder = true;
                if (ran_trainer_leads(t))
                        swap_encoders(t);
                return ran_broadcast_state(t, err);
        }
        if (ran_train_task_of(t->c)->held_out_loss == NULL || ran_trainer_drops_encoder(t) ||
            !ran_config_trains_encoder(t->c))
                return RAN_OK;
        RAN_TRY(model_loss(t, &after, err));
        if (ran_trainer_leads(t))
                swap_encoders(t);
        RAN_TRY(ran_broadcast_state(t, err));
        RAN_TRY(model_loss(t, &before, err));
        t->judge.first_encoder = !(after <= before); /* nor if it is no number */
        if (ran_trainer_leads(t) && !t->judge.first_encoder)
                swap_encoders(t);
        return RAN_OK;
}
