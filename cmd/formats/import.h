/* import.h - the table of input formats: lines, sentences and files as JSON records.
 *
 * A new format is a file in this folder with a `struct import_format`, and one line in the table
 * below. Options, --help, guessing and the record loop use this entry.
 */
#ifndef CMD_FORMATS_IMPORT_H
#define CMD_FORMATS_IMPORT_H

#include "cmd/formats/lines.h"
#include "ran.h"

/* Each format: import_SYMBOL is its entry, NAME its word for --input-format, HELP its text in
 * --help. --help lists formats in this order, and guessing tries them in this order. */
#define IMPORT_FORMATS(X)                                                    \
        X(jsonl, "jsonl", "JSON objects, one a line")                        \
        X(json, "json", "the same in an array, or with line ends within")    \
        X(csv, "csv", "a table, one row a record")                           \
        X(fasttext, "fasttext", "labels __label__NAME and text")             \
        X(fasttext_labels, "fasttext-labels", "always a list of labels")     \
        X(conll, "conll", "columns, one word a line")                        \
        X(tsv, "tsv", "a table with tabs; without a header, label and text") \
        X(text, "text", "one text a line")                                   \
        X(file, "file", "one text a file")

enum { IMPORT_AUTO, IMPORT_YES, IMPORT_NO };

/* Which columns a table has, and which members are what. */
struct import_columns {
        int header, quotes;          /* IMPORT_AUTO, ... */
        char *delimiter;             /* see table_delimiter; NULL: by the first line */
        char *names;                 /* of the columns, with commas; NULL: by the header */
        struct ran_list text_member; /* each a name, or several with commas */
        char *label_member, *id_member;
        char *label_separator; /* see table_delimiter; NULL: a label is whole */
};

/* An input format: the parts of a file, and their conversion to records. */
struct import {
        const struct import_format *format;
        bool guessed;       /* by the first lines */
        const char *option; /* "input", if --input-format sets the format; "among", ... */
        size_t word_column, tag_column; /* --word-column, --tag-column */
        bool folder_label;              /* --folder-label */
        const struct import_columns *columns;
        /* Set by `look`. */
        struct table_scan table; /* of tables: how rows are written */
        bool below;              /* of tables: the rows below the first are unlike it */
        enum lines_role (*role)(const char *line, size_t n); /* of sentences: what lines are */
        /* Set by `begin`. */
        bool header;         /* the first text is no record, but the header */
        const char *assumed; /* what was assumed about columns without names; NULL: nothing */
        void *state; /* for the format; NULL, or of malloc: import_end frees it after `end` */
};

enum import_match {
        IMPORT_UNLIKE,
        IMPORT_LIKE,  /* prose may look so, too: worth a message */
        IMPORT_CLEAR, /* or something else says what was guessed */
};

struct import_format {
        enum lines_unit unit; /* what becomes a record */
        bool any_bytes;       /* `import` checks itself that its text is UTF-8 */
        /* Describes what `guess` accepts: "fastText's format". */
        const char *looks_like;
        /* Name endings of files with many records, which are never one document, even in a
         * folder; NULL at the end. NULL: none. */
        const char *const *endings;
        bool by_ending; /* a file with such an ending is of this format, if no earlier one claims it
                         */
        /* Tables and sentences have this: it sets i->table, i->below or i->role by the first lines
         * of the file. NULL otherwise. */
        void (*look)(struct import *i, const struct sample *sample);
        /* Whether the first lines of a file look like this format, and agree on it. NULL: cannot
         * be guessed. */
        enum import_match (*guess)(const struct sample *sample);
        /* Reads the first text of a file and fills i->state. RAN_EFORMAT: no text of the file
         * can become a record. NULL: files have no header. */
        int (*begin)(struct import *i, const struct text_line *first, struct ran_error *err);
        /* Appends the record of a text; nothing if the text is a record itself. On RAN_EFORMAT
         * there may be a record of the valid part, and *line (0 at first) is the bad line of the
         * text, from 0. */
        int (*import)(const struct import *i, const struct text_line *text, struct ran_buf *out,
                      size_t *line, struct ran_error *err);
        /* The file that a bad text came from, for messages. NULL: the one that is read. */
        const char *(*blames)(const struct text_line *text);
        /* Frees what i->state points to. NULL: nothing. */
        void (*end)(struct import *i);
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

/* Whether a list of names with commas has the n bytes at s; `list` may be NULL, and has not. */
bool import_lists(const char *list, const char *s, size_t n);

/* The format guessed from the name of a file (NULL: it has none) and its first lines; NULL: none.
 * *match says how sure that is. */
const struct import_format *import_guess(const char *file, const struct sample *sample,
                                         enum import_match *match);
/* Whether the name of a file has an ending for many records. */
bool import_has_ending(const char *file);

/* Does what the format's `import` does; messages mention that a format was guessed. */
int import_text_line(const struct import *i, const struct text_line *text, struct ran_buf *out,
                     size_t *line, struct ran_error *err);
/* After the last text of a file, or when it could not be begun. */
void import_end(struct import *i);

/* Advises what to do about a text of n bytes whose first `valid` alone are UTF-8. */
const char *import_encoding_advice(const char *s, size_t n, size_t valid);
/* The text stops being UTF-8 after `valid` bytes: a message with the column in its line, which is
 * *line lines below the first. */
int import_refuse_bytes(const struct text_line *text, size_t valid, size_t *line,
                        struct ran_error *err);

#endif
