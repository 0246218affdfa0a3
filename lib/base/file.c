/* file.c - files that are read by mapping, and written whole or not at all. See ran/base.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ran/base.h"

/* ---- reading --------------------------------------------------------------------------------- */

/* Refuses more than `most` bytes as soon as it knows. */
static int check_size(uintmax_t size, const char *path, size_t most, struct ran_error *err)
{
        if (size <= most)
                return RAN_OK;
        return ran_fail(err, RAN_EFORMAT, "%s has more than %zu bytes, too many for such a file",
                        path, most);
}

static int read_all(struct ran_bytes *b, int fd, const char *path, size_t most,
                    struct ran_error *err)
{
        unsigned char *data = NULL;
        size_t size = 0, cap = 0;
        ssize_t n = 1;
        int rc = RAN_OK;

        while (rc == RAN_OK && n != 0) {
                rc = size == cap ? RAN_GROW(data, cap, size + 65536, err) : RAN_OK;
                if (rc != RAN_OK)
                        break;
                n = read(fd, data + size, cap - size);
                size += n > 0 ? (size_t)n : 0;
                rc = n < 0 && errno != EINTR
                             ? ran_fail(err, RAN_EIO, "cannot read %s: %s", path, strerror(errno))
                             : check_size(size, path, most, err);
        }
        if (rc != RAN_OK)
                free(data);
        else
                *b = (struct ran_bytes){data, size, false};
        return rc;
}

static int map_or_read(struct ran_bytes *b, int fd, const struct stat *st, const char *path,
                       size_t most, struct ran_error *err)
{
        if (S_ISREG(st->st_mode))
                RAN_TRY(check_size((uintmax_t)st->st_size, path, most, err));
        /* Files of /proc and the like are regular and say that they are empty. */
        if (S_ISREG(st->st_mode) && st->st_size > 0 && (uintmax_t)st->st_size <= SIZE_MAX) {
                size_t size = (size_t)st->st_size;
                void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

                if (p != MAP_FAILED) {
                        *b = (struct ran_bytes){p, size, true};
                        return RAN_OK;
                }
        }
        return read_all(b, fd, path, most, err);
}

enum { DEVICE_BYTES = 1 << 24 };

int ran_bytes_open_within(struct ran_bytes *b, const char *path, size_t most, struct ran_error *err)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct stat st;
        int rc;

        *b = (struct ran_bytes){0};
        if (fd < 0)
                return ran_fail(err, RAN_EIO, "cannot open %s: %s", path, strerror(errno));
        if (fstat(fd, &st) != 0)
                rc = ran_fail(err, RAN_EIO, "cannot read %s: %s", path, strerror(errno));
        else if (S_ISCHR(st.st_mode) && most > DEVICE_BYTES) /* /dev/zero has no end */
                rc = map_or_read(b, fd, &st, path, DEVICE_BYTES, err);
        else
                rc = map_or_read(b, fd, &st, path, most, err);
        close(fd);
        return rc;
}

int ran_bytes_open(struct ran_bytes *b, const char *path, struct ran_error *err)
{
        return ran_bytes_open_within(b, path, SIZE_MAX, err);
}

/* FOLDER/BASE/NAME, with a NUL; what follows FOLDER/ is how sentences name the file. */
static struct ran_buf join(const char *folder, const char *base, const char *name)
{
        struct ran_buf path = {0};

        ran_buf_printf(&path, "%s/%s%s%s", folder, base, base[0] != '\0' ? "/" : "", name);
        ran_buf_char(&path, '\0');
        return path;
}

