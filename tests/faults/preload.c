/* preload.c - makes calls fail, see faults.h. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults.h"

#define CALLER ((uintptr_t)__builtin_return_address(0))

static void *next(const char *name);

/* The function that this library stands in front of. */
#define REAL(call)                     \
        static __typeof__(call) *real; \
        if (real == NULL)              \
        real = (__typeof__(call) *)next(#call)

/* ---- what the environment asks for ---------------------------------------------------------- */

static struct faults *volatile shared; /* NULL: let everything be */
static enum faults_call wanted = FAULTS_COUNTED;
static unsigned long at;
static int error;
static bool on, named, placing;
static bool begun;
static _Thread_local bool ours; /* the first thread, and those that the program started */

static const char *const names[] = {
#define X(call) #call,
        FAULTS_CALLS(X)
#undef X
                "memory"};

/* Code that is let be, from and to. */
enum { MAX_RANGES = 16 };
static struct {
        uintptr_t from, to;
} foreign[MAX_RANGES];
static size_t foreigns;

static int note_foreign(struct dl_phdr_info *info, size_t size, void *arg)
{
        (void)size;
        (void)arg;
        if (strstr(info->dlpi_name, "blas") == NULL &&
            strstr(info->dlpi_name, "gfortran") == NULL && strstr(info->dlpi_name, "gomp") == NULL)
                return 0;
        for (size_t i = 0; i < info->dlpi_phnum && foreigns < MAX_RANGES; i++) {
                uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

                if (info->dlpi_phdr[i].p_type == PT_LOAD) {
                        foreign[foreigns].from = from;
                        foreign[foreigns++].to = from + info->dlpi_phdr[i].p_memsz;
                }
        }
        return 0;
}

static bool is_foreign(uintptr_t caller)
{
        for (size_t i = 0; i < foreigns; i++)
                if (caller >= foreign[i].from && caller < foreign[i].to)
                        return true;
        return false;
}

static unsigned long number(const char *name)
{
        const char *text = getenv(name);

        return text != NULL ? strtoul(text, NULL, 10) : 0;
}

/* What comes behind the program's own functions for its end shall work: a sanitizer, or counts of
 * lines for coverage. */
static void end(void)
{
        shared = NULL;
}

static int (*program)(int, char **, char **);

static int begin_program(int argc, char **argv, char **environment)
{
        if (atexit(end) != 0)
                abort();
        return program(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end);

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
        REAL(__libc_start_main);
        program = main;
        return real(begin_program, argc, argv, init, fini, loader_fini, stack_end);
}

/* After the constructors of the libraries, which are not the program's. */
__attribute__((constructor)) static void begin(void)
{
        const char *file = getenv("FAULTS_COUNTS"), *call = getenv("FAULTS_CALL");
        int fd = file != NULL ? (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC) : -1;
        void *p;

        begun = ours = true;
        if (fd < 0)
                return;
        for (size_t i = 0; call != NULL && i < FAULTS_COUNTED; i++)
                if (strcmp(names[i], call) == 0)
                        wanted = (enum faults_call)i;
        at = number("FAULTS_AT");
        error = (int)number("FAULTS_ERRNO");
        on = number("FAULTS_ON") > 0;
        named = number("FAULTS_NAMED") > 0;
        placing = number("FAULTS_PLACES") > 0;
        if (placing) /* which allocates the first time */
                backtrace((void *[1]){0}, 1);
        dl_iterate_phdr(note_foreign, NULL);
        p = (void *)syscall(SYS_mmap, NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                            0);
        syscall(SYS_close, fd);
        if (p != MAP_FAILED)
                shared = p;
}

/* ---- counting ------------------------------------------------------------------------------- */

static unsigned long count(enum faults_call call)
{
        return __atomic_add_fetch(&shared->count[call], 1, __ATOMIC_RELAXED);
}

/* Whence the n-th call of a kind came. */
static void note_place(enum faults_call call, unsigned long n)
{
        enum { DEEPEST = 100 };
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        void *frame[DEEPEST];
        unsigned long chain = 0, i = 0;
        int frames = backtrace(frame, DEEPEST);

        for (int f = 0; f < frames; f++)
                chain = (chain ^ (unsigned long)frame[f]) * 0x100000001b3;
        pthread_mutex_lock(&lock);
        while (i < shared->places &&
               (shared->place[i].call != call || shared->place[i].chain != chain))
                i++;
        if (i == shared->places && i < FAULTS_PLACES)
                shared->place[shared->places++] = (struct faults_place){chain, n, n, call};
        else if (i < FAULTS_PLACES)
                shared->place[i].last = n;
        pthread_mutex_unlock(&lock);
}

/* Counts the call; whether it is one that fails, with errno set if so. */
static bool fails(enum faults_call call, uintptr_t caller)
{
        unsigned long n, all;

        if (shared == NULL || !ours || is_foreign(caller))
                return false;
        n = count(call);
        all = call <= FAULTS_aligned_alloc ? count(FAULTS_MEMORY) : 0;
        if (placing)
                note_place(all > 0 ? FAULTS_MEMORY : call, all > 0 ? all : n);
        if (wanted == FAULTS_MEMORY)
                n = all;
        else if (wanted != call)
                return false;
        if (n != at && !(on && n > at))
                return false;
        __atomic_add_fetch(&shared->done, 1, __ATOMIC_RELAXED);
        if (error != 0)
                errno = error;
        return n > 0;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* For what dlsym itself asks for, and whoever comes before the constructor above: a sanitizer that
 * is not set up yet. Zero, each block behind its size, and never given back. */
enum { EARLY = 4 << 20, EARLY_LINE = 64 };
static char early[EARLY] __attribute__((aligned(EARLY_LINE)));
static size_t early_used;
static _Thread_local bool looking;

static void *next(const char *name)
{
        looking = true;
        void *p = dlsym(RTLD_NEXT, name);
        looking = false;
        if (p == NULL)
                abort();
        return p;
}

static bool is_too_early(void)
{
        return !begun || looking;
}

static void *early_alloc(size_t n)
{
        char *p = early + early_used + EARLY_LINE;

        if (n > EARLY - EARLY_LINE - early_used)
                abort();
        memcpy(p - EARLY_LINE, &n, sizeof n);
        early_used += EARLY_LINE + (n + EARLY_LINE - 1) / EARLY_LINE * EARLY_LINE;
        return p;
}

static bool is_early(const void *p)
{
        return (const char *)p >= early && (const char *)p < early + EARLY;
}

static size_t early_size(const void *p)
{
        size_t n;

        memcpy(&n, (const char *)p - EARLY_LINE, sizeof n);
        return n;
}

void *malloc(size_t n)
{
        if (is_too_early())
                return early_alloc(n);
        REAL(malloc);
        return fails(FAULTS_malloc, CALLER) ? NULL : real(n);
}

void *calloc(size_t n, size_t size)
{
        if (is_too_early())
                return early_alloc(n * size);
        REAL(calloc);
        return fails(FAULTS_calloc, CALLER) ? NULL : real(n, size);
}

void *realloc(void *p, size_t n)
{
        if (is_too_early() || is_early(p)) {
                void *q = is_too_early() ? early_alloc(n) : malloc(n);
                size_t had = p == NULL ? 0 : is_early(p) ? early_size(p) : n;

                return q != NULL && p != NULL ? memcpy(q, p, had < n ? had : n) : q;
        }
        REAL(realloc);
        return fails(FAULTS_realloc, CALLER) ? NULL : real(p, n);
}

void free(void *p)
{
        if (p == NULL || is_early(p))
                return;
        REAL(free);
        real(p);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
        REAL(posix_memalign);
        return fails(FAULTS_posix_memalign, CALLER) ? ENOMEM : real(p, alignment, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
        REAL(aligned_alloc);
        return fails(FAULTS_aligned_alloc, CALLER) ? NULL : real(alignment, n);
}

/* ---- files ---------------------------------------------------------------------------------- */

static size_t half(size_t n)
{
        return n > 1 ? n / 2 : n;
}

ssize_t read(int fd, void *to, size_t n)
{
        REAL(read);
        if (!fails(FAULTS_read, CALLER))
                return real(fd, to, n);
        return error != 0 ? -1 : real(fd, to, half(n));
}

ssize_t pread(int fd, void *to, size_t n, off_t from)
{
        REAL(pread);
        if (!fails(FAULTS_pread, CALLER))
                return real(fd, to, n, from);
        return error != 0 ? -1 : real(fd, to, half(n), from);
}

ssize_t write(int fd, const void *from, size_t n)
{
        REAL(write);
        if (!fails(FAULTS_write, CALLER))
                return real(fd, from, n);
        return error != 0 ? -1 : real(fd, from, half(n));
}

static int open_mode(int folder, const char *path, int flags, va_list ap)
{
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;

        if (named && (flags & O_TMPFILE) == O_TMPFILE) {
                errno = EOPNOTSUPP;
                return -1;
        }
        return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
        va_list ap;

        if (fails(FAULTS_open, CALLER))
                return -1;
        va_start(ap, flags);
        int fd = open_mode(AT_FDCWD, path, flags, ap);
        va_end(ap);
        return fd;
}

int openat(int folder, const char *path, int flags, ...)
{
        va_list ap;

        if (fails(FAULTS_open, CALLER))
                return -1;
        va_start(ap, flags);
        int fd = open_mode(folder, path, flags, ap);
        va_end(ap);
        return fd;
}

FILE *fopen(const char *path, const char *mode)
{
        REAL(fopen);
        return fails(FAULTS_fopen, CALLER) ? NULL : real(path, mode);
}

/* The descriptor is gone in any case, as on Linux. */
int close(int fd)
{
        REAL(close);
        bool failed = fails(FAULTS_close, CALLER);
        int rc = real(fd);

        if (failed)
                errno = error;
        return failed ? -1 : rc;
}

int rename(const char *from, const char *to)
{
        REAL(rename);
        return fails(FAULTS_rename, CALLER) ? -1 : real(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
        REAL(linkat);
        return fails(FAULTS_linkat, CALLER) ? -1 : real(from_folder, from, to_folder, to, flags);
}

int fsync(int fd)
{
        REAL(fsync);
        return fails(FAULTS_fsync, CALLER) ? -1 : real(fd);
}

int fstat(int fd, struct stat *to)
{
        REAL(fstat);
        return fails(FAULTS_fstat, CALLER) ? -1 : real(fd, to);
}

int fchmod(int fd, mode_t mode)
{
        REAL(fchmod);
        return fails(FAULTS_fchmod, CALLER) ? -1 : real(fd, mode);
}

void *mmap(void *p, size_t n, int protection, int flags, int fd, off_t from)
{
        REAL(mmap);
        return fails(FAULTS_mmap, CALLER) ? MAP_FAILED : real(p, n, protection, flags, fd, from);
}

int ftruncate(int fd, off_t n)
{
        REAL(ftruncate);
        return fails(FAULTS_ftruncate, CALLER) ? -1 : real(fd, n);
}

int posix_fallocate(int fd, off_t from, off_t n)
{
        REAL(posix_fallocate);
        return fails(FAULTS_posix_fallocate, CALLER) ? error : real(fd, from, n);
}

int mkostemp(char *name, int flags)
{
        REAL(mkostemp);
        return fails(FAULTS_mkostemp, CALLER) ? -1 : real(name, flags);
}

struct start {
        void *(*run)(void *);
        void *arg;
};

static void *start(void *arg)
{
        const struct start *s = arg;

        ours = true;
        return s->run(s->arg);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *arg)
{
        REAL(pthread_create);
        if (shared == NULL || is_foreign(CALLER))
                return real(thread, how, run, arg);
        if (fails(FAULTS_pthread_create, CALLER))
                return error;
        struct start *s = early_alloc(sizeof *s);
        *s = (struct start){run, arg};
        return real(thread, how, start, s);
}
