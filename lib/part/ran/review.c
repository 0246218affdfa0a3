/* review.c - memory review, equation (9): every token attends to the cells of its document.
 *
 * One head over the states: softmax(phi(Linear_q(Y)) phi(Linear_k(S))^T / sqrt(D))
 * phi(Linear_v(S)). Without a mask a token sees the states after all windows of its document, G_1
 * to G_m. The review of a pattern of windows is in review-pattern.c.
 *
 * With review_source, under the prefix mask, the source tokens are states, too, which only target
 * tokens see. Their keys and values come before all others (review-source.c):
 *
 *      keys of a document    | source tokens | earlier states | G_0 ... G_m |
 *      a source token sees                   |------------------------|
 *      a target token sees   |----------------------------------------|
 *
 * Scores of source tokens by source tokens are never computed.
 */
#include "part/ran/layer.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <math.h>
#include <string.h>

/* Tokens of one document in the slab and the states they see. */
struct lookback {
        size_t b, from, n;  /* first token in the slab, number of tokens */
        size_t key, states; /* first key, number of them: one a state */
        size_t sources;     /* of those, the source tokens under review, which come first */
        size_t earlier;     /* and then states before the document's first one */
        size_t first, pure; /* first window; number of windows of source tokens only */
};

static struct lookback lookback_of(const struct ran_layer_pass *s, size_t b)
{
        const struct ran_packed *packed = s->w->packed;
        size_t from = packed->doc[b] > s->t0 ? packed->doc[b] : s->t0;
        size_t end =
                packed->doc[b + 1] < s->t0 + s->tokens ? packed->doc[b + 1] : s->t0 + s->tokens;

        bool masked = s->w->c->mask != RAN_MASK_NONE;
        struct lookback k = {.b = b,
                             .from = from - s->t0,
                             .n = end - from,
                             .key = ran_review_first_key(s->w, b) + (masked ? 0 : 1),
                             .sources = ran_review_sources(s->w, b),
                             .states = packed->key[b + 1] - packed->key[b] +
                                       ran_review_sources(s->w, b) - (masked ? 0 : 1),
                             .earlier = ran_packed_earlier(packed, b),
                             .first = packed->doc_window[b]};

        while (k.first + k.pure < packed->doc_window[b + 1] &&
               packed->window[k.first + k.pure + 1] <= packed->doc[b] + packed->sources[b] &&
               !ran_window_stays_open(s->w, k.first + k.pure))
                k.pure++;
        return k;
}

/* The end of the document's keys that the tokens of window i see. */
static size_t sees(const struct ran_layer_pass *s, const struct lookback *k, size_t i)
{
        size_t before = i - k->first;

        if (s->w->c->mask == RAN_MASK_NONE)
                return k->states;
        return k->sources + k->earlier + 1 + (k->pure > before ? k->pure : before);
}

/* ---- states --------------------------------------------------------------------------------- */

/* Keys and values of a document's states, after those of earlier states. */
static void document_states(struct ran_layer_pass *s, size_t b)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_cells *c = s->cells;
        size_t D = w->D, earlier = ran_packed_earlier(packed, b), key = ran_review_key(w, b);

        if (ran_review_copies_earlier(w->c)) {
                struct ran_recurrent_run run;

                for (size_t at = 0, to = key - earlier; at < earlier; at += run.n, to += run.n) {
                        run = ran_recurrent_state_run(packed->recurrent[b], s->l, at, earlier);
                        memcpy(c->key + to * D, run.key, run.n * D * sizeof(float));
                        memcpy(c->value + to * D, run.value, run.n * D * sizeof(float));
                }
        }
        for (size_t r = packed->doc_window[b] + b; r <= packed->doc_window[b + 1] + b; r++, key++) {
                ran_window_activation(w, c->key + key * D, c->kv_pre + r * 2 * D, D);
                ran_window_activation(w, c->value + key * D, c->kv_pre + r * 2 * D + D, D);
        }
}

/* Whether document b is scored and its states are so few that their products are the same one by
 * one. */