int ran_folder_open(struct ran_bytes *file, const char *folder, const char *base, const char *name,
                    size_t most, bool *absent, struct ran_error *err)
{
        struct ran_buf path = join(folder, base, name);
        const char *said = path.data + strlen(folder) + 1;
        const int fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        struct stat st;
        int rc;

        *file = (struct ran_bytes){0};
        if (absent != NULL)
                *absent = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
        if (fd < 0 || fstat(fd, &st) != 0)
                rc = ran_fail(err, RAN_EIO, "%s: %s", said, strerror(errno));
        else if (!S_ISREG(st.st_mode))
                rc = ran_fail(err, RAN_EFORMAT, "%s is not a regular file", said);
        else
                rc = map_or_read(file, fd, &st, said, most, err);
        if (fd >= 0)
                close(fd);
        ran_buf_release(&path);
        return rc;
}

bool ran_folder_has(const char *folder, const char *base, const char *name)
{
        struct ran_buf path = join(folder, base, name);
        const bool has = access(path.data, F_OK) == 0;

        ran_buf_release(&path);
        return has;
}

void ran_bytes_release(struct ran_bytes *b)
{
        if (b->mapped)
                munmap((void *)b->data, b->size);
        else
                free((void *)b->data);
        *b = (struct ran_bytes){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A file that is to replace another has no name until it is whole, so that a program may end at any
 * moment, killed or not, and leave nothing. Where the file system knows no such files, it has a
 * name of its own beside the other. */
struct ran_writer {
        int fd;
        int lock;      /* another number of the same open file, which stays until it is renamed */
        int error;     /* errno of the first write that failed */
        char *path;    /* symbolic links resolved: the link stays, what it points to is replaced */
        char *temp;    /* the name for a moment, or all the time; NULL when written in place */
        bool nameless; /* temp is not there yet */
        struct ran_temporary named; /* while temp is there */
        size_t buffered;
        unsigned char buffer[65536];
};

static struct ran_temporary *named; /* of all writers and others */
static pthread_mutex_t named_lock = PTHREAD_MUTEX_INITIALIZER;

void ran_temporary_note(struct ran_temporary *t, const char *path)
{
        pthread_mutex_lock(&named_lock);
        *t = (struct ran_temporary){path, named};
        named = t;
        pthread_mutex_unlock(&named_lock);
}

void ran_temporary_forget(struct ran_temporary *t)
{
        pthread_mutex_lock(&named_lock);
        for (struct ran_temporary **link = &named; *link != NULL; link = &(*link)->next)
                if (*link == t) {
                        *link = t->next;
                        break;
                }
        pthread_mutex_unlock(&named_lock);
}

void ran_writer_abandon_all(void)
{
        pthread_mutex_lock(&named_lock);
        for (; named != NULL; named = named->next)
                unlink(named->path);
        pthread_mutex_unlock(&named_lock);
}

static void writer_free(struct ran_writer *w)
{
        ran_temporary_forget(&w->named);
        if (w->fd >= 0)
                close(w->fd);
        if (w->lock >= 0)
                close(w->lock);
        free(w->path);
        free(w->temp);
        free(w);
}

/* The folder of a file; the caller frees it. */
static char *folder_of(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash == NULL ? ran_copy(".", 1)
                             : ran_copy(path, slash == path ? 1 : (size_t)(slash - path));
}

/* The name by which an open file can be linked. */
enum { LINK_NAME = 40 };

static const char *link_name(char name[LINK_NAME], int fd)
{
        snprintf(name, LINK_NAME, "/proc/self/fd/%d", fd);
        return name;
}

/* -1: it cannot be had, or could not be given a name later on. */
static int open_nameless(const char *path)
{
        char *folder = folder_of(path), name[LINK_NAME];
        int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);

        free(folder);
        if (fd >= 0 && access(link_name(name, fd), F_OK) != 0) {
                close(fd);
                fd = -1;
        }
        return fd;
}

/* Says that somebody writes the file. Where a file system knows no locks, nobody removes it. */
static void lock(struct ran_writer *w, int fd)
{
        if (w->lock >= 0)
                close(w->lock);
        w->lock = flock(fd, LOCK_EX | LOCK_NB) == 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
}

static int open_named(struct ran_writer *w)
{
        enum { TRIES = 8 };

        for (int i = 0; i < TRIES; i++) {
                int fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
                struct stat st;

                if (fd < 0)
                        return fd;
                lock(w, fd);
                if (fstat(fd, &st) != 0 || st.st_nlink > 0) {
                        ran_temporary_note(&w->named, w->temp);
                        return fd;
                }
                close(fd); /* removed before it was locked */
        }
        errno = EAGAIN;
        return -1;
}

/* ---- what killed processes left ----------------------------------------------------------------
 */

/* Whether it is NAME.tmp.NUMBER. */
static bool is_temporary_of(const char *entry, const char *name)
{
        static const char middle[] = ".tmp.";
        const size_t n = strlen(name), m = sizeof middle - 1;

        if (strncmp(entry, name, n) != 0 || strncmp(entry + n, middle, m) != 0)
                return false;
        const char *number = entry + n + m;
        return number[0] != '\0' && number[strspn(number, "0123456789")] == '\0';
}

/* A writer holds a lock on its file, on whatever machine it runs. */
static void remove_if_left(int folder, const char *entry)
{
        int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat st;

        if (fd < 0)
                return;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
                unlinkat(folder, entry, 0);
        close(fd);
}

static void remove_left(const char *path)
{
        const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
        char *folder = folder_of(path);
        DIR *d = opendir(folder);

        for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
                if (is_temporary_of(e->d_name, name))
                        remove_if_left(dirfd(d), e->d_name);
        if (d != NULL)
                closedir(d);
        free(folder);
}

/* A new file with the permissions of the one that it will replace. */
static int open_temporary(struct ran_writer *w, const struct stat *old)
{
        struct ran_buf temp = {0};

        ran_buf_printf(&temp, "%s.tmp.%ld", w->path, (long)getpid());
        ran_buf_char(&temp, '\0');
        w->temp = temp.data;
        /* Left by a killed process that had the same number, as happens in containers. A name that
         * cannot be is found out here, not at the end. */
        if (unlink(w->temp) != 0 && errno != ENOENT)
                return -1;
        remove_left(w->path);
        w->fd = open_nameless(w->path);
        w->nameless = w->fd >= 0;
        if (w->nameless)
                lock(w, w->fd);
        else
                w->fd = open_named(w);
        if (w->fd < 0)
                return -1;
        return old != NULL ? fchmod(w->fd, old->st_mode & 0777) : 0;
}

/* Where a path leads that is not there: to itself, or, as a symbolic link, to where that points.
 * The caller frees it. */
static char *end_of_links(const char *path)
{
        enum { LINKS = 40 }; /* as the system has it; more are made by somebody meanwhile */
        char *at = ran_copy(path, strlen(path)), target[PATH_MAX];
        ssize_t n;

        for (int i = 0; i < LINKS && (n = readlink(at, target, sizeof target - 1)) >= 0; i++) {
                char *folder = folder_of(at);
                struct ran_buf next = {0};

                target[n] = '\0';
                ran_buf_printf(&next, "%s%s%s", target[0] == '/' ? "" : folder,
                               target[0] == '/' ? "" : "/", target);
                ran_buf_char(&next, '\0');
                free(folder);
                free(at);
                at = next.data;
        }
        return at;
}

static int writer_start(struct ran_writer *w, const char *path)
{
        struct stat st;
        bool exists = stat(path, &st) == 0;

        if (!exists && errno != ENOENT)
                return -1;
        if (path[0] == '\0') /* as a shell has of a name that is not set: it cannot be renamed */
                return -1;

        /* /dev/stdout may be a regular file, but it is not ours to replace. */
        if ((exists && !S_ISREG(st.st_mode)) || strncmp(path, "/dev/", 5) == 0) {
                w->path = ran_copy(path, strlen(path));
                w->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
                return w->fd >= 0 ? 0 : -1;
        }
        w->path = exists ? realpath(path, NULL) : end_of_links(path);
        return w->path != NULL ? open_temporary(w, exists ? &st : NULL) : -1;
}

struct ran_writer *ran_writer_open(const char *path, struct ran_error *err)
{
        struct ran_writer *w = ran_new(1, sizeof(*w));

        w->fd = w->lock = -1;
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
        if (n > sizeof(w->buffer) - w->buffered) {
                write_through(w, w->buffer, w->buffered);
                w->buffered = 0;
        }
        if (n > sizeof(w->buffer)) {
                write_through(w, bytes, n);
        } else if (n > 0) {
                memcpy(w->buffer + w->buffered, bytes, n);
                w->buffered += n;
        }
}

/* So that the new name, too, survives a power cut. Some file systems cannot: that is no error. */
static void sync_folder(const char *path)
{
        char *folder = folder_of(path);
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd >= 0) {
                fsync(fd);
                close(fd);
        }
        free(folder);
}

