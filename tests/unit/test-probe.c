/* The attention that was paid, against the tables of naive.c and of a Transformer written out here.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "file/model.h"
#include "infer/infer.h"
#include "naive.h"
#include "test.h"
#include "toy.h"

/* A toy as a model, with a state. */
struct looker {
        struct ran_model model;
        struct ran_pool *pool;
        struct ran_state *state;
};

static bool looker_init(struct looker *l, const struct toy *t, size_t threads)
{
        struct ran_error err = {0};

        *l = (struct looker){.model = {.config = t->c, .V = t->V, .C = t->C, .params = t->p}};
        l->pool = threads > 0 ? ran_pool_new(threads, &err) : NULL;
        l->state = ran_score_state_new(&l->model.config, &l->model.params, t->C, l->pool);
        return CHECK(l->state != NULL);
}

static void looker_release(struct looker *l)
{
        ran_state_free(l->state);
        ran_pool_free(l->pool);
}

/* All of a table: blocks of 1 and 1. The caller frees sum. */
static struct ran_probe whole(const struct ran_probe_shape *shape, int table, size_t layer,
                              size_t head)
{
        const struct ran_probe_table *t = &shape->table[table];

        return (struct ran_probe){.table = table,
                                  .layer = layer,
                                  .head = head,
                                  .query_to = t->n_queries,
                                  .key_to = t->n_keys,
                                  .down = 1,
                                  .across = 1,
                                  .sum = doubles(t->n_queries * t->n_keys)};
}

static struct ran_document document(struct dice *dice, uint32_t *ids, size_t L)
{
        for (size_t i = 0; i < L; i++)
                ids[i] = (uint32_t)dice_size(dice, 0, TOY_V - 1);
        return (struct ran_document){.ids = ids, .L = L};
}

static double distance(const double *got, const double *want, size_t n)
{
        double off = 0;

        for (size_t i = 0; i < n; i++) {
                double d = fabs(got[i] - want[i]);

                off = d <= off ? off : d; /* a NaN stays */
        }
        return off;
}

/* Each row adds up to 1. */
static bool check_rows(const double *sum, size_t height, size_t width)
{
        for (size_t y = 0; y < height; y++) {
                double all = 0;

                for (size_t x = 0; x < width; x++)
                        all += sum[y * width + x];
                if (!CHECK_NEAR(all, 1, 1e-5))
                        return false;
        }
        return true;
}

/* What is masked is 0 exactly, and nothing else is. */
static bool check_zeros(const double *got, const double *want, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (want[i] == 0 && !CHECK(got[i] == 0))
                        return false;
        return true;
}

static bool look(struct looker *l, const struct ran_document *d, size_t sources,
                 struct ran_probe *look, size_t n)
{
        struct ran_error err = {0};

        return CHECK_OK(ran_probe(&l->model, l->state, d, sources, look, n, &err), err);
}

/* ---- RAN ------------------------------------------------------------------------------------- */

static bool check_table(struct looker *l, const struct ran_document *d, size_t sources,
                        struct ran_probe k, const double *want)
{
        const bool shared =
                l->model.config.ran.review_source; /* between states and source tokens */
        const size_t n = ran_probe_height(&k) * ran_probe_width(&k);
        bool ok = look(l, d, sources, &k, 1);

        if (!(shared && k.table == RAN_PROBE_REVIEW))
                ok = ok && check_rows(k.sum, ran_probe_height(&k), ran_probe_width(&k));
        ok = ok && check_zeros(k.sum, want, n);
        ok = ok && CHECK_NEAR(distance(k.sum, want, n), 0, 1e-3); /* scores may be large */
        free(k.sum);
        return ok;
}

