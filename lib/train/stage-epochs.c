/* stage-epochs.c - the training loop of the encoder: see stages.h. */
#include "nn/task.h"
#include "train/share.h"
#include "train/stages.h"
#include "ran/train.h"

#include <math.h>

/* ---- steps ---------------------------------------------------------------------------------- */

static int step(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_grad *g;
        double loss, scale = 1;
        int rc;

        t->loop.batcher.of.noise.epoch =
                (uint64_t)t->at.epochs.epoch + ran_task_is_tied(t->c); /* 0: of dev data */
        ran_plan_next(&t->loop.plan);
        rc = ran_batch_gradient(&t->loop.batcher, t->loop.plan.chunk, t->loop.plan.n, &loss, &g,
                                err);
        if (rc != RAN_OK)
                return rc;
        ran_optimiser_clear(&t->loop.optimiser, g);
        t->loop.rate = ran_learning_rate(t->s, t->loop.optimiser.step, t->loop.steps);
        t->loop.norm = ran_grad_norm(&t->loop.optimiser, g);
        if (!isfinite(loss) || !isfinite(t->loop.norm)) {
                ran_tree_give(&t->loop.batcher.tree, g);
                return ran_trainer_diverged(t, t->at.epochs.epoch + 1,
                                            (double)t->loop.optimiser.step + 1,
                                            isfinite(loss) ? "gradient" : "loss", err);
        }
        if (t->s->clip > 0 && t->loop.norm > t->s->clip)
                scale = t->s->clip / t->loop.norm;
        ran_optimiser_step(&t->loop.optimiser, t->weights.p.block, &t->weights.table, g, scale,
                           t->loop.rate);
        ran_tree_give(&t->loop.batcher.tree, g);
        for (size_t i = 0; i < t->loop.plan.n; i++)
                t->time.tokens += t->loop.plan.chunk[i].to - t->loop.plan.chunk[i].from;
        t->at.epochs.loss = 0.98 * t->at.epochs.loss + 0.02 * loss;
        t->at.epochs.loss_weight = 0.98 * t->at.epochs.loss_weight + 0.02;
        t->at.epochs.batch++;
        return RAN_OK;
}

static int write_checkpoint(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report r;

        t->time.saved = ran_clock();
        if (t->job->checkpoint == NULL)
                return RAN_OK;
        RAN_TRY(ran_checkpoint_write(t, err));
        t->time.saved = ran_clock();
        r = ran_trainer_report(t, RAN_REPORT_CHECKPOINT);
        ran_trainer_tell(t, &r);
        return RAN_OK;
}

int ran_trainer_save(struct ran_trainer *t, struct ran_error *err)
{
        RAN_TRY(ran_plan_collect(&t->loop.plan, t->job->ranks, err));
        return ran_lead(t, write_checkpoint, err);
}

/* Rank 0 after losing the others: weights and moments belong to a whole step, but the recurrent
 * states of chunks do not. */
static int keep(struct ran_trainer *t, int rc, struct ran_error *err)
{
        struct ran_error other;

        if (ran_trainer_leads(t) && t->loop.plan.recurrent == NULL &&
            write_checkpoint(t, &other) != RAN_OK)
                ran_fail(err, rc, "%s; and no checkpoint: %s", err->text, other.text);
        return rc;
}

/* Time has decided something: all apply it after the same step. */
static int note(struct ran_trainer *t, struct ran_error *err)
{
        if (ran_trainer_leads(t))
                ran_budget_apply(t);
        RAN_TRY(ran_share_numbers(t, err));
        if (t->at.epochs.limit > 0 && t->at.epochs.limit < (double)t->loop.steps)
                t->loop.steps = (size_t)t->at.epochs.limit;
        return RAN_OK;
}

