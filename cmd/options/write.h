/* write.h - checked output. */
#ifndef CMD_OPTIONS_WRITE_H
#define CMD_OPTIONS_WRITE_H

#include "ran.h"

/* Writes all bytes to a descriptor. On failure exits with 3 and a message that names `what`; dies
 * of SIGPIPE, without a message, when the reader closed the pipe. */
void cmd_write(int fd, const char *what, const void *bytes, size_t n);
/* Exits with 3 unless the file can be written. Call it before long work. */
void cmd_check_writable(const char *path);
/* Writes a whole file at once, or standard output for path NULL; exits with 3 on failure. */
void cmd_write_file(const char *path, const struct ran_buf *bytes);

/* Output that grows: append to buf, and flush now and then. A flush writes only when the buffer is
 * large enough. Failures exit with 3. A file appears with _close. */
struct cmd_sink {
        struct ran_buf buf;
        struct ran_writer *writer; /* NULL: standard output */
};
void cmd_sink_open(struct cmd_sink *s, const char *path); /* path NULL: standard output */
void cmd_sink_flush(struct cmd_sink *s);
void cmd_sink_close(struct cmd_sink *s);
void cmd_sink_abort(struct cmd_sink *s); /* instead of _close: no file appears */

/* Call it last in main: flushes stdout and returns status, or 3 with a message if stdout failed. */
int cmd_finish(int status);

/* Whether the output takes bytes and keeps no file, such as a pipe or /dev/null: nothing stands
 * beside it. As ran_writer_open has it. */
bool cmd_is_stream(const char *output);

#endif
