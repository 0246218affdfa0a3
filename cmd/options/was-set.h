/* was-set.h - the fields that the user set, by name. A name without an option is a bug: these
 * functions abort. */
#ifndef CMD_OPTIONS_WAS_SET_H
#define CMD_OPTIONS_WAS_SET_H

#include "cmd/options/options.h"

/* Starts with no field set. From now on names are those of this program's options. */
void cmd_set_begin(const struct cmd_program *program);
/* Marks a field as set. asked: see cmd_was_asked. */
void cmd_set_note(const struct ran_field *field, bool asked);

/* Whether the command line or the configuration file set this field ("min_window"), even to its
 * default. */
bool cmd_was_set(const char *name);
/* Whether the user asked for it: on the command line, or in a configuration file with another
 * value than the default (a file from --print-config has all fields). */
bool cmd_was_asked(const char *name);

/* Marks the fields that differ in `other` as set. */
void cmd_set_changes(const struct ran_field *fields, const void *base, const void *other);
/* Marks all fields but the local ones as set. */
void cmd_set_all(const struct ran_field *fields);

#endif
