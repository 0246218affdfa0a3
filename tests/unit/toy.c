#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "part/linear/linear-model.h"
#include "part/vectors/document-vector.h"
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
                                   .ran.residual = true,
                                   .ran.review = RAN_REVIEW_ALL,
                                   .ran.review_window = 4,
                                   .contextualizer.rank = 9,
                                   .ffn_dim = 20,
                                   .transformer.attention = {.n = 1},
                                   .linear.ngrams = 3,
                                   .contextualizer.position_scale = true,
                                   .ran.cell_pooling = RAN_POOL_LAST,
                                   .bert.max_length = 512,
                                   .bert.positions = true,
                                   .bert.rotary_base = 10000,
                                   .bert.rotary_base_local = 10000,
                                   .bert.global_every = 1,
                                   .bert.bias = true,
                                   .bert.norm_eps = 1e-12,
                                   .bert.activation = RAN_ACTIVATION_GELU,
                                   .bert.dense_activation = RAN_ACTIVATION_TANH};
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
        c.ran.cell = (int)dice_size(d, RAN_CELL_GATED, RAN_CELL_PUBLISHED);
        c.ran.residual = dice_coin(d);
        c.ran.review = (int)dice_size(d, RAN_REVIEW_NONE, RAN_REVIEW_DISPERSED);
        c.ran.review_window = 1 + c.dim % 6;
        c.ran.review_source = c.ran.review == RAN_REVIEW_ALL && c.dim % 2 > 0;
        c.mask = (int)dice_size(d, RAN_MASK_NONE, RAN_MASK_PREFIX);
        c.pooling = dice_coin(d) ? RAN_POOL_MAX : RAN_POOL_MEAN;
        c.ran.cell_pooling = c.head_dim % 3 == 0   ? RAN_POOL_MAX
                             : c.head_dim % 3 == 1 ? RAN_POOL_MEAN
                                                   : RAN_POOL_LAST;
        return c;
}

struct ran_config toy_transformer(struct dice *d)
{
        struct ran_config c = toy_random_config(d);

        c.encoder = RAN_ENCODER_TRANSFORMER;
        c.ran.review_source = false;
        c.ffn_dim = dice_size(d, 1, 30);
        c.transformer.attention.n = dice_coin(d) ? 1 : c.heads;
        for (size_t j = 0; j < c.transformer.attention.n; j++)
                c.transformer.attention.item[j] =
                        (unsigned char)dice_size(d, 0, RAN_ATTENTION_DISPERSED);
        c.transformer.dilation = dice_size(d, 0, 3);
        c.transformer.similarity = (int)dice_size(d, 0, RAN_SIMILARITY_MANHATTAN);
        return c;
}

struct ran_config toy_bert(struct dice *d)
{
        struct ran_config c = toy_random_config(d);

        c.encoder = RAN_ENCODER_BERT;
        c.mask = RAN_MASK_NONE;
        c.ran.review_source = false;
        c.ffn_dim = dice_size(d, 1, 30);
        c.bert.prefix = dice_size(d, 0, 2);
        c.bert.suffix = dice_size(d, 0, 2);
        c.bert.pool_skip = dice_coin(d) ? 0 : c.bert.prefix;
        c.bert.max_length = c.bert.prefix + c.bert.suffix + dice_size(d, 1, 16);
        c.bert.positions = dice_coin(d);
        c.bert.buckets = dice_coin(d) ? 0 : dice_size(d, 2, 12) / 2 * 2;
        c.bert.rotary_base = 100;
        c.bert.rotary_base_local = 30;
        c.bert.global_every = dice_size(d, 1, 3);
        c.bert.norm_first = dice_coin(d);
        c.bert.bias = dice_coin(d);
        c.bert.norm_eps = 1e-3;
        c.bert.activation = (int)dice_size(d, RAN_ACTIVATION_GELU, RAN_ACTIVATION_SILU);
        c.bert.gated = dice_coin(d);
        c.pooling = (int)dice_size(d, RAN_POOL_MAX, RAN_POOL_LAST);
        c.bert.dense = dice_coin(d) ? c.dim : 0;
        c.bert.dense_activation = (int)dice_size(d, RAN_ACTIVATION_NONE, RAN_ACTIVATION_TANH);
        c.bert.dense_norm = dice_coin(d);
        c.bert.l2_normalize = dice_coin(d);
        return c;
}

struct ran_config toy_upper(struct dice *d, int upper)
{
        struct ran_config c = toy_bert(d);

        c.upper = upper;
        return c;
}

struct ran_config toy_contextualizer(struct dice *d)
{
        struct ran_config c = toy_config();

        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        c.dim = dice_size(d, 2, 40);
        c.layers = dice_size(d, 1, 3);
        c.contextualizer.rank = dice_size(d, 1, 50);
        c.contextualizer.context = (int)dice_size(d, RAN_CONTEXT_CONSTANT, RAN_CONTEXT_RANDOM);
        c.contextualizer.position_scale = dice_coin(d);
        return c;
}

static bool ends_with(const char *s, const char *end)
{
        size_t n = strlen(s), m = strlen(end);

        return n >= m && strcmp(s + n - m, end) == 0;
}

size_t toy_tables(const struct toy *t)
{
        return (t->V + t->c.spelling) * t->c.dim + t->c.linear.wide * t->C;
}

