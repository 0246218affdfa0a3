/* The first phase of a training: an encoder that learns from texts before it learns from labels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/model.h"
#include "test.h"
#include "train/trainer.h"
#include "training.h"

enum { TEXTS = 24, DOCUMENTS = 40 };

/* A training with texts. */
struct phases {
        struct training t;
        struct ran_train_texts texts;
        struct ran_dataset train, dev;
        bool held_out[TEXTS], labels_held_out[DOCUMENTS];
};

static void begin(struct phases *p, const char *name)
{
        memset(p, 0, sizeof *p);
        training_init(&p->t, name, 40, false);
        corpus_texts(&p->train, TEXTS, 2, 40, CORPUS_MASKED, 3);
        corpus_texts(&p->dev, 6, 2, 40, CORPUS_MASKED, 4);
        for (size_t i = 0; i < TEXTS; i += 5)
                p->held_out[i] = true;
        for (size_t b = 0; b < DOCUMENTS; b += 4)
                p->labels_held_out[b] = true;
        p->texts = (struct ran_train_texts){.train = &p->train, .dev = &p->dev};
        p->t.s.pretrain_epochs = 2;
        p->t.job.texts = &p->texts;
}

static void end(struct phases *p)
{
        ran_dataset_release(&p->train);
        ran_dataset_release(&p->dev);
        training_release(&p->t);
}

static size_t count_pretraining(const struct training *t, int event)
{
        size_t n = 0;

        for (size_t i = 0; i < t->reports; i++)
                n += t->report[i].pretraining && (int)t->report[i].event == event;
        return n;
}

static struct ran_model *open_model(const char *path)
{
        struct ran_error err;
        struct ran_model *m = ran_model_open(path, true, &err);

        if (m == NULL)
                printf("  %s: %s\n", path, err.text);
        return m;
}

static bool same_tensor(const struct ran_model *a, const struct ran_model *b, const char *name)
{
        const struct ran_tensor *x = ran_tensors_find(&a->tensors, name);
        const struct ran_tensor *y = ran_tensors_find(&b->tensors, name);

        return x != NULL && y != NULL && x->elements == y->elements &&
               memcmp(a->tensors.data + x->begin, b->tensors.data + y->begin, x->end - x->begin) ==
                       0;
}

/* ---- resumed --------------------------------------------------------------------------------- */

static void check_resume(struct training *t, const char *whole, size_t reports)
{
        struct ran_error err = {0};

        for (size_t at = 1; at < reports; at += test_all() ? 1 : 1 + reports / 4) {
                t->job.resume = false;
                t->stop_at = at;
                CHECK_SIZE((size_t)training_run(t, 1, &err), RAN_EINTR);
                CHECK(!t->touched && !exists(t->output) && exists(t->checkpoint));
                t->job.resume = true;
                t->stop_at = 2;
                if (training_run(t, 2, &err) == RAN_EINTR) {
                        t->stop_at = 0;
                        CHECK_OK(training_run(t, 2, &err), err);
                }
                if (!CHECK(same_file(t->output, whole)))
                        printf("  stopped at report %zu of %zu\n", at, reports);
                CHECK(!exists(t->checkpoint));
                unlink(t->output);
        }
}

TEST(resume_within_either_phase_gives_the_same_bytes)
{
        struct ran_error err = {0};
        char *whole = test_path("pretrain-whole.ran");

        for (int kind = 0; kind < 3; kind++) {
                struct phases p;

                begin(&p, "pretrain-resume");
                p.t.c.linear.wide = kind == 1 ? 0 : 60;
                p.t.s.refit = kind == 0;
                p.t.job.held_out = kind == 0 ? p.labels_held_out : NULL;
                if (kind == 2)
                        p.t.job.dev = p.texts.dev = NULL;
                CHECK_OK(training_run(&p.t, 1, &err), err);
                CHECK(rename(p.t.output, whole) == 0);
                CHECK_SIZE(count_pretraining(&p.t, RAN_REPORT_STEP), 2 * 3);
                CHECK_SIZE(count_pretraining(&p.t, RAN_REPORT_DEV), kind == 2 ? 0 : 2);
                CHECK_SIZE(training_count(&p.t, RAN_REPORT_PRETRAINED), 1);
                CHECK_SIZE(training_count(&p.t, RAN_REPORT_REFIT), kind == 0);
                check_resume(&p.t, whole, p.t.reports);
                end(&p);
        }
        free(whole);
}

