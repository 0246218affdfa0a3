/* options.c - the options of ran-classify, and which of them go together. */
#include "cmd/classify/classify.h"

#include <math.h>

#include "cmd/options/message.h"

struct classify_options classify_options;

static const char *const eval_formats[] = {"json", "text", "csv", "tsv", "html", NULL};

/* The program gives this of a record, for the formats. */
#define GIVES_RECORDS(...) __VA_ARGS__
#define GIVES_LABELS(...)  __VA_ARGS__
#define GIVES_TAGS(...)
#define GIVES_ROWS(...)    __VA_ARGS__
#define GIVES_VECTORS(...) __VA_ARGS__
#define GIVES_TASKS(...)   __VA_ARGS__
#define GIVES_PAGE(...)    __VA_ARGS__
static const char *const output_names[] = {OUTPUT_FORMATS(OUTPUT_NAME) NULL};
static const struct output_format *const output_formats[] = {OUTPUT_FORMATS(OUTPUT_ENTRY)};

static const char *const join_names[] = {"model", "mean", "max", "certain", NULL};

#define OPTION(member) offsetof(struct classify_options, member)

static const struct ran_field model_fields[] = {
        {"model", 'm', RAN_FIELD_TEXT, OPTION(model), .value = "FILE",
         .help = "the model, written by ran-train", .local = true, .first = true},
        {"labels", 0, RAN_FIELD_TEXT, OPTION(labels), .value = "NAME,NAME,...", .first = true,
         .help = "classify without training: give each document the label whose name is nearest to "
                 "it, by vectors of --model english or another that makes them"},
        {"label_texts", 0, RAN_FIELD_TEXT, OPTION(label_texts), .value = "FILE", .local = true,
         .first = true,
         .help = "the same by descriptions: lines of label, tab, description; several for a label "
                 "count as their mean"},
        {"verify", 0, RAN_FIELD_BOOL, OPTION(verify), .initial = "false",
         .help = "compare the digest of the weights before use"},
        {0},
};
static const struct ran_field prediction_fields[] = {
        {"top", 0, RAN_FIELD_SIZE, OPTION(top), 0, INFINITY, .value = "K", .initial = "0",
         .help = "add the K most probable labels", .first = true},
        {"threshold", 0, RAN_FIELD_REAL, OPTION(threshold), 0, 1, .value = "P", .initial = "0",
         .help = "give no label less probable than P; 0: no limit or, with several labels, the "
                 "thresholds of the model",
         .first = true},
        {"threshold_for", 0, RAN_FIELD_LIST, OPTION(threshold_for), .value = "LABEL=X",
         .help = "give LABEL from probability X on, whatever is more probable; may be given again; "
                 "none: "
                 "by no threshold that training stored in the model"},
        {"coverage", 0, RAN_FIELD_REAL, OPTION(coverage), 0, 1, .value = "P", .initial = "0",
         .help = "add a prediction set that contains the true label this often; 0: none",
         .first = true},
        {"abstain", 0, RAN_FIELD_BOOL, OPTION(abstain), .initial = "false",
         .help = "give no label unless the prediction set has exactly one", .needs = "coverage",
         .why = "needs --coverage, for example 0.95"},
        {"probs", 0, RAN_FIELD_BOOL, OPTION(probs), .initial = "false",
         .help = "add the probabilities of all labels", .first = true},
        {"logits", 0, RAN_FIELD_BOOL, OPTION(logits), .initial = "false", .help = "add the logits"},
        {"embed", 0, RAN_FIELD_BOOL, OPTION(embed), .initial = "false",
         .help = "add the vector of the document: of a classifier the input of its output layer; "
                 "of "
                 "any other model, such as english, one for comparing documents by its cosine"},
        {"nearest", 0, RAN_FIELD_SIZE, OPTION(nearest), 0, 1000000, .value = "K", .initial = "0",
         .help = "add the K documents of --among that are nearest, by the cosine of the vectors of "
                 "--embed",
         .needs = "among", .why = "needs a collection: --among FILE"},
        {"among", 0, RAN_FIELD_LIST, OPTION(among), .value = "FILE", .local = true,
         .help = "records to search, with the vectors of --embed or without, or an array of "
                 "--output-format npy; may be given again",
         .needs = "nearest"},
        CMD_SIDE_FORMAT("among", OPTION(among_format)),
        {"least", 0, RAN_FIELD_REAL, OPTION(least), -1, 1, .value = "X", .initial = "-1",
         .help = "with --nearest: leave out documents with a cosine below X", .needs = "nearest"},
        {"select", 0, RAN_FIELD_SIZE, OPTION(select), 0, 1e9, .value = "N", .initial = "0",
         .help = "write only N records, those to label next: the model is least sure of them, and "
                 "no two are near-duplicates; 0: all records",
         .first = true},
        {"join_windows", 0, RAN_FIELD_CHOICE, OPTION(join_windows), .choices = join_names,
         .value = "KIND", .initial = "model",
         .help = "pretrained classifier: what the windows of a long document come to; model: what "
                 "it says; mean or max of their vectors; certain: the window whose label is most "
                 "certain"},
        {"vector_cache", 0, RAN_FIELD_TEXT, OPTION(vector_cache), .value = "FILE", .local = true,
         .help = "keep the vectors that a pretrained encoder or a distilled RAN makes in FILE, and "
                 "take from there what it has"},
        {"output_format", 0, RAN_FIELD_CHOICE, OPTION(output_format), .choices = output_names,
         .value = "NAME", .initial = "jsonl",
         .help = "format of the output" OUTPUT_FORMATS(
                 OUTPUT_HELP) "; a table has label and score beside its columns, or "
                              "beside id and text",
         .first = true},
        {0},
};
static const struct ran_field eval_fields[] = {
        {"eval", 0, RAN_FIELD_BOOL, OPTION(eval), .initial = "false",
         .help = "compare predictions with the labels of the records, and write one report instead "
                 "of records",
         .first = true},
        {"eval_format", 0, RAN_FIELD_CHOICE, OPTION(eval_format), .choices = eval_formats,
         .value = "NAME", .initial = "json",
         .help = "format of the report; csv, tsv: a table with a row for each label; html: a page "
                 "with charts and the worst errors",
         .first = true, .needs = "eval"},
        {"against", 0, RAN_FIELD_TEXT, OPTION(against), .value = "MODEL", .local = true,
         .help = "compare with another model on the same records: the difference, its 95 % "
                 "interval, and McNemar's test",
         .needs = "eval"},
        {"label_names", 0, RAN_FIELD_TEXT, OPTION(label_names), .value = "FILE", .local = true,
         .help = CMD_NAMES_HELP, .needs = "eval",
         .why = "is for --eval: the labels of the model have names"},
        {0},
};
static const struct cmd_group groups[] = {
        {"Model", model_fields, &classify_options},
        {"Prediction", prediction_fields, &classify_options},
        {"Evidence", classify_evidence_fields, &classify_options.evidence},
        {"Evaluation", eval_fields, &classify_options},
        {"Documents", cmd_document_fields, &classify_options.document},
        {"Input", cmd_input_fields, &classify_options.input},
        {"Output", cmd_output_fields, &classify_options.output},
        {"Tables", cmd_table_fields, &cmd_table},
        {0},
};
/* What excludes each other, or needs another option for some of its words. */
static void check_together(void *options)
{
        const struct classify_options *o = options;
        const enum output_kind kind = output_formats[o->output_format]->kind;

        cmd_excludes(o->labels != NULL, "--labels and --label-texts both name the labels",
                     "label_texts");
        cmd_excludes(o->select > 0, "--select chooses records to label", "eval embed nearest");
        cmd_excludes(kind == OUTPUT_LABELS, "this output format has labels and text only",
                     "top probs logits embed nearest evidence eval into only drop");
        cmd_excludes(kind == OUTPUT_ROWS,
                     "a table has id, label, score, set and text, and with --probs all "
                     "probabilities (--eval writes one with --eval-format)",
                     "top logits embed nearest evidence eval into only drop");
        cmd_excludes(kind == OUTPUT_VECTORS, "this output format has vectors only",
                     "top probs logits select nearest coverage evidence eval into only drop shard");
        cmd_excludes(kind == OUTPUT_PAGE, "--output-format=html writes a page and no records",
                     "select logits embed nearest offsets eval into only drop");
        cmd_excludes(o->eval, "--eval writes a report and no records",
                     "top probs logits embed nearest into only drop evidence");
        cmd_excludes(o->eval, "--eval says what --abstain would do", "abstain");
        cmd_excludes(o->against != NULL && o->eval_format > CLASSIFY_EVAL_TEXT,
                     "--against adds to a report in JSON or text", "eval_format");
        cmd_excludes(o->against != NULL, "--against compares what models give by themselves",
                     "threshold_for");
        cmd_is_for(CMD_TABLES,
                   kind == OUTPUT_ROWS || o->eval_format == CLASSIFY_EVAL_CSV ||
                           o->eval_format == CLASSIFY_EVAL_TSV,
                   "escape_formulas");
        if (kind == OUTPUT_VECTORS && !o->embed)
                cmd_usage("--output-format is an array of vectors: give --embed");
        if (kind == OUTPUT_VECTORS && o->output.output == NULL)
                cmd_usage("--output-format begins with the number of its rows, which is known "
                          "last: give --output FILE");
        if (kind == OUTPUT_TASKS && o->select == 0)
                cmd_usage("--output-format with label-studio needs --select N: tasks are for "
                          "people to label");
}

