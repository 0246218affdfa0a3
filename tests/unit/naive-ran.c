/* A RAN: windows and cells, the review, layers of each kind of cell, and vectors of documents. See
 * naive.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "naive-parts.h"

/* ---- a window -------------------------------------------------------------------------------- */

/* Whether token i of the document sees token j. */
static bool sees(const struct naive *n, size_t i, size_t j)
{
        switch (n->c->mask) {
        case RAN_MASK_NONE:
                return true;
        case RAN_MASK_CAUSAL:
                return j <= i;
        default:
                return j < n->sources || (i >= n->sources && j <= i);
        }
}

/* The cell, row 0 of a window, sees all and is seen by all; row r is token from + r - 1. */
static bool row_sees(const struct naive *n, size_t from, size_t r, size_t s)
{
        return r == 0 || s == 0 || sees(n, from + r - 1, from + s - 1);
}

/* a (n, E) = all heads of softmax(Q K^T / sqrt(d_k) + M) V, equation (3). from: the window's
 * first token. */
static void attend(const struct naive *n, double *a, const double *q, const double *k,
                   const double *v, size_t rows, size_t from, size_t l, size_t at)
{
        size_t h = n->c->heads, d = n->c->head_dim, E = h * d;
        double *score = doubles(rows);

        for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < h; j++) {
                        for (size_t t = 0; t < rows; t++) {
                                score[t] = 0;
                                for (size_t e = j * d; e < (j + 1) * d; e++)
                                        score[t] += q[i * E + e] * k[t * E + e] / sqrt((double)d);
                                if (!row_sees(n, from, i, t))
                                        score[t] = -INFINITY;
                        }
                        naive_softmax(score, rows);
                        for (size_t t = 0; t < rows && n->seen.heads != NULL; t++)
                                n->seen.heads[((l * h + j) * n->rows + at + i) * n->rows + at + t] =
                                        score[t];
                        for (size_t e = j * d; e < (j + 1) * d; e++) {
                                a[i * E + e] = 0;
                                for (size_t t = 0; t < rows; t++)
                                        a[i * E + e] += score[t] * v[t * E + e];
                        }
                }
        free(score);
}

/* P (rows, D) from Z (rows, D): equations (2) and (3), and the output gate. */
static void mix(const struct naive *n, const struct naive_layer *p, double *P, const double *Z,
                size_t rows, size_t from, size_t at)
{
        size_t D = n->c->dim, E = n->c->heads * n->c->head_dim;
        double *q = doubles(rows * E), *k = doubles(rows * E), *v = doubles(rows * E);
        double *a = doubles(rows * E);

        naive_linear(n, q, Z, p->q, rows, true);
        naive_linear(n, k, Z, p->k, rows, true);
        naive_linear(n, v, Z, p->v, rows, true);
        for (size_t r = 0; r < rows && n->c->rotary; r++) {
                naive_rotate(q + r * E, r, n->c->heads, n->c->head_dim);
                naive_rotate(k + r * E, r, n->c->heads, n->c->head_dim);
        }
        attend(n, a, q, k, v, rows, from, p->l, at);
        naive_linear(n, P, a, p->out, rows, true);
        if (naive_is_prenorm(n)) /* the cell has a projection of its own */
                naive_linear(n, P, a, p->cell_out, 1, false);
        naive_drop(n, P, rows * D, at * D, p->l, RAN_DROP_ATTENTION, n->noise.dropout);
        if (naive_is_gated(n)) {
                naive_add_glu(n, P, Z, p->output, rows);
                naive_norm(n, P, &p->output_norm, rows);
        }
        free(q);
        free(k);
        free(v);
        free(a);
}

/* A window of w tokens x, `from` the first of them: Y (w, D), and G becomes the next cell. at: rows
 * of the document before its cell. */
