/* linear.c - how long the linear model of a classifier takes to train: seconds with one thread and
 * with all.
 *
 *   hashing            documents to lists of buckets
 *   rows               the matrix of a training
 *   cross-validation   C and ratios
 *   fit                what cross-validation chose, at the usual tolerance
 *   C 0.5, 2, 8        a fit each, without ratios: what LIBLINEAR solves, too
 *
 *   linear [-o FILE] [threads [documents [features]]]
 *
 * documents: JSON lines with "text" and "label" or "labels"; else documents of chance. -o: the
 * figures, a JSON line each. features: a file for the rows of the matrix as LIBLINEAR reads them, a
 * document's first label as its class, to time `liblinear-train -s 1 -B 1 -c C` on the same.
 */
#include "bench.h"
#include "part/linear/linear-model.h"
#include "part/linear/svm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3, DOCUMENTS = 4000, CLASSES = 10, VOCABULARY = 30000 };
enum { HASHING, ROWS, CHOOSING, FITTING, FIRST_COST, COSTS = 3, STEPS = FIRST_COST + COSTS };

static const char *const names[STEPS] = {"hashing", "rows", "cross-validation", "fit", "C 0.5",
                                         "C 2.0",   "C 8.0"};
static const double costs[COSTS] = {0.5, 2, 8};

struct bench {
        struct ran_config c;
        struct ran_dataset d;
        struct ran_tokenizer *tokenizer;
        uint32_t *pieces;
        float *idf, *weight, *bias;
        size_t *document;
};

struct took {
        double wall[STEPS], cpu[STEPS], cost;
        bool ratios;
};

/* ---- documents ------------------------------------------------------------------------------ */

static char *read_line(FILE *f, char **line, size_t *cap, size_t *n)
{
        ssize_t got = getline(line, cap, f);

        *n = got > 0 ? (size_t)got - ((*line)[got - 1] == '\n') : 0;
        return got > 0 ? *line : NULL;
}

/* Each line's record, with its text decoded. */
static void each_record(const char *path,
                        void (*visit)(struct bench *b, const struct ran_record *r,
                                      const struct ran_buf *text, void *arg),
                        struct bench *b, void *arg)
{
        struct ran_error err = {0};
        struct ran_record record = {0};
        struct ran_buf text = {0};
        FILE *f = fopen(path, "r");
        char *line = NULL;
        size_t cap = 0, n;

        bench_check(f != NULL ? RAN_OK : ran_fail(&err, RAN_EIO, "%s: %s", path, strerror(errno)),
                    &err);
        while (read_line(f, &line, &cap, &n) != NULL) {
                bench_check(ran_record_scan(&record, line, n, &err), &err);
                const struct ran_member *m = ran_record_find(&record, "text", NULL);
                bench_check(m != NULL ? RAN_OK
                                      : ran_fail(&err, RAN_EINVAL, "%s: no \"text\"", path),
                            &err);
                text.len = 0;
                bench_check(ran_json_decode(record.line, m->value, &text, &err), &err);
                visit(b, &record, &text, arg);
        }
        fclose(f);
        free(line);
        ran_buf_release(&text);
        ran_record_release(&record);
}

struct counting {
        struct ran_counter *counter;
        struct ran_encoding encoding;
        struct ran_buf words;
};

static void count(struct bench *b, const struct ran_record *r, const struct ran_buf *text,
                  void *arg)
{
        struct counting *k = arg;
        struct ran_error err = {0};

        (void)b;
        (void)r;
        k->words.len = 0;
        bench_check(
                ran_counter_words(k->counter, text->data, text->len, &k->encoding, &k->words, &err),
                &err);
        bench_check(ran_counter_add(k->counter, k->words.data, k->words.len, &err), &err);
}

