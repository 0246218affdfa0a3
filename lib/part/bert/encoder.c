/* encoder.c - the BERT family as an encoder: its tensors, memory and passes. See bert.h. */
#include "math/gemm.h"
#include "part/bert/bert.h"
#include "nn/part.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- configuration and tensors -------------------------------------------------------------- */

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (ran_bert_specials(c) >= c->bert.max_length)
                return ran_fail(err, RAN_EINVAL,
                                "a window of %zu tokens has no room beside %zu special tokens: "
                                "max_length must be larger",
                                c->bert.max_length, ran_bert_specials(c));
        if (c->bert.pool_skip > c->bert.prefix)
                return ran_fail(err, RAN_EINVAL,
                                "pooling leaves out %zu rows of a window, but %zu stand before its "
                                "tokens",
                                c->bert.pool_skip, c->bert.prefix);
        if (c->task == RAN_TASK_LM)
                return ran_fail(err, RAN_EINVAL,
                                "the encoder 'bert' sees what follows: it cannot be a language "
                                "model (lm), only a masked one (mlm)");
        if (c->task != RAN_TASK_EMBED && ran_config_trains_encoder(c) && c->bert.dense > 0 &&
            c->bert.dense != c->dim)
                return ran_fail(err, RAN_EINVAL,
                                "a head reads vectors of width dim: dense must be %zu or 0, not "
                                "%zu",
                                c->dim, c->bert.dense);
        if (c->bert.vector_dim > ran_bert_width(c))
                return ran_fail(err, RAN_EINVAL,
                                "a document's vector has %zu numbers: vector_dim may not be %zu",
                                ran_bert_width(c), c->bert.vector_dim);
        return RAN_OK;
}

static const char *const fields[] = {"ffn_dim",    "pooling",   "max_length", "prefix", "suffix",
                                     "pool_skip",  "positions", "buckets",    "bias",   "norm_eps",
                                     "norm_first", "gated",     "activation", "dense",  NULL};

static bool uses_window(const struct ran_config *c)
{
        return c->bert.global_every > 1;
}

RAN_PART_TENSORS(layer_tensors, struct ran_bert_params, RAN_BERT_PARAMS, const size_t D = c->dim,
                 E = c->heads * c->head_dim, ffn_dim = c->ffn_dim, l = k->layer)
RAN_PART_TENSORS(once_tensors, struct ran_bert_once, RAN_BERT_ONCE, const size_t D = c->dim)

/* ---- memory --------------------------------------------------------------------------------- */

static void release(struct ran_workspace *w)
{
        struct ran_bert_memory *own = w->own[RAN_PART_BERT];

        free(own->bias);
        free(own->window);
        free(own->doc);
        free(own->group);
        ran_rotary_release(&own->rotary);
        ran_rotary_release(&own->rotary_local);
}

static int prepare(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_bert_memory *own = w->own[RAN_PART_BERT];
        const struct ran_config *c = w->c;

        ran_bert_windows(w);
        if (!c->rotary)
                return RAN_OK;
        RAN_TRY(ran_rotary_reserve(&own->rotary, c->head_dim, c->bert.rotary_base, own->longest,
                                   err));
        return ran_rotary_reserve(&own->rotary_local, c->head_dim, c->bert.rotary_base_local,
                                  own->longest, err);
}