void toy_init(struct toy *t, const struct ran_config *c, uint64_t seed, double deviation)
{
        struct ran_error err = {0};
        struct dice dice = {.key = ran_random_key(seed, 1, 2, 3)};
        size_t runs = ran_linear_model_ngram_buckets(c);

        /* Cells with weights this large are chaotic, their keys and values linear: rounding would
         * grow from window to window. */
        if (c->encoder == RAN_ENCODER_RAN && c->ran.cell == RAN_CELL_PRENORM)
                deviation /= 2;
        *t = (struct toy){.c = *c, .V = TOY_V, .C = ran_task_is_tied(c) ? TOY_V : TOY_C};
        if (!CHECK_OK(ran_layout_init(&t->layout, &t->c, t->C, &err), err) ||
            !CHECK_OK(ran_params_init(&t->p, &t->c, t->C, &err), err))
                abort();
        t->embed = ran_alloc_floats(toy_tables(t) + c->linear.wide, &err);
        for (size_t i = 0; i < TOY_V; i++)
                t->token_weight[i] = 1 / (1 + 0.1f * (float)(i % 7));
        if (c->frozen)
                ran_document_vector_of(&t->p)->token_weight = t->token_weight;
        t->p.embed = t->embed;
        t->p.spelling = c->spelling > 0 ? t->embed + t->V * c->dim : NULL;
        struct ran_linear_params *linear = ran_linear_of(&t->p);
        if (linear != NULL) {
                linear->wide = t->embed + (t->V + c->spelling) * c->dim;
                linear->idf = t->embed + toy_tables(t);
                linear->affixes = c->linear.affixes ? t->affixes : NULL;
        }
        dice_floats(&dice, t->embed, toy_tables(t), deviation);
        for (size_t i = 0; i < c->linear.wide; i++) /* some buckets are left out */
                t->embed[toy_tables(t) + i] = i % 5 == 3 ? 0 : 1 + 0.1f * (float)(i % 7);
        for (size_t i = 0; i < TOY_V * RAN_AFFIX_ROW && runs < c->linear.wide; i++)
                t->affixes[i] = i % 3 == 1 ? RAN_NO_AFFIX
                                           : (uint32_t)(runs + ran_random_draw(7, i) %
                                                                       (c->linear.wide - runs));
        for (size_t id = 0; id < TOY_V; id++)
                t->affixes[id * RAN_AFFIX_ROW + RAN_AFFIXES] = id % 5 == 2   ? RAN_SUBWORD_CONTINUES
                                                               : id % 7 == 3 ? RAN_SUBWORD_UNKNOWN
                                                                             : RAN_SUBWORD_BEGINS;
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
                         c->dim, c->layers, c->contextualizer.rank,
                         contexts[c->contextualizer.context],
                         c->contextualizer.position_scale ? ", scaled" : "");
                return text;
        }
        if (c->encoder == RAN_ENCODER_BERT) {
                snprintf(text, sizeof(text),
                         "bert, D %zu, %zu layers, %zu heads of %zu, %zu rows, %zu and %zu "
                         "around%s%s"
                         "%s, buckets %zu, global %zu, W %zu, activation %d%s%s, pooling %d, dense "
                         "%zu %d"
                         "%s%s, below %d",
                         c->dim, c->layers, c->heads, c->head_dim, c->bert.max_length,
                         c->bert.prefix, c->bert.suffix, c->bert.norm_first ? ", norm first" : "",
                         c->bert.bias ? ", biases" : "", c->rotary ? ", rotary" : "",
                         c->bert.buckets, c->bert.global_every, c->window, c->bert.activation,
                         c->bert.gated ? ", gated" : "", c->bert.positions ? ", positions" : "",
                         c->pooling, c->bert.dense, c->bert.dense_activation,
                         c->bert.dense_norm ? ", norm" : "",
                         c->bert.l2_normalize ? ", length 1" : "", c->upper);
                return text;
        }
        if (c->encoder == RAN_ENCODER_TRANSFORMER) {
                snprintf(text, sizeof(text),
                         "transformer, D %zu, %zu layers, %zu heads of %zu, W %zu, %s%s, %s, "
                         "mask %s%s",
                         c->dim, c->layers, c->heads, c->head_dim, c->window,
                         ran_attention_names[c->transformer.attention.item[0]],
                         c->transformer.attention.n > 1 ? " and others" : "",
                         ran_similarity_names[c->transformer.similarity], ran_mask_names[c->mask],
                         c->rotary ? ", rotary" : "");
                return text;
        }
        static const char *const cells[] = {"gated", "plain", "prenorm", "published"};

        snprintf(text, sizeof(text),
                 "%s, D %zu, %zu layers, %zu heads of %zu, W %zu, min %zu%s%s%s, %s pool%s%s%s",
                 cells[c->ran.cell], c->dim, c->layers, c->heads, c->head_dim, c->window,
                 c->min_window, c->rotary ? ", rotary" : "", c->ran.residual ? ", residual" : "",
                 reviews[c->ran.review], c->pooling == RAN_POOL_MAX ? "max" : "mean",
                 c->classify.multilabel ? ", labels" : "",
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
        ran_packed_spell(rows, spelling);
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
        ran_packed_add(rows, &t->c, ids, L, record);
        if (t->c.mask == RAN_MASK_PREFIX)
                rows->sources[rows->B - 1] = dice_size(d, 0, L);
        if (t->c.spelling > 0)
                toy_spell(t, rows, d, L);
        free(ids);
}
