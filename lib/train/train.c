/* train.c - the training loop.
 *
 * A run is a function of its settings and data: the order of documents, dropout and the start are
 * drawn by counters, sums have a fixed order, and where a run stands is a handful of numbers, so
 * that one that was interrupted and resumed gives the same bytes.
 *
 * Several ranks (ranks.h) go through the same loop with the same weights. What is decided, by
 * whoever looks on, by development data or by the clock, rank 0 decides, and files are its
 * business; what it came to is the verdict for all.
 */
#include "base/error.h"
#include "train/trainer.h"
#include "model/tagger.h"
#include "train/crf-train.h"
#include "train/evaluate.h"
#include "train/broadcast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- reports -------------------------------------------------------------------------------- */

/* Epochs that there will be at most. */
static size_t epochs_of(const struct ran_trainer *t)
{
        return t->at.refit != 0 ? (size_t)t->at.best_epoch : t->s->epochs;
}

/* And steps; those of `t` go by all that there might be, as the learning rate does. */
static double steps_of(const struct ran_trainer *t)
{
        size_t never = t->s->epochs - epochs_of(t);

        return (double)t->steps - (double)(never * t->batches);
}

static struct ran_train_report report_of(const struct ran_trainer *t, int event)
{
        double seconds = now() - t->started, step = (double)t->optimiser.step;
        double done = step - (double)t->from_step, steps = steps_of(t), left = steps - step;

        return (struct ran_train_report){
                .event = event,
                .refit = t->at.refit != 0,
                .epoch = (size_t)t->at.epoch + (t->at.batch > 0 || event <= RAN_REPORT_STEP),
                .epochs = epochs_of(t),
                .step = (size_t)step,
                .steps = (size_t)steps,
                .loss = t->at.loss_weight > 0 ? t->at.loss / t->at.loss_weight : 0,
                .learning_rate = t->rate,
                .gradient_norm = t->norm,
                .tokens = t->tokens,
                .seconds = seconds,
                .tokens_per_second = seconds > 0 ? (double)t->tokens / seconds : 0,
                .eta_seconds = done > 0 ? (seconds - t->from_seconds) / done * left : 0,
                .metric = t->at.best,
                .best = t->at.best,
                .best_epoch = (size_t)t->at.best_epoch,
                .stale = (size_t)t->at.stale,
                .linear_only = t->at.best_epoch > 0 && t->c->wide > 0 && t->at.encoder == 0,
                .first_encoder = t->first_encoder,
                .moved = ran_ranks_moved(t->job->ranks),
        };
}

static bool leads(const struct ran_trainer *t)
{
        return ran_ranks_leads(t->job->ranks);
}

/* Whoever looks on is told by rank 0. The others only know whether they are asked to stop. */
static int tell(struct ran_trainer *t, const struct ran_train_report *r)
{
        const struct ran_ranks *ranks = t->job->ranks;

        if (!leads(t))
                return ranks->stopped != NULL ? ranks->stopped() : 0;
        return t->job->report != NULL ? t->job->report(t->job->arg, r) : 0;
}

/* What all do next, when one of them is told that. */
enum { GO_ON, SAVE, STOP };

static int tell_all(struct ran_trainer *t, const struct ran_train_report *r, int *next,
                    struct ran_error *err)
{
        *next = tell(t, r) != 0                                             ? STOP
                : leads(t) && now() - t->saved > t->job->checkpoint_seconds ? SAVE
                                                                            : GO_ON;
        return ran_ranks_max(t->job->ranks, next, err);
}

/* ---- numbers that are none ------------------------------------------------------------------ */

static int diverged(const struct ran_trainer *t, double epoch, double step, const char *what,
                    struct ran_error *err)
{
        return ran_fail(
                err, RAN_EDIVERGED,
                "training diverged in epoch %.0f, step %.0f: the %s is not finite (learning rate "
                "%g); a lower --learning-rate or a smaller --clip may help",
                epoch, step, what, t->rate);
}

