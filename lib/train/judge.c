/* judge.c - what the validation documents say: of the linear model alone, of an epoch and which is
 * the best, and whether the encoder gains enough (gain.c). */
#include "evaluate/evaluate.h"
#include "nn/part.h"
#include "part/linear/linear-words.h"
#include "task/train.h"
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- outputs: labels and tags ---------------------------------------------------------------- */

static size_t outputs(const struct ran_trainer *t)
{
        const struct ran_dataset *dev = t->judge.dev;

        return ran_task_of(t->c)->output == RAN_OUTPUT_WORD ? dev->label_first[dev->B] : dev->B;
}

static int predict(struct ran_trainer *t, bool alone, struct ran_task_judged *k,
                   struct ran_error *err)
{
        struct ran_config c = *t->c;
        size_t n;

        if (__builtin_mul_overflow(outputs(t), t->C, &n))
                return ran_fail(err, RAN_ENOMEM, "the validation documents have too many words");
        k->logits = ran_new_floats(n);
        k->linear = t->linear.rows > 0 ? ran_new_floats(n) : NULL;
        if (ran_task_of(t->c)->output == RAN_OUTPUT_WORD)
                k->crf = ran_crf_of(&t->weights.p);
        if (alone && ran_config_trains_encoder(&c))
                ran_config_drop_encoder(&c);
        return ran_evaluate_predict(&c, &t->weights.p, t->C, t->judge.dev, t->job->pool,
                                    t->job->ranks, k->logits, k->linear, err);
}

int ran_trainer_ask(struct ran_trainer *t, bool alone,
                    int (*work)(struct ran_trainer *t, struct ran_task_judged *k, void *arg,
                                struct ran_error *err),
                    void *arg, struct ran_error *err)
{
        /* Where folds have weighed n-grams and vectors, what they found is the prior. */
        const bool weighed = !ran_config_trains_encoder(t->c) && t->at.linear.weight > 0;
        const struct ran_ensemble of_folds = {0, t->at.linear.weight, t->at.linear.offset};
        struct ran_task_judged k = {.c = t->c,
                                    .dev = t->judge.dev,
                                    .pool = t->job->pool,
                                    .C = t->C,
                                    .linear_crf = ran_crf_train_view(t->linear.crf, t->C),
                                    .alone = alone,
                                    .prior = weighed ? of_folds : t->judge.prior,
                                    .ensemble = t->judge.ensemble,
                                    .losses = t->judge.losses};
        int rc = predict(t, alone, &k, err);

        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = work(t, &k, arg, err);
        free(k.logits);
        free(k.linear);
        return ran_ranks_break(t->job->ranks, rc);
}

/* RAN_EDIVERGED unless all n results are finite: the last step of an epoch may have diverged. */
static int check(const struct ran_trainer *t, const float *x, size_t n, struct ran_error *err)
{
        for (size_t i = 0; x != NULL && i < n; i++)
                if (!isfinite(x[i]))
                        return ran_trainer_diverged(t, t->at.epochs.epoch,
                                                    (double)t->loop.optimiser.step,
                                                    "result for the validation documents", err);
        return RAN_OK;
}

static int rate(struct ran_trainer *t, struct ran_task_judged *k, void *rates,
                struct ran_error *err)
{
        RAN_TRY(check(t, k->logits, outputs(t) * t->C, err));
        RAN_TRY(ran_train_task_of(t->c)->judge(k, rates, err));
        t->judge.ensemble = k->ensemble;
        return RAN_OK;
}

static int tune(struct ran_trainer *t, struct ran_task_judged *k, void *arg, struct ran_error *err)
{
        (void)arg;
        RAN_TRY(check(t, k->logits, outputs(t) * t->C, err));
        ran_train_task_of(t->c)->tune(k, &t->judge.calibration, &t->at.best.threshold);
        return RAN_OK;
}

/* ---- outputs: texts -------------------------------------------------------------------------- */

