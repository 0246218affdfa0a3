/* The encoder and its head against the plain window loop of naive-ran.c, however the work is
 * shaped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "math/gemm.h"
#include "math/kept-panels.h"
#include "part/vectors/document-vector.h"
#include "nn/part.h"
#include "part/ran/paper.h"
#include "part/ran/prenorm.h"
#include "naive.h"
#include "test.h"
#include "toy.h"

/* How documents go through an encoder. */
struct way {
        bool training;
        size_t slab_rows; /* 0: as it is */
        struct ran_noise noise;
        size_t threads; /* 0: no pool */
        bool streams;   /* only vectors are asked for */
};

/* What came out: all token rows of the last layer, last cells, logits. */
struct result {
        float *x, *last, *logits;
        size_t L, B, D, C;
};

static float *copy(const float *x, size_t n)
{
        float *y = malloc((n + 1) * sizeof(*y));

        if (y == NULL)
                abort();
        memcpy(y, x, n * sizeof(*y));
        return y;
}

static struct result result_of(struct ran_workspace *w, size_t C)
{
        const struct ran_packed *rows = w->packed;
        struct result r = {.L = rows->L, .B = rows->B, .D = w->D, .C = C};

        r.x = copy(w->x[w->c->layers], r.L * r.D);
        r.logits = copy(w->head.logits, r.B * C);
        r.last = copy(w->head.logits, 0);
        r.last = realloc(r.last, r.B * r.D * sizeof(*r.last) + 1);
        for (size_t b = 0; b < r.B; b++)
                if (w->c->ran.cell == RAN_CELL_PRENORM)
                        memcpy(r.last + b * r.D,
                               ((const struct ran_prenorm_cells *)w->act)[w->c->layers - 1].N +
                                       (rows->doc_window[b + 1] + b) * r.D,
                               r.D * sizeof(*r.last));
                else
                        ran_paper_vector(w, NULL, b, r.last + b * r.D);
        return r;
}

static void result_free(struct result *r)
{
        free(r->x);
        free(r->last);
        free(r->logits);
}

static struct result encode(const struct toy *t, const struct ran_packed *rows, struct way way)
{
        struct ran_error err = {0};
        struct ran_pool *pool = way.threads > 0 ? ran_pool_new(way.threads, &err) : NULL;
        struct ran_workspace w;
        struct result r;

        ran_workspace_init(&w, &t->c, way.training, pool);
        if (way.slab_rows > 0)
                w.slab_rows = way.slab_rows;
        w.noise = way.noise;
        CHECK_OK(ran_workspace_fit(&w, rows, t->C, &err), err);
        ran_encode(&w, &t->p);
        ran_head(&w, &t->p, t->C);
        r = result_of(&w, t->C);
        ran_workspace_release(&w);
        ran_pool_free(pool);
        return r;
}

static bool same(const struct result *a, const struct result *b)
{
        return a->L == b->L && a->B == b->B &&
               memcmp(a->x, b->x, a->L * a->D * sizeof(float)) == 0 &&
               memcmp(a->last, b->last, a->B * a->D * sizeof(float)) == 0 &&
               memcmp(a->logits, b->logits, a->B * a->C * sizeof(float)) == 0;
}

/* Largest difference as a share of the largest value: promise 1 of the design allows 1e-4. */
static double deviation(const float *got, const double *want, size_t n)
{
        double off = 0, top = 1e-30;

        for (size_t i = 0; i < n; i++) {
                double d = fabs((double)got[i] - want[i]);

                off = d <= off ? off : d; /* a NaN stays */
                top = fmax(top, fabs(want[i]));
        }
        return off / top;
}

static const double promised = 1e-4;

