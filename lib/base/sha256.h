/* sha256.h - the two ways of taking blocks of 64 bytes into a digest. */
#ifndef RAN_BASE_SHA256_H
#define RAN_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void ran_sha256_naive(uint32_t state[8], const unsigned char *block, size_t blocks);
extern const uint32_t ran_sha256_k[64];

/* With instructions made for it, some six times as fast; only where there are such. */
bool ran_sha256_x86_runs(void);
void ran_sha256_x86(uint32_t state[8], const unsigned char *block, size_t blocks);

#endif
