/* continuation.h - continues a sequence: samples one token after another, or searches with a beam.
 */
#ifndef CMD_LM_CONTINUATION_H
#define CMD_LM_CONTINUATION_H

#include "cmd/lm/lm.h"
#include "cmd/lm/text.h"
#include "cmd/content/sequence.h"
#include "ran.h"

struct continuation_options {
        size_t max_new_tokens, min_new_tokens, no_repeat_ngram;
        struct ran_list stop;
        double temperature, top_p;
        size_t top_k, seed;
        bool unknown, replace_unknown, per_token;
        size_t beam, n_best; /* 0: no beam search; only the best */
        double length_penalty;
};

/* Set lm, options and never; all threads use it. */
struct continuation_how {
        struct lm lm;
        const struct continuation_options *options;
        bool *never; /* (V) tokens never generated */
};

/* Each thread has one. Read `sequence`, then call continuation_make. */
struct continuation {
        const struct continuation_how *how;
        struct ran_state *state;
        struct ran_lm_context *context; /* of this document, or the common one of all records */
        bool own;                       /* it is this one's */
        struct cmd_sequence sequence;
        const struct record *record; /* it was read from, while it is continued; or NULL */
        struct ran_sampler sampler;
        struct ran_beam *beam;   /* or NULL */
        float *logits, *allowed; /* (V) after what was read so far; those that may be drawn */
        /* The text: what was generated, after the beginning that the sequence gave. */
        uint32_t *ids; /* (n_new) */
        float *nll;    /* (n_new) */
        size_t n_new, ids_cap, nll_cap;
        double score;        /* of a beam search */
        struct lm_text text; /* with a vocabulary */
        const char *finish;
};
/* how is a struct continuation_how, for cmd_loop.make_scratch and free_scratch. */
void *continuation_new(void *how, struct ran_error *err);
void continuation_free(void *continuation);

/* Continues the sequence. record may be NULL: sampling depends on its id. show, which may be NULL,
 * is called when the text may have grown. */
int continuation_make(struct continuation *k, const struct record *record,
                      void (*show)(void *arg, const struct lm_text *text), void *arg,
                      struct ran_error *err);
/* The result for a record, an object. */
int continuation_json(struct continuation *k, struct ran_buf *out, struct ran_error *err);

#endif
