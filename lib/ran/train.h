/* ran/train.h - data sets, training, searching for settings. Conventions: ran.h. */
#ifndef RAN_RAN_TRAIN_H
#define RAN_RAN_TRAIN_H

#include "ran/model.h"
#include "ran/eval.h"

/* ---- training (train/) ---------------------------------------------------------------------- */

/* Documents for training or evaluation (data/dataset.c, split.c). Zero-initialise; call
 * _set_classes if the classes are known already (development data, or a model's classes); _label
 * and _add for each document; _finish. After that you may read the members. */
struct ran_dataset {
        size_t B;            /* documents */
        uint32_t *ids;       /* all documents, one after another */
        size_t *first;       /* (B+1) where each begins in ids */
        uint32_t *labels;    /* all labels, one after another; ascending within a document */
        size_t *label_first; /* (B+1) first of a document */
        uint32_t *positions; /* tagging, else NULL: as labels, the token of each within its
                              * document; mlm: the first token of each word, all labels are 0 */
        uint32_t *sources;   /* (B) language models, else NULL: leading ids that are source */
        uint32_t *spelling;  /* or NULL: as ids, RAN_SPELLING each */
        bool *begins;        /* as positions: the word is the first of a sentence */
        float *weight;       /* (B) */
        /* Or NULL: soft targets, which replace the labels in training:
         * soft[i] is the probability of class soft_labels[i], ascending within a document, from
         * soft_first[b] on. A document without any keeps its labels. */
        uint32_t *soft_labels;
        float *soft;
        size_t *soft_first;    /* (B+1) */
        bool *guessed;         /* (B) its labels are guessed from the soft target */
        uint64_t *group;       /* (B) or NULL: a split never separates equal numbers */
        uint32_t *fingerprint; /* (B) or NULL: the model will know these documents again */
        char **names;          /* (C) label names, ordered by their bytes; owned */
        size_t C;
        bool multilabel; /* records hold "labels": set by the caller */
        bool given;      /* mlm: positions are masked tokens, labels the original ones: set by the
                          * caller */
        char digest[65]; /* SHA-256 of the input, in order: set by the caller */
        /* Memory of the arrays that grow with the documents and may be larger than memory. */
        struct {
                struct ran_spool ids, first, labels, label_first, positions, begins, spelling,
                        sources, weight, soft_labels, soft, soft_first, guessed, group, fingerprint;
        } spool;
        size_t keep; /* largest size of each in memory; 0: RAN_SPOOL_KEEP */
        /* While it is built. */
        bool fixed;                     /* the classes were given */
        size_t fingerprints;            /* documents that have one */
        struct ran_string_table *known; /* to find a class by its name; NULL: there is none yet */
        size_t names_cap;
};
/* A label outside the given classes: no prediction can match it. Never in training data. A
 * document lists them after its other labels, and each counts. */
#define RAN_LABEL_UNKNOWN UINT32_MAX
/* Copies the names, ordered by their bytes or as in a model; other labels become
 * RAN_LABEL_UNKNOWN. Call it before the first _label. */
int ran_dataset_set_classes(struct ran_dataset *d, char *const *names, size_t C,
                            struct ran_error *err);
/* The class of a label name; a new class if the name is new and the classes were not given. A
 * name cannot contain U+0000. */
int ran_dataset_label(struct ran_dataset *d, const char *name, size_t n, uint32_t *label,
                      struct ran_error *err);
/* Appends a document of L ids. Repeated classes count once. */
int ran_dataset_add(struct ran_dataset *d, const uint32_t *ids, size_t L, const uint32_t *labels,
                    size_t n, double weight, struct ran_error *err);
/* Sets the last document's soft target: probabilities p (n) of the classes labels (n), no class
 * twice; n 0: none. Call it for all documents or for none. */
int ran_dataset_soft_target(struct ran_dataset *d, const uint32_t *labels, const float *p, size_t n,
                            bool guessed, struct ran_error *err);
/* Sets the last document's group: a name of n bytes, or, n 0, a group of its own. Call it for
 * all documents or for none. */
int ran_dataset_group(struct ran_dataset *d, const char *name, size_t n, struct ran_error *err);
/* Groups all documents by near-duplicates (text.h), data/alike.c: those that are at least `least`
 * similar, and all that are linked through others. */
int ran_dataset_group_alike(struct ran_dataset *d, double least, struct ran_error *err);
/* Adds to the last document's fingerprint, which is 0 at first. Call it for all documents, or
 * sentences, or for none. */
