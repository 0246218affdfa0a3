/* ran/model.h - models: scoring, attention, explanations, sampling. Conventions: ran.h. */
#ifndef RAN_RAN_MODEL_H
#define RAN_RAN_MODEL_H

#include "ran/base.h"
#include "ran/text.h"
#include "ran/mask.h"

/* ---- models (model/) ------------------------------------------------------------------------ */

enum { RAN_ENCODER_RAN, RAN_ENCODER_CONTEXTUALIZER, RAN_ENCODER_TRANSFORMER };
enum { RAN_TASK_CLASSIFY, RAN_TASK_TAG, RAN_TASK_LM, RAN_TASK_MLM };
enum { RAN_CELL_GATED, RAN_CELL_PLAIN };
enum { RAN_POOL_MAX, RAN_POOL_MEAN };
enum { RAN_CONTEXT_CONSTANT, RAN_CONTEXT_LEARNED, RAN_CONTEXT_RANDOM };

/* What a model is, apart from its weights: the `config` of the model file and the options of
 * ran-train alike. V and C come from the tensors' shapes. */
struct ran_config {
        int encoder, task;
        size_t dim, layers, heads, head_dim, window, min_window;
        int cell, mask;
        bool rotary, residual, review;
        int pooling;
        bool multilabel;       /* classify */
        bool crf;              /* tag */
        size_t join_sentences; /* tag: of one `doc`, read as a document, at most; 0: each by itself
                                */
        size_t spelling;       /* rows of the table of spelling; 0: pieces alone */
        size_t wide, ngrams; /* classify, tag: rows of the table of the wide path, 0: none; and the
                                longest runs of ids that it looks at */
        bool affixes;        /* and whether at what words begin and end with, too */
        size_t rank;         /* contextualizer: width u of the second-order attention */
        int context;         /* contextualizer: the first context, RAN_CONTEXT_... */
        bool position_scale; /* contextualizer */
        size_t ffn_dim;      /* transformer, and what follows */
        struct ran_choices attention; /* RAN_ATTENTION_..., one of all heads or one of each */
        size_t dilation;
        int similarity;   /* RAN_SIMILARITY_... */
        size_t shortlist; /* lm, mlm: ids below it in the first softmax, see model/lm.h; 0: all */
};
extern const struct ran_field ran_config_fields[];
/* Whether a field belongs to the task, its head and how its documents are read; the others make an
 * encoder what it is, so that weights are of use only where they are the same. */
bool ran_config_is_of_task(const char *name);
/* Checks the range of each field, and what no single one can know (an even head_dim for rotary,
 * sizes that overflow). ran_fields_init gives the defaults; all zero is no model. */
int ran_config_check(const struct ran_config *config, struct ran_error *err);

/* What a task is (model/task.c): its name, as in configurations; whether it has labels, of documents
 * or words, and not a vocabulary; whether its documents say where words begin, or what their source
 * is. */
const char *ran_task_name(int task);
bool ran_task_has_labels(int task);
bool ran_task_reads_words(int task);
bool ran_task_reads_sources(int task);

/* Whether the encoder has an output for each token: a Contextualizer has one vector of the document
 * instead. */
bool ran_config_has_token_outputs(const struct ran_config *config);

/* A model is read-only once open and may be shared by threads. */
struct ran_model;
/* verify: also compares the digest of the data section. */
struct ran_model *ran_model_open(const char *path, bool verify, struct ran_error *err);
void ran_model_free(struct ran_model *m);
const struct ran_config *ran_model_config(const struct ran_model *m);
const struct ran_tokenizer *ran_model_tokenizer(const struct ran_model *m); /* NULL: ids only */
size_t ran_model_vocabulary(const struct ran_model *m);                     /* V */
size_t ran_model_classes(const struct ran_model *m); /* C; of a language model V */
const char *ran_model_label(const struct ran_model *m,
                            size_t c); /* "0", "1" ... if unnamed; NULL: none */
