/* tensor-walk.c - see tensor-walk.h. */
#include "nn/tensor-walk.h"

#include <stdio.h>

float *ran_tensor_walk_take(struct ran_tensor_walk *k, const char *prefix, size_t layer,
                            const char *name, size_t rows, size_t cols, enum ran_init init)
{
        size_t offset = k->at, n;

        if (k->rc != RAN_OK)
                return NULL;
        if (__builtin_mul_overflow(rows > 0 ? rows : 1, cols, &n) ||
            __builtin_add_overflow(k->at, n, &k->at) || k->at > SIZE_MAX / sizeof(float)) {
                ran_fail(k->err, RAN_EINVAL,
                         "a model of this configuration is larger than memory "
                         "can address (tensor %s)",
                         name);
                k->rc = RAN_EINVAL;
                return NULL;
        }
        if (k->layout != NULL) {
                struct ran_layout *l = k->layout;
                struct ran_tensor_spec *spec =
                        ran_grow(l->spec, &l->cap, l->n + 1, sizeof *spec, k->err);

                if (spec == NULL) {
                        k->rc = RAN_ENOMEM;
                        return NULL;
                }
                l->spec = spec;
                spec += l->n++;
                *spec = (struct ran_tensor_spec){
                        .rows = rows, .cols = cols, .offset = offset, .init = init};
                if (prefix != NULL)
                        snprintf(spec->name, sizeof spec->name, "%s.%zu.%s", prefix, layer, name);
                else
                        snprintf(spec->name, sizeof spec->name, "%s", name);
        }
        return k->block != NULL ? k->block + offset : NULL;
}
