/* sparse.c - what attention over a pattern costs, forward and backward, by the length of the text:
 * seconds for one head among four, by one thread, nanoseconds a score, and how full attention
 * compares.
 *
 *   sparse [longest text [width of a head [window [0: rows of all heads as they come]]]]
 */
#include "model/sparse.h"

#include <stdlib.h>
#include <time.h>

enum { HEADS = 4 };

static double now(void)
{
        struct timespec t;

        /* of this process: whatever else is going on */
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *random_floats(size_t n, double scale)
{
        struct ran_error err;
        float *x = ran_alloc_floats(n, &err);
        uint64_t key = ran_key(1, n, 0, 0);

        if (x == NULL) {
                fprintf(stderr, "sparse: %s\n", err.text);
                exit(3);
        }
        for (size_t i = 0; i < n; i++)
                x[i] = (float)(scale * (ran_uniform(key, i) - 0.5));
        return x;
}

struct arrays {
        struct ran_mask mask[HEADS];
        struct ran_sparse x;
        float *da, *dqkv, *delta, *scratch;
};

static void each_block(const struct arrays *a, int what)
{
        size_t L = a->x.L;

        for (size_t i = 0; i < L; i += RAN_SPARSE_BLOCK) {
                size_t end = i + RAN_SPARSE_BLOCK < L ? i + RAN_SPARSE_BLOCK : L;

                if (what == 0)
                        ran_sparse_queries(&a->x, 1, i, end, a->scratch);
                else if (what == 1)
                        ran_sparse_queries_bwd(a->dqkv, a->delta, a->da, &a->x, 1, i, end,
                                               a->scratch);
                else
                        ran_sparse_keys_bwd(a->dqkv, a->delta, a->da, &a->x, 1, i, end, a->scratch);
        }
}

/* Seconds of one pass; the best of some, so that the length of a run does not matter much. */
static double time_of(const struct arrays *a, int what)
{
        double best = 1e9, start = now();

        for (int run = 0; run < 5 && (run == 0 || now() - start < 2); run++) {
                double begin = now();

                each_block(a, what);
                best = now() - begin < best ? now() - begin : best;
        }
        return best;
}

static void measure(int pattern, size_t window, size_t L, size_t d, bool pack, double seconds[2])
{
        size_t E = HEADS * d;
        struct ran_error err;
        struct arrays a = {.da = random_floats(L * E, 2),
                           .dqkv = random_floats(L * 3 * E, 0),
                           .delta = random_floats(L * HEADS, 0),
                           .scratch = random_floats(ran_sparse_floats(d), 0)};
        float *qkv = random_floats(L * 3 * E, 4), *out = random_floats(L * E, 0),
              *log_sum = random_floats(L * HEADS, 0), *packed = random_floats(L * 3 * E, 0),
              *packed_da = random_floats(L * E, 0);
        double scores;

        for (size_t j = 0; j < HEADS; j++)
                if (ran_mask_init(&a.mask[j], pattern, window, 1, RAN_MASK_NONE, L, 0, &err) !=
                    RAN_OK)
                        exit(3);
        a.x = (struct ran_sparse){.mask = a.mask,
                                  .L = L,
                                  .h = HEADS,
                                  .d = d,
                                  .qkv = qkv,
                                  .a = out,
                                  .log_sum = log_sum};
        if (pack) {
                ran_sparse_pack(packed, qkv, L, 3 * HEADS, d, 0, L);
                ran_sparse_pack(packed_da, a.da, L, HEADS, d, 0, L);
                a.x.packed = packed;
                a.x.packed_da = packed_da;
        }
        scores = (double)ran_mask_count(a.mask, 0, L, 0, L);
        double forward = time_of(&a, 0), backward = time_of(&a, 1) + time_of(&a, 2);
        printf("%7zu  %-9s  %12.0f  %9.4f s %6.2f ns  %9.4f s %6.2f ns", L,
               ran_attention_names[pattern], scores, forward, 1e9 * forward / scores, backward,
               1e9 * backward / scores);
        if (pattern == RAN_ATTENTION_FULL)
                printf("\n");
        else
                printf("  %6.1f x %6.1f x\n", seconds[0] / forward, seconds[1] / backward);
        if (pattern == RAN_ATTENTION_FULL) {
                seconds[0] = forward;
                seconds[1] = backward;
        }
        free(qkv);
        free(out);
        free(log_sum);
        free(packed);
        free(packed_da);
        free(a.da);
        free(a.dqkv);
        free(a.delta);
        free(a.scratch);
}

static size_t argument(int argc, char **argv, int i, size_t otherwise)
{
        return argc > i ? strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
        static const int patterns[] = {RAN_ATTENTION_FULL, RAN_ATTENTION_WINDOW,
                                       RAN_ATTENTION_DISPERSED};
        size_t longest = argument(argc, argv, 1, 16384), d = argument(argc, argv, 2, 32),
               window = argument(argc, argv, 3, 256);
        bool pack = argument(argc, argv, 4, 1) != 0;

        printf("attention, d %zu, window %zu, kernels %s\n", d, window, ran_isa());
        printf("%7s  %-9s  %12s  %21s  %21s  %s\n", "tokens", "pattern", "scores", "forward",
               "backward", "times faster than full");
        for (size_t L = 1024; L <= longest; L *= 4) {
                double seconds[2];

                for (size_t i = 0; i < 3; i++)
                        measure(patterns[i], window, L, d, pack, seconds);
        }
        return 0;
}
