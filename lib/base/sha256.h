/* sha256.h - the two implementations of SHA-256's compression of 64-byte blocks. */
#ifndef RAN_BASE_SHA256_H
#define RAN_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void ran_sha256_naive(uint32_t state[8], const unsigned char *block, size_t blocks);
extern const uint32_t ran_sha256_k[64];

/* With the processor's SHA instructions, some six times as fast. Call it only if
 * ran_sha256_x86_runs. */
bool ran_sha256_x86_runs(void);
void ran_sha256_x86(uint32_t state[8], const unsigned char *block, size_t blocks);

#endif
