/* unpack.h - compressed input, through the machine's own decompressors.
 *
 * gzip, zstd or xz runs as a child process with a fixed command line and no shell: it gets the
 * bytes of the input and gives those of the text. It sees no name of a file.
 */
#ifndef CMD_FORMATS_UNPACK_H
#define CMD_FORMATS_UNPACK_H

#include <sys/types.h>

#include "ran.h"

/* A kind of compressed data. */
struct unpack_kind {
        const char *magic; /* its first bytes */
        size_t n;
        const char *program;
        const char *const *arguments;  /* (argv) */
        const char *missing, *damaged; /* why it cannot be unpacked */
};

enum unpack_match { UNPACK_NO, UNPACK_MAYBE, UNPACK_YES };
/* By the first n bytes; maybe: there are too few of them. */
enum unpack_match unpack_match(const char *s, size_t n, const struct unpack_kind **kind);
/* The length of a name without the ending of compressed data. */
size_t unpack_name(const char *file, size_t n);

/* A decompressor at work. */
struct unpack;
/* Starts one for the data of a descriptor, of which n bytes have been read already. NULL on
 * failure; *why: see unpack_why. */
struct unpack *unpack_open(const struct unpack_kind *kind, int source, const char *s, size_t n,
                           const char **why);
/* Waits for text and returns how many bytes of it there are, 0 at the end, or -1 on failure. */
ssize_t unpack_read(struct unpack *u, char *s, size_t n);
/* Whether unpack_read would return soon. */
bool unpack_ready(const struct unpack *u);
/* Why it failed; lives as long as the program. */
const char *unpack_why(const struct unpack *u);
/* Ends the child. */
void unpack_close(struct unpack *u);

#endif
