/* A Transformer, with whole arrays of scores. See naive.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "naive-parts.h"

static struct pair in_block(const struct naive *n, size_t l, const char *name)
{
        char whole[96];

        snprintf(whole, sizeof(whole), "transformer.%zu.%s", l, name);
        return naive_pair(n, whole);
}

static double similarity(int similarity, const double *q, const double *k, size_t d)
{
        double dot = 0, qq = 0, kk = 0, squares = 0, sizes = 0, root = sqrt((double)d);

        for (size_t e = 0; e < d; e++) {
                dot += q[e] * k[e];
                qq += q[e] * q[e];
                kk += k[e] * k[e];
                squares += (q[e] - k[e]) * (q[e] - k[e]);
                sizes += fabs(q[e] - k[e]);
        }
        switch (similarity) {
        case RAN_SIMILARITY_COSINE:
                return root * dot / (sqrt(qq * kk) + 1e-8);
        case RAN_SIMILARITY_EUCLIDEAN:
                return -sqrt(squares + 1e-8);
        case RAN_SIMILARITY_MANHATTAN:
                return -sizes / root;
        default:
                return dot / root;
        }
}

/* Head j of a (L, E), from rows of E, by the pattern of that head. */
static void attend_by(const struct naive *n, size_t j, double *a, const double *q, const double *k,
                      const double *v, size_t L)
{
        const struct ran_config *c = n->c;
        size_t d = c->head_dim, E = c->heads * d;
        double *score = doubles(L);
        struct ran_mask m;

        if (ran_mask_init(&m, c->transformer.attention.item[c->transformer.attention.n > 1 ? j : 0],
                          c->window, c->transformer.dilation, c->mask, L, n->sources,
                          NULL) != RAN_OK)
                abort();
        for (size_t i = 0; i < L; i++) {
                for (size_t t = 0; t < L; t++)
                        score[t] = ran_mask_count(&m, i, i + 1, t, t + 1) == 1
                                           ? similarity(c->transformer.similarity,
                                                        q + i * E + j * d, k + t * E + j * d, d)
                                           : -INFINITY;
                naive_softmax(score, L);
                for (size_t e = j * d; e < (j + 1) * d; e++) {
                        a[i * E + e] = 0;
                        for (size_t t = 0; t < L; t++)
                                a[i * E + e] += score[t] * v[t * E + e];
                }
        }
        free(score);
}

/* x (L, D) += Linear_out(Attn(LN(x))) */
static void add_attention(const struct naive *n, size_t l, double *x, size_t L)
{
        size_t D = n->c->dim, h = n->c->heads, d = n->c->head_dim, E = h * d;
        const struct pair norms = in_block(n, l, "attn_norm");
        double *z = doubles(L * D), *a = doubles(L * E);
        double *q = doubles(L * E), *k = doubles(L * E), *v = doubles(L * E);

        memcpy(z, x, L * D * sizeof(*z));
        naive_norm(n, z, &norms, L);
        naive_linear(n, q, z, in_block(n, l, "attn.q"), L, false);
        naive_linear(n, k, z, in_block(n, l, "attn.k"), L, false);
        naive_linear(n, v, z, in_block(n, l, "attn.v"), L, false);
        for (size_t t = 0; t < L && n->c->rotary; t++) {
                naive_rotate(q + t * E, t, h, d);
                naive_rotate(k + t * E, t, h, d);
        }
        for (size_t j = 0; j < h; j++)
                attend_by(n, j, a, q, k, v, L);
        naive_linear(n, z, a, in_block(n, l, "attn.out"), L, false);
        naive_drop(n, z, L * D, 0, l, RAN_DROP_ATTENTION, n->noise.dropout);
        for (size_t i = 0; i < L * D; i++)
                x[i] += z[i];
        free(z);
        free(a);
        free(q);
        free(k);
        free(v);
}

/* x (L, D) += Linear_down(GELU(Linear_up(LN(x)))) */
static void add_feed(const struct naive *n, size_t l, double *x, size_t L)
{
        size_t D = n->c->dim, f = n->c->ffn_dim;
        const struct pair norms = in_block(n, l, "ffn_norm");
        double *z = doubles(L * D), *up = doubles(L * f);

        memcpy(z, x, L * D * sizeof(*z));
        naive_norm(n, z, &norms, L);
        naive_linear(n, up, z, in_block(n, l, "ffn.up"), L, false);
        for (size_t i = 0; i < L * f; i++)
                up[i] *= 0.5 * erfc(-up[i] / sqrt(2));
        naive_linear(n, z, up, in_block(n, l, "ffn.down"), L, false);
        naive_drop(n, z, L * D, 0, l, RAN_DROP_FEED, n->noise.dropout);
        for (size_t i = 0; i < L * D; i++)
                x[i] += z[i];
        free(z);
        free(up);
}

static void read_blocks(const struct naive *n, double *x, const uint32_t *ids, size_t L)
{
        const struct pair norms = naive_pair(n, "transformer.norm");

        naive_read_tokens(n, x, ids, L);
        for (size_t l = 0; l < n->c->layers; l++) {
                add_attention(n, l, x, L);
                add_feed(n, l, x, L);
        }
        naive_norm(n, x, &norms, L);
}

void naive_read_pooled(const struct naive *n, double *v, const uint32_t *ids, size_t L)
{
        double *x = doubles(L * n->c->dim);

        read_blocks(n, x, ids, L);
        naive_pool(n, v, x, L);
        free(x);
}
