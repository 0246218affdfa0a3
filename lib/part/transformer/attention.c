/* attention.c - attention by patterns and its residual. See transformer.h. */
#include "part/transformer/transformer.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

/* ---- masks and tasks ------------------------------------------------------------------------ */

int ran_transformer_attention_prepare(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_transformer_memory *own = w->own[RAN_PART_TRANSFORMER];
        const struct ran_config *c = w->c;
        const struct ran_packed *packed = w->packed;

        RAN_ROOM(own->mask, own->mask_cap, packed->B * w->h);
        RAN_ROOM(own->task, own->task_cap, packed->B + 1);
        own->task[0] = 0;
        for (size_t b = 0; b < packed->B; b++) {
                const size_t length = ran_transformer_length(packed, b);
                const size_t first = ran_packed_earlier(packed, b) / RAN_SPARSE_BLOCK,
                             last = (length - 1) / RAN_SPARSE_BLOCK;

                own->task[b + 1] = own->task[b] + w->h * (last - first + 1);
                for (size_t j = 0; j < w->h; j++)
                        RAN_TRY(ran_mask_init(
                                &own->mask[b * w->h + j], ran_transformer_pattern(c, j), c->window,
                                c->transformer.dilation, c->mask, length, packed->sources[b], err));
        }
        return RAN_OK;
}

/* ---- one document --------------------------------------------------------------------------- */

/* q, k or v (part 0, 1, 2) of all tokens of document b, earlier ones included: (h, length, d). */
static float *part_of(const struct ran_transformer_pass *s, size_t b, size_t part)
{
        const struct ran_workspace *w = s->w;

        return s->act->qkv + (ran_transformer_first_row(w->packed, b) * 3 +
                              ran_transformer_length(w->packed, b) * part) *
                                     w->E;
}

/* One document's attention in a layer. */
static struct ran_sparse sparse_of(const struct ran_transformer_pass *s, size_t b)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        size_t row = ran_transformer_first_row(packed, b);

        return (struct ran_sparse){.mask = s->own->mask + b * w->h,
                                   .similarity = w->c->transformer.similarity,
                                   .L = ran_transformer_length(packed, b),
                                   .h = w->h,
                                   .d_k = w->d_k,
                                   .qkv = part_of(s, b, 0),
                                   .da = w->training ? s->own->adj.da + row * w->E : NULL,
                                   .a = s->act->a + row * w->E,
                                   .log_sum = s->act->log_sum + row * w->h};
}

/* The document, head and rows of a task. */
static size_t locate(const struct ran_workspace *w, size_t task, size_t *head, size_t *from,
                     size_t *to)
{
        struct ran_transformer_memory *own = w->own[RAN_PART_TRANSFORMER];
        const struct ran_packed *packed = w->packed;
        size_t b = ran_transformer_document_at(own->task, packed->B, task);
        size_t earlier = ran_packed_earlier(packed, b), n = ran_transformer_length(packed, b);

        task -= own->task[b];
        *head = task % w->h;
        *from = (earlier / RAN_SPARSE_BLOCK + task / w->h) * RAN_SPARSE_BLOCK;
        *to = *from + RAN_SPARSE_BLOCK < n ? *from + RAN_SPARSE_BLOCK : n;
        *from = *from > earlier ? *from : earlier;
        return b;
}

static void attend(void *arg, size_t task, float *scratch)
{
        struct ran_transformer_pass *s = arg;
        size_t head, from, to, b = locate(s->w, task, &head, &from, &to);
        struct ran_sparse x = sparse_of(s, b);

        ran_sparse_queries(&x, head, from, to, scratch);
}

static void attend_queries_bwd(void *arg, size_t task, float *scratch)
{
        struct ran_transformer_pass *s = arg;
        struct ran_workspace *w = s->w;
        size_t head, from, to, b = locate(w, task, &head, &from, &to);
        size_t row = ran_transformer_first_row(w->packed, b);
        struct ran_sparse x = sparse_of(s, b);

        ran_sparse_queries_bwd(s->own->adj.dqkv + row * 3 * w->E, s->own->adj.delta + row * w->h,
                               &x, head, from, to, scratch);
}

static void attend_keys_bwd(void *arg, size_t task, float *scratch)
{
        struct ran_transformer_pass *s = arg;
        struct ran_workspace *w = s->w;
        size_t head, from, to, b = locate(w, task, &head, &from, &to);
        size_t row = ran_transformer_first_row(w->packed, b);
        struct ran_sparse x = sparse_of(s, b);

        ran_sparse_keys_bwd(s->own->adj.dqkv + row * 3 * w->E, s->own->adj.delta + row * w->h, &x,
                            head, from, to, scratch);
}

/* Rotates q and k of some tokens, or back. */
static void rotate(const struct ran_workspace *w, const struct ran_transformer_span *k, float *qkv,
                   float sign)
{
        if (w->c->rotary)
                ran_simd->rotary(qkv, 3 * w->E, w->rotary.table + k->at * 2 * w->d_k, sign, k->n,
                                 2 * w->h, w->d_k);
}

/* The first of n earlier tokens of document b that a new one sees. If all heads have windows, a
 * token's cost does not grow with the document. */
