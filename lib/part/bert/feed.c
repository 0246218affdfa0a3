/* feed.c - activations, and the feed-forward part with its residual. See bert.h. */
#include "part/bert/bert.h"
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

void ran_bert_drop(const struct ran_bert_pass *s, int site, float *x)
{
        struct ran_workspace *w = s->w;
        const size_t D = w->D;

        if (!w->training || s->stays || !(w->noise.dropout > 0))
                return;
        for (size_t i = s->own->group[s->g]; i < s->own->group[s->g + 1]; i++) {
                const struct ran_bert_window *v = &s->own->window[i];

                ran_workspace_dropout(w, v->b, s->l, site, w->noise.dropout, x + v->row * D,
                                      ran_bert_window_rows(w->c, v) * D, v->at * D);
        }
}

/* ---- activations ---------------------------------------------------------------------------- */

/* gelu_tanh(x) = x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2 = x sigmoid(z), z = a (x + b x³). */
static const float gelu_a = 1.5957691216f, gelu_b = 0.044715f;
enum { CHUNK = 256 };

static void gelu_tanh_gate(float *z, const float *x, size_t n)
{
        for (size_t i = 0; i < n; i++)
                z[i] = gelu_a * (x[i] + gelu_b * x[i] * x[i] * x[i]);
}

static void gelu_tanh(float *y, const float *x, size_t n)
{
        float z[CHUNK], sum[CHUNK];

        gelu_tanh_gate(z, x, n);
        memset(sum, 0, n * sizeof *sum);
        ran_simd->glu_add(sum, x, z, n);
        memcpy(y, sum, n * sizeof *y);
}

static void gelu_tanh_bwd(float *dx, const float *x, const float *dy, size_t n)
{
        float z[CHUNK], dvalue[CHUNK], dgate[CHUNK];

        gelu_tanh_gate(z, x, n);
        ran_simd->glu_bwd(dvalue, dgate, dy, x, z, n);
        for (size_t i = 0; i < n; i++)
                dx[i] = dvalue[i] + dgate[i] * gelu_a * (1 + 3 * gelu_b * x[i] * x[i]);
}

/* tanh(x) = 2 sigmoid(2 x) - 1, but exact near 0. */
static float hyperbolic(float x)
{
        const double u = (double)x, e = ran_exp(-2 * (u < 0 ? -u : u));
        const double t = u > -1e-4 && u < 1e-4 ? (u < 0 ? -u : u) : (1 - e) / (1 + e);

        return (float)(u < 0 ? -t : t);
}

static void activate(int activation, float *y, const float *x, size_t n)
{
        switch (activation) {
        case RAN_ACTIVATION_GELU:
                ran_simd->gelu(y, x, n);
                return;
        case RAN_ACTIVATION_GELU_TANH:
                gelu_tanh(y, x, n);
                return;
        case RAN_ACTIVATION_SILU:
                ran_simd->silu(y, x, n);
                return;
        case RAN_ACTIVATION_RELU:
                for (size_t i = 0; i < n; i++)
                        y[i] = x[i] > 0 ? x[i] : 0;
                return;
        case RAN_ACTIVATION_TANH:
                for (size_t i = 0; i < n; i++)
                        y[i] = hyperbolic(x[i]);
                return;
        default:
                memmove(y, x, n * sizeof *y);
        }
}

static void activate_bwd(int activation, float *dx, const float *x, const float *dy, size_t n)
{
        switch (activation) {
        case RAN_ACTIVATION_GELU:
                ran_simd->gelu_bwd(dx, x, dy, n);
                return;
        case RAN_ACTIVATION_GELU_TANH:
                gelu_tanh_bwd(dx, x, dy, n);
                return;
        case RAN_ACTIVATION_SILU:
                ran_simd->silu_bwd(dx, x, dy, n);
                return;
        case RAN_ACTIVATION_RELU:
                for (size_t i = 0; i < n; i++)
                        dx[i] = x[i] > 0 ? dy[i] : 0;
                return;
        case RAN_ACTIVATION_TANH:
                for (size_t i = 0; i < n; i++) {
                        const float t = hyperbolic(x[i]);

                        dx[i] = dy[i] * (1 - t * t);
                }
                return;
        default:
                memmove(dx, dy, n * sizeof *dx);
        }
}

void ran_bert_activate(int activation, float *y, const float *x, size_t n)
{
        for (size_t i = 0; i < n; i += CHUNK)
                activate(activation, y + i, x + i, n - i < CHUNK ? n - i : CHUNK);
}

