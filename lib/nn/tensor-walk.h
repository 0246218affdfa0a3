/* tensor-walk.h - the tensors of a model one after another: listed in a layout, or pointed at in a
 * block of floats.
 *
 * A list of tensors is declared once, as X(field, name, rows, cols, init, present when). It serves
 * the fields of a struct, the names and shapes in the model file, the position in the block and the
 * initial values.
 */
#ifndef RAN_MODEL_TENSOR_WALK_H
#define RAN_MODEL_TENSOR_WALK_H

#include "ran/model.h"

enum ran_init {
        RAN_INIT_ZERO,
        RAN_INIT_ONE,
        RAN_INIT_NORMAL,  /* deviation 1 */
        RAN_INIT_GLOROT,  /* normal, by rows and columns */
        RAN_INIT_QUARTER, /* of that */
        RAN_INIT_UNIFORM, /* +-0.05 */
};

/* A tensor of the model file. rows 0: a vector of `cols`. */
struct ran_tensor_spec {
        char name[64];
        size_t rows, cols;
        size_t offset; /* in the block */
        enum ran_init init;
};

/* The tensors of a configuration, in the order of the block; mapped tables are not among them. */
struct ran_layout {
        struct ran_tensor_spec *spec;
        size_t n, cap;
        size_t size; /* floats in a block */
};

struct ran_tensor_walk {
        struct ran_layout *layout; /* NULL: only point */
        float *block;              /* NULL: only list */
        size_t at;
        struct ran_error *err;
        int rc; /* the first failure; later steps of the walk do nothing */
};
/* The next tensor. Its name is prefix.layer.name or, if prefix is NULL, `name`. Returns its
 * address in the block; NULL without a block. */
float *ran_tensor_walk_take(struct ran_tensor_walk *k, const char *prefix, size_t layer,
                            const char *name, size_t rows, size_t cols, enum ran_init init);

/* For a list: fills a struct `p`; in scope k, prefix, l. An absent tensor is NULL. */
#define RAN_TENSOR_FIELD(field, name, rows, cols, init, when)                                     \
        p->field = (when) ? ran_tensor_walk_take(k, prefix, l, name, rows, cols, RAN_INIT_##init) \
                          : NULL;

#endif
