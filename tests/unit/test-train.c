/* Training from end to end: what it learns, that it gives the same bytes however it is run, and
 * what it leaves when it fails. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/model.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "test.h"
#include "gradient/optimiser.h"
#include "training.h"

/* ---- learning -------------------------------------------------------------------------------- */

/* Share of the documents of d whose classes the model names exactly. */
static double exact(const char *model, const struct ran_dataset *d)
{
        struct ran_error err = {0};
        struct ran_model *m = ran_model_open(model, true, &err);
        struct ran_state *s = m != NULL ? ran_state_new(m, NULL) : NULL;
        size_t right = 0;

        if (!test_check(s != NULL, err.text, __FILE__, __LINE__))
                return 0;
        for (size_t b = 0; b < d->B; b++) {
                const uint32_t *gold = d->labels + d->label_first[b];
                size_t n = d->label_first[b + 1] - d->label_first[b], wrong = 0;
                const struct ran_document one = ran_dataset_document(d, b);
                float x[CORPUS_C], p[CORPUS_C], top = 0;

                CHECK_OK(ran_classify(m, s, &one, x, NULL, &err), err);
                ran_probabilities(ran_model_config(m), x, CORPUS_C, p);
                for (size_t c = 0; c < CORPUS_C; c++)
                        top = fmaxf(top, p[c]);
                for (uint32_t c = 0; c < CORPUS_C; c++) {
                        bool is = false, said = d->multilabel ? p[c] >= ran_model_thresholds(m)[c]
                                                              : p[c] == top;

                        for (size_t i = 0; i < n; i++)
                                is |= gold[i] == c;
                        wrong += is != said;
                }
                right += wrong == 0;
        }
        ran_state_free(s);
        ran_model_free(m);
        return (double)right / (double)d->B;
}

static void check_learns(const char *name, bool multilabel)
{
        struct ran_error err = {0};
        struct training t;

        training_init(&t, name, 30, multilabel);
        ran_dataset_release(&t.train);
        corpus_make(&t.train, 300, 3, 30, multilabel, 3);
        t.c.dim = 16, t.c.layers = 1;
        t.s.epochs = t.s.patience = 25;
        t.s.dropout = t.s.embed_dropout = t.s.label_smoothing = 0;
        t.s.metric =
                RAN_METRIC_LOSS; /* by accuracy, the first epoch without an error is the best */
        if (CHECK_OK(training_run(&t, 2, &err), err)) {
                CHECK(exact(t.output, &t.train) == 1);
                CHECK(exact(t.output, &t.dev) == 1);
                CHECK(!exists(t.checkpoint));
        }
        training_release(&t);
}

TEST(train_learns_a_small_task_whole)
{
        check_learns("whole", false);
}

TEST(train_learns_several_labels_a_document)
{
        check_learns("several", true);
}

/* ---- the same bytes -------------------------------------------------------------------------- */

/* Long and ragged documents: several windows, and several shards a batch. */
TEST(train_gives_the_same_bytes_for_any_threads)
{
        struct ran_error err = {0};
        char *first = test_path("threads-1.ran");
        struct training t;

        for (int multilabel = 0; multilabel <= 1; multilabel++) {
                training_init(&t, "threads", test_all() ? 700 : 300, multilabel);
                t.c.spelling = multilabel ? CORPUS_SPELLING : 0;
                t.c.linear.wide = multilabel ? 0 : 200;
                for (size_t i = 0; i < 3; i++) {
                        const size_t threads = (const size_t[]){1, 2, 7}[i];

                        CHECK_OK(training_run(&t, threads, &err), err);
                        if (i == 0)
                                CHECK(rename(t.output, first) == 0);
                        else
                                CHECK(same_file(t.output, first));
                }
                training_release(&t);
        }
        free(first);
}

/* Another seed is another model: the test above could be passed by a constant. */
TEST(train_depends_on_the_seed)
{
        struct ran_error err = {0};
        char *first = test_path("seed-1.ran");
        struct training t;

        training_init(&t, "seed", 20, false);
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(rename(t.output, first) == 0);
        t.s.seed = 2;
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(!same_file(t.output, first));
        training_release(&t);
        free(first);
}

/* ---- failures -------------------------------------------------------------------------------- */

