/* outputs.h - no output may be a file that is read, nor be written twice: what the user had would
 * be gone. Files are compared by device and inode, whatever their names. */
#ifndef CMD_OPTIONS_OUTPUTS_H
#define CMD_OPTIONS_OUTPUTS_H

#include "cmd/options/options.h"

/* Exits with 2 when path, the output of an option ("output"), is also an input. Any of them may be
 * NULL, or not exist; input "-" is standard input. cmd_parse checks all files that options name;
 * programs check operands. */
void cmd_check_input(const char *option, const char *path, const char *input);
void cmd_check_inputs(const char *option, const char *path, char **inputs); /* NULL at the end */
/* Exits with 2 when path, a file beside the output, is one that options name, or an input. */
void cmd_check_beside(const struct cmd_program *program, const char *path, char **inputs);
/* The same for standard output: a file that is read while it grows would have no end. */
void cmd_check_standard_output(char **inputs);
/* Exits with 2 when an option writes what another one reads, or writes. */
void cmd_check_outputs(const struct cmd_program *program);

#endif
