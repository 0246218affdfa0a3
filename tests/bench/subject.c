/* subject.c - see subject.h. */
#include "subject.h"
#include "products.h"
#include "infer/infer.h"
#include "math/kept-panels.h"
#include "nn/part.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { V = 20000, C = 20, SYLLABLES = 100, BATCH = 32 };
static const double ENOUGH = 10; /* seconds, after which there is no further run */

struct subject {
        const struct subject_shape *shape;
        struct ran_config c;
        struct ran_tokenizer *tokenizer;
        struct ran_dataset d;
        struct ran_buf lines;
        size_t *line; /* (documents + 1) where each begins */
        struct ran_pool *pool;
        size_t outputs;
};

static bool is_lm(const struct subject *s)
{
        return s->c.task == RAN_TASK_LM;
}

/* ---- documents ------------------------------------------------------------------------------ */

static void add_syllable(struct ran_buf *out, size_t i)
{
        ran_buf_char(out, "bcdfghjklmnpqrstvwxz"[i / 5 % 20]);
        ran_buf_char(out, "aeiou"[i % 5]);
}

/* Word i, the frequent ones the shortest. */
static void add_word(struct ran_buf *out, size_t i)
{
        if (i >= (size_t)SYLLABLES * SYLLABLES)
                add_syllable(out, i / SYLLABLES / SYLLABLES);
        if (i >= SYLLABLES)
                add_syllable(out, i / SYLLABLES);
        add_syllable(out, i);
}

static size_t words(void)
{
        return V - RAN_RESERVED - SYLLABLES;
}

/* Reserved pieces, endings, words. */
static struct ran_tokenizer *vocabulary(void)
{
        static const char reserved[] = "[UNK]\n[MASK]\n[SEP]\n[START]\n[END]\n";
        struct ran_error err = {0};
        struct ran_buf text = {0};

        ran_buf_str(&text, reserved);
        for (size_t i = 0; i < SYLLABLES; i++) {
                ran_buf_str(&text, "##");
                add_syllable(&text, i);
                ran_buf_char(&text, '\n');
        }
        for (size_t i = 0; i < words(); i++) {
                add_word(&text, i);
                ran_buf_char(&text, '\n');
        }
        struct ran_tokenizer *t = ran_tokenizer_load(text.data, text.len, &err);
        bench_check(t != NULL ? RAN_OK : err.code, &err);
        ran_buf_release(&text);
        return t;
}

/* A text of L tokens: words by a power law, some with an ending that makes two pieces of them. */
static void add_text(struct subject *s, struct ran_buf *out, size_t L, uint64_t *at)
{
        uint64_t key = ran_random_key(1, 0, 0, 0);

        for (size_t n = 0; n < L; n++) {
                size_t begin = out->len,
                       word = (size_t)pow((double)words(), ran_random_uniform(key, (*at)++)) - 1;
                uint32_t id;

                add_word(out, word);
                if (n + 1 < L && ran_random_uniform(key, (*at)++) < 0.15) {
                        add_syllable(out, ran_random_draw(key, (*at)++) % SYLLABLES);
                        n += !ran_tokenizer_find(s->tokenizer, out->data + begin, out->len - begin,
                                                 &id);
                }
                if (n + 1 < L)
                        ran_buf_char(out, ' ');
        }
}

/* Length of document b: log-normal around the shape's (deviation 0.7), unless it is the only one.
 */
static size_t length_of(const struct subject *s, uint64_t *at)
{
        uint64_t key = ran_random_key(2, 0, 0, 0);
        double u = -1.5;

        if (s->shape->documents == 1)
                return s->shape->tokens;
        for (int i = 0; i < 3; i++)
                u += ran_random_uniform(key, (*at)++);
        return (size_t)fmax(2, (double)s->shape->tokens * exp(1.4 * u) * 0.8);
}

static void write_lines(struct subject *s)
{
        struct ran_error err = {0};
        struct ran_buf *out = &s->lines;
        uint64_t at = 0, drawn = 0;

        s->line = ran_alloc(s->shape->documents + 1, sizeof *s->line, &err);
        bench_check(s->line != NULL ? RAN_OK : RAN_ENOMEM, &err);
        for (size_t b = 0; b < s->shape->documents; b++) {
                ran_buf_printf(out, "{\"id\":%zu,\"label\":\"%c\",\"text\":\"", b,
                               (int)('a' + b % C));
                add_text(s, out, length_of(s, &drawn), &at);
                ran_buf_str(out, "\"}");
                s->line[b + 1] = out->len;
        }
}

