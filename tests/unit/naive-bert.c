/* naive-bert.c - see naive.h: an encoder of the BERT family, window by window, with a whole matrix
 * of scores, in double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "nn/workspace.h"
#include "naive.h"

/* Rows of a window, and where they stand in their document. */
struct rows {
        const struct naive *n;
        size_t R, at, t; /* its first token in the document */
        double *x;       /* (R, D) */
};

/* A tensor; NULL if the model has none of that name. */
static const double *tensor(const struct naive *n, const char *name)
{
        for (size_t i = 0; i < n->layout->n; i++)
                if (strcmp(n->layout->spec[i].name, name) == 0)
                        return n->block + n->layout->spec[i].offset;
        return NULL;
}

static const double *of_layer(const struct naive *n, size_t l, const char *name)
{
        char whole[96];

        snprintf(whole, sizeof(whole), "bert.%zu.%s", l, name);
        return tensor(n, whole);
}

static void linear(double *y, const double *x, const double *w, const double *b, size_t R, size_t I,
                   size_t O)
{
        for (size_t r = 0; r < R; r++)
                for (size_t o = 0; o < O; o++) {
                        double sum = b != NULL ? b[o] : 0;

                        for (size_t i = 0; i < I; i++)
                                sum += x[r * I + i] * w[o * I + i];
                        y[r * O + o] = sum;
                }
}

static void norm(const struct naive *n, double *x, const double *w, const double *b, size_t R,
                 size_t D)
{
        for (size_t r = 0; r < R; r++, x += D) {
                double mean = 0, square = 0;

                for (size_t i = 0; i < D; i++)
                        mean += x[i] / (double)D;
                for (size_t i = 0; i < D; i++)
                        square += (x[i] - mean) * (x[i] - mean) / (double)D;
                for (size_t i = 0; i < D; i++)
                        x[i] = (x[i] - mean) / sqrt(square + n->c->bert.norm_eps) * w[i] +
                               (b != NULL ? b[i] : 0);
        }
}

static double activate(int activation, double x)
{
        switch (activation) {
        case RAN_ACTIVATION_GELU:
                return x * 0.5 * erfc(-x / sqrt(2));
        case RAN_ACTIVATION_GELU_TANH:
                return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
        case RAN_ACTIVATION_RELU:
                return x > 0 ? x : 0;
        case RAN_ACTIVATION_SILU:
                return x / (1 + exp(-x));
        case RAN_ACTIVATION_TANH:
                return tanh(x);
        default:
                return x;
        }
}

/* The bias of a key at that distance behind the query. */
static double bias(const struct naive *n, long distance, size_t head)
{
        const double *relative = tensor(n, "bert.relative.weight");
        const long half = (long)n->c->bert.buckets / 2, single = half / 2, far = labs(distance);
        long bucket = far;

        if (n->c->bert.buckets == 0)
                return 0;
        if (far >= single && single > 0)
                bucket = single +
                         (long)(log((double)far / (double)single) / log(128.0 / (double)single) *
                                        (double)(half - single) +
                                1e-9);
        bucket = bucket < half ? bucket : half - 1;
        return relative[(size_t)(bucket + (distance > 0 ? half : 0)) * n->c->heads + head];
}

static bool is_global(const struct naive *n, size_t l)
{
        return l % n->c->bert.global_every == 0;
}

/* Pairs (2k, 2k + 1) of every head of a row. */
static void rotate(const struct naive *n, size_t l, double *x, size_t position)
{
        const struct ran_config *c = n->c;
        const double base = is_global(n, l) ? c->bert.rotary_base : c->bert.rotary_base_local;

        for (size_t i = 0; i < c->heads * c->head_dim; i += 2) {
                const double angle = (double)position *
                                     pow(base, -(double)(i % c->head_dim) / (double)c->head_dim);
                const double u = x[i], v = x[i + 1];

                x[i] = u * cos(angle) - v * sin(angle);
                x[i + 1] = u * sin(angle) + v * cos(angle);
        }
}

/* The attention of row i to row t, if both are tokens and somebody wants it. */
static void see(const struct rows *w, size_t l, size_t head, size_t i, size_t t, double weight)
{
        const struct naive *n = w->n;
        const size_t prefix = n->c->bert.prefix, end = w->R - n->c->bert.suffix, L = n->rows;

        if (n->seen.heads != NULL && i >= prefix && i < end && t >= prefix && t < end)
                n->seen.heads[((l * n->c->heads + head) * L + w->t + i - prefix) * L + w->t + t -
                              prefix] = weight;
}

