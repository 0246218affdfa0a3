/* lm.h - the verbs of ran-lm and what they share: the model, sequences, measures, reports. */
#ifndef CMD_LM_LM_H
#define CMD_LM_LM_H

#include "cmd/content/reading.h"
#include "cmd/pages/documents.h"
#include "cmd/pages/report.h"
#include "cmd/records/loop.h"

/* A main each. */
int lm_score(int argc, char **argv);
int lm_generate(int argc, char **argv);
int lm_fill(int argc, char **argv);

/* ---- the model (model.c) -------------------------------------------------------------------- */

struct lm_options {
        char *model;
        bool verify;
        char *state_in, *state_out; /* score and generate */
};
extern const struct ran_field lm_model_fields[], lm_state_fields[];

struct lm {
        struct ran_model *model;
        const struct ran_tokenizer *tokenizer; /* NULL: ids only */
        size_t V;
        struct cmd_reserved reserved;
        int mask;
        struct ran_pool *pool,
                *loop_pool; /* of cmd_loop: NULL, when the records are one document */
        /* With --state-in or --state-out: all records are one document, of which this is the
         * context. Else NULL: each record is a document of its own. */
        struct ran_lm_context *context;
};
/* Opens the model and the state; exits if the model is of another task or has no state, or if
 * the state would overwrite one of the files. */
void lm_open(struct lm *lm, const struct lm_options *options, int task, char **files);
/* Saves the state, after a run without errors. */
void lm_save_state(const struct lm *lm, const struct lm_options *options);
void lm_close(struct lm *lm);

/* How records are read; the caller sets `end` or `ask`. */
struct cmd_sequence_how lm_how(const struct lm *lm);

/* Parts of the output: `"pieces":["the","cat"],"nll":[2.5,1.25]`, or "ids" where there is no
 * vocabulary; `"the"`, or `7`; `"ids":[7,9]`. */
void lm_add_tokens(struct ran_buf *out, const struct lm *lm, const uint32_t *ids, const float *nll,
                   size_t n);
void lm_add_piece(struct ran_buf *out, const struct lm *lm, uint32_t id);
void lm_add_ids(struct ran_buf *out, const uint32_t *ids, size_t n);

/* (V) Tokens that are never generated: ids without a token, and reserved tokens, except [UNK] if
 * `unknown` and [END] if `end`. Without a vocabulary: none. The caller frees it. */
bool *lm_never(const struct lm *lm, bool unknown, bool end);

/* ---- the text of a continuation, token by token (text.c) ------------------------------------ */

/* Zero-initialise; used again and again. */
struct lm_text {
        const struct ran_tokenizer *tokenizer;
        const struct ran_list *stops;
        uint32_t last; /* the token before the next one, for the space between; or RAN_NO_ID */
        struct ran_buf text; /* all so far; may end within a character */
        size_t sure;  /* bytes that are final: whole characters, and no part of a stop string */
        bool stopped; /* a stop string was found; it and the rest have been removed */
        struct ran_buf scratch;
};
void lm_text_release(struct lm_text *t);
/* An empty text, which continues the token `last`. */
void lm_text_begin(struct lm_text *t, const struct ran_tokenizer *tokenizer,
                   const struct ran_list *stops, uint32_t last);
int lm_text_add(struct lm_text *t, uint32_t id, struct ran_error *err);
/* The same for the text of a token. */
void lm_text_add_bytes(struct lm_text *t, const char *bytes, size_t n);
/* After the last token: all of the text is final. */
void lm_text_end(struct lm_text *t);
/* Appends the final text from `from` on, with U+FFFD for invalid UTF-8. Returns where it
 * stopped. */
size_t lm_text_show(const struct lm_text *t, size_t from, struct ran_buf *out);

/* ---- continuations (continuation.c) --------------------------------------------------------- */

struct continuation_options {
        size_t max_new_tokens, min_new_tokens, no_repeat_ngram;
        struct ran_list stop;
        double temperature, top_p;
        size_t top_k, seed;
        bool unknown, per_token;
        size_t beam, n_best; /* 0: no beam search; only the best */
        double length_penalty;
};

/* Set lm, options and never; all threads use it. */
struct continuation_how {
        struct lm lm;
        const struct continuation_options *options;
        bool *never; /* (V) tokens never generated */
};