/* Rank 0 generates alone, and tells the others nothing but the metric. */
static int generate(struct ran_trainer *t, struct ran_rates *r, struct ran_error *err)
{
        if (t->s->metric == RAN_METRIC_LOSS || !ran_trainer_leads(t))
                return RAN_OK;
        if (t->c->mask != RAN_MASK_PREFIX)
                return ran_fail(err, RAN_EINVAL,
                                "the metrics bleu and chrf need sources and targets: mask must be "
                                "'prefix'");
        if (t->job->tokenizer == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "the metrics bleu and chrf compare texts: the model has no "
                                "vocabulary");
        return ran_evaluate_generated(r, t->c, &t->weights.p, t->V, t->job->dev, t->job->tokenizer,
                                      t->job->pool, err);
}

/* Results under the weights at work, and the ensemble weights that suit them; alone: of the linear
 * model. Only rank 0 has those of labels and tags. */
static int judge(struct ran_trainer *t, bool alone, struct ran_rates *r, struct ran_error *err)
{
        *r = (struct ran_rates){0};
        if (!ran_task_is_tied(t->c))
                return ran_trainer_ask(t, alone, rate, r, err);
        int rc = ran_evaluate_texts(r, t->c, &t->weights.p, t->V, t->job->dev,
                                    t->loop.batcher.of.mask, t->job->pool, t->job->ranks, err);
        if (rc == RAN_OK)
                rc = generate(t, r, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = check(t, &(const float){(float)r->loss}, 1, err);
        return ran_ranks_break(t->job->ranks, rc);
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void keep_weights(struct ran_weights *w)
{
        memcpy(w->best_block, w->p.block, w->layout.size * sizeof(float));
        memcpy(w->best_table, w->table.x, ran_table_bytes(&w->table));
}

/* The model is the linear model: its results and ensemble weights are the best. */
static void choose_linear(struct ran_trainer *t)
{
        const struct ran_state_decision *d = &t->at.decision;

        t->at.best.metric = d->metric;
        t->at.best.interval = d->interval;
        t->at.best.ensemble = (struct ran_ensemble){0, d->weight, d->weight_offset};
}

/* Without an encoder the linear model is the best epoch, the first. */
static void leave_out(struct ran_trainer *t, int why)
{
        t->at.decision.why = why;
        t->at.epochs.epoch = t->at.best.epoch = 1;
        choose_linear(t);
        keep_weights(&t->weights);
}

/* Tells of the decision that there is no encoder, once it is made. */
static int tell_decision(struct ran_trainer *t, struct ran_error *err)
{
        if (!ran_trainer_is_decided(t))
                return RAN_OK;
        const struct ran_train_report r = ran_trainer_report(t, RAN_REPORT_DECIDED);
        return ran_trainer_announce(t, &r, err);
}

/* ---- the linear model alone ------------------------------------------------------------------ */

static void note_linear(struct ran_trainer *t, const struct ran_rates *r)
{
        struct ran_state_decision *d = &t->at.decision;

        d->documents = (double)t->job->dev->B;
        d->errors = (double)r->wrong;
        d->metric = fmax(ran_rates_metric(r, t->s->metric), -1e15);
        d->interval = ran_rates_interval(r, t->s->metric);
        d->loss = isfinite(r->loss) ? r->loss : 0;
        d->weight = t->judge.ensemble.linear;
        d->weight_offset = t->judge.ensemble.offset;
        memcpy(t->judge.alone, t->judge.losses, t->job->dev->B * sizeof *t->judge.alone);
}

/* Whether the linear model, which is wrong on so many validation documents, is better by a standard
 * error than the most frequent class of the training documents. Else its task may be one that only
 * an encoder can learn, in time. */
static bool has_learned(const struct ran_trainer *t, size_t wrong)
{
        const struct ran_dataset *d = t->job->train, *dev = t->job->dev;
        size_t *count = ran_new(t->C, sizeof *count), naive = 0;
        uint32_t top = 0;

        for (size_t i = 0; i < t->loop.documents; i++) {
                const size_t b = t->loop.document[i];

                for (size_t at = d->label_first[b]; at < d->label_first[b + 1]; at++)
                        count[d->labels[at]]++;
        }
        for (uint32_t c = 1; c < d->C; c++)
                top = count[c] > count[top] ? c : top;
        free(count);
        for (size_t b = 0; b < dev->B; b++) {
                bool right = dev->label_first[b + 1] > dev->label_first[b];

                for (size_t at = dev->label_first[b]; at < dev->label_first[b + 1]; at++)
                        right &= dev->labels[at] == top;
                naive += !right;
        }
        return (double)naive - (double)wrong > sqrt((double)naive + (double)wrong);
}

int ran_trainer_judge_linear(struct ran_trainer *t, struct ran_error *err)
{
        const bool first = t->loop.optimiser.step == 0;
        struct ran_rates r;

        if (!ran_train_has_dev(t->job) || t->at.epochs.refit != 0 || t->linear.rows == 0 ||
            !ran_config_trains_encoder(t->c) || ran_trainer_is_decided(t))
                return RAN_OK;
        RAN_TRY(judge(t, true, &r, err));
        if (ran_trainer_leads(t)) {
                note_linear(t, &r);
                t->judge.waits = !has_learned(t, r.wrong);
                if (first && t->s->early_stop && !ran_encoder_is_imported(t->c) &&
                    !ran_gain_has_room(r.wrong))
                        leave_out(t, RAN_ENCODER_NO_ROOM);
        }
        RAN_TRY(ran_share_numbers(t, err));
        if (!first) /* resumed: it was told */
                return RAN_OK;
        struct ran_train_report report = ran_trainer_report(t, RAN_REPORT_FITTED);
        ran_trainer_report_rates(t, &report, &r);
        RAN_TRY(ran_trainer_announce(t, &report, err));
        return tell_decision(t, err);
}

/* ---- the gain -------------------------------------------------------------------------------- */

/* This epoch's; a tagger is judged by its words. */
static struct ran_gain gain_now(const struct ran_trainer *t)
{
        const struct ran_dataset *dev = t->job->dev;
        struct ran_gain g = ran_gain_of(t->judge.alone, t->judge.losses, dev->B);

        g.few = !ran_encoder_is_imported(t->c) &&
                (dev->positions != NULL ? dev->label_first[dev->B] : dev->B) < RAN_GAIN_FEW;
        g.worth = ran_train_task_of(t->c)->worth;
        g.better = t->at.best.top > t->at.decision.metric;
        return g;
}

/* Notes the results of the best epoch, and its gain where there is a linear model to compare. */
static void note_best(struct ran_trainer *t, const struct ran_rates *r)
{
        t->at.best.interval = ran_rates_interval(r, t->s->metric);
        if (t->at.decision.documents == 0)
                return;
        const struct ran_gain now = gain_now(t);

        t->at.best.gain = now.mean;
        t->at.best.error = now.error;
        t->at.decision.base = now.base;
}

static void weigh(struct ran_trainer *t, const struct ran_rates *r, bool best)
{
        struct ran_state_decision *d = &t->at.decision;

        if (!ran_config_trains_encoder(t->c)) {
                note_linear(t, r);
                t->at.best.interval = d->interval;
                return;
        }
        if (best)
                note_best(t, r);
        if (d->documents == 0)
                return;
        const struct ran_gain now = gain_now(t);
        struct ran_gain most = now;

        most.mean = d->gain;
        most.error = d->error;
        /* has this epoch more standard errors? */
        if (t->at.epochs.epoch == 1 || now.mean * most.error > most.mean * now.error ||
            (most.error == 0 && now.error > 0))
                most = now;
        d->gain = most.mean;
        d->error = most.error;
        d->base = now.base;
        /* The encoder of a tagger learns nothing in its first epochs. One that was trained before
         * is behind a new one after the first epoch and ahead of it after the third: its looks
         * begin then. */
        const double epoch = t->at.epochs.epoch - (t->job->init != NULL ? 2 : 0);
        const double looks = epoch / (double)ran_train_task_of(t->c)->first_look;
        if (t->s->early_stop && !t->judge.waits && t->at.epochs.epoch < (double)t->s->epochs &&
            looks >= 1 && !ran_gain_may_prove(&most, looks)) {
                d->why = RAN_ENCODER_NO_GAIN;
                d->epoch = t->at.epochs.epoch;
        }
}

/* ---- the best epoch -------------------------------------------------------------------------- */

/* If the metrics of two classifiers differ by less than a standard error, the one with the lower
 * loss is the better: it sees every document, where accuracy sees those near the boundary. Not so
 * of taggers, of which each word has a loss: on GUM that cost 1.2 F1. */
static bool is_better(const struct ran_trainer *t, const struct ran_rates *r)
{
        const struct ran_state_best *best = &t->at.best;
        const double metric = ran_rates_metric(r, t->s->metric);
        const struct ran_interval i = ran_rates_interval(r, t->s->metric);
        const double error = (i.high - i.low) / 4;

        if (best->epoch == 0)
                return true;
        if (t->at.decision.documents == 0 || i.low > i.high || t->job->dev->positions != NULL)
                return metric > best->metric;
        return metric > best->top + error || (metric > best->top - error && r->loss < best->loss);
}

static void keep_best(struct ran_trainer *t, const struct ran_rates *r)
{
        struct ran_state_best *best = &t->at.best;
        const double metric = ran_rates_metric(r, t->s->metric);
        const bool better = is_better(t, r);

        if (best->epoch == 0 || metric > best->top)
                best->top = fmax(metric, -1e15);
        if (!better) {
                best->stale++;
                return;
        }
        best->loss = fmin(r->loss, 1e15);
        best->metric = metric;
        best->epoch = t->at.epochs.epoch;
        best->stale = 0;
        best->ensemble = t->judge.ensemble;
        keep_weights(&t->weights);
}

int ran_trainer_validate(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_rates r; /* only rank 0 has those of classifiers */

        RAN_TRY(judge(t, !ran_config_trains_encoder(t->c), &r, err));
        if (ran_trainer_leads(t)) {
                keep_best(t, &r);
                weigh(t, &r, t->at.best.stale == 0);
        }
        RAN_TRY(ran_share_numbers(t, err));
        struct ran_train_report report = ran_trainer_report(t, RAN_REPORT_DEV);
        report.epoch = (size_t)t->at.epochs.epoch;
        ran_trainer_report_rates(t, &report, &r);
        report.improved = t->at.best.stale == 0;
        RAN_TRY(ran_trainer_announce(t, &report, err));
        return tell_decision(t, err);
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

/* The results of what will be stored, if that is rounded. */
static int judge_rounded(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_rates r;

        if (t->job->storage == RAN_STORAGE_F32 || !ran_config_trains_encoder(t->c) ||
            ran_trainer_is_decided(t))
                return RAN_OK;
        RAN_TRY(judge(t, false, &r, err));
        if (ran_trainer_leads(t)) {
                t->at.best.metric = ran_rates_metric(&r, t->s->metric);
                t->at.best.ensemble = t->judge.ensemble;
                note_best(t, &r);
        }
        return ran_share_numbers(t, err);
}

/* Drops an encoder that has not proven itself. */
static void prove(struct ran_trainer *t)
{
        struct ran_state_decision *d = &t->at.decision;
        struct ran_gain best = gain_now(t);

        best.mean = t->at.best.gain;
        best.error = t->at.best.error;
        best.base = d->base;
        best.better = t->at.best.metric > d->metric;
        if (d->why == RAN_ENCODER_KEPT && t->at.best.ensemble.encoder > 0 &&
            ran_gain_is_proven(&best))
                return;
        if (d->why == RAN_ENCODER_KEPT) {
                d->why = RAN_ENCODER_NOT_PROVEN;
                d->epoch = t->at.epochs.epoch;
                d->gain = best.mean;
                d->error = best.error;
        }
        if (t->at.best.ensemble.encoder > 0)
                choose_linear(t);
}

int ran_trainer_judge_best(struct ran_trainer *t, struct ran_error *err)
{
        RAN_TRY(judge_rounded(t, err));
        if (t->at.decision.documents > 0 && ran_config_trains_encoder(t->c) &&
            t->at.decision.why != RAN_ENCODER_NO_ROOM) {
                if (ran_trainer_leads(t))
                        prove(t);
                RAN_TRY(ran_share_numbers(t, err));
        }
        t->judge.ensemble = t->at.best.ensemble;
        if (ran_train_task_of(t->c)->tune == NULL)
                return RAN_OK;
        return ran_trainer_ask(t, ran_trainer_drops_encoder(t), tune, NULL, err);
}

/* ---- a trial within the first epoch ---------------------------------------------------------- */

/* An encoder that nobody has trained before may cost no more than the linear model did, unless a
 * part of the documents shows a gain. Both costs are arithmetic, never seconds, so that the same
 * data are decided alike everywhere. The look changes no weight: an encoder that goes on is trained
 * as without it.
 *
 * A number of a document and class costs a linear model, with its cross-validation, as much as so
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
        return ran_encoder_flops(t->c, d->first[b + 1] - d->first[b], 0);
}

/* Half of the cost is for steps, which take three times the forward pass. An encoder that was
 * trained before is asked for, and finds a use for what it knows later. A tagger's learns nothing
 * at first. */
size_t ran_trainer_trial_step(const struct ran_trainer *t)
{
        const struct ran_train_job *job = t->job;
        const bool has = t->s->early_stop && t->at.epochs.refit == 0 &&
                         t->at.decision.documents > 0 && !t->judge.waits &&
                         ran_train_task_of(t->c)->first_look == 1 && job->init == NULL &&
                         job->vectors == NULL;
        const double most = has ? linear_cost(t) / 2 : 0;
        double spent = 0;
        size_t i = 0;

        while (most > 0 && i < t->loop.documents && spent < most)
                spent += 3 * cost(t, job->train, t->loop.order[i++]);
        return i < t->loop.documents ? (i + t->loop.batch - 1) / t->loop.batch : 0;
}

/* Beside the linear model with weights of its own for these documents. */
static int look(struct ran_trainer *t, double *alone, struct ran_error *err)
{
        struct ran_rates r;

        RAN_TRY(judge(t, true, &r, err));
        if (ran_trainer_leads(t))
                memcpy(alone, t->judge.losses, t->judge.dev->B * sizeof *alone);
        RAN_TRY(judge(t, false, &r, err));
        if (!ran_trainer_leads(t))
                return RAN_OK;
        struct ran_gain g = ran_gain_of(alone, t->judge.losses, t->judge.dev->B);
        g.worth = ran_train_task_of(t->c)->worth;
        if (!ran_gain_may_begin(&g)) {
                leave_out(t, RAN_ENCODER_NO_GAIN);
                t->at.decision.gain = g.mean;
                t->at.decision.error = g.error;
                t->at.epochs.batch = 0;
        }
        return RAN_OK;
}

int ran_trainer_try(struct ran_trainer *t, struct ran_error *err)
{
        const double most = linear_cost(t) / 2;
        struct ran_dataset part = *t->job->dev;
        double spent = 0;

        /* The other half of the cost is for as many validation documents. */
        for (part.B = 0; part.B < t->job->dev->B && spent < most; part.B++)
                spent += cost(t, t->job->dev, part.B);
        double *alone = ran_new(part.B, sizeof *alone);
        t->judge.dev = &part;
        const int rc = look(t, alone, err);
        t->judge.dev = t->job->dev;
        free(alone);
        RAN_TRY(rc);
        RAN_TRY(ran_share_numbers(t, err));
        return tell_decision(t, err);
}
