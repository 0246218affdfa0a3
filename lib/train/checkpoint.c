/* checkpoint.c - what a checkpoint holds beside the weights, written and read by one list. */
#include "part/linear/crf-train.h"
#include "train/trainer.h"
#include "file/model.h"
#include "part/linear/linear-rows.h"
#include "nn/part.h"
#include "nn/task.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ------------------------------------------------------------------------------------
 */

/* And the recurrent states of documents that are not read to their end. NULL: memory ran out. */
static float *recurrent_extra(const struct ran_trainer *t, struct ran_extra *x,
                              struct ran_error *err)
{
        size_t n = ran_plan_floats(&t->loop.plan);
        float *data = ran_alloc_floats(n, err);

        *x = (struct ran_extra){"train.carry", RAN_DTYPE_F32, data, n};
        return data;
}

/* What follows from the data, as the end of the run's description. */
static void add_about(const struct ran_trainer *t, struct ran_buf *out)
{
        if (t->job->about != NULL && t->job->about[0] != '\0')
                ran_buf_printf(out, ",%s", t->job->about);
}

int ran_checkpoint_write(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_buf about = {0};
        struct ran_parts parts = ran_trainer_parts(t);
        struct ran_extra x[RAN_EXTRAS + 1];
        float *recurrent;
        int rc;

        ran_trainer_note(t);
        parts.extra = x;
        parts.extras = ran_trainer_extras(t, RAN_FOR_CHECKPOINT, x);
        recurrent = recurrent_extra(t, &x[parts.extras], err);
        if (recurrent == NULL)
                return RAN_ENOMEM;
        ran_plan_pack(&t->loop.plan, recurrent);
        if (x[parts.extras].n > 0)
                parts.extras++;
        add_about(t, &about);
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
        for (size_t c = 0; c < t->C && ran_task_has_labels(t->c->task); c++)
                if (strcmp(m->labels[c], t->job->train->names[c]) != 0)
                        return false;
        return true;
}

/* Each version keeps something else of a run. */
static int check_version(const struct ran_trainer *t, const struct ran_model *m,
                         struct ran_error *err)
{
        static const char key[] = "\"version\":\"";
        const char *training = ran_model_metadata(m, "training");
        const char *at = training != NULL ? strstr(training, key) : NULL;

        at = at != NULL ? at + sizeof key - 1 : "unknown\"";
        if (strncmp(at, RAN_VERSION "\"", sizeof RAN_VERSION) == 0)
                return RAN_OK;
        return ran_fail(err, RAN_EINVAL,
                        "%s is of version %.*s, which this version cannot continue: resume it with "
                        "that version, or remove it to start over",
                        t->job->checkpoint, (int)strcspn(at, "\""), at);
}

static int same_run(const struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        const char *theirs = ran_model_metadata(m, "training");
        const size_t n = theirs != NULL ? strlen(theirs) : 0;
        struct ran_buf config = {0}, ours = {0};

        ran_fields_json(ran_config_fields, &m->config, &config);
        ran_fields_json(ran_config_fields, t->c, &ours);
        bool same = config.len == ours.len && memcmp(config.data, ours.data, ours.len) == 0;
        ours.len = 0;
        ran_buf_str(&ours, t->training);
        add_about(t, &ours);
        const bool failed = config.failed || ours.failed;
        same &= !failed && n >= 2 && theirs[0] == '{' && theirs[n - 1] == '}' &&
                ran_train_same_run(theirs + 1, n - 2, ours.data, ours.len) && m->V == t->V &&
                (ran_parts_classes(t->c) == NULL || m->C == t->C) && same_labels(t, m) &&
                same_tokenizer(m->tokenizer, t->job->tokenizer);
        ran_buf_release(&config);
        ran_buf_release(&ours);
        if (failed)
                return ran_fail(err, RAN_ENOMEM, "out of memory while the checkpoint was compared");
        if (!same)
                return ran_fail(
                        err, RAN_EINVAL,
                        "%s: the checkpoint belongs to a run with other settings or data; give the "
                        "same ones to resume, or remove it to start over",
                        t->job->checkpoint);
        return RAN_OK;
}

static int read_recurrent(struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        struct ran_extra x;
        float *recurrent = recurrent_extra(t, &x, err);

        if (recurrent == NULL)
                return RAN_ENOMEM;
        int rc = x.n > 0 ? ran_model_read_extra(m, &x, err) : RAN_OK;
        if (rc == RAN_OK)
                rc = ran_plan_unpack(&t->loop.plan, recurrent, err);
        free(recurrent);
        return rc;
}

static void read_linear(struct ran_trainer *t, const struct ran_model *m)
{
        if (t->linear.rows == 0)
                return;
        ran_linear_rows_spread(ran_linear_of(&m->params), t->linear.rows, t->C, t->linear.weight,
                               t->linear.idf);
}

static int read_calibration(struct ran_trainer *t, struct ran_error *err)
{
        size_t documents = (size_t)t->at.best.calibrated;
        float *p = documents > 0 ? ran_alloc_floats(RAN_CALIBRATION_KEPT, err) : NULL;

        if (documents > 0 && p == NULL)
                return RAN_ENOMEM;
        ran_calibration_release(&t->judge.calibration);
        t->judge.calibration = (struct ran_calibration){.documents = documents, .p = p};
        t->judge.calibration.n =
                documents < RAN_CALIBRATION_KEPT ? documents : RAN_CALIBRATION_KEPT;
        if (documents > 0)
                memcpy(p, t->judge.calibrated, RAN_CALIBRATION_KEPT * sizeof *p);
        return RAN_OK;
}

static int read_all(struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        struct ran_extra x[RAN_EXTRAS];
        const size_t n = ran_trainer_extras(t, RAN_FOR_CHECKPOINT, x);

        RAN_TRY(check_version(t, m, err));
        RAN_TRY(same_run(t, m, err));
        for (size_t i = 0; i < n; i++)
                RAN_TRY(ran_model_read_extra(m, &x[i], err));
        RAN_TRY(ran_trainer_resume(t, err));
        RAN_TRY(read_recurrent(t, m, err));
        t->time.before = t->at.epochs.spent;
        memcpy(t->weights.p.block, m->params.block, t->weights.layout.size * sizeof(float));
        ran_trainer_copy_rows(t, 0, t->V, m->params.embed);
        ran_trainer_copy_rows(t, t->V, ran_encoder_spelling(t->c), m->params.spelling);
        read_linear(t, m);
        return read_calibration(t, err);
}

int ran_checkpoint_read(struct ran_trainer *t, struct ran_error *err)
{
        if (t->job->checkpoint == NULL)
                return ran_fail(err, RAN_EINVAL, "there is no checkpoint to resume from");
        struct ran_model *m = ran_model_open(t->job->checkpoint, true, err);
        if (m == NULL)
                return err->code;
        int rc = read_all(t, m, err);
        ran_model_free(m);
        return rc;
}
