/* options.c - the options of ran-tag, and which of them go together. */
#include "cmd/tag/tag.h"

#include "cmd/options/message.h"
#include "cmd/content/labels.h"
#include "cmd/formats/output.h"

struct tag_options tag_options;
struct cmd_document_options tag_document_options;
struct cmd_input tag_input;
struct cmd_output tag_output;

static const char *const eval_formats[] = {"text", "conlleval", "json", "csv", "tsv", "html", NULL};

/* The program gives this of a record, for the formats. */
#define GIVES_RECORDS(...) __VA_ARGS__
#define GIVES_LABELS(...)
#define GIVES_TAGS(...) __VA_ARGS__
#define GIVES_TASKS(...)
#define GIVES_ROWS(...) __VA_ARGS__
#define GIVES_VECTORS(...)
#define GIVES_PAGE(...) __VA_ARGS__
static const char *const output_names[] = {OUTPUT_FORMATS(OUTPUT_NAME) NULL};
static const struct output_format *const output_formats[] = {OUTPUT_FORMATS(OUTPUT_ENTRY)};

/* After the first two, in the order of RAN_SEGMENT_... */
static const char *const splits[] = {"auto",  "vocabulary", "spaces", "punctuation",
                                     "conll", "ptb",        "ud",     NULL};

#define OPTION(member) offsetof(struct tag_options, member)

static const struct ran_field model_fields[] = {
        {"model", 'm', RAN_FIELD_TEXT, OPTION(model), .value = "FILE",
         .help = "the model, written by ran-train tag", .local = true, .first = true},
        {"verify", 0, RAN_FIELD_BOOL, OPTION(verify), .initial = "false",
         .help = "compare the digest of the weights before use"},
        {0},
};
static const struct ran_field prediction_fields[] = {
        {"logits", 0, RAN_FIELD_BOOL, OPTION(logits), .initial = "false",
         .help = "add the logits: a number for each word and tag"},
        {"split_at", 0, RAN_FIELD_CHOICE, OPTION(split_at), .choices = splits, .value = "RULE",
         .initial = "auto",
         .help = "how a text is split into sentences and words; auto: as the words of the training "
                 "data were; vocabulary: into words only, as the vocabulary does",
         .first = true},
        {"offsets", 0, RAN_FIELD_CHOICE, OPTION(offsets), .choices = ran_unit_names,
         .value = "UNIT", .initial = "codepoint",
         .help = "unit of the offsets of entities in a text"},
        {"output_format", 0, RAN_FIELD_CHOICE, OPTION(output_format), .choices = output_names,
         .value = "NAME", .initial = "jsonl",
         .help = "format of the output" OUTPUT_FORMATS(
                 OUTPUT_HELP) "; a table has a row for each "
                              "entity: id, start, end, label, text, score",
         .first = true},
        {0},
};
static const struct ran_field eval_fields[] = {
        {"eval", 0, RAN_FIELD_BOOL, OPTION(eval), .initial = "false",
         .help = "compare predictions with the tags of the records, and write one report instead "
                 "of records",
         .first = true},
        {"eval_format", 0, RAN_FIELD_CHOICE, OPTION(eval_format), .choices = eval_formats,
         .value = "NAME", .initial = "text",
         .help = "text: report of conlleval, then the strict score; conlleval: that report alone; "
                 "json: both; csv, tsv: the strict score as a table; html: a page with the worst "
                 "errors",
         .first = true, .needs = "eval"},
        {"label_names", 0, RAN_FIELD_TEXT, OPTION(label_names), .value = "FILE", .local = true,
         .help = CMD_NAMES_HELP, .needs = "eval",
         .why = "is for --eval: the tags of the model have names"},
        {"conlleval", 0, RAN_FIELD_BOOL, OPTION(conlleval), .local = true,
         .help = "score column files of predictions, byte for byte like the script conlleval",
         .first = true},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", model_fields, &tag_options},
        {"Prediction", prediction_fields, &tag_options},
        {"Evaluation", eval_fields, &tag_options},
        {"Documents", cmd_document_fields, &tag_document_options},
        {"Input", cmd_input_fields, &tag_input},
        {"Output", cmd_output_fields, &tag_output},
        {"Tables", cmd_table_fields, &cmd_table},
        {0},
};
static void check_together(void *options)
{
        const struct tag_options *o = options;
        const enum output_kind kind = output_formats[o->output_format]->kind;
        const char *const why = kind == OUTPUT_TAGS ? "this output format has words and tags only"
                                : kind == OUTPUT_ROWS
                                        ? "a table has a row for each entity (--eval writes one "
                                          "with --eval-format)"
                                        : "--output-format=html writes a page and no records";

        cmd_excludes(kind == OUTPUT_TAGS || kind == OUTPUT_ROWS || kind == OUTPUT_PAGE, why,
                     "eval logits into only drop");
        cmd_excludes(o->eval, "--eval writes a report and no records", "logits into only drop");
        cmd_excludes(
                o->conlleval,
                "--conlleval reads predictions (with a model: --eval-format conlleval)",
                "model eval verify logits split_at offsets output_format eval_format into only "
                "max_tokens truncate drop label_names [Input]");
        cmd_is_for(CMD_TABLES,
                   kind == OUTPUT_ROWS || o->eval_format == TAG_EVAL_CSV ||
                           o->eval_format == TAG_EVAL_TSV,
                   "escape_formulas");
}

const struct cmd_program tag_program = {
        .name = "ran-tag",
        .usage = "-m MODEL [option...] [file...]\n"
                 "-m MODEL --eval [option...] [file...]\n"
                 "--conlleval [option...] [file...]",
        .summary = "Adds the member \"prediction\" to each JSON record with \"tokens\", \"ids\" or "
                   "\"text\": a tag for each word, and the entities, such as names, that the tags "
                   "mark.",
        .notes = "Without files, or for -, it reads standard input. Exit status: 0, all records "
                 "good; 1, some failed; 2, usage; 3, a file could not be read or written, or "
                 "memory ran out.",
        .groups = groups,
        .check = check_together,
        .options = &tag_options,
};

void tag_options_check(void)
{
        if (!tag_options.conlleval && tag_options.model == NULL)
                cmd_usage("no model: give --model FILE");
        tag_output.format = output_formats[tag_options.output_format];
}