static bool check_recurrent(const struct toy *t, struct looker *l, struct dice *dice, size_t L)
{
        uint32_t ids[64];
        struct ran_document d = document(dice, ids, L);
        size_t sources = t->c.mask == RAN_MASK_PREFIX ? dice_size(dice, 0, L) : 0;
        double *x = doubles(L * t->c.dim), *last = doubles(t->c.dim);
        struct ran_probe_shape shape;
        struct naive n;
        bool ok = true;

        ran_probe_shape(&shape, &t->c, L);
        naive_init(&n, &t->c, &t->layout, &t->p, t->V, t->C);
        n.sources = sources;
        n.rows = shape.table[0].n_queries;
        n.states = shape.windows + 1;
        n.seen.heads = doubles(t->c.layers * t->c.heads * n.rows * n.rows);
        n.seen.review = doubles(t->c.layers * L * n.states);
        naive_encode(&n, x, last, ids, L);
        for (size_t i = 0; i < t->c.layers; i++) {
                for (size_t j = 0; j < t->c.heads && ok; j++)
                        ok = check_table(l, &d, sources, whole(&shape, RAN_PROBE_HEADS, i, j),
                                         n.seen.heads + (i * t->c.heads + j) * n.rows * n.rows);
                if (t->c.ran.review && ok)
                        ok = check_table(l, &d, sources, whole(&shape, RAN_PROBE_REVIEW, i, 0),
                                         n.seen.review + i * L * n.states);
        }
        if (!ok)
                printf("  %s; %zu tokens, %zu source\n", toy_name(&t->c), L, sources);
        free(n.seen.heads);
        free(n.seen.review);
        free(x);
        free(last);
        naive_release(&n);
        return ok;
}

TEST(look_at_a_ran_equals_the_window_loop)
{
        struct dice dice = {.key = 11};
        bool ok = true;

        for (size_t i = 0; i < 60 && ok; i++) {
                struct ran_config c = toy_random_config(&dice);
                struct looker l;
                struct toy t;

                toy_init(&t, &c, i, 0.5);
                REQUIRE(looker_init(&l, &t, 0));
                for (size_t j = 0; j < 3 && ok; j++)
                        ok = check_recurrent(&t, &l, &dice, dice_size(&dice, 1, 64));
                looker_release(&l);
                toy_release(&t);
        }
}

/* ---- Contextualizer -------------------------------------------------------------------------- */

static bool check_steps(const struct toy *t, struct looker *l, struct dice *dice, size_t L)
{
        uint32_t ids[700];
        struct ran_document d = document(dice, ids, L);
        const size_t layers = t->c.layers;
        double *logits = doubles(t->C);
        struct ran_probe_shape shape;
        struct naive n;
        bool ok = true;

        ran_probe_shape(&shape, &t->c, L);
        naive_init(&n, &t->c, &t->layout, &t->p, t->V, t->C);
        n.seen.steps = doubles(layers * L);
        n.seen.update = doubles(layers);
        naive_classify(&n, logits, NULL, ids, L);
        for (size_t i = 0; i < layers && ok; i++) {
                struct ran_probe k = whole(&shape, RAN_PROBE_HEADS, i, 0);
                double sum = 0;

                for (size_t j = 0; j < L; j++)
                        sum += n.seen.steps[i * L + j];
                for (size_t j = 0; j < L; j++)
                        n.seen.steps[i * L + j] /= sum;
                ok = look(l, &d, 0, &k, 1) && check_rows(k.sum, 1, L);
                ok = ok && CHECK_NEAR(distance(k.sum, n.seen.steps + i * L, L), 0, 1e-4);
                ok = ok && CHECK_NEAR(k.update / n.seen.update[i], 1, 1e-3);
                ok = ok && CHECK(k.context > 0);
                free(k.sum);
        }
        if (!ok)
                printf("  %s; %zu tokens\n", toy_name(&t->c), L);
        free(n.seen.steps);
        free(n.seen.update);
        free(logits);
        naive_release(&n);
        return ok;
}

TEST(look_at_a_contextualizer_equals_the_loop_over_tokens)
{
        struct dice dice = {.key = 12};
        bool ok = true;

        for (size_t i = 0; i < 40 && ok; i++) {
                struct ran_config c = toy_contextualizer(&dice);
                struct looker l;
                struct toy t;

                if (c.contextualizer.context ==
                    RAN_CONTEXT_RANDOM) /* keyed by the ids: not that of training */
                        c.contextualizer.context = RAN_CONTEXT_CONSTANT;
                toy_init(&t, &c, i, 0.5);
                REQUIRE(looker_init(&l, &t, 0));
                ok = check_steps(&t, &l, &dice, dice_size(&dice, 1, 30)) &&
                     check_steps(&t, &l, &dice, dice_size(&dice, 1, 700));
                looker_release(&l);
                toy_release(&t);
        }
}

/* ---- pretrained encoders ------------------------------------------------------------------- */

