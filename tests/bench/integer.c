/* integer.c - products of rows in eight bits, of each kind that this processor runs: how much of
 * its peak they reach, rows being rounded included, and how they stand beside the same in floats.
 *
 *   integer [-o FILE] [seconds a measurement]
 *
 * -o: the figures, a JSON line each. The peak is that of the kind's own instruction on registers,
 * on one thread; "Gop/s" counts a multiplication and an addition as two.
 */
#include "bench.h"
#include "math/integer.h"
#include "math/panels.h"
#include "math/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the peak -------------------------------------------------------------------------------- */

/* Sums that do not wait for each other; steps of a loop. */
enum { SUMS = 12, STEPS = 1 << 16 };

#ifdef RAN_HAVE_X86
/* An instruction (or two, by way of register 12) on each of twelve registers. */
#define ON_EACH(one) \
        one(0) one(1) one(2) one(3) one(4) one(5) one(6) one(7) one(8) one(9) one(10) one(11)
#define LOOP(name, what)                                                                           \
        static __attribute__((target("avx512f"))) void name(void)                                  \
        {                                                                                          \
                for (int i = 0; i < STEPS; i++)                                                    \
                        __asm__ volatile(ON_EACH(what)::                                           \
                                                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", \
                                                   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",        \
                                                   "xmm11", "xmm12", "xmm13", "xmm14");            \
        }
#define DOT512(i) "vpdpbusd %%zmm13, %%zmm14, %%zmm" #i "\n\t"
#define DOT256(i) "%{vex%} vpdpbusd %%ymm13, %%ymm14, %%ymm" #i "\n\t"
#define PAIR512(i) \
        "vpmaddwd %%zmm13, %%zmm14, %%zmm12\n\tvpaddd %%zmm12, %%zmm" #i ", %%zmm" #i "\n\t"
#define PAIR256(i) \
        "vpmaddwd %%ymm13, %%ymm14, %%ymm12\n\tvpaddd %%ymm12, %%ymm" #i ", %%ymm" #i "\n\t"
LOOP(dot512, DOT512)
LOOP(dot256, DOT256)
LOOP(pair512, PAIR512)
LOOP(pair256, PAIR256)

static const struct {
        const struct ran_integer *kernels;
        void (*loop)(void);
        double products; /* of an instruction */
} peaks[] = {
        {&ran_integer_avx512vnni, dot512, 64},
        {&ran_integer_avxvnni, dot256, 32},
        {&ran_integer_avx512, pair512, 32},
        {&ran_integer_avx2, pair256, 16},
};

/* Operations a second; 0 where it is not known. */
static double peak_of(const struct ran_integer *kernels, double seconds)
{
        double best = 0;

        for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
                for (double end = bench_clock(1) + seconds;
                     peaks[i].kernels == kernels && bench_clock(1) < end;) {
                        const double begin = bench_clock(1);

                        peaks[i].loop();
                        best = fmax(best, 2 * peaks[i].products * SUMS * STEPS /
                                                  (bench_clock(1) - begin));
                }
        return best;
}
#else
static double peak_of(const struct ran_integer *kernels, double seconds)
{
        (void)kernels, (void)seconds;
        return 0;
}
#endif

/* ---- products -------------------------------------------------------------------------------- */

struct work {
        const struct ran_integer *kernels; /* NULL: floats */
        float *y, *a, *w, *panels;
        size_t M, N, K;
};

static void run(const struct work *k)
{
        if (k->kernels != NULL)
                k->kernels->multiply(k->y, k->N, k->a, k->K, k->panels, NULL, k->M, k->N, k->K, 0,
                                     k->N);
        else
                ran_simd->gemm_paneled(k->y, k->N, k->a, k->K, k->panels, NULL, k->M, k->N, k->K, 0,
                                       k->N);
}

static float *floats(size_t n)
{
        float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);

        if (x == NULL)
                exit(3);
        for (size_t i = 0; i < n; i++)
                x[i] = (float)((i * 2654435761u >> 8 & 65535) / 32768.0 - 1);
        return x;
}

/* Operations a second: those of the quickest run, for the machine has other work. A run is long
 * enough for the clock. */
static double rate(const struct ran_integer *kernels, size_t M, size_t N, size_t K, double seconds)
{
        const size_t n = kernels != NULL ? kernels->panels(NULL, NULL, N, K) / sizeof(float)
                                         : ran_simd->gemm_panels(NULL, NULL, N, K);
        struct work k = {kernels, floats(M * N), floats(M * K), floats(N * K), floats(n), M, N, K};
        const size_t times = 1 + (1 << 27) / (M * N * K);
        double best = 0;

        if (kernels != NULL)
                kernels->panels(k.panels, k.w, N, K);
        else
                ran_simd->gemm_panels(k.panels, k.w, N, K);
        for (double end = bench_clock(1) + seconds; bench_clock(1) < end;) {
                const double begin = bench_clock(1);

                for (size_t i = 0; i < times; i++)
                        run(&k);
                best = fmax(best, 2.0 * (double)(times * M * N * K) / (bench_clock(1) - begin));
        }
        free(k.y);
        free(k.a);
        free(k.w);
        free(k.panels);
        return best;
}

/* Those of the base model and of MiniLM. */
static const struct {
        size_t N, K;
} shapes[] = {{768, 256}, {768, 384}, {256, 384}, {1152, 384}, {1536, 384}, {384, 1536}};
static const size_t rows[] = {20, 300, 5000};

int main(int argc, char **argv)
{
        FILE *json = bench_begin(&argc, &argv);
        const double seconds = bench_argument(argc, argv, 0, 0.2);

        bench_machine(json, 1);
        printf("%-14s %5s %5s %5s %9s %7s %10s\n", "", "rows", "N", "K", "Gop/s", "of peak",
               "of floats");
        for (size_t i = 0; ran_integer_all[i] != NULL; i++) {
                const struct ran_integer *kernels = ran_integer_all[i];
                const double peak = peak_of(kernels, seconds);

                for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
                        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
                                const size_t M = rows[r], N = shapes[s].N, K = shapes[s].K;
                                const double ours = rate(kernels, M, N, K, seconds);
                                const double theirs = rate(NULL, M, N, K, seconds);
                                const double share = peak > 0 ? 100 * ours / peak : 0;

                                printf("%-14s %5zu %5zu %5zu %9.1f %6.0f%% %9.2fx\n", kernels->name,
                                       M, N, K, 1e-9 * ours, share, ours / theirs);
                                if (json != NULL)
                                        fprintf(json,
                                                "{\"kernels\":\"%s\",\"rows\":%zu,\"N\":%zu,"
                                                "\"K\":%zu,\"gops\":%.2f,\"peak_gops\":%.2f,"
                                                "\"float_gflops\":%.2f}\n",
                                                kernels->name, M, N, K, 1e-9 * ours, 1e-9 * peak,
                                                1e-9 * theirs);
                        }
        }
        bench_end(json);
}
