/* ran/model.h - models: scoring, attention, explanations, sampling. Conventions: ran.h. */
#ifndef RAN_RAN_MODEL_H
#define RAN_RAN_MODEL_H

#include "ran/base.h"
#include "ran/text.h"
#include "ran/mask.h"

/* ---- models (model/) ------------------------------------------------------------------------ */

/* X(NUMBER, name): all encoders, RAN_ENCODER_RAN and so on, by the names that they have in
 * configurations; and all tasks, RAN_TASK_CLASSIFY and so on. A model of the task `embed` is an
 * encoder without a head; it learns from vectors, not from documents of a user (ran/distil.h): a
 * verb has each of the others. */
#define RAN_ENCODERS(X)                   \
        X(RAN, ran)                       \
        X(CONTEXTUALIZER, contextualizer) \
        X(TRANSFORMER, transformer)       \
        X(NONE, none)                     \
        X(STATIC, static)                 \
        X(BERT, bert)
#define RAN_VERB_TASKS(X)     \
        X(CLASSIFY, classify) \
        X(TAG, tag)           \
        X(LM, lm)             \
        X(MLM, mlm)
#define RAN_TASKS(X) RAN_VERB_TASKS(X) X(EMBED, embed)
/* And the parts of models (nn/part.h), RAN_PART_RAN and so on, in the order in which files have
 * their tensors. */
#define RAN_PARTS(X)                      \
        X(RAN, ran)                       \
        X(PRENORM, prenorm)               \
        X(CONTEXTUALIZER, contextualizer) \
        X(TRANSFORMER, transformer)       \
        X(STATIC, static)                 \
        X(BERT, bert)                     \
        X(VECTORS, vectors)               \
        X(CLASSIFY_HEAD, classify_head)   \
        X(LINEAR, linear)                 \
        X(WORDS, words)                   \
        X(TAG_HEAD, tag_head)             \
        X(CRF, crf)                       \
        X(LM_HEAD, lm_head)
#define RAN_PART_NUMBER(number, name)    RAN_PART_##number,
#define RAN_ENCODER_NUMBER(number, name) RAN_ENCODER_##number,
#define RAN_TASK_NUMBER(number, name)    RAN_TASK_##number,
enum { RAN_ENCODERS(RAN_ENCODER_NUMBER) };
enum { RAN_TASKS(RAN_TASK_NUMBER) RAN_TASK_COUNT };
enum { RAN_PARTS(RAN_PART_NUMBER) RAN_PARTS_MOST };
enum { RAN_CELL_GATED, RAN_CELL_PLAIN, RAN_CELL_PRENORM, RAN_CELL_PUBLISHED };
enum { RAN_POOL_MAX, RAN_POOL_MEAN, RAN_POOL_CLS, RAN_POOL_LAST };
enum {
        RAN_ACTIVATION_NONE,
        RAN_ACTIVATION_GELU,
        RAN_ACTIVATION_GELU_TANH,
        RAN_ACTIVATION_RELU,
        RAN_ACTIVATION_SILU,
        RAN_ACTIVATION_TANH
};
enum { RAN_REVIEW_NONE, RAN_REVIEW_ALL, RAN_REVIEW_WINDOW, RAN_REVIEW_DISPERSED };
/* What makes the vector of a document of the windows of a pretrained encoder: its own pooling; mean
 * or maximum of the windows' vectors; that of the window whose label is most certain. */
enum { RAN_UPPER_POOLING, RAN_UPPER_MEAN, RAN_UPPER_MAX, RAN_UPPER_CERTAIN };
enum { RAN_CONTEXT_CONSTANT, RAN_CONTEXT_LEARNED, RAN_CONTEXT_RANDOM };

/* The configuration of a model: the `config` of the model file and the options of ran-train. V
 * and C come from the tensors' shapes. First what several parts read; then, in a struct for each,
 * what one part or task reads. In files and options all names are flat: `rank`, `ffn_dim`. */
