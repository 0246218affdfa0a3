/* ran-train - trains a model from documents with labels, or with tags for their words, or from
 * texts alone. */
#include "cmd/options/cmd.h"
#include "cmd/records/model.h"
#include "cmd/records/sequence.h"
#include "cmd/train/check.h"
#include "cmd/train/data.h"
#include "cmd/train/progress.h"
#include "cmd/train/ranks.h"
#include "cmd/train/replay.h"
#include "cmd/train/run.h"
#include "cmd/train/init.h"
#include "cmd/train/tune.h"
#include "cmd/records/vocab.h"

#include <stdlib.h>
#include <string.h>

/* ---- options -------------------------------------------------------------------------------- */

enum { CHECK_JSON, CHECK_TEXT };

struct file_options {
        char *output, *vocab, *dev, *dev_group, *label_names, *soft_label;
        struct train_start_options start;
        double dev_share, soft_share;
        bool no_dev;
};
struct other_options {
        bool check, dry_run;
        int check_format;
        char *dump_gradients, *model, *replay;
        size_t dump_documents;
};

static struct file_options file;
static struct train_run_options run;
static struct other_options other;
static struct cmd_input input;
static struct ran_config config;
static struct ran_train_settings settings;
static struct ran_vocab_settings vocabulary;

#define FILE_AT(member) offsetof(struct file_options, member)
static const struct ran_field file_fields[] = {
        {"output", 'o', RAN_FIELD_TEXT, FILE_AT(output), .value = "FILE", .local = true,
         .help = "write the model to FILE, when training is complete; needed to train"},
        {"vocab", 0, RAN_FIELD_TEXT, FILE_AT(vocab), .value = "FILE", .local = true,
         .help = "vocabulary (tokenizer.json or vocab.txt); without it one is learned from the "
                 "training data"},
        {"vectors", 0, RAN_FIELD_TEXT, FILE_AT(start.vectors), .value = "FILE", .local = true,
         .help = "word vectors that the embedding begins with: GloVe, word2vec or fastText; --dim "
                 "is theirs"},
        {"vector_words", 0, RAN_FIELD_SIZE, FILE_AT(start.vector_words), 0, 1 << 30, .value = "N",
         .initial = "0",
         .help = "a vocabulary that is learned has the words of the first N vectors, too, which "
                 "the training data may not have"},
        {"init", 0, RAN_FIELD_TEXT, FILE_AT(start.init), .value = "MODEL", .local = true,
         .help = "a model whose vocabulary, embedding and encoder training begins with"},
        {"dev", 0, RAN_FIELD_TEXT, FILE_AT(dev), .value = "FILE", .local = true,
         .help = "development data: training stops when it gets no better on them, and the best "
                 "model is kept"},
        {"dev_share", 0, RAN_FIELD_REAL, FILE_AT(dev_share), 0, 0.9, .value = "X", .initial = "0.1",
         .help = "without --dev, hold out this share of the training data, by chance and of each "
                 "label alike"},
        {"dev_group", 0, RAN_FIELD_TEXT, FILE_AT(dev_group), .value = "MEMBER",
         .help = "hold out all or none of the documents in which this member is the same: of an "
                 "author, or versions of a text"},
        {"label_names", 0, RAN_FIELD_TEXT, FILE_AT(label_names), .value = "FILE", .local = true,
         .help = CMD_NAMES_HELP},
        {"soft_label", 0, RAN_FIELD_TEXT, FILE_AT(soft_label), .value = "MEMBER",
         .help = "classify: learn from the probabilities in this member, as ran-classify --probs "
                 "writes them, also where a record has no label"},
        {"soft_share", 0, RAN_FIELD_REAL, FILE_AT(soft_share), 0, 1, .value = "X", .initial = "0.5",
         .help = "how much they count where a record has a label, too; the label counts the rest"},
        {"no_dev", 0, RAN_FIELD_BOOL, FILE_AT(no_dev), .local = true,
         .help = "train on all documents and keep the last epoch: --dev-share 0"},
        {0},
};

