/* options.h - a program as a table of options: its command line, its configuration file, and which
 * of its options go together. A name without an option is a bug: functions that take names abort.
 */
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
        const char *prefix; /* users may leave it out: --type for --vocab-type */
        /* Exits with 2 if these options contradict each other: cmd_excludes and the like. NULL:
         * they do not. */
        void (*check)(void *options);
        void *options;
};

/* Sets every field to its default, applies --config FILE, then the command line in the manner of
 * getopt_long (operands and options in any order, unique abbreviations, `--`). Answers --help,
 * --version, --print-options and --print-config and exits with 0; exits with 2 on misuse. Reorders
 * argv: the operands come last; returns the index of the first one. */
int cmd_parse(const struct cmd_program *program, int argc, char **argv);

/* Calls main of the verb that argv[1] names with argc-1, argv+1. Answers --help and --version;
 * exits with 2 without a known verb. Verbs end with a name of NULL. */
int cmd_run_verb(const char *name, const char *summary, const struct cmd_verb *verbs, int argc,
                 char **argv);

/* Writes the fields that were set to standard output, in the format of --config. */
void cmd_write_set(const struct cmd_program *program);

/* Options of every program, filled by cmd_parse. */
struct cmd_common {
        size_t jobs; /* threads, never 0 after cmd_parse */
        char *config;
        bool quiet, verbose, print_config, print_options, help, help_all, version;
};
extern struct cmd_common cmd_common;

/* A pool of cmd_common.jobs threads; exits with 3 without one. Free with ran_pool_free. */
struct ran_pool *cmd_pool(void);

/* ---- what the user set (options/rules.c) ---------------------------------------------------- */

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

/* Lists have names of options with spaces between, and titles of groups: "eval [Input]". An option
 * that is switched off, as it is by default, asks for nothing. */
/* If `given`, exits with 2 if the user asked for one of these: "WHY: leave out --NAME". */
void cmd_excludes(bool given, const char *why, const char *names);
/* Exits with 2 if the user asked for more than one of these. */
void cmd_exclude_each_other(const char *names);
/* Unless `given`, exits with 2 if the user asked for one of these: "--NAME is for OTHER". */
void cmd_is_for(const char *other, bool given, const char *names);

/* ---- files beside a program (options/config-file.c) ----------------------------------------- */

/* The folder "models" or "recipes" that belongs to this program, installed or in the source tree;
 * whether it is there, nobody has looked. NULL: none is known. The caller frees it. */
char *cmd_beside_program(const char *name);

#endif
