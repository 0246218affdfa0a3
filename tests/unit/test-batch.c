/* Gradients of batches: sparse rows, the tree that sums shards, and how a batch is cut. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "doubles.h"
#include "test.h"
#include "toy.h"
#include "gradient/batch.h"

/* ---- sparse rows ----------------------------------------------------------------------------- */

TEST(grad_embed_sums_the_rows_of_equal_ids)
{
        enum { APART = 1003 }; /* ids of several bytes */
        struct ran_pool *pool = ran_pool_new(3, NULL);
        struct dice dice = {.key = 1};

        for (size_t L = 1; L < 1000; L += L < 80 ? 1 : 200) {
                const size_t D = 1 + L % 7, V = 1 + L % (L < 80 ? 23 : 201);
                struct ran_error err = {0};
                struct ran_grad g = {0};
                float *want = ran_alloc_floats(V * D, &err);
                bool *there = calloc(V, sizeof(*there));
                uint32_t *ids = calloc(L, sizeof(*ids));
                float *dx = ran_alloc_floats(L * D, &err);
                size_t n = 0;

                dice_floats(&dice, dx, L * D, 1);
                for (size_t t = 0; t < L; t++) {
                        ids[t] = (uint32_t)dice_size(&dice, 0, V - 1);
                        there[ids[t]] = true;
                        for (size_t i = 0; i < D; i++)
                                want[ids[t] * D + i] += dx[t * D + i]; /* in this order */
                }
                for (size_t t = 0; t < L; t++)
                        ids[t] *= APART;
                CHECK_OK(ran_grad_embed(&g, ids, NULL, 0, dx, L, D, pool, &err), err);
                for (uint32_t id = 0; id < V; id++) {
                        if (!there[id])
                                continue;
                        CHECK(n < g.rows.n &&
                              g.rows.ids[n] == id * APART); /* ascending, each once */
                        CHECK(memcmp(g.rows.rows + n * D, want + id * D, D * sizeof(*want)) == 0);
                        n++;
                }
                CHECK_SIZE(g.rows.n, n);
                free(g.rows.ids);
                free(g.rows.rows);
                free(want);
                free(there);
                free(ids);
                free(dx);
        }
        ran_pool_free(pool);
}

/* ---- the tree -------------------------------------------------------------------------------- */

enum { SHARDS = 17 };

/* A small layout, the gradients of up to SHARDS shards as dense vectors, and their sum. */
struct sums {
        struct ran_config c;
        size_t block, dense; /* floats of the block; with the whole embedding behind it */
        uint32_t ids[SHARDS][TOY_V];
        size_t n[SHARDS];
        float *shard[SHARDS];
};

/* The classes of a language model are its vocabulary. */
static size_t classes_of(int task)
{
        return task == RAN_TASK_LM ? TOY_V : TOY_C;
}

static struct sums sums_new(struct dice *dice, int task)
{
        struct sums s = {.c = toy_config()};
        struct ran_layout layout;
        struct ran_error err = {0};

        s.c.task = task;
        s.c.dim = 2, s.c.layers = 1, s.c.heads = 1, s.c.head_dim = 2;
        CHECK_OK(ran_layout_init(&layout, &s.c, classes_of(task), &err), err);
        s.block = layout.size;
        s.dense = layout.size + TOY_V * s.c.dim;
        ran_layout_release(&layout);
        for (size_t i = 0; i < SHARDS; i++) {
                s.shard[i] = ran_alloc_floats(s.dense, &err);
                /* of many sizes, so that every order of adding rounds in its own way */
                for (size_t j = 0; j < s.block; j++)
                        s.shard[i][j] = (float)(dice_bell(dice) * exp(dice_real(dice, -8, 8)));
                for (uint32_t id = 0; id < TOY_V; id++)
                        if (dice_coin(dice)) {
                                s.ids[i][s.n[i]++] = id;
                                dice_floats(dice, s.shard[i] + s.block + id * s.c.dim, s.c.dim, 1);
                        }
        }
        return s;
}

