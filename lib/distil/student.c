/* student.c - see student.h. */
#include "distil/student.h"
#include "base/error.h"
#include "base/field.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double save_every = 300; /* seconds: the checkpoint */

struct lesson {
        const struct ran_student *student;
        struct ran_config config;
        struct ran_train_settings settings;
        struct ran_dataset data;
        bool *held_out; /* (B) */
        struct ran_embedding rows;
};

/* A width of heads that is even, for rotary positions. */
static size_t head_dim(size_t D, size_t heads)
{
        const size_t width = D / heads - D / heads % 2;

        return width > 0 ? width : 2;
}

static int configure(struct lesson *k, struct ran_error *err)
{
        const struct ran_distil_settings *s = k->student->job->settings;

        RAN_TRY(ran_fields_init(ran_config_fields, &k->config, err));
        RAN_TRY(ran_fields_init(ran_train_fields, &k->settings, err));
        k->config.task = RAN_TASK_EMBED;
        k->config.ran.cell = RAN_CELL_PRENORM;
        k->config.ran.vector = true;
        k->config.dim = k->student->D;
        k->config.layers = s->layers;
        k->config.heads = s->heads;
        k->config.head_dim = head_dim(k->student->D, s->heads);
        k->config.window = s->window;
        k->config.linear.wide = 0;
        k->settings.epochs = s->ran_epochs;
        k->settings.batch = s->ran_batch;
        k->settings.learning_rate = s->ran_learning_rate;
        k->settings.seed = s->seed;
        k->settings.metric = RAN_METRIC_LOSS;
        k->settings.refit = false;
        k->settings.vectors_rms = 0; /* rows as they are */
        k->settings.dropout = k->settings.embed_dropout =
                0; /* a vector is a target that says all */
        return RAN_OK;
}

/* All texts, so that they and their targets have the same numbers. Those without a token have one,
 * and are held out. */
static int add_texts(struct lesson *k, struct ran_error *err)
{
        const struct ran_student *s = k->student;
        const size_t n = s->job->n;
        static const uint32_t none = 0;

        k->held_out = ran_alloc(n, sizeof *k->held_out, err);
        if (k->held_out == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < n; i++) {
                const size_t from = s->texts.first[i], L = s->texts.first[i + 1] - from;

                k->held_out[i] = !s->learns[i];
                RAN_TRY(ran_dataset_add(&k->data, L > 0 ? s->texts.ids + from : &none,
                                        L > 0 ? L : 1, NULL, 0, 1, err));
        }
        k->data.target = s->target;
        k->data.target_width = s->D;
        return ran_dataset_finish(&k->data, err);
}

/* By which a checkpoint is known again: of all that is learned from. */
static void sign(struct lesson *k)
{
        const struct ran_dataset *d = &k->data;
        struct ran_sha256 sha;

        ran_sha256_init(&sha);
        ran_sha256_add(&sha, d->first, (d->B + 1) * sizeof *d->first);
        ran_sha256_add(&sha, d->ids, d->first[d->B] * sizeof *d->ids);
        ran_sha256_add(&sha, k->held_out, d->B * sizeof *k->held_out);
        ran_sha256_add(&sha, d->target, d->B * d->target_width * sizeof *d->target);
        ran_sha256_hex(&sha, k->data.digest);
}

static int give_rows(struct lesson *k, struct ran_error *err)
{
        const struct ran_student *s = k->student;
        const size_t bytes = s->V * s->D * sizeof *s->rows;
        struct ran_sha256 sha;

        RAN_TRY(ran_embedding_init(&k->rows, s->V, s->D, err));
        memcpy(k->rows.rows, s->rows, bytes);
        for (size_t id = 0; id < s->V; id++)
                k->rows.given[id] = true;
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, s->rows, bytes);
        ran_sha256_hex(&sha, k->rows.digest);
        return RAN_OK;
}

static int report(void *arg, const struct ran_train_report *r)
{
        const struct ran_distil_job *job = ((const struct lesson *)arg)->student->job;
        const struct ran_distil_progress p = {RAN_DISTIL_RAN, r->step, r->steps, r->loss};

        return r->event == RAN_REPORT_STEP && job->progress != NULL ? job->progress(job->arg, &p)
                                                                    : 0;
}

static int train(struct lesson *k, const char *path, struct ran_error *err)
{
        const struct ran_distil_job *of = k->student->job;
        const struct ran_train_job job = {.config = &k->config,
                                          .settings = &k->settings,
                                          .train = &k->data,
                                          .held_out = k->held_out,
                                          .tokenizer = of->tokenizer,
                                          .vectors = &k->rows,
                                          .output = path,
                                          .storage = RAN_STORAGE_F32,
                                          .checkpoint = of->checkpoint,
                                          .keep_checkpoint = true,
                                          .checkpoint_seconds = save_every,
                                          .resume = of->checkpoint != NULL &&
                                                    access(of->checkpoint, F_OK) == 0,
                                          .pool = of->pool,
                                          .report = report,
                                          .arg = k};

        return ran_train(&job, err);
}

static int learn(struct lesson *k, const char *path, struct ran_error *err)
{
        RAN_TRY(configure(k, err));
        RAN_TRY(add_texts(k, err));
        RAN_TRY(give_rows(k, err));
        sign(k);
        return train(k, path, err);
}

int ran_student_train(const struct ran_student *s, const char *path, struct ran_error *err)
{
        struct lesson k = {.student = s};
        const int rc = learn(&k, path, err);

        ran_dataset_release(&k.data);
        ran_embedding_release(&k.rows);
        ran_fields_release(ran_config_fields, &k.config);
        ran_fields_release(ran_train_fields, &k.settings);
        free(k.held_out);
        return rc;
}
