/* train.c - the training loop.
 *
 * A run is a function of its settings and data: counter-based random numbers give the order of
 * documents, dropout and initial weights; sums have a fixed order; the progress is a handful of
 * numbers. So an interrupted and resumed run gives the same bytes.
 *
 * Several ranks (ranks.h) go through the same loop with the same weights. Rank 0 alone decides (by
 * reports, development data or the clock) and writes files; ran_ranks_agree tells the others.
 */
#include "train/pretrain.h"
#include "train/refit.h"
#include "train/validate.h"
#include "base/error.h"
#include "train/stop.h"
#include "tensors/compact.h"
#include "train/trainer.h"
#include "nn/task.h"
#include "train/broadcast.h"
#include "train/evaluate.h"
#include "train/task.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- steps ---------------------------------------------------------------------------------- */

static int step(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_grad *g;
        double loss, scale = 1;
        int rc;

        t->loop.batcher.noise.epoch =
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
        RAN_TRY(ran_checkpoint_write(t->outer != NULL ? t->outer : t, err));
        t->time.saved = ran_clock();
        r = ran_trainer_report(t, RAN_REPORT_CHECKPOINT);
        ran_trainer_tell(t, &r);
        return RAN_OK;
}

static int save(struct ran_trainer *t, struct ran_error *err)
{
        RAN_TRY(ran_plan_collect(&t->loop.plan, t->job->ranks, err));
        return ran_ranks_agree(t->job->ranks,
                               ran_trainer_leads(t) ? write_checkpoint(t, err) : RAN_OK, err);
}

/* The caller stopped training: writes a checkpoint to resume from. */
static int stop(struct ran_trainer *t, struct ran_error *err)
{
        RAN_TRY(save(t, err));
        return ran_fail(err, RAN_EINTR, "stopped in epoch %.0f, after step %.0f",
                        t->at.epochs.epoch + 1, (double)t->loop.optimiser.step);
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
        RAN_TRY(ran_broadcast_progress(t, err));
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
                return stop(t, err);
        }
        if (rc == RAN_OK && next == RAN_NOTE)
                return note(t, err);
        return rc == RAN_OK && next == RAN_SAVE ? save(t, err) : rc;
}

/* Whether validation documents judge the weights. */
static bool validates(const struct ran_trainer *t)
{
        return ran_train_has_dev(t->job) && t->at.epochs.refit == 0;
}

static int run_epoch(struct ran_trainer *t, struct ran_error *err)
{
        int rc;

        ran_trainer_begin_epoch(t);
        while (t->at.epochs.batch < (double)t->loop.batches && !ran_budget_is_used(t) &&
               !ran_budget_aborts_refit(t))
                if ((rc = run_step(t, err)) != RAN_OK)
                        return rc;
        t->at.epochs.epoch++;
        t->at.epochs.batch = 0;
        ran_batcher_rest(&t->loop.batcher);
        ran_optimiser_flush(&t->loop.optimiser, &t->weights.table);
        if ((rc = ran_broadcast_compare(t, err)) != RAN_OK)
                return rc;
        if (validates(t) && (rc = ran_trainer_validate(t, err)) != RAN_OK)
                return rc == RAN_EINTR ? stop(t, err) : rc;
        return RAN_OK;
}

static int fit_linear(struct ran_trainer *t, struct ran_error *err)
{
        const double began = ran_clock();
        const struct ran_linear_fit fit = ran_trainer_linear_fit(t);
        struct ran_linear_choice chosen = {t->at.linear.cost, t->at.linear.ratios,
                                           t->at.linear.dense};
        struct ran_ensemble ensemble;

        t->time.share = 0;
        int rc = ran_linear_train(&t->linear, &fit, &chosen, &ensemble, err);
        t->time.linear = ran_clock() - began;
        if (rc != RAN_OK)
                return rc;
        t->at.linear.fitted = 1;
        t->at.linear.cost = chosen.cost;
        t->at.linear.ratios = chosen.ratios;
        t->at.linear.dense = chosen.dense;
        if (ensemble.linear > 0 && !ran_config_trains_encoder(t->c) && !ran_train_has_dev(t->job))
                ran_trainer_set_ensemble(t, &ensemble);
        return RAN_OK;
}

static int learn_linear(struct ran_trainer *t, struct ran_error *err)
{
        int rc;

        if (t->c->wide == 0 || t->linear.rate == 0 || t->at.linear.fitted != 0 ||
            (t->at.epochs.refit != 0 && ran_trainer_drops_linear(t)))
                return RAN_OK;
        rc = ran_ranks_agree(t->job->ranks, ran_trainer_leads(t) ? fit_linear(t, err) : RAN_OK,
                             err);
        if (rc != RAN_OK)
                return rc == RAN_EINTR ? stop(t, err) : rc;
        return ran_broadcast_state(t, err);
}

/* The finished model has one output: multiplies encoder and linear model by their ensemble
 * weights, and adds the offset to the biases. */
static void merge(struct ran_trainer *t)
{
        if (t->c->wide == 0)
                return;
        ran_train_task_of(t->c)->merge(t);
        ran_trainer_scale(t->weights.p.head.wide_b, t->C, t->at.best.linear);
        if (t->c->frozen)
                ran_trainer_scale(t->weights.p.head.wide_dense,
                                  ran_parts_features(t->c) * t->C, t->at.best.linear);
        ran_trainer_scale(t->linear.weight, t->c->wide * t->C, t->at.best.linear);
        float *bias =
                ran_trainer_drops_linear(t) ? t->weights.p.head.out_b : t->weights.p.head.wide_b;
        for (size_t c = 0; c < t->C && t->at.best.offset != 0; c++)
                bias[c] += (float)t->at.best.offset;
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
        int rc = validates(t) ? ran_trainer_validate(t, err) : RAN_OK;
        return rc == RAN_EINTR ? stop(t, err) : rc;
}

