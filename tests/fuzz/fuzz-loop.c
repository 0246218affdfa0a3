/* Any bytes as a file that goes through the record loop: a line out for each that is not blank, or
 * where the settings leave it out, none; and whatever it holds, the parts of --shard are the whole,
 * of what is rejected, too. The first byte says what a line is, and what becomes of those that
 * cannot be used; the second how many parts there are, whether sentences of a document go together,
 * and whether two members are joined as the text. */
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/records/loop.h"
#include "cmd/formats/import.h"
#include "tiny.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Once through the loop. */
struct pass {
        char *file;
        int format, on_error;
        size_t max_errors, together;
        bool rejects, accepted, scratch, joined;
        const char *shard;
        struct ran_bytes out, rejected;
        struct cmd_counts counts;
        int status; /* of the loop, or of what ended it */
};

/* together: how many records the program has at once. */
static int answer(const struct cmd_line *line, size_t together, struct ran_buf *result,
                  struct ran_error *err)
{
        if (ran_record_find(&line->record.json, "bad", NULL) != NULL)
                return ran_fail(err, RAN_EFORMAT, "it says so itself");
        ran_buf_printf(result, "[%zu,%zu,%zu]", line->number, line->record.json.count, together);
        return RAN_OK;
}

static int work(void *arg, void *scratch, const struct cmd_line *line, struct cmd_result *result,
                struct ran_error *err)
{
        (void)arg, (void)scratch;
        return answer(line, 1, &result->out, err);
}

static void work_all(void *arg, void *scratch, struct cmd_item *items, size_t n)
{
        (void)arg, (void)scratch;
        for (size_t i = 0; i < n; i++)
                items[i].code = answer(items[i].line, n, &items[i].result->out, items[i].err);
}

/* Some memory, which the loop must give back. */
static void *make_scratch(void *arg)
{
        (void)arg;
        return ran_new(1, 1);
}

static void loop(void *arg)
{
        static const struct cmd_member also[] = {{"bad", NULL}, {NULL, NULL}};
        struct pass *p = arg;
        struct cmd_input input = {.input_format = p->format,
                                  .on_error = p->on_error,
                                  .max_errors = p->max_errors,
                                  .shard = (char *)p->shard};
        struct cmd_output output = {0};
        char *texts[] = {"text,id"};
        struct tiny_file out, rejected;
        const struct cmd_loop all = {.input = &input,
                                     .output = &output,
                                     .into = "n",
                                     .reads = FIELD(ID) | FIELD(TEXT) | FIELD(GROUP),
                                     .also = also,
                                     .make_scratch = p->scratch ? make_scratch : NULL,
                                     .free_scratch = free,
                                     .accepted = p->accepted,
                                     .work = p->together > 0 ? NULL : work,
                                     .work_all = p->together > 0 ? work_all : NULL,
                                     .together = p->together};

        if (p->joined)
                input.columns.text_member = (struct ran_list){.item = texts, .n = 1};
        tiny_open(&out, "", 0);
        tiny_open(&rejected, "", 0);
        output.output = out.path;
        input.rejects = p->rejects ? rejected.path : NULL;
        p->status = cmd_records(&all, (char *[]){p->file, NULL}, &p->counts);
        p->out = tiny_read(&out);
        p->rejected = tiny_read(&rejected);
        tiny_close(&out);
        tiny_close(&rejected);
}

static void run(struct pass *p)
{
        int status = tiny_run(loop, p);

        if (status != -1)
                p->status = status;
        if (p->status < CMD_OK || p->status > CMD_FAILED)
                abort();
}

/* Lines of which something must become. */
static size_t count_lines(const char *s, size_t n, size_t *blank)
{
        const char *end = s + n;
        size_t lines = 0;

        *blank = 0;
        if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
                s += 3;
                *blank += s == end; /* a line without a feed, of nothing else */
        }
        while (s < end) {
                const char *feed = memchr(s, '\n', (size_t)(end - s)), *stop = feed ? feed : end;
                bool empty = true;

                for (const char *c = s; c < stop; c++)
                        empty = empty && (*c == ' ' || *c == '\t' || *c == '\r');
                *(empty ? blank : &lines) += 1;
                s = stop + (feed != NULL);
        }
        return lines;
}

static void check_lines(const struct pass *p, const char *s, size_t n)
{
        const struct cmd_counts *c = &p->counts;
        size_t lines = 0, blank, wanted = count_lines(s, n, &blank);

        for (size_t i = 0; i < p->out.size; i++)
                lines += p->out.data[i] == '\n';
        if (c->good + c->passed + (p->on_error == CMD_ON_ERROR_EMIT ? c->bad : 0) != lines ||
            (p->rejects && (p->rejected.size > 0) != (c->bad > 0)) ||
            (import_choice(p->format) == &import_jsonl &&
             (c->good + c->bad + c->passed + c->left != wanted || c->blank != blank)))
                abort();
}

/* Takes what one part has of the whole from its place on. */
static void check_part(const struct ran_bytes *part, const struct ran_bytes *whole, size_t *at)
{
        if (part->size > whole->size - *at ||
            (part->size > 0 && memcmp(part->data, whole->data + *at, part->size) != 0))
                abort();
        *at += part->size;
}

static void release(struct pass *p)
{
        ran_bytes_release(&p->out);
        ran_bytes_release(&p->rejected);
}

static void check_parts(const struct pass *whole, size_t n)
{
        size_t out = 0, rejected = 0;

        for (size_t i = 1; i <= n; i++) {
                struct pass part = *whole;
                char shard[64];

                snprintf(shard, sizeof shard, "%zu/%zu", i, n);
                part.shard = shard;
                part.out = part.rejected = (struct ran_bytes){0};
                run(&part);
                if (part.status > CMD_SOME_FAILED)
                        abort();
                check_part(&part.out, &whole->out, &out);
                check_part(&part.rejected, &whole->rejected, &rejected);
                release(&part);
        }
        if (out != whole->out.size || rejected != whole->rejected.size)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct tiny_file file;
        struct pass whole = {0};

        if (size < 2)
                return -1;
        tiny_open(&file, data + 2, size - 2);
        whole.file = file.path;
        whole.format = (data[0] & 7) + (data[1] >> 6 & 1) /* auto, and the eight formats */;
        whole.on_error = data[0] >> 3 & 3;
        if (whole.on_error > CMD_ON_ERROR_STOP) {
                whole.on_error = CMD_ON_ERROR_EMIT;
                whole.max_errors = 2;
        }
        whole.rejects = data[0] & 32;
        whole.accepted = data[0] & 64;
        whole.scratch = data[0] & 128;
        whole.together = data[1] & 0x80 ? 3 : 0;
        whole.joined = data[1] & 0x20;
        run(&whole);
        if (whole.status <= CMD_SOME_FAILED) {
                check_lines(&whole, (const char *)data + 2, size - 2);
                check_parts(&whole, data[1] % 4 + 1);
                release(&whole);
        }
        tiny_close(&file);
        return 0;
}
