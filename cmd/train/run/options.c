/* options.c - the options of ran-train, for all of its verbs. */
#include "cmd/train/run/options.h"

#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/table.h"
#include "cmd/content/labels.h"
#include "cmd/train/about/about.h"
#include "cmd/train/run/session.h"

#define FILE_AT(member) offsetof(struct train_file_options, member)
const struct ran_field train_file_fields[] = {
        {"output", 'o', RAN_FIELD_TEXT, FILE_AT(output), .value = "FILE", .local = true,
         .help = "write the model to FILE; required for training", .first = true},
        {"vocab", 0, RAN_FIELD_TEXT, FILE_AT(vocab), .value = "FILE", .local = true,
         .help = "vocabulary, a tokenizer.json or vocab.txt; without it one is learned",
         .first = true},
        {"vectors", 0, RAN_FIELD_TEXT, FILE_AT(init.vectors), .value = "FILE", .local = true,
         .help = "initialise the embedding from word vectors of GloVe, word2vec or fastText, or "
                 "from a folder in the form of Model2Vec, which has the vocabulary, too; they set "
                 "--dim"},
        {"vector_words", 0, RAN_FIELD_SIZE, FILE_AT(init.vector_words), 0, 1 << 30, .value = "N",
         .initial = "0", .help = "add the words of the first N vectors to the learned vocabulary",
         .needs = "vectors", .why = "needs --vectors FILE"},
        {"init", 0, RAN_FIELD_TEXT, FILE_AT(init.model), .value = "MODEL", .local = true,
         .help = "begin with vocabulary and encoder of MODEL", .first = true},
        {"add_words", 0, RAN_FIELD_SIZE, FILE_AT(init.add_words), 0, 1 << 30, .value = "N",
         .initial = "2", .local = true,
         .help = "add words that occur at least N times in the documents to the "
                 "vocabulary of --init; 0: none; without --encoder static only on request",
         .verbs = "classify", .needs = "init",
         .why = "extends the vocabulary of --init MODEL: give that, and no --vocab"},
        {"vector_cache", 0, RAN_FIELD_TEXT, FILE_AT(vector_cache), .value = "FILE", .local = true,
         .help = "--frozen and --tune-layers: keep what a pretrained encoder, or a distilled RAN, "
                 "makes of documents in FILE, and take from there what it has",
         .verbs = "classify tag"},
        {"base", 0, RAN_FIELD_TEXT, FILE_AT(base), .value = "MODEL", .local = true,
         .help = "initialise from MODEL if there is little text and it knows the "
                 "words; none: from no model. Default: RAN_BASE, else english, for tag "
                 "english-tags",
         .verbs = "classify tag"},
        {"dev", 0, RAN_FIELD_TEXT, FILE_AT(dev), .value = "FILE", .local = true,
         .help = "validation documents: training ends when it no longer improves on them, and "
                 "keeps the best epoch",
         .first = true},
        CMD_SIDE_FORMAT("dev", FILE_AT(dev_format)),
        {"dev_share", 0, RAN_FIELD_REAL, FILE_AT(dev_share), 0, 0.9, .value = "X", .initial = "0.1",
         .help = "without --dev: share of the training documents to hold out for validation; 0 "
                 "where a "
                 "pretrained encoder is tuned and that would be fewer than 50 documents",
         .first = true},
        {"dev_group", 0, RAN_FIELD_TEXT, FILE_AT(dev_group), .value = "MEMBER",
         .help = "hold out all or none of the documents with the same value of this member, such "
                 "as their author"},
        {"dev_alike", 0, RAN_FIELD_BOOL, FILE_AT(dev_alike), .initial = "false",
         .help = "hold out all or none of documents that are near-duplicates (ran-tokenize "
                 "duplicates)"},
        {"label_names", 0, RAN_FIELD_TEXT, FILE_AT(label_names), .value = "FILE", .local = true,
         .help = CMD_NAMES_HELP, .verbs = "classify tag"},
        {"label_texts", 0, RAN_FIELD_TEXT, FILE_AT(label_texts), .value = "FILE", .local = true,
         .help = "descriptions of the labels are evidence, too, which fades with the number of "
                 "documents, and give labels to documents without any: lines of label, tab, "
                 "description; none: not even the labels' names. Default: their names, if held-out "
                 "documents show a gain",
         .verbs = "classify"},
        {"soft_label", 0, RAN_FIELD_TEXT, FILE_AT(soft_label), .value = "MEMBER",
         .help = "train on the label probabilities in this member, as ran-classify "
                 "--probs writes them",
         .verbs = "classify"},
        {"soft_share", 0, RAN_FIELD_REAL, FILE_AT(soft_share), 0, 1, .value = "X", .initial = "0.5",
         .help = "weight of these probabilities where a record has a label, too; the label gets "
                 "the rest",
         .needs = "soft_label"},
        {"threshold_for", 0, RAN_FIELD_LIST, FILE_AT(threshold_for), .value = "LABEL=recall:X",
         .help = "find the probability from which LABEL is to be given, for a recall, or "
                 "LABEL=precision:X, by models of folds, and store it in the model; may be given "
                 "again",
         .verbs = "classify"},
        {"weight_member", 0, RAN_FIELD_TEXT, FILE_AT(weight_member), .value = "NAME",
         .help = "member or column with the weight of a document, a number from 0 to 1e6; none: "
                 "all weigh the same. Default: weight"},
        {"weights", 0, RAN_FIELD_CHOICE, FILE_AT(weights), .choices = ran_storage_names,
         .value = "TYPE", .initial = "f32", .help = TRAIN_WEIGHTS_HELP},
        {"no_dev", 0, RAN_FIELD_BOOL, FILE_AT(no_dev), .local = true,
         .help = "train on all documents and keep the last epoch, like --dev-share=0"},
        {0},
};

