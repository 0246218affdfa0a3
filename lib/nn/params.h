/* params.h - the parameters of a model. Weights, gradients and the moments of the optimiser are
 * blocks of the same layout: the tensors of one part after another (part.h).
 */
#ifndef RAN_MODEL_PARAMS_H
#define RAN_MODEL_PARAMS_H

#include "base/portable.h"
#include "ran/model.h"

#include <string.h>

/* ---- tensors one after another --------------------------------------------------------------- */

/* Listed in a layout, or pointed at in a block of floats. A list of tensors is declared once, as
 * X(field, name, rows, cols, init, present when). It serves the fields of a struct, the names and
 * shapes in the model file, the position in the block and the initial values. */

enum ran_init {
        RAN_INIT_ZERO,
        RAN_INIT_ONE,
        RAN_INIT_NORMAL,  /* deviation 1 */
        RAN_INIT_GLOROT,  /* normal, by rows and columns */
        RAN_INIT_QUARTER, /* of that */
        RAN_INIT_UNIFORM, /* +-0.05 */
};

/* A tensor of the model file. rows 0: a vector of `cols`. */
struct ran_tensor_spec {
        char name[64];
        size_t rows, cols;
        size_t offset; /* in the block */
        bool paneled;  /* nobody but products with kept panels reads it to score */
        enum ran_init init;
};

/* The tensors of a configuration, in the order of the block; mapped tables are not among them. */
struct ran_layout {
        struct ran_tensor_spec *spec;
        size_t n, cap;
        size_t size; /* floats in a block */
};

struct ran_tensor_walk {
        struct ran_layout *layout; /* NULL: only point */
        float *block;              /* NULL: only list */
        size_t at;
        const char *prefix; /* of names, prefix.layer.name; NULL: the name is all */
        size_t layer;
        bool paneled; /* layers: see part.h */
        struct ran_error *err;
        int rc; /* the first failure; later steps of the walk do nothing */
};
/* The next tensor. Returns its address in the block; NULL without a block. */
float *ran_tensor_walk_take(struct ran_tensor_walk *k, const char *name, size_t rows, size_t cols,
                            enum ran_init init);