static size_t first_seen(const struct ran_workspace *w, size_t b, size_t n)
{
        struct ran_transformer_memory *own = w->own[RAN_PART_TRANSFORMER];
        size_t first = n;

        for (size_t j = 0; j < w->h; j++) {
                const struct ran_mask *m = &own->mask[b * w->h + j];
                size_t from = m->far > 0 || m->near > n ? 0 : n - m->near;

                first = from < first ? from : first;
        }
        return first;
}

/* Loads keys and values of a document's earlier tokens; saves those of new ones in its recurrent
 * state. */
static void recall(struct ran_transformer_pass *s, size_t b)
{
        const struct ran_workspace *w = s->w;
        const struct ran_recurrent_state *recurrent = w->packed->recurrent[b];
        size_t n = ran_packed_earlier(w->packed, b), L = ran_transformer_length(w->packed, b);

        if (n == 0)
                return;
        struct ran_recurrent_run run;

        for (size_t from = first_seen(w, b, n); from < n; from += run.n) {
                run = ran_recurrent_state_run(recurrent, s->l, from, n);
                ran_sparse_pack(part_of(s, b, 1) + from * w->d_k, L, run.key, run.n, w->h, w->d_k);
                ran_sparse_pack(part_of(s, b, 2) + from * w->d_k, L, run.value, run.n, w->h,
                                w->d_k);
        }
}

void ran_transformer_attention_keep(struct ran_transformer_pass *s, size_t b)
{
        const struct ran_workspace *w = s->w;
        struct ran_recurrent_state *recurrent = w->packed->recurrent[b];
        size_t from = ran_packed_earlier(w->packed, b), L = ran_transformer_length(w->packed, b),
               n = L - from, at = (from - recurrent->shared) * w->E;

        ran_sparse_unpack(recurrent->key[s->l] + at, part_of(s, b, 1) + from * w->d_k, L, n, w->h,
                          w->d_k);
        ran_sparse_unpack(recurrent->value[s->l] + at, part_of(s, b, 2) + from * w->d_k, L, n, w->h,
                          w->d_k);
}

/* A query of one head; scratch: room for its weights, too. */
static void fill_probe_row(struct ran_probe *k, const struct ran_sparse *x, size_t head, size_t i,
                           float scale, float *scratch)
{
        struct ran_mask_ranges ranges = ran_mask_row(&x->mask[head], i);
        size_t pos = 0, first, end, from, to;

        while (ran_mask_ranges_next(&x->mask[head], &ranges, &pos, &first, &end)) {
                if (!ran_probe_keys(k, first, end - first, &from, &to))
                        continue;
                for (size_t j = first + from, n; j < first + to; j += n) {
                        n = first + to - j;
                        n = n < RAN_SPARSE_BLOCK ? n : RAN_SPARSE_BLOCK;
                        ran_sparse_weights(scratch, x, head, i, j, n, scratch + RAN_SPARSE_BLOCK);
                        ran_probe_add(k, i, j, scratch, n, scale);
                }
        }
}

/* The attention of a layer, for a batch of one document. */
static void fill_probe(void *arg, size_t at, float *scratch)
{
        const struct ran_transformer_pass *s = arg;
        struct ran_probe *k = &s->w->probes->probe[at];
        struct ran_sparse x = sparse_of(s, 0);
        size_t head, heads;
        float scale = ran_probe_heads(k, s->w->h, &head, &heads);

        for (; head < heads && ran_probe_matches(k, RAN_PROBE_HEADS, s->l); head++)
                for (size_t i = k->query_from; i < k->query_to; i++)
                        fill_probe_row(k, &x, head, i, scale, scratch);
}

/* ---- forward -------------------------------------------------------------------------------- */

/* Rotates q and k, and sorts q, k and v by heads. */
static void arrange_qkv(void *arg, size_t from, size_t n)
{
        const struct ran_transformer_pass *s = arg;
        const struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_transformer_span k;

        for (size_t t = s->t0 + from, end = t + n; t < end; t += k.n) {
                k = ran_transformer_span_of(packed, t, end);
                float *row = s->own->rows.qkv + (t - s->t0) * 3 * w->E;

                rotate(w, &k, row, 1.0f);
                ran_sparse_pack(part_of(s, k.b, 0) + k.at * w->d_k,
                                ran_transformer_length(packed, k.b), row, k.n, 3 * w->h, w->d_k);
        }
}

/* In front of the projections. */
static void norm_input(const struct ran_transformer_pass *s)
{
        ran_rows_norm(&s->of, s->own->rows.z, s->act->z_stat + s->t0 * 2, s->x + s->t0 * s->w->D,
                      s->p->attn_norm_w, s->p->attn_norm_b);
}

static void project(struct ran_transformer_pass *s)
{
        struct ran_workspace *w = s->w;

        norm_input(s);
        ran_gemm_linear(w->pool, s->own->rows.qkv, 3 * w->E, s->own->rows.z, w->D, s->p->q_w,
                        s->p->q_b, s->tokens, w->D, 3 * w->E);
        ran_rows_each(&s->of, arrange_qkv, s);
}