static bool has_few_states(const struct ran_workspace *w, size_t b)
{
        const size_t *first = w->packed->doc_window + b;

        return ran_workspace_stands_alone(w) && first[1] - first[0] + 1 <= RAN_FEW_ROWS;
}

void ran_review_states(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_cells *c = s->cells;
        size_t D = w->D;

        ran_phase = RAN_PHASE_REVIEW;
        if (!w->c->ran.review)
                return;
        if (w->c->ran.review_source)
                ran_review_source(s);
        for (size_t b = 0, end; b < packed->B; b = end) {
                const size_t state = packed->doc_window[b] + b;
                const bool few = has_few_states(w, b);

                end = ran_workspace_stands_alone(w) ? b + 1 : packed->B;
                while (few && end < packed->B && has_few_states(w, end))
                        end++;
                (few ? ran_gemm_linear_alone
                     : ran_gemm_linear)(w->pool, c->kv_pre + state * 2 * D, 2 * D, c->G + state * D,
                                        D, s->p->review_k_w, s->p->review_k_b,
                                        packed->doc_window[end] + end - state, D, 2 * D);
        }
        for (size_t b = 0; b < packed->B; b++)
                document_states(s, b);
}

void ran_review_states_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        struct ran_cells *c = s->cells;
        size_t D = w->D, states = w->packed->m + w->packed->B;

        ran_phase = RAN_PHASE_REVIEW;
        if (!w->c->ran.review)
                return;
        if (w->c->ran.review_source)
                ran_review_source_bwd(s);
        for (size_t b = 0, r = 0; b < w->packed->B; b++) {
                size_t key = ran_review_key(w, b);

                for (; r <= w->packed->doc_window[b + 1] + b; r++, key++) {
                        float *d = s->own->adj.dkv_pre + r * 2 * D;

                        ran_window_activation_bwd(w, d, c->kv_pre + r * 2 * D,
                                                  s->own->adj.dkey + key * D, D);
                        ran_window_activation_bwd(w, d + D, c->kv_pre + r * 2 * D + D,
                                                  s->own->adj.dvalue + key * D, D);
                }
        }
        ran_gemm_linear_bwd(w->pool, s->own->adj.dG, D, true, s->dp->review_k_w, s->dp->review_k_b,
                            s->own->adj.dkv_pre, 2 * D, c->G, D, s->p->review_k_w, states, D,
                            2 * D);
}

/* ---- attention over the states -------------------------------------------------------------- */

/* A document at work, for tasks of a window each. */
struct task {
        struct ran_layer_pass *s;
        struct lookback k;
};

/* fn for the document's windows in the slab. A row of scores has an entry for each window of the
 * document: long documents spend most of their time here, so all threads divide the windows. */
static void each_window(struct task *task, void (*fn)(void *arg, size_t i, float *scratch))
{
        size_t from = task->k.first > task->s->from ? task->k.first : task->s->from;
        size_t end = task->s->w->packed->doc_window[task->k.b + 1];

        ran_workers_each(&task->s->w->workers, from, end < task->s->to ? end : task->s->to, fn,
                         task);
}

/* The tokens of window i among those of the document in the slab. */
static size_t tokens_of(const struct task *task, size_t i, size_t *n)
{
        const size_t *win = task->s->w->packed->window;

        *n = win[i + 1] - win[i];
        return win[i] - task->s->t0 - task->k.from;
}

static float scale_of(const struct ran_workspace *w)
{
        return (float)(1.0 / sqrt((double)w->D));
}

static void softmax_window(void *arg, size_t i, float *scratch)
{
        struct task *task = arg;
        struct ran_workspace *w = task->s->w;
        size_t n, t = tokens_of(task, i, &n), seen = sees(task->s, &task->k, i);
        size_t target = w->packed->doc[task->k.b] + task->k.sources, at = w->packed->window[i];
        float *score = task->s->own->score + t * task->k.states;

        (void)scratch;
        for (; n > 0; n--, at++, score += task->k.states) {
                size_t from = at < target ? task->k.sources : 0;

                memset(score, 0, from * sizeof *score);
                ran_simd->softmax(score + from, scale_of(w), seen - from, NULL);
                memset(score + seen, 0, (task->k.states - seen) * sizeof *score);
        }
}