struct ran_config {
        int encoder, task;
        size_t dim, layers, heads, head_dim, window, min_window;
        int mask;
        bool rotary;
        size_t ffn_dim; /* transformer, bert */
        int pooling;
        size_t spelling; /* rows of the spelling table; 0: subwords alone */
        bool frozen;     /* classify: the encoder is not trained; its document vectors are
                            features of the linear model */
        struct ran_config_ran {
                int cell;
                bool residual;
                int review;           /* RAN_REVIEW_...: the cells that a token attends to */
                size_t review_window; /* of the patterns window and dispersed, in windows */
                bool review_source;   /* mask prefix: target tokens attend to source tokens, too */
                int cell_pooling; /* published cells: RAN_POOL_LAST, _MEAN or _MAX of all windows */
                bool vector;      /* it has learned to make vectors of documents */
        } ran;
        struct ran_config_contextualizer {
                size_t rank; /* width u of the second-order attention */
                int context; /* the first context, RAN_CONTEXT_... */
                bool position_scale;
        } contextualizer;
        struct ran_config_transformer {
                struct ran_choices attention; /* RAN_ATTENTION_..., of all heads or one of each */
                size_t dilation;
                int similarity; /* RAN_SIMILARITY_... */
        } transformer;
        struct ran_config_bert {       /* part/bert/bert.h */
                size_t max_length;     /* rows of a window, those around it included */
                size_t prefix, suffix; /* rows before and after the tokens of each window */
                size_t pool_skip;      /* rows of the prefix that pooling leaves out: a prompt's */
                bool positions;        /* learned ones */
                size_t buckets;        /* of relative positions; 0: none */
                double rotary_base, rotary_base_local;
                size_t global_every; /* layers 0, n, 2n ... see the whole window, the others
                                        `window` tokens */
                bool norm_first;     /* norms in front of attention and feed-forward part */
                bool bias;           /* linear layers and norms have biases */
                double norm_eps;
                int activation; /* RAN_ACTIVATION_... */
                bool gated;     /* feed-forward part with a gate */
                size_t dense;   /* width of a linear layer on what the head reads; 0: none */
                int dense_activation;
                bool dense_norm, l2_normalize;
                size_t vector_dim; /* the first numbers of a document's vector; 0: all */
        } bert;
        int upper;                 /* of a pretrained encoder: RAN_UPPER_... */
        struct ran_config_linear { /* classify, tag */
                size_t wide;       /* rows of its table, 0: none */
                size_t ngrams;     /* the longest */
                bool affixes;      /* prefixes and suffixes of words, too */
        } linear;
        struct ran_config_classify {
                bool multilabel;
        } classify;
        struct ran_config_tag {
                bool crf;
                size_t join_sentences; /* at most so many of one `doc` are read as a document; 0:
                                          each by itself */
        } tag;
        struct ran_config_lm {    /* lm, mlm */
                size_t shortlist; /* ids below it in the first softmax, see task/lm-output.h; 0:
                                     all */
        } lm;
};
extern const struct ran_field ran_config_fields[];
/* Whether a field belongs to the task: to its head, or to the way of reading documents. The
 * other fields define the encoder; weights fit another model only if these are the same. */
bool ran_config_is_of_task(const char *name);
/* Checks the range of each field, and fields against each other (an even head_dim for rotary).
 * ran_fields_init gives the defaults; all zero is no model. */
int ran_config_check(const struct ran_config *config, struct ran_error *err);

/* A task (nn/parts.c): its name, as in configurations; whether its outputs are labels (of
 * documents or words) rather than a vocabulary; whether its documents have word positions. */
const char *ran_task_name(int task);
bool ran_task_has_labels(int task);
bool ran_task_reads_words(int task);

/* Whether there is an encoder, and not the linear model alone. */
bool ran_config_has_encoder(const struct ran_config *config);
/* And whether training changes it: a frozen one stays as it is. */
bool ran_config_trains_encoder(const struct ran_config *config);
/* Whether vectors of documents, by a frozen encoder, are features of a predictor. */
bool ran_config_has_features(const struct ran_config *config);
/* Whether the encoder computes anything: static vectors are rows of a table. */
bool ran_config_has_layers(const struct ran_config *config);
/* Whether it makes a vector of a document to compare it by, as pretrained ones do, and students of
 * them. */
bool ran_config_has_vector(const struct ran_config *config);
/* Whether there is a predictor beside a head, such as a linear model. */
bool ran_config_has_predictor(const struct ran_config *config);
/* Whether a field that only some parts have matters to one of these. */
bool ran_config_uses(const struct ran_config *config, const char *field);
/* The same model without its encoder, or without its predictors. */
void ran_config_drop_encoder(struct ran_config *config);
void ran_config_drop_predictors(struct ran_config *config);
/* Static vectors of tokens, of `dim` numbers, in place of its encoder. */
void ran_config_take_static(struct ran_config *config, size_t dim);
/* Whether the encoder outputs a vector for each token: a Contextualizer has one for the document
 * instead. */
bool ran_config_has_token_outputs(const struct ran_config *config);

/* How a model file stores weights: RAN_STORAGE_..., and their names; NULL at the end
 * (tensors/compact.h). */
enum { RAN_STORAGE_F32, RAN_STORAGE_F16, RAN_STORAGE_I8 };
extern const char *const ran_storage_names[];

/* A folder of vectors and their vocabulary, in the form of Model2Vec: tokenizer.json,
 * model.safetensors and config.json (part/vectors/vector-folder.c). Every token has a row, to which
 * the folder's mapping and weights are applied. normalize: the vector of a document, the mean of
 * its tokens' rows, is divided by its length. */
struct ran_vector_folder {
        struct ran_tokenizer *tokenizer;
        struct ran_embedding rows;
        bool normalize;
};
/* On failure f is released: RAN_EIO, RAN_EFORMAT, RAN_ENOMEM; the sentence names the file. */
int ran_vector_folder_open(struct ran_vector_folder *f, const char *path, struct ran_error *err);
void ran_vector_folder_release(struct ran_vector_folder *f);

/* A model is read-only once open and may be shared by threads. */
struct ran_model;
/* A file, or a folder in Hugging Face's form, which is converted in memory. verify: also compares
 * the digest of the data section. */
