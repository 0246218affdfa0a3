/* encoder.c - how fast each encoder trains and scores, beside what OpenBLAS's sgemm reaches in the
 * same run at the model's own products, and where the time goes. Patterns by name are those of a
 * Transformer; a language model trains on the same documents.
 *
 *   encoder [-o FILE] [threads [seconds a run [name...]]]
 *
 * -o: the figures, a JSON line each. Names choose shapes, by how they begin.
 */
#include "subject.h"

#include <stdlib.h>
#include <string.h>

#define WIDE           "{\"dim\":300,\"heads\":8,\"head_dim\":128}"
#define CONTEXTUALIZER "{\"encoder\":\"contextualizer\",\"layers\":5,\"rank\":260}"
/* As MiniLM-L6 is. */
#define BERT                                                                           \
        "{\"encoder\":\"bert\",\"dim\":384,\"layers\":6,\"heads\":12,\"head_dim\":32," \
        "\"ffn_dim\":1536,\"max_length\":256,\"prefix\":1,\"suffix\":1}"
#define PATTERN(name) "\"encoder\":\"transformer\",\"window\":64,\"attention\":\"" name "\""
#define LM            "\"task\":\"lm\",\"mask\":\"causal\",\"min_window\":1"

static const struct subject_shape shapes[] = {
        {"ran, of 22", "{}", 256, 22},
        {"ran, of 300", "{}", 64, 300},
        {"ran, of 5000", "{}", 4, 5000},
        {"ran D 300, of 22", WIDE, 256, 22},
        {"ran D 300, of 300", WIDE, 32, 300},
        {"ran D 300, of 5000", WIDE, 4, 5000},
        {"contextualizer, of 22", CONTEXTUALIZER, 256, 22},
        {"contextualizer, of 300", CONTEXTUALIZER, 64, 300},
        {"contextualizer, of 5000", CONTEXTUALIZER, 4, 5000},
        {"full, of 22", "{" PATTERN("full") "}", 256, 22},
        {"full, of 300", "{" PATTERN("full") "}", 64, 300},
        {"full, of 5000", "{" PATTERN("full") "}", 4, 5000},
        {"bert, of 22", BERT, 256, 22},
        {"bert, of 300", BERT, 64, 300},
        {"bert, of 5000", BERT, 4, 5000},
        {"window 64, of 5000", "{" PATTERN("window") "}", 4, 5000},
        {"dispersed 64, of 5000", "{" PATTERN("dispersed") "}", 4, 5000},
        {"lm: ran, of 300", "{" LM "}", 32, 300},
        {"lm: full, of 300", "{" LM "," PATTERN("full") "}", 32, 300},
        {"lm: dispersed 64, of 5000", "{" LM "," PATTERN("dispersed") "}", 4, 5000},
};

static void print_head(void)
{
        printf("%-26s %-8s %9s %7s %9s %7s %7s %6s %6s ", "", "", "weights", "MFLOP", "tokens/s",
               "GFLOP/s", "sgemm", "share", "MB");
        for (int i = 0; i < BENCH_SHARES; i++)
                printf(" %6.6s", bench_share_names[i]);
        printf("\n");
}

static void print(const struct subject_shape *shape, bool training, size_t threads,
                  const struct subject_speed *s, FILE *json)
{
        printf("%-26s %-8s %9.0f %7.2f %9.0f %7.1f %7.1f %5.0f%% %6.0f ", shape->name,
               training ? "training" : "scoring", s->parameters, 1e-6 * s->flops, s->rate,
               1e-9 * s->flops * s->rate, 1e-9 * s->sgemm, 100 * s->flops * s->rate / s->sgemm,
               1e-6 * s->bytes);
        for (int i = 0; i < BENCH_SHARES; i++)
                printf(" %5.1f%%", 100 * s->share[i]);
        printf("\n");
        fflush(stdout);
        if (json == NULL)
                return;
        fprintf(json,
                "{\"shape\":\"%s\",\"what\":\"%s\",\"config\":%s,\"documents\":%zu,"
                "\"tokens\":%.0f,\"threads\":%zu,\"parameters\":%.0f,\"flops\":%.0f,"
                "\"tokens_per_second\":%.0f,\"gflops\":%.2f,\"sgemm_gflops\":%.2f,"
                "\"peak_bytes\":%.0f,\"time\":{",
                shape->name, training ? "training" : "scoring", shape->config, shape->documents,
                s->tokens, threads, s->parameters, s->flops, s->rate, 1e-9 * s->flops * s->rate,
                1e-9 * s->sgemm, s->bytes);
        for (int i = 0; i < BENCH_SHARES; i++)
                fprintf(json, "%s\"%s\":%.4f", i > 0 ? "," : "", bench_share_names[i], s->share[i]);
        fprintf(json, "}}\n");
}

static bool is_chosen(const struct subject_shape *shape, int argc, char **argv)
{
        for (int i = 2; i < argc; i++)
                if (strncmp(shape->name, argv[i], strlen(argv[i])) == 0)
                        return true;
        return argc <= 2;
}

int main(int argc, char **argv)
{
        FILE *json = bench_begin(&argc, &argv);
        size_t threads = (size_t)bench_argument(argc, argv, 0, (double)ran_threads_default());
        double seconds = bench_argument(argc, argv, 1, 0.3), parameters = 0;

        bench_machine(json, threads);
        printf("tokens of documents of so many: arithmetic of one, tokens a second, share of the "
               "rate of sgemm, memory, and what threads are at\n");
        print_head();
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
                for (int training = 1; training >= 0; training--) {
                        struct subject_speed s;

                        if (!is_chosen(&shapes[i], argc, argv))
                                continue;
                        s = subject_measure(&shapes[i], training, threads, seconds, true);
                        parameters = training ? s.parameters : parameters;
                        s.parameters = parameters;
                        print(&shapes[i], training, threads, &s, json);
                }
        bench_end(json);
}
