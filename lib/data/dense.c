/* dense.c - see dense.h. */
#include "data/dense.h"

#include <math.h>
#include <stdlib.h>

void ran_dense_release(struct ran_dense *k)
{
        ran_spool_release(&k->spool);
        *k = (struct ran_dense){0};
}

void ran_dense_frame_init(struct ran_dense_frame *t, const struct ran_dense *k,
                          const size_t *document, size_t n, bool alike)
{
        const size_t F = k->F;
        double all = 0;

        t->mean = ran_new(F, sizeof *t->mean);
        t->factor = ran_new(F, sizeof *t->factor);
        for (size_t i = 0; i < n; i++)
                for (size_t f = 0; f < F; f++)
                        t->mean[f] += (double)k->v[document[i] * F + f] / (double)n;
        for (size_t i = 0; i < n; i++)
                for (size_t f = 0; f < F; f++) {
                        double x = (double)k->v[document[i] * F + f] - t->mean[f];

                        t->factor[f] += x * x / (double)n;
                }
        for (size_t f = 0; f < F; f++)
                all += t->factor[f];
        for (size_t f = 0; f < F; f++) {
                /* below that it is rounding, not a difference of documents */
                const double least = 1e-12 * (t->mean[f] * t->mean[f] + 1e-12);

                if (t->factor[f] > least)
                        t->factor[f] = 1 / sqrt(alike ? all : t->factor[f] * (double)F);
                else
                        t->factor[f] = 0;
        }
}

void ran_dense_frame_release(struct ran_dense_frame *t)
{
        free(t->mean);
        free(t->factor);
        *t = (struct ran_dense_frame){0};
}

void ran_dense_fold(const struct ran_dense_frame *t, size_t F, size_t C, const float *of_x,
                    float *of_v, float *bias)
{
        for (size_t c = 0; c < C; c++) {
                double sum = 0;

                for (size_t f = 0; f < F; f++) {
                        float w = (float)((double)of_x[f * C + c] * t->factor[f]);

                        of_v[f * C + c] = w;
                        sum += (double)w * t->mean[f];
                }
                bias[c] = (float)((double)bias[c] - sum);
        }
}