static bool check_document(const struct naive *n, const struct result *r,
                           const struct ran_packed *rows, size_t b)
{
        size_t from = rows->doc[b], L = rows->doc[b + 1] - from, D = r->D;
        double *x = doubles(L * D + D + r->C), *last = x + L * D, *logits = last + D;
        bool ok;

        naive_encode(n, x, last, rows->ids + from, L);
        naive_classify(n, logits, NULL, rows->ids + from, L);
        ok = CHECK_NEAR(deviation(r->x + from * D, x, L * D), 0, promised);
        ok &= CHECK_NEAR(deviation(r->last + b * D, last, D), 0, promised);
        ok &= CHECK_NEAR(deviation(r->logits + b * r->C, logits, r->C), 0, promised);
        free(x);
        return ok;
}

/* Every document of rows, gone through the encoder together in that way, equals the naive loop. */
static bool check_equal(const struct toy *t, const struct ran_packed *rows, struct way way)
{
        struct result r = encode(t, rows, way);
        struct naive n;
        bool ok = true;

        naive_init(&n, &t->c, &t->layout, &t->p, t->V, t->C);
        n.noise = way.noise;
        for (size_t b = 0; b < rows->B && ok; b++) {
                n.record = rows->record[b];
                n.sources = rows->sources[b];
                ok = check_document(&n, &r, rows, b);
                if (!ok)
                        printf("  %s, %s, chunks of %zu; document %zu of %zu: %zu tokens\n",
                               toy_name(&t->c), way.training ? "training" : "scoring",
                               way.slab_rows, b, rows->B, rows->doc[b + 1] - rows->doc[b]);
        }
        naive_release(&n);
        result_free(&r);
        return ok;
}

/* ---- one document ---------------------------------------------------------------------------- */

static size_t least_window(const struct ran_config *c)
{
        return c->min_window < c->window ? c->min_window : c->window;
}

/* Lengths where something changes: one token, a full window, one more, and a last window that just
 * joins the one before or just does not. */
static size_t edge(const struct ran_config *c, size_t i)
{
        size_t W = c->window, least = least_window(c);
        const size_t edges[] = {1,
                                W,
                                W + 1,
                                W + least - 1,
                                W + least,
                                3 * W,
                                5 * W + least - 1,
                                7 * W + least,
                                9 * W + 2};

        return edges[i % (sizeof(edges) / sizeof(*edges))];
}

TEST(encoder_scan_equals_a_plain_window_loop)
{
        struct dice dice = {.key = 1};

        for (uint64_t i = 0; i < 90; i++) {
                struct ran_config c = toy_random_config(&dice);
                struct ran_packed rows = {0};
                struct toy t;
                bool ok;

                toy_init(&t, &c, i, 0.3);
                toy_add(&t, &rows, &dice, edge(&c, (size_t)i), 0);
                ok = check_equal(&t, &rows, (struct way){.training = i % 2 == 0});
                ran_packed_release(&rows);
                toy_release(&t);
                if (!ok)
                        return;
        }
}

TEST(encoder_windows_join_only_when_too_short)
{
        struct ran_config c = toy_config();
        uint32_t ids[40] = {0};

        for (c.window = 1; c.window <= 6; c.window++)
                for (c.min_window = 1; c.min_window <= 8; c.min_window++)
                        for (size_t L = 1; L <= 40; L++) {
                                struct ran_packed rows = {0};
                                size_t shortest = L, longest = 0, least = least_window(&c);

                                ran_packed_add(&rows, &c, ids, L, 0);
                                for (size_t i = 0; i < rows.m; i++) {
                                        size_t n = rows.window[i + 1] - rows.window[i];

                                        shortest = n < shortest ? n : shortest;
                                        longest = n > longest ? n : longest;
                                }
                                CHECK(longest < c.window + least);
                                CHECK(rows.m == 1 || shortest >= least);
                                CHECK(rows.window[0] == 0 && rows.window[rows.m] == L);
                                ran_packed_release(&rows);
                        }
}

/* ---- several documents, several chunks ------------------------------------------------------- */