static void learn_vocabulary(struct bench *b, const char *path)
{
        struct ran_error err = {0};
        struct ran_vocab_settings settings = {0};
        struct counting k = {0};

        bench_check(ran_fields_init(ran_vocab_fields, &settings, &err), &err);
        settings.vocab_type = RAN_VOCAB_WORDPIECE;
        for (const struct ran_field *f = ran_vocab_fields; f->name != NULL; f++)
                if (f->unless.field != NULL)
                        bench_check(ran_field_init(ran_vocab_fields, f, &settings, &err), &err);
        k.counter = ran_counter_new(&settings, &err);
        bench_check(k.counter != NULL ? RAN_OK : RAN_ENOMEM, &err);
        each_record(path, count, b, &k);
        b->tokenizer = ran_counter_learn(k.counter, &err);
        bench_check(b->tokenizer != NULL ? RAN_OK : RAN_ENOMEM, &err);
        ran_counter_free(k.counter);
        ran_encoding_release(&k.encoding);
        ran_buf_release(&k.words);
}

static uint32_t label(struct bench *b, const struct ran_record *r, struct ran_span value)
{
        struct ran_error err = {0};
        struct ran_buf name = {0};
        uint32_t id = 0;

        bench_check(ran_json_decode(r->line, value, &name, &err), &err);
        bench_check(ran_dataset_label(&b->d, name.data, name.len, &id, &err), &err);
        ran_buf_release(&name);
        return id;
}

static void add_record(struct bench *b, const struct ran_record *r, const struct ran_buf *text,
                       void *arg)
{
        struct ran_encoding *e = arg;
        struct ran_error err = {0};
        uint32_t labels[256];
        size_t n = 0;
        const struct ran_member *one = ran_record_find(r, "label", NULL),
                                *several = ran_record_find(r, "labels", NULL);

        bench_check(ran_tokenizer_encode(b->tokenizer, text->data, text->len, e, &err), &err);
        if (one != NULL)
                labels[n++] = label(b, r, one->value);
        b->d.multilabel = b->c.classify.multilabel = one == NULL;
        struct ran_items i = ran_items(r->line, several != NULL ? several->value : r->object);
        while (one == NULL && several != NULL && n < 256 && ran_items_next(&i))
                labels[n++] = label(b, r, i.value);
        bench_check(ran_dataset_add(&b->d, e->ids, e->n, labels, n, 1, &err), &err);
}

static void read_documents(struct bench *b, const char *path)
{
        struct ran_encoding e = {0};

        learn_vocabulary(b, path);
        each_record(path, add_record, b, &e);
        ran_encoding_release(&e);
}

/* Ids by a power law; each class prefers some. */
static void draw_documents(struct bench *b)
{
        struct ran_error err = {0};
        uint32_t ids[400];
        uint64_t at = 0;

        for (size_t i = 0; i < DOCUMENTS; i++) {
                size_t L = 20 + ran_random_draw(1, at++) % 380, c = i % CLASSES;
                char name[2] = {(char)('a' + c), '\0'};
                uint32_t id;

                for (size_t t = 0; t < L; t++) {
                        ids[t] = (uint32_t)pow(VOCABULARY, ran_random_uniform(1, at++)) - 1;
                        if (ran_random_uniform(1, at++) < 0.02)
                                ids[t] = (uint32_t)(100 * c + ran_random_draw(1, at++) % 100);
                }
                bench_check(ran_dataset_label(&b->d, name, 1, &id, &err), &err);
                bench_check(ran_dataset_add(&b->d, ids, L, &id, 1, 1, &err), &err);
        }
}