static void window(const struct naive *n, const struct naive_layer *p, double *Y, double *G,
                   const double *x, size_t w, size_t from, size_t at)
{
        size_t D = n->c->dim;
        double *Z = doubles((w + 1) * D), *P = doubles((w + 1) * D);

        memcpy(Z, G, D * sizeof(*Z));
        memcpy(Z + D, x, w * D * sizeof(*Z));
        naive_norm(n, Z, &p->input_norm, w + 1);
        naive_drop(n, Z, (w + 1) * D, at * D, p->l, RAN_DROP_INPUT, n->noise.dropout);
        mix(n, p, P, Z, w + 1, from, at);
        naive_norm(n, P, NULL, w + 1); /* (5) */
        memcpy(Y, P + D, w * D * sizeof(*Y));
        if (n->c->ran.residual && naive_is_gated(n)) /* (6) */
                naive_add_glu(n, P, G, p->update, 1);
        else if (n->c->ran.residual)
                for (size_t i = 0; i < D; i++)
                        P[i] += G[i];
        naive_norm(n, P, &p->update_norm, 1);
        memcpy(G, P, D * sizeof(*G));
        free(Z);
        free(P);
}

/* ---- a layer --------------------------------------------------------------------------------- */

/* Whether the review's pattern has the distance of state j from the state where a token stands. */
static bool in_pattern(const struct ran_config *c, size_t stands, size_t j)
{
        size_t d = j > stands ? j - stands : stands - j, half = c->ran.review_window / 2,
               far = half;

        if (c->ran.review == RAN_REVIEW_ALL || d <= half)
                return true;
        for (size_t gap = 2; far < d; gap++)
                far += gap;
        return c->ran.review == RAN_REVIEW_DISPERSED && far == d;
}

/* Whether token t sees state j, that after window j, when reading L tokens in m windows. Under a
 * mask all see G_0, and a later state if its windows are before that of t or hold the source only.
 */
static bool sees_state(const struct naive *n, size_t t, size_t j, size_t m, size_t L)
{
        size_t W = n->c->window, own = t / W < m - 1 ? t / W : m - 1, end = j < m ? j * W : L;

        if (!in_pattern(n->c, n->c->mask == RAN_MASK_NONE ? own + 1 : own, j))
                return false;
        if (n->c->mask == RAN_MASK_NONE)
                return j > 0;
        return j == 0 || j - 1 < own || (n->c->mask == RAN_MASK_PREFIX && end <= n->sources);
}

/* Equation (9): x (L, D) from Y and the states S (m + 1, D), the first cell before them. With
 * review_source the source tokens of Y are further states, for target tokens. */
static void review(const struct naive *n, const struct naive_layer *p, double *x, const double *Y,
                   const double *S, size_t L, size_t m)
{
        size_t D = n->c->dim, cells = m + 1,
               states = cells + (n->c->ran.review_source ? n->sources : 0);
        double *q = doubles(L * D), *k = doubles(states * D), *v = doubles(states * D);
        double *R = doubles(L * D), *score = doubles(states);

        naive_linear(n, q, Y, p->review_q, L, true);
        naive_linear(n, k, S, p->review_k, cells, true);
        naive_linear(n, v, S, p->review_v, cells, true);
        naive_linear(n, k + cells * D, Y, p->review_k, states - cells, true);
        naive_linear(n, v + cells * D, Y, p->review_v, states - cells, true);
        for (size_t t = 0; t < L; t++) {
                for (size_t j = 0; j < states; j++) {
                        score[j] = 0;
                        for (size_t i = 0; i < D; i++)
                                score[j] += q[t * D + i] * k[j * D + i] / sqrt((double)D);
                        if (j < cells ? !sees_state(n, t, j, m, L) : t < n->sources)
                                score[j] = -INFINITY;
                }
                naive_softmax(score, states);
                for (size_t j = 0; j < cells && n->seen.review != NULL; j++)
                        n->seen.review[(p->l * L + t) * cells + j] = score[j];
                for (size_t j = 0; j < states; j++)
                        for (size_t i = 0; i < D; i++)
                                R[t * D + i] += score[j] * v[j * D + i];
        }
        memcpy(x, R, L * D * sizeof(*x));
        if (naive_is_prenorm(n))
                naive_linear(n, x, R, p->review_out, L, false);
        if (naive_is_gated(n)) {
                naive_linear(n, x, R, p->review_out, L, true);
                naive_drop(n, x, L * D, 0, p->l, RAN_DROP_REVIEW, n->noise.dropout);
                naive_add_glu(n, x, q, p->review, L);
                naive_norm(n, x, &p->review_norm, L);
        }
        free(q);
        free(k);
        free(v);
        free(R);
        free(score);
}

/* How many windows L tokens have: a last one that is too short joins the one before it. A minimum
 * above W counts as W. */
