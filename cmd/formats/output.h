/* output.h - what is written of a record, and how. */
#ifndef CMD_FORMATS_OUTPUT_H
#define CMD_FORMATS_OUTPUT_H

#include "ran.h"

struct conll;

/* A line of input, a sentence in columns, or a file, with its record: a JSON object that has each
 * member of `reads` at most once. */
struct cmd_line {
        const char *file; /* as given; "-" for standard input */
        size_t number;    /* from 1, blank lines counted */
        const char *raw;  /* as read, without its end; record.line is JSON in all formats */
        size_t raw_length;
        const struct conll *columns; /* of raw; NULL in other formats than conll */
        bool renamed;                /* members of the record have other names than in its line */
        struct ran_record record;
};

/* How filters write them. */
struct cmd_output {
        char *output, *into;
        bool only;
        struct ran_list drop;
        bool lines; /* set by the program: results are lines, not JSON for a member; a bad record
                       has an empty line */
        char delimiter;     /* set by the program: lines are rows of a table; 0: they are not */
        const char *header; /* set by the program: the first line of the output, or NULL */
};

#endif
