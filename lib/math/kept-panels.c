/* kept-panels.c - see kept-panels.h. */
#include "math/kept-panels.h"
#include "math/integer.h"
#include "math/simd.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

struct kept {
        const float *w;
        size_t O, I;
        float *memory;
        struct ran_panels panels;
};

struct ran_kept_panels {
        pthread_mutex_t lock;
        struct kept *item;
        size_t n, cap;
        bool integers;
        ran_read_weights read;
        void *arg;
};

struct ran_kept_panels *ran_kept_panels_new(bool integers, ran_read_weights read, void *arg)
{
        struct ran_kept_panels *k = ran_new(1, sizeof *k);

        k->integers = integers;
        k->read = read;
        k->arg = arg;
        pthread_mutex_init(&k->lock, NULL);
        return k;
}

void ran_kept_panels_free(struct ran_kept_panels *k)
{
        if (k == NULL)
                return;
        for (size_t i = 0; i < k->n; i++)
                free(k->item[i].memory);
        free(k->item);
        pthread_mutex_destroy(&k->lock);
        free(k);
}

bool ran_kept_panels_hold_integers(const struct ran_kept_panels *k)
{
        return k->integers;
}

static bool are_integers(const struct ran_kept_panels *k, const float *w, size_t O, size_t I)
{
        bool finite = k->integers && I > sizeof(float) && I <= RAN_INTEGER_MOST;

        for (size_t i = 0; finite && i < O * I; i++)
                finite = isfinite(w[i]);
        return finite;
}

static struct kept make(const struct ran_kept_panels *k, const float *w, size_t O, size_t I)
{
        struct kept kept = {.w = w, .O = O, .I = I};
        float *read = NULL;

        if (k->read != NULL) {
                read = ran_new_floats(O * I);
                k->read(k->arg, w, O * I, read);
                w = read;
        }
        if (are_integers(k, w, O, I)) {
                kept.memory = ran_new_floats(ran_integer->panels(NULL, w, O, I) / sizeof(float));
                ran_integer->panels(kept.memory, w, O, I);
                kept.panels.integers = kept.memory;
        } else {
                kept.memory = ran_new_floats(ran_simd->gemm_panels(NULL, w, O, I));
                ran_simd->gemm_panels(kept.memory, w, O, I);
                kept.panels.floats = kept.memory;
        }
        free(read);
        return kept;
}

struct ran_panels ran_kept_panels_of(struct ran_kept_panels *k, const float *w, size_t O, size_t I)
{
        struct kept found = {0};

        pthread_mutex_lock(&k->lock);
        for (size_t i = 0; i < k->n && found.w == NULL; i++)
                if (k->item[i].w == w && k->item[i].O == O && k->item[i].I == I)
                        found = k->item[i];
        if (found.w == NULL) {
                RAN_ROOM(k->item, k->cap, k->n + 1);
                found = k->item[k->n++] = make(k, w, O, I);
        }
        pthread_mutex_unlock(&k->lock);
        return found.panels;
}