static size_t windows(const struct ran_config *c, size_t L)
{
        size_t least = c->min_window < c->window ? c->min_window : c->window, m = 0;

        while (m * c->window < L)
                m++;
        if (m > 1 && L - (m - 1) * c->window < least)
                m--;
        return m;
}

/* ---- a published layer ----
 */

/* A window of w tokens x: Y (w, D); c, of the window before or NULL, becomes that of this one, and
 * G what the next window begins with. */
static void published_window(const struct naive *n, const struct naive_layer *p, double *Y,
                             double *G, double *c, bool first, const double *x, size_t w,
                             size_t from, size_t at)
{
        size_t D = n->c->dim;
        double *Z = doubles((w + 1) * D), *P = doubles((w + 1) * D);

        memcpy(Z, G, D * sizeof(*Z));
        memcpy(Z + D, x, w * D * sizeof(*Z));
        naive_norm(n, Z, &p->input_norm, w + 1);
        naive_drop(n, Z, (w + 1) * D, at * D, p->l, RAN_DROP_INPUT, n->noise.dropout);
        mix(n, p, P, Z, w + 1, from, at);
        naive_norm(n, P, NULL, w + 1);
        memcpy(Y, P + D, w * D * sizeof(*Y));
        memcpy(G, P, D * sizeof(*G));
        if (!first && n->c->ran.residual)
                naive_add_glu(n, G, c, p->update, 1);
        if (!first)
                naive_norm(n, G, &p->update_norm, 1);
        memcpy(c, P, D * sizeof(*c));
        free(Z);
        free(P);
}

static void pool_cells(const struct naive *n, double *cell, const double *S, size_t m)
{
        size_t D = n->c->dim;

        for (size_t d = 0; d < D; d++) {
                double top = -INFINITY, sum = 0;

                for (size_t i = 1; i <= m; i++) {
                        top = fmax(top, S[i * D + d]);
                        sum += S[i * D + d];
                }
                if (n->c->ran.cell_pooling != RAN_POOL_LAST)
                        cell[d] = n->c->ran.cell_pooling == RAN_POOL_MAX ? top : sum / (double)m;
        }
}

/* As layer(); last is NULL in the first layer and under a mask. `cell` becomes the document's. */
static void published_layer(const struct naive *n, const struct naive_layer *p, double *x,
                            double *last, bool begins, double *cell, size_t L)
{
        size_t D = n->c->dim, W = n->c->window, m = windows(n->c, L);
        double *Y = doubles(L * D), *S = doubles((m + 1) * D), *G = doubles(D), *c = doubles(D);

        if (begins)
                naive_norm(n, G, &p->gpc_norm, 1);
        else
                memcpy(G, last, D * sizeof(*G));
        memcpy(S, G, D * sizeof(*S));
        for (size_t i = 0; i < m; i++) {
                size_t from = i * W, to = i + 1 < m ? from + W : L;

                published_window(n, p, Y + from * D, G, c, i == 0, x + from * D, to - from, from,
                                 from + i);
                memcpy(S + (i + 1) * D, c, D * sizeof(*S));
        }
        if (n->c->ran.review) {
                review(n, p, x, Y, S, L, m);
        } else {
                memcpy(x, Y, L * D * sizeof(*x));
                naive_norm(n, x, &p->review_norm, L);
        }
        memcpy(last, G, D * sizeof(*last));
        memcpy(cell, G, D * sizeof(*last));
        pool_cells(n, cell, S, m);
        free(Y);
        free(S);
        free(G);
        free(c);
}

/* x (L, D): what the output of a language model reads. */
static void fill(const struct naive *n, double *x, size_t L)
{
        const struct pair dense = naive_pair(n, "lm.dense"), norms = naive_pair(n, "lm.norm");
        double *y = doubles(L * n->c->dim);

        if (dense.w != NULL) {
                naive_linear(n, y, x, dense, L, true);
                naive_norm(n, y, &norms, L);
                memcpy(x, y, L * n->c->dim * sizeof(*x));
        }
        free(y);
}

static void encode_published(const struct naive *n, double *x, double *cell, size_t L)
{
        const struct pair start = naive_pair(n, "ran.embed_norm");
        double *last = doubles(n->c->dim);

        naive_norm(n, x, &start, L);
        for (size_t l = 0; l < n->c->layers; l++)
                published_layer(n, &n->layer[l], x, last, l == 0 || n->c->mask != RAN_MASK_NONE,
                                cell, L);
        fill(n, x, L);
        free(last);
}

