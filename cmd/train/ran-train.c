/* ran-train.c - trains a model from documents with labels, with a tag for each word, or from texts
 * alone. */
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__ /* as <stdlib.h> says */
#include <malloc.h>
#endif

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/records/loop.h"
#include "cmd/train/check/check.h"
#include "cmd/train/about/about.h"
#include "cmd/train/run/run.h"
#include "cmd/train/run/session.h"
#include "cmd/train/tasks.h"

/* ---- options -------------------------------------------------------------------------------- */

/* Restores all settings that can change the result from the model, except files. */
static void restore(struct train_options *o, struct train_session *s)
{
        struct train_file_options *file = &o->file;
        struct train_replay *r = &s->replay;

        if (o->mode.replay == NULL)
                return;
        train_replay_open(r, o->mode.replay, s->task->task);
        cmd_input_remember(&o->input, r->model);
        if (file->init.model == NULL)
                file->init.model = train_replay_find_init(r, file->base);
        train_replay_check_files(r, file->dev, file->init.model, file->init.vectors);
        train_replay_restore(r, train_file_fields, &o->file, false);
        train_replay_restore(r, ran_train_fields, &o->settings, true);
        train_replay_restore(r, ran_vocab_fields, &o->vocabulary, r->learned);
        o->config = r->config;
        cmd_set_all(ran_config_fields);
}

/* Word vectors need a vocabulary of words, and options for words want one instead of byte pairs,
 * unless the user set another type. */
static void choose_vocabulary(struct train_options *o)
{
        const struct train_init_options *init = &o->file.init;
        struct ran_vocab_settings *v = &o->vocabulary;
        bool words = init->vectors != NULL && !train_init_is_folder(init);
        struct ran_error err;

        for (const struct ran_field *f = ran_vocab_fields;
             v->vocab_type == RAN_VOCAB_BPE && f->name != NULL; f++)
                words |= cmd_was_asked(f->name) && strcmp(f->name, "vocab_size") != 0 &&
                         strcmp(f->name, "min_count") != 0 &&
                         (strcmp(f->name, "split_at") != 0 || v->split_at != RAN_SPLIT_GPT2);
        if (words && !cmd_was_set("vocab_type")) {
                v->vocab_type = RAN_VOCAB_WORD;
                for (const struct ran_field *f = ran_vocab_fields; f->name != NULL; f++)
                        if (strcmp(f->name, "vocab_type") != 0 && !cmd_was_set(f->name) &&
                            ran_field_init(ran_vocab_fields, f, v, &err) != RAN_OK)
                                cmd_die(CMD_FAILED, "%s", err.text);
        }
        if (init->vector_words > 0 && v->vocab_type != RAN_VOCAB_WORD)
                cmd_usage("--vector-words needs a vocabulary of words: --vocab-type word");
}

/* ---- what is done with the data ------------------------------------------------------------- */

static int run(struct train_session *s, char **files)
{
        const struct train_options *o = s->options;
        struct train_problems problems = {0}, warnings = {0};
        const struct train_checked checked = {
                .train = &s->train,
                .dev = s->has_dev ? &s->dev : NULL,
                .window = s->config.window,
                .problems = &problems,
                .warnings = &warnings,
        };
        int status;

        train_choose_dev_share(s);
        train_find_problems(&problems, &s->train, s->has_dev ? &s->dev : NULL,
                            o->input.on_error == CMD_ON_ERROR_SKIP);
        train_label_texts_find_problems(&problems, s);
        train_job_hold_out(s);
        train_find_warnings(&warnings, &s->train, s->has_dev ? &s->dev : NULL, files, o->file.dev,
                            s->dev.set.B, s->init.model, o->file.init.model);
        if (o->mode.check) {
                struct ran_buf out = {0};

                train_check(&checked, (enum train_check_form)o->mode.check_format, &out);
                cmd_write_file(NULL, &out);
                ran_buf_release(&out);
                status = problems.n > 0 ? CMD_DIVERGED : CMD_OK;
        } else {
                /* Before a training spends time. */
                for (size_t i = 0; o->mode.replay == NULL && i < warnings.n; i++)
                        cmd_caution("%s", warnings.sentence[i]);
                for (size_t i = 0; i < problems.n; i++)
                        cmd_warn("%s", problems.sentence[i]);
                if (problems.n > 0)
                        exit(CMD_FAILED);
                if (s->run.page != NULL)
                        train_check(&checked, TRAIN_CHECK_PAGE, &s->run.page->data);
                status = train_job_run(s);
                const struct cmd_counts *train = &s->train.counts, *dev = &s->dev.counts;
                const bool left_out = train->bad + train->passed + dev->bad + dev->passed > 0;
                if (status == CMD_OK && left_out && !o->input.errors_ok)
                        status = CMD_SOME_FAILED;
        }
        train_problems_release(&problems);
        train_problems_release(&warnings);
        return status;
}

/* ---- the program ---------------------------------------------------------------------------- */

#define ENTRY(number, name) [RAN_TASK_##number] = &train_task_##name,
static const struct train_task *const tasks[RAN_TASK_COUNT] = {RAN_VERB_TASKS(ENTRY)};

/* The verb of a task is its name. */
static int run_verb(int argc, char **argv)
{
        static struct train_options options;
        int number = 0;

        while (strcmp(ran_task_name(number), argv[0]) != 0)
                number++;
        const struct train_task *task = tasks[number];
        struct train_session s = {.task = task, .options = &options, .run.began = ran_clock()};

        train_options_init(&options, task);
        char **files = cmd_files(&options.input, argv + cmd_parse(&options.program, argc, argv));
        train_options_check(&options);
        restore(&options, &s);
        choose_vocabulary(&options);
        cmd_parallel_check_output(&options.parallel, "output", options.file.output);
        cmd_parallel_check_output(&options.parallel, "log", options.run.log);
        files = cmd_parallel_begin(&options.parallel, true, false, files);
        train_session_open(&s, files);
        train_session_read(&s, files);
        int status = run(&s, files);
        train_session_release(&s);
        return cmd_finish(status);
}

static const struct cmd_verb verbs[] = {
        {"classify", "train a classifier of documents, with one label each or several", run_verb},
        {"tag", "train a tagger of words, to find names and the like", run_verb},
        {"lm", "train a language model, to score texts and generate continuations", run_verb},
        {"mlm", "train a masked language model, to initialise other models", run_verb},
        {"distil", "distil a pretrained encoder into vectors of tokens", train_distil},
        {"info", "say what a model is, and how well it did", train_info},
        {"diff", "say how two models differ", train_diff},
        {"convert", "store the weights of a model in fewer bits", train_convert},
        {"import", "make a model of a pretrained encoder, a folder", train_import},
        {0},
};

int main(int argc, char **argv)
{
        /* Returns what is freed to the system. The GNU C library otherwise learns from the first
         * large block that is freed to keep such blocks, up to 64 MB for each thread: what one
         * phase of a training has freed would stay beside what the next one takes. */
#ifdef __GLIBC__
        mallopt(M_MMAP_THRESHOLD, 1 << 20);
        mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
        if (!train_ranks_open())
                return train_ranks_follow();
        return train_ranks_close(cmd_run_verb("ran-train",
                                              "Trains models of long documents from JSON lines.",
                                              verbs, argc, argv));
}
