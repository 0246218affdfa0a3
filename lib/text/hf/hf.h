/* hf.h - shared by reading and writing tokenizer.json. */
#ifndef RAN_TEXT_HF_H
#define RAN_TEXT_HF_H

#include "base/cjson.h"
#include "text/words/words.h"
#include "text/hf/text.h"
#include "text/tokenizer.h"
#include "ran/record.h"

extern const char *const ran_token_roles[]; /* members of tokenizer_config.json; NULL at the end */

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

#endif
