/* parallel.c - two plain files as records.
 *
 * A thread writes the records into a pipe that becomes standard input, so that all that reads
 * records reads these, too, with their line numbers. The files are mapped, not copied.
 */
#include "cmd/records/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/formats/import.h"
#include "cmd/options/message.h"
#include "cmd/options/outputs.h"

#define OPTION(member) offsetof(struct cmd_parallel, member)

const struct ran_field cmd_parallel_fields[] = {
        {"source_file", 0, RAN_FIELD_TEXT, OPTION(source_file), .value = "FILE", .local = true,
         .help = "read the sources from the lines of a plain file, instead of records"},
        {"target_file", 0, RAN_FIELD_TEXT, OPTION(target_file), .value = "FILE", .local = true,
         .help = "their targets, from the same lines of another file"},
        {0},
};

/* ---- lines ---------------------------------------------------------------------------------- */

/* A file, read line by line. */
struct plain {
        const char *name;
        struct ran_bytes bytes;
        size_t at;
};

static const char *text_of(const struct plain *l)
{
        return (const char *)l->bytes.data;
}

static void open_lines(struct plain *l, const char *name)
{
        struct ran_error err;

        *l = (struct plain){.name = name};
        if (name == NULL)
                return;
        if (ran_bytes_open(&l->bytes, name, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s: %s", name, err.text);
}

static size_t count_lines(const struct plain *l)
{
        const char *s = text_of(l), *end = s + l->bytes.size;
        size_t n = 0;

        for (const char *at = s; at < end; n++) {
                const char *feed = memchr(at, '\n', (size_t)(end - at));

                at = feed != NULL ? feed + 1 : end;
        }
        return n;
}

/* The next line without its end: false if there is none. */
static bool next_line(struct plain *l, const char **line, size_t *n)
{
        size_t left = l->bytes.size - l->at;

        if (left == 0)
                return false;
        *line = text_of(l) + l->at;
        const char *feed = memchr(*line, '\n', left);
        *n = feed != NULL ? (size_t)(feed - *line) : left;
        l->at += *n + (feed != NULL);
        const size_t mark = ran_utf8_mark(*line, *n);
        *line += mark;
        *n -= mark;
        *n -= *n > 0 && (*line)[*n - 1] == '\r';
        return true;
}

/* ---- records -------------------------------------------------------------------------------- */

/* Bytes as they are, so that invalid ones make a bad record. */
static void add_string(struct ran_buf *out, const char *name, const char *s, size_t n)
{
        ran_buf_printf(out, "\"%s\":\"", name);
        for (size_t i = 0; i < n; i++) {
                if (s[i] == '"' || s[i] == '\\')
                        ran_buf_char(out, '\\');
                if (s[i] == '\t')
                        ran_buf_str(out, "\\t");
                else if ((unsigned char)s[i] < 0x20)
                        ran_buf_printf(out, "\\u%04x", (unsigned)s[i]);
                else
                        ran_buf_char(out, s[i]);
        }
        ran_buf_char(out, '"');
}

struct writer {
        struct plain source, target; /* target.name NULL: sources only */
        bool all;                    /* empty lines, too, are records */
        int fd;
};

/* Appends the next record: false after the last. */
static bool add_record(struct writer *w, struct ran_buf *out)
{
        const char *source, *target = "";
        size_t n, m = 0;

        if (!next_line(&w->source, &source, &n))
                return false;
        if (w->target.name != NULL)
                next_line(&w->target, &target, &m);
        if (n > 0 || m > 0 || w->all) {
                ran_buf_char(out, '{');
                add_string(out, "source", source, n);
                if (w->target.name != NULL) {
                        ran_buf_char(out, ',');
                        add_string(out, "target", target, m);
                }
                ran_buf_char(out, '}');
        }
        ran_buf_char(out, '\n');
        return true;
}

/* ---- records, as they are read -------------------------------------------------------------- */

/* Finds the end of the string that begins at `at`, in a record that add_record wrote. */
static size_t string_end(const struct text_line *text, size_t at)
{
        while (at < text->n && text->s[at] != '"')
                at += text->s[at] == '\\' ? 2 : 1;
        return at < text->n ? at : text->n;
}

/* Bytes before the source, and between it and the target. */
enum { SOURCE_BEGIN = sizeof "{\"source\":\"" - 1, TARGET_BEGIN = sizeof "\",\"target\":\"" - 1 };

/* Where the string with the byte `at` begins: that of the target, or of the source. */
static size_t string_of(const struct text_line *text, size_t at)
{
        const size_t begin = SOURCE_BEGIN, end = string_end(text, begin);

        return at < end ? begin : end + TARGET_BEGIN;
}

/* Bytes of the line of the file. */
static size_t unescaped(const char *s, const char *end)
{
        size_t n = 0;

        for (; s < end; n++)
                s += *s != '\\' ? 1 : s[1] == 'u' ? 6 : 2;
        return n;
}

static int import(const struct import *i, const struct text_line *text, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        const size_t valid = ran_utf8_valid(text->s, text->n), begin = string_of(text, valid);

        (void)i;
        (void)out;
        (void)line;
        if (valid == text->n)
                return RAN_OK; /* it is a record itself */
        return import_refuse_column(text, valid, unescaped(text->s + begin, text->s + valid) + 1,
                                    err);
}

/* The names of the files, while standard input has their lines. */
static const char *source_name, *target_name;

static const char *blames(const struct text_line *text)
{
        const size_t valid = ran_utf8_valid(text->s, text->n);

        return valid < text->n && string_of(text, valid) > SOURCE_BEGIN ? target_name : source_name;
}

static const struct import_format format = {
        .unit = LINES_EACH, .any_bytes = true, .import = import, .blames = blames};

const struct import_format *parallel_format(const char **file)
{
        if (source_name == NULL)
                return NULL;
        *file = source_name;
        return &format;
}

/* ---- through a pipe ------------------------------------------------------------------------- */

static void write_all(int fd, struct ran_buf *out)
{
        for (size_t at = 0; at < out->len;) {
                ssize_t n = write(fd, out->data + at, out->len - at);

                if (n < 0 && errno != EINTR)
                        cmd_die(CMD_FAILED, "cannot pass lines on: %s", strerror(errno));
                at += n > 0 ? (size_t)n : 0;
        }
        out->len = 0;
}

static void *write_records(void *arg)
{
        struct writer *w = arg;
        struct ran_buf out = {0};
        bool more = true;

        while (more) {
                more = add_record(w, &out);
                if (out.failed)
                        cmd_die(CMD_FAILED, "no memory for a line of %s", w->source.name);
                if (out.len >= 1 << 16 || !more)
                        write_all(w->fd, &out);
        }
        close(w->fd);
        ran_buf_release(&out);
        ran_bytes_release(&w->source.bytes);
        ran_bytes_release(&w->target.bytes);
        free(w);
        return NULL;
}

/* ---- the options ---------------------------------------------------------------------------- */

static void check(const struct cmd_parallel *p, bool needs_target, char **operands)
{
        if (p->source_file == NULL)
                cmd_usage("--target-file needs --source-file FILE");
        if (needs_target && p->target_file == NULL)
                cmd_usage("--source-file needs --target-file FILE");
        if (operands[0] != NULL)
                cmd_usage("--source-file takes the place of records: leave out %s", operands[0]);
}

/* Starts the thread; its end of the pipe is the writer's. */
static void start(struct writer *w)
{
        pthread_t thread;
        int fd[2];

        if (pipe(fd) != 0 || dup2(fd[0], STDIN_FILENO) < 0)
                cmd_die(CMD_FAILED, "cannot make a pipe: %s", strerror(errno));
        close(fd[0]);
        w->fd = fd[1];
        int rc = pthread_create(&thread, NULL, write_records, w);
        if (rc != 0)
                cmd_die(CMD_FAILED, "cannot start a thread: %s", strerror(rc));
        pthread_detach(thread);
}

void cmd_parallel_begin(const struct cmd_parallel *p, bool needs_target, bool all, char **operands)
{
        struct ran_error err;

        if (p->source_file == NULL && p->target_file == NULL)
                return;
        check(p, needs_target, operands);
        struct writer *w = ran_alloc(1, sizeof *w, &err);
        if (w == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        w->all = all;
        open_lines(&w->source, p->source_file);
        open_lines(&w->target, p->target_file);
        size_t n = count_lines(&w->source), m = count_lines(&w->target);
        if (p->target_file != NULL && n != m)
                cmd_die(CMD_FAILED,
                        "%s has %zu lines and %s has %zu: each line needs its counterpart",
                        p->source_file, n, p->target_file, m);
        source_name = p->source_file;
        target_name = p->target_file;
        start(w);
}

void cmd_parallel_check_output(const struct cmd_parallel *p, const char *option, const char *path)
{
        char *files[] = {p->source_file, p->target_file, NULL};

        if (p->source_file != NULL)
                cmd_check_inputs(option, path, files);
}
