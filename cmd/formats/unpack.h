/* unpack.h - compressed files, through the machine's own decompressors.
 *
 * gzip, zstd or xz runs as a child process with a fixed command line and no shell: its standard
 * input is the open file. It sees no name of a file.
 */
#ifndef CMD_FORMATS_UNPACK_H
#define CMD_FORMATS_UNPACK_H

#include <sys/types.h>

#include "ran.h"

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

#endif