static void sums_free(struct sums *s)
{
        for (size_t i = 0; i < SHARDS; i++)
                free(s->shard[i]);
}

/* The sum of the shards [from, to) of a row of `width` slots, a power of two: the halves by
 * themselves, then together. Caller frees. */
static float *sum_of(const struct sums *s, size_t from, size_t width, size_t shards)
{
        struct ran_error err = {0};
        float *sum, *right;

        if (from >= shards)
                return NULL;
        if (width == 1) {
                sum = ran_alloc_floats(s->dense, &err);
                memcpy(sum, s->shard[from], s->dense * sizeof(*sum));
                return sum;
        }
        sum = sum_of(s, from, width / 2, shards);
        right = sum_of(s, from + width / 2, width / 2, shards);
        for (size_t i = 0; i < s->dense && right != NULL; i++)
                sum[i] += right[i];
        free(right);
        return sum;
}

static void hand_in(const struct sums *s, struct ran_tree *tree, size_t shard)
{
        struct ran_grad *g = ran_tree_take(tree);
        struct ran_error err = {0};
        float *dx = ran_alloc_floats(TOY_V * s->c.dim, &err);
        size_t D = s->c.dim;

        for (size_t i = 0; i < s->block; i++)
                g->p.block[i] += s->shard[shard][i]; /* it was handed out cleared */
        for (size_t i = 0; i < s->n[shard]; i++)
                memcpy(dx + i * D, s->shard[shard] + s->block + s->ids[shard][i] * D,
                       D * sizeof(*dx));
        ran_grad_embed(g, s->ids[shard], NULL, 0, dx, s->n[shard], D, NULL, &err);
        ran_tree_join(tree, shard, 1, g);
        free(dx);
}

static bool equals(const struct sums *s, const struct ran_grad *g, const float *want)
{
        struct ran_error err = {0};
        size_t D = s->c.dim;
        float *embed = ran_alloc_floats(TOY_V * D, &err);
        bool ok = memcmp(g->p.block, want, s->block * sizeof(*want)) == 0;

        ok &= (g->p.dembed != NULL) == (g->rows.ids == NULL) &&
              (g->rows.ids != NULL || g->rows.n == TOY_V);
        for (size_t i = 0; i < g->rows.n; i++) {
                size_t id = g->rows.ids != NULL ? g->rows.ids[i] : i;

                ok &= i == 0 || g->rows.ids == NULL || g->rows.ids[i - 1] < g->rows.ids[i];
                memcpy(embed + id * D, g->rows.rows + i * D, D * sizeof(*embed));
        }
        ok &= memcmp(embed, want + s->block, TOY_V * D * sizeof(*embed)) == 0;
        free(embed);
        return ok;
}

static void check_sum(const struct sums *s, struct ran_tree *tree, size_t shards)
{
        size_t width = 1;
        float *want;
        struct ran_grad *g;

        while (width < shards)
                width *= 2;
        want = sum_of(s, 0, width, shards);
        g = ran_tree_sum(tree);
        CHECK(g != NULL && equals(s, g, want));
        if (g != NULL)
                ran_tree_give(tree, g);
        free(want);
}

static void shuffle(struct dice *dice, size_t *order, size_t n)
{
        for (size_t i = 0; i < n; i++)
                order[i] = i;
        for (size_t i = n; i > 1; i--) {
                size_t j = dice_size(dice, 0, i - 1), x = order[j];

                order[j] = order[i - 1];
                order[i - 1] = x;
        }
}

