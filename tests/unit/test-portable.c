/* RAN_ISA=portable: results are the same bytes on every processor, with every compiler and C
 * library, and whatever OpenBLAS takes the processor for. So they can be written down here. What
 * changes a result on purpose changes these digests, too. */
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include "kernels.h"
#include "infer/infer.h"
#include "test.h"
#include "toy.h"
#include "training.h"

static bool is_portable(void)
{
        return strcmp(ran_isa(), "portable") == 0;
}

static void check_digest(const void *bytes, size_t n, const char *want)
{
        struct ran_sha256 sha;
        char hex[65];

        ran_sha256_init(&sha);
        ran_sha256_add(&sha, bytes, n);
        ran_sha256_hex(&sha, hex);
        hex[16] = '\0';
        CHECK_STR(hex, want);
}

/* ---- scoring --------------------------------------------------------------------------------- */

/* The logits of some documents, the longest of which is long enough for products that OpenBLAS
 * would take. */
static void check_logits(struct ran_config c, const char *want)
{
        static const size_t lengths[] = {1, 700, 64, 5, 300};
        enum { DOCUMENTS = sizeof lengths / sizeof *lengths };
        float logits[DOCUMENTS * TOY_C];
        unsigned char bytes[sizeof logits]; /* least significant first */
        struct ran_error err = {0};
        struct dice dice = {.key = 40};
        struct ran_packed rows = {0};
        struct ran_state *state;
        struct toy t;

        c.dim = 96, c.heads = 4, c.head_dim = 16;
        toy_init(&t, &c, 41, 0.1);
        state = ran_score_state_new(&t.c, &t.p, TOY_C, NULL);
        for (size_t b = 0; b < DOCUMENTS; b++) {
                toy_add(&t, &rows, &dice, lengths[b], b);
                const struct ran_document d = toy_document(&rows, b);
                CHECK_OK(ran_score(state, &d, logits + b * TOY_C, NULL, &err), err);
        }
        for (size_t i = 0; i < sizeof bytes; i++) {
                uint32_t bits;

                memcpy(&bits, logits + i / 4, sizeof bits);
                bytes[i] = (unsigned char)(bits >> 8 * (i % 4));
        }
        check_digest(bytes, sizeof bytes, want);
        ran_state_free(state);
        ran_packed_release(&rows);
        toy_release(&t);
}

TEST(bits_of_logits)
{
        struct ran_config c = toy_config();

        if (!is_portable())
                return;
        c.window = 200;
        check_logits(c, "80b4ef105b115547");
        c.encoder = RAN_ENCODER_TRANSFORMER;
        c.ffn_dim = 200;
        c.transformer.attention.n = 4;
        for (unsigned char j = 0; j < 4; j++)
                c.transformer.attention.item[j] = j;
        check_logits(c, "d3f34cb0e9e675a9");
        c.encoder = RAN_ENCODER_CONTEXTUALIZER;
        c.contextualizer.rank = 70;
        check_logits(c, "516f959fffebbf66");
}

/* ---- training -------------------------------------------------------------------------------- */

/* The weights in a model file. The rest holds the version, too. */
static void check_model(const char *path, const char *want)
{
        struct ran_error err = {0};
        struct ran_bytes file = {0};
        size_t header = 0;

        if (!CHECK_OK(ran_bytes_open(&file, path, &err), err) || !CHECK(file.size > 8))
                return;
        for (size_t i = 0; i < 8; i++)
                header |= (size_t)file.data[i] << 8 * i;
        if (CHECK(header < file.size - 8))
                check_digest(file.data + 8 + header, file.size - 8 - header, want);
        ran_bytes_release(&file);
}

TEST(bits_of_a_trained_model)
{
        struct ran_error err = {0};
        struct training t;

        if (!is_portable())
                return;
        training_init(&t, "portable", 300, false);
        t.c.dim = 64, t.c.head_dim = 16, t.s.schedule = RAN_SCHEDULE_COSINE;
        t.s.epochs = 1;
        CHECK_OK(training_run(&t, 2, &err), err);
        check_model(t.output, "1d6e7963aaee6d63");
        training_release(&t);
}

TEST(bits_of_a_trained_language_model)
{
        struct ran_error err = {0};
        struct training t;

        if (!is_portable())
                return;
        training_init_texts(&t, "portable-lm", 100, CORPUS_TEXTS, 0);
        t.c.dim = 64, t.c.head_dim = 16;
        t.s.epochs = 1;
        CHECK_OK(training_run(&t, 2, &err), err);
        check_model(t.output, "1a5e33a09b7d5cc5");
        training_release(&t);
}