/* The linear model, and what it leaves to an encoder. */
static int train_linear(struct ran_trainer *t, struct ran_error *err)
{
        int rc = learn_linear(t, err);

        if (rc == RAN_OK && (rc = ran_trainer_look(t, err)) == RAN_EINTR)
                return stop(t, err);
        return rc;
}

/* Epochs until the last one. */
static int train_epochs(struct ran_trainer *t, struct ran_error *err)
{
        int rc = RAN_OK;

        if (!ran_config_trains_encoder(t->c))
                return judge_linear(t, err);
        if (t->at.epochs.refit != 0 && ran_trainer_drops_encoder(t))
                return RAN_OK;
        t->time.from_step = t->loop.optimiser.step;
        t->time.from_seconds = ran_clock() - ran_trainer_began(t);
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

/* Restores the weights of the best epoch and their results on development data. */
static int restore_best(struct ran_trainer *t, struct ran_error *err)
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
        RAN_TRY(ran_broadcast_state(t, err));
        RAN_TRY(ran_trainer_judge_rounded(t, err));
        RAN_TRY(ran_trainer_prove(t, err));
        t->judge.ensemble = ran_trainer_ensemble(t);
        RAN_TRY(ran_trainer_tune(t, err));
        r = ran_trainer_report(t, RAN_REPORT_KEPT);
        RAN_TRY(ran_trainer_tell_all(t, &r, &next, err));
        return next == RAN_STOP ? stop(t, err) : RAN_OK;
}

static int refit(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_REFIT);
        int next;

        RAN_TRY(ran_ranks_agree(t->job->ranks, ran_trainer_refit(t, err), err));
        RAN_TRY(ran_broadcast_state(t, err));
        RAN_TRY(ran_trainer_tell_all(t, &r, &next, err));
        if (next == RAN_STOP)
                return stop(t, err);
        RAN_TRY(train_linear(t, err));
        return train_epochs(t, err);
}

/* The validation loss of the texts before the first step. */
static int measure_first(struct ran_trainer *first, struct ran_error *err)
{
        struct ran_evaluate_rates r = {0};

        if (!validates(first) || first->loop.optimiser.step > 0)
                return RAN_OK;
        int rc = ran_train_task_of(first->c)->validate(first, false, &r, err);
        first->outer->at.pretrained.before = isfinite(r.loss) ? r.loss : 0;
        return rc == RAN_OK ? RAN_OK : ran_ranks_break(first->job->ranks, rc);
}

/* The first phase, by the same loop: pretrain.h. */
static int pretrain(struct ran_trainer *t, struct ran_error *err)
{
        int rc;

        if (!ran_pretrain_is_due(t))
                return RAN_OK;
        RAN_TRY(ran_pretrain_begin(t, err));
        RAN_TRY(measure_first(&t->first->t, err));
        RAN_TRY(train_epochs(&t->first->t, err));
        RAN_TRY(restore_best(&t->first->t, err));
        rc = ran_pretrain_end(t, err);
        return rc == RAN_EINTR ? stop(t, err) : rc;
}

static int write_model(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report r;

        merge(t);
        if (t->job->output != NULL)
                RAN_TRY(ran_trainer_write(t, err));
        if (t->job->checkpoint != NULL)
                unlink(t->job->checkpoint);
        r = ran_trainer_report(t, RAN_REPORT_END);
        ran_trainer_tell(t, &r);
        return RAN_OK;
}

static int run(struct ran_trainer *t, struct ran_error *err)
{
        int rc;

        t->time.started = t->time.saved = ran_clock();
        rc = train_linear(t, err);
        if (rc == RAN_OK)
                rc = pretrain(t, err);
        if (rc == RAN_OK)
                rc = train_epochs(t, err);
        if (rc == RAN_OK && t->at.epochs.refit == 0) {
                rc = restore_best(t, err);
                if (rc == RAN_OK && ran_train_refits(t->job))
                        rc = refit(t, err);
        }
        if (rc == RAN_OK && t->at.epochs.refit != 0)
                rc = ran_trainer_keep_better(t, ran_budget_aborts_refit(t), err);
        if (rc == RAN_OK)
                rc = ran_ranks_agree(t->job->ranks,
                                     ran_trainer_leads(t) ? write_model(t, err) : RAN_OK, err);
        return rc;
}

static int train(const struct ran_train_job *job, struct ran_error *err)
{
        struct ran_trainer t;
        int rc = ran_trainer_init(&t, job, err);

        if (rc == RAN_OK && job->resume)
                rc = ran_checkpoint_read(&t, err);
        rc = ran_ranks_agree(job->ranks, rc, err);
        if (rc == RAN_OK)
                rc = ran_broadcast_state(&t, err);
        if (rc == RAN_OK)
                rc = run(&t, err);
        ran_trainer_release_first(&t);
        ran_trainer_release(&t);
        return rc;
}

int ran_train(const struct ran_train_job *job, struct ran_error *err)
{
        err = ran_error_or_spare(err);
        RAN_TRY(ran_broadcast_job(job, err));
        return train(job, err);
}

/* Rank 0 also knows how training ended, unless the ranks are broken. */
int ran_train_follow(struct ran_ranks *ranks, struct ran_error *err)
{
        struct ran_broadcast_job_copy s;
        struct ran_pool *pool = NULL;

        err = ran_error_or_spare(err);
        while (ran_broadcast_receive(&s, ranks, &pool, err)) {
                train(&s.job, err);
                ran_broadcast_release(&s);
                if (ranks->broken)
                        break;
        }
        ran_broadcast_release(&s);
        ran_pool_free(pool);
        return ranks->broken ? (int)err->code : RAN_OK;
}
