/* Gradients of the whole model against central differences of the plain loops of naive.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "nn/vector-cache.h"
#include "part/contextualizer/contextualizer.h"
#include "nn/part.h"
#include "naive.h"
#include "test.h"
#include "toy.h"
#include "gradient/grad.h"
#include "data/loss.h"

/* ---- a batch --------------------------------------------------------------------------------- */

/* Documents with their classes; the loss is the mean over them. */
struct batch {
        struct ran_packed rows;
        uint32_t gold[16][TOY_C];
        size_t n_gold[16];
        double smoothing;
        struct ran_noise noise;
};

static void batch_add(struct batch *b, const struct toy *t, struct dice *dice, size_t L)
{
        size_t i = b->rows.B;

        toy_add(t, &b->rows, dice, L, 50 + i);
        b->n_gold[i] = 0;
        if (t->c.classify.multilabel) {
                for (uint32_t c = 0; c < TOY_C; c++)
                        if (dice_coin(dice))
                                b->gold[i][b->n_gold[i]++] = c;
        } else {
                b->gold[i][b->n_gold[i]++] = (uint32_t)dice_size(dice, 0, TOY_C - 1);
        }
}

static double naive_batch(struct naive *n, const struct batch *b)
{
        double logits[TOY_C], sum = 0;

        n->noise = b->noise;
        for (size_t i = 0; i < b->rows.B; i++) {
                size_t from = b->rows.doc[i], L = b->rows.doc[i + 1] - from;

                n->record = b->rows.record[i];
                n->sources = b->rows.sources[i];
                n->spelling = toy_document(&b->rows, i).spelling;
                naive_classify(n, logits, NULL, b->rows.ids + from, L);
                sum += naive_loss(logits, TOY_C, b->gold[i], b->n_gold[i],
                                  n->c->classify.multilabel, b->smoothing);
        }
        return sum / (double)b->rows.B;
}

/* d loss / d x, by central differences */
static double difference(struct naive *n, const struct batch *b, double *x)
{
        const double step = 1e-5;
        double was = *x, above, below;

        *x = was + step;
        above = naive_batch(n, b);
        *x = was - step;
        below = naive_batch(n, b);
        *x = was;
        return (above - below) / (2 * step);
}

/* Of all parameters: those of the block, then those of the tables. The linear model learns
 * otherwise.
 */
static double *naive_gradient(const struct toy *t, const struct batch *b)
{
        size_t n = t->layout.size, VD = toy_tables(t);
        double *g = doubles(n + VD);
        const struct ran_linear_params *linear = ran_linear_of(&t->p);
        struct naive naive;

        naive_init(&naive, &t->c, &t->layout, &t->p, t->V, t->C);
        for (size_t i = 0; i < n; i++)
                if (linear == NULL || (size_t)(linear->bias - t->p.block) > i ||
                    i >= (size_t)(linear->bias - t->p.block) + t->C)
                        g[i] = difference(&naive, b, &naive.block[i]);
        for (size_t i = 0; i < VD - t->c.linear.wide * t->C; i++)
                g[n + i] = difference(&naive, b, &naive.embed[i]);
        naive_release(&naive);
        return g;
}

/* ---- the gradient of lib/model --------------------------------------------------------------- */

struct way {
        size_t slab_rows; /* 0: as it is */
        size_t threads;   /* 0: no pool */
        bool anew;        /* nothing is kept of several chunks */
};

static void place_rows(float *to, const struct ran_grad_rows *from, size_t width)
{
        for (size_t i = 0; i < from->n; i++)
                memcpy(to + from->ids[i] * width, from->rows + i * width, width * sizeof(*to));
}

