#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "part/linear/linear-model.h"
#include "naive.h"

/* ---- parameters ------------------------------------------------------------------------------ */

/* A weight (O, I), or scales (O), and a bias (O). Absent ones are NULL. */
struct pair {
        const double *w, *b;
        size_t O, I;
};

/* "name.weight" and "name.bias", or "name" as it is. */
static struct pair pair_of(const struct naive *n, const char *name)
{
        struct pair p = {0};
        size_t length = strlen(name);

        for (size_t i = 0; i < n->layout->n; i++) {
                const struct ran_tensor_spec *s = &n->layout->spec[i];

                if (strncmp(s->name, name, length) != 0)
                        continue;
                if (s->name[length] == '\0')
                        p.w = n->block + s->offset;
                if (strcmp(s->name + length, ".bias") == 0)
                        p.b = n->block + s->offset;
                if (strcmp(s->name + length, ".weight") == 0)
                        p = (struct pair){n->block + s->offset, p.b,
                                          s->rows > 0 ? s->rows : s->cols, s->cols};
        }
        return p;
}

static struct pair in_layer(const struct naive *n, size_t l, const char *name)
{
        char whole[96];

        snprintf(whole, sizeof(whole), "ran.%zu.%s", l, name);
        return pair_of(n, whole);
}

struct glu {
        struct pair value, gate;
};

struct naive_layer {
        size_t l;
        struct pair gpc, gpc_norm, input_norm, output_norm, update_norm, review_norm;
        struct pair q, k, v, out, review_q, review_k, review_v, review_out;
        struct glu output, update, review;
        struct pair cell_out, cell_norm, update_gate, feed_norm, feed_value, feed_gate,
                feed_down; /* prenorm */
};

static struct naive_layer layer_of(const struct naive *n, size_t l)
{
        return (struct naive_layer){
                .l = l,
                .gpc = in_layer(n, l, "gpc"),
                .gpc_norm = in_layer(n, l, "gpc_norm"),
                .input_norm = in_layer(n, l, "input_norm"),
                .output_norm = in_layer(n, l, "output_norm"),
                .update_norm = in_layer(n, l, "update_norm"),
                .review_norm = in_layer(n, l, "review_norm"),
                .q = in_layer(n, l, "attn.q"),
                .k = in_layer(n, l, "attn.k"),
                .v = in_layer(n, l, "attn.v"),
                .out = in_layer(n, l, "attn.out"),
                .review_q = in_layer(n, l, "review.q"),
                .review_k = in_layer(n, l, "review.k"),
                .review_v = in_layer(n, l, "review.v"),
                .review_out = in_layer(n, l, "review.out"),
                .output = {in_layer(n, l, "output_glu.value"), in_layer(n, l, "output_glu.gate")},
                .update = {in_layer(n, l, "update_glu.value"), in_layer(n, l, "update_glu.gate")},
                .review = {in_layer(n, l, "review_glu.value"), in_layer(n, l, "review_glu.gate")},
                .cell_out = in_layer(n, l, "attn.cell"),
                .cell_norm = in_layer(n, l, "cell_norm"),
                .update_gate = in_layer(n, l, "update_gate"),
                .feed_norm = in_layer(n, l, "ffn_norm"),
                .feed_value = in_layer(n, l, "ffn.value"),
                .feed_gate = in_layer(n, l, "ffn.gate"),
                .feed_down = in_layer(n, l, "ffn.down"),
        };
}

struct naive_head {
        struct pair wide, pool, pool_norm, cell, gpc, out;
        struct glu gpc_glu;
};

static struct naive_head head_of(const struct naive *n)
{
        return (struct naive_head){
                .pool = pair_of(n, "classify.pool"),
                .pool_norm = pair_of(n, "classify.pool_norm"),
                .cell = pair_of(n, "classify.cell"),
                .gpc = pair_of(n, "classify.gpc"),
                .out = pair_of(n, "classify.out"),
                .wide = pair_of(n, "wide"),
                .gpc_glu = {pair_of(n, "classify.gpc_glu.value"),
                            pair_of(n, "classify.gpc_glu.gate")},
        };
}

