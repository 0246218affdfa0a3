/* Ranks, here processes that talk through sockets: any number of them trains the model that one
 * does, and what one of them cannot do is known to the others, or ends them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "ranks/ranks.h"
#include "training.h"

/* ---- ranks ----------------------------------------------------------------------------------- */

enum { MOST = 7 };

struct sockets {
        int end[MOST][MOST]; /* end[a][b]: where a reaches b */
        pid_t child[MOST];
        size_t messages, die_at; /* this rank dies at that message it receives; 0: never */
        size_t flip_at;          /* or reads the next long one from there wrongly */
};

static int say(struct ran_ranks *r, size_t to, const void *bytes, size_t n, struct ran_error *err)
{
        struct sockets *k = r->link;
        const char *p = bytes;

        while (n > 0) {
                ssize_t sent = send(k->end[r->rank][to], p, n, MSG_NOSIGNAL);

                if (sent <= 0)
                        return ran_fail(err, RAN_EIO, "rank %zu is gone", to);
                p += sent;
                n -= (size_t)sent;
        }
        return RAN_OK;
}

static int hear(struct ran_ranks *r, size_t from, void *bytes, size_t n, struct ran_error *err)
{
        struct sockets *k = r->link;
        char *p = bytes;

        k->messages++;
        if (k->die_at > 0 && k->messages == k->die_at)
                _exit(9);
        for (size_t left = n; left > 0;) {
                ssize_t got = read(k->end[r->rank][from], p, left);

                if (got <= 0)
                        return ran_fail(err, RAN_EIO, "rank %zu is gone", from);
                p += got;
                left -= (size_t)got;
        }
        if (k->flip_at > 0 && k->messages >= k->flip_at && n > 500) {
                for (size_t i = 3; i < n; i += sizeof(float))
                        ((char *)bytes)[i] ^= 1;
                k->flip_at = 0;
        }
        return RAN_OK;
}

static void leave(struct ran_ranks *r, int status)
{
        (void)status;
        free(r->link);
        free(r);
}

static const struct ran_links links = {say, hear, NULL, leave};

static void close_ends(struct sockets *k, size_t n, size_t but)
{
        for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n && a != but; b++)
                        if (a != b)
                                close(k->end[a][b]);
}

static struct ran_ranks *rank_of(struct sockets *k, size_t rank, size_t n)
{
        struct ran_error err;
        struct ran_ranks *r = ran_alloc(1, sizeof *r, &err);

        if (r == NULL)
                abort();
        *r = (struct ran_ranks){.links = &links, .rank = rank, .n = n, .link = k};
        return r;
}

/* This process becomes rank 0 of n; `last` is how the last one fares. */
static struct ran_ranks *begin(size_t n, struct sockets last)
{
        struct ran_error err;
        struct sockets *k = ran_alloc(1, sizeof *k, &err);

        if (k == NULL)
                abort();
        for (size_t a = 0; a < n; a++)
                for (size_t b = a + 1; b < n; b++) {
                        int ends[2];

                        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
                                abort();
                        k->end[a][b] = ends[0];
                        k->end[b][a] = ends[1];
                }
        fflush(stdout);
        for (size_t rank = 1; rank < n; rank++) {
                k->child[rank] = fork();
                if (k->child[rank] != 0)
                        continue;
                close_ends(k, n, rank);
                if (rank == n - 1) {
                        k->die_at = last.die_at;
                        k->flip_at = last.flip_at;
                }
                test_leave(ran_train_follow(rank_of(k, rank, n), &err) == RAN_OK ? 0 : 3);
        }
        close_ends(k, n, 0);
        return rank_of(k, 0, n);
}

/* Returns how many of the others did not end well. */
static size_t end(struct ran_ranks *r)
{
        struct sockets k = *(struct sockets *)r->link;
        size_t n = r->n, bad = 0;

        ran_ranks_close(r, 0);
        for (size_t b = 1; b < n; b++)
                close(k.end[0][b]);
        for (size_t i = 1; i < n; i++) {
                int status;

                if (waitpid(k.child[i], &status, 0) != k.child[i])
                        abort();
                bad += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        }
        return bad;
}

static int run_with(struct training *t, size_t ranks, struct ran_error *err)
{
        t->job.ranks = begin(ranks, (struct sockets){0});
        int code = training_run(t, 1, err);
        CHECK_SIZE(end(t->job.ranks), 0);
        t->job.ranks = NULL;
        return code;
}

static void check_resume(struct training *t);

/* ---- the same bytes -------------------------------------------------------------------------- */