TEST(train_that_diverges_says_so_and_leaves_the_checkpoint)
{
        struct ran_error err = {0};
        char *kept = test_path("diverged-kept");
        struct training t;

        training_init(&t, "diverged", 20, false);
        t.stop_at = 6;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        CHECK(link(t.checkpoint, kept) == 0);
        t.stop_at = 0;
        t.train.weight[7] = INFINITY;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EDIVERGED);
        CHECK(strstr(err.text, "diverged in epoch") != NULL &&
              strstr(err.text, "not finite") != NULL);
        CHECK(!exists(t.output) && same_file(t.checkpoint, kept));
        training_release(&t);
        free(kept);
}

static void check_io_error(struct training *t, const char *path)
{
        struct ran_error err = {0};

        CHECK_SIZE((size_t)training_run(t, 1, &err), RAN_EIO);
        if (!CHECK(strstr(err.text, path) != NULL))
                printf("  says: %s\n", err.text);
}

/* /dev/full is a disk that is full. */
TEST(train_on_a_full_disk_is_an_error_and_can_go_on)
{
        struct ran_error err = {0};
        char *whole = test_path("full-whole.ran");
        struct training t;

        training_init(&t, "full", 20, false);
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(rename(t.output, whole) == 0);
        t.job.checkpoint_seconds = 0;
        t.job.checkpoint = "/dev/full";
        check_io_error(&t, "/dev/full");
        CHECK(training_count(&t, RAN_REPORT_STEP) == 1 && !exists(t.output));
        t.job.checkpoint = t.checkpoint;
        t.job.output = "/dev/full";
        check_io_error(&t, "/dev/full");
        CHECK(exists(t.checkpoint));
        t.job.output = t.output;
        t.job.resume = true;
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(same_file(t.output, whole));
        training_release(&t);
        free(whole);
}

TEST(train_into_a_folder_that_is_not_there_is_an_error)
{
        char *nowhere = test_path("nowhere/model.ran");
        struct training t;

        training_init(&t, "folder", 20, false);
        t.job.output = nowhere;
        t.job.checkpoint = NULL;
        check_io_error(&t, nowhere);
        training_release(&t);
        free(nowhere);
}

static void check_invalid(struct training *t, const char *sentence)
{
        struct ran_error err = {0};

        CHECK_SIZE((size_t)training_run(t, 1, &err), RAN_EINVAL);
        if (!CHECK(strstr(err.text, sentence) != NULL))
                printf("  says: %s\n", err.text);
        CHECK(!exists(t->output) && !exists(t->checkpoint));
}

TEST(train_refuses_what_cannot_be_trained)
{
        struct training t;
        uint32_t id;

        training_init(&t, "refused", 20, false);
        t.c.head_dim = 3;
        check_invalid(&t, "head_dim must be even");
        t.c.head_dim = 4;
        t.job.V = SIZE_MAX / 8;
        check_invalid(&t, "too many epochs");
        t.job.V = CORPUS_V;
        id = t.train.ids[7], t.train.ids[7] = CORPUS_V;
        check_invalid(&t, "id 12 is not in the vocabulary of 12");
        t.train.ids[7] = id;
        id = t.dev.ids[7], t.dev.ids[7] = UINT32_MAX;
        check_invalid(&t, "id 4294967295 is not in the vocabulary of 12");
        t.dev.ids[7] = id;
        t.c.spelling = 3;
        check_invalid(&t, "there is no bucket");
        ran_spool_release(&t.train.spool.spelling);
        t.train.spelling = NULL;
        check_invalid(&t, "the documents have none");
        t.c.spelling = 0;
        t.train.C = 1;
        check_invalid(&t, "nothing to learn");
        t.train.C = CORPUS_C;
        training_release(&t);
}

/* As of a struct that a program filled by itself. */
TEST(train_refuses_settings_that_are_out_of_range)
{
        struct ran_config zero = {0}, c;
        struct ran_train_estimate e;
        struct ran_train_settings s;
        struct ran_error err = {0};
        struct training t;

        training_init(&t, "ranges", 20, false);
        c = t.c, s = t.s;
        t.c.window = 0;
        check_invalid(&t, "--window must be a whole number from 1 to 1048576, not '0'");
        t.c = c;
        t.c.encoder = 9;
        check_invalid(&t,
                      "--encoder must be ran, contextualizer, transformer, none, static or bert");
        t.c = c;
        t.c.transformer.attention.item[0] = 200;
        check_invalid(&t, "--attention must be full, window, ");
        t.c = c;
        t.s.learning_rate = NAN;
        check_invalid(&t, "--learning-rate must be a number from 0 to 100");
        t.s = s;
        t.s.dropout = INFINITY;
        check_invalid(&t, "--dropout must be ");
        t.s = s;
        t.s.epochs = 0;
        check_invalid(&t, "--epochs must be a whole number from 1 to 1000000, not '0'");
        t.s = s;
        t.job.config = &zero;
        CHECK(ran_train(&t.job, &err) == RAN_EINVAL);
        CHECK(ran_train_estimate(&t.job, &e, &err) == RAN_EINVAL);
        t.job.config = &t.c;
        training_release(&t);
}

