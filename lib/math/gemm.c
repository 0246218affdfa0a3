/* gemm.c - choice of instruction set, and the matrix product behind one function. */
#include "math/gemm.h"
#include "math/simd.h"

#include <cblas.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#undef I /* cblas.h brings in complex.h; here I is the width of an input */

#ifdef RAN_HAVE_X86
extern const struct ran_simd ran_simd_avx512, ran_simd_avx2, ran_simd_plain16, ran_simd_plain8;
#endif
extern const struct ran_simd ran_simd_base;

const struct ran_simd *ran_simd = &ran_simd_base;
static const char *refused;
static char names[sizeof "avx512, avx2, base, portable"]; /* those that run here */
static bool no_blas;                                      /* see choose() */

/* What base computes, without OpenBLAS: plain multiplications and additions in a fixed order, which
 * IEEE 754 defines to the last bit. So the results are the same on every processor, as long as the
 * compiler rounds each of them to float or double. */
static struct ran_simd portable;
#if FLT_EVAL_METHOD == 0 && !defined(__FAST_MATH__)
enum { PORTABLE = true };
#else
enum { PORTABLE = false };
#endif

/* What RAN_ISA may name, the best first; nobody gets the last one unasked. */
static const struct ran_simd *const tables[] = {
#ifdef RAN_HAVE_X86
        &ran_simd_avx512,
        &ran_simd_avx2,
#endif
        &ran_simd_base,
        &portable,
};
enum { TABLES = sizeof tables / sizeof *tables };

static bool runs(const struct ran_simd *table)
{
#ifdef RAN_HAVE_X86
        if (table == &ran_simd_avx512)
                return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
        if (table == &ran_simd_avx2)
                return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
        return table == &ran_simd_base || PORTABLE;
}

/* The kernels of base, in wider vectors where the processor has them: only sums within a vector
 * depend on its width. */
static const struct ran_simd *wide = &ran_simd_base;

static void portable_gemm(float *c, size_t ldc, const float *a, size_t ras, size_t cas,
                          const float *b, size_t rbs, size_t cbs, const float *bias, size_t M,
                          size_t N, size_t K, bool add)
{
        (M > RAN_FEW_ROWS ? wide : &ran_simd_base)
                ->gemm(c, ldc, a, ras, cas, b, rbs, cbs, bias, M, N, K, add);
}

static void make_portable(void)
{
#ifdef RAN_HAVE_X86
        wide = runs(&ran_simd_avx512) ? &ran_simd_plain16
               : runs(&ran_simd_avx2) ? &ran_simd_plain8
                                      : &ran_simd_base;
#endif
        portable = ran_simd_base;
        portable.name = "portable";
        portable.gemm = portable_gemm;
        portable.bias = wide->bias;
        portable.bias_bwd = wide->bias_bwd;
        portable.silu = wide->silu;
        portable.silu_bwd = wide->silu_bwd;
        portable.gelu = wide->gelu;
        portable.gelu_bwd = wide->gelu_bwd;
        portable.glu_add = wide->glu_add;
        portable.glu_bwd = wide->glu_bwd;
        portable.pull = wide->pull;
        portable.pull_apart = wide->pull_apart;
        portable.raise = wide->raise;
        portable.soften = wide->soften;
        portable.soften_bwd = wide->soften_bwd;
        portable.rotary = wide->rotary;
        portable.add = wide->add;
        portable.axpy = wide->axpy;
        portable.mul = wide->mul;
        portable.mul_add = wide->mul_add;
        portable.dropout = wide->dropout;
        portable.adam = wide->adam;
}

__attribute__((constructor)) static void choose(void)
{
        const char *want = getenv("RAN_ISA"), *core;

#ifdef RAN_HAVE_X86
        __builtin_cpu_init();
#endif
        make_portable();
        if (want != NULL && *want == '\0')
                want = NULL;
        refused = want;
        for (size_t i = 0; i < TABLES; i++)
                if (runs(tables[i]))
                        strcat(strcat(names, *names != '\0' ? ", " : ""), tables[i]->name);
        for (size_t i = TABLES; i-- > 0;)
                if (runs(tables[i]) &&
                    (want == NULL ? tables[i] != &portable : strcmp(want, tables[i]->name) == 0)) {
                        ran_simd = tables[i];
                        refused = NULL;
                }
        /* Threads are ours: OpenBLAS must not add any of its own. */
        openblas_set_num_threads(1);
        /* OpenBLAS picks its kernels by the processor's model and takes one that it has never heard
         * of for an old one: 0.3.21 runs a Zen 4 or 5 as a Haswell, at half the rate. Where its
         * vectors are narrower than ours, large products go to our kernel too. */
        core = openblas_get_corename();
        no_blas = ran_simd == &portable ||
                  (ran_simd->lanes == 16 && strcmp(core, "SkylakeX") != 0 &&
                   strcmp(core, "Cooperlake") != 0 && strcmp(core, "SapphireRapids") != 0 &&
                   strcmp(core, "Zen4") != 0);
}

const char *ran_isa(void)
{
        return ran_simd->name;
}