/* Attention of a layer and its residual: from x to mid. again: the heads' outputs are known. */
void ran_transformer_attention(struct ran_workspace *w, const struct ran_params *p, size_t l,
                               bool again)
{
        struct ran_transformer_pass s = ran_transformer_pass_of(w, p, NULL, l, 0);

        for (size_t b = 0; b < w->packed->B; b++)
                recall(&s, b);
        for (size_t t0 = 0; t0 < w->packed->L; t0 += w->slab_rows) {
                s = ran_transformer_pass_of(w, p, NULL, l, t0);
                project(&s);
        }
        if (!again)
                ran_workers_each(&w->workers, 0, s.own->task[w->packed->B], attend, &s);
        if (w->probes != NULL)
                ran_workers_each(&w->workers, 0, w->probes->n, fill_probe, &s);
        for (size_t t0 = 0; t0 < w->packed->L; t0 += w->slab_rows) {
                s = ran_transformer_pass_of(w, p, NULL, l, t0);
                for (struct ran_transformer_span k = {.t = t0}; ran_transformer_next_run(&s, &k);)
                        ran_gemm_linear(w->pool, s.own->rows.o + (k.t - t0) * w->D, w->D,
                                        s.act->a + k.at * w->E, w->E, s.p->out_w, s.p->out_b, k.n,
                                        w->E, w->D);
                ran_transformer_drop(&s, RAN_DROP_ATTENTION, s.own->rows.o);
                ran_rows_add(&s.of, s.act->mid + t0 * w->D, s.x + t0 * w->D, s.own->rows.o);
        }
}

/* ---- backward ------------------------------------------------------------------------------- */

/* Sorts da, which the output layer left in rows, by heads. */
static void arrange_da(void *arg, size_t from, size_t n)
{
        const struct ran_transformer_pass *s = arg;
        const struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_transformer_span k;

        for (size_t t = s->t0 + from, end = t + n; t < end; t += k.n) {
                k = ran_transformer_span_of(packed, t, end);
                ran_sparse_pack(s->own->adj.da + ran_transformer_first_row(packed, k.b) * w->E +
                                        k.at * w->d_k,
                                ran_transformer_length(packed, k.b),
                                s->own->rows.qkv + (t - s->t0) * w->E, k.n, w->h, w->d_k);
        }
}

static void rotate_back(void *arg, size_t from, size_t n)
{
        const struct ran_transformer_pass *s = arg;
        const struct ran_workspace *w = s->w;
        struct ran_transformer_span k;

        for (size_t t = s->t0 + from, end = t + n; t < end; t += k.n) {
                k = ran_transformer_span_of(w->packed, t, end);
                rotate(w, &k,
                       s->own->adj.dqkv +
                               (ran_transformer_first_row(w->packed, k.b) + k.at) * 3 * w->E,
                       -1.0f);
        }
}

void ran_transformer_attention_bwd(struct ran_workspace *w, const struct ran_params *p,
                                   struct ran_params *dp, size_t l)
{
        struct ran_transformer_pass s = ran_transformer_pass_of(w, p, dp, l, 0);

        for (size_t t0 = 0; t0 < w->packed->L; t0 += w->slab_rows) {
                s = ran_transformer_pass_of(w, p, dp, l, t0);
                ran_transformer_dropped(&s, RAN_DROP_ATTENTION);
                for (struct ran_transformer_span k = {.t = t0}; ran_transformer_next_run(&s, &k);)
                        ran_gemm_linear_bwd(
                                w->pool, s.own->rows.qkv + (k.t - t0) * w->E, w->E, false,
                                s.dp->out_w, s.dp->out_b, s.own->adj.d_o + (k.t - t0) * w->D, w->D,
                                s.act->a + k.at * w->E, w->E, s.p->out_w, k.n, w->E, w->D);
                ran_rows_each(&s.of, arrange_da, &s);
        }
        ran_workers_each(&w->workers, 0, s.own->task[w->packed->B], attend_queries_bwd, &s);
        ran_workers_each(&w->workers, 0, s.own->task[w->packed->B], attend_keys_bwd, &s);
        for (size_t t0 = 0; t0 < w->packed->L; t0 += w->slab_rows) {
                s = ran_transformer_pass_of(w, p, dp, l, t0);
                norm_input(&s);
                ran_rows_each(&s.of, rotate_back, &s);
                for (struct ran_transformer_span k = {.t = t0}; ran_transformer_next_run(&s, &k);)
                        ran_gemm_linear_bwd(w->pool, s.own->adj.dz + (k.t - t0) * w->D, w->D, false,
                                            s.dp->q_w, s.dp->q_b, s.own->adj.dqkv + k.at * 3 * w->E,
                                            3 * w->E, s.own->rows.z + (k.t - t0) * w->D, w->D,
                                            s.p->q_w, k.n, w->D, 3 * w->E);
                ran_rows_norm_bwd(&s.of, w->dx + t0 * w->D, s.own->adj.dz, s.x + t0 * w->D,
                                  s.act->z_stat + t0 * 2, s.p->attn_norm_w, s.dp->attn_norm_w,
                                  s.dp->attn_norm_b);
        }
}