TEST(tree_sums_alike_in_any_order_of_arrival)
{
        struct dice dice = {.key = 2};
        struct sums s = sums_new(&dice, RAN_TASK_CLASSIFY);
        struct ran_error err = {0};
        struct ran_tree tree;

        CHECK_OK(ran_tree_init(&tree, &s.c, TOY_C, s.block, &err), err);
        for (size_t shards = 1; shards <= SHARDS; shards++)
                for (size_t round = 0; round < 60; round++) {
                        size_t order[SHARDS];

                        shuffle(&dice, order, shards);
                        ran_tree_begin(&tree, shards);
                        for (size_t i = 0; i < shards; i++)
                                hand_in(&s, &tree, order[i]);
                        check_sum(&s, &tree, shards);
                }
        ran_tree_release(&tree);
        sums_free(&s);
}

/* Where the output is tied to the embedding: rows of all ids, to which the output layer adds, too.
 */
TEST(tree_sums_dense_rows)
{
        struct dice dice = {.key = 8};
        struct sums s = sums_new(&dice, RAN_TASK_LM);
        struct ran_error err = {0};
        struct ran_tree tree;

        CHECK_OK(ran_tree_init(&tree, &s.c, TOY_V, s.block, &err), err);
        for (size_t shards = 1; shards <= SHARDS; shards++)
                for (size_t round = 0; round < 10; round++) {
                        size_t order[SHARDS];

                        shuffle(&dice, order, shards);
                        ran_tree_begin(&tree, shards);
                        for (size_t i = 0; i < shards; i++)
                                hand_in(&s, &tree, order[i]);
                        check_sum(&s, &tree, shards);
                }
        ran_tree_release(&tree);
        sums_free(&s);
}

/* All orders of five: where the last subtree of a row stands alone twice over. */
TEST(tree_sums_five_shards_alike_in_all_orders)
{
        struct dice dice = {.key = 3};
        struct sums s = sums_new(&dice, RAN_TASK_CLASSIFY);
        struct ran_error err = {0};
        struct ran_tree tree;

        CHECK_OK(ran_tree_init(&tree, &s.c, TOY_C, s.block, &err), err);
        for (size_t code = 0; code < 5 * 5 * 5 * 5 * 5; code++) {
                size_t order[5], seen = 0;

                for (size_t i = 0, rest = code; i < 5; i++, rest /= 5)
                        seen |= (size_t)1 << (order[i] = rest % 5);
                if (seen != 31)
                        continue;
                ran_tree_begin(&tree, 5);
                for (size_t i = 0; i < 5; i++)
                        hand_in(&s, &tree, order[i]);
                check_sum(&s, &tree, 5);
        }
        ran_tree_release(&tree);
        sums_free(&s);
}

struct arrivals {
        const struct sums *s;
        struct ran_tree *tree;
        const size_t *order;
};

static void arrive(void *arg, size_t i)
{
        const struct arrivals *a = arg;

        hand_in(a->s, a->tree, a->order[i]);
}

TEST(tree_sums_alike_from_many_threads)
{
        struct dice dice = {.key = 4};
        struct sums s = sums_new(&dice, RAN_TASK_CLASSIFY);
        struct ran_error err = {0};
        struct ran_pool *pool = ran_pool_new(7, &err);
        struct ran_tree tree;

        CHECK_OK(ran_tree_init(&tree, &s.c, TOY_C, s.block, &err), err);
        for (size_t round = 0; round < 200; round++) {
                size_t shards = dice_size(&dice, 2, SHARDS), order[SHARDS];
                struct arrivals a = {&s, &tree, order};

                shuffle(&dice, order, shards);
                ran_tree_begin(&tree, shards);
                ran_parallel(pool, shards, arrive, &a);
                check_sum(&s, &tree, shards);
        }
        ran_tree_release(&tree);
        ran_pool_free(pool);
        sums_free(&s);
}

