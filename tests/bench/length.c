/* length.c - what one document costs by its length: seconds and memory, to score it (from a JSON
 * line to logits) and to train on it (a step of ran_train).
 *
 *   length [-o FILE] [longest to score [longest to train on [threads [name...]]]]
 *
 * -o: the figures, a JSON line each. Names choose models, by how they begin.
 */
#include "subject.h"

#include <math.h>
#include <string.h>

static const struct subject_shape models[] = {
        {"ran", "{}", 1, 0},
        {"ran, dispersed", "{\"review\":\"dispersed\"}", 1, 0},
        {"ran D 300", "{\"dim\":300,\"heads\":8,\"head_dim\":128}", 1, 0},
        {"contextualizer", "{\"encoder\":\"contextualizer\",\"layers\":5,\"rank\":260}", 1, 0},
        {"dispersed 64", "{\"encoder\":\"transformer\",\"window\":64,\"attention\":\"dispersed\"}",
         1, 0},
};

static void print(const struct subject_shape *shape, bool training, size_t threads,
                  const struct subject_speed *s, FILE *json)
{
        const char *what = training ? "training" : "scoring";

        printf("%-16s %-8s %8zu %10.4f %10.0f %8.1f %8.1f ", shape->name, what, shape->tokens,
               s->seconds, s->rate, 1e-9 * s->rate * s->flops, 1e-6 * s->bytes);
        for (int i = 0; i < BENCH_SHARES; i++)
                printf(" %5.1f%%", 100 * s->share[i]);
        printf("\n");
        fflush(stdout);
        if (json != NULL)
                fprintf(json,
                        "{\"model\":\"%s\",\"what\":\"%s\",\"tokens\":%zu,\"threads\":%zu,"
                        "\"seconds\":%.5f,\"peak_bytes\":%.0f}\n",
                        shape->name, what, shape->tokens, threads, s->seconds, s->bytes);
}

static bool is_chosen(const struct subject_shape *model, int argc, char **argv)
{
        for (int i = 3; i < argc; i++)
                if (strncmp(model->name, argv[i], strlen(argv[i])) == 0)
                        return true;
        return argc <= 3;
}

int main(int argc, char **argv)
{
        FILE *json = bench_begin(&argc, &argv);
        const double longest[2] = {bench_argument(argc, argv, 0, 1e6),
                                   bench_argument(argc, argv, 1, 1e5)};
        size_t threads = (size_t)bench_argument(argc, argv, 2, (double)ran_threads_default());

        bench_machine(json, threads);
        printf("%-16s %-8s %8s %10s %10s %8s %8s ", "a document of", "", "tokens", "seconds",
               "tokens/s", "GFLOP/s", "MB");
        for (int i = 0; i < BENCH_SHARES; i++)
                printf(" %6.6s", bench_share_names[i]);
        printf("\n");
        for (size_t i = 0; i < sizeof models / sizeof *models; i++)
                for (int training = 0; training <= 1; training++)
                        for (double half = 6; is_chosen(&models[i], argc, argv); half++) {
                                struct subject_shape shape = models[i];
                                struct subject_speed s;

                                /* 1000, 3200, 10000, ... */
                                shape.tokens = (size_t)(100 * round(pow(10, half / 2) / 100));
                                if ((double)shape.tokens > longest[training])
                                        break;
                                s = subject_measure(&shape, training, threads, 0.2, false);
                                print(&shape, training, threads, &s, json);
                        }
        bench_end(json);
}
