/* known.c - the fingerprints of a model's training documents: sorted, each once, in a tensor that
 * programs which do not know it ignore. */
#include "base/error.h"
#include "file/model.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

int ran_model_read_known(struct ran_model *m, struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, RAN_KNOWN_TENSOR);

        if (t == NULL)
                return RAN_OK;
        if (t->dtype != RAN_DTYPE_U32 || t->rank != 1)
                return ran_fail(err, RAN_EFORMAT, "tensor %s is not a list of U32",
                                RAN_KNOWN_TENSOR);
        m->known = ran_tensor_integers(&m->tensors, t, &m->known_copy);
        m->knows = t->elements;
        return RAN_OK;
}

size_t ran_model_fingerprints(const struct ran_model *m)
{
        return m->knows;
}

static int compare(const void *a, const void *b)
{
        const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return (x > y) - (x < y);
}

bool ran_model_knows(const struct ran_model *m, uint32_t fingerprint)
{
        return m->knows > 0 &&
               bsearch(&fingerprint, m->known, m->knows, sizeof fingerprint, compare) != NULL;
}

struct ran_extra ran_model_known(const struct ran_model *m)
{
        return (struct ran_extra){.name = RAN_KNOWN_TENSOR,
                                  .dtype = RAN_DTYPE_U32,
                                  .data = (void *)m->known,
                                  .n = m->knows};
}

size_t ran_known_sort(uint32_t *known, size_t n)
{
        size_t kept = 0;

        if (n > 1)
                qsort(known, n, sizeof *known, compare);
        for (size_t i = 0; i < n; i++)
                if (kept == 0 || known[i] != known[kept - 1])
                        known[kept++] = known[i];
        return kept;
}
