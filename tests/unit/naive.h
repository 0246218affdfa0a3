/* naive.h - the classifier as the equations of lib/part stand there, an encoder a file: one
 * document, in double. naive-ran.c: one window after another, cell and tokens together;
 * naive-contextualizer.c: token by token; naive-transformer.c and naive-bert.c: with a whole array
 * of scores; naive.c: what they share, part/upper above one of those, heads and the linear model.
 * What lib/part must equal.
 *
 * Parameters are found by the names that they have in a model file. Nothing is shared with
 * lib/model but the list of these names and the definition of a random number. */
#ifndef RAN_TESTS_UNIT_NAIVE_H
#define RAN_TESTS_UNIT_NAIVE_H

#include "nn/params.h"
#include "nn/workspace.h"

struct naive {
        const struct ran_config *c;
        const struct ran_layout *layout;
        size_t V, C;
        double *block;            /* all parameters but the embedding, as the layout has them */
        double *embed;            /* (V, D), behind it (c->spelling, D) and (c->linear.wide, C) */
        const float *idf;         /* (c->linear.wide) */
        const uint32_t *affixes;  /* (V, RAN_AFFIX_ROW) */
        const uint32_t *spelling; /* of the document, where the model wants it */
        const double *given;      /* (L, D) rows in place of an embedding's, or NULL */
        uint64_t seed;            /* of random first contexts */
        struct ran_noise noise;   /* dropout as in training; all zero: none */
        uint64_t record;          /* of the document: what dropout is keyed by */
        size_t sources;           /* of the document, under a prefix mask: tokens of the source */
        struct naive_seen {       /* the weights of attention, where somebody wants them, or NULL */
                double *heads;    /* (layers, h, L + m, L + m), all 0 before */
                double *review;   /* (layers, L, m + 1) */
                double *steps;    /* (layers, L) of a Contextualizer: |α x|, not yet a share */
                double *update;   /* (layers) and |z| */
        } seen;
        size_t rows, states;       /* L + m, m + 1 */
        struct naive_layer *layer; /* (layers) and */
        struct naive_head *head;   /* where the parameters of each stand in block */
};
/* Copies the weights, which may be changed from then on. */
void naive_init(struct naive *n, const struct ran_config *c, const struct ran_layout *layout,
                const struct ran_params *p, size_t V, size_t C);
void naive_release(struct naive *n);

/* x (L, D): the encoder's output; last (D): the last cell of the last layer. */
void naive_encode(const struct naive *n, double *x, double *last, const uint32_t *ids, size_t L);
/* logits (C); head (D): the input of the last linear layer, or NULL. A random first context is that
 * of training. */
void naive_classify(const struct naive *n, double *logits, double *head, const uint32_t *ids,
                    size_t L);
/* v: the vector of a document with an encoder of the BERT family (naive-bert.c), from the rows x
 * (L, D) of its tokens. tokens (L, D): its outputs; each (windows, width): the vectors of its
 * windows; or NULL. */
void naive_bert(const struct naive *n, double *v, double *tokens, double *each, const double *x,
                size_t L);
size_t naive_windows(const struct naive *n, size_t L);
/* Cross-entropy, with label smoothing: a share of the target that all classes divide among
 * them (one label) or that goes to 0.5 (several). */
double naive_loss(const double *logits, size_t C, const uint32_t *gold, size_t n_gold,
                  bool multilabel, double smoothing);

#endif