#define RUN_AT(member) offsetof(struct train_run_options, member)
static const char *const progress_names[] = {"auto", "always", "never", NULL};
static const struct ran_field run_fields[] = {
        {"tune", 0, RAN_FIELD_REAL, RUN_AT(tune), 0, 1e6, .value = "MINUTES", .initial = "0",
         .local = true,
         .help = "search for better settings for so long, keep the best model and write its "
                 "settings to stdout; options you set are not tuned; 0: train once",
         .first = true, .needs = "dev dev_share",
         .why = "compares settings on validation documents: give "
                "--dev FILE, or hold some out"},
        {"minutes", 0, RAN_FIELD_REAL, RUN_AT(minutes), 0, 1e6, .value = "X", .initial = "0",
         .local = true,
         .help = "train the best model within so many minutes: the encoder makes the steps that "
                 "fit; 0: no limit",
         .first = true},
        {"resume", 0, RAN_FIELD_BOOL, RUN_AT(resume), .local = true,
         .help = "go on from the checkpoint or search, if there is one", .first = true},
        {"overwrite_checkpoint", 0, RAN_FIELD_BOOL, RUN_AT(overwrite_checkpoint), .local = true,
         .help = "start from the beginning although there is a checkpoint or an interrupted "
                 "search"},
        {"checkpoint_minutes", 0, RAN_FIELD_REAL, RUN_AT(checkpoint_minutes), 0, 1e6, .value = "X",
         .initial = "5", .local = true,
         .help = "minutes between checkpoints; a signal that ends training writes one, too"},
        {"data_memory", 0, RAN_FIELD_SIZE, RUN_AT(data_memory), 1, 1 << 30, .value = "MB",
         .initial = "256", .local = true,
         .help = "move arrays of the data that grow beyond this to temporary files in TMPDIR (or "
                 "/var/tmp)"},
        {"progress", 0, RAN_FIELD_CHOICE, RUN_AT(progress), .choices = progress_names,
         .value = "WHEN", .initial = "auto", .local = true,
         .help = "live line on stderr; auto: on a terminal, elsewhere a plain line after each "
                 "epoch and every 30 seconds"},
        {"log", 0, RAN_FIELD_TEXT, RUN_AT(log), .value = "FILE", .local = true,
         .help = "write each report as a JSON line to FILE"},
        {"report", 0, RAN_FIELD_TEXT, RUN_AT(report), .value = "FILE", .local = true,
         .help = "write a page about the training to FILE (HTML)", .first = true},
        {0},
};

#define MODE_AT(member) offsetof(struct train_mode_options, member)
static const char *const format_names[] = {"json", "text", NULL};
static const struct ran_field mode_fields[] = {
        {"check", 0, RAN_FIELD_BOOL, MODE_AT(check), .local = true,
         .help = "report on the data; status 4 if they have problems", .first = true},
        {"check_format", 0, RAN_FIELD_CHOICE, MODE_AT(check_format), .choices = format_names,
         .value = "FORMAT", .initial = "json", .local = true, .help = "format of the report",
         .needs = "check"},
        {"dry_run", 0, RAN_FIELD_BOOL, MODE_AT(dry_run), .local = true,
         .help = "report what training would need: memory and time", .first = true},
        {"replay", 0, RAN_FIELD_TEXT, MODE_AT(replay), .value = "MODEL", .local = true,
         .help = "repeat the training of MODEL and compare the result byte for byte; status 4 if "
                 "it differs; give --dev and --vectors again, and "
                 "--init if no name finds that model; writes nothing without -o"},
        {"find_wrong_labels", 0, RAN_FIELD_BOOL, MODE_AT(find_wrong_labels), .local = true,
         .help = "list documents whose label is probably wrong on stdout, the most suspicious "
                 "first, by models that are trained on other documents",
         .first = true, .verbs = "classify"},
        {"folds", 0, RAN_FIELD_SIZE, MODE_AT(folds), 2, 1000, .value = "N", .initial = "5",
         .local = true,
         .help = "for that, train so many models, each on all documents but one of N parts",
         .needs = "find_wrong_labels"},
        {"suspects", 0, RAN_FIELD_SIZE, MODE_AT(suspects), 0, 1e9, .value = "N", .initial = "0",
         .local = true, .help = "list so many suspects; 0: as many as are estimated to be wrong",
         .needs = "find_wrong_labels"},
        {"suspects_format", 0, RAN_FIELD_CHOICE, MODE_AT(suspects_format),
         .choices = train_suspects_formats, .value = "FORMAT", .initial = "jsonl", .local = true,
         .help = "format of the list" OUTPUT_FORMATS(OUTPUT_HELP), .needs = "find_wrong_labels"},
        {0},
};

