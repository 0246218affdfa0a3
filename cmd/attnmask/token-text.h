/* token-text.h - the text of a document, token by token. */
#ifndef CMD_ATTNMASK_TOKEN_TEXT_H
#define CMD_ATTNMASK_TOKEN_TEXT_H

#include "cmd/content/reading.h"
#include "cmd/content/shown.h"

/* Zero-initialise. Offsets of the reading must count bytes. */
struct token_text {
        const struct cmd_reading *reading;
        const struct ran_tokenizer *tokenizer;
        struct cmd_shown shown;
        size_t at; /* bytes of the text before the next token */
};
void token_text_release(struct token_text *x);
int token_text_begin(struct token_text *x, const struct cmd_reading *reading,
                     const struct ran_model *m, const struct record *record, struct ran_error *err);
/* A token: the text between the last one and it, and its own. Call it for one token after another,
 * from any one on. */
struct token_part {
        const char *gap, *text;
        size_t gap_n, n;
        char number[24]; /* the text of a token that has only an id */
};
void token_text_next(struct token_text *x, size_t t, struct token_part *part);
/* The text behind the last token. */
void token_text_rest(const struct token_text *x, struct token_part *part);

#endif
