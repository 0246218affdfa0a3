/* encoder-transformer.c - a Transformer whose attention keeps to a pattern, so that its cost
 * follows the number of scores:
 *
 *      x += Linear_out(Attn(LN(x)))                rotary on q and k at absolute positions
 *      x += Linear_down(GELU(Linear_up(LN(x))))    N times, then LN at the end
 *
 * (pre-norm; Mukund and Easwarakumar for the patterns, see sparse.h.) Rows of all documents go
 * through the products together, a chunk at a time; attention goes document by document.
 *
 * A document that goes on (recurrent-state.h) finds the keys and values of its earlier tokens in
 * its recurrent, as `states` of width E; its queries are those of the new tokens alone.
 */
#include "math/gemm.h"
#include "math/simd.h"
#include "model/encoder.h"
#include "model/sparse.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 }; /* rows in a task of one thread */

/* A layer at work on the tokens [t0, t0 + T). */
struct pass {
        struct ran_workspace *w;
        struct ran_transformer_acts *act;
        const struct ran_transformer_params *p;
        struct ran_transformer_params *dp;
        size_t l, t0, T;
        float *up;      /* (T, f) before GELU: of the layer where kept, else of the chunk */
        const float *x; /* (L, D) what the layer reads */
        float *out;     /* (L, D) and leaves */
};

/* ---- rows ----------------------------------------------------------------------------------- */

/* First row of q, k and v of document b, of its carried tokens first; and of its new ones. */
static size_t first_row(const struct ran_packed *rows, size_t b)
{
        /* a document has one key a window more than carried ones */
        return rows->doc[b] + rows->key[b] - (rows->docwin[b] + b);
}

/* Tokens of a document, carried ones too. */
static size_t length_of(const struct ran_packed *rows, size_t b)
{
        return rows->doc[b + 1] - rows->doc[b] + ran_packed_earlier(rows, b);
}

static size_t new_row(const struct ran_packed *rows, size_t b)
{
        return first_row(rows, b) + ran_packed_earlier(rows, b);
}

/* Which of B documents i belongs to, first (B+1) being where each begins. */
static size_t document_at(const size_t *first, size_t B, size_t i)
{
        size_t low = 0, high = B;

        while (high - low > 1) {
                size_t b = low + (high - low) / 2;

                if (first[b] <= i)
                        low = b;
                else
                        high = b;
        }
        return low;
}

/* The document that token t belongs to. */
static size_t document_of(const struct ran_packed *rows, size_t t)
{
        return document_at(rows->doc, rows->B, t);
}

/* Tokens of one document among [t, end): the first n, which are those from number `at` on in it. */
struct piece {
        size_t b, t, n, at;
};

static struct piece piece_of(const struct ran_packed *rows, size_t t, size_t end)
{
        size_t b = document_of(rows, t), to = rows->doc[b + 1] < end ? rows->doc[b + 1] : end;

        return (struct piece){b, t, to - t, ran_packed_earlier(rows, b) + t - rows->doc[b]};
}

/* Calls fn for each run of the pass's tokens whose rows stand together: (first token, row, n). */
static void each_run(struct pass *s, void (*fn)(struct pass *s, size_t t, size_t row, size_t n))
{
        const struct ran_packed *rows = s->w->rows;
        size_t end = s->t0 + s->T;

        for (size_t t = s->t0, to; t < end; t = to) {
                size_t b = document_of(rows, t), row = new_row(rows, b) + t - rows->doc[b];

                while (b + 1 < rows->B && rows->doc[b + 1] < end &&
                       ran_packed_earlier(rows, b + 1) == 0)
                        b++;
                to = rows->doc[b + 1] < end ? rows->doc[b + 1] : end;
                fn(s, t, row, to - t);
        }
}

/* Dropout, or its adjoint, on rows x of the pass's tokens. */
static void drop(const struct pass *s, int site, float *x)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *rows = w->rows;
        struct piece k;

        if (!w->training || !(w->noise.dropout > 0))
                return;
        for (size_t t = s->t0; t < s->t0 + s->T; t += k.n) {
                k = piece_of(rows, t, s->t0 + s->T);
                ran_workspace_dropout(w, k.b, s->l, site, w->noise.dropout, x + (t - s->t0) * w->D,
                                      k.n * w->D, (t - rows->doc[k.b]) * w->D);
        }
}

