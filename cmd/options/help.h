/* help.h - the output of --help, --help-all, --version, --print-options and --print-config. */
#ifndef CMD_OPTIONS_HELP_H
#define CMD_OPTIONS_HELP_H

#include "cmd/options/options.h"

/* Each appends its text to out; _set: of --print-config, the fields that were set. */
void cmd_help(const struct cmd_program *program, struct ran_buf *out); /* main options first */
void cmd_help_all(const struct cmd_program *program, struct ran_buf *out);
void cmd_version(const struct cmd_program *program, struct ran_buf *out);
void cmd_print_options(const struct cmd_program *program, struct ran_buf *out);
void cmd_print_config(const struct cmd_program *program, struct ran_buf *out);
void cmd_print_set(const struct cmd_program *program, struct ran_buf *out);

#endif
