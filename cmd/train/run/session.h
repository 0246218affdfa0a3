/* session.h - the inputs of a run of ran-train: models, a vocabulary, the data, and the settings
 * that follow from them. */
#ifndef CMD_TRAIN_RUN_SESSION_H
#define CMD_TRAIN_RUN_SESSION_H

#include "cmd/content/labels.h"
#include "cmd/train/check/check.h"
#include "cmd/train/run/options.h"
#include "cmd/train/run/replay.h"

/* Zero-initialise but for the tasks and the options. */
struct train_session {
        const struct train_task *task;
        const struct train_options *options;
        /* The settings of the options, changed by --init and the data. */
        struct ran_config config;
        struct ran_train_settings settings;
        struct ran_vocab_settings vocabulary; /* owns nothing */
        struct ran_pool *pool;
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
        double dev_share; /* of the documents to hold out */
        bool *held_out;   /* (B of train) documents copied to dev; NULL: dev has other documents */
        size_t known;     /* of these, the model of --init was trained on so many, */
        bool judged_by_known; /* which are held out, as too few others are left */
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
/* For data that have sources and targets where nobody set a mask: the mask prefix, and the defaults
 * of such records for what is not set; names them. */
void train_pairs_adapt(struct train_session *s);

/* ---- base.c ---------------------------------------------------------------------------------- */

/* Whether an option asks for an encoder, or says how to train it. *setting, unless that is NULL:
 * the first that describes one to be trained from the start, NULL: there is none. */
bool train_encoder_setting(const struct train_session *s, const struct ran_field **setting);
/* Exits with 2 if other options rule --base out. */
void train_base_check(const struct train_session *s);
/* Before the data are read: whether a base model may be used. Exits with 3 if --base names one that
 * is not there. */
bool train_base_may_serve(const struct train_session *s);
/* For struct train_source: when the words of the documents are known, opens the base model as
 * s->init and adapts the settings of the session (arg) and the spelling to it, if they are few and
 * of its language. Returns its vocabulary, or NULL. */
const struct ran_tokenizer *train_base_take(void *arg, const struct train_counted *counted,
                                            size_t *spelling);

/* ---- label-texts.c --------------------------------------------------------------------------- */

/* Before the data are read: opens the file of --label-texts, whose labels are those of the data. */
void train_label_texts_open(struct train_session *s);
/* The vectors of the descriptions, for the job. Exits if --label-texts names a file and the
 * training has no vectors of documents. */
void train_label_texts_job(struct train_session *s, struct ran_train_job *job);
/* Documents without labels: what cannot be done with them; how many each label got. */
void train_label_texts_find_problems(struct train_problems *problems,
                                     const struct train_session *s);
void train_label_texts_tell(const struct train_session *s);

/* ---- thresholds.c ---------------------------------------------------------------------------- */

/* Exits with 2 for an item that is not LABEL=recall:X or LABEL=precision:X. */
void train_thresholds_check(const struct ran_list *items);
/* Whether the models of the folds have an encoder to train: they have no validation documents, and
 * so none that nobody asked for. */
bool train_thresholds_train_encoder(const struct train_session *s);
/* Finds them by out-of-fold probabilities of the training documents, says what they reach, and
 * appends them as the member "decisions". Nothing without items. Returns CMD_OK, or how the program
 * ends if a signal ended it; exits for what cannot be reached. */
int train_thresholds_find(const struct train_session *s, const struct ran_train_job *job,
                          struct ran_buf *about);

/* ---- wrong-labels.c -------------------------------------------------------------------------- */

/* What the program gives of a document, for the formats. */
#define GIVES_RECORDS(...) __VA_ARGS__
#define GIVES_LABELS(...)
#define GIVES_TAGS(...)
#define GIVES_TASKS(...)
#define GIVES_ROWS(...) __VA_ARGS__
#define GIVES_VECTORS(...)
#define GIVES_PAGE(...)
/* The words of --suspects-format, NULL at the end. */
extern const char *const train_suspects_formats[];

/* Trains models of this job on all folds but one, judges the labels of the fold by each, and writes
 * the suspects to standard output. Returns the status of the program. */
int train_find_wrong_labels(const struct train_session *s, const struct ran_train_job *job);

/* ---- job.c ----------------------------------------------------------------------------------- */

/* Validation documents: fewer stop a pretrained encoder too early, or leave it out, by chance.
 * Measured, see share/experiments. */
enum { TRAIN_FEW = 50 };
/* When the training data are read: s->dev_share, that of --dev-share, or 0. */
void train_choose_dev_share(struct train_session *s);
/* Trains, or does a dry run, a replay or a search; returns the exit status. */
int train_job_run(struct train_session *s);
/* Before: holds documents out for validation, in s->dev.set. */
void train_job_hold_out(struct train_session *s);

#endif
