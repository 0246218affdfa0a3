/* options.h - a program as a table of options; its command line and configuration file. */
#ifndef CMD_OPTIONS_OPTIONS_H
#define CMD_OPTIONS_OPTIONS_H

#include "ran.h"

/* Options under one title of --help. base: the struct that the table describes. It must be
 * static: its texts live until the program ends. */
struct cmd_group {
        const char *title;
        const struct ran_field *fields;
        void *base;
};

/* A verb of a program, as in `ran-tokenize learn`. */
struct cmd_verb {
        const char *name, *summary;
        int (*main)(int argc, char **argv);
};

/* name: "ran-classify", or "ran-tokenize learn" (messages begin with its first word). usage: what
 * follows the name, one form a line: "-m MODEL [option...] [file...]". summary: one or more
 * sentences. notes: after the options, or NULL; --help wraps both. groups end with a title of NULL;
 * the common options below follow them. verbs: for cmd_run_verb only. */
struct cmd_program {
        const char *name, *usage, *summary, *notes;
        const struct cmd_group *groups;
        const struct cmd_verb *verbs;
        const struct ran_rule
                *rules;     /* of all options under a title, which is its `words`; or NULL */
        const char *prefix; /* users may leave it out: --type for --vocab-type */
};

/* Sets every field to its default, applies --config FILE, then the command line in the manner of
 * getopt_long (operands and options in any order, unique abbreviations, `--`). Answers --help,
 * --version, --print-options and --print-config and exits with 0; exits with 2 on misuse. Reorders
 * argv: the operands come last; returns the index of the first one. */
int cmd_parse(const struct cmd_program *program, int argc, char **argv);

/* Writes the fields that were set to standard output, in the format of --config. */
void cmd_write_set(const struct cmd_program *program);

/* A pool of cmd_common.jobs threads; exits with 3 without one. Free with ran_pool_free. */
struct ran_pool *cmd_pool(void);

#endif