static void softmax_window_bwd(void *arg, size_t i, float *scratch)
{
        struct task *task = arg;
        struct ran_workspace *w = task->s->w;
        size_t n, t = tokens_of(task, i, &n), states = task->k.states;
        size_t target = w->packed->doc[task->k.b] + task->k.sources, at = w->packed->window[i];

        (void)scratch;
        for (; n > 0; n--, at++, t++) {
                size_t from = at < target ? task->k.sources : 0;

                ran_simd->softmax_bwd(task->s->own->dscore + t * states + from,
                                      task->s->own->score + t * states + from, scale_of(w),
                                      states - from);
        }
}

/* Tokens of a document in the slab that leave out the same keys: the source's all source tokens,
 * which come first, the target's none. */
struct block {
        size_t row, n, skip;
};

static size_t blocks_of(const struct task *task, struct block block[2])
{
        const struct lookback *k = &task->k;
        size_t target = task->s->w->packed->doc[k->b] + k->sources;
        size_t at = task->s->t0 + k->from, source = target > at ? target - at : 0, blocks = 0;

        source = source < k->n ? source : k->n;
        if (source > 0)
                block[blocks++] = (struct block){0, source, k->sources};
        if (source < k->n)
                block[blocks++] = (struct block){source, k->n - source, 0};
        return blocks;
}

/* score (n, states) = the weights that a document's tokens give to its states */
static void score_states(struct task *task)
{
        struct ran_layer_pass *s = task->s;
        struct ran_workspace *w = s->w;
        const struct lookback *k = &task->k;
        struct block block[2];
        size_t D = w->D, blocks = blocks_of(task, block);

        for (const struct block *x = block; x < block + blocks; x++)
                ran_gemm_linear(w->pool, s->own->score + x->row * k->states + x->skip, k->states,
                                s->act->review_q + (k->from + x->row) * D, D,
                                s->cells->key + (k->key + x->skip) * D, NULL, x->n, D,
                                k->states - x->skip);
        each_window(task, softmax_window);
}

/* Adds the weights to the attention probes. */
static void fill_probe(void *arg, size_t at, float *scratch)
{
        const struct task *task = arg;
        const struct ran_workspace *w = task->s->w;
        struct ran_probe *k = &w->probes->probe[at];
        size_t t0 = task->s->t0 + task->k.from - w->packed->doc[task->k.b], from, to;
        bool source = k->table == RAN_PROBE_SOURCE && w->c->ran.review_source;
        size_t states = task->k.states, sources = task->k.sources,
               first = source || w->c->mask != RAN_MASK_NONE ? 0 : 1;
        const float one = 1.0f;

        (void)scratch;
        if (!ran_probe_matches(k, source ? RAN_PROBE_SOURCE : RAN_PROBE_REVIEW, task->s->l) ||
            !ran_probe_queries(k, t0, task->k.n, &from, &to))
                return;
        for (size_t t = from; t < to; t++) {
                const float *score = task->s->own->score + t * states + (source ? 0 : sources);

                ran_probe_add(k, t0 + t, first, states == 1 ? &one : score,
                              source ? sources : states - sources, 1.0f);
        }
}

static void lookback(struct ran_layer_pass *s, size_t b)
{
        struct ran_workspace *w = s->w;
        struct task task = {s, lookback_of(s, b)};
        const struct lookback k = task.k;
        size_t D = w->D;
        float *r = s->act->review_r + k.from * D;
        const float *value = s->cells->value + k.key * D;

        if (k.states == 1) { /* a softmax over one state is 1 */
                for (size_t i = 0; i < k.n; i++)
                        memcpy(r + i * D, value, D * sizeof *r);
        } else {
                struct block block[2];
                size_t blocks = blocks_of(&task, block);

                score_states(&task);
                for (const struct block *x = block; x < block + blocks; x++)
                        ran_gemm_linear_bwd(w->pool, r + x->row * D, D, false, NULL, NULL,
                                            s->own->score + x->row * k.states + x->skip, k.states,
                                            NULL, 0, value + x->skip * D, x->n, D,
                                            k.states - x->skip);
        }
        if (w->probes != NULL)
                ran_workers_each(&w->workers, 0, w->probes->n, fill_probe, &task);
}

