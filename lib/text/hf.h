/* hf.h - names that reading and writing a tokenizer.json share. */
#ifndef RAN_TEXT_HF_H
#define RAN_TEXT_HF_H

#include <cjson/cJSON.h>

#include "text/normalizer.h"
#include "text/tokenizer.h"
#include "ran/record.h"

extern const char *const ran_hf_model_types[]; /* by enum ran_tokenizer_type, NULL at the end */

/* Normalizers of one name and no parameters. */
struct ran_hf_plain_step {
        const char *type;
        enum ran_normalizer_step step;
};
extern const struct ran_hf_plain_step ran_hf_plain_steps[]; /* type NULL at the end */

/* The original BERT removes control characters of two categories only. Hugging Face has no option
 * for that, but can replace what a regular expression finds. This is the one that is understood. */
#define HF_CC_CF_PATTERN "[[\\p{Cc}\\p{Cf}\\x{FFFD}]&&[^\\t\\n\\r]]"

/* Words of byte pairs that a pre-tokenizer Split cuts by a regular expression. These are
 * understood; type RAN_SPLIT_GPT2 is that of ByteLevel itself. */
struct ran_hf_pattern {
        const char *regex;
        int split;
        size_t digits; /* as in struct ran_text_rules */
};
extern const struct ran_hf_pattern ran_hf_patterns[]; /* regex NULL at the end */

/* The long list of a document, as spans of it: a node for each member of it would take longer than
 * all else when a program starts. */
struct ran_hf_lists {
        const char *json;
        struct ran_span vocab; /* an object; end = 0: there is none */
};

/* Members of an object, which may be NULL: NULL when it is not there, or no text. */
const cJSON *ran_hf_member(const cJSON *object, const char *name);
const char *ran_hf_text(const cJSON *object, const char *name);
/* The text of member "type", or a word for what is there instead. */
const char *ran_hf_type(const cJSON *object);
bool ran_hf_is_null(const cJSON *item); /* or not there */
int ran_hf_bool(const cJSON *object, const char *name, bool absent, bool *value,
                struct ran_error *err);

/* What pieces are made of: words and parts of them, bytes, or characters. */
enum ran_hf_letters { HF_WORDS, HF_BYTES, HF_CHARS };
/* The normalizer and the pre_tokenizer of a document. */
int ran_hf_read_rules(struct ran_text_rules *r, const cJSON *document, enum ran_hf_letters letters,
                      struct ran_error *err);

/* What only the model BPE has; its pieces are there. */
int ran_hf_read_bpe(struct ran_tokenizer *t, const cJSON *model, struct ran_error *err);

#endif
