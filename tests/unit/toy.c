#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "part/linear/linear-model.h"
#include "test.h"
#include "toy.h"

struct ran_config toy_config(void)
{
        return (struct ran_config){.dim = 12,
                                   .layers = 2,
                                   .heads = 2,
                                   .head_dim = 8,
                                   .window = 5,
                                   .min_window = 1,
                                   .rotary = true,
                                   .residual = true,
                                   .review = RAN_REVIEW_ALL,
                                   .review_window = 4,
                                   .rank = 9,
                                   .ffn_dim = 20,
                                   .attention = {.n = 1},
                                   .ngrams = 3,
                                   .position_scale = true,
                                   .cell_pooling = RAN_POOL_LAST,
                                   .max_length = 512,
                                   .positions = true,
                                   .rotary_base = 10000,
                                   .rotary_base_local = 10000,
                                   .global_every = 1,
                                   .bias = true,
                                   .norm_eps = 1e-12,
                                   .activation = RAN_ACTIVATION_GELU,
                                   .dense_activation = RAN_ACTIVATION_TANH,
                                   .upper_dim = 6,
                                   .upper_layers = 1,
                                   .upper_heads = 1,
                                   .upper_head_dim = 4,
                                   .upper_window = 5};
}

struct ran_config toy_random_config(struct dice *d)
{
        struct ran_config c = toy_config();

        c.dim = dice_size(d, 6, 40);
        c.layers = dice_size(d, 1, 3);
        c.heads = dice_size(d, 1, 3);
        c.rotary = dice_coin(d);
        c.head_dim = c.rotary ? 2 * dice_size(d, 1, 10) : dice_size(d, 1, 20);
        c.window = dice_size(d, 1, 12);
        c.min_window = dice_size(d, 1, 14);
        c.cell = (int)dice_size(d, RAN_CELL_GATED, RAN_CELL_PUBLISHED);
        c.residual = dice_coin(d);
        c.review = (int)dice_size(d, RAN_REVIEW_NONE, RAN_REVIEW_DISPERSED);
        c.review_window = 1 + c.dim % 6;
        c.review_source = c.review == RAN_REVIEW_ALL && c.dim % 2 > 0;
        c.mask = (int)dice_size(d, RAN_MASK_NONE, RAN_MASK_PREFIX);
        c.pooling = dice_coin(d) ? RAN_POOL_MAX : RAN_POOL_MEAN;
        c.cell_pooling = c.head_dim % 3 == 0   ? RAN_POOL_MAX
                         : c.head_dim % 3 == 1 ? RAN_POOL_MEAN
                                               : RAN_POOL_LAST;
        return c;
}

struct ran_config toy_transformer(struct dice *d)
{
        struct ran_config c = toy_random_config(d);

        c.encoder = RAN_ENCODER_TRANSFORMER;
        c.review_source = false;
        c.ffn_dim = dice_size(d, 1, 30);
        c.attention.n = dice_coin(d) ? 1 : c.heads;
        for (size_t j = 0; j < c.attention.n; j++)
                c.attention.item[j] = (unsigned char)dice_size(d, 0, RAN_ATTENTION_DISPERSED);
        c.dilation = dice_size(d, 0, 3);
        c.similarity = (int)dice_size(d, 0, RAN_SIMILARITY_MANHATTAN);
        return c;
}

struct ran_config toy_bert(struct dice *d)
{
        struct ran_config c = toy_random_config(d);

        c.encoder = RAN_ENCODER_BERT;
        c.mask = RAN_MASK_NONE;
        c.review_source = false;
        c.ffn_dim = dice_size(d, 1, 30);
        c.prefix = dice_size(d, 0, 2);
        c.suffix = dice_size(d, 0, 2);
        c.pool_skip = dice_coin(d) ? 0 : c.prefix;
        c.max_length = c.prefix + c.suffix + dice_size(d, 1, 16);
        c.positions = dice_coin(d);
        c.buckets = dice_coin(d) ? 0 : dice_size(d, 2, 12) / 2 * 2;
        c.rotary_base = 100;
        c.rotary_base_local = 30;
        c.global_every = dice_size(d, 1, 3);
        c.norm_first = dice_coin(d);
        c.bias = dice_coin(d);
        c.norm_eps = 1e-3;
        c.activation = (int)dice_size(d, RAN_ACTIVATION_GELU, RAN_ACTIVATION_SILU);
        c.gated = dice_coin(d);
        c.pooling = (int)dice_size(d, RAN_POOL_MAX, RAN_POOL_LAST);
        c.dense = dice_coin(d) ? c.dim : 0;
        c.dense_activation = (int)dice_size(d, RAN_ACTIVATION_NONE, RAN_ACTIVATION_TANH);
        c.dense_norm = dice_coin(d);
        c.l2_normalize = dice_coin(d);
        return c;
}