/* Each thread has one. Call continuation_read, then continuation_make. */
struct continuation {
        const struct continuation_how *how;
        struct ran_state *state;
        struct ran_lm_context *context; /* of this document, or the common one of all records */
        bool own;                       /* it is this one's */
        struct cmd_sequence sequence;
        struct ran_sampler sampler;
        struct ran_beam *beam;   /* or NULL */
        float *logits, *allowed; /* (V) after what was read so far; those that may be drawn */
        /* What was generated: */
        uint32_t *ids; /* (n_new) */
        float *nll;    /* (n_new) */
        size_t n_new, ids_cap, nll_cap;
        double score;        /* of a beam search */
        struct lm_text text; /* with a vocabulary */
        const char *finish;
};
/* how is a struct continuation_how, for cmd_loop.make_scratch and free_scratch. */
void *continuation_new(void *how);
void continuation_free(void *continuation);

/* Reads the sequence of a record, without a target. */
int continuation_read(struct continuation *k, const struct record *record, struct ran_error *err);
/* Continues the sequence. record may be NULL: sampling depends on its id. show, which may be NULL,
 * is called when the text may have grown. */
int continuation_make(struct continuation *k, const struct record *record,
                      void (*show)(void *arg, const struct lm_text *text), void *arg,
                      struct ran_error *err);
/* The result for a record, an object. */
int continuation_json(struct continuation *k, struct ran_buf *out, struct ran_error *err);

/* ---- generate --eval and --eval-only: texts against those of the records -------------------- */

struct lm_evaluate_options {
        bool eval;
        char *eval_only; /* member with texts that were generated before; NULL: generate them */
        char *reference; /* member to compare with */
        int eval_format;
};
extern const struct ran_field lm_evaluate_fields[];

/* Compares and writes the report to `output` (NULL: standard output). loop has input, pool and
 * reads; model is NULL with --eval-only. Returns the exit status. */
int lm_evaluate(const struct lm_evaluate_options *options, struct cmd_loop loop,
                struct continuation_how *how, const char *model, const char *output, char **files);

/* ---- perplexity (perplexity.c) -------------------------------------------------------------- */

/* Sums over predicted tokens. The sums of several texts add up; perplexities are computed from sums
 * at the end, never averaged. Zero-initialise. */
struct perplexity {
        size_t records;
        double nll;         /* nats */
        double nll_unknown; /* that of the unknown words */
        size_t tokens, unknown;
        size_t spelled;      /* bytes of the unknown words, and an end for each */
        size_t words, bytes; /* of the texts of these tokens */
        size_t uncounted;    /* records without known words: bare ids, encodings */
};
/* nll with `cost` bits for each byte and the end of each unknown word. That is the length of a code
 * for the text itself, which [UNK] alone is not: with PERPLEXITY_COST_UNIFORM or more, models with
 * different vocabularies compare. */
#define PERPLEXITY_COST_UNIFORM 8.005624549193879 /* log2(257): any byte, or the end */
double perplexity_spelled(const struct perplexity *p, double cost);
/* Adds the words and bytes of a text, or of the list of words in the member `words_name`. Words are
 * separated by white space; each line feed is a word, and so is the predicted end of the document.
 * These are the tokens of a vocabulary of all words with an end-of-line token, so perplexity per
 * word does not depend on the vocabulary of the model if it knows all words. */
int perplexity_count(struct perplexity *p, const struct cmd_document *d,
                     const struct record *record, const char *words_name, bool ended,
                     struct ran_buf *scratch, struct ran_error *err);
void perplexity_merge(struct perplexity *p, const struct perplexity *from);
/* Adds the measures to a report; with a cost above 0, those of words and bytes have unknown words
 * spelled. all: people see all measures; else the few that stand beside a text. */
void perplexity_tree(const struct perplexity *p, double cost, bool all, struct report *r);

/* ---- log likelihoods as a page (score-page.c) ----------------------------------------------- */

/* A text that was scored, for a sum or a page. */
struct lm_scored {
        struct perplexity measures;
        struct page_document document; /* for a page */
};
/* Makes the document of a page from the rest, in any thread: nll has an element for each token from
 * q->first on. Offsets count bytes. */
void lm_score_page_make(const struct lm *lm, const struct cmd_line *line,
                        const struct cmd_sequence *q, const float *nll, double cost,
                        struct lm_scored *scored);
/* Writes the page to a file, NULL: standard output. */
void lm_score_page_write(struct page_documents *documents, const struct perplexity *total,
                         const char *model, double cost, const char *output);

#endif
