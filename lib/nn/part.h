/* part.h - parts of a model: everything that a model has beside its task.
 *
 * A model is the rows of its tokens (encoder.c), the list of its parts, in the order of RAN_PARTS,
 * a task, and the weights of their ensemble. The configuration says which parts are in the list; a
 * part that is not there costs nothing. Parameters, memory, scoring and estimates walk along the
 * list and know no part by name.
 *
 *   encoders    ran, contextualizer, transformer, static, bert: from rows to outputs of tokens, or
 *               of documents. At most one is in the list
 *   features    vectors: a vector of each document from an encoder that is not trained
 *   predictors  linear, words: logits of their own, beside those of the head, by a table of
 *               c->linear.wide rows
 *   heads       classify_head, tag_head, crf, lm_head: tensors of a task's output
 *
 * To add a part: a line in RAN_PARTS and its fields in struct ran_config (ran/model.h), their
 * options in config.c, and a folder with its struct ran_part.
 */
#ifndef RAN_NN_PART_H
#define RAN_NN_PART_H

#include "nn/workspace.h"

struct ran_part {
        /* Whether a model of this configuration has it; NULL: where c->encoder is `encoder`. */
        bool (*is_in)(const struct ran_config *c);
        int encoder;

        /* A function below that is NULL has nothing to say, unless it is said otherwise.
         *
         * ---- configuration */
        int (*check)(const struct ran_config *c, struct ran_error *err);
        /* The fields, NULL at the end, that only some encoders have and that matter to this one;
         * and whether the window does, if that depends on others. */
        const char *const *fields;
        bool (*uses_window)(const struct ran_config *c);

        /* ---- tensors: of an encoder structs of pointers, one a layer and one for the rest (size
         * 0: none); of another part p->own[its number]; a task's last layer is p->head. See
         * params.h.
         */
        size_t layer_size, once_size;
        void (*layer_tensors)(struct ran_tensor_walk *k, void *layer, const struct ran_config *c);
        void (*once_tensors)(struct ran_tensor_walk *k, void *once, const struct ran_config *c);
        size_t params_size; /* of p->own[its number], zero at first; 0: it has none */
        void (*tensors)(struct ran_tensor_walk *k, struct ran_params *p, const struct ran_config *c,
                        size_t C);
        /* Tables outside the block, in `to`; returns their number. rows: see
         * ran_params_mapped_tables. */
        size_t (*tables)(struct ran_mapped_table *to, struct ran_params *p,
                         const struct ran_config *c, size_t V, size_t C, size_t rows);
        const char *classes; /* of a head: the tensor that has C elements */

        /* ---- memory */
        size_t own_size; /* of its memory in the workspace, which is zero at first */
        size_t act_size; /* of an encoder's activations of a layer, w->act */
        void (*release)(struct ran_workspace *w);
        /* Sizes for w->packed, and tables outside the arena that grow with them. */
        int (*prepare)(struct ran_workspace *w, struct ran_error *err);
        /* Its part of the arena; an encoder's includes w->x[1] to w->x[N] and the workers' scratch.
         * It is called twice, the first time only to count. */
        void (*lay_out)(struct ran_workspace *w, struct ran_arena *k);

