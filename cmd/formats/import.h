/* import.h - lines, sentences and files of other formats as JSON records. */
#ifndef CMD_FORMATS_IMPORT_H
#define CMD_FORMATS_IMPORT_H

#include "cmd/formats/conll.h"
#include "cmd/formats/lines.h"
#include "ran.h"

enum {
        CMD_FORMAT_AUTO,
        CMD_FORMAT_JSONL,
        CMD_FORMAT_FASTTEXT,
        CMD_FORMAT_FASTTEXT_LABELS,
        CMD_FORMAT_CONLL,
        CMD_FORMAT_TSV,
        CMD_FORMAT_TEXT,
        CMD_FORMAT_FILE
};
/* Their names, for --input-format; NULL at the end. */
extern const char *const import_names[];

/* What a file holds, and how that becomes records. */
struct import {
        int format;   /* CMD_FORMAT_..., and not AUTO */
        bool guessed; /* by the first line */
        bool folder_label;
        struct conll conll;
};

/* The format (CMD_FORMAT_...) of a file whose first line is this one, by what it looks like; AUTO:
 * it looks like none of them. */
int import_guess(const char *line, size_t n);

/* How lines_next should cut a file of this format. */
int import_unit(int format);

/* Looks at the first piece of a file; all members have been set. RAN_EFORMAT: no piece of it can
 * become a record. */
int import_begin(struct import *i, const struct text_line *first, struct ran_error *err);

/* Appends the record that a piece stands for; for JSON lines, nothing if it is one itself. On
 * RAN_EFORMAT there may be a record of what could be read, and *line is the line of the piece, from
 * 0, that is to blame. */
int import_piece(const struct import *i, const struct text_line *piece, struct ran_buf *out,
                 size_t *line, struct ran_error *err);

#endif
