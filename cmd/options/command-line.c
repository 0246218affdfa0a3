/* command-line.c - the arguments of a program as settings, in the manner of getopt_long. */
#include "cmd/options/command-line.h"

#include <string.h>

#include "cmd/options/message.h"

static void add_setting(struct cmd_command_line *c, const struct cmd_option *o, const char *text)
{
        struct ran_error err;
        struct cmd_setting *grown =
                ran_grow(c->settings, &c->cap, c->count + 1, sizeof *c->settings, &err);

        if (grown == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        c->settings = grown;
        c->settings[c->count++] = (struct cmd_setting){o->field, o->base, text};
}

/* The next argument is the value of an option without "=", even if it looks like an option. */
static const char *value_from_next(struct cmd_command_line *c, const struct ran_field *field)
{
        if (c->at + 1 >= c->argc)
                cmd_usage("--%s needs a value: --%s %s", cmd_option_name(field).text,
                          cmd_option_name(field).text, cmd_option_value(field));
        return c->argv[++c->at];
}

/* The value of an option that may be given without "=". A switch need not have one: what looks like
 * an option is none. */
static const char *value_after(struct cmd_command_line *c, const struct ran_field *field)
{
        bool next = c->at + 1 < c->argc && c->argv[c->at + 1][0] != '-';

        if (field->type == RAN_FIELD_BOOL || (field->switches && !next))
                return "true";
        return value_from_next(c, field);
}

/* Whether the first n letters of `given` are the option, or its beginning. */
enum match { NO_MATCH, BEGINNING, WHOLE };

static enum match match(const char *option, const char *given, size_t n)
{
        if (strncmp(option, given, n) != 0)
                return NO_MATCH;
        return option[n] == '\0' ? WHOLE : BEGINNING;
}

struct found {
        struct cmd_option option;
        bool negated;
        enum match match;
        size_t matches;
};

/* A key or a fixed field has no short forms. */
static void consider(struct found *f, const struct cmd_option *o, bool negated, enum match m)
{
        if (m == NO_MATCH || f->match == WHOLE ||
            ((o->field->fixed || o->field->key) && m != WHOLE))
                return;
        f->matches = m == WHOLE ? 1 : f->matches + 1;
        f->option = *o;
        f->negated = negated;
        f->match = m;
}

static struct found find_long(const struct cmd_program *program, const char *given, size_t n)
{
        struct found f = {.match = NO_MATCH};

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                struct cmd_option_name name = cmd_option_name(o.field);
                const char *rest = cmd_option_without_prefix(program, name.text);
                consider(&f, &o, false, match(name.text, given, n));
                if (rest != NULL)
                        consider(&f, &o, false, match(rest, given, n));
                if (cmd_option_negates(o.field) && n > 3 && strncmp(given, "no-", 3) == 0)
                        consider(&f, &o, true, match(name.text, given + 3, n - 3));
        }
        return f;
}

static _Noreturn void refuse_long(const struct cmd_program *program, const struct found *f,
                                  const char *given, size_t n)
{
        struct ran_buf name = {0};

        ran_buf_printf(&name, "%.*s%c", (int)n, given, '\0');
        if (name.failed)
                cmd_usage("unknown option --%s", given);
        if (f->matches > 1)
                cmd_usage("--%s is short for more than one option", name.data);
        const struct ran_field *like = cmd_option_nearest(program, name.data);
        if (like == NULL)
                cmd_usage("unknown option --%s", name.data);
        cmd_usage("unknown option --%s; did you mean --%s?", name.data, cmd_option_name(like).text);
}

static void take_long(struct cmd_command_line *c)
{
        const char *given = c->argv[c->at] + 2;
        size_t n = strcspn(given, "=");
        const char *text = given[n] == '=' ? given + n + 1 : NULL;
        struct found f = find_long(c->program, given, n);

        if (f.matches != 1)
                refuse_long(c->program, &f, given, n);
        const struct ran_field *field = f.option.field;
        if (f.negated && text != NULL)
                cmd_usage("--no-%s takes no value", cmd_option_name(field).text);
        if (text == NULL)
                text = f.negated ? "false" : value_after(c, field);
        add_setting(c, &f.option, text);
}

static bool find_letter(const struct cmd_program *program, char letter, struct cmd_option *o)
{
        *o = (struct cmd_option){0};
        while (cmd_option_next(program, o)) {
                if (o->field->letter == letter)
                        return true;
        }
        return false;
}

/* -xv: letters, until one takes the rest or the next argument as its value. */
static void take_letters(struct cmd_command_line *c)
{
        struct cmd_option o;

        for (const char *letter = c->argv[c->at] + 1; *letter != '\0'; letter++) {
                if (!find_letter(c->program, *letter, &o))
                        cmd_usage("unknown option -%c", *letter);
                if (o.field->type != RAN_FIELD_BOOL) {
                        add_setting(c, &o,
                                    letter[1] != '\0' ? letter + 1 : value_from_next(c, o.field));
                        return;
                }
                add_setting(c, &o, "true");
        }
}

int cmd_command_line_read(struct cmd_command_line *c)
{
        int operands = 0;
        bool options = true;

        for (c->at = 1; c->at < c->argc; c->at++) {
                char *arg = c->argv[c->at];
                if (!options || arg[0] != '-' || arg[1] == '\0')
                        c->argv[1 + operands++] = arg;
                else if (strcmp(arg, "--") == 0)
                        options = false;
                else if (arg[1] == '-')
                        take_long(c);
                else
                        take_letters(c);
        }
        int first = c->argc - operands;
        memmove(c->argv + first, c->argv + 1, (size_t)operands * sizeof *c->argv);
        return first;
}
