/* rules.h - which options of a program go together, as its table says (struct ran_rule). */
#ifndef CMD_OPTIONS_RULES_H
#define CMD_OPTIONS_RULES_H

#include "cmd/options/table.h"

/* Aborts for a rule that names no option or word of this program. Then exits with 2 if an option
 * that the user asked for lacks those that it needs, or if one that is on excludes it. An option
 * that is switched off, as it is by default, asks for nothing. */
void cmd_rules_check(const struct cmd_program *program);

/* If `given`, exits with 2 if the user asked for one of these: "WHY: leave out --NAME". For what a
 * file decides and no option; call it in every run, as a name without an option aborts. */
void cmd_excludes(const struct cmd_program *program, bool given, const char *why,
                  const char *names);

/* Whether it is an option of the program: a field that is fixed is none, and one that needs another
 * value of a fixed field, or such an option, is one of another verb. */
bool cmd_rules_apply(const struct cmd_program *program, const struct cmd_option *o);
/* The same, and appends the options that it needs, "--eval or --eval-only TEXT"; nothing: none. */
bool cmd_rules_add_needs(const struct cmd_program *program, const struct cmd_option *o,
                         struct ran_buf *out);

#endif
