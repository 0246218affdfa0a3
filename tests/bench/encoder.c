/* encoder.c - how fast a classifier trains and scores, beside what OpenBLAS's sgemm reaches in the
 * same run at the model's own shapes. Medians of several runs on invented documents whose lengths
 * spread as those of news and reviews do.
 *
 *   encoder [threads [seconds a measurement]]
 */
#include "model/score.h"
#include "train/batch.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef I /* of complex.h */

enum { V = 20000, C = 20, RUNS = 5 };

struct shape {
        const char *name;
        size_t dim, heads, head_dim, window, documents, tokens;
};

static const struct shape shapes[] = {
        {"D 128, documents of 300", 128, 4, 32, 256, 32, 300},
        {"D 128, sentences of 22", 128, 4, 32, 256, 128, 22},
        {"D 128, documents of 5000", 128, 4, 32, 256, 4, 5000},
        {"D 300, documents of 300", 300, 8, 128, 256, 16, 300},
};

static double now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int rc, const struct ran_error *err)
{
        if (rc == RAN_OK)
                return;
        fprintf(stderr, "encoder: %s\n", err->text);
        exit(3);
}

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static double median(double *x)
{
        qsort(x, RUNS, sizeof *x, by_value);
        return x[RUNS / 2];
}

/* Lengths log-normal around the shape's (deviation 0.7), ids by a power law. */
static void invent(struct ran_dataset *d, const struct shape *s, struct ran_error *err)
{
        static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                            "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};
        uint64_t key = ran_key(1, 0, 0, 0), at = 0;
        size_t cap = 0;
        uint32_t *ids = NULL, label;

        for (size_t b = 0; b < s->documents; b++) {
                double u = -1.5;

                for (int i = 0; i < 3; i++)
                        u += ran_uniform(key, at++);
                size_t L = (size_t)fmax(1, (double)s->tokens * exp(1.4 * u) * 0.8);

                ids = ran_grow(ids, &cap, L, sizeof *ids, err);
                for (size_t t = 0; ids != NULL && t < L; t++)
                        ids[t] = (uint32_t)(pow(V, ran_uniform(key, at++)) - 1);
                check(ran_dataset_label(d, names[b % C], 1, &label, err), err);
                check(ran_dataset_add(d, ids, L, &label, 1, 1.0, err), err);
        }
        free(ids);
        check(ran_dataset_finish(d, err), err);
}

/* Rate of `threads` single-threaded sgemm at a shard's largest product. */
struct gemm {
        float *a, *b, *c;
        size_t M, N, K;
};

static void multiply(void *arg, size_t i)
{
        const struct gemm *g = arg;

        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)g->M, (int)g->N, (int)g->K, 1,
                    g->a, (int)g->K, g->b, (int)g->K, 0, g->c + i * g->M * g->N, (int)g->N);
}

static double sgemm_rate(struct ran_pool *pool, const struct ran_config *c, double seconds,
                         struct ran_error *err)
{
        size_t threads = ran_pool_threads(pool), E = c->heads * c->head_dim;
        struct gemm g = {.M = 2048, .N = 3 * E + 2 * c->dim, .K = c->dim};
        double rate[RUNS];

        g.a = ran_alloc_floats(g.M * g.K, err);
        g.b = ran_alloc_floats(g.N * g.K, err);
        g.c = ran_alloc_floats(threads * g.M * g.N, err);
        check(g.a && g.b && g.c ? RAN_OK : RAN_ENOMEM, err);
        for (int r = 0; r < RUNS; r++) {
                double start = now(), calls = 0;

                for (; now() - start < seconds; calls++)
                        ran_parallel(pool, threads, multiply, &g);
                rate[r] = calls * (double)threads * 2 * (double)(g.M * g.N * g.K) / (now() - start);
        }
        free(g.a);
        free(g.b);
        free(g.c);
        return median(rate);
}

/* Batches of all documents a second, forward and backward. */
static double train(const struct ran_config *c, const struct ran_params *p,
                    const struct ran_dataset *d, struct ran_pool *pool, double seconds,
                    struct ran_error *err)
{
        struct ran_batcher k;
        double rate[RUNS], loss;
        struct ran_plan plan;
        size_t docs[256];

        for (size_t b = 0; b < d->B; b++)
                docs[b] = b;
        check(ran_plan_init(&plan, c, d, d->B, 0, err), err);
        ran_plan_begin(&plan, docs, d->B);
        ran_plan_next(&plan);
        check(ran_batcher_init(&k, c, p, d->C, d, pool, err), err);
        k.noise = (struct ran_noise){.seed = 1, .dropout = 0.1, .embed_dropout = 0.1};
        for (int r = -1; r < RUNS; r++) { /* the first run warms up */
                double start = now(), calls = 0;

                for (; now() - start < seconds; calls++) {
                        struct ran_grad *g;

                        check(ran_batch_gradient(&k, plan.piece, plan.n, &loss, &g, err), err);
                        ran_tree_give(&k.tree, g);
                }
                if (r >= 0)
                        rate[r] = calls / (now() - start);
        }
        ran_batcher_release(&k);
        ran_plan_release(&plan);
        return median(rate);
}