static void add_some(const struct toy *t, struct ran_packed *rows, struct dice *dice)
{
        for (size_t b = 0; b < 6; b++)
                toy_add(t, rows, dice, edge(&t->c, dice_size(dice, 0, 8)), 100 + b);
}

TEST(encoder_documents_together_equal_each_alone)
{
        struct dice dice = {.key = 2};

        for (uint64_t i = 0; i < 24; i++) {
                struct ran_config c = toy_random_config(&dice);
                struct ran_packed rows = {0};
                struct toy t;
                bool ok;

                toy_init(&t, &c, i, 0.3);
                add_some(&t, &rows, &dice);
                ok = check_equal(&t, &rows, (struct way){.training = true});
                ok &= check_equal(&t, &rows, (struct way){.training = true, .slab_rows = 1});
                ok &= check_equal(&t, &rows, (struct way){.training = true, .slab_rows = 20});
                ok &= check_equal(&t, &rows, (struct way){.slab_rows = 20});
                ran_packed_release(&rows);
                toy_release(&t);
                if (!ok)
                        return;
        }
}

/* Scoring works in place and keeps nothing; no bit of a document alone may differ for that. */
TEST(encoder_scoring_equals_training_without_noise)
{
        static const size_t chunks[] = {0, 1, 20};
        struct dice dice = {.key = 3};

        for (uint64_t i = 0; i < 96; i++) {
                struct ran_config c = toy_random_config(&dice);
                struct way way = {.slab_rows = chunks[i % 3]};
                struct ran_packed rows = {0};
                struct result a, b;
                struct toy t;

                toy_init(&t, &c, i, 0.3);
                toy_add(&t, &rows, &dice, edge(&c, i), 0);
                a = encode(&t, &rows, way);
                way.noise = (struct ran_noise){1, 2, 0.5, 0.5}; /* of no concern when scoring */
                b = encode(&t, &rows, way);
                CHECK(same(&a, &b));
                result_free(&b);
                way = (struct way){.training = true, .slab_rows = chunks[i % 3]};
                b = encode(&t, &rows, way);
                CHECK(same(&a, &b));
                result_free(&a);
                result_free(&b);
                ran_packed_release(&rows);
                toy_release(&t);
        }
}

/* Document b of the batch, scored alone: its rows, last cell and logits are those of `all`. */
static bool is_as_alone(const struct toy *t, const struct ran_packed *rows, size_t b,
                        const struct result *all)
{
        const struct ran_document d = toy_document(rows, b);
        const size_t D = all->D, C = all->C;
        struct ran_packed one = {0};

        ran_packed_add(&one, &t->c, d.ids, d.L, 0);
        one.sources[0] = rows->sources[b];
        struct result r = encode(t, &one, (struct way){0});
        const bool same = memcmp(r.x, all->x + rows->doc[b] * D, d.L * D * sizeof *r.x) == 0 &&
                          memcmp(r.last, all->last + b * D, D * sizeof *r.last) == 0 &&
                          memcmp(r.logits, all->logits + b * C, C * sizeof *r.logits) == 0;
        result_free(&r);
        ran_packed_release(&one);
        return same;
}

/* Documents that are scored together, from the tokens on that the part names; of one window and of
 * more. The cells of the papers read one by one. */
TEST(encoder_scores_documents_together_as_each_alone)
{
        struct dice dice = {.key = 6};

        for (uint64_t i = 0; i < 60 && ran_gemm_rows_stand_alone(); i++) {
                struct ran_config c = toy_random_config(&dice);
                const size_t least = ran_part_prenorm.rows_stand_alone;
                struct ran_packed rows = {0};
                struct toy t;

                c.ran.cell = RAN_CELL_PRENORM;
                c.window = i % 3 == 0 ? 40 : c.window;
                toy_init(&t, &c, i, 0.3);
                for (size_t b = 0; b < 8; b++)
                        toy_add(&t, &rows, &dice, dice_size(&dice, least, i % 2 == 0 ? 12 : 60), b);
                struct result all = encode(&t, &rows, (struct way){.threads = i % 4});
                for (size_t b = 0; b < rows.B; b++)
                        if (!CHECK(is_as_alone(&t, &rows, b, &all)))
                                printf("document %zu of %s\n", b, toy_name(&c));
                result_free(&all);
                ran_packed_release(&rows);
                toy_release(&t);
        }
}

