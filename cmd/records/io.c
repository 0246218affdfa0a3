/* io.c - options of every program that reads records or writes them. */
#include "cmd/records/loop.h"

#include <math.h>
#include <string.h>

#include "cmd/options/message.h"

static const char *const auto_names[] = {"auto", "yes", "no", NULL};
static const char *const on_error_names[] = {"emit", "skip", "stop", NULL};

#define INPUT(member) offsetof(struct cmd_input, member)

const struct ran_field cmd_input_fields[] = {
        {"input_format", 0, RAN_FIELD_CHOICE, INPUT(input_format), .choices = import_names,
         .value = "NAME", .initial = "auto",
         .help = "format of the input; auto: by the first lines of each file, and file for files "
                 "in a folder" IMPORT_HELP,
         .first = true},
        {"files_from", 0, RAN_FIELD_TEXT, INPUT(files_from), .value = "FILE", .local = true,
         .help = "also read the files listed in FILE, one a line or each ended by a NUL; with "
                 "auto, each is one document unless named .jsonl or the like"},
        {"folder_label", 0, RAN_FIELD_BOOL, INPUT(folder_label), .initial = "false",
         .help = "label each file with the name of its folder; auto then reads files as file",
         .first = true},
        {"text_member", 0, RAN_FIELD_LIST, INPUT(columns.text_member), .value = "NAME",
         .help = "member or column with the text; several, repeated or with commas, are joined by "
                 "line feeds",
         .first = true},
        {"label_member", 0, RAN_FIELD_TEXT, INPUT(columns.label_member), .value = "NAME",
         .help = "member or column with the label, labels or tags", .first = true},
        {"label_separator", 0, RAN_FIELD_TEXT, INPUT(columns.label_separator), .value = "CHARACTER",
         .help = "split the label at each CHARACTER (or comma, semicolon, pipe, tab or space): a "
                 "record has several labels; a backslash before it keeps it"},
        {"id_member", 0, RAN_FIELD_TEXT, INPUT(columns.id_member), .value = "NAME",
         .help = "member or column with the id"},
        {"delimiter", 0, RAN_FIELD_TEXT, INPUT(columns.delimiter), .value = "CHARACTER",
         .help = "csv, tsv: what separates cells: a character, or tab, comma, semicolon, pipe or "
                 "space; default: by the first line; tsv: tab"},
        {"header", 0, RAN_FIELD_CHOICE, INPUT(columns.header), .choices = auto_names,
         .value = "WHAT", .initial = "auto",
         .help = "csv, tsv: whether the first row names the columns"},
        {"columns", 0, RAN_FIELD_TEXT, INPUT(columns.names), .value = "NAMES",
         .help = "csv, tsv: names of the columns of a table without a header, with commas: "
                 "label,text or source,target"},
        {"quotes", 0, RAN_FIELD_CHOICE, INPUT(columns.quotes), .choices = auto_names,
         .value = "WHAT", .initial = "auto",
         .help = "csv, tsv: whether a cell may have quotes around it; auto: yes, but no for tsv "
                 "without a header"},
        {"word_column", 0, RAN_FIELD_SIZE, INPUT(word_column), 0, INFINITY, .value = "N",
         .initial = "0", .help = "conll: the column of words; 0: the first, in CoNLL-U the second"},
        {"tag_column", 0, RAN_FIELD_SIZE, INPUT(tag_column), 0, INFINITY, .value = "N",
         .initial = "0", .help = "conll: the column of tags; 0: the last, in CoNLL-U the fourth"},
        {"on_error", 0, RAN_FIELD_CHOICE, INPUT(on_error), .choices = on_error_names,
         .value = "WHAT", .initial = "emit",
         .help = "bad records: emit a record with ran_error in its place, skip it, or stop"},
        {"max_errors", 0, RAN_FIELD_SIZE, INPUT(max_errors), 0, INFINITY, .value = "N",
         .initial = "0", .help = "stop after N bad records; 0: never"},
        {"max_record_bytes", 0, RAN_FIELD_SIZE, INPUT(max_record_bytes), 0, INFINITY, .value = "N",
         .initial = "1073741824",
         .help = "largest line, sentence, row or file, in bytes; a larger one is a bad record; 0: "
                 "no limit"},
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

struct cmd_input cmd_input_beside(const struct cmd_input *input, const char *option, int format)
{
        struct cmd_input beside = *input;

        beside.side = option;
        beside.side_format = format;
        beside.files_from = beside.rejects = beside.shard = NULL;
        return beside;
}

char cmd_input_separator(const struct cmd_input *input)
{
        const char *s = input->columns.label_separator;
        const char c = s != NULL ? table_delimiter(s) : '\0';

        return c != '\\' ? c : '\0';
}

void cmd_input_remember(struct cmd_input *input, const struct ran_model *m)
{
        static struct cmd_input trained;
        const char *said = ran_model_metadata(m, "training");
        struct ran_error err;

        if (said != NULL &&
            ran_fields_parse(cmd_input_fields, &trained, said, strlen(said), true, &err) == RAN_OK)
                input->columns.remembered = &trained.columns;
}

void cmd_input_check(const struct cmd_input *input)
{
        const struct import_columns *c = &input->columns;

        if (c->delimiter != NULL && table_delimiter(c->delimiter) == '\0')
                cmd_usage("--delimiter %s: give one character of ASCII, or tab, comma, semicolon, "
                          "pipe or space",
                          c->delimiter);
        if (c->label_separator != NULL && cmd_input_separator(input) == '\0')
                cmd_usage("--label-separator %s: give one character of ASCII, or comma, semicolon, "
                          "pipe, tab or space",
                          c->label_separator);
        if (c->names != NULL && c->header == IMPORT_YES)
                cmd_usage("--columns names the columns of a table without a header: leave out "
                          "--header=yes");
}

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
