/* checkpoint.c - what a checkpoint holds beside the weights, written and read by one list. */
#include "part/crf/crf-train.h"
#include "train/pretrained.h"
#include "train/trainer.h"
#include "file/model.h"
#include "nn/task.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t ran_trainer_extras(struct ran_trainer *t, struct ran_extra x[RAN_EXTRAS])
{
        const struct ran_table_state *table = &t->optimiser.table;
        size_t n = 0, size = t->layout.size, all = table->rows * table->width;

        x[n++] = (struct ran_extra){"train.progress", RAN_DTYPE_F64, &t->at,
                                    sizeof t->at / sizeof(double)};
        x[n++] = (struct ran_extra){"train.m", RAN_DTYPE_F32, t->optimiser.m, size};
        x[n++] = (struct ran_extra){"train.v", RAN_DTYPE_F32, t->optimiser.v, size};
        x[n++] = (struct ran_extra){"train.embed.m", RAN_DTYPE_F32, table->m, all};
        x[n++] = (struct ran_extra){"train.embed.v", RAN_DTYPE_F32, table->v, table->moments};
        x[n++] =
                (struct ran_extra){"train.embed.met", RAN_DTYPE_F64, table->last_step, table->rows};
        if (t->c->frozen)
                x[n++] = (struct ran_extra){"train.dense", RAN_DTYPE_F64, &t->dense_scale, 1};
        if (t->crf != NULL)
                x[n++] = (struct ran_extra){"train.chain", RAN_DTYPE_F32, t->crf,
                                            ran_crf_train_floats(t->C)};
        return n;
}

/* The same list writes and reads. */
size_t ran_checkpoint_extras(struct ran_trainer *t, struct ran_extra x[RAN_EXTRAS])
{
        size_t n = ran_trainer_extras(t, x), size = t->layout.size;
        size_t all = t->table.rows * t->table.width;

        x[n++] = (struct ran_extra){"train.decision", RAN_DTYPE_F64, &t->stop,
                                    sizeof t->stop / sizeof(double)};
        if (t->best_block != NULL) {
                x[n++] = (struct ran_extra){"train.best", RAN_DTYPE_F32, t->best_block, size};
                x[n++] = (struct ran_extra){"train.embed.best", RAN_DTYPE_F32, t->best_table, all};
                x[n++] = (struct ran_extra){"train.calibration", RAN_DTYPE_F32, t->calibrated,
                                            RAN_CALIBRATION_KEPT};
        }
        return n;
}

/* ---- the first phase ------------------------------------------------------------------------- */

enum { NAME = 40 };

/* Tensors with names of their own. */
struct named {
        struct ran_extra x[RAN_EXTRAS];
        char name[RAN_EXTRAS][NAME];
        size_t n;
};

static void add_named(struct named *e, const char *prefix, const char *name, int dtype, void *data,
                      size_t n)
{
        snprintf(e->name[e->n], sizeof e->name[e->n], "%s%s", prefix, name);
        e->x[e->n] = (struct ran_extra){e->name[e->n], dtype, data, n};
        e->n++;
}

static void add_kept(struct ran_trainer *t, struct named *e)
{
        add_named(e, "train.pretrained.", "block", RAN_DTYPE_F32, t->kept_block, t->layout.size);
        add_named(e, "train.pretrained.", "embed", RAN_DTYPE_F32, t->kept_table, t->V * t->D);
}

/* All that a checkpoint of the first phase by itself would have, with its weights. */
static void add_first(struct ran_trainer *first, struct named *e)
{
        struct ran_extra x[RAN_EXTRAS];
        const size_t n = ran_checkpoint_extras(first, x), of_train = strlen(RAN_EXTRA_PREFIX);
        static const char prefix[] = "train.pretrain.";

        for (size_t i = 0; i < n; i++)
                add_named(e, prefix, x[i].name + of_train, (int)x[i].dtype, x[i].data, x[i].n);
        add_named(e, prefix, "block", RAN_DTYPE_F32, first->p.block, first->layout.size);
        add_named(e, prefix, "embed", RAN_DTYPE_F32, first->table.x,
                  first->table.rows * first->table.width);
}

