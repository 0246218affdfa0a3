/* ran/train.h - data sets, training, searching for settings. Conventions: ran.h. */
#ifndef RAN_RAN_TRAIN_H
#define RAN_RAN_TRAIN_H

#include "ran/model.h"
#include "ran/eval.h"

/* ---- training (train/) ---------------------------------------------------------------------- */

/* Documents ready to train on or to be evaluated (train/dataset.c, split.c). Zero-initialise; call
 * _set_classes where the classes are known already (development data, a model's own); _label and
 * _add for each document; _finish. The members may be read from then on. */
struct ran_dataset {
        size_t B;            /* documents */
        uint32_t *ids;       /* all documents, one after another */
        size_t *first;       /* (B+1) where each begins in ids */
        uint32_t *labels;    /* all labels, one after another; ascending within a document */
        size_t *label_first; /* (B+1) where those of a document begin */
        uint32_t *positions; /* tagging, else NULL: as labels, the token of its document that each
                              * is of;   mlm: the first token of each word, and all labels are 0 */
        uint32_t *sources;   /* (B) language models, else NULL: leading ids that are source */
        uint32_t *spelling;  /* or NULL: as ids, RAN_SPELLING each */
        bool *begins;        /* as positions: the word is the first of a sentence */
        float *weight;       /* (B) */
        /* Or NULL: soft targets, which replace the labels in training:
         * soft[i] is the probability of class soft_labels[i], ascending within a document, from
         * soft_first[b] on. A document without any keeps its labels. */
        uint32_t *soft_labels;
        float *soft;
        size_t *soft_first; /* (B+1) */
        bool *guessed;      /* (B) its labels are what its target says: nobody gave them */
        uint64_t *group;    /* (B) or NULL: those of equal numbers are in one part of any split */
        char **names;       /* (C) label names, ordered by their bytes; shared with nobody */
        size_t C;
        bool multilabel; /* records hold "labels": set by the caller */
        bool given; /* mlm: positions are masked tokens, and labels what stood there: set by the
                       caller */
        char digest[65]; /* SHA-256 of what was read, in order: set by the caller */
        /* Where the arrays lie that grow with the documents and may be larger than memory. */
        struct {
                struct ran_spool ids, first, labels, label_first, positions, begins, spelling,
                        sources, weight, soft_labels, soft, soft_first, guessed, group;
        } spool;
        size_t keep; /* bytes of each that stay in memory; 0: RAN_SPOOL_KEEP */
        /* While it is built. */
        bool fixed;                    /* the classes were given */
        struct ran_known_names *known; /* to find a class by its name; NULL: there is none yet */
        size_t names_cap;
};
/* A label that the given classes do not have: no answer is right for it. Never in training data. Of
 * the labels of a document these come last, and each counts. */
#define RAN_LABEL_UNKNOWN UINT32_MAX
/* Copies the names, ordered by their bytes or as a model has them; labels of any other name become
 * RAN_LABEL_UNKNOWN. Before the first _label. */
int ran_dataset_set_classes(struct ran_dataset *d, char *const *names, size_t C,
                            struct ran_error *err);
/* The class of a label name; a new one when it never turned up and the classes were not given.
 * A name cannot hold U+0000. */
int ran_dataset_label(struct ran_dataset *d, const char *name, size_t n, uint32_t *label,
                      struct ran_error *err);
/* Appends a document of L ids. A class that it names twice counts once. */
int ran_dataset_add(struct ran_dataset *d, const uint32_t *ids, size_t L, const uint32_t *labels,
                    size_t n, double weight, struct ran_error *err);
/* Gives the document that was added last a soft target: probabilities p (n) of the classes labels
 * (n), no class twice; n 0: none. All documents, or none. */
int ran_dataset_soft_target(struct ran_dataset *d, const uint32_t *labels, const float *p, size_t n,
                            bool guessed, struct ran_error *err);