const struct cmd_program classify_program = {
        .name = "ran-classify",
        .usage = "-m MODEL [option...] [file...]\n"
                 "-m MODEL --select N [option...] [file...]\n"
                 "-m MODEL --eval [option...] [file...]",
        .summary = "Adds the member \"prediction\" to each JSON record: the most probable label of "
                   "its document or, with a multi-label model, every label above its threshold.",
        .notes = "Without files, or for -, it reads standard input. Exit status: 0, all records "
                 "good; 1, some failed; 2, usage; 3, a file could not be read or written, or "
                 "memory ran out.",
        .groups = groups,
        .check = check_together,
        .options = &classify_options,
};

/* ---- beyond the rules of the tables ---------------------------------------------------------- */

bool classify_options_embed(const struct classify_options *o)
{
        return o->embed || o->nearest > 0;
}

void classify_options_check(struct classify_options *o)
{
        if (o->model == NULL)
                cmd_usage("no model: give --model FILE");
        o->output.format = output_formats[o->output_format];
        if (o->output.format->kind == OUTPUT_PAGE)
                o->evidence.offsets = RAN_UNIT_BYTE;
}

void classify_options_check_model(const struct classify_options *o, const struct ran_model *m)
{
        bool several = ran_model_config(m)->classify.multilabel;

        if (o->eval && o->threshold > 0 && !several)
                cmd_usage("--threshold with --eval is for models with several labels a document");
        if (o->coverage > 0 && several)
                cmd_usage("--coverage is for models with one label a document; %s has several: use "
                          "--threshold",
                          o->model);
        if (classify_options_embed(o))
                cmd_model_need_encoder(m, o->model);
        cmd_excludes(ran_model_config(m)->task != RAN_TASK_CLASSIFY,
                     "the model is no classifier: it can only --embed and --nearest",
                     "top threshold coverage abstain probs logits evidence");
        if (o->output.format->kind != OUTPUT_LABELS)
                return;
        for (size_t c = 0; c < ran_model_classes(m); c++) {
                const char *label = ran_model_label(m, c), *why = o->output.format->refuses(label);

                if (why != NULL)
                        cmd_die(CMD_FAILED,
                                "the label \"%s\" %s, which --output-format=%s cannot write", label,
                                why, output_names[o->output_format]);
        }
}
