/* recurrent-state.h - the recurrent state that a document leaves for its continuation; only under
 * the masks causal and prefix.
 *
 * Training with truncated back-propagation divides documents into chunks of whole windows; the
 * state between them is a constant: no gradient passes through it. A language-model context
 * (lm-context.c) may stop within a window, which stays open then.
 */
#ifndef RAN_MODEL_RECURRENT_STATE_H
#define RAN_MODEL_RECURRENT_STATE_H

#include "ran/model.h"

/* One a document. Per layer the cell, and the review's keys and values of all states before it. A
 * Transformer has no cell: its states are its tokens, with the keys and values of all heads.
 *
 * Documents that begin with the same tokens share them: a forked state reads its first states and
 * the first rows of its open window from its base, which nobody changes any more, and has only
 * the others itself.
 *
 *      key, value    | shared: in the base | own: state `shared` is at key[l]        |
 *      open window   | shared_rows: base   | own: row `shared_rows` is at qkv[l]      |
 */
struct ran_recurrent_state {
        size_t layers, E;
        size_t width;         /* of key and value */
        size_t cell_width;    /* of a cell: the same, or of a published one, which is two vectors
                                 (part/ran/paper.h), twice that */
        size_t tokens;        /* read so far; 0: none, and all below is unused */
        size_t states;        /* earlier states: those before the cell, which is one more */
        size_t sources;       /* of those, the first ones: source tokens under review */
        size_t open;          /* tokens of the open window */
        size_t cap, open_cap; /* floats that key and value, and qkv, have room for */
        float *cell;          /* (N, cell_width) */
        float **key, **value; /* (N): (states - shared, width) */
        float **qkv;          /* (N): (1 + open - shared_rows, 3E) rows of the open window, its cell
                               * first */
        const struct ran_recurrent_state *base; /* not owned; NULL: nothing is shared */
        size_t shared, shared_rows;
};
/* width: of a state; see ran_encoder_state_init. */
void ran_recurrent_state_init(struct ran_recurrent_state *s, const struct ran_config *config,
                              size_t width);
void ran_recurrent_state_clear(struct ran_recurrent_state *s); /* nothing read */
void ran_recurrent_state_release(struct ran_recurrent_state *s);
/* Makes s a copy of `from`, a state of the same model. The copy shares the rows of `from`, which
 * must then stay as it is and outlive the copy, unless `from` shares those of a base itself: then
 * both share that. */
int ran_recurrent_state_fork(struct ran_recurrent_state *s, const struct ran_recurrent_state *from,
                             struct ran_error *err);

/* The cell of layer l. */
static inline float *ran_recurrent_state_cell(const struct ran_recurrent_state *s, size_t l)
{
        return s->cell + l * s->cell_width;
}

/* Adjacent rows of layer l, from one of the two places that have them. */
struct ran_recurrent_run {
        const float *key, *value; /* (n, width) */
        size_t n;
};
/* Keys and values of the states from `from` on, `end` at most. */
static inline struct ran_recurrent_run ran_recurrent_state_run(const struct ran_recurrent_state *s,
                                                               size_t l, size_t from, size_t end)
{
        if (from >= s->shared)
                return (struct ran_recurrent_run){s->key[l] + (from - s->shared) * s->width,
                                                  s->value[l] + (from - s->shared) * s->width,
                                                  end - from};
        return (struct ran_recurrent_run){s->base->key[l] + from * s->width,
                                          s->base->value[l] + from * s->width,
                                          (end < s->shared ? end : s->shared) - from};
}
/* Copies the rows of the open window, its cell's and those of its tokens, to out (1 + open, 3E). */
void ran_recurrent_state_recall(const struct ran_recurrent_state *s, size_t l, float *out);
/* Room for more states and for a window of `open` tokens. */
int ran_recurrent_state_reserve(struct ran_recurrent_state *s, size_t states, size_t open,
                                struct ran_error *err);
/* Without a base and an open window: writes and reads all cells, then key and value layer by layer;
 * these floats with so many states. The caller of unpack supplies the numbers of tokens and states.
 */
static inline size_t ran_recurrent_state_floats(const struct ran_recurrent_state *s, size_t states)
{
        return s->layers * (s->cell_width + 2 * states * s->width);
}
void ran_recurrent_state_pack(const struct ran_recurrent_state *s, float *out);
int ran_recurrent_state_unpack(struct ran_recurrent_state *s, const float *in, size_t tokens,
                               size_t states, struct ran_error *err);

#endif
