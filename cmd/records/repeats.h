/* repeats.h - messages about lines, of which those that say the same are counted. */
#ifndef CMD_RECORDS_REPEATS_H
#define CMD_RECORDS_REPEATS_H

#include "ran.h"

/* How many different messages are shown, and lines of each. */
enum { REPEATS_KINDS = 20, REPEATS_LINES = 20 };

struct repeats_line {
        const char *file;
        size_t number;
};

/* A message, and where else it was true. */
struct repeats_kind {
        char *text;    /* of its first line */
        char *held[2]; /* of the next two, which are shown whole if they are all */
        size_t n;
        struct repeats_line line[REPEATS_LINES]; /* the first of them */
};

/* Zero-initialise. */
struct repeats {
        struct repeats_kind kind[REPEATS_KINDS];
        size_t kinds;
        bool full; /* there were more: that has been said */
};

/* "FILE:NUMBER: TEXT", at once if it is the first of its kind: messages are of a kind if they
 * differ in numbers only. file, which is "standard input" for that, must live until the end. */
void repeats_add(struct repeats *r, const char *file, size_t number, const char *text);
/* Says what was held back: up to two lines as they are, more in one line. Then r is as at first. */
void repeats_end(struct repeats *r);

#endif
