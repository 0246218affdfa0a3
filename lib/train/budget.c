/* budget.c - a time for a run: see trainer.h. */
#include "train/trainer.h"

#include <math.h>

/* Of the time, for what is not foreseen; and until the speed is known, of which the first step is
 * no measure. */
static const double reserve = 0.03, to_measure = 0.02;
enum { STEPS_TO_MEASURE = 3 };

double ran_budget_spent(const struct ran_trainer *t)
{
        return t->time.before + ran_clock() - t->time.started;
}

static double seconds_a_step(const struct ran_trainer *t)
{
        return t->time.encoder / (double)(t->loop.optimiser.step - t->time.from_step);
}

/* The cost of the validation after an epoch: its tokens go forward only. */
static double validation_seconds(const struct ran_trainer *t)
{
        const struct ran_dataset *train = t->job->train, *dev = t->job->dev;

        if (!ran_train_has_dev(t->job))
                return 0;
        return seconds_a_step(t) * (double)t->loop.batches * (double)dev->first[dev->B] /
               (2.5 * (double)train->first[train->B]);
}

/* The steps of the encoder that fit into the time. */
static double affordable_steps(const struct ran_trainer *t)
{
        /* in the first epoch, layers that stay read each document */
        const double share = t->at.epochs.epoch == 0 ? ran_train_tuned_share(t->s, t->c) : 1;
        const double step = share * seconds_a_step(t), documents = (double)t->loop.documents;
        const bool refits = ran_train_refits(t->job);
        double left = (1 - reserve) * t->job->seconds - ran_budget_spent(t);
        double each = step + validation_seconds(t) / (double)t->loop.batches;

        if (refits) {
                left -= t->time.linear;
                each += step * (double)t->job->train->B / documents;
        }
        return floor(fmax(0, left) / each) + (double)t->loop.optimiser.step;
}

/* Whether what must follow, the refit above all, takes all the time that is left. */
static bool is_late(const struct ran_trainer *t)
{
        const double left = t->job->seconds - ran_budget_spent(t);
        double needed = validation_seconds(t);

        if (ran_train_refits(t->job))
                needed += t->time.linear + 1.1 * t->time.encoder;
        return left < needed;
}

/* What a model says that is replayed. */
static bool is_replayed(const struct ran_trainer *t)
{
        const struct ran_train_limit *l = &t->job->limit;

        return (l->steps > 0 && t->at.epochs.limit == 0 && t->loop.optimiser.step == l->from) ||
               (l->last > 0 && t->at.epochs.last == 0 && t->loop.optimiser.step == l->last);
}

bool ran_budget_is_due(const struct ran_trainer *t)
{
        if (t->at.epochs.refit != 0)
                return t->job->seconds > 0 && t->at.epochs.aborted == 0 &&
                       ran_budget_spent(t) > t->job->seconds;
        if (is_replayed(t))
                return true;
        if (!(t->job->seconds > 0) || t->at.epochs.last > 0 ||
            t->loop.optimiser.step < t->time.from_step + STEPS_TO_MEASURE ||
            t->time.encoder < fmin(2, to_measure * t->job->seconds))
                return false;
        return is_late(t) ||
               (t->at.epochs.limit == 0 && affordable_steps(t) < (double)t->loop.steps);
}

static void set_limit(struct ran_trainer *t, double steps)
{
        t->at.epochs.limit_from = (double)t->loop.optimiser.step;
        t->at.epochs.limit = steps;
        t->loop.steps = (size_t)steps;
}

void ran_budget_apply(struct ran_trainer *t)
{
        const struct ran_train_limit *l = &t->job->limit;

        if (t->at.epochs.refit != 0)
                t->at.epochs.aborted = 1;
        else if (is_replayed(t) && t->loop.optimiser.step == l->from && t->at.epochs.limit == 0)
                set_limit(t, (double)l->steps);
        else if (is_replayed(t) || is_late(t))
                t->at.epochs.last = (double)t->loop.optimiser.step;
        else if (t->at.epochs.limit == 0)
                set_limit(t, affordable_steps(t));
}

bool ran_budget_is_used(const struct ran_trainer *t)
{
        const double step = (double)t->loop.optimiser.step;

        return (t->at.epochs.limit > 0 && step >= t->at.epochs.limit) ||
               (t->at.epochs.last > 0 && step >= t->at.epochs.last);
}

bool ran_budget_aborts_refit(const struct ran_trainer *t)
{
        return t->at.epochs.refit != 0 && (t->at.epochs.aborted != 0 || t->job->limit.aborted);
}
