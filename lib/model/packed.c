/* packed.c - windows over documents. See packed.h. */
#include "model/packed.h"

#include <stdlib.h>
#include <string.h>

void ran_packed_clear(struct ran_packed *rows)
{
        rows->B = rows->L = rows->m = rows->places = rows->open = 0;
}

void ran_packed_release(struct ran_packed *rows)
{
        free(rows->ids);
        free(rows->doc);
        free(rows->docwin);
        free(rows->record);
        free(rows->sources);
        free(rows->recurrent);
        free(rows->key);
        free(rows->place);
        free(rows->docplace);
        free(rows->win);
        free(rows->windoc);
        free(rows->spelling);
        *rows = (struct ran_packed){0};
}

static size_t shortest_window(const struct ran_config *c)
{
        return c->min_window < c->window ? c->min_window : c->window;
}

size_t ran_packed_windows(const struct ran_config *c, size_t n, size_t open)
{
        size_t all = n + open, windows = (all - 1) / c->window + 1;

        return windows > 1 && all - (windows - 1) * c->window < shortest_window(c) ? windows - 1
                                                                                   : windows;
}

/* Grows one array of rows; false leaves everything as it was. */
#define ROOM(array, want)                                                                          \
        do {                                                                                       \
                void *moved =                                                                      \
                        ran_grow(rows->array, &rows->array##_cap, want, sizeof *rows->array, err); \
                if (moved == NULL)                                                                 \
                        return RAN_ENOMEM;                                                         \
                rows->array = moved;                                                               \
        } while (0)

int ran_packed_add(struct ran_packed *rows, const struct ran_config *c, const uint32_t *ids,
                   size_t n, uint64_t record, struct ran_error *err)
{
        return ran_packed_add_after(rows, c, ids, n, record, NULL, err);
}

int ran_packed_add_after(struct ran_packed *rows, const struct ran_config *c, const uint32_t *ids,
                         size_t n, uint64_t record, struct ran_recurrent_state *recurrent,
                         struct ran_error *err)
{
        size_t open = recurrent != NULL ? recurrent->open : 0,
               windows = ran_packed_windows(c, n, open);

        if (rows->open > 0 || (open > 0 && rows->B > 0))
                return ran_fail(err, RAN_EINVAL,
                                "a document whose window is open is read by itself");
        ROOM(ids, rows->L + n);
        ROOM(doc, rows->B + 2);
        ROOM(docwin, rows->B + 2);
        ROOM(record, rows->B + 1);
        ROOM(sources, rows->B + 1);
        ROOM(recurrent, rows->B + 1);
        ROOM(key, rows->B + 2);
        ROOM(docplace, rows->B + 2);
        ROOM(win, rows->m + windows + 1);
        ROOM(windoc, rows->m + windows);
        memcpy(rows->ids + rows->L, ids, n * sizeof *ids);
        if (rows->B == 0)
                rows->key[0] = 0;
        rows->open = open;
        rows->doc[rows->B] = rows->L;
        rows->docwin[rows->B] = rows->m;
        rows->record[rows->B] = record;
        rows->sources[rows->B] = 0;
        rows->recurrent[rows->B] = recurrent;
        rows->docplace[rows->B] = rows->places;
        for (size_t i = 0; i < windows; i++) {
                rows->win[rows->m] = rows->L + (i > 0 ? i * c->window - open : 0);
                rows->windoc[rows->m++] = rows->B;
        }
        rows->key[rows->B + 1] =
                rows->key[rows->B] + (recurrent != NULL ? recurrent->states : 0) + windows + 1;
        rows->L += n;
        rows->B++;
        rows->doc[rows->B] = rows->win[rows->m] = rows->L;
        rows->docwin[rows->B] = rows->m;
        rows->docplace[rows->B] = rows->places;
        return RAN_OK;
}

int ran_packed_spell(struct ran_packed *rows, const uint32_t *spelling, struct ran_error *err)
{
        size_t at = rows->doc[rows->B - 1] * RAN_SPELLING, end;

        if (__builtin_mul_overflow(rows->L, RAN_SPELLING, &end))
                return ran_fail(err, RAN_ENOMEM, "a document of %zu tokens is too long", rows->L);
        ROOM(spelling, end);
        memcpy(rows->spelling + at, spelling, (end - at) * sizeof *spelling);
        return RAN_OK;
}

int ran_packed_places(struct ran_packed *rows, const uint32_t *places, size_t n,
                      struct ran_error *err)
{
        ROOM(place, rows->places + n);
        for (size_t i = 0; i < n; i++)
                rows->place[rows->places++] = rows->doc[rows->B - 1] + places[i];
        rows->docplace[rows->B] = rows->places;
        return RAN_OK;
}
