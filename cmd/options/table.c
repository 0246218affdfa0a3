/* table.c - the option table of a program: its fields one by one, their names, and mistakes in it.
 */
#include "cmd/options/common.h"
#include "cmd/options/message.h"
#include "cmd/options/nearest.h"
#include "cmd/options/table.h"

#include <stdio.h>
#include <string.h>

const struct cmd_group *cmd_group_at(const struct cmd_program *program, size_t i)
{
        size_t n = 0;

        while (program->groups != NULL && program->groups[n].title != NULL)
                n++;
        return i < n ? &program->groups[i] : i == n ? &cmd_common_group : NULL;
}

/* ---- fields --------------------------------------------------------------------------------- */

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
        union {
                bool truth;
                size_t size;
                double real;
                int choice;
                struct ran_choices choices;
                char *text;
                struct ran_list list;
        } initial;
        struct ran_buf change = {0};
        struct ran_error err;

        one->offset = 0;
        one->unless = (struct ran_exception){0};
        if (ran_fields_init(one, &initial, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        ran_fields_changes(one, (const char *)o->base + o->field->offset, &initial, &change);
        if (change.failed)
                cmd_die(CMD_FAILED, "out of memory for the options");
        bool same = change.len == 0;
        ran_buf_release(&change);
        ran_fields_release(one, &initial);
        return same;
}

/* Whether a, without its prefix rest, and b could be the same option on the command line. */
static bool clash(const struct ran_field *a, const char *rest, const struct ran_field *b)
{
        return (a->letter != 0 && a->letter == b->letter) || strcmp(a->name, b->name) == 0 ||
               (rest != NULL && strcmp(rest, cmd_option_name(b).text) == 0) ||
               (cmd_option_negates(a) && strncmp(b->name, "no_", 3) == 0 &&
                strcmp(a->name, b->name + 3) == 0);
}

const struct ran_field *cmd_table_clash(const struct cmd_program *program)
{
        for (struct cmd_option a = {0}; cmd_option_next(program, &a);) {
                const struct cmd_option_name name = cmd_option_name(a.field);
                const char *rest = cmd_option_without_prefix(program, name.text);

                for (struct cmd_option b = {0}; cmd_option_next(program, &b);) {
                        if ((a.group != b.group || a.at != b.at) && clash(a.field, rest, b.field))
                                return a.field;
                }
        }
        return NULL;
}

/* ---- misspelt names ------------------------------------------------------------------------- */

static const char *name_at(const void *program, unsigned i)
{
        for (struct cmd_option o = {0}; cmd_option_next(program, &o); i -= !o.field->fixed)
                if (i == 0 && !o.field->fixed)
                        return o.field->name;
        return NULL;
}

const struct ran_field *cmd_option_nearest(const struct cmd_program *program, const char *name)
{
        const char *nearest = cmd_nearest(name, name_at, program);
        struct cmd_option o;

        return nearest != NULL && cmd_option_find(program, nearest, strlen(nearest), &o) ? o.field
                                                                                         : NULL;
}