/* ---- which options go together --------------------------------------------------------------- */

/* What writes a model excludes what is done instead, and so on; each with its sentence. */
static void check_together(void *options)
{
        const struct train_options *o = options;
        const struct train_file_options *file = &o->file;
        const struct train_mode_options *mode = &o->mode;
        const bool wrong = mode->find_wrong_labels;
        const char *const held_out = file->dev_share > 0 ? "dev no_dev" : "dev no_dev dev_share";

        cmd_excludes(file->init.vector_words > 0, "--vector-words is for a learned vocabulary",
                     "vocab");
        cmd_exclude_each_other("init vectors");
        cmd_excludes(cmd_was_asked("add_words") && file->init.add_words > 0,
                     "--add-words extends the vocabulary of --init MODEL", "vocab");
        cmd_excludes(file->dev_group != NULL, "--dev-group is for documents that are held out",
                     held_out);
        cmd_excludes(file->dev_alike, "--dev-alike is for documents that are held out", held_out);
        cmd_excludes(file->dev_alike,
                     "--dev-group and --dev-alike both say which documents belong together: leave "
                     "one out",
                     "dev_group");
        cmd_excludes(file->threshold_for.n > 0,
                     "--threshold-for is of a training that writes a model",
                     "tune check dry_run find_wrong_labels");
        cmd_exclude_each_other("no_dev dev");
        cmd_excludes(file->no_dev && file->dev_share > 0, "--no-dev is --dev-share 0", "dev_share");
        cmd_excludes(o->run.tune > 0, "--tune compares settings on validation documents", "no_dev");
        cmd_excludes(o->run.tune > 0,
                     "--tune MINUTES is for a search, and --minutes for one training", "minutes");
        cmd_excludes(o->run.tune > 0,
                     "--report is of one training: train again with the settings that --tune finds",
                     "report");
        cmd_exclude_each_other("resume overwrite_checkpoint");
        cmd_exclude_each_other("find_wrong_labels check dry_run replay");
        cmd_excludes(mode->check || mode->dry_run, "--report is of a training that writes a model",
                     "report");
        cmd_excludes(mode->replay != NULL, "--replay takes the settings of the model",
                     "vocab no_dev vector_words add_words dev_share dev_group dev_alike soft_label "
                     "soft_share threshold_for weight_member weights tune [Training] [Model] "
                     "[Learned vocabulary]");
        cmd_excludes(mode->replay != NULL,
                     "--replay makes the steps of the model, whatever the time", "minutes");
        cmd_excludes(wrong, "--find-wrong-labels writes a list, and no model",
                     "output report log tune resume overwrite_checkpoint weights");
        cmd_excludes(wrong, "--find-wrong-labels judges each document by a model of the others",
                     "dev no_dev dev_share");
        cmd_exclude_each_other("find_wrong_labels soft_label");
        cmd_exclude_each_other("find_wrong_labels minutes");
        cmd_is_for("--cell published",
                   o->config.ran.cell == RAN_CELL_PUBLISHED || file->init.model != NULL,
                   "cell_pooling");
}

/* ---- the program ---------------------------------------------------------------------------- */

#define USAGE(more)                        \
        "-o MODEL [option...] [file...]\n" \
        "--check|--dry-run [option...] [file...]\n" more "--replay MODEL [option...] [file...]"
static const char usage[] = USAGE(""),
                  usage_with_labels[] = USAGE("--find-wrong-labels [option...] [file...]\n");
static const char notes[] =
        "Training does not start if a line cannot be used; --on-error=skip leaves such lines out.\n"
        "SIGINT, SIGTERM, SIGHUP or SIGPIPE ends training after the current step and leaves a "
        "checkpoint; the same command with --resume continues.\n"
        "The same data and settings give the same model, whatever the number of threads and "
        "machines (ran-ranks(7)), interrupted or not.";

