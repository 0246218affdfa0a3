/* panels.c - see panels.h. */
#include "math/panels.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { FLOATS = RAN_PANEL_A + RAN_PANEL_B };

static _Thread_local float *own;
/* A mutex and no pthread_once_t, of which helgrind does not know what follows on it. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key; /* frees a thread's panels at its end */
static bool tried, has_key;

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static float last_resort[FLOATS] __attribute__((aligned(64)));

static bool make_key(void)
{
        pthread_mutex_lock(&making);
        if (!tried)
                has_key = pthread_key_create(&key, free) == 0;
        tried = true;
        bool made = has_key;
        pthread_mutex_unlock(&making);
        return made;
}

static float *allocate(void)
{
        float *panels = make_key() ? aligned_alloc(64, FLOATS * sizeof *panels) : NULL;

        if (panels != NULL && pthread_setspecific(key, panels) != 0) {
                free(panels);
                panels = NULL;
        }
        return panels;
}

float *ran_panels_take(void)
{
        if (own == NULL)
                own = allocate();
        if (own != NULL)
                return own;
        pthread_mutex_lock(&turn);
        return last_resort;
}

void ran_panels_give(float *panels)
{
        if (panels == last_resort)
                pthread_mutex_unlock(&turn);
}