/* As many floats as above, and the loss behind them. work may have been used before. */
static float *gradient_with(struct ran_workspace *w, const struct toy *t, const struct batch *b)
{
        size_t n = t->layout.size, D = t->c.dim;
        struct ran_error err = {0};
        struct ran_grad g = {0};
        float *all = ran_alloc_floats(n + toy_tables(t) + 1, &err);
        double loss = 0;

        w->noise = b->noise;
        CHECK_OK(ran_params_init(&g.p, &t->c, t->C, &err), err);
        CHECK_OK(ran_workspace_fit(w, &b->rows, t->C, &err), err);
        ran_encode(w, &t->p);
        ran_head(w, &t->p, t->C);
        for (size_t i = 0; i < b->rows.B; i++) {
                const struct ran_target target = {b->gold[i], NULL, b->n_gold[i]};

                loss += ran_loss_classify(w->head.dlogits + i * t->C, w->head.logits + i * t->C,
                                          t->C, &target, t->c.classify.multilabel, b->smoothing,
                                          1 / (double)b->rows.B);
        }
        ran_head_bwd(w, &t->p, &g.p, t->C);
        ran_encode_bwd(w, &t->p, &g.p);
        CHECK_OK(ran_grad_embed(&g, b->rows.ids, t->c.spelling > 0 ? b->rows.spelling : NULL, t->V,
                                w->dx, b->rows.L, D, NULL, &err),
                 err);
        memcpy(all, g.p.block, n * sizeof(*all));
        place_rows(all + n, &g.rows, D);
        all[n + toy_tables(t)] = (float)loss;
        ran_grad_release(&g);
        return all;
}

static float *gradient(const struct toy *t, const struct batch *b, struct way way)
{
        struct ran_error err = {0};
        struct ran_pool *pool = way.threads > 0 ? ran_pool_new(way.threads, &err) : NULL;
        struct ran_workspace w;
        float *all;

        ran_workspace_init(&w, &t->c, true, pool);
        if (way.slab_rows > 0)
                w.slab_rows = way.slab_rows;
        if (way.anew)
                w.keep_floats = 0;
        all = gradient_with(&w, t, b);
        ran_workspace_release(&w);
        ran_pool_free(pool);
        return all;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static double length(const double *x, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += x[i] * x[i];
        return sqrt(sum);
}

/* Promise 1 of the design: for each tensor, 1e-3 of its norm and 1e-6 of all gradients'. */
static bool near(const char *tensor, const float *got, const double *want, size_t n, double all)
{
        double *off = doubles(n);
        bool ok;

        for (size_t i = 0; i < n; i++)
                off[i] = (double)got[i] - want[i];
        ok = test_check_near(length(off, n), 0, 1e-3 * length(want, n) + 1e-6 * all, tensor,
                             __FILE__, __LINE__);
        free(off);
        return ok;
}

static bool check_gradient(const struct toy *t, const float *got, const double *want)
{
        size_t n = t->layout.size, VD = t->V * t->c.dim, SD = t->c.spelling * t->c.dim;
        double all = length(want, n + VD + SD);
        bool ok = CHECK(all > 1e-3);

        for (size_t i = 0; i < t->layout.n; i++) {
                const struct ran_tensor_spec *s = &t->layout.spec[i];

                ok &= near(s->name, got + s->offset, want + s->offset,
                           (s->rows > 0 ? s->rows : 1) * s->cols, all);
        }
        ok &= near("embed.weight", got + n, want + n, VD, all);
        return ok & (SD == 0 || near("spelling.weight", got + n + VD, want + n + VD, SD, all));
}

/* d loss / d x along a direction */
static double along(struct naive *n, const struct batch *b, double *x, const double *direction,
                    size_t count)
{
        const double step = 1e-6;
        double above, below;

        for (size_t i = 0; i < count; i++)
                x[i] += step * direction[i];
        above = naive_batch(n, b);
        for (size_t i = 0; i < count; i++)
                x[i] -= 2 * step * direction[i];
        below = naive_batch(n, b);
        for (size_t i = 0; i < count; i++)
                x[i] += step * direction[i];
        return (above - below) / (2 * step);
}

/* A tensor of n parameters x: along its gradient the loss grows as the gradient is long; along
 * random directions as their products with it say. */
static bool check_directions(struct naive *n, const struct batch *b, struct dice *dice,
                             const char *name, double *x, const float *g, size_t count)
{
        double *direction = doubles(count), size, product;
        bool ok = true;

        for (size_t round = 0; round < (test_all() ? 4 : 2); round++) {
                for (size_t i = 0; i < count; i++)
                        direction[i] = round == 0 ? (double)g[i] : dice_bell(dice);
                size = length(direction, count);
                product = 0;
                for (size_t i = 0; i < count && size > 0; i++) {
                        direction[i] /= size;
                        product += direction[i] * (double)g[i];
                }
                size = 0;
                for (size_t i = 0; i < count; i++)
                        size += (double)g[i] * (double)g[i];
                ok &= test_check_near(along(n, b, x, direction, count), product,
                                      1e-3 * sqrt(size) + 1e-6, name, __FILE__, __LINE__);
        }
        free(direction);
        return ok;
}

/* What is learned with the encoder, and so not the bias of the linear model. */
static bool is_of_encoder(const struct toy *t, const struct ran_tensor_spec *s)
{
        const struct ran_linear_params *linear = ran_linear_of(&t->p);

        return linear == NULL || t->p.block + s->offset != linear->bias;
}

/* All tensors, each along a few directions: at a hundredth of the cost of all differences. */
static bool check_tensors(const struct toy *t, const struct batch *b, struct naive *n,
                          struct dice *dice, const float *g)
{
        size_t VD = t->V * t->c.dim, SD = t->c.spelling * t->c.dim;
        bool ok = true;

        for (size_t i = 0; i < t->layout.n; i++) {
                const struct ran_tensor_spec *s = &t->layout.spec[i];

                if (is_of_encoder(t, s))
                        ok &= check_directions(n, b, dice, s->name, n->block + s->offset,
                                               g + s->offset,
                                               (s->rows > 0 ? s->rows : 1) * s->cols);
        }
        g += t->layout.size;
        ok &= check_directions(n, b, dice, "embed.weight", n->embed, g, VD);
        return ok & (SD == 0 ||
                     check_directions(n, b, dice, "spelling.weight", n->embed + VD, g + VD, SD));
}

/* The same batch in one chunk, in many, and with threads; make check-all takes the derivative by
 * every parameter. */
static void check_ways(const struct toy *t, const struct batch *b)
{
        static const struct way ways[] = {{0, 0, false}, {1, 0, false}, {9, 0, false},
                                          {9, 3, false}, {1, 0, true},  {9, 3, true}};
        double *want = test_all() ? naive_gradient(t, b) : NULL;
        struct dice dice = {.key = 2};
        struct naive naive;

        naive_init(&naive, &t->c, &t->layout, &t->p, t->V, t->C);
        for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
                float *got = gradient(t, b, ways[i]);

                if (want == NULL) { /* the other ways have to give what the first does */
                        if (!check_tensors(t, b, &naive, &dice, got))
                                printf("  %s, along a direction\n", toy_name(&t->c));
                        want = doubles(t->layout.size + toy_tables(t));
                        for (size_t j = 0; j < t->layout.size + toy_tables(t); j++)
                                want[j] = (double)got[j];
                }

                CHECK_NEAR((double)got[t->layout.size + toy_tables(t)], naive_batch(&naive, b),
                           1e-4);
                if (!check_gradient(t, got, want))
                        printf("  %s; chunks of %zu%s\n", toy_name(&t->c), ways[i].slab_rows,
                               ways[i].anew ? ", anew" : "");
                free(got);
        }
        naive_release(&naive);
        free(want);
}