TEST(tree_keeps_the_first_error)
{
        struct ran_error err = {0}, first = {RAN_ENOMEM, "the first"}, second = {RAN_EIO, "no"};
        struct dice dice = {.key = 5};
        struct sums s = sums_new(&dice, RAN_TASK_CLASSIFY);
        struct ran_tree tree;

        CHECK_OK(ran_tree_init(&tree, &s.c, TOY_C, s.block, &err), err);
        ran_tree_begin(&tree, 3);
        hand_in(&s, &tree, 2);
        ran_tree_fail(&tree, &first);
        hand_in(&s, &tree, 0);
        ran_tree_fail(&tree, &second);
        CHECK(ran_tree_sum(&tree) == NULL);
        CHECK_STR(tree.error.text, "the first");
        ran_tree_release(&tree);
        sums_free(&s);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* A model, documents, and what computes their gradients. */
struct bench {
        struct toy toy;
        struct ran_dataset data;
        struct ran_pool *pool;
        struct ran_batcher k;
        size_t order[64];
};

static void bench_init_as(struct bench *b, struct ran_config c, size_t threads, size_t longest)
{
        struct ran_error err = {0};
        struct dice dice = {.key = 6};

        c.window = 40;
        toy_init(&b->toy, &c, 21, 0.3);
        corpus_make(&b->data, 64, 1, longest, false, 5);
        b->toy.C = CORPUS_C;
        b->pool = threads > 0 ? ran_pool_new(threads, &err) : NULL;
        shuffle(&dice, b->order, 64);
        CHECK_OK(ran_batcher_init(&b->k, &b->toy.c, &b->toy.p, TOY_V, CORPUS_C, &b->data, b->pool,
                                  &err),
                 err);
}

static void bench_init(struct bench *b, size_t threads, size_t longest)
{
        bench_init_as(b, toy_config(), threads, longest);
}

static void bench_release(struct bench *b)
{
        ran_batcher_release(&b->k);
        ran_dataset_release(&b->data);
        ran_pool_free(b->pool);
        toy_release(&b->toy);
}

/* Block and whole embedding of the gradient of n documents; the loss stands behind them. */
static float *gradient(struct bench *b, const size_t *docs, size_t n, double *loss)
{
        size_t block = b->k.tree.size, D = b->toy.c.dim;
        struct ran_error err = {0};
        float *all = ran_alloc_floats(block + CORPUS_V * D, &err);
        struct ran_plan plan;
        struct ran_grad *g;

        CHECK_OK(ran_plan_init(&plan, &b->toy.c, &b->data, n, 0, &err), err);
        ran_plan_begin(&plan, docs, n);
        CHECK(ran_plan_next(&plan));
        int rc = ran_batch_gradient(&b->k, plan.chunk, plan.n, loss, &g, &err);
        ran_plan_release(&plan);
        if (!CHECK_OK(rc, err))
                return all;
        memcpy(all, g->p.block, block * sizeof(*all));
        for (size_t i = 0; i < g->rows.n; i++)
                memcpy(all + block + g->rows.ids[i] * D, g->rows.rows + i * D, D * sizeof(*all));
        ran_tree_give(&b->k.tree, g);
        return all;
}

static size_t floats_of(const struct bench *b)
{
        return b->k.tree.size + CORPUS_V * b->toy.c.dim;
}

/* The batch is the weighted mean of its documents, each by itself. */
static void check_mean(struct bench *b, size_t n)
{
        double loss, sum = 0, terms = 0, *want = doubles(floats_of(b)), off = 0;
        float *all = gradient(b, b->order, n, &loss);

        for (size_t i = 0; i < n; i++) {
                size_t doc = b->order[i];
                double one, w = (double)b->data.weight[doc];
                float *g;

                if (b->k.of.class_weight != NULL)
                        w *= b->k.of.class_weight[b->data.labels[doc]];
                g = gradient(b, &b->order[i], 1, &one);
                terms += w;
                sum += w * one;
                for (size_t j = 0; j < floats_of(b); j++)
                        want[j] += w * (double)g[j];
                free(g);
        }
        for (size_t j = 0; j < floats_of(b); j++)
                off = fmax(off, fabs((double)all[j] - want[j] / terms));
        CHECK_NEAR(loss, sum / terms, 1e-5);
        CHECK_NEAR(off, 0, 1e-4);
        free(all);
        free(want);
}

TEST(batch_is_the_weighted_mean_of_its_documents)
{
        struct dice dice = {.key = 7};
        struct bench b;

        bench_init(&b, 2, 200);
        check_mean(&b, 1);
        check_mean(&b, 20);
        for (size_t i = 0; i < b.data.B; i++)
                b.data.weight[i] = (float)dice_real(&dice, 0.1, 4);
        check_mean(&b, 20);
        ran_batcher_balance(&b.k);
        check_mean(&b, 20);
        bench_release(&b);
}

TEST(batch_balances_classes)
{
        double count[CORPUS_C] = {0}, all = 0;
        struct bench b;

        bench_init(&b, 0, 5);
        ran_batcher_balance(&b.k);
        for (size_t i = 0; i < b.data.B; i++)
                count[b.data.labels[i]]++;
        for (size_t c = 0; c < CORPUS_C; c++) {
                CHECK_NEAR(b.k.of.class_weight[c] * count[c], 64.0 / CORPUS_C, 1e-9);
                all += b.k.of.class_weight[c] * count[c];
        }
        CHECK_NEAR(all, 64, 1e-9);
        bench_release(&b);
}

/* A third of the way from one label to the next: what the two give, in the same proportions.
 * The labels of a document without a target are its target. */
TEST(batch_learns_from_soft_targets)
{
        double loss[3], sum = 0, size = 0;
        struct bench b;
        float *g[3];

        bench_init(&b, 2, 60);
        struct ran_dataset *d = &b.data;
        uint32_t *labels = calloc(2 * d->B, sizeof(*labels));
        size_t *first = calloc(d->B + 1, sizeof(*first)), n = 0;
        float *p = calloc(2 * d->B, sizeof(*p));
        for (size_t i = 0; i < d->B; i++) {
                first[i] = n;
                for (uint32_t c = 0; c < CORPUS_C && i % 3 > 0; c++)
                        if (c == d->labels[i] || c == (d->labels[i] + 1) % CORPUS_C) {
                                labels[n] = c;
                                p[n++] = c == d->labels[i] ? 2 / 3.0f : 1 / 3.0f;
                        }
        }
        first[d->B] = n;
        for (int way = 0; way < 3; way++) { /* by labels, by those after them, by both mixed */
                for (size_t i = 0; i < d->B; i++)
                        if (i % 3 > 0 && way == 1)
                                d->labels[i] = (d->labels[i] + 1) % CORPUS_C;
                d->soft_labels = labels;
                d->soft = p;
                d->soft_first = way == 2 ? first : NULL;
                g[way] = gradient(&b, b.order, d->B, &loss[way]);
        }
        for (size_t i = 0; i < floats_of(&b); i++) {
                double off = (double)g[2][i] - 2 / 3.0 * (double)g[0][i] - (double)g[1][i] / 3;
                sum += off * off;
                size += (double)g[2][i] * (double)g[2][i];
        }
        CHECK(sqrt(sum) < 1e-5 * sqrt(size));
        CHECK(fabs(loss[0] - loss[1]) > 0.01);
        CHECK_NEAR(loss[2], 2 / 3.0 * loss[0] + loss[1] / 3, 1e-6);
        for (int way = 0; way < 3; way++)
                free(g[way]);
        free(labels);
        free(first);
        free(p);
        d->soft_labels = NULL;
        d->soft = NULL;
        d->soft_first = NULL;
        bench_release(&b);
}

TEST(batch_of_no_weight_has_no_gradient)
{
        struct bench b;
        double loss = 1;
        size_t other = 0;
        float *g;

        bench_init(&b, 0, 30);
        memset(b.data.weight, 0, b.data.B * sizeof(float));
        g = gradient(&b, b.order, 8, &loss);
        for (size_t i = 0; i < floats_of(&b); i++)
                other += g[i] != 0; /* a NaN counts */
        CHECK(loss == 0);
        CHECK_SIZE(other, 0);
        free(g);
        bench_release(&b);
}

static size_t length_of(const struct bench *b, size_t i)
{
        return b->data.first[b->order[i] + 1] - b->data.first[b->order[i]];
}

/* Whole documents in order, none left out; only a document that is long by itself fills a shard to
 * more than 2,048 tokens. */
static void check_shards(const struct bench *b, size_t n)
{
        CHECK(b->k.shards >= 1 && b->k.shard[0] == 0 && b->k.shard[b->k.shards] == n);
        for (size_t s = 0; s < b->k.shards; s++) {
                size_t from = b->k.shard[s], to = b->k.shard[s + 1], tokens = 0;

                for (size_t i = from; i < to; i++)
                        tokens += length_of(b, i);
                CHECK(from < to && (tokens <= 2048 || to == from + 1));
        }
}

TEST(batch_shards_are_a_function_of_the_batch)
{
        size_t shard[65], shards = 0;

        for (size_t i = 0; i < 3; i++) {
                struct bench b;
                double loss;

                bench_init(&b, (const size_t[]){0, 2, 7}[i], 300);
                free(gradient(&b, b.order, 40, &loss));
                check_shards(&b, 40);
                if (i == 0) {
                        shards = b.k.shards;
                        memcpy(shard, b.k.shard, (shards + 1) * sizeof(*shard));
                        CHECK(shards > 3);
                }
                CHECK(b.k.shards == shards &&
                      memcmp(b.k.shard, shard, (shards + 1) * sizeof(*shard)) == 0);
                bench_release(&b);
        }
}

/* The shards of n chunks whose lengths are drawn; returns the tokens of all. */
static size_t draw_shards(struct dice *dice, struct ran_chunk *chunk, size_t n, size_t longest,
                          size_t *shard, size_t *begin, size_t *shards)
{
        for (size_t i = 0; i < n; i++)
                chunk[i] = (struct ran_chunk){.from = 3, .to = 3 + dice_size(dice, 1, longest)};
        *shards = ran_batch_shards(chunk, n, shard, begin);
        return begin[*shards];
}

/* Four of a size, fewer where they would have less than 256 tokens, more where they would have over
 * 2,048: no last one with the rest, which the others' threads would wait for or which costs a whole
 * gradient. */
TEST(batch_shards_have_the_same_size)
{
        enum { CHUNKS = 700, LONGEST = 40 };
        struct dice dice = {.key = 11};
        struct ran_chunk chunk[CHUNKS];
        size_t shard[CHUNKS + 1], begin[CHUNKS + 1], shards;

        for (size_t n = 40; n <= CHUNKS; n += 3) {
                size_t tokens = draw_shards(&dice, chunk, n, LONGEST, shard, begin, &shards);
                size_t even = tokens / 256 < 4 ? tokens / 256 : 4;

                if (tokens < 512)
                        continue;
                if (tokens < 4 * (2048 - LONGEST))
                        CHECK_SIZE(shards, even);
                CHECK(shards <= (tokens < 8192 ? 5 : tokens / 2048 + 2));
                for (size_t i = 0; i < shards; i++) {
                        size_t size = begin[i + 1] - begin[i];

                        CHECK(size <= 2048);
                        if (shards == even)
                                CHECK(size + LONGEST >= tokens / even &&
                                      size <= tokens / even + LONGEST);
                }
        }
}

/* Checkpoints of 0.1.0 go on to the same bytes. */
TEST(batch_of_few_tokens_has_the_shards_of_old)
{
        static const size_t length[] = {100, 100, 56, 1, 200, 50};
        struct ran_chunk chunk[6];
        size_t shard[7], begin[7];

        for (size_t i = 0; i < 6; i++)
                chunk[i] = (struct ran_chunk){.to = length[i]};
        CHECK_SIZE(ran_batch_shards(chunk, 6, shard, begin), 2);
        CHECK(shard[1] == 3 && begin[1] == 256 && begin[2] == 507);
}

TEST(batch_of_long_documents_has_a_shard_for_each)
{
        struct bench b;
        double loss;

        bench_init(&b, 2, 3000);
        free(gradient(&b, b.order, 4, &loss));
        check_shards(&b, 4);
        CHECK(b.k.shards >= 2);
        bench_release(&b);
}

/* Long chunks one after another need the scratch of the longest, and nothing else. */
TEST(batch_of_long_documents_keeps_one_scratch)
{
        size_t longest = 0;
        struct bench b;
        double loss;

        bench_init(&b, 0, 6000);
        free(gradient(&b, b.order, 10, &loss));
        for (size_t i = 0; i < 10; i++) {
                size_t L = b.data.first[b.order[i] + 1] - b.data.first[b.order[i]];

                longest = L > longest ? L : longest;
        }
        CHECK(longest > 2 * RAN_SHARD_TOKENS);
        CHECK_SIZE(b.k.idle_long->tokens, longest);
        CHECK(b.k.idle_long->next == NULL);
        free(gradient(&b, b.order, 10, &loss));
        CHECK_SIZE(b.k.idle_long->tokens, longest);
        CHECK(b.k.idle_long->next == NULL);
        ran_batcher_rest(&b.k);
        CHECK(b.k.idle_long == NULL && b.k.idle != NULL);
        bench_release(&b);
        if (!test_all())
                return;
        bench_init(&b, 0, 2 * RAN_KEEP_TOKENS);
        free(gradient(&b, b.order, 4, &loss)); /* one of them is that long */
        CHECK(b.k.shards == 4 && b.k.begin[4] > 2 * RAN_KEEP_TOKENS);
        CHECK(b.k.idle_long == NULL || b.k.idle_long->tokens <= RAN_KEEP_TOKENS);
        bench_release(&b);
}

/* Rows of the embedding with a gradient: those of the ids that were read. */
static size_t rows_read(struct bench *b, const size_t *docs, size_t n)
{
        double loss;
        size_t rows = 0, D = b->toy.c.dim, block = b->k.tree.size;
        float *g = gradient(b, docs, n, &loss);

        for (size_t id = 0; id < CORPUS_V; id++)
                for (size_t d = 0; d < D; d++)
                        if (g[block + id * D + d] != 0) {
                                rows++;
                                break;
                        }
        free(g);
        return rows;
}

/* Of a document of 12 different words about so many are left, others in each epoch. */
TEST(batch_drops_words_by_chance)
{
        static const double share[] = {0, 0.25, 0.9};
        enum { UNKNOWN = 3, EPOCHS = 60 };
        struct bench b;

        bench_init(&b, 0, 50);
        const size_t doc = 1, L = b.data.first[2] - b.data.first[1];
        REQUIRE(L >= CORPUS_V);
        for (size_t i = 0; i < L; i++)
                b.data.ids[b.data.first[1] + i] = (uint32_t)(i < CORPUS_V ? i : UNKNOWN);
        b.k.unknown = UNKNOWN;
        for (size_t i = 0; i < 3; i++) {
                double left = 0;
                size_t last = 0, changes = 0;

                b.k.word_dropout = share[i];
                for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
                        b.k.of.noise.epoch = epoch;
                        size_t rows = rows_read(&b, &doc, 1);

                        CHECK_SIZE(rows_read(&b, &doc, 1), rows);
                        changes += rows != last;
                        last = rows;
                        left += (double)(rows - 1) / (CORPUS_V - 1) / EPOCHS;
                }
                CHECK_NEAR(left, 1 - share[i], 0.06);
                CHECK(share[i] > 0 ? changes > EPOCHS / 4 : changes == 1);
        }
        bench_release(&b);
}