/* Says to which group the document that was added last belongs: that of n bytes, or, n 0, one of
 * its own. All documents, or none. */
int ran_dataset_group(struct ran_dataset *d, const char *name, size_t n, struct ran_error *err);
/* Appends a document for tagging: word i stands at token positions[i] (ascending) and has the tag
 * tags[i]. A dataset holds documents of one kind. */
int ran_dataset_add_words(struct ran_dataset *d, const uint32_t *ids, size_t L,
                          const uint32_t *positions, const uint32_t *tags, size_t n, double weight,
                          struct ran_error *err);
/* Appends a document for a language model: it reads L - 1 ids, and predicts those from the second
 * one on that are not among the first `sources`. RAN_EINVAL when there is none to predict. */
int ran_dataset_add_text(struct ran_dataset *d, const uint32_t *ids, size_t L, size_t sources,
                         double weight, struct ran_error *err);
/* Makes the document that was added last, for tagging, longer by a sentence. Its weight stays. */
int ran_dataset_continue(struct ran_dataset *d, const uint32_t *ids, size_t L,
                         const uint32_t *positions, const uint32_t *tags, size_t n,
                         struct ran_error *err);
/* Gives the L tokens that were added last their spelling (L, RAN_SPELLING): all documents, or none.
 */
int ran_dataset_spell(struct ran_dataset *d, const uint32_t *spelling, size_t L,
                      struct ran_error *err);
/* Document b, to be read; good until the next _add. */
struct ran_document ran_dataset_document(const struct ran_dataset *d, size_t b);
size_t ran_dataset_guessed(const struct ran_dataset *d); /* documents of which labels are guessed */
/* Orders the classes that turned up by the bytes of their names, and renumbers the labels.
 * RAN_EINVAL for a label that is none of them. */
int ran_dataset_finish(struct ran_dataset *d, struct ran_error *err);
/* Marks a share of the documents of d (finished) in held_out (B), and copies them to dev (zeroed),
 * in order: about that share of each class and exactly that share in all, but never the last
 * document of a class. Which ones depends on the seed and on a document's place in d alone. With
 * several labels a document, the share is of all. Documents whose labels are guessed are left out
 * of this, unless all are; the copies have no soft target. Where documents have groups, whole
 * groups are held out: about that share of the documents, of whatever class, but never the last
 * group of a class. After a failure dev holds a part, and is to be released. */
int ran_dataset_split(const struct ran_dataset *d, double share, uint64_t seed, bool *held_out,
                      struct ran_dataset *dev, struct ran_error *err);
void ran_dataset_release(struct ran_dataset *d);

enum { RAN_SCHEDULE_CONSTANT, RAN_SCHEDULE_LINEAR, RAN_SCHEDULE_COSINE };
enum { RAN_METRIC_ACCURACY, RAN_METRIC_MICRO_F1, RAN_METRIC_MACRO_F1, RAN_METRIC_LOSS };
enum { RAN_WEIGHTS_NONE, RAN_WEIGHTS_BALANCED };
enum { RAN_RATIOS_AUTO, RAN_RATIOS_YES, RAN_RATIOS_NO };

/* Settings of training that can change its result; with ran_config they are the `training` of the
 * model file. */
struct ran_train_settings {
        size_t epochs, batch, bptt, patience, seed;
        double learning_rate, min_learning_rate, warmup, weight_decay, clip;
        double beta1, beta2, epsilon;
        double dropout, embed_dropout, word_dropout, label_smoothing;
        double vectors_rms; /* root mean square that `vectors` of the job are scaled to; 0: as is */
        double init_rate;   /* factor of the learning rate, for weights from `init` of the job */
        double wide_cost;   /* C of the linear model, see train/svm.h; 0: chosen */
        bool refit;         /* after the best epoch is known, learn from held-out documents, too */
        bool freeze;        /* the rows of the embedding that `vectors` or `init` bring stay */
        int schedule, metric, class_weights, wide_ratios;
};
extern const struct ran_field ran_train_fields[];
/* Checks the range of each setting, and what no single one can know: what the model is. */
int ran_train_settings_check(const struct ran_train_settings *s, const struct ran_config *config,
                             struct ran_error *err);