/* ---- every switch ---------------------------------------------------------------------------- */

static struct ran_config small(void)
{
        struct ran_config c = toy_config();

        c.dim = 6; /* differences cost two losses a parameter */
        c.head_dim = 2;
        c.window = 4;
        return c;
}

static void check_config(struct ran_config c, struct ran_noise noise, double smoothing)
{
        static const size_t lengths[] = {1, 4, 11};
        struct batch b = {.noise = noise, .smoothing = smoothing};
        struct dice dice = {.key = 1};
        struct toy t;

        toy_init(&t, &c, 11, 0.4);
        for (size_t i = 0; i < 3; i++)
                batch_add(&b, &t, &dice, lengths[i]);
        check_ways(&t, &b);
        ran_packed_release(&b.rows);
        toy_release(&t);
}

static const struct ran_noise none = {0};

/* The nine cases of the reference, and the same in a plain cell. */
static void check_switches(int cell)
{
        struct ran_config c = small(), base;

        c.ran.cell = cell;
        base = c;
        check_config(c, none, 0);
        c.layers = 3;
        check_config(c, none, 0);
        c = base, c.rotary = false;
        check_config(c, none, 0);
        c = base, c.ran.residual = false;
        check_config(c, none, 0);
        c = base, c.ran.review = RAN_REVIEW_NONE;
        check_config(c, none, 0);
        for (c = base, c.ran.review = RAN_REVIEW_WINDOW; c.ran.review <= RAN_REVIEW_DISPERSED;
             c.ran.review++)
                for (c.ran.review_window = 1; c.ran.review_window <= 2; c.ran.review_window++)
                        check_config(c, none, 0);
        c = base, c.min_window = 4; /* 11 leaves 3 */
        check_config(c, none, 0);
        c = base, c.pooling = RAN_POOL_MEAN;
        check_config(c, none, 0);
        c = base, c.classify.multilabel = true;
        check_config(c, none, 0);
        c = base, c.spelling = 7;
        check_config(c, none, 0);
        c.linear.wide = 17; /* several runs fall in one bucket */
        check_config(c, none, 0);
        c.linear.affixes = true;
        check_config(c, none, 0);
        c.spelling = 0, c.pooling = RAN_POOL_MEAN;
        check_config(c, none, 0);
        c = base, c.linear.wide = 17, c.classify.multilabel = true;
        check_config(c, none, 0);
}

