/* io.c - options of every program that reads records or writes them. */
#include "cmd/records/io.h"

#include <math.h>

#include "cmd/formats/import.h"

static const char *const on_error_names[] = {"emit", "skip", "stop", NULL};

#define INPUT(member) offsetof(struct cmd_input, member)

const struct ran_field cmd_input_fields[] = {
        {"input_format", 0, RAN_FIELD_CHOICE, INPUT(input_format), .choices = import_names,
         .value = "NAME", .initial = "auto",
         .help = "what a line holds, or a sentence (conll), or a whole file; auto goes by the "
                 "first line, and takes the files in a folder whole"},
        {"files_from", 0, RAN_FIELD_TEXT, INPUT(files_from), .value = "FILE", .local = true,
         .help = "read also the files that FILE names, one a line or with a NUL behind each; auto "
                 "takes them whole, but for those called .jsonl and the like"},
        {"folder_label", 0, RAN_FIELD_BOOL, INPUT(folder_label), .initial = "false",
         .help = "the folder that a whole file is in is its label; auto takes files whole then"},
        {"word_column", 0, RAN_FIELD_SIZE, INPUT(word_column), 0, INFINITY, .value = "N",
         .initial = "0",
         .help = "of conll: the column of words; 0: the first, in CoNLL-U the second"},
        {"tag_column", 0, RAN_FIELD_SIZE, INPUT(tag_column), 0, INFINITY, .value = "N",
         .initial = "0",
         .help = "of conll: the column of tags; 0: the last, in CoNLL-U the fourth"},
        {"on_error", 0, RAN_FIELD_CHOICE, INPUT(on_error), .choices = on_error_names,
         .value = "WHAT", .initial = "emit",
         .help = "what to do about a line that cannot be used: put a record with ran_error in its "
                 "place, leave it out, or end"},
        {"max_errors", 0, RAN_FIELD_SIZE, INPUT(max_errors), 0, INFINITY, .value = "N",
         .initial = "0", .help = "end after N such lines; 0: never"},
        {"errors_ok", 0, RAN_FIELD_BOOL, INPUT(errors_ok), .initial = "false",
         .help = "exit with 0 even if there were such lines"},
        {"rejects", 0, RAN_FIELD_TEXT, INPUT(rejects), .value = "FILE",
         .help = "write such lines to FILE as they came", .local = true},
        {"shard", 0, RAN_FIELD_TEXT, INPUT(shard), .value = "I/N",
         .help = "read the I-th of N parts of the files only; the results of all parts, one after "
                 "another, are those of the whole",
         .local = true},
        {0},
};

#define OUTPUT(member) offsetof(struct cmd_output, member)

const struct ran_field cmd_output_fields[] = {
        {"output", 'o', RAN_FIELD_TEXT, OUTPUT(output), .value = "FILE",
         .help = "write to FILE, which appears when all is done, not to standard output",
         .local = true},
        {"into", 0, RAN_FIELD_TEXT, OUTPUT(into), .value = "NAME",
         .help = "call the member that is added NAME"},
        {"only", 0, RAN_FIELD_BOOL, OUTPUT(only), .initial = "false",
         .help = "write nothing of a record but its id and that member"},
        {"drop", 0, RAN_FIELD_LIST, OUTPUT(drop), .value = "NAME",
         .help = "leave the member NAME of the input out (may be given again)"},
        {0},
};