/* a (R, E) of query i and head j. */
static void attend(const struct rows *w, size_t l, double *a, const double *q, const double *k,
                   const double *v, size_t i, size_t j)
{
        const struct naive *n = w->n;
        const size_t d = n->c->head_dim, E = n->c->heads * d, R = w->R;
        double *p = doubles(R), sum = 0;

        for (size_t t = 0; t < R; t++) {
                const long distance = (long)t - (long)i;
                double score = 0;

                for (size_t e = j * d; e < (j + 1) * d; e++)
                        score += q[i * E + e] * k[t * E + e];
                if (is_global(n, l) || labs(distance) <= (long)n->c->window / 2)
                        p[t] = exp(score / sqrt((double)d) + bias(n, distance, j));
                sum += p[t];
        }
        for (size_t e = j * d; e < (j + 1) * d; e++) {
                a[i * E + e] = 0;
                for (size_t t = 0; t < R; t++)
                        a[i * E + e] += p[t] / sum * v[t * E + e];
        }
        for (size_t t = 0; t < R; t++)
                see(w, l, j, i, t, p[t] / sum);
        free(p);
}

static void drop(const struct rows *w, double *x, size_t l, int site)
{
        const size_t D = w->n->c->dim, count = w->R * D;
        float *factor = malloc(count * sizeof(*factor));

        for (size_t i = 0; i < count; i++)
                factor[i] = 1;
        ran_dropout(&w->n->noise, w->n->record, l, site, w->n->noise.dropout, factor, count,
                    w->at * D);
        for (size_t i = 0; i < count; i++)
                x[i] *= (double)factor[i];
        free(factor);
}

static void add(double *x, const double *y, size_t n)
{
        for (size_t i = 0; i < n; i++)
                x[i] += y[i];
}

static void add_attention(const struct rows *w, size_t l)
{
        const struct naive *n = w->n;
        const struct ran_config *c = n->c;
        const size_t D = c->dim, E = c->heads * c->head_dim, R = w->R;
        const double *norm_w = of_layer(n, l, "attn_norm.weight");
        const double *norm_b = of_layer(n, l, "attn_norm.bias");
        double *z = doubles(R * D), *a = doubles(R * E);
        double *q = doubles(R * E), *k = doubles(R * E), *v = doubles(R * E);

        memcpy(z, w->x, R * D * sizeof(*z));
        if (c->bert.norm_first && norm_w != NULL)
                norm(n, z, norm_w, norm_b, R, D);
        linear(q, z, of_layer(n, l, "attn.q.weight"), of_layer(n, l, "attn.q.bias"), R, D, E);
        linear(k, z, of_layer(n, l, "attn.k.weight"), of_layer(n, l, "attn.k.bias"), R, D, E);
        linear(v, z, of_layer(n, l, "attn.v.weight"), of_layer(n, l, "attn.v.bias"), R, D, E);
        for (size_t t = 0; t < R && c->rotary; t++) {
                rotate(n, l, q + t * E, t);
                rotate(n, l, k + t * E, t);
        }
        for (size_t j = 0; j < c->heads; j++)
                for (size_t i = 0; i < R; i++)
                        attend(w, l, a, q, k, v, i, j);
        linear(z, a, of_layer(n, l, "attn.out.weight"), of_layer(n, l, "attn.out.bias"), R, E, D);
        drop(w, z, l, RAN_DROP_ATTENTION);
        add(w->x, z, R * D);
        if (!c->bert.norm_first)
                norm(n, w->x, norm_w, norm_b, R, D);
        free(z);
        free(a);
        free(q);
        free(k);
        free(v);
}

static void add_feed(const struct rows *w, size_t l)
{
        const struct naive *n = w->n;
        const struct ran_config *c = n->c;
        const size_t D = c->dim, F = c->ffn_dim, R = w->R;
        const double *norm_w = of_layer(n, l, "ffn_norm.weight");
        const double *norm_b = of_layer(n, l, "ffn_norm.bias");
        double *z = doubles(R * D), *up = doubles(R * F), *gate = doubles(R * F);

        memcpy(z, w->x, R * D * sizeof(*z));
        if (c->bert.norm_first)
                norm(n, z, norm_w, norm_b, R, D);
        linear(up, z, of_layer(n, l, "ffn.up.weight"), of_layer(n, l, "ffn.up.bias"), R, D, F);
        if (c->bert.gated)
                linear(gate, z, of_layer(n, l, "ffn.gate.weight"), of_layer(n, l, "ffn.gate.bias"),
                       R, D, F);
        for (size_t i = 0; i < R * F; i++)
                up[i] = activate(c->bert.activation, up[i]) * (c->bert.gated ? gate[i] : 1);
        linear(z, up, of_layer(n, l, "ffn.down.weight"), of_layer(n, l, "ffn.down.bias"), R, F, D);
        drop(w, z, l, RAN_DROP_FEED);
        add(w->x, z, R * D);
        if (!c->bert.norm_first)
                norm(n, w->x, norm_w, norm_b, R, D);
        free(z);
        free(up);
        free(gate);
}