TEST(gradient_of_a_gated_cell)
{
        check_switches(RAN_CELL_GATED);
}

TEST(gradient_of_a_plain_cell)
{
        check_switches(RAN_CELL_PLAIN);
}

TEST(gradient_of_a_prenorm_cell)
{
        check_switches(RAN_CELL_PRENORM);
}

TEST(gradient_of_a_published_cell)
{
        struct ran_config c = small();

        check_switches(RAN_CELL_PUBLISHED);
        c.ran.cell = RAN_CELL_PUBLISHED;
        c.ran.cell_pooling = RAN_POOL_MEAN;
        check_config(c, none, 0);
        c.ran.cell_pooling = RAN_POOL_MAX;
        check_config(c, none, 0);
}

TEST(gradient_of_learned_vectors)
{
        struct ran_config c = small();

        c.ran.vector = true;
        c.ran.cell = RAN_CELL_PRENORM;
        check_config(c, none, 0);
        check_config(c, (struct ran_noise){.seed = 3, .embed_dropout = 0.3}, 0);
        c.spelling = 7;
        check_config(c, none, 0);
}

TEST(gradient_under_masks)
{
        struct ran_config c = small();

        for (c.mask = RAN_MASK_CAUSAL; c.mask <= RAN_MASK_PREFIX; c.mask++)
                for (c.ran.cell = RAN_CELL_GATED; c.ran.cell <= RAN_CELL_PUBLISHED; c.ran.cell++)
                        check_config(c, none, 0);
        c = small(), c.window = 1, c.ran.review_window = 2;
        for (c.ran.review = RAN_REVIEW_WINDOW; c.ran.review <= RAN_REVIEW_DISPERSED; c.ran.review++)
                for (c.mask = RAN_MASK_NONE; c.mask <= RAN_MASK_PREFIX; c.mask++)
                        check_config(c, none, 0);
}

/* Sources that end within a window and at its end, and none; several windows of target. */
TEST(gradient_of_a_review_of_the_source)
{
        static const size_t lengths[] = {4, 11, 12, 9}, sources[] = {0, 6, 4, 9};

        for (int cell = RAN_CELL_GATED; cell <= RAN_CELL_PUBLISHED; cell++)
                for (size_t window = 2; window <= 4; window += 2) {
                        struct ran_config c = small();
                        struct batch b = {0};
                        struct dice dice = {.key = 7};
                        struct toy t;

                        c.ran.cell = cell;
                        c.window = window;
                        c.mask = RAN_MASK_PREFIX;
                        c.ran.review_source = true;
                        toy_init(&t, &c, 11, 0.4);
                        for (size_t i = 0; i < 4; i++) {
                                batch_add(&b, &t, &dice, lengths[i]);
                                b.rows.sources[i] = sources[i];
                        }
                        check_ways(&t, &b);
                        ran_packed_release(&b.rows);
                        toy_release(&t);
                }
}

TEST(gradient_of_a_transformer)
{
        const struct ran_noise noise = {3, 4, 0.3, 0.2};
        struct dice dice = {.key = 12};

        for (size_t i = 0; i < 24; i++) {
                struct ran_config c = toy_transformer(&dice);

                c.dim = 4 + i % 3;
                c.head_dim = 4;
                c.layers = 1 + i % 2;
                c.ffn_dim = 6;
                c.transformer.attention.item[0] = (unsigned char)(i % 4);
                c.mask = (int)(i / 4 % 3);
                c.classify.multilabel = i % 5 == 0;
                check_config(c, i % 2 > 0 ? noise : none, 0);
        }
}

