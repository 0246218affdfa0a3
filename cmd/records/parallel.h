/* parallel.h - two plain files, line by line a source and its target, as records. */
#ifndef CMD_RECORDS_PARALLEL_H
#define CMD_RECORDS_PARALLEL_H

#include "ran.h"

struct import_format;

struct cmd_parallel {
        char *source_file, *target_file;
};
extern const struct ran_field cmd_parallel_fields[];

/* With --source-file: opens the files and makes standard input a stream of records with "source"
 * and, with --target-file, "target", one for each line; lines that are empty in both are records
 * only if asked for all. The program then reads standard input. Exits with 2 if options do not go
 * together or operands are given, with 3 if a file cannot be read or the files have different
 * numbers of lines. */
void cmd_parallel_begin(const struct cmd_parallel *p, bool needs_target, bool all, char **operands);
/* Does for these files what cmd_check_inputs does. */
void cmd_parallel_check_output(const struct cmd_parallel *p, const char *option, const char *path);

/* After that: the format of standard input, and *file becomes the name of the source file; else
 * NULL. */
const struct import_format *parallel_format(const char **file);

#endif