/* Panels of weights that do not change give the same bits, when they are made and later. */
TEST(encoder_with_kept_panels_has_the_bits_of_one_without)
{
        struct dice dice = {.key = 5};

        for (uint64_t i = 0; i < 24; i++) {
                struct ran_config c = toy_random_config(&dice);
                struct ran_packed rows = {0};
                struct toy t;

                toy_init(&t, &c, i, 0.3);
                add_some(&t, &rows, &dice);
                toy_add(&t, &rows, &dice, 300, 7);
                struct result without = encode(&t, &rows, (struct way){0});
                t.p.panels = ran_kept_panels_new(false, NULL, NULL);
                for (size_t turn = 0; turn < 2; turn++) {
                        struct result with = encode(&t, &rows, (struct way){.threads = 2 * turn});

                        if (!CHECK(same(&with, &without)))
                                printf("%s\n", toy_name(&c));
                        result_free(&with);
                }
                ran_kept_panels_free(t.p.panels);
                result_free(&without);
                ran_packed_release(&rows);
                toy_release(&t);
        }
}

/* ---- encoders of the BERT family ------------------------------------------------------------- */

/* The vectors of all documents of a batch (B, width), one batch after the other where alone. */
static float *vectors(const struct toy *t, const struct ran_packed *rows, struct way way,
                      bool alone)
{
        const size_t Q = ran_document_vector_width(&t->c);
        struct ran_pool *pool = way.threads > 0 ? ran_pool_new(way.threads, NULL) : NULL;
        float *v = ran_alloc_floats(rows->B * Q, NULL);
        struct ran_packed one = {0};
        struct ran_error err = {0};
        struct ran_workspace w;

        ran_workspace_init(&w, &t->c, way.training, pool);
        w.slab_rows = way.slab_rows > 0 ? way.slab_rows : w.slab_rows;
        w.streams = way.streams;
        for (size_t b = 0; b < rows->B; b++) {
                const struct ran_document d = toy_document(rows, b);

                ran_packed_clear(&one);
                if (alone)
                        ran_packed_add(&one, &t->c, d.ids, d.L, 0);
                if (alone || b == 0) {
                        CHECK_OK(ran_workspace_fit(&w, alone ? &one : rows, t->C, &err), err);
                        ran_encode(&w, &t->p);
                }
                ran_document_vector(&w, &t->p, alone ? 0 : b, v + b * Q);
        }
        ran_packed_release(&one);
        ran_workspace_release(&w);
        ran_pool_free(pool);
        return v;
}

TEST(encoder_of_the_family_bert_equals_plain_loops)
{
        struct dice dice = {.key = 21};

        for (uint64_t i = 0; i < (test_all() ? 200u : 40u); i++) {
                const struct ran_config c = toy_bert(&dice);
                struct ran_packed rows = {0};
                struct naive n;
                struct toy t;

                toy_init(&t, &c, i, 0.3);
                add_some(&t, &rows, &dice);
                naive_init(&n, &t.c, &t.layout, &t.p, t.V, t.C);
                const size_t Q = ran_document_vector_width(&c), D = c.dim;
                float *v = vectors(&t, &rows, (struct way){.slab_rows = i % 3 * 20}, i % 2 > 0);
                for (size_t b = 0; b < rows.B; b++) {
                        const struct ran_document d = toy_document(&rows, b);
                        double *x = doubles(d.L * D), *want = doubles(Q);

                        for (size_t k = 0; k < d.L * D; k++)
                                x[k] = n.embed[d.ids[k / D] * D + k % D];
                        naive_bert(&n, want, NULL, NULL, x, d.L);
                        for (size_t k = 0; k < Q; k++)
                                if (!CHECK_NEAR((double)v[b * Q + k], want[k],
                                                2e-4 * (1 + fabs(want[k]))))
                                        printf("%s\n", toy_name(&c));
                        free(x);
                        free(want);
                }
                free(v);
                naive_release(&n);
                ran_packed_release(&rows);
                toy_release(&t);
        }
}