/* They were believed: labels, words and documents led to memory that was another's. */
TEST(train_refuses_documents_that_do_not_fit)
{
        struct ran_train_estimate e;
        struct ran_error err = {0};
        bool held_out[40];
        struct training t;
        uint32_t label;
        size_t first;

        training_init(&t, "misfit", 20, false);
        label = t.train.labels[5], t.train.labels[5] = CORPUS_C;
        check_invalid(&t, "label 3 is none of 3 classes");
        t.train.labels[5] = RAN_LABEL_UNKNOWN; /* which development data may have */
        check_invalid(&t, "label 4294967295 is none of 3 classes");
        t.train.labels[5] = label;
        label = t.dev.labels[5], t.dev.labels[5] = CORPUS_C;
        check_invalid(&t, "label 3 is none of 3 classes");
        t.dev.labels[5] = label;
        t.dev.C = 2;
        check_invalid(&t, "the validation documents have 2 classes, the training data 3");
        t.dev.C = CORPUS_C;
        first = t.train.first[3], t.train.first[3] = t.train.first[2];
        check_invalid(&t, "a document without tokens");
        CHECK(ran_train_estimate(&t.job, &e, &err) == RAN_EINVAL);
        t.train.first[3] = first;
        first = t.dev.label_first[3], t.dev.label_first[3] = t.dev.label_first[2];
        check_invalid(&t, "a document has 0 labels instead of one");
        t.dev.label_first[3] = first;
        t.c.task = RAN_TASK_TAG;
        check_invalid(&t, "the documents are for another task");
        t.c.task = RAN_TASK_CLASSIFY;
        memset(held_out, true, sizeof held_out);
        t.job.held_out = held_out;
        check_invalid(&t, "all documents are held out");
        t.job.held_out = NULL;
        t.job.resume = true;
        t.job.checkpoint = NULL;
        check_invalid(&t, "there is no checkpoint to resume from");
        training_release(&t);
}

TEST(train_refuses_words_at_no_token)
{
        const uint32_t ids[] = {1, 2, 3}, positions[] = {0, 2}, tags[] = {0, 1};
        struct ran_error err = {0};
        struct training t;
        uint32_t label;

        training_init(&t, "placeless", 20, false);
        t.c.task = RAN_TASK_TAG;
        t.job.dev = NULL;
        ran_dataset_release(&t.train);
        CHECK_OK(ran_dataset_label(&t.train, "B-X", 3, &label, &err), err);
        CHECK_OK(ran_dataset_label(&t.train, "O", 1, &label, &err), err);
        for (int i = 0; i < 3; i++)
                CHECK_OK(ran_dataset_add_words(&t.train, ids, 3, positions, tags, 2, 1, &err), err);
        CHECK_OK(ran_dataset_finish(&t.train, &err), err);
        t.train.positions[3] = 3;
        check_invalid(&t, "word 1 does not stand at a token");
        t.train.positions[3] = 2;
        t.train.labels[3] = 2;
        check_invalid(&t, "label 2 is none of 2 classes");
        t.train.labels[3] = 1;
        t.c.task = RAN_TASK_CLASSIFY;
        check_invalid(&t, "the documents are for another task");
        training_release(&t);
}

/* ---- reports --------------------------------------------------------------------------------- */

static void check_step_report(const struct training *t, const struct ran_train_report *r,
                              size_t step, size_t tokens)
{
        CHECK_SIZE(r->step, step);
        CHECK_SIZE(r->steps, 12);
        CHECK_SIZE(r->epoch, (step - 1) / 4 + 1);
        CHECK_SIZE(r->epochs, 3);
        CHECK(r->loss > 0 && r->loss < 3 && r->gradient_norm > 0 && isfinite(r->gradient_norm));
        CHECK_NEAR(r->learning_rate, ran_learning_rate(&t->s, step - 1, 12), 1e-15);
        CHECK(r->tokens > tokens && r->seconds >= 0 && r->tokens_per_second >= 0);
        CHECK(isfinite(r->eta_seconds) && r->eta_seconds >= 0);
}

