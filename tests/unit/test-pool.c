/* The thread pool, also from inside its own tasks. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/portable.h"
#include "ran.h"
#include "test.h"

struct counts {
        struct ran_pool *pool;
        atomic_uint *done;
        size_t inner;
};

static void count(void *arg, size_t i)
{
        struct counts *c = arg;

        atomic_fetch_add(&c->done[i], 1);
}

static void check_all_once(size_t threads, size_t n)
{
        struct ran_error err = {0};
        struct ran_pool *pool = ran_pool_new(threads, &err);
        atomic_uint *done = ran_alloc(n, sizeof(*done), &err);
        struct counts c = {pool, done, 0};

        REQUIRE(pool != NULL && done != NULL);
        CHECK_SIZE(ran_pool_threads(pool), threads > 0 ? threads : 1);
        for (unsigned round = 1; round <= 20; round++) {
                size_t wrong = 0;

                ran_parallel(pool, n, count, &c);
                for (size_t i = 0; i < n; i++)
                        wrong += done[i] != round;
                CHECK_SIZE(wrong, 0);
        }
        ran_pool_free(pool);
        free(done);
}

TEST(pool_runs_every_task_once)
{
        for (size_t threads = 0; threads <= 5; threads++) {
                check_all_once(threads, 0);
                check_all_once(threads, 1);
                check_all_once(threads, 2);
                check_all_once(threads, 1000);
        }
}

TEST(pool_of_none_works_in_the_caller)
{
        atomic_uint done[3] = {0};
        struct counts c = {NULL, done, 0};

        ran_parallel(NULL, 3, count, &c);
        CHECK(done[0] == 1 && done[1] == 1 && done[2] == 1);
        CHECK_SIZE(ran_pool_threads(NULL), 1);
        ran_pool_free(NULL);
}

static void count_inside(void *arg, size_t i)
{
        struct counts *c = arg;
        struct counts inner = {c->pool, c->done + i * c->inner, 0};

        ran_parallel(c->pool, c->inner, count, &inner);
        /* ran_parallel has returned, so all of them are done, whoever ran them. */
        for (size_t k = 0; k < c->inner; k++)
                atomic_fetch_add(&inner.done[k], inner.done[k] == 1 ? 0 : 1000);
}

static void count_twice_inside(void *arg, size_t i)
{
        struct counts *c = arg;
        struct counts inner = {c->pool, c->done + i * c->inner * c->inner, c->inner};

        ran_parallel(c->pool, c->inner, count_inside, &inner);
}

TEST(pool_nests)
{
        enum { INNER = 9 };
        struct ran_pool *pool = ran_pool_new(4, NULL);
        atomic_uint done[INNER * INNER * INNER];
        struct counts c = {pool, done, INNER};

        REQUIRE(pool != NULL);
        for (int round = 0; round < 50; round++) {
                size_t wrong = 0;

                for (size_t i = 0; i < INNER * INNER * INNER; i++)
                        done[i] = 0;
                ran_parallel(pool, INNER, count_twice_inside, &c);
                for (size_t i = 0; i < INNER * INNER * INNER; i++)
                        wrong += done[i] != 1;
                CHECK_SIZE(wrong, 0);
        }
        ran_pool_free(pool);
}

/* Each task waits until all have begun: it ends only if every thread takes one. */
static void meet(void *arg, size_t i)
{
        pthread_barrier_t *barrier = arg;

        (void)i;
        pthread_barrier_wait(barrier);
}

TEST(pool_uses_all_threads)
{
        struct ran_pool *pool = ran_pool_new(4, NULL);
        pthread_barrier_t barrier;

        REQUIRE(pool != NULL);
        pthread_barrier_init(&barrier, NULL, 4);
        for (int round = 0; round < 100; round++)
                ran_parallel(pool, 4, meet, &barrier);
        pthread_barrier_destroy(&barrier);
        ran_pool_free(pool);
}

