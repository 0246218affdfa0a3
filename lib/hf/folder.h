/* folder.h - pretrained encoders in Hugging Face's form: a folder with
 *
 *      config.json                     config.c: what the encoder is
 *      model.safetensors, or shards    weights.c; names.c: their names, and ours
 *      tokenizer.json, or older files  text/hf/folder.c
 *      modules.json and what it names  modules.c: pooling, dense layer, normalisation
 *      README.md                       its licence
 *
 * or the folder of the package rannet, which the authors of the RAN publish (rannet.c):
 *
 *      config.json                     sizes, without a model_type
 *      NAME.index, NAME.data-00000-of-00001   TensorFlow's checkpoint (bundle.c)
 *      vocab.txt
 *
 * It becomes a model of the encoder `bert` (bert.h), or a RAN of published cells: without a head,
 * or as a classifier, tagger or masked language model. Everything is hostile until it is checked;
 * sentences begin with the name of the file inside the folder.
 */
#ifndef RAN_MODEL_HF_FOLDER_H
#define RAN_MODEL_HF_FOLDER_H

#include "nn/params.h"
#include "tensors/tensors.h"
#include "base/cjson.h"

/* How settings and tensors are called. */
enum ran_hf_family {
        RAN_HF_BERT,
        RAN_HF_ROBERTA,
        RAN_HF_DISTILBERT,
        RAN_HF_MPNET,
        RAN_HF_MODERNBERT,
        RAN_HF_RANNET,
        RAN_HF_FAMILIES
};
extern const struct ran_hf_kind {
        /* Members of config.json; rannet.c has its own. eps may be NULL; default_eps: unsaid. */
        const char *dim, *layers, *heads, *ffn, *activation, *eps;
        double default_eps;
        /* What the names of all tensors of an encoder begin with, or may; then those of a layer, in
         * front of its number; and two whole names. The decoder's may have .weight and .bias, the
         * latter once more. */
        const char *prefix, *layer, *embedding, *decoder;
} ran_hf_kinds[RAN_HF_FAMILIES];

struct ran_hf_tensor {
        const char *name; /* without the prefix of the encoder */
        const struct ran_tensors *file;
        const struct ran_tensor *tensor;
        bool used;
};
struct ran_hf_file {
        struct ran_bytes bytes;
        struct ran_tensors tensors;
};
struct ran_hf_weights {
        struct ran_hf_file *file; /* (files) */
        size_t files, cap;
        struct ran_hf_tensor *tensor; /* (n) ordered by name */
        size_t n;
};

/* What the folder says, and what it holds; texts are its own. */
struct ran_hf {
        const char *folder; /* its path */
        struct ran_config config;
        enum ran_hf_family family;
        char *type, *architecture, *license, *name; /* of the folder; NULL: not said */
        size_t vocabulary;                          /* vocab_size; 0: not said */
        size_t rows;        /* of the position table, or the longest window without one */
        size_t first;       /* the row of the first token */
        size_t token_types; /* rows of their table; 0: none */
        bool attention_bias, ffn_bias, norm_bias; /* of config.bias, those that are there */
        bool dense_bias, lm_bias;
        bool other_head; /* the folder has a head that is left out */
        char *code;      /* the class of its own code, which is not run; NULL: it has none */
        char **label;    /* (labels) or NULL: they are LABEL_0, LABEL_1 ... */
        size_t labels;   /* 0: not said */
        /* modules.json */
        bool sentence;        /* there is one */
        char *base;           /* folders in the folder: of the encoder, "" if it is the same; */
        char *pooling_folder; /* NULL: none */
        char *dense_folder;
        bool include_prompt, lower_case, normalize;
        size_t most;          /* max_seq_length; 0: not said */
        size_t truncate;      /* truncate_dim; 0: not said */
        const char *asked;    /* which prompt somebody asks for, or NULL */
        char *prompts;        /* a JSON object */
        char *default_prompt; /* a name among them */
        char *prompt;         /* the text in front of each window; NULL: none */
        char *prompt_name;    /* among them; NULL: none of them, or no prompt */
        /* What it holds. */
        struct ran_hf_weights weights, dense;
        struct ran_tokenizer *tokenizer;
        struct ran_surround around;        /* the tokenizer's */
        struct ran_encoding prompt_tokens; /* in front of a window's, after the tokenizer's */
        size_t V, C, embedded;             /* rows of the embedding: V or more */
};
void ran_hf_release(struct ran_hf *f);

/* ---- files (files.c) ---------------------------------------------------------------------- */

/* Reads a file of JSON; the sentence does not name it. */
typedef int ran_hf_reader(struct ran_hf *f, const cJSON *all, struct ran_error *err);
enum { RAN_HF_TEXT_MOST = 64 << 20 }; /* bytes of a text */
/* Opens FOLDER/BASE/NAME, a file of JSON, and reads it; the sentence names the file. optional: it
 * may be absent. */
int ran_hf_read_file(struct ran_hf *f, const char *base, const char *name, bool optional,
                     ran_hf_reader *read, struct ran_error *err);
/* Refuses a folder without config.json or model.safetensors, which is `missing`; the sentence says
 * what it has instead, and what to do. */
int ran_hf_refuse(const struct ran_hf *f, const char *base, const char *missing,
                  struct ran_error *err);

/* How many files of a folder have names that end so, and are longer; *name: the first by name, with
 * its NUL. Not training_args.bin, which holds no weights. */
