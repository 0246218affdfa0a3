/* cmd.c - messages, statuses and checked output. */
#include "cmd/options/cmd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/options/program.h"

static const char *name = "ran"; /* perhaps with a verb */

/* Models and other large files are mapped: what another program cuts off one of them meanwhile is
 * memory without anything behind it. */
static void on_lost_page(int signal, siginfo_t *info, void *context)
{
        static const char text[] =
                ": a file became shorter while it was read, or its disk failed\n";

        (void)context;
        if (info->si_code != BUS_ADRERR) {
                raise(signal); /* with SA_RESETHAND: the end that it is without us */
                return;
        }
        ran_writer_abandon_all();
        ssize_t said = write(STDERR_FILENO, name, strcspn(name, " "));
        said += write(STDERR_FILENO, text, sizeof(text) - 1);
        (void)said; /* there is nobody else to tell */
        _exit(CMD_FAILED);
}

void cmd_catch_lost_pages(void)
{
        const struct sigaction action = {.sa_sigaction = on_lost_page,
                                         .sa_flags = SA_SIGINFO | SA_RESETHAND};

        sigaction(SIGBUS, &action, NULL);
}

void cmd_set_program(const char *program)
{
        static bool first = true;

        name = program;
        if (first)
                atexit(ran_writer_abandon_all); /* wherever cmd_die is called */
        first = false;
}

int cmd_status_of(const struct ran_error *err)
{
        switch (err->code) {
        case RAN_OK:
                return CMD_OK;
        case RAN_EINVAL:
                return CMD_USAGE;
        case RAN_EDIVERGED:
                return CMD_DIVERGED;
        default:
                return CMD_FAILED;
        }
}

/* ran_fail replaces what might steer a terminal: file names and records may hold anything. */
static void say(const char *format, va_list ap)
{
        struct ran_error line;
        char text[sizeof(line.text)];

        vsnprintf(text, sizeof(text), format, ap);
        ran_fail(&line, RAN_OK, "%s", text);
        fprintf(stderr, "%.*s: %s\n", (int)strcspn(name, " "), name, line.text);
}

void cmd_die(int status, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        say(format, ap);
        va_end(ap);
        exit(status);
}

void cmd_usage(const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        say(format, ap);
        va_end(ap);
        fprintf(stderr, "Try '%s --help' for more.\n", name);
        exit(CMD_USAGE);
}

void cmd_refuse(const char *what, const struct ran_error *err)
{
        const char *colon = what != NULL ? ": " : "";

        if (what == NULL)
                what = "";
        if (err->code == RAN_ENOMEM)
                cmd_die(CMD_FAILED, "%s%s%s", what, colon, err->text);
        cmd_usage("%s%s%s", what, colon, err->text);
}

void cmd_warn(const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        say(format, ap);
        va_end(ap);
}

void cmd_note(const char *format, ...)
{
        va_list ap;

        if (cmd_common.quiet)
                return;
        va_start(ap, format);
        say(format, ap);
        va_end(ap);
}

/* A reader that went away is no error of ours: the program dies of SIGPIPE, as it would have by
 * itself if whoever started it had not told it to ignore the signal. */
static _Noreturn void die_of_closed_pipe(void)
{
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
        _exit(128 + SIGPIPE);
}

void cmd_write(int fd, const char *what, const void *bytes, size_t n)
{
        const char *p = bytes;

        while (n > 0) {
                ssize_t written = write(fd, p, n);

                if (written >= 0) {
                        p += written;
                        n -= (size_t)written;
                } else if (errno == EPIPE) {
                        die_of_closed_pipe();
                } else if (errno == EAGAIN) {
                        poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
                } else if (errno != EINTR) {
                        cmd_die(CMD_FAILED, "cannot write %s: %s", what, strerror(errno));
                }
        }
}

static struct ran_writer *open_file(const char *path)
{
        struct ran_error err;
        struct ran_writer *w = ran_writer_open(path, &err);

        if (w == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        return w;
}

/* Not a pipe: whoever reads it would take its being closed again for the end. */
void cmd_check_writable(const char *path)
{
        struct stat st;

        if (stat(path, &st) != 0 || !S_ISFIFO(st.st_mode))
                ran_writer_abort(open_file(path));
        else if (access(path, W_OK) != 0)
                cmd_die(CMD_FAILED, "cannot write %s: %s", path, strerror(errno));
}

void cmd_write_file(const char *path, const struct ran_buf *bytes)
{
        struct ran_error err;

        if (bytes->failed)
                cmd_die(CMD_FAILED, "no memory for %s", path != NULL ? path : "the output");
        if (path == NULL) {
                cmd_write(STDOUT_FILENO, "standard output", bytes->data, bytes->len);
                return;
        }
        struct ran_writer *w = open_file(path);
        ran_writer_write(w, bytes->data, bytes->len);
        if (ran_writer_commit(w, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
}

void cmd_sink_open(struct cmd_sink *s, const char *path)
{
        *s = (struct cmd_sink){.writer = path != NULL ? open_file(path) : NULL};
}

static void write_out(struct cmd_sink *s)
{
        struct ran_error err;

        if (s->buf.failed) {
                cmd_sink_abort(s);
                cmd_die(CMD_FAILED, "no memory for the output");
        }
        if (s->writer != NULL)
                ran_writer_write(s->writer, s->buf.data, s->buf.len);
        else
                cmd_write(STDOUT_FILENO, "standard output", s->buf.data, s->buf.len);
        s->buf.len = 0;
        if (s->writer != NULL && ran_writer_check(s->writer, &err) != RAN_OK) {
                cmd_sink_abort(s);
                cmd_die(CMD_FAILED, "%s", err.text);
        }
}

void cmd_sink_flush(struct cmd_sink *s)
{
        const size_t enough = 1 << 16;

        if (s->buf.failed || s->buf.len >= enough)
                write_out(s);
}

void cmd_sink_close(struct cmd_sink *s)
{
        struct ran_error err;

        write_out(s);
        ran_buf_release(&s->buf);
        if (s->writer != NULL && ran_writer_commit(s->writer, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
}

void cmd_sink_abort(struct cmd_sink *s)
{
        ran_buf_release(&s->buf);
        ran_writer_abort(s->writer);
}

int cmd_finish(int status)
{
        bool failed = ferror(stdout) != 0;

        if (fclose(stdout) != 0 || failed) {
                if (errno == EPIPE)
                        die_of_closed_pipe();
                cmd_die(CMD_FAILED, "cannot write standard output: %s", strerror(errno));
        }
        return status;
}

struct ran_pool *cmd_pool(void)
{
        struct ran_error err;
        struct ran_pool *pool = ran_pool_new(cmd_common.jobs, &err);

        if (pool == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        return pool;
}
