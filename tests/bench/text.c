/* text.c - how fast text is read by one thread: records scanned and their texts decoded, a
 * vocabulary of each type learned (words counted, then pieces joined), text encoded by it, the
 * encoding written as JSON, too, and the vocabulary read from its file. MB of text a second,
 * medians of several runs, on invented documents whose words are about as long and as frequent as
 * those of English. It is the processor's time that counts, since one thread waits for nobody.
 *
 *   text [-o FILE] [seconds a measurement]
 *
 * -o: the figures, a JSON line each.
 */
#include "ran.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 200000, BYTES = 8 << 20, PIECES = 30000, RUNS = 5 };

static double now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int rc, const struct ran_error *err)
{
        if (rc == RAN_OK)
                return;
        fprintf(stderr, "text: %s\n", err->text);
        exit(3);
}

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* The median of what some runs took, each so many seconds long; the first one warms up. */
static double measure(void (*run)(void *arg), void *arg, double seconds)
{
        double took[RUNS];

        for (int r = -1; r < RUNS; r++) {
                double start = now(), calls = 0;

                do {
                        run(arg);
                        calls++;
                } while (now() - start < seconds);
                if (r >= 0)
                        took[r] = (now() - start) / calls;
        }
        qsort(took, RUNS, sizeof *took, by_value);
        return took[RUNS / 2];
}

/* ---- invented text -------------------------------------------------------------------------- */

/* Records of one document each, {"text": "..."}, and what is done with them. */
struct job {
        struct ran_buf lines;
        size_t *end; /* (n) of each record */
        size_t n, cap;
        size_t bytes; /* of text */
        struct ran_record record;
        struct ran_buf text, result;
        struct ran_encoding encoding;
        struct ran_vocab_settings settings;
        struct ran_counter *counter;
        struct ran_tokenizer *tokenizer;
        bool written; /* the encoding is written as JSON */
};

/* Word number i, of a frequency like 1 / i: made of syllables, the rarer the longer. */
static void add_word(struct ran_buf *out, uint64_t i, bool capital)
{
        static const char onsets[] = "bcdfghlmnprstvw", vowels[] = "aeiou", codas[] = "nrstld";
        uint64_t x = ran_random_draw(1, i), syllables = 1 + (i > 50) + (i > 3000) + x % 4 / 3;

        for (uint64_t s = 0; s < syllables; s++, x >>= 12) {
                char onset = onsets[x % 15];
                ran_buf_char(out, (char)(capital && s == 0 ? onset - 'a' + 'A' : onset));
                ran_buf_char(out, vowels[(x >> 4) % 5]);
                if ((x >> 7) % 3 > 0)
                        ran_buf_char(out, codas[(x >> 9) % 6]);
        }
}

/* Sentences of some twelve words; now and then a number, or a letter that is not ASCII. */
static void invent(struct job *job)
{
        uint64_t at = 0;

        while (job->lines.len < BYTES) {
                size_t words = 50 + ran_random_draw(2, at++) % 500;
                ran_buf_str(&job->lines, "{\"text\":\"");
                size_t begin = job->lines.len;
                for (size_t w = 0; w < words; w++) {
                        uint64_t kind = ran_random_draw(3, at);
                        double u = ran_random_uniform(4, at++);
                        add_word(&job->lines, (uint64_t)pow(WORDS, u) - 1, kind % 12 == 0);
                        if (kind % 300 == 0)
                                ran_buf_str(&job->lines, "\xc3\xa9");
                        if (kind % 200 == 1)
                                ran_buf_size(&job->lines, kind % 2000);
                        ran_buf_str(&job->lines, kind % 12 == 11  ? ". "
                                                 : kind % 15 == 0 ? ", "
                                                 : kind % 99 == 0 ? "\\n"
                                                                  : " ");
                }
                job->bytes += job->lines.len - begin;
                ran_buf_str(&job->lines, "\"}");
                RAN_ROOM(job->end, job->cap, job->n + 1);
                job->end[job->n++] = job->lines.len;
        }
}

/* ---- what is measured ----------------------------------------------------------------------- */

static void read_text(struct job *job, size_t i, struct ran_error *err)
{
        size_t begin = i > 0 ? job->end[i - 1] : 0;

        check(ran_record_scan(&job->record, job->lines.data + begin, job->end[i] - begin, err),
              err);
        job->text.len = 0;
        check(ran_json_decode(job->record.line, job->record.members->value, &job->text, err), err);
}

static void scan(void *arg)
{
        struct job *job = arg;
        struct ran_error err = {0};

        for (size_t i = 0; i < job->n; i++)
                read_text(job, i, &err);
}

static void count(void *arg)
{
        struct job *job = arg;
        struct ran_error err = {0};

        ran_counter_free(job->counter);
        job->counter = ran_counter_new(&job->settings, &err);
        check(job->counter != NULL ? RAN_OK : RAN_ENOMEM, &err);
        for (size_t i = 0; i < job->n; i++) {
                read_text(job, i, &err);
                job->result.len = 0;
                check(ran_counter_words(job->counter, job->text.data, job->text.len, &job->encoding,
                                        &job->result, &err),
                      &err);
                check(ran_counter_add(job->counter, job->result.data, job->result.len, &err), &err);
        }
}

