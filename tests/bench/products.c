/* products.c - see products.h. */
#include "products.h"
#include "bench.h"
#include "task/lm-output.h"
#include "nn/sparse.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#undef I /* of complex.h */

/* ---- which products ------------------------------------------------------------------------- */

/* (M, N) = (M, K) (K, N); an operand may lie transposed. */
struct product {
        size_t M, N, K;
        bool a_across, b_across;
        double flops; /* of a token */
};

enum { MOST = 64 };

struct list {
        const struct product_job *job;
        size_t n;
        struct product item[MOST];
};

static void add(struct list *l, size_t M, size_t N, size_t K, bool a_across, bool b_across,
                double flops)
{
        if (l->n < MOST && flops > 0)
                l->item[l->n++] = (struct product){M, N, K, a_across, b_across, flops};
}

/* A linear layer from I to O of `rows` rows at a time, and its two adjoints. */
static void add_linear(struct list *l, size_t rows, size_t I, size_t O, double times)
{
        double flops = 2 * times * (double)I * (double)O;

        add(l, rows, O, I, false, true, flops);
        if (!l->job->training)
                return;
        add(l, rows, I, O, false, false, flops);
        add(l, O, I, rows, true, false, flops);
}

/* Heads of width d, each of so many scores a token, n queries and k keys at a time. */
static void add_attention(struct list *l, size_t n, size_t k, size_t d, double scores)
{
        double flops = 2 * scores * (double)d;

        add(l, n, k, d, false, true, flops);
        add(l, n, d, k, false, false, flops);
        if (!l->job->training)
                return;
        add(l, k, d, n, true, false, flops);
        add(l, n, k, d, false, true, flops);
        add(l, n, d, k, false, false, flops);
        add(l, k, d, n, true, false, flops);
}

/* What fn says of a document, in the mean over all tokens. */
static double mean(const struct product_job *job,
                   double (*fn)(const struct product_job *job, size_t L))
{
        const struct ran_dataset *d = job->d;
        double sum = 0;

        for (size_t b = 0; b < d->B; b++) {
                size_t L = d->first[b + 1] - d->first[b];

                sum += (double)L * fn(job, L);
        }
        return sum / (double)d->first[d->B];
}

static double length(const struct product_job *job, size_t L)
{
        (void)job;
        return (double)L;
}

/* Rows of a token's window, its cell among them. */
static double window_rows(const struct product_job *job, size_t L)
{
        double W = (double)job->c->window, m = (double)ran_packed_windows(job->c, L, 0);
        double last = (double)L - (m - 1) * W;

        return ((m - 1) * W * (W + 1) + last * (last + 1)) / (double)L;
}

/* States that a token looks back on; one needs no arithmetic. */
static double states(const struct product_job *job, size_t L)
{
        size_t m = ran_packed_windows(job->c, L, 0);

        if (m > 1 && job->c->ran.review > RAN_REVIEW_ALL)
                return (double)ran_review_scores(job->c, L, 0) / (double)L;
        return m > 1 ? (double)m : 0;
}

/* Scores of a token of all heads of a Transformer. */
static double scores(const struct product_job *job, size_t L)
{
        const struct ran_config *c = job->c;
        double sum = 0;

        for (size_t j = 0; j < c->heads; j++) {
                struct ran_mask m;
                int pattern = c->transformer.attention.item[c->transformer.attention.n > 1 ? j : 0];

                if (ran_mask_init(&m, pattern, c->window, c->transformer.dilation, c->mask, L, 0,
                                  NULL) == RAN_OK)
                        sum += (double)ran_mask_count(&m, 0, L, 0, L);
        }
        return sum / (double)L;
}

static double is_long(const struct product_job *job, size_t L)
{
        return L > job->c->dim;
}

static double inverse_of_long(const struct product_job *job, size_t L)
{
        return L > job->c->dim ? 1 / (double)L : 0;
}

static void list_recurrent(struct list *l)
{
        const struct ran_config *c = l->job->c;
        size_t D = c->dim, E = c->heads * c->head_dim, rows = l->job->rows;
        bool gated = c->ran.cell == RAN_CELL_GATED || c->ran.cell == RAN_CELL_PUBLISHED,
             prenorm = c->ran.cell == RAN_CELL_PRENORM;
        size_t F = D + D / 2; /* of its feed-forward part */
        double n = mean(l->job, window_rows), m = mean(l->job, states), N = (double)c->layers;

        add_linear(l, rows, D, 3 * E + (gated ? 2 * D : 0), N);
        add_attention(l, (size_t)n, (size_t)n, c->head_dim, N * (double)c->heads * n);
        add_linear(l, rows, E, D, N);
        if (prenorm) {
                add_linear(l, rows, D, 2 * F, N);
                add_linear(l, rows, F, D, N);
        }
        if (!c->ran.review)
                return;
        add_linear(l, rows, D, D, gated || prenorm ? 2 * N : N);
        if (gated)
                add_linear(l, rows, D, 2 * D, N);
        add_attention(l, rows, (size_t)m, D, N * m);
}