/* fn for blocks of the pass's rows, numbered from 0. */
struct task {
        struct pass *s;
        void (*fn)(struct pass *s, size_t block, size_t from, size_t n);
};

static void run_task(void *arg, size_t i)
{
        struct task *k = arg;
        size_t from = i * BLOCK, n = k->s->T - from < BLOCK ? k->s->T - from : BLOCK;

        k->fn(k->s, i, from, n);
}

static size_t blocks(size_t n)
{
        return (n + BLOCK - 1) / BLOCK;
}

static void each_block(struct pass *s,
                       void (*fn)(struct pass *s, size_t block, size_t from, size_t n))
{
        struct task k = {s, fn};

        ran_parallel(s->w->pool, blocks(s->T), run_task, &k);
}

/* Adds the shares that the blocks have of a norm's gradients, in order. */
static void sum_parts(struct pass *s, float *dw, float *db)
{
        size_t D = s->w->D;

        for (size_t i = 0; dw != NULL && i < blocks(s->T); i++) {
                float *part = s->w->transformer_adj.part + i * 2 * D;

                ran_simd->add(dw, part, D);
                ran_simd->add(db, part + D, D);
        }
}

static float *clear_part(struct pass *s, size_t block)
{
        float *part = s->w->transformer_adj.part + block * 2 * s->w->D;

        return memset(part, 0, 2 * s->w->D * sizeof *part);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Whether all is kept for the backward pass. Otherwise it computes each layer anew, but for what
 * attention gave, which of a long text costs most. */
static bool keeps(const struct ran_workspace *w)
{
        return w->training && w->size.L <= 2 * w->chunk_rows;
}

static int make_masks(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_config *c = w->c;
        const struct ran_packed *rows = w->rows;
        struct ran_mask *mask = ran_grow(w->mask, &w->mask_cap, rows->B * w->h, sizeof *mask, err);

        if (mask == NULL)
                return RAN_ENOMEM;
        w->mask = mask;
        for (size_t b = 0; b < rows->B; b++) {
                for (size_t j = 0; j < w->h; j++, mask++) {
                        int rc = ran_mask_init(mask, ran_pattern_of(c, j), c->window, c->dilation,
                                               c->mask, length_of(rows, b), rows->sources[b], err);

                        if (rc != RAN_OK)
                                return rc;
                }
        }
        return RAN_OK;
}

/* Tasks of attention: a block of queries or keys of one head of one document. */
static int count_tasks(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *rows = w->rows;
        size_t *task = ran_grow(w->task, &w->task_cap, rows->B + 1, sizeof *task, err);

        if (task == NULL)
                return RAN_ENOMEM;
        w->task = task;
        task[0] = 0;
        for (size_t b = 0; b < rows->B; b++) {
                size_t first = ran_packed_earlier(rows, b), last = length_of(rows, b) - 1;

                task[b + 1] =
                        task[b] + w->h * (last / RAN_SPARSE_BLOCK - first / RAN_SPARSE_BLOCK + 1);
        }
        return RAN_OK;
}

static int prepare(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *rows = w->rows;
        struct ran_dims *x = &w->size;
        size_t longest = 0;

        for (size_t b = 0; b < rows->B; b++) {
                size_t all = length_of(rows, b);

                longest = all > longest ? all : longest;
                if (rows->recurrent[b] != NULL &&
                    ran_recurrent_state_reserve(rows->recurrent[b], all, 0, err) != RAN_OK)
                        return RAN_ENOMEM;
        }
        x->T = rows->L < w->chunk_rows ? rows->L : w->chunk_rows;
        x->K = rows->B > 0 ? first_row(rows, rows->B - 1) + length_of(rows, rows->B - 1) : 0;
        int rc = make_masks(w, err);
        if (rc == RAN_OK)
                rc = count_tasks(w, err);
        return rc == RAN_OK ? ran_workspace_rotary(w, longest, err) : rc;
}

static void cut_acts(struct ran_workspace *w, struct ran_arena *k, struct ran_transformer_acts *out)
{
        const double h = (double)w->h, f = (double)w->c->ffn_dim;
        const double kept = keeps(w) ? (double)w->size.L : (double)w->size.T;

        RAN_DIMS;
        RAN_TRANSFORMER_ACTS(RAN_ARENA_FIELD)
}

static void cut_rows(struct ran_workspace *w, struct ran_arena *k, struct ran_transformer_rows *out)
{
        const double f = (double)w->c->ffn_dim;

        RAN_DIMS;
        RAN_TRANSFORMER_ROWS(RAN_ARENA_FIELD)
}

static void cut_adjoints(struct ran_workspace *w, struct ran_arena *k,
                         struct ran_transformer_adjoints *out)
{
        const double h = (double)w->h, f = (double)w->c->ffn_dim;
        const double parts = (double)blocks(w->size.T);

        RAN_DIMS;
        RAN_TRANSFORMER_ADJOINTS(RAN_ARENA_FIELD)
}

static void cut_attended(struct ran_workspace *w, struct ran_arena *k,
                         struct ran_transformer_acts *out)
{
        out->a = ran_arena_take(k, (double)w->size.K * (double)w->E);
        out->log_sum = ran_arena_take(k, (double)w->size.K * (double)w->h);
}

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        const double rows = (double)w->size.L * (double)w->D;
        const size_t layers = w->c->layers;

        for (size_t l = 0; l < layers; l++) {
                w->x[l + 1] = w->training ? ran_arena_take(k, rows) : w->x[0];
                if (l == 0 || keeps(w)) {
                        cut_acts(w, k, &w->transformer_acts[l]);
                } else {
                        w->transformer_acts[l] = w->transformer_acts[0];
                        if (w->training)
                                cut_attended(w, k, &w->transformer_acts[l]);
                }
                if (!w->training)
                        w->transformer_acts[l].mid = w->x[0]; /* rows are read once: in place */
        }
        /* what the last norm reads */
        w->unnormed = w->training ? ran_arena_take(k, rows) : w->x[0];
        w->last_stat = ran_arena_take(k, (double)w->size.L * 2);
        cut_rows(w, k, &w->transformer_rows);
        if (w->training)
                cut_adjoints(w, k, &w->transformer_adj);
        w->lane_floats = ran_sparse_floats(w->d);
        w->scratch = ran_arena_take(k, (double)w->lanes * (double)w->lane_floats);
}

