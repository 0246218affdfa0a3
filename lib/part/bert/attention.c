/* attention.c - attention of windows and its residual. See bert.h.
 *
 * A task is a head of a window; it goes through its queries in blocks, so that the scores of a long
 * window need not be in memory at once. The backward pass computes them again. */
#include "part/bert/bert.h"
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <math.h>
#include <string.h>

enum { QUERIES = 64 }; /* of a block */

/* Scores of a block of queries; backward their adjoints, too. */
size_t ran_bert_attention_scratch(const struct ran_workspace *w)
{
        return (w->training ? 2 : 1) * QUERIES * ran_bert_memory_of(w)->longest;
}

/* ---- relative positions --------------------------------------------------------------------- */

/* The bucket of a key `distance` after its query, as in T5 and MPNet: half of the buckets are for
 * keys before it; of each half the first are of single distances, the others grow evenly in their
 * logarithms up to a distance of 128. In float, as there. */
static size_t bucket_of(size_t buckets, ptrdiff_t distance)
{
        const size_t half = buckets / 2, single = half / 2;
        const size_t n = (size_t)(distance < 0 ? -distance : distance),
                     base = distance > 0 ? half : 0;

        if (n < single || single == 0)
                return base + (n < half ? n : half - 1);
        const float log_n = (float)ran_log((double)n / (double)single);
        const float log_all = (float)ran_log(128.0 / (double)single);
        const size_t bucket = single + (size_t)(log_n / log_all * (float)(half - single));
        return base + (bucket < half ? bucket : half - 1);
}

/* Biases of head j by distance, that of distance 0 in the middle. */
static float *bias_of(const struct ran_workspace *w, float *bias, size_t j)
{
        const size_t M = w->c->bert.max_length;

        return w->c->bert.buckets > 0 ? bias + j * (2 * M - 1) + M - 1 : NULL;
}

static double root(const struct ran_workspace *w)
{
        return sqrt((double)w->d_k);
}

/* Scores are divided by root(d_k) in the softmax: biases are multiplied by it. */
void ran_bert_bias(const struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_config *c = w->c;
        const struct ran_bert_once *once = p->once;
        struct ran_bert_memory *own = ran_bert_memory_of(w);
        const ptrdiff_t M = (ptrdiff_t)c->bert.max_length;

        if (c->bert.buckets == 0 || own->has_bias)
                return;
        own->has_bias = !w->training;
        if (own->bias == NULL)
                own->bias = ran_new_floats(ran_bert_biases(c));
        for (size_t j = 0; j < c->heads; j++) {
                float *bias = bias_of(w, own->bias, j);

                for (ptrdiff_t d = 1 - M; d < M; d++) {
                        const size_t bucket = bucket_of(c->bert.buckets, d);

                        bias[d] = (float)((double)once->relative[bucket * c->heads + j] * root(w));
                }
        }
}

void ran_bert_bias_bwd(const struct ran_workspace *w, struct ran_params *dp)
{
        const struct ran_config *c = w->c;
        const struct ran_bert_once *donce = dp->once;
        const ptrdiff_t M = (ptrdiff_t)c->bert.max_length;

        if (donce == NULL || donce->relative == NULL)
                return;
        for (size_t j = 0; j < c->heads; j++) {
                const float *dbias = bias_of(w, ran_bert_memory_of(w)->dbias, j);

                for (ptrdiff_t d = 1 - M; d < M; d++)
                        donce->relative[bucket_of(c->bert.buckets, d) * c->heads + j] +=
                                (float)((double)dbias[d] * root(w));
        }
}

/* ---- one head of a window ------------------------------------------------------------------- */

/* Queries [q, q + n) of a head, and the keys [k, k + keys) that some of them see. */
struct block {
        const struct ran_bert_pass *s;
        const float *qkv; /* of the window and the head */
        size_t rows, j, reach;
        size_t q, n, k, keys;
};