const char *ran_isa_refused(const char **known)
{
        *known = names;
        return refused;
}

/* Below this many rows, or this little work, the copies and checks that OpenBLAS makes before it
 * starts cost more than its kernels win. */
enum { BLAS_ROWS = 64, BLAS_WORK = 1 << 21 };

/* Whether a matrix lies row by row. One row or one column has 1 as both strides: OpenBLAS wants to
 * hear of the reading whose rows do not overlap. */
static bool by_rows(size_t row_stride, size_t column_stride, size_t columns)
{
        return column_stride == 1 && row_stride >= columns;
}

static void product(float *c, size_t ldc, const float *a, size_t ras, size_t cas, const float *b,
                    size_t rbs, size_t cbs, const float *bias, size_t M, size_t N, size_t K,
                    bool add)
{
        bool a_rows = by_rows(ras, cas, K), b_rows = by_rows(rbs, cbs, N);

        if (no_blas || M < BLAS_ROWS || M * N * K < BLAS_WORK) {
                ran_simd->gemm(c, ldc, a, ras, cas, b, rbs, cbs, bias, M, N, K, add);
                return;
        }
        cblas_sgemm(CblasRowMajor, a_rows ? CblasNoTrans : CblasTrans,
                    b_rows ? CblasNoTrans : CblasTrans, (blasint)M, (blasint)N, (blasint)K, 1.0f, a,
                    (blasint)(a_rows ? ras : cas), b, (blasint)(b_rows ? rbs : cbs),
                    add ? 1.0f : 0.0f, c, (blasint)ldc);
        if (bias != NULL)
                ran_simd->bias(c, ldc, bias, M, N);
}

void ran_gemm(float *c, size_t ldc, const float *a, size_t ras, size_t cas, const float *b,
              size_t rbs, size_t cbs, size_t M, size_t N, size_t K, bool add)
{
        product(c, ldc, a, ras, cas, b, rbs, cbs, NULL, M, N, K, add);
}

struct linear {
        float *y, *db;
        const float *x, *w, *b;
        size_t ldy, ldx, ldw, N, I, O;
        bool add;
};

/* Rows, or columns of the result, that one task takes: small enough to share out a window, large
 * enough that copying a block of w costs little. */
enum { BLOCK = 504 };

static size_t blocks(size_t n)
{
        return (n + BLOCK - 1) / BLOCK;
}

static size_t block(size_t n, size_t i)
{
        return n - i * BLOCK < BLOCK ? n - i * BLOCK : BLOCK;
}

static void linear_block(void *arg, size_t i)
{
        const struct linear *l = arg;
        size_t n = block(l->N, i), at = i * BLOCK;

        product(l->y + at * l->ldy, l->ldy, l->x + at * l->ldx, l->ldx, 1, l->w, 1, l->I, l->b, n,
                l->O, l->I, false);
}

void ran_linear(struct ran_pool *pool, float *y, size_t ldy, const float *x, size_t ldx,
                const float *w, const float *b, size_t N, size_t I, size_t O)
{
        struct linear l = {
                .y = y, .ldy = ldy, .x = x, .ldx = ldx, .w = w, .b = b, .N = N, .I = I, .O = O};

        ran_parallel(pool, blocks(N), linear_block, &l);
}

/* Rows of dx = dy w: here y is dx and x is dy. */
static void input_block(void *arg, size_t i)
{
        const struct linear *l = arg;
        size_t at = i * BLOCK;

        ran_gemm(l->y + at * l->ldy, l->ldy, l->x + at * l->ldx, l->ldx, 1, l->w, l->I, 1,
                 block(l->N, i), l->I, l->O, l->add);
}

/* Rows of dw += dy^T x: here y is dw, x is dy and w is x. */
static void weight_block(void *arg, size_t i)
{
        const struct linear *l = arg;
        size_t at = i * BLOCK, n = block(l->O, i);

        ran_gemm(l->y + at * l->I, l->I, l->x + at, 1, l->ldx, l->w, l->ldw, 1, n, l->I, l->N,
                 true);
        if (l->db != NULL)
                ran_simd->bias_bwd(l->db + at, l->x + at, l->ldx, l->N, n);
}

void ran_linear_bwd(struct ran_pool *pool, float *dx, size_t lddx, bool add, float *dw, float *db,
                    const float *dy, size_t lddy, const float *x, size_t ldx, const float *w,
                    size_t N, size_t I, size_t O)
{
        if (dx != NULL) {
                struct linear l = {.y = dx,
                                   .ldy = lddx,
                                   .x = dy,
                                   .ldx = lddy,
                                   .w = w,
                                   .N = N,
                                   .I = I,
                                   .O = O,
                                   .add = add};

                ran_parallel(pool, blocks(N), input_block, &l);
        }
        if (dw != NULL) {
                struct linear l = {.y = dw,
                                   .db = db,
                                   .x = dy,
                                   .ldx = lddy,
                                   .w = x,
                                   .ldw = ldx,
                                   .N = N,
                                   .I = I,
                                   .O = O};

                ran_parallel(pool, blocks(O), weight_block, &l);
        }
}