/* A shard may have no rows; its neighbour's stay. */
TEST(tree_adds_rows_to_none)
{
        struct ran_config c = toy_config();
        struct ran_error err = {0};
        struct ran_tree tree;
        struct ran_grad *g[2], *sum;
        struct toy t;

        toy_init(&t, &c, 3, 0.3);
        CHECK_OK(ran_tree_init(&tree, &c, TOY_C, t.layout.size, &err), err);
        for (size_t with = 2; with-- > 0;) {
                ran_tree_begin(&tree, 2);
                for (size_t i = 0; i < 2; i++) {
                        g[i] = ran_tree_take(&tree);
                        REQUIRE(g[i] != NULL);
                }
                struct ran_grad_rows *rows = &g[with]->rows;
                if (rows->ids == NULL) {
                        rows->ids = ran_alloc(1, sizeof *rows->ids, &err);
                        rows->rows = ran_alloc_floats(c.dim, &err);
                        rows->ids_cap = 1, rows->rows_cap = c.dim;
                }
                rows->n = 1, rows->ids[0] = 7, rows->rows[c.dim - 1] = 2;
                ran_tree_join(&tree, 0, 1, g[0]);
                ran_tree_join(&tree, 1, 1, g[1]);
                sum = ran_tree_sum(&tree);
                REQUIRE(sum != NULL);
                rows = &sum->rows;
                CHECK(rows->n == 1 && rows->ids[0] == 7 && rows->rows[c.dim - 1] == 2);
                ran_tree_give(&tree, sum);
        }
        ran_tree_release(&tree);
        toy_release(&t);
}

