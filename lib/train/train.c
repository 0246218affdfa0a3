/* train.c - a training: a sequence of stages.
 *
 *      linear       the linear model is fitted, and judged alone
 *      epochs       the encoder learns from the labels; validation documents judge each epoch
 *      best         the best epoch is restored, proven, rounded and calibrated
 *      start over   where documents were held out: linear and epochs once more, on all of them, and
 *                   the better encoder is kept
 *      write        the model
 *
 * Each stage begins where its state in t->at stands and leaves there how far it came (trainer.h).
 * It returns RAN_EINTR when the caller stops the run. A checkpoint is written then, and now and
 * then during epochs; a resumed run goes through the same list, and stages that are over have
 * nothing to do.
 *
 * A run is a function of its settings and data: counter-based random numbers give the order of
 * documents, dropout and initial weights; sums have a fixed order; the states are a handful of
 * numbers. So an interrupted and resumed run gives the same bytes.
 *
 * Several processes go through the same list with the same weights: share.c.
 */
#include "nn/part.h"
#include "part/linear/linear-model.h"
#include "task/train.h"
#include "train/trainer.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- checkpoints ----------------------------------------------------------------------------- */

static int write_checkpoint(struct ran_trainer *t, struct ran_error *err)
{
        const bool writes = t->job->checkpoint != NULL;

        if (writes)
                RAN_TRY(ran_checkpoint_write(t, err));
        t->time.saved = ran_clock();
        if (writes) {
                const struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_CHECKPOINT);

                ran_trainer_tell(t, &r);
        }
        return RAN_OK;
}

static int save(struct ran_trainer *t, struct ran_error *err)
{
        RAN_TRY(ran_plan_collect(&t->loop.plan, t->job->ranks, err));
        return ran_lead(t, write_checkpoint, err);
}

/* ---- the linear model ------------------------------------------------------------------------ */

static int fit_linear(struct ran_trainer *t, struct ran_error *err)
{
        const double began = ran_clock();
        const struct ran_linear_fit fit = ran_trainer_linear_fit(t);
        struct ran_linear_choice chosen = t->at.linear.chosen;
        struct ran_ensemble ensemble;

        t->time.share = 0;
        const int rc = ran_linear_train(&t->linear, &fit, &chosen, &ensemble, err);
        t->time.linear = ran_clock() - began;
        RAN_TRY(rc);
        t->at.linear.fitted = 1;
        t->at.linear.chosen = chosen;
        if (ensemble.linear > 0 && !ran_config_trains_encoder(t->c) && !ran_train_has_dev(t->job))
                t->at.best.ensemble = ensemble;
        if (chosen.dense > 0 && t->at.epochs.refit == 0) {
                t->at.linear.weight = ensemble.linear;
                t->at.linear.offset = ensemble.offset;
        }
        return RAN_OK;
}

static int stage_linear(struct ran_trainer *t, struct ran_error *err)
{
        const bool fits = t->linear.rows > 0 && t->linear.rate != 0 && t->at.linear.fitted == 0 &&
                          !(t->at.epochs.refit != 0 && ran_trainer_drops_linear(t));

        if (fits) {
                RAN_TRY(ran_lead(t, fit_linear, err));
                RAN_TRY(ran_share_state(t, err));
        }
        return ran_trainer_judge_linear(t, err);
}

/* ---- steps of the encoder -------------------------------------------------------------------- */

/* The gradient of the chunks of the next step; ran_tree_give takes it back. */
static int next_gradient(struct ran_trainer *t, double *loss, struct ran_grad **g,
                         struct ran_error *err)
{
        ran_plan_next(&t->loop.plan);
        return ran_batch_gradient(&t->loop.batcher, t->loop.plan.chunk, t->loop.plan.n, loss, g,
                                  err);
}