/* ---- attention ------------------------------------------------------------------------------ */

/* Of all tokens of document b, carried ones too: q, k and v, part 0, 1 and 2 (h, length, d). */
static float *part_of(const struct pass *s, size_t b, size_t part)
{
        const struct ran_workspace *w = s->w;

        return s->act->qkv + (first_row(w->rows, b) * 3 + length_of(w->rows, b) * part) * w->E;
}

/* One document's attention in a layer. */
static struct ran_sparse sparse_of(const struct pass *s, size_t b)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *rows = w->rows;
        size_t row = first_row(rows, b);

        return (struct ran_sparse){.mask = w->mask + b * w->h,
                                   .similarity = w->c->similarity,
                                   .L = length_of(rows, b),
                                   .h = w->h,
                                   .d = w->d,
                                   .qkv = part_of(s, b, 0),
                                   .da = w->training ? w->transformer_adj.da + row * w->E : NULL,
                                   .a = s->act->a + row * w->E,
                                   .log_sum = s->act->log_sum + row * w->h};
}

/* Which document, head and rows a task is about. */
static size_t locate(const struct ran_workspace *w, size_t task, size_t *head, size_t *from,
                     size_t *to)
{
        const struct ran_packed *rows = w->rows;
        size_t b = document_at(w->task, rows->B, task);
        size_t earlier = ran_packed_earlier(rows, b), n = length_of(rows, b);

        task -= w->task[b];
        *head = task % w->h;
        *from = (earlier / RAN_SPARSE_BLOCK + task / w->h) * RAN_SPARSE_BLOCK;
        *to = *from + RAN_SPARSE_BLOCK < n ? *from + RAN_SPARSE_BLOCK : n;
        *from = *from > earlier ? *from : earlier;
        return b;
}