static void add_numbers(struct ran_trainer *t, struct named *e)
{
        add_named(e, "train.", "pretrained", RAN_DTYPE_F64, &t->pretrained,
                  sizeof t->pretrained / sizeof(double));
}

static void phase_extras(struct ran_trainer *t, struct named *e)
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

/* ---- writing ------------------------------------------------------------------------------------
 */

/* And the recurrent states of documents that are not read to their end. NULL: memory ran out. */
static float *recurrent_extra(const struct ran_trainer *t, struct ran_extra *x,
                              struct ran_error *err)
{
        size_t n = ran_plan_floats(&t->plan);
        float *data = ran_alloc_floats(n, err);

        *x = (struct ran_extra){"train.carry", RAN_DTYPE_F32, data, n};
        return data;
}

void ran_trainer_note(struct ran_trainer *t)
{
        t->at.updates = (double)t->optimiser.step;
        t->at.decay = t->optimiser.decay;
        t->at.calibrated = (double)t->calibration.documents;
        if (t->job->seconds > 0)
                t->stop.spent = ran_budget_spent(t);
        if (t->calibration.n > 0)
                memcpy(t->calibrated, t->calibration.p, t->calibration.n * sizeof(float));
}

static bool has_about(const struct ran_trainer *t)
{
        return t->job->about != NULL && t->job->about[0] != '\0';
}

int ran_checkpoint_write(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_buf about = {0};
        struct ran_parts parts = ran_trainer_parts(t);
        struct named first;
        struct ran_extra x[2 * RAN_EXTRAS];
        float *recurrent;
        int rc;

        ran_trainer_note(t);
        parts.extra = x;
        parts.extras = ran_checkpoint_extras(t, x);
        phase_extras(t, &first);
        memcpy(x + parts.extras, first.x, first.n * sizeof *x);
        parts.extras += first.n;
        recurrent = recurrent_extra(t, &x[parts.extras], err);
        if (recurrent == NULL)
                return RAN_ENOMEM;
        ran_plan_pack(&t->plan, recurrent);
        if (x[parts.extras].n > 0)
                parts.extras++;
        ran_buf_printf(&about, "%s%s", has_about(t) ? "," : "", has_about(t) ? t->job->about : "");
        ran_buf_char(&about, '\0');
        rc = about.failed
                     ? ran_fail(err, RAN_ENOMEM, "out of memory while a checkpoint was written")
                     : ran_trainer_write_parts(t, t->job->checkpoint, &parts, about.data, err);
        ran_buf_release(&about);
        free(recurrent);
        return rc;
}

/* ---- resuming ------------------------------------------------------------------------------- */

static bool same_tokenizer(const struct ran_tokenizer *a, const struct ran_tokenizer *b)
{
        return a == NULL || b == NULL
                       ? a == b
                       : strcmp(ran_tokenizer_digest(a), ran_tokenizer_digest(b)) == 0;
}

static bool same_labels(const struct ran_trainer *t, const struct ran_model *m)
{
        for (size_t c = 0; c < t->C && !ran_task_is_tied(t->c); c++)
                if (strcmp(m->labels[c], t->job->train->names[c]) != 0)
                        return false;
        return true;
}

/* A run that 0.1.0 began goes on as it would have. */
static int as_begun(struct ran_trainer *t, struct ran_error *err)
{
        t->early_stop = false;
        t->as_begun = true;
        return ran_trainer_describe(t, err);
}

/* Bytes of a checkpoint's description without what follows from the data, which earlier versions
 * did not write. */
static size_t without_about(const struct ran_trainer *t, const char *training, size_t n)
{
        const size_t about = has_about(t) ? strlen(t->job->about) : 0;

        if (about == 0 || n < about + 3 || training[n - about - 2] != ',' ||
            memcmp(training + n - about - 1, t->job->about, about) != 0)
                return n;
        return n - about - 1;
}

