/* checkpoint.c - the state of a run: as tensors, by one list for checkpoints and for ranks; and the
 * file of a checkpoint. */
#include "nn/part.h"
#include "part/linear/linear-words.h"
#include "part/linear/linear-rows.h"
#include "train/trainer.h"
#include "nn/unread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

/* The kinds of the numbers of each state, a letter for each:
 *      F   0 or 1
 *      C   a whole number, at least 0
 *      S   at least 0
 *      W   a factor of logits
 *      N   finite
 *      A   any number */
static const struct state {
        const char *name, *kinds;
        size_t n;
} states[] = {
#define STATE(member, name, kinds) {name, kinds, sizeof(kinds) - 1},
        RAN_STATES(STATE)
#undef STATE
};
enum { STATES = sizeof states / sizeof *states };

#define STATE(member, name, kinds)                                          \
        _Static_assert((sizeof(kinds) - 1) * sizeof(double) ==              \
                               sizeof(((struct ran_states *)NULL)->member), \
                       "each number has a kind");
RAN_STATES(STATE)
#undef STATE

static bool is_of(char kind, double x)
{
        switch (kind) {
        case 'F':
                return x == 0 || x == 1;
        case 'C':
                return x >= 0 && x < 1e15 && x == floor(x);
        case 'S':
                return x >= 0 && x <= 1e15;
        case 'W':
                return x >= 0 && x <= 1e12;
        case 'N':
                return fabs(x) <= 1e15;
        default:
                return !isnan(x);
        }
}