static void attend(void *arg, size_t task, float *scratch)
{
        struct pass *s = arg;
        size_t head, from, to, b = locate(s->w, task, &head, &from, &to);
        struct ran_sparse x = sparse_of(s, b);

        ran_sparse_queries(&x, head, from, to, scratch);
}

static void attend_queries_bwd(void *arg, size_t task, float *scratch)
{
        struct pass *s = arg;
        struct ran_workspace *w = s->w;
        size_t head, from, to, b = locate(w, task, &head, &from, &to);
        size_t row = first_row(w->rows, b);
        struct ran_sparse x = sparse_of(s, b);

        ran_sparse_queries_bwd(w->transformer_adj.dqkv + row * 3 * w->E,
                               w->transformer_adj.delta + row * w->h, &x, head, from, to, scratch);
}

static void attend_keys_bwd(void *arg, size_t task, float *scratch)
{
        struct pass *s = arg;
        struct ran_workspace *w = s->w;
        size_t head, from, to, b = locate(w, task, &head, &from, &to);
        size_t row = first_row(w->rows, b);
        struct ran_sparse x = sparse_of(s, b);

        ran_sparse_keys_bwd(w->transformer_adj.dqkv + row * 3 * w->E,
                            w->transformer_adj.delta + row * w->h, &x, head, from, to, scratch);
}

/* Rotates q and k of some tokens, or back. */
static void rotate(const struct ran_workspace *w, const struct piece *k, float *qkv, float sign)
{
        if (w->c->rotary)
                ran_simd->rotary(qkv, 3 * w->E, w->rotary + k->at * 2 * w->d, sign, k->n, 2 * w->h,
                                 w->d);
}

/* The first of n earlier tokens of document b that a new one sees: where all heads have windows, a
 * token costs what it sees, however long the document is. */
static size_t first_seen(const struct ran_workspace *w, size_t b, size_t n)
{
        size_t first = n;

        for (size_t j = 0; j < w->h; j++) {
                const struct ran_mask *m = &w->mask[b * w->h + j];
                size_t from = m->far > 0 || m->near > n ? 0 : n - m->near;

                first = from < first ? from : first;
        }
        return first;
}

/* Keys and values of a document's earlier tokens; and those of new ones to its carry. */
static void recall(struct pass *s, size_t b)
{
        const struct ran_workspace *w = s->w;
        const struct ran_recurrent_state *recurrent = w->rows->recurrent[b];
        size_t n = ran_packed_earlier(w->rows, b), L = length_of(w->rows, b);

        if (n == 0)
                return;
        size_t from = first_seen(w, b, n);
        ran_sparse_pack(part_of(s, b, 1) + from * w->d, L, recurrent->key[s->l] + from * w->E,
                        n - from, w->h, w->d);
        ran_sparse_pack(part_of(s, b, 2) + from * w->d, L, recurrent->value[s->l] + from * w->E,
                        n - from, w->h, w->d);
}

static void keep(struct pass *s, size_t b)
{
        const struct ran_workspace *w = s->w;
        struct ran_recurrent_state *recurrent = w->rows->recurrent[b];
        size_t from = ran_packed_earlier(w->rows, b), L = length_of(w->rows, b), n = L - from;

        ran_sparse_unpack(recurrent->key[s->l] + from * w->E, part_of(s, b, 1) + from * w->d, L, n,
                          w->h, w->d);
        ran_sparse_unpack(recurrent->value[s->l] + from * w->E, part_of(s, b, 2) + from * w->d, L,
                          n, w->h, w->d);
}

/* ---- what is looked at ----------------------------------------------------------------------- */

static void shape(const struct ran_config *c, struct ran_probe_shape *s)
{
        s->table[RAN_PROBE_HEADS] =
                (struct ran_probe_table){RAN_AXIS_TOKENS, RAN_AXIS_TOKENS, s->L, s->L, c->heads};
}