/* Writes all of a file again, to w. */
static int copy_all(struct ran_writer *w, int from)
{
        struct stat st;
        off_t at = 0;
        ssize_t n;

        if (fstat(from, &st) != 0 || fchmod(w->fd, st.st_mode & 0777) != 0)
                return errno;
        while ((n = pread(from, w->buffer, sizeof w->buffer, at)) != 0) {
                if (n < 0 && errno != EINTR)
                        return errno;
                write_through(w, w->buffer, n > 0 ? (size_t)n : 0);
                at += n > 0 ? n : 0;
        }
        return w->error == 0 && fsync(w->fd) != 0 ? errno : w->error;
}

/* Where it may not have a name, as rules for a program may have it, a copy that has one from the
 * beginning takes its place. */
static int give_name(struct ran_writer *w)
{
        char name[LINK_NAME];
        int from = w->fd, error;

        if (linkat(AT_FDCWD, link_name(name, from), AT_FDCWD, w->temp, AT_SYMLINK_FOLLOW) == 0) {
                w->nameless = false;
                ran_temporary_note(&w->named, w->temp);
                return 0;
        }
        w->fd = open_named(w);
        error = w->fd < 0 ? errno : 0;
        w->nameless = w->fd < 0;
        if (error == 0)
                error = copy_all(w, from);
        close(from);
        return error;
}