void ran_bert_activate_bwd(int activation, float *dx, const float *x, const float *dy, size_t n)
{
        for (size_t i = 0; i < n; i += CHUNK)
                activate_bwd(activation, dx + i, x + i, dy + i, n - i < CHUNK ? n - i : CHUNK);
}

/* ---- forward -------------------------------------------------------------------------------- */

/* act(up) ⊙ gate, and how far its rows are apart: nobody asks for `up` again but in training. */
static float *fed_of(const struct ran_bert_pass *s)
{
        return s->w->training ? s->own->rows.fed : s->act->up;
}

static size_t fed_ld(const struct ran_bert_pass *s)
{
        return s->w->training ? s->w->c->ffn_dim : ran_bert_up_ld(s->w->c);
}

static void feed_rows(void *arg, size_t from, size_t n)
{
        const struct ran_bert_pass *s = arg;
        const struct ran_config *c = s->w->c;
        const size_t F = c->ffn_dim;

        for (size_t r = from; r < from + n; r++) {
                const float *up = s->act->up + r * ran_bert_up_ld(c);
                float *fed = fed_of(s) + r * fed_ld(s);

                ran_bert_activate(c->bert.activation, fed, up, F);
                if (c->bert.gated)
                        ran_simd->mul(fed, fed, up + F, F);
        }
}

void ran_bert_feed(struct ran_bert_pass *s)
{
        struct ran_workspace *w = s->w;
        const size_t D = w->D, F = w->c->ffn_dim, U = ran_bert_ups(w->c);

        ran_gemm_linear_kept(w->pool, s->panels, s->act->up, ran_bert_up_ld(w->c), s->act->y, D,
                             s->p->up_w, s->p->up_b, s->R, D, U);
        ran_rows_each(&s->of, feed_rows, s);
        ran_gemm_linear_kept(w->pool, s->panels, s->own->rows.o, D, fed_of(s), fed_ld(s),
                             s->p->down_w, s->p->down_b, s->R, F, D);
        ran_bert_drop(s, RAN_DROP_FEED, s->own->rows.o);
        if (w->c->bert.norm_first) {
                ran_rows_add(&s->of, s->out, s->act->mid, s->own->rows.o);
                return;
        }
        ran_rows_add(&s->of, s->act->sum, s->act->y, s->own->rows.o);
        ran_rows_norm(&s->of, s->out, s->act->sum_stat, s->act->sum, s->p->ffn_norm_w,
                      s->p->ffn_norm_b);
}

/* ---- backward ------------------------------------------------------------------------------- */

static void feed_rows_bwd(void *arg, size_t from, size_t n)
{
        const struct ran_bert_pass *s = arg;
        const struct ran_config *c = s->w->c;
        const size_t F = c->ffn_dim, U = ran_bert_up_ld(c);

        for (size_t r = from; r < from + n; r++) {
                const float *up = s->act->up + r * U;
                float *dup = s->own->adj.dup + r * U, *dfed = s->own->adj.dfed + r * F;

                if (c->bert.gated) {
                        ran_bert_activate(c->bert.activation, dup + F, up, F);
                        ran_simd->mul(dup + F, dup + F, dfed, F);
                        ran_simd->mul(dfed, dfed, up + F, F);
                }
                ran_bert_activate_bwd(c->bert.activation, dup, up, dfed, F);
        }
}

void ran_bert_feed_bwd(struct ran_bert_pass *s)
{
        struct ran_workspace *w = s->w;
        struct ran_bert_memory *own = s->own;
        const size_t D = w->D, F = w->c->ffn_dim, U = ran_bert_ups(w->c);
        const bool first = w->c->bert.norm_first;

        if (!first)
                ran_rows_norm_bwd(&s->of, own->adj.dh, own->adj.dh, s->act->sum, s->act->sum_stat,
                                  s->p->ffn_norm_w, s->dp->ffn_norm_w, s->dp->ffn_norm_b);
        float *d_o = memcpy(own->rows.o, own->adj.dh, s->R * D * sizeof *d_o);
        ran_bert_drop(s, RAN_DROP_FEED, d_o);
        ran_rows_each(&s->of, feed_rows, s);
        ran_gemm_linear_bwd(w->pool, own->adj.dfed, F, false, s->dp->down_w, s->dp->down_b, d_o, D,
                            own->rows.fed, F, s->p->down_w, s->R, F, D);
        ran_rows_each(&s->of, feed_rows_bwd, s);
        ran_gemm_linear_bwd(w->pool, first ? own->adj.dy : own->adj.dh, D, !first, s->dp->up_w,
                            s->dp->up_b, own->adj.dup, ran_bert_up_ld(w->c), s->act->y, D,
                            s->p->up_w, s->R, D, U);
}