/* ---- a prenorm layer --------------------------------------------------------------------------
 */

/* A window of w tokens x, to which attention is added. G becomes the next cell, N what is read of
 * it. */
static void prenorm_window(const struct naive *n, const struct naive_layer *p, double *x, double *G,
                           double *N, size_t w, size_t from, size_t at)
{
        size_t D = n->c->dim;
        double *Z = doubles((w + 1) * D), *P = doubles((w + 1) * D), *in = doubles(2 * D);
        double *u = doubles(D);

        memcpy(Z + D, x, w * D * sizeof(*Z));
        naive_norm(n, Z + D, &p->input_norm, w);
        memcpy(Z, N, D * sizeof(*Z));
        naive_drop(n, Z, (w + 1) * D, at * D, p->l, RAN_DROP_INPUT, n->noise.dropout);
        mix(n, p, P, Z, w + 1, from, at);
        for (size_t i = 0; i < w * D; i++)
                x[i] += P[D + i];
        memcpy(in, P, D * sizeof(*in));
        memcpy(in + D, N, D * sizeof(*in));
        naive_norm(n, P, &p->update_norm, 1);
        if (n->c->ran.residual)
                naive_linear(n, u, in, p->update_gate, 1, false);
        for (size_t d = 0; d < D; d++) {
                double gate = n->c->ran.residual ? naive_sigmoid(u[d]) : 1;

                G[d] = (1 - gate) * G[d] + gate * P[d];
        }
        memcpy(N, G, D * sizeof(*N));
        naive_norm(n, N, &p->cell_norm, 1);
        free(Z);
        free(P);
        free(in);
        free(u);
}

/* x += the gated feed-forward part of LN_ffn(x) */
static void feed_forward(const struct naive *n, const struct naive_layer *p, double *x, size_t L)
{
        size_t D = n->c->dim, F = p->feed_value.O;
        double *z = doubles(L * D), *value = doubles(L * F), *gate = doubles(L * F);
        double *y = doubles(L * D);

        memcpy(z, x, L * D * sizeof(*z));
        naive_norm(n, z, &p->feed_norm, L);
        naive_linear(n, value, z, p->feed_value, L, false);
        naive_linear(n, gate, z, p->feed_gate, L, false);
        for (size_t i = 0; i < L * F; i++)
                value[i] *= gate[i] * naive_sigmoid(gate[i]);
        naive_linear(n, y, value, p->feed_down, L, false);
        naive_drop(n, y, L * D, 0, p->l, RAN_DROP_FEED, n->noise.dropout);
        for (size_t i = 0; i < L * D; i++)
                x[i] += y[i];
        free(z);
        free(value);
        free(gate);
        free(y);
}

static void prenorm_layer(const struct naive *n, const struct naive_layer *p, double *x,
                          double *last, size_t L)
{
        size_t D = n->c->dim, W = n->c->window, m = windows(n->c, L);
        double *Y = doubles(L * D), *S = doubles((m + 1) * D), *G = doubles(D), *N = doubles(D);

        naive_linear(n, G, last, p->gpc, 1, false);
        naive_norm(n, G, &p->gpc_norm, 1);
        memcpy(N, G, D * sizeof(*N));
        naive_norm(n, N, &p->cell_norm, 1);
        memcpy(S, N, D * sizeof(*S));
        for (size_t i = 0; i < m; i++) {
                size_t from = i * W, to = i + 1 < m ? from + W : L;

                prenorm_window(n, p, x + from * D, G, N, to - from, from, from + i);
                memcpy(S + (i + 1) * D, N, D * sizeof(*S));
        }
        if (n->c->ran.review) {
                double *z = doubles(L * D);

                memcpy(z, x, L * D * sizeof(*z));
                naive_norm(n, z, &p->review_norm, L);
                review(n, p, Y, z, S, L, m);
                naive_drop(n, Y, L * D, 0, p->l, RAN_DROP_REVIEW, n->noise.dropout);
                for (size_t i = 0; i < L * D; i++)
                        x[i] += Y[i];
                free(z);
        }
        feed_forward(n, p, x, L);
        memcpy(last, N, D * sizeof(*last));
        free(Y);
        free(S);
        free(G);
        free(N);
}

