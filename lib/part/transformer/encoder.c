/* encoder.c - the Transformer as an encoder: its tensors, memory and stages. See
 * transformer.h. */
#include "nn/part.h"
#include "part/transformer/transformer.h"
#include "ran/model.h"

#include <stdlib.h>

/* ---- configuration and tensors -------------------------------------------------------------- */

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (c->transformer.attention.n > 1 && c->transformer.attention.n != c->heads)
                return ran_fail(err, RAN_EINVAL,
                                "attention has %zu patterns for %zu heads: give one, or one for "
                                "each head",
                                c->transformer.attention.n, c->heads);
        return RAN_OK;
}

static bool uses_window(const struct ran_config *c)
{
        for (size_t i = 0; i < c->transformer.attention.n; i++)
                if (c->transformer.attention.item[i] != RAN_ATTENTION_FULL)
                        return true;
        return false;
}

RAN_PART_TENSORS(layer_tensors, struct ran_transformer_params, RAN_TRANSFORMER_PARAMS,
                 const size_t D = c->dim, E = c->heads * c->head_dim, ffn_dim = c->ffn_dim)
RAN_PART_TENSORS(once_tensors, struct ran_transformer_once, RAN_TRANSFORMER_ONCE,
                 const size_t D = c->dim)

/* ---- memory --------------------------------------------------------------------------------- */

static void release(struct ran_workspace *w)
{
        struct ran_transformer_memory *own = w->own[RAN_PART_TRANSFORMER];

        free(own->mask);
        free(own->task);
}

static int prepare(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *packed = w->packed;
        struct ran_transformer_memory *own = w->own[RAN_PART_TRANSFORMER];
        size_t longest = 0;

        own->keys = 0;
        for (size_t b = 0; b < packed->B; b++) {
                size_t length = ran_transformer_length(packed, b);

                longest = length > longest ? length : longest;
                own->keys = ran_transformer_first_row(packed, b) + length;
                if (packed->recurrent[b] != NULL)
                        RAN_TRY(ran_recurrent_state_reserve(packed->recurrent[b], length, 0, err));
        }
        own->tokens = packed->L < w->slab_rows ? packed->L : w->slab_rows;
        RAN_TRY(ran_transformer_attention_prepare(w, err));
        return w->c->rotary ? ran_rotary_reserve(&w->rotary, w->d_k, RAN_ROTARY_BASE, longest, err)
                            : RAN_OK;
}

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        struct ran_transformer_memory *own = w->own[RAN_PART_TRANSFORMER];
        struct ran_transformer_acts *act = w->act;
        /* the sizes that the lists of transformer.h have in scope */
        const double L = (double)w->size.L, D = (double)w->D, E = (double)w->E, h = (double)w->h,
                     ffn_dim = (double)w->c->ffn_dim, keys = (double)own->keys,
                     tokens = (double)own->tokens, kept = ran_transformer_keeps(w) ? L : tokens,
                     blocks = (double)ran_rows_blocks(own->tokens, RAN_TRANSFORMER_BLOCK);

        for (size_t l = 0; l < w->c->layers; l++) {
                w->x[l + 1] = w->training ? ran_arena_take(k, L * D) : w->x[0];
                if (l == 0 || ran_transformer_keeps(w)) {
                        RAN_ARENA_LIST(&act[l], RAN_TRANSFORMER_ACTS);
                } else {
                        act[l] = act[0];
                        if (w->training) { /* the others are computed again */
                                act[l].a = ran_arena_take(k, keys * E);
                                act[l].log_sum = ran_arena_take(k, keys * h);
                        }
                }
                if (!w->training)
                        act[l].mid = w->x[0]; /* rows are read once: in place */
        }
        own->unnormed = w->training ? ran_arena_take(k, L * D) : w->x[0];
        own->last_stat = ran_arena_take(k, L * 2);
        RAN_ARENA_LIST(&own->rows, RAN_TRANSFORMER_ROWS);
        if (w->training)
                RAN_ARENA_LIST(&own->adj, RAN_TRANSFORMER_ADJOINTS);
        if (ran_task_of(w->c)->output == RAN_OUTPUT_DOCUMENT)
                own->argmax = (uint32_t *)ran_arena_take(k, (double)w->size.B * D);
        ran_workers_lay_out(&w->workers, k, ran_sparse_floats(w->d_k), false);
}

/* ---- forward and backward ------------------------------------------------------------------- */