struct ran_model *ran_model_open(const char *path, bool verify, struct ran_error *err);
void ran_model_free(struct ran_model *m);
const struct ran_config *ran_model_config(const struct ran_model *m);
const struct ran_tokenizer *ran_model_tokenizer(const struct ran_model *m); /* NULL: ids only */
/* V. Without an encoder and a tokenizer any id has a hash, and V is RAN_ANY_ID. */
#define RAN_ANY_ID ((size_t)UINT32_MAX)
size_t ran_model_vocabulary(const struct ran_model *m);
size_t ran_model_classes(const struct ran_model *m); /* C; of a language model V */
const char *ran_model_label(const struct ran_model *m,
                            size_t c); /* "0", "1" ... if unnamed; NULL: none */
const char *ran_model_metadata(const struct ran_model *m, const char *key); /* NULL: absent */
/* Whether the files of two models are the same bytes. If not, appends their differences to
 * `what`, tensors first: "tensor lm.bias: 3 of its 40 elements differ, ...". */
bool ran_model_same(const struct ran_model *a, const struct ran_model *b, struct ran_buf *what);
/* What a model file consists of (file/model-parts.c): a part is a group of its tensors. */
struct ran_model_part {
        const char *name;  /* "embedding", "linear model" ... */
        const char *dtype; /* of its largest tensor: "F32"; "" for the header */
        size_t tensors, elements, bytes;
};
enum { RAN_MODEL_PARTS = 10 };
/* The parts that are there, and their number. Their bytes add up to those of the file. */
size_t ran_model_parts(const struct ran_model *m, struct ran_model_part part[RAN_MODEL_PARTS]);
size_t ran_model_bytes(const struct ran_model *m); /* of the file */
/* The epochs that a checkpoint has done, and the steps of its optimiser. false: it is a model. */
bool ran_model_progress(const struct ran_model *m, double *epochs, double *steps);
/* The fingerprints of the documents that it, and the models it was initialised from, learned from
 * (base.h), and whether one of them is this: of 10,000 other documents and a million fingerprints,
 * two or three are. 0: the model does not say. */
size_t ran_model_fingerprints(const struct ran_model *m);
bool ran_model_knows(const struct ran_model *m, uint32_t fingerprint);
/* Writes m with its weights stored in another way, RAN_STORAGE_..., and with or without its
 * fingerprints. The tensors of a checkpoint that hold the state of training are left out. */
int ran_model_convert(const struct ran_model *m, int storage, bool fingerprints, const char *path,
                      struct ran_error *err);
/* Writes a pretrained encoder in Hugging Face's form as a model: a folder with config.json,
 * model.safetensors (or shards) and tokenizer.json (hf/folder.c). The model has the same
 * weights, in f32, as that of ran_model_open. RAN_EFORMAT: the sentence names the file of the
 * folder, and says what to do; nothing is written. prompt: the name of one of the folder's prompts,
 * or a text with a space or a colon; "" is none, NULL its default. Each window begins with it. */
int ran_hf_folder_write(const char *folder, const char *prompt, int storage, const char *path,
                        struct ran_error *err);
/* Decision thresholds (C) of a model with several labels a document: tuned ones, or 0.5. NULL for a
 * language model. */
const float *ran_model_thresholds(const struct ran_model *m);
/* The threshold of label c that training was asked for (`decisions` of the metadata), -1: none. Of
 * a model with several labels it is among the thresholds above. */
float ran_model_limit(const struct ran_model *m, size_t c);
/* One label a document: the labels at least as probable as *cut make a prediction set, which
 * contains the true label with probability `coverage`, 0 < coverage < 1, for documents like the
 * calibration documents of training (eval/calibration.h). RAN_EINVAL if there were none or too
 * few; the sentence says what to do. */
int ran_model_cut(const struct ran_model *m, double coverage, float *cut, struct ran_error *err);
/* How exact that is: of models calibrated with as few documents, 19 of 20 reach at least this
 * coverage of new documents. 0 if ran_model_cut fails. *documents: the calibration documents. */
double ran_model_cut_floor(const struct ran_model *m, double coverage, size_t *documents);

/* ---- scoring (infer/model-score.c) ---------------------------------------------------------- */

/* Scratch for scoring with m: one a thread, reused from document to document, after an error too.
 * pool: threads that may help with one long document, or NULL. m and pool must outlive it.
 *
 * RAN_EINVAL: model, state and context do not belong together, the model has another task, an id
 * is not in the vocabulary, or a position is outside the document. RAN_EFORMAT: a result is not
 * finite, as with damaged weights. */
