/* options.h - the options of ran-train. */
#ifndef CMD_TRAIN_RUN_OPTIONS_H
#define CMD_TRAIN_RUN_OPTIONS_H

#include "cmd/options/options.h"
#include "cmd/records/loop.h"
#include "cmd/train/run/init.h"
#include "cmd/train/run/run.h"
#include "cmd/train/read/task.h"

struct train_file_options {
        char *output, *vocab, *dev, *dev_group, *label_names, *label_texts, *soft_label;
        char *weight_member; /* NULL: weight; "none": there is none */
        int dev_format;
        struct ran_list threshold_for;
        struct train_init_options init;
        char *vector_cache;
        char *base; /* name of a base model, or NULL */
        double dev_share, soft_share;
        bool no_dev, dev_alike;
        int weights; /* RAN_STORAGE_... */
};

struct train_mode_options {
        bool check, dry_run;
        int check_format; /* enum train_check_form */
        char *replay;
        bool find_wrong_labels;
        size_t folds, suspects;
        int suspects_format; /* by train_suspects_formats */
};

/* All options of a run. After train_options_check and, with --replay, train_replay_restore
 * nothing changes them: the session has the settings that data and models decide. */
struct train_options {
        struct train_file_options file;
        struct cmd_parallel parallel;
        struct cmd_input input;
        struct ran_train_settings settings;
        struct train_run_options run;
        struct ran_config config;
        struct ran_vocab_settings vocabulary;
        struct train_mode_options mode;
        /* How they are read, and written again. */
        struct cmd_group groups[9];
        struct cmd_program program;
};
extern const struct ran_field train_file_fields[];

/* The table with other defaults, for as long as the program runs; verbs: of all of its options, or
 * NULL. What few set is among keys. */
const struct ran_field *train_options_preset(const struct ran_field *fields,
                                             const struct train_preset *presets, const char *verbs);
/* Makes o->program, with the presets of the task; then o can be parsed. o is static, see cmd_group.
 */
void train_options_init(struct train_options *o, const struct train_task *task);
/* Makes o, a copy of other options, a program of its own: for cmd_write_set. */
void train_options_rebase(struct train_options *o);
/* Exits with 2 if options contradict each other. */
void train_options_check(struct train_options *o);

#endif
