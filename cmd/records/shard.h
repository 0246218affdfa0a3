/* shard.h - which part of the input this process reads: --shard I/N.
 *
 * All files one after another are cut at N - 1 places into parts of as many bytes, and a record
 * belongs to the part that it begins in. So parts are runs of records, and their results, one after
 * another, are those of the whole.
 */
#ifndef CMD_RECORDS_SHARD_H
#define CMD_RECORDS_SHARD_H

#include <stdbool.h>
#include <stdint.h>

/* A part of the input, in bytes from the beginning of the first file. */
struct shard {
        uint64_t from, to; /* of the last part, to is UINT64_MAX: a file may have grown */
};

/* text: "I/N", 1 <= I <= N, or NULL for all. files: NULL at the end; "-" is standard input. Dies
 * when that is no part, or when a file has no size, like a pipe. */
void shard_init(struct shard *s, const char *text, char **files);

/* The bytes of a file, of standard input those that are still to be read; false, and 0, when it has
 * no size. That of a file that is not there is 0. */
bool shard_size(const char *file, uint64_t *size);

#endif
