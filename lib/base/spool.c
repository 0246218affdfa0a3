/* spool.c - arrays that may be larger than memory.
 *
 *      up to `keep` bytes           beyond
 *
 *      +------------------+         +-------------------------------------------+
 *      |  memory          |  --->   |  an unnamed file, mapped and shared       |
 *      +------------------+         +-------------------------------------------+
 *
 * The kernel can write pages of the file to disk and load them again when they are used. Blocks are
 * reserved on disk before they are mapped, so a full disk is an error here and not a SIGBUS later.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ran/base.h"

static const char *folder(void)
{
        const char *named = getenv("TMPDIR");

        /* Not /tmp, which is memory on many systems. */
        return named != NULL && named[0] != '\0' ? named : "/var/tmp";
}

/* An empty file and its descriptor, or -1. */
static int open_temporary(char path[PATH_MAX], struct ran_error *err)
{
        const int length = snprintf(path, PATH_MAX, "%s/ran.XXXXXX", folder());
        int fd = -1;

        if (length < PATH_MAX)
                fd = mkostemp(path, O_CLOEXEC);
        else
                errno = ENAMETOOLONG;
        if (fd < 0)
                ran_fail(err, RAN_EIO,
                         "cannot create a temporary file in %s: %s (set TMPDIR to use another "
                         "folder)",
                         folder(), strerror(errno));
        return fd;
}

struct named {
        struct ran_temporary noted;
        char path[PATH_MAX];
};

char *ran_temporary_new(struct ran_error *err)
{
        struct named *t = ran_new(1, sizeof *t);
        const int fd = open_temporary(t->path, err);

        if (fd < 0) {
                free(t);
                return NULL;
        }
        close(fd);
        ran_temporary_note(&t->noted, t->path);
        return t->path;
}

void ran_temporary_free(char *path)
{
        if (path == NULL)
                return;
        struct named *t = (struct named *)(path - offsetof(struct named, path));
        unlink(path);
        ran_temporary_forget(&t->noted);
        free(t);
}

/* Extends the file from `size`, with room on the disk, and maps all of it anew in *p, unless it
 * fails. */
static int map(void **p, int fd, size_t size, size_t room, struct ran_error *err)
{
        int error;

        do
                error = posix_fallocate(fd, (off_t)size, (off_t)(room - size));
        while (error == EINTR);
        if (error != 0)
                return ran_fail(err, RAN_EIO,
                                "no room for %zu bytes of data in %s: %s (set TMPDIR to use "
                                "another folder)",
                                room, folder(), strerror(error));
        void *mapped = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapped == MAP_FAILED)
                return ran_fail(err, RAN_ENOMEM, "cannot map %zu bytes of data: %s", room,
                                strerror(errno));
        *p = mapped;
        return RAN_OK;
}

/* To a file that nobody else sees, and that is gone when the program ends, however it ends. */
static int move_to_file(struct ran_spool *s, size_t room, struct ran_error *err)
{
        char path[PATH_MAX];
        const int fd = open_temporary(path, err);
        void *p;

        if (fd < 0)
                return RAN_EIO;
        unlink(path);
        const int rc = map(&p, fd, 0, room, err);
        if (rc != RAN_OK) {
                close(fd);
                return rc;
        }
        if (s->data != NULL)
                memcpy(p, s->data, s->room);
        free(s->data);
        *s = (struct ran_spool){p, room, s->keep, fd, true};
        return RAN_OK;
}

static int grow(struct ran_spool *s, size_t want, struct ran_error *err)
{
        const size_t unit = 1 << 16, keep = s->keep > 0 ? s->keep : RAN_SPOOL_KEEP;
        void *old = s->data;

        if (!s->mapped && want <= keep)
                return ran_grow(&s->data, &s->room, want, 1, err);
        /* Ahead by no more than is kept in memory: to map once more costs little, disk is scarce.
         */
        size_t room = s->room / 8 < keep ? s->room / 8 : keep;
        if (__builtin_add_overflow(want, room, &room) || room > (size_t)PTRDIFF_MAX - unit)
                room = want;
        room = (room + unit - 1) / unit * unit;
        if (!s->mapped)
                return move_to_file(s, room, err);
        RAN_TRY(map(&s->data, s->file, s->room, room, err));
        munmap(old, s->room);
        s->room = room;
        return RAN_OK;
}

int ran_spool_reserve(struct ran_spool *s, void *array, size_t n, size_t size,
                      struct ran_error *err)
{
        size_t want;

        if (__builtin_mul_overflow(n, size, &want) || want > PTRDIFF_MAX - ((size_t)1 << 16))
                return ran_fail(err, RAN_ENOMEM, "out of memory: %zu x %zu bytes requested", n,
                                size);
        if (want > s->room || s->data == NULL)
                RAN_TRY(grow(s, want, err));
        memcpy(array, &s->data, sizeof s->data);
        return RAN_OK;
}

void ran_spool_release(struct ran_spool *s)
{
        if (s->mapped) {
                munmap(s->data, s->room);
                close(s->file);
        } else {
                free(s->data);
        }
        *s = (struct ran_spool){.keep = s->keep};
}
