/* process.c - guards against closed streams, file size limits and truncated mappings. */
#include "cmd/options/table.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"

/* With descriptor 1 closed, the next file to be opened would become standard output and be
 * overwritten. So /dev/null, opened in the wrong direction, replaces a closed stream: any use of
 * it fails. */
static void keep_standard_streams(void)
{
        for (int fd = 0; fd <= 2; fd++) {
                if (fcntl(fd, F_GETFD) >= 0)
                        continue;
                int lowest = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
                if (lowest != fd)
                        abort();
        }
}

/* Models and other large files are mapped. If another program shortens such a file, reading
 * beyond its new end raises SIGBUS: exits with 3 and a message. */
static void on_lost_page(int signal, siginfo_t *info, void *context)
{
        const char *name = cmd_program_name();
        static const char text[] =
                ": a file became shorter while it was read, or its disk failed\n";

        (void)context;
        if (info->si_code != BUS_ADRERR) {
                raise(signal); /* the default action, after SA_RESETHAND */
                return;
        }
        ran_writer_abandon_all();
        ssize_t said = write(STDERR_FILENO, name, strcspn(name, " "));
        said += write(STDERR_FILENO, text, sizeof text - 1);
        (void)said; /* there is nobody else to tell */
        _exit(CMD_FAILED);
}

void cmd_process_begin(void)
{
        const struct sigaction action = {.sa_sigaction = on_lost_page,
                                         .sa_flags = SA_SIGINFO | SA_RESETHAND};

        keep_standard_streams();
        /* At the limit of file sizes, a write fails with a message instead of a signal. */
        signal(SIGXFSZ, SIG_IGN);
        sigaction(SIGBUS, &action, NULL);
}