struct ran_config toy_upper(struct dice *d, int upper)
{
        struct ran_config c = toy_bert(d);

        c.upper = upper;
        c.upper_rows = (int)dice_size(d, RAN_ROWS_TOKENS, RAN_ROWS_WINDOWS);
        c.upper_dim = dice_size(d, 2, 8);
        c.upper_layers = dice_size(d, 1, 2);
        c.upper_heads = dice_size(d, 1, 2);
        c.upper_head_dim = 2 * dice_size(d, 1, 3);
        c.upper_window = dice_size(d, 1, 6);
        return c;
}

struct ran_config toy_contextualizer(struct dice *d)
{
        struct ran_config c = toy_config();

        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        c.dim = dice_size(d, 2, 40);
        c.layers = dice_size(d, 1, 3);
        c.rank = dice_size(d, 1, 50);
        c.context = (int)dice_size(d, RAN_CONTEXT_CONSTANT, RAN_CONTEXT_RANDOM);
        c.position_scale = dice_coin(d);
        return c;
}

static bool ends_with(const char *s, const char *end)
{
        size_t n = strlen(s), m = strlen(end);

        return n >= m && strcmp(s + n - m, end) == 0;
}

size_t toy_tables(const struct toy *t)
{
        return (t->V + t->c.spelling) * t->c.dim + t->c.wide * t->C;
}

void toy_init(struct toy *t, const struct ran_config *c, uint64_t seed, double deviation)
{
        struct ran_error err = {0};
        struct dice dice = {.key = ran_random_key(seed, 1, 2, 3)};
        size_t runs = ran_linear_model_ngram_buckets(c);

        /* Cells with weights this large are chaotic, their keys and values linear: rounding would
         * grow from window to window. */
        if (c->encoder == RAN_ENCODER_RAN && c->cell == RAN_CELL_PRENORM)
                deviation /= 2;
        *t = (struct toy){.c = *c, .V = TOY_V, .C = ran_task_is_tied(c) ? TOY_V : TOY_C};
        if (!CHECK_OK(ran_layout_init(&t->layout, &t->c, t->C, &err), err) ||
            !CHECK_OK(ran_params_init(&t->p, &t->c, t->C, &err), err))
                abort();
        t->embed = ran_alloc_floats(toy_tables(t) + c->wide, &err);
        for (size_t i = 0; i < TOY_V; i++)
                t->token_weight[i] = 1 / (1 + 0.1f * (float)(i % 7));
        t->p.token_weight = c->frozen ? t->token_weight : NULL;
        t->p.embed = t->embed;
        t->p.spelling = c->spelling > 0 ? t->embed + t->V * c->dim : NULL;
        t->p.wide = t->embed + (t->V + c->spelling) * c->dim;
        t->p.idf = t->embed + toy_tables(t);
        dice_floats(&dice, t->embed, toy_tables(t), deviation);
        for (size_t i = 0; i < c->wide; i++) /* some buckets are left out */
                t->embed[toy_tables(t) + i] = i % 5 == 3 ? 0 : 1 + 0.1f * (float)(i % 7);
        for (size_t i = 0; i < TOY_V * RAN_AFFIX_ROW && runs < c->wide; i++)
                t->affixes[i] =
                        i % 3 == 1 ? RAN_NO_AFFIX
                                   : (uint32_t)(runs + ran_random_draw(7, i) % (c->wide - runs));
        for (size_t id = 0; id < TOY_V; id++)
                t->affixes[id * RAN_AFFIX_ROW + RAN_AFFIXES] = id % 5 == 2   ? RAN_SUBWORD_CONTINUES
                                                               : id % 7 == 3 ? RAN_SUBWORD_UNKNOWN
                                                                             : RAN_SUBWORD_BEGINS;
        t->p.affixes = c->affixes ? t->affixes : NULL;
        dice_floats(&dice, t->p.block, t->layout.size, deviation);
        for (size_t i = 0; i < t->layout.n; i++) {
                const struct ran_tensor_spec *s = &t->layout.spec[i];

                for (size_t j = 0; ends_with(s->name, "norm.weight") && j < s->cols; j++)
                        t->p.block[s->offset + j] += 1;
        }
}

void toy_release(struct toy *t)
{
        ran_params_release(&t->p);
        ran_layout_release(&t->layout);
        free(t->embed);
}

