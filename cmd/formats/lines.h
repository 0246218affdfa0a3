/* lines.h - reads a file as groups of texts: lines, sentences or whole files, each as soon as it
 * arrives. */
#ifndef CMD_FORMATS_LINES_H
#define CMD_FORMATS_LINES_H

#include <sys/types.h>

#include "ran.h"

/* ---- table.c ---------------------------------------------------------------------------------
 *
 * rows and cells of CSV and TSV, by RFC 4180, as Python's module csv reads them.
 *
 * A cell that begins with a quote ends at the next quote that is not doubled; delimiters and line
 * ends inside belong to it. What follows up to the delimiter is added as it stands. Elsewhere a
 * quote is a character like any other. LF, CR LF or CR ends a row.
 */

/* How rows are written, and how far the current one has been scanned. */
struct table_scan {
        char delimiter;
        bool no_quotes; /* a quote never has a meaning */
        bool spaces;    /* those at the beginning of a cell are none of it */
        bool returned;  /* the last row ended with a CR, the last byte so far: a LF belongs to it */
        enum { TABLE_START, TABLE_PLAIN, TABLE_QUOTED, TABLE_CLOSED } state; /* of a cell */
};

/* Looks for the end of the row at s, from *at on, which is 0 for a new row and afterwards how far
 * it was scanned. True: the row is s[0, *end), the next one begins at *next. last: no byte follows.
 */
bool table_row_end(struct table_scan *t, const char *s, size_t n, bool last, size_t *at,
                   size_t *end, size_t *next);
/* The line ends within a row; LF, CR LF and CR count as one each. */
size_t table_line_ends(const char *s, size_t n);

struct table_cell {
        struct ran_span span; /* the text; with its opening quote if it is `escaped` */
        bool escaped;
        bool open; /* its quote is never closed */
};
/* The next cell of a row from *at on, which is 0 at first; false behind the last. A row has at
 * least one cell. */
bool table_next_cell(const struct table_scan *t, const char *s, size_t n, size_t *at,
                     struct table_cell *cell);
/* The text of a cell (n), which is in `room` if it is escaped. */
const char *table_text(const char *s, const struct table_cell *cell, struct ran_buf *room,
                       size_t *n);

/* The delimiter that a text says: one character, or a word such as "tab"; 0 if it is neither. */
char table_delimiter(const char *text);
/* The most frequent of comma, semicolon, tab and | in a line, outside quotes; else a comma. */
char table_guess_delimiter(const char *line, size_t n);

/* ---- sample.c ---------------------------------------------------------------------------------
 */

/* Bytes of a sample after its first line, and lines that a guess looks at, at most. */
enum { SAMPLE_BYTES = 1 << 16, SAMPLE_LINES = 64 };

/* Whole lines. The first one is not blank; others may be. */
struct sample {
        const char *s; /* (n) NULL: the file has none */
        size_t n;
        size_t first; /* bytes of the first line without its end */
        size_t lines; /* that are not blank */
        bool all;     /* the file ends here */
};

/* Whether a line, without its LF, has nothing but white space. */
bool sample_is_blank(const char *s, size_t n);

/* The next line from *at on, which is 0 at first, without its end; false behind the last. */
bool sample_next(const struct sample *sample, size_t *at, const char **line, size_t *n);
/* The same for lines that are not blank. */
bool sample_next_full(const struct sample *sample, size_t *at, const char **line, size_t *n);

/* ---- values.c ---------------------------------------------------------------------------------
 */

/* How far the values of a file have been scanned. */
struct values_scan {
        bool array;   /* values stand in an array, whose bracket was read */
        size_t depth; /* of brackets in the value being scanned */
        bool string, escaped;
};

/* Passes over what stands between values, from `at` on; returns where one begins, or n. */
size_t values_skip(struct values_scan *v, const char *s, size_t n, size_t at);
/* Looks for the end of the value at s, from *at on, which is 0 for a new one and afterwards how far
 * it was scanned. True: the value is s[0, *at). What is neither an object nor a list ends with its
 * line. last: no byte follows. */
