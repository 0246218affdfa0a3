/* hf.h - a tokeniser as a file, tokenizer.json or vocab.txt; and what reading and writing share. */
#ifndef RAN_TEXT_HF_H
#define RAN_TEXT_HF_H

#include "base/cjson.h"
#include "text/words/words.h"
#include "text/tokenizer.h"
#include "ran/record.h"

extern const char *const ran_hf_parts[KEPT]; /* members of a tokenizer.json */
extern const char *const ran_token_roles[];  /* members of tokenizer_config.json; NULL at the end */

/* Normalizers without parameters. */
struct ran_hf_plain_step {
        const char *type;
        enum ran_normalizer_step step;
};
extern const struct ran_hf_plain_step ran_hf_plain_steps[]; /* type NULL at the end */

/* One object serves as pre-tokenizer, post-processor and decoder; each reads a part of it. */
#define HF_BYTE_LEVEL                                                               \
        "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true," \
        "\"use_regex\":true}"

/* A tokenizer.json: *document, without the vocabulary, which the caller deletes, and where that is
 * in data. RAN_EFORMAT. */
int ran_hf_parse(cJSON **document, struct ran_span *vocab, const char *data, size_t n,
                 struct ran_error *err);
/* The tokeniser; exact: as in text.h; err is not NULL. */
struct ran_tokenizer *ran_hf_make(const cJSON *document, const char *data, struct ran_span vocab,
                                  bool exact, struct ran_error *err);

/* The text of member "type", or a word for its absence. */
const char *ran_hf_type(const cJSON *object);

/* Rules that do the same as the steps of a file; false: there are none. */
bool ran_hf_find_rules(struct ran_text_rules *r, const struct ran_steps *s);

/* Reads the tokens, with the scores of Unigram, and those that were added. `vocab`: the member of
 * the model, of a scanned document; end = 0: there is none. */
int ran_hf_read_tokens(struct ran_tokenizer *t, const char *json, struct ran_span vocab,
                       const cJSON *added, struct ran_error *err);
/* Whether added tokens need t->steps: because they are normalized, or single words. */
bool ran_hf_added_need_steps(const struct ran_normalizer *z, const cJSON *added);
/* Reads what only the model BPE has, after its tokens. */
int ran_hf_read_bpe(struct ran_tokenizer *t, const cJSON *model, struct ran_error *err);

/* Reads the normalizer and the pre_tokenizer of a document into t->steps; err is not NULL. */
int ran_hf_read_steps(struct ran_tokenizer *t, const cJSON *document, struct ran_error *err);

/* A member of our own: {"mask_token": "<mask>", ...}. A file that has it is of an encoder that was
 * imported: it is read exactly as the library reads it, and written with its post_processor. */
#define HF_ROLES "ran_special_tokens"
/* Reads what surrounds a text, and the tokens with a role; after the tokens. */
int ran_hf_read_frame(struct ran_tokenizer *t, const cJSON *document, struct ran_error *err);

/* ---- for other folders ----------------------------------------------------------------------- */

/* Writes the text, unless it is there. Any thread may call it. */
const struct ran_tokenizer_text *ran_tokenizer_text(const struct ran_tokenizer *t);

/* read.c and vocab-txt.c: the two kinds of files. */
/* exact: as an encoder needs it that others have trained, also where the rules would do otherwise:
 * ids and offsets are those of the library of Hugging Face, and the text that is written keeps the
 * post_processor, so that ran_tokenizer_load reads it alike. */
struct ran_tokenizer *ran_tokenizer_read_json(const char *data, size_t n, bool exact,
                                              struct ran_error *err);
/* Adds the tokens of a vocab.txt, one a line. */
int ran_tokenizer_add_lines(struct ran_tokenizer *t, const char *data, size_t n,
                            struct ran_error *err);
/* That of FOLDER/BASE, where BASE may be "". lower: texts are made lower case before all else. The
 * sentence begins with the file inside of FOLDER, or with "it has". */
struct ran_tokenizer *ran_tokenizer_read_folder(const char *folder, const char *base, bool lower,
                                                struct ran_error *err);
/* A vocab.txt as settings say, of which those for learning have no meaning; or as BERT reads it:
 * cased if a token has a capital letter. RAN_EFORMAT. */
struct ran_tokenizer *ran_tokenizer_import(const char *data, size_t n,
                                           const struct ran_vocab_settings *settings,
                                           struct ran_error *err);
struct ran_tokenizer *ran_tokenizer_read_lines(const char *data, size_t n, struct ran_error *err);

#endif
