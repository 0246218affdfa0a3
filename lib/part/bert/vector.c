/* vector.c - vectors of documents, and the dense layer in front of heads. See bert.h. */
#include "part/bert/bert.h"
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "nn/part.h"
#include "ran/model.h"

#include <math.h>
#include <string.h>

/* ---- the dense layer: n rows from out.pooled to out.vector ---------------------------------- */

static void dense(struct ran_workspace *w, const struct ran_params *p, size_t from, size_t n)
{
        const struct ran_config *c = w->c;
        const struct ran_bert_once *once = p->once;
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t D = w->D, Q = c->bert.dense;
        float *vector = own->out.vector + from * ran_bert_width(c);
        float *pre = own->out.pre + from * Q, *acted = own->out.acted + from * Q;

        if (Q == 0) {
                memcpy(vector, own->out.pooled + from * D, n * D * sizeof *vector);
                return;
        }
        ran_gemm_linear(w->pool, pre, Q, own->out.pooled + from * D, D, once->dense_w,
                        once->dense_b, n, D, Q);
        ran_bert_activate(c->bert.dense_activation, acted, pre, n * Q);
        if (c->bert.dense_norm)
                ran_simd->norm(vector, Q, own->out.acted_stat + from * 2, acted, Q,
                               once->dense_norm_w,
                               once->dense_norm_b != NULL ? once->dense_norm_b : own->zero,
                               c->bert.norm_eps, n, Q);
        else
                memcpy(vector, acted, n * Q * sizeof *vector);
}

/* From out.dvector, which it changes, to out.dpooled. */
static void dense_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                      size_t n)
{
        const struct ran_config *c = w->c;
        const struct ran_bert_once *once = p->once;
        struct ran_bert_once *donce = dp->once;
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t D = w->D, Q = c->bert.dense;
        float *d = own->out.dvector;

        if (Q == 0) {
                memcpy(own->out.dpooled, d, n * D * sizeof *d);
                return;
        }
        if (c->bert.dense_norm) {
                float *dw = donce->dense_norm_w, *db = donce->dense_norm_b;

                ran_simd->norm_bwd(d, Q, dw, db != NULL ? db : own->sink, d, Q, own->out.acted, Q,
                                   own->out.acted_stat, once->dense_norm_w, n, Q);
        }
        ran_bert_activate_bwd(c->bert.dense_activation, d, own->out.pre, d, n * Q);
        ran_gemm_linear_bwd(w->pool, own->out.dpooled, D, false, donce->dense_w, donce->dense_b, d,
                            Q, own->out.pooled, D, once->dense_w, n, D, Q);
}

/* ---- pooling of windows --------------------------------------------------------------------- */

/* The row of a window that is its vector, for the poolings that take one. */
static size_t one_of(const struct ran_config *c, size_t rows)
{
        return c->pooling == RAN_POOL_CLS ? 0 : rows - 1;
}

void ran_bert_pool(const struct ran_bert_pass *s)
{
        const struct ran_config *c = s->w->c;
        const size_t D = s->w->D, skip = c->bert.pool_skip;

        for (size_t i = s->own->group[s->g]; i < s->own->group[s->g + 1]; i++) {
                const struct ran_bert_window *window = &s->own->window[i];
                const size_t rows = ran_bert_window_rows(c, window);
                const float *x = s->own->outputs + window->row * D;
                float *v = s->own->out.pooled + i * D;

                if (c->pooling == RAN_POOL_MAX) {
                        ran_simd->max_rows(v, s->own->argmax + i * D, x + skip * D, D, rows - skip,
                                           D);
                } else if (c->pooling == RAN_POOL_MEAN) {
                        memset(v, 0, D * sizeof *v);
                        for (size_t r = skip; r < rows; r++)
                                ran_simd->add(v, x + r * D, D);
                        for (size_t d = 0; d < D; d++)
                                v[d] /= (float)(rows - skip);
                } else {
                        memcpy(v, x + one_of(c, rows) * D, D * sizeof *v);
                }
        }
}

