/* recurrent-state.h - what a document leaves for its continuation; only under the masks causal and
 * prefix.
 *
 * Training with truncated back-propagation divides documents into chunks of whole windows; the
 * state between them is a constant: no gradient passes through it. A language-model context
 * (lm-context.c) may stop within a window, which stays open then.
 */
#ifndef RAN_MODEL_RECURRENT_STATE_H
#define RAN_MODEL_RECURRENT_STATE_H

#include "ran/model.h"

/* One a document. Per layer the cell, and the review's keys and values of all states before it. A
 * Transformer has no cell: its states are its tokens, with the keys and values of all heads. */
struct ran_recurrent_state {
        size_t layers, E;
        size_t width;         /* of cell, key and value */
        size_t projected;     /* 3E, and 2D more of a gated cell: what one product makes of a row */
        size_t tokens;        /* read so far; 0: nothing, and all below is unused */
        size_t states;        /* earlier states: those before the cell, which is one more */
        size_t open;          /* tokens of the open window */
        size_t cap, open_cap; /* floats that key and value, and qkv, have room for */
        float *cell;          /* (N, width) */
        float **key, **value; /* (N): (states, width) */
        float **qkv;          /* (N): (1 + open, 3E) rows of the open window, its cell first */
        float *pre;           /* (N, projected) the open window's cell row before φ: its gates */
};
/* width: of a state; see ran_encoder_state_init. */
int ran_recurrent_state_init(struct ran_recurrent_state *s, const struct ran_config *config,
                             size_t width, struct ran_error *err);
void ran_recurrent_state_clear(struct ran_recurrent_state *s); /* nothing read */
void ran_recurrent_state_release(struct ran_recurrent_state *s);
/* Room for more states and for a window of `open` tokens. */
int ran_recurrent_state_reserve(struct ran_recurrent_state *s, size_t states, size_t open,
                                struct ran_error *err);
/* Floats that ran_recurrent_state_pack writes and ran_recurrent_state_unpack reads: all cells, then
 * key and value layer by layer. No window may be open. The caller of unpack knows how many tokens
 * and states there are. */
size_t ran_recurrent_state_floats(const struct ran_recurrent_state *s);
void ran_recurrent_state_pack(const struct ran_recurrent_state *s, float *out);
int ran_recurrent_state_unpack(struct ran_recurrent_state *s, const float *in, size_t tokens,
                               size_t states, struct ran_error *err);

#endif
