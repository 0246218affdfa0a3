/* conll.h - a word a line with columns of annotations, a blank line after each sentence. */
#ifndef CMD_FORMATS_CONLL_H
#define CMD_FORMATS_CONLL_H

#include "cmd/formats/import.h"
#include "ran.h"

/* The columns of a file. */
struct conll {
        size_t word, tag; /* columns from 1; 0: the usual ones */
        size_t columns;   /* of the first line with a word; later lines have as many */
        bool tabs;        /* tabs separate them, and nothing else */
        bool universal;   /* CoNLL-U: ten columns, comments, lines that are no words */
        bool numbered;    /* the first column counts words: 1, 2, ... */
        bool scheme;      /* the first tag is one of a scheme */
};

/* Whether the first lines of a file begin a document or a sentence, or agree in columns that end in
 * tags of a scheme. (conll-guess.c) */
enum import_match conll_guess(const struct sample *sample);
/* Whether a field is a tag of a scheme, as people write it: O, B-PER, but no B-12. (conll-guess.c)
 */
bool conll_is_tag(const char *s, size_t n);
/* Tells what a line is, whatever the columns: a comment that no word can be, or a document's
 * beginning. (conll-guess.c) */
enum lines_role conll_role(const char *line, size_t n);

/* ---- the fields of a line (conll-guess.c): tabs alone separate them, or runs of white space */

/* The next field from *at on, which is 0 at first; false behind the last. */
bool conll_next_field(bool tabs, const char *line, size_t n, size_t *at, struct ran_span *field);
/* The fields of a line, and the last of them. */
size_t conll_fields(bool tabs, const char *line, size_t n, struct ran_span *last);
/* Whether a line is a word of CoNLL-U. */
bool conll_is_universal(const char *line, size_t n);

/* Whether a line begins with a text. (conll-guess.c) */
bool conll_begins_with(const char *s, size_t n, const char *what);

/* The columns of a file that is read as CoNLL; NULL for other formats. */
const struct conll *conll_of(const struct import *i);

/* Appends the record of a sentence: tokens, tags, doc (unless it is 0), and the other columns.
 * On RAN_EFORMAT *line is the bad line of the block, from 0. */
int conll_import(const struct conll *c, const char *block, size_t n, size_t doc,
                 struct ran_buf *out, size_t *line, struct ran_error *err);

/* Appends a field: white space becomes '_', and so does an empty field. */
void conll_add_field(struct ran_buf *out, const char *text, size_t n);

#endif