static void learn(void *arg)
{
        struct job *job = arg;
        struct ran_error err = {0};

        ran_tokenizer_free(job->tokenizer);
        job->tokenizer = ran_counter_learn(job->counter, &err);
        check(job->tokenizer != NULL ? RAN_OK : RAN_ENOMEM, &err);
}

static void load(void *arg)
{
        const struct job *job = arg;
        struct ran_error err = {0};
        size_t n;
        const char *json = ran_tokenizer_json(job->tokenizer, &n);
        struct ran_tokenizer *t = ran_tokenizer_load(json, n, &err);

        check(t != NULL ? RAN_OK : RAN_ENOMEM, &err);
        ran_tokenizer_free(t);
}

static void encode(void *arg)
{
        struct job *job = arg;
        struct ran_error err = {0};

        for (size_t i = 0; i < job->n; i++) {
                read_text(job, i, &err);
                check(ran_tokenizer_encode(job->tokenizer, job->text.data, job->text.len,
                                           &job->encoding, &err),
                      &err);
                job->result.len = 0;
                if (job->written)
                        ran_encoding_json(&job->encoding, job->tokenizer, false, &job->result);
        }
}

static void measure_type(struct job *job, const char *name, double seconds, FILE *json)
{
        struct ran_error err = {0};
        double mb = 1e-6 * (double)job->bytes;

        check(ran_fields_init(ran_vocab_fields, &job->settings, &err), &err);
        for (const struct ran_field *f = ran_vocab_fields; f->name != NULL; f++) {
                if (strcmp(f->name, "vocab_type") == 0)
                        check(ran_field_set(f, &job->settings, name, &err), &err);
        }
        for (const struct ran_field *f = ran_vocab_fields; f->name != NULL; f++) {
                if (f->unless.field != NULL)
                        check(ran_field_init(ran_vocab_fields, f, &job->settings, &err), &err);
        }
        job->settings.vocab_size = PIECES;
        double counting = measure(count, job, seconds), learning = measure(learn, job, seconds);
        double loading = measure(load, job, seconds);
        job->written = false;
        double encoding = measure(encode, job, seconds);
        job->written = true;
        double writing = measure(encode, job, seconds);
        printf("%-12s %8zu %9.1f %9.2f %9.1f %9.1f %9.1f\n", name,
               ran_tokenizer_size(job->tokenizer), mb / counting, learning, mb / encoding,
               mb / writing, 1e3 * loading);
        fflush(stdout);
        if (json != NULL)
                fprintf(json,
                        "{\"vocab_type\":\"%s\",\"pieces\":%zu,\"megabytes\":%.2f,"
                        "\"counting_mb_per_second\":%.2f,\"learning_seconds\":%.4f,"
                        "\"encoding_mb_per_second\":%.2f,\"encoding_json_mb_per_second\":%.2f,"
                        "\"loading_seconds\":%.5f}\n",
                        name, ran_tokenizer_size(job->tokenizer), mb, mb / counting, learning,
                        mb / encoding, mb / writing, loading);
        ran_counter_free(job->counter);
        ran_tokenizer_free(job->tokenizer);
        job->counter = NULL;
        job->tokenizer = NULL;
}

int main(int argc, char **argv)
{
        struct ran_error err = {0};
        struct job job = {0};
        FILE *json = NULL;
        int option;

        while ((option = getopt(argc, argv, "o:")) == 'o')
                if ((json = fopen(optarg, "w")) == NULL)
                        check(ran_fail(&err, RAN_EIO, "%s: %s", optarg, strerror(errno)), &err);
        if (option != -1)
                return 2;
        double seconds = optind < argc ? atof(argv[optind]) : 0.3;

        invent(&job);
        double scanning = 1e-6 * (double)job.bytes / measure(scan, &job, seconds);
        printf("%zu records, %.1f MB of text; scanned and decoded: %.0f MB/s\n", job.n,
               1e-6 * (double)job.bytes, scanning);
        if (json != NULL)
                fprintf(json,
                        "{\"records\":%zu,\"megabytes\":%.2f,\"scanning_mb_per_second\":%.1f}\n",
                        job.n, 1e-6 * (double)job.bytes, scanning);
        printf("%-12s %8s %9s %9s %9s %9s %9s\n", "", "pieces", "counting", "learning", "encoding",
               "and JSON", "loading");
        printf("%-12s %8s %9s %9s %9s %9s %9s\n", "", "", "MB/s", "s", "MB/s", "MB/s", "ms");
        for (const char *const *name = (const char *const[]){"word", "wordpiece", "bpe", NULL};
             *name != NULL; name++)
                measure_type(&job, *name, seconds, json);
        ran_buf_release(&job.lines);
        ran_buf_release(&job.text);
        ran_buf_release(&job.result);
        ran_record_release(&job.record);
        ran_encoding_release(&job.encoding);
        free(job.end);
        return json != NULL && fclose(json) != 0 ? 3 : 0;
}