static int step(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_loop *l = &t->loop;
        struct ran_grad *g;
        double loss, scale = 1;

        l->batcher.of.noise.epoch =
                (uint64_t)t->at.epochs.epoch + ran_task_is_tied(t->c); /* 0: of dev data */
        RAN_TRY(next_gradient(t, &loss, &g, err));
        ran_optimiser_clear(&l->optimiser, g);
        l->rate = ran_learning_rate(t->s, l->optimiser.step, l->steps);
        l->norm = ran_grad_norm(&l->optimiser, g);
        if (!isfinite(loss) || !isfinite(l->norm)) {
                ran_tree_give(&l->batcher.tree, g);
                return ran_trainer_diverged(t, t->at.epochs.epoch + 1,
                                            (double)l->optimiser.step + 1,
                                            isfinite(loss) ? "gradient" : "loss", err);
        }
        if (t->s->clip > 0 && l->norm > t->s->clip)
                scale = t->s->clip / l->norm;
        ran_optimiser_step(&l->optimiser, t->weights.p.block, &t->weights.table, g, scale, l->rate);
        ran_tree_give(&l->batcher.tree, g);
        for (size_t i = 0; i < l->plan.n; i++)
                t->time.tokens += l->plan.chunk[i].to - l->plan.chunk[i].from;
        t->at.epochs.loss = 0.98 * t->at.epochs.loss + 0.02 * loss;
        t->at.epochs.loss_weight = 0.98 * t->at.epochs.loss_weight + 0.02;
        t->at.epochs.batch++;
        return RAN_OK;
}

/* One step, and everything due after it. */
static int run_step(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_ranks *ranks = t->job->ranks;
        const double began = ran_clock();
        struct ran_error other;
        int next = RAN_GO_ON;

        if (ranks != NULL)
                ranks->interruptible = t->loop.plan.recurrent == NULL;
        int rc = step(t, err);
        if (rc == RAN_OK) {
                t->time.encoder += ran_clock() - began;
                const struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_STEP);
                rc = ran_trainer_tell_all(t, &r, &next, err);
        }
        if (ranks != NULL)
                ranks->interruptible = false;
        /* Rank 0 after losing the others: weights and moments belong to a whole step, but the
         * recurrent states of chunks do not. */
        if (rc != RAN_OK && !ran_ranks_are_whole(ranks) && ran_trainer_leads(t) &&
            t->loop.plan.recurrent == NULL && write_checkpoint(t, &other) != RAN_OK)
                ran_fail(err, rc, "%s; and no checkpoint: %s", err->text, other.text);
        RAN_TRY(rc);
        if (next == RAN_STOP) {
                if (ran_trainer_leads(t) && ran_budget_is_due(t))
                        ran_budget_apply(t); /* the next step would be too late */
                return RAN_EINTR;
        }
        if (next != RAN_NOTE)
                return next == RAN_SAVE ? save(t, err) : RAN_OK;
        /* Time has decided something: all apply it after the same step. */
        if (ran_trainer_leads(t))
                ran_budget_apply(t);
        RAN_TRY(ran_share_numbers(t, err));
        if (t->at.epochs.limit > 0 && t->at.epochs.limit < (double)t->loop.steps)
                t->loop.steps = (size_t)t->at.epochs.limit;
        return RAN_OK;
}

/* ---- epochs ---------------------------------------------------------------------------------- */

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
 * validation documents reveal it. */
static int check_last(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_grad *g;
        double loss;

        ran_plan_begin(&t->loop.plan, t->loop.order, t->loop.documents);
        RAN_TRY(next_gradient(t, &loss, &g, err));
        ran_tree_give(&t->loop.batcher.tree, g);
        return isfinite(loss)
                       ? RAN_OK
                       : ran_trainer_diverged(t, t->at.epochs.epoch, (double)t->loop.optimiser.step,
                                              "loss after it", err);
}

/* Whether another epoch follows. One that has begun is to be judged, whatever the time. */
static bool goes_on(const struct ran_trainer *t)
{
        const struct ran_state_epochs *at = &t->at.epochs;

        return at->epoch < (double)ran_trainer_epochs(t) &&
               (at->refit != 0 || !ran_trainer_is_decided(t)) &&
               (!ran_budget_is_used(t) || at->batch > 0) && !ran_budget_aborts_refit(t) &&
               (!validates(t) || t->at.best.stale < (double)t->s->patience);
}

