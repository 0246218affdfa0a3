/* unread.c - see unread.h. */
#include "nn/unread.h"
#include "math/integer.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

struct ran_unread {
        const struct ran_tensors *file;
        struct unread_tensor {
                const struct ran_tensor *tensor;
                float *at;
        } * item;
        size_t n, cap;        /* of those that are not read yet */
        pthread_mutex_t lock; /* of them, and of the block where they belong */
};

struct ran_unread *ran_unread_new(const struct ran_tensors *file)
{
        struct ran_unread *u = ran_new(1, sizeof *u);

        u->file = file;
        pthread_mutex_init(&u->lock, NULL);
        return u;
}

void ran_unread_free(struct ran_unread *u)
{
        if (u == NULL)
                return;
        pthread_mutex_destroy(&u->lock);
        free(u->item);
        free(u);
}

bool ran_unread_leave(struct ran_unread *u, const struct ran_tensor *t, float *at)
{
        if (u == NULL || t->dtype != RAN_DTYPE_I8 || t->shape[1] <= sizeof(float) ||
            t->shape[1] > RAN_INTEGER_MOST || t->elements == 0)
                return false;
        RAN_ROOM(u->item, u->cap, u->n + 1);
        u->item[u->n++] = (struct unread_tensor){t, at};
        *at = NAN;
        return true;
}

/* The tensor has its scales: it was checked when the file was opened. */
static void read_one(const struct ran_unread *u, const struct unread_tensor *x, float *to)
{
        if (ran_tensor_floats(u->file, x->tensor, to, NULL) != RAN_OK)
                *to = NAN;
}

void ran_unread_read(struct ran_unread *u)
{
        if (u == NULL)
                return;
        pthread_mutex_lock(&u->lock);
        for (; u->n > 0; u->n--)
                read_one(u, &u->item[u->n - 1], u->item[u->n - 1].at);
        pthread_mutex_unlock(&u->lock);
}

/* Of a matrix that is several tensors side by side, some may be in the block. */
void ran_unread_copy(void *unread, const float *w, size_t n, float *to)
{
        struct ran_unread *u = unread;

        pthread_mutex_lock(&u->lock);
        memcpy(to, w, n * sizeof *to);
        for (size_t i = 0; i < u->n; i++)
                if (u->item[i].at >= w && u->item[i].at < w + n)
                        read_one(u, &u->item[i], to + (u->item[i].at - w));
        pthread_mutex_unlock(&u->lock);
}

struct ran_kept_panels *ran_params_panels(const struct ran_params *p)
{
        return ran_kept_panels_new(p->integers, p->unread != NULL ? ran_unread_copy : NULL,
                                   p->unread);
}
