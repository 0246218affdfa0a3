/* hf.h - names that reading and writing a tokenizer.json share. */
#ifndef RAN_TEXT_HF_H
#define RAN_TEXT_HF_H

#include "text/normal.h"

/* Normalizers of one name and no parameters. */
struct hf_plain_step {
        const char *type;
        enum normal_step step;
};
extern const struct hf_plain_step hf_plain_steps[]; /* type NULL at the end */

/* The original BERT removes control characters of two categories only. Hugging Face has no option
 * for that, but can replace what a regular expression finds. This is the one that is understood. */
#define HF_CC_CF_PATTERN "[[\\p{Cc}\\p{Cf}\\x{FFFD}]&&[^\\t\\n\\r]]"

#endif