/* As lookback_bwd, of tokens that leave out the same keys: the weights' part in dvalue, and dscore
 * before the softmax. */
static void block_weights_bwd(const struct task *task, const struct block *x)
{
        const struct ran_layer_pass *s = task->s;
        struct ran_workspace *w = s->w;
        const struct lookback *k = &task->k;
        size_t D = w->D, at = x->row * k->states + x->skip, key = (k->key + x->skip) * D;
        float *dr = s->own->adj.dreview_r + (k->from + x->row) * D;

        ran_gemm_linear_bwd(w->pool, NULL, 0, false, s->own->adj.dvalue + key, NULL,
                            s->own->score + at, k->states, dr, D, NULL, x->n, D,
                            k->states - x->skip);
        ran_gemm_linear(w->pool, s->own->dscore + at, k->states, dr, D, s->cells->value + key, NULL,
                        x->n, D, k->states - x->skip);
}

static void block_scores_bwd(const struct task *task, const struct block *x)
{
        const struct ran_layer_pass *s = task->s;
        struct ran_workspace *w = s->w;
        const struct lookback *k = &task->k;
        size_t D = w->D, t = k->from + x->row, key = (k->key + x->skip) * D;

        ran_gemm_linear_bwd(
                w->pool, s->own->adj.dreview_q + t * D, D, false, s->own->adj.dkey + key, NULL,
                s->own->dscore + x->row * k->states + x->skip, k->states, s->act->review_q + t * D,
                D, s->cells->key + key, x->n, D, k->states - x->skip);
}

/* Adds to the document's dkey and dvalue; dreview_q overwritten. */
static void lookback_bwd(struct ran_layer_pass *s, size_t b)
{
        struct ran_workspace *w = s->w;
        struct task task = {s, lookback_of(s, b)};
        const struct lookback k = task.k;
        struct block block[2];
        size_t D = w->D, blocks = blocks_of(&task, block);

        if (k.states == 1) {
                memset(s->own->adj.dreview_q + k.from * D, 0, k.n * D * sizeof(float));
                ran_simd->bias_bwd(s->own->adj.dvalue + k.key * D,
                                   s->own->adj.dreview_r + k.from * D, D, k.n, D);
                return;
        }
        score_states(&task);
        for (size_t i = 0; i < blocks; i++)
                block_weights_bwd(&task, &block[i]);
        each_window(&task, softmax_window_bwd);
        for (size_t i = 0; i < blocks; i++)
                block_scores_bwd(&task, &block[i]);
}

/* ---- token rows ----------------------------------------------------------------------------- */

static void drop_tokens(const struct ran_layer_pass *s, size_t i, float *x)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        size_t b = packed->window_doc[i], n = packed->window[i + 1] - packed->window[i];

        ran_workspace_dropout(w, b, s->l, RAN_DROP_REVIEW, w->noise.dropout, x, n * w->D,
                              (packed->window[i] - packed->doc[b]) * w->D);
}

static void activate(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        size_t t = w->packed->window[i] - s->t0,
               n = w->packed->window[i + 1] - w->packed->window[i];

        (void)scratch;
        ran_window_activation(w, s->act->review_q + t * w->D, s->act->review_pre + t * w->D,
                              n * w->D);
}