/* Without an encoder to train, the linear model is the only epoch. */
static int stage_epochs(struct ran_trainer *t, struct ran_error *err)
{
        if (!ran_config_trains_encoder(t->c)) {
                if (t->at.epochs.epoch > 0)
                        return RAN_OK;
                t->at.epochs.epoch = 1;
                return validates(t) ? ran_trainer_validate(t, err) : RAN_OK;
        }
        if (t->at.epochs.refit != 0 && ran_trainer_drops_encoder(t))
                return RAN_OK;
        t->time.from_step = t->loop.optimiser.step;
        t->time.from_seconds = ran_clock() - t->time.started;
        while (goes_on(t))
                RAN_TRY(run_epoch(t, err));
        if (t->at.epochs.refit == 0)
                t->judge.timed_out = ran_budget_is_used(t) && !ran_trainer_is_decided(t);
        return validates(t) || ran_budget_aborts_refit(t) ? RAN_OK : check_last(t, err);
}

/* ---- the best epoch -------------------------------------------------------------------------- */

static int stage_best(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_weights *w = &t->weights;

        if (!ran_train_has_dev(t->job))
                return RAN_OK;
        if (ran_trainer_leads(t)) {
                memcpy(w->p.block, w->best_block, w->layout.size * sizeof(float));
                memcpy(w->table.x, w->best_table, ran_table_bytes(&w->table));
                ran_trainer_round_encoder(t); /* as the model will store it */
        }
        t->judge.ensemble = t->at.best.ensemble;
        RAN_TRY(ran_share_state(t, err));
        RAN_TRY(ran_trainer_judge_best(t, err));
        const struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_KEPT);
        return ran_trainer_announce(t, &r, err);
}

/* ---- the refit on all documents -------------------------------------------------------------- */

static int stage_start_over(struct ran_trainer *t, struct ran_error *err)
{
        if (!ran_train_refits(t->job))
                return RAN_OK;
        const struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_REFIT);
        RAN_TRY(ran_ranks_agree(t->job->ranks, ran_trainer_refit(t, err), err));
        RAN_TRY(ran_share_state(t, err));
        return ran_trainer_announce(t, &r, err);
}

static int held_out_loss(struct ran_trainer *t, struct ran_task_judged *k, void *loss,
                         struct ran_error *err)
{
        (void)err;
        k->ensemble =
                t->linear.rows > 0 ? t->at.best.ensemble : (struct ran_ensemble){.encoder = 1};
        *(double *)loss = ran_train_task_of(t->c)->held_out_loss(k);
        return RAN_OK;
}

static void swap(float *a, float *b, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const float x = a[i];

                a[i] = b[i];
                b[i] = x;
        }
}

/* Swaps the encoder of the best epoch and the current one; the linear model stays. */
static void swap_encoders(struct ran_trainer *t)
{
        struct ran_weights *w = &t->weights;
        const struct ran_linear_params *linear = ran_linear_of(&w->p);
        const size_t features = ran_parts_features(t->c);

        swap(w->p.block, w->best_block, w->layout.size);
        swap(w->table.x, w->best_table, ran_table_bytes(&w->table) / sizeof *w->table.x);
        if (linear != NULL)
                swap(linear->bias, w->best_block + (linear->bias - w->p.block), t->C);
        if (linear != NULL && features > 0)
                swap(linear->dense, w->best_block + (linear->dense - w->p.block), features * t->C);
}

/* An encoder trained on the held-out documents should predict them better than one that was not.
 * If it does not, the different order of documents led to a worse optimum, as happens with few
 * of them, and the first encoder stays. The linear model is fitted on all documents in both
 * cases: the ensemble loss reveals an overconfident encoder, its own loss would not. */
static int stage_compare(struct ran_trainer *t, struct ran_error *err)
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
        RAN_TRY(ran_trainer_ask(t, false, held_out_loss, &after, err));
        if (ran_trainer_leads(t))
                swap_encoders(t);
        RAN_TRY(ran_share_state(t, err));
        RAN_TRY(ran_trainer_ask(t, false, held_out_loss, &before, err));
        t->judge.first_encoder = !(after <= before); /* nor if it is no number */
        if (ran_trainer_leads(t) && !t->judge.first_encoder)
                swap_encoders(t);
        return RAN_OK;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* The finished model has one output: multiplies encoder and linear model by their ensemble
 * weights, and adds the offset to the biases. */