/* A computation that only scores has one set of activations for all layers. */
static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        struct ran_bert_memory *own = w->own[RAN_PART_BERT];
        struct ran_bert_acts *act = w->act;
        const struct ran_config *c = w->c;
        const bool max = c->pooling == RAN_POOL_MAX;
        const bool join_max = max || c->upper == RAN_UPPER_MAX;
        /* the sizes that the lists of bert.h have in scope */
        const double R = (double)own->R, D = (double)w->D, E = (double)w->E, C = (double)w->size.C,
                     ffn_dim = (double)c->ffn_dim, up_ld = (double)ran_bert_up_ld(c),
                     norm_first = c->bert.norm_first, norm_last = !c->bert.norm_first,
                     training = w->training,
                     blocks = (double)ran_rows_blocks(own->R, RAN_BERT_BLOCK),
                     B = (double)w->size.B, dense = (double)c->bert.dense,
                     width = (double)ran_bert_width(c),
                     each = c->upper != RAN_UPPER_POOLING && c->bert.l2_normalize,
                     certain = c->upper == RAN_UPPER_CERTAIN,
                     of_words = c->bert.dense > 0 ? (double)w->packed->positions : 0,
                     units = of_words > (double)own->M ? of_words : (double)own->M;

        for (size_t l = 0; l < c->layers; l++) {
                w->x[l + 1] = w->x[0];
                if (l == 0 || w->training)
                        RAN_ARENA_LIST(&act[l], RAN_BERT_ACTS);
                else
                        act[l] = act[0];
        }
        if (w->training)
                w->x[c->layers] = ran_arena_take(k, (double)w->size.L * D);
        RAN_ARENA_LIST(&own->rows, RAN_BERT_ROWS);
        if (w->training)
                RAN_ARENA_LIST(&own->adj, RAN_BERT_ADJOINTS);
        RAN_ARENA_LIST(&own->out, RAN_BERT_VECTORS);
        own->argmax = (uint32_t *)ran_arena_take(k, max ? units * D : 0);
        own->join_argmax = (uint32_t *)ran_arena_take(k, join_max ? B * width : 0);
        own->chosen = (uint32_t *)ran_arena_take(k, certain * B);
        own->zero = ran_arena_take(k, c->bert.bias ? 0 : D > width ? D : width);
        own->sink = ran_arena_take(k, c->bert.bias ? 0 : width);
        own->dbias = ran_arena_take(
                k, training > 0 && c->bert.buckets > 0 ? (double)ran_bert_biases(c) : 0);
        ran_workers_lay_out(&w->workers, k, ran_bert_attention_scratch(w), false);
}

/* ---- forward and backward ------------------------------------------------------------------- */

/* Layers [from, end) of a group. */
static void read_layers(struct ran_workspace *w, const struct ran_params *p, size_t g, size_t from,
                        size_t end)
{
        for (size_t l = from; l < end; l++) {
                struct ran_bert_pass s = ran_bert_pass_of(w, p, NULL, l, g);

                if (l == 0)
                        ran_bert_embed(&s);
                ran_bert_attention(&s);
                ran_bert_feed(&s);
        }
}

/* The rows (R, D) of the group that enter the tuned layers, or leave the last layer, as they are
 * kept: whether all are. */
static bool find_rows(struct ran_workspace *w, const struct ran_params *p,
                      const struct ran_bert_pass *s)
{
        const struct ran_bert_memory *own = s->own;
        bool found = true;

        if (s->R == RAN_FEW_ROWS + 1)
                memset(s->out, 0, s->R * w->D * sizeof *s->out);
        for (size_t i = own->group[s->g]; i < own->group[s->g + 1] && found; i++) {
                const struct ran_bert_window *v = &own->window[i];

                found = ran_vector_cache_find(
                        p->below, ran_vector_key(w->packed->ids + v->t, v->n, NULL, 0),
                        s->out + v->row * w->D, ran_bert_window_rows(w->c, v) * w->D);
        }
        return found;
}

/* Layers [0, below) of a group, which stay as they are. Where the rows of a product depend on each
 * other none are kept: a window would have other rows in another group. */
static void read_below(struct ran_workspace *w, const struct ran_params *p, size_t g, size_t below)
{
        const struct ran_bert_pass s = ran_bert_pass_of(w, p, NULL, below - 1, g);

        if (find_rows(w, p, &s))
                return;
        read_layers(w, p, g, 0, below);
        for (size_t i = s.own->group[g]; i < s.own->group[g + 1] && ran_gemm_rows_stand_alone();
             i++) {
                const struct ran_bert_window *v = &s.own->window[i];

                ran_vector_cache_add(p->below, ran_vector_key(w->packed->ids + v->t, v->n, NULL, 0),
                                     s.out + v->row * w->D, ran_bert_window_rows(w->c, v) * w->D);
        }
}

