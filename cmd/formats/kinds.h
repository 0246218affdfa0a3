/* kinds.h - files that are not text: told by their first bytes, for messages that say what to do.
 */
#ifndef CMD_FORMATS_KINDS_H
#define CMD_FORMATS_KINDS_H

#include "ran.h"

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
