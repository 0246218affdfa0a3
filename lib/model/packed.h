/* packed.h - documents laid one after another, cut into windows: what an encoder works on.
 *
 *   tokens   | d0 d0 d0 d0 d0 | d1 d1 d1 | d2 ...      L packed, no padding
 *   windows  |  w0     |  w1  |   w2     | w3 ...      a window lies within one document
 *   packed     c0 t t t  c1 t t  c2 t t t  c3 ...        L + m packed: each window led by its cell
 *   states   | G0 G1 G2       | G0 G1    | G0 ...      m + B packed: a document's first cell, then
 *                                                      the cell after each of its windows
 *
 * Some tokens are positions: where a task has an output (tagging: the first piece of each word).
 *
 * Window i begins at token window[i] and at row window[i] + i; document b has the states from
 * doc_window[b] + b to doc_window[b+1] + b.
 *
 * A document that goes on (see recurrent-state.h) begins with a state that is known, and looks back
 * on `earlier` ones. If a window of it is open, the first window here is the rest of that one: its
 * first 1 + open packed, the cell and the tokens that were read before, are known, too, and no
 * token here.
 */
#ifndef RAN_MODEL_PACKED_H
#define RAN_MODEL_PACKED_H

#include "model/recurrent-state.h"

struct ran_packed {
        size_t B, L, m;
        uint32_t *ids;      /* (L) */
        uint32_t *spelling; /* (L, RAN_SPELLING), where the model wants it */
        size_t *doc;        /* (B+1) first token of each document */
        size_t *doc_window; /* (B+1) first window of each document */
        uint64_t *record;   /* (B) what dropout is keyed by */
        size_t *sources;    /* (B) under the prefix mask: leading tokens that are source; else 0 */
        struct ran_recurrent_state *
                *recurrent; /* (B) what the document goes on from, or NULL; not owned */
        size_t *key; /* (B+1) first key of each document: one a state, earlier ones before them */
        size_t open; /* known tokens of the first window; then B is 1 */
        size_t *position;     /* (positions) tokens with an output, ascending */
        size_t *doc_position; /* (B+1) first position of each document */
        size_t positions;
        size_t *window;     /* (m+1) first token of each window */
        size_t *window_doc; /* (m) document of each window */
        size_t ids_cap, recurrent_cap, key_cap, doc_cap, doc_window_cap, record_cap, sources_cap,
                position_cap, doc_position_cap, window_cap, window_doc_cap, spelling_cap;
};

/* Windows of n tokens, the first of them begun already with `open` more. */
size_t ran_packed_windows(const struct ran_config *c, size_t n, size_t open);

void ran_packed_clear(struct ran_packed *packed);
void ran_packed_release(struct ran_packed *packed);
/* Appends a document of n >= 1 tokens. `record` identifies it among those of an epoch. */
int ran_packed_add(struct ran_packed *packed, const struct ran_config *c, const uint32_t *ids,
                   size_t n, uint64_t record, struct ran_error *err);
/* The same for a document that goes on: from what `carry` (NULL: nothing) holds of its earlier
 * tokens, which ran_encode brings up to date. One document at a time may have an open window, and
 * must be the only one then. carry is not owned, and must
 * outlive the backward pass. */
int ran_packed_add_after(struct ran_packed *packed, const struct ran_config *c, const uint32_t *ids,
                         size_t n, uint64_t record, struct ran_recurrent_state *recurrent,
                         struct ran_error *err);

/* Gives the document that was added last its spelling (n, RAN_SPELLING). */
int ran_packed_spell(struct ran_packed *packed, const uint32_t *spelling, struct ran_error *err);
/* Gives the document that was added last its positions: indices of its tokens, ascending. */
int ran_packed_positions(struct ran_packed *packed, const uint32_t *positions, size_t n,
                         struct ran_error *err);

/* First row of window i, its cell. */
static inline size_t ran_packed_row(const struct ran_packed *packed, size_t i)
{
        return packed->window[i] + i + (i > 0 ? packed->open : 0);
}

/* Earlier states of document b: those before the state that it begins with. As they were when the
 * document was added: ran_encode adds to its carry. */
static inline size_t ran_packed_earlier(const struct ran_packed *packed, size_t b)
{
        return packed->key[b + 1] - packed->key[b] -
               (packed->doc_window[b + 1] - packed->doc_window[b] + 1);
}

/* Whether document b goes on from what was read before. */
static inline bool ran_packed_continues(const struct ran_packed *packed, size_t b)
{
        return ran_packed_earlier(packed, b) > 0 || packed->open > 0;
}

/* The state that window i begins with; the next one is the state it leaves. */
static inline size_t ran_packed_state_before(const struct ran_packed *packed, size_t i)
{
        return i + packed->window_doc[i];
}

#endif
