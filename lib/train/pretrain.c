/* pretrain.c - see pretrain.h. */
#include "train/pretrain.h"
#include "ran/train.h"
#include "train/broadcast.h"
#include "train/pretrained.h"

#include <math.h>
#include <string.h>

bool ran_pretrain_is_due(const struct ran_trainer *t)
{
        return t->job->texts != NULL && t->at.pretrained.done == 0 && t->at.epochs.refit == 0 &&
               !ran_trainer_is_decided(t);
}

/* --minutes without a time of its own for the first phase: half of what is left. */
static double seconds_of(const struct ran_trainer *t)
{
        if (t->job->texts->seconds > 0 || !(t->job->seconds > 0))
                return t->job->texts->seconds;
        return fmax(1, (t->job->seconds - ran_budget_spent(t)) / 2);
}

int ran_pretrain_begin(struct ran_trainer *t, struct ran_error *err)
{
        int rc = t->first == NULL ? ran_trainer_make_first(t, err) : RAN_OK;

        RAN_TRY(ran_ranks_agree(t->job->ranks, rc, err));
        t->first->phase.job.seconds = seconds_of(t);
        t->first->t.time.started = t->first->t.time.saved = ran_clock();
        return ran_broadcast_state(&t->first->t, err);
}

/* The tensors that both have: those of the encoder, which has the same shape. */
static void keep_tensors(struct ran_trainer *t, const struct ran_trainer *from)
{
        const struct ran_layout *ours = &t->weights.layout, *theirs = &from->weights.layout;

        for (size_t i = 0; i < ours->n; i++) {
                const struct ran_tensor_spec *to = &ours->spec[i], *s = theirs->spec;
                const struct ran_tensor_spec *end = s + theirs->n;

                while (s < end && strcmp(s->name, to->name) != 0)
                        s++;
                if (s < end && !ran_pretrained_is_of_head(to->name))
                        memcpy(t->weights.kept_block + to->offset,
                               from->weights.p.block + s->offset,
                               (to->rows > 0 ? to->rows : 1) * to->cols * sizeof(float));
        }
        memcpy(t->weights.kept_table, from->weights.table.x, t->V * t->D * sizeof(float));
}

static void note(struct ran_trainer *t, const struct ran_trainer *from)
{
        const bool judged = ran_train_has_dev(from->job);

        t->at.pretrained.done = 1;
        t->at.pretrained.after = judged ? -from->at.best.metric
                                 : from->at.epochs.loss_weight > 0
                                         ? from->at.epochs.loss / from->at.epochs.loss_weight
                                         : 0;
        t->at.pretrained.epochs = from->at.epochs.epoch;
        t->at.pretrained.best_epoch = judged ? from->at.best.epoch : from->at.epochs.epoch;
        t->at.pretrained.steps = (double)from->loop.optimiser.step;
        t->at.pretrained.limit_from = from->at.epochs.limit_from;
        t->at.pretrained.limit = from->at.epochs.limit;
        t->at.pretrained.last = from->at.epochs.last;
}

int ran_pretrain_end(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_trainer *from = &t->first->t;
        struct ran_train_report r;
        int rc = ran_trainer_leads(t) ? ran_pretrained_allocate(t, err) : RAN_OK, next;

        RAN_TRY(ran_ranks_agree(t->job->ranks, rc, err));
        note(t, from);
        if (ran_trainer_leads(t)) {
                keep_tensors(t, from);
                ran_pretrained_apply(t);
        }
        r = ran_trainer_report(from, RAN_REPORT_PRETRAINED);
        r.documents = from->loop.documents;
        r.loss_before = t->at.pretrained.before;
        r.loss = t->at.pretrained.after;
        ran_trainer_release_first(t);
        RAN_TRY(ran_broadcast_state(t, err));
        RAN_TRY(ran_trainer_tell_all(t, &r, &next, err));
        return next == RAN_STOP ? RAN_EINTR : RAN_OK;
}