#define RUN_AT(member) offsetof(struct train_run_options, member)
static const char *const progress_names[] = {"auto", "always", "never", NULL};
static const struct ran_field run_fields[] = {
        {"tune", 0, RAN_FIELD_REAL, RUN_AT(tune), 0, 1e6, .value = "MINUTES", .initial = "0",
         .local = true,
         .help = "so long, train with other settings, too, and keep the model that is best on the "
                 "development data; options that are given stay; the settings found go to stdout; "
                 "0: no"},
        {"resume", 0, RAN_FIELD_BOOL, RUN_AT(resume), .local = true,
         .help = "go on from the checkpoint FILE.ckpt beside the output, if there is one"},
        {"overwrite_checkpoint", 0, RAN_FIELD_BOOL, RUN_AT(overwrite_checkpoint), .local = true,
         .help = "begin anew although there is a checkpoint"},
        {"checkpoint_minutes", 0, RAN_FIELD_REAL, RUN_AT(checkpoint_minutes), 0, 1e6, .value = "X",
         .initial = "5", .local = true,
         .help = "write a checkpoint every so many minutes, and when a signal ends the training"},
        {"data_memory", 0, RAN_FIELD_SIZE, RUN_AT(data_memory), 1, 1 << 30, .value = "MB",
         .initial = "256", .local = true,
         .help = "data that need more, each array of them, lie in a file in TMPDIR (or /var/tmp), "
                 "so that they may be larger than memory"},
        {"progress", 0, RAN_FIELD_CHOICE, RUN_AT(progress), .choices = progress_names,
         .value = "WHEN", .initial = "auto", .local = true,
         .help = "live line on stderr; auto: on a terminal, elsewhere a plain line now and then"},
        {"log", 0, RAN_FIELD_TEXT, RUN_AT(log), .value = "FILE", .local = true,
         .help = "write each report as a JSON line to FILE"},
        {0},
};

#define OTHER_AT(member) offsetof(struct other_options, member)
static const char *const format_names[] = {"json", "text", NULL};
static const struct ran_field other_fields[] = {
        {"check", 0, RAN_FIELD_BOOL, OTHER_AT(check), .local = true,
         .help = "inspect the data and report on stdout; status 4 if they are unfit"},
        {"check_format", 0, RAN_FIELD_CHOICE, OTHER_AT(check_format), .choices = format_names,
         .value = "FORMAT", .initial = "json", .local = true, .help = "how --check reports"},
        {"dry_run", 0, RAN_FIELD_BOOL, OTHER_AT(dry_run), .local = true,
         .help = "say what training would need: parameters, memory, time"},
        {"dump_gradients", 0, RAN_FIELD_TEXT, OTHER_AT(dump_gradients), .value = "FILE",
         .local = true,
         .help = "write loss and gradients of a model on the documents, as safetensors"},
        {"dump_documents", 0, RAN_FIELD_SIZE, OTHER_AT(dump_documents), 0, 1e9, .value = "N",
         .initial = "0", .local = true, .help = "the first N documents only; 0: all"},
        {"model", 'm', RAN_FIELD_TEXT, OTHER_AT(model), .value = "FILE", .local = true,
         .help = "the model for --dump-gradients"},
        {"replay", 0, RAN_FIELD_TEXT, OTHER_AT(replay), .value = "MODEL", .local = true,
         .help = "train again with the settings that MODEL says it was trained with, and compare "
                 "the result with it, byte for byte; status 4 if it is another. --dev, --init and "
                 "--vectors must be given again; nothing is written without -o"},
        {0},
};

static struct cmd_group groups[] = {
        {"Files", file_fields, &file},
        {"Reading", cmd_input_fields, &input},
        {"Training", ran_train_fields, &settings},
        {"The run", run_fields, &run},
        {"The model", ran_config_fields, &config},
        {"The vocabulary, where one is learned", ran_vocab_fields, &vocabulary},
        {"Instead of training", other_fields, &other},
        {0},
};
#define USAGE                                        \
        "-o MODEL [option...] [file...]\n"           \
        "--check|--dry-run [option...] [file...]\n"  \
        "--dump-gradients FILE -m MODEL [file...]\n" \
        "--replay MODEL [option...] [file...]"
static const char notes[] =
        "A line that cannot be used keeps the training from starting, unless "
        "--on-error=skip leaves it out.\n"
        "SIGINT, SIGTERM, SIGHUP or SIGPIPE ends a training after the step it is at and leaves a "
        "checkpoint; the same command with --resume goes on.\n"
        "The same data and settings give the same model for any number of threads, interrupted or "
        "not, and of processes on one or many machines, where mpirun starts them and the program "
        "was built by make MPI=1: see Many machines in ran-train(1).";
