/* io.h - options of every program that reads records or writes them. */
#ifndef CMD_RECORDS_IO_H
#define CMD_RECORDS_IO_H

#include "ran.h"

enum { CMD_ON_ERROR_EMIT, CMD_ON_ERROR_SKIP, CMD_ON_ERROR_STOP };

/* How records are read, for every program that reads some. */
struct cmd_input {
        int input_format, on_error;
        char *shard; /* "I/N": which part of the files; NULL: all */
        char *files_from, *rejects;
        size_t word_column, tag_column, max_errors;
        bool folder_label, errors_ok;
};
extern const struct ran_field cmd_input_fields[];

/* How they are written, for filters. */
struct cmd_output {
        char *output, *into;
        bool only;
        struct ran_list drop;
        bool lines; /* set by the program: results are lines in themselves, not JSON for a record;
                       what cannot be used has an empty one */
};
extern const struct ran_field cmd_output_fields[];

#endif
