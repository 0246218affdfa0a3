#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ran.h"

/* ---- reading ----------------------------------------------------------------------------------
 */

static int read_all(struct ran_bytes *b, int fd, const char *path, struct ran_error *err)
{
        unsigned char *data = NULL;
        size_t size = 0, cap = 0;

        for (;;) {
                if (size == cap) {
                        void *p = ran_grow(data, &cap, size + 65536, 1, err);

                        if (p == NULL) {
                                free(data);
                                return RAN_ENOMEM;
                        }
                        data = p;
                }
                ssize_t n = read(fd, data + size, cap - size);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0) {
                        free(data);
                        return ran_fail(err, RAN_EIO, "cannot read %s: %s", path, strerror(errno));
                }
                if (n == 0)
                        break;
                size += (size_t)n;
        }
        *b = (struct ran_bytes){data, size, false};
        return RAN_OK;
}

static int map_or_read(struct ran_bytes *b, int fd, const char *path, struct ran_error *err)
{
        struct stat st;

        if (fstat(fd, &st) != 0)
                return ran_fail(err, RAN_EIO, "cannot read %s: %s", path, strerror(errno));
        /* Files of /proc and the like are regular and say that they are empty. */
        if (S_ISREG(st.st_mode) && st.st_size > 0 && (uintmax_t)st.st_size <= SIZE_MAX) {
                size_t size = (size_t)st.st_size;
                void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

                if (p != MAP_FAILED) {
                        *b = (struct ran_bytes){p, size, true};
                        return RAN_OK;
                }
        }
        return read_all(b, fd, path, err);
}

int ran_bytes_open(struct ran_bytes *b, const char *path, struct ran_error *err)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        *b = (struct ran_bytes){0};
        if (fd < 0)
                return ran_fail(err, RAN_EIO, "cannot open %s: %s", path, strerror(errno));
        int code = map_or_read(b, fd, path, err);
        close(fd);
        return code;
}

void ran_bytes_release(struct ran_bytes *b)
{
        if (b->mapped)
                munmap((void *)b->data, b->size);
        else
                free((void *)b->data);
        *b = (struct ran_bytes){0};
}

/* ---- writing ----------------------------------------------------------------------------------
 */

struct ran_writer {
        int fd;
        int error;  /* errno of the first write that failed */
        char *path; /* symbolic links resolved: the link stays, what it points to is replaced */
        char *temp; /* NULL when written in place */
        size_t held;
        unsigned char buffer[65536];
};

static void writer_free(struct ran_writer *w)
{
        if (w->fd >= 0)
                close(w->fd);
        free(w->path);
        free(w->temp);
        free(w);
}

/* A new file with the permissions of the one that it will replace. */
static int open_temporary(struct ran_writer *w, const struct stat *old)
{
        if (asprintf(&w->temp, "%s.tmp.%ld", w->path, (long)getpid()) < 0) {
                w->temp = NULL;
                return -1;
        }
        /* Left by a killed process that had the same number, as happens in containers. */
        unlink(w->temp);
        w->fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd < 0)
                return -1;
        return old != NULL ? fchmod(w->fd, old->st_mode & 0777) : 0;
}

static int writer_start(struct ran_writer *w, const char *path)
{
        struct stat st;
        bool exists = stat(path, &st) == 0;

        /* /dev/stdout may be a regular file, but it is not ours to replace. */
        if ((exists && !S_ISREG(st.st_mode)) || strncmp(path, "/dev/", 5) == 0) {
                w->path = strdup(path);
                w->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
                return w->path != NULL && w->fd >= 0 ? 0 : -1;
        }
        w->path = exists ? realpath(path, NULL) : strdup(path);
        return w->path != NULL ? open_temporary(w, exists ? &st : NULL) : -1;
}

struct ran_writer *ran_writer_open(const char *path, struct ran_error *err)
{
        struct ran_writer *w = ran_alloc(1, sizeof(*w), err);

        if (w == NULL)
                return NULL;
        w->fd = -1;
        if (writer_start(w, path) != 0) {
                ran_fail(err, RAN_EIO, "cannot write %s: %s", path, strerror(errno));
                ran_writer_abort(w);
                return NULL;
        }
        return w;
}

static void write_through(struct ran_writer *w, const unsigned char *p, size_t n)
{
        while (n > 0 && w->error == 0) {
                ssize_t written = write(w->fd, p, n);

                if (written >= 0) {
                        p += written;
                        n -= (size_t)written;
                } else if (errno != EINTR) {
                        w->error = errno;
                }
        }
}

void ran_writer_write(struct ran_writer *w, const void *bytes, size_t n)
{
        if (n > sizeof(w->buffer) - w->held) {
                write_through(w, w->buffer, w->held);
                w->held = 0;
        }
        if (n > sizeof(w->buffer)) {
                write_through(w, bytes, n);
        } else if (n > 0) {
                memcpy(w->buffer + w->held, bytes, n);
                w->held += n;
        }
}

/* So that the new name, too, survives a power cut. Some file systems cannot: that is no error. */
static void sync_folder(const char *path)
{
        const char *slash = strrchr(path, '/');
        char *folder = slash == NULL   ? strdup(".")
                       : slash == path ? strdup("/")
                                       : strndup(path, (size_t)(slash - path));

        if (folder == NULL)
                return;
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0) {
                fsync(fd);
                close(fd);
        }
        free(folder);
}

static int finish_file(struct ran_writer *w)
{
        write_through(w, w->buffer, w->held);
        if (w->error != 0)
                return w->error;
        /* A terminal or a pipe cannot be synced. */
        if (w->temp != NULL && fsync(w->fd) != 0)
                return errno;
        int fd = w->fd;
        w->fd = -1;
        if (close(fd) != 0)
                return errno;
        if (w->temp == NULL)
                return 0;
        if (rename(w->temp, w->path) != 0)
                return errno;
        sync_folder(w->path);
        return 0;
}

int ran_writer_commit(struct ran_writer *w, struct ran_error *err)
{
        int error = finish_file(w);

        if (error != 0) {
                ran_fail(err, RAN_EIO, "cannot write %s: %s", w->path, strerror(error));
                ran_writer_abort(w);
                return RAN_EIO;
        }
        writer_free(w);
        return RAN_OK;
}

void ran_writer_abort(struct ran_writer *w)
{
        if (w == NULL)
                return;
        if (w->temp != NULL)
                unlink(w->temp);
        writer_free(w);
}
