/* common.c - the options of every program. */
#include "cmd/options/common.h"

#include <stddef.h>

struct cmd_common cmd_common;

#define COMMON(member) offsetof(struct cmd_common, member)

static const struct ran_field common_fields[] = {
        {"jobs", 'j', RAN_FIELD_SIZE, COMMON(jobs), 0, 4096, .value = "N", .initial = "0",
         .help = "number of threads; 0: RAN_THREADS, or else one for each available processor",
         .local = true, .first = true},
        {"config", 'c', RAN_FIELD_TEXT, COMMON(config), .value = "FILE",
         .help = "read options from the JSON object in FILE, or of the recipe of that name: their "
                 "long names, with '_' for '-'; the command line takes precedence",
         .local = true, .first = true},
        {"print_config", 0, RAN_FIELD_BOOL, COMMON(print_config),
         .help = "print the options in force, as --config reads them, and exit", .local = true},
        {"print_options", 0, RAN_FIELD_BOOL, COMMON(print_options),
         .help = "print a line for each option, for shell completion, and exit", .local = true},
        {"quiet", 'q', RAN_FIELD_BOOL, COMMON(quiet), .help = "print only errors and warnings",
         .local = true, .first = true},
        {"verbose", 'v', RAN_FIELD_BOOL, COMMON(verbose), .help = "print more messages",
         .local = true},
        {"help", 'h', RAN_FIELD_BOOL, COMMON(help), .help = "print the main options and exit",
         .local = true, .first = true},
        {"help_all", 0, RAN_FIELD_BOOL, COMMON(help_all), .help = "print all options and exit",
         .local = true, .first = true},
        {"version", 'V', RAN_FIELD_BOOL, COMMON(version), .help = "print the version and exit",
         .local = true, .first = true},
        {0},
};
const struct cmd_group cmd_common_group = {"Common options", common_fields, &cmd_common};
