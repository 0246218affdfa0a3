/* toy.h - small models with random weights, and documents for them. */
#ifndef RAN_TESTS_UNIT_TOY_H
#define RAN_TESTS_UNIT_TOY_H

#include "dice.h"
#include "nn/params.h"
#include "nn/packed.h"
#include "part/linear/linear-model.h"

/* Gated, two layers, D = 12, two heads of 8, windows of 5. */
struct ran_config toy_config(void);
/* Every switch, mask and size drawn: layers 1 to 3, windows of 1 to 12, D of 6 to 40. */
struct ran_config toy_random_config(struct dice *d);

/* The same of a Transformer: patterns, one for all heads or one of each, and similarity, too. */
struct ran_config toy_transformer(struct dice *d);

/* An encoder of the BERT family: windows of 4 to 20 rows, every switch drawn. */
struct ran_config toy_bert(struct dice *d);

/* The same below an upper part, RAN_UPPER_... */
struct ran_config toy_upper(struct dice *d, int upper);

/* A Contextualizer: 1 to 3 steps, rank 1 to 50, D of 2 to 40. */
struct ran_config toy_contextualizer(struct dice *d);

enum { TOY_V = 23, TOY_C = 4 };

struct toy {
        struct ran_config c;
        size_t V, C;
        struct ran_layout layout;
        struct ran_params p; /* p.embed is `embed` */
        float *embed; /* behind it the table of spelling, and table and idf of the linear model */
        float token_weight[TOY_V]; /* of a frozen encoder */
        uint32_t affixes[TOY_V *
                         RAN_AFFIX_ROW]; /* of a linear model that wants them, of all kinds */
};
/* Numbers of all tables. */
size_t toy_tables(const struct toy *t);
/* Weights of that deviation, scales around 1. */
void toy_init(struct toy *t, const struct ran_config *c, uint64_t seed, double deviation);
void toy_release(struct toy *t);
/* What is switched on, in a text that is good until the next call. */
const char *toy_name(const struct ran_config *c);

/* Appends a document of L random ids, known as `record`; under a prefix mask its source is as long
 * as the dice say. */
void toy_add(const struct toy *t, struct ran_packed *rows, struct dice *d, size_t L,
             uint64_t record);

/* One of them. */
struct ran_document toy_document(const struct ran_packed *rows, size_t b);

#endif
