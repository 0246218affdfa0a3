/* write.c - checked output. */
#include "cmd/options/write.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/options/message.h"

/* If the reader has gone, the program dies of SIGPIPE, even if its parent ignored the signal. */
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

/* Does not open a pipe: closing it again would be the end of file for its reader. */
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

        if (s->buf.len >= enough)
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

bool cmd_is_stream(const char *output)
{
        struct stat file;

        return strncmp(output, "/dev/", 5) == 0 ||
               (stat(output, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode));
}
