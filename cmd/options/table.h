/* table.h - the parts of cmd_parse: the option table of a program, the command line, --config and
 * --help. */
#ifndef CMD_OPTIONS_TABLE_H
#define CMD_OPTIONS_TABLE_H

#include "cmd/options/options.h"

/* ---- the table (table.c) -------------------------------------------------------------------- */

extern const struct cmd_group cmd_common_group;
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

/* ---- names (nearest.c) ---------------------------------------------------------------------- */

/* The name of ours (NULL at the end; '-' or '_' between words) that `given` most probably means, or
 * NULL: what other tools call so, the beginning of one name only, a misspelt name. Rather none than
 * a wrong one. */
const char *cmd_nearest(const char *given, const char *const *names);
/* The field whose option is most similar to `name`, or NULL if none is. */
const struct ran_field *cmd_option_nearest(const struct cmd_program *program, const char *name);

/* ---- rules (rules.c) ------------------------------------------------------------------------ */

/* Starts with no field set. From now on names are those of this program's options. */
void cmd_set_begin(const struct cmd_program *program);
/* Marks a field as set. asked: see cmd_was_asked. */
void cmd_set_note(const struct ran_field *field, bool asked);
/* Exits with 2 if the user asked for an option of another verb, for options that contradict each
 * other, or for one that lacks those that it needs. Aborts if an option needs one that there is
 * not.
 */
void cmd_rules_check(const struct cmd_program *program);
/* Whether it is an option of the program: a field that is fixed is none, and one of another verb,
 * or that needs such an option, is neither. */
bool cmd_option_applies(const struct cmd_program *program, const struct ran_field *f);
/* Whether a list of words, "classify, tag lm", has that one. */
bool cmd_option_is_among(const char *names, const char *name);
/* The same as cmd_option_applies, and appends the options that it needs, "--eval or --eval-only
 * TEXT"; nothing: none. */
bool cmd_option_add_needs(const struct cmd_program *program, const struct ran_field *f,
                          struct ran_buf *out);

/* ---- the command line (command-line.c) ------------------------------------------------------ */

/* Options that were given, and their texts: (n) in the order given. */
struct cmd_settings {
        struct cmd_setting {
                const struct ran_field *field;
                void *base;
                const char *text;
        } * item;
        size_t n, cap;
};
/* Recognises all options, without applying any, and moves the operands to the end of argv. Returns
 * the index of the first operand; exits with 2 for an unknown option or a missing value. */
int cmd_command_line_read(const struct cmd_program *program, int argc, char **argv,
                          struct cmd_settings *settings);

/* ---- the configuration file (config-file.c) ------------------------------------------------- */

/* Applies the file, or the recipe of that name, and marks its fields as set. Exits with 2 if it is
 * not a JSON object, or has an unknown setting or one for the command line only. */
void cmd_config_file_apply(const struct cmd_program *program, const char *name);

/* ---- help (help.c) -------------------------------------------------------------------------- */

/* Each appends its text to out. all: not only the main options; not only the fields that were set.
 */
void cmd_help(const struct cmd_program *program, bool all, struct ran_buf *out);
/* Appends words, and a line end. at: the current column of out; what is beyond column 80 stands in
 * further lines, which begin at `indent`. A line feed in the text is kept. */
void cmd_wrap(struct ran_buf *out, const char *text, size_t at, size_t indent);
void cmd_version(const struct cmd_program *program, struct ran_buf *out);
void cmd_print_options(const struct cmd_program *program, struct ran_buf *out);
void cmd_print_config(const struct cmd_program *program, bool all, struct ran_buf *out);

/* ---- the process (process.c) ---------------------------------------------------------------- */

/* Guards against closed streams, limits of file sizes, and mapped files that become shorter. */
void cmd_process_begin(void);

#endif