static bool check_windows(const struct toy *t, struct looker *l, struct dice *dice, size_t L)
{
        uint32_t ids[64];
        struct ran_document d = document(dice, ids, L);
        const size_t D = t->c.dim, h = t->c.heads;
        double *x = doubles(L * D), *v = doubles(t->c.bert.dense > 0 ? t->c.bert.dense : D);
        double *mean = doubles(L * L);
        struct ran_probe_shape shape;
        struct naive n;
        bool ok = true;

        ran_probe_shape(&shape, &t->c, L);
        naive_init(&n, &t->c, &t->layout, &t->p, t->V, t->C);
        n.rows = L;
        n.seen.heads = doubles(t->c.layers * h * L * L);
        for (size_t i = 0; i < L * D; i++)
                x[i] = (double)t->embed[d.ids[i / D] * D + i % D];
        naive_bert(&n, v, NULL, NULL, x, L);
        for (size_t i = 0; i < t->c.layers && ok; i++) {
                const double *heads = n.seen.heads + i * h * L * L;
                struct ran_probe k = whole(&shape, RAN_PROBE_HEADS, i, RAN_PROBE_MEAN);

                for (size_t j = 0; j < L * L; j++) {
                        mean[j] = 0;
                        for (size_t head = 0; head < h; head++)
                                mean[j] += heads[head * L * L + j] / (double)h;
                }
                ok = look(l, &d, 0, &k, 1) && CHECK_NEAR(distance(k.sum, mean, L * L), 0, 1e-4);
                free(k.sum);
                for (size_t j = 0; j < h && ok; j++) {
                        k = whole(&shape, RAN_PROBE_HEADS, i, j);
                        ok = look(l, &d, 0, &k, 1) &&
                             check_zeros(k.sum, heads + j * L * L, L * L) &&
                             CHECK_NEAR(distance(k.sum, heads + j * L * L, L * L), 0, 1e-4);
                        free(k.sum);
                }
        }
        if (!ok)
                printf("  %s; %zu tokens\n", toy_name(&t->c), L);
        free(n.seen.heads);
        free(mean);
        free(x);
        free(v);
        naive_release(&n);
        return ok;
}

TEST(look_at_a_pretrained_encoder_equals_the_loop_over_windows)
{
        struct dice dice = {.key = 14};
        bool ok = true;

        for (size_t i = 0; i < 60 && ok; i++) {
                struct ran_config c = toy_bert(&dice);
                struct looker l;
                struct toy t;

                toy_init(&t, &c, i, 0.5);
                REQUIRE(looker_init(&l, &t, i % 2 * 2));
                for (size_t j = 0; j < 3 && ok; j++)
                        ok = check_windows(&t, &l, &dice, dice_size(&dice, 1, 64));
                looker_release(&l);
                toy_release(&t);
        }
}

/* ---- Transformer ----------------------------------------------------------------------------- */

static const float *tensor(const struct toy *t, const char *name)
{
        for (size_t i = 0; i < t->layout.n; i++)
                if (strcmp(t->layout.spec[i].name, name) == 0)
                        return t->p.block + t->layout.spec[i].offset;
        printf("  no tensor %s\n", name);
        abort();
}

static const float *of_layer(const struct toy *t, size_t l, const char *name)
{
        char text[64];

        snprintf(text, sizeof text, "transformer.%zu.%s", l, name);
        return tensor(t, text);
}

/* y (L, d) = a head of Linear(LN(e)), rotated. */
static void project(const struct toy *t, size_t l, const char *which, size_t head, double *y,
                    const struct ran_document *d)
{
        const struct ran_config *c = &t->c;
        char weight[32], bias[32];
        size_t D = c->dim, k = c->head_dim;
        double *z = doubles(D);

        snprintf(weight, sizeof weight, "attn.%s.weight", which);
        snprintf(bias, sizeof bias, "attn.%s.bias", which);
        const float *w = of_layer(t, l, weight) + head * k * D,
                    *b = of_layer(t, l, bias) + head * k, *g = of_layer(t, l, "attn_norm.weight"),
                    *h = of_layer(t, l, "attn_norm.bias");
        for (size_t i = 0; i < d->L; i++, y += k) {
                const float *e = t->embed + d->ids[i] * D;
                double mean = 0, var = 0;

                for (size_t j = 0; j < D; j++)
                        mean += (double)e[j] / (double)D;
                for (size_t j = 0; j < D; j++)
                        var += ((double)e[j] - mean) * ((double)e[j] - mean) / (double)D;
                for (size_t j = 0; j < D; j++)
                        z[j] = ((double)e[j] - mean) / sqrt(var + 1e-5) * (double)g[j] +
                               (double)h[j];
                for (size_t r = 0; r < k; r++) {
                        y[r] = (double)b[r];
                        for (size_t j = 0; j < D; j++)
                                y[r] += (double)w[r * D + j] * z[j];
                }
                for (size_t r = 0; r < k && c->rotary; r += 2) {
                        double angle = (double)i * pow(10000, -(double)r / (double)k);
                        double p = y[r], q = y[r + 1];

                        y[r] = p * cos(angle) - q * sin(angle);
                        y[r + 1] = p * sin(angle) + q * cos(angle);
                }
        }
        free(z);
}

