/* model.h - a model in memory and on disk. man 5 ran-model has the layout of the file. */
#ifndef RAN_MODEL_MODEL_H
#define RAN_MODEL_MODEL_H

#include "model/calibration.h"
#include "model/linear-rows.h"
#include "model/params.h"
#include "model/tag-rules.h"
#include "model/tensors.h"

#define RAN_FORMAT         "ran"
#define RAN_FORMAT_VERSION "1"

struct ran_model {
        struct ran_config config;
        size_t V, C;
        struct ran_params params;       /* mapped tables: in the mapped file, or a copy */
        float *copy[RAN_MAPPED_TABLES]; /* where the file's cannot be used as it lies */
        struct ran_linear_rows rows;    /* n 0: all rows of the linear model are there */
        uint32_t *buckets;              /* those of rows, likewise a copy */
        struct ran_bytes file;
        struct ran_tensors tensors;
        struct ran_tokenizer *tokenizer;    /* or NULL */
        uint32_t *affixes;                  /* of the vocabulary's subwords, for a linear model */
        char **labels;                      /* (C) */
        float *thresholds;                  /* (C) */
        struct ran_calibration calibration; /* of one label a document; or none */
        struct ran_tag_rules rules;         /* of a tagger */
};

/* Tensors of a checkpoint that a model lacks: state of the run, moments, best weights. Their
 * names begin with "train."; scoring ignores them. */
#define RAN_EXTRA_PREFIX "train."
struct ran_extra {
        const char *name;
        enum ran_dtype dtype; /* F32 or F64 */
        void *data;           /* (n) */
        size_t n;
};

/* The contents to write: weights under their names, further tensors, metadata. */
struct ran_parts {
        const struct ran_config *config;
        const struct ran_layout *layout;
        const struct ran_params *params;
        size_t V, C;
        char *const *labels;                   /* (C) or NULL */
        const struct ran_tokenizer *tokenizer; /* or NULL */
        const char *training;                  /* a JSON object, or NULL */
        const struct ran_extra *extra;
        size_t extras;
};
int ran_model_write(const char *path, const struct ran_parts *parts, struct ran_error *err);
bool ran_model_has_extra(const struct ran_model *m, const char *name);
/* Fills the data of an extra tensor, which must have exactly its n elements. */
int ran_model_read_extra(const struct ran_model *m, const struct ran_extra *extra,
                         struct ran_error *err);

#endif