/* x (L, D) in place; last: what the first cell is made of, which becomes the layer's last cell. */
static void layer(const struct naive *n, size_t l, double *x, double *last, size_t L)
{
        const struct naive_layer *p = &n->layer[l];
        size_t D = n->c->dim, W = n->c->window, m = windows(n->c, L);
        double *Y = doubles(L * D), *S = doubles((m + 1) * D), *G = doubles(D);

        naive_linear(n, G, last, p->gpc, 1, true); /* (1) */
        naive_norm(n, G, &p->gpc_norm, 1);
        memcpy(S, G, D * sizeof(*S));
        for (size_t i = 0; i < m; i++) {
                size_t from = i * W, to = i + 1 < m ? from + W : L;

                window(n, p, Y + from * D, G, x + from * D, to - from, from, from + i);
                memcpy(S + (i + 1) * D, G, D * sizeof(*S)); /* (8) */
        }
        if (n->c->ran.review) {
                review(n, p, x, Y, S, L, m);
        } else {
                memcpy(x, Y, L * D * sizeof(*x));
                naive_norm(n, x, &p->review_norm, L);
        }
        memcpy(last, G, D * sizeof(*last));
        free(Y);
        free(S);
        free(G);
}

/* ---- all layers ------------------------------------------------------------------------------ */

void naive_encode(const struct naive *n, double *x, double *last, const uint32_t *ids, size_t L)
{
        size_t D = n->c->dim;

        const struct pair start = naive_pair(n, "ran.embed_norm"), end = naive_pair(n, "ran.norm");

        naive_read_tokens(n, x, ids, L);
        memset(last, 0, D * sizeof(*last));
        if (naive_is_published(n)) {
                encode_published(n, x, last, L);
                return;
        }
        if (naive_is_prenorm(n))
                naive_norm(n, x, &start, L);
        for (size_t l = 0; l < n->c->layers; l++) {
                if (n->c->mask != RAN_MASK_NONE) /* it has seen the future */
                        memset(last, 0, D * sizeof(*last));
                if (naive_is_prenorm(n))
                        prenorm_layer(n, &n->layer[l], x, last, L);
                else
                        layer(n, l, x, last, L);
        }
        if (naive_is_prenorm(n))
                naive_norm(n, x, &end, L);
}

/* ---- the vector of a document ---------------------------------------------------------------- */

void naive_read_cells(const struct naive *n, double *sum, const uint32_t *ids, size_t L)
{
        size_t D = n->c->dim;
        double *x = doubles(L * D), *last = doubles(D), *v = doubles(D);

        naive_encode(n, x, last, ids, L);
        naive_pool(n, v, x, L);
        if (naive_is_prenorm(n))
                naive_norm(n, v, &n->head->pool_norm, 1);
        naive_linear(n, sum, v, n->head->pool, 1, !naive_is_published(n));
        if (naive_is_published(n)) {
                naive_linear(n, v, last, n->head->cell, 1, true);
                memcpy(last, v, D * sizeof(*last));
        }
        for (size_t i = 0; i < D && naive_is_prenorm(n); i++)
                sum[i] *= naive_sigmoid(sum[i]);
        if (n->c->ran.cell != RAN_CELL_PLAIN) {
                naive_add_glu(n, sum, last, n->head->gpc_glu, 1);
        } else {
                naive_linear(n, v, last, n->head->gpc, 1, false);
                for (size_t i = 0; i < D; i++)
                        sum[i] += v[i];
        }
        free(x);
        free(last);
        free(v);
}

void naive_read_learned(const struct naive *n, double *v, const uint32_t *ids, size_t L)
{
        size_t D = n->c->dim;
        double *x = doubles(L * D), *y = doubles(D), *last = doubles(D), squares = 0;

        naive_encode(n, x, last, ids, L);
        for (size_t i = 0; i < L * D; i++)
                y[i % D] += x[i] / (double)L;
        naive_linear(n, v, y, naive_pair(n, "ran.vector"), 1, false);
        naive_read_tokens(n, x, ids, L);
        for (size_t i = 0; i < L * D; i++)
                v[i % D] += x[i] / (double)L;
        for (size_t i = 0; i < D; i++)
                squares += v[i] * v[i];
        for (size_t i = 0; i < D; i++)
                v[i] *= sqrt((double)D / squares);
        free(x);
        free(y);
        free(last);
}
