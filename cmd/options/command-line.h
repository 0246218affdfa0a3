/* command-line.h - the arguments of a program as settings, in the manner of getopt_long. */
#ifndef CMD_OPTIONS_COMMAND_LINE_H
#define CMD_OPTIONS_COMMAND_LINE_H

#include "cmd/options/table.h"

/* An option that was given, and its text. */
struct cmd_setting {
        const struct ran_field *field;
        void *base;
        const char *text;
};

/* Set program, argv and argc; free `settings` in the end. */
struct cmd_command_line {
        const struct cmd_program *program;
        char **argv;
        int argc, at;                 /* at: the argument being read */
        struct cmd_setting *settings; /* (count) in the order given */
        size_t count, cap;
};

/* Recognises all options, without applying any, and moves the operands to the end of argv. Returns
 * the index of the first operand; exits with 2 for an unknown option or a missing value. */
int cmd_command_line_read(struct cmd_command_line *c);

#endif
