/* dense-read.c - the vectors of all documents of a data set: see infer.h. */
#include "infer/infer.h"
#include "nn/part.h"
#include "nn/unread.h"

#include <pthread.h>
#include <stdlib.h>

/* So many documents are read between two calls of `pass`. */
enum { BLOCK = 256 };

struct reader {
        struct ran_dense *k;
        const struct ran_dataset *d;
        struct ran_state **state; /* one a worker */
        size_t next, end;         /* documents that nobody has taken yet */
        pthread_mutex_t lock;
        struct ran_error err;
};

/* Takes documents from the block, as many as are best read at once, until there are none. Who takes
 * which does not change their vectors. */
static void read_worker(void *arg, size_t worker)
{
        struct reader *r = arg;
        struct ran_state *state = r->state[worker];
        struct ran_document d[RAN_SCORE_ABREAST];
        struct ran_error err = {0};
        size_t n = 1;

        while (err.code == RAN_OK && n > 0) {
                pthread_mutex_lock(&r->lock);
                const size_t first = r->next;
                for (n = 0; n < RAN_SCORE_ABREAST && first + n < r->end; n++)
                        d[n] = ran_dataset_document(r->d, first + n);
                n = n > 0 ? ran_score_abreast(state, d, n) : 0;
                r->next += n;
                pthread_mutex_unlock(&r->lock);
                if (n > 0)
                        ran_score_vectors(state, d, n, r->k->v + first * r->k->F, &err);
        }
        if (err.code == RAN_OK)
                return;
        pthread_mutex_lock(&r->lock);
        r->err = err;
        pthread_mutex_unlock(&r->lock);
}

static int read_blocks(struct reader *r, size_t workers, struct ran_pool *pool,
                       int (*pass)(void *arg, size_t passes, double share), void *arg,
                       struct ran_error *err)
{
        const size_t B = r->d->B;

        for (size_t from = 0, passes = 1; from < B; from = r->end, passes++) {
                r->end = B - from < BLOCK ? B : from + BLOCK;
                r->next = from;
                ran_parallel(pool, workers, read_worker, r);
                if (r->err.code != RAN_OK)
                        return ran_fail(err, r->err.code, "%s", r->err.text);
                if (pass != NULL && pass(arg, passes, (double)r->end / (double)B) != 0)
                        return ran_fail(err, RAN_EINTR,
                                        "stopped while the encoder read the documents");
        }
        return RAN_OK;
}

int ran_dense_read(struct ran_dense *k, const struct ran_config *c, const struct ran_params *p,
                   size_t C, const struct ran_dataset *d, struct ran_pool *pool,
                   int (*pass)(void *arg, size_t passes, double share), void *arg,
                   struct ran_error *err)
{
        const size_t F = ran_parts_features(c);
        const size_t workers = pool != NULL ? ran_pool_threads(pool) : 1;
        struct reader r = {.k = k, .d = d};
        struct ran_params still = *p; /* as long as this reads */
        size_t room;

        if (__builtin_mul_overflow(d->B, F, &room))
                return ran_fail(err, RAN_ENOMEM, "no memory for the vectors of %zu documents",
                                d->B);
        k->spool.keep = d->keep;
        int rc = RAN_SPOOL(k->spool, k->v, room, err);
        r.state = ran_new(workers, sizeof(struct ran_state *));
        still.panels = ran_params_panels(&still);
        k->F = F;
        for (size_t i = 0; i < workers && rc == RAN_OK; i++)
                r.state[i] = ran_score_state_new(c, &still, C, pool);
        pthread_mutex_init(&r.lock, NULL);
        if (rc == RAN_OK)
                rc = read_blocks(&r, workers, pool, pass, arg, err);
        pthread_mutex_destroy(&r.lock);
        for (size_t i = 0; i < workers; i++)
                ran_state_free(r.state[i]);
        free(r.state);
        ran_kept_panels_free(still.panels);
        k->B = d->B;
        if (rc != RAN_OK)
                ran_dense_release(k);
        return rc;
}