void naive_init(struct naive *n, const struct ran_config *c, const struct ran_layout *layout,
                const struct ran_params *p, size_t V, size_t C)
{
        *n = (struct naive){.c = c, .layout = layout, .V = V, .C = C, .seed = p->seed};
        n->block = doubles(layout->size);
        const struct ran_linear_params *linear = ran_linear_of(p);
        n->idf = linear != NULL ? linear->idf : NULL;
        n->affixes = linear != NULL ? linear->affixes : NULL;
        n->embed = doubles((V + c->spelling) * c->dim + c->linear.wide * C);
        for (size_t i = 0; i < layout->size; i++)
                n->block[i] = (double)p->block[i];
        for (size_t i = 0; i < V * c->dim; i++)
                n->embed[i] = (double)p->embed[i];
        for (size_t i = 0; i < c->spelling * c->dim; i++)
                n->embed[V * c->dim + i] = (double)p->spelling[i];
        for (size_t i = 0; linear != NULL && i < c->linear.wide * C; i++)
                n->embed[(V + c->spelling) * c->dim + i] = (double)linear->wide[i];
        n->layer = calloc(c->layers, sizeof(*n->layer));
        n->head = calloc(1, sizeof(*n->head));
        if (n->layer == NULL || n->head == NULL)
                abort();
        for (size_t l = 0; l < c->layers; l++)
                n->layer[l] = layer_of(n, l);
        *n->head = head_of(n);
}

void naive_release(struct naive *n)
{
        free(n->block);
        free(n->embed);
        free(n->layer);
        free(n->head);
}

/* ---- building blocks ------------------------------------------------------------------------- */

static bool published(const struct naive *n)
{
        return n->c->encoder == RAN_ENCODER_RAN && n->c->ran.cell == RAN_CELL_PUBLISHED;
}

/* phi and GLUs: a published cell has them, too. */
static bool gated(const struct naive *n)
{
        return n->c->ran.cell == RAN_CELL_GATED || n->c->ran.cell == RAN_CELL_PUBLISHED;
}

static bool prenorm(const struct naive *n)
{
        return n->c->ran.cell == RAN_CELL_PRENORM;
}

static double sigmoid(double x)
{
        return 1 / (1 + exp(-x));
}

/* SiLU in a gated cell, else the identity. */
static double phi(const struct naive *n, double x)
{
        return gated(n) ? x * sigmoid(x) : x;
}

/* y (N, O) = x (N, I) W^T + b; with `activated` phi of it. */
static void linear(const struct naive *n, double *y, const double *x, struct pair p, size_t N,
                   bool activated)
{
        for (size_t r = 0; r < N; r++)
                for (size_t o = 0; o < p.O; o++) {
                        double sum = p.b != NULL ? p.b[o] : 0;

                        for (size_t i = 0; i < p.I; i++)
                                sum += p.w[o * p.I + i] * x[r * p.I + i];
                        y[r * p.O + o] = activated ? phi(n, sum) : sum;
                }
}

/* y (N, D) += GLU(x) */
static void add_glu(const struct naive *n, double *y, const double *x, struct glu g, size_t N)
{
        size_t D = n->c->dim;
        double *value = doubles(N * D), *gate = doubles(N * D);

        linear(n, value, x, g.value, N, false);
        linear(n, gate, x, g.gate, N, false);
        for (size_t i = 0; i < N * D; i++)
                y[i] += value[i] * sigmoid(gate[i]);
        free(value);
        free(gate);
}

/* LN with the parameters of p, or SN where p is NULL, in place. A published cell divides by the
 * root of the mean square. */
static void norm(const struct naive *n, double *x, const struct pair *p, size_t N)
{
        size_t D = n->c->dim;
        double eps = p != NULL && !published(n) ? 1e-5 : 1e-7;

        for (size_t r = 0; r < N; r++, x += D) {
                double mean = 0, var = 0;

                for (size_t i = 0; i < D; i++)
                        mean += x[i] / (double)D;
                for (size_t i = 0; i < D; i++)
                        var += pow(x[i] - (published(n) ? 0 : mean), 2) / (double)D;
                for (size_t i = 0; i < D; i++) {
                        x[i] = (x[i] - mean) / sqrt(var + eps);
                        if (p != NULL)
                                x[i] = x[i] * p->w[i] + p->b[i];
                }
        }
}

static void softmax(double *x, size_t n)
{
        double top = x[0], sum = 0;

        for (size_t i = 1; i < n; i++)
                top = fmax(top, x[i]);
        for (size_t i = 0; i < n; i++)
                sum += x[i] = exp(x[i] - top);
        for (size_t i = 0; i < n; i++)
                x[i] /= sum;
}