const char *ran_model_metadata(const struct ran_model *m, const char *key); /* NULL: absent */
/* Whether the files of two models are the same bytes. If not, appends to `what` where they are not,
 * the first tensor that differs before all else: "tensor lm.bias: 3 of its 40 elements differ,
 * ...".
 */
bool ran_model_same(const struct ran_model *a, const struct ran_model *b, struct ran_buf *what);
/* Decision thresholds of a model with several labels a document, (C): tuned ones, or 0.5. NULL: a
 * language model. */
const float *ran_model_thresholds(const struct ran_model *m);
/* One label a document: labels at least as probable as *cut are a set that holds the right one with
 * this probability, 0 < coverage < 1, for documents like those that the model was calibrated with
 * in training (model/calibration.h). RAN_EINVAL, and what to do, where there were none or too few.
 */
int ran_model_cut(const struct ran_model *m, double coverage, float *cut, struct ran_error *err);

/* ---- scoring (model/score.c) ---------------------------------------------------------------- */

/* Scratch for scoring with m: one a thread, reused from document to document, after an error too.
 * pool: threads that may help with one long document, or NULL. m and pool must outlive it.
 *
 * A model, state or past that do not belong together, a task that is not the model's, ids that it
 * does not have and places that are none are RAN_EINVAL; a result that is no number, as of damaged
 * weights, is RAN_EFORMAT. */
struct ran_state;
struct ran_state *ran_state_new(const struct ran_model *m, struct ran_pool *pool,
                                struct ran_error *err);
void ran_state_free(struct ran_state *s);
/* A document to be read. */
struct ran_document {
        const uint32_t *ids; /* (L), each < V; L >= 1 */
        size_t L;
        const uint32_t
                *spelling; /* (L, RAN_SPELLING), for models that want it, of as many buckets */
        /* For tagging: word i stands at token places[i] (ascending, < L). Of a document that was
         * put together of sentences, begins[i] says whether it is the first of one: tags go from
         * word to word within a sentence only. NULL: it is one sentence. */
        const uint32_t *places; /* (words) */
        const bool *begins;     /* (words) */
        size_t words;
};
/* logits (C); embedding (D), the input of the last linear layer, or NULL. The result depends on the
 * document alone, bit for bit. task classify. */
int ran_classify(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
                 float *logits, float *embedding, struct ran_error *err);
/* tags (words, at least 1): the best sequence, which is a possible one in IOB2 if that is how the
 * model's tags are named. score (words): the probability of each tag, or NULL. logits (words, C),
 * or NULL. task tag. */
int ran_tag(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
            uint32_t *tags, float *score, float *logits, struct ran_error *err);
/* What a language model has read so far, to read on from there (MODELS.md calls it the state to
 * carry on): per layer the cell, what the review keeps of all earlier ones, and the window that is
 * open. Reading on costs the new tokens alone. m must outlive it. */
struct ran_lm_context;
struct ran_lm_context *ran_lm_context_new(const struct ran_model *m,
                                          struct ran_error *err); /* nothing read */
void ran_lm_context_free(struct ran_lm_context *p);
void ran_lm_context_clear(struct ran_lm_context *p);
size_t ran_lm_context_tokens(const struct ran_lm_context *p); /* read so far */
/* The token that the document stopped before: it is read first when the document goes on, because
 * reading it tells what follows it. RAN_NO_ID: none. The caller's to set and to read. */
uint32_t ran_lm_context_pending(const struct ran_lm_context *p);
void ran_lm_context_set_pending(struct ran_lm_context *p, uint32_t id);

