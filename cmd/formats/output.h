/* output.h - the table of output formats: what programs found about a record, as bytes.
 *
 * A new format is a file in this folder with a `struct output_format`, and one line in the table
 * below. Every program that gives what the format is made of has it in its --output-format and its
 * --help.
 */
#ifndef CMD_FORMATS_OUTPUT_H
#define CMD_FORMATS_OUTPUT_H

#include "cmd/formats/record.h"

/* Each format: output_SYMBOL is its entry, KIND what it is made of, NAME its word for
 * --output-format, HELP its text in --help. --help lists formats in this order. */
#define OUTPUT_FORMATS(X)                                                                        \
        X(jsonl, RECORDS, "jsonl", "records")                                                    \
        X(fasttext, LABELS, "fasttext",                                                          \
          "a line of labels and text for each, empty for bad records")                           \
        X(conll, TAGS, "conll",                                                                  \
          "a line with word and tag for each word, an empty line after each record; columns of " \
          "the input stay, and the tag comes last")                                              \
        X(csv, ROWS, "csv", "a table")                                                           \
        X(tsv, ROWS, "tsv", "a table with tabs")                                                 \
        X(excel, ROWS, "excel",                                                                  \
          "a table for Excel where decimals have commas: semicolons, a byte order mark")         \
        X(npy, VECTORS, "npy",                                                                   \
          "the vectors of --embed as an array of numpy, a row for each record; those of a bad "  \
          "record are not numbers (NaN)")                                                        \
        X(label_studio, TASKS, "label-studio", "an array of tasks to import in Label Studio")    \
        X(html, PAGE, "html", "a page to look at")

/* A format is made of one of these. */
enum output_kind {
        OUTPUT_RECORDS, /* a JSON value, as a member of its record */
        OUTPUT_LABELS,  /* the labels of a document, and its text */
        OUTPUT_TAGS,    /* its words, each with a tag */
        OUTPUT_ROWS,    /* rows of cells under a row of names */
        OUTPUT_VECTORS, /* the vector of a document, a row of an array */
        OUTPUT_TASKS,   /* all records: the program makes the array */
        OUTPUT_PAGE,    /* all records: the program makes the page */
};

/* A program says of each kind whether it gives that, before it uses the lists below:
 *      #define GIVES_ROWS(...) __VA_ARGS__     it does
 *      #define GIVES_TAGS(...)                 it does not */
/* For its option --output-format: the words; the help, behind a first sentence; the formats in the
 * order of the words. */
#define OUTPUT_NAME(symbol, kind, name, help)  GIVES_##kind(name, )
#define OUTPUT_HELP(symbol, kind, name, help)  GIVES_##kind("; " name ": " help)
#define OUTPUT_ENTRY(symbol, kind, name, help) GIVES_##kind(&output_##symbol, )

/* A line of input, a sentence in columns, or a file, with its record, which has each member of
 * `reads` at most once. */
struct cmd_line {
        const char *file; /* as given; "-" for standard input */
        size_t number;    /* from 1, blank lines counted */
        const char *raw;  /* as read, without its end; record.line is JSON in all formats */
        size_t raw_length;
        const struct conll *columns; /* of raw; NULL in other formats than conll */
        bool renamed;                /* members of the record have other names than in its line */
        bool continued; /* its columns stay: rows have only what the program adds to them */
        struct record record;
};

/* How filters write records. */
struct cmd_output {
        char *output, *into;
        bool only;
        struct ran_list drop;
        size_t width;                       /* of vectors; set by the program */
        const char *vectors;                /* their name, of 16 bytes; set by the program */
        const struct output_format *format; /* set by the program; NULL: output_jsonl */
};

/* A row in the making. */
struct cmd_row {
        const struct output_format *format; /* of rows */
        struct ran_buf *out;
        size_t cells; /* so far */
        bool begun;   /* it has one */
        /* Of a header that continues that of a table: its names, each between line feeds. A name
         * that is among them gets ".2", as readers of the table call a second one, or ".3", ... */
        const struct ran_buf *taken;
};

/* The words of a record in the making. */
struct output_words {
        const struct cmd_line *line;
        struct ran_buf *out, *tags; /* tags: for the format, empty at first */
};

