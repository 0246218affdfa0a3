/* common.h - the options of every program. */
#ifndef CMD_OPTIONS_COMMON_H
#define CMD_OPTIONS_COMMON_H

#include "cmd/options/options.h"

/* Options of every program, filled by cmd_parse. */
struct cmd_common {
        size_t jobs; /* threads, never 0 after cmd_parse */
        char *config;
        bool quiet, verbose, print_config, print_options, help, help_all, version;
};
extern struct cmd_common cmd_common;
extern const struct cmd_group cmd_common_group;

#endif
