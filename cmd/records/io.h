/* io.h - options of every program that reads records or writes them. */
#ifndef CMD_RECORDS_IO_H
#define CMD_RECORDS_IO_H

#include "cmd/formats/import.h"
#include "cmd/formats/output.h"
#include "ran.h"

enum { CMD_ON_ERROR_EMIT, CMD_ON_ERROR_SKIP, CMD_ON_ERROR_STOP };

/* How records are read. */
struct cmd_input {
        const char *side; /* the option that names the files, as "among"; NULL: the input */
        int side_format;  /* of --SIDE-format; 0: detected */
        bool side_alike;  /* they have the members that options name, as the input has */
        int input_format, on_error;
        char *shard; /* "I/N"; NULL: all */
        char *files_from, *rejects;
        size_t word_column, tag_column, max_errors, max_record_bytes;
        bool folder_label, errors_ok;
        struct import_columns columns;
};
extern const struct ran_field cmd_input_fields[];
/* The same for the files of an option, beside the records, which alone have rejects and a shard.
 * Such a file is read in its own format: that of --OPTION-format, or the detected one; where its
 * first lines are of no format, or could be prose, in that of the records. Options that name
 * members are for its records, too, if the first one has them. */
struct cmd_input cmd_input_beside(const struct cmd_input *input, const char *option, int format);
/* The field --OPTION-format of such an option, at an offset. Messages name it. */
#define CMD_SIDE_FORMAT(option, at)                                                         \
        {                                                                                   \
                .name = option "_format", .type = RAN_FIELD_CHOICE, .offset = (at),         \
                .choices = import_names, .value = "NAME", .initial = "auto", .local = true, \
                .help = "format of the files of --" option                                  \
                        "; auto: by their first lines, whatever "                           \
                        "--input-format is",                                                \
                .needs = option                                                             \
        }
/* Exits with 2 for settings that make no sense. */
void cmd_input_check(const struct cmd_input *input);

/* This separates the labels of a record within one value; NUL: nothing does. */
char cmd_input_separator(const struct cmd_input *input);

/* How filters write them: struct cmd_output. */
extern const struct ran_field cmd_output_fields[];

#endif
