/* session.h - the inputs of a run of ran-train: models, a vocabulary, the data, and the settings
 * that follow from them. */
#ifndef CMD_TRAIN_RUN_SESSION_H
#define CMD_TRAIN_RUN_SESSION_H

#include "cmd/content/names.h"
#include "cmd/train/run/options.h"
#include "cmd/train/run/replay.h"

/* Zero-initialise but for the tasks and the options. */
struct train_session {
        const struct train_task *task;
        const struct train_options *options;
        /* The settings of the options, changed by --init, the data and --dump-gradients. */
        struct ran_config config;
        struct ran_train_settings settings;
        struct ran_vocab_settings vocabulary; /* owns nothing */
        struct ran_pool *pool;
        struct ran_model *model; /* of --dump-gradients, else NULL */
        struct train_replay replay;
        struct train_init init;
        struct train_init_options base; /* of init, if it is a base model */
        struct train_run run;
        struct ran_vector_cache *vectors; /* of a frozen pretrained encoder, else NULL */
        struct ran_vector_cache *below;   /* of one of which some layers stay, else NULL */
        struct ran_tokenizer *tokenizer;  /* of our own; NULL: the model's, or none */
        bool learned;                     /* it is learned from the training data */
        struct train_source source;
        struct cmd_names names; /* of labels or tags that are numbers */
        struct train_data train, dev;
        double dev_share; /* of the documents to hold out: unjudged.h */
        bool *held_out;   /* (B of train) documents copied to dev; NULL: dev has other documents */
        bool has_dev;
        struct ran_label_texts *label_texts; /* of --label-texts, or NULL */
        float *label_vectors;                /* (C, width) of descriptions, or NULL */
};
/* Opens the files of the options, and checks that the output can be written, before any data are
 * read. files: the training data. */
void train_session_open(struct train_session *s, char **files);
/* Reads the data. */
void train_session_read(struct train_session *s, char **files);
void train_session_release(struct train_session *s);

#endif