TEST(a_checkpoint_of_other_texts_is_not_resumed)
{
        struct ran_error err = {0};
        struct phases p;

        begin(&p, "pretrain-other");
        p.t.stop_at = 3;
        CHECK_SIZE((size_t)training_run(&p.t, 1, &err), RAN_EINTR);
        p.t.stop_at = 0;
        p.t.job.resume = true;
        p.train.digest[0] ^= 1;
        CHECK_SIZE((size_t)training_run(&p.t, 1, &err), RAN_EINVAL);
        p.train.digest[0] ^= 1;
        p.t.job.texts = NULL;
        CHECK_SIZE((size_t)training_run(&p.t, 1, &err), RAN_EINVAL);
        end(&p);
}

/* ---- what it does ---------------------------------------------------------------------------- */

/* The first phase by itself, as a model. */
static struct ran_model *train_first(struct phases *p, struct ran_train_phase *phase,
                                     const char *path)
{
        struct ran_error err = {0};

        CHECK_OK(ran_train_first_phase(&p->t.job, phase, &err), err);
        phase->job.output = path;
        phase->job.checkpoint = NULL;
        phase->job.report = NULL;
        CHECK_OK(ran_train(&phase->job, &err), err);
        return open_model(path);
}

TEST(two_phases_are_a_masked_language_model_and_then_a_model_initialised_from_it)
{
        char *first_path = test_path("pretrain-first.ran"),
             *whole = test_path("pretrain-two-whole.ran");
        struct ran_error err = {0};
        struct ran_train_phase phase;
        struct phases p;

        for (int refit = 0; refit < 2; refit++) {
                begin(&p, "pretrain-two");
                p.texts.held_out = p.held_out;
                p.t.s.refit = refit;
                p.t.job.held_out = refit ? p.labels_held_out : NULL;
                p.t.s.layer_decay = 0.5;
                CHECK_OK(training_run(&p.t, 1, &err), err);
                CHECK(rename(p.t.output, whole) == 0);
                struct ran_model *first = train_first(&p, &phase, first_path);
                p.t.job.texts = NULL;
                p.t.job.init = first;
                CHECK_OK(training_run(&p.t, 1, &err), err);
                struct ran_model *a = open_model(whole), *b = open_model(p.t.output);
                CHECK_STR(ran_model_metadata(a, "digest"), ran_model_metadata(b, "digest"));
                CHECK(!same_tensor(a, first, "embed.weight"));
                CHECK(strstr(ran_model_metadata(a, "training"), ",\"pretrained\":{\"epochs\":2,") !=
                      NULL);
                CHECK(strstr(ran_model_metadata(b, "training"), "pretrain\"") == NULL);
                ran_model_free(a);
                ran_model_free(b);
                ran_model_free(first);
                end(&p);
        }
        unlink(first_path);
        unlink(whole);
        free(first_path);
        free(whole);
}

TEST(texts_teach_and_the_report_says_how_much)
{
        struct ran_error err = {0};
        struct phases p;

        begin(&p, "pretrain-teach");
        p.t.s.pretrain_epochs = 12;
        CHECK_OK(training_run(&p.t, 1, &err), err);
        for (size_t i = 0; i < p.t.reports; i++) {
                const struct ran_train_report *r = &p.t.report[i];

                if (r->event != RAN_REPORT_PRETRAINED)
                        continue;
                CHECK(r->pretraining && r->loss_before > 0 && r->loss < r->loss_before);
                CHECK_SIZE(r->documents, TEXTS);
                CHECK_SIZE(r->epoch, 12);
        }
        end(&p);
}

TEST(layer_decay_leaves_lower_layers_more_as_they_were)
{
        char *path = test_path("pretrain-decay-first.ran");
        struct ran_error err = {0};
        struct ran_train_phase phase;
        struct phases p;

        begin(&p, "pretrain-decay");
        p.t.s.layer_decay = 0; /* nothing below the top layer learns */
        struct ran_model *first = train_first(&p, &phase, path);
        CHECK_OK(training_run(&p.t, 1, &err), err);
        struct ran_model *m = open_model(p.t.output);
        bool moved[2] = {false, false};
        for (size_t i = 0; i < m->tensors.n; i++) {
                const char *name = m->tensors.tensor[i].name;
                const char *dot = strchr(name, '.');

                if (dot == NULL || dot[1] < '0' || dot[1] > '1' || dot[2] != '.')
                        continue;
                moved[dot[1] - '0'] |= !same_tensor(m, first, name);
        }
        CHECK(!moved[0] && moved[1]);
        CHECK(same_tensor(m, first, "embed.weight"));
        ran_model_free(m);
        ran_model_free(first);
        unlink(path);
        free(path);
        end(&p);
}

