/* conll.h - a word a line with columns of annotations, a blank line after each sentence. */
#ifndef CMD_FORMATS_CONLL_H
#define CMD_FORMATS_CONLL_H

#include "cmd/formats/import.h"
#include "ran.h"

/* What the columns of a file are. */
struct conll {
        size_t word, tag; /* columns from 1; 0: the usual ones */
        size_t columns;   /* of the first line with a word; later lines have as many */
        bool tabs;        /* tabs separate them, and nothing else */
        bool universal;   /* CoNLL-U: ten columns, comments, lines that are no words */
};

/* Whether this first line of a file begins a document, or has columns that end in a tag of a
 * scheme. */
bool conll_guess(const char *line, size_t n);

/* Looks at the first sentence of a file; word and tag have been set. RAN_EFORMAT: there are no such
 * columns. */
int conll_begin(struct conll *c, const char *block, size_t n, struct ran_error *err);

/* The columns of a file that is read as CoNLL; NULL for other formats. */
const struct conll *conll_of(const struct import *i);

/* Appends the record of a sentence: tokens, tags, doc (unless it is 0), and the other columns. On
 * RAN_EFORMAT *line is the line of the block, from 0, that is to blame. */
int conll_import(const struct conll *c, const char *block, size_t n, size_t doc,
                 struct ran_buf *out, size_t *line, struct ran_error *err);

/* Appends the lines of a sentence as they came, with one more column: the tags of the words, in
 * order. Each tag ends with a newline. */
void conll_add_column(const struct conll *c, const char *block, size_t n,
                      const struct ran_buf *tags, struct ran_buf *out);

/* Appends a field: white space becomes '_', and so does an empty field. */
void conll_add_field(struct ran_buf *out, const char *text, size_t n);
/* The same for a word, first in its line. A word that would begin a document or, for conlleval, end
 * a sentence gets a '_' before it. */
void conll_add_word(struct ran_buf *out, const char *text, size_t n);

#endif