struct ran_state;
struct ran_state *ran_state_new(const struct ran_model *m, struct ran_pool *pool);
void ran_state_free(struct ran_state *s);
struct ran_document {
        const uint32_t *ids; /* (L), each < V; L >= 1 */
        size_t L;
        const uint32_t *spelling; /* (L, RAN_SPELLING) buckets < c->spelling, for models with it */
        /* For tagging: word i stands at token positions[i] (ascending, < L). In a document made of
         * sentences, begins[i] says whether word i is the first of one: transitions of tags stay
         * within a sentence. NULL: it is one sentence. */
        const uint32_t *positions; /* (words) */
        const bool *begins;        /* (words) */
        size_t words;
};
/* Joins the windows of a pretrained classifier in another way than the model says: RAN_UPPER_MEAN,
 * _MAX or _CERTAIN. Before any state is made. RAN_EINVAL for other models, and for those that have
 * learned what stands above the windows. */
int ran_model_join_windows(struct ran_model *m, int upper, struct ran_error *err);
/* logits (C); embedding (head width), the input of the last linear layer, or NULL. The result
 * depends on the document alone, bit for bit. task classify. RAN_EINVAL for the embedding of a
 * model without an encoder, or with a frozen one, which has no such layer: see ran_embed. */
int ran_classify(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
                 float *logits, float *embedding, struct ran_error *err);
/* The same from a text of n bytes to probabilities p (C), as ran-classify --probs has them.
 * RAN_EFORMAT: it is not UTF-8, or has no tokens. */
int ran_classify_text(const struct ran_model *m, struct ran_state *s, const char *text, size_t n,
                      float *p, struct ran_error *err);
/* As ran_classify, for n documents: logits (n, C), embedding (n, head width) or NULL. With a
 * pretrained encoder short ones take half the time that they take one by one. */
int ran_classify_each(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
                      size_t n, float *logits, float *embedding, struct ran_error *err);
/* Whether documents are worth being scored together. */
bool ran_model_scores_abreast(const struct ran_model *m);
/* Whether others trained the model: it was read from their folder, and not trained since. */
bool ran_model_is_foreign(const struct ran_model *m);
/* The labels of a tagger as tags (C), those of others by the scheme that they use; NULL: they mark
 * no entities. The caller frees them. */
struct ran_tag *ran_model_tags(const struct ran_model *m);
/* tags (words, at least 1): the best sequence, a valid one in IOB2 if the model's tags are named
 * so; of a tagger of others, the best tag of each word. score (words): the probability of each tag,
 * or NULL. logits (words, C), or NULL. task tag. */
int ran_tag(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
            uint32_t *tags, float *score, float *logits, struct ran_error *err);
/* A language-model context: what the model has read of a document, so that reading on costs the
 * new tokens alone. Per layer it has the cell, the review's keys and values of the earlier states
 * that its pattern may still see, and the open window. m must outlive it. */
struct ran_lm_context;
struct ran_lm_context *ran_lm_context_new(const struct ran_model *m); /* nothing read */
void ran_lm_context_free(struct ran_lm_context *p);
void ran_lm_context_clear(struct ran_lm_context *p);
size_t ran_lm_context_tokens(const struct ran_lm_context *p); /* read so far */
/* The token that was generated or given last and not yet read: the caller reads it first when the
 * document continues. RAN_NO_ID: none. Only the caller sets and uses it. */
uint32_t ran_lm_context_pending(const struct ran_lm_context *p);
void ran_lm_context_set_pending(struct ran_lm_context *p, uint32_t id);

/* A cache over the recent past (infer/cache.c): words that occurred recently occur again (Grave,
 * Joulin and Usunier, Improving neural language models with a continuous cache, ICLR 2017). It
 * needs no training. It changes the model's probabilities of the token after position t to
 *
 *      p(w) = (1 - weight) p_model(w) + weight p_cache(w)
 *      p_cache(w) = sum of exp(theta cos(h_t, h_i)) over those i that w followed, divided by the
 *                   sum over all i:  the last `positions` tokens before t of this document
 *
 * h is the encoder's output, the input of the softmax. The paper uses h_t . h_i; the cosine gives
 * theta the same meaning for models of any width and scale. At the first token of a document p is
 * p_model. Probabilities still add up to 1. A token costs `positions` cosines; memory is at most 2
 * (D + 64) numbers for each position.
 *
 * One for each document at a time; before the next one call ran_cache_clear. */
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

/* Makes `to` a copy of `from`, another context of the same model: the same document, which can then
 * go on in two ways. The copy shares what `from` has read: do not read more with `from`, and keep
 * it until the copy is cleared or freed. A copy may be copied itself; both then share what the
 * first shares. A copy cannot be saved. After a failure `to` is empty or, after RAN_EINVAL, as it
 * was. */
int ran_lm_context_fork(struct ran_lm_context *to, const struct ran_lm_context *from,
                        struct ran_error *err);
/* ran_lm_read of one token for each of n documents, in products for all of them: ids[i] continues
 * context[i], each of which has read something. logits (n, V) after these tokens. */
int ran_lm_read_each(const struct ran_model *m, struct ran_state *s,
                     struct ran_lm_context *const *context, const uint32_t *ids, size_t n,
                     float *logits, struct ran_error *err);

/* In a file, with the pending token: a safetensors file that names its model by digest. Loading
 * refuses a damaged file and one of another model. */
int ran_lm_context_save(const struct ran_lm_context *p, const char *path, struct ran_error *err);
struct ran_lm_context *ran_lm_context_load(const struct ran_model *m, const char *path,
                                           struct ran_error *err);

