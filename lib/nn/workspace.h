/* workspace.h - the scratch of one thread that computes with a model: laid out once for a batch and
 * reused, never allocated in a loop.
 *
 * All models have the rows between layers, the head and the workers. A part keeps activations and
 * adjoints in a struct of its own, w->own[RAN_PART_NAME]. Most of an encoder's cover a slab of
 * rows, not all of them: see part/ran/prenorm.h.
 */
#ifndef RAN_MODEL_WORKSPACE_H
#define RAN_MODEL_WORKSPACE_H

#include "nn/packed.h"
#include "nn/params.h"

/* ---- an arena: one block of memory, handed out in order -------------------------------------- */

/* A layout is done twice: without a base it counts what it needs, then it fills the pointers in.
 * Each run of floats begins at a multiple of 64 bytes. base NULL: only counts. */
struct ran_arena {
        float *base;
        double count;
};
float *ran_arena_take(struct ran_arena *k, double floats);

/* For lists X(field, floats): fills a struct `out` from the arena `k`. */
#define RAN_ARENA_FIELD(field, floats) out->field = ran_arena_take(k, floats);
/* Those of a whole list, for the struct at *at; in scope: k, and the sizes of the list. */
#define RAN_ARENA_LIST(at, list)           \
        do {                               \
                __typeof__(at) out = (at); \
                list(RAN_ARENA_FIELD)      \
        } while (0)
/* The fields of such a struct, or of one of tensors. */
#define RAN_FLOATS_FIELD(field, ...) float *field;
/* struct `name`, with those of a whole list. */
#define RAN_FLOATS_STRUCT(name, list)  \
        struct name {                  \
                list(RAN_FLOATS_FIELD) \
        }

/* ---- workers: the threads of a workspace, each with scratch of its own ----------------------- */

struct ran_workers {
        struct ran_pool *pool; /* NULL: the calling thread alone */
        size_t n;              /* how many may work at once */
        size_t floats;         /* of a worker's scratch */
        float *scratch;        /* (n, floats) */
        float *aside;          /* a second scratch for `aside` work; or `scratch` */
};
/* Allocates scratch of so many floats for each worker; aside: a second one, too. */
void ran_workers_lay_out(struct ran_workers *k, struct ran_arena *arena, size_t floats, bool aside);
/* Runs fn for i in [from, to) on the workers. A call owns its worker's scratch; results must not
 * depend on the worker. */
void ran_workers_each(const struct ran_workers *k, size_t from, size_t to,
                      void (*fn)(void *arg, size_t i, float *scratch), void *arg);
/* The same with another scratch, such as k->aside, while a thread is in ran_workers_each. */
void ran_workers_each_on(const struct ran_workers *k, float *scratch, size_t from, size_t to,
                         void (*fn)(void *arg, size_t i, float *scratch), void *arg);

/* ---- dropout --------------------------------------------------------------------------------- */

/* From random numbers with keys: the same in the forward and backward pass, and for any number of
 * threads. */

/* The random numbers of a training step. All zero when scoring. */
struct ran_noise {
        uint64_t seed, epoch;
        double dropout, embed_dropout;
};

/* Sites: a random-number purpose each, so that no two use the same number. The order is part of
 * the keys. */
enum {
        RAN_DROP_EMBED,
        RAN_DROP_HEAD,
        RAN_DROP_INPUT,
        RAN_DROP_ATTENTION,
        RAN_DROP_REVIEW,
        RAN_DROP_FEED,
        RAN_DROP_SITES
};
/* Applies dropout of probability p, or its adjoint, to n values of a document at position `at`
 * of a site. */
void ran_dropout(const struct ran_noise *noise, uint64_t record, size_t layer, int site, double p,
                 float *x, size_t n, size_t at);

/* ---- rotary positions ------------------------------------------------------------------------ */

/* The table of cosines and sines by which they turn queries and keys. */