static void list_transformer(struct list *l)
{
        const struct ran_config *c = l->job->c;
        size_t D = c->dim, E = c->heads * c->head_dim, f = c->ffn_dim, rows = l->job->rows;
        double N = (double)c->layers, n = fmin(mean(l->job, length), RAN_SPARSE_BLOCK);
        double all = mean(l->job, scores), keys = fmin(all / (double)c->heads, n);

        add_linear(l, rows, D, 3 * E, N);
        add_attention(l, (size_t)n, (size_t)ceil(keys), c->head_dim, N * all);
        add_linear(l, rows, E, D, N);
        add_linear(l, rows, D, f, N);
        add_linear(l, rows, f, D, N);
}

/* See contextualizer.h: a long document becomes a square matrix, which has its steps. */
static void list_contextualizer(struct list *l)
{
        const struct ran_config *c = l->job->c;
        size_t D = c->dim, u = c->contextualizer.rank, rows = l->job->rows,
               block = rows < 256 ? rows : 256;
        double N = (double)c->layers, lengthy = mean(l->job, is_long);
        double square = 2 * lengthy * (double)D * (double)D;

        add_linear(l, rows, D, u, N * (1 - lengthy));
        add_linear(l, rows, u, D, N * (1 - lengthy));
        add(l, D, D, block, true, false, square);
        if (l->job->training)
                add(l, block, D, D, false, false, square);
        add_linear(l, D, D, u, N * (double)D * mean(l->job, inverse_of_long));
}

/* Windows of a BERT: as many as hold all tokens, of nearly the same size. */
static double bert_windows(const struct product_job *job, size_t L)
{
        const size_t room = job->c->bert.max_length - job->c->bert.prefix - job->c->bert.suffix;

        return (double)((L + room - 1) / room);
}

/* Rows of a token's window, and rows for each token. */
static double bert_window_rows(const struct product_job *job, size_t L)
{
        return (double)L / bert_windows(job, L) +
               (double)(job->c->bert.prefix + job->c->bert.suffix);
}

static double bert_rows(const struct product_job *job, size_t L)
{
        return bert_window_rows(job, L) * bert_windows(job, L) / (double)L;
}

static double bert_scores(const struct product_job *job, size_t L)
{
        return bert_rows(job, L) * bert_window_rows(job, L);
}

static void list_bert(struct list *l)
{
        const struct ran_config *c = l->job->c;
        const size_t D = c->dim, E = c->heads * c->head_dim, f = c->ffn_dim, rows = l->job->rows;
        const double n = mean(l->job, bert_window_rows), N = (double)c->layers;
        const double each = N * mean(l->job, bert_rows);

        add_linear(l, rows, D, 3 * E, each);
        add_attention(l, (size_t)n, (size_t)n, c->head_dim,
                      N * (double)c->heads * mean(l->job, bert_scores));
        add_linear(l, rows, E, D, each);
        add_linear(l, rows, D, c->bert.gated ? 2 * f : f, each);
        add_linear(l, rows, f, D, each);
}

static struct list list_of(const struct product_job *job)
{
        struct list l = {.job = job};

        if (job->c->encoder == RAN_ENCODER_TRANSFORMER)
                list_transformer(&l);
        else if (job->c->encoder == RAN_ENCODER_BERT)
                list_bert(&l);
        else if (job->c->encoder == RAN_ENCODER_CONTEXTUALIZER)
                list_contextualizer(&l);
        else
                list_recurrent(&l);
        if (job->c->task == RAN_TASK_LM || job->c->task == RAN_TASK_MLM)
                add_linear(&l, job->rows < RAN_LM_ROWS ? job->rows : RAN_LM_ROWS, job->c->dim,
                           job->outputs, 1);
        return l;
}

double products_flops(const struct product_job *job)
{
        const struct list l = list_of(job);
        double flops = 0;

        for (size_t i = 0; i < l.n; i++)
                flops += l.item[i].flops;
        return flops;
}

/* ---- in a program of its own ---------------------------------------------------------------- */

static const char *program, *core;

enum { RUNS = 5 };

/* What is asked for, through a pipe; the rates come back through another. */
struct request {
        size_t threads, n;
        double seconds;
        struct product item[MOST];
};

struct operands {
        const struct product *p;
        size_t calls, a_floats, b_floats;
        float *a, *b, *c; /* of every thread */
};

static double flops_of(const struct product *p)
{
        return 2.0 * (double)p->M * (double)p->N * (double)p->K;
}

static void multiply(void *arg, size_t thread)
{
        const struct operands *o = arg;
        const struct product *p = o->p;

        for (size_t i = 0; i < o->calls; i++)
                cblas_sgemm(CblasRowMajor, p->a_across ? CblasTrans : CblasNoTrans,
                            p->b_across ? CblasTrans : CblasNoTrans, (blasint)p->M, (blasint)p->N,
                            (blasint)p->K, 1, o->a + thread * o->a_floats,
                            (blasint)(p->a_across ? p->M : p->K), o->b + thread * o->b_floats,
                            (blasint)(p->b_across ? p->K : p->N), 0, o->c + thread * p->M * p->N,
                            (blasint)p->N);
}