/* A cache over the recent past (model/cache.c): words that were there a while ago come again
 * (Grave, Joulin and Usunier, Improving neural language models with a continuous cache, ICLR 2017).
 * It needs no training, and makes of what a model says of the token after place t
 *
 *      p(w) = (1 - weight) p_model(w) + weight p_cache(w)
 *      p_cache(w) = sum of exp(theta cos(h_t, h_i)) over those i that w came after, divided by the
 *                   sum over all i:  the last `positions` places before t of this document
 *
 * h is the output of the encoder that the softmax reads. The paper has h_t . h_i; the cosine makes
 * theta the same thing for models of any width and scale. At the first place of a document, where
 * there is nothing to look back on, p is p_model. Probabilities add up to 1, as those of the model
 * do. A token takes the time of `positions` cosines; memory grows with them, by 2 (D + 64) numbers
 * each at most.
 *
 * One for each document that is being read; the next one begins with ran_cache_clear. */
#define RAN_CACHE_THETA 1000 /* at most */
struct ran_cache_settings {
        size_t positions;     /* at least 1 */
        double weight, theta; /* 0 <= weight < 1; 0 <= theta */
};
struct ran_cache;
struct ran_cache *ran_cache_new(const struct ran_config *config,
                                const struct ran_cache_settings *set, struct ran_error *err);
void ran_cache_free(struct ran_cache *c);
void ran_cache_clear(struct ran_cache *c); /* nothing remembered */

/* Kept in a file, the pending token, too: a safetensors file that names its model by digest. One of
 * another model, and what is damaged, is refused. cache: what it remembers of the document is kept
 * and loaded with it, or NULL. A file that remembers less than a cache of so many positions would
 * is refused. */
int ran_lm_context_save(const struct ran_lm_context *p, const struct ran_cache *cache,
                        const char *path, struct ran_error *err);
struct ran_lm_context *ran_lm_context_load(const struct ran_model *m, struct ran_cache *cache,
                                           const char *path, struct ran_error *err);

/* What is wanted of the tokens that are read; NULL: not that. All zero: nothing. */
struct ran_lm_out {
        size_t skip; /* below n: nothing is wanted of so many leading tokens, which gold, nll and
                        logits then do not have */
        const uint32_t *gold; /* (n) the token that should follow each, or RAN_NO_ID */
        float *nll;           /* (n) -log of the probability of gold, 0 where there is none */
        float *logits;        /* (n, V); log-probabilities under an adaptive softmax */
        float *last;          /* (V) the same, after the last token only */
        /* With gold: nll and logits, then log-probabilities, are those of model and cache together,
         * and the cache remembers these tokens. `last` is the model's alone. */
        struct ran_cache *cache;
};
/* Reads n >= 1 ids of a document (each < V) after those of `past` (may be NULL: a document of its
 * own), which then holds them, too. The first `sources` of them are source tokens (mask prefix):
 * those of a document must be read all at once, at its beginning. task lm. After RAN_EFORMAT past
 * and cache hold what is no number: clear them. After any other failure they are as they were. */
int ran_lm_read(const struct ran_model *m, struct ran_state *s, struct ran_lm_context *past,
                const uint32_t *ids, size_t n, size_t sources, const struct ran_lm_out *out,
                struct ran_error *err);
/* Of a document of L ids the tokens at places (n, ascending): nll of gold (n) unless NULL, and
 * logits (n, V) unless NULL. task mlm. */
int ran_lm_fill(const struct ran_model *m, struct ran_state *s, const uint32_t *ids, size_t L,
                const uint32_t *places, size_t n, const uint32_t *gold, float *nll, float *logits,
                struct ran_error *err);
/* Takes the logits (V) of the i-th place. What it returns, if not RAN_OK, ends the others, and is
 * what ran_lm_fill_each returns. */
typedef int ran_lm_take(void *arg, size_t i, const float *logits, struct ran_error *err);
/* The logits of one place after another: memory for a few hundred of them, however many there are.
 */
int ran_lm_fill_each(const struct ran_model *m, struct ran_state *s, const uint32_t *ids, size_t L,
                     const uint32_t *places, size_t n, ran_lm_take *take, void *arg,
                     struct ran_error *err);

/* Probabilities (C) of logits: softmax, or a sigmoid each for several labels. In double, then
 * rounded; never above 1. */