static void check_ranks(struct training *t, const char *what)
{
        static const size_t counts[] = {3, 2, 1, 4, 7};
        struct ran_error err = {0};
        char *whole = test_path("ranks-whole.ran");

        CHECK_OK(training_run(t, 1, &err), err);
        CHECK(rename(t->output, whole) == 0);
        for (size_t i = 0; i < (test_all() ? sizeof counts / sizeof *counts : 1); i++) {
                CHECK_OK(run_with(t, counts[i], &err), err);
                if (!CHECK(same_file(t->output, whole)))
                        printf("  %s, %zu ranks\n", what, counts[i]);
                CHECK(!t->touched);
                unlink(t->output);
        }
        unlink(whole);
        free(whole);
        training_release(t);
}

TEST(any_number_of_ranks_trains_the_same_classifier)
{
        struct training t;

        training_init(&t, "ranks", 400, false);
        t.c.spelling = CORPUS_SPELLING;
        check_ranks(&t, "one label");

        training_init(&t, "ranks", 400, true);
        t.c.linear.wide = 100;
        t.job.dev = NULL;
        check_ranks(&t, "several labels, a linear model");

        training_init(&t, "ranks", 30, false); /* fewer shards than ranks */
        t.s.class_weights = RAN_WEIGHTS_BALANCED;
        check_ranks(&t, "short documents");

        training_init(&t, "ranks", 300, false);
        t.c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        t.c.contextualizer.rank = 4;
        t.s.batch = 7; /* the last one has fewer */
        check_ranks(&t, "contextualizer");
}

/* An encoder that helps, one that cannot and is dropped, and none. */
TEST(ranks_learn_from_documents_that_were_held_out)
{
        static const char *const kinds[] = {"refit", "refit, dropped", "refit, no encoder"};

        for (size_t i = 0; i < 3; i++) {
                struct ran_error err = {0};
                struct ran_dataset dev = {0};
                struct training t;
                bool held_out[40];

                training_init(&t, "ranks-refit", 300, false);
                t.c.linear.wide = 64;
                t.s.refit = true;
                if (i == 1)
                        t.s.learning_rate = t.s.min_learning_rate = 1e-9;
                if (i == 2)
                        t.c.encoder = RAN_ENCODER_NONE;
                CHECK_OK(ran_dataset_split(&t.train, 0.3, 1, NULL, held_out, &dev, &err), err);
                t.job.dev = &dev;
                t.job.held_out = held_out;
                check_ranks(&t, kinds[i]);
                ran_dataset_release(&dev);
        }
}

TEST(any_number_of_ranks_trains_the_same_language_model)
{
        static const enum corpus_kind kinds[] = {CORPUS_TEXTS, CORPUS_PAIRS, CORPUS_MASKED};
        struct training t;

        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
                training_init_texts(&t, "ranks-lm", 300, kinds[i], 0);
                t.s.epochs = 2;
                check_ranks(&t, "texts");
        }
        for (size_t bptt = 1; bptt <= 8; bptt += 7) {
                training_init_texts(&t, "ranks-lm", 500, CORPUS_TEXTS, bptt);
                t.s.epochs = 2;
                t.s.batch = 9;
                check_ranks(&t, "chunks of texts");
        }
        training_init_texts(&t, "ranks-lm", 200, CORPUS_TEXTS, 0);
        t.c.lm.shortlist = 4;
        t.s.epochs = 2;
        check_ranks(&t, "a shortlist");
}

/* ---- stopped, and gone on with --------------------------------------------------------------- */

static void check_resume(struct training *t)
{
        struct ran_error err = {0};
        char *whole = test_path("ranks-resume-whole.ran");

        CHECK_OK(training_run(t, 1, &err), err);
        CHECK(rename(t->output, whole) == 0);
        size_t reports = t->reports;
        for (size_t at = 1; at < reports; at += 1 + reports / (test_all() ? 8 : 2)) {
                t->job.resume = false;
                t->stop_at = at;
                CHECK_SIZE((size_t)run_with(t, 3, &err), RAN_EINTR);
                CHECK(!t->touched && !exists(t->output) && exists(t->checkpoint));
                t->job.resume = true;
                t->stop_at = 2;
                if (run_with(t, 2, &err) == RAN_EINTR) {
                        t->stop_at = 0;
                        CHECK_OK(training_run(t, 1, &err), err);
                }
                if (!CHECK(same_file(t->output, whole)))
                        printf("  stopped at report %zu of %zu\n", at, reports);
                CHECK(!exists(t->checkpoint));
                unlink(t->output);
        }
        unlink(whole);
        free(whole);
        training_release(t);
}