static bool next_block(struct block *k)
{
        k->q += k->n;
        if (k->q == k->rows)
                return false;
        k->n = k->rows - k->q < QUERIES ? k->rows - k->q : QUERIES;
        k->k = k->q > k->reach ? k->q - k->reach : 0;
        const size_t last = k->q + k->n - 1;
        const size_t end = k->rows - last > k->reach ? last + k->reach + 1 : k->rows;
        k->keys = end - k->k;
        return true;
}

/* The weights of a block (n, keys). */
static void weigh(const struct block *k, float *score)
{
        const struct ran_workspace *w = k->s->w;
        const size_t ld = 3 * w->E;
        const float *bias = bias_of(w, k->s->own->bias, k->j);

        ran_gemm(score, k->keys, k->qkv + k->q * ld, ld, 1, k->qkv + w->E + k->k * ld, 1, ld, k->n,
                 k->keys, w->d_k, false);
        for (size_t i = 0; i < k->n; i++, score += k->keys) {
                const size_t q = k->q + i, low = q > k->reach ? q - k->reach : 0;
                const size_t from = low - k->k,
                             high = k->rows - q > k->reach ? q + k->reach + 1 : k->rows;
                const size_t to = high - k->k;

                if (bias != NULL)
                        ran_simd->add(score, bias + (ptrdiff_t)k->k - (ptrdiff_t)q, k->keys);
                ran_simd->softmax(score + from, (float)(1 / root(w)), to - from, NULL);
                memset(score, 0, from * sizeof *score);
                memset(score + to, 0, (k->keys - to) * sizeof *score);
        }
}

static struct block block_of(const struct ran_bert_pass *s, const struct ran_bert_window *v,
                             size_t j)
{
        const struct ran_workspace *w = s->w;
        const bool global = s->l % w->c->bert.global_every == 0;

        return (struct block){.s = s,
                              .qkv = s->act->qkv + v->row * 3 * w->E + j * w->d_k,
                              .rows = ran_bert_window_rows(w->c, v),
                              .j = j,
                              .reach = global ? SIZE_MAX / 2 : w->c->window / 2};
}

static void attend(void *arg, size_t task, float *score)
{
        const struct ran_bert_pass *s = arg;
        const struct ran_workspace *w = s->w;
        const size_t j = task % w->h, ld = 3 * w->E;
        const struct ran_bert_window *v = &s->own->window[s->own->group[s->g] + task / w->h];
        struct block k = block_of(s, v, j);

        while (next_block(&k)) {
                weigh(&k, score);
                ran_gemm(s->act->a + (v->row + k.q) * w->E + j * w->d_k, w->E, score, k.keys, 1,
                         k.qkv + 2 * w->E + k.k * ld, ld, 1, k.n, w->d_k, k.keys, false);
        }
}

/* ---- attention probes: of the tokens of a window, without the rows around them -----------------
 */

/* The queries of a block, of the weights of a head. */
static void fill_probe_block(struct ran_probe *p, const struct block *k,
                             const struct ran_bert_window *v, const float *weight, float scale)
{
        const size_t prefix = k->s->w->c->bert.prefix, keys = k->k + k->keys;
        const size_t key = k->k > prefix ? k->k : prefix;
        const size_t end = keys < prefix + v->n ? keys : prefix + v->n;

        for (size_t i = 0; i < k->n && key < end; i++, weight += k->keys) {
                const size_t q = k->q + i, t = v->t + q - prefix;

                if (q >= prefix && q < prefix + v->n && t >= p->query_from && t < p->query_to)
                        ran_probe_add(p, t, v->t + key - prefix, weight + (key - k->k), end - key,
                                      scale);
        }
}

static void fill_probe_window(const struct ran_bert_pass *s, struct ran_probe *p,
                              const struct ran_bert_window *v, float *score)
{
        size_t from, to, head, heads;
        const float scale = ran_probe_heads(p, s->w->h, &head, &heads);

        if (!ran_probe_queries(p, v->t, v->n, &from, &to) ||
            !ran_probe_keys(p, v->t, v->n, &from, &to))
                return;
        for (; head < heads; head++) {
                struct block k = block_of(s, v, head);

                while (next_block(&k)) {
                        weigh(&k, score);
                        fill_probe_block(p, &k, v, score, scale);
                }
        }
}