bool values_end(struct values_scan *v, const char *s, size_t n, bool last, size_t *at);

/* ---- unpack.c ---------------------------------------------------------------------------------
 *
 * Compressed files, through the machine's own decompressors: gzip, zstd or xz runs as a child
 * process with a fixed command line and no shell. Its standard input is the open file; it sees no
 * name of a file.
 */

/* The length of a name without the ending of compressed data. */
size_t unpack_name(const char *file, size_t n);

/* A decompressor at work. Zero-initialise. */
struct unpack {
        const struct unpack_kind *kind; /* NULL: nothing is unpacked */
        int from;                       /* its standard output */
        pid_t child;                    /* 0: it has been waited for */
};
/* Starts one if the n bytes at s, which were read from the beginning of a file on disk, are those
 * of compressed data. False on failure; *why lives as long as the program. */
bool unpack_begin(struct unpack *u, int source, const char *s, size_t n, const char **why);
/* Waits for text and returns how many bytes of it there are, 0 at the end, or -1 on failure. */
ssize_t unpack_read(struct unpack *u, char *s, size_t n, const char **why);
/* Ends the child. */
void unpack_end(struct unpack *u);

/* ---- lines.c ----------------------------------------------------------------------------------
 */

/* A text is one of these. */
enum lines_unit {
        LINES_EACH,     /* each line that is not blank */
        LINES_SENTENCE, /* a block: the lines up to a blank one */
        LINES_ROW,      /* a row of a table, which may have line ends in quotes */
        LINES_VALUE,    /* a JSON value, also in an array */
        LINES_FILE,     /* all of a file */
};

/* A line of a sentence is one of these. */
enum lines_role {
        LINES_WORD,     /* or unknown */
        LINES_COMMENT,  /* belongs to the sentence after it */
        LINES_DOCUMENT, /* begins a document: ends a sentence and belongs to the one after it */
};

/* Counts before a line. */
struct lines_count {
        size_t number; /* lines, blank ones too */
        size_t blank;  /* of white space only; they are skipped */
        size_t doc;    /* of sentences: lines that begin a document */
};

struct text_line {
        const char *file;
        const char *s; /* valid until the next group; no end of line (LF or CR LF) */
        size_t n;
        uint64_t offset;           /* bytes of the file before it, or of these files */
        size_t number;             /* from 1, in the file; of a sentence: of its first word */
        size_t doc;                /* of sentences: the document, from 1; 0: none has begun */
        struct lines_count before; /* it */
        const char *why;           /* why it cannot be read, or NULL; then it is empty */
        const char *beside; /* (beside_n) the same line of the file beside this one, or NULL */
        size_t beside_n;
        uint64_t size; /* of files: bytes of the file, compressed as it is */
};

/* A file whose lines belong to those of the one that is read, from `at` on. */
struct lines_beside {
        const char *s; /* (n) NULL: there is none, after all */
        size_t n, at;
        bool there; /* lines count though they are blank, unless they are empty in both files */
        bool all;   /* those, too */
};

/* Room for why a text is left out that is too long. */
enum { LINES_TOO_LONG = 80 };

