/* tiny.c - see tiny.h. Whatever cannot go wrong here ends the fuzzer if it does. */
#include "tiny.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *__asan_default_options(void);

/* Memory that cannot be had is an error like others. */
const char *__asan_default_options(void)
{
        return "allocator_may_return_null=1";
}

static void must(bool ok)
{
        if (!ok)
                abort();
}

/* ---- files ---------------------------------------------------------------------------------- */

void tiny_open(struct tiny_file *f, const void *bytes, size_t n)
{
        f->fd = memfd_create("tiny", MFD_CLOEXEC);
        must(f->fd >= 0 && write(f->fd, bytes, n) == (ssize_t)n);
        snprintf(f->path, sizeof f->path, "/dev/fd/%d", f->fd);
}

void tiny_close(struct tiny_file *f)
{
        close(f->fd);
}

struct ran_bytes tiny_read(const struct tiny_file *f)
{
        struct ran_bytes b;

        must(ran_bytes_open(&b, f->path, NULL) == RAN_OK);
        return b;
}

/* ---- parts of programs ---------------------------------------------------------------------- */

_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);
int __lsan_is_turned_off(void);

static jmp_buf back;
static bool running, ended;

_Noreturn void __wrap_exit(int status)
{
        if (!running)
                __real_exit(status);
        ended = true;
        longjmp(back, status + 1);
}

/* What a program that ends does not free is lost here. */
int __lsan_is_turned_off(void)
{
        return ended;
}

static int run(void (*part)(void *arg), void *arg)
{
        int status = setjmp(back);

        if (status == 0) {
                running = true;
                part(arg);
        }
        running = false;
        return status - 1;
}

/* One bit for each file that is open; more than these nothing here has. */
static uint64_t open_files(void)
{
        uint64_t files = 0;

        for (int fd = 0; fd < 64; fd++)
                files |= (uint64_t)(fcntl(fd, F_GETFD) >= 0) << fd;
        return files;
}

/* A program that ends need not close its files. */
static void close_files(uint64_t files)
{
        for (int fd = 0; fd < 64; fd++)
                if (files >> fd & 1)
                        close(fd);
}

int tiny_run(void (*part)(void *arg), void *arg)
{
        static int null = -1;
        int out = dup(1), err = dup(2), status;

        if (null < 0)
                null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, 1);
        dup2(null, 2);
        uint64_t before = open_files();
        status = run(part, arg);
        if (status >= 0)
                close_files(open_files() & ~before);
        fflush(stdout);
        dup2(out, 1);
        dup2(err, 2);
        close(out);
        close(err);
        return status;
}

/* ---- edits ---------------------------------------------------------------------------------- */

/* What the fuzzer has invented, as far as it goes. */
struct edits {
        const uint8_t *at, *end;
};

static size_t next(struct edits *e, int bytes)
{
        size_t x = 0;

        while (bytes-- > 0)
                x = x << 8 | (e->at < e->end ? *e->at++ : 0);
        return x;
}

static void insert(struct ran_buf *b, size_t at, const void *bytes, size_t n)
{
        size_t behind = b->len - at;

        ran_buf_add(b, bytes, n);
        memmove(b->data + at + n, b->data + at, behind);
        memcpy(b->data + at, bytes, n);
}

/* A number that a run could have, or could not. */
static void set_number(struct ran_buf *b, size_t at, size_t which)
{
        static const double values[] = {0,        1,   -1,        2,     3,      0.5, 1e9,  1e15,
                                        INFINITY, NAN, -INFINITY, 1e300, 5e-324, 7,   -1e9, 1e38};
        double x = values[which % (sizeof values / sizeof *values)];
        float y = (float)x;

        if (which & 16 && at / 4 * 4 + sizeof y <= b->len)
                memcpy(b->data + at / 4 * 4, &y, sizeof y);
        else if (at / 8 * 8 + sizeof x <= b->len)
                memcpy(b->data + at / 8 * 8, &x, sizeof x);
}

