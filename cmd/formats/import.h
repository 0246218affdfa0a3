/* import.h - the table of input formats: lines, sentences and files as JSON records.
 *
 * A new format is a file in this folder with a `struct import_format`, and one line in the table
 * below. Options, --help, guessing and the record loop take all they need from there.
 */
#ifndef CMD_FORMATS_IMPORT_H
#define CMD_FORMATS_IMPORT_H

#include "cmd/formats/lines.h"
#include "ran.h"

/* Each format: import_SYMBOL is its entry, NAME its word for --input-format, HELP what --help says
 * about it. --help lists them in this order, and a first line is tried on them in this order. */
#define IMPORT_FORMATS(X)                                                            \
        X(jsonl, "jsonl", "a JSON object a line")                                    \
        X(fasttext, "fasttext", "a line with labels __label__NAME and a text")       \
        X(fasttext_labels, "fasttext-labels", "the same, with a list of any labels") \
        X(conll, "conll", "a word a line in columns, a blank line after a sentence") \
        X(tsv, "tsv", "a line with a label, a tab and a text")                       \
        X(text, "text", "a text a line")                                             \
        X(file, "file", "a text a file")

/* What a file holds, and how that becomes records. */
struct import {
        const struct import_format *format;
        bool guessed;                   /* by the first line */
        size_t word_column, tag_column; /* --word-column, --tag-column */
        bool folder_label;              /* --folder-label */
        void *state; /* for the format; NULL, or of malloc: import_end frees it */
};

struct import_format {
        enum lines_unit unit; /* what becomes a record */
        bool any_bytes;       /* `import` checks itself that its text is UTF-8 */
        /* What a first line that `guess` accepts looks like: "fastText's format". */
        const char *looks_like;
        /* How names of files end that hold many records, and are not taken whole, in whichever
         * folder they are; NULL at the end. NULL: no name says so. */
        const char *const *endings;
        /* Whether the first line of a file, which is not blank, looks like this format. NULL: a
         * line never says so. */
        bool (*guess)(const char *line, size_t n);
        /* Of sentences: whether a line begins a document. NULL otherwise. */
        bool (*begins_document)(const char *line, size_t n);
        /* Reads the header: looks at the first text of a file and fills i->state. RAN_EFORMAT: no
         * text of the file can become a record. NULL: there is nothing to look at. */
        int (*begin)(struct import *i, const struct text_line *first, struct ran_error *err);
        /* Appends the record of a text; nothing if the text is one itself. On RAN_EFORMAT there may
         * be a record of what could be read, and *line, 0 at first, is the line of the text, from
         * 0, that is to blame. */
        int (*import)(const struct import *i, const struct text_line *text, struct ran_buf *out,
                      size_t *line, struct ran_error *err);
};

#define X(symbol, name, help) extern const struct import_format import_##symbol;
IMPORT_FORMATS(X)
#undef X

/* For the option --input-format: its words, "auto" first, NULL at the end; and its help. */
extern const char *const import_names[];
#define IMPORT_HELP_OF(symbol, name, help) "; " name ": " help
#define IMPORT_HELP                        IMPORT_FORMATS(IMPORT_HELP_OF)
/* The format of such a word, by its index; NULL: auto. */
const struct import_format *import_choice(int choice);
/* Its word. */
const char *import_name(const struct import_format *format);

/* The format that the first line of a file looks like; NULL: none of them. */
const struct import_format *import_guess(const char *line, size_t n);
/* Whether the name of a file says that it holds many records. */
bool import_has_ending(const char *file);

/* Looks at the first text of a file; all members of i but state have been set, state is NULL. */
int import_begin(struct import *i, const struct text_line *first, struct ran_error *err);
/* As the format's `import`; a message about a guessed format says so. */
int import_text_line(const struct import *i, const struct text_line *text, struct ran_buf *out,
                     size_t *line, struct ran_error *err);
/* After the last text of a file. */
void import_end(struct import *i);

/* The text stops being UTF-8 after `valid` bytes: a message with the column, and *line. */
int import_refuse_bytes(const struct text_line *text, size_t valid, size_t *line,
                        struct ran_error *err);

#endif