/* As ran/mask.h has it. */
static double similarity_of(int similarity, const float *q, const float *k, size_t d)
{
        double dot = 0, qq = 0, kk = 0, squares = 0, sizes = 0, root = sqrt((double)d);

        for (size_t i = 0; i < d; i++) {
                double x = q[i], y = k[i];

                dot += x * y;
                qq += x * x;
                kk += y * y;
                squares += (x - y) * (x - y);
                sizes += fabs(x - y);
        }
        switch (similarity) {
        case RAN_SIMILARITY_COSINE:
                return root * dot / (sqrt(qq) * sqrt(kk) + 1e-8);
        case RAN_SIMILARITY_EUCLIDEAN:
                return -sqrt(squares + 1e-8);
        case RAN_SIMILARITY_MANHATTAN:
                return -sizes / root;
        default:
                return dot / root;
        }
}

/* want (L, L): the table of a head, when each layer reads the embeddings. */
static void attend(const struct toy *t, size_t l, size_t head, const struct ran_mask *m,
                   double *want, const struct ran_document *d)
{
        size_t L = d->L, k = t->c.head_dim;
        double *q = doubles(L * k), *key = doubles(L * k);
        float *row = ran_alloc_floats(2 * k, NULL);

        project(t, l, "q", head, q, d);
        project(t, l, "k", head, key, d);
        for (size_t i = 0; i < L; i++) {
                double sum = 0, *p = want + i * L;

                for (size_t j = 0; j < L; j++) {
                        for (size_t r = 0; r < k; r++) {
                                row[r] = (float)q[i * k + r];
                                row[k + r] = (float)key[j * k + r];
                        }
                        p[j] = ran_mask_count(m, i, i + 1, j, j + 1) == 1
                                       ? exp(similarity_of(t->c.transformer.similarity, row,
                                                           row + k, k))
                                       : 0;
                        sum += p[j];
                }
                for (size_t j = 0; j < L; j++)
                        p[j] /= sum;
        }
        free(q);
        free(key);
        free(row);
}

/* No layer adds anything to what it reads. */
static void silence(struct toy *t)
{
        const char *const names[] = {"attn.out.weight", "attn.out.bias", "ffn.down.weight",
                                     "ffn.down.bias"};
        const size_t D = t->c.dim, E = t->c.heads * t->c.head_dim;
        const size_t sizes[] = {D * E, D, D * t->c.ffn_dim, D};

        for (size_t l = 0; l < t->c.layers; l++)
                for (size_t i = 0; i < 4; i++)
                        memset(t->p.block + (of_layer(t, l, names[i]) - t->p.block), 0,
                               sizes[i] * sizeof *t->p.block);
}