static void meet_inside(void *arg, size_t i)
{
        struct counts *c = arg;
        pthread_barrier_t barrier;

        /* The other task ends at once: the thread that ran it is free to help here, be it a worker
         * or the caller of the outer job. */
        if (i == 0)
                return;
        pthread_barrier_init(&barrier, NULL, 3);
        ran_parallel(c->pool, 3, meet, &barrier);
        ran_parallel(c->pool, 3, meet, &barrier); /* a second one is inside the outer job, too */
        pthread_barrier_destroy(&barrier);
}

TEST(pool_idle_threads_help_inside)
{
        struct ran_pool *pool = ran_pool_new(3, NULL);
        struct counts c = {pool, NULL, 0};

        REQUIRE(pool != NULL);
        for (int round = 0; round < 100; round++)
                ran_parallel(pool, 2, meet_inside, &c);
        ran_pool_free(pool);
}

static void *call_from_outside(void *arg)
{
        enum { N = 100 };
        atomic_uint done[N] = {0};
        struct counts c = {arg, done, 0};

        for (int round = 0; round < 100; round++)
                ran_parallel(arg, N, count, &c);
        for (size_t i = 0; i < N; i++) {
                if (done[i] != 100)
                        return arg;
        }
        return NULL;
}

TEST(pool_serves_several_callers)
{
        struct ran_pool *pool = ran_pool_new(3, NULL);
        pthread_t caller[4];
        void *failed;

        REQUIRE(pool != NULL);
        for (size_t i = 0; i < 4; i++)
                REQUIRE(pthread_create(&caller[i], NULL, call_from_outside, pool) == 0);
        for (size_t i = 0; i < 4; i++) {
                pthread_join(caller[i], &failed);
                CHECK(failed == NULL);
        }
        ran_pool_free(pool);
}

struct portable {
        struct ran_pool *pool;
        atomic_uint wrong;
};

static void count_other(void *arg, size_t i)
{
        struct portable *p = arg;

        (void)i;
        atomic_fetch_add(&p->wrong, !ran_portable);
}

static void count_portable(void *arg, size_t i)
{
        struct portable *p = arg;

        (void)i;
        atomic_fetch_add(&p->wrong, ran_portable);
}

static void keep_portable(void *arg, size_t i)
{
        struct portable *p = arg;
        const bool before = ran_portable;

        ran_portable = i % 2 == 0;
        ran_parallel(p->pool, i, ran_portable ? count_other : count_portable, p);
        if (ran_portable != (i % 2 == 0))
                atomic_fetch_add(&p->wrong, 1);
        ran_portable = before;
}

TEST(pool_hands_on_whether_a_thread_is_portable)
{
        struct portable p = {.pool = ran_pool_new(3, NULL)};

        REQUIRE(p.pool != NULL);
        for (int round = 0; round < 50; round++)
                ran_parallel(p.pool, 5, keep_portable, &p);
        CHECK_SIZE(p.wrong, 0);
        CHECK(!ran_portable);
        ran_pool_free(p.pool);
}

TEST(pool_sleeps_when_idle)
{
        struct ran_pool *pool = ran_pool_new(3, NULL);
        struct timespec rest = {0, 200000000};
        atomic_uint done[2] = {0};
        struct counts c = {pool, done, 0};

        REQUIRE(pool != NULL);
        ran_parallel(pool, 2, count, &c);
        clock_t before = clock();
        nanosleep(&rest, NULL);
        CHECK((double)(clock() - before) / CLOCKS_PER_SEC < 0.1);
        ran_pool_free(pool);
}

TEST(threads_default)
{
        size_t n;

        unsetenv("RAN_THREADS");
        n = ran_threads_default();
        CHECK(n >= 1);
        setenv("RAN_THREADS", "3", 1);
        CHECK_SIZE(ran_threads_default(), 3);
        setenv("RAN_THREADS", "0", 1);
        CHECK_SIZE(ran_threads_default(), n);
        setenv("RAN_THREADS", "100000", 1); /* --jobs does not take it either */
        CHECK_SIZE(ran_threads_default(), n);
        setenv("RAN_THREADS", "many", 1);
        CHECK_SIZE(ran_threads_default(), n);
        unsetenv("RAN_THREADS");
}
