/* options-check.c - checks that options of ran-train do not conflict. */
#include "cmd/options/message.h"
#include "cmd/options/was-set.h"
#include "cmd/train/options.h"

/* ---- --replay ------------------------------------------------------------------------------- */

static void refuse_settings(const struct ran_field *fields)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++)
                if (!f->local && cmd_was_set(f->name))
                        cmd_usage("--replay takes the settings of the model: leave out \"%s\"",
                                  f->name);
}

static void check_replay(const struct train_options *o)
{
        const struct train_run_options *run = &o->run;

        if (o->mode.replay == NULL)
                return;
        refuse_settings(train_file_fields);
        refuse_settings(ran_train_fields);
        refuse_settings(ran_config_fields);
        refuse_settings(ran_vocab_fields);
        if (o->file.vocab != NULL || o->file.no_dev || run->tune > 0)
                cmd_usage("--replay takes the settings of the model: leave out --vocab, --no-dev "
                          "and --tune");
        if (run->pretrain_minutes > 0)
                cmd_usage("--replay makes the steps of the model, whatever the time: leave out "
                          "--pretrain-minutes");
        if (run->minutes > 0)
                cmd_usage("--replay makes the steps of the model, whatever the time: leave out "
                          "--minutes");
        if (o->file.output == NULL && (run->resume || run->log != NULL))
                cmd_usage("--replay writes nothing without -o FILE: leave out --resume and --log");
}

/* ---- --dump-gradients ----------------------------------------------------------------------- */

/* Nothing is trained, and the model supplies all settings. */
static void check_dump(const struct train_options *o)
{
        static const char why[] = "--dump-gradients takes a model as it is";
        static const char *const others[] = {
                "output",  "dev",      "no_dev",           "dev_share", "dev_group",
                "tune",    "minutes",  "resume",           "log",       "overwrite_checkpoint",
                "weights", "pretrain", "pretrain_minutes", NULL};
        const struct train_file_options *file = &o->file;
        bool dump = o->mode.dump_gradients != NULL;

        if (o->mode.model != NULL && !dump)
                cmd_usage("--model is for --dump-gradients; the output is -o FILE");
        if (dump && o->mode.model == NULL)
                cmd_usage("--dump-gradients needs a model: give -m FILE");
        if (dump && (file->init.model != NULL || file->init.vectors != NULL))
                cmd_usage("--dump-gradients takes the weights of its model: leave out --init and "
                          "--vectors");
        if (dump && file->vocab != NULL)
                cmd_usage("--dump-gradients takes the vocabulary of its model: leave out --vocab");
        cmd_excludes(dump, why, others);
        cmd_excludes_fields(dump, why, ran_train_fields);
        cmd_excludes_fields(dump, why, ran_config_fields);
        cmd_excludes_fields(dump, why, ran_vocab_fields);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Options that only refine another one would be ignored without it. */
static void check_requires(const struct train_options *o)
{
        static const char *const of_check[] = {"check_format", NULL};
        static const char *const of_dump[] = {"dump_documents", NULL};
        static const char *const of_soft[] = {"soft_share", NULL};
        static const char *const of_vectors[] = {"vectors_rms", NULL};

        cmd_requires(o->mode.check, "--check", of_check);
        cmd_requires(o->mode.dump_gradients != NULL, "--dump-gradients FILE", of_dump);
        cmd_requires(o->file.soft_label != NULL, "--soft-label MEMBER", of_soft);
        cmd_requires(o->file.init.vectors != NULL, "--vectors FILE", of_vectors);
}

static void check_mode(const struct train_options *o)
{
        const struct train_mode_options *mode = &o->mode;
        bool dump = mode->dump_gradients != NULL, replay = mode->replay != NULL;

        if (mode->check + mode->dry_run + dump + replay > 1)
                cmd_usage("--check, --dry-run, --dump-gradients and --replay exclude each other");
        check_replay(o);
        if (!mode->check && !mode->dry_run && !dump && !replay && o->file.output == NULL)
                cmd_usage("no output file: give -o MODEL");
        check_dump(o);
}

static void check_report(const struct train_options *o)
{
        const struct train_mode_options *mode = &o->mode;

        if (o->run.report == NULL)
                return;
        if (o->run.tune > 0)
                cmd_usage("--report is of one training: leave out --tune, and train again with the "
                          "settings that it finds");
        if (mode->check || mode->dry_run || mode->dump_gradients != NULL ||
            (mode->replay != NULL && o->file.output == NULL))
                cmd_usage("--report is of a training that writes a model: leave it out");
}

/* The folder has its vocabulary. */
static void check_folder(const struct train_options *o)
{
        const char *name = o->file.init.vectors;

        if (o->file.vocab != NULL || o->file.init.vector_words > 0)
                cmd_usage("the vocabulary is %s/tokenizer.json: leave out --vocab and "
                          "--vector-words",
                          name);
        cmd_excludes_fields(true, "the vocabulary is that of --vectors", ran_vocab_fields);
}

static void check_init(const struct train_options *o)
{
        const struct train_init_options *init = &o->file.init;

        if (o->settings.freeze && init->model == NULL && init->vectors == NULL)
                cmd_usage("--freeze needs --vectors or --init");
        if (o->config.frozen && init->model == NULL && o->mode.replay == NULL)
                cmd_usage("--frozen needs an encoder: give --init MODEL, such as --init english");
        if (init->vector_words > 0 && init->vectors == NULL)
                cmd_usage("--vector-words needs --vectors FILE");
        if (train_init_is_folder(init))
                check_folder(o);
        if (init->vector_words > 0 && o->file.vocab != NULL)
                cmd_usage("--vector-words is for a learned vocabulary: leave out --vocab");
}

static void check_dev(const struct train_options *o)
{
        const struct train_file_options *file = &o->file;

        if (file->no_dev && file->dev != NULL)
                cmd_usage("--no-dev and --dev exclude each other");
        if (file->no_dev && cmd_was_asked("dev_share") && file->dev_share > 0)
                cmd_usage("--no-dev is --dev-share 0: leave out one of them");
        bool held_out = file->dev == NULL && !file->no_dev && file->dev_share > 0;
        if (file->dev_group != NULL && !held_out)
                cmd_usage("--dev-group is for documents that are held out: leave out %s",
                          file->dev != NULL ? "--dev"
                          : file->no_dev    ? "--no-dev"
                                            : "--dev-share 0");
        if (o->run.tune > 0 && file->dev == NULL && !held_out)
                cmd_usage("--tune compares settings on validation documents: give --dev FILE, or "
                          "hold "
                          "some out");
}

void train_options_check(struct train_options *o)
{
        check_mode(o);
        check_report(o);
        check_init(o);
        check_requires(o);
        if (o->run.minutes > 0 && o->run.tune > 0)
                cmd_usage("--minutes is for one training, and --tune MINUTES for a search: leave "
                          "out one of them");
        if (o->run.resume && o->run.overwrite_checkpoint)
                cmd_usage("--resume and --overwrite-checkpoint exclude each other");
        check_dev(o);
        if (o->file.no_dev)
                o->file.dev_share = 0;
}
