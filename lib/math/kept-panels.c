/* kept-panels.c - see kept-panels.h. */
#include "math/kept-panels.h"
#include "math/simd.h"

#include <pthread.h>
#include <stdlib.h>

struct kept {
        const float *w;
        size_t O, I;
        float *panels;
};

struct ran_kept_panels {
        pthread_mutex_t lock;
        struct kept *item;
        size_t n, cap;
};

struct ran_kept_panels *ran_kept_panels_new(struct ran_error *err)
{
        struct ran_kept_panels *k = ran_alloc(1, sizeof *k, err);

        if (k != NULL)
                pthread_mutex_init(&k->lock, NULL);
        return k;
}

void ran_kept_panels_free(struct ran_kept_panels *k)
{
        if (k == NULL)
                return;
        for (size_t i = 0; i < k->n; i++)
                free(k->item[i].panels);
        free(k->item);
        pthread_mutex_destroy(&k->lock);
        free(k);
}

static float *make(const float *w, size_t O, size_t I)
{
        float *panels = ran_alloc_floats(ran_simd->gemm_panels(NULL, w, O, I), NULL);

        if (panels != NULL)
                ran_simd->gemm_panels(panels, w, O, I);
        return panels;
}

/* A new entry, or NULL. */
static const float *add(struct ran_kept_panels *k, const float *w, size_t O, size_t I)
{
        struct kept *grown = ran_grow(k->item, &k->cap, k->n + 1, sizeof *grown, NULL);

        if (grown == NULL)
                return NULL;
        k->item = grown;
        float *panels = make(w, O, I);
        if (panels != NULL)
                k->item[k->n++] = (struct kept){w, O, I, panels};
        return panels;
}

const float *ran_kept_panels_of(struct ran_kept_panels *k, const float *w, size_t O, size_t I)
{
        const float *panels = NULL;

        pthread_mutex_lock(&k->lock);
        for (size_t i = 0; i < k->n && panels == NULL; i++)
                if (k->item[i].w == w && k->item[i].O == O && k->item[i].I == I)
                        panels = k->item[i].panels;
        if (panels == NULL)
                panels = add(k, w, O, I);
        pthread_mutex_unlock(&k->lock);
        return panels;
}

size_t ran_kept_panels_floats(const struct ran_kept_panels *k)
{
        size_t floats = 0;

        for (size_t i = 0; i < k->n; i++)
                floats += ran_simd->gemm_panels(NULL, k->item[i].w, k->item[i].O, k->item[i].I);
        return floats;
}
