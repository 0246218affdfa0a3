/* threads.c - how much faster all threads are than one: on many documents, and on one that is long;
 * beside what sgemm gains at the model's products, each thread with products of its own, in the
 * same run.
 *
 *   threads [-o FILE] [threads [tokens of the long document [name...]]]
 *
 * -o: the figures, a JSON line each. Names choose models, by how they begin.
 */
#include "subject.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS = 3 }; /* of measurements, with one thread and with all, of which the median counts */

static const struct {
        const char *name, *config;
} models[] = {
        {"ran", "{}"},
        {"ran D 300", "{\"dim\":300,\"heads\":8,\"head_dim\":128}"},
        {"contextualizer", "{\"encoder\":\"contextualizer\",\"layers\":5,\"rank\":260}"},
        {"full", "{\"encoder\":\"transformer\",\"attention\":\"full\"}"},
        {"dispersed 64", "{\"encoder\":\"transformer\",\"window\":64,\"attention\":\"dispersed\"}"},
};

/* One thread and all, in turns: the machine may be slower for a while. */
static void compare(const struct subject_shape *shape, bool training, size_t threads, FILE *json)
{
        double gain[PAIRS], sgemm[PAIRS], rate[2][PAIRS], idle[PAIRS];
        const char *what = training ? "training" : "scoring";
        int pairs = shape->documents > 1 ? PAIRS : 1;

        for (int i = 0; i < pairs; i++) {
                struct subject_speed s[2];

                for (int all = 0; all <= 1; all++) {
                        s[all] = subject_measure(shape, training, all ? threads : 1, 0.2, true);
                        rate[all][i] = s[all].rate;
                }
                gain[i] = s[1].rate / s[0].rate;
                sgemm[i] = s[1].sgemm / s[0].sgemm;
                idle[i] = s[1].share[BENCH_IDLE];
        }
        double one = bench_median(rate[0], (size_t)pairs),
               all = bench_median(rate[1], (size_t)pairs);
        double gained = bench_median(gain, (size_t)pairs),
               bound = bench_median(sgemm, (size_t)pairs);
        double slept = bench_median(idle, (size_t)pairs);

        printf("%-16s %9zu %8zu %-8s %10.0f %10.0f %6.2fx %6.2fx %5.1f%%\n", shape->name,
               shape->documents, shape->tokens, what, one, all, gained, bound, 100 * slept);
        fflush(stdout);
        if (json != NULL)
                fprintf(json,
                        "{\"model\":\"%s\",\"documents\":%zu,\"tokens\":%zu,\"what\":\"%s\","
                        "\"threads\":%zu,\"one_tokens_per_second\":%.0f,"
                        "\"all_tokens_per_second\":%.0f,\"gain\":%.3f,\"sgemm_gain\":%.3f,"
                        "\"idle\":%.4f}\n",
                        shape->name, shape->documents, shape->tokens, what, threads, one, all,
                        gained, bound, slept);
}

static bool is_chosen(const char *name, int argc, char **argv)
{
        for (int i = 2; i < argc; i++)
                if (strncmp(name, argv[i], strlen(argv[i])) == 0)
                        return true;
        return argc <= 2;
}

int main(int argc, char **argv)
{
        FILE *json = bench_begin(&argc, &argv);
        size_t threads = (size_t)bench_argument(argc, argv, 0, (double)ran_threads_default());
        size_t tokens = (size_t)bench_argument(argc, argv, 1, 1e5);

        bench_machine(json, threads);
        printf("%-16s %9s %8s %-8s %10s %10s %7s %7s %6s\n", "tokens/s", "documents", "of", "",
               "one thread", "all", "gain", "sgemm", "idle");
        for (size_t i = 0; i < sizeof models / sizeof *models; i++)
                for (int lone = 0; lone <= 1; lone++)
                        for (int training = 1; training >= 0; training--) {
                                const struct subject_shape shape = {models[i].name,
                                                                    models[i].config, lone ? 1 : 64,
                                                                    lone ? tokens : 300};

                                /* full attention to all of it would take minutes */
                                if (is_chosen(models[i].name, argc, argv) &&
                                    !(lone && strcmp(models[i].name, "full") == 0))
                                        compare(&shape, training, threads, json);
                        }
        bench_end(json);
}
