/* program.h - what cmd.c, options.c and help.c know of each other, and nobody else. */
#ifndef CMD_OPTIONS_PROGRAM_H
#define CMD_OPTIONS_PROGRAM_H

#include "cmd/options/cmd.h"

/* For messages: they begin with the first word, the hint to --help has all. Not copied. */
void cmd_set_program(const char *name);

/* A mapped file that becomes shorter, SIGBUS otherwise, ends the program with 3 and a sentence. */
void cmd_catch_lost_pages(void);

/* The i-th group of a program, its own ones first, then the common options; NULL after that. */
const struct cmd_group *cmd_group_at(const struct cmd_program *program, size_t i);

/* Dies with 2 where an option is to write what another one reads, or writes (outputs.c). */
void cmd_check_outputs(const struct cmd_program *program);

/* A field that shares its name or letter with another one of the program, or NULL. Such a table is
 * a mistake of ours: cmd_parse aborts. */
const struct ran_field *cmd_table_clash(const struct cmd_program *program);

/* The long option of a field without its dashes; names are short identifiers of our own. */
struct cmd_option_name {
        char text[64];
};
struct cmd_option_name cmd_option_name(const struct ran_field *field);
/* What --help calls its value; for all but BOOL. */
const char *cmd_option_value(const struct ran_field *field);
/* Whether there is a --no-NAME, for settings that a configuration file may have switched on. */
bool cmd_option_negates(const struct ran_field *field);

/* What --help, --version, --print-options and --print-config write, appended to out; _set: of the
 * latter, what was set. */
void cmd_help(const struct cmd_program *program, struct ran_buf *out);
void cmd_version(const struct cmd_program *program, struct ran_buf *out);
void cmd_print_options(const struct cmd_program *program, struct ran_buf *out);
void cmd_print_config(const struct cmd_program *program, struct ran_buf *out);
void cmd_print_set(const struct cmd_program *program, struct ran_buf *out);

#endif
