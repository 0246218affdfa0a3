/* conll.h - columns of words and what is said about them: a word a line, a blank line after a
 * sentence. */
#ifndef CMD_FORMATS_CONLL_H
#define CMD_FORMATS_CONLL_H

#include "ran.h"

/* What the columns of a file are. */
struct conll {
        size_t word, tag; /* columns from 1; 0: the usual ones */
        size_t columns;   /* of the first line with a word; later ones have as many */
        bool tabs;        /* they are separated by tabs, and by nothing else */
        bool universal;   /* CoNLL-U: ten columns, comments, lines that are no words */
};

/* Whether a file whose first line this is looks like one: a line that begins a document, or columns
 * of which the last is a tag of a scheme. */
bool conll_guess(const char *line, size_t n);

/* Looks at the first sentence of a file; word and tag have been set. RAN_EFORMAT without such
 * columns. */
int conll_begin(struct conll *c, const char *block, size_t n, struct ran_error *err);

/* Appends the record of a sentence: tokens, tags, doc (unless it is 0), and what the other columns
 * hold. On RAN_EFORMAT *line is the line of the block, from 0, that is to blame. */
int conll_import(const struct conll *c, const char *block, size_t n, size_t doc,
                 struct ran_buf *out, size_t *line, struct ran_error *err);

/* Appends the lines of a sentence as they came, with one column more: the next of the tags for each
 * word, in order. A tag ends with a newline. */
void conll_add_column(const struct conll *c, const char *block, size_t n,
                      const struct ran_buf *tags, struct ran_buf *out);

/* Appends a field: white space becomes '_', and so does nothing at all. */
void conll_add_field(struct ran_buf *out, const char *text, size_t n);
/* The same for a word, which comes first in its line: '_' stands before one that would be taken for
 * the beginning of a document or, by conlleval, for the end of a sentence. */
void conll_add_word(struct ran_buf *out, const char *text, size_t n);

#endif