static void begin(struct bench *b, const char *path)
{
        struct ran_error err = {0};

        b->c = (struct ran_config){.linear.wide = 1 << 18,
                                   .linear.ngrams = 2,
                                   .linear.affixes = path != NULL,
                                   .task = RAN_TASK_CLASSIFY};
        if (path != NULL)
                read_documents(b, path);
        else
                draw_documents(b);
        bench_check(ran_dataset_finish(&b->d, &err), &err);
        if (b->tokenizer != NULL)
                b->pieces = ran_linear_model_affixes(b->tokenizer, &b->c, &err);
        b->idf = ran_alloc_floats(b->c.linear.wide, &err);
        b->weight = ran_alloc_floats(b->c.linear.wide * b->d.C, &err);
        b->bias = ran_alloc_floats(b->d.C, &err);
        b->document = ran_alloc(b->d.B, sizeof *b->document, &err);
        bench_check((b->pieces != NULL || b->tokenizer == NULL) && b->idf != NULL &&
                                    b->weight != NULL && b->bias != NULL && b->document != NULL
                            ? RAN_OK
                            : RAN_ENOMEM,
                    &err);
        for (size_t i = 0; i < b->d.B; i++)
                b->document[i] = i;
}

static void end(struct bench *b)
{
        ran_dataset_release(&b->d);
        ran_tokenizer_free(b->tokenizer);
        free(b->pieces);
        free(b->idf);
        free(b->weight);
        free(b->bias);
        free(b->document);
}

/* ---- what is measured ----------------------------------------------------------------------- */

struct clocks {
        double wall, cpu;
};

static struct clocks start(void)
{
        return (struct clocks){bench_now(), bench_cpu()};
}

static void stop(struct took *took, int step, struct clocks since)
{
        took->wall[step] = bench_now() - since.wall;
        took->cpu[step] = bench_cpu() - since.cpu;
}

static void fit(struct bench *b, const struct ran_svm *svm, double cost)
{
        struct ran_error err = {0};

        memset(b->weight, 0, b->c.linear.wide * b->d.C * sizeof *b->weight);
        memset(b->bias, 0, b->d.C * sizeof *b->bias);
        bench_check(ran_svm_fit(svm, cost, b->weight, b->bias, NULL, NULL, &err), &err);
}

static void make_rows(struct bench *b, struct ran_feature_lists *lists, struct ran_features *f,
                      struct ran_pool *pool, struct took *took)
{
        struct ran_error err = {0};
        struct clocks at = start();

        bench_check(ran_feature_lists_read(lists, &b->c, &b->d, b->pieces, 0, pool, &err), &err);
        stop(took, HASHING, at);
        at = start();
        ran_feature_lists_idf(lists, &b->c, b->document, b->d.B, b->idf);
        bench_check(ran_features_make(f, lists, &b->c, b->document, b->d.B, b->idf, 0, pool, &err),
                    &err);
        stop(took, ROWS, at);
}

static void measure(struct bench *b, size_t threads, struct took *took)
{
        struct ran_error err = {0};
        struct ran_pool *pool = ran_pool_new(threads, &err);
        struct ran_feature_lists lists = {0};
        struct ran_features f = {0};
        struct clocks at;

        bench_check(pool != NULL ? RAN_OK : RAN_ENOMEM, &err);
        make_rows(b, &lists, &f, pool, took);
        struct ran_svm svm = {.d = &b->d,
                              .features = &f,
                              .document = b->document,
                              .row = b->document,
                              .n = b->d.B,
                              .seed = 1,
                              .pool = pool};
        took->cost = 0;
        at = start();
        bench_check(ran_cross_validate(&svm, &took->cost, RAN_RATIOS_AUTO, NULL, NULL, NULL, NULL,
                                       NULL, &err),
                    &err);
        stop(took, CHOOSING, at);
        took->ratios = svm.ratios;
        at = start();
        fit(b, &svm, took->cost);
        stop(took, FITTING, at);
        svm.ratios = false;
        for (int i = 0; i < COSTS; i++) {
                at = start();
                fit(b, &svm, costs[i]);
                stop(took, FIRST_COST + i, at);
        }
        ran_features_release(&f);
        ran_feature_lists_release(&lists);
        ran_pool_free(pool);
}

/* Medians of some runs. */
static struct took measure_often(struct bench *b, size_t threads)
{
        struct took run[RUNS], median = {0};