static const struct cmd_program tag_program = {
        .name = "ran-train tag",
        .usage = USAGE,
        .summary = "Trains a tagger from JSON lines with \"tokens\" (or \"ids\") and as many "
                   "\"tags\": IOB2, or IOB1, IOBES and BILOU, which are converted. Documents are "
                   "read whole, whatever their length. Without files it reads standard input.",
        .notes = notes,
        .groups = groups,
};
static const struct cmd_program lm_program = {
        .name = "ran-train lm",
        .usage = USAGE,
        .summary = "Trains a language model from JSON lines with \"text\" (or \"tokens\", "
                   "\"ids\", \"encoding\"), or with \"source\" and \"target\": then it learns to "
                   "answer a source. Texts are read whole, whatever their length. Without files it "
                   "reads standard input.",
        .notes = notes,
        .groups = groups,
};
static const struct cmd_program mlm_program = {
        .name = "ran-train mlm",
        .usage = USAGE,
        .summary = "Trains a model of masked words from JSON lines with \"text\" (or \"tokens\", "
                   "\"ids\"), for ran-lm fill, and for trainings that begin with it (--init): 15 % "
                   "of the words, whole ones, are hidden and to be found. Texts are read whole, "
                   "whatever their length. Without files it reads standard input.",
        .notes = notes,
        .groups = groups,
};
static const struct cmd_program classify_program = {
        .name = "ran-train classify",
        .usage = USAGE,
        .summary = "Trains a classifier from JSON lines with \"text\" (or \"tokens\", \"ids\", "
                   "\"encoding\") and \"label\" or \"labels\". Documents are read whole, whatever "
                   "their length. Without files it reads standard input.",
        .notes = notes,
        .groups = groups,
};

/* ---- what a run works on -------------------------------------------------------------------- */

/* Without a vocabulary the data say how many ids there are; an id has 32 bits. */
static const size_t any_id = (size_t)UINT32_MAX;

struct session {
        struct ran_pool *pool;
        struct ran_model *model; /* of --dump-gradients, else NULL */
        struct train_replay replay;
        struct train_start start;
        struct ran_tokenizer *tokenizer; /* of our own; NULL: the model's, or none */
        struct train_source source;
        struct cmd_names names; /* of labels or tags that are numbers */
        struct train_data train, dev;
        bool *held; /* (B of train) documents that dev has; NULL: it has others */
        bool has_dev, learned;
};

/* Defaults that a verb has of its own, wherever an option comes from. */
struct preset {
        const char *name, *initial;
};

static size_t count_fields(const struct ran_field *fields)
{
        size_t n = 0;

        while (fields[n].name != NULL)
                n++;
        return n;
}

/* Puts a table with other defaults in the place of a group's own, for as long as the program runs.
 */
static void preset_group(struct cmd_group *group, const struct preset *presets)
{
        size_t n = count_fields(group->fields);
        struct ran_error err = {0};
        struct ran_field *fields = ran_alloc(n + 1, sizeof *fields, &err);

        if (fields == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        memcpy(fields, group->fields, n * sizeof *fields);
        for (size_t i = 0; i < n; i++)
                for (const struct preset *p = presets; p->name != NULL; p++)
                        if (strcmp(fields[i].name, p->name) == 0)
                                fields[i].initial = p->initial;
        group->fields = fields;
}

/* Vectors are of words; what somebody asked for stays. */
static void choose_vocabulary(void)
{
        if (file.start.vectors != NULL && !cmd_was_set("vocab_type"))
                vocabulary.vocab_type = RAN_VOCAB_WORD;
        if (file.start.vector_words > 0 && vocabulary.vocab_type != RAN_VOCAB_WORD)
                cmd_usage("--vector-words is for a vocabulary of words: --vocab-type word");
}

static void check_config(int task)
{
        struct ran_error err = {0};

        if (config.task != task)
                cmd_usage("the verb says what the task is: leave out --task");
        if (task != RAN_TASK_CLASSIFY && file.soft_label != NULL)
                cmd_usage("--soft-label is for ran-train classify");
        if (task != RAN_TASK_CLASSIFY && config.cell == RAN_CELL_PLAIN &&
            other.dump_gradients == NULL)
                cmd_usage("with --cell plain all tokens of a document of one window come out the "
                          "same, so that %s: use --cell gated",
                          task == RAN_TASK_TAG ? "its words cannot be tagged"
                                               : "what follows them cannot be told");
        if (ran_config_check(&config, &err) != RAN_OK ||
            ran_train_settings_check(&settings, &config, &err) != RAN_OK)
                cmd_usage("%s", err.text);
}

static void refuse_settings(const struct ran_field *fields)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++)
                if (!f->local && cmd_was_set(f->name))
                        cmd_usage("--replay takes the settings of the model: leave out \"%s\"",
                                  f->name);
}

