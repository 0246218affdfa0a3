/* shard.h - which part of the input this process reads: --shard I/N.
 *
 * All files in a row are divided into N parts of equal size in bytes. A record belongs to the part
 * in which it begins. So the results of all parts in a row are the results of the whole.
 */
#ifndef CMD_RECORDS_SHARD_H
#define CMD_RECORDS_SHARD_H

#include <stdbool.h>
#include <stdint.h>

/* A part of the input, in bytes from the beginning of the first file. */
struct shard {
        uint64_t from, to; /* of the last part, to is UINT64_MAX: a file may have grown */
};

/* text: "I/N", 1 <= I <= N, or NULL for all. files: NULL at the end; "-" is standard input. Exits
 * with 2 when text is something else, or a file has no size, like a pipe. */
void shard_init(struct shard *s, const char *text, char **files);

/* The size of a file in bytes, of standard input what is left to read, of a missing file 0. False,
 * and 0, if it has no size. */
bool shard_size(const char *file, uint64_t *size);

#endif