size_t ran_hf_find_files(const char *folder, const char *end, struct ran_buf *name);

/* *to = a copy. */
void ran_hf_copy(char **to, const char *text);
/* The sentence with the name of the file in front of it. */
int ran_hf_blame(int rc, const char *base, const char *name, const struct ran_error *why,
                 struct ran_error *err);
/* The value of a name in a table that ends with NULL; false: it is not there. */
struct ran_hf_word {
        const char *name;
        int value;
};
bool ran_hf_look_up(const struct ran_hf_word *table, const char *name, int *value);
/* What is said of a folder of Model2Vec. */
#define RAN_HF_VECTORS_ALONE                                                                  \
        "these are vectors of tokens, no encoder, and no vectors of documents can be had of " \
        "them: train with them, ran-train classify --vectors FOLDER"
/* An activation by the name that the libraries have for it. */
int ran_hf_activation(const char *name, int *activation, struct ran_error *err);

/* ---- readers --------------------------------------------------------------------------------- */

int ran_hf_read_config(struct ran_hf *f, const cJSON *all, struct ran_error *err);
/* The head by `architectures` (heads.c), and its labels. */
int ran_hf_read_head(struct ran_hf *f, const cJSON *all, struct ran_error *err);
/* modules.c: modules.json, which is an array, and what it names. */
int ran_hf_read_modules(struct ran_hf *f, const cJSON *all, struct ran_error *err);
int ran_hf_read_pooling(struct ran_hf *f, const cJSON *all, struct ran_error *err);
int ran_hf_read_dense(struct ran_hf *f, const cJSON *all, struct ran_error *err);
int ran_hf_read_sentence(struct ran_hf *f, const cJSON *all, struct ran_error *err);
int ran_hf_read_prompts(struct ran_hf *f, const cJSON *all, struct ran_error *err);
int ran_hf_read_tokenizer_config(struct ran_hf *f, const cJSON *all, struct ran_error *err);
/* The prompt of a model, as ran_hf_folder_write has it: f->asked, or the default one, of the
 * prompts in `prompts`, or NULL: there are none. */
int ran_hf_choose_prompt(struct ran_hf *f, const cJSON *prompts, struct ran_error *err);
/* The licence in a README.md. */
void ran_hf_read_readme(struct ran_hf *f, const char *text, size_t n);

/* ---- weights (weights.c) ------------------------------------------------------------------ */

/* Opens those of the encoder and of the dense layer. */
int ran_hf_weights_open(struct ran_hf *f, struct ran_error *err);
void ran_hf_weights_release(struct ran_hf_weights *w);
/* NULL: there is none. gamma and beta are weight and bias. */
struct ran_hf_tensor *ran_hf_find(const struct ran_hf_weights *w, const char *name);
/* Checks the type and the shape (rows, cols), or (cols) with rows 0, and marks it as used. */
int ran_hf_check(struct ran_hf_tensor *t, size_t rows, size_t cols, struct ran_error *err);
/* Numbers [from, from + n), which must be finite. */
int ran_hf_numbers(const struct ran_hf_tensor *t, size_t from, size_t n, float *out,
                   struct ran_error *err);
/* The first n numbers where they lie, or as a copy in *copy, which the caller frees; NULL: failed.
 */
const float *ran_hf_table(const struct ran_hf_tensor *t, size_t n, float **copy,
                          struct ran_error *err);
/* Refuses tensors that are neither used nor known to be of no use. */
int ran_hf_check_rest(const struct ran_hf *f, struct ran_error *err);

/* ---- from weights to parameters (params.c) ------------------------------------------------ */

/* V, C and what the configuration takes from the vocabulary and the weights. */
int ran_hf_settle(struct ran_hf *f, struct ran_error *err);
/* Compares all tensors with the layout. */
int ran_hf_check_all(const struct ran_hf *f, const struct ran_layout *layout,
                     struct ran_error *err);
/* Fills the block; p->embed is there. */
int ran_hf_fill(const struct ran_hf *f, const struct ran_layout *layout, struct ran_params *p,
                struct ran_error *err);

/* ---- names (names.c) ---------------------------------------------------------------------- */

/* Where a tensor of ours comes from. */
struct ran_hf_origin {
        char name[96];      /* "": all zero, or made of others */
        size_t part, parts; /* of its rows */
        bool pairs;         /* rows of a head in the order of rotary positions */
        bool transposed;    /* a matrix [in, out]; ours are [out, in] */
        bool dense;         /* in the weights of the dense layer */
};
void ran_hf_origin(const struct ran_hf *f, const struct ran_tensor_spec *spec,
                   struct ran_hf_origin *from);
#define RAN_HF_POSITIONS   "embeddings.position_embeddings.weight"
#define RAN_HF_TOKEN_TYPES "embeddings.token_type_embeddings.weight"

/* ---- the package rannet (rannet.c) ----------------------------------------------------------- */

bool ran_hf_is_rannet(const cJSON *config);
int ran_hf_read_rannet(struct ran_hf *f, const cJSON *all, struct ran_error *err);
/* The path of its checkpoint inside the folder, without .index: *name is the caller's to release.
 * RAN_EFORMAT: there is none, or more than one. */
int ran_hf_rannet_checkpoint(struct ran_buf *name, const char *folder, struct ran_error *err);

#endif