struct lines {
        int fd;
        enum lines_unit unit;
        enum lines_role (*role)(const char *line, size_t n); /* of sentences */
        struct table_scan table;                             /* of rows */
        struct values_scan values;                           /* of JSON values */
        bool peeking;     /* no group has been read: an array need not have a line end */
        char **next_file; /* LINES_FILE: those still to be read */
        size_t files;
        const char *file;
        size_t most;                   /* bytes of a text, of which longer ones are left out */
        char too_long[LINES_TOO_LONG]; /* why */
        const struct ran_bytes *bytes; /* what is read in place of fd, or NULL */
        size_t taken;                  /* of it */
        struct lines_beside beside;    /* of lines */
        size_t *skipped;               /* lines of each of them since the last group */
        size_t skips, skip_cap;
        char *data; /* [begin, end) has been read, but not returned */
        size_t begin, end, cap;
        uint64_t offset;              /* bytes before data, of the file or of these files */
        size_t scanned;               /* bytes from begin on of an incomplete block or row */
        size_t first;                 /* number of its first word; 0: none yet */
        size_t last;                  /* number of the last JSON value */
        size_t kept;                  /* bytes from begin on without a whole line */
        struct lines_count at, began; /* after the lines split so far; after the last whole block */
        bool ended;                   /* the file is read */
        bool more;                    /* the group was full: data may have whole lines */
        const char *why;              /* why a file could not be opened or read; NULL: it could */
        bool fresh;                   /* no byte of the file has been looked at */
        bool packed;                  /* it is compressed: nothing has an offset */
        struct unpack unpack;
        struct text_line *line; /* the group */
        size_t count, line_cap;
};

/* Before anything is read: texts of more than `most` bytes become empty ones with `why`; 0: none
 * do. */
void lines_limit(struct lines *l, size_t most);
/* file: "-" is standard input. */
int lines_open(struct lines *l, const char *file, struct ran_error *err);
/* The contents of a file, which the caller has read; it may set `beside`. */
void lines_open_bytes(struct lines *l, const char *file, const struct ran_bytes *bytes);
/* n files, each one text, opened one at a time; an unreadable file becomes an empty text with
 * `why`. */
void lines_open_files(struct lines *l, char **files, size_t n);
/* Whether the file is one on disk. */
bool lines_are_stored(const struct lines *l);
/* The current file, for messages. */
const char *lines_name(const struct lines *l);
/* The lines that have arrived, from the first that is not blank on; of a file on disk, as many as a
 * sample may have. patience: milliseconds to wait for more. Only before the first group: set unit,
 * and role or table, then. */
int lines_peek(struct lines *l, int patience, struct sample *sample, struct ran_error *err);
/* Reads on to the end of the file: all of it is then in [begin, end) of data. */
int lines_read_all(struct lines *l, struct ran_error *err);
/* After that, other lines in the place of those of the file. */
int lines_replace(struct lines *l, const struct ran_buf *with, struct ran_error *err);
/* The first bytes of the file, after a peek. */
const char *lines_first_bytes(const struct lines *l, size_t *n);
/* The next group: at least one text, and as many more as have arrived, within bounds that keep
 * memory small; a text may have any length. count is 0 at the end of the file. Skips a byte order
 * mark at the beginning of a line. */
int lines_next(struct lines *l, struct ran_error *err);
/* Takes back the texts of the group from the i-th on (i > 0): the next group begins with them,
 * and has more unless the file ends. */
void lines_keep(struct lines *l, size_t i);
/* Leaves out text i of the group: a header. */
void lines_drop(struct lines *l, size_t i);
void lines_close(struct lines *l);

/* ---- units.c ----------------------------------------------------------------------------------
 */

enum { UNITS_MOST = 4096 }; /* texts of a group */

/* Makes a group of the whole units in [begin, end) of data. */
void units_split(struct lines *l);
/* Adds a text to the group. */
void units_add(struct lines *l, struct text_line text);
/* The whole line at `from`: its length and the start of the next; false without one. */
bool units_line(const struct lines *l, size_t from, size_t *n, size_t *next);
/* Fills in the next line of the file beside this one. */
void units_next_beside(struct lines *l, struct text_line *line);
/* Strips a byte order mark, which files that were put together have in the middle, too, and the CR
 * of the line end. */
void units_strip(const char **s, size_t *n);
/* Line feeds among n bytes. */
size_t units_count_feeds(const char *s, size_t n);
/* Whether a file begins with an array of which a record may have ended: nobody should wait for the
 * end of its line, which may be all of the file. */
bool units_begun_array(const struct lines *l);

#endif
