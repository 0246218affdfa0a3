/* about.h - what a model, a checkpoint or a vocabulary says about itself. */
#ifndef CMD_TRAIN_ABOUT_ABOUT_H
#define CMD_TRAIN_ABOUT_ABOUT_H

#include <cjson/cJSON.h>

#include "ran.h"

enum about_kind { ABOUT_MODEL, ABOUT_CHECKPOINT, ABOUT_VOCABULARY };

/* A figure of a model: its result on n documents, and the interval where one is known. */
struct about_figure {
        const char *metric; /* "accuracy"; NULL: there is none */
        double value;
        struct ran_interval interval;
        size_t n;        /* validation documents */
        double baseline; /* with an accuracy: that of the most frequent label; NaN: unknown */
        bool has_interval;
};

/* Members that a file does not have are 0, or NULL. */
struct about {
        const char *path;
        enum about_kind kind;
        size_t bytes;
        struct ran_model *model; /* NULL: a vocabulary */
        const struct ran_tokenizer *tokenizer;
        struct ran_tokenizer *own;      /* of a vocabulary */
        struct ran_buf settings;        /* all settings of the model as a JSON object */
        struct ran_record config;       /* the same, scanned */
        struct ran_record training;     /* its members, for machines; as trees, or NULL: */
        cJSON *said, *set, *pretrained; /* of the training, of settings, of an encoder of others */
        struct ran_model_part part[RAN_MODEL_PARTS];
        size_t parts;
        size_t trained, refitted, validated; /* documents */
        size_t best_epoch, calibrated;
        struct about_figure figure;
        bool ensemble, tried;
        bool held_out; /* the validation documents are some of the training documents */
        double encoder, linear, cost; /* ensemble weights; C of the linear model */
        double dense;                 /* scale of its document vectors beside the n-grams */
};

/* Reads a file; exits with 3 if it is none of these. */
void train_about_open(struct about *a, const char *path);
void train_about_release(struct about *a);

/* "linear model only", "encoder only" or "encoder and linear model"; "" for a language model. */
const char *train_about_parts(const struct about *a);
/* The name of the encoder, of one that was tried and dropped, too: "ran". */
const char *train_about_encoder(const struct about *a);
/* Why there is no encoder although one was asked for, a sentence; else NULL. */
const char *train_about_decision(const struct about *a);
/* Whether the path is a folder. */
bool train_about_is_folder(const char *path);
/* The kind of the vocabulary, as in its file: "WordPiece". */
void train_about_vocabulary(const struct about *a, struct ran_buf *out);

/* A member that is a number, else 0; that is a string, else NULL. The object may be NULL. */
double train_about_number(const cJSON *object, const char *name);
const char *train_about_string(const cJSON *object, const char *name);

#endif
