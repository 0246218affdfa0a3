/* about.h - what a model, a checkpoint or a vocabulary says about itself, and the verbs that train
 * nothing. */
#ifndef CMD_TRAIN_ABOUT_ABOUT_H
#define CMD_TRAIN_ABOUT_ABOUT_H

#include <cjson/cJSON.h>

#include "cmd/pages/report.h"
#include "cmd/records/loop.h"

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
        struct ran_tokenizer *own;  /* of a vocabulary */
        struct ran_buf settings;    /* all settings of the model as a JSON object */
        struct ran_record config;   /* the same, scanned */
        struct ran_record training; /* its members, for machines; as trees, or NULL: */
        cJSON *said, *pretrained;   /* of the training, of an encoder of others */
        struct ran_model_part part[RAN_MODEL_PARTS];
        size_t parts;
        struct about_figure figure;
        bool tried; /* an encoder that was left out */
};

/* Reads a file; exits with 3 if it is none of these. */
void train_about_open(struct about *a, const char *path);
void train_about_release(struct about *a);

/* Of an object, which may be NULL, the member at a path: "train.documents"; NULL: none. As a
 * number, else 0; as a whole number from 0, else 0; as a string, else NULL. */
const cJSON *train_about_member(const cJSON *object, const char *path);
double train_about_number(const cJSON *object, const char *path);
size_t train_about_count(const cJSON *object, const char *path);
const char *train_about_string(const cJSON *object, const char *path);

/* ---- an encoder that others trained (pretrained.c) ---------------------------------------- */

/* Appends the name and licence of an encoder, as far as they are known. */
void train_pretrained_name(const cJSON *said, struct ran_buf *out);
/* Appends what the encoder is: name, type, layers, window, pooling, licence. */
void train_pretrained_say(const struct about *a, struct ran_buf *out);

/* ---- all of it (info.c) ------------------------------------------------------------------- */

/* Adds the members of its object, and what people are told of them. */
void train_info_members(const struct about *a, struct report *r);
/* Adds a result on validation documents: the members of an object, and the cells of a row. */
void train_info_figure(const struct about_figure *f, struct report *r);

/* ---- n-grams of labels (top.c) ------------------------------------------------------------ */

struct train_top_options {
        size_t top;            /* 0: none */
        struct ran_list texts; /* files to find n-grams in; none: the vocabulary */
        struct cmd_input input;
};

/* Reads the texts and adds the n-grams to a report, as its member "top". Exits if the model has
 * none. Adds the status of records that could not be read to *status. */
void train_top_add(const struct train_top_options *o, const struct ran_model *m, const char *path,
                   struct report *r, int *status);

/* ---- verbs -------------------------------------------------------------------------------- */

enum { TRAIN_INFO_TEXT, TRAIN_INFO_JSON };
extern const char *const train_info_formats[];

/* main of `ran-train info FILE...`. */
int train_info(int argc, char **argv);
/* main of `ran-train diff A B`. */
int train_diff(int argc, char **argv);

/* The help of --weights, wherever a model is written. */
#define TRAIN_WEIGHTS_HELP                                                                     \
        "how the model stores its weights: in 32 bits, in 16, or in 8 with a scale a row, in " \
        "half "                                                                                \
        "or a quarter of the size"

int train_convert(int argc, char **argv);

int train_import(int argc, char **argv);

/* ---- times, counts and rates as people read them (amount.c) ------------------------------- */

/* "0:12:40"; the buffer is large enough for any time. */
const char *train_duration(char text[32], double seconds);
/* "81.2k", "1.2M": three or four digits, for counts and rates. */
const char *train_amount(char text[32], double x);

#endif
