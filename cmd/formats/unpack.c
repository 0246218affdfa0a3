/* unpack.c - compressed input, through the machine's own decompressors.
 *
 *      source --read--> buffer --socket--> child --pipe--> text
 *
 * One loop moves the bytes, without threads: it waits for whatever can go on. Towards the child it
 * is a socket, because writing to a child that has ended must not raise SIGPIPE.
 */
#include "cmd/formats/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define KIND(magic, program, ...)                                                             \
        {                                                                                     \
                magic, sizeof magic - 1, program,                                             \
                        (const char *const[]){program, __VA_ARGS__, NULL},                    \
                        "it is compressed with " program ", and there is no program " program \
                        " to unpack it: install the package that has it",                     \
                        program " cannot unpack it: it is damaged, or ends too early"         \
        }

static const struct unpack_kind kinds[] = {
        KIND("\x1f\x8b", "gzip", "-dc"),
        KIND("\x28\xb5\x2f\xfd", "zstd", "-dcq"),
        KIND("\xfd"
             "7zXZ\0",
             "xz", "-dcq"),
};

enum unpack_match unpack_match(const char *s, size_t n, const struct unpack_kind **kind)
{
        enum unpack_match match = UNPACK_NO;

        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
                size_t have = n < kinds[i].n ? n : kinds[i].n;
                if (have > 0 && memcmp(s, kinds[i].magic, have) != 0)
                        continue;
                *kind = &kinds[i];
                if (have == kinds[i].n)
                        return UNPACK_YES;
                match = UNPACK_MAYBE;
        }
        return match;
}

size_t unpack_name(const char *file, size_t n)
{
        static const char *const endings[] = {".gz", ".zst", ".xz"};

        for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
                size_t m = strlen(endings[i]);
                if (n > m && memcmp(file + n - m, endings[i], m) == 0)
                        return n - m;
        }
        return n;
}

/* ---- the child ------------------------------------------------------------------------------ */

struct unpack {
        const struct unpack_kind *kind;
        int source;     /* the caller's */
        int to, from;   /* the child's standard input and output; -1: closed */
        pid_t child;    /* 0: it has been waited for */
        bool regular;   /* the source never makes anybody wait */
        bool taken_all; /* the source has ended */
        char buffer[1 << 16];
        size_t begin, end; /* of the buffer: not yet with the child */
        const char *why;
};

/* Whether a variable is one of those by which users give these programs options: limits of memory,
 * numbers of threads, other formats. */
static bool is_setting(const char *variable)
{
        static const char *const beginnings[] = {"GZIP", "PIGZ", "XZ_", "ZSTD_"};

        for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
                if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
                        return true;
        return false;
}

/* The environment of a child, to be freed; NULL without memory. */
static char **make_environment(void)
{
        size_t n = 0, kept = 0;

        while (environ[n] != NULL)
                n++;
        char **environment = ran_alloc(n + 1, sizeof *environment, NULL);
        for (size_t i = 0; environment != NULL && i < n; i++)
                if (!is_setting(environ[i]))
                        environment[kept++] = environ[i];
        return environment;
}

/* In its own group, so that the terminal's Ctrl-C is for the program, which ends the child. */
static int spawn(struct unpack *u, int in, int out)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none, defaults;
        char **environment = make_environment();

        if (environment == NULL)
                return ENOMEM;
        if (posix_spawn_file_actions_init(&actions) != 0) {
                free(environment);
                return ENOMEM;
        }
        if (posix_spawnattr_init(&attributes) != 0) {
                posix_spawn_file_actions_destroy(&actions);
                free(environment);
                return ENOMEM;
        }
        sigemptyset(&none);
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGPIPE);
        sigaddset(&defaults, SIGXFSZ);
        sigaddset(&defaults, SIGINT);
        sigaddset(&defaults, SIGTERM);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                      POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        int rc = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        if (rc == 0)
                rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        if (rc == 0)
                rc = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                                      O_WRONLY, 0);
        if (rc == 0)
                rc = posix_spawnp(&u->child, u->kind->program, &actions, &attributes,
                                  (char *const *)u->kind->arguments, environment);
        if (rc != 0)
                u->child = 0;
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        free(environment);
        return rc;
}

