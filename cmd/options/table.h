/* table.h - the option table of a program: its fields one by one, their names, and mistakes in it.
 */
#ifndef CMD_OPTIONS_TABLE_H
#define CMD_OPTIONS_TABLE_H

#include "cmd/options/options.h"

/* The i-th group of a program: its own groups, then the common options; NULL after that. */
const struct cmd_group *cmd_group_at(const struct cmd_program *program, size_t i);

/* One field of a program. Zero-initialise to begin a walk over all of them. */
struct cmd_option {
        size_t group, at;
        const struct ran_field *field;
        void *base;
};
bool cmd_option_next(const struct cmd_program *program, struct cmd_option *o);
/* The field with this name of n bytes. */
bool cmd_option_find(const struct cmd_program *program, const char *name, size_t n,
                     struct cmd_option *o);
/* The field whose option is most similar to `name` ('-' between words), or NULL if none is. */
const struct ran_field *cmd_option_nearest(const struct cmd_program *program, const char *name);

/* The long option of a field without its dashes; names are short identifiers of our own. */
struct cmd_option_name {
        char text[64];
};
struct cmd_option_name cmd_option_name(const struct ran_field *field);
/* An option's name without its optional prefix; NULL: it has none. */
const char *cmd_option_without_prefix(const struct cmd_program *program, const char *name);
/* The name of its value in --help; for all but BOOL. */
const char *cmd_option_value(const struct ran_field *field);
/* Whether there is a --no-NAME, for settings that a configuration file may have switched on. */
bool cmd_option_negates(const struct ran_field *field);
/* Whether the option has the default of its table, whatever other fields are. */
bool cmd_option_has_default(const struct cmd_option *o);

/* A field with the name or letter of another one of the program, or NULL. cmd_parse aborts for
 * such a table. */
const struct ran_field *cmd_table_clash(const struct cmd_program *program);

#endif
