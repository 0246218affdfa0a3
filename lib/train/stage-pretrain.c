/* stage-pretrain.c - the first phase of a training: see stages.h. */
#include "ran/train.h"
#include "evaluate/evaluate.h"
#include "train/pretrained.h"
#include "train/share.h"
#include "train/stages.h"
#include "train/task.h"

#include <math.h>
#include <string.h>

static bool is_due(const struct ran_trainer *t)
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

static int begin(struct ran_trainer *t, struct ran_error *err)
{
        int rc = t->first == NULL ? ran_trainer_make_first(t, err) : RAN_OK;

        RAN_TRY(ran_ranks_agree(t->job->ranks, rc, err));
        t->first->phase.job.seconds = seconds_of(t);
        t->first->t.time.started = t->first->t.time.saved = ran_clock();
        return ran_share_state(&t->first->t, err);
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

static int end(struct ran_trainer *t, struct ran_error *err)
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
        RAN_TRY(ran_share_state(t, err));
        RAN_TRY(ran_trainer_tell_all(t, &r, &next, err));
        return next == RAN_STOP ? RAN_EINTR : RAN_OK;
}

/* The validation loss of the texts before the first step. */
static int measure_first(struct ran_trainer *first, struct ran_error *err)
{
        struct ran_evaluate_rates r = {0};

        if (!ran_train_has_dev(first->job) || first->loop.optimiser.step > 0)
                return RAN_OK;
        int rc = ran_train_task_of(first->c)->validate(first, false, &r, err);
        first->outer->at.pretrained.before = isfinite(r.loss) ? r.loss : 0;
        return ran_ranks_break(first->job->ranks, rc);
}

int ran_stage_pretrain(struct ran_trainer *t, struct ran_error *err)
{
        if (!is_due(t))
                return RAN_OK;
        RAN_TRY(begin(t, err));
        RAN_TRY(measure_first(&t->first->t, err));
        RAN_TRY(ran_stage_epochs(&t->first->t, err));
        RAN_TRY(ran_stage_best(&t->first->t, err));
        return end(t, err);
}