/* A query of one head; scratch: room for its weights, too. */
static void show_row(struct ran_probe *k, const struct ran_sparse *x, size_t head, size_t i,
                     float share, float *scratch)
{
        struct ran_mask_ranges sight = ran_mask_row(&x->mask[head], i);
        size_t pos = 0, first, end, from, to;

        while (ran_mask_ranges_next(&x->mask[head], &sight, &pos, &first, &end)) {
                if (!ran_probe_keys(k, first, end - first, &from, &to))
                        continue;
                for (size_t j = first + from, n; j < first + to; j += n) {
                        n = first + to - j;
                        n = n < RAN_SPARSE_BLOCK ? n : RAN_SPARSE_BLOCK;
                        ran_sparse_weights(scratch, x, head, i, j, n, scratch + RAN_SPARSE_BLOCK);
                        ran_probe_add(k, i, j, scratch, n, share);
                }
        }
}

/* The attention of a layer to the one document there is. */
static void show(void *arg, size_t at, float *scratch)
{
        const struct pass *s = arg;
        struct ran_probe *k = &s->w->probes->probe[at];
        struct ran_sparse x = sparse_of(s, 0);
        size_t head, heads;
        float share = ran_probe_heads(k, s->w->h, &head, &heads);

        for (; head < heads && ran_probe_matches(k, RAN_PROBE_HEADS, s->l); head++)
                for (size_t i = k->query_from; i < k->query_to; i++)
                        show_row(k, &x, head, i, share, scratch);
}

/* ---- forward -------------------------------------------------------------------------------- */

static void norm_input(struct pass *s, size_t block, size_t from, size_t n)
{
        const struct ran_workspace *w = s->w;

        (void)block;
        ran_simd->norm(w->transformer_rows.z + from * w->D, w->D,
                       s->act->z_stat + (s->t0 + from) * 2, s->x + (s->t0 + from) * w->D, w->D,
                       s->p->attn_norm_w, s->p->attn_norm_b, RAN_LN_EPS, n, w->D);
}

/* q and k rotated, and all by heads. */
static void sort_qkv(struct pass *s, size_t block, size_t from, size_t n)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *rows = w->rows;
        struct piece k;

        (void)block;
        for (size_t t = s->t0 + from, end = t + n; t < end; t += k.n) {
                k = piece_of(rows, t, end);
                float *row = w->transformer_rows.qkv + (t - s->t0) * 3 * w->E;

                rotate(w, &k, row, 1.0f);
                ran_sparse_pack(part_of(s, k.b, 0) + k.at * w->d, length_of(rows, k.b), row, k.n,
                                3 * w->h, w->d);
        }
}

static void project(struct pass *s)
{
        struct ran_workspace *w = s->w;

        each_block(s, norm_input);
        ran_gemm_linear(w->pool, w->transformer_rows.qkv, 3 * w->E, w->transformer_rows.z, w->D,
                        s->p->q_w, s->p->q_b, s->T, w->D, 3 * w->E);
        each_block(s, sort_qkv);
}

static void output_run(struct pass *s, size_t t, size_t row, size_t n)
{
        struct ran_workspace *w = s->w;

        ran_gemm_linear(w->pool, w->transformer_rows.o + (t - s->t0) * w->D, w->D,
                        s->act->a + row * w->E, w->E, s->p->out_w, s->p->out_b, n, w->E, w->D);
}

/* mid = x + o, and its norm */
static void add_attention(struct pass *s, size_t block, size_t from, size_t n)
{
        const struct ran_workspace *w = s->w;
        size_t D = w->D, at = (s->t0 + from) * D;
        float *mid = s->act->mid + at;

        (void)block;
        if (mid != s->x + at)
                memcpy(mid, s->x + at, n * D * sizeof *mid);
        ran_simd->add(mid, w->transformer_rows.o + from * D, n * D);
}

static void norm_mid(struct pass *s, size_t block, size_t from, size_t n)
{
        const struct ran_workspace *w = s->w;

        (void)block;
        ran_simd->norm(w->transformer_rows.z + from * w->D, w->D,
                       s->act->mid_stat + (s->t0 + from) * 2, s->act->mid + (s->t0 + from) * w->D,
                       w->D, s->p->ffn_norm_w, s->p->ffn_norm_b, RAN_LN_EPS, n, w->D);
}

static void bend(struct pass *s, size_t block, size_t from, size_t n)
{
        size_t f = s->w->c->ffn_dim;

        (void)block;
        ran_simd->gelu(s->w->transformer_rows.bent + from * f, s->up + from * f, n * f);
}