static void close_one(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

static int start(struct unpack *u)
{
        int to[2] = {-1, -1}, from[2] = {-1, -1}, code = 0;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0 ||
            pipe2(from, O_CLOEXEC) != 0)
                code = errno;
        if (code == 0)
                code = spawn(u, to[1], from[1]);
        close_one(&to[1]);
        close_one(&from[1]);
        u->to = to[0];
        u->from = from[0];
        return code;
}

struct unpack *unpack_open(const struct unpack_kind *kind, int source, const char *s, size_t n,
                           const char **why)
{
        struct unpack *u =
                n <= sizeof(((struct unpack *)NULL)->buffer) ? ran_alloc(1, sizeof *u, NULL) : NULL;
        struct stat status;

        *why = strerror(ENOMEM);
        if (u == NULL)
                return NULL;
        u->kind = kind;
        u->source = source;
        u->to = u->from = -1;
        u->regular = fstat(source, &status) == 0 && S_ISREG(status.st_mode);
        memcpy(u->buffer, s, n);
        u->end = n;
        int rc = start(u);
        if (rc == 0) {
                *why = NULL;
                return u;
        }
        *why = rc == ENOENT ? kind->missing : strerror(rc);
        unpack_close(u);
        return NULL;
}

void unpack_close(struct unpack *u)
{
        if (u == NULL)
                return;
        close_one(&u->to);
        close_one(&u->from);
        if (u->child > 0) {
                kill(u->child, SIGKILL);
                while (waitpid(u->child, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        free(u);
}

/* ---- moving bytes --------------------------------------------------------------------------- */

/* A part of the source into the empty buffer. */
static bool take(struct unpack *u)
{
        ssize_t n = read(u->source, u->buffer, sizeof u->buffer);

        if (n < 0 && errno != EAGAIN && errno != EINTR) {
                u->why = strerror(errno);
                return false;
        }
        u->taken_all = n == 0;
        u->begin = 0;
        u->end = n > 0 ? (size_t)n : 0;
        if (u->taken_all)
                close_one(&u->to);
        return true;
}

/* A part of the buffer to the child; if it takes no more, its exit status says why. */
static void give(struct unpack *u)
{
        ssize_t n =
                send(u->to, u->buffer + u->begin, u->end - u->begin, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n > 0)
                u->begin += (size_t)n;
        else if (n < 0 && errno != EAGAIN && errno != EINTR) {
                u->begin = u->end;
                u->taken_all = true;
                close_one(&u->to);
        }
}

/* The child has closed its output. */
static ssize_t finish(struct unpack *u)
{
        int status = 0;

        close_one(&u->to);
        while (waitpid(u->child, &status, 0) < 0 && errno == EINTR)
                ;
        u->child = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return 0;
        /* Where posix_spawn cannot say that there is no program, the child says it so. */
        u->why = WIFEXITED(status) && WEXITSTATUS(status) == 127 ? u->kind->missing
                                                                 : u->kind->damaged;
        return -1;
}

ssize_t unpack_read(struct unpack *u, char *s, size_t n)
{
        if (u->why != NULL)
                return -1;
        for (;;) {
                bool full = u->begin < u->end;
                struct pollfd wait[2] = {{.fd = u->from, .events = POLLIN},
                                         {.fd = full           ? u->to
                                                : u->taken_all ? -1
                                                               : u->source,
                                          .events = full ? POLLOUT : POLLIN}};
                if (u->child == 0)
                        return 0;
                if (poll(wait, 2, -1) < 0)
                        continue; /* a signal */
                if (wait[0].revents != 0) {
                        ssize_t got = read(u->from, s, n);
                        if (got > 0)
                                return got;
                        if (got == 0)
                                return finish(u);
                }
                if (wait[1].revents != 0 && full)
                        give(u);
                else if (wait[1].revents != 0 && !take(u))
                        return -1;
        }
}

bool unpack_ready(const struct unpack *u)
{
        return u->regular || poll(&(struct pollfd){.fd = u->from, .events = POLLIN}, 1, 0) > 0;
}

const char *unpack_why(const struct unpack *u)
{
        return u->why;
}