/* Zero-initialise. */
struct ran_rotary {
        float *table;   /* (longest + 1, 2 d_k): see ran_simd.rotary */
        size_t longest; /* the last position it serves */
};
void ran_rotary_release(struct ran_rotary *r);
/* Makes the table serve heads of width d_k at positions up to `longest`: pair k turns by base^(-2k
 * / d_k) from one position to the next. Width and base stay the same. */
#define RAN_ROTARY_BASE 10000
int ran_rotary_reserve(struct ran_rotary *r, size_t d_k, double base, size_t longest,
                       struct ran_error *err);

/* The new capacity for `wanted` where `had` was enough before. A document that continues token
 * by token asks for one more each time, so an eighth is added. */
static inline size_t ran_rotary_ahead(size_t had, size_t wanted)
{
        return wanted > had + had / 8 ? wanted : had + had / 8;
}

/* ---- attention probes: sums over blocks of the attention tables of ran/model.h --------------- */

/* An encoder adds its weights row by row, as it computes them, and keeps none: memory is
 * proportional to the sums, not the attention. */

/* The probes of one pass over one document. */
struct ran_probes {
        struct ran_probe *probe; /* (n) each filled by one thread, in the order of its rows */
        size_t n;
};

static inline bool ran_probe_matches(const struct ran_probe *k, int table, size_t layer)
{
        return k->table == table && k->layer == layer;
}

/* The heads of a probe: [*from, *to) of h. Returns the weight of each. */
float ran_probe_heads(const struct ran_probe *k, size_t h, size_t *from, size_t *to);

/* The part [*from, *to) of n queries, or keys, from `first` on that a probe covers, counted from
 * first.
 */
bool ran_probe_queries(const struct ran_probe *k, size_t first, size_t n, size_t *from, size_t *to);
bool ran_probe_keys(const struct ran_probe *k, size_t first, size_t n, size_t *from, size_t *to);

/* Adds `scale` times the weights (n) of a query of the probe for the keys from `key` on. */
void ran_probe_add(struct ran_probe *k, size_t query, size_t key, const float *weight, size_t n,
                   float scale);

/* ---- the workspace --------------------------------------------------------------------------- */

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
        RAN_HEAD(RAN_FLOATS_FIELD)
        RAN_HEAD_ADJOINTS(RAN_FLOATS_FIELD)
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
        /* For an explanation, not to learn: random-number keys are as in scoring, ids, not epoch
         * and record; and every token's output counts. */
        bool explains;
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
        void *act;                 /* (N) of the encoder: likewise */
        float *arena;
        size_t arena_floats;
};

void ran_workspace_init(struct ran_workspace *w, const struct ran_config *c, bool training,
                        struct ran_pool *pool);
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
void ran_workspace_linear(const struct ran_workspace *w, struct ran_kept_panels *kept, float *y,
                          const float *x, const float *weight, const float *b, size_t I, size_t O);

/* Dropout, or its adjoint, on n values of document b; does nothing when scoring. */
static inline void ran_workspace_dropout(const struct ran_workspace *w, size_t b, size_t layer,
                                         int site, double p, float *x, size_t n, size_t at)
{
        if (w->training)
                ran_dropout(&w->noise, w->packed->record[b], layer, site, p, x, n, at);
}

/* ---- pooling: one vector of a document from the outputs of its tokens ------------------------ */

/* v (B, D), of w->x[N]; argmax (B, D): the token of its document that each maximum came from. */
void ran_pooling(const struct ran_workspace *w, float *v, uint32_t *argmax);
/* Adjoint: from dv (B, D) to w->dx, overwritten. */
void ran_pooling_bwd(struct ran_workspace *w, const float *dv, const uint32_t *argmax);
/* v (D) = the mean of x (L, D) over the tokens of document b. Adjoint: w->dx += that of dv (D). */
void ran_pooling_mean(const struct ran_workspace *w, const float *x, size_t b, float *v);
void ran_pooling_mean_bwd(struct ran_workspace *w, size_t b, const float *dv);

#endif