/* Neither neighbours in the batch nor groups, threads, kept activations or rows that are gone after
 * their group may change a bit. */
TEST(encoder_of_the_family_bert_knows_no_batch_and_no_threads)
{
        struct dice dice = {.key = 22};

        for (uint64_t i = 0; i < 12; i++) {
                const struct ran_config c = toy_bert(&dice);
                const struct way ways[] = {{.slab_rows = 1},
                                           {.slab_rows = 40, .threads = 3},
                                           {.training = true},
                                           {.training = true, .slab_rows = 30, .threads = 2},
                                           {.streams = true},
                                           {.streams = true, .slab_rows = 1, .threads = 2},
                                           {.streams = true, .slab_rows = 30}};
                struct ran_packed rows = {0};
                struct toy t;

                toy_init(&t, &c, i, 0.3);
                add_some(&t, &rows, &dice);
                toy_add(&t, &rows, &dice, 300, 7);
                const size_t bytes = rows.B * ran_document_vector_width(&c) * sizeof(float);
                float *all = vectors(&t, &rows, (struct way){0}, true);
                for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
                        float *v = vectors(&t, &rows, ways[k], false);

                        if (!CHECK(memcmp(v, all, bytes) == 0))
                                printf("way %zu of %s\n", k, toy_name(&c));
                        free(v);
                }
                free(all);
                ran_packed_release(&rows);
                toy_release(&t);
        }
}

/* ---- threads --------------------------------------------------------------------------------- */

static void check_threads(const struct toy *t, const struct ran_packed *rows, struct way way)
{
        struct result alone = encode(t, rows, way);

        for (size_t i = 0; i < 3; i++) {
                struct result r;

                way.threads = (const size_t[]){1, 2, 7}[i];
                r = encode(t, rows, way);
                CHECK(same(&r, &alone));
                result_free(&r);
        }
        result_free(&alone);
}

TEST(encoder_threads_change_no_bit)
{
        struct dice dice = {.key = 4};

        for (uint64_t i = 0; i < 4; i++) {
                struct ran_config c = toy_random_config(&dice);
                struct ran_packed rows = {0};
                struct toy t;

                c.ran.cell = (int)i % 3;
                c.ran.review = (int)(i % 2 == 0 ? RAN_REVIEW_ALL + i / 2 : RAN_REVIEW_DISPERSED);
                c.window = 7;
                toy_init(&t, &c, i, 0.3);
                toy_add(&t, &rows, &dice, 700, 1); /* more rows than a block of a product */
                toy_add(&t, &rows, &dice, 20, 2);
                toy_add(&t, &rows, &dice, 1, 3);
                check_threads(&t, &rows, (struct way){.slab_rows = 64 * i});
                check_threads(&t, &rows, (struct way){.training = true, .noise = {5, 6, 0.2, 0.3}});
                ran_packed_release(&rows);
                toy_release(&t);
        }
}

/* ---- dropout --------------------------------------------------------------------------------- */

TEST(encoder_dropout_is_where_it_should_be)
{
        struct dice dice = {.key = 5};

        for (uint64_t i = 0; i < 24; i++) {
                struct ran_config c = toy_random_config(&dice);
                struct way way = {.training = true, .noise = {i, i + 1, 0.2, 0.3}};
                struct ran_packed rows = {0};
                struct toy t;
                bool ok;

                toy_init(&t, &c, i, 0.3);
                add_some(&t, &rows, &dice);
                ok = check_equal(&t, &rows, way);
                way.slab_rows = 20;
                ok &= check_equal(&t, &rows, way);
                ran_packed_release(&rows);
                toy_release(&t);
                if (!ok)
                        return;
        }
}