/* Gated: LN_rev(phi(Linear_o(R)) + GLU_rev(q)). Without review: LN_rev(Y). */
static void finish(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        size_t D = w->D, t = w->packed->window[i] - s->t0,
               n = w->packed->window[i + 1] - w->packed->window[i];
        float *x = s->act->review_sum + t * D;

        (void)scratch;
        if (w->c->ran.review) {
                ran_window_activation(w, x, s->act->review_o + t * D, n * D);
                drop_tokens(s, i, x);
                for (size_t r = 0; r < n; r++) {
                        const float *glu = s->act->review_glu + (t + r) * 2 * D;

                        ran_simd->glu_add(x + r * D, glu, glu + D, D);
                }
        } else {
                memcpy(x, s->own->y[s->l] + w->packed->window[i] * D, n * D * sizeof *x);
        }
        ran_layer_norm(w, w->x[s->l + 1] + w->packed->window[i] * D, s->act->review_stat + t * 2, x,
                       s->p->review_norm_w, s->p->review_norm_b, n);
}

static void finish_bwd(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        size_t D = w->D, t = w->packed->window[i] - s->t0,
               n = w->packed->window[i + 1] - w->packed->window[i];
        float *part = s->own->adj.part + i * 6 * D, *d = s->own->adj.dreview_sum + t * D;

        (void)scratch;
        if (!w->c->ran.review)
                d = s->own->dy + w->packed->window[i] * D;
        ran_layer_norm_bwd(w, d, part, part + D, w->dx + w->packed->window[i] * D,
                           s->act->review_sum + t * D, s->act->review_stat + t * 2,
                           s->p->review_norm_w, n);
        if (!w->c->ran.review)
                return;
        for (size_t r = 0; r < n; r++) {
                const float *glu = s->act->review_glu + (t + r) * 2 * D;
                float *dglu = s->own->adj.dreview_glu + (t + r) * 2 * D;

                ran_simd->glu_bwd(dglu, dglu + D, d + r * D, glu, glu + D, D);
        }
        drop_tokens(s, i, d);
        ran_window_activation_bwd(w, s->own->adj.dreview_o + t * D, s->act->review_o + t * D, d,
                                  n * D);
}

static void deactivate(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        size_t t = w->packed->window[i] - s->t0,
               n = w->packed->window[i + 1] - w->packed->window[i];
        float *dq = s->own->adj.dreview_q + t * w->D;

        (void)scratch;
        ran_window_activation_bwd(w, dq, s->act->review_pre + t * w->D, dq, n * w->D);
}

/* ---- a slab -------------------------------------------------------------------------------- */

static void each_document(struct ran_layer_pass *s, void (*fn)(struct ran_layer_pass *s, size_t b))
{
        const struct ran_packed *packed = s->w->packed;

        for (size_t b = packed->window_doc[s->from]; b <= packed->window_doc[s->to - 1]; b++)
                fn(s, b);
}

void ran_review_attend(struct ran_layer_pass *s)
{
        if (ran_review_is_sparse(s->w->c))
                ran_review_pattern(s);
        else
                each_document(s, lookback);
}

void ran_review_attend_bwd(struct ran_layer_pass *s)
{
        if (ran_review_is_sparse(s->w->c))
                ran_review_pattern_bwd(s);
        else
                each_document(s, lookback_bwd);
}

/* Whether each document of the slab has but one state, as those of one window have: R is then one
 * row a document. */
static bool has_one_state(const struct ran_layer_pass *s)
{
        const size_t *document = s->w->packed->window_doc;
        bool one = !ran_review_is_sparse(s->w->c);

        for (size_t b = document[s->from]; b <= document[s->to - 1] && one; b++)
                one = lookback_of(s, b).states == 1;
        return one;
}

/* Linear_o of one row a document, copied to all of its tokens. It has the bits of the product of
 * them all: where their rows stand alone, and there are enough of both. */
