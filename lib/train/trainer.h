/* trainer.h - the state of a training run: all that a checkpoint must hold, and what is derived. */
#ifndef RAN_TRAIN_TRAINER_H
#define RAN_TRAIN_TRAINER_H

#include "eval/calibration.h"
#include "file/model.h"
#include "gradient/batch.h"
#include "gradient/optimiser.h"
#include "part/linear/fit.h"
#include "train/state.h"

struct ran_rates;

/* The weights, and copies of them. */
struct ran_weights {
        struct ran_layout layout;
        struct ran_params p;    /* at work; the mapped tables are */
        struct ran_table table; /* the embedding, that of spelling behind it */
        struct ran_vector_cache
                *below; /* of p: the layers that stay, and their rows; NULL: none do */
        float *best_block,
                *best_table; /* rank 0: of the best epoch; NULL without validation data */
};

/* The steps of the encoder. */
struct ran_loop {
        struct ran_optimiser optimiser;
        struct ran_batcher batcher;
        struct ran_plan plan;
        size_t *document, documents; /* to train on */
        size_t *order;               /* (documents) as this epoch takes them */
        size_t batch;                /* documents, or streams, of a step */
        size_t batches;              /* steps of this epoch */
        size_t steps;      /* of the run, if every epoch to come has as many as this one */
        double rate, norm; /* of the last step */
};

/* What the validation documents say. */
struct ran_judge {
        const struct ran_dataset *dev; /* of the job, or in a trial the first of them */
        double baseline;               /* accuracy of their most frequent label */
        double *losses, *alone;        /* (B of dev) of the last validation; of the linear model */
        struct ran_ensemble prior;     /* of encoder and linear model, to begin with, */
        struct ran_ensemble ensemble;  /* and as of the last epoch */
        struct ran_calibration calibration;     /* one label */
        float calibrated[RAN_CALIBRATION_KEPT]; /* its numbers, in a checkpoint */
        bool waits;         /* the linear model learned nothing: the encoder has time */
        bool timed_out;     /* time ended the encoder's first training */
        bool first_encoder; /* kept, although a refit followed */
};

/* Seconds, and what they were for. */
struct ran_timing {
        double started, saved;  /* clock */
        double before;          /* seconds of the runs that this one resumed */
        double linear, encoder; /* of fitting the linear model; of the steps */
        double share;           /* of the work on the linear model that is done */
        size_t tokens;          /* trained on in the steps */
        uint64_t from_step;     /* where this training of the run began, */
        double from_seconds;    /* and when */
};

struct ran_trainer {
        const struct ran_train_job *job;
        const struct ran_config *c;
        const struct ran_train_settings *s;
        size_t V, C, D;
        char *training; /* metadata that says what is computed: same text, same run */
        struct ran_states at;
        struct ran_weights weights;
        struct ran_linear linear;
        struct ran_loop loop;
        struct ran_judge judge;
        struct ran_timing time;
};

/* Allocates all, with starting weights at rank 0. _release is fine after a failure. */
int ran_trainer_init(struct ran_trainer *t, const struct ran_train_job *job, struct ran_error *err);
void ran_trainer_release(struct ran_trainer *t);

/* What the linear model is fitted to, as the run stands. */
struct ran_linear_fit ran_trainer_linear_fit(struct ran_trainer *t);

/* Starts over, with all documents. */
int ran_trainer_refit(struct ran_trainer *t, struct ran_error *err);

/* Copies n rows into the table. */
void ran_trainer_copy_rows(struct ran_trainer *t, size_t first, size_t n, const float *rows);

/* init.c: fills the weights as the job says, and which of them are to learn more slowly or not at
 * all; and what of that goes into the description of the run: `,"init":...`. */
int ran_trainer_init_weights(struct ran_trainer *t, struct ran_error *err);
void ran_trainer_describe_init(const struct ran_train_job *job, struct ran_buf *out);

/* The ensemble of the best epoch, or without one that to begin with. */
struct ran_ensemble ran_trainer_ensemble(const struct ran_trainer *t);
void ran_trainer_set_ensemble(struct ran_trainer *t, const struct ran_ensemble *ensemble);

/* Rounds the weights of the encoder to what the model will store. */
void ran_trainer_round_encoder(struct ran_trainer *t);

