/* encoder.c - from ids to rows, whichever encoder works on them, and back. */
#include "model/encoder.h"

#include <string.h>

static void drop_embedding(struct ran_work *w, float *x)
{
        const struct ran_rows *rows = w->rows;

        for (size_t b = 0; b < rows->B; b++)
                ran_drop(w, b, 0, RAN_DROP_EMBED, w->noise.embed_dropout, x + rows->doc[b] * w->D,
                         (rows->doc[b + 1] - rows->doc[b]) * w->D, 0);
}

const struct ran_encoder *ran_encoder_of(const struct ran_config *c)
{
        static const struct ran_encoder *const encoders[] = {
                [RAN_ENCODER_RAN] = &ran_recurrent,
        };

        return encoders[c->encoder];
}

void ran_encode(struct ran_work *w, const struct ran_params *p)
{
        for (size_t t = 0; t < w->rows->L; t++)
                memcpy(w->x[0] + t * w->D, p->embed + w->rows->ids[t] * w->D, w->D * sizeof(float));
        drop_embedding(w, w->x[0]);
        ran_encoder_of(w->c)->forward(w, p);
}

void ran_encode_bwd(struct ran_work *w, const struct ran_params *p, struct ran_params *dp)
{
        ran_encoder_of(w->c)->backward(w, p, dp);
        drop_embedding(w, w->dx);
}
