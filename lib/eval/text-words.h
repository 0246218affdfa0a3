/* text-words.h - texts as the scores of generated texts divide them. Texts are UTF-8. */
#ifndef RAN_EVAL_TEXT_WORDS_H
#define RAN_EVAL_TEXT_WORDS_H

#include "ran/base.h"

/* Appends the text with its tokens separated by white space: the tokenisation 13a, of the script
 * mteval-v13a of NIST, as sacreBLEU has it. scratch is overwritten. */
void ran_text_13a(struct ran_buf *out, struct ran_buf *scratch, const char *text, size_t n);
/* Appends the words of ROUGE: runs of ASCII letters, made small, and digits, with spaces between.
 */
void ran_text_rouge(struct ran_buf *out, const char *text, size_t n);
/* Bytes of the white space that the text begins with, of n > 0 bytes; 0: none. As Python's
 * str.split. */
size_t ran_text_space(const char *text, size_t n);
/* Appends the text in lower case, letter by letter as Python's str.lower; bytes that are no UTF-8
 * stay. */
void ran_text_lower(struct ran_buf *out, const char *text, size_t n);
/* The next word from *at on: false if there is none. */
bool ran_text_word(const char *text, size_t n, size_t *at, const char **word, size_t *length);

#endif