bool ran_states_are_sane(const struct ran_states *s)
{
        const double *x = (const double *)s;

        for (size_t i = 0; i < STATES; i++)
                for (size_t k = 0; k < states[i].n; k++)
                        if (!is_of(states[i].kinds[k], *x++))
                                return false;
        return s->decision.why <= RAN_ENCODER_NOT_PROVEN &&
               s->decision.errors <= s->decision.documents;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

size_t ran_trainer_extras(struct ran_trainer *t, int of, struct ran_extra x[RAN_EXTRAS])
{
        enum { RANKS = RAN_FOR_RANKS, SAVED = RAN_FOR_CHECKPOINT, BOTH = RANKS | SAVED };
        const enum ran_dtype F32 = RAN_DTYPE_F32, F64 = RAN_DTYPE_F64;
        struct ran_optimiser *o = &t->loop.optimiser;
        struct ran_weights *w = &t->weights;
        struct ran_linear *l = &t->linear;
        const size_t size = w->layout.size, rows = w->table.rows, all = rows * w->table.width;
        const size_t crf = l->crf != NULL ? ran_crf_train_floats(t->C) : 0;
        float *calibrated = w->best_block != NULL ? t->judge.calibrated : NULL;
        const struct {
                int of;
                struct ran_extra x;
        } list[] = {
                {BOTH, {"train.m", F32, o->m, size}},
                {BOTH, {"train.v", F32, o->v, size}},
                {BOTH, {"train.embed.m", F32, o->table.m, all}},
                {BOTH, {"train.embed.v", F32, o->table.v, o->table.moments}},
                {BOTH, {"train.embed.met", F64, o->table.last_step, rows}},
                {BOTH, {"train.chain", F32, l->crf, crf}},
                {SAVED, {"train.best", F32, w->best_block, size}},
                {SAVED, {"train.embed.best", F32, w->best_table, all}},
                {SAVED, {"train.calibration", F32, calibrated, RAN_CALIBRATION_KEPT}},
                {RANKS, {"", F32, w->p.block, size}},
                {RANKS, {"", F32, w->table.x, all}},
                {RANKS, {"", F32, l->weight, l->rows * t->C}},
                {RANKS, {"", F32, l->token_weight, t->V}},
                {RANKS, {"", F32, l->idf, l->rows}},
                {RANKS, {"", F64, &l->rate, 1}},
                {RANKS, {"", F32, o->rate_scale, w->layout.n}},
                {RANKS, {"", F32, o->table.rate_scale, rows}},
        };
        double *number = (double *)&t->at;
        size_t n = 0;

        for (size_t i = 0; i < STATES; number += states[i++].n)
                x[n++] = (struct ran_extra){states[i].name, F64, number, states[i].n};
        for (size_t i = 0; i < sizeof list / sizeof *list; i++)
                if ((list[i].of & of) != 0 && list[i].x.data != NULL)
                        x[n++] = list[i].x;
        return n;
}

void ran_trainer_note(struct ran_trainer *t)
{
        t->at.epochs.updates = (double)t->loop.optimiser.step;
        t->at.epochs.decay = t->loop.optimiser.decay;
        t->at.best.calibrated = (double)t->judge.calibration.documents;
        if (t->job->seconds > 0)
                t->at.epochs.spent = ran_budget_spent(t);
        if (t->judge.calibration.n > 0)
                memcpy(t->judge.calibrated, t->judge.calibration.p,
                       t->judge.calibration.n * sizeof(float));
}

/* Whether the numbers of the stages go together. */
static bool are_consistent(const struct ran_trainer *t)
{
        const struct ran_states *at = &t->at;
        const double epochs = (double)t->s->epochs;
        const double last = at->epochs.refit != 0 ? at->best.epoch : epochs;
        /* Then one of the epochs was the best. */
        const bool judged = ran_train_has_dev(t->job) &&
                            (at->epochs.epoch > 0 || at->best.stale > 0 || at->epochs.refit != 0);

        return ran_states_are_sane(at) && (at->epochs.refit == 0 || ran_train_refits(t->job)) &&
               at->best.threshold <= 1 && at->epochs.epoch <= last &&
               at->epochs.batch <= at->epochs.updates && at->best.epoch <= epochs &&
               (!judged || at->best.epoch > 0) && at->best.stale <= epochs;
}

int ran_trainer_resume(struct ran_trainer *t, struct ran_error *err)
{
        bool here = are_consistent(t);

        if (here) {
                t->loop.optimiser.step = (uint64_t)t->at.epochs.updates;
                t->loop.optimiser.decay = t->at.epochs.decay;
                ran_trainer_list_documents(t);
                ran_trainer_begin_epoch(t);
                here = t->at.epochs.batch <= (double)t->loop.batches;
        }
        return here ? RAN_OK
                    : ran_fail(err, RAN_EFORMAT,
                               "the checkpoint's progress is impossible: the file is damaged");
}

/* ---- writing --------------------------------------------------------------------------------- */

/* And the recurrent states of documents that are not read to their end; the caller frees data. */
static struct ran_extra recurrent_extra(const struct ran_trainer *t)
{
        const size_t n = ran_plan_floats(&t->loop.plan);

        return (struct ran_extra){"train.carry", RAN_DTYPE_F32, ran_new_floats(n), n};
}

/* What follows from the data, as the end of the run's description. */
static void add_about(const struct ran_trainer *t, struct ran_buf *out)
{
        if (t->job->about != NULL && t->job->about[0] != '\0')
                ran_buf_printf(out, ",%s", t->job->about);
}

int ran_checkpoint_write(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_extra recurrent = recurrent_extra(t);
        struct ran_buf about = {0};
        struct ran_parts parts = ran_trainer_parts(t);
        struct ran_extra x[RAN_EXTRAS + 1];

        ran_trainer_note(t);
        parts.extra = x;
        parts.extras = ran_trainer_extras(t, RAN_FOR_CHECKPOINT, x);
        ran_plan_pack(&t->loop.plan, recurrent.data);
        if (recurrent.n > 0)
                x[parts.extras++] = recurrent;
        add_about(t, &about);
        ran_buf_char(&about, '\0');
        const int rc = ran_trainer_write_parts(t, t->job->checkpoint, &parts, about.data, err);
        ran_buf_release(&about);
        free(recurrent.data);
        return rc;
}

/* ---- resuming -------------------------------------------------------------------------------- */

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

/* Whether model, labels and vocabulary are those of this run. */
static bool has_same_names(const struct ran_trainer *t, const struct ran_model *m)
{
        const struct ran_tokenizer *ours = t->job->tokenizer, *theirs = m->tokenizer;

        if (m->V != t->V || (ran_parts_classes(t->c) != NULL && m->C != t->C))
                return false;
        for (size_t c = 0; c < t->C && ran_task_has_labels(t->c->task); c++)
                if (strcmp(m->labels[c], t->job->train->names[c]) != 0)
                        return false;
        return ours == NULL || theirs == NULL
                       ? ours == theirs
                       : strcmp(ran_tokenizer_digest(ours), ran_tokenizer_digest(theirs)) == 0;
}

static int check_run(const struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        const char *training = ran_model_metadata(m, "training");
        struct ran_buf theirs = {0}, ours = {0};

        ran_fields_json(ran_config_fields, &m->config, &theirs);
        ran_fields_json(ran_config_fields, t->c, &ours);
        ran_buf_str(&theirs, training != NULL ? training : "");
        ran_buf_printf(&ours, "{%s", t->training);
        add_about(t, &ours);
        ran_buf_char(&ours, '}');
        const bool same = theirs.len == ours.len && memcmp(theirs.data, ours.data, ours.len) == 0 &&
                          has_same_names(t, m);
        ran_buf_release(&theirs);
        ran_buf_release(&ours);
        if (!same)
                return ran_fail(
                        err, RAN_EINVAL,
                        "%s: the checkpoint belongs to a run with other settings or data; give the "
                        "same ones to resume, or remove it to start over",
                        t->job->checkpoint);
        return RAN_OK;
}

static int read_all(struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        struct ran_extra x[RAN_EXTRAS];
        const size_t n = ran_trainer_extras(t, RAN_FOR_CHECKPOINT, x);

        RAN_TRY(check_version(t, m, err));
        RAN_TRY(check_run(t, m, err));
        for (size_t i = 0; i < n; i++)
                RAN_TRY(ran_model_read_extra(m, &x[i], err));
        RAN_TRY(ran_trainer_resume(t, err));
        const struct ran_extra recurrent = recurrent_extra(t);
        int rc = recurrent.n > 0 ? ran_model_read_extra(m, &recurrent, err) : RAN_OK;
        if (rc == RAN_OK)
                rc = ran_plan_unpack(&t->loop.plan, recurrent.data, err);
        free(recurrent.data);
        RAN_TRY(rc);
        t->time.before = t->at.epochs.spent;
        ran_unread_read(m->params.unread);
        memcpy(t->weights.p.block, m->params.block, t->weights.layout.size * sizeof(float));
        ran_trainer_copy_tables(t, &m->params, t->V, ran_encoder_spelling(t->c));
        if (t->linear.rows > 0)
                ran_linear_rows_spread(ran_linear_of(&m->params), t->linear.rows, t->C,
                                       t->linear.weight, t->linear.idf);
        const size_t documents = (size_t)t->at.best.calibrated;
        ran_calibration_release(&t->judge.calibration);
        if (documents == 0)
                return RAN_OK;
        t->judge.calibration = (struct ran_calibration){
                .p = ran_new_floats(RAN_CALIBRATION_KEPT),
                .documents = documents,
                .n = documents < RAN_CALIBRATION_KEPT ? documents : RAN_CALIBRATION_KEPT};
        memcpy(t->judge.calibration.p, t->judge.calibrated, sizeof t->judge.calibrated);
        return RAN_OK;
}

int ran_checkpoint_read(struct ran_trainer *t, struct ran_error *err)
{
        if (t->job->checkpoint == NULL)
                return ran_fail(err, RAN_EINVAL, "there is no checkpoint to resume from");
        struct ran_model *m = ran_model_open(t->job->checkpoint, true, err);
        if (m == NULL)
                return err->code;
        const int rc = read_all(t, m, err);
        ran_model_free(m);
        return rc;
}
