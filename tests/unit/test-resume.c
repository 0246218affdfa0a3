/* Training that is interrupted or killed resumes to the same bytes, and with nothing else.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "train/trainer.h"
#include "training.h"

/* ---- interrupted and resumed ----------------------------------------------------------------- */

/* Stops at a report, at each in turn in make check-all; resumes with other threads, stops once
 * more. */
static void check_resume(struct training *t, const char *whole, size_t reports)
{
        struct ran_error err = {0};

        for (size_t at = 1; at < reports; at += test_all() ? 1 : 1 + reports / 3) {
                t->job.resume = false;
                t->stop_at = at;
                CHECK_SIZE((size_t)training_run(t, 1, &err), RAN_EINTR);
                CHECK(!t->touched && !exists(t->output) && exists(t->checkpoint));
                t->job.resume = true;
                t->stop_at = 1;
                if (training_run(t, 2, &err) == RAN_EINTR) {
                        t->stop_at = 0;
                        CHECK_OK(training_run(t, 2, &err), err);
                }
                if (!CHECK(same_file(t->output, whole)))
                        printf("  stopped at report %zu of %zu\n", at, reports);
                CHECK(!t->touched && !exists(t->checkpoint));
                unlink(t->output);
        }
}

TEST(resume_from_anywhere_gives_the_same_bytes)
{
        struct ran_error err = {0};
        char *whole = test_path("resume-whole.ran");
        struct training t;

        training_init(&t, "resume", 40, false);
        t.c.spelling = CORPUS_SPELLING;
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(rename(t.output, whole) == 0);
        CHECK_SIZE(training_count(&t, RAN_REPORT_STEP), 12);
        CHECK_SIZE(training_count(&t, RAN_REPORT_DEV), 3);
        check_resume(&t, whole, t.reports);
        training_release(&t);

        training_init(&t, "resume", 40, true); /* without development data */
        t.c.linear.wide = 100;
        t.job.dev = NULL;
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(rename(t.output, whole) == 0);
        CHECK_SIZE(training_count(&t, RAN_REPORT_STEP), 12);
        CHECK(training_count(&t, RAN_REPORT_LINEAR) > 1);
        check_resume(&t, whole, t.reports);
        training_release(&t);

        training_init(&t, "resume", 40, false);
        t.c.linear.wide = 50;
        t.c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        t.c.contextualizer.context = RAN_CONTEXT_RANDOM; /* other numbers in each epoch */
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(rename(t.output, whole) == 0);
        check_resume(&t, whole, t.reports);
        training_release(&t);
        free(whole);
}

/* In the search for the best epoch or while all documents are learned from: what the first found
 * goes with the checkpoint. */
TEST(resume_of_a_refit_gives_the_same_bytes)
{
        struct ran_error err = {0};
        char *whole = test_path("refit-whole.ran");
        bool held_out[40] = {false};

        for (size_t b = 0; b < 40; b += 4)
                held_out[b] = true;
        for (int several = 0; several < 2; several++) {
                struct training t;

                training_init(&t, "refit", 40, several);
                t.c.linear.wide = 60;
                t.s.refit = true;
                t.job.held_out = held_out;
                CHECK_OK(training_run(&t, 1, &err), err);
                CHECK(rename(t.output, whole) == 0);
                CHECK_SIZE(training_count(&t, RAN_REPORT_REFIT), 1);
                check_resume(&t, whole, t.reports);
                training_release(&t);
        }
        free(whole);
}

static void check_texts(const char *name, enum corpus_kind kind, size_t bptt, size_t steps,
                        int review)
{
        struct ran_error err = {0};
        char *whole = test_path("texts-whole.ran");
        struct training t;

        training_init_texts(&t, name, 60, kind, bptt);
        t.c.ran.review = review;
        t.c.ran.review_window = 4;
        t.s.epochs = 2;
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(rename(t.output, whole) == 0);
        CHECK(training_count(&t, RAN_REPORT_STEP) >= steps);
        check_resume(&t, whole, t.reports);
        training_release(&t);
        free(whole);
}

/* In the middle of documents: the checkpoint has what they go on from. */
TEST(resume_between_chunks_gives_the_same_bytes)
{
        for (int review = RAN_REVIEW_ALL; review <= RAN_REVIEW_DISPERSED; review++) {
                check_texts("chunks", CORPUS_TEXTS, 1, 2 * 5, review);
                check_texts("pairs", CORPUS_PAIRS, 1, 2 * 5, review);
        }
}

