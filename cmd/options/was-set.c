/* was-set.c - the fields that the user set. */
#include "cmd/options/was-set.h"

#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/table.h"

/* The table of the running program, and the fields that the user set. */
static struct {
        const struct cmd_program *program;
        struct set_field {
                const struct ran_field *field;
                bool asked;
        } * item;
        size_t n, cap;
} was_set;

void cmd_set_begin(const struct cmd_program *program)
{
        was_set.program = program;
        was_set.n = 0;
}

void cmd_set_note(const struct ran_field *field, bool asked)
{
        struct ran_error err;
        struct set_field *grown =
                ran_grow(was_set.item, &was_set.cap, was_set.n + 1, sizeof *grown, &err);

        if (grown == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        was_set.item = grown;
        was_set.item[was_set.n++] = (struct set_field){field, asked};
}

static bool is_noted(const char *name, bool asked)
{
        for (size_t i = 0; i < was_set.n; i++) {
                if (strcmp(was_set.item[i].field->name, name) == 0 &&
                    (was_set.item[i].asked || !asked))
                        return true;
        }
        return false;
}

/* Aborts for an unknown name: a misspelt one would never be set. */
static void check_name(const char *name)
{
        struct cmd_option o;

        if (was_set.program == NULL || !cmd_option_find(was_set.program, name, strlen(name), &o))
                cmd_bug("bug: no option is called \"%s\"", name);
}

bool cmd_was_set(const char *name)
{
        check_name(name);
        return is_noted(name, false);
}

bool cmd_was_asked(const char *name)
{
        check_name(name);
        return is_noted(name, true);
}

void cmd_set_changes(const struct ran_field *fields, const void *base, const void *other)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++) {
                const struct ran_field one[] = {*f, {0}};
                struct ran_buf change = {0};

                ran_fields_changes(one, base, other, &change);
                if (change.failed)
                        cmd_die(CMD_FAILED, "out of memory");
                if (change.len > 0)
                        cmd_set_note(f, false);
                ran_buf_release(&change);
        }
}

void cmd_set_all(const struct ran_field *fields)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++)
                if (!f->local)
                        cmd_set_note(f, false);
}