/* Results to fill in for the tokens that are read; NULL: not this one. All zero: nothing. */
struct ran_lm_out {
        size_t skip; /* below n: so many leading tokens have no results, and gold, nll and logits
                        leave them out */
        const uint32_t *gold; /* (n) the token that should follow each, or RAN_NO_ID */
        float *nll;           /* (n) -log of the probability of gold, 0 where there is none */
        float *logits;        /* (n, V); log-probabilities under an adaptive softmax */
        float *last;          /* (V) the same, after the last token only */
        /* With gold: nll and logits (then log-probabilities) are those of model and cache together,
         * and the cache remembers these tokens. `last` is the model's alone. */
        struct ran_cache *cache;
};
/* Reads n >= 1 ids (each < V) that continue the document of `context`, and adds them to it
 * (NULL: a document of its own). The first `sources` of them are source tokens (mask prefix):
 * read all source tokens of a document at once, at its beginning. task lm. After RAN_EFORMAT
 * context and cache contain numbers that are not finite: clear them. Any other failure leaves
 * them unchanged. */
int ran_lm_read(const struct ran_model *m, struct ran_state *s, struct ran_lm_context *context,
                const uint32_t *ids, size_t n, size_t sources, const struct ran_lm_out *out,
                struct ran_error *err);
/* Takes the logits (V) of the i-th position. A code other than RAN_OK ends ran_lm_fill, which
 * returns it. */
typedef int ran_lm_take(void *arg, size_t i, const float *logits, struct ran_error *err);
/* The masked tokens at n positions (ascending) of a document of L ids: nll (n) of gold (n), unless
 * NULL; and take, unless NULL, gets the logits of one position after another, in memory for a few
 * hundred of them. task mlm. */
int ran_lm_fill(const struct ran_model *m, struct ran_state *s, const uint32_t *ids, size_t L,
                const uint32_t *positions, size_t n, const uint32_t *gold, float *nll,
                ran_lm_take *take, void *arg, struct ran_error *err);

/* Probabilities (C) of logits: softmax, or a sigmoid each for several labels. In double, then
 * rounded; never above 1. */
void ran_probabilities(const struct ran_config *config, const float *logits, size_t C, float *p);
/* Documents to label next (infer/select.c): the most doubtful ones of which none is a
 * near-duplicate (text.h) of another. Add all documents, with a doubt from 0 to 1 and their words,
 * as ran_counter_words writes them; then choose. The same documents in the same order give the same
 * choice. */
struct ran_selection;
struct ran_selection *ran_selection_new(void);
void ran_selection_free(struct ran_selection *s);
int ran_selection_add(struct ran_selection *s, double doubt, const char *words, size_t n,
                      struct ran_error *err);
/* The numbers of *n documents, at most `most`, the most doubtful first: document has room for the
 * smaller of `most` and all. */
int ran_selection_choose(const struct ran_selection *s, size_t most, size_t *document, size_t *n,
                         struct ran_error *err);
/* Vectors of documents by which documents that are alike are near each other, by the cosine: for a
 * model of any task with an encoder. An encoder of the family BERT has such vectors; others get
 * theirs from the embedding, best that of a language model (infer/embed.c). An embedder is
 * read-only and may be shared by threads; m must outlive it. */
struct ran_embedder;
struct ran_embedder *ran_embedder_new(const struct ran_model *m, struct ran_error *err);
void ran_embedder_free(struct ran_embedder *e);
size_t ran_embedder_width(const struct ran_embedder *e);
/* The vectors v (n, width) of n documents. */
int ran_embed_each(const struct ran_embedder *e, struct ran_state *s, const struct ran_document *d,
                   size_t n, float *v, struct ran_error *err);
/* v (width), with a state of the same model. All 0 for a document of unknown tokens, which has no
 * direction, unless an encoder made it. */
int ran_embed(const struct ran_embedder *e, struct ran_state *s, const struct ran_document *d,
              float *v, struct ran_error *err);
/* A name for the vectors of documents that a model with an encoder makes: others have another one.
 * It reads all weights of the encoder. */
void ran_embedding_digest(const struct ran_model *m, char hex[65]);

/* Labels by their descriptions (infer/label-texts.c): a classifier without training. A file has
 * lines "label<TAB>description", with further descriptions behind further tabs or in further lines.
 * A label alone in its line is described by its name, with spaces for underscores and hyphens.
 * RAN_EFORMAT: the sentence names file and line. */
struct ran_label_texts;
struct ran_label_texts *ran_label_texts_open(const char *path, struct ran_error *err);
/* The same of names with commas between; `where` is what sentences call it. */
struct ran_label_texts *ran_label_texts_of(const char *names, const char *where,
                                           struct ran_error *err);
/* The same of C names, all different. */
struct ran_label_texts *ran_label_texts_of_names(char *const *names, size_t C, const char *where,
                                                 struct ran_error *err);