/* The same words are masked in the rest of an epoch. */
TEST(resume_of_a_masked_language_model_gives_the_same_bytes)
{
        check_texts("masked", CORPUS_MASKED, 0, 2 * 4, RAN_REVIEW_ALL);
}

/* Killed at a report, with checkpoints on the way: goes on from the last of them. */
TEST(resume_after_a_kill_gives_the_same_bytes)
{
        struct ran_error err = {0};
        char *whole = test_path("kill-whole.ran");
        struct training t;
        size_t reports;

        training_init(&t, "kill", 40, false);
        t.job.checkpoint_seconds = 0; /* after every step */
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(training_count(&t, RAN_REPORT_CHECKPOINT) >= 12);
        CHECK(rename(t.output, whole) == 0);
        reports = t.reports;
        for (size_t at = 1; at < reports; at += test_all() ? 4 : 12) {
                int status = 0;
                pid_t child = fork();

                if (child == 0) {
                        t.job.resume = false;
                        t.stop_at = at;
                        t.die = true;
                        training_run(&t, 1, &err);
                        _exit(0);
                }
                CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 77);
                CHECK(!exists(t.output));
                t.job.resume = exists(t.checkpoint);
                CHECK_OK(training_run(&t, 1, &err), err);
                CHECK(same_file(t.output, whole));
                unlink(t.output);
        }
        training_release(&t);
        free(whole);
}

/* ---- what does not fit a checkpoint ---------------------------------------------------------- */

static void check_refused(struct training *t, const char *what)
{
        struct ran_error err = {0};
        int code = training_run(t, 1, &err);

        if (!CHECK(code == RAN_EINVAL && strstr(err.text, "the checkpoint belongs to") != NULL))
                printf("  with another %s: %d, %s\n", what, code, err.text);
        CHECK(exists(t->checkpoint) && !exists(t->output));
}

TEST(resume_refuses_other_settings)
{
        struct ran_error err = {0};
        struct ran_train_settings s;
        struct ran_config c;
        struct training t;
        char *whole = test_path("other-whole.ran");

        training_init(&t, "other", 20, false);
        s = t.s, c = t.c;
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(rename(t.output, whole) == 0);
        t.stop_at = 6;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        t.stop_at = 0;
        t.job.resume = true;

        t.s.learning_rate *= 2;
        check_refused(&t, "learning rate");
        t.s = s, t.s.seed++;
        check_refused(&t, "seed");
        t.s = s, t.s.batch++;
        check_refused(&t, "batch");
        t.s = s, t.c.ran.residual = false;
        check_refused(&t, "cell");
        t.c = c, t.c.dim = 6;
        check_refused(&t, "width");
        t.c = c, t.job.V++;
        check_refused(&t, "vocabulary");
        t.job.V--, t.train.digest[0] ^= 1;
        check_refused(&t, "digest of the data");
        t.train.digest[0] ^= 1, t.job.dev = NULL;
        check_refused(&t, "kind of run: without development data");
        t.job.dev = &t.dev, t.job.training = "\"more\":1";
        check_refused(&t, "description by the caller");

        t.job.training = NULL;
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(same_file(t.output, whole));
        training_release(&t);
        free(whole);
}

static struct ran_tokenizer *words(const char *last)
{
        struct ran_error err = {0};
        struct ran_tokenizer *t;
        char *text = NULL;

        if (asprintf(&text, "[UNK]\n[MASK]\n[SEP]\n[START]\n[END]\na\nb\nc\nd\ne\nf\n%s\n", last) <
            0)
                abort();
        t = ran_tokenizer_load(text, strlen(text), &err);
        test_check(t != NULL, err.text, __FILE__, __LINE__);
        free(text);
        return t;
}

/* The same ids may stand for other words. */
TEST(resume_refuses_another_vocabulary)
{
        struct ran_tokenizer *one = words("g"), *other = words("h");
        struct ran_error err = {0};
        struct training t;

        REQUIRE(one != NULL && other != NULL && ran_tokenizer_size(one) == CORPUS_V);
        training_init(&t, "words", 20, false);
        t.job.tokenizer = one;
        t.stop_at = 5;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        t.stop_at = 0;
        t.job.resume = true;
        t.job.tokenizer = other;
        check_refused(&t, "vocabulary of the same size");
        t.job.tokenizer = NULL;
        check_refused(&t, "vocabulary: none");
        t.job.tokenizer = one;
        CHECK_OK(training_run(&t, 1, &err), err);
        training_release(&t);
        ran_tokenizer_free(one);
        ran_tokenizer_free(other);
}

