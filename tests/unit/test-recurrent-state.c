/* A document read in parts gives what it gives when it is read at once: in parts of any length
 * when scored, in chunks of whole windows when trained; and what a model has read survives a file.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/part.h"
#include "task/lm-output.h"
#include "infer/infer.h"
#include "test.h"
#include "toy.h"

enum { LONGEST = 60 };

/* A language model: a RAN, or a Transformer with patterns by chance. */
static struct ran_config lm_config(struct dice *dice, bool transformer)
{
        struct ran_config c = transformer ? toy_transformer(dice) : toy_random_config(dice);

        c.task = RAN_TASK_LM;
        c.mask = dice_coin(dice) ? RAN_MASK_CAUSAL : RAN_MASK_PREFIX;
        c.min_window = 1;
        c.lm.shortlist = dice_coin(dice) ? 5 : 0;
        return c;
}

static void random_ids(struct dice *dice, uint32_t *ids, size_t n)
{
        for (size_t i = 0; i < n; i++)
                ids[i] = (uint32_t)dice_size(dice, 0, TOY_V - 1);
}

/* Reads L tokens in parts of up to `most`, the whole source in the first; logits (L, V). */
static void read_in_parts(const struct toy *t, struct dice *dice, const uint32_t *ids, size_t L,
                          size_t sources, size_t most, float *logits, float *last)
{
        struct ran_error err = {0};
        struct ran_state *s = ran_score_state_new(&t->c, &t->p, t->C, NULL);
        struct ran_recurrent_state recurrent;

        ran_encoder_state_init(&recurrent, &t->c);
        for (size_t at = 0, n; at < L; at += n) {
                struct ran_lm_out out = {.logits = logits + at * t->V, .last = last};

                n = dice_size(dice, 1, most);
                n = at == 0 && n < sources ? sources : n;
                n = n < L - at ? n : L - at;
                CHECK_OK(
                        ran_score_lm(s, &recurrent, ids + at, n, at == 0 ? sources : 0, &out, &err),
                        err);
                size_t W = t->c.encoder == RAN_ENCODER_TRANSFORMER ? 1 : t->c.window;
                CHECK_SIZE(recurrent.tokens, at + n);
                CHECK_SIZE(recurrent.sources, t->c.ran.review_source ? sources : 0);
                CHECK_SIZE(recurrent.states - recurrent.sources, ran_encoder_states(&t->c, at + n));
                CHECK(recurrent.states - recurrent.sources <= (at + n) / W);
                CHECK_SIZE(recurrent.open, (at + n) % W);
        }
        ran_recurrent_state_release(&recurrent);
        ran_state_free(s);
}

TEST(reading_in_chunks_equals_reading_at_once)
{
        struct dice dice = {.key = ran_random_key(2, 7, 1, 8)};

        for (size_t i = 0; i < 80; i++) {
                struct ran_config c = lm_config(&dice, i % 2 > 0);
                size_t L = dice_size(&dice, 1, LONGEST), worst = 0;
                size_t sources = c.mask == RAN_MASK_PREFIX ? dice_size(&dice, 0, L - 1) : 0;
                uint32_t ids[LONGEST];
                float whole[LONGEST * TOY_V], parts[LONGEST * TOY_V], last[TOY_V];
                struct ran_lm_out out = {.logits = whole};
                struct ran_error err = {0};
                struct ran_state *s;
                struct toy t;

                toy_init(&t, &c, i, 0.3);
                random_ids(&dice, ids, L);
                s = ran_score_state_new(&t.c, &t.p, t.C, NULL);
                CHECK_OK(ran_score_lm(s, NULL, ids, L, sources, &out, &err), err);
                read_in_parts(&t, &dice, ids, L, sources, dice_size(&dice, 1, 20), parts, last);
                for (size_t j = 0; j < L * t.V; j++)
                        if (fabsf(whole[j] - parts[j]) > fabsf(whole[worst] - parts[worst]))
                                worst = j;
                if (!CHECK(fabsf(whole[worst] - parts[worst]) < 1e-4f * (1 + fabsf(whole[worst]))))
                        printf("  %s, %zu tokens, %zu source: token %zu is off by %g\n",
                               toy_name(&c), L, sources, worst / t.V,
                               (double)fabsf(whole[worst] - parts[worst]));
                for (size_t v = 0; v < t.V; v++)
                        CHECK_NEAR((double)last[v], (double)whole[(L - 1) * t.V + v], 1e-3);
                ran_state_free(s);
                toy_release(&t);
        }
}

/* ---- training in chunks --------------------------------------------------------------------- */

/* Output rows (n, D) of a piece, and the recurrent moved on. */
static void encode_piece(struct ran_workspace *w, const struct toy *t, struct ran_packed *rows,
                         const uint32_t *ids, size_t n, struct ran_recurrent_state *recurrent)
{
        struct ran_error err = {0};

        ran_packed_clear(rows);
        ran_packed_add_after(rows, &t->c, ids, n, 1, recurrent);
        for (uint32_t i = 0; i < n; i++)
                ran_packed_positions(rows, &i, 1);
        CHECK_OK(ran_workspace_fit(w, rows, t->C, &err), err);
        ran_encode(w, &t->p);
}

