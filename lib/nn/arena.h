/* arena.h - one block of memory, handed out in order. A layout is done twice: without a base it
 * counts what it needs, then it fills the pointers in. */
#ifndef RAN_MODEL_ARENA_H
#define RAN_MODEL_ARENA_H

/* Each run of floats begins at a multiple of 64 bytes. base NULL: only counts. */
struct ran_arena {
        float *base;
        double count;
};
float *ran_arena_take(struct ran_arena *k, double floats);

/* For lists X(field, floats): fills a struct `out` from the arena `k`. */
#define RAN_ARENA_FIELD(field, floats) out->field = ran_arena_take(k, floats);
/* Those of a whole list, for the struct at *at; in scope: k, and the sizes of the list. */
#define RAN_ARENA_LIST(at, list)           \
        do {                               \
                __typeof__(at) out = (at); \
                list(RAN_ARENA_FIELD)      \
        } while (0)
/* The fields of such a struct, or of one of tensors. */
#define RAN_FLOATS_FIELD(field, ...) float *field;

#endif