/* LN(mid), Linear_up and GELU of the chunk. */
static void feed_up(struct pass *s)
{
        struct ran_workspace *w = s->w;
        size_t f = w->c->ffn_dim;

        each_block(s, norm_mid);
        ran_gemm_linear(w->pool, s->up, f, w->transformer_rows.z, w->D, s->p->up_w, s->p->up_b,
                        s->T, w->D, f);
        each_block(s, bend);
}

static void add_feed(struct pass *s, size_t block, size_t from, size_t n)
{
        const struct ran_workspace *w = s->w;
        size_t D = w->D, at = (s->t0 + from) * D;
        float *out = s->out + at;

        (void)block;
        if (out != s->act->mid + at)
                memcpy(out, s->act->mid + at, n * D * sizeof *out);
        ran_simd->add(out, w->transformer_rows.o + from * D, n * D);
}

static struct pass pass_of(struct ran_workspace *w, const struct ran_params *p,
                           struct ran_params *dp, size_t l, size_t t0)
{
        size_t left = w->rows->L - t0;
        struct ran_transformer_acts *act = &w->transformer_acts[l];

        return (struct pass){
                .w = w,
                .act = act,
                .p = &p->blocks[l],
                .dp = dp != NULL ? &dp->blocks[l] : NULL,
                .l = l,
                .t0 = t0,
                .T = left < w->chunk_rows ? left : w->chunk_rows,
                .up = act->up + (keeps(w) ? t0 * w->c->ffn_dim : 0),
                .x = w->x[l],
                .out = l + 1 < w->c->layers ? w->x[l + 1] : w->unnormed,
        };
}

/* Attention of a layer and its residual: from x to mid. again: what the heads gave is known. */
static void attention(struct ran_workspace *w, const struct ran_params *p, size_t l, bool again)
{
        struct pass s = pass_of(w, p, NULL, l, 0);

        ran_phase = RAN_PHASE_PROJECTIONS;
        for (size_t b = 0; b < w->rows->B; b++)
                recall(&s, b);
        for (size_t t0 = 0; t0 < w->rows->L; t0 += w->chunk_rows) {
                s = pass_of(w, p, NULL, l, t0);
                project(&s);
        }
        ran_phase = RAN_PHASE_ATTENTION;
        if (!again)
                ran_workspace_each(w, 0, w->task[w->rows->B], attend, &s);
        if (w->probes != NULL)
                ran_workspace_each(w, 0, w->probes->n, show, &s);
        ran_phase = RAN_PHASE_PROJECTIONS;
        for (size_t t0 = 0; t0 < w->rows->L; t0 += w->chunk_rows) {
                s = pass_of(w, p, NULL, l, t0);
                each_run(&s, output_run);
                drop(&s, RAN_DROP_ATTENTION, w->transformer_rows.o);
                each_block(&s, add_attention);
        }
}

static void feed(struct ran_workspace *w, const struct ran_params *p, size_t l)
{
        ran_phase = RAN_PHASE_FEED;
        for (size_t t0 = 0; t0 < w->rows->L; t0 += w->chunk_rows) {
                struct pass s = pass_of(w, p, NULL, l, t0);

                feed_up(&s);
                ran_gemm_linear(w->pool, w->transformer_rows.o, w->D, w->transformer_rows.bent,
                                w->c->ffn_dim, s.p->down_w, s.p->down_b, s.T, w->c->ffn_dim, w->D);
                drop(&s, RAN_DROP_FEED, w->transformer_rows.o);
                each_block(&s, add_feed);
        }
}

static void norm_last(struct pass *s, size_t block, size_t from, size_t n)
{
        const struct ran_workspace *w = s->w;
        size_t t = s->t0 + from;

        (void)block;
        ran_simd->norm(w->x[w->c->layers] + t * w->D, w->D, w->last_stat + t * 2,
                       w->unnormed + t * w->D, w->D, w->last_norm->norm_w, w->last_norm->norm_b,
                       RAN_LN_EPS, n, w->D);
}

