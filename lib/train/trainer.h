/* trainer.h - a training run: how far it is, what it works with, and what the files of this folder
 * offer each other. README.md tells how a training goes; begin with train.c.
 */
#ifndef RAN_TRAIN_TRAINER_H
#define RAN_TRAIN_TRAINER_H

#include "eval/calibration.h"
#include "file/model.h"
#include "gradient/batch.h"
#include "gradient/optimiser.h"
#include "part/linear/fit.h"

/* ---- how far it is --------------------------------------------------------------------------- */

/* A few numbers for each stage, doubles and nothing else. A checkpoint keeps each struct as a
 * tensor, the ranks share them, and checkpoint.c knows the kind of each number. All that a run
 * decides is here, so that a resumed run, and each rank, goes on as the first would have.
 *
 * The fit of the linear model: */
struct ran_state_linear {
        double fitted;
        struct ran_linear_choice chosen; /* cost 0: not chosen yet */
        double weight; /* of the ensemble with vectors, by folds; 0: unknown; and its offset */
        double offset;
};

/* The training of the encoder; without one an epoch is done when all is fitted. */
struct ran_state_epochs {
        double epoch, batch;      /* done; done in this epoch */
        double updates;           /* steps of the optimiser */
        double decay;             /* see optimiser.h */
        double loss, loss_weight; /* smoothed */
        double refit;             /* on all documents */
        double limit_from;        /* --minutes: the step after which `limit` was set: */
        double limit;             /* steps that the learning rate goes by; 0: none */
        double last;              /* the step after which time ended the training; 0: none */
        double aborted;           /* time ended the refit */
        double spent;             /* seconds of this run and those it resumed, with --minutes */
};

/* The best epoch by the validation documents. */
struct ran_state_best {
        double epoch;  /* from 1; 0: none */
        double metric; /* -infinity before the first */
        struct ran_interval interval;
        double loss;
        double stale; /* epochs since */
        struct ran_ensemble ensemble;
        double top;         /* the highest metric of any epoch */
        double gain, error; /* over the linear model: struct ran_gain; its standard error */
        double threshold;   /* several labels: tuned, else 0.5 */
        double calibrated;  /* one label: documents that the calibration is from */
};

/* Whether there is an encoder beside the linear model. */
struct ran_state_decision {
        double why;               /* RAN_ENCODER_... */
        double epoch;             /* when it was decided; 0: before the first */
        double documents, errors; /* that were compared; on which the linear model errs */
        double gain, error; /* of the epoch with the most standard errors so far, and its standard
                               error; 0 and 0: none was compared yet */
        double base;        /* mean loss of the linear model on them */
        double metric;      /* of the linear model alone */
        struct ran_interval interval;
        double loss, weight, weight_offset; /* its loss; its ensemble */
};

/* Each state: its member; the name of its tensor; the kinds of its numbers, see checkpoint.c. */
#define RAN_STATES(S)                                 \
        S(linear, "train.linear", "FWFSSSFSN")        \
        S(epochs, "train.progress", "CCCAAAFCCCFS")   \
        S(best, "train.validation", "CANNNCWWNNNNSC") \
        S(decision, "train.decision", "CCSSNNNNNNNSN")

struct ran_states {
#define STATE(member, name, kinds) struct ran_state_##member member;
        RAN_STATES(STATE)
#undef STATE
};

/* ---- what it works with ---------------------------------------------------------------------- */

