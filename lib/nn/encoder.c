/* encoder.c - from token ids to hidden states along the list of parts, and back: see part.h. */
#include "math/simd.h"
#include "nn/part.h"
#include "nn/rows.h"
#include "nn/unread.h"
#include "ran/model.h"

void ran_encoder_state_init(struct ran_recurrent_state *state, const struct ran_config *c)
{
        const struct ran_part *encoder = ran_encoder_of(c);

        ran_recurrent_state_init(state, c,
                                 encoder->state_width != NULL ? encoder->state_width(c) : 0);
}

size_t ran_encoder_state_tokens(const struct ran_config *c)
{
        return ran_encoder_of(c)->state_windows ? c->window : 1;
}

size_t ran_encoder_states(const struct ran_config *c, size_t tokens)
{
        const struct ran_part *encoder = ran_encoder_of(c);
        const size_t states = tokens / ran_encoder_state_tokens(c);

        return encoder->states_kept != NULL ? encoder->states_kept(c, states) : states;
}

/* ---- rows: one of each token, of which those of the spelling of its word are a part ---------- */

/* Tokens of a document, in blocks for threads. */
struct tokens {
        const struct ran_workspace *w;
        const struct ran_params *p;
        size_t b;
        float *x; /* rows of the first token */
};

/* fn for the rows of all tokens, which begin at x. */
static void each_block(const struct ran_workspace *w, const struct ran_params *p, float *x,
                       ran_rows_block *fn)
{
        const size_t *doc = w->packed->doc;

        for (size_t b = 0; b < w->packed->B; b++) {
                struct tokens k = {w, p, b, x + doc[b] * w->D};
                const struct ran_rows rows = {
                        .pool = w->pool, .n = doc[b + 1] - doc[b], .block = 512};

                ran_rows_each(&rows, fn, &k);
        }
}

static void drop(void *arg, size_t from, size_t n)
{
        const struct tokens *k = arg;
        const struct ran_workspace *w = k->w;

        ran_workspace_dropout(w, k->b, 0, RAN_DROP_EMBED, w->noise.embed_dropout,
                              k->x + from * w->D, n * w->D, from * w->D);
}

/* A token's row: its subword's and, in models with spelling, those of its word's features. */
static void embed(void *arg, size_t from, size_t n)
{
        const struct tokens *k = arg;
        const struct ran_packed *packed = k->w->packed;
        size_t D = k->w->D, features = k->p->spelling != NULL ? RAN_SPELLING : 0;

        for (size_t t = from; t < from + n; t++) {
                size_t at = packed->doc[k->b] + t;
                float *x = k->x + t * D;

                ran_embed_row(k->p, packed->ids[at], D, x);
                for (size_t i = at * features; i < (at + 1) * features; i++)
                        ran_simd->add(x, k->p->spelling + packed->spelling[i] * D, D);
        }
}

void ran_encode_embed(struct ran_workspace *w, const struct ran_params *p)
{
        const bool before = ran_params_portable(p);

        if (w->parts.encoder != NULL && !w->streams)
                each_block(w, p, w->x[0], embed);
        ran_portable = before;
}

/* Drops some of x, the rows or their adjoints, in training. */
static void drop_rows(struct ran_workspace *w, const struct ran_params *p, float *x)
{
        if (w->parts.encoder != NULL && p->below == NULL && w->training &&
            w->noise.embed_dropout > 0)
                each_block(w, NULL, x, drop);
}

/* ---- the encoder ----------------------------------------------------------------------------- */

void ran_encode_rows(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_part *encoder = w->parts.encoder;
        const bool before = ran_params_portable(p);

        if (encoder != NULL && encoder->forward != NULL)
                encoder->forward(w, p);
        ran_portable = before;
}

void ran_encode(struct ran_workspace *w, const struct ran_params *p)
{
        ran_encode_embed(w, p);
        drop_rows(w, p, w->x[0]);
        ran_encode_rows(w, p);
}

void ran_encode_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        const struct ran_part *encoder = w->parts.encoder;
        const bool before = ran_params_portable(p); /* steps are computed again */

        ran_unread_read(p->unread);
        if (encoder != NULL && encoder->backward != NULL)
                encoder->backward(w, p, dp);
        ran_portable = before;
        drop_rows(w, p, w->dx);
}

void ran_part_probe_heads(const struct ran_config *c, struct ran_probe_shape *shape)
{
        shape->table[RAN_PROBE_HEADS] = (struct ran_probe_table){RAN_AXIS_TOKENS, RAN_AXIS_TOKENS,
                                                                 shape->L, shape->L, c->heads};
}

void ran_part_path(const float *x, size_t D, double u, double *scale, double *speed)
{
        (void)x, (void)D;
        *scale = u * u * u;
        *speed = 3 * u * u;
}