static void forward(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_packed *packed = w->packed;

        for (size_t l = 0; l < w->c->layers; l++) {
                struct ran_transformer_pass s = ran_transformer_pass_of(w, p, NULL, l, 0);

                ran_transformer_attention(w, p, l, false);
                for (size_t b = 0; b < packed->B; b++)
                        if (packed->recurrent[b] != NULL)
                                ran_transformer_attention_keep(&s, b);
                ran_transformer_feed(w, p, l);
        }
        for (size_t t0 = 0; t0 < packed->L; t0 += w->slab_rows) {
                struct ran_transformer_pass s = ran_transformer_pass_of(w, p, NULL, 0, t0);

                ran_rows_norm(&s.of, w->x[w->c->layers] + t0 * w->D, s.own->last_stat + t0 * 2,
                              s.own->unnormed + t0 * w->D, s.once->norm_w, s.once->norm_b);
        }
        for (size_t b = 0; b < packed->B; b++)
                if (packed->recurrent[b] != NULL) {
                        packed->recurrent[b]->tokens += packed->doc[b + 1] - packed->doc[b];
                        packed->recurrent[b]->states = packed->recurrent[b]->tokens;
                }
}

static void backward(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        struct ran_transformer_once *donce = dp->once;

        for (size_t t0 = 0; t0 < w->packed->L; t0 += w->slab_rows) {
                struct ran_transformer_pass s = ran_transformer_pass_of(w, p, dp, 0, t0);
                float *dx = w->dx + t0 * w->D;

                ran_rows_norm_bwd(&s.of, dx, dx, s.own->unnormed + t0 * w->D,
                                  s.own->last_stat + t0 * 2, s.once->norm_w, donce->norm_w,
                                  donce->norm_b);
        }
        for (size_t l = w->c->layers; l-- > 0;) {
                if (!ran_transformer_keeps(w))
                        ran_transformer_attention(w, p, l, true);
                ran_transformer_feed_bwd(w, p, dp, l);
                ran_transformer_attention_bwd(w, p, dp, l);
        }
}

/* ---- a vector of each document: its pooled tokens ------------------------------------------- */

static void documents(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_transformer_memory *own = w->own[RAN_PART_TRANSFORMER];

        (void)p;
        ran_pooling(w, w->head.head, own->argmax);
}

static void documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp)
{
        const struct ran_transformer_memory *own = w->own[RAN_PART_TRANSFORMER];

        (void)p, (void)dp;
        ran_pooling_bwd(w, w->head.dhead, own->argmax);
}

/* ---- state, probes, attribution and cost ---------------------------------------------------- */

/* A state is a token, with the keys and values of all heads. */
static size_t state_width(const struct ran_config *c)
{
        return c->heads * c->head_dim;
}

static double flops(const struct ran_config *c, size_t length, size_t sources)
{
        double L = (double)length, D = (double)c->dim, N = (double)c->layers, scores = 0;

        for (size_t j = 0; j < c->heads; j++) {
                struct ran_mask m;

                if (ran_mask_init(&m, ran_transformer_pattern(c, j), c->window,
                                  c->transformer.dilation, c->mask, length,
                                  c->mask == RAN_MASK_PREFIX ? sources : 0, NULL) == RAN_OK)
                        scores += (double)ran_mask_count(&m, 0, length, 0, length);
        }
        return N * (2 * L * D * (double)(4 * c->heads * c->head_dim + 2 * c->ffn_dim) +
                    4 * (double)c->head_dim * scores);
}

const struct ran_part ran_part_transformer = {
        .encoder = RAN_ENCODER_TRANSFORMER,
        .encodes = true,
        .check = check,
        .fields = (const char *const[]){"ffn_dim", "pooling", NULL},
        .uses_window = uses_window,
        .layer_size = sizeof(struct ran_transformer_params),
        .once_size = sizeof(struct ran_transformer_once),
        .layer_tensors = layer_tensors,
        .once_tensors = once_tensors,
        .own_size = sizeof(struct ran_transformer_memory),
        .act_size = sizeof(struct ran_transformer_acts),
        .release = release,
        .prepare = prepare,
        .lay_out = lay_out,
        .forward = forward,
        .backward = backward,
        .documents = documents,
        .documents_bwd = documents_bwd,
        .state_width = state_width,
        .probe_shape = ran_part_probe_heads,
        .path = ran_part_path,
        .flops = flops,
};
