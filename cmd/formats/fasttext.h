/* fasttext.h - labels and text on a line: fastText's format. */
#ifndef CMD_FORMATS_FASTTEXT_H
#define CMD_FORMATS_FASTTEXT_H

#include "ran.h"

#define FASTTEXT_PREFIX "__label__"

/* The characters that separate words for fastText; a NUL, too. */
bool fasttext_is_space(char c);

/* Whether a label can be written: white space would end it, and an empty one would change its
 * meaning. */
bool fasttext_has_label(const char *name);
/* Appends "__label__NAME ". */
void fasttext_add_label(struct ran_buf *out, const char *name);
/* Appends the text of a record, or its tokens with a space between, without any line ends; and a
 * newline. RAN_EFORMAT for a record without either, or with a word that looks like a label. */
int fasttext_add_text(struct ran_buf *out, const struct ran_record *record, struct ran_error *err);

#endif