int ran_dataset_fingerprint(struct ran_dataset *d, uint32_t fingerprint, struct ran_error *err);
/* Appends a document for tagging: word i stands at token positions[i] (ascending) and has the tag
 * tags[i]. A dataset holds documents of one kind. */
int ran_dataset_add_words(struct ran_dataset *d, const uint32_t *ids, size_t L,
                          const uint32_t *positions, const uint32_t *tags, size_t n, double weight,
                          struct ran_error *err);
/* Appends a document for a language model: it reads L - 1 ids, and predicts those from the second
 * one on that are not among the first `sources`. RAN_EINVAL when there is none to predict. */
int ran_dataset_add_text(struct ran_dataset *d, const uint32_t *ids, size_t L, size_t sources,
                         double weight, struct ran_error *err);
/* Appends a sentence to the last document, for tagging. Its weight stays. */
int ran_dataset_continue(struct ran_dataset *d, const uint32_t *ids, size_t L,
                         const uint32_t *positions, const uint32_t *tags, size_t n,
                         struct ran_error *err);
/* Sets the spelling of the last L tokens (L, RAN_SPELLING). Call it for all documents or for none.
 */
int ran_dataset_spell(struct ran_dataset *d, const uint32_t *spelling, size_t L,
                      struct ran_error *err);
/* A view of document b, valid until the next _add. */
struct ran_document ran_dataset_document(const struct ran_dataset *d, size_t b);
/* Gives each document, which has no label so far, the first one. */
int ran_dataset_label_all(struct ran_dataset *d, struct ran_error *err);
size_t ran_dataset_guessed(const struct ran_dataset *d); /* number of documents with guessed
                                                          * labels */
/* Sorts new classes by the bytes of their names and renumbers the labels. RAN_EINVAL for a label
 * without a class. */
int ran_dataset_finish(struct ran_dataset *d, struct ran_error *err);
/* The accuracy of always predicting the class that most documents, or words, have; *most: that
 * class. NaN with several labels a document, and without classes. */
double ran_dataset_baseline(const struct ran_dataset *d, size_t *most);
/* Marks a fraction `share` of the documents of d (finished) in held_out (B) and copies them to
 * dev (zeroed), in order: about that fraction of each class and exactly that fraction in all,
 * but never the last document of a class. The choice depends only on the seed and on a
 * document's index in d. With several labels a document, classes are ignored. Documents with
 * guessed labels are not held out, unless all are guessed; the copies have no soft target. If
 * documents have groups, whole groups are held out: about that fraction of all documents, but
 * never the last group of a class. After a failure dev is incomplete: release it.
 *
 * Documents of `known` (B, or NULL) cannot judge the model, which begins as one that learned from
 * them: they are not held out, nor are their groups. Others take their places, but no more than
 * half of them, or that fraction if it is larger. */
int ran_dataset_split(const struct ran_dataset *d, double share, uint64_t seed, const bool *known,
                      bool *held_out, struct ran_dataset *dev, struct ran_error *err);
/* Copies all other documents to `to` (zeroed) for training, with soft targets and groups, in order.
 * After a failure `to` is incomplete: release it. */
int ran_dataset_without(const struct ran_dataset *d, const bool *left_out, struct ran_dataset *to,
                        struct ran_error *err);
/* Numbers folds of about as many documents of each class from 0 in fold (B); a group is in one
 * fold. A document whose labels are guessed is in none, unless all are: RAN_NO_FOLD. The choice
 * depends only on the seed and on a document's index in d. folds >= 1. */
#define RAN_NO_FOLD UINT32_MAX
void ran_dataset_folds(const struct ran_dataset *d, size_t folds, uint64_t seed, uint32_t *fold);
void ran_dataset_release(struct ran_dataset *d);

enum { RAN_SCHEDULE_CONSTANT, RAN_SCHEDULE_LINEAR, RAN_SCHEDULE_COSINE };
enum {
        RAN_METRIC_ACCURACY,
        RAN_METRIC_MICRO_F1,
        RAN_METRIC_MACRO_F1,
        RAN_METRIC_LOSS,
        RAN_METRIC_BLEU, /* this and the next: of targets that a language model generates */
        RAN_METRIC_CHRF,
};
extern const char *const ran_metric_names[]; /* by RAN_METRIC_..., then NULL */
enum { RAN_WEIGHTS_NONE, RAN_WEIGHTS_BALANCED };
enum { RAN_RATIOS_AUTO, RAN_RATIOS_YES, RAN_RATIOS_NO };