struct ran_train_report {
        enum {
                RAN_REPORT_LINEAR, /* the linear model is being fitted: step is the pass */
                RAN_REPORT_STEP,   /* an epoch is at work until here */
                RAN_REPORT_DEV,
                RAN_REPORT_CHECKPOINT,
                RAN_REPORT_KEPT,  /* the best epoch is known, and whether its encoder counts: `best`
                                     is of that, and may be lower than before */
                RAN_REPORT_REFIT, /* refitting on all documents begins */
                RAN_REPORT_END
        } event;
        bool refit;                        /* the report is of the refit */
        size_t epoch, epochs, step, steps; /* from 1 */
        double loss;                       /* of the last steps, smoothed; of dev for REPORT_DEV */
        double learning_rate, gradient_norm;
        size_t tokens;  /* trained on so far in this run */
        double seconds; /* of this run so far */
        double tokens_per_second, eta_seconds;
        double accuracy, micro_f1, macro_f1; /* REPORT_DEV */
        double metric, best;                 /* of the dev set, larger is better (loss: negated) */
        size_t best_epoch, stale;            /* epochs since the best */
        uint64_t moved;                      /* bytes between this rank and others so far */
        bool improved;
        bool first_encoder; /* with REPORT_END: the refit made it worse, so the first encoder is
                               kept */
        bool linear_only;   /* with REPORT_KEPT and later: the encoder did not help, only the linear
                               model is used */
        bool no_encoder;    /* there is none: epochs and steps say nothing */
};

/* Processes that train one model together (train/ranks.h). NULL stands for one that is alone. */
struct ran_ranks;
/* Those that a launcher (mpirun) started this process among; *ranks NULL: it was not. Fails where
 * they cannot work together, RAN_EINVAL where this library was built without MPI: the sentence is
 * for one of them to say, others have an empty one. stopped: whether a signal asks this process to
 * end; or NULL. */
int ran_ranks_open(struct ran_ranks **ranks, int (*stopped)(void), struct ran_error *err);
/* The last thing of all. Rank 0 sends the others home; where that is not possible any more it ends
 * them, and this process too, with that status. */
void ran_ranks_close(struct ran_ranks *ranks, int status);
size_t ran_ranks_me(const struct ran_ranks *ranks); /* from 0: reads, decides, reports and saves */
size_t ran_ranks_count(const struct ran_ranks *ranks);

struct ran_train_job {
        const struct ran_config *config;
        const struct ran_train_settings *settings;
        const struct ran_dataset *train, *dev; /* dev NULL or empty: the last epoch is kept; else it
                                                  has the classes of train */
        const bool *held_out; /* (B) documents of train that dev has, not to be trained on until
                             the settings say `refit`; NULL: none */
        const struct ran_tokenizer
                *tokenizer; /* goes into the model; NULL: ids only, then V says how many */
        size_t V;
        /* Initial weights; NULL: random. init: tensors of the same name and shape, those of
         * the head only where ran_train_keeps_head, and the embedding, which must fit. */
        const struct ran_embedding *vectors;
        const struct ran_model *init;
        const char *output;        /* model file; written when training is complete, never before;
                                      NULL: none */
        const char *checkpoint;    /* output.ckpt; NULL: none */
        double checkpoint_seconds; /* how often to write it; also whenever the caller ends a run */
        bool resume;
        const char *training; /* JSON members that the caller wants in `training`, or NULL */
        struct ran_pool *pool;
        /* Rank 0 hands the job to the others, which wait in ran_train_follow; the model is the same
         * for any number of them. threads: of each of them; 0: as many as it has processors. */
        struct ran_ranks *ranks;
        size_t threads;
        /* Called now and then, or NULL; a value other than 0 ends training with RAN_EINTR, after a
         * checkpoint if the job has one (still: the caller may have taken it away meanwhile). */
        int (*report)(void *arg, const struct ran_train_report *report);
        void *arg;
};
/* RAN_EINVAL where settings or documents do not fit the model: documents of another task or without
 * tokens, ids beyond V, labels that are no class, words at no token. */