/* Of n results for development data: the last step of an epoch may have been one too many. */
static int check_results(const struct ran_trainer *t, const float *x, size_t n,
                         struct ran_error *err)
{
        for (size_t i = 0; i < n; i++)
                if (!isfinite(x[i]))
                        return diverged(t, t->at.epoch, (double)t->optimiser.step,
                                        "result for the development data", err);
        return RAN_OK;
}

/* ---- development data ----------------------------------------------------------------------- */

static double metric_of(const struct ran_trainer *t, const struct ran_evaluate_rates *r)
{
        switch (t->s->metric) {
        case RAN_METRIC_ACCURACY:
                return r->accuracy;
        case RAN_METRIC_MACRO_F1:
                return r->macro_f1;
        case RAN_METRIC_LOSS:
                return -r->loss;
        default:
                return r->micro_f1;
        }
}

static size_t bytes_of(const struct ran_table *t)
{
        return t->rows * t->width * sizeof *t->x;
}

static void keep_best(struct ran_trainer *t, double metric)
{
        if (metric > t->at.best || t->at.best_epoch == 0) {
                t->at.best = metric;
                t->at.best_epoch = t->at.epoch;
                t->at.stale = 0;
                t->at.encoder = t->ensemble.encoder;
                t->at.linear = t->ensemble.linear;
                memcpy(t->best_block, t->p.block, t->layout.size * sizeof(float));
                memcpy(t->best_table, t->table.x, bytes_of(&t->table));
        } else {
                t->at.stale++;
        }
}

/* Probabilities (B, C) of the development data, and what each path counts: FIT asks them, PROVE
 * asks whether the encoder counts at all. */
enum asking { FIT, PROVE };

static int predict(struct ran_trainer *t, enum asking what, float *p, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        size_t C = t->C, n = dev->B * C;
        float *wide = t->c->wide > 0 ? ran_alloc_floats(n, err) : NULL;
        int rc = RAN_ENOMEM;

        if (t->c->wide == 0 || wide != NULL)
                rc = ran_evaluate_predict(t->c, &t->p, C, dev, t->job->pool, t->job->ranks, p, wide,
                                          err);
        if (rc == RAN_OK && leads(t))
                rc = check_results(t, p, n, err);
        if (rc != RAN_OK || !leads(t)) {
                free(wide);
                return rc;
        }
        if (wide != NULL)
                rc = (what == FIT ? ran_ensemble_fit : ran_ensemble_prove)(&t->ensemble, t->prior,
                                                                           dev, p, wide, err);
        if (rc == RAN_OK && wide != NULL)
                ran_ensemble_add(p, &t->ensemble, p, wide, n);
        for (size_t b = 0; b < dev->B && rc == RAN_OK; b++)
                ran_probabilities(t->c, p + b * C, C, p + b * C);
        free(wide);
        return rc;
}

/* Logits `deep` and `wide` (words, C) of the development data become those of both, and chain
 * (ran_crf_train_floats) is what goes with them. */
static int blend_words(struct ran_trainer *t, float *deep, const float *wide, float *chain,
                       struct ran_crf *crf, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        const struct ran_tag_scores u = {deep, ran_crf_of_params(&t->p)},
                                    v = {wide, ran_crf_train_view(t->crf, t->C)};
        int rc = ran_ensemble_fit_words(&t->ensemble, t->prior, dev, &u, &v, err);

        if (rc != RAN_OK)
                return rc;
        ran_ensemble_add(deep, &t->ensemble, deep, wide, dev->label_first[dev->B] * t->C);
        *crf = ran_ensemble_crf(chain, &t->ensemble, &u.crf, &v.crf, t->C);
        return RAN_OK;
}

