/* workspace.h - the scratch of one thread that computes with a model: laid out once for a batch and
 * reused, never allocated in a loop.
 *
 * All models have the rows between layers, the head and the workers. A part keeps activations and
 * adjoints in a struct of its own, w->own[RAN_PART_NAME]. Most of an encoder's cover a slab of some
 * 2,048 rows, not all rows: see part/ran/prenorm.h.
 */
#ifndef RAN_MODEL_WORKSPACE_H
#define RAN_MODEL_WORKSPACE_H

#include "base/phase.h"
#include "base/posting.h"
#include "nn/arena.h"
#include "nn/dropout.h"
#include "nn/packed.h"
#include "nn/params.h"
#include "nn/probe.h"
#include "nn/rotary.h"
#include "nn/task.h"
#include "nn/workers.h"

#define RAN_LN_EPS 1e-5

/* X(field, floats): the head; H: its width. `outputs`: documents or word positions. logit_rows rows
 * of logit_width logits are made at a time: outputs and C, but for language models a block and the
 * width of the first softmax; tail_width is that of the widest tail (task/lm-output.h). Adjoints
 * only for training. */
#define RAN_HEAD(X)                                                                          \
        X(head, outputs *H)                /* input of the last linear layer */              \
        X(logits, logit_rows *logit_width) /* of language models: their adjoints in place */ \
        X(tail, logit_rows *tail_width)    /* scores of a tail */                            \
        X(tail_head, tail_width > 0 ? logit_rows * H : 0) /* rows of head that look into it */
#define RAN_HEAD_ADJOINTS(X)                                \
        X(dhead, outputs *H)                                \
        X(dlogits, ran_task_is_tied(w->c) ? 0 : outputs *C) \
        X(dtail_head, tail_width > 0 ? logit_rows * H : 0)

/* Sizes of a layout. */
struct ran_dims {
        size_t B, L, C;
        size_t outputs, logit_rows, logit_width, tail_width;
};

struct ran_head {
#define X(field, floats) float *field;
        RAN_HEAD(X)
        RAN_HEAD_ADJOINTS(X)
#undef X
};

/* The parts of a configuration, in order (part.h). */
struct ran_part;
struct ran_part_list {
        const struct ran_part *part[RAN_PARTS_MOST];
        int number[RAN_PARTS_MOST];
        size_t n;
        const struct ran_part *encoder; /* one of them, or NULL */
        size_t features;                /* of documents that they make for predictors */
        bool trains;                    /* the encoder is trained */
};

struct ran_workspace {
        const struct ran_config *c;
        struct ran_part_list parts; /* its list */
        struct ran_pool *pool;      /* may help; NULL: none does */
        bool training;              /* adjoints are wanted */
        bool streams;               /* nobody asks for rows of tokens: w->x[] are NULL */
        bool scoring_keys; /* random-number keys as in scoring: ids, not epoch and record */
        struct ran_noise noise;
        float linear_weight; /* weight of the logits of predictors: 1; less on a path to the
                              * document (infer/explain.c); 0: not computed */
        size_t D, E, h, d_k; /* of the configuration; E = h d_k */
        size_t slab_rows;    /* limit of a slab, unless it is one window; tests lower it */
        size_t keep_floats;  /* limit for keeping activations of several slabs; tests lower it */
        const float *given;  /* (B, F) features of documents; NULL: parts make them */
        const struct ran_probes *probes; /* attention probes when scoring; NULL: none */
        struct ran_rotary rotary;
        struct ran_workers workers;

        /* Laid out by ran_workspace_fit for the documents at hand. */
        const struct ran_packed *packed;
        struct ran_dims size;
        float **x;    /* (N+1): (L, D) input of each layer and the output */
        float *dx;    /* (L, D) adjoint of the rows between layers */
        float *dlast; /* (B, D) adjoint of each document's last cell or context */
        struct ran_head head;
        void *own[RAN_PARTS_MOST]; /* of each part: see struct ran_part */
        float *arena;
        size_t arena_floats;
};

int ran_workspace_init(struct ran_workspace *w, const struct ran_config *c, bool training,
                       struct ran_pool *pool, struct ran_error *err);
void ran_workspace_release(struct ran_workspace *w);
/* Lays the scratch out for these documents and C classes; grows it if they need more than any
 * before. */
int ran_workspace_fit(struct ran_workspace *w, const struct ran_packed *packed, size_t C,
                      struct ran_error *err);
/* Bytes that ran_workspace_fit lays out for these documents; as a double, because it may be more
 * than memory can address. */
int ran_workspace_bytes(struct ran_workspace *w, const struct ran_packed *packed, size_t C,
                        double *bytes, struct ran_error *err);

/* Whether documents are scored, each with the bits that it has alone. Those that continue, as those
 * of a beam search, are not. */
static inline bool ran_workspace_stands_alone(const struct ran_workspace *w)
{
        return !w->training && w->packed->recurrent[0] == NULL;
}
/* y (B, O) = x (B, I) w^T + b, a row a document. */
void ran_workspace_linear(const struct ran_workspace *w, float *y, const float *x,
                          const float *weight, const float *b, size_t I, size_t O);

/* Dropout, or its adjoint, on n values of document b; does nothing when scoring. */
static inline void ran_workspace_dropout(const struct ran_workspace *w, size_t b, size_t layer,
                                         int site, double p, float *x, size_t n, size_t at)
{
        if (w->training)
                ran_dropout(&w->noise, w->packed->record[b], layer, site, p, x, n, at);
}

#endif