TEST(portable_is_the_same_whatever_openblas_would_choose)
{
        static const char *const cores[] = {NULL, "Prescott", "Sandybridge", "Haswell", "SkylakeX"};

        if (getenv("RAN_ISA") != NULL || !kernels_know("portable"))
                return;
        for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
                kernels_check_with("bits_", "portable", cores[i]);
}

/* ---- fused multiplications without such an instruction ----------------------------------------
 */

static float any_float(struct dice *dice)
{
        const uint32_t bits = (uint32_t)dice_size(dice, 0, UINT32_MAX);
        float x;

        memcpy(&x, &bits, sizeof x);
        return x;
}

/* y and a x so near to each other, or so far apart, that the last bit is hard to tell. */
TEST(narrow_kernels_round_once)
{
        struct dice dice = {.key = 24};

        for (size_t i = 0; i < 400000; i++) {
                const bool any = i % 2 == 0;
                const float a =
                        any ? any_float(&dice) : 1 + ldexpf((float)dice_size(&dice, 0, 9), -23);
                const float x =
                        any ? any_float(&dice) : 1 + ldexpf((float)dice_size(&dice, 0, 9), -23);
                const float y = any ? any_float(&dice)
                                    : ldexpf(dice_size(&dice, 0, 1) ? 1.5f : -1.25f,
                                             (int)dice_size(&dice, 0, 60) - 30);
                const float want = fmaf(a, x, y);
                float got = y;

                ran_simd_alike4.axpy(&got, a, &x, 1);
                if (isnan(want) ? !CHECK(isnan(got)) : !CHECK(memcmp(&got, &want, sizeof got) == 0))
                        return;
        }
}

/* ---- wide kernels ---------------------------------------------------------------------------- */

#ifdef RAN_HAVE_X86
/* The kernels whose result does not depend on the width of a vector have up to three outputs of n
 * elements, which are read, too. */
enum { LENGTH = 1000, OUTPUTS = 3 };
static float input[8][OUTPUTS * LENGTH], wide[OUTPUTS * LENGTH], narrow[OUTPUTS * LENGTH];
static const struct ran_kernels *narrowest;

#define SAME(...)                                                                          \
        do {                                                                               \
                const struct ran_kernels *kernels = table;                                 \
                float *out = wide;                                                         \
                memcpy(wide, input[0], sizeof wide);                                       \
                memcpy(narrow, input[0], sizeof narrow);                                   \
                kernels->__VA_ARGS__;                                                      \
                kernels = narrowest;                                                       \
                out = narrow;                                                              \
                kernels->__VA_ARGS__;                                                      \
                test_check(memcmp(wide, narrow, sizeof wide) == 0, #__VA_ARGS__, __FILE__, \
                           __LINE__);                                                      \
        } while (0)

static void check_elements(const struct ran_kernels *table, size_t n)
{
        static const uint32_t sparse_rows[] = {2, 0, 1};
        static uint16_t halves[3 * LENGTH];
        static int8_t codes[3 * LENGTH];
        const float *x = input[1], *y = input[2], *z = input[3];

        for (size_t i = 0; i < 3 * LENGTH; i++) {
                halves[i] = (uint16_t)(i * 40503 & 0xbfff);
                codes[i] = (int8_t)(i * 77);
        }
        SAME(add(out, x, n));
        SAME(axpy(out, 0.3f, x, n));
        SAME(mul(out, x, y, n));
        SAME(mul_add(out, x, y, n));
        SAME(bias(out, n, x, OUTPUTS, n));
        SAME(bias_bwd(out, x, n, OUTPUTS, n));
        SAME(silu(out, x, n));
        SAME(silu_bwd(out, x, y, n));
        SAME(gelu(out, x, n));
        SAME(gelu_bwd(out, x, y, n));
        SAME(glu_add(out, x, y, n));
        SAME(glu_bwd(out, out + LENGTH, x, y, z, n));
        SAME(online_max(out, x, n));
        SAME(online_exp(out, out + LENGTH, x, 0.7f, n));
        SAME(online_softmax_bwd(out, out + LENGTH, x, y, 0.7f, n));
        SAME(sparse_sum(out, x, sparse_rows, 3, y, n, n));
        SAME(sparse_sum_f16(out, x, sparse_rows, 3, halves, n, 3 * n, n));
        SAME(sparse_sum_i8(out, x, sparse_rows, 3, codes, y, n, 3 * n, n));
        SAME(sparse_add(out, NULL, n, x, sparse_rows, 3, y, n));
        SAME(sparse_add(out, z, n, x, sparse_rows, 3, y, n));
        SAME(dropout(out, n, 5, 3, 0.4));
        SAME(adam(out, out + LENGTH, out + 2 * LENGTH, x, n, 0.9f, 0.8f, 0.7f, 0.01f, 1.1f, 1e-8f,
                  0.99f));
}

