/* kept.c - the arrays that say how far a run is, by one list for checkpoints and for ranks. */
#include "part/linear/crf-train.h"
#include "train/trainer.h"
#include "ran/train.h"

#include <string.h>

struct list {
        struct ran_extra *x;
        size_t n;
        int of; /* RAN_FOR_... */
};

static void add(struct list *l, int of, const char *name, enum ran_dtype dtype, void *data,
                size_t n)
{
        if ((of & l->of) != 0 && data != NULL)
                l->x[l->n++] = (struct ran_extra){name, dtype, data, n};
}

size_t ran_trainer_extras(struct ran_trainer *t, int of, struct ran_extra x[RAN_EXTRAS])
{
        enum { BOTH = RAN_FOR_RANKS | RAN_FOR_CHECKPOINT };
        const enum ran_dtype F32 = RAN_DTYPE_F32, F64 = RAN_DTYPE_F64;
        struct ran_optimiser *o = &t->loop.optimiser;
        struct ran_weights *w = &t->weights;
        const size_t size = w->layout.size, rows = w->table.rows, all = rows * w->table.width;
        const size_t crf = t->linear.crf != NULL ? ran_crf_train_floats(t->C) : 0;
        struct list l = {.x = x, .n = RAN_STATE_TENSORS, .of = of};

        ran_states_tensors(&t->at, x);
        add(&l, BOTH, "train.m", F32, o->m, size);
        add(&l, BOTH, "train.v", F32, o->v, size);
        add(&l, BOTH, "train.embed.m", F32, o->table.m, all);
        add(&l, BOTH, "train.embed.v", F32, o->table.v, o->table.moments);
        add(&l, BOTH, "train.embed.met", F64, o->table.last_step, rows);
        add(&l, BOTH, "train.chain", F32, t->linear.crf, crf);
        add(&l, RAN_FOR_CHECKPOINT, "train.best", F32, w->best_block, size);
        add(&l, RAN_FOR_CHECKPOINT, "train.embed.best", F32, w->best_table, all);
        if (w->best_block != NULL)
                add(&l, RAN_FOR_CHECKPOINT, "train.calibration", F32, t->judge.calibrated,
                    RAN_CALIBRATION_KEPT);
        add(&l, RAN_FOR_RANKS, "", F32, w->p.block, size);
        add(&l, RAN_FOR_RANKS, "", F32, w->table.x, all);
        add(&l, RAN_FOR_RANKS, "", F32, t->linear.weight, t->linear.rows * t->C);
        add(&l, RAN_FOR_RANKS, "", F32, t->linear.token_weight, t->V);
        add(&l, RAN_FOR_RANKS, "", F32, t->linear.idf, t->linear.rows);
        add(&l, RAN_FOR_RANKS, "", F64, &t->linear.rate, 1);
        add(&l, RAN_FOR_RANKS, "", F32, o->rate_scale, w->layout.n);
        add(&l, RAN_FOR_RANKS, "", F32, o->table.rate_scale, rows);
        return l.n;
}

void ran_trainer_note(struct ran_trainer *t)
{
        t->at.epochs.updates = (double)t->loop.optimiser.step;
        t->at.epochs.decay = t->loop.optimiser.decay;
        t->at.best.calibrated = (double)t->judge.calibration.documents;
        if (t->job->seconds > 0)
                t->at.epochs.spent = ran_budget_spent(t);
        if (t->judge.calibration.n > 0)
                memcpy(t->judge.calibrated, t->judge.calibration.p,
                       t->judge.calibration.n * sizeof(float));
}

/* ---- resuming ------------------------------------------------------------------------------- */

/* Whether the numbers of the stages go together. */
static bool sane(const struct ran_trainer *t)
{
        const struct ran_states *at = &t->at;
        const double epochs = (double)t->s->epochs;
        const double last = at->epochs.refit != 0 ? at->best.epoch : epochs;
        /* Then one of the epochs was the best. */
        const bool judged = ran_train_has_dev(t->job) &&
                            (at->epochs.epoch > 0 || at->best.stale > 0 || at->epochs.refit != 0);

        return ran_states_are_sane(at) && (at->epochs.refit == 0 || ran_train_refits(t->job)) &&
               at->best.threshold <= 1 && at->epochs.epoch <= last &&
               at->epochs.batch <= at->epochs.updates && at->best.epoch <= epochs &&
               (!judged || at->best.epoch > 0) && at->best.stale <= epochs;
}

int ran_trainer_resume(struct ran_trainer *t, struct ran_error *err)
{
        bool here = sane(t);

        if (here) {
                t->loop.optimiser.step = (uint64_t)t->at.epochs.updates;
                t->loop.optimiser.decay = t->at.epochs.decay;
                ran_trainer_list_documents(t);
                ran_trainer_begin_epoch(t);
                here = t->at.epochs.batch <= (double)t->loop.batches;
        }
        return here ? RAN_OK
                    : ran_fail(err, RAN_EFORMAT,
                               "the checkpoint's progress is impossible: the file is damaged");
}