static int judge_tags(struct ran_trainer *t, struct ran_evaluate_rates *r, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        struct ran_crf crf = ran_crf_of_params(&t->p);
        size_t n;

        if (__builtin_mul_overflow(dev->label_first[dev->B], t->C, &n))
                return ran_fail(err, RAN_ENOMEM, "development data of so many words cannot be");
        float *deep = ran_alloc_floats(n, err),
              *chain = ran_alloc_floats(crf.start != NULL ? ran_crf_train_floats(t->C) : 0, err);
        float *wide = t->c->wide > 0 ? ran_alloc_floats(n, err) : NULL;
        int rc = RAN_ENOMEM;

        if (deep != NULL && chain != NULL && (t->c->wide == 0 || wide != NULL))
                rc = ran_evaluate_predict(t->c, &t->p, t->C, dev, t->job->pool, t->job->ranks, deep,
                                          wide, err);
        if (rc == RAN_OK && leads(t))
                rc = check_results(t, deep, n, err);
        if (rc == RAN_OK && leads(t) && wide != NULL)
                rc = blend_words(t, deep, wide, chain, &crf, err);
        if (rc == RAN_OK && leads(t))
                rc = ran_evaluate_tags(r, dev, deep, &crf, t->job->pool, err);
        free(deep);
        free(wide);
        free(chain);
        return rc;
}

/* Of probabilities (B, C). */
static int judge_labels(struct ran_trainer *t, const float *p, struct ran_evaluate_rates *r,
                        struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        struct ran_eval_report report;
        struct ran_eval *e =
                ran_eval_new(t->C, (const char *const *)dev->names, t->c->multilabel, err);
        int rc = e != NULL ? ran_evaluate_classify(e, dev, p, NULL, err) : RAN_ENOMEM;

        if (rc == RAN_OK) {
                ran_eval_finish(e, &report);
                *r = (struct ran_evaluate_rates){report.accuracy, report.micro.f1, report.macro.f1,
                                                 report.n_known > 0 ? report.log_loss : INFINITY};
        }
        ran_eval_free(e);
        return rc;
}

static int judge_texts(struct ran_trainer *t, struct ran_evaluate_rates *r, struct ran_error *err)
{
        int rc = ran_evaluate_texts(r, t->c, &t->p, t->V, t->job->dev, t->batcher.mask,
                                    t->job->pool, t->job->ranks, err);
        float loss = (float)r->loss;

        return rc == RAN_OK && leads(t) ? check_results(t, &loss, 1, err) : rc;
}

/* One epoch's figures. */
static int judge(struct ran_trainer *t, struct ran_evaluate_rates *r, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        float *p;
        int rc = RAN_ENOMEM;

        if (t->c->task == RAN_TASK_TAG)
                return judge_tags(t, r, err);
        if (ran_is_tied(t->c))
                return judge_texts(t, r, err);
        p = ran_alloc(dev->B * t->C, sizeof *p, err);
        if (p != NULL)
                rc = predict(t, FIT, p, err);
        if (rc == RAN_OK && leads(t))
                rc = judge_labels(t, p, r, err);
        free(p);
        return rc;
}

static int evaluate(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report report;
        struct ran_evaluate_rates r = {0}; /* classifiers' are known to the rank that leads alone */
        int rc = judge(t, &r, err), next;

        if (rc != RAN_OK)
                return ran_ranks_break(t->job->ranks, rc);
        if (leads(t))
                keep_best(t, metric_of(t, &r));
        if (ran_broadcast_progress(t, err) != RAN_OK)
                return err->code;
        report = report_of(t, RAN_REPORT_DEV);
        report.epoch = (size_t)t->at.epoch;
        report.loss = r.loss;
        report.accuracy = r.accuracy;
        report.micro_f1 = r.micro_f1;
        report.macro_f1 = r.macro_f1;
        report.metric = metric_of(t, &r);
        report.improved = t->at.stale == 0;
        if (tell_all(t, &report, &next, err) != RAN_OK)
                return err->code;
        return next == STOP ? RAN_EINTR : RAN_OK;
}