/* Nothing to gain: then the texts are not read. */
TEST(a_linear_model_without_errors_leaves_the_first_phase_out)
{
        struct ran_error err = {0};
        struct phases p;

        begin(&p, "pretrain-room");
        p.t.c.linear.wide = 300;
        p.t.s.early_stop = true;
        CHECK_OK(training_run(&p.t, 1, &err), err);
        CHECK_SIZE(training_count(&p.t, RAN_REPORT_PRETRAINED), 0);
        CHECK_SIZE(count_pretraining(&p.t, RAN_REPORT_STEP), 0);
        p.t.s.early_stop = false;
        CHECK_OK(training_run(&p.t, 1, &err), err);
        CHECK_SIZE(training_count(&p.t, RAN_REPORT_PRETRAINED), 1);
        end(&p);
}

/* One that was trained before needs some epochs to find a use for what it knows. */
TEST(an_encoder_that_learned_from_texts_is_not_ended_after_its_first_epoch)
{
        struct ran_error err = {0};
        struct ran_dataset dev = {0};

        corpus_make(&dev, 200, 1, 40, false, 5);
        for (int texts = 0; texts < 2; texts++) {
                struct phases p;

                begin(&p, "pretrain-wait");
                p.t.c.linear.wide = 24;
                p.t.s.wide_cost = 1;
                p.t.s.early_stop = true;
                p.t.s.epochs = p.t.s.patience = 8;
                p.t.s.learning_rate = p.t.s.min_learning_rate = 1e-9; /* it cannot help */
                p.t.job.dev = &dev;
                p.t.job.texts = texts ? &p.texts : NULL;
                CHECK_OK(training_run(&p.t, 1, &err), err);
                CHECK_SIZE(training_count(&p.t, RAN_REPORT_DECIDED), 1);
                CHECK_SIZE(training_count(&p.t, RAN_REPORT_DEV) -
                                   count_pretraining(&p.t, RAN_REPORT_DEV),
                           texts ? 3 : 1);
                end(&p);
        }
        ran_dataset_release(&dev);
}

/* What time decided is repeated by what the model says of it. */
TEST(a_time_limit_of_the_first_phase_is_repeated)
{
        char *whole = test_path("pretrain-limit-whole.ran");
        struct ran_error err = {0};
        struct phases p;

        begin(&p, "pretrain-limit");
        p.t.s.pretrain_epochs = 4;
        p.texts.limit = (struct ran_train_limit){.from = 3, .steps = 8};
        CHECK_OK(training_run(&p.t, 1, &err), err);
        CHECK_SIZE(count_pretraining(&p.t, RAN_REPORT_STEP), 8);
        struct ran_model *m = open_model(p.t.output);
        CHECK(strstr(ran_model_metadata(m, "training"),
                     "\"time_limit\":{\"from\":3,\"steps\":8,\"last\":0}}") != NULL);
        ran_model_free(m);
        CHECK(rename(p.t.output, whole) == 0);
        check_resume(&p.t, whole, p.t.reports);
        unlink(whole);
        free(whole);
        end(&p);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

TEST(texts_teach_encoders_of_tokens_only)
{
        struct ran_error err = {0};
        struct phases p;

        begin(&p, "pretrain-refused");
        p.t.c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        CHECK_SIZE((size_t)training_run(&p.t, 1, &err), RAN_EINVAL);
        CHECK(strstr(err.text, "contextualizer") != NULL);
        p.t.c.encoder = RAN_ENCODER_NONE;
        p.t.c.linear.wide = 60;
        struct ran_train_phase phase;
        CHECK_SIZE((size_t)ran_train_first_phase(&p.t.job, &phase, &err), RAN_EINVAL);
        CHECK(strstr(err.text, "this model has none") != NULL);
        p.t.c.encoder = RAN_ENCODER_RAN;
        p.t.c.task = RAN_TASK_LM;
        CHECK_SIZE((size_t)ran_train_first_phase(&p.t.job, &phase, &err), RAN_EINVAL);
        end(&p);
}
