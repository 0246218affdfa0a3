/* refit.c - the encoder of a refit against that of the best epoch. */
#include "train/broadcast.h"
#include "train/evaluate.h"

#include <stdlib.h>

/* What the model with this encoder, both paths as much as they count, loses on the documents that
 * were held out. */
static int model_loss(struct ran_trainer *t, double *loss, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        const bool both = t->c->wide > 0;
        const struct ran_ensemble ensemble = {both ? t->at.encoder : 1, both ? t->at.linear : 0};
        float *deep = ran_alloc_floats(dev->B * t->C, err);
        float *wide = both ? ran_alloc_floats(dev->B * t->C, err) : NULL;
        int rc = RAN_ENOMEM;

        if (deep != NULL && (wide != NULL || !both))
                rc = ran_evaluate_predict(t->c, &t->p, t->C, dev, t->job->pool, t->job->ranks, deep,
                                          wide, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = ran_ensemble_loss(loss, &ensemble, dev, deep, both ? wide : deep, err);
        free(deep);
        free(wide);
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

/* The one of the best epoch and the one at work change places; the wide path stays. */
static void swap_encoders(struct ran_trainer *t)
{
        swap(t->p.block, t->best_block, t->layout.size);
        swap(t->table.x, t->best_table, ran_table_bytes(&t->table) / sizeof *t->table.x);
        if (t->c->wide > 0)
                swap(t->p.head.wide_b, t->best_block + (t->p.head.wide_b - t->p.block), t->C);
}

/* A model whose encoder has learned from the documents held out tells them better than one whose
 * encoder has not; if not, another order of documents has led it astray, as with few of them
 * happens, and the first one stays. The wide path has learned from all of them, either way: beside
 * it an encoder that is too sure of what it took in shows, which by itself does not. */
int ran_trainer_keep_better(struct ran_trainer *t, struct ran_error *err)
{
        double after = 0, before = 0;

        if (t->c->task != RAN_TASK_CLASSIFY || (t->c->wide > 0 && t->at.encoder == 0))
                return RAN_OK;
        if (model_loss(t, &after, err) != RAN_OK)
                return err->code;
        if (ran_trainer_leads(t))
                swap_encoders(t);
        if (ran_broadcast_state(t, err) != RAN_OK || model_loss(t, &before, err) != RAN_OK)
                return err->code;
        t->first_encoder = !(after <= before); /* nor if it is no number */
        if (ran_trainer_leads(t) && !t->first_encoder)
                swap_encoders(t);
        return RAN_OK;
}