static void check_replay(void)
{
        if (other.replay == NULL)
                return;
        refuse_settings(file_fields);
        refuse_settings(ran_train_fields);
        refuse_settings(ran_config_fields);
        refuse_settings(ran_vocab_fields);
        if (file.vocab != NULL || file.no_dev || run.tune > 0)
                cmd_usage("--replay takes the settings of the model: leave out --vocab, --no-dev "
                          "and --tune");
        if (file.output == NULL && (run.resume || run.log != NULL))
                cmd_usage("--replay writes nothing without -o FILE: leave out --resume and --log");
}

/* What says more about what is not asked for would be passed over. */
static void check_company(void)
{
        static const char *const of_check[] = {"check_format", NULL};
        static const char *const of_dump[] = {"dump_documents", NULL};
        static const char *const of_soft[] = {"soft_share", NULL};
        static const char *const of_vectors[] = {"vectors_rms", NULL};
        static const char *const of_init[] = {"init_rate", NULL};

        cmd_requires(other.check, "--check", of_check);
        cmd_requires(other.dump_gradients != NULL, "--dump-gradients FILE", of_dump);
        cmd_requires(file.soft_label != NULL, "--soft-label MEMBER", of_soft);
        cmd_requires(file.start.vectors != NULL, "--vectors FILE", of_vectors);
        cmd_requires(file.start.init != NULL, "--init MODEL", of_init);
        if (file.no_dev && file.dev != NULL)
                cmd_usage("--no-dev and --dev exclude each other");
        if (file.no_dev && cmd_was_asked("dev_share") && file.dev_share > 0)
                cmd_usage("--no-dev is --dev-share 0: leave out one of them");
}

/* The model says all that there is to say about it, and nothing is learned. */
static void check_dump(void)
{
        static const char why[] = "--dump-gradients is of a model as it is";
        static const char *const others[] = {"output",    "dev",       "no_dev",
                                             "dev_share", "dev_group", "tune",
                                             "resume",    "log",       "overwrite_checkpoint",
                                             NULL};

        if (other.dump_gradients == NULL)
                return;
        cmd_excludes(why, others);
        cmd_excludes_fields(why, ran_train_fields);
        cmd_excludes_fields(why, ran_config_fields);
        cmd_excludes_fields(why, ran_vocab_fields);
}

static void check_usage(void)
{
        bool dump = other.dump_gradients != NULL, replay = other.replay != NULL;

        if (other.check + other.dry_run + dump + replay > 1)
                cmd_usage("--check, --dry-run, --dump-gradients and --replay exclude each other");
        check_replay();
        if (!other.check && !other.dry_run && !dump && !replay && file.output == NULL)
                cmd_usage("where shall the model go? -o FILE");
        if (other.model != NULL && !dump)
                cmd_usage("--model is for --dump-gradients; where the model goes is -o FILE");
        if (dump && other.model == NULL)
                cmd_usage("--dump-gradients needs a model: -m FILE");
        if (dump && (file.start.init != NULL || file.start.vectors != NULL))
                cmd_usage("--dump-gradients takes the weights of its model: leave out --init and "
                          "--vectors");
        if (settings.freeze && file.start.init == NULL && file.start.vectors == NULL)
                cmd_usage("--freeze is for what --vectors or --init brings");
        if (dump && file.vocab != NULL)
                cmd_usage("a model has its vocabulary with it: leave out --vocab");
        if (file.start.vector_words > 0 && file.start.vectors == NULL)
                cmd_usage("--vector-words is for words of a file of vectors: --vectors FILE");
        if (file.start.vector_words > 0 && file.vocab != NULL)
                cmd_usage("--vector-words is for a vocabulary that is learned: leave out --vocab");
        check_dump();
        check_company();
        if (run.resume && run.overwrite_checkpoint)
                cmd_usage("--resume and --overwrite-checkpoint exclude each other");
        if (file.no_dev)
                file.dev_share = 0;
        if (file.dev_group != NULL && (file.dev != NULL || file.dev_share == 0))
                cmd_usage("--dev-group is for documents that are held out: leave out %s",
                          file.dev != NULL ? "--dev"
                          : file.no_dev    ? "--no-dev"
                                           : "--dev-share 0");
        if (run.tune > 0 && file.dev_share == 0 && file.dev == NULL)
                cmd_usage("--tune chooses settings by development data: give --dev FILE, or leave "
                          "some to hold out");
}

/* Everything that can change the result is as the model has it, but for the files. */
static void open_replay(struct session *s)
{
        if (other.replay == NULL)
                return;
        run.replay = true;
        train_replay_open(&s->replay, other.replay, s->source.task);
        train_replay_check_files(&s->replay, file.dev, file.start.init, file.start.vectors);
        train_replay_restore(&s->replay, file_fields, &file, false);
        train_replay_restore(&s->replay, ran_train_fields, &settings, true);
        train_replay_restore(&s->replay, ran_vocab_fields, &vocabulary, s->replay.learned);
        config = *ran_model_config(s->replay.model);
        cmd_set_all(ran_config_fields);
}