/* One step, and everything due after it. */
static int run_step(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_ranks *ranks = t->job->ranks;
        const double began = ran_clock();
        struct ran_train_report r;
        int next = RAN_GO_ON, rc;

        if (ranks != NULL)
                ranks->interruptible = t->loop.plan.recurrent == NULL;
        if ((rc = step(t, err)) == RAN_OK) {
                t->time.encoder += ran_clock() - began;
                r = ran_trainer_report(t, RAN_REPORT_STEP);
                rc = ran_trainer_tell_all(t, &r, &next, err);
        }
        if (ranks != NULL)
                ranks->interruptible = false;
        if (rc != RAN_OK && ranks != NULL && ranks->broken)
                return keep(t, rc, err);
        if (rc == RAN_OK && next == RAN_STOP) {
                if (ran_trainer_leads(t) && ran_budget_is_due(t))
                        ran_budget_apply(t); /* the next step would be too late */
                return RAN_EINTR;
        }
        if (rc == RAN_OK && next == RAN_NOTE)
                return note(t, err);
        return rc == RAN_OK && next == RAN_SAVE ? ran_trainer_save(t, err) : rc;
}

/* ---- epochs --------------------------------------------------------------------------------- */

/* Whether validation documents judge the weights. */
static bool validates(const struct ran_trainer *t)
{
        return ran_train_has_dev(t->job) && t->at.epochs.refit == 0;
}

static int run_epoch(struct ran_trainer *t, struct ran_error *err)
{
        ran_trainer_begin_epoch(t);
        const size_t trial = t->at.epochs.epoch == 0 ? ran_trainer_trial_step(t) : 0;

        while (t->at.epochs.batch < (double)t->loop.batches && !ran_budget_is_used(t) &&
               !ran_budget_aborts_refit(t)) {
                if (trial > 0 && t->at.epochs.batch == (double)trial)
                        RAN_TRY(ran_trainer_try(t, err));
                if (ran_trainer_is_decided(t) && t->at.epochs.refit == 0)
                        return RAN_OK;
                RAN_TRY(run_step(t, err));
        }
        t->at.epochs.epoch++;
        t->at.epochs.batch = 0;
        ran_batcher_rest(&t->loop.batcher);
        ran_optimiser_flush(&t->loop.optimiser, &t->weights.table);
        RAN_TRY(ran_share_compare(t, err));
        return validates(t) ? ran_trainer_validate(t, err) : RAN_OK;
}

/* Checks the result of the last step, as the next step would: it may have diverged, and no
 * development data reveal it. */
static int check_last(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_grad *g;
        double loss;
        int rc;

        ran_plan_begin(&t->loop.plan, t->loop.order, t->loop.documents);
        ran_plan_next(&t->loop.plan);
        rc = ran_batch_gradient(&t->loop.batcher, t->loop.plan.chunk, t->loop.plan.n, &loss, &g,
                                err);
        if (rc != RAN_OK)
                return rc;
        ran_tree_give(&t->loop.batcher.tree, g);
        return isfinite(loss)
                       ? RAN_OK
                       : ran_trainer_diverged(t, t->at.epochs.epoch, (double)t->loop.optimiser.step,
                                              "loss after it", err);
}

/* What validation documents say of a linear model that is alone. */
static int judge_linear(struct ran_trainer *t, struct ran_error *err)
{
        if (t->at.epochs.epoch > 0)
                return RAN_OK;
        t->at.epochs.epoch = 1;
        return validates(t) ? ran_trainer_validate(t, err) : RAN_OK;
}

/* Epochs until the last one. */
int ran_stage_epochs(struct ran_trainer *t, struct ran_error *err)
{
        int rc = RAN_OK;

        if (!ran_config_trains_encoder(t->c))
                return judge_linear(t, err);
        if (t->at.epochs.refit != 0 && ran_trainer_drops_encoder(t))
                return RAN_OK;
        t->time.from_step = t->loop.optimiser.step;
        t->time.from_seconds = ran_clock() - t->time.started;
        while (rc == RAN_OK && t->at.epochs.epoch < (double)ran_trainer_epochs(t) &&
               (t->at.epochs.refit != 0 || !ran_trainer_is_decided(t)) &&
               (!ran_budget_is_used(t) || t->at.epochs.batch > 0) && /* begun: it is to be judged */
               !ran_budget_aborts_refit(t) &&
               (!validates(t) || t->at.best.stale < (double)t->s->patience))
                rc = run_epoch(t, err);
        if (t->at.epochs.refit == 0)
                t->judge.timed_out = ran_budget_is_used(t) && !ran_trainer_is_decided(t);
        if (rc == RAN_OK && !validates(t) && !ran_budget_aborts_refit(t))
                rc = check_last(t, err);
        return rc;
}
