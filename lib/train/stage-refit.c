/* stage-refit.c - the refit on all documents, and its encoder against that of the best epoch: see
 * stages.h. */
#include "part/linear/linear-rows.h"
#include "train/share.h"
#include "train/stages.h"
#include "task/train.h"
#include "ran/train.h"

int ran_stage_start_over(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_REFIT);
        int next;

        if (!ran_train_refits(t->job))
                return RAN_OK;
        RAN_TRY(ran_ranks_agree(t->job->ranks, ran_trainer_refit(t, err), err));
        RAN_TRY(ran_share_state(t, err));
        RAN_TRY(ran_trainer_tell_all(t, &r, &next, err));
        return next == RAN_STOP ? RAN_EINTR : RAN_OK;
}

static int held_out_loss(struct ran_trainer *t, struct ran_task_judged *k, void *loss,
                         struct ran_error *err)
{
        k->ensemble =
                t->linear.rows > 0 ? ran_trainer_ensemble(t) : (struct ran_ensemble){.encoder = 1};
        return ran_train_task_of(t->c)->held_out_loss(k, loss, err);
}

/* The loss on the held-out documents with this encoder and the current ensemble weights. */
static int model_loss(struct ran_trainer *t, double *loss, struct ran_error *err)
{
        return ran_trainer_ask(t, false, held_out_loss, loss, err);
}

static void swap(float *a, float *b, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                float x = a[i];

                a[i] = b[i];
                b[i] = x;
        }
}

/* n weights of the block at `now`, swapped with the others. */
static void swap_back(struct ran_trainer *t, float *now, size_t n)
{
        if (n > 0)
                swap(now, t->weights.best_block + (now - t->weights.p.block), n);
}

/* Swaps the encoder of the best epoch and the current one; the linear model stays. */
static void swap_encoders(struct ran_trainer *t)
{
        swap(t->weights.p.block, t->weights.best_block, t->weights.layout.size);
        swap(t->weights.table.x, t->weights.best_table,
             ran_table_bytes(&t->weights.table) / sizeof *t->weights.table.x);
        const struct ran_linear_params *linear = ran_linear_of(&t->weights.p);
        if (linear == NULL)
                return;
        swap_back(t, linear->bias, t->C);
        swap_back(t, linear->dense, ran_parts_features(t->c) * t->C);
}

/* An encoder trained on the held-out documents should predict them better than one that was not.
 * If it does not, the different order of documents led to a worse optimum, as happens with few
 * of them, and the first encoder stays. The linear model is fitted on all documents in both
 * cases: the ensemble loss reveals an overconfident encoder, its own loss would not. */
int ran_stage_compare(struct ran_trainer *t, struct ran_error *err)
{
        double after = 0, before = 0;

        if (ran_budget_aborts_refit(t) && !ran_trainer_drops_encoder(t)) {
                t->judge.first_encoder = true;
                if (ran_trainer_leads(t))
                        swap_encoders(t);
                return ran_share_state(t, err);
        }
        if (ran_train_task_of(t->c)->held_out_loss == NULL || ran_trainer_drops_encoder(t) ||
            !ran_config_trains_encoder(t->c))
                return RAN_OK;
        RAN_TRY(model_loss(t, &after, err));
        if (ran_trainer_leads(t))
                swap_encoders(t);
        RAN_TRY(ran_share_state(t, err));
        RAN_TRY(model_loss(t, &before, err));
        t->judge.first_encoder = !(after <= before); /* nor if it is no number */
        if (ran_trainer_leads(t) && !t->judge.first_encoder)
                swap_encoders(t);
        return RAN_OK;
}
