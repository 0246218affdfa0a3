/* packed.c - see packed.h. */
#include "nn/packed.h"

#include <stdlib.h>
#include <string.h>

void ran_packed_clear(struct ran_packed *packed)
{
        packed->B = packed->L = packed->m = packed->positions = 0;
}

void ran_packed_release(struct ran_packed *packed)
{
        free(packed->ids);
        free(packed->doc);
        free(packed->doc_window);
        free(packed->record);
        free(packed->sources);
        free(packed->recurrent);
        free(packed->key);
        free(packed->position);
        free(packed->doc_position);
        free(packed->window);
        free(packed->window_doc);
        free(packed->row);
        free(packed->open);
        free(packed->spelling);
        *packed = (struct ran_packed){0};
}

size_t ran_packed_windows(const struct ran_config *c, size_t n, size_t open)
{
        const size_t all = n + open, windows = (all - 1) / c->window + 1;
        const size_t last = all - (windows - 1) * c->window;

        return windows - (windows > 1 && last < ran_least(c->min_window, c->window));
}

/* Grows one array of the batch. */
#define ROOM(array, want) RAN_ROOM(packed->array, packed->array##_cap, want)

void ran_packed_add(struct ran_packed *packed, const struct ran_config *c, const uint32_t *ids,
                    size_t n, uint64_t record)
{
        ran_packed_add_after(packed, c, ids, n, record, NULL);
}

/* The windows of n tokens, of which the first already holds `open` more. */
static void add_windows(struct ran_packed *packed, const struct ran_config *c, size_t n,
                        size_t open, size_t windows)
{
        for (size_t i = 0; i < windows; i++) {
                size_t known = i > 0 ? 0 : open,
                       end = i + 1 < windows ? (i + 1) * c->window - open : n;
                size_t from = i > 0 ? i * c->window - open : 0;

                packed->window[packed->m] = packed->L + from;
                packed->window_doc[packed->m] = packed->B;
                packed->row[packed->m + 1] = packed->row[packed->m] + 1 + known + end - from;
                packed->m++;
        }
}

void ran_packed_add_after(struct ran_packed *packed, const struct ran_config *c,
                          const uint32_t *ids, size_t n, uint64_t record,
                          struct ran_recurrent_state *recurrent)
{
        size_t open = recurrent != NULL ? recurrent->open : 0,
               windows = ran_packed_windows(c, n, open);

        ROOM(ids, packed->L + n);
        ROOM(doc, packed->B + 2);
        ROOM(doc_window, packed->B + 2);
        ROOM(record, packed->B + 1);
        ROOM(sources, packed->B + 1);
        ROOM(recurrent, packed->B + 1);
        ROOM(key, packed->B + 2);
        ROOM(doc_position, packed->B + 2);
        ROOM(window, packed->m + windows + 1);
        ROOM(row, packed->m + windows + 1);
        ROOM(window_doc, packed->m + windows);
        ROOM(open, packed->B + 1);
        memcpy(packed->ids + packed->L, ids, n * sizeof *ids);
        if (packed->B == 0)
                packed->key[0] = packed->row[0] = 0;
        packed->open[packed->B] = open;
        packed->doc[packed->B] = packed->L;
        packed->doc_window[packed->B] = packed->m;
        packed->record[packed->B] = record;
        packed->sources[packed->B] = 0;
        packed->recurrent[packed->B] = recurrent;
        packed->doc_position[packed->B] = packed->positions;
        add_windows(packed, c, n, open, windows);
        packed->key[packed->B + 1] =
                packed->key[packed->B] + (recurrent != NULL ? recurrent->states : 0) + windows + 1;
        packed->L += n;
        packed->B++;
        packed->doc[packed->B] = packed->window[packed->m] = packed->L;
        packed->doc_window[packed->B] = packed->m;
        packed->doc_position[packed->B] = packed->positions;
}

void ran_packed_spell(struct ran_packed *packed, const uint32_t *spelling)
{
        const size_t at = packed->doc[packed->B - 1] * RAN_SPELLING,
                     end = packed->L * RAN_SPELLING; /* as many as there are, in memory */

        ROOM(spelling, end);
        memcpy(packed->spelling + at, spelling, (end - at) * sizeof *spelling);
}

void ran_packed_positions(struct ran_packed *packed, const uint32_t *positions, size_t n)
{
        ROOM(position, packed->positions + n);
        for (size_t i = 0; i < n; i++)
                packed->position[packed->positions++] = packed->doc[packed->B - 1] + positions[i];
        packed->doc_position[packed->B] = packed->positions;
}
