/* head.c - what heads share: see part.h. The heads themselves are in task/. */
#include "nn/part.h"
#include "ran/model.h"

#include <string.h>

/* ---- outputs at word positions -------------------------------------------------------------- */

static void drop_positions(struct ran_workspace *w, float *h)
{
        const struct ran_packed *packed = w->packed;
        const size_t H = w->D;

        for (size_t b = 0; b < packed->B; b++)
                ran_workspace_dropout(
                        w, b, 0, RAN_DROP_HEAD, w->noise.dropout, h + packed->doc_position[b] * H,
                        (packed->doc_position[b + 1] - packed->doc_position[b]) * H, 0);
}

void ran_head_positions(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_packed *packed = w->packed;
        const size_t D = w->D;

        for (size_t i = 0; i < packed->positions; i++)
                memcpy(w->head.head + i * D, w->x[w->c->layers] + packed->position[i] * D,
                       D * sizeof(float));
        if (w->parts.encoder->outputs != NULL)
                w->parts.encoder->outputs(w, p);
        drop_positions(w, w->head.head);
}

void ran_head_positions_bwd(struct ran_workspace *w, const struct ran_params *p,
                            struct ran_params *dp)
{
        const struct ran_packed *packed = w->packed;
        const size_t D = w->D;

        drop_positions(w, w->head.dhead);
        memset(w->dlast, 0, packed->B * D * sizeof(float));
        if (w->parts.encoder->outputs_bwd != NULL)
                w->parts.encoder->outputs_bwd(w, p, dp);
        memset(w->dx, 0, packed->L * D * sizeof(float));
        for (size_t i = 0; i < packed->positions; i++)
                memcpy(w->dx + packed->position[i] * D, w->head.dhead + i * D, D * sizeof(float));
}

/* ---- by task -------------------------------------------------------------------------------- */

void ran_head(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        const bool before = ran_params_portable(p);

        ran_task_of(w->c)->head(w, p, C);
        ran_portable = before;
}

void ran_head_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                  size_t C)
{
        const bool before = ran_params_portable(p);

        ran_task_of(w->c)->head_bwd(w, p, dp, C);
        ran_portable = before;
}