static void check_rows(const struct ran_kernels *table, size_t d)
{
        const float *lines[] = {input[1], input[2], input[3]};

        SAME(weighted_sum(out, d, input[4], 2, lines, d, 3, 2, d));
        SAME(weighted_difference(RAN_ROWS_SQUARED, out, d, input[4], input[1], d, input[2], d, 2,
                                 d));
        SAME(weighted_difference(RAN_ROWS_ABSOLUTE, out, d, input[4], input[1], d, input[2], d, 2,
                                 d));
        SAME(max_rows(out, (uint32_t *)out + LENGTH, input[1], d, 3, d));
        if (d % 2 == 0)
                SAME(rotary(out, d, input[1], -1.0f, 1, 1, d));
}

static void check_products(const struct ran_kernels *table, struct dice *dice)
{
        for (size_t i = 0; i < 200; i++) {
                size_t M = dice_size(dice, RAN_FEW_ROWS + 1, 40), N = dice_size(dice, 1, 70);
                size_t K = dice_size(dice, 1, 40);
                const float *bias = i % 3 == 0 ? NULL : input[3];
                bool add = i % 2 == 0;

                SAME(gemm(out, N, input[1], K, 1, input[2], N, 1, bias, M, N, K, add));
                SAME(gemm(out, N, input[1], K, 1, input[2], 1, K, bias, M, N, K, add));
                SAME(gemm(out, N, input[1], 1, M, input[2], N, 1, bias, M, N, K, add));
        }
        /* two blocks of K */
        SAME(gemm(out, 5, input[1], 400, 1, input[2], 5, 1, input[3], 7, 5, 400, true));
}

/* Those that sum up a row, of n numbers. */
static void check_sums(const struct ran_kernels *table, size_t n)
{
        const float *x = input[1], *y = input[2], *stat = input[7];

        SAME(softmax(out, 0.7f, n, NULL));
        SAME(softmax_bwd(out, x, 0.7f, n));
        SAME(norm(out, n, out + LENGTH, x, n, input[3], input[4], 1e-5, 1, n));
        SAME(raw_norm(out, n, out + LENGTH, x, n, NULL, NULL, 1e-5, 1, n));
        SAME(norm_bwd(out, n, out + LENGTH, out + 2 * LENGTH, x, n, y, n, stat, input[3], 1, n));
        const float a = table->dot(x, y, n), b = narrowest->dot(x, y, n);
        CHECK(memcmp(&a, &b, sizeof a) == 0);
}

static void check_width(const struct ran_kernels *table, struct dice *dice)
{
        for (size_t i = 0; i < KERNEL_SIZES; i++) {
                check_elements(table, kernel_size(i));
                check_rows(table, kernel_size(i) / 2 + 1);
        }
        check_products(table, dice);
}

static void fill_inputs(struct dice *dice)
{
        for (size_t i = 0; i < sizeof input / sizeof *input; i++)
                dice_floats(dice, input[i], OUTPUTS * LENGTH, 2);
        for (size_t i = 0; i < OUTPUTS * LENGTH; i++) /* what squares are summed up in */
                input[0][i] = i < 2 * LENGTH ? input[0][i] : input[0][i] * input[0][i];
}

TEST(portable_kernels_of_any_width_give_the_same_bits)
{
        struct dice dice = {.key = 42};

        fill_inputs(&dice);
        narrowest = &ran_simd_base;
        if (kernels_know("avx512"))
                check_width(&ran_simd_plain16, &dice);
        if (kernels_know("avx2"))
                check_width(&ran_simd_plain8, &dice);
}

TEST(kernels_for_integers_are_the_same_in_any_width)
{
        static const struct ran_kernels *const tables[] = {&ran_simd_alike16, &ran_simd_alike8};
        struct dice dice = {.key = 52};

        fill_inputs(&dice);
        narrowest = &ran_simd_alike4;
        for (size_t t = 0; t < 2; t++) {
                if (!kernels_know(t == 0 ? "avx512" : "avx2"))
                        continue;
                check_width(tables[t], &dice);
                for (size_t i = 0; i < KERNEL_SIZES; i++)
                        if (kernel_size(i) > 0)
                                check_sums(tables[t], kernel_size(i));
        }
}
#endif