        /* ---- an encoder */
        bool encodes;
        bool per_document; /* it outputs a vector for each document; else one for each token */
        bool paneled; /* of its layers' matrices, only panels are read to score (nn/unread.h) */
        /* Where only vectors of documents are asked for (w->streams), it takes the rows of the
         * embedding itself, and leaves none. */
        bool streams;
        /* Documents of at least so many tokens that are read together have the same outputs as
         * alone, bit for bit, where rows of products do (math/gemm.h); 0: not so. And the tokens of
         * them all that are best read together: many share a product's weights, few stay in the
         * cache. */
        size_t rows_stand_alone, abreast;
        /* Its weights come from a model of others, which has shown what it knows: few documents
         * are enough to keep it (train/gain.c). It reads windows by themselves, and its rows are of
         * tokens alone: the spelling of words is for predictors. */
        bool imported;
        /* From w->x[0], the embedded tokens, to w->x[N]; and from w->dx and w->dlast back to w->dx.
         * With per_document, w->x[N] (B, D) are the documents' vectors and w->dlast is their
         * adjoint. */
        void (*forward)(struct ran_workspace *w, const struct ran_params *p);
        void (*backward)(struct ran_workspace *w, const struct ran_params *p,
                         struct ran_params *dp);
        /* Writes a vector for each document, the classifier's input: (B, D) in
         * w->head.head. Adjoint: from w->head.dhead to w->dx and w->dlast, overwritten. */
        void (*documents)(struct ran_workspace *w, const struct ran_params *p);
        void (*documents_bwd)(struct ran_workspace *w, const struct ran_params *p,
                              struct ran_params *dp);
        /* What heads read of word positions, in w->head.head, and its adjoint in w->head.dhead:
         * both in place. NULL: the encoder's outputs as they are. */
        void (*outputs)(struct ran_workspace *w, const struct ran_params *p);
        void (*outputs_bwd)(struct ran_workspace *w, const struct ran_params *p,
                            struct ran_params *dp);
        /* A vector of document b made for documents to be compared by, with its width; its adjoint,
         * of all documents, from dv, which it changes, to w->dx and w->dlast. NULL, or a width of
         * 0: means of rows and outputs are (part/vectors/document-vector.h). */
        size_t (*vector_width)(const struct ran_config *c);
        void (*vector)(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v);
        void (*vector_bwd)(struct ran_workspace *w, const struct ran_params *p,
                           struct ran_params *dp, float *dv);
        /* Where that vector v is a sum over tokens: adds to value (L) each token's part of g · v,
         * of the one document at hand, and may leave rows of the embedding in w->x[0]. */
        void (*vector_parts)(struct ran_workspace *w, const struct ran_params *p, const float *g,
                             double *value);
        /* The numbers of a document's vector, if it makes one itself or has no layers, are
         * principal components, the large ones first, and best left in proportion (data/dense.h).
         */
        bool components;
        /* The recurrent state of a document: its width (NULL: 0); whether each state stands for a
         * window of tokens; how many of so many earlier states are kept, the last ones (NULL: all).
         */
        size_t (*state_width)(const struct ran_config *c);
        bool state_windows;
        size_t (*states_kept)(const struct ran_config *c, size_t states);
        /* The attention tables and windows of a document of shape->L tokens; NULL: it has none.
         * `forward` fills those that w->probes asks for. */
        void (*probe_shape)(const struct ran_config *c, struct ran_probe_shape *shape);
        /* The point u of a path from an empty token to x (D): the row times *scale, whose
         * derivative in u is *speed. The encoder's view of the row should grow evenly along it.
         * NULL: a straight path. */
        void (*path)(const float *x, size_t D, double u, double *scale, double *speed);
        /* Arithmetic of the forward pass over a document of L tokens, the first `sources` of them
         * source. */
        double (*flops)(const struct ran_config *c, size_t L, size_t sources);

        /* ---- features of documents for predictors: their number (part/vectors/document-vector.h)
         */
        size_t (*features)(const struct ran_config *c);
};

/* ran_part_NAME, for each line of RAN_PARTS. */
#define RAN_PART_DECLARE(number, name) extern const struct ran_part ran_part_##name;
RAN_PARTS(RAN_PART_DECLARE)

extern const struct ran_part *const ran_part_table[RAN_PARTS_MOST]; /* all there are, by number */
struct ran_part_list ran_parts_of(const struct ran_config *c);

extern const char *const ran_encoder_names[]; /* by number; NULL at the end */
/* The encoder in the list, or NULL. */
const struct ran_part *ran_encoder_of(const struct ran_config *c);
/* Whether the encoder's weights come from a model of others: it reads windows by themselves. */
bool ran_encoder_is_imported(const struct ran_config *c);
bool ran_encoder_makes_components(const struct ran_config *c);
/* Rows of the table of spelling, which are a part of the encoder's rows; 0: there is none. */
size_t ran_encoder_spelling(const struct ran_config *c);
/* The encoder if documents are worth being read together, else NULL. */
const struct ran_part *ran_parts_abreast(const struct ran_config *c);
/* Whether a model that scores may read its documents as streams of rows (part.h: streams). */
bool ran_parts_stream(const struct ran_config *c);
/* The features of documents that parts make for predictors; 0: none do. */
size_t ran_parts_features(const struct ran_config *c);
/* The rows of the tables of predictors; 0: there is none. */
size_t ran_parts_rows(const struct ran_config *c);
/* The tensor of C elements, a head's before a predictor's. */
const char *ran_parts_classes(const struct ran_config *c);
/* As `flops` above, of the encoder that is there, if any. */
double ran_encoder_flops(const struct ran_config *c, size_t L, size_t sources);
/* As `path` above, of the encoder that is there, if any. */
void ran_parts_path(const struct ran_config *c, const float *x, size_t D, double u, double *scale,
                    double *speed);

/* ---- tasks: a struct for each, with what differs between them -------------------------------- */

/* To add a task: a line in RAN_VERB_TASKS (ran/model.h), a file with its struct ran_task, with its
 * struct ran_train_task, too (task/train.h); and one with its struct train_task in cmd/train/
 * (cmd/train/read/task.h); the program that applies it goes into cmd/content/model.c. */

/* What an output stands for: a document, a word, or a token of the vocabulary. */
enum ran_output { RAN_OUTPUT_DOCUMENT, RAN_OUTPUT_WORD, RAN_OUTPUT_TOKEN };