TEST(gradient_of_an_encoder_of_the_family_bert)
{
        const struct ran_noise noise = {3, 4, 0.3, 0.2};
        struct dice dice = {.key = 15};

        for (size_t i = 0; i < (test_all() ? 60u : 20u); i++) {
                struct ran_config c = toy_bert(&dice);

                c.dim = 4 + i % 3;
                c.head_dim = 4;
                c.layers = 1 + i % 2;
                c.ffn_dim = 6;
                c.bert.dense = c.bert.dense > 0 ? c.dim : 0;
                check_config(c, i % 2 > 0 ? noise : none, 0);
        }
}

/* Whether a tensor is above the layers [0, below) of an encoder of the family. */
static bool is_tuned(const char *tensor, size_t below)
{
        static const char *const ours[] = {"classify.", "bert.dense",   "bert.norm",      "upper.",
                                           "ran.",      "transformer.", "contextualizer."};
        size_t layer;

        if (below == 3 && strncmp(tensor, ours[2], strlen(ours[2])) == 0)
                return false;
        for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
                if (strncmp(tensor, ours[i], strlen(ours[i])) == 0)
                        return true;
        return sscanf(tensor, "bert.%zu.", &layer) == 1 && layer >= below;
}

/* Tuned tensors have the gradient that they have when all are, if nothing drops out; and what is
 * below has none. */
static void check_tuned(const struct toy *t, const float *got, const float *all, size_t below)
{
        for (size_t i = 0; i < t->layout.n; i++) {
                const struct ran_tensor_spec *s = &t->layout.spec[i];
                const bool tuned = is_tuned(s->name, below);
                const size_t n = (s->rows > 0 ? s->rows : 1) * s->cols;
                bool ok = true;

                for (size_t j = 0; j < n; j++) {
                        const float *x = got + s->offset + j, *y = all + s->offset + j;

                        ok &= tuned ? memcmp(x, y, sizeof(*x)) == 0 : *x == 0;
                }
                if (!CHECK(ok))
                        printf("%s, %zu layers stay, of %s\n", s->name, below, toy_name(&t->c));
        }
}

TEST(gradient_of_what_stands_above_an_encoder)
{
        const struct ran_noise noise = {3, 4, 0.3, 0.2};
        struct dice dice = {.key = 16};

        for (size_t i = 0; i < (test_all() ? 48u : 18u); i++) {
                struct ran_config c =
                        toy_upper(&dice, RAN_UPPER_MEAN + (int)(i % RAN_UPPER_CERTAIN));

                c.dim = 4 + i % 3;
                c.head_dim = 4;
                c.layers = 1;
                c.ffn_dim = 6;
                c.bert.dense = c.bert.dense > 0 ? c.dim : 0;
                c.classify.multilabel = i % 3 == 0;
                check_config(c, i % 2 > 0 ? noise : none, 0);
        }
}

TEST(gradient_of_tuned_layers_and_none_below_them)
{
        const struct ran_noise noise = {3, 4, 0.3, 0.2};
        struct dice dice = {.key = 16};

        for (size_t i = 0; i < 24; i++) {
                struct ran_config c =
                        i % 2 > 0
                                ? toy_bert(&dice)
                                : toy_upper(&dice, RAN_UPPER_MEAN + (int)i / 2 % RAN_UPPER_CERTAIN);
                struct way way = {.slab_rows = i % 3 * 12, .threads = i % 2 * 2};
                struct batch b = {0};
                struct toy t;

                c.layers = 3;
                toy_init(&t, &c, i, 0.3);
                for (size_t k = 0; k < 4; k++)
                        batch_add(&b, &t, &dice, 3 + 9 * k);
                float *all = gradient(&t, &b, way);
                for (size_t below = 1; below <= c.layers; below++) {
                        const size_t bytes = t.layout.size * sizeof(float);

                        t.p.below = ran_vector_cache_new(below, 0, SIZE_MAX);
                        float *first = gradient(&t, &b, way), *kept = gradient(&t, &b, way);
                        check_tuned(&t, first, all, below);
                        CHECK(memcmp(first, kept, bytes) == 0);
                        CHECK(first[t.layout.size + toy_tables(&t)] ==
                              all[t.layout.size + toy_tables(&t)]);
                        free(first);
                        free(kept);
                        b.noise = noise;
                        first = gradient(&t, &b, way), kept = gradient(&t, &b, way);
                        CHECK(memcmp(first, kept, bytes) == 0);
                        b.noise = none;
                        free(first);
                        free(kept);
                        ran_vector_cache_close(t.p.below, NULL);
                }
                t.p.below = NULL;
                free(all);
                ran_packed_release(&b.rows);
                toy_release(&t);
        }
}