/* Dropout of n values that stand at `at` among those of a site: 16 bits of a draw for each. */
static void drop(const struct naive *n, double *x, size_t count, size_t at, size_t layer, int site,
                 double p)
{
        uint64_t purpose = RAN_FOR_DROPOUT + 16 * (layer * RAN_DROP_SITES + (uint64_t)site);
        uint64_t key = ran_random_key(n->noise.seed, purpose, n->noise.epoch, n->record);

        for (size_t i = 0; i < count && p > 0; i++) {
                uint64_t bits = ran_random_draw(key, (at + i) / 4) >> 16 * ((at + i) % 4) & 0xffff;

                x[i] = bits < (uint64_t)(p * 65536 + 0.5) ? 0 : x[i] / (1 - p);
        }
}

/* ---- a window -------------------------------------------------------------------------------- */

static void rotate(double *row, size_t position, size_t h, size_t d)
{
        for (size_t i = 0; i < h * d; i += 2) {
                double angle = (double)position * pow(10000, -(double)(i % d) / (double)d);
                double a = row[i], b = row[i + 1];

                row[i] = a * cos(angle) - b * sin(angle);
                row[i + 1] = a * sin(angle) + b * cos(angle);
        }
}

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

/* a (n, E) = all heads of softmax(Q K^T / sqrt(d_k) + M) V, equation (3). from: the window's first
 * token. */
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
                        softmax(score, rows);
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

        linear(n, q, Z, p->q, rows, true);
        linear(n, k, Z, p->k, rows, true);
        linear(n, v, Z, p->v, rows, true);
        for (size_t r = 0; r < rows && n->c->rotary; r++) {
                rotate(q + r * E, r, n->c->heads, n->c->head_dim);
                rotate(k + r * E, r, n->c->heads, n->c->head_dim);
        }
        attend(n, a, q, k, v, rows, from, p->l, at);
        linear(n, P, a, p->out, rows, true);
        if (prenorm(n)) /* the cell has a projection of its own */
                linear(n, P, a, p->cell_out, 1, false);
        drop(n, P, rows * D, at * D, p->l, RAN_DROP_ATTENTION, n->noise.dropout);
        if (gated(n)) {
                add_glu(n, P, Z, p->output, rows);
                norm(n, P, &p->output_norm, rows);
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
        norm(n, Z, &p->input_norm, w + 1);
        drop(n, Z, (w + 1) * D, at * D, p->l, RAN_DROP_INPUT, n->noise.dropout);
        mix(n, p, P, Z, w + 1, from, at);
        norm(n, P, NULL, w + 1); /* (5) */
        memcpy(Y, P + D, w * D * sizeof(*Y));
        if (n->c->ran.residual && gated(n)) /* (6) */
                add_glu(n, P, G, p->update, 1);
        else if (n->c->ran.residual)
                for (size_t i = 0; i < D; i++)
                        P[i] += G[i];
        norm(n, P, &p->update_norm, 1);
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

        linear(n, q, Y, p->review_q, L, true);
        linear(n, k, S, p->review_k, cells, true);
        linear(n, v, S, p->review_v, cells, true);
        linear(n, k + cells * D, Y, p->review_k, states - cells, true);
        linear(n, v + cells * D, Y, p->review_v, states - cells, true);
        for (size_t t = 0; t < L; t++) {
                for (size_t j = 0; j < states; j++) {
                        score[j] = 0;
                        for (size_t i = 0; i < D; i++)
                                score[j] += q[t * D + i] * k[j * D + i] / sqrt((double)D);
                        if (j < cells ? !sees_state(n, t, j, m, L) : t < n->sources)
                                score[j] = -INFINITY;
                }
                softmax(score, states);
                for (size_t j = 0; j < cells && n->seen.review != NULL; j++)
                        n->seen.review[(p->l * L + t) * cells + j] = score[j];
                for (size_t j = cells; j < states && n->seen.source != NULL; j++)
                        n->seen.source[(p->l * L + t) * L + j - cells] = score[j];
                for (size_t j = 0; j < states; j++)
                        for (size_t i = 0; i < D; i++)
                                R[t * D + i] += score[j] * v[j * D + i];
        }
        memcpy(x, R, L * D * sizeof(*x));
        if (prenorm(n))
                linear(n, x, R, p->review_out, L, false);
        if (gated(n)) {
                linear(n, x, R, p->review_out, L, true);
                drop(n, x, L * D, 0, p->l, RAN_DROP_REVIEW, n->noise.dropout);
                add_glu(n, x, q, p->review, L);
                norm(n, x, &p->review_norm, L);
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
        norm(n, Z, &p->input_norm, w + 1);
        drop(n, Z, (w + 1) * D, at * D, p->l, RAN_DROP_INPUT, n->noise.dropout);
        mix(n, p, P, Z, w + 1, from, at);
        norm(n, P, NULL, w + 1);
        memcpy(Y, P + D, w * D * sizeof(*Y));
        memcpy(G, P, D * sizeof(*G));
        if (!first && n->c->ran.residual)
                add_glu(n, G, c, p->update, 1);
        if (!first)
                norm(n, G, &p->update_norm, 1);
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
                norm(n, G, &p->gpc_norm, 1);
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
                norm(n, x, &p->review_norm, L);
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
        const struct pair dense = pair_of(n, "lm.dense"), norms = pair_of(n, "lm.norm");
        double *y = doubles(L * n->c->dim);

        if (dense.w != NULL) {
                linear(n, y, x, dense, L, true);
                norm(n, y, &norms, L);
                memcpy(x, y, L * n->c->dim * sizeof(*x));
        }
        free(y);
}

static void encode_published(const struct naive *n, double *x, double *cell, size_t L)
{
        const struct pair start = pair_of(n, "ran.embed_norm");
        double *last = doubles(n->c->dim);

        norm(n, x, &start, L);
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
        norm(n, Z + D, &p->input_norm, w);
        memcpy(Z, N, D * sizeof(*Z));
        drop(n, Z, (w + 1) * D, at * D, p->l, RAN_DROP_INPUT, n->noise.dropout);
        mix(n, p, P, Z, w + 1, from, at);
        for (size_t i = 0; i < w * D; i++)
                x[i] += P[D + i];
        memcpy(in, P, D * sizeof(*in));
        memcpy(in + D, N, D * sizeof(*in));
        norm(n, P, &p->update_norm, 1);
        if (n->c->ran.residual)
                linear(n, u, in, p->update_gate, 1, false);
        for (size_t d = 0; d < D; d++) {
                double gate = n->c->ran.residual ? sigmoid(u[d]) : 1;

                G[d] = (1 - gate) * G[d] + gate * P[d];
        }
        memcpy(N, G, D * sizeof(*N));
        norm(n, N, &p->cell_norm, 1);
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
        norm(n, z, &p->feed_norm, L);
        linear(n, value, z, p->feed_value, L, false);
        linear(n, gate, z, p->feed_gate, L, false);
        for (size_t i = 0; i < L * F; i++)
                value[i] *= gate[i] * sigmoid(gate[i]);
        linear(n, y, value, p->feed_down, L, false);
        drop(n, y, L * D, 0, p->l, RAN_DROP_FEED, n->noise.dropout);
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

        linear(n, G, last, p->gpc, 1, false);
        norm(n, G, &p->gpc_norm, 1);
        memcpy(N, G, D * sizeof(*N));
        norm(n, N, &p->cell_norm, 1);
        memcpy(S, N, D * sizeof(*S));
        for (size_t i = 0; i < m; i++) {
                size_t from = i * W, to = i + 1 < m ? from + W : L;

                prenorm_window(n, p, x + from * D, G, N, to - from, from, from + i);
                memcpy(S + (i + 1) * D, N, D * sizeof(*S));
        }
        if (n->c->ran.review) {
                double *z = doubles(L * D);

                memcpy(z, x, L * D * sizeof(*z));
                norm(n, z, &p->review_norm, L);
                review(n, p, Y, z, S, L, m);
                drop(n, Y, L * D, 0, p->l, RAN_DROP_REVIEW, n->noise.dropout);
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

        linear(n, G, last, p->gpc, 1, true); /* (1) */
        norm(n, G, &p->gpc_norm, 1);
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
                norm(n, x, &p->review_norm, L);
        }
        memcpy(last, G, D * sizeof(*last));
        free(Y);
        free(S);
        free(G);
}

/* x (D): the piece, and each feature of the spelling of its word. */
static void embed(const struct naive *n, double *x, uint32_t id, size_t t)
{
        size_t D = n->c->dim, features = n->c->spelling > 0 ? RAN_SPELLING : 0;

        memcpy(x, n->embed + id * D, D * sizeof(*x));
        for (size_t i = t * features; i < (t + 1) * features; i++)
                for (size_t d = 0; d < D; d++)
                        x[d] += n->embed[(n->V + n->spelling[i]) * D + d];
}

static void read_tokens(const struct naive *n, double *x, const uint32_t *ids, size_t L)
{
        size_t D = n->c->dim;

        if (n->given != NULL)
                memcpy(x, n->given, L * D * sizeof(*x));
        for (size_t t = 0; t < L && n->given == NULL; t++)
                embed(n, x + t * D, ids[t], t);
        drop(n, x, L * D, 0, 0, RAN_DROP_EMBED, n->noise.embed_dropout);
}

void naive_encode(const struct naive *n, double *x, double *last, const uint32_t *ids, size_t L)
{
        size_t D = n->c->dim;

        const struct pair start = pair_of(n, "ran.embed_norm"), end = pair_of(n, "ran.norm");

        read_tokens(n, x, ids, L);
        memset(last, 0, D * sizeof(*last));
        if (published(n)) {
                encode_published(n, x, last, L);
                return;
        }
        if (prenorm(n))
                norm(n, x, &start, L);
        for (size_t l = 0; l < n->c->layers; l++) {
                if (n->c->mask != RAN_MASK_NONE) /* it has seen the future */
                        memset(last, 0, D * sizeof(*last));
                if (prenorm(n))
                        prenorm_layer(n, &n->layer[l], x, last, L);
                else
                        layer(n, l, x, last, L);
        }
        if (prenorm(n))
                norm(n, x, &end, L);
}

/* ---- a Contextualizer ------------------------------------------------------------------------ */

static struct pair in_step(const struct naive *n, size_t l, const char *name)
{
        char whole[96];

        snprintf(whole, sizeof(whole), "contextualizer.%zu.%s", l, name);
        return pair_of(n, whole);
}

/* x (L, D): each column by the softmax of its position weight over 1 ... L. */
static void weigh_positions(const struct naive *n, double *x, const double *position, size_t L)
{
        size_t D = n->c->dim;
        double *p = doubles(L);

        for (size_t j = 0; j < D; j++) {
                for (size_t t = 0; t < L; t++)
                        p[t] = (double)(t + 1) * position[j];
                softmax(p, L);
                for (size_t t = 0; t < L; t++)
                        x[t * D + j] *=
                                p[t] * (n->c->contextualizer.position_scale ? (double)L : 1);
        }
        free(p);
}

static void first_context(const struct naive *n, double *c)
{
        uint64_t key = ran_random_key(n->seed, RAN_FOR_CONTEXT, n->noise.epoch, n->record);
        const struct pair learned = pair_of(n, "contextualizer.context");

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

        linear(n, vc, c, in_step(n, l, "v"), 1, false);
        for (size_t t = 0; t < L; t++) {
                linear(n, mixed, x + t * D, in_step(n, l, "u"), 1, false);
                for (size_t r = 0; r < u; r++)
                        mixed[r] *= vc[r];
                linear(n, alpha, mixed, in_step(n, l, "w"), 1, false);
                for (size_t d = 0; d < D; d++) {
                        alpha[d] *= x[t * D + d];
                        z[d] += alpha[d];
                }
                if (n->seen.steps != NULL)
                        n->seen.steps[l * L + t] = length(alpha, D);
        }
        norm(n, z, &norms, 1);
        drop(n, z, D, 0, l, RAN_DROP_ATTENTION, n->noise.dropout);
        if (n->seen.update != NULL)
                n->seen.update[l] = length(z, D);
        for (size_t d = 0; d < D; d++)
                c[d] += z[d];
        free(z);
        free(alpha);
        free(vc);
        free(mixed);
}

/* c (D): the last context. */
static void read_context(const struct naive *n, double *c, const uint32_t *ids, size_t L)
{
        double *x = doubles(L * n->c->dim);

        read_tokens(n, x, ids, L);
        weigh_positions(n, x, pair_of(n, "contextualizer.position").w, L);
        first_context(n, c);
        for (size_t l = 0; l < n->c->layers; l++)
                step(n, l, c, x, L);
        free(x);
}

/* ---- a Transformer --------------------------------------------------------------------------- */

static struct pair in_block(const struct naive *n, size_t l, const char *name)
{
        char whole[96];

        snprintf(whole, sizeof(whole), "transformer.%zu.%s", l, name);
        return pair_of(n, whole);
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
                softmax(score, L);
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
        norm(n, z, &norms, L);
        linear(n, q, z, in_block(n, l, "attn.q"), L, false);
        linear(n, k, z, in_block(n, l, "attn.k"), L, false);
        linear(n, v, z, in_block(n, l, "attn.v"), L, false);
        for (size_t t = 0; t < L && n->c->rotary; t++) {
                rotate(q + t * E, t, h, d);
                rotate(k + t * E, t, h, d);
        }
        for (size_t j = 0; j < h; j++)
                attend_by(n, j, a, q, k, v, L);
        linear(n, z, a, in_block(n, l, "attn.out"), L, false);
        drop(n, z, L * D, 0, l, RAN_DROP_ATTENTION, n->noise.dropout);
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
        norm(n, z, &norms, L);
        linear(n, up, z, in_block(n, l, "ffn.up"), L, false);
        for (size_t i = 0; i < L * f; i++)
                up[i] *= 0.5 * erfc(-up[i] / sqrt(2));
        linear(n, z, up, in_block(n, l, "ffn.down"), L, false);
        drop(n, z, L * D, 0, l, RAN_DROP_FEED, n->noise.dropout);
        for (size_t i = 0; i < L * D; i++)
                x[i] += z[i];
        free(z);
        free(up);
}

static void read_blocks(const struct naive *n, double *x, const uint32_t *ids, size_t L)
{
        const struct pair norms = pair_of(n, "transformer.norm");

        read_tokens(n, x, ids, L);
        for (size_t l = 0; l < n->c->layers; l++) {
                add_attention(n, l, x, L);
                add_feed(n, l, x, L);
        }
        norm(n, x, &norms, L);
}

/* ---- the head -------------------------------------------------------------------------------- */

static void pool(const struct naive *n, double *v, const double *x, size_t L)
{
        size_t D = n->c->dim;

        for (size_t i = 0; i < D; i++) {
                double top = x[i], sum = 0;

                for (size_t t = 0; t < L; t++) {
                        top = fmax(top, x[t * D + i]);
                        sum += x[t * D + i];
                }
                v[i] = n->c->pooling == RAN_POOL_MAX ? top : sum / (double)L;
        }
}

/* (10) */
static void read_cells(const struct naive *n, double *sum, const uint32_t *ids, size_t L)
{
        size_t D = n->c->dim;
        double *x = doubles(L * D), *last = doubles(D), *v = doubles(D);

        naive_encode(n, x, last, ids, L);
        pool(n, v, x, L);
        if (prenorm(n))
                norm(n, v, &n->head->pool_norm, 1);
        linear(n, sum, v, n->head->pool, 1, !published(n));
        if (published(n)) {
                linear(n, v, last, n->head->cell, 1, true);
                memcpy(last, v, D * sizeof(*last));
        }
        for (size_t i = 0; i < D && prenorm(n); i++)
                sum[i] *= sigmoid(sum[i]);
        if (n->c->ran.cell != RAN_CELL_PLAIN) {
                add_glu(n, sum, last, n->head->gpc_glu, 1);
        } else {
                linear(n, v, last, n->head->gpc, 1, false);
                for (size_t i = 0; i < D; i++)
                        sum[i] += v[i];
        }
        free(x);
        free(last);
        free(v);
}

/* What a RAN learned to make: see part/ran/vector.c; as long as heads want it. */
static void read_learned(const struct naive *n, double *v, const uint32_t *ids, size_t L)
{
        size_t D = n->c->dim;
        double *x = doubles(L * D), *y = doubles(D), *last = doubles(D), squares = 0;

        naive_encode(n, x, last, ids, L);
        for (size_t i = 0; i < L * D; i++)
                y[i % D] += x[i] / (double)L;
        linear(n, v, y, pair_of(n, "ran.vector"), 1, false);
        read_tokens(n, x, ids, L);
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

/* Tokens alone: there is no cell. */
static void read_pooled(const struct naive *n, double *v, const uint32_t *ids, size_t L)
{
        double *x = doubles(L * n->c->dim);

        read_blocks(n, x, ids, L);
        pool(n, v, x, L);
        free(x);
}

/* The vector of a document by the encoder that n->c names. */
static void read_document(const struct naive *n, double *v, const uint32_t *ids, size_t L)
{
        if (n->c->encoder == RAN_ENCODER_CONTEXTUALIZER)
                read_context(n, v, ids, L);
        else if (n->c->encoder == RAN_ENCODER_TRANSFORMER)
                read_pooled(n, v, ids, L);
        else if (n->c->ran.vector)
                read_learned(n, v, ids, L);
        else
                read_cells(n, v, ids, L);
}

/* ---- above the windows of an encoder: see part/upper/upper.h -------------------------------- */

static void attend_windows(const struct naive *n, double *h, const double *x, size_t R)
{
        const size_t D = n->c->dim, A = n->c->upper.dim;
        const struct pair key = pair_of(n, "upper.attention");
        const double *query = pair_of(n, "upper.attention.query").w;
        double *k = doubles(R * A), *score = doubles(R);

        linear(n, k, x, key, R, false);
        for (size_t r = 0; r < R; r++)
                for (size_t a = 0; a < A; a++)
                        score[r] += query[a] * tanh(k[r * A + a]);
        softmax(score, R);
        for (size_t d = 0; d < D; d++)
                h[d] = 0;
        for (size_t r = 0; r < R; r++)
                for (size_t d = 0; d < D; d++)
                        h[d] += score[r] * x[r * D + d];
        free(k);
        free(score);
}

/* The row of the window that is surest of its label. */
static void choose_window(const struct naive *n, double *h, const double *x, size_t R)
{
        const size_t D = n->c->dim, C = n->C;
        double *logits = doubles(C), best = -INFINITY;

        for (size_t r = 0; r < R; r++) {
                double top = -INFINITY;

                linear(n, logits, x + r * D, n->head->out, 1, false);
                if (!n->c->classify.multilabel)
                        softmax(logits, C);
                for (size_t c = 0; c < C; c++)
                        top = fmax(top, logits[c]);
                if (top > best)
                        memcpy(h, x + r * D, D * sizeof(*h));
                best = fmax(top, best);
        }
        free(logits);
}

/* Another encoder reads the R rows. */
static void read_rows(const struct naive *n, double *h, const double *x, size_t R)
{
        struct naive inner = *n;
        struct ran_config c;
        double *z = doubles(R * n->c->upper.dim);

        if (ran_fields_init(ran_config_fields, &c, NULL) != RAN_OK)
                abort();
        c.encoder = n->c->upper.kind == RAN_UPPER_RAN              ? RAN_ENCODER_RAN
                    : n->c->upper.kind == RAN_UPPER_CONTEXTUALIZER ? RAN_ENCODER_CONTEXTUALIZER
                                                                   : RAN_ENCODER_TRANSFORMER;
        c.dim = n->c->upper.dim;
        c.layers = n->c->upper.layers;
        c.heads = n->c->upper.heads;
        c.head_dim = n->c->upper.head_dim;
        c.window = n->c->upper.window;
        c.ffn_dim = 4 * c.dim;
        c.contextualizer.rank = 2 * c.dim;
        linear(n, z, x, pair_of(n, "upper.in"), R, false);
        inner.c = &c;
        inner.given = z;
        inner.noise.seed = ~n->noise.seed;
        inner.layer = calloc(c.layers, sizeof(*inner.layer));
        inner.head = calloc(1, sizeof(*inner.head));
        if (inner.layer == NULL || inner.head == NULL)
                abort();
        for (size_t l = 0; l < c.layers; l++)
                inner.layer[l] = layer_of(&inner, l);
        *inner.head = head_of(&inner);
        read_document(&inner, h, NULL, R);
        free(inner.layer);
        free(inner.head);
        free(z);
}

static void read_windows(const struct naive *n, double *v, const uint32_t *ids, size_t L)
{
        const size_t D = n->c->dim, m = naive_windows(n, L);
        const bool windows = n->c->upper.rows == RAN_ROWS_WINDOWS;
        double *x = doubles(L * D), *own = doubles(D), *tokens = doubles(L * D),
               *each = doubles(m * D);

        read_tokens(n, x, ids, L);
        naive_bert(n, own, tokens, each, x, L);
        if (n->c->upper.kind == RAN_UPPER_ATTENTION)
                attend_windows(n, v, each, m);
        else if (n->c->upper.kind == RAN_UPPER_CERTAIN)
                choose_window(n, v, each, m);
        else if (n->c->upper.kind > RAN_UPPER_ATTENTION)
                read_rows(n, v, windows ? each : tokens, windows ? m : L);
        else
                memcpy(v, own, D * sizeof(*v));
        free(x);
        free(own);
        free(tokens);
        free(each);
}

/* ---- the linear model ---- */

/* The last quarter is for affixes, rounded up. */
static size_t runs_of(const struct naive *n)
{
        return n->c->linear.affixes ? 3 * n->c->linear.wide / 4 : n->c->linear.wide;
}

/* One round of SplitMix64 for each id. */
static size_t bucket_of(const struct naive *n, const uint32_t *ids, size_t length)
{
        uint64_t z = 0;

        for (size_t i = 0; i < length; i++) {
                z = (z ^ ids[i]) + 0x9e3779b97f4a7c15u;
                z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
                z = (z ^ z >> 27) * 0x94d049bb133111ebu;
                z ^= z >> 31;
        }
        return (size_t)(z % runs_of(n));
}

static uint32_t kind(const struct naive *n, uint32_t id)
{
        return n->affixes[id * RAN_AFFIX_ROW + RAN_AFFIXES];
}

/* Whether tokens [from, to) are words of one piece each. */
static bool words_are_whole(const struct naive *n, const uint32_t *ids, size_t L, size_t from,
                            size_t to)
{
        for (size_t t = from; t < to && n->c->linear.affixes; t++)
                if (kind(n, ids[t]) != RAN_SUBWORD_BEGINS)
                        return false;
        return !n->c->linear.affixes || to == L || kind(n, ids[to]) != RAN_SUBWORD_CONTINUES;
}

static void add_wide(const struct naive *n, double *logits, const uint32_t *ids, size_t L)
{
        const double *table = n->embed + (n->V + n->c->spelling) * n->c->dim;
        double *x = doubles(n->c->linear.wide), squares[2] = {0};

        for (size_t length = 1; length <= n->c->linear.ngrams; length++)
                for (size_t t = 0; t + length <= L; t++)
                        if (words_are_whole(n, ids, L, t, t + length))
                                x[bucket_of(n, ids + t, length)]++;
        for (size_t t = 0; n->c->linear.affixes && t < L; t++)
                for (size_t i = 0; i < RAN_AFFIXES; i++) {
                        uint32_t bucket = n->affixes[ids[t] * RAN_AFFIX_ROW + i];
                        size_t later = i % 2 == 0 ? t : t + 1; /* the first is behind no other */

                        if (bucket != RAN_NO_AFFIX &&
                            (later == L || kind(n, ids[later]) != RAN_SUBWORD_CONTINUES))
                                x[bucket]++;
                }
        for (size_t g = 0; g < n->c->linear.wide; g++) {
                x[g] = x[g] > 0 ? (1 + log(x[g])) * (double)n->idf[g] : 0;
                squares[g >= runs_of(n)] += x[g] * x[g];
        }
        for (size_t g = 0; g < n->c->linear.wide; g++) {
                double other = squares[g < runs_of(n)], own = squares[g >= runs_of(n)];

                for (size_t c = 0; c < n->C && x[g] > 0; c++)
                        logits[c] += x[g] / sqrt(other > 0 ? 2 * own : own) * table[g * n->C + c];
        }
        for (size_t c = 0; c < n->C; c++)
                logits[c] += n->head->wide.b[c];
        free(x);
}

void naive_classify(const struct naive *n, double *logits, double *head, const uint32_t *ids,
                    size_t L)
{
        size_t D = n->c->upper.kind >= RAN_UPPER_RAN ? n->c->upper.dim : n->c->dim;
        double *sum = doubles(D);

        if (n->c->encoder == RAN_ENCODER_BERT)
                read_windows(n, sum, ids, L);
        else
                read_document(n, sum, ids, L);
        drop(n, sum, D, 0, 0, RAN_DROP_HEAD, n->noise.dropout);
        linear(n, logits, sum, n->head->out, 1, false); /* (11) */
        if (n->c->linear.wide > 0)
                add_wide(n, logits, ids, L);
        if (head != NULL)
                memcpy(head, sum, D * sizeof(*head));
        free(sum);
}

double naive_loss(const double *logits, size_t C, const uint32_t *gold, size_t n_gold,
                  bool multilabel, double smoothing)
{
        double *p = doubles(C), loss = 0;

        memcpy(p, logits, C * sizeof(*p));
        softmax(p, C);
        for (size_t c = 0; c < C; c++) {
                bool is = false;

                for (size_t i = 0; i < n_gold; i++)
                        is |= gold[i] == c;
                if (multilabel) {
                        double y = (is ? 1 - smoothing : 0) + smoothing / 2;

                        loss -= y * log(sigmoid(logits[c])) / (double)C;
                        loss -= (1 - y) * log(sigmoid(-logits[c])) / (double)C;
                } else {
                        loss -= ((is ? 1 - smoothing : 0) + smoothing / (double)C) * log(p[c]);
                }
        }
        free(p);
        return loss;
}