static void check_dev_report(const struct ran_train_report *r, size_t epoch, double best)
{
        CHECK_SIZE(r->epoch, epoch);
        CHECK_SIZE(r->step, 4 * epoch);
        CHECK(r->loss > 0 && r->accuracy >= 0 && r->accuracy <= 1 && r->micro_f1 == r->accuracy);
        CHECK(r->macro_f1 >= 0 && r->macro_f1 <= 1 && r->metric == r->micro_f1);
        CHECK(r->improved == (r->metric > best) && r->best == fmax(r->metric, best));
        CHECK(r->improved ? r->best_epoch == epoch && r->stale == 0
                          : r->best_epoch < epoch && r->stale > 0);
}

TEST(train_reports_what_it_does)
{
        struct ran_error err = {0};
        size_t step = 0, epoch = 0, tokens = 0;
        double best = -INFINITY;
        struct training t;

        training_init(&t, "reports", 20, false);
        CHECK_OK(training_run(&t, 1, &err), err);
        for (size_t i = 0; i < t.reports; i++) {
                const struct ran_train_report *r = &t.report[i];

                if (r->event == RAN_REPORT_STEP) {
                        check_step_report(&t, r, ++step, tokens);
                        tokens = r->tokens;
                } else if (r->event == RAN_REPORT_DEV) {
                        check_dev_report(r, ++epoch, best);
                        best = r->best;
                }
        }
        CHECK(step == 12 && epoch == 3 && t.report[t.reports - 1].event == RAN_REPORT_END);
        CHECK_SIZE(training_count(&t, RAN_REPORT_END), 1);
        CHECK_SIZE(tokens, 3 * t.train.first[t.train.B]);
        CHECK_SIZE(t.report[t.reports - 1].best_epoch, t.report[t.reports - 2].best_epoch);
        training_release(&t);
}

/* ---- the best epoch -------------------------------------------------------------------------- */

TEST(train_stops_when_it_gets_no_better_and_keeps_the_best)
{
        struct ran_error err = {0};
        const struct ran_train_report *last;
        struct training t;

        training_init(&t, "best", 20, false);
        t.s.epochs = 50;
        t.s.patience = 2;
        t.s.learning_rate = 0.03;
        for (size_t b = 0; b < t.dev.B; b++) /* nothing to be learned about these */
                t.dev.labels[b] = (uint32_t)(b % CORPUS_C);
        CHECK_OK(training_run(&t, 1, &err), err);
        last = &t.report[t.reports - 1];
        CHECK(training_count(&t, RAN_REPORT_DEV) < 50 && last->stale == 2);
        CHECK_SIZE(last->best_epoch + 2, training_count(&t, RAN_REPORT_DEV));
        CHECK_NEAR(exact(t.output, &t.dev), last->best, 1e-12);
        training_release(&t);
}

/* 3 epochs of 4 steps; the time has room for `steps`, known after step 1. What ended the encoder?
 */
static size_t timed_out_after(size_t steps, size_t patience)
{
        struct ran_error err = {0};
        struct training t;

        training_init(&t, "timed", 20, false);
        t.s.patience = patience;
        t.s.learning_rate = 1e-12;
        t.job.limit = (struct ran_train_limit){.from = 1, .steps = steps};
        CHECK_OK(training_run(&t, 1, &err), err);
        const size_t limit = t.report[t.reports - 1].limit;
        training_release(&t);
        return limit;
}

TEST(train_says_that_time_ended_it_only_where_it_did)
{
        CHECK_SIZE(timed_out_after(6, 100), 6);
        CHECK_SIZE(timed_out_after(11, 1), 0); /* no better after epoch 2 */
        CHECK_SIZE(timed_out_after(1000, 100), 0);
}