static void merge(struct ran_trainer *t)
{
        const struct ran_ensemble ensemble = t->at.best.ensemble;
        const struct ran_linear_params *linear = ran_linear_of(&t->weights.p);

        if (t->linear.rows == 0)
                return;
        ran_train_task_of(t->c)->merge(t->c, &t->weights.p, t->C, &ensemble, t->linear.crf);
        ran_ensemble_scale(linear->bias, t->C, ensemble.linear);
        if (ran_config_has_features(t->c))
                ran_ensemble_scale(linear->dense, ran_parts_features(t->c) * t->C, ensemble.linear);
        ran_ensemble_scale(t->linear.weight, t->linear.rows * t->C, ensemble.linear);
        float *bias = ran_trainer_drops_linear(t) ? t->weights.p.head.b : linear->bias;
        for (size_t c = 0; c < t->C && ensemble.offset != 0; c++)
                bias[c] += (float)ensemble.offset;
}

static int write_model(struct ran_trainer *t, struct ran_error *err)
{
        merge(t);
        if (t->job->output != NULL)
                RAN_TRY(ran_trainer_write(t, err));
        if (t->job->checkpoint != NULL)
                unlink(t->job->checkpoint);
        const struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_END);
        ran_trainer_tell(t, &r);
        return RAN_OK;
}

static int stage_write(struct ran_trainer *t, struct ran_error *err)
{
        return ran_lead(t, write_model, err);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static const struct stage {
        int (*run)(struct ran_trainer *t, struct ran_error *err);
        enum { FIRST, REFIT, BOTH } when; /* before the refit, or in it */
} stages[] = {
        {stage_linear, FIRST},     {stage_epochs, FIRST}, {stage_best, FIRST},
        {stage_start_over, FIRST}, {stage_linear, REFIT}, {stage_epochs, REFIT},
        {stage_compare, REFIT},    {stage_write, BOTH},
};

static int run(struct ran_trainer *t, const struct ran_train_job *job, struct ran_error *err)
{
        int rc = ran_trainer_init(t, job, err);

        if (rc == RAN_OK && job->resume)
                rc = ran_checkpoint_read(t, err);
        RAN_TRY(ran_ranks_agree(job->ranks, rc, err));
        RAN_TRY(ran_share_state(t, err));
        t->time.started = t->time.saved = ran_clock();
        for (size_t i = 0; i < sizeof stages / sizeof *stages && rc == RAN_OK; i++)
                if (stages[i].when == BOTH ||
                    (stages[i].when == REFIT) == (t->at.epochs.refit != 0))
                        rc = stages[i].run(t, err);
        if (rc != RAN_EINTR || !ran_ranks_are_whole(job->ranks))
                return rc;
        RAN_TRY(save(t, err)); /* the caller stopped it */
        return ran_fail(err, RAN_EINTR, "stopped in epoch %.0f, after step %.0f",
                        t->at.epochs.epoch + 1, (double)t->loop.optimiser.step);
}

static int train(const struct ran_train_job *job, struct ran_error *err)
{
        struct ran_trainer t;
        const int rc = run(&t, job, err);

        ran_trainer_release(&t);
        return rc;
}

int ran_train(const struct ran_train_job *job, struct ran_error *err)
{
        err = ran_error_or_spare(err);
        RAN_TRY(ran_share_job(job, err));
        return train(job, err);
}

/* Rank 0 also knows how training ended, unless the ranks are broken. */
int ran_train_follow(struct ran_ranks *ranks, struct ran_error *err)
{
        struct ran_share_job_copy s;
        struct ran_pool *pool = NULL;

        err = ran_error_or_spare(err);
        while (ran_share_receive(&s, ranks, &pool, err)) {
                train(&s.job, err);
                ran_share_release(&s);
                if (ranks->broken)
                        break;
        }
        ran_share_release(&s);
        ran_pool_free(pool);
        return ranks->broken ? (int)err->code : RAN_OK;
}
