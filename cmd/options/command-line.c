/* command-line.c - the arguments of a program as settings, in the manner of getopt_long. */
#include "cmd/options/table.h"

#include <string.h>

#include "cmd/options/message.h"

/* The command line, and the argument that is being read. */
struct reading {
        const struct cmd_program *program;
        char **argv;
        int argc, at;
        struct cmd_settings *settings;
};

static void add_setting(struct reading *c, const struct cmd_option *o, const char *text)
{
        struct cmd_settings *s = c->settings;

        RAN_ROOM(s->item, s->cap, s->n + 1);
        s->item[s->n++] = (struct cmd_setting){o->field, o->base, text};
}

/* The value of an option without "=": the next argument, even if it looks like an option. */
static const char *value_from_next(struct reading *c, const struct ran_field *field)
{
        if (c->at + 1 >= c->argc)
                cmd_usage("--%s needs a value: --%s %s", cmd_option_name(field).text,
                          cmd_option_name(field).text, cmd_option_value(field));
        return c->argv[++c->at];
}

/* What an option on the command line stands for. */
struct found {
        struct cmd_option option;
        bool negated, whole; /* whole: not the beginning of its name */
        size_t matches;
};

/* Whether the first n letters of `given` are the option, or its beginning. A key or a fixed field
 * has no short forms. */
static void consider(struct found *f, const struct cmd_option *o, bool negated, const char *option,
                     const char *given, size_t n)
{
        if (f->whole || strncmp(option, given, n) != 0)
                return;
        const bool whole = option[n] == '\0';
        if (!whole && (o->field->fixed || o->field->key))
                return;
        *f = (struct found){*o, negated, whole, whole ? 1 : f->matches + 1};
}

static struct found find_long(const struct cmd_program *program, const char *given, size_t n)
{
        struct found f = {.whole = false};

        for (struct cmd_option o = {0}; cmd_option_next(program, &o);) {
                struct cmd_option_name name = cmd_option_name(o.field);
                const char *rest = cmd_option_without_prefix(program, name.text);
                consider(&f, &o, false, name.text, given, n);
                if (rest != NULL)
                        consider(&f, &o, false, rest, given, n);
                if (cmd_option_negates(o.field) && n > 3 && strncmp(given, "no-", 3) == 0)
                        consider(&f, &o, true, name.text, given + 3, n - 3);
        }
        return f;
}

static void take_long(struct reading *c)
{
        const char *given = c->argv[c->at] + 2;
        size_t n = strcspn(given, "=");
        const char *text = given[n] == '=' ? given + n + 1 : NULL;
        struct found f = find_long(c->program, given, n);

        if (f.matches > 1)
                cmd_usage("--%.*s is short for more than one option", (int)n, given);
        if (f.matches == 0) {
                const char *name = ran_copy(given, n);
                const struct ran_field *like = cmd_option_nearest(c->program, name);

                cmd_usage("unknown option --%s%s%s%s", name,
                          like != NULL ? "; did you mean --" : "",
                          like != NULL ? cmd_option_name(like).text : "", like != NULL ? "?" : "");
        }
        const struct ran_field *field = f.option.field;
        const bool next = c->at + 1 < c->argc && c->argv[c->at + 1][0] != '-';
        if (f.negated && text != NULL)
                cmd_usage("--no-%s takes no value", cmd_option_name(field).text);
        if (f.negated)
                text = "false";
        else if (text == NULL && (field->type == RAN_FIELD_BOOL || (field->switches && !next)))
                text = "true"; /* a switch need not have a value: what looks like an option is none
                                */
        else if (text == NULL)
                text = value_from_next(c, field);
        add_setting(c, &f.option, text);
}

/* -xv: letters, until one takes the rest or the next argument as its value. */
static void take_letters(struct reading *c)
{
        for (const char *letter = c->argv[c->at] + 1; *letter != '\0'; letter++) {
                struct cmd_option o = {0};

                while (cmd_option_next(c->program, &o) && o.field->letter != *letter)
                        ;
                if (o.field == NULL || o.field->letter != *letter)
                        cmd_usage("unknown option -%c", *letter);
                if (o.field->type != RAN_FIELD_BOOL) {
                        add_setting(c, &o,
                                    letter[1] != '\0' ? letter + 1 : value_from_next(c, o.field));
                        return;
                }
                add_setting(c, &o, "true");
        }
}

int cmd_command_line_read(const struct cmd_program *program, int argc, char **argv,
                          struct cmd_settings *settings)
{
        struct reading c = {program, argv, argc, 1, settings};
        int operands = 0;
        bool options = true;

        for (; c.at < argc; c.at++) {
                char *arg = argv[c.at];
                if (!options || arg[0] != '-' || arg[1] == '\0')
                        argv[1 + operands++] = arg;
                else if (strcmp(arg, "--") == 0)
                        options = false;
                else if (arg[1] == '-')
                        take_long(&c);
                else
                        take_letters(&c);
        }
        memmove(argv + argc - operands, argv + 1, (size_t)operands * sizeof *argv);
        return argc - operands;
}