void ran_label_texts_free(struct ran_label_texts *t);
size_t ran_label_texts_count(const struct ran_label_texts *t);                /* C, at least 2 */
const char *ran_label_texts_label(const struct ran_label_texts *t, size_t c); /* as first named */
/* The tokens of the descriptions, and how many of them are unknown or continue a word. */
struct ran_label_words {
        size_t tokens, broken;
};
/* Whether these are so many, a fifth and more than three, that the descriptions are hardly in a
 * language of the model. */
bool ran_label_words_are_foreign(const struct ran_label_words *words);
/* v (C, ran_embedder_width(e)) of length 1: the mean of the vectors, of length 1, of a label's
 * descriptions; e is of model m. *length: the mean length of vectors before. RAN_EFORMAT for a
 * description without a known token, and for two that the model reads alike. */
int ran_label_texts_vectors(const struct ran_label_texts *t, const struct ran_model *m,
                            const struct ran_embedder *e, float *v, double *length,
                            struct ran_label_words *words, struct ran_error *err);
/* A classifier made of m, which has an encoder and is no classifier, and remains the caller's: the
 * logit of a label is 14 times the cosine of the vectors of document and label, as far as vectors
 * have one length; else 14 times their product over the length of descriptions. It is a frozen
 * encoder with a linear model, and ran_model_convert writes it. */
struct ran_model *ran_label_model(const struct ran_model *m, const struct ran_label_texts *t,
                                  struct ran_label_words *words, struct ran_error *err);

/* Vectors that a pretrained encoder has made of documents, or of tokens by the layers below those
 * that are tuned, so that none is computed twice: in a file, or in memory alone with path NULL
 * (nn/vector-cache.c). keep: the most bytes of them in memory, 0: RAN_SPOOL_KEEP; the rest is in a
 * temporary file, as far as all are at most `most` bytes. The file need not exist; RAN_EFORMAT if
 * it is damaged, or something else. It serves one encoder and is written when it is closed.
 * Trainings may share it. */
struct ran_vector_cache;
/* The most bytes of vectors of tokens; less where that cannot be addressed. */
#define RAN_VECTOR_CACHE_MOST ((size_t)1 << (sizeof(size_t) > 4 ? 32 : 30))
struct ran_vector_cache *ran_vector_cache_open(const char *path, size_t keep, size_t most,
                                               struct ran_error *err);
/* Writes its file, if there are vectors that it lacks. */
int ran_vector_cache_save(struct ran_vector_cache *k, struct ran_error *err);
/* Frees it, whatever it returns; NULL is nothing. */
int ran_vector_cache_close(struct ran_vector_cache *k, struct ran_error *err);
/* How many documents or windows were in the file, and how many were added. */
void ran_vector_cache_counts(const struct ran_vector_cache *k, size_t *found, size_t *computed);
/* Lets all states of m use it, until the cache is closed; NULL: they use none from now on. Only
 * encoders of the family BERT have vectors that are worth it: RAN_EINVAL for others. RAN_EFORMAT:
 * it serves another encoder. */
int ran_model_use_vectors(struct ran_model *m, struct ran_vector_cache *k, struct ran_error *err);

/* A collection of vectors, and those of them that are nearest to others by the cosine, exactly
 * (infer/nearest.c). Read-only, it may be shared by threads. */
struct ran_nearest;
struct ran_nearest *ran_nearest_new(size_t D);
void ran_nearest_free(struct ran_nearest *c);
void ran_nearest_add(struct ran_nearest *c, const float *v); /* v (D) */
struct ran_neighbour {
        size_t number; /* from 0, in the order of their addition */
        double cosine; /* 0 with a vector of zeros */
};
/* The k nearest of each of n vectors v (n, D) whose cosine is at least `least`, -INFINITY for any:
 * list (n, k) gets them, the nearest first, of equals the earlier one first; found (n) how many
 * there are. A vector of zeros, which is near nothing, has none. Several vectors at once take less
 * time, and get the same answers. */
void ran_nearest_find(const struct ran_nearest *c, const float *v, size_t n, size_t k, double least,
                      struct ran_neighbour *list, size_t *found);

/* ---- attention probes (nn/probe.c, probe-document.c) ------------------------------------- */

/* Attention is a table of weights: a row is a query, a column a key. The weights of a query add up
 * to 1; a key that it does not see has 0. Each layer has
 *
 *                    RAN_PROBE_HEADS, a table a head             RAN_PROBE_REVIEW, one table
 *      RAN           rows and rows: window by window            tokens and states
 *      Transformer   tokens and tokens, as far as they see
 *      Contextualizer  the document and its tokens; layers are steps
 *
 * With review_source, the review of target tokens gives some of its weight to source tokens, which
 * are no states: that is left out, and the rest adds up to less than 1.
 *
 * Rows are the tokens, with each window's cell before them. State i is the cell after i windows;
 * state 0, the document's first cell, is seen under a mask only. A Contextualizer has a vector
 * alpha * x for each token and step; the weight is its length, divided by the sum of all lengths.
 */
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
/* The sizes for a document of L >= 1 tokens. */
void ran_probe_shape(struct ran_probe_shape *shape, const struct ran_config *c, size_t L);
size_t ran_probe_window(const struct ran_probe_shape *shape, size_t t); /* of token t */
size_t ran_probe_window_end(const struct ran_probe_shape *shape,
                            size_t i);                               /* after its last token */