TEST(look_at_a_transformer_equals_softmax_of_similarities)
{
        struct dice dice = {.key = 13};
        struct ran_error err = {0};
        bool ok = true;

        for (size_t i = 0; i < 60 && ok; i++) {
                struct ran_config c = toy_transformer(&dice);
                struct ran_probe_shape shape;
                struct looker l;
                struct toy t;
                uint32_t ids[80];
                struct ran_document d = document(&dice, ids, dice_size(&dice, 1, 80));
                size_t sources = c.mask == RAN_MASK_PREFIX ? dice_size(&dice, 0, d.L) : 0;
                double *want = doubles(d.L * d.L);

                toy_init(&t, &c, i, 0.3);
                silence(&t);
                REQUIRE(looker_init(&l, &t, 0));
                ran_probe_shape(&shape, &c, d.L);
                for (size_t j = 0; j < c.layers * c.heads && ok; j++) {
                        size_t layer = j / c.heads, head = j % c.heads;
                        struct ran_mask m;

                        ok = CHECK_OK(
                                ran_mask_init(
                                        &m,
                                        c.transformer.attention
                                                .item[c.transformer.attention.n > 1 ? head : 0],
                                        c.window, c.transformer.dilation, c.mask, d.L, sources,
                                        &err),
                                err);
                        attend(&t, layer, head, &m, want, &d);
                        ok = ok && check_table(&l, &d, sources,
                                               whole(&shape, RAN_PROBE_HEADS, layer, head), want);
                }
                free(want);
                looker_release(&l);
                toy_release(&t);
        }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Sums over blocks of a table (h, w). */
static void sum_blocks(double *to, const struct ran_probe *k, const double *table, size_t w)
{
        for (size_t q = k->query_from; q < k->query_to; q++)
                for (size_t j = k->key_from; j < k->key_to; j++)
                        to[(q - k->query_from) / k->down * ran_probe_width(k) +
                           (j - k->key_from) / k->across] += table[q * w + j];
}

static void choose(struct dice *dice, size_t n, size_t *from, size_t *to, size_t *by)
{
        *from = dice_size(dice, 0, n - 1);
        *to = dice_size(dice, *from + 1, n);
        *by = dice_size(dice, 1, dice_coin(dice) ? 1 : n + 1);
}

/* Of one model, any part of any table in blocks of any size, several in one pass and by threads. */
static void check_blocks(const struct ran_config *c, struct dice *dice, size_t L)
{
        enum { LOOKS = 6 };
        struct ran_probe_shape shape;
        struct ran_probe k[LOOKS], all;
        struct looker l;
        struct toy t;
        uint32_t *ids = calloc(L, sizeof *ids);
        struct ran_document d = document(dice, ids, L);
        size_t tables;

        toy_init(&t, c, L, 0.5);
        REQUIRE(looker_init(&l, &t, 3));
        ran_probe_shape(&shape, c, L);
        tables = 1 + (shape.table[RAN_PROBE_REVIEW].heads > 0);
        for (size_t i = 0; i < LOOKS; i++) {
                size_t table = dice_size(dice, 0, tables - 1);
                const struct ran_probe_table *of = &shape.table[table];

                k[i] = (struct ran_probe){.table = (int)table,
                                          .layer = dice_size(dice, 0, c->layers - 1),
                                          .head = dice_size(dice, 0, of->heads - 1)};
                if (dice_coin(dice))
                        k[i].head = RAN_PROBE_MEAN;
                choose(dice, of->n_queries, &k[i].query_from, &k[i].query_to, &k[i].down);
                choose(dice, of->n_keys, &k[i].key_from, &k[i].key_to, &k[i].across);
                k[i].sum = doubles(ran_probe_height(&k[i]) * ran_probe_width(&k[i]));
        }
        REQUIRE(look(&l, &d, 0, k, LOOKS));
        for (size_t i = 0; i < LOOKS; i++) {
                size_t n = ran_probe_height(&k[i]) * ran_probe_width(&k[i]);
                const struct ran_probe_table *of = &shape.table[k[i].table];
                double *want = doubles(n);
                bool mean = k[i].head == RAN_PROBE_MEAN;

                for (size_t j = mean ? 0 : k[i].head; j < (mean ? of->heads : k[i].head + 1); j++) {
                        all = whole(&shape, k[i].table, k[i].layer, j);
                        REQUIRE(look(&l, &d, 0, &all, 1));
                        for (size_t x = 0; mean && x < of->n_queries * of->n_keys; x++)
                                all.sum[x] /= (double)of->heads;
                        sum_blocks(want, &k[i], all.sum, of->n_keys);
                        free(all.sum);
                }
                CHECK_NEAR(distance(k[i].sum, want, n), 0, 1e-4);
                free(want);
                free(k[i].sum);
        }
        looker_release(&l);
        toy_release(&t);
        free(ids);
}

TEST(look_sums_over_blocks)
{
        struct dice dice = {.key = 14};

        for (size_t i = 0; i < 20; i++) {
                struct ran_config c = toy_random_config(&dice), t = toy_transformer(&dice),
                                  s = toy_contextualizer(&dice);

                c.mask = t.mask = RAN_MASK_NONE;
                check_blocks(&c, &dice, dice_size(&dice, 1, 200));
                check_blocks(&t, &dice, dice_size(&dice, 1, 200));
                check_blocks(&s, &dice, dice_size(&dice, 1, 200));
        }
}

/* ---- long documents -------------------------------------------------------------------------- */

/* Several chunks and blocks: what all keys got is what all queries gave. */
TEST(look_at_a_long_document_with_any_number_of_threads)
{
        const size_t L = 7000;
        struct dice dice = {.key = 15};
        uint32_t *ids = calloc(L, sizeof *ids);
        struct ran_document d = document(&dice, ids, L);

        for (int encoder = 0; encoder < 3; encoder++) {
                struct ran_config c = toy_config();
                struct ran_probe_shape shape;
                double *first = NULL;

                c.encoder = encoder;
                c.transformer.attention.item[0] = RAN_ATTENTION_DISPERSED;
                ran_probe_shape(&shape, &c, L);
                for (size_t threads = 1; threads <= 4; threads += 3)
                        for (int table = 0; table < RAN_PROBE_TABLES; table++) {
                                struct ran_probe k = {.table = table, .layer = 1, .across = 1};
                                size_t queries = shape.table[table].n_queries;
                                struct looker l;
                                struct toy t;
                                double sum = 0;

                                if (shape.table[table].heads == 0)
                                        continue;
                                toy_init(&t, &c, 3, 0.5);
                                REQUIRE(looker_init(&l, &t, threads));
                                k.query_to = k.down = queries;
                                k.key_to = shape.table[table].n_keys;
                                k.sum = doubles(k.key_to);
                                REQUIRE(look(&l, &d, 0, &k, 1));
                                for (size_t j = 0; j < k.key_to; j++)
                                        sum += k.sum[j];
                                CHECK_NEAR(sum / (double)queries, 1, 1e-5);
                                if (table == 0 && first == NULL) {
                                        first = k.sum;
                                } else {
                                        CHECK(table > 0 ||
                                              memcmp(first, k.sum, k.key_to * sizeof *first) == 0);
                                        free(k.sum);
                                }
                                looker_release(&l);
                                toy_release(&t);
                        }
                free(first);
        }
        free(ids);
}

/* ---- shapes and requests --------------------------------------------------------------------- */

TEST(look_rows_are_tokens_and_cells)
{
        struct dice dice = {.key = 16};

        for (size_t i = 0; i < 200; i++) {
                struct ran_config c = toy_random_config(&dice);
                size_t L = dice_size(&dice, 1, 60), at, cells = 0;
                struct ran_probe_shape s;

                ran_probe_shape(&s, &c, L);
                CHECK_SIZE(s.table[RAN_PROBE_HEADS].n_keys, L + s.windows);
                for (size_t t = 0; t < L; t++) {
                        CHECK(!ran_probe_is_cell(&s, ran_probe_row(&s, t), &at));
                        CHECK_SIZE(at, t);
                        CHECK(ran_probe_window(&s, t) < s.windows);
                        CHECK(ran_probe_window_end(&s, ran_probe_window(&s, t)) > t);
                }
                for (size_t w = 0; w < s.windows; w++) {
                        CHECK(ran_probe_is_cell(&s, ran_probe_cell(&s, w), &at));
                        CHECK_SIZE(at, w);
                }
                for (size_t r = 0; r < L + s.windows; r++)
                        cells += ran_probe_is_cell(&s, r, &at);
                CHECK_SIZE(cells, s.windows);
        }
}

TEST(look_refuses_what_is_not_there)
{
        struct ran_config c = toy_config(), t = toy_config();
        struct ran_probe_shape shape;
        struct ran_error err = {0};

        c.ran.review = RAN_REVIEW_NONE;
        t.encoder = RAN_ENCODER_TRANSFORMER;
        ran_probe_shape(&shape, &c, 12);
        struct ran_probe good = {.query_to = 12, .key_to = 12, .down = 1, .across = 1}, k = good;
        CHECK_OK(ran_probe_check(&shape, &k, &err), err);
        k.layer = 2;
        CHECK(ran_probe_check(&shape, &k, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "the model has no layer 2: it has 2, and the first is 0");
        k = good;
        k.head = 2;
        CHECK(ran_probe_check(&shape, &k, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "the model has no head 2: it has 2, and the first is 0");
        k.head = RAN_PROBE_MEAN;
        CHECK_OK(ran_probe_check(&shape, &k, &err), err);
        for (int table = RAN_PROBE_HEADS - 1; table <= RAN_PROBE_TABLES; table++) {
                k.table = table;
                CHECK((ran_probe_check(&shape, &k, &err) == RAN_OK) == (table == RAN_PROBE_HEADS));
        }
        k = good;
        k.query_to = 16;
        CHECK(ran_probe_check(&shape, &k, &err) == RAN_EINVAL);
        k = good;
        k.key_from = 12;
        CHECK(ran_probe_check(&shape, &k, &err) == RAN_EINVAL);
        k = good;
        k.across = 0;
        CHECK(ran_probe_check(&shape, &k, &err) == RAN_EINVAL);
        ran_probe_shape(&shape, &t, 12);
        CHECK_SIZE(shape.windows, 1);
        CHECK_SIZE(shape.table[RAN_PROBE_REVIEW].heads, 0);
}