/* A window of m tokens, whose rows in front of the layers are given. */
static void read_window(const struct rows *w)
{
        const struct naive *n = w->n;
        const size_t D = n->c->dim;
        const double *position = tensor(n, "bert.position.weight");

        if (position != NULL)
                add(w->x, position, w->R * D);
        norm(n, w->x, tensor(n, "bert.embed_norm.weight"), tensor(n, "bert.embed_norm.bias"), w->R,
             D);
        for (size_t l = 0; l < n->c->layers; l++) {
                add_attention(w, l);
                add_feed(w, l);
        }
        if (n->c->bert.norm_first)
                norm(n, w->x, tensor(n, "bert.norm.weight"), tensor(n, "bert.norm.bias"), w->R, D);
}

/* v (width) of a window. */
static void window_vector(const struct rows *w, double *v)
{
        const struct naive *n = w->n;
        const struct ran_config *c = n->c;
        const size_t D = c->dim;
        double *pooled = doubles(D);

        for (size_t d = 0; d < D; d++) {
                double top = -INFINITY, sum = 0;

                for (size_t r = c->bert.pool_skip; r < w->R; r++) {
                        top = fmax(top, w->x[r * D + d]);
                        sum += w->x[r * D + d];
                }
                pooled[d] = c->pooling == RAN_POOL_MAX    ? top
                            : c->pooling == RAN_POOL_MEAN ? sum / (double)(w->R - c->bert.pool_skip)
                            : c->pooling == RAN_POOL_CLS  ? w->x[d]
                                                          : w->x[(w->R - 1) * D + d];
        }
        if (c->bert.dense == 0) {
                memcpy(v, pooled, D * sizeof(*v));
        } else {
                linear(v, pooled, tensor(n, "bert.dense.weight"), tensor(n, "bert.dense.bias"), 1,
                       D, c->bert.dense);
                for (size_t i = 0; i < c->bert.dense; i++)
                        v[i] = activate(c->bert.dense_activation, v[i]);
                if (c->bert.dense_norm)
                        norm(n, v, tensor(n, "bert.dense_norm.weight"),
                             tensor(n, "bert.dense_norm.bias"), 1, c->bert.dense);
        }
        free(pooled);
}

/* The rows of a window of m tokens: those around it, and x (m, D) of its tokens. */
static void lay_rows(struct rows *w, const double *x, size_t m)
{
        const struct ran_config *c = w->n->c;
        const size_t D = c->dim;

        for (size_t i = 0; i < c->bert.prefix * D; i++)
                w->x[i] = tensor(w->n, "bert.prefix.weight")[i];
        memcpy(w->x + c->bert.prefix * D, x, m * D * sizeof(*x));
        for (size_t i = 0; i < c->bert.suffix * D; i++)
                w->x[(c->bert.prefix + m) * D + i] = tensor(w->n, "bert.suffix.weight")[i];
}

/* Makes v that long. */
static void stretch(double *v, size_t n, double length)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += v[i] * v[i];
        for (size_t i = 0; i < n; i++)
                v[i] *= length / sqrt(sum);
}

void naive_bert(const struct naive *n, double *v, double *tokens, double *each, const double *x,
                size_t L)
{
        const struct ran_config *c = n->c;
        const size_t around = c->bert.prefix + c->bert.suffix, room = c->bert.max_length - around;
        const size_t windows = (L + room - 1) / room,
                     width = c->bert.dense > 0 ? c->bert.dense : c->dim;
        const double all = (double)(L + windows * (around - c->bert.pool_skip));
        double *one = doubles(width);
        struct rows w = {.n = n};

        const bool own = c->upper != RAN_UPPER_POOLING;
        const bool top = own ? c->upper == RAN_UPPER_MAX : c->pooling == RAN_POOL_MAX;

        for (size_t d = 0; d < width; d++)
                v[d] = top ? -INFINITY : 0;
        for (size_t i = 0, t = 0; i < windows; i++) {
                const size_t m = L / windows + (i < L % windows);

                w.R = m + around;
                w.t = t;
                w.x = doubles(w.R * c->dim);
                lay_rows(&w, x + t * c->dim, m);
                read_window(&w);
                window_vector(&w, one);
                if (own && c->bert.l2_normalize)
                        stretch(one, width, sqrt((double)width));
                for (size_t d = 0; d < width; d++)
                        v[d] = top ? fmax(v[d], one[d])
                               : !own && c->pooling == RAN_POOL_MEAN
                                       ? v[d] + one[d] * (double)(w.R - c->bert.pool_skip) / all
                                       : v[d] + one[d] / (double)windows;
                if (tokens != NULL)
                        memcpy(tokens + t * c->dim, w.x + c->bert.prefix * c->dim,
                               m * c->dim * sizeof(*tokens));
                if (each != NULL)
                        memcpy(each + i * width, one, width * sizeof(*each));
                free(w.x);
                w.at += w.R;
                t += m;
        }
        if (c->bert.l2_normalize)
                stretch(v, width, 1);
        free(one);
}

size_t naive_windows(const struct naive *n, size_t L)
{
        const size_t room = n->c->bert.max_length - n->c->bert.prefix - n->c->bert.suffix;

        return (L + room - 1) / room;
}
