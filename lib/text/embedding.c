/* embedding.c - initial values for rows of an embedding matrix. See ran/text.h. */
#include "ran/text.h"

#include <stdlib.h>

int ran_embedding_init(struct ran_embedding *e, size_t V, size_t D, struct ran_error *err)
{
        size_t n;

        *e = (struct ran_embedding){.V = V, .D = D};
        if (__builtin_mul_overflow(V, D, &n))
                return ran_fail(err, RAN_EINVAL, "the embedding is too large");
        e->rows = ran_alloc_floats(n, err);
        if (e->rows == NULL)
                return RAN_ENOMEM;
        e->given = ran_new(V, sizeof *e->given);
        return RAN_OK;
}

void ran_embedding_release(struct ran_embedding *e)
{
        free(e->rows);
        free(e->given);
        *e = (struct ran_embedding){0};
}
