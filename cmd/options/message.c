/* message.c - messages on stderr, and exit statuses. */
#include "cmd/options/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name = "ran"; /* perhaps with a verb */
static bool is_quiet;
static bool is_live; /* a live line is on the terminal */

void cmd_set_program(const char *program)
{
        static bool first = true;

        name = program;
        if (first)
                atexit(ran_writer_abandon_all); /* wherever cmd_die is called */
        first = false;
}

const char *cmd_program_name(void)
{
        return name;
}

void cmd_set_quiet(bool quiet)
{
        is_quiet = quiet;
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

/* File names and records may contain anything: ran_fail replaces control characters, which could
 * steer a terminal. */
static void say(const char *format, va_list ap)
{
        struct ran_error line;
        char text[sizeof(line.text)];

        vsnprintf(text, sizeof(text), format, ap);
        ran_fail(&line, RAN_OK, "%s", text);
        fprintf(stderr, "%s%.*s: %s\n", is_live ? "\r\033[K" : "", (int)strcspn(name, " "), name,
                line.text);
        is_live = false;
}

void cmd_live(const char *text)
{
        if (text != NULL)
                fprintf(stderr, "\r\033[K%.*s: %s", (int)strcspn(name, " "), name, text);
        else if (is_live)
                fputs("\r\033[K", stderr);
        fflush(stderr);
        is_live = text != NULL;
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

        if (is_quiet)
                return;
        va_start(ap, format);
        say(format, ap);
        va_end(ap);
}

void cmd_bug(const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        say(format, ap);
        va_end(ap);
        abort();
}