size_t ran_probe_row(const struct ran_probe_shape *shape, size_t t); /* of token t */
size_t ran_probe_cell(const struct ran_probe_shape *shape,
                      size_t i); /* row of the cell of window i */
/* Whether a row is a cell; *at: its window, or else the token. */
bool ran_probe_is_cell(const struct ran_probe_shape *shape, size_t row, size_t *at);

/* Sums over blocks of a table; the last blocks may be smaller. One block of all queries with blocks
 * of one key gives the attention that each key gets in all; blocks of 1 and 1 are the weights
 * themselves. */
#define RAN_PROBE_MEAN SIZE_MAX /* for head: the mean of all */
struct ran_probe {
        int table;
        size_t layer, head;
        size_t query_from, query_to, key_from, key_to;
        size_t down, across; /* queries and keys of a block, at least 1 */
        double *sum; /* (height, width) of the weights of a block: the caller's, overwritten */
        /* Of a Contextualizer: |z|, the length of the step's update, and |c| after it; else 0. */
        double update, context;
};
size_t ran_probe_height(const struct ran_probe *k); /* blocks of queries, of keys */
size_t ran_probe_width(const struct ran_probe *k);
/* RAN_EINVAL for a probe outside the tables; ignores sum. */
int ran_probe_check(const struct ran_probe_shape *shape, const struct ran_probe *k,
                    struct ran_error *err);
/* The scores of a RAN's memory review in each layer: tokens and the states that they see, for a
 * document of L >= 1 tokens; 0: it has none. sources: as for ran_lm_read. */
uint64_t ran_review_scores(const struct ran_config *c, size_t L, size_t sources);
/* Reads a document once and fills all n probes as weights are computed; no whole table is ever
 * in memory. `sources`: as for ran_lm_read; any task. */
int ran_probe(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
              size_t sources, struct ran_probe *probe, size_t n, struct ran_error *err);

/* ---- explaining (infer/explain.c) ------------------------------------------------------------ */

/* Attribution: how each token of a document influences the model's outputs, by backward passes
 * through the whole document; exact at any distance. One a thread; memory as in training. m and
 * pool must outlive it; pool may be NULL. */
struct ran_explainer;
struct ran_explainer *ran_explainer_new(const struct ran_model *m, struct ran_pool *pool);
void ran_explainer_free(struct ran_explainer *e);
/* Takes the document that the functions below explain; what d points to must stay as long. sources:
 * as for ran_lm_read. */
int ran_explain_read(struct ran_explainer *e, const struct ran_document *d, size_t sources,
                     struct ran_error *err);

/* Token to label: what each of the L tokens adds to the log odds log(p / (1 - p)) of class c, for
 * the document (row 0) or, tagging, for its word `row`; with several labels a document, to the
 * logit itself.
 *
 * steps 0: gradient x input. A token's value is the derivative of the log odds by the size of its
 * embedding row: together they are the derivative by s, at s = 0, for the document with all rows
 * multiplied by (1 + s). This is exact but says little: RAN and Transformer begin with a layer
 * norm, which removes the size of a row.
 *
 * steps k: the same at k points of a path, on which all tokens grow from a row of zeros to their
 * own row, evenly as their layer norm shows them (integrated gradients; Sundararajan, Taly and Yan
 * 2017). The values add up to the log odds less those of as many empty tokens, the more exactly the
 * more steps. One forward and one backward pass a step.
 *
 * RAN_EXPLAIN_BEST: the values add up to the log odds less those of logits of 0, exactly, where the
 * logits are sums over tokens: those of a linear model that reads n-grams and vectors of documents
 * made by a frozen encoder (its pooled pretrained windows and `published` cells excepted). A
 * token's value is its output's and row's part in the vector, its share of its n-grams, and an
 * equal share of the biases; what its output takes from its neighbours counts as its own. One
 * forward pass, memory as in scoring. Of other models, 4 steps: enough for the order of the values.
 */
#define RAN_EXPLAIN_BEST SIZE_MAX
int ran_explain_label(struct ran_explainer *e, size_t row, size_t c, size_t steps, double *value,
                      struct ran_error *err);

/* Token to token: how much each of the L tokens influences the encoder's outputs of the tokens
 * [from, to). With J the Jacobian of these rows by the embedding row x of a token (through
 * attention, cells and review), its value is |J|^2 |x|^2 / D: the mean square change of these
 * outputs, to first order, when x moves by its own length in a random direction. Values of several
 * runs of rows may be added, and so may those of tokens.
 *
 * |J|^2, the squared Frobenius norm, is estimated by the mean of |r J|^2 over `samples` vectors r
 * of random signs, always the same ones (Hutchinson 1990): one backward pass a sample, however many
 * rows. RAN_EINVAL for a Contextualizer. */