        for (int r = 0; r < RUNS; r++)
                measure(b, threads, &run[r]);
        for (int step = 0; step < STEPS; step++) {
                double wall[RUNS], cpu[RUNS];

                for (int r = 0; r < RUNS; r++) {
                        wall[r] = run[r].wall[step];
                        cpu[r] = run[r].cpu[step];
                }
                median.wall[step] = bench_median(wall, RUNS);
                median.cpu[step] = bench_median(cpu, RUNS);
        }
        median.cost = run[0].cost;
        median.ratios = run[0].ratios;
        return median;
}

static void print(const struct took *one, const struct took *all, FILE *json)
{
        double sum[2] = {0};

        printf("%-18s %10s %10s %10s %10s %6s\n", "seconds", "one thread", "its CPU", "all",
               "their CPU", "gain");
        for (int i = 0; i < STEPS; i++) {
                printf("%-18s %10.3f %10.3f %10.3f %10.3f %5.2fx\n", names[i], one->wall[i],
                       one->cpu[i], all->wall[i], all->cpu[i], one->wall[i] / all->wall[i]);
                if (json != NULL)
                        fprintf(json,
                                "{\"what\":\"%s\",\"one_seconds\":%.4f,\"one_cpu\":%.4f,"
                                "\"all_seconds\":%.4f,\"all_cpu\":%.4f}\n",
                                names[i], one->wall[i], one->cpu[i], all->wall[i], all->cpu[i]);
                sum[0] += i <= FITTING ? one->wall[i] : 0;
                sum[1] += i <= FITTING ? all->wall[i] : 0;
        }
        printf("%-18s %10.3f %10s %10.3f %10s %5.2fx\n", "to the first fit", sum[0], "", sum[1], "",
               sum[0] / sum[1]);
}

/* ---- LIBLINEAR ------------------------------------------------------------------------------ */

static void write_rows(struct bench *b, const char *path)
{
        struct ran_error err = {0};
        struct ran_feature_lists lists = {0};
        struct ran_features f = {0};
        struct took took;
        FILE *out = fopen(path, "w");

        bench_check(out != NULL ? RAN_OK : ran_fail(&err, RAN_EIO, "%s: %s", path, strerror(errno)),
                    &err);
        make_rows(b, &lists, &f, NULL, &took);
        float *x = ran_alloc_floats(f.columns, &err); /* indices have to ascend */
        bench_check(x != NULL ? RAN_OK : RAN_ENOMEM, &err);
        for (size_t i = 0; i < f.n; i++) {
                bool any = b->d.label_first[i + 1] > b->d.label_first[i];

                fprintf(out, "%ld", any ? (long)b->d.labels[b->d.label_first[i]] : -1L);
                for (size_t g = f.first[i]; g < f.first[i + 1]; g++)
                        x[f.column[g]] = f.x[g];
                for (size_t g = 0; g < f.columns; g++) {
                        if (x[g] > 0)
                                fprintf(out, " %zu:%.7g", g + 1, (double)x[g]);
                        x[g] = 0;
                }
                fputc('\n', out);
        }
        free(x);
        fclose(out);
        ran_features_release(&f);
        ran_feature_lists_release(&lists);
}

int main(int argc, char **argv)
{
        FILE *json = bench_begin(&argc, &argv);
        size_t threads = (size_t)bench_argument(argc, argv, 0, (double)ran_threads_default());
        struct bench b = {0};

        bench_machine(json, threads);
        begin(&b, argc > 1 ? argv[1] : NULL);
        if (argc > 2)
                write_rows(&b, argv[2]);
        struct took one = measure_often(&b, 1), all = measure_often(&b, threads);
        printf("%zu documents of %zu tokens, %zu classes: C %g, %s ratios\n", b.d.B,
               b.d.first[b.d.B], b.d.C, one.cost, one.ratios ? "with" : "without");
        print(&one, &all, json);
        end(&b);
        bench_end(json);
}
