/* pool.c - a thread pool whose tasks may start tasks.
 *
 * Each call of ran_parallel is a job on the caller's stack. Jobs are in a list, newest first; a
 * worker takes the next index of a job with one atomic addition. Idle threads take the newest job
 * with work left, so an inner job, which an outer task waits for, ends first. A caller works on its
 * own job and, while it waits for helpers, on the jobs started inside it, but on no other: work it
 * does not need never delays it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable.h"
#include "ran/base.h"

struct job {
        void (*fn)(void *arg, size_t i);
        void *arg;
        size_t n;
        atomic_size_t next; /* the first index that nobody has taken */
        atomic_size_t
                helpers; /* threads other than the caller inside run(); raised under the lock */
        struct job *older;
        const struct job *parent; /* the job of the task that started this one */
        bool portable;            /* of the caller */
};

static _Thread_local const struct job *current; /* the job whose task this thread is in */
_Thread_local bool ran_portable;

struct ran_pool {
        size_t threads, started; /* started: how many of the threads - 1 workers exist */
        pthread_t *worker;
        pthread_mutex_t lock;
        pthread_cond_t work, done;
        struct job *newest;   /* under the lock, as is `stop` */
        atomic_size_t posted; /* jobs so far: an idle thread checks it before it sleeps */
        bool stop;
};

/* Checks before sleeping, some 10 microseconds: kernels follow each other closely, and
 * waking a thread costs more than that. */
enum { SPINS = 200 };

static void breathe(void)
{
#if defined(__x86_64__)
        __builtin_ia32_pause();
#else
        atomic_signal_fence(memory_order_seq_cst);
#endif
}