/* Settings of training that can change its result: with ran_config, the `training` of the model
 * file. */
#define RAN_TUNE_ALL ((size_t)1024) /* a model has no more layers */
struct ran_train_settings {
        size_t epochs, batch, bptt, patience, seed;
        double learning_rate, min_learning_rate, warmup, weight_decay, clip;
        double beta1, beta2, epsilon;
        double dropout, embed_dropout, word_dropout, label_smoothing;
        double vectors_rms; /* scale `vectors` of the job to this root mean square; 0: unscaled */
        double init_rate;   /* factor of the learning rate, for weights from `init` of the job */
        size_t tune_layers; /* of a pretrained encoder (bert): the last layers that are tuned; what
                             * is below stays as it is; RAN_TUNE_ALL: all layers and the rows */
        double mask_share;  /* mlm: of the words; 0: RAN_MASK_SHARE */
        double wide_cost;   /* C of the linear model, see part/linear/svm.h; 0: chosen */
        bool refit;         /* after the best epoch is known, refit on all documents */
        bool early_stop;    /* end the encoder once it can no longer prove that it helps */
        size_t cell_memory; /* prenorm cells: windows that the slowest elements keep at first */
        bool freeze;        /* embedding rows from `vectors` or `init` are not trained */
        int schedule, metric, class_weights, wide_ratios;
};
extern const struct ran_field ran_train_fields[];
/* Checks the range of each setting, and the settings against the model. */
int ran_train_settings_check(const struct ran_train_settings *s, const struct ran_config *config,
                             struct ran_error *err);
/* The layers of the encoder, the lowest, that a training leaves as they are; its rows, too, if
 * there are any. 0: it changes all. */
size_t ran_train_below(const struct ran_train_settings *s, const struct ran_config *config);
/* About the time of a step of documents that those layers have read already, as a share of that of
 * the first; 1: there are none. */
double ran_train_tuned_share(const struct ran_train_settings *s, const struct ran_config *config);

/* Why a classifier or tagger has no encoder (train/judge.c). */
struct ran_train_decision {
        enum {
                RAN_ENCODER_KEPT,       /* or not decided yet */
                RAN_ENCODER_NO_ROOM,    /* the linear model errs on too few documents: none tried */
                RAN_ENCODER_NO_GAIN,    /* it was ended early, as it gained too little */
                RAN_ENCODER_NOT_PROVEN, /* it was trained to the end, and gained too little */
        } why;
        size_t epoch;             /* of the decision; 0: before the first */
        size_t documents, errors; /* compared; on which the linear model errs */
        double loss;              /* validation loss of the linear model */
        double gain, error;       /* how much lower the ensemble's is; its standard error */
};
/* Appends it as a sentence without a full stop; nothing for RAN_ENCODER_KEPT. */
void ran_train_decision_tell(const struct ran_train_decision *d, struct ran_buf *out);

struct ran_train_report {
        enum {
                RAN_REPORT_LINEAR, /* the linear model is being fitted: step is the pass */
                RAN_REPORT_STEP,   /* an epoch is at work until here */
                RAN_REPORT_DEV,
                RAN_REPORT_CHECKPOINT,
                RAN_REPORT_KEPT,  /* the best epoch is chosen, and whether its encoder is used:
                                   * `best` is that model's metric, and may be lower than before */
                RAN_REPORT_REFIT, /* refitting on all documents begins */
                RAN_REPORT_END,
                RAN_REPORT_FITTED,  /* the linear model is fitted; what it achieves alone */
                RAN_REPORT_DECIDED, /* the encoder's training ends early: `decision` says why */
        } event;
        bool refit;                        /* the report is of the refit */
        size_t epoch, epochs, step, steps; /* from 1 */
        double loss; /* the encoder's training loss, of the last steps, smoothed; for REPORT_DEV
                        and REPORT_FITTED the validation loss of the model */
        /* REPORT_DEV: the encoder's training loss; validation losses of encoder and linear model
         * alone, 0: unknown. */
        double training_loss, encoder_loss, linear_loss;
        double share; /* REPORT_LINEAR: of the work on the linear model */
        double learning_rate, gradient_norm;
        size_t tokens;                         /* trained on so far in this run */
        double seconds;                        /* of this run so far */
        double tokens_per_second, eta_seconds; /* of the encoder */
        double accuracy, micro_f1, macro_f1;   /* REPORT_DEV and REPORT_FITTED */
        size_t validation;                     /* documents */
        double baseline; /* the accuracy of their most frequent label; NaN: not known */
        struct ran_interval interval;      /* of the metric; low above high: none */
        struct ran_interval best_interval; /* of `best` */
        double linear_metric;              /* of the linear model alone; NaN: unknown */
        struct ran_interval linear_interval;
        double metric, best;      /* of the dev set, larger is better (loss: negated) */
        size_t best_epoch, stale; /* epochs since the best */
        uint64_t moved;           /* bytes between this rank and others so far */
        bool improved;
        bool first_encoder; /* with REPORT_END: the refit made it worse, so the first encoder is
                               kept */
        bool described;     /* descriptions or names of the labels are evidence */
        bool linear_only;   /* with REPORT_KEPT and later: the encoder did not help, only the linear
                               model is used */
        bool encoder_only;  /* likewise: the linear model did not help */
        struct ran_train_decision decision;
        size_t limit;    /* steps after which time ended the encoder; 0: something else did */
        bool aborted;    /* with REPORT_END: time ended the refit of the encoder */
        bool no_encoder; /* there is none: epochs and steps say nothing */
};