/* Fills t->document. */
void ran_trainer_list_documents(struct ran_trainer *t);
/* Whether there are validation documents; whether a refit on all documents follows. */
bool ran_train_has_dev(const struct ran_train_job *job);
bool ran_train_refits(const struct ran_train_job *job);
/* Lays out the epoch that t->at stands in, and goes to where it stands there. */
void ran_trainer_begin_epoch(struct ran_trainer *t);

/* kept.c: the arrays that say how far the run is, for one of two: all that the ranks share;
 * or what a checkpoint holds beside the weights of a model. Returns how many there are. */
enum { RAN_FOR_RANKS = 1, RAN_FOR_CHECKPOINT = 2, RAN_EXTRAS = 32 };
size_t ran_trainer_extras(struct ran_trainer *t, int of, struct ran_extra x[RAN_EXTRAS]);
/* Saves the progress in t->at; resumes from it. */
void ran_trainer_note(struct ran_trainer *t);
int ran_trainer_resume(struct ran_trainer *t, struct ran_error *err);

/* Writes job->checkpoint, and resumes from it. */
int ran_checkpoint_write(struct ran_trainer *t, struct ran_error *err);
int ran_checkpoint_read(struct ran_trainer *t, struct ran_error *err);

/* output.c: t->training; what every file of the run has; a file with a JSON object of t->training
 * and `more`; the finished model. */
int ran_trainer_describe(struct ran_trainer *t, struct ran_error *err);
struct ran_parts ran_trainer_parts(const struct ran_trainer *t);
int ran_trainer_write_parts(struct ran_trainer *t, const char *path, struct ran_parts *parts,
                            const char *more, struct ran_error *err);
int ran_trainer_write(struct ran_trainer *t, struct ran_error *err);

/* report.c. */
/* Epochs that there will be at most. */
size_t ran_trainer_epochs(const struct ran_trainer *t);
/* Whether the validation documents gave the encoder no weight: the model is without it. */
bool ran_trainer_drops_encoder(const struct ran_trainer *t);
/* Whether it was decided that there is no encoder; and why. */
bool ran_trainer_is_decided(const struct ran_trainer *t);
struct ran_train_decision ran_trainer_decision(const struct ran_trainer *t);
/* Whether they gave the linear model none: the model is without that. */
bool ran_trainer_drops_linear(const struct ran_trainer *t);
bool ran_trainer_leads(const struct ran_trainer *t);
struct ran_train_report ran_trainer_report(const struct ran_trainer *t, int event);
/* Adds results on the validation documents. */
void ran_trainer_report_rates(const struct ran_trainer *t, struct ran_train_report *report,
                              const struct ran_rates *r);
int ran_trainer_tell(struct ran_trainer *t, const struct ran_train_report *r);
/* What all do next, when one of them is told that; RAN_NOTE: apply what the budget has decided. */
enum { RAN_GO_ON, RAN_NOTE, RAN_SAVE, RAN_STOP };
int ran_trainer_tell_all(struct ran_trainer *t, const struct ran_train_report *r, int *next,
                         struct ran_error *err);
/* Tells of a pass of the linear model; arg is the trainer. */
int ran_trainer_on_pass(void *arg, size_t passes, double share);
int ran_trainer_diverged(const struct ran_trainer *t, double epoch, double step, const char *what,
                         struct ran_error *err);
/* RAN_EDIVERGED unless all n results for development data are finite. */
int ran_trainer_check_results(const struct ran_trainer *t, const float *x, size_t n,
                              struct ran_error *err);

/* budget.c: --minutes: the best model within a time.
 *
 * The linear model always comes first. A few steps of the encoder then show how many fit into what
 * is left, with the refit: the learning rate falls to its end by these (`limit`). If that was
 * wrong, time ends the training after the step at hand (`last`), or the refit, whose encoder is
 * then that of the best epoch (`aborted`). The model says all three, so that --replay does the
 * same steps whatever the time. Rank 0 decides; the others apply it after the same step. */
/* Seconds of the run, with those of the runs that it resumed. */
double ran_budget_spent(const struct ran_trainer *t);
/* Rank 0, after a step: whether there is something to apply; and does it. */
bool ran_budget_is_due(const struct ran_trainer *t);
void ran_budget_apply(struct ran_trainer *t);
/* Whether the encoder's steps are used up. */
bool ran_budget_is_used(const struct ran_trainer *t);
/* Whether the encoder of the refit is not trained, or not to its end. */
bool ran_budget_aborts_refit(const struct ran_trainer *t);

#endif