static void edit(struct ran_buf *header, struct ran_buf *data, struct edits *e)
{
        size_t how = next(e, 1), n = how >> 4;
        struct ran_buf *b = how & 4 ? data : header;
        size_t at = next(e, 2) % (b->len + 1), left = (size_t)(e->end - e->at);

        n = n < left ? n : left;
        switch (how & 3) {
        case 0:
                n = n < b->len - at ? n : b->len - at;
                if (n > 0)
                        memcpy(b->data + at, e->at, n);
                e->at += n;
                break;
        case 1:
                if (n > 0)
                        insert(b, at, e->at, n);
                e->at += n;
                break;
        case 2:
                n = n < b->len - at ? n : b->len - at;
                memmove(b->data + at, b->data + at + n, b->len - at - n);
                b->len -= n;
                break;
        default:
                set_number(b, at, next(e, 1));
        }
}

static void mend_digest(struct ran_buf *header, const struct ran_buf *data)
{
        static const char key[] = "\"digest\":\"";
        char *found = memmem(header->data, header->len, key, strlen(key)), hex[65];
        struct ran_sha256 sha;

        if (found == NULL || header->data + header->len - found < (ptrdiff_t)(strlen(key) + 64))
                return;
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, data->data, data->len);
        ran_sha256_hex(&sha, hex);
        memcpy(found + strlen(key), hex, 64);
}

struct ran_bytes tiny_edit(const struct ran_bytes *file, const uint8_t *bytes, size_t size)
{
        struct ran_buf header = {0}, data = {0}, all = {0};
        struct edits e = {bytes, bytes + size};
        uint64_t n;

        memcpy(&n, file->data, sizeof n);
        ran_buf_add(&header, file->data + sizeof n, n);
        ran_buf_add(&data, file->data + sizeof n + n, file->size - sizeof n - n);
        while (e.at < e.end)
                edit(&header, &data, &e);
        mend_digest(&header, &data);
        n = header.len;
        ran_buf_add(&all, &n, sizeof n);
        ran_buf_add(&all, header.data, header.len);
        ran_buf_add(&all, data.data, data.len);
        ran_buf_release(&header);
        ran_buf_release(&data);
        return (struct ran_bytes){(unsigned char *)all.data, all.len, false};
}

/* ---- trainings ------------------------------------------------------------------------------ */

static int on_report(void *arg, const struct ran_train_report *report)
{
        struct tiny *t = arg;

        if (t->stop_at == TINY_IN_REFIT)
                return report->refit &&
                       (report->event == RAN_REPORT_STEP || report->event == RAN_REPORT_LINEAR);
        return ++t->reports == t->stop_at;
}

static void configure(struct tiny *t, int kind)
{
        struct ran_config *c = &t->c;

        must(ran_fields_init(ran_config_fields, c, NULL) == RAN_OK &&
             ran_fields_init(ran_train_fields, &t->s, NULL) == RAN_OK);
        c->dim = c->head_dim = 4;
        c->ffn_dim = 4;
        c->layers = c->heads = 1;
        c->window = 4;
        c->min_window = 1;
        c->contextualizer.rank = 2;
        c->linear.affixes = false;
        t->s.epochs = 2;
        t->s.batch = 2;
        switch (kind) {
        case TINY_CLASSIFY:
                c->linear.wide = 8;
                t->s.wide_cost = 1; /* chosen, it would take all the time */
                t->s.wide_ratios = RAN_RATIOS_NO;
                t->s.refit = true;
                break;
        case TINY_SEVERAL:
                c->encoder = RAN_ENCODER_CONTEXTUALIZER;
                c->classify.multilabel = true;
                c->linear.wide = 8;
                c->linear.affixes = true;
                t->s.wide_cost = 1;
                t->s.wide_ratios = RAN_RATIOS_NO;
                break;
        case TINY_TAG:
                c->task = RAN_TASK_TAG;
                c->tag.crf = true;
                c->linear.wide = 8;
                break;
        case TINY_MLM:
                c->task = RAN_TASK_MLM;
                break;
        default:
                c->task = RAN_TASK_LM;
                c->mask = RAN_MASK_CAUSAL;
                c->lm.shortlist = 6;
                t->s.bptt = kind == TINY_LM;
                if (kind == TINY_TRANSFORMER)
                        c->encoder = RAN_ENCODER_TRANSFORMER;
        }
        if (c->task == RAN_TASK_LM || c->task == RAN_TASK_MLM)
                t->s.metric = RAN_METRIC_LOSS;
}