/* The mean of -log p of the gold class. */
static double log_loss(const char *model, const struct ran_dataset *d)
{
        struct ran_error err = {0};
        struct ran_model *m = ran_model_open(model, true, &err);
        struct ran_state *s = m != NULL ? ran_state_new(m, NULL) : NULL;
        float x[CORPUS_C], p[CORPUS_C];
        double sum = 0;

        for (size_t b = 0; s != NULL && b < d->B; b++) {
                const struct ran_document one = ran_dataset_document(d, b);

                ran_classify(m, s, &one, x, NULL, &err);
                ran_probabilities(ran_model_config(m), x, CORPUS_C, p);
                sum -= log((double)p[d->labels[b]]) / (double)d->B;
        }
        ran_state_free(s);
        ran_model_free(m);
        return sum;
}

TEST(train_writes_the_weights_of_the_best_epoch)
{
        struct ran_error err = {0};
        const struct ran_train_report *last;
        struct training t;

        training_init(&t, "weights", 20, false);
        t.s.metric = RAN_METRIC_LOSS;
        t.s.epochs = 40;
        t.s.learning_rate = 0.05; /* soon it knows the training data by heart */
        CHECK_OK(training_run(&t, 1, &err), err);
        last = &t.report[t.reports - 1];
        CHECK(last->stale == t.s.patience);
        CHECK_NEAR(log_loss(t.output, &t.dev), -last->best, 1e-9);
        training_release(&t);
}

/* An id that never occurs: its row only decays, step by step, and the model has it as it should be.
 */
TEST(train_lets_rows_decay_that_never_occur)
{
        struct ran_tensor_spec spec = {.name = "embed.weight", .init = RAN_INIT_UNIFORM};
        struct ran_error err = {0};
        double decay = 1, off = 0;
        struct ran_model *m;
        struct training t;
        size_t last, D;
        float *start;

        training_init(&t, "decay", 20, false);
        t.s.weight_decay = 1;
        t.job.V = CORPUS_V + 1;
        t.job.dev = NULL;
        D = t.c.dim, last = CORPUS_V * D;
        CHECK_OK(training_run(&t, 1, &err), err);
        for (uint64_t step = 0; step < 12; step++)
                decay *= 1 - ran_learning_rate(&t.s, step, 12) * t.s.weight_decay;
        spec.rows = t.job.V, spec.cols = D;
        start = ran_alloc_floats(spec.rows * D, &err);
        ran_tensor_init(start, &spec, t.s.seed);
        m = ran_model_open(t.output, true, &err);
        REQUIRE(m != NULL);
        for (size_t i = 0; i < D; i++)
                off = fmax(off, fabs((double)m->params.embed[last + i] -
                                     (double)start[last + i] * decay));
        CHECK(decay < 0.97);
        CHECK_NEAR(off, 0, 1e-8);
        ran_model_free(m);
        free(start);
        training_release(&t);
}

/* No metric can be had of development data that name only labels nobody knows. */
TEST(train_resumes_where_no_epoch_has_a_loss)
{
        struct ran_error err = {0};
        struct training t;

        training_init(&t, "unknown", 20, false);
        t.s.metric = RAN_METRIC_LOSS;
        for (size_t b = 0; b < t.dev.B; b++)
                t.dev.labels[b] = RAN_LABEL_UNKNOWN;
        t.stop_at = 7; /* past the first evaluation */
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        t.stop_at = 0;
        t.job.resume = true;
        CHECK_OK(training_run(&t, 1, &err), err);
        training_release(&t);
}

/* ---- what it will cost ----------------------------------------------------------------------- */

TEST(train_estimates_parameters_and_arithmetic)
{
        struct ran_train_estimate e, longer, none;
        struct ran_error err = {0};
        struct training t;

        training_init(&t, "estimate", 20, false);
        CHECK_OK(ran_train_estimate(&t.job, &e, &err), err);
        CHECK_SIZE(e.embedding_parameters, CORPUS_V * t.c.dim);
        CHECK(e.parameters > 1000 && e.flops > 0);
        ran_dataset_release(&t.train);
        corpus_make(&t.train, 40, 1, 2000, false, 1);
        CHECK_OK(ran_train_estimate(&t.job, &longer, &err), err);
        CHECK(longer.flops > 10 * e.flops);
        CHECK_SIZE(longer.parameters, e.parameters);
        ran_dataset_release(&t.train);
        corpus_make(&t.train, 0, 1, 1, false, 1);
        CHECK_OK(ran_train_estimate(&t.job, &none, &err), err);
        CHECK(none.flops == 0);
        t.c.head_dim = 3;
        CHECK_SIZE((size_t)ran_train_estimate(&t.job, &none, &err), RAN_EINVAL);
        training_release(&t);
}