/* Processes that train one model together (ranks/ranks.h). NULL stands for a single process. */
struct ran_ranks;
/* Joins the ranks that a launcher (mpirun) started; *ranks NULL: no launcher did. Fails if they
 * cannot work together; RAN_EINVAL if this library was built without MPI. One rank has the
 * sentence to print, the others an empty one. stopped: whether a signal asks this process to
 * end; or NULL. */
int ran_ranks_open(struct ran_ranks **ranks, int (*stopped)(void), struct ran_error *err);
/* Call it last. Rank 0 dismisses the others; if that is no longer possible it ends them, and
 * this process too, with that status. */
void ran_ranks_close(struct ran_ranks *ranks, int status);
size_t ran_ranks_me(const struct ran_ranks *ranks); /* from 0: reads, decides, reports and saves */
size_t ran_ranks_count(const struct ran_ranks *ranks);

/* Where time ended a training (train/budget.c), for one that repeats it. 0: nowhere. */
struct ran_train_limit {
        uint64_t from, steps; /* after step `from` the learning rate goes by so many steps */
        uint64_t last;        /* the last step, if it ended even earlier */
        bool aborted;         /* the encoder of the refit was not trained to its end */
};

struct ran_train_job {
        const struct ran_config *config;
        const struct ran_train_settings *settings;
        const struct ran_dataset *train, *dev; /* dev NULL or empty: the last epoch is kept; else
                                                * dev has the classes of train */
        const bool *held_out; /* (B) documents of train that dev copies: trained on only in a
                               * refit; NULL: none */
        /* Vectors (C, F) of descriptions of the labels, by the frozen encoder: evidence that fades
         * with the number of documents (part/linear/discriminant.h); NULL: there are none. */
        const float *label_vectors;
        bool label_names; /* they are the labels' names, used if held-out documents show a gain */
        /* train->labels, of documents that have none (ran_dataset_label_all): the descriptions give
         * them, and they are written here. Nothing is held out. NULL: they have labels. */
        uint32_t *guessed_labels;
        const struct ran_tokenizer *tokenizer; /* goes into the model; NULL: bare ids below V */
        size_t V;
        /* Initial weights; NULL: random. init: tensors of the same name and shape, the head's
         * only if ran_train_keeps_head, and the embedding, which must fit. */
        const struct ran_embedding *vectors;
        const struct ran_model *init;
        /* Of a frozen encoder of the family BERT: the vectors that it has made, and will have made;
         * or NULL. */
        struct ran_vector_cache *vector_cache;
        /* Vectors of tokens, where ran_train_below is above 0; NULL: the training's own. */
        struct ran_vector_cache *below;
        const char *output;     /* model file; written when training is complete, never before;
                                   NULL: none */
        int storage;            /* how it stores the weights, RAN_STORAGE_...: they are rounded
                                 * before validation documents judge them for the last time */
        const char *checkpoint; /* output.ckpt, removed when training is complete; NULL: none */
        double seconds;         /* the time for all of it; 0: as long as it takes */
        struct ran_train_limit limit;
        double checkpoint_seconds; /* how often to write it; also whenever the caller ends a run */
        bool resume;
        const char *training; /* the caller's JSON members for `training`, or NULL */
        const char *about;    /* more of them, which follow from the data: a run that is resumed may
                               * lack them */
        struct ran_pool *pool;
        /* Rank 0 broadcasts the job to the others, which wait in ran_train_follow; their number
         * does not change the model. threads: of each rank; 0: one for each of its processors. */
        struct ran_ranks *ranks;
        size_t threads;
        /* Called now and then, or NULL, by one thread of the pool at a time; a value other than 0
         * ends training with RAN_EINTR, after a checkpoint if the job has one (still: the caller
         * may have taken it away meanwhile). */
        int (*report)(void *arg, const struct ran_train_report *report);
        void *arg;
};
/* RAN_EINVAL if settings or documents do not fit the model: documents of another task or without
 * tokens, ids beyond V, labels without a class, words without a token. */