void ran_probabilities(const struct ran_config *config, const float *logits, size_t C, float *p);
size_t ran_most_probable(const float *p, size_t C); /* the first of equals */

/* ---- the attention that was paid (model/probe.c) ----------------------------------------------
 */

/* Attention is a table of weights: a row is a query, which looks, a column a key, which is looked
 * at. What a query gives to all keys adds up to 1, and a key that it does not see gets 0. Each
 * layer has
 *
 *                    RAN_PROBE_HEADS, a table a head             RAN_PROBE_REVIEW, one table
 *      RAN           rows and rows: window by window            tokens and states
 *      Transformer   tokens and tokens, as far as they see
 *      Contextualizer  the document and its tokens; layers are steps
 *
 * Rows are the tokens, before those of each window its cell. State i is the cell after i windows:
 * what the review of window i - 1 left; state 0, with which the document begins, is seen under a
 * mask only. A Contextualizer has a vector a token and step, alpha * x; the weight is its length's
 * share of all those lengths. */
enum { RAN_PROBE_HEADS, RAN_PROBE_REVIEW, RAN_PROBE_TABLES };
enum ran_axis { RAN_AXIS_TOKENS, RAN_AXIS_ROWS, RAN_AXIS_STATES, RAN_AXIS_DOCUMENT };
struct ran_probe_shape {
        size_t L, layers;
        size_t windows, window; /* window i begins at token i * window; 1 and L: there are none */
        struct ran_probe_table {
                enum ran_axis queries, keys; /* what they are */
                size_t n_queries, n_keys;
                size_t heads; /* 0: no such table */
        } table[RAN_PROBE_TABLES];
};
/* Of a document of L >= 1 tokens. */
void ran_probe_shape(struct ran_probe_shape *shape, const struct ran_config *c, size_t L);
size_t ran_probe_window(const struct ran_probe_shape *shape, size_t t); /* of token t */
size_t ran_probe_window_end(const struct ran_probe_shape *shape,
                            size_t i);                               /* after its last token */
size_t ran_probe_row(const struct ran_probe_shape *shape, size_t t); /* of token t */
size_t ran_probe_cell(const struct ran_probe_shape *shape,
                      size_t i); /* row of the cell of window i */
/* Whether a row is a cell; *at: its window, or else the token. */
bool ran_probe_is_cell(const struct ran_probe_shape *shape, size_t row, size_t *at);

/* What to look at: the queries and keys of a table, in blocks; the last of them may be smaller. One
 * block of queries over blocks of one key says how much each key got in all; blocks of 1 and 1 are
 * the weights themselves. */
#define RAN_PROBE_MEAN SIZE_MAX /* for head: the mean of all */
struct ran_probe {
        int table;
        size_t layer, head;
        size_t query_from, query_to, key_from, key_to;
        size_t down, across; /* queries and keys of a block, at least 1 */
        double *sum; /* (height, width) of the weights of a block: the caller's, overwritten */
        /* Of a Contextualizer: |z|, how large the update of the step was, and |c| after it; else 0.
         */
        double update, context;
};
size_t ran_probe_height(const struct ran_probe *k); /* blocks of queries, of keys */
size_t ran_probe_width(const struct ran_probe *k);
/* RAN_EINVAL for what is not there, with a sentence; sum is not looked at. */
int ran_probe_check(const struct ran_probe_shape *shape, const struct ran_probe *k,
                    struct ran_error *err);
/* Reads a document once and fills all n looks, from the weights as they are computed on the way; no
 * table is ever held whole. `sources`: as for ran_lm_read; any task. */
int ran_probe(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
              size_t sources, struct ran_probe *look, size_t n, struct ran_error *err);
/* ---- explaining (model/explain.c) ------------------------------------------------------------ */

/* How each token of a document bears on what a model makes of it, by backward passes through the
 * whole document: exact, however long it is and whatever lies between. One a thread; memory as in
 * training. m and pool must outlive it; pool may be NULL. */
