/* message.c - messages on stderr, and exit statuses. */
#include "cmd/options/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- colours -------------------------------------------------------------------------------- */

/* Terminals call them so. */
#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define NORMAL "\033[m"

bool cmd_can_redraw(void)
{
        const char *terminal = getenv("TERM");

        return isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

/* Whether stderr is a terminal that has colours, and nobody objects (no-color.org). */
static bool has_colour(void)
{
        static int answer = -1;

        if (answer < 0) {
                const char *without = getenv("NO_COLOR"), *terminal = getenv("TERM");

                answer = cmd_can_redraw() && terminal != NULL && terminal[0] != '\0' &&
                         (without == NULL || without[0] == '\0');
        }
        return answer == 1;
}

static const char *colour(const char *code)
{
        return has_colour() ? code : "";
}

void cmd_put_line(const char *s, size_t n)
{
        const char *bar = memchr(s, '[', n), *end = s + n;
        size_t filled = 0;

        while (bar != NULL && bar + 1 + filled < end && bar[1 + filled] == '#')
                filled++;
        if (filled == 0 || !has_colour()) {
                fwrite(s, 1, n, stderr);
                return;
        }
        fwrite(s, 1, (size_t)(bar + 1 - s), stderr);
        fprintf(stderr, GREEN "%.*s" NORMAL, (int)filled, bar + 1);
        fwrite(bar + 1 + filled, 1, (size_t)(end - bar) - 1 - filled, stderr);
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Who speaks, in the colour of what it says: "ran-classify: ". */
static void put_name(const char *code)
{
        fprintf(stderr, "%s%s%.*s:%s ", is_live ? "\r\033[K" : "", colour(code),
                (int)strcspn(name, " "), name, colour(code[0] != '\0' ? NORMAL : ""));
        is_live = false;
}

/* File names and records may contain anything: ran_fail writes as codes what could steer a terminal
 * or turn a text around. */
static void say(const char *format, va_list ap, const char *code, bool warning)
{
        struct ran_error line;
        char text[sizeof line.text];

        vsnprintf(text, sizeof text, format, ap);
        ran_fail(&line, RAN_OK, "%s", text);
        put_name(code);
        if (warning)
                fprintf(stderr, "%swarning:%s ", colour(YELLOW), colour(NORMAL));
        fprintf(stderr, "%s\n", line.text);
}

/* The same in a function with `format` and arguments. */
#define SAY(code, warning)                      \
        do {                                    \
                va_list ap;                     \
                va_start(ap, format);           \
                say(format, ap, code, warning); \
                va_end(ap);                     \
        } while (0)

void cmd_live(const char *text)
{
        if (is_live || text != NULL)
                fputs("\r\033[K", stderr);
        is_live = false;
        if (text != NULL) {
                put_name("");
                cmd_put_line(text, strlen(text));
        }
        fflush(stderr);
        is_live = text != NULL;
}

void cmd_die(int status, const char *format, ...)
{
        SAY(RED, false);
        exit(status);
}

void cmd_usage(const char *format, ...)
{
        SAY(RED, false);
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
        SAY(RED, false);
}

void cmd_caution(const char *format, ...)
{
        if (!is_quiet)
                SAY("", true);
}

void cmd_note(const char *format, ...)
{
        if (!is_quiet)
                SAY("", false);
}

void cmd_bug(const char *format, ...)
{
        SAY(RED, false);
        abort();
}
