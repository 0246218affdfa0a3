/* A Contextualizer, token by token. See naive.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "naive-parts.h"

static struct pair in_step(const struct naive *n, size_t l, const char *name)
{
        char whole[96];

        snprintf(whole, sizeof(whole), "contextualizer.%zu.%s", l, name);
        return naive_pair(n, whole);
}

/* x (L, D): each column by the softmax of its position weight over 1 ... L. */
static void weigh_positions(const struct naive *n, double *x, const double *position, size_t L)
{
        size_t D = n->c->dim;
        double *p = doubles(L);

        for (size_t j = 0; j < D; j++) {
                for (size_t t = 0; t < L; t++)
                        p[t] = (double)(t + 1) * position[j];
                naive_softmax(p, L);
                for (size_t t = 0; t < L; t++)
                        x[t * D + j] *=
                                p[t] * (n->c->contextualizer.position_scale ? (double)L : 1);
        }
        free(p);
}

static void first_context(const struct naive *n, double *c)
{
        uint64_t key = ran_random_key(n->seed, RAN_FOR_CONTEXT, n->noise.epoch, n->record);
        const struct pair learned = naive_pair(n, "contextualizer.context");

        for (size_t d = 0; d < n->c->dim; d++)
                c[d] = n->c->contextualizer.context == RAN_CONTEXT_LEARNED ? learned.w[d]
                       : n->c->contextualizer.context == RAN_CONTEXT_RANDOM
                               ? 2 * ran_random_uniform(key, d) - 1
                               : 1;
}

static double length(const double *x, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += x[i] * x[i];
        return sqrt(sum);
}

static void step(const struct naive *n, size_t l, double *c, const double *x, size_t L)
{
        size_t D = n->c->dim, u = n->c->contextualizer.rank;
        const struct pair norms = in_step(n, l, "norm");
        double *z = doubles(D), *alpha = doubles(D), *vc = doubles(u), *mixed = doubles(u);

        naive_linear(n, vc, c, in_step(n, l, "v"), 1, false);
        for (size_t t = 0; t < L; t++) {
                naive_linear(n, mixed, x + t * D, in_step(n, l, "u"), 1, false);
                for (size_t r = 0; r < u; r++)
                        mixed[r] *= vc[r];
                naive_linear(n, alpha, mixed, in_step(n, l, "w"), 1, false);
                for (size_t d = 0; d < D; d++) {
                        alpha[d] *= x[t * D + d];
                        z[d] += alpha[d];
                }
                if (n->seen.steps != NULL)
                        n->seen.steps[l * L + t] = length(alpha, D);
        }
        naive_norm(n, z, &norms, 1);
        naive_drop(n, z, D, 0, l, RAN_DROP_ATTENTION, n->noise.dropout);
        if (n->seen.update != NULL)
                n->seen.update[l] = length(z, D);
        for (size_t d = 0; d < D; d++)
                c[d] += z[d];
        free(z);
        free(alpha);
        free(vc);
        free(mixed);
}

void naive_read_context(const struct naive *n, double *c, const uint32_t *ids, size_t L)
{
        double *x = doubles(L * n->c->dim);

        naive_read_tokens(n, x, ids, L);
        weigh_positions(n, x, naive_pair(n, "contextualizer.position").w, L);
        first_context(n, c);
        for (size_t l = 0; l < n->c->layers; l++)
                step(n, l, c, x, L);
        free(x);
}
