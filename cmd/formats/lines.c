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

/* Bounds of a group: enough to keep many threads busy, small enough for memory with its results. */
enum { GROUP_BYTES = 4 << 20, GROUP_LINES = UNITS_MOST };

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
        unpack_end(&l->unpack);
        if (l->fd > STDIN_FILENO)
                close(l->fd);
        l->fd = -1;
}

int lines_open(struct lines *l, const char *file, struct ran_error *err)
{
        *l = (struct lines){.unit = LINES_EACH, .peeking = true};
        return open_file(l, file, err);
}

void lines_open_bytes(struct lines *l, const char *file, const struct ran_bytes *bytes)
{
        *l = (struct lines){.unit = LINES_EACH, .fd = -1, .file = file, .bytes = bytes};
}

void lines_open_files(struct lines *l, char **files, size_t n)
{
        *l = (struct lines){.unit = LINES_FILE, .fd = -1, .next_file = files, .files = n};
}

void lines_limit(struct lines *l, size_t most)
{
        l->most = most;
        snprintf(l->too_long, sizeof l->too_long,
                 "it is longer than %zu bytes (--max-record-bytes)", most);
}

void lines_close(struct lines *l)
{
        close_file(l);
        free(l->data);
        free(l->line);
        free(l->skipped);
        *l = (struct lines){.fd = -1};
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Whether reading would return at once. */
static bool readable(const struct lines *l)
{
        return l->unpack.kind != NULL ||
               poll(&(struct pollfd){.fd = l->fd, .events = POLLIN}, 1, 0) > 0;
}

static int fail_reading(struct lines *l, struct ran_error *err)
{
        return ran_fail(err, RAN_EIO, "cannot read %s: %s", lines_name(l), l->why);
}

/* Bounds what is read at once, so that a limit is not passed by much. */
static size_t room(const struct lines *l)
{
        return l->cap - l->end < GROUP_BYTES ? l->cap - l->end : GROUP_BYTES;
}

bool lines_are_stored(const struct lines *l)
{
        struct stat status;

        return l->fd >= 0 && fstat(l->fd, &status) == 0 && S_ISREG(status.st_mode);
}

/* The next bytes: of memory, of a decompressor, or of the file. */
static ssize_t take(struct lines *l, char *to, size_t most)
{
        if (l->bytes != NULL) {
                const size_t left = l->bytes->size - l->taken, n = left < most ? left : most;
                if (n > 0)
                        memcpy(to, l->bytes->data + l->taken, n);
                l->taken += n;
                return (ssize_t)n;
        }
        if (l->unpack.kind != NULL)
                return unpack_read(&l->unpack, to, most, &l->why);
        ssize_t n = read(l->fd, to, most);
        if (l->fresh && n > 0 && lines_are_stored(l)) {
                if (!unpack_begin(&l->unpack, l->fd, to, (size_t)n, &l->why))
                        return -1;
                l->packed = l->unpack.kind != NULL;
                if (l->packed)
                        n = unpack_read(&l->unpack, to, most, &l->why);
        }
        l->fresh = l->fresh && n < 0;
        return n;
}

enum { FIRST_BYTES = 16 }; /* of a file, by which its decompressor is known */

/* Appends what has arrived; waits if nothing has. */
static int read_more(struct lines *l, struct ran_error *err)
{
        const size_t least = l->end + (l->fresh ? FIRST_BYTES : 1);
        const size_t want = least < GROUP_BYTES / 4 ? GROUP_BYTES / 4 : least;

        RAN_TRY(RAN_GROW(l->data, l->cap, want, err));
        const ssize_t n = take(l, l->data + l->end, room(l));
        if (n >= 0) {
                l->end += (size_t)n;
                l->ended = n == 0;
        } else if (l->why == NULL && errno == EAGAIN) {
                poll(&(struct pollfd){.fd = l->fd, .events = POLLIN}, 1, -1);
        } else if (l->why != NULL || errno != EINTR) {
                l->why = l->why != NULL ? l->why : strerror(errno);
                return fail_reading(l, err);
        }
        return RAN_OK;
}

/* Whether a line ends in [s, s + n), or another unit may. */
static bool has_line_end(const struct lines *l, const char *s, size_t n)
{
        if (n == 0 || memchr(s, '\n', n) != NULL)
                return n > 0;
        return (l->unit == LINES_ROW && memchr(s, '\r', n) != NULL) ||
               (l->unit == LINES_VALUE && memchr(s, '}', n) != NULL) || units_begun_array(l);
}

/* ---- texts that are too long ---------------------------------------------------------------- */

static bool is_too_long(const struct lines *l)
{
        return l->most > 0 && l->end - l->begin > l->most;
}

/* Lets go of the first bytes of data, and of the memory for a long text. */
static void discard(struct lines *l, size_t n)
{
        l->offset += n;
        l->end -= n;
        memmove(l->data, l->data + n, l->end);
        if (l->cap <= 4 * (size_t)GROUP_BYTES || l->end > GROUP_BYTES)
                return;
        char *small = realloc(l->data, 4 * (size_t)GROUP_BYTES);
        if (small == NULL)
                return;
        l->data = small;
        l->cap = 4 * (size_t)GROUP_BYTES;
}

/* The text that begins the data is too long: reads on to the end of a line, keeping nothing of it.
 */
static int skip(struct lines *l, struct ran_error *err)
{
        /* Lines of a block that were scanned are counted already. */
        const size_t at = l->unit == LINES_SENTENCE ? l->scanned : 0;
        RAN_ROOM(l->skipped, l->skip_cap, l->skips + 1);
        size_t gone = l->end, feeds = units_count_feeds(l->data + at, gone - at);
        bool ends = gone > 0 && l->data[gone - 1] == '\n';
        while (!ends && !l->ended) {
                discard(l, gone);
                RAN_TRY(read_more(l, err));
                const char *feed = l->end > 0 ? memchr(l->data, '\n', l->end) : NULL;
                ends = feed != NULL;
                gone = ends ? (size_t)(feed - l->data) + 1 : l->end;
                feeds += ends;
        }
        discard(l, gone);
        l->skipped[l->skips++] = feeds;
        l->scanned = l->kept = 0;
        l->table.state = TABLE_START;
        l->table.returned = false;
        l->values = (struct values_scan){.array = l->values.array};
        return RAN_OK;
}

/* ---- the next lines ------------------------------------------------------------------------- */

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
        if (l->most > 0 && l->kept > l->most && l->unit != LINES_EACH) {
                RAN_TRY(skip(l, err));
                searched = 0;
        }
        if (l->why != NULL && has_line_end(l, l->data + searched, l->end - searched))
                return RAN_OK;
        if (l->why != NULL)
                return fail_reading(l, err);
        while (!l->ended) {
                if (!whole && l->end > searched)
                        whole = has_line_end(l, l->data + searched, l->end - searched);
                searched = l->end;
                if (!whole && is_too_long(l)) {
                        RAN_TRY(skip(l, err));
                        searched = 0;
                        continue;
                }
                if (whole && (l->end >= GROUP_BYTES || !readable(l)))
                        break;
                int rc = read_more(l, err);
                if (rc != RAN_OK)
                        return whole && l->why != NULL ? RAN_OK : rc;
        }
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
        int rc = open_file(l, *l->next_file++, err);

        l->files--;
        l->ended = false;
        while (rc == RAN_OK && !l->ended) {
                rc = read_more(l, err);
                if (rc != RAN_OK || l->most == 0 || l->end - begin <= l->most)
                        continue;
                l->why = l->too_long;
                break;
        }
        uint64_t size = size_of(l, begin);
        close_file(l);
        if (rc != RAN_OK && l->why == NULL)
                return rc;
        if (l->why != NULL)
                l->end = begin;
        units_add(l, (struct text_line){
                             .n = l->end - begin, .number = 1, .why = l->why, .size = size});
        return RAN_OK;
}

