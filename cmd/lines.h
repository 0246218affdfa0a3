/* lines.h - a file as groups of whole lines, each as soon as it has arrived. */
#ifndef CMD_LINES_H
#define CMD_LINES_H

#include "ran.h"

struct text_line {
        const char *s; /* valid until the next group; no end of line (LF or CR LF) */
        size_t n;
        size_t number;   /* from 1, in the file */
        uint64_t offset; /* bytes of the file before it */
};

struct lines {
        int fd;
        const char *file;
        char *data; /* [begin, end) has been read and not been given out */
        size_t begin, end, cap;
        uint64_t offset;        /* bytes of the file before data */
        size_t kept;            /* bytes from begin on that lines_keep took back */
        size_t number;          /* lines split off so far, blank ones too */
        size_t blank;           /* how many of them held white space only, and were skipped */
        bool ended;             /* there is no more to read */
        bool more;              /* the group was full: whole lines may be left in data */
        struct text_line *line; /* the group */
        size_t count, line_cap;
};

/* file: "-" is standard input. */
int lines_open(struct lines *l, const char *file, struct ran_error *err);
/* The next group: at least one line and as many more as can be had without waiting, within bounds
 * that keep memory small; a line may be of any length. count is 0 at the end of the file. A byte
 * order mark at the very beginning is left out. */
int lines_next(struct lines *l, struct ran_error *err);
/* Takes back the lines of the group from the i-th on: the next group begins with them, and has more
 * unless the file ends. Fewer than a group can have. */
void lines_keep(struct lines *l, size_t i);
void lines_close(struct lines *l);

#endif