/* The model that is kept does without its encoder, and this is how good it is. */
static int keep_alone(struct ran_trainer *t, const float *p, struct ran_error *err)
{
        struct ran_evaluate_rates r;
        int rc = judge_labels(t, p, &r, err);

        if (rc != RAN_OK)
                return rc;
        t->at.best = metric_of(t, &r);
        t->at.encoder = t->ensemble.encoder;
        t->at.linear = t->ensemble.linear;
        return RAN_OK;
}

/* Whether the encoder of the finished model counts, the threshold that it decides with, or what its
 * sets of labels go by; from the best weights on the dev data. */
static int tune(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;

        if (t->c->task != RAN_TASK_CLASSIFY || !ran_train_has_dev(t->job))
                return RAN_OK;
        float *p = ran_alloc(dev->B * t->C, sizeof *p, err);
        if (p == NULL)
                return RAN_ENOMEM;
        int rc = predict(t, PROVE, p, err);
        if (rc == RAN_OK && leads(t) && t->c->wide > 0 && t->ensemble.encoder == 0 &&
            t->at.encoder > 0)
                rc = keep_alone(t, p, err);
        if (rc == RAN_OK && leads(t) && t->c->multilabel)
                t->at.threshold = (double)ran_evaluate_best_threshold(dev, p);
        if (rc == RAN_OK && leads(t) && !t->c->multilabel)
                rc = ran_evaluate_calibrate(&t->calibration, dev, p, err);
        free(p);
        return rc == RAN_OK ? RAN_OK : ran_ranks_break(t->job->ranks, rc);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static int step(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_grad *g;
        double loss, scale = 1;
        int rc;

        t->batcher.noise.epoch = (uint64_t)t->at.epoch + ran_is_tied(t->c); /* 0: of dev data */
        ran_plan_next(&t->plan);
        rc = ran_batch_gradient(&t->batcher, t->plan.chunk, t->plan.n, &loss, &g, err);
        if (rc != RAN_OK)
                return rc;
        ran_optimiser_clear(&t->optimiser, g);
        t->rate = ran_learning_rate(t->s, t->optimiser.step, t->steps);
        t->norm = ran_grad_norm(&t->optimiser, g);
        if (!isfinite(loss) || !isfinite(t->norm)) {
                ran_tree_give(&t->batcher.tree, g);
                return diverged(t, t->at.epoch + 1, (double)t->optimiser.step + 1,
                                isfinite(loss) ? "gradient" : "loss", err);
        }
        if (t->s->clip > 0 && t->norm > t->s->clip)
                scale = t->s->clip / t->norm;
        ran_optimiser_step(&t->optimiser, t->p.block, &t->table, g, scale, t->rate);
        ran_tree_give(&t->batcher.tree, g);
        for (size_t i = 0; i < t->plan.n; i++)
                t->tokens += t->plan.chunk[i].to - t->plan.chunk[i].from;
        t->at.loss = 0.98 * t->at.loss + 0.02 * loss;
        t->at.loss_weight = 0.98 * t->at.loss_weight + 0.02;
        t->at.batch++;
        return RAN_OK;
}

static int write_checkpoint(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report r;

        t->saved = now();
        if (t->job->checkpoint == NULL)
                return RAN_OK;
        if (ran_checkpoint_write(t, err) != RAN_OK)
                return err->code;
        t->saved = now();
        r = report_of(t, RAN_REPORT_CHECKPOINT);
        tell(t, &r);
        return RAN_OK;
}

static int save(struct ran_trainer *t, struct ran_error *err)
{
        if (ran_plan_collect(&t->plan, t->job->ranks, err) != RAN_OK)
                return err->code;
        return ran_ranks_agree(t->job->ranks, leads(t) ? write_checkpoint(t, err) : RAN_OK, err);
}

/* Stopped by the caller: what was done is kept, so that it can go on. */
static int stop(struct ran_trainer *t, struct ran_error *err)
{
        if (save(t, err) != RAN_OK)
                return err->code;
        return ran_fail(err, RAN_EINTR, "stopped in epoch %.0f, after step %.0f", t->at.epoch + 1,
                        (double)t->optimiser.step);
}

/* What rank 0 has when the others are lost: weights and moments are those of a whole step, but not
 * what pieces of documents go on from. */
static int keep(struct ran_trainer *t, int rc, struct ran_error *err)
{
        struct ran_error other;

        if (leads(t) && t->plan.recurrent == NULL && write_checkpoint(t, &other) != RAN_OK)
                ran_fail(err, rc, "%s; and no checkpoint: %s", err->text, other.text);
        return rc;
}

/* One step, and whatever is due after it. */
static int go_step(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_ranks *ranks = t->job->ranks;
        struct ran_train_report r;
        int next = GO_ON, rc;

        if (ranks != NULL)
                ranks->interruptible = t->plan.recurrent == NULL;
        if ((rc = step(t, err)) == RAN_OK) {
                r = report_of(t, RAN_REPORT_STEP);
                rc = tell_all(t, &r, &next, err);
        }
        if (ranks != NULL)
                ranks->interruptible = false;
        if (rc != RAN_OK && ranks != NULL && ranks->broken)
                return keep(t, rc, err);
        if (rc == RAN_OK && next == STOP)
                return stop(t, err);
        return rc == RAN_OK && next == SAVE ? save(t, err) : rc;
}

static int run_epoch(struct ran_trainer *t, struct ran_error *err)
{
        int rc;

        ran_trainer_begin_epoch(t);
        while (t->at.batch < (double)t->batches)
                if ((rc = go_step(t, err)) != RAN_OK)
                        return rc;
        t->at.epoch++;
        t->at.batch = 0;
        ran_optimiser_flush(&t->optimiser, &t->table);
        if ((rc = ran_broadcast_compare(t, err)) != RAN_OK)
                return rc;
        if (ran_train_has_dev(t->job) && t->at.refit == 0 && (rc = evaluate(t, err)) != RAN_OK)
                return rc == RAN_EINTR ? stop(t, err) : rc;
        return RAN_OK;
}

static int on_pass(void *arg, size_t passes)
{
        struct ran_trainer *t = arg;
        struct ran_train_report r = report_of(t, RAN_REPORT_LINEAR);

        r.step = passes;
        return tell(t, &r);
}

static int learn_chain(struct ran_trainer *t, struct ran_error *err)
{
        if (t->at.cost == 0)
                t->at.cost = ran_crf_train_cost * t->linear_rate;
        const struct ran_crf_train k = {.c = t->c,
                                        .d = t->job->train,
                                        .document = t->document,
                                        .n = t->documents,
                                        .cost = t->at.cost,
                                        .passes = RAN_CRF_TRAIN_PASSES,
                                        .seed = t->s->seed,
                                        .pass = on_pass,
                                        .arg = t};

        return ran_crf_train_run(&k, t->linear, t->p.head.wide_b, t->crf, err);
}

static int learn_linear(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_svm wide = ran_trainer_svm(t);
        int rc = RAN_OK;

        wide.pass = on_pass;
        wide.arg = t;
        if (t->at.refit == 0)
                rc = ran_cross_validate(&wide, t->s->wide_ratios, t->idf, t->linear,
                                        t->p.head.wide_b, err);
        if (rc == RAN_OK)
                rc = ran_svm_fit(&wide, t->idf, t->linear, t->p.head.wide_b, err);
        if (rc == RAN_OK) {
                t->at.cost = wide.cost;
                t->at.ratios = wide.ratios;
        }
        return rc;
}

static int solve_wide(struct ran_trainer *t, struct ran_error *err)
{
        int rc = (t->c->task == RAN_TASK_TAG ? learn_chain : learn_linear)(t, err);

        if (rc == RAN_OK)
                t->at.fitted = 1;
        return rc;
}

static int learn_wide(struct ran_trainer *t, struct ran_error *err)
{
        int rc;

        if (t->c->wide == 0 || t->linear_rate == 0 || t->at.fitted != 0)
                return RAN_OK;
        rc = ran_ranks_agree(t->job->ranks, leads(t) ? solve_wide(t, err) : RAN_OK, err);
        if (rc != RAN_OK)
                return rc == RAN_EINTR ? stop(t, err) : rc;
        return ran_broadcast_state(t, err);
}

static void scale(float *x, size_t n, double by)
{
        for (size_t i = 0; i < n; i++)
                x[i] = (float)(by * (double)x[i]);
}

/* The paths of the finished model are added up as they are, and a tagger has one chain. */
static void add_paths(struct ran_trainer *t)
{
        bool words = t->c->task == RAN_TASK_TAG;
        struct ran_ensemble ensemble = {t->at.encoder, t->at.linear};
        struct ran_head_params *q = &t->p.head;

        if (t->c->wide == 0)
                return;
        scale(words ? q->tag_w : q->out_w, t->C * t->D, t->at.encoder);
        scale(words ? q->tag_b : q->out_b, t->C, t->at.encoder);
        if (t->crf != NULL) {
                ran_ensemble_add(q->crf_start, &ensemble, q->crf_start, t->crf, t->C);
                ran_ensemble_add(q->crf_end, &ensemble, q->crf_end, t->crf + t->C, t->C);
                ran_ensemble_add(q->crf_transition, &ensemble, q->crf_transition, t->crf + 2 * t->C,
                                 t->C * t->C);
        }
        scale(t->p.head.wide_b, t->C, t->at.linear);
        scale(t->linear, t->c->wide * t->C, t->at.linear);
}

/* What one more step would have found: the last one may have led to numbers that are none, and
 * there are no development data to be judged by, or not any more. */
static int check_last(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_grad *g;
        double loss;
        int rc;

        ran_plan_begin(&t->plan, t->order, t->documents);
        ran_plan_next(&t->plan);
        rc = ran_batch_gradient(&t->batcher, t->plan.chunk, t->plan.n, &loss, &g, err);
        if (rc != RAN_OK)
                return rc;
        ran_tree_give(&t->batcher.tree, g);
        return isfinite(loss)
                       ? RAN_OK
                       : diverged(t, t->at.epoch, (double)t->optimiser.step, "loss after it", err);
}

/* Epochs until the last one. */
static int learn(struct ran_trainer *t, struct ran_error *err)
{
        int rc = learn_wide(t, err);

        t->from_step = t->optimiser.step;
        t->from_seconds = now() - t->started;
        while (rc == RAN_OK && t->at.epoch < (double)epochs_of(t) &&
               (!ran_train_has_dev(t->job) || t->at.refit != 0 ||
                t->at.stale < (double)t->s->patience))
                rc = run_epoch(t, err);
        if (rc == RAN_OK && (!ran_train_has_dev(t->job) || t->at.refit != 0))
                rc = check_last(t, err);
        return rc;
}

/* The weights of the best epoch, and what development data say of them. */
static int settle(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report r;
        int next;

        if (!ran_train_has_dev(t->job))
                return RAN_OK;
        if (leads(t)) {
                memcpy(t->p.block, t->best_block, t->layout.size * sizeof(float));
                memcpy(t->table.x, t->best_table, bytes_of(&t->table));
        }
        t->ensemble = (struct ran_ensemble){t->at.encoder, t->at.linear};
        if (ran_broadcast_state(t, err) != RAN_OK || tune(t, err) != RAN_OK)
                return err->code;
        r = report_of(t, RAN_REPORT_KEPT);
        if (tell_all(t, &r, &next, err) != RAN_OK)
                return err->code;
        return next == STOP ? stop(t, err) : RAN_OK;
}

static int refit(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report r = report_of(t, RAN_REPORT_REFIT);
        int next;

        if (ran_ranks_agree(t->job->ranks, ran_trainer_refit(t, err), err) != RAN_OK ||
            ran_broadcast_state(t, err) != RAN_OK || tell_all(t, &r, &next, err) != RAN_OK)
                return err->code;
        return next == STOP ? stop(t, err) : learn(t, err);
}

/* ---- an encoder that two trainings made ----------------------------------------------------- */

/* What the model with this encoder, both paths as much as they count, loses on the documents that
 * were held out. */
static int model_loss(struct ran_trainer *t, double *loss, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        const bool both = t->c->wide > 0;
        const struct ran_ensemble ensemble = {both ? t->at.encoder : 1, both ? t->at.linear : 0};
        float *deep = ran_alloc_floats(dev->B * t->C, err);
        float *wide = both ? ran_alloc_floats(dev->B * t->C, err) : NULL;
        int rc = RAN_ENOMEM;

        if (deep != NULL && (wide != NULL || !both))
                rc = ran_evaluate_predict(t->c, &t->p, t->C, dev, t->job->pool, t->job->ranks, deep,
                                          wide, err);
        if (rc == RAN_OK && leads(t))
                rc = ran_ensemble_loss(loss, &ensemble, dev, deep, both ? wide : deep, err);
        free(deep);
        free(wide);
        return rc == RAN_OK ? RAN_OK : ran_ranks_break(t->job->ranks, rc);
}

static void swap(float *a, float *b, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                float x = a[i];

                a[i] = b[i];
                b[i] = x;
        }
}

