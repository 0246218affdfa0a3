/* pretrain.c - see pretrain.h. */
#include "train/pretrain.h"
#include "model/task.h"
#include "ran/train.h"
#include "train/broadcast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the job of the first phase -------------------------------------------------------------- */

/* What a task without labels does not have. */
static void set_config(struct ran_config *c)
{
        enum { SHORTLIST = 4000 };

        c->task = RAN_TASK_MLM;
        c->mask = RAN_MASK_NONE;
        c->multilabel = c->crf = c->affixes = false;
        c->spelling = c->wide = c->join_sentences = 0;
        c->shortlist = SHORTLIST;
}

/* Small text is read more often: some twenty million tokens in all. */
static size_t epochs_of(const struct ran_train_job *job)
{
        const double wanted = 2e7, most = 20;
        const struct ran_dataset *d = job->texts->train;

        if (job->settings->pretrain_epochs > 0)
                return job->settings->pretrain_epochs;
        return (size_t)fmax(1, fmin(most, round(wanted / fmax(1, (double)d->first[d->B]))));
}

/* The settings that are best for masked language models, as ran-train mlm has them. Each epoch
 * masks other words, so nothing is memorised, and dropout only slows it down. */
static void set_settings(struct ran_train_settings *s, const struct ran_train_job *job)
{
        s->epochs = epochs_of(job);
        s->batch = 8;
        s->bptt = 0;
        s->learning_rate = 0.002;
        s->min_learning_rate = 0;
        s->dropout = s->embed_dropout = s->word_dropout = s->label_smoothing = 0;
        s->init_rate = s->layer_decay = 1;
        s->metric = RAN_METRIC_LOSS;
        s->class_weights = RAN_WEIGHTS_NONE;
        s->refit = s->early_stop = false;
}

int ran_train_first_phase(const struct ran_train_job *job, struct ran_train_phase *phase,
                          struct ran_error *err)
{
        const struct ran_train_texts *texts = job->texts;

        phase->config = *job->config;
        phase->settings = *job->settings;
        if (!ran_config_has_encoder(job->config) || ran_task_is_tied(job->config))
                return ran_fail(err, RAN_EINVAL,
                                "texts teach the encoder of a classifier or tagger, and there is "
                                "none");
        set_config(&phase->config);
        set_settings(&phase->settings, job);
        phase->job = *job;
        phase->job.config = &phase->config;
        phase->job.settings = &phase->settings;
        phase->job.train = texts->train;
        phase->job.dev = texts->dev;
        phase->job.held_out = texts->held_out;
        phase->job.texts = NULL;
        phase->job.output = phase->job.training = NULL;
        phase->job.storage = RAN_STORAGE_F32;
        phase->job.seconds = texts->seconds;
        phase->job.limit = texts->limit;
        phase->job.resume = false;
        return ran_config_check(&phase->config, err);
}

/* ---- its trainer ----------------------------------------------------------------------------- */

bool ran_pretrain_is_due(const struct ran_trainer *t)
{
        return t->job->texts != NULL && t->pretrained.done == 0 && t->at.refit == 0 &&
               !ran_trainer_is_decided(t);
}

static int make(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_pretrain *p = ran_alloc(1, sizeof *p, err);

        if (p == NULL)
                return RAN_ENOMEM;
        t->first = p;
        RAN_TRY(ran_train_first_phase(t->job, &p->phase, err));
        RAN_TRY(ran_trainer_init(&p->t, &p->phase.job, err));
        p->t.outer = t;
        return RAN_OK;
}

/* --minutes without a time of its own for the first phase: half of what is left. */
static double seconds_of(const struct ran_trainer *t)
{
        if (t->job->texts->seconds > 0 || !(t->job->seconds > 0))
                return t->job->texts->seconds;
        return fmax(1, (t->job->seconds - ran_budget_spent(t)) / 2);
}

int ran_pretrain_begin(struct ran_trainer *t, struct ran_error *err)
{
        int rc = t->first == NULL ? make(t, err) : RAN_OK;

        RAN_TRY(ran_ranks_agree(t->job->ranks, rc, err));
        t->first->phase.job.seconds = seconds_of(t);
        t->first->t.started = t->first->t.saved = ran_clock();
        return ran_broadcast_state(&t->first->t, err);
}

static float *kept(float **at, size_t n, struct ran_error *err)
{
        if (*at == NULL)
                *at = ran_alloc_floats(n, err);
        return *at;
}