/* Documents of 1 and 4 tokens are short, that of 11 is long. */
TEST(gradient_of_a_contextualizer)
{
        const struct ran_noise noise = {3, 4, 0.3, 0.2};
        struct ran_config c = small();

        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        c.contextualizer.rank = 5;
        for (c.contextualizer.context = RAN_CONTEXT_CONSTANT;
             c.contextualizer.context <= RAN_CONTEXT_RANDOM; c.contextualizer.context++) {
                c.layers = 2;
                check_config(c, none, 0);
                c.contextualizer.position_scale = !c.contextualizer.position_scale;
                check_config(c, noise, 0.1);
                c.layers = 1;
                c.classify.multilabel = !c.classify.multilabel;
                check_config(c, none, 0);
        }
        c = small(), c.encoder = RAN_ENCODER_CONTEXTUALIZER, c.contextualizer.rank = 1, c.dim = 20;
        check_config(c, noise, 0);
}

TEST(gradient_with_dropout_and_smoothing)
{
        const struct ran_noise noise = {3, 4, 0.3, 0.2};
        struct ran_config c = small();

        check_config(c, noise, 0.1);
        c.ran.review = RAN_REVIEW_NONE;
        check_config(c, noise, 0.1);
        c = small(), c.ran.cell = RAN_CELL_PLAIN, c.classify.multilabel = true;
        check_config(c, noise, 0.1);
        c = small(), c.ran.cell = RAN_CELL_PRENORM, c.layers = 2;
        check_config(c, noise, 0.1);
        c.ran.review = false;
        check_config(c, noise, 0);
        c = small(), c.ran.cell = RAN_CELL_PUBLISHED;
        check_config(c, noise, 0.1);
        c = small(), c.spelling = 5;
        check_config(c, noise, 0);
        c = small(), c.linear.wide = 40, c.linear.affixes = true;
        check_config(c, noise, 0.1);
        c = small(), c.ran.residual = false, c.dim = 7; /* dropout counts across odd rows */
        check_config(c, noise, 0);
}

/* ---- rows longer than a vector --------------------------------------------------------------- */

/* A document of L tokens; a Contextualizer's weights of positions are multiplied by `position`. */
static void check_all_directions(const struct ran_config *c, size_t L, double deviation,
                                 float position)
{
        struct dice dice = {.key = 2};
        struct batch b = {0};
        struct naive n;
        struct toy t;
        float *g;

        toy_init(&t, c, 12, deviation);
        const struct ran_contextualizer_once *once = t.p.once;
        for (size_t d = 0; d < c->dim && c->encoder == RAN_ENCODER_CONTEXTUALIZER; d++)
                once->position[d] *= position;
        batch_add(&b, &t, &dice, L);
        g = gradient(&t, &b, (struct way){.slab_rows = 12});
        naive_init(&n, &t.c, &t.layout, &t.p, t.V, t.C);
        check_tensors(&t, &b, &n, &dice, g);
        naive_release(&n);
        ran_packed_release(&b.rows);
        toy_release(&t);
        free(g);
}

TEST(gradient_of_rows_longer_than_a_vector)
{
        struct ran_config c = toy_config();

        c.dim = 37, c.heads = 3, c.head_dim = 22, c.window = 9;
        for (c.ran.cell = RAN_CELL_GATED; c.ran.cell <= RAN_CELL_PUBLISHED; c.ran.cell++)
                check_all_directions(&c, 20, 0.2, 1);
        c.encoder = RAN_ENCODER_CONTEXTUALIZER, c.contextualizer.context = RAN_CONTEXT_LEARNED,
        c.contextualizer.rank = 45;
        check_all_directions(&c, 20, 0.2, 1);
        check_all_directions(&c, 38, 0.2, 1);
}

/* Document i of a batch, as a batch of its own. */
static void batch_of_one(struct batch *one, const struct toy *t, const struct batch *b, size_t i)
{
        size_t from = b->rows.doc[i];

        *one = (struct batch){.noise = b->noise, .n_gold = {b->n_gold[i]}};
        memcpy(one->gold[0], b->gold[i], sizeof one->gold[0]);
        ran_packed_add(&one->rows, &t->c, b->rows.ids + from, b->rows.doc[i + 1] - from,
                       b->rows.record[i]);
}

