/* message.h - messages on stderr, and exit statuses. */
#ifndef CMD_OPTIONS_MESSAGE_H
#define CMD_OPTIONS_MESSAGE_H

#include "ran.h"

enum cmd_status {
        CMD_OK = 0,
        CMD_SOME_FAILED = 1, /* finished, some records failed */
        CMD_USAGE = 2,       /* the command line or the configuration is wrong */
        CMD_FAILED = 3,   /* input, model or output could not be read, checked or written; memory */
        CMD_DIVERGED = 4, /* training diverged, or a check failed */
};

/* The exit status for this error (RAN_EINTR is the caller's business). */
int cmd_status_of(const struct ran_error *err);

/* Messages are one line on stderr and begin with "ran-classify: "; characters that nobody sees
 * become codes, <U+202E>. */
_Noreturn void cmd_die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cmd_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cmd_note(const char *format, ...) __attribute__((format(printf, 1, 2))); /* not with -q */
/* With "warning: " before it; not with -q. */
void cmd_caution(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether stderr is a terminal that can redraw a line. */
bool cmd_can_redraw(void);
/* Draws a line on the terminal, as much of it as fits, which the next one replaces, and any
 * message; NULL: removes it, if there is one. */
void cmd_live(const char *text);
/* Exits with 2 and "Try 'ran-classify --help'", for errors that the option table cannot check. */
_Noreturn void cmd_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for an error of the library about a setting; what: the name of the setting or NULL.
 * Exits with 3 if memory ran out: that is no usage error. */
_Noreturn void cmd_refuse(const char *what, const struct ran_error *err);
/* A mistake in our own tables: prints "bug: ..." and aborts. */
_Noreturn void cmd_bug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Messages begin with the first word of the name, the hint at --help has all of it. Not copied. */
void cmd_set_program(const char *name);
const char *cmd_program_name(void);
/* --quiet: cmd_note and cmd_caution say nothing. */
void cmd_set_quiet(bool quiet);

#endif
