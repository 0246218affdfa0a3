/* message.c - messages on stderr, and exit statuses. */
#include "cmd/options/message.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *name = "ran"; /* perhaps with a verb */
static bool is_quiet;
static bool is_live; /* a live line is on the terminal */

/* In any thread, while others go on: nothing is flushed or freed. */
static void on_out_of_memory(const char *sentence)
{
        ran_writer_abandon_all();
        cmd_warn("%s", sentence);
        _exit(CMD_FAILED);
}

void cmd_set_program(const char *program)
{
        static bool first = true;

        name = program;
        if (first) {
                ran_memory_handler(on_out_of_memory);
                atexit(ran_writer_abandon_all); /* wherever cmd_die is called */
        }
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

/* ---- messages ------------------------------------------------------------------------------- */

bool cmd_can_redraw(void)
{
        const char *terminal = getenv("TERM");

        return isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

/* File names and records may contain anything: ran_fail writes as codes what could steer a terminal
 * or turn a text around. */
static void say(const char *before, const char *format, va_list ap)
{
        struct ran_error line;
        char text[sizeof line.text];

        vsnprintf(text, sizeof text, format, ap);
        ran_fail(&line, RAN_OK, "%s", text);
        fprintf(stderr, "%s%.*s: %s%s\n", is_live ? "\r\033[K" : "", (int)strcspn(name, " "), name,
                before, line.text);
        is_live = false;
}

/* The same in a function with `format` and arguments. */
#define SAY(before)                      \
        do {                             \
                va_list ap;              \
                va_start(ap, format);    \
                say(before, format, ap); \
                va_end(ap);              \
        } while (0)

void cmd_live(const char *text)
{
        struct winsize w;

        if (is_live || text != NULL)
                fputs("\r\033[K", stderr);
        is_live = text != NULL;
        if (is_live) { /* a full line would wrap, and could not be drawn again */
                const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1;

                fprintf(stderr, "%.*s", known ? w.ws_col - 1 : 79, text);
        }
        fflush(stderr);
}

void cmd_die(int status, const char *format, ...)
{
        SAY("");
        exit(status);
}

void cmd_usage(const char *format, ...)
{
        SAY("");
        fprintf(stderr, "Try '%s --help' for more.\n", name);
        exit(CMD_USAGE);
}

void cmd_refuse(const char *what, const struct ran_error *err)
{
        const char *setting = what != NULL ? what : "", *colon = what != NULL ? ": " : "";

        if (err->code == RAN_ENOMEM)
                cmd_die(CMD_FAILED, "%s%s%s", setting, colon, err->text);
        cmd_usage("%s%s%s", setting, colon, err->text);
}

void cmd_warn(const char *format, ...)
{
        SAY("");
}

void cmd_caution(const char *format, ...)
{
        if (!is_quiet)
                SAY("warning: ");
}

void cmd_note(const char *format, ...)
{
        if (!is_quiet)
                SAY("");
}

void cmd_bug(const char *format, ...)
{
        SAY("");
        abort();
}