static float *numbers(size_t n)
{
        struct ran_error err = {0};
        float *x = ran_alloc_floats(n, &err);

        bench_check(x != NULL ? RAN_OK : RAN_ENOMEM, &err);
        for (size_t i = 0; i < n; i++)
                x[i] = (float)(i % 17) - 8;
        return x;
}

static double rate_of(const struct product *p, size_t threads, double seconds,
                      struct ran_pool *pool)
{
        struct operands o = {.p = p,
                             .calls = 1 + (size_t)(2e7 / flops_of(p)),
                             .a_floats = p->M * p->K,
                             .b_floats = p->K * p->N};
        double rate[RUNS];

        o.a = numbers(threads * o.a_floats);
        o.b = numbers(threads * o.b_floats);
        o.c = numbers(threads * p->M * p->N);
        for (int r = -1; r < RUNS; r++) { /* the first run warms up */
                double start = bench_clock(threads), calls = 0;

                do {
                        ran_parallel(pool, threads, multiply, &o);
                        calls += (double)(o.calls * threads);
                } while (bench_clock(threads) - start < seconds);
                if (r >= 0)
                        rate[r] = calls * flops_of(p) / (bench_clock(threads) - start);
        }
        free(o.a);
        free(o.b);
        free(o.c);
        return bench_median(rate, RUNS);
}

static bool serve(void)
{
        struct ran_error err = {0};
        struct request q;

        if (fread(&q, sizeof q, 1, stdin) != 1)
                return false;
        struct ran_pool *pool = ran_pool_new(q.threads, &err);
        bench_check(pool != NULL ? RAN_OK : RAN_ENOMEM, &err);
        for (size_t i = 0; i < q.n; i++) {
                double rate = rate_of(&q.item[i], q.threads, q.seconds, pool);

                fwrite(&rate, sizeof rate, 1, stdout);
        }
        ran_pool_free(pool);
        return fflush(stdout) == 0;
}

/* The kernels that serve this processor best, if OpenBLAS does not know them to be its own. */
static const char *best_core(void)
{
        const char *chosen = openblas_get_corename();

#if defined(__x86_64__)
        static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", "Zen4"};
        static const char *const narrow[] = {"Haswell", "Zen"};

        if (getenv("OPENBLAS_CORETYPE") != NULL)
                return chosen;
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
                if (strcmp(chosen, wide[i]) == 0)
                        return chosen;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
                return "SkylakeX";
        for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
                if (strcmp(chosen, narrow[i]) == 0)
                        return chosen;
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
                return "Haswell";
#endif
        return chosen;
}

void products_begin(int argc, char **argv)
{
        program = argv[0];
        core = best_core();
        if (argc == 2 && strcmp(argv[1], "--products") == 0)
                exit(serve() ? 0 : 3);
}

const char *products_core(void)
{
        return core;
}

static void become_server(int in, int out)
{
        char *const argv[] = {(char *)program, "--products", NULL};

        if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
                _exit(3);
        if (strcmp(core, openblas_get_corename()) != 0)
                setenv("OPENBLAS_CORETYPE", core, 1);
        execvp(program, argv);
        _exit(3);
}

static void ask(const struct request *q, double *rate)
{
        struct ran_error err = {0};
        int to[2], from[2], status = 0;
        size_t got = 0, want = q->n * sizeof *rate;
        pid_t child = -1;
        ssize_t n = 1;

        if (pipe(to) == 0 && pipe(from) == 0)
                child = fork();
        if (child == 0) {
                close(to[1]);
                close(from[0]);
                become_server(to[0], from[1]);
        }
        if (child < 0)
                bench_check(ran_fail(&err, RAN_EIO, "%s", strerror(errno)), &err);
        close(to[0]);
        close(from[1]);
        bool asked = write(to[1], q, sizeof *q) == (ssize_t)sizeof *q;
        close(to[1]);
        while (got < want && (n = read(from[0], (char *)rate + got, want - got)) > 0)
                got += (size_t)n;
        close(from[0]);
        if (waitpid(child, &status, 0) != child || status != 0 || !asked || got < want)
                bench_check(ran_fail(&err, RAN_EIO, "the measurement of sgemm ended early"), &err);
}

double products_rate(const struct product_job *job, size_t threads, double seconds)
{
        const struct list l = list_of(job);
        struct request q = {.threads = threads, .n = l.n, .seconds = seconds};
        double rate[MOST], flops = 0, time = 0;

        memcpy(q.item, l.item, l.n * sizeof *l.item);
        ask(&q, rate);
        for (size_t i = 0; i < l.n; i++) {
                flops += l.item[i].flops;
                time += l.item[i].flops / rate[i];
        }
        return flops / time;
}
