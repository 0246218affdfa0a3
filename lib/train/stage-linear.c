/* stage-linear.c - the linear model, and what it leaves to an encoder: see stages.h. */
#include "tensors/compact.h"
#include "evaluate/evaluate.h"
#include "train/gain.h"
#include "train/share.h"
#include "train/stages.h"
#include "task/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the fit --------------------------------------------------------------------------------- */

static int fit_linear(struct ran_trainer *t, struct ran_error *err)
{
        const double began = ran_clock();
        const struct ran_linear_fit fit = ran_trainer_linear_fit(t);
        struct ran_linear_choice chosen = {t->at.linear.cost,      t->at.linear.ratios,
                                           t->at.linear.affixes,   t->at.linear.dense,
                                           t->at.linear.shrinkage, t->at.linear.described};
        struct ran_ensemble ensemble;

        t->time.share = 0;
        int rc = ran_linear_train(&t->linear, &fit, &chosen, &ensemble, err);
        t->time.linear = ran_clock() - began;
        if (rc != RAN_OK)
                return rc;
        t->at.linear.fitted = 1;
        t->at.linear.cost = chosen.cost;
        t->at.linear.ratios = chosen.ratios;
        t->at.linear.affixes = chosen.affixes;
        t->at.linear.dense = chosen.dense;
        t->at.linear.shrinkage = chosen.shrinkage;
        t->at.linear.described = chosen.described;
        if (ensemble.linear > 0 && !ran_config_trains_encoder(t->c) && !ran_train_has_dev(t->job))
                ran_trainer_set_ensemble(t, &ensemble);
        if (chosen.dense > 0 && t->at.epochs.refit == 0) {
                t->at.linear.weight = ensemble.linear;
                t->at.linear.offset = ensemble.offset;
        }
        return RAN_OK;
}

static bool is_fitted(const struct ran_trainer *t)
{
        return t->linear.rows == 0 || t->linear.rate == 0 || t->at.linear.fitted != 0 ||
               (t->at.epochs.refit != 0 && ran_trainer_drops_linear(t));
}

/* ---- what it achieves alone ------------------------------------------------------------------ */

/* The most frequent class of the training documents, as one that has learned nothing answers. */
static uint32_t top_class(const struct ran_trainer *t, size_t *count)
{
        const struct ran_dataset *d = t->job->train;
        uint32_t top = 0;

        for (size_t i = 0; i < t->loop.documents; i++) {
                size_t b = t->loop.document[i];

                for (size_t at = d->label_first[b]; at < d->label_first[b + 1]; at++)
                        count[d->labels[at]]++;
        }
        for (uint32_t c = 1; c < d->C; c++)
                top = count[c] > count[top] ? c : top;
        return top;
}

/* Validation documents for which that answer is wrong. */
static size_t top_errors(const struct ran_dataset *d, uint32_t top)
{
        size_t errors = 0;

        for (size_t b = 0; b < d->B; b++) {
                bool right = d->label_first[b + 1] > d->label_first[b];

                for (size_t at = d->label_first[b]; at < d->label_first[b + 1]; at++)
                        right &= d->labels[at] == top;
                errors += !right;
        }
        return errors;
}

/* Whether the linear model is better than that, by a standard error. Else its task may be one that
 * only an encoder can learn, in time. */
static int has_learned(const struct ran_trainer *t, size_t errors, bool *learned,
                       struct ran_error *err)
{
        size_t *count = ran_alloc(t->C, sizeof *count, err);

        if (count == NULL)
                return RAN_ENOMEM;
        double naive = (double)top_errors(t->job->dev, top_class(t, count)), ours = (double)errors;
        *learned = naive - ours > sqrt(naive + ours);
        free(count);
        return RAN_OK;
}

void ran_trainer_leave_out(struct ran_trainer *t, int why)
{
        t->at.decision.why = why;
        t->at.epochs.epoch = t->at.best.epoch = 1;
        t->at.best.metric = t->at.decision.metric;
        t->at.best.low = t->at.decision.low;
        t->at.best.high = t->at.decision.high;
        ran_trainer_set_ensemble(t, &(const struct ran_ensemble){0, t->at.decision.weight,
                                                                 t->at.decision.weight_offset});
        memcpy(t->weights.best_block, t->weights.p.block, t->weights.layout.size * sizeof(float));
        memcpy(t->weights.best_table, t->weights.table.x, ran_table_bytes(&t->weights.table));
}

static bool looks(const struct ran_trainer *t)
{
        return ran_train_has_dev(t->job) && t->at.epochs.refit == 0 && t->linear.rows > 0 &&
               ran_config_trains_encoder(t->c) && !ran_trainer_is_decided(t);
}

static int judge(struct ran_trainer *t, struct ran_rates *r, struct ran_error *err)
{
        const bool first = t->loop.optimiser.step == 0;
        bool learned = false;

        ran_trainer_note_linear(t, r);
        RAN_TRY(has_learned(t, r->wrong, &learned, err));
        t->judge.waits = !learned;
        if (first && t->s->early_stop && !ran_encoder_is_imported(t->c) &&
            !ran_gain_has_room(r->wrong))
                ran_trainer_leave_out(t, RAN_ENCODER_NO_ROOM);
        return RAN_OK;
}

static int look(struct ran_trainer *t, struct ran_error *err)
{
        const bool first = t->loop.optimiser.step == 0;
        struct ran_train_report report;
        struct ran_rates r;
        int next;

        if (!looks(t))
                return RAN_OK;
        RAN_TRY(ran_trainer_judge(t, true, &r, err));
        if (ran_trainer_leads(t))
                RAN_TRY(ran_whole(t, judge(t, &r, err)));
        RAN_TRY(ran_share_numbers(t, err));
        if (!first) /* resumed: it was told */
                return RAN_OK;
        report = ran_trainer_report(t, RAN_REPORT_FITTED);
        ran_trainer_report_rates(t, &report, &r);
        RAN_TRY(ran_trainer_tell_all(t, &report, &next, err));
        if (next == RAN_STOP)
                return RAN_EINTR;
        return ran_trainer_tell_decision(t, err);
}

int ran_stage_linear(struct ran_trainer *t, struct ran_error *err)
{
        if (!is_fitted(t)) {
                RAN_TRY(ran_lead(t, fit_linear, err));
                RAN_TRY(ran_share_state(t, err));
        }
        return look(t, err);
}