/* Functions for its kind; the others are NULL. */
struct output_format {
        enum output_kind kind;
        /* RECORDS: append the record with `value` as its member `name`; or of a bad line the valid
         * part, with err, and without the member `stale`, the result of an earlier run. Of formats
         * without them a bad record is an empty line. */
        void (*record)(struct ran_buf *out, const struct cmd_line *line,
                       const struct cmd_output *how, const char *name, const struct ran_buf *value);
        void (*error)(struct ran_buf *out, const struct cmd_line *line,
                      const struct cmd_output *how, const char *stale, const struct ran_error *err);
        /* LABELS: why a label cannot be written, or NULL; append a label; append what comes after
         * the labels of a record. RAN_EFORMAT: its text cannot be written. */
        const char *(*refuses)(const char *label);
        void (*label)(struct ran_buf *out, const char *label);
        int (*labelled)(struct ran_buf *out, const struct record *record, struct ran_error *err);
        /* TAGS: append a word and its tag, "" if it has none; end a sentence before the next word;
         * end the record. */
        void (*word)(struct output_words *w, const char *word, size_t n, const char *tag);
        void (*sentence)(struct output_words *w);
        void (*tagged)(struct output_words *w);
        char delimiter; /* ROWS: between cells; numbers as people write them there: 0,5 */
        bool excel;
        /* VECTORS: the beginning of a file of so many rows, which is as long for any number; a row
         * of v (width), or v NULL: of a record that has none. */
        void (*head)(struct ran_buf *out, size_t rows, size_t width);
        void (*vector)(struct ran_buf *out, const float *v, size_t width);
        /* Appends their name at the end of the file. */
        void (*tail)(struct ran_buf *out, const char *vectors);
};

#define X(symbol, kind, name, help) extern const struct output_format output_##symbol;
OUTPUT_FORMATS(X)
#undef X

/* The format of a program's output. */
const struct output_format *output_format_of(const struct cmd_output *output);

/* ---- emit.c -----------------------------------------------------------------------------------
 */

/* Appends the record with value (JSON) as its member `name`, and a newline. The member replaces one
 * of that name, or else comes last. Applies --drop and --only. */
void emit_record(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                 const char *name, const struct ran_buf *value);

/* Appends the valid part of a bad line with the object `ran_error` {message, file, line}, and a
 * newline. Drops the member `stale`, the result of an earlier run. */
void emit_error(struct ran_buf *out, const struct cmd_line *line, const struct cmd_output *how,
                const char *stale, const struct ran_error *err);

/* ---- row.c -----------------------------------------------------------------------------------
 *
 * results as rows of a table.
 */

/* How tables are written, for all rows. */
struct cmd_table {
        bool escape_formulas;
};
extern struct cmd_table cmd_table;
extern const struct ran_field cmd_table_fields[];
/* What they are for, for cmd_is_for. */
#define CMD_TABLES "a table: --output-format csv, tsv or excel, or --eval-format"

/* The cells of a row, one after another. */
void cmd_row_string(struct cmd_row *row, const char *s, size_t n);
void cmd_row_text(struct cmd_row *row, const char *s);
void cmd_row_size(struct cmd_row *row, size_t x);
void cmd_row_float(struct cmd_row *row, float x);
void cmd_row_double(struct cmd_row *row, double x); /* NaN: empty */
void cmd_row_end(struct cmd_row *row);
/* Appends the byte order mark of a file, if its format has one and nothing precedes it. */
void cmd_row_mark(struct cmd_row *row);
/* A header: a cell for each of them, NULL at the end. */
void cmd_row_names(struct cmd_row *row, const char *const *names);

/* Appends what stands for the id of a record without one: "FILE:LINE", of standard input
 * "stdin:LINE". */
void cmd_line_place(const struct cmd_line *line, struct ran_buf *out);
/* Appends as JSON the id of a record, or its place without one: null is none, nor, if it has to be
 * readable, is a string that cannot be decoded. */
void cmd_line_id(const struct cmd_line *line, bool readable, struct ran_buf *out);
/* The same as a cell. RAN_EFORMAT for one that cannot be decoded. */
int cmd_row_id(struct cmd_row *row, const struct cmd_line *line, struct ran_error *err);
/* Its text, or its tokens with a space between; scratch: for the text. */
int cmd_row_document(struct cmd_row *row, const struct cmd_line *line, struct ran_buf *scratch,
                     struct ran_error *err);

#endif
