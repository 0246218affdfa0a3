/* sparse.c - what attention over a pattern costs, by the length of the text: one thread's seconds,
 * medians, and how full attention compares.
 *
 *   attention   one head among four, forward and backward, and nanoseconds a score
 *   layer       a Transformer of one layer (four heads, the widths as by default): a pass forward,
 *               and a step of training, forward and backward
 *
 *   memory      most that the process had while it trained
 *
 *   sparse [-o FILE] [longest text [width of a head [window]]]
 *
 * -o: the figures, a JSON line each.
 */
#include "bench.h"
#include "nn/part.h"
#include "nn/sparse.h"

#include <stdlib.h>
#include <string.h>

enum { HEADS = 4, RUNS = 5 };
static const double ENOUGH = 2; /* seconds, after which there is no further run */

static void check(bool ok, const struct ran_error *err)
{
        bench_check(ok ? RAN_OK : RAN_ENOMEM, err);
}

/* Median of some runs, fewer when they are long. */
static double time_of(void (*run)(void *arg), void *arg)
{
        double seconds[RUNS], start = bench_cpu();
        int n = 0;

        while (n < RUNS && (n == 0 || bench_cpu() - start < ENOUGH)) {
                double begin = bench_cpu();

                run(arg);
                seconds[n++] = bench_cpu() - begin;
        }
        return bench_median(seconds, (size_t)n);
}

static float *random_floats(size_t n, double scale)
{
        struct ran_error err = {0};
        float *x = ran_alloc_floats(n, &err);
        uint64_t key = ran_random_key(1, n, 0, 0);

        check(x != NULL, &err);
        for (size_t i = 0; i < n; i++)
                x[i] = (float)(scale * (ran_random_uniform(key, i) - 0.5));
        return x;
}

/* What is measured, and how much it takes. */
struct cost {
        size_t tokens, d, window;
        int pattern;
        double scores, forward, backward, layer, training, bytes;
};

/* ---- attention ------------------------------------------------------------------------------ */

struct arrays {
        struct ran_mask mask[HEADS];
        struct ran_sparse x;
        float *dqkv, *delta, *scratch;
        int what;
};

static void each_block(void *arg)
{
        const struct arrays *a = arg;
        size_t L = a->x.L;

        for (size_t i = 0; i < L; i += RAN_SPARSE_BLOCK) {
                size_t end = i + RAN_SPARSE_BLOCK < L ? i + RAN_SPARSE_BLOCK : L;

                if (a->what == 0)
                        ran_sparse_queries(&a->x, 1, i, end, a->scratch);
                else if (a->what == 1)
                        ran_sparse_queries_bwd(a->dqkv, a->delta, &a->x, 1, i, end, a->scratch);
                else
                        ran_sparse_keys_bwd(a->dqkv, a->delta, &a->x, 1, i, end, a->scratch);
        }
}

static void measure_attention(void *arg)
{
        struct cost *c = arg;
        size_t L = c->tokens, E = HEADS * c->d;
        struct ran_error err = {0};
        struct arrays a = {.dqkv = random_floats(L * 3 * E, 0),
                           .delta = random_floats(L * HEADS, 0),
                           .scratch = random_floats(ran_sparse_floats(c->d), 0)};
        float *qkv = random_floats(L * 3 * E, 4), *da = random_floats(L * E, 2),
              *out = random_floats(L * E, 0), *log_sum = random_floats(L * HEADS, 0);

        for (size_t j = 0; j < HEADS; j++)
                check(ran_mask_init(&a.mask[j], c->pattern, c->window, 1, RAN_MASK_NONE, L, 0,
                                    &err) == RAN_OK,
                      &err);
        a.x = (struct ran_sparse){.mask = a.mask,
                                  .L = L,
                                  .h = HEADS,
                                  .d_k = c->d,
                                  .qkv = qkv,
                                  .da = da,
                                  .a = out,
                                  .log_sum = log_sum};
        c->scores = (double)ran_mask_count(a.mask, 0, L, 0, L);
        c->forward = time_of(each_block, &a);
        a.what = 1;
        c->backward = time_of(each_block, &a);
        a.what = 2;
        c->backward += time_of(each_block, &a);
        free(qkv);
        free(da);
        free(out);
        free(log_sum);
        free(a.dqkv);
        free(a.delta);
        free(a.scratch);
}

/* ---- a layer -------------------------------------------------------------------------------- */

enum { V = 1000 };

struct model {
        struct ran_config c;
        struct ran_params p, dp;
        struct ran_packed rows;
        struct ran_workspace work;
        bool trains;
};