static int finish_file(struct ran_writer *w)
{
        int error = 0;

        write_through(w, w->buffer, w->buffered);
        if (w->error != 0)
                return w->error;
        /* A terminal or a pipe cannot be synced. */
        if (w->temp != NULL && fsync(w->fd) != 0)
                return errno;
        if (w->nameless && (error = give_name(w)) != 0)
                return error;
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

static int cannot_write(const struct ran_writer *w, int error, struct ran_error *err)
{
        return ran_fail(err, RAN_EIO, "cannot write %s: %s", w->path, strerror(error));
}

int ran_writer_check(const struct ran_writer *w, struct ran_error *err)
{
        return w->error == 0 ? RAN_OK : cannot_write(w, w->error, err);
}

int ran_writer_rewrite(struct ran_writer *w, const void *bytes, size_t n, struct ran_error *err)
{
        const unsigned char *p = bytes;

        if (w->temp == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "cannot write %s: it is no regular file, and the beginning of the "
                                "output is written last",
                                w->path);
        write_through(w, w->buffer, w->buffered);
        w->buffered = 0;
        for (size_t at = 0; at < n && w->error == 0;) {
                const ssize_t written = pwrite(w->fd, p + at, n - at, (off_t)at);

                if (written >= 0)
                        at += (size_t)written;
                else if (errno != EINTR)
                        w->error = errno;
        }
        return ran_writer_check(w, err);
}

int ran_writer_commit(struct ran_writer *w, struct ran_error *err)
{
        int error = finish_file(w);

        if (error != 0) {
                cannot_write(w, error, err);
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
        if (w->temp != NULL && !w->nameless)
                unlink(w->temp);
        writer_free(w);
}
