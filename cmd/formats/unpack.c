/* unpack.c - compressed files, through the machine's own decompressors. */
#include "cmd/formats/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
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

static const struct unpack_kind {
        const char *magic; /* its first bytes */
        size_t n;
        const char *program;
        const char *const *arguments;  /* (argv) */
        const char *missing, *damaged; /* why it cannot be unpacked */
} kinds[] = {
        KIND("\x1f\x8b", "gzip", "-dc"),
        KIND("\x28\xb5\x2f\xfd", "zstd", "-dcq"),
        KIND("\xfd"
             "7zXZ\0",
             "xz", "-dcq"),
};

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

/* The environment of a child, to be freed. */
static char **make_environment(void)
{
        size_t n = 0, kept = 0;

        while (environ[n] != NULL)
                n++;
        char **environment = ran_new(n + 1, sizeof *environment);
        for (size_t i = 0; i < n; i++)
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

        if (posix_spawn_file_actions_init(&actions) != 0)
                return ENOMEM;
        if (posix_spawnattr_init(&attributes) != 0) {
                posix_spawn_file_actions_destroy(&actions);
                return ENOMEM;
        }
        char **environment = make_environment();
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

bool unpack_begin(struct unpack *u, int source, const char *s, size_t n, const char **why)
{
        int from[2];

        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && u->kind == NULL; i++)
                if (n >= kinds[i].n && memcmp(s, kinds[i].magic, kinds[i].n) == 0)
                        u->kind = &kinds[i];
        if (u->kind == NULL)
                return true;
        u->from = -1;
        if (lseek(source, -(off_t)n, SEEK_CUR) < 0 || pipe2(from, O_CLOEXEC) != 0) {
                *why = strerror(errno);
                return false;
        }
        const int rc = spawn(u, source, from[1]);
        close(from[1]);
        u->from = from[0];
        if (rc != 0)
                *why = rc == ENOENT ? u->kind->missing : strerror(rc);
        return rc == 0;
}

void unpack_end(struct unpack *u)
{
        if (u->kind == NULL)
                return;
        close(u->from);
        if (u->child > 0) {
                kill(u->child, SIGKILL);
                while (waitpid(u->child, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        *u = (struct unpack){0};
}

ssize_t unpack_read(struct unpack *u, char *s, size_t n, const char **why)
{
        ssize_t got;
        int status = 0;

        if (u->child == 0)
                return 0;
        do {
                got = read(u->from, s, n);
        } while (got < 0 && errno == EINTR);
        if (got > 0)
                return got;
        *why = strerror(errno);
        if (got < 0)
                return -1;
        while (waitpid(u->child, &status, 0) < 0 && errno == EINTR)
                ;
        u->child = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
                *why = NULL;
                return 0;
        }
        /* Where posix_spawn cannot say that there is no program, the child says it so. */
        *why = WIFEXITED(status) && WEXITSTATUS(status) == 127 ? u->kind->missing
                                                               : u->kind->damaged;
        return -1;
}
