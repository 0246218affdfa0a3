/* trial.c - an encoder that nobody has trained before may cost no more than the linear model did,
 * unless a part of the documents shows a gain: a look within the first epoch.
 *
 * Both costs are arithmetic, never seconds, so that the same data are decided alike everywhere. The
 * look changes no weight: an encoder that goes on is trained as without it. */
#include "evaluate/evaluate.h"
#include "nn/part.h"
#include "train/gain.h"
#include "train/share.h"
#include "train/stages.h"
#include "task/train.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

/* A number of a document and class costs a linear model, with its cross-validation, as much as so
 * many operations of an encoder: measured, see share/experiments. */
static const double of_number = 5000;
/* Those of a word: n-grams, and prefixes and suffixes of four lengths. */
enum { AFFIXES = 8 };

static double linear_cost(const struct ran_trainer *t)
{
        const struct ran_dataset *d = t->job->train;
        const double numbers = (double)(t->c->linear.ngrams + (t->c->linear.affixes ? AFFIXES : 0));
        const double classes = t->C > 2 ? (double)t->C : 1;
        size_t tokens = 0;

        for (size_t i = 0; i < t->loop.documents; i++)
                tokens += d->first[t->loop.document[i] + 1] - d->first[t->loop.document[i]];
        return of_number * numbers * classes * (double)tokens;
}

static double cost(const struct ran_trainer *t, const struct ran_dataset *d, size_t b)
{
        double flops = 0;

        return ran_parts_flops(t->c, d->first[b + 1] - d->first[b], 0, &flops, NULL) == RAN_OK
                       ? flops
                       : 0;
}

/* An encoder that was trained before is asked for, and finds a use for what it knows later. A
 * tagger's learns nothing at first. */
static bool has_trial(const struct ran_trainer *t)
{
        const struct ran_train_job *job = t->job;

        return t->s->early_stop && t->at.epochs.refit == 0 && t->at.decision.documents > 0 &&
               !t->judge.waits && ran_train_task_of(t->c)->first_look == 1 && job->init == NULL &&
               job->vectors == NULL;
}

/* Half of the cost is for steps, which take three times the forward pass. */
size_t ran_trainer_trial_step(const struct ran_trainer *t)
{
        const double most = has_trial(t) ? linear_cost(t) / 2 : 0;
        double spent = 0;
        size_t i = 0;

        while (most > 0 && i < t->loop.documents && spent < most)
                spent += 3 * cost(t, t->job->train, t->loop.order[i++]);
        return i < t->loop.documents ? (i + t->loop.batch - 1) / t->loop.batch : 0;
}

/* The other half is for as many validation documents. */
static struct ran_dataset part_of_dev(const struct ran_trainer *t)
{
        const double most = linear_cost(t) / 2;
        struct ran_dataset part = *t->job->dev;
        double spent = 0;

        for (part.B = 0; part.B < t->job->dev->B && spent < most; part.B++)
                spent += cost(t, t->job->dev, part.B);
        return part;
}

/* Beside the linear model with weights of its own for these documents. */
static void decide(struct ran_trainer *t, const double *alone)
{
        struct ran_gain g = ran_gain_of(alone, t->judge.losses, t->judge.dev->B);

        g.worth = ran_train_task_of(t->c)->worth;
        if (ran_gain_may_begin(&g))
                return;
        ran_trainer_leave_out(t, RAN_ENCODER_NO_GAIN);
        t->at.decision.gain = g.mean;
        t->at.decision.error = g.error;
        t->at.epochs.batch = 0;
}

static int look(struct ran_trainer *t, double *alone, struct ran_error *err)
{
        struct ran_rates r;

        RAN_TRY(ran_trainer_judge(t, true, &r, err));
        if (ran_trainer_leads(t))
                memcpy(alone, t->judge.losses, t->judge.dev->B * sizeof *alone);
        RAN_TRY(ran_trainer_judge(t, false, &r, err));
        if (ran_trainer_leads(t))
                decide(t, alone);
        return RAN_OK;
}

int ran_trainer_try(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_dataset part = part_of_dev(t);
        double *alone = ran_alloc(part.B, sizeof *alone, err);

        t->judge.dev = &part;
        int rc = ran_ranks_agree(t->job->ranks, alone != NULL ? RAN_OK : RAN_ENOMEM, err);
        if (rc == RAN_OK && alone != NULL)
                rc = look(t, alone, err);
        t->judge.dev = t->job->dev;
        free(alone);
        RAN_TRY(rc);
        RAN_TRY(ran_share_numbers(t, err));
        return ran_trainer_tell_decision(t, err);
}