/* The attention of a layer, for a batch of one document. */
static void fill_probe(void *arg, size_t at, float *score)
{
        const struct ran_bert_pass *s = arg;
        struct ran_probe *p = &s->w->probes->probe[at];

        if (!ran_probe_matches(p, RAN_PROBE_HEADS, s->l))
                return;
        for (size_t i = s->own->group[s->g]; i < s->own->group[s->g + 1]; i++)
                fill_probe_window(s, p, &s->own->window[i], score);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* With P the weights: dV = P^T dA, dP = dA V^T, dS = P (dP - rowsum(dP P)) / root(d_k), dQ = dS K,
 * dK = dS^T Q, and dS by distance is the adjoint of the biases. */
static void attend_window_bwd(const struct ran_bert_pass *s, const struct ran_bert_window *v,
                              size_t j, float *score)
{
        const struct ran_workspace *w = s->w;
        const size_t ld = 3 * w->E, d_k = w->d_k, E = w->E;
        float *dq = s->own->adj.dqkv + v->row * ld + j * d_k, *dbias = bias_of(w, s->own->dbias, j);
        struct block k = block_of(s, v, j);

        while (next_block(&k)) {
                float *dscore = score + QUERIES * k.rows;
                const float *da = s->own->adj.da + (v->row + k.q) * E + j * d_k;
                const float *q = k.qkv + k.q * ld, *key = k.qkv + E + k.k * ld, *value = key + E;

                weigh(&k, score);
                ran_gemm(dq + 2 * E + k.k * ld, ld, score, 1, k.keys, da, E, 1, k.keys, d_k, k.n,
                         true);
                ran_gemm(dscore, k.keys, da, E, 1, value, 1, ld, k.n, k.keys, d_k, false);
                for (size_t i = 0; i < k.n; i++) {
                        ran_simd->softmax_bwd(dscore + i * k.keys, score + i * k.keys,
                                              (float)(1 / root(w)), k.keys);
                        if (dbias != NULL)
                                ran_simd->add(dbias + (ptrdiff_t)k.k - (ptrdiff_t)(k.q + i),
                                              dscore + i * k.keys, k.keys);
                }
                ran_gemm(dq + k.q * ld, ld, dscore, k.keys, 1, key, ld, 1, k.n, d_k, k.keys, true);
                ran_gemm(dq + E + k.k * ld, ld, dscore, 1, k.keys, q, ld, 1, k.keys, d_k, k.n,
                         true);
        }
}

/* A task is a head of all windows: the gradients of its biases are summed in order. */
static void attend_bwd(void *arg, size_t j, float *score)
{
        const struct ran_bert_pass *s = arg;

        for (size_t i = s->own->group[s->g]; i < s->own->group[s->g + 1]; i++)
                attend_window_bwd(s, &s->own->window[i], j, score);
}

/* ---- a layer's attention -------------------------------------------------------------------- */

/* Turns q and k of all rows, or back. */
static void rotate(struct ran_bert_pass *s, float *qkv, float sign)
{
        const struct ran_workspace *w = s->w;
        const struct ran_rotary *r =
                s->l % w->c->bert.global_every == 0 ? &s->own->rotary : &s->own->rotary_local;

        for (size_t i = s->own->group[s->g]; w->c->rotary && i < s->own->group[s->g + 1]; i++) {
                const struct ran_bert_window *v = &s->own->window[i];

                ran_simd->rotary(qkv + v->row * 3 * w->E, 3 * w->E, r->table, sign,
                                 ran_bert_window_rows(w->c, v), 2 * w->h, w->d_k);
        }
}

/* Whether q, k and v are of LN(x), not of x. */
static bool has_input_norm(const struct ran_bert_pass *s)
{
        return s->w->c->bert.norm_first && s->p->attn_norm_w != NULL;
}

static const float *input(const struct ran_bert_pass *s)
{
        return has_input_norm(s) ? s->act->z : s->act->x;
}

void ran_bert_attention(struct ran_bert_pass *s)
{
        struct ran_workspace *w = s->w;
        const size_t D = w->D, E = w->E, windows = s->own->group[s->g + 1] - s->own->group[s->g];
        const struct ran_bert_params *p = s->p;
        const bool first = w->c->bert.norm_first;
        const struct ran_bert_window *last = &s->own->window[s->own->group[s->g + 1] - 1];
        const size_t rows = last->row + ran_bert_window_rows(w->c, last);

        if (has_input_norm(s))
                ran_rows_norm(&s->of, s->act->z, s->act->z_stat, s->act->x, p->attn_norm_w,
                              p->attn_norm_b);
        ran_gemm_linear_kept(w->pool, s->panels, s->act->qkv, 3 * E, input(s), D, p->q_w, p->q_b,
                             s->R, D, 3 * E);
        rotate(s, s->act->qkv, 1);
        memset(s->act->a + rows * E, 0, (s->R - rows) * E * sizeof(float)); /* of a padded group */
        ran_workers_each(&w->workers, 0, windows * w->h, attend, s);
        if (w->probes != NULL)
                ran_workers_each(&w->workers, 0, w->probes->n, fill_probe, s);
        ran_gemm_linear_kept(w->pool, s->panels, s->own->rows.o, D, s->act->a, E, p->out_w,
                             p->out_b, s->R, E, D);
        ran_bert_drop(s, RAN_DROP_ATTENTION, s->own->rows.o);
        ran_rows_add(&s->of, s->act->mid, s->act->x, s->own->rows.o);
        /* of attention itself, or in front of the feed-forward part */
        ran_rows_norm(&s->of, s->act->y, s->act->mid_stat, s->act->mid,
                      first ? p->ffn_norm_w : p->attn_norm_w,
                      first ? p->ffn_norm_b : p->attn_norm_b);
}

void ran_bert_attention_bwd(struct ran_bert_pass *s)
{
        struct ran_workspace *w = s->w;
        struct ran_bert_memory *own = s->own;
        const size_t D = w->D, E = w->E;
        const bool normed = has_input_norm(s), first = w->c->bert.norm_first;
        const struct ran_bert_params *p = s->p, *dp = s->dp;
        float *dx = normed ? own->adj.dz : s->lowest ? NULL : own->adj.dh;

        ran_rows_norm_bwd(&s->of, own->adj.dh, first ? own->adj.dy : own->adj.dh, s->act->mid,
                          s->act->mid_stat, first ? p->ffn_norm_w : p->attn_norm_w,
                          first ? dp->ffn_norm_w : dp->attn_norm_w,
                          first ? dp->ffn_norm_b : dp->attn_norm_b);
        float *d_o = memcpy(own->rows.o, own->adj.dh, s->R * D * sizeof *d_o);
        ran_bert_drop(s, RAN_DROP_ATTENTION, d_o);
        ran_gemm_linear_bwd(w->pool, own->adj.da, E, false, dp->out_w, dp->out_b, d_o, D, s->act->a,
                            E, p->out_w, s->R, E, D);
        memset(own->adj.dqkv, 0, s->R * 3 * E * sizeof *own->adj.dqkv);
        ran_workers_each(&w->workers, 0, w->h, attend_bwd, s);
        rotate(s, own->adj.dqkv, -1);
        ran_gemm_linear_bwd(w->pool, dx, D, !normed, dp->q_w, dp->q_b, own->adj.dqkv, 3 * E,
                            input(s), D, p->q_w, s->R, D, 3 * E);
        if (normed)
                ran_rows_norm_bwd(&s->of, own->adj.dh, own->adj.dz, s->act->x, s->act->z_stat,
                                  p->attn_norm_w, dp->attn_norm_w, dp->attn_norm_b);
}
