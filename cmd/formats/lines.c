/* lines.c - reads a file as groups of texts: lines, sentences or whole files, each as soon as it
 * arrives. */
#include "cmd/formats/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/formats/unpack.h"

/* Bounds of a group: enough to keep many threads busy, small enough for memory with its results. */
enum { GROUP_BYTES = 4 << 20, GROUP_LINES = 4096 };

const char *lines_name(const struct lines *l)
{
        return strcmp(l->file, "-") == 0 ? "standard input" : l->file;
}

static int open_file(struct lines *l, const char *file, struct ran_error *err)
{
        l->file = file;
        l->fd = STDIN_FILENO;
        if (strcmp(file, "-") != 0)
                l->fd = open(file, O_RDONLY | O_CLOEXEC);
        l->why = l->fd < 0 ? strerror(errno) : NULL;
        l->fresh = true;
        l->packed = false;
        if (l->fd < 0)
                return ran_fail(err, RAN_EIO, "cannot open %s: %s", file, l->why);
        return RAN_OK;
}

static void close_file(struct lines *l)
{
        unpack_close(l->unpack);
        l->unpack = NULL;
        if (l->fd > STDIN_FILENO)
                close(l->fd);
        l->fd = -1;
}

int lines_open(struct lines *l, const char *file, struct ran_error *err)
{
        *l = (struct lines){.unit = LINES_EACH, .peeking = true};
        return open_file(l, file, err);
}

void lines_open_files(struct lines *l, char **files, size_t n)
{
        *l = (struct lines){.unit = LINES_FILE, .fd = -1, .next_file = files, .files = n};
}