/* For a list: fills a struct `p`; in scope k. An absent tensor is NULL. */
#define RAN_TENSOR_FIELD(field, name, rows, cols, init, when) \
        p->field = (when) ? ran_tensor_walk_take(k, name, rows, cols, RAN_INIT_##init) : NULL;
/* Defines a function of struct ran_part for a list of tensors, after declarations of the sizes that
 * the list has in scope beside c and k. */
#define RAN_PART_TENSORS(function, type, list, ...)                                                \
        static void function(struct ran_tensor_walk *k, void *tensors, const struct ran_config *c) \
        {                                                                                          \
                __VA_ARGS__;                                                                       \
                type *p = tensors;                                                                 \
                                                                                                   \
                list(RAN_TENSOR_FIELD)                                                             \
        }

/* ---- parameters ------------------------------------------------------------------------------ */

/* The last linear layer of a task's head. Each task's file lists those that it has, such as
 * CLASSIFY_PARAMS: that one is not NULL does not say which task it is of. */
struct ran_head_params {
        float *w, *b;           /* (C, D), (C) */
        float *tail_w, *tail_b; /* of an adaptive softmax: (tails, D), (tails) */
};

/* One block of floats (weights, gradients or moments) seen by name; absent tensors are NULL. The
 * mapped tables are not in the block: their weights may be mapped from a file, their gradients are
 * sparse. */
struct ran_params {
        float *block;
        void *layers; /* (N) the tensors of each layer: structs of the encoder */
        void *once;   /* tensors outside the layers, a struct of the encoder; NULL: none */
        struct ran_head_params head;
        void *own[RAN_PARTS_MOST]; /* tensors and tables of each other part, its struct; NULL: it
                                      is not in the list, or has none (part.h) */
        const float *embed;        /* (V, D), a mapped table; NULL: it stays in the file as */
        const int8_t *embed_code;  /* (V, D), codes, and */
        const float *embed_scale;  /* (V), a scale each row (tensors/compact.h) */
        const float *spelling;     /* (c->spelling, D), mapped; NULL: none */
        struct ran_kept_panels *panels; /* of weights that do not change, or NULL */
        struct ran_unread *unread; /* weights that are in a file, not yet in the block, or NULL */
        bool integers;             /* they are stored in eight bits, and multiplied so */
        struct ran_vector_cache *vectors; /* what a frozen encoder has made, or NULL */
        /* Of weights: the layers that stay as they are, and what they have made of tokens
         * (vector-cache.h); NULL: all are trained. */
        struct ran_vector_cache *below;
        uint64_t seed; /* of the training: key of a random first context */
        float *dembed; /* of a gradient where the output is tied to the embedding: (V, D); else NULL
                        */
};

/* Weights in eight bits that do not change give the same bits on every processor: products are
 * those of integers (math/integer.h), and between this call and the next one of ran_portable floats
 * are computed alike. Returns what ran_portable was, and is to be again. */
static inline bool ran_params_portable(const struct ran_params *p)
{
        const bool before = ran_portable;

        ran_portable = before || (p->integers && p->panels != NULL);
        return before;
}

/* x (D) = the embedding's row of a token. */
static inline void ran_embed_row(const struct ran_params *p, size_t id, size_t D, float *x)
{
        if (p->embed != NULL)
                memcpy(x, p->embed + id * D, D * sizeof *x);
        for (size_t d = 0; d < D && p->embed == NULL; d++)
                x[d] = p->embed_scale[id] * (float)p->embed_code[id * D + d];
}

/* Mapped tables: a document uses few of their rows, so they can stay in the file. */
enum { RAN_MAPPED_TABLES = 5 };
struct ran_mapped_table {
        const char *name;
        size_t rows, cols; /* rows 0: a vector */
        const float **at;  /* where it is, in the params */
        bool halves;       /* a vector that has halves where matrices have fewer bits */
};
/* The mapped tables of a configuration, the embedding first. rows: of a linear model, if not all of
 * them are there; 0: all. Returns their number. */
size_t ran_params_mapped_tables(struct ran_mapped_table mapped[RAN_MAPPED_TABLES],
                                struct ran_params *p, const struct ran_config *c, size_t V,
                                size_t C, size_t rows);

/* Tables that learn row by row: the embedding, with the spelling table behind it. */
struct ran_table {
        float *x; /* (rows, width) */
        size_t rows, width;
};
/* The table's shape. False if memory cannot address it. */
bool ran_table_shape(struct ran_table *table, const struct ran_config *c, size_t V);

int ran_layout_init(struct ran_layout *l, const struct ran_config *c, size_t C,
                    struct ran_error *err);
void ran_layout_release(struct ran_layout *l);

/* Allocates a zeroed block and points into it. params->embed stays NULL. */
int ran_params_init(struct ran_params *p, const struct ran_config *c, size_t C,
                    struct ran_error *err);
void ran_params_release(struct ran_params *p);
/* No tensor at all. As a gradient: the backward pass skips the gradients of weights. _fill gives it
 * its block. */
void ran_params_none(struct ran_params *p, const struct ran_config *c);
int ran_params_fill(struct ran_params *p, const struct ran_config *c, size_t C,
                    struct ran_error *err);

/* Initial values of a tensor: Glorot normal for matrices, uniform +-0.05 for embeddings, 0 for
 * biases, 1 for scales. One bias is not 0: gpc_norm's, which alone is the first cell of the
 * lowest layer. At 0 the cell's LN_in would divide by the deviation of zeros, and its gradient,
 * some hundred times that of all other tensors together, would dominate clipping. Element i
 * depends on (seed, name, i) alone. */
void ran_tensor_init(float *x, const struct ran_tensor_spec *spec, uint64_t seed);

/* ---- the output of language models ----------------------------------------------------------- */

/* An adaptive softmax divides the vocabulary into a shortlist of the S most frequent ids and tails:
 * tail k has the ids from S 4^k on, below S 4^(k+1) and V. See task/lm-output.h. */

enum { RAN_LM_ROWS = 512 }; /* positions whose logits are computed at once */

/* Ids [from, end) with one softmax. */
struct ran_lm_group {
        size_t from, end;
};

/* Ids in the first softmax: the shortlist S, or V. */
size_t ran_lm_first(const struct ran_config *c, size_t V);
/* The number of tails; tail k; and the ids in the widest, 0 without tails. */
size_t ran_lm_tails(const struct ran_config *c, size_t V);
struct ran_lm_group ran_lm_tail(const struct ran_config *c, size_t V, size_t k);
size_t ran_lm_widest(const struct ran_config *c, size_t V);

#endif