static void open_model(struct session *s)
{
        if (other.model == NULL)
                return;
        s->model = cmd_model_open(other.model, false, s->source.task);
        config = *ran_model_config(s->model);
        s->source.tokenizer = ran_model_tokenizer(s->model);
        s->source.V = ran_model_vocabulary(s->model);
}

/* The vocabulary that the embedding of --init belongs to. */
static void take_vocabulary(struct session *s)
{
        const struct ran_tokenizer *t = ran_model_tokenizer(s->start.init);

        if (s->tokenizer != NULL &&
            (t == NULL || strcmp(ran_tokenizer_digest(t), ran_tokenizer_digest(s->tokenizer)) != 0))
                cmd_usage("%s is not the vocabulary of %s: leave out --vocab", file.vocab,
                          file.start.init);
        s->source.tokenizer = t;
        s->source.V = ran_model_vocabulary(s->start.init);
}

static void open_vocabulary(struct session *s)
{
        if (file.vocab != NULL)
                s->tokenizer = cmd_vocab_open(file.vocab);
        if (s->start.init != NULL)
                take_vocabulary(s);
        if (s->replay.model != NULL && !s->replay.learned && s->start.init == NULL &&
            ran_model_tokenizer(s->replay.model) != NULL) {
                s->source.tokenizer = ran_model_tokenizer(s->replay.model);
                s->source.V = ran_tokenizer_size(s->source.tokenizer);
        }
        if (s->tokenizer == NULL || s->start.init != NULL)
                return;
        s->source.tokenizer = s->tokenizer;
        s->source.V = ran_tokenizer_size(s->tokenizer);
}

/* A language model that the vocabulary will not do for is known before anything is read; whether
 * [SEP] is needed may depend on the records. */
static void check_vocabulary(const struct session *s)
{
        const char *name = other.model != NULL       ? other.model
                           : file.start.init != NULL ? file.start.init
                           : other.replay != NULL    ? other.replay
                                                     : file.vocab;
        struct cmd_reserved reserved;
        struct ran_error err = {0};

        if ((s->source.task == RAN_TASK_LM || s->source.task == RAN_TASK_MLM) &&
            cmd_reserved_find(&reserved, s->source.tokenizer, s->source.task, config.mask, &err) !=
                    RAN_OK)
                cmd_die(CMD_FAILED, "%s: %s", name, err.text);
}

/* Records with a source and a target are learned under the mask prefix. A model that there is has
 * its mask already. */
static void choose_mask(struct session *s)
{
        if (s->source.task != RAN_TASK_LM || s->source.mask != RAN_MASK_NONE)
                return;
        if (s->train.paired.file != NULL) {
                config.mask = RAN_MASK_PREFIX;
                cmd_note("the records have a source and a target: --mask prefix");
        }
        s->source.mask = config.mask;
}

