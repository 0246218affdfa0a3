/* lines.c - a file as groups of whole lines, each as soon as it has arrived. */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A group is large enough to keep many threads busy and small enough to hold, results included. */
enum { GROUP_BYTES = 4 << 20, GROUP_LINES = 4096 };

static const char *shown_name(const struct lines *l)
{
        return strcmp(l->file, "-") == 0 ? "standard input" : l->file;
}

int lines_open(struct lines *l, const char *file, struct ran_error *err)
{
        *l = (struct lines){.file = file, .fd = STDIN_FILENO};
        if (strcmp(file, "-") != 0)
                l->fd = open(file, O_RDONLY | O_CLOEXEC);
        if (l->fd < 0)
                return ran_fail(err, RAN_EIO, "cannot open %s: %s", file, strerror(errno));
        return RAN_OK;
}

void lines_close(struct lines *l)
{
        if (l->fd > STDIN_FILENO)
                close(l->fd);
        free(l->data);
        free(l->line);
        *l = (struct lines){.fd = -1};
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Whether read() would return at once. */
static bool readable(int fd)
{
        return poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0) > 0;
}

/* Whatever there is, after what is held; waits if there is nothing. */
static int read_more(struct lines *l, struct ran_error *err)
{
        size_t want = l->end + (l->end < GROUP_BYTES / 4 ? GROUP_BYTES / 4 : 1);
        char *grown = ran_grow(l->data, &l->cap, want, 1, err);

        if (grown == NULL)
                return RAN_ENOMEM;
        l->data = grown;
        ssize_t n = read(l->fd, l->data + l->end, l->cap - l->end);
        if (n > 0)
                l->end += (size_t)n;
        else if (n == 0)
                l->ended = true;
        else if (errno == EAGAIN)
                poll(&(struct pollfd){.fd = l->fd, .events = POLLIN}, 1, -1);
        else if (errno != EINTR)
                return ran_fail(err, RAN_EIO, "cannot read %s: %s", shown_name(l), strerror(errno));
        return RAN_OK;
}

/* Reads until one line at least is whole, and on while that needs no waiting. */
static int fill(struct lines *l, struct ran_error *err)
{
        size_t searched = l->kept;
        bool whole = false;

        l->end -= l->begin;
        if (l->end > 0)
                memmove(l->data, l->data + l->begin, l->end);
        l->offset += l->begin;
        l->begin = 0;
        while (!l->ended) {
                if (!whole && l->end > searched)
                        whole = memchr(l->data + searched, '\n', l->end - searched) != NULL;
                searched = l->end;
                if (whole && (l->end >= GROUP_BYTES || !readable(l->fd)))
                        break;
                int code = read_more(l, err);
                if (code != RAN_OK)
                        return code;
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

static int add_line(struct lines *l, const char *s, size_t n, struct ran_error *err)
{
        static const char mark[] = "\xef\xbb\xbf";

        l->number++;
        if (l->number == 1 && n >= 3 && memcmp(s, mark, 3) == 0) {
                s += 3;
                n -= 3;
        }
        if (n > 0 && s[n - 1] == '\r')
                n--;
        if (is_blank(s, n)) {
                l->blank++;
                return RAN_OK;
        }
        struct text_line *grown =
                ran_grow(l->line, &l->line_cap, l->count + 1, sizeof(*l->line), err);
        if (grown == NULL)
                return RAN_ENOMEM;
        l->line = grown;
        l->line[l->count++] =
                (struct text_line){s, n, l->number, l->offset + (size_t)(s - l->data)};
        return RAN_OK;
}

/* Makes a group of the lines that are held whole. */
static int split(struct lines *l, struct ran_error *err)
{
        l->count = l->kept = 0;
        l->more = false;
        while (l->begin < l->end && !l->more) {
                const char *s = l->data + l->begin;
                const char *feed = memchr(s, '\n', l->end - l->begin);
                if (feed == NULL && !l->ended)
                        break;
                size_t n = feed != NULL ? (size_t)(feed - s) : l->end - l->begin;
                int code = add_line(l, s, n, err);
                if (code != RAN_OK)
                        return code;
                l->begin += n + (feed != NULL);
                l->more = l->count == GROUP_LINES;
        }
        return RAN_OK;
}

int lines_next(struct lines *l, struct ran_error *err)
{
        do {
                int code = l->more ? RAN_OK : fill(l, err);
                if (code == RAN_OK)
                        code = split(l, err);
                if (code != RAN_OK)
                        return code;
        } while (l->count == 0 && !l->ended);
        return RAN_OK;
}

void lines_keep(struct lines *l, size_t i)
{
        size_t begin = (size_t)(l->line[i].s - l->data);
        size_t before = l->line[i].number - 1; /* lines in front of it */

        l->blank -= l->number - before - (l->count - i);
        l->number = before;
        l->kept = l->begin - begin;
        l->begin = begin;
}