static void encode(void *arg)
{
        struct model *m = arg;

        ran_encode(&m->work, &m->p);
        if (!m->trains)
                return;
        memset(m->work.dx, 0, m->rows.L * m->c.dim * sizeof(float));
        m->work.dx[0] = 1;
        ran_encode_bwd(&m->work, &m->p, &m->dp);
}

static double measure_layer(struct model *m, bool trains)
{
        struct ran_error err = {0};
        double seconds;

        m->trains = trains;
        ran_workspace_init(&m->work, &m->c, trains, NULL);
        check(ran_workspace_fit(&m->work, &m->rows, 2, &err) == RAN_OK, &err);
        seconds = time_of(encode, m);
        ran_workspace_release(&m->work);
        return seconds;
}

static void measure_layers(void *arg)
{
        struct cost *cost = arg;
        struct ran_error err = {0};
        struct model m = {.p.embed = NULL};
        struct ran_layout layout;
        uint32_t *ids = ran_alloc(cost->tokens, sizeof *ids, &err);

        check(ids != NULL, &err);
        for (size_t t = 0; t < cost->tokens; t++)
                ids[t] = (uint32_t)(ran_random_draw(3, t) % V);
        check(ran_fields_init(ran_config_fields, &m.c, &err) == RAN_OK, &err);
        m.c.encoder = RAN_ENCODER_TRANSFORMER;
        m.c.layers = 1;
        m.c.heads = HEADS;
        m.c.head_dim = cost->d;
        m.c.window = cost->window;
        m.c.transformer.attention.item[0] = (unsigned char)cost->pattern;
        check(ran_layout_init(&layout, &m.c, 2, &err) == RAN_OK, &err);
        check(ran_params_init(&m.p, &m.c, 2, &err) == RAN_OK, &err);
        check(ran_params_init(&m.dp, &m.c, 2, &err) == RAN_OK, &err);
        for (size_t i = 0; i < layout.n; i++)
                ran_tensor_init(m.p.block + layout.spec[i].offset, &layout.spec[i], 1);
        m.p.embed = random_floats(V * m.c.dim, 0.1);
        ran_packed_add(&m.rows, &m.c, ids, cost->tokens, 0);
        cost->layer = measure_layer(&m, false);
        cost->training = measure_layer(&m, true);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void print(const struct cost *c, const struct cost *full, FILE *json)
{
        printf("%7zu %-9s %12.0f  %9.4f %5.2f %5.1fx  %9.4f %5.2f %5.1fx  %9.4f %5.1fx  %9.4f "
               "%5.1fx  %7.1f\n",
               c->tokens, ran_attention_names[c->pattern], c->scores, c->forward,
               1e9 * c->forward / c->scores, full->forward / c->forward, c->backward,
               1e9 * c->backward / c->scores, full->backward / c->backward, c->layer,
               full->layer / c->layer, c->training, full->training / c->training, 1e-6 * c->bytes);
        fflush(stdout);
        if (json != NULL)
                fprintf(json,
                        "{\"tokens\":%zu,\"pattern\":\"%s\",\"window\":%zu,\"head_dim\":%zu,"
                        "\"scores\":%.0f,\"forward_seconds\":%.5f,\"backward_seconds\":%.5f,"
                        "\"layer_forward_seconds\":%.5f,\"layer_training_seconds\":%.5f,"
                        "\"peak_bytes\":%.0f}\n",
                        c->tokens, ran_attention_names[c->pattern], c->window, c->d, c->scores,
                        c->forward, c->backward, c->layer, c->training, c->bytes);
}

int main(int argc, char **argv)
{
        static const int patterns[] = {RAN_ATTENTION_FULL, RAN_ATTENTION_WINDOW,
                                       RAN_ATTENTION_DISPERSED};
        FILE *json = bench_begin(&argc, &argv);
        size_t longest = (size_t)bench_argument(argc, argv, 0, 16384),
               d = (size_t)bench_argument(argc, argv, 1, 32),
               window = (size_t)bench_argument(argc, argv, 2, 64);

        bench_machine(json, 1);
        printf("attention, d %zu, window %zu, kernels %s; times as fast as full attention\n", d,
               window, ran_isa());
        printf("%7s %-9s %12s  %22s  %22s  %16s  %16s  %7s\n", "tokens", "pattern", "scores",
               "forward s, ns, times", "backward s, ns, times", "layer s, times",
               "training s, times", "MB");
        for (size_t L = 1024; L <= longest; L *= 4) {
                struct cost full, cost;

                for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
                        cost = (struct cost){
                                .tokens = L, .d = d, .window = window, .pattern = patterns[i]};
                        bench_in_child(measure_attention, &cost, sizeof cost);
                        cost.bytes = bench_in_child(measure_layers, &cost, sizeof cost);
                        full = i == 0 ? cost : full;
                        print(&cost, &full, json);
                }
        }
        bench_end(json);
}
