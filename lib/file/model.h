/* model.h - a model in memory and on disk. man 5 ran-model has the layout of the file. */
#ifndef RAN_MODEL_MODEL_H
#define RAN_MODEL_MODEL_H

#include "eval/calibration.h"
#include "nn/part.h"
#include "part/crf/crf.h"
#include "part/linear/linear-file.h"
#include "tensors/tensors.h"

#define RAN_FORMAT         "ran"
#define RAN_FORMAT_VERSION "1"

struct ran_model {
        struct ran_config config;
        size_t V, C;
        struct ran_params params;       /* mapped tables: in the mapped file, or a copy */
        float *copy[RAN_MAPPED_TABLES]; /* where the file's cannot be used as it lies */
        struct ran_linear_stored linear;
        struct ran_bytes file;
        bool in_memory; /* the file was made there, its digest is open */
        struct ran_tensors tensors;
        struct ran_tokenizer *tokenizer; /* or NULL */
        char **labels;                   /* (C) */
        bool named;                      /* the file has their names, which are not numbers */
        float *thresholds;               /* (C) */
        float *limits; /* (C) thresholds that training was asked for, -1: none; NULL: of no label */
        struct ran_calibration calibration; /* of one label a document; or none */
        struct ran_crf_rules rules;         /* of a tagger */
        const uint32_t *known;              /* (knows) fingerprints, in the mapped file or a copy */
        uint32_t *known_copy;
        size_t knows;
};

/* Tensors of a checkpoint that a model lacks: state of the run, moments, best weights. Their
 * names begin with "train."; scoring ignores them. */
#define RAN_EXTRA_PREFIX "train."
struct ran_extra {
        const char *name;
        enum ran_dtype dtype; /* F32 or F64; U32 of fingerprints */
        void *data;           /* (n) */
        size_t n;
};

/* Reads m->file; the sentence does not name it. verify: see ran_model_open. */
int ran_model_read(struct ran_model *m, bool verify, struct ran_error *err);

/* The fingerprints of the training documents; older versions ignore this tensor. */
#define RAN_KNOWN_TENSOR RAN_EXTRA_PREFIX "documents"
struct ran_extra ran_model_known(const struct ran_model *m); /* n 0: none */
/* Sorts fingerprints and removes duplicates; returns the number left. */
size_t ran_known_sort(uint32_t *known, size_t n);

/* model-tensors.c. Every tensor that the configuration asks for must be there, in its shape, and
 * none that it does not know: a part that we left out would change what the model says. Then the
 * weights are read. */
int ran_model_check_tensors(struct ran_model *m, const struct ran_layout *layout,
                            struct ran_error *err);
int ran_model_read_weights(struct ran_model *m, const struct ran_layout *layout,
                           struct ran_error *err);

/* The contents to write: weights under their names, further tensors, metadata. */
struct ran_parts {
        const struct ran_config *config;
        const struct ran_layout *layout;
        const struct ran_params *params;
        size_t V, C;
        char *const *labels;                   /* (C) or NULL */
        const struct ran_tokenizer *tokenizer; /* or NULL */
        const char *training;                  /* a JSON object, or NULL */
        const char *converted;                 /* likewise, see ran_model_convert */
        const char *pretrained, *prompts;      /* likewise, see ran_hf_folder_write */
        const struct ran_extra *extra;
        size_t extras;
        int storage; /* of the weights, RAN_STORAGE_...; extra tensors stay as they are */
        const struct ran_tensors *from; /* weights that it has by name and shape are its own, as it
                                         * stores them; NULL: none */
};
/* To a file or, unless that is NULL, to bytes, which the caller releases. */
int ran_model_write(const char *path, struct ran_bytes *to, const struct ran_parts *parts,
                    struct ran_error *err);
/* RAN_EFORMAT if two labels have one name: results name labels. */
int ran_labels_check(char *const *label, size_t C, struct ran_error *err);
/* weight (V) of tokens in vectors of documents: the model's own, or those of its language model;
 * else all 1. */
void ran_model_token_weights(const struct ran_model *m, float *weight);
/* Fills the data of an extra tensor, which must have exactly its n elements. */
int ran_model_read_extra(const struct ran_model *m, const struct ran_extra *extra,
                         struct ran_error *err);

#endif
