/* config-file.h - settings from the JSON object in a file: --config. */
#ifndef CMD_OPTIONS_CONFIG_FILE_H
#define CMD_OPTIONS_CONFIG_FILE_H

#include "cmd/options/options.h"

/* Applies the file, and notes its fields as set. Exits with 2 when it is no such object, has an
 * unknown setting, or one for the command line only. */
void cmd_config_file_apply(const struct cmd_program *program, const char *path);

#endif
