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

#endif