void ran_bert_pool_bwd(const struct ran_bert_pass *s, size_t i, float *dx)
{
        const struct ran_workspace *w = s->w;
        const struct ran_bert_memory *own = s->own;
        const size_t D = w->D, rows = ran_bert_window_rows(w->c, &own->window[i]),
                     skip = w->c->bert.pool_skip;
        const float *dv = own->out.dpooled + i * D, share = 1.0f / (float)(rows - skip);

        switch (w->c->pooling) {
        case RAN_POOL_MAX:
                for (size_t d = 0; d < D; d++)
                        dx[(skip + own->argmax[i * D + d]) * D + d] += dv[d];
                return;
        case RAN_POOL_MEAN:
                for (size_t r = skip; r < rows; r++)
                        ran_simd->axpy(dx + r * D, share, dv, D);
                return;
        default:
                ran_simd->add(dx + one_of(w->c, rows) * D, dv, D);
        }
}

/* ---- windows to documents ------------------------------------------------------------------- */

/* The share of window i in the mean of its document. */
static float share_of(const struct ran_workspace *w, size_t i)
{
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t b = own->window[i].b, last = own->doc[b + 1] - 1;
        const size_t windows = last + 1 - own->doc[b];
        const size_t rows = own->window[last].at + ran_bert_window_rows(w->c, &own->window[last]) -
                            windows * w->c->bert.pool_skip;

        if (w->c->pooling == RAN_POOL_MEAN && w->c->upper == RAN_UPPER_POOLING)
                return (float)((double)(ran_bert_window_rows(w->c, &own->window[i]) -
                                        w->c->bert.pool_skip) /
                               (double)rows);
        return (float)(1 / (double)windows);
}

static bool joins_max(const struct ran_config *c)
{
        return c->upper == RAN_UPPER_MAX ||
               (c->upper == RAN_UPPER_POOLING && c->pooling == RAN_POOL_MAX);
}

/* Whether windows have vectors of one length, as documents: not the pooling's way. */
static bool has_unit(const struct ran_workspace *w)
{
        return w->c->upper != RAN_UPPER_POOLING && w->c->bert.l2_normalize;
}

/* What is joined: vectors of windows. */
static float *joined_from(const struct ran_workspace *w)
{
        const struct ran_bert_memory *own = ran_bert_memory_of(w);

        return has_unit(w) ? own->out.unit : own->out.vector;
}

/* The windows of document b, without the layer of a head of words or tokens. The elements of unit
 * vectors are about as large as those that heads read. */
static void window_vectors(struct ran_workspace *w, const struct ran_params *p, size_t b)
{
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t Q = ran_bert_width(w->c), from = own->doc[b], end = own->doc[b + 1];

        if (ran_task_of(w->c)->output == RAN_OUTPUT_DOCUMENT)
                dense(w, p, from, end - from);
        else
                memcpy(own->out.vector + from * Q, own->out.pooled + from * Q,
                       (end - from) * Q * sizeof(float));
        for (size_t i = from; i < end && has_unit(w); i++)
                ran_unit(own->out.unit + i * Q, own->out.vector + i * Q, Q, sqrt((double)Q));
}

/* The first n numbers of the vector of document b. */
static void make_vector(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v,
                        size_t n)
{
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t Q = ran_bert_width(w->c), from = own->doc[b], end = own->doc[b + 1];
        const float *x = joined_from(w) + from * Q;
        float *joined = memset(own->out.joined + b * Q, 0, Q * sizeof *joined);

        window_vectors(w, p, b);
        if (joins_max(w->c))
                ran_simd->max_rows(joined, own->join_argmax + b * Q, x, Q, end - from, Q);
        for (size_t i = from; i < end && !joins_max(w->c); i++, x += Q)
                ran_simd->axpy(joined, share_of(w, i), x, Q);
        if (w->c->bert.l2_normalize)
                ran_unit(own->out.whole, joined, Q, 1);
        memcpy(v, w->c->bert.l2_normalize ? own->out.whole : joined, n * sizeof *v);
}

void ran_bert_vector(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v)
{
        make_vector(w, p, b, v, ran_bert_vector_width(w->c));
}

static void join_bwd(const struct ran_workspace *w, size_t b, const float *dv)
{
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t Q = ran_bert_width(w->c), from = own->doc[b], windows = own->doc[b + 1] - from;
        float *dx = own->out.dvector + from * Q;

        memset(dx, 0, windows * Q * sizeof *dx);
        if (joins_max(w->c))
                for (size_t d = 0; d < Q; d++)
                        dx[own->join_argmax[b * Q + d] * Q + d] = dv[d];
        else
                for (size_t i = 0; i < windows; i++)
                        ran_simd->axpy(dx + i * Q, share_of(w, from + i), dv, Q);
}

/* From out.dvector to out.dpooled. */
static void window_vectors_bwd(struct ran_workspace *w, const struct ran_params *p,
                               struct ran_params *dp)
{
        struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t Q = ran_bert_width(w->c);

