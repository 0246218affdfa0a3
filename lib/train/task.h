/* task.h - what training does differently by task: an entry of a table for each (RAN_TASK_...), a
 * file task-NAME.c. A function that is NULL has nothing to do. */
#ifndef RAN_TRAIN_TASK_H
#define RAN_TRAIN_TASK_H

#include "nn/task.h"
#include "part/linear/ensemble.h"

struct ran_batch_scratch;
struct ran_batcher;
struct ran_chunk;
struct ran_evaluate_rates;
struct ran_grad;
struct ran_sweep;
struct ran_trainer;

struct ran_train_task {
        bool chunks;       /* documents may be read in chunks (plan.h) */
        size_t first_look; /* the epoch after which an encoder has to show a gain; 0: never */
        double worth;   /* share of the linear model's loss that an encoder has to gain (gain.h) */
        bool has_head;  /* a head of its own, whose settings a search may change */
        double outputs; /* of tied outputs, estimated: how many a token has */
        const struct ran_ensemble *prior; /* ensemble weights before any document says more, */
        double linear_alone; /* and that of a linear model without an encoder: the scale of its
                                logits, if nothing is known about it */

        /* What the settings cannot be, beyond what all tasks have in common. */
        int (*check_settings)(const struct ran_train_settings *s, struct ran_error *err);
        /* What document b is to be told as. unknown: labels may be RAN_LABEL_UNKNOWN. */
        int (*check_labels)(const struct ran_dataset *d, size_t b, const struct ran_config *c,
                            size_t C, bool unknown, struct ran_error *err);

        /* A batch (batch.h). prepare: once, with the vocabulary, or NULL. terms: of the loss,
         * weighted. mask: *ids become those that the encoder reads instead. load: notes the outputs
         * of the chunk that was packed last. loss: of a shard that is encoded, and its gradient
         * back to the encoder's output. */
        int (*prepare)(struct ran_batcher *k, const struct ran_tokenizer *tokenizer,
                       struct ran_error *err);
        double (*terms)(const struct ran_batcher *k, const struct ran_chunk *chunk);
        int (*mask)(struct ran_batcher *k, struct ran_batch_scratch *s, size_t b,
                    const uint32_t **ids, struct ran_error *err);
        int (*load)(struct ran_batcher *k, struct ran_batch_scratch *s,
                    const struct ran_chunk *chunk, struct ran_error *err);
        double (*loss)(struct ran_batcher *k, struct ran_batch_scratch *s, size_t shard,
                       struct ran_grad *g);

        /* Evaluation (evaluate.h). score: document b, with the state of a thread. targets:
         * predicted tokens of a document, where outputs are tied. */
        int (*score)(struct ran_sweep *k, struct ran_state *s, size_t b, struct ran_error *err);
        size_t (*targets)(const struct ran_dataset *d, size_t b);

        /* A run (trainer.h). init_output: biases of the output, before any training. validate:
         * results for validation documents, t->losses, and the ensemble weights that suit them;
         * alone: of the linear model. tune: what the
         * best epoch's model decides with. merge: the ensemble becomes one model. held_out_loss: of
         * the ensemble as it stands. */
        int (*init_output)(struct ran_trainer *t, struct ran_error *err);
        int (*validate)(struct ran_trainer *t, bool alone, struct ran_evaluate_rates *r,
                        struct ran_error *err);
        int (*tune)(struct ran_trainer *t, struct ran_error *err);
        void (*merge)(struct ran_trainer *t);
        int (*held_out_loss)(struct ran_trainer *t, double *loss, struct ran_error *err);
};

const struct ran_train_task *ran_train_task_of(const struct ran_config *c);

#define RAN_TRAIN_TASK_DECLARE(number, name) extern const struct ran_train_task ran_train_##name;
RAN_TRAINED_TASKS(RAN_TRAIN_TASK_DECLARE)

#endif