struct ran_explainer;
struct ran_explainer *ran_explainer_new(const struct ran_model *m, struct ran_pool *pool,
                                        struct ran_error *err);
void ran_explainer_free(struct ran_explainer *e);
/* Takes a document, for the questions below; what d points to is copied. sources: as for
 * ran_lm_read. */
int ran_explain_read(struct ran_explainer *e, const struct ran_document *d, size_t sources,
                     struct ran_error *err);

/* Token to label: what each of the L tokens adds to the log odds log(p / (1 - p)) of class c, for
 * the document (row 0) or, tagging, for its word `row`: to the logit itself, where there may be
 * several labels.
 *
 * steps 0: gradient x input. A token's value is the derivative of the log odds by the size of its
 * row of the embedding: all of them together are the derivative by s, at s = 0, for the document
 * whose rows are all (1 + s) times as large. The truth, but of a place where little is to be seen:
 * RAN and Transformer begin with a layer norm, which takes away the size of a row.
 *
 * steps k: the same at k places of a path on which all tokens grow from nothing (a row of zeros) to
 * what they are, evenly as their layer norm shows them (integrated gradients; Sundararajan, Taly
 * and Yan 2017). The values together are the log odds less those of as many empty tokens, the
 * better the more places; their order is good from the first, and RAN_EXPLAIN_STEPS change it
 * little. One forward and one backward pass a step. */
enum { RAN_EXPLAIN_STEPS = 4 };
int ran_explain_label(struct ran_explainer *e, size_t row, size_t c, size_t steps, double *value,
                      struct ran_error *err);

/* Token to token: how much each of the L tokens bears on the outputs of the tokens [from, to) of
 * the encoder. J being the Jacobian of these rows by the embedding row x of a token (all products
 * of Jacobians through attention, cells and review are in it), its value is |J|^2 |x|^2 / D: the
 * mean square by which these outputs move, to first order, when the row of the token makes a step
 * of its own length in some direction. So values of several runs of rows may be added, and so may
 * those of tokens.
 *
 * |J|^2, the Frobenius norm, is that of r J for random signs r, in the mean over `probes` of them,
 * always the same ones (Hutchinson 1990): one backward pass a probe, however many rows. Not for a
 * Contextualizer. */
int ran_explain_tokens(struct ran_explainer *e, size_t from, size_t to, size_t probes,
                       double *value, struct ran_error *err);

/* ---- sampling (model/sample.c) --------------------------------------------------------------- */

/* How a token is drawn from the logits of a language model. Set the first four members, leave the
 * rest zero; one a thread. The order of the cuts: temperature, top_k, top_p. */
struct ran_sampler {
        double temperature; /* logits are divided by it; 0: the most probable token, no chance */
        size_t top_k;       /* only of the k most probable; 0: of all */
        double top_p; /* of these, only of the fewest that have this share of their probability; 1:
                         all */
        const bool *never; /* (V) tokens that are never drawn; NULL: none */
        /* Scratch. */
        uint32_t *heap;
        double *weight;
        size_t heap_cap, weight_cap;
};
void ran_sampler_release(struct ran_sampler *s);
/* Draws by u, uniform in [0, 1). Of equally probable tokens the one with the lower id comes first.
 * RAN_EINVAL when a logit is not a number, or no token can be drawn. */
int ran_sampler_draw(struct ran_sampler *s, const float *logits, size_t V, double u, uint32_t *id,
                     struct ran_error *err);
/* The k most probable tokens but those of `never`, the most probable first, and their probabilities
 * among all V. Returns in *n how many there are: k, or fewer. The other settings play no part. */
int ran_sampler_best(struct ran_sampler *s, const float *logits, size_t V, size_t k, uint32_t *ids,
                     double *p, size_t *n, struct ran_error *err);
/* -log of the probability of a token, in double. */
double ran_nll(const float *logits, size_t V, uint32_t id);

#endif