        for (size_t i = 0; i < own->M && has_unit(w); i++)
                ran_unit_bwd(own->out.dvector + i * Q, own->out.vector + i * Q, Q, sqrt((double)Q));
        dense_bwd(w, p, dp, own->M);
        own->pooled_bwd = true;
}

/* From dv (B, n), the first numbers of each document's vector. */
static void make_vectors_bwd(struct ran_workspace *w, const struct ran_params *p,
                             struct ran_params *dp, const float *dv, size_t n)
{
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t Q = ran_bert_width(w->c);
        float *whole = own->out.whole;

        for (size_t b = 0; b < w->packed->B; b++) {
                memset(whole, 0, Q * sizeof *whole);
                memcpy(whole, dv + b * n, n * sizeof *whole);
                if (w->c->bert.l2_normalize)
                        ran_unit_bwd(whole, own->out.joined + b * Q, Q, 1);
                join_bwd(w, b, whole);
        }
        window_vectors_bwd(w, p, dp);
}

void ran_bert_vectors_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, float *dv)
{
        make_vectors_bwd(w, p, dp, dv, ran_bert_vector_width(w->c));
}

/* ---- heads ---------------------------------------------------------------------------------- */

/* How certain a window is, by its logits (C). */
static double certainty(const float *logits, size_t C, bool multilabel)
{
        float most = logits[0];
        double sum = 0;

        for (size_t c = 1; c < C; c++)
                most = fmaxf(most, logits[c]);
        if (multilabel)
                return (double)most;
        for (size_t c = 0; c < C; c++)
                sum += ran_exp((double)logits[c] - (double)most);
        return 1 / sum; /* the probability of that label */
}

/* The window of document b with the largest probability of a label or, of several labels, the
 * largest logit; the first of equal ones. */
static void choose_window(struct ran_workspace *w, const struct ran_params *p, size_t b)
{
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t D = w->D, C = w->size.C, first = own->doc[b], end = own->doc[b + 1];
        float *logits = own->out.logits;
        double best = -INFINITY;

        window_vectors(w, p, b);
        const float *x = joined_from(w);
        ran_gemm_linear(w->pool, logits, C, x + first * D, D, p->head.w, p->head.b, end - first, D,
                        C);
        own->chosen[b] = (uint32_t)first;
        for (size_t i = first; i < end; i++, logits += C) {
                const double certain = certainty(logits, C, w->c->classify.multilabel);

                own->chosen[b] = certain > best ? (uint32_t)i : own->chosen[b];
                best = fmax(certain, best);
        }
        memcpy(w->head.head + b * D, x + own->chosen[b] * D, D * sizeof *x);
}

/* Document by document, so that products have the rows that they have for one alone. */
void ran_bert_documents(struct ran_workspace *w, const struct ran_params *p)
{
        for (size_t b = 0; b < w->packed->B; b++)
                if (w->c->upper == RAN_UPPER_CERTAIN)
                        choose_window(w, p, b);
                else
                        make_vector(w, p, b, w->head.head + b * w->D, w->D);
}

void ran_bert_documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                            struct ran_params *dp)
{
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t D = w->D;
        float *dx = own->out.dvector;

        if (w->c->upper != RAN_UPPER_CERTAIN) {
                make_vectors_bwd(w, p, dp, w->head.dhead, w->D);
                return;
        }
        memset(dx, 0, own->M * D * sizeof *dx);
        for (size_t b = 0; b < w->packed->B; b++)
                ran_simd->add(dx + own->chosen[b] * D, w->head.dhead + b * D, D);
        window_vectors_bwd(w, p, dp);
}

void ran_bert_outputs(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t n = w->packed->positions, bytes = n * w->D * sizeof(float);

        if (w->c->bert.dense == 0)
                return;
        memcpy(own->out.pooled, w->head.head, bytes);
        dense(w, p, 0, n);
        memcpy(w->head.head, own->out.vector, bytes);
}

void ran_bert_outputs_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp)
{
        const struct ran_bert_memory *own = ran_bert_memory_of(w);
        const size_t n = w->packed->positions, bytes = n * w->D * sizeof(float);

        if (w->c->bert.dense == 0)
                return;
        memcpy(own->out.dvector, w->head.dhead, bytes);
        dense_bwd(w, p, dp, n);
        memcpy(w->head.dhead, own->out.dpooled, bytes);
}