/* What a thread reads documents with. */
struct reader {
        struct ran_record record;
        struct ran_buf text;
        struct ran_encoding e;
};

static void reader_release(struct reader *r)
{
        ran_record_release(&r->record);
        ran_buf_release(&r->text);
        ran_encoding_release(&r->e);
}

static void read_document(const struct subject *s, struct reader *r, size_t b)
{
        const char *line = s->lines.data + s->line[b];
        struct ran_error err = {0};

        bench_check(ran_record_scan(&r->record, line, s->line[b + 1] - s->line[b], &err), &err);
        r->text.len = 0;
        bench_check(ran_json_decode(line, ran_record_find(&r->record, "text", NULL)->value,
                                    &r->text, &err),
                    &err);
        bench_check(ran_tokenizer_encode(s->tokenizer, r->text.data, r->text.len, &r->e, &err),
                    &err);
}

static void fill_dataset(struct subject *s)
{
        static const char *names[C] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                       "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};
        struct ran_error err = {0};
        struct reader r = {.e = {0}};

        if (!is_lm(s))
                bench_check(ran_dataset_set_classes(&s->d, (char *const *)names, C, &err), &err);
        for (size_t b = 0; b < s->shape->documents; b++) {
                uint32_t label = 0;

                read_document(s, &r, b);
                if (is_lm(s)) {
                        bench_check(ran_dataset_add_text(&s->d, r.e.ids, r.e.n, 0, 1, &err), &err);
                        continue;
                }
                bench_check(ran_dataset_label(&s->d, names[b % C], 1, &label, &err), &err);
                bench_check(ran_dataset_add(&s->d, r.e.ids, r.e.n, &label, 1, 1, &err), &err);
        }
        bench_check(ran_dataset_finish(&s->d, &err), &err);
        reader_release(&r);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void subject_init(struct subject *s, const struct subject_shape *shape, size_t threads)
{
        struct ran_error err = {0};

        *s = (struct subject){.shape = shape};
        bench_check(ran_fields_init(ran_config_fields, &s->c, &err), &err);
        bench_check(ran_fields_parse(ran_config_fields, &s->c, shape->config, strlen(shape->config),
                                     false, &err),
                    &err);
        s->pool = ran_pool_new(threads, &err);
        bench_check(s->pool != NULL ? RAN_OK : err.code, &err);
        s->tokenizer = vocabulary();
        write_lines(s);
        fill_dataset(s);
        s->outputs = is_lm(s) ? V : C;
}

/* What a process is told, and tells. */
struct order {
        const struct subject_shape *shape;
        bool training, sgemm;
        size_t threads;
        double seconds;
        struct subject_speed speed;
};

/* ---- runs ----------------------------------------------------------------------------------- */

/* The same again and again, a run being as many times as fill its seconds. */
struct runs {
        double seconds, start, began, rate[SUBJECT_RUNS];
        size_t threads;
        int n; /* -1: the first one warms up, unless it alone was long */
        struct subject_speed *speed;
};

static void runs_begin(struct runs *k, double seconds, size_t threads, struct subject_speed *speed)
{
        *k = (struct runs){.seconds = seconds, .n = -1, .threads = threads, .speed = speed};
        k->start = k->began = bench_clock(threads);
        bench_look_begin(threads);
}

/* Takes note, tokens having been done since the run began; false: it is enough. */
static bool runs_go_on(struct runs *k, double tokens, bool *next)
{
        double time = bench_clock(k->threads) - k->start;

        *next = time >= k->seconds;
        if (!*next)
                return true;
        if (k->n < 0 && time < ENOUGH / 4) {
                bench_look_begin(k->threads);
                k->n = 0;
        } else {
                k->n += k->n < 0;
                k->rate[k->n++] = tokens / time;
        }
        k->start = bench_clock(k->threads);
        return k->n < SUBJECT_RUNS && (k->n <= 0 || k->start - k->began < ENOUGH);
}

static void runs_end(struct runs *k)
{
        bench_look_end(k->speed->share);
        k->speed->rate = bench_median(k->rate, (size_t)k->n);
        k->speed->seconds = k->speed->tokens / k->speed->rate;
}

/* ---- training ------------------------------------------------------------------------------- */

struct training {
        struct runs runs;
        double done; /* tokens, when the run began */
};

static int take_step(void *arg, const struct ran_train_report *report)
{
        struct training *t = arg;
        bool next;

        if (report->event != RAN_REPORT_STEP)
                return 0;
        bool on = runs_go_on(&t->runs, (double)report->tokens - t->done, &next);
        if (next)
                t->done = (double)report->tokens;
        return !on;
}

static void train(struct subject *s, struct order *o)
{
        struct ran_train_settings settings;
        struct ran_train_estimate cost;
        struct ran_error err = {0};
        struct training t;

        bench_check(ran_fields_init(ran_train_fields, &settings, &err), &err);
        settings.epochs = 1000000;
        settings.batch = BATCH;
        if (is_lm(s))
                settings.metric = RAN_METRIC_LOSS;
        const struct ran_train_job job = {.config = &s->c,
                                          .settings = &settings,
                                          .train = &s->d,
                                          .tokenizer = s->tokenizer,
                                          .checkpoint_seconds = INFINITY,
                                          .pool = s->pool,
                                          .report = take_step,
                                          .arg = &t};
        bench_check(ran_train_estimate(&job, &cost, &err), &err);
        o->speed.parameters = (double)cost.parameters;
        t.done = 0;
        runs_begin(&t.runs, o->seconds, o->threads, &o->speed);
        int code = ran_train(&job, &err);
        bench_check(code == RAN_EINTR ? RAN_OK : code, &err); /* we ended it */
        runs_end(&t.runs);
}

/* ---- scoring -------------------------------------------------------------------------------- */

struct scoring {
        const struct subject *s;
        struct ran_state **state; /* one a thread */
        struct reader *reader;    /* `abreast` a thread */
        size_t abreast;           /* documents that a thread reads before it scores them */
        float **loss;             /* of texts */
        size_t *loss_cap;
        atomic_size_t next;
};

static void score_text(struct scoring *k, size_t lane, const struct ran_encoding *e)
{
        struct ran_error err = {0};

        RAN_ROOM(k->loss[lane], k->loss_cap[lane], e->n);
        const struct ran_lm_out out = {.gold = e->ids + 1, .nll = k->loss[lane]};
        bench_check(ran_score_lm(k->state[lane], NULL, e->ids, e->n - 1, 0, &out, &err), &err);
}

static void score_documents(struct scoring *k, size_t lane, size_t n)
{
        struct ran_document d[RAN_SCORE_ABREAST];
        struct ran_error err = {0};
        float logits[RAN_SCORE_ABREAST * C];

        for (size_t i = 0; i < n; i++) {
                const struct ran_encoding *e = &k->reader[lane * k->abreast + i].e;

                d[i] = (struct ran_document){.ids = e->ids, .L = e->n};
        }
        for (size_t i = 0, m; i < n; i += m) {
                m = ran_score_abreast(k->state[lane], d + i, n - i);
                bench_check(ran_score_each(k->state[lane], d + i, m, logits, NULL, &err), &err);
        }
}

static void score_lane(void *arg, size_t lane)
{
        struct scoring *k = arg;
        struct reader *reader = k->reader + lane * k->abreast;
        const size_t B = k->s->d.B;
        size_t b;

        while ((b = atomic_fetch_add(&k->next, k->abreast)) < B) {
                const size_t n = B - b < k->abreast ? B - b : k->abreast;

                for (size_t i = 0; i < n; i++)
                        read_document(k->s, &reader[i], b + i);
                if (is_lm(k->s))
                        score_text(k, lane, &reader->e);
                else
                        score_documents(k, lane, n);
        }
}

/* Weights as training begins with them. Returns the embedding, which is the caller's. */
static float *start(struct ran_params *p, const struct ran_config *c, size_t outputs)
{
        struct ran_error err = {0};
        struct ran_layout layout;
        float *embed = ran_alloc_floats((size_t)V * c->dim, &err);

        bench_check(embed != NULL ? RAN_OK : RAN_ENOMEM, &err);
        bench_check(ran_layout_init(&layout, c, outputs, &err), &err);
        bench_check(ran_params_init(p, c, outputs, &err), &err);
        for (size_t i = 0; i < layout.n; i++)
                ran_tensor_init(p->block + layout.spec[i].offset, &layout.spec[i], 1);
        for (size_t i = 0; i < (size_t)V * c->dim; i++)
                embed[i] = (float)(0.1 * ran_random_uniform(2, i) - 0.05);
        p->embed = embed;
        ran_layout_release(&layout);
        return embed;
}

static size_t abreast_of(const struct subject *s, size_t threads)
{
        const size_t even = s->d.B / threads;

        if (ran_parts_abreast(&s->c) == NULL || even == 0)
                return 1;
        return even < RAN_SCORE_ABREAST ? even : RAN_SCORE_ABREAST;
}

static void score(struct subject *s, struct order *o)
{
        struct ran_error err = {0};
        struct ran_params p;
        struct scoring k;
        struct runs runs;
        bool on = true;
        double tokens = 0;

        start(&p, &s->c, s->outputs);
        p.panels = ran_kept_panels_new(false, NULL, NULL);
        const size_t abreast = abreast_of(s, o->threads);
        k = (struct scoring){.s = s,
                             .abreast = abreast,
                             .state = ran_alloc(o->threads, sizeof *k.state, &err),
                             .reader = ran_alloc(o->threads * abreast, sizeof *k.reader, &err),
                             .loss = ran_alloc(o->threads, sizeof *k.loss, &err),
                             .loss_cap = ran_alloc(o->threads, sizeof *k.loss_cap, &err)};
        bench_check(k.state && k.reader && k.loss && k.loss_cap ? RAN_OK : RAN_ENOMEM, &err);
        for (size_t i = 0; i < o->threads; i++)
                k.state[i] = ran_score_state_new(&s->c, &p, s->outputs, s->pool);
        runs_begin(&runs, o->seconds, o->threads, &o->speed);
        while (on) {
                bool next;

                atomic_store(&k.next, 0);
                ran_parallel(s->pool, o->threads, score_lane, &k);
                tokens += o->speed.tokens;
                on = runs_go_on(&runs, tokens, &next);
                tokens = next ? 0 : tokens;
        }
        runs_end(&runs);
}

/* What sgemm makes of the same. A document is scored by itself, or with as many as fill a product;
 * a batch is trained on in shards, see gradient/batch.c. */
static void judge(const struct subject *s, struct order *o)
{
        double mean = (double)s->d.first[s->d.B] / (double)s->d.B;
        double batch = mean * fmin((double)s->d.B, BATCH);
        double shards = fmax(1, floor(fmin(batch / 256, 4)));
        const struct ran_part *encoder = ran_parts_abreast(&s->c);
        double fitting = encoder != NULL ? (double)encoder->abreast / mean : 1;
        double abreast = fmin((double)abreast_of(s, o->threads), fitting);
        double rows = mean * fmax(1, o->training ? batch / shards / mean : abreast);
        const struct product_job job = {.c = &s->c,
                                        .d = &s->d,
                                        .outputs = s->outputs,
                                        .rows = (size_t)fmin(rows, 2048),
                                        .training = o->training};

        o->speed.flops = products_flops(&job);
        if (o->sgemm)
                o->speed.sgemm = products_rate(&job, o->threads, o->seconds / 20);
}

static void run(void *arg)
{
        struct order *o = arg;
        struct subject s;

        subject_init(&s, o->shape, o->threads);
        o->speed.tokens = (double)s.d.first[s.d.B];
        (o->training ? train : score)(&s, o);
        judge(&s, o);
}

/* ---- both ----------------------------------------------------------------------------------- */

struct subject_speed subject_measure(const struct subject_shape *shape, bool training,
                                     size_t threads, double seconds, bool sgemm)
{
        struct order o = {.shape = shape,
                          .training = training,
                          .sgemm = sgemm,
                          .threads = threads,
                          .seconds = seconds};

        o.speed.bytes = bench_in_child(run, &o, sizeof o);
        return o.speed;
}