/* The other way round: a checkpoint without what this run has. */
TEST(resume_refuses_a_run_with_less_to_it)
{
        struct ran_error err = {0};
        struct training t;

        training_init(&t, "less", 20, false);
        t.job.dev = NULL;
        t.stop_at = 5;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        t.stop_at = 0;
        t.job.resume = true;
        t.job.dev = &t.dev;
        check_refused(&t, "kind of run: with development data");
        t.job.dev = NULL, t.job.training = "\"more\":1";
        check_refused(&t, "description by the caller");
        training_release(&t);
}

TEST(resume_refuses_a_damaged_checkpoint)
{
        struct ran_error err = {0};
        struct training t;
        struct stat st;
        FILE *f;

        training_init(&t, "damaged", 20, false);
        t.stop_at = 6;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        t.stop_at = 0;
        t.job.resume = true;
        REQUIRE(stat(t.checkpoint, &st) == 0);
        f = fopen(t.checkpoint, "r+b");
        REQUIRE(f != NULL);
        CHECK(fseek(f, (long)st.st_size - 1, SEEK_SET) == 0);
        int last = fgetc(f);
        CHECK(fseek(f, (long)st.st_size - 1, SEEK_SET) == 0);
        fputc(last ^ 1, f);
        fclose(f);
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EFORMAT);
        CHECK(strstr(err.text, "digest") != NULL);
        CHECK(truncate(t.checkpoint, st.st_size / 2) == 0);
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EFORMAT);
        unlink(t.checkpoint);
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EIO);
        CHECK(!exists(t.output));
        training_release(&t);
}

/* ---- checkpoints of a stranger --------------------------------------------------------------- */

/* Where a text begins in a file that is no text. */
static char *find(char *file, size_t n, const char *text)
{
        char *at = memmem(file, n, text, strlen(text));

        if (at == NULL)
                abort();
        return at + strlen(text);
}

/* Sets a number, at `field` of struct ran_states, in a checkpoint of n bytes, and makes its digest
 * right again. */
static void set_progress(char *file, size_t n, size_t field, double x)
{
        static const struct {
                const char *name;
                size_t begin, size;
        } state[] = {
#define STATE(member, name, kinds) \
        {"\"" name "\":", offsetof(struct ran_states, member), sizeof(struct ran_state_##member)},
                RAN_STATES(STATE)
#undef STATE
        };
        size_t of = 0;
        struct ran_sha256 sha;
        uint64_t header;
        char hex[65];

        memcpy(&header, file, sizeof header);
        char *data = file + sizeof header + header, *end = file + n;
        while (field >= state[of].begin + state[of].size)
                of++;
        field -= state[of].begin;
        char *entry = find(file, n, state[of].name);
        char *offset = find(entry, (size_t)(data - entry), "\"data_offsets\":[");
        memcpy(data + strtoul(offset, NULL, 10) + field, &x, sizeof x);
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, data, (size_t)(end - data));
        ran_sha256_hex(&sha, hex);
        memcpy(find(file, n, "\"digest\":\""), hex, 64);
}

/* Goes on from a checkpoint in which a number was set. */
static int go_on_with(struct training *t, const struct ran_bytes *checkpoint, size_t field,
                      double x, struct ran_error *err)
{
        char *copy = malloc(checkpoint->size);
        FILE *f = fopen(t->checkpoint, "wb");

        if (copy == NULL || f == NULL)
                abort();
        memcpy(copy, checkpoint->data, checkpoint->size);
        set_progress(copy, checkpoint->size, field, x);
        CHECK(fwrite(copy, 1, checkpoint->size, f) == checkpoint->size && fclose(f) == 0);
        free(copy);
        return training_run(t, 1, err);
}

/* Found by a fuzzer: as many epochs without anything better as no whole number can tell. */
TEST(resume_refuses_progress_that_makes_no_sense)
{
#define AT(field) offsetof(struct ran_states, field)
        static const struct {
                size_t field;
                double x;
        } bad[] = {{AT(best.stale), 6e301},     {AT(best.stale), -1},
                   {AT(epochs.epoch), -1},      {AT(epochs.epoch), 1e9},
                   {AT(best.epoch), 1e9},       {AT(epochs.batch), 1e9},
                   {AT(epochs.updates), 1e300}, {AT(best.calibrated), 1e300},
                   {AT(linear.chosen.cost), -1},       {AT(best.metric), NAN},
                   {AT(epochs.refit), 1},       {AT(best.ensemble.encoder), INFINITY},
                   {AT(best.ensemble.linear), -1},       {AT(best.threshold), 2},
                   {AT(epochs.epoch), 0.5},     {AT(best.epoch), 0.5},
                   {AT(best.epoch), 0},         {AT(epochs.batch), 0.5},
                   {AT(linear.fitted), 2},      {AT(decision.why), 9},
                   {AT(decision.errors), 1},    {AT(decision.gain), INFINITY}};
        struct ran_error err = {0};
        struct ran_bytes checkpoint;
        struct training t;

        training_init(&t, "stranger", 20, false);
        t.stop_at = 6;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        REQUIRE(ran_bytes_open(&checkpoint, t.checkpoint, &err) == RAN_OK);
        unlink(t.checkpoint); /* what is mapped stays as it is */
        t.stop_at = 0;
        t.job.resume = true;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                CHECK_SIZE((size_t)go_on_with(&t, &checkpoint, bad[i].field, bad[i].x, &err),
                           RAN_EFORMAT);
                CHECK_STR(err.text, "the checkpoint's progress is impossible: the file is damaged");
        }
        CHECK_OK(go_on_with(&t, &checkpoint, AT(best.stale), 0, &err), err);
        /* Known before its time, and lost when it was known: memory leaked. */
        CHECK_OK(go_on_with(&t, &checkpoint, AT(best.calibrated), 3, &err), err);
#undef AT
        ran_bytes_release(&checkpoint);
        training_release(&t);
}

