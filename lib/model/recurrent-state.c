/* recurrent-state.c - see recurrent-state.h. */
#include "model/recurrent-state.h"

#include <stdlib.h>
#include <string.h>

int ran_recurrent_state_init(struct ran_recurrent_state *c, const struct ran_config *config,
                             size_t width, struct ran_error *err)
{
        size_t N = config->layers, D = width, E = config->heads * config->head_dim;

        *c = (struct ran_recurrent_state){
                .layers = N,
                .D = D,
                .E = E,
                .F = 3 * E + (config->cell == RAN_CELL_GATED ? 2 * D : 0),
        };
        c->G = ran_alloc_floats(N * D, err);
        c->pre = ran_alloc_floats(N * c->F, err);
        c->key = ran_alloc(N, sizeof *c->key, err);
        c->value = ran_alloc(N, sizeof *c->value, err);
        c->qkv = ran_alloc(N, sizeof *c->qkv, err);
        if (c->G != NULL && c->pre != NULL && c->key != NULL && c->value != NULL && c->qkv != NULL)
                return RAN_OK;
        ran_recurrent_state_release(c);
        return RAN_ENOMEM;
}

void ran_recurrent_state_clear(struct ran_recurrent_state *c)
{
        c->tokens = c->states = c->open = 0;
}

void ran_recurrent_state_release(struct ran_recurrent_state *c)
{
        for (size_t l = 0; l < c->layers; l++) {
                if (c->key != NULL)
                        free(c->key[l]);
                if (c->value != NULL)
                        free(c->value[l]);
                if (c->qkv != NULL)
                        free(c->qkv[l]);
        }
        free(c->key);
        free(c->value);
        free(c->qkv);
        free(c->G);
        free(c->pre);
        *c = (struct ran_recurrent_state){0};
}

/* Makes room for n floats where there is room for *cap; the others of its kind may have it already,
 * which a failure in between leaves true. */
static int room(float **array, size_t layers, size_t *cap, size_t n, struct ran_error *err)
{
        size_t grown = *cap;

        if (n <= *cap)
                return RAN_OK;
        for (size_t l = 0; l < layers; l++) {
                size_t had = *cap;
                float *moved = ran_grow(array[l], &had, n, sizeof *moved, err);

                if (moved == NULL)
                        return RAN_ENOMEM;
                array[l] = moved;
                grown = had;
        }
        *cap = grown;
        return RAN_OK;
}

int ran_recurrent_state_reserve(struct ran_recurrent_state *c, size_t states, size_t open,
                                struct ran_error *err)
{
        size_t floats, rows;

        if (__builtin_mul_overflow(states, c->D, &floats) ||
            __builtin_add_overflow(open, 1, &rows) || __builtin_mul_overflow(rows, 3 * c->E, &rows))
                return ran_fail(err, RAN_ENOMEM, "%zu states are more than memory can hold",
                                states);
        size_t cap = c->cap;
        if (room(c->key, c->layers, &cap, floats, err) != RAN_OK ||
            room(c->value, c->layers, &c->cap, floats, err) != RAN_OK ||
            room(c->qkv, c->layers, &c->open_cap, rows, err) != RAN_OK)
                return RAN_ENOMEM;
        return RAN_OK;
}

/* ---- as one run of floats ------------------------------------------------------------------- */

size_t ran_recurrent_state_floats(const struct ran_recurrent_state *c)
{
        return c->layers * c->D * (1 + 2 * c->states);
}

void ran_recurrent_state_pack(const struct ran_recurrent_state *c, float *out)
{
        size_t n = c->states * c->D;

        memcpy(out, c->G, c->layers * c->D * sizeof *out);
        out += c->layers * c->D;
        for (size_t l = 0; l < c->layers && n > 0; l++, out += 2 * n) {
                memcpy(out, c->key[l], n * sizeof *out);
                memcpy(out + n, c->value[l], n * sizeof *out);
        }
}

int ran_recurrent_state_unpack(struct ran_recurrent_state *c, const float *in, size_t tokens,
                               size_t states, struct ran_error *err)
{
        size_t n = states * c->D;

        if (ran_recurrent_state_reserve(c, states, 0, err) != RAN_OK)
                return RAN_ENOMEM;
        c->tokens = tokens;
        c->states = states;
        c->open = 0;
        memcpy(c->G, in, c->layers * c->D * sizeof *in);
        in += c->layers * c->D;
        for (size_t l = 0; l < c->layers && n > 0; l++, in += 2 * n) {
                memcpy(c->key[l], in, n * sizeof *in);
                memcpy(c->value[l], in + n, n * sizeof *in);
        }
        return RAN_OK;
}
