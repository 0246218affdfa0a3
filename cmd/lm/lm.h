/* lm.h - the model of the verbs of ran-lm, and parts of their output. */
#ifndef CMD_LM_LM_H
#define CMD_LM_LM_H

#include "ran.h"
#include "cmd/content/sequence.h"

/* ---- the model (lm/model.c) ----------------------------------------------------------------- */

struct lm_options {
        char *model;
        bool verify;
        char *state_in, *state_out;      /* score and generate */
        struct ran_cache_settings cache; /* score; positions 0: none */
};
extern const struct ran_field lm_model_fields[], lm_state_fields[];

struct lm {
        struct ran_model *model;
        const struct ran_tokenizer *tokenizer; /* NULL: ids only */
        size_t V;
        struct cmd_reserved reserved;
        int mask;
        struct ran_pool *pool;
        /* With --state-in or --state-out: all records are one document, of which this is the
         * context. Else NULL: each record is a document of its own. */
        struct ran_lm_context *context;
        struct ran_cache *cache; /* of that document; NULL: none, or no such document */
};
/* Opens the model and the state; exits if the model is of another task or has no state, or if
 * the state would overwrite one of the files. */
void lm_open(struct lm *lm, const struct lm_options *options, int task, char **files);
/* Saves the state, after a run without errors. */
void lm_save_state(const struct lm *lm, const struct lm_options *options);
void lm_close(struct lm *lm);

/* How records are read; the caller sets `end` or `ask`. */
struct cmd_sequence_how lm_how(const struct lm *lm);
/* Threads for cmd_loop: one, when the records are one document. */
struct ran_pool *lm_loop_pool(const struct lm *lm);

/* ---- parts of the output (lm/model.c) ------------------------------------------------------- */

/* `"pieces":["the","cat"],"nll":[2.5,1.25]`; "ids" where there is no vocabulary. */
void lm_add_tokens(struct ran_buf *out, const struct lm *lm, const uint32_t *ids, const float *nll,
                   size_t n);
/* `"piece":"the"`; "id" where there is no vocabulary. */
void lm_add_token(struct ran_buf *out, const struct lm *lm, uint32_t id);
/* `[7,9]` */
void lm_add_ids(struct ran_buf *out, const uint32_t *ids, size_t n);
/* `[1,2]` */
void lm_add_row(struct ran_buf *out, const float *x, size_t n);
/* `[[1,2],[3,4]]` */
void lm_add_rows(struct ran_buf *out, const float *x, size_t rows, size_t cols);

/* (V) Tokens that are never generated: ids without a token, and reserved tokens, except [UNK] if
 * `unknown` and [END] if `end`. Without a vocabulary: none. The caller frees it. */
bool *lm_never(const struct lm *lm, bool unknown, bool end, struct ran_error *err);

#endif