/* All documents are learned from again where some were held out: without any, what they lose was
 * asked of development data that there were not. */
TEST(resume_does_not_learn_again_from_what_was_not_held_out)
{
        struct ran_error err = {0};
        struct ran_bytes checkpoint;
        struct training t;

        training_init(&t, "stranger-refit", 20, false);
        t.job.dev = NULL;
        t.stop_at = 6;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        REQUIRE(ran_bytes_open(&checkpoint, t.checkpoint, &err) == RAN_OK);
        unlink(t.checkpoint);
        t.stop_at = 0;
        t.job.resume = true;
        CHECK_SIZE((size_t)go_on_with(&t, &checkpoint, offsetof(struct ran_states, epochs.refit), 1,
                                      &err),
                   RAN_EFORMAT);
        CHECK_OK(go_on_with(&t, &checkpoint, offsetof(struct ran_states, epochs.refit), 0, &err),
                 err);
        ran_bytes_release(&checkpoint);
        training_release(&t);
}

/* Found by a fuzzer: learning again, beyond the best epoch, where that ends; steps were fewer than
 * none. */
TEST(resume_of_a_refit_stands_no_further_than_it_goes)
{
        struct ran_error err = {0};
        struct ran_bytes checkpoint;
        bool held_out[40] = {true};
        struct training t;
        size_t at = 0;

        training_init(&t, "beyond", 20, false);
        t.s.refit = true;
        t.s.learning_rate = 0.3; /* so that the last epoch is not the best */
        t.job.held_out = held_out;
        CHECK_OK(training_run(&t, 1, &err), err);
        while (t.report[at].event != RAN_REPORT_REFIT)
                REQUIRE(++at < t.reports);
        const double best = (double)t.report[at].best_epoch;
        REQUIRE(best >= 1 && best < 3);
        t.stop_at = at + 3;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        REQUIRE(ran_bytes_open(&checkpoint, t.checkpoint, &err) == RAN_OK);
        unlink(t.checkpoint);
        t.stop_at = 0;
        t.job.resume = true;
        CHECK_SIZE((size_t)go_on_with(&t, &checkpoint, offsetof(struct ran_states, epochs.epoch),
                                      best + 1, &err),
                   RAN_EFORMAT);
        CHECK_OK(go_on_with(&t, &checkpoint, offsetof(struct ran_states, epochs.epoch), 0, &err),
                 err);
        ran_bytes_release(&checkpoint);
        training_release(&t);
}

/* The digest of the documents does not know what --label-names calls their labels. */
TEST(resume_refuses_labels_of_other_names)
{
        struct ran_error err = {0};
        struct training t;

        training_init(&t, "labels", 20, false);
        t.stop_at = 6;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINTR);
        t.stop_at = 0;
        t.job.resume = true;
        char was = t.train.names[1][0];
        t.train.names[1][0] = '!';
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINVAL);
        CHECK(strstr(err.text, "the checkpoint belongs to a run with other settings") != NULL);
        t.train.names[1][0] = was;
        CHECK_OK(training_run(&t, 1, &err), err);
        training_release(&t);
}