/* The one of the best epoch and the one at work change places; the wide path stays. */
static void swap_encoders(struct ran_trainer *t)
{
        swap(t->p.block, t->best_block, t->layout.size);
        swap(t->table.x, t->best_table, bytes_of(&t->table) / sizeof *t->table.x);
        if (t->c->wide > 0)
                swap(t->p.head.wide_b, t->best_block + (t->p.head.wide_b - t->p.block), t->C);
}

/* A model whose encoder has learned from the documents held out tells them better than one whose
 * encoder has not; if not, another order of documents has led it astray, as with few of them
 * happens, and the first one stays. The wide path has learned from all of them, either way: beside
 * it an encoder that is too sure of what it took in shows, which by itself does not. */
static int keep_better(struct ran_trainer *t, struct ran_error *err)
{
        double after = 0, before = 0;

        if (t->c->task != RAN_TASK_CLASSIFY || (t->c->wide > 0 && t->at.encoder == 0))
                return RAN_OK;
        if (model_loss(t, &after, err) != RAN_OK)
                return err->code;
        if (leads(t))
                swap_encoders(t);
        if (ran_broadcast_state(t, err) != RAN_OK || model_loss(t, &before, err) != RAN_OK)
                return err->code;
        t->first_encoder = !(after <= before); /* nor if it is no number */
        if (leads(t) && !t->first_encoder)
                swap_encoders(t);
        return RAN_OK;
}

static int write_model(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report r;

        add_paths(t);
        if (ran_trainer_write(t, err) != RAN_OK)
                return err->code;
        if (t->job->checkpoint != NULL)
                unlink(t->job->checkpoint);
        r = report_of(t, RAN_REPORT_END);
        tell(t, &r);
        return RAN_OK;
}

static int run(struct ran_trainer *t, struct ran_error *err)
{
        int rc;

        t->started = t->saved = now();
        rc = learn(t, err);
        if (rc == RAN_OK && t->at.refit == 0) {
                rc = settle(t, err);
                if (rc == RAN_OK && ran_train_refits(t->job))
                        rc = refit(t, err);
        }
        if (rc == RAN_OK && t->at.refit != 0)
                rc = keep_better(t, err);
        if (rc == RAN_OK)
                rc = ran_ranks_agree(t->job->ranks, leads(t) ? write_model(t, err) : RAN_OK, err);
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
        ran_trainer_release(&t);
        return rc;
}

int ran_train(const struct ran_train_job *job, struct ran_error *err)
{
        err = ran_error_or_spare(err);
        if (ran_broadcast_job(job, err) != RAN_OK)
                return err->code;
        return train(job, err);
}

/* How a training ended rank 0 knows, too, unless the ranks are broken. */
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