TEST(another_number_of_ranks_resumes_to_the_same_bytes)
{
        struct training t;

        training_init(&t, "ranks-resume", 300, false);
        t.c.linear.wide = 50;
        t.s.wide_cost = 1;
        check_resume(&t);
        training_init_texts(&t, "ranks-resume", 400, CORPUS_TEXTS, 2);
        t.c.ran.review = RAN_REVIEW_WINDOW; /* a state of a fixed size moves, too */
        t.c.ran.review_window = 4;
        t.s.epochs = 2;
        t.s.batch = 5;
        check_resume(&t);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

TEST(a_rank_that_dies_ends_the_training_and_leaves_a_checkpoint)
{
        struct ran_error err = {0};
        char *whole = test_path("ranks-dies-whole.ran");
        struct training t;
        size_t kept = 0;

        training_init(&t, "ranks-dies", 300, false);
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK(rename(t.output, whole) == 0);
        for (size_t at = 40; at < 300; at += 20) {
                t.job.ranks = begin(3, (struct sockets){.die_at = at});
                t.job.resume = false;
                if (training_run(&t, 1, &err) == RAN_OK) { /* it was to die later */
                        end(t.job.ranks);
                        break;
                }
                CHECK_SIZE(err.code, RAN_EIO);
                CHECK_STR(err.text, "rank 2 is gone");
                CHECK(end(t.job.ranks) > 0);
                CHECK(!exists(t.output));
                t.job.ranks = NULL;
                if (!exists(t.checkpoint))
                        continue;
                kept++;
                t.job.resume = true;
                CHECK_OK(run_with(&t, 2, &err), err);
                if (!CHECK(same_file(t.output, whole)))
                        printf("  died at message %zu\n", at);
                unlink(t.output);
        }
        CHECK(kept > 0); /* how many depends on when messages arrive */
        unlink(whole);
        free(whole);
        training_release(&t);
}

TEST(ranks_with_other_weights_are_found_out)
{
        struct ran_error err = {0};
        struct training t;

        training_init(&t, "ranks-differ", 300, false);
        t.job.ranks = begin(2, (struct sockets){.flip_at = 100});
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINVAL);
        CHECK(strstr(err.text, "rank 1 has other weights than rank 0") != NULL);
        CHECK_SIZE(end(t.job.ranks), 0);
        CHECK(!exists(t.output));
        training_release(&t);
}

/* Rank 0 finds that it cannot be done; the others then wait for the next job. */
TEST(ranks_outlive_a_job_that_cannot_be_done)
{
        struct ran_error err = {0};
        char *output;
        struct training t;

        training_init(&t, "ranks-refused", 100, false);
        t.job.ranks = begin(3, (struct sockets){0});
        t.job.resume = true;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EIO); /* there is no checkpoint */
        t.job.resume = false;
        t.s.freeze = true;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EINVAL);
        t.s.freeze = false;
        output = t.output;
        t.job.output = "/nowhere/model.ran";
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EIO);
        t.train.weight[7] = INFINITY;
        CHECK_SIZE((size_t)training_run(&t, 1, &err), RAN_EDIVERGED);
        t.train.weight[7] = 1;
        t.job.output = output;
        CHECK_OK(training_run(&t, 1, &err), err);
        CHECK_SIZE(end(t.job.ranks), 0);
        CHECK(exists(t.output));
        unlink(t.output);
        training_release(&t);
}

/* ---- shares ---------------------------------------------------------------------------------- */

TEST(work_is_dealt_out_in_order_and_evenly)
{
        const size_t even[] = {5, 6, 7, 8, 9, 10}, lopsided[] = {0, 1000, 1001, 1002};
        struct ran_ranks r = {.n = 4};
        size_t bound[5];

        ran_ranks_partition(&r, even, 5, bound);
        for (size_t i = 0; i < 4; i++)
                CHECK(bound[i] <= bound[i + 1] && bound[i + 1] - bound[i] <= 2);
        CHECK_SIZE(bound[0], 0);
        CHECK_SIZE(bound[4], 5);
        ran_ranks_partition(&r, lopsided, 3, bound);
        CHECK_SIZE(bound[4], 3);
        CHECK_SIZE(bound[3], 1); /* all others go to the last, as the first document is so long */
        ran_ranks_partition(NULL, even, 5, bound);
        CHECK_SIZE(bound[0], 0);
        CHECK_SIZE(bound[1], 5);
        ran_ranks_partition(&r, even, 0, bound);
        for (size_t i = 0; i <= 4; i++)
                CHECK_SIZE(bound[i], 0);
}
