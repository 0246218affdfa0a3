/* crf-train.c - what the linear chain of a tagger costs, by the number of tags: nanoseconds a word
 * on one thread, medians.
 *
 *   loss     a sentence of a training: its loss and gradient
 *   scores   the probability of each tag
 *   best     the best path that IOB2 allows
 *
 * with transitions, without them (--no-crf), and with such that differ by so much that each pair of
 * tags needs an exponential of its own.
 *
 *   chain [-o FILE] [words of a sentence [most tags]]
 *
 * -o: the figures, a JSON line each.
 */
#include "bench.h"
#include "part/crf/crf.h"

#include <stdlib.h>

enum { RUNS = 5 };
static const double ENOUGH = 0.1; /* seconds of a run */

enum kind { CHAIN, LOOSE, STEEP, KINDS };
static const char *const kinds[KINDS] = {"chain", "none", "steep"};

struct sentence {
        size_t L, C;
        float *score, *dscore, *chain, *dchain; /* (L,C), (L,C), (C,C), (C,C) */
        uint32_t *path, *type;
        bool *start, *open;
        double *scratch;
        struct ran_crf crf;
        struct ran_crf grad;
        struct ran_crf_rules rules;
};

static void *room(void *p, const struct ran_error *err)
{
        bench_check(p != NULL ? RAN_OK : RAN_ENOMEM, err);
        return p;
}

static void begin(struct sentence *s, size_t L, size_t C)
{
        struct ran_error err = {0};

        *s = (struct sentence){.L = L, .C = C};
        s->score = room(ran_alloc_floats(L * C, &err), &err);
        s->dscore = room(ran_alloc_floats(L * C, &err), &err);
        s->chain = room(ran_alloc_floats(C * C, &err), &err);
        s->dchain = room(ran_alloc_floats(C * C, &err), &err);
        s->path = room(ran_alloc(L, sizeof *s->path, &err), &err);
        s->type = room(ran_alloc(C, sizeof *s->type, &err), &err);
        s->start = room(ran_alloc(C, sizeof *s->start, &err), &err);
        s->open = room(ran_alloc(C, sizeof *s->open, &err), &err);
        s->scratch = room(ran_alloc(ran_crf_scratch(true, L, C), sizeof *s->scratch, &err), &err);
        for (size_t i = 0; i < L * C; i++)
                s->score[i] = (float)(10 * (ran_random_uniform(1, i) - 0.5));
        for (size_t t = 0; t < L; t++)
                s->path[t] = (uint32_t)(ran_random_draw(2, t) % C);
        for (size_t c = 0; c < C; c++) { /* O, B-0, I-0, B-1, I-1, ... */
                s->start[c] = c == 0 || c % 2 == 1;
                s->open[c] = c > 0;
                s->type[c] = (uint32_t)(c + 1) / 2;
        }
        s->rules = (struct ran_crf_rules){s->start, s->open, s->type};
}

static void choose(struct sentence *s, enum kind kind)
{
        for (size_t i = 0; i < s->C * s->C; i++)
                s->chain[i] = (float)((kind == STEEP ? 1e4 : 4) * (ran_random_uniform(3, i) - 0.5));
        s->crf = (struct ran_crf){.transition = kind == LOOSE ? NULL : s->chain};
        s->grad = (struct ran_crf){.transition = s->dchain};
}

static void end(struct sentence *s)
{
        free(s->score);
        free(s->dscore);
        free(s->chain);
        free(s->dchain);
        free(s->path);
        free(s->type);
        free(s->start);
        free(s->open);
        free(s->scratch);
}

static void loss(struct sentence *s)
{
        ran_crf_loss(s->dscore, &s->grad, s->score, &s->crf, s->path, s->L, s->C, 1, s->scratch);
}

static void scores(struct sentence *s)
{
        ran_crf_marginals(s->dscore, s->score, &s->crf, s->L, s->C, s->scratch);
}

static void best(struct sentence *s)
{
        ran_crf_decode(s->path, s->score, &s->crf, &s->rules, s->L, s->C, s->scratch);
}

/* Nanoseconds a word. */
static double time_of(void (*run)(struct sentence *s), struct sentence *s)
{
        double seconds[RUNS];

        for (int i = 0; i < RUNS; i++) {
                double begin = bench_cpu(), now = begin;
                size_t n = 0;

                for (; now - begin < ENOUGH; n++, now = bench_cpu())
                        run(s);
                seconds[i] = (now - begin) / (double)n;
        }
        return 1e9 * bench_median(seconds, RUNS) / (double)s->L;
}

int main(int argc, char **argv)
{
        FILE *json = bench_begin(&argc, &argv);
        size_t L = (size_t)bench_argument(argc, argv, 0, 25),
               most = (size_t)bench_argument(argc, argv, 1, 127);

        bench_machine(json, 1);
        printf("linear chain, sentences of %zu words: nanoseconds a word\n", L);
        printf("%5s %-6s %9s %9s %9s\n", "tags", "", "loss", "scores", "best");
        for (size_t C = 3; C <= most; C = 2 * C + 1) {
                struct sentence s;

                begin(&s, L, C);
                for (enum kind kind = 0; kind < KINDS; kind++) {
                        choose(&s, kind);
                        double x = time_of(loss, &s), y = time_of(scores, &s),
                               z = time_of(best, &s);

                        printf("%5zu %-6s %9.0f %9.0f %9.0f\n", C, kinds[kind], x, y, z);
                        fflush(stdout);
                        if (json != NULL)
                                fprintf(json,
                                        "{\"tags\":%zu,\"words\":%zu,\"transitions\":\"%s\","
                                        "\"loss_ns\":%.0f,\"scores_ns\":%.0f,\"best_ns\":%.0f}\n",
                                        C, L, kinds[kind], x, y, z);
                }
                end(&s);
        }
        bench_end(json);
}