/* The weights, and copies of them. */
struct ran_weights {
        struct ran_layout layout;
        struct ran_params p;            /* at work; the mapped tables are */
        struct ran_table table;         /* the embedding, that of spelling behind it */
        struct ran_vector_cache *below; /* of p: the layers that stay, and their rows; or NULL */
        float *best_block, *best_table; /* rank 0: of the best epoch; NULL without validation */
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
/* Starts over, with all documents. */
int ran_trainer_refit(struct ran_trainer *t, struct ran_error *err);

/* ---- run.c: questions about a run, and small changes of it ------------------------------------
 */

/* Rounds the weights of the encoder to what the model will store. */
void ran_trainer_round_encoder(struct ran_trainer *t);
/* Copies n rows of the embedding, and those of spelling features. */
void ran_trainer_copy_tables(struct ran_trainer *t, const struct ran_params *from, size_t n,
                             size_t spelling);
/* Fills t->document. */
void ran_trainer_list_documents(struct ran_trainer *t);
/* Lays out the epoch that t->at stands in, and goes to where it stands there. */
void ran_trainer_begin_epoch(struct ran_trainer *t);

/* Whether there are validation documents; whether a refit on all documents follows. */
bool ran_train_has_dev(const struct ran_train_job *job);
bool ran_train_refits(const struct ran_train_job *job);
/* Rank 0 alone reads, decides and writes. */
static inline bool ran_trainer_leads(const struct ran_trainer *t)
{
        return ran_ranks_leads(t->job->ranks);
}
/* Whether it was decided that there is no encoder. */
static inline bool ran_trainer_is_decided(const struct ran_trainer *t)
{
        return t->at.decision.why != RAN_ENCODER_KEPT;
}
/* Whether the validation documents gave the encoder, or the linear model, no weight: the model is
 * without it. */
bool ran_trainer_drops_encoder(const struct ran_trainer *t);
bool ran_trainer_drops_linear(const struct ran_trainer *t);

/* ---- init.c: initial weights ----------------------------------------------------------------- */

/* Fills the weights as the job says, and which of them are to learn more slowly or not at all. */
int ran_trainer_init_weights(struct ran_trainer *t, struct ran_error *err);
/* What the linear model is fitted to, as the run stands. */
struct ran_linear_fit ran_trainer_linear_fit(struct ran_trainer *t);
/* Whether a tensor is below the layers that are tuned, and stays as it is. */
bool ran_trainer_stays(const struct ran_trainer *t, const char *tensor);

/* ---- judge.c: what the validation documents say ---------------------------------------------- */

/* What the linear model achieves alone, and whether it leaves an encoder room. */
int ran_trainer_judge_linear(struct ran_trainer *t, struct ran_error *err);
/* The end of an epoch: the weights at work are judged, and kept if they are the best so far. */
int ran_trainer_validate(struct ran_trainer *t, struct ran_error *err);
/* With the weights of the best epoch, as they will be stored: their metric and ensemble weights;
 * drops an encoder that has not proven itself; tunes thresholds or the calibration. */
int ran_trainer_judge_best(struct ran_trainer *t, struct ran_error *err);
/* The step of the first epoch after which the encoder has cost as much as the linear model, where a
 * part of the documents has to show a gain; 0: there is none. And that look. */
size_t ran_trainer_trial_step(const struct ran_trainer *t);
int ran_trainer_try(struct ran_trainer *t, struct ran_error *err);
/* All ranks compute the outputs for the validation documents under the weights at work; rank 0
 * works on them. alone: those of the linear model. */
int ran_trainer_ask(struct ran_trainer *t, bool alone,
                    int (*work)(struct ran_trainer *t, struct ran_task_judged *k, void *arg,
                                struct ran_error *err),
                    void *arg, struct ran_error *err);

/* ---- gain.c: what an encoder gains over the linear model ------------------------------------- */

/* An encoder of a classifier or tagger is trained only as long as it may still improve the
 * ensemble, and kept only if it did. The linear model is there first. Each epoch's ensemble is
 * compared with it, document by document: the gain is the mean difference of their losses on the
 * validation documents, and its standard error says how much of that may be chance. So a decision
 * is a function of the data, never of the clock; it is kept in the checkpoint. `--no-early-stop`
 * leaves out the first two rules.
 *
 *   before the first epoch: the linear model errs on too few documents for any gain to show
 *   after epoch e: the gain is more than 1 / e standard errors short of a proof
 *   at the end: the best epoch's gain is no proof: the encoder is dropped
 *
 * An encoder that others have trained (part.h: imported) has shown what it knows: the first rule is
 * not for it, and few documents ask for no more than many. */

/* Fewer labels or tags than that ask for more, as no refit can undo a choice by chance. */
enum { RAN_GAIN_FEW = 250 };

/* How much lower the losses `now` (n) are than `before` (n), on the documents where both are
 * numbers. */
struct ran_gain {
        size_t n;
        double mean, error; /* its standard error */
        double base;        /* mean of `before` */
        double worth;       /* share of it that an encoder has to gain, */
        bool better;        /* if the metric is better, too; else twice as much */
        bool few;           /* labels or tags to judge by: fewer than 250 */
};
struct ran_gain ran_gain_of(const double *before, const double *now, size_t n);
/* Whether it is more than chance and worth its time: above its standard error, and above three
 * for fewer than 250 labels or tags, because of many epochs some gain two by chance; and above the
 * share `worth` of the loss, or twice that. Always, if nothing was compared. */
bool ran_gain_is_proven(const struct ran_gain *g);
/* Whether a part of the first epoch, judged by a part of the documents, leaves that open: the gain
 * is above its standard error, and a fiftieth of what it has to be in the end. Weights that hardly
 * moved make gains of a hundred millionth, which all have one sign. */
bool ran_gain_may_begin(const struct ran_gain *g);
/* Whether it may still become so after so many looks, from 1: after the first one standard error
 * may be missing (of few two), after the second half of it, and so on; and half of what it has to
 * be worth, until the second look finds no better metric; see share/experiments. */
bool ran_gain_may_prove(const struct ran_gain *g, double looks);
/* Whether so many documents with an error leave an encoder room to prove itself. */
bool ran_gain_has_room(size_t errors);

/* ---- budget.c: --minutes, the best model within a time --------------------------------------- */

/* The linear model always comes first. A few steps of the encoder then show how many fit into what
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

/* ---- share.c: the one place where a training meets other processes (ranks/ranks.h) ----------- */

/* All go through the same stages with the same weights.
 *
 *      sum      the gradients of a step: inside ran_batch_gradient
 *      agree    on how something ended: ran_lead, ran_ranks_break
 *      share    what rank 0 has: ran_share_...
 *
 * A single process is rank 0, and there is nothing to do.
 *
 * Only rank 0 reads files and standard input, so a bad line is reported once, before the others
 * know of a job. They receive all documents as ids, as any document may be in their part of a step,
 * and keep as much of them in memory as rank 0. */

/* Rank 0 does the work; all return what it returns. */
int ran_lead(struct ran_trainer *t, int (*work)(struct ran_trainer *t, struct ran_error *err),
             struct ran_error *err);
/* Rank 0: sends the job. */
int ran_share_job(const struct ran_train_job *job, struct ran_error *err);
/* A job as received by another rank. */
struct ran_share_job_copy {
        struct ran_train_job job;
        struct ran_config config;
        struct ran_train_settings settings;
        struct ran_dataset train, dev;
        struct ran_tokenizer *tokenizer;
        struct ran_spool held_out;
};
/* Receives the next job, with `pool`, or with a pool of its own if that is NULL. False: no more
 * jobs, or a failure in *err. Release it in any case. */
bool ran_share_receive(struct ran_share_job_copy *s, struct ran_ranks *ranks,
                       struct ran_pool **pool, struct ran_error *err);
void ran_share_release(struct ran_share_job_copy *s);
/* All take the state of rank 0. */
int ran_share_state(struct ran_trainer *t, struct ran_error *err);
/* All take the progress of rank 0 and keep their weights. */
int ran_share_numbers(struct ran_trainer *t, struct ran_error *err);
/* RAN_EINVAL on all unless all have the same weights. */
int ran_share_compare(struct ran_trainer *t, struct ran_error *err);

/* ---- checkpoint.c: the state as tensors, and its file ---------------------------------------- */

/* The arrays that say how far the run is, for one of two: all that the ranks share; or what a
 * checkpoint holds beside the weights of a model. Returns how many there are. */
enum { RAN_FOR_RANKS = 1, RAN_FOR_CHECKPOINT = 2, RAN_EXTRAS = 32 };
size_t ran_trainer_extras(struct ran_trainer *t, int of, struct ran_extra x[RAN_EXTRAS]);
/* Saves the progress in t->at; resumes from it. */
void ran_trainer_note(struct ran_trainer *t);
int ran_trainer_resume(struct ran_trainer *t, struct ran_error *err);
/* Whether each number is of its kind, and a decision one that there is. */
bool ran_states_are_sane(const struct ran_states *s);
/* Writes job->checkpoint, and resumes from it. */
int ran_checkpoint_write(struct ran_trainer *t, struct ran_error *err);
int ran_checkpoint_read(struct ran_trainer *t, struct ran_error *err);

/* ---- output.c: the description of a run, and its model --------------------------------------- */

/* Appends all that can change the result, and nothing else: the same text means the same run. */
void ran_trainer_describe(const struct ran_train_job *job, struct ran_buf *out);
/* What every file of the run has; and a file with a JSON object of t->training and `more`. */
struct ran_parts ran_trainer_parts(const struct ran_trainer *t);
int ran_trainer_write_parts(struct ran_trainer *t, const char *path, struct ran_parts *parts,
                            const char *more, struct ran_error *err);
/* The finished model. */
int ran_trainer_write(struct ran_trainer *t, struct ran_error *err);

/* ---- report.c: what the caller is told ------------------------------------------------------- */

/* Epochs that there will be at most. */
size_t ran_trainer_epochs(const struct ran_trainer *t);
struct ran_train_decision ran_trainer_decision(const struct ran_trainer *t);
struct ran_train_report ran_trainer_report(const struct ran_trainer *t, int event);
/* Adds results on the validation documents. */
void ran_trainer_report_rates(const struct ran_trainer *t, struct ran_train_report *report,
                              const struct ran_rates *r);
/* Rank 0 reports; not 0: this rank is asked to stop. */
int ran_trainer_tell(struct ran_trainer *t, const struct ran_train_report *r);
/* What all do next, when one of them is told that; RAN_NOTE: apply what the budget has decided. */
enum { RAN_GO_ON, RAN_NOTE, RAN_SAVE, RAN_STOP };
int ran_trainer_tell_all(struct ran_trainer *t, const struct ran_train_report *r, int *next,
                         struct ran_error *err);
/* The same between steps: RAN_EINTR if one is asked to stop. */
int ran_trainer_announce(struct ran_trainer *t, const struct ran_train_report *r,
                         struct ran_error *err);
/* Tells of a pass of the linear model; arg is the trainer. */
int ran_trainer_on_pass(void *arg, size_t passes, double share);
int ran_trainer_diverged(const struct ran_trainer *t, double epoch, double step, const char *what,
                         struct ran_error *err);

#endif