int ran_explain_tokens(struct ran_explainer *e, size_t from, size_t to, size_t samples,
                       double *value, struct ran_error *err);

/* ---- n-grams of a linear model (infer/top-ngrams.c) ------------------------------------------ */

/* Which n-grams speak most for each label. The model has hashes of n-grams; texts, or the
 * vocabulary for single tokens, give them names. */
struct ran_top_ngrams;
/* RAN_EINVAL for a model without a linear model of n-grams or without a vocabulary. */
struct ran_top_ngrams *ran_top_ngrams_new(const struct ran_model *m, struct ran_error *err);
void ran_top_ngrams_free(struct ran_top_ngrams *t);
/* The n-grams of a document of L ids below V. Memory grows with the rows of the linear model, not
 * with the documents. */
void ran_top_ngrams_add(struct ran_top_ngrams *t, const uint32_t *ids, size_t L);
/* Each token of the vocabulary. */
void ran_top_ngrams_add_vocabulary(struct ran_top_ngrams *t);
struct ran_top_ngram {
        const uint32_t *ids; /* (n) valid until t changes */
        size_t n, count;     /* count: how often it was there */
        double weight;       /* for the label, times the n-gram's IDF: above 0 */
};
/* For each label, up to `most` n-grams (C, most), the strongest first, and how many (C). */
void ran_top_ngrams_list(const struct ran_top_ngrams *t, struct ran_top_ngram *list, size_t most,
                         size_t *n);

/* ---- sampling (infer/sample.c) --------------------------------------------------------------- */

/* How to draw a token from the logits of a language model. Set the first four members, leave the
 * rest zero; one a thread. Applied in this order: temperature, top_k, top_p. */
struct ran_sampler {
        double temperature; /* divides the logits; 0: always the most probable token */
        size_t top_k;       /* only the k most probable; 0: all */
        double top_p; /* of these, only the fewest with this part of their probability; 1: all */
        const bool *never; /* (V) tokens never drawn; NULL: none */
        /* Scratch. */
        uint32_t *heap;
        double *weight;
        size_t heap_cap, weight_cap;
};
void ran_sampler_release(struct ran_sampler *s);
/* Draws by u, uniform in [0, 1). Of equally probable tokens the one with the lower id comes first.
 * Logits are numbers or -INFINITY, as ran_lm_read gives them. RAN_EINVAL: every token is excluded.
 */
int ran_sampler_draw(struct ran_sampler *s, const float *logits, size_t V, double u, uint32_t *id,
                     struct ran_error *err);
/* The k most probable tokens except those of `never`, the most probable first, and their
 * probabilities among all V. Returns their number, k or fewer. The other settings have no effect.
 */
size_t ran_sampler_best(struct ran_sampler *s, const float *logits, size_t V, size_t k,
                        uint32_t *ids, double *p);
/* -log of the probability of a token, in double. */
double ran_nll(const float *logits, size_t V, uint32_t id);
/* Sets the logits of tokens that would repeat n of the `length` tokens in ids, in their order, to
 * -INFINITY: no n adjacent tokens then occur twice. n 0: nothing. */
void ran_ban_repeats(float *logits, const uint32_t *ids, size_t length, size_t n);

/* ---- beam search (infer/beam.c) ------------------------------------------------------------- */

/* Finds the most probable continuations of a document. Of all continuations of n tokens the
 * `width` most probable ones, the beam, are extended by each token; those that end are finished,
 * and have the score
 *
 *      log p(tokens) / n^length_penalty         n: the tokens, [END] included
 *
 * The search ends when `width` continuations are finished and none of the beam has a better score
 * than the worst of them; or at max_new tokens, where the beam is finished, too. */
struct ran_beam_settings {
        size_t width;            /* at least 1; may be more than V */
        size_t max_new, min_new; /* tokens; before min_new none ends; 1 <= max_new >= min_new */
        size_t no_repeat;        /* no so many adjacent tokens twice; 0: no limit */
        double length_penalty;   /* 0: the probability alone; at least 0 */
        const bool *never;       /* (V) tokens never generated; NULL: none */
        uint32_t end;            /* the token that ends a document; RAN_NO_ID: none does */
};
struct ran_beam; /* scratch and results; one a thread */
struct ran_beam *ran_beam_new(const struct ran_model *m, const struct ran_beam_settings *set);
void ran_beam_free(struct ran_beam *beam);
/* Continues the document of `context` by n >= 1 ids, the first `sources` of them source tokens, as
 * ran_lm_read; then searches. RAN_EINVAL if every token that may come first has probability 0. */
int ran_beam_search(struct ran_beam *beam, struct ran_state *s, struct ran_lm_context *context,
                    const uint32_t *ids, size_t n, size_t sources, struct ran_error *err);
/* The i-th best continuation, which is valid until the next search. */
struct ran_beam_text {
        const uint32_t *ids; /* (n) */
        const float *nll;    /* (n) */
        size_t n;            /* 0: there are no more than i */
        double score;
        bool ended; /* else it has max_new tokens */
};
struct ran_beam_text ran_beam_text(struct ran_beam *beam, size_t i);

#endif