TEST(training_in_chunks_sees_what_training_at_once_sees)
{
        struct dice dice = {.key = ran_random_key(2, 7, 1, 9)};

        for (size_t i = 0; i < 60; i++) {
                struct ran_config c = lm_config(&dice, i % 2 > 0);
                struct ran_packed rows = {0}, all = {0};
                struct ran_recurrent_state recurrent;
                struct ran_workspace whole, w;
                uint32_t ids[LONGEST];
                struct toy t;

                c.mask = RAN_MASK_CAUSAL;
                toy_init(&t, &c, i, 0.3);
                random_ids(&dice, ids, LONGEST);
                ran_workspace_init(&whole, &t.c, true, NULL);
                ran_workspace_init(&w, &t.c, true, NULL);
                ran_encoder_state_init(&recurrent, &t.c);
                encode_piece(&whole, &t, &all, ids, LONGEST, NULL);
                for (size_t at = 0, n; at < LONGEST; at += n) {
                        float far = 0;

                        n = c.window * dice_size(&dice, 1, 3);
                        n = n < LONGEST - at ? n : LONGEST - at;
                        encode_piece(&w, &t, &rows, ids + at, n, &recurrent);
                        for (size_t j = 0; j < n * c.dim; j++)
                                far = fmaxf(far, fabsf(w.x[c.layers][j] -
                                                       whole.x[c.layers][at * c.dim + j]));
                        CHECK_NEAR((double)far, 0, 1e-3);
                }
                ran_recurrent_state_release(&recurrent);
                ran_workspace_release(&whole);
                ran_workspace_release(&w);
                ran_packed_release(&rows);
                ran_packed_release(&all);
                toy_release(&t);
        }
}

/* The loss of a second piece, of which all but the weights is fixed. It goes on from a copy, which
 * must outlive the backward pass. */
static double piece_loss(struct ran_workspace *w, const struct toy *t, struct ran_packed *rows,
                         const uint32_t *ids, const struct ran_recurrent_state *recurrent,
                         struct ran_recurrent_state *copy, struct ran_params *dp)
{
        struct ran_error err = {0};
        float scale[LONGEST], *packed = ran_new_floats(recurrent->layers *
                                                       (recurrent->cell_width +
                                                        2 * recurrent->width * recurrent->states));
        size_t n = LONGEST - recurrent->tokens - 1;
        double loss;

        ran_recurrent_state_pack(recurrent, packed);
        CHECK_OK(ran_recurrent_state_unpack(copy, packed, recurrent->tokens, recurrent->states,
                                            &err),
                 err);
        encode_piece(w, t, rows, ids + recurrent->tokens, n, copy);
        for (size_t i = 0; i < n; i++)
                scale[i] = 1.0f / (float)n;
        loss = ran_lm_loss(w, &t->p, dp, t->V, ids + recurrent->tokens + 1, scale, 0);
        free(packed);
        return loss;
}

/* No gradient goes through what was carried, and all other gradients are right. */
TEST(gradient_of_a_second_chunk_takes_the_recurrent_state_as_constant)
{
        struct dice dice = {.key = ran_random_key(2, 7, 1, 10)};

        for (size_t i = 0; i < (test_all() ? 20 : 4); i++) {
                struct ran_config c = lm_config(&dice, i % 2 > 0);
                struct ran_packed rows = {0};
                struct ran_error err = {0};
                struct ran_params dp, none;
                struct ran_recurrent_state recurrent, copy;
                struct ran_workspace w;
                uint32_t ids[LONGEST];
                struct toy t;
                double error = 0, norm = 0;

                c.mask = RAN_MASK_CAUSAL;
                c.layers = dice_size(&dice, 1, 2);
                c.head_dim += c.head_dim == 1; /* the cosine of two numbers has no slope */
                toy_init(&t, &c, i, 0.3);
                random_ids(&dice, ids, LONGEST);
                ran_workspace_init(&w, &t.c, true, NULL);
                w.slab_rows = dice_size(&dice, 1, 80); /* all is kept, or computed anew */
                w.keep_floats *= dice_size(&dice, 0, 1);
                ran_encoder_state_init(&recurrent, &t.c);
                ran_encoder_state_init(&copy, &t.c);
                CHECK_OK(ran_params_init(&dp, &t.c, t.C, &err), err);
                CHECK_OK(ran_params_init(&none, &t.c, t.C, &err), err);
                dp.dembed = ran_alloc_floats(t.V * c.dim, &err);
                none.dembed = ran_alloc_floats(t.V * c.dim, &err);
                encode_piece(&w, &t, &rows, ids, c.window * 2, &recurrent);
                piece_loss(&w, &t, &rows, ids, &recurrent, &copy, &dp);
                ran_encode_bwd(&w, &t.p, &dp);
                for (size_t j = 0; j < t.layout.size; j += 1 + dice_size(&dice, 0, 20)) {
                        const float step = 2e-3f;
                        float was = t.p.block[j];
                        double above, want;

                        t.p.block[j] = was + step;
                        above = piece_loss(&w, &t, &rows, ids, &recurrent, &copy, &none);
                        t.p.block[j] = was - step;
                        want = (above - piece_loss(&w, &t, &rows, ids, &recurrent, &copy, &none)) /
                               (2 * (double)step);
                        t.p.block[j] = was;
                        error += (want - (double)dp.block[j]) * (want - (double)dp.block[j]);
                        norm += want * want;
                }
                if (!CHECK(sqrt(error) < 0.02 * sqrt(norm) + 1e-4))
                        printf("  %s: off by %g of %g\n", toy_name(&c), sqrt(error), sqrt(norm));
                free(dp.dembed);
                free(none.dembed);
                ran_params_release(&dp);
                ran_params_release(&none);
                ran_recurrent_state_release(&recurrent);
                ran_recurrent_state_release(&copy);
                ran_workspace_release(&w);
                ran_packed_release(&rows);
                toy_release(&t);
        }
}