static int allocate_kept(struct ran_trainer *t, struct ran_error *err)
{
        return kept(&t->kept_block, t->layout.size, err) != NULL &&
                               kept(&t->kept_table, t->V * t->D, err) != NULL
                       ? RAN_OK
                       : RAN_ENOMEM;
}

/* The tensors that both have: those of the encoder, which has the same shape. */
static void keep_tensors(struct ran_trainer *t, const struct ran_trainer *from)
{
        const struct ran_layout *ours = &t->layout, *theirs = &from->layout;

        for (size_t i = 0; i < ours->n; i++) {
                const struct ran_tensor_spec *to = &ours->spec[i], *s = theirs->spec;
                const struct ran_tensor_spec *end = s + theirs->n;

                while (s < end && strcmp(s->name, to->name) != 0)
                        s++;
                if (s < end && !ran_trainer_belongs_to_head(to->name))
                        memcpy(t->kept_block + to->offset, from->p.block + s->offset,
                               (to->rows > 0 ? to->rows : 1) * to->cols * sizeof(float));
        }
        memcpy(t->kept_table, from->table.x, t->V * t->D * sizeof(float));
}

static void note(struct ran_trainer *t, const struct ran_trainer *from)
{
        const bool judged = ran_train_has_dev(from->job);

        t->pretrained.done = 1;
        t->pretrained.after = judged                     ? -from->at.best
                              : from->at.loss_weight > 0 ? from->at.loss / from->at.loss_weight
                                                         : 0;
        t->pretrained.epochs = from->at.epoch;
        t->pretrained.best_epoch = judged ? from->at.best_epoch : from->at.epoch;
        t->pretrained.steps = (double)from->optimiser.step;
        t->pretrained.limit_from = from->stop.limit_from;
        t->pretrained.limit = from->stop.limit;
        t->pretrained.last = from->stop.last;
}

int ran_pretrain_end(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_trainer *from = &t->first->t;
        struct ran_train_report r;
        int rc = ran_trainer_leads(t) ? allocate_kept(t, err) : RAN_OK, next;

        RAN_TRY(ran_ranks_agree(t->job->ranks, rc, err));
        note(t, from);
        if (ran_trainer_leads(t)) {
                keep_tensors(t, from);
                ran_pretrain_apply(t);
        }
        r = ran_trainer_report(from, RAN_REPORT_PRETRAINED);
        r.documents = from->documents;
        r.loss_before = t->pretrained.before;
        r.loss = t->pretrained.after;
        ran_trainer_release(from);
        free(t->first);
        t->first = NULL;
        RAN_TRY(ran_broadcast_state(t, err));
        RAN_TRY(ran_trainer_tell_all(t, &r, &next, err));
        return next == RAN_STOP ? RAN_EINTR : RAN_OK;
}

void ran_pretrain_apply(struct ran_trainer *t)
{
        const double of_rows = ran_trainer_init_rate(t, "embed.weight");

        if (t->pretrained.done == 0 || t->kept_block == NULL)
                return;
        for (size_t i = 0; i < t->layout.n; i++) {
                const struct ran_tensor_spec *s = &t->layout.spec[i];

                if (ran_trainer_belongs_to_head(s->name))
                        continue;
                memcpy(t->p.block + s->offset, t->kept_block + s->offset,
                       (s->rows > 0 ? s->rows : 1) * s->cols * sizeof(float));
                t->optimiser.rate_scale[i] = (float)ran_trainer_init_rate(t, s->name);
        }
        ran_trainer_copy_rows(t, 0, t->V, t->kept_table);
        for (size_t id = 0; id < t->V; id++)
                if (t->optimiser.table.rate_scale[id] != 0) /* not frozen */
                        t->optimiser.table.rate_scale[id] = (float)of_rows;
}

