/* import.h - the table of input formats: lines, sentences and files as JSON records.
 *
 * A new format is a file in this folder with a `struct import_format`, and one line in the table
 * below. Options, --help, guessing and the record loop use this entry.
 */
#ifndef CMD_FORMATS_IMPORT_H
#define CMD_FORMATS_IMPORT_H

#include "cmd/formats/lines.h"

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
        char *label_separator;                   /* see table_delimiter; NULL: a label is whole */
        const struct import_columns *remembered; /* text and label of a model's training, or NULL */
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

/* ---- csv.c -----------------------------------------------------------------------------------
 *
 * tables of cells: comma- and tab-separated values.
 */

/* Lists the names of a table's columns, for messages: "review, sentiment"; valid until the file
 * ends. */
const char *csv_columns(const struct import *i);
/* Whether a first line has cells of which one is named by --text-member, --label-member or
 * --id-member: then it is a header. */
bool csv_is_asked(const struct import_columns *c, const char *line, size_t n);
/* Writes the names of a table's columns, and appends them with a line feed around each; the cells
 * of a row, empty ones for those it lacks. */
struct cmd_row;
void csv_header(const struct import *i, struct cmd_row *row, struct ran_buf *names);
void csv_cells(const struct import *i, const struct text_line *text, struct cmd_row *row);
/* Appends a record with all columns of a table, each empty. */
void csv_example(const struct import *i, struct ran_buf *out);

/* ---- csv-look.c -------------------------------------------------------------------------------
 */

enum { LONGEST_NAME = 64 };

/* This describes the first row: its cells may be names or data. */
struct csv_look {
        size_t cells;
        size_t spaced;                /* cells behind the first that begin with a space */
        size_t texts, labels, others; /* cells that are usual names of these */
        bool asked;                   /* a cell is what an option names */
        bool words;                   /* no cell has a space */
        bool names;                   /* all could be names of columns */
        size_t length[2];             /* of the first two cells, and whether they are one word */
        bool word[2];
};

/* A row; c: NULL, or what options name. */
struct csv_look csv_look_at_row(const struct table_scan *scan, const struct import_columns *c,
                                const char *s, size_t n);
/* Whether the first row, which is like that, is a header; tabs: of the format tsv. */
bool csv_is_header(const struct import *i, const struct csv_look *look, bool tabs);

/* For the formats csv and tsv. */
void csv_look(struct import *i, const struct sample *sample);
enum import_match csv_guess(const struct sample *sample);
enum import_match csv_guess_tsv(const struct sample *sample);

/* ---- conll.c ---------------------------------------------------------------------------------
 *
 * a word a line with columns of annotations, a blank line after each sentence.
 */

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
/* The fields of a line, and the last of them that is not empty. */
size_t conll_fields(bool tabs, const char *line, size_t n, struct ran_span *last);
/* Whether a line is a word of CoNLL-U. */
bool conll_is_universal(const char *line, size_t n);

/* Whether a line begins with a text. (conll-guess.c) */
bool conll_begins_with(const char *s, size_t n, const char *what);

/* The columns of a file that is read as CoNLL; NULL for other formats. */
const struct conll *conll_of(const struct import *i);

/* ---- tuple.c ---------------------------------------------------------------------------------
 *
 * JSON of other tools that is no record: spaCy's pairs, and Label Studio's tasks.
 */

/* Notes in i->state whether the first text of a file is a task of Label Studio: then all are. */
int tuple_begin(struct import *i, const struct text_line *first, struct ran_error *err);
/* Appends the record of a JSON value on one line; nothing, if it is a record itself or anything
 * else, which the scan of the record refuses. RAN_EFORMAT: a task with results that cannot be read.
 */
int tuple_import(const struct import *i, const char *s, size_t n, struct ran_buf *out,
                 struct ran_error *err);
/* Whether a record is a task of Label Studio that nobody has annotated, or only cancelled. */
bool tuple_is_bare(const struct ran_record *r);

/* ---- values.c --------------------------------------------------------------------------------
 *
 * a table in one JSON object, as pandas' to_json writes it by default: as JSON lines.
 */

/* Whether a file that begins so may be such a table: all of it has to be read to know. */
bool frame_begins(const char *s, size_t n);
/* Appends a line for each row of a JSON object that is all of a file. False, and nothing is
 * appended, if it is no table: if it is a record, or anything else. */
bool frame_lines(const char *s, size_t n, struct ran_buf *out);

/* ---- literal.c -------------------------------------------------------------------------------
 *
 * a list or an object in a cell of a table: as JSON, or as Python and NumPy print it.
 */

/* Whether a text begins like one. */
bool literal_begins(const char *s, size_t n);
/* Appends it as JSON: ["a", "b"], ['a', 'b'], ('a', 'b') and ['a' 'b'] become the same. False, and
 * nothing is appended, if it is none. */
bool literal_json(const char *s, size_t n, struct ran_buf *out);

/* ---- kinds.c ---------------------------------------------------------------------------------
 *
 * files that are not text: told by their first bytes, for messages that say what to do.
 */

struct kind {
        const char *is;     /* "a Parquet file" */
        const char *advice; /* how to make documents of it */
};

/* The bytes that kind_of looks at, at most. */
enum { KIND_BYTES = 4096 };

/* The kind of a file with these first bytes; NULL: text, or unknown. */
const struct kind *kind_of(const char *s, size_t n);
/* The same for a file that is no model or vocabulary, as it should be; also JSON lines and other
 * text. NULL: it cannot be read, or is of no known kind. */
const struct kind *kind_of_file(const char *path);

#endif