static void add(struct ran_dataset *d, int kind, uint32_t k, size_t L)
{
        uint32_t ids[16], place[16], label[16];
        int rc;

        for (size_t i = 0; i < L; i++) {
                ids[i] = (uint32_t)((i * i + 3 * i * k + k) % TINY_V);
                place[i] = (uint32_t)i;
                label[i] = (uint32_t)(ids[i] % 3);
        }
        if (kind == TINY_CLASSIFY || kind == TINY_SEVERAL)
                rc = ran_dataset_add(d, ids, L, (uint32_t[]){k % 3, 2}, 1 + (kind == TINY_SEVERAL),
                                     1, NULL);
        else if (kind == TINY_TAG || kind == TINY_MLM)
                rc = ran_dataset_add_words(d, ids, L, place, label, L, 1, NULL);
        else
                rc = ran_dataset_add_text(d, ids, L, 0, 1, NULL);
        must(rc == RAN_OK);
}

static void fill(struct ran_dataset *d, int kind, uint32_t B)
{
        static char *const names[] = {"B-X", "I-X", "O"};

        d->multilabel = kind == TINY_SEVERAL;
        d->given = kind == TINY_MLM;
        strcpy(d->digest, "data");
        if (kind <= TINY_TAG)
                must(ran_dataset_set_classes(d, names, 3, NULL) == RAN_OK);
        else if (kind == TINY_MLM)
                must(ran_dataset_set_classes(d, NULL, 0, NULL) == RAN_OK);
        for (uint32_t k = 0; k < B; k++)
                add(d, kind, k, 3 + 5 * k % 13);
        must(ran_dataset_finish(d, NULL) == RAN_OK);
}

/* One for all that want one. */
static const struct ran_tokenizer *tokenizer(void)
{
        static const char pieces[] = "[UNK]\n[MASK]\n[SEP]\n[START]\n[END]\nsee\nseen\n##ing\n##"
                                     "n\nbe\n\xc3\xa9t\xc3\xa9\n7\n";
        static struct ran_tokenizer *t;

        if (t == NULL)
                t = ran_tokenizer_load(pieces, sizeof pieces - 1, NULL);
        must(t != NULL && ran_tokenizer_size(t) == TINY_V);
        return t;
}

void tiny_init(struct tiny *t, int kind)
{
        *t = (struct tiny){0};
        configure(t, kind);
        fill(&t->train, kind, 6);
        fill(&t->dev, kind, 2);
        t->held[0] = t->held[1] = true;
        t->job = (struct ran_train_job){.config = &t->c,
                                        .settings = &t->s,
                                        .train = &t->train,
                                        .dev = &t->dev,
                                        .held_out = t->held,
                                        .tokenizer = kind == TINY_SEVERAL ? tokenizer() : NULL,
                                        .V = TINY_V,
                                        .checkpoint_seconds = 1e9,
                                        .report = on_report,
                                        .arg = t};
}

struct ran_bytes tiny_model(struct tiny *t)
{
        struct ran_train_job job = t->job;
        struct ran_bytes b;
        struct tiny_file f;

        tiny_open(&f, "", 0);
        job.output = f.path;
        t->reports = t->stop_at = 0;
        must(ran_train(&job, NULL) == RAN_OK);
        b = tiny_read(&f);
        tiny_close(&f);
        return b;
}

struct ran_bytes tiny_checkpoint(struct tiny *t, size_t reports)
{
        struct ran_train_job job = t->job;
        struct ran_error err = {0};
        struct ran_bytes b;
        struct tiny_file f;

        tiny_open(&f, "", 0);
        job.output = "/dev/null";
        job.checkpoint = f.path;
        t->reports = 0;
        t->stop_at = reports;
        must(ran_train(&job, &err) == RAN_EINTR);
        b = tiny_read(&f);
        tiny_close(&f);
        return b;
}

void tiny_release(struct tiny *t)
{
        ran_dataset_release(&t->train);
        ran_dataset_release(&t->dev);
        ran_fields_release(ran_config_fields, &t->c);
        ran_fields_release(ran_train_fields, &t->s);
}