const char *toy_name(const struct ran_config *c)
{
        static const char *const contexts[] = {"constant", "learned", "random"};
        static const char *const reviews[] = {"", ", review", ", review of a window",
                                              ", dispersed review"};
        static char text[256];

        if (c->encoder == RAN_ENCODER_CONTEXTUALIZER) {
                snprintf(text, sizeof(text), "contextualizer, D %zu, %zu steps, rank %zu, %s%s",
                         c->dim, c->layers, c->rank, contexts[c->context],
                         c->position_scale ? ", scaled" : "");
                return text;
        }
        if (c->encoder == RAN_ENCODER_BERT) {
                snprintf(text, sizeof(text),
                         "bert, D %zu, %zu layers, %zu heads of %zu, %zu rows, %zu and %zu "
                         "around%s%s"
                         "%s, buckets %zu, global %zu, W %zu, activation %d%s%s, pooling %d, dense "
                         "%zu %d"
                         "%s%s, below %d of %s",
                         c->dim, c->layers, c->heads, c->head_dim, c->max_length, c->prefix,
                         c->suffix, c->norm_first ? ", norm first" : "", c->bias ? ", biases" : "",
                         c->rotary ? ", rotary" : "", c->buckets, c->global_every, c->window,
                         c->activation, c->gated ? ", gated" : "",
                         c->positions ? ", positions" : "", c->pooling, c->dense,
                         c->dense_activation, c->dense_norm ? ", norm" : "",
                         c->l2_normalize ? ", length 1" : "", c->upper,
                         c->upper_rows == RAN_ROWS_WINDOWS ? "windows" : "tokens");
                return text;
        }
        if (c->encoder == RAN_ENCODER_TRANSFORMER) {
                snprintf(text, sizeof(text),
                         "transformer, D %zu, %zu layers, %zu heads of %zu, W %zu, %s%s, %s, "
                         "mask %s%s",
                         c->dim, c->layers, c->heads, c->head_dim, c->window,
                         ran_attention_names[c->attention.item[0]],
                         c->attention.n > 1 ? " and others" : "",
                         ran_similarity_names[c->similarity], ran_mask_names[c->mask],
                         c->rotary ? ", rotary" : "");
                return text;
        }
        static const char *const cells[] = {"gated", "plain", "prenorm", "published"};

        snprintf(text, sizeof(text),
                 "%s, D %zu, %zu layers, %zu heads of %zu, W %zu, min %zu%s%s%s, %s pool%s%s%s",
                 cells[c->cell], c->dim, c->layers, c->heads, c->head_dim, c->window, c->min_window,
                 c->rotary ? ", rotary" : "", c->residual ? ", residual" : "", reviews[c->review],
                 c->pooling == RAN_POOL_MAX ? "max" : "mean", c->multilabel ? ", labels" : "",
                 c->mask == RAN_MASK_NONE     ? ""
                 : c->mask == RAN_MASK_CAUSAL ? ", causal"
                                              : ", prefix",
                 c->spelling > 0 ? ", spelling" : "");
        return text;
}

static void toy_spell(const struct toy *t, struct ran_packed *rows, struct dice *d, size_t L)
{
        struct ran_error err = {0};
        uint32_t *spelling = ran_alloc(L * RAN_SPELLING, sizeof(*spelling), &err);

        for (size_t i = 0; i < L * RAN_SPELLING; i++)
                spelling[i] = (uint32_t)dice_size(d, 0, t->c.spelling - 1);
        CHECK_OK(ran_packed_spell(rows, spelling, &err), err);
        free(spelling);
}

struct ran_document toy_document(const struct ran_packed *rows, size_t b)
{
        size_t at = rows->doc[b];

        return (struct ran_document){
                .ids = rows->ids + at,
                .L = rows->doc[b + 1] - at,
                .spelling = rows->spelling != NULL ? rows->spelling + at * RAN_SPELLING : NULL};
}

void toy_add(const struct toy *t, struct ran_packed *rows, struct dice *d, size_t L,
             uint64_t record)
{
        struct ran_error err = {0};
        uint32_t *ids = ran_alloc(L, sizeof(*ids), &err);

        for (size_t i = 0; i < L; i++)
                ids[i] = (uint32_t)dice_size(d, 0, t->V - 1);
        CHECK_OK(ran_packed_add(rows, &t->c, ids, L, record, &err), err);
        if (t->c.mask == RAN_MASK_PREFIX)
                rows->sources[rows->B - 1] = dice_size(d, 0, L);
        if (t->c.spelling > 0)
                toy_spell(t, rows, d, L);
        free(ids);
}