static void forward(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_packed *rows = w->rows;

        w->last_norm = &p->encoder;
        for (size_t l = 0; l < w->c->layers; l++) {
                struct pass s = pass_of(w, p, NULL, l, 0);

                attention(w, p, l, false);
                for (size_t b = 0; b < rows->B; b++)
                        if (rows->recurrent[b] != NULL)
                                keep(&s, b);
                feed(w, p, l);
        }
        for (size_t t0 = 0; t0 < rows->L; t0 += w->chunk_rows) {
                struct pass s = pass_of(w, p, NULL, 0, t0);

                each_block(&s, norm_last);
        }
        for (size_t b = 0; b < rows->B; b++)
                if (rows->recurrent[b] != NULL) {
                        rows->recurrent[b]->tokens += rows->doc[b + 1] - rows->doc[b];
                        rows->recurrent[b]->states = rows->recurrent[b]->tokens;
                }
}

/* ---- backward ------------------------------------------------------------------------------- */

static void norm_last_bwd(struct pass *s, size_t block, size_t from, size_t n)
{
        const struct ran_workspace *w = s->w;
        float *part = clear_part(s, block);
        size_t t = s->t0 + from, D = w->D;

        ran_simd->norm_bwd(w->dx + t * D, D, part, part + D, w->dx + t * D, D, w->unnormed + t * D,
                           D, w->last_stat + t * 2, w->last_norm->norm_w, n, D);
}

static void bend_bwd(struct pass *s, size_t block, size_t from, size_t n)
{
        size_t f = s->w->c->ffn_dim;
        float *dup = s->w->transformer_adj.dup + from * f;

        (void)block;
        ran_simd->gelu_bwd(dup, s->up + from * f, dup, n * f);
}

/* dx += the adjoint of a norm, of the rows that it read */
static void add_norm_bwd(struct pass *s, size_t block, size_t from, size_t n, const float *x,
                         const float *stat, const float *weight)
{
        const struct ran_workspace *w = s->w;
        float *dz = w->transformer_adj.dz + from * w->D, *part = clear_part(s, block);
        size_t D = w->D, t = s->t0 + from;

        ran_simd->norm_bwd(dz, D, part, part + D, dz, D, x + t * D, D, stat + t * 2, weight, n, D);
        ran_simd->add(w->dx + t * D, dz, n * D);
}

static void norm_mid_bwd(struct pass *s, size_t block, size_t from, size_t n)
{
        add_norm_bwd(s, block, from, n, s->act->mid, s->act->mid_stat, s->p->ffn_norm_w);
}

static void norm_input_bwd(struct pass *s, size_t block, size_t from, size_t n)
{
        add_norm_bwd(s, block, from, n, s->x, s->act->z_stat, s->p->attn_norm_w);
}

/* The adjoint of the chunk's rows, after dropout: what the residual adds to. */
static float *dropped(struct pass *s, int site)
{
        struct ran_workspace *w = s->w;

        memcpy(w->transformer_adj.d_o, w->dx + s->t0 * w->D, s->T * w->D * sizeof(float));
        drop(s, site, w->transformer_adj.d_o);
        return w->transformer_adj.d_o;
}

static void feed_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                     size_t l)
{
        size_t D = w->D, f = w->c->ffn_dim;

        ran_phase = RAN_PHASE_FEED;
        for (size_t t0 = 0; t0 < w->rows->L; t0 += w->chunk_rows) {
                struct pass s = pass_of(w, p, dp, l, t0);
                const float *d_o = dropped(&s, RAN_DROP_FEED);

                if (!keeps(w)) {
                        feed_up(&s);
                } else {
                        each_block(&s, norm_mid);
                        each_block(&s, bend);
                }
                ran_gemm_linear_bwd(w->pool, w->transformer_adj.dup, f, false, s.dp->down_w,
                                    s.dp->down_b, d_o, D, w->transformer_rows.bent, f, s.p->down_w,
                                    s.T, f, D);
                each_block(&s, bend_bwd);
                ran_gemm_linear_bwd(w->pool, w->transformer_adj.dz, D, false, s.dp->up_w,
                                    s.dp->up_b, w->transformer_adj.dup, f, w->transformer_rows.z, D,
                                    s.p->up_w, s.T, D, f);
                each_block(&s, norm_mid_bwd);
                sum_parts(&s, s.dp->ffn_norm_w, s.dp->ffn_norm_b);
        }
}