/* A batch's gradient is the mean of its documents', dropout and all: those that end early leave the
 * others to take their steps. */
static void check_abreast(const struct ran_config *c, size_t slab_rows, size_t threads)
{
        enum { DOCUMENTS = 13 };
        struct dice dice = {.key = 5};
        struct batch b = {.noise = {.dropout = 0.2, .seed = 3}};
        struct toy t;

        toy_init(&t, c, 21, 0.3);
        for (size_t i = 0; i < DOCUMENTS; i++)
                batch_add(&b, &t, &dice, 1 + i * 7 % DOCUMENTS * (i % 3 + 1));
        size_t n = t.layout.size + toy_tables(&t);
        float *got = gradient(&t, &b, (struct way){.slab_rows = slab_rows, .threads = threads});
        double *want = doubles(n);
        for (size_t i = 0; i < DOCUMENTS; i++) {
                struct batch one;

                batch_of_one(&one, &t, &b, i);
                float *g = gradient(&t, &one, (struct way){0});
                for (size_t j = 0; j < n; j++)
                        want[j] += (double)g[j] / DOCUMENTS;
                free(g);
                ran_packed_release(&one.rows);
        }
        check_gradient(&t, got, want);
        free(got);
        free(want);
        ran_packed_release(&b.rows);
        toy_release(&t);
}

TEST(gradient_of_documents_abreast)
{
        struct ran_config c = toy_config();

        c.dim = 37, c.heads = 3, c.head_dim = 22, c.window = 6, c.min_window = 2;
        for (c.ran.cell = RAN_CELL_GATED; c.ran.cell <= RAN_CELL_PUBLISHED; c.ran.cell++) {
                check_abreast(&c, 0, 0);
                check_abreast(&c, 60, 3);
        }
}

/* Shares of a long document; positions that leave it a few tokens, and ones that leave it many. */
TEST(gradient_of_a_contextualizer_of_many_chunks)
{
        struct ran_config c = toy_config();

        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        check_all_directions(&c, 500, 0.3, 1);
        check_all_directions(&c, 500, 0.3, 0.01f);
        check_all_directions(&c, 500, 0.3, 1e-25f);
        c.contextualizer.position_scale = false;
        check_all_directions(&c, 500, 0.3, 1);
}

/* ---- the same bits --------------------------------------------------------------------------- */

static bool same_bits(const struct toy *t, const float *a, const float *b)
{
        return memcmp(a, b, (t->layout.size + toy_tables(t) + 1) * sizeof(*a)) == 0;
}

static void check_same(struct ran_config c)
{
        struct batch b = {.noise = {7, 8, 0.1, 0.1}}, other = {0};
        struct dice dice = {.key = 3};
        struct ran_workspace used;
        struct toy t;
        float *alone, *g;

        toy_init(&t, &c, 13, 0.3);
        for (size_t i = 0; i < 5; i++)
                batch_add(&b, &t, &dice, 1 + 90 * i);
        batch_add(&other, &t, &dice, 1000);
        alone = gradient(&t, &b, (struct way){0});
        for (size_t i = 0; i < 3; i++) {
                g = gradient(&t, &b, (struct way){.threads = (const size_t[]){1, 2, 7}[i]});
                CHECK(same_bits(&t, g, alone));
                free(g);
        }
        ran_workspace_init(&used, &t.c, true, NULL);
        free(gradient_with(&used, &t, &other));
        g = gradient_with(&used, &t, &b);
        CHECK(same_bits(&t, g, alone));
        free(g);
        free(alone);
        ran_workspace_release(&used);
        ran_packed_release(&b.rows);
        ran_packed_release(&other.rows);
        toy_release(&t);
}

TEST(gradient_is_the_same_for_any_threads_and_in_used_scratch)
{
        struct ran_config c = toy_config();

        check_same(c);
        c.ran.review = RAN_REVIEW_DISPERSED;
        check_same(c);
        c.window = 1; /* more windows in a slab than wait for each other */
        check_same(c);
        c = toy_config();
        c.linear.wide = 50;
        check_same(c);
        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        check_same(c);
        c.dim = 300;
        check_same(c);
}