struct score {
        const struct ran_dataset *d;
        struct ran_state **state;
        size_t threads;
};

static void score_lane(void *arg, size_t lane)
{
        struct score *s = arg;
        float logits[C];
        struct ran_error err = {0};

        for (size_t b = lane; b < s->d->B; b += s->threads) {
                const struct ran_document d = ran_dataset_document(s->d, b);

                check(ran_score(s->state[lane], &d, logits, NULL, &err), &err);
        }
}

static double score(const struct ran_config *c, const struct ran_params *p,
                    const struct ran_dataset *d, struct ran_pool *pool, double seconds,
                    struct ran_error *err)
{
        struct score s = {.d = d, .threads = ran_pool_threads(pool)};
        double rate[RUNS];

        s.state = ran_alloc(s.threads, sizeof *s.state, err);
        for (size_t i = 0; i < s.threads; i++)
                s.state[i] = ran_scorer_new(c, p, d->C, pool, err);
        for (int r = -1; r < RUNS; r++) {
                double start = now(), calls = 0;

                for (; now() - start < seconds; calls++)
                        ran_parallel(pool, s.threads, score_lane, &s);
                if (r >= 0)
                        rate[r] = calls / (now() - start);
        }
        for (size_t i = 0; i < s.threads; i++)
                ran_state_free(s.state[i]);
        free(s.state);
        return median(rate);
}

static void measure(const struct shape *s, struct ran_pool *pool, double seconds)
{
        struct ran_error err = {0};
        struct ran_dataset d = {0};
        struct ran_config c;
        struct ran_layout layout;
        struct ran_params p;
        struct ran_train_settings settings = {.epochs = 1, .batch = 32};
        struct ran_train_estimate cost;
        double gemm, training, scoring;
        float *embed;

        check(ran_fields_init(ran_config_fields, &c, &err), &err);
        c.dim = s->dim;
        c.heads = s->heads;
        c.head_dim = s->head_dim;
        c.window = s->window;
        invent(&d, s, &err);
        check(ran_layout_init(&layout, &c, d.C, &err), &err);
        check(ran_params_init(&p, &c, d.C, &err), &err);
        for (size_t i = 0; i < layout.n; i++)
                ran_tensor_start(p.block + layout.spec[i].offset, &layout.spec[i], 1);
        p.embed = embed = ran_alloc_floats((size_t)V * c.dim, &err);
        check(embed != NULL ? RAN_OK : RAN_ENOMEM, &err);
        for (size_t i = 0; i < (size_t)V * c.dim; i++)
                embed[i] = (float)(0.1 * ran_uniform(2, i) - 0.05);
        check(ran_train_estimate(&(struct ran_train_job){.config = &c,
                                                         .settings = &settings,
                                                         .train = &d,
                                                         .V = V,
                                                         .pool = pool},
                                 &cost, &err),
              &err);
        gemm = sgemm_rate(pool, &c, seconds, &err);
        training = train(&c, &p, &d, pool, seconds, &err);
        scoring = score(&c, &p, &d, pool, seconds, &err);
        printf("%-26s %9.0f %7.1f %5.0f%% %9.0f %7.1f %5.0f%% %9.1f\n", s->name,
               training * (double)d.first[d.B], 1e-9 * training * cost.flops,
               100 * training * cost.flops / gemm, scoring * (double)d.first[d.B],
               1e-9 * scoring * cost.flops / 3, 100 * scoring * cost.flops / 3 / gemm, 1e-9 * gemm);
        fflush(stdout);
        free(embed);
        ran_params_release(&p);
        ran_layout_release(&layout);
        ran_dataset_release(&d);
}

int main(int argc, char **argv)
{
        struct ran_error err = {0};
        size_t threads = argc > 1 ? (size_t)atoi(argv[1]) : ran_threads_default();
        struct ran_pool *pool = ran_pool_new(threads > 0 ? threads : 1, &err);

        check(pool != NULL ? RAN_OK : RAN_ENOMEM, &err);
        printf("%zu threads, OpenBLAS core %s\n", ran_pool_threads(pool), openblas_get_corename());
        printf("%-26s %9s %7s %6s %9s %7s %6s %9s\n", "", "training", "GFLOP/s", "share", "scoring",
               "GFLOP/s", "share", "sgemm");
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
                measure(&shapes[i], pool, argc > 2 ? atof(argv[2]) : 0.5);
        ran_pool_free(pool);
        return 0;
}
