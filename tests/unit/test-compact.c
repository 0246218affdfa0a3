/* Weights in fewer bits: their rounding, and models that store them. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensors/compact.h"
#include "part/linear/linear-rows.h"
#include "file/model.h"
#include "nn/unread.h"
#include "test.h"
#include "toy.h"

/* ---- F16 ------------------------------------------------------------------------------------- */

static double value_of(uint16_t half)
{
        int exponent = half >> 10 & 31, fraction = half & 1023;
        double x = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);

        return (half & 0x8000) != 0 ? -x : x;
}

TEST(compact_halves_are_those_of_ieee_754)
{
        for (uint32_t i = 0; i < 0x10000; i++) {
                uint16_t half = (uint16_t)i;
                float x = ran_float_of_half(half);

                if ((half & 0x7fff) > 0x7c00) {
                        CHECK(isnan(x) && isnan(ran_float_of_half(ran_half_of_float(x))));
                        continue;
                }
                if ((half & 0x7fff) == 0x7c00)
                        CHECK(isinf(x) && !signbit(x) == (half < 0x8000));
                else
                        CHECK((double)x == value_of(half) && !signbit(x) == (half < 0x8000));
                CHECK_SIZE(ran_half_of_float(x), half);
        }
}

/* Between two halves: to the nearer one, in the middle to the even one. */
TEST(compact_halves_are_the_nearest)
{
        for (uint32_t i = 0; i < 0x7bff; i++) {
                float low = ran_float_of_half((uint16_t)i),
                      high = ran_float_of_half((uint16_t)(i + 1));
                float middle = (low + high) / 2;

                CHECK_SIZE(ran_half_of_float(middle), i + (i & 1));
                CHECK_SIZE(ran_half_of_float(nextafterf(middle, 0)), i);
                CHECK_SIZE(ran_half_of_float(nextafterf(middle, FLT_MAX)), i + 1);
                CHECK_SIZE(ran_half_of_float(-middle), 0x8000 + i + (i & 1));
        }
        CHECK_SIZE(ran_half_of_float(65519.996f), 0x7bff);
        CHECK_SIZE(ran_half_of_float(65520), 0x7c00);
        CHECK_SIZE(ran_half_of_float(FLT_MAX), 0x7c00);
        CHECK_SIZE(ran_half_of_float(FLT_TRUE_MIN), 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { ROWS = 40, COLS = 33 };

TEST(compact_rows_are_rounded_by_half_a_step_at_most)
{
        struct dice dice = {.key = 31};
        float x[COLS];
        int8_t code[COLS];

        for (int scale = -30; scale < 30; scale++) {
                dice_floats(&dice, x, COLS, ldexpf(1, scale));
                float step = ran_compact_row(code, x, COLS);
                int most = 0;

                for (size_t i = 0; i < COLS; i++) {
                        CHECK_NEAR((double)(step * (float)code[i]), (double)x[i],
                                   0.5001 * (double)step);
                        most = abs(code[i]) > most ? abs(code[i]) : most;
                }
                CHECK_SIZE((size_t)most, 127);
        }
        memset(x, 0, sizeof x);
        CHECK(ran_compact_row(code, x, COLS) == 0 && code[3] == 0);
        x[5] = FLT_TRUE_MIN; /* so small that its step is none */
        CHECK(ran_compact_row(code, x, COLS) == 0 && code[5] == 0);
        x[5] = 100 * FLT_TRUE_MIN; /* and so coarse that the code would be 100 */
        ran_compact_row(code, x, COLS);
        CHECK(code[5] == 100 || code[5] == 0);
}

/* Weights in memory are those that a file gives back, zeros too. */
TEST(compact_rounds_to_the_bits_that_codes_give_back)
{
        struct dice dice = {.key = 33};
        float x[COLS], back[COLS];
        int8_t code[COLS];

        dice_floats(&dice, x, COLS, 0.4f);
        x[3] = -1e-6f;
        const float scale = ran_compact_row(code, x, COLS);
        for (size_t i = 0; i < COLS; i++)
                back[i] = scale * (float)code[i];
        ran_compact_round(RAN_STORAGE_I8, x, 1, COLS);
        CHECK(memcmp(x, back, sizeof x) == 0);
}

/* Weights that were judged are those that are stored, whatever the weight of the ensemble. */
TEST(compact_codes_stay_when_what_was_rounded_is_rounded_again)
{
        struct dice dice = {.key = 32};
        float x[ROWS * COLS], twice[ROWS * COLS];
        int8_t code[COLS], again[COLS];

        dice_floats(&dice, x, ROWS * COLS, 0.4f);
        ran_compact_round(RAN_STORAGE_I8, x, ROWS, COLS);
        memcpy(twice, x, sizeof x);
        for (size_t i = 0; i < ROWS * COLS; i++)
                twice[i] *= 1.37f;
        for (size_t r = 0; r < ROWS; r++) {
                ran_compact_row(code, x + r * COLS, COLS);
                ran_compact_row(again, twice + r * COLS, COLS);
                CHECK(memcmp(code, again, COLS) == 0);
        }
        memcpy(twice, x, sizeof x);
        ran_compact_round(RAN_STORAGE_F32, x, ROWS, COLS);
        CHECK(memcmp(x, twice, sizeof x) == 0);
        ran_compact_round(RAN_STORAGE_F16, x, ROWS, COLS);
        memcpy(twice, x, sizeof x);
        ran_compact_round(RAN_STORAGE_F16, x, ROWS, COLS);
        CHECK(memcmp(x, twice, sizeof x) == 0);
}

TEST(compact_types_go_by_shape_and_range)
{
        float x[10] = {1, 2};

        CHECK(ran_compact_dtype_of(RAN_STORAGE_F32, x, 2, 5) == RAN_DTYPE_F32);
        CHECK(ran_compact_dtype_of(RAN_STORAGE_F16, x, 0, 5) == RAN_DTYPE_F32);
        CHECK(ran_compact_dtype_of(RAN_STORAGE_F16, x, 2, 5) == RAN_DTYPE_F16);
        CHECK(ran_compact_dtype_of(RAN_STORAGE_I8, x, 2, 5) == RAN_DTYPE_I8);
        CHECK(ran_compact_dtype_of(RAN_STORAGE_I8, x, 2, 4) == RAN_DTYPE_F16);
        CHECK(ran_compact_dtype_of(RAN_STORAGE_F16, x, 2, 5) == RAN_DTYPE_F16);
        x[9] = 65505;
        CHECK(ran_compact_dtype_of(RAN_STORAGE_F16, x, 2, 5) == RAN_DTYPE_F32);
        CHECK(ran_compact_dtype_of(RAN_STORAGE_I8, x, 5, 2) == RAN_DTYPE_F32);
        CHECK(ran_compact_dtype_of(RAN_STORAGE_I8, x, 2, 5) == RAN_DTYPE_I8);
        x[9] = NAN;
        CHECK(ran_compact_dtype_of(RAN_STORAGE_I8, x, 2, 5) == RAN_DTYPE_F32);
}

/* ---- in a model ------------------------------------------------------------------------------ */

enum { WIDE = 300, LENGTH = 40 };

static struct ran_model *write_and_open(const struct toy *t, int storage, const char *path)
{
        struct ran_error err = {0};
        const struct ran_parts parts = {.config = &t->c,
                                        .layout = &t->layout,
                                        .params = &t->p,
                                        .V = t->V,
                                        .C = t->C,
                                        .storage = storage};

        CHECK_OK(ran_model_write(path, NULL, &parts, &err), err);
        struct ran_model *m = ran_model_open(path, true, &err);
        test_check(m != NULL, err.text, __FILE__, __LINE__);
        return m;
}

struct results {
        float logits[LENGTH * 8];
        double value[LENGTH];
};

static void compute(struct results *r, const struct ran_model *m, const struct ran_document *d)
{
        struct ran_error err = {0};
        struct ran_state *s = ran_state_new(m, NULL);
        struct ran_explainer *e = ran_explainer_new(m, NULL);
        uint32_t tags[LENGTH];

        memset(r, 0, sizeof *r);
        if (m->config.task == RAN_TASK_TAG)
                CHECK_OK(ran_tag(m, s, d, tags, NULL, r->logits, &err), err);
        else
                CHECK_OK(ran_classify(m, s, d, r->logits, NULL, &err), err);
        CHECK_OK(ran_explain_read(e, d, 0, &err), err);
        CHECK_OK(ran_explain_label(e, 0, 1, 3, r->value, &err), err);
        ran_explainer_free(e);
        ran_state_free(s);
}

/* The weights of the toy as a reader of the file gets them. */
static void round_toy(struct toy *t, int storage)
{
        float *table = t->embed + (t->V + t->c.spelling) * t->c.dim,
              *idf = t->embed + toy_tables(t);

        for (size_t i = 0; i < t->layout.n; i++)
                ran_compact_round(storage, t->p.block + t->layout.spec[i].offset,
                                  t->layout.spec[i].rows, t->layout.spec[i].cols);
        ran_compact_round(storage, t->embed, t->V + t->c.spelling, t->c.dim);
        ran_compact_round(storage, table, WIDE, t->C);
        if (ran_linear_of(&t->p)->idf != NULL)
                ran_compact_round(storage, idf, WIDE, 1);
}

static void check_near(const struct results *a, const struct results *b)
{
        for (size_t i = 0; i < sizeof a->logits / sizeof *a->logits; i++)
                CHECK_NEAR((double)a->logits[i], (double)b->logits[i], 2e-5);
        for (size_t i = 0; i < LENGTH; i++)
                CHECK_NEAR(a->value[i], b->value[i], 2e-5);
}

static void check_documents(const struct ran_model *compact, const struct ran_model *rounded)
{
        struct dice dice = {.key = 18};
        const struct ran_config *c = &compact->config;

        for (size_t i = 0; i < 20; i++) {
                uint32_t ids[LENGTH], positions[LENGTH], spelling[LENGTH * RAN_SPELLING];
                struct ran_document d = {.ids = ids, .L = dice_size(&dice, 1, LENGTH)};
                struct results a, b;

                for (size_t w = 0; w < d.L; w++) {
                        ids[w] = (uint32_t)dice_size(&dice, 0, TOY_V - 1);
                        positions[w] = (uint32_t)w;
                }
                for (size_t w = 0; w < d.L * RAN_SPELLING && c->spelling > 0; w++)
                        spelling[w] = (uint32_t)dice_size(&dice, 0, c->spelling - 1);
                if (c->task == RAN_TASK_TAG) {
                        d.positions = positions;
                        d.words = d.L;
                }
                d.spelling = c->spelling > 0 ? spelling : NULL;
                compute(&a, compact, &d);
                compute(&b, rounded, &d);
                check_near(&a, &b);
        }
}

/* Whole weights that are those of eight bits are multiplied as these are. */
static void multiply_integers(struct ran_model *m)
{
        ran_kept_panels_free(m->params.panels);
        m->params.panels = ran_kept_panels_new(m->params.integers = true, NULL, NULL);
}

/* A model in fewer bits says what one of the rounded weights says; so does its conversion. */
static void check_storage(struct ran_config c, int storage)
{
        char *path = test_path("compact.ran"), *whole = test_path("whole.ran"),
             *converted = test_path("converted.ran");
        struct ran_error err = {0};
        struct ran_model *m, *all, *exact, *other;
        struct toy t;

        c.linear.wide = WIDE;
        toy_init(&t, &c, 4, 0.3);
        exact = write_and_open(&t, RAN_STORAGE_F32, whole);
        REQUIRE(exact != NULL);
        CHECK_OK(ran_model_convert(exact, storage, true, converted, &err), err);
        m = write_and_open(&t, storage, path);
        other = ran_model_open(converted, true, &err);
        round_toy(&t, storage);
        all = write_and_open(&t, RAN_STORAGE_F32, whole);
        REQUIRE(m != NULL && all != NULL && other != NULL);
        CHECK(m->params.integers == (storage == RAN_STORAGE_I8) && !all->params.integers);
        if (m->params.integers)
                multiply_integers(all);
        CHECK(ran_linear_of(&m->params)->wide == NULL &&
              ran_linear_of(&m->params)->compact.rows == m->linear.rows.n);
        CHECK((ran_linear_of(&m->params)->compact.i8 != NULL) ==
              (storage == RAN_STORAGE_I8 && t.C > 4));
        CHECK(m->file.size < all->file.size);
        /* Where the encoder makes a vector, the embedding in eight bits stays in the file. */
        CHECK((m->params.embed == NULL) == (storage == RAN_STORAGE_I8 && c.ran.vector));
        check_documents(m, all);
        check_documents(other, all);
        CHECK(m->file.size < other->file.size); /* by the metadata alone */
        CHECK(memcmp(m->tensors.data, other->tensors.data, m->tensors.size) == 0);
        ran_model_free(m);
        ran_model_free(all);
        ran_model_free(exact);
        ran_model_free(other);
        toy_release(&t);
        free(path);
        free(whole);
        free(converted);
}

TEST(compact_models_say_what_their_rounded_weights_say)
{
        for (int storage = RAN_STORAGE_F16; storage <= RAN_STORAGE_I8; storage++) {
                struct ran_config c = toy_config();

                check_storage(c, storage);
                c.linear.ngrams = 3, c.classify.multilabel = true;
                check_storage(c, storage);
                c = toy_config();
                c.task = RAN_TASK_TAG, c.tag.crf = true, c.spelling = 9;
                check_storage(c, storage);
                c = toy_config();
                c.ran.cell = RAN_CELL_PRENORM, c.ran.vector = true;
                check_storage(c, storage);
        }
}

/* Panels and digests read layers in eight bits from the file, which others ask into the block. */
TEST(compact_layers_stay_in_the_file_until_someone_asks)
{
        struct ran_config c = toy_config();
        struct ran_error err = {0};
        char *path = test_path("unread.ran"), before[65], after[65];
        struct ran_layout layout;
        struct toy t;
        size_t unread = 0;

        c.ran.cell = RAN_CELL_PRENORM, c.ran.vector = true;
        toy_init(&t, &c, 4, 0.3);
        struct ran_model *m = write_and_open(&t, RAN_STORAGE_I8, path);
        REQUIRE(m != NULL);
        REQUIRE(ran_layout_init(&layout, &c, t.C, &err) == RAN_OK);
        for (size_t i = 0; i < layout.n; i++)
                unread += isnan(m->params.block[layout.spec[i].offset]) ? 1 : 0;
        CHECK_SIZE(unread, c.layers * (size_t)(c.ran.residual ? 14 : 13));
        ran_encoder_digest(before, &c, &m->params, m->V);
        ran_unread_read(m->params.unread);
        ran_encoder_digest(after, &c, &m->params, m->V);
        CHECK_STR(before, after);
        for (size_t i = 0; i < layout.n; i++) {
                const struct ran_tensor_spec *s = &layout.spec[i];
                const struct ran_tensor *tensor = ran_tensors_find(&m->tensors, s->name);
                float *x = ran_new_floats(tensor->elements);

                CHECK_OK(ran_tensor_floats(&m->tensors, tensor, x, &err), err);
                CHECK(memcmp(x, m->params.block + s->offset, tensor->elements * sizeof *x) == 0);
                free(x);
        }
        ran_layout_release(&layout);
        ran_model_free(m);
        toy_release(&t);
        free(path);
}

/* What training goes on from. */
TEST(compact_rows_spread_to_what_was_rounded)
{
        struct ran_config c = toy_config();
        struct ran_error err = {0};
        char *path = test_path("spread.ran");
        struct toy t;

        c.linear.wide = WIDE;
        toy_init(&t, &c, 5, 0.3);
        struct ran_model *m = write_and_open(&t, RAN_STORAGE_F16, path);
        REQUIRE(m != NULL);
        round_toy(&t, RAN_STORAGE_F16);
        float *weight = ran_alloc_floats(WIDE * t.C, &err), *idf = ran_alloc_floats(WIDE, &err);
        ran_linear_rows_spread(ran_linear_of(&m->params), WIDE, t.C, weight, idf);
        for (size_t i = 0; i < WIDE * t.C; i++)
                CHECK(weight[i] == ran_linear_of(&t.p)->wide[i]);
        for (size_t g = 0; g < WIDE; g++)
                CHECK(idf[g] == ran_linear_of(&t.p)->idf[g]);
        free(weight);
        free(idf);
        ran_model_free(m);
        toy_release(&t);
        free(path);
}