static void output_run_bwd(struct pass *s, size_t t, size_t row, size_t n)
{
        struct ran_workspace *w = s->w;

        ran_gemm_linear_bwd(w->pool, w->transformer_rows.qkv + (t - s->t0) * w->E, w->E, false,
                            s->dp->out_w, s->dp->out_b, w->transformer_adj.d_o + (t - s->t0) * w->D,
                            w->D, s->act->a + row * w->E, w->E, s->p->out_w, n, w->E, w->D);
}

/* da, which output_run_bwd left in rows, by heads. */
static void sort_da(struct pass *s, size_t block, size_t from, size_t n)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *rows = w->rows;
        struct piece k;

        (void)block;
        for (size_t t = s->t0 + from, end = t + n; t < end; t += k.n) {
                k = piece_of(rows, t, end);
                ran_sparse_pack(w->transformer_adj.da + first_row(rows, k.b) * w->E + k.at * w->d,
                                length_of(rows, k.b), w->transformer_rows.qkv + (t - s->t0) * w->E,
                                k.n, w->h, w->d);
        }
}

static void rotate_back(struct pass *s, size_t block, size_t from, size_t n)
{
        const struct ran_workspace *w = s->w;
        struct piece k;

        (void)block;
        for (size_t t = s->t0 + from, end = t + n; t < end; t += k.n) {
                k = piece_of(w->rows, t, end);
                rotate(w, &k, w->transformer_adj.dqkv + (first_row(w->rows, k.b) + k.at) * 3 * w->E,
                       -1.0f);
        }
}

static void project_run_bwd(struct pass *s, size_t t, size_t row, size_t n)
{
        struct ran_workspace *w = s->w;

        ran_gemm_linear_bwd(w->pool, w->transformer_adj.dz + (t - s->t0) * w->D, w->D, false,
                            s->dp->q_w, s->dp->q_b, w->transformer_adj.dqkv + row * 3 * w->E,
                            3 * w->E, w->transformer_rows.z + (t - s->t0) * w->D, w->D, s->p->q_w,
                            n, w->D, 3 * w->E);
}

static void attention_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, size_t l)
{
        struct pass s = pass_of(w, p, dp, l, 0);

        ran_phase = RAN_PHASE_PROJECTIONS;
        for (size_t t0 = 0; t0 < w->rows->L; t0 += w->chunk_rows) {
                s = pass_of(w, p, dp, l, t0);
                dropped(&s, RAN_DROP_ATTENTION);
                each_run(&s, output_run_bwd);
                each_block(&s, sort_da);
        }
        ran_phase = RAN_PHASE_ATTENTION;
        ran_workspace_each(w, 0, w->task[w->rows->B], attend_queries_bwd, &s);
        ran_workspace_each(w, 0, w->task[w->rows->B], attend_keys_bwd, &s);
        ran_phase = RAN_PHASE_PROJECTIONS;
        for (size_t t0 = 0; t0 < w->rows->L; t0 += w->chunk_rows) {
                s = pass_of(w, p, dp, l, t0);
                each_block(&s, norm_input);
                each_block(&s, rotate_back);
                each_run(&s, project_run_bwd);
                each_block(&s, norm_input_bwd);
                sum_parts(&s, s.dp->attn_norm_w, s.dp->attn_norm_b);
        }
}

static void backward(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        ran_phase = RAN_PHASE_FEED;
        for (size_t t0 = 0; t0 < w->rows->L; t0 += w->chunk_rows) {
                struct pass s = pass_of(w, p, dp, 0, t0);

                each_block(&s, norm_last_bwd);
                sum_parts(&s, dp->encoder.norm_w, dp->encoder.norm_b);
        }
        for (size_t l = w->c->layers; l-- > 0;) {
                if (!keeps(w))
                        attention(w, p, l, true);
                feed_bwd(w, p, dp, l);
                attention_bwd(w, p, dp, l);
        }
}

const struct ran_encoder ran_encoder_transformer = {prepare,  lay_out, forward,
                                                    backward, NULL,    shape};
