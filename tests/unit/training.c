#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "toy.h"
#include "training.h"

static int on_report(void *arg, const struct ran_train_report *report)
{
        struct training *t = arg;

        if (t->reports < sizeof(t->report) / sizeof(*t->report))
                t->report[t->reports] = *report;
        t->reports++;
        t->touched |= report->event != RAN_REPORT_END && exists(t->output);
        if (t->reports != t->stop_at)
                return 0;
        if (t->die)
                _exit(77);
        return 1;
}

static char *path_of(const char *name, const char *end)
{
        char *whole = NULL, *path;

        if (asprintf(&whole, "%s%s", name, end) < 0)
                abort();
        path = test_path(whole);
        free(whole);
        return path;
}

void training_init(struct training *t, const char *name, size_t longest, bool multilabel)
{
        struct ran_error err = {0};

        memset(t, 0, sizeof(*t));
        t->c = toy_config();
        t->c.dim = 8, t->c.head_dim = 4, t->c.window = 16, t->c.min_window = 3;
        t->c.classify.multilabel = multilabel;
        CHECK_OK(ran_fields_init(ran_train_fields, &t->s, &err), err);
        t->s.epochs = 3;
        t->s.batch = 10;
        t->s.learning_rate = 0.01;
        t->s.dropout = t->s.embed_dropout = 0.1;
        t->s.label_smoothing = 0.05;
        corpus_make(&t->train, 40, 1, longest, multilabel, 1);
        corpus_make(&t->dev, 15, 1, longest, multilabel, 2);
        t->output = path_of(name, ".ran");
        t->checkpoint = path_of(name, ".ran.ckpt");
        t->job = (struct ran_train_job){.config = &t->c,
                                        .settings = &t->s,
                                        .train = &t->train,
                                        .dev = &t->dev,
                                        .V = CORPUS_V,
                                        .output = t->output,
                                        .checkpoint = t->checkpoint,
                                        .checkpoint_seconds = 1e9,
                                        .report = on_report,
                                        .arg = t};
}

void training_init_texts(struct training *t, const char *name, size_t longest,
                         enum corpus_kind kind, size_t bptt)
{
        training_init(t, name, longest, false);
        ran_dataset_release(&t->train);
        ran_dataset_release(&t->dev);
        corpus_texts(&t->train, 40, 2, longest, kind, 1);
        corpus_texts(&t->dev, 15, 2, longest, kind, 2);
        t->c.task = kind == CORPUS_MASKED ? RAN_TASK_MLM : RAN_TASK_LM;
        t->c.mask = kind == CORPUS_MASKED  ? RAN_MASK_NONE
                    : kind == CORPUS_TEXTS ? RAN_MASK_CAUSAL
                                           : RAN_MASK_PREFIX;
        t->c.window = 8;
        t->c.min_window = 1;
        t->s.metric = RAN_METRIC_LOSS;
        t->s.label_smoothing = 0;
        t->s.bptt = bptt;
}

void training_release(struct training *t)
{
        ran_dataset_release(&t->train);
        ran_dataset_release(&t->dev);
        ran_fields_release(ran_train_fields, &t->s);
        free(t->output);
        free(t->checkpoint);
}

int training_run(struct training *t, size_t threads, struct ran_error *err)
{
        struct ran_pool *pool = ran_pool_new(threads, err);
        int code;

        t->reports = 0;
        t->touched = false;
        t->job.pool = pool;
        code = ran_train(&t->job, err);
        t->job.pool = NULL;
        ran_pool_free(pool);
        return code;
}

size_t training_count(const struct training *t, int event)
{
        size_t n = 0;

        for (size_t i = 0; i < t->reports; i++)
                n += (int)t->report[i].event == event;
        return n;
}

bool same_file(const char *a, const char *b)
{
        struct ran_error err = {0};
        struct ran_bytes x = {0}, y = {0};
        bool same = ran_bytes_open(&x, a, &err) == RAN_OK &&
                    ran_bytes_open(&y, b, &err) == RAN_OK && x.size == y.size &&
                    memcmp(x.data, y.data, x.size) == 0;

        ran_bytes_release(&x);
        ran_bytes_release(&y);
        return same;
}

bool exists(const char *path)
{
        return access(path, F_OK) == 0;
}