/* The linear model that the task has beside an encoder, if its part is in the list: an SVM over
 * features of the document (part/linear/linear-model.h), or a CRF over features of words
 * (part/linear/linear-words.h). */
enum ran_linear_kind { RAN_LINEAR_NONE, RAN_LINEAR_SVM, RAN_LINEAR_CRF };

struct ran_task {
        const char *what; /* its model, in messages: "a classifier" */
        enum ran_output output;
        enum ran_linear_kind linear;
        bool words;   /* documents say where words begin */
        bool sources; /* documents may begin with a source */

        /* Checks that involve several fields of the configuration. */
        int (*check)(const struct ran_config *c, struct ran_error *err);
        /* Sizes of logits; NULL: one row of C for each output. */
        void (*measure)(const struct ran_config *c, struct ran_dims *x);
        /* The head; NULL: task/lm-output.c computes the output. */
        void (*head)(struct ran_workspace *w, const struct ran_params *p, size_t C);
        void (*head_bwd)(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                         size_t C);
};

/* ran_task_NAME, for each line of RAN_TASKS; task/train.h has another table for each. */
#define RAN_TASK_DECLARE(number, name) extern const struct ran_task ran_task_##name;
RAN_TASKS(RAN_TASK_DECLARE)

extern const char *const ran_task_names[]; /* by number; NULL at the end */
const struct ran_task *ran_task_of(const struct ran_config *c);

/* Whether outputs are the vocabulary (C = V), tied to the embedding: there are no labels, and the
 * gradient of the embedding is dense. */
static inline bool ran_task_is_tied(const struct ran_config *c)
{
        return ran_task_of(c)->output == RAN_OUTPUT_TOKEN;
}

/* RAN_EINVAL if a mask hides what follows, for tasks that read whole documents. */
int ran_task_check_no_mask(const struct ran_config *c, struct ran_error *err);

/* ---- encoder.c: from token ids to the input of the heads, and back, along the list of parts -- */

/* A recurrent state for one document, with nothing read. */
void ran_encoder_state_init(struct ran_recurrent_state *state, const struct ran_config *c);
/* The tokens that a state stands for; and the number of complete states of a document that are kept
 * after so many tokens. */
size_t ran_encoder_state_tokens(const struct ran_config *c);
size_t ran_encoder_states(const struct ran_config *c, size_t tokens);

/* Fills w->x[0] with the rows of the tokens, and encodes these rows: the two steps of ran_encode,
 * but for dropout. */
void ran_encode_embed(struct ran_workspace *w, const struct ran_params *p);
void ran_encode_rows(struct ran_workspace *w, const struct ran_params *p);
/* Encodes w->packed (after ran_workspace_fit): leaves the output (L, D) in w->x[N]. Ids must be
 * below V. */
void ran_encode(struct ran_workspace *w, const struct ran_params *p);
/* Adjoint, after ran_encode with the same batch. Takes the adjoints of the output in w->dx and
 * of each document's last cell in w->dlast; adds the gradients to dp (absent tensors are
 * skipped); leaves the adjoints of the embedding's rows, token by token, in w->dx. The
 * activations stay: it can run again for other adjoints. */
void ran_encode_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp);

/* ---- head.c: from the output of the encoder to logits, and back ------------------------------ */

/* Gathers the output rows at word positions in w->head.head (positions, D); adjoint: from
 * w->head.dhead to w->dx and w->dlast (overwritten). */
void ran_head_positions(struct ran_workspace *w, const struct ran_params *p);
void ran_head_positions_bwd(struct ran_workspace *w, const struct ran_params *p,
                            struct ran_params *dp);

/* The head of the configuration's task, classify or tag: fills w->head, the logits last: (B, C) to
 * classify, (positions, C) to tag. Adjoint: from w->head.dlogits to w->dx and w->dlast
 * (overwritten); adds to dp. */
void ran_head(struct ran_workspace *w, const struct ran_params *p, size_t C);
void ran_head_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                  size_t C);

/* ---- digest.c: a name for what an encoder that was trained before computes ------------------- */

/* The SHA-256 of its weights, with V rows of the embedding and the table of spellings, and of the
 * settings that change what it makes of a document. */
void ran_encoder_digest(char hex[65], const struct ran_config *c, const struct ran_params *p,
                        size_t V);

/* What encoders of a Transformer share: tables of attention of tokens to tokens, a head each,
 * without what stands around them; and a path on which the norms, which hardly depend on the size
 * of a row, and the residuals, which read it, change evenly: u^3 grows slowly where the norms
 * change fast. */
void ran_part_probe_heads(const struct ran_config *c, struct ran_probe_shape *shape);
void ran_part_path(const float *x, size_t D, double u, double *scale, double *speed);

#endif