int ran_train(const struct ran_train_job *job, struct ran_error *err);
/* What ranks other than 0 do, until rank 0 closes. Fails when it has lost the others, or what was
 * to be done could not be done here: then its sentence has to be said, and closing ends all. */
int ran_train_follow(struct ran_ranks *ranks, struct ran_error *err);
/* Everything that can change the result of a job, as JSON members `"training":{...},"config":{...},
 * "vocabulary":...`: the same text means the same model. */
void ran_train_describe(const struct ran_train_job *job, struct ran_buf *out);
/* Whether two such texts, or two of the member "training", are of the same run, whichever version
 * of the library wrote them: a new version resumes what an old one began. */
bool ran_train_same_run(const char *a, size_t a_n, const char *b, size_t b_n);
/* Whether the head of `init` serves, too: same encoder, task and classes. */
bool ran_train_keeps_head(const struct ran_train_job *job);
/* Loss and gradients of the first batch (the documents in order, no dropout, no shuffling) as a
 * safetensors file: "loss" (F64, 1) and "grad.NAME" for each tensor. Weights untouched. */
int ran_dump_gradients(const char *model, const struct ran_dataset *data, size_t documents,
                       struct ran_pool *pool, const char *output, struct ran_error *err);
/* Bytes that training will need at most, and parameters, for --dry-run. */
struct ran_train_estimate {
        size_t parameters, embedding_parameters, bytes, steps;
        double flops; /* of one epoch */
};
int ran_train_estimate(const struct ran_train_job *job, struct ran_train_estimate *e,
                       struct ran_error *err);

/* A search for better settings (train/search.c, where a table has those that matter, and values of
 * each). A trial is one value of each. */
enum { RAN_SEARCH_FIELDS = 24 };
struct ran_trial {
        signed char at[RAN_SEARCH_FIELDS]; /* which value; -1: that of the job, which is another */
        double metric; /* what came of it, larger is better; -INFINITY: nothing yet */
};
struct ran_search {
        const struct ran_train_job *job; /* with the settings that the search starts from */
        struct ran_trial start;
        bool fixed[RAN_SEARCH_FIELDS]; /* stays as it is */
        size_t longest;                /* document */
        double flops, parameters;      /* of the job */
};
/* The job is the caller's, must live on, and stays as it is. given: whether that setting is not to
 * be changed. */
int ran_search_init(struct ran_search *s, const struct ran_train_job *job,
                    bool (*given)(const char *name), struct ran_error *err);
/* What to try after n trials: a function of the job, its seed, and what the trials brought. The
 * first one is the job as it is. False when nothing is left to try. */
bool ran_search_next(const struct ran_search *s, const struct ran_trial *trial, size_t n,
                     struct ran_trial *next);
void ran_search_apply(const struct ran_search *s, const struct ran_trial *trial,
                      struct ran_config *config, struct ran_train_settings *settings);
/* The best of n trials, the first of several; n > 0. */
size_t ran_search_best(const struct ran_trial *trial, size_t n);
/* Whether a trial that has reached `metric` after so many epochs is clearly behind one whose metric
 * after each of n epochs is best[] (NaN: unknown): less than that had after two thirds of them. */
bool ran_search_behind(const double *best, size_t n, size_t epoch, double metric);
/* The names of the settings that are not fixed, as a JSON array. */
void ran_search_fields(const struct ran_search *s, struct ran_buf *out);

#endif