/* The loss of a batch when number `at` of the table is moved. */
static double moved(struct bench *b, float *at, float step)
{
        float was = *at;
        double loss;

        *at += step;
        free(gradient(b, b->order, 30, &loss));
        *at = was;
        return loss;
}

/* Each path learns by itself: the encoder as if there were no wide one. */
TEST(batch_gradient_does_not_see_the_linear_model)
{
        const float step = 0.02f;
        struct ran_config c = toy_config();
        struct ran_error err = {0};
        struct ran_plan plan;
        struct ran_grad *g;
        struct bench b;
        double loss;

        c.linear.wide = 12;
        bench_init_as(&b, c, 0, 30);
        float *wide = b.toy.embed + (b.toy.V + c.spelling) * c.dim;
        const struct ran_head_params *head = &b.toy.p.head;
        float *bias = ran_linear_of(&b.toy.p)->bias;
        CHECK_OK(ran_plan_init(&plan, &b.toy.c, &b.data, 30, 0, &err), err);
        ran_plan_begin(&plan, b.order, 30);
        CHECK(ran_plan_next(&plan));
        CHECK_OK(ran_batch_gradient(&b.k, plan.chunk, plan.n, &loss, &g, &err), err);
        for (size_t i = 0; i < c.linear.wide * CORPUS_C; i++)
                CHECK(moved(&b, &wide[i], 1) == loss);
        for (size_t i = 0; i < CORPUS_C; i++) {
                CHECK(moved(&b, &bias[i], 1) == loss && ran_linear_of(&g->p)->bias[i] == 0);
                CHECK_NEAR((double)g->p.head.b[i],
                           (moved(&b, &head->b[i], step) - moved(&b, &head->b[i], -step)) /
                                   (2 * (double)step),
                           2e-5);
        }
        ran_tree_give(&b.k.tree, g);
        ran_plan_release(&plan);
        bench_release(&b);
}

TEST(batch_gradient_is_the_same_for_any_threads)
{
        float *want = NULL;
        double loss[4];

        for (size_t i = 0; i < 4; i++) {
                struct bench b;
                float *g;

                bench_init(&b, (const size_t[]){0, 1, 2, 7}[i], 300);
                b.k.of.noise = (struct ran_noise){1, 2, 0.2, 0.3};
                free(gradient(&b, b.order + 20, 20, &loss[i])); /* scratch of another shape */
                g = gradient(&b, b.order, 30, &loss[i]);
                if (want == NULL)
                        want = g;
                CHECK(memcmp(g, want, floats_of(&b) * sizeof(*g)) == 0 && loss[i] == loss[0]);
                if (g != want)
                        free(g);
                bench_release(&b);
        }
        free(want);
}