void lines_close(struct lines *l)
{
        close_file(l);
        free(l->data);
        free(l->line);
        *l = (struct lines){.fd = -1};
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Whether reading would return at once. */
static bool readable(const struct lines *l)
{
        if (l->unpack != NULL)
                return unpack_ready(l->unpack);
        return poll(&(struct pollfd){.fd = l->fd, .events = POLLIN}, 1, 0) > 0;
}

static int fail_reading(struct lines *l, struct ran_error *err)
{
        return ran_fail(err, RAN_EIO, "cannot read %s: %s", lines_name(l), l->why);
}

/* Starts a decompressor if the file, which begins at `begin`, is compressed. */
static int look_inside(struct lines *l, size_t begin, struct ran_error *err)
{
        const struct unpack_kind *kind;
        enum unpack_match match = unpack_match(l->data + begin, l->end - begin, &kind);

        l->fresh = match == UNPACK_MAYBE && !l->ended;
        if (match != UNPACK_YES)
                return RAN_OK;
        l->unpack = unpack_open(kind, l->fd, l->data + begin, l->end - begin, &l->why);
        l->packed = true;
        l->end = begin;
        return l->unpack != NULL ? RAN_OK : fail_reading(l, err);
}

/* Appends what the decompressor has. */
static int read_unpacked(struct lines *l, struct ran_error *err)
{
        ssize_t n = unpack_read(l->unpack, l->data + l->end, l->cap - l->end);

        if (n < 0) {
                l->why = unpack_why(l->unpack);
                return fail_reading(l, err);
        }
        l->end += (size_t)n;
        l->ended = n == 0;
        return RAN_OK;
}

/* What a decompressor takes with the first bytes of a file. */
enum { FIRST_BYTES = 1 << 15 };

/* Appends what has arrived; waits if nothing has. begin: where the file begins in data. */
static int read_more(struct lines *l, size_t begin, struct ran_error *err)
{
        size_t want = l->end < GROUP_BYTES / 4 ? GROUP_BYTES / 4 : l->end + 1;

        if (l->fresh && want < l->end + FIRST_BYTES)
                want = l->end + FIRST_BYTES;
        char *grown = ran_grow(l->data, &l->cap, want, 1, err);
        if (grown == NULL)
                return RAN_ENOMEM;
        l->data = grown;
        if (l->unpack != NULL)
                return read_unpacked(l, err);
        ssize_t n = read(l->fd, l->data + l->end, l->fresh ? FIRST_BYTES : l->cap - l->end);
        if (n > 0)
                l->end += (size_t)n;
        else if (n == 0)
                l->ended = true;
        else if (errno == EAGAIN)
                poll(&(struct pollfd){.fd = l->fd, .events = POLLIN}, 1, -1);
        else if (errno != EINTR) {
                l->why = strerror(errno);
                return fail_reading(l, err);
        }
        return l->fresh ? look_inside(l, begin, err) : RAN_OK;
}

/* Whether a file begins with an array of which a record may have ended: nobody should wait for the
 * end of its line, which may be all of the file. */
static bool is_begun_array(const struct lines *l)
{
        size_t at = l->begin + ran_utf8_mark(l->data + l->begin, l->end - l->begin);
        size_t brackets = 0;

        while (l->peeking && at < l->end && memchr(" \t\r\n[", l->data[at], 5) != NULL)
                brackets += l->data[at++] == '[';
        return brackets > 0 && at < l->end && l->data[at] == '{' &&
               memchr(l->data + at, '}', l->end - at) != NULL;
}

/* Whether a line ends in [s, s + n), or another unit may. */
static bool has_line_end(const struct lines *l, const char *s, size_t n)
{
        if (n == 0 || memchr(s, '\n', n) != NULL)
                return n > 0;
        return (l->unit == LINES_ROW && memchr(s, '\r', n) != NULL) ||
               (l->unit == LINES_VALUE && memchr(s, '}', n) != NULL) || is_begun_array(l);
}

/* Reads until there is a whole line, and on while more has arrived. A file that cannot be read
 * further first gives the lines that were. */
static int fill(struct lines *l, struct ran_error *err)
{
        size_t searched = l->kept;
        bool whole = false;

        l->end -= l->begin;
        if (l->end > 0)
                memmove(l->data, l->data + l->begin, l->end);
        l->offset += l->begin;
        l->begin = 0;
        if (l->why != NULL && has_line_end(l, l->data + searched, l->end - searched))
                return RAN_OK;
        if (l->why != NULL)
                return fail_reading(l, err);
        while (!l->ended) {
                if (!whole && l->end > searched)
                        whole = has_line_end(l, l->data + searched, l->end - searched);
                searched = l->end;
                if (whole && (l->end >= GROUP_BYTES || !readable(l)))
                        break;
                int code = read_more(l, 0, err);
                if (code != RAN_OK)
                        return whole && l->why != NULL ? RAN_OK : code;
        }
        return RAN_OK;
}

/* ---- splitting ------------------------------------------------------------------------------ */

static bool is_blank(const char *s, size_t n)
{
        while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r'))
                n--;
        return n == 0;
}

/* Strips a byte order mark and the CR of the line end. */
static void strip(const char **s, size_t *n, bool first)
{
        size_t mark = first ? ran_utf8_mark(*s, *n) : 0;

        *s += mark;
        *n -= mark;
        if (*n > 0 && (*s)[*n - 1] == '\r')
                --*n;
}

static int add_text(struct lines *l, struct text_line text, struct ran_error *err)
{
        struct text_line *grown =
                ran_grow(l->line, &l->line_cap, l->count + 1, sizeof(*l->line), err);

        if (grown == NULL)
                return RAN_ENOMEM;
        l->line = grown;
        text.file = l->file;
        if (text.s != NULL && !l->packed)
                text.offset = l->offset + (size_t)(text.s - l->data);
        l->line[l->count++] = text;
        return RAN_OK;
}

static int add_line(struct lines *l, const char *s, size_t n, struct ran_error *err)
{
        struct lines_count before = l->at;

        strip(&s, &n, l->at.number++ == 0);
        if (is_blank(s, n)) {
                l->at.blank++;
                return RAN_OK;
        }
        return add_text(
                l, (struct text_line){.s = s, .n = n, .number = l->at.number, .before = before},
                err);
}

/* The whole line at `from`: its length and the start of the next; false without one. */
static bool whole_line(const struct lines *l, size_t from, size_t *n, size_t *next)
{
        const char *s = l->data + from;
        const char *feed = from < l->end ? memchr(s, '\n', l->end - from) : NULL;

        if (from == l->end || (feed == NULL && !l->ended && !is_begun_array(l)))
                return false;
        *n = feed != NULL ? (size_t)(feed - s) : l->end - from;
        *next = from + *n + (feed != NULL);
        return true;
}

/* Makes a group of the whole lines. */
static int split_each(struct lines *l, struct ran_error *err)
{
        size_t n, next;

        while (!l->more && whole_line(l, l->begin, &n, &next)) {
                RAN_TRY(add_line(l, l->data + l->begin, n, err));
                l->begin = next;
                l->more = l->count == GROUP_LINES;
        }
        return RAN_OK;
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* The block ends before the byte `end`; the next one begins at `next`. */
static int end_block(struct lines *l, size_t end, size_t next, size_t doc, struct ran_error *err)
{
        const char *s = l->data + l->begin;
        size_t n = end - l->begin;
        int code = RAN_OK;

        strip(&s, &n, l->began.number == 0);
        if (l->first > 0)
                code = add_text(
                        l,
                        (struct text_line){
                                .s = s, .n = n, .number = l->first, .doc = doc, .before = l->began},
                        err);
        l->more = l->count == GROUP_LINES;
        l->began = l->at;
        l->begin = next;
        l->first = l->scanned = 0;
        return code;
}

/* One line of a block. A line that begins a document belongs to the sentence after it, and ends the
 * one before it if no blank line does. */
static int scan_line(struct lines *l, const char *s, size_t n, size_t from, size_t next,
                     struct ran_error *err)
{
        strip(&s, &n, l->at.number == 0);
        const enum lines_role role = l->role != NULL ? l->role(s, n) : LINES_WORD;
        const bool begins = role == LINES_DOCUMENT;
        if (begins && l->first > 0)
                return end_block(l, from - (from > l->begin), from, l->at.doc, err);
        l->at.number++;
        l->at.doc += begins;
        l->scanned = next - l->begin;
        if (!is_blank(s, n)) {
                if (role == LINES_WORD && l->first == 0)
                        l->first = l->at.number;
                return RAN_OK;
        }
        l->at.blank++;
        if (l->first > 0)
                return end_block(l, from - 1, next, l->at.doc, err);
        if (from == l->begin) { /* only blank lines precede it */
                l->began = l->at;
                l->begin = next;
                l->scanned = 0;
        }
        return RAN_OK;
}

static int split_blocks(struct lines *l, struct ran_error *err)
{
        size_t n, next;

        while (!l->more && whole_line(l, l->begin + l->scanned, &n, &next)) {
                size_t from = l->begin + l->scanned;
                RAN_TRY(scan_line(l, l->data + from, n, from, next, err));
        }
        l->kept = l->scanned;
        if (!l->ended || l->more)
                return RAN_OK;
        size_t end = l->end;
        if (end > l->begin && l->data[end - 1] == '\n')
                end--;
        return end_block(l, end, l->end, l->at.doc, err);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* A row of nothing but delimiters, as spreadsheets leave them at the end, is blank. */
static bool is_blank_row(const struct lines *l, const char *s, size_t n)
{
        while (n > 0 && (is_blank(s + n - 1, 1) || s[n - 1] == l->table.delimiter))
                n--;
        return n == 0;
}

static int add_row(struct lines *l, const char *s, size_t n, struct ran_error *err)
{
        struct lines_count before = l->at;
        size_t mark = l->at.number == 0 ? ran_utf8_mark(s, n) : 0;

        l->at.number += 1 + table_line_ends(s, n);
        if (is_blank_row(l, s + mark, n - mark)) {
                l->at.blank++;
                return RAN_OK;
        }
        return add_text(l,
                        (struct text_line){.s = s + mark,
                                           .n = n - mark,
                                           .number = before.number + 1,
                                           .before = before},
                        err);
}

static int split_rows(struct lines *l, struct ran_error *err)
{
        size_t end, next;

        if (l->begin < l->end && l->table.returned) {
                l->begin += l->data[l->begin] == '\n';
                l->table.returned = false;
        }
        /* A mark before a quote must not hide it. */
        if (l->at.number == 0 && l->scanned == 0)
                l->scanned = ran_utf8_mark(l->data + l->begin, l->end - l->begin);
        while (!l->more && l->begin < l->end &&
               table_row_end(&l->table, l->data + l->begin, l->end - l->begin, l->ended,
                             &l->scanned, &end, &next)) {
                RAN_TRY(add_row(l, l->data + l->begin, end, err));
                l->begin += next;
                l->scanned = 0;
                l->more = l->count == GROUP_LINES;
        }
        l->kept = l->scanned;
        return RAN_OK;
}

/* ---- JSON values ---------------------------------------------------------------------------- */

static size_t count_feeds(const char *s, size_t n)
{
        size_t feeds = 0;

        for (const char *end = s + n; (s = memchr(s, '\n', (size_t)(end - s))) != NULL; s++)
                feeds++;
        return feeds;
}

/* Moves to where a value begins. at.number: the lines that have ended. */
static void pass_to_value(struct lines *l)
{
        size_t from = l->begin, to;

        if (l->offset + l->begin == 0)
                from += ran_utf8_mark(l->data, l->end);
        to = values_skip(&l->values, l->data, l->end, from);
        l->at.number += count_feeds(l->data + l->begin, to - l->begin);
        l->begin = to;
}

static int split_values(struct lines *l, struct ran_error *err)
{
        while (!l->more) {
                if (l->scanned == 0)
                        pass_to_value(l);
                const char *s = l->data + l->begin;
                if (l->begin == l->end ||
                    !values_end(&l->values, s, l->end - l->begin, l->ended, &l->scanned))
                        break;
                RAN_TRY(add_text(l,
                                 (struct text_line){.s = s,
                                                    .n = l->scanned,
                                                    .number = l->at.number + 1,
                                                    .before = l->at},
                                 err));
                l->at.number += count_feeds(s, l->scanned);
                l->begin += l->scanned;
                l->scanned = 0;
                l->more = l->count == GROUP_LINES;
        }
        l->kept = l->scanned;
        return RAN_OK;
}

/* ---- whole files ---------------------------------------------------------------------------- */

/* The bytes of a file that begins at `begin`, as --shard counts them. */
static uint64_t size_of(const struct lines *l, size_t begin)
{
        struct stat status;

        if (l->fd >= 0 && fstat(l->fd, &status) == 0 && S_ISREG(status.st_mode))
                return (uint64_t)status.st_size;
        return l->end - begin;
}

/* Appends all of the next file to data. */
static int read_file(struct lines *l, struct ran_error *err)
{
        size_t begin = l->end;
        int code = open_file(l, *l->next_file++, err);

        l->files--;
        l->ended = false;
        while (code == RAN_OK && !l->ended)
                code = read_more(l, begin, err);
        uint64_t size = size_of(l, begin);
        close_file(l);
        if (code != RAN_OK && l->why == NULL)
                return code;
        if (l->why != NULL)
                l->end = begin;
        return add_text(
                l,
                (struct text_line){.n = l->end - begin, .number = 1, .why = l->why, .size = size},
                err);
}

/* Only now, with all files read, data no longer moves and texts can point into it. */
static void point_to_files(struct lines *l)
{
        const char *s = l->data != NULL ? l->data : "";
        uint64_t offset = l->offset;

        for (size_t i = 0; i < l->count; i++) {
                struct text_line *text = &l->line[i];
                size_t mark = ran_utf8_mark(s, text->n);
                text->s = s + mark;
                text->offset = offset;
                offset += text->size;
                s += text->n;
                text->n -= mark;
        }
}

static int next_files(struct lines *l, struct ran_error *err)
{
        for (size_t i = 0; i < l->count; i++)
                l->offset += l->line[i].size;
        l->count = l->begin = l->end = 0;
        while (l->files > 0 && l->end < GROUP_BYTES && l->count < GROUP_LINES) {
                RAN_TRY(read_file(l, err));
        }
        point_to_files(l);
        l->ended = l->files == 0;
        return RAN_OK;
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Of the lines from `at` on, those that are whole, up to the bound after the first. */
static struct sample sample_of(const struct lines *l, size_t at)
{
        size_t n, next, from = at;
        struct sample sample = {.s = l->data + at, .all = l->ended};

        while (from - at < SAMPLE_BYTES && whole_line(l, from, &n, &next))
                from = next;
        sample.n = from - at;
        sample.all = l->ended && from == l->end;
        return sample;
}

/* Reads on in a file on disk, which may be compressed, to the end of a sample. */
static int fill_sample(struct lines *l, size_t at, struct ran_error *err)
{
        struct stat status;

        if (fstat(l->fd, &status) != 0 || !S_ISREG(status.st_mode))
                return RAN_OK;
        while (!l->ended && l->why == NULL && l->end - at < 2 * SAMPLE_BYTES) {
                int code = read_more(l, 0, err);
                if (code != RAN_OK && l->why == NULL)
                        return code; /* else the lines that were read come first */
        }
        return RAN_OK;
}

int lines_peek(struct lines *l, struct text_line *line, struct sample *sample,
               struct ran_error *err)
{
        size_t at = 0, next, n;

        *line = (struct text_line){.file = l->file};
        *sample = (struct sample){0};
        do {
                RAN_TRY(fill(l, err));
                for (; whole_line(l, at, &n, &next); at = next) {
                        const char *s = l->data + at;
                        strip(&s, &n, at == 0);
                        if (is_blank(s, n))
                                continue;
                        const size_t begin = (size_t)(s - l->data);
                        RAN_TRY(fill_sample(l, begin, err));
                        *sample = sample_of(l, begin);
                        line->s = l->data + begin;
                        line->n = n;
                        l->kept = 0;
                        return RAN_OK;
                }
                l->kept = l->end;
        } while (!l->ended);
        return RAN_OK;
}

int lines_peek_on(struct lines *l, struct text_line *line, struct sample *sample,
                  struct ran_error *err)
{
        const int patience = 200; /* milliseconds: nobody who types notices */

        if (l->unpack == NULL && !l->ended)
                poll(&(struct pollfd){.fd = l->fd, .events = POLLIN}, 1, patience);
        return lines_peek(l, line, sample, err);
}

int lines_read_all(struct lines *l, struct ran_error *err)
{
        while (!l->ended)
                RAN_TRY(read_more(l, 0, err));
        return RAN_OK;
}

int lines_replace(struct lines *l, const struct ran_buf *with, struct ran_error *err)
{
        char *grown = ran_grow(l->data, &l->cap, with->len, 1, err);

        if (grown == NULL)
                return RAN_ENOMEM;
        l->data = grown;
        if (with->len > 0)
                memcpy(grown, with->data, with->len);
        l->begin = l->kept = 0;
        l->end = with->len;
        l->packed = true;
        return RAN_OK;
}

const char *lines_first_bytes(const struct lines *l, size_t *n)
{
        *n = l->offset == 0 ? l->end - l->begin : 0;
        return *n > 0 ? l->data + l->begin : "";
}

int lines_next(struct lines *l, struct ran_error *err)
{
        if (l->unit == LINES_FILE)
                return next_files(l, err);
        l->peeking = false;
        do {
                if (!l->more)
                        RAN_TRY(fill(l, err));
                l->count = l->kept = 0;
                l->more = false;
                RAN_TRY(l->unit == LINES_SENTENCE ? split_blocks(l, err)
                        : l->unit == LINES_ROW    ? split_rows(l, err)
                        : l->unit == LINES_VALUE  ? split_values(l, err)
                                                  : split_each(l, err));
        } while (l->count == 0 && !l->ended);
        return RAN_OK;
}

void lines_keep(struct lines *l, size_t i)
{
        size_t searched = l->begin + l->scanned;

        l->begin = (size_t)(l->line[i].s - l->data);
        l->kept = searched - l->begin;
        l->at = l->began = l->line[i].before;
        l->first = l->scanned = 0;
        l->table.state = TABLE_START;
        l->table.returned = false;
}

void lines_drop_first(struct lines *l)
{
        l->count--;
        memmove(l->line, l->line + 1, l->count * sizeof(*l->line));
}
