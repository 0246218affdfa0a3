/* verbs.h - programs with verbs: `ran-tokenize learn ...`. */
#ifndef CMD_OPTIONS_VERBS_H
#define CMD_OPTIONS_VERBS_H

#include "cmd/options/options.h"

/* Calls main of the verb that argv[1] names with argc-1, argv+1. Answers --help and --version;
 * exits with 2 without a known verb. Verbs end with a name of NULL. */
int cmd_run_verb(const char *name, const char *summary, const struct cmd_verb *verbs, int argc,
                 char **argv);

#endif