static int same_run(const struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        const char *training = ran_model_metadata(m, "training");
        struct ran_buf theirs = {0}, ours = {0};
        size_t n = training != NULL ? strlen(training) : 0;
        bool same, failed;

        ran_fields_json(ran_config_fields, &m->config, &theirs);
        ran_fields_json(ran_config_fields, t->c, &ours);
        failed = theirs.failed || ours.failed;
        same = !failed && theirs.len == ours.len && memcmp(theirs.data, ours.data, ours.len) == 0 &&
               n >= 2 && training[0] == '{' && training[n - 1] == '}' &&
               ran_train_same_run(training + 1, without_about(t, training, n) - 2, t->training,
                                  strlen(t->training)) &&
               m->V == t->V && m->C == t->C && same_labels(t, m) &&
               same_tokenizer(m->tokenizer, t->job->tokenizer);
        ran_buf_release(&theirs);
        ran_buf_release(&ours);
        if (failed)
                return ran_fail(err, RAN_ENOMEM, "out of memory while the checkpoint was compared");
        if (!same)
                return ran_fail(
                        err, RAN_EINVAL,
                        "the checkpoint belongs to a run with other settings or data; give the "
                        "same ones to resume, or remove it to start over");
        return RAN_OK;
}

static bool is_weight(double x)
{
        return x >= 0 && x <= 1e12;
}

static bool is_count(double x)
{
        return x >= 0 && x < 1e15 && x == floor(x);
}

static bool sane(const struct ran_trainer *t)
{
        const double *x = (const double *)&t->at, epochs = (double)t->s->epochs;
        const double last = t->at.refit != 0 ? t->at.best_epoch : epochs;
        /* Then one of the epochs was the best. */
        const bool judged = ran_train_has_dev(t->job) &&
                            (t->at.epoch > 0 || t->at.stale > 0 || t->at.refit != 0);

        for (size_t i = 0; i < sizeof t->at / sizeof *x; i++)
                if (isnan(x[i]))
                        return false;
        return ran_decision_is_sane(&t->stop) && (t->at.refit == 0 || ran_train_refits(t->job)) &&
               is_weight(t->at.encoder) && is_weight(t->at.linear) && t->at.threshold >= 0 &&
               t->at.threshold <= 1 && is_count(t->at.epoch) && t->at.epoch <= last &&
               is_count(t->at.batch) && t->at.batch <= t->at.updates && is_count(t->at.updates) &&
               is_count(t->at.calibrated) && is_weight(t->at.cost) && is_count(t->at.best_epoch) &&
               t->at.best_epoch <= epochs && (!judged || t->at.best_epoch > 0) &&
               is_count(t->at.stale) && t->at.stale <= epochs;
}

static int read_recurrent(struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        struct ran_extra x;
        float *recurrent = recurrent_extra(t, &x, err);
        int rc = recurrent != NULL ? RAN_OK : RAN_ENOMEM;

        if (rc == RAN_OK && x.n > 0)
                rc = ran_model_read_extra(m, &x, err);
        if (rc == RAN_OK)
                rc = ran_plan_unpack(&t->plan, recurrent, err);
        free(recurrent);
        return rc;
}

int ran_trainer_resume(struct ran_trainer *t, struct ran_error *err)
{
        bool here = sane(t);

        if (here) {
                t->optimiser.step = (uint64_t)t->at.updates;
                t->optimiser.decay = t->at.decay;
                ran_trainer_list_documents(t);
                ran_trainer_begin_epoch(t);
                here = t->at.batch <= (double)t->batches;
        }
        return here ? RAN_OK
                    : ran_fail(err, RAN_EFORMAT,
                               "the checkpoint's progress is not that of any run");
}

static int read_named(struct named *e, const struct ran_model *m, struct ran_error *err)
{
        for (size_t i = 0; i < e->n; i++)
                RAN_TRY(ran_model_read_extra(m, &e->x[i], err));
        e->n = 0;
        return RAN_OK;
}