static const struct {
        const char *title;
        const struct ran_field *fields;
        size_t at;         /* the described member of struct train_options */
        const char *verbs; /* which have them; NULL: all */
} tables[] = {
        {"Files", train_file_fields, offsetof(struct train_options, file), NULL},
        {"Plain files", cmd_parallel_fields, offsetof(struct train_options, parallel), "lm"},
        {"Input", cmd_input_fields, offsetof(struct train_options, input), NULL},
        {"Training", ran_train_fields, offsetof(struct train_options, settings), NULL},
        {"Running", run_fields, offsetof(struct train_options, run), NULL},
        {"Model", ran_config_fields, offsetof(struct train_options, config), NULL},
        {"Learned vocabulary", ran_vocab_fields, offsetof(struct train_options, vocabulary), NULL},
        {"Instead of training", mode_fields, offsetof(struct train_options, mode), NULL},
};
enum { TABLES = sizeof tables / sizeof *tables };

/* What few set: keys of --config, which the command line takes as well. */
static const char keys[] =
        "vector_words add_words dev_alike soft_share max_errors max_record_bytes quotes "
        "early_stop schedule min_learning_rate warmup weight_decay clip beta1 beta2 epsilon "
        "embed_dropout word_dropout label_smoothing vectors_rms init_rate cell_memory "
        "wide_cost wide_ratios refit freeze checkpoint_minutes data_memory heads "
        "head_dim min_window cell rotary residual review review_window pooling cell_pooling "
        "spelling affixes rank context position_scale ffn_dim attention dilation similarity "
        "limit_alphabet max_word max_distinct normalize strip_accents clean cjk split_at "
        "eol_token progress mask";

/* Of the input, what says where labels are. */
static const char of_labels[] = "folder_label label_separator tag_column";

const struct ran_field *train_options_preset(const struct ran_field *fields,
                                             const struct train_preset *presets, const char *verbs)
{
        size_t n = 0;

        while (fields[n].name != NULL)
                n++;
        struct ran_field *own = ran_new(n + 1, sizeof *own);
        memcpy(own, fields, n * sizeof *own);
        for (size_t i = 0; i < n; i++) {
                own[i].key = cmd_option_is_among(keys, own[i].name);
                if (verbs != NULL)
                        own[i].verbs = verbs;
                else if (cmd_option_is_among(of_labels, own[i].name))
                        own[i].verbs = "classify tag";
                for (const struct train_preset *p = presets; p->name != NULL; p++)
                        if (strcmp(own[i].name, p->name) == 0)
                                own[i].initial = p->initial;
        }
        return own;
}

void train_options_rebase(struct train_options *o)
{
        for (size_t i = 0; i < TABLES; i++)
                o->groups[i].base = (char *)o + tables[i].at;
        o->program.groups = o->groups;
}

void train_options_init(struct train_options *o, const struct train_task *task)
{
        for (size_t i = 0; i < TABLES; i++)
                o->groups[i] = (struct cmd_group){
                        .title = tables[i].title,
                        .fields = train_options_preset(tables[i].fields, task->presets,
                                                       tables[i].verbs),
                };
        o->program = (struct cmd_program){.name = task->program,
                                          .usage = task->of_documents ? usage_with_labels : usage,
                                          .summary = task->summary,
                                          .notes = notes,
                                          .check = check_together,
                                          .options = o};
        train_options_rebase(o);
}

/* ---- what is checked after that ------------------------------------------------------------- */

void train_options_check(struct train_options *o)
{
        const struct train_mode_options *mode = &o->mode;
        const struct train_run_options *run = &o->run;
        const bool writes = o->file.output != NULL;
        const bool trains = !(mode->check || mode->dry_run || mode->find_wrong_labels);
        const bool folder = train_init_is_folder(&o->file.init);

        if (trains && !writes && mode->replay == NULL)
                cmd_usage("no output file: give -o MODEL");
        if (trains && !writes && (run->resume || run->log != NULL))
                cmd_usage("--replay writes nothing without -o FILE: leave out --resume and --log");
        if (trains && !writes && run->report != NULL)
                cmd_usage("--report is of a training that writes a model: leave it out");
        /* A folder of vectors has a vocabulary. */
        if (folder && (o->file.vocab != NULL || o->file.init.vector_words > 0))
                cmd_usage("the vocabulary is %s/tokenizer.json: leave out --vocab and "
                          "--vector-words",
                          o->file.init.vectors);
        cmd_excludes(folder, "the vocabulary is that of --vectors", "[Learned vocabulary]");
        train_thresholds_check(&o->file.threshold_for);
        if (o->file.no_dev || o->mode.find_wrong_labels)
                o->file.dev_share = 0;
}