static void read_group(struct ran_workspace *w, const struct ran_params *p, size_t g)
{
        const size_t layers = w->c->layers, read = ran_vector_cache_layers(p->below);

        if (read > 0)
                read_below(w, p, g, read);
        read_layers(w, p, g, read, layers);
        struct ran_bert_pass last = ran_bert_pass_of(w, p, NULL, layers - 1, g);
        ran_bert_scatter(&last);
        ran_bert_pool(&last);
}

static void forward(struct ran_workspace *w, const struct ran_params *p)
{
        struct ran_bert_memory *own = w->own[RAN_PART_BERT];

        if (!w->c->bert.bias)
                memset(own->zero, 0,
                       (w->D > ran_bert_width(w->c) ? w->D : ran_bert_width(w->c)) *
                               sizeof *own->zero);
        ran_bert_bias(w, p);
        for (size_t g = 0; g < own->groups; g++)
                read_group(w, p, g);
}

/* Activations are kept for one group: those of several are computed again, one by one. */
static void backward(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        struct ran_bert_memory *own = w->own[RAN_PART_BERT];
        const size_t below = ran_vector_cache_layers(p->below);

        if (below == w->c->layers)
                return;
        if (w->c->bert.buckets > 0)
                memset(own->dbias, 0, ran_bert_biases(w->c) * sizeof *own->dbias);
        for (size_t g = 0; g < own->groups; g++) {
                if (own->groups > 1)
                        read_group(w, p, g);
                for (size_t l = w->c->layers; l-- > below;) {
                        struct ran_bert_pass s = ran_bert_pass_of(w, p, dp, l, g);

                        if (l + 1 == w->c->layers)
                                ran_bert_gather(&s);
                        ran_bert_feed_bwd(&s);
                        ran_bert_attention_bwd(&s);
                        if (l == 0)
                                ran_bert_embed_bwd(&s);
                }
        }
        own->pooled_bwd = false;
        if (below == 0)
                ran_bert_bias_bwd(w, dp);
}

/* ---- probes, attribution and cost ------------------------------------------------------------ */

static double flops(const struct ran_config *c, size_t length, size_t sources)
{
        const double D = (double)c->dim, E = (double)(c->heads * c->head_dim);
        const size_t room = c->bert.max_length - ran_bert_specials(c);
        const size_t whole = length / room + (length % room > 0);
        const double windows = (double)whole;
        const double rows = (double)length + windows * (double)ran_bert_specials(c);
        const double reach =
                (double)(c->window < c->bert.max_length ? c->window : c->bert.max_length);
        const size_t all = (c->layers + c->bert.global_every - 1) / c->bert.global_every;
        const double global = (double)all;
        const double keys = windows > 0 ? rows / windows : 0;

        (void)sources;
        return (double)c->layers * 2 * rows * D *
                       (4 * E + (double)c->ffn_dim * (c->bert.gated ? 3 : 2)) +
               4 * E * rows *
                       (global * keys +
                        ((double)c->layers - global) * (reach < keys ? reach : keys));
}

const struct ran_part ran_part_bert = {
        .encoder = RAN_ENCODER_BERT,
        .encodes = true,
        .paneled = true,
        .rows_stand_alone = 1,
        .abreast = 768,
        .imported = true,
        .streams = true,
        .check = check,
        .fields = fields,
        .uses_window = uses_window,
        .layer_size = sizeof(struct ran_bert_params),
        .once_size = sizeof(struct ran_bert_once),
        .layer_tensors = layer_tensors,
        .once_tensors = once_tensors,
        .own_size = sizeof(struct ran_bert_memory),
        .act_size = sizeof(struct ran_bert_acts),
        .release = release,
        .prepare = prepare,
        .lay_out = lay_out,
        .forward = forward,
        .backward = backward,
        .documents = ran_bert_documents,
        .documents_bwd = ran_bert_documents_bwd,
        .outputs = ran_bert_outputs,
        .outputs_bwd = ran_bert_outputs_bwd,
        .vector_width = ran_bert_vector_width,
        .vector = ran_bert_vector,
        .vector_bwd = ran_bert_vectors_bwd,
        .probe_shape = ran_part_probe_heads,
        .path = ran_part_path,
        .flops = flops,
};
