/* words.h - the words of a document beside a picture, and its title. */
#ifndef CMD_ATTNMASK_WORDS_H
#define CMD_ATTNMASK_WORDS_H

#include "cmd/attnmask/model.h"

/* Writes what stands at [from, to) of an axis of the current document: tokens, or rows of tokens
 * and cells. Free it with attnmask_words_free. NULL: RAN_ENOMEM, or an error of the document. */
char **attnmask_words(const struct attnmask_model *a, const struct attnmask_scratch *s,
                      const struct cmd_line *line, enum ran_axis axis, size_t from, size_t to,
                      struct ran_error *err);
void attnmask_words_free(char **words, size_t n);

/* "WHAT: name of the record"; the caller frees it. NULL: RAN_ENOMEM. */
char *attnmask_title(const char *what, const struct cmd_line *line, struct ran_error *err);

#endif