int ran_train(const struct ran_train_job *job, struct ran_error *err);
/* Out-of-fold probabilities (train/folds.c): p (B, C) of the labels of each document of job->train
 * by a model of this job that learned from all other folds; a row of zeros for a document in no
 * fold (ran_dataset_folds). job->dev, output and checkpoint are not used: the models have no
 * validation documents, and each lies in a temporary file as long as it scores. next, unless it is
 * NULL, is called before each fold, numbered from 0; a value other than 0 ends it with RAN_EINTR.
 * RAN_EINVAL: fewer than 2 folds, or more than documents; or the task is not classify. */
int ran_train_folds(const struct ran_train_job *job, size_t folds,
                    int (*next)(void *arg, size_t fold), void *arg, float *p,
                    struct ran_error *err);
/* The work of ranks other than 0, until rank 0 closes. Fails when it loses the others or cannot
 * do its part: print the sentence then; closing ends all ranks. */
int ran_train_follow(struct ran_ranks *ranks, struct ran_error *err);
/* All that can change the result of a job, as JSON members `"training":{...},"config":{...},
 * "vocabulary":...`: the same text means the same model. */
void ran_train_describe(const struct ran_train_job *job, struct ran_buf *out);
/* Documents of a step. */
size_t ran_train_batch(const struct ran_train_job *job);
/* Whether the head of `init` can be used, too: same encoder, task and classes. */
bool ran_train_keeps_head(const struct ran_train_job *job);
/* Marks the documents that it knows in known (B), unless that is NULL; returns their number. */
size_t ran_train_find_known(const struct ran_dataset *d, const struct ran_model *init, int task,
                            bool *known);
/* The size of a training. */
struct ran_train_estimate {
        size_t parameters, embedding_parameters;
        double flops; /* of one epoch */
};
int ran_train_estimate(const struct ran_train_job *job, struct ran_train_estimate *e,
                       struct ran_error *err);

/* A search for better settings (search/search.c has the table of settings and their values). A
 * trial is one value of each. */
enum { RAN_SEARCH_FIELDS = 24 };
struct ran_trial {
        signed char at[RAN_SEARCH_FIELDS]; /* index of the value; -1: the job's value, if the
                                            * table lacks it */
        double metric;                     /* the result, larger is better; -INFINITY: none yet */
};
struct ran_search {
        const struct ran_train_job *job; /* with the initial settings of the search */
        struct ran_trial start;
        bool fixed[RAN_SEARCH_FIELDS]; /* stays as it is */
        size_t longest;                /* document */
        double flops, parameters;      /* of the job */
};
/* The job is the caller's, must outlive the search and is not changed. given: whether a setting
 * is fixed. */
int ran_search_init(struct ran_search *s, const struct ran_train_job *job,
                    bool (*given)(const char *name), struct ran_error *err);
/* The next trial after n: a function of the job, its seed and the results so far. The first
 * trial is the job unchanged. False when nothing is left to try. */
bool ran_search_next(const struct ran_search *s, const struct ran_trial *trial, size_t n,
                     struct ran_trial *next);
void ran_search_apply(const struct ran_search *s, const struct ran_trial *trial,
                      struct ran_config *config, struct ran_train_settings *settings);
/* The best of n trials, the first of several; n > 0. */
size_t ran_search_best(const struct ran_trial *trial, size_t n);
/* Whether a trial that has reached `metric` after so many epochs is clearly behind one whose metric
 * after each of n epochs is best[] (NaN: unknown): less than that had after two thirds of them. */
bool ran_search_behind(const double *best, size_t n, size_t epoch, double metric);

#endif
