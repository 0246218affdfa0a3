/* recurrent-state.c - see recurrent-state.h. */
#include "nn/recurrent-state.h"

#include <stdlib.h>
#include <string.h>

void ran_recurrent_state_init(struct ran_recurrent_state *s, const struct ran_config *config,
                              size_t width)
{
        const size_t N = config->layers, E = config->heads * config->head_dim;
        const bool published = config->ran.cell == RAN_CELL_PUBLISHED;

        *s = (struct ran_recurrent_state){
                .layers = N,
                .width = width,
                .E = E,
                .cell_width = (published ? 2 : 1) * width,
        };
        s->cell = ran_new_floats(N * s->cell_width);
        s->key = ran_new(N, sizeof *s->key);
        s->value = ran_new(N, sizeof *s->value);
        s->qkv = ran_new(N, sizeof *s->qkv);
}

void ran_recurrent_state_clear(struct ran_recurrent_state *s)
{
        s->tokens = s->states = s->sources = s->open = s->shared = s->shared_rows = 0;
        s->base = NULL;
}

void ran_recurrent_state_release(struct ran_recurrent_state *s)
{
        for (size_t l = 0; l < s->layers; l++) {
                free(s->key[l]);
                free(s->value[l]);
                free(s->qkv[l]);
        }
        free(s->key);
        free(s->value);
        free(s->qkv);
        free(s->cell);
        *s = (struct ran_recurrent_state){0};
}

/* Grows one of several arrays that have the capacity *cap in common to n floats. After a failure
 * some of them may have grown; *cap stays valid for all. */
static int room(float **array, size_t layers, size_t *cap, size_t n, struct ran_error *err)
{
        size_t grown = *cap;

        if (n <= *cap)
                return RAN_OK;
        for (size_t l = 0; l < layers; l++) {
                size_t had = *cap;

                RAN_TRY(RAN_GROW(array[l], had, n, err));
                grown = had;
        }
        *cap = grown;
        return RAN_OK;
}

int ran_recurrent_state_reserve(struct ran_recurrent_state *s, size_t states, size_t open,
                                struct ran_error *err)
{
        size_t floats, rows;

        states -= s->shared < states ? s->shared : states;
        if (__builtin_mul_overflow(states, s->width, &floats) ||
            __builtin_add_overflow(open, 1, &rows) || __builtin_mul_overflow(rows, 3 * s->E, &rows))
                return ran_fail(err, RAN_ENOMEM, "%zu states are more than memory can hold",
                                states);
        size_t cap = s->cap;
        RAN_TRY(room(s->key, s->layers, &cap, floats, err));
        RAN_TRY(room(s->value, s->layers, &s->cap, floats, err));
        return room(s->qkv, s->layers, &s->open_cap, rows, err);
}

/* ---- sharing -------------------------------------------------------------------------------- */

static int copy_rows(struct ran_recurrent_state *s, const struct ran_recurrent_state *from,
                     struct ran_error *err)
{
        size_t rows = from->open > 0 ? 1 + from->open - s->shared_rows : 0,
               states = from->states - s->shared;

        RAN_TRY(ran_recurrent_state_reserve(s, from->states, from->open, err));
        for (size_t l = 0; l < s->layers; l++) {
                if (states > 0) {
                        memcpy(s->key[l], from->key[l], states * s->width * sizeof(float));
                        memcpy(s->value[l], from->value[l], states * s->width * sizeof(float));
                }
                if (rows > 0)
                        memcpy(s->qkv[l], from->qkv[l], rows * 3 * s->E * sizeof(float));
        }
        return RAN_OK;
}

int ran_recurrent_state_fork(struct ran_recurrent_state *s, const struct ran_recurrent_state *from,
                             struct ran_error *err)
{
        bool shares = from->base != NULL;

        s->base = shares ? from->base : from;
        s->shared = shares ? from->shared : from->states;
        s->shared_rows = shares ? from->shared_rows : from->open > 0 ? 1 + from->open : 0;
        s->tokens = s->states = s->open = 0; /* unless there is memory */
        if (shares)
                RAN_TRY(copy_rows(s, from, err));
        s->tokens = from->tokens;
        s->states = from->states;
        s->sources = from->sources;
        s->open = from->open;
        memcpy(s->cell, from->cell, s->layers * s->cell_width * sizeof(float));
        return RAN_OK;
}

void ran_recurrent_state_recall(const struct ran_recurrent_state *s, size_t l, float *out)
{
        size_t row = 3 * s->E, own = 1 + s->open - s->shared_rows;

        if (s->shared_rows > 0)
                memcpy(out, s->base->qkv[l], s->shared_rows * row * sizeof *out);
        if (own > 0)
                memcpy(out + s->shared_rows * row, s->qkv[l], own * row * sizeof *out);
}

/* ---- as one run of floats ------------------------------------------------------------------- */

void ran_recurrent_state_pack(const struct ran_recurrent_state *s, float *out)
{
        size_t n = s->states * s->width;

        memcpy(out, s->cell, s->layers * s->cell_width * sizeof *out);
        out += s->layers * s->cell_width;
        for (size_t l = 0; l < s->layers && n > 0; l++, out += 2 * n) {
                memcpy(out, s->key[l], n * sizeof *out);
                memcpy(out + n, s->value[l], n * sizeof *out);
        }
}

int ran_recurrent_state_unpack(struct ran_recurrent_state *s, const float *in, size_t tokens,
                               size_t states, struct ran_error *err)
{
        size_t n = states * s->width;

        RAN_TRY(ran_recurrent_state_reserve(s, states, 0, err));
        s->tokens = tokens;
        s->states = states;
        s->sources = 0;
        s->open = 0;
        memcpy(s->cell, in, s->layers * s->cell_width * sizeof *in);
        in += s->layers * s->cell_width;
        for (size_t l = 0; l < s->layers && n > 0; l++, in += 2 * n) {
                memcpy(s->key[l], in, n * sizeof *in);
                memcpy(s->value[l], in + n, n * sizeof *in);
        }
        return RAN_OK;
}