/* ---- the review of many windows -------------------------------------------------------------- */

TEST(encoder_reviews_hundreds_of_windows)
{
        struct ran_config c = toy_config();
        struct ran_packed rows = {0};
        struct dice dice = {.key = 6};
        struct toy t;

        c.window = 2;
        for (int i = 0; i < 9; i++) {
                c.ran.review = RAN_REVIEW_ALL + i % 3;
                c.mask = i / 3;
                toy_init(&t, &c, 7, 0.2);
                toy_add(&t, &rows, &dice, test_all() ? 601 : 301, 0);
                check_equal(&t, &rows, (struct way){.training = true});
                check_equal(&t, &rows, (struct way){.slab_rows = 100});
                ran_packed_clear(&rows);
                toy_release(&t);
        }
        ran_packed_release(&rows);
}

/* ---- the smallest
 * --------------------------------------------------------------------------------
 */

/* One of everything: rows of one element are 0 once normalised, whatever they were. */
TEST(encoder_of_one_of_everything_is_finite)
{
        struct ran_config c = toy_config();
        struct dice dice = {.key = 10};

        c.dim = c.heads = c.head_dim = c.layers = c.window = 1;
        c.rotary = false;
        for (c.ran.cell = RAN_CELL_GATED; c.ran.cell <= RAN_CELL_PUBLISHED; c.ran.cell++)
                for (size_t L = 1; L < 6; L++) {
                        struct ran_packed rows = {0};
                        struct toy t;

                        toy_init(&t, &c, 10, 0.3);
                        toy_add(&t, &rows, &dice, L, 0);
                        check_equal(&t, &rows, (struct way){.training = true});
                        check_equal(&t, &rows, (struct way){.training = false});
                        ran_packed_release(&rows);
                        toy_release(&t);
                }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static double bytes_for(const struct toy *t, size_t L, bool training)
{
        struct dice dice = {.key = 8};
        struct ran_error err = {0};
        struct ran_packed rows = {0};
        struct ran_workspace w;
        double bytes = 0;

        toy_add(t, &rows, &dice, L, 0);
        ran_workspace_init(&w, &t->c, training, NULL);
        CHECK_OK(ran_workspace_bytes(&w, &rows, t->C, &bytes, &err), err);
        ran_workspace_release(&w);
        ran_packed_release(&rows);
        return bytes;
}

/* A row of D a token, and a few a window; the rest is one chunk. */
TEST(encoder_memory_grows_with_the_length_and_no_faster)
{
        struct ran_config c = toy_config();
        struct toy t;

        c.window = 64;
        toy_init(&t, &c, 9, 0.3);
        for (int training = 0; training <= 1; training++) {
                double once = bytes_for(&t, 100000, training),
                       ten = bytes_for(&t, 1000000, training);

                CHECK(ten < 10 * once);
                CHECK(training || ten < 1000000 * (2.0 * 12 * sizeof(float)) + 3e8);
        }
        toy_release(&t);
}

/* Only rows and last cells go from layer to layer. */
TEST(encoder_layers_share_their_memory_when_scoring)
{
        struct ran_config c = toy_config();
        double bytes[2];

        for (int cell = RAN_CELL_GATED; cell <= RAN_CELL_PUBLISHED; cell++) {
                for (size_t i = 0; i < 2; i++) {
                        struct toy t;

                        c.ran.cell = cell;
                        c.layers = 1 + 4 * i;
                        toy_init(&t, &c, 9, 0.3);
                        bytes[i] = bytes_for(&t, 10000, false);
                        toy_release(&t);
                }
                CHECK_NEAR(bytes[0], bytes[1], 0);
        }
}
