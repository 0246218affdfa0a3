/* panels.c - see panels.h. */
#include "math/panels.h"
#include "ran/base.h"

#include <pthread.h>
#include <stdlib.h>

static _Thread_local float *own;
/* A mutex and no pthread_once_t, of which helgrind does not know what follows on it. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key; /* frees a thread's panels at its end */
static bool has_key;

float *ran_panels(void)
{
        const size_t floats = RAN_PANEL_A + RAN_PANEL_B;

        if (own != NULL)
                return own;
        own = aligned_alloc(64, floats * sizeof *own);
        pthread_mutex_lock(&making);
        has_key = has_key || pthread_key_create(&key, free) == 0;
        pthread_mutex_unlock(&making);
        if (own == NULL || !has_key || pthread_setspecific(key, own) != 0)
                ran_out_of_memory(floats, sizeof *own);
        return own;
}