static int next_files(struct lines *l, struct ran_error *err)
{
        for (size_t i = 0; i < l->count; i++)
                l->offset += l->line[i].size;
        l->count = l->begin = l->end = 0;
        while (l->files > 0 && l->end < GROUP_BYTES && l->count < GROUP_LINES)
                RAN_TRY(read_file(l, err));
        /* Only now, with all files read, data no longer moves and texts can point into it. */
        const char *s = l->data != NULL ? l->data : "";
        uint64_t offset = l->offset;
        for (struct text_line *text = l->line; text < l->line + l->count; text++) {
                const size_t mark = ran_utf8_mark(s, text->n);
                text->s = s + mark;
                text->offset = offset;
                offset += text->size;
                s += text->n;
                text->n -= mark;
        }
        l->ended = l->files == 0;
        return RAN_OK;
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Texts without contents in place of those that were skipped. */
static void add_skipped(struct lines *l)
{
        for (size_t i = 0; i < l->skips; i++) {
                units_add(l,
                          (struct text_line){.s = l->data + l->begin,
                                             .number = l->first > 0 ? l->first : l->at.number + 1,
                                             .doc = l->at.doc,
                                             .before = l->first > 0 ? l->began : l->at,
                                             .why = l->too_long});
                l->at.number += l->skipped[i];
                for (size_t k = 0; k < l->skipped[i]; k++)
                        units_next_beside(l, &(struct text_line){0});
                l->began = l->at;
                l->first = 0;
        }
        l->skips = 0;
}

/* Reads on in a file on disk, which may be compressed, to the end of a sample, and takes the whole
 * lines from `at` on, up to the bound after the first. */
static int take_sample(struct lines *l, size_t at, struct sample *sample, struct ran_error *err)
{
        size_t n, next, from = at;

        while (lines_are_stored(l) && !l->ended && l->why == NULL &&
               l->end - at < 2 * SAMPLE_BYTES) {
                const int rc = read_more(l, err);
                if (rc != RAN_OK && l->why == NULL)
                        return rc; /* else the lines that were read come first */
        }
        sample->s = l->data + at;
        for (; from - at < SAMPLE_BYTES && units_line(l, from, &n, &next); from = next)
                sample->lines += !sample_is_blank(l->data + from, n);
        sample->n = from - at;
        sample->all = l->ended && from == l->end;
        return RAN_OK;
}

int lines_peek(struct lines *l, int patience, struct sample *sample, struct ran_error *err)
{
        size_t at = 0, next, n;

        *sample = (struct sample){0};
        if (patience > 0 && l->unpack.kind == NULL && !l->ended)
                poll(&(struct pollfd){.fd = l->fd, .events = POLLIN}, 1, patience);
        do {
                const size_t skips = l->skips;
                RAN_TRY(fill(l, err));
                at = skips == l->skips ? at : 0;
                for (; units_line(l, at, &n, &next); at = next) {
                        const char *s = l->data + at;
                        units_strip(&s, &n);
                        if (sample_is_blank(s, n))
                                continue;
                        sample->first = n;
                        l->kept = 0;
                        return take_sample(l, (size_t)(s - l->data), sample, err);
                }
                l->kept = l->end;
        } while (!l->ended);
        return RAN_OK;
}

int lines_read_all(struct lines *l, struct ran_error *err)
{
        while (!l->ended)
                RAN_TRY(read_more(l, err));
        return RAN_OK;
}

int lines_replace(struct lines *l, const struct ran_buf *with, struct ran_error *err)
{
        RAN_TRY(RAN_GROW(l->data, l->cap, with->len, err));
        if (with->len > 0)
                memcpy(l->data, with->data, with->len);
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
                add_skipped(l);
                units_split(l);
        } while (l->count == 0 && !l->ended);
        return RAN_OK;
}

void lines_keep(struct lines *l, size_t i)
{
        size_t searched = l->begin + l->scanned;

        l->begin = (size_t)(l->line[i].s - l->data);
        l->kept = searched - l->begin;
        l->at = l->began = l->line[i].before;
        l->last = l->line[i].number - 1; /* it gets its number again */
        l->first = l->scanned = 0;
        l->table.state = TABLE_START;
        l->table.returned = false;
}

void lines_drop(struct lines *l, size_t i)
{
        l->count--;
        memmove(l->line + i, l->line + i + 1, (l->count - i) * sizeof *l->line);
}