static bool is_pretrained_sane(const struct ran_pretrained *p)
{
        const double *x = (const double *)p;

        for (size_t i = 0; i < sizeof *p / sizeof *x; i++)
                if (!(fabs(x[i]) <= 1e15))
                        return false;
        return p->done == 0 || p->done == 1;
}

static int read_first(struct ran_trainer *t, const struct ran_model *m, struct named *e,
                      struct ran_error *err)
{
        RAN_TRY(ran_trainer_make_first(t, err));
        struct ran_trainer *first = &t->first->t;

        add_first(first, e);
        RAN_TRY(read_named(e, m, err));
        RAN_TRY(ran_trainer_resume(first, err));
        first->spent_before = first->stop.spent;
        return RAN_OK;
}

static int read_phase(struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        struct named e = {.n = 0};

        if (t->job->texts == NULL)
                return RAN_OK;
        add_numbers(t, &e);
        RAN_TRY(read_named(&e, m, err));
        if (!is_pretrained_sane(&t->pretrained))
                return ran_fail(err, RAN_EFORMAT,
                                "the checkpoint's progress is not that of any run");
        if (ran_model_has_extra(m, "train.pretrain.progress"))
                return read_first(t, m, &e, err);
        if (t->pretrained.done == 0)
                return RAN_OK;
        RAN_TRY(ran_pretrained_allocate(t, err));
        add_kept(t, &e);
        RAN_TRY(read_named(&e, m, err));
        ran_pretrained_apply(t);
        return RAN_OK;
}

static void read_linear(struct ran_trainer *t, const struct ran_model *m)
{
        if (t->c->wide == 0)
                return;
        ran_linear_rows_spread(&m->params, t->c->wide, t->C, t->linear, t->idf);
}

static int read_calibration(struct ran_trainer *t, struct ran_error *err)
{
        size_t documents = (size_t)t->at.calibrated;
        float *p = documents > 0 ? ran_alloc_floats(RAN_CALIBRATION_KEPT, err) : NULL;

        if (documents > 0 && p == NULL)
                return RAN_ENOMEM;
        ran_calibration_release(&t->calibration);
        t->calibration = (struct ran_calibration){.documents = documents, .p = p};
        t->calibration.n = documents < RAN_CALIBRATION_KEPT ? documents : RAN_CALIBRATION_KEPT;
        if (documents > 0)
                memcpy(p, t->calibrated, RAN_CALIBRATION_KEPT * sizeof *p);
        return RAN_OK;
}

int ran_checkpoint_read(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_extra x[RAN_EXTRAS];
        size_t n = ran_checkpoint_extras(t, x);
        struct ran_model *m;
        int rc;

        if (t->job->checkpoint == NULL)
                return ran_fail(err, RAN_EINVAL, "there is no checkpoint to resume from");
        m = ran_model_open(t->job->checkpoint, true, err);
        if (m == NULL)
                return err->code;
        rc = ran_model_has_extra(m, "train.decision") ? RAN_OK : as_begun(t, err);
        if (rc == RAN_OK)
                rc = same_run(t, m, err);
        for (size_t i = 0; i < n && rc == RAN_OK; i++)
                if (x[i].data != &t->stop || ran_model_has_extra(m, x[i].name)) /* 0.1.0 has none */
                        rc = ran_model_read_extra(m, &x[i], err);
        if (rc == RAN_OK)
                rc = ran_trainer_resume(t, err);
        if (rc == RAN_OK)
                rc = read_phase(t, m, err);
        if (rc == RAN_OK)
                rc = read_recurrent(t, m, err);
        t->spent_before = t->stop.spent;
        if (rc == RAN_OK) {
                memcpy(t->p.block, m->params.block, t->layout.size * sizeof(float));
                ran_trainer_copy_rows(t, 0, t->V, m->params.embed);
                ran_trainer_copy_rows(t, t->V, t->c->spelling, m->params.spelling);
                read_linear(t, m);
                rc = read_calibration(t, err);
        }
        ran_model_free(m);
        return rc;
}
