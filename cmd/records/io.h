/* io.h - options of every program that reads records or writes them. */
#ifndef CMD_RECORDS_IO_H
#define CMD_RECORDS_IO_H

#include "cmd/formats/import.h"
#include "cmd/formats/output.h"
#include "ran.h"

enum { CMD_ON_ERROR_EMIT, CMD_ON_ERROR_SKIP, CMD_ON_ERROR_STOP };

/* How records are read. */
struct cmd_input {
        int input_format, on_error;
        char *shard; /* "I/N"; NULL: all */
        char *files_from, *rejects;
        size_t word_column, tag_column, max_errors, max_record_bytes;
        bool folder_label, errors_ok;
        struct import_columns columns;
};
extern const struct ran_field cmd_input_fields[];
/* The same for further files beside the records, which alone have rejects and a shard. */
struct cmd_input cmd_input_beside(const struct cmd_input *input);
/* Exits with 2 for settings that make no sense. */
void cmd_input_check(const struct cmd_input *input);

/* This separates the labels of a record within one value; NUL: nothing does. */
char cmd_input_separator(const struct cmd_input *input);

/* How filters write them: struct cmd_output. */
extern const struct ran_field cmd_output_fields[];

#endif
