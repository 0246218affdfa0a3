/* text.h - the text of a continuation while it is generated, token by token. */
#ifndef CMD_LM_TEXT_H
#define CMD_LM_TEXT_H

#include "ran.h"

/* Zero-initialise; used again and again. */
struct lm_text {
        const struct ran_tokenizer *tokenizer;
        const struct ran_list *stops;
        uint32_t last; /* the token before the next one, for the space between; or RAN_NO_ID */
        struct ran_buf text; /* all so far; what a token adds may be half a character */
        size_t sure;  /* so many bytes will stay: whole characters, and no part of a stop string */
        bool stopped; /* a stop string came, and it and what followed are gone */
        struct ran_buf scratch;
};
void lm_text_release(struct lm_text *t);
/* An empty text, which continues the token `last`. */
void lm_text_begin(struct lm_text *t, const struct ran_tokenizer *tokenizer,
                   const struct ran_list *stops, uint32_t last);
int lm_text_add(struct lm_text *t, uint32_t id, struct ran_error *err);
/* The same for what a token stands for. */
int lm_text_add_bytes(struct lm_text *t, const char *bytes, size_t n, struct ran_error *err);
/* No more tokens come: all of the text is sure. */
void lm_text_end(struct lm_text *t);
/* Appends text from `from` on as far as it is sure, what is not UTF-8 as U+FFFD. Returns where it
 * stopped. */
size_t lm_text_show(const struct lm_text *t, size_t from, struct ran_buf *out);

#endif
