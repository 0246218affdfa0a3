/* parallel.h - two plain files, line by line a source and its target, as records. */
#ifndef CMD_RECORDS_PARALLEL_H
#define CMD_RECORDS_PARALLEL_H

#include "cmd/formats/import.h"
#include "ran.h"

struct cmd_parallel {
        char *source_file, *target_file;
};
extern const struct ran_field cmd_parallel_fields[];

/* With --source-file: the operands are the source file, whose lines become records with "source"
 * and, with --target-file, "target"; lines that are empty in both are records only if asked for
 * all. Exits with 2 if options do not go together or operands are given, with 3 if a file cannot be
 * read or the files have different numbers of lines. */
char **cmd_parallel_begin(const struct cmd_parallel *p, bool needs_target, bool all,
                          char **operands);
/* Does for these files what cmd_check_inputs does. */
void cmd_parallel_check_output(const struct cmd_parallel *p, const char *option, const char *path);

/* Opens the source file; false for any other. Its format. */
bool parallel_open(struct lines *l, const char *file);
extern const struct import_format parallel_format;

#endif
