/* certain.c - the vector of the window whose label is most certain, for the whole document: see
 * upper.h. */
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "part/upper/upper.h"

#include <math.h>
#include <string.h>

/* How certain a window is, by its logits (C). */
static double certainty(const float *logits, size_t C, bool multilabel)
{
        double most = (double)logits[0], sum = 0;

        for (size_t c = 1; c < C; c++)
                most = fmax(most, (double)logits[c]);
        if (multilabel)
                return most;
        for (size_t c = 0; c < C; c++)
                sum += ran_exp((double)logits[c] - most);
        return 1 / sum; /* the probability of that label */
}

/* Document by document, so that products have the rows that they have for one alone. */
void ran_upper_choose(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_upper_memory *own = ran_upper_memory_of(w);
        const size_t D = w->D, C = w->size.C;

        for (size_t b = 0; b < w->packed->B; b++) {
                const size_t first = own->first[b], n = own->first[b + 1] - first;
                float *logits = own->rows.logits + first * C;
                double best = -INFINITY;

                ran_gemm_linear(w->pool, logits, C, own->x + first * D, D, p->head.w, p->head.b, n,
                                D, C);
                own->chosen[b] = first;
                for (size_t i = 0; i < n; i++) {
                        const double certain =
                                certainty(logits + i * C, C, w->c->classify.multilabel);

                        own->chosen[b] = certain > best ? first + i : own->chosen[b];
                        best = fmax(certain, best);
                }
                memcpy(w->head.head + b * D, own->x + own->chosen[b] * D, D * sizeof(float));
        }
}

void ran_upper_choose_bwd(struct ran_workspace *w, float *dx)
{
        const struct ran_upper_memory *own = ran_upper_memory_of(w);

        for (size_t b = 0; b < w->packed->B; b++)
                ran_simd->add(dx + own->chosen[b] * w->D, w->head.dhead + b * w->D, w->D);
}