static void set_classes(struct ran_dataset *set, char *const *names, size_t C)
{
        struct ran_error err = {0};

        if (ran_dataset_set_classes(set, names, C, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
}

/* Labels of the data are looked up among those of the model. */
static void set_model_classes(struct session *s)
{
        bool texts = s->source.task == RAN_TASK_LM || s->source.task == RAN_TASK_MLM;
        size_t C = texts ? 0 : ran_model_classes(s->model);

        for (size_t c = 0; c < C; c++) {
                char *name = (char *)ran_model_label(s->model, c);
                set_classes(&s->train.set, &name, 1);
        }
}

/* All that is known of the documents are ids. */
static void leave_spelling(struct session *s)
{
        if (config.spelling > 0)
                cmd_note("the documents are ids, which are not spelled: --spelling 0");
        if (config.affixes && cmd_was_set("affixes"))
                cmd_note("what ids begin and end with is not known, either: --no-affixes");
        config.spelling = s->source.spelling = 0;
        config.affixes = false;
}

static void read_training(struct session *s, char **files)
{
        s->source.spelling = config.spelling;
        if (s->model != NULL || cmd_was_set("mask") || config.mask == RAN_MASK_PREFIX)
                s->source.mask = config.mask;
        s->source.join = config.join_sentences;
        s->source.soft_label = file.soft_label;
        s->source.group = file.dev_group;
        s->source.vectors = s->start.file;
        s->source.vector_words = file.start.vector_words;
        s->source.soft_share = file.soft_share;
        s->source.several = config.multilabel;
        if (s->start.init != NULL && s->source.tokenizer == NULL)
                leave_spelling(s);
        if (s->source.tokenizer == NULL && s->model == NULL && s->start.init == NULL) {
                s->tokenizer = train_data_learn(&s->train, &s->source, &vocabulary, files);
                s->source.tokenizer = s->tokenizer;
                s->learned = s->tokenizer != NULL;
                if (s->learned)
                        s->source.V = ran_tokenizer_size(s->tokenizer);
                else
                        leave_spelling(s);
        } else {
                train_data_read(&s->train, &s->source, files);
        }
        choose_mask(s);
        if (s->train.set.multilabel && s->model != NULL && !config.multilabel)
                cmd_die(CMD_FAILED,
                        "%s:%zu has \"labels\", but the model gives each document one label",
                        s->train.several.file, s->train.several.line);
        config.multilabel |= s->train.set.multilabel;
        s->train.set.multilabel = config.multilabel;
}

static void read_dev(struct session *s)
{
        char *files[] = {file.dev, NULL};
        struct cmd_input dev_input = input;
        struct train_source source = s->source;

        dev_input.rejects = NULL; /* holds those of the training data by now */
        dev_input.shard = NULL;   /* is of the training data */
        source.input = &dev_input;
        source.judge = true;
        source.several = config.multilabel;
        s->has_dev = true;
        set_classes(&s->dev.set, s->train.set.names, s->train.set.C);
        train_data_read(&s->dev, &source, files);
        s->dev.set.multilabel = config.multilabel;
}

static void refuse_problems(const struct train_problems *problems)
{
        for (size_t i = 0; i < problems->n; i++)
                cmd_warn("%s", problems->sentence[i]);
        if (problems->n > 0)
                exit(CMD_FAILED);
}

static bool left_out(const struct session *s)
{
        return s->train.counts.bad + s->train.counts.passed + s->dev.counts.bad +
                       s->dev.counts.passed >
               0;
}

static void hold_out(struct session *s)
{
        struct ran_error err = {0};
        size_t all = s->train.set.B, own = all - ran_dataset_guessed(&s->train.set);

        if (s->has_dev || file.dev_share == 0)
                return;
        s->held = ran_alloc(all, sizeof *s->held, &err);
        if (s->held == NULL || ran_dataset_split(&s->train.set, file.dev_share, settings.seed,
                                                 s->held, &s->dev.set, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        s->has_dev = s->dev.set.B > 0;
        if (s->has_dev && own > 0 && own < all)
                cmd_note("%zu of the %zu documents that have a label of their own are held out to "
                         "choose the best epoch by",
                         s->dev.set.B, own);
        else if (s->has_dev)
                cmd_note("%zu of %zu documents are held out to choose the best epoch by",
                         s->dev.set.B, all);
        else
                cmd_note("too few %s to hold some out: the last epoch will be kept",
                         file.dev_group != NULL ? "groups of documents" : "documents");
}

static void release(struct session *s)
{
        train_data_release(&s->train);
        train_data_release(&s->dev);
        cmd_names_release(&s->names);
        free(s->held);
        train_start_release(&s->start);
        train_replay_release(&s->replay);
        ran_tokenizer_free(s->tokenizer);
        ran_model_free(s->model);
        ran_pool_free(s->pool);
}

/* ---- what is done with it ------------------------------------------------------------------- */

static int check(struct session *s, const struct train_problems *problems)
{
        train_check(&s->train, s->has_dev ? &s->dev : NULL, config.window, problems,
                    other.check_format == CHECK_JSON);
        return problems->n > 0 ? CMD_DIVERGED : CMD_OK;
}

static int dump_gradients(struct session *s)
{
        struct ran_error err = {0};

        if (s->train.unknown > 0)
                cmd_die(CMD_FAILED, "the model does not know %zu of the %s", s->train.unknown,
                        s->source.task == RAN_TASK_TAG ? "tags" : "labels");
        size_t documents = other.dump_documents > 0 ? other.dump_documents : s->train.set.B;
        if (ran_dump_gradients(other.model, &s->train.set, documents, s->pool, other.dump_gradients,
                               &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        return CMD_OK;
}

/* Without entities their F1 is always 0, which would choose the first epoch. */
static void choose_metric(const struct session *s)
{
        bool is_f1 =
                settings.metric == RAN_METRIC_MICRO_F1 || settings.metric == RAN_METRIC_MACRO_F1;

        if (s->source.task != RAN_TASK_TAG || s->train.tagged[CMD_TAGS_SCHEME].file != NULL ||
            !s->has_dev || !is_f1)
                return;
        settings.metric = RAN_METRIC_ACCURACY;
        cmd_note("the tags mark no entities: the best epoch is chosen by accuracy");
}

/* The table of the wide path has a column for each class: with many of them fewer rows will do,
 * lest it take all memory. What somebody asked for stays. */
static void choose_wide(const struct session *s)
{
        const size_t most = (size_t)1 << 24, least = 1024;
        size_t was = config.wide;

        if (cmd_was_set("wide"))
                return;
        while (config.wide > least && config.wide > most / s->train.set.C)
                config.wide /= 2;
        if (config.wide != was)
                cmd_note("there are %zu %s: --wide %zu", s->train.set.C,
                         s->source.task == RAN_TASK_TAG ? "tags" : "labels", config.wide);
}

/* Which tag follows which is asked of all pairs of them, for each word. */
static void tell_tags(const struct session *s)
{
        const size_t many = 200;

        if (s->source.task == RAN_TASK_TAG && s->train.set.C > many && config.crf)
                cmd_note("there are %zu tags: time grows with the square of their number, but for "
                         "--no-crf",
                         s->train.set.C);
}

/* Settings that the library does not know of and that can change the model. */
static void describe_data(const struct session *s, struct ran_buf *training)
{
        if (file.dev == NULL) {
                ran_buf_str(training, "\"dev_share\":");
                ran_buf_double(training, file.dev_share);
        }
        if (file.dev_group != NULL) {
                ran_buf_str(training, ",\"dev_group\":");
                ran_buf_json(training, file.dev_group, strlen(file.dev_group));
        }
        if (s->learned) {
                ran_buf_str(training, file.dev == NULL ? "," : "");
                ran_fields_json(ran_vocab_fields, &vocabulary, training);
        }
        if (s->learned && file.start.vector_words > 0)
                ran_buf_printf(training, ",\"vector_words\":%zu", file.start.vector_words);
        if (file.soft_label != NULL) {
                ran_buf_str(training, training->len > 0 ? "," : "");
                ran_buf_str(training, "\"soft_label\":");
                ran_buf_json(training, file.soft_label, strlen(file.soft_label));
                ran_buf_str(training, ",\"soft_share\":");
                ran_buf_double(training, file.soft_share);
        }
        ran_buf_char(training, '\0');
        if (training->failed)
                cmd_die(CMD_FAILED, "out of memory");
}

/* Searches for settings, and writes those that were found beside those that were given. */
static int tune(const struct ran_train_job *job, const struct cmd_program *program)
{
        struct ran_config better_config;
        struct ran_train_settings better;

        if (job->dev == NULL)
                cmd_die(CMD_FAILED, "--tune chooses settings by development data, and there are "
                                    "too few documents to hold some out: give --dev FILE");
        int status = train_tune(job, &run, cmd_was_set, &better_config, &better);
        if (status != CMD_OK)
                return status;
        cmd_set_changes(ran_train_fields, &better, &settings);
        cmd_set_changes(ran_config_fields, &better_config, &config);
        settings = better;
        config = better_config;
        cmd_write_set(program);
        return status;
}

static int replay(struct session *s, struct ran_train_job *job)
{
        train_replay_check(&s->replay, job);
        if (job->output == NULL)
                job->output = train_replay_output(&s->replay);
        int status = train_run(job, &run);
        return status == CMD_OK ? train_replay_compare(&s->replay, job->output) : status;
}

static int train(struct session *s, const struct cmd_program *program, const char *checkpoint)
{
        struct ran_buf training = {0};

        hold_out(s);
        choose_metric(s);
        choose_wide(s);
        tell_tags(s);
        size_t V = s->train.V > s->dev.V ? s->train.V : s->dev.V;
        struct ran_train_job job = {
                .config = &config,
                .settings = &settings,
                .train = &s->train.set,
                .dev = s->has_dev ? &s->dev.set : NULL,
                .held_out = s->held,
                .tokenizer = s->source.tokenizer,
                .V = s->source.V == any_id ? V : s->source.V,
                .output = file.output,
                .checkpoint = checkpoint,
                .checkpoint_seconds = 60 * run.checkpoint_minutes,
                .pool = s->pool,
                .ranks = train_ranks(),
                .threads = cmd_was_set("jobs") ? cmd_common.jobs : 0,
        };

        describe_data(s, &training);
        job.training = training.data;
        train_start_job(&s->start, &job);
        int status = other.dry_run          ? train_dry_run(&job)
                     : other.replay != NULL ? replay(s, &job)
                     : run.tune > 0         ? tune(&job, program)
                                            : train_run(&job, &run);
        ran_buf_release(&training);
        return status;
}

static int run_task(int task, const struct cmd_program *program, const struct preset *presets,
                    int argc, char **argv)
{
        struct session s = {.source = {.task = task, .input = &input, .V = any_id}};
        struct train_problems problems = {0};
        char *checkpoint = NULL;
        int status;

        for (struct cmd_group *g = groups; g->title != NULL; g++)
                preset_group(g, presets);
        char **files = cmd_files(&input, argv + cmd_parse(program, argc, argv));
        check_usage();
        open_replay(&s);
        choose_vocabulary();
        train_start_open(&s.start, &file.start, &config);
        check_config(task);
        cmd_check_inputs("output", file.output, files);
        cmd_check_inputs("log", run.log, files);
        cmd_check_inputs("dump-gradients", other.dump_gradients, files);
        if (!other.check && !other.dry_run && other.dump_gradients == NULL && file.output != NULL)
                checkpoint = train_run_prepare(&run, file.output, program, files);
        s.pool = s.source.pool = cmd_pool();
        s.source.keep = run.data_memory << 20;
        open_model(&s);
        open_vocabulary(&s);
        check_vocabulary(&s);
        cmd_names_open(&s.names, file.label_names, task == RAN_TASK_TAG);
        s.source.names = &s.names;
        if (other.dump_gradients != NULL)
                set_model_classes(&s);
        read_training(&s, files);
        if (file.dev != NULL)
                read_dev(&s);
        train_find_problems(&problems, &s.train, s.has_dev ? &s.dev : NULL,
                            input.on_error == CMD_ON_ERROR_SKIP);
        if (other.check) {
                status = check(&s, &problems);
        } else {
                refuse_problems(&problems);
                status = other.dump_gradients != NULL ? dump_gradients(&s)
                                                      : train(&s, program, checkpoint);
                if (status == CMD_OK && left_out(&s) && !input.errors_ok)
                        status = CMD_SOME_FAILED;
        }
        train_problems_release(&problems);
        free(checkpoint);
        release(&s);
        return cmd_finish(status);
}

/* ---- verbs ---------------------------------------------------------------------------------- */

/* What was better on development data of ten collections, see README: a wide path more than all
 * else, and pieces of words where documents are short, since few words of a new one are known then.
 */
static int classify(int argc, char **argv)
{
        static const struct preset presets[] = {
                {"task", "classify"}, {"vocab_type", "wordpiece"}, {"wide", "262144"},
                {"affixes", "true"},  {"refit", "true"},           {0},
        };

        return run_task(RAN_TASK_CLASSIFY, &classify_program, presets, argc, argv);
}

/* What was best on the development data of CoNLL-2003, see share/recipes. */
static int tag(int argc, char **argv)
{
        static const struct preset presets[] = {
                {"task", "tag"},    {"crf", "true"},          {"spelling", "16384"},
                {"dropout", "0.3"}, {"embed_dropout", "0.3"}, {"epochs", "20"},
                {"refit", "true"},  {"wide", "262144"},       {0},
        };

        return run_task(RAN_TASK_TAG, &tag_program, presets, argc, argv);
}

static int lm(int argc, char **argv)
{
        static const struct preset presets[] = {
                {"task", "lm"},      {"mask", "causal"},
                {"min_window", "1"}, /* a window must not depend on what follows */
                {"metric", "loss"},  {0},
        };

        return run_task(RAN_TASK_LM, &lm_program, presets, argc, argv);
}

static int mlm(int argc, char **argv)
{
        static const struct preset presets[] = {
                {"task", "mlm"},
                {"metric", "loss"},
                /* There is no end of gaps to fill: what is learned is not learned by heart. */
                {"dropout", "0"},
                {"embed_dropout", "0"},
                {"learning_rate", "0.002"},
                {"batch", "8"},
                {"shortlist", "4000"},
                {0},
        };

        return run_task(RAN_TASK_MLM, &mlm_program, presets, argc, argv);
}

static const struct cmd_verb verbs[] = {
        {"classify", "a classifier of documents, with one label each or several", classify},
        {"tag", "a tagger of words, which finds names and the like", tag},
        {"lm", "a language model, which scores texts and goes on with them", lm},
        {"mlm", "a model that fills gaps in texts, to begin other trainings with", mlm},
        {0},
};

int main(int argc, char **argv)
{
        if (!train_ranks_open())
                return train_ranks_follow();
        return train_ranks_close(cmd_run_verb("ran-train",
                                              "Trains models of long documents from JSON lines.",
                                              verbs, argc, argv));
}
