/* io.c - options of every program that reads records or writes them. */
#include "cmd/records/io.h"

#include <math.h>

#include "cmd/formats/import.h"

static const char *const on_error_names[] = {"emit", "skip", "stop", NULL};

#define INPUT(member) offsetof(struct cmd_input, member)

const struct ran_field cmd_input_fields[] = {
        {"input_format", 0, RAN_FIELD_CHOICE, INPUT(input_format), .choices = import_names,
         .value = "NAME", .initial = "auto",
         .help = "format of the input; auto: by the first line of each file, and file for files in "
                 "a folder" IMPORT_HELP,
         .first = true},
        {"files_from", 0, RAN_FIELD_TEXT, INPUT(files_from), .value = "FILE", .local = true,
         .help = "also read the files listed in FILE, one a line or each ended by a NUL; with "
                 "auto, each is one document unless named .jsonl or the like"},
        {"folder_label", 0, RAN_FIELD_BOOL, INPUT(folder_label), .initial = "false",
         .help = "label each file with the name of its folder; auto then reads files as file",
         .first = true},
        {"word_column", 0, RAN_FIELD_SIZE, INPUT(word_column), 0, INFINITY, .value = "N",
         .initial = "0", .help = "conll: the column of words; 0: the first, in CoNLL-U the second"},
        {"tag_column", 0, RAN_FIELD_SIZE, INPUT(tag_column), 0, INFINITY, .value = "N",
         .initial = "0", .help = "conll: the column of tags; 0: the last, in CoNLL-U the fourth"},
        {"on_error", 0, RAN_FIELD_CHOICE, INPUT(on_error), .choices = on_error_names,
         .value = "WHAT", .initial = "emit",
         .help = "bad records: emit a record with ran_error in its place, skip it, or stop"},
        {"max_errors", 0, RAN_FIELD_SIZE, INPUT(max_errors), 0, INFINITY, .value = "N",
         .initial = "0", .help = "stop after N bad records; 0: never"},
        {"errors_ok", 0, RAN_FIELD_BOOL, INPUT(errors_ok), .initial = "false",
         .help = "exit with 0 despite bad records"},
        {"rejects", 0, RAN_FIELD_TEXT, INPUT(rejects), .value = "FILE",
         .help = "write bad records to FILE, unchanged", .local = true},
        {"shard", 0, RAN_FIELD_TEXT, INPUT(shard), .value = "I/N",
         .help = "read only part I of N equal parts of the files; concatenate the outputs of all "
                 "parts in order",
         .local = true},
        {0},
};

#define OUTPUT(member) offsetof(struct cmd_output, member)

const struct ran_field cmd_output_fields[] = {
        {"output", 'o', RAN_FIELD_TEXT, OUTPUT(output), .value = "FILE",
         .help = "write to FILE, which appears when it is complete, instead of standard output",
         .local = true, .first = true},
        {"into", 0, RAN_FIELD_TEXT, OUTPUT(into), .value = "NAME",
         .help = "name of the added member"},
        {"only", 0, RAN_FIELD_BOOL, OUTPUT(only), .initial = "false",
         .help = "write only the id and the added member of each record", .first = true},
        {"drop", 0, RAN_FIELD_LIST, OUTPUT(drop), .value = "NAME",
         .help = "leave the member NAME out of the output (repeatable)"},
        {0},
};
