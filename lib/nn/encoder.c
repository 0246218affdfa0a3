/* encoder.c - from token ids to hidden states along the list of parts, and back: see part.h. */
#include "nn/part.h"
#include "ran/model.h"
#include "nn/unread.h"

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

void ran_encode_embed(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_part_list *parts = &w->parts;
        const bool before = ran_params_portable(p);

        for (size_t i = 0; i < parts->n && !w->streams; i++)
                if (parts->part[i]->rows != NULL)
                        parts->part[i]->rows(w, p);
        ran_portable = before;
}

static void drop(struct ran_workspace *w, float *x)
{
        const struct ran_part_list *parts = &w->parts;

        for (size_t i = 0; i < parts->n; i++)
                if (parts->part[i]->drop_rows != NULL)
                        parts->part[i]->drop_rows(w, x);
}

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
        if (p->below == NULL)
                drop(w, w->x[0]);
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
        if (p->below == NULL)
                drop(w, w->dx);
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