static void run(struct job *job)
{
        const struct job *outer = current;
        const bool portable = ran_portable;
        size_t i;

        current = job;
        ran_portable = job->portable;
        while ((i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->n)
                job->fn(job->arg, i);
        current = outer;
        ran_portable = portable;
}

/* The newest job with work left; with `outer`, among those inside it. A job outlives those inside
 * it, so the chain of parents is whole. */
static struct job *find_job(struct ran_pool *pool, const struct job *outer)
{
        for (struct job *job = pool->newest; job != NULL; job = job->older) {
                const struct job *around = outer != NULL ? job : NULL;

                while (around != NULL && around != outer)
                        around = around->parent;
                if (around == outer &&
                    atomic_load_explicit(&job->next, memory_order_relaxed) < job->n)
                        return job;
        }
        return NULL;
}

/* Called with the lock held, which is dropped while there is work. */
static void help(struct ran_pool *pool, struct job *job)
{
        atomic_fetch_add(&job->helpers, 1);
        pthread_mutex_unlock(&pool->lock);
        run(job);
        pthread_mutex_lock(&pool->lock);
        /* Under the lock, because the caller may return, and its job be gone, once this is 0. */
        if (atomic_fetch_sub(&job->helpers, 1) == 1)
                pthread_cond_broadcast(&pool->done);
}

static void wait_for_work(struct ran_pool *pool)
{
        size_t posted = atomic_load(&pool->posted);

        pthread_mutex_unlock(&pool->lock);
        for (int spin = 0; spin < SPINS && atomic_load(&pool->posted) == posted; spin++)
                breathe();
        pthread_mutex_lock(&pool->lock);
        if (atomic_load(&pool->posted) == posted && !pool->stop)
                pthread_cond_wait(&pool->work, &pool->lock);
}

static void *worker(void *arg)
{
        struct ran_pool *pool = arg;

        pthread_mutex_lock(&pool->lock);
        while (!pool->stop) {
                struct job *job = find_job(pool, NULL);

                if (job != NULL)
                        help(pool, job);
                else
                        wait_for_work(pool);
        }
        pthread_mutex_unlock(&pool->lock);
        return NULL;
}

static void post(struct ran_pool *pool, struct job *job)
{
        pthread_mutex_lock(&pool->lock);
        job->older = pool->newest;
        pool->newest = job;
        atomic_fetch_add(&pool->posted, 1);
        pthread_cond_broadcast(&pool->work);
        pthread_cond_broadcast(&pool->done); /* whoever waits for an outer job can help with this */
        pthread_mutex_unlock(&pool->lock);
}

/* Takes the job off the list, so that no further helper comes, and waits for those who work on it.
 */
static void retire(struct ran_pool *pool, struct job *job)
{
        pthread_mutex_lock(&pool->lock);
        struct job **link = &pool->newest;
        while (*link != job)
                link = &(*link)->older;
        *link = job->older;
        pthread_mutex_unlock(&pool->lock);

        for (int spin = 0; spin < SPINS && atomic_load(&job->helpers) > 0; spin++)
                breathe();

        /* The lock is taken even when helpers is 0: the last one holds it while it signals. */
        pthread_mutex_lock(&pool->lock);
        while (atomic_load(&job->helpers) > 0) {
                struct job *inner = find_job(pool, job);

                if (inner != NULL)
                        help(pool, inner);
                else
                        pthread_cond_wait(&pool->done, &pool->lock);
        }
        pthread_mutex_unlock(&pool->lock);
}

void ran_parallel(struct ran_pool *pool, size_t n, void (*fn)(void *arg, size_t i), void *arg)
{
        if (pool == NULL || pool->threads == 1 || n <= 1) {
                for (size_t i = 0; i < n; i++)
                        fn(arg, i);
                return;
        }
        struct job job = {
                .fn = fn, .arg = arg, .n = n, .parent = current, .portable = ran_portable};
        post(pool, &job);
        run(&job);
        retire(pool, &job);
}

/* Bytes of a thread's stack, with what is thread-local. Not what the system has for threads: where
 * the limit of the stack is low, or there is none, that is less. */
enum { STACK = 8 << 20 };

static int start_worker(struct ran_pool *pool, pthread_t *thread)
{
        pthread_attr_t how;
        int error = pthread_attr_init(&how);

        if (error != 0)
                return error;
        error = pthread_attr_setstacksize(&how, STACK);
        if (error == 0)
                error = pthread_create(thread, &how, worker, pool);
        pthread_attr_destroy(&how);
        return error;
}

struct ran_pool *ran_pool_new(size_t threads, struct ran_error *err)
{
        struct ran_pool *pool = ran_new(1, sizeof(*pool));

        pool->threads = threads > 0 ? threads : 1;
        pthread_mutex_init(&pool->lock, NULL);
        pthread_cond_init(&pool->work, NULL);
        pthread_cond_init(&pool->done, NULL);
        pool->worker = ran_alloc(pool->threads - 1, sizeof(*pool->worker), err);
        if (pool->worker == NULL) {
                ran_pool_free(pool);
                return NULL;
        }
        for (; pool->started < pool->threads - 1; pool->started++) {
                int error = start_worker(pool, &pool->worker[pool->started]);

                if (error != 0) {
                        ran_fail(err, RAN_ENOMEM, "cannot start thread %zu of %zu: %s",
                                 pool->started + 2, pool->threads, strerror(error));
                        ran_pool_free(pool);
                        return NULL;
                }
        }
        return pool;
}

void ran_pool_free(struct ran_pool *pool)
{
        if (pool == NULL)
                return;
        pthread_mutex_lock(&pool->lock);
        pool->stop = true;
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->lock);
        for (size_t i = 0; i < pool->started; i++)
                pthread_join(pool->worker[i], NULL);
        pthread_cond_destroy(&pool->done);
        pthread_cond_destroy(&pool->work);
        pthread_mutex_destroy(&pool->lock);
        free(pool->worker);
        free(pool);
}

size_t ran_pool_threads(const struct ran_pool *pool)
{
        return pool != NULL ? pool->threads : 1;
}
