/* encoder.c - the table of encoders; from ids to rows, and back. */
#include "nn/encoder.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

/* Tokens of a document, in blocks for threads. */
struct tokens {
        const struct ran_workspace *w;
        const struct ran_params *p;
        size_t b;
        float *x; /* rows of the first token */
        void (*fn)(const struct tokens *k, size_t from, size_t n);
};

enum { BLOCK = 512 };

static void run_block(void *arg, size_t i)
{
        const struct tokens *k = arg;
        size_t L = k->w->packed->doc[k->b + 1] - k->w->packed->doc[k->b], from = i * BLOCK;

        k->fn(k, from, L - from < BLOCK ? L - from : BLOCK);
}

/* fn for the rows of all tokens, which begin at x. */
static void each_block(const struct ran_workspace *w, const struct ran_params *p, float *x,
                       void (*fn)(const struct tokens *k, size_t from, size_t n))
{
        const size_t *doc = w->packed->doc;

        for (size_t b = 0; b < w->packed->B; b++) {
                struct tokens k = {w, p, b, x + doc[b] * w->D, fn};

                ran_parallel(w->pool, (doc[b + 1] - doc[b] + BLOCK - 1) / BLOCK, run_block, &k);
        }
}

static void drop(const struct tokens *k, size_t from, size_t n)
{
        const struct ran_workspace *w = k->w;

        ran_workspace_dropout(w, k->b, 0, RAN_DROP_EMBED, w->noise.embed_dropout,
                              k->x + from * w->D, n * w->D, from * w->D);
}

/* A token's row: its subword's and, in models with spelling, those of its word's features. */
static void embed(const struct tokens *k, size_t from, size_t n)
{
        const struct ran_packed *packed = k->w->packed;
        size_t D = k->w->D, features = k->p->spelling != NULL ? RAN_SPELLING : 0;

        for (size_t t = from; t < from + n; t++) {
                size_t at = packed->doc[k->b] + t;
                float *x = k->x + t * D;

                memcpy(x, k->p->embed + packed->ids[at] * D, D * sizeof(float));
                for (size_t i = at * features; i < (at + 1) * features; i++)
                        ran_simd->add(x, k->p->spelling + packed->spelling[i] * D, D);
        }
}

#define NUMBERED(number, name) [RAN_ENCODER_##number] = &ran_encoder_##name,
#define NAMED(number, name)    [RAN_ENCODER_##number] = #name,

const char *const ran_encoder_names[] = {RAN_ENCODERS(NAMED) NULL};

const struct ran_encoder *ran_encoder_of(const struct ran_config *c)
{
        static const struct ran_encoder *const encoders[] = {RAN_ENCODERS(NUMBERED)};

        return encoders[c->encoder];
}

bool ran_config_has_encoder(const struct ran_config *c)
{
        return c->encoder != RAN_ENCODER_NONE;
}

bool ran_config_trains_encoder(const struct ran_config *c)
{
        return ran_config_has_encoder(c) && !c->frozen;
}

bool ran_config_has_token_outputs(const struct ran_config *c)
{
        return ran_encoder_of(c)->per_token;
}

int ran_encoder_state_init(struct ran_recurrent_state *state, const struct ran_config *c,
                           struct ran_error *err)
{
        return ran_recurrent_state_init(state, c, ran_encoder_of(c)->state_width(c), err);
}

size_t ran_encoder_states(const struct ran_config *c, size_t tokens)
{
        const struct ran_encoder *encoder = ran_encoder_of(c);
        size_t states = tokens / encoder->state_tokens(c);

        return encoder->states_kept != NULL ? encoder->states_kept(c, states) : states;
}

void ran_encode_embed(struct ran_workspace *w, const struct ran_params *p)
{
        ran_phase = RAN_PHASE_EMBEDDING;
        if (w->D > 0)
                each_block(w, p, w->x[0], embed);
}

static void drop_embedding(struct ran_workspace *w, float *x)
{
        if (w->training && w->noise.embed_dropout > 0)
                each_block(w, NULL, x, drop);
}

void ran_encode(struct ran_workspace *w, const struct ran_params *p)
{
        ran_encode_embed(w, p);
        drop_embedding(w, w->x[0]);
        ran_encoder_of(w->c)->forward(w, p);
}

void ran_encode_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        ran_encoder_of(w->c)->backward(w, p, dp);
        ran_phase = RAN_PHASE_EMBEDDING;
        drop_embedding(w, w->dx);
}
