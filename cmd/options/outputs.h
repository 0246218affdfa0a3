/* outputs.h - checks that no output file is also an input, or written twice, which would destroy
 * data. Files are compared by device and inode, not by name. */
#ifndef CMD_OPTIONS_OUTPUTS_H
#define CMD_OPTIONS_OUTPUTS_H

#include "cmd/options/options.h"

/* Exits with 2 if path, the output of an option ("output"), is also an input. Any of them may be
 * NULL, or not exist; input "-" is standard input. cmd_parse checks the files of options;
 * programs check operands. */
void cmd_check_input(const char *option, const char *path, const char *input);
void cmd_check_inputs(const char *option, const char *path, char **inputs); /* NULL at the end */
/* The same of the output, NULL: standard output, and exits with 3 unless it can be written. */
void cmd_check_output(const char *path, char **inputs);
/* Exits with 2 if path, a file beside the output, is the file of an option, or an input. */
void cmd_check_beside(const struct cmd_program *program, const char *path, char **inputs);
/* Exits with 2 if standard output is an input: an input that grows while it is read would never
 * end. */
void cmd_check_standard_output(char **inputs);
/* Exits with 2 if an option writes a file that another one reads or writes. */
void cmd_check_outputs(const struct cmd_program *program);

/* A file that is read although no option has its path, such as a model that was found by its name:
 * exits with 2 if an option writes it. */
void cmd_check_read(const char *path);

#endif
