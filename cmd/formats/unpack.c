/* unpack.c - compressed files, through the machine's own decompressors. */
#include "cmd/formats/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define KIND(magic, program, options)                                                         \
        {                                                                                     \
                magic, sizeof magic - 1, {program, options, NULL},                            \
                        "it is compressed with " program ", and there is no program " program \
                        " to unpack it: install the package that has it",                     \
                        program " cannot unpack it: it is damaged, or ends too early"         \
        }

static const struct unpack_kind {
        const char *magic; /* its first bytes */
        size_t n;
        char *argv[3];
        const char *missing, *damaged; /* why it cannot be unpacked */
} kinds[] = {
        KIND("\x1f\x8b", "gzip", "-dc"),
        KIND("\x28\xb5\x2f\xfd", "zstd", "-dcq"),
        KIND("\xfd\067zXZ\0", "xz", "-dcq"),
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

/* In its own group, so that the terminal's Ctrl-C is for the program, which ends the child. */
static int spawn(struct unpack *u, int in, int out)
{
        /* By these users give the programs options: limits of memory, other formats. */
        static const char *const settings[] = {"GZIP",   "PIGZ",        "XZ_DEFAULTS",
                                               "XZ_OPT", "ZSTD_CLEVEL", "ZSTD_NBTHREADS"};
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;

        for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
                unsetenv(settings[i]);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        int rc = posix_spawn_file_actions_init(&actions);
        if (rc == 0)
                rc = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        if (rc == 0)
                rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        if (rc == 0)
                rc = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                                      O_WRONLY, 0);
        if (rc == 0)
                rc = posix_spawnp(&u->child, u->kind->argv[0], &actions, &attributes, u->kind->argv,
                                  environ);
        if (rc != 0)
                u->child = 0;
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
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

static int wait_for(pid_t child)
{
        int status = 0;

        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
        return status;
}

void unpack_end(struct unpack *u)
{
        if (u->kind == NULL)
                return;
        close(u->from);
        if (u->child > 0) {
                kill(u->child, SIGKILL);
                wait_for(u->child);
        }
        *u = (struct unpack){0};
}

ssize_t unpack_read(struct unpack *u, char *s, size_t n, const char **why)
{
        const ssize_t got = u->child > 0 ? read(u->from, s, n) : 0;

        if (got != 0 || u->child == 0)
                return got;
        const int status = wait_for(u->child);
        u->child = 0;
        if (status == 0)
                return 0;
        /* Where posix_spawn cannot say that there is no program, the child says it so. */
        *why = WIFEXITED(status) && WEXITSTATUS(status) == 127 ? u->kind->missing
                                                               : u->kind->damaged;
        return -1;
}
