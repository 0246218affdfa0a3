/* packed.h - a packed batch: documents one after another, divided into windows; the input of an
 * encoder.
 *
 *   tokens   | d0 d0 d0 d0 d0 | d1 d1 d1 | d2 ...      L rows, no padding
 *   windows  |  w0     |  w1  |   w2     | w3 ...      a window lies within one document
 *   rows     c0 t t t  c1 t t  c2 t t t  c3 ...        L + m rows: each window after its cell
 *   states   | G0 G1 G2       | G0 G1    | G0 ...      m + B rows: a document's first cell, then
 *                                                      the cell after each of its windows
 *
 * Positions are the tokens with an output of the task: when tagging, the first subword of each
 * word.
 *
 * Window i begins at token window[i] and at row row[i]; document b has the states from
 * doc_window[b] + b to doc_window[b+1] + b.
 *
 * A document with a recurrent state (recurrent-state.h) continues: it begins with a known cell and
 * attends to `earlier` states. If its last window was left open, the first window here is the rest
 * of it. Its first 1 + open rows, the cell and the tokens read before, are known and not among the
 * tokens here. So a window's row is not that of its first token plus a constant: row has it.
 */
#ifndef RAN_MODEL_PACKED_H
#define RAN_MODEL_PACKED_H

#include "nn/recurrent-state.h"

struct ran_packed {
        size_t B, L, m;
        uint32_t *ids;      /* (L) */
        uint32_t *spelling; /* (L, RAN_SPELLING), where the model wants it */
        size_t *doc;        /* (B+1) first token of each document */
        size_t *doc_window; /* (B+1) first window of each document */
        uint64_t *record;   /* (B) what dropout is keyed by */
        size_t *sources;    /* (B) under the prefix mask: leading tokens that are source; else 0 */
        struct ran_recurrent_state *
                *recurrent; /* (B) the document continues from it; or NULL; not owned */
        size_t *key;  /* (B+1) first key of each document: one a state, earlier ones before them */
        size_t *open; /* (B) known tokens of the document's first window */
        size_t *position;     /* (positions) tokens with an output, ascending */
        size_t *doc_position; /* (B+1) first position of each document */
        size_t positions;
        size_t *window;     /* (m+1) first token of each window */
        size_t *row;        /* (m+1) first row of each window: its cell */
        size_t *window_doc; /* (m) document of each window */
        size_t ids_cap, recurrent_cap, key_cap, doc_cap, doc_window_cap, record_cap, sources_cap,
                position_cap, doc_position_cap, window_cap, row_cap, window_doc_cap, spelling_cap,
                open_cap;
};

/* The number of windows for n tokens, when the first window already holds `open` more. */
size_t ran_packed_windows(const struct ran_config *c, size_t n, size_t open);

void ran_packed_clear(struct ran_packed *packed);
void ran_packed_release(struct ran_packed *packed);
/* Appends a document of n >= 1 tokens. `record` identifies it within an epoch. */
void ran_packed_add(struct ran_packed *packed, const struct ran_config *c, const uint32_t *ids,
                    size_t n, uint64_t record);
/* The same for a document that continues from a recurrent state (NULL: nothing), which ran_encode
 * updates. The state is not owned and must outlive the backward pass. */
void ran_packed_add_after(struct ran_packed *packed, const struct ran_config *c,
                          const uint32_t *ids, size_t n, uint64_t record,
                          struct ran_recurrent_state *recurrent);

/* Sets the last document's spelling (n, RAN_SPELLING). */
void ran_packed_spell(struct ran_packed *packed, const uint32_t *spelling);
/* Sets the last document's positions: indices of its tokens, ascending. */
void ran_packed_positions(struct ran_packed *packed, const uint32_t *positions, size_t n);

/* Earlier states of document b: those before its first state, as of the time it was added
 * (ran_encode adds to them). */
static inline size_t ran_packed_earlier(const struct ran_packed *packed, size_t b)
{
        return packed->key[b + 1] - packed->key[b] -
               (packed->doc_window[b + 1] - packed->doc_window[b] + 1);
}

/* Whether document b continues from a recurrent state. */
static inline bool ran_packed_continues(const struct ran_packed *packed, size_t b)
{
        return ran_packed_earlier(packed, b) > 0 || packed->open[b] > 0;
}

/* The first state of window i; the next one is the state after it. */
static inline size_t ran_packed_state_before(const struct ran_packed *packed, size_t i)
{
        return i + packed->window_doc[i];
}

#endif
