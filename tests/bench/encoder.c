/* encoder.c - how fast each encoder trains and scores (those of a name alone are patterns
 * of a Transformer), beside what OpenBLAS's sgemm reaches in the
 * same run at the model's own shapes: tokens a second, medians of several runs on invented
 * documents whose lengths spread as those of news and reviews do. A language model trains on the
 * same.
 *
 *   encoder [-o FILE] [threads [seconds a measurement]]
 *
 * -o: the figures, a JSON line each.
 */
#include "model/score.h"
#include "train/batch.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#undef I /* of complex.h */

enum { V = 20000, C = 20, RUNS = 5 };

struct shape {
        const char *name;
        size_t documents, tokens;
        const char *config; /* what differs from the defaults */
};

#define CONTEXTUALIZER "{\"encoder\":\"contextualizer\",\"layers\":5,\"rank\":260}"
#define PATTERN(name)  "\"encoder\":\"transformer\",\"window\":64,\"attention\":\"" name "\""
#define LM             "\"task\":\"lm\",\"mask\":\"causal\",\"min_window\":1"

static const struct shape shapes[] = {
        {"ran, sentences of 22", 128, 22, "{}"},
        {"ran, documents of 300", 32, 300, "{}"},
        {"ran, documents of 5000", 4, 5000, "{}"},
        {"ran, D 300, of 300", 16, 300, "{\"dim\":300,\"heads\":8,\"head_dim\":128}"},
        {"contextualizer, of 22", 128, 22, CONTEXTUALIZER},
        {"contextualizer, of 300", 32, 300, CONTEXTUALIZER},
        {"contextualizer, of 5000", 4, 5000, CONTEXTUALIZER},
        {"full, of 22", 128, 22, "{" PATTERN("full") "}"},
        {"full, of 300", 32, 300, "{" PATTERN("full") "}"},
        {"full, of 5000", 4, 5000, "{" PATTERN("full") "}"},
        {"window 64, of 300", 32, 300, "{" PATTERN("window") "}"},
        {"window 64, of 5000", 4, 5000, "{" PATTERN("window") "}"},
        {"dispersed 64, of 300", 32, 300, "{" PATTERN("dispersed") "}"},
        {"dispersed 64, of 5000", 4, 5000, "{" PATTERN("dispersed") "}"},
        {"lm: ran, of 300", 32, 300, "{" LM "}"},
        {"lm: ran, of 5000", 4, 5000, "{" LM "}"},
        {"lm: full, of 300", 32, 300, "{" LM "," PATTERN("full") "}"},
        {"lm: dispersed 64, of 5000", 4, 5000, "{" LM "," PATTERN("dispersed") "}"},
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
static void invent(struct ran_dataset *d, const struct shape *s, bool texts, struct ran_error *err)
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
                if (texts && L > 1) { /* of which one token has none to predict */
                        check(ran_dataset_add_text(d, ids, L, 0, 1.0, err), err);
                } else if (!texts) {
                        check(ran_dataset_label(d, names[b % C], 1, &label, err), err);
                        check(ran_dataset_add(d, ids, L, &label, 1, 1.0, err), err);
                }
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
static double train(const struct ran_config *c, const struct ran_params *p, size_t outputs,
                    const struct ran_dataset *d, struct ran_pool *pool, double seconds,
                    struct ran_error *err)
{
        struct ran_batcher k;
        double rate[RUNS], loss;
        struct ran_plan plan;
        size_t docs[256];

        check(d->B <= sizeof docs / sizeof *docs ? RAN_OK : RAN_EINVAL, err);
        for (size_t b = 0; b < d->B; b++)
                docs[b] = b;
        check(ran_plan_init(&plan, c, d, d->B, 0, err), err);
        ran_plan_begin(&plan, docs, d->B);
        ran_plan_next(&plan);
        check(ran_batcher_init(&k, c, p, V, outputs, d, pool, err), err);
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
        bool texts;
        float *loss; /* (threads, longest) of texts */
        size_t longest;
};

static void score_lane(void *arg, size_t lane)
{
        struct score *s = arg;
        float logits[C];
        struct ran_error err = {0};

        for (size_t b = lane; b < s->d->B; b += s->threads) {
                const struct ran_document d = ran_dataset_document(s->d, b);
                const struct ran_lm_out out = {.gold = d.ids + 1,
                                               .nll = s->loss + lane * s->longest};

                check(s->texts ? ran_score_lm(s->state[lane], NULL, d.ids, d.L - 1, 0, &out, &err)
                               : ran_score(s->state[lane], &d, logits, NULL, &err),
                      &err);
        }
}

static double score(const struct ran_config *c, const struct ran_params *p, size_t outputs,
                    const struct ran_dataset *d, struct ran_pool *pool, double seconds,
                    struct ran_error *err)
{
        struct score s = {.d = d, .threads = ran_pool_threads(pool), .texts = ran_is_tied(c)};
        double rate[RUNS];

        for (size_t b = 0; b < d->B; b++)
                s.longest = d->first[b + 1] - d->first[b] > s.longest
                                    ? d->first[b + 1] - d->first[b]
                                    : s.longest;
        s.state = ran_alloc(s.threads, sizeof *s.state, err);
        s.loss = ran_alloc_floats(s.threads * s.longest, err);
        check(s.state != NULL && s.loss != NULL ? RAN_OK : RAN_ENOMEM, err);
        for (size_t i = 0; i < s.threads; i++) {
                s.state[i] = ran_scorer_new(c, p, outputs, pool, err);
                check(s.state[i] != NULL ? RAN_OK : RAN_ENOMEM, err);
        }
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
        free(s.loss);
        return median(rate);
}

/* Weights as training begins with them. Returns the embedding, which is the caller's. */
static float *start(struct ran_params *p, const struct ran_config *c, size_t outputs,
                    struct ran_error *err)
{
        struct ran_layout layout;
        float *embed = ran_alloc_floats((size_t)V * c->dim, err);

        check(embed != NULL ? RAN_OK : RAN_ENOMEM, err);
        check(ran_layout_init(&layout, c, outputs, err), err);
        check(ran_params_init(p, c, outputs, err), err);
        for (size_t i = 0; i < layout.n; i++)
                ran_tensor_start(p->block + layout.spec[i].offset, &layout.spec[i], 1);
        for (size_t i = 0; i < (size_t)V * c->dim; i++)
                embed[i] = (float)(0.1 * ran_uniform(2, i) - 0.05);
        p->embed = embed;
        ran_layout_release(&layout);
        return embed;
}

static void measure(const struct shape *s, struct ran_pool *pool, double seconds, FILE *json)
{
        struct ran_error err = {0};
        struct ran_dataset d = {0};
        struct ran_config c;
        struct ran_params p;
        struct ran_train_settings settings = {.epochs = 1, .batch = 32};
        struct ran_train_estimate cost;
        double gemm, training, scoring, tokens;
        float *embed;
        size_t outputs;

        check(ran_fields_init(ran_config_fields, &c, &err), &err);
        check(ran_fields_parse(ran_config_fields, &c, s->config, strlen(s->config), false, &err),
              &err);
        if (ran_is_tied(&c))
                settings.metric = RAN_METRIC_LOSS;
        invent(&d, s, ran_is_tied(&c), &err);
        outputs = ran_is_tied(&c) ? V : d.C;
        embed = start(&p, &c, outputs, &err);
        check(ran_train_estimate(&(struct ran_train_job){.config = &c,
                                                         .settings = &settings,
                                                         .train = &d,
                                                         .V = V,
                                                         .pool = pool},
                                 &cost, &err),
              &err);
        gemm = sgemm_rate(pool, &c, seconds, &err);
        training = train(&c, &p, outputs, &d, pool, seconds, &err);
        scoring = score(&c, &p, outputs, &d, pool, seconds, &err);
        tokens = (double)d.first[d.B];
        printf("%-26s %8zu %9.0f %7.1f %5.0f%% %9.0f %7.1f %5.0f%% %9.1f\n", s->name,
               cost.parameters, training * tokens, 1e-9 * training * cost.flops,
               100 * training * cost.flops / gemm, scoring * tokens,
               1e-9 * scoring * cost.flops / 3, 100 * scoring * cost.flops / 3 / gemm, 1e-9 * gemm);
        fflush(stdout);
        if (json != NULL)
                fprintf(json,
                        "{\"shape\":\"%s\",\"config\":%s,\"documents\":%zu,\"tokens\":%.0f,"
                        "\"parameters\":%zu,\"threads\":%zu,\"training_tokens_per_second\":%.0f,"
                        "\"scoring_tokens_per_second\":%.0f,\"training_gflops\":%.2f,"
                        "\"scoring_gflops\":%.2f,\"sgemm_gflops\":%.2f}\n",
                        s->name, s->config, d.B, tokens, cost.parameters, ran_pool_threads(pool),
                        training * tokens, scoring * tokens, 1e-9 * training * cost.flops,
                        1e-9 * scoring * cost.flops / 3, 1e-9 * gemm);
        free(embed);
        ran_params_release(&p);
        ran_dataset_release(&d);
}

int main(int argc, char **argv)
{
        struct ran_error err = {0};
        FILE *json = NULL;
        int option;

        while ((option = getopt(argc, argv, "o:")) == 'o')
                if ((json = fopen(optarg, "w")) == NULL)
                        check(ran_fail(&err, RAN_EIO, "%s: %s", optarg, strerror(errno)), &err);
        if (option != -1)
                return 2;
        argc -= optind;
        argv += optind;
        size_t threads = argc > 0 ? (size_t)atoi(argv[0]) : ran_threads_default();
        struct ran_pool *pool = ran_pool_new(threads > 0 ? threads : 1, &err);

        check(pool != NULL ? RAN_OK : RAN_ENOMEM, &err);
        printf("%zu threads, OpenBLAS core %s\n", ran_pool_threads(pool), openblas_get_corename());
        printf("%-26s %8s %9s %7s %6s %9s %7s %6s %9s\n", "tokens/s", "weights", "training",
               "GFLOP/s", "share", "scoring", "GFLOP/s", "share", "sgemm");
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
                measure(&shapes[i], pool, argc > 1 ? atof(argv[1]) : 0.3, json);
        ran_pool_free(pool);
        return json != NULL && fclose(json) != 0 ? 3 : 0;
}
