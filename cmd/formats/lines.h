/* lines.h - a file as groups of lines, or of pieces of several, each as soon as it has arrived. */
#ifndef CMD_FORMATS_LINES_H
#define CMD_FORMATS_LINES_H

#include "ran.h"

/* How a file is cut into pieces. */
enum {
        LINES_EACH,   /* each line */
        LINES_BLOCKS, /* lines up to a blank one: a sentence of CoNLL's columns */
        LINES_WHOLE,  /* all of the file, whatever it holds */
};

/* What was counted in front of a line. */
struct lines_place {
        size_t number; /* lines split off, blank ones too */
        size_t blank;  /* how many of them held white space only, and were skipped */
        size_t doc;    /* of blocks: lines that begin a document */
};

struct text_line {
        const char *file;
        const char *s; /* valid until the next group; no end of line (LF or CR LF) */
        size_t n;
        uint64_t offset;          /* bytes of the file before it, or of these files */
        size_t number;            /* from 1, in the file; of a block: of its first word */
        size_t doc;               /* of blocks: the document, from 1; 0: none has begun */
        struct lines_place place; /* what was in front of it */
        int why; /* of whole files: the errno of one that cannot be read; 0: it was */
};

struct lines {
        int fd;
        int unit;         /* LINES_... */
        char **next_file; /* LINES_WHOLE: those still to be read */
        size_t files;
        const char *file;
        char *data; /* [begin, end) has been read and not been given out */
        size_t begin, end, cap;
        uint64_t offset; /* bytes before data, of the file or of these files */
        size_t scanned;  /* bytes from begin on of a block whose end has not been seen */
        size_t first;    /* number of its first word; 0: none has been seen */
        size_t kept;     /* bytes from begin on that need not be searched for a whole line */
        struct lines_place at, began; /* behind what was split; behind all blocks that have ended */
        bool ended;                   /* there is no more to read */
        bool more;                    /* the group was full: whole lines may be left in data */
        int why;                      /* errno of a file that could not be opened or read */
        struct text_line *line;       /* the group */
        size_t count, line_cap;
};

/* file: "-" is standard input. */
int lines_open(struct lines *l, const char *file, struct ran_error *err);
/* n files that are a piece each; they are opened when their turn comes. One that cannot be read is
 * a piece without bytes that says why. */
void lines_open_whole(struct lines *l, char **files, size_t n);
/* The file at hand, for messages. */
const char *lines_name(const struct lines *l);
/* The first line that is not blank, as *line has it (file and s, n), without taking it; s is NULL
 * where there is none. Before the first group only; then set unit. */
int lines_peek(struct lines *l, struct text_line *line, struct ran_error *err);
/* The next group: at least one piece and as many more as can be had without waiting, within bounds
 * that keep memory small; a piece may be of any length. count is 0 at the end of the file. A byte
 * order mark at the very beginning is left out. */
int lines_next(struct lines *l, struct ran_error *err);
/* Takes back the pieces of the group from the i-th on: the next group begins with them, and has
 * more unless the file ends. Fewer than a group can have. */
void lines_keep(struct lines *l, size_t i);
void lines_close(struct lines *l);

#endif
