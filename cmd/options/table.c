/* table.c - the option table of a program: its fields one by one, and their names. */
#include "cmd/options/table.h"

#include <string.h>

#include "cmd/options/message.h"

/* ---- the options of every program ------------------------------------------------------------ */

struct cmd_common cmd_common;

#define COMMON(member) offsetof(struct cmd_common, member)
static const struct ran_field common_fields[] = {
        {"jobs", 'j', RAN_FIELD_SIZE, COMMON(jobs), 0, 4096, .value = "N", .initial = "0",
         .help = "number of threads; 0: RAN_THREADS, or else one for each available processor",
         .local = true, .first = true},
        {"config", 'c', RAN_FIELD_TEXT, COMMON(config), .value = "FILE",
         .help = "read options from the JSON object in FILE, or of the recipe of that name; the "
                 "command line takes precedence",
         .local = true, .first = true},
        {"print_config", 0, RAN_FIELD_BOOL, COMMON(print_config),
         .help = "print the options in force, as --config reads them, and exit", .local = true},
        {"print_options", 0, RAN_FIELD_BOOL, COMMON(print_options),
         .help = "print a line for each option, for shell completion, and exit", .local = true},
        {"quiet", 'q', RAN_FIELD_BOOL, COMMON(quiet), .help = "print only errors and warnings",
         .local = true, .first = true},
        {"verbose", 'v', RAN_FIELD_BOOL, COMMON(verbose), .help = "print more messages",
         .local = true},
        {"help", 'h', RAN_FIELD_BOOL, COMMON(help), .help = "print the main options and exit",
         .local = true, .first = true},
        {"help_all", 0, RAN_FIELD_BOOL, COMMON(help_all), .help = "print all options and exit",
         .local = true, .first = true},
        {"version", 'V', RAN_FIELD_BOOL, COMMON(version), .help = "print the version and exit",
         .local = true, .first = true},
        {0},
};
const struct cmd_group cmd_common_group = {"Common options", common_fields, &cmd_common};

/* ---- fields --------------------------------------------------------------------------------- */

const struct cmd_group *cmd_group_at(const struct cmd_program *program, size_t i)
{
        size_t n = 0;

        while (program->groups != NULL && program->groups[n].title != NULL)
                n++;
        return i < n ? &program->groups[i] : i == n ? &cmd_common_group : NULL;
}

bool cmd_option_next(const struct cmd_program *program, struct cmd_option *o)
{
        const struct cmd_group *g;

        if (o->field != NULL)
                o->at++;
        while ((g = cmd_group_at(program, o->group)) != NULL && g->fields[o->at].name == NULL) {
                o->group++;
                o->at = 0;
        }
        if (g == NULL)
                return false;
        o->field = &g->fields[o->at];
        o->base = g->base;
        return true;
}

bool cmd_option_find(const struct cmd_program *program, const char *name, size_t n,
                     struct cmd_option *o)
{
        for (*o = (struct cmd_option){0}; cmd_option_next(program, o);) {
                if (strlen(o->field->name) == n && memcmp(o->field->name, name, n) == 0)
                        return true;
        }
        return false;
}

struct cmd_option_name cmd_option_name(const struct ran_field *field)
{
        struct cmd_option_name name;

        snprintf(name.text, sizeof name.text, "%s", field->name);
        for (char *c = name.text; *c != '\0'; c++) {
                if (*c == '_')
                        *c = '-';
        }
        return name;
}

const char *cmd_option_value(const struct ran_field *field)
{
        static const char *const usual[] = {
                [RAN_FIELD_SIZE] = "N",      [RAN_FIELD_REAL] = "X",
                [RAN_FIELD_CHOICE] = "WORD", [RAN_FIELD_CHOICES] = "WORD",
                [RAN_FIELD_TEXT] = "TEXT",   [RAN_FIELD_LIST] = "TEXT",
        };

        return field->value != NULL ? field->value : usual[field->type];
}

bool cmd_option_negates(const struct ran_field *field)
{
        return (field->type == RAN_FIELD_BOOL || field->switches) && !field->local;
}

const char *cmd_option_without_prefix(const struct cmd_program *program, const char *name)
{
        size_t n = program->prefix != NULL ? strlen(program->prefix) : 0;

        return n > 0 && strncmp(name, program->prefix, n) == 0 ? name + n : NULL;
}

bool cmd_option_has_default(const struct cmd_option *o)
{
        struct ran_field one[] = {*o->field, {0}};
        struct ran_choices initial; /* the largest value */
        struct ran_buf change = {0};
        struct ran_error err;

        one->offset = 0;
        one->unless = (struct ran_exception){0};
        if (ran_fields_init(one, &initial, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        ran_fields_changes(one, (const char *)o->base + o->field->offset, &initial, &change);
        bool same = change.len == 0;
        ran_buf_release(&change);
        ran_fields_release(one, &initial);
        return same;
}