static void multiply_states(struct ran_layer_pass *s)
{
        const size_t *document = s->w->packed->window_doc, first = document[s->from],
                     end = document[s->to - 1] + 1, D = s->w->D, row = D * sizeof(float);
        float *x = s->act->review_sum, *y = s->act->review_o;
        size_t rows = 0;

        for (size_t b = first; b < end; b++)
                memcpy(x + rows++ * D, s->act->review_r + lookback_of(s, b).from * D, row);
        for (; rows <= RAN_FEW_ROWS; rows++)
                memcpy(x + rows * D, x, row);
        ran_gemm_linear_kept(s->w->pool, s->panels, y, D, x, D, s->p->review_out_w,
                             s->p->review_out_b, rows, D, D);
        for (size_t b = end; b-- > first;) { /* the last one first: rows only move down */
                const struct lookback k = lookback_of(s, b);

                for (size_t t = k.from + k.n; t-- > k.from;)
                        memmove(y + t * D, y + (b - first) * D, row);
        }
}

static void multiply(struct ran_layer_pass *s)
{
        const struct ran_slab *a = s->act;
        const size_t D = s->w->D;

        if (s->tokens > RAN_FEW_ROWS && ran_gemm_rows_stand_alone() && has_one_state(s))
                multiply_states(s);
        else
                ran_gemm_linear_kept(s->w->pool, s->panels, a->review_o, D, a->review_r, D,
                                     s->p->review_out_w, s->p->review_out_b, s->tokens, D, D);
}

void ran_review(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_layer_params *p = s->p;
        struct ran_slab *a = s->act;
        const float *y = s->own->y[s->l] + s->t0 * w->D;
        size_t D = w->D;

        ran_phase = RAN_PHASE_REVIEW;
        if (w->c->ran.review) {
                ran_gemm_linear_kept(w->pool, s->panels, a->review_pre, D, y, D, p->review_q_w,
                                     p->review_q_b, s->tokens, D, D);
                ran_workers_each(&w->workers, s->from, s->to, activate, s);
                ran_review_attend(s);
        }
        if (w->c->ran.review && !ran_layer_is_gated(w)) { /* plain: the output is R */
                memcpy(w->x[s->l + 1] + s->t0 * D, a->review_r, s->tokens * D * sizeof(float));
                return;
        }
        if (w->c->ran.review) {
                multiply(s);
                ran_gemm_linear_kept(w->pool, s->panels, a->review_glu, 2 * D, a->review_q, D,
                                     p->review_value_w, p->review_value_b, s->tokens, D, 2 * D);
        }
        ran_workers_each(&w->workers, s->from, s->to, finish, s);
}

void ran_review_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_layer_params *p = s->p;
        struct ran_layer_params *dp = s->dp;
        struct ran_slab *a = s->act;
        struct ran_adjoints *j = &s->own->adj;
        size_t D = w->D, tokens = s->tokens;

        ran_phase = RAN_PHASE_REVIEW;
        if (ran_layer_is_gated(w) || !w->c->ran.review) {
                ran_workers_each(&w->workers, s->from, s->to, finish_bwd, s);
                ran_window_sum_parts(s, 0, dp->review_norm_w, dp->review_norm_b);
        }
        if (!w->c->ran.review)
                return;
        if (ran_layer_is_gated(w))
                ran_gemm_linear_bwd(w->pool, j->dreview_r, D, false, dp->review_out_w,
                                    dp->review_out_b, j->dreview_o, D, a->review_r, D,
                                    p->review_out_w, tokens, D, D);
        else
                memcpy(j->dreview_r, w->dx + s->t0 * D, tokens * D * sizeof(float));
        ran_review_attend_bwd(s);
        if (ran_layer_is_gated(w))
                ran_gemm_linear_bwd(w->pool, j->dreview_q, D, true, dp->review_value_w,
                                    dp->review_value_b, j->dreview_glu, 2 * D, a->review_q, D,
                                    p->review_value_w, tokens, D, 2 * D);
        ran_workers_each(&w->workers, s->from, s->to, deactivate, s);
        ran_gemm_linear_bwd(w->pool, s->own->dy + s->t0 * D, D, false, dp->review_q_w,
                            dp->review_q_b, j->dreview_q, D, s->own->y[s->l] + s->t0 * D, D,
                            p->review_q_w, tokens, D, D);
}
