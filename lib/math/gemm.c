/* gemm.c - the matrix product behind one function, and in parts for several threads. */
#include "math/gemm.h"
#include "math/integer.h"
#include "math/kept-panels.h"
#include "math/simd.h"

#include <cblas.h>

#undef I /* cblas.h brings in complex.h; here I is the width of an input */

/* Below this many rows, or this little work, the copies and checks that OpenBLAS makes before it
 * starts cost more than its kernels win. */
enum { BLAS_ROWS = 64, BLAS_WORK = 1 << 21 };

/* Whether a matrix lies row by row. One row or one column has 1 as both strides: OpenBLAS wants to
 * hear of the reading whose rows do not overlap. */
static bool by_rows(size_t row_stride, size_t column_stride, size_t columns)
{
        return column_stride == 1 && row_stride >= columns;
}

bool ran_gemm_rows_stand_alone(void)
{
        return ran_simd != &ran_simd_base;
}

static void gemm(float *c, size_t ldc, const float *a, size_t ras, size_t cas, const float *b,
                 size_t rbs, size_t cbs, const float *bias, size_t M, size_t N, size_t K, bool add)
{
        bool a_rows = by_rows(ras, cas, K), b_rows = by_rows(rbs, cbs, N);

        /* With wide vectors our product is as fast as OpenBLAS's best kernels for these shapes, and
         * OpenBLAS takes a processor that it has never heard of for an old one, at a third of the
         * rate. Elsewhere it knows more of the processor than we do. */
        if (ran_gemm_rows_stand_alone() || M < BLAS_ROWS || M * N * K < BLAS_WORK) {
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
        gemm(c, ldc, a, ras, cas, b, rbs, cbs, NULL, M, N, K, add);
}

/* ---- shared out ----------------------------------------------------------------------------- */

/* C (M,N) = A (M,K) B (K,N) in down x across parts, as in ran_gemm. */
struct product {
        float *c;
        const float *a, *b;
        size_t ldc, ras, cas, rbs, cbs, M, N, K;
        bool add;
        const float *bias;        /* (N), added to each row; NULL: none */
        struct ran_panels panels; /* of B, which else lies at b */
        float *sums; /* (M), += the sums of A's rows, which lie across; NULL: not wanted */
        size_t down, across;
};

/* Rows and columns that one part has at most, and how many parts are enough: more of them copy B
 * more often. The parts of a product are even, or all would wait for the thread with the largest.
 */
enum { BLOCK = 512, PARTS = 16, WORTH_PARTING = 1 << 22 };

static void part(struct product *p)
{
        size_t rows = (p->M + BLOCK - 1) / BLOCK;

        p->across = (p->N + BLOCK - 1) / BLOCK;
        p->down = ran_least(rows, (PARTS + p->across - 1) / (p->across > 0 ? p->across : 1));
        if (p->down == 1 && p->across == 1 && p->M * p->N * p->K >= WORTH_PARTING) {
                p->down += p->M >= p->N;
                p->across += p->M < p->N;
        }
}

/* With B in panels, nothing is copied more often in smaller parts; but a thread that is alone stays
 * with rows of A and C while the panels pass, not with a part of them. */
enum { LEAST_ROWS = 112, LEAST_COLUMNS = 4 * RAN_PANEL_COLUMNS };
/* Whole tiles (simd-gemm.c), or nearly so. */
enum { TILES = 28 };

static void part_paneled(struct product *p, size_t threads)
{
        p->down = p->across = 1;
        if (threads == 1)
                return;
        /* each part across rounds the rows to integers for itself */
        p->down = p->panels.integers != NULL ? ran_most(1, p->M / TILES)
                                             : (p->M + LEAST_ROWS - 1) / LEAST_ROWS;
        p->down = ran_least(PARTS, p->down);
        if (p->panels.floats != NULL || p->down < threads)
                p->across = ran_least(PARTS / p->down, (p->N + LEAST_COLUMNS - 1) / LEAST_COLUMNS);
}

/* Where part i of n begins: at a multiple of `whole`. */
static size_t begin_at(size_t n, size_t parts, size_t i, size_t whole)
{
        return i < parts ? n * i / parts / whole * whole : n;
}

static size_t begin(size_t n, size_t parts, size_t i)
{
        return begin_at(n, parts, i, 16); /* whole vectors */
}

static bool has_panels(const struct product *p)
{
        return p->panels.floats != NULL || p->panels.integers != NULL;
}

static void multiply_paneled(const struct product *p, size_t i)
{
        const size_t down = i / p->across, across = i % p->across;
        const size_t i0 = begin_at(p->M, p->down, down, TILES);
        const size_t end = begin_at(p->M, p->down, down + 1, TILES);
        const size_t j0 = begin_at(p->N, p->across, across, RAN_PANEL_COLUMNS);
        const size_t j1 = begin_at(p->N, p->across, across + 1, RAN_PANEL_COLUMNS);

        if (p->panels.integers != NULL)
                ran_integer->multiply(p->c + i0 * p->ldc, p->ldc, p->a + i0 * p->ras, p->ras,
                                      p->panels.integers, p->bias, end - i0, p->N, p->K, j0,
                                      j1 - j0);
        else
                ran_simd->gemm_paneled(p->c + i0 * p->ldc, p->ldc, p->a + i0 * p->ras, p->ras,
                                       p->panels.floats, p->bias, end - i0, p->N, p->K, j0,
                                       j1 - j0);
}

static void multiply_part(const struct product *p, size_t i)
{
        size_t down = i / p->across, across = i % p->across;
        size_t i0 = begin(p->M, p->down, down), rows = begin(p->M, p->down, down + 1) - i0;
        size_t j0 = begin(p->N, p->across, across), cols = begin(p->N, p->across, across + 1) - j0;
        float *c = p->c + i0 * p->ldc + j0;

        gemm(c, p->ldc, p->a + i0 * p->ras, p->ras, p->cas, p->b + j0 * p->cbs, p->rbs, p->cbs,
             p->bias != NULL ? p->bias + j0 : NULL, rows, cols, p->K, p->add);
        if (p->sums != NULL && across == 0)
                ran_simd->bias_bwd(p->sums + i0, p->a + i0 * p->ras, p->cas, p->K, rows);
}

/* Products that do not wait for each other. */
struct products {
        const struct product *item[2];
};

static void run_part(void *arg, size_t i)
{
        const struct products *k = arg;
        size_t first = k->item[0]->down * k->item[0]->across;

        if (i < first)
                (has_panels(k->item[0]) ? multiply_paneled : multiply_part)(k->item[0], i);
        else
                multiply_part(k->item[1], i - first);
}

static void multiply(struct ran_pool *pool, const struct product *p, const struct product *q)
{
        struct products k = {{p, q}};

        ran_parallel(pool, p->down * p->across + q->down * q->across, run_part, &k);
}

void ran_gemm_linear_kept(struct ran_pool *pool, struct ran_kept_panels *kept, float *y, size_t ldy,
                          const float *x, size_t ldx, const float *w, const float *b, size_t N,
                          size_t I, size_t O)
{
        const struct product none = {0};
        struct product p = {.c = y,
                            .ldc = ldy,
                            .a = x,
                            .ras = ldx,
                            .cas = 1,
                            .b = w,
                            .rbs = 1,
                            .cbs = I,
                            .M = N,
                            .N = O,
                            .K = I,
                            .bias = b};

        if (N == 0)
                return;
        const bool floats = N > RAN_FEW_ROWS && ran_gemm_rows_stand_alone();
        if (kept != NULL && I > 0 && (floats || ran_kept_panels_hold_integers(kept)))
                p.panels = ran_kept_panels_of(kept, w, O, I);
        if (!floats)
                p.panels.floats = NULL;
        if (has_panels(&p))
                part_paneled(&p, pool != NULL ? ran_pool_threads(pool) : 1);
        else
                part(&p);
        multiply(pool, &p, &none);
}

void ran_gemm_linear(struct ran_pool *pool, float *y, size_t ldy, const float *x, size_t ldx,
                     const float *w, const float *b, size_t N, size_t I, size_t O)
{
        ran_gemm_linear_kept(pool, NULL, y, ldy, x, ldx, w, b, N, I, O);
}

void ran_gemm_linear_alone(struct ran_pool *pool, struct ran_kept_panels *kept, float *y,
                           size_t ldy, const float *x, size_t ldx, const float *w, const float *b,
                           size_t N, size_t I, size_t O)
{
        const bool integers = kept != NULL && ran_kept_panels_hold_integers(kept) &&
                              ran_kept_panels_of(kept, w, O, I).integers != NULL;
        const size_t most = integers ? N : RAN_FEW_ROWS;

        for (size_t n = 0; n < N; n += most)
                ran_gemm_linear_kept(pool, kept, y + n * ldy, ldy, x + n * ldx, ldx, w, b,
                                     ran_least(most, N - n), I, O);
}

void ran_gemm_linear_bwd(struct ran_pool *pool, float *dx, size_t lddx, bool add, float *dw,
                         float *db, const float *dy, size_t lddy, const float *x, size_t ldx,
                         const float *w, size_t N, size_t I, size_t O)
{
        struct product weights = {.c = dw,
                                  .ldc = I,
                                  .a = dy,
                                  .ras = 1,
                                  .cas = lddy,
                                  .b = x,
                                  .rbs = ldx,
                                  .cbs = 1,
                                  .M = dw != NULL ? O : 0,
                                  .N = dw != NULL ? I : 0,
                                  .K = N,
                                  .add = true,
                                  .sums = db};
        struct product input = {.c = dx,
                                .ldc = lddx,
                                .a = dy,
                                .ras = lddy,
                                .cas = 1,
                                .b = w,
                                .rbs = I,
                                .cbs = 1,
                                .M = dx != NULL ? N : 0,
                                .N = dx != NULL ? I : 0,
                                .K = O,
                                .add = add};

        part(&weights);
        part(&input);
        multiply(pool, &weights, &input);
}