void ran_pretrain_release(struct ran_trainer *t)
{
        if (t->first != NULL)
                ran_trainer_release(&t->first->t);
        free(t->first);
        free(t->kept_block);
        free(t->kept_table);
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static void add(struct ran_pretrain_extras *e, const char *prefix, const char *name, int dtype,
                void *data, size_t n)
{
        snprintf(e->name[e->n], sizeof e->name[e->n], "%s%s", prefix, name);
        e->x[e->n] = (struct ran_extra){e->name[e->n], dtype, data, n};
        e->n++;
}

static void add_kept(struct ran_trainer *t, struct ran_pretrain_extras *e)
{
        add(e, "train.pretrained.", "block", RAN_DTYPE_F32, t->kept_block, t->layout.size);
        add(e, "train.pretrained.", "embed", RAN_DTYPE_F32, t->kept_table, t->V * t->D);
}

/* All that a checkpoint of the first phase by itself would have, with its weights. */
static void add_first(struct ran_trainer *first, struct ran_pretrain_extras *e)
{
        struct ran_extra x[RAN_EXTRAS];
        const size_t n = ran_checkpoint_extras(first, x), of_train = strlen(RAN_EXTRA_PREFIX);
        static const char prefix[] = "train.pretrain.";

        for (size_t i = 0; i < n; i++)
                add(e, prefix, x[i].name + of_train, (int)x[i].dtype, x[i].data, x[i].n);
        add(e, prefix, "block", RAN_DTYPE_F32, first->p.block, first->layout.size);
        add(e, prefix, "embed", RAN_DTYPE_F32, first->table.x,
            first->table.rows * first->table.width);
}

static void add_numbers(struct ran_trainer *t, struct ran_pretrain_extras *e)
{
        add(e, "train.", "pretrained", RAN_DTYPE_F64, &t->pretrained,
            sizeof t->pretrained / sizeof(double));
}

void ran_pretrain_extras(struct ran_trainer *t, struct ran_pretrain_extras *e)
{
        e->n = 0;
        if (t->job->texts == NULL)
                return;
        add_numbers(t, e);
        if (t->kept_block != NULL)
                add_kept(t, e);
        if (t->first != NULL) {
                ran_trainer_note(&t->first->t);
                add_first(&t->first->t, e);
        }
}

static int read(struct ran_pretrain_extras *e, const struct ran_model *m, struct ran_error *err)
{
        for (size_t i = 0; i < e->n; i++)
                RAN_TRY(ran_model_read_extra(m, &e->x[i], err));
        e->n = 0;
        return RAN_OK;
}

static bool is_sane(const struct ran_pretrained *p)
{
        const double *x = (const double *)p;

        for (size_t i = 0; i < sizeof *p / sizeof *x; i++)
                if (!(fabs(x[i]) <= 1e15))
                        return false;
        return p->done == 0 || p->done == 1;
}

static int read_first(struct ran_trainer *t, const struct ran_model *m,
                      struct ran_pretrain_extras *e, struct ran_error *err)
{
        RAN_TRY(make(t, err));
        struct ran_trainer *first = &t->first->t;

        add_first(first, e);
        RAN_TRY(read(e, m, err));
        RAN_TRY(ran_trainer_resume(first, err));
        first->spent_before = first->stop.spent;
        return RAN_OK;
}

int ran_pretrain_read(struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        struct ran_pretrain_extras e = {.n = 0};

        if (t->job->texts == NULL)
                return RAN_OK;
        add_numbers(t, &e);
        RAN_TRY(read(&e, m, err));
        if (!is_sane(&t->pretrained))
                return ran_fail(err, RAN_EFORMAT,
                                "the checkpoint's progress is not that of any run");
        if (ran_model_has_extra(m, "train.pretrain.progress"))
                return read_first(t, m, &e, err);
        if (t->pretrained.done == 0)
                return RAN_OK;
        RAN_TRY(allocate_kept(t, err));
        add_kept(t, &e);
        RAN_TRY(read(&e, m, err));
        ran_pretrain_apply(t);
        return RAN_OK;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

void ran_pretrain_describe(const struct ran_train_job *job, struct ran_buf *out)
{
        const struct ran_train_texts *texts = job->texts;

        if (texts == NULL)
                return;
        ran_buf_printf(out, ",\"pretrain\":{\"documents\":%zu,\"tokens\":%zu,\"digest\":\"%s\"}",
                       texts->train->B, texts->train->first[texts->train->B], texts->train->digest);
}

static void add_number(struct ran_buf *out, const char *name, double x)
{
        ran_buf_printf(out, "\"%s\":", name);
        ran_buf_double(out, x);
}

void ran_pretrain_describe_result(const struct ran_trainer *t, struct ran_buf *out)
{
        const struct ran_pretrained *p = &t->pretrained;

        if (p->done == 0)
                return;
        ran_buf_printf(out, ",\"pretrained\":{\"epochs\":%.0f,\"best_epoch\":%.0f,\"steps\":%.0f,",
                       p->epochs, p->best_epoch, p->steps);
        if (p->before > 0) {
                add_number(out, "loss_before", p->before);
                ran_buf_char(out, ',');
        }
        add_number(out, "loss", p->after);
        if (p->limit > 0 || p->last > 0)
                ran_buf_printf(out, ",\"time_limit\":{\"from\":%.0f,\"steps\":%.0f,\"last\":%.0f}",
                               p->limit_from, p->limit, p->last);
        ran_buf_char(out, '}');
}
