/* was-set.h - which fields somebody set, and which of them go together.
 *
 * A name that no option of the program has is a mistake of ours: these functions abort. So call
 * cmd_excludes and cmd_requires for every run, right after cmd_parse, and pass the condition.
 */
#ifndef CMD_OPTIONS_WAS_SET_H
#define CMD_OPTIONS_WAS_SET_H

#include "cmd/options/options.h"

/* Forgets what was set. From now on names are those of this program's options. */
void cmd_set_begin(const struct cmd_program *program);
/* Notes a field as set. asked: see cmd_was_asked. */
void cmd_set_note(const struct ran_field *field, bool asked);

/* Whether the command line or the configuration file set this field ("min_window"), if only to its
 * default. */
bool cmd_was_set(const char *name);
/* Whether somebody asked for it: on the command line, or in a configuration file with another value
 * than the default (a file from --print-config has all fields). */
bool cmd_was_asked(const char *name);

/* If `given`, exits with 2 when one of these was asked for: "WHY: leave out --NAME". */
void cmd_excludes(bool given, const char *why, const char *const *names);
void cmd_excludes_fields(bool given, const char *why, const struct ran_field *fields);
/* Unless `given`, exits with 2 when one of these was asked for: "--NAME needs WHAT". */
void cmd_requires(bool given, const char *what, const char *const *names);

/* Notes those fields as set that differ in `other`. */
void cmd_set_changes(const struct ran_field *fields, const void *base, const void *other);
/* Notes all fields as set but the local ones. */
void cmd_set_all(const struct ran_field *fields);

#endif
