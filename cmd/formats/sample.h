/* sample.h - the beginning of a file, from which its format is guessed: its first lines, as far as
 * they have arrived. */
#ifndef CMD_FORMATS_SAMPLE_H
#define CMD_FORMATS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a sample after its first line, and lines that a guess looks at, at most. */
enum { SAMPLE_BYTES = 1 << 16, SAMPLE_LINES = 64 };

/* Whole lines. The first one is not blank; others may be. */
struct sample {
        const char *s;
        size_t n;
        bool all; /* the file ends here */
};

/* Whether a line, without its LF, has nothing but white space. */
bool sample_is_blank(const char *s, size_t n);

/* The next line from *at on, which is 0 at first, without its end; false behind the last. */
bool sample_next(const struct sample *sample, size_t *at, const char **line, size_t *n);
/* The same for lines that are not blank. */
bool sample_next_full(const struct sample *sample, size_t *at, const char **line, size_t *n);

#endif
