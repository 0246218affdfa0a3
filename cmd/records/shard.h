/* shard.h - the part of the input for this process: --shard I/N.
 *
 * The concatenation of all files is divided into N parts of equal size in bytes. A record belongs
 * to the part that contains its beginning. So the concatenated results of the parts are the results
 * of the whole.
 */
#ifndef CMD_RECORDS_SHARD_H
#define CMD_RECORDS_SHARD_H

#include <stdbool.h>
#include <stdint.h>

/* A part of the input, in bytes from the beginning of the first file. */
struct shard {
        uint64_t from, to; /* of the last part, to is UINT64_MAX: a file may have grown */
};

/* text: "I/N", 1 <= I <= N, or NULL for all. files: NULL at the end; "-" is standard input.
 * Exits with 2 if text is anything else, or a file has no size, like a pipe. */
void shard_init(struct shard *s, const char *text, char **files);

/* The size of a file in bytes; for standard input the unread part; for a missing file 0. False,
 * and 0, if it has no size. */
bool shard_size(const char *file, uint64_t *size);

#endif
