/* train.c - a training: a sequence of stages.
 *
 *      linear       the linear model is fitted, and judged alone
 *      epochs       the encoder learns from the labels; validation documents judge each epoch
 *      best         the best epoch is restored, proven, rounded and calibrated
 *      start over   where documents were held out: linear and epochs once more, on all of them, and
 *                   the better encoder is kept
 *      write        the model
 *
 * Each stage has a state (state.h) that says how far it is. A checkpoint is written now and then
 * during epochs and whenever the caller stops the run; a resumed run goes through the same list,
 * and stages that are over have nothing to do.
 *
 * A run is a function of its settings and data: counter-based random numbers give the order of
 * documents, dropout and initial weights; sums have a fixed order; the states are a handful of
 * numbers. So an interrupted and resumed run gives the same bytes.
 *
 * Several processes go through the same list with the same weights: share.h.
 */
#include "train/share.h"
#include "train/stages.h"
#include "ran/train.h"

struct stage {
        int (*run)(struct ran_trainer *t, struct ran_error *err);
        enum { FIRST, REFIT, BOTH } when; /* before the refit, or in it */
};

static const struct stage stages[] = {
        {ran_stage_linear, FIRST},     {ran_stage_epochs, FIRST}, {ran_stage_best, FIRST},
        {ran_stage_start_over, FIRST}, {ran_stage_linear, REFIT}, {ran_stage_epochs, REFIT},
        {ran_stage_compare, REFIT},    {ran_stage_write, BOTH},
};

/* Writes a checkpoint for a run that the caller stopped. */
static int stop(struct ran_trainer *t, struct ran_error *err)
{
        RAN_TRY(ran_trainer_save(t, err));
        return ran_fail(err, RAN_EINTR, "stopped in epoch %.0f, after step %.0f",
                        t->at.epochs.epoch + 1, (double)t->loop.optimiser.step);
}

static int run(struct ran_trainer *t, struct ran_error *err)
{
        int rc = RAN_OK;

        t->time.started = t->time.saved = ran_clock();
        for (size_t i = 0; i < sizeof stages / sizeof *stages && rc == RAN_OK; i++)
                if (stages[i].when == BOTH ||
                    (stages[i].when == REFIT) == (t->at.epochs.refit != 0))
                        rc = stages[i].run(t, err);
        if (rc == RAN_EINTR && ran_ranks_are_whole(t->job->ranks))
                return stop(t, err);
        return rc;
}

static int begin(struct ran_trainer *t, const struct ran_train_job *job, struct ran_error *err)
{
        RAN_TRY(ran_trainer_init(t, job, err));
        return job->resume ? ran_checkpoint_read(t, err) : RAN_OK;
}

static int begin_and_run(struct ran_trainer *t, const struct ran_train_job *job,
                         struct ran_error *err)
{
        RAN_TRY(ran_ranks_agree(job->ranks, begin(t, job, err), err));
        RAN_TRY(ran_share_state(t, err));
        return run(t, err);
}

static int train(const struct ran_train_job *job, struct ran_error *err)
{
        struct ran_trainer t;
        int rc = begin_and_run(&t, job, err);

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
