/* encoder.c - from ids to rows, whichever encoder works on them, and back. */
#include "model/encoder.h"
#include "math/simd.h"

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
                [RAN_ENCODER_CONTEXTUALIZER] = &ran_contextualizer,
                [RAN_ENCODER_TRANSFORMER] = &ran_transformer,
        };

        return encoders[c->encoder];
}

/* A token is its piece and, where the model looks at it, the spelling of its word. */
void ran_embed(struct ran_work *w, const struct ran_params *p)
{
        const struct ran_rows *rows = w->rows;
        size_t D = w->D, features = p->spelling != NULL ? RAN_SPELLING : 0;

        ran_phase = RAN_PHASE_EMBEDDING;
        for (size_t t = 0; t < rows->L; t++) {
                float *x = w->x[0] + t * D;

                memcpy(x, p->embed + rows->ids[t] * D, D * sizeof(float));
                for (size_t i = t * features; i < (t + 1) * features; i++)
                        ran_simd->add(x, p->spelling + rows->spelling[i] * D, D);
        }
}

void ran_encode(struct ran_work *w, const struct ran_params *p)
{
        ran_embed(w, p);
        drop_embedding(w, w->x[0]);
        ran_encoder_of(w->c)->forward(w, p);
}

void ran_encode_bwd(struct ran_work *w, const struct ran_params *p, struct ran_params *dp)
{
        ran_encoder_of(w->c)->backward(w, p, dp);
        ran_phase = RAN_PHASE_EMBEDDING;
        drop_embedding(w, w->dx);
}
